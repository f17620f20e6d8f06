// Layout numbers: each comes from a ledger row (named in the test), measured on the console's driver, or is worked out
// beside it.
#include "texture/layout.h"

#include <gtest/gtest.h>

namespace heaviside::texture {
namespace {

Layout of(const Description& d) {
    auto result = layout(d);
    EXPECT_TRUE(result) << (result ? "" : result.error().message);
    return result ? *result : Layout{};
}

Description flat(const char* format, u32 width, u32 height, u32 levels = 1, u32 texture_flags = 0) {
    return {.format = format_named(format), .width = width, .height = height, .levels = levels, .flags = texture_flags};
}

TEST(Format, SizesAndClasses) {
    EXPECT_EQ(info(format_named("RGBA8")).block_bytes, 4);
    EXPECT_EQ(static_cast<u32>(format_named("RGBA8")), 0x25u);
    EXPECT_EQ(static_cast<u32>(format_named("BGRA8_SRGB")), 0x9cu);
    EXPECT_EQ(static_cast<u32>(format_named("RGB565")), 0x3cu);
    EXPECT_EQ(info(format_named("RGBA_DXT1")).block_bytes, 8);
    EXPECT_EQ(info(format_named("RGBA_ASTC_10x5")).block_width, 10);
    EXPECT_EQ(info(format_named("RGBA_ASTC_12x12_SRGB")).block_bytes, 16); // OBJ-152: 16 whatever the texel size
    EXPECT_TRUE(has_stencil(info(format_named("DEPTH24_STENCIL8"))));
    EXPECT_FALSE(has_stencil(info(format_named("DEPTH24"))));
    EXPECT_EQ(info(format_named("RGB32F")).block_bytes, 12);
    EXPECT_FALSE(is_valid(Format::None));
    EXPECT_FALSE(is_valid(static_cast<Format>(0x9d)));
    EXPECT_EQ(info(0xffffu).block_bytes, 0);
}

TEST(Layout, AutomaticBlockHeightTruncates) { // REN-041
    const auto gobs = [](u32 rows) { return 1u << automatic_block_height_log2(rows); };
    EXPECT_EQ(gobs(10), 1u);
    EXPECT_EQ(gobs(11), 2u);
    EXPECT_EQ(gobs(21), 2u);
    EXPECT_EQ(gobs(22), 4u);
    EXPECT_EQ(gobs(40), 4u);
    EXPECT_EQ(gobs(42), 4u);
    EXPECT_EQ(gobs(43), 8u);
    EXPECT_EQ(gobs(85), 8u);
    EXPECT_EQ(gobs(86), 16u);
    EXPECT_EQ(gobs(100000), 16u);
    EXPECT_EQ(gobs(1), 1u);
    EXPECT_EQ(of(flat("RGBA_DXT5", 160, 160)).levels[0].block_height_log2, 2);
    EXPECT_EQ(of(flat("BPTC_UNORM", 672, 160)).levels[0].block_height_log2, 2);
    EXPECT_EQ(of(flat("BPTC_UNORM", 112, 112)).levels[0].block_height_log2, 2);
    EXPECT_EQ(of(flat("BPTC_UNORM", 288, 208)).levels[0].block_height_log2, 3);
    EXPECT_EQ(of(flat("BPTC_UNORM", 880, 432)).levels[0].block_height_log2, 4);
}

TEST(Layout, SparseLevelsArePaddedToTiles) { // REN-042, REN-044, REN-045
    Description astc = flat("RGBA_ASTC_6x6", 1024, 1024, 2, flags::sparse);
    const Layout a = of(astc);
    EXPECT_EQ(a.levels[0].gobs_x, 48u);
    EXPECT_EQ(a.levels[1].offset, 0x90000u);
    EXPECT_EQ(of(flat("RGBA_DXT1", 4096, 2048, 1, flags::sparse)).levels[0].block_height_log2, 3);
    EXPECT_EQ(of(flat("RGBA8", 512, 512, 1, flags::sparse)).levels[0].block_height_log2, 4);
    Description packaged = flat("RGBA_DXT5", 1024, 1024, 1, flags::sparse);
    packaged.packaged = 4;
    EXPECT_EQ(of(packaged).levels[0].block_height_log2, 4);
    const Layout dxt5 = of(flat("RGBA_DXT5", 384, 384, 1, flags::sparse));
    EXPECT_EQ(dxt5.levels[0].gobs_x, 32u);
    EXPECT_EQ(dxt5.levels[0].size, 0x40000u);
    const Layout bgra = of(flat("BGRA8", 1350, 270, 1, flags::sparse));
    EXPECT_EQ(bgra.levels[0].gobs_x, 88u);
    EXPECT_EQ(bgra.levels[0].size, 0x210000u);
    EXPECT_EQ(bgra.size % 0x10000, 0u);
}

TEST(Layout, SparseSmallerThanATileIsAllTail) { // REN-046
    const Layout icon = of(flat("RGBA_DXT5", 192, 160, 1, flags::sparse));
    EXPECT_EQ(icon.levels[0].block_height_log2, 2);
    EXPECT_EQ(icon.levels[0].gobs_x, 12u);
    EXPECT_EQ(icon.tiled_levels, 0u);
    EXPECT_EQ(of(flat("RGBA_DXT1", 384, 384, 1, flags::sparse)).levels[0].block_height_log2, 4);
}

TEST(Layout, SparseTileShapes) { // OBJ-030, OBJ-040
    const auto shape = [](const char* format) { return sparse_tile_shape(format_named(format), Target::D2); };
    EXPECT_EQ(shape("RGBA8").width, 128u);
    EXPECT_EQ(shape("RGBA8").height, 128u);
    EXPECT_EQ(shape("BPTC_UNORM").width, 256u);
    EXPECT_EQ(shape("BPTC_UNORM").height, 256u);
    EXPECT_EQ(shape("RGBA_ASTC_8x8").width, 512u);
    EXPECT_EQ(shape("RGBA_ASTC_8x8").height, 512u);
    EXPECT_EQ(shape("RGBA_DXT1").width, 512u); // 128 x 64 blocks of 4 x 4
    EXPECT_EQ(shape("RGBA_DXT1").height, 256u);
    EXPECT_EQ(of(flat("RGBA8", 512, 512, 10, flags::sparse)).tiled_levels, 3u); // 512, 256, 128
}

TEST(Layout, SparseSizeDifferenceIsTheMipTail) { // OBJ-031
    for (const char* format : {"RGBA8", "RGBA_DXT1", "BPTC_UNORM", "RGBA_ASTC_6x6", "R8"}) {
        const Layout all = of(flat(format, 2048, 1024, 11, flags::sparse));
        const Layout tiled = of(flat(format, 2048, 1024, all.tiled_levels, flags::sparse));
        ASSERT_GT(all.tiled_levels, 0u) << format;
        EXPECT_GT(all.size, tiled.size) << format;
        EXPECT_EQ(tiled.size, all.levels[all.tiled_levels].offset) << format;
    }
}

TEST(Layout, LinearStorage) { // OBJ-155, OBJ-159
    Description bc1 = flat("RGB_DXT1", 64, 64, 1, flags::linear);
    bc1.stride = 128;
    EXPECT_EQ(of(bc1).size, 8192u);
    Description target = flat("RGBA8", 16, 16, 1, flags::linear_render_target | flags::image);
    target.stride = 128;
    EXPECT_EQ(of(target).size, 2048u);
    EXPECT_EQ(of(flat("RGBA8", 8, 8, 1, flags::linear)).pitch, 32u);
    EXPECT_EQ(of(flat("RGBA8", 8, 8, 1, flags::linear_render_target)).pitch, 128u);
    EXPECT_TRUE(of(flat("RGBA8", 8, 8, 1, flags::linear_render_target)).linear);
}

TEST(Layout, MinimalLayoutTakesOneGobBlocksWhereTheyAreSmaller) { // OBJ-156
    for (const char* format : {"RGB565", "RGB5A1"}) {
        EXPECT_EQ(of(flat(format, 320, 320)).size, 245760u) << format;
        EXPECT_EQ(of(flat(format, 320, 320, 1, flags::minimal_layout)).size, 204800u) << format;
    }
    const Layout kept = of(flat("RGBA8", 64, 128, 1, flags::minimal_layout)); // 128 rows: one block of 16 GOBs
    EXPECT_EQ(kept.levels[0].block_height_log2, 4);
    EXPECT_EQ(kept.size, 64u * 128 * 4);
    Description packaged = flat("RGB565", 320, 320, 1, flags::minimal_layout);
    packaged.packaged = 4;
    EXPECT_EQ(of(packaged).size, 245760u);
}

TEST(Layout, PackagedNibbles) { // OBJ-154
    Description d = flat("RGBA8", 256, 256);
    d.packaged = 0; // a present layout of zero still overrides
    EXPECT_EQ(of(d).levels[0].block_height_log2, 0);
    d.packaged = 0x23; // block depth means nothing in 2D
    EXPECT_EQ(of(d).levels[0].block_height_log2, 3);
    EXPECT_EQ(of(d).levels[0].block_depth_log2, 0);
    d.target = Target::D3;
    d.depth = 64;
    d.levels = 6;
    const Layout volume = of(d);
    EXPECT_EQ(volume.levels[0].block_height_log2, 3);
    EXPECT_EQ(volume.levels[0].block_depth_log2, 2);
    EXPECT_EQ(volume.levels[5].block_height_log2, 0); // 8 x 8 x 2 texels
    EXPECT_EQ(volume.levels[5].block_depth_log2, 1);
}

TEST(Layout, CubeArrayDepthCountsFaces) { // REN-024
    Description cubes{
        .target = Target::CubeArray, .format = format_named("RGBA8"), .width = 16, .height = 16, .depth = 510};
    Description array = cubes;
    array.target = Target::D2Array;
    EXPECT_EQ(of(cubes).layers, 510u);
    EXPECT_EQ(of(cubes).size, of(array).size);
    cubes.target = Target::Cube;
    EXPECT_EQ(of(cubes).layers, 6u);
}

TEST(Layout, LevelsHalveAndBlocksShrink) {
    // 64 x 64 RGBA8: 4 GOBs wide, 8 rows of GOBs; automatic block 8 GOBs. Each level's block is the smallest that
    // covers it: 32 rows 4 GOBs, 16 rows 2, then 1.
    const Layout l = of(flat("RGBA8", 64, 64, 7));
    EXPECT_EQ(l.levels[0].size, 64u * 64 * 4);
    EXPECT_EQ(l.levels[1].offset, 0x4000u);
    EXPECT_EQ(l.levels[1].size, 32u * 32 * 4);
    EXPECT_EQ(l.levels[2].size, 16u * 16 * 4);
    EXPECT_EQ(l.levels[3].size, 512u);
    EXPECT_EQ(l.levels[6].size, 512u);
    EXPECT_EQ(l.size, 0x4000u + 0x1000 + 0x400 + 4 * 0x200);
}

TEST(Layout, ImpossibleDescriptionsAreErrors) {
    EXPECT_FALSE(layout(Description{}));
    EXPECT_FALSE(layout(flat("RGBA8", 0, 4)));
    EXPECT_FALSE(layout(flat("RGBA8", 16385, 4)));
    EXPECT_FALSE(layout(flat("RGBA8", 4, 4, 17)));
    Description array{.target = Target::D2Array, .format = format_named("R8"), .width = 4, .height = 4, .depth = 2049};
    EXPECT_FALSE(layout(array)); // REN-055
    Description ms{.target = Target::D2Multisample, .format = format_named("R8"), .width = 4, .height = 4};
    ms.samples = 3;
    EXPECT_FALSE(layout(ms));
}

} // namespace
} // namespace heaviside::texture
