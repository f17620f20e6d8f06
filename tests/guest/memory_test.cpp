// The registry of guest memory ranges.
#include "guest/memory.h"
#include "guest/write_tracker.h"

#include <gtest/gtest.h>

#include <thread>

#include <sys/mman.h>

namespace heaviside::guest {
namespace {

TEST(Memory, FindsTheRangeThatHoldsAnAddress) {
    Memory memory;
    ASSERT_TRUE(memory.add(GuestAddress{0x20000}, 0x1000));
    ASSERT_TRUE(memory.add(GuestAddress{0x10000}, 0x1000));
    ASSERT_TRUE(memory.add(GuestAddress{0x21000}, 0x1000)); // touches the first
    EXPECT_EQ(memory.find(GuestAddress{0x10000})->start, GuestAddress{0x10000});
    EXPECT_EQ(memory.find(GuestAddress{0x10fff})->start, GuestAddress{0x10000});
    EXPECT_FALSE(memory.find(GuestAddress{0x11000}));
    EXPECT_FALSE(memory.find(GuestAddress{0xffff}));
    EXPECT_EQ(memory.find(GuestAddress{0x20fff})->start, GuestAddress{0x20000});
    EXPECT_EQ(memory.find(GuestAddress{0x21000})->start, GuestAddress{0x21000});
    EXPECT_EQ(memory.ranges().size(), 3u);
}

TEST(Memory, GivesBytesOnlyInsideOneRange) {
    Memory memory;
    std::vector<std::byte> bytes(0x100);
    const GuestAddress start{reinterpret_cast<u64>(bytes.data())};
    ASSERT_TRUE(memory.add(start, bytes.size()));
    const auto all = memory.bytes(start, 0x100);
    ASSERT_TRUE(all);
    EXPECT_EQ(all->data(), bytes.data());
    EXPECT_TRUE(memory.bytes(start + 0xff, 1));
    EXPECT_FALSE(memory.bytes(start + 0xff, 2));
    EXPECT_FALSE(memory.bytes(start, ~u64{0}));
    EXPECT_FALSE(memory.bytes(start + 0x100, 0));
}

TEST(Memory, RefusesOverlapsEmptyRangesAndWrapping) {
    Memory memory;
    ASSERT_TRUE(memory.add(GuestAddress{0x10000}, 0x1000));
    EXPECT_FALSE(memory.add(GuestAddress{0x10fff}, 1));
    EXPECT_FALSE(memory.add(GuestAddress{0xf000}, 0x1001));
    EXPECT_FALSE(memory.add(GuestAddress{0x8000}, 0x10000));
    EXPECT_FALSE(memory.add(GuestAddress{0x30000}, 0));
    EXPECT_FALSE(memory.add(GuestAddress{0}, 0x1000));
    EXPECT_FALSE(memory.add(GuestAddress{~u64{0} - 10}, 100));
    EXPECT_TRUE(memory.add(GuestAddress{0xf000}, 0x1000));
    EXPECT_FALSE(memory.remove(GuestAddress{0x10001}));
}

TEST(Memory, ARangeAddedAgainIsAnother) {
    Memory memory;
    const auto first = memory.add(GuestAddress{0x10000}, 0x1000);
    const u64 version = memory.version();
    ASSERT_TRUE(memory.remove(GuestAddress{0x10000}));
    EXPECT_FALSE(memory.find(GuestAddress{0x10000}));
    const auto second = memory.add(GuestAddress{0x10000}, 0x1000);
    ASSERT_TRUE(first && second);
    EXPECT_NE(*first, *second);
    EXPECT_NE(memory.version(), version);
}

TEST(Memory, RangesThatTheCpuWritesAreTracked) {
    const u64 page = page_size();
    void* const bytes = mmap(nullptr, 3 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(bytes, MAP_FAILED);
    const GuestAddress start{reinterpret_cast<u64>(bytes)};
    Memory memory;
    WriteTracker tracker;
    const auto is_tracked = [&](u64 index) { // only there can an armed page count as unwritten
        const u64 stamp = tracker.arm(start + index * page, page);
        return !tracker.written_since(start + index * page, page, stamp);
    };
    ASSERT_TRUE(memory.add(start, page));
    EXPECT_FALSE(is_tracked(0));
    memory.set_tracker(&tracker);
    ASSERT_TRUE(memory.add(start + page, page));
    ASSERT_TRUE(memory.add(start + 2 * page, page, false));
    EXPECT_TRUE(is_tracked(0)) << "was there before";
    EXPECT_TRUE(is_tracked(1));
    EXPECT_FALSE(is_tracked(2)) << "the CPU cannot write there";
    ASSERT_TRUE(memory.remove(start));
    *static_cast<volatile char*>(bytes) = 1; // and is writable
    EXPECT_FALSE(is_tracked(0));
    memory.set_tracker(nullptr);
    static_cast<volatile char*>(bytes)[page] = 1;
    EXPECT_FALSE(is_tracked(1));
    munmap(bytes, 3 * page);
}

// The claim is for ThreadSanitizer and AddressSanitizer; the counts show that the readers ran.
TEST(Memory, IsReadWhileItChanges) {
    Memory memory;
    ASSERT_TRUE(memory.add(GuestAddress{0x1000}, 0x1000));
    std::atomic<bool> stop = false;
    std::atomic<u64> found = 0;
    std::vector<std::thread> readers;
    for (int i = 0; i < 3; ++i)
        readers.emplace_back([&] {
            while (!stop) {
                if (memory.find(GuestAddress{0x1800}))
                    found.fetch_add(1);
                (void)memory.find(GuestAddress{0x100800});
            }
        });
    for (u64 i = 0; i < 2000 || found < 1000; ++i) {
        ASSERT_TRUE(memory.add(GuestAddress{0x100000}, 0x1000));
        ASSERT_TRUE(memory.remove(GuestAddress{0x100000}));
    }
    stop = true;
    for (auto& t : readers)
        t.join();
    EXPECT_GE(found.load(), 1000u) << "the range that stays is always found";
    EXPECT_EQ(memory.ranges().size(), 1u);
}

} // namespace
} // namespace heaviside::guest
