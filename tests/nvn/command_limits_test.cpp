// Command and control memory at their limits: much lent, much called, lists that are not there any more.
#include "base/log.h"
#include "command_fixture.h"

#include <sys/mman.h>

#include <algorithm>

namespace heaviside::nvn {
namespace {

// Ledger OBJ-103.
TEST(LentMemory, SegmentsHoldAnyRequestUpToTheLimit) {
    LentMemory memory;
    EXPECT_EQ(memory.take(16, 1, {}).size(), 256u * 1024);
    EXPECT_EQ(memory.take(300 * 1024, 1, {}).size(), 300u * 1024);
    EXPECT_EQ(memory.total_bytes(), 556u * 1024);
    EXPECT_EQ(memory.take((u64{1} << 30) - 556 * 1024, 2, {}).size(), (u64{1} << 30) - 556 * 1024);
    EXPECT_TRUE(memory.take(16, 3, {}).empty()); // 1 GiB is lent
    EXPECT_TRUE(memory.take(~u64{0}, 0, {}).empty());
    EXPECT_TRUE(memory.take_control().empty());
}

// Ledger OBJ-103: 100 command buffers overflow in each of 100 frames. Recording over its memory gives back what a list
// was lent, so that nothing grows.
TEST_F(CommandTest, TenThousandOverflowsHoldAHundredSegments) {
    const u64 before = lent_memory().total_bytes();
    for (int frame = 0; frame < 100; ++frame) {
        for (std::size_t i = 0; i < 100; ++i) {
            begin(cmd, i * 512, 512);
            for (int j = 0; j < 40; ++j)
                draw(cmd, j);
            nvnCommandBufferEndRecording(&cmd);
        }
        EXPECT_EQ(lent_memory().total_bytes(), before + 100 * 256 * 1024) << frame;
    }
    EXPECT_EQ(take_errors(), 0u);
}

// Ledger OBJ-113: an application that never gives control memory records for ever. Blocks are lent again when the lists
// in them have been recorded over; a list that has not been stays.
TEST_F(CommandTest, ControlMemoryThatIsNeverGivenDoesNotGrow) {
    const auto record = [&](std::size_t offset, int number, int draws) {
        nvnCommandBufferAddCommandMemory(&cmd, &pool, static_cast<ptrdiff_t>(offset), 4096);
        nvnCommandBufferBeginRecording(&cmd);
        for (int i = 0; i < draws; ++i)
            draw(cmd, number);
        return nvnCommandBufferEndRecording(&cmd);
    };
    const u64 before = lent_memory().total_bytes();
    const NVNcommandHandle kept = record(0x80000, 77, 2), empty = record(0x82000, 0, 0);
    std::size_t offset = 0;
    NVNcommandHandle last = 0;
    for (int i = 0; i < 60000; ++i) { // 8 blocks' worth of lists, at places of a ring that never fall together
        last = record(offset, i, 1 + i % 3);
        offset = (offset + 92) % 0x20000 & ~std::size_t{3};
    }
    EXPECT_LE(lent_memory().total_bytes(), before + 4 * LentMemory::control_bytes);
    submit(kept);
    submit(empty);
    submit(last);
    EXPECT_EQ(draws(), (std::vector{77, 77, 59999, 59999, 59999}));
    EXPECT_EQ(take_errors(), 0u);
}

TEST_F(CommandTest, ALongListKeepsEveryLentControlBlock) {
    NVNcommandHandle called = 0;
    const auto record = [&](NVNcommandBuffer& buffer, std::size_t offset, int pieces, int number) {
        nvnCommandBufferAddCommandMemory(&buffer, &pool, static_cast<ptrdiff_t>(offset), 4096);
        nvnCommandBufferBeginRecording(&buffer);
        draw(buffer, number);
        for (int i = 0; i < pieces; ++i)
            nvnCommandBufferCallCommands(&buffer, 1, &called);
        return nvnCommandBufferEndRecording(&buffer);
    };
    called = record(cmd, 0x40000, 0, 5);
    const NVNcommandHandle longest = record(cmd, 0x42000, 20000, 6); // entries over three blocks
    NVNcommandBuffer other{};
    ASSERT_TRUE(nvnCommandBufferInitialize(&other, &device));
    for (int i = 0; i < 30; ++i) // takes and leaves blocks of its own
        (void)record(other, 0x44000, 1000, i);
    submit(longest);
    const auto drawn = draws();
    ASSERT_EQ(drawn.size(), 20001u);
    EXPECT_EQ(drawn.front(), 6);
    EXPECT_EQ(std::count(drawn.begin(), drawn.end(), 5), 20000);
    nvnCommandBufferFinalize(&other);
}

struct ControlGrants {
    std::vector<std::vector<u64>> blocks;
    std::size_t bytes = 0;
    static void call(NVNcommandBuffer* buffer, NVNcommandBufferMemoryEvent event, std::size_t, void* data) {
        auto* const self = static_cast<ControlGrants*>(data);
        if (event != NVN_COMMAND_BUFFER_MEMORY_EVENT_OUT_OF_CONTROL_MEMORY)
            return;
        auto& block = self->blocks.emplace_back(self->bytes / sizeof(u64));
        if (self->bytes != 0)
            nvnCommandBufferAddControlMemory(buffer, block.data(), self->bytes);
    }
};

// Ledger OBJ-113: 40,000 calls are as many entries of 8 bytes. Blocks of 128 KiB hold 16,384.
TEST_F(CommandTest, ControlMemoryComesFromTheCallbackOrIsLent) {
    constexpr int calls = 40000;
    std::array<u64, 64> control{};
    NVNcommandBuffer callee{};
    nvnCommandBufferInitialize(&callee, &device);
    nvnCommandBufferAddCommandMemory(&callee, &pool, 8192, 4096);
    nvnCommandBufferAddControlMemory(&callee, control.data(), sizeof control);
    nvnCommandBufferBeginRecording(&callee);
    draw(callee, 5);
    const NVNcommandHandle inner = nvnCommandBufferEndRecording(&callee);
    for (const std::size_t bytes : {std::size_t{128 * 1024}, std::size_t{0}}) {
        ControlGrants grants;
        grants.bytes = bytes;
        nvnCommandBufferSetMemoryCallback(&cmd, ControlGrants::call);
        nvnCommandBufferSetMemoryCallbackData(&cmd, &grants);
        const u64 lent = lent_memory().total_bytes();
        begin(cmd, 0, 4096);
        for (int i = 0; i < calls; ++i)
            nvnCommandBufferCallCommands(&cmd, 1, &inner);
        const NVNcommandHandle outer = nvnCommandBufferEndRecording(&cmd);
        if (bytes != 0) {
            EXPECT_EQ(grants.blocks.size(), 3u);
            EXPECT_EQ(lent_memory().total_bytes(), lent);
        } else { // 8,192 entries a block of 64 KiB, the last of each a jump
            EXPECT_EQ(grants.blocks.size(), 5u);
            EXPECT_LE(lent_memory().total_bytes(), lent + 5 * 64 * 1024); // or blocks of lists that are over
        }
        sink.submissions.clear();
        submit(outer);
        EXPECT_EQ(draws(), std::vector<int>(calls, 5));
    }
    EXPECT_EQ(take_errors(), 0u);
}

// Ledger OBJ-116.
TEST_F(CommandTest, CallingAnEmptyRecordingDoesNothing) {
    std::array<u64, 64> control{};
    NVNcommandBuffer callee{};
    nvnCommandBufferInitialize(&callee, &device);
    nvnCommandBufferAddControlMemory(&callee, control.data(), sizeof control);
    nvnCommandBufferBeginRecording(&callee);
    const NVNcommandHandle empty = nvnCommandBufferEndRecording(&callee);
    begin(cmd, 0, 4096);
    nvnCommandBufferCallCommands(&cmd, 1, &empty);
    nvnCommandBufferCopyCommands(&cmd, 1, &empty);
    EXPECT_EQ(nvnCommandBufferGetCommandMemoryUsed(&cmd), 0u);
    EXPECT_EQ(nvnCommandBufferGetControlMemoryUsed(&cmd), 0u);
    submit(nvnCommandBufferEndRecording(&cmd));
    EXPECT_TRUE(sink.submissions.empty());
    EXPECT_EQ(take_errors(), 0u);
}

// Ledger OBJ-117: the first 8 bad pieces of a process have a line each, then every 1,000th; other tests may have had
// some.
TEST_F(CommandTest, ManyBadPiecesAreFewLines) {
    static int lines;
    lines = 0;
    log::set_sink([](log::Level, std::string_view text) { lines += text.find("overwritten") != text.npos; });
    begin(cmd, 0, 4096);
    draw(cmd, 1);
    const NVNcommandHandle handle = nvnCommandBufferEndRecording(&cmd);
    std::memset(memory(0), 0xff, 16);
    for (int i = 0; i < 8; ++i)
        submit(handle);
    lines = 0;
    for (int i = 0; i < 1000; ++i)
        submit(handle);
    EXPECT_EQ(lines, 1);
    log::set_sink({});
    EXPECT_TRUE(draws().empty());
}

// A handle is an address that the application keeps: its memory may be unmapped, all of it or from the next page on.
TEST_F(CommandTest, HandlesOfUnmappedMemoryAreReported) {
    auto* const pages =
        static_cast<std::byte*>(::mmap(nullptr, 0x2000, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    ASSERT_NE(pages, MAP_FAILED);
    nvnCommandBufferAddCommandMemory(&cmd, &pool, 0, 4096);
    nvnCommandBufferAddControlMemory(&cmd, pages + 0x1000 - 16, 16);
    nvnCommandBufferBeginRecording(&cmd);
    draw(cmd, 3);
    const NVNcommandHandle handle = nvnCommandBufferEndRecording(&cmd);
    ::munmap(pages + 0x1000, 0x1000);
    submit(handle); // the list ends before the page does
    EXPECT_EQ(draws(), (std::vector{3}));
    EXPECT_EQ(take_errors(), 0u);
    u64 entry = 0;
    std::memcpy(&entry, pages + 0x1000 - 16, sizeof entry);
    entry &= ~u64{1}; // not the last any more
    std::memcpy(pages + 0x1000 - 16, &entry, sizeof entry);
    std::memcpy(pages + 0x1000 - 8, &entry, sizeof entry);
    submit(handle);
    EXPECT_EQ(take_errors(), 1u);
    ::munmap(pages, 0x1000);
    sink.submissions.clear();
    submit(handle);
    begin(cmd, 0, 4096);
    nvnCommandBufferCallCommands(&cmd, 1, &handle);
    nvnCommandBufferCopyCommands(&cmd, 1, &handle);
    EXPECT_EQ(take_errors(), 3u);
    submit(nvnCommandBufferEndRecording(&cmd));
    EXPECT_TRUE(sink.submissions.empty());
}

// Ledger GFX-064.
TEST_F(CommandTest, AHandleEndsWithThePoolUnderIt) {
    std::vector<std::byte> storage(0x20000);
    NVNmemoryPool other{};
    make_pool(other, storage, 0x10000);
    nvnCommandBufferAddCommandMemory(&cmd, &other, 0, 4096);
    nvnCommandBufferAddControlMemory(&cmd, control_.data(), sizeof control_);
    nvnCommandBufferBeginRecording(&cmd);
    draw(cmd, 9);
    const NVNcommandHandle handle = nvnCommandBufferEndRecording(&cmd);
    nvnCommandBufferFinalize(&cmd); // is no reason to forget the list
    submit(handle);
    EXPECT_EQ(draws(), (std::vector{9}));
    nvnMemoryPoolFinalize(&other);
    sink.submissions.clear();
    submit(handle);
    EXPECT_TRUE(sink.submissions.empty());
    EXPECT_EQ(take_errors(), 1u);
    nvnCommandBufferInitialize(&cmd, &device);
}

// Copies by value, in the middle of a recording: a command buffer holds nothing of its own address.
TEST_F(CommandTest, ACommandBufferMayMoveWhileItRecords) {
    begin(cmd, 0, 4096);
    draw(cmd, 1);
    NVNcommandBuffer moved = cmd;
    std::memset(&cmd, 0xEE, sizeof cmd);
    draw(moved, 2);
    submit(nvnCommandBufferEndRecording(&moved));
    EXPECT_EQ(draws(), (std::vector{1, 2}));
    nvnCommandBufferInitialize(&cmd, &device);
}

// Ledger OBJ-225: groups and markers leave what is drawn as it was.
TEST_F(CommandTest, DebugGroupsChangeNothingElse) {
    const auto record = [&](bool groups) {
        sink.submissions.clear();
        begin(cmd, 0, 4096);
        if (groups) {
            nvnCommandBufferPushDebugGroupStatic(&cmd, 1, "outer");
            nvnCommandBufferPushDebugGroupDynamic(&cmd, 2, "inner");
            nvnCommandBufferInsertDebugMarkerStatic(&cmd, 1, "here");
        }
        nvnCommandBufferSetLineWidth(&cmd, 2);
        draw(cmd, 1);
        if (groups) {
            nvnCommandBufferPopDebugGroupId(&cmd, 2);
            nvnCommandBufferPopDebugGroup(&cmd);
        }
        draw(cmd, 2);
        submit(nvnCommandBufferEndRecording(&cmd));
        std::vector<std::byte> out;
        for (const auto& submission : sink.submissions)
            (void)stream::for_each_record(std::as_bytes(std::span(submission.words)), [&](const stream::Record& r) {
                if (r.type() != stream::RecordType::DebugMarker)
                    out.insert(out.end(), r.bytes().begin(), r.bytes().end());
            });
        return out;
    };
    const auto plain = record(false);
    EXPECT_FALSE(plain.empty());
    EXPECT_EQ(record(true), plain);
    EXPECT_EQ(take_errors(), 0u);
}

} // namespace
} // namespace heaviside::nvn
