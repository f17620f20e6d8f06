// Integer, float, double and half operations.
#include "shader/emitter.h"

#include <algorithm>
#include <bit>

namespace heaviside::shader {

using ir::Inst;
using ir::Op;
using ir::Relation;
using ir::Rounding;
using ir::Type;

namespace {

// Operations that are one SPIR-V instruction. `operands`: view of each (u integer, f float); `ext`: of GLSL.std.450.
struct Row {
    Op op;
    u32 opcode;
    bool ext;
    const char* operands;
    Basic result;
};

constexpr Row core(Op op, spv::Op opcode, const char* operands, Basic result) {
    return {op, static_cast<u32>(opcode), false, operands, result};
}
constexpr Row glsl(Op op, u32 opcode, const char* operands, Basic result) {
    return {op, opcode, true, operands, result};
}

constexpr Row rows[] = {
    core(Op::Low, spv::Op::OpUConvert, "u", Basic::U32),
    core(Op::BoolAnd, spv::Op::OpLogicalAnd, "uu", Basic::Bool),
    core(Op::BoolOr, spv::Op::OpLogicalOr, "uu", Basic::Bool),
    core(Op::BoolXor, spv::Op::OpLogicalNotEqual, "uu", Basic::Bool),
    core(Op::BoolNot, spv::Op::OpLogicalNot, "u", Basic::Bool),
    core(Op::And, spv::Op::OpBitwiseAnd, "uu", Basic::U32),
    core(Op::Or, spv::Op::OpBitwiseOr, "uu", Basic::U32),
    core(Op::Xor, spv::Op::OpBitwiseXor, "uu", Basic::U32),
    core(Op::Not, spv::Op::OpNot, "u", Basic::U32),
    core(Op::IAdd, spv::Op::OpIAdd, "uu", Basic::U32),
    core(Op::ISub, spv::Op::OpISub, "uu", Basic::U32),
    core(Op::IMul, spv::Op::OpIMul, "uu", Basic::U32),
    core(Op::INeg, spv::Op::OpSNegate, "u", Basic::U32),
    core(Op::BitReverse, spv::Op::OpBitReverse, "u", Basic::U32),
    core(Op::PopCount, spv::Op::OpBitCount, "u", Basic::U32),
    core(Op::IAdd64, spv::Op::OpIAdd, "uu", Basic::U64),
    core(Op::ISub64, spv::Op::OpISub, "uu", Basic::U64),
    core(Op::FNeg, spv::Op::OpFNegate, "f", Basic::F32),
    core(Op::DNeg, spv::Op::OpFNegate, "f", Basic::F64),
    glsl(Op::IAbs, GLSLstd450SAbs, "u", Basic::U32),
    glsl(Op::IMinS, GLSLstd450SMin, "uu", Basic::U32),
    glsl(Op::IMinU, GLSLstd450UMin, "uu", Basic::U32),
    glsl(Op::IMaxS, GLSLstd450SMax, "uu", Basic::U32),
    glsl(Op::IMaxU, GLSLstd450UMax, "uu", Basic::U32),
    glsl(Op::FindMsbU, GLSLstd450FindUMsb, "u", Basic::U32),
    glsl(Op::FindMsbS, GLSLstd450FindSMsb, "u", Basic::U32),
    glsl(Op::FAbs, GLSLstd450FAbs, "f", Basic::F32),
    glsl(Op::DAbs, GLSLstd450FAbs, "f", Basic::F64),
    glsl(Op::DMin, GLSLstd450NMin, "ff", Basic::F64),
    glsl(Op::DMax, GLSLstd450NMax, "ff", Basic::F64),
};

constexpr unsigned op_count = static_cast<unsigned>(Op::EndPrimitive) + 1;

constexpr auto row_of = [] {
    std::array<i8, op_count> map{};
    for (i8& m : map)
        m = -1;
    for (unsigned i = 0; i < std::size(rows); ++i)
        map[static_cast<unsigned>(rows[i].op)] = static_cast<i8>(i);
    return map;
}();

constexpr bool is_float(Basic basic) {
    return basic == Basic::F32 || basic == Basic::F64;
}

} // namespace

bool Emitter::table_operation(Value v, const Inst& inst) {
    const i8 index = row_of[static_cast<unsigned>(inst.op)];
    if (index < 0)
        return false;
    const Row& row = rows[index];
    Id operands[3] = {};
    unsigned n = 0;
    for (const char* p = row.operands; *p; ++p, ++n)
        operands[n] = *p == 'f' ? f(arg(v, n)) : u(arg(v, n));
    Id result = 0;
    if (row.ext)
        result = n == 1 ? module.ext(row.opcode, t(row.result), {operands[0]})
                        : module.ext(row.opcode, t(row.result), {operands[0], operands[1]});
    else
        result = module.op(static_cast<spv::Op>(row.opcode), t(row.result), std::span<const u32>(operands, n));
    if (is_float(row.result))
        define_f(v, result);
    else
        define_u(v, result);
    return true;
}

// Denormals to zero of their sign. Devices flush or keep denormals by themselves in ways that graphics tolerates; exact
// results are asked for by Options::exact_denormals.
Id Emitter::flush(Id value, bool wanted) {
    if (!wanted || !options.exact_denormals)
        return value;
    const Id word = bitcast(Basic::U32, value);
    const Id exponent = module.op(spv::Op::OpBitwiseAnd, t(Basic::U32), word, c(0x7f800000));
    const Id tiny = module.op(spv::Op::OpIEqual, t(Basic::Bool), exponent, c(0));
    const Id sign = module.op(spv::Op::OpBitwiseAnd, t(Basic::U32), word, c(0x80000000));
    return bitcast(Basic::F32, select(Basic::U32, tiny, sign, word));
}

// Shifts of SPIR-V are undefined from the width on; the machine's clamp.
Id Emitter::shift(spv::Op op, Value value, Value count) {
    const bool wide = ir[value].type == Type::U64;
    const u32 width = wide ? 64 : 32;
    const Basic basic = wide ? Basic::U64 : Basic::U32;
    const Id base = u(value);
    const auto plain = [&](Id by) { return module.op(op, t(basic), base, by); };
    const Inst& amount = ir[count];
    if (is_const(count)) {
        if (amount.imm < width)
            return plain(c(amount.imm));
        return op == spv::Op::OpShiftRightArithmetic ? plain(c(width - 1)) : module.constant_null(t(basic));
    }
    if (amount.op == Op::And && is_const(arg(count, 1)) && ir.const_word(arg(count, 1)) < width)
        return plain(u(count));
    if (op == spv::Op::OpShiftRightArithmetic)
        return plain(module.ext(GLSLstd450UMin, t(Basic::U32), {u(count), c(width - 1)}));
    const Id masked = module.op(spv::Op::OpBitwiseAnd, t(Basic::U32), u(count), c(width - 1));
    const Id small = module.op(spv::Op::OpULessThan, t(Basic::Bool), u(count), c(width));
    return select(basic, small, plain(masked), module.constant_null(t(basic)));
}

void Emitter::bit_field(Value v, const Inst& inst) {
    const Id base = u(arg(v, 0));
    if (inst.op == Op::BitInsert) {
        const Value position = arg(v, 2), length = arg(v, 3);
        if (is_const(position) && is_const(length)) {
            const u32 at = ir.const_word(position);
            const u32 size = std::min(ir.const_word(length), at < 32 ? 32 - at : 0);
            if (size == 0)
                return define_u(v, base);
            return define_u(v, module.op(spv::Op::OpBitFieldInsert, t(Basic::U32), base, u(arg(v, 1)), c(at), c(size)));
        }
        const Id at = module.ext(GLSLstd450UMin, t(Basic::U32), {u(position), c(32)});
        const Id room = module.op(spv::Op::OpISub, t(Basic::U32), c(32), at);
        const Id size = module.ext(GLSLstd450UMin, t(Basic::U32), {u(length), room});
        // position 32 with length 0 would be legal but is not on every driver
        const Id safe = module.op(spv::Op::OpBitwiseAnd, t(Basic::U32), at, c(31));
        const Id inserted = module.op(spv::Op::OpBitFieldInsert, t(Basic::U32), base, u(arg(v, 1)), safe, size);
        const Id none = module.op(spv::Op::OpIEqual, t(Basic::Bool), size, c(0));
        return define_u(v, select(Basic::U32, none, base, inserted));
    }
    const bool is_signed = inst.op == Op::BitExtractS;
    const spv::Op extract = is_signed ? spv::Op::OpBitFieldSExtract : spv::Op::OpBitFieldUExtract;
    const Value position = arg(v, 1), length = arg(v, 2);
    if (is_const(position) && is_const(length)) {
        const u32 at = ir.const_word(position), size = ir.const_word(length);
        if (size == 0 || (!is_signed && at >= 32))
            return define_u(v, c(0));
        if (at < 32)
            return define_u(v, module.op(extract, t(Basic::U32), base, c(at), c(std::min(size, 32 - at))));
        return define_u(v, module.op(spv::Op::OpShiftRightArithmetic, t(Basic::U32), base, c(31)));
    }
    const Id at = module.ext(GLSLstd450UMin, t(Basic::U32), {u(position), c(is_signed ? 31 : 32)});
    const Id room = module.op(spv::Op::OpISub, t(Basic::U32), c(32), at);
    const Id size = module.ext(GLSLstd450UMin, t(Basic::U32), {u(length), room});
    const Id safe = module.op(spv::Op::OpBitwiseAnd, t(Basic::U32), at, c(31));
    const Id value = module.op(extract, t(Basic::U32), base, safe, size);
    const Id empty = module.op(spv::Op::OpIEqual, t(Basic::Bool), size, c(0));
    define_u(v, select(Basic::U32, empty, c(0), value));
}

Id Emitter::compare_float(u32 mods, Id a, Id b) {
    // ordered relations 1-6, unordered 9-14 in the machine's order LT EQ LE GT NE GE
    static constexpr spv::Op ops[16] = {spv::Op::OpNop,
                                        spv::Op::OpFOrdLessThan,
                                        spv::Op::OpFOrdEqual,
                                        spv::Op::OpFOrdLessThanEqual,
                                        spv::Op::OpFOrdGreaterThan,
                                        spv::Op::OpFOrdNotEqual,
                                        spv::Op::OpFOrdGreaterThanEqual,
                                        spv::Op::OpNop,
                                        spv::Op::OpNop,
                                        spv::Op::OpFUnordLessThan,
                                        spv::Op::OpFUnordEqual,
                                        spv::Op::OpFUnordLessThanEqual,
                                        spv::Op::OpFUnordGreaterThan,
                                        spv::Op::OpFUnordNotEqual,
                                        spv::Op::OpFUnordGreaterThanEqual,
                                        spv::Op::OpNop};
    switch (static_cast<Relation>(mods & 15)) {
    case Relation::F:
        return module.constant_false();
    case Relation::T:
        return module.constant_true();
    case Relation::Num:
    case Relation::Nan: {
        const Id nan_a = module.op(spv::Op::OpIsNan, t(Basic::Bool), a);
        const Id nan_b = module.op(spv::Op::OpIsNan, t(Basic::Bool), b);
        const Id any = module.op(spv::Op::OpLogicalOr, t(Basic::Bool), nan_a, nan_b);
        return static_cast<Relation>(mods & 15) == Relation::Nan
                   ? any
                   : module.op(spv::Op::OpLogicalNot, t(Basic::Bool), any);
    }
    default:
        return module.op(ops[mods & 15], t(Basic::Bool), a, b);
    }
}

Id Emitter::round_to_integer(Id value, Basic type, u32 mods) {
    static constexpr u32 rounding[4] = {GLSLstd450RoundEven, GLSLstd450Floor, GLSLstd450Ceil, GLSLstd450Trunc};
    return module.ext(rounding[mods & 3], t(type), {value});
}

// Saturating; NaN gives 0.
Id Emitter::float_to_integer(Id value, bool wide_source, bool wide, bool is_signed, u32 mods) {
    const Basic from = wide_source ? Basic::F64 : Basic::F32, to = wide ? Basic::U64 : Basic::U32;
    const auto limit = [&](f64 x) { return wide_source ? cd(x) : cf(static_cast<f32>(x)); };
    const unsigned bits = (wide ? 64u : 32u) - (is_signed ? 1 : 0);
    const f64 above = std::bit_cast<f64>(u64{1023 + bits} << 52); // 2^bits: the first value too large
    const u64 largest = bits == 64 ? ~u64{0} : (u64{1} << bits) - 1;
    const u64 smallest = is_signed ? u64{1} << bits : 0;
    const Id rounded = round_to_integer(value, from, mods);
    const Id converted = module.op(is_signed ? spv::Op::OpConvertFToS : spv::Op::OpConvertFToU, t(to), rounded);
    const Id high = module.op(spv::Op::OpFOrdGreaterThanEqual, t(Basic::Bool), rounded, limit(above));
    const Id low = module.op(spv::Op::OpFOrdLessThanEqual, t(Basic::Bool), rounded, limit(is_signed ? -above : 0.0));
    Id result = select(to, high, module.constant(to, largest), converted);
    result = select(to, low, module.constant(to, smallest), result);
    if (is_signed) {
        const Id nan = module.op(spv::Op::OpIsNan, t(Basic::Bool), value);
        return select(to, nan, module.constant(to, 0), result);
    }
    const Id number = module.op(spv::Op::OpFOrdGreaterThan, t(Basic::Bool), rounded, limit(0.0)); // false for NaN
    return select(to, number, result, module.constant(to, 0));
}

// Rounding other than to nearest: the nearest result is corrected by one unit where the exact result, known from a
// double (exact for products, and for sums up to an error that the double's own sign shows), lies beyond it.
Id Emitter::directed(const Inst& inst, Id a, Id b, Id third) {
    const auto widen = [&](Id x) { return module.op(spv::Op::OpFConvert, t(Basic::F64), x); };
    Id wide = 0;
    switch (inst.op) {
    case Op::FAdd:
        wide = exact(module.op(spv::Op::OpFAdd, t(Basic::F64), widen(a), widen(b)));
        break;
    case Op::FMul:
        wide = exact(module.op(spv::Op::OpFMul, t(Basic::F64), widen(a), widen(b)));
        break;
    case Op::FFma:
        wide = module.ext(GLSLstd450Fma, t(Basic::F64), {widen(a), widen(b), widen(third)});
        break;
    default: // F64ToF32
        wide = a;
    }
    const Id nearest = module.op(spv::Op::OpFConvert, t(Basic::F32), wide);
    const Id back = widen(nearest);
    const Id word = bitcast(Basic::U32, nearest);
    const Id negative = module.op(spv::Op::OpSLessThan, t(Basic::Bool), word, c(0));
    const auto rounding = static_cast<Rounding>(inst.mods & 3);
    const auto step = [&](bool up) { // one unit towards +infinity or -infinity
        const Id plus = module.op(spv::Op::OpIAdd, t(Basic::U32), word, c(1));
        const Id minus = module.op(spv::Op::OpISub, t(Basic::U32), word, c(1));
        const Id is_zero = module.op(spv::Op::OpFOrdEqual, t(Basic::Bool), nearest, cf(0));
        const Id moved = up ? select(Basic::U32, negative, minus, plus) : select(Basic::U32, negative, plus, minus);
        return select(Basic::U32, is_zero, c(up ? 1u : 0x80000001u), moved);
    };
    const Id above = module.op(spv::Op::OpFOrdGreaterThan, t(Basic::Bool), back, wide);
    const Id below = module.op(spv::Op::OpFOrdLessThan, t(Basic::Bool), back, wide);
    Id result = word;
    if (rounding == Rounding::Down)
        result = select(Basic::U32, above, step(false), word);
    else if (rounding == Rounding::Up)
        result = select(Basic::U32, below, step(true), word);
    else {
        const Id positive_above = module.op(spv::Op::OpLogicalAnd, t(Basic::Bool), above,
                                            module.op(spv::Op::OpFOrdGreaterThan, t(Basic::Bool), wide, cd(0)));
        const Id negative_below = module.op(spv::Op::OpLogicalAnd, t(Basic::Bool), below,
                                            module.op(spv::Op::OpFOrdLessThan, t(Basic::Bool), wide, cd(0)));
        const Id away = module.op(spv::Op::OpLogicalOr, t(Basic::Bool), positive_above, negative_below);
        result = select(Basic::U32, away, module.op(spv::Op::OpISub, t(Basic::U32), word, c(1)), word);
    }
    return bitcast(Basic::F32, result);
}

void Emitter::float_arithmetic(Value v, const Inst& inst) {
    const bool ftz = (inst.mods & (ir::float_ftz | ir::float_fmz)) != 0;
    const bool fmz = (inst.mods & ir::float_fmz) != 0;
    const Id a = flush(f(arg(v, 0)), ftz), b = flush(f(arg(v, 1)), ftz);
    const Id third = inst.count > 2 ? flush(f(arg(v, 2)), ftz) : 0;
    Id result = 0;
    if ((inst.mods & 3) != 0) {
        result = directed(inst, a, b, third);
    } else {
        switch (inst.op) {
        case Op::FAdd:
            result = exact(module.op(spv::Op::OpFAdd, t(Basic::F32), a, b));
            break;
        case Op::FMul:
            result = exact(module.op(spv::Op::OpFMul, t(Basic::F32), a, b));
            break;
        default:
            result = module.ext(GLSLstd450Fma, t(Basic::F32), {a, b, third});
        }
    }
    if (fmz && inst.op != Op::FAdd) {
        const Id zero_a = module.op(spv::Op::OpFOrdEqual, t(Basic::Bool), a, cf(0));
        const Id zero_b = module.op(spv::Op::OpFOrdEqual, t(Basic::Bool), b, cf(0));
        const Id zero = module.op(spv::Op::OpLogicalOr, t(Basic::Bool), zero_a, zero_b);
        result = select(Basic::F32, zero,
                        inst.op == Op::FMul ? cf(0) : exact(module.op(spv::Op::OpFAdd, t(Basic::F32), cf(0), third)),
                        result);
    }
    define_f(v, flush(result, ftz));
}

// The high words of 1/x and 1/sqrt(x) of a double whose low word is not looked at.
void Emitter::reciprocal64(Value v, const Inst& inst) {
    const Id words = module.op(spv::Op::OpCompositeConstruct, t(Basic::U32x2), c(0), u(arg(v, 0)));
    const Id x = bitcast(Basic::F64, words);
    const Id y = inst.op == Op::Rcp64High ? module.op(spv::Op::OpFDiv, t(Basic::F64), cd(1.0), x)
                                          : module.ext(GLSLstd450InverseSqrt, t(Basic::F64), {x});
    define_u(v, module.op(spv::Op::OpCompositeExtract, t(Basic::U32), bitcast(Basic::U32x2, y), 1u));
}

bool Emitter::arithmetic(Value v, const Inst& inst) {
    const auto unary = [&](u32 instruction, Basic type) {
        const bool ftz = (inst.mods & (ir::float_ftz | ir::float_fmz)) != 0;
        define_f(v, flush(module.ext(instruction, t(type), {flush(f(arg(v, 0)), ftz)}), ftz));
    };
    const bool ftz = (inst.mods & ir::float_ftz) != 0;
    switch (inst.op) {
    case Op::Pack64: {
        const Id words = module.op(spv::Op::OpCompositeConstruct, t(Basic::U32x2), u(arg(v, 0)), u(arg(v, 1)));
        define_u(v, bitcast(Basic::U64, words));
        break;
    }
    case Op::High: {
        const Id high = module.op(spv::Op::OpShiftRightLogical, t(Basic::U64), u(arg(v, 0)), c(32));
        define_u(v, module.op(spv::Op::OpUConvert, t(Basic::U32), high));
        break;
    }
    case Op::BoolToMask:
        define_u(v, select(Basic::U32, b(arg(v, 0)), c(~0u), c(0)));
        break;
    case Op::IMulHighU:
    case Op::IMulHighS: {
        const Id pair = module.op(inst.op == Op::IMulHighU ? spv::Op::OpUMulExtended : spv::Op::OpSMulExtended,
                                  t(Basic::U32Pair), u(arg(v, 0)), u(arg(v, 1)));
        define_u(v, module.op(spv::Op::OpCompositeExtract, t(Basic::U32), pair, 1u));
        break;
    }
    case Op::IMulWideU:
    case Op::IMulWideS: {
        const spv::Op extend = inst.op == Op::IMulWideU ? spv::Op::OpUConvert : spv::Op::OpSConvert;
        const Id a = module.op(extend, t(Basic::U64), u(arg(v, 0)));
        const Id b2 = module.op(extend, t(Basic::U64), u(arg(v, 1)));
        define_u(v, module.op(spv::Op::OpIMul, t(Basic::U64), a, b2));
        break;
    }
    case Op::SignExtend64:
        define_u(v, module.op(spv::Op::OpSConvert, t(Basic::U64), u(arg(v, 0))));
        break;
    case Op::AddCarry: {
        const Id pair = module.op(spv::Op::OpIAddCarry, t(Basic::U32Pair), u(arg(v, 0)), u(arg(v, 1)));
        const Id carry = module.op(spv::Op::OpCompositeExtract, t(Basic::U32), pair, 1u);
        Id result = module.op(spv::Op::OpINotEqual, t(Basic::Bool), carry, c(0));
        if (!is_const(arg(v, 2)) || ir.const_word(arg(v, 2)) != 0) {
            const Id sum = module.op(spv::Op::OpCompositeExtract, t(Basic::U32), pair, 0u);
            const Id full = module.op(spv::Op::OpIEqual, t(Basic::Bool), sum, c(~0u));
            const Id second = module.op(spv::Op::OpLogicalAnd, t(Basic::Bool), full, b(arg(v, 2)));
            result = module.op(spv::Op::OpLogicalOr, t(Basic::Bool), result, second);
        }
        define_u(v, result);
        break;
    }
    case Op::AddOverflow: {
        const Id a = u(arg(v, 0)), b2 = u(arg(v, 1));
        Id sum = module.op(spv::Op::OpIAdd, t(Basic::U32), a, b2);
        sum = module.op(spv::Op::OpIAdd, t(Basic::U32), sum, select(Basic::U32, b(arg(v, 2)), c(1), c(0)));
        const Id x = module.op(spv::Op::OpBitwiseXor, t(Basic::U32), a, sum);
        const Id y = module.op(spv::Op::OpBitwiseXor, t(Basic::U32), b2, sum);
        const Id both = module.op(spv::Op::OpBitwiseAnd, t(Basic::U32), x, y);
        define_u(v, module.op(spv::Op::OpSLessThan, t(Basic::Bool), both, c(0)));
        break;
    }
    case Op::ShiftLeft:
    case Op::ShiftLeft64:
        define_u(v, shift(spv::Op::OpShiftLeftLogical, arg(v, 0), arg(v, 1)));
        break;
    case Op::ShiftRightU:
    case Op::ShiftRightU64:
        define_u(v, shift(spv::Op::OpShiftRightLogical, arg(v, 0), arg(v, 1)));
        break;
    case Op::ShiftRightS:
    case Op::ShiftRightS64:
        define_u(v, shift(spv::Op::OpShiftRightArithmetic, arg(v, 0), arg(v, 1)));
        break;
    case Op::FunnelLeft:
    case Op::FunnelRight: {
        const bool left = inst.op == Op::FunnelLeft;
        const Id words = module.op(spv::Op::OpCompositeConstruct, t(Basic::U32x2), u(arg(v, 0)), u(arg(v, 1)));
        const Id wide = bitcast(Basic::U64, words);
        const Id count = module.ext(GLSLstd450UMin, t(Basic::U32), {u(arg(v, 2)), c(32)});
        const Id shifted =
            module.op(left ? spv::Op::OpShiftLeftLogical : spv::Op::OpShiftRightLogical, t(Basic::U64), wide, count);
        const Id pair = bitcast(Basic::U32x2, shifted);
        define_u(v, module.op(spv::Op::OpCompositeExtract, t(Basic::U32), pair, left ? 1u : 0u));
        break;
    }
    case Op::BitExtractU:
    case Op::BitExtractS:
    case Op::BitInsert:
        bit_field(v, inst);
        break;
    case Op::ICompareS:
    case Op::ICompareU: {
        static constexpr spv::Op ops[2][7] = {
            {spv::Op::OpNop, spv::Op::OpULessThan, spv::Op::OpIEqual, spv::Op::OpULessThanEqual,
             spv::Op::OpUGreaterThan, spv::Op::OpINotEqual, spv::Op::OpUGreaterThanEqual},
            {spv::Op::OpNop, spv::Op::OpSLessThan, spv::Op::OpIEqual, spv::Op::OpSLessThanEqual,
             spv::Op::OpSGreaterThan, spv::Op::OpINotEqual, spv::Op::OpSGreaterThanEqual}};
        const u32 relation = inst.mods & 15;
        if (relation == 0 || relation > 6)
            define_u(v, relation == 0 ? module.constant_false() : module.constant_true());
        else
            define_u(v, module.op(ops[inst.op == Op::ICompareS][relation], t(Basic::Bool), u(arg(v, 0)), u(arg(v, 1))));
        break;
    }
    case Op::FAdd:
    case Op::FMul:
    case Op::FFma:
        float_arithmetic(v, inst);
        break;
    case Op::FMin:
    case Op::FMax: {
        const Id a = flush(f(arg(v, 0)), ftz), b2 = flush(f(arg(v, 1)), ftz);
        define_f(v, module.ext(inst.op == Op::FMin ? GLSLstd450NMin : GLSLstd450NMax, t(Basic::F32), {a, b2}));
        break;
    }
    case Op::FSaturate: // NClamp of NaN is the lower bound
        define_f(v, module.ext(GLSLstd450NClamp, t(Basic::F32), {f(arg(v, 0)), cf(0), cf(1)}));
        break;
    case Op::FFlush: {
        const Id word = u(arg(v, 0));
        const Id exponent = module.op(spv::Op::OpBitwiseAnd, t(Basic::U32), word, c(0x7f800000));
        const Id tiny = module.op(spv::Op::OpIEqual, t(Basic::Bool), exponent, c(0));
        const Id sign = module.op(spv::Op::OpBitwiseAnd, t(Basic::U32), word, c(0x80000000));
        define_u(v, select(Basic::U32, tiny, sign, word));
        break;
    }
    case Op::FRoundInt:
        define_f(v, round_to_integer(flush(f(arg(v, 0)), ftz), Basic::F32, inst.mods));
        break;
    case Op::DRoundInt:
        define_f(v, round_to_integer(f(arg(v, 0)), Basic::F64, inst.mods));
        break;
    case Op::FCompare: {
        const bool flushed = (inst.mods & ir::compare_ftz) != 0;
        define_u(v, compare_float(inst.mods, flush(f(arg(v, 0)), flushed), flush(f(arg(v, 1)), flushed)));
        break;
    }
    case Op::DCompare:
        define_u(v, compare_float(inst.mods, f(arg(v, 0)), f(arg(v, 1))));
        break;
    case Op::FRcp:
        define_f(v, flush(module.op(spv::Op::OpFDiv, t(Basic::F32), cf(1), flush(f(arg(v, 0)), ftz)), ftz));
        break;
    case Op::FRsq:
        unary(GLSLstd450InverseSqrt, Basic::F32);
        break;
    case Op::FSqrt:
        unary(GLSLstd450Sqrt, Basic::F32);
        break;
    case Op::FSin:
        unary(GLSLstd450Sin, Basic::F32);
        break;
    case Op::FCos:
        unary(GLSLstd450Cos, Basic::F32);
        break;
    case Op::FEx2:
        unary(GLSLstd450Exp2, Basic::F32);
        break;
    case Op::FLg2:
        unary(GLSLstd450Log2, Basic::F32);
        break;
    case Op::Rcp64High:
    case Op::Rsq64High:
        reciprocal64(v, inst);
        break;
    case Op::DAdd:
        define_f(v, exact(module.op(spv::Op::OpFAdd, t(Basic::F64), f(arg(v, 0)), f(arg(v, 1)))));
        break;
    case Op::DMul:
        define_f(v, exact(module.op(spv::Op::OpFMul, t(Basic::F64), f(arg(v, 0)), f(arg(v, 1)))));
        break;
    case Op::DFma:
        define_f(v, module.ext(GLSLstd450Fma, t(Basic::F64), {f(arg(v, 0)), f(arg(v, 1)), f(arg(v, 2))}));
        break;
    case Op::HalfToFloat: {
        const Id both = module.ext(GLSLstd450UnpackHalf2x16, t(Basic::F32x2), {u(arg(v, 0))});
        define_f(v, module.op(spv::Op::OpCompositeExtract, t(Basic::F32), both, inst.imm));
        break;
    }
    case Op::FloatToHalf:
    case Op::PackHalf2: {
        const Id low = f(arg(v, 0)), high = inst.op == Op::PackHalf2 ? f(arg(v, 1)) : cf(0);
        const Id both = module.op(spv::Op::OpCompositeConstruct, t(Basic::F32x2), low, high);
        define_u(v, module.ext(GLSLstd450PackHalf2x16, t(Basic::U32), {both}));
        break;
    }
    case Op::PackHalf2Fma: {
        // in double the fma is exact to far below a half's last bit; rounding it to odd in a float keeps that
        Id halves[2];
        for (unsigned i = 0; i < 2; ++i) {
            const auto widen = [&](unsigned k) {
                return module.op(spv::Op::OpFConvert, t(Basic::F64), f(arg(v, i * 3 + k)));
            };
            const Id product = exact(module.op(spv::Op::OpFMul, t(Basic::F64), widen(0), widen(1)));
            const Id sum = exact(module.op(spv::Op::OpFAdd, t(Basic::F64), product, widen(2)));
            const Id near = module.op(spv::Op::OpFConvert, t(Basic::F32), sum);
            const Id back = module.op(spv::Op::OpFConvert, t(Basic::F64), near);
            const Id same = module.op(spv::Op::OpFUnordEqual, t(Basic::Bool), back, sum);
            const Id word = bitcast(Basic::U32, near);
            // towards zero if rounded away, then the last bit set
            const Id magnitude_grew =
                module.op(spv::Op::OpFOrdGreaterThan, t(Basic::Bool), module.ext(GLSLstd450FAbs, t(Basic::F64), {back}),
                          module.ext(GLSLstd450FAbs, t(Basic::F64), {sum}));
            const Id truncated =
                module.op(spv::Op::OpISub, t(Basic::U32), word, select(Basic::U32, magnitude_grew, c(1), c(0)));
            const Id odd = module.op(spv::Op::OpBitwiseOr, t(Basic::U32), truncated, c(1));
            halves[i] = bitcast(Basic::F32, select(Basic::U32, same, word, odd));
        }
        const Id both = module.op(spv::Op::OpCompositeConstruct, t(Basic::F32x2), halves[0], halves[1]);
        define_u(v, module.ext(GLSLstd450PackHalf2x16, t(Basic::U32), {both}));
        break;
    }
    case Op::F32ToS32:
    case Op::F32ToU32:
    case Op::F32ToS64:
    case Op::F32ToU64:
    case Op::F64ToS32:
    case Op::F64ToU32:
    case Op::F64ToS64:
    case Op::F64ToU64: {
        const unsigned which = static_cast<unsigned>(inst.op) - static_cast<unsigned>(Op::F32ToS32);
        const bool wide_source = which >= 4, wide = (which & 2) != 0, is_signed = (which & 1) == 0;
        const Id value = wide_source ? f(arg(v, 0)) : flush(f(arg(v, 0)), ftz);
        define_u(v, float_to_integer(value, wide_source, wide, is_signed, inst.mods));
        break;
    }
    case Op::S32ToF32:
    case Op::U32ToF32:
    case Op::S64ToF32:
    case Op::U64ToF32:
    case Op::S32ToF64:
    case Op::U32ToF64:
    case Op::S64ToF64:
    case Op::U64ToF64: {
        const unsigned which = static_cast<unsigned>(inst.op) - static_cast<unsigned>(Op::S32ToF32);
        const spv::Op convert = (which & 1) == 0 ? spv::Op::OpConvertSToF : spv::Op::OpConvertUToF;
        if (which < 2 && (inst.mods & 3) != 0) { // exact in double, then rounded once as asked
            Inst narrow = inst;
            narrow.op = Op::F64ToF32;
            define_f(v, directed(narrow, module.op(convert, t(Basic::F64), u(arg(v, 0))), 0, 0));
            break;
        }
        define_f(v, module.op(convert, t(which >= 4 ? Basic::F64 : Basic::F32), u(arg(v, 0))));
        break;
    }
    case Op::F32ToF64:
        define_f(v, module.op(spv::Op::OpFConvert, t(Basic::F64), flush(f(arg(v, 0)), ftz)));
        break;
    case Op::F64ToF32:
        if ((inst.mods & 3) != 0)
            define_f(v, flush(directed(inst, f(arg(v, 0)), 0, 0), ftz));
        else
            define_f(v, flush(module.op(spv::Op::OpFConvert, t(Basic::F32), f(arg(v, 0))), ftz));
        break;
    default:
        return false;
    }
    return true;
}

} // namespace heaviside::shader
