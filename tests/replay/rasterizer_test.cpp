// What the rasterizer makes of vertices: window origin, viewports, points, provoking vertices, conservative coverage,
// and what is left of a draw when it is off.
#include "program_fixture.h"

#include "base/log.h"

#include <algorithm>
#include <array>
#include <bit>
#include <fmt/format.h>

namespace heaviside::replay {
namespace {

constexpr u64 target = 0x100000, depth_target = 0x140000, result = 0x200000, depth_result = 0x240000,
              uniforms = 0x40000, stored = 0x50000, image_at = 0x300000;
constexpr u8 lower_left = 0, upper_left = 1; // NVNwindowOriginMode
constexpr u32 points = 0, lines = 1, line_strip = 3, triangles = 4, triangle_fan = 6, quads = 7, polygon = 9;

// Vertices of (x, y, z, w) words from uniform buffer 0: vertex n at byte 16 n.
constexpr const char* placed = R"(
.stage vertex
.in vertex_id
.out position
.entry main
main:
    ALD R0, a[0x2fc], RZ
    SHL R1, R0, 0x4
    LDC.64 R4, c[0x3][R1]
    LDC.64 R6, c[0x3][R1+0x8]
    AST.128 a[0x70], R4, RZ
    EXIT
)";

class Rasterizer : public ProgramTest {
protected:
    using Vertex = std::array<f32, 4>;
    void vertices(Recorder& r, const std::vector<Vertex>& all) {
        const u64 place = next_;
        next_ += 0x400;
        std::memcpy(bytes_at(place), all.data(), all.size() * sizeof(Vertex));
        replay->memory_written(at(place).value, 0x400);
        uniform(r, stream::Stage::Vertex, 0, place, 0x400);
    }
    void color(Recorder& r, f32 red, f32 green, f32 blue, f32 alpha) {
        const u64 place = next_;
        next_ += 0x100;
        write(place, Vertex{red, green, blue, alpha});
        uniform(r, stream::Stage::Fragment, 0, place, 16);
    }
    static void viewports(Recorder& r, const std::vector<stream::Viewport>& all) {
        stream::SetViewports record{};
        record.count = static_cast<u16>(all.size());
        r.add(record, std::span<const stream::Viewport>(all));
    }
    [[nodiscard]] u32 pixel(u32 x, u32 y, u32 width) const { return read<u32>(result + 4 * (y * width + x)); }

private:
    u64 next_ = uniforms;
};

// Memory row 0 is the picture's lowest row in the lower-left origin and its highest in the other (it is shown so):
// y > 0 is the picture's upper half in both. Scissors and fragment coordinates count memory rows.
TEST_F(Rasterizer, TheOriginIsOneOfWindowCoordinatesOnly) { // GFX-062
    const auto p = program({placed, R"(
.stage fragment
.target 0 rgba
.entry main
main:
    IPA.PASS R0, a[0x74], RZ
    MOV32I R1, 0x3f800000
    MOV R2, RZ
    MOV R3, RZ
    EXIT
)"});
    constexpr u32 size = 8;
    for (const u8 origin : {lower_left, upper_left})
        for (const bool cut : {false, true}) {
            Recorder r;
            const auto image0 = image(target, "RG32F", size, size);
            set_targets(r, std::span(&image0, 1));
            r.add(clear(0, 0, 0, 0));
            bind(r, p, all_graphics_bits);
            scissor(r, 0, 0, size, cut ? 2 : size);
            vertices(r, {{-1, 0, 0, 1}, {1, 0, 0, 1}, {-1, 1, 0, 1}, {1, 1, 0, 1}});
            if (cut) // all of it
                vertices(r, {{-1, -1, 0, 1}, {1, -1, 0, 1}, {-1, 1, 0, 1}, {1, 1, 0, 1}});
            draw(r);
            copy_out(r, image0, result, size, size);
            run(r, {origin, 1});
            for (u32 row = 0; row < size; ++row) {
                const u32 up = origin == lower_left ? row : size - 1 - row; // from the picture's lowest row
                const bool covered = cut ? row < 2 : up >= size / 2;
                EXPECT_EQ(read<f32>(result + 8 * size * row + 4), covered ? 1.0f : 0.0f) << int{origin} << ": " << row;
                if (covered) {
                    EXPECT_EQ(read<f32>(result + 8 * size * row), static_cast<f32>(row) + 0.5f) << int{origin};
                }
            }
        }
}

constexpr const char* sized_point = R"(
.stage vertex
.out position
.out point_size
.entry main
main:
    MOV R4, RZ
    MOV R5, RZ
    MOV R6, RZ
    MOV32I R7, 0x3f800000
    AST.128 a[0x70], R4, RZ
    MOV R8, c[0x3][0x0]
    FMNMX R8, R8, c[0x0][0x610], PT
    AST a[0x6c], R8, RZ
    EXIT
)";

TEST_F(Rasterizer, PointsAreAsLargeAsTheirProgramAndTheDriversWordSay) { // SHD-127
    const auto p = program({sized_point, flat});
    constexpr u32 size = 32;
    Recorder r;
    const auto image0 = image(target, "RGBA8", size, size);
    set_targets(r, std::span(&image0, 1));
    r.add(clear(0, 0, 0, 0));
    bind(r, p, all_graphics_bits);
    color(r, 1, 1, 1, 1);
    vertices(r, {{18, 0, 0, 0}});
    r.add(stream::SetPointSize{{}, 1}); // not that one
    draw(r, points, 1);
    copy_out(r, image0, result, size, size);
    run(r);
    for (u32 y = 0; y < size; ++y)
        for (u32 x = 0; x < size; ++x)
            ASSERT_EQ(pixel(x, y, size), x >= 7 && x < 25 && y >= 7 && y < 25 ? ~0u : 0u) << x << "," << y;
    // the word itself, as a program sees it
    const auto seen = program({R"(
.stage vertex
.out position
.global_store
.entry main
main:
    MOV R4, RZ
    MOV R5, RZ
    MOV R6, RZ
    MOV32I R7, 0x3f800000
    AST.128 a[0x70], R4, RZ
    MOV R0, c[0x0][0x610]
    MOV R8, c[0x0][0x110]
    MOV R9, c[0x0][0x114]
    STG.E [R8], R0
    EXIT
)",
                               flat});
    Recorder second;
    bind(second, seen, all_graphics_bits);
    storage(second, stream::Stage::Vertex, 0, stored, 64);
    draw(second, points, 1);
    run(second);
    EXPECT_EQ(read<f32>(stored), 2047.0f);
}

