// SULD, SUST, SUATOM and SURED: dimensions, sizes, bounds modes, operations. Image slot n is handle number 0x48 + 2 n
// of the driver's bank.
#include "tests/corpus/assembled.h"

#include <algorithm>
#include <bit>
#include <fmt/format.h>

namespace corpus {
namespace {

class Images : public Assembled {};

constexpr NVNshaderStage compute = NVN_SHADER_STAGE_COMPUTE;

Resource image(int slot, NVNtextureTarget target, const Format& format, std::array<int, 3> size, int layers,
               Blob data) {
    const auto kind = target == NVN_TEXTURE_TARGET_BUFFER ? Resource::Kind::ImageBuffer : Resource::Kind::Image;
    return resource_of(kind, compute, slot, target, format, size, layers, std::move(data));
}

Words counted(std::uint32_t count, std::uint32_t first = 0) {
    Words words;
    for (std::uint32_t i = 0; i < count; ++i)
        words.push_back(first + i);
    return words;
}

struct Shape {
    const char* text;
    NVNtextureTarget target;
    std::array<int, 3> size;
    int layers;
    const char* coordinates; // of thread R0 into R8, R9, R10
};

// 64 texels each; thread n takes texel n.
constexpr Shape shapes[] = {
    {"1D", NVN_TEXTURE_TARGET_1D, {64, 1, 1}, 1, "MOV R8, R0\n"},
    {"1D_BUFFER", NVN_TEXTURE_TARGET_BUFFER, {64, 1, 1}, 1, "MOV R8, R0\n"},
    {"1D_ARRAY", NVN_TEXTURE_TARGET_1D_ARRAY, {16, 1, 1}, 4, "LOP32I.AND R8, R0, 0xf\nSHR.U32 R9, R0, 0x4\n"},
    {"2D", NVN_TEXTURE_TARGET_2D, {8, 8, 1}, 1, "LOP32I.AND R8, R0, 0x7\nSHR.U32 R9, R0, 0x3\n"},
    {"2D_ARRAY",
     NVN_TEXTURE_TARGET_2D_ARRAY,
     {4, 4, 1},
     4,
     "LOP32I.AND R8, R0, 0x3\nBFE.U32 R9, R0, 0x202\nSHR.U32 R10, R0, 0x4\n"},
    {"3D",
     NVN_TEXTURE_TARGET_3D,
     {4, 4, 4},
     1,
     "LOP32I.AND R8, R0, 0x3\nBFE.U32 R9, R0, 0x202\nSHR.U32 R10, R0, 0x4\n"},
};

TEST_F(Images, EveryDimensionKeepsWhatIsStored) {
    for (const Shape& s : shapes) {
        SCOPED_TRACE(s.text);
        // each texel was 1000 + n: the old value is loaded, n + 5 stored, and loaded again
        const auto got =
            dispatch(fmt::format("{1}SULD.D.{0}.IGN R4, [R8], 0x48\n"
                                 "IADD32I R11, R0, 0x5\n"
                                 "SUST.D.{0}.IGN [R8], R11, 0x48\n"
                                 "SULD.D.{0}.IGN R5, [R8], 0x48\n",
                                 s.text, s.coordinates),
                     {image(0, s.target, format::r32ui, s.size, s.layers, blob_of(counted(64, 1000)))}, 64);
        for (std::uint32_t n = 0; n < 64; ++n) {
            EXPECT_EQ(got.threads[n][0], 1000 + n);
            EXPECT_EQ(got.threads[n][1], n + 5);
        }
        EXPECT_EQ(got.images[0], counted(64, 5));
    }
}

TEST_F(Images, AtomicsOnEveryDimension) {
    for (const Shape& s : shapes) {
        SCOPED_TRACE(s.text);
        const auto got =
            dispatch(fmt::format("{1}SUATOM.D.{0}.ADD.IGN R4, [R8], R0, 0x48\n"
                                 "SUATOM.D.{0}.ADD.IGN R5, [R8], R4, 0x48\n",
                                 s.text, s.coordinates),
                     {image(0, s.target, format::r32ui, s.size, s.layers, blob_of(counted(64, 1000)))}, 64);
        for (std::uint32_t n = 0; n < 64; ++n) {
            EXPECT_EQ(got.threads[n][0], 1000 + n);
            EXPECT_EQ(got.threads[n][1], 1000 + 2 * n);
            EXPECT_EQ(got.images[0][n], 2000 + 3 * n);
        }
    }
}

// Ledger row SHD-070: 64 threads, one texel.
TEST_F(Images, AThreeDimensionalImageCounts) {
    const auto got = dispatch("MOV32I R8, 0x1\nMOV32I R9, 0x2\nMOV32I R10, 0x3\nMOV32I R11, 0x1\n"
                              "SURED.D.3D.ADD.IGN [R8], R11, 0x48\n",
                              {image(0, NVN_TEXTURE_TARGET_3D, format::r32ui, {4, 4, 4}, 1, Blob(256))}, 64);
    for (unsigned i = 0; i < 64; ++i)
        EXPECT_EQ(got.images[0][i], i == 1 + 4 * 2 + 16 * 3 ? 64u : 0u) << i;
}

// Ledger row SHD-152: a buffer of one texel is a buffer.
TEST_F(Images, ABufferOfOneTexelCounts) {
    const auto got = dispatch("MOV32I R11, 0x1\nSUATOM.D.1D_BUFFER.ADD.IGN R4, [RZ], R11, 0x48\n",
                              {image(0, NVN_TEXTURE_TARGET_BUFFER, format::r32ui, {1, 1, 1}, 1, Blob(4))}, 64);
    EXPECT_EQ(got.images[0][0], 64u);
    std::vector<std::uint32_t> seen;
    for (const Words& thread : got.threads)
        seen.push_back(thread[0]);
    std::sort(seen.begin(), seen.end());
    EXPECT_EQ(seen, counted(64));
}

TEST_F(Images, RawAccessesOfEverySize) {
    const auto check = [](const char* size, const Format& format, const Blob& data, unsigned registers,
                          const std::vector<Words>& loaded, const Blob& stored) {
        SCOPED_TRACE(size);
        const auto texels = static_cast<int>(data.size() / format.bytes());
        // thread n loads texel n and stores its registers to texel n of a second image
        const auto got =
            dispatch(fmt::format("SULD.D.1D.{0}IGN R4, [R0], 0x48\nSUST.D.1D.{0}IGN [R0], R4, 0x4a\n", size),
                     {image(0, NVN_TEXTURE_TARGET_1D, format, {texels, 1, 1}, 1, data),
                      image(1, NVN_TEXTURE_TARGET_1D, format, {texels, 1, 1}, 1, Blob(data.size()))},
                     static_cast<unsigned>(texels));
        for (unsigned n = 0; n < static_cast<unsigned>(texels); ++n)
            for (unsigned k = 0; k < 4; ++k)
                EXPECT_EQ(got.threads[n][k], k < registers ? loaded[n][k] : 0u) << n << " " << k;
        EXPECT_EQ(got.images[1], words_of(stored));
    };
    const Blob bytes{1, 2, 0x80, 0xff};
    check("U8.", format::r8ui, bytes, 1, {{1}, {2}, {0x80}, {0xff}}, bytes);
    check("S8.", format::r8ui, bytes, 1, {{1}, {2}, {0xffffff80}, {0xffffffff}}, bytes);
    const Blob shorts{1, 0, 0, 0x80, 0xff, 0xff, 2, 0};
    check("U16.", format::r16ui, shorts, 1, {{1}, {0x8000}, {0xffff}, {2}}, shorts);
    check("S16.", format::r16ui, shorts, 1, {{1}, {0xffff8000}, {0xffffffff}, {2}}, shorts);
    const Blob words = blob_of(Words{0x11111111, 0x22222222, 0x7fc12345, 0x80000000});
    check("", format::r32ui, words, 1, {{0x11111111}, {0x22222222}, {0x7fc12345}, {0x80000000}}, words);
    check("", format::r32f, words, 1, {{0x11111111}, {0x22222222}, {0x7fc12345}, {0x80000000}}, words);
    check("64.", format::rg32ui, words, 2, {{0x11111111, 0x22222222}, {0x7fc12345, 0x80000000}}, words);
    check("128.", format::rgba32ui, words, 4, {{0x11111111, 0x22222222, 0x7fc12345, 0x80000000}}, words);
}

// Ledger row GFX-081.
TEST_F(Images, RawAccessesPackWhatFormattedOnesConvert) {
    const auto got = dispatch("SULD.D.1D.IGN R4, [RZ], 0x48\nSULD.P.1D.GA.IGN R5, [RZ], 0x48\n",
                              {image(0, NVN_TEXTURE_TARGET_1D, format::rgba8, {1, 1, 1}, 1, {1, 2, 51, 255})}, 1);
    EXPECT_EQ(got.threads[0][0], 0xff330201u);
    EXPECT_NEAR(std::bit_cast<float>(got.threads[0][1]), 2.0 / 255, 1e-6);
    EXPECT_EQ(got.threads[0][2], std::bit_cast<std::uint32_t>(1.0f)) << "the mask's channels lie side by side";
}

// Ledger row GFX-078: what a mask leaves out keeps its value; .BA counts bytes.
TEST_F(Images, MasksAndByteAddresses) {
    const Blob texels = blob_of(Words{1, 2, 3, 4, 5, 6, 7, 8});
    const auto masked = dispatch("MOV32I R4, 0x64\nMOV32I R5, 0x65\nMOV32I R8, 0x1\nSUST.P.1D.GA.IGN [R8], R4, 0x48\n",
                                 {image(0, NVN_TEXTURE_TARGET_1D, format::rgba32ui, {2, 1, 1}, 1, texels)}, 1);
    EXPECT_EQ(masked.images[0], (Words{1, 2, 3, 4, 5, 100, 7, 101}));
    const auto bytes = dispatch("MOV32I R8, 0x10\nMOV32I R9, 0x63\nSULD.D.BA.1D.IGN R4, [R8], 0x48\n"
                                "SUST.D.BA.1D.IGN [R8], R9, 0x48\n",
                                {image(0, NVN_TEXTURE_TARGET_1D, format::r32ui, {8, 1, 1}, 1, texels)}, 1);
    EXPECT_EQ(bytes.threads[0][0], 5u);
    EXPECT_EQ(bytes.images[0], (Words{1, 2, 3, 4, 99, 6, 7, 8}));
}

// Ledger rows GFX-077 and SHD-153. A 4 x 4 array of 2 layers; each thread has one coordinate outside, and one has none.
struct Outside {
    std::int32_t x, y, layer;
};
constexpr Outside outside[] = {{1, 2, 1},   {-1, 2, 1},         {4, 2, 1},          {104, 2, 1},
                               {1, -1, 1},  {1, 4, 1},          {1, 2, -1},         {1, 2, 2},
                               {1, 2, 102}, {0x40000001, 2, 1}, {1, 0x40000002, 1}, {-0x7fffffff, 2, 1}};

std::string coordinates_of_each() {
    std::string body;
    for (unsigned n = 0; n < std::size(outside); ++n)
        body += fmt::format("ISETP.EQ.AND P0, PT, R0, {:#x}, PT\n@P0 MOV32I R8, {:#x}\n@P0 MOV32I R9, {:#x}\n"
                            "@P0 MOV32I R10, {:#x}\n",
                            n, static_cast<std::uint32_t>(outside[n].x), static_cast<std::uint32_t>(outside[n].y),
                            static_cast<std::uint32_t>(outside[n].layer));
    return body;
}

std::uint32_t clamped_texel(const Outside& o) {
    return static_cast<std::uint32_t>(std::clamp(o.x, 0, 3) + 4 * std::clamp(o.y, 0, 3) +
                                      16 * std::clamp(o.layer, 0, 1));
}

Dispatched access_outside(const char* instructions) {
    return dispatch(coordinates_of_each() + instructions,
                    {image(0, NVN_TEXTURE_TARGET_2D_ARRAY, format::r32ui, {4, 4, 1}, 2, blob_of(counted(32, 100)))},
                    static_cast<unsigned>(std::size(outside)));
}

TEST_F(Images, OutsideOfTheImageNothingIsReadOrWritten) {
    for (const char* mode : {"IGN", "TRAP"}) {
        SCOPED_TRACE(mode);
        const auto got = access_outside(fmt::format("SULD.D.2D_ARRAY.{0} R4, [R8], 0x48\n"
                                                    "IADD32I R11, R0, 0x1\n"
                                                    "SUST.D.2D_ARRAY.{0} [R8], R11, 0x48\n"
                                                    "SUATOM.D.2D_ARRAY.ADD.{0} R5, [R8], R11, 0x48\n",
                                                    mode)
                                            .c_str());
        Words expected = counted(32, 100);
        expected[1 + 4 * 2 + 16] = 2;
        EXPECT_EQ(got.images[0], expected);
        for (unsigned n = 0; n < std::size(outside); ++n) {
            EXPECT_EQ(got.threads[n][0], n == 0 ? 100u + 25 : 0u) << n;
            EXPECT_EQ(got.threads[n][1], n == 0 ? 1u : 0u) << n;
        }
    }
}

TEST_F(Images, WithoutASuffixTheNearestTexelIsTaken) {
    const auto loaded = access_outside("SULD.D.2D_ARRAY R4, [R8], 0x48\n");
    for (unsigned n = 0; n < std::size(outside); ++n)
        EXPECT_EQ(loaded.threads[n][0], 100 + clamped_texel(outside[n])) << n;
    const auto added = access_outside("MOV32I R11, 0x3e8\nSUATOM.D.2D_ARRAY.ADD R4, [R8], R11, 0x48\n");
    Words expected = counted(32, 100);
    for (const Outside& o : outside)
        expected[clamped_texel(o)] += 1000;
    EXPECT_EQ(added.images[0], expected);
    const auto stored = access_outside("MOV32I R11, 0x7\nSUST.D.2D_ARRAY [R8], R11, 0x48\n");
    expected = counted(32, 100);
    for (const Outside& o : outside)
        expected[clamped_texel(o)] = 7;
    EXPECT_EQ(stored.images[0], expected);
}

// Ledger rows GFX-079 and GFX-080. Texel 7, operand 0xfffffffe, and the other way round.
TEST_F(Images, OperationsOfAtomics) {
    struct Operation {
        const char* text;
        std::uint32_t seven, other; // what becomes of 7 and of 0xfffffffe
    };
    constexpr std::uint32_t big = 0xfffffffe;
    constexpr Operation operations[] = {
        {"ADD", 5, 5},
        {"MIN", 7, 7},
        {"MAX", big, big},
        {"MIN.S32", big, big},
        {"MAX.S32", 7, 7},
        {"MIN.SD32", big, big},
        {"INC", 8, 0},
        {"DEC", 6, 7},
        {"AND", 6, 6},
        {"OR", 0xffffffff, 0xffffffff},
        {"XOR", 0xfffffff9, 0xfffffff9},
        {"EXCH", big, 7},
    };
    for (const Operation& op : operations) {
        for (const bool returns : {true, false}) {
            if (!returns && std::string(op.text) == "EXCH")
                continue; // there is no such SURED
            SCOPED_TRACE(op.text);
            const auto got =
                dispatch("ISETP.EQ.AND P0, PT, R0, RZ, PT\nMOV32I R11, 0x7\n@P0 MOV32I R11, 0xfffffffe\n" +
                             (returns ? fmt::format("SUATOM.D.1D.{}.IGN R4, [R0], R11, 0x48\n", op.text)
                                      : fmt::format("SURED.D.1D.{}.IGN [R0], R11, 0x48\n", op.text)),
                         {image(0, NVN_TEXTURE_TARGET_1D, format::r32ui, {2, 1, 1}, 1, blob_of(Words{7, big}))}, 2);
            EXPECT_EQ(got.images[0], (Words{op.seven, op.other}));
            EXPECT_EQ(got.threads[0][0], returns ? 7u : 0u);
            EXPECT_EQ(got.threads[1][0], returns ? big : 0u);
        }
    }
    // compare 7: the first texel is exchanged, the second is not
    const auto got =
        dispatch("MOV32I R12, 0x7\nMOV32I R13, 0x2a\nSUATOM.D.1D.CAS.IGN R4, [R0], R12, 0x48\n",
                 {image(0, NVN_TEXTURE_TARGET_1D, format::r32ui, {2, 1, 1}, 1, blob_of(Words{7, big}))}, 2);
    EXPECT_EQ(got.images[0], (Words{42, big}));
    EXPECT_EQ(got.threads[0][0], 7u);
    EXPECT_EQ(got.threads[1][0], big);
}

TEST_F(Images, SignedImagesCompareAsTheInstructionSays) {
    const auto got =
        dispatch("MOV32I R11, 0x3\nSURED.D.1D.MIN.S32.IGN [R0], R11, 0x48\n",
                 {image(0, NVN_TEXTURE_TARGET_1D, format::r32i, {2, 1, 1}, 1, blob_of(Words{0xfffffff0, 9}))}, 2);
    EXPECT_EQ(got.images[0], (Words{0xfffffff0, 3}));
}

// Ledger rows GFX-075 and SHD-147: .B forms take the handle from a register, that of slot 2 is also texture slot 34's.
TEST_F(Images, HandlesFromRegisters) {
    const auto got =
        dispatch("MOV R12, c[0x2][0x130]\nSULD.D.1D.IGN R4, [R0], R12\n"
                 "SULD.D.1D.IGN R5, [R0], 0x4c\nTLD.LZ R6, R0, 0x4c, 1D, 0x1\n",
                 {image(2, NVN_TEXTURE_TARGET_1D, format::r32ui, {2, 1, 1}, 1, blob_of(Words{70, 71}))}, 2);
    for (std::uint32_t n = 0; n < 2; ++n)
        for (unsigned k = 0; k < 3; ++k)
            EXPECT_EQ(got.threads[n][k], 70 + n) << k;
}

} // namespace
} // namespace corpus
