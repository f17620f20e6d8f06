// Sync objects. The object holds an id; which fence is its newest is kept here, because fences recorded in command
// buffers take effect when they are submitted, when the object may be gone.
#pragma once

#include "nvn/objects.h"
#include "stream/records.h"

#include <deque>
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
    // A new sync, without a fence, for the object at that address. The one that an object there had and that was not
    // finalised may have moved, by a copy of its bytes: it lives until abandoned_limit others were left behind like it.
    struct Created {
        stream::SyncId id, ended; // ended: 0, or the id of one that is gone now
    };
    static constexpr std::size_t abandoned_limit = 256;
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
    std::deque<stream::SyncId> abandoned_;
    stream::SyncId next_ = 1;
};
[[nodiscard]] SyncTable& sync_table();

} // namespace heaviside::nvn
