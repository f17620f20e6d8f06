// 32-bit integer sums, products, comparisons, minimum and maximum.
#include "interpreter/lanes.h"

#include <algorithm>

namespace heaviside::interpreter {
namespace {

using maxwell::BoolOp;
using maxwell::Compare;
using maxwell::DataType;
using maxwell::Part;

struct Sum {
    u32 value;
    u8 flags;
};

// a + b + carry on 32 bits with all four flags.
Sum add(u32 a, u32 b, u32 carry) {
    const u64 wide = u64{a} + b + carry;
    const u32 value = static_cast<u32>(wide);
    u8 flags = zero_and_sign(value);
    flags |= wide >> 32 ? flag::carry : 0;
    flags |= ((a ^ value) & (b ^ value)) >> 31 ? flag::overflow : 0;
    return {value, flags};
}

u32 carry_of(const Warp& warp, unsigned lane) {
    return warp.flags[lane] & flag::carry ? 1 : 0;
}

// With .X the zero flag stays only if the words below were zero too, so that it tells of the whole number at the end.
u8 extended_flags(const Warp& warp, unsigned lane, u8 flags) {
    return warp.flags[lane] & flag::zero ? flags : static_cast<u8>(flags & ~flag::zero);
}

// The adder of most instructions. Negation is the one's complement plus a carry in, so that carries come out as the
// adder's. With .X the carry of the condition code stands for the ones.
struct Adder {
    bool extended, plus_one, negate_a, negate_b, saturate, write_flags;
    Adder(const Instruction& in, bool a, bool b)
        : extended(in.has(Modifier::Extended)), plus_one(in.has(Modifier::PlusOne)), negate_a(a && !plus_one),
          negate_b(b && !plus_one), saturate(in.has(Modifier::Saturate)), write_flags(in.has(Modifier::WriteCC)) {}

