// Pages that the CPU wrote are found by protecting them.
#include "guest/write_tracker.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstring>
#include <optional>
#include <sys/mman.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace heaviside::guest {
namespace {

class WriteTracking : public ::testing::Test {
protected:
    static constexpr u64 page_count = 16;
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
    }
    void TearDown() override {
        handler.reset();
        tracker.reset();
        munmap(const_cast<u8*>(memory), page_count * page);
    }
    GuestAddress at(u64 index) const { return GuestAddress{reinterpret_cast<u64>(memory) + index * page}; }

    u64 page = 0;
    volatile u8* memory = nullptr;
    std::optional<WriteTracker> tracker;
    std::optional<FaultHandler> handler;
};

TEST_F(WriteTracking, SeesAWriteOnceAndKeepsItsValue) {
    const u64 stamp = tracker->arm(at(0), page_count * page);
    EXPECT_FALSE(tracker->written_since(at(0), page_count * page, stamp));
    memory[3 * page + 5] = 42;
    EXPECT_EQ(memory[3 * page + 5], 42);
    EXPECT_TRUE(tracker->written_since(at(0), page_count * page, stamp));
    EXPECT_TRUE(tracker->written_since(at(3), 1, stamp));
    EXPECT_FALSE(tracker->written_since(at(2), page, stamp));
    EXPECT_FALSE(tracker->written_since(at(4), page, stamp));
    EXPECT_EQ(tracker->faults(), 1u);
    memory[3 * page + 6] = 43;
    EXPECT_EQ(tracker->faults(), 1u) << "the page stays writable until it is armed again";
    const u64 later = tracker->arm(at(0), page_count * page);
    EXPECT_FALSE(tracker->written_since(at(0), page_count * page, later));
}

TEST_F(WriteTracking, ListsWrittenPagesMerged) {
    const u64 stamp = tracker->arm(at(0), page_count * page);
    for (const u64 i : {1, 2, 3, 9})
        memory[i * page] = 1;
    const std::vector<PageRange> expected{{at(1), 3 * page}, {at(9), page}};
    EXPECT_EQ(tracker->pages_written_since(at(0), page_count * page, stamp), expected);
    const std::vector<PageRange> part{{at(2) + 16, page - 16}};
    EXPECT_EQ(tracker->pages_written_since(at(2) + 16, page - 16, stamp), part) << "clipped to what was asked";
}

TEST_F(WriteTracking, EachReaderHasItsOwnStamp) {
    const u64 first = tracker->arm(at(0), 4 * page);
    memory[page] = 1;
    const u64 second = tracker->arm(at(0), 4 * page); // another reader takes the bytes now
    EXPECT_TRUE(tracker->written_since(at(0), 4 * page, first)) << "the first reader has not seen that write";
    EXPECT_FALSE(tracker->written_since(at(0), 4 * page, second));
    memory[2 * page] = 1;
    EXPECT_TRUE(tracker->written_since(at(2), page, first));
    EXPECT_TRUE(tracker->written_since(at(2), page, second));
    EXPECT_FALSE(tracker->written_since(at(3), page, first)) << "arming again does not make a page look written";
}

TEST_F(WriteTracking, UntrackedAndNeverArmedPagesCountAsWritten) {
    EXPECT_TRUE(tracker->written_since(at(0), page, ~u64{0} >> 2));
    const u64 stamp = tracker->arm(at(0), page);
    EXPECT_TRUE(tracker->written_since(at(0), 2 * page, stamp)) << "page 1 was never armed";
    EXPECT_TRUE(tracker->written_since(GuestAddress{0x1000}, 16, stamp)) << "no tracked range";
}

TEST_F(WriteTracking, AnOpenedPageIsWritableWithoutCounting) {
    const u64 stamp = tracker->arm(at(0), 2 * page);
    tracker->open(at(0), page);
    memory[0] = 1; // what the library or the GPU stores
    EXPECT_EQ(tracker->faults(), 0u);
    EXPECT_FALSE(tracker->written_since(at(0), page, stamp));
    const u64 second = tracker->arm(at(0), page);
    EXPECT_FALSE(tracker->written_since(at(0), page, stamp));
    memory[0] = 2;
    EXPECT_EQ(tracker->faults(), 1u);
    EXPECT_TRUE(tracker->written_since(at(0), page, second));
    tracker->mark(at(1), page);
    EXPECT_TRUE(tracker->written_since(at(1), page, stamp));
}

