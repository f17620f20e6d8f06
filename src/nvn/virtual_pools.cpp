#include "nvn/virtual_pools.h"

#include "base/bytes.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>

namespace heaviside::nvn {

namespace {

constexpr u64 alignment = 0x10000; // NVN_DEVICE_INFO_MEMORY_POOL_PAGE_SIZE

} // namespace

VirtualPools::~VirtualPools() {
    for (const auto& [address, range] : ranges_)
        ::munmap(reinterpret_cast<void*>(address), range.size);
}

Result<u64> VirtualPools::reserve(u64 size) {
    if (size == 0 || size > u64{1} << 46)
        return fail("size {:#x}", size);
    size = align_up(size, u64{0x1000});
    const u64 room = size + alignment;
    void* memory = ::mmap(nullptr, room, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED)
        return fail("no room for {:#x} bytes of addresses", size);
    const u64 start = reinterpret_cast<u64>(memory);
    const u64 aligned = (start + alignment - 1) / alignment * alignment;
    if (aligned > start)
        ::munmap(memory, aligned - start);
    if (start + room > aligned + size)
        ::munmap(reinterpret_cast<void*>(aligned + size), start + room - aligned - size);
    const std::lock_guard lock(mutex_);
    ranges_.emplace(aligned, Range{size, {}});
    return aligned;
}

void VirtualPools::release(u64 address) {
    const std::lock_guard lock(mutex_);
    const auto found = ranges_.find(address);
    if (found == ranges_.end())
        return;
    ::munmap(reinterpret_cast<void*>(address), found->second.size);
    ranges_.erase(found);
}

const VirtualPools::Range* VirtualPools::find(u64 address, u64* start) const {
    auto next = ranges_.upper_bound(address);
    if (next == ranges_.begin())
        return nullptr;
    --next;
    if (address - next->first >= next->second.size)
        return nullptr;
    *start = next->first;
    return &next->second;
}

Result<void> VirtualPools::map(const stream::MemoryMapping& mapping) {
    const std::lock_guard lock(mutex_);
    u64 start = 0;
    auto* range = const_cast<Range*>(find(mapping.address, &start));
    if (!range || mapping.size > range->size - (mapping.address - start))
        return fail("{:#x} bytes at {:#x} are not inside one virtual pool", mapping.size, mapping.address);
    auto& runs = range->runs;
    const u64 end = mapping.address + mapping.size;

    // Cut what the request covers out of the runs it overlaps: at most two pieces stay.
    auto run = runs.upper_bound(mapping.address);
    if (run != runs.begin())
        --run;
    while (run != runs.end() && run->first < end) {
        const auto [run_start, old] = *run;
        const u64 run_end = run_start + old.size;
        if (run_end <= mapping.address) {
            ++run;
            continue;
        }
        run = runs.erase(run);
        if (run_start < mapping.address)
            runs.emplace(run_start, Run{mapping.address - run_start, old.physical});
        if (run_end > end)
            run = runs.emplace(end, Run{run_end - end, old.physical + (end - run_start)}).first;
    }
    if (mapping.physical == 0)
        return {};

    auto added = runs.emplace(mapping.address, Run{mapping.size, mapping.physical}).first;
    if (const auto next = std::next(added);
        next != runs.end() && next->first == end && next->second.physical == mapping.physical + mapping.size) {
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

bool VirtualPools::contains(u64 address) const {
    const std::lock_guard lock(mutex_);
    u64 start = 0;
    return find(address, &start) != nullptr;
}

namespace {

// Calls visit(offset in the request, physical address, bytes) for each mapped part of [address, address + size).
template <class Runs, class Visit>
void visit_runs(const Runs& runs, u64 address, u64 size, Visit visit) {
    auto run = runs.upper_bound(address);
    if (run != runs.begin())
        --run;
    for (; run != runs.end() && run->first < address + size; ++run) {
        const u64 first = std::max(address, run->first);
        const u64 last = std::min(address + size, run->first + run->second.size);
        if (first < last)
            visit(first - address, run->second.physical + (first - run->first), last - first);
    }
}

} // namespace

bool VirtualPools::read(u64 address, std::span<std::byte> out) const {
    const std::lock_guard lock(mutex_);
    u64 start = 0;
    const Range* range = find(address, &start);
    if (!range)
        return false;
    std::fill(out.begin(), out.end(), std::byte{0});
    visit_runs(range->runs, address, out.size(), [&](u64 offset, u64 physical, u64 bytes) {
        std::memcpy(out.data() + offset, reinterpret_cast<const void*>(physical), bytes);
    });
    return true;
}

bool VirtualPools::write(u64 address, std::span<const std::byte> in) const {
    const std::lock_guard lock(mutex_);
    u64 start = 0;
    const Range* range = find(address, &start);
    if (!range)
        return false;
    visit_runs(range->runs, address, in.size(), [&](u64 offset, u64 physical, u64 bytes) {
        std::memcpy(reinterpret_cast<void*>(physical), in.data() + offset, bytes);
    });
    return true;
}

} // namespace heaviside::nvn
