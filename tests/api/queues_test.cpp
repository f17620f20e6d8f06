// Queues, syncs, events, reports and pools on a device, through the API alone: what an application can see of the order
// in which its queues run and of the memory they write. Ledger rows at each test.
#include <heaviside/heaviside.h>
#include <nvn/nvn.h>

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <thread>
#include <unistd.h>

namespace {

PFNNVNGENERICFUNCPTRPROC procs(const NVNdevice* device, const char* name) {
    return reinterpret_cast<PFNNVNDEVICEGETPROCADDRESSPROC>(nvnBootstrapLoader("nvnDeviceGetProcAddress"))(device,
                                                                                                           name);
}

// A command buffer with memory of its own, in the pool.
struct Recorder {
    NVNcommandBuffer commands{};
    NVNmemoryPool* pool = nullptr;
    ptrdiff_t offset = 0;
    alignas(8) std::uint64_t control[512]{};

    template <class Record>
    NVNcommandHandle operator()(Record&& record) {
        nvnCommandBufferAddCommandMemory(&commands, pool, offset, 0x8000);
        nvnCommandBufferAddControlMemory(&commands, control, sizeof control);
        nvnCommandBufferBeginRecording(&commands);
        record(&commands);
        return nvnCommandBufferEndRecording(&commands);
    }
};

class Queues : public testing::Test {
protected:
    static constexpr std::size_t pool_size = 4 << 20, data = 1 << 20;

    void SetUp() override {
        heaviside_config config;
        heaviside_config_default(&config);
        config.cache_dir = "";
        config.log_level = HEAVISIDE_LOG_WARNING;
        const heaviside_result started = heaviside_init(&config);
        if (started == HEAVISIDE_ERROR_NO_DEVICE)
            GTEST_SKIP() << "no Vulkan device: " << heaviside_last_error();
        ASSERT_EQ(started, HEAVISIDE_OK) << heaviside_last_error();
        nvnLoadCProcs(nullptr, procs);
        NVNdeviceBuilder device_builder;
        nvnDeviceBuilderSetDefaults(&device_builder);
        ASSERT_TRUE(nvnDeviceInitialize(&device, &device_builder));
        std::memset(storage.get(), 0, pool_size);
        NVNmemoryPoolBuilder builder;
        nvnMemoryPoolBuilderSetDevice(&builder, &device);
        nvnMemoryPoolBuilderSetDefaults(&builder);
        nvnMemoryPoolBuilderSetStorage(&builder, storage.get(), pool_size);
        ASSERT_TRUE(nvnMemoryPoolInitialize(&pool, &builder));
        base = nvnMemoryPoolGetBufferAddress(&pool) + data;
        for (NVNqueue& queue : queues)
            make_queue(queue);
        for (std::size_t i = 0; i < recorders.size(); ++i) {
            ASSERT_TRUE(nvnCommandBufferInitialize(&recorders[i].commands, &device));
            recorders[i].pool = &pool;
            recorders[i].offset = static_cast<ptrdiff_t>(i * 0x8000);
        }
        for (NVNsync& sync : syncs)
            ASSERT_TRUE(nvnSyncInitialize(&sync, &device));
        for (std::size_t i = 0; i < events.size(); ++i) {
            NVNeventBuilder event_builder;
            nvnEventBuilderSetDefaults(&event_builder);
            nvnEventBuilderSetStorage(&event_builder, &pool, static_cast<std::int64_t>(data - 0x1000 + 64 * i));
            ASSERT_TRUE(nvnEventInitialize(&events[i], &event_builder));
        }
        running = true;
    }
    void TearDown() override {
        if (running) {
            for (NVNqueue& queue : queues)
                nvnQueueFinalize(&queue);
            for (NVNsync& sync : syncs)
                nvnSyncFinalize(&sync);
            for (Recorder& recorder : recorders)
                nvnCommandBufferFinalize(&recorder.commands);
            nvnMemoryPoolFinalize(&pool);
            nvnDeviceFinalize(&device);
        }
        heaviside_shutdown();
    }
    void make_queue(NVNqueue& queue) {
        NVNqueueBuilder builder;
        nvnQueueBuilderSetDevice(&builder, &device);
        nvnQueueBuilderSetDefaults(&builder);
        ASSERT_TRUE(nvnQueueInitialize(&queue, &builder));
    }
    NVNtexture make_target(std::size_t offset, int size = 16) {
        NVNtextureBuilder builder;
        nvnTextureBuilderSetDevice(&builder, &device);
        nvnTextureBuilderSetDefaults(&builder);
        nvnTextureBuilderSetFlags(&builder, NVN_TEXTURE_FLAGS_LINEAR_RENDER_TARGET);
        nvnTextureBuilderSetStride(&builder, size * 4 < 128 ? 128 : size * 4);
        nvnTextureBuilderSetTarget(&builder, NVN_TEXTURE_TARGET_2D);
        nvnTextureBuilderSetFormat(&builder, NVN_FORMAT_RGBA8);
        nvnTextureBuilderSetSize2D(&builder, size, size);
        nvnTextureBuilderSetStorage(&builder, &pool, static_cast<ptrdiff_t>(data + offset));
        NVNtexture texture{};
        EXPECT_TRUE(nvnTextureInitialize(&texture, &builder));
        return texture;
    }
    static void target(NVNcommandBuffer* commands, const NVNtexture& texture) {
        const NVNtexture* color = &texture;
        nvnCommandBufferSetRenderTargets(commands, 1, &color, nullptr, nullptr, nullptr);
        nvnCommandBufferSetScissor(commands, 0, 0, 1 << 14, 1 << 14);
    }
    static void clear(NVNcommandBuffer* commands, int red) {
        const float color[4] = {static_cast<float>(red) / 255, 0, 0, 1};
        nvnCommandBufferClearColor(commands, 0, color, NVN_CLEAR_COLOR_MASK_RGBA);
    }
    void submit(int queue, NVNcommandHandle handle) { nvnQueueSubmitCommands(&queues[queue], 1, &handle); }
    void fence(int queue, int sync) {
        nvnQueueFenceSync(&queues[queue], &syncs[sync], NVN_SYNC_CONDITION_ALL_GPU_COMMANDS_COMPLETE,
                          NVN_SYNC_FLAG_FLUSH_FOR_CPU_BIT);
        nvnQueueFlush(&queues[queue]);
    }
    NVNsyncWaitResult wait(int sync, std::uint64_t timeout_ns = 20'000'000'000) {
        return nvnSyncWait(&syncs[sync], timeout_ns);
    }
    bool signalled(int sync) { return wait(sync, 0) != NVN_SYNC_WAIT_RESULT_TIMEOUT_EXPIRED; }
    std::uint32_t word(std::size_t offset) const {
        std::uint32_t value = 0;
        std::memcpy(&value, storage.get() + data + offset, sizeof value);
        return value;
    }
    void set_word(std::size_t offset, std::uint32_t value) {
        std::memcpy(storage.get() + data + offset, &value, sizeof value);
    }

