// Programs, textures, samplers and pools on a device, through the API alone: what an application sees of objects that
// end, move or share IDs while work that names them is under way. Ledger rows at each test.
#include "maxwell/assembler.h"
#include "program/build.h"

#include <heaviside/heaviside.h>
#include <nvn/nvn.h>

#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <sys/mman.h>
#include <vector>

namespace {

using heaviside::u32;
using heaviside::u64;

PFNNVNGENERICFUNCPTRPROC procs(const NVNdevice* device, const char* name) {
    return reinterpret_cast<PFNNVNDEVICEGETPROCADDRESSPROC>(nvnBootstrapLoader("nvnDeviceGetProcAddress"))(device,
                                                                                                           name);
}

// A strip over the whole target; over its left half.
constexpr std::string_view whole = R"(
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
    FADD.FTZ R4, R4, R4
    FADD.FTZ R5, R5, R5
    FADD.FTZ R4, R4, -1
    FADD.FTZ R5, R5, -1
    MOV R6, RZ
    MOV32I R7, 0x3f800000
    AST.128 a[0x70], R4, RZ
    EXIT
)";
std::string left_half() {
    std::string text(whole);
    constexpr std::string_view doubled = "    FADD.FTZ R4, R4, R4\n";
    return text.erase(text.find(doubled), doubled.size());
}
// Texel 0, 0 of texture slot 0.
constexpr std::string_view texel = R"(
.stage fragment
.target 0 rgba
.entry main
main:
    MOV R0, RZ
    MOV R1, RZ
    TLD.LZ R4, R0, 0x8, 2D, 0xf
    MOV R0, R4
    MOV R1, R5
    MOV R2, R6
    MOV R3, R7
    EXIT
)";
// Texture slot 0 sampled at the coordinates -1, -1.
constexpr std::string_view outside = R"(
.stage fragment
.target 0 rgba
.entry main
main:
    MOV32I R0, 0xbf800000
    MOV32I R1, 0xbf800000
    TEX.LZ R4, R0, 0x8, 2D, 0xf
    MOV R0, R4
    MOV R1, R5
    MOV R2, R6
    MOV R3, R7
    EXIT
)";
std::string solid(u32 red, u32 green) { // bits of f32
    return ".stage fragment\n.target 0 rgba\n.entry main\nmain:\n    MOV32I R0, " + std::to_string(red) +
           "\n    MOV32I R1, " + std::to_string(green) + "\n    MOV R2, RZ\n    MOV32I R3, 0x3f800000\n    EXIT\n";
}
constexpr u32 one = 0x3f800000;
constexpr u32 black = 0xFF000000, red = 0xFF0000FF, green = 0xFF00FF00, white = 0xFFFFFFFF;

class Objects : public testing::Test {
protected:
    static constexpr std::size_t pool_size = 8 << 20, texture_place = 0x100000, target_place = 0x200000,
                                 code_place = 0x400000, ids_place = 0x500000;
    static constexpr int size = 16;

