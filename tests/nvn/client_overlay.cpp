// A user interface drawn over another program's frame, as mods and tools do it: classes, chained builders, a callback
// that adds memory, vertex and index data in one pool, the font's texture written by the CPU. C++11.
#include "clients.h"

#include <nvn/nvn_cpp.h>

#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <stdlib.h>

#define CHECK(condition)                                                                                               \
    do {                                                                                                               \
        if (!(condition))                                                                                              \
            return __LINE__;                                                                                           \
    } while (0)

namespace {

struct Vertex {
    float x, y, u, v;
    unsigned color;
};

constexpr std::size_t align(std::size_t size, std::size_t to) {
    return (size + to - 1) & ~(to - 1);
}

class MemoryBuffer {
public:
    bool initialize(nvn::Device* device, std::size_t size, nvn::MemoryPoolFlags flags) {
        size = align(size, NVN_MEMORY_POOL_STORAGE_ALIGNMENT);
        memory_ = aligned_alloc(NVN_MEMORY_POOL_STORAGE_ALIGNMENT, size);
        std::memset(memory_, 0, size);
        nvn::MemoryPoolBuilder builder;
        builder.SetDefaults().SetDevice(device).SetFlags(flags).SetStorage(memory_, size);
        if (!pool_.Initialize(&builder))
            return false;
        nvn::BufferBuilder buffer;
        buffer.SetDevice(device).SetDefaults().SetStorage(&pool_, 0, size);
        return buffer_.Initialize(&buffer);
    }
    void finalize() {
        buffer_.Finalize();
        pool_.Finalize();
        free(memory_);
    }
    void* map() const { return buffer_.Map(); }
    std::size_t size() const { return buffer_.GetSize(); }
    nvn::MemoryPool* pool() { return &pool_; }
    operator nvn::BufferAddress() const { return buffer_.GetAddress(); }

private:
    void* memory_ = nullptr;
    nvn::MemoryPool pool_;
    nvn::Buffer buffer_;
};

struct Backend {
    nvn::Device* device;
    nvn::Queue* queue;
    nvn::CommandBuffer commands;
    MemoryBuffer command_memory, vertices, indices, uniforms, shaders, pools, font;
    nvn::TexturePool texture_pool;
    nvn::SamplerPool sampler_pool;
    nvn::Program program;
    nvn::Texture font_texture;
    nvn::Sampler font_sampler;
    nvn::VertexAttribState attributes[3];
    nvn::VertexStreamState stream;
    nvn::TextureHandle font_handle;
    std::uint64_t control[512];
    std::ptrdiff_t next_command = 0x1000;
    int callbacks = 0, messages = 0;
};

void add_memory(nvn::CommandBuffer* commands, nvn::CommandBufferMemoryEvent event, std::size_t, void* data) {
    auto* const backend = static_cast<Backend*>(data);
    ++backend->callbacks;
    switch (event) {
    case nvn::CommandBufferMemoryEvent::OUT_OF_COMMAND_MEMORY:
        commands->AddCommandMemory(backend->command_memory.pool(), backend->next_command, 0x1000);
        backend->next_command += 0x1000;
        break;
    case nvn::CommandBufferMemoryEvent::OUT_OF_CONTROL_MEMORY:
        commands->AddControlMemory(backend->control + 256, sizeof backend->control / 2);
        break;
    }
}

void debug_message(nvn::DebugCallbackSource source, nvn::DebugCallbackType type, int, nvn::DebugCallbackSeverity,
                   const char* message, void* data) {
    if (source == nvn::DebugCallbackSource::API && type == nvn::DebugCallbackType::API_ERROR && message)
        ++static_cast<Backend*>(data)->messages;
}

// The same in the spellings that other programs use.
void add_nothing(nvn::CommandBuffer*, nvn::CommandBufferMemoryEvent::Enum, std::size_t, void*) {}
void debug_message_c(NVNdebugCallbackSource, NVNdebugCallbackType, int, NVNdebugCallbackSeverity, const char*, void*) {}

int make_program(Backend& b, const ClientAssets& assets) {
    const ClientShader* const shaders[] = {&assets.vertex, &assets.fragment};
    nvn::ShaderData data[2];
    std::size_t used = 0;
    for (int i = 0; i < 2; ++i) {
        CHECK(used + shaders[i]->code_size <= b.shaders.size());
        std::memcpy(static_cast<char*>(b.shaders.map()) + used, shaders[i]->code, shaders[i]->code_size);
        data[i].data = b.shaders + used;
        data[i].control = shaders[i]->control;
        used += align(shaders[i]->code_size, 256);
    }
    CHECK(b.program.Initialize(b.device));
    CHECK(b.program.SetShaders(2, data));
    b.program.SetDebugLabel("overlay");
    return 0;
}

int make_font(Backend& b) {
    nvn::TextureBuilder builder;
    builder.SetDevice(b.device)
        .SetDefaults()
        .SetTarget(nvn::TextureTarget::TARGET_2D)
        .SetFormat(nvn::Format::R8)
        .SetSize2D(64, 32)
        .SetSwizzle(nvn::TextureSwizzle::ONE, nvn::TextureSwizzle::ONE, nvn::TextureSwizzle::ONE,
                    nvn::TextureSwizzle::R);
    CHECK(builder.GetStorageSize() <= b.font.size());
    builder.SetStorage(b.font.pool(), 0);
    CHECK(b.font_texture.Initialize(&builder));
    unsigned char pixels[64 * 32], back[64 * 32];
    for (int i = 0; i < 64 * 32; ++i)
        pixels[i] = static_cast<unsigned char>(i * 7);
    const nvn::CopyRegion region = {0, 0, 0, 64, 32, 1};
    b.font_texture.WriteTexels(nullptr, &region, pixels);
    b.font_texture.FlushTexels(nullptr, &region);
    b.font_texture.ReadTexels(nullptr, &region, back);
    CHECK(std::memcmp(pixels, back, sizeof pixels) == 0);

    nvn::SamplerBuilder sampler;
    sampler.SetDefaults()
        .SetDevice(b.device)
        .SetMinMagFilter(nvn::MinFilter::LINEAR, nvn::MagFilter::LINEAR)
        .SetWrapMode(nvn::WrapMode::CLAMP, nvn::WrapMode::CLAMP, nvn::WrapMode::CLAMP);
    CHECK(b.font_sampler.Initialize(&sampler));

    int texture_size = 0, sampler_size = 0, reserved_textures = 0, reserved_samplers = 0;
    b.device->GetInteger(nvn::DeviceInfo::TEXTURE_DESCRIPTOR_SIZE, &texture_size);
    b.device->GetInteger(nvn::DeviceInfo::SAMPLER_DESCRIPTOR_SIZE, &sampler_size);
    b.device->GetInteger(nvn::DeviceInfo::RESERVED_TEXTURE_DESCRIPTORS, &reserved_textures);
    b.device->GetInteger(nvn::DeviceInfo::RESERVED_SAMPLER_DESCRIPTORS, &reserved_samplers);
    const int textures = reserved_textures + 10, samplers = reserved_samplers + 10;
    CHECK(b.sampler_pool.Initialize(b.pools.pool(), 0, samplers));
    CHECK(b.texture_pool.Initialize(b.pools.pool(), static_cast<std::ptrdiff_t>(sampler_size) * samplers, textures));
    b.texture_pool.RegisterTexture(257, &b.font_texture, nullptr);
    b.sampler_pool.RegisterSampler(257, &b.font_sampler);
    b.font_handle = b.device->GetTextureHandle(257, 257);
    CHECK((b.font_handle & 0xFFFFF) == 257 && b.font_handle >> 20 == 257);
    return 0;
}

int draw(Backend& b) {
    auto* const vertices = static_cast<Vertex*>(b.vertices.map());
    auto* const indices = static_cast<unsigned short*>(b.indices.map());
    for (int i = 0; i < 4; ++i)
        vertices[i] = Vertex{float(i & 1), float(i >> 1), 0, 0, 0xFFFFFFFF};
    const unsigned short quad[] = {0, 1, 2, 2, 1, 3};
    std::memcpy(indices, quad, sizeof quad);

    nvn::CommandBuffer& c = b.commands;
    b.next_command = 0x1000;
    c.AddCommandMemory(b.command_memory.pool(), 0, 0x1000);
    c.AddControlMemory(b.control, sizeof b.control / 2);
    c.BeginRecording();
    c.SetTexturePool(&b.texture_pool);
    c.SetSamplerPool(&b.sampler_pool);
    c.BindProgram(&b.program, nvn::ShaderStageBits::VERTEX | nvn::ShaderStageBits::FRAGMENT);
    const float projection[16] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1};
    c.BindUniformBuffer(nvn::ShaderStage::VERTEX, 0, b.uniforms, b.uniforms.size());
    c.UpdateUniformBuffer(b.uniforms, b.uniforms.size(), 0, sizeof projection, projection);
    c.BindVertexAttribState(3, b.attributes);
    c.BindVertexStreamState(1, &b.stream);
    c.BindVertexBuffer(0, b.vertices, b.vertices.size());
    nvn::PolygonState polygon;
    polygon.SetDefaults()
        .SetPolygonMode(nvn::PolygonMode::FILL)
        .SetCullFace(nvn::Face::NONE)
        .SetFrontFace(nvn::FrontFace::CCW);
    c.BindPolygonState(&polygon);
    nvn::ColorState color;
    color.SetDefaults().SetLogicOp(nvn::LogicOp::COPY).SetAlphaTest(nvn::AlphaFunc::ALWAYS);
    for (int i = 0; i < 8; ++i)
        color.SetBlendEnable(i, true);
    c.BindColorState(&color);
    nvn::BlendState blend;
    blend.SetDefaults()
        .SetBlendFunc(nvn::BlendFunc::SRC_ALPHA, nvn::BlendFunc::ONE_MINUS_SRC_ALPHA, nvn::BlendFunc::ONE,
                      nvn::BlendFunc::ZERO)
        .SetBlendEquation(nvn::BlendEquation::ADD, nvn::BlendEquation::ADD);
    c.BindBlendState(&blend);
    for (int i = 0; i < 200; ++i) { // more than one chunk of memory holds
        c.SetScissor(i, i, 64, 64);
        c.BindTexture(nvn::ShaderStage::FRAGMENT, 0, b.font_handle);
        c.DrawElementsBaseVertex(nvn::DrawPrimitive::TRIANGLES, nvn::IndexType::UNSIGNED_SHORT, 6, b.indices, 0);
    }
    const nvn::CommandHandle handle = c.EndRecording();
    CHECK(handle != 0);
    b.queue->SubmitCommands(1, &handle);
    return 0;
}

} // namespace

