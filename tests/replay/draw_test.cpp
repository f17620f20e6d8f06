// What draws leave in their targets: fixed-function state and DrawTexture. Targets from 0x100000 on, results from
// 0x200000 on.
#include "program_fixture.h"

#include "replay/lost_state.h"
#include "replay/state_mapping.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

namespace heaviside::replay {
namespace {

constexpr u64 target = 0x100000, second_target = 0x140000, depth_target = 0x180000, result = 0x200000, colors = 0x40000,
              texture_at = 0x300000;

class Draws : public ProgramTest {
protected:
    void color(Recorder& r, f32 red, f32 green, f32 blue, f32 alpha) {
        const u64 at_color = colors + 256 * next_color_++;
        const f32 values[] = {red, green, blue, alpha};
        write(at_color, values);
        uniform(r, stream::Stage::Fragment, 0, at_color, 16);
    }
    void depth_of_quad(Recorder& r, f32 z) {
        const u64 at_z = colors + 256 * next_color_++;
        write(at_z, z);
        uniform(r, stream::Stage::Vertex, 0, at_z, 16);
    }
    u32 pixel(u32 x, u32 y, u32 width) const { return read<u32>(result + 4 * (y * width + x)); }
    u64 next_color_ = 0;
};

// Vertices 0 to 3 as a strip over the left half of the viewport.
constexpr const char* half = R"(
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
    MOV R6, RZ
    MOV32I R7, 0x3f800000
    AST.128 a[0x70], R4, RZ
    EXIT
)";

TEST_F(Draws, SwizzledViewportsExchangeAndNegateAxes) { // REN-181, REN-182, GFX-168: the quad is the half x < 0
    const auto p = program({half, flat});
    const struct {
        stream::ViewportSwizzle swizzle;
        bool by_row, first_half; // row 0 is y = -1
    } cases[] = {{{0, 2, 4, 6}, false, true},
                 {{1, 2, 4, 6}, false, false},
                 {{2, 0, 4, 6}, true, true},
                 {{3, 1, 4, 6}, true, false},
                 {{0, 3, 4, 6}, false, true}};
    for (const auto& c : cases) {
        Recorder r;
        const auto image0 = image(target, "RGBA8", 8, 8);
        set_targets(r, std::span(&image0, 1));
        r.add(clear(0, 0, 0, 0));
        bind(r, p, all_graphics_bits);
        color(r, 1, 1, 1, 1);
        r.add(stream::SetViewportSwizzles{{}, 0, 1}, std::span<const stream::ViewportSwizzle>(&c.swizzle, 1));
        draw(r);
        copy_out(r, image0, result, 8, 8);
        run(r);
        for (u32 y = 0; y < 8; ++y)
            for (u32 x = 0; x < 8; ++x) {
                const bool first = (c.by_row ? y : x) < 4;
                ASSERT_EQ(pixel(x, y, 8), first == c.first_half ? ~0u : 0u)
                    << x << "," << y << " of " << int{c.swizzle.x} << int{c.swizzle.y};
            }
    }
}

// REN-104: windings are those that the queue's origin gave them; a viewport that the device's present origin turns
// over, or a swizzle, turns the windings with it.
TEST_F(Draws, FacingFollowsTheOriginOfTheQueue) {
    const auto p = program({full_screen, R"(
.stage fragment
.in front_facing
.target 0 rgba
.entry main
main:
    IPA.CONSTANT R4, a[0x3fc], RZ
    MOV32I R0, 0x3f800000
    MOV32I R1, 0x40000000
    ISETP.NE.AND P0, PT, R4, RZ, PT
@P0 MOV R0, R1
    MOV R1, RZ
    MOV R2, RZ
    MOV R3, RZ
    EXIT
)"});
    constexpr u32 none = 0, cull_front = 1, cull_back = 2, cull_both = 3;
    constexpr stream::ViewportSwizzle identity{0, 2, 4, 6}, upside_down{0, 3, 4, 6};
    write(colors, 0.0f);
    for (const u8 queue_origin : {origin_lower_left, origin_upper_left})
        for (const u8 present_origin : {origin_lower_left, origin_upper_left}) {
            constexpr stream::QueueId own = 7;
            stream::QueueDescription description{};
            description.window_origin = queue_origin;
            replay->queue_created(own, description);
            Recorder r;
            const auto image0 = image(target, "R32F", 16, 1);
            set_targets(r, std::span(&image0, 1));
            r.add(clear(0, 0, 0, 0));
            bind(r, p, all_graphics_bits);
            uniform(r, stream::Stage::Vertex, 0, colors, 16);
            std::array<f32, 16> expected{};
            i32 x = 0;
            for (const u32 counter_clockwise : {0u, 1u}) // what the front is; the strip is, where y goes up
                for (const u32 cull : {none, cull_front, cull_back, cull_both})
                    for (const bool turned : {false, true}) {
                        stream::BindPolygonState b{};
                        b.state.cull_face = cull & 3;
                        b.state.front_face = counter_clockwise & 1;
                        b.state.polygon_mode = 2;
                        r.add(b);
                        const auto& swizzle = turned ? upside_down : identity;
                        r.add(stream::SetViewportSwizzles{{}, 0, 1}, std::span(&swizzle, 1));
                        scissor(r, x, 0, 1, 1);
                        draw(r);
                        const bool over = (queue_origin != present_origin) != turned;
                        const bool front = (counter_clockwise == 1) != over;
                        const bool culled = cull == cull_both || cull == (front ? cull_front : cull_back);
                        expected[static_cast<u32>(x++)] = culled ? 0.0f : front ? 2.0f : 1.0f;
                    }
            copy_out(r, image0, result, 16, 1);
            replay->submit(own, {present_origin, 1}, r.take());
            replay->finish(own);
            EXPECT_EQ((read<std::array<f32, 16>>(result)), expected) << int{queue_origin} << int{present_origin};
            replay->queue_destroyed(own);
        }
}

TEST_F(Draws, DepthModesPlaceTheNearPlane) { // SHD-105: z / w = 0.25 is stored as 0.25 or 0.625
    const auto p = program({full_screen, flat});
    for (const u8 mode : {u8{0}, u8{1}}) {
        Recorder r;
        const auto image0 = image(target, "RGBA8", 4, 4);
        const auto depth = image(depth_target, "DEPTH32F", 4, 4);
        set_targets(r, std::span(&image0, 1), &depth);
        stream::ClearDepthStencil c{};
        c.depth = 1;
        c.depth_mask = 1;
        r.add(c);
        bind(r, p, all_graphics_bits);
        color(r, 1, 1, 1, 1);
        depth_of_quad(r, 0.25f);
        stream::BindDepthStencilState d{};
        d.state.depth_test = d.state.depth_write = 1;
        d.state.depth_func = 8;
        d.state.front_func = d.state.back_func = 8;
        r.add(d);
        draw(r);
        copy_out(r, depth, result, 4, 4);
        run(r, {1, mode});
        EXPECT_EQ(read<f32>(result), mode == 0 ? 0.625f : 0.25f);
    }
}

TEST_F(Draws, ClampedDepthIsDrawnAndClippedDepthIsNot) { // REN-122: z = 1.5
    const auto p = program({full_screen, flat});
    for (const u32 clamp : {0u, 1u}) {
        Recorder r;
        const auto image0 = image(target, "RGBA8", 4, 4);
        const auto depth = image(depth_target, "DEPTH32F", 4, 4);
        set_targets(r, std::span(&image0, 1), &depth);
        r.add(clear(0, 0, 0, 0));
        stream::ClearDepthStencil c{};
        c.depth = 0.5f;
        c.depth_mask = 1;
        r.add(c);
        bind(r, p, all_graphics_bits);
        color(r, 1, 1, 1, 1);
        depth_of_quad(r, 1.5f);
        stream::BindDepthStencilState d{};
        d.state.depth_test = d.state.depth_write = 1;
        d.state.depth_func = 8;
        d.state.front_func = d.state.back_func = 8;
        r.add(d);
        r.add(stream::SetDepthClamp{{}, clamp});
        draw(r);
        copy_out(r, image0, result, 4, 4);
        copy_out(r, depth, result + 0x1000, 4, 4);
        run(r);
        EXPECT_EQ(read<u32>(result), clamp ? ~0u : 0u);
        EXPECT_EQ(read<f32>(result + 0x1000), clamp ? 1.0f : 0.5f);
    }
}

TEST_F(Draws, LogicOperationsOnIntegers) { // REN-117: all sixteen, through a mask
    const auto p = program({full_screen, flat});
    const u32 source = 0xa5c30f5a, dest = 0x3c965599;
    for (u32 op = 0; op < 16; ++op) {
        Recorder r;
        const auto image0 = image(target, "RG32UI", 4, 4);
        set_targets(r, std::span(&image0, 1));
        stream::ClearColor c{};
        c.value_class = stream::ClearClass::Uint;
        c.mask = 0xf;
        c.value[0] = c.value[1] = dest;
        r.add(c);
        bind(r, p, all_graphics_bits);
        color(r, std::bit_cast<f32>(source), std::bit_cast<f32>(source), 0, 0);
        stream::BindColorState s{};
        s.state.logic_op = op & 15;
        s.state.alpha_func = 8;
        r.add(s);
        r.add(stream::BindChannelMaskState{{}, {0x1}}); // red only
        draw(r);
        copy_out(r, image0, result, 4, 4);
        run(r);
        u32 expected = 0;          // bit s, d of the op's table: CLEAR 0, AND 1, AND_REVERSE 2, COPY 3 ...
        const bool table[16][4] = {// s d: 00 01 10 11
                                   {0, 0, 0, 0}, {0, 0, 0, 1}, {0, 0, 1, 0}, {0, 0, 1, 1}, {0, 1, 0, 0}, {0, 1, 0, 1},
                                   {0, 1, 1, 0}, {0, 1, 1, 1}, {1, 0, 0, 0}, {1, 0, 0, 1}, {1, 0, 1, 0}, {1, 0, 1, 1},
                                   {1, 1, 0, 0}, {1, 1, 0, 1}, {1, 1, 1, 0}, {1, 1, 1, 1}};
        for (u32 bit = 0; bit < 32; ++bit)
            expected |= u32{table[op][(source >> bit & 1) << 1 | (dest >> bit & 1)]} << bit;
        EXPECT_EQ(read<u32>(result), expected) << "op " << op;
        EXPECT_EQ(read<u32>(result + 4), dest);
    }
}

TEST_F(Draws, TheAlphaTestComparesWithTheReference) { // REN-113: NaN passes no comparison but "not equal"
    const auto p = program({full_screen, flat});
    const auto passes = [](u32 func, f32 a, f32 b) {
        switch (func) {
        case 1:
            return false;
        case 2:
            return a < b;
        case 3:
            return a == b;
        case 4:
            return a <= b;
        case 5:
            return a > b;
        case 6:
            return a != b;
        case 7:
            return a >= b;
        default:
            return true;
        }
    };
    for (u32 func = 1; func <= 8; ++func) {
        Recorder r;
        const auto image0 = image(target, "RGBA8", 4, 4);
        set_targets(r, std::span(&image0, 1));
        bind(r, p, all_graphics_bits);
        stream::BindColorState s{};
        s.state.logic_op = 3;
        s.state.alpha_func = func & 15;
        r.add(s);
        u64 out = result;
        for (const f32 alpha : {0.0f, 0.5f, 1.0f})
            for (const f32 reference : {0.0f, 0.5f, 1.0f, std::nanf("")}) {
                r.add(clear(0, 0, 0, 0));
                color(r, 1, 0, 0, alpha);
                r.add(stream::SetAlphaRef{{}, reference});
                draw(r);
                copy_out(r, image0, out, 4, 4);
                out += 0x100;
            }
        run(r);
        out = result;
        for (const f32 alpha : {0.0f, 0.5f, 1.0f})
            for (const f32 reference : {0.0f, 0.5f, 1.0f, std::nanf("")}) {
                EXPECT_EQ((read<u32>(out) & 0xff) == 0xff, passes(func, alpha, reference))
                    << func << ": " << alpha << " " << reference;
                out += 0x100;
            }
    }
}

TEST_F(Draws, QuadsCoverTheirPixelsOnce) { // REN-157, REN-156: additive blending shows pixels that are drawn twice
    const auto p = program({full_screen, flat});
    const u16 indices[] = {0, 1, 3, 2};
    write(0x10000, indices);
    Recorder r;
    const auto image0 = image(target, "RGBA8", 8, 8);
    set_targets(r, std::span(&image0, 1));
    r.add(clear(0, 0, 0, 0));
    bind(r, p, all_graphics_bits);
    color(r, 0.2f, 0.2f, 0.2f, 0.2f);
    stream::BindColorState s{};
    s.state.blend_enable = 1;
    s.state.logic_op = 3;
    s.state.alpha_func = 8;
    r.add(s);
    stream::BindBlendState b{};
    b.state.source_color = b.state.dest_color = b.state.source_alpha = b.state.dest_alpha = 2;
    b.state.color_equation = b.state.alpha_equation = 1;
    r.add(b);
    for (const u16 primitive : {u16{7}, u16{6}}) { // quads, then a fan
        stream::DrawElements d{};
        d.primitive = primitive;
        d.index_type = 1;
        d.count = 4;
        d.indices = at(0x10000).value;
        r.add(d);
    }
    copy_out(r, image0, result, 8, 8);
    run(r);
    for (u32 i = 0; i < 64; ++i)
        ASSERT_EQ(read<u32>(result + 4 * i), 0x66666666u) << i; // 2 * 51
}

// Location 0 = 0.2 * vertex, the position as full_screen's.
constexpr const char* graded = R"(
.stage vertex
.in vertex_id
.out position
.out 0 x___
.entry main
main:
    ALD R0, a[0x2fc], RZ
    LOP.AND R1, R0, 0x1
    SHR.U32 R2, R0, 0x1
    I2F.F32.U32 R3, R0
    MOV32I R6, 0x3e4ccccd
    FMUL.FTZ R3, R3, R6
    AST a[0x80], R3, RZ
    I2F.F32.U32 R4, R1
    I2F.F32.U32 R5, R2
    FADD.FTZ R4, R4, R4
    FADD.FTZ R5, R5, R5
    FADD.FTZ R4, R4, -1
    FADD.FTZ R5, R5, -1
    MOV R6, RZ
    MOV32I R7, 0x3f800000
    AST.128 a[0x70], R4, RZ
    EXIT
)";
constexpr const char* constant_red = R"(
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

TEST_F(Draws, FlatInputsComeFromTheProvokingVertex) { // GFX-169: strips of two triangles, first and last vertex
    const auto p = program({graded, constant_red});
    for (const u32 last : {0u, 1u}) {
        Recorder r;
        const auto image0 = image(target, "RGBA8", 8, 8);
        set_targets(r, std::span(&image0, 1));
        r.add(clear(0, 0, 0, 0));
        bind(r, p, all_graphics_bits);
        r.add(stream::SetProvokingVertex{{}, last});
        draw(r); // triangles 0 1 2 and 1 2 3; vertex 0 is at the left of row 0, vertex 3 at the right of the last
        copy_out(r, image0, result, 8, 8);
        run(r);
        std::array<u32, 2> seen{pixel(0, 0, 8) & 0xff, pixel(7, 7, 8) & 0xff};
        EXPECT_EQ(seen, last ? (std::array<u32, 2>{0x66, 0x99}) : (std::array<u32, 2>{0x00, 0x33}));
    }
}

TEST_F(Draws, OutputsThatAProgramLacksLeaveTheirTargetsAlone) { // REN-112
    const auto p = program({full_screen, flat});
    Recorder r;
    const stream::ImageDescription images[] = {image(target, "RGBA8", 4, 4), image(second_target, "RGBA8", 4, 4)};
    set_targets(r, images);
    r.add(clear(0, 0, 1, 0));
    r.add(clear(0, 1, 0, 1, 0xf, 1));
    bind(r, p, all_graphics_bits);
    color(r, 1, 0, 0, 1);
    draw(r);
    copy_out(r, images[0], result, 4, 4);
    copy_out(r, images[1], result + 0x1000, 4, 4);
    run(r);
    EXPECT_EQ(read<u32>(result), 0xff0000ffu);
    EXPECT_EQ(read<u32>(result + 0x1000), 0xff00ff00u);
}

// --- DrawTexture

class DrawsTexture : public Draws {
protected:
    static constexpr stream::PoolId pool = 7;
    void SetUp() override {
        Draws::SetUp();
        if (!replay)
            return;
        replay->texture_pool_created(pool, 0, 1024);
        replay->sampler_pool_created(pool, 0, 1024);
        for (u32 y = 0; y < 4; ++y) // linear rows of 32 bytes: texel (x, y) is red 40 * x, green 40 * y
            for (u32 x = 0; x < 4; ++x)
                write<u32>(texture_at + 32 * y + 4 * x, 0xff000000u | 40 * y << 8 | 40 * x);
        auto source = image(texture_at, "RGBA8", 4, 4);
        source.texture.flags = 0x10; // linear
        source.texture.stride = 32;
        source.texture.size = 128;
        replay->texture_registered(pool, 300, source, false);
        for (const u32 filter : {0u, 1u}) {
            stream::SamplerDescription s{};
            s.min_filter = s.mag_filter = static_cast<u8>(filter);
            s.wrap_s = s.wrap_t = s.wrap_r = 7; // clamp to edge
            s.lod_max = 1000;
            s.max_anisotropy = 1;
            replay->sampler_registered(pool, 300 + filter, s);
        }
    }
    void draw_texture(Recorder& r, u32 sampler, std::array<f32, 4> to, std::array<f32, 4> from) {
        stream::SetTexturePool t{};
        t.pool = pool;
        r.add(t);
        stream::SetSamplerPool s{};
        s.pool = pool;
        r.add(s);
        stream::DrawTexture d{};
        d.handle = 300 | sampler << 20;
        std::copy(to.begin(), to.end(), d.target);
        std::copy(from.begin(), from.end(), d.source);
        r.add(d);
    }
};

TEST_F(DrawsTexture, ScalesARectangleInMemoryRows) { // REN-164: both origins, behind a clear, nearest then linear
    for (const u8 origin : {u8{0}, u8{1}}) {
        Recorder r;
        const auto image0 = image(target, "RGBA8", 16, 16);
        set_targets(r, std::span(&image0, 1));
        r.add(clear(0, 0, 1, 1));
        draw_texture(r, 300, {2, 4, 10, 12}, {0, 0, 4, 4});
        copy_out(r, image0, result, 16, 16);
        draw_texture(r, 301, {2, 4, 10, 12}, {0, 0, 4, 4});
        copy_out(r, image0, result + 0x1000, 16, 16);
        run(r, {origin, 1});
        for (u32 y = 0; y < 16; ++y)
            for (u32 x = 0; x < 16; ++x) {
                const bool inside = x >= 2 && x < 10 && y >= 4 && y < 12;
                const u32 u = (x - 2) / 2, v = (y - 4) / 2;
                ASSERT_EQ(pixel(x, y, 16), inside ? 0xff000000u | 40 * v << 8 | 40 * u : 0xffff0000u) << x << "," << y;
                if (!inside)
                    continue;
                const u32 smooth = read<u32>(result + 0x1000 + 4 * (16 * y + x));
                const auto expected = [](u32 at) { // the centre of eighth `at` of four texels, clamped to the edges
                    return std::clamp((static_cast<f32>(at) + 0.5f) / 2 - 0.5f, 0.0f, 3.0f) * 40;
                };
                ASSERT_NEAR(static_cast<f32>(smooth & 0xff), expected(x - 2), 1) << x << "," << y;
                ASSERT_NEAR(static_cast<f32>(smooth >> 8 & 0xff), expected(y - 4), 1) << x << "," << y;
            }
    }
}

TEST_F(DrawsTexture, ObeysScissorMaskAndBlending) { // REN-164, REN-166; part of the texture, mirrored
    Recorder r;
    const auto image0 = image(target, "RGBA8", 8, 8);
    set_targets(r, std::span(&image0, 1));
    r.add(clear(0, 0, 1, 0));
    scissor(r, 0, 0, 8, 1);
    r.add(stream::BindChannelMaskState{{}, {0x1}}); // red only
    stream::BindColorState s{};
    s.state.blend_enable = 1;
    s.state.logic_op = 3;
    s.state.alpha_func = 8;
    r.add(s);
    stream::BindBlendState b{};
    b.state.source_color = b.state.dest_color = b.state.source_alpha = b.state.dest_alpha = 2; // ONE, ONE
    b.state.color_equation = b.state.alpha_equation = 1;
    r.add(b);
    draw_texture(r, 300, {0, 0, 4, 4}, {4, 0, 0, 4}); // from right to left
    draw_texture(r, 300, {0, 0, 4, 4}, {4, 0, 0, 4});
    copy_out(r, image0, result, 8, 8);
    run(r);
    for (u32 x = 0; x < 8; ++x)
        EXPECT_EQ(pixel(x, 0, 8), 0x00ff0000u | (x < 4 ? 2 * 40 * (3 - x) : 0)) << x;
    EXPECT_EQ(pixel(0, 1, 8), 0x00ff0000u);
}

TEST_F(DrawsTexture, TakesItsHandleFromThePoolsThatAreSet) { // REN-165: one ID, a texture of its own in each pool
    constexpr stream::PoolId other = 8;
    replay->texture_pool_created(other, 0, 1024);
    for (u32 i = 0; i < 16; ++i)
        write<u32>(texture_at + 0x1000 + 32 * (i / 4) + 4 * (i % 4), 0xff00ff00u);
    auto green = image(texture_at + 0x1000, "RGBA8", 4, 4);
    green.texture.flags = 0x10; // linear
    green.texture.stride = 32;
    green.texture.size = 128;
    replay->texture_registered(other, 300, green, false);
    Recorder r;
    const auto image0 = image(target, "RGBA8", 8, 8);
    set_targets(r, std::span(&image0, 1));
    r.add(clear(0, 0, 0, 0));
    draw_texture(r, 300, {0, 0, 4, 4}, {0, 0, 4, 4});
    stream::SetTexturePool second{};
    second.pool = other;
    r.add(second);
    stream::DrawTexture d{};
    d.handle = 300 | 300u << 20;
    const f32 to[] = {4, 0, 8, 4}, from[] = {0, 0, 4, 4};
    std::copy(std::begin(to), std::end(to), d.target);
    std::copy(std::begin(from), std::end(from), d.source);
    r.add(d);
    copy_out(r, image0, result, 8, 8);
    run(r);
    EXPECT_EQ(pixel(1, 0, 8), 0xff000028u);
    EXPECT_EQ(pixel(5, 0, 8), 0xff00ff00u);
}

// --- what is not carried out is said

TEST(LostState, IsNamed) { // D10: none in silence
    gpu::Capabilities none;
    GuestState s;
    EXPECT_EQ(lost_state(s, none, 1), std::vector<std::string>{"the last vertex as the provoking one"});
    s.provoking_last = false;
    EXPECT_TRUE(lost_state(s, none, 1).empty());
    s.depth_bounds = s.depth_clamp = s.conservative = true;
    s.polygon.polygon_mode = 1;
    s.line_width = 2;
    s.color.logic_op = 6;
    s.multisample.coverage_modulation = 1;
    s.multisample.coverage_to_color = 1;
    s.precision_bias = {1, 0};
    EXPECT_EQ(lost_state(s, none, 1).size(), 9u);
    for (u32 f = 0; f < gpu::feature_count; ++f)
        none.supported.set(f);
    EXPECT_EQ(lost_state(s, none, 1),
              (std::vector<std::string>{"the subpixel precision bias", "coverage to colour", "coverage modulation"}));
}

} // namespace
} // namespace heaviside::replay
