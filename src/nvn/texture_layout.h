// What textures and their builders share: the storage layout of either, and fields of views.
#pragma once

#include "nvn/objects.h"
#include "texture/layout.h"

namespace heaviside::nvn {

[[nodiscard]] texture::Description storage_description(const TextureBuilder& builder);
[[nodiscard]] texture::Description storage_description(const Texture& texture);

// From the storage's start to the first texel of the view's first level and layer (view null: 0), bytes. Levels and
// layers that the texture does not have count as its last.
[[nodiscard]] i64 view_offset(const texture::Layout& layout, const TextureView* view);
[[nodiscard]] u64 zcull_storage_size(u32 width, u32 height);
void fill_sparse_tile_layout(const texture::Description& description, const texture::Layout& layout,
                             NVNtextureSparseTileLayout* out);

inline void read_swizzle(const u8 (&swizzle)[4], NVNtextureSwizzle* r, NVNtextureSwizzle* g, NVNtextureSwizzle* b,
                         NVNtextureSwizzle* a) {
    NVNtextureSwizzle* const out[] = {r, g, b, a};
    for (unsigned i = 0; i < 4; ++i) {
        if (out[i])
            *out[i] = static_cast<NVNtextureSwizzle>(swizzle[i]);
    }
}

} // namespace heaviside::nvn
