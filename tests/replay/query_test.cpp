// Counters, their reports, and rendering that depends on them.
#include "program_fixture.h"

#include <chrono>

namespace heaviside::replay {
namespace {

// NVNcounterType.
constexpr u32 timestamp = 0, samples_passed = 1, input_vertices = 2, input_primitives = 3, vertex_invocations = 4,
              tess_control = 5, tess_evaluation = 6, geometry_invocations = 7, fragment_invocations = 8,
              tess_primitives = 9, geometry_primitives = 0xa, clipper_input = 0xb, clipper_output = 0xc,
              primitives_generated = 0xd, feedback_primitives = 0xe, zcull = 0xf, timestamp_top = 0x10;
constexpr u32 if_equal = 0, if_not_equal = 1; // NVNconditionalRenderMode

class Query : public ProgramTest {
protected:
    static constexpr u64 reports = 0x1000, record = 0x2000, vertex_uniforms = 0x3000, colour = 0x3100,
                         target_at = 0x40000, depth_at = 0x60000, out = 0x80000;
    static constexpr i32 size = 64;

    void SetUp() override {
        ProgramTest::SetUp();
        if (HasFatalFailure())
            return;
        flat_program = program({full_screen, flat});
        target = image(target_at, "RGBA8", size, size);
        write(colour, std::array<f32, 4>{1, 0, 0, 1});
        write(vertex_uniforms, 0.5f);
    }
    void begin(Recorder& r) const {
        set_targets(r, std::span(&target, 1));
        bind(r, flat_program, vertex_bit | fragment_bit);
        uniform(r, stream::Stage::Vertex, 0, vertex_uniforms, 16);
        uniform(r, stream::Stage::Fragment, 0, colour, 16);
    }
    void report(Recorder& r, u32 counter, u64 offset) const {
        stream::ReportCounter c{};
        c.counter = counter;
        c.address = at(offset).value;
        r.add(c);
    }
    static void reset(Recorder& r, u32 counter) {
        stream::ResetCounter c{};
        c.counter = counter;
        r.add(c);
    }
    void condition(Recorder& r, u32 mode, u64 offset = record) const {
        stream::SetRenderEnableConditional c{};
        c.mode = mode;
        c.address = at(offset).value;
        r.add(c);
    }
    static void enable(Recorder& r, bool enabled) {
        stream::SetRenderEnable e{};
        e.enable = enabled;
        r.add(e);
    }
    void draw_area(Recorder& r, i32 width, i32 height) const {
        scissor(r, 0, 0, width, height);
        draw(r);
        scissor(r, 0, 0, size, size);
    }
    // The first texel's bytes, red lowest.
    u32 texel(Recorder& r) {
        copy_out(r, target, out, size, size);
        run(r);
        return read<u32>(out);
    }
    stream::ProgramId flat_program = 0;
    stream::ImageDescription target{};
};

// REN-094: 100 pixels are drawn; clears of 1,000 pixels and more, whole and by channels and stencil bits, add none.
TEST_F(Query, SamplesOfDrawsAreCountedAndThoseOfClearsAreNot) {
    const stream::ImageDescription depth = image(depth_at, "DEPTH24_STENCIL8", size, size);
    Recorder r;
    begin(r);
    set_targets(r, std::span(&target, 1), &depth);
    draw_area(r, 50, 50); // before the reset
    reset(r, samples_passed);
    draw_area(r, 10, 5);
    r.add(clear(0, 0, 0, 0));
    scissor(r, 0, 0, 40, 25);
    r.add(clear(0, 1, 0, 0, 2)); // green only: drawn
    stream::ClearDepthStencil c{};
    c.depth = 1;
    c.depth_mask = 1;
    c.stencil_mask = 0x0f; // some bits: drawn
    r.add(c);
    draw_area(r, 5, 10);
    report(r, samples_passed, reports);
    draw_area(r, 20, 20);
    report(r, samples_passed, reports + 16);
    run(r);
    EXPECT_EQ(read<u64>(reports), 100u);
    EXPECT_EQ(read<u64>(reports + 16), 500u); // counting goes on
    EXPECT_NE(read<u64>(reports + 8), 0u);
}

TEST_F(Query, CountsGoOnFromSubmissionToSubmission) {
    Recorder first;
    begin(first);
    reset(first, samples_passed);
    draw_area(first, 10, 10);
    run(first);
    Recorder second;
    stream::ReportValue end_of_pass{};
    end_of_pass.address = at(record).value;
    for (int i = 0; i < 700; ++i) { // more passes than a pool of queries holds
        draw_area(second, 1, 1);
        second.add(end_of_pass);
    }
    report(second, samples_passed, reports);
    run(second);
    EXPECT_EQ(read<u64>(reports), 800u);
}

// OBJ-135: a queue's counters and its condition are its own.
TEST_F(Query, EachQueueCountsForItself) {
    constexpr stream::QueueId other = 2;
    replay->queue_created(other, {});
    const auto send = [&](stream::QueueId q, i32 width, u64 to) {
        Recorder r;
        if (to == 0) {
            begin(r);
            reset(r, samples_passed);
        }
        draw_area(r, width, 1);
        if (to)
            report(r, samples_passed, to);
        replay->submit(q, {0, 1}, r.take());
    };
    send(queue, 1, 0);
    send(other, 10, 0);
    send(queue, 2, reports);
    send(other, 20, reports + 16);
    replay->finish(other);
    replay->finish(queue);
    EXPECT_EQ(read<u64>(reports), 3u);
    EXPECT_EQ(read<u64>(reports + 16), 30u);
    replay->queue_destroyed(other);
}

// Two triangles of a strip, drawn twice, without geometry or tessellation programs.
TEST_F(Query, EveryStageOfThePipelineHasItsCounter) {
    const std::pair<u32, u64> expected[] = {
        {input_vertices, 8},  {input_primitives, 4},     {tess_control, 0},
        {tess_evaluation, 0}, {geometry_invocations, 0}, {fragment_invocations, 2 * 64 * 64},
        {tess_primitives, 0}, {geometry_primitives, 0},  {clipper_input, 4},
        {clipper_output, 4},  {primitives_generated, 4}, {zcull, 0}};
    if (!device->has(gpu::Feature::PipelineStatistics))
        GTEST_SKIP() << "the device has no pipeline statistics";
    Recorder r;
    begin(r);
    draw(r);
    for (const auto& [counter, value] : expected)
        reset(r, counter);
    reset(r, vertex_invocations);
    draw(r);
    draw(r);
    for (const auto& [counter, value] : expected)
        report(r, counter, reports + 16 * counter);
    report(r, vertex_invocations, reports + 16 * vertex_invocations);
    reset(r, clipper_input); // and nothing else
    draw(r);
    report(r, clipper_input, record);
    report(r, primitives_generated, record + 16);
    run(r);
    for (const auto& [counter, value] : expected)
        EXPECT_EQ(read<u64>(reports + 16 * counter), value) << counter;
    EXPECT_GE(read<u64>(reports + 16 * vertex_invocations), 8u); // devices may run a vertex twice
    EXPECT_EQ(read<u64>(record), 2u);
    EXPECT_EQ(read<u64>(record + 16), 6u);
}

TEST_F(Query, WhatIsNoCounterReportsZero) {
    for (const u32 counter : {feedback_primitives, 0x11u, 0x7fffffffu}) {
        write(reports, std::array<u64, 2>{7, 7});
        Recorder r;
        reset(r, counter);
        report(r, counter, reports);
        run(r);
        EXPECT_EQ(read<u64>(reports), 0u) << counter;
        EXPECT_GT(read<u64>(reports + 8), 7u) << counter;
    }
}

// REN-206: zero, then the time; in the console's ticks, increasing, not before what the stream did before and not after
// the moment when they can be seen (OBJ-147).
TEST_F(Query, TimestampsAreZeroAndTheTime) {
    const auto ticks_now = [] {
        const auto now = std::chrono::steady_clock::now().time_since_epoch();
        return static_cast<u64>(std::chrono::duration_cast<std::chrono::nanoseconds>(now).count()) / 13 * 8;
    };
    for (int round = 0; round < 5; ++round) {
        for (u64 i = 0; i < 4; ++i)
            write(reports + 16 * i, std::array<u64, 2>{~u64{0}, ~u64{0}});
        const u64 before = ticks_now();
        Recorder r;
        begin(r);
        for (u64 i = 0; i < 4; ++i) {
            report(r, i % 2 ? timestamp_top : timestamp, reports + 16 * i);
            draw(r);
        }
        run(r);
        const u64 after = ticks_now();
        u64 last = round ? before : 1; // the first match of the clocks may be a little early
        for (u64 i = 0; i < 4; ++i) {
            EXPECT_EQ(read<u64>(reports + 16 * i), 0u) << i;
            const u64 time = read<u64>(reports + 16 * i + 8);
            if (i % 2 == 0) { // the top of the pipe may be ahead of its end
                EXPECT_GE(time + 8000000, last) << i;
                last = std::max(last, time);
            }
            EXPECT_LE(time, after) << i;
        }
    }
}

// A report is written where it stands in the stream: what follows it sees it, and can overwrite it.
TEST_F(Query, ReportsAreInStreamOrder) {
    write(reports, std::array<u64, 2>{5, 5});
    Recorder r;
    report(r, timestamp, reports);
    stream::CopyBufferToBuffer copy{};
    copy.source = at(reports).value;
    copy.dest = at(record).value;
    copy.size = 16;
    r.add(copy);
    stream::ReportValue value{};
    value.address = at(reports + 8).value;
    value.value = 99;
    r.add(value);
    run(r);
    EXPECT_EQ(read<u64>(record), 0u);
    EXPECT_GT(read<u64>(record + 8), 5u);
    EXPECT_EQ(read<u32>(reports + 8), 99u);
}

// --- Conditions; with and without the device's own conditional rendering ---

class Condition : public Query, public testing::WithParamInterface<const char*> {
protected:
    gpu::DeviceOptions device_options() override {
        gpu::DeviceOptions options = gpu::DeviceOptions::from_environment();
        options.disable += (options.disable.empty() ? "" : ",") + std::string(GetParam());
        return options;
    }
    // Does a clear, and does a draw, happen under the condition?
    std::pair<bool, bool> happen(u64 first, u64 second, u32 mode) {
        write(record, first);
        write(record + 16, second);
        const auto changes = [&](bool by_draw) {
            Recorder r;
            begin(r);
            r.add(clear(0, 0, 0, 0));
            condition(r, mode);
            if (by_draw)
                draw(r);
            else
                r.add(clear(1, 0, 0, 1));
            enable(r, true);
            return texel(r) == 0xff0000ff;
        };
        return {changes(false), changes(true)};
    }
};

INSTANTIATE_TEST_SUITE_P(Ways, Condition, testing::Values("", "conditional_rendering"),
                         [](const auto& way) { return *way.param ? "ByTheCpu" : "ByTheDevice"; });

// REN-205: all 64 bits of the two values count.
TEST_P(Condition, ComparesTwo64BitValues) {
    using Both = std::pair<bool, bool>;
    constexpr u64 high = u64{1} << 63;
    EXPECT_EQ(happen(1, 0, if_not_equal), Both(true, true));
    EXPECT_EQ(happen(0, 0, if_not_equal), Both(false, false));
    EXPECT_EQ(happen(high, 0, if_not_equal), Both(true, true));
    EXPECT_EQ(happen(high | 7, 7, if_equal), Both(false, false));
    EXPECT_EQ(happen(high | 7, high | 7, if_equal), Both(true, true));
    EXPECT_EQ(happen(1, 2, if_equal), Both(false, false));
}

// Clears of some channels or stencil bits are draws of the house's own: they obey too.
TEST_P(Condition, HoldsForEveryKindOfClear) {
    const stream::ImageDescription depth = image(depth_at, "DEPTH24_STENCIL8", size, size);
    for (const u64 value : {u64{0}, u64{1}}) {
        write(record, value);
        Recorder r;
        begin(r);
        set_targets(r, std::span(&target, 1), &depth);
        r.add(clear(0, 0, 0, 0));
        stream::ClearDepthStencil c{};
        c.depth = 0.5f;
        c.depth_mask = 1;
        c.stencil_mask = 0xff;
        r.add(c);
        condition(r, if_not_equal);
        r.add(clear(1, 1, 1, 1, 5)); // red and blue
        c.depth = 1;
        c.stencil = 0xff;
        c.stencil_mask = 0x0f;
        r.add(c);
        enable(r, true);
        stream::CopyTextureToBuffer copy{};
        copy.buffer = at(out + 0x10000).value;
        copy.region = {0, 0, 0, size, size, 1};
        copy.image = depth;
        r.add(copy);
        EXPECT_EQ(texel(r), value ? 0x00ff00ffu : 0u);
        EXPECT_EQ(read<u32>(out + 0x10000) & 0xff, value ? 0x0fu : 0u);
    }
}

// The condition is what the two values are where it stands in the stream (SHD-095), in the game's own order: a report
// of a timestamp makes the record 0 (REN-206).
TEST_P(Condition, ReadsWhatTheStreamWroteBefore) {
    write(record, u64{1});
    Recorder r;
    begin(r);
    r.add(clear(0, 0, 0, 0));
    condition(r, if_not_equal);
    r.add(clear(1, 0, 0, 1, 1)); // runs: red
    report(r, timestamp_top, record);
    condition(r, if_not_equal);
    r.add(clear(0, 1, 0, 1, 2)); // does not: green
    enable(r, true);
    EXPECT_EQ(texel(r), 0x000000ffu);
}

// SHD-095, REN-207: the query of this frame decides, not that of the frame before.
TEST_P(Condition, FollowsTheQueryOfTheSameFrame) {
    const auto frame = [&](bool visible) {
        Recorder r;
        begin(r);
        r.add(clear(0, 0, 0, 0));
        reset(r, samples_passed);
        report(r, samples_passed, record + 16);
        if (visible)
            draw_area(r, 8, 8);
        report(r, samples_passed, record);
        scissor(r, 0, 0, size, size);
        r.add(clear(0, 0, 0, 0));
        condition(r, if_not_equal);
        draw(r);
        enable(r, true);
        return texel(r) == 0xff0000ff;
    };
    EXPECT_FALSE(frame(false));
    EXPECT_TRUE(frame(true));
    EXPECT_FALSE(frame(false));
}

// It stays from one submission to the next, for its queue alone, until rendering is enabled or disabled outright.
TEST_P(Condition, StaysUntilRenderingIsEnabled) {
    constexpr stream::QueueId other = 2;
    replay->queue_created(other, {});
    write(record, u64{0});
    Recorder first;
    begin(first);
    first.add(clear(0, 0, 0, 0));
    condition(first, if_not_equal);
    run(first);
    write(record, u64{1}); // too late
    Recorder second;
    draw(second);
    EXPECT_EQ(texel(second), 0u);
    Recorder elsewhere;
    begin(elsewhere);
    draw(elsewhere);
    replay->submit(other, {0, 1}, elsewhere.take());
    replay->finish(other);
    Recorder third;
    EXPECT_EQ(texel(third), 0xff0000ffu);
    Recorder fourth;
    enable(fourth, true);
    fourth.add(clear(1, 1, 1, 1));
    EXPECT_EQ(texel(fourth), 0xffffffffu);
    Recorder fifth;
    enable(fifth, false);
    fifth.add(clear(0, 0, 0, 0));
    EXPECT_EQ(texel(fifth), 0xffffffffu);
    replay->queue_destroyed(other);
}

// A record that no memory holds: everything is drawn.
TEST_P(Condition, OverNoMemoryDraws) {
    Recorder r;
    begin(r);
    r.add(clear(0, 0, 0, 0));
    stream::SetRenderEnableConditional c{};
    c.mode = if_equal;
    c.address = 0x1234;
    r.add(c);
    draw(r);
    enable(r, true);
    EXPECT_EQ(texel(r), 0xff0000ffu);
}

// REN-207: titles whose records are never written are drawn whole.
class Unconditional : public Query {
    Options options() override {
        Options o;
        o.conditional_rendering = false;
        return o;
    }
};
TEST_F(Unconditional, DrawsWhateverTheRecordSays) {
    Recorder r;
    begin(r);
    r.add(clear(0, 0, 0, 0));
    condition(r, if_not_equal);
    draw(r);
    EXPECT_EQ(texel(r), 0xff0000ffu);
}

} // namespace
} // namespace heaviside::replay
