// Blending, logic operations, masks and the tests on alpha, through the API.
#include "pixels.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace heaviside::pixels {
namespace {

class Blending : public Pixels {
protected:
    void SetUp() override {
        Pixels::SetUp();
        if (s().running)
            default_state();
    }
    static void enable(int mask) {
        NVNcolorState color;
        nvnColorStateSetDefaults(&color);
        for (int i = 0; i < 8; ++i)
            nvnColorStateSetBlendEnable(&color, i, mask >> i & 1);
        nvnCommandBufferBindColorState(c(), &color);
    }
    static void function(int target, NVNblendFunc s, NVNblendFunc d, NVNblendFunc sa, NVNblendFunc da,
                         NVNblendEquation e = NVN_BLEND_EQUATION_ADD, NVNblendEquation ea = NVN_BLEND_EQUATION_ADD) {
        NVNblendState b;
        nvnBlendStateSetDefaults(&b);
        nvnBlendStateSetBlendTarget(&b, target);
        nvnBlendStateSetBlendFunc(&b, s, d, sa, da);
        nvnBlendStateSetBlendEquation(&b, e, ea);
        nvnCommandBufferBindBlendState(c(), &b);
    }
    static Float4 floats(const Texture& x) { return texels<Float4>(x)[9]; }
};

constexpr Float4 src{0.8f, 0.4f, 0.1f, 0.6f}, dst{0.3f, 0.5f, 0.9f, 0.25f}, constant{0.2f, 0.7f, 0.35f, 0.15f},
    second{0.55f, 0.15f, 0.45f, 0.65f};

float factor(NVNblendFunc f, std::size_t i) {
    switch (f) {
    case NVN_BLEND_FUNC_ZERO:
        return 0;
    case NVN_BLEND_FUNC_ONE:
        return 1;
    case NVN_BLEND_FUNC_SRC_COLOR:
        return src[i];
    case NVN_BLEND_FUNC_ONE_MINUS_SRC_COLOR:
        return 1 - src[i];
    case NVN_BLEND_FUNC_SRC_ALPHA:
        return src[3];
    case NVN_BLEND_FUNC_ONE_MINUS_SRC_ALPHA:
        return 1 - src[3];
    case NVN_BLEND_FUNC_DST_ALPHA:
        return dst[3];
    case NVN_BLEND_FUNC_ONE_MINUS_DST_ALPHA:
        return 1 - dst[3];
    case NVN_BLEND_FUNC_DST_COLOR:
        return dst[i];
    case NVN_BLEND_FUNC_ONE_MINUS_DST_COLOR:
        return 1 - dst[i];
    case NVN_BLEND_FUNC_SRC_ALPHA_SATURATE:
        return i == 3 ? 1 : std::min(src[3], 1 - dst[3]);
    case NVN_BLEND_FUNC_SRC1_COLOR:
        return second[i];
    case NVN_BLEND_FUNC_ONE_MINUS_SRC1_COLOR:
        return 1 - second[i];
    case NVN_BLEND_FUNC_SRC1_ALPHA:
        return second[3];
    case NVN_BLEND_FUNC_ONE_MINUS_SRC1_ALPHA:
        return 1 - second[3];
    case NVN_BLEND_FUNC_CONSTANT_COLOR:
        return constant[i];
    case NVN_BLEND_FUNC_ONE_MINUS_CONSTANT_COLOR:
        return 1 - constant[i];
    case NVN_BLEND_FUNC_CONSTANT_ALPHA:
        return constant[3];
    default:
        return 1 - constant[3];
    }
}

float combine(NVNblendEquation e, float s, float d, float sf, float df) {
    switch (e) {
    case NVN_BLEND_EQUATION_ADD:
        return s * sf + d * df;
    case NVN_BLEND_EQUATION_SUB:
        return s * sf - d * df;
    case NVN_BLEND_EQUATION_REVERSE_SUB:
        return d * df - s * sf;
    case NVN_BLEND_EQUATION_MIN:
        return std::min(s, d);
    default:
        return std::max(s, d);
    }
}

constexpr NVNblendFunc functions[] = {NVN_BLEND_FUNC_ZERO,
                                      NVN_BLEND_FUNC_ONE,
                                      NVN_BLEND_FUNC_SRC_COLOR,
                                      NVN_BLEND_FUNC_ONE_MINUS_SRC_COLOR,
                                      NVN_BLEND_FUNC_SRC_ALPHA,
                                      NVN_BLEND_FUNC_ONE_MINUS_SRC_ALPHA,
                                      NVN_BLEND_FUNC_DST_ALPHA,
                                      NVN_BLEND_FUNC_ONE_MINUS_DST_ALPHA,
                                      NVN_BLEND_FUNC_DST_COLOR,
                                      NVN_BLEND_FUNC_ONE_MINUS_DST_COLOR,
                                      NVN_BLEND_FUNC_SRC_ALPHA_SATURATE,
                                      NVN_BLEND_FUNC_CONSTANT_COLOR,
                                      NVN_BLEND_FUNC_ONE_MINUS_CONSTANT_COLOR,
                                      NVN_BLEND_FUNC_CONSTANT_ALPHA,
                                      NVN_BLEND_FUNC_ONE_MINUS_CONSTANT_ALPHA,
                                      NVN_BLEND_FUNC_SRC1_COLOR,
                                      NVN_BLEND_FUNC_ONE_MINUS_SRC1_COLOR,
                                      NVN_BLEND_FUNC_SRC1_ALPHA,
                                      NVN_BLEND_FUNC_ONE_MINUS_SRC1_ALPHA};
constexpr std::size_t single = 15; // functions of one source
constexpr NVNblendEquation equations[] = {NVN_BLEND_EQUATION_ADD, NVN_BLEND_EQUATION_SUB,
                                          NVN_BLEND_EQUATION_REVERSE_SUB, NVN_BLEND_EQUATION_MIN,
                                          NVN_BLEND_EQUATION_MAX};

TEST_F(Blending, EveryFunctionAndEquation) { // colour and alpha apart; the second source too (REN-215)
    std::vector<const Texture*> pictures;
    const Texture& x = texture({.format = NVN_FORMAT_RGBA32F});
    const Texture& other = texture({});
    nvnCommandBufferSetBlendColor(c(), constant.data());
    std::vector<std::size_t> at;
    const auto each = [&](auto&& visit) {
        for (std::size_t i = 0; i < std::size(functions); ++i)
            for (std::size_t e = 0; e < std::size(equations); ++e) {
                const bool dual = i >= single;
                const std::size_t n = dual ? single + (i - single + 1) % 4 : (i * 7 + 3) % single;
                visit(functions[i], functions[n], functions[(i * 4 + 2) % single], functions[i], equations[e],
                      equations[(e + i) % std::size(equations)], dual);
            }
    };
    each([&](NVNblendFunc sf, NVNblendFunc df, NVNblendFunc sa, NVNblendFunc da, NVNblendEquation e,
             NVNblendEquation ea, bool dual) {
        if (dual)
            targets({{&x}, {&other}});
        else
            targets({{&x}});
        clear(dst);
        if (dual)
            clear({0, 0, 1, 0}, 1);
        enable(1);
        function(0, sf, df, sa, da, e, ea);
        if (dual) {
            use({quad, flat_two});
            uniform<float>(NVN_SHADER_STAGE_FRAGMENT,
                           {src[0], src[1], src[2], src[3], second[0], second[1], second[2], second[3]});
            strip();
        } else {
            fill(src);
        }
        at.push_back(copy_out(x));
        if (at.size() % 16 == 0)
            run();
    });
    const auto untouched = texels<u32>(other);
    EXPECT_EQ(untouched[9], 0x00ff0000u);
    std::size_t n = 0;
    each([&](NVNblendFunc sf, NVNblendFunc df, NVNblendFunc sa, NVNblendFunc da, NVNblendEquation e,
             NVNblendEquation ea, bool) {
        const auto got = load<Float4>(at[n++] + 16 * 9);
        for (std::size_t i = 0; i < 4; ++i) {
            const float want = i == 3 ? combine(ea, src[3], dst[3], factor(sa, 3), factor(da, 3))
                                      : combine(e, src[i], dst[i], factor(sf, i), factor(df, i));
            ASSERT_NEAR(got[i], want, 1e-5f) << "functions " << sf << " " << df << " " << sa << " " << da
                                             << " equations " << e << " " << ea << " channel " << i;
        }
    });
}

TEST_F(Blending,
       ASecondSourceThatIsNotWrittenIsZero) { // REN-214; and without such functions both are targets (REN-215)
    const Texture& x = texture({.format = NVN_FORMAT_RGBA32F});
    const Texture& y = texture({.format = NVN_FORMAT_RGBA32F});
    targets({{&x}});
    clear(dst);
    enable(1);
    function(0, NVN_BLEND_FUNC_SRC1_COLOR, NVN_BLEND_FUNC_ONE_MINUS_SRC1_ALPHA, NVN_BLEND_FUNC_SRC1_ALPHA,
             NVN_BLEND_FUNC_ONE_MINUS_SRC1_COLOR);
    fill(src);
    EXPECT_EQ(floats(x), dst);
    targets({{&x}, {&y}});
    function(0, NVN_BLEND_FUNC_ONE, NVN_BLEND_FUNC_ZERO, NVN_BLEND_FUNC_ONE, NVN_BLEND_FUNC_ZERO);
    use({quad, flat_two});
    uniform<float>(NVN_SHADER_STAGE_FRAGMENT,
                   {src[0], src[1], src[2], src[3], second[0], second[1], second[2], second[3]});
    strip();
    EXPECT_EQ(floats(x), src);
    EXPECT_EQ(floats(y), second);
}

TEST_F(Blending, EachTargetHasItsOwn) { // enables, functions, masks; a float, a normalised, an integer one
    static constexpr std::string_view three = R"(
.stage fragment
.multiple_targets
.target 0 rgba
.target 1 rgba
.target 2 rgba
.entry main
main:
    MOV R0, c[0x3][0x0]
    MOV R1, c[0x3][0x4]
    MOV R2, c[0x3][0x8]
    MOV R3, c[0x3][0xc]
    MOV R4, R0
    MOV R5, R1
    MOV R6, R2
    MOV R7, R3
    MOV32I R8, 0x11
    MOV32I R9, 0x12345678
    MOV32I R10, 0xfffffffe
    MOV R11, RZ
    EXIT
)";
    const Texture& a = texture({.format = NVN_FORMAT_RGBA32F});
    const Texture& b = texture({});
    const Texture& n = texture({.format = NVN_FORMAT_RGBA32I});
    targets({{&a}, {&b}, {&n}});
    clear(dst, 0);
    clear({1, 1, 1, 1}, 1);
    const int before[] = {1, 2, 3, 4};
    nvnCommandBufferClearColori(c(), 2, before, 15);
    enable(0b101); // blending does nothing to integers
    function(0, NVN_BLEND_FUNC_ONE, NVN_BLEND_FUNC_ONE, NVN_BLEND_FUNC_ONE, NVN_BLEND_FUNC_ONE);
    function(1, NVN_BLEND_FUNC_ZERO, NVN_BLEND_FUNC_ONE, NVN_BLEND_FUNC_ZERO, NVN_BLEND_FUNC_ONE);
    function(2, NVN_BLEND_FUNC_ONE, NVN_BLEND_FUNC_ONE, NVN_BLEND_FUNC_ONE, NVN_BLEND_FUNC_ONE);
    NVNchannelMaskState mask;
    nvnChannelMaskStateSetDefaults(&mask);
    nvnChannelMaskStateSetChannelMask(&mask, 0, 1, 0, 1, 0);
    nvnChannelMaskStateSetChannelMask(&mask, 1, 0, 1, 0, 1);
    nvnChannelMaskStateSetChannelMask(&mask, 2, 1, 1, 0, 0);
    nvnCommandBufferBindChannelMaskState(c(), &mask);
    use({quad, three});
    uniform<float>(NVN_SHADER_STAGE_FRAGMENT, {0.2f, 0.4f, 0.6f, 0.8f});
    strip();
    const auto ta = floats(a);
    EXPECT_NEAR(ta[0], dst[0] + 0.2f, 1e-6f);
    EXPECT_EQ(ta[1], dst[1]);
    EXPECT_NEAR(ta[2], dst[2] + 0.6f, 1e-6f);
    EXPECT_EQ(ta[3], dst[3]);
    EXPECT_EQ(texels<u32>(b)[9], 0xccff66ffu);
    EXPECT_EQ((texels<std::array<u32, 4>>(n)[9]), (std::array<u32, 4>{0x11, 0x12345678, 3, 4}));
}

