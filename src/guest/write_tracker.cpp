#include "guest/write_tracker.h"

#include "base/bytes.h"
#include "base/hash.h"

#include <algorithm>

#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

namespace heaviside::guest {

u64 page_size() {
    static const u64 size = static_cast<u64>(sysconf(_SC_PAGESIZE));
    return size;
}

// A page's state is one word: bit 0 protected, bit 1 opened (writable, but what is written there does not count), above
// them the stamp of the arm() that protected it last. A page that is neither protected nor opened counts as written: 0
// if it was never armed, `faulted` if a write opened it.
struct WriteTracker::Region : std::enable_shared_from_this<WriteTracker::Region> {
    static constexpr u64 is_protected = 1, is_open = 2, watched = is_protected | is_open, faulted = 4;
    static constexpr u64 stamped(u64 stamp, u64 flags) { return stamp << 2 | flags; }
    static bool written(u64 state, u64 stamp) { return !(state & watched) || state >> 2 > stamp; }

    u64 given_start = 0;     // as add() was told
    u64 start = 0, size = 0; // the whole pages inside
    bool removed = false;    // under `lock`
    u32 windows = 0;         // under `lock`: while_open() that run, which nothing may be protected under
    std::unique_ptr<std::atomic<u64>[]> pages;
    std::atomic_flag lock = ATOMIC_FLAG_INIT;