    struct Free {
        void operator()(std::byte* memory) const { std::free(memory); }
    };
    std::unique_ptr<std::byte, Free> storage{static_cast<std::byte*>(std::aligned_alloc(0x10000, pool_size))};
    bool running = false;
    NVNdevice device{};
    NVNmemoryPool pool{};
    NVNbufferAddress base = 0; // of the data, which begins behind command memory and events
    std::array<NVNqueue, 3> queues{};
    std::array<NVNsync, 4> syncs{};
    std::array<NVNevent, 3> events{};
    std::array<Recorder, 8> recorders{};
};

// OBJ-124, GFX-037: the consumer is submitted before its producer; a third queue runs meanwhile.
TEST_F(Queues, AnEventHoldsItsOwnQueueAlone) {
    submit(0, recorders[0]([&](NVNcommandBuffer* c) {
               nvnCommandBufferWaitEvent(c, &events[0], NVN_EVENT_WAIT_MODE_EQUAL, 1);
               nvnCommandBufferCopyBufferToBuffer(c, base, base + 0x100, 4, 0);
           }));
    fence(0, 0); // all calls came back: nothing waits on this thread
    submit(2, recorders[2]([&](NVNcommandBuffer* c) { nvnCommandBufferReportValue(c, 77, base + 0x200); }));
    fence(2, 2);
    EXPECT_NE(wait(2), NVN_SYNC_WAIT_RESULT_TIMEOUT_EXPIRED);
    EXPECT_EQ(word(0x200), 77u);
    EXPECT_FALSE(signalled(0));
    submit(1, recorders[1]([&](NVNcommandBuffer* c) {
               nvnCommandBufferReportValue(c, 0xB0B, base);
               nvnCommandBufferSignalEvent(c, &events[0], NVN_EVENT_SIGNAL_MODE_WRITE, NVN_EVENT_SIGNAL_LOCATION_BOTTOM,
                                           0, 1);
           }));
    nvnQueueFlush(&queues[1]);
    EXPECT_NE(wait(0), NVN_SYNC_WAIT_RESULT_TIMEOUT_EXPIRED);
    EXPECT_EQ(word(0x100), 0xB0Bu);
}

// GFX-037: QueueFinish is the call that waits.
TEST_F(Queues, FinishWaitsForWhatSubmitDoesNot) {
    submit(0, recorders[0]([&](NVNcommandBuffer* c) {
               nvnCommandBufferWaitEvent(c, &events[0], NVN_EVENT_WAIT_MODE_EQUAL, 1);
               nvnCommandBufferReportValue(c, 5, base);
           }));
    std::atomic<bool> finished = false;
    std::thread waiter([&] {
        nvnQueueFinish(&queues[0]);
        finished = true;
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    EXPECT_FALSE(finished);
    nvnEventSignal(&events[0], NVN_EVENT_SIGNAL_MODE_WRITE, 1);
    waiter.join();
    EXPECT_EQ(word(0), 5u);
}

// OBJ-126.
TEST_F(Queues, ACpuSignalPublishesWhatTheCpuWroteBefore) {
    for (std::uint32_t i = 1; i <= 300; ++i) {
        submit(0, recorders[i % 4]([&](NVNcommandBuffer* c) {
                   nvnCommandBufferWaitEvent(c, &events[0], NVN_EVENT_WAIT_MODE_EQUAL, i);
                   nvnCommandBufferCopyBufferToBuffer(c, base, base + 0x1000, 0x400, 0);
               }));
        fence(0, 0);
        for (std::size_t at = 0; at < 0x400; at += 4)
            set_word(at, i * 1000 + static_cast<std::uint32_t>(at));
        nvnEventSignal(&events[0], NVN_EVENT_SIGNAL_MODE_WRITE, i);
        ASSERT_NE(wait(0), NVN_SYNC_WAIT_RESULT_TIMEOUT_EXPIRED) << i;
        for (std::size_t at = 0; at < 0x400; at += 4)
            ASSERT_EQ(word(0x1000 + at), i * 1000 + at) << i;
    }
}

// OBJ-127: who sees the event sees the drawn bytes in the target's storage.
TEST_F(Queues, AGpuSignalComesAfterTheTargetsBytes) {
    NVNtexture texture = make_target(0x10000, 32);
    for (int i = 1; i <= 20; ++i) {
        submit(0, recorders[0]([&](NVNcommandBuffer* c) {
                   target(c, texture);
                   clear(c, i);
                   nvnCommandBufferSignalEvent(c, &events[0], NVN_EVENT_SIGNAL_MODE_WRITE,
                                               NVN_EVENT_SIGNAL_LOCATION_BOTTOM, 0, static_cast<std::uint32_t>(i));
               }));
        nvnQueueFlush(&queues[0]);
        const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
        while (nvnEventGetValue(&events[0]) != static_cast<std::uint32_t>(i))
            ASSERT_LT(std::chrono::steady_clock::now(), deadline);
        ASSERT_EQ(word(0x10000), 0xFF000000u + static_cast<std::uint32_t>(i));
        ASSERT_EQ(word(0x10000 + 31 * 128 + 31 * 4), 0xFF000000u + static_cast<std::uint32_t>(i));
    }
    nvnTextureFinalize(&texture);
}

// OBJ-129, OBJ-146, OBJ-149: more submissions than are in flight at once, each seen exactly once.
TEST_F(Queues, SumsOfManySubmissionsSatisfyAWait) {
    constexpr std::uint32_t count = 1500;
    submit(1, recorders[1]([&](NVNcommandBuffer* c) {
               nvnCommandBufferWaitEvent(c, &events[0], NVN_EVENT_WAIT_MODE_EQUAL, count);
               nvnCommandBufferReportValue(c, 1, base);
           }));
    fence(1, 1);
    const NVNcommandHandle add = recorders[0]([&](NVNcommandBuffer* c) {
        nvnCommandBufferSignalEvent(c, &events[0], NVN_EVENT_SIGNAL_MODE_ADD, NVN_EVENT_SIGNAL_LOCATION_BOTTOM, 0, 1);
    });
    for (std::uint32_t i = 0; i < count; ++i) {
        if (i + 1 == count) {
            nvnQueueFinish(&queues[0]);
            EXPECT_EQ(nvnEventGetValue(&events[0]), count - 1);
            EXPECT_FALSE(signalled(1));
        }
        submit(0, add);
    }
    nvnQueueFlush(&queues[0]);
    EXPECT_NE(wait(1), NVN_SYNC_WAIT_RESULT_TIMEOUT_EXPIRED);
    EXPECT_EQ(nvnEventGetValue(&events[0]), count);
    EXPECT_EQ(word(0), 1u);
}

// OBJ-132.
TEST_F(Queues, AFenceBehindAHeldQueueIsNotReached) {
    submit(0, recorders[0]([&](NVNcommandBuffer* c) {
               nvnCommandBufferWaitEvent(c, &events[0], NVN_EVENT_WAIT_MODE_EQUAL, 1);
           }));
    fence(0, 0);
    for (int i = 0; i < 3; ++i) {
        submit(1, recorders[1]([&](NVNcommandBuffer* c) { nvnCommandBufferReportValue(c, 1, base); }));
        fence(1, 1);
        EXPECT_NE(wait(1), NVN_SYNC_WAIT_RESULT_TIMEOUT_EXPIRED);
        EXPECT_FALSE(signalled(0));
    }
    // A queue that waits for the fence as it is now, and the sync fenced again behind another event.
    nvnQueueWaitSync(&queues[1], &syncs[0]);
    fence(1, 1);
    submit(0, recorders[2]([&](NVNcommandBuffer* c) {
               nvnCommandBufferWaitEvent(c, &events[1], NVN_EVENT_WAIT_MODE_EQUAL, 1);
           }));
    fence(0, 0);
    EXPECT_FALSE(signalled(1));
    nvnEventSignal(&events[0], NVN_EVENT_SIGNAL_MODE_WRITE, 1);
    EXPECT_NE(wait(1), NVN_SYNC_WAIT_RESULT_TIMEOUT_EXPIRED);
    EXPECT_FALSE(signalled(0));
    nvnEventSignal(&events[1], NVN_EVENT_SIGNAL_MODE_WRITE, 1);
    EXPECT_NE(wait(0), NVN_SYNC_WAIT_RESULT_TIMEOUT_EXPIRED);
}

// OBJ-138.
TEST_F(Queues, ARecordedFenceSplitsItsCommandBuffer) {
    submit(0, recorders[0]([&](NVNcommandBuffer* c) {
               nvnCommandBufferReportValue(c, 11, base);
               nvnCommandBufferFenceSync(c, &syncs[0], NVN_SYNC_CONDITION_ALL_GPU_COMMANDS_COMPLETE, 0);
               nvnCommandBufferWaitEvent(c, &events[0], NVN_EVENT_WAIT_MODE_EQUAL, 1);
               nvnCommandBufferReportValue(c, 22, base + 0x10);
           }));
    fence(0, 1);
    EXPECT_NE(wait(0), NVN_SYNC_WAIT_RESULT_TIMEOUT_EXPIRED);
    EXPECT_EQ(word(0), 11u);
    EXPECT_EQ(word(0x10), 0u);
    EXPECT_FALSE(signalled(1));
    nvnEventSignal(&events[0], NVN_EVENT_SIGNAL_MODE_WRITE, 1);
    EXPECT_NE(wait(1), NVN_SYNC_WAIT_RESULT_TIMEOUT_EXPIRED);
    EXPECT_EQ(word(0x10), 22u);
}

// OBJ-135, OBJ-136: targets are set once for each queue; a new queue at an old address has none.
TEST_F(Queues, EachQueueKeepsItsOwnState) {
    NVNtexture first = make_target(0x10000), second = make_target(0x20000);
    submit(0, recorders[0]([&](NVNcommandBuffer* c) { target(c, first); }));
    submit(1, recorders[1]([&](NVNcommandBuffer* c) { target(c, second); }));
    for (int i = 1; i <= 10; ++i) {
        submit(0, recorders[2]([&](NVNcommandBuffer* c) { clear(c, i); }));
        submit(1, recorders[3]([&](NVNcommandBuffer* c) { clear(c, 100 + i); }));
        nvnQueueFinish(&queues[0]);
        nvnQueueFinish(&queues[1]);
        ASSERT_EQ(word(0x10000), 0xFF000000u + static_cast<std::uint32_t>(i));
        ASSERT_EQ(word(0x20000), 0xFF000000u + 100u + static_cast<std::uint32_t>(i));
    }
    nvnQueueFinalize(&queues[0]);
    make_queue(queues[0]);
    submit(0, recorders[2]([&](NVNcommandBuffer* c) { clear(c, 200); }));
    submit(1, recorders[3]([&](NVNcommandBuffer* c) { clear(c, 201); }));
    nvnQueueFinish(&queues[0]);
    nvnQueueFinish(&queues[1]);
    EXPECT_EQ(word(0x10000), 0xFF000000u + 10u);
    EXPECT_EQ(word(0x20000), 0xFF000000u + 201u);
    nvnTextureFinalize(&first);
    nvnTextureFinalize(&second);
}

// OBJ-139.
TEST_F(Queues, TwoThreadsSubmitAtOnce) {
    NVNtexture textures[2] = {make_target(0x10000), make_target(0x20000)};
    std::array<std::thread, 2> threads;
    for (int t = 0; t < 2; ++t)
        threads[static_cast<std::size_t>(t)] = std::thread([&, t] {
            Recorder& recorder = recorders[static_cast<std::size_t>(t)];
            for (int i = 1; i <= 250; ++i) {
                submit(t, recorder([&](NVNcommandBuffer* c) {
                           target(c, textures[t]);
                           clear(c, i);
                           nvnCommandBufferReportValue(c, static_cast<std::uint32_t>(i),
                                                       base + static_cast<unsigned>(t) * 64);
                       }));
                if (i % 10 == 0)
                    nvnQueueFinish(&queues[t]);
            }
        });
    for (std::thread& thread : threads)
        thread.join();
    for (std::size_t t = 0; t < 2; ++t) {
        EXPECT_EQ(word(t * 64), 250u);
        EXPECT_EQ(word(0x10000 * (t + 1)), 0xFF000000u + 250u);
        nvnTextureFinalize(&textures[t]);
    }
}

// OBJ-147.
TEST_F(Queues, TimestampsAreThereWhenTheWaitReturns) {
    for (int round = 0; round < 20; ++round) {
        std::memset(storage.get() + data, 0, 5 * 16);
        submit(0, recorders[0]([&](NVNcommandBuffer* c) {
                   for (unsigned i = 0; i < 5; ++i)
                       nvnCommandBufferReportCounter(c, NVN_COUNTER_TYPE_TIMESTAMP, base + i * 16);
               }));
        fence(0, 0);
        ASSERT_NE(wait(0), NVN_SYNC_WAIT_RESULT_TIMEOUT_EXPIRED);
        const std::uint64_t now = nvnDeviceGetCurrentTimestampInNanoseconds(&device);
        std::uint64_t last = 0;
        for (unsigned i = 0; i < 5; ++i) {
            NVNcounterData counter;
            std::memcpy(&counter, storage.get() + data + i * 16, sizeof counter);
            const std::uint64_t time = nvnDeviceGetTimestampInNanoseconds(&device, &counter);
            ASSERT_NE(counter.timestamp, 0u) << i;
            ASSERT_GE(time, last) << i;
            last = time;
        }
        ASSERT_LE(last, now);
    }
}

// OBJ-240: what the CPU may not map the GPU copies to and from all the same.
TEST_F(Queues, APoolWithoutCpuAccessIsMemoryForTheGpu) {
    std::unique_ptr<std::byte, Free> memory{static_cast<std::byte*>(std::aligned_alloc(0x10000, 0x10000))};
    std::memset(memory.get(), 0, 0x10000);
    NVNmemoryPoolBuilder builder;
    nvnMemoryPoolBuilderSetDevice(&builder, &device);
    nvnMemoryPoolBuilderSetDefaults(&builder);
    nvnMemoryPoolBuilderSetFlags(&builder, NVN_MEMORY_POOL_FLAGS_CPU_NO_ACCESS | NVN_MEMORY_POOL_FLAGS_GPU_CACHED);
    nvnMemoryPoolBuilderSetStorage(&builder, memory.get(), 0x10000);
    NVNmemoryPool hidden;
    ASSERT_TRUE(nvnMemoryPoolInitialize(&hidden, &builder));
    EXPECT_EQ(nvnMemoryPoolMap(&hidden), nullptr);
    NVNbufferBuilder buffer_builder;
    nvnBufferBuilderSetDevice(&buffer_builder, &device);
    nvnBufferBuilderSetDefaults(&buffer_builder);
    nvnBufferBuilderSetStorage(&buffer_builder, &hidden, 0x100, 0x100);
    NVNbuffer buffer;
    ASSERT_TRUE(nvnBufferInitialize(&buffer, &buffer_builder));
    EXPECT_EQ(nvnBufferMap(&buffer), nullptr);
    EXPECT_NE(nvnMemoryPoolMap(&pool), nullptr);
    set_word(0, 0x600D);
    submit(0, recorders[0]([&](NVNcommandBuffer* c) {
               nvnCommandBufferCopyBufferToBuffer(c, base, nvnBufferGetAddress(&buffer), 4, 0);
               nvnCommandBufferBarrier(c, ~0);
               nvnCommandBufferCopyBufferToBuffer(c, nvnBufferGetAddress(&buffer), base + 0x40, 4, 0);
           }));
    nvnQueueFinish(&queues[0]);
    EXPECT_EQ(word(0x40), 0x600Du);
    nvnBufferFinalize(&buffer);
    nvnMemoryPoolFinalize(&hidden);
}

// GFX-034: a kernel's read() fails on a page that is protected for write tracking, unless it was announced; what it
// wrote is seen.
TEST_F(Queues, AnnouncedWritesOfTheKernelArrive) {
    NVNtextureBuilder builder; // block linear: its first texel is its first word
    nvnTextureBuilderSetDevice(&builder, &device);
    nvnTextureBuilderSetDefaults(&builder);
    nvnTextureBuilderSetTarget(&builder, NVN_TEXTURE_TARGET_2D);
    nvnTextureBuilderSetFormat(&builder, NVN_FORMAT_RGBA8);
    nvnTextureBuilderSetSize2D(&builder, 256, 256);
    nvnTextureBuilderSetStorage(&builder, &pool, data + 0x10000);
    NVNtexture texture;
    ASSERT_TRUE(nvnTextureInitialize(&texture, &builder));
    const auto copy_out = [&] {
        submit(0, recorders[0]([&](NVNcommandBuffer* c) {
                   const NVNcopyRegion texel{0, 0, 0, 1, 1, 1};
                   nvnCommandBufferCopyTextureToBuffer(c, &texture, nullptr, &texel, base, 0);
               }));
        nvnQueueFinish(&queues[0]);
        return word(0);
    };
    set_word(0x10000, 0x11223344);
    EXPECT_EQ(copy_out(), 0x11223344u);
    int ends[2];
    ASSERT_EQ(::pipe(ends), 0);
    const std::uint32_t texel = 0x55667788;
    ASSERT_EQ(::write(ends[1], &texel, sizeof texel), static_cast<ssize_t>(sizeof texel));
    std::byte* const target = storage.get() + data + 0x10000;
    heaviside_guest_write_prepare(reinterpret_cast<std::uintptr_t>(target), sizeof texel);
    EXPECT_EQ(::read(ends[0], target, sizeof texel), static_cast<ssize_t>(sizeof texel)) << std::strerror(errno);
    EXPECT_EQ(copy_out(), 0x55667788u);
    ::close(ends[0]);
    ::close(ends[1]);
    nvnTextureFinalize(&texture);
}

// OBJ-134: work that waits has what it names by value: the texture may end and its object be overwritten.
TEST_F(Queues, WaitingWorkKeepsItsTextures) {
    NVNtexture texture = make_target(0x10000);
    set_word(0x10000, 0x7E47);
    submit(0, recorders[0]([&](NVNcommandBuffer* c) {
               nvnCommandBufferWaitEvent(c, &events[0], NVN_EVENT_WAIT_MODE_EQUAL, 1);
               const NVNcopyRegion texel{0, 0, 0, 1, 1, 1};
               nvnCommandBufferCopyTextureToBuffer(c, &texture, nullptr, &texel, base, 0);
           }));
    fence(0, 0);
    nvnTextureFinalize(&texture);
    std::memset(&texture, 0xEE, sizeof texture);
    nvnEventSignal(&events[0], NVN_EVENT_SIGNAL_MODE_WRITE, 1);
    EXPECT_NE(wait(0), NVN_SYNC_WAIT_RESULT_TIMEOUT_EXPIRED);
    EXPECT_EQ(word(0), 0x7E47u);
}

} // namespace
