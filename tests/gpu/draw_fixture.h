// A small colour and depth target and draws of coloured rectangles into it.
#pragma once

#include "device_fixture.h"

#include "tests/gpu/shaders/draw.vert.h"
#include "tests/gpu/shaders/plain.frag.h"

#include <cstring>

namespace heaviside::gpu::test {

using Pixels = std::vector<u32>; // R8G8B8A8, red in the low byte
inline constexpr u32 size = 16;
inline constexpr u32 red = 0xff0000ff, green = 0xff00ff00, blue = 0xffff0000, white = 0xffffffff, black = 0xff000000;

struct Vertex {
    f32 x, y, z, w, r, g, b, a;
};
// A rectangle as a triangle strip, in clip space.
inline std::array<Vertex, 4> rectangle(f32 left, f32 top, f32 right, f32 bottom, f32 z, std::array<f32, 4> c) {
    return {{{left, top, z, 1, c[0], c[1], c[2], c[3]},
             {right, top, z, 1, c[0], c[1], c[2], c[3]},
             {left, bottom, z, 1, c[0], c[1], c[2], c[3]},
             {right, bottom, z, 1, c[0], c[1], c[2], c[3]}}};
}

// The parameter names features to do without.
class DrawPath : public DeviceTest, public ::testing::WithParamInterface<const char*> {
protected:
    void open_target(const std::string& more = {}) {
        open(std::string(GetParam()) + "," + more);
        if (IsSkipped() || HasFatalFailure())
            return;
        ImageDescription d;
        d.extent = {size, size, 1};
        d.usage = VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT | VK_IMAGE_USAGE_SAMPLED_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT;
        if (device->has(Feature::AttachmentFeedback))
            d.usage |= VK_IMAGE_USAGE_ATTACHMENT_FEEDBACK_LOOP_BIT_EXT;
        target = image(d);
        target_view = view(target, {});
        d.format = VK_FORMAT_D32_SFLOAT;
        d.usage = VK_IMAGE_USAGE_DEPTH_STENCIL_ATTACHMENT_BIT;
        depth = image(d);
        depth_view = view(depth, {});
        commands = &begin();
        commands->initialise(target);
        commands->initialise(depth);
        vertex = shader(shader::Stage::Vertex, draw_vert);
        plain = shader(shader::Stage::Fragment, plain_frag);
        pass.area = {{0, 0}, {size, size}};
        pass.color_count = 1;
        pass.colors[0].view = target_view.get();
        pass.colors[0].format = VK_FORMAT_R8G8B8A8_UNORM;
        pass.colors[0].load = VK_ATTACHMENT_LOAD_OP_CLEAR;
        pass.colors[0].clear.color = {{0, 0, 0, 1}};
        pass.depth.view = depth_view.get();
        pass.depth.format = VK_FORMAT_D32_SFLOAT;
        pass.depth.load = VK_ATTACHMENT_LOAD_OP_CLEAR;
        pass.depth.clear.depthStencil = {1, 0};
        const std::array<f32, 4> identity{0, 0, 1, 1};
        commands->set_bank(0, *queue->arena().push(std::as_bytes(std::span(identity))));
        state.vertex_input.attribute_count = 2;
        state.vertex_input.attributes[0] = {0, 0, VK_FORMAT_R32G32B32A32_SFLOAT, 0};
        state.vertex_input.attributes[1] = {1, 0, VK_FORMAT_R32G32B32A32_SFLOAT, 16};
        state.vertex_input.stream_count = 1;
        state.vertex_input.streams[0] = {sizeof(Vertex), 0};
        state.assembly.topology = VK_PRIMITIVE_TOPOLOGY_TRIANGLE_STRIP;
        state.viewports.viewports[0] = {0, 0, size, size, 0, 1};
        state.scissors.scissors[0] = {{0, 0}, {size, size}};
        commands->set_shader(shader::Stage::Vertex, vertex);
        commands->set_shader(shader::Stage::Fragment, plain);
    }
    void draw(const std::array<Vertex, 4>& vertices) {
        commands->set(state);
        commands->set_vertex_stream(0, *queue->arena().push(std::as_bytes(std::span(vertices)), 16));
        ASSERT_TRUE(commands->prepare_draw());
        device->vk.vkCmdDraw(commands->handle(), 4, 1, 0, 0);
    }
    Pixels read() {
        Buffer result = buffer(size * size * 4, MemoryKind::Readback);
        commands->barrier();
        commands->prepare_transfer();
        VkBufferImageCopy copy{};
        copy.imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1};
        copy.imageExtent = {size, size, 1};
        device->vk.vkCmdCopyImageToBuffer(commands->handle(), target.get(), layout_of(*device, ImageUse::CopySource),
                                          result.whole().buffer, 1, &copy);
        commands->barrier({VK_PIPELINE_STAGE_2_COPY_BIT, VK_ACCESS_2_TRANSFER_WRITE_BIT, VK_PIPELINE_STAGE_2_HOST_BIT,
                           VK_ACCESS_2_HOST_READ_BIT});
        finish(*commands);
        invalidate(*device, result);
        Pixels pixels(size * size);
        std::memcpy(pixels.data(), result.whole().mapped, pixels.size() * 4);
        return pixels;
    }
    void TearDown() override {
        target_view.reset();
        depth_view.reset();
        target = {};
        depth = {};
        DeviceTest::TearDown();
    }

    Commands* commands = nullptr;
    Image target, depth;
    Owned<VkImageView> target_view, depth_view;
    Pass pass;
    DrawState state;
    Shader *vertex = nullptr, *plain = nullptr;
};
#define OPEN_TARGET(...)                                                                                               \
    open_target(__VA_ARGS__);                                                                                          \
    if (IsSkipped() || HasFatalFailure())                                                                              \
    return

inline constexpr u32 at(u32 x, u32 y) {
    return y * size + x;
}

} // namespace heaviside::gpu::test
