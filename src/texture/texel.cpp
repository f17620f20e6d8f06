#include "texture/texel.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

namespace heaviside::texture {
namespace {

// Unsigned floats of 10 and 11 bits and signed ones of 16: five exponent bits, bias 15.
f64 small_float(u32 bits, u32 mantissa_bits) {
    const u32 mantissa = bits & ((1u << mantissa_bits) - 1), exponent = bits >> mantissa_bits & 31;
    const f64 fraction = std::ldexp(static_cast<f64>(mantissa), -static_cast<int>(mantissa_bits));
    if (exponent == 0)
        return std::ldexp(fraction, -14);
    if (exponent == 31)
        return mantissa ? std::nan("") : HUGE_VAL;
    return std::ldexp(1 + fraction, static_cast<int>(exponent) - 15);
}

u32 to_small_float(f64 v, u32 mantissa_bits) { // v not negative
    const u32 infinite = 31u << mantissa_bits;
    if (std::isnan(v))
        return infinite | 1u << (mantissa_bits - 1);
    int exponent = 0;
    (void)std::frexp(v, &exponent);
    exponent = std::clamp(exponent - 1, -14, 16);
    const f64 scaled = std::nearbyint(std::ldexp(v, static_cast<int>(mantissa_bits) - exponent));
    if (exponent > 15 || scaled >= std::ldexp(2, static_cast<int>(mantissa_bits) + 15 - exponent))
        return infinite;
    // The implicit one carries into the exponent field.
    const auto significand = static_cast<u32>(scaled);
    return significand < 1u << mantissa_bits ? significand
                                             : significand + (static_cast<u32>(exponent + 14) << mantissa_bits);
}

f64 decode_component(const FormatInfo& f, u32 raw, u32 bits) {
    const f64 most = std::ldexp(1.0, static_cast<int>(bits)) - 1,
              most_signed = std::ldexp(1.0, static_cast<int>(bits) - 1) - 1;
    const auto extended = static_cast<f64>(static_cast<i32>(raw << (32 - bits)) >> (32 - bits));
    switch (f.kind) {
    case Kind::Unorm:
        return raw / most;
    case Kind::Snorm:
        return std::max(-1.0, extended / most_signed);
    case Kind::Sint:
    case Kind::SintToFloat:
        return extended;
    case Kind::Float:
        if (bits == 32)
            return static_cast<f64>(std::bit_cast<f32>(raw));
        if (bits == 16)
            return small_float(raw & 0x7fff, 10) * (raw >> 15 ? -1 : 1);
        return small_float(raw, bits - 5);
    default:
        return raw;
    }
}

u32 encode_component(const FormatInfo& f, f64 v, u32 bits) {
    const f64 most = std::ldexp(1.0, static_cast<int>(bits)) - 1,
              most_signed = std::ldexp(1.0, static_cast<int>(bits) - 1) - 1;
    const auto masked = [bits](f64 n) {
        return static_cast<u32>(static_cast<u64>(static_cast<i64>(n)) & ((u64{1} << bits) - 1));
    };
    if (f.kind != Kind::Float && std::isnan(v))
        v = 0;
    switch (f.kind) {
    case Kind::Unorm:
        return masked(std::nearbyint(std::clamp(v, 0.0, 1.0) * most));
    case Kind::Snorm:
        return masked(std::nearbyint(std::clamp(v, -1.0, 1.0) * most_signed));
    case Kind::Sint:
    case Kind::SintToFloat:
        return masked(std::nearbyint(std::clamp(v, -most_signed - 1, most_signed)));
    case Kind::Float:
        if (bits == 32)
            return std::bit_cast<u32>(static_cast<f32>(v));
        if (bits == 16)
            return to_small_float(std::abs(v), 10) | (std::signbit(v) ? 0x8000u : 0u);
        return v < 0 ? 0 : to_small_float(v, bits - 5);
    default:
        return masked(std::nearbyint(std::clamp(v, 0.0, most)));
    }
}

// Which component the n-th field from the lowest bit is.
std::size_t field(Order order, std::size_t n) {
    constexpr std::size_t bgra[] = {2, 1, 0, 3};
    return order == Order::Rgba ? n : order == Order::Bgra ? bgra[n] : 3 - n;
}

struct Bits { // of a texel of up to 16 bytes
    u64 words[2]{};
    u32 get(u32 at, u32 n) const {
        const u64 v = words[at / 64] >> at % 64 | (at % 64 && at < 64 ? words[1] << (64 - at % 64) : 0);
        return static_cast<u32>(v & ((u64{1} << n) - 1));
    }
    void put(u32 at, u32 n, u32 value) {
        words[at / 64] |= u64{value} << at % 64;
        if (at < 64 && at + n > 64)
            words[1] |= u64{value} >> (64 - at);
    }
};

Numbers decode_depth(const FormatInfo& f, u64 v) {
    const auto float_of = [](u64 bits) { return static_cast<f64>(std::bit_cast<f32>(static_cast<u32>(bits))); };
    if (f.kind == Kind::Stencil)
        return {0, static_cast<f64>(v & 0xff), 0, 1};
    if (f.bits[0] == 32)
        return {float_of(v), static_cast<f64>(f.kind == Kind::DepthStencil ? v >> 32 & 0xff : 0), 0, 1};
    if (f.bits[0] == 16)
        return {static_cast<f64>(v & 0xffff) / 65535, 0, 0, 1};
    if (f.kind == Kind::DepthStencil) // depth above stencil
        return {static_cast<f64>(v >> 8 & 0xffffff) / 16777215, static_cast<f64>(v & 0xff), 0, 1};
    return {static_cast<f64>(v & 0xffffff) / 16777215, 0, 0, 1};
}

u64 encode_depth(const FormatInfo& f, const Numbers& n) {
    const auto unorm = [&](f64 most) {
        return static_cast<u64>(std::nearbyint(std::clamp(std::isnan(n[0]) ? 0 : n[0], 0.0, 1.0) * most));
    };
    const u64 stencil = f.bits[1] ? static_cast<u64>(std::clamp(std::isnan(n[1]) ? 0 : n[1], 0.0, 255.0)) : 0;
    if (f.kind == Kind::Stencil)
        return stencil;
    if (f.bits[0] == 32)
        return std::bit_cast<u32>(static_cast<f32>(n[0])) | stencil << 32;
    if (f.bits[0] == 16)
        return unorm(65535);
    return f.kind == Kind::DepthStencil ? unorm(16777215) << 8 | stencil : unorm(16777215);
}

bool is_depth_stencil(const FormatInfo& f) {
    return has_depth(f) || has_stencil(f);
}

} // namespace

Numbers decode_texel(const FormatInfo& f, const std::byte* texel) {
    Numbers out{0, 0, 0, 1};
    if (is_compressed(f))
        return out;
    Bits bits;
    std::memcpy(bits.words, texel, f.block_bytes);
    if (is_depth_stencil(f))
        return decode_depth(f, bits.words[0]);
    if (f.kind == Kind::SharedExponent) {
        const auto exponent = static_cast<int>(bits.get(27, 5)) - 15 - 9;
        for (u32 c = 0; c < 3; ++c)
            out[c] = std::ldexp(static_cast<f64>(bits.get(9 * c, 9)), exponent);
        return out;
    }
    u32 at = 0;
    for (std::size_t n = 0; n < 4; ++n) {
        const std::size_t c = field(f.order, n);
        if (f.bits[c] == 0)
            continue;
        out[c] = decode_component(f, bits.get(at, f.bits[c]), f.bits[c]);
        at += f.bits[c];
    }
    return out;
}

void encode_texel(const FormatInfo& f, const Numbers& numbers, std::byte* texel) {
    if (is_compressed(f))
        return;
    Bits bits;
    if (is_depth_stencil(f)) {
        bits.words[0] = encode_depth(f, numbers);
    } else if (f.kind == Kind::SharedExponent) {
        f64 largest = 0;
        Numbers v{};
        for (std::size_t c = 0; c < 3; ++c) {
            v[c] = std::isnan(numbers[c]) ? 0 : std::clamp(numbers[c], 0.0, 65408.0);
            largest = std::max(largest, v[c]);
        }
        int exponent = 0;
        (void)std::frexp(largest, &exponent); // largest < 2^exponent
        exponent = std::max(exponent, -15);
        if (largest > 0 && std::nearbyint(std::ldexp(largest, 9 - exponent)) >= 512)
            ++exponent;
        for (u32 c = 0; c < 3; ++c)
            bits.put(9 * c, 9, static_cast<u32>(std::nearbyint(std::ldexp(v[c], 9 - exponent))));
        bits.put(27, 5, static_cast<u32>(exponent + 15));
    } else {
        u32 at = 0;
        for (std::size_t n = 0; n < 4; ++n) {
            const std::size_t c = field(f.order, n);
            if (f.bits[c] == 0)
                continue;
            bits.put(at, f.bits[c], encode_component(f, numbers[c], f.bits[c]));
            at += f.bits[c];
        }
    }
    std::memcpy(texel, bits.words, f.block_bytes);
}

} // namespace heaviside::texture
