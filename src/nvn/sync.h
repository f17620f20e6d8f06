// Sync objects. The object holds an id; which fence is its newest is kept here, because fences recorded in command
// buffers take effect when they are submitted, when the object may be gone.
#pragma once

#include "nvn/objects.h"
#include "stream/records.h"

#include <mutex>
#include <unordered_map>

namespace heaviside::nvn {

struct Sync {
    u32 magic;
    stream::SyncId id;
};
static_assert(fits<NVNsync, Sync, 0x40>);
template <>
struct LayoutOf<NVNsync> {
    using type = Sync;
};
template <>
inline constexpr u32 magic_of<NVNsync> = magic::sync;

// Any thread.
class SyncTable {
public:
    // A new sync, without a fence, for the object at that address. Returns the id that the object had there before, if
    // it was not finalised: 0 or an id to end.
    struct Created {
        stream::SyncId id, replaced;
    };
    [[nodiscard]] Created create(const void* object);
    // False: not a sync (any more).
    bool destroy(stream::SyncId id);
    // The number of a new fence of the sync; 0 if the id is none.
    [[nodiscard]] u32 fence(stream::SyncId id);
    // The newest fence; 0: none, or no such sync.
    [[nodiscard]] u32 newest(stream::SyncId id) const;

private:
    struct Entry {
        u32 newest = 0;
        const void* object = nullptr;
    };
    mutable std::mutex mutex_;
    std::unordered_map<stream::SyncId, Entry> syncs_;
    std::unordered_map<const void*, stream::SyncId> by_object_;
    stream::SyncId next_ = 1;
};
[[nodiscard]] SyncTable& sync_table();

} // namespace heaviside::nvn
