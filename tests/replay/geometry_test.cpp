// Geometry and tessellation programs, seen through what transform feedback captures of them: numbers, not pixels.
#include "capture_fixture.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>

namespace heaviside::replay {
namespace {

using program::FeedbackLayout;
using program::TessDomain;
using program::Tessellation;
using program::TessSpacing;

constexpr u32 points = 0, lines = 1, triangles = 4, lines_adjacency = 10, line_strip_adjacency = 11,
              triangles_adjacency = 12, triangle_strip_adjacency = 13, patches = 14;

// Location 0 = (vertex, instance, 0, 1), position (vertex, 0, 0, 1).
constexpr const char* numbered = R"(
.stage vertex
.in vertex_id
.in instance_id
.out position
.out 0 xyzw
.entry main
main:
    ALD R4, a[0x2fc], RZ
    ALD R5, a[0x2f8], RZ
    I2F.F32.U32 R4, R4
    I2F.F32.U32 R5, R5
    MOV R6, RZ
    MOV32I R7, 0x3f800000
    AST.128 a[0x80], R4, RZ
    MOV R5, RZ
    AST.128 a[0x70], R4, RZ
    EXIT
)";

FeedbackLayout first_words(u8 count) {
    return {{static_cast<u16>(4 * count), 0, 0, 0}, {{0x80, count, 0, 0}}};
}

// A geometry program that emits its input vertices' numbers: location 0 = (x of vertex `i`, primitive ID, i, 0).
std::string emits(u32 vertices, const char* topology) {
    std::string text = ".stage geometry\n.topology " + std::string(topology) + "\n.max_vertices 8\n.threads 1\n";
    text += ".streams 1\n.in 0 xyzw\n.in primitive_id\n.out position\n.out 0 xyzw\n.entry main\nmain:\n"
            "    ALD R1, a[0x60], RZ\n    I2F.F32.U32 R1, R1\n    MOV R3, RZ\n    MOV R8, RZ\n    MOV R9, RZ\n"
            "    MOV R10, RZ\n    MOV32I R11, 0x3f800000\n";
    for (u32 i = 0; i < vertices; ++i) {
        text += "    MOV32I R20, " + std::to_string(i) + "\n    ALD R0, a[0x80], R20\n    I2F.F32.U32 R2, R20\n" +
                "    AST.128 a[0x70], R8, RZ\n    AST.128 a[0x80], R0, RZ\n    OUT.EMIT R21, RZ, RZ\n";
        if (std::string_view(topology) == "points" && i + 1 < vertices)
            text += "    OUT.CUT R21, RZ, RZ\n";
    }
    return text + "    EXIT\n";
}

class Geometry : public CaptureTest {
protected:
    // What location 0 of each captured vertex is.
    std::vector<std::array<f32, 4>> vertices() const {
        std::vector<std::array<f32, 4>> out(read<u32>(control) / 16);
        if (!out.empty())
            std::memcpy(out.data(), memory + captured, out.size() * 16);
        return out;
    }
    std::vector<f32> firsts() const {
        std::vector<f32> out;
        for (const auto& v : vertices())
            out.push_back(v[0]);
        return out;
    }
    std::vector<f32> inputs_of(u32 primitive, i32 count, u32 per_primitive) {
        const auto p = program({numbered, emits(per_primitive, "points")}, {.feedback = first_words(4)});
        Recorder r;
        bind(r, p, all_graphics_bits);
        capture(r, [&] { draw(r, primitive, count); });
        run(r);
        return firsts();
    }
};

using Numbers = std::vector<f32>;

TEST_F(Geometry, EveryPrimitiveReachesItsProgramWithItsVertices) { // GFX-122, GFX-123, SHD-111: one program, all inputs
    EXPECT_EQ(inputs_of(points, 3, 1), (Numbers{0, 1, 2}));
    EXPECT_EQ(inputs_of(lines, 5, 2), (Numbers{0, 1, 2, 3}));
    EXPECT_EQ(inputs_of(3 /* line strip */, 4, 2), (Numbers{0, 1, 1, 2, 2, 3}));
    EXPECT_EQ(inputs_of(2 /* line loop */, 3, 2), (Numbers{0, 1, 1, 2, 2, 0}));
    EXPECT_EQ(inputs_of(triangles, 7, 3), (Numbers{0, 1, 2, 3, 4, 5}));
    EXPECT_EQ(inputs_of(lines_adjacency, 8, 4), (Numbers{0, 1, 2, 3, 4, 5, 6, 7}));
    EXPECT_EQ(inputs_of(line_strip_adjacency, 5, 4), (Numbers{0, 1, 2, 3, 1, 2, 3, 4}));
    EXPECT_EQ(inputs_of(triangles_adjacency, 6, 6), (Numbers{0, 1, 2, 3, 4, 5}));
}

TEST_F(Geometry, StripsWithAdjacencyFollowTheTable) { // GFX-136: table 10.1 of the GL 4.6 specification, one triangle
    EXPECT_EQ(inputs_of(triangle_strip_adjacency, 6, 6), (Numbers{0, 1, 2, 5, 4, 3}));
}

TEST_F(Geometry, VariantsFollowThePrimitiveOfTheDraw) { // GFX-123: points, lines, triangles with one bound program
    const auto p = program({numbered, emits(1, "points")}, {.feedback = first_words(4)});
    Recorder r;
    bind(r, p, all_graphics_bits);
    capture(r, [&] {
        draw(r, points, 2);
        draw(r, lines, 4);
        draw(r, triangles, 6);
    });
    run(r);
    EXPECT_EQ(firsts(), (Numbers{0, 1, 0, 2, 0, 3})); // vertex 0 of each primitive, in order (GFX-121)
}

TEST_F(Geometry, OutputBeyondTheMaximumIsNotSeen) { // GFX-111: 5 vertices of 4, a strip of two triangles
    std::string five = emits(1, "triangle_strip");
    five.replace(five.find(".max_vertices 8"), 15, ".max_vertices 4");
    const std::string emit = "    OUT.EMIT R21, RZ, RZ\n";
    five.insert(five.rfind("    EXIT"), emit + emit + emit + emit);
    const auto p = program({numbered, five}, {.feedback = first_words(4)});
    Recorder r;
    bind(r, p, all_graphics_bits);
    capture(r, [&] { draw(r, points, 1); });
    run(r);
    EXPECT_EQ(read<u32>(control), 6u * 16);
}

TEST_F(Geometry, CutBeginsAnotherStrip) { // GFX-111, GFX-114: 3 vertices, cut, 3 vertices are two triangles, not four
    std::string six = emits(1, "triangle_strip");
    const std::string emit = "    OUT.EMIT R21, RZ, RZ\n";
    six.insert(six.rfind("    EXIT"), emit + "    OUT.EMIT_THEN_CUT R21, RZ, RZ\n" + emit + emit + emit);
    const auto p = program({numbered, six}, {.feedback = first_words(4)});
    Recorder r;
    bind(r, p, all_graphics_bits);
    capture(r, [&] { draw(r, points, 1); });
    run(r);
    EXPECT_EQ(read<u32>(control), 6u * 16);
}

TEST_F(Geometry, InvocationsComePrimitiveByPrimitive) { // GFX-135
    const auto p = program({numbered, R"(
.stage geometry
.topology points
.max_vertices 1
.threads 4
.streams 1
.in 0 x___
.out position
.out 0 xy__
.entry main
main:
    ALD R0, a[0x80], RZ
    S2R R1, SR_INVOCATION_ID
    I2F.F32.U32 R1, R1
    MOV R8, RZ
    MOV R9, RZ
    MOV R10, RZ
    MOV32I R11, 0x3f800000
    AST.128 a[0x70], R8, RZ
    AST.64 a[0x80], R0, RZ
    OUT.EMIT R21, RZ, RZ
    EXIT
)"},
                           {.feedback = first_words(2)});
    Recorder r;
    bind(r, p, all_graphics_bits);
    capture(r, [&] { draw(r, points, 2); });
    run(r);
    ASSERT_EQ(read<u32>(control), 8u * 8);
    for (u32 i = 0; i < 8; ++i)
        floats(captured + 8 * i, {static_cast<f32>(i / 4), static_cast<f32>(i % 4)});
}

TEST_F(Geometry, PrimitiveIdsCountEachInstanceAnew) { // GFX-139: as the API says, every instance from 0
    const auto p = program({numbered, emits(1, "points")}, {.feedback = first_words(4)});
    Recorder r;
    bind(r, p, all_graphics_bits);
    capture(r, [&] {
        stream::DrawArraysInstanced d{};
        d.primitive = triangles;
        d.count = 9;
        d.instance_count = 2;
        r.add(d);
    });
    run(r);
    Numbers ids;
    for (const auto& v : vertices())
        ids.push_back(v[1]);
    EXPECT_EQ(ids, (Numbers{0, 1, 2, 0, 1, 2}));
}

TEST_F(Geometry, AProgramBoundForAMomentLeavesNothingBehind) { // SHD-109
    const auto with = program({numbered, emits(1, "points")}, {.feedback = first_words(4)});
    const auto without = program({numbered}, {.feedback = first_words(4)});
    Recorder r;
    bind(r, with, all_graphics_bits);
    bind(r, without, vertex_bit | fragment_bit);
    bind(r, 0, geometry_bit);
    capture(r, [&] { draw(r, triangles, 3); });
    run(r);
    EXPECT_EQ(firsts(), (Numbers{0, 1, 2}));
}

TEST_F(Geometry, IndirectDrawsRunTheStages) { // GFX-137, GFX-150: arguments that an earlier command of the list wrote
    const auto p = program({numbered, emits(1, "points")}, {.feedback = first_words(4)});
    const u32 records[] = {3, 1, 0, 0, 6, 1, 3, 0, 3, 1, 9, 0, 3, 1, 12, 0};
    write(0x10000, records);
    write<u32>(0x10100, 3);
    Recorder r;
    stream::CopyBufferToBuffer copy{};
    copy.source = at(0x10000).value;
    copy.dest = at(0x11000).value;
    copy.size = sizeof records;
    r.add(copy);
    bind(r, p, all_graphics_bits);
    capture(r, [&] {
        stream::DrawArraysIndirect one{};
        one.primitive = triangles;
        one.arguments = at(0x11000).value;
        r.add(one);
        stream::DrawArraysIndirectCount many{};
        many.primitive = triangles;
        many.arguments = at(0x11000).value;
        many.count = at(0x10100).value;
        many.max_draws = 4;
        many.stride = 16;
        r.add(many);
    });
    run(r);
    EXPECT_EQ(firsts(), (Numbers{0, 0, 3, 6, 9})); // one record, then three of four
}

// --- tessellation

// Location 0 = (u, v, x of control point 0, patch number); the position is the coordinate.
constexpr const char* evaluate = R"(
.stage tess_eval
.in tess_coord
.in primitive_id
.in 0 xyzw
.out position
.out 0 xyzw
.entry main
main:
    S2R R20, SR_LANEID
    ALD.O R0, a[0x2f0], R20
    ALD.O R1, a[0x2f4], R20
    ALD R2, a[0x80], RZ
    ALD R3, a[0x60], RZ
    I2F.F32.U32 R3, R3
    MOV R4, R0
    MOV R5, R1
    MOV R6, RZ
    MOV32I R7, 0x3f800000
    AST.128 a[0x80], R0, RZ
    AST.128 a[0x70], R4, RZ
    EXIT
)";

