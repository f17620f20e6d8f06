// Command memory and control memory: what is counted, what is asked for, and how lists run.
#include "command_fixture.h"
#include "nvn/command_lent.h"

#include <thread>

namespace heaviside::nvn {
namespace {

using stream::RecordType;

constexpr std::size_t draw_bytes = sizeof(stream::DrawArrays);

class CommandMemory : public CommandTest {};

// --- What is counted ---

// Ledger OBJ-107, OBJ-238, OBJ-121.
TEST_F(CommandMemory, UsedCountsFromTheLastAddAndFreeIsTheRest) {
    EXPECT_EQ(nvnCommandBufferGetCommandMemorySize(&cmd), 0u);
    EXPECT_EQ(nvnCommandBufferGetCommandMemoryUsed(&cmd), 0u);
    EXPECT_EQ(nvnCommandBufferGetCommandMemoryFree(&cmd), 0u);
    begin(cmd, 0, 4096);
    EXPECT_EQ(nvnCommandBufferGetCommandMemorySize(&cmd), 4096u);
    for (std::size_t recording = 1; recording <= 3; ++recording) {
        draw(cmd, 1);
        EXPECT_EQ(nvnCommandBufferGetCommandMemoryUsed(&cmd), recording * draw_bytes);
        EXPECT_EQ(nvnCommandBufferGetCommandMemoryFree(&cmd), 4096 - recording * draw_bytes);
        nvnCommandBufferEndRecording(&cmd);
        EXPECT_EQ(nvnCommandBufferGetCommandMemoryUsed(&cmd), recording * draw_bytes);
        nvnCommandBufferBeginRecording(&cmd);
    }
    nvnCommandBufferAddCommandMemory(&cmd, &pool, 8192, 1024);
    EXPECT_EQ(nvnCommandBufferGetCommandMemoryUsed(&cmd), 0u);
    EXPECT_EQ(nvnCommandBufferGetCommandMemoryFree(&cmd), 1024u);
    EXPECT_EQ(nvnCommandBufferGetCommandMemorySize(&cmd), 1024u);
}

// Ledger OBJ-099.
TEST_F(CommandMemory, ControlMemoryCountsEightBytesAnEntry) {
    EXPECT_EQ(nvnCommandBufferGetControlMemorySize(&cmd), 0u);
    EXPECT_EQ(nvnCommandBufferGetControlMemoryUsed(&cmd), 0u);
    EXPECT_EQ(nvnCommandBufferGetControlMemoryFree(&cmd), 0u);
    alignas(8) std::array<std::byte, 1024> block;
    nvnCommandBufferAddCommandMemory(&cmd, &pool, 0, 4096);
    nvnCommandBufferAddControlMemory(&cmd, block.data(), block.size());
    EXPECT_EQ(nvnCommandBufferGetControlMemorySize(&cmd), 1024u);
    EXPECT_EQ(nvnCommandBufferGetControlMemoryFree(&cmd), 1024u);
    nvnCommandBufferBeginRecording(&cmd);
    draw(cmd, 1);
    const NVNcommandHandle handle = nvnCommandBufferEndRecording(&cmd);
    EXPECT_EQ(nvnCommandBufferGetControlMemoryUsed(&cmd), 8u);
    EXPECT_EQ(nvnCommandBufferGetControlMemoryFree(&cmd), 1016u);
    EXPECT_EQ(handle, reinterpret_cast<u64>(block.data())); // the handle is the first entry (ledger OBJ-110)
    alignas(8) std::array<std::byte, 256> smaller;
    nvnCommandBufferAddControlMemory(&cmd, smaller.data(), smaller.size());
    EXPECT_EQ(nvnCommandBufferGetControlMemorySize(&cmd), 256u);
    EXPECT_EQ(nvnCommandBufferGetControlMemoryUsed(&cmd), 0u);
    EXPECT_EQ(nvnCommandBufferGetControlMemoryFree(&cmd), 256u);
}

// Ledger OBJ-116.
TEST_F(CommandMemory, AnEmptyRecordingIsOneControlEntry) {
    begin(cmd, 0, 4096);
    const NVNcommandHandle handle = nvnCommandBufferEndRecording(&cmd);
    EXPECT_NE(handle, 0u);
    EXPECT_EQ(nvnCommandBufferGetCommandMemoryUsed(&cmd), 0u);
    EXPECT_EQ(nvnCommandBufferGetControlMemoryUsed(&cmd), 8u);
    submit(handle);
    EXPECT_TRUE(sink.submissions.empty());
    EXPECT_EQ(take_errors(), 0u);
}

// Ledger OBJ-003: code inlined from SDK headers stores there.
TEST_F(CommandMemory, Byte0x10IsTheApplications) {
    reinterpret_cast<u8*>(&cmd)[0x10] = 1;
    begin(cmd, 0, 4096);
    draw(cmd, 1);
    EXPECT_EQ(nvnCommandBufferGetCommandMemoryUsed(&cmd), draw_bytes);
    reinterpret_cast<u8*>(&cmd)[0x10] = 0xff;
    draw(cmd, 2);
    submit(nvnCommandBufferEndRecording(&cmd));
    EXPECT_EQ(draws(), (std::vector{1, 2}));
    EXPECT_EQ(reinterpret_cast<u8*>(&cmd)[0x10], 0xff);
}

// Ledger OBJ-109: slots of the measured size, granted with 512 bytes each, in pool memory that lies slot by slot.
TEST_F(CommandMemory, SlottedListsStayInTheirSlots) {
    constexpr std::size_t draws_a_list = 31, slot = draws_a_list * draw_bytes; // 496 bytes
    ASSERT_EQ(slot, 496u);
    std::memset(memory(0), 0xcd, 64 * 1024);
    std::vector<std::array<u64, 32>> control(32);
    std::vector<NVNcommandHandle> handles;
    for (std::size_t k = 0; k < 32; ++k) {
        nvnCommandBufferAddCommandMemory(&cmd, &pool, static_cast<ptrdiff_t>(4096 + k * slot), 512);
        nvnCommandBufferAddControlMemory(&cmd, control[k].data(), sizeof control[k]);
        nvnCommandBufferBeginRecording(&cmd);
        for (std::size_t i = 0; i < draws_a_list; ++i)
            draw(cmd, static_cast<int>(1000 * k + i));
        EXPECT_EQ(nvnCommandBufferGetCommandMemoryUsed(&cmd), slot);
        handles.push_back(nvnCommandBufferEndRecording(&cmd));
        EXPECT_EQ(std::to_integer<int>(*memory(4096 + (k + 1) * slot)), 0xcd) << k; // nothing behind the slot
    }
    nvnQueueSubmitCommands(&queue, 32, handles.data());
    std::vector<int> expected;
    for (std::size_t k = 0; k < 32; ++k)
        for (std::size_t i = 0; i < draws_a_list; ++i)
            expected.push_back(static_cast<int>(1000 * k + i));
    EXPECT_EQ(draws(), expected);
}

// A piece longer than an entry's 16-bit count of words continues in another entry.
TEST_F(CommandMemory, ALongRecordingTakesSeveralEntries) {
    begin(cmd, 0, 600 * 1024);
    const int count = 500 * 1024 / int{draw_bytes};
    for (int i = 0; i < count; ++i)
        draw(cmd, i);
    submit(nvnCommandBufferEndRecording(&cmd));
    EXPECT_EQ(nvnCommandBufferGetControlMemoryUsed(&cmd), 16u); // 500 KiB in pieces of at most 256 KiB
    ASSERT_EQ(draws().size(), static_cast<std::size_t>(count));
    EXPECT_EQ(draws().back(), count - 1);
    EXPECT_EQ(nvnCommandBufferGetCommandMemoryUsed(&cmd), static_cast<std::size_t>(count) * draw_bytes);
}

// --- Callbacks ---

struct Callback {
    CommandTest* test = nullptr;
    NVNmemoryPool* pool = nullptr;
    std::vector<std::pair<NVNcommandBufferMemoryEvent, std::size_t>> calls;
    std::vector<std::size_t> used_at_call;
    ptrdiff_t next = 64 * 1024;
    std::size_t grant = 0; // bytes of command memory given a call; 0: none
    std::vector<std::array<u64, 32>> control;
    std::size_t control_given = 0;