TEST_F(Blending, FormatsClampAndEncode) { // unorm saturates; half floats overflow (OBJ-101); sRGB blends linear light
    const Texture& x = texture({});
    const Texture& srgb = texture({.format = NVN_FORMAT_RGBA8_SRGB});
    const Texture& half = texture({.format = NVN_FORMAT_RGBA16F});
    const Texture& sn = texture({.format = NVN_FORMAT_RGBA8SN});
    enable(1);
    function(0, NVN_BLEND_FUNC_ONE, NVN_BLEND_FUNC_ONE, NVN_BLEND_FUNC_ONE, NVN_BLEND_FUNC_ONE);
    targets({{&x}});
    clear({0.8f, 0.2f, 0, 1});
    fill({0.4f, -1, 2, 0.5f});
    targets({{&srgb}});
    clear({0.25f, 0, 0, 0.25f});
    fill({0.25f, 1, 0, 0.25f});
    targets({{&half}});
    clear({60000, -60000, 1, 0});
    fill({60000, -60000, 1, 0});
    targets({{&sn}});
    clear({-0.5f, 0.5f, 0, 0});
    fill({-1, 1, -0.25f, 0});
    EXPECT_EQ(texels<u32>(x)[9], 0xffff33ffu);
    const u32 e = texels<u32>(srgb)[9];
    EXPECT_NEAR(static_cast<double>(e & 255), 188, 1);
    EXPECT_EQ(e >> 8 & 0xffff, 0xffu);
    EXPECT_EQ(e >> 24, 0x80u);
    const auto h = texels<std::array<u16, 4>>(half)[9];
    EXPECT_GE(h[0], 0x7bff); // infinity, or on devices that round towards zero the largest number
    EXPECT_EQ(h[1], h[0] | 0x8000);
    EXPECT_EQ(h[2], 0x4000);
    const auto n = texels<std::array<i8, 4>>(sn)[9];
    EXPECT_LE(n[0], -127); // both are -1
    EXPECT_EQ(n[1], 127);
    EXPECT_EQ(n[2], -32);
}

