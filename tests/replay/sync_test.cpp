// Syncs, events and barriers: in which order things happen, and who waits for whom.
#include "program_fixture.h"

#include <atomic>
#include <thread>

namespace heaviside::replay {
namespace {

constexpr u32 signal_write = 0, signal_add = 1, wait_equal = 0, wait_at_least = 1; // NVNeventSignalMode, -WaitMode
constexpr u64 second = 1'000'000'000;

class Sync : public ProgramTest {
protected:
    static constexpr u64 event = 0x1000, result = 0x2000;

    void signal(Recorder& r, u32 mode, u32 value, u64 offset = event) const {
        stream::SignalEvent s{};
        s.mode = static_cast<u8>(mode);
        s.address = at(offset).value;
        s.value = value;
        r.add(s);
    }
    void wait(Recorder& r, u32 mode, u32 value, u64 offset = event) const {
        stream::WaitEvent w{};
        w.mode = mode;
        w.address = at(offset).value;
        w.value = value;
        r.add(w);
    }
    void report(Recorder& r, u32 value, u64 offset = result) const {
        stream::ReportValue v{};
        v.value = value;
        v.address = at(offset).value;
        r.add(v);
    }
    static void fence(Recorder& r, stream::SyncId sync, u32 value) {
        stream::FenceSync f{};
        f.sync = sync;
        f.value = value;
        r.add(f);
    }
    void send(stream::QueueId to, Recorder& r) { replay->submit(to, {0, 1}, r.take()); }
    [[nodiscard]] std::atomic_ref<u32> word(u64 offset) const {
        return std::atomic_ref(*reinterpret_cast<u32*>(memory + offset));
    }
    // Submissions that a stream took.
    u64 submissions(Recorder& r) {
        replay->finish(queue);
        const u64 before = replay->statistics().submissions;
        run(r);
        return replay->statistics().submissions - before;
    }
};

// OBJ-128: what waits for a value that is written by work in flight is recorded behind that work, at once.
TEST_F(Sync, AWaitOnAWriteInFlightTakesNoTurnOfTheCpu) {
    Recorder r;
    report(r, 1);
    signal(r, signal_write, 5);
    wait(r, wait_at_least, 4);
    report(r, 2);
    EXPECT_EQ(submissions(r), 1u);
    EXPECT_EQ(read<u32>(result), 2u);
    EXPECT_EQ(read<u32>(event), 5u);
}

// OBJ-129: a sum is what was there before as well, so its waiter comes when it is there.
TEST_F(Sync, AWaitOnASumComesWhenTheSumIsThere) {
    write(event, 10u);
    Recorder r;
    report(r, 1);
    signal(r, signal_add, 5);
    wait(r, wait_equal, 15);
    report(r, 2);
    EXPECT_GE(submissions(r), 2u);
    EXPECT_EQ(read<u32>(result), 2u);
    EXPECT_EQ(read<u32>(event), 15u);
    constexpr stream::QueueId other = 2; // what was added alone satisfies nothing
    replay->queue_created(other, {});
    Recorder waiting;
    signal(waiting, signal_add, 5);
    wait(waiting, wait_equal, 5);
    fence(waiting, 9, 1);
    send(queue, waiting);
    Recorder roundtrip;
    report(roundtrip, 1);
    send(other, roundtrip);
    replay->finish(other);
    EXPECT_FALSE(replay->wait_sync(9, 1, 20'000'000));
    EXPECT_EQ(word(event).load(), 20u);
    word(event).store(5);
    EXPECT_TRUE(replay->wait_sync(9, 1, 20 * second));
    replay->queue_destroyed(other);
}

TEST_F(Sync, SumsOfCpuAndGpuAddUp) {
    constexpr u32 rounds = 200;
    std::thread cpu([&] {
        for (u32 i = 0; i < rounds; ++i) {
            word(event).fetch_add(1000);
            replay->event_signalled(at(event).value);
        }
    });
    for (u32 i = 0; i < rounds; ++i) {
        Recorder r;
        signal(r, signal_add, 1);
        send(queue, r);
    }
    Recorder last;
    wait(last, wait_equal, rounds * 1001);
    report(last, 7);
    send(queue, last);
    cpu.join();
    replay->finish(queue);
    EXPECT_EQ(word(event).load(), rounds * 1001);
    EXPECT_EQ(read<u32>(result), 7u);
}

// A value counts as long as it is in flight. Later it is what memory says, which a plain store can change.
TEST_F(Sync, APlainStoreOverwritesAnEarlierSignal) {
    constexpr stream::QueueId other = 2;
    replay->queue_created(other, {});
    Recorder first;
    signal(first, signal_write, 1);
    run(first);
    word(event).store(0);
    Recorder waiting;
    wait(waiting, wait_equal, 1);
    fence(waiting, 9, 1);
    send(queue, waiting);
    Recorder roundtrip;
    report(roundtrip, 1);
    send(other, roundtrip);
    replay->finish(other); // behind the other queue's turn
    EXPECT_FALSE(replay->sync_reached(9, 1));
    word(event).store(1); // nobody is told
    EXPECT_TRUE(replay->wait_sync(9, 1, 20 * second));
    replay->queue_destroyed(other);
}

// OBJ-125: greater or equal wraps around.
TEST_F(Sync, ComparisonsWrapAround) {
    write(event, 0xfffffff0u);
    Recorder r;
    wait(r, wait_at_least, 0xffffffe0u);
    report(r, 1);
    signal(r, signal_write, 5);
    wait(r, wait_at_least, 0xfffffff1u); // 5 is 20 later
    report(r, 2);
    run(r);
    EXPECT_EQ(read<u32>(result), 2u);
}

// OBJ-146: when a fence is seen, every write of its submission and of those before is there, each made once and in
// order, however many wait.
TEST_F(Sync, WhoSeesAFenceSeesEveryWriteBeforeIt) {
    constexpr u32 count = 600;
    std::atomic<u32> faults = 0;
    std::vector<std::thread> waiters;
    for (int t = 0; t < 3; ++t)
        waiters.emplace_back([&] {
            for (u32 i = 1; i <= count; ++i) {
                if (!replay->wait_sync(9, i, 60 * second) || word(event).load() < i || word(event + 4).load() < i)
                    ++faults;
            }
        });
    std::thread watcher([&] { // the second is written behind the first
        for (u32 last = 0; last < count;) {
            const u32 behind = word(event + 4).load(), ahead = word(event).load();
            if (behind < last || ahead < behind)
                ++faults;
            last = behind;
            std::this_thread::yield();
        }
    });
    for (u32 i = 1; i <= count; ++i) {
        Recorder r;
        signal(r, signal_add, 1);
        signal(r, signal_write, i, event + 4);
        fence(r, 9, i);
        send(queue, r);
    }
    for (std::thread& t : waiters)
        t.join();
    watcher.join();
    EXPECT_EQ(faults.load(), 0u);
    EXPECT_EQ(word(event).load(), count);
}

// --- Barriers ---

class Barriers : public Sync {
protected:
    static constexpr u64 target_at = 0x40000, palette = 0x3000, results = 0x10000, vertex_uniforms = 0x3800;
    static constexpr i32 size = 8;

