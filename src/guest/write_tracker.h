// Which pages of guest memory the CPU wrote, found by protecting them.
//
// Protocol of a reader that copies guest bytes somewhere (a texture upload): stamp = arm(range); read the bytes; later
// written_since(range, stamp) says whether to read again. arm() protects before the bytes are read, so a write between
// the two is seen, never lost. Any number of readers may watch the same pages, each with its own stamps. A reader with
// many ranges asks journal() which pages changed at all.
//
// Pages are the host's. Only CPU writes are seen: on NVIDIA the GPU's writes to imported memory fault nobody; on CPU
// devices they come from driver threads and look like the guest's. open() takes the protection off for those;
// while_open() does for imports (an import over read-only pages fails on NVIDIA).
//
// Any thread. handle_fault() is async-signal-safe.
#pragma once

#include "base/result.h"
#include "base/types.h"

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

namespace heaviside::guest {

[[nodiscard]] u64 page_size(); // of the host, bytes

struct PageRange {
    GuestAddress start;
    u64 size = 0;
    friend bool operator==(const PageRange&, const PageRange&) = default;
};

class WriteTracker {
public:
    WriteTracker();
    ~WriteTracker(); // every page writable again
    WriteTracker(const WriteTracker&) = delete;
    WriteTracker& operator=(const WriteTracker&) = delete;

    // Whole pages inside the range are tracked; pages that it only partly covers always count as written. Memory must
    // be readable and writable. Errors: overlaps another tracked range, empty.
    Result<void> add(GuestAddress start, u64 size);
    void remove(GuestAddress start); // writable again, forgotten. No-op if unknown.

    // Protects the range's pages and returns the stamp for written_since(). Untracked pages are left alone.
    u64 arm(GuestAddress start, u64 size);
    // Whether a page of the range was written after that stamp. Untracked and never armed pages count as written.
    [[nodiscard]] bool written_since(GuestAddress start, u64 size, u64 stamp) const;
    // The pages of the range that were written after the stamp, merged, in address order.
    [[nodiscard]] std::vector<PageRange> pages_written_since(GuestAddress start, u64 size, u64 stamp) const;

    // The pages that became written since `cursor` (0 at first), which moves on: what a reader with many ranges asks
    // once a frame instead of asking for each. False: there were more than are kept, or ranges came or went, so that
    // any page may have been written. Pages may come twice.
    bool journal(u64& cursor, std::vector<PageRange>& out) const;

    // Makes the range writable without counting a write: for what the GPU or the library itself is about to store
    // there. CPU writes go unseen until close() or the next arm(); mark() reports one that is known.
    void open(GuestAddress start, u64 size);
    void close(GuestAddress start, u64 size); // protects the opened pages again; their stamps stay
    // Runs `work` with the range writable. Nothing is protected there meanwhile, and what the CPU changes counts.
    void while_open(GuestAddress start, u64 size, const std::function<void()>& work);
    void mark(GuestAddress start, u64 size); // as if the CPU had written there

    // True if the fault was a write to a page protected here: it is writable now and the access can be repeated.
    // A runtime that owns SIGSEGV calls this first; install_fault_handler() does for those that do not.
    bool handle_fault(u64 address, bool write);

    [[nodiscard]] u64 faults() const { return faults_.load(std::memory_order_relaxed); }

private:
    struct Region;
    struct Table;
    class Reading; // keeps the table alive
    void publish(std::unique_ptr<const Table> next);
    void note(u64 start, u64 pages);
    void open_locked(Region& region, u64 first, u64 last); // with the region's lock held
    void close_locked(Region& region, u64 first, u64 last);
    void mark_run(Region& region, u64 first, u64 last, u64 state);
    void give_up(Region& region);
    template <class Visit>
    void visit(const Table& table, u64 start, u64 size, Visit&& visit) const;

    std::mutex mutex_; // add, remove
    std::atomic<const Table*> table_;
    mutable std::atomic<u32> readers_ = 0;
    std::vector<std::unique_ptr<const Table>> retired_;
    std::atomic<u64> epoch_ = 1; // no stamp is 0
    std::atomic<u64> faults_ = 0;
    // A ring of runs of pages: page number, pages, and the low bits of the lap that wrote the entry.
    static constexpr u64 journal_size = 8192;
    std::unique_ptr<std::atomic<u64>[]> journal_;
    std::atomic<u64> journal_head_ = 0;
};

// Routes SIGSEGV and SIGBUS of this process to the tracker, and what is not its to the handler that was there before.
// One tracker at a time. The destructor restores the old handlers if nobody replaced ours meanwhile.
class FaultHandler {
public:
    [[nodiscard]] static Result<FaultHandler> install(WriteTracker& tracker);
    FaultHandler(FaultHandler&& other) noexcept;
    FaultHandler& operator=(FaultHandler&&) = delete;
    ~FaultHandler();

private:
    FaultHandler() = default;
    bool owner_ = false;
};

} // namespace heaviside::guest
