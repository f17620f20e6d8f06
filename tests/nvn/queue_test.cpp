// Queues: submissions, their state and order, fences recorded and queued, several queues and threads.
#include "command_fixture.h"

#include <algorithm>
#include <thread>

namespace heaviside::nvn {
namespace {

using namespace stream;

class QueueTest : public CommandTest {
protected:
    // A list with one draw, at a place of its own.
    NVNcommandHandle list(int number) {
        nvnCommandBufferAddCommandMemory(&cmd, &pool, 4096 * number, 4096);
        nvnCommandBufferAddControlMemory(&cmd, lists_.at(static_cast<std::size_t>(number)).data(), 256);
        nvnCommandBufferBeginRecording(&cmd);
        draw(cmd, number);
        return nvnCommandBufferEndRecording(&cmd);
    }
    alignas(8) std::array<std::array<u64, 32>, 16> lists_{};
};

// Ledger OBJ-100.
TEST_F(QueueTest, BuilderSizesTellWhetherTheyWereSet) {
    NVNqueueBuilder builder{};
    nvnQueueBuilderSetDevice(&builder, &device);
    nvnQueueBuilderSetDefaults(&builder); // keeps the device
    EXPECT_EQ(nvnQueueBuilderGetDevice(&builder), &device);
    int size = 0;
    EXPECT_FALSE(nvnQueueBuilderGetCommandMemorySize(&builder, &size));
    EXPECT_FALSE(nvnQueueBuilderGetComputeMemorySize(&builder, &size));
    EXPECT_FALSE(nvnQueueBuilderGetControlMemorySize(&builder, &size));
    EXPECT_FALSE(nvnQueueBuilderGetCommandFlushThreshold(&builder, &size));
    const std::size_t defaults = nvnQueueBuilderGetQueueMemorySize(&builder);
    EXPECT_EQ(defaults % 4096, 0u);
    EXPECT_GE(defaults, 65536u + 262144u + 16384u); // device integers 0x52, 0x55, 0x5c
    nvnQueueBuilderSetCommandMemorySize(&builder, 0x20000);
    EXPECT_TRUE(nvnQueueBuilderGetCommandMemorySize(&builder, &size));
    EXPECT_EQ(size, 0x20000);
    EXPECT_EQ(nvnQueueBuilderGetQueueMemorySize(&builder), defaults + 0x10000);
    nvnQueueBuilderSetComputeMemorySize(&builder, 0);
    EXPECT_TRUE(nvnQueueBuilderGetComputeMemorySize(&builder, &size));
    EXPECT_EQ(size, 0);
    EXPECT_EQ(nvnQueueBuilderGetQueueMemorySize(&builder), defaults + 0x10000 - 262144);
    nvnQueueBuilderSetCommandFlushThreshold(&builder, 8192);
    EXPECT_TRUE(nvnQueueBuilderGetCommandFlushThreshold(&builder, &size));
    EXPECT_EQ(size, 8192);
    nvnQueueBuilderSetFlags(&builder, NVN_QUEUE_BUILDER_FLAGS_NO_ZCULL);
    EXPECT_EQ(nvnQueueBuilderGetFlags(&builder), 2);
    nvnQueueBuilderSetQueuePriority(&builder, NVN_QUEUE_PRIORITY_HIGH);
    EXPECT_EQ(nvnQueueBuilderGetQueuePriority(&builder), NVN_QUEUE_PRIORITY_HIGH);
    nvnQueueBuilderSetQueueMemory(&builder, &size, 4096);
    EXPECT_EQ(nvnQueueBuilderGetMemory(&builder), &size);
    EXPECT_EQ(nvnQueueBuilderGetMemorySize(&builder), 4096);
}

TEST_F(QueueTest, SubmitsItsListsAsOneStreamInOrder) {
    const NVNcommandHandle handles[] = {list(1), list(2), list(3)};
    nvnQueueSubmitCommands(&queue, 3, handles);
    ASSERT_EQ(sink.submissions.size(), 1u);
    EXPECT_EQ(draws(), (std::vector{1, 2, 3}));
    nvnQueueSubmitCommands(&queue, 0, handles);
    nvnQueueSubmitCommands(&queue, 1, nullptr);
    EXPECT_EQ(take_errors(), 1u);
    EXPECT_EQ(sink.submissions.size(), 1u);
}

// A stream is a copy: what the guest writes afterwards changes nothing.
TEST_F(QueueTest, AStreamIsImmutable) {
    const NVNcommandHandle handle = list(1);
    submit(handle);
    std::memset(memory(4096), 0xff, 4096);
    EXPECT_EQ(draws(), (std::vector{1}));
}

// CPU writes after recording and before submitting are seen (as a GPU sees them in uncached memory).
TEST_F(QueueTest, CommandMemoryIsReadAtSubmission) {
    const NVNcommandHandle handle = list(1);
    const i32 first = 99;
    std::memcpy(memory(4096 + offsetof(stream::DrawArrays, first)), &first, sizeof first);
    submit(handle);
    EXPECT_EQ(draws(), (std::vector{99}));
}

// Ledger OBJ-135, OBJ-136: state is the sink's to keep per queue; a queue made again at an address is another one.
TEST_F(QueueTest, EveryInitialisationIsAQueueOfItsOwn) {
    const QueueId first = sink.queues.back().queue;
    NVNqueue other{};
    make_queue(other);
    const QueueId second = sink.queues.back().queue;
    EXPECT_NE(first, second);
    const NVNcommandHandle handle = list(1);
    nvnQueueSubmitCommands(&other, 1, &handle);
    submit(handle);
    EXPECT_EQ(sink.submissions[0].queue, second);
    EXPECT_EQ(sink.submissions[1].queue, first);
    sink.log.clear();
    nvnQueueFinalize(&other);
    EXPECT_EQ(sink.log, (std::vector<std::string>{"finish " + std::to_string(second),
                                                  "queue_destroyed " + std::to_string(second)}));
    nvnQueueSubmitCommands(&other, 1, &handle);
    EXPECT_EQ(take_errors(), 1u);
    make_queue(other);
    const QueueId third = sink.queues.back().queue;
    EXPECT_NE(third, second);
    sink.log.clear();
    make_queue(other); // without Finalize: the old one ends
    EXPECT_EQ(sink.log.at(1), "queue_destroyed " + std::to_string(third));
    nvnQueueFinalize(&other);
}

// Ledger REN-104: facing follows the origin at initialisation, the rest the device's current one.
TEST_F(QueueTest, TheWindowOriginIsCapturedAndPassedOn) {
    nvnDeviceSetWindowOriginMode(&device, NVN_WINDOW_ORIGIN_MODE_UPPER_LEFT);
    nvnDeviceSetDepthMode(&device, NVN_DEPTH_MODE_NEAR_IS_ZERO);
    NVNqueue other{};
    make_queue(other);
    EXPECT_EQ(sink.queues.back().description.window_origin, NVN_WINDOW_ORIGIN_MODE_UPPER_LEFT);
    EXPECT_EQ(sink.queues.front().description.window_origin, NVN_WINDOW_ORIGIN_MODE_LOWER_LEFT);
    submit(list(1));
    EXPECT_EQ(sink.submissions[0].modes.window_origin, NVN_WINDOW_ORIGIN_MODE_UPPER_LEFT);
    EXPECT_EQ(sink.submissions[0].modes.depth_mode, NVN_DEPTH_MODE_NEAR_IS_ZERO);
    nvnQueueFinalize(&other);
}

TEST_F(QueueTest, CallsReachTheSinkInOrder) {
    NVNsync sync{};
    nvnSyncInitialize(&sync, &device);
    sink.log.clear();
    submit(list(1));
    nvnQueueFenceSync(&queue, &sync, NVN_SYNC_CONDITION_ALL_GPU_COMMANDS_COMPLETE, 0);
    nvnQueueWaitSync(&queue, &sync);
    nvnQueueFlush(&queue);
    nvnQueueFinish(&queue);
    const std::string id = std::to_string(sink.queues[0].queue);
    EXPECT_EQ(sink.log, (std::vector<std::string>{"submit " + id, "submit " + id, "submit " + id, "flush " + id,
                                                  "finish " + id}));
    EXPECT_EQ(types(), (std::vector{RecordType::DrawArrays, RecordType::FenceSync, RecordType::WaitSync}));
    EXPECT_EQ(records<WaitSync>()[0].value, records<FenceSync>()[0].value);
    EXPECT_EQ(records<WaitSync>()[0].sync, records<FenceSync>()[0].sync);
    nvnSyncFinalize(&sync);
}

TEST_F(QueueTest, MemoryUseIsCountedAndReset) {
    EXPECT_EQ(nvnQueueGetTotalControlMemoryUsed(&queue), 0u);
    submit(list(1));
    EXPECT_EQ(nvnQueueGetTotalControlMemoryUsed(&queue), 8u);
    NVNsync sync{};
    nvnSyncInitialize(&sync, &device);
    nvnQueueFenceSync(&queue, &sync, NVN_SYNC_CONDITION_ALL_GPU_COMMANDS_COMPLETE, 0);
    EXPECT_EQ(nvnQueueGetTotalCommandMemoryUsed(&queue), sizeof(FenceSync));
    nvnQueueResetMemoryUsageCounts(&queue);
    EXPECT_EQ(nvnQueueGetTotalCommandMemoryUsed(&queue), 0u);
    EXPECT_EQ(nvnQueueGetTotalControlMemoryUsed(&queue), 0u);
    EXPECT_EQ(nvnQueueGetError(&queue, nullptr), NVN_QUEUE_GET_ERROR_RESULT_GPU_NO_ERROR);
    nvnSyncFinalize(&sync);
}

TEST_F(QueueTest, InvalidObjectsAreReportedAndSkipped) {
    NVNqueue none{};
    NVNsync no_sync{};
    const NVNcommandHandle handle = list(1);
    nvnQueueSubmitCommands(&none, 1, &handle);
    nvnQueueSubmitCommands(nullptr, 1, &handle);
    nvnQueueFlush(&none);
    nvnQueueFenceSync(&queue, &no_sync, NVN_SYNC_CONDITION_ALL_GPU_COMMANDS_COMPLETE, 0);
    EXPECT_FALSE(nvnQueueWaitSync(&queue, &no_sync));
    EXPECT_FALSE(nvnQueueInitialize(&none, nullptr));
    NVNqueueBuilder builder{};
    EXPECT_FALSE(nvnQueueInitialize(&none, &builder)); // no device
    EXPECT_EQ(take_errors(), 7u);
    EXPECT_TRUE(sink.submissions.empty());
}

// Ledger OBJ-139.
TEST_F(QueueTest, QueuesSubmitFromTheirOwnThreads) {
    constexpr std::size_t threads = 2;
    std::array<NVNqueue, threads> queues{};
    for (NVNqueue& q : queues)
        make_queue(q);
    static std::array<std::array<u64, 32>, threads> control;
    NVNsync shared{};
    nvnSyncInitialize(&shared, &device);
    std::vector<std::thread> workers;
    for (std::size_t t = 0; t < threads; ++t)
        workers.emplace_back([&, t] {
            NVNcommandBuffer buffer{};
            nvnCommandBufferInitialize(&buffer, &device);
            for (int i = 0; i < 1000; ++i) {
                nvnCommandBufferAddCommandMemory(&buffer, &pool, static_cast<ptrdiff_t>(t * 65536), 512);
                nvnCommandBufferAddControlMemory(&buffer, control[t].data(), sizeof control[t]);
                nvnCommandBufferBeginRecording(&buffer);
                draw(buffer, static_cast<int>(t) * 1000 + i);
                nvnCommandBufferFenceSync(&buffer, &shared, NVN_SYNC_CONDITION_ALL_GPU_COMMANDS_COMPLETE, 0);
                const NVNcommandHandle handle = nvnCommandBufferEndRecording(&buffer);
                nvnQueueSubmitCommands(&queues[t], 1, &handle);
            }
        });
    for (std::thread& worker : workers)
        worker.join();
    std::map<QueueId, std::vector<int>> by_queue;
    std::vector<u32> fences;
    for (const auto& s : sink.submissions)
        EXPECT_TRUE(for_each_record(std::as_bytes(std::span(s.words)), [&](const stream::Record& record) {
            if (record.type() == RecordType::DrawArrays)
                by_queue[s.queue].push_back(record.as<DrawArrays>().first);
            if (record.type() == RecordType::FenceSync)
                fences.push_back(record.as<FenceSync>().value);
        }));
    ASSERT_EQ(by_queue.size(), threads);
    for (auto& [id, numbers] : by_queue) {
        ASSERT_EQ(numbers.size(), 1000u);
        for (std::size_t i = 0; i < 1000; ++i)
            ASSERT_EQ(numbers[i] % 1000, static_cast<int>(i));
    }
    // Every fence of the sync has a number of its own.
    std::sort(fences.begin(), fences.end());
    ASSERT_EQ(fences.size(), 2000u);
    for (u32 i = 0; i < 2000; ++i)
        ASSERT_EQ(fences[i], i + 1);
    for (NVNqueue& q : queues)
        nvnQueueFinalize(&q);
    nvnSyncFinalize(&shared);
}

} // namespace
} // namespace heaviside::nvn
