// A sink in front of another: passes everything on. Derive from it to look at, or change, some of it.
#pragma once

#include "stream/sink.h"

#include <utility>

namespace heaviside::stream {

class ForwardingSink : public Sink {
public:
    explicit ForwardingSink(Sink& next) : next_(next) {} // which outlives this

    void queue_created(QueueId queue, const QueueDescription& description) override {
        next_.queue_created(queue, description);
    }
    void queue_destroyed(QueueId queue) override { next_.queue_destroyed(queue); }
    void submit(QueueId queue, const DeviceModes& modes, Buffer stream) override {
        next_.submit(queue, modes, std::move(stream));
    }
    void flush(QueueId queue) override { next_.flush(queue); }
    void finish(QueueId queue) override { next_.finish(queue); }
    bool sync_reached(SyncId sync, u32 value) override { return next_.sync_reached(sync, value); }
    bool wait_sync(SyncId sync, u32 value, u64 timeout_ns) override { return next_.wait_sync(sync, value, timeout_ns); }
    void sync_destroyed(SyncId sync) override { next_.sync_destroyed(sync); }
    void event_signalled(u64 address) override { next_.event_signalled(address); }
    void window_created(WindowId window, const WindowDescription& description) override {
        next_.window_created(window, description);
    }
    void window_destroyed(WindowId window) override { next_.window_destroyed(window); }
    bool acquire(WindowId window, u32 index, SyncId sync, u32 value) override {
        return next_.acquire(window, index, sync, value);
    }
    void present(QueueId queue, const Present& present) override { next_.present(queue, present); }
    void memory_pool_created(const MemoryPoolDescription& pool) override { next_.memory_pool_created(pool); }
    void memory_pool_destroyed(u64 address) override { next_.memory_pool_destroyed(address); }
    void memory_mapped(std::span<const MemoryMapping> mappings) override { next_.memory_mapped(mappings); }
    void memory_written(u64 address, u64 size) override { next_.memory_written(address, size); }
    void memory_read(u64 address, u64 size) override { next_.memory_read(address, size); }
    void program_created(const ProgramDescription& program) override { next_.program_created(program); }
    void program_destroyed(ProgramId program) override { next_.program_destroyed(program); }
    void texture_pool_created(PoolId pool, u64 descriptors, u32 capacity) override {
        next_.texture_pool_created(pool, descriptors, capacity);
    }
    void texture_pool_destroyed(PoolId pool) override { next_.texture_pool_destroyed(pool); }
    void texture_registered(PoolId pool, u32 index, const ImageDescription& image, bool storage) override {
        next_.texture_registered(pool, index, image, storage);
    }
    void sampler_pool_created(PoolId pool, u64 descriptors, u32 capacity) override {
        next_.sampler_pool_created(pool, descriptors, capacity);
    }
    void sampler_pool_destroyed(PoolId pool) override { next_.sampler_pool_destroyed(pool); }
    void sampler_registered(PoolId pool, u32 index, const SamplerDescription& sampler) override {
        next_.sampler_registered(pool, index, sampler);
    }

protected:
    Sink& next_;
};

} // namespace heaviside::stream
