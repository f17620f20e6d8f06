// Every NVN format in one table. What Vulkan calls them is in gpu's and replay's tables: this floor knows memory only.
#pragma once

#include "base/types.h"

#include <array>
#include <string_view>

namespace heaviside::texture {

// The value is NVNformat's.
enum class Format : u16 { None = 0 };
inline constexpr u32 format_count = 0x9d; // values 1 .. 0x9c are defined

enum class Kind : u8 {
    None,
    Unorm,
    Snorm,
    Uint,
    Sint,
    Float,
    UintToFloat,    // integers in memory that a vertex shader reads as floats ("UI2F"); vertex use only
    SintToFloat,    // "I2F"
    SharedExponent, // RGB9E5
    Depth,
    Stencil,
    DepthStencil,
    Block // compressed: BCn, ASTC
};

// Components from the least significant bit (or the first byte) on. Bgra: red and blue exchanged. Abgr: alpha lowest.
enum class Order : u8 { Rgba, Bgra, Abgr };

enum class Compression : u8 { None, Bc1, Bc2, Bc3, Bc4, Bc5, Bc6h, Bc7, Astc };

struct FormatInfo {
    const char* name; // NVN's, without NVN_FORMAT_
    u8 block_bytes;   // bytes of one block; of one texel if not compressed
    u8 block_width;   // texels; 1 if not compressed
    u8 block_height;
    u8 components; // stored components that carry meaning: RGBX8 has 3
    std::array<u8, 4>
        bits; // of red, green, blue, alpha (depth: red = depth, green = stencil); 0 for compressed formats
    Order order;
    Kind kind;
    Compression compression;
    bool srgb;
    bool has_x;     // a stored fourth component that reads as one (RGBX)
    bool is_signed; // Snorm, Sint, SintToFloat, float, and the signed compressed formats
    bool vertex;    // usable as a vertex attribute
};

// The row of a format; values that NVN does not define give the row of None (block_bytes 0).
[[nodiscard]] const FormatInfo& info(Format format);
[[nodiscard]] inline const FormatInfo& info(u32 nvn_format) {
    return info(static_cast<Format>(nvn_format));
}
// By NVN's name without prefix ("RGBA8"); None if there is no such format.
[[nodiscard]] Format format_named(std::string_view name);

[[nodiscard]] inline bool is_valid(Format f) {
    return info(f).block_bytes != 0;
}
[[nodiscard]] inline bool is_compressed(const FormatInfo& f) {
    return f.compression != Compression::None;
}
[[nodiscard]] inline bool has_depth(const FormatInfo& f) {
    return f.kind == Kind::Depth || f.kind == Kind::DepthStencil;
}
[[nodiscard]] inline bool has_stencil(const FormatInfo& f) {
    return f.kind == Kind::Stencil || f.kind == Kind::DepthStencil;
}
[[nodiscard]] inline bool is_integer(const FormatInfo& f) {
    return f.kind == Kind::Uint || f.kind == Kind::Sint;
}

} // namespace heaviside::texture
