#include "context.h"

#include <cassert>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace gallery {
namespace {

constexpr size_t page = 4096;

size_t align_up(size_t value, size_t alignment) {
    return (value + alignment - 1) / alignment * alignment;
}

[[noreturn]] void give_up(const char* what) {
    std::fprintf(stderr, "gallery: %s failed\n", what);
    std::exit(1);
}

PFNNVNGENERICFUNCPTRPROC lookup(const NVNdevice* device, const char* name) {
    static const auto get_proc_address =
        reinterpret_cast<PFNNVNDEVICEGETPROCADDRESSPROC>(nvnBootstrapLoader("nvnDeviceGetProcAddress"));
    return get_proc_address(device, name);
}

int size_of_vertex_format(NVNformat format) {
    switch (format) {
    case NVN_FORMAT_R32F:
        return 4;
    case NVN_FORMAT_RG32F:
        return 8;
    case NVN_FORMAT_RGB32F:
        return 12;
    case NVN_FORMAT_RGBA32F:
        return 16;
    default:
        give_up("vertex format lookup");
    }
}

void on_out_of_memory(NVNcommandBuffer* buffer, NVNcommandBufferMemoryEvent event, size_t minimum, void* data) {
    auto& context = *static_cast<Context*>(data);
    ++context.memory_callbacks;
    if (event == NVN_COMMAND_BUFFER_MEMORY_EVENT_OUT_OF_COMMAND_MEMORY) {
        const size_t size = align_up(minimum > 4096 ? minimum : 4096, 4);
        nvnCommandBufferAddCommandMemory(buffer, &context.commands.pool, context.commands.allocate(size, 4).offset,
                                         size);
    } else {
        const size_t size = align_up(minimum > 256 ? minimum : 256, 8);
        context.control_memory.emplace_back(size);
        nvnCommandBufferAddControlMemory(buffer, context.control_memory.back().data(), size);
    }
}

} // namespace

void Arena::create(NVNdevice& device, size_t bytes, int flags) {
    size = align_up(bytes, page);
    storage = std::aligned_alloc(page, size);
    std::memset(storage, 0, size);
    NVNmemoryPoolBuilder builder;
    nvnMemoryPoolBuilderSetDefaults(&builder);
    nvnMemoryPoolBuilderSetDevice(&builder, &device);
    nvnMemoryPoolBuilderSetFlags(&builder, flags);
    nvnMemoryPoolBuilderSetStorage(&builder, storage, size);
    if (!nvnMemoryPoolInitialize(&pool, &builder))
        give_up("nvnMemoryPoolInitialize");
}

void Arena::destroy() {
    nvnMemoryPoolFinalize(&pool);
    std::free(storage);
    storage = nullptr;
}

Arena::Piece Arena::allocate(size_t bytes, size_t alignment) {
    const size_t offset = align_up(used, alignment);
    if (offset + bytes > size)
        give_up("allocation from a memory pool");
    used = offset + bytes;
    auto* const base = static_cast<std::byte*>(nvnMemoryPoolMap(&pool));
    return {static_cast<ptrdiff_t>(offset), base ? base + offset : nullptr,
            nvnMemoryPoolGetBufferAddress(&pool) + offset};
}

