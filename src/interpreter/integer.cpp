// 32-bit integer arithmetic, logic and shifts.
#include "interpreter/warp.h"

#include <algorithm>

namespace heaviside::interpreter {
namespace {

using maxwell::BoolOp;
using maxwell::Compare;
using maxwell::DataType;
using maxwell::LogicOp;

u8 zero_sign(u32 value) {
    return static_cast<u8>((value == 0 ? flag::zero : 0) | (value >> 31 ? flag::sign : 0));
}

struct Sum {
    u32 value;
    u8 flags;
};

// a + b + carry on 32 bits with all four flags.
Sum add(u32 a, u32 b, u32 carry) {
    const u64 wide = u64{a} + b + carry;
    const u32 value = static_cast<u32>(wide);
    u8 flags = zero_sign(value);
    flags |= wide >> 32 ? flag::carry : 0;
    flags |= ((a ^ value) & (b ^ value)) >> 31 ? flag::overflow : 0;
    return {value, flags};
}

void finish(Warp& warp, const Instruction& in, u8 reg, unsigned lane, u32 value, u8 flags) {
    warp.set(reg, lane, value);
    if (in.has(Modifier::WriteCC))
        warp.flags[lane] = flags;
}

// Negation is the one's complement plus a carry in, so that carries come out as the adder's. With .X the carry of the
// condition code stands for the ones; its zero flag lets multi-word results be tested at the end.
Sum negating_add(const Warp& warp, const Instruction& in, unsigned lane, u32 a, bool negate_a, u32 b, bool negate_b) {
    const bool extended = in.has(Modifier::Extended);
    u32 carry = extended ? (warp.flags[lane] & flag::carry ? 1 : 0) : u32{negate_a || negate_b};
    if (in.has(Modifier::PlusOne))
        carry = 1;
    Sum sum = add(negate_a ? ~a : a, negate_b ? ~b : b, carry);
    if (extended && !(warp.flags[lane] & flag::zero))
        sum.flags &= static_cast<u8>(~flag::zero);
    return sum;
}

void iadd(Warp& warp, const Instruction& in, u32 mask) {
    const Operand d = in.operand(Slot::D), a = in.operand(Slot::A), b = in.operand(Slot::B);
    for_lanes(mask, [&](unsigned lane) {
        Sum sum = negating_add(warp, in, lane, raw(warp, a, lane), a.negated, raw(warp, b, lane), b.negated);
        if (in.has(Modifier::Saturate) && (sum.flags & flag::overflow)) {
            sum.value = sum.value >> 31 ? 0x7fffffff : 0x80000000;
            sum.flags = static_cast<u8>((sum.flags & flag::carry) | zero_sign(sum.value) | flag::overflow);
        }
        finish(warp, in, d.reg, lane, sum.value, sum.flags);
    });
}

void iscadd(Warp& warp, const Instruction& in, u32 mask) {
    const Operand d = in.operand(Slot::D), a = in.operand(Slot::A), b = in.operand(Slot::B);
    const u32 shift = static_cast<u32>(in.operand(Slot::I).value) & 31;
    for_lanes(mask, [&](unsigned lane) {
        const Sum sum =
            negating_add(warp, in, lane, raw(warp, a, lane) << shift, a.negated, raw(warp, b, lane), b.negated);
        finish(warp, in, d.reg, lane, sum.value, sum.flags);
    });
}

bool compare(Compare op, u32 a, u32 b, bool is_signed) {
    const i64 x = is_signed ? static_cast<i32>(a) : i64{a}, y = is_signed ? static_cast<i32>(b) : i64{b};
    switch (op) {
    case Compare::Less:
        return x < y;
    case Compare::Equal:
        return x == y;
    case Compare::LessEqual:
        return x <= y;
    case Compare::Greater:
        return x > y;
    case Compare::NotEqual:
        return x != y;
    case Compare::GreaterEqual:
        return x >= y;
    case Compare::True:
        return true;
    default:
        return false;
    }
}

bool refuses_extended(Warp& warp, const Instruction& in) {
    if (in.has(Modifier::Extended))
        warp.fault = "comparison over two words (.X) is not built";
    return !warp.fault.empty();
}

void isetp(Warp& warp, const Instruction& in, u32 mask) {
    if (refuses_extended(warp, in))
        return;
    const Operand p = in.operand(Slot::P), q = in.operand(Slot::Q), a = in.operand(Slot::A), b = in.operand(Slot::B),
                  s = in.operand(Slot::S);
    const bool is_signed = in.get<DataType>() == DataType::S32 || in.get<DataType>() == DataType::None;
    for_lanes(mask, [&](unsigned lane) {
        const bool result = compare(in.get<Compare>(), raw(warp, a, lane), raw(warp, b, lane), is_signed);
        const bool other = warp.predicate(s, lane);
        warp.set_predicate(p, lane, join(in.get<BoolOp>(), result, other));
        warp.set_predicate(q, lane, join(in.get<BoolOp>(), !result, other));
    });
}

void icmp(Warp& warp, const Instruction& in, u32 mask) {
    const Operand d = in.operand(Slot::D), a = in.operand(Slot::A), b = in.operand(Slot::B), c = in.operand(Slot::C);
    const bool is_signed = in.get<DataType>() == DataType::S32 || in.get<DataType>() == DataType::None;
    for_lanes(mask, [&](unsigned lane) {
        const bool result = compare(in.get<Compare>(), raw(warp, c, lane), 0, is_signed);
        warp.set(d.reg, lane, result ? raw(warp, a, lane) : raw(warp, b, lane));
    });
}

void imnmx(Warp& warp, const Instruction& in, u32 mask) {
    if (in.get<maxwell::MinMaxExtended>() != maxwell::MinMaxExtended::None) {
        warp.fault = "minimum over several words is not built";
        return;
    }
    const Operand d = in.operand(Slot::D), a = in.operand(Slot::A), b = in.operand(Slot::B), s = in.operand(Slot::S);
    const bool is_signed = in.get<DataType>() == DataType::S32 || in.get<DataType>() == DataType::None;
    for_lanes(mask, [&](unsigned lane) {
        const u32 x = raw(warp, a, lane), y = raw(warp, b, lane);
        const bool less = compare(Compare::Less, x, y, is_signed);
        const u32 value = less == warp.predicate(s, lane) ? x : y; // true: the minimum
        finish(warp, in, d.reg, lane, value, zero_sign(value));
    });
}

void lop(Warp& warp, const Instruction& in, u32 mask) {
    const Operand d = in.operand(Slot::D), a = in.operand(Slot::A), b = in.operand(Slot::B), p = in.operand(Slot::P);
    for_lanes(mask, [&](unsigned lane) {
        const u32 x = a.inverted ? ~raw(warp, a, lane) : raw(warp, a, lane);
        const u32 y = b.inverted ? ~raw(warp, b, lane) : raw(warp, b, lane);
        u32 value = y;
        if (const auto op = in.get<LogicOp>(); op == LogicOp::And)
            value = x & y;
        else if (op == LogicOp::Or)
            value = x | y;
        else if (op == LogicOp::Xor)
            value = x ^ y;
        u8 flags = zero_sign(value);
        if (in.has(Modifier::Extended) && !(warp.flags[lane] & flag::zero))
            flags &= static_cast<u8>(~flag::zero);
        const bool zero = flags & flag::zero;
        finish(warp, in, d.reg, lane, value, flags);
        using maxwell::PredicateResult;
        const auto wanted = in.get<PredicateResult>();
        warp.set_predicate(p, lane,
                           wanted == PredicateResult::True || (wanted == PredicateResult::Zero && zero) ||
                               (wanted == PredicateResult::NotZero && !zero));
    });
}

void shl(Warp& warp, const Instruction& in, u32 mask) {
    if (refuses_extended(warp, in))
        return;
    const Operand d = in.operand(Slot::D), a = in.operand(Slot::A), b = in.operand(Slot::B);
    for_lanes(mask, [&](unsigned lane) {
        const u32 count = in.has(Modifier::Wrap) ? raw(warp, b, lane) & 31 : std::min(raw(warp, b, lane), 32u);
        const u32 value = static_cast<u32>(u64{raw(warp, a, lane)} << count);
        finish(warp, in, d.reg, lane, value, zero_sign(value));
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
        warp.fault = "shift over two words is not built";
        return;
    }
    const Operand d = in.operand(Slot::D), a = in.operand(Slot::A), b = in.operand(Slot::B);
    const bool is_signed = in.get<DataType>() != DataType::U32;
    for_lanes(mask, [&](unsigned lane) {
        const u32 count = in.has(Modifier::Wrap) ? raw(warp, b, lane) & 31 : std::min(raw(warp, b, lane), 32u);
        u32 x = raw(warp, a, lane);
        if (in.has(Modifier::BitReverse))
            x = reversed(x);
        const u32 value = is_signed ? static_cast<u32>(static_cast<i64>(static_cast<i32>(x)) >> count)
                                    : static_cast<u32>(u64{x} >> count);
        finish(warp, in, d.reg, lane, value, zero_sign(value));
    });
}

// B: position in bits 0-7, size in bits 8-15. Bits beyond the word are zero, or copies of the last one read.
void bfe(Warp& warp, const Instruction& in, u32 mask) {
    const Operand d = in.operand(Slot::D), a = in.operand(Slot::A), b = in.operand(Slot::B);
    const bool is_signed = in.get<DataType>() != DataType::U32;
    for_lanes(mask, [&](unsigned lane) {
        u32 x = raw(warp, a, lane);
        if (in.has(Modifier::BitReverse))
            x = reversed(x);
        const u32 field = raw(warp, b, lane), position = field & 0xff, size = field >> 8 & 0xff;
        u32 value = 0;
        if (size != 0) {
            const u32 end = std::min(position + size, 32u);
            const u64 shifted = is_signed ? static_cast<u64>(static_cast<i64>(static_cast<i32>(x))) : u64{x};
            value = static_cast<u32>(shifted >> std::min(position, 63u));
            if (end > position) {
                const unsigned width = end - position;
                const u64 piece = bits(value, 0, width);
                value = is_signed ? static_cast<u32>(sign_extend(piece, width)) : static_cast<u32>(piece);
            }
        }
        finish(warp, in, d.reg, lane, value, zero_sign(value));
    });
}

void bfi(Warp& warp, const Instruction& in, u32 mask) {
    const Operand d = in.operand(Slot::D), a = in.operand(Slot::A), b = in.operand(Slot::B), c = in.operand(Slot::C);
    for_lanes(mask, [&](unsigned lane) {
        const u32 field = raw(warp, b, lane), position = field & 0xff, size = field >> 8 & 0xff;
        u32 value = raw(warp, c, lane);
        if (position < 32 && size != 0) {
            const u64 ones = size >= 32 ? 0xffffffffu : (u64{1} << size) - 1;
            const u32 place = static_cast<u32>(ones << position);
            value = (value & ~place) | (static_cast<u32>(u64{raw(warp, a, lane)} << position) & place);
        }
        finish(warp, in, d.reg, lane, value, zero_sign(value));
    });
}

void flo(Warp& warp, const Instruction& in, u32 mask) {
    const Operand d = in.operand(Slot::D), b = in.operand(in.has(Slot::B) ? Slot::B : Slot::A);
    const bool is_signed = in.get<DataType>() == DataType::S32;
    for_lanes(mask, [&](unsigned lane) {
        u32 x = raw(warp, b, lane);
        if (b.inverted)
            x = ~x;
        if (is_signed && x >> 31) // the first bit that differs from the sign
            x = ~x;
        u32 value = ~0u;
        if (x != 0)
            value = in.has(Modifier::ShiftAmount) ? static_cast<u32>(std::countl_zero(x))
                                                  : 31 - static_cast<u32>(std::countl_zero(x));
        finish(warp, in, d.reg, lane, value, zero_sign(value));
    });
}

void popc(Warp& warp, const Instruction& in, u32 mask) {
    const Operand d = in.operand(Slot::D), b = in.operand(in.has(Slot::B) ? Slot::B : Slot::A);
    for_lanes(mask, [&](unsigned lane) {
        const u32 x = b.inverted ? ~raw(warp, b, lane) : raw(warp, b, lane);
        warp.set(d.reg, lane, static_cast<u32>(std::popcount(x)));
    });
}

// 16 x 16 bit multiply-add, from which the machine builds its wider products.
void xmad(Warp& warp, const Instruction& in, u32 mask) {
    const Operand d = in.operand(Slot::D), a = in.operand(Slot::A), b = in.operand(Slot::B), c = in.operand(Slot::C);
    const bool signed_a = in.get<DataType>(Modifier::SourceType) == DataType::S16;
    const bool signed_b = in.get<DataType>(Modifier::SourceType2) == DataType::S16;
    const auto half = [](const Operand& operand) {
        return operand.part == maxwell::Part::H1 ? maxwell::Part::H1 : maxwell::Part::H0;
    };
    using maxwell::XmadMode;
    for_lanes(mask, [&](unsigned lane) {
        const u32 whole_b = raw(warp, b, lane);
        u32 product = part_of(raw(warp, a, lane), half(a), signed_a) * part_of(whole_b, half(b), signed_b);
        if (in.has(Modifier::ShiftProduct))
            product <<= 16;
        u32 addend = raw(warp, c, lane);
        switch (in.get<XmadMode>()) {
        case XmadMode::Clo:
            addend &= 0xffff;
            break;
        case XmadMode::Chi:
            addend >>= 16;
            break;
        case XmadMode::Cbcc:
            addend += whole_b << 16;
            break;
        case XmadMode::Csfu:
            warp.fault = "XMAD.CSFU is not built";
            return;
        case XmadMode::None:
            break;
        }
        const u32 carry = in.has(Modifier::Extended) && warp.flags[lane] & flag::carry ? 1 : 0;
        Sum sum = add(product, addend, carry);
        if (in.has(Modifier::MergeResult))
            sum.value = (sum.value & 0xffff) | whole_b << 16;
        finish(warp, in, d.reg, lane, sum.value, sum.flags);
    });
}

} // namespace

std::span<const Row> integer_rows() {
    static constexpr Row rows[] = {
        {Opcode::IADD, iadd}, {Opcode::IADD32I, iadd}, {Opcode::ISCADD, iscadd}, {Opcode::ISETP, isetp},
        {Opcode::ICMP, icmp}, {Opcode::IMNMX, imnmx},  {Opcode::LOP, lop},       {Opcode::LOP32I, lop},
        {Opcode::SHL, shl},   {Opcode::SHR, shr},      {Opcode::BFE, bfe},       {Opcode::BFI, bfi},
        {Opcode::FLO, flo},   {Opcode::POPC, popc},    {Opcode::XMAD, xmad},
    };
    return rows;
}

} // namespace heaviside::interpreter
