// Rasterisation state, depth and stencil through the API: which pixels a draw reaches and what it leaves in depth.
#include "pixels.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace heaviside::pixels {
namespace {

class Raster : public Pixels {
protected:
    void SetUp() override {
        Pixels::SetUp();
        if (s().running)
            default_state();
    }
    static void depth_state(NVNdepthFunc f, bool write = true) {
        NVNdepthStencilState d;
        nvnDepthStencilStateSetDefaults(&d);
        nvnDepthStencilStateSetDepthTestEnable(&d, NVN_TRUE);
        nvnDepthStencilStateSetDepthWriteEnable(&d, write);
        nvnDepthStencilStateSetDepthFunc(&d, f);
        nvnCommandBufferBindDepthStencilState(c(), &d);
    }
    static void clear_depth(float depth, int stencil = 0) {
        nvnCommandBufferClearDepthStencil(c(), depth, NVN_TRUE, stencil, 0xff);
    }
    // Which pixels are white: one row a string.
    static std::vector<std::string> rows(const Texture& x) {
        const auto t = texels<u32>(x);
        std::vector<std::string> out;
        for (int y = 0; y < x.shape.height; ++y) {
            std::string row;
            for (int i = 0; i < x.shape.width; ++i)
                row += t[static_cast<std::size_t>(y * x.shape.width + i)] & 255 ? '#' : '.';
            out.push_back(row);
        }
        return out;
    }
    static int covered(const Texture& x) {
        const auto r = rows(x);
        int n = 0;
        for (const std::string& row : r)
            n += static_cast<int>(std::count(row.begin(), row.end(), '#'));
        return n;
    }
};

// Positions from attribute 0, point sizes from its z.
constexpr std::string_view free_vertices = R"(
.stage vertex
.in 0 xyzw
.out position
.out point_size
.entry main
main:
    ALD.128 R0, a[0x80], RZ
    AST a[0x6c], R2, RZ
    MOV R2, c[0x3][0x0]
    AST.128 a[0x70], R0, RZ
    EXIT
)";
// Without a point size of its own.
constexpr std::string_view plain_vertices = R"(
.stage vertex
.in 0 xyzw
.out position
.entry main
main:
    ALD.128 R0, a[0x80], RZ
    AST.128 a[0x70], R0, RZ
    EXIT
)";

class Shapes : public Raster {
protected:
    static void vertices(const std::vector<Float4>& v) {
        NVNvertexAttribState a;
        nvnVertexAttribStateSetDefaults(&a);
        nvnVertexAttribStateSetFormat(&a, NVN_FORMAT_RGBA32F, 0);
        nvnVertexAttribStateSetStreamIndex(&a, 0);
        NVNvertexStreamState stream;
        nvnVertexStreamStateSetDefaults(&stream);
        nvnVertexStreamStateSetStride(&stream, 16);
        nvnCommandBufferBindVertexAttribState(c(), 1, &a);
        nvnCommandBufferBindVertexStreamState(c(), 1, &stream);
        nvnCommandBufferBindVertexBuffer(c(), 0, address(put(std::span<const Float4>(v))), v.size() * 16);
    }
    // In pixels of an 8 x 8 target.
    static Float4 at(float x, float y, float z = 0, float w = 1) { return {x / 4 - 1, y / 4 - 1, z, w}; }
    static void shape(NVNdrawPrimitive p, const std::vector<Float4>& v, std::string_view vertex = plain_vertices) {
        use({vertex, flat});
        uniform<float>(NVN_SHADER_STAGE_FRAGMENT, {1, 1, 1, 1});
        uniform<float>(NVN_SHADER_STAGE_VERTEX, {0, 0, 0, 0});
        vertices(v);
        nvnCommandBufferDrawArrays(c(), p, 0, static_cast<int>(v.size()));
    }
    static void polygon(NVNface cull, NVNfrontFace front, NVNpolygonMode mode = NVN_POLYGON_MODE_FILL,
                        int offsets = 0) {
        NVNpolygonState state;
        nvnPolygonStateSetDefaults(&state);
        nvnPolygonStateSetCullFace(&state, cull);
        nvnPolygonStateSetFrontFace(&state, front);
        nvnPolygonStateSetPolygonMode(&state, mode);
        nvnPolygonStateSetPolygonOffsetEnables(&state, offsets);
        nvnCommandBufferBindPolygonState(c(), &state);
    }
};

constexpr NVNformat depth_formats[] = {NVN_FORMAT_DEPTH16, NVN_FORMAT_DEPTH24, NVN_FORMAT_DEPTH32F,
                                       NVN_FORMAT_DEPTH24_STENCIL8, NVN_FORMAT_DEPTH32F_STENCIL8};