TEST_F(WriteTracking, RemovedRangesAreWritableAndForgotten) {
    const u64 stamp = tracker->arm(at(0), page_count * page);
    tracker->remove(at(0));
    memory[0] = 1;
    EXPECT_EQ(tracker->faults(), 0u);
    EXPECT_TRUE(tracker->written_since(at(0), page, stamp));
    EXPECT_FALSE(tracker->handle_fault(at(0).value, true));
    EXPECT_TRUE(tracker->add(at(0), page));
    EXPECT_FALSE(tracker->add(at(0), 2 * page)) << "overlaps";
}

// Whoever arms while the memory is taken out protects nothing behind it: a system call that writes there would fail.
TEST_F(WriteTracking, RemovedMemoryIsNeverLeftProtected) { // OBJ-218
    std::atomic<bool> stop = false;
    std::thread arming([&] {
        while (!stop)
            (void)tracker->arm(at(0), page_count * page);
    });
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    u64 refused = 0;
    for (u32 i = 0; i < 2000; ++i) {
        const std::array<u8, 16> sent{};
        ASSERT_EQ(write(ends[1], sent.data(), sent.size()), 16);
        tracker->remove(at(0));
        for (u32 k = 0; k < 4; ++k) // who has seen the memory there may be a little late
            std::this_thread::yield();
        refused += ::read(ends[0], const_cast<u8*>(memory) + i % page_count * page, 16) != 16;
        if (refused)
            break;
        ASSERT_TRUE(tracker->add(at(0), page_count * page));
    }
    stop = true;
    arming.join();
    EXPECT_EQ(refused, 0u);
    close(ends[0]);
    close(ends[1]);
}

TEST_F(WriteTracking, OnlyWholePagesInsideARangeAreProtected) {
    tracker->remove(at(0));
    ASSERT_TRUE(tracker->add(at(0) + 16, 3 * page)); // pages 1 and 2 are whole
    const u64 stamp = tracker->arm(at(0), 4 * page);
    memory[0] = 1;
    memory[3 * page] = 1;
    EXPECT_EQ(tracker->faults(), 0u);
    EXPECT_TRUE(tracker->written_since(at(0), page, stamp));
    EXPECT_FALSE(tracker->written_since(at(1), 2 * page, stamp));
}

TEST_F(WriteTracking, PoolsMayShareAPage) {
    tracker->remove(at(0));
    ASSERT_TRUE(tracker->add(at(0), page + 16));
    ASSERT_TRUE(tracker->add(at(1) + 16, 2 * page)); // ends 16 bytes into page 3
    const u64 stamp = tracker->arm(at(0), 3 * page);
    memory[page] = 1;
    EXPECT_EQ(tracker->faults(), 0u) << "the shared page is not protected";
    EXPECT_TRUE(tracker->written_since(at(1), 16, stamp));
    EXPECT_FALSE(tracker->written_since(at(0), page, stamp));
    EXPECT_FALSE(tracker->written_since(at(2), page, stamp));
}

TEST_F(WriteTracking, StampsOlderThanTheRangeCountAsWritten) {
    const u64 old = tracker->arm(at(0), page);
    tracker->remove(at(0));
    memory[0] = 1; // between two pools at the same place
    ASSERT_TRUE(tracker->add(at(0), page));
    EXPECT_TRUE(tracker->written_since(at(0), page, old));
    const u64 fresh = tracker->arm(at(0), page); // another reader
    EXPECT_TRUE(tracker->written_since(at(0), page, old));
    EXPECT_FALSE(tracker->written_since(at(0), page, fresh));
}

TEST_F(WriteTracking, ReadFaultsAndForeignAddressesAreNotIts) {
    tracker->arm(at(0), page);
    EXPECT_FALSE(tracker->handle_fault(at(0).value, false));
    EXPECT_FALSE(tracker->handle_fault(0x1234, true));
}

sig_atomic_t volatile foreign_faults = 0;
void* foreign_page = nullptr;
void foreign_handler(int, siginfo_t*, void*) {
    foreign_faults = foreign_faults + 1;
    mprotect(foreign_page, page_size(), PROT_READ | PROT_WRITE);
}