// Point n goes to viewport n.
constexpr const char* routed = R"(
.stage vertex
.in vertex_id
.out position
.out viewport_index
.entry main
main:
    ALD R0, a[0x2fc], RZ
    MOV R4, RZ
    MOV R5, RZ
    MOV32I R6, 0x3f000000
    MOV32I R7, 0x3f800000
    AST.128 a[0x70], R4, RZ
    AST a[0x68], R0, RZ
    EXIT
)";

TEST_F(Rasterizer, EachViewportHasItsDepthRangeAndScissor) { // GFX-170: points that would cover everything
    const auto p = program({routed, flat});
    constexpr u32 size = 16;
    Recorder r;
    const auto image0 = image(target, "RGBA8", size, size);
    const auto depth = image(depth_target, "DEPTH32F", size, size);
    set_targets(r, std::span(&image0, 1), &depth);
    r.add(clear(0, 0, 0, 0));
    stream::ClearDepthStencil c{};
    c.depth = 1;
    c.depth_mask = 1;
    r.add(c);
    stream::BindDepthStencilState d{};
    d.state.depth_test = d.state.depth_write = 1;
    d.state.depth_func = 8;
    d.state.front_func = d.state.back_func = 8;
    r.add(d);
    bind(r, p, all_graphics_bits);
    color(r, 1, 1, 1, 1);
    r.add(stream::SetPointSize{{}, 63});
    viewports(r, {{0, 0, 16, 16}, {0, 0, 16, 16}, {2, 2, 12, 12}});
    const stream::Scissor scissors[] = {{0, 0, 4, 4}, {8, 0, 4, 8}, {3, 9, 10, 5}};
    stream::SetScissors record{};
    record.count = 3;
    r.add(record, std::span<const stream::Scissor>(scissors));
    const stream::DepthRange ranges[] = {{0, 1}, {0, 0.5f}, {1, 0.5f}};
    stream::SetDepthRanges depths{};
    depths.count = 3;
    r.add(depths, std::span<const stream::DepthRange>(ranges));
    draw(r, points, 3);
    copy_out(r, image0, result, size, size);
    copy_out(r, depth, depth_result, size, size);
    run(r);
    const f32 z[] = {0.5f, 0.25f, 0.75f};
    for (i32 y = 0; y < 16; ++y)
        for (i32 x = 0; x < 16; ++x) {
            u32 wanted = 0;
            f32 wanted_depth = 1;
            for (u32 v = 0; v < 3; ++v) {
                const auto& s = scissors[v];
                if (x >= s.x && x < s.x + s.width && y >= s.y && y < s.y + s.height) {
                    wanted = ~0u;
                    wanted_depth = z[v];
                }
            }
            ASSERT_EQ(pixel(static_cast<u32>(x), static_cast<u32>(y), size), wanted) << x << "," << y;
            ASSERT_EQ(read<f32>(depth_result + static_cast<u64>(4 * (y * 16 + x))), wanted_depth) << x << "," << y;
        }
}

