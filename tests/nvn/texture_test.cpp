// Textures, views, texel access. Ledger rows at each test.
#include "tests/nvn/client.h" // first: with the client's wrappers

#include "base/types.h"

#include <algorithm>
#include <array>
#include <functional>
#include <numeric>
#include <sys/mman.h>
#include <vector>

namespace heaviside::nvn {
namespace {

using test::Device;
using test::Pool;

NVNtextureBuilder builder_2d(int width, int height, NVNformat format) {
    test::load_procs();
    NVNtextureBuilder builder;
    nvnTextureBuilderSetDevice(&builder, nullptr);
    nvnTextureBuilderSetDefaults(&builder);
    nvnTextureBuilderSetSize2D(&builder, width, height);
    nvnTextureBuilderSetFormat(&builder, format);
    return builder;
}

NVNtexture make(NVNtextureBuilder& builder, Pool& pool, ptrdiff_t offset = 0) {
    nvnTextureBuilderSetStorage(&builder, &pool.object, offset);
    NVNtexture texture;
    EXPECT_TRUE(nvnTextureInitialize(&texture, &builder));
    return texture;
}

TEST(TextureBuilder, DefaultsAndReadBack) { // OBJ-232, OBJ-239
    Device device;
    Pool pool(device, 0x10000);
    NVNtextureBuilder builder;
    std::memset(&builder, 0xCC, sizeof builder);
    nvnTextureBuilderSetDevice(&builder, &device.object);
    nvnTextureBuilderSetDefaults(&builder);
    EXPECT_EQ(nvnTextureBuilderGetDevice(&builder), &device.object);
    EXPECT_EQ(nvnTextureBuilderGetTarget(&builder), NVN_TEXTURE_TARGET_2D);
    EXPECT_EQ(nvnTextureBuilderGetLevels(&builder), 1);
    EXPECT_EQ(nvnTextureBuilderGetMemoryPool(&builder), nullptr);
    NVNtextureSwizzle r, g, b, a;
    nvnTextureBuilderGetSwizzle(&builder, &r, &g, &b, &a);
    EXPECT_EQ(r, NVN_TEXTURE_SWIZZLE_R);
    EXPECT_EQ(g, NVN_TEXTURE_SWIZZLE_G);
    EXPECT_EQ(b, NVN_TEXTURE_SWIZZLE_B);
    EXPECT_EQ(a, NVN_TEXTURE_SWIZZLE_A);
    NVNpackagedTextureLayout packaged;
    EXPECT_FALSE(nvnTextureBuilderGetPackagedTextureLayout(&builder, &packaged));

    nvnTextureBuilderSetTarget(&builder, NVN_TEXTURE_TARGET_3D);
    nvnTextureBuilderSetSize3D(&builder, 33, 17, 9);
    nvnTextureBuilderSetFormat(&builder, NVN_FORMAT_RGBA_ASTC_12x12_SRGB);
    nvnTextureBuilderSetFlags(&builder, NVN_TEXTURE_FLAGS_IMAGE | NVN_TEXTURE_FLAGS_COMPRESSIBLE);
    nvnTextureBuilderSetLevels(&builder, 4);
    nvnTextureBuilderSetSamples(&builder, 8);
    nvnTextureBuilderSetStride(&builder, 256);
    nvnTextureBuilderSetSwizzle(&builder, NVN_TEXTURE_SWIZZLE_ONE, NVN_TEXTURE_SWIZZLE_ZERO, NVN_TEXTURE_SWIZZLE_A,
                                NVN_TEXTURE_SWIZZLE_B);
    nvnTextureBuilderSetDepthStencilMode(&builder, NVN_TEXTURE_DEPTH_STENCIL_MODE_STENCIL);
    nvnTextureBuilderSetStorage(&builder, &pool.object, 0x1200);
    nvnTextureBuilderSetGLTextureName(&builder, 77);
    const NVNpackagedTextureLayout layout{{0x13, 2, 3, 4, 5, 6, 7, 8}};
    nvnTextureBuilderSetPackagedTextureLayout(&builder, &layout);
    EXPECT_EQ(nvnTextureBuilderGetTarget(&builder), NVN_TEXTURE_TARGET_3D);
    EXPECT_EQ(nvnTextureBuilderGetWidth(&builder), 33);
    EXPECT_EQ(nvnTextureBuilderGetHeight(&builder), 17);
    EXPECT_EQ(nvnTextureBuilderGetDepth(&builder), 9);
    EXPECT_EQ(nvnTextureBuilderGetFormat(&builder), NVN_FORMAT_RGBA_ASTC_12x12_SRGB);
    EXPECT_EQ(int(nvnTextureBuilderGetFlags(&builder)), 12);
    EXPECT_EQ(nvnTextureBuilderGetLevels(&builder), 4);
    EXPECT_EQ(nvnTextureBuilderGetSamples(&builder), 8);
    EXPECT_EQ(nvnTextureBuilderGetStride(&builder), 256);
    nvnTextureBuilderGetSwizzle(&builder, &r, &g, &b, &a);
    EXPECT_EQ(r, NVN_TEXTURE_SWIZZLE_ONE);
    EXPECT_EQ(a, NVN_TEXTURE_SWIZZLE_B);
    EXPECT_EQ(nvnTextureBuilderGetDepthStencilMode(&builder), NVN_TEXTURE_DEPTH_STENCIL_MODE_STENCIL);
    EXPECT_EQ(nvnTextureBuilderGetMemoryPool(&builder), &pool.object);
    EXPECT_EQ(nvnTextureBuilderGetMemoryOffset(&builder), 0x1200);
    EXPECT_EQ(nvnTextureBuilderGetGLTextureName(&builder), 77u);
    EXPECT_EQ(nvnTextureBuilderGetRawStorageClass(&builder), 1);
    ASSERT_TRUE(nvnTextureBuilderGetPackagedTextureLayout(&builder, &packaged));
    EXPECT_EQ(std::memcmp(&packaged, &layout, sizeof layout), 0);
}

TEST(TextureBuilder, StorageSizesAreTheConsoles) { // OBJ-155, OBJ-156, OBJ-159, REN-059
    NVNtextureBuilder builder = builder_2d(64, 64, NVN_FORMAT_RGB_DXT1);
    nvnTextureBuilderSetFlags(&builder, NVN_TEXTURE_FLAGS_LINEAR);
    nvnTextureBuilderSetStride(&builder, 128);
    EXPECT_EQ(nvnTextureBuilderGetStorageSize(&builder), 8192u);

    builder = builder_2d(320, 320, NVN_FORMAT_RGB565);
    EXPECT_EQ(nvnTextureBuilderGetStorageSize(&builder), 245760u);
    nvnTextureBuilderSetFlags(&builder, NVN_TEXTURE_FLAGS_MINIMAL_LAYOUT);
    EXPECT_EQ(nvnTextureBuilderGetStorageSize(&builder), 204800u);

    builder = builder_2d(16, 16, NVN_FORMAT_RGBA8);
    nvnTextureBuilderSetFlags(&builder, 0x44);
    nvnTextureBuilderSetStride(&builder, 128);
    EXPECT_EQ(nvnTextureBuilderGetStorageSize(&builder), 2048u);
    EXPECT_GE(nvnTextureBuilderGetStorageAlignment(&builder), 32u);
    EXPECT_NE(nvnTextureBuilderGetZCullStorageSize(&builder), 0u);
}

TEST(TextureBuilder, ImpossibleTexturesHaveNoStorage) {
    NVNtextureBuilder builder = builder_2d(16, 16, static_cast<NVNformat>(0x9D));
    EXPECT_EQ(nvnTextureBuilderGetStorageSize(&builder), 0u);
    builder = builder_2d(0x7FFFFFFF, 0x7FFFFFFF, NVN_FORMAT_RGBA8);
    EXPECT_EQ(nvnTextureBuilderGetStorageSize(&builder), 0u);
    builder = builder_2d(-1, 4, NVN_FORMAT_RGBA8);
    EXPECT_EQ(nvnTextureBuilderGetStorageSize(&builder), 0u);
}

TEST(Texture, GettersAnswerTheDescription) { // OBJ-237
    Device device;
    Pool pool(device, 0x100000);
    NVNtextureBuilder builder = builder_2d(100, 50, NVN_FORMAT_RGBA8_SRGB);
    nvnTextureBuilderSetTarget(&builder, NVN_TEXTURE_TARGET_2D_ARRAY);
    nvnTextureBuilderSetDepth(&builder, 3);
    nvnTextureBuilderSetLevels(&builder, 2);
    nvnTextureBuilderSetFlags(&builder, NVN_TEXTURE_FLAGS_COMPRESSIBLE);
    NVNtexture texture = make(builder, pool, 0x2000);
    EXPECT_EQ(nvnTextureGetTarget(&texture), NVN_TEXTURE_TARGET_2D_ARRAY);
    EXPECT_EQ(nvnTextureGetFormat(&texture), NVN_FORMAT_RGBA8_SRGB);
    EXPECT_EQ(nvnTextureGetWidth(&texture), 100);
    EXPECT_EQ(nvnTextureGetHeight(&texture), 50);
    EXPECT_EQ(nvnTextureGetDepth(&texture), 3);
    EXPECT_EQ(nvnTextureGetLevels(&texture), 2);
    EXPECT_EQ(nvnTextureGetFlags(&texture), NVN_TEXTURE_FLAGS_COMPRESSIBLE);
    EXPECT_EQ(nvnTextureGetMemoryPool(&texture), &pool.object);
    EXPECT_EQ(nvnTextureGetMemoryOffset(&texture), 0x2000);
    EXPECT_EQ(nvnTextureGetTextureAddress(&texture), nvnMemoryPoolGetBufferAddress(&pool.object) + 0x2000);
    EXPECT_EQ(size_t(nvnTextureGetStorageSize(&texture)), nvnTextureBuilderGetStorageSize(&builder));
    EXPECT_NE(nvnTextureGetDebugID(&texture), 0u);
}

TEST(Texture, RefusesWhatDoesNotFitItsPool) {
    Device device;
    Pool pool(device, 0x10000);
    NVNtextureBuilder builder = builder_2d(256, 256, NVN_FORMAT_RGBA8); // 256 KiB
    nvnTextureBuilderSetStorage(&builder, &pool.object, 0);
    NVNtexture texture;
    EXPECT_FALSE(nvnTextureInitialize(&texture, &builder));
    nvnTextureBuilderSetStorage(&builder, nullptr, 0);
    EXPECT_FALSE(nvnTextureInitialize(&texture, &builder));
}

TEST(Texture, CompareIncludesTheChannelMapping) { // REN-016
    Device device;
    Pool pool(device, 0x10000);
    const auto with_swizzle = [&](NVNtextureSwizzle r, NVNtextureSwizzle g, NVNtextureSwizzle b, NVNtextureSwizzle a) {
        NVNtextureBuilder builder = builder_2d(16, 16, NVN_FORMAT_R8);
        nvnTextureBuilderSetSwizzle(&builder, r, g, b, a);
        return make(builder, pool);
    };
    constexpr auto R = NVN_TEXTURE_SWIZZLE_R, G = NVN_TEXTURE_SWIZZLE_G, B = NVN_TEXTURE_SWIZZLE_B,
                   A = NVN_TEXTURE_SWIZZLE_A, zero = NVN_TEXTURE_SWIZZLE_ZERO, one = NVN_TEXTURE_SWIZZLE_ONE;
    NVNtextureBuilder plain = builder_2d(16, 16, NVN_FORMAT_R8);
    const NVNtexture unset = make(plain, pool), rgba = with_swizzle(R, G, B, A), red = with_swizzle(R, zero, zero, one),
                     alpha = with_swizzle(one, one, one, R), only_alpha = with_swizzle(R, G, B, one);
    EXPECT_TRUE(nvnTextureCompare(&unset, &rgba));
    EXPECT_FALSE(nvnTextureCompare(&red, &alpha));
    EXPECT_FALSE(nvnTextureCompare(&rgba, &only_alpha));
    const NVNtexture moved = make(plain, pool, 0x1000);
    EXPECT_FALSE(nvnTextureCompare(&unset, &moved));
}

TEST(Texture, CopyAndOriginalEndSeparately) { // OBJ-261
    Device device;
    Pool pool(device, 0x10000);
    NVNtextureBuilder builder = builder_2d(16, 16, NVN_FORMAT_RGBA8);
    NVNtexture original = make(builder, pool);
    NVNtexture copy = original;
    nvnTextureFinalize(&copy);
    EXPECT_EQ(nvnTextureGetWidth(&original), 16);
    EXPECT_EQ(nvnTextureGetWidth(&copy), 0);
    EXPECT_EQ(nvnTextureGetRawStorageClass(&original), 1); // OBJ-239
    nvnTextureFinalize(&original);
    nvnTextureFinalize(&original);
    // A copy of one whose memory is unmapped.
    void* const home = ::mmap(nullptr, 0x1000, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(home, MAP_FAILED);
    *static_cast<NVNtexture*>(home) = make(builder, pool);
    NVNtexture moved = *static_cast<NVNtexture*>(home);
    ::munmap(home, 0x1000);
    EXPECT_EQ(nvnTextureGetWidth(&moved), 16);
    EXPECT_EQ(nvnTextureGetTextureAddress(&moved), nvnMemoryPoolGetBufferAddress(&pool.object));
    nvnTextureFinalize(&moved);
}

TEST(Texture, WriteTexelsTilesLikeTheHardware) { // OBJ-152
    Device device;
    Pool pool(device, 0x10000);
    NVNtextureBuilder builder = builder_2d(16, 8, NVN_FORMAT_RGBA8); // one GOB
    const NVNtexture texture = make(builder, pool, 0x200);
    std::vector<u32> texels(16 * 8);
    std::iota(texels.begin(), texels.end(), 1u);
    const NVNcopyRegion all{0, 0, 0, 16, 8, 1};
    nvnTextureWriteTexels(&texture, nullptr, &all, texels.data());
    nvnTextureFlushTexels(&texture, nullptr, &all);
    for (u32 y = 0; y < 8; ++y) {
        for (u32 column = 0; column < 16; ++column) {
            const u32 x = column * 4;
            const u32 at = (x % 64 / 32) * 256 + (y % 8 / 2) * 64 + (x % 32 / 16) * 32 + (y % 2) * 16 + x % 16;
            u32 stored;
            std::memcpy(&stored, pool.pages.data + 0x200 + at, 4);
            EXPECT_EQ(stored, texels[y * 16 + column]) << column << ',' << y;
        }
    }
    const NVNcopyRegion part{3, 2, 0, 5, 4, 1};
    std::array<u32, 20> read{};
    nvnTextureReadTexels(&texture, nullptr, &part, read.data());
    for (u32 y = 0; y < 4; ++y)
        for (u32 x = 0; x < 5; ++x)
            EXPECT_EQ(read[y * 5 + x], texels[(y + 2) * 16 + x + 3]);
    // Strided: rows 64 bytes apart.
    std::array<u32, 64> strided{};
    nvnTextureReadTexelsStrided(&texture, nullptr, &part, strided.data(), 64, 0);
    EXPECT_EQ(strided[16], texels[3 * 16 + 3]);
    EXPECT_EQ(strided[5], 0u);
}

TEST(Texture, TexelsOfLayersAndLevels) {
    Device device;
    Pool pool(device, 0x100000);
    NVNtextureBuilder builder = builder_2d(32, 32, NVN_FORMAT_R16UI);
    nvnTextureBuilderSetTarget(&builder, NVN_TEXTURE_TARGET_2D_ARRAY);
    nvnTextureBuilderSetDepth(&builder, 4);
    nvnTextureBuilderSetLevels(&builder, 3);
    const NVNtexture texture = make(builder, pool);
    NVNtextureView level_1;
    nvnTextureViewSetDefaults(&level_1);
    nvnTextureViewSetLevels(&level_1, 1, 1);
    std::vector<u16> texels(16 * 16 * 2);
    std::iota(texels.begin(), texels.end(), u16{100});
    const NVNcopyRegion layers_1_2{0, 0, 1, 16, 16, 2};
    nvnTextureWriteTexels(&texture, &level_1, &layers_1_2, texels.data());

    NVNtextureView layer_2 = level_1; // the same texels through a view of one layer
    nvnTextureViewSetLayers(&layer_2, 2, 1);
    std::vector<u16> read(16 * 16);
    const NVNcopyRegion first{0, 0, 0, 16, 16, 1};
    nvnTextureReadTexels(&texture, &layer_2, &first, read.data());
    EXPECT_TRUE(std::equal(read.begin(), read.end(), texels.begin() + 256));
    nvnTextureViewSetLayers(&layer_2, 3, 1);
    nvnTextureReadTexels(&texture, &layer_2, &first, read.data());
    EXPECT_EQ(read, std::vector<u16>(256, 0));
    // A texel's place is where the view offset says its level and layer begin.
    nvnTextureViewSetLayers(&layer_2, 2, 1);
    u16 stored;
    std::memcpy(&stored, pool.pages.data + nvnTextureGetViewOffset(&texture, &layer_2), 2);
    EXPECT_EQ(stored, texels[256]);
    EXPECT_EQ(nvnTextureBuilderGetViewOffset(&builder, &layer_2), nvnTextureGetViewOffset(&texture, &layer_2));
}

TEST(Texture, ViewOffsetOfBuilderAndTextureAgree) { // OBJ-255
    Device device;
    Pool pool(device, 0x400000);
    for (const NVNtextureTarget target :
         {NVN_TEXTURE_TARGET_2D, NVN_TEXTURE_TARGET_3D, NVN_TEXTURE_TARGET_2D_ARRAY, NVN_TEXTURE_TARGET_CUBEMAP}) {
        NVNtextureBuilder builder = builder_2d(64, 64, NVN_FORMAT_RGBA8);
        nvnTextureBuilderSetTarget(&builder, target);
        nvnTextureBuilderSetDepth(&builder, target == NVN_TEXTURE_TARGET_2D ? 1 : 6);
        nvnTextureBuilderSetLevels(&builder, 7);
        const NVNtexture texture = make(builder, pool);
        ptrdiff_t previous = -1;
        for (int level = 0; level < 7; ++level) {
            NVNtextureView view;
            nvnTextureViewSetDefaults(&view);
            nvnTextureViewSetLevels(&view, level, 1);
            EXPECT_GT(nvnTextureGetViewOffset(&texture, &view), previous);
            previous = nvnTextureGetViewOffset(&texture, &view);
            EXPECT_EQ(previous, nvnTextureBuilderGetViewOffset(&builder, &view));
        }
    }
}

TEST(Texture, BlockCompressedRegionsAreWholeBlocks) {
    Device device;
    Pool pool(device, 0x10000);
    NVNtextureBuilder builder = builder_2d(20, 12, NVN_FORMAT_RGB_DXT1); // 5 x 3 blocks of 8 bytes
    const NVNtexture texture = make(builder, pool);
    std::array<u64, 15> blocks;
    std::iota(blocks.begin(), blocks.end(), u64{0x1111});
    const NVNcopyRegion all{0, 0, 0, 20, 12, 1};
    nvnTextureWriteTexels(&texture, nullptr, &all, blocks.data());
    std::array<u64, 2> read{};
    const NVNcopyRegion part{8, 4, 0, 8, 4, 1};
    nvnTextureReadTexels(&texture, nullptr, &part, read.data());
    EXPECT_EQ(read[0], blocks[7]);
    EXPECT_EQ(read[1], blocks[8]);
    const NVNcopyRegion inside{2, 0, 0, 4, 4, 1};
    read = {};
    nvnTextureReadTexels(&texture, nullptr, &inside, read.data()); // refused
    EXPECT_EQ(read[0], 0u);
}

TEST(Texture, LinearTexelsAreRowsAtTheStride) { // OBJ-162
    Device device;
    Pool pool(device, 0x10000);
    NVNtextureBuilder builder = builder_2d(8, 4, NVN_FORMAT_R8);
    nvnTextureBuilderSetFlags(&builder, NVN_TEXTURE_FLAGS_LINEAR);
    nvnTextureBuilderSetStride(&builder, 64);
    const NVNtexture texture = make(builder, pool, 0x1000);
    EXPECT_EQ(nvnTextureGetStride(&texture), 64);
    pool.pages.data[0x1000 + 2 * 64 + 5] = std::byte{0x7E};
    std::array<u8, 32> read{};
    const NVNcopyRegion all{0, 0, 0, 8, 4, 1};
    nvnTextureReadTexels(&texture, nullptr, &all, read.data());
    EXPECT_EQ(read[2 * 8 + 5], 0x7E);
}

TEST(Texture, TexelRegionsOutsideWriteNothing) { // OBJ-168
    Device device;
    Pool pool(device, 0x10000);
    NVNtextureBuilder builder = builder_2d(16, 16, NVN_FORMAT_RGBA8);
    const NVNtexture texture = make(builder, pool);
    std::vector<u32> texels(64 * 64, 0xFFFFFFFF);
    for (const NVNcopyRegion& region :
         {NVNcopyRegion{-1, 0, 0, 4, 4, 1}, NVNcopyRegion{0, 13, 0, 4, 4, 1}, NVNcopyRegion{0, 0, 1, 4, 4, 1},
          NVNcopyRegion{0, 0, 0, 0x7FFFFFFF, 4, 1}, NVNcopyRegion{0x7FFFFFFF, 0, 0, 0x7FFFFFFF, 4, 1}})
        nvnTextureWriteTexels(&texture, nullptr, &region, texels.data());
    nvnTextureWriteTexels(&texture, nullptr, nullptr, nullptr);
    for (std::size_t i = 0; i < pool.pages.size; ++i)
        ASSERT_EQ(pool.pages.data[i], std::byte{0}) << i;
}

TEST(Texture, PackagedDataIsCopiedAtInitialize) {
    Device device;
    Pool pool(device, 0x10000);
    NVNtextureBuilder builder = builder_2d(16, 8, NVN_FORMAT_RGBA8);
    std::vector<std::byte> data(nvnTextureBuilderGetStorageSize(&builder), std::byte{0x3C});
    nvnTextureBuilderSetPackagedTextureData(&builder, data.data());
    make(builder, pool, 0x400);
    EXPECT_EQ(std::memcmp(pool.pages.data + 0x400, data.data(), data.size()), 0);
    EXPECT_EQ(pool.pages.data[0x3FF], std::byte{0});
}

TEST(Texture, SparseTileLayout) { // OBJ-031, OBJ-040
    NVNtextureBuilder builder = builder_2d(512, 512, NVN_FORMAT_RGBA8);
    nvnTextureBuilderSetLevels(&builder, 10);
    nvnTextureBuilderSetFlags(&builder, NVN_TEXTURE_FLAGS_SPARSE);
    NVNtextureSparseTileLayout layout;
    nvnTextureBuilderGetSparseTileLayout(&builder, &layout);
    EXPECT_EQ(layout.numTiledLevels, 3); // 512, 256, 128
    EXPECT_EQ(layout.tileWidth, 128);
    EXPECT_EQ(layout.tileHeight, 128);
    EXPECT_EQ(layout.tileDepth, 1);
    const size_t whole = nvnTextureBuilderGetStorageSize(&builder);
    nvnTextureBuilderSetLevels(&builder, 3);
    EXPECT_GT(whole, nvnTextureBuilderGetStorageSize(&builder));
}

TEST(Texture, SparseTilesOfTexturesAndBuildersAgree) { // OBJ-030: with the flag or without, whatever was in the answer
    Device device;
    Pool pool(device, 8 << 20);
    struct Case {
        NVNformat format;
        int tile_width, tile_height, tiled_levels; // of 1024 x 1024 with all its levels: those of a tile and more
    };
    for (const Case& c : {Case{NVN_FORMAT_RGBA8, 128, 128, 4}, Case{NVN_FORMAT_RGBA_DXT1, 512, 256, 2},
                          Case{NVN_FORMAT_BPTC_UNORM, 256, 256, 3}, Case{NVN_FORMAT_RGBA_ASTC_6x6, 384, 384, 2},
                          Case{NVN_FORMAT_RGBA_ASTC_8x8, 512, 512, 2}})
        for (const int flags : {0, int{NVN_TEXTURE_FLAGS_SPARSE}}) {
            NVNtextureBuilder builder = builder_2d(1024, 1024, c.format);
            nvnTextureBuilderSetLevels(&builder, 11);
            nvnTextureBuilderSetFlags(&builder, flags);
            const NVNtexture texture = make(builder, pool);
            NVNtextureSparseTileLayout of_builder, of_texture;
            std::memset(&of_builder, 0xCC, sizeof of_builder);
            std::memset(&of_texture, 0x11, sizeof of_texture);
            nvnTextureBuilderGetSparseTileLayout(&builder, &of_builder);
            nvnTextureGetSparseTileLayout(&texture, &of_texture);
            EXPECT_EQ(std::memcmp(&of_builder, &of_texture, sizeof of_builder), 0) << c.format;
            EXPECT_EQ(of_texture.tileWidth, c.tile_width) << c.format;
            EXPECT_EQ(of_texture.tileHeight, c.tile_height) << c.format;
            EXPECT_EQ(of_texture.tileDepth, 1);
            EXPECT_EQ(of_texture.numTiledLevels, c.tiled_levels) << c.format;
        }
}

TEST(TextureView, FieldsAreUnsetUntilSet) { // GFX-197
    test::load_procs();
    NVNtextureView view;
    std::memset(&view, 0xFF, sizeof view);
    nvnTextureViewSetDefaults(&view);
    int a = 5, b = 6;
    EXPECT_FALSE(nvnTextureViewGetLevels(&view, &a, &b));
    EXPECT_FALSE(nvnTextureViewGetLayers(&view, &a, &b));
    EXPECT_EQ(a, 5);
    NVNformat format;
    NVNtextureTarget target;
    NVNtextureDepthStencilMode mode;
    NVNtextureSwizzle s[4];
    EXPECT_FALSE(nvnTextureViewGetFormat(&view, &format));
    EXPECT_FALSE(nvnTextureViewGetTarget(&view, &target));
    EXPECT_FALSE(nvnTextureViewGetDepthStencilMode(&view, &mode));
    EXPECT_FALSE(nvnTextureViewGetSwizzle(&view, &s[0], &s[1], &s[2], &s[3]));
    nvnTextureViewSetLevels(&view, 3, 11);
    nvnTextureViewSetLayers(&view, 2047, 2048);
    nvnTextureViewSetFormat(&view, NVN_FORMAT_BGRA8_SRGB);
    nvnTextureViewSetTarget(&view, NVN_TEXTURE_TARGET_BUFFER);
    nvnTextureViewSetDepthStencilMode(&view, NVN_TEXTURE_DEPTH_STENCIL_MODE_STENCIL);
    nvnTextureViewSetSwizzle(&view, NVN_TEXTURE_SWIZZLE_A, NVN_TEXTURE_SWIZZLE_B, NVN_TEXTURE_SWIZZLE_G,
                             NVN_TEXTURE_SWIZZLE_R);
    EXPECT_TRUE(nvnTextureViewGetLevels(&view, &a, &b));
    EXPECT_EQ(a, 3);
    EXPECT_EQ(b, 11);
    EXPECT_TRUE(nvnTextureViewGetLayers(&view, &a, &b));
    EXPECT_EQ(a, 2047);
    EXPECT_EQ(b, 2048);
    EXPECT_TRUE(nvnTextureViewGetFormat(&view, &format));
    EXPECT_EQ(format, NVN_FORMAT_BGRA8_SRGB);
    EXPECT_TRUE(nvnTextureViewGetTarget(&view, &target));
    EXPECT_EQ(target, NVN_TEXTURE_TARGET_BUFFER);
    EXPECT_TRUE(nvnTextureViewGetDepthStencilMode(&view, &mode));
    EXPECT_EQ(mode, NVN_TEXTURE_DEPTH_STENCIL_MODE_STENCIL);
    EXPECT_TRUE(nvnTextureViewGetSwizzle(&view, &s[0], &s[1], &s[2], &s[3]));
    EXPECT_EQ(s[0], NVN_TEXTURE_SWIZZLE_A);
    EXPECT_EQ(s[3], NVN_TEXTURE_SWIZZLE_R);
}

TEST(TextureView, CompareSeesFieldsAndWhetherTheyAreSet) { // OBJ-256
    test::load_procs();
    const std::vector<std::function<void(NVNtextureView*)>> changes = {
        [](NVNtextureView* v) { nvnTextureViewSetLevels(v, 0, 0); }, // set, to what unset fields hold
        [](NVNtextureView* v) { nvnTextureViewSetLevels(v, 1, 1); },
        [](NVNtextureView* v) { nvnTextureViewSetLevels(v, 0, 1); },
        [](NVNtextureView* v) { nvnTextureViewSetLayers(v, 0, 0); },
        [](NVNtextureView* v) { nvnTextureViewSetLayers(v, 0, 1); },
        [](NVNtextureView* v) { nvnTextureViewSetLayers(v, 1, 0); },
        [](NVNtextureView* v) { nvnTextureViewSetFormat(v, NVN_FORMAT_NONE); },
        [](NVNtextureView* v) { nvnTextureViewSetFormat(v, NVN_FORMAT_RGBA8); },
        [](NVNtextureView* v) { nvnTextureViewSetTarget(v, NVN_TEXTURE_TARGET_1D); },
        [](NVNtextureView* v) { nvnTextureViewSetTarget(v, NVN_TEXTURE_TARGET_3D); },
        [](NVNtextureView* v) { nvnTextureViewSetDepthStencilMode(v, NVN_TEXTURE_DEPTH_STENCIL_MODE_DEPTH); },
        [](NVNtextureView* v) { nvnTextureViewSetDepthStencilMode(v, NVN_TEXTURE_DEPTH_STENCIL_MODE_STENCIL); },
        [](NVNtextureView* v) {
            nvnTextureViewSetSwizzle(v, NVN_TEXTURE_SWIZZLE_ZERO, NVN_TEXTURE_SWIZZLE_ZERO, NVN_TEXTURE_SWIZZLE_ZERO,
                                     NVN_TEXTURE_SWIZZLE_ZERO);
        },
        [](NVNtextureView* v) {
            nvnTextureViewSetSwizzle(v, NVN_TEXTURE_SWIZZLE_ZERO, NVN_TEXTURE_SWIZZLE_ZERO, NVN_TEXTURE_SWIZZLE_ZERO,
                                     NVN_TEXTURE_SWIZZLE_ONE);
        },
        [](NVNtextureView*) {},
    };
    std::vector<NVNtextureView> views;
    for (const auto& change : changes) {
        nvnTextureViewSetDefaults(&views.emplace_back());
        change(&views.back());
    }
    for (std::size_t i = 0; i < views.size(); ++i)
        for (std::size_t j = 0; j < views.size(); ++j)
            EXPECT_EQ(nvnTextureViewCompare(&views[i], &views[j]), i == j) << i << ' ' << j;
}

TEST(Texture, EqualStateIsEqualBytesButForTheSerial) { // OBJ-009
    Device device;
    Pool pool(device, 0x10000);
    NVNtexture textures[2];
    NVNtextureView views[2];
    NVNtextureBuilder builders[2];
    for (int i = 0; i < 2; ++i) {
        std::memset(&textures[i], i ? 0xAA : 0x55, sizeof textures[i]);
        std::memset(&views[i], i ? 0xAA : 0x55, sizeof views[i]);
        std::memset(&builders[i], i ? 0xAA : 0x55, sizeof builders[i]);
        nvnTextureBuilderSetDevice(&builders[i], &device.object);
        nvnTextureBuilderSetDefaults(&builders[i]);
        nvnTextureBuilderSetSize2D(&builders[i], 16, 16);
        nvnTextureBuilderSetFormat(&builders[i], NVN_FORMAT_RGBA8);
        nvnTextureBuilderSetStorage(&builders[i], &pool.object, 0);
        ASSERT_TRUE(nvnTextureInitialize(&textures[i], &builders[i]));
        nvnTextureViewSetDefaults(&views[i]);
        nvnTextureViewSetLayers(&views[i], 1, 2);
    }
    constexpr std::size_t builder_state = 0x58, texture_state = 0x50, serial = 0x08; // what the objects use
    EXPECT_EQ(std::memcmp(&builders[0], &builders[1], builder_state), 0);
    EXPECT_EQ(std::memcmp(&views[0], &views[1], 0x10), 0);
    for (std::size_t i = 0; i < texture_state; ++i) {
        if (i / 8 != serial / 8) {
            EXPECT_EQ(reinterpret_cast<u8*>(&textures[0])[i], reinterpret_cast<u8*>(&textures[1])[i]) << i;
        }
    }
}

TEST(Texture, VirtualPoolsHoldTextures) { // OBJ-237, OBJ-191
    Device device;
    Pool physical(device, 0x40000, test::cpu_cached | NVN_MEMORY_POOL_FLAGS_PHYSICAL);
    NVNmemoryPoolBuilder pool_builder;
    nvnMemoryPoolBuilderSetDefaults(&pool_builder);
    nvnMemoryPoolBuilderSetFlags(&pool_builder, NVN_MEMORY_POOL_FLAGS_VIRTUAL | NVN_MEMORY_POOL_FLAGS_GPU_CACHED);
    nvnMemoryPoolBuilderSetStorage(&pool_builder, nullptr, 0x100000);
    NVNmemoryPool pool;
    ASSERT_TRUE(nvnMemoryPoolInitialize(&pool, &pool_builder));
    NVNtextureBuilder builder = builder_2d(256, 128, NVN_FORMAT_RGBA8); // two pages
    nvnTextureBuilderSetStorage(&builder, &pool, 0x20000);
    NVNtexture texture;
    ASSERT_TRUE(nvnTextureInitialize(&texture, &builder));
    EXPECT_EQ(nvnTextureGetTextureAddress(&texture), nvnMemoryPoolGetBufferAddress(&pool) + 0x20000);

    const NVNmappingRequest first_page{&physical.object, 0x30000, 0x20000, 0x10000, 1};
    ASSERT_TRUE(nvnMemoryPoolMapVirtual(&pool, 1, &first_page));
    std::vector<u32> texels(256 * 128), read(texels.size(), 0xFFFFFFFF);
    std::iota(texels.begin(), texels.end(), 1u);
    const NVNcopyRegion all{0, 0, 0, 256, 128, 1};
    nvnTextureWriteTexels(&texture, nullptr, &all, texels.data());
    u32 first;
    std::memcpy(&first, physical.pages.data + 0x30000, 4);
    EXPECT_EQ(first, 1u);
    nvnTextureReadTexels(&texture, nullptr, &all, read.data());
    // Half of the bytes have a page behind them: those hold what was written, the others read 0.
    std::size_t kept = 0;
    for (std::size_t i = 0; i < read.size(); ++i) {
        kept += read[i] == texels[i];
        EXPECT_TRUE(read[i] == texels[i] || read[i] == 0) << i;
    }
    EXPECT_EQ(kept, read.size() / 2);
    nvnMemoryPoolFinalize(&pool);
}

} // namespace
} // namespace heaviside::nvn
