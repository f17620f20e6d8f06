#include "base/bytes.h"
#include "nvn/entry_points.h"
#include "nvn/report.h"
#include "nvn/texture_layout.h"

#include <algorithm>
#include <cstring>

namespace heaviside::nvn {

texture::Description storage_description(const TextureBuilder& b) {
    texture::Description d;
    d.target = static_cast<texture::Target>(b.target);
    d.format = static_cast<texture::Format>(b.format);
    d.width = static_cast<u32>(b.width);
    d.height = static_cast<u32>(b.height);
    d.depth = static_cast<u32>(b.depth);
    d.levels = static_cast<u32>(b.levels);
    d.samples = static_cast<u32>(b.samples);
    d.flags = b.flags;
    d.stride = static_cast<u32>(b.stride);
    if (b.has_packaged_layout)
        d.packaged = static_cast<u16>(b.packaged_layout[0] | b.packaged_layout[1] << 8);
    return d;
}

namespace {

texture::Layout layout_or_report(const NVNtextureBuilder* builder, const char* call) {
    if (!builder) {
        report_bad_object(call, builder);
        return {};
    }
    auto made = texture::layout(storage_description(*layout(builder)));
    if (made)
        return *made;
    report_error(call, "{}", made.error().message);
    return {};
}

} // namespace

u64 zcull_storage_size(u32 width, u32 height) {
    // Never 0: applications allocate what is answered (console evidence in the ledger's texture area). One byte for
    // each 8 x 8 pixels, in whole pages, is at least what the hardware's coarsest region takes.
    const u64 tiles = u64{(width + 7) / 8} * ((height + 7) / 8);
    return align_up(std::max<u64>(tiles, 1), u64{0x1000});
}

void fill_sparse_tile_layout(const texture::Description& d, const texture::Layout& l, NVNtextureSparseTileLayout* out) {
    const texture::TileShape tile = texture::sparse_tile_shape(d.format, d.target);
    *out = {.numTiledLevels = static_cast<int>(l.tiled_levels),
            .tileWidth = static_cast<int>(tile.width),
            .tileHeight = static_cast<int>(tile.height),
            .tileDepth = static_cast<int>(tile.depth),
            .reserved = {}};
}

void nvnTextureBuilderSetDefaults(NVNtextureBuilder* builder) {
    if (!builder)
        return;
    TextureBuilder& b = *layout(builder);
    NVNdevice* const device = b.device;
    std::memset(&b, 0, sizeof b);
    b.device = device;
    b.width = b.height = b.depth = b.levels = 1;
    b.target = NVN_TEXTURE_TARGET_2D;
    b.swizzle[0] = NVN_TEXTURE_SWIZZLE_R;
    b.swizzle[1] = NVN_TEXTURE_SWIZZLE_G;
    b.swizzle[2] = NVN_TEXTURE_SWIZZLE_B;
    b.swizzle[3] = NVN_TEXTURE_SWIZZLE_A;
}

void nvnTextureBuilderSetDevice(NVNtextureBuilder* builder, NVNdevice* device) {
    if (builder)
        layout(builder)->device = device;
}
const NVNdevice* nvnTextureBuilderGetDevice(const NVNtextureBuilder* builder) {
    return builder ? layout(builder)->device : nullptr;
}

void nvnTextureBuilderSetFlags(NVNtextureBuilder* builder, int flags) {
    if (builder)
        layout(builder)->flags = static_cast<u32>(flags);
}
NVNtextureFlags nvnTextureBuilderGetFlags(const NVNtextureBuilder* builder) {
    return static_cast<NVNtextureFlags>(builder ? layout(builder)->flags : 0);
}

void nvnTextureBuilderSetTarget(NVNtextureBuilder* builder, NVNtextureTarget target) {
    if (builder)
        layout(builder)->target = static_cast<u8>(target);
}
NVNtextureTarget nvnTextureBuilderGetTarget(const NVNtextureBuilder* builder) {
    return builder ? static_cast<NVNtextureTarget>(layout(builder)->target) : NVN_TEXTURE_TARGET_2D;
}

void nvnTextureBuilderSetFormat(NVNtextureBuilder* builder, NVNformat format) {
    if (builder)
        layout(builder)->format = static_cast<u32>(format);
}
NVNformat nvnTextureBuilderGetFormat(const NVNtextureBuilder* builder) {
    return builder ? static_cast<NVNformat>(layout(builder)->format) : NVN_FORMAT_NONE;
}

void nvnTextureBuilderSetWidth(NVNtextureBuilder* builder, int width) {
    if (builder)
        layout(builder)->width = width;
}
int nvnTextureBuilderGetWidth(const NVNtextureBuilder* builder) {
    return builder ? layout(builder)->width : 0;
}

void nvnTextureBuilderSetHeight(NVNtextureBuilder* builder, int height) {
    if (builder)
        layout(builder)->height = height;
}
int nvnTextureBuilderGetHeight(const NVNtextureBuilder* builder) {
    return builder ? layout(builder)->height : 0;
}

void nvnTextureBuilderSetDepth(NVNtextureBuilder* builder, int depth) {
    if (builder)
        layout(builder)->depth = depth;
}
int nvnTextureBuilderGetDepth(const NVNtextureBuilder* builder) {
    return builder ? layout(builder)->depth : 0;
}

void nvnTextureBuilderSetSize1D(NVNtextureBuilder* builder, int size) {
    nvnTextureBuilderSetSize3D(builder, size, 1, 1);
}
void nvnTextureBuilderSetSize2D(NVNtextureBuilder* builder, int width, int height) {
    nvnTextureBuilderSetSize3D(builder, width, height, 1);
}
void nvnTextureBuilderSetSize3D(NVNtextureBuilder* builder, int width, int height, int depth) {
    nvnTextureBuilderSetWidth(builder, width);
    nvnTextureBuilderSetHeight(builder, height);
    nvnTextureBuilderSetDepth(builder, depth);
}

void nvnTextureBuilderSetLevels(NVNtextureBuilder* builder, int numLevels) {
    if (builder)
        layout(builder)->levels = numLevels;
}
int nvnTextureBuilderGetLevels(const NVNtextureBuilder* builder) {
    return builder ? layout(builder)->levels : 0;
}

void nvnTextureBuilderSetSamples(NVNtextureBuilder* builder, int samples) {
    if (builder)
        layout(builder)->samples = samples;
}
int nvnTextureBuilderGetSamples(const NVNtextureBuilder* builder) {
    return builder ? layout(builder)->samples : 0;
}

void nvnTextureBuilderSetSwizzle(NVNtextureBuilder* builder, NVNtextureSwizzle r, NVNtextureSwizzle g,
                                 NVNtextureSwizzle b, NVNtextureSwizzle a) {
    if (!builder)
        return;
    u8* const swizzle = layout(builder)->swizzle;
    swizzle[0] = static_cast<u8>(r);
    swizzle[1] = static_cast<u8>(g);
    swizzle[2] = static_cast<u8>(b);
    swizzle[3] = static_cast<u8>(a);
}
void nvnTextureBuilderGetSwizzle(const NVNtextureBuilder* builder, NVNtextureSwizzle* r, NVNtextureSwizzle* g,
                                 NVNtextureSwizzle* b, NVNtextureSwizzle* a) {
    if (builder)
        read_swizzle(layout(builder)->swizzle, r, g, b, a);
}

void nvnTextureBuilderSetDepthStencilMode(NVNtextureBuilder* builder, NVNtextureDepthStencilMode mode) {
    if (builder)
        layout(builder)->depth_stencil_mode = static_cast<u8>(mode);
}
NVNtextureDepthStencilMode nvnTextureBuilderGetDepthStencilMode(const NVNtextureBuilder* builder) {
    return builder ? static_cast<NVNtextureDepthStencilMode>(layout(builder)->depth_stencil_mode)
                   : NVN_TEXTURE_DEPTH_STENCIL_MODE_DEPTH;
}

void nvnTextureBuilderSetStride(NVNtextureBuilder* builder, ptrdiff_t stride) {
    if (builder)
        layout(builder)->stride = stride;
}
ptrdiff_t nvnTextureBuilderGetStride(const NVNtextureBuilder* builder) {
    return builder ? layout(builder)->stride : 0;
}

void nvnTextureBuilderSetGLTextureName(NVNtextureBuilder* builder, uint32_t name) {
    if (builder)
        layout(builder)->gl_name = name;
}
uint32_t nvnTextureBuilderGetGLTextureName(const NVNtextureBuilder* builder) {
    return builder ? layout(builder)->gl_name : 0;
}

void nvnTextureBuilderSetPackagedTextureLayout(NVNtextureBuilder* builder, const NVNpackagedTextureLayout* packaged) {
    if (!builder)
        return;
    TextureBuilder& b = *layout(builder);
    b.has_packaged_layout = packaged != nullptr;
    std::memset(b.packaged_layout, 0, sizeof b.packaged_layout);
    if (packaged)
        std::memcpy(b.packaged_layout, packaged, sizeof b.packaged_layout);
}
NVNboolean nvnTextureBuilderGetPackagedTextureLayout(const NVNtextureBuilder* builder,
                                                     NVNpackagedTextureLayout* packaged) {
    if (!builder || !layout(builder)->has_packaged_layout)
        return NVN_FALSE;
    if (packaged)
        std::memcpy(packaged, layout(builder)->packaged_layout, sizeof *packaged);
    return NVN_TRUE;
}

void nvnTextureBuilderSetPackagedTextureData(NVNtextureBuilder* builder, const void* data) {
    if (builder)
        layout(builder)->packaged_data = data;
}
const void* nvnTextureBuilderGetPackagedTextureData(const NVNtextureBuilder* builder) {
    return builder ? layout(builder)->packaged_data : nullptr;
}

void nvnTextureBuilderSetStorage(NVNtextureBuilder* builder, NVNmemoryPool* pool, ptrdiff_t offset) {
    if (!builder)
        return;
    layout(builder)->pool = pool;
    layout(builder)->offset = offset;
}
NVNmemoryPool* nvnTextureBuilderGetMemoryPool(const NVNtextureBuilder* builder) {
    return builder ? layout(builder)->pool : nullptr;
}
ptrdiff_t nvnTextureBuilderGetMemoryOffset(const NVNtextureBuilder* builder) {
    return builder ? layout(builder)->offset : 0;
}

size_t nvnTextureBuilderGetStorageSize(const NVNtextureBuilder* builder) {
    return layout_or_report(builder, "nvnTextureBuilderGetStorageSize").size;
}
size_t nvnTextureBuilderGetStorageAlignment(const NVNtextureBuilder* builder) {
    return layout_or_report(builder, "nvnTextureBuilderGetStorageAlignment").alignment;
}
size_t nvnTextureBuilderGetZCullStorageSize(const NVNtextureBuilder* builder) {
    return builder
               ? zcull_storage_size(static_cast<u32>(layout(builder)->width), static_cast<u32>(layout(builder)->height))
               : 0;
}

// One page kind serves every format here: virtual pools need not tell them apart (ledger OBJ-239).
NVNstorageClass nvnTextureBuilderGetStorageClass(const NVNtextureBuilder*) {
    return NVN_RAW_STORAGE_CLASS_LINEAR;
}
NVNrawStorageClass nvnTextureBuilderGetRawStorageClass(const NVNtextureBuilder*) {
    return NVN_RAW_STORAGE_CLASS_LINEAR;
}

void nvnTextureBuilderGetSparseTileLayout(const NVNtextureBuilder* builder, NVNtextureSparseTileLayout* out) {
    constexpr auto call = "nvnTextureBuilderGetSparseTileLayout";
    if (!out)
        return;
    if (!builder) {
        report_bad_object(call, builder);
        return;
    }
    texture::Description d = storage_description(*layout(builder));
    d.flags |= texture::flags::sparse;
    if (const auto made = texture::layout(d))
        fill_sparse_tile_layout(d, *made, out);
    else
        report_error(call, "{}", made.error().message);
}

ptrdiff_t nvnTextureBuilderGetViewOffset(const NVNtextureBuilder* builder, const NVNtextureView* view) {
    const texture::Layout made = layout_or_report(builder, "nvnTextureBuilderGetViewOffset");
    return made.size ? view_offset(made, layout(view)) : 0;
}

} // namespace heaviside::nvn