// The vertex's number goes to the fragments of its primitive unchanged.
constexpr const char* numbered = R"(
.stage vertex
.in vertex_id
.out position
.out 0 x___
.entry main
main:
    ALD R0, a[0x2fc], RZ
    SHL R1, R0, 0x4
    LDC.64 R4, c[0x3][R1]
    LDC.64 R6, c[0x3][R1+0x8]
    AST.128 a[0x70], R4, RZ
    IADD32I R0, R0, 0x1
    AST a[0x80], R0, RZ
    EXIT
)";
constexpr const char* number_of_primitive = R"(
.stage fragment
.in 0 x___ constant
.target 0 rgba
.entry main
main:
    IPA.CONSTANT R0, a[0x80], RZ
    MOV R1, RZ
    MOV R2, RZ
    MOV R3, RZ
    EXIT
)";

TEST_F(Rasterizer, FlatInputsOfEveryPrimitive) { // GFX-169: list, strip, fan, lines; also indirect
    const auto p = program({numbered, number_of_primitive});
    struct Case {
        const char* what;
        u32 primitive;
        std::vector<Vertex> corners;
        u32 x, y;        // a pixel of the second primitive of an 8 x 8 target, row 0 at y = -1
        u32 first, last; // the second primitive's first and last vertex, counted from 1
    };
    const Vertex a{-1, -1, 0, 1}, b{1, -1, 0, 1}, c{-1, 1, 0, 1}, d{1, 1, 0, 1};
    const Case cases[] = {
        {"list", triangles, {a, a, a, a, b, c}, 1, 1, 4, 6},
        {"strip", triangle_strip, {a, b, c, d}, 7, 7, 2, 4},
        {"fan", triangle_fan, {a, b, d, c}, 1, 6, 3, 4}, // a fan's first: the vertex behind the common one
        {"polygon", polygon, {a, b, d, c}, 1, 6, 1, 1},
        {"quads, lower right", quads, {a, a, a, a, a, b, d, c}, 6, 1, 5, 8},
        {"quads, upper left", quads, {a, a, a, a, a, b, d, c}, 1, 6, 5, 8},
        {"lines", lines, {a, a, {-1, 0.125f, 0, 1}, {1, 0.125f, 0, 1}}, 3, 4, 3, 4},
        {"line strip", line_strip, {a, {-1, 0.125f, 0, 1}, {1, 0.125f, 0, 1}}, 5, 4, 2, 3},
    };
    for (const Case& one : cases)
        for (const u32 last : {0u, 1u})
            for (const bool indirect : {false, true}) {
                Recorder r;
                const auto image0 = image(target, "R32UI", 8, 8);
                set_targets(r, std::span(&image0, 1));
                stream::ClearColor clear_to{};
                clear_to.value_class = stream::ClearClass::Uint;
                clear_to.mask = 0xf;
                r.add(clear_to);
                bind(r, p, all_graphics_bits);
                vertices(r, one.corners);
                r.add(stream::SetProvokingVertex{{}, last});
                const auto count = static_cast<u32>(one.corners.size());
                if (indirect) {
                    write(stored, std::array<u32, 4>{count, 1, 0, 0});
                    stream::DrawArraysIndirect call{};
                    call.primitive = one.primitive;
                    call.arguments = at(stored).value;
                    r.add(call);
                } else {
                    draw(r, one.primitive, static_cast<i32>(count));
                }
                copy_out(r, image0, result, 8, 8);
                run(r);
                EXPECT_EQ(pixel(one.x, one.y, 8), last ? one.last : one.first) << one.what << last << indirect;
            }
}

