// Passes through the API: what is drawn to, read and drawn again, in which order, by which kinds of work.
#include "pixels.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace heaviside::pixels {
namespace {

class Passes : public Pixels {
protected:
    void SetUp() override {
        Pixels::SetUp();
        if (s().running)
            default_state();
    }
};

TEST_F(Passes, LevelsAndLayersAreDrawnAndSampled) {
    const Texture& x =
        texture({.width = 16, .height = 16, .depth = 2, .levels = 4, .target = NVN_TEXTURE_TARGET_2D_ARRAY});
    const Texture& out = texture({.width = 2, .height = 2});
    for (int layer = 0; layer < 2; ++layer) {
        targets({{&x, {0, layer}}});
        fill({layer ? 1.0f : 0.0f, 0, 1, 1});
        targets({{&x, {2, layer}}});
        fill({0, layer ? 1.0f : 0.0f, 0, 1});
    }
    for (int layer = 0; layer < 2; ++layer) {
        EXPECT_EQ(texels<u32>(x, {0, layer})[200], layer ? 0xffff00ffu : 0xffff0000u);
        EXPECT_EQ(texels<u32>(x, {1, layer})[10], 0u);
        EXPECT_EQ(texels<u32>(x, {2, layer})[5], layer ? 0xff00ff00u : 0xff000000u);
    }
    // A texture of one level of its own, drawn and then read by the next draw without a word from the program.
    const Texture& y = texture({.width = 2, .height = 2});
    targets({{&y}});
    fill({0.2f, 0.4f, 0.6f, 0.8f});
    targets({{&out}});
    sample(y);
    use({quad, texel_here});
    strip();
    EXPECT_EQ(texels<u32>(out)[3], 0xcc996633u);
}

constexpr std::string_view layered = R"(
.stage vertex
.in vertex_id
.in instance_id
.out position
.out layer
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
    MOV R6, RZ
    MOV32I R7, 0x3f800000
    AST.128 a[0x70], R4, RZ
    AST a[0x64], R10, RZ
    EXIT
)";

TEST_F(Passes, LayersGoWhereTheProgramSays) { // GFX-173, GFX-174, REN-080: from the attached one on, or nowhere else
    const struct {
        NVNtextureTarget target;
        int depth, layers;
    } kinds[] = {
        {NVN_TEXTURE_TARGET_2D_ARRAY, 6, 6}, {NVN_TEXTURE_TARGET_CUBEMAP, 1, 6}, {NVN_TEXTURE_TARGET_3D, 6, 6}};
    for (const auto& k : kinds) {
        const bool volume = k.target == NVN_TEXTURE_TARGET_3D;
        const Texture& x = texture({.depth = k.depth, .target = k.target});
        // Not layered, then layered from layer 2 on (instances 0 to 2), then a view of one layer: all land in it.
        targets({{&x, {0, 0, 6}}});
        fill({0, 0, 1, 1});
        use({layered, flat});
        uniform<float>(NVN_SHADER_STAGE_FRAGMENT, {1, 0, 0, 1});
        targets({{&x, {0, 2, 4}}});
        nvnCommandBufferDrawArraysInstanced(c(), NVN_DRAW_PRIMITIVE_TRIANGLE_STRIP, 0, 4, 0, 3);
        uniform<float>(NVN_SHADER_STAGE_FRAGMENT, {0, 1, 0, 1});
        targets({{&x, {0, 5, 1}}});
        nvnCommandBufferDrawArraysInstanced(c(), NVN_DRAW_PRIMITIVE_TRIANGLE_STRIP, 0, 4, 0, 2);
        const u32 want[] = {0xffff0000, 0, 0xff0000ff, 0xff0000ff, 0xff0000ff, 0xff00ff00};
        for (int i = 0; i < 6; ++i)
            EXPECT_EQ(texels<u32>(x, {0, volume ? 0 : i}, i)[9], want[i]) << "target " << k.target << " layer " << i;
        // And all of it without a view.
        const Texture& all = texture({.depth = k.depth, .target = k.target});
        targets({{&all, {}, true}});
        uniform<float>(NVN_SHADER_STAGE_FRAGMENT, {1, 1, 1, 1});
        use({layered, flat});
        nvnCommandBufferDrawArraysInstanced(c(), NVN_DRAW_PRIMITIVE_TRIANGLE_STRIP, 0, 4, 0, 6);
        for (int i = 0; i < 6; ++i)
            EXPECT_EQ(texels<u32>(all, {0, volume ? 0 : i}, i)[9], ~0u) << "target " << k.target << " layer " << i;
    }
}