TEST_F(Raster, EveryDepthFunction) { // less, equal and greater parts of each depth format; written only where it passes
    for (const NVNformat format : depth_formats) {
        const Texture& x = texture({});
        const Texture& d = texture({.format = format});
        for (int f = NVN_DEPTH_FUNC_NEVER; f <= NVN_DEPTH_FUNC_ALWAYS; ++f)
            for (const bool write : {true, false}) {
                targets({{&x}}, {&d});
                clear({0, 0, 0, 0});
                clear_depth(0.5f);
                depth_state(static_cast<NVNdepthFunc>(f), write);
                fill({1, 1, 1, 1}, {-1, -1, -0.5f, 1, 0.25f});
                fill({1, 1, 1, 1}, {-0.5f, -1, 0, 1, 0.5f});
                fill({1, 1, 1, 1}, {0, -1, 0.5f, 1, 0.75f});
                // A second draw shows what was written.
                const std::size_t first = copy_out(x);
                clear({0, 0, 0, 0});
                depth_state(NVN_DEPTH_FUNC_EQUAL, false);
                fill({1, 1, 1, 1}, {-1, -1, -0.5f, 1, 0.25f});
                fill({1, 1, 1, 1}, {0, -1, 0.5f, 1, 0.75f});
                const std::size_t second = copy_out(x);
                run();
                const bool less[] = {false, true, false, true, false, true, false, true};
                const bool equal[] = {false, false, true, true, false, false, true, true};
                const bool greater[] = {false, false, false, false, true, true, true, true};
                EXPECT_EQ(load<u8>(first) != 0, less[f - 1]) << format << " " << f;
                EXPECT_EQ(load<u8>(first + 8) != 0, equal[f - 1]) << format << " " << f;
                EXPECT_EQ(load<u8>(first + 16) != 0, greater[f - 1]) << format << " " << f;
                EXPECT_EQ(load<u8>(second) != 0, less[f - 1] && write) << format << " " << f;
                EXPECT_EQ(load<u8>(second + 16) != 0, greater[f - 1] && write) << format << " " << f;
            }
    }
}

TEST_F(Raster, ClearsAndFragmentsStoreTheSameDepth) { // REN-095: equal for many values, at the halves between two too
    const Texture& x = texture({.width = 1, .height = 1});
    for (const NVNformat format : depth_formats) {
        const Texture& d = texture({.format = format, .width = 1, .height = 1});
        std::vector<std::pair<float, std::size_t>> seen;
        for (int i = 0; i < 60; ++i) {
            const float z = i < 20   ? (static_cast<float>(i * 3277) + 0.5f) / 65535
                            : i < 40 ? std::nextafter((static_cast<float>(i * 1601) + 0.5f) / 65535, 1.0f)
                                     : static_cast<float>(i - 40) / 20 + 0.0123f;
            targets({{&x}}, {&d});
            clear({0, 0, 0, 0});
            clear_depth(z);
            depth_state(NVN_DEPTH_FUNC_EQUAL);
            fill({1, 1, 1, 1}, {-1, -1, 1, 1, z});
            seen.emplace_back(z, copy_out(x));
        }
        run();
        for (const auto& [z, at] : seen)
            EXPECT_NE(load<u8>(at), 0) << format << ": " << z;
    }
    const Texture& d16 = texture({.format = NVN_FORMAT_DEPTH16, .width = 1, .height = 1});
    targets({}, {&d16});
    clear_depth(0.5f);
    EXPECT_EQ(texels<u16>(d16)[0], 32768);
}

TEST_F(Raster, DepthRangesAndClamping) { // a range, a reversed one; z past both planes, clamped and clipped
    const Texture& x = texture({});
    const Texture& d = texture({.format = NVN_FORMAT_DEPTH32F});
    const auto draw = [&](float n, float f, bool clamp, float z) {
        targets({{&x}}, {&d});
        clear({0, 0, 0, 0});
        clear_depth(0.111f);
        depth_state(NVN_DEPTH_FUNC_ALWAYS);
        nvnCommandBufferSetDepthRange(c(), n, f);
        nvnCommandBufferSetDepthClamp(c(), clamp);
        fill({1, 1, 1, 1}, {-1, -1, 1, 1, z});
        nvnCommandBufferSetDepthClamp(c(), NVN_FALSE);
        return texels<float>(d)[9];
    };
    EXPECT_NEAR(draw(0.25f, 0.75f, false, 0.5f), 0.5f, 1e-6f);
    EXPECT_NEAR(draw(0.25f, 0.75f, false, 0.9f), 0.7f, 1e-6f);
    EXPECT_NEAR(draw(1, 0, false, 0.25f), 0.75f, 1e-6f);
    EXPECT_NEAR(draw(0.25f, 0.75f, true, 1.5f), 0.75f, 1e-6f);
    EXPECT_NEAR(draw(0.25f, 0.75f, true, -1), 0.25f, 1e-6f);
    EXPECT_EQ(draw(0.25f, 0.75f, false, 1.5f), 0.111f);
    EXPECT_EQ(draw(0.25f, 0.75f, false, -0.5f), 0.111f);
}

