#include "maxwell/half.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace heaviside::maxwell {

double half_value(u32 bits) {
    const u32 sign = (bits & 0x8000) << 16, exponent = bits >> 10 & 31, mantissa = bits & 0x3ff;
    if (exponent == 31)
        return std::bit_cast<f32>(sign | 0x7f800000 | mantissa << 13);
    const double magnitude =
        exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(mantissa + 1024.0, static_cast<int>(exponent) - 25);
    return sign ? -magnitude : magnitude;
}

std::optional<u32> half_bits(double value) {
    const u32 sign = std::signbit(value) ? 0x8000 : 0;
    if (std::isnan(value))
        return sign | 0x7e00;
    const double magnitude = std::fabs(value);
    if (std::isinf(value))
        return sign | 0x7c00;
    if (magnitude == 0)
        return sign;
    int exponent = 0;
    std::frexp(magnitude, &exponent); // magnitude = m * 2^exponent, m in [0.5, 1)
    const int scale = std::max(exponent - 11, -24);
    const double units = std::ldexp(magnitude, -scale); // of the last place
    if (units != std::floor(units) || exponent > 16)
        return std::nullopt;
    const auto mantissa = static_cast<u32>(units);
    if (mantissa < 1024)
        return sign | mantissa;
    return sign | static_cast<u32>(scale + 25) << 10 | (mantissa & 1023);
}

} // namespace heaviside::maxwell
