#include "present/fit.h"

#include "base/types.h"

#include <algorithm>

namespace heaviside::present {

VkRect2D fit(VkExtent2D picture, VkExtent2D surface) {
    if (picture.width == 0 || picture.height == 0)
        return {{0, 0}, surface};
    VkExtent2D size = surface;
    // Which side limits: compare surface.width / picture.width with surface.height / picture.height.
    const u64 by_width = u64{surface.width} * picture.height, by_height = u64{surface.height} * picture.width;
    const auto rounded = [](u64 a, u64 b, u32 limit) {
        return std::clamp<u32>(static_cast<u32>((a + b / 2) / b), std::min(limit, 1u), limit);
    };
    if (by_width <= by_height)
        size.height = rounded(by_width, picture.width, surface.height);
    else
        size.width = rounded(by_height, picture.height, surface.width);
    return {{static_cast<i32>((surface.width - size.width) / 2), static_cast<i32>((surface.height - size.height) / 2)},
            size};
}

VkRect2D clamp_crop(VkRect2D crop, VkExtent2D image) {
    const auto limit = [](i32 start, u32 size, u32 end) {
        const i64 first = std::clamp<i64>(start, 0, end), last = std::clamp<i64>(i64{start} + size, 0, end);
        return std::pair{static_cast<i32>(first), static_cast<u32>(last - first)};
    };
    const auto [x, width] = limit(crop.offset.x, crop.extent.width, image.width);
    const auto [y, height] = limit(crop.offset.y, crop.extent.height, image.height);
    if (width == 0 || height == 0)
        return {{0, 0}, image};
    return {{x, y}, {width, height}};
}

} // namespace heaviside::present
