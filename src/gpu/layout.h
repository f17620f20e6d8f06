// Which layout an image is in, for each use. Everything is GENERAL (no measurable cost on the devices measured, see
// docs/decisions.md); a device where that costs something differs here and nowhere else.
#pragma once

#include "gpu/device.h"

namespace heaviside::gpu {

enum class ImageUse : u8 { Sampled, Storage, ColorTarget, DepthTarget, CopySource, CopyTarget };

[[nodiscard]] constexpr VkImageLayout layout_of(const Device& /*device*/, ImageUse /*use*/) {
    return VK_IMAGE_LAYOUT_GENERAL;
}

} // namespace heaviside::gpu
