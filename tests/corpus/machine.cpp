#include "tests/corpus/machine.h"

#include <heaviside/heaviside.h>

#include <cstring>
#include <stdexcept>

namespace corpus {

Machine& the_machine() {
    static Machine machine;
    return machine;
}

bool Machine::start(std::string& error) {
    // Nothing of an earlier run may answer for the translator.
    setenv("HEAVISIDE_CACHE", "", 0);
    const auto get_proc = reinterpret_cast<PFNNVNDEVICEGETPROCADDRESSPROC>(
        reinterpret_cast<void*>(nvnBootstrapLoader("nvnDeviceGetProcAddress")));
    nvnLoadCProcs(nullptr, get_proc);
    NVNdeviceBuilder device_builder;
    nvnDeviceBuilderSetDefaults(&device_builder);
    if (!nvnDeviceInitialize(&device, &device_builder)) {
        error = heaviside_last_error();
        return false;
    }
    nvnLoadCProcs(&device, get_proc);
    // y = -1 is the first memory row, as in Vulkan (ledger REN-102); windings are named for y up, so Vulkan's
    // counter-clockwise is clockwise here.
    nvnDeviceSetWindowOriginMode(&device, NVN_WINDOW_ORIGIN_MODE_LOWER_LEFT);
    nvnDeviceSetDepthMode(&device, NVN_DEPTH_MODE_NEAR_IS_ZERO);

    NVNqueueBuilder queue_builder;
    nvnQueueBuilderSetDevice(&queue_builder, &device);
    nvnQueueBuilderSetDefaults(&queue_builder);
    const std::size_t size = nvnQueueBuilderGetQueueMemorySize(&queue_builder);
    queue_memory.reset(std::aligned_alloc(4096, size));
    nvnQueueBuilderSetQueueMemory(&queue_builder, queue_memory.get(), size);
    running = nvnQueueInitialize(&queue, &queue_builder);
    if (!running) {
        error = "nvnQueueInitialize failed";
        nvnDeviceFinalize(&device);
    }
    return running;
}

void Machine::stop() {
    if (!running)
        return;
    nvnQueueFinish(&queue);
    nvnQueueFinalize(&queue);
    nvnDeviceFinalize(&device);
    running = false;
}

Arena::Arena(NVNdevice& device, std::size_t size, int flags)
    : memory_(std::aligned_alloc(4096, size), &std::free), size_(size) {
    std::memset(memory_.get(), 0, size);
    NVNmemoryPoolBuilder builder;
    nvnMemoryPoolBuilderSetDevice(&builder, &device);
    nvnMemoryPoolBuilderSetDefaults(&builder);
    nvnMemoryPoolBuilderSetFlags(&builder, flags);
    nvnMemoryPoolBuilderSetStorage(&builder, memory_.get(), size);
    if (!nvnMemoryPoolInitialize(&pool, &builder))
        throw std::runtime_error("nvnMemoryPoolInitialize failed");
}

Arena::~Arena() {
    nvnMemoryPoolFinalize(&pool);
}

std::ptrdiff_t Arena::take(std::size_t size, std::size_t alignment) {
    const std::size_t offset = (used_ + alignment - 1) / alignment * alignment;
    if (offset + size > size_)
        throw std::runtime_error("the case needs more memory than its pool has");
    used_ = offset + size;
    return static_cast<std::ptrdiff_t>(offset);
}

std::ptrdiff_t Arena::put(const Blob& data, std::size_t alignment) {
    const std::ptrdiff_t offset = take(data.size(), alignment);
    if (!data.empty())
        std::memcpy(host(offset), data.data(), data.size());
    return offset;
}

} // namespace corpus