// A control program of three points that hands location 0 and the position on and stores no levels.
constexpr const char* no_levels = R"(
.stage tess_control
.threads 3
.patch 0
.in 0 xyzw
.out 0 xyzw
.out position
.entry main
main:
    S2R R20, SR_INVOCATION_ID
    ALD R0, a[0x80], R20
    ALD R1, a[0x84], R20
    ALD R2, a[0x88], R20
    ALD R3, a[0x8c], R20
    AST a[0x80], R0
    AST a[0x84], R1
    AST a[0x88], R2
    AST a[0x8c], R3
    AST a[0x70], R0
    AST a[0x74], R1
    AST a[0x78], R2
    AST a[0x7c], R3
    EXIT
)";

class Tessellated : public Geometry {
protected:
    static void levels(Recorder& r, std::array<f32, 4> outer, std::array<f32, 2> inner) {
        stream::SetOuterTessellationLevels o{};
        std::copy(outer.begin(), outer.end(), o.levels);
        r.add(o);
        stream::SetInnerTessellationLevels i{};
        std::copy(inner.begin(), inner.end(), i.levels);
        r.add(i);
    }
    static void patch_size(Recorder& r, u32 size) { r.add(stream::SetPatchSize{{}, size}); }
    // Captured vertices of patches without a control program.
    std::vector<std::array<f32, 4>> divided(Tessellation t, std::array<f32, 4> outer, std::array<f32, 2> inner,
                                            i32 count = 3, u32 size = 3) {
        const auto p = program({numbered, evaluate}, {.feedback = first_words(4), .tessellation = t});
        Recorder r;
        bind(r, p, all_graphics_bits);
        levels(r, outer, inner);
        patch_size(r, size);
        capture(r, [&] { draw(r, patches, count); });
        run(r);
        return vertices();
    }
    static std::set<std::pair<f32, f32>> places(const std::vector<std::array<f32, 4>>& all) {
        std::set<std::pair<f32, f32>> out;
        for (const auto& v : all)
            out.insert({v[0], v[1]});
        return out;
    }
};