TEST_F(Passes, BlocksAreDrawnAsTexels) { // REN-072, REN-073, REN-074: two passes into a level, planes of a volume
    const Texture& bc4 = texture({.format = NVN_FORMAT_RGTC1_UNORM, .width = 32, .height = 32, .levels = 2});
    const Texture& seen = texture({});
    targets({{&bc4, {0, 0, 1, NVN_FORMAT_RGBA16UI}}});
    nvnCommandBufferSetViewport(c(), 0, 0, 8, 8);
    nvnCommandBufferSetScissor(c(), 0, 0, 8, 8);
    use({quad, flat});
    uniform<u32>(NVN_SHADER_STAGE_FRAGMENT, {0xcdef, 0x89ab, 0x4567, 0x0123});
    strip({-1, -1, 0, 1});
    uniform<u32>(NVN_SHADER_STAGE_FRAGMENT, {0xff, 0, 0, 0}); // the value 1 in every texel
    strip({0, -1, 1, 1});
    targets({{&seen}});
    sample(bc4);
    use({quad, texel_here});
    strip();
    const std::size_t at = take(1024);
    const NVNcopyRegion all{0, 0, 0, 32, 32, 1};
    nvnCommandBufferCopyTextureToBuffer(c(), &bc4.object, nullptr, &all, address(at), 0);
    run();
    for (std::size_t i = 0; i < 64; ++i)
        ASSERT_EQ(load<u64>(at + 8 * i), i % 8 < 4 ? 0x0123456789abcdefu : 0xffu) << i;
    // A later pass into part of it keeps the rest.
    targets({{&bc4, {0, 0, 1, NVN_FORMAT_RGBA16UI}}});
    nvnCommandBufferSetViewport(c(), 0, 0, 8, 8);
    nvnCommandBufferSetScissor(c(), 0, 0, 8, 2);
    use({quad, flat});
    uniform<u32>(NVN_SHADER_STAGE_FRAGMENT, {0xff, 0, 0, 0});
    strip();
    nvnCommandBufferCopyTextureToBuffer(c(), &bc4.object, nullptr, &all, address(at), 0);
    targets({{&seen}});
    sample(bc4);
    use({quad, texel_here});
    strip();
    const auto t = texels<u32>(seen);
    for (std::size_t i = 0; i < 64; ++i)
        ASSERT_EQ(load<u64>(at + 8 * i), i < 16 || i % 8 >= 4 ? 0xffu : 0x0123456789abcdefu) << i;
    EXPECT_EQ(t[1], 0xff0000ffu);
    const Texture& volume = texture(
        {.format = NVN_FORMAT_RGTC1_UNORM, .width = 16, .height = 16, .depth = 4, .target = NVN_TEXTURE_TARGET_3D});
    for (int z = 0; z < 4; ++z) {
        targets({{&volume, {0, z, 1, NVN_FORMAT_RGBA16UI}}});
        nvnCommandBufferSetViewport(c(), 0, 0, 4, 4);
        use({quad, flat});
        uniform<u32>(NVN_SHADER_STAGE_FRAGMENT, {static_cast<u32>(z) + 1, 0, 0, 7});
        strip();
    }
    const NVNcopyRegion planes{0, 0, 0, 16, 16, 4};
    nvnCommandBufferCopyTextureToBuffer(c(), &volume.object, nullptr, &planes, address(at), 0);
    run();
    for (std::size_t i = 0; i < 64; ++i)
        ASSERT_EQ(load<u64>(at + 8 * i), (u64{7} << 48) + i / 16 + 1) << i;
}