    [[nodiscard]] u64 end() const { return start + size; }
    [[nodiscard]] u64 page_of(u64 address) const { return (address - start) / page_size(); }
    // Pages [first, last). False: the system has no room for another boundary between mappings (vm.max_map_count).
    [[nodiscard]] bool set_access(u64 first, u64 last, int access) const {
        return mprotect(reinterpret_cast<void*>(start + first * page_size()), (last - first) * page_size(), access) ==
               0;
    }
    void forget_all() { // nothing is protected after it
        for (u64 i = 0; i < size / page_size(); ++i)
            pages[i].store(0, std::memory_order_release);
        (void)set_access(0, size / page_size(), PROT_READ | PROT_WRITE);
    }
};

namespace {

// Held for a few page table changes at most. The signal handler may take it: its holder never touches guest pages.
class SpinLock {
public:
    explicit SpinLock(std::atomic_flag& flag) : flag_(flag) {
        while (flag_.test_and_set(std::memory_order_acquire))
            sched_yield();
    }
    ~SpinLock() { flag_.clear(std::memory_order_release); }
    SpinLock(const SpinLock&) = delete;
    SpinLock& operator=(const SpinLock&) = delete;

private:
    std::atomic_flag& flag_;
};

} // namespace

struct WriteTracker::Table {
    std::vector<std::shared_ptr<Region>> regions; // by address, disjoint
};

// As in Memory: counted in before the pointer is read.
class WriteTracker::Reading {
public:
    explicit Reading(const WriteTracker& tracker) : tracker_(tracker) {
        tracker_.readers_.fetch_add(1);
        table_ = tracker_.table_.load();
    }
    ~Reading() { tracker_.readers_.fetch_sub(1); }
    Reading(const Reading&) = delete;
    Reading& operator=(const Reading&) = delete;
    [[nodiscard]] const Table& table() const { return *table_; }

private:
    const WriteTracker& tracker_;
    const Table* table_;
};

WriteTracker::WriteTracker() : table_(new Table), journal_(std::make_unique<std::atomic<u64>[]>(journal_size)) {}

WriteTracker::~WriteTracker() {
    const std::unique_ptr<const Table> last(table_.load());
    for (const auto& region : last->regions)
        region->forget_all();
}

// Before the page can be written: a reader that comes later finds it.
void WriteTracker::note(u64 start, u64 pages) {
    constexpr u64 most = 0xffff;
    for (u64 done = 0; done < pages; done += most) {
        const u64 slot = journal_head_.fetch_add(1), lap = (slot / journal_size + 1) & 0xfff;
        journal_[slot % journal_size].store(
            (start / page_size() + done) << 28 | std::min(pages - done, most) << 12 | lap, std::memory_order_release);
    }
}

bool WriteTracker::journal(u64& cursor, std::vector<PageRange>& out) const {
    const u64 head = journal_head_.load(std::memory_order_acquire);
    if (head - cursor > journal_size) {
        cursor = head;
        return false;
    }
    for (; cursor < head; ++cursor) {
        const u64 entry = journal_[cursor % journal_size].load(std::memory_order_acquire);
        if ((entry & 0xfff) != ((cursor / journal_size + 1) & 0xfff))
            return false; // overwritten, or not there yet: entries behind it are of others and may count
        out.push_back({GuestAddress{(entry >> 28) * page_size()}, (entry >> 12 & 0xffff) * page_size()});
    }
    return true;
}

void WriteTracker::publish(std::unique_ptr<const Table> next) {
    retired_.emplace_back(table_.exchange(next.release()));
    if (readers_.load() == 0)
        retired_.clear();
}

Result<void> WriteTracker::add(GuestAddress start, u64 size) {
    if (size == 0 || start.value + size < start.value)
        return fail("write tracking {:#x}+{:#x}: empty or wraps around", start.value, size);
    auto region = std::make_shared<Region>();
    region->given_start = start.value;
    region->start = align_up(start.value, page_size());
    const u64 end = (start.value + size) / page_size() * page_size();
    region->size = end > region->start ? end - region->start : 0;
    region->pages = std::make_unique<std::atomic<u64>[]>(region->size / page_size());
    std::lock_guard lock(mutex_);
    auto next = std::make_unique<Table>(*table_.load());
    for (const auto& other : next->regions)
        if (other->start < region->end() && region->start < other->end())
            return fail("write tracking {:#x}+{:#x} overlaps {:#x}", start.value, size, other->given_start);
    const auto place = std::upper_bound(next->regions.begin(), next->regions.end(), region->start,
                                        [](u64 a, const auto& r) { return a < r->start; });
    next->regions.insert(place, std::move(region));
    publish(std::move(next));
    journal_head_.fetch_add(journal_size + 1);
    return {};
}

void WriteTracker::remove(GuestAddress start) {
    std::lock_guard lock(mutex_);
    auto next = std::make_unique<Table>(*table_.load());
    const auto place = std::find_if(next->regions.begin(), next->regions.end(),
                                    [&](const auto& r) { return r->given_start == start.value; });
    if (place == next->regions.end())
        return;
    const std::shared_ptr<Region> region = *place;
    next->regions.erase(place);
    {
        // A thread that still sees the old table must not protect pages that nobody will open again.
        SpinLock hold(region->lock);
        region->removed = true;
        region->forget_all();
    }
    publish(std::move(next));
    journal_head_.fetch_add(journal_size + 1);
}

// Calls visit(region, first page, last page + 1) for what is tracked of the range, and visit(nullptr, from, to) with
// addresses for what is not, in order; stops when it returns false.
template <class Visit>
void WriteTracker::visit(const Table& table, u64 start, u64 size, Visit&& visit) const {
    u64 at = start;
    const u64 end = start + size < start ? ~u64{0} : start + size;
    auto region = std::upper_bound(table.regions.begin(), table.regions.end(), start,
                                   [](u64 a, const auto& r) { return a < r->end(); });
    while (at < end) {
        if (region == table.regions.end() || (*region)->start >= end) {
            visit(static_cast<Region*>(nullptr), at, end);
            return;
        }
        Region& r = **region;
        if (at < r.start) {
            if (!visit(static_cast<Region*>(nullptr), at, r.start))
                return;
            at = r.start;
        }
        const u64 stop = std::min(end, r.end());
        if (r.size && !visit(&r, r.page_of(at), (stop - 1 - r.start) / page_size() + 1))
            return;
        at = stop;
        ++region;
    }
}

u64 WriteTracker::arm(GuestAddress start, u64 size) {
    const Reading reading(*this);
    visit(reading.table(), start.value, size, [&](Region* region, u64 first, u64 last) {
        if (!region)
            return true;
        const auto armed = [&](u64 i) {
            return (region->pages[i].load(std::memory_order_acquire) & Region::is_protected) != 0;
        };
        u64 i = first;
        while (i < last && armed(i))
            ++i;
        if (i == last)
            return true; // the common case takes no lock: a write after this look faults
        SpinLock hold(region->lock);
        if (region->removed || region->windows)
            return true;
        while (i < last) {
            u64 run = i;
            while (run < last && !armed(run))
                ++run;
            if (run > i) {
                // Protected first, marked second: the other way round a write between the two would go unseen. The
                // stamp is taken between them: one from before would be older than that of a reader who copied
                // meanwhile, and hide from it what was written after its copy.
                const bool done = region->set_access(i, run, PROT_READ);
                const u64 stamp = epoch_.fetch_add(1) + 1;
                for (u64 k = i; done && k < run; ++k) {
                    const u64 old = region->pages[k].load(std::memory_order_relaxed);
                    const u64 kept = old & Region::is_open ? old >> 2 : stamp;
                    region->pages[k].store(Region::stamped(kept, Region::is_protected), std::memory_order_release);
                }
            }
            i = run + 1;
        }
        return true;
    });
    // Not older than any page above, and older than whatever is protected again after a write from here on.
    return epoch_.load();
}

bool WriteTracker::written_since(GuestAddress start, u64 size, u64 stamp) const {
    bool written = false;
    const Reading reading(*this);
    visit(reading.table(), start.value, size, [&](const Region* region, u64 first, u64 last) {
        written = !region;
        for (u64 i = first; region && i < last && !written; ++i)
            written = Region::written(region->pages[i].load(std::memory_order_acquire), stamp);
        return !written;
    });
    return written;
}

std::vector<PageRange> WriteTracker::pages_written_since(GuestAddress start, u64 size, u64 stamp) const {
    std::vector<PageRange> out;
    const auto add = [&](u64 from, u64 to) {
        from = std::max(from, start.value);
        to = std::min(to, start.value + size);
        if (!out.empty() && (out.back().start + out.back().size).value == from)
            out.back().size += to - from;
        else
            out.push_back({GuestAddress{from}, to - from});
    };
    const Reading reading(*this);
    visit(reading.table(), start.value, size, [&](const Region* region, u64 first, u64 last) {
        if (!region) {
            add(first, last);
            return true;
        }
        for (u64 i = first; i < last; ++i)
            if (Region::written(region->pages[i].load(std::memory_order_acquire), stamp))
                add(region->start + i * page_size(), region->start + (i + 1) * page_size());
        return true;
    });
    return out;
}

void WriteTracker::open(GuestAddress start, u64 size) {
    const Reading reading(*this);
    visit(reading.table(), start.value, size, [&](Region* region, u64 first, u64 last) {
        if (!region)
            return true;
        SpinLock hold(region->lock);
        if (!region->removed)
            open_locked(*region, first, last);
        return true;
    });
}

void WriteTracker::open_locked(Region& region, u64 first, u64 last) {
    if (first == last)
        return;
    for (u64 i = first; i < last; ++i) {
        const u64 old = region.pages[i].load(std::memory_order_relaxed);
        if (old & Region::is_protected)
            region.pages[i].store(Region::stamped(old >> 2, Region::is_open), std::memory_order_release);
    }
    if (!region.set_access(first, last, PROT_READ | PROT_WRITE))
        give_up(region);
}

void WriteTracker::close_locked(Region& region, u64 first, u64 last) {
    const auto open = [&](u64 i) { return (region.pages[i].load(std::memory_order_relaxed) & Region::is_open) != 0; };
    for (u64 i = first; i < last; ++i) {
        u64 run = i;
        while (run < last && open(run))
            ++run;
        if (run == i)
            continue;
        const bool done = region.set_access(i, run, PROT_READ);
        if (!done)
            note(region.start + i * page_size(), run - i);
        for (; i < run; ++i) {
            const u64 stamp = region.pages[i].load(std::memory_order_relaxed) >> 2;
            region.pages[i].store(done ? Region::stamped(stamp, Region::is_protected) : 0, std::memory_order_release);
        }
    }
}

void WriteTracker::close(GuestAddress start, u64 size) {
    const Reading reading(*this);
    visit(reading.table(), start.value, size, [&](Region* region, u64 first, u64 last) {
        if (!region)
            return true;
        SpinLock hold(region->lock);
        if (!region->removed && !region->windows)
            close_locked(*region, first, last);
        return true;
    });
}

void WriteTracker::while_open(GuestAddress start, u64 size, const std::function<void()>& work) {
    struct Part {
        std::shared_ptr<Region> region;
        u64 first, last;
        std::vector<u64> pages;
        std::vector<Hash128> before;
    };
    std::vector<Part> parts;
    {
        const Reading reading(*this);
        visit(reading.table(), start.value, size, [&](Region* region, u64 first, u64 last) {
            if (region)
                parts.push_back({region->shared_from_this(), first, last, {}, {}});
            return true;
        });
    }
    const auto bytes = [](const Region& r, u64 page) {
        return Bytes(reinterpret_cast<const std::byte*>(r.start + page * page_size()), page_size());
    };
    // All are hashed before any is opened. A page that faults meanwhile counts anyway.
    for (Part& p : parts)
        for (u64 i = p.first; i < p.last; ++i)
            if (p.region->pages[i].load(std::memory_order_acquire) & Region::is_protected) {
                p.pages.push_back(i);
                p.before.push_back(hash_bytes(bytes(*p.region, i)));
            }
    for (Part& p : parts) {
        SpinLock hold(p.region->lock);
        ++p.region->windows;
        if (!p.region->removed)
            open_locked(*p.region, p.first, p.last);
    }
    work();
    for (Part& p : parts) {
        {
            SpinLock hold(p.region->lock);
            if (--p.region->windows != 0 || p.region->removed)
                continue;
            close_locked(*p.region, p.first, p.last);
        }
        for (std::size_t i = 0; i < p.pages.size(); ++i)
            if (hash_bytes(bytes(*p.region, p.pages[i])) != p.before[i])
                mark(GuestAddress{p.region->start + p.pages[i] * page_size()}, page_size());
    }
}

void WriteTracker::mark(GuestAddress start, u64 size) {
    const Reading reading(*this);
    visit(reading.table(), start.value, size, [&](Region* region, u64 first, u64 last) {
        if (!region)
            return true;
        SpinLock hold(region->lock);
        const auto watched = [&](u64 i) {
            return (region->pages[i].load(std::memory_order_relaxed) & Region::watched) != 0;
        };
        for (u64 i = first; i < last && !region->removed; ++i) {
            u64 run = i;
            while (run < last && watched(run))
                ++run;
            if (run > i)
                mark_run(*region, i, run, 0);
            i = run;
        }
        return true;
    });
}

// States first, the journal next, the access last: a reader that finds the page in the journal finds it written too.
void WriteTracker::mark_run(Region& region, u64 first, u64 last, u64 state) {
    for (u64 i = first; i < last; ++i)
        region.pages[i].store(state, std::memory_order_release);
    note(region.start + first * page_size(), last - first);
    if (!region.set_access(first, last, PROT_READ | PROT_WRITE))
        give_up(region);
}

// The system has no room for another boundary between mappings: without protection the region needs none.
void WriteTracker::give_up(Region& region) {
    for (u64 i = 0; i < region.size / page_size(); ++i)
        region.pages[i].store(0, std::memory_order_release);
    note(region.start, region.size / page_size());
    region.forget_all();
}

bool WriteTracker::handle_fault(u64 address, bool write) {
    if (!write)
        return false; // pages are never made unreadable here
    const Reading reading(*this);
    const auto& regions = reading.table().regions;
    const auto place =
        std::upper_bound(regions.begin(), regions.end(), address, [](u64 a, const auto& r) { return a < r->end(); });
    if (place == regions.end() || address < (*place)->start)
        return false;
    Region& region = **place;
    SpinLock hold(region.lock);
    faults_.fetch_add(1, std::memory_order_relaxed);
    const auto state = [&](u64 i) { return region.pages[i].load(std::memory_order_relaxed); };
    const u64 page = region.page_of(address);
    // Another thread may have opened the page since the access faulted; opening it again does no harm.
    if (!(state(page) & Region::is_protected)) {
        (void)region.set_access(page, page + 1, PROT_READ | PROT_WRITE);
        return true;
    }
    // Never the pages behind it as well, however regular the writes are: what counts as written there wins over what
    // the GPU drew.
    mark_run(region, page, page + 1, Region::faulted);
    return true;
}

} // namespace heaviside::guest
