#include "present/presenter.h"

#include "base/log.h"
#include "gpu/binding_layout.h"
#include "present/blit.h"
#include "present/swapchain.h"

#include <png.h>

#include <chrono>
#include <cstring>

namespace heaviside::present {

namespace {

void clear_bars(gpu::Commands& c, const gpu::Device& device, VkImage image) {
    const VkClearColorValue black{{0, 0, 0, 1}};
    const VkImageSubresourceRange all{VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1};
    device.vk.vkCmdClearColorImage(c.handle(), image, VK_IMAGE_LAYOUT_GENERAL, &black, 1, &all);
    c.barrier();
    c.prepare_transfer();
}

} // namespace

struct Presenter::Window {
    explicit Window(Upscaler u) : upscaler(std::move(u)) {}
    Upscaler upscaler;
    Swapchain swapchain; // goes first: waits for what the upscaler does
    bool failed = false;
};

Presenter::Presenter(const gpu::Device& device, const PresenterOptions& options)
    : device_(&device), options_(options), upscaler_(device, options.upscaling) {}

Result<std::unique_ptr<Presenter>> Presenter::create(const gpu::Device& device, const PresenterOptions& options) {
    std::unique_ptr<Presenter> p(new Presenter(device, options));
    auto layout = gpu::create_binding_layout(device);
    if (!layout)
        return tl::unexpected(layout.error());
    p->layout_ = std::make_unique<gpu::BindingLayout>(std::move(*layout));
    if (options.upscaling.mode != Upscaling::None) {
        auto shaders = gpu::ShaderLibrary::create(device, *p->layout_, 1);
        if (!shaders)
            return tl::unexpected(shaders.error());
        p->shaders_ = std::move(*shaders);
    }
    auto queue = gpu::Queue::create(device, *p->layout_, nullptr, p->shaders_.get());
    if (!queue)
        return tl::unexpected(queue.error());
    p->queue_ = std::move(*queue);
    p->thread_ = std::thread([self = p.get()] { self->work(); });
    return p;
}

Presenter::~Presenter() {
    {
        const std::lock_guard lock(mutex_);
        stop_ = true;
    }
    changed_.notify_all();
    if (thread_.joinable())
        thread_.join();
    windows_.clear();
    queue_.reset(); // waits
}

void Presenter::show(gpu::Queue& queue, const Picture& picture) {
    const auto copied = copy(queue, picture);
    if (!copied) {
        log::error_once("present: {}", copied.error().message);
        return;
    }
    if (!next_path_.empty())
        if (const auto saved = screenshot(queue, std::exchange(next_path_, {})); !saved)
            log::error("{}", saved.error().message);
    {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [this] { return stop_ || jobs_.size() < most_jobs; });
        jobs_.push_back({picture, *copied});
    }
    changed_.notify_all();
}

void Presenter::window_destroyed(u64 window) {
    std::deque<Job> dropped;
    std::unique_ptr<Window> gone;
    {
        std::unique_lock lock(mutex_);
        std::deque<Job> kept;
        for (Job& job : jobs_)
            if (job.picture.window == window) {
                job.copy->shown = true;
                dropped.push_back(std::move(job));
            } else {
                kept.push_back(std::move(job));
            }
        jobs_ = std::move(kept);
        changed_.wait(lock, [&] { return showing_ != window; });
        if (const auto it = windows_.find(window); it != windows_.end()) {
            gone = std::move(it->second);
            windows_.erase(it);
        }
    }
    changed_.notify_all();
}

// One that is neither to be shown nor the newest.
Presenter::Copy& Presenter::free_copy() {
    const std::lock_guard lock(mutex_);
    for (const auto& c : copies_)
        if (c->shown && c.get() != newest_)
            return *c;
    return *copies_.emplace_back(std::make_unique<Copy>());
}

