#include "present/presenter.h"

#include "base/log.h"
#include "present/fit.h"
#include "present/swapchain.h"

#include <png.h>

#include <cstring>

namespace heaviside::present {

namespace {

void blit(gpu::Commands& commands, const gpu::Device& device, const Picture& picture, VkImage target,
          const VkRect2D& place) {
    const VkRect2D source = clamp_crop(picture.crop, picture.extent);
    const i32 left = source.offset.x, right = left + static_cast<i32>(source.extent.width);
    i32 top = source.offset.y, bottom = top + static_cast<i32>(source.extent.height);
    if (picture.flip_y)
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
    info.srcImage = picture.image;
    info.dstImage = target;
    info.srcImageLayout = info.dstImageLayout = VK_IMAGE_LAYOUT_GENERAL;
    info.regionCount = 1;
    info.pRegions = &region;
    info.filter = same_size ? VK_FILTER_NEAREST : VK_FILTER_LINEAR;
    device.vk.vkCmdBlitImage2(commands.handle(), &info);
}

} // namespace

struct Presenter::Target {
    Swapchain swapchain;
    bool failed = false;
};

Presenter::Presenter(const gpu::Device& device, VkExtent2D output) : device_(&device), output_(output) {}

Presenter::~Presenter() = default;

void Presenter::show(gpu::Queue& queue, const Picture& picture) {
    if (const auto kept = keep(queue, picture); !kept)
        log::error_once("present: {}", kept.error().message);
    if (!picture.native_window)
        return;
    if (const auto shown = show_in_window(queue, picture); !shown)
        log::error_once("present: window {}: {}", picture.window, shown.error().message);
}

void Presenter::window_destroyed(u64 window) {
    targets_.erase(window);
}

Result<void> Presenter::keep(gpu::Queue& queue, const Picture& picture) {
    const VkRect2D source = clamp_crop(picture.crop, picture.extent);
    const VkExtent2D size = output_.width ? output_ : source.extent;
    auto commands = queue.begin();
    if (!commands)
        return tl::unexpected(commands.error());
    gpu::Commands& c = **commands;
    if (const VkExtent3D& have = kept_.description().extent;
        !kept_ || have.width != size.width || have.height != size.height) {
        if (kept_)
            queue.retire(std::move(kept_));
        auto image = gpu::create_image(*device_,
                                       {.format = VK_FORMAT_R8G8B8A8_UNORM,
                                        .extent = {size.width, size.height, 1},
                                        .usage = VK_IMAGE_USAGE_TRANSFER_DST_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT},
                                       "shown picture");
        if (!image) {
            (void)queue.submit(c);
            return tl::unexpected(image.error());
        }
        kept_ = *std::move(image);
        c.initialise(kept_);
    }
    c.barrier();
    c.prepare_transfer();
    const VkRect2D place = output_.width ? fit(source.extent, size) : VkRect2D{{0, 0}, size};
    if (place.extent.width != size.width || place.extent.height != size.height) {
        const VkClearColorValue black{{0, 0, 0, 1}};
        const VkImageSubresourceRange all{VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1};
        device_->vk.vkCmdClearColorImage(c.handle(), kept_.get(), VK_IMAGE_LAYOUT_GENERAL, &black, 1, &all);
        c.barrier();
        c.prepare_transfer();
    }
    blit(c, *device_, picture, kept_.get(), place);
    c.barrier();
    if (const auto submitted = queue.submit(c); !submitted)
        return tl::unexpected(submitted.error());
    kept_any_ = true;
    return {};
}

Result<void> Presenter::show_in_window(gpu::Queue& queue, const Picture& picture) {
    auto& target = targets_[picture.window];
    if (!target) {
        target = std::make_unique<Target>();
        auto swapchain = Swapchain::create(*device_, picture.native_window);
        if (!swapchain) {
            target->failed = true;
            return tl::unexpected(swapchain.error());
        }
        target->swapchain = *std::move(swapchain);
    }
    if (target->failed)
        return {}; // reported when it failed
    return target->swapchain.present(queue, picture.interval, [&](gpu::Commands& c, VkImage image, VkExtent2D size) {
        const VkClearColorValue black{{0, 0, 0, 1}};
        const VkImageSubresourceRange all{VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1};
        device_->vk.vkCmdClearColorImage(c.handle(), image, VK_IMAGE_LAYOUT_GENERAL, &black, 1, &all);
        c.barrier();
        c.prepare_transfer();
        blit(c, *device_, picture, image, fit(clamp_crop(picture.crop, picture.extent).extent, size));
    });
}

Result<void> Presenter::screenshot(gpu::Queue& queue, const std::string& path) {
    if (!kept_any_)
        return fail("screenshot: nothing has been presented yet");
    const VkExtent3D size = kept_.description().extent;
    const u64 bytes = u64{size.width} * size.height * 4;
    auto buffer = gpu::create_buffer(*device_, bytes, gpu::MemoryKind::Readback, "screenshot");
    if (!buffer)
        return tl::unexpected(buffer.error());
    auto commands = queue.begin();
    if (!commands)
        return tl::unexpected(commands.error());
    gpu::Commands& c = **commands;
    c.barrier();
    c.prepare_transfer();
    VkBufferImageCopy region{};
    region.imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1};
    region.imageExtent = size;
    device_->vk.vkCmdCopyImageToBuffer(c.handle(), kept_.get(), VK_IMAGE_LAYOUT_GENERAL, buffer->whole().buffer, 1,
                                       &region);
    c.barrier({.target_stages = VK_PIPELINE_STAGE_2_HOST_BIT, .target_access = VK_ACCESS_2_HOST_READ_BIT});
    const auto submitted = queue.submit(c);
    if (!submitted)
        return tl::unexpected(submitted.error());
    if (const auto done = queue.wait(*submitted); !done)
        return tl::unexpected(done.error());
    gpu::invalidate(*device_, *buffer);

    png_image image{};
    image.version = PNG_IMAGE_VERSION;
    image.width = size.width;
    image.height = size.height;
    image.format = PNG_FORMAT_RGBA;
    if (!png_image_write_to_file(&image, path.c_str(), 0, buffer->whole().mapped, 0, nullptr))
        return fail("screenshot {}: {}", path, image.message);
    return {};
}

} // namespace heaviside::present
