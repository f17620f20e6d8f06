// Where a picture goes on a surface.
#pragma once

#include "gpu/vulkan.h"

namespace heaviside::present {

enum class Fit : unsigned char {
    Letterbox, // as large as fits, in proportion; bars beside or above and below
    Stretch,   // over all of the surface
    Fill,      // in proportion over all of the surface; what does not fit is cut off evenly
    Integer,   // the largest whole multiple that fits; Letterbox if the picture is larger than the surface
};

// Of a picture of `picture` texels on a surface of `surface` texels, centred. Bars are split evenly, an odd texel goes
// right or below. Fill reaches over the surface's edges. Never empty unless the surface is.
[[nodiscard]] VkRect2D fit(VkExtent2D picture, VkExtent2D surface, Fit mode = Fit::Letterbox);

// What of a picture is copied where, so that nothing lies outside the surface.
struct Placement {
    VkRect2D source, target;
};
[[nodiscard]] Placement place(VkRect2D picture, VkExtent2D surface, Fit mode);

// The part of an image that is shown: the crop cut to the image; all of it if nothing would be left.
[[nodiscard]] VkRect2D clamp_crop(VkRect2D crop, VkExtent2D image);

} // namespace heaviside::present
