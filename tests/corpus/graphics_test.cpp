// What programs of the graphics stages find in their inputs and may leave out of their outputs.
#include "tests/corpus/assembled.h"

#include <bit>
#include <fmt/format.h>

namespace corpus {
namespace {

class Graphics : public Assembled {};

// A triangle over the whole target: corners (-1, -1), (3, -1), (-1, 3). R0 is the vertex's number, R4 to R7 its
// position.
std::string covering(const std::string& more) {
    return ".stage vertex\n"
           "ALD R0, a[0x2fc], RZ\n"
           "LOP32I.AND R1, R0, 0x1\nSHR.U32 R2, R0, 0x1\n"
           "I2F.F32.U32 R1, R1\nI2F.F32.U32 R2, R2\n"
           "MOV32I R3, 0xbf800000\nFFMA R4, R1, 4, R3\nFFMA R5, R2, 4, R3\n"
           "MOV R6, RZ\nMOV32I R7, 0x3f800000\n"
           "AST.128 a[0x70], R4, RZ\n" +
           more + "EXIT\n";
}

Case drawing(const std::string& vertex, const std::string& fragment, const Format& format, int width, int height) {
    Case test;
    test.stages = {assemble(NVN_SHADER_STAGE_VERTEX, vertex), assemble(NVN_SHADER_STAGE_FRAGMENT, fragment)};
    Draw draw;
    draw.topology = NVN_DRAW_PRIMITIVE_TRIANGLES;
    draw.vertices = 3;
    draw.width = width;
    draw.height = height;
    draw.viewports = {{0, 0, static_cast<float>(width), static_cast<float>(height)}};
    Target target;
    target.format = format;
    draw.targets = {target};
    test.draw = draw;
    Output color;
    color.kind = Output::Kind::Color;
    color.element = format;
    color.reference.resize(static_cast<std::size_t>(width * height) * format.bytes());
    test.outputs = {color};
    return test;
}

Words pixels(const Case& test) {
    return words_of(run_case(the_machine(), test)[0]);
}

Words floats(std::initializer_list<float> numbers) {
    Words words;
    for (const float n : numbers)
        words.push_back(std::bit_cast<std::uint32_t>(n));
    return words;
}

// w as the third operand of interpolations.
const std::string w = "IPA.PASS R20, a[0x7c], RZ\nMUFU.RCP R20, R20\n";
const std::string target = ".stage fragment\n.target 0 rgba\n";

std::string interpolated(unsigned attribute, const char* mode) {
    std::string text = fmt::format(".in {} xyzw {}\n", attribute, mode) + w;
    for (unsigned k = 0; k < 4; ++k)
        text += fmt::format("IPA{} R{}, a[0x{:x}]{}, RZ\n", std::string(mode) == "constant" ? ".CONSTANT" : "", k,
                            0x80 + 0x10 * attribute + 4 * k, std::string(mode) == "constant" ? "" : ", R20");
    return text;
}

// Ledger row SHD-088.
TEST_F(Graphics, InputsThatNobodyWritesReadZeroZeroZeroOne) {
    for (const char* mode : {"perspective", "constant"}) {
        SCOPED_TRACE(mode);
        EXPECT_EQ(pixels(drawing(covering(""), target + interpolated(5, mode) + "EXIT\n", format::rgba32f, 1, 1)),
                  floats({0, 0, 0, 1}));
    }
}

// Ledger row SHD-093.
TEST_F(Graphics, ComponentsThatTheProgramDoesNotWriteAreZeroZeroZeroOne) {
    const std::string writes = "MOV32I R8, 0x40000000\nAST a[0xa4], R8, RZ\n"; // 2.0 to attribute 2, y
    for (const char* mode : {"perspective", "constant"}) {
        SCOPED_TRACE(mode);
        EXPECT_EQ(pixels(drawing(covering(writes), target + interpolated(2, mode) + "EXIT\n", format::rgba32f, 1, 1)),
                  floats({0, 2, 0, 1}));
    }
}

// Ledger row SHD-100: bits of any kind reach integer targets as they are.
TEST_F(Graphics, IntegerTargetsGetTheBits) {
    constexpr Format rgba16ui{NVN_FORMAT_RGBA16UI, 4, 2, Format::Kind::Uint};
    const std::string fragment =
        target + "MOV32I R0, 0x12345678\nMOV32I R1, 0x3f800000\nMOV R2, RZ\nMOV32I R3, 0xffff\nEXIT\n";
    EXPECT_EQ(pixels(drawing(covering(""), fragment, format::r32ui, 1, 1)), Words{0x12345678});
    EXPECT_EQ(pixels(drawing(covering(""), fragment, format::r32i, 1, 1)), Words{0x12345678});
    EXPECT_EQ(
        pixels(drawing(covering(""), target + "MOV32I R0, 0x78\nMOV R1, RZ\nMOV R2, RZ\nMOV32I R3, 0xffff\nEXIT\n",
                       rgba16ui, 1, 1)),
        (Words{0x78, 0xffff0000}));
}

// Ledger row SHD-106.
TEST_F(Graphics, YDirectionFollowsTheOrigin) {
    const auto direction = [] {
        return pixels(drawing(covering(""),
                              target + "S2R R0, SR_Y_DIRECTION\nMOV R1, RZ\nMOV R2, RZ\nMOV R3, RZ\nEXIT\n",
                              format::rgba32f, 1, 1));
    };
    NVNdevice* const device = &the_machine().device;
    EXPECT_EQ(direction(), floats({-1, 0, 0, 0})) << "the test's device has its origin at the lower left";
    nvnDeviceSetWindowOriginMode(device, NVN_WINDOW_ORIGIN_MODE_UPPER_LEFT);
    EXPECT_EQ(direction(), floats({1, 0, 0, 0}));
    nvnDeviceSetWindowOriginMode(device, NVN_WINDOW_ORIGIN_MODE_LOWER_LEFT);
}

// Ledger row SHD-077: constants behind the code are bank 1.
TEST_F(Graphics, ConstantsBehindTheCode) {
    const std::string data = ".data\n.u32 0x11223344, 0x55667788, 0x99aabbcc\n.code\n";
    EXPECT_EQ(pixels(drawing(covering(""),
                             ".stage fragment\n.target 0 rgba\nMOV R0, c[0x1][0x0]\nMOV R1, c[0x1][0x4]\n"
                             "MOV R4, 0x8\nLDC R2, c[0x1][R4]\nMOV R3, RZ\nEXIT\n" +
                                 data,
                             format::rgba32ui, 1, 1)),
              (Words{0x11223344, 0x55667788, 0x99aabbcc, 0}));
}

// Ledger row SHD-107: the pattern that compilers make of a load by the first lane, in a warp of one.
TEST_F(Graphics, VotesAndShufflesOfOneVertex) {
    const std::string vertex = covering("VOTE.ANY R8, P0, PT\nFLO.U32 R9, R8\nSHFL.IDX P1, R10, R0, R9, 0x1f\n"
                                        "IADD R10, R10, -R0\n" // 0: its own
                                        "ISETP.EQ.AND P2, PT, R0, 0x1, PT\n"
                                        "VOTE.ALL R11, P3, P2\n" // true for vertex 1 alone
                                        "VOTE.EQ R12, P4, P2\n"  // true for all
                                        "MOV R13, RZ\n@P0 IADD32I R13, R13, 0x1\n@P1 IADD32I R13, R13, 0x2\n"
                                        "@P4 IADD32I R13, R13, 0x4\n"
                                        "ISETP.EQ.XOR P5, PT, R0, 0x1, P3\n@!P5 IADD32I R13, R13, 0x8\n"
                                        "S2R R14, SR_LANEID\n"
                                        "IADD R13, R13, R10\n"
                                        "AST a[0x80], R13, RZ\nAST a[0x84], R8, RZ\nAST a[0x88], R14, RZ\n");
    EXPECT_EQ(pixels(drawing(vertex, target + interpolated(0, "constant") + "EXIT\n", format::rgba32ui, 1, 1)),
              (Words{15, 1, 0, std::bit_cast<std::uint32_t>(1.0f)}));
}

// Ledger row GFX-172.
TEST_F(Graphics, ViewportsBehindTheLastAreTheLast) {
    const std::string vertex = ".stage vertex\n.out viewport_index\n"
                               "ALD R0, a[0x2fc], RZ\n"
                               "MOV R4, RZ\nMOV R5, RZ\nMOV R6, RZ\nMOV32I R7, 0x3f800000\nAST.128 a[0x70], R4, RZ\n"
                               "ISETP.EQ.AND P0, PT, R0, 0x1, PT\nISETP.EQ.AND P1, PT, R0, 0x2, PT\n"
                               "MOV R8, RZ\n@P0 MOV32I R8, 0x2\n@P1 MOV32I R8, 0x14\n"
                               "AST a[0x68], R8, RZ\n"
                               "IADD32I R9, R0, 0x1\nAST a[0x80], R9, RZ\nEXIT\n";
    Case test = drawing(vertex, target + interpolated(0, "constant") + "EXIT\n", format::r32ui, 16, 1);
    test.draw->topology = NVN_DRAW_PRIMITIVE_POINTS;
    test.draw->viewports.clear();
    for (int i = 0; i < 16; ++i)
        test.draw->viewports.push_back({static_cast<float>(i), 0, 1, 1});
    Words expected(16);
    expected[0] = 1;
    expected[2] = 2;
    expected[15] = 3;
    EXPECT_EQ(pixels(test), expected);
}

// Ledger row GFX-082, and images of the vertex stage (GFX-083).
TEST_F(Graphics, ImagesOfFragmentsAndVertices) {
    const std::string fragment = target + "IPA.PASS R4, a[0x70], RZ\nIPA.PASS R5, a[0x74], RZ\n"
                                          "F2I.U32.F32.TRUNC R4, R4\nF2I.U32.F32.TRUNC R5, R5\n"
                                          "SHL R6, R5, 0x2\nIADD R6, R6, R4\nIADD32I R6, R6, 0x64\n"
                                          "SUST.D.2D.IGN [R4], R6, 0x48\n"
                                          "MOV R0, RZ\nMOV R1, RZ\nMOV R2, RZ\nMOV R3, RZ\nEXIT\n";
    Case test = drawing(covering("IADD32I R9, R0, 0x7\nSUST.D.1D.IGN [R0], R9, 0x48\n"), fragment, format::r32ui, 4, 2);
    test.inputs = {resource_of(Resource::Kind::Image, NVN_SHADER_STAGE_FRAGMENT, 0, NVN_TEXTURE_TARGET_2D,
                               format::r32ui, {4, 2, 1}, 1, Blob(32)),
                   resource_of(Resource::Kind::Image, NVN_SHADER_STAGE_VERTEX, 0, NVN_TEXTURE_TARGET_1D, format::r32ui,
                               {3, 1, 1}, 1, Blob(12))};
    for (const Resource& input : test.inputs) {
        Output image;
        image.kind = Output::Kind::Image;
        image.stage = input.stage;
        image.reference = input.data;
        test.outputs.push_back(image);
    }
    const auto outputs = run_case(the_machine(), test);
    EXPECT_EQ(words_of(outputs[1]), (Words{100, 101, 102, 103, 104, 105, 106, 107}));
    EXPECT_EQ(words_of(outputs[2]), (Words{7, 8, 9}));
}

// Ledger rows SHD-096 and SHD-097, in a fragment program.
TEST_F(Graphics, NotANumber) {
    EXPECT_EQ(pixels(drawing(covering(""),
                             target + "MOV32I R8, 0x7fc00000\nMOV32I R9, 0x40400000\n"
                                      "FMNMX R0, RZ, R8, !PT\n" // max(0, NaN)
                                      "FMNMX R1, R8, R9, PT\n"  // min(NaN, 3)
                                      "FADD.SAT R2, R8, 1\n"    // sat(NaN)
                                      "FSETP.NEU.AND P0, PT, R8, R8, PT\nMOV R3, RZ\n@P0 MOV32I R3, 0x40e00000\nEXIT\n",
                             format::rgba32f, 1, 1)),
              floats({0, 3, 0, 7}));
}

// Ledger row SHD-094: a first pass leaves depths, a second with another program and EQUAL loses no pixel. Positions are
// computed by the same instructions in both; what else the programs compute differs.
TEST_F(Graphics, EqualPositionsOfTwoPrograms) {
    const std::string position =
        "LOP32I.AND R1, R0, 0x1\nSHR.U32 R2, R0, 0x1\n"
        "I2F.F32.U32 R1, R1\nI2F.F32.U32 R2, R2\n"
        "MOV32I R3, 0xbf8ccccd\nMOV32I R10, 0x40566666\nFFMA R4, R1, R10, R3\nFFMA R5, R2, R10, R3\n"
        "MOV32I R11, 0x3dcccccd\nFMUL R6, R4, R11\nFFMA R6, R5, R11, R6\nMOV32I R12, 0x3f000000\n"
        "FADD R6, R6, R12\nMOV32I R7, 0x3f99999a\nAST.128 a[0x70], R4, RZ\n";
    const std::string head = ".stage vertex\nALD R0, a[0x2fc], RZ\n";
    const std::string fragment = target + interpolated(0, "perspective") + "EXIT\n";
    Case first =
        drawing(head + position + "MOV32I R8, 0x3f800000\nAST a[0x80], R8, RZ\nEXIT\n", fragment, format::r32f, 64, 64);
    first.draw->depth = Depth{1, NVN_DEPTH_FUNC_LESS, true};
    Output depth;
    depth.kind = Output::Kind::Depth;
    depth.reference.resize(64 * 64 * 4);
    first.outputs.push_back(depth);
    const Words a = words_of(run_case(the_machine(), first)[1]);
    Case second = first;
    second.stages[0] = assemble(NVN_SHADER_STAGE_VERTEX, head + position +
                                                             "FADD R8, R4, R5\nFMUL R8, R8, R6\nFFMA R8, R8, R6, R4\n"
                                                             "AST a[0x80], R8, RZ\nAST a[0x84], R6, RZ\nEXIT\n");
    const Words b = words_of(run_case(the_machine(), second)[1]);
    EXPECT_EQ(a, b);
    EXPECT_NE(a, Words(64 * 64, std::bit_cast<std::uint32_t>(1.0f))) << "something is drawn";
}

} // namespace
} // namespace corpus
