// Shows finished pictures: in windows, and in memory for screenshots. Headless is the same path without a window.
//
// All functions run on the replay thread (replay.h), which owns the GPU queue; construction and destruction on the
// thread that owns both, with no work under way.
#pragma once

#include "gpu/commands.h"
#include "gpu/device.h"

#include <map>
#include <memory>
#include <string>

namespace heaviside::present {

// Asks for what a window system needs, if the program has one up (SDL's video subsystem); nothing otherwise.
void add_instance_extensions(gpu::DeviceOptions& options);

// A picture to show. The image is in the GENERAL layout and everything drawn to it is submitted to the queue.
struct Picture {
    VkImage image = VK_NULL_HANDLE; // colour, of a format that can be blitted from
    VkExtent2D extent{};
    VkRect2D crop{};               // what of it is shown
    bool flip_y = false;           // memory row 0 is the bottom
    u32 interval = 1;              // vertical blanks per picture; 0: do not wait for the display
    u64 window = 0;                // names the window
    void* native_window = nullptr; // an SDL_Window; null: no window
};

class Presenter {
public:
    // `output`: size of the picture kept for screenshots; 0, 0: the shown crop's own size.
    explicit Presenter(const gpu::Device& device, VkExtent2D output = {});
    ~Presenter();
    Presenter(const Presenter&) = delete;
    Presenter& operator=(const Presenter&) = delete;

    // Copies the picture to its window and keeps it for screenshots. A window that cannot be presented to is reported
    // once; the picture is kept all the same.
    void show(gpu::Queue& queue, const Picture& picture);
    void window_destroyed(u64 window);
    // Writes the picture that was shown last as an 8-bit RGBA PNG. Errors: none was shown, the file cannot be written.
    [[nodiscard]] Result<void> screenshot(gpu::Queue& queue, const std::string& path);

private:
    struct Target; // a window's swapchain

    Result<void> keep(gpu::Queue& queue, const Picture& picture);
    Result<void> show_in_window(gpu::Queue& queue, const Picture& picture);

    const gpu::Device* device_;
    VkExtent2D output_;
    gpu::Image kept_;
    bool kept_any_ = false;
    std::map<u64, std::unique_ptr<Target>> targets_;
};

} // namespace heaviside::present
