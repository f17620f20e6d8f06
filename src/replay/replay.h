// The sink that draws: executes submitted streams on a Vulkan device.
//
// Threads. Guest threads call the Sink's functions; these copy what they are given and queue it. One replay thread
// takes the queued calls in order, executes streams and submits them; it is the only one that touches the executor,
// textures and pools. A second thread watches the GPU's timeline and, when a submission is done, writes counters to
// guest memory and signals syncs. Programs are translated on threads of their own.
#pragma once

#include "gpu/device.h"
#include "guest/memory.h"
#include "guest/write_tracker.h"
#include "shader/interface.h"
#include "stream/sink.h"

#include <functional>
#include <memory>
#include <string>

namespace heaviside::gpu {
class Queue;
}

namespace heaviside::replay {

// A window texture that is to be shown. Valid during the call of Options::present; the image is in the GENERAL layout
// and everything drawn to it is submitted to `queue`.
struct Frame {
    VkImage image = VK_NULL_HANDLE;
    VkImageView view = VK_NULL_HANDLE; // of the stored bytes: never sRGB (ledger REN-069)
    VkFormat format = VK_FORMAT_UNDEFINED;
    VkExtent2D extent{};
    VkRect2D crop{};     // what of it is shown
    bool flip_y = false; // memory row 0 is the bottom of the picture (REN-103)
    u32 interval = 1;
    stream::WindowId window = 0;
    void* native_window = nullptr;
    std::shared_ptr<void> busy; // the application gets the texture back when the last copy is gone; any thread
};

struct Options {
    unsigned shader_threads = 0;      // 0: chosen from the processor
    unsigned translation_threads = 0; // 0: chosen from the processor
    bool validate_spirv = false;
    bool conditional_rendering = true; // false: what depends on counters is always drawn (ledger REN-207)
    u64 texture_budget = u64{2} << 30; // bytes of images above which unused ones are given up
    // Who de-tiles large textures. By device: the GPU, except on CPU devices, which are slower at it than we are.
    enum class Tiling : u8 { ByDevice, Cpu, Gpu } tiling = Tiling::ByDevice;
    guest::WriteTracker* tracker = nullptr; // null: CPU writes to textures are found by hashing
    // On the replay thread, in present order. May submit to the queue; what waits for a display belongs on a thread of
    // its own, with Frame::busy. Empty: presents show nothing.
    std::function<void(gpu::Queue&, const Frame&)> present;
    // A window is gone: nothing of it may be used any more. On the replay thread.
    std::function<void(stream::WindowId)> window_destroyed;
};

struct Statistics {
    u64 submissions = 0, records = 0, draws = 0, skipped_draws = 0, dispatches = 0, clears = 0, copies = 0, passes = 0;
    u64 programs = 0, translated = 0, failed_translations = 0, translated_at_draw = 0, translation_nanoseconds = 0;
    u64 textures = 0, texture_bytes = 0, uploads = 0, upload_bytes = 0, write_backs = 0, textures_evicted = 0;
    u64 gpu_uploads = 0;   // of textures, de-tiled on the GPU
    u64 image_views = 0;   // made so far
    u64 texture_looks = 0; // times that a storage was compared with what the image has
    u64 presents = 0;
};

class Replay final : public stream::Sink {
public:
    // Device and memory must outlive it. The destructor finishes all work and waits for the device.
    [[nodiscard]] static Result<std::unique_ptr<Replay>> create(const gpu::Device& device, guest::Memory& memory,
                                                                Options options);
    ~Replay() override;

    [[nodiscard]] Statistics statistics() const; // any thread
    // Until resume() nothing reaches the GPU. Returns when nothing is left there, whatever the replay thread is doing:
    // it goes on until it has something to submit (ledger OBJ-140, OBJ-141). One thread.
    void suspend();
    void resume();
    // Runs `call` on the replay thread after everything queued before, with the queue idle or not; returns when it has
    // run. For screenshots and present targets that need the GPU queue.
    void run_on_replay_thread(const std::function<void(gpu::Queue&)>& call);

    void queue_created(stream::QueueId queue, const stream::QueueDescription& description) override;
    void queue_destroyed(stream::QueueId queue) override;
    void submit(stream::QueueId queue, const stream::DeviceModes& modes, stream::Buffer stream) override;
    void flush(stream::QueueId queue) override;
    void finish(stream::QueueId queue) override;
    [[nodiscard]] bool sync_reached(stream::SyncId sync, u32 value) override;
    [[nodiscard]] bool wait_sync(stream::SyncId sync, u32 value, u64 timeout_ns) override;
    void sync_destroyed(stream::SyncId sync) override;
    void event_signalled(u64 address) override;
    void window_created(stream::WindowId window, const stream::WindowDescription& description) override;
    void window_destroyed(stream::WindowId window) override;
    [[nodiscard]] bool acquire(stream::WindowId window, u32 index, stream::SyncId sync, u32 value) override;
    void present(stream::QueueId queue, const stream::Present& present) override;
    void memory_pool_created(const stream::MemoryPoolDescription& description) override;
    void memory_pool_destroyed(u64 address) override;
    void memory_mapped(std::span<const stream::MemoryMapping> mappings) override;
    void memory_written(u64 address, u64 size) override;
    void memory_read(u64 address, u64 size) override;
    void program_created(const stream::ProgramDescription& description) override;
    void program_destroyed(stream::ProgramId id) override;
    void texture_pool_created(stream::PoolId pool, u64 descriptors, u32 capacity) override;
    void texture_pool_destroyed(stream::PoolId pool) override;
    void texture_registered(stream::PoolId pool, u32 index, const stream::ImageDescription& image,
                            bool storage) override;
    void sampler_pool_created(stream::PoolId pool, u64 descriptors, u32 capacity) override;
    void sampler_pool_destroyed(stream::PoolId pool) override;
    void sampler_registered(stream::PoolId pool, u32 index, const stream::SamplerDescription& sampler) override;

private:
    struct Impl;
    explicit Replay(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> impl_;
};

} // namespace heaviside::replay
