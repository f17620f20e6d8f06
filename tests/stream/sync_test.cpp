#include "stream/buffer.h"
#include "stream/sync.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

namespace heaviside::stream {
namespace {

// Ledger OBJ-125, with its numbers.
TEST(EventHolds, ComparesEqualOrWrapping) {
    EXPECT_TRUE(event_holds(0, 5, 5));
    EXPECT_FALSE(event_holds(0, 6, 5));
    EXPECT_TRUE(event_holds(1, 6, 5));
    EXPECT_TRUE(event_holds(1, 5, 5));
    EXPECT_FALSE(event_holds(1, 4, 5));
    EXPECT_TRUE(event_holds(1, 0x00000001, 0xFFFFFFFF));
    EXPECT_FALSE(event_holds(1, 0x7FFFFFFF, 0xFFFFFFFF)); // the difference is 0x80000000
    EXPECT_FALSE(event_holds(2, 5, 5));
}

TEST(EventSignalled, WritesOrAdds) {
    EXPECT_EQ(event_signalled(0, 7, 3), 3u);
    EXPECT_EQ(event_signalled(1, 7, 3), 10u);
    EXPECT_EQ(event_signalled(1, 0xFFFFFFFF, 2), 1u);
}

TEST(SyncCounters, CountUpAndForget) {
    SyncCounters counters;
    EXPECT_TRUE(counters.reached(1, 0)); // no fence
    EXPECT_FALSE(counters.reached(1, 1));
    counters.signal(1, 2);
    EXPECT_TRUE(counters.reached(1, 1));
    EXPECT_TRUE(counters.reached(1, 2));
    EXPECT_FALSE(counters.reached(1, 3));
    EXPECT_FALSE(counters.reached(2, 1));
    counters.signal(1, 1); // late news of an earlier fence
    EXPECT_TRUE(counters.reached(1, 2));
    counters.forget(1);
    EXPECT_FALSE(counters.reached(1, 1));
}

TEST(SyncCounters, CompareWithWrapAround) {
    SyncCounters counters;
    counters.signal(1, 0x7000'0000);
    counters.signal(1, 0xE000'0000);
    counters.signal(1, 2);
    EXPECT_TRUE(counters.reached(1, 0xFFFF'FFFF));
    EXPECT_FALSE(counters.reached(1, 3));
}

TEST(SyncCounters, WaitEndsAtTheSignalOrTheTimeout) {
    SyncCounters counters;
    using Clock = std::chrono::steady_clock;
    const auto start = Clock::now();
    EXPECT_FALSE(counters.wait(1, 1, 0));
    EXPECT_FALSE(counters.wait(1, 1, 20'000'000)); // 20 ms in all (ledger OBJ-148)
    const auto waited = Clock::now() - start;
    EXPECT_GE(waited, std::chrono::milliseconds(20));
    EXPECT_LT(waited, std::chrono::seconds(5));
    std::thread signaller([&] { counters.signal(1, 1); });
    EXPECT_TRUE(counters.wait(1, 1, ~u64{0}));
    signaller.join();
    EXPECT_TRUE(counters.wait(1, 1, 0));
}

// Ledger OBJ-148: what wakes a wait without ending it does not start its time anew.
TEST(SyncCounters, OtherSignalsDoNotLengthenAWait) {
    SyncCounters counters;
    std::atomic<bool> stop = false;
    std::thread others([&] {
        for (u32 i = 1; !stop; ++i) {
            counters.signal(2, i);
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
        }
    });
    using Clock = std::chrono::steady_clock;
    const auto start = Clock::now();
    EXPECT_FALSE(counters.wait(1, 1, 30'000'000));
    const auto waited = Clock::now() - start;
    EXPECT_GE(waited, std::chrono::milliseconds(30));
    EXPECT_LT(waited, std::chrono::seconds(5)); // for ever, if each signal gave 30 ms more
    stop = true;
    others.join();
}

TEST(BufferPool, GivesTheSameMemoryAgain) {
    const auto pool = std::make_shared<BufferPool>();
    const u32 words[3] = {1, 2, 3};
    const u32* memory = nullptr;
    {
        Buffer buffer = pool->take();
        buffer.append(std::as_bytes(std::span(words)));
        memory = buffer.words().data();
        EXPECT_EQ(buffer.bytes().size(), 12u);
        EXPECT_EQ(pool->idle_count(), 0u);
        const Buffer moved = std::move(buffer);
        EXPECT_EQ(moved.bytes().size(), 12u);
    }
    EXPECT_EQ(pool->idle_count(), 1u);
    Buffer again = pool->take();
    EXPECT_TRUE(again.empty());
    again.append(std::as_bytes(std::span(words)));
    EXPECT_EQ(again.words().data(), memory);
}

} // namespace
} // namespace heaviside::stream