TEST_F(Raster, DepthBounds) { // the stored depth decides
    const Texture& x = texture({});
    const Texture& d = texture({.format = NVN_FORMAT_DEPTH32F});
    targets({{&x}}, {&d});
    clear({0, 0, 0, 0});
    for (int i = 0; i < 4; ++i) {
        nvnCommandBufferSetScissor(c(), 2 * i, 0, 2, 8);
        clear_depth(0.2f * static_cast<float>(i) + 0.1f); // 0.1, 0.3, 0.5, 0.7
    }
    nvnCommandBufferSetScissor(c(), 0, 0, 8, 8);
    nvnCommandBufferSetDepthBounds(c(), NVN_TRUE, 0.2f, 0.6f);
    fill({1, 1, 1, 1});
    nvnCommandBufferSetDepthBounds(c(), NVN_FALSE, 0, 1);
    const auto r = rows(x);
    const auto lines = take_lines();
    if (!lines.empty()) {
        EXPECT_NE(lines[0].find("the depth bounds test"), std::string::npos);
        GTEST_SKIP() << "the device has no depth bounds test";
    }
    EXPECT_EQ(r[0], "..####..");
}

struct StencilCase {
    NVNstencilOp op;
    u32 before, reference, after; // 8 bits, mask 0xff
};

TEST_F(Raster, StencilOperations) { // each as the one for failing, for failing depth, for passing
    const StencilCase cases[] = {{NVN_STENCIL_OP_KEEP, 7, 9, 7},        {NVN_STENCIL_OP_ZERO, 7, 9, 0},
                                 {NVN_STENCIL_OP_REPLACE, 7, 9, 9},     {NVN_STENCIL_OP_INCR, 7, 9, 8},
                                 {NVN_STENCIL_OP_INCR, 255, 9, 255},    {NVN_STENCIL_OP_DECR, 7, 9, 6},
                                 {NVN_STENCIL_OP_DECR, 0, 9, 0},        {NVN_STENCIL_OP_INVERT, 0x5a, 9, 0xa5},
                                 {NVN_STENCIL_OP_INCR_WRAP, 255, 9, 0}, {NVN_STENCIL_OP_DECR_WRAP, 0, 9, 255}};
    const Texture& x = texture({});
    for (const NVNformat format : {NVN_FORMAT_DEPTH24_STENCIL8, NVN_FORMAT_DEPTH32F_STENCIL8}) {
        const Texture& d = texture({.format = format});
        for (const StencilCase& k : cases)
            for (int which = 0; which < 3; ++which) {
                targets({{&x}}, {&d});
                clear({0, 0, 0, 0});
                clear_depth(0.5f, static_cast<int>(k.before));
                NVNdepthStencilState state;
                nvnDepthStencilStateSetDefaults(&state);
                nvnDepthStencilStateSetDepthTestEnable(&state, NVN_TRUE);
                nvnDepthStencilStateSetDepthFunc(&state, which == 1 ? NVN_DEPTH_FUNC_NEVER : NVN_DEPTH_FUNC_ALWAYS);
                nvnDepthStencilStateSetStencilTestEnable(&state, NVN_TRUE);
                nvnDepthStencilStateSetStencilFunc(&state, NVN_FACE_FRONT_AND_BACK,
                                                   which == 0 ? NVN_STENCIL_FUNC_NEVER : NVN_STENCIL_FUNC_ALWAYS);
                const NVNstencilOp other = k.op == NVN_STENCIL_OP_ZERO ? NVN_STENCIL_OP_INVERT : NVN_STENCIL_OP_ZERO;
                nvnDepthStencilStateSetStencilOp(&state, NVN_FACE_FRONT_AND_BACK, which == 0 ? k.op : other,
                                                 which == 1 ? k.op : other, which == 2 ? k.op : other);
                nvnCommandBufferBindDepthStencilState(c(), &state);
                nvnCommandBufferSetStencilRef(c(), NVN_FACE_FRONT_AND_BACK, static_cast<int>(k.reference));
                fill({1, 1, 1, 1});
                u32 after = 0;
                if (format == NVN_FORMAT_DEPTH24_STENCIL8)
                    after = texels<u32>(d)[9] & 255;
                else
                    after = texels<std::array<u32, 2>>(d)[9][1] & 255;
                EXPECT_EQ(after, k.after) << "operation " << k.op << " in place " << which << " format " << format;
            }
    }
}

