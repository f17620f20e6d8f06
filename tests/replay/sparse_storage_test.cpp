// The storage of a texture in a virtual pool: its tiles, and what of them an image has. No GPU.
#include "replay/sparse_storage.h"

#include <cstring>
#include <gtest/gtest.h>
#include <random>

namespace heaviside::replay {
namespace {

using texture::BlockRegion;
constexpr u64 tile = SparseStorage::tile_bytes, page = 0x1000, start = u64{1} << 60;

texture::Layout layout_of(const char* format, u32 width, u32 height, u32 levels, u32 depth = 1, bool volume = false,
                          bool sparse = true) {
    texture::Description d;
    d.target = volume ? texture::Target::D3 : depth > 1 ? texture::Target::D2Array : texture::Target::D2;
    d.format = texture::format_named(format);
    d.width = width;
    d.height = height;
    d.depth = depth;
    d.levels = levels;
    d.flags = sparse ? texture::flags::sparse : 0;
    const auto layout = texture::layout(d);
    EXPECT_TRUE(layout) << layout.error().message;
    return *layout;
}

// One pool of memory and one virtual pool.
class SparseStorageTest : public ::testing::Test {
protected:
    static constexpr u64 bytes = 64 * tile;
    void SetUp() override {
        data.resize(bytes + tile);
        memory_start = align_up(reinterpret_cast<u64>(data.data()), tile);
        ASSERT_TRUE(memory.add(GuestAddress{memory_start}, bytes));
        ASSERT_TRUE(table.add(start, u64{1} << 32));
    }
    std::byte* physical(u64 offset) const { return reinterpret_cast<std::byte*>(memory_start + offset); }
    void map(u64 offset, u64 size, u64 to) { ASSERT_TRUE(table.map({start + offset, size, memory_start + to})); }
    void unmap(u64 offset, u64 size) { ASSERT_TRUE(table.map({start + offset, size, 0})); }
    std::shared_ptr<const StoragePieces> pieces(u64 size) const {
        return std::make_shared<StoragePieces>(table, memory, start, size);
    }
    std::vector<std::byte> data;
    u64 memory_start = 0;
    guest::Memory memory;
    guest::PageTable table;
};

// OBJ-040, OBJ-041: each tile, the tail's levels among them, decoded from its own bytes, gives what the whole level's
// does, and together they give all of it.
TEST(SparseTiles, DecodeAlone) {
    struct Case {
        const char* format;
        u32 width, height, levels, depth;
        bool volume;
    };
    for (const Case c : {Case{"RGBA8", 700, 390, 10, 1, false}, Case{"BPTC_UFLOAT", 1100, 600, 9, 2, false},
                         Case{"RGB_DXT1", 1024, 520, 8, 1, false}, Case{"R8", 512, 600, 10, 3, false},
                         Case{"RGBA16F", 300, 200, 1, 1, false}, Case{"RGBA_ASTC_8x8", 1200, 1030, 5, 1, false},
                         Case{"RGBA8", 80, 70, 3, 60, true}}) {
        ASSERT_NE(texture::format_named(c.format), texture::Format::None) << c.format;
        const texture::Layout layout = layout_of(c.format, c.width, c.height, c.levels, c.depth, c.volume);
        std::vector<std::byte> storage(layout.size);
        std::mt19937 random(7);
        for (std::byte& b : storage)
            b = static_cast<std::byte>(random());
        const SparseStorage sparse(layout, true);
        std::vector<u64> blocks(texture::max_levels);
        for (const auto order : {texture::GobOrder::TegraX1, texture::GobOrder::Switch2}) {
            std::fill(blocks.begin(), blocks.end(), u64{0});
            std::vector<u32> all(sparse.tile_count());
            for (u32 i = 0; i < all.size(); ++i)
                all[i] = i;
            for (const SparseStorage::Part& p : sparse.parts_of(all)) {
                if (!p.whole_level) {
                    ASSERT_EQ(p.size, tile);
                    ASSERT_LT(p.level, layout.tiled_levels);
                }
                const Bytes own(storage.data() + p.offset, p.size);
                const texture::LinearPitch pitch = texture::packed(p.layout, p.local);
                std::vector<std::byte> got(texture::linear_size(p.layout, p.local, pitch));
                const auto alone = texture::read_region(p.layout, 0, p.local_level, p.local, own, got, pitch, order);
                ASSERT_TRUE(alone) << c.format << ": " << alone.error().message;
                std::vector<std::byte> expected(got.size());
                ASSERT_TRUE(texture::read_region(layout, p.layer, p.level, p.region, storage, expected, pitch, order));
                ASSERT_EQ(got, expected) << c.format << ", level " << p.level << ", block " << p.region.x << ","
                                         << p.region.y << "," << p.region.z;
                blocks[p.level] += u64{p.region.width} * p.region.height * p.region.depth;
            }
            for (u32 l = 0; l < layout.level_count; ++l) {
                const BlockRegion whole = texture::whole(layout.levels[l]);
                EXPECT_EQ(blocks[l], u64{whole.width} * whole.height * whole.depth * layout.layers)
                    << c.format << ", level " << l;
            }
        }
    }
}

TEST_F(SparseStorageTest, ChangesAreFoundByContent) {       // OBJ-034, OBJ-043
    SparseStorage s(layout_of("RGBA8", 256, 256, 1), true); // four tiles
    s.relocate(pieces(4 * tile), 0, 4 * tile);
    s.image_is_zero();
    EXPECT_FALSE(s.look(nullptr)) << "nothing mapped, nothing in the image";
    map(0, 4 * tile, 0);
    std::memset(physical(0), 1, 4 * tile);
    s.relocate(pieces(4 * tile), 0, 4 * tile);
    EXPECT_TRUE(s.look(nullptr));
    EXPECT_EQ(s.changed(), (std::vector<u32>{0, 1, 2, 3}));
    s.accept();
    EXPECT_FALSE(s.look(nullptr));
    *physical(2 * tile + 5) = std::byte{2};
    EXPECT_TRUE(s.look(nullptr));
    EXPECT_EQ(s.changed(), (std::vector<u32>{2}));
    s.accept();
    unmap(tile, page);
    s.relocate(pieces(4 * tile), tile, page);
    EXPECT_TRUE(s.look(nullptr));
    EXPECT_EQ(s.changed(), (std::vector<u32>{1}));
    s.accept();
    map(tile, page, 5 * tile); // other pages with the same bytes
    std::memset(physical(5 * tile), 1, page);
    s.relocate(pieces(4 * tile), tile, page);
    EXPECT_TRUE(s.look(nullptr));
    s.accept();
    map(tile, page, 6 * tile);
    std::memset(physical(6 * tile), 1, page);
    s.relocate(pieces(4 * tile), tile, page);
    EXPECT_FALSE(s.look(nullptr)) << "the image has these bytes";
}

TEST_F(SparseStorageTest, TrackedTilesAreReadOnlyWhenTheyMayHaveChanged) { // OBJ-043, OBJ-044
    guest::WriteTracker tracker;
    ASSERT_TRUE(tracker.add(GuestAddress{memory_start}, bytes));
    auto handler = guest::FaultHandler::install(tracker);
    ASSERT_TRUE(handler);
    SparseStorage s(layout_of("RGBA8", 256, 256, 1), true);
    map(0, 4 * tile, 0);
    s.relocate(pieces(4 * tile), 0, 4 * tile);
    EXPECT_TRUE(s.look(&tracker));
    s.accept();
    EXPECT_FALSE(s.look(&tracker));
    tracker.open(GuestAddress{memory_start}, tile); // past the tracker, as the GPU writes
    *physical(1) = std::byte{1};
    EXPECT_FALSE(s.look(&tracker)) << "nobody said so";
    *physical(3 * tile + 9) = std::byte{7};
    EXPECT_TRUE(s.look(&tracker));
    EXPECT_EQ(s.changed(), (std::vector<u32>{3})) << "the others are not read for it";
    s.accept();
    EXPECT_FALSE(s.look(&tracker));
    s.suspect_memory(memory_start, 16);
    EXPECT_TRUE(s.look(&tracker));
    EXPECT_EQ(s.changed(), (std::vector<u32>{0}));
}

// OBJ-051: who fills a tile reads what was mapped when it looked.
TEST_F(SparseStorageTest, ARemapDoesNotReachIntoAFill) {
    map(0, tile, tile);
    std::memset(physical(tile), 3, tile);
    std::memset(physical(2 * tile), 4, tile);
    SparseStorage s(layout_of("RGBA8", 128, 128, 1), true);
    s.relocate(pieces(tile), 0, tile);
    const auto looked_at = s.pieces();
    map(0, tile, 2 * tile);
    s.relocate(pieces(tile), 0, tile);
    std::array<std::byte, 4> read{};
    looked_at->read(100, read);
    EXPECT_EQ(read[0], std::byte{3});
    s.pieces()->read(100, read);
    EXPECT_EQ(read[0], std::byte{4});
}

TEST_F(SparseStorageTest, PiecesEndWherePoolsDo) { // OBJ-033, OBJ-050
    ASSERT_TRUE(memory.remove(GuestAddress{memory_start}));
    ASSERT_TRUE(memory.add(GuestAddress{memory_start}, tile)); // two adjacent pools, and memory that is none
    ASSERT_TRUE(memory.add(GuestAddress{memory_start + tile}, tile));
    map(0, 3 * tile, 0);
    const auto p = pieces(4 * tile);
    EXPECT_TRUE(p->is_mapped(0, 2 * tile));
    EXPECT_FALSE(p->is_mapped(2 * tile, 1)) << "the pool is gone";
    EXPECT_FALSE(p->is_mapped(tile, 2 * tile));
    EXPECT_TRUE(p->has_mapped(tile, 2 * tile));
    EXPECT_FALSE(p->has_mapped(2 * tile, 2 * tile));
    EXPECT_TRUE(p->touches(0, 4 * tile, memory_start + tile + 5, 1));
    EXPECT_FALSE(p->touches(0, tile, memory_start + tile + 5, 1));
    EXPECT_FALSE(p->touches(0, 4 * tile, memory_start + 2 * tile, tile));
    const std::vector<std::byte> before(4 * tile), after(4 * tile, std::byte{9});
    p->store(0, before, after);
    EXPECT_EQ(*physical(2 * tile - 1), std::byte{9});
    EXPECT_EQ(*physical(2 * tile), std::byte{0}) << "dropped";
}

// REN-047. A 256 x 256 R8 texture with nine levels (rows of at least 64 bytes, GOBs of 8 rows): levels begin at 0,
// 0x10000, 0x14000, 0x15000, 0x15800, ...; the last ones share a page.
TEST_F(SparseStorageTest, TheFirstMappedLevelIsTheOneWithAllBelowIt) {
    const texture::Layout layout = layout_of("R8", 256, 256, 9, 1, false, false);
    ASSERT_EQ(layout.levels[3].offset, 0x15000u);
    const u64 size = layout.size;
    SparseStorage s(layout, false);
    const auto first = [&] {
        s.relocate(pieces(size), 0, size);
        return s.first_mapped_level();
    };
    EXPECT_EQ(first(), 0u) << "nothing is mapped";
    map(0x15000, 2 * page, 0);
    EXPECT_EQ(first(), 3u);
    map(0, 0x14000, tile);
    EXPECT_EQ(first(), 3u) << "level 2 is missing";
    map(0x14000, page, 4 * tile);
    EXPECT_EQ(first(), 0u);
    unmap(0xF000, page);
    EXPECT_EQ(first(), 1u);
    unmap(0x15000, page);
    EXPECT_GT(first(), 3u);
}

TEST_F(SparseStorageTest, StoresTellWhatTheCpuWroteBefore) {
    map(0, 4 * tile, 0);
    SparseStorage s(layout_of("RGBA8", 256, 256, 1), true);
    s.relocate(pieces(4 * tile), 0, 4 * tile);
    (void)s.look(nullptr);
    s.accept();
    const std::vector<SparseStorage::Part> level{s.part_of_level(0, 0)};
    auto store = std::make_unique<SparseStorage::Store>(s, level);
    EXPECT_TRUE(s.stores_pending());
    *physical(tile + 1) = std::byte{1}; // the CPU, before the store
    store->begin();
    *physical(2 * tile) = std::byte{5}; // what was drawn
    *physical(tile + 2) = std::byte{5};
    store->end();
    EXPECT_FALSE(s.stores_pending());
    EXPECT_TRUE(s.look(nullptr));
    EXPECT_EQ(s.changed(), (std::vector<u32>{1})) << "the drawing itself is in the image";
}

} // namespace
} // namespace heaviside::replay