    void SetUp() override {
        heaviside_config config;
        heaviside_config_default(&config);
        config.cache_dir = "";
        config.log_level = HEAVISIDE_LOG_WARNING;
        const heaviside_result started = heaviside_init(&config);
        if (started == HEAVISIDE_ERROR_NO_DEVICE)
            GTEST_SKIP() << "no Vulkan device: " << heaviside_last_error();
        ASSERT_EQ(started, HEAVISIDE_OK) << heaviside_last_error();
        nvnLoadCProcs(nullptr, procs);
        NVNdeviceBuilder device_builder;
        nvnDeviceBuilderSetDefaults(&device_builder);
        ASSERT_TRUE(nvnDeviceInitialize(&device, &device_builder));
        std::memset(storage.get(), 0, pool_size);
        make_pool(pool, storage.get(), pool_size);
        NVNqueueBuilder queue_builder;
        nvnQueueBuilderSetDevice(&queue_builder, &device);
        nvnQueueBuilderSetDefaults(&queue_builder);
        for (NVNqueue& queue : queues)
            ASSERT_TRUE(nvnQueueInitialize(&queue, &queue_builder));
        ASSERT_TRUE(nvnCommandBufferInitialize(&commands, &device));
        ASSERT_TRUE(nvnTexturePoolInitialize(&textures, &pool, ids_place, 300));
        ASSERT_TRUE(nvnSamplerPoolInitialize(&samplers, &pool, ids_place + 0x10000, 300));
        NVNsamplerBuilder sampler;
        nvnSamplerBuilderSetDefaults(&sampler);
        nvnSamplerPoolRegisterSamplerBuilder(&samplers, 256, &sampler);
        target = linear(pool, target_place);
        running = true;
    }
    void TearDown() override {
        if (running) {
            for (NVNqueue& queue : queues)
                nvnQueueFinalize(&queue);
            for (NVNprogram& program : programs)
                nvnProgramFinalize(&program);
            nvnCommandBufferFinalize(&commands);
            nvnTexturePoolFinalize(&textures);
            nvnSamplerPoolFinalize(&samplers);
            nvnMemoryPoolFinalize(&pool);
            nvnDeviceFinalize(&device);
        }
        heaviside_shutdown();
    }

    void make_pool(NVNmemoryPool& object, void* memory, std::size_t bytes) {
        NVNmemoryPoolBuilder builder;
        nvnMemoryPoolBuilderSetDevice(&builder, &device);
        nvnMemoryPoolBuilderSetDefaults(&builder);
        nvnMemoryPoolBuilderSetStorage(&builder, memory, bytes);
        ASSERT_TRUE(nvnMemoryPoolInitialize(&object, &builder));
    }
    // 16x16 RGBA8 with rows of 128 bytes.
    NVNtexture linear(NVNmemoryPool& memory, std::size_t offset) {
        NVNtextureBuilder builder;
        nvnTextureBuilderSetDevice(&builder, &device);
        nvnTextureBuilderSetDefaults(&builder);
        nvnTextureBuilderSetFlags(&builder, NVN_TEXTURE_FLAGS_LINEAR_RENDER_TARGET);
        nvnTextureBuilderSetStride(&builder, 128);
        nvnTextureBuilderSetTarget(&builder, NVN_TEXTURE_TARGET_2D);
        nvnTextureBuilderSetFormat(&builder, NVN_FORMAT_RGBA8);
        nvnTextureBuilderSetSize2D(&builder, size, size);
        nvnTextureBuilderSetStorage(&builder, &memory, static_cast<ptrdiff_t>(offset));
        NVNtexture texture{};
        EXPECT_TRUE(nvnTextureInitialize(&texture, &builder));
        return texture;
    }
    // Such a texture of one colour.
    NVNtexture filled(int which, u32 color) {
        const std::size_t offset = texture_place + static_cast<std::size_t>(which) * 0x1000;
        for (std::size_t i = 0; i < size * 32; ++i)
            std::memcpy(storage.get() + offset + i * 4, &color, sizeof color);
        return linear(pool, offset);
    }
    NVNprogram* program(std::initializer_list<std::string_view> sources) {
        std::vector<NVNshaderData> stages;
        for (const std::string_view source : sources) {
            const auto assembled = heaviside::maxwell::assemble(source);
            EXPECT_TRUE(assembled) << (assembled ? "" : assembled.error().message);
            const auto input = heaviside::program::build_input(*assembled);
            EXPECT_TRUE(input);
            auto blobs = heaviside::program::build(*input);
            EXPECT_TRUE(blobs);
            std::memcpy(storage.get() + code_place + code_used, blobs->gpu.data(), blobs->gpu.size());
            controls.push_back(std::move(blobs->control));
            stages.push_back({nvnMemoryPoolGetBufferAddress(&pool) + code_place + code_used, controls.back().data()});
            code_used += (blobs->gpu.size() + 0x4FF) & ~std::size_t{0xFF};
        }
        NVNprogram& made = programs.at(program_count++);
        EXPECT_TRUE(nvnProgramInitialize(&made, &device));
        EXPECT_TRUE(nvnProgramSetShaders(&made, static_cast<int>(stages.size()), stages.data()));
        return &made;
    }

