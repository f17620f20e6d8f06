// Texel values worked out by hand, and every bit pattern of the small formats there and back.
#include "texture/texel.h"

#include <cmath>
#include <cstring>
#include <gtest/gtest.h>

namespace heaviside::texture {
namespace {

Numbers decode(const char* format, u64 low, u64 high = 0) {
    const u64 words[] = {low, high};
    return decode_texel(info(format_named(format)), reinterpret_cast<const std::byte*>(words));
}
u64 encode(const char* format, const Numbers& n) {
    u64 words[2]{};
    encode_texel(info(format_named(format)), n, reinterpret_cast<std::byte*>(words));
    return words[0];
}

TEST(Texel, OrdersOfPackedFormats) { // REN-010
    EXPECT_EQ(decode("RGB565", 0x001f), (Numbers{1, 0, 0, 1}));
    EXPECT_EQ(decode("BGR565", 0x001f), (Numbers{0, 0, 1, 1}));
    EXPECT_EQ(decode("RGB5A1", 0x8000), (Numbers{0, 0, 0, 1}));
    EXPECT_EQ(decode("RGB5A1", 0x7c00), (Numbers{0, 0, 1, 0}));
    EXPECT_EQ(decode("BGR5A1", 0x7c00), (Numbers{1, 0, 0, 0}));
    EXPECT_EQ(decode("A1BGR5", 0x0001), (Numbers{0, 0, 0, 1}));
    EXPECT_EQ(decode("A1BGR5", 0xf800), (Numbers{1, 0, 0, 0}));
    EXPECT_EQ(decode("RGBA4", 0xf00f), (Numbers{1, 0, 0, 1}));
    EXPECT_EQ(decode("RGB5", 0x03e0), (Numbers{0, 1, 0, 1})); // the spare bit is no alpha
    EXPECT_EQ(decode("BGRX8", 0x00ff0000), (Numbers{1, 0, 0, 1}));
    EXPECT_EQ(decode("RGB10A2", 0xc00003ff), (Numbers{1, 0, 0, 1}));
}

TEST(Texel, NumbersOfEachKind) {
    EXPECT_EQ(decode("RGBA8SN", 0x81807f00), (Numbers{0, 1, -1, -1}));
    EXPECT_EQ(decode("RG16I", 0x8000ffff), (Numbers{-1, -32768, 0, 1}));
    EXPECT_EQ(decode("R32UI", 0xffffffff)[0], 4294967295.0);
    EXPECT_EQ(decode("RGB32F", 0x400000003f800000, 0xbf000000), (Numbers{1, 2, -0.5, 1}));
    EXPECT_EQ(decode("RG16F", 0xc0003c00), (Numbers{1, -2, 0, 1}));
    EXPECT_EQ(decode("R16F", 0x0001)[0], std::ldexp(1, -24));
    EXPECT_EQ(decode("R11G11B10F", 0x3c0u | 0x380u << 11 | 0x1e0u << 22), (Numbers{1, 0.5, 1, 1}));
    EXPECT_EQ(decode("RGB9E5F", 256u | 128u << 9 | 16u << 27), (Numbers{1, 0.5, 0, 1}));
    EXPECT_EQ(decode("DEPTH24_STENCIL8", 0xffffff07), (Numbers{1, 7, 0, 1}));
    EXPECT_EQ(decode("DEPTH32F_STENCIL8", 0x053f800000), (Numbers{1, 5, 0, 1}));
    EXPECT_EQ(decode("DEPTH24", 0x00ffffff)[0], 1);
}

TEST(Texel, RoundsClampsAndSaturates) {
    EXPECT_EQ(encode("RGBA8", {0.5, -1, 2, std::nan("")}), 0x00ff0080u);
    EXPECT_EQ(encode("R8I", {-200, 0, 0, 0}), 0x80u);
    EXPECT_EQ(encode("R16F", {65520, 0, 0, 0}), 0x7c00u); // halfway past the largest
    EXPECT_EQ(encode("R16F", {65519, 0, 0, 0}), 0x7bffu);
    EXPECT_EQ(encode("R16F", {-0.0, 0, 0, 0}), 0x8000u);
    EXPECT_EQ(encode("R11G11B10F", {-1, 1, 65536, 0}) & 0x7ff, 0u);
    EXPECT_EQ(encode("RGB9E5F", {65408, 0, 0, 0}), 0xf80001ffu);
    EXPECT_EQ(encode("RGB9E5F", {1, 0.5, 0, 0}), 256u | 128u << 9 | 16u << 27);
    EXPECT_EQ(encode("DEPTH24_STENCIL8", {1, 7, 0, 0}), 0xffffff07u);
}

TEST(Texel, EveryPatternOfSmallFormatsComesBack) {
    for (u32 value = 1; value < format_count; ++value) {
        const FormatInfo& f = info(value);
        if (is_compressed(f) || f.block_bytes > 2)
            continue;
        for (u64 pattern = 0; pattern < u64{1} << (8 * f.block_bytes); ++pattern) {
            u64 out = 0;
            encode_texel(f, decode(f.name, pattern), reinterpret_cast<std::byte*>(&out));
            u64 expected = pattern;
            if (f.kind == Kind::Snorm) // the lowest value counts as the one above
                for (u32 at = 0; at < f.block_bytes * 8u; at += f.bits[0])
                    if ((pattern >> at & ((1u << f.bits[0]) - 1)) == 1u << (f.bits[0] - 1))
                        expected += u64{1} << at;
            if (f.has_x)
                expected &= 0x7fff; // RGB5, BGR5
            if (f.kind == Kind::Float && (pattern & 0x7c00) == 0x7c00 && (pattern & 0x3ff))
                continue; // NaN stays one, not which
            ASSERT_EQ(out, expected) << f.name << " " << pattern;
        }
    }
}

} // namespace
} // namespace heaviside::texture
