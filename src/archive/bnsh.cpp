#include "archive/bnsh.h"

#include <array>
#include <string_view>

namespace heaviside::archive {
namespace {

constexpr std::string_view magic{"BNSH\0\0\0\0", 8};
constexpr std::string_view block_magic = "grsc";
constexpr u64 block_at = 0x60, variation_count_at = 0x7c, variation_table_at = 0x80;
// The pointer to the binary program lies 0x10 into a variation; the stride is four of its 16-byte rows.
constexpr u64 variation_stride = 0x40, binary_program_at = 0x10;
constexpr u64 stage_pointers_at = 0x08;
constexpr u64 stage_control_at = 0x08, stage_code_at = 0x10, stage_code_size_at = 0x18, stage_control_size_at = 0x1c;
constexpr std::array stage_order{program::Stage::Vertex,   program::Stage::TessControl, program::Stage::TessEval,
                                 program::Stage::Geometry, program::Stage::Fragment,    program::Stage::Compute};

bool text_at(Bytes bytes, u64 offset, std::string_view text) {
    const auto part = slice(bytes, offset, text.size());
    return part && std::memcmp(part->data(), text.data(), text.size()) == 0;
}

template <class T>
Result<T> field(Bytes bytes, u64 offset, const char* what) {
    if (const auto value = read_at<T>(bytes, offset))
        return *value;
    return fail("BNSH: {} at {:#x} lies outside the {} bytes", what, offset, bytes.size());
}

Result<Bytes> blob(Bytes bytes, u64 descriptor, u64 pointer_at, u64 size_at, const char* what) {
    const auto pointer = field<u64>(bytes, descriptor + pointer_at, what);
    const auto size = field<u32>(bytes, descriptor + size_at, what);
    if (!pointer || !size)
        return tl::unexpected((pointer ? size.error() : pointer.error()));
    if (const auto part = slice(bytes, *pointer, *size))
        return *part;
    return fail("BNSH: {} at {:#x}, {} bytes, lies outside the {} bytes", what, *pointer, *size, bytes.size());
}

Result<Variation> read_program(Bytes bytes, u64 program_at) {
    Variation variation;
    for (std::size_t i = 0; i < stage_order.size(); ++i) {
        const auto descriptor = field<u64>(bytes, program_at + stage_pointers_at + 8 * i, "stage pointer");
        if (!descriptor)
            return tl::unexpected(descriptor.error());
        if (*descriptor == 0)
            continue;
        const auto control = blob(bytes, *descriptor, stage_control_at, stage_control_size_at, "control section");
        const auto code = blob(bytes, *descriptor, stage_code_at, stage_code_size_at, "code");
        if (!control || !code)
            return tl::unexpected(control ? code.error() : control.error());
        variation.stages.push_back({stage_order[i], *control, *code});
    }
    return variation;
}

} // namespace

Result<std::vector<Variation>> parse_bnsh(Bytes bytes) {
    if (!text_at(bytes, 0, magic) || !text_at(bytes, block_at, block_magic))
        return fail("BNSH: no 'BNSH' at 0 with 'grsc' at {:#x}", block_at);
    const auto count = field<u32>(bytes, variation_count_at, "variation count");
    const auto table = field<u64>(bytes, variation_table_at, "variation table");
    if (!count || !table)
        return tl::unexpected(count ? table.error() : count.error());
    if (!slice(bytes, *table, u64{*count} * variation_stride))
        return fail("BNSH: {} variations at {:#x} lie outside the {} bytes", *count, *table, bytes.size());
    std::vector<Variation> variations;
    for (u64 i = 0; i < *count; ++i) {
        const auto program_at = field<u64>(bytes, *table + i * variation_stride + binary_program_at, "variation");
        if (!program_at)
            return tl::unexpected(program_at.error());
        if (*program_at == 0)
            continue;
        auto variation = read_program(bytes, *program_at);
        if (!variation)
            return tl::unexpected(variation.error());
        variations.push_back(*std::move(variation));
    }
    return variations;
}

std::vector<u64> find_bnsh(Bytes bytes) {
    const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    std::vector<u64> found;
    for (std::size_t at = text.find(magic); at != std::string_view::npos; at = text.find(magic, at + 1))
        if (text_at(bytes, at + block_at, block_magic))
            found.push_back(at);
    return found;
}

} // namespace heaviside::archive
