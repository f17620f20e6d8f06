// Transform feedback: what a program writes comes out in guest memory, word for word. Offsets in the pool: vertices and
// indices from 0x10000 on, control memory at 0x20000, captures from 0x30000 on, targets from 0x100000 on.
#include "capture_fixture.h"

#include <algorithm>
#include <array>

namespace heaviside::replay {
namespace {

using program::FeedbackLayout;

constexpr u64 target = 0x100000, result = 0x200000;
constexpr u32 points = 0, lines = 1, triangles = 4, strip = 5, quads = 7;

// Location 0: x = vertex, y = 100 + vertex, z = 200 + vertex, w = 1; location 1: x = 7 * vertex + instance, rest unset;
// location 2: x = 0.5 * vertex. All as floats; the position is (vertex, 0, 0, 1).
constexpr const char* numbers = R"(
.stage vertex
.in vertex_id
.in instance_id
.out position
.out 0 xyzw
.out 1 x___
.out 2 x___
.entry main
main:
    ALD R0, a[0x2fc], RZ
    ALD R1, a[0x2f8], RZ
    I2F.F32.U32 R4, R0
    I2F.F32.U32 R1, R1
    MOV32I R5, 0x42c80000
    MOV32I R6, 0x43480000
    FADD.FTZ R5, R5, R4
    FADD.FTZ R6, R6, R4
    MOV32I R7, 0x3f800000
    AST.128 a[0x80], R4, RZ
    FFMA.FTZ R8, R4, 7, R1
    AST a[0x90], R8, RZ
    FMUL.FTZ R9, R4, 0.5
    AST a[0xa0], R9, RZ
    MOV R5, RZ
    MOV R6, RZ
    AST.128 a[0x70], R4, RZ
    EXIT
)";

f32 y(u32 vertex) {
    return 100.0f + static_cast<f32>(vertex);
}

class Feedback : public CaptureTest {
protected:
    // xyz of location 0 into buffer 0, x of locations 1 and 2 into buffers of their own.
    static FeedbackLayout three_buffers() {
        return {{12, 4, 4, 0}, {{generic, 3, 0, 0}, {generic + 16, 1, 1, 0}, {generic + 32, 1, 2, 0}}};
    }
    // x of location 0 only.
    static FeedbackLayout one_word() { return {{4, 0, 0, 0}, {{generic, 1, 0, 0}}}; }
};

TEST_F(Feedback, CapturesWhatTheLayoutNamesWithAndWithoutRasterization) { // REN-172, REN-173
    const auto capture = program({numbers}, {.feedback = three_buffers()});
    for (const bool discarded : {true, false}) {
        std::memset(memory + captured, 0, 0x3000);
        Recorder r;
        const auto color = image(target, "RGBA8", 8, 8);
        set_targets(r, std::span(&color, 1));
        r.add(clear(1, 0, 0, 1));
        bind(r, capture, vertex_bit | fragment_bit);
        discard(r, discarded);
        for (u32 b = 0; b < 3; ++b)
            buffer(r, b, captured + 0x1000 * b, 0x1000);
        feedback(r, FeedbackAction::Begin);
        draw(r, triangles, 6);
        feedback(r, FeedbackAction::End);
        copy_out(r, color, result, 8, 8);
        run(r);
        for (u32 v = 0; v < 6; ++v) {
            const f32 n = static_cast<f32>(v);
            floats(captured + 12 * v, {n, 100 + n, 200 + n});
            floats(captured + 0x1000 + 4 * v, {7 * n});
            floats(captured + 0x2000 + 4 * v, {0.5f * n});
        }
        untouched(captured + 72, 4);
        EXPECT_EQ(read<u32>(control), 72u);
        EXPECT_EQ(read<u32>(control + 4), 24u);
        EXPECT_EQ(read<u32>(control + 8), 24u);
        EXPECT_EQ(read<u32>(result), 0xff0000ffu); // no fragment program: the target stays
    }
}

TEST_F(Feedback, OutputsInterleaveInTheListedOrder) { // REN-173; parts of a vector beside a whole one
    const auto capture =
        program({numbers}, {.feedback = FeedbackLayout{{36, 0, 0, 0},
                                                       {{generic + 32, 1, 0, 0}, // location 2
                                                        {generic, 2, 0, 4},
                                                        {generic, 4, 0, 12},
                                                        {generic + 16, 2, 0, 28}}}}); // its y is never written
    Recorder r;
    bind(r, capture, vertex_bit | fragment_bit);
    discard(r, true);
    buffer(r, 0, captured, 0x1000);
    feedback(r, FeedbackAction::Begin);
    draw(r, points, 3);
    feedback(r, FeedbackAction::End);
    run(r);
    for (u32 v = 0; v < 3; ++v) {
        const f32 n = static_cast<f32>(v);
        floats(captured + 36 * v, {0.5f * n, n, y(v), n, y(v), 200 + n, 1, 7 * n, 0});
    }
    EXPECT_EQ(read<u32>(control), 108u);
}

TEST_F(Feedback, OutputsThatAreNeverWrittenAreZero) { // GFX-109
    const auto capture = program(
        {numbers}, {.feedback = FeedbackLayout{{20, 0, 0, 0}, {{generic + 16 * 9, 4, 0, 0}, {generic, 1, 0, 16}}}});
    std::memset(memory + captured, 0xff, 40);
    Recorder r;
    bind(r, capture, vertex_bit | fragment_bit);
    discard(r, true);
    buffer(r, 0, captured, 40);
    feedback(r, FeedbackAction::Begin);
    draw(r, points, 2);
    feedback(r, FeedbackAction::End);
    run(r);
    floats(captured, {0, 0, 0, 0, 0, 0, 0, 0, 0, 1});
}

TEST_F(Feedback, StopsAtWholePrimitives) { // GFX-127, REN-174: room for two and a half triangles, then for five
    const auto capture = program({numbers}, {.feedback = one_word()});
    for (const u32 words : {8u, 17u}) {
        std::memset(memory + captured, 0, 0x1000);
        Recorder r;
        bind(r, capture, vertex_bit | fragment_bit);
        discard(r, true);
        buffer(r, 0, captured, words * 4);
        feedback(r, FeedbackAction::Begin);
        draw(r, triangles, 30);
        feedback(r, FeedbackAction::End);
        run(r);
        const u32 whole = words / 3 * 3;
        for (u32 v = 0; v < whole; ++v)
            floats(captured + 4 * v, {static_cast<f32>(v)});
        untouched(captured + 4 * whole, 8);
        EXPECT_EQ(read<u32>(control), whole * 4);
    }
}

TEST_F(Feedback, EachBufferBoundsTheCapture) { // REN-174: the second one has room for one line
    const auto capture = program({numbers}, {.feedback = three_buffers()});
    Recorder r;
    bind(r, capture, vertex_bit | fragment_bit);
    discard(r, true);
    buffer(r, 0, captured, 0x1000);
    buffer(r, 1, captured + 0x1000, 8);
    buffer(r, 2, captured + 0x2000, 0x1000);
    feedback(r, FeedbackAction::Begin);
    draw(r, lines, 6);
    feedback(r, FeedbackAction::End);
    run(r);
    floats(captured, {0, 100, 200, 1, 101, 201});
    untouched(captured + 24, 4);
    untouched(captured + 0x1008, 4);
    floats(captured + 0x2000, {0, 0.5f});
    untouched(captured + 0x2008, 4);
}

TEST_F(Feedback, PausedDrawsAreNotCapturedAndResumedOnesFollow) { // REN-174, GFX-128
    const auto capture = program({numbers}, {.feedback = one_word()});
    const auto other = program({numbers}); // captures nothing; another program between
    Recorder r;
    bind(r, capture, vertex_bit | fragment_bit);
    discard(r, true);
    buffer(r, 0, captured, 0x1000);
    feedback(r, FeedbackAction::Begin);
    draw(r, triangles, 12);
    feedback(r, FeedbackAction::Pause);
    bind(r, other, vertex_bit | fragment_bit);
    draw(r, triangles, 3);
    bind(r, capture, vertex_bit | fragment_bit);
    draw(r, triangles, 3);
    feedback(r, FeedbackAction::Resume);
    draw(r, triangles, 12);
    feedback(r, FeedbackAction::End);
    draw(r, triangles, 3);
    run(r);
    for (u32 v = 0; v < 24; ++v)
        floats(captured + 4 * v, {static_cast<f32>(v % 12)});
    untouched(captured + 96, 12);
    EXPECT_EQ(read<u32>(control), 96u);
}

TEST_F(Feedback, CountersOutliveTheSubmission) { // GFX-128: Resume goes on from what the control memory says
    const auto capture = program({numbers}, {.feedback = one_word()});
    Recorder first;
    bind(first, capture, vertex_bit | fragment_bit);
    discard(first, true);
    buffer(first, 0, captured, 0x1000);
    feedback(first, FeedbackAction::Begin);
    draw(first, points, 3);
    feedback(first, FeedbackAction::Pause);
    run(first);
    EXPECT_EQ(read<u32>(control), 12u);
    Recorder second;
    feedback(second, FeedbackAction::Resume);
    draw(second, points, 2);
    feedback(second, FeedbackAction::End);
    run(second);
    floats(captured, {0, 1, 2, 0, 1});
    EXPECT_EQ(read<u32>(control), 20u);
}

TEST_F(Feedback, BeginStartsAgainAndWithoutDrawsSaysZero) { // REN-174
    const auto capture = program({numbers}, {.feedback = one_word()});
    write<u32>(control, 77);
    Recorder r;
    bind(r, capture, vertex_bit | fragment_bit);
    discard(r, true);
    buffer(r, 0, captured, 0x1000);
    feedback(r, FeedbackAction::Begin);
    draw(r, points, 4);
    feedback(r, FeedbackAction::End);
    feedback(r, FeedbackAction::Begin);
    draw(r, points, 2);
    feedback(r, FeedbackAction::End);
    feedback(r, FeedbackAction::Begin, control + 0x100);
    feedback(r, FeedbackAction::End, control + 0x100);
    run(r);
    floats(captured, {0, 1, 2, 3});
    EXPECT_EQ(read<u32>(control), 8u);
    EXPECT_EQ(read<u32>(control + 0x100), 0u);
}

TEST_F(Feedback, IndexedAndInstancedDrawsAreCapturedInOrder) { // REN-176, GFX-108
    const auto capture = program({numbers}, {.feedback = FeedbackLayout{{4, 0, 0, 0}, {{generic + 16, 1, 0, 0}}}});
    for (const u16 index : {u16{5}, u16{2}, u16{9}})
        write<u16>(0x10000 + 2u * (index == 5 ? 0u : index == 2 ? 1u : 2u), index);
    Recorder r;
    bind(r, capture, vertex_bit | fragment_bit);
    discard(r, true);
    buffer(r, 0, captured, 0x1000);
    feedback(r, FeedbackAction::Begin);
    stream::DrawElementsInstanced d{};
    d.primitive = triangles;
    d.index_type = 1;
    d.count = 3;
    d.indices = at(0x10000).value;
    d.instance_count = 2;
    r.add(d);
    feedback(r, FeedbackAction::End);
    run(r);
    floats(captured, {35, 14, 63, 36, 15, 64}); // 7 * vertex + instance
}

TEST_F(Feedback, StripsAreCapturedAsLists) { // GFX-127; which vertex of an odd triangle comes first is the device's
    const auto capture = program({numbers}, {.feedback = one_word()});
    Recorder r;
    bind(r, capture, vertex_bit | fragment_bit);
    discard(r, true);
    buffer(r, 0, captured, 0x1000);
    feedback(r, FeedbackAction::Begin);
    draw(r, strip, 4);
    feedback(r, FeedbackAction::End);
    run(r);
    EXPECT_EQ(read<u32>(control), 24u);
    floats(captured, {0, 1, 2});
    std::array<f32, 3> odd{read<f32>(captured + 12), read<f32>(captured + 16), read<f32>(captured + 20)};
    std::sort(odd.begin(), odd.end());
    EXPECT_EQ(odd, (std::array<f32, 3>{1, 2, 3}));
}

TEST_F(Feedback, QuadsAreCapturedAsTriangles) {
    const auto capture = program({numbers}, {.feedback = one_word()});
    Recorder r;
    bind(r, capture, vertex_bit | fragment_bit);
    discard(r, true);
    buffer(r, 0, captured, 0x1000);
    feedback(r, FeedbackAction::Begin);
    draw(r, quads, 4);
    feedback(r, FeedbackAction::End);
    run(r);
    EXPECT_EQ(read<u32>(control), 24u);
    floats(captured, {0, 1, 3, 1, 2, 3}); // the last vertex is in both: it provokes
}

// --- what is drawn from captures

// A vertex program that hands its attribute 0 on as the position, and one that captures positions: vertex v of a
// full-screen strip, by its number.
constexpr const char* corners = R"(
.stage vertex
.in vertex_id
.out position
.out 0 xyzw
.entry main
main:
    ALD R0, a[0x2fc], RZ
    LOP.AND R1, R0, 0x1
    SHR.U32 R2, R0, 0x1
    I2F.F32.U32 R4, R1
    I2F.F32.U32 R5, R2
    FADD.FTZ R4, R4, R4
    FADD.FTZ R5, R5, R5
    FADD.FTZ R4, R4, -1
    FADD.FTZ R5, R5, -1
    MOV R6, RZ
    MOV32I R7, 0x3f800000
    AST.128 a[0x70], R4, RZ
    AST.128 a[0x80], R4, RZ
    EXIT
)";
constexpr const char* attribute = R"(
.stage vertex
.in 0 xyzw
.out position
.entry main
main:
    ALD.128 R0, a[0x80], RZ
    AST.128 a[0x70], R0, RZ
    EXIT
)";

