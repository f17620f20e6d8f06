// What stands between a program and the API: a loader that answers some names with its own functions, pointers that are
// replaced one by one. C++11.
#include "clients.h"

#include <nvn/nvn_cpp.h>

#include <cstring>

#define CHECK(condition)                                                                                               \
    do {                                                                                                               \
        if (!(condition))                                                                                              \
            return __LINE__;                                                                                           \
    } while (0)

namespace {

nvn::DeviceGetProcAddressFunc real_get_proc_address;
nvn::DeviceInitializeFunc real_device_initialize;
nvn::CommandBufferSetViewportFunc real_set_viewport;
nvn::Device* seen_device;
int viewports, widths;

NVNboolean device_initialize(nvn::Device* device, const nvn::DeviceBuilder* builder) {
    const NVNboolean made = real_device_initialize(device, builder);
    seen_device = device;
    nvn::nvnLoadCPPProcs(device, real_get_proc_address);
    return made;
}

void set_viewport(nvn::CommandBuffer* commands, int x, int y, int w, int h) {
    ++viewports;
    real_set_viewport(commands, x, y, w / 2, h / 2);
}

int texture_builder_get_width(const nvn::TextureBuilder*) {
    ++widths;
    return 1234;
}

nvn::GenericFuncPtrFunc get_proc_address(const nvn::Device* device, const char* name) {
    const nvn::GenericFuncPtrFunc found = real_get_proc_address(device, name);
    if (std::strcmp(name, "nvnDeviceInitialize") == 0) {
        real_device_initialize = reinterpret_cast<nvn::DeviceInitializeFunc>(found);
        return reinterpret_cast<nvn::GenericFuncPtrFunc>(&device_initialize);
    }
    if (std::strcmp(name, "nvnCommandBufferSetViewport") == 0) {
        real_set_viewport = reinterpret_cast<nvn::CommandBufferSetViewportFunc>(found);
        return reinterpret_cast<nvn::GenericFuncPtrFunc>(&set_viewport);
    }
    return found;
}

} // namespace

int client_hooks(void) {
    const auto bootstrap = reinterpret_cast<nvn::BootstrapLoaderFunc>(&nvnBootstrapLoader);
    real_get_proc_address = reinterpret_cast<nvn::DeviceGetProcAddressFunc>(bootstrap("nvnDeviceGetProcAddress"));
    // The program's C pointers come through the hook, the mod's own C++ pointers do not.
    nvnLoadCProcs(nullptr, reinterpret_cast<PFNNVNDEVICEGETPROCADDRESSPROC>(
                               reinterpret_cast<nvn::GenericFuncPtrFunc>(&get_proc_address)));
    NVNdeviceBuilder builder;
    nvnDeviceBuilderSetDefaults(&builder);
    static NVNdevice device;
    CHECK(nvnDeviceInitialize(&device, &builder));
    CHECK(seen_device == &device);
    CHECK(pfncpp_nvnCommandBufferSetViewport == real_set_viewport);

    nvn::CommandBuffer commands;
    CHECK(commands.Initialize(seen_device));
    const auto set_through_c = [&] { nvnCommandBufferSetViewport(&commands, 0, 0, 640, 480); };
    set_through_c(); // not recording: reported and ignored, but it comes by here
    CHECK(viewports == 1);
    commands.SetViewport(0, 0, 640, 480);
    CHECK(viewports == 1);

    // One function replaced: methods go through the pointer.
    const nvn::TextureBuilderGetWidthFunc real = pfncpp_nvnTextureBuilderGetWidth;
    pfncpp_nvnTextureBuilderGetWidth = &texture_builder_get_width;
    nvn::TextureBuilder texture_builder;
    texture_builder.SetDefaults().SetWidth(16);
    CHECK(texture_builder.GetWidth() == 1234 && widths == 1);
    pfncpp_nvnTextureBuilderGetWidth = real;
    CHECK(texture_builder.GetWidth() == 16 && widths == 1);

    commands.Finalize();
    nvnDeviceFinalize(&device);
    nvnLoadCProcs(nullptr, reinterpret_cast<PFNNVNDEVICEGETPROCADDRESSPROC>(bootstrap("nvnDeviceGetProcAddress")));
    return 0;
}