TEST_F(Passes, DepthIsDrawnAsColour) { // REN-077: 16 bits and floats, tested against afterwards
    const Texture& color = texture({});
    const struct {
        NVNformat depth, as;
    } cases[] = {{NVN_FORMAT_DEPTH16, NVN_FORMAT_R16}, {NVN_FORMAT_DEPTH32F, NVN_FORMAT_R32F}};
    for (const auto& k : cases) {
        const Texture& d = texture({.format = k.depth});
        targets({{&color}}, {&d});
        nvnCommandBufferClearDepthStencil(c(), 0.75f, NVN_TRUE, 0, 0);
        clear({0, 0, 0, 0});
        targets({{&d, {0, 0, 1, k.as}}});
        fill({0.2f, 0, 0, 0}, {-1, -1, 0, 1});
        targets({{&color}}, {&d});
        NVNdepthStencilState state;
        nvnDepthStencilStateSetDefaults(&state);
        nvnDepthStencilStateSetDepthTestEnable(&state, NVN_TRUE);
        nvnDepthStencilStateSetDepthWriteEnable(&state, NVN_FALSE);
        nvnDepthStencilStateSetDepthFunc(&state, NVN_DEPTH_FUNC_EQUAL);
        nvnCommandBufferBindDepthStencilState(c(), &state);
        fill({1, 0, 0, 1}, {-1, -1, 1, 1, 0.2f});
        fill({0, 1, 0, 1}, {-1, -1, 1, 1, 0.75f});
        default_state();
        const auto t = texels<u32>(color);
        EXPECT_EQ(t[0], 0xff0000ffu) << k.depth;
        EXPECT_EQ(t[7], 0xff00ff00u) << k.depth;
    }
}

TEST_F(Passes, ATargetBoundTwiceIsWrittenOnce) { // REN-078
    const Texture& x = texture({});
    const Texture& y = texture({});
    targets({{&y}, {&x}, {&x}});
    clear({0, 0, 0, 0});
    clear({0, 0, 0, 0}, 1);
    NVNchannelMaskState mask;
    nvnChannelMaskStateSetDefaults(&mask);
    nvnChannelMaskStateSetChannelMask(&mask, 2, 0, 0, 0, 0);
    nvnCommandBufferBindChannelMaskState(c(), &mask);
    use({quad, flat_two});
    uniform<float>(NVN_SHADER_STAGE_FRAGMENT, {1, 0, 0, 1, 0, 1, 0, 1});
    strip();
    EXPECT_EQ(texels<u32>(x)[9], 0xff00ff00u);
    EXPECT_EQ(texels<u32>(y)[9], 0xff0000ffu);
}

TEST_F(Passes, WithoutTargetsFragmentsStillStore) { // REN-079
    static constexpr std::string_view count = R"(
.stage fragment
.global_store
.load_store
.entry main
main:
    MOV R0, c[0x3][0x0]
    MOV R1, c[0x3][0x4]
    MOV32I R2, 0x1
    RED.E.ADD [R0], R2
    EXIT
)";
    const std::size_t at = take(256);
    nvnCommandBufferSetRenderTargets(c(), 0, nullptr, nullptr, nullptr, nullptr);
    nvnCommandBufferSetScissor(c(), 0, 0, 0x7fffffff, 0x7fffffff);
    const u64 counter = address(at);
    for (const int size : {1, 64}) {
        nvnCommandBufferClearBuffer(c(), counter, 4, 0);
        nvnCommandBufferSetViewport(c(), 0, 0, size, size);
        nvnCommandBufferBindStorageBuffer(c(), NVN_SHADER_STAGE_FRAGMENT, 0, counter, 256);
        use({quad, count});
        uniform<u32>(NVN_SHADER_STAGE_FRAGMENT, {static_cast<u32>(counter), static_cast<u32>(counter >> 32)});
        strip();
        run();
        EXPECT_EQ(load<u32>(at), static_cast<u32>(size * size));
    }
}

TEST_F(Passes, DiscardedTargetsAreDrawnAnew) { // OBJ-242
    const Texture& x = texture({});
    const Texture& d = texture({.format = NVN_FORMAT_DEPTH24_STENCIL8});
    targets({{&x}}, {&d});
    clear({0, 1, 0, 1});
    fill({1, 0, 0, 1});
    nvnCommandBufferDiscardColor(c(), 0);
    nvnCommandBufferDiscardDepthStencil(c());
    fill({0, 0, 1, 1});
    nvnCommandBufferResolveDepthBuffer(c());
    EXPECT_EQ(texels<u32>(x), std::vector<u32>(64, 0xffff0000));
}

TEST_F(Passes, BoundTargetsOutliveTheirCommandMemory) { // OBJ-098: state of the queue, not of the list
    const Texture& x = texture({});
    const Texture& y = texture({.depth = 3, .levels = 2, .target = NVN_TEXTURE_TARGET_2D_ARRAY});
    const Texture& d = texture({.format = NVN_FORMAT_DEPTH32F});
    targets({{&x}, {}, {}, {}, {}, {}, {}, {&y, {1, 2}}});
    const std::size_t list = s().list;
    run();
    std::memset(s().storage + list, 0xcc, list_bytes); // the list's own memory, all of it done with
    clear({1, 0, 0, 1}, 0);
    clear({0, 1, 0, 1}, 7);
    targets({}, {&d});
    run();
    nvnCommandBufferClearDepthStencil(c(), 0.5f, NVN_TRUE, 0, 0);
    EXPECT_EQ(texels<float>(d)[9], 0.5f);
    EXPECT_EQ(texels<u32>(x)[9], 0xff0000ffu);
    EXPECT_EQ(texels<u32>(y, {1, 2})[5], 0xff00ff00u);
    EXPECT_EQ(texels<u32>(y, {1, 1})[5], 0u);
}

