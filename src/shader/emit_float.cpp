// Floating-point results rounded exactly once, as the machine rounds them, where SPIR-V's own operations do not promise
// it: directed rounding, fused multiply-add on devices without one, halves, flushed results.
//
// What carries the rest: a double that was rounded to odd (its last bit set if anything was lost) rounds to single
// precision as the exact value would, in every mode, because it has more than two bits to spare.
#include "shader/emitter.h"

namespace heaviside::shader {

using ir::Inst;
using ir::Op;
using ir::Rounding;

namespace {

constexpr Rounding rounding_of(u32 mods) {
    return static_cast<Rounding>(mods & 3);
}

} // namespace

Id Emitter::to_double(Id single) {
    return module.op(spv::Op::OpFConvert, t(Basic::F64), single);
}

// a + b = near + error, exactly, for finite doubles (D. Knuth's TwoSum). A sum of zero has the sign that `mods` give
// it: rounding down makes x - x a negative zero.
Emitter::Sum Emitter::two_sum(Id a, Id b, u32 mods) {
    const auto op = [&](spv::Op code, Id x, Id y) { return exact(module.op(code, t(Basic::F64), x, y)); };
    const auto minus = [&](Id x) { return module.op(spv::Op::OpFNegate, t(Basic::F64), x); };
    const Id near = rounding_of(mods) == Rounding::Down ? minus(op(spv::Op::OpFAdd, minus(a), minus(b)))
                                                        : op(spv::Op::OpFAdd, a, b);
    const Id b_part = op(spv::Op::OpFSub, near, a);
    const Id a_error = op(spv::Op::OpFSub, a, op(spv::Op::OpFSub, near, b_part));
    return {near, op(spv::Op::OpFAdd, a_error, op(spv::Op::OpFSub, b, b_part))};
}

// The neighbour of a double in the direction of `up` (U1); not for zeros.
Id Emitter::next_double(Id value, Id up) {
    const Id bits = bitcast(Basic::U64, value);
    const Id positive = module.op(spv::Op::OpFOrdGreaterThan, t(Basic::Bool), value, cd(0));
    const Id grows = module.op(spv::Op::OpLogicalEqual, t(Basic::Bool), positive, up);
    const Id step = select(Basic::U64, grows, module.constant(Basic::U64, 1), module.constant(Basic::U64, ~u64{0}));
    return bitcast(Basic::F64, module.op(spv::Op::OpIAdd, t(Basic::U64), bits, step));
}

// `value` with the sign of `sign` (a word) if it is zero: for devices whose compiler drops the sign of zeros.
Id Emitter::with_sign_of_zero(Id value, Id sign, Basic type) {
    const Id bit = module.op(spv::Op::OpBitwiseAnd, t(Basic::U32), sign, c(0x80000000));
    const bool wide = type == Basic::F64;
    const Id zero = bitcast(type, wide ? module.op(spv::Op::OpCompositeConstruct, t(Basic::U32x2), c(0), bit) : bit);
    const Id is_zero = module.op(spv::Op::OpFOrdEqual, t(Basic::Bool), value, wide ? cd(0) : cf(0));
    return select(type, is_zero, zero, value);
}

Id Emitter::high_word(Id wide) {
    return module.op(spv::Op::OpCompositeExtract, t(Basic::U32), bitcast(Basic::U32x2, wide), 1u);
}

// The product of two singles, exact.
Id Emitter::wide_product(Id a, Id b) {
    const Id product = exact(module.op(spv::Op::OpFMul, t(Basic::F64), to_double(a), to_double(b)));
    if (!repairs_zeros)
        return product;
    const Id signs = module.op(spv::Op::OpBitwiseXor, t(Basic::U32), bitcast(Basic::U32, a), bitcast(Basic::U32, b));
    return with_sign_of_zero(product, signs, Basic::F64);
}

Id Emitter::sum_to_odd(Id a, Id b, u32 mods) {
    Sum sum = two_sum(a, b, mods);
    if (repairs_zeros) { // numbers that cancel have different signs
        const spv::Op join = rounding_of(mods) == Rounding::Down ? spv::Op::OpBitwiseOr : spv::Op::OpBitwiseAnd;
        sum.near = with_sign_of_zero(sum.near, module.op(join, t(Basic::U32), high_word(a), high_word(b)), Basic::F64);
    }
    const Id inexact = module.op(spv::Op::OpFOrdNotEqual, t(Basic::Bool), sum.error, cd(0));
    const Id last =
        module.op(spv::Op::OpBitwiseAnd, t(Basic::U64), bitcast(Basic::U64, sum.near), module.constant(Basic::U64, 1));
    const Id even = module.op(spv::Op::OpIEqual, t(Basic::Bool), last, module.constant(Basic::U64, 0));
    const Id up = module.op(spv::Op::OpFOrdGreaterThan, t(Basic::Bool), sum.error, cd(0));
    const Id moves = module.op(spv::Op::OpLogicalAnd, t(Basic::Bool), inexact, even);
    return select(Basic::F64, moves, next_double(sum.near, up), sum.near);
}

// FAdd, FMul or FFma of singles: exact, or rounded to odd.
Id Emitter::wide_result(Op op, Id a, Id b, Id third, u32 mods) {
    if (op == Op::FAdd)
        return sum_to_odd(to_double(a), to_double(b), mods);
    const Id product = wide_product(a, b);
    return op == Op::FMul ? product : sum_to_odd(product, to_double(third), mods);
}

// A double (exact, or rounded to odd) to single precision, rounded as `mods` say. In integers: compilers take a
// conversion there and back for no conversion, and devices flush the denormals that one makes.
Id Emitter::narrow(Id wide, u32 mods) {
    const auto op = [&](spv::Op code, Id x, Id y) { return module.op(code, t(Basic::U64), x, y); };
    const auto word = [&](spv::Op code, Id x, Id y) { return module.op(code, t(Basic::U32), x, y); };
    const auto test = [&](spv::Op code, Id x, Id y) { return module.op(code, t(Basic::Bool), x, y); };
    const auto k = [&](u64 value) { return module.constant(Basic::U64, value); };
    const Id bits = bitcast(Basic::U64, wide);
    const Id negative = test(spv::Op::OpINotEqual, op(spv::Op::OpShiftRightLogical, bits, k(63)), k(0));
    const Id magnitude = op(spv::Op::OpBitwiseAnd, bits, k(~u64{0} >> 1));
    const Id exponent =
        module.op(spv::Op::OpUConvert, t(Basic::U32), op(spv::Op::OpShiftRightLogical, magnitude, k(52)));
    constexpr u32 smallest_exponent = 897; // of 2^-126, the smallest normal single
    const Id normal = test(spv::Op::OpUGreaterThanEqual, exponent, c(smallest_exponent));
    const Id fraction = op(spv::Op::OpBitwiseAnd, magnitude, k((u64{1} << 52) - 1));
    const Id has_bit = test(spv::Op::OpINotEqual, exponent, c(0));
    const Id hidden = select(Basic::U64, has_bit, op(spv::Op::OpBitwiseOr, fraction, k(u64{1} << 52)), fraction);
    const Id mantissa =
        select(Basic::U64, normal, op(spv::Op::OpISub, magnitude, k(u64{smallest_exponent - 1} << 52)), hidden);
    const Id deep =
        module.ext(GLSLstd450UMin, t(Basic::U32), {word(spv::Op::OpISub, c(smallest_exponent + 29), exponent), c(62)});
    const Id count = module.op(spv::Op::OpUConvert, t(Basic::U64), select(Basic::U32, normal, c(29), deep));
    const Id kept = op(spv::Op::OpShiftRightLogical, mantissa, count);
    const Id rest = op(spv::Op::OpISub, mantissa, op(spv::Op::OpShiftLeftLogical, kept, count));
    const Id lossy = test(spv::Op::OpINotEqual, rest, k(0));
    const auto no = [&](Id x) { return module.op(spv::Op::OpLogicalNot, t(Basic::Bool), x); };
    constexpr u64 infinity = 0x7f800000;
    Id up = module.constant_false(), beyond = k(infinity - 1);
    switch (rounding_of(mods)) {
    case Rounding::Nearest: {
        const Id half = op(spv::Op::OpShiftLeftLogical, k(1), op(spv::Op::OpISub, count, k(1)));
        const Id odd = test(spv::Op::OpINotEqual, op(spv::Op::OpBitwiseAnd, kept, k(1)), k(0));
        const Id tie = test(spv::Op::OpLogicalAnd, test(spv::Op::OpIEqual, rest, half), odd);
        up = test(spv::Op::OpLogicalOr, test(spv::Op::OpUGreaterThan, rest, half), tie);
        beyond = k(infinity);
        break;
    }
    case Rounding::Up:
        up = test(spv::Op::OpLogicalAnd, lossy, no(negative));
        beyond = select(Basic::U64, negative, k(infinity - 1), k(infinity));
        break;
    case Rounding::Down:
        up = test(spv::Op::OpLogicalAnd, lossy, negative);
        beyond = select(Basic::U64, negative, k(infinity), k(infinity - 1));
        break;
    case Rounding::Zero:
        break;
    }
    constexpr u64 infinite = 0x7ff0000000000000;
    Id result = op(spv::Op::OpIAdd, kept, select(Basic::U64, up, k(1), k(0)));
    result = select(Basic::U64, test(spv::Op::OpUGreaterThanEqual, result, k(infinity)), beyond, result);
    result = select(Basic::U64, test(spv::Op::OpIEqual, magnitude, k(infinite)), k(infinity), result);
    result = select(Basic::U64, test(spv::Op::OpUGreaterThan, magnitude, k(infinite)), k(0x7fffffff), result);
    const Id sign = select(Basic::U32, negative, c(0x80000000), c(0));
    return bitcast(Basic::F32, word(spv::Op::OpBitwiseOr, module.op(spv::Op::OpUConvert, t(Basic::U32), result), sign));
}

// The machine flushes what is below the smallest normal number after rounding with an unbounded exponent: a value that
// only becomes normal because denormals have fewer digits is flushed too.
Id Emitter::flush_narrowed(Id single, Id wide, u32 mods) {
    constexpr u64 smallest = 0x3810000000000000, rounds_up = 0x380ffffff0000000, one_below = 0x380fffffe0000000;
    const Id magnitude = module.ext(GLSLstd450FAbs, t(Basic::F64), {wide});
    const auto below = [&](u64 limit, bool or_equal) {
        return module.op(or_equal ? spv::Op::OpFOrdLessThanEqual : spv::Op::OpFOrdLessThan, t(Basic::Bool), magnitude,
                         module.constant(Basic::F64, limit));
    };
    const Id negative = module.op(spv::Op::OpFOrdLessThan, t(Basic::Bool), wide, cd(0));
    Id tiny = 0;
    switch (rounding_of(mods)) {
    case Rounding::Nearest:
        tiny = below(rounds_up, false);
        break;
    case Rounding::Zero:
        tiny = below(smallest, false);
        break;
    case Rounding::Up:
        tiny = select(Basic::Bool, negative, below(smallest, false), below(one_below, true));
        break;
    case Rounding::Down:
        tiny = select(Basic::Bool, negative, below(one_below, true), below(smallest, false));
        break;
    }
    const Id word = bitcast(Basic::U32, single);
    const Id sign = module.op(spv::Op::OpBitwiseAnd, t(Basic::U32), word, c(0x80000000));
    return bitcast(Basic::F32, select(Basic::U32, tiny, sign, word));
}

// A double as a single, rounded so that a second rounding to half gives what one of the double would: towards zero, the
// last bit set if anything is lost.
Id Emitter::narrow_to_odd(Id wide) {
    const Id near = module.op(spv::Op::OpFConvert, t(Basic::F32), wide);
    const Id back = to_double(near);
    const Id same = module.op(spv::Op::OpFUnordEqual, t(Basic::Bool), back, wide);
    const Id word = bitcast(Basic::U32, near);
    const auto magnitude = [&](Id x) { return module.ext(GLSLstd450FAbs, t(Basic::F64), {x}); };
    const Id grew = module.op(spv::Op::OpFOrdGreaterThan, t(Basic::Bool), magnitude(back), magnitude(wide));
    const Id truncated = module.op(spv::Op::OpISub, t(Basic::U32), word, select(Basic::U32, grew, c(1), c(0)));
    const Id odd = module.op(spv::Op::OpBitwiseOr, t(Basic::U32), truncated, c(1));
    return bitcast(Basic::F32, select(Basic::U32, same, word, odd));
}

// Single to half in integers: any rounding mode. Denormals are kept, but for ftz, which is for rounding to nearest
// only.
Id Emitter::half_bits(Id single, u32 mods) {
    const auto op = [&](spv::Op code, Id x, Id y) { return module.op(code, t(Basic::U32), x, y); };
    const auto test = [&](spv::Op code, Id x, Id y) { return module.op(code, t(Basic::Bool), x, y); };
    const Id word = bitcast(Basic::U32, single);
    const Id magnitude = op(spv::Op::OpBitwiseAnd, word, c(0x7fffffff));
    const Id exponent = op(spv::Op::OpShiftRightLogical, magnitude, c(23));
    constexpr u32 smallest_exponent = 113; // of 2^-14, the smallest normal half
    const Id normal = test(spv::Op::OpUGreaterThanEqual, exponent, c(smallest_exponent));
    const Id fraction = op(spv::Op::OpBitwiseAnd, magnitude, c(0x7fffff));
    const Id hidden = select(Basic::U32, test(spv::Op::OpIEqual, exponent, c(0)), c(0), c(0x800000));
    const Id mantissa = select(Basic::U32, normal, op(spv::Op::OpISub, magnitude, c((smallest_exponent - 1) << 23)),
                               op(spv::Op::OpBitwiseOr, fraction, hidden));
    const Id deep = module.ext(GLSLstd450UMin, t(Basic::U32), {op(spv::Op::OpISub, c(126), exponent), c(31)});
    const Id shift_count = select(Basic::U32, normal, c(13), deep);
    const Id kept = op(spv::Op::OpShiftRightLogical, mantissa, shift_count);
    const Id rest = op(spv::Op::OpISub, mantissa, op(spv::Op::OpShiftLeftLogical, kept, shift_count));
    const Id lossy = test(spv::Op::OpINotEqual, rest, c(0));
    const Id negative = test(spv::Op::OpSLessThan, word, c(0));
    Id up = module.constant_false();
    u32 overflow = 0x7bff; // rounding towards zero stops at the largest number
    Id beyond = 0;
    switch (rounding_of(mods)) {
    case Rounding::Nearest: {
        const Id half = op(spv::Op::OpShiftLeftLogical, c(1), op(spv::Op::OpISub, shift_count, c(1)));
        const Id odd = test(spv::Op::OpINotEqual, op(spv::Op::OpBitwiseAnd, kept, c(1)), c(0));
        const Id tie = test(spv::Op::OpLogicalAnd, test(spv::Op::OpIEqual, rest, half), odd);
        up = test(spv::Op::OpLogicalOr, test(spv::Op::OpUGreaterThan, rest, half), tie);
        overflow = 0x7c00;
        break;
    }
    case Rounding::Up:
        up = test(spv::Op::OpLogicalAnd, lossy, module.op(spv::Op::OpLogicalNot, t(Basic::Bool), negative));
        beyond = select(Basic::U32, negative, c(0x7bff), c(0x7c00));
        break;
    case Rounding::Down:
        up = test(spv::Op::OpLogicalAnd, lossy, negative);
        beyond = select(Basic::U32, negative, c(0x7c00), c(0x7bff));
        break;
    case Rounding::Zero:
        break;
    }
    if (beyond == 0)
        beyond = c(overflow);
    Id half = op(spv::Op::OpIAdd, kept, select(Basic::U32, up, c(1), c(0)));
    half = select(Basic::U32, test(spv::Op::OpUGreaterThanEqual, half, c(0x7c00)), beyond, half);
    half = select(Basic::U32, test(spv::Op::OpIEqual, magnitude, c(0x7f800000)), c(0x7c00), half);
    half = select(Basic::U32, test(spv::Op::OpUGreaterThan, magnitude, c(0x7f800000)), c(0x7fff), half);
    if ((mods & (ir::float_ftz | ir::float_fmz)) != 0) { // below 2^-14 - 2^-26, where 11 bits round to less than 2^-14
        const Id tiny = test(spv::Op::OpULessThan, magnitude, c(0x387ff000));
        half = select(Basic::U32, tiny, c(0), half);
    }
    const Id sign = op(spv::Op::OpShiftRightLogical, op(spv::Op::OpBitwiseAnd, word, c(0x80000000)), c(16));
    return op(spv::Op::OpBitwiseOr, half, sign);
}

// The half in bits 0-15 as a single, denormals included or flushed.
Id Emitter::half_value(Id half, bool flush_denormals) {
    const auto op = [&](spv::Op code, Id x, Id y) { return module.op(code, t(Basic::U32), x, y); };
    const Id sign = op(spv::Op::OpShiftLeftLogical, op(spv::Op::OpBitwiseAnd, half, c(0x8000)), c(16));
    const Id magnitude = op(spv::Op::OpBitwiseAnd, half, c(0x7fff));
    const Id moved = op(spv::Op::OpShiftLeftLogical, magnitude, c(13));
    const Id special = module.op(spv::Op::OpUGreaterThanEqual, t(Basic::Bool), magnitude, c(0x7c00));
    const Id tiny = module.op(spv::Op::OpULessThan, t(Basic::Bool), magnitude, c(0x0400));
    const Id biased = op(spv::Op::OpIAdd, moved, select(Basic::U32, special, c(224u << 23), c(112u << 23)));
    Id instead = c(0);
    if (!flush_denormals) {
        const Id counted = module.op(spv::Op::OpConvertUToF, t(Basic::F32), magnitude);
        instead = bitcast(Basic::U32, exact(module.op(spv::Op::OpFMul, t(Basic::F32), counted, cf(0x1p-24f))));
    }
    const Id word = select(Basic::U32, tiny, instead, biased);
    return bitcast(Basic::F32, op(spv::Op::OpBitwiseOr, word, sign));
}

// Integers to floating point. Both halves of a 64-bit integer are exact doubles.
void Emitter::integer_to_float(Value v, const Inst& inst) {
    const unsigned which = static_cast<unsigned>(inst.op) - static_cast<unsigned>(Op::S32ToF32);
    const bool is_signed = (which & 1) == 0, wide_source = (which & 2) != 0, to_double = which >= 4;
    const spv::Op convert = is_signed ? spv::Op::OpConvertSToF : spv::Op::OpConvertUToF;
    const Id source = u(arg(v, 0));
    const bool directed = rounding_of(inst.mods) != Rounding::Nearest;
    if (!wide_source) {
        if (to_double || !directed)
            return define_f(v, module.op(convert, t(to_double ? Basic::F64 : Basic::F32), source));
        return define_f(v, narrow(module.op(convert, t(Basic::F64), source), inst.mods));
    }
    if (!directed && !exact_floats)
        return define_f(v, module.op(convert, t(to_double ? Basic::F64 : Basic::F32), source));
    const Id words = bitcast(Basic::U32x2, source);
    const Id low = module.op(spv::Op::OpConvertUToF, t(Basic::F64),
                             module.op(spv::Op::OpCompositeExtract, t(Basic::U32), words, 0u));
    const Id top = module.op(convert, t(Basic::F64), module.op(spv::Op::OpCompositeExtract, t(Basic::U32), words, 1u));
    const Id high = module.op(spv::Op::OpFMul, t(Basic::F64), top, cd(0x1p32));
    if (!to_double)
        return define_f(v, narrow(sum_to_odd(high, low, inst.mods), inst.mods));
    define_f(v, directed_sum(high, low, inst.mods));
}

// The sum of two finite doubles, rounded as `mods` say.
Id Emitter::directed_sum(Id a, Id b, u32 mods) {
    const Sum sum = two_sum(a, b, mods);
    const auto lost = [&](spv::Op relation) { return module.op(relation, t(Basic::Bool), sum.error, cd(0)); };
    const Id more = lost(spv::Op::OpFOrdGreaterThan), less = lost(spv::Op::OpFOrdLessThan);
    const Id positive = module.op(spv::Op::OpFOrdGreaterThan, t(Basic::Bool), sum.near, cd(0));
    Id moves = 0, up = 0;
    switch (rounding_of(mods)) {
    case Rounding::Nearest:
        return sum.near;
    case Rounding::Up:
        moves = more;
        up = module.constant_true();
        break;
    case Rounding::Down:
        moves = less;
        up = module.constant_false();
        break;
    case Rounding::Zero:
        moves = select(Basic::Bool, positive, less, more);
        up = module.op(spv::Op::OpLogicalNot, t(Basic::Bool), positive);
        break;
    }
    return select(Basic::F64, moves, next_double(sum.near, up), sum.near);
}

} // namespace heaviside::shader
