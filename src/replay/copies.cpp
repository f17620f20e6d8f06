// Copies between buffers and textures, resolves, inline uniform updates.
#include "replay/executor.h"

#include "base/log.h"

#include <algorithm>
#include <cstring>

namespace heaviside::replay {
namespace {

// A region of a view as Vulkan counts it: layers apart from depth.
struct Part {
    u32 level = 0, first_layer = 0, layers = 1;
    VkOffset3D offset{};
    VkExtent3D extent{};
};

Result<Part> part_of(const Texture& t, const stream::ImageDescription& image, const stream::Region& r) {
    const gpu::ImageDescription& d = t.image.description();
    Part p;
    p.level = image.view.first_level;
    if (p.level >= d.levels) // REN-057
        return fail("copy at level {} of a texture of {}", p.level, d.levels);
    if (r.x < 0 || r.y < 0 || r.z < 0 || r.width <= 0 || r.height <= 0 || r.depth <= 0)
        return fail("copy region {},{},{} of {} x {} x {}", r.x, r.y, r.z, r.width, r.height, r.depth);
    p.offset = {r.x, r.y, r.z};
    p.extent = {static_cast<u32>(r.width), static_cast<u32>(r.height), static_cast<u32>(r.depth)};
    p.first_layer = image.view.first_layer;
    if (d.type == VK_IMAGE_TYPE_1D) { // rows are layers (GFX-166)
        p.first_layer += static_cast<u32>(r.y);
        p.layers = static_cast<u32>(r.height);
        p.offset = {r.x, 0, 0};
        p.extent.height = p.extent.depth = 1;
    } else if (d.type == VK_IMAGE_TYPE_2D) {
        p.first_layer += static_cast<u32>(r.z);
        p.layers = static_cast<u32>(r.depth);
        p.offset.z = 0;
        p.extent.depth = 1;
    } else {
        p.first_layer = 0;
    }
    const auto mip = [&p](u32 size) { return std::max(1u, size >> p.level); };
    if (u64{p.first_layer} + p.layers > d.layers || u64(p.offset.x) + p.extent.width > mip(d.extent.width) ||
        u64(p.offset.y) + p.extent.height > mip(d.extent.height) ||
        u64(p.offset.z) + p.extent.depth > mip(d.extent.depth))
        return fail("copy region {},{},{} of {} x {} x {} leaves level {} of a texture of {} x {}, {} layers", r.x, r.y,
                    r.z, r.width, r.height, r.depth, p.level, d.extent.width, d.extent.height, d.layers);
    return p;
}

struct Strides {
    u64 row, image;
};

constexpr u64 largest_stride = u64{1} << 40; // no pool is larger: sums of strides cannot overflow

u64 tight_row(const Texture& t, const Part& p) {
    const texture::FormatInfo& f = texture::info(t.description.format);
    return u64{(p.extent.width + f.block_width - 1) / f.block_width} * f.block_bytes;
}

template <class R>
Strides strides_of(const stream::Record& record, const Texture& t, const Part& p, const stream::Region& r) {
    const texture::FormatInfo& f = texture::info(t.description.format);
    const u64 rows = (static_cast<u32>(r.height) + f.block_height - 1) / f.block_height;
    Strides s{tight_row(t, p), 0};
    const auto given = record.tail<R, stream::CopyStrides>();
    if (!given.empty() && given[0].row)
        s.row = std::min(u64{given[0].row}, largest_stride);
    // Of a 1D array a row is a layer.
    s.image = t.image.description().type == VK_IMAGE_TYPE_1D ? s.row : s.row * rows;
    if (!given.empty() && given[0].image && t.image.description().type != VK_IMAGE_TYPE_1D)
        s.image = std::min(u64{given[0].image}, largest_stride);
    return s;
}

u64 bytes_spanned(const Texture& t, const Part& p, const Strides& s) {
    const texture::FormatInfo& f = texture::info(t.description.format);
    const u64 rows = (p.extent.height + f.block_height - 1) / f.block_height;
    const u64 slices = std::max(p.layers, p.extent.depth);
    return (slices - 1) * s.image + (rows - 1) * s.row + tight_row(t, p);
}

// One region a slice; one a row where Vulkan cannot say the row stride.
std::vector<VkBufferImageCopy2> buffer_regions(const Texture& t, const Part& p, const Strides& s, u64 base) {
    const texture::FormatInfo& f = texture::info(t.description.format);
    std::vector<VkBufferImageCopy2> out;
    const bool by_row = s.row % f.block_bytes != 0 || s.row < tight_row(t, p) || s.row > u64{1} << 31;
    const u32 step = by_row ? f.block_height : p.extent.height;
    const u32 slices = std::max(p.layers, p.extent.depth);
    for (u32 slice = 0; slice < slices; ++slice)
        for (u32 y = 0; y < p.extent.height; y += step) {
            VkBufferImageCopy2 c{.sType = VK_STRUCTURE_TYPE_BUFFER_IMAGE_COPY_2};
            c.bufferOffset = base + slice * s.image + y / f.block_height * s.row;
            c.bufferRowLength = by_row ? 0 : static_cast<u32>(s.row / f.block_bytes * f.block_width);
            const bool layered = p.layers > 1;
            c.imageSubresource = {t.image.aspects(), p.level, p.first_layer + (layered ? slice : 0), 1};
            c.imageOffset = {p.offset.x, p.offset.y + static_cast<i32>(y),
                             p.offset.z + static_cast<i32>(layered ? 0 : slice)};
            c.imageExtent = {p.extent.width, std::min(step, p.extent.height - y), 1};
            out.push_back(c);
        }
    return out;
}

// Block region of one slice of a part.
texture::BlockRegion blocks(const Texture& t, const Part& p, u32 slice) {
    const texture::FormatInfo& f = texture::info(t.description.format);
    return {static_cast<u32>(p.offset.x) / f.block_width,
            static_cast<u32>(p.offset.y) / f.block_height,
            static_cast<u32>(p.offset.z) + (p.layers > 1 ? 0 : slice),
            (p.extent.width + f.block_width - 1) / f.block_width,
            (p.extent.height + f.block_height - 1) / f.block_height,
            1};
}

WrittenPart written(const Texture& t, const Part& p) {
    return Textures::part_of_texels(t, p.level, p.first_layer, p.layers, p.offset, p.extent);
}

VkImageSubresourceLayers layers_of(const Texture& t, const Part& p) {
    return {t.image.aspects(), p.level, p.first_layer, p.layers};
}

void corners(const Part& p, VkOffset3D (&out)[2]) {
    out[0] = p.offset;
    out[1] = {p.offset.x + static_cast<i32>(p.extent.width), p.offset.y + static_cast<i32>(p.extent.height),
              p.offset.z + static_cast<i32>(p.extent.depth)};
}

// Planes of two formats with the same texels in buffers (REN-183): depth, whatever stencil lies beside it, and colour
// of its width.
enum class PlaneLayout : u8 { None, Bits16, Bits24, Bits32 };
PlaneLayout depth_layout(VkFormat f) {
    switch (f) {
    case VK_FORMAT_D16_UNORM:
        return PlaneLayout::Bits16;
    case VK_FORMAT_X8_D24_UNORM_PACK32:
    case VK_FORMAT_D24_UNORM_S8_UINT:
        return PlaneLayout::Bits24;
    case VK_FORMAT_D32_SFLOAT:
    case VK_FORMAT_D32_SFLOAT_S8_UINT:
        return PlaneLayout::Bits32;
    default:
        return PlaneLayout::None;
    }
}
PlaneLayout color_layout(VkFormat f) {
    switch (f) {
    case VK_FORMAT_R16_UNORM:
    case VK_FORMAT_R16_UINT:
        return PlaneLayout::Bits16;
    case VK_FORMAT_R32_SFLOAT:
    case VK_FORMAT_R32_UINT:
        return PlaneLayout::Bits32;
    default:
        return PlaneLayout::None;
    }
}
std::vector<PlanePair> equal_planes(VkFormat from, VkFormat to) {
    const PlaneLayout a = depth_layout(from), b = depth_layout(to);
    if (a != PlaneLayout::None && a == b)
        return {{VK_IMAGE_ASPECT_DEPTH_BIT, VK_IMAGE_ASPECT_DEPTH_BIT}};
    if (a != PlaneLayout::None && a == color_layout(to))
        return {{VK_IMAGE_ASPECT_DEPTH_BIT, VK_IMAGE_ASPECT_COLOR_BIT}};
    if (b != PlaneLayout::None && b == color_layout(from))
        return {{VK_IMAGE_ASPECT_COLOR_BIT, VK_IMAGE_ASPECT_DEPTH_BIT}};
    return {};
}

} // namespace

Texture* Executor::copy_texture(const stream::ImageDescription& image) {
    const auto found = s_.textures->find(image.texture);
    if (!found) {
        log::error_once("copy: {}", found.error().message);
        return nullptr;
    }
    leave_pass();
    if (auto done = s_.textures->refresh(*c_, **found); !done) {
        log::error_once("copy: {}", done.error().message);
        return nullptr;
    }
    s_.textures->mark_recorded(**found);
    return *found;
}

void Executor::copy_buffer(const gpu::BufferSlice& from, const gpu::BufferSlice& to, u64 size) {
    const VkBufferCopy region{from.offset, to.offset, size};
    c_->prepare_transfer();
    s_.device->vk.vkCmdCopyBuffer(c_->handle(), from.buffer, to.buffer, 1, &region);
    c_->barrier();
}

bool Executor::copy_by_buffer(Texture& source, Texture& dest, const VkImageCopy2& region,
                              std::span<const PlanePair> planes) {
    const texture::FormatInfo& f = texture::info(source.description.format);
    const u64 blocks = u64{(region.extent.width + f.block_width - 1) / f.block_width} *
                       ((region.extent.height + f.block_height - 1) / f.block_height) * region.extent.depth *
                       region.srcSubresource.layerCount;
    for (const PlanePair& p : planes) {
        const auto aside = s_.queue->arena().allocate(blocks * std::max<u32>(4, source.format.texel_bytes), 16);
        if (!aside) {
            log::error_once("CopyTextureToTexture: {}", aside.error().message);
            return false;
        }
        VkBufferImageCopy2 c{.sType = VK_STRUCTURE_TYPE_BUFFER_IMAGE_COPY_2};
        c.bufferOffset = aside->offset;
        c.imageSubresource = region.srcSubresource;
        c.imageSubresource.aspectMask = p.from;
        c.imageOffset = region.srcOffset;
        c.imageExtent = region.extent;
        VkCopyImageToBufferInfo2 out{.sType = VK_STRUCTURE_TYPE_COPY_IMAGE_TO_BUFFER_INFO_2};
        out.srcImage = source.image.get();
        out.srcImageLayout = gpu::layout_of(*s_.device, gpu::ImageUse::CopySource);
        out.dstBuffer = aside->buffer;
        out.regionCount = 1;
        out.pRegions = &c;
        c_->prepare_transfer();
        s_.device->vk.vkCmdCopyImageToBuffer2(c_->handle(), &out);
        c_->barrier();
        c.imageSubresource = region.dstSubresource;
        c.imageSubresource.aspectMask = p.to;
        c.imageOffset = region.dstOffset;
        VkCopyBufferToImageInfo2 in{.sType = VK_STRUCTURE_TYPE_COPY_BUFFER_TO_IMAGE_INFO_2};
        in.srcBuffer = aside->buffer;
        in.dstImage = dest.image.get();
        in.dstImageLayout = gpu::layout_of(*s_.device, gpu::ImageUse::CopyTarget);
        in.regionCount = 1;
        in.pRegions = &c;
        c_->prepare_transfer();
        s_.device->vk.vkCmdCopyBufferToImage2(c_->handle(), &in);
        c_->barrier();
    }
    return true;
}

void Executor::on(const stream::CopyBufferToBuffer& r, const Record&) {
    if (!r.size || !commands())
        return;
    leave_pass();
    settle(r.source, r.size);
    settle(r.dest, r.size);
    const auto source = resolve(r.source, r.size), dest = resolve(r.dest, r.size);
    if (!source || !dest)
        return;
    const u64 size = std::min(source->size, dest->size);
    gpu::BufferSlice from = *source;
    if (source->buffer == dest->buffer && source->offset < dest->offset + size &&
        dest->offset < source->offset + size) {
        // Vulkan's result is undefined; here the destination gets what the source held.
        const auto aside = s_.queue->arena().allocate(size, 16);
        if (!aside) {
            log::error_once("CopyBufferToBuffer: {}", aside.error().message);
            return;
        }
        copy_buffer(from, *aside, size);
        from = *aside;
    }
    copy_buffer(from, *dest, size);
    scatter(r.dest, *dest);
    s_.textures->storage_written_by_gpu(r.dest, r.size);
    ++statistics_.copies;
}

void Executor::on(const stream::CopyBufferToTexture& r, const Record& record) {
    if (!commands())
        return;
    Texture* t = copy_texture(r.image);
    if (!t)
        return;
    const auto part = part_of(*t, r.image, r.region);
    if (!part) {
        log::error_once("CopyBufferToTexture: {}", part.error().message);
        return;
    }
    const Strides s = strides_of<stream::CopyBufferToTexture>(record, *t, *part, r.region);
    const u64 size = bytes_spanned(*t, *part, s);
    settle(r.buffer, size);
    s_.textures->mark_gpu_written(*t, written(*t, *part));
    ++statistics_.copies;
    if (t->format.conversion == Conversion::None) {
        const auto source = resolve(r.buffer, size);
        if (!source || source->size < size)
            return;
        const auto regions = buffer_regions(*t, *part, s, source->offset);
        VkCopyBufferToImageInfo2 info{.sType = VK_STRUCTURE_TYPE_COPY_BUFFER_TO_IMAGE_INFO_2};
        info.srcBuffer = source->buffer;
        info.dstImage = t->image.get();
        info.dstImageLayout = gpu::layout_of(*s_.device, gpu::ImageUse::CopyTarget);
        info.regionCount = static_cast<u32>(regions.size());
        info.pRegions = regions.data();
        c_->prepare_transfer();
        s_.device->vk.vkCmdCopyBufferToImage2(c_->handle(), &info);
        c_->barrier();
        return;
    }
    // Converted on the CPU, behind whatever writes the buffer (REN-012).
    settle_for_cpu(r.buffer, size);
    std::vector<std::byte> copy;
    const auto bytes = guest_bytes(r.buffer, size, copy);
    if (!bytes)
        return;
    const u32 slices = std::max(part->layers, part->extent.depth);
    for (u32 slice = 0; slice < slices; ++slice) {
        const u32 layer = part->first_layer + (part->layers > 1 ? slice : 0);
        if (auto done = s_.textures->upload_rows(*c_, *t, part->level, layer, blocks(*t, *part, slice),
                                                 bytes->subspan(slice * s.image), {s.row, s.image});
            !done)
            log::error_once("CopyBufferToTexture: {}", done.error().message);
    }
}

void Executor::on(const stream::CopyTextureToBuffer& r, const Record& record) {
    if (!commands())
        return;
    Texture* t = copy_texture(r.image);
    if (!t)
        return;
    const auto part = part_of(*t, r.image, r.region);
    if (!part) {
        log::error_once("CopyTextureToBuffer: {}", part.error().message);
        return;
    }
    const Strides s = strides_of<stream::CopyTextureToBuffer>(record, *t, *part, r.region);
    const u64 size = bytes_spanned(*t, *part, s);
    settle(r.buffer, size);
    const auto dest = resolve(r.buffer, size);
    if (!dest || dest->size < size)
        return;
    if (t->format.conversion != Conversion::None) {
        // Converted on the CPU when the submission is done: before its fence, but after what else it does.
        const auto bytes = guest_storage(r.buffer, size);
        if (!bytes)
            return;
        const u32 slices = std::max(part->layers, part->extent.depth);
        for (u32 slice = 0; slice < slices; ++slice) {
            const u32 layer = part->first_layer + (part->layers > 1 ? slice : 0);
            auto store = s_.textures->download_rows(*c_, *t, part->level, layer, blocks(*t, *part, slice),
                                                    bytes->subspan(slice * s.image), {s.row, s.image});
            if (store)
                completions_.push_back(s_.textures->defer(r.buffer, size, std::move(*store)));
            else
                log::error_once("CopyTextureToBuffer: {}", store.error().message);
        }
        s_.textures->storage_written_by_gpu(r.buffer, size);
        ++statistics_.copies;
        return;
    }
    const auto regions = buffer_regions(*t, *part, s, dest->offset);
    VkCopyImageToBufferInfo2 info{.sType = VK_STRUCTURE_TYPE_COPY_IMAGE_TO_BUFFER_INFO_2};
    info.srcImage = t->image.get();
    info.srcImageLayout = gpu::layout_of(*s_.device, gpu::ImageUse::CopySource);
    info.dstBuffer = dest->buffer;
    info.regionCount = static_cast<u32>(regions.size());
    info.pRegions = regions.data();
    c_->prepare_transfer();
    s_.device->vk.vkCmdCopyImageToBuffer2(c_->handle(), &info);
    c_->barrier();
    scatter(r.buffer, *dest);
    s_.textures->storage_written_by_gpu(r.buffer, size);
    ++statistics_.copies;
}

void Executor::on(const stream::CopyTextureToTexture& r, const Record&) {
    if (!commands())
        return;
    Texture* source = copy_texture(r.source);
    Texture* dest = copy_texture(r.dest);
    if (!source || !dest)
        return;
    const auto from = part_of(*source, r.source, r.source_region);
    const auto to = part_of(*dest, r.dest, r.dest_region);
    if (!from || !to) {
        log::error_once("CopyTextureToTexture: {}", (from ? to : from).error().message);
        return;
    }
    constexpr u32 linear_filter = 1, mirror_x = 4, mirror_y = 8, mirror_z = 16;
    const texture::FormatInfo& sf = texture::info(r.source.view.format);
    const texture::FormatInfo& df = texture::info(r.dest.view.format);
    const bool same_blocks = from->extent.width * df.block_width == to->extent.width * sf.block_width &&
                             from->extent.height * df.block_height == to->extent.height * sf.block_height;
    const bool compressed = texture::is_compressed(sf) || texture::is_compressed(df);
    const bool mirrored = (r.flags & (mirror_x | mirror_y | mirror_z)) != 0;
    const bool raw = !mirrored &&
                     std::max(from->layers, from->extent.depth) == std::max(to->layers, to->extent.depth) &&
                     (compressed ? same_blocks && sf.block_bytes == df.block_bytes
                                 : from->extent.width == to->extent.width && from->extent.height == to->extent.height &&
                                       source->image.description().format == dest->image.description().format);
    // What Vulkan copies: as many samples on both sides. What it scales or converts: single samples, the same aspects,
    // depth of one format, and integers of one signedness.
    const gpu::ImageDescription& sd = source->image.description();
    const gpu::ImageDescription& dd = dest->image.description();
    const bool depth = !(source->image.aspects() & VK_IMAGE_ASPECT_COLOR_BIT);
    const auto dest_format = static_cast<texture::Format>(r.dest.view.format);
    const shader::NumericClass dest_class = Formats::numeric_class(dest_format);
    const bool scalable = sd.samples == VK_SAMPLE_COUNT_1_BIT && dd.samples == VK_SAMPLE_COUNT_1_BIT &&
                          source->image.aspects() == dest->image.aspects() && (!depth || sd.format == dd.format) &&
                          Formats::can_draw(dest_format) && s_.formats->image(dest_format).blit_target &&
                          Formats::numeric_class(static_cast<texture::Format>(r.source.view.format)) == dest_class;
    const bool possible = raw ? sd.samples == dd.samples : scalable;
    const bool same_size = from->extent.width == to->extent.width && from->extent.height == to->extent.height &&
                           std::max(from->layers, from->extent.depth) == std::max(to->layers, to->extent.depth);
    const auto planes = raw || mirrored || !same_size || sd.samples != VK_SAMPLE_COUNT_1_BIT || dd.samples != sd.samples
                            ? std::vector<PlanePair>{}
                            : equal_planes(sd.format, dd.format);
    if (!possible && planes.empty()) {
        log::error_once("CopyTextureToTexture: format {:#x} with {} samples does not convert to {:#x} with {}",
                        r.source.view.format, static_cast<u32>(sd.samples), r.dest.view.format,
                        static_cast<u32>(dd.samples));
        return;
    }
    s_.textures->mark_gpu_written(*dest, written(*dest, *to));
    ++statistics_.copies;
    VkImageCopy2 region{.sType = VK_STRUCTURE_TYPE_IMAGE_COPY_2};
    region.srcSubresource = layers_of(*source, *from);
    region.srcOffset = from->offset;
    region.dstSubresource = layers_of(*dest, *to);
    region.dstOffset = to->offset;
    region.extent = from->extent;
    if (!planes.empty()) {
        (void)copy_by_buffer(*source, *dest, region, planes);
        return;
    }
    if (raw) {
        if (source == dest && from->level == to->level && sd.samples == VK_SAMPLE_COUNT_1_BIT) {
            std::vector<PlanePair> own;
            for (const VkImageAspectFlags aspect :
                 {VK_IMAGE_ASPECT_COLOR_BIT, VK_IMAGE_ASPECT_DEPTH_BIT, VK_IMAGE_ASPECT_STENCIL_BIT})
                if (dest->image.aspects() & aspect)
                    own.push_back({aspect, aspect});
            (void)copy_by_buffer(*source, *dest, region, own);
            return;
        }
        if (sd.type != dd.type) // layers of one are planes of the other
            region.extent.depth = std::max({from->extent.depth, from->layers, 1u});
        VkCopyImageInfo2 info{.sType = VK_STRUCTURE_TYPE_COPY_IMAGE_INFO_2};
        info.srcImage = source->image.get();
        info.srcImageLayout = gpu::layout_of(*s_.device, gpu::ImageUse::CopySource);
        info.dstImage = dest->image.get();
        info.dstImageLayout = gpu::layout_of(*s_.device, gpu::ImageUse::CopyTarget);
        info.regionCount = 1;
        info.pRegions = &region;
        c_->prepare_transfer();
        s_.device->vk.vkCmdCopyImage2(c_->handle(), &info);
    } else {
        VkOffset3D a[2], b[2];
        corners(*from, a);
        corners(*to, b);
        if (r.flags & mirror_x)
            std::swap(b[0].x, b[1].x);
        if (r.flags & mirror_y)
            std::swap(b[0].y, b[1].y);
        if (r.flags & mirror_z)
            std::swap(b[0].z, b[1].z);
        const bool smooth = (r.flags & linear_filter) && !depth && dest_class == shader::NumericClass::Float;
        blit(source->image, layers_of(*source, *from), a, dest->image, layers_of(*dest, *to), b,
             smooth ? VK_FILTER_LINEAR : VK_FILTER_NEAREST);
    }
    c_->barrier();
}

void Executor::blit(const gpu::Image& source, const VkImageSubresourceLayers& from, const VkOffset3D (&from_corners)[2],
                    const gpu::Image& dest, const VkImageSubresourceLayers& to, const VkOffset3D (&to_corners)[2],
                    VkFilter filter) {
    VkImageBlit2 region{.sType = VK_STRUCTURE_TYPE_IMAGE_BLIT_2};
    region.srcSubresource = from;
    std::copy(std::begin(from_corners), std::end(from_corners), region.srcOffsets);
    region.dstSubresource = to;
    std::copy(std::begin(to_corners), std::end(to_corners), region.dstOffsets);
    VkBlitImageInfo2 info{.sType = VK_STRUCTURE_TYPE_BLIT_IMAGE_INFO_2};
    info.srcImage = source.get();
    info.srcImageLayout = gpu::layout_of(*s_.device, gpu::ImageUse::CopySource);
    info.dstImage = dest.get();
    info.dstImageLayout = gpu::layout_of(*s_.device, gpu::ImageUse::CopyTarget);
    info.regionCount = 1;
    info.pRegions = &region;
    info.filter = filter;
    c_->prepare_transfer();
    s_.device->vk.vkCmdBlitImage2(c_->handle(), &info);
}

void Executor::resolve(const Texture& source, const gpu::Image& dest, const VkImageSubresourceLayers& from,
                       const VkImageSubresourceLayers& to, VkExtent2D extent) {
    VkImageResolve2 region{.sType = VK_STRUCTURE_TYPE_IMAGE_RESOLVE_2};
    region.srcSubresource = from;
    region.dstSubresource = to;
    region.extent = {extent.width, extent.height, 1};
    VkResolveImageInfo2 info{.sType = VK_STRUCTURE_TYPE_RESOLVE_IMAGE_INFO_2};
    info.srcImage = source.image.get();
    info.srcImageLayout = gpu::layout_of(*s_.device, gpu::ImageUse::CopySource);
    info.dstImage = dest.get();
    info.dstImageLayout = gpu::layout_of(*s_.device, gpu::ImageUse::CopyTarget);
    info.regionCount = 1;
    info.pRegions = &region;
    c_->prepare_transfer();
    s_.device->vk.vkCmdResolveImage2(c_->handle(), &info);
    c_->barrier();
}

void Executor::on(const stream::Downsample& r, const Record&) {
    if (!commands())
        return;
    Texture* source = copy_texture(r.source);
    Texture* dest = copy_texture(r.dest);
    if (!source || !dest)
        return;
    const gpu::ImageDescription& s = source->image.description();
    const gpu::ImageDescription& d = dest->image.description();
    if (s.samples == VK_SAMPLE_COUNT_1_BIT) { // scaled into the destination (REN-201)
        stream::CopyTextureToTexture copy{};
        copy.header = stream::header_of<stream::CopyTextureToTexture>;
        copy.flags = 1; // linear
        copy.source = r.source;
        copy.dest = r.dest;
        const auto whole = [](const gpu::ImageDescription& i, u32 level) {
            return stream::Region{0,
                                  0,
                                  0,
                                  static_cast<i32>(std::max(1u, i.extent.width >> level)),
                                  static_cast<i32>(std::max(1u, i.extent.height >> level)),
                                  1};
        };
        copy.source_region = whole(s, r.source.view.first_level);
        copy.dest_region = whole(d, r.dest.view.first_level);
        on(copy, Record(reinterpret_cast<const std::byte*>(&copy)));
        return;
    }
    const bool depth = !(source->image.aspects() & VK_IMAGE_ASPECT_COLOR_BIT);
    const auto numeric = [](const stream::ImageDescription& i) {
        return Formats::numeric_class(static_cast<texture::Format>(i.view.format));
    };
    if (d.samples != VK_SAMPLE_COUNT_1_BIT || source->image.aspects() != dest->image.aspects() ||
        (depth ? s.format != d.format : numeric(r.source) != numeric(r.dest))) {
        log::error_once("Downsample: format {:#x} does not resolve to {:#x} with {} samples", r.source.view.format,
                        r.dest.view.format, static_cast<u32>(d.samples));
        return;
    }
    const u32 level = r.dest.view.first_level, layers = std::min(view_layers(r.source), view_layers(r.dest));
    s_.textures->mark_gpu_written(*dest, Textures::whole_level(*dest, level, r.dest.view.first_layer, layers));
    if (depth) {
        resolve_depth(*source, r.source, *dest, r.dest);
        return;
    }
    const VkImageSubresourceLayers from{VK_IMAGE_ASPECT_COLOR_BIT, 0, r.source.view.first_layer, layers},
        to{VK_IMAGE_ASPECT_COLOR_BIT, level, r.dest.view.first_layer, layers};
    const VkExtent2D in{s.extent.width, s.extent.height},
        out{std::max(1u, d.extent.width >> level), std::max(1u, d.extent.height >> level)};
    ++statistics_.copies;
    if (s.format == d.format && in.width == out.width && in.height == out.height) {
        resolve(*source, dest->image, from, to, in);
        return;
    }
    // Vulkan resolves to the same format and size; the rest is a scaled copy.
    auto aside =
        gpu::create_image(*s_.device, {.format = s.format,
                                       .extent = {in.width, in.height, 1},
                                       .layers = layers,
                                       .usage = VK_IMAGE_USAGE_TRANSFER_SRC_BIT | VK_IMAGE_USAGE_TRANSFER_DST_BIT});
    if (!aside) {
        log::error_once("Downsample: {}", aside.error().message);
        return;
    }
    c_->initialise(*aside);
    const VkImageSubresourceLayers resolved{VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, layers};
    resolve(*source, *aside, from, resolved, in);
    const auto end = [](VkExtent2D e) { return VkOffset3D{static_cast<i32>(e.width), static_cast<i32>(e.height), 1}; };
    blit(*aside, resolved, {{}, end(in)}, dest->image, to, {{}, end(out)},
         numeric(r.dest) == shader::NumericClass::Float ? VK_FILTER_LINEAR : VK_FILTER_NEAREST);
    c_->barrier();
    s_.queue->retire(std::move(*aside));
}

// Vulkan resolves depth at the end of a pass only.
void Executor::resolve_depth(Texture& source, const stream::ImageDescription& from, Texture& dest,
                             const stream::ImageDescription& to) {
    const VkExtent3D s = source.image.description().extent, d = dest.image.description().extent;
    const u32 level = to.view.first_level;
    const u32 layers = std::min(view_layers(from), view_layers(to));
    for (u32 layer = 0; layer < layers; ++layer) {
        VkFormat format = VK_FORMAT_UNDEFINED;
        u32 one = 1;
        const auto read = target_view(source, from, from.view.first_layer + layer, one, format);
        const auto written = target_view(dest, to, to.view.first_layer + layer, one, format);
        if (!read || !written) {
            log::error_once("Downsample: {}", (read ? written : read).error().message);
            return;
        }
        gpu::Pass pass;
        pass.area.extent = {std::min(s.width, std::max(1u, d.width >> level)),
                            std::min(s.height, std::max(1u, d.height >> level))};
        pass.samples = source.image.description().samples;
        const gpu::Attachment attachment{.view = *read, .format = format, .resolve = *written};
        if (source.image.aspects() & VK_IMAGE_ASPECT_DEPTH_BIT)
            pass.depth = attachment;
        if (source.image.aspects() & VK_IMAGE_ASPECT_STENCIL_BIT)
            pass.stencil = attachment;
        c_->begin_pass(pass);
        c_->end_pass();
        c_->barrier();
    }
    ++statistics_.copies;
}

void Executor::on(const stream::UpdateUniformBuffer& r, const Record& record) {
    if (!r.size || !commands())
        return;
    const auto bytes = record.tail<stream::UpdateUniformBuffer, std::byte>();
    const auto slice = s_.queue->arena().push(Bytes(bytes).first(std::min<std::size_t>(r.size, bytes.size())), 16);
    if (!slice)
        return;
    const u64 address = r.address + r.offset;
    if (!s_.gpu_memory->is_virtual(GuestAddress{address}) && !s_.memory->bytes(GuestAddress{address}, slice->size)) {
        log::error_once("UpdateUniformBuffer: {:#x} lies in no memory pool", address);
        return;
    }
    updates_.add(address, *slice, c_->submission(), true);
    g_->dirty |= dirty::uniforms;
    if (!c_->in_pass())
        flush_uniform_updates();
}

void Executor::flush_uniform_updates() {
    if (!updates_.has_deferred())
        return;
    const auto updates = updates_.take_deferred();
    bool first = true;
    for (const UniformUpdates::Update& u : updates) {
        const auto dest = resolve(u.address, u.bytes.size);
        if (!dest || dest->size < u.bytes.size)
            continue;
        if (!first)
            c_->barrier(); // updates of one place land in order (REN-185)
        first = false;
        c_->prepare_transfer();
        const VkBufferCopy region{u.bytes.offset, dest->offset, u.bytes.size};
        s_.device->vk.vkCmdCopyBuffer(c_->handle(), u.bytes.buffer, dest->buffer, 1, &region);
        scatter(u.address, *dest);
    }
    c_->barrier();
    g_->dirty |= dirty::uniforms;
}

} // namespace heaviside::replay