TEST_F(Shapes, StencilOfBothFaces) { // functions with masks; references, write masks and operations of each face
    const Texture& x = texture({});
    const Texture& d = texture({.format = NVN_FORMAT_DEPTH24_STENCIL8});
    const std::vector<Float4> front{at(0, 0), at(8, 0), at(0, 8)}, back{at(8, 8), at(8, 0), at(0, 8)};
    NVNdepthStencilState state;
    nvnDepthStencilStateSetDefaults(&state);
    nvnDepthStencilStateSetStencilTestEnable(&state, NVN_TRUE);
    nvnDepthStencilStateSetStencilFunc(&state, NVN_FACE_FRONT_AND_BACK, NVN_STENCIL_FUNC_ALWAYS);
    nvnDepthStencilStateSetStencilOp(&state, NVN_FACE_FRONT, NVN_STENCIL_OP_KEEP, NVN_STENCIL_OP_KEEP,
                                     NVN_STENCIL_OP_REPLACE);
    nvnDepthStencilStateSetStencilOp(&state, NVN_FACE_BACK, NVN_STENCIL_OP_KEEP, NVN_STENCIL_OP_KEEP,
                                     NVN_STENCIL_OP_INVERT);
    targets({{&x}}, {&d});
    clear_depth(1, 0x0f);
    nvnCommandBufferBindDepthStencilState(c(), &state);
    nvnCommandBufferSetStencilRef(c(), NVN_FACE_FRONT, 0xaa);
    nvnCommandBufferSetStencilRef(c(), NVN_FACE_BACK, 0x55);
    nvnCommandBufferSetStencilMask(c(), NVN_FACE_FRONT, 0xf0);
    nvnCommandBufferSetStencilMask(c(), NVN_FACE_BACK, 0x3c);
    shape(NVN_DRAW_PRIMITIVE_TRIANGLES, front); // counter-clockwise is front
    shape(NVN_DRAW_PRIMITIVE_TRIANGLES, back);
    const auto t = texels<u32>(d);
    EXPECT_EQ(t[0] & 255, 0xafu);
    EXPECT_EQ(t[63] & 255, 0x33u);
    // Every function, masked: (reference & mask) against (stored & mask).
    for (int f = NVN_STENCIL_FUNC_NEVER; f <= NVN_STENCIL_FUNC_ALWAYS; ++f) {
        targets({{&x}}, {&d});
        clear({0, 0, 0, 0});
        for (int i = 0; i < 4; ++i) {
            nvnCommandBufferSetScissor(c(), 2 * i, 0, 2, 8);
            clear_depth(1, 0x40 | i << 1); // masked: 0, 2, 4, 6
        }
        nvnCommandBufferSetScissor(c(), 0, 0, 8, 8);
        nvnDepthStencilStateSetDefaults(&state);
        nvnDepthStencilStateSetStencilTestEnable(&state, NVN_TRUE);
        nvnDepthStencilStateSetStencilFunc(&state, NVN_FACE_FRONT, static_cast<NVNstencilFunc>(f));
        nvnDepthStencilStateSetStencilFunc(&state, NVN_FACE_BACK, NVN_STENCIL_FUNC_NEVER);
        nvnCommandBufferBindDepthStencilState(c(), &state);
        nvnCommandBufferSetStencilRef(c(), NVN_FACE_FRONT_AND_BACK, 0x84);
        nvnCommandBufferSetStencilValueMask(c(), NVN_FACE_FRONT_AND_BACK, 0x07);
        shape(NVN_DRAW_PRIMITIVE_TRIANGLES, {at(0, 0), at(16, 0), at(0, 16)});
        shape(NVN_DRAW_PRIMITIVE_TRIANGLES, {at(16, 16), at(16, 0), at(0, 16)});
        std::string want;
        for (u32 i = 0; i < 4; ++i) {
            const u32 r = 4, v = i * 2;
            const bool p[] = {false, r<v, r == v, r <= v, r> v, r != v, r >= v, true};
            want += p[f - 1] ? "##" : "..";
        }
        EXPECT_EQ(rows(x)[0], want) << f;
    }
}

TEST_F(Shapes, FacesAreCulled) { // both windings, both fronts, four faces
    const Texture& x = texture({});
    for (const auto front : {NVN_FRONT_FACE_CW, NVN_FRONT_FACE_CCW})
        for (const auto cull : {NVN_FACE_NONE, NVN_FACE_FRONT, NVN_FACE_BACK, NVN_FACE_FRONT_AND_BACK})
            for (const bool counter : {false, true}) {
                targets({{&x}});
                clear({0, 0, 0, 0});
                polygon(cull, front);
                if (counter)
                    shape(NVN_DRAW_PRIMITIVE_TRIANGLES, {at(0, 0), at(16, 0), at(0, 16)});
                else
                    shape(NVN_DRAW_PRIMITIVE_TRIANGLES, {at(0, 0), at(0, 16), at(16, 0)});
                const bool is_front = counter == (front == NVN_FRONT_FACE_CCW);
                const bool drawn = cull == NVN_FACE_NONE || (cull == NVN_FACE_FRONT && !is_front) ||
                                   (cull == NVN_FACE_BACK && is_front);
                EXPECT_EQ(covered(x), drawn ? 64 : 0) << "front " << front << " cull " << cull << " ccw " << counter;
            }
}

