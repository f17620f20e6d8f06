#include "nvn/queue.h"
#include "nvn/labels.h"

#include "nvn/command_list.h"
#include "nvn/entry_points.h"
#include "nvn/host.h"
#include "nvn/mapped.h"
#include "nvn/report.h"
#include "nvn/runtime.h"
#include "nvn/sync.h"

namespace heaviside::nvn {

namespace {

// Device integers QUEUE_{COMMAND,COMPUTE,CONTROL}_MEMORY_DEFAULT_SIZE and the granularity of the whole.
constexpr u64 default_command_size = 65536, default_compute_size = 262144, default_control_size = 16384;
constexpr u64 memory_granularity = 4096;

ObjectNumbers& queue_numbers() {
    static ObjectNumbers numbers;
    return numbers;
}

const std::shared_ptr<stream::BufferPool>& buffer_pool() {
    static const auto pool = std::make_shared<stream::BufferPool>();
    return pool;
}

QueueBuilder* valid(NVNqueueBuilder* builder, const char* call) {
    if (!builder)
        report_bad_object(call, builder);
    return builder ? layout(builder) : nullptr;
}
const QueueBuilder* valid(const NVNqueueBuilder* builder, const char* call) {
    return valid(const_cast<NVNqueueBuilder*>(builder), call);
}

void set_size(NVNqueueBuilder* builder, const char* call, u64 QueueBuilder::*field, u16 bit, u64 size) {
    if (QueueBuilder* const b = valid(builder, call)) {
        b->*field = size;
        b->set |= bit;
    }
}

NVNboolean get_size(const NVNqueueBuilder* builder, const char* call, u64 QueueBuilder::*field, u16 bit, int* size) {
    const QueueBuilder* const b = valid(builder, call);
    if (!b)
        return NVN_FALSE;
    if (size)
        *size = static_cast<int>(b->*field);
    return boolean((b->set & bit) != 0);
}

// Appends the records of one recording. Fences and waits become those of this submission: a recorded fence did not
// exist before, and a wait means the newest fence there is now (ledger OBJ-118, OBJ-131, OBJ-132, OBJ-138).
void flatten(NVNcommandHandle handle, stream::Buffer& out, Queue& queue) {
    for (PieceWalk walk(handle);;) {
        const auto piece = walk.next();
        if (!piece) {
            report_error("nvnQueueSubmitCommands", "handle {:#x}: {}", handle, piece.error().message);
            return;
        }
        if (piece->empty())
            return;
        ++queue.control_used;
        // The memory can change under us: what is checked must be what is run, so the copy comes first.
        const std::size_t first = out.words().size();
        out.append(*piece);
        std::byte* write = reinterpret_cast<std::byte*>(out.words().data() + first);
        for_each_valid_record(out.bytes().subspan(first * 4), piece->data(), [&](const stream::Record& record) {
            const Bytes source = record.bytes();
            if (write != source.data()) [[unlikely]] // records before were skipped
                std::memmove(write, source.data(), source.size());
            const stream::Record kept(write);
            write += source.size();
            if (kept.type() == stream::RecordType::FenceSync) {
                const auto& fence = kept.as<stream::FenceSync>();
                const_cast<stream::FenceSync&>(fence).value = sync_table().fence(fence.sync);
            } else if (kept.type() == stream::RecordType::WaitSync) {
                const auto& wait = kept.as<stream::WaitSync>();
                const_cast<stream::WaitSync&>(wait).value = sync_table().newest(wait.sync);
            }
        });
        out.truncate(static_cast<std::size_t>(write - reinterpret_cast<std::byte*>(out.words().data())) / 4);
    }
}

} // namespace

stream::DeviceModes device_modes(u32 device) {
    const std::lock_guard lock(host().mutex);
    return device - 1 < host().device_modes.size() ? host().device_modes[device - 1] : stream::DeviceModes{};
}

void submit_words(Queue& queue, Bytes words) {
    stream::Buffer buffer = buffer_pool()->take();
    buffer.append(words);
    queue.command_used += words.size();
    sink().submit(queue.id, device_modes(queue.device), std::move(buffer));
}

ObjectNumbers::Created ObjectNumbers::create(const void* object) {
    const std::lock_guard lock(mutex_);
    u32& at = numbers_[object];
    const Created created{next_++, at};
    at = created.number;
    return created;
}

void ObjectNumbers::destroy(const void* object, u32 number) {
    const std::lock_guard lock(mutex_);
    const auto found = numbers_.find(object);
    if (found != numbers_.end() && found->second == number)
        numbers_.erase(found);
}

// --- Builder ---

void nvnQueueBuilderSetDefaults(NVNqueueBuilder* builder) {
    QueueBuilder* const b = valid(builder, __func__);
    if (!b)
        return;
    NVNdevice* const device = b->device; // may have been set before: the order is not uniform among clients
    *b = {};
    b->device = device;
    b->command_size = default_command_size;
    b->compute_size = default_compute_size;
    b->control_size = default_control_size;
    b->priority = NVN_QUEUE_PRIORITY_NORMAL;
}
void nvnQueueBuilderSetDevice(NVNqueueBuilder* builder, NVNdevice* device) {
    if (QueueBuilder* const b = valid(builder, __func__))
        b->device = device;
}
void nvnQueueBuilderSetFlags(NVNqueueBuilder* builder, int flags) {
    if (QueueBuilder* const b = valid(builder, __func__))
        b->flags = static_cast<u16>(flags);
}
void nvnQueueBuilderSetQueuePriority(NVNqueueBuilder* builder, NVNqueuePriority priority) {
    if (QueueBuilder* const b = valid(builder, __func__))
        b->priority = static_cast<i32>(priority);
}
void nvnQueueBuilderSetCommandMemorySize(NVNqueueBuilder* builder, size_t size) {
    set_size(builder, __func__, &QueueBuilder::command_size, queue_size::command, size);
}
void nvnQueueBuilderSetComputeMemorySize(NVNqueueBuilder* builder, size_t size) {
    set_size(builder, __func__, &QueueBuilder::compute_size, queue_size::compute, size);
}
void nvnQueueBuilderSetControlMemorySize(NVNqueueBuilder* builder, size_t size) {
    set_size(builder, __func__, &QueueBuilder::control_size, queue_size::control, size);
}
void nvnQueueBuilderSetCommandFlushThreshold(NVNqueueBuilder* builder, size_t size) {
    if (QueueBuilder* const b = valid(builder, __func__)) {
        b->flush_threshold = static_cast<u32>(size);
        b->set |= queue_size::flush_threshold;
    }
}
void nvnQueueBuilderSetQueueMemory(NVNqueueBuilder* builder, void* memory, size_t size) {
    if (QueueBuilder* const b = valid(builder, __func__)) {
        b->memory = memory;
        b->memory_size = size;
    }
}

NVNboolean nvnQueueBuilderGetCommandMemorySize(const NVNqueueBuilder* builder, int* size) {
    return get_size(builder, __func__, &QueueBuilder::command_size, queue_size::command, size);
}
NVNboolean nvnQueueBuilderGetComputeMemorySize(const NVNqueueBuilder* builder, int* size) {
    return get_size(builder, __func__, &QueueBuilder::compute_size, queue_size::compute, size);
}
NVNboolean nvnQueueBuilderGetControlMemorySize(const NVNqueueBuilder* builder, int* size) {
    return get_size(builder, __func__, &QueueBuilder::control_size, queue_size::control, size);
}
NVNboolean nvnQueueBuilderGetCommandFlushThreshold(const NVNqueueBuilder* builder, int* size) {
    const QueueBuilder* const b = valid(builder, __func__);
    if (!b)
        return NVN_FALSE;
    if (size)
        *size = static_cast<int>(b->flush_threshold);
    return boolean((b->set & queue_size::flush_threshold) != 0);
}
const NVNdevice* nvnQueueBuilderGetDevice(const NVNqueueBuilder* builder) {
    const QueueBuilder* const b = valid(builder, __func__);
    return b ? b->device : nullptr;
}
int nvnQueueBuilderGetFlags(const NVNqueueBuilder* builder) {
    const QueueBuilder* const b = valid(builder, __func__);
    return b ? b->flags : 0;
}
NVNqueuePriority nvnQueueBuilderGetQueuePriority(const NVNqueueBuilder* builder) {
    const QueueBuilder* const b = valid(builder, __func__);
    return static_cast<NVNqueuePriority>(b ? b->priority : 0);
}
void* nvnQueueBuilderGetMemory(const NVNqueueBuilder* builder) {
    const QueueBuilder* const b = valid(builder, __func__);
    return b ? b->memory : nullptr;
}
int nvnQueueBuilderGetMemorySize(const NVNqueueBuilder* builder) {
    const QueueBuilder* const b = valid(builder, __func__);
    return b ? static_cast<int>(b->memory_size) : 0;
}
size_t nvnQueueBuilderGetQueueMemorySize(const NVNqueueBuilder* builder) {
    const QueueBuilder* const b = valid(builder, __func__);
    return b ? align_up(b->command_size + b->compute_size + b->control_size, memory_granularity) : 0;
}

// --- Queue ---

NVNboolean nvnQueueInitialize(NVNqueue* queue, const NVNqueueBuilder* builder) {
    const QueueBuilder* const b = valid(builder, __func__);
    if (!b)
        return NVN_FALSE;
    if (!queue) {
        report_bad_object(__func__, queue);
        return NVN_FALSE;
    }
    const Device* const device = as_mapped_valid(b->device, __func__);
    if (!device)
        return NVN_FALSE;
    const ObjectNumbers::Created created = queue_numbers().create(queue);
    if (created.replaced != 0) {
        sink().finish(created.replaced);
        sink().queue_destroyed(created.replaced);
    }
    *layout(queue) = {magic::queue, created.number, device->id, 0, 0, 0, 0};
    sink().queue_created(created.number, {device->window_origin_mode, b->flags, b->priority});
    return NVN_TRUE;
}

void nvnQueueFinalize(NVNqueue* queue) {
    Queue* const q = as_valid(queue, __func__);
    if (!q)
        return;
    {
        const BlockingCall blocking;
        sink().finish(q->id);
    }
    sink().queue_destroyed(q->id);
    queue_numbers().destroy(queue, q->id);
    q->magic = 0;
}

void nvnQueueSetDebugLabel(NVNqueue* queue, const char* label) {
    set_label(queue, label, __func__);
}

void nvnQueueSubmitCommands(NVNqueue* queue, int numCommands, const NVNcommandHandle* handles) {
    Queue* const q = as_valid(queue, __func__);
    if (!q || numCommands == 0)
        return;
    if (numCommands < 0 || !handles) {
        report_error(__func__, "{} handles at {}", numCommands, static_cast<const void*>(handles));
        return;
    }
    announce_late_programs();
    stream::Buffer buffer = buffer_pool()->take();
    for (int i = 0; i < numCommands; ++i)
        flatten(handles[i], buffer, *q);
    if (!buffer.empty())
        sink().submit(q->id, device_modes(q->device), std::move(buffer));
}

void nvnQueueFlush(NVNqueue* queue) {
    if (const Queue* const q = as_valid(queue, __func__))
        sink().flush(q->id);
}

void nvnQueueFinish(NVNqueue* queue) {
    if (const Queue* const q = as_valid(queue, __func__)) {
        const BlockingCall blocking;
        sink().finish(q->id);
    }
}

void nvnQueueFenceSync(NVNqueue* queue, NVNsync* sync, NVNsyncCondition condition, int flags) {
    Queue* const q = as_valid(queue, __func__);
    const Sync* const s = as_valid(sync, __func__);
    if (!q || !s)
        return;
    const u32 fence = sync_table().fence(s->id);
    submit_record(*q, stream::FenceSync{{}, s->id, fence, static_cast<u8>(condition), static_cast<u8>(flags), 0});
}

NVNboolean nvnQueueWaitSync(NVNqueue* queue, const NVNsync* sync) {
    Queue* const q = as_valid(queue, __func__);
    const Sync* const s = as_valid(sync, __func__);
    if (!q || !s)
        return NVN_FALSE;
    if (const u32 fence = sync_table().newest(s->id); fence != 0)
        submit_record(*q, stream::WaitSync{{}, s->id, fence});
    return NVN_TRUE;
}

NVNqueueGetErrorResult nvnQueueGetError(NVNqueue* queue, NVNqueueErrorInfo*) {
    (void)as_valid(queue, __func__);
    return NVN_QUEUE_GET_ERROR_RESULT_GPU_NO_ERROR;
}

// What the queue itself used of its memory: for its own fences and waits, and an entry for each piece submitted.
size_t nvnQueueGetTotalCommandMemoryUsed(NVNqueue* queue) {
    const Queue* const q = as_valid(queue, __func__);
    return q ? q->command_used : 0;
}
size_t nvnQueueGetTotalControlMemoryUsed(NVNqueue* queue) {
    const Queue* const q = as_valid(queue, __func__);
    return q ? q->control_used * sizeof(u64) : 0;
}
size_t nvnQueueGetTotalComputeMemoryUsed(NVNqueue* queue) {
    const Queue* const q = as_valid(queue, __func__);
    return q ? q->compute_used : 0;
}
void nvnQueueResetMemoryUsageCounts(NVNqueue* queue) {
    if (Queue* const q = as_valid(queue, __func__))
        q->command_used = q->control_used = q->compute_used = 0;
}

} // namespace heaviside::nvn
