// What a test needs as a client of the API: the pointers loaded, a device, pools over its own pages.
#pragma once

#include <nvn/nvn.h>

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <memory>

namespace heaviside::nvn::test {

inline void load_procs() {
    static const bool once = [] {
        nvnLoadCProcs(nullptr,
                      reinterpret_cast<PFNNVNDEVICEGETPROCADDRESSPROC>(nvnBootstrapLoader("nvnDeviceGetProcAddress")));
        return true;
    }();
    (void)once;
}

struct Device {
    NVNdevice object;
    Device() {
        load_procs();
        NVNdeviceBuilder builder;
        nvnDeviceBuilderSetDefaults(&builder);
        EXPECT_TRUE(nvnDeviceInitialize(&object, &builder));
    }
    ~Device() { nvnDeviceFinalize(&object); }
    Device(const Device&) = delete;
    Device& operator=(const Device&) = delete;
};

// Zeroed pages, 64 KiB aligned as a runtime's allocator gives them.
struct Pages {
    std::size_t size;
    std::byte* data;
    explicit Pages(std::size_t bytes) : size((bytes + 0xFFFF) & ~std::size_t{0xFFFF}) {
        data = static_cast<std::byte*>(std::aligned_alloc(0x10000, size));
        std::memset(data, 0, size);
    }
    ~Pages() { std::free(data); }
    Pages(const Pages&) = delete;
    Pages& operator=(const Pages&) = delete;
};

inline constexpr int cpu_cached = NVN_MEMORY_POOL_FLAGS_CPU_CACHED | NVN_MEMORY_POOL_FLAGS_GPU_CACHED;

struct Pool {
    Pages pages;
    NVNmemoryPool object;
    Pool(Device& device, std::size_t size, int flags = cpu_cached) : pages(size) {
        NVNmemoryPoolBuilder builder;
        nvnMemoryPoolBuilderSetDevice(&builder, &device.object);
        nvnMemoryPoolBuilderSetDefaults(&builder);
        nvnMemoryPoolBuilderSetFlags(&builder, flags);
        nvnMemoryPoolBuilderSetStorage(&builder, pages.data, pages.size);
        EXPECT_TRUE(nvnMemoryPoolInitialize(&object, &builder));
    }
    ~Pool() { nvnMemoryPoolFinalize(&object); }
    Pool(const Pool&) = delete;
    Pool& operator=(const Pool&) = delete;
};

} // namespace heaviside::nvn::test