TEST_F(Shapes, PolygonModesAndOffsets) {
    const Texture& x = texture({});
    const Texture& d = texture({.format = NVN_FORMAT_DEPTH32F});
    const std::vector<Float4> triangle{at(0.5f, 0.5f, 0.5f), at(7.5f, 0.5f, 0.5f), at(0.5f, 7.5f, 0.5f)};
    const auto draw = [&](NVNpolygonMode mode, int offsets) {
        targets({{&x}}, {&d});
        clear({0, 0, 0, 0});
        clear_depth(0);
        depth_state(NVN_DEPTH_FUNC_ALWAYS);
        polygon(NVN_FACE_NONE, NVN_FRONT_FACE_CCW, mode, offsets);
        shape(NVN_DRAW_PRIMITIVE_TRIANGLES, triangle);
    };
    draw(NVN_POLYGON_MODE_LINE, 0);
    auto r = rows(x);
    EXPECT_EQ(r[2][2], '.');
    EXPECT_EQ(r[0].substr(1, 6), "######");
    EXPECT_EQ(r[3][0], '#');
    draw(NVN_POLYGON_MODE_POINT, 0);
    EXPECT_EQ(covered(x), 3);
    r = rows(x);
    EXPECT_EQ(r[0][0], '#');
    EXPECT_EQ(r[0][7], '#');
    EXPECT_EQ(r[7][0], '#');
    draw(NVN_POLYGON_MODE_FILL, 0);
    EXPECT_GT(covered(x), 20);
    // Offsets hold for their own mode alone. A depth of 0.5 has an exponent that makes a unit 2^-24.
    nvnCommandBufferSetPolygonOffsetClamp(c(), 0, 1 << 20, 0);
    const struct {
        NVNpolygonMode mode;
        int enable;
        std::size_t pixel;
    } modes[] = {{NVN_POLYGON_MODE_FILL, NVN_POLYGON_OFFSET_ENABLE_FILL, 9},
                 {NVN_POLYGON_MODE_LINE, NVN_POLYGON_OFFSET_ENABLE_LINE, 3},
                 {NVN_POLYGON_MODE_POINT, NVN_POLYGON_OFFSET_ENABLE_POINT, 0}};
    for (const auto& m : modes)
        for (const int enables : {m.enable, 7 & ~m.enable, 0}) {
            draw(m.mode, enables);
            const float z = texels<float>(d)[m.pixel];
            if (enables & m.enable)
                EXPECT_NEAR(z, 0.5f + 0.0625f, 0.0001f) << m.mode;
            else
                EXPECT_EQ(z, 0.5f) << m.mode << " " << enables;
        }
    // Slopes: z grows by 1/16 a pixel along x; clamped from above and, negative, from below.
    const std::vector<Float4> ramp{at(0, 0, 0), at(16, 0, 1), at(0, 16, 0)};
    const auto slope = [&](float factor, float units, float clamp) {
        targets({{&x}}, {&d});
        clear_depth(0);
        depth_state(NVN_DEPTH_FUNC_ALWAYS);
        polygon(NVN_FACE_NONE, NVN_FRONT_FACE_CCW, NVN_POLYGON_MODE_FILL, NVN_POLYGON_OFFSET_ENABLE_FILL);
        nvnCommandBufferSetPolygonOffsetClamp(c(), factor, units, clamp);
        shape(NVN_DRAW_PRIMITIVE_TRIANGLES, ramp);
        return texels<float>(d)[4] - 4.5f / 16;
    };
    EXPECT_NEAR(slope(2, 0, 0), 0.125f, 1e-5f);
    EXPECT_NEAR(slope(2, 0, 0.05f), 0.05f, 1e-5f);
    EXPECT_NEAR(slope(-2, 0, -0.03f), -0.03f, 1e-5f);
    EXPECT_NEAR(slope(-1, 0, 0), -0.0625f, 1e-5f);
}

TEST_F(Shapes, PointsAndLinesHaveTheirWidths) {
    const Texture& x = texture({});
    targets({{&x}});
    clear({0, 0, 0, 0});
    nvnCommandBufferSetPointSize(c(), 4);
    shape(NVN_DRAW_PRIMITIVE_POINTS, {at(4, 4)});
    EXPECT_EQ(rows(x), (std::vector<std::string>{"........", "........", "..####..", "..####..", "..####..", "..####..",
                                                 "........", "........"}));
    targets({{&x}});
    clear({0, 0, 0, 0});
    shape(NVN_DRAW_PRIMITIVE_POINTS, {{0, 0, 2, 1}, {0.75f, 0.75f, 1, 1}}, free_vertices); // the programs' own sizes
    EXPECT_EQ(covered(x), 5);
    nvnCommandBufferSetPointSize(c(), 1);
    for (const int width : {1, 3}) {
        targets({{&x}});
        clear({0, 0, 0, 0});
        nvnCommandBufferSetLineWidth(c(), static_cast<float>(width));
        shape(NVN_DRAW_PRIMITIVE_LINES, {at(0, 4.5f), at(8, 4.5f)});
        EXPECT_NEAR(covered(x), 8 * width, width) << width;
        const auto r = rows(x);
        EXPECT_EQ(r[4][4], '#');
        EXPECT_EQ(r[3][4], width == 3 ? '#' : '.');
        EXPECT_EQ(r[5][4], width == 3 ? '#' : '.');
    }
    nvnCommandBufferSetLineWidth(c(), 1);
}

