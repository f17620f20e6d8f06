// Tiling against the byte-address formula of ledger rows OBJ-152 and OBJ-153, evaluated byte by byte.
#include "texture/tiling.h"

#include <gtest/gtest.h>
#include <random>
#include <vector>

namespace heaviside::texture {
namespace {

u64 gob_offset(GobOrder order, u64 x, u64 y) {
    if (order == GobOrder::TegraX1)
        return (x % 64 / 32) * 256 + (y % 8 / 2) * 64 + (x % 32 / 16) * 32 + (y % 2) * 16 + x % 16;
    return (x % 64 / 32) * 256 + (y % 8 / 4) * 128 + (x % 32 / 16) * 64 + (y % 4 / 2) * 32 + (y % 2) * 16 + x % 16;
}

// Blocks of GOBs, row of blocks after row of blocks, slab of blocks after slab; inside a block slice after slice.
u64 byte_address(const Level& l, GobOrder order, u64 x, u64 y, u64 z) {
    const u64 bh = 1u << l.block_height_log2, bd = 1u << l.block_depth_log2;
    const u64 block_bytes = 512 * bh * bd;
    const u64 blocks_down = (l.blocks_y + 8 * bh - 1) / (8 * bh);
    const u64 block = (z / bd * blocks_down + y / (8 * bh)) * l.gobs_x + x / 64;
    return block * block_bytes + z % bd * 512 * bh + y % (8 * bh) / 8 * 512 + gob_offset(order, x, y);
}

TEST(Tiling, RandomLayoutsBothWaysAgainstTheFormula) { // OBJ-152, OBJ-153
    std::mt19937 random(7);
    const auto pick = [&](u32 low, u32 high) { return std::uniform_int_distribution<u32>(low, high)(random); };
    const char* formats[] = {"R8",     "RG8",     "RGB8",      "RGBA8",     "RGB16",         "RGBA16F",
                             "RGB32F", "RGBA32F", "RGBA_DXT1", "RGBA_DXT5", "RGBA_ASTC_6x6", "RGBA_ASTC_12x10"};
    for (int round = 0; round < 1200; ++round) {
        Description d;
        constexpr Target targets[] = {Target::D1, Target::D2, Target::D2, Target::D3, Target::D2Array, Target::Cube};
        d.target = targets[pick(0, 5)];
        d.format = format_named(formats[pick(0, 11)]);
        d.width = pick(1, 300);
        d.height = d.target == Target::Cube ? d.width : pick(1, 150);
        d.depth = d.target == Target::D3 ? pick(1, 20) : pick(1, 3);
        d.levels = pick(1, 5);
        if (pick(0, 3) == 0)
            d.packaged = static_cast<u16>(pick(0, 5) | pick(0, 3) << 4);
        if (pick(0, 4) == 0)
            d.flags |= flags::sparse;
        const auto l = layout(d);
        ASSERT_TRUE(l) << l.error().message;
        const u32 level_index = pick(0, d.levels - 1), layer = pick(0, l->layers - 1);
        const Level& level = l->levels[level_index];
        BlockRegion r = whole(level);
        if (pick(0, 2)) {
            r.x = pick(0, level.blocks_x - 1), r.width = pick(1, level.blocks_x - r.x);
            r.y = pick(0, level.blocks_y - 1), r.height = pick(1, level.blocks_y - r.y);
            r.z = pick(0, level.depth - 1), r.depth = pick(1, level.depth - r.z);
        }
        LinearPitch pitch = packed(*l, r);
        pitch.row += pick(0, 2) * 5;
        pitch.slice = pitch.row * r.height + pick(0, 1) * 7;
        const GobOrder order = pick(0, 3) ? GobOrder::TegraX1 : GobOrder::Switch2;

        std::vector<std::byte> storage(l->size), rows(linear_size(*l, r, pitch), std::byte{0xee});
        for (auto& b : storage)
            b = static_cast<std::byte>(random());
        ASSERT_TRUE(read_region(*l, layer, level_index, r, storage, rows, pitch, order));
        const u64 base = layer * l->layer_stride + level.offset;
        std::vector<std::byte> expected_storage(storage.size());
        for (u32 z = 0; z < r.depth; ++z)
            for (u32 y = 0; y < r.height; ++y)
                for (u32 x = 0; x < r.width * l->block_bytes; ++x) {
                    const u64 at = base + byte_address(level, order, u64{r.x} * l->block_bytes + x, r.y + y, r.z + z);
                    ASSERT_LT(at, base + level.size);
                    ASSERT_EQ(rows[z * pitch.slice + y * pitch.row + x], storage[at]) << "round " << round;
                    expected_storage[at] = storage[at];
                }
        std::vector<std::byte> written(storage.size()); // everything outside the region stays zero
        ASSERT_TRUE(write_region(*l, layer, level_index, r, written, rows, pitch, order));
        ASSERT_EQ(written, expected_storage) << "round " << round;
    }
}

TEST(Tiling, LinearRegionsKeepTheirPadding) {
    Description d{.format = format_named("RGBA8"), .width = 6, .height = 6, .flags = flags::linear, .stride = 64};
    const auto l = layout(d);
    ASSERT_TRUE(l);
    std::vector<std::byte> storage(l->size, std::byte{1}), rows(6 * 6 * 4, std::byte{9});
    ASSERT_TRUE(write_region(*l, 0, 0, whole(l->levels[0]), storage, rows, packed(*l, whole(l->levels[0]))));
    EXPECT_EQ(storage[23], std::byte{9});
    EXPECT_EQ(storage[24], std::byte{1});
    EXPECT_EQ(storage[64], std::byte{9});
}

TEST(Tiling, OutOfRangeIsAnErrorAndCopiesNothing) {
    Description d{.format = format_named("RGBA8"), .width = 64, .height = 64};
    const auto l = layout(d);
    ASSERT_TRUE(l);
    std::vector<std::byte> storage(l->size), rows(64 * 64 * 4);
    const LinearPitch pitch = packed(*l, whole(l->levels[0]));
    EXPECT_FALSE(read_region(*l, 0, 1, whole(l->levels[0]), storage, rows, pitch));
    EXPECT_FALSE(read_region(*l, 1, 0, whole(l->levels[0]), storage, rows, pitch));
    EXPECT_FALSE(read_region(*l, 0, 0, {1, 0, 0, 64, 1, 1}, storage, rows, pitch));
    EXPECT_FALSE(read_region(*l, 0, 0, {0xffffffffu, 0, 0, 2, 1, 1}, storage, rows, pitch));
    EXPECT_FALSE(read_region(*l, 0, 0, whole(l->levels[0]), Bytes(storage).first(100), rows, pitch));
    EXPECT_FALSE(read_region(*l, 0, 0, whole(l->levels[0]), storage, MutableBytes(rows).first(100), pitch));
}

} // namespace
} // namespace heaviside::texture
