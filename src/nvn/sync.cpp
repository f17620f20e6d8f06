#include "nvn/sync.h"
#include "nvn/labels.h"

#include "base/log.h"
#include "nvn/entry_points.h"
#include "nvn/report.h"
#include "nvn/runtime.h"
#include "stream/sink.h"

namespace heaviside::nvn {

SyncTable::Created SyncTable::create(const void* object) {
    const std::lock_guard lock(mutex_);
    Created created{next_++, 0};
    stream::SyncId& at = by_object_[object];
    if (at != 0)
        abandoned_.push_back(at);
    at = created.id;
    if (abandoned_.size() > abandoned_limit) {
        if (syncs_.erase(abandoned_.front()) != 0)
            created.ended = abandoned_.front();
        abandoned_.pop_front();
    }
    syncs_[created.id] = {0, object};
    return created;
}

bool SyncTable::destroy(stream::SyncId id) {
    const std::lock_guard lock(mutex_);
    const auto found = syncs_.find(id);
    if (found == syncs_.end())
        return false;
    if (const auto at = by_object_.find(found->second.object); at != by_object_.end() && at->second == id)
        by_object_.erase(at);
    syncs_.erase(found);
    return true;
}

u32 SyncTable::fence(stream::SyncId id) {
    const std::lock_guard lock(mutex_);
    const auto found = syncs_.find(id);
    if (found == syncs_.end())
        return 0;
    u32& newest = found->second.newest;
    newest += newest == 0xffff'ffff ? 2 : 1; // 0 is "none"
    return newest;
}

u32 SyncTable::newest(stream::SyncId id) const {
    const std::lock_guard lock(mutex_);
    const auto found = syncs_.find(id);
    return found == syncs_.end() ? 0 : found->second.newest;
}

SyncTable& sync_table() {
    static SyncTable table;
    return table;
}

NVNboolean nvnSyncInitialize(NVNsync* sync, NVNdevice* device) {
    if (!as_valid(device, __func__))
        return NVN_FALSE;
    if (!sync) {
        report_bad_object(__func__, sync);
        return NVN_FALSE;
    }
    const SyncTable::Created created = sync_table().create(sync);
    if (created.ended != 0)
        sink().sync_destroyed(created.ended);
    *layout(sync) = {magic::sync, created.id};
    return NVN_TRUE;
}

void nvnSyncFinalize(NVNsync* sync) {
    Sync* const valid = as_valid(sync, __func__);
    if (!valid)
        return;
    if (sync_table().destroy(valid->id))
        sink().sync_destroyed(valid->id);
    valid->magic = 0;
}

void nvnSyncSetDebugLabel(NVNsync* sync, const char* label) {
    set_label(sync, label, __func__);
}

NVNsyncWaitResult nvnSyncWait(const NVNsync* sync, uint64_t timeoutNs) {
    const Sync* const valid = as_valid(sync, __func__);
    if (!valid)
        return NVN_SYNC_WAIT_RESULT_FAILED;
    // Never fenced: no work stands behind it. A fence that is only recorded does not exist yet (OBJ-118, OBJ-143).
    const u32 fence = sync_table().newest(valid->id);
    if (fence == 0 || sink().sync_reached(valid->id, fence))
        return NVN_SYNC_WAIT_RESULT_ALREADY_SIGNALED;
    bool reached = false;
    if (timeoutNs == 0) {
        reached = sink().wait_sync(valid->id, fence, 0);
    } else {
        const BlockingCall blocking;
        reached = sink().wait_sync(valid->id, fence, timeoutNs);
    }
    if (reached)
        return NVN_SYNC_WAIT_RESULT_CONDITION_SATISFIED;
    // Applications' watchdogs act on a long wait that expires (ledger OBJ-144).
    if (timeoutNs >= 1'000'000'000)
        log::error("nvnSyncWait: sync {} has not reached its fence {} after {} ms", valid->id, fence,
                   timeoutNs / 1'000'000);
    return NVN_SYNC_WAIT_RESULT_TIMEOUT_EXPIRED;
}

// There is no GL here to share syncs with.
uint64_t nvnSyncCreateGLSync(NVNsync* sync) {
    if (as_valid(sync, __func__))
        report_error(__func__, "no OpenGL to share a sync with");
    return 0;
}

NVNboolean nvnSyncInitializeFromFencedGLSync(NVNsync*, NVNdevice*, uint64_t) {
    report_error(__func__, "no OpenGL to share a sync with");
    return NVN_FALSE;
}

} // namespace heaviside::nvn