TEST_F(Shapes, EveryPrimitive) { // counts of covered pixels, with and without a restart
    const Texture& x = texture({});
    struct Case {
        NVNdrawPrimitive primitive;
        std::vector<Float4> vertices;
        std::vector<std::string> rows;
    };
    const std::vector<Float4> square{at(1, 1), at(5, 1), at(5, 5), at(1, 5)};
    const std::vector<std::string> full{"........", ".####...", ".####...", ".####...",
                                        ".####...", "........", "........", "........"};
    const Case cases[] = {
        {NVN_DRAW_PRIMITIVE_QUADS, square, full},
        {NVN_DRAW_PRIMITIVE_POLYGON, square, full},
        {NVN_DRAW_PRIMITIVE_TRIANGLE_FAN, square, full},
        {NVN_DRAW_PRIMITIVE_TRIANGLE_STRIP, {at(1, 1), at(5, 1), at(1, 5), at(5, 5)}, full},
        {NVN_DRAW_PRIMITIVE_QUAD_STRIP, {at(1, 1), at(5, 1), at(1, 5), at(5, 5)}, full},
        {NVN_DRAW_PRIMITIVE_TRIANGLES, {at(1, 1), at(5, 1), at(1, 5), at(5, 5), at(1, 5), at(5, 1)}, full},
        {NVN_DRAW_PRIMITIVE_LINE_LOOP,
         {at(1.5f, 1.5f), at(5.5f, 1.5f), at(5.5f, 5.5f), at(1.5f, 5.5f)},
         {"........", ".#####..", ".#...#..", ".#...#..", ".#...#..", ".#####..", "........", "........"}},
        {NVN_DRAW_PRIMITIVE_LINE_STRIP,
         {at(1.5f, 1.5f), at(5.5f, 1.5f), at(5.5f, 6)},
         {"........", ".#####..", ".....#..", ".....#..", ".....#..", ".....#..", "........", "........"}},
        {NVN_DRAW_PRIMITIVE_LINES_ADJACENCY,
         {at(0, 0), at(1, 2.5f), at(6, 2.5f), at(8, 8)},
         {"........", "........", ".#####..", "........", "........", "........", "........", "........"}},
        {NVN_DRAW_PRIMITIVE_TRIANGLES_ADJACENCY,
         {at(1, 1), at(0, 0), at(9, 1), at(8, 8), at(1, 9), at(0, 0)},
         {"........", ".#######", ".######.", ".#####..", ".####...", ".###....", ".##.....", ".#......"}},
    };
    for (const Case& k : cases) {
        targets({{&x}});
        clear({0, 0, 0, 0});
        shape(k.primitive, k.vertices);
        auto r = rows(x);
        if (k.primitive == NVN_DRAW_PRIMITIVE_LINE_LOOP) // whether a line has its first pixel is the device's business
            r[5][5] = '#';
        if (k.primitive == NVN_DRAW_PRIMITIVE_TRIANGLES_ADJACENCY) // the diagonal goes through centres
            for (std::size_t y = 1; y < 8; ++y)
                r[y][9 - y - 1] = k.rows[y][9 - y - 1];
        EXPECT_EQ(r, k.rows) << k.primitive;
    }
    // Two squares cut by a restart, with each width of index and base vertices.
    for (const auto type : {NVN_INDEX_TYPE_UNSIGNED_BYTE, NVN_INDEX_TYPE_UNSIGNED_SHORT, NVN_INDEX_TYPE_UNSIGNED_INT}) {
        targets({{&x}});
        clear({0, 0, 0, 0});
        const u32 cut = type == NVN_INDEX_TYPE_UNSIGNED_BYTE    ? 0xff
                        : type == NVN_INDEX_TYPE_UNSIGNED_SHORT ? 0xffff
                                                                : ~0u;
        std::vector<u8> indices;
        for (const u32 i : {0u, 1u, 2u, 3u, cut, 4u, 5u, 6u, 7u})
            for (int b = 0; b < 1 << static_cast<int>(type); ++b)
                indices.push_back(static_cast<u8>(i >> 8 * b));
        use({plain_vertices, flat});
        uniform<float>(NVN_SHADER_STAGE_FRAGMENT, {1, 1, 1, 1});
        vertices({at(9, 9), at(9, 9), at(0, 0), at(2, 0), at(0, 2), at(2, 2), at(5, 5), at(8, 5), at(5, 8), at(8, 8)});
        nvnCommandBufferSetPrimitiveRestart(c(), NVN_TRUE, static_cast<int>(cut));
        nvnCommandBufferDrawElementsBaseVertex(c(), NVN_DRAW_PRIMITIVE_TRIANGLE_STRIP, type, 9,
                                               address(put(std::span<const u8>(indices))), 2);
        nvnCommandBufferSetPrimitiveRestart(c(), NVN_FALSE, 0);
        EXPECT_EQ(covered(x), 4 + 9) << type;
    }
}

