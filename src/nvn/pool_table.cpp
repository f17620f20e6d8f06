#include "nvn/pool_table.h"

#include "base/log.h"

#include <algorithm>
#include <iterator>

namespace heaviside::nvn {

Result<void> PoolTable::add_ranges(std::vector<Pool> pools, guest::Memory& memory) {
    std::ranges::sort(pools, {}, &Pool::address);
    for (std::size_t i = 0; i < pools.size();) {
        const u64 start = pools[i].address;
        u64 end = start;
        bool cpu_access = false;
        do {
            end = std::max(end, pools[i].end());
            cpu_access |= pools[i].cpu_access;
        } while (++i < pools.size() && pools[i].address < end);
        if (auto added = memory.add(GuestAddress{start}, end - start, cpu_access); !added)
            return tl::unexpected(added.error());
    }
    return {};
}

Result<void> PoolTable::add(const Pool& pool, guest::Memory& memory) {
    const std::lock_guard lock(mutex_);
    const auto overlaps = [](const Pool& p, u64 start, u64 end) { return p.address < end && p.end() > start; };
    bool dropped = false;
    std::erase_if(pools_, [&](Pool& before) {
        before.abandoned |= before.object == pool.object;
        const bool gone = before.abandoned && overlaps(before, pool.address, pool.end());
        dropped |= gone;
        return gone;
    });
    std::vector<Pool> together{pool};
    std::vector<guest::Range> replaced;
    bool covered = false;
    for (const guest::Range& range : memory.ranges()) {
        const u64 start = range.start.value, end = range.end().value;
        if (end <= pool.address || start >= pool.end())
            continue;
        covered |=
            start <= pool.address && end >= pool.end() && (!dropped || (start == pool.address && end == pool.end()));
        replaced.push_back(range);
        std::ranges::copy_if(pools_, std::back_inserter(together),
                             [&](const Pool& other) { return overlaps(other, start, end); });
    }
    if (!covered) {
        for (const guest::Range& range : replaced)
            if (auto removed = memory.remove(range.start); !removed)
                return removed;
        if (auto added = add_ranges(std::move(together), memory); !added)
            return added;
    }
    pools_.push_back(pool);
    return {};
}

bool PoolTable::contains(u64 serial) const {
    const std::lock_guard lock(mutex_);
    return std::ranges::find(pools_, serial, &Pool::serial) != pools_.end();
}

template <class Test>
bool PoolTable::any_other(u64 serial, Test test) const {
    const std::lock_guard lock(mutex_);
    const auto pool = std::ranges::find(pools_, serial, &Pool::serial);
    return pool != pools_.end() && std::ranges::any_of(pools_, [&](const Pool& other) {
               return other.serial != serial && !other.abandoned && test(*pool, other);
           });
}

bool PoolTable::is_shared(u64 serial) const {
    return any_other(serial, [](const Pool& pool, const Pool& other) {
        return other.address < pool.end() && other.end() > pool.address;
    });
}

bool PoolTable::is_covered(u64 serial) const {
    return any_other(serial, [](const Pool& pool, const Pool& other) {
        return other.address <= pool.address && other.end() >= pool.end();
    });
}

void PoolTable::remove(u64 serial, guest::Memory& memory) {
    const std::lock_guard lock(mutex_);
    const auto found = std::ranges::find(pools_, serial, &Pool::serial);
    if (found == pools_.end())
        return; // a copy of an object whose original has been finalized
    const Pool pool = *found;
    pools_.erase(found);
    const auto range = memory.find(GuestAddress{pool.address});
    if (!range)
        return;
    // What other pools have of the range stays.
    std::vector<Pool> rest;
    std::ranges::copy_if(pools_, std::back_inserter(rest), [&](const Pool& other) {
        return other.address < range->end().value && other.end() > range->start.value;
    });
    if (std::ranges::any_of(rest, [&](const Pool& other) { return other.size == range->size; }))
        return; // one has all of it
    auto changed = memory.remove(range->start);
    if (changed)
        changed = add_ranges(std::move(rest), memory);
    if (!changed)
        log::error("memory pool at {:#x}: {}", pool.address, changed.error().message);
}

} // namespace heaviside::nvn
