// Which pages became written, without asking for each; and pages opened for a while.
#include "guest/write_tracker.h"

#include <gtest/gtest.h>

#include <atomic>
#include <optional>
#include <sys/mman.h>
#include <thread>
#include <vector>

namespace heaviside::guest {
namespace {

class WriteJournal : public ::testing::Test {
protected:
    static constexpr u64 page_count = 512;
    void SetUp() override {
        page = page_size();
        void* p = mmap(nullptr, page_count * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        ASSERT_NE(p, MAP_FAILED);
        memory = static_cast<volatile u8*>(p);
        tracker.emplace();
        auto installed = FaultHandler::install(*tracker);
        ASSERT_TRUE(installed) << installed.error().message;
        handler.emplace(std::move(*installed));
        ASSERT_TRUE(tracker->add(at(0), page_count * page));
        (void)read();
    }
    void TearDown() override {
        handler.reset();
        tracker.reset();
        munmap(const_cast<u8*>(memory), page_count * page);
    }
    GuestAddress at(u64 index) const { return GuestAddress{reinterpret_cast<u64>(memory) + index * page}; }
    // What the journal has for this reader; nothing: it was lost.
    std::optional<std::vector<PageRange>> read() {
        std::vector<PageRange> out;
        return tracker->journal(cursor, out) ? std::optional(out) : std::nullopt;
    }

    u64 page = 0, cursor = 0;
    volatile u8* memory = nullptr;
    std::optional<WriteTracker> tracker;
    std::optional<FaultHandler> handler;
};

using Pages = std::vector<PageRange>;

TEST_F(WriteJournal, NamesAWrittenPageOnceToEachReader) {
    tracker->arm(at(0), page_count * page);
    u64 other = cursor;
    EXPECT_EQ(read(), Pages{});
    memory[7 * page + 5] = 1;
    memory[7 * page + 6] = 1;
    memory[2 * page] = 1;
    EXPECT_EQ(read(), (Pages{{at(7), page}, {at(2), page}}));
    EXPECT_EQ(read(), Pages{});
    Pages seen;
    EXPECT_TRUE(tracker->journal(other, seen));
    EXPECT_EQ(seen.size(), 2u) << "each reader has its own place";
    memory[7 * page] = 2;
    EXPECT_EQ(read(), Pages{}) << "nobody armed it again";
    tracker->arm(at(7), page);
    memory[7 * page] = 3;
    EXPECT_EQ(read(), (Pages{{at(7), page}}));
}

TEST_F(WriteJournal, HasMarksAndNoOpenings) {
    tracker->arm(at(0), page_count * page);
    tracker->mark(at(3), 2 * page);
    EXPECT_EQ(read(), (Pages{{at(3), 2 * page}}));
    tracker->mark(at(3), 2 * page);
    EXPECT_EQ(read(), Pages{}) << "they count as written already";
    tracker->open(at(10), page);
    memory[10 * page] = 1;
    tracker->close(at(10), page);
    EXPECT_EQ(read(), Pages{});
    memory[10 * page] = 1;
    EXPECT_EQ(read(), (Pages{{at(10), page}})) << "protected again";
    tracker->arm(at(11), page);
    tracker->open(at(11), page);
    tracker->mark(at(11), page);
    EXPECT_EQ(read(), (Pages{{at(11), page}})) << "an announced write to an opened page counts";
}

TEST_F(WriteJournal, SaysWhenItWasLost) {
    for (u64 i = 0; i < 40; ++i) {
        tracker->arm(at(0), page_count * page);
        for (u64 k = 0; k < page_count; k += 2)
            tracker->mark(at(k), page);
    }
    EXPECT_EQ(read(), std::nullopt);
    EXPECT_EQ(read(), Pages{}) << "and goes on from there";
    tracker->arm(at(0), page);
    memory[0] = 1;
    EXPECT_EQ(read(), (Pages{{at(0), page}}));
    tracker->remove(at(0));
    EXPECT_EQ(read(), std::nullopt) << "what was written to memory that nobody watched is not in it";
    EXPECT_TRUE(tracker->add(at(0), page_count * page));
    EXPECT_EQ(read(), std::nullopt);
    EXPECT_EQ(read(), Pages{});
}

TEST_F(WriteJournal, ClosedPagesKeepTheirStamps) { // OBJ-059
    const u64 stamp = tracker->arm(at(0), page_count * page);
    tracker->open(at(4), 3 * page);
    memory[5 * page] = 1;
    tracker->close(at(4), 3 * page);
    EXPECT_FALSE(tracker->written_since(at(0), page_count * page, stamp));
    memory[5 * page] = 1;
    EXPECT_TRUE(tracker->written_since(at(5), page, stamp));
    tracker->close(at(5), page); // not open: stays as it is
    EXPECT_TRUE(tracker->written_since(at(5), page, stamp));
}

TEST_F(WriteJournal, WhatChangesWhileOpenCountsAndNothingElse) { // OBJ-058, OBJ-059, OBJ-060, OBJ-209
    const u64 stamp = tracker->arm(at(0), page_count * page);
    u64 inside = 0;
    tracker->while_open(at(1), 6 * page, [&] {
        memory[1 * page] = 0;      // as it was
        memory[2 * page + 9] = 77; // another value
        inside = tracker->arm(at(0), page_count * page);
        const u64 faults = tracker->faults();
        memory[3 * page] = 0;
        EXPECT_EQ(tracker->faults(), faults) << "still open";
        memory[20 * page] = 1; // beside it
        EXPECT_EQ(tracker->faults(), faults + 1);
    });
    EXPECT_EQ(tracker->pages_written_since(at(0), page_count * page, stamp), (Pages{{at(2), page}, {at(20), page}}));
    EXPECT_TRUE(tracker->written_since(at(2), page, inside)) << "whoever armed meanwhile is told too";
    EXPECT_EQ(read(), (Pages{{at(20), page}, {at(2), page}}));
    const u64 faults = tracker->faults();
    memory[1 * page] = 1;
    EXPECT_EQ(tracker->faults(), faults + 1) << "protected again";
}

TEST_F(WriteJournal, WindowsMayOverlap) { // two imports at once
    tracker->arm(at(0), page_count * page);
    tracker->while_open(at(0), 4 * page, [&] {
        tracker->while_open(at(2), 4 * page, [&] { memory[3 * page] = 9; });
        const u64 faults = tracker->faults();
        memory[2 * page] = 9;
        EXPECT_EQ(tracker->faults(), faults) << "the outer one is still open";
    });
    u64 faults = tracker->faults();
    memory[0] = 1;
    EXPECT_EQ(tracker->faults(), faults + 1);
    tracker->arm(at(5), page);
    faults = tracker->faults();
    memory[5 * page] = 1;
    EXPECT_EQ(tracker->faults(), faults + 1) << "and the inner one's pages can be watched again";
}

// Another texture may begin on the next page, and what was drawn there must not give way to bytes that nobody wrote.
TEST_F(WriteJournal, FillingFromFrontToBackMarksNoPageAhead) {
    const u64 stamp = tracker->arm(at(0), page_count * page);
    const u64 filled = page_count / 2;
    for (u64 i = 0; i < filled; ++i)
        memory[i * page + i] = 1;
    EXPECT_EQ(tracker->pages_written_since(at(0), page_count * page, stamp), (Pages{{at(0), filled * page}}));
    u64 pages = 0;
    for (const PageRange& r : read().value_or(Pages{}))
        pages += r.size / page;
    EXPECT_EQ(pages, filled);
    // Lone writes, wherever, take no page with them.
    const u64 again = tracker->arm(at(0), page_count * page);
    for (u64 i = 10; i < page_count; i += 50)
        memory[i * page] = 2;
    EXPECT_EQ(tracker->pages_written_since(at(0), page_count * page, again).size(), 11u);
    for (const PageRange& r : read().value_or(Pages{}))
        EXPECT_EQ(r.size, page);
}

// A reader that trusts the journal alone: what it did not name has not changed since its copy.
TEST_F(WriteJournal, LosesNothingBetweenThreads) { // OBJ-217
    constexpr u64 slots = 48;
    using Counter = std::atomic<u32>;
    auto* const bytes = const_cast<u8*>(memory);
    const auto counter = [&](u64 i) -> Counter& { return *reinterpret_cast<Counter*>(bytes + i * page); };
    std::atomic<bool> stop = false;
    // Writers say what they have done: the newest value of each page that a submission must see.
    std::vector<std::atomic<u32>> done(slots);
    std::vector<std::thread> writers;
    for (u64 w = 0; w < 3; ++w)
        writers.emplace_back([&, w] {
            for (u64 n = w; !stop; ++n) {
                const u64 i = n * 7 % slots;
                const u32 value = counter(i).fetch_add(1) + 1;
                u32 seen = done[i].load();
                while (seen < value && !done[i].compare_exchange_weak(seen, value)) {
                }
            }
        });
    std::vector<u32> copy(slots, 0);
    std::vector<u64> stamps(slots, 0);
    std::vector<bool> maybe(slots, true);
    u64 lost = 0, stale = 0;
    const auto look = [&] {
        std::vector<u32> wanted(slots);
        for (u64 i = 0; i < slots; ++i)
            wanted[i] = done[i].load();
        std::vector<PageRange> pages;
        if (!tracker->journal(cursor, pages)) {
            ++lost;
            maybe.assign(slots, true);
        }
        for (const PageRange& r : pages)
            for (u64 i = (r.start - at(0)) / page; i < (r.start - at(0) + r.size) / page && i < slots; ++i)
                maybe[i] = true;
        for (u64 i = 0; i < slots; ++i) {
            if (maybe[i]) {
                const u64 before = stamps[i];
                stamps[i] = tracker->arm(at(i), page);
                if (tracker->written_since(at(i), page, before))
                    copy[i] = counter(i).load();
                maybe[i] = tracker->written_since(at(i), page, stamps[i]);
            }
            stale += copy[i] < wanted[i];
        }
    };
    for (u64 rounds = 0; rounds < 400 || (tracker->faults() < 2000 && rounds < 100000); ++rounds)
        look();
    stop = true;
    for (auto& t : writers)
        t.join();
    look();
    for (u64 i = 0; i < slots; ++i)
        EXPECT_EQ(copy[i], counter(i).load()) << i;
    EXPECT_EQ(stale, 0u);
}

} // namespace
} // namespace heaviside::guest
