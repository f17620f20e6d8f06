// Texels between guest rows and host images through the CPU: conversion, staging, and storing back.
#include "replay/textures.h"

#include "base/log.h"
#include "replay/texels.h"
#include "texture/byte_regions.h"
#include "texture/decode.h"

#include <algorithm>
#include <cstring>

namespace heaviside::replay {

struct Textures::Copies {
    struct Group {
        VkBuffer buffer;
        std::vector<VkBufferImageCopy2> regions;
    };
    std::vector<Group> groups;
    u64 bytes = 0;
    void add(const gpu::BufferSlice& from, VkBufferImageCopy2 region) {
        if (groups.empty() || groups.back().buffer != from.buffer)
            groups.push_back({from.buffer, {}});
        groups.back().regions.push_back(region);
    }
};

void Textures::record(gpu::Commands& commands, const Texture& t, const Copies& copies) {
    for (const Copies::Group& group : copies.groups) {
        VkCopyBufferToImageInfo2 info{.sType = VK_STRUCTURE_TYPE_COPY_BUFFER_TO_IMAGE_INFO_2};
        info.srcBuffer = group.buffer;
        info.dstImage = t.image.get();
        info.dstImageLayout = gpu::layout_of(*device_, gpu::ImageUse::CopyTarget);
        info.regionCount = static_cast<u32>(group.regions.size());
        info.pRegions = group.regions.data();
        device_->vk.vkCmdCopyBufferToImage2(transfer_commands(commands, t), &info);
    }
    if (is_recorded(t) && !copies.groups.empty())
        commands.barrier();
}

Result<void> Textures::stage(Copies& copies, const Texture& t, u32 level, u32 layer, const texture::BlockRegion& region,
                             Bytes rows, const texture::LinearPitch& pitch) {
    const TexelExtent e = texel_extent(t, level, region);
    const bool decode = t.format.conversion == Conversion::DecodeBlocks;
    const u64 units = decode ? u64{e.width} * e.height * e.depth : u64{region.width} * region.height * region.depth;
    if (units == 0)
        return {};
    for (const VkImageAspectFlags aspect : planes(t.image.aspects())) {
        const auto staging = queue_->arena().allocate(units * plane_bytes(t.format, aspect), 16);
        if (!staging)
            return tl::unexpected(staging.error());
        if (decode) {
            const auto format = static_cast<texture::Format>(t.description.format);
            for (u32 z = 0; z < region.depth; ++z)
                if (auto done =
                        texture::decode_blocks(format, e.width, e.height, rows.subspan(z * pitch.slice), pitch.row,
                                               {staging->mapped + u64{z} * e.width * e.height * t.format.texel_bytes,
                                                std::size_t{e.width} * e.height * t.format.texel_bytes});
                    !done)
                    return done;
        } else {
            convert_plane(Texels{&texture::info(t.description.format), t.format}, aspect, region, rows, pitch,
                          staging->mapped);
        }
        copies.add(*staging, copy_of(staging->offset, aspect, level, layer, e));
    }
    return {};
}

Result<void> Textures::stage_stored(Copies& copies, const Texture& t, u32 level, u32 layer,
                                    const texture::BlockRegion& region, Bytes storage) {
    const texture::LinearPitch pitch = texture::packed(t.layout, region);
    const u64 size = texture::linear_size(t.layout, region, pitch);
    copies.bytes += size;
    if (t.format.conversion == Conversion::None && size != 0) { // straight to where the GPU takes it from
        const auto staging = queue_->arena().allocate(size, 16);
        if (!staging)
            return tl::unexpected(staging.error());
        copies.add(*staging, copy_of(staging->offset, t.image.aspects(), level, layer, texel_extent(t, level, region)));
        return texture::read_region(t.layout, layer, level, region, storage, {staging->mapped, size}, pitch);
    }
    std::vector<std::byte> rows(size);
    if (auto read = texture::read_region(t.layout, layer, level, region, storage, rows, pitch); !read)
        return read;
    return stage(copies, t, level, layer, region, rows, pitch);
}

// Below this the CPU is done before the GPU has begun.
constexpr u64 least_gpu_upload = u64{64} << 10;

bool Textures::upload_on_gpu(gpu::Commands& commands, const Texture& t) {
    const texture::Layout& l = t.layout;
    const u32 texel = l.block_bytes;
    if (!shaders_ || l.linear || l.size < least_gpu_upload || t.format.conversion != Conversion::None ||
        16 % std::max(texel, 1u) != 0 || (t.begin() | l.layer_stride) % 16 != 0)
        return false;
    const auto storage = gpu_memory_->resolve(GuestAddress{t.begin()}, l.size);
    if (!storage || storage->size < l.size)
        return false;
    if (!kernels_)
        kernels_ = std::make_unique<gpu::Kernels>(*queue_, *shaders_);
    const texture::FormatInfo& f = texture::info(t.description.format);
    struct Rows {
        u64 offset, size;
        u32 pitch;
    };
    std::vector<Rows> rows;
    u64 total = 0;
    for (u32 level = 0; level < t.image.description().levels; ++level) {
        const u32 pitch = align_up(l.levels[level].row_bytes, 16u);
        rows.push_back({total, u64{pitch} * l.levels[level].blocks_y * l.levels[level].depth * l.layers, pitch});
        total = align_up(total + rows.back().size, u64{256});
    }
    auto buffer = gpu::create_buffer(*device_, total, gpu::MemoryKind::Device, "de-tiled rows");
    if (!buffer)
        return false;
    const bool here = is_recorded(t);
    const auto place = here ? gpu::Commands::Place::Here : gpu::Commands::Place::Prologue;
    std::vector<VkBufferImageCopy2> copies;
    for (u32 level = 0; level < rows.size(); ++level) {
        const texture::Level& at = l.levels[level];
        if (auto done = kernels_->convert_level(commands, place, gpu::Kernels::Direction::ToRows, l, level, *storage,
                                                buffer->slice(rows[level].offset, rows[level].size), rows[level].pitch);
            !done) {
            log::error_once("de-tiling on the GPU: {}", done.error().message);
            queue_->retire(std::move(*buffer));
            return false;
        }
        VkBufferImageCopy2 copy{.sType = VK_STRUCTURE_TYPE_BUFFER_IMAGE_COPY_2};
        copy.bufferOffset = rows[level].offset;
        copy.bufferRowLength = rows[level].pitch / texel * f.block_width;
        copy.bufferImageHeight = at.blocks_y * f.block_height;
        copy.imageSubresource = {t.image.aspects(), level, 0, l.layers};
        copy.imageExtent = {at.width, at.height, at.depth};
        copies.push_back(copy);
    }
    if (here) {
        commands.barrier();
    } else {
        VkMemoryBarrier2 written{.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER_2};
        written.srcStageMask = VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT;
        written.srcAccessMask = VK_ACCESS_2_SHADER_WRITE_BIT;
        written.dstStageMask = VK_PIPELINE_STAGE_2_TRANSFER_BIT;
        written.dstAccessMask = VK_ACCESS_2_TRANSFER_READ_BIT;
        VkDependencyInfo dependency{.sType = VK_STRUCTURE_TYPE_DEPENDENCY_INFO};
        dependency.memoryBarrierCount = 1;
        dependency.pMemoryBarriers = &written;
        device_->vk.vkCmdPipelineBarrier2(commands.prologue(), &dependency);
    }
    VkCopyBufferToImageInfo2 info{.sType = VK_STRUCTURE_TYPE_COPY_BUFFER_TO_IMAGE_INFO_2};
    info.srcBuffer = buffer->whole().buffer;
    info.dstImage = t.image.get();
    info.dstImageLayout = gpu::layout_of(*device_, gpu::ImageUse::CopyTarget);
    info.regionCount = static_cast<u32>(copies.size());
    info.pRegions = copies.data();
    device_->vk.vkCmdCopyBufferToImage2(transfer_commands(commands, t), &info);
    if (here)
        commands.barrier();
    queue_->retire(std::move(*buffer));
    ++statistics_.gpu_uploads;
    return true;
}

Result<void> Textures::upload(gpu::Commands& commands, Texture& t, Bytes storage) {
    ++statistics_.uploads;
    const std::vector<GuestRange> changed = t.storage->take_changed();
    if (changed.size() == 1 && changed[0].size == t.layout.size) {
        t.gpu_written = false;
        if (upload_on_gpu(commands, t)) {
            statistics_.upload_bytes += t.layout.size;
            return {};
        }
    }
    Copies copies;
    for (u32 layer = 0; layer < t.layout.layers; ++layer)
        for (u32 level = 0; level < t.image.description().levels; ++level) {
            const u64 first = layer * t.layout.layer_stride + t.layout.levels[level].offset;
            const u64 end = first + t.layout.levels[level].size;
            auto range = std::partition_point(changed.begin(), changed.end(),
                                              [=](const GuestRange& r) { return r.address + r.size <= first; });
            for (; range != changed.end() && range->address < end; ++range)
                for (const texture::BlockRegion& region :
                     texture::regions_of_bytes(t.layout, level, std::max(range->address, first) - first,
                                               range->address + range->size - first))
                    if (auto done = stage_stored(copies, t, level, layer, region, storage); !done)
                        return done;
        }
    statistics_.upload_bytes += copies.bytes;
    record(commands, t, copies);
    return {};
}

Result<void> Textures::upload_rows(gpu::Commands& commands, Texture& t, u32 level, u32 layer,
                                   const texture::BlockRegion& region, Bytes rows, const texture::LinearPitch& pitch) {
    Copies copies;
    if (auto done = stage(copies, t, level, layer, region, rows, pitch); !done)
        return done;
    record(commands, t, copies);
    return {};
}

Result<std::function<void()>> Textures::download_rows(gpu::Commands& commands, Texture& t, u32 level, u32 layer,
                                                      const texture::BlockRegion& region, texture::MutableBytes rows,
                                                      const texture::LinearPitch& pitch) {
    if (t.format.conversion == Conversion::DecodeBlocks)
        return fail("format {} is kept decoded here: its blocks cannot be copied out",
                    texture::info(t.description.format).name);
    struct Plane {
        VkImageAspectFlags aspect;
        gpu::Buffer buffer;
    };
    auto out = std::make_shared<std::vector<Plane>>();
    const u64 units = u64{region.width} * region.height * region.depth;
    for (const VkImageAspectFlags aspect : planes(t.image.aspects())) {
        auto buffer = gpu::create_buffer(*device_, std::max<u64>(16, units * plane_bytes(t.format, aspect)),
                                         gpu::MemoryKind::Readback, "texture download");
        if (!buffer)
            return tl::unexpected(buffer.error());
        const VkBufferImageCopy2 copy = copy_of(0, aspect, level, layer, texel_extent(t, level, region));
        VkCopyImageToBufferInfo2 info{.sType = VK_STRUCTURE_TYPE_COPY_IMAGE_TO_BUFFER_INFO_2};
        info.srcImage = t.image.get();
        info.srcImageLayout = gpu::layout_of(*device_, gpu::ImageUse::CopySource);
        info.dstBuffer = buffer->whole().buffer;
        info.regionCount = 1;
        info.pRegions = &copy;
        commands.prepare_transfer();
        device_->vk.vkCmdCopyImageToBuffer2(commands.handle(), &info);
        out->push_back({aspect, std::move(*buffer)});
    }
    commands.barrier({.target_stages = VK_PIPELINE_STAGE_2_HOST_BIT, .target_access = VK_ACCESS_2_HOST_READ_BIT});
    return [device = device_, out, what = Texels{&texture::info(t.description.format), t.format}, region, rows, pitch] {
        const texture::BlockRegion packed{0, 0, 0, region.width, region.height, region.depth};
        for (const Plane& plane : *out) {
            gpu::invalidate(*device, plane.buffer);
            restore_plane(what, plane.aspect, packed, plane.buffer.whole().mapped, rows, pitch);
        }
    };
}

} // namespace heaviside::replay
