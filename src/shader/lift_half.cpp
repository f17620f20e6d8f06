// Pairs of half-precision numbers. They are computed as floats and rounded once when packed.
#include "shader/lift_context.h"

namespace heaviside::shader::lifting {
namespace {

using maxwell::HalfMerge;
using maxwell::Part;

Value negated(Lifter& l, Value value) {
    return l.b.op(Op::FNeg, {value});
}

// Whether a source is one single for both halves, as those in constant banks are.
bool is_single(const Operand& operand) {
    return operand.kind == OperandKind::Constant || operand.part == Part::F32;
}

// Half `k` (0 low, 1 high) of a source as a float, whichever the operand's part makes of it. Denormal halves are normal
// floats, so .FTZ flushes them here; denormal singles are left to the operation.
Value half(Lifter& l, const Instruction& i, Slot slot, u32 k) {
    Operand operand = i.operand(slot);
    const Part part = is_single(operand) ? Part::F32 : operand.part;
    const bool negate = operand.negated, absolute = operand.absolute;
    operand.negated = operand.absolute = false;
    Value value = l.word(operand);
    if (part != Part::F32)
        value = l.b.op(Op::HalfToFloat, {value},
                       part == Part::H0H0   ? 0
                       : part == Part::H1H1 ? 1
                                            : k,
                       ir::float_mods(ir::Rounding::Nearest, flushes(i)));
    if (absolute)
        value = l.b.op(Op::FAbs, {value});
    if (negate)
        value = negated(l, value);
    return value;
}

void half_result(Lifter& l, const Instruction& i, Value packed) {
    const u8 d = i.operand(Slot::D).reg;
    switch (i.get<HalfMerge>()) {
    case HalfMerge::F16:
        return l.set_reg(d, packed);
    case HalfMerge::F32:
        return;
    case HalfMerge::MergeLow:
        return l.set_reg(d, l.b.op(Op::Or, {l.and_mask(l.reg(d), 0xffff0000), l.and_mask(packed, 0xffff)}));
    case HalfMerge::MergeHigh:
        return l.set_reg(d, l.b.op(Op::Or, {l.and_mask(l.reg(d), 0xffff), l.and_mask(packed, 0xffff0000)}));
    }
}

u32 pack_mods(const Instruction& i) {
    return ir::float_mods(ir::Rounding::Nearest, flushes(i));
}

// The halves as floats, saturated where asked for, rounded and stored.
void store_halves(Lifter& l, const Instruction& i, Value low, Value high) {
    if (i.has(Modifier::Saturate)) {
        low = l.b.op(Op::FSaturate, {low});
        high = l.b.op(Op::FSaturate, {high});
    }
    half_result(l, i, l.b.op(Op::PackHalf2, {low, high}, 0, pack_mods(i)));
}

bool makes_single(const Instruction& i) {
    return i.get<HalfMerge>() == HalfMerge::F32;
}

// a * b + c of both halves, rounded once.
void fused(Lifter& l, const Instruction& i, const Value (&v)[6]) {
    const Value packed = l.b.op(Op::PackHalf2Fma, {v[0], v[1], v[2], v[3], v[4], v[5]}, 0, float_mods(i));
    if (!i.has(Modifier::Saturate))
        return half_result(l, i, packed);
    const auto saturated = [&](u32 k) { return l.b.op(Op::FSaturate, {l.b.op(Op::HalfToFloat, {packed}, k)}); };
    half_result(l, i, l.b.op(Op::PackHalf2, {saturated(0), saturated(1)}, 0, pack_mods(i)));
}

// Sums and products of halves lose nothing in a float that a half would keep. Those of singles may, so they are
// computed as a * 1 + b and a * b - 0.
void binary(Lifter& l, const Instruction& i, Op op) {
    Value a[2], c[2];
    for (u32 k = 0; k < 2; ++k) {
        a[k] = half(l, i, Slot::A, k);
        c[k] = half(l, i, Slot::B, k);
    }
    if (makes_single(i))
        return l.float_result(i, l.b.op(op, {a[0], c[0]}, 0, float_mods(i)));
    if (is_single(i.operand(Slot::A)) || is_single(i.operand(Slot::B))) {
        if (op == Op::FMul) {
            const Value nothing = l.b.float_word(-0.0f);
            return fused(l, i, {a[0], c[0], nothing, a[1], c[1], nothing});
        }
        const Value one = l.b.float_word(1.0f);
        return fused(l, i, {a[0], one, c[0], a[1], one, c[1]});
    }
    store_halves(l, i, l.b.op(op, {a[0], c[0]}, 0, float_mods(i)), l.b.op(op, {a[1], c[1]}, 0, float_mods(i)));
}

void hadd2(Lifter& l, const Instruction& i) {
    binary(l, i, Op::FAdd);
}
void hmul2(Lifter& l, const Instruction& i) {
    binary(l, i, Op::FMul);
}

void hfma2(Lifter& l, const Instruction& i) {
    Value v[6];
    for (u32 k = 0; k < 2; ++k) {
        v[3 * k] = half(l, i, Slot::A, k);
        v[3 * k + 1] = half(l, i, Slot::B, k);
        v[3 * k + 2] = half(l, i, Slot::C, k);
    }
    if (makes_single(i))
        return l.float_result(i, l.b.op(Op::FFma, {v[0], v[1], v[2]}, 0, float_mods(i)));
    fused(l, i, v);
}

Value comparison(Lifter& l, const Instruction& i, u32 k) {
    return l.b.fcompare(relation(i), half(l, i, Slot::A, k), half(l, i, Slot::B, k), flushes(i));
}

void hset2(Lifter& l, const Instruction& i) {
    const u32 yes = i.has(Modifier::BoolResult) ? 0x3c00 : 0xffff; // 1.0 or all bits
    const Value joined = l.predicate(i, Slot::S);
    const auto chosen = [&](u32 k, u32 bits) {
        const Value holds = l.combine(i.get<maxwell::BoolOp>(), comparison(l, i, k), joined);
        return l.select(holds, l.b.word(bits), l.b.word(0));
    };
    const Value low = chosen(0, yes), high = chosen(1, yes << 16);
    l.result(i, l.b.op(Op::Or, {low, high}));
}

// One predicate for each half, or both halves' and its opposite.
void hsetp2(Lifter& l, const Instruction& i) {
    const Value low = comparison(l, i, 0), high = comparison(l, i, 1), joined = l.predicate(i, Slot::S);
    const auto op = i.get<maxwell::BoolOp>();
    Value first = low, second = high;
    if (i.has(Modifier::HalfAnd)) {
        first = l.band(low, high);
        second = l.bnot(first);
    }
    first = l.combine(op, first, joined);
    second = l.combine(op, second, joined);
    l.set_pred(i.operand(Slot::P).reg, first);
    l.set_pred(i.operand(Slot::Q).reg, second);
}

constexpr LiftRow rows[] = {
    {Opcode::HADD2, hadd2}, {Opcode::HADD2_32I, hadd2}, {Opcode::HMUL2, hmul2}, {Opcode::HMUL2_32I, hmul2},
    {Opcode::HFMA2, hfma2}, {Opcode::HFMA2_32I, hfma2}, {Opcode::HSET2, hset2}, {Opcode::HSETP2, hsetp2},
};

} // namespace

std::span<const LiftRow> lift_half_rows() {
    return rows;
}

} // namespace heaviside::shader::lifting