class DrawCaptured : public Feedback {
protected:
    // A 16-byte attribute 0 from the captures.
    void captured_as_vertices(Recorder& r) const {
        stream::VertexAttribState a{};
        a.format = static_cast<u8>(texture::format_named("RGBA32F"));
        r.add(stream::BindVertexAttribState{}, std::span<const stream::VertexAttribState>(&a, 1));
        const stream::VertexStreamState s{16, 0};
        r.add(stream::BindVertexStreamState{}, std::span<const stream::VertexStreamState>(&s, 1));
        stream::BindVertexBuffer b{};
        b.address = at(captured).value;
        b.size = 0x1000;
        r.add(b);
    }
    void white(Recorder& r) const {
        for (u32 i = 0; i < 4; ++i)
            write<f32>(0x40000 + 4 * i, 1);
        uniform(r, stream::Stage::Fragment, 0, 0x40000, 16);
    }
    u32 covered() const {
        u32 count = 0;
        for (u32 i = 0; i < 64; ++i)
            count += read<u32>(result + 4 * i) == ~0u;
        return count;
    }
};

TEST_F(DrawCaptured, AsManyVerticesAsWereCapturedInTheSameSubmission) { // REN-175
    const auto capture = program({corners}, {.feedback = FeedbackLayout{{16, 0, 0, 0}, {{generic, 4, 0, 0}}}});
    const auto show = program({attribute, flat});
    for (const i32 vertices : {4, 3, 0}) { // the whole target, half of it, nothing
        std::memset(memory + captured, 0, 64);
        Recorder r;
        const auto color = image(target, "RGBA8", 8, 8);
        set_targets(r, std::span(&color, 1));
        r.add(clear(0, 0, 0, 0));
        bind(r, capture, vertex_bit | fragment_bit);
        discard(r, true);
        buffer(r, 0, captured, 0x1000);
        feedback(r, FeedbackAction::Begin);
        draw(r, points, vertices);
        feedback(r, FeedbackAction::End);
        bind(r, show, vertex_bit | fragment_bit);
        discard(r, false);
        captured_as_vertices(r);
        white(r);
        draw_captured(r, strip);
        copy_out(r, color, result, 8, 8);
        run(r);
        EXPECT_EQ(read<u32>(control), static_cast<u32>(vertices) * 16);
        if (vertices == 3) {
            EXPECT_GT(covered(), 24u);
            EXPECT_LT(covered(), 40u);
        } else {
            EXPECT_EQ(covered(), vertices == 4 ? 64u : 0u);
        }
    }
}

