// A device, pool memory and a sink that keeps what it is given, for tests without a GPU.
#pragma once

#include "nvn/command_lent.h"
#include "nvn/entry_points.h"
#include "nvn/objects.h"
#include "nvn/runtime.h"
#include "stream/sink.h"
#include "stream/sync.h"
#include "stream/walk.h"

#include <gtest/gtest.h>

#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace heaviside::nvn {

inline constexpr BooleanArgument yes{1}, no{0};

// Fences stay unsignalled until complete(), unless `immediate`.
class KeepingSink : public stream::Sink {
public:
    struct Submission {
        stream::QueueId queue;
        stream::DeviceModes modes;
        std::vector<u32> words;
    };
    struct Created {
        stream::QueueId queue;
        stream::QueueDescription description;
    };

    bool immediate = false;
    bool keep = true;
    std::vector<Submission> submissions;
    std::vector<Created> queues;
    std::vector<std::string> log; // queue and window calls, in order
    std::vector<stream::Present> presents;
    std::vector<stream::WindowDescription> windows;
    std::vector<u64> events;
    std::vector<stream::SyncId> destroyed_syncs;
    bool window_works = true;

    void queue_created(stream::QueueId queue, const stream::QueueDescription& description) override {
        const std::lock_guard lock(mutex_);
        queues.push_back({queue, description});
    }
    void queue_destroyed(stream::QueueId queue) override { note("queue_destroyed", queue); }
    void submit(stream::QueueId queue, const stream::DeviceModes& modes, stream::Buffer buffer) override {
        const auto words = buffer.words();
        EXPECT_TRUE(stream::for_each_record(buffer.bytes(), [&](const stream::Record& record) {
            if (immediate && record.type() == stream::RecordType::FenceSync)
                counters_.signal(record.as<stream::FenceSync>().sync, record.as<stream::FenceSync>().value);
        }));
        const std::lock_guard lock(mutex_);
        if (keep)
            submissions.push_back({queue, modes, {words.begin(), words.end()}});
        log.push_back("submit " + std::to_string(queue));
    }
    void flush(stream::QueueId queue) override { note("flush", queue); }
    void finish(stream::QueueId queue) override { note("finish", queue); }
    bool sync_reached(stream::SyncId sync, u32 value) override { return counters_.reached(sync, value); }
    bool wait_sync(stream::SyncId sync, u32 value, u64 timeout_ns) override {
        return counters_.wait(sync, value, timeout_ns);
    }
    void sync_destroyed(stream::SyncId sync) override {
        const std::lock_guard lock(mutex_);
        destroyed_syncs.push_back(sync);
    }
    void event_signalled(u64 address) override {
        const std::lock_guard lock(mutex_);
        events.push_back(address);
    }
    void window_created(stream::WindowId window, const stream::WindowDescription& description) override {
        note("window_created", window);
        windows.push_back(description);
    }
    void window_destroyed(stream::WindowId window) override { note("window_destroyed", window); }
    bool acquire(stream::WindowId, u32 index, stream::SyncId sync, u32 value) override {
        note("acquire", index);
        if (immediate)
            counters_.signal(sync, value);
        return window_works;
    }
    void present(stream::QueueId queue, const stream::Present& what) override {
        note("present", queue);
        presents.push_back(what);
    }

    // Signals every fence of the submissions so far.
    void complete() {
        for (const Submission& s : submissions)
            (void)stream::for_each_record(std::as_bytes(std::span(s.words)), [&](const stream::Record& record) {
                if (record.type() == stream::RecordType::FenceSync)
                    counters_.signal(record.as<stream::FenceSync>().sync, record.as<stream::FenceSync>().value);
            });
    }

private:
    void note(const char* what, u32 number) {
        const std::lock_guard lock(mutex_);
        log.push_back(std::string(what) + " " + std::to_string(number));
    }
    std::mutex mutex_;
    stream::SyncCounters counters_;
};

class CommandTest : public testing::Test {
protected:
    static constexpr std::size_t pool_bytes = 1 << 20;

    CommandTest() : storage_(pool_bytes + 0x10000) {
        set_sink(&sink);
        NVNdeviceBuilder device_builder;
        nvnDeviceBuilderSetDefaults(&device_builder);
        EXPECT_TRUE(nvnDeviceInitialize(&device, &device_builder));
        nvnDeviceInstallDebugCallback(&device, count_error, this, yes);
        make_pool(pool, storage_, pool_bytes);
        nvnCommandBufferInitialize(&cmd, &device);
        make_queue(queue);
    }
    ~CommandTest() override {
        nvnCommandBufferFinalize(&cmd);
        nvnQueueFinalize(&queue);
        nvnMemoryPoolFinalize(&pool);
        nvnDeviceInstallDebugCallback(&device, nullptr, nullptr, no);
        nvnDeviceFinalize(&device);
        set_sink(nullptr);
    }

