// The lit torus, alone and in a window.
#include "scenes_table.h"
#include "shapes.h"

#include <cstdio>
#include <cstdlib>

namespace gallery {
namespace {

struct FragmentUniforms {
    Vec4 light, tint;
};

} // namespace

MeshUniforms mesh_uniforms(float angle, float aspect) {
    const Matrix model = multiply(rotation_x(0.6f), rotation_y(angle));
    const Matrix clip = multiply(perspective(0.8f, aspect, 0.5f, 20.0f), multiply(translation(0, 0, -4.2f), model));
    MeshUniforms uniforms{};
    for (size_t row = 0; row < 4; ++row)
        for (size_t column = 0; column < 4; ++column)
            uniforms.rows[row * 4 + column] = clip[row][column];
    for (size_t row = 0; row < 3; ++row)
        for (size_t column = 0; column < 4; ++column)
            uniforms.rows[16 + row * 4 + column] = model[row][column];
    return uniforms;
}

Mesh create_mesh(Context& context) {
    const auto vertices = torus(1.0f, 0.42f, 48, 24);
    Mesh mesh;
    mesh.vertices = context.upload<MeshVertex>(vertices);
    mesh.bytes = vertices.size() * sizeof(MeshVertex);
    mesh.count = static_cast<int>(vertices.size());
    mesh.skin = &context.texture({.width = 64, .height = 64});
    context.write(*mesh.skin, 0, 0, checkerboard(64, 16, {200, 90, 40}, {250, 230, 200}).data());
    mesh.program = &context.program({&shaders::mesh_vert, &shaders::mesh_frag});
    return mesh;
}

void record_mesh(Recorder& recorder, const Mesh& mesh, const Arena::Piece& vertex_uniforms,
                 const Arena::Piece& fragment_uniforms, float angle, float aspect) {
    recorder.default_state();
    recorder.depth_test(true);
    recorder.program(*mesh.program);
    recorder.texture(0, *mesh.skin);
    recorder.vertices(mesh.vertices, mesh.bytes, {NVN_FORMAT_RGB32F, NVN_FORMAT_RGB32F, NVN_FORMAT_RG32F});
    recorder.uniform(NVN_SHADER_STAGE_VERTEX, vertex_uniforms, 256);
    recorder.uniform(NVN_SHADER_STAGE_FRAGMENT, fragment_uniforms, 256);
    // Both draws read the same buffers; what they see is decided by the updates in the command stream between them.
    const std::array<FragmentUniforms, 2> lights{
        {{{0.48f, 0.6f, 0.64f, 0.2f}, {1, 1, 1, 1}}, {{0.48f, 0.6f, 0.64f, 0.2f}, {0.4f, 0.7f, 1.0f, 1}}}};
    for (size_t i = 0; i < lights.size(); ++i) {
        const MeshUniforms uniforms = mesh_uniforms(angle + 1.5f * static_cast<float>(i), aspect);
        MeshUniforms placed = uniforms;
        if (i == 1) // stand the second one across the first
            for (size_t row = 0; row < 7; ++row)
                std::swap(placed.rows[row * 4 + 1], placed.rows[row * 4 + 2]);
        nvnCommandBufferUpdateUniformBuffer(&recorder.buffer, vertex_uniforms.gpu, 256, 0, sizeof(placed), &placed);
        nvnCommandBufferUpdateUniformBuffer(&recorder.buffer, fragment_uniforms.gpu, 256, 0, sizeof(lights[i]),
                                            &lights[i]);
        recorder.draw(NVN_DRAW_PRIMITIVE_TRIANGLES, 0, mesh.count);
    }
}

Texture& draw_mesh(Context& context) {
    Texture& target = context.texture({.width = picture_size, .height = picture_size});
    Texture& depth = context.texture({.format = NVN_FORMAT_DEPTH32F,
                                      .width = picture_size,
                                      .height = picture_size,
                                      .flags = NVN_TEXTURE_FLAGS_COMPRESSIBLE});
    const Mesh mesh = create_mesh(context);
    const auto vertex_uniforms = context.data.allocate(256, 256), fragment_uniforms = context.data.allocate(256, 256);

    // Two command buffers joined by a third: targets and clears, the draws, and the calls.
    Recorder setup(context), draws(context), frame(context);
    setup.begin();
    setup.targets({&target}, &depth);
    const Vec4 background{0.16f, 0.18f, 0.22f, 1};
    nvnCommandBufferClearColor(&setup.buffer, 0, background.data(), NVN_CLEAR_COLOR_MASK_RGBA);
    nvnCommandBufferClearDepthStencil(&setup.buffer, 1.0f, true, 0, 0);
    const NVNcommandHandle setup_commands = setup.end();
    draws.begin();
    record_mesh(draws, mesh, vertex_uniforms, fragment_uniforms, 0.4f, 1.0f);
    const NVNcommandHandle draw_commands = draws.end();
    frame.begin();
    const std::array handles{setup_commands, draw_commands};
    nvnCommandBufferCallCommands(&frame.buffer, 2, handles.data());
    submit_and_wait(context, frame.end());
    return target;
}

Texture& animate(Context& context, void* native_window, int width, int height, int frames,
                 const std::function<bool()>& keep_going) {
    const float aspect = static_cast<float>(width) / static_cast<float>(height);
    const int display = NVN_TEXTURE_FLAGS_DISPLAY | NVN_TEXTURE_FLAGS_COMPRESSIBLE;
    std::array<Texture*, 2> targets{&context.texture({.width = width, .height = height, .flags = display}),
                                    &context.texture({.width = width, .height = height, .flags = display})};
    Texture& depth = context.texture({.format = NVN_FORMAT_DEPTH24_STENCIL8,
                                      .width = width,
                                      .height = height,
                                      .flags = NVN_TEXTURE_FLAGS_COMPRESSIBLE});
    const Mesh mesh = create_mesh(context);
    const auto vertex_uniforms = context.data.allocate(256, 256), fragment_uniforms = context.data.allocate(256, 256);

    NVNwindowBuilder builder;
    nvnWindowBuilderSetDefaults(&builder);
    nvnWindowBuilderSetDevice(&builder, &context.device);
    nvnWindowBuilderSetNativeWindow(&builder, native_window);
    std::array<NVNtexture*, 2> objects{&targets[0]->object, &targets[1]->object};
    nvnWindowBuilderSetTextures(&builder, 2, objects.data());
    NVNwindow window;
    NVNsync available;
    if (!nvnWindowInitialize(&window, &builder) || !nvnSyncInitialize(&available, &context.device)) {
        std::fprintf(stderr, "gallery: nvnWindowInitialize failed\n");
        std::exit(1);
    }
    Recorder recorder(context);
    const size_t commands_used = context.commands.used;
    const size_t control_used = context.control_memory.size();
    Texture* shown = targets[0];
    for (int frame = 0; frame < frames && keep_going(); ++frame) {
        int index = 0;
        if (nvnWindowAcquireTexture(&window, &available, &index) != NVN_WINDOW_ACQUIRE_TEXTURE_RESULT_SUCCESS)
            break;
        // The last frame's fence was waited for, so its command and control memory is free again.
        context.commands.used = commands_used;
        context.control_memory.resize(control_used);
        recorder.begin();
        recorder.targets({targets[static_cast<size_t>(index)]}, &depth);
        const Vec4 background{0.16f, 0.18f, 0.22f, 1};
        nvnCommandBufferClearColor(&recorder.buffer, 0, background.data(), NVN_CLEAR_COLOR_MASK_RGBA);
        nvnCommandBufferClearDepthStencil(&recorder.buffer, 1.0f, true, 0, 0xff);
        record_mesh(recorder, mesh, vertex_uniforms, fragment_uniforms, 0.4f + 0.05f * static_cast<float>(frame),
                    aspect);
        const NVNcommandHandle commands = recorder.end();
        nvnSyncWait(&available, UINT64_MAX);
        nvnQueueSubmitCommands(&context.queue, 1, &commands);
        nvnQueuePresentTexture(&context.queue, &window, index);
        nvnQueueFenceSync(&context.queue, &context.frame_done, NVN_SYNC_CONDITION_ALL_GPU_COMMANDS_COMPLETE, 0);
        nvnQueueFlush(&context.queue);
        nvnSyncWait(&context.frame_done, UINT64_MAX);
        shown = targets[static_cast<size_t>(index)];
    }
    nvnQueueFinish(&context.queue);
    nvnWindowFinalize(&window);
    nvnSyncFinalize(&available);
    return *shown;
}

} // namespace gallery