TEST_F(Rasterizer, ConservativeCoverageIsDrawnOrNamed) { // REN-127: a sliver between two rows of pixel centres
    const auto p = program({placed, flat});
    const bool able = device->has(gpu::Feature::ConservativeRasterization);
    for (const u32 enable : {0u, 1u}) {
        Recorder r;
        const auto image0 = image(target, "RGBA8", 8, 8);
        set_targets(r, std::span(&image0, 1));
        r.add(clear(0, 0, 0, 0));
        bind(r, p, all_graphics_bits);
        color(r, 1, 1, 1, 1);
        r.add(stream::SetConservativeRaster{{}, enable});
        vertices(r, {{-0.9f, -0.24f, 0, 1}, {0.9f, -0.24f, 0, 1}, {0.9f, -0.2f, 0, 1}}); // rows 3.04 to 3.2
        draw(r, triangles, 3);
        copy_out(r, image0, result, 8, 8);
        run(r);
        u32 drawn = 0;
        for (u32 i = 0; i < 64; ++i)
            drawn += read<u32>(result + 4 * i) != 0;
        EXPECT_EQ(drawn, enable && able ? 8u : 0u) << enable;
    }
    EXPECT_EQ(log::first_time("state without effect on this device: conservative rasterization"), able);
}

// Adds 1 to the word of each vertex in storage buffer 0 and stores its number to image 0.
constexpr const char* storing = R"(
.stage vertex
.in vertex_id
.out position
.global_store
.entry main
main:
    ALD R0, a[0x2fc], RZ
    MOV R4, RZ
    MOV R5, RZ
    MOV R6, RZ
    MOV32I R7, 0x3f800000
    AST.128 a[0x70], R4, RZ
    MOV R8, c[0x0][0x110]
    MOV R9, c[0x0][0x114]
    SHL R1, R0, 0x2
    IADD R8.CC, R8, R1
    IADD.X R9, R9, RZ
    MOV32I R2, 0x1
    RED.E.ADD [R8], R2
    LOP32I.AND R10, R0, 0xf
    SHR.U32 R11, R0, 0x4
    IADD32I R12, R0, 0x1
    SUST.P.2D.R.IGN [R10], R12, 0x48
    EXIT
)";