TEST_F(Passes,
       DrawsReadTheirOwnTarget) { // REN-097, REN-098: what was there before the draw, however it overlaps itself
    static constexpr std::string_view inverted = R"(
.stage fragment
.target 0 rgba
.entry main
main:
    IPA.PASS R4, a[0x70], RZ
    IPA.PASS R5, a[0x74], RZ
    F2I.U32.F32.TRUNC R0, R4
    F2I.U32.F32.TRUNC R1, R5
    TLD.LZ R4, R0, 0x8, 2D, 0xf
    FADD.FTZ R0, -R4, 1
    FADD.FTZ R1, -R5, 1
    FADD.FTZ R2, -R6, 1
    MOV32I R3, 0x3f800000
    EXIT
)";
    const Texture& x = texture({});
    const Texture& after = texture({});
    targets({{&x}});
    clear({1, 0, 0, 1});
    sample(x);
    use({quad, inverted});
    strip();
    nvnCommandBufferBarrier(c(), NVN_BARRIER_ORDER_FRAGMENTS_BIT | NVN_BARRIER_INVALIDATE_TEXTURE_BIT);
    const std::size_t first = copy_out(x);
    targets({{&after}});
    sample(x);
    use({quad, texel_here});
    strip();
    const auto t = texels<u32>(after);
    EXPECT_EQ(load<u32>(first + 36), 0xffffff00u);
    EXPECT_EQ(t, std::vector<u32>(64, 0xffffff00));
}

TEST_F(Passes, StencilIsSampledAsBits) { // REN-124, REN-126: through a view, and through a texture that says so itself
    const Texture& d = texture({.format = NVN_FORMAT_DEPTH24_STENCIL8});
    const Texture& out = texture({.format = NVN_FORMAT_R32UI});
    targets({}, {&d});
    nvnCommandBufferClearDepthStencil(c(), 0.7f, NVN_TRUE, 0x40, 0xff);
    nvnCommandBufferSetScissor(c(), 4, 0, 4, 8);
    nvnCommandBufferClearDepthStencil(c(), 0.7f, NVN_FALSE, 0x15, 0xff);
    NVNtextureView v;
    nvnTextureViewSetDefaults(&v);
    nvnTextureViewSetDepthStencilMode(&v, NVN_TEXTURE_DEPTH_STENCIL_MODE_STENCIL);
    Texture by_view = d;
    by_view.id = s().next_id++;
    nvnTexturePoolRegisterTexture(&s().textures, by_view.id, &d.object, &v);
    NVNtextureBuilder b;
    nvnTextureBuilderSetDevice(&b, &s().device);
    nvnTextureBuilderSetDefaults(&b);
    nvnTextureBuilderSetTarget(&b, NVN_TEXTURE_TARGET_2D);
    nvnTextureBuilderSetFormat(&b, NVN_FORMAT_DEPTH24_STENCIL8);
    nvnTextureBuilderSetSize2D(&b, 8, 8);
    nvnTextureBuilderSetDepthStencilMode(&b, NVN_TEXTURE_DEPTH_STENCIL_MODE_STENCIL);
    nvnTextureBuilderSetStorage(&b, &s().pool, nvnTextureGetMemoryOffset(&d.object));
    Texture& second = s().objects.emplace_back();
    ASSERT_TRUE(nvnTextureInitialize(&second.object, &b));
    second.id = s().next_id++;
    nvnTexturePoolRegisterTexture(&s().textures, second.id, &second.object, nullptr);
    for (const Texture* seen : {&std::as_const(by_view), &std::as_const(second)}) {
        targets({{&out}});
        const u32 before[] = {99, 0, 0, 0};
        nvnCommandBufferClearColorui(c(), 0, before, 15);
        sample(*seen);
        use({quad, texel_here});
        strip();
        const auto t = texels<u32>(out);
        EXPECT_EQ(t[0], 0x40u);
        EXPECT_EQ(t[7], 0x15u);
    }
}

} // namespace
} // namespace heaviside::pixels