constexpr Tessellation quad_domain{TessDomain::Quads, TessSpacing::Equal, false, false};
constexpr Tessellation isolines{TessDomain::Isolines, TessSpacing::Equal, false, false};

TEST_F(Tessellated, WithoutParametersPatchesAreTrianglesAtTheStatesLevels) { // GFX-117, GFX-126, GFX-132
    // Level 2 everywhere: the corners, the middles of the sides, one ring of 6 triangles around the middle.
    const auto all = divided({}, {2, 2, 2, 0}, {2, 0});
    EXPECT_EQ(all.size(), 6u * 3);
    const f32 third = 1.0f / 3;
    std::set<std::pair<f32, f32>> corners{{1, 0}, {0, 1}, {0, 0}, {0.5f, 0.5f}, {0, 0.5f}, {0.5f, 0}};
    for (const auto& [u, v] : places(all)) {
        const bool middle = std::abs(u - third) < 1e-5f && std::abs(v - third) < 1e-5f;
        EXPECT_TRUE(middle || corners.contains({u, v})) << u << ", " << v;
    }
    EXPECT_EQ(places(all).size(), 7u);
}

TEST_F(Tessellated, QuadsHaveTwoTrianglesACell) { // SHD-120, GFX-126: level 4, then the highest
    EXPECT_EQ(divided(quad_domain, {4, 4, 4, 4}, {4, 4}, 4, 4).size(), 4u * 4 * 2 * 3);
    const auto all = divided(quad_domain, {8, 8, 8, 8}, {8, 8}, 4, 4);
    EXPECT_EQ(all.size(), 8u * 8 * 2 * 3);
    for (const auto& [u, v] : places(all))
        EXPECT_TRUE(u * 8 == std::floor(u * 8) && v * 8 == std::floor(v * 8)) << u << ", " << v;
    EXPECT_EQ(places(all).size(), 81u);
}