TEST_F(Rasterizer, VerticesStoreAlsoWhenNothingIsDrawn) { // REN-167
    constexpr u32 count = 240;
    const auto p = program({storing, flat});
    constexpr stream::PoolId pool = 1;
    replay->texture_pool_created(pool, 0, 512);
    replay->sampler_pool_created(pool, 0, 512);
    auto seen = image(image_at, "R32UI", 16, 16);
    seen.texture.flags = 0x8000; // IMAGE
    replay->texture_registered(pool, 300, seen, true);
    enum class Off { Discard, Scissor, BothFaces };
    for (const Off off : {Off::Discard, Off::Scissor, Off::BothFaces})
        for (const int call : {0, 1, 2}) { // arrays, indices, two instances
            std::memset(bytes_at(stored), 0, 4 * count);
            replay->memory_written(at(stored).value, 4 * count);
            for (u32 i = 0; i < count; ++i)
                write<u16>(stored + 0x1000 + 2 * i, static_cast<u16>(i));
            Recorder r;
            stream::SetTexturePool textures{};
            textures.pool = pool;
            r.add(textures);
            stream::SetSamplerPool samplers{};
            samplers.pool = pool;
            r.add(samplers);
            const auto image0 = image(target, "RGBA8", 4, 4);
            set_targets(r, std::span(&image0, 1));
            r.add(clear(0, 0, 1, 1));
            stream::ClearTexture empty{};
            empty.value_class = stream::ClearClass::Uint;
            empty.mask = 0xf;
            empty.region = {0, 0, 0, 16, 16, 1};
            empty.image = seen;
            r.add(empty);
            bind(r, p, all_graphics_bits);
            color(r, 1, 1, 1, 1);
            storage(r, stream::Stage::Vertex, 0, stored, 4 * count);
            const u32 handle = 300;
            stream::BindHandles images{};
            images.kind = stream::HandleKind::Image;
            images.stage = stream::Stage::Vertex;
            images.count = 1;
            r.add(images, std::span<const u32>(&handle, 1));
            u32 primitive = points;
            r.add(stream::SetRasterizerDiscard{{}, off == Off::Discard});
            scissor(r, 0, 0, off == Off::Scissor ? 0 : 4, 4);
            if (off == Off::BothFaces)
                primitive = triangles;
            stream::BindPolygonState faces{};
            faces.state.cull_face = off == Off::BothFaces ? 3 : 0;
            faces.state.front_face = 1;
            faces.state.polygon_mode = 2;
            r.add(faces);
            if (call == 1) {
                stream::DrawElements d{};
                d.primitive = static_cast<u16>(primitive);
                d.index_type = 1;
                d.count = count;
                d.indices = at(stored + 0x1000).value;
                r.add(d);
            } else {
                stream::DrawArraysInstanced d{};
                d.primitive = static_cast<u16>(primitive);
                d.count = count;
                d.instance_count = call == 2 ? 2 : 1;
                r.add(d);
            }
            copy_out(r, image0, result, 4, 4);
            copy_out(r, seen, result + 0x1000, 16, 16);
            run(r);
            for (u32 i = 0; i < count; ++i) {
                ASSERT_EQ(read<u32>(stored + 4 * i), call == 2 ? 2u : 1u) << static_cast<int>(off) << call << ": " << i;
                ASSERT_EQ(read<u32>(result + 0x1000 + 4 * i), i + 1) << static_cast<int>(off) << call << ": " << i;
            }
            for (u32 i = 0; i < 16; ++i)
                ASSERT_EQ(read<u32>(result + 4 * i), 0xffff0000u) << "nothing is drawn";
        }
}

// The mask of word 2 of the vertex's uniform row, in a vertex and in a geometry program.
constexpr const char* masked_vertex = R"(
.stage vertex
.in vertex_id
.out position
.out viewport_mask
.entry main
main:
    ALD R0, a[0x2fc], RZ
    SHL R1, R0, 0x4
    LDC.64 R4, c[0x3][R1]
    LDC.64 R6, c[0x3][R1+0x8]
    F2I.U32.F32.TRUNC R8, R7
    MOV R7, RZ
    IADD32I R7, R7, 0x3f800000
    AST.128 a[0x70], R4, RZ
    AST a[0x3a0], R8, RZ
    EXIT
)";