    template <class Record>
    void submit(Record&& record, int queue = 0) {
        const std::size_t slot = recording++ % 16; // the memory of a list that waits is not recorded over
        nvnCommandBufferAddCommandMemory(&commands, &pool, static_cast<ptrdiff_t>(slot * 0x2000), 0x2000);
        nvnCommandBufferAddControlMemory(&commands, control.at(slot).data(), sizeof control[slot]);
        nvnCommandBufferBeginRecording(&commands);
        record(&commands);
        const NVNcommandHandle handle = nvnCommandBufferEndRecording(&commands);
        nvnQueueSubmitCommands(&queues.at(static_cast<std::size_t>(queue)), 1, &handle);
    }
    // What a draw needs but for its program.
    void prepare(NVNcommandBuffer* c, const NVNtexturePool& ids, int id = 256) {
        const NVNtexture* color = &target;
        nvnCommandBufferSetRenderTargets(c, 1, &color, nullptr, nullptr, nullptr);
        nvnCommandBufferSetViewport(c, 0, 0, size, size);
        nvnCommandBufferSetScissor(c, 0, 0, size, size);
        const float clear[] = {0, 0, 0, 1};
        nvnCommandBufferClearColor(c, 0, clear, NVN_CLEAR_COLOR_MASK_RGBA);
        nvnCommandBufferSetTexturePool(c, &ids);
        nvnCommandBufferSetSamplerPool(c, &samplers);
        nvnCommandBufferBindTexture(c, NVN_SHADER_STAGE_FRAGMENT, 0, nvnDeviceGetTextureHandle(&device, id, 256));
    }
    static void draw(NVNcommandBuffer* c) { nvnCommandBufferDrawArrays(c, NVN_DRAW_PRIMITIVE_TRIANGLE_STRIP, 0, 4); }
    u32 pixel(int x = 4, int queue = 0) {
        nvnQueueFinish(&queues.at(static_cast<std::size_t>(queue)));
        u32 value = 0;
        std::memcpy(&value, storage.get() + target_place + 4 * 128 + x * 4, sizeof value);
        return value;
    }

    struct Free {
        void operator()(std::byte* memory) const { std::free(memory); }
    };
    std::unique_ptr<std::byte, Free> storage{static_cast<std::byte*>(std::aligned_alloc(0x10000, pool_size))};
    bool running = false;
    NVNdevice device{};
    NVNmemoryPool pool{};
    std::array<NVNqueue, 2> queues{};
    NVNcommandBuffer commands{};
    alignas(8) std::array<std::array<u64, 64>, 16> control{};
    std::size_t recording = 0, code_used = 0, program_count = 0;
    NVNtexturePool textures{};
    NVNsamplerPool samplers{};
    NVNtexture target{};
    std::array<NVNprogram, 8> programs{};
    std::vector<std::vector<std::byte>> controls;
};

// A list that goes on in another command buffer of the device, as the first one that selects pools does: what it stores
// last is what guest memory holds.
TEST_F(Objects, TheFirstDrawOfAllIsInMemory) {
    NVNprogram* const paint = program({whole, solid(one, 0)});
    submit([&](NVNcommandBuffer* c) {
        prepare(c, textures);
        nvnCommandBufferBindProgram(c, paint, NVN_SHADER_STAGE_ALL_GRAPHICS_BITS);
        draw(c);
    });
    EXPECT_EQ(pixel(), red);
}

