// Geometry programs: primitives that are passed on, handles as the vendor's compiler makes them, instances, the modes
// of OUT.
#include "tests/corpus/assembled.h"

#include <fmt/format.h>

namespace corpus {
namespace {

class Geometry : public Assembled {};

constexpr int width = 8;

// Vertex n stands in the middle of pixel n of a row of eight (y: the row's middle), and brings 10 + n in attribute 0, x
// to w 20 + n to 23 + n in attribute 3.
const std::string points_in_a_row =
    ".stage vertex\n"
    "ALD R0, a[0x2fc], RZ\n"
    "I2F.F32.U32 R1, R0\nMOV32I R2, 0x3e800000\nMOV32I R3, 0xbf600000\n"
    "FFMA R4, R1, R2, R3\nMOV R5, RZ\nMOV R6, RZ\nMOV32I R7, 0x3f800000\n"
    "AST.128 a[0x70], R4, RZ\n"
    "IADD32I R8, R0, 0xa\nAST a[0x80], R8, RZ\n"
    "IADD32I R8, R0, 0x14\nIADD32I R9, R0, 0x15\nIADD32I R10, R0, 0x16\nIADD32I R11, R0, 0x17\n"
    "AST.128 a[0xb0], R8, RZ\nEXIT\n";

std::string constant_inputs(std::initializer_list<unsigned> addresses) {
    std::string text = ".stage fragment\n.target 0 rgba\n.in 0 x constant\n.in 3 xyzw constant\n.in 4 xyzw constant\n";
    unsigned k = 0;
    for (const unsigned address : addresses)
        text += fmt::format("IPA.CONSTANT R{}, a[0x{:x}], RZ\n", k++, address);
    for (; k < 4; ++k)
        text += fmt::format("MOV R{}, RZ\n", k);
    return text + "EXIT\n";
}

Case drawing(const std::string& vertex, const std::string& geometry, const std::string& fragment,
             NVNdrawPrimitive topology, int vertices) {
    Case test;
    test.stages = {assemble(NVN_SHADER_STAGE_VERTEX, vertex)};
    if (!geometry.empty())
        test.stages.push_back(assemble(NVN_SHADER_STAGE_GEOMETRY, geometry));
    test.stages.push_back(assemble(NVN_SHADER_STAGE_FRAGMENT, fragment));
    Draw draw;
    draw.topology = topology;
    draw.vertices = vertices;
    draw.width = width;
    draw.height = 1;
    draw.viewports = {{0, 0, width, 1}};
    Target target;
    target.format = format::rgba32ui;
    draw.targets = {target};
    test.draw = draw;
    Output color;
    color.kind = Output::Kind::Color;
    color.element = target.format;
    color.reference.resize(width * 16);
    test.outputs = {color};
    return test;
}

Words pixels(const Case& test) {
    return words_of(run_case(the_machine(), test)[0]);
}

const std::string passing = ".stage geometry\n.passthrough\n.in position\n.in 0 xyzw\n.in 3 xyzw\n";

// Ledger rows SHD-113 and SHD-114.
TEST_F(Geometry, PassesEveryPrimitiveOn) {
    const std::string fragment = constant_inputs({0x80, 0xb0, 0xb4, 0xbc});
    for (const auto topology : {NVN_DRAW_PRIMITIVE_POINTS, NVN_DRAW_PRIMITIVE_LINES, NVN_DRAW_PRIMITIVE_LINE_STRIP}) {
        SCOPED_TRACE(static_cast<int>(topology));
        const Words without = pixels(drawing(points_in_a_row, "", fragment, topology, 6));
        EXPECT_NE(without, Words(width * 4)) << "something is drawn";
        EXPECT_EQ(pixels(drawing(points_in_a_row, passing + "EXIT\n", fragment, topology, 6)), without);
    }
    // of lines with adjacency the two in the middle
    EXPECT_EQ(pixels(drawing(points_in_a_row, passing + "EXIT\n", fragment, NVN_DRAW_PRIMITIVE_LINES_ADJACENCY, 8)),
              pixels(drawing(points_in_a_row, "", fragment, NVN_DRAW_PRIMITIVE_LINES_ADJACENCY, 8)));
}

TEST_F(Geometry, PassesTrianglesOn) {
    const std::string corners = ".stage vertex\nALD R0, a[0x2fc], RZ\n"
                                "LOP32I.AND R1, R0, 0x1\nSHR.U32 R2, R0, 0x1\nI2F.F32.U32 R1, R1\nI2F.F32.U32 R2, R2\n"
                                "MOV32I R3, 0xbf800000\nFFMA R4, R1, 4, R3\nFFMA R5, R2, 4, R3\nMOV R6, RZ\n"
                                "MOV32I R7, 0x3f800000\nAST.128 a[0x70], R4, RZ\n"
                                "IADD32I R8, R0, 0xa\nAST a[0x80], R8, RZ\nAST.128 a[0xb0], R4, RZ\nEXIT\n";
    const std::string fragment = constant_inputs({0x80, 0xb0, 0xb4, 0xbc});
    const Words without = pixels(drawing(corners, "", fragment, NVN_DRAW_PRIMITIVE_TRIANGLES, 3));
    EXPECT_EQ(without[0], 10u);
    EXPECT_EQ(pixels(drawing(corners, passing + "EXIT\n", fragment, NVN_DRAW_PRIMITIVE_TRIANGLES, 3)), without);
}

// What the program writes is the same for all vertices of the primitive; the rest passes.
TEST_F(Geometry, PassesOnWhatItDoesNotReplace) {
    const Words got = pixels(drawing(points_in_a_row,
                                     passing + ".out 4 xyzw\n"
                                               "ALD R0, a[0x80], RZ\nIADD32I R0, R0, 0x64\n"
                                               "AST a[0xb0], R0, RZ\n" // attribute 3, x
                                               "MOV32I R1, 0x7\nAST a[0xc4], R1, RZ\n"
                                               "EXIT\n",
                                     constant_inputs({0x80, 0xb0, 0xb4, 0xc4}), NVN_DRAW_PRIMITIVE_POINTS, 8));
    for (unsigned n = 0; n < width; ++n)
        EXPECT_EQ((Words(got.begin() + 4 * n, got.begin() + 4 * n + 4)), (Words{10 + n, 110 + n, 21 + n, 7}));
}

// Ledger row GFX-147: handles out of INVOCATION_INFO, through ISBERD; ledger row GFX-114: vertices by a register. The
// line's two vertices are drawn as points, the second one first.
const std::string handles = ".stage geometry\n.topology points\n.max_vertices 4\n"
                            "S2R R0, SR_INVOCATION_INFO\nLOP32I.AND R1, R0, 0xff\nBFE.U32 R2, R0, 0x810\n";
std::string handled(unsigned vertex) {
    return fmt::format("IMAD R3, R1, R2, RZ\nIADD32I R3, R3, 0x{:x}\nISBERD R3, [R3]\n"
                       "ALD.128 R4, a[0x70], R3\nAST.128 a[0x70], R4, RZ\nALD R8, a[0x80], R3\nAST a[0x80], R8, RZ\n",
                       vertex);
}

TEST_F(Geometry, VertexHandles) {
    const Words got = pixels(
        drawing(points_in_a_row,
                handles + handled(1) + "OUT.EMIT R9, RZ, RZ\n" + handled(0) + "OUT.EMIT_THEN_CUT R9, R9, RZ\nEXIT\n",
                constant_inputs({0x80}), NVN_DRAW_PRIMITIVE_LINES, 4));
    for (unsigned n = 0; n < 4; ++n)
        EXPECT_EQ(got[4 * n], 10 + n);
    EXPECT_EQ(got[4 * 4], 0u);
}

// Ledger row GFX-135: four instances, each draws its point at a place of its own; the last one is drawn over the rest.
TEST_F(Geometry, InstancesInOrder) {
    const Words got = pixels(drawing(points_in_a_row,
                                     ".stage geometry\n.topology points\n.max_vertices 2\n.threads 4\n"
                                     "S2R R0, SR_INVOCATION_ID\nI2F.F32.U32 R1, R0\nMOV32I R2, 0x3e800000\n"
                                     "ALD.128 R4, a[0x70], RZ\nFFMA R4, R1, R2, R4\nAST.128 a[0x70], R4, RZ\n"
                                     "IADD32I R8, R0, 0x64\nAST a[0x80], R8, RZ\nOUT.EMIT R9, RZ, RZ\n"
                                     "ALD.128 R4, a[0x70], RZ\nMOV32I R4, 0x3f600000\nAST.128 a[0x70], R4, RZ\n"
                                     "AST a[0x80], R8, RZ\nOUT.EMIT R9, RZ, RZ\nEXIT\n",
                                     constant_inputs({0x80}), NVN_DRAW_PRIMITIVE_POINTS, 1));
    for (unsigned n = 0; n < 4; ++n)
        EXPECT_EQ(got[4 * n], 100 + n);
    EXPECT_EQ(got[4 * 7], 103u);
}

// Ledger row GFX-114: a cut ends the strip, so that nothing is drawn between the second and the third vertex.
TEST_F(Geometry, CutsOfAStrip) {
    const auto strip = [](const char* second) {
        std::string text = ".stage geometry\n.topology line_strip\n.max_vertices 4\nMOV32I R8, 0x1\n"
                           "ALD.128 R4, a[0x70], RZ\nMOV32I R10, 0x3e800000\n";
        // x: pixels 0, 2, 5, 7
        for (const unsigned step : {0u, 2u, 3u, 2u}) {
            text +=
                fmt::format("MOV32I R11, 0x{:x}\nI2F.F32.U32 R11, R11\nFFMA R4, R11, R10, R4\nAST.128 a[0x70], R4, RZ\n"
                            "AST a[0x80], R8, RZ\n",
                            step);
            text +=
                std::string(step == 2 && text.find("OUT") != std::string::npos && text.find(second) == std::string::npos
                                ? second
                                : "OUT.EMIT") +
                " R9, RZ, RZ\n";
        }
        return text + "EXIT\n";
    };
    const auto drawn = [&](const char* second) {
        const Words got =
            pixels(drawing(points_in_a_row, strip(second), constant_inputs({0x80}), NVN_DRAW_PRIMITIVE_POINTS, 1));
        std::string row;
        for (unsigned n = 0; n < width; ++n)
            row += got[4 * n] != 0 ? 'x' : '.';
        return row;
    };
    EXPECT_EQ(drawn("OUT.EMIT_THEN_CUT"), "xx...xx.") << "a line's last pixel is not drawn";
    EXPECT_EQ(drawn("OUT.EMIT"), "xxxxxxx.");
}

} // namespace
} // namespace corpus
