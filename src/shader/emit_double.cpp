// Double-precision sums and products in integers: every rounding mode, and fused on devices whose own operation rounds
// twice. One function of the module, called where a program asks for it; rare, so exactness is worth its length.
#include "shader/emitter.h"

namespace heaviside::shader {

using ir::Inst;
using ir::Op;
using ir::Rounding;

namespace {

constexpr u64 sign_bit = u64{1} << 63, hidden_bit = u64{1} << 52, infinity = 0x7ff0000000000000;
constexpr u32 special_exponent = 0x7ff, bias = 1023, low_word = 0xffffffff;

bool is_directed(const Inst& inst) {
    return (inst.mods & 3) != 0;
}

} // namespace

bool Emitter::double_in_integers(const Inst& inst) const {
    if (inst.op != Op::DAdd && inst.op != Op::DMul && inst.op != Op::DFma)
        return false;
    return is_directed(inst) || (inst.op == Op::DFma && options.unfused_multiply_add && exact_floats);
}

// Integer arithmetic of the function's body.
struct Emitter::WideInteger {
    Emitter& e;
    struct Pair { // of words: 128 bits
        Id high, low;
    };

    Id k(u64 value) const { return e.module.constant(Basic::U64, value); }
    Id op(spv::Op code, Id x, Id y) const { return e.module.op(code, e.t(Basic::U64), x, y); }
    Id op32(spv::Op code, Id x, Id y) const { return e.module.op(code, e.t(Basic::U32), x, y); }
    Id test(spv::Op code, Id x, Id y) const { return e.module.op(code, e.t(Basic::Bool), x, y); }
    Id both(Id x, Id y) const { return test(spv::Op::OpLogicalAnd, x, y); }
    Id either(Id x, Id y) const { return test(spv::Op::OpLogicalOr, x, y); }
    Id no(Id x) const { return e.module.op(spv::Op::OpLogicalNot, e.t(Basic::Bool), x); }
    Id add(Id x, Id y) const { return op(spv::Op::OpIAdd, x, y); }
    Id sub(Id x, Id y) const { return op(spv::Op::OpISub, x, y); }
    Id mul(Id x, Id y) const { return op(spv::Op::OpIMul, x, y); }
    Id mask(Id x, Id y) const { return op(spv::Op::OpBitwiseAnd, x, y); }
    Id merge(Id x, Id y) const { return op(spv::Op::OpBitwiseOr, x, y); }
    Id left(Id x, Id count) const { return op(spv::Op::OpShiftLeftLogical, x, count); }
    Id right(Id x, Id count) const { return op(spv::Op::OpShiftRightLogical, x, count); }
    Id up_by(Id x, u32 bits) const { return left(x, e.c(bits)); }
    Id down_by(Id x, u32 bits) const { return right(x, e.c(bits)); }
    Id choose(Id condition, Id yes, Id other) const { return e.select(Basic::U64, condition, yes, other); }
    Id choose32(Id condition, Id yes, Id other) const { return e.select(Basic::U32, condition, yes, other); }
    Id is_zero(Id x) const { return test(spv::Op::OpIEqual, x, k(0)); }
    Id bit(Id condition) const { return choose(condition, k(1), k(0)); }
    Id word(Id x) const { return e.module.op(spv::Op::OpUConvert, e.t(Basic::U32), x); }
    // The number of the highest set bit; ~0 if there is none.
    Id top_bit(Id x) const {
        const Id high = word(down_by(x, 32)), low = word(x);
        const auto find = [&](Id v) { return e.module.ext(GLSLstd450FindUMsb, e.t(Basic::U32), {v}); };
        const Id in_high = op32(spv::Op::OpIAdd, find(high), e.c(32));
        return choose32(test(spv::Op::OpINotEqual, high, e.c(0)), in_high, find(low));
    }
    // x >> count for any count; bits that fall out leave the lowest one set.
    Pair right_jammed(Pair x, Id count) const {
        const Id clamped = e.module.ext(GLSLstd450UMin, e.t(Basic::U32), {count, e.c(127)});
        const Id inner = op32(spv::Op::OpBitwiseAnd, clamped, e.c(63));
        const Id words = test(spv::Op::OpUGreaterThanEqual, clamped, e.c(64));
        const Id none = test(spv::Op::OpIEqual, inner, e.c(0));
        const Id other = op32(spv::Op::OpBitwiseAnd, op32(spv::Op::OpISub, e.c(64), inner), e.c(63));
        const auto carried = [&](Id from) { return choose(none, k(0), left(from, other)); };
        const Id low = merge(right(x.low, inner), carried(x.high)), high = right(x.high, inner);
        const Id lost = choose(words, merge(x.low, carried(x.high)), carried(x.low));
        const Id sticky = bit(no(is_zero(lost)));
        return {choose(words, k(0), high), merge(choose(words, high, low), sticky)};
    }
    // x << count, count below 128.
    Pair left_by(Pair x, Id count) const {
        const Id inner = op32(spv::Op::OpBitwiseAnd, count, e.c(63));
        const Id words = test(spv::Op::OpUGreaterThanEqual, count, e.c(64));
        const Id none = test(spv::Op::OpIEqual, inner, e.c(0));
        const Id other = op32(spv::Op::OpBitwiseAnd, op32(spv::Op::OpISub, e.c(64), inner), e.c(63));
        const Id carried = choose(none, k(0), right(x.low, other));
        const Id low = left(x.low, inner), high = merge(left(x.high, inner), carried);
        return {choose(words, low, high), choose(words, k(0), low)};
    }
    Pair choose(Id condition, Pair yes, Pair other) const {
        return {choose(condition, yes.high, other.high), choose(condition, yes.low, other.low)};
    }
};

// f64 fma(f64 a, f64 b, f64 c, u32 rounding).
Id Emitter::double_fma_function() {
    if (double_fma_id != 0)
        return double_fma_id;
    const WideInteger w{*this};
    using Pair = WideInteger::Pair;
    using enum spv::Op;
    const Id f64_type = t(Basic::F64), u32_type = t(Basic::U32);
    const Id type = module.function_type(f64_type, std::array{f64_type, f64_type, f64_type, u32_type});
    double_fma_id = module.begin_function(f64_type, type);
    Id in[3] = {module.new_id(), module.new_id(), module.new_id()};
    const Id rounding = module.new_id();
    for (const Id id : in)
        module.parameter(f64_type, id);
    module.parameter(u32_type, rounding);
    current_label = module.start_body();
    ++block_serial;

    // significand: its top bit is bit 52, also for denormals; 0 for zeros
    struct Number {
        Id bits, negative, exponent, significand, zero, special;
    } n[3];
    for (int i = 0; i < 3; ++i) {
        Number& x = n[i];
        x.bits = bitcast(Basic::U64, in[i]);
        x.negative = w.no(w.is_zero(w.mask(x.bits, w.k(sign_bit))));
        const Id exponent = w.op32(OpBitwiseAnd, w.word(w.down_by(x.bits, 52)), c(special_exponent));
        const Id fraction = w.mask(x.bits, w.k(hidden_bit - 1));
        const Id denormal = w.test(OpIEqual, exponent, c(0));
        x.zero = w.both(denormal, w.is_zero(fraction));
        x.special = w.test(OpIEqual, exponent, c(special_exponent));
        const Id room = w.op32(OpBitwiseAnd, w.op32(OpISub, c(52), w.top_bit(fraction)), c(63));
        x.significand = w.choose(denormal, w.left(fraction, room), w.merge(fraction, w.k(hidden_bit)));
        x.exponent = w.choose32(denormal, w.op32(OpISub, c(1), room), exponent);
    }
    const Number &a = n[0], &b = n[1], &third = n[2];

    // the product, 106 bits with the top one at 104 or 105, moved up by 20; C's top bit is at 124
    const auto low = [&](Id x) { return w.mask(x, w.k(low_word)); };
    const Id a0 = low(a.significand), a1 = w.down_by(a.significand, 32);
    const Id b0 = low(b.significand), b1 = w.down_by(b.significand, 32);
    const Id p00 = w.mul(a0, b0), p01 = w.mul(a0, b1), p10 = w.mul(a1, b0), p11 = w.mul(a1, b1);
    const Id middle = w.add(w.add(w.down_by(p00, 32), low(p01)), low(p10));
    const Id product_low = w.merge(low(p00), w.up_by(middle, 32));
    const Id product_high = w.add(w.add(p11, w.down_by(p01, 32)), w.add(w.down_by(p10, 32), w.down_by(middle, 32)));
    const Pair product{w.merge(w.up_by(product_high, 20), w.down_by(product_low, 44)), w.up_by(product_low, 20)};
    const Pair addend{w.up_by(third.significand, 8), w.k(0)};
    constexpr u32 far_below = static_cast<u32>(-100000);
    const Id product_zero = w.either(a.zero, b.zero);
    const Id product_exponent = w.choose32(
        product_zero, c(far_below), w.op32(OpISub, w.op32(OpIAdd, a.exponent, b.exponent), c(2 * (bias + 52) + 20)));
    const Id addend_exponent = w.choose32(third.zero, c(far_below), w.op32(OpISub, third.exponent, c(bias + 52 + 72)));
    const Id product_negative = w.test(OpLogicalNotEqual, a.negative, b.negative);

    // the one with the smaller exponent is moved down, and added or taken off
    const Id swapped = w.test(OpSLessThan, product_exponent, addend_exponent);
    const Id exponent = w.choose32(swapped, addend_exponent, product_exponent);
    const Id distance = w.op32(OpISub, exponent, w.choose32(swapped, product_exponent, addend_exponent));
    const Pair large = w.choose(swapped, addend, product);
    const Pair small = w.right_jammed(w.choose(swapped, product, addend), distance);
    const Id large_negative = select(Basic::Bool, swapped, third.negative, product_negative);
    const Id small_negative = select(Basic::Bool, swapped, product_negative, third.negative);
    const Id same_sign = w.test(OpLogicalEqual, large_negative, small_negative);
    const auto sum = [&](Pair x, Pair y) {
        const Id sum_low = w.add(x.low, y.low);
        const Id carry = w.bit(w.test(OpULessThan, sum_low, x.low));
        return Pair{w.add(w.add(x.high, y.high), carry), sum_low};
    };
    const auto difference = [&](Pair x, Pair y) {
        const Id borrow = w.bit(w.test(OpULessThan, x.low, y.low));
        return Pair{w.sub(w.sub(x.high, y.high), borrow), w.sub(x.low, y.low)};
    };
    const Pair minus = difference(large, small);
    const Id turned = w.no(w.is_zero(w.mask(minus.high, w.k(sign_bit))));
    const Pair magnitude = w.choose(same_sign, sum(large, small), w.choose(turned, difference(small, large), minus));
    const Id negative = select(Basic::Bool, w.both(turned, w.no(same_sign)), small_negative, large_negative);
    const Id nothing = w.is_zero(w.merge(magnitude.high, magnitude.low));

    // top bit to bit 126, from there on 53 bits stay; a denormal result has fewer
    const Id in_high = w.no(w.is_zero(magnitude.high));
    const Id top = w.choose32(in_high, w.op32(OpIAdd, w.top_bit(magnitude.high), c(64)), w.top_bit(magnitude.low));
    const Id normal = w.op32(OpBitwiseAnd, w.op32(OpISub, c(126), top), c(127));
    const Pair normalized = w.left_by(magnitude, normal);
    const Id biased = w.op32(OpIAdd, w.op32(OpIAdd, top, exponent), c(bias));
    const Id below = module.ext(GLSLstd450SMax, u32_type, {w.op32(OpISub, c(1), biased), c(0)});
    const Pair placed = w.right_jammed(normalized, below);
    const Id kept = w.down_by(placed.high, 10);
    const Id sticky = w.bit(w.no(w.is_zero(w.mask(placed.low, w.k(1023)))));
    const Id rest = w.merge(w.merge(w.up_by(placed.high, 54), w.down_by(placed.low, 10)), sticky);
    const auto mode_is = [&](Rounding mode) { return w.test(OpIEqual, rounding, c(static_cast<u32>(mode))); };
    const Id nearest = mode_is(Rounding::Nearest), down = mode_is(Rounding::Down), up = mode_is(Rounding::Up);
    const Id odd = w.no(w.is_zero(w.mask(kept, w.k(1))));
    const Id over_half =
        w.either(w.test(OpUGreaterThan, rest, w.k(sign_bit)), w.both(w.test(OpIEqual, rest, w.k(sign_bit)), odd));
    const Id outwards = w.either(w.both(up, w.no(negative)), w.both(down, negative));
    const Id grows = w.either(w.both(nearest, over_half), w.both(outwards, w.no(w.is_zero(rest))));
    const Id from_one = module.ext(GLSLstd450SMax, u32_type, {w.op32(OpISub, biased, c(1)), c(0)});
    const Id wide_exponent = module.op(OpUConvert, t(Basic::U64), from_one);
    const Id bits = w.add(w.add(w.up_by(wide_exponent, 52), kept), w.bit(grows));
    const Id too_large = w.either(w.test(OpSGreaterThanEqual, biased, c(special_exponent)),
                                  w.test(OpUGreaterThanEqual, bits, w.k(infinity)));
    const Id limit = w.choose(w.either(nearest, outwards), w.k(infinity), w.k(infinity - 1));
    Id result = w.choose(too_large, limit, bits);
    // zeros of different sign, or numbers that cancel, are negative only when rounding down
    const Id zero_negative =
        select(Basic::Bool, w.test(OpLogicalEqual, product_negative, third.negative), product_negative, down);
    result = w.choose(nothing, w.k(0), result);
    const Id sign = w.choose(select(Basic::Bool, nothing, zero_negative, negative), w.k(sign_bit), w.k(0));
    const Id number = bitcast(Basic::F64, w.merge(result, sign));
    // infinities and NaNs need no rounding
    const Id plain = exact(module.op(OpFAdd, f64_type, exact(module.op(OpFMul, f64_type, in[0], in[1])), in[2]));
    const Id factor_special = w.either(a.special, b.special);
    const Id finite = select(Basic::F64, third.special, in[2], number);
    module.none(OpReturnValue, select(Basic::F64, factor_special, plain, finite));
    module.end_function();
    return double_fma_id;
}

void Emitter::double_arithmetic(Value v, const Inst& inst) {
    const Id a = term(arg(v, 0)), b2 = term(arg(v, 1));
    const Id f64_type = t(Basic::F64);
    if (!double_in_integers(inst)) {
        if (inst.op == Op::DFma)
            return define_f(v, module.ext(GLSLstd450Fma, f64_type, {a, b2, f(arg(v, 2))}));
        const bool sum = inst.op == Op::DAdd;
        const Id result = exact(module.op(sum ? spv::Op::OpFAdd : spv::Op::OpFMul, f64_type, a, b2));
        if (!repairs_zeros)
            return define_f(v, result);
        const Id signs =
            module.op(sum ? spv::Op::OpBitwiseAnd : spv::Op::OpBitwiseXor, t(Basic::U32), high_word(a), high_word(b2));
        return define_f(v, with_sign_of_zero(result, signs, Basic::F64));
    }
    const auto call = [&](Id x, Id y, Id z) {
        define_f(v, module.op(spv::Op::OpFunctionCall, f64_type, double_fma_function(), x, y, z, c(inst.mods & 3)));
    };
    if (inst.op == Op::DFma)
        return call(a, b2, f(arg(v, 2)));
    if (inst.op == Op::DAdd)
        return call(a, cd(1), b2);
    // a zero of the product's sign changes nothing
    const Id signs = module.op(spv::Op::OpBitwiseXor, t(Basic::U64), u(arg(v, 0)), u(arg(v, 1)));
    const Id zero = module.op(spv::Op::OpBitwiseAnd, t(Basic::U64), signs, module.constant(Basic::U64, sign_bit));
    call(a, b2, bitcast(Basic::F64, zero));
}

} // namespace heaviside::shader