Result<Presenter::Copy*> Presenter::copy(gpu::Queue& queue, const Picture& picture) {
    const VkRect2D source = clamp_crop(picture.crop, picture.extent);
    const VkExtent2D size = options_.output.width ? options_.output : source.extent;
    Copy& copy = free_copy();
    auto commands = queue.begin();
    if (!commands)
        return tl::unexpected(commands.error());
    gpu::Commands& c = **commands;
    if (const VkExtent3D& have = copy.image.description().extent;
        !copy.image || have.width != size.width || have.height != size.height) {
        if (copy.image)
            queue.retire(std::move(copy.image));
        auto image = gpu::create_image(*device_,
                                       {.format = VK_FORMAT_R8G8B8A8_UNORM,
                                        .extent = {size.width, size.height, 1},
                                        .usage = VK_IMAGE_USAGE_TRANSFER_DST_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT},
                                       "shown picture");
        if (!image) {
            (void)queue.submit(c);
            return tl::unexpected(image.error());
        }
        copy.image = *std::move(image);
        c.initialise(copy.image);
    }
    c.barrier(); // also behind the presenter's own copy out of it
    c.prepare_transfer();
    const Placement p = place(source, size, options_.output.width ? options_.fit : Fit::Stretch);
    if (p.target.extent.width != size.width || p.target.extent.height != size.height)
        clear_bars(c, *device_, copy.image.get());
    if (!upscaler_.draw(queue, c, picture.image, p.source, picture.flip_y, copy.image.get(), p.target))
        blit(c, *device_, picture.image, p.source, picture.flip_y, copy.image.get(), p.target);
    c.barrier();
    if (const auto submitted = queue.submit(c); !submitted)
        return tl::unexpected(submitted.error());
    newest_ = &copy;
    const std::lock_guard lock(mutex_);
    copy.shown = false;
    return &copy;
}

void Presenter::work() {
    Pacer pacer(options_.pacing);
    std::unique_lock lock(mutex_);
    while (!stop_) {
        if (jobs_.empty()) {
            changed_.wait(lock, [this] { return stop_ || !jobs_.empty(); });
            continue;
        }
        const u64 window = jobs_.front().picture.window;
        const auto clock = std::chrono::steady_clock::now().time_since_epoch();
        const u64 now = static_cast<u64>(std::chrono::duration_cast<std::chrono::nanoseconds>(clock).count());
        const std::chrono::steady_clock::time_point due(std::chrono::duration_cast<std::chrono::steady_clock::duration>(
            std::chrono::nanoseconds(pacer.show(now, jobs_.front().picture.interval))));
        const Copy* const next = jobs_.front().copy;
        // Its window may be destroyed meanwhile.
        changed_.wait_until(lock, due, [&] { return stop_ || jobs_.empty() || jobs_.front().copy != next; });
        if (stop_ || jobs_.empty() || jobs_.front().copy != next)
            continue;
        Job job = std::move(jobs_.front());
        jobs_.pop_front();
        showing_ = window;
        lock.unlock();
        if (job.picture.native_window)
            if (const auto shown = show_in_window(job); !shown)
                log::error_once("present: window {}: {}", window, shown.error().message);
        job.picture.busy.reset();
        lock.lock();
        job.copy->shown = true;
        showing_ = 0;
        changed_.notify_all();
    }
    jobs_.clear();
}

Result<void> Presenter::show_in_window(const Job& job) {
    Window* window = nullptr;
    {
        const std::lock_guard lock(mutex_);
        auto& entry = windows_[job.picture.window];
        if (!entry)
            entry = std::make_unique<Window>(Upscaler(*device_, options_.upscaling));
        window = entry.get();
    }
    if (window->failed)
        return {}; // reported when it failed
    if (!window->swapchain) {
        auto swapchain = Swapchain::create(*device_, job.picture.native_window);
        if (!swapchain) {
            window->failed = true;
            return tl::unexpected(swapchain.error());
        }
        window->swapchain = *std::move(swapchain);
    }
    const VkExtent3D have = job.copy->image.description().extent;
    const VkRect2D whole{{0, 0}, {have.width, have.height}};
    return window->swapchain.present(
        *queue_, job.picture.interval, [&](gpu::Commands& c, VkImage image, VkExtent2D size) {
            const Placement p = place(whole, size, options_.fit);
            clear_bars(c, *device_, image);
            if (!window->upscaler.draw(*queue_, c, job.copy->image.get(), p.source, false, image, p.target))
                blit(c, *device_, job.copy->image.get(), p.source, false, image, p.target);
        });
}

void Presenter::screenshot_of_next(const std::string& path) {
    next_path_ = path;
}

Result<void> Presenter::screenshot(gpu::Queue& queue, const std::string& path) {
    if (!newest_)
        return fail("screenshot: nothing has been presented yet");
    const VkExtent3D size = newest_->image.description().extent;
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
    device_->vk.vkCmdCopyImageToBuffer(c.handle(), newest_->image.get(), VK_IMAGE_LAYOUT_GENERAL,
                                       buffer->whole().buffer, 1, &region);
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
