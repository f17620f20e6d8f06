#include "nvn/pool_table.h"

#include "base/log.h"

#include <algorithm>

namespace heaviside::nvn {

Result<void> PoolTable::add(const Pool& pool, guest::Memory& memory) {
    const std::lock_guard lock(mutex_);
    // Grow the range over everything that it overlaps, which those ranges then make room for.
    u64 start = pool.address, end = pool.address + pool.size;
    bool cpu_access = pool.cpu_access, covered = false;
    std::vector<guest::Range> replaced;
    for (const guest::Range& range : memory.ranges()) {
        if (range.end().value <= start || range.start.value >= end)
            continue;
        covered |= range.start.value <= start && range.end().value >= end;
        replaced.push_back(range);
    }
    if (!covered) {
        for (const guest::Range& range : replaced) {
            start = std::min(start, range.start.value);
            end = std::max(end, range.end().value);
            cpu_access |= range.cpu_access;
            if (auto removed = memory.remove(range.start); !removed)
                return removed;
        }
        if (auto added = memory.add(GuestAddress{start}, end - start, cpu_access); !added)
            return tl::unexpected(added.error());
    }
    pools_.push_back(pool);
    return {};
}

bool PoolTable::is_shared(u64 serial) const {
    const std::lock_guard lock(mutex_);
    const auto pool = std::ranges::find(pools_, serial, &Pool::serial);
    return pool != pools_.end() && std::ranges::any_of(pools_, [&](const Pool& other) {
               return other.serial != serial && other.address < pool->address + pool->size &&
                      other.address + other.size > pool->address;
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
    const bool used = std::ranges::any_of(pools_, [&](const Pool& other) {
        return other.address < range->end().value && other.address + other.size > range->start.value;
    });
    if (used)
        return;
    if (auto removed = memory.remove(range->start); !removed)
        log::error("memory pool at {:#x}: {}", pool.address, removed.error().message);
}

} // namespace heaviside::nvn
