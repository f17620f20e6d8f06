// Render targets and passes.
#include "replay/executor.h"

#include "base/log.h"

#include <algorithm>

namespace heaviside::replay {
namespace {

constexpr u32 depth_slot = stream::color_target_count;

} // namespace

u32 Executor::channels_of(u32 format) {
    return (1u << texture::info(format).components) - 1;
}

Result<VkImageView> Executor::target_view(Texture& t, const stream::ImageDescription& image, u32 first_layer,
                                          u32& layers, VkFormat& format) {
    const gpu::ImageDescription& d = t.image.description();
    const bool color = t.image.aspects() & VK_IMAGE_ASPECT_COLOR_BIT;
    const ImageFormat& f = s_.formats->image(static_cast<texture::Format>(image.view.format));
    format = color ? f.view : d.format;
    const VkImageUsageFlags attachment =
        color ? VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT : VK_IMAGE_USAGE_DEPTH_STENCIL_ATTACHMENT_BIT;
    if (!(d.usage & attachment) || !Formats::can_draw(static_cast<texture::Format>(image.view.format)) ||
        (color && !f.drawable))
        return fail("format {:#x} cannot be drawn to", image.view.format);
    ViewKey key;
    const bool array = layers > 1;
    key.type = d.type == VK_IMAGE_TYPE_1D ? (array ? VK_IMAGE_VIEW_TYPE_1D_ARRAY : VK_IMAGE_VIEW_TYPE_1D)
                                          : (array ? VK_IMAGE_VIEW_TYPE_2D_ARRAY : VK_IMAGE_VIEW_TYPE_2D);
    key.format = format;
    key.aspects = t.image.aspects();
    key.first_level = static_cast<u16>(std::min<u32>(image.view.first_level, d.levels - 1));
    key.levels = 1;
    const u32 planes = d.type == VK_IMAGE_TYPE_3D ? std::max(1u, d.extent.depth >> key.first_level) : d.layers;
    if (first_layer >= planes)
        return fail("render target layer {} of {}", first_layer, planes);
    key.first_layer = static_cast<u16>(first_layer);
    layers = std::min(layers, planes - first_layer); // a pass with more layers than its views crashes drivers
    key.layers = static_cast<u16>(layers);
    return s_.textures->view(t, key);
}

// Blocks drawn as texels, depth drawn as colour: an image of its own over the storage (REN-072, REN-073, REN-077).
stream::ImageDescription Executor::as_target(const stream::ImageDescription& image) const {
    using texture::Target;
    const auto target = static_cast<Target>(image.texture.target);
    const bool flat = target == Target::D1 || target == Target::D1Array;
    return s_.textures->as_seen(image, target == Target::D3 ? shader::Dimension::D3
                                       : flat               ? shader::Dimension::D1Array
                                                            : shader::Dimension::D2Array);
}

void Executor::resolve_targets() {
    if (targets_valid_ && !(g_->dirty & dirty::targets))
        return;
    leave_pass();
    targets_valid_ = true;
    targets_ = {};
    extent_ = {~0u, ~0u};
    layers_ = ~0u;
    samples_ = VK_SAMPLE_COUNT_1_BIT;
    guest_samples_ = 1;
    for (u32 i = 0; i < targets_.size(); ++i) {
        if (!(g_->targets_present >> i & 1))
            continue;
        const stream::ImageDescription image = as_target(g_->targets[i]);
        const auto texture = s_.textures->find(image.texture);
        if (!texture) {
            log::error_once("render target {}: {}", i, texture.error().message);
            continue;
        }
        Texture& t = **texture;
        const bool color = t.image.aspects() & VK_IMAGE_ASPECT_COLOR_BIT;
        if (color != (i != depth_slot)) {
            log::error_once("render target {}: format {:#x} is none for it", i, image.view.format);
            continue;
        }
        const VkSampleCountFlagBits samples = t.image.description().samples;
        if (layers_ != ~0u && samples != samples_) {
            log::error_once("render target {}: {} samples beside {}", i, static_cast<u32>(samples),
                            static_cast<u32>(samples_));
            continue;
        }
        u32 layers = std::max<u32>(1, image.view.layer_count);
        Target target{.texture = &t,
                      .view = VK_NULL_HANDLE,
                      .format = VK_FORMAT_UNDEFINED,
                      .channels = channels_of(image.view.format),
                      .image = image};
        const auto view = target_view(t, image, image.view.first_layer, layers, target.format);
        if (!view) {
            log::error_once("render target {}: {}", i, view.error().message);
            continue;
        }
        const VkExtent3D e = t.image.description().extent;
        const u32 level = image.view.first_level;
        target.view = *view;
        target.extent = {std::max(1u, e.width >> level), std::max(1u, e.height >> level)};
        target.layers = layers;
        targets_[i] = target;
        extent_.width = std::min(extent_.width, target.extent.width);
        extent_.height = std::min(extent_.height, target.extent.height);
        layers_ = std::min(layers_, layers);
        samples_ = samples;
        guest_samples_ = std::max<u32>(1, image.texture.samples);
    }
    // The same storage in two slots is written by the lower one only (REN-078).
    for (u32 i = 1; i < depth_slot; ++i)
        for (u32 lower = 0; lower < i; ++lower)
            if (targets_[i].texture && targets_[i].view == targets_[lower].view)
                targets_[i] = {};
    if (layers_ == ~0u) { // no attachments: as large as the viewport (REN-079)
        const stream::Viewport& v = g_->viewports[0];
        const auto side = [](f32 end) { // not a number: 1
            return end >= 1 ? static_cast<u32>(std::min(end, 16384.0f)) : 1u;
        };
        extent_ = {side(v.x + v.width), side(v.y + v.height)};
        layers_ = 1;
        samples_ = static_cast<VkSampleCountFlagBits>(std::max<u32>(1, g_->multisample.samples));
        guest_samples_ = static_cast<u32>(samples_);
    }
    g_->dirty |= dirty::viewports | dirty::scissors | dirty::blend | dirty::depth | dirty::stencil |
                 dirty::multisample | dirty::blend | dirty::programs;
}

void Executor::mark_target_written(u32 slot, u32 layers) {
    Texture& t = *targets_[slot].texture;
    const stream::ViewDescription& v = targets_[slot].image.view;
    s_.textures->mark_gpu_written(t, Textures::whole_level(t, v.first_level, v.first_layer, layers));
}

bool Executor::open_pass() {
    for (const Target& t : targets_) {
        if (!t.texture)
            continue;
        if (s_.textures->needs_refresh(*t.texture)) {
            if (s_.textures->is_recorded(*t.texture))
                leave_pass();
            if (auto done = s_.textures->refresh(*c_, *t.texture); !done)
                log::error_once("render target: {}", done.error().message);
        }
        s_.textures->mark_recorded(*t.texture);
    }
    if (c_->in_pass())
        return true;
    gpu::Pass pass;
    pass.area = {{0, 0}, extent_};
    pass.layers = layers_;
    pass.samples = samples_;
    for (u32 i = 0; i < depth_slot; ++i)
        if (targets_[i].texture) {
            pass.colors[i].view = targets_[i].view;
            pass.colors[i].format = targets_[i].format;
            pass.color_count = i + 1;
            mark_target_written(i, layers_);
        }
    if (const Target& d = targets_[depth_slot]; d.texture) {
        const VkImageAspectFlags aspects = d.texture->image.aspects();
        const gpu::Attachment attachment{.view = d.view, .format = d.format};
        if (aspects & VK_IMAGE_ASPECT_DEPTH_BIT)
            pass.depth = attachment;
        if (aspects & VK_IMAGE_ASPECT_STENCIL_BIT)
            pass.stencil = attachment;
        mark_target_written(depth_slot, layers_);
    }
    if (g_->counters)
        g_->counters->make_room(*c_);
    c_->begin_pass(pass);
    begin_counting();
    begin_condition();
    draws_in_pass_ = false;
    stores_in_pass_ = false;
    ++statistics_.passes;
    return true;
}

void Executor::order_within_pass() {
    // Without local read the rendering is ended and begun again inside: what lasts as long as it does too.
    const bool interrupted = !s_.device->has(gpu::Feature::LocalRead);
    if (interrupted) {
        end_condition();
        end_counting();
    }
    c_->in_pass_barrier();
    if (interrupted) {
        begin_counting();
        begin_condition();
    }
}

void Executor::leave_pass() {
    if (!c_)
        return;
    if (c_->in_pass()) {
        c_->end_capture();
        end_condition();
        end_counting();
        c_->end_pass();
        c_->barrier();
    }
    captured_.clear();
    barrier_asked_ = false;
    flush_uniform_updates();
}

} // namespace heaviside::replay
