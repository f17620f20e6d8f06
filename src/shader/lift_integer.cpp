// Integer arithmetic and comparison.
#include "shader/lift_context.h"

namespace heaviside::shader::lifting {
namespace {

using ir::Flag;
using ir::Relation;
using maxwell::DataType;

// a + b + carry with the condition code; the carry out of a subtraction is "no borrow".
struct Sum {
    Value value, first, second, carry;
};

Value as_word(Lifter& l, Value boolean) {
    return l.select(boolean, l.b.word(1), l.b.word(0));
}

// The machine subtracts by adding the complement and one; with .X the carry takes the place of that one. .PO is the one
// alone.
Sum sum_of(Lifter& l, const Instruction& i, Value a, bool negate_a, Value c, bool negate_b) {
    const bool extended = i.has(Modifier::Extended), plus_one = i.has(Modifier::PlusOne);
    Sum sum;
    if (plus_one)
        negate_a = negate_b = false;
    if (!extended && !plus_one && !(negate_a && negate_b) && !i.has(Modifier::WriteCC) && !i.has(Modifier::Saturate)) {
        if (negate_a)
            sum.value = l.b.op(Op::ISub, {c, a});
        else
            sum.value = l.b.op(negate_b ? Op::ISub : Op::IAdd, {a, c});
        return sum;
    }
    sum.first = negate_a ? l.b.op(Op::Not, {a}) : a;
    sum.second = negate_b ? l.b.op(Op::Not, {c}) : c;
    sum.value = l.add(sum.first, sum.second);
    if (extended && !plus_one) {
        sum.carry = l.flag(Flag::Carry);
        sum.value = l.add(sum.value, as_word(l, sum.carry));
    } else {
        const bool one = plus_one || negate_a || negate_b;
        sum.carry = l.b.boolean(one);
        sum.value = l.add(sum.value, one ? 1u : 0u);
    }
    return sum;
}

// `merged`: what the register gets, if that is not the sum whose flags are written.
void sum_result(Lifter& l, const Instruction& i, const Sum& sum, Value merged = {}) {
    Value value = sum.value;
    const auto overflow = [&] { return l.b.op(Op::AddOverflow, {sum.first, sum.second, sum.carry}); };
    if (i.has(Modifier::Saturate)) {
        const Value limit = l.select(l.is_negative(value), l.b.word(0x7fffffff), l.b.word(0x80000000));
        value = l.select(overflow(), limit, value);
    }
    if (i.has(Modifier::WriteCC)) {
        // A wide number is zero if all its words are.
        Value zero = l.is_zero(value);
        if (i.has(Modifier::Extended))
            zero = l.band(zero, l.flag(Flag::Zero));
        const Value carry = l.b.op(Op::AddCarry, {sum.first, sum.second, sum.carry}), over = overflow();
        l.set_flag(Flag::Zero, zero);
        l.set_flag(Flag::Sign, l.is_negative(value));
        l.set_flag(Flag::Carry, carry);
        l.set_flag(Flag::Overflow, over);
    }
    l.result(i, merged.valid() ? merged : value);
}

void iadd(Lifter& l, const Instruction& i) {
    Operand a = i.operand(Slot::A), c = i.operand(Slot::B);
    const bool negate_a = a.negated, negate_b = c.negated;
    a.negated = c.negated = false;
    sum_result(l, i, sum_of(l, i, l.integer(a), negate_a, l.integer(c), negate_b));
}

void iscadd(Lifter& l, const Instruction& i) {
    Operand a = i.operand(Slot::A), c = i.operand(Slot::B);
    const bool negate_a = a.negated, negate_b = c.negated;
    a.negated = c.negated = false;
    const Value shifted = l.shift_left(l.integer(a), static_cast<u32>(i.operand(Slot::I).value) & 31);
    sum_result(l, i, sum_of(l, i, shifted, negate_a, l.integer(c), negate_b));
}

// Two additions in a row; the condition code keeps the carry of each: the first as overflow, the second as carry. The
// first adder takes one of the ones of negated terms (with .X: of the two carries), the second one the rest.
void iadd3(Lifter& l, const Instruction& i) {
    const bool extended = i.has(Modifier::Extended);
    const Slot slots[] = {Slot::A, Slot::B, Slot::C};
    Value terms[3];
    u32 ones = 0;
    for (u32 k = 0; k < 3; ++k) {
        const Operand operand = i.operand(slots[k]);
        const Value term = l.part(l.word(operand), operand.part, false);
        terms[k] = operand.negated ? l.b.op(Op::Not, {term}) : term;
        ones += operand.negated ? 1 : 0;
    }
    Value first_one, second_one;
    if (extended) {
        first_one = l.bor(l.flag(Flag::Carry), l.flag(Flag::Overflow));
        second_one = l.band(l.flag(Flag::Carry), l.flag(Flag::Overflow));
    } else {
        const bool in_first = i.operand(Slot::A).negated || i.operand(Slot::B).negated;
        ones -= in_first ? 1 : 0;
        first_one = l.b.boolean(in_first);
        second_one = l.b.boolean(ones != 0);
    }
    Value partial = l.add(l.add(terms[0], terms[1]), as_word(l, first_one));
    const Value first_carry = l.b.op(Op::AddCarry, {terms[0], terms[1], first_one});
    switch (i.get<maxwell::Add3Shift>()) {
    case maxwell::Add3Shift::None:
        break;
    case maxwell::Add3Shift::Right: // of the 33-bit sum
        partial = l.b.op(Op::Or, {l.shift_right(partial, 16), l.shift_left(as_word(l, first_carry), 16)});
        break;
    case maxwell::Add3Shift::Left:
        partial = l.shift_left(partial, 16);
        break;
    }
    Value value = l.add(l.add(partial, terms[2]), as_word(l, second_one));
    Value carry = l.b.op(Op::AddCarry, {partial, terms[2], second_one});
    if (!extended && ones == 2) { // all three are negated
        carry = l.bor(carry, l.b.op(Op::AddCarry, {value, l.b.word(1), l.b.boolean(false)}));
        value = l.add(value, 1);
    }
    if (i.has(Modifier::WriteCC)) {
        const Value zero = extended ? l.band(l.is_zero(value), l.flag(Flag::Zero)) : l.is_zero(value);
        l.set_flag(Flag::Zero, zero);
        l.set_flag(Flag::Sign, l.is_negative(value));
        l.set_flag(Flag::Carry, carry);
        l.set_flag(Flag::Overflow, first_carry);
    }
    l.result(i, value);
}

// The upper word of a product whose factors may differ in sign: a negative factor takes the other one off.
Value high_product(Lifter& l, Value a, bool signed_a, Value c, bool signed_b) {
    if (signed_a == signed_b)
        return l.b.op(signed_a ? Op::IMulHighS : Op::IMulHighU, {a, c});
    const Value high = l.b.op(Op::IMulHighU, {a, c});
    const Value sign_source = signed_a ? a : c, other = signed_a ? c : a;
    return l.b.op(Op::ISub, {high, l.select(l.is_negative(sign_source), other, l.b.word(0))});
}

Value product(Lifter& l, const Instruction& i, Value a, Value c) {
    if (!i.has(Modifier::HighHalf))
        return l.b.op(Op::IMul, {a, c});
    return high_product(l, a, is_signed(i.get<DataType>(Modifier::SourceType)), c,
                        is_signed(i.get<DataType>(Modifier::SourceType2)));
}

void imul(Lifter& l, const Instruction& i) {
    l.integer_result(i, product(l, i, l.integer(i, Slot::A), l.integer(i, Slot::B)));
}

void imad(Lifter& l, const Instruction& i) {
    Operand a = i.operand(Slot::A), m = i.operand(Slot::B), c = i.operand(Slot::C);
    const bool negate_product = a.negated != m.negated, negate_c = c.negated;
    a.negated = m.negated = c.negated = false;
    const Value value = product(l, i, l.integer(a), l.integer(m));
    sum_result(l, i, sum_of(l, i, value, negate_product, l.integer(c), negate_c));
}

// 16 or 24 bit factors: IMADSP names a part of each source.
Value multimedia_source(Lifter& l, Value value, DataType type) {
    switch (type) {
    case DataType::U24:
        return l.bits(value, 0, 24);
    case DataType::S24:
        return l.signed_bits(value, 0, 24);
    case DataType::U16H0:
        return l.bits(value, 0, 16);
    case DataType::S16H0:
        return l.signed_bits(value, 0, 16);
    case DataType::U16H1:
        return l.bits(value, 16, 16);
    case DataType::S16H1:
        return l.signed_bits(value, 16, 16);
    case DataType::None:
    case DataType::U32:
    case DataType::S32:
        return value;
    default:
        l.unsupported("source type");
        return value;
    }
}

void imadsp(Lifter& l, const Instruction& i) {
    const Value a = multimedia_source(l, l.word(i, Slot::A), i.get<DataType>(Modifier::SourceType));
    const Value m = multimedia_source(l, l.word(i, Slot::B), i.get<DataType>(Modifier::SourceType2));
    const Value c = multimedia_source(l, l.word(i, Slot::C), i.get<DataType>(Modifier::SourceType3));
    sum_result(l, i, sum_of(l, i, l.b.op(Op::IMul, {a, m}), false, c, false));
}

// .CSFU, for the upper word of a signed 32 x 32 product: code adds the mixed products of a low and a signed high half
// and shifts the 33-bit sum right without its sign (IADD3.RS), which this takes off: 2^16 for each negative one.
Value xmad_sign_fix(Lifter& l, const Instruction& i) {
    const Value a = l.word(i, Slot::A), m = l.word(i, Slot::B);
    const auto fix = [&](Value high, Modifier type, Value low) {
        if (!is_signed(i.get<DataType>(type)))
            return l.b.word(0);
        const Value negative = l.band(l.is_negative(high), l.bnot(l.is_zero(l.bits(low, 0, 16))));
        return l.select(negative, l.b.word(0xffff0000), l.b.word(0));
    };
    return l.add(fix(a, Modifier::SourceType, m), fix(m, Modifier::SourceType2, a));
}

// A product of two halves plus C, or a piece of a 32 x 32 product.
void xmad(Lifter& l, const Instruction& i) {
    using maxwell::XmadMode;
    const auto half = [&](Slot slot, Value word, Modifier type) {
        const auto part = i.operand(slot).part == maxwell::Part::H1 ? maxwell::Part::H1 : maxwell::Part::H0;
        return l.part(word, part, is_signed(i.get<DataType>(type)));
    };
    const Value word_b = l.word(i, Slot::B), word_c = l.word(i, Slot::C);
    Value value = l.b.op(Op::IMul, {half(Slot::A, l.word(i, Slot::A), Modifier::SourceType),
                                    half(Slot::B, word_b, Modifier::SourceType2)});
    if (i.has(Modifier::ShiftProduct))
        value = l.shift_left(value, 16);
    Value c = word_c;
    switch (i.get<XmadMode>()) {
    case XmadMode::None:
        break;
    case XmadMode::Clo:
        c = l.bits(word_c, 0, 16);
        break;
    case XmadMode::Chi:
        c = l.bits(word_c, 16, 16);
        break;
    case XmadMode::Cbcc:
        c = l.add(word_c, l.shift_left(word_b, 16));
        break;
    case XmadMode::Csfu:
        c = l.add(word_c, xmad_sign_fix(l, i));
        break;
    }
    const Sum sum = sum_of(l, i, value, false, c, false);
    Value merged;
    if (i.has(Modifier::MergeResult))
        merged = l.b.op(Op::Or, {l.bits(sum.value, 0, 16), l.shift_left(word_b, 16)});
    sum_result(l, i, sum, merged);
}

// The predicate of an address computation: its carry, which generic loads take as a hint.
void lea_result(Lifter& l, const Instruction& i, const Sum& sum, Value shifted, Value base) {
    const Operand predicate = i.operand(Slot::P);
    if (predicate.kind == OperandKind::Predicate && predicate.reg != maxwell::true_predicate)
        l.set_pred(predicate.reg, l.b.op(Op::AddCarry, {shifted, base, l.carry_in(i)}));
    sum_result(l, i, sum);
}

// (A << n) + B, or the upper word of ({C, A} << n) plus B.
void lea(Lifter& l, const Instruction& i) {
    Operand a = i.operand(Slot::A);
    const Operand base = i.operand(Slot::B);
    const bool negate_a = a.negated;
    a.negated = false;
    const u32 shift = static_cast<u32>(i.operand(Slot::I).value) & 31;
    Value shifted = l.integer(a);
    if (i.has(Slot::C)) { // .HI
        Value high = l.integer(i, Slot::C);
        if (negate_a) { // of the 64-bit number
            const Value wide = l.b.op(Op::ISub64, {l.b.quad(0), l.b.op(Op::Pack64, {shifted, high})});
            shifted = l.b.op(Op::Low, {wide});
            high = l.b.op(Op::High, {wide});
        }
        shifted = l.b.op(Op::FunnelLeft, {shifted, high, l.b.word(shift)});
    } else {
        shifted = l.shift_left(negate_a ? l.b.op(Op::INeg, {shifted}) : shifted, shift);
    }
    const Value added = l.integer(base);
    lea_result(l, i, sum_of(l, i, shifted, false, added, false), shifted, added);
}

// Words of wide integers, the highest first: it leaves "equal" in the zero flag and "less" in the sign flag; a lower
// word decides only while those above were equal.
void imnmx_extended(Lifter& l, const Instruction& i, bool sign, Value a, Value c) {
    Value less = l.b.icompare(Relation::LT, sign, a, c), equal = l.b.icompare(Relation::EQ, sign, a, c);
    if (i.get<maxwell::MinMaxExtended>() != maxwell::MinMaxExtended::Xhi) {
        const Value equal_above = l.flag(Flag::Zero);
        less = l.select(equal_above, less, l.flag(Flag::Sign));
        equal = l.band(equal_above, equal);
    }
    const Value takes_first = l.bnot(l.bxor(l.predicate(i, Slot::S), less)); // minimum and less, or maximum and not
    l.result(i, l.select(takes_first, a, c));
    if (!i.has(Modifier::WriteCC))
        return;
    l.set_flag(Flag::Zero, equal);
    l.set_flag(Flag::Sign, less);
    l.set_flag(Flag::Carry, l.bnot(less));
    l.set_flag(Flag::Overflow, l.b.boolean(false));
}

void imnmx(Lifter& l, const Instruction& i) {
    const Value a = l.integer(i, Slot::A), c = l.integer(i, Slot::B);
    const bool sign = is_signed(i.get<DataType>());
    if (i.get<maxwell::MinMaxExtended>() != maxwell::MinMaxExtended::None)
        return imnmx_extended(l, i, sign, a, c);
    const Op low = sign ? Op::IMinS : Op::IMinU, high = sign ? Op::IMaxS : Op::IMaxU;
    const Operand chooser = i.operand(Slot::S);
    if (chooser.reg == maxwell::true_predicate)
        return l.integer_result(i, l.b.op(chooser.negated ? high : low, {a, c}));
    l.integer_result(i, l.select(l.predicate(chooser), l.b.op(low, {a, c}), l.b.op(high, {a, c})));
}

void icmp(Lifter& l, const Instruction& i) {
    const Value chosen = l.b.icompare(relation(i), is_signed(i.get<DataType>()), l.integer(i, Slot::C), l.b.word(0));
    l.result(i, l.select(chosen, l.integer(i, Slot::A), l.integer(i, Slot::B)));
}

// With .X the upper words of wide integers; if they are equal, the flags of the subtraction of the words below decide.
Value extended_comparison(Lifter& l, Relation relation, bool sign, Value a, Value c) {
    const Value same = l.b.icompare(Relation::EQ, false, a, c), carry = l.flag(Flag::Carry);
    const Value equal = l.band(l.band(same, carry), l.flag(Flag::Zero));
    const Value less = l.bor(l.b.icompare(Relation::LT, sign, a, c), l.band(same, l.bnot(carry)));
    switch (relation) {
    case Relation::F:
        return l.b.boolean(false);
    case Relation::LT:
        return less;
    case Relation::EQ:
        return equal;
    case Relation::LE:
        return l.bor(less, equal);
    case Relation::GT:
        return l.bnot(l.bor(less, equal));
    case Relation::NE:
        return l.bnot(equal);
    case Relation::GE:
        return l.bnot(less);
    default:
        return l.b.boolean(true);
    }
}

Value integer_comparison(Lifter& l, const Instruction& i) {
    const bool sign = is_signed(i.get<DataType>());
    const Value a = l.integer(i, Slot::A), c = l.integer(i, Slot::B);
    return i.has(Modifier::Extended) ? extended_comparison(l, relation(i), sign, a, c)
                                     : l.b.icompare(relation(i), sign, a, c);
}

void iset(Lifter& l, const Instruction& i) {
    const Value holds = l.combine(i.get<maxwell::BoolOp>(), integer_comparison(l, i), l.predicate(i, Slot::S));
    const Value value = i.has(Modifier::BoolResult) ? l.select(holds, l.b.float_word(1.0f), l.b.word(0))
                                                    : l.b.op(Op::BoolToMask, {holds});
    l.integer_result(i, value);
}

void isetp(Lifter& l, const Instruction& i) {
    const Value holds = integer_comparison(l, i), joined = l.predicate(i, Slot::S);
    const auto op = i.get<maxwell::BoolOp>();
    const Value first = l.combine(op, holds, joined), second = l.combine(op, l.bnot(holds), joined);
    l.set_pred(i.operand(Slot::P).reg, first);
    l.set_pred(i.operand(Slot::Q).reg, second);
}

constexpr LiftRow rows[] = {
    {Opcode::IADD, iadd},        {Opcode::IADD32I, iadd},  {Opcode::IADD3, iadd3},  {Opcode::ISCADD, iscadd},
    {Opcode::ISCADD32I, iscadd}, {Opcode::IMUL, imul},     {Opcode::IMUL32I, imul}, {Opcode::IMAD, imad},
    {Opcode::IMAD32I, imad},     {Opcode::IMADSP, imadsp}, {Opcode::XMAD, xmad},    {Opcode::LEA, lea},
    {Opcode::IMNMX, imnmx},      {Opcode::ICMP, icmp},     {Opcode::ISET, iset},    {Opcode::ISETP, isetp},
};

} // namespace

std::span<const LiftRow> lift_integer_rows() {
    return rows;
}

} // namespace heaviside::shader::lifting
