#include "present/fit.h"

#include "base/types.h"

#include <algorithm>

namespace heaviside::present {

VkRect2D fit(VkExtent2D picture, VkExtent2D surface, Fit mode) {
    if (picture.width == 0 || picture.height == 0 || mode == Fit::Stretch)
        return {{0, 0}, surface};
    VkExtent2D size = surface;
    const u32 multiple = std::min(surface.width / picture.width, surface.height / picture.height);
    if (mode == Fit::Integer && multiple != 0) {
        size = {picture.width * multiple, picture.height * multiple};
    } else {
        // Which side limits: compare surface.width / picture.width with surface.height / picture.height.
        const u64 by_width = u64{surface.width} * picture.height, by_height = u64{surface.height} * picture.width;
        const auto rounded = [](u64 a, u64 b) { return static_cast<u32>(std::max<u64>((a + b / 2) / b, 1)); };
        if (surface.width == 0 || surface.height == 0)
            return {{0, 0}, surface};
        if ((by_width <= by_height) == (mode != Fit::Fill))
            size.height = rounded(by_width, picture.width);
        else
            size.width = rounded(by_height, picture.height);
    }
    const auto centred = [](u32 space, u32 taken) { return static_cast<i32>((i64{space} - taken) / 2); };
    return {{centred(surface.width, size.width), centred(surface.height, size.height)}, size};
}

Placement place(VkRect2D picture, VkExtent2D surface, Fit mode) {
    const VkRect2D target = fit(picture.extent, surface, mode);
    if (mode != Fit::Fill)
        return {picture, target};
    // Cut the picture instead of reaching over the edges.
    const auto cut = [](i32& offset, u32& extent, u32 whole, u32 visible) {
        const u32 kept = std::max<u32>(1, static_cast<u32>((u64{extent} * visible + whole / 2) / std::max(whole, 1u)));
        offset += static_cast<i32>((extent - std::min(kept, extent)) / 2);
        extent = std::min(kept, extent);
    };
    cut(picture.offset.x, picture.extent.width, target.extent.width, surface.width);
    cut(picture.offset.y, picture.extent.height, target.extent.height, surface.height);
    return {picture, {{0, 0}, surface}};
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
