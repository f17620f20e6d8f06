// As many ranges as a game has pools.
#include "guest/write_tracker.h"

#include <gtest/gtest.h>

#include <sys/mman.h>

namespace heaviside::guest {
namespace {

TEST(ManyPools, EachIsWatched) { // OBJ-086: a game reached 4,006
    constexpr u64 pools = 6000;
    const u64 page = page_size();
    void* const p = mmap(nullptr, pools * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(p, MAP_FAILED);
    const GuestAddress start{reinterpret_cast<u64>(p)};
    {
        WriteTracker tracker;
        auto handler = FaultHandler::install(tracker);
        ASSERT_TRUE(handler);
        for (u64 i = 0; i < pools; ++i)
            ASSERT_TRUE(tracker.add(start + i * page, page));
        const u64 stamp = tracker.arm(start, pools * page);
        EXPECT_FALSE(tracker.written_since(start, pools * page, stamp));
        static_cast<volatile u8*>(p)[5990 * page] = 1;
        EXPECT_EQ(tracker.pages_written_since(start, pools * page, stamp),
                  (std::vector<PageRange>{{start + 5990 * page, page}}));
        for (u64 i = 0; i < pools; i += 2)
            tracker.remove(start + i * page);
        static_cast<volatile u8*>(p)[5991 * page] = 1;
        EXPECT_TRUE(tracker.written_since(start + 5991 * page, page, stamp));
        EXPECT_FALSE(tracker.written_since(start + 5993 * page, page, stamp));
    }
    munmap(p, pools * page);
}

} // namespace
} // namespace heaviside::guest
