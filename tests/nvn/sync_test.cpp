#include "command_fixture.h"
#include "nvn/sync.h"

#include <algorithm>
#include <chrono>
#include <thread>

namespace heaviside::nvn {
namespace {

using namespace stream;

class SyncTest : public CommandTest {
protected:
    SyncTest() { EXPECT_TRUE(nvnSyncInitialize(&sync, &device)); }
    ~SyncTest() override { nvnSyncFinalize(&sync); }
    void fence() { nvnQueueFenceSync(&queue, &sync, NVN_SYNC_CONDITION_ALL_GPU_COMMANDS_COMPLETE, 0); }
    NVNcommandHandle recorded_fence() {
        begin(cmd, 0, 4096);
        nvnCommandBufferFenceSync(&cmd, &sync, NVN_SYNC_CONDITION_GRAPHICS_WORLD_SPACE_COMPLETE, 1);
        return nvnCommandBufferEndRecording(&cmd);
    }
    NVNsync sync{};
};

// Ledger OBJ-143: games re-initialise frame syncs and give up on a timeout.
TEST_F(SyncTest, NeverFencedIsSignalled) {
    EXPECT_EQ(nvnSyncWait(&sync, 15'000'000'000), NVN_SYNC_WAIT_RESULT_ALREADY_SIGNALED);
    fence();
    sink.complete();
    EXPECT_EQ(nvnSyncWait(&sync, 0), NVN_SYNC_WAIT_RESULT_ALREADY_SIGNALED);
    fence();
    const stream::SyncId before = layout(&sync)->id;
    ASSERT_TRUE(nvnSyncInitialize(&sync, &device)); // again, without Finalize, with a fence pending
    EXPECT_EQ(nvnSyncWait(&sync, 15'000'000'000), NVN_SYNC_WAIT_RESULT_ALREADY_SIGNALED);
    EXPECT_EQ(std::ranges::count(sink.destroyed_syncs, before), 0); // it may have moved
    for (std::size_t i = 0; i < SyncTable::abandoned_limit; ++i)
        ASSERT_TRUE(nvnSyncInitialize(&sync, &device));
    EXPECT_EQ(std::ranges::count(sink.destroyed_syncs, before), 1);
}

// A container that grows moves its syncs by copying their bytes and sets new ones up where they were.
TEST_F(SyncTest, MovedByCopyingItKeepsItsFence) {
    fence();
    NVNsync moved = sync;
    ASSERT_TRUE(nvnSyncInitialize(&sync, &device));
    EXPECT_EQ(nvnSyncWait(&moved, 0), NVN_SYNC_WAIT_RESULT_TIMEOUT_EXPIRED);
    EXPECT_EQ(nvnSyncWait(&sync, 0), NVN_SYNC_WAIT_RESULT_ALREADY_SIGNALED);
    sink.complete();
    EXPECT_EQ(nvnSyncWait(&moved, 0), NVN_SYNC_WAIT_RESULT_ALREADY_SIGNALED);
    const stream::SyncId id = layout(&moved)->id;
    nvnSyncFinalize(&moved);
    EXPECT_EQ(std::ranges::count(sink.destroyed_syncs, id), 1);
    fence(); // the new one is untouched by that
    EXPECT_EQ(nvnSyncWait(&sync, 0), NVN_SYNC_WAIT_RESULT_TIMEOUT_EXPIRED);
    EXPECT_EQ(nvnSyncWait(&moved, 0), NVN_SYNC_WAIT_RESULT_FAILED); // after Finalize
}

class BudgetSink : public KeepingSink {
public:
    std::vector<u64> budgets;
    bool wait_sync(stream::SyncId, u32, u64 timeout_ns) override {
        budgets.push_back(timeout_ns);
        return false;
    }
};

// Ledger OBJ-148: one wait with the whole budget, whatever it is.
TEST_F(SyncTest, TheTimeoutIsHandedOnOnce) {
    fence();
    BudgetSink budget;
    set_sink(&budget);
    for (const u64 timeout : {u64{0}, u64{1}, u64{999'999}, u64{20'000'000}, u64{NVN_WAIT_TIMEOUT_MAXIMUM}})
        EXPECT_EQ(nvnSyncWait(&sync, timeout), NVN_SYNC_WAIT_RESULT_TIMEOUT_EXPIRED);
    EXPECT_EQ(budget.budgets, (std::vector<u64>{0, 1, 999'999, 20'000'000, ~u64{0}}));
    set_sink(&sink);
}

TEST_F(SyncTest, WaitsForTheNewestFence) {
    fence();
    EXPECT_EQ(nvnSyncWait(&sync, 0), NVN_SYNC_WAIT_RESULT_TIMEOUT_EXPIRED);
    EXPECT_EQ(nvnSyncWait(&sync, 1'000'000), NVN_SYNC_WAIT_RESULT_TIMEOUT_EXPIRED);
    sink.complete();
    EXPECT_EQ(nvnSyncWait(&sync, 0), NVN_SYNC_WAIT_RESULT_ALREADY_SIGNALED);
    fence();
    EXPECT_EQ(nvnSyncWait(&sync, 0), NVN_SYNC_WAIT_RESULT_TIMEOUT_EXPIRED);
    std::thread gpu([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        sink.complete();
    });
    EXPECT_EQ(nvnSyncWait(&sync, NVN_WAIT_TIMEOUT_MAXIMUM), NVN_SYNC_WAIT_RESULT_CONDITION_SATISFIED);
    gpu.join();
}

// Ledger OBJ-118: a fence that is only recorded does not exist.
TEST_F(SyncTest, ARecordedFenceCountsFromItsSubmission) {
    fence();
    sink.complete();
    const NVNcommandHandle handle = recorded_fence();
    EXPECT_EQ(nvnSyncWait(&sync, NVN_WAIT_TIMEOUT_MAXIMUM), NVN_SYNC_WAIT_RESULT_ALREADY_SIGNALED);
    submit(handle);
    EXPECT_EQ(nvnSyncWait(&sync, 0), NVN_SYNC_WAIT_RESULT_TIMEOUT_EXPIRED);
    sink.complete();
    EXPECT_EQ(nvnSyncWait(&sync, 0), NVN_SYNC_WAIT_RESULT_ALREADY_SIGNALED);
    submit(handle); // the same list again is a new fence
    EXPECT_EQ(nvnSyncWait(&sync, 0), NVN_SYNC_WAIT_RESULT_TIMEOUT_EXPIRED);
    const auto fences = records<FenceSync>();
    ASSERT_EQ(fences.size(), 3u);
    EXPECT_EQ(fences[1].value, fences[0].value + 1);
    EXPECT_EQ(fences[2].value, fences[0].value + 2);
    EXPECT_EQ(fences[2].condition, 1);
    EXPECT_EQ(fences[2].flags, 1);
}

// Ledger OBJ-131, OBJ-132: a wait means the fence that is the newest when it is submitted.
TEST_F(SyncTest, ARecordedWaitMeansTheNewestFenceAtItsSubmission) {
    begin(cmd, 0, 4096);
    nvnCommandBufferWaitSync(&cmd, &sync);
    const NVNcommandHandle wait = nvnCommandBufferEndRecording(&cmd);
    submit(wait);
    fence();
    submit(wait);
    fence();
    const auto waits = records<WaitSync>();
    const auto fences = records<FenceSync>();
    ASSERT_EQ(waits.size(), 2u);
    EXPECT_EQ(waits[0].value, 0u); // no fence yet: passes
    EXPECT_EQ(waits[1].value, fences[0].value);
    EXPECT_EQ(waits[1].sync, fences[0].sync);
    sink.submissions.clear();
    NVNsync fresh{};
    nvnSyncInitialize(&fresh, &device);
    EXPECT_TRUE(nvnQueueWaitSync(&queue, &fresh));
    EXPECT_TRUE(sink.submissions.empty());
    nvnSyncFinalize(&fresh);
}

// A recorded fence of a sync that is gone by then signals nothing, and nobody looks at the object.
TEST_F(SyncTest, AFenceOfAFinalisedSyncIsHarmless) {
    NVNsync gone{};
    nvnSyncInitialize(&gone, &device);
    begin(cmd, 0, 4096);
    nvnCommandBufferFenceSync(&cmd, &gone, NVN_SYNC_CONDITION_ALL_GPU_COMMANDS_COMPLETE, 0);
    const NVNcommandHandle handle = nvnCommandBufferEndRecording(&cmd);
    nvnSyncFinalize(&gone);
    std::memset(&gone, 0xdd, sizeof gone);
    submit(handle);
    ASSERT_EQ(records<FenceSync>().size(), 1u);
    EXPECT_EQ(records<FenceSync>()[0].value, 0u);
    EXPECT_EQ(take_errors(), 0u);
    for (const u8 byte : std::span(reinterpret_cast<const u8*>(&gone), sizeof gone))
        ASSERT_EQ(byte, 0xdd);
}

TEST_F(SyncTest, ACopyIsTheSameSync) {
    NVNsync copy = sync;
    fence();
    EXPECT_EQ(nvnSyncWait(&copy, 0), NVN_SYNC_WAIT_RESULT_TIMEOUT_EXPIRED);
    sink.complete();
    EXPECT_EQ(nvnSyncWait(&copy, 0), NVN_SYNC_WAIT_RESULT_ALREADY_SIGNALED);
}

TEST_F(SyncTest, InvalidSyncsFail) {
    NVNsync none{};
    EXPECT_EQ(nvnSyncWait(&none, 0), NVN_SYNC_WAIT_RESULT_FAILED);
    EXPECT_EQ(nvnSyncWait(nullptr, 0), NVN_SYNC_WAIT_RESULT_FAILED);
    EXPECT_FALSE(nvnSyncInitialize(nullptr, &device));
    EXPECT_FALSE(nvnSyncInitialize(&none, nullptr));
    EXPECT_FALSE(nvnSyncInitializeFromFencedGLSync(&none, &device, 1));
    begin(cmd, 0, 4096);
    nvnCommandBufferFenceSync(&cmd, &none, NVN_SYNC_CONDITION_ALL_GPU_COMMANDS_COMPLETE, 0);
    nvnCommandBufferWaitSync(&cmd, nullptr);
    EXPECT_EQ(take_errors(), 7u);
    EXPECT_EQ(nvnCommandBufferGetCommandMemoryUsed(&cmd), 0u);
    nvnCommandBufferEndRecording(&cmd);
}

} // namespace
} // namespace heaviside::nvn
