// A client of the API that draws small pictures and reads their texels back: one device for a suite, memory handed out
// from front to back, one command buffer that run() submits and waits for.
#pragma once

#include "maxwell/assembler.h"
#include "program/build.h"

#include <heaviside/heaviside.h>
#include <nvn/nvn.h>

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace heaviside::pixels {

struct Shape {
    NVNformat format = NVN_FORMAT_RGBA8;
    int width = 8, height = 8, depth = 1, levels = 1;
    NVNtextureTarget target = NVN_TEXTURE_TARGET_2D;
    int samples = 0;
    int flags = 0;
};
struct Texture {
    NVNtexture object{};
    Shape shape;
    int id = 0;
};
struct Place { // of one level and layer; `layers` of the view, -1: none is set
    int level = 0, layer = 0, layers = 1;
    NVNformat format = NVN_FORMAT_NONE;
};

using Float4 = std::array<float, 4>;

// A strip over x0, y0, dx, dy of clip space at depth z, all in the vertex stage's uniform buffer 0; behind them the
// point size.
inline constexpr std::string_view quad = R"(
.stage vertex
.in vertex_id
.out position
.entry main
main:
    ALD R0, a[0x2fc], RZ
    LOP.AND R1, R0, 0x1
    SHR.U32 R2, R0, 0x1
    I2F.F32.U32 R4, R1
    I2F.F32.U32 R5, R2
    MOV R8, c[0x3][0x0]
    MOV R9, c[0x3][0x4]
    FFMA.FTZ R4, R4, c[0x3][0x8], R8
    FFMA.FTZ R5, R5, c[0x3][0xc], R9
    MOV R6, c[0x3][0x10]
    MOV32I R7, 0x3f800000
    AST.128 a[0x70], R4, RZ
    EXIT
)";
// The words of the fragment stage's uniform buffer 0 into one target, or two.
inline constexpr std::string_view flat = R"(
.stage fragment
.target 0 rgba
.entry main
main:
    MOV R0, c[0x3][0x0]
    MOV R1, c[0x3][0x4]
    MOV R2, c[0x3][0x8]
    MOV R3, c[0x3][0xc]
    EXIT
)";
inline constexpr std::string_view flat_two = R"(
.stage fragment
.multiple_targets
.target 0 rgba
.target 1 rgba
.entry main
main:
    MOV R0, c[0x3][0x0]
    MOV R1, c[0x3][0x4]
    MOV R2, c[0x3][0x8]
    MOV R3, c[0x3][0xc]
    MOV R4, c[0x3][0x10]
    MOV R5, c[0x3][0x14]
    MOV R6, c[0x3][0x18]
    MOV R7, c[0x3][0x1c]
    EXIT
)";
// Texel of texture slot 0 at the fragment's own place.
inline constexpr std::string_view texel_here = R"(
.stage fragment
.target 0 rgba
.entry main
main:
    IPA.PASS R4, a[0x70], RZ
    IPA.PASS R5, a[0x74], RZ
    F2I.U32.F32.TRUNC R0, R4
    F2I.U32.F32.TRUNC R1, R5
    TLD.LZ R4, R0, 0x8, 2D, 0xf
    MOV R0, R4
    MOV R1, R5
    MOV R2, R6
    MOV R3, R7
    EXIT
)";

struct Bound {
    const Texture* texture = nullptr;
    Place place{};
    bool whole = false; // no view
};
struct Rect {
    float x0 = -1, y0 = -1, x1 = 1, y1 = 1, z = 0;
};

class Pixels : public testing::Test {
protected:
    static constexpr std::size_t pool_size = 96 << 20, list_bytes = 0x10000;

