// Barriers, counters, syncs and events.
#include "replay/executor.h"

#include "base/log.h"

#include <atomic>
#include <chrono>
#include <cstring>

namespace heaviside::replay {
namespace {

constexpr u32 counter_timestamp = 0, counter_samples = 1, counter_timestamp_top = 0x10;

u64 gpu_ticks() { // the console's counter: ticks * 13 / 8 are nanoseconds
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    const u64 nanoseconds = static_cast<u64>(std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
    return nanoseconds / 13 * 8;
}

} // namespace

// Occlusion queries since the counter's last reset. Every pass is one query; a report sums those before it.
struct Executor::Samples {
    static constexpr u32 capacity = 4096;
    const gpu::Device* device = nullptr;
    gpu::Owned<VkQueryPool> pool;
    u32 next = 0;
    bool open = false;

    [[nodiscard]] u64 sum(u32 end) const {
        u64 total = 0;
        for (u32 i = 0; i < end; ++i) {
            u64 value = 0;
            device->vk.vkGetQueryPoolResults(device->handle, pool.get(), i, 1, sizeof value, &value, sizeof value,
                                             VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WAIT_BIT);
            total += value;
        }
        return total;
    }
};

void Executor::begin_samples_query() {
    if (!counting_ || !samples_counter_ || samples_counter_->open)
        return;
    Samples& s = *samples_counter_;
    if (s.next == Samples::capacity) {
        log::error_once("more than {} passes between two resets of the samples counter: later ones are not counted",
                        Samples::capacity);
        return;
    }
    VkQueryControlFlags precise = 0;
    if (s_.device->has(gpu::Feature::PreciseOcclusion))
        precise = VK_QUERY_CONTROL_PRECISE_BIT;
    s_.device->vk.vkCmdBeginQuery(c_->handle(), s.pool.get(), s.next, precise);
    s.open = true;
}

void Executor::end_samples_query() {
    if (!samples_counter_ || !samples_counter_->open)
        return;
    s_.device->vk.vkCmdEndQuery(c_->handle(), samples_counter_->pool.get(), samples_counter_->next);
    samples_counter_->open = false;
    ++samples_counter_->next;
}

void Executor::on(const stream::Barrier& r, const Record&) {
    barrier_asked_ |= r.bits != 0;
}

void Executor::on(const stream::ResetCounter& r, const Record&) {
    if (r.counter != counter_samples || !commands())
        return;
    leave_pass();
    // A fresh pool per reset: reports of the old one may be outstanding and keep it alive.
    auto samples = std::make_shared<Samples>();
    VkQueryPoolCreateInfo info{.sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO};
    info.queryType = VK_QUERY_TYPE_OCCLUSION;
    info.queryCount = Samples::capacity;
    VkQueryPool pool = VK_NULL_HANDLE;
    if (s_.device->vk.vkCreateQueryPool(s_.device->handle, &info, nullptr, &pool) != VK_SUCCESS) {
        log::error_once("samples counter: no query pool");
        return;
    }
    samples->device = s_.device;
    samples->pool = gpu::adopt(*s_.device, gpu::Object::QueryPool, pool);
    s_.device->vk.vkCmdResetQueryPool(c_->handle(), pool, 0, Samples::capacity);
    if (samples_counter_)
        s_.queue->retire(std::move(samples_counter_));
    samples_counter_ = std::move(samples);
    counting_ = true;
}

void Executor::on(const stream::ReportCounter& r, const Record&) {
    if (!commands())
        return;
    leave_pass();
    const bool timestamp = r.counter == counter_timestamp || r.counter == counter_timestamp_top;
    if (!timestamp && r.counter != counter_samples)
        log::error_once("counter {} is not built yet and reports 0", r.counter);
    const std::shared_ptr<Samples> samples = r.counter == counter_samples ? samples_counter_ : nullptr;
    const u32 end = samples ? samples->next : 0;
    completions_.emplace_back([memory = s_.memory, address = r.address, samples, end] {
        const auto out = memory->bytes(GuestAddress{address}, 16);
        if (!out)
            return;
        const u64 words[2] = {samples ? samples->sum(end) : 0, gpu_ticks()};
        std::memcpy(out->data(), words, sizeof words);
    });
}

void Executor::write_word(u64 address, u32 value) {
    leave_pass();
    const auto slice = resolve(address, 4);
    if (!slice || slice->size < 4 || slice->offset % 4) {
        log::error_once("a word at {:#x} cannot be written", address);
        return;
    }
    c_->prepare_transfer();
    s_.device->vk.vkCmdFillBuffer(c_->handle(), slice->buffer, slice->offset, 4, value);
    c_->barrier();
}

void Executor::on(const stream::ReportValue& r, const Record&) {
    if (commands())
        write_word(r.address, r.value);
}

void Executor::on(const stream::FenceSync& r, const Record&) {
    if (!commands())
        return;
    fences_[r.sync] = r.value;
    completions_.emplace_back([syncs = s_.syncs, sync = r.sync, value = r.value] { syncs->signal(sync, value); });
}

void Executor::sync_signalled(stream::SyncId sync, u32 value) {
    fences_[sync] = value;
}

void Executor::on(const stream::WaitSync& r, const Record&) {
    if (r.value == 0 || s_.syncs->reached(r.sync, r.value))
        return;
    // Fences of work recorded before are before this on the one GPU queue.
    const auto it = fences_.find(r.sync);
    waiting_ = it == fences_.end() || it->second - r.value >= 0x80000000u;
}

void Executor::on(const stream::SignalEvent& r, const Record&) {
    if (!commands())
        return;
    u32 current = 0;
    if (const auto it = events_.find(u64{r.address}); it != events_.end())
        current = it->second;
    else if (const auto bytes = s_.memory->bytes(GuestAddress{r.address}, 4))
        current = *read_at<u32>(*bytes, 0);
    const u32 value = stream::event_signalled(r.mode, current, r.value);
    events_[u64{r.address}] = value;
    // Who sees the value sees the bytes of targets drawn before it: these are stored by completions too, earlier ones
    // (ledger OBJ-127).
    completions_.emplace_back([memory = s_.memory, address = r.address, value] {
        const auto out = memory->bytes(GuestAddress{address}, sizeof(u32));
        if (out && address % alignof(u32) == 0)
            std::atomic_ref(*reinterpret_cast<u32*>(out->data())).store(value, std::memory_order_release);
    });
}

void Executor::on(const stream::WaitEvent& r, const Record&) {
    if (const auto it = events_.find(u64{r.address});
        it != events_.end() && stream::event_holds(r.mode, it->second, r.value))
        return;
    const auto bytes = s_.memory->bytes(GuestAddress{r.address}, 4);
    waiting_ = bytes && !stream::event_holds(r.mode, *read_at<u32>(*bytes, 0), r.value);
}

} // namespace heaviside::replay
