// The one running instance: device, replay, presentation and the hooks that tie them to the NVN floor.
#pragma once

#include "api/settings.h"
#include "gpu/device.h"
#include "guest/write_tracker.h"
#include "present/presenter.h"
#include "replay/replay.h"
#include "stream/forwarding_sink.h"

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>

namespace heaviside::api {

// First in the chain of sinks: tells the host about presents and drops work after the first error if it was asked to.
class FrontSink final : public stream::ForwardingSink {
public:
    FrontSink(stream::Sink& next, const Settings& settings) : ForwardingSink(next), settings_(settings) {}
    void submit(stream::QueueId queue, const stream::DeviceModes& modes, stream::Buffer stream) override;
    void present(stream::QueueId queue, const stream::Present& present) override;
    [[nodiscard]] u64 frames() const { return frames_.load(std::memory_order_relaxed); }
    [[nodiscard]] u32 interval() const { return interval_.load(std::memory_order_relaxed); } // the guest's last
    void set_layer_crop(const stream::Region& crop);

private:
    const Settings& settings_;
    const u64 errors_before_ = log::error_count(); // of earlier runtimes of this process
    std::atomic<u64> frames_ = 0;
    std::atomic<u32> interval_ = 1;
    std::mutex crop_mutex_;
    stream::Region layer_crop_{}; // empty: none
};

// Members are destroyed from the last to the first: whoever is used by others comes first.
class Runtime {
public:
    // Starts everything and connects it to nvn/. Errors leave nothing behind.
    [[nodiscard]] static Result<std::unique_ptr<Runtime>> start(const Settings& settings);
    ~Runtime(); // disconnects, waits for the GPU, frees

    Runtime(const Runtime&) = delete;
    Runtime& operator=(const Runtime&) = delete;

    [[nodiscard]] const gpu::Device& device() const { return *device_; }
    [[nodiscard]] replay::Statistics statistics() const { return replay_->statistics(); }
    [[nodiscard]] u64 frames() const { return front_->frames(); }
    [[nodiscard]] u64 errors() const { return log::error_count() - errors_before_; }
    [[nodiscard]] guest::WriteTracker& tracker() { return tracker_; }
    // The last presented frame, as a PNG file.
    [[nodiscard]] Result<void> screenshot(const std::string& path);
    void screenshot_of_next(const std::string& path);
    void set_layer_crop(const stream::Region& crop) { front_->set_layer_crop(crop); }
    void suspend() { replay_->suspend(); }
    void resume() { replay_->resume(); }
    [[nodiscard]] u64 blank_period() const { return present::blank_period(settings_.pacing, front_->interval()); }

private:
    explicit Runtime(const Settings& settings) : settings_(settings) {}
    void connect();

    Settings settings_;
    u64 errors_before_ = log::error_count();
    guest::WriteTracker tracker_;
    std::optional<guest::FaultHandler> fault_handler_;
    std::unique_ptr<gpu::Device> device_;
    std::unique_ptr<present::Presenter> presenter_;
    std::unique_ptr<replay::Replay> replay_;
    std::unique_ptr<stream::Sink> capture_; // in front of replay_ while a capture is written
    std::unique_ptr<FrontSink> front_;
};

} // namespace heaviside::api
