// Everything that is sampled: mip maps, cube maps, images that compute wrote, rendered textures, several targets.
#include "scenes_table.h"
#include "shapes.h"

namespace gallery {
namespace {

constexpr std::array<Vec4, 4> unit_uv{Vec4{0, 1, 0, 0}, Vec4{1, 1, 0, 0}, Vec4{0, 0, 0, 0}, Vec4{1, 0, 0, 0}};

// Draws `vertices` (position, second attribute) through `rows` with one texture.
void draw_textured(Context& context, Recorder& recorder, std::span<const ColorVertex> vertices, const Matrix& rows,
                   NVNprogram& program, const Texture& texture) {
    const auto buffer = context.upload<ColorVertex>(vertices);
    const auto uniforms = context.upload<Vec4>(rows);
    recorder.program(program);
    recorder.texture(0, texture);
    recorder.uniform(NVN_SHADER_STAGE_VERTEX, uniforms, sizeof(Matrix));
    recorder.vertices(buffer, vertices.size_bytes(), {NVN_FORMAT_RGBA32F, NVN_FORMAT_RGBA32F});
    recorder.draw(NVN_DRAW_PRIMITIVE_TRIANGLES, 0, static_cast<int>(vertices.size()));
}

void clear(Recorder& recorder, Vec4 color, int target = 0) {
    nvnCommandBufferClearColor(&recorder.buffer, target, color.data(), NVN_CLEAR_COLOR_MASK_RGBA);
}

} // namespace

Texture& draw_mipmaps(Context& context) {
    Texture& target = context.texture({.width = picture_size, .height = picture_size});
    // Every level has its own colours, so that the level chosen at a distance is seen.
    Texture& floor = context.texture({.width = 128, .height = 128, .levels = 8});
    constexpr std::array<std::array<uint8_t, 3>, 8> light{{{255, 255, 255},
                                                           {255, 90, 90},
                                                           {255, 200, 80},
                                                           {250, 250, 90},
                                                           {90, 240, 120},
                                                           {90, 200, 255},
                                                           {130, 120, 255},
                                                           {240, 120, 240}}};
    for (int level = 0; level < 8; ++level) {
        const int size = 128 >> level;
        context.write(
            floor, level, 0,
            checkerboard(size, size >= 8 ? size / 8 : 1, {40, 40, 60}, light[static_cast<size_t>(level)]).data());
    }
    const auto vertices = std::array<ColorVertex, 6>{{{{-6, -1, -1, 1}, {0, 12, 0, 0}},
                                                      {{6, -1, -1, 1}, {6, 12, 0, 0}},
                                                      {{-6, -1, -30, 1}, {0, 0, 0, 0}},
                                                      {{-6, -1, -30, 1}, {0, 0, 0, 0}},
                                                      {{6, -1, -1, 1}, {6, 12, 0, 0}},
                                                      {{6, -1, -30, 1}, {6, 0, 0, 0}}}};
    Recorder recorder(context);
    recorder.begin();
    recorder.targets({&target});
    recorder.default_state();
    clear(recorder, {0.5f, 0.7f, 0.9f, 1});
    draw_textured(context, recorder, vertices, perspective(1.0f, 1.0f, 0.1f, 50.0f),
                  context.program({&shaders::transform_vert, &shaders::texture_frag}), floor);
    submit_and_wait(context, recorder.end());
    return target;
}

Texture& draw_cube_map(Context& context) {
    Texture& target = context.texture({.width = picture_size, .height = picture_size});
    Texture& sky = context.texture({.target = NVN_TEXTURE_TARGET_CUBEMAP, .width = 32, .height = 32});
    constexpr std::array<std::array<uint8_t, 3>, 6> faces{
        {{230, 80, 60}, {60, 190, 90}, {90, 150, 250}, {120, 90, 60}, {240, 210, 90}, {190, 90, 220}}};
    for (int face = 0; face < 6; ++face) {
        const auto& light = faces[static_cast<size_t>(face)];
        const std::array<uint8_t, 3> dark{static_cast<uint8_t>(light[0] / 2), static_cast<uint8_t>(light[1] / 2),
                                          static_cast<uint8_t>(light[2] / 2)};
        context.write(sky, 0, face, checkerboard(32, 8, dark, light).data());
    }
    // A torus textured by the direction of its normals, before the sky itself.
    std::vector<ColorVertex> vertices = rectangle(
        -1, -1, 1, 1,
        {Vec4{-1.4f, -1.2f, -1, 0}, Vec4{1.0f, -1.2f, -1.8f, 0}, Vec4{-1.4f, 1.2f, -1, 0}, Vec4{1.0f, 1.2f, -1.8f, 0}});
    const Matrix model = rotation_x(0.9f);
    const Matrix clip = multiply(perspective(0.8f, 1.0f, 0.5f, 20.0f), multiply(translation(0, 0, -4.5f), model));
    std::vector<ColorVertex> ring;
    for (const MeshVertex& vertex : torus(1.0f, 0.4f, 40, 20))
        ring.push_back({{vertex.position[0], vertex.position[1], vertex.position[2], 1},
                        {vertex.normal[0], vertex.normal[1], vertex.normal[2], 0}});
    Texture& depth = context.texture({.format = NVN_FORMAT_DEPTH32F,
                                      .width = picture_size,
                                      .height = picture_size,
                                      .flags = NVN_TEXTURE_FLAGS_COMPRESSIBLE});
    NVNprogram& program = context.program({&shaders::transform_vert, &shaders::cube_frag});
    Recorder recorder(context);
    recorder.begin();
    recorder.targets({&target}, &depth);
    recorder.default_state();
    clear(recorder, {0, 0, 0, 1});
    nvnCommandBufferClearDepthStencil(&recorder.buffer, 1.0f, true, 0, 0);
    draw_textured(context, recorder, vertices, identity, program, sky);
    recorder.depth_test(true);
    draw_textured(context, recorder, ring, clip, program, sky);
    submit_and_wait(context, recorder.end());
    return target;
}

Texture& draw_compute(Context& context) {
    Texture& target = context.texture({.width = picture_size, .height = picture_size});
    Texture& plasma = context.texture({.width = 64, .height = 64, .image = true});
    const std::array<float, 4> parameters{0.17f, 1.3f, 0, 0};
    const auto uniforms = context.upload<float>(parameters);
    Recorder recorder(context);
    recorder.begin();
    recorder.program(context.program({&shaders::plasma_comp}), NVN_SHADER_STAGE_COMPUTE_BIT);
    nvnCommandBufferBindImage(&recorder.buffer, NVN_SHADER_STAGE_COMPUTE, 0, plasma.image);
    nvnCommandBufferBindUniformBuffer(&recorder.buffer, NVN_SHADER_STAGE_COMPUTE, 0, uniforms.gpu, sizeof(parameters));
    recorder.dispatch(8, 8, 1);
    nvnCommandBufferBarrier(&recorder.buffer, NVN_BARRIER_ORDER_PRIMITIVES_BIT | NVN_BARRIER_INVALIDATE_TEXTURE_BIT);
    recorder.targets({&target});
    recorder.default_state();
    clear(recorder, {0, 0, 0, 1});
    draw_textured(context, recorder, rectangle(-0.9f, -0.9f, 0.9f, 0.9f, unit_uv), identity,
                  context.program({&shaders::transform_vert, &shaders::texture_frag}), plasma);
    submit_and_wait(context, recorder.end());
    return target;
}

Texture& draw_to_texture(Context& context) {
    Texture& target = context.texture({.width = picture_size, .height = picture_size});
    Texture& inner = context.texture({.width = 128, .height = 128});
    const auto triangle = std::array<ColorVertex, 3>{
        {{{0, 0.8f, 0, 1}, {1, 0, 0, 1}}, {{-0.8f, -0.7f, 0, 1}, {0, 1, 0, 1}}, {{0.8f, -0.7f, 0, 1}, {0, 0, 1, 1}}}};
    const auto buffer = context.upload<ColorVertex>(triangle);
    Recorder recorder(context);
    recorder.begin();
    recorder.default_state();
    recorder.targets({&inner});
    clear(recorder, {0.95f, 0.95f, 0.9f, 1});
    recorder.program(context.program({&shaders::color_vert, &shaders::color_frag}));
    recorder.vertices(buffer, sizeof(triangle), {NVN_FORMAT_RGBA32F, NVN_FORMAT_RGBA32F});
    recorder.draw(NVN_DRAW_PRIMITIVE_TRIANGLES, 0, 3);
    nvnCommandBufferBarrier(&recorder.buffer, NVN_BARRIER_ORDER_FRAGMENTS_BIT | NVN_BARRIER_INVALIDATE_TEXTURE_BIT);
    recorder.targets({&target});
    clear(recorder, {0.2f, 0.1f, 0.25f, 1});
    // The picture four times, on a sheet turned away from the eye.
    const std::array<Vec4, 4> uv{Vec4{0, 2, 0, 0}, Vec4{2, 2, 0, 0}, Vec4{0, 0, 0, 0}, Vec4{2, 0, 0, 0}};
    const Matrix clip =
        multiply(perspective(0.8f, 1.0f, 0.5f, 20.0f), multiply(translation(0, 0, -2.6f), rotation_y(0.7f)));
    draw_textured(context, recorder, rectangle(-1, -1, 1, 1, uv), clip,
                  context.program({&shaders::transform_vert, &shaders::texture_frag}), inner);
    submit_and_wait(context, recorder.end());
    return target;
}

Texture& draw_multisampled(Context& context) {
    Texture& target = context.texture({.width = picture_size, .height = picture_size});
    Texture& samples = context.texture({.target = NVN_TEXTURE_TARGET_2D_MULTISAMPLE,
                                        .width = picture_size,
                                        .height = picture_size,
                                        .samples = 4,
                                        .flags = NVN_TEXTURE_FLAGS_COMPRESSIBLE});
    std::vector<ColorVertex> vertices;
    for (int i = 0; i < 12; ++i) { // slivers, whose edges show whether samples were averaged
        const float y = -0.9f + 0.15f * static_cast<float>(i), color = static_cast<float>(i) / 11.0f;
        vertices.push_back({{-0.9f, y, 0, 1}, {1, color, 0.2f, 1}});
        vertices.push_back({{0.9f, y + 0.02f, 0, 1}, {1, color, 0.2f, 1}});
        vertices.push_back({{0.9f, y + 0.14f, 0, 1}, {0.2f, color, 1, 1}});
    }
    const auto buffer = context.upload<ColorVertex>(vertices);
    Recorder recorder(context);
    recorder.begin();
    recorder.targets({&samples});
    recorder.default_state();
    NVNmultisampleState multisample;
    nvnMultisampleStateSetDefaults(&multisample);
    nvnMultisampleStateSetMultisampleEnable(&multisample, true);
    nvnMultisampleStateSetSamples(&multisample, 4);
    nvnCommandBufferBindMultisampleState(&recorder.buffer, &multisample);
    clear(recorder, {0, 0, 0, 1});
    recorder.program(context.program({&shaders::color_vert, &shaders::color_frag}));
    recorder.vertices(buffer, vertices.size() * sizeof(ColorVertex), {NVN_FORMAT_RGBA32F, NVN_FORMAT_RGBA32F});
    recorder.draw(NVN_DRAW_PRIMITIVE_TRIANGLES, 0, static_cast<int>(vertices.size()));
    nvnCommandBufferDownsample(&recorder.buffer, &samples.object, &target.object);
    submit_and_wait(context, recorder.end());
    return target;
}

Texture& draw_targets(Context& context) {
    Texture& target = context.texture({.width = picture_size, .height = picture_size});
    std::array<Texture*, 3> planes{};
    for (Texture*& plane : planes)
        plane = &context.texture({.width = 128, .height = 128});
    const auto quad =
        rectangle(-0.9f, -0.9f, 0.9f, 0.9f, {Vec4{1, 0, 0, 1}, Vec4{0, 1, 0, 1}, Vec4{0, 0, 1, 1}, Vec4{1, 1, 0, 1}});
    const auto buffer = context.upload<ColorVertex>(quad);
    Recorder recorder(context);
    recorder.begin();
    recorder.default_state();
    recorder.targets({planes[0], planes[1], planes[2]});
    for (int i = 0; i < 3; ++i)
        clear(recorder, {0.1f * static_cast<float>(i), 0.1f, 0.1f, 1}, i);
    recorder.program(context.program({&shaders::color_vert, &shaders::targets_frag}));
    recorder.vertices(buffer, quad.size() * sizeof(ColorVertex), {NVN_FORMAT_RGBA32F, NVN_FORMAT_RGBA32F});
    recorder.draw(NVN_DRAW_PRIMITIVE_TRIANGLES, 0, 6);
    nvnCommandBufferBarrier(&recorder.buffer, NVN_BARRIER_ORDER_FRAGMENTS_BIT | NVN_BARRIER_INVALIDATE_TEXTURE_BIT);
    recorder.targets({&target});
    clear(recorder, {0.3f, 0.3f, 0.3f, 1});
    NVNprogram& copy = context.program({&shaders::transform_vert, &shaders::texture_frag});
    constexpr std::array<std::array<float, 2>, 3> corners{{{-0.95f, 0.05f}, {0.05f, 0.05f}, {-0.45f, -0.95f}}};
    for (size_t i = 0; i < 3; ++i) {
        const auto [x, y] = corners[i];
        draw_textured(context, recorder, rectangle(x, y, x + 0.9f, y + 0.9f, unit_uv), identity, copy, *planes[i]);
    }
    submit_and_wait(context, recorder.end());
    return target;
}

std::span<const Scene> scenes() {
    static constexpr std::array<Scene, 11> table{{
        {"clears", "clears, scissored and masked", draw_clears},
        {"mesh", "a textured, lit, depth-tested mesh with inline uniform updates", draw_mesh},
        {"blending", "alpha blending", draw_blending},
        {"mipmaps", "a mip-mapped block-linear texture", draw_mipmaps},
        {"cube_map", "a cube map", draw_cube_map},
        {"instances", "one instanced draw", draw_instances},
        {"indexed", "8-bit indices", draw_indexed},
        {"compute", "an image filled by compute, sampled by a draw", draw_compute},
        {"render_to_texture", "a rendered texture sampled and read back", draw_to_texture},
        {"multisample", "a multisample resolve", draw_multisampled},
        {"targets", "three render targets at once", draw_targets},
    }};
    return table;
}

} // namespace gallery
