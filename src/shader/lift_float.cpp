#include "shader/lift_context.h"

namespace heaviside::shader::lifting {
namespace {

using ir::Relation;

void fadd(Lifter& l, const Instruction& i) {
    l.float_result(i, l.b.op(Op::FAdd, {l.number(i, Slot::A), l.number(i, Slot::B)}, 0, float_mods(i)));
}

// .D2 and kin scale the product by a power of two.
void fmul(Lifter& l, const Instruction& i) {
    const u32 mods = float_mods(i) | static_cast<u32>(i.get<maxwell::Scale>()) << ir::float_scale_shift;
    l.float_result(i, l.b.op(Op::FMul, {l.number(i, Slot::A), l.number(i, Slot::B)}, 0, mods));
}

void ffma(Lifter& l, const Instruction& i) {
    const Value value =
        l.b.op(Op::FFma, {l.number(i, Slot::A), l.number(i, Slot::B), l.number(i, Slot::C)}, 0, float_mods(i));
    l.float_result(i, value);
}

// The predicate chooses between minimum (true) and maximum.
void fmnmx(Lifter& l, const Instruction& i) {
    const Value a = l.number(i, Slot::A), c = l.number(i, Slot::B);
    const u32 mods = float_mods(i);
    const Operand chooser = i.operand(Slot::S);
    Value value;
    if (chooser.reg == maxwell::true_predicate)
        value = l.b.op(chooser.negated ? Op::FMax : Op::FMin, {a, c}, 0, mods);
    else
        value = l.select(l.predicate(chooser), l.b.op(Op::FMin, {a, c}, 0, mods), l.b.op(Op::FMax, {a, c}, 0, mods));
    l.float_result(i, value);
}

void fcmp(Lifter& l, const Instruction& i) {
    const Value chosen = l.b.fcompare(relation(i), l.number(i, Slot::C), l.b.word(0), flushes(i));
    l.result(i, l.select(chosen, l.number(i, Slot::A), l.number(i, Slot::B)));
}

Value float_comparison(Lifter& l, const Instruction& i) {
    return l.b.fcompare(relation(i), l.number(i, Slot::A), l.number(i, Slot::B), flushes(i));
}

void fset(Lifter& l, const Instruction& i) {
    const Value holds = l.combine(i.get<maxwell::BoolOp>(), float_comparison(l, i), l.predicate(i, Slot::S));
    const bool as_float = i.has(Modifier::BoolResult);
    const Value value = as_float ? l.select(holds, l.b.float_word(1.0f), l.b.word(0)) : l.b.op(Op::BoolToMask, {holds});
    l.result(i, value);
    if (i.has(Modifier::WriteCC)) // 1.0 is positive, ~0 is negative: zero and sign are those of the integer
        l.integer_flags(value);
}

void fsetp(Lifter& l, const Instruction& i) {
    const Value holds = float_comparison(l, i), joined = l.predicate(i, Slot::S);
    const auto op = i.get<maxwell::BoolOp>();
    const Value first = l.combine(op, holds, joined), second = l.combine(op, l.bnot(holds), joined);
    l.set_pred(i.operand(Slot::P).reg, first);
    l.set_pred(i.operand(Slot::Q).reg, second);
}

// True where a division a / b needs the careful path: an exponent near either end, or a quotient that leaves the normal
// range. Saying so too often costs time, never correctness.
void fchk(Lifter& l, const Instruction& i) {
    const Value ea = l.bits(l.number(i, Slot::A), 23, 8), eb = l.bits(l.number(i, Slot::B), 23, 8);
    const auto outside = [&](Value v, u32 low, u32 high) {
        return l.b.icompare(Relation::GT, false, l.b.op(Op::ISub, {v, l.b.word(low)}), l.b.word(high - low));
    };
    const Value quotient = l.add(l.b.op(Op::ISub, {ea, eb}), 127);
    l.set_pred(i.operand(Slot::P).reg,
               l.bor(outside(eb, 2, 252), l.bor(outside(ea, 25, 254), outside(quotient, 3, 253))));
}

void mufu(Lifter& l, const Instruction& i) {
    constexpr Op operations[] = {Op::FCos, Op::FSin,      Op::FEx2,      Op::FLg2, Op::FRcp,
                                 Op::FRsq, Op::Rcp64High, Op::Rsq64High, Op::FSqrt};
    const auto function = i.get<maxwell::MultiFunction>();
    if (static_cast<std::size_t>(function) >= std::size(operations))
        return l.unsupported("unknown function");
    const Op op = operations[static_cast<std::size_t>(function)];
    const bool wide = function == maxwell::MultiFunction::Rcp64H || function == maxwell::MultiFunction::Rsq64H;
    const Value a = l.number(i, Slot::A);
    l.float_result(i, wide ? l.b.op(op, {a}) : l.b.op(op, {a}, 0, float_mods(i)));
}

// Sine, cosine and exponent take their operand as it is here, so the range reduction before them has nothing to do.
void rro(Lifter& l, const Instruction& i) {
    l.result(i, l.number(i, Slot::B));
}

// The IR takes the mask as it is encoded.
void fswzadd(Lifter& l, const Instruction& i) {
    const u32 mask = static_cast<u32>(i.operand(Slot::I).value);
    l.float_result(i, l.b.op(Op::FSwizzleAdd, {l.word(i, Slot::A), l.word(i, Slot::B)}, mask, float_mods(i)));
}

constexpr LiftRow rows[] = {
    {Opcode::FADD, fadd}, {Opcode::FADD32I, fadd},    {Opcode::FMUL, fmul},   {Opcode::FMUL32I, fmul},
    {Opcode::FFMA, ffma}, {Opcode::FFMA32I, ffma},    {Opcode::FMNMX, fmnmx}, {Opcode::FCMP, fcmp},
    {Opcode::FSET, fset}, {Opcode::FSETP, fsetp},     {Opcode::FCHK, fchk},   {Opcode::MUFU, mufu},
    {Opcode::RRO, rro},   {Opcode::FSWZADD, fswzadd},
};

} // namespace

std::span<const LiftRow> lift_float_rows() {
    return rows;
}

} // namespace heaviside::shader::lifting
