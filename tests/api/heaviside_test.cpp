// The runtime's interface: what heaviside.h promises, headless, through its public functions and NVN alone.
#include <heaviside/heaviside.h>
#include <nvn/nvn.h>

#include <gtest/gtest.h>
#include <png.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <memory>
#include <pthread.h>
#include <set>
#include <string>
#include <vector>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define HEAVISIDE_SANITIZED
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define HEAVISIDE_SANITIZED
#endif
#endif

extern "C" const unsigned nvnPrivate0; // as a program imports it

namespace {

struct Heard {
    std::vector<std::string> lines;
    std::vector<std::uint64_t> presented;
    std::vector<std::string> wrapped;
    int away = 0, back = 0;
};

heaviside_config config_for(Heard& heard) {
    heaviside_config config;
    heaviside_config_default(&config);
    config.user = &heard;
    config.log = [](void* user, heaviside_log_level, const char* line) {
        static_cast<Heard*>(user)->lines.emplace_back(line);
    };
    config.cache_dir = "";
    return config;
}

// Starts the runtime or skips the test where there is no device at all.
#define START_OR_SKIP(config)                                                                                          \
    if (const heaviside_result started = heaviside_init(&(config)); started == HEAVISIDE_ERROR_NO_DEVICE)              \
        GTEST_SKIP() << "no Vulkan device: " << heaviside_last_error();                                                \
    else                                                                                                               \
        ASSERT_EQ(started, HEAVISIDE_OK) << heaviside_last_error()

class Runtime : public testing::Test {
protected:
    Heard heard;
    void TearDown() override { heaviside_shutdown(); }
};

PFNNVNGENERICFUNCPTRPROC procs(const NVNdevice* device, const char* name) {
    return reinterpret_cast<PFNNVNDEVICEGETPROCADDRESSPROC>(nvnBootstrapLoader("nvnDeviceGetProcAddress"))(device,
                                                                                                           name);
}

// The smallest program with a window: one texture cleared to a colour and presented.
class ClearProgram {
public:
    explicit ClearProgram(int width = 64, int height = 32) {
        nvnLoadCProcs(nullptr, procs);
        NVNdeviceBuilder device_builder;
        nvnDeviceBuilderSetDefaults(&device_builder);
        started_ = nvnDeviceInitialize(&device_, &device_builder);
        if (!started_)
            return;
        nvnDeviceSetWindowOriginMode(&device_, NVN_WINDOW_ORIGIN_MODE_UPPER_LEFT);
        NVNqueueBuilder queue_builder;
        nvnQueueBuilderSetDevice(&queue_builder, &device_);
        nvnQueueBuilderSetDefaults(&queue_builder);
        EXPECT_TRUE(nvnQueueInitialize(&queue_, &queue_builder));
        NVNmemoryPoolBuilder pool_builder;
        nvnMemoryPoolBuilderSetDefaults(&pool_builder);
        nvnMemoryPoolBuilderSetDevice(&pool_builder, &device_);
        nvnMemoryPoolBuilderSetFlags(&pool_builder,
                                     NVN_MEMORY_POOL_FLAGS_CPU_UNCACHED | NVN_MEMORY_POOL_FLAGS_GPU_CACHED);
        nvnMemoryPoolBuilderSetStorage(&pool_builder, storage_.get(), pool_size);
        EXPECT_TRUE(nvnMemoryPoolInitialize(&pool_, &pool_builder));
        for (int i = 0; i < 2; ++i) {
            NVNtextureBuilder builder;
            nvnTextureBuilderSetDevice(&builder, &device_);
            nvnTextureBuilderSetDefaults(&builder);
            nvnTextureBuilderSetFlags(&builder, NVN_TEXTURE_FLAGS_DISPLAY | NVN_TEXTURE_FLAGS_COMPRESSIBLE);
            nvnTextureBuilderSetTarget(&builder, NVN_TEXTURE_TARGET_2D);
            nvnTextureBuilderSetFormat(&builder, NVN_FORMAT_RGBA8);
            nvnTextureBuilderSetSize2D(&builder, width, height);
            nvnTextureBuilderSetStorage(&builder, &pool_, (i + 1) << 18);
            EXPECT_TRUE(nvnTextureInitialize(&textures_[i], &builder));
        }
        NVNwindowBuilder window_builder;
        nvnWindowBuilderSetDefaults(&window_builder);
        nvnWindowBuilderSetDevice(&window_builder, &device_);
        NVNtexture* both[] = {&textures_[0], &textures_[1]};
        nvnWindowBuilderSetTextures(&window_builder, 2, both);
        EXPECT_TRUE(nvnWindowInitialize(&window_, &window_builder));
        EXPECT_TRUE(nvnSyncInitialize(&available_, &device_));
        EXPECT_TRUE(nvnCommandBufferInitialize(&commands_, &device_));
    }
    ~ClearProgram() {
        if (!started_)
            return;
        nvnQueueFinish(&queue_);
        nvnCommandBufferFinalize(&commands_);
        nvnSyncFinalize(&available_);
        nvnWindowFinalize(&window_);
        for (NVNtexture& texture : textures_)
            nvnTextureFinalize(&texture);
        nvnMemoryPoolFinalize(&pool_);
        nvnQueueFinalize(&queue_);
        nvnDeviceFinalize(&device_);
    }
    [[nodiscard]] bool started() const { return started_; }

