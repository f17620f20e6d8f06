// Makes pictures larger than a bilinear filter would show them, on the bytes as they are stored (gamma encoded).
#pragma once

#include "gpu/commands.h"
#include "gpu/memory.h"

#include <optional>

namespace heaviside::present {

enum class Upscaling : u8 {
    None = 0,     // bilinear
    Edges = 2,    // along edges, then a sharpening that rings nowhere
    Contrast = 3, // Catmull-Rom, then a sharpening that spares what has contrast already
};

// What a value of the setting comes to: 1 is a platform's own, which Vulkan does not have; an unknown one is bilinear.
[[nodiscard]] Upscaling effective_upscaling(int setting);

// The size to draw at for an output, which the upscaler then makes that large. Never 0.
[[nodiscard]] VkExtent2D render_size(VkExtent2D output, Upscaling upscaling, f32 factor = 1.5f);

struct UpscalerOptions {
    Upscaling mode = Upscaling::None;
    f32 sharpness = 0.5f; // 0: none, 1: the most
};

// One for each queue and kind of picture. One thread.
class Upscaler {
public:
    Upscaler(const gpu::Device& device, const UpscalerOptions& options) : device_(&device), options_(options) {}

    // Records the part of `image` over `place` of `target`, as blit(). False, with nothing recorded, where that is to
    // be bilinear: switched off, nothing to enlarge, or a change of size less than `pictures_per_build` pictures after
    // the one before.
    [[nodiscard]] bool draw(gpu::Queue& queue, gpu::Commands& commands, VkImage image, const VkRect2D& source,
                            bool flip_y, VkImage target, const VkRect2D& place);

    static constexpr u64 pictures_per_build = 30;
    [[nodiscard]] u64 builds() const { return builds_; }

private:
    struct Stage { // for one pair of sizes
        VkExtent2D from{}, to{};
        gpu::Image content, result;
        gpu::Buffer rows, scaled, sharpened;
    };
    Result<Stage> make(VkExtent2D from, VkExtent2D to) const;
    bool run(gpu::Queue& queue, gpu::Commands& commands) const;

    const gpu::Device* device_;
    UpscalerOptions options_;
    std::optional<Stage> stage_;
    u64 pictures_ = 0, built_at_ = 0, builds_ = 0;
};

} // namespace heaviside::present