TEST_F(Blending, LogicOperations) { // REN-117: sixteen of them, normalised and integer targets of several widths
    const NVNformat formats[] = {NVN_FORMAT_RGBA8,    NVN_FORMAT_RGBA8UI, NVN_FORMAT_RG32UI,
                                 NVN_FORMAT_RGBA16UI, NVN_FORMAT_RGBA8I,  NVN_FORMAT_R32I};
    NVNchannelMaskState mask;
    nvnChannelMaskStateSetDefaults(&mask);
    nvnChannelMaskStateSetChannelMask(&mask, 0, 1, 1, 0, 1); // not blue
    nvnCommandBufferBindChannelMaskState(c(), &mask);
    for (const NVNformat format : formats) {
        const Texture& x = texture({.format = format});
        const bool normal = format == NVN_FORMAT_RGBA8;
        const std::array<u32, 4> width = format == NVN_FORMAT_RG32UI || format == NVN_FORMAT_R32I
                                             ? std::array<u32, 4>{32, 32, 0, 0}
                                         : format == NVN_FORMAT_RGB10A2UI ? std::array<u32, 4>{10, 10, 10, 2}
                                         : format == NVN_FORMAT_RGBA16UI  ? std::array<u32, 4>{16, 16, 16, 16}
                                                                          : std::array<u32, 4>{8, 8, 8, 8};
        const bool is_signed = format == NVN_FORMAT_RGBA8I || format == NVN_FORMAT_R32I;
        std::array<u32, 4> a{0x5a, 0x0f, 0x33, 0x02}, b{0x3c, 0x55, 0x0f, 0x03}; // source, destination
        const auto unorm = [](u32 v) { return static_cast<float>(v) / 255; };
        for (int op = 0; op < 16; ++op) {
            targets({{&x}});
            if (normal)
                clear({unorm(b[0]), unorm(b[1]), unorm(b[2]), unorm(b[3])});
            else if (is_signed)
                nvnCommandBufferClearColori(c(), 0, reinterpret_cast<const int*>(b.data()), 15);
            else
                nvnCommandBufferClearColorui(c(), 0, b.data(), 15);
            NVNcolorState color;
            nvnColorStateSetDefaults(&color);
            nvnColorStateSetLogicOp(&color, static_cast<NVNlogicOp>(op));
            nvnCommandBufferBindColorState(c(), &color);
            use({quad, flat});
            if (normal)
                uniform<float>(NVN_SHADER_STAGE_FRAGMENT, {unorm(a[0]), unorm(a[1]), unorm(a[2]), unorm(a[3])});
            else
                uniform<u32>(NVN_SHADER_STAGE_FRAGMENT, {a[0], a[1], a[2], a[3]});
            strip();
            const std::size_t at = copy_out(x);
            run();
            std::size_t bit = 0;
            for (std::size_t k = 0; k < 4; ++k) {
                if (!width[k] || (format == NVN_FORMAT_R32I && k))
                    continue;
                u32 want = 0;
                for (u32 i = 0; i < width[k]; ++i) { // the operation's number is its truth table, s d: 11 10 01 00
                    const u32 sbit = a[k] >> i & 1, dbit = b[k] >> i & 1;
                    static constexpr u32 table[] = {0x0, 0x8, 0x4, 0xc, 0x2, 0xa, 0x6, 0xe,
                                                    0x1, 0x9, 0x5, 0xd, 0x3, 0xb, 0x7, 0xf};
                    want |= (table[op] >> (sbit * 2 + dbit) & 1) << i;
                }
                const u32 all = width[k] == 32 ? ~0u : (1u << width[k]) - 1;
                if (k == 2)
                    want = b[k];
                u64 raw = 0;
                std::memcpy(&raw, s().storage + at + bit / 8, std::min<std::size_t>(8, 8));
                EXPECT_EQ(static_cast<u32>(raw >> bit % 8) & all, want & all)
                    << "format " << format << " op " << op << " channel " << k;
                bit += width[k];
            }
        }
    }
}