    static PFNNVNGENERICFUNCPTRPROC procs(const NVNdevice* device, const char* name) {
        return reinterpret_cast<PFNNVNDEVICEGETPROCADDRESSPROC>(nvnBootstrapLoader("nvnDeviceGetProcAddress"))(device,
                                                                                                               name);
    }
    static void on_log(void*, heaviside_log_level level, const char* line) {
        if (level >= HEAVISIDE_LOG_WARNING) {
            const std::lock_guard lock(s().lines_mutex);
            s().lines.emplace_back(line);
        }
    }
    struct State {
        bool running = false;
        std::string absent; // why there is no device
        std::byte* storage = nullptr;
        std::size_t used = 0, list = 0; // bytes handed out; where the open list's memory begins
        NVNdevice device{};
        NVNmemoryPool pool{};
        NVNqueue queue{};
        NVNcommandBuffer commands{};
        NVNtexturePool textures{};
        NVNsamplerPool samplers{};
        int next_id = 256;
        std::deque<NVNprogram> programs;
        std::deque<std::vector<std::byte>> controls;
        std::deque<Texture> objects;
        std::vector<std::pair<std::string, NVNprogram*>> known;
        alignas(8) std::array<u64, 1 << 14> control{};
        std::mutex lines_mutex;
        std::vector<std::string> lines; // warnings and errors
    };
    static State& s() {
        static auto state = std::make_unique<State>();
        return *state;
    }
    static void SetUpTestSuite() {
        State& t = s();
        heaviside_config config;
        heaviside_config_default(&config);
        config.cache_dir = "";
        config.log = on_log;
        config.log_level = HEAVISIDE_LOG_WARNING;
        const heaviside_result started = heaviside_init(&config);
        if (started != HEAVISIDE_OK) {
            t.absent = heaviside_last_error();
            return;
        }
        nvnLoadCProcs(nullptr, procs);
        NVNdeviceBuilder device_builder;
        nvnDeviceBuilderSetDefaults(&device_builder);
        ASSERT_TRUE(nvnDeviceInitialize(&t.device, &device_builder));
        nvnDeviceSetWindowOriginMode(&t.device, NVN_WINDOW_ORIGIN_MODE_LOWER_LEFT); // y upwards is rows upwards
        nvnDeviceSetDepthMode(&t.device, NVN_DEPTH_MODE_NEAR_IS_ZERO);
        t.storage = static_cast<std::byte*>(std::aligned_alloc(0x10000, pool_size));
        std::memset(t.storage, 0, pool_size);
        NVNmemoryPoolBuilder pool_builder;
        nvnMemoryPoolBuilderSetDevice(&pool_builder, &t.device);
        nvnMemoryPoolBuilderSetDefaults(&pool_builder);
        nvnMemoryPoolBuilderSetFlags(&pool_builder, NVN_MEMORY_POOL_FLAGS_CPU_CACHED |
                                                        NVN_MEMORY_POOL_FLAGS_GPU_CACHED |
                                                        NVN_MEMORY_POOL_FLAGS_SHADER_CODE);
        nvnMemoryPoolBuilderSetStorage(&pool_builder, t.storage, pool_size);
        ASSERT_TRUE(nvnMemoryPoolInitialize(&t.pool, &pool_builder));
        NVNqueueBuilder queue_builder;
        nvnQueueBuilderSetDevice(&queue_builder, &t.device);
        nvnQueueBuilderSetDefaults(&queue_builder);
        ASSERT_TRUE(nvnQueueInitialize(&t.queue, &queue_builder));
        ASSERT_TRUE(nvnCommandBufferInitialize(&t.commands, &t.device));
        t.used = 0;
        ASSERT_TRUE(nvnTexturePoolInitialize(&t.textures, &t.pool, static_cast<ptrdiff_t>(take(0x10000)), 2048));
        ASSERT_TRUE(nvnSamplerPoolInitialize(&t.samplers, &t.pool, static_cast<ptrdiff_t>(take(0x4000)), 260));
        NVNsamplerBuilder sampler;
        nvnSamplerBuilderSetDefaults(&sampler);
        nvnSamplerPoolRegisterSamplerBuilder(&t.samplers, 256, &sampler);
        t.running = true;
        begin();
    }
    static void TearDownTestSuite() {
        State& t = s();
        if (t.running) {
            nvnCommandBufferEndRecording(&t.commands);
            nvnQueueFinish(&t.queue);
            for (NVNprogram& p : t.programs)
                nvnProgramFinalize(&p);
            for (Texture& x : t.objects)
                nvnTextureFinalize(&x.object);
            nvnTexturePoolFinalize(&t.textures);
            nvnSamplerPoolFinalize(&t.samplers);
            nvnCommandBufferFinalize(&t.commands);
            nvnQueueFinalize(&t.queue);
            nvnMemoryPoolFinalize(&t.pool);
            nvnDeviceFinalize(&t.device);
        }
        heaviside_shutdown();
        std::byte* const storage = t.storage;
        t.~State();
        new (&t) State();
        std::free(storage);
    }
    void SetUp() override {
        if (!s().running)
            GTEST_SKIP() << "no Vulkan device: " << s().absent;
        take_lines();
    }
    void TearDown() override {
        if (!s().running)
            return;
        run();
        for (const std::string& line : take_lines()) // whoever expects some takes them
            ADD_FAILURE() << line;
    }
    static std::vector<std::string> take_lines() {
        const std::lock_guard lock(s().lines_mutex);
        return std::exchange(s().lines, {});
    }

