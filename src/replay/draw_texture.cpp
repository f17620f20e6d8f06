// DrawTexture: a texture's rectangle into every bound colour target, each in a pass of its own, like a copy that
// filters and blends (ledger REN-164, REN-166).
#include "replay/executor.h"

#include "base/log.h"
#include "replay/kernels/draw_texture.frag.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace heaviside::replay {
namespace {

using program::Stage;

// The pixels whose centres lie between the corners, in either order.
VkRect2D covered(f32 x0, f32 y0, f32 x1, f32 y1, VkExtent2D extent) {
    const auto side = [](f32 a, f32 b, u32 size, i32& first, u32& count) {
        const f32 low = std::clamp(std::min(a, b), 0.0f, static_cast<f32>(size));
        const f32 high = std::clamp(std::max(a, b), 0.0f, static_cast<f32>(size));
        first = static_cast<i32>(std::ceil(low - 0.5f));
        const i32 end = static_cast<i32>(std::ceil(high - 0.5f));
        count = static_cast<u32>(std::max(0, end - first));
    };
    VkRect2D r{};
    side(x0, x1, extent.width, r.offset.x, r.extent.width);
    side(y0, y1, extent.height, r.offset.y, r.extent.height);
    return r;
}

VkRect2D common(const VkRect2D& a, const VkRect2D& b) {
    const i32 x = std::max(a.offset.x, b.offset.x), y = std::max(a.offset.y, b.offset.y);
    const i64 right = std::min(i64{a.offset.x} + a.extent.width, i64{b.offset.x} + b.extent.width);
    const i64 bottom = std::min(i64{a.offset.y} + a.extent.height, i64{b.offset.y} + b.extent.height);
    return {{x, y}, {static_cast<u32>(std::max<i64>(0, right - x)), static_cast<u32>(std::max<i64>(0, bottom - y))}};
}

} // namespace

void Executor::on(const stream::DrawTexture& r, const Record&) {
    const u32 texture = r.handle & 0xfffff, sampler = r.handle >> 20;
    const f32 width = r.target[2] - r.target[0], height = r.target[3] - r.target[1];
    if (!g_->render_enable || !std::isnormal(width) || !std::isnormal(height) || !commands() || !select_pools())
        return;
    resolve_targets();
    leave_pass();
    if (s_.pools->numeric_class(texture) != shader::NumericClass::Float) {
        log::error_once("DrawTexture: texture ID {} holds integers", texture);
        return;
    }
    const Pools::Use source = s_.pools->use(texture, shader::Dimension::D2);
    if (!source.texture) {
        log::error_once("DrawTexture: there is no texture with ID {}", texture);
        return;
    }
    if (auto brought = s_.textures->refresh(*c_, *source.texture); !brought) {
        log::error_once("DrawTexture: {}", brought.error().message);
        return;
    }
    s_.textures->mark_recorded(*source.texture);
    const VkRect2D rect =
        common(covered(r.target[0], r.target[1], r.target[2], r.target[3], extent_), scissor(g_->scissors[0], extent_));
    if (rect.extent.width == 0 || rect.extent.height == 0)
        return;
    if (!draw_texture_)
        draw_texture_ = s_.library->request(Stage::Fragment, draw_texture_frag, "draw texture");
    const f32 words[] = {r.target[0], r.target[1], 1 / width, 1 / height};
    const f32 texels[] = {r.source[0], r.source[1], r.source[2] - r.source[0], r.source[3] - r.source[1]};
    const u32 ids[] = {0, texture, sampler};
    shader::RootConstants root{};
    auto* bytes = reinterpret_cast<std::byte*>(&root);
    std::memcpy(bytes, words, sizeof words);
    std::memcpy(bytes + 16, ids, sizeof ids);
    std::memcpy(bytes + 28, texels, sizeof texels);
    const gpu::Blend blends = blend(*g_, 0xff);
    for (u32 i = 0; i < stream::color_target_count; ++i) {
        const Target target = targets_[i];
        if (!target.texture)
            continue;
        const auto format = static_cast<texture::Format>(g_->targets[i].view.format);
        if (Formats::numeric_class(format) != shader::NumericClass::Float || target.texture == source.texture) {
            log::error_once("DrawTexture: target {} {}", i,
                            target.texture == source.texture ? "is the texture" : "holds integers");
            continue;
        }
        if (auto brought = s_.textures->refresh(*c_, *target.texture); !brought)
            log::error_once("DrawTexture: {}", brought.error().message);
        mark_target_written(i, layers_);
        s_.textures->mark_recorded(*target.texture);
        gpu::Pass pass;
        pass.area = {{0, 0}, extent_};
        pass.samples = samples_;
        pass.color_count = 1;
        pass.colors[0].view = target.view;
        pass.colors[0].format = target.format;
        c_->begin_pass(pass);
        set_fill_state(extent_, rect, samples_);
        gpu::Blend one;
        one.targets[0] = blends.targets[i];
        one.logic = blends.logic;
        one.logic_op = blends.logic_op;
        c_->set(one);
        c_->set(gpu::BlendConstants{g_->blend_color});
        c_->set_shader(Stage::Fragment, draw_texture_);
        c_->set_root(root);
        if (c_->prepare_draw())
            s_.device->vk.vkCmdDraw(c_->handle(), 3, 1, 0, 0);
        c_->end_pass();
        c_->barrier();
    }
    ++statistics_.draws;
}

} // namespace heaviside::replay