    void frame(const float (&color)[4]) {
        int index = 0;
        ASSERT_EQ(nvnWindowAcquireTexture(&window_, &available_, &index), NVN_WINDOW_ACQUIRE_TEXTURE_RESULT_SUCCESS);
        nvnSyncWait(&available_, UINT64_MAX);
        nvnCommandBufferAddCommandMemory(&commands_, &pool_, 0, 4096);
        nvnCommandBufferAddControlMemory(&commands_, control_, sizeof(control_));
        nvnCommandBufferBeginRecording(&commands_);
        const NVNtexture* target = &textures_[index];
        nvnCommandBufferSetRenderTargets(&commands_, 1, &target, nullptr, nullptr, nullptr);
        nvnCommandBufferSetScissor(&commands_, 0, 0, 1 << 14, 1 << 14);
        nvnCommandBufferClearColor(&commands_, 0, color, NVN_CLEAR_COLOR_MASK_RGBA);
        const NVNcommandHandle handle = nvnCommandBufferEndRecording(&commands_);
        nvnQueueSubmitCommands(&queue_, 1, &handle);
        nvnQueuePresentTexture(&queue_, &window_, index);
        nvnQueueFinish(&queue_);
    }

private:
    static constexpr std::size_t pool_size = 1 << 20;
    struct Free {
        void operator()(void* memory) const { std::free(memory); }
    };
    std::unique_ptr<void, Free> storage_{std::aligned_alloc(4096, pool_size)};
    bool started_ = false;
    NVNdevice device_{};
    NVNqueue queue_{};
    NVNmemoryPool pool_{};
    NVNtexture textures_[2]{};
    NVNwindow window_{};
    NVNsync available_{};
    NVNcommandBuffer commands_{};
    alignas(8) char control_[1024]{};
};

// Of this process.
long thread_count() {
    return std::distance(std::filesystem::directory_iterator("/proc/self/task"), std::filesystem::directory_iterator());
}

TEST(Config, DefaultsAskForNothingSpecial) {
    heaviside_config config;
    std::memset(&config, 0xa5, sizeof(config));
    heaviside_config_default(&config);
    EXPECT_EQ(config.size, sizeof(config));
    EXPECT_EQ(config.log_level, HEAVISIDE_LOG_INFO);
    EXPECT_EQ(config.present_interval_override, -1);
    EXPECT_EQ(config.device, nullptr);
    EXPECT_EQ(config.on_present, nullptr);
    EXPECT_EQ(config.validation, 0);
    heaviside_config_default(nullptr); // ignored
}

TEST(Config, MistakesAreNamed) {
    const auto refused = [](auto change, const char* word) {
        heaviside_config config;
        heaviside_config_default(&config);
        change(config);
        EXPECT_EQ(heaviside_init(&config), HEAVISIDE_ERROR_BAD_ARGUMENT);
        EXPECT_NE(std::string(heaviside_last_error()).find(word), std::string::npos) << heaviside_last_error();
    };
    refused([](heaviside_config& c) { c.size = 0; }, "size");
    refused([](heaviside_config& c) { c.core_away = [](void*) -> void* { return nullptr; }; }, "core_back");
    refused([](heaviside_config& c) { c.output_width = -1; }, "output size");
    refused([](heaviside_config& c) { c.disable = "warp_drive"; }, "warp_drive");
    refused([](heaviside_config& c) { c.nvn_minor = 3; }, "0.3");
    for (const char* version : {"x", "55", "55.", "55.15.2", "-1.0"}) {
        ::setenv("HEAVISIDE_NVN", version, 1);
        refused([](heaviside_config&) {}, version);
    }
    ::unsetenv("HEAVISIDE_NVN");
}

TEST(Config, ADeviceThatIsNotThereIsAnErrorThatNamesIt) {
    heaviside_config config;
    heaviside_config_default(&config);
    config.device = "no such device";
    EXPECT_EQ(heaviside_init(&config), HEAVISIDE_ERROR_NO_DEVICE); // a driver may start threads that stay
    const long threads = thread_count();
    EXPECT_EQ(heaviside_init(&config), HEAVISIDE_ERROR_NO_DEVICE);
    EXPECT_NE(std::string(heaviside_last_error()).find("no such device"), std::string::npos) << heaviside_last_error();
    EXPECT_EQ(thread_count(), threads); // GFX-019
}

TEST(Stopped, CallsThatNeedARuntimeSaySo) {
    heaviside_stats stats{};
    stats.size = sizeof(stats);
    EXPECT_EQ(heaviside_get_stats(&stats), HEAVISIDE_ERROR_NOT_STARTED);
    EXPECT_EQ(heaviside_screenshot("/tmp/never.png"), HEAVISIDE_ERROR_NOT_STARTED);
    EXPECT_EQ(heaviside_handle_fault(0x1000, 1), 0);
    heaviside_guest_write_prepare(0x1000, 10);
    heaviside_shutdown();
}

TEST(Symbols, TheBootstrapLoaderIsRedirected) {
    std::size_t count = 0;
    const heaviside_symbol* symbols = heaviside_guest_symbols(&count);
    const auto* found = std::find_if(symbols, symbols + count, [](const heaviside_symbol& symbol) {
        return std::strcmp(symbol.name, "nvnBootstrapLoader") == 0;
    });
    ASSERT_NE(found, symbols + count);
    EXPECT_EQ(found->function, reinterpret_cast<heaviside_function>(nvnBootstrapLoader));
    EXPECT_EQ(heaviside_vsync_period_ns(), 16'666'667u); // 1/60 s
    std::set<std::string> names;                         // GFX-020
    for (std::size_t i = 0; i < count; ++i) {
        EXPECT_NE(symbols[i].function, nullptr);
        EXPECT_TRUE(names.insert(symbols[i].name).second) << symbols[i].name;
    }
    // nv::InitializeGraphics and the allocator setters stay the guest's (ledger GFX-026).
    EXPECT_TRUE(std::all_of(symbols, symbols + count, [](const heaviside_symbol& symbol) {
        return std::strncmp(symbol.name, "nvn", 3) == 0 && std::strstr(symbol.name, "Allocator") == nullptr;
    }));
}

TEST(Symbols, TheFlagForInlineCommandsIsZero) { // OBJ-254
    EXPECT_EQ(nvnPrivate0, 0u);
}

TEST_F(Runtime, StartsOnceAndAgainAfterAShutdown) {
    const heaviside_config config = config_for(heard);
    START_OR_SKIP(config);
    EXPECT_EQ(heaviside_init(&config), HEAVISIDE_ERROR_ALREADY_STARTED);
    heaviside_shutdown();
    ASSERT_EQ(heaviside_init(&config), HEAVISIDE_OK) << heaviside_last_error();
}

TEST_F(Runtime, AShutdownLeavesNothing) { // GFX-019, GFX-023
    heaviside_config config = config_for(heard);
    long threads = 0;
    for (int round = 0; round < 3; ++round) {
        if (round == 0) {
            START_OR_SKIP(config);
        } else {
            ASSERT_EQ(heaviside_init(&config), HEAVISIDE_OK) << heaviside_last_error();
        }
        {
            ClearProgram program;
            ASSERT_TRUE(program.started());
            for (int i = 0; i < 3; ++i)
                program.frame({0, 0, 1, 1});
        }
        EXPECT_GT(thread_count(), 3); // replay's, the presenter's
        heaviside_shutdown();
        if (round == 0)
            threads = thread_count(); // a driver may keep some
        else
            EXPECT_EQ(thread_count(), threads);
        for (const std::string& line : heard.lines)
            EXPECT_EQ(line.find("left when the device"), std::string::npos) << line;
    }
}

TEST_F(Runtime, TheApiVersionIsTheGuests) { // OBJ-222, OBJ-226
    heaviside_config config = config_for(heard);
    const auto integer = [](int item) {
        int value = -1;
        reinterpret_cast<PFNNVNDEVICEGETINTEGERPROC>(nvnBootstrapLoader("nvnDeviceGetInteger"))(
            nullptr, static_cast<NVNdeviceInfo>(item), &value);
        return value;
    };
    config.guest_sdk_major = 7;
    config.guest_compiler_minor = 20;
    START_OR_SKIP(config);
    EXPECT_EQ(std::pair(integer(0), integer(1)), std::pair(53, 313));
    EXPECT_EQ(integer(0x30), 20);
    heaviside_shutdown();
    config.nvn_major = 55;
    config.nvn_minor = 11;
    ASSERT_EQ(heaviside_init(&config), HEAVISIDE_OK);
    EXPECT_EQ(std::pair(integer(0), integer(1)), std::pair(55, 11));
    heaviside_shutdown();
    ::setenv("HEAVISIDE_NVN", "231.30", 1); // over the host's
    config.guest_compiler_minor = 0;
    ASSERT_EQ(heaviside_init(&config), HEAVISIDE_OK);
    ::unsetenv("HEAVISIDE_NVN");
    EXPECT_EQ(std::pair(integer(0), integer(1)), std::pair(231, 30));
    EXPECT_EQ(integer(0x30), 17);
    heaviside_shutdown();
    config.nvn_major = config.nvn_minor = config.guest_sdk_major = 0;
    ASSERT_EQ(heaviside_init(&config), HEAVISIDE_OK);
    EXPECT_EQ(std::pair(integer(0), integer(1)), std::pair(55, 15));
}

TEST_F(Runtime, PresentsAreCountedAndShownInScreenshots) {
    heaviside_config config = config_for(heard);
    config.on_present = [](void* user, std::uint64_t frame, int) {
        static_cast<Heard*>(user)->presented.push_back(frame);
    };
    START_OR_SKIP(config);
    EXPECT_EQ(heaviside_screenshot("/tmp/never.png"), HEAVISIDE_ERROR_NOTHING_PRESENTED);
    ClearProgram program;
    ASSERT_TRUE(program.started());
    program.frame({0, 0, 1, 1});
    program.frame({1, 0.2f, 0, 1});
    EXPECT_EQ(heard.presented, (std::vector<std::uint64_t>{1, 2}));

    const std::string path = testing::TempDir() + "heaviside_screenshot.png";
    ASSERT_EQ(heaviside_screenshot(path.c_str()), HEAVISIDE_OK) << heaviside_last_error();
    png_image image{};
    image.version = PNG_IMAGE_VERSION;
    ASSERT_TRUE(png_image_begin_read_from_file(&image, path.c_str()));
    image.format = PNG_FORMAT_RGBA;
    EXPECT_EQ(image.width, 64u);
    EXPECT_EQ(image.height, 32u);
    std::vector<unsigned char> texels(PNG_IMAGE_SIZE(image));
    ASSERT_TRUE(png_image_finish_read(&image, nullptr, texels.data(), 0, nullptr));
    std::filesystem::remove(path);
    for (std::size_t i = 0; i < texels.size(); i += 4)
        ASSERT_TRUE(texels[i] == 255 && texels[i + 1] == 51 && texels[i + 2] == 0 && texels[i + 3] == 255) << i / 4;
    EXPECT_EQ(heaviside_screenshot("/no/such/folder/shot.png"), HEAVISIDE_ERROR_IO);

    heaviside_stats stats{};
    stats.size = sizeof(stats);
    ASSERT_EQ(heaviside_get_stats(&stats), HEAVISIDE_OK);
    EXPECT_EQ(stats.frames, 2u);
    EXPECT_GE(stats.submits, 2u); // and the fences of acquire and finish
    EXPECT_EQ(stats.draws, 0u);
    EXPECT_EQ(stats.errors, 0u) << (heard.lines.empty() ? "" : heard.lines.back());
    EXPECT_EQ(stats.validation_messages, 0u);
}

TEST_F(Runtime, AnOlderHostGetsThePartOfTheStatisticsThatItKnows) {
    const heaviside_config config = config_for(heard);
    START_OR_SKIP(config);
    heaviside_stats stats{};
    stats.size = offsetof(heaviside_stats, draws);
    stats.draws = 77;
    ASSERT_EQ(heaviside_get_stats(&stats), HEAVISIDE_OK);
    EXPECT_EQ(stats.draws, 77u);
}

TEST_F(Runtime, FunctionPointersGoThroughTheHostsWrapper) {
    heaviside_config config = config_for(heard);
    config.wrap_guest_callable = [](void* user, heaviside_function, const char* name) -> heaviside_function {
        static_cast<Heard*>(user)->wrapped.emplace_back(name);
        return std::strcmp(name, "nvnQueueFinish") == 0 ? reinterpret_cast<heaviside_function>(0x1234) : nullptr;
    };
    START_OR_SKIP(config);
    EXPECT_EQ(nvnBootstrapLoader("nvnQueueFinish"), reinterpret_cast<PFNNVNGENERICFUNCPTRPROC>(0x1234));
    EXPECT_NE(nvnBootstrapLoader("nvnQueueFlush"), nullptr);
    EXPECT_EQ(heard.wrapped, (std::vector<std::string>{"nvnQueueFinish", "nvnQueueFlush"}));
}

TEST_F(Runtime, BlockingCallsGiveTheCoreAway) {
    heaviside_config config = config_for(heard);
    config.core_away = [](void* user) -> void* {
        ++static_cast<Heard*>(user)->away;
        return user;
    };
    config.core_back = [](void* user, void* token) {
        EXPECT_EQ(user, token);
        ++static_cast<Heard*>(user)->back;
    };
    START_OR_SKIP(config);
    ClearProgram program;
    ASSERT_TRUE(program.started());
    program.frame({0, 1, 0, 1});
    EXPECT_GT(heard.away, 0);
    EXPECT_EQ(heard.away, heard.back);
}

TEST_F(Runtime, UnknownNamesAndUnbuiltCallsAreListed) {
    const heaviside_config config = config_for(heard);
    START_OR_SKIP(config);
    EXPECT_EQ(nvnBootstrapLoader("nvnMakeCoffee"), nullptr);
    std::vector<heaviside_call_count> entries(heaviside_unknown_lookups(nullptr, 0));
    ASSERT_EQ(heaviside_unknown_lookups(entries.data(), entries.size()), entries.size());
    EXPECT_TRUE(std::any_of(entries.begin(), entries.end(),
                            [](const auto& entry) { return std::strcmp(entry.name, "nvnMakeCoffee") == 0; }));
}

// OBJ-231: whatever the driver needs of the stack.
TEST(NativeProgram, StartsTheRuntimeByItselfOnASmallStack) {
#ifdef HEAVISIDE_SANITIZED
    GTEST_SKIP() << "the sanitizers' frames are larger";
#endif
    pthread_attr_t attributes;
    ASSERT_EQ(pthread_attr_init(&attributes), 0);
    ASSERT_EQ(pthread_attr_setstacksize(&attributes, 32 * 1024), 0);
    pthread_t thread;
    bool started = false;
    const auto body = [](void* result) -> void* {
        ClearProgram program;
        if (program.started())
            program.frame({1, 1, 1, 1});
        *static_cast<bool*>(result) = program.started();
        return nullptr;
    };
    ASSERT_EQ(pthread_create(&thread, &attributes, body, &started), 0);
    pthread_join(thread, nullptr);
    pthread_attr_destroy(&attributes);
    heaviside_stats stats{};
    stats.size = sizeof(stats);
    if (started) {
        EXPECT_EQ(heaviside_get_stats(&stats), HEAVISIDE_OK);
    }
    EXPECT_EQ(stats.frames, started ? 1u : 0u);
    heaviside_shutdown();
}

TEST(NativeProgram, StartsTheRuntimeByItself) {
    {
        ClearProgram program;
        if (!program.started())
            GTEST_SKIP() << "no Vulkan device";
        program.frame({1, 1, 1, 1});
        heaviside_stats stats{};
        stats.size = sizeof(stats);
        ASSERT_EQ(heaviside_get_stats(&stats), HEAVISIDE_OK);
        EXPECT_GE(stats.frames, 1u);
    }
    heaviside_shutdown(); // other tests start their own
}

} // namespace
