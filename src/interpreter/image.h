// Textures, samplers and their handles, as the machine's texture units see them: plain data that a caller fills.
#pragma once

#include "base/bytes.h"
#include "base/result.h"

#include <array>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace heaviside::interpreter {

enum class TextureDimension : u8 { D1, D1Array, D2, D2Array, D3, Cube, CubeArray, Buffer, D2Multisample };

enum class Numeric : u8 { Unorm, Snorm, Uint, Sint, Float };

// A texel's layout: its channels from bit 0 up, in the order r, g, b, a (other orders: Texture::swizzle). A channel of
// width 0 is absent and reads 0, alpha 1. Floats have 32, 16, 11 or 10 bits.
struct TexelFormat {
    u8 bytes = 4;
    Numeric numeric = Numeric::Unorm;
    std::array<u8, 4> width{8, 8, 8, 8};
    bool srgb = false;            // r, g, b are decoded when read and encoded when written
    bool shared_exponent = false; // three 9-bit mantissas under one 5-bit exponent; width is {9, 9, 9, 0}
};

// By the names of memory layouts: "RGBA8", "R32UI", "RG16F", "D32F", "RGB10A2", "R11G11B10F", "RGB9E5", "RGBA8_SRGB",
// "RGBA8SN", ... Nothing for others.
[[nodiscard]] std::optional<TexelFormat> texel_format(std::string_view name);

// Where a channel of what the program sees comes from.
enum class Channel : u8 { R, G, B, A, Zero, One };

// Texels lie level by level; in a level layer by layer (6 per cube), then z, y, x, sample; tightly packed.
struct Texture {
    TextureDimension dimension = TextureDimension::D2;
    TexelFormat format;
    u32 width = 0, height = 1, depth = 1; // of level 0; width 0: no texture, reads 0 and drops stores
    u32 layers = 1;                       // array layers; 6 per cube
    u32 levels = 1, samples = 1;
    bool normalized = true; // coordinates of sampled accesses count in sizes, not in texels
    std::array<Channel, 4> swizzle{Channel::R, Channel::G, Channel::B, Channel::A};
    std::vector<std::byte> texels;

    struct Size {
        u32 width, height, depth;
    };
    [[nodiscard]] Size size(u32 level) const; // each at least 1
    // Bytes of all levels.
    [[nodiscard]] u64 byte_size() const;
    // Of a texel in `texels`; nothing outside the texture or the stored bytes. Negative numbers are outside.
    [[nodiscard]] std::optional<u64> offset(i64 x, i64 y, i64 z, u32 layer, u32 level, u32 sample) const;
};

// Four register words: floats, or integers as they are.
using Texel = std::array<u32, 4>;
// From memory order to r, g, b, a; no swizzle.
[[nodiscard]] Texel decode_texel(const TexelFormat& format, const std::byte* bytes);
// The inverse for stores: floats are clamped and rounded to nearest even, integers saturate to the channel's width.
void encode_texel(const TexelFormat& format, const Texel& texel, std::byte* bytes);
// A half, rounded to nearest even.
[[nodiscard]] u32 half_bits(f64 value);
[[nodiscard]] Texel swizzled(const Texture& texture, const Texel& texel);
[[nodiscard]] constexpr bool is_integer(const TexelFormat& format) {
    return format.numeric == Numeric::Uint || format.numeric == Numeric::Sint;
}

enum class Wrap : u8 { Repeat, Mirror, ClampToEdge, ClampToBorder, Clamp, MirrorToEdge, MirrorToBorder, MirrorClamp };
enum class Filter : u8 { Nearest, Linear };
enum class MipFilter : u8 { None, Nearest, Linear };
enum class DepthTest : u8 { Never, Less, Equal, LessEqual, Greater, NotEqual, GreaterEqual, Always };
enum class Reduction : u8 { Average, Min, Max };

struct Sampler {
    std::array<Wrap, 3> wrap{};
    Filter magnify = Filter::Nearest, minify = Filter::Nearest;
    MipFilter mip = MipFilter::None;
    f32 lod_bias = 0, min_lod = 0, max_lod = 15;
    DepthTest depth_test = DepthTest::LessEqual; // for .DC
    u32 anisotropy = 1;                          // samples at most
    bool seamless = true;                        // cube faces filter into each other
    Reduction reduction = Reduction::Average;
    Texel border{}; // words as a texel's after decoding
};

// What handles name. A handle holds a texture ID in bits 0-19 and a sampler ID in bits 20-31. IDs past the end name an
// empty texture, or a sampler with the defaults above.
struct TextureUnits {
    u8 handle_bank = 0; // the bank whose word n the immediate handle n is
    std::span<Texture> textures;
    std::span<const Sampler> samplers;
};

} // namespace heaviside::interpreter
