// Logic, shifts, bit fields, permutation.
#include "interpreter/lanes.h"

#include <algorithm>

namespace heaviside::interpreter {
namespace {

using maxwell::DataType;
using maxwell::LogicOp;
using maxwell::PredicateResult;

// The flags of a logical result and the predicate that .Z and .NZ take from it.
void logic_result(Warp& warp, const Instruction& in, const Operand& d, const Operand& p, unsigned lane, u32 value) {
    u8 flags = zero_and_sign(value);
    if (in.has(Modifier::Extended) && !(warp.flags[lane] & flag::zero))
        flags &= static_cast<u8>(~flag::zero);
    const bool zero = (flags & flag::zero) != 0;
    finish(warp, d.reg, in.has(Modifier::WriteCC), lane, value, flags);
    const auto wanted = in.get<PredicateResult>();
    warp.set_predicate(p, lane,
                       wanted == PredicateResult::True || (wanted == PredicateResult::Zero && zero) ||
                           (wanted == PredicateResult::NotZero && !zero));
}

void lop(Warp& warp, const Instruction& in, u32 mask) {
    const Operand d = in.operand(Slot::D), p = in.operand(Slot::P);
    const Source a(warp, in.operand(Slot::A)), b(warp, in.operand(Slot::B));
    const u32 invert_a = a.operand().inverted ? ~0u : 0, invert_b = b.operand().inverted ? ~0u : 0;
    const auto op = in.get<LogicOp>();
    for_lanes(mask, [&](unsigned lane) {
        const u32 x = a(lane) ^ invert_a, y = b(lane) ^ invert_b;
        const u32 value = op == LogicOp::And ? x & y : op == LogicOp::Or ? x | y : op == LogicOp::Xor ? x ^ y : y;
        logic_result(warp, in, d, p, lane, value);
    });
}

// Bit n of the table is the result for A, B, C = bits 2, 1, 0 of n.
void lop3(Warp& warp, const Instruction& in, u32 mask) {
    const Operand d = in.operand(Slot::D), p = in.operand(Slot::P);
    const Source a(warp, in.operand(Slot::A)), b(warp, in.operand(Slot::B)), c(warp, in.operand(Slot::C));
    const u32 table = static_cast<u32>(in.operand(Slot::I).value) & 0xff;
    u32 entry[8];
    for (unsigned n = 0; n < 8; ++n)
        entry[n] = table >> n & 1 ? ~0u : 0;
    const auto choose = [](u32 bit, u32 if_one, u32 if_zero) { return if_zero ^ ((if_one ^ if_zero) & bit); };
    for_lanes(mask, [&](unsigned lane) {
        const u32 x = a(lane), y = b(lane), z = c(lane);
        const u32 value = choose(x, choose(y, choose(z, entry[7], entry[6]), choose(z, entry[5], entry[4])),
                                 choose(y, choose(z, entry[3], entry[2]), choose(z, entry[1], entry[0])));
        logic_result(warp, in, d, p, lane, value);
    });
}

// Counts above 32 act as 32; .W takes them modulo 32.
u32 shift_count(u32 count, bool wrap) {
    return wrap ? count & 31 : std::min(count, 32u);
}

void shl(Warp& warp, const Instruction& in, u32 mask) {
    if (in.has(Modifier::Extended)) {
        warp.fault = "what a shift over two words (.X) does is not known";
        return;
    }
    const Operand d = in.operand(Slot::D);
    const Source a(warp, in.operand(Slot::A)), b(warp, in.operand(Slot::B));
    const bool wrap = in.has(Modifier::Wrap), write_flags = in.has(Modifier::WriteCC);
    for_lanes(mask, [&](unsigned lane) {
        const u32 value = static_cast<u32>(u64{a(lane)} << shift_count(b(lane), wrap));
        finish(warp, d.reg, write_flags, lane, value, zero_and_sign(value));
    });
}

u32 reversed(u32 value) {
    u32 result = 0;
    for (unsigned i = 0; i < 32; ++i)
        result |= (value >> i & 1) << (31 - i);
    return result;
}

void shr(Warp& warp, const Instruction& in, u32 mask) {
    if (in.modifier(Modifier::ShiftExtended) != 0) {
        warp.fault = "what a shift over two words (.X, .XHI) does is not known";
        return;
    }
    const Operand d = in.operand(Slot::D);
    const Source a(warp, in.operand(Slot::A)), b(warp, in.operand(Slot::B));
    const bool sign = in.get<DataType>() != DataType::U32, reverse = in.has(Modifier::BitReverse),
               wrap = in.has(Modifier::Wrap), write_flags = in.has(Modifier::WriteCC);
    for_lanes(mask, [&](unsigned lane) {
        const u32 x = reverse ? reversed(a(lane)) : a(lane), count = shift_count(b(lane), wrap);
        const u32 value =
            sign ? static_cast<u32>(i64{static_cast<i32>(x)} >> count) : static_cast<u32>(u64{x} >> count);
        finish(warp, d.reg, write_flags, lane, value, zero_and_sign(value));
    });
}

// {C, A} shifted: left gives the upper word, right the lower one, .R.HI the upper one. Counts end at 32, at 64 with
// .U64 and .S64; .W takes them modulo that.
void shf(Warp& warp, const Instruction& in, u32 mask) {
    using maxwell::FunnelHigh;
    const bool right = in.has(Modifier::ShiftRight);
    const auto high = in.get<FunnelHigh>();
    if (high > FunnelHigh::Hi || (high == FunnelHigh::Hi && !right)) {
        warp.fault = "what this mode of the funnel shift does is not known";
        return;
    }
    const Operand d = in.operand(Slot::D);
    const Source a(warp, in.operand(Slot::A)), b(warp, in.operand(Slot::B)), c(warp, in.operand(Slot::C));
    const auto type = in.get<DataType>();
    const u32 limit = type == DataType::None ? 32 : 64;
    const bool wrap = in.has(Modifier::Wrap), write_flags = in.has(Modifier::WriteCC);
    for_lanes(mask, [&](unsigned lane) {
        const u64 pair = u64{c(lane)} << 32 | a(lane);
        const u32 count = wrap ? b(lane) & (limit - 1) : std::min(b(lane), limit);
        u64 shifted = 0;
        if (!right)
            shifted = (count < 64 ? pair << count : 0) >> 32;
        else if (type == DataType::S64)
            shifted = static_cast<u64>(static_cast<i64>(pair) >> std::min(count, 63u));
        else
            shifted = count < 64 ? pair >> count : 0;
        const u32 value = static_cast<u32>(high == FunnelHigh::Hi ? shifted >> 32 : shifted);
        finish(warp, d.reg, write_flags, lane, value, zero_and_sign(value));
    });
}

// B: position in bits 0-7, size in bits 8-15. Bits beyond the word are zero, or copies of the last one read.
void bfe(Warp& warp, const Instruction& in, u32 mask) {
    const Operand d = in.operand(Slot::D);
    const Source a(warp, in.operand(Slot::A)), b(warp, in.operand(Slot::B));
    const bool sign = in.get<DataType>() != DataType::U32, reverse = in.has(Modifier::BitReverse),
               write_flags = in.has(Modifier::WriteCC);
    for_lanes(mask, [&](unsigned lane) {
        const u32 x = reverse ? reversed(a(lane)) : a(lane);
        const u32 field = b(lane), position = field & 0xff, size = field >> 8 & 0xff;
        u32 value = 0;
        if (size != 0) {
            const u32 end = std::min(position + size, 32u);
            const u64 shifted = sign ? static_cast<u64>(i64{static_cast<i32>(x)}) : u64{x};
            value = static_cast<u32>((sign ? static_cast<u64>(static_cast<i64>(shifted) >> std::min(position, 63u))
                                      : position < 64 ? shifted >> position
                                                      : 0));
            if (end > position) {
                const unsigned width = end - position;
                const u64 piece = bits(value, 0, width);
                value = sign ? static_cast<u32>(sign_extend(piece, width)) : static_cast<u32>(piece);
            }
        }
        finish(warp, d.reg, write_flags, lane, value, zero_and_sign(value));
    });
}

void bfi(Warp& warp, const Instruction& in, u32 mask) {
    const Operand d = in.operand(Slot::D);
    const Source a(warp, in.operand(Slot::A)), b(warp, in.operand(Slot::B)), c(warp, in.operand(Slot::C));
    const bool write_flags = in.has(Modifier::WriteCC);
    for_lanes(mask, [&](unsigned lane) {
        const u32 field = b(lane), position = field & 0xff, size = field >> 8 & 0xff;
        u32 value = c(lane);
        if (position < 32 && size != 0) {
            const u64 ones = size >= 32 ? 0xffffffffu : (u64{1} << size) - 1;
            const u32 place = static_cast<u32>(ones << position);
            value = (value & ~place) | (static_cast<u32>(u64{a(lane)} << position) & place);
        }
        finish(warp, d.reg, write_flags, lane, value, zero_and_sign(value));
    });
}

void flo(Warp& warp, const Instruction& in, u32 mask) {
    const Operand d = in.operand(Slot::D);
    const Source b(warp, in.operand(Slot::B));
    const bool sign = in.get<DataType>() == DataType::S32, as_shift = in.has(Modifier::ShiftAmount),
               write_flags = in.has(Modifier::WriteCC);
    for_lanes(mask, [&](unsigned lane) {
        u32 x = b.operand().inverted ? ~b(lane) : b(lane);
        if (sign && x >> 31) // the first bit that differs from the sign
            x = ~x;
        const u32 zeros = static_cast<u32>(std::countl_zero(x));
        const u32 value = x == 0 ? ~0u : as_shift ? zeros : 31 - zeros;
        finish(warp, d.reg, write_flags, lane, value, zero_and_sign(value));
    });
}

void popc(Warp& warp, const Instruction& in, u32 mask) {
    const Operand d = in.operand(Slot::D);
    const Source b(warp, in.operand(Slot::B));
    for_lanes(mask, [&](unsigned lane) {
        const u32 x = b.operand().inverted ? ~b(lane) : b(lane);
        warp.set(d.reg, lane, static_cast<u32>(std::popcount(x)));
    });
}

// Selectors of the modes that name one by the two lowest bits of B, four nibbles each.
constexpr u32 permute_selectors[][4] = {
    {0x3210, 0x4321, 0x5432, 0x6543}, // F4E: four bytes from byte n on
    {0x5670, 0x6701, 0x7012, 0x0123}, // B4E: the same backwards
    {0x0000, 0x1111, 0x2222, 0x3333}, // RC8: byte n four times
    {0x3210, 0x3211, 0x3222, 0x3333}, // ECL: no byte below byte n
    {0x0000, 0x1110, 0x2210, 0x3210}, // ECR: no byte above byte n
    {0x1010, 0x3232, 0x1010, 0x3232}, // RC16: half n twice
};

// Each nibble of the selector names a byte of {C, A}; its bit 3 asks for eight copies of that byte's sign.
void prmt(Warp& warp, const Instruction& in, u32 mask) {
    const Operand d = in.operand(Slot::D);
    const Source a(warp, in.operand(Slot::A)), b(warp, in.operand(Slot::B)), c(warp, in.operand(Slot::C));
    const auto mode = static_cast<std::size_t>(in.get<maxwell::PermuteMode>());
    for_lanes(mask, [&](unsigned lane) {
        const u32 selector = mode == 0 ? b(lane) : permute_selectors[mode - 1][b(lane) & 3];
        const u64 pair = u64{c(lane)} << 32 | a(lane);
        u32 value = 0;
        for (unsigned i = 0; i < 4; ++i) {
            const u32 nibble = selector >> 4 * i & 15;
            u32 byte = static_cast<u32>(pair >> 8 * (nibble & 7)) & 0xff;
            if (nibble & 8)
                byte = byte >> 7 ? 0xff : 0;
            value |= byte << 8 * i;
        }
        warp.set(d.reg, lane, value);
    });
}

} // namespace

std::span<const Row> bit_rows() {
    static constexpr Row rows[] = {
        {Opcode::LOP, lop}, {Opcode::LOP32I, lop}, {Opcode::LOP3, lop3}, {Opcode::SHL, shl},
        {Opcode::SHR, shr}, {Opcode::SHF, shf},    {Opcode::BFE, bfe},   {Opcode::BFI, bfi},
        {Opcode::FLO, flo}, {Opcode::POPC, popc},  {Opcode::PRMT, prmt},
    };
    return rows;
}

} // namespace heaviside::interpreter