TEST_F(Tessellated, IsolinesAreLinesAtEqualDistances) { // GFX-141, GFX-142: four lines of three segments
    const auto all = divided(isolines, {4, 3, 0, 0}, {0, 0});
    EXPECT_EQ(all.size(), 4u * 3 * 2);
    std::set<f32> v;
    for (const auto& one : all)
        v.insert(one[1]);
    EXPECT_EQ(v, (std::set<f32>{0, 0.25f, 0.5f, 0.75f}));
}

TEST_F(Tessellated, PointModeHasAPointAtEachPlace) { // GFX-145: a quad at level 2
    const auto all = divided({TessDomain::Quads, TessSpacing::Equal, false, true}, {2, 2, 2, 2}, {2, 2}, 4, 4);
    EXPECT_EQ(all.size(), 9u);
    EXPECT_EQ(places(all).size(), 9u);
}

TEST_F(Tessellated, ALevelOfZeroCullsThePatch) { // GFX-143
    EXPECT_TRUE(divided(quad_domain, {4, 0, 4, 4}, {4, 4}, 4, 4).empty());
    EXPECT_TRUE(divided({}, {1, 1, -1, 0}, {1, 0}).empty());
}

TEST_F(Tessellated, FractionalOddSpacingRoundsUpToOddSegments) { // GFX-143: 2.5 becomes 3
    const auto all = divided({TessDomain::Isolines, TessSpacing::FractionalOdd, false, false}, {1, 2.5f, 0, 0}, {0, 0});
    EXPECT_EQ(all.size(), 3u * 2);
    EXPECT_EQ(
        divided({TessDomain::Isolines, TessSpacing::FractionalEven, false, false}, {1, 2.5f, 0, 0}, {0, 0}).size(),
        4u * 2);
}