TEST_F(DrawCaptured, CountsOfAnEarlierSubmissionAndOfLoweredPrimitives) { // REN-175: a quad is made of indices here
    // Corners 0, 1, 3, 2 in order around the quad.
    const u16 around[] = {0, 1, 3, 2};
    write(0x10000, around);
    const auto capture = program({corners}, {.feedback = FeedbackLayout{{16, 0, 0, 0}, {{generic, 4, 0, 0}}}});
    const auto show = program({attribute, flat});
    Recorder first;
    bind(first, capture, vertex_bit | fragment_bit);
    discard(first, true);
    buffer(first, 0, captured, 0x1000);
    feedback(first, FeedbackAction::Begin);
    stream::DrawElements d{};
    d.primitive = points;
    d.index_type = 1;
    d.count = 4;
    d.indices = at(0x10000).value;
    first.add(d);
    feedback(first, FeedbackAction::End);
    run(first);
    Recorder second;
    const auto color = image(target, "RGBA8", 8, 8);
    set_targets(second, std::span(&color, 1));
    second.add(clear(0, 0, 0, 0));
    bind(second, show, vertex_bit | fragment_bit);
    discard(second, false);
    captured_as_vertices(second);
    white(second);
    draw_captured(second, quads);
    copy_out(second, color, result, 8, 8);
    run(second);
    EXPECT_EQ(covered(), 64u);
}

