// A window's swapchain: made again whenever the window changes, paced by the display or not.
#pragma once

#include "gpu/commands.h"

#include <functional>
#include <memory>

namespace heaviside::present {

class Swapchain {
public:
    Swapchain();
    Swapchain(Swapchain&& other) noexcept;
    Swapchain& operator=(Swapchain&& other) noexcept;
    ~Swapchain(); // waits for the device

    // `native_window` is an SDL_Window made with SDL_WINDOW_VULKAN; it outlives this. Errors: no surface or no way to
    // present to it.
    [[nodiscard]] static Result<Swapchain> create(const gpu::Device& device, void* native_window);

    explicit operator bool() const { return impl_ != nullptr; }

    // `draw` records copies into the image of the next picture, which is in the GENERAL layout with undefined content.
    // interval 0 does not wait for the display where the device can. A window of no size shows nothing, without error.
    using Draw = std::function<void(gpu::Commands&, VkImage, VkExtent2D)>;
    [[nodiscard]] Result<void> present(gpu::Queue& queue, u32 interval, const Draw& draw);

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

} // namespace heaviside::present
