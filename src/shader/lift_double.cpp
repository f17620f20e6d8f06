#include "shader/lift_context.h"

namespace heaviside::shader::lifting {
namespace {

void double_result(Lifter& l, const Instruction& i, Value value) {
    l.set_pair(i.operand(Slot::D).reg, value);
    if (i.has(Modifier::WriteCC))
        l.double_flags(value);
}

void dadd(Lifter& l, const Instruction& i) {
    double_result(l, i, l.b.op(Op::DAdd, {l.real(i, Slot::A), l.real(i, Slot::B)}, 0, float_mods(i)));
}

void dmul(Lifter& l, const Instruction& i) {
    double_result(l, i, l.b.op(Op::DMul, {l.real(i, Slot::A), l.real(i, Slot::B)}, 0, float_mods(i)));
}

void dfma(Lifter& l, const Instruction& i) {
    const Value value =
        l.b.op(Op::DFma, {l.real(i, Slot::A), l.real(i, Slot::B), l.real(i, Slot::C)}, 0, float_mods(i));
    double_result(l, i, value);
}

void dmnmx(Lifter& l, const Instruction& i) {
    const Value a = l.real(i, Slot::A), c = l.real(i, Slot::B);
    const Operand chooser = i.operand(Slot::S);
    Value value;
    if (chooser.reg == maxwell::true_predicate)
        value = l.b.op(chooser.negated ? Op::DMax : Op::DMin, {a, c});
    else
        value = l.select(l.predicate(chooser), l.b.op(Op::DMin, {a, c}), l.b.op(Op::DMax, {a, c}));
    double_result(l, i, value);
}

Value double_comparison(Lifter& l, const Instruction& i) {
    return l.b.op(Op::DCompare, {l.real(i, Slot::A), l.real(i, Slot::B)}, 0, static_cast<u32>(relation(i)));
}

void dset(Lifter& l, const Instruction& i) {
    const Value holds = l.combine(i.get<maxwell::BoolOp>(), double_comparison(l, i), l.predicate(i, Slot::S));
    const Value value = i.has(Modifier::BoolResult) ? l.select(holds, l.b.float_word(1.0f), l.b.word(0))
                                                    : l.b.op(Op::BoolToMask, {holds});
    l.integer_result(i, value);
}

void dsetp(Lifter& l, const Instruction& i) {
    const Value holds = double_comparison(l, i), joined = l.predicate(i, Slot::S);
    const auto op = i.get<maxwell::BoolOp>();
    const Value first = l.combine(op, holds, joined), second = l.combine(op, l.bnot(holds), joined);
    l.set_pred(i.operand(Slot::P).reg, first);
    l.set_pred(i.operand(Slot::Q).reg, second);
}

constexpr LiftRow rows[] = {
    {Opcode::DADD, dadd},   {Opcode::DMUL, dmul}, {Opcode::DFMA, dfma},
    {Opcode::DMNMX, dmnmx}, {Opcode::DSET, dset}, {Opcode::DSETP, dsetp},
};

} // namespace

std::span<const LiftRow> lift_double_rows() {
    return rows;
}

} // namespace heaviside::shader::lifting