TEST_F(Tessellated, UnequalLevelsLeaveNoGaps) { // GFX-145: the triangles' areas add up to the square's
    const auto all = divided(quad_domain, {1, 2, 3, 4}, {5, 3}, 4, 4);
    f64 area = 0;
    for (std::size_t i = 0; i + 2 < all.size(); i += 3) {
        const auto &a = all[i], &b = all[i + 1], &c = all[i + 2];
        area += std::abs(f64{b[0] - a[0]} * f64{c[1] - a[1]} - f64{c[0] - a[0]} * f64{b[1] - a[1]}) / 2;
    }
    EXPECT_NEAR(area, 1, 1e-5);
}

TEST_F(Tessellated, WindingFollowsTheProgramsParameters) { // GFX-119: signed areas in (u, v), v upwards
    for (const bool clockwise : {false, true}) {
        const auto all = divided({TessDomain::Quads, TessSpacing::Equal, clockwise, false}, {2, 2, 2, 2}, {2, 2}, 4, 4);
        ASSERT_EQ(all.size(), 24u);
        for (std::size_t i = 0; i < all.size(); i += 3) {
            const auto &a = all[i], &b = all[i + 1], &c = all[i + 2];
            const f32 area = (b[0] - a[0]) * (c[1] - a[1]) - (c[0] - a[0]) * (b[1] - a[1]);
            EXPECT_EQ(area < 0, clockwise);
        }
    }
}

TEST_F(Tessellated, PatchesOfManySizesAndTheirNumbers) { // GFX-115, GFX-119: first control point, patch ID
    for (const u32 size : {1u, 4u, 32u}) {
        const auto all = divided(isolines, {1, 1, 0, 0}, {0, 0}, static_cast<i32>(3 * size), size);
        ASSERT_EQ(all.size(), 6u) << size;
        for (u32 i = 0; i < 6; ++i) {
            EXPECT_EQ(all[i][3], static_cast<f32>(i / 2));
            EXPECT_EQ(all[i][2], static_cast<f32>(i / 2 * size));
        }
    }
}

TEST_F(Tessellated, AControlProgramThatStoresNoLevelsHasTheStates) { // GFX-117
    const auto p = program({numbered, no_levels, evaluate}, {.feedback = first_words(4)});
    for (const f32 level : {1.0f, 3.0f}) {
        Recorder r;
        bind(r, p, all_graphics_bits);
        levels(r, {level, level, level, level}, {level, level});
        patch_size(r, 3);
        capture(r, [&] { draw(r, patches, 3); });
        run(r);
        // Level 3: a ring of 12 triangles around one.
        EXPECT_EQ(vertices().size(), level == 1 ? 3u : 13u * 3);
    }
}