    // --- memory
    static std::size_t take(std::size_t bytes, std::size_t alignment = 512) {
        State& t = s();
        t.used = (t.used + alignment - 1) / alignment * alignment;
        const std::size_t at = t.used;
        t.used += bytes;
        EXPECT_LE(t.used, pool_size) << "the suite's memory is too small";
        return at;
    }
    static NVNbufferAddress address(std::size_t offset) { return nvnMemoryPoolGetBufferAddress(&s().pool) + offset; }
    template <class T>
    static std::size_t put(std::span<const T> values, std::size_t alignment = 256) {
        const std::size_t at = take(values.size_bytes() + 256, alignment);
        std::memcpy(s().storage + at, values.data(), values.size_bytes());
        return at;
    }
    template <class T>
    static T load(std::size_t at) {
        T value;
        std::memcpy(&value, s().storage + at, sizeof value);
        return value;
    }

    // --- objects
    static Texture& texture(const Shape& shape) {
        State& t = s();
        Texture& x = t.objects.emplace_back();
        x.shape = shape;
        NVNtextureBuilder b;
        nvnTextureBuilderSetDevice(&b, &t.device);
        nvnTextureBuilderSetDefaults(&b);
        nvnTextureBuilderSetFlags(&b, shape.flags);
        nvnTextureBuilderSetTarget(&b, shape.target);
        nvnTextureBuilderSetFormat(&b, shape.format);
        nvnTextureBuilderSetSize3D(&b, shape.width, shape.height, shape.depth);
        nvnTextureBuilderSetLevels(&b, shape.levels);
        if (shape.samples)
            nvnTextureBuilderSetSamples(&b, shape.samples);
        const std::size_t size = nvnTextureBuilderGetStorageSize(&b);
        const std::size_t alignment = nvnTextureBuilderGetStorageAlignment(&b);
        nvnTextureBuilderSetStorage(&b, &t.pool,
                                    static_cast<ptrdiff_t>(take(size, std::max<std::size_t>(alignment, 512))));
        EXPECT_TRUE(nvnTextureInitialize(&x.object, &b));
        x.id = t.next_id++;
        nvnTexturePoolRegisterTexture(&t.textures, x.id, &x.object, nullptr);
        return x;
    }
    static NVNprogram* program(std::initializer_list<std::string_view> sources) {
        State& t = s();
        std::string name;
        for (const std::string_view source : sources)
            name += source;
        for (auto& [text, made] : t.known)
            if (text == name)
                return made;
        std::vector<NVNshaderData> stages;
        for (const std::string_view source : sources) {
            const auto assembled = maxwell::assemble(source);
            EXPECT_TRUE(assembled) << (assembled ? "" : assembled.error().message);
            if (!assembled)
                return nullptr;
            const auto input = heaviside::program::build_input(*assembled);
            EXPECT_TRUE(input);
            auto blobs = heaviside::program::build(*input);
            EXPECT_TRUE(blobs);
            const std::size_t at = put(std::span<const std::byte>(blobs->gpu));
            t.controls.push_back(std::move(blobs->control));
            stages.push_back({address(at), t.controls.back().data()});
        }
        NVNprogram& made = t.programs.emplace_back();
        EXPECT_TRUE(nvnProgramInitialize(&made, &t.device));
        EXPECT_TRUE(nvnProgramSetShaders(&made, static_cast<int>(stages.size()), stages.data()));
        t.known.emplace_back(name, &made);
        return &made;
    }

