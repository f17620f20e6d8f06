#include "nvn/entry_points.h"
#include "nvn/entry_table.h"
#include "nvn/host.h"
#include "nvn/labels.h"
#include "nvn/report.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <limits>

namespace heaviside::nvn {

namespace {

struct Integer {
    u32 selector;
    int value;
};

// Measured on a console; sorted by selector.
constexpr Integer measured_integers[] = {
#include "nvn/device_integers.inc"
};

// Where what is here differs from the measured device, or the measurement has no value. Ledger OBJ-226 (shader code
// versions 1.5 to 1.16) and OBJ-229 (items from 0x5E on; the API has no names past 0x61).
constexpr Integer own_integers[] = {
    {0x2E, 1},  {0x2F, 1},   {0x30, 16}, {0x31, 5},     {0x5E, 128},   {0x5F, 32},  {0x60, 65535}, {0x61, 1},
    {0x62, 32}, {0x63, 256}, {0x64, 16}, {0x65, 65535}, {0x66, 65535}, {0x67, 256}, {0x68, 16383},
};
constexpr u32 last_integer = 0x68;

// The next console's API (major 231), where it is not as before. Ledger OBJ-227. It has 32 vertex buffers and
// attributes; here a command buffer has 16 and says so. Its items from 0x69 to 0xA9 have no known meaning.
constexpr int newer_major = 231, newer_minor = 39;
constexpr Integer newer_integers[] = {
    {0x1A, 16384}, {0x1F, 1024}, {0x20, std::numeric_limits<int>::max()},
    {0x2C, 16},    {0x2E, 201},  {0x2F, 201},
    {0x31, 0},     {0x4E, 2048}, {0x5F, 32},
};
// Ledger OBJ-228: shader code goes to minor 17 in API 231.30, to 20 in 231.39.
constexpr int newer_code_minor(int api_minor) {
    return api_minor < 39 ? 17 : 20;
}

using Integers = std::array<int, last_integer + 1>;
constexpr Integers older = [] {
    Integers out{};
    for (const Integer& i : measured_integers)
        out[i.selector] = i.value;
    for (const Integer& i : own_integers)
        out[i.selector] = i.value;
    return out;
}();
constexpr Integers newer = [] {
    Integers out = older;
    for (const Integer& i : newer_integers)
        out[i.selector] = i.value;
    return out;
}();

int compiler_minor() {
    const std::lock_guard lock(host().mutex);
    return host().compiler_minor;
}

// What the application's SDK expects (ledger OBJ-222), unless it was chosen.
ApiVersion api_version() {
    const std::lock_guard lock(host().mutex);
    const ApiVersion chosen{host().api_major, host().api_minor};
    if (chosen.major == newer_major && chosen.minor == 0)
        return {newer_major, newer_minor};
    if (chosen.major != 0 || chosen.minor != 0)
        return chosen;
    if (host().sdk_major != 0 && host().sdk_major <= 10)
        return {53, 313};
    return {NVN_API_MAJOR_VERSION, NVN_API_MINOR_VERSION};
}

// Where submissions find them.
void publish_modes(const Device& device) {
    const std::lock_guard lock(host().mutex);
    if (device.id - 1 < host().device_modes.size())
        host().device_modes[device.id - 1] = {device.window_origin_mode, device.depth_mode};
}

constexpr u64 sampler_shift = 20; // of the ID in a handle
constexpr u32 texture_id_mask = 0xFFFFF, sampler_id_mask = 0xFFF;

} // namespace

void nvnDeviceBuilderSetDefaults(NVNdeviceBuilder* builder) {
    if (builder)
        *layout(builder) = {};
}

void nvnDeviceBuilderSetFlags(NVNdeviceBuilder* builder, int flags) {
    if (builder)
        layout(builder)->flags = static_cast<u32>(flags);
}

int nvnDeviceBuilderGetFlags(const NVNdeviceBuilder* builder) {
    return builder ? static_cast<int>(layout(builder)->flags) : 0;
}

NVNboolean nvnDeviceInitialize(NVNdevice* device, const NVNdeviceBuilder* builder) {
    if (!device) {
        report_bad_object("nvnDeviceInitialize", device);
        return NVN_FALSE;
    }
    if (!start_runtime()) {
        report_error("nvnDeviceInitialize", "the graphics runtime did not start");
        return NVN_FALSE;
    }
    *layout(device) = {};
    layout(device)->magic = magic::device;
    layout(device)->flags = builder ? layout(builder)->flags : 0;
    layout(device)->depth_mode = NVN_DEPTH_MODE_NEAR_IS_MINUS_W;
    layout(device)->window_origin_mode = NVN_WINDOW_ORIGIN_MODE_LOWER_LEFT;
    const std::lock_guard lock(host().mutex);
    host().device_modes.push_back({layout(device)->window_origin_mode, layout(device)->depth_mode});
    layout(device)->id = static_cast<u32>(host().device_modes.size());
    return NVN_TRUE;
}

void nvnDeviceFinalize(NVNdevice* device) {
    Device* d = as_valid(device, "nvnDeviceFinalize");
    if (!d)
        return;
    const std::lock_guard lock(host().mutex);
    if (d->debug_callback == host().debug_callback.function)
        host().debug_callback = {};
    *d = {};
}

void nvnDeviceSetDebugLabel(NVNdevice* object, const char* label) {
    set_label(object, label, __func__);
}

PFNNVNGENERICFUNCPTRPROC nvnDeviceGetProcAddress(const NVNdevice*, const char* name) {
    return look_up(name);
}

void nvnDeviceGetInteger(const NVNdevice*, NVNdeviceInfo pname, int* value) {
    if (!value)
        return;
    const u32 selector = static_cast<u32>(pname);
    const ApiVersion version = api_version();
    const bool is_newer = version.major == newer_major;
    if (selector <= NVN_DEVICE_INFO_API_MINOR_VERSION) {
        *value = selector == NVN_DEVICE_INFO_API_MAJOR_VERSION ? version.major : version.minor;
        return;
    }
    if (selector == NVN_DEVICE_INFO_GLSLC_MAX_SUPPORTED_GPU_CODE_MINOR_VERSION) {
        *value = std::max(is_newer ? newer_code_minor(version.minor) : older[selector], compiler_minor());
        return;
    }
    if (selector > last_integer) {
        report_error("nvnDeviceGetInteger", "unknown item {:#x}, answered 0", selector);
        *value = 0;
        return;
    }
    *value = (is_newer ? newer : older)[selector];
}

void nvnDeviceInstallDebugCallback(NVNdevice* device, const PFNNVNDEBUGCALLBACKPROC callback, void* callbackData,
                                   BooleanArgument enable) {
    Device* d = as_valid(device, "nvnDeviceInstallDebugCallback");
    if (!d)
        return;
    const bool enabled = is_true(enable) && callback;
    d->debug_callback = enabled ? callback : nullptr;
    d->debug_callback_data = enabled ? callbackData : nullptr;
    d->debug_enabled = enabled;
    const std::lock_guard lock(host().mutex);
    host().debug_callback = {d->debug_callback, d->debug_callback_data};
}

NVNdebugDomainId nvnDeviceGenerateDebugDomainId(const NVNdevice*, const char* name) {
    // Deterministic, positive, within item 0x60: equal names share a domain.
    u32 hash = 0x811C9DC5;
    for (; name && *name; ++name)
        hash = (hash ^ static_cast<u8>(*name)) * 0x01000193;
    return static_cast<int>(1 + hash % 65534);
}

void nvnDeviceSetWindowOriginMode(NVNdevice* device, NVNwindowOriginMode windowOriginMode) {
    if (Device* d = as_valid(device, "nvnDeviceSetWindowOriginMode")) {
        d->window_origin_mode = windowOriginMode == NVN_WINDOW_ORIGIN_MODE_UPPER_LEFT;
        publish_modes(*d);
    }
}

NVNwindowOriginMode nvnDeviceGetWindowOriginMode(const NVNdevice* device) {
    const Device* d = as_valid(device, "nvnDeviceGetWindowOriginMode");
    return d ? static_cast<NVNwindowOriginMode>(d->window_origin_mode) : NVN_WINDOW_ORIGIN_MODE_LOWER_LEFT;
}

void nvnDeviceSetDepthMode(NVNdevice* device, NVNdepthMode depthMode) {
    if (Device* d = as_valid(device, "nvnDeviceSetDepthMode")) {
        d->depth_mode = depthMode == NVN_DEPTH_MODE_NEAR_IS_ZERO;
        publish_modes(*d);
    }
}

NVNdepthMode nvnDeviceGetDepthMode(const NVNdevice* device) {
    const Device* d = as_valid(device, "nvnDeviceGetDepthMode");
    return d ? static_cast<NVNdepthMode>(d->depth_mode) : NVN_DEPTH_MODE_NEAR_IS_MINUS_W;
}

// Hints that pixels do not depend on.
NVNboolean nvnDeviceRegisterFastClearColor(NVNdevice*, const float*, NVNformat) {
    return NVN_TRUE;
}
NVNboolean nvnDeviceRegisterFastClearColori(NVNdevice*, const int*, NVNformat) {
    return NVN_TRUE;
}
NVNboolean nvnDeviceRegisterFastClearColorui(NVNdevice*, const uint32_t*, NVNformat) {
    return NVN_TRUE;
}
NVNboolean nvnDeviceRegisterFastClearDepth(NVNdevice*, float) {
    return NVN_TRUE;
}
void nvnDeviceSetIntermediateShaderCache(NVNdevice*, int) {}

// Objects hold nothing that could outlive their Finalize, so there is nothing deferred.
void nvnDeviceApplyDeferredFinalizes(NVNdevice*, int) {}
// Command lists live in the application's memory: a handle owns nothing.
void nvnDeviceFinalizeCommandHandle(NVNdevice*, NVNcommandHandle) {}
// Objects are not enumerated: they live, move and die in the application's memory unseen.
void nvnDeviceWalkDebugDatabase(const NVNdevice*, NVNdebugObjectType, PFNNVNWALKDEBUGDATABASECALLBACKPROC, void*) {}

NVNboolean nvnDeviceIsExternalDebuggerAttached(const NVNdevice*) {
    return NVN_FALSE;
}
NVNboolean nvnDeviceWaitForError(NVNdevice*) {
    return NVN_FALSE;
}

// Handles: texture ID in bits 0-19, sampler ID in bits 20-31; the upper half is 0.
NVNtextureHandle nvnDeviceGetTextureHandle(const NVNdevice*, int textureID, int samplerID) {
    return (static_cast<u32>(textureID) & texture_id_mask) | u64{static_cast<u32>(samplerID) & sampler_id_mask}
                                                                 << sampler_shift;
}
NVNtextureHandle nvnDeviceGetTexelFetchHandle(const NVNdevice*, int textureID) {
    return static_cast<u32>(textureID) & texture_id_mask;
}
NVNimageHandle nvnDeviceGetImageHandle(const NVNdevice*, int textureID) {
    return static_cast<u32>(textureID) & texture_id_mask;
}
NVNseparateTextureHandle nvnDeviceGetSeparateTextureHandle(const NVNdevice*, int textureID) {
    return {static_cast<u32>(textureID) & texture_id_mask};
}
NVNseparateSamplerHandle nvnDeviceGetSeparateSamplerHandle(const NVNdevice*, int samplerID) {
    return {u64{static_cast<u32>(samplerID) & sampler_id_mask} << sampler_shift};
}

// A tick is 13 / 8 ns. Computed without losing the upper bits to the multiplication.
uint64_t nvnDeviceGetTimestampInNanoseconds(const NVNdevice*, const NVNcounterData* counterData) {
    const u64 ticks = counterData ? counterData->timestamp : 0;
    return ticks / 8 * 13 + ticks % 8 * 13 / 8;
}

uint64_t nvnDeviceGetCurrentTimestampInNanoseconds(const NVNdevice*) {
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    return static_cast<u64>(std::chrono::nanoseconds(now).count());
}

} // namespace heaviside::nvn