TEST_F(Tessellated, ControlPointsMeetAtABarrier) { // GFX-116: invocation 0 sums what all invocations wrote
    const auto p = program({numbered, R"(
.stage tess_control
.threads 3
.patch 7
.in 0 xyzw
.out 0 xyzw
.out position
.entry main
main:
    S2R R20, SR_INVOCATION_ID
    ALD R0, a[0x80], R20
    FADD.FTZ R1, R0, 10
    AST a[0x80], R1
    AST a[0x70], R0
    MOV32I R9, 0x3f800000
    AST.P a[0x0], R9
    AST.P a[0x4], R9
    AST.P a[0x8], R9
    AST.P a[0x10], R9
    BAR.SYNC 0x0
    ISETP.NE.U32.AND P0, PT, R20, RZ, PT
@P0 EXIT
    MOV32I R21, 1
    MOV32I R22, 2
    ALD.O R2, a[0x80], RZ
    ALD.O R3, a[0x80], R21
    ALD.O R4, a[0x80], R22
    FADD.FTZ R2, R2, R3
    FADD.FTZ R2, R2, R4
    AST.P a[0x20], R2
    EXIT
)",
                            R"(
.stage tess_eval
.in tess_coord
.in 0 xyzw
.out position
.out 0 xyzw
.entry main
main:
    ALD.P R0, a[0x20], RZ
    MOV32I R21, 2
    ALD R1, a[0x80], R21
    MOV R2, RZ
    MOV R3, RZ
    AST.128 a[0x80], R0, RZ
    AST.128 a[0x70], R0, RZ
    EXIT
)"},
                           {.feedback = first_words(4)});
    Recorder r;
    bind(r, p, all_graphics_bits);
    patch_size(r, 3);
    capture(r, [&] { draw(r, patches, 6); });
    run(r);
    const auto all = vertices();
    ASSERT_EQ(all.size(), 6u); // a triangle each
    for (u32 i = 0; i < 6; ++i) {
        EXPECT_EQ(all[i][0], i < 3 ? 33.0f : 42.0f); // 10 + 11 + 12, 13 + 14 + 15
        EXPECT_EQ(all[i][1], i < 3 ? 12.0f : 15.0f);
    }
}

TEST_F(Tessellated, AGeometryProgramTakesWhatTheDomainMakes) { // GFX-141: isolines are lines to it
    const auto p =
        program({numbered, evaluate, emits(2, "points")}, {.feedback = first_words(4), .tessellation = isolines});
    Recorder r;
    bind(r, p, all_graphics_bits);
    levels(r, {1, 4, 0, 0}, {0, 0});
    patch_size(r, 2);
    capture(r, [&] { draw(r, patches, 2); });
    run(r);
    const auto all = vertices();
    ASSERT_EQ(all.size(), 8u);
    for (u32 i = 0; i < 8; ++i)
        EXPECT_EQ(all[i][2], static_cast<f32>(i % 2)); // both ends of each of four segments
}

TEST_F(Tessellated, DrawsThatDoNotFitTheirStagesAreSkipped) { // SHD-110, D10: drivers crash on them
    const auto patched = program({numbered, evaluate}, {.feedback = first_words(4)});
    const auto plain = program({numbered}, {.feedback = first_words(4)});
    Recorder r;
    bind(r, patched, all_graphics_bits);
    capture(r, [&] {
        draw(r, triangles, 3);
        patch_size(r, 33);
        draw(r, patches, 33);
        patch_size(r, 3);
        bind(r, plain, all_graphics_bits);
        draw(r, patches, 3);
        draw(r, triangles, 3);
    });
    run(r);
    EXPECT_EQ(vertices().size(), 3u);
    EXPECT_EQ(replay->statistics().skipped_draws, 3u);
}

class WithoutStages : public Geometry {
protected:
    gpu::DeviceOptions device_options() override {
        auto options = Geometry::device_options();
        options.disable += ",geometry";
        return options;
    }
};

TEST_F(WithoutStages, AStageThatCannotBeBuiltSkipsItsDraws) { // SHD-110: never drawn without it
    const auto p = program({numbered, emits(1, "points")}, {.feedback = first_words(4)});
    const auto plain = program({numbered}, {.feedback = first_words(4)});
    Recorder r;
    bind(r, p, all_graphics_bits);
    capture(r, [&] {
        draw(r, points, 5);
        bind(r, plain, all_graphics_bits);
        draw(r, points, 2);
    });
    run(r);
    EXPECT_EQ(vertices().size(), 2u);
    EXPECT_EQ(replay->statistics().skipped_draws, 1u);
}

} // namespace
} // namespace heaviside::replay
