/* A frame loop: a window of three textures, a copy queue beside the drawing one, queries, events, fences recorded in
 * command buffers, nested and copied lists, a window that is built anew. C11. */
#include "clients.h"

#include <nvn/nvn.h>
#include <nvn/nvn_FuncPtrInline.h>

#include <stdlib.h>
#include <string.h>

#define CHECK(condition)                                                                                               \
    do {                                                                                                               \
        if (!(condition))                                                                                              \
            return __LINE__;                                                                                           \
    } while (0)

enum { kTargets = 3, kFrames = 2, kPool = 0x400000, kList = 0x2000, kControl = 0x400 };

typedef struct Program {
    NVNdevice device;
    NVNqueue queue, copyQueue;
    NVNmemoryPool pool;
    char* memory;
    NVNwindow window;
    NVNtexture targets[kTargets];
    NVNtexture* targetPointers[kTargets];
    NVNsync acquired, frameDone[kFrames];
    NVNcommandBuffer commands[kFrames];
    char* control;
    NVNevent event;
    int width, height;
} Program;

static int openWindow(Program* p, int width, int height) {
    NVNtextureBuilder builder;
    nvnTextureBuilderSetDevice(&builder, &p->device);
    nvnTextureBuilderSetDefaults(&builder);
    nvnTextureBuilderSetFlags(&builder, NVN_TEXTURE_FLAGS_DISPLAY_BIT | NVN_TEXTURE_FLAGS_COMPRESSIBLE_BIT);
    nvnTextureBuilderSetTarget(&builder, NVN_TEXTURE_TARGET_2D);
    nvnTextureBuilderSetFormat(&builder, NVN_FORMAT_RGBA8);
    nvnTextureBuilderSetSize2D(&builder, width, height);
    const size_t alignment = nvnTextureBuilderGetStorageAlignment(&builder);
    const size_t size = (nvnTextureBuilderGetStorageSize(&builder) + alignment - 1) / alignment * alignment;
    size_t offset = (0x100000 + alignment - 1) / alignment * alignment;
    for (int i = 0; i < kTargets; ++i, offset += size) {
        CHECK(offset + size <= kPool);
        nvnTextureBuilderSetStorage(&builder, &p->pool, (ptrdiff_t)offset);
        CHECK(nvnTextureInitialize(&p->targets[i], &builder));
        p->targetPointers[i] = &p->targets[i];
    }
    NVNwindowBuilder windowBuilder;
    nvnWindowBuilderSetDefaults(&windowBuilder);
    nvnWindowBuilderSetDevice(&windowBuilder, &p->device);
    nvnWindowBuilderSetNativeWindow(&windowBuilder, NULL);
    nvnWindowBuilderSetTextures(&windowBuilder, kTargets, p->targetPointers);
    nvnWindowBuilderSetPresentInterval(&windowBuilder, 1);
    CHECK(nvnWindowBuilderGetNumTextures(&windowBuilder) == kTargets);
    CHECK(nvnWindowBuilderGetTexture(&windowBuilder, 1) == &p->targets[1]);
    CHECK(nvnWindowInitialize(&p->window, &windowBuilder));
    CHECK(nvnWindowGetNumTextures(&p->window) == kTargets && nvnWindowGetPresentInterval(&p->window) == 1);
    NVNrectangle crop;
    nvnWindowSetCrop(&p->window, 0, 0, width / 2, height);
    nvnWindowGetCrop(&p->window, &crop);
    CHECK(crop.x == 0 && crop.y == 0 && crop.width == width / 2 && crop.height == height);
    p->width = width;
    p->height = height;
    return 0;
}

static void closeWindow(Program* p) {
    nvnQueueFinish(&p->queue);
    nvnWindowFinalize(&p->window);
    for (int i = 0; i < kTargets; ++i)
        nvnTextureFinalize(&p->targets[i]);
}

