// Barriers, counters, fences, events, and what only tools see.
#include "nvn/command_buffer.h"
#include "nvn/entry_points.h"
#include "nvn/event.h"
#include "nvn/sync.h"

#include <algorithm>

namespace heaviside::nvn {

namespace {

using namespace stream;

void marker(NVNcommandBuffer* cmdBuf, const char* call, MarkerKind kind, u32 domain, const char* text) {
    const auto length = text ? static_cast<u8>(strnlen(text, marker_text_limit)) : u8{0};
    record_array(cmdBuf, call, DebugMarker{{}, kind, length, static_cast<u16>(domain)}, text, length);
}

} // namespace

void nvnCommandBufferBarrier(NVNcommandBuffer* cmdBuf, int barrier) {
    record(cmdBuf, __func__, Barrier{{}, static_cast<u32>(barrier)});
}
void nvnCommandBufferResetCounter(NVNcommandBuffer* cmdBuf, NVNcounterType counter) {
    record(cmdBuf, __func__, ResetCounter{{}, static_cast<u32>(counter)});
}
void nvnCommandBufferReportCounter(NVNcommandBuffer* cmdBuf, NVNcounterType counter, NVNbufferAddress buffer) {
    record(cmdBuf, __func__, ReportCounter{{}, static_cast<u32>(counter), buffer});
}
void nvnCommandBufferReportValue(NVNcommandBuffer* cmdBuf, uint32_t value, NVNbufferAddress buffer) {
    record(cmdBuf, __func__, ReportValue{{}, value, buffer});
}

// The record names the sync by id. Which fence it is, is known when it is submitted.
void nvnCommandBufferFenceSync(NVNcommandBuffer* cmdBuf, NVNsync* sync, NVNsyncCondition condition, int flags) {
    if (const Sync* const valid = as_valid(sync, __func__))
        record(cmdBuf, __func__, FenceSync{{}, valid->id, 0, static_cast<u8>(condition), static_cast<u8>(flags), 0});
}
void nvnCommandBufferWaitSync(NVNcommandBuffer* cmdBuf, const NVNsync* sync) {
    if (const Sync* const valid = as_valid(sync, __func__))
        record(cmdBuf, __func__, WaitSync{{}, valid->id, 0});
}
void nvnCommandBufferSignalEvent(NVNcommandBuffer* cmdBuf, const NVNevent* event, NVNeventSignalMode mode,
                                 NVNeventSignalLocation location, int flags, uint32_t value) {
    if (const Event* const valid = as_valid(event, __func__))
        record(
            cmdBuf, __func__,
            SignalEvent{
                {}, static_cast<u8>(mode), static_cast<u8>(location), static_cast<u16>(flags), valid->address, value});
}
void nvnCommandBufferWaitEvent(NVNcommandBuffer* cmdBuf, const NVNevent* event, NVNeventWaitMode mode, uint32_t value) {
    if (const Event* const valid = as_valid(event, __func__))
        record(cmdBuf, __func__, WaitEvent{{}, static_cast<u32>(mode), valid->address, value});
}

// --- Markers and groups: the texts are copied, static ones too ---

void nvnCommandBufferInsertDebugMarker(NVNcommandBuffer* cmdBuf, const char* description) {
    marker(cmdBuf, __func__, MarkerKind::Insert, 0, description);
}
void nvnCommandBufferInsertDebugMarkerDynamic(NVNcommandBuffer* cmdBuf, uint32_t domainId, const char* description) {
    marker(cmdBuf, __func__, MarkerKind::Insert, domainId, description);
}
void nvnCommandBufferInsertDebugMarkerStatic(NVNcommandBuffer* cmdBuf, uint32_t domainId, const char* description) {
    marker(cmdBuf, __func__, MarkerKind::Insert, domainId, description);
}
void nvnCommandBufferPushDebugGroup(NVNcommandBuffer* cmdBuf, uint32_t domainId, const char* description) {
    marker(cmdBuf, __func__, MarkerKind::Push, domainId, description);
}
void nvnCommandBufferPushDebugGroupDynamic(NVNcommandBuffer* cmdBuf, uint32_t domainId, const char* description) {
    marker(cmdBuf, __func__, MarkerKind::Push, domainId, description);
}
void nvnCommandBufferPushDebugGroupStatic(NVNcommandBuffer* cmdBuf, uint32_t domainId, const char* description) {
    marker(cmdBuf, __func__, MarkerKind::Push, domainId, description);
}
void nvnCommandBufferPopDebugGroup(NVNcommandBuffer* cmdBuf) {
    marker(cmdBuf, __func__, MarkerKind::Pop, 0, nullptr);
}
void nvnCommandBufferPopDebugGroupId(NVNcommandBuffer* cmdBuf, uint32_t domainId) {
    marker(cmdBuf, __func__, MarkerKind::Pop, domainId, nullptr);
}

} // namespace heaviside::nvn