bool Context::create() {
    nvnLoadCProcs(nullptr, lookup);
    NVNdeviceBuilder device_builder;
    nvnDeviceBuilderSetDefaults(&device_builder);
    nvnDeviceBuilderSetFlags(&device_builder, 0);
    if (!nvnDeviceInitialize(&device, &device_builder))
        return false;
    nvnLoadCProcs(&device, lookup);
    nvnDeviceSetWindowOriginMode(&device, NVN_WINDOW_ORIGIN_MODE_UPPER_LEFT);
    nvnDeviceSetDepthMode(&device, NVN_DEPTH_MODE_NEAR_IS_ZERO);

    NVNqueueBuilder queue_builder;
    nvnQueueBuilderSetDevice(&queue_builder, &device);
    nvnQueueBuilderSetDefaults(&queue_builder);
    if (!nvnQueueInitialize(&queue, &queue_builder))
        return false;

    data.create(device, 8 << 20, NVN_MEMORY_POOL_FLAGS_CPU_UNCACHED | NVN_MEMORY_POOL_FLAGS_GPU_CACHED);
    textures.create(device, 48 << 20, NVN_MEMORY_POOL_FLAGS_CPU_UNCACHED | NVN_MEMORY_POOL_FLAGS_GPU_CACHED);
    code.create(device, 1 << 20,
                NVN_MEMORY_POOL_FLAGS_CPU_UNCACHED | NVN_MEMORY_POOL_FLAGS_GPU_CACHED |
                    NVN_MEMORY_POOL_FLAGS_SHADER_CODE);
    commands.create(device, 8 << 20, NVN_MEMORY_POOL_FLAGS_CPU_UNCACHED | NVN_MEMORY_POOL_FLAGS_GPU_CACHED);

    int texture_size = 0, sampler_size = 0, reserved_textures = 0, reserved_samplers = 0;
    nvnDeviceGetInteger(&device, NVN_DEVICE_INFO_TEXTURE_DESCRIPTOR_SIZE, &texture_size);
    nvnDeviceGetInteger(&device, NVN_DEVICE_INFO_SAMPLER_DESCRIPTOR_SIZE, &sampler_size);
    nvnDeviceGetInteger(&device, NVN_DEVICE_INFO_RESERVED_TEXTURE_DESCRIPTORS, &reserved_textures);
    nvnDeviceGetInteger(&device, NVN_DEVICE_INFO_RESERVED_SAMPLER_DESCRIPTORS, &reserved_samplers);
    const int texture_count = reserved_textures + 256, sampler_count = reserved_samplers + 16;
    const auto texture_descriptors = data.allocate(static_cast<size_t>(texture_count * texture_size), 512);
    const auto sampler_descriptors = data.allocate(static_cast<size_t>(sampler_count * sampler_size), 512);
    if (!nvnTexturePoolInitialize(&texture_pool, &data.pool, texture_descriptors.offset, texture_count) ||
        !nvnSamplerPoolInitialize(&sampler_pool, &data.pool, sampler_descriptors.offset, sampler_count))
        return false;
    next_texture_id = reserved_textures;
    linear_sampler_id = reserved_samplers;
    nearest_sampler_id = reserved_samplers + 1;

    NVNsamplerBuilder sampler_builder;
    nvnSamplerBuilderSetDefaults(&sampler_builder);
    nvnSamplerBuilderSetDevice(&sampler_builder, &device);
    nvnSamplerBuilderSetWrapMode(&sampler_builder, NVN_WRAP_MODE_REPEAT, NVN_WRAP_MODE_REPEAT, NVN_WRAP_MODE_REPEAT);
    nvnSamplerBuilderSetMinMagFilter(&sampler_builder, NVN_MIN_FILTER_LINEAR_MIPMAP_LINEAR, NVN_MAG_FILTER_LINEAR);
    nvnSamplerInitialize(&linear_sampler, &sampler_builder);
    nvnSamplerPoolRegisterSampler(&sampler_pool, linear_sampler_id, &linear_sampler);
    nvnSamplerBuilderSetMinMagFilter(&sampler_builder, NVN_MIN_FILTER_NEAREST, NVN_MAG_FILTER_NEAREST);
    nvnSamplerInitialize(&nearest_sampler, &sampler_builder);
    nvnSamplerPoolRegisterSampler(&sampler_pool, nearest_sampler_id, &nearest_sampler);

    return nvnSyncInitialize(&frame_done, &device);
}

void Context::destroy() {
    nvnQueueFinish(&queue);
    for (NVNprogram& program : programs)
        nvnProgramFinalize(&program);
    for (Texture& texture : texture_objects)
        nvnTextureFinalize(&texture.object);
    nvnSyncFinalize(&frame_done);
    nvnSamplerFinalize(&linear_sampler);
    nvnSamplerFinalize(&nearest_sampler);
    nvnSamplerPoolFinalize(&sampler_pool);
    nvnTexturePoolFinalize(&texture_pool);
    for (Arena* arena : {&commands, &code, &textures, &data})
        arena->destroy();
    nvnQueueFinalize(&queue);
    nvnDeviceFinalize(&device);
}

NVNprogram& Context::program(std::initializer_list<const ShaderBlob*> stages) {
    std::array<NVNshaderData, 6> shaders{};
    int count = 0;
    for (const ShaderBlob* blob : stages) {
        const Arena::Piece piece = code.allocate(blob->gpu.size(), 256);
        std::memcpy(piece.cpu, blob->gpu.data(), blob->gpu.size());
        shaders[static_cast<size_t>(count++)] = {piece.gpu, blob->control.data()};
    }
    NVNprogram& program = programs.emplace_back();
    if (!nvnProgramInitialize(&program, &device) || !nvnProgramSetShaders(&program, count, shaders.data()))
        give_up("nvnProgramSetShaders");
    return program;
}