TEST_F(Shapes, ViewportsAndScissorsAreArrays) { // GFX-170, GFX-171: the program chooses one of them
    static constexpr std::string_view chosen = R"(
.stage vertex
.in vertex_id
.in instance_id
.out position
.out viewport_index
.entry main
main:
    ALD R0, a[0x2fc], RZ
    ALD R10, a[0x2f8], RZ
    LOP.AND R1, R0, 0x1
    SHR.U32 R2, R0, 0x1
    I2F.F32.U32 R4, R1
    I2F.F32.U32 R5, R2
    FADD.FTZ R4, R4, R4
    FADD.FTZ R5, R5, R5
    FADD.FTZ R4, R4, -1
    FADD.FTZ R5, R5, -1
    MOV R6, c[0x3][0x0]
    MOV32I R7, 0x3f800000
    AST.128 a[0x70], R4, RZ
    AST a[0x68], R10, RZ
    EXIT
)";
    const Texture& x = texture({});
    const Texture& d = texture({.format = NVN_FORMAT_DEPTH32F});
    targets({{&x}}, {&d});
    clear({0, 0, 0, 0});
    clear_depth(1);
    depth_state(NVN_DEPTH_FUNC_ALWAYS);
    const float viewports[] = {0, 0, 4, 4, 4, 0, 4, 4, 0, 4, 8, 4};
    const int scissors[] = {0, 0, 8, 8, 5, 0, 2, 8, 0, 0, 3, 0x7fffffff};
    const float ranges[] = {0, 0.5f, 0.5f, 1, 1, 0};
    nvnCommandBufferSetViewports(c(), 0, 3, viewports);
    nvnCommandBufferSetScissors(c(), 0, 3, scissors);
    nvnCommandBufferSetDepthRanges(c(), 0, 3, ranges);
    use({chosen, flat});
    uniform<float>(NVN_SHADER_STAGE_FRAGMENT, {1, 1, 1, 1});
    uniform<float>(NVN_SHADER_STAGE_VERTEX, {0.5f, 0, 0, 0});
    nvnCommandBufferDrawArraysInstanced(c(), NVN_DRAW_PRIMITIVE_TRIANGLE_STRIP, 0, 4, 0, 3);
    const auto z = texels<float>(d);
    EXPECT_EQ(rows(x), (std::vector<std::string>{"####.##.", "####.##.", "####.##.", "####.##.", "###.....", "###.....",
                                                 "###.....", "###....."}));
    EXPECT_EQ(z[0], 0.25f);
    EXPECT_EQ(z[5], 0.75f);
    EXPECT_EQ(z[32], 0.5f);
    nvnCommandBufferSetDepthRange(c(), 0, 1);
    const float none[] = {0, 0, 0, 0, 0, 0, 0, 0};
    nvnCommandBufferSetViewports(c(), 1, 2, none);
}

TEST_F(Raster, ScissorsOfDrawsMayLieOutside) { // GFX-171
    const Texture& x = texture({.width = 16, .height = 16, .levels = 2});
    const struct {
        int x, y, w, h, count;
    } cases[] = {
        {0, 0, 0x7fffffff, 0x7fffffff, 64}, {6, 6, 100, 100, 4}, {8, 8, 5, 5, 0}, {200, 0, 5, 5, 0}, {3, 3, 0, 8, 0}};
    for (const auto& k : cases) {
        targets({{&x, {1}}});
        clear({0, 0, 0, 0});
        nvnCommandBufferSetScissor(c(), k.x, k.y, k.w, k.h);
        fill({1, 1, 1, 1});
        int n = 0;
        for (const u32 t : texels<u32>(x, {1}))
            n += t != 0;
        EXPECT_EQ(n, k.count) << k.x << "," << k.y;
    }
}

