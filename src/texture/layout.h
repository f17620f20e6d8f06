// Where the texels of a texture lie in its storage: block-linear (GOBs of 64 bytes x 8 rows in blocks) and linear.
// Storage sizes are part of the contract with software that packs resources by them, so they follow the console's.
#pragma once

#include "base/result.h"
#include "base/types.h"
#include "texture/format.h"

#include <array>
#include <optional>

namespace heaviside::texture {

// The values are NVNtextureTarget's.
enum class Target : u8 {
    D1,
    D2,
    D3,
    D1Array,
    D2Array,
    D2Multisample,
    D2MultisampleArray,
    Rectangle,
    Cube,
    CubeArray,
    Buffer
};
inline constexpr u32 target_count = 11;

namespace flags { // the bits are NVNtextureFlags's
inline constexpr u32 display = 0x1, video_decode = 0x2, image = 0x4, compressible = 0x8, linear = 0x10, sparse = 0x20,
                     linear_render_target = 0x40, minimal_layout = 0x200;
inline constexpr u32 any_linear = linear | linear_render_target;
} // namespace flags

inline constexpr u32 max_levels = 16;
inline constexpr u32 gob_width = 64; // bytes
inline constexpr u32 gob_height = 8; // rows
inline constexpr u32 gob_bytes = 512;
inline constexpr u32 sparse_tile_bytes = 0x10000;

// What a texture builder holds. Sizes as the API counts them: a 1D array's layers are its height, a 2D, multisample or
// cube array's its depth (cube arrays in faces); a cube has six layers whatever its depth.
struct Description {
    Target target = Target::D2;
    Format format = Format::None;
    u32 width = 1, height = 1, depth = 1;
    u32 levels = 1;
    u32 samples = 1; // 0 counts as 1
    u32 flags = 0;
    u32 stride = 0; // linear textures, bytes; 0: the smallest aligned one
    // Bytes 0 and 1 of NVNpackagedTextureLayout, if the builder was given one: byte 0 = log2 block height (bits 0-3)
    // and log2 block depth (bits 4-7, 3D only), both in GOBs.
    std::optional<u16> packaged = std::nullopt;
    friend bool operator==(const Description&, const Description&) = default;
};

struct Level {
    u32 width = 1, height = 1, depth = 1; // texels
    u32 blocks_x = 1, blocks_y = 1;       // blocks of the format; multisample: samples side by side, as stored
    u32 row_bytes = 0;                    // blocks_x * bytes per block: what a row holds
    u32 gobs_x = 0;                       // stored width in GOBs (block-linear)
    u8 block_height_log2 = 0, block_depth_log2 = 0; // in GOBs
    u64 offset = 0;                                 // from the layer's start, bytes
    u64 size = 0;                                   // bytes stored, padding included
};

struct Layout {
    bool linear = false;
    u8 block_bytes = 0;
    u32 pitch = 0;  // linear: bytes from row to row
    u32 layers = 1; // array layers and cube faces, 1 for 3D
    u32 level_count = 1;
    std::array<Level, max_levels> levels{};
    u64 layer_stride = 0;      // bytes from layer to layer
    u64 size = 0;              // nvnTextureBuilderGetStorageSize
    u32 alignment = gob_bytes; // nvnTextureBuilderGetStorageAlignment
    u32 tiled_levels = 0;      // sparse: levels made of whole 64 KiB tiles; the rest is the layer's mip tail
};

// A sparse tile's extent in texels: 64 KiB in the standard shape of the format.
struct TileShape {
    u32 width = 0, height = 0, depth = 1;
};

// Errors name the field that no texture can have (unknown format, zero width, more than 16384 texels or 2048 layers,
// sample counts other than 1, 2, 4, 8, 16). Zero heights, depths, layers and level counts count as one.
[[nodiscard]] Result<Layout> layout(const Description& description);

// 2D shape, or 3D where `target` is D3. Independent of flags and packaged layouts.
[[nodiscard]] TileShape sparse_tile_shape(Format format, Target target);

// The automatic block height for a texture that is `block_rows` rows of blocks high, log2 of GOBs, 0..4.
[[nodiscard]] u8 automatic_block_height_log2(u32 block_rows);

[[nodiscard]] u32 layer_count(const Description& description);
// Levels that the largest dimension can hold: what a host image can have at most.
[[nodiscard]] u32 full_level_count(const Description& description);

} // namespace heaviside::texture
