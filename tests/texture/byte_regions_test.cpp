// The texels that a range of storage holds, against every byte of every texel one by one.
#include "texture/byte_regions.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

namespace heaviside::texture {
namespace {

u64 offset_of(const Layout& layout, const Level& level, u32 x_bytes, u32 y, u32 z) {
    if (layout.linear)
        return z * (level.size / level.depth) + u64{y} * layout.pitch + x_bytes;
    return tiled_offset(level, GobOrder::TegraX1, x_bytes, y, z);
}

void check(const Description& d, const Layout& layout, u32 index, u64 from, u64 to) {
    const Level& level = layout.levels[index];
    const auto regions = regions_of_bytes(layout, index, from, to);
    std::set<std::array<u32, 3>> given;
    for (const BlockRegion& r : regions) {
        ASSERT_GT(r.width * r.height * r.depth, 0u);
        ASSERT_LE(r.x + r.width, level.blocks_x);
        ASSERT_LE(r.y + r.height, level.blocks_y);
        ASSERT_LE(r.z + r.depth, level.depth);
        for (u32 z = r.z; z < r.z + r.depth; ++z)
            for (u32 y = r.y; y < r.y + r.height; ++y)
                for (u32 x = r.x; x < r.x + r.width; ++x)
                    ASSERT_TRUE(given.insert({x, y, z}).second) << "twice";
    }
    for (u32 z = 0; z < level.depth; ++z)
        for (u32 y = 0; y < level.blocks_y; ++y)
            for (u32 x = 0; x < level.blocks_x; ++x) {
                bool touched = false;
                for (u32 b = 0; b < layout.block_bytes; ++b) {
                    const u64 at = offset_of(layout, level, x * layout.block_bytes + b, y, z);
                    touched |= at >= from && at < to;
                }
                ASSERT_TRUE(!touched || given.count({x, y, z}))
                    << info(d.format).name << " " << d.width << "x" << d.height << "x" << d.depth << " level " << index
                    << " bytes " << from << ".." << to << " block " << x << "," << y << "," << z;
            }
}

TEST(ByteRegions, HoldEveryTexelOfTheRange) {
    std::mt19937 random(11);
    const auto below = [&](u32 n) { return static_cast<u32>(random() % n); };
    const char* formats[] = {"R8",      "RG8",    "RGB8",      "RGBA8",        "RGBA16F",
                             "RGBA32F", "RGB32F", "RGBA_DXT1", "RGBA_ASTC_6x5"};
    for (u32 i = 0; i < 400; ++i) {
        Description d;
        d.format = format_named(formats[below(9)]);
        d.width = 1 + below(80);
        d.height = 1 + below(70);
        const u32 kind = below(4);
        if (kind == 0) {
            d.target = Target::D3;
            d.depth = 1 + below(9);
            d.height = 1 + below(20);
            if (below(2))
                d.packaged = static_cast<u16>(below(3) | below(4) << 4);
        } else if (kind == 1) {
            d.flags = flags::linear;
        } else if (below(2)) {
            d.packaged = static_cast<u16>(below(5));
        }
        d.levels = d.flags ? 1 : 1 + below(3);
        const auto layout = texture::layout(d);
        if (!layout)
            continue;
        for (u32 level = 0; level < layout->level_count; ++level)
            for (u32 k = 0; k < 4; ++k) {
                const u64 from = random() % layout->levels[level].size;
                check(d, *layout, level, from, from + 1 + random() % (k < 2 ? 4096 : layout->levels[level].size));
                if (HasFatalFailure())
                    return;
            }
    }
}

TEST(ByteRegions, AreFoundForEveryRegion) { // OBJ-169: against every byte of every texel
    std::mt19937 random(5);
    const auto below = [&](u32 n) { return static_cast<u32>(random() % n); };
    const char* formats[] = {"R8", "RGBA8", "RGB32F", "RGBA_DXT1"};
    for (u32 i = 0; i < 300; ++i) {
        Description d;
        d.format = format_named(formats[below(4)]);
        d.width = 1 + below(80);
        d.height = 1 + below(70);
        if (below(3) == 0) {
            d.flags = flags::linear;
        } else if (below(2)) {
            d.target = Target::D3;
            d.depth = 1 + below(9);
        }
        if (!d.flags && below(2))
            d.packaged = static_cast<u16>(below(4) | below(4) << 4);
        const auto layout = texture::layout(d);
        ASSERT_TRUE(layout);
        const Level& level = layout->levels[0];
        BlockRegion r{below(level.blocks_x), below(level.blocks_y), below(level.depth), 1, 1, 1};
        r.width = 1 + below(level.blocks_x - r.x);
        r.height = 1 + below(level.blocks_y - r.y);
        r.depth = 1 + below(level.depth - r.z);
        u64 first = ~u64{0}, last = 0;
        for (u32 z = r.z; z < r.z + r.depth; ++z)
            for (u32 y = r.y; y < r.y + r.height; ++y)
                for (u32 x = r.x * layout->block_bytes; x < (r.x + r.width) * layout->block_bytes; ++x) {
                    const u64 at = offset_of(*layout, level, x, y, z);
                    first = std::min(first, at);
                    last = std::max(last, at);
                }
        const ByteRange range = bytes_of_region(*layout, 0, r);
        const u64 unit = layout->linear ? 1 : u64{gob_bytes} << (level.block_height_log2 + level.block_depth_log2);
        EXPECT_EQ(range.from, first / unit * unit); // exact to the block
        EXPECT_EQ(range.to, (last / unit + 1) * unit);
    }
}

TEST(ByteRegions, OnePageOfALargeTextureTouchesItsRowsOnly) { // issue 7: at most the rows that the page touches
    Description d;
    d.format = format_named("RGBA8");
    d.width = d.height = 1024; // 4 MiB
    const auto layout = texture::layout(d);
    ASSERT_TRUE(layout);
    const Level& level = layout->levels[0];
    for (u64 page = 0; page < level.size; page += 4096) {
        u32 first = ~0u, last = 0; // rows with a byte in the page
        for (u32 y = 0; y < 1024; ++y)
            for (u32 x = 0; x < 4096; x += 16)
                if (const u64 at = tiled_offset(level, GobOrder::TegraX1, x, y, 0); at >= page && at < page + 4096) {
                    first = std::min(first, y);
                    last = std::max(last, y);
                    x = 4096;
                }
        const auto regions = regions_of_bytes(*layout, 0, page, page + 4096);
        ASSERT_EQ(regions.size(), 1u);
        EXPECT_EQ(regions[0].y, first);
        EXPECT_EQ(regions[0].y + regions[0].height - 1, last);
        EXPECT_EQ(u64{regions[0].width} * regions[0].height * 4, 4096u); // and of those rows its own texels
        page += 4096 * 15;                                               // 64 pages of 1,024
    }
    EXPECT_EQ(regions_of_bytes(*layout, 0, 0, level.size).size(), 1u);
    EXPECT_TRUE(regions_of_bytes(*layout, 0, level.size, level.size + 4096).empty());
}

} // namespace
} // namespace heaviside::texture
