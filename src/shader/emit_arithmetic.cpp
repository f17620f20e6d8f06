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

// Flush if every operation on singles does, Preserve if none does.
Emitter::Denormals Emitter::denormals_of(const ir::Program& program, const ir::FlowGraph& graph) {
    bool flushing = false, preserving = false;
    for (const ir::BlockId block : graph.order)
        for (const u32 id : program.blocks[block].insts) {
            const Inst& inst = program.insts[id];
            const u32 flush = inst.op == Op::FCompare ? ir::compare_ftz : ir::float_ftz | ir::float_fmz;
            switch (inst.op) {
            case Op::FAdd:
            case Op::FMul:
            case Op::FFma:
            case Op::FMin:
            case Op::FMax:
            case Op::FCompare:
                ((inst.mods & flush) != 0 ? flushing : preserving) = true;
                break;
            default:
                break;
            }
        }
    return flushing == preserving ? Denormals::DeviceChoice : flushing ? Denormals::Flush : Denormals::Preserve;
}

// Denormals to zero of their sign, where the program wants it and the device does not do it by itself.
Id Emitter::flush(Id value, bool wanted) {
    return wanted && explicit_flush ? flushed(value) : value;
}

// An operand of a sum or product. Zeros, and denormals that may be flushed to one, are kept from a compiler that would
// forget about signs: a root constant that is 0 is part of them.
Id Emitter::term(Value v) {
    const Inst& inst = ir[v];
    const bool wide = inst.type == Type::U64;
    if (!repairs_zeros || !is_const(v) || ((wide ? inst.mods & 0x7ff00000 : inst.imm & 0x7f800000) != 0))
        return f(v);
    const Id zero = root(root_flags, Basic::U32);
    if (!wide)
        return bitcast(Basic::F32, module.op(spv::Op::OpBitwiseOr, t(Basic::U32), zero, c(inst.imm)));
    const Id high = module.op(spv::Op::OpBitwiseOr, t(Basic::U32), zero, c(inst.mods));
    return bitcast(Basic::F64, module.op(spv::Op::OpCompositeConstruct, t(Basic::U32x2), c(inst.imm), high));
}