// SHD-130: what ID 256 is depends on the pool that the list set.
TEST_F(Objects, AnIdMeansWhatItsOwnPoolSays) {
    const NVNtexture a = filled(0, red), b = filled(1, green);
    NVNtexturePool other;
    ASSERT_TRUE(nvnTexturePoolInitialize(&other, &pool, ids_place + 0x20000, 300));
    nvnTexturePoolRegisterTexture(&textures, 256, &a, nullptr);
    nvnTexturePoolRegisterTexture(&other, 256, &b, nullptr);
    NVNprogram* const look = program({whole, texel});
    for (NVNtexturePool* const ids : {&textures, &other, &textures}) {
        submit([&](NVNcommandBuffer* c) {
            prepare(c, *ids);
            nvnCommandBufferBindProgram(c, look, NVN_SHADER_STAGE_ALL_GRAPHICS_BITS);
            draw(c);
        });
        EXPECT_EQ(pixel(), ids == &other ? green : red);
    }
    nvnTexturePoolFinalize(&other);
    // OBJ-235: a fetch needs no sampler.
    const NVNtextureHandle fetch = nvnDeviceGetTexelFetchHandle(&device, 256);
    EXPECT_EQ(fetch, 256u);
    NVNsamplerPool empty;
    ASSERT_TRUE(nvnSamplerPoolInitialize(&empty, &pool, ids_place + 0x30000, 300));
    submit([&](NVNcommandBuffer* c) {
        prepare(c, textures);
        nvnCommandBufferSetSamplerPool(c, &empty);
        nvnCommandBufferBindTexture(c, NVN_SHADER_STAGE_FRAGMENT, 0, fetch);
        nvnCommandBufferBindProgram(c, look, NVN_SHADER_STAGE_ALL_GRAPHICS_BITS);
        draw(c);
    });
    EXPECT_EQ(pixel(), red);
    nvnSamplerPoolFinalize(&empty);
}

