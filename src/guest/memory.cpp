#include "guest/memory.h"

#include "base/log.h"
#include "guest/write_tracker.h"

#include <algorithm>

namespace heaviside::guest {
namespace {

// The first range that ends after `address`.
auto first_behind(const std::vector<Range>& ranges, GuestAddress address) {
    return std::upper_bound(ranges.begin(), ranges.end(), address,
                            [](GuestAddress a, const Range& r) { return a < r.end(); });
}

// Untracked memory is right too, and slower: it is compared each time.
void track(WriteTracker* tracker, const Range& range) {
    if (!tracker || !range.cpu_access)
        return;
    if (const auto added = tracker->add(range.start, range.size); !added)
        log::error("{}", added.error().message);
}

} // namespace

Memory::Memory() : current_(new Table) {}

Memory::~Memory() {
    delete current_.load();
}

// Old tables go when no reader is inside: a reader counts itself in before it loads the pointer, so one that comes
// after the exchange sees the new table, and a count of zero after the exchange means that none still holds the old
// one. All four operations are sequentially consistent.
void Memory::publish(std::unique_ptr<const Table> next) {
    retired_.emplace_back(current_.exchange(next.release()));
    version_.fetch_add(1, std::memory_order_release);
    if (readers_.load() == 0)
        retired_.clear();
}

Result<u64> Memory::add(GuestAddress start, u64 size, bool cpu_access) {
    if (size == 0 || start.value == 0)
        return fail("memory range {:#x}+{:#x}: empty", start.value, size);
    if (start.value + size < start.value)
        return fail("memory range {:#x}+{:#x}: wraps around", start.value, size);
    std::lock_guard lock(mutex_);
    auto next = std::make_unique<Table>(*current_.load());
    const auto place = first_behind(next->ranges, start);
    if (place != next->ranges.end() && place->start < start + size)
        return fail("memory range {:#x}+{:#x} overlaps {:#x}+{:#x}", start.value, size, place->start.value,
                    place->size);
    Range range;
    range.start = start;
    range.size = size;
    range.serial = next_serial_++;
    range.cpu_access = cpu_access;
    next->ranges.insert(place, range);
    publish(std::move(next));
    track(tracker_, range);
    return range.serial;
}

Result<void> Memory::remove(GuestAddress start) {
    std::lock_guard lock(mutex_);
    auto next = std::make_unique<Table>(*current_.load());
    const auto place = first_behind(next->ranges, start);
    if (place == next->ranges.end() || place->start != start)
        return fail("no memory range starts at {:#x}", start.value);
    next->ranges.erase(place);
    if (tracker_)
        tracker_->remove(start);
    publish(std::move(next));
    return {};
}

void Memory::set_tracker(WriteTracker* tracker) {
    std::lock_guard lock(mutex_);
    const std::vector<Range>& ranges = current_.load()->ranges;
    if (tracker_)
        for (const Range& range : ranges)
            tracker_->remove(range.start);
    tracker_ = tracker;
    for (const Range& range : ranges)
        track(tracker_, range);
}

std::optional<Range> Memory::find(GuestAddress address) const {
    readers_.fetch_add(1);
    const Table& table = *current_.load();
    std::optional<Range> found;
    const auto place = first_behind(table.ranges, address);
    if (place != table.ranges.end() && place->start <= address)
        found = *place;
    readers_.fetch_sub(1);
    return found;
}

std::optional<std::span<std::byte>> Memory::bytes(GuestAddress address, u64 size) const {
    const auto range = find(address);
    if (!range || !range->contains(address, size))
        return std::nullopt;
    return std::span(reinterpret_cast<std::byte*>(address.value), size);
}

std::vector<Range> Memory::ranges() const {
    readers_.fetch_add(1);
    std::vector<Range> copy = current_.load()->ranges;
    readers_.fetch_sub(1);
    return copy;
}

} // namespace heaviside::guest
