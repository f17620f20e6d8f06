#include "replay/executor.h"

#include "base/log.h"

#include <iterator>
#include <utility>

namespace heaviside::replay {

const std::array<Executor::Handler, stream::record_type_count> Executor::handlers = {
#define HEAVISIDE_HANDLER(name, shape) &Executor::handle<stream::name>,
    HEAVISIDE_STREAM_RECORDS(HEAVISIDE_HANDLER)
#undef HEAVISIDE_HANDLER
};

Executor::Executor(const Services& services)
    : s_(services), counter_device_(*services.device, *services.queue, *services.library) {
    s_.textures->set_recording({[this] { return commands(); }, [this] { return drain(); }});
}
Executor::~Executor() = default;

void Executor::not_built(const Record& r) {
    log::error_once("record {} is not built yet and skipped", stream::name(r.type()));
}

gpu::Commands* Executor::commands() {
    if (c_)
        return c_;
    if (!begin())
        return nullptr;
    forget_resolved();
    s_.textures->shrink(s_.texture_budget, [this](const Texture& t) { s_.pools->drop(t); });
    return c_;
}

gpu::Commands* Executor::drain() {
    Submission before = submit();
    completions_ = std::move(before.completions); // signalled with what follows: this is one stream
    carried_ = completions_.size();
    if (const auto waited = s_.queue->wait(s_.queue->submitted()); !waited)
        log::error("waiting for the GPU: {}", waited.error().message);
    for (const guest::Range& range : s_.memory->ranges()) // free where memory is imported
        s_.gpu_memory->publish_to_guest(range.start, range.size);
    s_.textures->finish_stores();
    ++drains_;
    return begin();
}

void Executor::forget_resolved() {
    resolved_after_ = drains_;
    last_ = nullptr;
    targets_valid_ = false;
    stages_ = {};
    primitive_ = ~0u;
    if (g_)
        g_->dirty = dirty::all;
}

gpu::Commands* Executor::begin() {
    auto begun = s_.queue->begin();
    if (!begun) {
        log::error("no command buffer: {}", begun.error().message);
        return nullptr;
    }
    c_ = *begun;
    updates_.retire(s_.queue->completed());
    s_.gpu_memory->update();
    for (const guest::Range& range : s_.memory->ranges()) // free where memory is imported
        s_.gpu_memory->flush_to_gpu(range.start, range.size);
    if (const auto map = s_.gpu_memory->memory_map(c_); !map)
        log::error_once("memory map: {}", map.error().message);
    else if (map->changed)
        s_.heap->set_memory_map(map->slice);
    return c_;
}

bool Executor::select_pools() {
    if (!s_.pools->mirrors(g_->texture_pool, g_->sampler_pool)) {
        if (c_) {
            Submission before = submit();
            completions_ = std::move(before.completions);
            carried_ = completions_.size();
        }
        if (const auto waited = s_.queue->wait(s_.queue->submitted()); !waited)
            log::error("changing pools: {}", waited.error().message);
        s_.pools->select(g_->texture_pool, g_->sampler_pool);
    }
    return commands() != nullptr;
}

bool Executor::is_held(Bytes stream, u64 offset) {
    const auto record = stream::record_at(stream.subspan(offset));
    waiting_ = false;
    if (record && record->type() == stream::RecordType::WaitEvent)
        on(record->as<stream::WaitEvent>(), *record);
    else if (record && record->type() == stream::RecordType::WaitSync)
        on(record->as<stream::WaitSync>(), *record);
    return waiting_;
}

Executor::Outcome Executor::run(GuestState& state, Bytes stream, u64& offset) {
    g_ = &state;
    if (last_ != g_) { // another queue's state is in the command buffer
        leave_pass();
        g_->dirty = dirty::all;
        targets_valid_ = false;
        stages_ = {};
        primitive_ = ~0u;
    }
    last_ = g_;
    waiting_ = false;
    while (offset < stream.size()) {
        const auto record = stream::record_at(stream.subspan(offset));
        if (!record) {
            log::error("stream at byte {}: {}; the rest is skipped", offset, record.error().message);
            offset = stream.size();
            break;
        }
        const auto index =
            static_cast<std::size_t>(record->type()) - static_cast<std::size_t>(stream::RecordType::first) - 1;
        (this->*handlers[index])(*record);
        ++statistics_.records;
        if (waiting_)
            return Outcome::Waiting;
        offset += record->bytes().size();
    }
    return Outcome::Done;
}

Executor::Submission Executor::submit() {
    Submission out;
    out.completions = std::move(completions_);
    completions_.clear();
    const auto carried = static_cast<std::ptrdiff_t>(std::exchange(carried_, 0));
    if (!c_)
        return out;
    leave_pass();
    auto stores = s_.textures->store_readable(*c_);
    out.stores = s_.textures->has_stores();
    // Before what is signalled here, behind what older command buffers stored: the newest bytes come last.
    out.completions.insert(out.completions.begin() + carried, std::make_move_iterator(stores.begin()),
                           std::make_move_iterator(stores.end()));
    // What the guest's CPU is going to read.
    c_->barrier({.target_stages = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT | VK_PIPELINE_STAGE_2_HOST_BIT,
                 .target_access = VK_ACCESS_2_MEMORY_READ_BIT | VK_ACCESS_2_MEMORY_WRITE_BIT |
                                  VK_ACCESS_2_HOST_READ_BIT | VK_ACCESS_2_HOST_WRITE_BIT});
    const auto number = s_.queue->submit(*c_);
    c_ = nullptr;
    if (number)
        out.number = *number;
    else
        log::error("submission: {}", number.error().message);
    return out;
}

} // namespace heaviside::replay