TEST_F(DrawCaptured, DrawsThatFetchCapturesSeeThem) { // REN-172: in one pass of the guest, no barrier between
    const auto capture = program({corners}, {.feedback = FeedbackLayout{{16, 0, 0, 0}, {{generic, 4, 0, 0}}}});
    const auto show = program({attribute, flat});
    Recorder r;
    const auto color = image(target, "RGBA8", 8, 8);
    set_targets(r, std::span(&color, 1));
    r.add(clear(0, 0, 0, 0));
    captured_as_vertices(r);
    white(r);
    bind(r, capture, vertex_bit | fragment_bit);
    discard(r, true);
    buffer(r, 0, captured, 0x1000);
    feedback(r, FeedbackAction::Begin);
    draw(r, points, 4);
    feedback(r, FeedbackAction::End);
    bind(r, show, vertex_bit | fragment_bit);
    discard(r, false);
    draw(r, strip, 4);
    copy_out(r, color, result, 8, 8);
    run(r);
    EXPECT_EQ(covered(), 64u);
    EXPECT_GE(replay->statistics().passes, 2u);
}

TEST_F(Feedback, ProgramsWithoutALayoutCaptureNothing) { // GFX-132: one line, the buffer stays
    const auto plain = program({numbers});
    Recorder r;
    bind(r, plain, vertex_bit | fragment_bit);
    discard(r, true);
    buffer(r, 0, captured, 0x1000);
    feedback(r, FeedbackAction::Begin);
    draw(r, triangles, 6);
    feedback(r, FeedbackAction::End);
    run(r);
    untouched(captured, 16);
    EXPECT_EQ(read<u32>(control), 0u);
    EXPECT_EQ(replay->statistics().draws, 1u);
}