TEST_F(Raster, SampleMasksAndCoverage) { // of four samples; alpha to coverage; discarding everything
    const Texture& x = texture({.target = NVN_TEXTURE_TARGET_2D_MULTISAMPLE, .samples = 4});
    const Texture& out = texture({});
    const auto share = [&](int mask, float alpha, bool to_coverage) {
        targets({{&x}});
        clear({0, 0, 0, 0});
        NVNmultisampleState m;
        nvnMultisampleStateSetDefaults(&m);
        nvnMultisampleStateSetSamples(&m, 4);
        nvnMultisampleStateSetMultisampleEnable(&m, NVN_TRUE);
        nvnMultisampleStateSetAlphaToCoverageEnable(&m, to_coverage);
        nvnCommandBufferBindMultisampleState(c(), &m);
        nvnCommandBufferSetSampleMask(c(), mask);
        fill({1, 1, 1, alpha});
        nvnCommandBufferSetSampleMask(c(), ~0);
        nvnCommandBufferDownsample(c(), &x.object, &out.object);
        float sum = 0;
        for (const u32 t : texels<u32>(out))
            sum += static_cast<float>(t & 255) / 255;
        return sum / 64;
    };
    for (const int mask : {0, 1, 6, 7, 15})
        EXPECT_NEAR(share(mask, 1, false), static_cast<float>(std::popcount(static_cast<unsigned>(mask))) / 4, 0.01f);
    for (const float alpha : {0.0f, 0.25f, 0.5f, 0.75f, 1.0f})
        EXPECT_NEAR(share(15, alpha, true), alpha, 0.13f) << alpha;
    EXPECT_NEAR(share(3, 1, true), 0.5f, 0.01f);
    EXPECT_NEAR(share(15, 0, false), 1, 0.01f);
    const Texture& single = texture({}); // the mask's first bit counts for one sample
    targets({{&single}});
    clear({0, 0, 0, 0});
    nvnCommandBufferSetSampleMask(c(), ~1);
    fill({1, 1, 1, 1});
    nvnCommandBufferSetSampleMask(c(), ~0);
    EXPECT_EQ(texels<u32>(single)[9], 0u);
}

TEST_F(Raster, DiscardingDrawsReachesNothing) { // REN-168: what was there before stays, clears still work
    const Texture& x = texture({});
    const Texture& d = texture({.format = NVN_FORMAT_DEPTH32F});
    targets({{&x}}, {&d});
    clear({0, 1, 0, 1});
    clear_depth(0.25f);
    run();
    targets({{&x}}, {&d});
    default_state();
    depth_state(NVN_DEPTH_FUNC_ALWAYS);
    nvnCommandBufferSetRasterizerDiscard(c(), NVN_TRUE);
    fill({1, 0, 0, 1}, {-1, -1, 1, 1, 0.5f});
    nvnCommandBufferSetRasterizerDiscard(c(), NVN_FALSE);
    fill({0, 0, 1, 1}, {-1, -1, 0, 1, 0.75f});
    nvnCommandBufferSetRasterizerDiscard(c(), NVN_TRUE);
    fill({1, 0, 0, 1}, {-1, -1, 1, 1, 0.5f});
    nvnCommandBufferSetRasterizerDiscard(c(), NVN_FALSE);
    const auto t = texels<u32>(x);
    const auto z = texels<float>(d);
    EXPECT_EQ(t[0], 0xffff0000u);
    EXPECT_EQ(t[7], 0xff00ff00u);
    EXPECT_EQ(z[0], 0.75f);
    EXPECT_EQ(z[7], 0.25f);
}

TEST_F(Shapes, StateThatMayBeIgnoredChangesNothing) { // OBJ-102, OBJ-257, OBJ-010: accepted, the picture is the same
    const Texture& x = texture({});
    std::vector<std::vector<u32>> pictures;
    for (const bool on : {false, true}) {
        targets({{&x}});
        clear({0, 0, 0, 0});
        NVNblendState b;
        nvnBlendStateSetDefaults(&b);
        nvnBlendStateSetAdvancedNormalizedDst(&b, on);
        EXPECT_EQ(nvnBlendStateGetAdvancedNormalizedDst(&b), on ? NVN_TRUE : NVN_FALSE);
        nvnBlendStateSetBlendFunc(&b, NVN_BLEND_FUNC_ONE, NVN_BLEND_FUNC_ONE, NVN_BLEND_FUNC_ONE, NVN_BLEND_FUNC_ONE);
        nvnCommandBufferBindBlendState(c(), &b);
        NVNcolorState color;
        nvnColorStateSetDefaults(&color);
        nvnColorStateSetBlendEnable(&color, 0, NVN_TRUE);
        nvnCommandBufferBindColorState(c(), &color);
        if (on) {
            nvnCommandBufferSetTiledCacheAction(c(), NVN_TILED_CACHE_ACTION_ENABLE);
            nvnCommandBufferSetTiledCacheTileSize(c(), 64, 64);
            nvnCommandBufferSetTiledCacheAction(c(), NVN_TILED_CACHE_ACTION_FLUSH);
        }
        shape(NVN_DRAW_PRIMITIVE_TRIANGLES, {at(0, 0), at(7, 1), at(1, 8)});
        nvnCommandBufferBarrier(c(), NVN_BARRIER_ORDER_FRAGMENTS_TILED_BIT | NVN_BARRIER_INVALIDATE_ZCULL_BIT);
        pictures.push_back(texels<u32>(x));
    }
    EXPECT_EQ(pictures[0], pictures[1]);
    EXPECT_EQ(std::count(pictures[0].begin(), pictures[0].end(), ~0u), covered(x));
}

} // namespace
} // namespace heaviside::pixels
