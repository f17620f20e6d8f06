// Figures, not checks: run with --gtest_also_run_disabled_tests --gtest_filter='*Measure*'. One line each, so that they
// can be compared between devices and with docs/performance.md.
#include "draw_fixture.h"

#include <algorithm>
#include <chrono>
#include <functional>

namespace heaviside::gpu::test {
namespace {

using Clock = std::chrono::steady_clock;
f64 nanoseconds(Clock::duration d) {
    return std::chrono::duration<f64, std::nano>(d).count();
}

void report(const char* what, f64 value, const char* unit) {
    printf("measure: %-48s %12.1f %s\n", what, value, unit);
}

class Measure : public DrawPath {
protected:
    // CPU time of one recorded draw, the median of some rounds.
    f64 per_draw(const std::function<void(u32)>& change) {
        constexpr u32 draws = 2000, rounds = 7;
        std::vector<f64> times;
        for (u32 r = 0; r < rounds; ++r) {
            const auto start = Clock::now();
            for (u32 i = 0; i < draws; ++i) {
                change(i);
                if (commands->prepare_draw())
                    device->vk.vkCmdDraw(commands->handle(), 4, 1, 0, 0);
            }
            times.push_back(nanoseconds(Clock::now() - start) / draws);
        }
        std::sort(times.begin(), times.end());
        return times[rounds / 2];
    }
};

TEST_P(Measure, DISABLED_StartAndFirstDraw) {
    auto start = Clock::now();
    OPEN_TARGET();
    report("device, heap, library, queue, two shaders", nanoseconds(Clock::now() - start) / 1e6, "ms");
    start = Clock::now();
    commands->begin_pass(pass);
    draw(rectangle(-1, -1, 1, 1, 0, {1, 0, 0, 1}));
    finish(*commands);
    report("first draw, from recording to completion", nanoseconds(Clock::now() - start) / 1e6, "ms");
    // A new fragment shader: made, then drawn with.
    start = Clock::now();
    std::vector<u32> words(std::begin(plain_frag), std::end(plain_frag));
    words[2] = 4711;
    Shader* fresh = shader(shader::Stage::Fragment, words);
    report("create a fragment shader from SPIR-V", nanoseconds(Clock::now() - start) / 1e6, "ms");
    commands = &begin();
    const std::array<f32, 4> identity{0, 0, 1, 1};
    commands->set_bank(0, *queue->arena().push(std::as_bytes(std::span(identity))));
    commands->set_shader(shader::Stage::Vertex, vertex);
    commands->set_shader(shader::Stage::Fragment, fresh);
    commands->begin_pass(pass);
    draw(rectangle(-1, -1, 1, 1, 0, {1, 0, 0, 1}));
    finish(*commands);
    report("  and with its first draw completed", nanoseconds(Clock::now() - start) / 1e6, "ms");
    report("heap textures", device->capabilities.heap_textures, "IDs");
}

TEST_P(Measure, DISABLED_CpuTimeOfADraw) {
    OPEN_TARGET();
    commands->set(state);
    std::vector<BufferSlice> slices;
    const std::array<Vertex, 4> vertices = rectangle(-1, -1, -0.9f, -0.9f, 0, {1, 0, 0, 1});
    for (int i = 0; i < 64; ++i)
        slices.push_back(*queue->arena().push(std::as_bytes(std::span(vertices)), 256));
    commands->set_vertex_stream(0, slices[0]);
    commands->begin_pass(pass);
    report("draw, nothing changed", per_draw([](u32) {}), "ns");
    report("draw, one bank moved", per_draw([&](u32 i) { commands->set_bank(1, slices[i % 64]); }), "ns");
    report("draw, root constants changed", per_draw([&](u32 i) {
               shader::RootConstants root{};
               root.base_vertex = i;
               commands->set_root(root);
           }),
           "ns");
    report("draw, scissor changed", per_draw([&](u32 i) {
               state.scissors.scissors[0].extent.width = 1 + i % 16;
               commands->set(state.scissors);
           }),
           "ns");
    report("draw, vertex buffer changed", per_draw([&](u32 i) { commands->set_vertex_stream(0, slices[i % 64]); }),
           "ns");
    report("draw, whole state compared, scissor changed", per_draw([&](u32 i) {
               state.scissors.scissors[0].extent.width = 1 + i % 16;
               commands->set(state);
           }),
           "ns");
    report("draw, everything emitted again", per_draw([&](u32) { commands->forget(); }), "ns");
    const auto start = Clock::now();
    finish(*commands);
    report("submit and wait, all of these draws", nanoseconds(Clock::now() - start) / 1e6, "ms");
}

TEST_P(Measure, DISABLED_HeapWrites) {
    OPEN_TARGET();
    const auto start = Clock::now();
    for (u32 i = 0; i < 1000; ++i)
        ASSERT_TRUE(heap->write_texture(TextureId{i}, shader::Dimension::D2, target_view.get()));
    heap->flush();
    report("1,000 heap writes and their flush", nanoseconds(Clock::now() - start) / 1e3, "us");
    finish(*commands);
}

INSTANTIATE_TEST_SUITE_P(, Measure, ::testing::Values("", "shader_object"),
                         [](const auto& p) { return std::string(*p.param ? "Pipelines" : "ShaderObjects"); });

} // namespace
} // namespace heaviside::gpu::test
