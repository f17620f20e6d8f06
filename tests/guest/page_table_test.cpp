// Virtual pools: pages of 4 KiB, joined and split into runs.
#include "guest/page_table.h"

#include <gtest/gtest.h>

namespace heaviside::guest {
namespace {

constexpr u64 page = 0x1000, start = u64{1} << 40, physical = 0x700000000000;
using Parts = std::vector<MappedPart>;

class Table : public ::testing::Test {
protected:
    void SetUp() override { ASSERT_TRUE(table.add(start, u64{1} << 36)); }
    void map(u64 first, u64 count, u64 to) {
        ASSERT_TRUE(table.map({start + first * page, count * page, physical + to * page}));
    }
    void unmap(u64 first, u64 count) { ASSERT_TRUE(table.map({start + first * page, count * page, 0})); }
    [[nodiscard]] std::size_t runs() const { return table.find(start)->runs; }
    [[nodiscard]] Parts parts(u64 first, u64 count) const {
        Parts out = table.parts(start + first * page, count * page);
        for (MappedPart& p : out) // in pages; 0: unmapped
            p = {(p.address - start) / page, p.size / page, p.physical ? (p.physical - physical) / page : 0};
        return out;
    }
    PageTable table;
};

TEST_F(Table, RunsJoinAndSplit) { // OBJ-016
    map(0, 4, 100);
    map(8, 4, 108);
    EXPECT_EQ(runs(), 2u);
    EXPECT_EQ(parts(0, 12), (Parts{{0, 4, 100}, {4, 4, 0}, {8, 4, 108}}));
    map(4, 4, 104);
    EXPECT_EQ(runs(), 1u);
    EXPECT_EQ(parts(0, 12), (Parts{{0, 12, 100}}));
    unmap(5, 2);
    EXPECT_EQ(runs(), 2u);
    EXPECT_EQ(parts(0, 5), (Parts{{0, 5, 100}}));
    EXPECT_EQ(parts(7, 5), (Parts{{7, 5, 107}}));
    EXPECT_EQ(parts(4, 4), (Parts{{4, 1, 104}, {5, 2, 0}, {7, 1, 107}}));
    map(5, 2, 205);
    EXPECT_EQ(runs(), 3u) << "adjacent, but not in memory";
    map(0, 12, 300);
    EXPECT_EQ(parts(0, 12), (Parts{{0, 12, 300}}));
    unmap(0, 64);
    EXPECT_EQ(runs(), 0u);
}

TEST_F(Table, AnyNumberOfRuns) { // OBJ-018
    constexpr u64 count = 5000;
    for (u64 i = 0; i < count; ++i)
        map(2 * i, 1, 1 + i);
    EXPECT_EQ(runs(), count);
    for (u64 i = 0; i < count; ++i)
        ASSERT_EQ(parts(2 * i, 2), (Parts{{2 * i, 1, 1 + i}, {2 * i + 1, 1, 0}}));
    unmap(2 * 77, 1);
    EXPECT_EQ(runs(), count - 1);
    EXPECT_EQ(parts(152, 5), (Parts{{152, 1, 77}, {153, 3, 0}, {156, 1, 79}}));
}

TEST_F(Table, PartsOfPagesAreKept) { // OBJ-035: requests need not be whole pages
    ASSERT_TRUE(table.map({start + 0x10, 0x20, physical + 5}));
    EXPECT_EQ(table.parts(start, 0x40),
              (Parts{{start, 0x10, 0}, {start + 0x10, 0x20, physical + 5}, {start + 0x30, 0x10, 0}}));
}

TEST_F(Table, PoolsAreApart) {
    EXPECT_FALSE(table.add(start - page, 2 * page));
    EXPECT_FALSE(table.add(start + page, page));
    EXPECT_FALSE(table.add(0, 0));
    EXPECT_FALSE(table.map({start - page, 2 * page, physical}));
    EXPECT_FALSE(table.map({start + (u64{1} << 36) - page, 2 * page, physical}));
    EXPECT_TRUE(table.parts(start - page, page).empty());
    EXPECT_TRUE(table.parts(start + (u64{1} << 36) - page, 2 * page).empty());
    ASSERT_TRUE(table.add(start + (u64{1} << 36), page));
    EXPECT_FALSE(table.map({start + (u64{1} << 36) - page, 2 * page, physical})) << "crosses two pools";
    const u64 generation = table.generation();
    table.remove(start);
    EXPECT_NE(table.generation(), generation);
    EXPECT_FALSE(table.find(start));
    EXPECT_TRUE(table.find(start + (u64{1} << 36)));
}

TEST_F(Table, PhysicalPoolsTakeTheirMappingsAlong) { // OBJ-050
    map(0, 4, 100);
    map(10, 4, 102);
    map(20, 1, 200);
    const Parts gone = table.unmap_physical(physical + 103 * page, 2 * page);
    EXPECT_EQ(gone, (Parts{{start + 3 * page, page, 0}, {start + 11 * page, 2 * page, 0}}));
    EXPECT_EQ(parts(0, 21),
              (Parts{{0, 3, 100}, {3, 7, 0}, {10, 1, 102}, {11, 2, 0}, {13, 1, 105}, {14, 6, 0}, {20, 1, 200}}));
    EXPECT_TRUE(table.unmap_physical(physical + 103 * page, 2 * page).empty());
}

} // namespace
} // namespace heaviside::guest
