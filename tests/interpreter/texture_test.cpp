// Texture instructions, each with operands and results worked out by hand.
#include "interpreter/image.h"
#include "interpreter/stage.h"
#include "maxwell/assembler.h"

#include <gtest/gtest.h>

using namespace heaviside;
using namespace heaviside::interpreter;

namespace {

f32 number(u32 word) {
    return std::bit_cast<f32>(word);
}
u32 word(f32 value) {
    return std::bit_cast<u32>(value);
}

// A texture of one float a texel (or of `format`), each value a function of level, layer, z, y, x.
template <class F>
Texture make_texture(TextureDimension dimension, std::array<u32, 3> size, u32 layers, u32 levels, F&& value) {
    Texture t;
    t.dimension = dimension;
    t.format = *texel_format("R32F");
    t.width = size[0];
    t.height = size[1];
    t.depth = size[2];
    t.layers = layers;
    t.levels = levels;
    for (u32 level = 0; level < levels; ++level) {
        const Texture::Size s = t.size(level);
        for (u32 layer = 0; layer < layers; ++layer)
            for (u32 z = 0; z < s.depth; ++z)
                for (u32 y = 0; y < s.height; ++y)
                    for (u32 x = 0; x < s.width; ++x) {
                        const f32 v = static_cast<f32>(value(level, layer, z, y, x));
                        const auto bytes = std::as_bytes(std::span(&v, 1));
                        t.texels.insert(t.texels.end(), bytes.begin(), bytes.end());
                    }
    }
    return t;
}

// 4 x 4: the texel (x, y) holds 10 y + x.
Texture grid() {
    return make_texture(TextureDimension::D2, {4, 4, 1}, 1, 1, [](u32, u32, u32, u32 y, u32 x) { return 10 * y + x; });
}

Sampler linear(Wrap wrap = Wrap::ClampToEdge) {
    Sampler s;
    s.wrap = {wrap, wrap, wrap};
    s.magnify = s.minify = Filter::Linear;
    return s;
}

// One thread with textures 0, 1, ... and samplers 0, 1, ...; handle number n is the word c[0][4 * n], given here.
struct Setting {
    std::vector<Texture> textures;
    std::vector<Sampler> samplers{Sampler{}};
    std::vector<u32> handles{0};