    static void call(NVNcommandBuffer* buffer, NVNcommandBufferMemoryEvent event, std::size_t minimum, void* data) {
        auto* const self = static_cast<Callback*>(data);
        self->calls.emplace_back(event, minimum);
        self->used_at_call.push_back(nvnCommandBufferGetCommandMemoryUsed(buffer));
        if (event == NVN_COMMAND_BUFFER_MEMORY_EVENT_OUT_OF_COMMAND_MEMORY && self->grant != 0) {
            nvnCommandBufferAddCommandMemory(buffer, self->pool, self->next, self->grant);
            self->next += static_cast<ptrdiff_t>(self->grant);
        }
        if (event == NVN_COMMAND_BUFFER_MEMORY_EVENT_OUT_OF_CONTROL_MEMORY &&
            self->control_given < self->control.size()) {
            auto& block = self->control[self->control_given++];
            nvnCommandBufferAddControlMemory(buffer, block.data(), sizeof block);
        }
    }
};

class CommandCallback : public CommandTest {
protected:
    CommandCallback() {
        callback.pool = &pool;
        nvnCommandBufferSetMemoryCallback(&cmd, Callback::call);
        nvnCommandBufferSetMemoryCallbackData(&cmd, &callback);
    }
    Callback callback;
};

TEST_F(CommandCallback, CanBeReadBack) {
    EXPECT_EQ(nvnCommandBufferGetMemoryCallback(&cmd), &Callback::call);
    EXPECT_EQ(nvnCommandBufferGetMemoryCallbackData(&cmd), &callback);
}

TEST_F(CommandCallback, IsAskedForCommandMemoryWhenARecordDoesNotFit) {
    callback.grant = 512;
    begin(cmd, 0, 512);
    for (int i = 0; i < 32; ++i) // 32 draws of 16 bytes are exactly 512
        draw(cmd, i);
    EXPECT_TRUE(callback.calls.empty());
    EXPECT_EQ(nvnCommandBufferGetCommandMemoryFree(&cmd), 0u);
    draw(cmd, 32);
    ASSERT_EQ(callback.calls.size(), 1u);
    EXPECT_EQ(callback.calls[0].first, NVN_COMMAND_BUFFER_MEMORY_EVENT_OUT_OF_COMMAND_MEMORY);
    EXPECT_EQ(callback.calls[0].second, 512u); // never less than COMMAND_BUFFER_MIN_COMMAND_SIZE
    EXPECT_EQ(callback.used_at_call[0], 512u); // a ring allocator's position (ledger OBJ-107)
    EXPECT_EQ(nvnCommandBufferGetCommandMemoryUsed(&cmd), draw_bytes);
    submit(nvnCommandBufferEndRecording(&cmd));
    std::vector<int> expected(33);
    for (int i = 0; i < 33; ++i)
        expected[static_cast<std::size_t>(i)] = i;
    EXPECT_EQ(draws(), expected);
}

TEST_F(CommandCallback, IsToldARecordsSizeWhenThatIsMore) {
    callback.grant = 4096;
    begin(cmd, 0, 512);
    std::array<std::byte, 2000> data{};
    nvnCommandBufferUpdateUniformBuffer(&cmd, 0x1000, 4096, 0, data.size(), data.data());
    ASSERT_EQ(callback.calls.size(), 1u);
    EXPECT_EQ(callback.calls[0].second, 2000 + sizeof(stream::UpdateUniformBuffer));
    submit(nvnCommandBufferEndRecording(&cmd));
    EXPECT_EQ(types(), (std::vector{RecordType::UpdateUniformBuffer}));
}

// Ledger OBJ-112, OBJ-113: three blocks, two from the callback, one added by the application on its own.
TEST_F(CommandCallback, ControlListsContinueInNewMemory) {
    callback.control.resize(2);
    callback.grant = 512;
    alignas(8) std::array<u64, 4> first;
    alignas(8) std::array<u64, 32> own;
    nvnCommandBufferAddCommandMemory(&cmd, &pool, 0, 512);
    nvnCommandBufferAddControlMemory(&cmd, first.data(), sizeof first);
    nvnCommandBufferBeginRecording(&cmd);
    std::vector<int> expected;
    const auto record = [&](int pieces) {
        for (int i = 0; i < pieces; ++i) { // 33 draws begin a new segment each time: an entry
            for (int j = 0; j < 32; ++j) {
                expected.push_back(static_cast<int>(expected.size()));
                draw(cmd, expected.back());
            }
        }
    };
    record(8);
    nvnCommandBufferAddControlMemory(&cmd, own.data(), sizeof own);
    record(45);
    const NVNcommandHandle handle = nvnCommandBufferEndRecording(&cmd);
    EXPECT_EQ(handle, reinterpret_cast<u64>(first.data()));
    EXPECT_EQ(callback.control_given, 2u);
    submit(handle);
    EXPECT_EQ(draws(), expected);
    EXPECT_EQ(take_errors(), 0u);
    for (const auto& [event, minimum] : callback.calls)
        if (event == NVN_COMMAND_BUFFER_MEMORY_EVENT_OUT_OF_CONTROL_MEMORY) {
            EXPECT_EQ(minimum, 256u); // COMMAND_BUFFER_MIN_CONTROL_SIZE
        }
}

TEST_F(CommandCallback, WithoutControlMemoryTheLibraryLendsABlock) {
    nvnCommandBufferAddCommandMemory(&cmd, &pool, 0, 512);
    nvnCommandBufferBeginRecording(&cmd);
    draw(cmd, 4);
    const NVNcommandHandle handle = nvnCommandBufferEndRecording(&cmd);
    EXPECT_EQ(callback.calls.size(), 1u);
    submit(handle);
    EXPECT_EQ(draws(), (std::vector{4}));
}

TEST_F(CommandCallback, IsNotCalledWhenDisabled) {
    callback.grant = 512;
    nvnCommandBufferSetCommandMemoryCallbackEnabled(&cmd, BooleanArgument{0x100}); // only 8 bits count: false
    begin(cmd, 0, 512);
    for (int i = 0; i < 40; ++i)
        draw(cmd, i);
    EXPECT_TRUE(callback.calls.empty());
    nvnCommandBufferSetCommandMemoryCallbackEnabled(&cmd, BooleanArgument{0x101});
    nvnCommandBufferAddCommandMemory(&cmd, &pool, 0, 512);
    for (int i = 0; i < 40; ++i)
        draw(cmd, i);
    EXPECT_EQ(callback.calls.size(), 1u);
    nvnCommandBufferEndRecording(&cmd);
}

// Ledger OBJ-119: two strides and a copy in 256 bytes, the callback never called.
TEST_F(CommandCallback, TwoStridesAndACopyFit256Bytes) {
    const NVNtexture texture = make_texture(64, 64);
    begin(cmd, 0, 256);
    nvnCommandBufferSetCopyRowStride(&cmd, 512);
    nvnCommandBufferSetCopyImageStride(&cmd, 65536);
    EXPECT_EQ(nvnCommandBufferGetCommandMemoryUsed(&cmd), 0u);
    EXPECT_EQ(nvnCommandBufferGetCopyRowStride(&cmd), 512);
    EXPECT_EQ(nvnCommandBufferGetCopyImageStride(&cmd), 65536);
    const NVNcopyRegion region{0, 0, 0, 64, 64, 1};
    nvnCommandBufferCopyBufferToTexture(&cmd, 0x1000, &texture, nullptr, &region, 0);
    EXPECT_TRUE(callback.calls.empty());
    const std::size_t with_strides = nvnCommandBufferGetCommandMemoryUsed(&cmd);
    nvnCommandBufferSetCopyRowStride(&cmd, 0);
    nvnCommandBufferSetCopyImageStride(&cmd, 0);
    nvnCommandBufferCopyBufferToTexture(&cmd, 0x1000, &texture, nullptr, &region, 0);
    EXPECT_EQ(nvnCommandBufferGetCommandMemoryUsed(&cmd), 2 * with_strides - 16);
    submit(nvnCommandBufferEndRecording(&cmd));
    ASSERT_EQ(sink.submissions.size(), 1u);
    const auto first = stream::record_at(std::as_bytes(std::span(sink.submissions[0].words)));
    ASSERT_TRUE(first);
    const auto strides = first->tail<stream::CopyBufferToTexture, stream::CopyStrides>();
    ASSERT_EQ(strides.size(), 1u);
    EXPECT_EQ(+strides[0].row, 512u);
    EXPECT_EQ(+strides[0].image, 65536u);
}

// --- Lent memory ---

// Ledger OBJ-103, OBJ-108.
TEST_F(CommandMemory, OverflowIsLentAndCounted) {
    const u64 before = lent_memory().total_bytes();
    begin(cmd, 0, 512);
    std::vector<int> expected;
    for (int i = 0; i < 100; ++i) {
        draw(cmd, i);
        expected.push_back(i);
    }
    EXPECT_EQ(lent_memory().total_bytes(), before + 256 * 1024);
    EXPECT_EQ(nvnCommandBufferGetCommandMemoryUsed(&cmd), 100 * draw_bytes);
    EXPECT_EQ(nvnCommandBufferGetCommandMemorySize(&cmd), 512u); // what the application granted (OBJ-121)
    submit(nvnCommandBufferEndRecording(&cmd));
    EXPECT_EQ(nvnCommandBufferGetCommandMemoryUsed(&cmd), 100 * draw_bytes);
    EXPECT_EQ(draws(), expected);
}

// Ledger OBJ-106: a wider grant over a live list is no reason to free what the list was lent; storing over it is.
TEST_F(CommandMemory, ALentSegmentLivesUntilItsOwnerIsStoredOver) {
    std::array<u64, 64> control_a{}, control_b{};
    const u64 before = lent_memory().total_bytes();
    const auto record_a = [&] {
        nvnCommandBufferAddCommandMemory(&cmd, &pool, 512, 512);
        nvnCommandBufferAddControlMemory(&cmd, control_a.data(), sizeof control_a);
        nvnCommandBufferBeginRecording(&cmd);
        for (int i = 0; i < 40; ++i)
            draw(cmd, i);
        return nvnCommandBufferEndRecording(&cmd);
    };
    const NVNcommandHandle a = record_a();
    EXPECT_EQ(lent_memory().total_bytes(), before + 256 * 1024);

    NVNcommandBuffer other{};
    nvnCommandBufferInitialize(&other, &device);
    nvnCommandBufferAddCommandMemory(&other, &pool, 0, 1024); // over A, but B stores 16 bytes only
    nvnCommandBufferAddControlMemory(&other, control_b.data(), sizeof control_b);
    nvnCommandBufferBeginRecording(&other);
    draw(other, 1000);
    nvnCommandBufferEndRecording(&other);
    EXPECT_EQ(lent_memory().total_bytes(), before + 256 * 1024);
    submit(a);
    EXPECT_EQ(draws().size(), 40u);

    nvnCommandBufferAddCommandMemory(&other, &pool, 512, 512);
    nvnCommandBufferBeginRecording(&other);
    draw(other, 2000);
    nvnCommandBufferEndRecording(&other);
    EXPECT_EQ(lent_memory().total_bytes(), before);
}

// Ledger GFX-064: a list dies with the pool under it, and what it was lent with it.
TEST_F(CommandMemory, ALentSegmentGoesWithItsOwnersPool) {
    std::vector<std::byte> storage(0x20000);
    NVNmemoryPool other{};
    make_pool(other, storage, 0x10000);
    const u64 before = lent_memory().total_bytes();
    nvnCommandBufferAddCommandMemory(&cmd, &other, 0, 512);
    nvnCommandBufferAddControlMemory(&cmd, control_.data(), sizeof control_);
    nvnCommandBufferBeginRecording(&cmd);
    for (int i = 0; i < 40; ++i)
        draw(cmd, i);
    nvnCommandBufferEndRecording(&cmd);
    EXPECT_EQ(lent_memory().total_bytes(), before + 256 * 1024);
    nvnMemoryPoolFinalize(&other);
    EXPECT_EQ(lent_memory().total_bytes(), before);
}

// Ledger OBJ-104.
TEST_F(CommandMemory, SmallGrantsOfAnEmptyPoolGetSmallSegments) {
    NVNmemoryPool empty{};
    const u64 before = lent_memory().total_bytes();
    for (int i = 0; i < 10; ++i)
        nvnCommandBufferAddCommandMemory(&cmd, &empty, 0, 512);
    EXPECT_EQ(lent_memory().total_bytes(), before + 10 * 4096);
    nvnCommandBufferAddControlMemory(&cmd, control_.data(), sizeof control_);
    nvnCommandBufferBeginRecording(&cmd);
    draw(cmd, 77);
    submit(nvnCommandBufferEndRecording(&cmd));
    EXPECT_EQ(draws(), (std::vector{77}));
    EXPECT_EQ(lent_memory().total_bytes(), before + 10 * 4096);
    EXPECT_EQ(take_errors(), 10u);
}

// --- Lists in lists ---

// Ledger OBJ-114: the callee's control memory may be used again once CallCommands returned, its command memory not.
TEST_F(CommandMemory, CallCommandsRunsTheCalleesRecordsInPlace) {
    std::array<u64, 64> control{};
    NVNcommandBuffer callee{};
    nvnCommandBufferInitialize(&callee, &device);
    nvnCommandBufferAddCommandMemory(&callee, &pool, 4096, 4096);
    nvnCommandBufferAddControlMemory(&callee, control.data(), sizeof control);
    nvnCommandBufferBeginRecording(&callee);
    draw(callee, 10);
    draw(callee, 11);
    const NVNcommandHandle inner = nvnCommandBufferEndRecording(&callee);

    begin(cmd, 0, 4096);
    draw(cmd, 1);
    const std::size_t used = nvnCommandBufferGetCommandMemoryUsed(&cmd);
    nvnCommandBufferCallCommands(&cmd, 1, &inner);
    EXPECT_EQ(nvnCommandBufferGetCommandMemoryUsed(&cmd), used); // a call is control memory alone
    draw(cmd, 2);
    const NVNcommandHandle outer = nvnCommandBufferEndRecording(&cmd);
    control.fill(~u64{0});
    submit(outer);
    EXPECT_EQ(draws(), (std::vector{1, 10, 11, 2}));

    // Nested, and the same list twice.
    alignas(8) std::array<u64, 64> control_2;
    NVNcommandBuffer top{};
    nvnCommandBufferInitialize(&top, &device);
    nvnCommandBufferAddCommandMemory(&top, &pool, 8192, 4096);
    nvnCommandBufferAddControlMemory(&top, control_2.data(), sizeof control_2);
    nvnCommandBufferBeginRecording(&top);
    const NVNcommandHandle both[] = {outer, outer};
    nvnCommandBufferCallCommands(&top, 2, both);
    sink.submissions.clear();
    submit(nvnCommandBufferEndRecording(&top));
    EXPECT_EQ(draws(), (std::vector{1, 10, 11, 2, 1, 10, 11, 2}));
}

// Ledger OBJ-115: one scratch recording copied ten times while it is recorded over.
TEST_F(CommandMemory, CopyCommandsCopiesTheRecords) {
    std::array<u64, 64> control{};
    NVNcommandBuffer scratch{};
    nvnCommandBufferInitialize(&scratch, &device);
    begin(cmd, 0, 4096);
    std::vector<int> expected;
    for (int i = 0; i < 10; ++i) {
        nvnCommandBufferAddCommandMemory(&scratch, &pool, 8192, 512);
        nvnCommandBufferAddControlMemory(&scratch, control.data(), sizeof control);
        nvnCommandBufferBeginRecording(&scratch);
        draw(scratch, i);
        const NVNcommandHandle handle = nvnCommandBufferEndRecording(&scratch);
        nvnCommandBufferCopyCommands(&cmd, 1, &handle);
        expected.push_back(i);
    }
    EXPECT_EQ(nvnCommandBufferGetCommandMemoryUsed(&cmd), 10 * draw_bytes);
    submit(nvnCommandBufferEndRecording(&cmd));
    EXPECT_EQ(draws(), expected);
}

// Ledger OBJ-117.
TEST_F(CommandMemory, ACalledPieceRunsWhatItsMemoryHoldsAtSubmit) {
    std::array<u64, 64> control{};
    NVNcommandBuffer callee{};
    nvnCommandBufferInitialize(&callee, &device);
    const auto record_callee = [&](auto commands) {
        nvnCommandBufferAddCommandMemory(&callee, &pool, 8192, 4096);
        nvnCommandBufferAddControlMemory(&callee, control.data(), sizeof control);
        nvnCommandBufferBeginRecording(&callee);
        commands();
        return nvnCommandBufferEndRecording(&callee);
    };
    const NVNcommandHandle inner = record_callee([&] { draw(callee, 1); }); // a piece of 16 bytes
    begin(cmd, 0, 4096);
    nvnCommandBufferCallCommands(&cmd, 1, &inner);
    draw(cmd, 2);
    const NVNcommandHandle outer = nvnCommandBufferEndRecording(&cmd);

    record_callee([&] { draw(callee, 3); }); // equal size: the new record runs
    submit(outer);
    EXPECT_EQ(draws(), (std::vector{3, 2}));

    sink.submissions.clear();
    std::array<std::byte, 480> data{};
    record_callee([&] { nvnCommandBufferUpdateUniformBuffer(&callee, 0x1000, 4096, 0, data.size(), data.data()); });
    submit(outer); // a longer record: the piece is skipped, the rest runs
    EXPECT_EQ(types(), (std::vector{RecordType::DrawArrays}));
    EXPECT_EQ(draws(), (std::vector{2}));

    sink.submissions.clear();
    std::memset(memory(8192), 0xff, 16);
    submit(outer);
    EXPECT_EQ(draws(), (std::vector{2}));
}

// Ledger OBJ-123: a bind that claims more handles than a stage has is skipped alone.
TEST_F(CommandMemory, ARecordWithImpossibleCountsIsSkipped) {
    begin(cmd, 0, 4096);
    draw(cmd, 1);
    const std::size_t used = nvnCommandBufferGetCommandMemoryUsed(&cmd);
    const NVNtextureHandle textures[3] = {1, 2, 3};
    nvnCommandBufferBindTextures(&cmd, NVN_SHADER_STAGE_FRAGMENT, 0, 3, textures);
    draw(cmd, 2);
    draw(cmd, 3);
    const NVNcommandHandle handle = nvnCommandBufferEndRecording(&cmd);
    const u32 count = 0xff00'0000;
    std::memcpy(memory(used + 4), &count, sizeof count);
    submit(handle);
    EXPECT_EQ(types(), (std::vector(3, RecordType::DrawArrays)));
    EXPECT_EQ(draws(), (std::vector{1, 2, 3}));
}

// Ledger OBJ-122.
TEST_F(CommandMemory, APatchedTextureHandleIsWhatIsBound) {
    begin(cmd, 0, 4096);
    draw(cmd, 1);
    const std::size_t used = nvnCommandBufferGetCommandMemoryUsed(&cmd);
    nvnCommandBufferBindTexture(&cmd, NVN_SHADER_STAGE_FRAGMENT, 3, 0x1'0020'0105);
    draw(cmd, 2);
    const NVNcommandHandle handle = nvnCommandBufferEndRecording(&cmd);
    submit(handle);
    const u32 patch = 0x0030'0107;
    std::memcpy(memory(used + 0x10), &patch, sizeof patch);
    submit(handle);
    const auto binds = records<stream::BindTexture>();
    ASSERT_EQ(binds.size(), 2u);
    EXPECT_EQ(binds[0].handle, 0x0020'0105u); // the upper word is dropped (ledger OBJ-220)
    EXPECT_EQ(binds[1].handle, patch);
    EXPECT_EQ(binds[1].index, 3);
    EXPECT_EQ(draws(), (std::vector{1, 2, 1, 2}));
}

TEST_F(CommandMemory, AHandleCanBeSubmittedManyTimes) {
    begin(cmd, 0, 4096);
    draw(cmd, 5);
    const NVNcommandHandle handle = nvnCommandBufferEndRecording(&cmd);
    nvnCommandBufferFinalize(&cmd); // recordings outlive the command buffer (ledger GFX-064)
    for (int i = 0; i < 4; ++i)
        submit(handle);
    EXPECT_EQ(draws(), (std::vector{5, 5, 5, 5}));
    nvnCommandBufferInitialize(&cmd, &device);
}

// --- What is wrong is reported once and skipped ---

TEST_F(CommandMemory, CommandsOutsideARecordingAreSkipped) {
    nvnCommandBufferAddCommandMemory(&cmd, &pool, 0, 4096);
    draw(cmd, 1);
    EXPECT_EQ(take_errors(), 1u);
    EXPECT_EQ(nvnCommandBufferGetCommandMemoryUsed(&cmd), 0u);
    EXPECT_EQ(nvnCommandBufferEndRecording(&cmd), 0u);
    EXPECT_EQ(take_errors(), 1u);
    EXPECT_FALSE(nvnCommandBufferIsRecording(&cmd));
    nvnCommandBufferBeginRecording(&cmd);
    EXPECT_TRUE(nvnCommandBufferIsRecording(&cmd));
    nvnCommandBufferEndRecording(&cmd);
}

TEST_F(CommandMemory, NullAndUninitialisedObjectsAreSkipped) {
    NVNcommandBuffer garbage;
    std::memset(&garbage, 0x5a, sizeof garbage);
    draw(garbage, 1);
    nvnCommandBufferDrawArrays(nullptr, NVN_DRAW_PRIMITIVE_TRIANGLES, 0, 3);
    EXPECT_EQ(nvnCommandBufferGetCommandMemoryUsed(nullptr), 0u);
    EXPECT_EQ(nvnCommandBufferEndRecording(&garbage), 0u);
    EXPECT_EQ(take_errors(), 4u);
    for (const u8 byte : std::span(reinterpret_cast<const u8*>(&garbage), sizeof garbage))
        ASSERT_EQ(byte, 0x5a);
    nvnCommandBufferFinalize(&cmd);
    draw(cmd, 1);
    EXPECT_EQ(take_errors(), 1u);
    nvnCommandBufferInitialize(&cmd, &device);
}

TEST_F(CommandMemory, WhatIsNoHandleIsSkipped) {
    begin(cmd, 0, 4096);
    draw(cmd, 1);
    const NVNcommandHandle good = nvnCommandBufferEndRecording(&cmd);
    u64 outside = 0x0001'1234'5678'0000 | 1; // a piece that is in no pool
    u64 circle = reinterpret_cast<u64>(&circle) | 2 | u64{0x4856} << 48;
    u64 overwritten = 0x3f80'0000'3f80'0002; // looks like a jump, but is floats
    const NVNcommandHandle handles[] = {0,
                                        12345,
                                        good,
                                        reinterpret_cast<u64>(&outside),
                                        reinterpret_cast<u64>(&circle),
                                        ~u64{0},
                                        reinterpret_cast<u64>(&overwritten),
                                        good};
    nvnQueueSubmitCommands(&queue, 8, handles);
    EXPECT_EQ(draws(), (std::vector{1, 1}));
    EXPECT_EQ(take_errors(), 6u);
}

TEST_F(CommandMemory, GrantsOutsideAPoolAreReported) {
    nvnCommandBufferAddCommandMemory(&cmd, &pool, static_cast<ptrdiff_t>(pool_bytes - 256), 512);
    EXPECT_EQ(take_errors(), 1u);
    EXPECT_EQ(nvnCommandBufferGetCommandMemoryFree(&cmd), 0u);
    nvnCommandBufferAddCommandMemory(&cmd, &pool, -4, 512);
    EXPECT_EQ(take_errors(), 1u);
    nvnCommandBufferAddControlMemory(&cmd, nullptr, 256);
    EXPECT_EQ(take_errors(), 1u);
}

// --- Threads ---

// Each command buffer is one thread's; different ones record at once, and their lists come out whole.
TEST_F(CommandMemory, CommandBuffersRecordOnTheirOwnThreads) {
    constexpr std::size_t threads = 4, lists = 50;
    std::array<std::vector<int>, threads> expected;
    std::array<std::array<NVNcommandHandle, lists>, threads> handles{};
    static std::array<std::array<u64, 4096>, threads> control;
    std::vector<std::thread> workers;
    for (std::size_t t = 0; t < threads; ++t)
        workers.emplace_back([&, t] {
            NVNcommandBuffer buffer{};
            nvnCommandBufferInitialize(&buffer, &device);
            nvnCommandBufferAddCommandMemory(&buffer, &pool, static_cast<ptrdiff_t>(t * 65536), 16384); // then lent
            nvnCommandBufferAddControlMemory(&buffer, control[t].data(), sizeof control[t]);
            for (std::size_t l = 0; l < lists; ++l) {
                nvnCommandBufferBeginRecording(&buffer);
                for (int i = 0; i < 50; ++i) {
                    const int number = static_cast<int>(t * 1'000'000 + l * 1000) + i;
                    draw(buffer, number);
                    expected[t].push_back(number);
                }
                handles[t][l] = nvnCommandBufferEndRecording(&buffer);
            }
        });
    for (std::thread& worker : workers)
        worker.join();
    for (std::size_t t = 0; t < threads; ++t) {
        sink.submissions.clear();
        nvnQueueSubmitCommands(&queue, static_cast<int>(lists), handles[t].data());
        EXPECT_EQ(draws(), expected[t]);
    }
}

// Ledger OBJ-121: a game sorts command buffers by their size while another thread records into them.
TEST_F(CommandMemory, SizeIsSteadyWhileAnotherThreadRecords) {
    begin(cmd, 0, 512);
    std::atomic<bool> stop = false;
    std::size_t others = 0;
    std::thread reader([&] {
        for (int i = 0; i < 200'000 || !stop; ++i)
            others += nvnCommandBufferGetCommandMemorySize(&cmd) != 512;
    });
    for (int i = 0; i < 20'000; ++i)
        draw(cmd, i);
    nvnCommandBufferEndRecording(&cmd);
    stop = true;
    reader.join();
    EXPECT_EQ(others, 0u);
}

} // namespace
} // namespace heaviside::nvn