TEST_F(Blending, TheAlphaTest) { // REN-113, REN-115: every function, NaN, integer targets, early tests
    const Texture& x = texture({});
    const Texture& n = texture({.format = NVN_FORMAT_RGBA8UI});
    const auto bind = [](NVNalphaFunc f) {
        NVNcolorState color;
        nvnColorStateSetDefaults(&color);
        nvnColorStateSetAlphaTest(&color, f);
        nvnCommandBufferBindColorState(c(), &color);
    };
    const float references[] = {0, 0.3125f, 0.5f, 1, NAN};
    const float alphas[] = {0, 0.3125f, 0.5f, 1};
    for (int f = NVN_ALPHA_FUNC_NEVER; f <= NVN_ALPHA_FUNC_ALWAYS; ++f)
        for (const float reference : references) {
            targets({{&x}});
            clear({0, 0, 0, 0});
            bind(static_cast<NVNalphaFunc>(f));
            nvnCommandBufferSetAlphaRef(c(), reference);
            for (std::size_t i = 0; i < std::size(alphas); ++i)
                fill({1, 0, 0, alphas[i]},
                     {-1 + 0.5f * static_cast<float>(i), -1, -0.5f + 0.5f * static_cast<float>(i), 1});
            const auto t = texels<u32>(x);
            for (std::size_t i = 0; i < std::size(alphas); ++i) {
                const float a = alphas[i];
                const bool passes[] = {false, a<reference, a == reference, a <= reference, a> reference, a != reference,
                                       a >= reference, true};
                EXPECT_EQ(t[2 * i] & 255, passes[f - 1] ? 255u : 0u) << f << ": " << a << " " << reference;
            }
        }
    targets({{&n}});
    bind(NVN_ALPHA_FUNC_NEVER);
    use({quad, flat});
    uniform<u32>(NVN_SHADER_STAGE_FRAGMENT, {1, 2, 3, 4});
    strip();
    EXPECT_EQ(texels<u32>(n)[9], 0x04030201u);
    // A program that asks for early tests has written its depth before.
    static constexpr std::string_view early = R"(
.stage fragment
.early_tests
.target 0 rgba
.entry main
main:
    MOV R0, RZ
    MOV R1, RZ
    MOV R2, RZ
    MOV R3, RZ
    EXIT
)";
    const Texture& d = texture({.format = NVN_FORMAT_DEPTH32F});
    targets({{&x}}, {&d});
    clear({1, 1, 1, 1});
    nvnCommandBufferClearDepthStencil(c(), 1, NVN_TRUE, 0, 0);
    NVNdepthStencilState depth;
    nvnDepthStencilStateSetDefaults(&depth);
    nvnDepthStencilStateSetDepthTestEnable(&depth, NVN_TRUE);
    nvnDepthStencilStateSetDepthWriteEnable(&depth, NVN_TRUE);
    nvnDepthStencilStateSetDepthFunc(&depth, NVN_DEPTH_FUNC_ALWAYS);
    nvnCommandBufferBindDepthStencilState(c(), &depth);
    nvnCommandBufferSetAlphaRef(c(), 0.5f);
    bind(NVN_ALPHA_FUNC_GREATER);
    fill({0, 0, 0, 0}, {-1, -1, 0, 1, 0.25f});
    use({quad, early});
    strip({0, -1, 1, 1, 0.25f});
    const auto depths = texels<float>(d);
    EXPECT_EQ(depths[0], 1.0f); // what is thrown away leaves no depth
    EXPECT_EQ(depths[7], 0.25f);
    EXPECT_EQ(texels<u32>(x), std::vector<u32>(64, ~0u));
}

