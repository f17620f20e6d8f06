// Queues: a submission is its control lists flattened to one stream of records.
#pragma once

#include "nvn/objects.h"
#include "stream/sink.h"

#include <mutex>
#include <unordered_map>

namespace heaviside::nvn {

struct QueueBuilder {
    NVNdevice* device;
    void* memory;
    u64 memory_size;
    u64 command_size, compute_size, control_size; // as set, see `set`
    u32 flush_threshold;
    i32 priority; // NVNqueuePriority
    u16 flags;    // NVNqueueBuilderFlags
    u16 set;      // queue_size bits of the sizes that were set (ledger OBJ-100)
    u32 pad;
};
namespace queue_size {
inline constexpr u16 command = 1, compute = 2, control = 4, flush_threshold = 8;
}

struct Queue {
    u32 magic;
    stream::QueueId id;
    u32 device; // Device::id: the device object may be gone
    u32 pad;
    u64 command_used, control_used, compute_used; // since ResetMemoryUsageCounts
};

static_assert(fits<NVNqueueBuilder, QueueBuilder, 0x40>);
static_assert(fits<NVNqueue, Queue, 0x2000>);
template <>
struct LayoutOf<NVNqueueBuilder> {
    using type = QueueBuilder;
};
template <>
struct LayoutOf<NVNqueue> {
    using type = Queue;
};
template <>
inline constexpr u32 magic_of<NVNqueue> = magic::queue;

[[nodiscard]] stream::DeviceModes device_modes(u32 device);
// Submits a stream that consists of `record` alone.
template <class Record>
void submit_record(Queue& queue, Record record);
void submit_words(Queue& queue, Bytes words);

template <class Record>
void submit_record(Queue& queue, Record record) {
    static_assert(stream::RecordTraits<Record>::fixed);
    record.header = stream::header_of<Record>;
    submit_words(queue, {reinterpret_cast<const std::byte*>(&record), sizeof record});
}

// Numbers for objects that may be initialised again at the same address without having been finalised: the number that
// was there before must be ended. Any thread.
class ObjectNumbers {
public:
    struct Created {
        u32 number, replaced; // replaced: 0, or the number to end
    };
    [[nodiscard]] Created create(const void* object);
    void destroy(const void* object, u32 number);

private:
    std::mutex mutex_;
    std::unordered_map<const void*, u32> numbers_;
    u32 next_ = 1;
};

} // namespace heaviside::nvn
