// Texels of guest rows and of host images: what differs between the two, and which texels a command names.
#pragma once

#include "replay/textures.h"

#include <vector>

namespace heaviside::replay {

struct Texels { // on both sides
    const texture::FormatInfo* guest;
    ImageFormat host;
};

// The aspects that Vulkan copies one by one, and the bytes of a host texel of one.
[[nodiscard]] std::vector<VkImageAspectFlags> planes(VkImageAspectFlags aspects);
[[nodiscard]] u32 plane_bytes(const ImageFormat& host, VkImageAspectFlags aspect);

// One packed plane of host texels from guest rows. Not for blocks that are decoded.
void convert_plane(const Texels& t, VkImageAspectFlags aspect, const texture::BlockRegion& r, Bytes rows,
                   const texture::LinearPitch& pitch, std::byte* out);
// The exact inverse, into guest rows that hold what the other plane left there.
void restore_plane(const Texels& t, VkImageAspectFlags aspect, const texture::BlockRegion& r, const std::byte* in,
                   texture::MutableBytes rows, const texture::LinearPitch& pitch);

struct TexelExtent {
    u32 x, y, z, width, height, depth;
};
[[nodiscard]] TexelExtent texel_extent(const Texture& t, u32 level, const texture::BlockRegion& r);
[[nodiscard]] VkBufferImageCopy2 copy_of(u64 offset, VkImageAspectFlags aspect, u32 level, u32 layer,
                                         const TexelExtent& e);

} // namespace heaviside::replay