static void begin(Program* p, int slot, int list) {
    nvnCommandBufferAddCommandMemory(&p->commands[slot], &p->pool, (ptrdiff_t)(slot * 8 + list) * kList, kList);
    nvnCommandBufferAddControlMemory(&p->commands[slot], p->control + (slot * 8 + list) * kControl, kControl);
    nvnCommandBufferBeginRecording(&p->commands[slot]);
}

static int frame(Program* p, int number, NVNcommandHandle staticList) {
    const int slot = number % kFrames;
    if (number >= kFrames)
        CHECK(nvnSyncWait(&p->frameDone[slot], NVN_WAIT_TIMEOUT_MAXIMUM) != NVN_SYNC_WAIT_RESULT_FAILED);
    int index = -1;
    CHECK(nvnWindowAcquireTexture(&p->window, &p->acquired, &index) == NVN_WINDOW_ACQUIRE_TEXTURE_RESULT_SUCCESS);
    CHECK(index >= 0 && index < kTargets);

    NVNcommandBuffer* const commands = &p->commands[slot];
    const NVNbufferAddress address = nvnMemoryPoolGetBufferAddress(&p->pool);
    NVNcommandHandle handles[3];
    begin(p, slot, 0); /* targets in one list, what draws into them in others: state is the queue's */
    const NVNtexture* const color = &p->targets[index];
    nvnCommandBufferWaitSync(commands, &p->acquired);
    nvnCommandBufferSetRenderTargets(commands, 1, &color, NULL, NULL, NULL);
    nvnCommandBufferSetViewport(commands, 0, 0, p->width, p->height);
    handles[0] = nvnCommandBufferEndRecording(commands);

    begin(p, slot, 1);
    nvnCommandBufferPushDebugGroupStatic(commands, 0, "quadrants");
    for (int i = 0; i < 4; ++i) {
        const float gray[4] = {(float)i / 3.0f, (float)i / 3.0f, (float)i / 3.0f, 1.0f};
        nvnCommandBufferSetScissor(commands, (i & 1) * p->width / 2, (i >> 1) * p->height / 2, p->width / 2,
                                   p->height / 2);
        nvnCommandBufferClearColor(commands, 0, gray, NVN_CLEAR_COLOR_MASK_RGBA);
    }
    nvnCommandBufferPopDebugGroup(commands);
    nvnCommandBufferResetCounter(commands, NVN_COUNTER_TYPE_SAMPLES_PASSED);
    nvnCommandBufferCallCommands(commands, 1, &staticList);
    nvnCommandBufferReportCounter(commands, NVN_COUNTER_TYPE_SAMPLES_PASSED, address + 0x80000);
    nvnCommandBufferReportCounter(commands, NVN_COUNTER_TYPE_TIMESTAMP, address + 0x80010);
    nvnCommandBufferReportValue(commands, 0x1000u + (unsigned)number, address + 0x80020);
    handles[1] = nvnCommandBufferEndRecording(commands);

    begin(p, slot, 2);
    nvnCommandBufferCopyCommands(commands, 1, &staticList);
    nvnCommandBufferSignalEvent(commands, &p->event, NVN_EVENT_SIGNAL_MODE_ADD, NVN_EVENT_SIGNAL_LOCATION_BOTTOM, 0, 1);
    nvnCommandBufferFenceSync(commands, &p->frameDone[slot], NVN_SYNC_CONDITION_ALL_GPU_COMMANDS_COMPLETE, 0);
    handles[2] = nvnCommandBufferEndRecording(commands);
    CHECK(handles[0] && handles[1] && handles[2]);
    nvnQueueSubmitCommands(&p->queue, 3, handles);
    nvnQueuePresentTexture(&p->queue, &p->window, index);
    return 0;
}

