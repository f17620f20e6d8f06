// Scalar video instructions. Sources are bytes, halves or words of either sign; the first operation is done exactly (in
// 64 bits where it matters), saturated to the destination, and joined with C: merged into it, added, or compared with
// it.
#include "shader/lift_context.h"

namespace heaviside::shader::lifting {
namespace {

using ir::Relation;
using maxwell::DataType;
using maxwell::Part;
using maxwell::VideoOp;

u32 first_bit(Part part) {
    if (part >= Part::B0 && part <= Part::B3)
        return 8 * (static_cast<u32>(part) - static_cast<u32>(Part::B0));
    return part == Part::H1 ? 16 : 0;
}

// The source's part, extended to 32 bits by its own type; its negation is left to the operation.
Value source(Lifter& l, const Instruction& i, Slot slot, DataType type) {
    Operand operand = i.operand(slot);
    operand.negated = operand.absolute = false;
    const Value word = l.word(operand);
    const u32 bits = operand.kind == OperandKind::Immediate ? 16 : bits_of(type);
    if (bits == 32)
        return word;
    return is_signed(type) ? l.signed_bits(word, first_bit(operand.part), bits)
                           : l.bits(word, first_bit(operand.part), bits);
}

Value extended(Lifter& l, Value word, bool sign) {
    return sign ? l.b.op(Op::SignExtend64, {word}) : l.b.op(Op::Pack64, {word, l.b.word(0)});
}

struct Sources {
    DataType type_a, type_b;
    Value a, b;
    Value wide_a, wide_b;
};

Sources sources(Lifter& l, const Instruction& i) {
    Sources s{};
    s.type_a = i.get<DataType>(Modifier::SourceType);
    s.type_b = i.get<DataType>(Modifier::SourceType2);
    s.a = source(l, i, Slot::A, s.type_a);
    s.b = source(l, i, Slot::B, s.type_b);
    s.wide_a = extended(l, s.a, is_signed(s.type_a));
    s.wide_b = extended(l, s.b, is_signed(s.type_b));
    return s;
}

Value low(Lifter& l, Value wide) {
    return l.b.op(Op::Low, {wide});
}
Value is_negative64(Lifter& l, Value wide) {
    return l.is_negative(l.b.op(Op::High, {wide}));
}
Value negated64(Lifter& l, Value wide) {
    return l.b.op(Op::ISub64, {l.b.quad(0), wide});
}

// The nearest number of `bits` bits. `natural`: the number has no sign and all 64 bits.
Value clamped(Lifter& l, Value wide, bool sign, u32 bits, bool natural) {
    const Value word = low(l, wide), high = l.b.op(Op::High, {wide});
    const Value negative = natural ? l.b.boolean(false) : l.is_negative(high);
    const u32 maximum = bits == 32 ? (sign ? 0x7fffffff : 0xffffffff) : (1u << (sign ? bits - 1 : bits)) - 1;
    const Value above = l.bor(l.bnot(l.is_zero(high)), l.b.icompare(Relation::GT, false, word, l.b.word(maximum)));
    const Value positive = l.select(above, l.b.word(maximum), word);
    if (!sign)
        return l.select(negative, l.b.word(0), positive);
    const Value ones = l.b.icompare(Relation::EQ, false, high, l.b.word(~0u));
    const Value inside = l.band(ones, l.b.icompare(Relation::GE, false, word, l.b.word(~maximum)));
    return l.select(negative, l.select(inside, word, l.b.word(~maximum)), positive);
}

u32 result_bits(VideoOp op) {
    switch (op) {
    case VideoOp::MergeHigh16:
    case VideoOp::MergeLow16:
        return 16;
    case VideoOp::MergeByte0:
    case VideoOp::MergeByte2:
        return 8;
    default:
        return 32;
    }
}

Value joined(Lifter& l, const Instruction& i, Value word, bool sign) {
    const Value c = l.word(i, Slot::C);
    const auto merged = [&](u32 first, u32 bits) {
        return l.b.op(Op::BitInsert, {c, word, l.b.word(first), l.b.word(bits)});
    };
    switch (i.get<VideoOp>()) {
    case VideoOp::MergeHigh16:
        return merged(16, 16);
    case VideoOp::MergeLow16:
        return merged(0, 16);
    case VideoOp::MergeByte0:
        return merged(0, 8);
    case VideoOp::MergeByte2:
        return merged(16, 8);
    case VideoOp::Accumulate:
        return l.add(word, c);
    case VideoOp::Min:
        return l.b.op(sign ? Op::IMinS : Op::IMinU, {word, c});
    case VideoOp::Max:
        return l.b.op(sign ? Op::IMaxS : Op::IMaxU, {word, c});
    case VideoOp::None:
        return word;
    }
    return word;
}

// Destinations are signed unless .UD says otherwise; that of VABSDIFF is unsigned unless .SD does.
bool destination_is_signed(const Instruction& i) {
    const auto type = i.get<DataType>(Modifier::DestinationType);
    return type != DataType::UD && (i.opcode() != Opcode::VABSDIFF || type != DataType::None);
}

void finish(Lifter& l, const Instruction& i, Value wide, bool natural = false) {
    const bool sign = destination_is_signed(i);
    const Value word =
        i.has(Modifier::Saturate) ? clamped(l, wide, sign, result_bits(i.get<VideoOp>()), natural) : low(l, wide);
    l.integer_result(i, joined(l, i, word, sign));
}

void vadd(Lifter& l, const Instruction& i) {
    const Sources s = sources(l, i);
    const bool plus_one = i.has(Modifier::PlusOne);
    const bool negate_a = !plus_one && i.operand(Slot::A).negated, negate_b = !plus_one && i.operand(Slot::B).negated;
    const Value a = negate_a ? negated64(l, s.wide_a) : s.wide_a;
    Value sum = l.b.op(negate_b ? Op::ISub64 : Op::IAdd64, {a, s.wide_b});
    if (plus_one)
        sum = l.b.op(Op::IAdd64, {sum, l.b.quad(1)});
    finish(l, i, sum);
}

void vabsdiff(Lifter& l, const Instruction& i) {
    const Sources s = sources(l, i);
    const Value difference = l.b.op(Op::ISub64, {s.wide_a, s.wide_b});
    finish(l, i, l.select(is_negative64(l, difference), negated64(l, difference), difference));
}

void vmnmx(Lifter& l, const Instruction& i) {
    const Sources s = sources(l, i);
    Value first = is_negative64(l, l.b.op(Op::ISub64, {s.wide_a, s.wide_b}));
    if (i.has(Modifier::VideoMinMax))
        first = l.bnot(first);
    finish(l, i, l.select(first, s.wide_a, s.wide_b));
}

void vshift(Lifter& l, const Instruction& i, Op op) {
    const Sources s = sources(l, i);
    const Value count = i.has(Modifier::Wrap) ? l.and_mask(s.b, 31) : l.b.op(Op::IMinU, {s.b, l.b.word(32)});
    finish(l, i, l.b.op(op, {s.wide_a, count}), !is_signed(s.type_a));
}
void vshl(Lifter& l, const Instruction& i) {
    vshift(l, i, Op::ShiftLeft64);
}
void vshr(Lifter& l, const Instruction& i) {
    vshift(l, i, Op::ShiftRightS64);
}

Value comparison(Lifter& l, const Instruction& i) {
    const Sources s = sources(l, i);
    const Value difference = l.b.op(Op::ISub64, {s.wide_a, s.wide_b});
    const Value less = is_negative64(l, difference);
    const auto equal = [&] { return l.is_zero(l.b.op(Op::Or, {low(l, difference), l.b.op(Op::High, {difference})})); };
    switch (relation(i)) {
    case Relation::F:
        return l.b.boolean(false);
    case Relation::LT:
        return less;
    case Relation::EQ:
        return equal();
    case Relation::LE:
        return l.bor(less, equal());
    case Relation::GT:
        return l.bnot(l.bor(less, equal()));
    case Relation::NE:
        return l.bnot(equal());
    case Relation::GE:
        return l.bnot(less);
    default:
        return l.b.boolean(true);
    }
}

void vset(Lifter& l, const Instruction& i) {
    const Value word = l.select(comparison(l, i), l.b.word(1), l.b.word(0));
    l.integer_result(i, joined(l, i, word, is_signed(i.get<DataType>(Modifier::SourceType))));
}

void vsetp(Lifter& l, const Instruction& i) {
    const Value holds = comparison(l, i), other = l.predicate(i, Slot::S);
    const auto op = i.get<maxwell::BoolOp>();
    const Value first = l.combine(op, holds, other), second = l.combine(op, l.bnot(holds), other);
    l.set_pred(i.operand(Slot::P).reg, first);
    l.set_pred(i.operand(Slot::Q).reg, second);
}

// A 64-bit product from words of either sign.
Value wide_product(Lifter& l, const Sources& s) {
    const bool sign_a = is_signed(s.type_a), sign_b = is_signed(s.type_b);
    if (sign_a == sign_b)
        return l.b.op(sign_a ? Op::IMulWideS : Op::IMulWideU, {s.a, s.b});
    const Value product = l.b.op(Op::IMulWideU, {s.a, s.b});
    const Value negative = l.is_negative(sign_a ? s.a : s.b), other = sign_a ? s.b : s.a;
    const Value excess = l.b.op(Op::Pack64, {l.b.word(0), l.select(negative, other, l.b.word(0))});
    return l.b.op(Op::ISub64, {product, excess});
}

void vmad(Lifter& l, const Instruction& i) {
    const Sources s = sources(l, i);
    const bool plus_one = i.has(Modifier::PlusOne);
    const bool negate_product = !plus_one && i.operand(Slot::A).negated != i.operand(Slot::B).negated;
    const bool negate_c = !plus_one && i.operand(Slot::C).negated;
    const bool sign = is_signed(s.type_a) || is_signed(s.type_b) || negate_product || negate_c;
    Operand addend = i.operand(Slot::C);
    addend.negated = false;
    const Value c = extended(l, l.word(addend), sign);
    Value value = wide_product(l, s);
    if (negate_product) {
        // of two words without a sign it may need 65 bits; saturated, a smaller number beyond 32 bits is as good
        if (i.has(Modifier::Saturate) && !is_signed(s.type_a) && !is_signed(s.type_b))
            value = l.select(is_negative64(l, value), l.b.quad(u64{1} << 62), value);
        value = negated64(l, value);
    }
    value = l.b.op(negate_c ? Op::ISub64 : Op::IAdd64, {value, c});
    if (plus_one)
        value = l.b.op(Op::IAdd64, {value, l.b.quad(1)});
    if (const auto shift = i.get<maxwell::VideoShift>(); shift != maxwell::VideoShift::None)
        value = l.b.op(sign ? Op::ShiftRightS64 : Op::ShiftRightU64,
                       {value, l.b.word(shift == maxwell::VideoShift::Shr7 ? 7 : 15)});
    l.integer_result(i, i.has(Modifier::Saturate) ? clamped(l, value, sign, 32, !sign) : low(l, value));
}

constexpr LiftRow rows[] = {
    {Opcode::VADD, vadd}, {Opcode::VABSDIFF, vabsdiff}, {Opcode::VMNMX, vmnmx}, {Opcode::VSHL, vshl},
    {Opcode::VSHR, vshr}, {Opcode::VSET, vset},         {Opcode::VSETP, vsetp}, {Opcode::VMAD, vmad},
};

} // namespace

std::span<const LiftRow> lift_video_rows() {
    return rows;
}

} // namespace heaviside::shader::lifting
