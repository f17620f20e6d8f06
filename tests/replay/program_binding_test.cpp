// Programs bound for some of their stages: what counts is what each stage has at the draw.
#include "program_fixture.h"

namespace heaviside::replay {
namespace {

class StagePrograms : public ProgramTest {
protected:
    static constexpr u64 vertex_uniforms = 0x3000, fragment_uniforms = 0x3100, target_at = 0x40000, depth_at = 0x60000,
                         out = 0x80000;
    static constexpr i32 size = 16;

    // Covers the left half of the viewport.
    static constexpr const char* left_half = R"(
.stage vertex
.in vertex_id
.out position
.entry main
main:
    ALD R0, a[0x2fc], RZ
    LOP.AND R1, R0, 0x1
    SHR.U32 R2, R0, 0x1
    I2F.F32.U32 R4, R1
    I2F.F32.U32 R5, R2
    FADD.FTZ R5, R5, R5
    FADD.FTZ R4, R4, -1
    FADD.FTZ R5, R5, -1
    MOV R6, c[0x3][0x0]
    MOV32I R7, 0x3f800000
    AST.128 a[0x70], R4, RZ
    EXIT
)";
    static constexpr const char* green = R"(
.stage fragment
.target 0 rgba
.entry main
main:
    MOV R0, RZ
    MOV32I R1, 0x3f800000
    MOV R2, RZ
    MOV32I R3, 0x3f800000
    EXIT
)";
    static constexpr const char* counting = R"(
.stage compute
.workgroup 1 1 1
.entry main
main:
    MOV R8, c[0x0][0x310]
    MOV R9, c[0x0][0x314]
    LDG.E R0, [R8]
    IADD32I R0, R0, 0x1
    STG.E [R8], R0
    EXIT
)";
    static constexpr u32 red_texel = 0xff0000ff, green_texel = 0xff00ff00;

    void SetUp() override {
        ProgramTest::SetUp();
        if (HasFatalFailure())
            return;
        target = image(target_at, "RGBA8", size, size);
        depth = image(depth_at, "DEPTH32F", size, size);
        write(vertex_uniforms, 0.25f);
        write(fragment_uniforms, std::array<f32, 4>{1, 0, 0, 1});
    }
    void begin(Recorder& r, bool with_depth = false) const {
        set_targets(r, std::span(&target, 1), with_depth ? &depth : nullptr);
        uniform(r, stream::Stage::Vertex, 0, vertex_uniforms, 16);
        uniform(r, stream::Stage::Fragment, 0, fragment_uniforms, 16);
        r.add(clear(0, 0, 0, 0));
    }
    // Texels in the left and the right half.
    std::pair<u32, u32> halves(Recorder& r) {
        copy_out(r, target, out, size, size);
        run(r);
        return {read<u32>(out), read<u32>(out + 4 * (size - 1))};
    }
    static void test_depth(Recorder& r, u32 function) {
        stream::BindDepthStencilState d{};
        d.state.depth_test = d.state.depth_write = 1;
        d.state.depth_func = function & 0xf;
        d.state.front_func = d.state.back_func = 8;
        d.state.front_fail = d.state.front_depth_fail = d.state.front_depth_pass = 1;
        d.state.back_fail = d.state.back_depth_fail = d.state.back_depth_pass = 1;
        r.add(d);
    }

    stream::ImageDescription target{}, depth{};
};

// SHD-091, REN-148: every pair of programs of one stage each, and stages of programs that have both.
TEST_F(StagePrograms, AnyPairDrawsAsItself) {
    const stream::ProgramId whole = program({full_screen}), left = program({left_half}), red = program({flat}),
                            green_one = program({green}), both = program({left_half, green});
    const auto draws = [&](stream::ProgramId vertex, stream::ProgramId fragment) {
        Recorder r;
        begin(r);
        bind(r, both, vertex_bit | fragment_bit); // what was bound before does not count
        bind(r, vertex, vertex_bit);
        bind(r, fragment, fragment_bit);
        draw(r);
        return halves(r);
    };
    using Texels = std::pair<u32, u32>;
    EXPECT_EQ(draws(whole, red), Texels(red_texel, red_texel));
    EXPECT_EQ(draws(whole, green_one), Texels(green_texel, green_texel));
    EXPECT_EQ(draws(left, red), Texels(red_texel, 0));
    EXPECT_EQ(draws(left, green_one), Texels(green_texel, 0));
    EXPECT_EQ(draws(whole, both), Texels(green_texel, green_texel));
    EXPECT_EQ(draws(both, red), Texels(red_texel, 0));
}

// REN-148, REN-149: without a fragment program depth is drawn and colour is not; the same vertices pass EQUAL after it.
TEST_F(StagePrograms, VerticesAloneDrawDepth) {
    const stream::ProgramId both = program({full_screen, flat});
    constexpr u32 always = 8, equal = 3;
    Recorder r;
    begin(r, true);
    stream::ClearDepthStencil c{};
    c.depth = 1;
    c.depth_mask = 1;
    r.add(c);
    test_depth(r, always);
    bind(r, both, vertex_bit | fragment_bit);
    bind(r, 0, fragment_bit);
    draw(r);
    const auto colour = halves(r);
    EXPECT_EQ(colour, std::pair(0u, 0u));
    Recorder second;
    test_depth(second, equal);
    bind(second, both, fragment_bit);
    draw(second);
    EXPECT_EQ(halves(second), std::pair(red_texel, red_texel));
}

// REN-152: a compute program leaves the others bound and the other way round.
TEST_F(StagePrograms, ComputeProgramsAreBoundApart) {
    const stream::ProgramId both = program({full_screen, flat}), compute = program({counting});
    Recorder r;
    begin(r);
    write(0x5000, 0u);
    storage(r, stream::Stage::Compute, 0, 0x5000, 16);
    bind(r, both, vertex_bit | fragment_bit);
    bind(r, compute, compute_bit);
    dispatch(r);
    draw(r);
    dispatch(r);
    EXPECT_EQ(halves(r), std::pair(red_texel, red_texel));
    EXPECT_EQ(read<u32>(0x5000), 2u);
}

// OBJ-137: a program that ends while it is bound is gone from every queue; the stages of others stay.
TEST_F(StagePrograms, AProgramThatEndsIsBoundNowhere) {
    constexpr stream::QueueId other = 2;
    replay->queue_created(other, {});
    const stream::ProgramId vertex = program({full_screen}), fragment = program({flat});
    const auto bind_all = [&](stream::QueueId q) {
        Recorder r;
        begin(r);
        bind(r, vertex, vertex_bit);
        bind(r, fragment, fragment_bit);
        draw(r);
        replay->submit(q, {0, 1}, r.take());
    };
    bind_all(queue);
    bind_all(other);
    replay->program_destroyed(fragment);
    for (const stream::QueueId q : {queue, other}) {
        Recorder r;
        r.add(clear(0, 0, 0, 0));
        draw(r);
        copy_out(r, target, out, size, size);
        replay->submit(q, {0, 1}, r.take());
        replay->finish(q);
        EXPECT_EQ(read<u32>(out), 0u) << q; // vertices alone
    }
    replay->program_destroyed(vertex);
    Recorder r;
    draw(r);
    EXPECT_EQ(halves(r), std::pair(0u, 0u));
    Recorder again;
    bind(again, program({full_screen, flat}), vertex_bit | fragment_bit);
    draw(again);
    EXPECT_EQ(halves(again), std::pair(red_texel, red_texel));
    replay->queue_destroyed(other);
}

} // namespace
} // namespace heaviside::replay