std::string masked_geometry(u32 vertices, const char* topology) {
    std::string text = fmt::format(".stage geometry\n.topology {}\n.max_vertices 3\n.threads 1\n.streams 1\n"
                                   ".in position\n.out position\n.out viewport_mask\n.entry main\nmain:\n"
                                   "F2I.U32.F32.TRUNC R8, c[0x3][0x0]\n",
                                   topology);
    for (u32 i = 0; i < vertices; ++i)
        text += fmt::format("MOV32I R20, {}\nALD.128 R0, a[0x70], R20\nAST.128 a[0x70], R0, RZ\nAST a[0x3a0], R8, RZ\n"
                            "OUT.EMIT R21, RZ, RZ\n",
                            i);
    return text + "EXIT\n";
}

TEST_F(Rasterizer,
       ViewportMasksCullAndRoute) { // SHD-112: masks 0 to 3, points and triangles, clipped and clamped depth
    const auto vertex = program({masked_vertex, flat});
    for (const u32 mask : {0u, 1u, 2u, 3u})
        for (const u32 primitive : {points, triangles})
            for (const bool geometry : {false, true})
                for (const u32 clamp : {0u, 1u})
                    for (const bool two : {false, true}) {
                        const auto p = geometry ? program({placed,
                                                           primitive == points ? masked_geometry(1, "points")
                                                                               : masked_geometry(3, "triangle_strip"),
                                                           flat})
                                                : vertex;
                        Recorder r;
                        const auto image0 = image(target, "RGBA8", 8, 8);
                        set_targets(r, std::span(&image0, 1));
                        r.add(clear(0, 0, 0, 0));
                        bind(r, p, all_graphics_bits);
                        color(r, 1, 1, 1, 1);
                        r.add(stream::SetDepthClamp{{}, clamp});
                        r.add(stream::SetPointSize{{}, 4});
                        viewports(r, {{0, 0, 4, 4}, {4, 4, two ? 4.0f : 0.0f, 4}});
                        const f32 w = geometry ? 1 : static_cast<f32>(mask);
                        write(stored, static_cast<f32>(mask));
                        uniform(r, stream::Stage::Geometry, 0, stored, 16);
                        if (primitive == points)
                            vertices(r, {{0, 0, 0, w}});
                        else
                            vertices(r, {{-1, -1, 0, w}, {3, -1, 0, w}, {-1, 3, 0, w}});
                        draw(r, primitive, primitive == points ? 1 : 3);
                        copy_out(r, image0, result, 8, 8);
                        run(r);
                        for (u32 y = 0; y < 8; ++y)
                            for (u32 x = 0; x < 8; ++x) {
                                const bool first = x < 4 && y < 4, second = x >= 4 && y >= 4;
                                const bool wanted = (first && (mask & 1)) || (second && two && (mask & 2));
                                ASSERT_EQ(pixel(x, y, 8), wanted ? ~0u : 0u)
                                    << x << "," << y << " mask " << mask << primitive << geometry << clamp << two;
                            }
                    }
}