    // Loads a colour from the storage buffer 0 of the fragment stage.
    static constexpr const char* coloured_by_palette = R"(
.stage fragment
.target 0 rgba
.entry main
main:
    MOV R4, c[0x0][0x510]
    MOV R5, c[0x0][0x514]
    LDG.E R0, [R4]
    MOV R1, RZ
    MOV R2, RZ
    MOV R3, RZ
    EXIT
)";
    // Stores word 0 of its uniform buffer 1, plus the vertex ID, to word [vertex ID] of its storage buffer 0.
    static constexpr const char* storing_vertices = R"(
.stage vertex
.in vertex_id
.out position
.entry main
main:
    ALD R0, a[0x2fc], RZ
    MOV R2, c[0x0][0x110]
    MOV R3, c[0x0][0x114]
    ISCADD R2.CC, R0, R2, 0x2
    IADD.X R3, R3, RZ
    IADD R4, R0, c[0x4][0x0]
    STG.E [R2], R4
    MOV R4, RZ
    MOV R5, RZ
    MOV R6, RZ
    MOV32I R7, 0x3f800000
    AST.128 a[0x70], R4, RZ
    EXIT
)";
    // Copies word [vertex ID] of storage buffer 0 to storage buffer 1.
    static constexpr const char* copying_vertices = R"(
.stage vertex
.in vertex_id
.out position
.entry main
main:
    ALD R0, a[0x2fc], RZ
    MOV R2, c[0x0][0x110]
    MOV R3, c[0x0][0x114]
    ISCADD R2.CC, R0, R2, 0x2
    IADD.X R3, R3, RZ
    LDG.E R4, [R2]
    MOV R2, c[0x0][0x120]
    MOV R3, c[0x0][0x124]
    ISCADD R2.CC, R0, R2, 0x2
    IADD.X R3, R3, RZ
    STG.E [R2], R4
    MOV R4, RZ
    MOV R5, RZ
    MOV R6, RZ
    MOV32I R7, 0x3f800000
    AST.128 a[0x70], R4, RZ
    EXIT
)";

    void SetUp() override {
        Sync::SetUp();
        if (HasFatalFailure())
            return;
        if (!device->has(gpu::Feature::VertexStores) || !device->has(gpu::Feature::FragmentStores))
            GTEST_SKIP() << "the device's vertex programs cannot store";
        target = image(target_at, "R32F", size, size);
    }
    u64 passes(Recorder& r) {
        replay->finish(queue);
        const u64 before = replay->statistics().passes;
        run(r);
        return replay->statistics().passes - before;
    }
    static void discard(Recorder& r, bool on) {
        stream::SetRasterizerDiscard d{};
        d.discard = on;
        r.add(d);
    }
    stream::ImageDescription target{};
};

