// What passes between stages, worked out by hand.
#include "interpreter/stage.h"
#include "maxwell/assembler.h"

#include <gtest/gtest.h>

using namespace heaviside;
using namespace heaviside::interpreter;

namespace {

// A program and the bytes that its launch points at.
struct Assembled {
    maxwell::Program program;
    StageProgram stage;
    explicit Assembled(const std::string& source) {
        auto result = maxwell::assemble(source);
        EXPECT_TRUE(result) << result.error().message;
        if (result)
            program = std::move(*result);
        stage.launch.code = program.code;
        stage.launch.step_limit = 10000;
        stage.header = program.header;
    }
};

// One quad at pixel (2 * quad_x, 2 * quad_y) with the given planes.
std::vector<Quad> quad_at(u32 x, u32 y, const PixelInputs& inputs) {
    Quad quad;
    quad.inputs = &inputs;
    for (u32 n = 0; n < 4; ++n) {
        quad.pixels[n].x = x + n % 2;
        quad.pixels[n].y = y + n / 2;
    }
    return {quad};
}

f32 number(u32 word) {
    return std::bit_cast<f32>(word);
}

TEST(Vertex, LoadsInputsAndStoresOutputsByAddress) {
    // Vectors of every size; an address of the lane's own (index register); what was stored can be read back.
    const Assembled a(".stage vertex\n"
                      "    ALD.128 R0, a[0x80]\n"
                      "    AST.96 a[0x90], R1\n"
                      "    MOV32I R4, 0x90\n"
                      "    ALD.O R5, a[0x94]\n"
                      "    ALD.64 R6, a[0x2f8]\n"
                      "    IADD R7, R7, R5\n"
                      "    AST.64 a[0xa0], R6\n"
                      "    AST a[0x70], RZ\n"
                      "    EXIT\n");
    std::vector<Attributes> vertices(40); // more than a warp
    for (u32 n = 0; n < vertices.size(); ++n) {
        for (u32 k = 0; k < 4; ++k)
            vertices[n].set(0x80 + 4 * k, 100 * n + k);
        vertices[n].set(0x2f8, 7u);
        vertices[n].set(0x2fc, n);
    }
    const auto out = run_vertices(a.stage, vertices);
    ASSERT_TRUE(out) << out.error().message;
    ASSERT_EQ(out->size(), 40u);
    for (u32 n = 0; n < 40; ++n) {
        EXPECT_EQ((*out)[n].at(0x90), 100 * n + 1);
        EXPECT_EQ((*out)[n].at(0x94), 100 * n + 2);
        EXPECT_EQ((*out)[n].at(0x98), 100 * n + 3);
        EXPECT_EQ((*out)[n].at(0xa0), 7u);
        EXPECT_EQ((*out)[n].at(0xa4), n + 100 * n + 2);
    }
}

TEST(Vertex, UnwrittenOutputsAreZero) {
    const Assembled a(".stage vertex\n    ALD R2, a[0x80]\n    AST a[0x90], R2\n    EXIT\n");
    std::vector<Attributes> vertices(1);
    vertices[0].words.fill(9);
    const auto out = run_vertices(a.stage, vertices);
    ASSERT_TRUE(out) << out.error().message;
    EXPECT_EQ((*out)[0].at(0x90), 9u);
    EXPECT_EQ((*out)[0].at(0x80), 0u);
}

TEST(Vertex, SecondPartGoesOnWithTheRegistersOfTheFirst) {
    const Assembled first(".stage vertexa\n    ALD R0, a[0x80]\n    IADD R0, R0, 0x1\n    EXIT\n");
    const Assembled second(".stage vertex\n    AST a[0x90], R0\n    EXIT\n");
    StageProgram program = first.stage;
    program.second_code = second.program.code;
    std::vector<Attributes> vertices(1);
    vertices[0].set(0x80, 41u);
    const auto out = run_vertices(program, vertices);
    ASSERT_TRUE(out) << out.error().message;
    EXPECT_EQ((*out)[0].at(0x90), 42u);
}

TEST(Vertex, GraphicsInstructionsOutOfPlaceAreErrors) {
    for (const char* const wrong : {"IPA R0, a[0x80], RZ", "OUT.EMIT R0, R0, RZ", "PIXLD R0, [RZ]", "KIL",
                                    "ALD.P R0, a[0x20]", "AST.P a[0x20], R0", "ISBERD.ATTR R0, [R0]"}) {
        const Assembled a(std::string(".stage vertex\n    ") + wrong + "\n    EXIT\n");
        const auto out = run_vertices(a.stage, std::vector<Attributes>(1));
        ASSERT_FALSE(out) << wrong;
        EXPECT_NE(out.error().message.find("address 0x8"), std::string::npos) << out.error().message;
    }
    const Assembled compute(".stage compute\n    ALD R0, a[0x80]\n    EXIT\n");
    EXPECT_FALSE(run(compute.stage.launch));
}

TEST(Link, CarriesWhatBothStagesDeclareAndDefaultsTheRest) {
    maxwell::ShaderProgramHeader producer, consumer;
    producer.outputs.set(0x80);
    producer.outputs.set(0x84);
    consumer.inputs.set(0x84);
    consumer.inputs.set(0x8c);
    Attributes outputs;
    outputs.words.fill(5);
    const Attributes linked = link(producer, outputs, consumer);
    EXPECT_EQ(linked.at(0x80), 0u); // not read
    EXPECT_EQ(linked.at(0x84), 5u);
    EXPECT_EQ(linked.at(0x88), 0u);
    EXPECT_EQ(linked.number(0x8c), 1.0f); // (0, 0, 0, 1)
    EXPECT_EQ(linked.number(0x30c), 1.0f);
    EXPECT_EQ(linked.at(0x7c), 0u);
}

TEST(TessControl, ThreadsReadEachOthersInputsAndWriteTheirPointAndThePatch) {
    // Lane n takes input point 2 - n by its handle; lane 0 writes a level, all read it back behind it.
    const Assembled a(".stage tess_control\n.threads 3\n.patch 8\n"
                      "    S2R R0, SR_INVOCATION_ID\n"
                      "    S2R R1, SR_INVOCATION_INFO\n"
                      "    LOP.AND R2, R1, 0xff\n"
                      "    BFE.U32 R1, R1, 0x810\n"
                      "    XMAD R3, R1, R2, RZ\n"
                      "    IADD R3, R3, 0x2\n"
                      "    IADD R3, R3, -R0\n"
                      "    ISBERD R3, [R3]\n"
                      "    ALD R4, a[0x80], R3\n"
                      "    AST a[0x90], R4\n"
                      "    ALD R5, a[0x60], R3\n"
                      "    AST a[0x94], R5\n"
                      "    ISETP.EQ.U32.AND P0, PT, R0, RZ, PT\n"
                      "    @P0 AST.P a[0x4], R4\n"
                      "    ALD.O.P R6, a[0x4]\n"
                      "    AST a[0x98], R6\n"
                      "    LOP.XOR R7, R0, 0x1\n"
                      "    ISETP.LT.U32.AND P0, PT, R0, 0x2, PT\n"
                      "    @P0 ALD.O R8, a[0x90], R7\n"
                      "    AST a[0x9c], R8\n"
                      "    AST a[0xa0], R1\n"
                      "    EXIT\n");
    std::vector<Attributes> points(3);
    for (u32 n = 0; n < 3; ++n)
        points[n].set(0x80, 10 + n);
    const auto patch = run_tess_control(a.stage, points, 77);
    ASSERT_TRUE(patch) << patch.error().message;
    ASSERT_EQ(patch->points.size(), 3u);
    for (u32 n = 0; n < 3; ++n) {
        EXPECT_EQ(patch->points[n].at(0x90), 12 - n);
        EXPECT_EQ(patch->points[n].at(0x94), 77u);
        EXPECT_EQ(patch->points[n].at(0x98), 12u);
        EXPECT_EQ(patch->points[n].at(0xa0), 3u); // points of the patch
    }
    EXPECT_EQ(patch->points[0].at(0x9c), 11u); // lane 1's output
    EXPECT_EQ(patch->points[1].at(0x9c), 12u);
    EXPECT_EQ(patch->words.at(0x4), 12u);
}

TEST(TessControl, VertexHandlesThatDoNotExistAreErrors) {
    const Assembled a(".stage tess_control\n.threads 1\n    MOV32I R3, 0x3\n    ALD R4, a[0x80], R3\n    EXIT\n");
    const auto patch = run_tess_control(a.stage, std::vector<Attributes>(3));
    ASSERT_FALSE(patch);
    EXPECT_NE(patch.error().message.find("vertex handle 3 of 3"), std::string::npos) << patch.error().message;
}

TEST(TessEval, PatchAddressesOutsideTheSpaceReadZeroAndStoreNothing) {
    const Assembled a(".stage tess_eval\n"
                      "    MOV32I R1, 0x400\n"
                      "    MOV32I R2, 0x5\n"
                      "    ALD.P.64 R2, a[R1+-0x4]\n"
                      "    AST.64 a[0x80], R2\n"
                      "    EXIT\n");
    Patch patch;
    patch.words.words.fill(9);
    const auto out = run_tess_eval(a.stage, patch, std::vector<TessPoint>(1));
    ASSERT_TRUE(out) << out.error().message;
    EXPECT_EQ((*out)[0].at(0x80), 9u);
    EXPECT_EQ((*out)[0].at(0x84), 0u);
}

TEST(TessEval, ReadsItsCoordinatesAsOutputsAndThePatch) {
    const Assembled a(".stage tess_eval\n"
                      "    S2R R0, SR_LANEID\n"
                      "    ALD.O.64 R2, a[0x2f0], R0\n"
                      "    MOV32I R1, 0x1\n"
                      "    ISBERD R1, [R1]\n"
                      "    ALD R4, a[0x80], R1\n"
                      "    MOV32I R5, 0x20\n"
                      "    ALD.P R5, a[R5+0x4]\n"
                      "    FADD R4, R4, R2\n"
                      "    FADD R5, R5, R3\n"
                      "    AST.64 a[0x70], R4\n"
                      "    EXIT\n");
    Patch patch;
    patch.points.resize(2);
    patch.points[1].set(0x80, 10.0f);
    patch.words.set(0x24, 20.0f);
    std::vector<TessPoint> points(33, {0.25f, 0.5f});
    points[32] = {0.75f, 1.0f};
    const auto out = run_tess_eval(a.stage, patch, points);
    ASSERT_TRUE(out) << out.error().message;
    ASSERT_EQ(out->size(), 33u);
    EXPECT_EQ((*out)[0].number(0x70), 10.25f);
    EXPECT_EQ((*out)[31].number(0x74), 20.5f);
    EXPECT_EQ((*out)[32].number(0x70), 10.75f);
    EXPECT_EQ((*out)[32].number(0x74), 21.0f);
}

TEST(Geometry, EmitsVerticesAndCutsPrimitives) {
    // Two invocations a primitive of two vertices; each emits vertex 1, vertex 0 (then cuts), and one that is too many.
    const Assembled a(".stage geometry\n.topology line_strip\n.max_vertices 2\n.threads 2\n"
                      "    S2R R0, SR_INVOCATION_ID\n"
                      "    S2R R1, SR_INVOCATION_INFO\n"
                      "    LOP.AND R2, R1, 0xff\n"
                      "    BFE.U32 R1, R1, 0x810\n"
                      "    XMAD R3, R1, R2, RZ\n"
                      "    IADD R3, R3, 0x1\n"
                      "    ISBERD R4, [R3]\n"
                      "    ALD R5, a[0x80], R4\n"
                      "    AST a[0x80], R5, RZ\n"
                      "    AST a[0x84], R0, RZ\n"
                      "    OUT.EMIT R6, RZ, RZ\n"
                      "    IADD R3, R3, -0x1\n"
                      "    ISBERD R4, [R3]\n"
                      "    ALD R5, a[0x80], R4\n"
                      "    ALD R7, a[0x60]\n"
                      "    AST a[0x80], R5, R6\n"
                      "    AST a[0x60], R7, R6\n"
                      "    OUT.EMIT_THEN_CUT R6, R6, RZ\n"
                      "    OUT.EMIT R6, R6, RZ\n"
                      "    EXIT\n");
    std::vector<Attributes> vertices(40); // 20 primitives, 16 in the first warp
    for (u32 n = 0; n < 40; ++n)
        vertices[n].set(0x80, n);
    const auto out = run_geometry(a.stage, vertices, 2, 100);
    ASSERT_TRUE(out) << out.error().message;
    ASSERT_EQ(out->size(), 40u);
    for (u32 n = 0; n < 40; ++n) {
        const auto& emitted = (*out)[n];
        ASSERT_EQ(emitted.size(), 2u) << n;
        EXPECT_EQ(emitted[0].attributes.at(0x80), n / 2 * 2 + 1) << n;
        EXPECT_EQ(emitted[0].attributes.at(0x84), n % 2) << n;
        EXPECT_FALSE(emitted[0].ends_primitive) << n;
        EXPECT_EQ(emitted[1].attributes.at(0x80), n / 2 * 2) << n;
        EXPECT_EQ(emitted[1].attributes.at(0x60), 100 + n / 2) << n;
        EXPECT_TRUE(emitted[1].ends_primitive) << n;
    }
}

TEST(Geometry, StreamsAreCutApart) {
    const Assembled a(".stage geometry\n.topology points\n.max_vertices 8\n.streams 0x3\n"
                      "    MOV32I R1, 0x1\n"
                      "    OUT.EMIT R0, RZ, 0x1\n"
                      "    OUT.EMIT R0, R0, RZ\n"
                      "    OUT.CUT R0, R0, R1\n"
                      "    AST a[0x80], R0, R0\n"
                      "    OUT.EMIT R2, R0, RZ\n"
                      "    EXIT\n");
    const auto out = run_geometry(a.stage, std::vector<Attributes>(1), 1);
    ASSERT_TRUE(out) << out.error().message;
    const auto& emitted = out->at(0);
    ASSERT_EQ(emitted.size(), 3u);
    EXPECT_EQ(emitted[0].stream, 1u);
    EXPECT_TRUE(emitted[0].ends_primitive);
    EXPECT_EQ(emitted[1].stream, 0u);
    EXPECT_FALSE(emitted[1].ends_primitive);
    EXPECT_EQ(emitted[2].attributes.at(0x80), 2u); // the handle counts the vertices before
}

TEST(Pixel, InterpolatesInEveryMode) {
    // Attribute 0.x: plane 1 + 2x + 4y; at pixel (10, 20) that is 1 + 21 + 82 = 104.
    const Assembled a(".stage fragment\n.target 0 rgba\n.target 1 rgba\n.in 0 x perspective\n.in 0 y constant\n"
                      "    IPA.PASS R0, a[0x80], RZ\n"
                      "    MOV32I R8, 0x3f000000\n"
                      "    IPA R1, a[0x80], R8\n"
                      "    IPA.CONSTANT R2, a[0x84], RZ\n"
                      "    IPA.PASS.SAT R3, a[0x80], RZ\n"
                      "    IPA.PASS.CENTROID R4, a[0x80], RZ\n"
                      "    MOV32I R9, 0xfc000400\n" // x + 0.25, y - 0.25
                      "    IPA.PASS.OFFSET R5, a[0x80], RZ, R9\n"
                      "    IPA.SC R6, a[0x80], R8\n"
                      "    MOV32I R9, 0x4\n"
                      "    AL2P R9, R9, 0x7c\n"
                      "    IPA.IDX.PASS R7, a[R9], RZ, PT\n"
                      "    EXIT\n");
    PixelInputs inputs;
    inputs.planes[0x80 / 4] = {1, 2, 4, 0x1234};
    inputs.planes[0x84 / 4].constant = 0xdeadbeef;
    auto quads = quad_at(10, 20, inputs);
    quads[0].pixels[0].centroid_x = 0.25f;
    const auto out = run_pixels(a.stage, quads);
    ASSERT_TRUE(out) << out.error().message;
    const auto& first = out->at(0).targets;
    EXPECT_EQ(number(first[0][0]), 104.0f);
    EXPECT_EQ(number(first[0][1]), 52.0f);
    EXPECT_EQ(first[0][2], 0xdeadbeefu);
    EXPECT_EQ(number(first[0][3]), 1.0f);
    EXPECT_EQ(number(first[1][0]), 103.5f);
    EXPECT_EQ(number(first[1][1]), 104.0f + 0.5f - 1.0f);
    EXPECT_EQ(number(first[1][2]), 52.0f);
    EXPECT_EQ(number(first[1][3]), 104.0f);
    EXPECT_EQ(number(out->at(3).targets[0][0]), 110.0f); // one pixel right and down
    inputs.flat_shading = true;
    EXPECT_EQ(run_pixels(a.stage, quads)->at(0).targets[1][2], 0x1234u);
}

TEST(Pixel, LeavesTargetsSampleMaskAndDepthInTheHeadersRegisters) {
    // Targets 0 and 3: R0-R3 and R4-R7; then the mask in R8 and depth in R9.
    std::string source = ".stage fragment\n.target 0 rgba\n.target 3 rgba\n.sample_mask\n.depth\n";
    for (u32 r = 0; r < 9; ++r)
        source += fmt::format("    MOV32I R{}, {:#x}\n", r, 100 + r);
    source += "    MOV32I R9, 0x3f400000\n    EXIT\n";
    const Assembled a(source);
    PixelInputs inputs;
    const auto out = run_pixels(a.stage, quad_at(0, 0, inputs));
    ASSERT_TRUE(out) << out.error().message;
    const PixelResult& pixel = out->at(2);
    EXPECT_EQ(pixel.targets[0], (std::array<u32, 4>{100, 101, 102, 103}));
    EXPECT_EQ(pixel.targets[3], (std::array<u32, 4>{104, 105, 106, 107}));
    EXPECT_EQ(pixel.targets[1], (std::array<u32, 4>{}));
    EXPECT_EQ(pixel.sample_mask, 108u);
    EXPECT_EQ(pixel.depth, 0.75f);
}

TEST(Pixel, KilledPixelsGoOnAsHelpersAndLeaveNothing) {
    // Pixels with odd x die; then all store at c[0][0] + 4 * lane.
    const Assembled a(".stage fragment\n.target 0 rgba\n.kill\n"
                      "    S2R R0, SR_LANEID\n"
                      "    LOP.AND R1, R0, 0x1\n"
                      "    ISETP.NE.U32.AND P0, PT, R1, RZ, PT\n"
                      "    @P0 KIL\n"
                      "    S2R R3, SR_THREAD_KILL\n"
                      "    ISCADD R10, R0, c[0x0][0x0], 0x2\n"
                      "    MOV R11, RZ\n"
                      "    MOV32I R4, 0x9\n"
                      "    STG.E [R10], R4\n"
                      "    EXIT\n");
    std::vector<u32> words(4);
    const MemoryRange range{0x1000, std::as_writable_bytes(std::span(words))};
    const u32 base = 0x1000;
    StageProgram program = a.stage;
    program.launch.global = {&range, 1};
    program.launch.banks[0] = std::as_bytes(std::span(&base, 1));
    PixelInputs inputs;
    auto quads = quad_at(2, 0, inputs);
    quads[0].pixels[2].coverage = 0; // a helper from the start
    const auto out = run_pixels(program, quads);
    ASSERT_TRUE(out) << out.error().message;
    const bool killed[] = {false, true, true, true};
    for (u32 n = 0; n < 4; ++n) {
        EXPECT_EQ(out->at(n).killed, killed[n]) << n;
        EXPECT_EQ(out->at(n).targets[0][3], killed[n] ? ~0u : 0) << n; // they ran on
    }
    EXPECT_EQ(words, (std::vector<u32>{9, 0, 0, 0}));

    program.header.kills_pixels = false; // the header switches KIL off
    EXPECT_FALSE(run_pixels(program, quads)->at(1).killed);
}

TEST(Pixel, QuadsWithoutALivingPixelStop) {
    const Assembled a(".stage fragment\n.target 0 rgba\n.kill\n"
                      "    KIL\n"
                      "    MOV32I R0, 0x5\n"
                      "    EXIT\n");
    PixelInputs inputs;
    const auto out = run_pixels(a.stage, quad_at(0, 0, inputs));
    ASSERT_TRUE(out) << out.error().message;
    EXPECT_TRUE(out->at(0).killed);
    EXPECT_EQ(out->at(0).targets[0][0], 0u);
}

TEST(Pixel, KilTestsTheConditionCode) {
    // The zero flag of lane & 1.
    const Assembled a(".stage fragment\n.target 0 rgba\n.kill\n"
                      "    S2R R0, SR_LANEID\n"
                      "    LOP.AND RZ.CC, R0, 0x1\n"
                      "    KIL CC.EQ\n"
                      "    EXIT\n");
    PixelInputs inputs;
    const auto out = run_pixels(a.stage, quad_at(0, 0, inputs));
    ASSERT_TRUE(out) << out.error().message;
    for (u32 n = 0; n < 4; ++n)
        EXPECT_EQ(out->at(n).killed, n % 2 == 0) << n;
}

TEST(Pixel, PixldTellsAboutSamples) {
    const Assembled a(".stage fragment\n.target 0 rgba\n.target 1 rgba\n"
                      "    PIXLD R0, [RZ]\n"
                      "    PIXLD.COVMASK R1, [RZ]\n"
                      "    MOV32I R8, 0x1\n"
                      "    PIXLD.COVERED R2, P0, [R8+0x1]\n"
                      "    PIXLD.MY_INDEX R3, [RZ]\n"
                      "    PIXLD.OFFSET R4, [R8]\n"
                      "    PIXLD.CENTROID_OFFSET R5, [RZ]\n"
                      "    IPA.PASS.OFFSET R6, a[0x70], RZ, R4\n"
                      "    SEL R7, R8, RZ, P0\n"
                      "    EXIT\n");
    PixelInputs inputs;
    inputs.planes[0x70 / 4] = {0, 1, 0, 0};
    auto quads = quad_at(6, 0, inputs);
    quads[0].pixels[0].coverage = 0b101;
    quads[0].pixels[0].sample = 2;
    quads[0].pixels[0].centroid_y = 0.25f;
    SampleGrid grid;
    grid.samples = 4;
    grid.positions[1] = {0.625f, 0.125f};
    const auto out = run_pixels(a.stage, quads, grid);
    ASSERT_TRUE(out) << out.error().message;
    const auto& targets = out->at(0).targets;
    EXPECT_EQ(targets[0][0], 4u);
    EXPECT_EQ(targets[0][1], 0b101u);
    EXPECT_EQ(targets[0][2], 1u);
    EXPECT_EQ(targets[0][3], 2u);
    EXPECT_EQ(targets[1][0], 0xfa000200u); // + 0.125, - 0.375 in 1/4096
    EXPECT_EQ(targets[1][1], 0xfc000000u);
    EXPECT_EQ(number(targets[1][2]), 6.625f); // the offset is what IPA takes
    EXPECT_EQ(targets[1][3], 1u);
}

TEST(Pixel, DerivativesAreDifferencesOverTheQuad) {
    // d/dx of x * y: a lane's y. SHFL takes the neighbour, the signs say which is subtracted.
    const Assembled a(".stage fragment\n.target 0 rgba\n"
                      "    IPA.PASS R2, a[0x70], RZ\n"
                      "    IPA.PASS R3, a[0x74], RZ\n"
                      "    FMUL R2, R2, R3\n"
                      "    SHFL.BFLY PT, R0, R2, 0x1, 0x1c03\n"
                      "    FSWZADD R0, R0, R2, PNNPPNNP\n"
                      "    EXIT\n");
    PixelInputs inputs;
    inputs.planes[0x70 / 4] = {0, 1, 0, 0};
    inputs.planes[0x74 / 4] = {0, 0, 1, 0};
    const auto out = run_pixels(a.stage, quad_at(4, 8, inputs));
    ASSERT_TRUE(out) << out.error().message;
    EXPECT_EQ(number(out->at(0).targets[0][0]), 8.5f);
    EXPECT_EQ(number(out->at(1).targets[0][0]), 8.5f);
    EXPECT_EQ(number(out->at(3).targets[0][0]), 9.5f);
}

TEST(Pixel, YDirectionIsTheCallers) {
    const Assembled a(".stage fragment\n.target 0 rgba\n    S2R R0, SR_Y_DIRECTION\n    EXIT\n");
    PixelInputs inputs;
    StageProgram program = a.stage;
    EXPECT_EQ(number(run_pixels(program, quad_at(0, 0, inputs))->at(0).targets[0][0]), 1.0f);
    program.y_direction = -1;
    EXPECT_EQ(number(run_pixels(program, quad_at(0, 0, inputs))->at(0).targets[0][0]), -1.0f);
}

} // namespace
