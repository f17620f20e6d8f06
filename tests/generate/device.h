// Generated runs, translated and executed on the device.
#pragma once

#include "tests/generate/run.h"
#include "tests/isa/bench.h"

namespace heaviside::generate {

class DeviceRunner : public test::Bench {
public:
    DeviceRunner(); // `error` says what is missing
    // What went wrong, or what the run left behind.
    [[nodiscard]] Result<Outcome> run(const Run& run);

private:
    Result<void> make_textures();
    Result<void> make_texture(u32 id, const interpreter::Texture& texture);
    Result<void> upload();
    void copy_images(gpu::Commands& c, bool back);
    [[nodiscard]] Result<Outcome> dispatch(const Run& run);
    [[nodiscard]] Result<Outcome> draw(const Run& run);
    void read_images(const Run& run, Outcome& outcome);

    Images images_;
    std::vector<gpu::Image> textures_; // by ID
    std::vector<gpu::Owned<VkImageView>> views_;
    gpu::Buffer image_words_; // of all stages' images, there and back
    gpu::Buffer image_start_;
    std::array<gpu::Image, layout::target_count> targets_;
    std::array<gpu::Owned<VkImageView>, layout::target_count> target_views_;
    gpu::Buffer pixels_;
};

} // namespace heaviside::generate
