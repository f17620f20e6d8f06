// What the API keeps outside the application's objects: one per process, since entry points have nothing but those
// objects to find it by, and some of them work before a device exists.
#pragma once

#include "guest/memory.h"
#include "nvn/objects.h"
#include "nvn/pool_table.h"
#include "nvn/program_table.h"
#include "nvn/runtime.h"
#include "nvn/virtual_pools.h"
#include "stream/sink.h"

#include <atomic>
#include <mutex>
#include <vector>

namespace heaviside::nvn {

struct DebugCallback {
    PFNNVNDEBUGCALLBACKPROC function = nullptr;
    void* data = nullptr;
};

struct Host {
    guest::Memory memory;
    std::atomic<stream::Sink*> sink = nullptr;
    PoolTable pools;
    VirtualPools virtual_pools;
    ProgramTable programs;

    std::atomic<u64> next_serial = 1; // memory pools, textures, buffers
    std::atomic<u32> next_pool_id = 1;

    std::mutex mutex; // the rest
    RuntimeStarter starter;
    CallableWrapper wrapper;
    BlockingHooks blocking;
    DebugCallback debug_callback;
    int api_major = 0, api_minor = 0, sdk_major = 0, compiler_minor = 0;
    std::vector<stream::DeviceModes> device_modes; // of devices 1, 2, ...; those of ended ones stay
    std::atomic<bool> unimplemented_abort = false;
};

[[nodiscard]] Host& host();

} // namespace heaviside::nvn
