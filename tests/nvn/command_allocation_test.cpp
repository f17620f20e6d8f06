// A running program records and submits without heap allocations.
#include "command_fixture.h"

#include <atomic>
#include <cstdlib>
#include <new>

// The sanitizers bring an operator new of their own.
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
#define HEAVISIDE_COUNTS_ALLOCATIONS 0
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer) || __has_feature(address_sanitizer)
#define HEAVISIDE_COUNTS_ALLOCATIONS 0
#endif
#endif
#ifndef HEAVISIDE_COUNTS_ALLOCATIONS
#define HEAVISIDE_COUNTS_ALLOCATIONS 1
#endif

namespace {
std::atomic<std::size_t> allocations = 0;
} // namespace

#if HEAVISIDE_COUNTS_ALLOCATIONS
// Not inlined: a compiler that sees through one of a pair takes the other for a mismatch.
[[gnu::noinline]] void* operator new(std::size_t size) {
    allocations.fetch_add(1, std::memory_order_relaxed);
    if (void* const memory = std::malloc(size ? size : 1))
        return memory;
    throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept {
    std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept {
    std::free(memory);
}
#endif

namespace heaviside::nvn {
namespace {

TEST_F(CommandTest, FramesAfterTheFirstAllocateNothing) {
    if (!HEAVISIDE_COUNTS_ALLOCATIONS)
        GTEST_SKIP() << "allocations are the sanitizer's";
    set_sink(nullptr); // nothing connected: completes everything at once
    NVNsync sync{};
    nvnSyncInitialize(&sync, &device);
    NVNqueue quiet{};
    make_queue(quiet);
    const NVNtexture texture = make_texture(64, 64);
    const NVNtexture* const colors[] = {&texture};
    std::array<u8, 256> data{};
    NVNblendState blend;
    nvnBlendStateSetDefaults(&blend);
    const auto frame = [&] {
        begin(cmd, 0, 64 * 1024);
        nvnCommandBufferSetRenderTargets(&cmd, 1, colors, nullptr, nullptr, nullptr);
        for (int i = 0; i < 100; ++i) {
            nvnCommandBufferBindBlendState(&cmd, &blend);
            nvnCommandBufferUpdateUniformBuffer(&cmd, 0x1000, 256, 0, data.size(), data.data());
            nvnCommandBufferBindTexture(&cmd, NVN_SHADER_STAGE_FRAGMENT, 0, 1);
            draw(cmd, i);
        }
        const NVNcommandHandle handle = nvnCommandBufferEndRecording(&cmd);
        nvnQueueSubmitCommands(&quiet, 1, &handle);
        nvnQueueFenceSync(&quiet, &sync, NVN_SYNC_CONDITION_ALL_GPU_COMMANDS_COMPLETE, 0);
        nvnSyncWait(&sync, NVN_WAIT_TIMEOUT_MAXIMUM);
    };
    const std::size_t before_first = allocations;
    frame();
    EXPECT_GT(allocations, before_first); // the count counts: the first frame makes the stream's buffer
    const std::size_t after_first = allocations;
    for (int i = 0; i < 100; ++i)
        frame();
    EXPECT_EQ(allocations, after_first);
    nvnQueueFinalize(&quiet);
    nvnSyncFinalize(&sync);
    set_sink(&sink);
}

} // namespace
} // namespace heaviside::nvn