    // --- recording
    static void begin() {
        State& t = s();
        t.list = take(list_bytes);
        nvnCommandBufferAddCommandMemory(&t.commands, &t.pool, static_cast<ptrdiff_t>(t.list), list_bytes);
        nvnCommandBufferAddControlMemory(&t.commands, t.control.data(), sizeof t.control);
        nvnCommandBufferBeginRecording(&t.commands);
        nvnCommandBufferSetTexturePool(&t.commands, &t.textures);
        nvnCommandBufferSetSamplerPool(&t.commands, &t.samplers);
    }
    static void run() {
        State& t = s();
        const NVNcommandHandle handle = nvnCommandBufferEndRecording(&t.commands);
        nvnQueueSubmitCommands(&t.queue, 1, &handle);
        nvnQueueFinish(&t.queue);
        begin();
    }
    static NVNcommandBuffer* c() { return &s().commands; }
    static NVNtextureView view(const Place& p) {
        NVNtextureView v;
        nvnTextureViewSetDefaults(&v);
        nvnTextureViewSetLevels(&v, p.level, 1);
        if (p.layers >= 0)
            nvnTextureViewSetLayers(&v, p.layer, p.layers);
        if (p.format != NVN_FORMAT_NONE)
            nvnTextureViewSetFormat(&v, p.format);
        return v;
    }
    static int extent_of(int size, int level) { return std::max(1, size >> level); }
    // Targets, and a viewport and scissor over the first of them.
    static void targets(std::initializer_list<Bound> colors, Bound depth = {}) {
        std::array<const NVNtexture*, 8> objects{};
        std::array<NVNtextureView, 9> views{};
        std::array<const NVNtextureView*, 8> pointers{};
        int n = 0;
        const Bound* first = nullptr;
        for (const Bound& b : colors) {
            if (b.texture) {
                objects[static_cast<std::size_t>(n)] = &b.texture->object;
                views[static_cast<std::size_t>(n)] = view(b.place);
                pointers[static_cast<std::size_t>(n)] = b.whole ? nullptr : &views[static_cast<std::size_t>(n)];
                if (!first)
                    first = &b;
            }
            ++n;
        }
        if (!first)
            first = &depth;
        views[8] = view(depth.place);
        nvnCommandBufferSetRenderTargets(c(), n, objects.data(), pointers.data(),
                                         depth.texture ? &depth.texture->object : nullptr,
                                         depth.texture && !depth.whole ? &views[8] : nullptr);
        const int w = extent_of(first->texture->shape.width, first->place.level);
        const int h = first->texture->shape.target == NVN_TEXTURE_TARGET_1D_ARRAY
                          ? 1
                          : extent_of(first->texture->shape.height, first->place.level);
        nvnCommandBufferSetViewport(c(), 0, 0, w, h);
        nvnCommandBufferSetScissor(c(), 0, 0, w, h);
        nvnCommandBufferSetDepthRange(c(), 0, 1);
    }
    static void default_state() {
        NVNpolygonState polygon;
        nvnPolygonStateSetDefaults(&polygon);
        nvnCommandBufferBindPolygonState(c(), &polygon);
        NVNcolorState color;
        nvnColorStateSetDefaults(&color);
        nvnCommandBufferBindColorState(c(), &color);
        NVNchannelMaskState mask;
        nvnChannelMaskStateSetDefaults(&mask);
        nvnCommandBufferBindChannelMaskState(c(), &mask);
        NVNmultisampleState multisample;
        nvnMultisampleStateSetDefaults(&multisample);
        nvnCommandBufferBindMultisampleState(c(), &multisample);
        NVNdepthStencilState depth;
        nvnDepthStencilStateSetDefaults(&depth);
        nvnCommandBufferBindDepthStencilState(c(), &depth);
        for (int i = 0; i < 8; ++i) {
            NVNblendState blend;
            nvnBlendStateSetDefaults(&blend);
            nvnBlendStateSetBlendTarget(&blend, i);
            nvnCommandBufferBindBlendState(c(), &blend);
        }
        nvnCommandBufferSetSampleMask(c(), ~0);
        nvnCommandBufferSetRasterizerDiscard(c(), NVN_FALSE);
        nvnCommandBufferSetDepthBounds(c(), NVN_FALSE, 0, 1);
        nvnCommandBufferSetDepthClamp(c(), NVN_FALSE);
        nvnCommandBufferSetStencilRef(c(), NVN_FACE_FRONT_AND_BACK, 0);
        nvnCommandBufferSetStencilMask(c(), NVN_FACE_FRONT_AND_BACK, 0xff);
        nvnCommandBufferSetStencilValueMask(c(), NVN_FACE_FRONT_AND_BACK, 0xff);
    }
    template <class T>
    static void uniform(NVNshaderStage stage, std::initializer_list<T> values, int slot = 0) {
        nvnCommandBufferBindUniformBuffer(c(), stage, slot,
                                          address(put(std::span<const T>(values.begin(), values.size()))),
                                          values.size() * sizeof(T));
    }
    static void use(std::initializer_list<std::string_view> sources) {
        nvnCommandBufferBindProgram(c(), program(sources), NVN_SHADER_STAGE_ALL_GRAPHICS_BITS);
    }
    // The bound program's strip; `quad` is its vertex stage.
    static void strip(const Rect& r = {}) {
        uniform<float>(NVN_SHADER_STAGE_VERTEX, {r.x0, r.y0, r.x1 - r.x0, r.y1 - r.y0, r.z, 1, 0, 0});
        nvnCommandBufferDrawArrays(c(), NVN_DRAW_PRIMITIVE_TRIANGLE_STRIP, 0, 4);
    }
    static void fill(const Float4& color, const Rect& r = {}) {
        use({quad, flat});
        uniform<float>(NVN_SHADER_STAGE_FRAGMENT, {color[0], color[1], color[2], color[3]});
        strip(r);
    }
    static void sample(const Texture& x, int slot = 0) {
        nvnCommandBufferBindTexture(c(), NVN_SHADER_STAGE_FRAGMENT, slot,
                                    nvnDeviceGetTextureHandle(&s().device, x.id, 256));
    }
    static void clear(const Float4& color, int target = 0, int mask = NVN_CLEAR_COLOR_MASK_RGBA) {
        nvnCommandBufferClearColor(c(), target, color.data(), mask);
    }
    // Copies texels behind what is recorded; read<T>(at, i) after run().
    static std::size_t copy_out(const Texture& x, const Place& p = {}, int plane = 0) {
        const int w = extent_of(x.shape.width, p.level);
        const int h = x.shape.target == NVN_TEXTURE_TARGET_1D_ARRAY ? 1 : extent_of(x.shape.height, p.level);
        const std::size_t at = take(static_cast<std::size_t>(w * h) * 16 + 64);
        const bool cube = x.shape.target == NVN_TEXTURE_TARGET_3D;
        Place whole = p;
        if (cube)
            whole.layers = -1;
        const NVNtextureView v = view(whole);
        const NVNcopyRegion region{0, 0, cube ? plane : 0, w, h, 1};
        nvnCommandBufferCopyTextureToBuffer(c(), &x.object, &v, &region, address(at), NVN_COPY_FLAGS_NONE);
        return at;
    }
    // All texels of one level and layer, rows from the first.
    template <class T>
    static std::vector<T> texels(const Texture& x, const Place& p = {}, int plane = 0) {
        const std::size_t at = copy_out(x, p, plane);
        run();
        const int w = extent_of(x.shape.width, p.level);
        const int h = x.shape.target == NVN_TEXTURE_TARGET_1D_ARRAY ? 1 : extent_of(x.shape.height, p.level);
        std::vector<T> out(static_cast<std::size_t>(w * h));
        std::memcpy(out.data(), s().storage + at, out.size() * sizeof(T));
        return out;
    }
    // Tightly packed texels into a level and layer.
    template <class T>
    static void upload(const Texture& x, const std::vector<T>& values, const Place& p = {}, int plane = 0) {
        const int w = extent_of(x.shape.width, p.level), h = extent_of(x.shape.height, p.level);
        const NVNtextureView v = view(x.shape.target == NVN_TEXTURE_TARGET_3D ? Place{p.level, 0, -1} : p);
        const NVNcopyRegion region{0, 0, plane, w, h, 1};
        nvnCommandBufferCopyBufferToTexture(c(), address(put(std::span<const T>(values))), &x.object, &v, &region,
                                            NVN_COPY_FLAGS_NONE);
    }
};

} // namespace heaviside::pixels
