#include "replay/uniform_updates.h"

#include <algorithm>
#include <cstring>

namespace heaviside::replay {

void UniformUpdates::add(u64 address, const gpu::BufferSlice& bytes, u64 submission, bool deferred) {
    updates_.push_back({address, bytes, submission});
    ++sequence_;
    if (deferred)
        ++deferred_;
}

std::optional<u32> UniformUpdates::word(u64 address) const {
    for (auto u = updates_.rbegin(); u != updates_.rend(); ++u)
        if (u->address <= address && address + 4 <= u->address + u->size()) {
            u32 value = 0;
            std::memcpy(&value, u->bytes.mapped + (address - u->address), sizeof value);
            return value;
        }
    return std::nullopt;
}

void UniformUpdates::retire(u64 completed) {
    while (updates_.size() > deferred_ && updates_.front().submission <= completed)
        updates_.pop_front();
}

std::vector<UniformUpdates::Update> UniformUpdates::take_deferred() {
    std::vector<Update> out(updates_.end() - static_cast<std::ptrdiff_t>(deferred_), updates_.end());
    deferred_ = 0;
    versions_.clear();
    return out;
}

Result<gpu::BufferSlice> UniformUpdates::version(const Range& range, const guest::Memory& memory, gpu::Arena& arena) {
    const auto overlaps = [&range](const Update& u) {
        return u.address < range.address + range.size && range.address < u.address + u.size();
    };
    if (std::none_of(updates_.end() - static_cast<std::ptrdiff_t>(deferred_), updates_.end(), overlaps))
        return gpu::BufferSlice{};
    for (const Version& v : versions_)
        if (v.range == range && v.sequence == sequence_)
            return v.slice;
    const auto bytes = memory.bytes(GuestAddress{range.address}, range.size);
    if (!bytes)
        return fail("uniform buffer at {:#x} lies in no memory pool", range.address);
    auto slice = arena.push(*bytes);
    if (!slice)
        return slice;
    for (const Update& u : updates_) {
        if (!overlaps(u))
            continue;
        const u64 begin = std::max(u.address, range.address);
        const u64 end = std::min(u.address + u.size(), range.address + range.size);
        std::memcpy(slice->mapped + (begin - range.address), u.bytes.mapped + (begin - u.address), end - begin);
    }
    versions_.push_back({range, sequence_, *slice});
    return slice;
}

} // namespace heaviside::replay