// GFX-066, GFX-067: what a host's video decoder needs of a guest's texture.
TEST_F(Objects, AHostReadsAndWritesTextures) {
    NVNtextureBuilder builder;
    nvnTextureBuilderSetDevice(&builder, &device);
    nvnTextureBuilderSetDefaults(&builder);
    nvnTextureBuilderSetTarget(&builder, NVN_TEXTURE_TARGET_2D);
    nvnTextureBuilderSetFormat(&builder, NVN_FORMAT_RGBA8);
    nvnTextureBuilderSetSize2D(&builder, 640, 360);
    nvnTextureBuilderSetStorage(&builder, &pool, texture_place);
    NVNtexture picture{};
    ASSERT_TRUE(nvnTextureInitialize(&picture, &builder));
    heaviside_texture info{};
    info.size = sizeof info;
    ASSERT_EQ(heaviside_texture_info(&picture, &info), HEAVISIDE_OK) << heaviside_last_error();
    EXPECT_EQ(info.width, 640);
    EXPECT_EQ(info.height, 360);
    EXPECT_EQ(info.depth, 1);
    EXPECT_EQ(info.levels, 1);
    EXPECT_EQ(info.format, NVN_FORMAT_RGBA8);
    const NVNtexture none{};
    const std::array<heaviside::u8, 16> bytes{};
    for (const void* const other :
         {static_cast<const void*>(&none), static_cast<const void*>(nullptr), reinterpret_cast<const void*>(0x1000)}) {
        EXPECT_EQ(heaviside_texture_info(other, &info), HEAVISIDE_ERROR_BAD_ARGUMENT);
        EXPECT_EQ(heaviside_texture_write_rgba(other, bytes.data(), 0), HEAVISIDE_ERROR_BAD_ARGUMENT);
    }
    info.size = 4;
    EXPECT_EQ(heaviside_texture_info(&picture, &info), HEAVISIDE_ERROR_BAD_ARGUMENT);
    EXPECT_EQ(heaviside_texture_write_rgba(&picture, nullptr, 0), HEAVISIDE_ERROR_BAD_ARGUMENT);
    EXPECT_EQ(heaviside_texture_write_rgba(&picture, bytes.data(), 3), HEAVISIDE_ERROR_BAD_ARGUMENT);

    NVNprogram* const look = program({whole, texel});
    struct Case {
        NVNformat format;
        u32 stored; // of the bytes 0xff 0x00 0x33 0xff
    };
    for (const Case& c :
         {Case{NVN_FORMAT_RGBA8, 0xff3300ff}, Case{NVN_FORMAT_BGRA8, 0xffff0033}, Case{NVN_FORMAT_RGB565, 0x301f}})
        for (const std::size_t gap : {0, 20}) {
            nvnTextureBuilderSetFormat(&builder, c.format);
            nvnTextureBuilderSetSize2D(&builder, 4, 4);
            NVNtexture small{};
            ASSERT_TRUE(nvnTextureInitialize(&small, &builder));
            nvnTexturePoolRegisterTexture(&textures, 256, &small, nullptr);
            const auto shown = [&] {
                submit([&](NVNcommandBuffer* list) {
                    prepare(list, textures);
                    nvnCommandBufferBindProgram(list, look, NVN_SHADER_STAGE_ALL_GRAPHICS_BITS);
                    draw(list);
                });
                return pixel();
            };
            std::vector<heaviside::u8> texels((16 + gap) * 4, 0x77);
            for (std::size_t i = 0; i < 16; ++i) { // the upper left texel is pink, each other its number in red
                const heaviside::u8 color[] = {static_cast<heaviside::u8>(i ? i * 16 : 0xff), 0, 0x33, 0xff};
                std::memcpy(texels.data() + i / 4 * (16 + gap) + i % 4 * 4, color, 4);
            }
            const u32 before = shown();
            ASSERT_EQ(heaviside_texture_write_rgba(&small, texels.data(), gap ? 16 + gap : 0), HEAVISIDE_OK)
                << heaviside_last_error();
            EXPECT_EQ(shown() & 0xff00ffff, 0xff0000ffu) << c.format;
            EXPECT_NEAR(shown() >> 16 & 0xff, 0x33, 2);
            u32 stored = 0;
            std::memcpy(&stored, storage.get() + texture_place, c.format == NVN_FORMAT_RGB565 ? 2 : 4);
            EXPECT_EQ(stored, c.stored);
            std::array<u32, 16> read{};
            const NVNcopyRegion last{3, 3, 0, 1, 1, 1};
            nvnTextureReadTexels(&small, nullptr, &last, read.data());
            if (c.format == NVN_FORMAT_RGBA8) {
                EXPECT_EQ(read[0], 0xff3300f0u);
            }
            (void)before;
            std::memset(storage.get() + texture_place, 0, 0x1000);
        }
    nvnTextureBuilderSetFormat(&builder, NVN_FORMAT_RGBA8UI);
    NVNtexture numbers{};
    ASSERT_TRUE(nvnTextureInitialize(&numbers, &builder));
    EXPECT_EQ(heaviside_texture_write_rgba(&numbers, bytes.data(), 0), HEAVISIDE_ERROR_BAD_ARGUMENT);
}

// SHD-131: fresh IDs round a ring of 12,544, the last one sampled.
TEST_F(Objects, EveryIdOfALargePoolIsSampled) {
    constexpr int count = 12544;
    const NVNtexture a = filled(0, red), b = filled(1, green);
    NVNtexturePool ring;
    ASSERT_TRUE(nvnTexturePoolInitialize(&ring, &pool, ids_place + 0x20000, count));
    NVNprogram* const look = program({whole, texel});
    for (int turn = 0; turn < 2; ++turn) {
        for (int id = 256; id < count; ++id)
            nvnTexturePoolRegisterTexture(&ring, id, (id + turn) % 2 == 0 ? &a : &b, nullptr);
        for (const int id : {256, 8729, count - 2, count - 1}) {
            submit([&](NVNcommandBuffer* c) {
                prepare(c, ring, id);
                nvnCommandBufferBindProgram(c, look, NVN_SHADER_STAGE_ALL_GRAPHICS_BITS);
                draw(c);
            });
            EXPECT_EQ(pixel(), (id + turn) % 2 == 0 ? red : green) << id;
        }
    }
    nvnTexturePoolFinalize(&ring);
}

