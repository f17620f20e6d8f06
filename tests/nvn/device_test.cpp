// The device: integers, modes, handles, callbacks. Expected values: docs/nvn/device_integers.tsv (measured on a
// console) and the ledger rows named.
#include "tests/nvn/client.h" // first: with the client's wrappers

#include "nvn/null_sink.h"
#include "nvn/runtime.h"

#include <array>
#include <limits>
#include <map>
#include <string>
#include <sys/mman.h>
#include <utility>

namespace heaviside::nvn {
namespace {

using test::Device;

int integer(int selector) {
    int value = -1;
    nvnDeviceGetInteger(nullptr, static_cast<NVNdeviceInfo>(selector), &value);
    return value;
}

class ModesSink : public NullSink {
public:
    stream::DeviceModes heard{};
    void submit(stream::QueueId queue, const stream::DeviceModes& modes, stream::Buffer stream) override {
        heard = modes;
        NullSink::submit(queue, modes, std::move(stream));
    }
};

TEST(Device, MeasuredIntegers) {
    test::load_procs();
    EXPECT_EQ(integer(NVN_DEVICE_INFO_UNIFORM_BUFFER_BINDINGS_PER_STAGE), 14);
    EXPECT_EQ(integer(NVN_DEVICE_INFO_TEXTURE_BINDINGS_PER_STAGE), 32);
    EXPECT_EQ(integer(NVN_DEVICE_INFO_RESERVED_TEXTURE_DESCRIPTORS), 256);
    EXPECT_EQ(integer(NVN_DEVICE_INFO_RESERVED_SAMPLER_DESCRIPTORS), 256);
    EXPECT_EQ(integer(NVN_DEVICE_INFO_COMMAND_BUFFER_CONTROL_ALIGNMENT), 8);  // OBJ-111
    EXPECT_EQ(integer(NVN_DEVICE_INFO_COMMAND_BUFFER_MIN_CONTROL_SIZE), 256); // OBJ-111
    EXPECT_EQ(integer(NVN_DEVICE_INFO_MAX_TEXTURE_POOL_SIZE), 1048576);
    EXPECT_EQ(integer(NVN_DEVICE_INFO_MEMORY_POOL_PAGE_SIZE), 65536);
    EXPECT_EQ(integer(NVN_DEVICE_INFO_QUEUE_CONTROL_MEMORY_GRANULARITY), 4096);
}

TEST(Device, LateItemsAreExact) { // OBJ-229
    test::load_procs();
    const int expected[] = {128, 32, 65535, 1, 32, 256, 16, 65535, 65535, 256, 16383};
    for (int i = 0; i < 11; ++i)
        EXPECT_EQ(integer(0x5E + i), expected[i]) << i;
    EXPECT_EQ(integer(0x69), 0);
    EXPECT_EQ(integer(0x7FFFFFFF), 0);
    EXPECT_EQ(integer(-1), 0);
}

TEST(Device, ShaderCodeVersionsReachOneSixteen) { // OBJ-226
    test::load_procs();
    EXPECT_EQ(integer(0x2E), 1);
    EXPECT_EQ(integer(0x2F), 1);
    EXPECT_EQ(integer(0x30), 16);
    EXPECT_LE(integer(0x31), 9);
}

TEST(Device, ShaderCodeVersionsReachTheApplicationsCompiler) { // OBJ-226, SHD-161
    test::load_procs();
    set_compiler_version(20);
    EXPECT_EQ(integer(0x30), 20);
    EXPECT_EQ(integer(0x31), 5); // what it carries from before stays good
    set_compiler_version(12);    // older than what can be translated
    EXPECT_EQ(integer(0x30), 16);
    set_api_version(231, 30);
    EXPECT_EQ(integer(0x30), 17);
    set_compiler_version(19);
    EXPECT_EQ(integer(0x30), 19);
    set_compiler_version(0);
    set_api_version(0, 0);
    EXPECT_EQ(integer(0x30), 16);
}

TEST(Device, ApiVersionIsTheConfiguredOne) { // GFX-056, OBJ-222
    test::load_procs();
    EXPECT_EQ(integer(0), 55);
    EXPECT_EQ(integer(1), 15);
    set_api_version(53, 313);
    EXPECT_EQ(integer(0), 53);
    EXPECT_EQ(integer(1), 313);
    set_api_version(0, 0);
    EXPECT_EQ(integer(0), 55);
}

TEST(Device, ApiVersionFollowsTheSdk) { // OBJ-222
    const auto version = [] { return std::pair(integer(0x00), integer(0x01)); };
    for (const int sdk : {7, 10}) {
        set_sdk_version(sdk);
        EXPECT_EQ(version(), std::pair(53, 313)) << sdk;
    }
    for (const int sdk : {11, 16}) {
        set_sdk_version(sdk);
        EXPECT_EQ(version(), std::pair(55, 15)) << sdk;
    }
    set_sdk_version(7);
    set_api_version(55, 11);
    EXPECT_EQ(version(), std::pair(55, 11));
    set_api_version(0, 0);
    set_sdk_version(0);
}

TEST(Device, NewerGenerationHasItsOwnItems) { // OBJ-227, OBJ-228
    test::load_procs();
    std::array<int, 0xAA> before{};
    for (int i = 0; i < 0xAA; ++i)
        before[static_cast<std::size_t>(i)] = integer(i);
    for (std::size_t i = 0x69; i < before.size(); ++i)
        EXPECT_EQ(before[i], 0) << i;
    set_api_version(231, 0);
    const std::map<int, int> different = {
        {0x00, 231},  {0x01, 39},  {0x1A, 16384}, {0x1F, 1024}, {0x20, std::numeric_limits<int>::max()},
        {0x2C, 16},   {0x2E, 201}, {0x2F, 201},   {0x30, 20},   {0x31, 0},
        {0x4E, 2048},
    };
    for (int i = 0; i < 0xAA; ++i) {
        const auto own = different.find(i);
        EXPECT_EQ(integer(i), own != different.end() ? own->second : before[static_cast<std::size_t>(i)]) << i;
    }
    EXPECT_EQ(integer(0x5F), 32); // separate sampler bindings
    set_api_version(231, 30);
    EXPECT_EQ(integer(0x01), 30);
    EXPECT_EQ(integer(0x30), 17);
    set_api_version(0, 0);
}

TEST(Device, QueuesKnowTheModesOfTheirDeviceWithoutItsObject) {
    set_sink(nullptr);
    test::load_procs();
    void* const home = ::mmap(nullptr, sizeof(NVNdevice), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(home, MAP_FAILED);
    auto* const device = static_cast<NVNdevice*>(home);
    NVNdeviceBuilder builder;
    nvnDeviceBuilderSetDefaults(&builder);
    ASSERT_TRUE(nvnDeviceInitialize(device, &builder));
    test::Pages pages(0x100000);
    NVNqueueBuilder queue_builder;
    nvnQueueBuilderSetDevice(&queue_builder, device);
    nvnQueueBuilderSetDefaults(&queue_builder);
    nvnQueueBuilderSetQueueMemory(&queue_builder, pages.data, nvnQueueBuilderGetQueueMemorySize(&queue_builder));
    NVNqueue queue;
    ASSERT_TRUE(nvnQueueInitialize(&queue, &queue_builder));
    NVNsync sync;
    ASSERT_TRUE(nvnSyncInitialize(&sync, device));
    ModesSink modes;
    set_sink(&modes);
    nvnDeviceSetDepthMode(device, NVN_DEPTH_MODE_NEAR_IS_ZERO);
    NVNdevice copy = *device; // by value: the same device
    nvnDeviceSetWindowOriginMode(&copy, NVN_WINDOW_ORIGIN_MODE_UPPER_LEFT);
    ::munmap(home, sizeof(NVNdevice));
    nvnQueueFenceSync(&queue, &sync, NVN_SYNC_CONDITION_ALL_GPU_COMMANDS_COMPLETE, 0);
    EXPECT_EQ(modes.heard.window_origin, NVN_WINDOW_ORIGIN_MODE_UPPER_LEFT);
    EXPECT_EQ(modes.heard.depth_mode, NVN_DEPTH_MODE_NEAR_IS_ZERO);
    set_sink(nullptr);
    nvnSyncFinalize(&sync);
    nvnQueueFinalize(&queue);
}

TEST(Device, ModesHaveDefaultsAndReadBack) { // OBJ-234, REN-102
    Device device;
    EXPECT_EQ(nvnDeviceGetWindowOriginMode(&device.object), NVN_WINDOW_ORIGIN_MODE_LOWER_LEFT);
    EXPECT_EQ(nvnDeviceGetDepthMode(&device.object), NVN_DEPTH_MODE_NEAR_IS_MINUS_W);
    nvnDeviceSetWindowOriginMode(&device.object, NVN_WINDOW_ORIGIN_MODE_UPPER_LEFT);
    nvnDeviceSetDepthMode(&device.object, NVN_DEPTH_MODE_NEAR_IS_ZERO);
    EXPECT_EQ(nvnDeviceGetWindowOriginMode(&device.object), NVN_WINDOW_ORIGIN_MODE_UPPER_LEFT);
    EXPECT_EQ(nvnDeviceGetDepthMode(&device.object), NVN_DEPTH_MODE_NEAR_IS_ZERO);
}

TEST(Device, HandlesHoldTextureAndSamplerIds) { // OBJ-235
    Device device;
    EXPECT_EQ(nvnDeviceGetTextureHandle(&device.object, 0x1234, 0x101), 0x10101234u);
    EXPECT_EQ(nvnDeviceGetTextureHandle(&device.object, 0xFFFFF, 0xFFF), 0xFFFFFFFFu);
    EXPECT_EQ(nvnDeviceGetTexelFetchHandle(&device.object, 0x1234), 0x1234u);
    EXPECT_EQ(nvnDeviceGetImageHandle(&device.object, 0x1234), 0x1234u);
    EXPECT_EQ(nvnDeviceGetSeparateTextureHandle(&device.object, 0x1234).value, 0x1234u);
    EXPECT_EQ(nvnDeviceGetSeparateSamplerHandle(&device.object, 0x101).value, 0x10100000u);
}

TEST(Device, TicksAreThirteenEighthsOfANanosecond) {
    Device device;
    const NVNcounterData small{0, 9}, large{0, u64{1} << 61};
    EXPECT_EQ(nvnDeviceGetTimestampInNanoseconds(&device.object, &small), 14u); // 14.625
    EXPECT_EQ(nvnDeviceGetTimestampInNanoseconds(&device.object, &large), u64{13} << 58);
}

struct Heard {
    int count = 0;
    std::string message;
};
void hear(NVNdebugCallbackSource, NVNdebugCallbackType type, int, NVNdebugCallbackSeverity, const char* message,
          void* user) {
    auto& heard = *static_cast<Heard*>(user);
    ++heard.count;
    heard.message = message;
    EXPECT_EQ(type, NVN_DEBUG_CALLBACK_TYPE_API_ERROR);
}

TEST(Device, DebugCallbackHearsErrorsUntilRemoved) { // GFX-039
    Device device;
    Heard heard;
    nvnDeviceInstallDebugCallback(&device.object, hear, &heard, NVN_TRUE);
    nvnMemoryPoolFinalize(nullptr);
    EXPECT_EQ(heard.count, 1);
    EXPECT_NE(heard.message.find("nvnMemoryPoolFinalize"), std::string::npos);
    nvnDeviceInstallDebugCallback(&device.object, nullptr, nullptr, NVN_TRUE);
    nvnMemoryPoolFinalize(nullptr);
    EXPECT_EQ(heard.count, 1);
}

// Messages name objects as the application does, also when the object is over.
TEST(Device, MessagesKnowTheLabelsOfObjects) {
    test::Device device;
    std::string heard;
    nvnDeviceInstallDebugCallback(
        &device.object,
        [](NVNdebugCallbackSource, NVNdebugCallbackType, int, NVNdebugCallbackSeverity, const char* message, void* to) {
            *static_cast<std::string*>(to) = message;
        },
        &heard, NVN_TRUE);
    NVNsync sync, other;
    ASSERT_TRUE(nvnSyncInitialize(&sync, &device.object));
    ASSERT_TRUE(nvnSyncInitialize(&other, &device.object));
    nvnSyncSetDebugLabel(&sync, "shadows done");
    nvnSyncSetDebugLabel(&other, "gone");
    nvnSyncSetDebugLabel(&other, nullptr);
    EXPECT_EQ(heard, "");
    nvnSyncFinalize(&sync);
    nvnSyncFinalize(&other);
    EXPECT_EQ(nvnSyncWait(&sync, 0), NVN_SYNC_WAIT_RESULT_FAILED);
    EXPECT_NE(heard.find("it was \"shadows done\""), std::string::npos) << heard;
    (void)nvnSyncWait(&other, 0);
    EXPECT_EQ(heard.find("it was"), std::string::npos) << heard;
    heard.clear();
    nvnSyncSetDebugLabel(&sync, "late"); // no object to label
    EXPECT_NE(heard.find("nvnSyncSetDebugLabel"), std::string::npos);
    nvnDeviceInstallDebugCallback(&device.object, nullptr, nullptr, NVN_FALSE);
}

TEST(Device, HintsSucceed) { // OBJ-241, OBJ-245
    Device device;
    const float color[4] = {};
    EXPECT_TRUE(nvnDeviceRegisterFastClearDepth(&device.object, 0.25f));
    EXPECT_TRUE(nvnDeviceRegisterFastClearColor(&device.object, color, NVN_FORMAT_RGBA8));
    nvnDeviceSetIntermediateShaderCache(&device.object, 8);
    nvnDeviceFinalizeCommandHandle(&device.object, 0);
}

TEST(Device, StarterRunsWhileNothingIsConnected) {
    int calls = 0;
    set_runtime_starter({[](void* user) {
                             ++*static_cast<int*>(user);
                             return false;
                         },
                         &calls});
    test::load_procs();
    NVNdeviceBuilder builder;
    nvnDeviceBuilderSetDefaults(&builder);
    NVNdevice device;
    EXPECT_FALSE(nvnDeviceInitialize(&device, &builder));
    EXPECT_EQ(calls, 1);
    set_runtime_starter({});
    EXPECT_TRUE(nvnDeviceInitialize(&device, &builder));
    nvnDeviceFinalize(&device);
}

} // namespace
} // namespace heaviside::nvn
