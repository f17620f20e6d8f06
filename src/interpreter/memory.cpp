// Constant, global, shared and local memory.
#include "interpreter/warp.h"

#include <algorithm>

namespace heaviside::interpreter {
namespace {

using maxwell::DataType;

struct Access {
    u32 bytes;
    bool is_signed;
};

Access access_of(DataType type) {
    switch (type) {
    case DataType::U8:
        return {1, false};
    case DataType::S8:
        return {1, true};
    case DataType::U16:
        return {2, false};
    case DataType::S16:
        return {2, true};
    case DataType::B64:
    case DataType::U64:
    case DataType::S64:
        return {8, false};
    case DataType::B96:
        return {12, false};
    case DataType::B128:
    case DataType::U128:
        return {16, false};
    default:
        return {4, false};
    }
}

// The bytes at an address, or nothing and a fault.
std::byte* inside(Warp& warp, std::span<std::byte> bytes, u64 offset, u32 size, const char* memory) {
    if (offset <= bytes.size() && bytes.size() - offset >= size && offset % std::min(size, 4u) == 0)
        return bytes.data() + offset;
    warp.fault = fmt::format("{} memory at {:#x}, {} bytes", memory, offset, size);
    return nullptr;
}

std::byte* global(Warp& warp, u64 address, u32 size) {
    for (const MemoryRange& range : warp.workgroup->launch->global)
        if (address >= range.address && address - range.address < range.bytes.size())
            return inside(warp, range.bytes, address - range.address, size, "global");
    warp.fault = fmt::format("global memory at {:#x}, {} bytes", address, size);
    return nullptr;
}

enum class Space : u8 { Global, Shared, Local };

template <Space S>
std::byte* locate(Warp& warp, const Operand& a, unsigned lane, u32 size) {
    const u32 low = warp.get(a.reg, lane);
    if constexpr (S == Space::Global) {
        u64 base = low;
        if (a.wide_index && a.reg != maxwell::zero_register)
            base |= u64{warp.get(static_cast<u8>(a.reg + 1), lane)} << 32;
        return global(warp, base + static_cast<u64>(static_cast<i64>(a.offset)), size);
    }
    const u32 offset = low + static_cast<u32>(a.offset);
    if constexpr (S == Space::Shared)
        return inside(warp, warp.workgroup->shared, offset, size, "shared");
    const u32 each = warp.workgroup->launch->local_bytes;
    return inside(warp, std::span(warp.local).subspan(std::size_t{each} * lane, each), offset, size, "local");
}

template <Space S>
void load(Warp& warp, const Instruction& in, u32 mask) {
    const Operand d = in.operand(Slot::D), a = in.operand(Slot::A);
    const Access access = access_of(in.get<DataType>());
    for_lanes(mask, [&](unsigned lane) {
        const std::byte* const bytes = warp.fault.empty() ? locate<S>(warp, a, lane, access.bytes) : nullptr;
        if (!bytes)
            return;
        std::array<u32, 4> words{};
        std::memcpy(words.data(), bytes, access.bytes);
        if (access.is_signed)
            words[0] = static_cast<u32>(sign_extend(words[0], access.bytes * 8));
        for (u32 i = 0; i < std::max(access.bytes / 4, 1u); ++i)
            warp.set(d.reg == maxwell::zero_register ? d.reg : static_cast<u8>(d.reg + i), lane, words[i]);
    });
}

template <Space S>
void store(Warp& warp, const Instruction& in, u32 mask) {
    const Operand a = in.operand(Slot::A), b = in.operand(in.has(Slot::B) ? Slot::B : Slot::D);
    const Access access = access_of(in.get<DataType>());
    for_lanes(S == Space::Global ? leaving_lanes(warp, mask) : mask, [&](unsigned lane) {
        std::byte* const bytes = warp.fault.empty() ? locate<S>(warp, a, lane, access.bytes) : nullptr;
        if (!bytes)
            return;
        std::array<u32, 4> words{};
        for (u32 i = 0; i < std::max(access.bytes / 4, 1u); ++i)
            words[i] = warp.get(b.reg == maxwell::zero_register ? b.reg : static_cast<u8>(b.reg + i), lane);
        std::memcpy(bytes, words.data(), access.bytes);
    });
}

void ldc(Warp& warp, const Instruction& in, u32 mask) {
    if (in.get<maxwell::LdcMode>() != maxwell::LdcMode::None) {
        warp.fault = "indexed and segmented LDC modes are not built";
        return;
    }
    const Operand d = in.operand(Slot::D), a = in.operand(in.has(Slot::B) ? Slot::B : Slot::A);
    const Access access = access_of(in.get<DataType>());
    for_lanes(mask, [&](unsigned lane) {
        const u32 offset = static_cast<u32>(a.offset) + warp.get(a.reg, lane);
        u32 first = constant_word(warp, a.bank, offset);
        if (access.bytes < 4) {
            first >>= 8 * (offset & 3);
            const u64 piece = bits(first, 0, access.bytes * 8);
            first = static_cast<u32>(access.is_signed ? static_cast<u64>(sign_extend(piece, access.bytes * 8)) : piece);
        }
        warp.set(d.reg, lane, first);
        for (u32 i = 1; i < access.bytes / 4; ++i)
            warp.set(static_cast<u8>(d.reg + i), lane, constant_word(warp, a.bank, offset + 4 * i));
    });
}

} // namespace

std::span<const Row> memory_rows() {
    static constexpr Row rows[] = {
        {Opcode::LDC, ldc},
        {Opcode::LDG, load<Space::Global>},
        {Opcode::LD, load<Space::Global>},
        {Opcode::LDS, load<Space::Shared>},
        {Opcode::LDL, load<Space::Local>},
        {Opcode::STG, store<Space::Global>},
        {Opcode::ST, store<Space::Global>},
        {Opcode::STS, store<Space::Shared>},
        {Opcode::STL, store<Space::Local>},
    };
    return rows;
}

} // namespace heaviside::interpreter
