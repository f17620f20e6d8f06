#include "guest/write_tracker.h"

#include "base/bytes.h"

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
// them the stamp of the arm() that protected it last. A page that is neither protected nor opened counts as written.
struct WriteTracker::Region {
    static constexpr u64 is_protected = 1, is_open = 2;
    static constexpr u64 stamped(u64 stamp, u64 flags) { return stamp << 2 | flags; }
    static bool written(u64 state, u64 stamp) { return !(state & (is_protected | is_open)) || state >> 2 > stamp; }

    u64 given_start = 0;     // as add() was told
    u64 start = 0, size = 0; // the whole pages inside
    bool removed = false;    // under `lock`
    std::unique_ptr<std::atomic<u64>[]> pages;
    std::atomic_flag lock = ATOMIC_FLAG_INIT;

    [[nodiscard]] u64 end() const { return start + size; }
    [[nodiscard]] u64 page_of(u64 address) const { return (address - start) / page_size(); }
    // Pages [first, last). False: the system has no room for another boundary between mappings (vm.max_map_count).
    [[nodiscard]] bool set_access(u64 first, u64 last, int access) const {
        return mprotect(reinterpret_cast<void*>(start + first * page_size()), (last - first) * page_size(), access) ==
               0;
    }
    // Makes pages writable and gives each that was protected the state that next(old) says. Where a boundary cannot be
    // had the whole region becomes writable, which needs none, and counts as written.
    template <class Next>
    void unprotect(u64 first, u64 last, Next&& next) {
        if (first == last)
            return;
        const bool done = set_access(first, last, PROT_READ | PROT_WRITE);
        if (!done) {
            first = 0;
            last = size / page_size();
            (void)set_access(first, last, PROT_READ | PROT_WRITE);
        }
        for (u64 i = first; i < last; ++i) {
            const u64 old = pages[i].load(std::memory_order_relaxed);
            pages[i].store(done ? next(old) : u64{0}, std::memory_order_release);
        }
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

WriteTracker::WriteTracker() : table_(new Table) {}

WriteTracker::~WriteTracker() {
    const std::unique_ptr<const Table> last(table_.load());
    for (const auto& region : last->regions)
        region->unprotect(0, region->size / page_size(), [](u64) { return u64{0}; });
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
        region->unprotect(0, region->size / page_size(), [](u64) { return u64{0}; });
    }
    publish(std::move(next));
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
        if (region->removed)
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
        if (region->removed)
            return true;
        region->unprotect(first, last, [](u64 old) {
            return old & Region::is_protected ? Region::stamped(old >> 2, Region::is_open) : old;
        });
        return true;
    });
}

void WriteTracker::mark(GuestAddress start, u64 size) {
    const Reading reading(*this);
    visit(reading.table(), start.value, size, [&](Region* region, u64 first, u64 last) {
        if (!region)
            return true;
        SpinLock hold(region->lock);
        if (region->removed)
            return true;
        region->unprotect(first, last, [](u64) { return u64{0}; });
        return true;
    });
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
    const u64 page = region.page_of(address);
    SpinLock hold(region.lock);
    // Another thread may have opened the page since the access faulted; opening it again does no harm.
    region.unprotect(page, page + 1, [](u64 old) { return old & Region::is_protected ? u64{0} : old; });
    faults_.fetch_add(1, std::memory_order_relaxed);
    return true;
}

} // namespace heaviside::guest
