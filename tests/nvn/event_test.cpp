#include "command_fixture.h"

namespace heaviside::nvn {
namespace {

using namespace stream;

class EventTest : public CommandTest {
protected:
    NVNboolean initialize(int64_t offset) {
        NVNeventBuilder builder;
        nvnEventBuilderSetDefaults(&builder);
        nvnEventBuilderSetStorage(&builder, &pool, offset);
        return nvnEventInitialize(&event, &builder);
    }
    u32 value_in_memory(std::size_t offset) {
        u32 value = 0;
        std::memcpy(&value, memory(offset), sizeof value);
        return value;
    }
    NVNevent event{};
};

TEST_F(EventTest, BuilderReadsBack) {
    NVNeventBuilder builder;
    nvnEventBuilderSetDefaults(&builder);
    EXPECT_EQ(nvnEventBuilderGetMemoryPool(&builder), nullptr);
    nvnEventBuilderSetStorage(&builder, &pool, 0x40);
    int64_t offset = 0;
    EXPECT_EQ(nvnEventBuilderGetStorage(&builder, &offset), &pool);
    EXPECT_EQ(offset, 0x40);
    EXPECT_EQ(nvnEventBuilderGetMemoryPool(&builder), &pool);
    EXPECT_EQ(nvnEventBuilderGetMemoryOffset(&builder), 0x40);
    ASSERT_TRUE(nvnEventInitialize(&event, &builder));
    EXPECT_EQ(nvnEventGetMemoryPool(&event), &pool);
    EXPECT_EQ(nvnEventGetMemoryOffset(&event), 0x40);
}

TEST_F(EventTest, LivesInPoolMemory) {
    ASSERT_TRUE(initialize(0x100));
    nvnEventSignal(&event, NVN_EVENT_SIGNAL_MODE_WRITE, 41);
    EXPECT_EQ(value_in_memory(0x100), 41u);
    nvnEventSignal(&event, NVN_EVENT_SIGNAL_MODE_ADD, 0xffff'ffff);
    EXPECT_EQ(nvnEventGetValue(&event), 40u);
    const u32 by_gpu = 1234;
    std::memcpy(memory(0x100), &by_gpu, sizeof by_gpu);
    EXPECT_EQ(nvnEventGetValue(&event), 1234u);
    EXPECT_EQ(sink.events, (std::vector<u64>(2, reinterpret_cast<u64>(memory(0x100)))));
}

TEST_F(EventTest, IsRecordedByAddress) {
    ASSERT_TRUE(initialize(0x200));
    begin(cmd, 4096, 4096);
    nvnCommandBufferSignalEvent(&cmd, &event, NVN_EVENT_SIGNAL_MODE_ADD, NVN_EVENT_SIGNAL_LOCATION_BOTTOM, 1, 7);
    nvnCommandBufferWaitEvent(&cmd, &event, NVN_EVENT_WAIT_MODE_GEQUAL_WRAP, 9);
    const NVNcommandHandle handle = nvnCommandBufferEndRecording(&cmd);
    nvnEventFinalize(&event); // the record does not need the object
    submit(handle);
    ASSERT_EQ(types(), (std::vector{RecordType::SignalEvent, RecordType::WaitEvent}));
    const SignalEvent signal = records<SignalEvent>()[0];
    EXPECT_EQ(+signal.address, reinterpret_cast<u64>(memory(0x200)));
    EXPECT_EQ(signal.mode, 1);
    EXPECT_EQ(signal.location, 2);
    EXPECT_EQ(signal.flags, 1);
    EXPECT_EQ(signal.value, 7u);
    const WaitEvent wait = records<WaitEvent>()[0];
    EXPECT_EQ(+wait.address, +signal.address);
    EXPECT_EQ(wait.mode, 1u);
    EXPECT_EQ(wait.value, 9u);
}

TEST_F(EventTest, InvalidStorageAndObjectsAreRefused) {
    EXPECT_TRUE(initialize(static_cast<int64_t>(pool_bytes) - 4));
    EXPECT_FALSE(initialize(static_cast<int64_t>(pool_bytes) - 2));
    EXPECT_FALSE(initialize(static_cast<int64_t>(pool_bytes)));
    EXPECT_FALSE(initialize(-4));
    EXPECT_FALSE(initialize(2)); // not a word
    NVNeventBuilder builder;
    nvnEventBuilderSetDefaults(&builder);
    EXPECT_FALSE(nvnEventInitialize(&event, &builder)); // no pool
    NVNevent none{};
    EXPECT_EQ(nvnEventGetValue(&none), 0u);
    nvnEventSignal(&none, NVN_EVENT_SIGNAL_MODE_WRITE, 1);
    EXPECT_EQ(take_errors(), 7u);
}

} // namespace
} // namespace heaviside::nvn
