// Clears through the API, read back texel by texel.
#include "pixels.h"

#include <algorithm>
#include <bit>
#include <functional>

namespace heaviside::pixels {
namespace {

class Clears : public Pixels {};

using Bytes16 = std::array<u8, 16>;

template <class T>
Bytes16 bytes(std::initializer_list<T> values) {
    Bytes16 out{};
    std::memcpy(out.data(), values.begin(), values.size() * sizeof(T));
    return out;
}

struct FormatCase {
    NVNformat format;
    int size; // bytes a texel
    std::array<u32, 4> value;
    char kind; // f, i, u
    Bytes16 expected;
};
constexpr u32 fw(float v) {
    return std::bit_cast<u32>(v);
}

// One of every layout, values worked out by hand.
const std::vector<FormatCase>& format_cases() {
    static const std::array<u32, 4> f{fw(1), fw(0.5f), fw(0.25f), fw(0.2f)};
    static const std::array<u32, 4> sn{fw(1), fw(-1), fw(0.5f), fw(-0.25f)};
    static const std::vector<FormatCase> cases{
        {NVN_FORMAT_R8, 1, f, 'f', bytes<u8>({255})},
        {NVN_FORMAT_RG8, 2, f, 'f', bytes<u8>({255, 128})},
        {NVN_FORMAT_RGBA8, 4, f, 'f', bytes<u8>({255, 128, 64, 51})},
        {NVN_FORMAT_BGRA8, 4, f, 'f', bytes<u8>({64, 128, 255, 51})},
        {NVN_FORMAT_RGBA8_SRGB, 4, f, 'f', bytes<u8>({255, 188, 137, 51})},
        {NVN_FORMAT_BGRA8_SRGB, 4, f, 'f', bytes<u8>({137, 188, 255, 51})},
        {NVN_FORMAT_RGBA8SN, 4, sn, 'f', bytes<i8>({127, -127, 64, -32})},
        {NVN_FORMAT_RG8SN, 2, sn, 'f', bytes<i8>({127, -127})},
        {NVN_FORMAT_RGBA16, 8, f, 'f', bytes<u16>({65535, 32768, 16384, 13107})},
        {NVN_FORMAT_RG16SN, 4, sn, 'f', bytes<i16>({32767, -32767})},
        {NVN_FORMAT_R16F, 2, f, 'f', bytes<u16>({0x3c00})},
        {NVN_FORMAT_RGBA16F, 8, sn, 'f', bytes<u16>({0x3c00, 0xbc00, 0x3800, 0xb400})},
        {NVN_FORMAT_RGBA32F, 16, {fw(1e20f), fw(-3), fw(0.1f), fw(7)}, 'f', bytes<float>({1e20f, -3, 0.1f, 7})},
        {NVN_FORMAT_RGB10A2, 4, f, 'f', bytes<u32>({1023u | 512u << 10 | 256u << 20 | 1u << 30})},
        {NVN_FORMAT_R11G11B10F, 4, f, 'f', bytes<u32>({0x3c0u | 0x380u << 11 | 0x1a0u << 22})},
        {NVN_FORMAT_RGB565, 2, f, 'f', bytes<u16>({31 | 32 << 5 | 8 << 11})},
        {NVN_FORMAT_BGR565, 2, f, 'f', bytes<u16>({31 << 11 | 32 << 5 | 8})},
        {NVN_FORMAT_RGBA4, 2, f, 'f', bytes<u16>({15 | 8 << 4 | 4 << 8 | 3 << 12})},
        {NVN_FORMAT_RGB5A1,
         2,
         {fw(1), fw(0.5f), fw(0.25f), fw(1)},
         'f',
         bytes<u16>({31 | 16 << 5 | 8 << 10 | 1 << 15})},
        {NVN_FORMAT_R8UI, 1, {200, 0, 0, 0}, 'u', bytes<u8>({200})},
        {NVN_FORMAT_RGBA8UI, 4, {1, 2, 254, 255}, 'u', bytes<u8>({1, 2, 254, 255})},
        {NVN_FORMAT_RGBA8I, 4, {1, ~1u, 127, ~0u - 127}, 'i', bytes<i8>({1, -2, 127, -128})},
        {NVN_FORMAT_RG16UI, 4, {65535, 258, 0, 0}, 'u', bytes<u16>({65535, 258})},
        {NVN_FORMAT_RGBA16I, 8, {~4u, 5, 32767, 3}, 'i', bytes<i16>({-5, 5, 32767, 3})},
        {NVN_FORMAT_R32UI, 4, {0x01000001, 0, 0, 0}, 'u', bytes<u32>({0x01000001})},
        {NVN_FORMAT_RG32I, 8, {~0u, 0x01000001, 0, 0}, 'i', bytes<u32>({~0u, 0x01000001})},
        {NVN_FORMAT_RGBA32UI, 16, {~0u, 16777217, 1, 0}, 'u', bytes<u32>({~0u, 16777217, 1, 0})},
        {NVN_FORMAT_RGBA32I, 16, {~4u, 16777217, 1, 0}, 'i', bytes<u32>({~4u, 16777217, 1, 0})},
        {NVN_FORMAT_RGB10A2UI, 4, {1023, 1, 512, 2}, 'u', bytes<u32>({1023u | 1u << 10 | 512u << 20 | 2u << 30})},
    };
    return cases;
}

bool is_srgb(NVNformat f) { // what is drawn may be off by one
    return f == NVN_FORMAT_RGBA8_SRGB || f == NVN_FORMAT_BGRA8_SRGB;
}

void clear_color(NVNcommandBuffer* c, const FormatCase& f, int target, const std::array<u32, 4>& v, int mask) {
    if (f.kind == 'f')
        nvnCommandBufferClearColor(c, target, reinterpret_cast<const float*>(v.data()), mask);
    else if (f.kind == 'i')
        nvnCommandBufferClearColori(c, target, reinterpret_cast<const int*>(v.data()), mask);
    else
        nvnCommandBufferClearColorui(c, target, v.data(), mask);
}

TEST_F(Clears, EveryFormatHoldsItsValue) { // REN-088, REN-096: whole, then a scissored part, then through a draw
    for (const FormatCase& f : format_cases()) {
        const Texture& x = texture({.format = f.format});
        targets({{&x}});
        clear_color(c(), f, 0, {}, 15);
        nvnCommandBufferSetScissor(c(), 2, 1, 3, 6);
        clear_color(c(), f, 0, f.value, 15);
        nvnCommandBufferSetScissor(c(), 6, 0, 2, 8);
        for (const int mask : {1, 2, 4, 8}) // one channel at a time
            clear_color(c(), f, 0, f.value, mask);
        const std::size_t at = copy_out(x);
        run();
        for (int y = 0; y < 8; ++y)
            for (int i = 0; i < 8; ++i) {
                const bool inside = (i >= 2 && i < 5 && y >= 1 && y < 7) || i >= 6;
                for (int b = 0; b < f.size; ++b)
                    ASSERT_NEAR(load<u8>(at + static_cast<std::size_t>((y * 8 + i) * f.size + b)),
                                inside ? f.expected[static_cast<std::size_t>(b)] : 0,
                                i >= 6 && is_srgb(f.format) ? 1 : 0)
                        << "format " << f.format << " byte " << b << " of " << i << "," << y;
            }
    }
}

TEST_F(Clears, TexturesOfEveryFormat) { // REN-089: whatever the scissor says
    for (const FormatCase& f : format_cases()) {
        const Texture& x =
            texture({.format = f.format, .depth = 3, .levels = 2, .target = NVN_TEXTURE_TARGET_2D_ARRAY});
        nvnCommandBufferSetScissor(c(), 0, 0, 1, 1);
        const NVNtextureView v = view({1, 1, 2});
        const NVNcopyRegion region{1, 0, 1, 2, 3, 1};
        const auto one = [&](const std::array<u32, 4>& value, int mask) {
            if (f.kind == 'f')
                nvnCommandBufferClearTexture(c(), &x.object, &v, &region, reinterpret_cast<const float*>(value.data()),
                                             mask);
            else if (f.kind == 'i')
                nvnCommandBufferClearTexturei(c(), &x.object, &v, &region, reinterpret_cast<const int*>(value.data()),
                                              mask);
            else
                nvnCommandBufferClearTextureui(c(), &x.object, &v, &region, value.data(), mask);
        };
        one(f.value, 0); // nothing
        one(f.value, 15);
        one({}, 15);
        one(f.value, 5);
        one(f.value, 10);
        const std::size_t at = copy_out(x, {1, 2}), other = copy_out(x, {1, 1}), level = copy_out(x, {0, 2});
        run();
        for (int y = 0; y < 4; ++y)
            for (int i = 0; i < 4; ++i) {
                const bool inside = i >= 1 && i < 3 && y < 3;
                for (int b = 0; b < f.size; ++b) {
                    const std::size_t texel = static_cast<std::size_t>((y * 4 + i) * f.size + b);
                    ASSERT_NEAR(load<u8>(at + texel), inside ? f.expected[static_cast<std::size_t>(b)] : 0,
                                is_srgb(f.format) ? 1 : 0)
                        << "format " << f.format << " byte " << b << " of " << i << "," << y;
                    ASSERT_EQ(load<u8>(other + texel), 0);
                    ASSERT_EQ(load<u8>(level + texel), 0);
                }
            }
    }
}

TEST_F(Clears, EveryChannelMask) {
    const Texture& x = texture({});
    const Texture& n = texture({.format = NVN_FORMAT_RGBA32UI});
    for (int mask = 0; mask < 16; ++mask) {
        targets({{&x}, {&n}});
        clear({0.2f, 0.2f, 0.2f, 0.2f});
        const u32 before[] = {7, 7, 7, 7}, value[] = {1u << 30, 2u << 30, 3u << 30, ~0u};
        nvnCommandBufferClearColorui(c(), 1, before, 15);
        clear({1, 1, 1, 1}, 0, mask);
        nvnCommandBufferClearColorui(c(), 1, value, mask);
        const std::size_t a = copy_out(x), b = copy_out(n);
        run();
        for (std::size_t i = 0; i < 4; ++i) {
            EXPECT_EQ(load<u8>(a + i), mask >> i & 1 ? 255 : 51) << mask;
            EXPECT_EQ(load<u32>(b + 4 * i), mask >> i & 1 ? value[i] : 7) << mask;
        }
    }
}

TEST_F(Clears, ScissorsMayLieOutside) { // GFX-171, REN-090
    const Texture& x = texture({});
    const struct {
        int x, y, w, h;
        int x0, y0, x1, y1;
    } cases[] = {{0, 0, 0x7fffffff, 0x7fffffff, 0, 0, 8, 8},
                 {4, 2, 100, 100, 4, 2, 8, 8},
                 {8, 0, 4, 4, 0, 0, 0, 0},
                 {100, 100, 4, 4, 0, 0, 0, 0},
                 {2, 2, 0, 5, 0, 0, 0, 0},
                 {7, 7, 1, 1, 7, 7, 8, 8}};
    for (const auto& k : cases) {
        targets({{&x}});
        clear({0, 0, 0, 0});
        nvnCommandBufferSetScissor(c(), k.x, k.y, k.w, k.h);
        clear({1, 1, 1, 1});
        const auto t = texels<u32>(x);
        for (int i = 0; i < 64; ++i)
            ASSERT_EQ(t[static_cast<std::size_t>(i)],
                      i % 8 >= k.x0 && i % 8 < k.x1 && i / 8 >= k.y0 && i / 8 < k.y1 ? ~0u : 0u)
                << k.x << "," << k.y << " at " << i;
    }
}

TEST_F(Clears, LevelsLayersFacesAndPlanes) { // GFX-175: what the view names, no more
    const struct {
        NVNtextureTarget target;
        int depth, layers;
    } kinds[] = {{NVN_TEXTURE_TARGET_2D_ARRAY, 4, 4},
                 {NVN_TEXTURE_TARGET_CUBEMAP, 1, 6},
                 {NVN_TEXTURE_TARGET_CUBEMAP_ARRAY, 12, 12},
                 {NVN_TEXTURE_TARGET_3D, 4, 4}};
    for (const auto& k : kinds)
        for (const int level : {0, 1}) {
            const bool volume = k.target == NVN_TEXTURE_TARGET_3D;
            const Texture& x = texture({.depth = k.depth, .levels = 2, .target = k.target});
            const int planes = volume ? k.layers >> level : k.layers;
            for (const int count : {1, 2}) {
                targets({{&x, {level, planes - 2, count}}});
                clear({1, 0, 0, count == 1 ? 0.0f : 1.0f});
                std::vector<std::size_t> at;
                for (int i = 0; i < planes; ++i)
                    at.push_back(copy_out(x, {level, volume ? 0 : i}, volume ? i : 0));
                run();
                for (int i = 0; i < planes; ++i) {
                    const bool hit = i >= planes - 2 && i < planes - 2 + count;
                    const u32 last = load<u32>(at[static_cast<std::size_t>(i)] + 4 * (level ? 15 : 63));
                    EXPECT_EQ(last, hit ? (count == 1 ? 0xffu : 0xff0000ffu) : 0u)
                        << "target " << k.target << " level " << level << " layer " << i << " of " << count;
                }
            }
        }
}

struct DepthCase {
    NVNformat format;
    bool depth, stencil;
    int size;
};
constexpr DepthCase depth_cases[] = {
    {NVN_FORMAT_DEPTH16, true, false, 2},          {NVN_FORMAT_DEPTH24, true, false, 4},
    {NVN_FORMAT_DEPTH32F, true, false, 4},         {NVN_FORMAT_DEPTH24_STENCIL8, true, true, 4},
    {NVN_FORMAT_DEPTH32F_STENCIL8, true, true, 8}, {NVN_FORMAT_STENCIL8, false, true, 1}};

struct DepthTexel {
    double depth;
    u32 stencil;
};
// NVN's words: unorm24 in the low bits, or depth << 8 | stencil (GFX-161); 32F_S8 is a float and a word.
DepthTexel decode(const DepthCase& k, const std::byte* p) {
    u32 w[2]{};
    std::memcpy(w, p, static_cast<std::size_t>(k.size));
    switch (k.format) {
    case NVN_FORMAT_DEPTH16:
        return {w[0] / 65535.0, 0};
    case NVN_FORMAT_DEPTH24:
        return {(w[0] & 0xffffff) / 16777215.0, 0};
    case NVN_FORMAT_DEPTH24_STENCIL8:
        return {(w[0] >> 8) / 16777215.0, w[0] & 255};
    case NVN_FORMAT_STENCIL8:
        return {0, w[0] & 255};
    default:
        return {std::bit_cast<float>(w[0]), w[1] & 255};
    }
}

TEST_F(Clears, DepthAndStencilThroughScissorAndMask) { // REN-093: both parts, every format, one and four samples
    for (const DepthCase& k : depth_cases) {
        const Texture& x = texture({.format = k.format,
                                    .width = 16,
                                    .height = 16,
                                    .depth = 2,
                                    .levels = 2,
                                    .target = NVN_TEXTURE_TARGET_2D_ARRAY});
        targets({}, {&x, {1, 1}});
        nvnCommandBufferClearDepthStencil(c(), 0.25f, NVN_TRUE, 0xaa, 0xff);
        nvnCommandBufferSetScissor(c(), 4, 0, 4, 8);
        nvnCommandBufferClearDepthStencil(c(), 0.75f, NVN_TRUE, 0xff, 0x0f);
        nvnCommandBufferSetScissor(c(), 0, 4, 8, 4);
        nvnCommandBufferClearDepthStencil(c(), 1, NVN_FALSE, 0x11, -1);
        nvnCommandBufferSetScissor(c(), 0, 0, 1, 1);
        nvnCommandBufferClearDepthStencil(c(), 1, NVN_TRUE, 0x11, 0);
        const std::size_t at = copy_out(x, {1, 1}), other = copy_out(x, {0, 1});
        run();
        for (int i = 0; i < 64; ++i) {
            const int px = i % 8, py = i / 8;
            const DepthTexel t = decode(k, s().storage + at + i * k.size);
            if (k.depth) {
                EXPECT_NEAR(t.depth, i == 0 ? 1 : px >= 4 ? 0.75 : 0.25, 1 / 65535.0) << k.format << " at " << i;
            }
            if (k.stencil) {
                EXPECT_EQ(t.stencil, py >= 4 ? 0x11u : px >= 4 ? 0xafu : 0xaau) << k.format << " at " << i;
            }
            EXPECT_EQ(load<u8>(other + static_cast<std::size_t>(i * k.size)), 0);
        }
    }
}

TEST_F(Clears, ThroughClearTexture) { // REN-089 of depth: the mask's first channel is depth, the second stencil
    for (const DepthCase& k : depth_cases) {
        const Texture& x = texture({.format = k.format});
        const NVNtextureView v = view({});
        const NVNcopyRegion whole{0, 0, 0, 8, 8, 1}, part{0, 0, 0, 4, 8, 1};
        const float a[] = {0.5f, 3, 0, 0};
        nvnCommandBufferClearTexture(c(), &x.object, &v, &whole, a, 15);
        const float b[] = {1, 9, 0, 0};
        nvnCommandBufferClearTexture(c(), &x.object, &v, &part, b, 1);
        const std::size_t at = copy_out(x);
        run();
        const DepthTexel in = decode(k, s().storage + at), out = decode(k, s().storage + at + 7 * k.size);
        if (k.depth) {
            EXPECT_NEAR(in.depth, 1, 1e-4) << k.format;
            EXPECT_NEAR(out.depth, 0.5, 1e-4) << k.format;
        }
        if (k.stencil) {
            EXPECT_EQ(out.stencil, 3u) << k.format;
        }
    }
}

TEST_F(Clears, PlanesOfAVolume) { // REN-089
    const Texture& x = texture({.depth = 4, .target = NVN_TEXTURE_TARGET_3D});
    const NVNcopyRegion region{2, 0, 1, 4, 8, 2};
    const float value[] = {1, 0, 0, 1};
    nvnCommandBufferClearTexture(c(), &x.object, nullptr, &region, value, NVN_CLEAR_COLOR_MASK_RGBA);
    for (int z = 0; z < 4; ++z) {
        const auto t = texels<u32>(x, {}, z);
        EXPECT_EQ(t[2], z == 1 || z == 2 ? 0xff0000ffu : 0u) << z;
        EXPECT_EQ(t[1], 0u);
        EXPECT_EQ(t[6], 0u);
    }
}

TEST_F(Clears, TargetsLargerThanThePass) { // REN-086
    const Texture& small = texture({});
    const Texture& depth = texture({.format = NVN_FORMAT_DEPTH32F, .width = 40, .height = 24});
    const Texture& large = texture({.width = 32, .height = 32});
    targets({{&small}, {&large}}, {&depth});
    nvnCommandBufferSetScissor(c(), 0, 0, 0x7fffffff, 0x7fffffff);
    nvnCommandBufferClearDepthStencil(c(), 0.2f, NVN_TRUE, 0, 0xff);
    clear({0, 1, 0, 1}, 1);
    clear({1, 0, 0, 1}, 0);
    default_state();
    fill({0, 0, 1, 1});
    nvnCommandBufferClearDepthStencil(c(), 1, NVN_TRUE, 0, 0xff);
    const auto d = texels<float>(depth);
    const auto l = texels<u32>(large), t = texels<u32>(small);
    EXPECT_EQ(d.front(), 1.0f);
    EXPECT_EQ(d.back(), 1.0f);
    EXPECT_EQ(l.back(), 0xff00ff00u);
    EXPECT_EQ(l.front(), 0xff00ff00u); // the program has no second output
    EXPECT_EQ(t.back(), 0xffff0000u);
}

TEST_F(Clears, BetweenDrawsInOrder) { // REN-092: red, then two channels in a scissor, then blue elsewhere
    const Texture& x = texture({});
    targets({{&x}});
    default_state();
    fill({1, 0, 0, 1});
    nvnCommandBufferSetScissor(c(), 0, 0, 8, 4);
    clear({0.2f, 0.2f, 1, 0}, 0, 3);
    const std::size_t middle = copy_out(x);
    nvnCommandBufferSetScissor(c(), 0, 0, 8, 8);
    fill({0, 0, 1, 1}, {0, -1, 1, 1});
    clear({1, 1, 1, 0}, 0, 8);
    const auto t = texels<u32>(x);
    EXPECT_EQ(load<u32>(middle), 0xff003333u);
    EXPECT_EQ(load<u32>(middle + 4 * 63), 0xff0000ffu);
    EXPECT_EQ(t[0], 0x00003333u);
    EXPECT_EQ(t[7], 0x00ff0000u);
    EXPECT_EQ(t[56], 0x000000ffu);
}

TEST_F(Clears, MultisampledTargets) { // all samples, a part, some channels
    for (const int samples : {2, 4}) {
        const Texture& x = texture({.target = NVN_TEXTURE_TARGET_2D_MULTISAMPLE, .samples = samples});
        const Texture& out = texture({});
        targets({{&x}});
        clear({0.2f, 0.2f, 0.2f, 0.2f});
        nvnCommandBufferSetScissor(c(), 4, 0, 4, 8);
        clear({1, 1, 1, 1});
        nvnCommandBufferSetScissor(c(), 0, 4, 8, 4);
        clear({0, 0, 0, 0}, 0, 1);
        nvnCommandBufferDownsample(c(), &x.object, &out.object);
        const auto t = texels<u32>(out);
        EXPECT_EQ(t[0], 0x33333333u) << samples;
        EXPECT_EQ(t[7], ~0u) << samples;
        EXPECT_EQ(t[56], 0x33333300u) << samples;
        EXPECT_EQ(t[63], 0xffffff00u) << samples;
    }
}

TEST_F(Clears, BuffersInWords) {
    const std::size_t at = take(64);
    nvnCommandBufferClearBuffer(c(), address(at), 64, 0x01020304);
    nvnCommandBufferClearBuffer(c(), address(at + 4), 8, 5);
    run();
    EXPECT_EQ(load<u32>(at), 0x01020304u);
    EXPECT_EQ(load<u32>(at + 4), 5u);
    EXPECT_EQ(load<u32>(at + 8), 5u);
    EXPECT_EQ(load<u32>(at + 12), 0x01020304u);
    EXPECT_EQ(load<u32>(at + 60), 0x01020304u);
}

TEST_F(Clears, NewDepthStartsAtZero) { // REN-006: a poisoned memory's, one and four samples
    const Texture& color = texture({});
    const Texture& ms = texture({.target = NVN_TEXTURE_TARGET_2D_MULTISAMPLE, .samples = 4});
    const Texture& ms_depth =
        texture({.format = NVN_FORMAT_DEPTH32F_STENCIL8, .target = NVN_TEXTURE_TARGET_2D_MULTISAMPLE, .samples = 4});
    NVNdepthStencilState d;
    nvnDepthStencilStateSetDefaults(&d);
    nvnDepthStencilStateSetDepthTestEnable(&d, NVN_TRUE);
    nvnDepthStencilStateSetDepthFunc(&d, NVN_DEPTH_FUNC_GEQUAL);
    nvnDepthStencilStateSetStencilTestEnable(&d, NVN_TRUE);
    nvnDepthStencilStateSetStencilFunc(&d, NVN_FACE_FRONT_AND_BACK, NVN_STENCIL_FUNC_EQUAL);
    targets({{&ms}}, {&ms_depth});
    default_state();
    clear({0, 0, 0, 0});
    nvnCommandBufferBindDepthStencilState(c(), &d);
    fill({1, 1, 1, 1}, {-1, -1, 1, 1, 0.3f});
    nvnCommandBufferDownsample(c(), &ms.object, &color.object);
    EXPECT_EQ(texels<u32>(color)[9], ~0u);
}

} // namespace
} // namespace heaviside::pixels