    [[nodiscard]] Sum operator()(const Warp& warp, unsigned lane, u32 a, u32 b) const {
        const u32 carry = plus_one ? 1 : extended ? carry_of(warp, lane) : u32{negate_a || negate_b};
        Sum sum = add(negate_a ? ~a : a, negate_b ? ~b : b, carry);
        if (saturate && (sum.flags & flag::overflow)) {
            sum.value = sum.value >> 31 ? 0x7fffffff : 0x80000000;
            sum.flags = static_cast<u8>((sum.flags & flag::carry) | zero_and_sign(sum.value) | flag::overflow);
        }
        if (extended)
            sum.flags = extended_flags(warp, lane, sum.flags);
        return sum;
    }
};

void iadd(Warp& warp, const Instruction& in, u32 mask) {
    const u8 d = in.operand(Slot::D).reg;
    const Source a(warp, in.operand(Slot::A)), b(warp, in.operand(Slot::B));
    const Adder adder(in, a.operand().negated, b.operand().negated);
    for_lanes(mask, [&](unsigned lane) {
        const Sum sum = adder(warp, lane, a(lane), b(lane));
        finish(warp, d, adder.write_flags, lane, sum.value, sum.flags);
    });
}

void iscadd(Warp& warp, const Instruction& in, u32 mask) {
    const u8 d = in.operand(Slot::D).reg;
    const Source a(warp, in.operand(Slot::A)), b(warp, in.operand(Slot::B));
    const u32 shift = static_cast<u32>(in.operand(Slot::I).value) & 31;
    const Adder adder(in, a.operand().negated, b.operand().negated);
    for_lanes(mask, [&](unsigned lane) {
        const Sum sum = adder(warp, lane, a(lane) << shift, b(lane));
        finish(warp, d, adder.write_flags, lane, sum.value, sum.flags);
    });
}

// Two adders in a row, A + B and that + C. Three words can carry twice: the second adder's carry is the carry flag, the
// first one's is the overflow flag (measured); .X takes both.
void iadd3(Warp& warp, const Instruction& in, u32 mask) {
    using maxwell::Add3Shift;
    const u8 d = in.operand(Slot::D).reg;
    const Source a(warp, in.operand(Slot::A)), b(warp, in.operand(Slot::B)), c(warp, in.operand(Slot::C));
    const bool extended = in.has(Modifier::Extended), write_flags = in.has(Modifier::WriteCC);
    const auto shift = in.get<Add3Shift>();
    const auto term = [](const Source& source, unsigned lane) {
        const u32 word = part_of(source(lane), source.operand().part, false);
        return source.operand().negated ? ~word : word;
    };
    const u32 negations = u32{a.operand().negated} + b.operand().negated + c.operand().negated;
    for_lanes(mask, [&](unsigned lane) {
        const u8 old = warp.flags[lane];
        const u32 ones = !extended ? negations : u32{(old & flag::carry) != 0} + ((old & flag::overflow) != 0);
        const bool first_one = extended ? ones != 0 : a.operand().negated || b.operand().negated;
        u64 partial = u64{term(a, lane)} + term(b, lane) + first_one;
        u8 flags = partial >> 32 ? flag::overflow : 0;
        if (shift == Add3Shift::Right) // of the 33-bit sum
            partial >>= 16;
        else if (shift == Add3Shift::Left)
            partial <<= 16;
        const u64 total = (partial & 0xffffffff) + term(c, lane) + (ones - first_one);
        const u32 value = static_cast<u32>(total);
        flags |= static_cast<u8>((total >> 32 ? flag::carry : 0) | zero_and_sign(value));
        finish(warp, d, write_flags, lane, value, extended ? extended_flags(warp, lane, flags) : flags);
    });
}

// (A << n) + B; .HI: the upper word of {C, A} << n, plus B. A negation is that of the whole shifted number. The
// predicate is the carry.
void lea(Warp& warp, const Instruction& in, u32 mask) {
    const Operand d = in.operand(Slot::D), p = in.operand(Slot::P);
    const Source a(warp, in.operand(Slot::A)), b(warp, in.operand(Slot::B)), c(warp, in.operand(Slot::C));
    const bool high = in.has(Slot::C), negate = a.operand().negated, extended = in.has(Modifier::Extended),
               write_flags = in.has(Modifier::WriteCC);
    const u32 shift = static_cast<u32>(in.operand(Slot::I).value) & 31;
    for_lanes(mask, [&](unsigned lane) {
        u64 number = high ? u64{c(lane)} << 32 | a(lane) : a(lane);
        number = (negate ? 0 - number : number) << shift;
        Sum sum = add(static_cast<u32>(high ? number >> 32 : number), b(lane), extended ? carry_of(warp, lane) : 0);
        if (extended)
            sum.flags = extended_flags(warp, lane, sum.flags);
        finish(warp, d.reg, write_flags, lane, sum.value, sum.flags);
        warp.set_predicate(p, lane, (sum.flags & flag::carry) != 0);
    });
}

bool compares_signed(DataType type) {
    return type == DataType::S32 || type == DataType::None;
}

Ordering order(u32 a, u32 b, bool sign) {
    return sign ? ordering_of(static_cast<i32>(a), static_cast<i32>(b)) : ordering_of(a, b);
}

// With .X the words are the upper ones of wider numbers, and the flags those of the subtraction of the lower ones.
Ordering extended_order(const Warp& warp, unsigned lane, u32 a, u32 b, bool sign) {
    const u8 below = warp.flags[lane];
    if (a != b)
        return order(a, b, sign);
    if (!(below & flag::carry)) // a borrow
        return Ordering::Less;
    return below & flag::zero ? Ordering::Equal : Ordering::Greater;
}

Ordering compared(const Warp& warp, const Instruction& in, unsigned lane, u32 a, u32 b, bool sign) {
    return in.has(Modifier::Extended) ? extended_order(warp, lane, a, b, sign) : order(a, b, sign);
}

void isetp(Warp& warp, const Instruction& in, u32 mask) {
    const Operand p = in.operand(Slot::P), q = in.operand(Slot::Q), s = in.operand(Slot::S);
    const Source a(warp, in.operand(Slot::A)), b(warp, in.operand(Slot::B));
    const bool sign = compares_signed(in.get<DataType>());
    const auto op = in.get<Compare>();
    const auto joining = in.get<BoolOp>();
    for_lanes(mask, [&](unsigned lane) {
        const bool result = holds(op, compared(warp, in, lane, a(lane), b(lane), sign));
        set_predicates(warp, p, q, joining, lane, result, warp.predicate(s, lane));
    });
}

void iset(Warp& warp, const Instruction& in, u32 mask) {
    const Operand d = in.operand(Slot::D), s = in.operand(Slot::S);
    const Source a(warp, in.operand(Slot::A)), b(warp, in.operand(Slot::B));
    const bool sign = compares_signed(in.get<DataType>()), write_flags = in.has(Modifier::WriteCC);
    const auto op = in.get<Compare>();
    const auto joining = in.get<BoolOp>();
    for_lanes(mask, [&](unsigned lane) {
        const bool result = holds(op, compared(warp, in, lane, a(lane), b(lane), sign));
        const u32 value = truth_word(in, join(joining, result, warp.predicate(s, lane)));
        finish(warp, d.reg, write_flags, lane, value, zero_and_sign(value));
    });
}

void icmp(Warp& warp, const Instruction& in, u32 mask) {
    const Operand d = in.operand(Slot::D);
    const Source a(warp, in.operand(Slot::A)), b(warp, in.operand(Slot::B)), c(warp, in.operand(Slot::C));
    const bool sign = compares_signed(in.get<DataType>());
    const auto op = in.get<Compare>();
    for_lanes(mask,
              [&](unsigned lane) { warp.set(d.reg, lane, holds(op, order(c(lane), 0, sign)) ? a(lane) : b(lane)); });
}

// A true predicate asks for the minimum. Words of wider numbers are done from the highest (.XHI) down (.XMED, .XLO): a
// word decides only while those above were equal; the flags tell the next one, as those of a subtraction would.
void imnmx(Warp& warp, const Instruction& in, u32 mask) {
    using maxwell::MinMaxExtended;
    const Operand d = in.operand(Slot::D), s = in.operand(Slot::S);
    const Source a(warp, in.operand(Slot::A)), b(warp, in.operand(Slot::B));
    const bool sign = compares_signed(in.get<DataType>()), write_flags = in.has(Modifier::WriteCC);
    const auto mode = in.get<MinMaxExtended>();
    const bool has_above = mode == MinMaxExtended::Xlo || mode == MinMaxExtended::Xmed;
    for_lanes(mask, [&](unsigned lane) {
        const u32 x = a(lane), y = b(lane);
        Ordering ordering = order(x, y, sign);
        if (has_above && !(warp.flags[lane] & flag::zero))
            ordering = warp.flags[lane] & flag::sign ? Ordering::Less : Ordering::Greater;
        const u32 value = (ordering == Ordering::Less) == warp.predicate(s, lane) ? x : y;
        const u8 order_flags = ordering == Ordering::Less    ? flag::sign
                               : ordering == Ordering::Equal ? flag::zero | flag::carry
                                                             : flag::carry;
        finish(warp, d.reg, write_flags, lane, value,
               mode == MinMaxExtended::None ? zero_and_sign(value) : order_flags);
    });
}

// The 64-bit product of words whose signs are given.
u64 wide_product(u32 a, bool signed_a, u32 b, bool signed_b) {
    const u64 x = signed_a ? static_cast<u64>(i64{static_cast<i32>(a)}) : a;
    const u64 y = signed_b ? static_cast<u64>(i64{static_cast<i32>(b)}) : b;
    return x * y;
}

void imul(Warp& warp, const Instruction& in, u32 mask) {
    const Operand d = in.operand(Slot::D);
    const Source a(warp, in.operand(Slot::A)), b(warp, in.operand(Slot::B));
    const bool signed_a = in.get<DataType>(Modifier::SourceType) == DataType::S32,
               signed_b = in.get<DataType>(Modifier::SourceType2) == DataType::S32,
               write_flags = in.has(Modifier::WriteCC);
    const unsigned shift = in.has(Modifier::HighHalf) ? 32 : 0;
    for_lanes(mask, [&](unsigned lane) {
        const u32 value = static_cast<u32>(wide_product(a(lane), signed_a, b(lane), signed_b) >> shift);
        finish(warp, d.reg, write_flags, lane, value, zero_and_sign(value));
    });
}

// One word of the product, plus C. The negation of the product is that of the word, so that a low word's carry and .X
// make a wide result.
void imad(Warp& warp, const Instruction& in, u32 mask) {
    const Operand d = in.operand(Slot::D);
    const Source a(warp, in.operand(Slot::A)), b(warp, in.operand(Slot::B)), c(warp, in.operand(Slot::C));
    const bool signed_a = in.get<DataType>(Modifier::SourceType) == DataType::S32,
               signed_b = in.get<DataType>(Modifier::SourceType2) == DataType::S32;
    const unsigned shift = in.has(Modifier::HighHalf) ? 32 : 0;
    const Adder adder(in, a.operand().negated != b.operand().negated, c.operand().negated);
    for_lanes(mask, [&](unsigned lane) {
        const u32 word = static_cast<u32>(wide_product(a(lane), signed_a, b(lane), signed_b) >> shift);
        const Sum sum = adder(warp, lane, word, c(lane));
        finish(warp, d.reg, adder.write_flags, lane, sum.value, sum.flags);
    });
}

// IMADSP names a part of each source.
u32 multimedia_part(u32 word, DataType type) {
    const auto extended = [&](unsigned first, unsigned width) {
        return static_cast<u32>(sign_extend(bits(word, first, width), width));
    };
    switch (type) {
    case DataType::U24:
        return word & 0xffffff;
    case DataType::S24:
        return extended(0, 24);
    case DataType::U16H0:
        return word & 0xffff;
    case DataType::S16H0:
        return extended(0, 16);
    case DataType::U16H1:
        return word >> 16;
    case DataType::S16H1:
        return extended(16, 16);
    default:
        return word;
    }
}

void imadsp(Warp& warp, const Instruction& in, u32 mask) {
    const Operand d = in.operand(Slot::D);
    const Source a(warp, in.operand(Slot::A)), b(warp, in.operand(Slot::B)), c(warp, in.operand(Slot::C));
    const auto type_a = in.get<DataType>(Modifier::SourceType), type_b = in.get<DataType>(Modifier::SourceType2),
               type_c = in.get<DataType>(Modifier::SourceType3);
    const bool write_flags = in.has(Modifier::WriteCC);
    for_lanes(mask, [&](unsigned lane) {
        const Sum sum = add(multimedia_part(a(lane), type_a) * multimedia_part(b(lane), type_b),
                            multimedia_part(c(lane), type_c), 0);
        finish(warp, d.reg, write_flags, lane, sum.value, sum.flags);
    });
}

// .CSFU, for the upper word of a signed 32 x 32 product: code adds the mixed products of a low and a signed high half
// as a 33-bit sum and shifts it right without its sign (IADD3.RS); this takes 2^16 off for each product below zero. The
// vendor's compiler relies on exactly that (kernels with mul.hi.s32).
u32 sign_fix(u32 a, bool signed_a, u32 b, bool signed_b) {
    const u32 of_a = signed_a && a >> 31 && (b & 0xffff) != 0 ? 0x10000 : 0;
    const u32 of_b = signed_b && b >> 31 && (a & 0xffff) != 0 ? 0x10000 : 0;
    return 0 - of_a - of_b;
}

// 16 x 16 bit multiply-add, from which the machine builds its wider products.
void xmad(Warp& warp, const Instruction& in, u32 mask) {
    using maxwell::XmadMode;
    const Operand d = in.operand(Slot::D);
    const Source a(warp, in.operand(Slot::A)), b(warp, in.operand(Slot::B)), c(warp, in.operand(Slot::C));
    const bool signed_a = in.get<DataType>(Modifier::SourceType) == DataType::S16,
               signed_b = in.get<DataType>(Modifier::SourceType2) == DataType::S16;
    const auto half = [](const Source& source) { return source.operand().part == Part::H1 ? Part::H1 : Part::H0; };
    const Part part_a = half(a), part_b = half(b);
    const auto mode = in.get<XmadMode>();
    const bool shift_product = in.has(Modifier::ShiftProduct), merge = in.has(Modifier::MergeResult),
               extended = in.has(Modifier::Extended), write_flags = in.has(Modifier::WriteCC);
    for_lanes(mask, [&](unsigned lane) {
        const u32 word_a = a(lane), word_b = b(lane);
        u32 product = part_of(word_a, part_a, signed_a) * part_of(word_b, part_b, signed_b);
        if (shift_product)
            product <<= 16;
        u32 addend = c(lane);
        switch (mode) {
        case XmadMode::Clo:
            addend &= 0xffff;
            break;
        case XmadMode::Chi:
            addend >>= 16;
            break;
        case XmadMode::Cbcc:
            addend += word_b << 16;
            break;
        case XmadMode::Csfu:
            addend += sign_fix(word_a, signed_a, word_b, signed_b);
            break;
        case XmadMode::None:
            break;
        }
        Sum sum = add(product, addend, extended ? carry_of(warp, lane) : 0);
        if (extended)
            sum.flags = extended_flags(warp, lane, sum.flags);
        if (merge)
            sum.value = (sum.value & 0xffff) | word_b << 16;
        finish(warp, d.reg, write_flags, lane, sum.value, sum.flags);
    });
}

} // namespace

std::span<const Row> integer_rows() {
    static constexpr Row rows[] = {
        {Opcode::IADD, iadd},        {Opcode::IADD32I, iadd}, {Opcode::IADD3, iadd3},   {Opcode::ISCADD, iscadd},
        {Opcode::ISCADD32I, iscadd}, {Opcode::LEA, lea},      {Opcode::ISETP, isetp},   {Opcode::ISET, iset},
        {Opcode::ICMP, icmp},        {Opcode::IMNMX, imnmx},  {Opcode::IMUL, imul},     {Opcode::IMUL32I, imul},
        {Opcode::IMAD, imad},        {Opcode::IMAD32I, imad}, {Opcode::IMADSP, imadsp}, {Opcode::XMAD, xmad},
    };
    return rows;
}

} // namespace heaviside::interpreter
