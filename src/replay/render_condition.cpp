// Counters, their reports, and rendering that depends on them.
#include "replay/executor.h"

#include "base/log.h"

namespace heaviside::replay {

Counters& Executor::counters() {
    if (!g_->counters)
        g_->counters = std::make_shared<Counters>(counter_device_);
    return *g_->counters;
}

void Executor::begin_counting() {
    counting_ = g_->counters;
    if (counting_)
        counting_->begin(*c_);
}

void Executor::end_counting() {
    if (const auto counters = std::move(counting_))
        counters->end(*c_);
}

void Executor::begin_condition() {
    if (!g_->condition || conditional_)
        return;
    VkConditionalRenderingBeginInfoEXT info{.sType = VK_STRUCTURE_TYPE_CONDITIONAL_RENDERING_BEGIN_INFO_EXT};
    info.buffer = g_->condition.buffer;
    info.offset = g_->condition.offset;
    s_.device->vk.vkCmdBeginConditionalRenderingEXT(c_->handle(), &info);
    conditional_ = true;
}

void Executor::end_condition() {
    if (std::exchange(conditional_, false))
        s_.device->vk.vkCmdEndConditionalRenderingEXT(c_->handle());
}

void Executor::on(const stream::ResetCounter& r, const Record&) {
    if (!commands())
        return;
    leave_pass();
    counters().reset(*c_, r.counter);
}

void Executor::on(const stream::ReportCounter& r, const Record&) {
    if (!commands())
        return;
    leave_pass();
    settle(r.address, 16);
    const auto to = resolve(r.address, 16);
    if (!to || to->size < 16 || to->offset % 4) {
        log::error_once("a counter cannot be reported to {:#x}", r.address);
        return;
    }
    counters().report(*c_, r.counter, *to);
    s_.textures->storage_written_by_gpu(r.address, 16);
}

void Executor::on(const stream::SetRenderEnable& r, const Record&) {
    end_condition();
    g_->condition = {};
    g_->render_enable = r.enable != 0;
}

void Executor::on(const stream::SetRenderEnableConditional& r, const Record&) {
    g_->render_enable = true;
    if (!s_.conditional_rendering || !commands())
        return;
    leave_pass();
    g_->condition = {};
    settle(r.address, 24);
    const auto compared = resolve(r.address, 24);
    if (!compared || compared->size < 24 || compared->offset % 4)
        return; // what cannot be compared is drawn
    if (s_.device->has(gpu::Feature::ConditionalRendering)) {
        g_->condition = counters().compare(*c_, *compared, r.mode == 0);
        return;
    }
    if (!drain())
        return;
    if (const auto values = guest_storage(r.address, 24))
        g_->render_enable = (*read_at<u64>(*values, 0) == *read_at<u64>(*values, 16)) == (r.mode == 0);
}

} // namespace heaviside::replay
