// What is shown and when, what the host hears of it, and how a host's glue fits: through heaviside.h, its other names
// and NVN alone.
#include <heaviside/heaviside.h>
#include <heaviside/napple_gfx.h>
#include <nvn/nvn.h>

#include "api/runtime.h"
#include "api/settings.h"
#include "nvn/null_sink.h"

#include <gtest/gtest.h>
#include <png.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cmath>
#include <csetjmp>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>
#include <memory>
#include <pthread.h>
#include <string>
#include <sys/mman.h>
#include <thread>
#include <utility>
#include <vector>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define HEAVISIDE_SANITIZED
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define HEAVISIDE_SANITIZED
#endif
#endif

namespace {

using Color = std::array<float, 4>;

PFNNVNGENERICFUNCPTRPROC procs(const NVNdevice* device, const char* name) {
    return reinterpret_cast<PFNNVNDEVICEGETPROCADDRESSPROC>(nvnBootstrapLoader("nvnDeviceGetProcAddress"))(device,
                                                                                                           name);
}

struct Png {
    unsigned width = 0, height = 0;
    std::vector<unsigned char> rgba;
    explicit Png(const std::string& path) {
        png_image image{};
        image.version = PNG_IMAGE_VERSION;
        if (!png_image_begin_read_from_file(&image, path.c_str()))
            return;
        image.format = PNG_FORMAT_RGBA;
        width = image.width;
        height = image.height;
        rgba.resize(PNG_IMAGE_SIZE(image));
        png_image_finish_read(&image, nullptr, rgba.data(), 0, nullptr);
    }
    [[nodiscard]] std::array<int, 4> at(unsigned x, unsigned y) const {
        std::array<int, 4> texel{};
        for (unsigned i = 0; i < 4 && x < width && y < height; ++i)
            texel[i] = rgba[(y * width + x) * 4 + i];
        return texel;
    }
};
using Texel = std::array<int, 4>;
constexpr Texel red{255, 0, 0, 255}, green{0, 255, 0, 255}, black{0, 0, 0, 255};

// A window of two textures, 64 x 32, drawn to with clears.
class Presentation : public testing::Test {
protected:
    static constexpr int width = 64, height = 32;

