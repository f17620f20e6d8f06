#include "nvn/entry_points.h"
#include "nvn/host.h"
#include "nvn/labels.h"
#include "nvn/mapped.h"
#include "nvn/report.h"
#include "nvn/texture_layout.h"
#include "texture/tiling.h"

#include <algorithm>
#include <cstring>
#include <limits>

namespace heaviside::nvn {

texture::Description storage_description(const Texture& t) {
    texture::Description d;
    d.target = static_cast<texture::Target>(t.description.target);
    d.format = static_cast<texture::Format>(t.description.format);
    d.width = t.description.width;
    d.height = t.description.height;
    d.depth = t.description.depth;
    d.levels = t.description.levels;
    d.samples = t.description.samples;
    d.flags = t.description.flags;
    d.stride = t.description.stride;
    if (t.packaged)
        d.packaged = static_cast<u16>(t.packaged);
    return d;
}

i64 view_offset(const texture::Layout& layout, const TextureView* view) {
    if (!view)
        return 0;
    const u32 level = std::min<u32>(view->first_level, layout.level_count - 1);
    const texture::Level& l = layout.levels[level];
    u64 offset = l.offset;
    if (l.depth > 1 || layout.levels[0].depth > 1) { // 3D: layers are depth slices
        const u32 z = std::min<u32>(view->first_layer, l.depth - 1);
        offset += layout.linear ? u64{z} * layout.pitch * l.height
                                : texture::tiled_offset(l, texture::GobOrder::TegraX1, 0, 0, z);
    } else {
        offset += u64{std::min<u32>(view->first_layer, layout.layers - 1)} * layout.layer_stride;
    }
    return static_cast<i64>(offset);
}

namespace {

constexpr u32 faces_per_cube = 6;

bool is_cube(u8 target) {
    return target == NVN_TEXTURE_TARGET_CUBEMAP || target == NVN_TEXTURE_TARGET_CUBEMAP_ARRAY;
}

// Layers of a view whose target is a cube, in faces. A count that is no multiple of six counts cubes, if the texture
// holds that many faces (ledger REN-025); otherwise the view is one of a 2D array.
void resolve_cube_layers(u32 texture_layers, stream::ViewDescription& view) {
    const u32 first = view.first_layer, count = view.layer_count;
    if (count % faces_per_cube == 0)
        return;
    if ((first + count) * faces_per_cube <= texture_layers) {
        view.first_layer = static_cast<u16>(first * faces_per_cube);
        view.layer_count = static_cast<u16>(count * faces_per_cube);
        return;
    }
    report_error("texture view", "{} layers from {} on of {} are no cubes", count, first, texture_layers);
    view.target = NVN_TEXTURE_TARGET_2D_ARRAY;
}

} // namespace

stream::ImageDescription describe(const Texture& texture, const TextureView* view, ViewUse use) {
    const stream::TextureDescription& t = texture.description;
    const bool volume = t.target == NVN_TEXTURE_TARGET_3D;
    const u32 levels = std::max<u32>(t.levels, 1);
    const u16 set = view ? view->set : 0;
    stream::ImageDescription out{};
    out.texture = t;
    stream::ViewDescription& v = out.view;
    v.format = set & view_field::format ? view->format : t.format;
    v.target = set & view_field::target ? view->target : t.target;
    v.depth_stencil_mode = set & view_field::depth_stencil_mode ? view->depth_stencil_mode : t.depth_stencil_mode;
    std::memcpy(v.swizzle, set & view_field::swizzle ? view->swizzle : t.swizzle, sizeof v.swizzle);

    v.level_count = static_cast<u8>(levels);
    if (set & view_field::levels) {
        v.first_level = static_cast<u8>(std::min<u32>(view->first_level, levels - 1));
        v.level_count = static_cast<u8>(std::clamp<u32>(view->level_count, 1, levels - v.first_level));
    }
    const u32 layers =
        volume ? std::max(1, t.depth >> v.first_level) : texture::layer_count(storage_description(texture));
    v.layer_count = static_cast<u16>(layers);
    if (set & view_field::layers) {
        v.first_layer = view->first_layer;
        v.layer_count = std::max<u16>(view->layer_count, 1);
        if (is_cube(v.target) && use == ViewUse::Sampled)
            resolve_cube_layers(layers, v);
        v.first_layer = static_cast<u16>(std::min<u32>(v.first_layer, layers - 1));
        v.layer_count = static_cast<u16>(std::min<u32>(v.layer_count, layers - v.first_layer));
    }
    return out;
}

// --- Texture ---

NVNboolean nvnTextureInitialize(NVNtexture* texture, const NVNtextureBuilder* builder) {
    constexpr auto call = "nvnTextureInitialize";
    if (!texture || !builder) {
        report_bad_object(call, nullptr);
        return NVN_FALSE;
    }
    const TextureBuilder b = *layout(builder);
    const MemoryPool* pool = as_mapped_valid(b.pool, call);
    if (!pool)
        return NVN_FALSE;
    const auto storage = texture::layout(storage_description(b));
    if (!storage) {
        report_error(call, "{}", storage.error().message);
        return NVN_FALSE;
    }
    const u64 offset = static_cast<u64>(b.offset);
    if (offset > pool->size || storage->size > pool->size - offset) {
        report_error(call, "{:#x} bytes at {:#x} of a pool of {:#x}", storage->size, b.offset, pool->size);
        return NVN_FALSE;
    }
    Texture t{};
    t.magic = magic::texture;
    if (b.has_packaged_layout)
        t.packaged = 0x10000u | b.packaged_layout[0] | u32{b.packaged_layout[1]} << 8;
    t.serial = host().next_serial++;
    t.pool = b.pool;
    t.offset = b.offset;
    stream::TextureDescription& d = t.description;
    d.address = pool->address + offset;
    d.size = storage->size;
    d.width = static_cast<u32>(b.width);
    d.height = static_cast<u16>(b.height);
    d.depth = static_cast<u16>(b.depth);
    d.format = static_cast<u16>(b.format);
    d.flags = static_cast<u16>(b.flags);
    d.target = b.target;
    d.levels = static_cast<u8>(std::max(b.levels, 1));
    d.samples = static_cast<u8>(b.samples);
    d.depth_stencil_mode = b.depth_stencil_mode;
    std::memcpy(d.swizzle, b.swizzle, sizeof d.swizzle);
    d.stride = storage->linear ? storage->pitch : 0;
    d.block_height_log2 = storage->levels[0].block_height_log2;
    d.block_depth_log2 = storage->levels[0].block_depth_log2;
    const bool copies = b.packaged_data && pool->memory && b.packaged_data != pool->memory + offset;
    u8 byte = 0;
    if (const u64 data = reinterpret_cast<u64>(b.packaged_data);
        copies && (!copy_mapped(&byte, data, 1) || !copy_mapped(&byte, data + storage->size - 1, 1))) {
        report_error(call, "packaged data at {:#x} is not mapped", data);
        return NVN_FALSE;
    }
    *layout(texture) = t;

    if (copies) {
        std::memmove(pool->memory + offset, b.packaged_data, storage->size);
        sink().memory_written(d.address, d.size);
    }
    return NVN_TRUE;
}

// Only this object ends: copies of it, and what pools and records took from it, go on.
void nvnTextureFinalize(NVNtexture* texture) {
    if (Texture* t = as_valid(texture, "nvnTextureFinalize"))
        *t = {};
}

void nvnTextureSetDebugLabel(NVNtexture* object, const char* label) {
    set_label(object, label, __func__);
}

uint64_t nvnTextureGetDebugID(const NVNtexture* texture) {
    const Texture* t = as_valid(texture, "nvnTextureGetDebugID");
    return t ? t->serial : 0;
}
NVNtextureTarget nvnTextureGetTarget(const NVNtexture* texture) {
    const Texture* t = as_valid(texture, "nvnTextureGetTarget");
    return static_cast<NVNtextureTarget>(t ? t->description.target : 0);
}
NVNformat nvnTextureGetFormat(const NVNtexture* texture) {
    const Texture* t = as_valid(texture, "nvnTextureGetFormat");
    return static_cast<NVNformat>(t ? t->description.format : 0);
}
NVNtextureFlags nvnTextureGetFlags(const NVNtexture* texture) {
    const Texture* t = as_valid(texture, "nvnTextureGetFlags");
    return static_cast<NVNtextureFlags>(t ? t->description.flags : 0);
}
int nvnTextureGetWidth(const NVNtexture* texture) {
    const Texture* t = as_valid(texture, "nvnTextureGetWidth");
    return t ? static_cast<int>(t->description.width) : 0;
}
int nvnTextureGetHeight(const NVNtexture* texture) {
    const Texture* t = as_valid(texture, "nvnTextureGetHeight");
    return t ? t->description.height : 0;
}
int nvnTextureGetDepth(const NVNtexture* texture) {
    const Texture* t = as_valid(texture, "nvnTextureGetDepth");
    return t ? t->description.depth : 0;
}
int nvnTextureGetLevels(const NVNtexture* texture) {
    const Texture* t = as_valid(texture, "nvnTextureGetLevels");
    return t ? t->description.levels : 0;
}
int nvnTextureGetSamples(const NVNtexture* texture) {
    const Texture* t = as_valid(texture, "nvnTextureGetSamples");
    return t ? t->description.samples : 0;
}
ptrdiff_t nvnTextureGetStride(const NVNtexture* texture) {
    const Texture* t = as_valid(texture, "nvnTextureGetStride");
    return t ? t->description.stride : 0;
}
NVNtextureDepthStencilMode nvnTextureGetDepthStencilMode(const NVNtexture* texture) {
    const Texture* t = as_valid(texture, "nvnTextureGetDepthStencilMode");
    return static_cast<NVNtextureDepthStencilMode>(t ? t->description.depth_stencil_mode : 0);
}
void nvnTextureGetSwizzle(const NVNtexture* texture, NVNtextureSwizzle* r, NVNtextureSwizzle* g, NVNtextureSwizzle* b,
                          NVNtextureSwizzle* a) {
    if (const Texture* t = as_valid(texture, "nvnTextureGetSwizzle"))
        read_swizzle(t->description.swizzle, r, g, b, a);
}
NVNmemoryPool* nvnTextureGetMemoryPool(const NVNtexture* texture) {
    const Texture* t = as_valid(texture, "nvnTextureGetMemoryPool");
    return t ? t->pool : nullptr;
}
ptrdiff_t nvnTextureGetMemoryOffset(const NVNtexture* texture) {
    const Texture* t = as_valid(texture, "nvnTextureGetMemoryOffset");
    return t ? t->offset : 0;
}
NVNtextureAddress nvnTextureGetTextureAddress(const NVNtexture* texture) {
    const Texture* t = as_valid(texture, "nvnTextureGetTextureAddress");
    return t ? t->description.address : 0;
}
int nvnTextureGetStorageSize(const NVNtexture* texture) {
    const Texture* t = as_valid(texture, "nvnTextureGetStorageSize");
    return t ? static_cast<int>(t->description.size) : 0;
}
NVNstorageClass nvnTextureGetStorageClass(const NVNtexture*) {
    return NVN_RAW_STORAGE_CLASS_LINEAR;
}
NVNrawStorageClass nvnTextureGetRawStorageClass(const NVNtexture*) {
    return NVN_RAW_STORAGE_CLASS_LINEAR;
}
size_t nvnTextureGetZCullStorageSize(const NVNtexture* texture) {
    const Texture* t = as_valid(texture, "nvnTextureGetZCullStorageSize");
    return t ? zcull_storage_size(t->description.width, t->description.height) : 0;
}

void nvnTextureGetSparseTileLayout(const NVNtexture* texture, NVNtextureSparseTileLayout* out) {
    const Texture* t = as_valid(texture, "nvnTextureGetSparseTileLayout");
    if (!t || !out)
        return;
    texture::Description d = storage_description(*t);
    d.flags |= texture::flags::sparse;
    if (const auto made = texture::layout(d))
        fill_sparse_tile_layout(d, *made, out);
}

ptrdiff_t nvnTextureGetViewOffset(const NVNtexture* texture, const NVNtextureView* view) {
    const Texture* t = as_valid(texture, "nvnTextureGetViewOffset");
    const auto made = t ? texture::layout(storage_description(*t)) : Result<texture::Layout>(fail("no texture"));
    return made ? view_offset(*made, layout(view)) : 0;
}

NVNboolean nvnTextureCompare(const NVNtexture* texture1, const NVNtexture* texture2) {
    constexpr auto call = "nvnTextureCompare";
    const Texture* a = as_valid(texture1, call);
    const Texture* b = as_valid(texture2, call);
    return boolean(a && b && a->packaged == b->packaged && a->description == b->description);
}

} // namespace heaviside::nvn