// --- stages behind the vertex program

// Each point becomes a strip of as many vertices as location 0's x says: x counts them, y is the primitive ID.
constexpr const char* amplify = R"(
.stage geometry
.topology triangle_strip
.max_vertices 5
.threads 1
.streams 1
.in 0 x___
.in primitive_id
.out position
.out 0 xy__
.entry main
main:
    ALD R0, a[0x80], RZ
    ALD R5, a[0x60], RZ
    I2F.F32.U32 R5, R5
    MOV R4, RZ
    MOV R8, RZ
    MOV R9, RZ
    MOV R10, RZ
    MOV32I R11, 0x3f800000
again:
    FSETP.GE.FTZ.AND P0, PT, R4, R0, PT
@P0 EXIT
    AST.128 a[0x70], R8, RZ
    AST.64 a[0x80], R4, RZ
    OUT.EMIT R20, RZ, RZ
    FADD.FTZ R4, R4, 1
    BRA again
)";

TEST_F(Feedback, GeometryOutputIsCapturedAsTriangles) { // GFX-138, REN-176: 0 to 3 triangles from points 2 to 5
    const auto capture = program({numbers, amplify}, {.feedback = FeedbackLayout{{8, 0, 0, 0}, {{generic, 2, 0, 0}}}});
    Recorder r;
    bind(r, capture, vertex_bit | geometry_bit | fragment_bit);
    discard(r, true);
    buffer(r, 0, captured, 0x1000);
    feedback(r, FeedbackAction::Begin);
    draw(r, points, 6); // points 0 .. 5 emit 0 .. 5 vertices: 0, 0, 0, 1, 2, 3 triangles
    feedback(r, FeedbackAction::End);
    run(r);
    ASSERT_EQ(read<u32>(control), 6u * 3 * 8);
    const u32 primitive[] = {3, 4, 4, 5, 5, 5}, first[] = {0, 0, 1, 0, 1, 2};
    for (u32 t = 0; t < 6; ++t) {
        std::array<f32, 3> x{};
        for (u32 v = 0; v < 3; ++v) {
            x[v] = read<f32>(captured + 24 * t + 8 * v);
            EXPECT_EQ(read<f32>(captured + 24 * t + 8 * v + 4), static_cast<f32>(primitive[t]));
        }
        std::sort(x.begin(), x.end());
        const f32 n = static_cast<f32>(first[t]);
        EXPECT_EQ(x, (std::array<f32, 3>{n, n + 1, n + 2})) << "triangle " << t;
    }
}

TEST_F(Feedback,
       TheLastStageSaysWhatIsCaptured) { // GFX-134: a layout of the vertex program counts without a geometry one
    const auto both = program({numbers, amplify}, {.feedback = one_word(), .feedback_of_all = true});
    Recorder r;
    bind(r, both, vertex_bit | geometry_bit | fragment_bit);
    discard(r, true);
    buffer(r, 0, captured, 0x1000);
    feedback(r, FeedbackAction::Begin);
    draw(r, points, 4);
    feedback(r, FeedbackAction::End);
    run(r);
    EXPECT_EQ(read<u32>(control), 12u); // point 3's triangle
    EXPECT_EQ(replay->statistics().skipped_draws, 0u);
}

} // namespace
} // namespace heaviside::replay