    void make_pool(NVNmemoryPool& object, std::vector<std::byte>& storage, std::size_t size) {
        NVNmemoryPoolBuilder builder{};
        nvnMemoryPoolBuilderSetDevice(&builder, &device);
        nvnMemoryPoolBuilderSetDefaults(&builder);
        const auto start = align_up<u64>(reinterpret_cast<u64>(storage.data()), 0x10000);
        nvnMemoryPoolBuilderSetStorage(&builder, reinterpret_cast<void*>(start), size);
        nvnMemoryPoolBuilderSetFlags(&builder, NVN_MEMORY_POOL_FLAGS_CPU_UNCACHED | NVN_MEMORY_POOL_FLAGS_GPU_CACHED);
        ASSERT_TRUE(nvnMemoryPoolInitialize(&object, &builder));
    }
    void make_queue(NVNqueue& object) {
        NVNqueueBuilder builder{};
        nvnQueueBuilderSetDevice(&builder, &device);
        nvnQueueBuilderSetDefaults(&builder);
        ASSERT_TRUE(nvnQueueInitialize(&object, &builder));
    }
    std::byte* memory(std::size_t offset) { return static_cast<std::byte*>(nvnMemoryPoolMap(&pool)) + offset; }
    void begin(NVNcommandBuffer& buffer, std::size_t offset, std::size_t size) {
        nvnCommandBufferAddCommandMemory(&buffer, &pool, static_cast<ptrdiff_t>(offset), size);
        nvnCommandBufferAddControlMemory(&buffer, control_.data(), sizeof control_);
        nvnCommandBufferBeginRecording(&buffer);
    }
    NVNtexture make_texture(int width, int height, NVNformat format = NVN_FORMAT_RGBA8, ptrdiff_t offset = 0x40000) {
        NVNtextureBuilder builder{};
        nvnTextureBuilderSetDevice(&builder, &device);
        nvnTextureBuilderSetDefaults(&builder);
        nvnTextureBuilderSetTarget(&builder, NVN_TEXTURE_TARGET_2D);
        nvnTextureBuilderSetFormat(&builder, format);
        nvnTextureBuilderSetSize2D(&builder, width, height);
        nvnTextureBuilderSetStorage(&builder, &pool, offset);
        NVNtexture texture{};
        EXPECT_TRUE(nvnTextureInitialize(&texture, &builder));
        return texture;
    }
    void submit(NVNcommandHandle handle) { nvnQueueSubmitCommands(&queue, 1, &handle); }

    // Of all submissions so far, oldest first.
    std::vector<stream::RecordType> types() const {
        std::vector<stream::RecordType> result;
        for (const auto& s : sink.submissions)
            EXPECT_TRUE(stream::for_each_record(std::as_bytes(std::span(s.words)), [&](const stream::Record& record) {
                result.push_back(record.type());
            }));
        return result;
    }
    template <class Record>
    std::vector<Record> records() const {
        std::vector<Record> result;
        for (const auto& s : sink.submissions)
            (void)stream::for_each_record(std::as_bytes(std::span(s.words)), [&](const stream::Record& record) {
                if (record.type() == stream::RecordTraits<Record>::type)
                    result.push_back(record.as<Record>());
            });
        return result;
    }
    // The `first` of each DrawArrays: the tests' way to tell draws apart.
    std::vector<int> draws() const {
        std::vector<int> result;
        for (const auto& draw : records<stream::DrawArrays>())
            result.push_back(draw.first);
        return result;
    }
    void draw(NVNcommandBuffer& buffer, int number) {
        nvnCommandBufferDrawArrays(&buffer, NVN_DRAW_PRIMITIVE_TRIANGLES, number, 3);
    }
    // Errors reported since the last call.
    std::size_t take_errors() {
        const std::lock_guard lock(errors_mutex_);
        return std::exchange(errors_, {}).size();
    }

    KeepingSink sink;
    NVNdevice device{};
    NVNmemoryPool pool{};
    NVNcommandBuffer cmd{};
    NVNqueue queue{};
    alignas(8) std::array<u64, 512> control_{};

private:
    static void count_error(NVNdebugCallbackSource, NVNdebugCallbackType, int, NVNdebugCallbackSeverity,
                            const char* message, void* self) {
        auto* const test = static_cast<CommandTest*>(self);
        const std::lock_guard lock(test->errors_mutex_);
        test->errors_.emplace_back(message);
    }
    std::vector<std::byte> storage_;
    std::mutex errors_mutex_;
    std::vector<std::string> errors_;
};

} // namespace heaviside::nvn