// SHD-053, SHD-091, REN-148: programs of one stage combine at the draw.
TEST_F(Objects, SingleStageProgramsCombine) {
    NVNprogram* const vertex[] = {program({whole}), program({left_half()})};
    NVNprogram* const fragment[] = {program({solid(one, 0)}), program({solid(0, one)})};
    const u32 colors[] = {red, green};
    for (const int v : {0, 1}) {
        submit([&](NVNcommandBuffer* c) { // the vertex stage lies in a list of its own
            nvnCommandBufferBindProgram(c, vertex[v], NVN_SHADER_STAGE_VERTEX_BIT);
        });
        for (const int f : {0, 1}) {
            submit([&](NVNcommandBuffer* c) {
                prepare(c, textures);
                nvnCommandBufferBindProgram(c, fragment[f], NVN_SHADER_STAGE_FRAGMENT_BIT);
                draw(c);
            });
            EXPECT_EQ(pixel(4), colors[f]) << v;
            EXPECT_EQ(pixel(12), v == 0 ? colors[f] : black) << f;
        }
    }
    submit([&](NVNcommandBuffer* c) { // no fragment stage: nothing is coloured
        prepare(c, textures);
        nvnCommandBufferBindProgram(c, nullptr, NVN_SHADER_STAGE_FRAGMENT_BIT);
        draw(c);
    });
    EXPECT_EQ(pixel(4), black);
}

// OBJ-137: a finalised program is out of every queue's state, and of a combination only its own half.
TEST_F(Objects, AFinalizedProgramIsBoundNowhere) {
    NVNprogram* const both = program({whole, solid(one, 0)});
    for (const int queue : {0, 1}) {
        submit(
            [&](NVNcommandBuffer* c) {
                prepare(c, textures);
                nvnCommandBufferBindProgram(c, both, NVN_SHADER_STAGE_ALL_GRAPHICS_BITS);
                draw(c);
            },
            queue);
        EXPECT_EQ(pixel(4, queue), red);
    }
    nvnProgramFinalize(both);
    std::memset(both, 0xEE, sizeof *both);
    for (const int queue : {0, 1}) {
        submit(
            [&](NVNcommandBuffer* c) {
                prepare(c, textures);
                draw(c);
            },
            queue);
        EXPECT_EQ(pixel(4, queue), black) << queue;
    }
    std::memset(both, 0, sizeof *both);
    NVNprogram* const vertex = program({whole});
    NVNprogram* const fragment = program({solid(one, 0)});
    NVNprogram* const later = program({solid(0, one)});
    submit([&](NVNcommandBuffer* c) {
        prepare(c, textures);
        nvnCommandBufferBindProgram(c, vertex, NVN_SHADER_STAGE_VERTEX_BIT);
        nvnCommandBufferBindProgram(c, fragment, NVN_SHADER_STAGE_FRAGMENT_BIT);
        draw(c);
    });
    EXPECT_EQ(pixel(), red);
    nvnProgramFinalize(fragment);
    submit([&](NVNcommandBuffer* c) {
        prepare(c, textures);
        draw(c);
    });
    EXPECT_EQ(pixel(), black);
    submit([&](NVNcommandBuffer* c) { // the vertex half is still there
        prepare(c, textures);
        nvnCommandBufferBindProgram(c, later, NVN_SHADER_STAGE_FRAGMENT_BIT);
        draw(c);
    });
    EXPECT_EQ(pixel(), green);
}

