// What a texture, a view of it or a sampler is, by value. Records and pool registrations carry these; equal bytes mean
// the same thing, so the bytes (or their hash) are the identity, never the address or serial of the guest's object.
// Layout: little endian, 4-byte aligned, no uninitialised padding: part of the stream and capture formats.
#pragma once

#include "base/types.h"

#include <cstring>
#include <type_traits>

namespace heaviside::stream {

#pragma pack(push, 4)

// Field values are those of the NVN enums (formats, targets, flags).
struct TextureDescription {
    u64 address;       // GPU address of level 0, layer 0; 0: no texture
    u64 size;          // bytes of storage
    u32 width;         // texels; elements of a buffer texture
    u16 height, depth; // as given to the builder: 1D arrays have their layers in height, 2D arrays and cubes in depth
    u16 format;        // NVNformat
    u16 flags;         // NVNtextureFlags
    u8 target;         // NVNtextureTarget
    u8 levels;
    u8 samples;                             // 0 and 1: single sampled
    u8 depth_stencil_mode;                  // NVNtextureDepthStencilMode: what a read of a combined format sees
    u8 swizzle[4];                          // NVNtextureSwizzle, r g b a
    u32 stride;                             // bytes per row of a pitch-linear texture (flag LINEAR), else 0
    u8 block_height_log2, block_depth_log2; // block-linear: GOBs per block at level 0
    u16 pad;                                // 0
    friend bool operator==(const TextureDescription& a, const TextureDescription& b) {
        return std::memcmp(&a, &b, sizeof a) == 0;
    }
};
static_assert(sizeof(TextureDescription) == 44);

// A view with every field resolved against its texture by nvn/: no "as the texture" values are left for readers.
struct ViewDescription {
    u16 format;
    u8 target;
    u8 depth_stencil_mode;
    u8 first_level, level_count;
    u16 first_layer, layer_count; // cubes count faces; 3D textures as attachments: depth planes
    u8 swizzle[4];
    u16 pad; // 0
    friend bool operator==(const ViewDescription& a, const ViewDescription& b) {
        return std::memcmp(&a, &b, sizeof a) == 0;
    }
};
static_assert(sizeof(ViewDescription) == 16);

struct ImageDescription {
    TextureDescription texture;
    ViewDescription view;
    friend bool operator==(const ImageDescription&, const ImageDescription&) = default;
};
static_assert(sizeof(ImageDescription) == 60);

struct SamplerDescription {
    u8 min_filter, mag_filter; // NVNminFilter, NVNmagFilter
    u8 wrap_s, wrap_t, wrap_r; // NVNwrapMode
    u8 compare_mode, compare_func;
    u8 reduction; // NVNsamplerReduction
    f32 max_anisotropy, lod_min, lod_max, lod_bias, lod_snap;
    u32 border[4];    // bits of f32, i32 or u32
    u32 border_class; // 0 float, 1 signed, 2 unsigned
    friend bool operator==(const SamplerDescription& a, const SamplerDescription& b) {
        return std::memcmp(&a, &b, sizeof a) == 0;
    }
};
static_assert(sizeof(SamplerDescription) == 48);

// Texels of the view's first level. 2D-array layers are z and depth, 1D-array layers y and height, as NVNcopyRegion.
struct Region {
    i32 x, y, z, width, height, depth;
};
static_assert(sizeof(Region) == 24);

#pragma pack(pop)

} // namespace heaviside::stream
