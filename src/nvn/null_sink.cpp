#include "nvn/null_sink.h"

#include "base/log.h"
#include "nvn/runtime.h"
#include "stream/walk.h"

#include <atomic>
#include <chrono>
#include <cstring>

namespace heaviside::nvn {

namespace {

template <class T>
void store(u64 address, const T& value) {
    if (const auto bytes = guest_memory().bytes(GuestAddress{address}, sizeof value))
        std::memcpy(bytes->data(), &value, sizeof value);
}

void signal_event(const stream::SignalEvent& record) {
    const auto bytes = guest_memory().bytes(GuestAddress{record.address}, sizeof(u32));
    if (!bytes || record.address % sizeof(u32) != 0)
        return;
    std::atomic_ref word(*reinterpret_cast<u32*>(bytes->data()));
    u32 current = word.load(std::memory_order_relaxed);
    while (!word.compare_exchange_weak(current, stream::event_signalled(record.mode, current, record.value),
                                       std::memory_order_release)) {
    }
}

u64 gpu_ticks() { // 8 / 13 of a nanosecond each, as nvnDeviceGetTimestampInNanoseconds has it
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    return static_cast<u64>(std::chrono::nanoseconds(now).count()) / 13 * 8;
}

} // namespace

void NullSink::submit(stream::QueueId, const stream::DeviceModes&, stream::Buffer stream) {
    const auto done = stream::for_each_record(stream.bytes(), [&](const stream::Record& record) {
        switch (record.type()) {
        case stream::RecordType::FenceSync:
            syncs_.signal(record.as<stream::FenceSync>().sync, record.as<stream::FenceSync>().value);
            break;
        case stream::RecordType::SignalEvent:
            signal_event(record.as<stream::SignalEvent>());
            break;
        case stream::RecordType::ReportValue:
            store(record.as<stream::ReportValue>().address, record.as<stream::ReportValue>().value);
            break;
        case stream::RecordType::ReportCounter:
            store(record.as<stream::ReportCounter>().address, NVNcounterData{0, gpu_ticks()});
            break;
        default:
            break;
        }
    });
    if (!done)
        log::error_once("submission: {}", done.error().message);
}

} // namespace heaviside::nvn
