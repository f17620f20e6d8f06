#include "guest/page_table.h"

#include <iterator>

namespace heaviside::guest {

Result<void> PageTable::add(u64 start, u64 size) {
    if (size == 0 || start + size < start)
        return fail("virtual pool {:#x}+{:#x}: empty or wraps around", start, size);
    const auto next = pools_.lower_bound(start);
    if (next != pools_.end() && next->first < start + size)
        return fail("virtual pool {:#x}+{:#x} overlaps {:#x}", start, size, next->first);
    if (const auto before = entry(start); before != pools_.end())
        return fail("virtual pool {:#x}+{:#x} overlaps {:#x}", start, size, before->first);
    pools_.emplace(start, Entry{size, {}});
    ++generation_;
    return {};
}

void PageTable::remove(u64 start) {
    generation_ += pools_.erase(start);
}

PageTable::Entries::const_iterator PageTable::entry(u64 address) const {
    auto next = pools_.upper_bound(address);
    if (next == pools_.begin())
        return pools_.end();
    --next;
    return address - next->first < next->second.size ? next : pools_.end();
}

std::optional<PageTable::Pool> PageTable::find(u64 address) const {
    const auto found = entry(address);
    if (found == pools_.end())
        return std::nullopt;
    return Pool{found->first, found->second.size, found->second.runs.size()};
}

// What the range covers goes out of the runs: of each run at most two pieces stay.
void PageTable::cut(std::map<u64, Run>& runs, u64 address, u64 end) {
    auto run = runs.upper_bound(address);
    if (run != runs.begin())
        --run;
    while (run != runs.end() && run->first < end) {
        const auto [start, old] = *run;
        const u64 run_end = start + old.size;
        if (run_end <= address) {
            ++run;
            continue;
        }
        run = runs.erase(run);
        if (start < address)
            runs.emplace(start, Run{address - start, old.physical});
        if (run_end > end)
            run = runs.emplace(end, Run{run_end - end, old.physical + (end - start)}).first;
    }
}

Result<void> PageTable::map(const MappedPart& part) {
    const auto pool = entry(part.address);
    if (pool == pools_.end() || part.size > pool->second.size - (part.address - pool->first))
        return fail("{:#x} bytes at {:#x} are not inside one virtual pool", part.size, part.address);
    if (part.size == 0)
        return {};
    ++generation_;
    auto& runs = pools_.find(pool->first)->second.runs;
    const u64 end = part.address + part.size;
    cut(runs, part.address, end);
    if (part.physical == 0)
        return {};
    const auto added = runs.emplace(part.address, Run{part.size, part.physical}).first;
    if (const auto next = std::next(added);
        next != runs.end() && next->first == end && next->second.physical == part.physical + part.size) {
        added->second.size += next->second.size;
        runs.erase(next);
    }
    if (added != runs.begin()) {
        const auto previous = std::prev(added);
        if (previous->first + previous->second.size == added->first &&
            previous->second.physical + previous->second.size == added->second.physical) {
            previous->second.size += added->second.size;
            runs.erase(added);
        }
    }
    return {};
}

std::vector<MappedPart> PageTable::unmap_physical(u64 physical, u64 size) {
    std::vector<MappedPart> out;
    for (auto& [start, pool] : pools_) {
        const std::size_t first = out.size();
        for (const auto& [address, run] : pool.runs) {
            const u64 from = std::max(physical, run.physical), to = std::min(physical + size, run.physical + run.size);
            if (from < to)
                out.push_back({address + (from - run.physical), to - from, 0});
        }
        for (std::size_t i = first; i < out.size(); ++i)
            cut(pool.runs, out[i].address, out[i].address + out[i].size);
    }
    generation_ += !out.empty();
    return out;
}

std::vector<MappedPart> PageTable::parts(u64 address, u64 size) const {
    std::vector<MappedPart> out;
    visit(address, size, [&out](const MappedPart& part) { out.push_back(part); });
    return out;
}

} // namespace heaviside::guest
