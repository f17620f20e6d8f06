// Predicates and the condition code.
#include "shader/lift_context.h"

namespace heaviside::shader::lifting {
namespace {

using ir::Flag;

// The second result takes the complement of the first source.
Value joined_predicates(Lifter& l, const Instruction& i, bool complement) {
    const Value first = l.predicate(i, Slot::S2);
    const Value joined =
        l.combine(i.get<maxwell::BoolOp>(), complement ? l.bnot(first) : first, l.predicate(i, Slot::S3));
    return l.combine(i.get<maxwell::BoolOp>(Modifier::BoolOp2), joined, l.predicate(i, Slot::S));
}

void psetp(Lifter& l, const Instruction& i) {
    const Value first = joined_predicates(l, i, false), second = joined_predicates(l, i, true);
    l.set_pred(i.operand(Slot::P).reg, first);
    l.set_pred(i.operand(Slot::Q).reg, second);
}

void boolean_result(Lifter& l, const Instruction& i, Value holds) {
    const Value value = i.has(Modifier::BoolResult) ? l.select(holds, l.b.float_word(1.0f), l.b.word(0))
                                                    : l.b.op(Op::BoolToMask, {holds});
    l.integer_result(i, value);
}

void pset(Lifter& l, const Instruction& i) {
    boolean_result(l, i, joined_predicates(l, i, false));
}

void cset(Lifter& l, const Instruction& i) {
    const Value holds = l.test(i.get<maxwell::Test>());
    boolean_result(l, i, l.combine(i.get<maxwell::BoolOp>(), holds, l.predicate(i, Slot::S)));
}

void csetp(Lifter& l, const Instruction& i) {
    const Value holds = l.test(i.get<maxwell::Test>()), joined = l.predicate(i, Slot::S);
    const auto op = i.get<maxwell::BoolOp>();
    const Value first = l.combine(op, holds, joined), second = l.combine(op, l.bnot(holds), joined);
    l.set_pred(i.operand(Slot::P).reg, first);
    l.set_pred(i.operand(Slot::Q).reg, second);
}

constexpr u32 predicates = 7;

Value flags_or_predicate(Lifter& l, bool flags, u32 index) {
    return flags ? l.flag(static_cast<Flag>(index)) : l.pred(index);
}

// The byte chosen by .B0 - .B3 of A becomes the predicates (or zero, sign, carry, overflow) under the mask B.
void p2r(Lifter& l, const Instruction& i) {
    const bool flags = i.has(Modifier::ToConditionCode);
    const u32 shift = 8 * i.modifier(Modifier::ByteSelect), count = flags ? ir::flag_count : predicates;
    Value packed = l.b.word(0);
    for (u32 k = 0; k < count; ++k) {
        const Value bit = l.select(flags_or_predicate(l, flags, k), l.b.word(1u << k), l.b.word(0));
        packed = k == 0 ? bit : l.b.op(Op::Or, {packed, bit});
    }
    const Value mask = l.b.op(Op::And, {l.integer(i, Slot::B), l.b.word(0xff)});
    const Value kept = l.b.op(Op::And, {l.word(i, Slot::A), l.b.op(Op::Not, {l.shift_left(mask, shift)})});
    const Value taken = l.shift_left(l.b.op(Op::And, {packed, mask}), shift);
    l.result(i, l.b.op(Op::Or, {kept, taken}));
}

void r2p(Lifter& l, const Instruction& i) {
    const bool flags = i.has(Modifier::ToConditionCode);
    const auto part = i.operand(Slot::A).part;
    const u32 byte = part == maxwell::Part::All ? 0 : static_cast<u32>(part) - static_cast<u32>(maxwell::Part::B0);
    const u32 shift = 8 * (byte & 3), count = flags ? ir::flag_count : predicates;
    const Value source = l.word(i, Slot::A), mask = l.integer(i, Slot::B);
    const auto bit_set = [&](Value word, u32 bit) { return l.bnot(l.is_zero(l.and_mask(word, 1u << bit))); };
    for (u32 k = 0; k < count; ++k) {
        const Value old = flags_or_predicate(l, flags, k);
        const Value value = l.select(bit_set(mask, k), bit_set(source, shift + k), old);
        if (flags)
            l.set_flag(static_cast<Flag>(k), value);
        else
            l.set_pred(k, value);
    }
}

constexpr LiftRow rows[] = {
    {Opcode::PSETP, psetp}, {Opcode::PSET, pset}, {Opcode::CSET, cset},
    {Opcode::CSETP, csetp}, {Opcode::P2R, p2r},   {Opcode::R2P, r2p},
};

} // namespace

std::span<const LiftRow> lift_predicate_rows() {
    return rows;
}

} // namespace heaviside::shader::lifting