// OBJ-094, OBJ-262: the memory under an ID may go, and its pool object be something else. A texture that was never
// drawn reads as an empty slot; nothing faults.
TEST_F(Objects, TexturesOfAFinalizedPoolReadAsNothing) {
    constexpr std::size_t bytes = 0x10000;
    void* const memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(memory, MAP_FAILED);
    std::memset(memory, 0xFF, bytes);
    NVNmemoryPool gone;
    make_pool(gone, memory, bytes);
    const NVNtexture lost = linear(gone, 0), there = filled(0, green);
    nvnTexturePoolRegisterTexture(&textures, 256, &lost, nullptr);
    nvnTexturePoolRegisterTexture(&textures, 257, &there, nullptr);
    NVNprogram* const look = program({whole, texel});
    nvnMemoryPoolFinalize(&gone);
    std::memset(&gone, 0xA5, sizeof gone);
    ::munmap(memory, bytes);
    for (const auto& [id, color] : {std::pair(256, 0u), std::pair(257, green), std::pair(256, 0u)}) {
        submit([&, id = id](NVNcommandBuffer* c) {
            prepare(c, textures, id);
            nvnCommandBufferBindProgram(c, look, NVN_SHADER_STAGE_ALL_GRAPHICS_BITS);
            draw(c);
        });
        EXPECT_EQ(pixel(), color) << id;
    }
}

// OBJ-134: what was submitted and waits draws with the program, texture and sampler it was submitted with, though the
// objects are others since and their IDs too. What comes later does not (OBJ-137).
TEST_F(Objects, WaitingWorkDrawsWithWhatItWasSubmittedWith) {
    NVNeventBuilder event_builder;
    nvnEventBuilderSetDefaults(&event_builder);
    nvnEventBuilderSetStorage(&event_builder, &pool, 0x80000);
    NVNevent event;
    ASSERT_TRUE(nvnEventInitialize(&event, &event_builder));
    const auto put_sampler = [&](const float(&border)[4]) {
        NVNsamplerBuilder builder;
        nvnSamplerBuilderSetDefaults(&builder);
        nvnSamplerBuilderSetWrapMode(&builder, NVN_WRAP_MODE_CLAMP_TO_BORDER, NVN_WRAP_MODE_CLAMP_TO_BORDER,
                                     NVN_WRAP_MODE_CLAMP_TO_BORDER);
        nvnSamplerBuilderSetBorderColor(&builder, border);
        nvnSamplerPoolRegisterSamplerBuilder(&samplers, 256, &builder);
    };
    u32 turn = 0;
    for (const std::string_view source : {texel, outside}) { // of the texture; of the sampler's border
        ++turn;
        NVNtexture before = filled(0, white), after = filled(1, green);
        nvnTexturePoolRegisterTexture(&textures, 256, &before, nullptr);
        put_sampler({1, 1, 1, 1});
        NVNprogram* const look = program({left_half(), source});
        submit([&](NVNcommandBuffer* c) {
            nvnCommandBufferWaitEvent(c, &event, NVN_EVENT_WAIT_MODE_EQUAL, turn);
            prepare(c, textures);
            nvnCommandBufferBindProgram(c, look, NVN_SHADER_STAGE_ALL_GRAPHICS_BITS);
            draw(c);
        });
        NVNtexture second = linear(pool, target_place + 0x1000);
        nvnTextureFinalize(&before);
        std::memset(&before, 0xEE, sizeof before);
        nvnTexturePoolRegisterTexture(&textures, 256, &after, nullptr);
        put_sampler({0, 1, 0, 1});
        nvnProgramFinalize(look);
        std::memset(look, 0, sizeof *look);
        --program_count;
        ASSERT_EQ(program({whole, source}), look); // another program in the same object
        submit(
            [&](NVNcommandBuffer* c) {
                prepare(c, textures);
                nvnCommandBufferBindProgram(c, look, NVN_SHADER_STAGE_ALL_GRAPHICS_BITS);
                draw(c);
            },
            1);
        EXPECT_EQ(pixel(4, 1), green);
        EXPECT_EQ(pixel(12, 1), green);
        submit([&](NVNcommandBuffer* c) { // waits too, but nothing is bound for it any more
            const NVNtexture* color = &second;
            nvnCommandBufferSetRenderTargets(c, 1, &color, nullptr, nullptr, nullptr);
            const float clear[] = {0, 0, 1, 1};
            nvnCommandBufferClearColor(c, 0, clear, NVN_CLEAR_COLOR_MASK_RGBA);
            draw(c);
        });
        nvnEventSignal(&event, NVN_EVENT_SIGNAL_MODE_WRITE, turn);
        EXPECT_EQ(pixel(4), white) << turn;
        EXPECT_EQ(pixel(12), black) << turn; // the program of the left half
        u32 untouched = 0;
        std::memcpy(&untouched, storage.get() + target_place + 0x1000 + 4 * 128 + 4 * 4, sizeof untouched);
        EXPECT_EQ(untouched, 0xFFFF0000u) << turn;
        for (const int queue : {0, 1}) {
            submit(
                [&](NVNcommandBuffer* c) {
                    prepare(c, textures);
                    nvnCommandBufferBindProgram(c, look, NVN_SHADER_STAGE_ALL_GRAPHICS_BITS);
                    draw(c);
                },
                queue);
            EXPECT_EQ(pixel(4, queue), green) << turn;
        }
    }
    nvnEventFinalize(&event);
}

