#include "tools/kernel_launch.h"

#include "maxwell/instruction.h"

#include <algorithm>
#include <utility>

namespace heaviside::tools {
namespace {

// A kernel that calls itself needs more stack than its file says; kernels without a stack need none.
constexpr u32 room_for_recursion = 16 * 1024;

constexpr u32 global_bound = 0xd0; // 64 bits in c[0]

// isspacep.global compares an address with a bound of the driver's. No listing at hand shows from which side, so the
// kernel's own comparison says: "less" means that global memory ends there, anything else that it begins behind the
// windows of shared and local memory.
u64 bound_of_global(Bytes code) {
    constexpr u32 bundle = 32, word = 8;
    for (u32 at = word; at + word <= code.size(); at += at % bundle == bundle - word ? 2 * word : word) {
        const auto instruction = maxwell::decode(read_at<u64>(code, at).value_or(0), at);
        if (!instruction || instruction->opcode() != maxwell::Opcode::ISETP)
            continue;
        const maxwell::Operand b = instruction->operand(maxwell::Slot::B);
        if (b.kind != maxwell::OperandKind::Constant || b.bank != 0 || b.offset != global_bound + 4)
            continue;
        const auto compare = instruction->get<maxwell::Compare>();
        if (compare == maxwell::Compare::Less || compare == maxwell::Compare::LessEqual)
            return end_of_global;
    }
    return end_of_windows;
}

} // namespace

std::size_t KernelLaunch::add_buffer(std::vector<std::byte> bytes) {
    constexpr u64 gap = 1 << 16;
    addresses_.push_back(next_);
    next_ += align_up<u64>(bytes.size(), gap) + gap;
    buffers_.push_back(std::move(bytes));
    return buffers_.size() - 1;
}

void KernelLaunch::use(archive::KernelImage image) {
    code = image.code;
    for (std::size_t i = 0; i < banks.size(); ++i)
        banks[i] = std::move(image.banks[i]);
    shared_bytes = image.shared_bytes;
    local_bytes = image.stack_bytes == 0 ? 0 : align_up<u32>(image.stack_bytes, 16) + room_for_recursion;
    parameters_at = image.parameters_at;
    if (!image.globals.empty())
        add_buffer(std::move(image.globals));
}

void KernelLaunch::set_parameter(u32 offset, Bytes value) {
    auto& bank = banks[0];
    const std::size_t start = std::size_t{parameters_at} + offset;
    bank.resize(std::max(bank.size(), start + value.size()));
    std::ranges::copy(value, bank.begin() + static_cast<std::ptrdiff_t>(start));
}

void KernelLaunch::set_word(u32 offset, u32 value) {
    auto& bank = banks[0];
    bank.resize(std::max<std::size_t>(bank.size(), offset + sizeof value));
    std::memcpy(bank.data() + offset, &value, sizeof value);
}

interpreter::Launch KernelLaunch::prepare() {
    set_word(0x00, shared_window);
    set_word(0x04, local_window);
    for (u32 axis = 0; axis < 3; ++axis) {
        set_word(0x08 + 4 * axis, block[axis]);
        set_word(0x14 + 4 * axis, grid[axis]);
    }
    set_word(0x20, local_bytes);
    const u64 bound = bound_of_global(code);
    set_word(global_bound, static_cast<u32>(bound));
    set_word(global_bound + 4, static_cast<u32>(bound >> 32));
    ranges_.clear();
    for (std::size_t i = 0; i < buffers_.size(); ++i)
        ranges_.push_back({addresses_[i], buffers_[i]});
    interpreter::Launch launch;
    launch.code = code;
    for (std::size_t i = 0; i < banks.size(); ++i)
        launch.banks[i] = banks[i];
    launch.grid = grid;
    launch.block = block;
    launch.shared_bytes = shared_bytes;
    launch.local_bytes = local_bytes;
    launch.global = ranges_;
    launch.shared_window = shared_window;
    launch.local_window = local_window;
    return launch;
}

} // namespace heaviside::tools
