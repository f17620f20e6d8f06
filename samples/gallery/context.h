// What every scene of the gallery stands on: a device, a queue, memory, descriptor pools, command buffers and programs.
// Written against nvn/nvn.h alone, as any NVN program is.
#pragma once

#include <nvn/nvn.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <vector>

namespace gallery {

// A memory pool handed out from front to back and never given back: the gallery lives for seconds.
struct Arena {
    struct Piece {
        ptrdiff_t offset = 0;
        std::byte* cpu = nullptr; // null in pools that the CPU does not see
        NVNbufferAddress gpu = 0;
    };

    NVNmemoryPool pool{};
    void* storage = nullptr;
    size_t size = 0, used = 0;

    void create(NVNdevice& device, size_t bytes, int flags);
    void destroy();
    Piece allocate(size_t bytes, size_t alignment);
};

// A program assembled at build time from samples/gallery/shaders: the GPU area and its control section.
struct ShaderBlob {
    std::span<const unsigned char> gpu, control;
};

struct Texture {
    NVNtexture object{};
    NVNtextureHandle handle = 0;
    NVNimageHandle image = 0;
    int width = 0, height = 0;
};

struct TextureOptions {
    NVNtextureTarget target = NVN_TEXTURE_TARGET_2D;
    NVNformat format = NVN_FORMAT_RGBA8;
    int width = 0, height = 0, depth = 1;
    int levels = 1;
    int samples = 0;
    int flags = 0;
    bool nearest = false; // sampler that `handle` names
    bool image = false;   // also register as an image
};

struct Context {
    NVNdevice device{};
    NVNqueue queue{};
    Arena data;     // vertices, indices, uniform buffers, read-back: CPU and GPU
    Arena textures; // block-linear storage
    Arena code;     // shader code
    Arena commands; // command memory
    NVNtexturePool texture_pool{};
    NVNsamplerPool sampler_pool{};
    int next_texture_id = 0;
    int linear_sampler_id = 0, nearest_sampler_id = 0;
    NVNsampler linear_sampler{}, nearest_sampler{};
    NVNsync frame_done{};

    // Objects that must stay where they are until the device goes.
    std::deque<Texture> texture_objects;
    std::deque<NVNprogram> programs;
    std::deque<std::vector<std::byte>> control_memory;

    int draws = 0, dispatches = 0, memory_callbacks = 0;

    bool create();
    void destroy();

    NVNprogram& program(std::initializer_list<const ShaderBlob*> stages);
    Texture& texture(const TextureOptions& options);
    // Tightly packed texels of one level (of one layer or face) into block-linear storage.
    void write(Texture& texture, int level, int layer, const void* texels);

    template <class T>
    Arena::Piece upload(std::span<const T> values, size_t alignment = 256) {
        const Arena::Piece piece = data.allocate(values.size_bytes(), alignment);
        std::copy(values.begin(), values.end(), reinterpret_cast<T*>(piece.cpu));
        return piece;
    }
};

// Records commands. Command memory starts out too small on purpose: the memory callback adds more as recording asks.
struct Recorder {
    NVNcommandBuffer buffer{};
    Context* context = nullptr;

    explicit Recorder(Context& context);
    ~Recorder();
    Recorder(const Recorder&) = delete;
    Recorder& operator=(const Recorder&) = delete;

    void begin();
    NVNcommandHandle end();

    // Draws, counted.
    void draw(NVNdrawPrimitive primitive, int first, int count);
    void draw_instanced(NVNdrawPrimitive primitive, int first, int count, int instances);
    void draw_indexed(NVNdrawPrimitive primitive, NVNindexType type, int count, NVNbufferAddress indices);
    void dispatch(int x, int y, int z);

    void program(NVNprogram& program, int stages = NVN_SHADER_STAGE_ALL_GRAPHICS_BITS);
    void uniform(NVNshaderStage stage, const Arena::Piece& piece, size_t size);
    void texture(int slot, const Texture& texture);
    // Colour targets and an optional depth target, viewport and scissor over all of them.
    void targets(std::initializer_list<const Texture*> colors, const Texture* depth = nullptr);
    // One interleaved vertex stream; formats in attribute order, tightly packed.
    void vertices(const Arena::Piece& piece, size_t bytes, std::initializer_list<NVNformat> formats);
    // The defaults that scenes start from: no blending, no depth test, no culling.
    void default_state();
    void depth_test(bool enable);
};

void submit_and_wait(Context& context, NVNcommandHandle commands);

// The texels of a finished colour target, RGBA8, top row first.
std::vector<uint8_t> read_back(Context& context, const Texture& texture);

} // namespace gallery