TEST_F(Blending, ViewsChangeTheStoredFormat) { // REN-068: linear 0.5 through an sRGB view, encoded texels undone
    const Texture& x = texture({});
    targets({{&x, {0, 0, 1, NVN_FORMAT_RGBA8_SRGB}}});
    fill({0.5f, 0.25f, 1, 0.5f});
    const u32 encoded = texels<u32>(x)[9];
    EXPECT_NEAR(static_cast<double>(encoded & 255), 188, 1);
    EXPECT_NEAR(static_cast<double>(encoded >> 8 & 255), 137, 1);
    EXPECT_EQ(encoded >> 16, 0x80ffu);
    const Texture& e = texture({.format = NVN_FORMAT_RGBA8_SRGB});
    targets({{&e, {0, 0, 1, NVN_FORMAT_RGBA8}}});
    fill({0.5f, 0.25f, 1, 0.5f});
    EXPECT_EQ(texels<u32>(e)[9], 0x80ff4080u);
    const Texture& bits = texture({.format = NVN_FORMAT_R32F});
    targets({{&bits, {0, 0, 1, NVN_FORMAT_R32UI}}});
    use({quad, flat});
    uniform<u32>(NVN_SHADER_STAGE_FRAGMENT, {0x3f800000, 0, 0, 0});
    strip();
    EXPECT_EQ(texels<float>(bits)[9], 1.0f);
}

} // namespace
} // namespace heaviside::pixels
