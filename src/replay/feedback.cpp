// Transform feedback. The control memory holds what Vulkan's counter buffer does, the bytes written to each of four
// buffers, then, for whoever draws them in another stream, the bytes of a vertex in each (ledger GFX-128).
#include "replay/executor.h"

#include "base/log.h"

#include <algorithm>
#include <cstring>

namespace heaviside::replay {
namespace {

using program::Stage;
using stream::FeedbackAction;

constexpr u64 counter_bytes = 4 * program::feedback_buffer_count, strides_at = counter_bytes;
constexpr u64 largest_buffer = u64{1} << 31; // bytes; drivers keep sizes in 32 bits

bool overlap(const Range& a, const Range& b) {
    return a.size && b.size && a.address < b.address + b.size && b.address < a.address + a.size;
}

} // namespace

void Executor::on(const stream::BindTransformFeedbackBuffer& r, const Record&) {
    if (r.index >= g_->feedback_buffers.size())
        return;
    if (c_ && g_->feedback_buffers[r.index] != Range{r.address, r.size})
        c_->end_capture();
    g_->feedback_buffers[r.index] = {r.address, r.size};
}

void Executor::on(const stream::TransformFeedback& r, const Record&) {
    if (r.control % 4 != 0 || !s_.memory->bytes(GuestAddress{r.control}, 2 * counter_bytes)) {
        log::error_once("transform feedback: control memory at {:#x}", r.control);
        return;
    }
    if (!s_.device->has(gpu::Feature::TransformFeedback)) {
        log::error_once("transform feedback: the device has none, nothing is captured");
        if (r.action == FeedbackAction::Begin)
            zero_counters(r.control);
        return;
    }
    if (c_)
        c_->end_capture();
    GuestState::Feedback& f = g_->feedback;
    switch (r.action) {
    case FeedbackAction::Begin:
        f = {.active = true, .fresh = true, .control = r.control};
        break;
    case FeedbackAction::Resume:
        f = {.active = true, .fresh = false, .control = r.control};
        break;
    case FeedbackAction::Pause:
    case FeedbackAction::End:
        if (f.active && f.fresh)
            zero_counters(f.control);
        f.active = false;
        break;
    }
}

void Executor::zero_counters(u64 control) {
    if (!commands())
        return;
    leave_pass();
    const auto counters = resolve(control, counter_bytes);
    if (!counters)
        return;
    c_->prepare_transfer();
    s_.device->vk.vkCmdFillBuffer(c_->handle(), counters->buffer, counters->offset, counter_bytes, 0);
    c_->barrier();
}

const program::FeedbackLayout* Executor::capture_layout() const {
    if (!g_->feedback.active)
        return nullptr;
    for (const Stage stage : {Stage::Geometry, Stage::TessEval, Stage::Vertex}) {
        const StageCode* code = stages_[static_cast<std::size_t>(stage)].code;
        if (!code)
            continue;
        if (code->program.feedback)
            return &*code->program.feedback;
        log::error_once("transform feedback: {} program {} does not say what it captures",
                        program::name(code->program.stage), to_string(program::identity(code->program)));
        return nullptr;
    }
    return nullptr;
}

bool Executor::reads_captured() const {
    const auto captured = [this](const Range& range) {
        return std::any_of(captured_.begin(), captured_.end(), [&](const Range& c) { return overlap(c, range); });
    };
    if (captured_.empty())
        return false;
    const u32 used = used_streams(*g_, stages_[static_cast<std::size_t>(Stage::Vertex)].variant->reflection.inputs);
    for (u32 i = 0; i < vertex_slots; ++i)
        if ((used >> i & 1) && captured(g_->vertex_buffers[i]))
            return true;
    for (const Stage stage : {Stage::Vertex, Stage::TessControl, Stage::TessEval, Stage::Geometry, Stage::Fragment}) {
        if (!stages_[static_cast<std::size_t>(stage)].variant)
            continue;
        const StageBindings& b = g_->stages[static_cast<std::size_t>(stage)];
        if (std::any_of(b.uniforms.begin(), b.uniforms.end(), captured) ||
            std::any_of(b.storage.begin(), b.storage.end(), captured))
            return true;
    }
    return false;
}

void Executor::start_capture(const program::FeedbackLayout& layout) {
    stores_in_pass_ = true;
    if (c_->capturing())
        return;
    GuestState::Feedback& f = g_->feedback;
    gpu::Capture capture;
    capture.resume = !f.fresh;
    const auto counters = resolve(f.control, counter_bytes);
    const auto unused = s_.queue->arena().allocate(16, 16); // stands in for buffers between that are not written
    if (!counters || !unused)
        return;
    capture.counters = *counters;
    if (capture.resume && c_->capture_needs_pass()) { // its counters were written in this one
        leave_pass();
        open_pass();
        stores_in_pass_ = true;
    }
    Captured first;
    for (u32 i = 0; i < program::feedback_buffer_count; ++i) {
        capture.buffers[i] = *unused;
        if (!layout.strides[i])
            continue;
        const Range& bound = g_->feedback_buffers[i];
        const auto slice = bound.size ? resolve(bound.address, std::min(bound.size, largest_buffer)) : std::nullopt;
        if (!slice || slice->offset % 4 != 0) { // capture stops where any of its buffers ends (REN-174)
            log::error_once("transform feedback: buffer {} at {:#x}, {} bytes: nothing is captured", i, bound.address,
                            bound.size);
            return;
        }
        if (!first.stride)
            first = {i, layout.strides[i]};
        capture.buffers[i] = *slice;
        capture.count = i + 1;
        captured_.push_back({bound.address, slice->size});
        s_.textures->storage_written_by_gpu(bound.address, slice->size, false);
    }
    if (f.fresh)
        completions_.emplace_back([memory = s_.memory, address = f.control + strides_at, strides = layout.strides] {
            u32 words[program::feedback_buffer_count];
            std::copy(strides.begin(), strides.end(), words);
            if (const auto out = memory->bytes(GuestAddress{address}, sizeof words))
                std::memcpy(out->data(), words, sizeof words);
        });
    captures_[f.control] = first;
    f.fresh = false;
    c_->begin_capture(capture);
}

void Executor::on(const stream::DrawTransformFeedback& r, const Record&) {
    if (!commands())
        return;
    leave_pass(); // its count may have been written in it
    const auto words = s_.memory->bytes(GuestAddress{r.control}, 2 * counter_bytes);
    Captured captured;
    if (const auto known = captures_.find(u64{r.control}); known != captures_.end())
        captured = known->second;
    for (u32 i = 0; words && captured.stride == 0 && i < program::feedback_buffer_count; ++i)
        captured = {i, *read_at<u32>(*words, strides_at + 4 * i)};
    if (!words || r.control % 4 != 0 || captured.stride == 0 || captured.stride % 4 != 0) {
        log::error_once("DrawTransformFeedback: nothing was captured with control memory {:#x}", r.control);
        return;
    }
    const u32 count_at = 4 * captured.buffer;
    const bool lowered = primitive(r.primitive, s_.device->has(gpu::Feature::TriangleFans)).lowering != Lowering::None;
    if (lowered || !s_.device->capabilities.draws_captured) {
        if (drain())
            draw_arrays(r.primitive, 0, *read_at<u32>(*words, count_at) / captured.stride, 0, 1);
        return;
    }
    const auto counter = resolve(r.control, counter_bytes);
    if (counter && prepare_draw(r.primitive, 0, 0))
        s_.device->vk.vkCmdDrawIndirectByteCountEXT(c_->handle(), 1, 0, counter->buffer, counter->offset + count_at, 0,
                                                    captured.stride);
}

} // namespace heaviside::replay
