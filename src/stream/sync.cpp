#include "stream/sync.h"

#include <chrono>

namespace heaviside::stream {

namespace {
bool at_least(u32 done, u32 value) {
    return done - value < 0x80000000u;
}
} // namespace

void SyncCounters::signal(SyncId sync, u32 value) {
    {
        const std::lock_guard lock(mutex_);
        u32& done = done_[sync];
        if (at_least(value, done))
            done = value;
    }
    changed_.notify_all();
}

bool SyncCounters::reached_locked(SyncId sync, u32 value) const {
    const auto found = done_.find(sync);
    return at_least(found == done_.end() ? 0 : found->second, value);
}

bool SyncCounters::reached(SyncId sync, u32 value) const {
    const std::lock_guard lock(mutex_);
    return reached_locked(sync, value);
}

bool SyncCounters::wait(SyncId sync, u32 value, u64 timeout_ns) const {
    using Clock = std::chrono::steady_clock;
    std::unique_lock lock(mutex_);
    const auto done = [&] { return reached_locked(sync, value); };
    // A deadline further away than the clock can count is no deadline.
    if (timeout_ns >= u64{1} << 62) {
        changed_.wait(lock, done);
        return true;
    }
    return changed_.wait_until(lock, Clock::now() + std::chrono::nanoseconds(static_cast<i64>(timeout_ns)), done);
}

void SyncCounters::forget(SyncId sync) {
    const std::lock_guard lock(mutex_);
    done_.erase(sync);
}

} // namespace heaviside::stream
