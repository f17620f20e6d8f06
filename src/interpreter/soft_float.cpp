#include "interpreter/soft_float.h"

#include <bit>
#include <utility>

namespace heaviside::interpreter::soft {
namespace {

int top_bit(u128 value) {
    const u64 high = static_cast<u64>(value >> 64);
    return high != 0 ? 127 - std::countl_zero(high) : 63 - std::countl_zero(static_cast<u64>(value));
}

// value >> shift, rounded. `shift` may be negative.
u128 shifted(u128 value, i32 shift, Rounding rounding, bool negative) {
    if (shift <= 0)
        return value << -shift;
    u128 kept = 0, lost = value, half = 0;
    bool below_half = true;
    if (shift < 128) {
        kept = value >> shift;
        lost = value & ((u128{1} << shift) - 1);
        half = u128{1} << (shift - 1);
        below_half = lost < half;
    }
    if (lost == 0)
        return kept;
    switch (rounding) {
    case Rounding::Nearest:
        return below_half ? kept : kept + (lost > half ? 1 : kept & 1);
    case Rounding::Down:
        return kept + negative;
    case Rounding::Up:
        return kept + !negative;
    case Rounding::Zero:
        break;
    }
    return kept;
}

// Shifted right; bits that fall out leave the lowest one set.
u128 jammed(u128 value, i32 shift) {
    if (shift >= 128)
        return value != 0;
    const bool lost = (value & ((u128{1} << shift) - 1)) != 0;
    return value >> shift | u128{lost};
}

// The significand moved so that its top bit is bit 125, which leaves room for a carry.
Number aligned(Number n) {
    const int shift = 125 - top_bit(n.significand);
    n.significand = shift >= 0 ? n.significand << shift : jammed(n.significand, -shift);
    n.exponent -= shift;
    return n;
}

} // namespace

Number unpack(Format format, u64 bits, bool flush) {
    const u64 fraction_mask = (u64{1} << format.fraction_bits) - 1;
    const u64 fraction = bits & fraction_mask, exponent = (bits & format.infinity()) >> format.fraction_bits;
    Number n;
    n.negative = (bits & format.sign()) != 0;
    if (exponent == format.infinity() >> format.fraction_bits) {
        n.kind = fraction != 0 ? Kind::Nan : Kind::Infinity;
        return n;
    }
    if (exponent == 0 && (fraction == 0 || flush))
        return n;
    n.kind = Kind::Finite;
    n.significand = exponent != 0 ? fraction | (fraction_mask + 1) : fraction;
    n.exponent =
        static_cast<i32>(exponent != 0 ? exponent : 1) - format.bias() - static_cast<i32>(format.fraction_bits);
    return n;
}

Number from_integer(bool negative, u64 magnitude) {
    return {magnitude != 0 ? Kind::Finite : Kind::Zero, negative, 0, magnitude};
}

Number product(const Number& a, const Number& b) {
    Number n;
    n.negative = a.negative != b.negative;
    if (a.kind == Kind::Nan || b.kind == Kind::Nan)
        n.kind = Kind::Nan;
    else if (a.kind == Kind::Infinity || b.kind == Kind::Infinity)
        n.kind = a.kind == Kind::Zero || b.kind == Kind::Zero ? Kind::Nan : Kind::Infinity;
    else if (a.kind == Kind::Finite && b.kind == Kind::Finite)
        n = {Kind::Finite, n.negative, a.exponent + b.exponent, a.significand * b.significand};
    return n;
}

Number sum(const Number& a, const Number& b, Rounding rounding) {
    if (a.kind == Kind::Nan || b.kind == Kind::Nan)
        return {Kind::Nan, false, 0, 0};
    if (a.kind == Kind::Infinity || b.kind == Kind::Infinity) {
        if (a.kind == b.kind && a.negative != b.negative)
            return {Kind::Nan, false, 0, 0};
        return a.kind == Kind::Infinity ? a : b;
    }
    const bool zero_is_negative = rounding == Rounding::Down;
    if (a.kind == Kind::Zero && b.kind == Kind::Zero)
        return {Kind::Zero, a.negative == b.negative ? a.negative : zero_is_negative, 0, 0};
    if (a.kind == Kind::Zero)
        return b;
    if (b.kind == Kind::Zero)
        return a;

    Number large = aligned(a), small = aligned(b);
    if (large.exponent < small.exponent)
        std::swap(large, small);
    // Bits are lost only where the numbers are so far apart that one bit for all of them rounds the same.
    small.significand = jammed(small.significand, large.exponent - small.exponent);
    if (large.negative == small.negative) {
        large.significand += small.significand;
        return large;
    }
    if (large.significand < small.significand)
        std::swap(large.significand, small.significand), large.negative = small.negative;
    large.significand -= small.significand;
    if (large.significand == 0)
        return {Kind::Zero, zero_is_negative, 0, 0};
    return large;
}

u64 pack(const Number& number, Format format, Rounding rounding, bool flush) {
    const u64 sign = number.negative ? format.sign() : 0;
    if (number.kind == Kind::Nan)
        return format.sign() - 1;
    if (number.kind == Kind::Infinity)
        return sign | format.infinity();
    if (number.kind == Kind::Zero)
        return sign;

    const i32 fraction_bits = static_cast<i32>(format.fraction_bits), smallest = 1 - format.bias();
    const int top = top_bit(number.significand);
    i32 exponent = top + number.exponent;
    if (exponent < smallest && !flush) // the fraction's carry makes the smallest normal
        return sign | static_cast<u64>(shifted(number.significand, smallest - fraction_bits - number.exponent, rounding,
                                               number.negative));
    u64 significand = static_cast<u64>(shifted(number.significand, top - fraction_bits, rounding, number.negative));
    if (significand >> (fraction_bits + 1) != 0) {
        significand >>= 1;
        ++exponent;
    }
    if (exponent < smallest)
        return sign;
    if (exponent > format.bias()) {
        const bool away =
            rounding == Rounding::Nearest || rounding == (number.negative ? Rounding::Down : Rounding::Up);
        return sign | (format.infinity() - (away ? 0 : 1));
    }
    const u64 biased = static_cast<u64>(exponent + format.bias()) << fraction_bits;
    return sign | (biased + (significand - (u64{1} << fraction_bits)));
}

Whole whole(const Number& number, Rounding rounding) {
    if (number.kind != Kind::Finite)
        return {};
    if (top_bit(number.significand) + number.exponent >= 64)
        return {~u64{0}, true};
    const u128 magnitude = shifted(number.significand, -number.exponent, rounding, number.negative);
    if (magnitude >> 64 != 0)
        return {~u64{0}, true};
    return {static_cast<u64>(magnitude), false};
}

Number rounded_to_whole(const Number& number, Rounding rounding) {
    if (number.kind != Kind::Finite || number.exponent >= 0)
        return number;
    const u128 magnitude = shifted(number.significand, -number.exponent, rounding, number.negative);
    return {magnitude != 0 ? Kind::Finite : Kind::Zero, number.negative, 0, magnitude};
}

int order(const Number& a, const Number& b) {
    if (a.kind == Kind::Infinity && b.kind == Kind::Infinity && a.negative == b.negative)
        return 0;
    Number minus_b = b;
    minus_b.negative = !b.negative;
    const Number difference = sum(a, minus_b);
    return difference.kind == Kind::Zero ? 0 : difference.negative ? -1 : 1;
}

} // namespace heaviside::interpreter::soft