Texture& Context::texture(const TextureOptions& options) {
    Texture& texture = texture_objects.emplace_back();
    texture.width = options.width;
    texture.height = options.height;
    NVNtextureBuilder builder;
    nvnTextureBuilderSetDevice(&builder, &device);
    nvnTextureBuilderSetDefaults(&builder);
    nvnTextureBuilderSetFlags(&builder, options.flags | (options.image ? NVN_TEXTURE_FLAGS_IMAGE : 0));
    nvnTextureBuilderSetTarget(&builder, options.target);
    nvnTextureBuilderSetFormat(&builder, options.format);
    nvnTextureBuilderSetSize3D(&builder, options.width, options.height, options.depth);
    nvnTextureBuilderSetLevels(&builder, options.levels);
    if (options.samples > 1)
        nvnTextureBuilderSetSamples(&builder, options.samples);
    const size_t size = nvnTextureBuilderGetStorageSize(&builder);
    const size_t alignment = nvnTextureBuilderGetStorageAlignment(&builder);
    nvnTextureBuilderSetStorage(&builder, &textures.pool, textures.allocate(size, alignment).offset);
    if (!nvnTextureInitialize(&texture.object, &builder))
        give_up("nvnTextureInitialize");
    const int id = next_texture_id++;
    nvnTexturePoolRegisterTexture(&texture_pool, id, &texture.object, nullptr);
    texture.handle = nvnDeviceGetTextureHandle(&device, id, options.nearest ? nearest_sampler_id : linear_sampler_id);
    if (options.image) {
        const int image_id = next_texture_id++;
        nvnTexturePoolRegisterImage(&texture_pool, image_id, &texture.object, nullptr);
        texture.image = nvnDeviceGetImageHandle(&device, image_id);
    }
    return texture;
}

void Context::write(Texture& texture, int level, int layer, const void* texels) {
    NVNtextureView view;
    nvnTextureViewSetDefaults(&view);
    nvnTextureViewSetLevels(&view, level, 1);
    const auto extent = [level](int size) { return size >> level ? size >> level : 1; };
    const NVNcopyRegion region{0, 0, layer, extent(texture.width), extent(texture.height), 1};
    nvnTextureWriteTexels(&texture.object, &view, &region, texels);
    nvnTextureFlushTexels(&texture.object, &view, &region);
}

Recorder::Recorder(Context& owner) : context(&owner) {
    if (!nvnCommandBufferInitialize(&buffer, &owner.device))
        give_up("nvnCommandBufferInitialize");
    nvnCommandBufferSetMemoryCallback(&buffer, on_out_of_memory);
    nvnCommandBufferSetMemoryCallbackData(&buffer, &owner);
}

Recorder::~Recorder() {
    nvnCommandBufferFinalize(&buffer);
}

void Recorder::begin() {
    constexpr size_t command_bytes = 512, control_bytes = 256;
    nvnCommandBufferAddCommandMemory(&buffer, &context->commands.pool,
                                     context->commands.allocate(command_bytes, 4).offset, command_bytes);
    context->control_memory.emplace_back(control_bytes);
    nvnCommandBufferAddControlMemory(&buffer, context->control_memory.back().data(), control_bytes);
    nvnCommandBufferBeginRecording(&buffer);
    nvnCommandBufferSetTexturePool(&buffer, &context->texture_pool);
    nvnCommandBufferSetSamplerPool(&buffer, &context->sampler_pool);
}

NVNcommandHandle Recorder::end() {
    return nvnCommandBufferEndRecording(&buffer);
}

void Recorder::draw(NVNdrawPrimitive primitive, int first, int count) {
    ++context->draws;
    nvnCommandBufferDrawArrays(&buffer, primitive, first, count);
}

void Recorder::draw_instanced(NVNdrawPrimitive primitive, int first, int count, int instances) {
    ++context->draws;
    nvnCommandBufferDrawArraysInstanced(&buffer, primitive, first, count, 0, instances);
}

void Recorder::draw_indexed(NVNdrawPrimitive primitive, NVNindexType type, int count, NVNbufferAddress indices) {
    ++context->draws;
    nvnCommandBufferDrawElements(&buffer, primitive, type, count, indices);
}

void Recorder::dispatch(int x, int y, int z) {
    ++context->dispatches;
    nvnCommandBufferDispatchCompute(&buffer, x, y, z);
}

void Recorder::program(NVNprogram& program, int stages) {
    nvnCommandBufferBindProgram(&buffer, &program, stages);
}

void Recorder::uniform(NVNshaderStage stage, const Arena::Piece& piece, size_t size) {
    nvnCommandBufferBindUniformBuffer(&buffer, stage, 0, piece.gpu, size);
}

void Recorder::texture(int slot, const Texture& texture) {
    nvnCommandBufferBindTexture(&buffer, NVN_SHADER_STAGE_FRAGMENT, slot, texture.handle);
}

