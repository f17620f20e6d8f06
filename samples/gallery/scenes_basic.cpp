// Clears, vertices, blending, indices and instances.
#include "scenes_table.h"
#include "shapes.h"

namespace gallery {

Texture& draw_clears(Context& context) {
    Texture& target = context.texture({.width = picture_size, .height = picture_size});
    Recorder recorder(context);
    recorder.begin();
    recorder.targets({&target});
    const auto clear = [&](int x, int y, int width, int height, Vec4 color, int mask) {
        nvnCommandBufferSetScissor(&recorder.buffer, x, y, width, height);
        nvnCommandBufferClearColor(&recorder.buffer, 0, color.data(), mask);
    };
    clear(0, 0, picture_size, picture_size, {0.05f, 0.07f, 0.12f, 1}, NVN_CLEAR_COLOR_MASK_RGBA);
    for (int i = 0; i < 8; ++i)
        clear(16 + i * 12, 16 + i * 12, 128, 128,
              {0.12f * static_cast<float>(i), 0.5f, 1.0f - 0.1f * static_cast<float>(i), 1}, NVN_CLEAR_COLOR_MASK_RGBA);
    // A clear that touches the red channel alone.
    clear(144, 16, 96, 96, {1, 0, 0, 0}, NVN_CLEAR_COLOR_MASK_R_BIT);
    submit_and_wait(context, recorder.end());
    return target;
}

Texture& draw_blending(Context& context) {
    Texture& target = context.texture({.width = picture_size, .height = picture_size});
    std::vector<ColorVertex> vertices;
    const auto add = [&](float x, float y, float size, Vec4 color) {
        const auto quad = rectangle(x, y, x + size, y + size, {color, color, color, color});
        vertices.insert(vertices.end(), quad.begin(), quad.end());
    };
    add(-0.8f, -0.4f, 1.0f, {1, 0.2f, 0.2f, 0.6f});
    add(-0.2f, -0.4f, 1.0f, {0.2f, 1, 0.2f, 0.6f});
    add(-0.5f, -0.9f, 1.0f, {0.2f, 0.4f, 1, 0.6f});
    const auto buffer = context.upload<ColorVertex>(vertices);

    Recorder recorder(context);
    recorder.begin();
    recorder.targets({&target});
    recorder.default_state();
    const Vec4 background{0.9f, 0.9f, 0.85f, 1};
    nvnCommandBufferClearColor(&recorder.buffer, 0, background.data(), NVN_CLEAR_COLOR_MASK_RGBA);
    NVNcolorState color;
    nvnColorStateSetDefaults(&color);
    nvnColorStateSetBlendEnable(&color, 0, true);
    nvnCommandBufferBindColorState(&recorder.buffer, &color);
    NVNblendState blend;
    nvnBlendStateSetDefaults(&blend);
    nvnBlendStateSetBlendTarget(&blend, 0);
    nvnBlendStateSetBlendFunc(&blend, NVN_BLEND_FUNC_SRC_ALPHA, NVN_BLEND_FUNC_ONE_MINUS_SRC_ALPHA, NVN_BLEND_FUNC_ONE,
                              NVN_BLEND_FUNC_ONE_MINUS_SRC_ALPHA);
    nvnBlendStateSetBlendEquation(&blend, NVN_BLEND_EQUATION_ADD, NVN_BLEND_EQUATION_ADD);
    nvnCommandBufferBindBlendState(&recorder.buffer, &blend);
    recorder.program(context.program({&shaders::color_vert, &shaders::color_frag}));
    recorder.vertices(buffer, vertices.size() * sizeof(ColorVertex), {NVN_FORMAT_RGBA32F, NVN_FORMAT_RGBA32F});
    recorder.draw(NVN_DRAW_PRIMITIVE_TRIANGLES, 0, static_cast<int>(vertices.size()));
    submit_and_wait(context, recorder.end());
    return target;
}

Texture& draw_indexed(Context& context) {
    Texture& target = context.texture({.width = picture_size, .height = picture_size});
    // A star: centre, five points, five notches, in a fan of 8-bit indices.
    std::vector<ColorVertex> vertices{{{0, 0, 0, 1}, {1, 1, 0.6f, 1}}};
    std::vector<uint8_t> indices;
    constexpr std::array<std::array<float, 2>, 10> outline{{{0.0f, 0.9f},
                                                            {0.2118f, 0.2915f},
                                                            {0.8560f, 0.2781f},
                                                            {0.3427f, -0.1113f},
                                                            {0.5290f, -0.7281f},
                                                            {0.0f, -0.3604f},
                                                            {-0.5290f, -0.7281f},
                                                            {-0.3427f, -0.1113f},
                                                            {-0.8560f, 0.2781f},
                                                            {-0.2118f, 0.2915f}}};
    for (size_t i = 0; i < outline.size(); ++i) {
        const Vec4 color = i % 2 ? Vec4{1, 0.5f, 0.1f, 1} : Vec4{1, 0.1f, 0.2f, 1};
        vertices.push_back({{outline[i][0], outline[i][1], 0, 1}, color});
        indices.insert(indices.end(), {0, static_cast<uint8_t>(1 + i), static_cast<uint8_t>(1 + (i + 1) % 10)});
    }
    const auto buffer = context.upload<ColorVertex>(vertices);
    const auto index_buffer = context.upload<uint8_t>(indices);

    Recorder recorder(context);
    recorder.begin();
    recorder.targets({&target});
    recorder.default_state();
    const Vec4 background{0.1f, 0.1f, 0.2f, 1};
    nvnCommandBufferClearColor(&recorder.buffer, 0, background.data(), NVN_CLEAR_COLOR_MASK_RGBA);
    recorder.program(context.program({&shaders::color_vert, &shaders::color_frag}));
    recorder.vertices(buffer, vertices.size() * sizeof(ColorVertex), {NVN_FORMAT_RGBA32F, NVN_FORMAT_RGBA32F});
    recorder.draw_indexed(NVN_DRAW_PRIMITIVE_TRIANGLES, NVN_INDEX_TYPE_UNSIGNED_BYTE, static_cast<int>(indices.size()),
                          index_buffer.gpu);
    submit_and_wait(context, recorder.end());
    return target;
}

Texture& draw_instances(Context& context) {
    Texture& target = context.texture({.width = picture_size, .height = picture_size});
    const std::array<std::array<float, 2>, 6> shape{
        {{0, 0.2f}, {-0.18f, -0.1f}, {0.18f, -0.1f}, {0, -0.2f}, {0.18f, 0.1f}, {-0.18f, 0.1f}}};
    std::array<float, 64> scales{};
    for (size_t i = 0; i < scales.size(); ++i)
        scales[i] = 0.25f + 0.3f * static_cast<float>(i % 9) / 8.0f;
    const auto shape_buffer = context.upload<std::array<float, 2>>(shape);
    const auto scale_buffer = context.upload<float>(scales);
    const std::array<float, 4> grid{0.25f, -0.875f, 0, 0};
    const auto grid_buffer = context.upload<float>(grid);

    Recorder recorder(context);
    recorder.begin();
    recorder.targets({&target});
    recorder.default_state();
    const Vec4 background{0, 0, 0, 1};
    nvnCommandBufferClearColor(&recorder.buffer, 0, background.data(), NVN_CLEAR_COLOR_MASK_RGBA);
    recorder.program(context.program({&shaders::instanced_vert, &shaders::color_frag}));
    std::array<NVNvertexAttribState, 2> attributes;
    nvnVertexAttribStateSetDefaults(&attributes[0]);
    nvnVertexAttribStateSetFormat(&attributes[0], NVN_FORMAT_RG32F, 0);
    nvnVertexAttribStateSetStreamIndex(&attributes[0], 0);
    nvnVertexAttribStateSetDefaults(&attributes[1]);
    nvnVertexAttribStateSetFormat(&attributes[1], NVN_FORMAT_R32F, 0);
    nvnVertexAttribStateSetStreamIndex(&attributes[1], 1);
    std::array<NVNvertexStreamState, 2> streams;
    nvnVertexStreamStateSetDefaults(&streams[0]);
    nvnVertexStreamStateSetStride(&streams[0], 8);
    nvnVertexStreamStateSetDefaults(&streams[1]);
    nvnVertexStreamStateSetStride(&streams[1], 4);
    nvnVertexStreamStateSetDivisor(&streams[1], 1);
    nvnCommandBufferBindVertexAttribState(&recorder.buffer, 2, attributes.data());
    nvnCommandBufferBindVertexStreamState(&recorder.buffer, 2, streams.data());
    nvnCommandBufferBindVertexBuffer(&recorder.buffer, 0, shape_buffer.gpu, sizeof(shape));
    nvnCommandBufferBindVertexBuffer(&recorder.buffer, 1, scale_buffer.gpu, sizeof(scales));
    recorder.uniform(NVN_SHADER_STAGE_VERTEX, grid_buffer, sizeof(grid));
    recorder.draw_instanced(NVN_DRAW_PRIMITIVE_TRIANGLES, 0, 6, 64);
    submit_and_wait(context, recorder.end());
    return target;
}

} // namespace gallery
