// CPU access to texels: reads and writes go straight to the storage, block-linear or linear, on the calling thread.
#include "base/log.h"
#include "nvn/entry_points.h"
#include "nvn/host.h"
#include "nvn/report.h"
#include "nvn/texture_layout.h"
#include "texture/byte_regions.h"

#include <algorithm>
#include <vector>

namespace heaviside::nvn {

namespace {

// A region of one level, by layers.
struct TexelRange {
    texture::Layout layout;
    u32 level = 0;
    u32 first_layer = 0, layer_count = 1;
    texture::BlockRegion blocks; // of each layer
    texture::LinearPitch pitch;  // of the application's rows; slice: from layer to layer as well
};

Result<TexelRange> locate(const Texture& t, const TextureView* view, const NVNcopyRegion* region, i64 row_stride,
                          i64 image_stride) {
    const texture::Description d = storage_description(t);
    auto storage = texture::layout(d);
    if (!storage)
        return tl::unexpected(storage.error());
    if (d.samples > 1)
        return fail("multisample textures have no texels for the CPU");
    TexelRange out;
    out.layout = *storage;
    if (view && (view->set & view_field::levels) && view->first_level >= out.layout.level_count) // REN-057
        return fail("level {} of a texture of {}", u32{view->first_level}, out.layout.level_count);
    const stream::ViewDescription v = describe(t, view, ViewUse::Layers).view;
    out.level = std::min<u32>(v.first_level, out.layout.level_count - 1);
    const texture::Level& level = out.layout.levels[out.level];
    const bool volume = d.target == texture::Target::D3;
    const bool rows_are_layers = d.target == texture::Target::D1Array;

    NVNcopyRegion r{0, 0, 0, static_cast<int>(level.width), static_cast<int>(level.height), v.layer_count};
    if (rows_are_layers)
        r.height = v.layer_count;
    if (region)
        r = *region;
    if (r.xoffset < 0 || r.yoffset < 0 || r.zoffset < 0 || r.width <= 0 || r.height <= 0 || r.depth <= 0)
        return fail("region {},{},{} + {}x{}x{}", r.xoffset, r.yoffset, r.zoffset, r.width, r.height, r.depth);
    if (rows_are_layers) { // layers of 1D arrays are the region's y
        if (!region)
            r.depth = 1;
        std::swap(r.yoffset, r.zoffset);
        std::swap(r.height, r.depth);
    }
    const auto inside = [](int offset, int size, u32 limit) {
        return static_cast<u32>(offset) <= limit && static_cast<u32>(size) <= limit - static_cast<u32>(offset);
    };
    if (!inside(r.xoffset, r.width, level.width) || !inside(r.yoffset, r.height, level.height) ||
        !inside(r.zoffset, r.depth, volume ? level.depth : out.layout.layers - v.first_layer))
        return fail("region {},{},{} + {}x{}x{} is outside level {}", r.xoffset, r.yoffset, r.zoffset, r.width,
                    r.height, r.depth, out.level);

    const texture::FormatInfo& format = texture::info(d.format);
    const auto x = static_cast<u32>(r.xoffset), y = static_cast<u32>(r.yoffset);
    const u32 bw = format.block_width, bh = format.block_height;
    if (x % bw != 0 || y % bh != 0)
        return fail("region begins at {},{}, inside a {}x{} block", x, y, bw, bh);
    out.blocks.x = x / bw;
    out.blocks.y = y / bh;
    out.blocks.width = (x + static_cast<u32>(r.width) + bw - 1) / bw - out.blocks.x;
    out.blocks.height = (y + static_cast<u32>(r.height) + bh - 1) / bh - out.blocks.y;
    if (volume) {
        out.blocks.z = static_cast<u32>(r.zoffset);
        out.blocks.depth = static_cast<u32>(r.depth);
    } else {
        out.first_layer = v.first_layer + static_cast<u32>(r.zoffset);
        out.layer_count = static_cast<u32>(r.depth);
    }
    out.pitch = texture::packed(out.layout, out.blocks);
    if (row_stride < 0 || image_stride < 0)
        return fail("strides {} and {}", row_stride, image_stride);
    if (row_stride)
        out.pitch = {static_cast<u64>(row_stride), static_cast<u64>(row_stride) * out.blocks.height};
    if (image_stride)
        out.pitch.slice = static_cast<u64>(image_stride);
    return out;
}

enum class Access { Read, Write };

// What the sink is told of: the range's bytes in each layer.
template <class Tell>
void for_each_layer_range(const Texture& t, const TexelRange& range, Tell tell) {
    const texture::Level& level = range.layout.levels[range.level];
    const texture::ByteRange bytes = texture::bytes_of_region(range.layout, range.level, range.blocks);
    for (u32 i = 0; i < range.layer_count; ++i)
        tell(t.description.address + (range.first_layer + i) * range.layout.layer_stride + level.offset + bytes.from,
             bytes.to - bytes.from);
}

bool covers_level(const TexelRange& range) {
    const texture::BlockRegion all = texture::whole(range.layout.levels[range.level]);
    return range.blocks.width == all.width && range.blocks.height == all.height && range.blocks.depth == all.depth;
}

Result<void> copy_region(Access access, const TexelRange& range, const texture::Layout& layout, u32 layer,
                         std::span<std::byte> storage, std::span<std::byte> rows) {
    return access == Access::Write
               ? texture::write_region(layout, layer, range.level, range.blocks, storage, rows, range.pitch)
               : texture::read_region(layout, layer, range.level, range.blocks, storage, rows, range.pitch);
}

// In place in a pool with memory; in a virtual pool in a copy of the level, whose changes go back. The pool object is
// not looked at: it may be gone or overwritten (ledger OBJ-095).
Result<void> copy_layer(Access access, const Texture& t, const TexelRange& range, u32 layer,
                        std::span<std::byte> rows) {
    const u64 address = t.description.address;
    const auto& pools = host().virtual_pools;
    if (!pools.contains(address)) { // asked first: a pool that was never ended may have been there before
        const auto storage = guest_memory().bytes(GuestAddress{address}, t.description.size);
        return storage ? copy_region(access, range, range.layout, layer, *storage, rows)
                       : fail("{:#x} is in no memory pool", address);
    }
    texture::Layout level = range.layout; // of these bytes alone
    const u64 begin = address + layer * level.layer_stride + level.levels[range.level].offset;
    level.levels[range.level].offset = 0;
    level.layers = 1;
    level.size = level.layer_stride = level.levels[range.level].size;
    std::vector<std::byte> copy(level.size);
    if (!pools.read(begin, copy))
        return fail("{:#x} is outside its virtual pool", begin);
    if (access == Access::Read)
        return copy_region(access, range, level, 0, copy, rows);
    const std::vector<std::byte> before = copy;
    auto done = copy_region(access, range, level, 0, copy, rows);
    if (done)
        pools.write_changes(begin, before, copy);
    return done;
}

void copy_texels(const char* call, Access access, const NVNtexture* texture, const NVNtextureView* view,
                 const NVNcopyRegion* region, std::byte* rows, i64 row_stride, i64 image_stride) {
    const Texture* t = as_valid(texture, call);
    if (!t)
        return;
    if (!rows) {
        report_error(call, "no texels");
        return;
    }
    const auto range = locate(*t, layout(view), region, row_stride, image_stride);
    if (!range) {
        report_error(call, "{}", range.error().message);
        return;
    }
    // A partial write needs what the GPU wrote around it.
    if (access == Access::Read || !covers_level(*range))
        for_each_layer_range(*t, *range, [](u64 address, u64 size) { sink().memory_read(address, size); });
    const u64 layer_bytes = texture::linear_size(range->layout, range->blocks, range->pitch);
    for (u32 i = 0; i < range->layer_count; ++i) {
        const std::span layer_rows(rows + i * range->pitch.slice, layer_bytes);
        if (auto done = copy_layer(access, *t, *range, range->first_layer + i, layer_rows); !done) {
            report_error(call, "{}", done.error().message);
            return;
        }
    }
    if (access == Access::Write)
        for_each_layer_range(*t, *range, [](u64 address, u64 size) { sink().memory_written(address, size); });
}

} // namespace

void nvnTextureWriteTexels(const NVNtexture* texture, const NVNtextureView* view, const NVNcopyRegion* region,
                           const void* src) {
    nvnTextureWriteTexelsStrided(texture, view, region, src, 0, 0);
}

void nvnTextureWriteTexelsStrided(const NVNtexture* texture, const NVNtextureView* view, const NVNcopyRegion* region,
                                  const void* src, ptrdiff_t rowStride, ptrdiff_t imageStride) {
    // Read only: the two directions share their code.
    auto* rows = const_cast<std::byte*>(static_cast<const std::byte*>(src));
    copy_texels("nvnTextureWriteTexels", Access::Write, texture, view, region, rows, rowStride, imageStride);
}

void nvnTextureReadTexels(const NVNtexture* texture, const NVNtextureView* view, const NVNcopyRegion* region,
                          void* dst) {
    nvnTextureReadTexelsStrided(texture, view, region, dst, 0, 0);
}

void nvnTextureReadTexelsStrided(const NVNtexture* texture, const NVNtextureView* view, const NVNcopyRegion* region,
                                 void* dst, ptrdiff_t rowStride, ptrdiff_t imageStride) {
    copy_texels("nvnTextureReadTexels", Access::Read, texture, view, region, static_cast<std::byte*>(dst), rowStride,
                imageStride);
}

void nvnTextureFlushTexels(const NVNtexture* texture, const NVNtextureView* view, const NVNcopyRegion* region) {
    constexpr auto call = "nvnTextureFlushTexels";
    const Texture* t = as_valid(texture, call);
    if (!t)
        return;
    if (const auto range = locate(*t, layout(view), region, 0, 0))
        for_each_layer_range(*t, *range, [](u64 address, u64 size) { sink().memory_written(address, size); });
    else
        report_error(call, "{}", range.error().message);
}

void nvnTextureInvalidateTexels(const NVNtexture* texture, const NVNtextureView* view, const NVNcopyRegion* region) {
    constexpr auto call = "nvnTextureInvalidateTexels";
    const Texture* t = as_valid(texture, call);
    if (!t)
        return;
    if (const auto range = locate(*t, layout(view), region, 0, 0))
        for_each_layer_range(*t, *range, [](u64 address, u64 size) { sink().memory_read(address, size); });
    else
        report_error(call, "{}", range.error().message);
}

} // namespace heaviside::nvn