// REN-170: every reader sees the palette that was there when it was drawn, though the next draw overwrites it.
TEST_F(Barriers, ALaterWriterWaitsForEarlierReaders) {
    const stream::ProgramId reader = program({full_screen, coloured_by_palette}), writer = program({storing_vertices});
    constexpr u32 rounds = 40;
    std::vector<stream::ImageDescription> targets;
    Recorder r;
    set_targets(r, std::span(&target, 1));
    storage(r, stream::Stage::Fragment, 0, palette, 4);
    storage(r, stream::Stage::Vertex, 0, palette, 4);
    write(palette, 0x3f800000u); // 1.0f and its successors
    for (u32 i = 0; i < rounds; ++i) {
        write(vertex_uniforms + 256 * i, 0x3f800001u + i);
        scissor(r, static_cast<i32>(i) % size, static_cast<i32>(i) / size, 1, 1);
        bind(r, reader, vertex_bit | fragment_bit);
        draw(r);
        barrier(r, 1);
        bind(r, writer, vertex_bit);
        bind(r, 0, fragment_bit);
        uniform(r, stream::Stage::Vertex, 1, vertex_uniforms + 256 * i, 16);
        draw(r, 0, 1);
        barrier(r, 1);
    }
    copy_out(r, target, results, size, size);
    run(r);
    for (u32 i = 0; i < rounds; ++i)
        EXPECT_EQ(read<u32>(results + 4 * i), 0x3f800000u + i) << i;
}

// REN-169: vertices see what vertices before the barrier stored.
TEST_F(Barriers, PrimitivesSeeTheStoresOfEarlierPrimitives) {
    constexpr u32 count = 4096;
    const stream::ProgramId producer = program({storing_vertices}), consumer = program({copying_vertices});
    write(vertex_uniforms, 100u);
    for (const u32 bits : {0x1u, 0x21u}) {
        std::memset(memory + results, 0, 0x10000);
        Recorder r;
        set_targets(r, std::span(&target, 1));
        storage(r, stream::Stage::Vertex, 0, results, count * 4);
        storage(r, stream::Stage::Vertex, 1, results + 0x8000, count * 4);
        uniform(r, stream::Stage::Vertex, 1, vertex_uniforms, 16);
        bind(r, producer, vertex_bit);
        draw(r, 0, count);
        barrier(r, bits);
        bind(r, consumer, vertex_bit);
        draw(r, 0, count);
        EXPECT_EQ(passes(r), 2u);
        for (u32 i = 0; i < count; ++i)
            ASSERT_EQ(read<u32>(results + 0x8000 + 4 * i), 100 + i) << bits;
    }
}

// REN-196: a barrier ends the pass if there were stores in it, and only then.
TEST_F(Barriers, SplitAPassOnlyWhereSomethingIsStored) {
    write(vertex_uniforms, std::array<f32, 4>{});
    const stream::ProgramId plain = program({full_screen, flat}), storing = program({storing_vertices});
    for (const bool stores : {false, true}) {
        Recorder r;
        set_targets(r, std::span(&target, 1));
        uniform(r, stream::Stage::Vertex, 0, vertex_uniforms, 16);
        uniform(r, stream::Stage::Fragment, 0, vertex_uniforms, 16);
        uniform(r, stream::Stage::Vertex, 1, vertex_uniforms, 16);
        storage(r, stream::Stage::Vertex, 0, results, 0x1000);
        bind(r, stores ? storing : plain, vertex_bit | fragment_bit);
        for (int i = 0; i < 3; ++i) {
            draw(r);
            barrier(r, 0x12);
        }
        EXPECT_EQ(passes(r), stores ? 3u : 1u);
    }
}

} // namespace
} // namespace heaviside::replay
