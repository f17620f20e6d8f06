// Fetches, lookups, gathers, queries and handles on textures that the corpus does not have. Texture slot n is handle
// number 8 + 2 n of the driver's bank, c[0x2][0x20 + 8 n].
#include "tests/corpus/assembled.h"

#include <bit>
#include <fmt/format.h>

namespace corpus {
namespace {

class Textures : public Assembled {};

Resource texture(int slot, NVNtextureTarget target, const Format& format, std::array<int, 3> size, int layers,
                 Blob data, int levels = 1) {
    const auto kind = target == NVN_TEXTURE_TARGET_BUFFER ? Resource::Kind::TexelBuffer : Resource::Kind::Texture;
    Resource r = resource_of(kind, NVN_SHADER_STAGE_COMPUTE, slot, target, format, size, layers, std::move(data));
    r.levels = levels;
    r.sampler.wrap = NVN_WRAP_MODE_CLAMP_TO_EDGE;
    return r;
}

Words counted(std::uint32_t count, std::uint32_t first = 0) {
    Words words;
    for (std::uint32_t i = 0; i < count; ++i)
        words.push_back(first + i);
    return words;
}

std::vector<float> counted_floats(std::uint32_t count, float first = 0) {
    std::vector<float> numbers;
    for (std::uint32_t i = 0; i < count; ++i)
        numbers.push_back(first + static_cast<float>(i));
    return numbers;
}

float number(std::uint32_t word) {
    return std::bit_cast<float>(word);
}

struct Shape {
    const char* text;
    NVNtextureTarget target;
    std::array<int, 3> size;
    int layers;
    const char* coordinates;       // of thread R0 into R8 and behind it, the layer first
    std::array<unsigned, 3> query; // what TXQ says: width, height or layers, depth or layers
};

constexpr const char *low = "LOP32I.AND R8, R0, 0x3\nBFE.U32 R9, R0, 0x202\nSHR.U32 R10, R0, 0x4\n",
                     *layer_first = "SHR.U32 R8, R0, 0x4\nLOP32I.AND R9, R0, 0x3\nBFE.U32 R10, R0, 0x202\n";

constexpr Shape shapes[] = {
    {"1D", NVN_TEXTURE_TARGET_1D, {64, 1, 1}, 1, "MOV R8, R0\n", {64, 1, 1}},
    {"1D", NVN_TEXTURE_TARGET_BUFFER, {64, 1, 1}, 1, "MOV R8, R0\n", {64, 1, 1}},
    {"ARRAY_1D",
     NVN_TEXTURE_TARGET_1D_ARRAY,
     {16, 1, 1},
     4,
     "SHR.U32 R8, R0, 0x4\nLOP32I.AND R9, R0, 0xf\n",
     {16, 4, 1}},
    {"2D", NVN_TEXTURE_TARGET_2D, {8, 8, 1}, 1, "LOP32I.AND R8, R0, 0x7\nSHR.U32 R9, R0, 0x3\n", {8, 8, 1}},
    {"ARRAY_2D", NVN_TEXTURE_TARGET_2D_ARRAY, {4, 4, 1}, 4, layer_first, {4, 4, 4}},
    {"3D", NVN_TEXTURE_TARGET_3D, {4, 4, 4}, 1, low, {4, 4, 4}},
};

// Also ledger row REN-032: one instruction for buffers and one-dimensional textures.
TEST_F(Textures, FetchesByNumber) {
    for (const Shape& s : shapes) {
        SCOPED_TRACE(fmt::format("{} {}", s.text, static_cast<int>(s.target)));
        const auto got =
            dispatch(fmt::format("{}TLD.LZ R4, R8, RZ, 0x8, {}, 0x1\n", s.coordinates, s.text),
                     {texture(0, s.target, format::r32ui, s.size, s.layers, blob_of(counted(64, 500)))}, 64);
        for (std::uint32_t n = 0; n < 64; ++n)
            EXPECT_EQ(got.threads[n][0], 500 + n);
    }
}

TEST_F(Textures, TellTheirSizes) {
    for (const Shape& s : shapes) {
        SCOPED_TRACE(fmt::format("{} {}", s.text, static_cast<int>(s.target)));
        // the fetch says what kind of texture it is
        const auto got =
            dispatch(fmt::format("{}TLD.LZ R12, R8, RZ, 0x8, {}, 0x1\n"
                                 "TXQ R4, RZ, TEX_HEADER_DIMENSION, 0x8, 0xf\n"
                                 "ISETP.EQ.AND P0, PT, R12, 0x1, PT\n@P0 MOV R7, R12\n",
                                 s.coordinates, s.text),
                     {texture(0, s.target, format::r32ui, s.size, s.layers, blob_of(counted(64, 500)))}, 1);
        EXPECT_EQ(got.threads[0][0], s.query[0]);
        EXPECT_EQ(got.threads[0][1], s.query[1]);
        if (s.target == NVN_TEXTURE_TARGET_2D_ARRAY || s.target == NVN_TEXTURE_TARGET_3D) {
            EXPECT_EQ(got.threads[0][2], s.query[2]);
        }
    }
}

// Ledger row REN-034.
TEST_F(Textures, ABufferTellsItsRealSize) {
    const auto got = dispatch(
        "TLD.LZ R12, R0, RZ, 0x8, 1D, 0x1\nMOV32I R8, 0x4e1f\nTLD.LZ R4, R8, RZ, 0x8, 1D, 0x1\n"
        "TXQ R5, RZ, TEX_HEADER_DIMENSION, 0x8, 0x1\nMOV R6, R12\n",
        {texture(0, NVN_TEXTURE_TARGET_BUFFER, format::r32ui, {20000, 1, 1}, 1, blob_of(counted(20000, 3)))}, 1);
    EXPECT_EQ(got.threads[0], (Words{20002, 20000, 3, 0}));
}

TEST_F(Textures, LevelsAndOffsetsOfFetches) {
    // 4 x 4 texels 0 to 15, then 2 x 2 texels 100 to 103, then 200
    std::vector<float> texels = counted_floats(16);
    for (const float t : {100.f, 101.f, 102.f, 103.f, 200.f})
        texels.push_back(t);
    // R9 is y; R10 the level or the packed offset (x in four bits, then y)
    const auto got = dispatch("MOV R8, 0x1\nMOV R9, RZ\nMOV R10, 0x1\nMOV R11, 0x2\n"
                              "TLD.LL R4, R8, R10, 0x8, 2D, 0x1\n"
                              "TLD.LL R5, RZ, R11, 0x8, 2D, 0x1\n"
                              "MOV R10, 0x1f\n" // x - 1, y + 1
                              "TLD.LZ.AOFFI R6, R8, R10, 0x8, 2D, 0x1\n"
                              "MOV R12, 0x1\nMOV R13, 0x11\n"
                              "TLD.LL.AOFFI R7, RZ, R12, 0x8, 2D, 0x1\n",
                              {texture(0, NVN_TEXTURE_TARGET_2D, format::r32f, {4, 4, 1}, 1, blob_of(texels), 3)}, 1);
    EXPECT_EQ(number(got.threads[0][0]), 101);
    EXPECT_EQ(number(got.threads[0][1]), 200);
    EXPECT_EQ(number(got.threads[0][2]), 4);
    EXPECT_EQ(number(got.threads[0][3]), 103);
}

// Ledger rows GFX-152 and REN-048.
TEST_F(Textures, LookupsInEveryDimension) {
    const std::string quarter = "MOV32I R21, 0x3ec00000\n",
                      half = "MOV32I R22, 0x3f200000\n"; // 0.375 and 0.625: texels 1, 2
    struct Lookup {
        const char* text;
        NVNtextureTarget target;
        std::array<int, 3> size;
        int layers;
        std::string coordinates;
        unsigned texel;
    };
    const Lookup lookups[] = {
        {"1D", NVN_TEXTURE_TARGET_1D, {4, 1, 1}, 1, "MOV R8, R22\n", 2},
        {"ARRAY_1D", NVN_TEXTURE_TARGET_1D_ARRAY, {4, 1, 1}, 3, "MOV R8, 0x2\nMOV R9, R21\n", 1 + 4 * 2},
        {"2D", NVN_TEXTURE_TARGET_2D, {4, 4, 1}, 1, "MOV R8, R21\nMOV R9, R22\n", 1 + 4 * 2},
        {"ARRAY_2D",
         NVN_TEXTURE_TARGET_2D_ARRAY,
         {4, 4, 1},
         3,
         "MOV R8, 0x1\nMOV R9, R21\nMOV R10, R22\n",
         1 + 4 * 2 + 16},
        {"3D", NVN_TEXTURE_TARGET_3D, {4, 4, 4}, 1, "MOV R8, R21\nMOV R9, R22\nMOV R10, R21\n", 1 + 4 * 2 + 16},
        // -y face (3), s = x / |y| from the left, t = -z / |y| from the top: x 0.25 of 1 is texel 2 of 4, z -0.75: row
        // 3
        {"CUBE",
         NVN_TEXTURE_TARGET_CUBEMAP,
         {4, 4, 1},
         6,
         "MOV32I R8, 0x3e800000\nMOV32I R9, 0xbf800000\nMOV32I R10, 0xbf400000\n",
         16 * 3 + 2 + 4 * 3},
        {"ARRAY_CUBE",
         NVN_TEXTURE_TARGET_CUBEMAP_ARRAY,
         {4, 4, 1},
         12,
         "MOV R8, 0x1\nMOV32I R9, 0x3e800000\nMOV32I R10, 0xbf800000\nMOV32I R11, 0xbf400000\n",
         16 * 9 + 2 + 4 * 3},
    };
    for (const Lookup& l : lookups) {
        SCOPED_TRACE(l.text);
        const auto count = static_cast<std::uint32_t>(l.size[0] * l.size[1] * l.size[2] * l.layers);
        const auto got =
            dispatch(quarter + half + l.coordinates +
                         fmt::format("TEX.LZ P0, R4, R8, RZ, 0x8, {0}, 0xf\n@P0 MOV R5, 0x7\n", l.text),
                     {texture(0, l.target, format::r32f, l.size, l.layers, blob_of(counted_floats(count)))}, 1);
        EXPECT_EQ(number(got.threads[0][0]), l.texel);
        EXPECT_EQ(got.threads[0][1], 0u) << "the predicate says what is not resident";
        EXPECT_EQ(number(got.threads[0][3]), 1);
    }
    // 3D, moved by (1, 0, -1)
    const auto moved =
        dispatch(quarter + half +
                     "MOV R8, R21\nMOV R9, R22\nMOV R10, R22\nMOV32I R12, 0xf01\n"
                     "TEX.LZ.AOFFI R4, R8, R12, 0x8, 3D, 0x1\n",
                 {texture(0, NVN_TEXTURE_TARGET_3D, format::r32f, {4, 4, 4}, 1, blob_of(counted_floats(64)))}, 1);
    EXPECT_EQ(number(moved.threads[0][0]), 2 + 4 * 2 + 16 * 1);
}

// Ledger row REN-048: the smallest level that may be read, with given levels, gradients and none of either.
TEST_F(Textures, LevelsThatAreClamped) {
    std::vector<float> texels = counted_floats(64);
    for (int level = 1; level < 4; ++level)
        for (int i = 0; i < (8 >> level) * (8 >> level); ++i)
            texels.push_back(static_cast<float>(100 * level));
    const auto got = dispatch("MOV32I R8, 0x3f000000\nMOV32I R9, 0x3f000000\n"
                              "MOV32I R13, 0x40000000\n" // clamp 2
                              "MOV32I R12, 0x3f800000\n" // level 1
                              "TEX.LL.LC R4, R8, R12, 0x8, 2D, 0x1\n"
                              "MOV32I R12, 0x40400000\n" // level 3
                              "TEX.LL.LC R5, R8, R12, 0x8, 2D, 0x1\n"
                              "TEX.LC R6, R8, R13, 0x8, 2D, 0x1\n"
                              // a quarter of the texture per pixel: level 1
                              "MOV32I R16, 0x3e800000\nMOV R17, RZ\nMOV R18, RZ\nMOV32I R19, 0x3e800000\nMOV R20, R13\n"
                              "TXD.LC R7, R8, R16, 0x8, 2D, 0x1\n",
                              {texture(0, NVN_TEXTURE_TARGET_2D, format::r32f, {8, 8, 1}, 1, blob_of(texels), 4)}, 1);
    EXPECT_EQ(number(got.threads[0][0]), 200);
    EXPECT_EQ(number(got.threads[0][1]), 300);
    EXPECT_EQ(number(got.threads[0][2]), 200);
    EXPECT_EQ(number(got.threads[0][3]), 200);
}

TEST_F(Textures, GradientsChooseTheLevel) {
    std::vector<float> texels = counted_floats(64);
    for (int level = 1; level < 4; ++level)
        for (int i = 0; i < (8 >> level) * (8 >> level); ++i)
            texels.push_back(static_cast<float>(100 * level));
    // thread n steps over 2^n texels in x
    const auto got = dispatch("MOV32I R8, 0x3f000000\nMOV32I R9, 0x3f000000\n"
                              "SHL R16, R0, 0x17\nIADD32I R16, R16, 0x3e000000\nMOV R17, RZ\nMOV R18, RZ\nMOV R19, RZ\n"
                              "TXD R4, R8, R16, 0x8, 2D, 0x1\n",
                              {texture(0, NVN_TEXTURE_TARGET_2D, format::r32f, {8, 8, 1}, 1, blob_of(texels), 4)}, 4);
    EXPECT_LT(number(got.threads[0][0]), 64);
    for (unsigned n = 1; n < 4; ++n)
        EXPECT_EQ(number(got.threads[n][0]), 100 * n);
}

// Between texels (1, 1) and (2, 2) of 4 x 4. Counter-clockwise from the lower left one, whose row is the larger.
TEST_F(Textures, Gathers) {
    std::vector<float> texels;
    for (int i = 0; i < 16; ++i)
        for (int c = 0; c < 4; ++c)
            texels.push_back(static_cast<float>(i + 100 * c));
    const auto gather = [&](const std::string& instruction) {
        const auto got =
            dispatch("MOV32I R8, 0x3f000000\nMOV32I R9, 0x3f000000\n" + instruction,
                     {texture(0, NVN_TEXTURE_TARGET_2D, format::rgba32f, {4, 4, 1}, 1, blob_of(texels))}, 1);
        std::vector<float> numbers;
        for (const std::uint32_t word : got.threads[0])
            numbers.push_back(number(word));
        return numbers;
    };
    using Four = std::vector<float>;
    EXPECT_EQ(gather("TLD4.R R4, R8, RZ, 0x8, 2D, 0xf\n"), (Four{9, 10, 6, 5}));
    EXPECT_EQ(gather("TLD4.G R4, R8, RZ, 0x8, 2D, 0xf\n"), (Four{109, 110, 106, 105}));
    EXPECT_EQ(gather("TLD4.A R4, R8, RZ, 0x8, 2D, 0xf\n"), (Four{309, 310, 306, 305}));
    EXPECT_EQ(gather("TLD4.B R4, R8, RZ, 0x8, 2D, 0x5\n"), (Four{209, 206, 0, 0})) << "the mask leaves two";
    EXPECT_EQ(gather("MOV32I R12, 0x3f01\nTLD4.R.AOFFI R4, R8, R12, 0x8, 2D, 0xf\n"), (Four{6, 7, 3, 2})) << "(1, -1)";
    // four offsets: (0, 0), (1, 0), (0, 1), (-1, -1) of the upper left texel, known at run time only
    EXPECT_EQ(gather("MOV32I R12, 0x00010000\nMOV32I R13, 0x3f3f0100\nIADD R12, R12, R0\nIADD R13, R13, R0\n"
                     "TLD4.R.PTP R4, R8, R12, 0x8, 2D, 0xf\n"),
              (Four{5, 6, 9, 0}));
}

// --- handles

Resource bindless(Resource r, int ubo, int offset) {
    r.bindless = Bindless{ubo, offset};
    return r;
}

Resource one_texel(int slot, float value) {
    return texture(slot, NVN_TEXTURE_TARGET_2D, format::r32f, {1, 1, 1}, 1, blob_of(std::vector<float>{value}));
}

// Ledger rows SHD-140 and SHD-143: slots chosen by branches, by one of whose ways there is no handle at all.
TEST_F(Textures, HandlesChosenByBranches) {
    const auto got = dispatch("ISETP.EQ.AND P0, PT, R0, RZ, PT\nISETP.EQ.AND P1, PT, R0, 0x1, PT\n"
                              "ISETP.LT.AND P2, PT, R0, 0x3, PT\n"
                              "SSY joined\n@!P2 BRA none\n"
                              "MOV R12, c[0x2][0x20]\n@P0 MOV R12, c[0x2][0x58]\n@P1 MOV R12, c[0x2][0x100]\nSYNC\n"
                              "none:\nSYNC\njoined:\n"
                              "@P2 TLD.B.LZ R4, RZ, R12, 0x0, 2D, 0x1\n",
                              {one_texel(0, 10), one_texel(7, 11), one_texel(28, 12)}, 4);
    EXPECT_EQ(number(got.threads[0][0]), 11);
    EXPECT_EQ(number(got.threads[1][0]), 12);
    EXPECT_EQ(number(got.threads[2][0]), 10);
    EXPECT_EQ(got.threads[3][0], 0u);
}

// Ledger rows SHD-145 and SHD-146: arrays of handles at run-time offsets, in the driver's bank and in a uniform buffer.
TEST_F(Textures, ArraysOfHandles) {
    const auto got = dispatch("SHL R8, R0, 0x3\n"
                              "LDC R12, c[0x2][R8+0x80]\nTLD.B.LZ R4, RZ, R12, 0x0, 2D, 0x1\n"
                              "LDC R12, c[0x4][R8+0x40]\nTLD.B.LZ R5, RZ, R12, 0x0, 2D, 0x1\n",
                              {one_texel(12, 1), one_texel(13, 2), one_texel(14, 3), one_texel(15, 4),
                               bindless(one_texel(0, 21), 1, 0x40), bindless(one_texel(0, 22), 1, 0x48),
                               bindless(one_texel(0, 24), 1, 0x58)},
                              4);
    for (unsigned n = 0; n < 4; ++n) {
        EXPECT_EQ(number(got.threads[n][0]), 1 + n);
        EXPECT_EQ(number(got.threads[n][1]), n == 2 ? 0 : 21 + n) << "a word that is no handle reads nothing";
    }
}

// Ledger row SHD-144: handles of two uniform buffers.
TEST_F(Textures, HandlesOfUniformBuffersChosenByAFlag) {
    const auto got = dispatch("ISETP.EQ.AND P0, PT, R0, RZ, PT\nMOV R12, c[0x3][0x130]\n@P0 MOV R12, c[0x5][0x1d0]\n"
                              "TLD.B.LZ R4, RZ, R12, 0x0, 2D, 0x1\n",
                              {bindless(one_texel(0, 21), 0, 0x130), bindless(one_texel(0, 22), 2, 0x1d0)}, 2);
    EXPECT_EQ(number(got.threads[0][0]), 22);
    EXPECT_EQ(number(got.threads[1][0]), 21);
}

// Ledger row GFX-162: a texture's word and a sampler's, joined in each way that compilers use. The coordinate lies
// between texels 0 and 1 of a row 0, 8: the linear sampler gives their mean, the nearest one the second.
TEST_F(Textures, TexturesAndSamplersJoined) {
    Resource row = texture(0, NVN_TEXTURE_TARGET_2D, format::r32f, {2, 1, 1}, 1, blob_of(std::vector<float>{0, 8}));
    Resource other = one_texel(1, 1);
    other.sampler.linear = true;
    for (const char* join : {"LOP.OR R12, R10, R11\n", "IADD R12, R10, R11\n", "LOP3.LUT R12, R10, R11, RZ, 0xfc\n",
                             "MOV32I R13, 0xc14\nBFI R12, R14, R13, R10\n"}) {
        SCOPED_TRACE(join);
        const auto got = dispatch(std::string("MOV R10, c[0x2][0x20]\nLOP32I.AND R10, R10, 0xfffff\n"
                                              "MOV R11, c[0x2][0x28]\nLOP32I.AND R11, R11, 0xfff00000\n"
                                              "SHR.U32 R14, R11, 0x14\n") +
                                      join +
                                      "MOV32I R8, 0x3f000000\nMOV32I R9, 0x3f000000\n"
                                      "TEX.B.LZ R4, R8, R12, 0x0, 2D, 0x1\nTEX.LZ R5, R8, 0x8, 2D, 0x1\n",
                                  {row, other}, 1);
        EXPECT_EQ(number(got.threads[0][0]), 4);
        EXPECT_EQ(number(got.threads[0][1]), 8);
    }
}

// Ledger row SHD-103: integers read by code that does not say so, through handles of which no state is known.
TEST_F(Textures, IntegersThroughUnknownHandles) {
    Resource volume = texture(0, NVN_TEXTURE_TARGET_3D, format::rgba8ui, {1, 1, 1}, 1, {1, 2, 3, 250});
    Resource buffer = texture(0, NVN_TEXTURE_TARGET_BUFFER, format::r16ui, {2, 1, 1}, 1, {0xff, 0xff, 0x34, 0x12});
    const auto got = dispatch("MOV R12, c[0x3][0x10]\nMOV R8, RZ\nMOV R9, RZ\nMOV R10, RZ\n"
                              "ISETP.EQ.AND P0, PT, R0, RZ, PT\n"
                              "TLD.B.LZ R4, R8, R12, 0x0, 3D, 0xf\n"
                              "MOV R12, c[0x3][0x20]\nMOV R8, 0x1\n@!P0 TLD.B.LZ R4, R8, R12, 0x0, 1D, 0x1\n",
                              {bindless(volume, 0, 0x10), bindless(buffer, 0, 0x20)}, 2);
    EXPECT_EQ(got.threads[0], (Words{1, 2, 3, 250}));
    EXPECT_EQ(got.threads[1][0], 0x1234u);
}

} // namespace
} // namespace corpus
