// The page table of virtual memory pools: which physical bytes stand behind guest addresses that have no storage of
// their own. NVN maps in pages of 4 KiB, whatever the host's pages are; a table entry is a run of them.
//
// Pools may be of any size and number, and may have any number of runs; a change costs the runs that it overlaps. Not
// thread-safe: the API has one behind a lock, the replay one of its own that follows in the order of the stream.
#pragma once

#include "base/result.h"
#include "base/types.h"

#include <algorithm>
#include <map>
#include <optional>
#include <vector>

namespace heaviside::guest {

inline constexpr u64 virtual_page = 0x1000; // bytes

// [address, address + size) of a virtual pool means the bytes at `physical`; 0: nothing is mapped there.
struct MappedPart {
    u64 address = 0, size = 0, physical = 0;
    friend bool operator==(const MappedPart&, const MappedPart&) = default;
};

class PageTable {
public:
    // Errors: empty, wraps around, overlaps another pool.
    Result<void> add(u64 start, u64 size);
    void remove(u64 start); // with its mappings; unknown ones are ignored

    // Errors: not wholly inside one pool. Addresses need not be multiples of a page.
    Result<void> map(const MappedPart& part);
    // Takes out every mapping of these physical bytes: their pool is going. The virtual parts that lost them.
    std::vector<MappedPart> unmap_physical(u64 physical, u64 size);

    struct Pool {
        u64 start = 0, size = 0;
        std::size_t runs = 0;
    };
    [[nodiscard]] std::optional<Pool> find(u64 address) const;
    [[nodiscard]] bool empty() const { return pools_.empty(); }

    // Calls visit(part) for the mapped and unmapped parts of the range, in order, without gaps. False: not wholly
    // inside one pool; nothing was visited.
    template <class Visit>
    bool visit(u64 address, u64 size, Visit&& visit) const;
    [[nodiscard]] std::vector<MappedPart> parts(u64 address, u64 size) const; // empty: not inside a pool
    // Calls visit(part) for every run of every pool, by address.
    template <class Visit>
    void visit_runs(Visit&& visit) const;
    [[nodiscard]] u64 generation() const { return generation_; } // changes with every change

private:
    struct Run {
        u64 size, physical;
    };
    struct Entry {
        u64 size;
        std::map<u64, Run> runs; // by address; disjoint; runs that continue each other are one
    };
    using Entries = std::map<u64, Entry>;
    [[nodiscard]] Entries::const_iterator entry(u64 address) const;
    static void cut(std::map<u64, Run>& runs, u64 address, u64 end);

    Entries pools_;
    u64 generation_ = 0;
};

template <class Visit>
bool PageTable::visit(u64 address, u64 size, Visit&& visit) const {
    const auto pool = entry(address);
    if (pool == pools_.end() || size > pool->second.size - (address - pool->first))
        return false;
    const auto& runs = pool->second.runs;
    const u64 end = address + size;
    auto run = runs.upper_bound(address);
    if (run != runs.begin())
        --run;
    while (address < end) {
        while (run != runs.end() && run->first + run->second.size <= address)
            ++run;
        const u64 next = run == runs.end() ? end : std::min(end, run->first);
        if (address < next) {
            visit(MappedPart{address, next - address, 0});
            address = next;
            continue;
        }
        const u64 last = std::min(end, run->first + run->second.size);
        visit(MappedPart{address, last - address, run->second.physical + (address - run->first)});
        address = last;
    }
    return true;
}

template <class Visit>
void PageTable::visit_runs(Visit&& visit) const {
    for (const auto& [start, pool] : pools_)
        for (const auto& [address, run] : pool.runs)
            visit(MappedPart{address, run.size, run.physical});
}

} // namespace heaviside::guest