TEST_F(WriteTracking, FaultsOfOthersReachTheHandlerThatWasThereBefore) {
    handler.reset();
    struct sigaction action {
    }, old{};
    action.sa_sigaction = foreign_handler;
    action.sa_flags = SA_SIGINFO;
    ASSERT_EQ(sigaction(SIGSEGV, &action, &old), 0);
    {
        auto installed = FaultHandler::install(*tracker);
        ASSERT_TRUE(installed);
        EXPECT_FALSE(FaultHandler::install(*tracker)) << "one at a time";
        foreign_page = mmap(nullptr, page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        ASSERT_NE(foreign_page, MAP_FAILED);
        *static_cast<volatile u8*>(foreign_page) = 1;
        EXPECT_EQ(foreign_faults, 1);
        tracker->arm(at(0), page);
        memory[0] = 1;
        EXPECT_EQ(foreign_faults, 1) << "ours is not passed on";
        munmap(foreign_page, page);
    }
    struct sigaction now {};
    sigaction(SIGSEGV, nullptr, &now);
    EXPECT_EQ(now.sa_sigaction, foreign_handler) << "the old handler is back";
    sigaction(SIGSEGV, &old, nullptr);
}

// Every page that differs from its neighbours costs the system a mapping, and Linux gives a process 65,530 of them.
TEST_F(WriteTracking, RunningOutOfMappingsLosesNoWrite) {
    const u64 count = 140'000;
    void* p = mmap(nullptr, count * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    ASSERT_NE(p, MAP_FAILED);
    const GuestAddress start{reinterpret_cast<u64>(p)};
    ASSERT_TRUE(tracker->add(start, count * page));
    const u64 stamp = tracker->arm(start, count * page);
    for (u64 i = 0; i < count; i += 2)
        ASSERT_TRUE(tracker->handle_fault((start + i * page).value, true));
    u64 missed = 0;
    for (u64 i = 0; i < count; i += 2)
        missed += !tracker->written_since(start + i * page, page, stamp);
    EXPECT_EQ(missed, 0u);
    static_cast<volatile u8*>(p)[(count - 2) * page] = 1; // writable, or this would fault for ever
    tracker->remove(start);
    munmap(p, count * page);
}

// No write may be lost: whoever arms and then reads either sees the new value or is told to read again.
TEST_F(WriteTracking, NoWriteIsLostBetweenThreads) {
    using Counter = std::atomic<u32>;
    auto* const counters = reinterpret_cast<Counter*>(const_cast<u8*>(memory));
    const auto counter = [&](u64 i) -> Counter& { return counters[i * page / sizeof(Counter)]; };
    std::atomic<bool> stop = false;
    std::vector<std::thread> writers;
    for (u64 w = 0; w < 2; ++w)
        writers.emplace_back([&, w] {
            while (!stop)
                for (u64 i = 0; i < page_count; ++i)
                    counter((i * 7 + w) % page_count).fetch_add(1);
        });
    std::vector<u32> copy(page_count, 0);
    std::vector<u64> stamps(page_count, 0);
    u64 rounds = 0;
    for (; rounds < 300 || tracker->faults() < 500; ++rounds)
        for (u64 i = 0; i < page_count; ++i)
            if (tracker->written_since(at(i), page, stamps[i])) {
                stamps[i] = tracker->arm(at(i), page);
                copy[i] = counter(i).load();
            }
    stop = true;
    for (auto& t : writers)
        t.join();
    u64 stale = 0;
    for (u64 i = 0; i < page_count; ++i)
        if (copy[i] != counter(i).load() && !tracker->written_since(at(i), page, stamps[i]))
            ++stale;
    EXPECT_EQ(stale, 0u);
}

// Of two readers of a page, one may find it armed by the other a moment ago: from then on a write must show.
TEST_F(WriteTracking, TwoReadersOfAPageAreBothTold) { // GFX-010
    auto& value = *reinterpret_cast<std::atomic<u32>*>(const_cast<u8*>(memory));
    std::atomic<u32> wanted = 0, lost = 0;
    std::array<std::atomic<u32>, 2> looks{};
    std::atomic<bool> stop = false;
    std::vector<std::thread> readers;
    for (auto& count : looks)
        readers.emplace_back([&] {
            u64 stamp = 0;
            for (u32 copy = 0; !stop; ++count) {
                const u32 least = wanted.load();
                if (tracker->written_since(at(0), page, stamp)) {
                    stamp = tracker->arm(at(0), page);
                    copy = value.load();
                }
                lost += copy < least;
                std::this_thread::yield();
            }
        });
    for (u32 n = 1; n <= 200; ++n) {
        value.store(n);
        wanted.store(n);
        const std::array<u32, 2> before{looks[0], looks[1]};
        while (looks[0] - before[0] < n % 4 && looks[1] - before[1] < n % 4)
            std::this_thread::yield();
    }
    while (looks[0] < 300 || looks[1] < 300)
        std::this_thread::yield();
    stop = true;
    for (auto& t : readers)
        t.join();
    EXPECT_EQ(lost, 0u);
}

// A checker over any number of threads: writers count up in slots that share pages, readers copy what they are told to,
// others announce writes, open pages that nobody checks, and register and remove memory beside it.
TEST_F(WriteTracking, ManyReadersAndWritersLoseNothing) { // OBJ-060, OBJ-212, OBJ-216
    using Counter = std::atomic<u32>;
    constexpr u64 slots = 4, checked = page_count - 4; // slots of a page; the last pages are opened and closed
    constexpr std::size_t writer_count = 4, reader_count = 3;
    const auto slot = [&](u64 i) -> Counter& {
        auto* const bytes = const_cast<u8*>(memory) + i / slots * page + i % slots * (page / slots);
        return *reinterpret_cast<Counter*>(bytes);
    };
    std::atomic<bool> stop = false;
    std::vector<std::thread> others;
    for (u64 w = 0; w < writer_count; ++w)
        others.emplace_back([&, w] {
            for (u64 i = w; !stop; ++i)
                slot(i * 5 % (checked * slots)).fetch_add(1, std::memory_order_relaxed);
        });
    others.emplace_back([&] { // the host's own writes, announced
        for (u64 i = 0; !stop; ++i) {
            const u64 at_slot = i * 3 % (checked * slots);
            tracker->mark(GuestAddress{reinterpret_cast<u64>(&slot(at_slot))}, sizeof(Counter));
            slot(at_slot).fetch_add(1, std::memory_order_relaxed);
        }
    });
    others.emplace_back([&] {
        while (!stop) {
            tracker->open(at(checked), 3 * page);
            memory[checked * page] = 1;
            (void)tracker->arm(at(checked), 3 * page);
        }
    });
    others.emplace_back([&] {
        void* const p = mmap(nullptr, 4 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        const GuestAddress start{reinterpret_cast<u64>(p)};
        while (!stop) {
            EXPECT_TRUE(tracker->add(start, 4 * page));
            (void)tracker->arm(start, 4 * page);
            static_cast<volatile u8*>(p)[page] = 1;
            tracker->remove(start);
            static_cast<volatile u8*>(p)[2 * page] = 1; // writable for good
        }
        munmap(p, 4 * page);
    });
    struct Reader {
        std::vector<u32> copy = std::vector<u32>(checked * slots, 0);
        std::vector<u64> stamps = std::vector<u64>(checked * slots, 0);
        u64 rounds = 0;
    };
    std::vector<Reader> readers(reader_count);
    const auto slot_range = [&](u64 i) { return GuestAddress{reinterpret_cast<u64>(&slot(i))}; };
    const auto look = [&](Reader& r) {
        for (u64 i = 0; i < checked * slots; ++i)
            if (tracker->written_since(slot_range(i), page / slots, r.stamps[i])) {
                r.stamps[i] = tracker->arm(slot_range(i), page / slots);
                r.copy[i] = slot(i).load(std::memory_order_relaxed);
            }
        ++r.rounds;
    };
    std::vector<std::thread> reading;
    for (Reader& r : readers)
        reading.emplace_back([&] {
            while (!stop)
                look(r);
        });
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (tracker->faults() < 2000 && std::chrono::steady_clock::now() < deadline)
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    stop = true;
    for (auto& t : others)
        t.join();
    for (auto& t : reading)
        t.join();
    for (Reader& r : readers) {
        EXPECT_GT(r.rounds, 0u);
        for (u64 i = 0; i < checked * slots; ++i)
            EXPECT_TRUE(r.copy[i] == slot(i).load() || tracker->written_since(slot_range(i), page / slots, r.stamps[i]))
                << "slot " << i;
        look(r); // and one look brings everything
        for (u64 i = 0; i < checked * slots; ++i)
            EXPECT_EQ(r.copy[i], slot(i).load());
    }
}

} // namespace
} // namespace heaviside::guest
