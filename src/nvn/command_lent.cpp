#include "nvn/command_lent.h"

#include <algorithm>
#include <span>

namespace heaviside::nvn {

namespace {

u64 address_of(const std::byte* pointer) {
    return reinterpret_cast<u64>(pointer);
}

} // namespace

std::span<std::byte> LentMemory::take(u64 bytes, u64 recording, Bytes owner) {
    const u64 size =
        bytes <= small_segment_bytes && recording == 0 ? small_segment_bytes : std::max(bytes, segment_bytes);
    const std::lock_guard lock(mutex_);
    if (size > limit - total_)
        return {};
    Segment segment{nullptr, size, recording};
    // Freed memory is kept for the next taker: a list that is submitted while it is being overwritten stays readable.
    const auto reusable = std::find_if(free_.begin(), free_.end(), [&](const Segment& s) { return s.size == size; });
    if (reusable != free_.end()) {
        segment.memory = std::move(reusable->memory);
        free_.erase(reusable);
    } else {
        segment.memory = std::make_unique_for_overwrite<std::byte[]>(size);
    }
    std::byte* const memory = segment.memory.get();
    total_ += size;
    const auto place =
        std::upper_bound(segments_.begin(), segments_.end(), address_of(memory),
                         [](u64 address, const Segment& s) { return address < address_of(s.memory.get()); });
    segments_.insert(place, std::move(segment));
    if (recording != 0) {
        if (!owner.empty())
            owners_.push_back({recording, address_of(owner.data()), address_of(owner.data()) + owner.size()});
        count_.fetch_add(1, std::memory_order_release);
    }
    return {memory, size};
}

std::span<std::byte> LentMemory::take_control() {
    const std::lock_guard lock(mutex_);
    const auto dead = std::ranges::find_if(control_, [](const ControlBlock& b) { return !b.held && b.lists == 0; });
    if (dead != control_.end()) {
        dead->held = true;
        return {dead->memory.get(), control_bytes};
    }
    if (total_ + control_bytes > limit)
        return {};
    total_ += control_bytes;
    control_.push_back({std::make_unique_for_overwrite<std::byte[]>(control_bytes)});
    return {control_.back().memory.get(), control_bytes};
}

void LentMemory::control_used(const void* block, Bytes first_piece, u64 handle) {
    const std::lock_guard lock(mutex_);
    const auto used = std::ranges::find_if(control_, [&](const ControlBlock& b) { return b.memory.get() == block; });
    if (used == control_.end())
        return;
    const u64 start = address_of(first_piece.data()), end = start + first_piece.size();
    auto list = lists_.upper_bound(start);
    if (list != lists_.begin() && std::prev(list)->second.end > start)
        --list;
    while (list != lists_.end() && list->first < end && list->second.handle != handle) {
        for (const u32 dead : list->second.blocks)
            --control_[dead].lists;
        list = lists_.erase(list);
    }
    List& alive = lists_.try_emplace(start, List{end, handle, {}}).first->second;
    const auto index = static_cast<u32>(used - control_.begin());
    if (std::ranges::find(alive.blocks, index) == alive.blocks.end()) {
        alive.blocks.push_back(index);
        ++used->lists;
    }
}

void LentMemory::leave_control(const void* block) {
    const std::lock_guard lock(mutex_);
    for (ControlBlock& b : control_)
        if (b.memory.get() == block)
            b.held = false;
}

void LentMemory::written_slowly(u64 recording, Bytes stored) {
    const u64 start = address_of(stored.data()), end = start + stored.size();
    const std::lock_guard lock(mutex_);
    const bool lent_to_it =
        std::any_of(segments_.begin(), segments_.end(), [&](const Segment& s) { return s.recording == recording; });
    std::vector<u64> hit;
    for (const Owner& owner : owners_) {
        if (owner.recording != recording && owner.start < end && start < owner.end)
            hit.push_back(owner.recording);
    }
    for (const u64 dead : hit) {
        std::erase_if(owners_, [&](const Owner& o) { return o.recording == dead; });
        for (Segment& segment : segments_) {
            if (segment.recording == dead) {
                total_ -= segment.size;
                free_.push_back({std::move(segment.memory), segment.size, 0});
                count_.fetch_sub(1, std::memory_order_relaxed);
            }
        }
        std::erase_if(segments_, [](const Segment& s) { return !s.memory; });
    }
    if (lent_to_it && !stored.empty())
        owners_.push_back({recording, start, end});
}

bool LentMemory::contains(u64 address, u64 size) const {
    const std::lock_guard lock(mutex_);
    auto found = std::upper_bound(segments_.begin(), segments_.end(), address,
                                  [](u64 a, const Segment& s) { return a < address_of(s.memory.get()); });
    if (found == segments_.begin())
        return false;
    --found;
    const u64 offset = address - address_of(found->memory.get());
    return offset <= found->size && size <= found->size - offset;
}

u64 LentMemory::total_bytes() const {
    const std::lock_guard lock(mutex_);
    return total_;
}

LentMemory& lent_memory() {
    static LentMemory memory;
    return memory;
}

} // namespace heaviside::nvn