// REN-051: any border colour is sampled exactly.
TEST_F(Objects, AnyBorderColourIsSampled) {
    const NVNtexture texture = filled(0, red);
    nvnTexturePoolRegisterTexture(&textures, 256, &texture, nullptr);
    NVNprogram* const look = program({whole, outside});
    NVNsamplerBuilder builder;
    const auto sampled = [&] {
        NVNsampler sampler;
        EXPECT_TRUE(nvnSamplerInitialize(&sampler, &builder));
        nvnSamplerPoolRegisterSampler(&samplers, 256, &sampler);
        submit([&](NVNcommandBuffer* c) {
            prepare(c, textures);
            nvnCommandBufferBindProgram(c, look, NVN_SHADER_STAGE_ALL_GRAPHICS_BITS);
            draw(c);
        });
        return pixel();
    };
    nvnSamplerBuilderSetDefaults(&builder);
    nvnSamplerBuilderSetWrapMode(&builder, NVN_WRAP_MODE_CLAMP_TO_BORDER, NVN_WRAP_MODE_CLAMP_TO_BORDER,
                                 NVN_WRAP_MODE_CLAMP_TO_BORDER);
    const float opaque_black[] = {0, 0, 0, 1}, opaque_white[] = {1, 1, 1, 1};
    nvnSamplerBuilderSetBorderColor(&builder, opaque_white);
    EXPECT_EQ(sampled(), white);
    nvnSamplerBuilderSetBorderColor(&builder, opaque_black);
    EXPECT_EQ(sampled(), black);
    const int black_numbers[] = {0, 0, 0, 1}, white_numbers[] = {1, 1, 1, 1}; // OBJ-219: 1 is 1.0
    const std::uint32_t black_words[] = {0, 0, 0, 1}, white_words[] = {1, 1, 1, 1};
    nvnSamplerBuilderSetBorderColori(&builder, white_numbers);
    EXPECT_EQ(sampled(), white);
    nvnSamplerBuilderSetBorderColori(&builder, black_numbers);
    EXPECT_EQ(sampled(), black);
    nvnSamplerBuilderSetBorderColorui(&builder, white_words);
    EXPECT_EQ(sampled(), white);
    nvnSamplerBuilderSetBorderColorui(&builder, black_words);
    EXPECT_EQ(sampled(), black);
    const float any[] = {1, 0.2f, 0, 0.4f}; // no standard colour
    nvnSamplerBuilderSetBorderColor(&builder, any);
    EXPECT_EQ(sampled(), 0x660033FFu);
}

} // namespace