    ThreadState run(const std::string& body) {
        const auto program = maxwell::assemble(".stage compute\n" + body + "    EXIT\n");
        EXPECT_TRUE(program) << program.error().message;
        if (!program)
            return {};
        const TextureUnits units{0, textures, samplers};
        Launch launch;
        launch.code = program->code;
        launch.banks[0] = std::as_bytes(std::span(handles));
        launch.textures = &units;
        launch.step_limit = 1000;
        const auto state = run_thread(launch);
        EXPECT_TRUE(state) << state.error().message;
        return state ? *state : ThreadState{};
    }
};

// Puts words into registers from R`first` on.
std::string set(u32 first, const std::vector<u32>& words) {
    std::string text;
    for (std::size_t n = 0; n < words.size(); ++n)
        text += fmt::format("    MOV32I R{}, {:#x}\n", first + n, words[n]);
    return text;
}

TEST(Tex, NearestTakesTheTexelThatTheCoordinateFallsInto) {
    Setting s{{grid()}};
    const auto r = s.run(set(0, {word(0.74f), word(0.26f)}) + "    TEX.LZ R4, R0, 0x0, 2D, 0xf\n").registers;
    EXPECT_EQ(number(r[4]), 12.0f); // 2.96, 1.04
    EXPECT_EQ(number(r[5]), 0.0f);  // channels that are not there
    EXPECT_EQ(number(r[7]), 1.0f);
}

TEST(Tex, MaskedComponentsFillRegistersInOrder) {
    Texture t;
    t.format = *texel_format("RGBA8");
    t.width = t.height = 1;
    for (const u32 byte : {0, 51, 102, 255})
        t.texels.push_back(static_cast<std::byte>(byte));
    Setting s{{t}};
    const auto r = s.run(set(0, {0, 0, 7, 7, 7, 7}) + "    TEX.LZ R2, R0, 0x0, 2D, 0xa\n").registers;
    EXPECT_EQ(number(r[2]), 0.2f);
    EXPECT_EQ(number(r[3]), 1.0f);
    EXPECT_EQ(r[4], 7u);
}

TEST(Tex, LinearWeighsWithEightFractionalBits) {
    Setting s{{grid()}, {linear()}};
    // 1.5 + 0.25, 1.5: between x = 1 and 2 at a quarter, exactly on row 1.
    auto r = s.run(set(0, {word(1.75f / 4), word(1.5f / 4)}) + "    TEX.LZ R4, R0, 0x0, 2D, 0x1\n").registers;
    EXPECT_EQ(number(r[4]), 11.25f);
    // A distance of 0.2501 counts as 64/256; one of 1/1024 as none.
    r = s.run(set(0, {word(1.7501f / 4), word((1.5f + 1 / 1024.0f) / 4)}) + "    TEX.LZ R4, R0, 0x0, 2D, 0x1\n")
            .registers;
    EXPECT_EQ(number(r[4]), 11.25f);
}

TEST(Tex, WrapModes) {
    // x from outside on row 0 of (0 1 2 3); the border is 100.
    const struct {
        Wrap wrap;
        f32 at, expected_nearest, expected_linear;
    } cases[] = {
        {Wrap::Repeat, -0.5f / 4, 3, 3},
        {Wrap::Repeat, 4.0f / 4, 0, 1.5f},
        {Wrap::Repeat, 5.5f / 4, 1, 1},
        {Wrap::Mirror, -0.5f / 4, 0, 0},
        {Wrap::Mirror, 5.5f / 4, 2, 2},
        {Wrap::Mirror, 9.5f / 4, 1, 1},
        {Wrap::ClampToEdge, -3.0f, 0, 0},
        {Wrap::ClampToEdge, 4.5f / 4, 3, 3},
        {Wrap::ClampToBorder, -0.5f / 4, 100, 100},
        {Wrap::ClampToBorder, 0.0f, 0, 50},
        {Wrap::Clamp, -3.0f, 0, 50},
        {Wrap::Clamp, 2.0f, 3, 51.5f},
        {Wrap::MirrorToEdge, -1.5f / 4, 1, 1},
        {Wrap::MirrorToEdge, -3.0f, 3, 3},
        {Wrap::MirrorToBorder, -1.5f / 4, 1, 1},
        {Wrap::MirrorToBorder, -4.5f / 4, 100, 100},
        {Wrap::MirrorClamp, -1.5f / 4, 1, 1},
        {Wrap::MirrorClamp, -2.0f, 3, 51.5f},
    };
    for (const auto& c : cases) {
        Setting s{{grid()}, {Sampler{}, linear(c.wrap)}, {0, 1u << 20}};
        s.samplers[0].wrap = {c.wrap, Wrap::ClampToEdge, Wrap::ClampToEdge};
        s.samplers[1].wrap[1] = Wrap::ClampToEdge;
        for (auto& sampler : s.samplers)
            sampler.border = {word(100), 0, 0, 0};
        const auto r = s.run(set(0, {word(c.at), word(0.5f / 4)}) +
                             "    TEX.LZ R4, R0, 0x0, 2D, 0x1\n    TEX.LZ R5, R0, 0x1, 2D, 0x1\n")
                           .registers;
        EXPECT_EQ(number(r[4]), c.expected_nearest) << static_cast<int>(c.wrap) << " at " << c.at;
        EXPECT_EQ(number(r[5]), c.expected_linear) << static_cast<int>(c.wrap) << " at " << c.at;
    }
}

TEST(Tex, ArraysTakeTheLayerFromLowHalfOfTheFirstRegister) {
    const auto layered = make_texture(TextureDimension::D2Array, {2, 2, 1}, 3, 1,
                                      [](u32, u32 layer, u32, u32 y, u32 x) { return 100 * layer + 10 * y + x; });
    Setting s{{layered}};
    const std::string tex = "    TEX.LZ R4, R0, 0x0, ARRAY_2D, 0x1\n";
    EXPECT_EQ(number(s.run(set(0, {0x50001, word(0.75f), word(0.25f)}) + tex).registers[4]), 101.0f);
    EXPECT_EQ(number(s.run(set(0, {9, word(0.25f), word(0.75f)}) + tex).registers[4]), 210.0f); // the last layer
    s.textures = {make_texture(TextureDimension::D1Array, {4, 1, 1}, 2, 1,
                               [](u32, u32 layer, u32, u32, u32 x) { return 100 * layer + x; })};
    EXPECT_EQ(number(s.run(set(0, {1, word(0.6f)}) + "    TEX.LZ R4, R0, 0x0, ARRAY_1D, 0x1\n").registers[4]), 102.0f);
}

TEST(Tex, VolumesBlendEightTexels) {
    Setting s{{make_texture(TextureDimension::D3, {2, 2, 2}, 1, 1,
                            [](u32, u32, u32 z, u32 y, u32 x) { return 100 * z + 10 * y + x; })},
              {linear()}};
    const auto r =
        s.run(set(0, {word(0.5f), word(0.5f), word(0.375f)}) + "    TEX.LZ R4, R0, 0x0, 3D, 0x1\n").registers;
    EXPECT_EQ(number(r[4]), 0.5f + 5.0f + 25.0f);
}

TEST(Tex, LevelsAndBias) {
    // Level n holds n everywhere; a compute program's implicit level is 0.
    const auto levels =
        make_texture(TextureDimension::D2, {8, 8, 1}, 1, 4, [](u32 l, u32, u32, u32, u32) { return l; });
    Setting s{{levels}, {linear(), Sampler{}, linear()}, {0, 1u << 20, 2u << 20}};
    s.samplers[0].mip = s.samplers[2].mip = MipFilter::Linear;
    s.samplers[1].mip = MipFilter::Nearest;
    s.samplers[2].lod_bias = 0.25f;
    s.samplers[2].min_lod = 1;
    s.samplers[2].max_lod = 2;
    const auto at = [&](f32 level, const char* const text) {
        return number(s.run(set(0, {word(0.5f), word(0.5f), word(level)}) + text).registers[4]);
    };
    const char* const ll = "    TEX.LL R4, R0, R2, 0x0, 2D, 0x1\n";
    EXPECT_EQ(at(1.25f, ll), 1.25f);
    EXPECT_EQ(at(1.2505f, ll), 1.25f); // 8 fractional bits
    EXPECT_EQ(at(-3, ll), 0.0f);
    EXPECT_EQ(at(9, ll), 3.0f);
    const char* const nearest = "    TEX.LL R4, R0, R2, 0x1, 2D, 0x1\n";
    EXPECT_EQ(at(1.5f, nearest), 1.0f);
    EXPECT_EQ(at(1.51f, nearest), 2.0f);
    const char* const bounded = "    TEX.LL R4, R0, R2, 0x2, 2D, 0x1\n";
    EXPECT_EQ(at(0, bounded), 1.0f);
    EXPECT_EQ(at(1.5f, bounded), 1.75f); // with the sampler's bias
    EXPECT_EQ(at(3, bounded), 2.0f);
    EXPECT_EQ(at(1.5f, "    TEX.LB R4, R0, R2, 0x0, 2D, 0x1\n"), 1.5f);
    EXPECT_EQ(at(1.5f, "    TEX R4, R0, 0x0, 2D, 0x1\n"), 0.0f);
    EXPECT_EQ(at(1.5f, "    TEX.LZ R4, R0, 0x0, 2D, 0x1\n"), 0.0f);
    EXPECT_EQ(at(1.5f, "    TEX.LZ.LC R4, R0, R2, 0x0, 2D, 0x1\n"), 1.5f); // no finer than this
}

TEST(Tex, OperandsBehindTheCoordinatesHaveOneOrder) {
    // B: handle, level, offsets, reference. Level 1 of 8 x 8, at (1, 1) + (2, -1) = (3, 0), value 3; 3 <= 3 passes.
    const auto levels = make_texture(TextureDimension::D2, {8, 8, 1}, 1, 2,
                                     [](u32 l, u32, u32, u32 y, u32 x) { return l * (10 * y + x); });
    Setting s{{Texture{}, levels}, {Sampler{}, Sampler{}}};
    s.samplers[1].mip = MipFilter::Nearest;
    const auto lit = [&](f32 reference) {
        return s
            .run(set(0, {word(0.4f), word(0.4f)}) + set(4, {1u << 20 | 1, word(1), 0xf2, word(reference)}) +
                 "    TEX.B.LL.AOFFI.DC R8, R0, R4, 0x0, 2D, 0xf\n")
            .registers;
    };
    EXPECT_EQ(number(lit(3.0f)[8]), 1.0f);
    EXPECT_EQ(number(lit(3.0f)[10]), 1.0f);
    EXPECT_EQ(number(lit(3.5f)[8]), 0.0f);
    EXPECT_EQ(number(lit(3.5f)[11]), 1.0f); // alpha
}

TEST(Tex, ComparesBeforeItFilters) {
    Setting s{{grid()}, {linear()}};
    const auto at = [&](DepthTest test) {
        s.samplers[0].depth_test = test;
        // Between 11 and 12 at a quarter, reference 11.5.
        return number(
            s.run(set(0, {word(1.75f / 4), word(1.5f / 4), word(11.5f)}) + "    TEX.LZ.DC R4, R0, R2, 0x0, 2D, 0x1\n")
                .registers[4]);
    };
    EXPECT_EQ(at(DepthTest::Less), 0.25f); // 11.5 < 12
    EXPECT_EQ(at(DepthTest::GreaterEqual), 0.75f);
    EXPECT_EQ(at(DepthTest::Never), 0.0f);
    EXPECT_EQ(at(DepthTest::Always), 1.0f);
    EXPECT_EQ(at(DepthTest::Equal), 0.0f);
    EXPECT_EQ(at(DepthTest::NotEqual), 1.0f);
}

TEST(Tex, HandlesThatNameNothingReadZero) {
    Setting s{{grid()}, {Sampler{}}, {0, 77, 9u << 20}};
    EXPECT_EQ(s.run(set(0, {0, 0}) + "    TEX.LZ R4, R0, 0x1, 2D, 0xf\n").registers[7], 0u);
    EXPECT_EQ(s.run(set(0, {0, 0}) + "    TEX.LZ R4, R0, 0x500, 2D, 0x1\n").registers[4], 0u); // past the bank: ID 0
    // A sampler that is not there has the defaults: nearest.
    EXPECT_EQ(number(s.run(set(0, {word(0.3f), 0}) + "    TEX.LZ R4, R0, 0x2, 2D, 0x1\n").registers[4]), 1.0f);
}

TEST(Tex, CoordinatesThatAreNoNumbersAreZero) {
    Setting s{{grid()}, {Sampler{}}};
    EXPECT_EQ(number(s.run(set(0, {0x7fc00000, word(0.3f)}) + "    TEX.LZ R4, R0, 0x0, 2D, 0x1\n").registers[4]),
              10.0f);
    s.samplers[0].wrap[0] = Wrap::ClampToEdge;
    EXPECT_EQ(number(s.run(set(0, {0x7f800000, word(0.3f)}) + "    TEX.LZ R4, R0, 0x0, 2D, 0x1\n").registers[4]),
              13.0f);
}

TEST(Tex, IntegersAreNotFiltered) {
    Texture t;
    t.format = *texel_format("R8I");
    t.width = 2;
    t.texels = {std::byte{0xfe}, std::byte{7}};
    Setting s{{t}, {linear()}};
    const auto r = s.run(set(0, {word(0.45f), word(0.5f)}) + "    TEX.LZ R4, R0, 0x0, 2D, 0xf\n").registers;
    EXPECT_EQ(r[4], 0xfffffffeu);
    EXPECT_EQ(r[7], 1u);
}

TEST(Tex, SwizzleAndReduction) {
    Setting s{{grid()}, {linear()}};
    s.textures[0].swizzle = {Channel::One, Channel::R, Channel::Zero, Channel::R};
    s.samplers[0].reduction = Reduction::Max;
    auto r = s.run(set(0, {word(0.5f), word(0.5f)}) + "    TEX.LZ R4, R0, 0x0, 2D, 0xf\n").registers;
    EXPECT_EQ(number(r[4]), 1.0f);
    EXPECT_EQ(number(r[5]), 22.0f); // of 11, 12, 21, 22
    EXPECT_EQ(number(r[6]), 0.0f);
    s.samplers[0].reduction = Reduction::Min;
    r = s.run(set(0, {word(0.5f), word(0.5f)}) + "    TEX.LZ R4, R0, 0x0, 2D, 0xf\n").registers;
    EXPECT_EQ(number(r[7]), 11.0f);
}

// Faces of 2 x 2: 100 face + 10 y + x.
Texture cube(u32 cubes) {
    return make_texture(cubes == 1 ? TextureDimension::Cube : TextureDimension::CubeArray, {2, 2, 1}, 6 * cubes, 1,
                        [](u32, u32 layer, u32, u32 y, u32 x) { return 100 * layer + 10 * y + x; });
}

TEST(Cube, DirectionsFindFaceAndTexel) {
    Setting s{{cube(2)}};
    const struct {
        f32 x, y, z;
        f32 expected;
    } cases[] = {
        // +x: s = -z, t = -y. -x: s = z. +y: s = x, t = z. -y: t = -z. +z: s = x, t = -y. -z: s = -x.
        {1, 0.5f, 0.5f, 0},   {1, -0.5f, -0.5f, 11},  {-1, 0.5f, 0.5f, 101}, {-1, -0.5f, -0.5f, 110},
        {0.5f, 1, 0.5f, 211}, {-0.5f, 1, -0.5f, 200}, {0.5f, -1, 0.5f, 301}, {-0.5f, -1, -0.5f, 310},
        {0.5f, 0.5f, 1, 401}, {-0.5f, -0.5f, 1, 410}, {0.5f, 0.5f, -1, 500}, {-0.5f, -0.5f, -1, 511},
        {2, 2, 2, 401},       {3, -3, 1, 301}, // equal axes: z before y before x
    };
    for (const auto& c : cases) {
        const auto r = s.run(set(0, {1, word(c.x), word(c.y), word(c.z)}) +
                             "    TEX.LZ R4, R0, 0x0, ARRAY_CUBE, 0x1\n" + "    TEX.LZ R5, R1, 0x0, CUBE, 0x1\n")
                           .registers;
        EXPECT_EQ(number(r[4]), c.expected + 600) << c.x << " " << c.y << " " << c.z;
        EXPECT_EQ(number(r[5]), c.expected) << c.x << " " << c.y << " " << c.z;
    }
}

TEST(Cube, FiltersAcrossEdgesAndCorners) {
    Setting s{{cube(1)}, {linear()}};
    const std::string tex = "    TEX.LZ R4, R0, 0x0, CUBE, 0x1\n";
    // On the edge between +z (x = 1, y = 0: 401) and +x (x = 0, y = 0: 0), in the middle of row 0: t = -0.5.
    EXPECT_EQ(number(s.run(set(0, {word(1), word(0.5f), word(1)}) + tex).registers[4]), (401 + 0) / 2.0f);
    // The corner of +z, +x and +y: texels 401, 0 and +y's (x = 1, z = 1): 211. The fourth is their mean.
    const f32 mean = (401 + 0 + 211) / 3.0f;
    EXPECT_NEAR(number(s.run(set(0, {word(1), word(1), word(1)}) + tex).registers[4]), (401 + 0 + 211 + mean) / 4,
                1e-3f);
    s.samplers[0].seamless = false;
    EXPECT_EQ(number(s.run(set(0, {word(1), word(0.5f), word(1)}) + tex).registers[4]), 401.0f);
}

TEST(Texs, SplitsCoordinatesAndResultsBetweenRegisters) {
    Texture t;
    t.format = *texel_format("RGBA32F");
    t.dimension = TextureDimension::D2Array;
    t.width = t.height = 2;
    t.layers = 2;
    t.levels = 1;
    for (u32 n = 0; n < 8; ++n)
        for (u32 c = 0; c < 4; ++c) {
            const f32 v = static_cast<f32>(10 * n + c);
            const auto bytes = std::as_bytes(std::span(&v, 1));
            t.texels.insert(t.texels.end(), bytes.begin(), bytes.end());
        }
    Setting s{{t}};
    // 2D: x in A, y in B. Texel (1, 0) is number 1.
    const std::string xy = set(0, {word(0.75f)}) + set(8, {word(0.25f)});
    auto r = s.run(xy + "    TEXS.LZ R6, R4, R0, R8, 0x0, 2D, RGBA\n").registers;
    EXPECT_EQ(number(r[4]), 10.0f);
    EXPECT_EQ(number(r[5]), 11.0f);
    EXPECT_EQ(number(r[6]), 12.0f);
    EXPECT_EQ(number(r[7]), 13.0f);
    r = s.run(xy + "    TEXS.LZ R6, R4, R0, R8, 0x0, 2D, RBA\n").registers;
    EXPECT_EQ(number(r[5]), 12.0f);
    EXPECT_EQ(number(r[6]), 13.0f);
    EXPECT_EQ(r[7], 0u);
    r = s.run(xy + "    TEXS.LZ RZ, R4, R0, R8, 0x0, 2D, GA\n").registers;
    EXPECT_EQ(number(r[4]), 11.0f);
    EXPECT_EQ(number(r[5]), 13.0f);
    // Halves: 10.0 is 0x4900, 11.0 0x4980, 12.0 0x4a00, 13.0 0x4a80.
    r = s.run(xy + "    TEXS.F16.LZ R6, R4, R0, R8, 0x0, 2D, RGBA\n").registers;
    EXPECT_EQ(r[4], 0x49804900u);
    EXPECT_EQ(r[6], 0x4a804a00u);
    r = s.run(xy + "    TEXS.F16.LZ R6, R4, R0, R8, 0x0, 2D, RGB\n").registers;
    EXPECT_EQ(r[6], 0x4a00u);
    // ARRAY_2D: layer and x in A, y in B. With .DC: A, A + 1 = layer, x; B, B + 1 = y, reference.
    const std::string layered = set(0, {1, word(0.75f)}) + set(8, {word(0.75f), word(70.5f)});
    EXPECT_EQ(number(s.run(layered + "    TEXS.LZ RZ, R4, R0, R8, 0x0, ARRAY_2D, R\n").registers[4]), 70.0f);
    EXPECT_EQ(number(s.run(layered + "    TEXS.LZ.DC RZ, R4, R0, R8, 0x0, ARRAY_2D, R\n").registers[4]), 0.0f);
    // .DC: x, y in A; reference in B. .LL.DC: level, reference in B.
    EXPECT_EQ(number(s.run(set(0, {word(0.75f), word(0.25f)}) + set(8, {word(9.0f)}) +
                           "    TEXS.DC RZ, R4, R0, R8, 0x0, 2D, R\n")
                         .registers[4]),
              1.0f);
    EXPECT_EQ(number(s.run(set(0, {word(0.75f), word(0.25f)}) + set(8, {word(0), word(11.0f)}) +
                           "    TEXS.LL.DC RZ, R4, R0, R8, 0x0, 2D, R\n")
                         .registers[4]),
              0.0f);
}

TEST(Texs, ThreePartsAndALevel) {
    // CUBE.LL: x, y in A; z, level in B.
    Setting s{{make_texture(TextureDimension::Cube, {2, 2, 1}, 6, 2,
                            [](u32 level, u32 face, u32, u32, u32) { return 10 * level + face; })},
              {Sampler{}}};
    s.samplers[0].mip = MipFilter::Nearest;
    EXPECT_EQ(number(s.run(set(0, {0, 0}) + set(8, {word(-1), word(1)}) + "    TEXS.LL RZ, R4, R0, R8, 0x0, CUBE, R\n")
                         .registers[4]),
              15.0f);
    s.textures = {make_texture(TextureDimension::D3, {2, 2, 2}, 1, 1,
                               [](u32, u32, u32 z, u32 y, u32 x) { return 100 * z + 10 * y + x; })};
    EXPECT_EQ(number(s.run(set(0, {word(0.75f), word(0.25f)}) + set(8, {word(0.75f)}) +
                           "    TEXS.LZ RZ, R4, R0, R8, 0x0, 3D, R\n")
                         .registers[4]),
              101.0f);
    s.textures = {make_texture(TextureDimension::D1, {4, 1, 1}, 1, 1, [](u32, u32, u32, u32, u32 x) { return x; })};
    EXPECT_EQ(number(s.run(set(0, {word(0.6f)}) + "    TEXS.LZ RZ, R4, R0, 0x0, 1D, R\n").registers[4]), 2.0f);
}

TEST(Tld, FetchesByNumber) {
    const auto levels = make_texture(TextureDimension::D2, {4, 4, 1}, 1, 2,
                                     [](u32 l, u32, u32, u32 y, u32 x) { return 100 * l + 10 * y + x; });
    Setting s{{levels}};
    const auto at = [&](u32 x, u32 y, u32 level) {
        return number(s.run(set(0, {x, y, level, 0xf1}) + "    TLD.LL R4, R0, R2, 0x0, 2D, 0x1\n").registers[4]);
    };
    EXPECT_EQ(at(3, 2, 0), 23.0f);
    EXPECT_EQ(at(1, 1, 1), 111.0f);
    EXPECT_EQ(at(2, 1, 1), 0.0f); // outside the level
    EXPECT_EQ(at(0, 0, 2), 0.0f);
    EXPECT_EQ(at(0xffffffff, 0, 0), 0.0f);
    // Offsets + 1, - 1; outside, channels that the format lacks still read 0 and 1.
    EXPECT_EQ(number(s.run(set(0, {2, 2, 0xf1}) + "    TLD.LZ.AOFFI R4, R0, R2, 0x0, 2D, 0x1\n").registers[4]), 13.0f);
    EXPECT_EQ(number(s.run(set(0, {9, 9}) + "    TLD.LZ R4, R0, 0x0, 2D, 0xf\n").registers[7]), 1.0f);
}

TEST(Tld, SamplesBuffersAndArrays) {
    Texture ms;
    ms.dimension = TextureDimension::D2Multisample;
    ms.format = *texel_format("R8UI");
    ms.width = ms.height = 2;
    ms.samples = 4;
    for (u32 n = 0; n < 16; ++n)
        ms.texels.push_back(static_cast<std::byte>(n));
    Texture buffer;
    buffer.dimension = TextureDimension::Buffer;
    buffer.format = *texel_format("RG16I");
    buffer.width = 300;
    buffer.texels.resize(1200);
    buffer.texels[4 * 299 + 2] = std::byte{0xff};
    buffer.texels[4 * 299 + 3] = std::byte{0xff};
    Setting s{{ms, buffer, cube(1)}, {}, {0, 1, 2}};
    EXPECT_EQ(s.run(set(0, {1, 0, 3}) + "    TLD.LZ.MS R4, R0, R2, 0x0, 2D, 0x1\n").registers[4], 7u);
    const auto r = s.run(set(0, {299}) + "    TLD.LZ R4, R0, 0x1, 1D, 0x3\n").registers;
    EXPECT_EQ(r[4], 0u);
    EXPECT_EQ(r[5], 0xffffffffu);
    EXPECT_EQ(s.run(set(0, {300}) + "    TLD.LZ R4, R0, 0x1, 1D, 0x3\n").registers[5], 0u);
    EXPECT_EQ(number(s.run(set(0, {4, 1, 0}) + "    TLD.LZ R4, R0, 0x2, ARRAY_2D, 0x1\n").registers[4]), 401.0f);
    EXPECT_EQ(number(s.run(set(0, {6, 1, 0}) + "    TLD.LZ R4, R0, 0x2, ARRAY_2D, 0x1\n").registers[4]), 0.0f);
}

TEST(Tlds, SplitsCoordinatesBetweenRegisters) {
    const auto levels = make_texture(TextureDimension::D2, {4, 4, 1}, 1, 2,
                                     [](u32 l, u32, u32, u32 y, u32 x) { return 100 * l + 10 * y + x; });
    Setting s{{levels}};
    const auto value = [&](const std::vector<u32>& a, const std::vector<u32>& b, const char* const text) {
        return number(s.run(set(0, a) + set(8, b) + text).registers[4]);
    };
    EXPECT_EQ(value({3}, {2}, "    TLDS.LZ RZ, R4, R0, R8, 0x0, 2D, R\n"), 23.0f);
    EXPECT_EQ(value({1, 0}, {1}, "    TLDS.LL RZ, R4, R0, R8, 0x0, 2D, R\n"), 101.0f);
    EXPECT_EQ(value({2, 2}, {0xf1}, "    TLDS.LZ.AOFFI RZ, R4, R0, R8, 0x0, 2D, R\n"), 13.0f);
    EXPECT_EQ(value({0, 0}, {1, 0x11}, "    TLDS.LL.AOFFI RZ, R4, R0, R8, 0x0, 2D, R\n"), 111.0f);
    s.textures = {make_texture(TextureDimension::D3, {2, 2, 2}, 1, 1,
                               [](u32, u32, u32 z, u32 y, u32 x) { return 100 * z + 10 * y + x; })};
    EXPECT_EQ(value({1, 0}, {1}, "    TLDS.LZ RZ, R4, R0, R8, 0x0, 3D, R\n"), 101.0f);
    s.textures = {
        make_texture(TextureDimension::D1, {8, 1, 1}, 1, 2, [](u32 l, u32, u32, u32, u32 x) { return 100 * l + x; })};
    EXPECT_EQ(value({5}, {}, "    TLDS.LZ RZ, R4, R0, 0x0, 1D, R\n"), 5.0f);
    EXPECT_EQ(value({3}, {1}, "    TLDS.LL RZ, R4, R0, R8, 0x0, 1D, R\n"), 103.0f);
}

TEST(Tld4, GathersCounterClockwiseFromLowerLeft) {
    Setting s{{grid()}, {linear(), linear(Wrap::Repeat)}, {0, 1u << 20}};
    // At (1.6, 1.6): texels 1 and 2 on both axes.
    const std::string at = set(0, {word(1.6f / 4), word(1.6f / 4), 0x0102}) + set(8, {0x3f3f0101, 0x00ff0000});
    auto r = s.run(at + "    TLD4.R R4, R0, 0x0, 2D, 0xf\n").registers;
    EXPECT_EQ((std::array{number(r[4]), number(r[5]), number(r[6]), number(r[7])}),
              (std::array{21.f, 22.f, 12.f, 11.f}));
    r = s.run(at + "    TLD4.A R4, R0, 0x0, 2D, 0x9\n").registers;
    EXPECT_EQ(number(r[4]), 1.0f); // the absent alpha
    EXPECT_EQ(r[6], 0u);
    // Offsets of 2, 1: texels 3 and 4 of x, the latter clamped; 2 and 3 of y.
    r = s.run(at + "    TLD4.R.AOFFI R4, R0, R2, 0x0, 2D, 0xf\n").registers;
    EXPECT_EQ((std::array{number(r[4]), number(r[5]), number(r[6]), number(r[7])}),
              (std::array{33.f, 33.f, 23.f, 23.f}));
    // Four offsets: (1, 1), (-1, -1), (0, 0), (-1, 0), each on the texel (1, 1).
    r = s.run(at + "    TLD4.R.PTP R4, R0, R8, 0x0, 2D, 0xf\n").registers;
    EXPECT_EQ((std::array{number(r[4]), number(r[5]), number(r[6]), number(r[7])}),
              (std::array{22.f, 0.f, 11.f, 10.f}));
    // Half a step of 1/256 below the boundary the footprint is the next one already.
    r = s.run(set(0, {word((1.5f - 1 / 1024.0f) / 4), word(1.6f / 4)}) + "    TLD4.R R4, R0, 0x0, 2D, 0x1\n").registers;
    EXPECT_EQ(number(r[4]), 21.0f);
}

TEST(Tld4, ComparesEachTexel) {
    Setting s{{grid()}, {linear()}};
    const auto r =
        s.run(set(0, {word(1.6f / 4), word(1.6f / 4), word(12)}) + "    TLD4.R.DC R4, R0, R2, 0x0, 2D, 0xf\n")
            .registers;
    EXPECT_EQ((std::array{number(r[4]), number(r[5]), number(r[6]), number(r[7])}), (std::array{1.f, 1.f, 1.f, 0.f}));
}

TEST(Tld4s, SplitsCoordinatesAndResults) {
    Setting s{{grid()}, {linear()}};
    auto r = s.run(set(0, {word(1.6f / 4)}) + set(8, {word(1.6f / 4)}) + "    TLD4S.R R6, R4, R0, R8, 0x0\n").registers;
    EXPECT_EQ((std::array{number(r[4]), number(r[5]), number(r[6]), number(r[7])}),
              (std::array{21.f, 22.f, 12.f, 11.f}));
    r = s.run(set(0, {word(1.6f / 4), word(1.6f / 4)}) + set(8, {0x0102, word(30)}) +
              "    TLD4S.R.AOFFI.DC R6, R4, R0, R8, 0x0\n")
            .registers;
    EXPECT_EQ((std::array{number(r[4]), number(r[5]), number(r[6]), number(r[7])}), (std::array{1.f, 1.f, 0.f, 0.f}));
    r = s.run(set(0, {word(1.6f / 4), word(1.6f / 4)}) + set(8, {word(12)}) + "    TLD4S.R.DC R6, R4, R0, R8, 0x0\n")
            .registers;
    EXPECT_EQ(number(r[7]), 0.0f);
    EXPECT_EQ(number(r[6]), 1.0f);
}

TEST(Txd, TakesTheLevelFromItsGradients) {
    const auto levels =
        make_texture(TextureDimension::D2, {8, 8, 1}, 1, 4, [](u32 l, u32, u32, u32, u32) { return l; });
    Setting s{{levels}, {linear()}};
    s.samplers[0].mip = MipFilter::Linear;
    const auto at = [&](f32 dudx, f32 dudy, f32 dvdx, f32 dvdy) {
        return number(s.run(set(0, {word(0.5f), word(0.5f)}) +
                            set(8, {word(dudx), word(dudy), word(dvdx), word(dvdy)}) +
                            "    TXD R4, R0, R8, 0x0, 2D, 0x1\n")
                          .registers[4]);
    };
    EXPECT_EQ(at(2 / 8.f, 0, 0, 1 / 8.f), 1.0f);         // the longer of 2 and 1 texels
    EXPECT_EQ(at(0, 3 / 8.f, 0, 4 / 8.f), 594 / 256.0f); // 5 texels: log2 5 = 2.3219, in 256ths 594.4
    EXPECT_EQ(at(0, 0, 0, 0), 0.0f);
    EXPECT_EQ(at(0.5f, 0, 0, 0.5f), 2.0f);
}

TEST(Txd, ArraysAndOffsetsShareAWord) {
    Setting s{{make_texture(TextureDimension::D2Array, {4, 4, 1}, 3, 1,
                            [](u32, u32 layer, u32, u32 y, u32 x) { return 100 * layer + 10 * y + x; })}};
    // Offsets + 1, - 1 above the layer 2.
    EXPECT_EQ(number(s.run(set(0, {word(0.3f), word(0.6f), 0x00f10002}) + set(8, {0, 0, 0, 0}) +
                           "    TXD.AOFFI R4, R0, R8, 0x0, ARRAY_2D, 0x1\n")
                         .registers[4]),
              212.0f);
    // The handle of the bindless form comes first.
    EXPECT_EQ(number(s.run(set(0, {0, word(0.3f), word(0.6f), 1}) + set(8, {0, 0, 0, 0}) +
                           "    TXD.B R4, R0, R8, 0x0, ARRAY_2D, 0x1\n")
                         .registers[4]),
              121.0f);
}

TEST(Txd, AnisotropyTakesAFinerLevelAndSeveralProbes) {
    // 8 by 1 texels: with up to 4 probes the level is log2(8 / 4) = 1, else 3.
    const auto levels =
        make_texture(TextureDimension::D2, {16, 16, 1}, 1, 5, [](u32 l, u32, u32, u32, u32) { return l; });
    Setting s{{levels}, {linear(), linear()}, {0, 1u << 20}};
    s.samplers[0].mip = s.samplers[1].mip = MipFilter::Linear;
    s.samplers[1].anisotropy = 4;
    const std::string registers = set(0, {word(0.5f), word(0.5f)}) + set(8, {word(0.5f), 0, 0, word(1 / 16.f)});
    EXPECT_EQ(number(s.run(registers + "    TXD R4, R0, R8, 0x0, 2D, 0x1\n").registers[4]), 3.0f);
    EXPECT_EQ(number(s.run(registers + "    TXD R4, R0, R8, 0x1, 2D, 0x1\n").registers[4]), 1.0f);
}

TEST(Txq, TellsDimensionsSamplesAndBorder) {
    const auto levels = make_texture(TextureDimension::D3, {8, 4, 2}, 1, 3, [](u32, u32, u32, u32, u32) { return 0; });
    Texture ms;
    ms.dimension = TextureDimension::D2Multisample;
    ms.width = ms.height = 2;
    ms.samples = 4;
    Setting s{{levels, ms, cube(2)}, {Sampler{}}, {0, 1, 2}};
    s.samplers[0].border = {1, 2, 3, 4};
    auto r = s.run(set(0, {1}) + "    TXQ R4, R0, TEX_HEADER_DIMENSION, 0x0, 0xf\n").registers;
    EXPECT_EQ((std::array{r[4], r[5], r[6], r[7]}), (std::array<u32, 4>{4, 2, 1, 3}));
    r = s.run(set(0, {0}) + "    TXQ R4, R0, TEX_HEADER_DIMENSION, 0x0, 0x8\n").registers;
    EXPECT_EQ(r[4], 3u);
    r = s.run(set(0, {0}) + "    TXQ R4, R0, TEX_HEADER_DIMENSION, 0x2, 0x7\n").registers;
    EXPECT_EQ((std::array{r[4], r[5], r[6]}), (std::array<u32, 3>{2, 2, 2})); // cubes
    r = s.run(set(0, {0}) + "    TXQ R4, R0, TEX_HEADER_TEXTURE_TYPE, 0x1, 0x4\n").registers;
    EXPECT_EQ(r[4], 4u);
    r = s.run(set(0, {2, 0}) + "    TXQ.B R4, R0, TEX_HEADER_DIMENSION, 0x0, 0x1\n").registers;
    EXPECT_EQ(r[4], 2u); // the handle is the first register
    r = s.run(set(0, {0}) + "    TXQ R4, R0, TEX_SAMPLER_BORDER_COLOR, 0x0, 0xf\n").registers;
    EXPECT_EQ((std::array{r[4], r[5], r[6], r[7]}), (std::array<u32, 4>{1, 2, 3, 4}));
}

TEST(Texture, WhatIsNotKnownIsANamedError) {
    for (const char* const text :
         {"TXA R0, R0, 0x0, 0xf", "TXQ R0, R0, TEX_HEADER_SAMPLER_POS, 0x0, 0xf", "TXQ R0, R0, 31, 0x0, 0xf"}) {
        const auto program = maxwell::assemble(std::string(".stage compute\n    ") + text + "\n    EXIT\n");
        ASSERT_TRUE(program) << program.error().message;
        Launch launch;
        launch.code = program->code;
        const auto state = run_thread(launch);
        ASSERT_FALSE(state) << text;
        EXPECT_NE(state.error().message.find(text), std::string::npos) << state.error().message;
    }
}

// ---- quads

// One quad at (0, 0) whose attribute 0 is x * step, y * step.
std::vector<PixelResult> draw(Setting& s, const std::string& body, f64 step_x, f64 step_y) {
    const auto program = maxwell::assemble(".stage fragment\n.target 0 rgba\n.kill\n"
                                           "    IPA.PASS R0, a[0x80], RZ\n    IPA.PASS R1, a[0x84], RZ\n" +
                                           body + "    EXIT\n");
    EXPECT_TRUE(program) << program.error().message;
    if (!program)
        return std::vector<PixelResult>(4);
    const TextureUnits units{0, s.textures, s.samplers};
    StageProgram stage;
    stage.header = program->header;
    stage.launch.code = program->code;
    stage.launch.banks[0] = std::as_bytes(std::span(s.handles));
    stage.launch.textures = &units;
    PixelInputs inputs;
    inputs.planes[0x80 / 4] = {0, step_x, 0, 0};
    inputs.planes[0x84 / 4] = {0, 0, step_y, 0};
    Quad quad;
    quad.inputs = &inputs;
    for (u32 n = 0; n < 4; ++n) {
        quad.pixels[n].x = n % 2;
        quad.pixels[n].y = n / 2;
    }
    const auto out = run_pixels(stage, std::span(&quad, 1));
    EXPECT_TRUE(out) << out.error().message;
    return out ? *out : std::vector<PixelResult>(4);
}

// Level n of 16 x 16 holds n.
Setting levelled() {
    Setting s{{make_texture(TextureDimension::D2, {16, 16, 1}, 1, 5, [](u32 l, u32, u32, u32, u32) { return l; })},
              {linear()}};
    s.samplers[0].mip = MipFilter::Linear;
    return s;
}

TEST(Quad, ImplicitLevelsComeFromTheNeighbours) {
    Setting s = levelled();
    // A step of 4 texels in x, 2 in y: level 2. With a bias of - 0.5: 1.5.
    auto out = draw(s, "    TEX R0, R0, 0x0, 2D, 0x1\n", 4 / 16., 2 / 16.);
    for (const PixelResult& pixel : out)
        EXPECT_EQ(number(pixel.targets[0][0]), 2.0f);
    out = draw(s, set(2, {word(-0.5f)}) + "    TEX.LB R0, R0, R2, 0x0, 2D, 0x1\n", 4 / 16., 2 / 16.);
    EXPECT_EQ(number(out[3].targets[0][0]), 1.5f);
    out = draw(s, "    TEXS RZ, R0, R0, R1, 0x0, 2D, R\n", 1 / 16., 8 / 16.);
    EXPECT_EQ(number(out[2].targets[0][0]), 3.0f);
    out = draw(s, "    TEX.LZ R0, R0, 0x0, 2D, 0x1\n", 4 / 16., 2 / 16.);
    EXPECT_EQ(number(out[0].targets[0][0]), 0.0f);
}

TEST(Quad, MagnifiedAccessesUseTheOtherFilter) {
    Setting s{{grid()}, {Sampler{}}};
    s.samplers[0].magnify = Filter::Linear; // nearest when minified
    // 1/4 texel a pixel, first pixel at 0.125: magnified. 0.125 of the way... x = 0.125 clamps into texel 0 by
    // wrapping.
    s.samplers[0].wrap = {Wrap::ClampToEdge, Wrap::ClampToEdge, Wrap::ClampToEdge};
    auto out =
        draw(s, "    FADD R0, R0, 0.25\n    FADD R1, R1, 0.25\n    TEX R0, R0, 0x0, 2D, 0x1\n", 0.25 / 4, 0.25 / 4);
    EXPECT_EQ(number(out[0].targets[0][0]), (0.625f + 6.25f)); // 1.125, 1.125 texels: 0.625 between the centres
    // 2 texels a pixel: nearest. Pixel 0 at texel 1 + 1, which is texel 2 in both.
    out = draw(s, "    FADD R0, R0, 0.25\n    FADD R1, R1, 0.25\n    TEX R0, R0, 0x0, 2D, 0x1\n", 2 / 4., 2 / 4.);
    EXPECT_EQ(number(out[0].targets[0][0]), 22.0f);
}

TEST(Quad, HelpersTakePartInLevels) {
    // Three pixels are killed; the fourth still sees a step of 4 texels.
    Setting s = levelled();
    const auto out = draw(s,
                          "    S2R R2, SR_LANEID\n"
                          "    ISETP.NE.U32.AND P0, PT, R2, RZ, PT\n"
                          "    @P0 KIL\n"
                          "    TEX R0, R0, 0x0, 2D, 0x1\n",
                          4 / 16., 2 / 16.);
    EXPECT_FALSE(out[0].killed);
    EXPECT_EQ(number(out[0].targets[0][0]), 2.0f);
}

TEST(Quad, LanesThatDoNotTakePartGiveNoDerivative) {
    // Only lanes 0 and 1 execute: the step in y (8 texels) is not seen, the one in x (4) is.
    Setting s = levelled();
    const std::string guarded = "    S2R R2, SR_LANEID\n"
                                "    ISETP.LT.U32.AND P0, PT, R2, 0x2, PT\n";
    auto out = draw(s, guarded + "    @P0 TEX R0, R0, 0x0, 2D, 0x1\n", 4 / 16., 8 / 16.);
    EXPECT_EQ(number(out[1].targets[0][0]), 2.0f);
    out = draw(s, guarded + "    @P0 TEX.NDV R0, R0, 0x0, 2D, 0x1\n", 4 / 16., 8 / 16.);
    EXPECT_EQ(number(out[1].targets[0][0]), 3.0f);
}

TEST(Quad, TmmlGivesLevelsInFixedPoint) {
    Setting s = levelled();
    auto out = draw(s, "    TMML.LOD R0, R0, 0x0, 2D, 0x3\n", 4 / 16., 2 / 16.);
    EXPECT_EQ(out[0].targets[0][0], 0x200u);
    EXPECT_EQ(out[0].targets[0][1], 0x200u);
    out = draw(s, "    TMML.LOD R0, R0, 0x0, 2D, 0x3\n", 0.25 / 16, 0.125 / 16);
    EXPECT_EQ(out[0].targets[0][0], 0xfe00u); // - 2, as it is
    EXPECT_EQ(out[0].targets[0][1], 0u);      // what is used
    out = draw(s, "    TMML.LOD R0, R0, 0x0, 2D, 0x2\n", 64 / 16., 0);
    EXPECT_EQ(out[0].targets[0][0], 0x400u); // the last level
}

TEST(Quad, CubeLevelsComeFromTheFace) {
    // On +z, s = x / (2 z) + 1/2: a step of 0.5 in x is a quarter of the face, 4 of 16 texels.
    Setting s{{make_texture(TextureDimension::Cube, {16, 16, 1}, 6, 5, [](u32 l, u32, u32, u32, u32) { return l; })},
              {linear()}};
    s.samplers[0].mip = MipFilter::Linear;
    const auto out = draw(s, set(2, {word(1)}) + "    TEX R0, R0, 0x0, CUBE, 0x1\n", 0.5, 0.25);
    EXPECT_EQ(number(out[0].targets[0][0]), 2.0f);
}

// ---- formats

Texel decoded(const char* const format, std::vector<u8> bytes) {
    const auto f = texel_format(format);
    EXPECT_TRUE(f) << format;
    return f ? decode_texel(*f, std::as_bytes(std::span(bytes)).data()) : Texel{};
}

TEST(TexelFormats, Decode) {
    EXPECT_EQ(number(decoded("RGBA8", {255, 0, 0, 0})[0]), 1.0f);
    EXPECT_EQ(number(decoded("R16", {0x00, 0x80})[0]), 32768 / 65535.0f);
    EXPECT_EQ(number(decoded("RG8SN", {0x80, 0x7f})[0]), -1.0f); // - 128 counts as - 127
    EXPECT_EQ(number(decoded("RG8SN", {0x80, 0x7f})[1]), 1.0f);
    EXPECT_EQ(decoded("R16I", {0xff, 0xff})[0], ~0u);
    EXPECT_EQ(decoded("R16UI", {0xff, 0xff})[0], 0xffffu);
    EXPECT_EQ(number(decoded("R16F", {0x00, 0xbc})[0]), -1.0f);
    EXPECT_EQ(number(decoded("R16F", {0x01, 0x00})[0]), 0x1p-24f);
    EXPECT_EQ(number(decoded("RGB10A2", {0xff, 0x03, 0x00, 0xc0})[0]), 1.0f);
    EXPECT_EQ(number(decoded("RGB10A2", {0xff, 0x03, 0x00, 0xc0})[3]), 1.0f);
    // 11-bit 1.0 is 15 << 6 = 0x3c0; 10-bit 2.0 is 16 << 5 = 0x200, at bit 22.
    EXPECT_EQ(number(decoded("R11G11B10F", {0xc0, 0x03, 0x00, 0x80})[0]), 1.0f);
    EXPECT_EQ(number(decoded("R11G11B10F", {0xc0, 0x03, 0x00, 0x80})[2]), 2.0f);
    // Mantissa 256 under exponent 16: 256 * 2^(16 - 24) = 1.
    EXPECT_EQ(number(decoded("RGB9E5", {0x00, 0x01, 0x00, 0x80})[0]), 1.0f);
    EXPECT_NEAR(number(decoded("RGBA8_SRGB", {188, 0, 0, 128})[0]), 0.5029f, 1e-4f);
    EXPECT_EQ(number(decoded("RGBA8_SRGB", {188, 0, 0, 128})[3]), 128 / 255.0f);
    EXPECT_FALSE(texel_format("RGB33"));
    EXPECT_FALSE(texel_format("R8F"));
    EXPECT_FALSE(texel_format(""));
}

std::vector<u8> encoded(const char* const format, const Texel& texel) {
    const auto f = *texel_format(format);
    std::vector<u8> bytes(f.bytes);
    encode_texel(f, texel, std::as_writable_bytes(std::span(bytes)).data());
    return bytes;
}

TEST(TexelFormats, Encode) {
    EXPECT_EQ(encoded("RG8", {word(0.5f), word(7)}), (std::vector<u8>{128, 255})); // 127.5 to even
    EXPECT_EQ(encoded("RG8", {word(-1), 0x7fc00000}), (std::vector<u8>{0, 0}));
    EXPECT_EQ(encoded("R8SN", {word(-1)}), (std::vector<u8>{0x81}));
    EXPECT_EQ(encoded("RG8UI", {300, 7}), (std::vector<u8>{255, 7}));
    EXPECT_EQ(encoded("RG8I", {static_cast<u32>(-300), 7}), (std::vector<u8>{0x80, 7}));
    EXPECT_EQ(encoded("R16F", {word(65520)}), (std::vector<u8>{0x00, 0x7c})); // overflows
    EXPECT_EQ(encoded("R16F", {word(65519)}), (std::vector<u8>{0xff, 0x7b}));
    EXPECT_EQ(encoded("R16F", {word(0x1p-25f)}), (std::vector<u8>{0x00, 0x00})); // half of the least, to even
    EXPECT_EQ(encoded("R11G11B10F", {word(1), word(-1), word(2)}), (std::vector<u8>{0xc0, 0x03, 0x00, 0x80}));
    EXPECT_EQ(encoded("RGB9E5", {word(1), 0, 0}), (std::vector<u8>{0x00, 0x01, 0x00, 0x80}));
    EXPECT_EQ(encoded("RGBA8_SRGB", {word(0.5f), 0, 0, word(0.5f)}), (std::vector<u8>{188, 0, 0, 128}));
}

} // namespace
