// Clears. Whole channels and aspects through vkCmdClearAttachments at their place in the pass; what that cannot say
// (some channels, some stencil bits) is drawn.
#include "replay/executor.h"

#include "base/log.h"
#include "replay/kernels/fill_float.frag.h"
#include "replay/kernels/fill_sint.frag.h"
#include "replay/kernels/fill_uint.frag.h"
#include "replay/kernels/rect.vert.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

namespace heaviside::replay {
namespace {

using program::Stage;
constexpr u32 depth_slot = stream::color_target_count;

VkClearColorValue color_value(const u32 (&bits)[4]) {
    VkClearColorValue v;
    static_assert(sizeof v == sizeof bits);
    std::memcpy(&v, bits, sizeof v);
    return v;
}

shader::RootConstants root_of(const std::array<u32, 4>& color, f32 depth) {
    shader::RootConstants root{};
    std::memcpy(&root, color.data(), 16);
    std::memcpy(reinterpret_cast<std::byte*>(&root) + 16, &depth, 4);
    return root;
}

bool is_empty(const VkRect2D& r) {
    return r.extent.width == 0 || r.extent.height == 0;
}

bool covers(const VkRect2D& rect, VkExtent2D extent) {
    return rect.offset.x == 0 && rect.offset.y == 0 && rect.extent.width == extent.width &&
           rect.extent.height == extent.height;
}

// A clear stores what a fragment of that depth does (REN-095): of 16 bits the nearest number, handed over where devices
// that round and those that cut off agree. Halfway between two, and of 24 bits, a fragment itself says which.
struct ClearDepth {
    f32 value;
    bool drawn;
};
ClearDepth clear_depth_value(VkFormat format, f32 asked) {
    const f32 depth = asked >= 0 ? std::min(asked, 1.0f) : 0.0f; // not a number: 0
    if (format == VK_FORMAT_X8_D24_UNORM_PACK32 ||
        format == VK_FORMAT_D24_UNORM_S8_UINT) // as fine as the fragment's float
        return {depth, depth != 0 && depth != 1};
    if (format != VK_FORMAT_D16_UNORM)
        return {depth, false};
    constexpr f64 most = 65535, doubtful = 0.05;
    const f64 scaled = f64{depth} * most, below = std::floor(scaled);
    if (std::abs(scaled - below - 0.5) < doubtful)
        return {depth, true};
    const f64 nearest = std::round(scaled);
    return {nearest == 0 ? 0.0f : static_cast<f32>(std::min((nearest + 0.25) / most, 1.0)), false};
}

} // namespace

void Executor::set_fill_state(VkExtent2D extent, const VkRect2D& rect, VkSampleCountFlagBits samples) {
    if (!rect_) {
        const std::span<const u32> words[] = {fill_float_frag, fill_sint_frag, fill_uint_frag}; // as ClearClass
        rect_ = s_.library->request(shader::Stage::Vertex, rect_vert, "rect");
        for (u32 i = 0; i < fills_.size(); ++i)
            fills_[i] = s_.library->request(shader::Stage::Fragment, words[i], "fill");
    }
    gpu::DrawState state;
    state.viewports.viewports[0] = {0, 0, static_cast<f32>(extent.width), static_cast<f32>(extent.height), 0, 1};
    state.scissors.scissors[0] = rect;
    state.multisample.samples = samples;
    c_->set(state);
    for (const Stage stage : {Stage::TessControl, Stage::TessEval, Stage::Geometry, Stage::Fragment})
        c_->set_shader(stage, nullptr);
    c_->set_shader(Stage::Vertex, rect_);
    // The guest's state comes back whole at its next draw.
    g_->dirty = dirty::all;
    stages_ = {};
    primitive_ = ~0u;
}

void Executor::fill(const Fill& f) {
    leave_pass();
    gpu::Pass pass;
    pass.area = {{0, 0}, f.extent};
    pass.samples = f.samples;
    pass.color_count = 1;
    pass.colors[0].view = f.view;
    pass.colors[0].format = f.format;
    c_->begin_pass(pass);
    if (f.conditional)
        begin_condition();
    if (f.whole) { // exact, as no draw need be
        VkClearAttachment clear{.aspectMask = VK_IMAGE_ASPECT_COLOR_BIT, .colorAttachment = 0, .clearValue = {}};
        std::memcpy(&clear.clearValue.color, f.value.data(), sizeof clear.clearValue.color);
        const VkClearRect area{f.rect, 0, 1};
        s_.device->vk.vkCmdClearAttachments(c_->handle(), 1, &clear, 1, &area);
        end_condition();
        c_->end_pass();
        c_->barrier();
        return;
    }
    set_fill_state(f.extent, f.rect, f.samples);
    gpu::Blend blend;
    for (auto& t : blend.targets)
        t.write_mask = 0;
    blend.targets[0].write_mask = f.mask;
    c_->set(blend);
    c_->set_shader(Stage::Fragment, fills_[std::min<u32>(static_cast<u32>(f.value_class), 2)]);
    c_->set_root(root_of(f.value, 0));
    if (c_->prepare_draw())
        s_.device->vk.vkCmdDraw(c_->handle(), 3, 1, 0, 0);
    end_condition();
    c_->end_pass();
    c_->barrier();
}

// In the open pass: depth, if it is to be written, and the stencil bits of the mask.
void Executor::fill_depth_stencil(const DepthStencilFill& f, VkExtent2D extent, const VkRect2D& rect,
                                  VkSampleCountFlagBits samples) {
    end_counting(); // not the guest's draw (REN-094)
    set_fill_state(extent, rect, samples);
    gpu::Depth depth;
    depth.test = depth.write = f.depth.has_value();
    depth.compare = VK_COMPARE_OP_ALWAYS;
    c_->set(depth);
    gpu::Stencil stencil;
    stencil.test = f.mask != 0;
    stencil.front = {.fail = VK_STENCIL_OP_KEEP,
                     .pass = VK_STENCIL_OP_REPLACE,
                     .depth_fail = VK_STENCIL_OP_KEEP,
                     .compare = VK_COMPARE_OP_ALWAYS,
                     .compare_mask = 0xff,
                     .write_mask = f.mask,
                     .reference = f.stencil};
    stencil.back = stencil.front;
    c_->set(stencil);
    gpu::Blend blend;
    for (auto& t : blend.targets)
        t.write_mask = 0;
    c_->set(blend);
    c_->set_root(root_of({}, f.depth.value_or(0)));
    if (c_->prepare_draw())
        s_.device->vk.vkCmdDraw(c_->handle(), 3, 1, 0, 0);
    begin_counting();
    draws_in_pass_ = true;
}

void Executor::clear_in_pass(const VkClearAttachment& clear, const VkRect2D& rect, u32 layers) {
    const VkClearRect area{rect, 0, layers};
    s_.device->vk.vkCmdClearAttachments(c_->handle(), 1, &clear, 1, &area);
    draws_in_pass_ = true;
}

// The pass of all targets, or, where the clear reaches past it, one of its own (REN-086). Says where the colour is.
u32 Executor::open_clear_pass(u32 slot, const VkRect2D& rect) {
    const Target& target = targets_[slot];
    const bool inside = target.layers == layers_ && rect.offset.x + rect.extent.width <= extent_.width &&
                        rect.offset.y + rect.extent.height <= extent_.height;
    if (inside) {
        open_pass();
        return slot;
    }
    leave_pass();
    if (auto done = s_.textures->refresh(*c_, *target.texture); !done)
        log::error_once("clear: {}", done.error().message);
    mark_target_written(slot, target.layers);
    s_.textures->mark_recorded(*target.texture);
    gpu::Pass pass;
    pass.area = {{0, 0}, target.extent};
    pass.layers = target.layers;
    pass.samples = samples_;
    const gpu::Attachment attachment{.view = target.view, .format = target.format};
    const VkImageAspectFlags aspects = target.texture->image.aspects();
    if (aspects & VK_IMAGE_ASPECT_COLOR_BIT) {
        pass.colors[0] = attachment;
        pass.color_count = 1;
    }
    if (aspects & VK_IMAGE_ASPECT_DEPTH_BIT)
        pass.depth = attachment;
    if (aspects & VK_IMAGE_ASPECT_STENCIL_BIT)
        pass.stencil = attachment;
    c_->begin_pass(pass);
    begin_condition();
    own_clear_pass_ = true;
    return 0;
}

void Executor::close_clear_pass() {
    if (!std::exchange(own_clear_pass_, false))
        return;
    end_condition();
    c_->end_pass();
    c_->barrier();
    draws_in_pass_ = false;
}

void Executor::on(const stream::ClearColor& r, const Record&) {
    if (!g_->render_enable || r.target >= depth_slot || r.mask == 0 || !commands())
        return;
    resolve_targets();
    const Target target = targets_[r.target];
    if (!target.texture)
        return;
    const VkRect2D rect = scissor(g_->scissors[0], target.extent);
    if (is_empty(rect))
        return;
    ++statistics_.clears;
    // A mask that covers every channel the format has is a whole clear (REN-088).
    if ((r.mask & target.channels) == target.channels) {
        if (covers(rect, target.extent) && !g_->condition)
            s_.textures->discard(*target.texture, target.image.view, target.layers);
        VkClearAttachment clear{.aspectMask = VK_IMAGE_ASPECT_COLOR_BIT,
                                .colorAttachment = open_clear_pass(r.target, rect),
                                .clearValue = {}};
        clear.clearValue.color = color_value(r.value);
        clear_in_pass(clear, rect, target.layers);
        close_clear_pass();
        return;
    }
    leave_pass();
    if (auto done = s_.textures->refresh(*c_, *target.texture); !done)
        log::error_once("clear: {}", done.error().message);
    mark_target_written(r.target, target.layers);
    s_.textures->mark_recorded(*target.texture);
    const stream::ImageDescription& image = target.image;
    for (u32 layer = 0; layer < target.layers; ++layer) {
        VkFormat format = VK_FORMAT_UNDEFINED;
        u32 layers = 1;
        const auto view = target_view(*target.texture, image, image.view.first_layer + layer, layers, format);
        if (!view)
            return;
        fill({.view = *view,
              .format = format,
              .extent = target.extent,
              .rect = rect,
              .mask = r.mask,
              .value_class = r.value_class,
              .value = {r.value[0], r.value[1], r.value[2], r.value[3]},
              .samples = samples_,
              .conditional = true});
    }
}

void Executor::on(const stream::ClearDepthStencil& r, const Record&) {
    if (!g_->render_enable || (!r.depth_mask && !r.stencil_mask) || !commands())
        return;
    resolve_targets();
    const Target target = targets_[depth_slot];
    if (!target.texture)
        return;
    const VkRect2D rect = scissor(g_->scissors[0], target.extent);
    if (is_empty(rect))
        return;
    ++statistics_.clears;
    const VkImageAspectFlags all = target.texture->image.aspects();
    if (covers(rect, target.extent) && !g_->condition && (r.depth_mask || !(all & VK_IMAGE_ASPECT_DEPTH_BIT)) &&
        (r.stencil_mask == 0xff || !(all & VK_IMAGE_ASPECT_STENCIL_BIT)))
        s_.textures->discard(*target.texture, target.image.view, target.layers);
    (void)open_clear_pass(depth_slot, rect);
    const VkImageAspectFlags has = target.texture->image.aspects();
    const ClearDepth depth = clear_depth_value(target.format, r.depth);
    VkClearAttachment clear{};
    if (r.depth_mask && !depth.drawn)
        clear.aspectMask |= has & VK_IMAGE_ASPECT_DEPTH_BIT;
    if (r.stencil_mask == 0xff)
        clear.aspectMask |= has & VK_IMAGE_ASPECT_STENCIL_BIT;
    clear.clearValue.depthStencil = {depth.value, r.stencil};
    if (clear.aspectMask)
        clear_in_pass(clear, rect, target.layers);
    DepthStencilFill drawn;
    if (r.depth_mask && depth.drawn)
        drawn.depth = depth.value;
    if (r.stencil_mask != 0xff && (has & VK_IMAGE_ASPECT_STENCIL_BIT)) {
        drawn.stencil = r.stencil;
        drawn.mask = r.stencil_mask;
    }
    if (drawn.depth || drawn.mask)
        fill_depth_stencil(drawn, target.extent, rect, samples_);
    close_clear_pass();
}

// Depth is the first component, stencil the second.
void Executor::clear_depth(VkImageView view, VkFormat format, VkImageAspectFlags aspects, VkSampleCountFlagBits samples,
                           VkExtent2D extent, const VkRect2D& rect, const stream::ClearTexture& r) {
    leave_pass();
    gpu::Pass pass;
    pass.area = {{0, 0}, extent};
    pass.samples = samples;
    const gpu::Attachment attachment{.view = view, .format = format};
    VkClearAttachment clear{};
    f32 values[2];
    std::memcpy(values, r.value, sizeof values);
    const auto stencil =
        r.value_class == stream::ClearClass::Float ? static_cast<u32>(std::clamp(values[1], 0.0f, 255.0f)) : r.value[1];
    const ClearDepth depth = clear_depth_value(format, values[0]);
    clear.clearValue.depthStencil = {depth.value, stencil & 0xff};
    if (aspects & VK_IMAGE_ASPECT_DEPTH_BIT) {
        pass.depth = attachment;
        if (r.mask & 1)
            clear.aspectMask |= VK_IMAGE_ASPECT_DEPTH_BIT;
    }
    if (aspects & VK_IMAGE_ASPECT_STENCIL_BIT) {
        pass.stencil = attachment;
        if (r.mask & 2)
            clear.aspectMask |= VK_IMAGE_ASPECT_STENCIL_BIT;
    }
    if (!clear.aspectMask)
        return;
    c_->begin_pass(pass);
    if (depth.drawn && (clear.aspectMask & VK_IMAGE_ASPECT_DEPTH_BIT)) {
        fill_depth_stencil({.depth = depth.value}, extent, rect, samples);
        clear.aspectMask &= ~static_cast<VkImageAspectFlags>(VK_IMAGE_ASPECT_DEPTH_BIT);
    }
    if (clear.aspectMask)
        clear_in_pass(clear, rect, 1);
    draws_in_pass_ = false;
    c_->end_pass();
    c_->barrier();
}

void Executor::on(const stream::ClearTexture& r, const Record&) {
    if (!r.mask || !commands())
        return;
    Texture* t = copy_texture(r.image);
    if (!t)
        return;
    ++statistics_.clears;
    const gpu::ImageDescription& d = t->image.description();
    const u32 level = std::min<u32>(r.image.view.first_level, d.levels - 1);
    const VkExtent2D extent{std::max(1u, d.extent.width >> level), std::max(1u, d.extent.height >> level)};
    const u32 channels = channels_of(r.image.view.format);
    const bool rows_are_layers = d.type == VK_IMAGE_TYPE_1D;
    stream::Scissor area{r.region.x, r.region.y, r.region.width, r.region.height};
    i32 first = r.region.z, count = r.region.depth;
    if (rows_are_layers) {
        first = r.region.y;
        count = r.region.height;
        area.y = 0;
        area.height = 1;
    }
    const VkRect2D rect = scissor(area, extent);
    if (!is_empty(rect) && count > 0)
        s_.textures->mark_gpu_written(
            *t, Textures::part_of_texels(*t, level, r.image.view.first_layer + static_cast<u32>(std::max(0, first)),
                                         static_cast<u32>(count), {rect.offset.x, rect.offset.y, std::max(0, first)},
                                         {rect.extent.width, rect.extent.height, static_cast<u32>(count)}));
    for (i32 layer = std::max(0, first); layer < first + count; ++layer) {
        VkFormat format = VK_FORMAT_UNDEFINED;
        u32 layers = 1;
        const auto view = target_view(*t, r.image, r.image.view.first_layer + static_cast<u32>(layer), layers, format);
        if (!view) {
            log::error_once("ClearTexture: {}", view.error().message);
            return;
        }
        if (is_empty(rect))
            continue;
        if (!(t->image.aspects() & VK_IMAGE_ASPECT_COLOR_BIT))
            clear_depth(*view, format, t->image.aspects(), d.samples, extent, rect, r);
        else
            fill({.view = *view,
                  .format = format,
                  .extent = extent,
                  .rect = rect,
                  .mask = r.mask,
                  .value_class = r.value_class,
                  .value = {r.value[0], r.value[1], r.value[2], r.value[3]},
                  .samples = d.samples,
                  .whole = (r.mask & channels) == channels});
    }
}

void Executor::on(const stream::ClearBuffer& r, const Record&) {
    if (!commands())
        return;
    leave_pass();
    settle(r.address, r.size);
    const auto slice = resolve(r.address, r.size);
    if (!slice || slice->offset % 4 || slice->size < 4) {
        log::error_once("ClearBuffer of {} bytes at {:#x} is skipped", r.size, r.address);
        return;
    }
    c_->prepare_transfer();
    s_.device->vk.vkCmdFillBuffer(c_->handle(), slice->buffer, slice->offset, slice->size & ~u64{3}, r.value);
    c_->barrier();
    scatter(r.address, *slice);
    s_.textures->storage_written_by_gpu(r.address, r.size);
    ++statistics_.clears;
}

} // namespace heaviside::replay
