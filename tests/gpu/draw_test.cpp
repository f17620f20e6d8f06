// Draws through shader objects and through pipelines give the same pixels, and only what changed is emitted.
#include "draw_fixture.h"

#include "tests/gpu/shaders/draw.frag.h"
#include "tests/gpu/shaders/feedback.frag.h"
#include "tests/gpu/shaders/swap.geom.h"

#include <algorithm>

namespace heaviside::gpu::test {
namespace {

TEST_P(DrawPath, FillsTheHalfThatItCovers) {
    OPEN_TARGET();
    commands->begin_pass(pass);
    draw(rectangle(-1, -1, 0, 1, 0, {1, 0, 0, 1}));
    const Pixels p = read();
    EXPECT_EQ(p[at(0, 0)], red);
    EXPECT_EQ(p[at(7, 15)], red);
    EXPECT_EQ(p[at(8, 0)], black);
}

TEST_P(DrawPath, HonoursDepthScissorCullAndWriteMask) {
    OPEN_TARGET();
    commands->begin_pass(pass);
    state.depth = {VK_TRUE, VK_TRUE, VK_COMPARE_OP_LESS, VK_FALSE, 0, 1};
    draw(rectangle(-1, -1, 1, 0, 0.25f, {1, 0, 0, 1})); // near, upper half
    state.scissors.scissors[0] = {{4, 0}, {12, 16}};
    draw(rectangle(-1, -1, 1, 1, 0.5f, {0, 1, 0, 1})); // far, all but the left four columns
    state.scissors.scissors[0] = {{0, 0}, {size, size}};
    state.raster.cull = VK_CULL_MODE_FRONT_AND_BACK;
    draw(rectangle(-1, -1, 1, 1, 0, {1, 1, 1, 1}));
    state.raster.cull = VK_CULL_MODE_NONE;
    state.blend.targets[0].write_mask = VK_COLOR_COMPONENT_B_BIT;
    state.depth.test = VK_FALSE;
    state.scissors.scissors[0] = {{15, 15}, {1, 1}};
    draw(rectangle(-1, -1, 1, 1, 0, {1, 1, 1, 1}));
    const Pixels p = read();
    EXPECT_EQ(p[at(8, 0)], red) << "the far rectangle is behind";
    EXPECT_EQ(p[at(8, 12)], green);
    EXPECT_EQ(p[at(3, 12)], black) << "outside the scissor";
    EXPECT_EQ(p[at(15, 15)], green | blue) << "only blue is written";
}

TEST_P(DrawPath, BlendsWithTheFactorsGiven) {
    OPEN_TARGET();
    commands->begin_pass(pass);
    draw(rectangle(-1, -1, 1, 1, 0, {1, 0, 0, 1}));
    auto& t = state.blend.targets[0];
    t.enable = VK_TRUE;
    t.equation = {VK_BLEND_FACTOR_SRC_ALPHA, VK_BLEND_FACTOR_ONE_MINUS_SRC_ALPHA,
                  VK_BLEND_OP_ADD,           VK_BLEND_FACTOR_ONE,
                  VK_BLEND_FACTOR_ZERO,      VK_BLEND_OP_ADD};
    draw(rectangle(-1, -1, 0, 1, 0, {0, 0, 1, 0.2f}));
    t.equation.srcColorBlendFactor = VK_BLEND_FACTOR_CONSTANT_COLOR;
    t.equation.dstColorBlendFactor = VK_BLEND_FACTOR_ZERO;
    state.blend_constants.color = {0, 1, 0, 0};
    draw(rectangle(0, -1, 1, 1, 0, {1, 1, 1, 1}));
    const Pixels p = read();
    EXPECT_EQ(p[at(0, 0)] & 0xff, 204u) << "0.8 of red stays";
    EXPECT_EQ((p[at(0, 0)] >> 16) & 0xff, 51u) << "0.2 of blue comes";
    EXPECT_EQ(p[at(15, 0)], green);
}

TEST_P(DrawPath, SamplesATextureThroughTheHandleInItsBank) {
    OPEN_TARGET();
    ImageDescription d;
    d.extent = {1, 1, 1};
    d.usage = VK_IMAGE_USAGE_SAMPLED_BIT | VK_IMAGE_USAGE_TRANSFER_DST_BIT;
    const Image texture = image(d);
    const auto texture_view = view(texture, {});
    commands->initialise(texture);
    const VkClearColorValue color{{0, 0, 1, 1}};
    const VkImageSubresourceRange all{VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1};
    device->vk.vkCmdClearColorImage(commands->prologue(), texture.get(), VK_IMAGE_LAYOUT_GENERAL, &color, 1, &all);
    ASSERT_TRUE(heap->write_texture(TextureId{12}, shader::Dimension::D2, texture_view.get()));
    const std::array<u32, 4> handles{12u | 3u << 20, 0, 0, 0};
    commands->set_bank(10, *queue->arena().push(std::as_bytes(std::span(handles))));
    commands->set_shader(shader::Stage::Fragment, shader(shader::Stage::Fragment, draw_frag));
    commands->begin_pass(pass);
    draw(rectangle(-1, -1, 1, 1, 0, {1, 1, 1, 1}));
    // Another texture for the next draw is another word in the bank, nothing else.
    const std::array<u32, 4> absent{13u, 0, 0, 0};
    commands->set_bank(10, *queue->arena().push(std::as_bytes(std::span(absent))));
    draw(rectangle(-1, -1, 0, 1, 0, {1, 1, 1, 1}));
    const Pixels p = read();
    EXPECT_EQ(p[at(15, 15)], blue);
    EXPECT_EQ(p[at(0, 0)] & 0xffffff, 0u) << "an absent texture reads zero";
}

TEST_P(DrawPath, RunsAGeometryShaderAndDropsItAgain) {
    OPEN_TARGET();
    if (!device->has(Feature::Geometry)) {
        finish(*commands);
        GTEST_SKIP() << "the device has no geometry stage";
    }
    commands->begin_pass(pass);
    commands->set_shader(shader::Stage::Geometry, shader(shader::Stage::Geometry, swap_geom));
    draw(rectangle(-1, -1, 0, 1, 0, {1, 0, 0, 1}));
    commands->set_shader(shader::Stage::Geometry, nullptr);
    draw(rectangle(0, -1, 1, 1, 0, {1, 0, 0, 1}));
    const Pixels p = read();
    EXPECT_EQ(p[at(0, 0)], blue) << "the geometry stage swaps red and blue";
    EXPECT_EQ(p[at(15, 0)], red);
}

TEST_P(DrawPath, AMovedUniformBufferNeitherEndsThePassNorTouchesEarlierDraws) {
    OPEN_TARGET();
    commands->begin_pass(pass);
    draw(rectangle(-0.5f, -1, 0, 1, 0, {1, 0, 0, 1}));
    const std::array<f32, 4> moved{0.5f, 0, 1, 1};
    commands->set_bank(0, *queue->arena().push(std::as_bytes(std::span(moved))));
    draw(rectangle(0, -1, 0.5f, 1, 0, {0, 1, 0, 1}));
    EXPECT_EQ(commands->counters().passes, 1u);
    const Pixels p = read();
    EXPECT_EQ(p[at(5, 5)], red);
    EXPECT_EQ(p[at(13, 5)], green);
    EXPECT_EQ(p[at(9, 5)], black);
}

TEST_P(DrawPath, EmitsNothingForADrawThatChangesNothing) {
    OPEN_TARGET();
    commands->begin_pass(pass);
    draw(rectangle(-1, -1, 1, 1, 0, {1, 0, 0, 1}));
    const u64 before = commands->counters().state_commands;
    commands->set(state);
    ASSERT_TRUE(commands->prepare_draw());
    EXPECT_EQ(commands->counters().state_commands, before);
    state.scissors.scissors[0].extent.width = 3;
    commands->set(state);
    ASSERT_TRUE(commands->prepare_draw());
    EXPECT_EQ(commands->counters().state_commands, before + 1) << "the scissors alone";
    finish(*commands);
}

TEST_P(DrawPath, StateWithoutEffectMakesNoPipeline) { // SHD-167
    OPEN_TARGET("shader_object,extended_dynamic_state3");
    commands->begin_pass(pass);
    const auto all = rectangle(-1, -1, 1, 1, 0, {1, 0, 0, 1});
    const auto pipelines = [&] {
        draw(all);
        return shaders->statistics().pipelines;
    };
    EXPECT_EQ(pipelines(), 1u);
    state.blend.targets[0].equation.srcColorBlendFactor = VK_BLEND_FACTOR_DST_COLOR; // it does not blend
    state.blend.targets[0].equation.alphaBlendOp = VK_BLEND_OP_MAX;
    EXPECT_EQ(pipelines(), 1u);
    state.blend.targets[3].enable = VK_TRUE; // there is none
    state.blend.targets[3].write_mask = 0;
    EXPECT_EQ(pipelines(), 1u);
    state.blend.logic_op = VK_LOGIC_OP_AND; // off
    EXPECT_EQ(pipelines(), 1u);
    state.blend.targets[0].write_mask = VK_COLOR_COMPONENT_R_BIT;
    EXPECT_EQ(pipelines(), 2u);
    state.blend.targets[0].enable = VK_TRUE;
    EXPECT_EQ(pipelines(), 3u);
    finish(*commands);
}

TEST_P(DrawPath, ReadsItsOwnPixelBehindAnInPassBarrier) {
    OPEN_TARGET();
    if (!device->has(Feature::AttachmentFeedback)) {
        finish(*commands);
        GTEST_SKIP() << "the device has no attachment feedback loops";
    }
    ASSERT_TRUE(heap->write_texture(TextureId{1}, shader::Dimension::D2, target_view.get()));
    const std::array<u32, 4> handles{1, 0, 0, 0};
    commands->set_bank(10, *queue->arena().push(std::as_bytes(std::span(handles))));
    pass.feedback = VK_IMAGE_ASPECT_COLOR_BIT;
    commands->begin_pass(pass);
    draw(rectangle(-1, -1, 1, 1, 0, {1, 0, 0, 1}));
    commands->set_shader(shader::Stage::Fragment, shader(shader::Stage::Fragment, feedback_frag));
    commands->in_pass_barrier();
    draw(rectangle(-1, -1, 1, 1, 0, {0, 1, 0, 0}));
    commands->in_pass_barrier();
    draw(rectangle(-1, -1, 1, 1, 0, {0, 0, 1, 0}));
    const Pixels p = read();
    EXPECT_EQ(p[at(0, 0)], white);
    EXPECT_EQ(p[at(15, 15)], white);
}

TEST_P(DrawPath, SkipsADrawWithoutAVertexShaderOrPass) {
    OPEN_TARGET();
    EXPECT_FALSE(commands->prepare_draw());
    commands->set_shader(shader::Stage::Vertex, nullptr);
    commands->begin_pass(pass);
    EXPECT_FALSE(commands->prepare_draw());
    finish(*commands);
    (void)errors.take();
}

INSTANTIATE_TEST_SUITE_P(, DrawPath,
                         ::testing::Values("", "shader_object", "shader_object,extended_dynamic_state3",
                                           "shader_object,extended_dynamic_state3,vertex_input_dynamic_state",
                                           "local_read", "null_descriptor", "maintenance5,robustness2"),
                         [](const auto& p) {
                             std::string n = *p.param ? std::string("without_") + p.param : "everything";
                             std::replace(n.begin(), n.end(), ',', '_');
                             return n;
                         });

} // namespace
} // namespace heaviside::gpu::test
