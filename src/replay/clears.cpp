// Clears. Whole channels and aspects through vkCmdClearAttachments at their place in the pass; what that cannot say
// (some channels, some stencil bits) is drawn.
#include "replay/executor.h"

#include "base/log.h"
#include "replay/kernels/fill_float.frag.h"
#include "replay/kernels/fill_sint.frag.h"
#include "replay/kernels/fill_uint.frag.h"
#include "replay/kernels/rect.vert.h"

#include <algorithm>
#include <cstring>

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

void Executor::fill_stencil(u8 value, u8 mask, const VkRect2D& rect) {
    end_counting(); // not the guest's draw (REN-094)
    set_fill_state(extent_, rect, samples_);
    gpu::Stencil stencil;
    stencil.test = VK_TRUE;
    stencil.front = {.fail = VK_STENCIL_OP_KEEP,
                     .pass = VK_STENCIL_OP_REPLACE,
                     .depth_fail = VK_STENCIL_OP_KEEP,
                     .compare = VK_COMPARE_OP_ALWAYS,
                     .compare_mask = 0xff,
                     .write_mask = mask,
                     .reference = value};
    stencil.back = stencil.front;
    c_->set(stencil);
    gpu::Blend blend;
    for (auto& t : blend.targets)
        t.write_mask = 0;
    c_->set(blend);
    c_->set_root(root_of({}, 0));
    if (c_->prepare_draw())
        s_.device->vk.vkCmdDraw(c_->handle(), 3, 1, 0, 0);
    begin_counting();
    draws_in_pass_ = true;
}

void Executor::on(const stream::ClearColor& r, const Record&) {
    if (!g_->render_enable || r.target >= depth_slot || r.mask == 0 || !commands())
        return;
    resolve_targets();
    const Target target = targets_[r.target];
    if (!target.texture)
        return;
    const VkRect2D rect = scissor(g_->scissors[0], extent_);
    if (is_empty(rect))
        return;
    ++statistics_.clears;
    // A mask that covers every channel the format has is a whole clear (REN-088).
    if ((r.mask & target.channels) == target.channels) {
        if (covers(rect, extent_) && !g_->condition)
            s_.textures->discard(*target.texture, g_->targets[r.target].view, layers_);
        open_pass();
        VkClearAttachment clear{.aspectMask = VK_IMAGE_ASPECT_COLOR_BIT, .colorAttachment = r.target, .clearValue = {}};
        clear.clearValue.color = color_value(r.value);
        const VkClearRect area{rect, 0, layers_};
        s_.device->vk.vkCmdClearAttachments(c_->handle(), 1, &clear, 1, &area);
        draws_in_pass_ = true;
        return;
    }
    leave_pass();
    if (auto done = s_.textures->refresh(*c_, *target.texture); !done)
        log::error_once("clear: {}", done.error().message);
    mark_target_written(r.target);
    s_.textures->mark_recorded(*target.texture);
    const stream::ImageDescription& image = g_->targets[r.target];
    for (u32 layer = 0; layer < layers_; ++layer) {
        VkFormat format = VK_FORMAT_UNDEFINED;
        u32 layers = 1;
        const auto view = target_view(*target.texture, image, image.view.first_layer + layer, layers, format);
        if (!view)
            return;
        fill({*view,
              format,
              extent_,
              rect,
              r.mask,
              r.value_class,
              {r.value[0], r.value[1], r.value[2], r.value[3]},
              samples_,
              true});
    }
}

void Executor::on(const stream::ClearDepthStencil& r, const Record&) {
    if (!g_->render_enable || (!r.depth_mask && !r.stencil_mask) || !commands())
        return;
    resolve_targets();
    const Target target = targets_[depth_slot];
    if (!target.texture)
        return;
    const VkRect2D rect = scissor(g_->scissors[0], extent_);
    if (is_empty(rect))
        return;
    ++statistics_.clears;
    const VkImageAspectFlags all = target.texture->image.aspects();
    if (covers(rect, extent_) && !g_->condition && (r.depth_mask || !(all & VK_IMAGE_ASPECT_DEPTH_BIT)) &&
        (r.stencil_mask == 0xff || !(all & VK_IMAGE_ASPECT_STENCIL_BIT)))
        s_.textures->discard(*target.texture, g_->targets[depth_slot].view, layers_);
    open_pass();
    const VkImageAspectFlags has = target.texture->image.aspects();
    VkClearAttachment clear{};
    if (r.depth_mask)
        clear.aspectMask |= has & VK_IMAGE_ASPECT_DEPTH_BIT;
    if (r.stencil_mask == 0xff)
        clear.aspectMask |= has & VK_IMAGE_ASPECT_STENCIL_BIT;
    clear.clearValue.depthStencil = {std::clamp(r.depth, 0.0f, 1.0f), r.stencil};
    if (clear.aspectMask) {
        const VkClearRect area{rect, 0, layers_};
        s_.device->vk.vkCmdClearAttachments(c_->handle(), 1, &clear, 1, &area);
        draws_in_pass_ = true;
    }
    if (r.stencil_mask != 0 && r.stencil_mask != 0xff && (has & VK_IMAGE_ASPECT_STENCIL_BIT))
        fill_stencil(r.stencil, r.stencil_mask, rect);
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
    clear.clearValue.depthStencil = {std::clamp(values[0], 0.0f, 1.0f), stencil & 0xff};
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
    const VkClearRect area{rect, 0, 1};
    s_.device->vk.vkCmdClearAttachments(c_->handle(), 1, &clear, 1, &area);
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
            fill({*view,
                  format,
                  extent,
                  rect,
                  r.mask,
                  r.value_class,
                  {r.value[0], r.value[1], r.value[2], r.value[3]},
                  d.samples});
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
