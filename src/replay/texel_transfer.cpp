// Texels between guest rows and host images through the CPU: conversion, staging, and storing back.
#include "replay/textures.h"

#include "base/log.h"
#include "replay/texels.h"
#include "texture/decode.h"

#include <algorithm>
#include <cstring>

namespace heaviside::replay {

Result<void> Textures::upload_rows(gpu::Commands& commands, Texture& t, u32 level, u32 layer,
                                   const texture::BlockRegion& region, Bytes rows, const texture::LinearPitch& pitch) {
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
        const VkBufferImageCopy2 copy = copy_of(staging->offset, aspect, level, layer, e);
        VkCopyBufferToImageInfo2 info{.sType = VK_STRUCTURE_TYPE_COPY_BUFFER_TO_IMAGE_INFO_2};
        info.srcBuffer = staging->buffer;
        info.dstImage = t.image.get();
        info.dstImageLayout = gpu::layout_of(*device_, gpu::ImageUse::CopyTarget);
        info.regionCount = 1;
        info.pRegions = &copy;
        device_->vk.vkCmdCopyBufferToImage2(transfer_commands(commands, t), &info);
        if (is_recorded(t))
            commands.barrier();
    }
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