    void SetUp() override {
        heaviside_config_default(&config);
        config.cache_dir = "";
        config.log_level = HEAVISIDE_LOG_INFO;
        config.user = this;
        config.log = [](void* user, heaviside_log_level, const char* line) {
            static_cast<Presentation*>(user)->lines.emplace_back(line);
        };
        config.pacing = HEAVISIDE_PACING_OFF;
    }
    void TearDown() override {
        finish_program();
        heaviside_shutdown();
        std::filesystem::remove(path);
    }
    void start(NVNformat format = NVN_FORMAT_RGBA8, NVNwindowOriginMode origin = NVN_WINDOW_ORIGIN_MODE_UPPER_LEFT) {
        const heaviside_result started = heaviside_init(&config);
        if (started == HEAVISIDE_ERROR_NO_DEVICE)
            GTEST_SKIP() << "no Vulkan device: " << heaviside_last_error();
        ASSERT_EQ(started, HEAVISIDE_OK) << heaviside_last_error();
        start_program(format, origin);
    }
    void start_program(NVNformat format = NVN_FORMAT_RGBA8,
                       NVNwindowOriginMode origin = NVN_WINDOW_ORIGIN_MODE_UPPER_LEFT) {
        nvnLoadCProcs(nullptr, procs);
        NVNdeviceBuilder device_builder;
        nvnDeviceBuilderSetDefaults(&device_builder);
        ASSERT_TRUE(nvnDeviceInitialize(&device, &device_builder));
        nvnDeviceSetWindowOriginMode(&device, origin);
        NVNqueueBuilder queue_builder;
        nvnQueueBuilderSetDevice(&queue_builder, &device);
        nvnQueueBuilderSetDefaults(&queue_builder);
        ASSERT_TRUE(nvnQueueInitialize(&queue, &queue_builder));
        NVNmemoryPoolBuilder pool_builder;
        nvnMemoryPoolBuilderSetDefaults(&pool_builder);
        nvnMemoryPoolBuilderSetDevice(&pool_builder, &device);
        nvnMemoryPoolBuilderSetFlags(&pool_builder,
                                     NVN_MEMORY_POOL_FLAGS_CPU_CACHED | NVN_MEMORY_POOL_FLAGS_GPU_CACHED);
        nvnMemoryPoolBuilderSetStorage(&pool_builder, storage.get(), pool_size);
        ASSERT_TRUE(nvnMemoryPoolInitialize(&pool, &pool_builder));
        NVNtexture* both[2];
        for (int i = 0; i < 2; ++i) {
            NVNtextureBuilder builder;
            nvnTextureBuilderSetDevice(&builder, &device);
            nvnTextureBuilderSetDefaults(&builder);
            nvnTextureBuilderSetFlags(&builder, NVN_TEXTURE_FLAGS_DISPLAY | NVN_TEXTURE_FLAGS_COMPRESSIBLE);
            nvnTextureBuilderSetTarget(&builder, NVN_TEXTURE_TARGET_2D);
            nvnTextureBuilderSetFormat(&builder, format);
            nvnTextureBuilderSetSize2D(&builder, width, height);
            nvnTextureBuilderSetStorage(&builder, &pool, texture_offset(i));
            ASSERT_TRUE(nvnTextureInitialize(&textures[i], &builder));
            both[i] = &textures[i];
        }
        NVNwindowBuilder window_builder;
        nvnWindowBuilderSetDefaults(&window_builder);
        nvnWindowBuilderSetDevice(&window_builder, &device);
        nvnWindowBuilderSetTextures(&window_builder, 2, both);
        ASSERT_TRUE(nvnWindowInitialize(&window, &window_builder));
        ASSERT_TRUE(nvnSyncInitialize(&available, &device));
        ASSERT_TRUE(nvnCommandBufferInitialize(&commands, &device));
        program_runs = true;
    }
    void finish_program() {
        if (!std::exchange(program_runs, false))
            return;
        nvnQueueFinish(&queue);
        nvnCommandBufferFinalize(&commands);
        nvnSyncFinalize(&available);
        nvnWindowFinalize(&window);
        for (NVNtexture& texture : textures)
            nvnTextureFinalize(&texture);
        nvnMemoryPoolFinalize(&pool);
        nvnQueueFinalize(&queue);
        nvnDeviceFinalize(&device);
    }
    static constexpr ptrdiff_t texture_offset(int i) { return ((i + 1) << 18) + 512; } // in pages that others share
    // The texture in one colour, its left upper quarter (by the device's origin) in another.
    void frame(const Color& all, const Color& quarter) {
        int index = 0;
        ASSERT_EQ(nvnWindowAcquireTexture(&window, &available, &index), NVN_WINDOW_ACQUIRE_TEXTURE_RESULT_SUCCESS);
        nvnQueueWaitSync(&queue, &available);
        nvnCommandBufferAddCommandMemory(&commands, &pool, index * 4096, 4096);
        nvnCommandBufferAddControlMemory(&commands, control[index], sizeof(control[index]));
        nvnCommandBufferBeginRecording(&commands);
        const NVNtexture* target = &textures[index];
        nvnCommandBufferSetRenderTargets(&commands, 1, &target, nullptr, nullptr, nullptr);
        nvnCommandBufferSetScissor(&commands, 0, 0, 1 << 14, 1 << 14);
        nvnCommandBufferClearColor(&commands, 0, all.data(), NVN_CLEAR_COLOR_MASK_RGBA);
        nvnCommandBufferSetScissor(&commands, 0, 0, width / 2, height / 2);
        nvnCommandBufferClearColor(&commands, 0, quarter.data(), NVN_CLEAR_COLOR_MASK_RGBA);
        const NVNcommandHandle handle = nvnCommandBufferEndRecording(&commands);
        nvnQueueSubmitCommands(&queue, 1, &handle);
        nvnQueuePresentTexture(&queue, &window, index);
    }
    Png screenshot() {
        nvnQueueFinish(&queue);
        EXPECT_EQ(heaviside_screenshot(path.c_str()), HEAVISIDE_OK) << heaviside_last_error();
        return Png(path);
    }
    int lines_with(const std::string& text) const {
        int count = 0;
        for (const std::string& line : lines)
            count += line.find(text) != std::string::npos;
        return count;
    }

