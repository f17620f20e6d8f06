// Copies between buffers and textures through the API.
#include "pixels.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace heaviside::pixels {
namespace {

class Copies : public Pixels {
protected:
    static void copy(const Texture& from, const NVNtextureView& fv, const NVNcopyRegion& fr, const Texture& to,
                     const NVNtextureView& tv, const NVNcopyRegion& tr, int flags = 0) {
        nvnCommandBufferCopyTextureToTexture(c(), &from.object, &fv, &fr, &to.object, &tv, &tr, flags);
    }
    static void copy(const Texture& from, const NVNcopyRegion& fr, const Texture& to, const NVNcopyRegion& tr,
                     int flags = 0) {
        nvnCommandBufferCopyTextureToTexture(c(), &from.object, nullptr, &fr, &to.object, nullptr, &tr, flags);
    }
    static std::size_t noise(std::size_t bytes, u32 seed, bool finite) {
        std::vector<u8> v(bytes);
        for (u8& b : v) {
            seed = seed * 1664525 + 1013904223;
            b = static_cast<u8>(seed >> 24);
            if (finite)
                b &= 0x3b; // no not-a-number, in no format
        }
        return put(std::span<const u8>(v));
    }
};

struct Block {
    NVNformat format;
    int w, h, bytes;
};

TEST_F(Copies, EveryFormatGoesInAndComesOut) { // GFX-161, OBJ-247: rows and images further apart than they must be
    const Block formats[] = {
        {NVN_FORMAT_R8, 1, 1, 1},          {NVN_FORMAT_RG8UI, 1, 1, 2},        {NVN_FORMAT_RGBA8, 1, 1, 4},
        {NVN_FORMAT_RGBA8_SRGB, 1, 1, 4},  {NVN_FORMAT_BGRA8, 1, 1, 4},        {NVN_FORMAT_RGBA8SN, 1, 1, 4},
        {NVN_FORMAT_R16F, 1, 1, 2},        {NVN_FORMAT_RGBA16F, 1, 1, 8},      {NVN_FORMAT_RGBA32F, 1, 1, 16},
        {NVN_FORMAT_RGB10A2, 1, 1, 4},     {NVN_FORMAT_R11G11B10F, 1, 1, 4},   {NVN_FORMAT_RGB9E5F, 1, 1, 4},
        {NVN_FORMAT_RGB565, 1, 1, 2},      {NVN_FORMAT_RGBA4, 1, 1, 2},        {NVN_FORMAT_RGB5A1, 1, 1, 2},
        {NVN_FORMAT_BGR565, 1, 1, 2},      {NVN_FORMAT_A1BGR5, 1, 1, 2},       {NVN_FORMAT_RGBA32UI, 1, 1, 16},
        {NVN_FORMAT_RGB_DXT1, 4, 4, 8},    {NVN_FORMAT_RGBA_DXT3, 4, 4, 16},   {NVN_FORMAT_RGBA_DXT5_SRGB, 4, 4, 16},
        {NVN_FORMAT_RGTC1_SNORM, 4, 4, 8}, {NVN_FORMAT_RGTC2_UNORM, 4, 4, 16}, {NVN_FORMAT_BPTC_UNORM, 4, 4, 16},
        {NVN_FORMAT_BPTC_UFLOAT, 4, 4, 16}};
    for (const Block& f : formats)
        for (const bool volume : {false, true}) {
            const Texture& x = texture({.format = f.format,
                                        .width = 6 * f.w,
                                        .height = 5 * f.h,
                                        .depth = 4,
                                        .target = volume ? NVN_TEXTURE_TARGET_3D : NVN_TEXTURE_TARGET_2D_ARRAY});
            const int pitch = 4 * f.bytes + 16, image = pitch * 5;
            const std::size_t in = noise(static_cast<std::size_t>(image * 2), static_cast<u32>(f.format), true);
            const std::size_t out = take(0x4000), whole = take(0x4000);
            std::memset(s().storage + out, 0xee, 0x4000);
            const NVNcopyRegion region{f.w, 2 * f.h, 1, 4 * f.w, 3 * f.h, 2};
            nvnCommandBufferSetCopyRowStride(c(), pitch);
            nvnCommandBufferSetCopyImageStride(c(), image);
            nvnCommandBufferCopyBufferToTexture(c(), address(in), &x.object, nullptr, &region, 0);
            nvnCommandBufferCopyTextureToBuffer(c(), &x.object, nullptr, &region, address(out), 0);
            nvnCommandBufferSetCopyRowStride(c(), 0);
            nvnCommandBufferSetCopyImageStride(c(), 0);
            const NVNcopyRegion all{0, 0, 0, 6 * f.w, 5 * f.h, 4};
            nvnCommandBufferCopyTextureToBuffer(c(), &x.object, nullptr, &all, address(whole), 0);
            run();
            for (int z = 0; z < 2; ++z)
                for (int y = 0; y < 5; ++y)
                    for (int b = 0; b < pitch; ++b) {
                        const auto i = static_cast<std::size_t>(z * image + y * pitch + b);
                        const bool copied = y < 3 && b < 4 * f.bytes;
                        ASSERT_EQ(load<u8>(out + i), copied ? load<u8>(in + i) : 0xee)
                            << "format " << f.format << (volume ? " 3D " : " ") << z << "," << y << " byte " << b;
                    }
            for (int z = 0; z < 4; ++z)
                for (int y = 0; y < 5; ++y)
                    for (int b = 0; b < 6 * f.bytes; ++b) {
                        const bool inside = z >= 1 && z < 3 && y >= 2 && b >= f.bytes && b < 5 * f.bytes;
                        const auto from = static_cast<std::size_t>((z - 1) * image + (y - 2) * pitch + b - f.bytes);
                        ASSERT_EQ(load<u8>(whole + static_cast<std::size_t>((z * 5 + y) * 6 * f.bytes + b)),
                                  inside ? load<u8>(in + from) : 0)
                            << "format " << f.format << (volume ? " 3D " : " ") << z << "," << y << " byte " << b;
                    }
        }
}

TEST_F(Copies, RowsOfOneDimensionalArraysAreLayers) { // GFX-166
    const Texture& x = texture({.format = NVN_FORMAT_R32UI, .height = 4, .target = NVN_TEXTURE_TARGET_1D_ARRAY});
    std::vector<u32> values(16);
    for (u32 i = 0; i < 16; ++i)
        values[i] = i + 1;
    const NVNcopyRegion region{0, 1, 0, 8, 2, 1}, all{0, 0, 0, 8, 4, 1};
    nvnCommandBufferCopyBufferToTexture(c(), address(put(std::span<const u32>(values))), &x.object, nullptr, &region,
                                        0);
    const std::size_t at = take(256);
    nvnCommandBufferCopyTextureToBuffer(c(), &x.object, nullptr, &all, address(at), 0);
    run();
    for (u32 i = 0; i < 32; ++i)
        EXPECT_EQ(load<u32>(at + 4 * i), i >= 8 && i < 24 ? i - 7 : 0u) << i;
}

TEST_F(Copies, DepthWordsKeepEveryBit) { // GFX-161: D24 and D24S8 at the ends and in between
    std::vector<u32> depth, both, halves;
    for (u32 i = 0; i < 64; ++i) {
        const u32 d = i < 8 ? i : i < 16 ? 0xffffff - (i - 8) : (i * 0x41c53 + 0x7fffe) & 0xffffff;
        depth.push_back(d);
        both.push_back(d << 8 | 0xa5);
        halves.push_back(d & 0xffff);
    }
    std::vector<u16> d16(halves.begin(), halves.end());
    std::vector<std::array<u32, 2>> d32;
    for (u32 i = 0; i < 64; ++i)
        d32.push_back({std::bit_cast<u32>(static_cast<float>(i) / 64), i});
    const Texture& x24 = texture({.format = NVN_FORMAT_DEPTH24});
    const Texture& x24s8 = texture({.format = NVN_FORMAT_DEPTH24_STENCIL8});
    const Texture& x16 = texture({.format = NVN_FORMAT_DEPTH16});
    const Texture& x32 = texture({.format = NVN_FORMAT_DEPTH32F_STENCIL8});
    upload(x24, depth);
    upload(x24s8, both);
    upload(x16, d16);
    upload(x32, d32);
    // Words that were put together on the way are there for what follows in the same list.
    const std::size_t packed = copy_out(x24s8), moved = take(256);
    nvnCommandBufferCopyBufferToBuffer(c(), address(packed), address(moved), 256, 0);
    run();
    for (std::size_t i = 0; i < 64; ++i)
        EXPECT_EQ(load<u32>(moved + 4 * i), both[i]);
    const auto r24 = texels<u32>(x24), r24s8 = texels<u32>(x24s8);
    const auto r16 = texels<u16>(x16);
    const auto r32 = texels<std::array<u32, 2>>(x32);
    for (std::size_t i = 0; i < 64; ++i) {
        EXPECT_EQ(r24[i] & 0xffffff, depth[i]);
        EXPECT_EQ(r24s8[i], both[i]);
        EXPECT_EQ(r16[i], d16[i]);
        EXPECT_EQ(r32[i][0], d32[i][0]);
        EXPECT_EQ(r32[i][1] & 255, d32[i][1]);
    }
}

TEST_F(Copies, DepthBetweenDepthFormats) { // REN-183, REN-202
    std::vector<std::array<u32, 2>> both;
    for (u32 i = 0; i < 64; ++i)
        both.push_back({std::bit_cast<u32>(static_cast<float>(i) / 63), 7 + i});
    const Texture& d32s8 = texture({.format = NVN_FORMAT_DEPTH32F_STENCIL8});
    const Texture& d32 = texture({.format = NVN_FORMAT_DEPTH32F});
    const Texture& again = texture({.format = NVN_FORMAT_DEPTH32F_STENCIL8});
    const Texture& same = texture({.format = NVN_FORMAT_DEPTH32F_STENCIL8});
    upload(d32s8, both);
    std::vector<std::array<u32, 2>> sevens(64, {0, 7});
    upload(again, sevens);
    const NVNcopyRegion all{0, 0, 0, 8, 8, 1};
    copy(d32s8, all, d32, all);
    copy(d32, all, again, all);
    copy(d32s8, all, same, all);
    // Colour of the same width holds the same bits.
    const Texture& r32 = texture({.format = NVN_FORMAT_R32F});
    const Texture& d32_again = texture({.format = NVN_FORMAT_DEPTH32F});
    copy(d32, all, r32, all);
    copy(r32, all, d32_again, all);
    EXPECT_EQ(texels<u32>(d32_again), texels<u32>(d32));
    const auto a = texels<u32>(d32);
    EXPECT_EQ(texels<u32>(r32), a);
    const auto b = texels<std::array<u32, 2>>(again), e = texels<std::array<u32, 2>>(same);
    for (std::size_t i = 0; i < 64; ++i) {
        EXPECT_EQ(a[i], both[i][0]) << i;
        EXPECT_EQ(b[i][0], both[i][0]) << i;
        EXPECT_EQ(b[i][1] & 255, 7u) << i;
        EXPECT_EQ(e[i][0], both[i][0]) << i;
        EXPECT_EQ(e[i][1] & 255, both[i][1]) << i;
    }
}

TEST_F(Copies, ScaledDepthTakesTheNearestTexel) { // REN-200, REN-201, REN-202
    const NVNformat formats[] = {NVN_FORMAT_DEPTH32F_STENCIL8, NVN_FORMAT_DEPTH24_STENCIL8, NVN_FORMAT_DEPTH32F,
                                 NVN_FORMAT_DEPTH16};
    for (const NVNformat format : formats)
        for (const bool downsample : {false, true}) {
            const Texture& from = texture({.format = format});
            const Texture& to = texture({.format = format, .width = 4, .height = 4});
            const NVNtextureView v = view({});
            // Depth i / 16 and stencil i in each 2x2 block i: whichever of its texels is taken.
            for (int i = 0; i < 16; ++i) {
                const NVNcopyRegion block{i % 4 * 2, i / 4 * 2, 0, 2, 2, 1};
                const float value[] = {static_cast<float>(i) / 16, static_cast<float>(i), 0, 0};
                nvnCommandBufferClearTexture(c(), &from.object, &v, &block, value, 15);
            }
            const NVNcopyRegion all{0, 0, 0, 8, 8, 1}, small{0, 0, 0, 4, 4, 1};
            if (downsample)
                nvnCommandBufferDownsample(c(), &from.object, &to.object);
            else
                copy(from, all, to, small);
            if (format == NVN_FORMAT_DEPTH32F_STENCIL8) {
                const auto t = texels<std::array<u32, 2>>(to);
                for (u32 i = 0; i < 16; ++i) {
                    EXPECT_NEAR(std::bit_cast<float>(t[i][0]), static_cast<float>(i) / 16, 1e-6) << i;
                    EXPECT_EQ(t[i][1] & 255, i);
                }
            } else if (format == NVN_FORMAT_DEPTH24_STENCIL8) {
                const auto t = texels<u32>(to);
                for (u32 i = 0; i < 16; ++i) {
                    EXPECT_NEAR((t[i] >> 8) / 16777215.0, i / 16.0, 1e-6) << i;
                    EXPECT_EQ(t[i] & 255, i);
                }
            } else if (format == NVN_FORMAT_DEPTH32F) {
                const auto t = texels<float>(to);
                for (u32 i = 0; i < 16; ++i)
                    EXPECT_NEAR(t[i], i / 16.0, 1e-6) << i;
            } else {
                const auto t = texels<u16>(to);
                for (u32 i = 0; i < 16; ++i)
                    EXPECT_NEAR(t[i] / 65535.0, i / 16.0, 1e-4) << i;
            }
        }
}

float half(u16 h) {
    const int e = h >> 10 & 31;
    const float m = static_cast<float>(h & 1023);
    return (h & 0x8000 ? -1.0f : 1.0f) * (e ? std::ldexp(1 + m / 1024, e - 15) : std::ldexp(m / 1024, -14));
}

TEST_F(Copies, FormatsAreConverted) { // GFX-063, REN-199: values and not bits, with and without a change of size
    const Texture& from = texture({});
    std::vector<u32> values;
    for (u32 i = 0; i < 64; ++i)
        values.push_back((i * 4) | (255 - i * 4) << 8 | (i * 3) << 16 | (i + 1) << 24);
    upload(from, values);
    const NVNcopyRegion all{0, 0, 0, 8, 8, 1};
    const Texture& rgba16f = texture({.format = NVN_FORMAT_RGBA16F});
    const Texture& bgra = texture({.format = NVN_FORMAT_BGRA8});
    const Texture& rgb10 = texture({.format = NVN_FORMAT_RGB10A2});
    const Texture& rg8 = texture({.format = NVN_FORMAT_RG8});
    const Texture& rgba32f = texture({.format = NVN_FORMAT_RGBA32F});
    const Texture& back = texture({});
    for (const Texture* to : {&rgba16f, &bgra, &rgb10, &rg8, &rgba32f})
        copy(from, all, *to, all);
    copy(rgba16f, all, back, all);
    const auto t16 = texels<std::array<u16, 4>>(rgba16f);
    const auto tb = texels<u32>(bgra), t10 = texels<u32>(rgb10), tback = texels<u32>(back);
    const auto t8 = texels<u16>(rg8);
    const auto t32 = texels<Float4>(rgba32f);
    for (std::size_t i = 0; i < 64; ++i) {
        const u32 v = values[i];
        for (std::size_t k = 0; k < 4; ++k) {
            const float f = static_cast<float>(v >> 8 * k & 255) / 255;
            EXPECT_NEAR(half(t16[i][k]), f, 0.0006f);
            EXPECT_NEAR(t32[i][k], f, 1e-6f);
        }
        EXPECT_EQ(tb[i], (v & 0xff00ff00) | (v & 255) << 16 | (v >> 16 & 255));
        EXPECT_EQ(tback[i], v);
        EXPECT_EQ(t8[i], static_cast<u16>(v));
        EXPECT_NEAR(static_cast<double>(t10[i] & 1023) / 1023, (v & 255) / 255.0, 0.001);
    }
}

TEST_F(Copies, IntegersKeepTheirValues) { // one signedness, another width
    const Texture& from = texture({.format = NVN_FORMAT_RGBA8UI});
    const Texture& wide = texture({.format = NVN_FORMAT_RGBA32UI});
    const Texture& narrow = texture({.format = NVN_FORMAT_RG16UI});
    const Texture& large = texture({.format = NVN_FORMAT_RGBA8UI, .width = 16, .height = 16});
    std::vector<u32> values;
    for (u32 i = 0; i < 64; ++i)
        values.push_back(i * 0x01030507 + 0xff00fe01);
    upload(from, values);
    const NVNcopyRegion all{0, 0, 0, 8, 8, 1}, twice{0, 0, 0, 16, 16, 1};
    copy(from, all, wide, all);
    copy(from, all, narrow, all);
    copy(from, all, large, twice, NVN_COPY_FLAGS_MIRROR_X_BIT);
    const auto w = texels<std::array<u32, 4>>(wide);
    const auto n = texels<std::array<u16, 2>>(narrow);
    const auto l = texels<u32>(large);
    for (std::size_t i = 0; i < 64; ++i) {
        for (std::size_t k = 0; k < 4; ++k)
            EXPECT_EQ(w[i][k], values[i] >> 8 * k & 255);
        EXPECT_EQ(n[i][0], values[i] & 255);
        EXPECT_EQ(n[i][1], values[i] >> 8 & 255);
    }
    for (std::size_t i = 0; i < 256; ++i)
        EXPECT_EQ(l[i], values[i / 32 * 8 + (15 - i % 16) / 2]) << i;
}

TEST_F(Copies, MirrorsAndFilters) { // REN-199: every mirror of a part, nearest; a ramp, linear
    const Texture& from = texture({.format = NVN_FORMAT_R32UI, .depth = 4, .target = NVN_TEXTURE_TARGET_3D});
    for (int z = 0; z < 4; ++z) {
        std::vector<u32> values;
        for (u32 i = 0; i < 64; ++i)
            values.push_back(static_cast<u32>(z) * 64 + i + 1);
        upload(from, values, {}, z);
    }
    for (int flags = 0; flags < 32; flags += 4) {
        const Texture& to = texture({.format = NVN_FORMAT_R32UI, .depth = 4, .target = NVN_TEXTURE_TARGET_3D});
        copy(from, {2, 1, 0, 4, 3, 4}, to, {1, 2, 0, 4, 3, 4}, flags);
        for (int z = 0; z < 4; ++z) {
            const auto t = texels<u32>(to, {}, z);
            for (int y = 0; y < 8; ++y)
                for (int x = 0; x < 8; ++x) {
                    int i = x - 1, j = y - 2, k = z;
                    const bool inside = i >= 0 && i < 4 && j >= 0 && j < 3;
                    if (flags & NVN_COPY_FLAGS_MIRROR_X_BIT)
                        i = 3 - i;
                    if (flags & NVN_COPY_FLAGS_MIRROR_Y_BIT)
                        j = 2 - j;
                    if (flags & NVN_COPY_FLAGS_MIRROR_Z_BIT)
                        k = 3 - k;
                    ASSERT_EQ(t[static_cast<std::size_t>(y * 8 + x)],
                              inside ? static_cast<u32>(k * 64 + (j + 1) * 8 + i + 2 + 1) : 0u)
                        << "flags " << flags << " at " << x << "," << y << "," << z;
                }
        }
    }
    const Texture& ramp = texture({.width = 4, .height = 1});
    const Texture& smooth = texture({.width = 8, .height = 1});
    upload(ramp, std::vector<u32>{0, 80, 160, 240});
    copy(ramp, {0, 0, 0, 4, 1, 1}, smooth, {0, 0, 0, 8, 1, 1}, NVN_COPY_FLAGS_LINEAR_FILTER_BIT);
    const auto t = texels<u32>(smooth);
    for (int i = 0; i < 8; ++i) // texel centres of the source, clamped at its edges
        EXPECT_NEAR(static_cast<float>(t[static_cast<std::size_t>(i)] & 255),
                    80 * std::clamp((static_cast<float>(i) + 0.5f) / 2 - 0.5f, 0.0f, 3.0f), 1)
            << i;
}

TEST_F(Copies, LayersFacesAndPlanes) {
    const Texture& cube = texture({.format = NVN_FORMAT_R32UI, .levels = 2, .target = NVN_TEXTURE_TARGET_CUBEMAP});
    const Texture& array =
        texture({.format = NVN_FORMAT_R32UI, .depth = 6, .levels = 2, .target = NVN_TEXTURE_TARGET_2D_ARRAY});
    const Texture& volume = texture({.format = NVN_FORMAT_R32UI, .depth = 6, .target = NVN_TEXTURE_TARGET_3D});
    for (int face = 0; face < 6; ++face)
        upload(cube, std::vector<u32>(16, 10 + static_cast<u32>(face)), {1, face});
    const NVNtextureView from = view({1, 0, 6}), to = view({1, 0, 6});
    copy(cube, from, {0, 0, 1, 4, 4, 4}, array, to, {0, 0, 2, 4, 4, 4});
    const NVNtextureView whole = view({0, 0, -1});
    copy(cube, from, {0, 0, 0, 4, 4, 3}, volume, whole, {4, 4, 3, 4, 4, 3});
    // All layers of a copy that converts and scales.
    const Texture& small = texture({.depth = 2, .target = NVN_TEXTURE_TARGET_2D_ARRAY});
    const Texture& wide = texture(
        {.format = NVN_FORMAT_RGBA16F, .width = 16, .height = 16, .depth = 2, .target = NVN_TEXTURE_TARGET_2D_ARRAY});
    for (int i = 0; i < 2; ++i)
        upload(small, std::vector<u32>(64, i ? 0xff0000ffu : 0xff00ff00u), {0, i});
    copy(small, {0, 0, 0, 8, 8, 2}, wide, {0, 0, 0, 16, 16, 2});
    for (int i = 0; i < 2; ++i)
        EXPECT_EQ((texels<std::array<u16, 4>>(wide, {0, i})[255]),
                  (i ? std::array<u16, 4>{0x3c00, 0, 0, 0x3c00} : std::array<u16, 4>{0, 0x3c00, 0, 0x3c00}));
    for (int i = 0; i < 6; ++i) {
        EXPECT_EQ(texels<u32>(array, {1, i})[5], i >= 2 ? static_cast<u32>(10 + i - 1) : 0u) << i;
        const auto plane = texels<u32>(volume, {}, i);
        EXPECT_EQ(plane[63], i >= 3 ? static_cast<u32>(10 + i - 3) : 0u) << i;
        EXPECT_EQ(plane[0], 0u);
    }
}

TEST_F(Copies, BlocksMoveAsBlocks) { // parts of compressed textures, into each other and into integers of their size
    const Texture& bc1 = texture({.format = NVN_FORMAT_RGB_DXT1, .width = 16, .height = 16});
    const Texture& bc4 = texture({.format = NVN_FORMAT_RGTC1_UNORM, .width = 16, .height = 16});
    const Texture& other = texture({.format = NVN_FORMAT_RGB_DXT1, .width = 16, .height = 16});
    const Texture& words = texture({.format = NVN_FORMAT_RG32UI, .width = 4, .height = 4});
    std::vector<u64> blocks;
    for (u64 i = 0; i < 16; ++i)
        blocks.push_back(0x0123456789abcdef * (i + 1));
    const NVNcopyRegion all{0, 0, 0, 16, 16, 1};
    nvnCommandBufferCopyBufferToTexture(c(), address(put(std::span<const u64>(blocks))), &bc1.object, nullptr, &all, 0);
    copy(bc1, {4, 8, 0, 8, 8, 1}, other, {8, 0, 0, 8, 8, 1});
    copy(bc1, all, bc4, all);
    copy(bc1, all, words, {0, 0, 0, 4, 4, 1});
    const std::size_t a = take(256), b = take(256);
    nvnCommandBufferCopyTextureToBuffer(c(), &other.object, nullptr, &all, address(a), 0);
    nvnCommandBufferCopyTextureToBuffer(c(), &bc4.object, nullptr, &all, address(b), 0);
    const auto w = texels<u64>(words);
    for (std::size_t i = 0; i < 16; ++i) {
        const std::size_t x = i % 4, y = i / 4;
        EXPECT_EQ(load<u64>(a + 8 * i), x >= 2 && y < 2 ? blocks[(y + 2) * 4 + x - 2 + 1] : 0) << i;
        EXPECT_EQ(load<u64>(b + 8 * i), blocks[i]);
        EXPECT_EQ(w[i], blocks[i]);
    }
}

TEST_F(Copies, LevelsThatAreNotThereAreSkipped) { // REN-057
    const Texture& x = texture({});
    upload(x, std::vector<u32>(64, 5));
    const NVNtextureView v = view({5, 0, 1});
    const NVNcopyRegion one{0, 0, 0, 1, 1, 1};
    const std::size_t at = put(std::span<const u32>(std::array<u32, 1>{9}));
    nvnCommandBufferCopyBufferToTexture(c(), address(at), &x.object, &v, &one, 0);
    nvnCommandBufferCopyTextureToBuffer(c(), &x.object, &v, &one, address(at), 0);
    EXPECT_EQ(texels<u32>(x), std::vector<u32>(64, 5));
    EXPECT_EQ(load<u32>(at), 9u);
    u32 read = 9;
    nvnTextureReadTexels(&x.object, &v, &one, &read);
    EXPECT_EQ(read, 9u);
    EXPECT_FALSE(take_lines().empty());
}

TEST_F(Copies, PackedTexelsAfterAWriteOfTheSameList) { // REN-012: the buffer's own writer comes first
    const std::size_t in = take(256);
    const Texture& x = texture({.format = NVN_FORMAT_RGB565, .width = 4, .height = 4});
    const Texture& seen = texture({.width = 4, .height = 4});
    const NVNcopyRegion all{0, 0, 0, 4, 4, 1};
    nvnCommandBufferClearBuffer(c(), address(in), 32, 0x001f001f);
    nvnCommandBufferCopyBufferToTexture(c(), address(in), &x.object, nullptr, &all, 0);
    targets({{&seen}});
    default_state();
    sample(x);
    use({quad, texel_here});
    strip();
    const std::size_t out = copy_out(x);
    EXPECT_EQ(texels<u32>(seen)[5], 0xff0000ffu);
    EXPECT_EQ(load<u16>(out), 0x001f);
    EXPECT_EQ(load<u16>(out + 30), 0x001f);
}

TEST_F(Copies, DownsamplesScaleAndResolve) { // REN-201
    const Texture& from = texture({.width = 16, .height = 16});
    const Texture& to = texture({.width = 4, .height = 4});
    const Texture& bgra = texture({.format = NVN_FORMAT_BGRA8, .width = 16, .height = 16});
    const Texture& wide = texture({.format = NVN_FORMAT_RGBA16F, .width = 16, .height = 16});
    std::vector<u32> ramp;
    for (u32 i = 0; i < 256; ++i)
        ramp.push_back(i % 16 * 16 | i / 16 * 16 << 8 | 0x40u << 16 | 0xff000000u);
    upload(from, ramp);
    nvnCommandBufferDownsample(c(), &from.object, &to.object);
    nvnCommandBufferDownsample(c(), &from.object, &bgra.object);
    nvnCommandBufferDownsample(c(), &from.object, &wide.object);
    const auto t = texels<u32>(to), b = texels<u32>(bgra);
    const auto w = texels<std::array<u16, 4>>(wide);
    for (u32 i = 0; i < 16; ++i) { // at the middle between texels 1 and 2 of each four
        EXPECT_NEAR(static_cast<double>(t[i] & 255), (i % 4 * 4 + 1.5) * 16, 1);
        EXPECT_NEAR(static_cast<double>(t[i] >> 8 & 255), (i / 4 * 4 + 1.5) * 16, 1);
    }
    for (std::size_t i = 0; i < 256; ++i) {
        EXPECT_EQ(b[i] >> 16 & 255, ramp[i] & 255);
        EXPECT_NEAR(half(w[i][0]), (ramp[i] & 255) / 255.0, 0.001);
    }
    // A triangle's edge in four samples: the covered share of each pixel.
    const Texture& ms = texture({.width = 16, .height = 16, .target = NVN_TEXTURE_TARGET_2D_MULTISAMPLE, .samples = 4});
    const Texture& converted = texture({.format = NVN_FORMAT_RGBA16F, .width = 16, .height = 16});
    targets({{&ms}});
    default_state();
    clear({0, 0, 0, 0});
    fill({1, 1, 1, 1}, {-1, -1, 0.0625f, 1}); // to the middle of column 8
    nvnCommandBufferDownsample(c(), &ms.object, &from.object);
    nvnCommandBufferDownsample(c(), &ms.object, &converted.object);
    const auto r = texels<u32>(from);
    const auto h = texels<std::array<u16, 4>>(converted);
    EXPECT_EQ(r[7], ~0u);
    EXPECT_NEAR(static_cast<double>(r[8] & 255), 127.5, 1);
    EXPECT_EQ(r[9], 0u);
    EXPECT_NEAR(half(h[8][0]), 0.5, 0.01);
}

TEST_F(Copies, BuffersMayOverlap) {
    std::vector<u32> v;
    for (u32 i = 0; i < 64; ++i)
        v.push_back(i);
    const std::size_t at = put(std::span<const u32>(v));
    nvnCommandBufferCopyBufferToBuffer(c(), address(at), address(at + 16), 128, 0);
    nvnCommandBufferCopyBufferToBuffer(c(), address(at + 200), address(at + 161), 7, 0);
    run();
    for (u32 i = 0; i < 32; ++i)
        EXPECT_EQ(load<u32>(at + 16 + 4 * i), i);
    EXPECT_EQ(load<u8>(at + 161), 50);
}

TEST_F(Copies, MultisampledTexturesSampleBySample) {
    const Shape shape{.target = NVN_TEXTURE_TARGET_2D_MULTISAMPLE, .samples = 4};
    const Texture& from = texture(shape);
    const Texture& to = texture(shape);
    const Texture& out = texture({});
    targets({{&from}});
    default_state();
    clear({0, 0, 0, 0});
    fill({1, 1, 1, 1}, {-1, -1, 0.125f, 1});
    const NVNcopyRegion all{0, 0, 0, 8, 8, 1};
    copy(from, all, to, all);
    nvnCommandBufferDownsample(c(), &to.object, &out.object);
    const auto t = texels<u32>(out);
    EXPECT_EQ(t[3], ~0u);
    EXPECT_NEAR(static_cast<double>(t[4] & 255), 127.5, 1);
    EXPECT_EQ(t[5], 0u);
}

} // namespace
} // namespace heaviside::pixels
