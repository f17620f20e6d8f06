// Barriers, counters, syncs and events.
#include "replay/executor.h"

#include "base/log.h"

#include <atomic>

namespace heaviside::replay {

void Executor::on(const stream::Barrier& r, const Record&) {
    barrier_asked_ |= r.bits != 0;
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
    const bool adds = r.mode == 1;
    auto landed = std::make_shared<std::atomic<bool>>(false);
    events_[u64{r.address}] = {r.value, !adds, landed};
    // Who sees the value sees the bytes of targets drawn before it: these are stored by completions too, earlier ones
    // (ledger OBJ-127).
    const u64 word = s_.gpu_memory->physical(GuestAddress{r.address}).value;
    completions_.emplace_back([memory = s_.memory, address = word, value = r.value, adds, landed] {
        const auto out = memory->bytes(GuestAddress{address}, sizeof(u32));
        if (out && address % alignof(u32) == 0) {
            const std::atomic_ref event(*reinterpret_cast<u32*>(out->data()));
            if (adds)
                event.fetch_add(value, std::memory_order_release);
            else
                event.store(value, std::memory_order_release);
        }
        landed->store(true, std::memory_order_release);
    });
}

void Executor::on(const stream::WaitEvent& r, const Record&) {
    if (const auto it = events_.find(u64{r.address}); it != events_.end()) {
        const EventSignal& signal = it->second;
        if (!signal.landed->load(std::memory_order_acquire)) {
            // What follows comes behind a written value on the one GPU queue (OBJ-128); a sum is known when it is there
            // (OBJ-129).
            waiting_ = !signal.written || !stream::event_holds(r.mode, signal.value, r.value);
            return;
        }
        events_.erase(it); // the CPU may have stored another since
    }
    const auto bytes = guest_storage(r.address, sizeof(u32));
    if (bytes && r.address % alignof(u32) == 0) {
        const std::atomic_ref event(*reinterpret_cast<u32*>(bytes->data()));
        waiting_ = !stream::event_holds(r.mode, event.load(std::memory_order_acquire), r.value);
    }
}

} // namespace heaviside::replay
