#include "present/blit.h"

#include <utility>

namespace heaviside::present {

void blit(gpu::Commands& commands, const gpu::Device& device, VkImage image, const VkRect2D& source, bool flip_y,
          VkImage target, const VkRect2D& place) {
    const i32 left = source.offset.x, right = left + static_cast<i32>(source.extent.width);
    i32 top = source.offset.y, bottom = top + static_cast<i32>(source.extent.height);
    if (flip_y)
        std::swap(top, bottom);
    const VkImageSubresourceLayers color{VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1};
    VkImageBlit2 region{VK_STRUCTURE_TYPE_IMAGE_BLIT_2};
    region.srcSubresource = region.dstSubresource = color;
    region.srcOffsets[0] = {left, top, 0};
    region.srcOffsets[1] = {right, bottom, 1};
    region.dstOffsets[0] = {place.offset.x, place.offset.y, 0};
    region.dstOffsets[1] = {place.offset.x + static_cast<i32>(place.extent.width),
                            place.offset.y + static_cast<i32>(place.extent.height), 1};
    const bool same_size = source.extent.width == place.extent.width && source.extent.height == place.extent.height;
    VkBlitImageInfo2 info{VK_STRUCTURE_TYPE_BLIT_IMAGE_INFO_2};
    info.srcImage = image;
    info.dstImage = target;
    info.srcImageLayout = info.dstImageLayout = VK_IMAGE_LAYOUT_GENERAL;
    info.regionCount = 1;
    info.pRegions = &region;
    info.filter = same_size ? VK_FILTER_NEAREST : VK_FILTER_LINEAR;
    device.vk.vkCmdBlitImage2(commands.handle(), &info);
}

} // namespace heaviside::present