Id Emitter::flushed(Id value) {
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
    const Id rounded = module.ext(rounding[mods & 3], t(type), {value});
    if (!repairs_zeros)
        return rounded;
    return with_sign_of_zero(rounded, type == Basic::F64 ? high_word(value) : bitcast(Basic::U32, value), type);
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

void Emitter::float_arithmetic(Value v, const Inst& inst) {
    const bool fmz = (inst.mods & ir::float_fmz) != 0, ftz = fmz || (inst.mods & ir::float_ftz) != 0;
    const auto rounding = static_cast<Rounding>(inst.mods & 3);
    const f32 scale = inst.op == Op::FMul ? ir::float_scale(inst.mods) : 1.0f;
    const bool unfused = inst.op == Op::FFma && options.unfused_multiply_add;
    const bool through_double = rounding != Rounding::Nearest || (exact_floats && (unfused || scale != 1.0f));
    const auto source = [&](unsigned i) {
        return through_double && ftz ? flushed(term(arg(v, i))) : flush(term(arg(v, i)), ftz);
    };
    const Id a = source(0), b = source(1), third = inst.count > 2 ? source(2) : 0;
    Id result = 0;
    if (through_double) {
        Id wide = wide_result(inst.op, a, b, third, inst.mods);
        if (scale != 1.0f)
            wide = exact(module.op(spv::Op::OpFMul, t(Basic::F64), wide, cd(scale)));
        result = narrow(wide, inst.mods);
        if (ftz)
            result = flush_narrowed(result, wide, inst.mods);
    } else {
        const auto operation = [&](Id x, Id y, Id z) {
            if (inst.op == Op::FFma)
                return module.ext(GLSLstd450Fma, t(Basic::F32), {x, y, z});
            return exact(module.op(inst.op == Op::FAdd ? spv::Op::OpFAdd : spv::Op::OpFMul, t(Basic::F32), x, y));
        };
        const auto scaled = [&](Id x, f32 by) { return exact(module.op(spv::Op::OpFMul, t(Basic::F32), x, cf(by))); };
        result = operation(scale != 1.0f ? scaled(a, scale) : a, b, third);
        if (repairs_zeros && inst.op != Op::FFma) {
            const spv::Op join = inst.op == Op::FMul ? spv::Op::OpBitwiseXor : spv::Op::OpBitwiseAnd;
            const Id signs = module.op(join, t(Basic::U32), bitcast(Basic::U32, a), bitcast(Basic::U32, b));
            result = with_sign_of_zero(result, signs, Basic::F32);
        }
        if (ftz && explicit_flush && inst.op == Op::FAdd) {
            result = flushed(result); // a denormal sum is exact
        } else if (ftz && explicit_flush) {
            // Flushed is what is below the smallest normal number after rounding with an unbounded exponent, which the
            // same operation tells 2^64 higher up; where that overflows or has no number, nothing is to be flushed.
            const Id high = operation(scaled(a, 0x1p64f), b, third != 0 ? scaled(third, 0x1p64f) : 0);
            const Id tiny = module.op(spv::Op::OpFOrdLessThan, t(Basic::Bool),
                                      module.ext(GLSLstd450FAbs, t(Basic::F32), {high}), cf(0x1p-62f));
            const Id word = bitcast(Basic::U32, result);
            const Id sign = module.op(spv::Op::OpBitwiseAnd, t(Basic::U32), word, c(0x80000000));
            result = bitcast(Basic::F32, select(Basic::U32, tiny, sign, word));
        }
    }
    if (fmz && inst.op != Op::FAdd) {
        const Id zero_a = module.op(spv::Op::OpFOrdEqual, t(Basic::Bool), a, cf(0));
        const Id zero_b = module.op(spv::Op::OpFOrdEqual, t(Basic::Bool), b, cf(0));
        const Id zero = module.op(spv::Op::OpLogicalOr, t(Basic::Bool), zero_a, zero_b);
        Id instead = cf(0); // plus C: only rounding down leaves its negative zero
        if (inst.op == Op::FFma)
            instead =
                rounding == Rounding::Down
                    ? third
                    : select(Basic::F32, module.op(spv::Op::OpFOrdEqual, t(Basic::Bool), third, cf(0)), cf(0), third);
        result = select(Basic::F32, zero, instead, result);
    }
    define_f(v, result);
}

// SPIR-V leaves open which of -0 and +0 is the smaller one; the machine's minimum is -0.
void Emitter::float_minimum(Value v, const Inst& inst, bool wide) {
    const bool minimum = inst.op == Op::FMin || inst.op == Op::DMin;
    const Basic type = wide ? Basic::F64 : Basic::F32, bits = wide ? Basic::U64 : Basic::U32;
    const bool ftz = !wide && (inst.mods & ir::float_ftz) != 0;
    const Id a = flush(f(arg(v, 0)), ftz), b = flush(f(arg(v, 1)), ftz);
    Id chosen = module.ext(minimum ? GLSLstd450NMin : GLSLstd450NMax, t(type), {a, b});
    if (!exact_floats)
        return define_f(v, chosen);
    if (repairs_zeros) { // such a compiler takes the sign of an operand for an ordering, even if it is a NaN
        chosen = select(type, module.op(spv::Op::OpIsNan, t(Basic::Bool), a), b, chosen);
        chosen = select(type, module.op(spv::Op::OpIsNan, t(Basic::Bool), b), a, chosen);
    }
    const Id both =
        module.op(minimum ? spv::Op::OpBitwiseOr : spv::Op::OpBitwiseAnd, t(bits), bitcast(bits, a), bitcast(bits, b));
    const Id equal = module.op(spv::Op::OpFOrdEqual, t(Basic::Bool), a, b);
    define_f(v, select(type, equal, bitcast(type, both), chosen));
}

// a * b + c of two pairs of halves or singles, rounded once to half.
void Emitter::half_fma(Value v, const Inst& inst) {
    const bool fmz = (inst.mods & ir::float_fmz) != 0, ftz = fmz || (inst.mods & ir::float_ftz) != 0;
    Id halves[2];
    for (unsigned i = 0; i < 2; ++i) {
        const Id a = flush(term(arg(v, 3 * i)), ftz), b = flush(term(arg(v, 3 * i + 1)), ftz),
                 third = flush(term(arg(v, 3 * i + 2)), ftz);
        const auto is_zero = [&](Id x) { return module.op(spv::Op::OpFOrdEqual, t(Basic::Bool), x, cf(0)); };
        const auto unless_zero = [&](Id product, Id instead) {
            if (!fmz)
                return product;
            const Id zero = module.op(spv::Op::OpLogicalOr, t(Basic::Bool), is_zero(a), is_zero(b));
            return select(Basic::F32, zero, instead, product);
        };
        if (!exact_floats) {
            const Id product = module.ext(GLSLstd450Fma, t(Basic::F32), {a, b, third});
            halves[i] = unless_zero(product, third);
            continue;
        }
        const Id product = wide_product(a, b);
        const Id sum = narrow_to_odd(sum_to_odd(product, to_double(third), 0));
        const Id instead = select(Basic::F32, is_zero(third), cf(0), third);
        halves[i] = unless_zero(sum, instead);
    }
    pack_halves(v, halves[0], halves[1], ftz ? ir::float_ftz : 0);
}

void Emitter::pack_halves(Value v, Id low, Id high, u32 mods) {
    if (exact_floats || (mods & 3) != 0)
        return define_u(v, module.op(spv::Op::OpBitFieldInsert, t(Basic::U32), half_bits(low, mods),
                                     half_bits(high, mods), c(16), c(16)));
    const Id both = module.op(spv::Op::OpCompositeConstruct, t(Basic::F32x2), low, high);
    define_u(v, module.ext(GLSLstd450PackHalf2x16, t(Basic::U32), {both}));
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
    case Op::FMax:
    case Op::DMin:
    case Op::DMax:
        float_minimum(v, inst, inst.op == Op::DMin || inst.op == Op::DMax);
        break;
    case Op::FSaturate: {
        const Id value = f(arg(v, 0));
        if (exact_floats) { // -0 gives +0
            const Id positive = module.op(spv::Op::OpFOrdGreaterThan, t(Basic::Bool), value, cf(0));
            const Id limited = module.ext(GLSLstd450NMin, t(Basic::F32), {value, cf(1)});
            define_f(v, select(Basic::F32, positive, limited, cf(0)));
        } else { // NClamp of NaN is the lower bound
            define_f(v, module.ext(GLSLstd450NClamp, t(Basic::F32), {value, cf(0), cf(1)}));
        }
        break;
    }
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
    case Op::DMul:
    case Op::DFma:
        double_arithmetic(v, inst);
        break;
    case Op::HalfToFloat: {
        if (exact_floats) {
            const Id half =
                module.op(spv::Op::OpBitFieldUExtract, t(Basic::U32), u(arg(v, 0)), c(16 * inst.imm), c(16));
            define_f(v, half_value(half, (inst.mods & (ir::float_ftz | ir::float_fmz)) != 0));
            break;
        }
        const Id both = module.ext(GLSLstd450UnpackHalf2x16, t(Basic::F32x2), {u(arg(v, 0))});
        define_f(v, module.op(spv::Op::OpCompositeExtract, t(Basic::F32), both, inst.imm));
        break;
    }
    case Op::FloatToHalf:
        if (exact_floats || (inst.mods & 3) != 0)
            define_u(v, half_bits(f(arg(v, 0)), inst.mods & 3));
        else
            pack_halves(v, f(arg(v, 0)), cf(0), 0);
        break;
    case Op::PackHalf2:
        pack_halves(v, f(arg(v, 0)), f(arg(v, 1)), inst.mods);
        break;
    case Op::PackHalf2Fma:
        half_fma(v, inst);
        break;
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
    case Op::U64ToF64:
        integer_to_float(v, inst);
        break;
    case Op::F32ToF64:
        define_f(v, module.op(spv::Op::OpFConvert, t(Basic::F64), flush(f(arg(v, 0)), ftz)));
        break;
    case Op::F64ToF32: {
        const Id wide = f(arg(v, 0));
        const Id single = exact_floats || (inst.mods & 3) != 0 ? narrow(wide, inst.mods)
                                                               : module.op(spv::Op::OpFConvert, t(Basic::F32), wide);
        define_f(v, ftz && exact_floats ? flush_narrowed(single, wide, inst.mods) : single);
        break;
    }
    default:
        return false;
    }
    return true;
}

} // namespace heaviside::shader
