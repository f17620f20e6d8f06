// Constant, global, shared and local memory.
#include "interpreter/memory.h"

#include <algorithm>

namespace heaviside::interpreter {
namespace {

using maxwell::DataType;

struct Access {
    u32 bytes;
    bool is_signed;
};

Access access_of(DataType type) {
    return {maxwell::bits_of(type) / 8, maxwell::is_signed(type) && maxwell::bits_of(type) < 32};
}

constexpr u32 window_size = 1 << 24;

// The bytes at an address, or nothing and a fault.
std::byte* inside(Warp& warp, unsigned lane, std::span<std::byte> bytes, u64 offset, u32 size, const char* memory) {
    if (offset % size != 0) {
        warp.raise(lane, fmt::format("{} memory at {:#x}: {} bytes must be aligned", memory, offset, size));
        return nullptr;
    }
    if (offset <= bytes.size() && bytes.size() - offset >= size)
        return bytes.data() + offset;
    warp.raise(lane,
               fmt::format("{} memory at {:#x}, {} bytes: there are {:#x} bytes", memory, offset, size, bytes.size()));
    return nullptr;
}

std::byte* shared(Warp& warp, unsigned lane, u32 offset, u32 size) {
    return inside(warp, lane, warp.workgroup->shared, offset, size, "shared");
}

std::byte* local(Warp& warp, unsigned lane, u32 offset, u32 size) {
    const u32 each = warp.workgroup->launch->local_bytes;
    return inside(warp, lane, std::span(warp.local).subspan(std::size_t{each} * lane, each), offset, size, "local");
}

std::byte* global(Warp& warp, unsigned lane, u64 address, u32 size) {
    const Launch& launch = *warp.workgroup->launch;
    if (launch.shared_window != 0 && address - launch.shared_window < window_size)
        return shared(warp, lane, static_cast<u32>(address - launch.shared_window), size);
    if (launch.local_window != 0 && address - launch.local_window < window_size)
        return local(warp, lane, static_cast<u32>(address - launch.local_window), size);
    if (address % size != 0) {
        warp.raise(lane, fmt::format("global memory at {:#x}: {} bytes must be aligned", address, size));
        return nullptr;
    }
    for (const MemoryRange& range : launch.global)
        if (address >= range.address && address - range.address < range.bytes.size() &&
            range.bytes.size() - (address - range.address) >= size)
            return range.bytes.data() + (address - range.address);
    warp.raise(lane, fmt::format("global memory at {:#x}, {} bytes: nothing is there", address, size));
    return nullptr;
}

} // namespace

std::byte* locate(Warp& warp, Space space, const Operand& address, unsigned lane, u32 size) {
    if (!warp.fault.empty())
        return nullptr;
    const u32 low = warp.get(address.reg, lane);
    const u32 narrow = low + static_cast<u32>(address.offset);
    switch (space) {
    case Space::Shared:
        return shared(warp, lane, narrow, size);
    case Space::Local:
        return local(warp, lane, narrow, size);
    case Space::Global:
        break;
    }
    if (!address.wide_index)
        return global(warp, lane, narrow, size);
    const u64 high = address.reg == maxwell::zero_register ? 0 : warp.get(static_cast<u8>(address.reg + 1), lane);
    return global(warp, lane, (high << 32 | low) + static_cast<u64>(static_cast<i64>(address.offset)), size);
}

namespace {

u8 register_behind(u8 first, u32 distance) {
    return first == maxwell::zero_register ? first : static_cast<u8>(first + distance);
}

// The predicate of LDG (a texture's residency) says that nothing was missing. That of LD is a source, which takes part
// in how the hardware forms the address: the register pair is that address already.
template <Space S>
void load(Warp& warp, const Instruction& in, u32 mask) {
    const Operand d = in.operand(Slot::D), a = in.operand(Slot::A), p = in.operand(Slot::P);
    const Access access = access_of(in.get<DataType>());
    const bool has_residency = in.opcode() == Opcode::LDG;
    for_lanes(mask, [&](unsigned lane) {
        const std::byte* const bytes = locate(warp, S, a, lane, access.bytes);
        if (!bytes)
            return;
        std::array<u32, 4> words{};
        std::memcpy(words.data(), bytes, access.bytes);
        if (access.is_signed)
            words[0] = static_cast<u32>(sign_extend(words[0], access.bytes * 8));
        for (u32 i = 0; i < std::max(access.bytes / 4, 1u); ++i)
            warp.set(register_behind(d.reg, i), lane, words[i]);
        if (has_residency)
            warp.set_predicate(p, lane, false);
    });
}

template <Space S>
void store(Warp& warp, const Instruction& in, u32 mask) {
    const Operand a = in.operand(Slot::A), b = in.operand(Slot::B);
    const Access access = access_of(in.get<DataType>());
    for_lanes(S == Space::Global ? leaving_lanes(warp, mask) : mask, [&](unsigned lane) {
        std::byte* const bytes = locate(warp, S, a, lane, access.bytes);
        if (!bytes)
            return;
        std::array<u32, 4> words{};
        for (u32 i = 0; i < std::max(access.bytes / 4, 1u); ++i)
            words[i] = warp.get(register_behind(b.reg, i), lane);
        std::memcpy(bytes, words.data(), access.bytes);
    });
}

// Bank and offset of LDC. IL: the address runs on from bank to bank, 64 KiB each. IS: the register's upper half counts
// banks, its lower half bytes. ISL: both.
struct ConstantAddress {
    u32 bank, offset;
};

ConstantAddress constant_address(maxwell::LdcMode mode, const Operand& a, u32 index) {
    const auto offset = static_cast<u32>(a.offset);
    switch (mode) {
    case maxwell::LdcMode::None:
        break;
    case maxwell::LdcMode::Il:
    case maxwell::LdcMode::Isl: // the same sum, as segments are as long as banks
        return {a.bank + ((index + offset) >> 16), (index + offset) & 0xffff};
    case maxwell::LdcMode::Is:
        return {a.bank + (index >> 16), (index & 0xffff) + offset};
    }
    return {a.bank, index + offset};
}

void ldc(Warp& warp, const Instruction& in, u32 mask) {
    const Operand d = in.operand(Slot::D), a = in.operand(Slot::A);
    const Access access = access_of(in.get<DataType>());
    const auto mode = in.get<maxwell::LdcMode>();
    for_lanes(mask, [&](unsigned lane) {
        const auto [bank, offset] = constant_address(mode, a, warp.get(a.reg, lane));
        if (offset % access.bytes != 0) {
            warp.raise(lane, fmt::format("c[{:#x}][{:#x}]: {} bytes must be aligned", bank, offset, access.bytes));
            return;
        }
        u32 first = constant_word(warp, bank, offset);
        if (access.bytes < 4) {
            const u64 piece = bits(first, 8 * (offset & 3), access.bytes * 8);
            first = static_cast<u32>(access.is_signed ? static_cast<u64>(sign_extend(piece, access.bytes * 8)) : piece);
        }
        warp.set(d.reg, lane, first);
        if (access.bytes == 8)
            warp.set(register_behind(d.reg, 1), lane, constant_word(warp, bank, offset + 4));
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