    static constexpr std::size_t pool_size = 1 << 20;
    struct Free {
        void operator()(std::byte* memory) const { std::free(memory); }
    };
    std::unique_ptr<std::byte, Free> storage{static_cast<std::byte*>(std::aligned_alloc(0x10000, pool_size))};
    heaviside_config config;
    std::vector<std::string> lines;
    const std::string path = testing::TempDir() + "heaviside_presentation.png";
    bool program_runs = false;
    NVNdevice device{};
    NVNqueue queue{};
    NVNmemoryPool pool{};
    NVNtexture textures[2]{};
    NVNwindow window{};
    NVNsync available{};
    NVNcommandBuffer commands{};
    alignas(8) char control[2][1024]{};
};

// GFX-021, GFX-040, GFX-065, OBJ-150: without a window too a picture has its interval, which the host is told; the time
// passes in acquire, not in finish.
TEST_F(Presentation, HeadlessPicturesHaveTheirInterval) {
    static std::vector<std::pair<std::uint64_t, int>> heard;
    heard.clear();
    config.pacing = HEAVISIDE_PACING_GAME;
    config.on_present = [](void*, std::uint64_t number, int interval) { heard.emplace_back(number, interval); };
    start();
    nvnWindowSetPresentInterval(&window, 2);
    const auto began = std::chrono::steady_clock::now();
    for (int i = 0; i < 8; ++i)
        frame({1, 0, 0, 1}, {0, 1, 0, 1});
    // The eighth is drawn to the texture of the sixth, which was shown ten blanks after the first.
    EXPECT_GE(std::chrono::steady_clock::now() - began, std::chrono::milliseconds(166));
    ASSERT_EQ(heard.size(), 8u);
    for (std::uint64_t i = 0; i < 8; ++i)
        EXPECT_EQ(heard[i], std::pair(i + 1, 2));
}

// GFX-011, GFX-046, GFX-047.
TEST_F(Presentation, TheVsyncPeriodFollowsTheSettings) {
    EXPECT_EQ(heaviside_vsync_period_ns(), 16'666'667u);
    config.pacing = HEAVISIDE_PACING_FIXED;
    config.target_fps = 45;
    start();
    EXPECT_EQ(heaviside_vsync_period_ns(), 22'222'222u);
    finish_program();
    heaviside_shutdown();
    config.target_fps = 60;
    config.game_fps_divisor_fix = 1;
    ASSERT_EQ(heaviside_init(&config), HEAVISIDE_OK);
    start_program();
    nvnWindowSetPresentInterval(&window, 2);
    frame({1, 0, 0, 1}, {0, 1, 0, 1});
    EXPECT_EQ(heaviside_vsync_period_ns(), 8'333'333u);
}

// GFX-055, GFX-021: the guest's interval, or the host's for it; the host hears the guest's.
TEST(Front, IntervalsAreTheGuestsOrTheSettings) {
    struct Shown final : heaviside::nvn::NullSink {
        std::vector<heaviside::u32> intervals;
        void present(heaviside::stream::QueueId, const heaviside::stream::Present& p) override {
            intervals.push_back(p.interval);
        }
    } shown;
    std::vector<std::pair<std::uint64_t, int>> heard;
    heaviside::api::Settings settings;
    settings.user = &heard;
    settings.on_present = [](void* user, std::uint64_t frame, int interval) {
        static_cast<decltype(heard)*>(user)->emplace_back(frame, interval);
    };
    heaviside::api::FrontSink front(shown, settings);
    heaviside::stream::Present present{};
    for (const int override : {-1, 1, 0, 4}) {
        settings.present_interval_override = override;
        for (const heaviside::u32 interval : {2u, 0u}) {
            present.interval = interval;
            front.present(1, present);
        }
    }
    EXPECT_EQ(shown.intervals, (std::vector<heaviside::u32>{2, 0, 1, 1, 0, 0, 4, 4}));
    ASSERT_EQ(heard.size(), 8u);
    for (std::uint64_t i = 0; i < 8; ++i)
        EXPECT_EQ(heard[i], std::pair(i + 1, i % 2 ? 0 : 2));
    EXPECT_EQ(front.frames(), 8u);
}

// REN-106: a texture that nothing was drawn to shows what its storage holds.
TEST_F(Presentation, WindowTexturesNeedNoSubmission) {
    start();
    if (IsSkipped())
        return;
    for (const int value : {0x40, 0}) {
        std::memset(storage.get() + (1 << 18), value, 1 << 19);
        for (int i = 0; i < 3; ++i) {
            int index = 0;
            ASSERT_EQ(nvnWindowAcquireTexture(&window, &available, &index), NVN_WINDOW_ACQUIRE_TEXTURE_RESULT_SUCCESS);
            nvnQueuePresentTexture(&queue, &window, index);
            const Png shot = screenshot();
            EXPECT_EQ(std::pair(shot.width, shot.height), std::pair(64u, 32u));
            const Texel expected{value, value, value, value};
            EXPECT_EQ(shot.at(0, 0), expected);
            EXPECT_EQ(shot.at(63, 31), expected);
        }
    }
    EXPECT_EQ(lines_with("present"), 0);
}

// OBJ-213: what the CPU writes beside a drawn window texture, in its pages, does not bring the storage back, nor does
// what it leaves there itself.
TEST_F(Presentation, TheCpusWritesLeaveTheDrawnPictureAlone) {
    std::memset(storage.get(), 0, pool_size);
    start();
    if (IsSkipped())
        return;
    for (int i = 0; i < 2; ++i)
        frame({1, 0, 0, 1}, {0, 1, 0, 1});
    nvnQueueFinish(&queue);
    for (int i = 0; i < 100; ++i) {
        int index = 0;
        ASSERT_EQ(nvnWindowAcquireTexture(&window, &available, &index), NVN_WINDOW_ACQUIRE_TEXTURE_RESULT_SUCCESS);
        std::memset(storage.get() + texture_offset(index) - 512, i, i % 2 ? 512 : 512 + 0x2000);
        nvnQueuePresentTexture(&queue, &window, index);
        if (i % 25 == 24) {
            const Png shot = screenshot();
            EXPECT_EQ(shot.at(40, 20), red) << i;
            EXPECT_EQ(shot.at(3, 3), green) << i;
        }
    }
}

// REN-111: the window's crop, else the layer's if the texture has it, else everything.
TEST_F(Presentation, WindowCropsComeBeforeLayerCrops) {
    start();
    frame({1, 0, 0, 1}, {0, 1, 0, 1});
    Png all = screenshot();
    EXPECT_EQ(std::pair(all.width, all.height), std::pair(64u, 32u));
    EXPECT_EQ(all.at(31, 15), green);
    EXPECT_EQ(all.at(32, 15), red);
    EXPECT_EQ(all.at(31, 16), red);
    heaviside_set_layer_crop(0, 0, 32, 16);
    frame({1, 0, 0, 1}, {0, 1, 0, 1});
    const Png layer = screenshot();
    EXPECT_EQ(std::pair(layer.width, layer.height), std::pair(32u, 16u));
    EXPECT_EQ(layer.at(31, 15), green);
    heaviside_set_layer_crop(0, 0, 2000, 1200);
    for (int i = 0; i < 3; ++i)
        frame({1, 0, 0, 1}, {0, 1, 0, 1});
    all = screenshot();
    EXPECT_EQ(std::pair(all.width, all.height), std::pair(64u, 32u));
    EXPECT_EQ(lines_with("layer crop 0, 0, 2000 x 1200"), 1);
    heaviside_set_layer_crop(0, 0, 32, 16);
    nvnWindowSetCrop(&window, 48, 16, 16, 8);
    frame({1, 0, 0, 1}, {0, 1, 0, 1});
    const Png own = screenshot();
    EXPECT_EQ(std::pair(own.width, own.height), std::pair(16u, 8u));
    EXPECT_EQ(own.at(0, 0), red);
}

// REN-103: row 0 of memory is the bottom.
TEST_F(Presentation, LowerLeftPicturesAreUpright) {
    start(NVN_FORMAT_RGBA8, NVN_WINDOW_ORIGIN_MODE_LOWER_LEFT);
    frame({1, 0, 0, 1}, {0, 1, 0, 1}); // the quarter is where memory begins
    const Png shot = screenshot();
    EXPECT_EQ(shot.at(0, 31), green);
    EXPECT_EQ(shot.at(0, 0), red);
}

// REN-069: the stored byte is shown.
TEST_F(Presentation, EncodedTexturesAreShownAsStored) {
    start(NVN_FORMAT_RGBA8_SRGB);
    frame({0.50289f, 0, 0, 1}, {0.50289f, 0, 0, 1}); // stored as 188
    EXPECT_NEAR(screenshot().at(40, 20)[0], 188, 1);
}

// GFX-041, GFX-098.
TEST_F(Presentation, OutputsOfAnotherShapeAreFitted) {
    config.output_width = 1024;
    config.output_height = 600;
    config.fit = HEAVISIDE_FIT_LETTERBOX;
    start();
    frame({1, 0, 0, 1}, {1, 0, 0, 1});
    const Png bars = screenshot();
    EXPECT_EQ(std::pair(bars.width, bars.height), std::pair(1024u, 600u));
    EXPECT_EQ(bars.at(512, 43), black); // 1024 x 512 in the middle
    EXPECT_EQ(bars.at(512, 44), red);
    EXPECT_EQ(bars.at(512, 555), red);
    EXPECT_EQ(bars.at(512, 556), black);
    finish_program();
    heaviside_shutdown();
    config.fit = HEAVISIDE_FIT_FILL;
    ASSERT_EQ(heaviside_init(&config), HEAVISIDE_OK);
    start_program();
    frame({1, 0, 0, 1}, {1, 0, 0, 1});
    const Png filled = screenshot();
    EXPECT_EQ(filled.at(0, 0), red);
    EXPECT_EQ(filled.at(1023, 599), red);
}

// GFX-043, GFX-101, REN-109: pictures of output size at the place that the bilinear filter has, upright.
TEST_F(Presentation, UpscalersShowTheWholeOutput) {
    config.output_width = 96;
    config.output_height = 60; // 96 x 48 in the middle
    for (const int upscaler : {0, 1, 2, 3, 77}) {
        config.upscaler = upscaler;
        start(NVN_FORMAT_RGBA8, NVN_WINDOW_ORIGIN_MODE_LOWER_LEFT);
        if (IsSkipped())
            return;
        frame({1, 0, 0, 1}, {0, 1, 0, 1});
        const Png shot = screenshot();
        EXPECT_EQ(std::pair(shot.width, shot.height), std::pair(96u, 60u));
        EXPECT_EQ(shot.at(40, 5), black) << upscaler;
        EXPECT_EQ(shot.at(0, 6), red) << upscaler;
        EXPECT_EQ(shot.at(0, 53), green) << upscaler;
        EXPECT_EQ(shot.at(95, 53), red) << upscaler;
        EXPECT_EQ(shot.at(40, 54), black) << upscaler;
        // The last green column: bilinear blends a sixth of the next texel in, the kernels are steeper.
        const int blended = shot.at(47, 40)[0];
        if (upscaler == 0 || upscaler == 77)
            EXPECT_NEAR(blended, 43, 3);
        else
            EXPECT_LT(blended, 35);
        finish_program();
        heaviside_shutdown();
    }
    EXPECT_EQ(napple_display_effective_upscaler(1), HEAVISIDE_UPSCALER_EDGES); // GFX-103
    EXPECT_EQ(napple_display_effective_upscaler(0), HEAVISIDE_UPSCALER_NONE);
    EXPECT_EQ(napple_display_effective_upscaler(3), HEAVISIDE_UPSCALER_CONTRAST);
    int w = 0, h = 0; // GFX-102
    heaviside_render_size(1920, 1080, 2, &w, &h);
    EXPECT_EQ(std::pair(w, h), std::pair(1280, 720));
    heaviside_render_size(1920, 1080, 0, &w, nullptr);
    EXPECT_EQ(w, 1920);
    heaviside_render_size(1, 1, 3, &w, &h);
    EXPECT_EQ(std::pair(w, h), std::pair(1, 1));
}

// GFX-048.
TEST_F(Presentation, TheNextPictureCanBeAskedFor) {
    start();
    frame({0, 0, 0, 1}, {0, 0, 0, 1});
    nvnQueueFinish(&queue);
    ASSERT_EQ(napple_gfx_screenshot(path.c_str()), 0);
    EXPECT_FALSE(std::filesystem::exists(path));
    frame({0.25f, 0.5f, 0.75f, 1}, {0.25f, 0.5f, 0.75f, 1});
    nvnQueueFinish(&queue);
    const Texel texel = Png(path).at(3, 3);
    const Texel expected{64, 128, 191, 255};
    for (std::size_t i = 0; i < 4; ++i)
        EXPECT_NEAR(texel[i], expected[i], 1);
    EXPECT_EQ(heaviside_screenshot_next(nullptr), HEAVISIDE_ERROR_BAD_ARGUMENT);
}

// GFX-024.
TEST_F(Presentation, TheDumpNamesWhatIsMissing) {
    start();
    const auto missing =
        reinterpret_cast<std::uint64_t (*)(std::uint64_t)>(nvnBootstrapLoader("nvnProgramGetSubtileSize"));
    ASSERT_NE(missing, nullptr);
    EXPECT_EQ(nvnBootstrapLoader("nvnNoSuchName"), nullptr);
    const auto count = [] {
        std::vector<heaviside_call_count> entries(heaviside_unimplemented(nullptr, 0));
        heaviside_unimplemented(entries.data(), entries.size());
        for (const heaviside_call_count& entry : entries)
            if (std::strcmp(entry.name, "nvnProgramGetSubtileSize") == 0)
                return entry.count;
        return std::uint64_t{0};
    };
    const std::uint64_t before = count();
    missing(0);
    missing(0);
    EXPECT_EQ(count(), before + 2);
    lines.clear();
    heaviside_diag_dump();
    EXPECT_EQ(lines_with("nvnProgramGetSubtileSize, called " + std::to_string(before + 2) + " times"), 1);
    EXPECT_EQ(lines_with("nvnNoSuchName"), 1);
    EXPECT_EQ(lines_with("frames 0"), 1);
}

// GFX-050.
TEST_F(Presentation, AMissingEntryPointCanEndTheProcess) {
#ifdef HEAVISIDE_SANITIZED
    GTEST_SKIP() << "a process with threads does not fork well there";
#endif
    if (std::getenv("HEAVISIDE_VALIDATION"))
        GTEST_SKIP()
            << "the death test starts the program again, which scripts/with-validation's loader does not allow";
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    config.unimplemented_abort = 1;
    config.log = nullptr; // stderr
    const auto call = [&] {
        if (heaviside_init(&config) != HEAVISIDE_OK)
            std::abort();
        reinterpret_cast<std::uint64_t (*)(std::uint64_t)>(nvnBootstrapLoader("nvnProgramGetSubtileSize"))(0);
    };
    EXPECT_DEATH(call(), "nvnProgramGetSubtileSize");
}

// GFX-015, GFX-016: caches of two titles do not meet.
TEST(Titles, HaveFoldersOfTheirOwn) {
    heaviside_config config;
    heaviside_config_default(&config);
    config.cache_dir = "/some/where";
    const auto folder = [&](std::uint64_t title) {
        config.title_id = title;
        const auto settings = heaviside::api::resolve(config);
        return settings ? settings->device.cache_directory.string() : settings.error().message;
    };
    EXPECT_EQ(folder(0), "/some/where");
    EXPECT_EQ(folder(0x0100000000001000), "/some/where/0100000000001000");
    EXPECT_EQ(folder(1), "/some/where/0000000000000001");
    config.cache_dir = "";
    EXPECT_EQ(folder(1), "");
}

// GFX-014, GFX-018.
TEST(Settings, HaveTheirDefaults) {
    heaviside_config config;
    heaviside_config_default(&config);
    EXPECT_EQ(config.pacing, HEAVISIDE_PACING_GAME);
    EXPECT_EQ(config.fit, HEAVISIDE_FIT_LETTERBOX);
    EXPECT_EQ(config.title_id, 0u);
    EXPECT_EQ(config.target_fps, 0);
    EXPECT_EQ(config.game_fps_divisor_fix, 0);
    EXPECT_EQ(config.unimplemented_abort, 0);
    EXPECT_EQ(config.unconditional_rendering, 0);
    EXPECT_EQ(config.output_width, 0);
    EXPECT_EQ(config.output_height, 0);
    EXPECT_EQ(config.upscaler, HEAVISIDE_UPSCALER_NONE);
    EXPECT_EQ(config.sharpness, 0.5f);
    napple_gfx_config other;
    std::memset(&other, 0xa5, sizeof other);
    napple_gfx_config_default(&other);
    EXPECT_EQ(other.metal_layer, nullptr);
    EXPECT_EQ(other.settings.present_interval_override, 0);
    EXPECT_EQ(other.nvn_major, 0);
    EXPECT_EQ(other.nvn_minor, 0);
    EXPECT_EQ(other.gmem_base, 0u);
    EXPECT_EQ(other.gmem_size, 0u);
    EXPECT_EQ(other.settings.pacing, NAPPLE_PACING_GAME);
    for (const auto& [change, word] : std::initializer_list<std::pair<void (*)(heaviside_config&), const char*>>{
             {[](heaviside_config& c) { c.pacing = 7; }, "pacing"},
             {[](heaviside_config& c) { c.fit = -1; }, "fit"},
             {[](heaviside_config& c) { c.target_fps = -2; }, "target_fps"},
             {[](heaviside_config& c) { c.sharpness = 1.5f; }, "sharpness"},
             {[](heaviside_config& c) { c.sharpness = NAN; }, "sharpness"}}) {
        heaviside_config wrong = config;
        change(wrong);
        EXPECT_EQ(heaviside_init(&wrong), HEAVISIDE_ERROR_BAD_ARGUMENT);
        EXPECT_NE(std::string(heaviside_last_error()).find(word), std::string::npos);
    }
}

TEST(FitRect, IsTheContentsPlace) { // GFX-099
    const heaviside_rect letterbox = napple_display_fit_rect(1920, 1080, 1600, 1200, HEAVISIDE_FIT_LETTERBOX);
    EXPECT_EQ((std::array<int, 4>{letterbox.x, letterbox.y, letterbox.width, letterbox.height}),
              (std::array<int, 4>{0, 150, 1600, 900}));
    const heaviside_rect integer = heaviside_fit_rect(1280, 720, 3000, 2000, HEAVISIDE_FIT_INTEGER);
    EXPECT_EQ((std::array<int, 4>{integer.x, integer.y, integer.width, integer.height}),
              (std::array<int, 4>{220, 280, 2560, 1440}));
}

// GFX-038: a wait that has to wait gives the core away once and takes it back with the same token; others do not.
TEST_F(Presentation, OnlyWaitsThatWaitGiveTheCoreAway) {
    struct Core {
        std::atomic<int> away = 0, back = 0, strangers = 0;
        int token = 0;
    };
    static Core core;
    core.away = core.back = core.strangers = 0;
    config.core_away = [](void*) -> void* {
        ++core.away;
        return &core.token;
    };
    config.core_back = [](void*, void* token) {
        ++core.back;
        core.strangers += token != &core.token;
    };
    start();
    frame({1, 0, 0, 1}, {0, 1, 0, 1});
    NVNsync done;
    ASSERT_TRUE(nvnSyncInitialize(&done, &device));
    nvnQueueFenceSync(&queue, &done, NVN_SYNC_CONDITION_ALL_GPU_COMMANDS_COMPLETE, 0);
    nvnQueueFinish(&queue);
    core.away = core.back = 0;
    EXPECT_NE(nvnSyncWait(&done, ~0ull), NVN_SYNC_WAIT_RESULT_TIMEOUT_EXPIRED); // reached already
    EXPECT_EQ(core.away, 0);
    heaviside_suspend(); // nothing reaches the GPU
    nvnQueueFenceSync(&queue, &done, NVN_SYNC_CONDITION_ALL_GPU_COMMANDS_COMPLETE, 0);
    nvnQueueFlush(&queue);
    EXPECT_EQ(nvnSyncWait(&done, 0), NVN_SYNC_WAIT_RESULT_TIMEOUT_EXPIRED); // only asks
    EXPECT_EQ(core.away, 0);
    std::thread later([] {
        while (core.away == 0)
            std::this_thread::yield();
        heaviside_resume();
    });
    EXPECT_EQ(nvnSyncWait(&done, ~0ull), NVN_SYNC_WAIT_RESULT_CONDITION_SATISFIED);
    later.join();
    EXPECT_EQ(core.away, 1);
    EXPECT_EQ(core.back, 1);
    EXPECT_EQ(core.strangers, 0);
    nvnSyncFinalize(&done);
}

// OBJ-231: what is heavy runs on the library's own threads: a guest thread gets by with 32 KiB.
TEST_F(Presentation, FramesFitOnSmallStacks) {
#ifdef HEAVISIDE_SANITIZED
    GTEST_SKIP() << "the sanitizers' frames are larger";
#endif
    start();
    pthread_attr_t attributes;
    ASSERT_EQ(pthread_attr_init(&attributes), 0);
    ASSERT_EQ(pthread_attr_setstacksize(&attributes, 32 * 1024), 0);
    pthread_t thread;
    std::function<void()> frames = [this] {
        for (int i = 0; i < 3; ++i) {
            frame({1, 0, 0, 1}, {0, 1, 0, 1});
            nvnQueueFinish(&queue);
        }
    };
    const auto body = [](void* call) -> void* {
        (*static_cast<std::function<void()>*>(call))();
        return nullptr;
    };
    ASSERT_EQ(pthread_create(&thread, &attributes, body, &frames), 0);
    pthread_join(thread, nullptr);
    pthread_attr_destroy(&attributes);
    EXPECT_EQ(screenshot().at(40, 20), red);
}

// --- A host's glue: overrides before anything else, faults forwarded, vsync from presents (GFX-053, GFX-060, GFX-061)
// ---

sigjmp_buf foreign_fault;
std::atomic<int> forwarded{0};

void on_fault(int, siginfo_t* info, void*) {
    if (napple_gfx_handle_fault(reinterpret_cast<std::uintptr_t>(info->si_addr), 1, nullptr) == 1) {
        ++forwarded;
        return;
    }
    siglongjmp(foreign_fault, 1);
}

TEST_F(Presentation, AHostsGlueNeedsNothingElse) {
    std::size_t count = 0;
    const napple_gfx_override* const table = napple_gfx_hle_table(&count);
    ASSERT_GE(count, 1u);
    EXPECT_STREQ(table[0].symbol, "nvnBootstrapLoader");
    EXPECT_NE(reinterpret_cast<PFNNVNBOOTSTRAPLOADERPROC>(table[0].fn)("nvnQueueFlush"), nullptr); // before init
    EXPECT_EQ(napple_gfx_handle_fault(0x1000, 1, nullptr), 0);

    napple_gfx_config glue;
    napple_gfx_config_default(&glue);
    static std::atomic<int> presents;
    presents = 0;
    glue.hooks.on_present = [](void*, std::uint64_t, int) { ++presents; };
    glue.cache_dir = "";
    const int started = napple_gfx_init(&glue);
    if (started == HEAVISIDE_ERROR_NO_DEVICE)
        GTEST_SKIP() << "no Vulkan device";
    ASSERT_EQ(started, 0) << heaviside_last_error();
    struct sigaction mine {
    }, before{};
    mine.sa_sigaction = on_fault;
    mine.sa_flags = SA_SIGINFO | SA_NODEFER;
    sigaction(SIGSEGV, &mine, &before);
    start_program();
    forwarded = 0;
    NVNtextureBuilder builder;
    nvnTextureBuilderSetDevice(&builder, &device);
    nvnTextureBuilderSetDefaults(&builder);
    nvnTextureBuilderSetTarget(&builder, NVN_TEXTURE_TARGET_2D);
    nvnTextureBuilderSetFormat(&builder, NVN_FORMAT_RGBA8);
    nvnTextureBuilderSetSize2D(&builder, 128, 128);
    nvnTextureBuilderSetStorage(&builder, &pool, 0xC0000);
    NVNtexture texture;
    ASSERT_TRUE(nvnTextureInitialize(&texture, &builder));
    const auto first_texel = [&] {
        nvnCommandBufferAddCommandMemory(&commands, &pool, 0x3000, 4096);
        nvnCommandBufferAddControlMemory(&commands, control[0], sizeof(control[0]));
        nvnCommandBufferBeginRecording(&commands);
        const NVNcopyRegion region{0, 0, 0, 1, 1, 1};
        nvnCommandBufferCopyTextureToBuffer(&commands, &texture, nullptr, &region,
                                            nvnMemoryPoolGetBufferAddress(&pool) + 0x8000, 0);
        const NVNcommandHandle handle = nvnCommandBufferEndRecording(&commands);
        nvnQueueSubmitCommands(&queue, 1, &handle);
        nvnQueueFinish(&queue);
        std::uint32_t value = 0;
        std::memcpy(&value, storage.get() + 0x8000, sizeof value);
        return value;
    };
    auto* const texels = reinterpret_cast<volatile std::uint32_t*>(storage.get() + 0xC0000);
    for (std::uint32_t i = 1; i < 20; ++i) {
        *texels = i;
        EXPECT_EQ(first_texel(), i);
    }
    EXPECT_GE(forwarded, 1); // the pages of a texture that was looked at are watched
    // A fault of the host's own.
    void* const page = mmap(nullptr, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(page, MAP_FAILED);
    const int handled = forwarded;
    if (sigsetjmp(foreign_fault, 1) == 0) {
        *static_cast<volatile int*>(page) = 1;
        ADD_FAILURE() << "no fault";
    }
    EXPECT_EQ(forwarded, handled);
    munmap(page, 4096);
    frame({1, 0, 0, 1}, {0, 1, 0, 1});
    EXPECT_EQ(presents, 1);
    EXPECT_EQ(napple_gfx_vsync_period_ns(), 16'666'667u);
    EXPECT_EQ(screenshot().at(40, 20), red);
    napple_gfx_stats stats;
    napple_gfx_get_stats(&stats);
    EXPECT_EQ(stats.frames, 1u);
    EXPECT_EQ(stats.pending_async_compiles, 0u);
    nvnTextureFinalize(&texture);
    finish_program();
    napple_gfx_diag_dump();
    napple_gfx_shutdown();
    sigaction(SIGSEGV, &before, nullptr);
}

} // namespace
