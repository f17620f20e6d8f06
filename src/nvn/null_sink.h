// The sink of a program without a runtime: no pixels, but fences signal, events change and counters report, so that the
// program runs on.
#pragma once

#include "stream/sink.h"
#include "stream/sync.h"

namespace heaviside::nvn {

class NullSink : public stream::Sink {
public:
    void queue_created(stream::QueueId, const stream::QueueDescription&) override {}
    void queue_destroyed(stream::QueueId) override {}
    void submit(stream::QueueId queue, const stream::DeviceModes& modes, stream::Buffer stream) override;
    void flush(stream::QueueId) override {}
    void finish(stream::QueueId) override {}
    bool sync_reached(stream::SyncId sync, u32 value) override { return syncs_.reached(sync, value); }
    bool wait_sync(stream::SyncId sync, u32 value, u64 timeout_ns) override {
        return syncs_.wait(sync, value, timeout_ns);
    }
    void sync_destroyed(stream::SyncId sync) override { syncs_.forget(sync); }
    void event_signalled(u64) override {}
    void window_created(stream::WindowId, const stream::WindowDescription&) override {}
    void window_destroyed(stream::WindowId) override {}
    bool acquire(stream::WindowId, u32, stream::SyncId sync, u32 value) override {
        syncs_.signal(sync, value);
        return true;
    }
    void present(stream::QueueId, const stream::Present&) override {}

private:
    stream::SyncCounters syncs_;
};

} // namespace heaviside::nvn
