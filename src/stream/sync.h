// The counters behind sync objects, and the comparison of event waits.
#pragma once

#include "stream/records.h"

#include <condition_variable>
#include <memory>
#include <mutex>
#include <unordered_map>

namespace heaviside::stream {

// A sync's fences are numbered 1, 2, ... as they are submitted; a counter holds the highest that is done. Compared with
// wrap-around. A sink that has nothing better (a GPU timeline to wait on directly) answers its sync questions with
// this. Any thread.
class SyncCounters {
public:
    // Fence `value` and all before it are done. Wakes waiters. What the caller wrote before is visible to them.
    void signal(SyncId sync, u32 value);
    [[nodiscard]] bool reached(SyncId sync, u32 value) const;
    // False: not reached within timeout_ns (~0: no limit) of the monotonic clock.
    [[nodiscard]] bool wait(SyncId sync, u32 value, u64 timeout_ns) const;
    void forget(SyncId sync);

private:
    [[nodiscard]] bool reached_locked(SyncId sync, u32 value) const;

    mutable std::mutex mutex_;
    mutable std::condition_variable changed_;
    std::unordered_map<SyncId, u32> done_;
};

// NVNeventWaitMode: 0 equal, 1 greater or equal modulo 2^32 (ledger OBJ-125). Other modes never hold.
[[nodiscard]] constexpr bool event_holds(u32 mode, u32 current, u32 target) {
    return mode == 0 ? current == target : mode == 1 && current - target < 0x80000000u;
}

// The value of an event after a signal: NVNeventSignalMode 0 writes, 1 adds.
[[nodiscard]] constexpr u32 event_signalled(u32 mode, u32 current, u32 value) {
    return mode == 1 ? current + value : value;
}

} // namespace heaviside::stream