int client_overlay(const ClientAssets* assets) {
    nvn::nvnLoadCPPProcs(
        nullptr, reinterpret_cast<nvn::DeviceGetProcAddressFunc>(nvnBootstrapLoader("nvnDeviceGetProcAddress")));
    static nvn::Device device;
    nvn::DeviceBuilder device_builder;
    device_builder.SetDefaults().SetFlags(nvn::DeviceFlagBits::DEBUG_ENABLE);
    CHECK(device.Initialize(&device_builder));
    nvn::nvnLoadCPPProcs(
        &device, reinterpret_cast<nvn::DeviceGetProcAddressFunc>(device.GetProcAddress("nvnDeviceGetProcAddress")));
    static nvn::Queue queue;
    nvn::QueueBuilder queue_builder;
    queue_builder.SetDevice(&device).SetDefaults().SetFlags(nvn::QueueBuilderFlags::NO_ZCULL);
    CHECK(queue.Initialize(&queue_builder));

    Backend* const b = new Backend;
    b->device = &device;
    b->queue = &queue;
    device.InstallDebugCallback(debug_message_c, nullptr, true);
    device.InstallDebugCallback(debug_message, b, true);
    CHECK(b->commands.Initialize(&device));
    b->commands.SetMemoryCallback(add_nothing).SetMemoryCallback(add_memory).SetMemoryCallbackData(b);
    CHECK(b->commands.GetMemoryCallback() == add_memory && b->commands.GetMemoryCallbackData() == b);

    nvn::MemoryPoolFlags flags = nvn::MemoryPoolFlags::CPU_UNCACHED | nvn::MemoryPoolFlags::GPU_CACHED;
    CHECK(b->command_memory.initialize(&device, 0x10000, flags) && b->vertices.initialize(&device, 0x1000, flags));
    CHECK(b->indices.initialize(&device, 0x1000, flags) && b->uniforms.initialize(&device, 0x1000, flags));
    CHECK(b->pools.initialize(&device, 0x8000, flags) && b->font.initialize(&device, 0x4000, flags));
    flags |= nvn::MemoryPoolFlags::SHADER_CODE;
    CHECK((flags & nvn::MemoryPoolFlags::SHADER_CODE) != 0);
    CHECK(b->shaders.initialize(&device, 0x8000, flags));
    CHECK(int(b->shaders.pool()->GetFlags()) == int(flags));

    b->attributes[0].SetDefaults().SetFormat(nvn::Format::RG32F, offsetof(Vertex, x)).SetStreamIndex(0);
    b->attributes[1].SetDefaults().SetFormat(nvn::Format::RG32F, offsetof(Vertex, u)).SetStreamIndex(0);
    b->attributes[2].SetDefaults().SetFormat(nvn::Format::RGBA8, offsetof(Vertex, color)).SetStreamIndex(0);
    b->stream.SetDefaults().SetStride(sizeof(Vertex));

    int line = make_program(*b, *assets);
    CHECK(line == 0);
    line = make_font(*b);
    CHECK(line == 0);
    for (int i = 0; i < 2; ++i) {
        line = draw(*b);
        CHECK(line == 0);
        nvn::Sync sync;
        CHECK(sync.Initialize(&device));
        queue.FenceSync(&sync, nvn::SyncCondition::ALL_GPU_COMMANDS_COMPLETE, 0);
        queue.Flush();
        const nvn::SyncWaitResult result = sync.Wait(NVN_WAIT_TIMEOUT_MAXIMUM);
        CHECK(result == nvn::SyncWaitResult::CONDITION_SATISFIED || result == nvn::SyncWaitResult::ALREADY_SIGNALED);
        sync.Finalize();
    }
    CHECK(b->callbacks >= 2);
    CHECK(b->messages == 0);
    nvn::Texture unmade;
    std::memset(&unmade, 0, sizeof unmade);
    CHECK(unmade.GetWidth() == 0 && b->messages == 1); // reported to the callback

    queue.Finish();
    b->commands.SetMemoryCallback(nullptr);
    b->commands.Finalize();
    b->program.Finalize();
    b->font_sampler.Finalize();
    b->font_texture.Finalize();
    b->texture_pool.Finalize();
    b->sampler_pool.Finalize();
    for (MemoryBuffer* memory :
         {&b->command_memory, &b->vertices, &b->indices, &b->uniforms, &b->shaders, &b->pools, &b->font})
        memory->finalize();
    device.InstallDebugCallback(nullptr, nullptr, false);
    delete b;
    queue.Finalize();
    device.Finalize();
    return 0;
}
