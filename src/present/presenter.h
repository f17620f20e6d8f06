// Shows finished pictures: in windows, and in memory for screenshots. Headless is the same path without a window.
//
// A picture is copied where it stands in the GPU's work; a thread of the presenter's own then waits until it is due and
// shows the copy. So neither the display nor the pace holds up the replay.
//
// show(), window_destroyed() and the screenshots run on the replay thread (replay.h), which owns the GPU queue they are
// given; construction and destruction on the thread that owns both, with no work under way.
#pragma once

#include "gpu/commands.h"
#include "gpu/device.h"
#include "present/fit.h"
#include "present/pacer.h"
#include "present/upscaler.h"

#include <condition_variable>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

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
    std::shared_ptr<void> busy;    // kept until the picture has been shown or dropped
};

struct PresenterOptions {
    VkExtent2D output{}; // size of the picture kept for screenshots; 0, 0: the shown crop's own size
    Fit fit = Fit::Letterbox;
    PacingSettings pacing;
    UpscalerOptions upscaling;
};

class Presenter {
public:
    [[nodiscard]] static Result<std::unique_ptr<Presenter>> create(const gpu::Device& device,
                                                                   const PresenterOptions& options);
    ~Presenter(); // drops what is not shown yet
    Presenter(const Presenter&) = delete;
    Presenter& operator=(const Presenter&) = delete;

    // Copies the picture and hands it to the presenter's thread. A window that cannot be presented to is reported once;
    // the picture is kept all the same.
    void show(gpu::Queue& queue, const Picture& picture);
    // Drops its pictures; nothing of it is used any more.
    void window_destroyed(u64 window);
    // Writes the newest picture as an 8-bit RGBA PNG. Errors: none was shown, the file cannot be written.
    [[nodiscard]] Result<void> screenshot(gpu::Queue& queue, const std::string& path);
    // The same of the next picture, when it comes. Errors are logged.
    void screenshot_of_next(const std::string& path);

private:
    struct Window; // its swapchain
    struct Copy {
        gpu::Image image;
        bool shown = true; // free to be overwritten
    };
    struct Job {
        Picture picture;
        Copy* copy;
    };
    static constexpr std::size_t most_jobs = 8; // beyond, show() waits

    Presenter(const gpu::Device& device, const PresenterOptions& options);
    Result<Copy*> copy(gpu::Queue& queue, const Picture& picture);
    Copy& free_copy();
    void work();
    Result<void> show_in_window(const Job& job);

    const gpu::Device* device_;
    PresenterOptions options_;
    std::unique_ptr<gpu::BindingLayout> layout_;
    std::unique_ptr<gpu::ShaderLibrary> shaders_; // for the upscaler's kernels; null without one
    std::unique_ptr<gpu::Queue> queue_;           // the presenter thread's
    Copy* newest_ = nullptr;                      // replay thread
    Upscaler upscaler_;                           // of outputs with a size of their own; replay thread
    std::string next_path_;

    std::mutex mutex_; // the rest
    std::condition_variable changed_;
    std::vector<std::unique_ptr<Copy>> copies_;
    std::deque<Job> jobs_;
    u64 showing_ = 0; // the window of the job under way
    bool stop_ = false;
    std::map<u64, std::unique_ptr<Window>> windows_; // used by the presenter's thread while it shows
    std::thread thread_;
};

} // namespace heaviside::present
