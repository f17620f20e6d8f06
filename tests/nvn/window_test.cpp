#include "command_fixture.h"

namespace heaviside::nvn {
namespace {

using namespace stream;

class WindowTest : public CommandTest {
protected:
    WindowTest() {
        for (std::size_t i = 0; i < textures.size(); ++i)
            textures[i] = make_texture(128, 72, NVN_FORMAT_RGBA8, static_cast<ptrdiff_t>(0x20000 * (i + 1)));
        make_window(3);
    }
    ~WindowTest() override { nvnWindowFinalize(&window); }
    NVNboolean make_window(int count) {
        NVNwindowBuilder builder{};
        nvnWindowBuilderSetDevice(&builder, &device);
        nvnWindowBuilderSetDefaults(&builder);
        nvnWindowBuilderSetNativeWindow(&builder, &native);
        NVNtexture* list[] = {&textures[0], &textures[1], &textures[2]};
        nvnWindowBuilderSetTextures(&builder, count, list);
        return nvnWindowInitialize(&window, &builder);
    }
    int acquire() {
        int index = -1;
        EXPECT_EQ(nvnWindowAcquireTexture(&window, nullptr, &index), NVN_WINDOW_ACQUIRE_TEXTURE_RESULT_SUCCESS);
        return index;
    }
    std::array<NVNtexture, 3> textures{};
    NVNwindow window{};
    int native = 0;
};

TEST_F(WindowTest, BuilderReadsBack) {
    NVNwindowBuilder builder{};
    nvnWindowBuilderSetDevice(&builder, &device);
    nvnWindowBuilderSetDefaults(&builder);
    EXPECT_EQ(nvnWindowBuilderGetDevice(&builder), &device);
    EXPECT_EQ(nvnWindowBuilderGetPresentInterval(&builder), 1);
    EXPECT_EQ(nvnWindowBuilderGetNumTextures(&builder), 0);
    EXPECT_EQ(nvnWindowBuilderGetNativeWindow(&builder), nullptr);
    NVNtexture* list[] = {&textures[0], &textures[1], &textures[2]};
    nvnWindowBuilderSetTextures(&builder, 3, list);
    nvnWindowBuilderSetNativeWindow(&builder, &native);
    nvnWindowBuilderSetPresentInterval(&builder, 2);
    EXPECT_EQ(nvnWindowBuilderGetNumTextures(&builder), 3);
    EXPECT_EQ(nvnWindowBuilderGetNumActiveTextures(&builder), 3);
    nvnWindowBuilderSetNumActiveTextures(&builder, 2);
    EXPECT_EQ(nvnWindowBuilderGetNumActiveTextures(&builder), 2);
    EXPECT_EQ(nvnWindowBuilderGetTexture(&builder, 2), &textures[2]);
    EXPECT_EQ(nvnWindowBuilderGetTexture(&builder, 3), nullptr);
    EXPECT_EQ(nvnWindowBuilderGetNativeWindow(&builder), &native);
    EXPECT_EQ(nvnWindowBuilderGetPresentInterval(&builder), 2);
    nvnWindowBuilderSetTextures(&builder, 5, list);
    EXPECT_EQ(take_errors(), 1u);
}

TEST_F(WindowTest, TellsTheSinkItsTextures) {
    ASSERT_EQ(sink.windows.size(), 1u);
    EXPECT_EQ(sink.windows[0].native_window, &native);
    EXPECT_EQ(sink.windows[0].texture_count, 3u);
    EXPECT_EQ(+sink.windows[0].textures[1].texture.address, reinterpret_cast<u64>(memory(0x40000)));
    EXPECT_EQ(nvnWindowGetNativeWindow(&window), &native);
    EXPECT_EQ(nvnWindowGetNumTextures(&window), 3);
}

TEST_F(WindowTest, TexturesTakeTurns) {
    EXPECT_EQ((std::array{acquire(), acquire(), acquire(), acquire()}), (std::array{0, 1, 2, 0}));
    nvnWindowSetNumActiveTextures(&window, 2);
    EXPECT_EQ(nvnWindowGetNumActiveTextures(&window), 2);
    EXPECT_EQ((std::array{acquire(), acquire(), acquire()}), (std::array{1, 0, 1}));
    nvnWindowSetNumActiveTextures(&window, 4);
    EXPECT_EQ(take_errors(), 1u);
    EXPECT_EQ(nvnWindowGetNumActiveTextures(&window), 2);
}

TEST_F(WindowTest, AcquireFencesTheSync) {
    NVNsync sync{};
    nvnSyncInitialize(&sync, &device);
    int index = -1;
    EXPECT_EQ(nvnWindowAcquireTexture(&window, &sync, &index), NVN_WINDOW_ACQUIRE_TEXTURE_RESULT_SUCCESS);
    EXPECT_EQ(index, 0);
    EXPECT_EQ(nvnSyncWait(&sync, 0), NVN_SYNC_WAIT_RESULT_TIMEOUT_EXPIRED); // the display has it
    sink.immediate = true;
    nvnWindowAcquireTexture(&window, &sync, &index);
    EXPECT_EQ(nvnSyncWait(&sync, 0), NVN_SYNC_WAIT_RESULT_ALREADY_SIGNALED);
    sink.window_works = false;
    EXPECT_EQ(nvnWindowAcquireTexture(&window, &sync, &index), NVN_WINDOW_ACQUIRE_TEXTURE_RESULT_NATIVE_ERROR);
    nvnSyncFinalize(&sync);
}

// Ledger OBJ-223: the older acquire makes the queue wait, with no sync of the application's.
TEST_F(WindowTest, AQueueAcquireWaitsOnTheQueue) {
    std::vector<int> indices;
    for (int frame = 0; frame < 4; ++frame) {
        int index = -1;
        EXPECT_EQ(nvnQueueAcquireTexture(&queue, &window, &index), NVN_QUEUE_ACQUIRE_TEXTURE_RESULT_SUCCESS);
        indices.push_back(index);
        nvnQueuePresentTexture(&queue, &window, index);
    }
    EXPECT_EQ(indices, (std::vector{0, 1, 2, 0}));
    const auto waits = records<WaitSync>();
    ASSERT_EQ(waits.size(), 4u);
    for (u32 i = 0; i < 4; ++i) {
        EXPECT_EQ(waits[i].value, i + 1);
        EXPECT_EQ(waits[i].sync, waits[0].sync);
    }
}

// Ledger OBJ-243, OBJ-246, REN-111.
TEST_F(WindowTest, PresentsWithCropAndInterval) {
    NVNrectangle crop{};
    nvnWindowGetCrop(&window, &crop);
    EXPECT_EQ((std::array{crop.x, crop.y, crop.width, crop.height}), (std::array{0, 0, 128, 72}));
    EXPECT_EQ(nvnWindowGetPresentInterval(&window), 1);
    nvnQueuePresentTexture(&queue, &window, 1);
    nvnWindowSetCrop(&window, 1, 2, 64, 36);
    nvnWindowGetCrop(&window, &crop);
    EXPECT_EQ((std::array{crop.x, crop.y, crop.width, crop.height}), (std::array{1, 2, 64, 36}));
    nvnWindowSetPresentInterval(&window, 2);
    EXPECT_EQ(nvnWindowGetPresentInterval(&window), 2);
    nvnQueuePresentTexture(&queue, &window, 2);
    ASSERT_EQ(sink.presents.size(), 2u);
    EXPECT_EQ(sink.presents[0].texture, 1u);
    EXPECT_FALSE(sink.presents[0].crop_set);
    EXPECT_EQ(sink.presents[0].crop.width, 128);
    EXPECT_EQ(sink.presents[0].interval, 1u);
    EXPECT_EQ(+sink.presents[0].image.texture.address, reinterpret_cast<u64>(memory(0x40000)));
    EXPECT_TRUE(sink.presents[1].crop_set);
    EXPECT_EQ(sink.presents[1].crop.y, 2);
    EXPECT_EQ(sink.presents[1].crop.height, 36);
    EXPECT_EQ(sink.presents[1].interval, 2u);
    nvnQueuePresentTexture(&queue, &window, 3);
    nvnQueuePresentTexture(&queue, &window, -1);
    EXPECT_EQ(take_errors(), 2u);
    EXPECT_EQ(sink.presents.size(), 2u);
}

// A resize: the window ends, its textures are made again, another window begins at the same address.
TEST_F(WindowTest, CanBeRebuilt) {
    acquire();
    nvnWindowFinalize(&window);
    EXPECT_EQ(nvnWindowGetNumTextures(&window), 0);
    EXPECT_EQ(take_errors(), 1u);
    textures[0] = make_texture(64, 32);
    ASSERT_TRUE(make_window(2));
    EXPECT_EQ(acquire(), 0);
    NVNrectangle crop{};
    nvnWindowGetCrop(&window, &crop);
    EXPECT_EQ(crop.width, 64);
    sink.log.clear();
    ASSERT_TRUE(make_window(2)); // without Finalize: the old one ends
    EXPECT_EQ(sink.log.at(0).substr(0, 16), "window_destroyed");
}

// REN-001: a texture that is not there is reported as that, not read for its size.
TEST_F(WindowTest, NullTexturesAreReportedNotRead) {
    const std::size_t before = sink.windows.size();
    std::vector<std::string> lines;
    nvnDeviceInstallDebugCallback(
        &device,
        [](NVNdebugCallbackSource, NVNdebugCallbackType, int, NVNdebugCallbackSeverity, const char* message, void* to) {
            static_cast<std::vector<std::string>*>(to)->emplace_back(message);
        },
        &lines, yes);
    NVNtexture texture = make_texture(64, 32);
    NVNtexture* absent[] = {nullptr, &texture};
    for (const int count : {1, 2}) {
        NVNwindowBuilder builder{};
        nvnWindowBuilderSetDevice(&builder, &device);
        nvnWindowBuilderSetDefaults(&builder);
        nvnWindowBuilderSetTextures(&builder, count, absent);
        NVNwindow refused;
        EXPECT_FALSE(nvnWindowInitialize(&refused, &builder));
    }
    ASSERT_EQ(lines.size(), 2u);
    EXPECT_EQ(lines[1], "nvnWindowInitialize: null object");
    EXPECT_EQ(sink.windows.size(), before);
}

TEST_F(WindowTest, InvalidBuildersAreRefused) {
    EXPECT_FALSE(make_window(1)); // at least 2: device integer 0x59
    NVNwindow other{};
    NVNwindowBuilder builder{};
    nvnWindowBuilderSetDefaults(&builder);
    EXPECT_FALSE(nvnWindowInitialize(&other, &builder)); // no device
    EXPECT_FALSE(nvnWindowInitialize(&other, nullptr));
    EXPECT_EQ(nvnWindowAcquireTexture(&other, nullptr, nullptr), NVN_WINDOW_ACQUIRE_TEXTURE_RESULT_NATIVE_ERROR);
    EXPECT_EQ(take_errors(), 4u);
}

} // namespace
} // namespace heaviside::nvn
