// Where a picture goes on a surface: as large as fits, in proportion, centred.
#pragma once

#include "gpu/vulkan.h"

namespace heaviside::present {

// Of a picture of `picture` texels on a surface of `surface` texels. Bars are split evenly, an odd texel goes right or
// below. Never empty unless the surface is.
[[nodiscard]] VkRect2D fit(VkExtent2D picture, VkExtent2D surface);

// The part of an image that is shown: the crop cut to the image; all of it if nothing would be left.
[[nodiscard]] VkRect2D clamp_crop(VkRect2D crop, VkExtent2D image);

} // namespace heaviside::present