void Recorder::targets(std::initializer_list<const Texture*> colors, const Texture* depth) {
    std::array<const NVNtexture*, 8> objects{};
    size_t count = 0;
    for (const Texture* color : colors)
        objects[count++] = &color->object;
    const Texture& first = colors.size() ? **colors.begin() : *depth;
    nvnCommandBufferSetRenderTargets(&buffer, static_cast<int>(count), objects.data(), nullptr,
                                     depth ? &depth->object : nullptr, nullptr);
    nvnCommandBufferSetViewport(&buffer, 0, 0, first.width, first.height);
    nvnCommandBufferSetScissor(&buffer, 0, 0, first.width, first.height);
}

void Recorder::vertices(const Arena::Piece& piece, size_t bytes, std::initializer_list<NVNformat> formats) {
    std::array<NVNvertexAttribState, 16> attributes{};
    size_t count = 0;
    int offset = 0;
    for (const NVNformat format : formats) {
        NVNvertexAttribState& attribute = attributes[count++];
        nvnVertexAttribStateSetDefaults(&attribute);
        nvnVertexAttribStateSetFormat(&attribute, format, offset);
        nvnVertexAttribStateSetStreamIndex(&attribute, 0);
        offset += size_of_vertex_format(format);
    }
    NVNvertexStreamState stream;
    nvnVertexStreamStateSetDefaults(&stream);
    nvnVertexStreamStateSetStride(&stream, offset);
    nvnCommandBufferBindVertexAttribState(&buffer, static_cast<int>(count), attributes.data());
    nvnCommandBufferBindVertexStreamState(&buffer, 1, &stream);
    nvnCommandBufferBindVertexBuffer(&buffer, 0, piece.gpu, bytes);
}

void Recorder::default_state() {
    NVNpolygonState polygon;
    nvnPolygonStateSetDefaults(&polygon);
    nvnPolygonStateSetCullFace(&polygon, NVN_FACE_NONE);
    nvnCommandBufferBindPolygonState(&buffer, &polygon);
    NVNcolorState color;
    nvnColorStateSetDefaults(&color);
    nvnCommandBufferBindColorState(&buffer, &color);
    NVNchannelMaskState mask;
    nvnChannelMaskStateSetDefaults(&mask);
    nvnCommandBufferBindChannelMaskState(&buffer, &mask);
    NVNmultisampleState multisample;
    nvnMultisampleStateSetDefaults(&multisample);
    nvnCommandBufferBindMultisampleState(&buffer, &multisample);
    depth_test(false);
}

void Recorder::depth_test(bool enable) {
    NVNdepthStencilState state;
    nvnDepthStencilStateSetDefaults(&state);
    nvnDepthStencilStateSetDepthTestEnable(&state, enable);
    nvnDepthStencilStateSetDepthWriteEnable(&state, enable);
    nvnDepthStencilStateSetDepthFunc(&state, NVN_DEPTH_FUNC_LESS);
    nvnCommandBufferBindDepthStencilState(&buffer, &state);
}

void submit_and_wait(Context& context, NVNcommandHandle commands) {
    nvnQueueSubmitCommands(&context.queue, 1, &commands);
    nvnQueueFenceSync(&context.queue, &context.frame_done, NVN_SYNC_CONDITION_ALL_GPU_COMMANDS_COMPLETE, 0);
    nvnQueueFlush(&context.queue);
    const NVNsyncWaitResult result = nvnSyncWait(&context.frame_done, UINT64_MAX);
    if (result == NVN_SYNC_WAIT_RESULT_FAILED || result == NVN_SYNC_WAIT_RESULT_TIMEOUT_EXPIRED)
        give_up("nvnSyncWait");
}

std::vector<uint8_t> read_back(Context& context, const Texture& texture) {
    const size_t bytes = static_cast<size_t>(texture.width) * static_cast<size_t>(texture.height) * 4;
    const Arena::Piece piece = context.data.allocate(bytes, 256);
    Recorder recorder(context);
    recorder.begin();
    nvnCommandBufferBarrier(&recorder.buffer, NVN_BARRIER_ORDER_FRAGMENTS_BIT | NVN_BARRIER_INVALIDATE_TEXTURE_BIT);
    const NVNcopyRegion region{0, 0, 0, texture.width, texture.height, 1};
    nvnCommandBufferCopyTextureToBuffer(&recorder.buffer, &texture.object, nullptr, &region, piece.gpu,
                                        NVN_COPY_FLAGS_NONE);
    submit_and_wait(context, recorder.end());
    const auto* const texels = reinterpret_cast<const uint8_t*>(piece.cpu);
    return {texels, texels + bytes};
}

} // namespace gallery
