#include "present/upscaler.h"

#include "base/log.h"
#include "present/blit.h"
#include "present/kernels/sharpen.comp.h"
#include "present/kernels/upscale.comp.h"

#include <algorithm>
#include <cmath>

namespace heaviside::present {

Upscaling effective_upscaling(int setting) {
    switch (setting) {
    case 1:
    case 2:
        return Upscaling::Edges;
    case 3:
        return Upscaling::Contrast;
    default:
        return Upscaling::None;
    }
}

VkExtent2D render_size(VkExtent2D output, Upscaling upscaling, f32 factor) {
    if (upscaling == Upscaling::None || !(factor > 1))
        return output;
    const auto side = [&](u32 pixels) {
        return std::max(1u, static_cast<u32>(std::lround(static_cast<f64>(pixels) / static_cast<f64>(factor))));
    };
    return {side(output.width), side(output.height)};
}

Result<Upscaler::Stage> Upscaler::make(VkExtent2D from, VkExtent2D to) const {
    Stage s{.from = from, .to = to};
    const auto image = [&](gpu::Image& out, VkExtent2D size) -> Result<void> {
        auto made = gpu::create_image(*device_,
                                      {.format = VK_FORMAT_R8G8B8A8_UNORM,
                                       .extent = {size.width, size.height, 1},
                                       .usage = VK_IMAGE_USAGE_TRANSFER_DST_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT},
                                      "upscaler");
        if (!made)
            return tl::unexpected(made.error());
        out = *std::move(made);
        return {};
    };
    const auto buffer = [&](gpu::Buffer& out, VkExtent2D size) -> Result<void> {
        auto made =
            gpu::create_buffer(*device_, u64{size.width} * size.height * 4, gpu::MemoryKind::Device, "upscaler");
        if (!made)
            return tl::unexpected(made.error());
        out = *std::move(made);
        return {};
    };
    for (const Result<void>& done : {image(s.content, from), image(s.result, to), buffer(s.rows, from),
                                     buffer(s.scaled, to), buffer(s.sharpened, to)})
        if (!done)
            return tl::unexpected(done.error());
    return s;
}

bool Upscaler::draw(gpu::Queue& queue, gpu::Commands& c, VkImage image, const VkRect2D& source, bool flip_y,
                    VkImage target, const VkRect2D& place) {
    const VkExtent2D from = source.extent, to = place.extent;
    const bool larger =
        to.width >= from.width && to.height >= from.height && (to.width > from.width || to.height > from.height);
    if (options_.mode == Upscaling::None || !larger || from.width == 0 || from.height == 0)
        return false;
    ++pictures_;
    const auto same = [](VkExtent2D a, VkExtent2D b) { return a.width == b.width && a.height == b.height; };
    if (!stage_ || !same(stage_->from, from) || !same(stage_->to, to)) {
        if (builds_ != 0 && pictures_ - built_at_ < pictures_per_build)
            return false;
        built_at_ = pictures_;
        ++builds_;
        auto made = make(from, to);
        if (stage_) {
            queue.retire(std::move(*stage_));
            stage_.reset();
        }
        if (!made) {
            log::error_once("upscaler: {}; pictures are bilinear", made.error().message);
            return false;
        }
        stage_.emplace(*std::move(made));
        c.initialise(stage_->content);
        c.initialise(stage_->result);
    }
    c.barrier(); // behind the picture before, which has the same memory
    c.prepare_transfer();
    blit(c, *device_, image, source, flip_y, stage_->content.get(), {{0, 0}, from});
    c.barrier();
    if (!run(queue, c))
        return false;
    blit(c, *device_, stage_->result.get(), {{0, 0}, to}, false, target, place);
    return true;
}

// From `content` to `result`.
bool Upscaler::run(gpu::Queue& queue, gpu::Commands& c) const {
    gpu::ShaderLibrary* const shaders = queue.shaders();
    if (!shaders)
        return false;
    const Stage& s = *stage_;
    const auto region = [](VkExtent2D size) {
        VkBufferImageCopy r{};
        r.imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1};
        r.imageExtent = {size.width, size.height, 1};
        return r;
    };
    const std::array<u32, 3> groups{(s.to.width + 7) / 8, (s.to.height + 7) / 8, 1};
    const VkBufferImageCopy out = region(s.from), in = region(s.to);
    c.prepare_transfer();
    device_->vk.vkCmdCopyImageToBuffer(c.handle(), s.content.get(), VK_IMAGE_LAYOUT_GENERAL, s.rows.whole().buffer, 1,
                                       &out);
    c.barrier();
    const struct { // as in upscale.comp
        u64 source, target;
        u32 source_size[2], target_size[2], by_edges;
    } scale{s.rows.whole().address,
            s.scaled.whole().address,
            {s.from.width, s.from.height},
            {s.to.width, s.to.height},
            options_.mode == Upscaling::Edges};
    if (!c.run_kernel(gpu::Commands::Place::Here, *shaders->request(shader::Stage::Compute, upscale_comp, "upscale"),
                      std::as_bytes(std::span(&scale, 1)), groups))
        return false;
    c.barrier();
    const gpu::Buffer* last = &s.scaled;
    if (options_.sharpness > 0) {
        const struct { // as in sharpen.comp
            u64 source, target;
            u32 size[2];
            f32 sharpness;
            u32 by_contrast;
        } sharpen{s.scaled.whole().address,
                  s.sharpened.whole().address,
                  {s.to.width, s.to.height},
                  std::min(options_.sharpness, 1.0f),
                  options_.mode == Upscaling::Contrast};
        if (!c.run_kernel(gpu::Commands::Place::Here,
                          *shaders->request(shader::Stage::Compute, sharpen_comp, "sharpen"),
                          std::as_bytes(std::span(&sharpen, 1)), groups))
            return false;
        c.barrier();
        last = &s.sharpened;
    }
    c.prepare_transfer();
    device_->vk.vkCmdCopyBufferToImage(c.handle(), last->whole().buffer, s.result.get(), VK_IMAGE_LAYOUT_GENERAL, 1,
                                       &in);
    c.barrier();
    c.prepare_transfer();
    return true;
}

} // namespace heaviside::present
