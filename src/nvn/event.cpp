#include "nvn/event.h"

#include "nvn/entry_points.h"
#include "nvn/mapped.h"
#include "nvn/report.h"
#include "nvn/runtime.h"
#include "stream/sink.h"

#include <atomic>

namespace heaviside::nvn {

namespace {

// Null, after a report, if the pool is gone: its memory may be too.
u32* value_of(const char* call, const Event& event) {
    if (guest_memory().bytes(GuestAddress{event.address}, sizeof(u32))) [[likely]]
        return reinterpret_cast<u32*>(event.address);
    report_error(call, "{:#x} is in no memory pool", event.address);
    return nullptr;
}

} // namespace

void nvnEventBuilderSetDefaults(NVNeventBuilder* builder) {
    if (builder)
        *layout(builder) = {};
    else
        report_bad_object(__func__, builder);
}

void nvnEventBuilderSetStorage(NVNeventBuilder* builder, const NVNmemoryPool* pool, int64_t offset) {
    if (builder)
        *layout(builder) = {pool, offset};
    else
        report_bad_object(__func__, builder);
}

const NVNmemoryPool* nvnEventBuilderGetStorage(const NVNeventBuilder* builder, int64_t* offset) {
    if (!builder) {
        report_bad_object(__func__, builder);
        return nullptr;
    }
    if (offset)
        *offset = layout(builder)->offset;
    return layout(builder)->pool;
}

const NVNmemoryPool* nvnEventBuilderGetMemoryPool(const NVNeventBuilder* builder) {
    return nvnEventBuilderGetStorage(builder, nullptr);
}

int64_t nvnEventBuilderGetMemoryOffset(const NVNeventBuilder* builder) {
    int64_t offset = 0;
    (void)nvnEventBuilderGetStorage(builder, &offset);
    return offset;
}

NVNboolean nvnEventInitialize(NVNevent* event, const NVNeventBuilder* builder) {
    if (!event || !builder) {
        report_bad_object(__func__, nullptr);
        return NVN_FALSE;
    }
    const auto [pool, offset] = *layout(builder);
    const MemoryPool* const memory = as_mapped_valid(pool, __func__);
    if (!memory)
        return NVN_FALSE;
    if (!memory->memory) {
        report_error(__func__, "the pool is virtual");
        return NVN_FALSE;
    }
    if (offset < 0 || offset % 4 != 0 || static_cast<u64>(offset) > memory->size ||
        memory->size - static_cast<u64>(offset) < sizeof(u32)) {
        report_error(__func__, "offset {} in a pool of {} bytes", offset, memory->size);
        return NVN_FALSE;
    }
    // The value starts as what the memory holds: the storage is the application's to set up.
    *layout(event) = {magic::event, 0, pool, offset, memory->address + static_cast<u64>(offset)};
    return NVN_TRUE;
}

void nvnEventFinalize(NVNevent* event) {
    if (Event* const valid = as_valid(event, __func__))
        valid->magic = 0;
}

const NVNmemoryPool* nvnEventGetMemoryPool(const NVNevent* event) {
    const Event* const valid = as_valid(event, __func__);
    return valid ? valid->pool : nullptr;
}

int64_t nvnEventGetMemoryOffset(const NVNevent* event) {
    const Event* const valid = as_valid(event, __func__);
    return valid ? valid->offset : 0;
}

uint32_t nvnEventGetValue(const NVNevent* event) {
    const Event* const valid = as_valid(event, __func__);
    u32* const value = valid ? value_of(__func__, *valid) : nullptr;
    return value ? std::atomic_ref(*value).load(std::memory_order_acquire) : 0;
}

// Release: what the CPU wrote before is there for whoever sees the value (ledger OBJ-126).
void nvnEventSignal(NVNevent* event, NVNeventSignalMode mode, uint32_t value) {
    const Event* const valid = as_valid(event, __func__);
    u32* const memory = valid ? value_of(__func__, *valid) : nullptr;
    if (!memory)
        return;
    const std::atomic_ref current(*memory);
    if (mode == NVN_EVENT_SIGNAL_MODE_ADD)
        current.fetch_add(value, std::memory_order_release);
    else
        current.store(value, std::memory_order_release);
    sink().event_signalled(valid->address);
}

} // namespace heaviside::nvn