int client_window(const ClientAssets* assets) {
    (void)assets;
    static Program p;
    memset(&p, 0, sizeof p);
    nvnLoadCProcs(NULL, (PFNNVNDEVICEGETPROCADDRESSPROC)nvnBootstrapLoader("nvnDeviceGetProcAddress"));
    NVNdeviceBuilder deviceBuilder;
    nvnDeviceBuilderSetDefaults(&deviceBuilder);
    nvnDeviceBuilderSetFlags(&deviceBuilder, 0);
    CHECK(nvnDeviceInitialize(&p.device, &deviceBuilder));

    NVNqueueBuilder queueBuilder;
    nvnQueueBuilderSetDevice(&queueBuilder, &p.device);
    nvnQueueBuilderSetDefaults(&queueBuilder);
    nvnQueueBuilderSetCommandMemorySize(&queueBuilder, 65536);
    nvnQueueBuilderSetComputeMemorySize(&queueBuilder, 0);
    const size_t queueBytes = nvnQueueBuilderGetQueueMemorySize(&queueBuilder);
    void* const queueMemory = aligned_alloc(4096, queueBytes);
    nvnQueueBuilderSetQueueMemory(&queueBuilder, queueMemory, queueBytes);
    CHECK(nvnQueueInitialize(&p.queue, &queueBuilder));
    nvnQueueBuilderSetDefaults(&queueBuilder);
    nvnQueueBuilderSetFlags(&queueBuilder, NVN_QUEUE_BUILDER_FLAGS_NO_FRAGMENT_INTERLOCK_BIT);
    nvnQueueBuilderSetQueuePriority(&queueBuilder, NVN_QUEUE_PRIORITY_LOW);
    CHECK(nvnQueueInitialize(&p.copyQueue, &queueBuilder));

    p.memory = aligned_alloc(0x10000, kPool);
    memset(p.memory, 0, kPool);
    p.control = aligned_alloc(8, 16 * kControl);
    NVNmemoryPoolBuilder poolBuilder;
    nvnMemoryPoolBuilderSetDevice(&poolBuilder, &p.device);
    nvnMemoryPoolBuilderSetDefaults(&poolBuilder);
    nvnMemoryPoolBuilderSetStorage(&poolBuilder, p.memory, kPool);
    nvnMemoryPoolBuilderSetFlags(&poolBuilder,
                                 NVN_MEMORY_POOL_FLAGS_CPU_UNCACHED_BIT | NVN_MEMORY_POOL_FLAGS_GPU_CACHED_BIT);
    CHECK(nvnMemoryPoolInitialize(&p.pool, &poolBuilder));

    NVNeventBuilder eventBuilder;
    nvnEventBuilderSetDefaults(&eventBuilder);
    nvnEventBuilderSetStorage(&eventBuilder, &p.pool, 0x80040);
    int64_t eventOffset = 0;
    CHECK(nvnEventBuilderGetStorage(&eventBuilder, &eventOffset) == &p.pool && eventOffset == 0x80040);
    CHECK(nvnEventInitialize(&p.event, &eventBuilder));
    nvnEventSignal(&p.event, NVN_EVENT_SIGNAL_MODE_WRITE, 10);
    CHECK(nvnEventGetValue(&p.event) == 10);

    CHECK(nvnSyncInitialize(&p.acquired, &p.device));
    for (int i = 0; i < kFrames; ++i) {
        CHECK(nvnSyncInitialize(&p.frameDone[i], &p.device));
        CHECK(nvnCommandBufferInitialize(&p.commands[i], &p.device));
    }
    /* A list that every frame runs again. */
    NVNcommandBuffer recorder;
    CHECK(nvnCommandBufferInitialize(&recorder, &p.device));
    nvnCommandBufferAddCommandMemory(&recorder, &p.pool, 0x40000, kList);
    char staticControl[256 + 8];
    char* const aligned = (char*)(((uintptr_t)staticControl + 7) & ~(uintptr_t)7);
    nvnCommandBufferAddControlMemory(&recorder, aligned, 256);
    nvnCommandBufferBeginRecording(&recorder);
    nvnCommandBufferBindProgram(&recorder, NULL, NVN_SHADER_STAGE_ALL_GRAPHICS_BITS);
    nvnCommandBufferDrawArrays(&recorder, NVN_DRAW_PRIMITIVE_TRIANGLE_STRIP, 0, 4);
    const NVNcommandHandle staticList = nvnCommandBufferEndRecording(&recorder);
    CHECK(staticList != 0);

    int line = openWindow(&p, 64, 32);
    CHECK(line == 0);
    for (int i = 0; i < 5; ++i) {
        line = frame(&p, i, staticList);
        CHECK(line == 0);
    }
    closeWindow(&p);
    line = openWindow(&p, 96, 64); /* the size of the screen changed */
    CHECK(line == 0);
    for (int i = 5; i < 8; ++i) {
        line = frame(&p, i, staticList);
        CHECK(line == 0);
    }
    nvnQueueFinish(&p.queue);
    CHECK(nvnEventGetValue(&p.event) == 18);
    uint32_t reported = 0;
    memcpy(&reported, p.memory + 0x80020, sizeof reported);
    CHECK(reported == 0x1007);
    NVNcounterData timestamp;
    memcpy(&timestamp, p.memory + 0x80010, sizeof timestamp);
    CHECK(nvnDeviceGetTimestampInNanoseconds(&p.device, &timestamp) ==
          timestamp.timestamp / 8 * 13 + timestamp.timestamp % 8 * 13 / 8);
    CHECK(timestamp.timestamp > 0);

    /* The second queue waits for what the CPU signals. */
    nvnCommandBufferAddCommandMemory(&recorder, &p.pool, 0x42000, kList);
    nvnCommandBufferAddControlMemory(&recorder, aligned, 256);
    nvnCommandBufferBeginRecording(&recorder);
    nvnCommandBufferWaitEvent(&recorder, &p.event, NVN_EVENT_WAIT_MODE_GEQUAL_WRAP, 18);
    nvnCommandBufferClearBuffer(&recorder, nvnMemoryPoolGetBufferAddress(&p.pool) + 0x90000, 64, 0x5A5A5A5A);
    nvnCommandBufferCopyBufferToBuffer(&recorder, nvnMemoryPoolGetBufferAddress(&p.pool) + 0x90000,
                                       nvnMemoryPoolGetBufferAddress(&p.pool) + 0x91000, 64, NVN_COPY_FLAGS_NONE);
    const NVNcommandHandle copy = nvnCommandBufferEndRecording(&recorder);
    nvnQueueSubmitCommands(&p.copyQueue, 1, &copy);
    NVNsync copied;
    CHECK(nvnSyncInitialize(&copied, &p.device));
    nvnQueueFenceSync(&p.copyQueue, &copied, NVN_SYNC_CONDITION_ALL_GPU_COMMANDS_COMPLETE,
                      NVN_SYNC_FLAG_FLUSH_FOR_CPU_BIT);
    CHECK(nvnQueueWaitSync(&p.queue, &copied));
    nvnQueueFlush(&p.copyQueue);
    CHECK(nvnSyncWait(&copied, 1000000000) != NVN_SYNC_WAIT_RESULT_TIMEOUT_EXPIRED);
    CHECK(nvnQueueGetError(&p.queue, NULL) == NVN_QUEUE_GET_ERROR_RESULT_GPU_NO_ERROR);

    closeWindow(&p);
    nvnSyncFinalize(&copied);
    nvnSyncFinalize(&p.acquired);
    for (int i = 0; i < kFrames; ++i) {
        nvnSyncFinalize(&p.frameDone[i]);
        nvnCommandBufferFinalize(&p.commands[i]);
    }
    nvnCommandBufferFinalize(&recorder);
    nvnEventFinalize(&p.event);
    nvnQueueFinalize(&p.copyQueue);
    nvnQueueFinalize(&p.queue);
    nvnMemoryPoolFinalize(&p.pool);
    nvnDeviceFinalize(&p.device);
    free(queueMemory);
    free(p.control);
    free(p.memory);
    return 0;
}
