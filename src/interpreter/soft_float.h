// Binary floating point in integers: exact sums and products, rounded once, in all four directions, to half, single or
// double precision. The same on every host.
//
//     const Number x = unpack(binary32, a), y = unpack(binary32, b);
//     const u64 bits = pack(sum(product(x, y), z, rounding), binary32, rounding, flush);
#pragma once

#include "base/types.h"
#include "maxwell/modifiers.h"

namespace heaviside::interpreter::soft {

using maxwell::Rounding;

__extension__ typedef unsigned __int128 u128;

struct Format {
    unsigned exponent_bits, fraction_bits;
    [[nodiscard]] constexpr i32 bias() const { return (1 << (exponent_bits - 1)) - 1; }
    [[nodiscard]] constexpr u64 sign() const { return u64{1} << (exponent_bits + fraction_bits); }
    [[nodiscard]] constexpr u64 infinity() const { return ((u64{1} << exponent_bits) - 1) << fraction_bits; }
};
inline constexpr Format binary16{5, 10}, binary32{8, 23}, binary64{11, 52};

enum class Kind : u8 { Zero, Finite, Infinity, Nan };

// significand * 2^exponent. The significand of an unpacked number or of a product of two has at most 106 bits; that of
// a sum may have a lowest bit that stands for all bits below it.
struct Number {
    Kind kind = Kind::Zero;
    bool negative = false;
    i32 exponent = 0;
    u128 significand = 0;
};

// `flush`: a denormal becomes a zero of its sign.
[[nodiscard]] Number unpack(Format format, u64 bits, bool flush = false);
[[nodiscard]] Number from_integer(bool negative, u64 magnitude);

[[nodiscard]] Number product(const Number& a, const Number& b);
// The rounding decides the sign of an exact zero only.
[[nodiscard]] Number sum(const Number& a, const Number& b, Rounding rounding = Rounding::Nearest);

// `flush`: a result that, rounded to the full precision with an unbounded exponent, is below the smallest normal
// becomes a zero of its sign. NaNs become the hardware's: all bits below the sign, 7fff and 7fffffff.
[[nodiscard]] u64 pack(const Number& number, Format format, Rounding rounding = Rounding::Nearest, bool flush = false);

// Rounded to a whole number, magnitude saturated at 2^64 - 1; `large` says that it was larger. Finite numbers only.
struct Whole {
    u64 magnitude = 0;
    bool large = false;
};
[[nodiscard]] Whole whole(const Number& number, Rounding rounding);
// The nearest whole number in the rounding's direction, as a number. Zeros keep the sign.
[[nodiscard]] Number rounded_to_whole(const Number& number, Rounding rounding);

// -1, 0, 1: a below, equal to, above b. Neither is a NaN.
[[nodiscard]] int order(const Number& a, const Number& b);

} // namespace heaviside::interpreter::soft