// A geometry program that only chooses the layer, as those that fill the slices of a table: of its input's bits.
constexpr const char* instance_of_triangle = R"(
.stage vertex
.in vertex_id
.in instance_id
.out position
.out 0 x___
.entry main
main:
    ALD R0, a[0x2fc], RZ
    ALD R8, a[0x2f8], RZ
    SHL R1, R0, 0x4
    LDC.64 R4, c[0x3][R1]
    LDC.64 R6, c[0x3][R1+0x8]
    AST.128 a[0x70], R4, RZ
    AST a[0x80], R8, RZ
    EXIT
)";
std::string chooses_layer() {
    std::string text = ".stage geometry\n.topology triangle_strip\n.max_vertices 3\n.threads 1\n.streams 1\n"
                       ".in position\n.in 0 x___\n.out position\n.out 0 x___\n.out layer\n.entry main\nmain:\n";
    for (u32 i = 0; i < 3; ++i)
        text += fmt::format("MOV32I R20, {}\nALD.128 R0, a[0x70], R20\nALD R4, a[0x80], R20\nAST.128 a[0x70], R0, RZ\n"
                            "AST a[0x80], R4, RZ\nAST a[0x64], R4, RZ\nOUT.EMIT R21, RZ, RZ\n",
                            i);
    return text + "EXIT\n";
}
constexpr const char* number_of_instance = R"(
.stage fragment
.in 0 x___ constant
.target 0 rgba
.entry main
main:
    IPA.CONSTANT R0, a[0x80], RZ
    IADD32I R0, R0, 0x64
    MOV R1, RZ
    MOV R2, RZ
    MOV R3, RZ
    EXIT
)";

TEST_F(Rasterizer, GeometryProgramsThatOnlyChooseTheLayer) { // SHD-108: 32 instances, 32 slices
    constexpr u16 layers = 32;
    const auto p = program({instance_of_triangle, chooses_layer(), number_of_instance});
    auto slices = image(target, "R32UI", 8, 8);
    slices.texture.target = slices.view.target = 4; // 2D_ARRAY
    slices.texture.depth = layers;
    slices.view.layer_count = layers;
    Recorder r;
    set_targets(r, std::span(&slices, 1));
    bind(r, p, all_graphics_bits);
    vertices(r, {{-1, -1, 0, 1}, {3, -1, 0, 1}, {-1, 3, 0, 1}});
    stream::DrawArraysInstanced d{};
    d.primitive = triangles;
    d.count = 3;
    d.instance_count = layers;
    r.add(d);
    stream::CopyTextureToBuffer copy{};
    copy.buffer = at(result).value;
    copy.region = {0, 0, 0, 8, 8, layers};
    copy.image = slices;
    r.add(copy);
    run(r);
    for (u32 layer = 0; layer < layers; ++layer)
        for (u32 i = 0; i < 64; ++i)
            ASSERT_EQ(read<u32>(result + 4 * (64 * layer + i)), 100 + layer) << layer;
}

TEST_F(Rasterizer, GeometryProgramsReachTheirStorageBuffers) { // SHD-125, GFX-129: slot 2 at c[0x0][0x430]
    const auto p = program({placed, R"(
.stage geometry
.topology points
.max_vertices 1
.threads 1
.streams 1
.in position
.out position
.global_store
.entry main
main:
    ALD.128 R0, a[0x70], RZ
    AST.128 a[0x70], R0, RZ
    MOV R8, c[0x0][0x430]
    MOV R9, c[0x0][0x434]
    MOV R10, c[0x0][0x438]
    STG.E [R8+0x4], R10
    MOV32I R11, 0x1
    RED.E.ADD [R8], R11
    OUT.EMIT R21, RZ, RZ
    EXIT
)",
                            flat});
    write(stored, std::array<u32, 2>{0, 0});
    Recorder r;
    const auto image0 = image(target, "RGBA8", 8, 8);
    set_targets(r, std::span(&image0, 1));
    bind(r, p, all_graphics_bits);
    color(r, 1, 1, 1, 1);
    vertices(r, {{0, 0, 0, 1}, {0, 0, 0, 1}, {0, 0, 0, 1}});
    storage(r, stream::Stage::Geometry, 2, stored, 0x40);
    storage(r, stream::Stage::Vertex, 2, stored + 0x100, 0x80); // another stage's
    draw(r, points, 3);
    run(r);
    EXPECT_EQ((read<std::array<u32, 2>>(stored)), (std::array<u32, 2>{3, 0x40}));
}

} // namespace
} // namespace heaviside::replay
