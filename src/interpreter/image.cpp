#include "interpreter/image.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

namespace heaviside::interpreter {
namespace {

u32 field(const std::byte* bytes, unsigned texel_bytes, unsigned shift, unsigned width) {
    u64 window = 0;
    const unsigned first = shift / 8;
    std::memcpy(&window, bytes + first, std::min(8u, texel_bytes - first));
    return static_cast<u32>(window >> shift % 8 & ((u64{1} << width) - 1));
}

void put_field(std::byte* bytes, unsigned texel_bytes, unsigned shift, unsigned width, u32 value) {
    u64 window = 0;
    const unsigned first = shift / 8, count = std::min(8u, texel_bytes - first);
    std::memcpy(&window, bytes + first, count);
    const u64 mask = ((u64{1} << width) - 1) << shift % 8;
    window = (window & ~mask) | (u64{value} << shift % 8 & mask);
    std::memcpy(bytes + first, &window, count);
}

// A float of 5 exponent bits and `mantissa` fraction bits, with or without a sign.
f64 small_float(u32 bits, unsigned mantissa, bool has_sign) {
    const u32 fraction = bits & ((1u << mantissa) - 1), exponent = bits >> mantissa & 31;
    const f64 sign = has_sign && bits >> (mantissa + 5) & 1 ? -1.0 : 1.0;
    if (exponent == 31)
        return fraction ? std::nan("") : sign * HUGE_VAL;
    const f64 unit = std::ldexp(1.0, -static_cast<int>(mantissa));
    return exponent == 0 ? sign * std::ldexp(fraction * unit, -14)
                         : sign * std::ldexp(1.0 + fraction * unit, static_cast<int>(exponent) - 15);
}

u32 to_small_float(f64 value, unsigned mantissa, bool has_sign) {
    const u32 infinity = 31u << mantissa;
    const u32 sign = has_sign && std::signbit(value) ? 1u << (mantissa + 5) : 0;
    if (std::isnan(value))
        return infinity | 1u << (mantissa - 1);
    if (!has_sign && value < 0)
        return 0;
    const f64 magnitude = std::fabs(value);
    if (std::isinf(magnitude))
        return sign | infinity;
    const int exponent = std::max(magnitude == 0 ? -14 : std::ilogb(magnitude), -14);
    // In units of the last place; a carry into the next exponent is the right encoding by itself.
    const auto units = static_cast<u32>(std::nearbyint(std::ldexp(magnitude, static_cast<int>(mantissa) - exponent)));
    const u32 encoded = (exponent == -14 && units < 1u << mantissa)
                            ? units
                            : (static_cast<u32>(exponent + 15) << mantissa) + units - (1u << mantissa);
    if (encoded >= infinity) // unsigned formats stop at their largest number, signed ones overflow
        return has_sign ? sign | infinity : infinity - 1;
    return sign | encoded;
}

f64 from_srgb(f64 v) {
    return v <= 0.04045 ? v / 12.92 : std::pow((v + 0.055) / 1.055, 2.4);
}

f64 to_srgb(f64 v) {
    return v <= 0.0031308 ? v * 12.92 : 1.055 * std::pow(v, 1 / 2.4) - 0.055;
}

u32 float_bits(f64 value) {
    return std::bit_cast<u32>(static_cast<f32>(value));
}

u32 decode_channel(const TexelFormat& format, unsigned channel, u32 bits) {
    const unsigned width = format.width[channel];
    switch (format.numeric) {
    case Numeric::Uint:
        return bits;
    case Numeric::Sint:
        return static_cast<u32>(sign_extend(bits, width));
    case Numeric::Unorm: {
        const f64 value = bits / (std::ldexp(1.0, static_cast<int>(width)) - 1);
        return float_bits(format.srgb && channel < 3 ? from_srgb(value) : value);
    }
    case Numeric::Snorm:
        return float_bits(std::max(static_cast<f64>(static_cast<i64>(sign_extend(bits, width))) /
                                       (std::ldexp(1.0, static_cast<int>(width) - 1) - 1),
                                   -1.0));
    case Numeric::Float:
        break;
    }
    if (width == 32)
        return bits;
    return float_bits(width == 16 ? small_float(bits, 10, true) : small_float(bits, width - 5u, false));
}

u32 encode_channel(const TexelFormat& format, unsigned channel, u32 word) {
    const unsigned width = format.width[channel];
    const f64 value = std::bit_cast<f32>(word), largest = std::ldexp(1.0, static_cast<int>(width)) - 1;
    switch (format.numeric) {
    case Numeric::Uint:
        return width == 32 ? word : std::min(word, (1u << width) - 1);
    case Numeric::Sint: {
        const i64 limit = i64{1} << (width - 1);
        return static_cast<u32>(std::clamp<i64>(static_cast<i32>(word), -limit, limit - 1));
    }
    case Numeric::Unorm: {
        const f64 clamped = value > 0 ? std::min(value, 1.0) : 0.0; // NaN: 0
        return static_cast<u32>(std::nearbyint((format.srgb && channel < 3 ? to_srgb(clamped) : clamped) * largest));
    }
    case Numeric::Snorm: {
        const f64 clamped = std::isnan(value) ? 0.0 : std::clamp(value, -1.0, 1.0);
        return static_cast<u32>(static_cast<i32>(std::nearbyint(clamped * std::floor(largest / 2))));
    }
    case Numeric::Float:
        break;
    }
    if (width == 32)
        return word;
    return width == 16 ? to_small_float(value, 10, true) : to_small_float(value, width - 5u, false);
}

// Three mantissas without hidden bits under one exponent of bias 15.
Texel decode_shared_exponent(u32 word) {
    const f64 scale = std::ldexp(1.0, static_cast<int>(word >> 27) - 24);
    Texel texel{};
    for (unsigned i = 0; i < 3; ++i)
        texel[i] = float_bits((word >> 9 * i & 511) * scale);
    texel[3] = float_bits(1);
    return texel;
}

u32 encode_shared_exponent(const Texel& texel) {
    std::array<f64, 3> v{};
    for (unsigned i = 0; i < 3; ++i) {
        const f64 value = std::bit_cast<f32>(texel[i]);
        v[i] = value > 0 ? std::min(value, 65408.0) : 0.0;
    }
    const f64 largest = std::max({v[0], v[1], v[2]});
    int exponent = largest > 0 ? std::max(std::ilogb(largest), -16) + 1 : -15;
    if (std::nearbyint(std::ldexp(largest, 9 - exponent)) == 512)
        ++exponent;
    u32 word = static_cast<u32>(exponent + 15) << 27;
    for (unsigned i = 0; i < 3; ++i)
        word |= static_cast<u32>(std::nearbyint(std::ldexp(v[i], 9 - exponent))) << 9 * i;
    return word;
}

} // namespace

std::optional<TexelFormat> texel_format(std::string_view name) {
    if (name == "RGB10A2")
        return TexelFormat{4, Numeric::Unorm, {10, 10, 10, 2}, false, false};
    if (name == "RGB10A2UI")
        return TexelFormat{4, Numeric::Uint, {10, 10, 10, 2}, false, false};
    if (name == "R11G11B10F")
        return TexelFormat{4, Numeric::Float, {11, 11, 10, 0}, false, false};
    if (name == "RGB9E5")
        return TexelFormat{4, Numeric::Float, {9, 9, 9, 0}, false, true};
    if (name == "D32F")
        return TexelFormat{4, Numeric::Float, {32, 0, 0, 0}, false, false};
    if (name == "D16")
        return TexelFormat{2, Numeric::Unorm, {16, 0, 0, 0}, false, false};
    // R, RG, RGB or RGBA, a width, then the kind.
    TexelFormat format;
    unsigned channels = 0;
    while (channels < 4 && channels < name.size() && name[channels] == "RGBA"[channels])
        ++channels;
    name.remove_prefix(channels);
    unsigned width = 0;
    for (const auto& [text, bits] : {std::pair{"32", 32u}, {"16", 16u}, {"8", 8u}})
        if (width == 0 && name.starts_with(text)) {
            width = bits;
            name.remove_prefix(std::string_view(text).size());
        }
    constexpr std::pair<std::string_view, Numeric> kinds[] = {{"", Numeric::Unorm},  {"SN", Numeric::Snorm},
                                                              {"UI", Numeric::Uint}, {"I", Numeric::Sint},
                                                              {"F", Numeric::Float}, {"_SRGB", Numeric::Unorm}};
    const auto* kind = std::find_if(std::begin(kinds), std::end(kinds), [&](const auto& k) { return k.first == name; });
    if (channels == 0 || width == 0 || kind == std::end(kinds) || (kind->second == Numeric::Float && width == 8) ||
        (width == 32 && (kind->second == Numeric::Unorm || kind->second == Numeric::Snorm)))
        return std::nullopt;
    for (unsigned i = 0; i < 4; ++i)
        format.width[i] = static_cast<u8>(i < channels ? width : 0);
    format.bytes = static_cast<u8>(channels * width / 8);
    format.numeric = kind->second;
    format.srgb = name == "_SRGB";
    return format;
}

Texture::Size Texture::size(u32 level) const {
    const auto shrink = [&](u32 extent) { return level < 32 ? std::max(extent >> level, 1u) : 1u; };
    const bool flat = dimension == TextureDimension::D1 || dimension == TextureDimension::D1Array ||
                      dimension == TextureDimension::Buffer;
    return {shrink(width), flat ? 1 : shrink(height), dimension == TextureDimension::D3 ? shrink(depth) : 1};
}

u64 Texture::byte_size() const {
    u64 texel_count = 0;
    for (u32 level = 0; level < levels; ++level) {
        const Size s = size(level);
        texel_count += u64{s.width} * s.height * s.depth * layers * samples;
    }
    return texel_count * format.bytes;
}

std::optional<u64> Texture::offset(i64 x, i64 y, i64 z, u32 layer, u32 level, u32 sample) const {
    if (width == 0 || level >= levels || layer >= layers || sample >= samples)
        return std::nullopt;
    u64 before = 0;
    for (u32 l = 0; l < level; ++l) {
        const Size s = size(l);
        before += u64{s.width} * s.height * s.depth * layers * samples;
    }
    const Size s = size(level);
    if (x < 0 || y < 0 || z < 0 || x >= s.width || y >= s.height || z >= s.depth)
        return std::nullopt;
    const u64 row = (u64{layer} * s.depth + static_cast<u64>(z)) * s.height + static_cast<u64>(y);
    const u64 at = (before + (row * s.width + static_cast<u64>(x)) * samples + sample) * format.bytes;
    if (at + format.bytes > texels.size())
        return std::nullopt;
    return at;
}

Texel decode_texel(const TexelFormat& format, const std::byte* bytes) {
    if (format.shared_exponent)
        return decode_shared_exponent(field(bytes, 4, 0, 32));
    Texel texel{0, 0, 0, is_integer(format) ? 1 : float_bits(1)};
    unsigned shift = 0;
    for (unsigned i = 0; i < 4; ++i) {
        const unsigned width = format.width[i];
        if (width != 0)
            texel[i] = decode_channel(format, i, field(bytes, format.bytes, shift, width));
        shift += width;
    }
    return texel;
}

void encode_texel(const TexelFormat& format, const Texel& texel, std::byte* bytes) {
    if (format.shared_exponent)
        return put_field(bytes, 4, 0, 32, encode_shared_exponent(texel));
    unsigned shift = 0;
    for (unsigned i = 0; i < 4; ++i) {
        const unsigned width = format.width[i];
        if (width != 0)
            put_field(bytes, format.bytes, shift, width, encode_channel(format, i, texel[i]));
        shift += width;
    }
}

u32 half_bits(f64 value) {
    return to_small_float(value, 10, true);
}

Texel swizzled(const Texture& texture, const Texel& texel) {
    Texel result{};
    for (unsigned i = 0; i < 4; ++i) {
        const Channel channel = texture.swizzle[i];
        if (channel == Channel::One)
            result[i] = is_integer(texture.format) ? 1 : float_bits(1);
        else if (channel != Channel::Zero)
            result[i] = texel[static_cast<std::size_t>(channel)];
    }
    return result;
}

} // namespace heaviside::interpreter
