/* A framework over the API: wrappers that embed API objects, state objects that live in temporaries, one command buffer
 * whose memory a callback supplies. C11. */
#include "clients.h"

#include <nvn/nvn.h>

#include <stdlib.h>
#include <string.h>

#define CHECK(condition)                                                                                               \
    do {                                                                                                               \
        if (!(condition))                                                                                              \
            return __LINE__;                                                                                           \
    } while (0)

enum { kPage = 0x1000, kPoolSize = 0x200000, kCommandChunk = 0x4000, kControlChunk = 0x800 };

/* Frameworks keep a state object in a field of their own, as big as the API's. */
typedef struct BlendTargetState {
    char nvnBlendState[8];
} BlendTargetState;
typedef struct RasterizerState {
    char nvnPolygonState[4], nvnMultisampleState[24], nvnColorState[4];
} RasterizerState;

typedef struct Framework {
    NVNdevice device;
    NVNqueue queue;
    NVNmemoryPool pool, textures, shaders;
    NVNcommandBuffer commands;
    NVNcommandHandle handle;
    void* poolMemory;
    void* textureMemory;
    void* shaderMemory;
    void* queueMemory;
    char* controlMemory;
    ptrdiff_t nextCommandMemory;
    size_t nextControlMemory;
    int commandCallbacks, controlCallbacks, debugMessages;
    size_t smallestRequest;
    NVNtexturePool texturePool;
    NVNsamplerPool samplerPool;
} Framework;

static void outOfMemory(NVNcommandBuffer* buffer, NVNcommandBufferMemoryEvent event, size_t minSize, void* data) {
    Framework* const f = (Framework*)data;
    if (minSize < f->smallestRequest)
        f->smallestRequest = minSize;
    if (event == NVN_COMMAND_BUFFER_MEMORY_EVENT_OUT_OF_COMMAND_MEMORY) {
        ++f->commandCallbacks;
        nvnCommandBufferAddCommandMemory(buffer, &f->pool, f->nextCommandMemory, kCommandChunk);
        f->nextCommandMemory += kCommandChunk;
    } else {
        ++f->controlCallbacks;
        nvnCommandBufferAddControlMemory(buffer, f->controlMemory + f->nextControlMemory, kControlChunk);
        f->nextControlMemory += kControlChunk;
    }
}

static void debugMessage(NVNdebugCallbackSource source, NVNdebugCallbackType type, int id,
                         NVNdebugCallbackSeverity severity, const char* message, void* data) {
    Framework* const f = (Framework*)data;
    (void)type;
    (void)id;
    (void)severity;
    if (source == NVN_DEBUG_CALLBACK_SOURCE_API && message && message[0])
        ++f->debugMessages;
}

static int makePool(Framework* f, NVNmemoryPool* pool, void** memory, size_t size, int flags) {
    *memory = aligned_alloc(0x10000, size);
    CHECK(*memory);
    memset(*memory, 0, size);
    NVNmemoryPoolBuilder builder; /* not cleared: SetDefaults has to do */
    memset(&builder, 0xCD, sizeof builder);
    nvnMemoryPoolBuilderSetDefaults(&builder);
    nvnMemoryPoolBuilderSetDevice(&builder, &f->device);
    nvnMemoryPoolBuilderSetFlags(&builder, flags);
    nvnMemoryPoolBuilderSetStorage(&builder, *memory, size);
    CHECK(nvnMemoryPoolInitialize(pool, &builder));
    CHECK(nvnMemoryPoolGetSize(pool) == size && (int)nvnMemoryPoolGetFlags(pool) == flags);
    return 0;
}

static int start(Framework* f) {
    PFNNVNDEVICEGETPROCADDRESSPROC getProcAddress =
        (PFNNVNDEVICEGETPROCADDRESSPROC)nvnBootstrapLoader("nvnDeviceGetProcAddress");
    CHECK(getProcAddress);
    nvnLoadCProcs(NULL, getProcAddress);

    int major = 0, minor = 0, supportsDebug = -1;
    nvnDeviceGetInteger(NULL, NVN_DEVICE_INFO_API_MAJOR_VERSION, &major);
    nvnDeviceGetInteger(NULL, NVN_DEVICE_INFO_API_MINOR_VERSION, &minor);
    CHECK(major == NVN_API_MAJOR_VERSION && minor >= NVN_API_MINOR_VERSION);

    NVNdeviceBuilder deviceBuilder;
    nvnDeviceBuilderSetDefaults(&deviceBuilder);
    nvnDeviceBuilderSetFlags(&deviceBuilder, NVN_DEVICE_FLAG_DEBUG_ENABLE_BIT | NVN_DEVICE_FLAG_DEFERRED_FINALIZE_BIT);
    CHECK(nvnDeviceInitialize(&f->device, &deviceBuilder));
    nvnLoadCProcs(&f->device, (PFNNVNDEVICEGETPROCADDRESSPROC)getProcAddress(&f->device, "nvnDeviceGetProcAddress"));
    nvnDeviceInstallDebugCallback(&f->device, debugMessage, f, NVN_TRUE);
    nvnDeviceGetInteger(&f->device, NVN_DEVICE_INFO_SUPPORTS_DEBUG_LAYER, &supportsDebug);
    CHECK(supportsDebug == 0 || supportsDebug == 1);
    nvnDeviceSetWindowOriginMode(&f->device, NVN_WINDOW_ORIGIN_MODE_UPPER_LEFT);
    nvnDeviceSetDepthMode(&f->device, NVN_DEPTH_MODE_NEAR_IS_ZERO);
    CHECK(nvnDeviceGetDepthMode(&f->device) == NVN_DEPTH_MODE_NEAR_IS_ZERO);

    NVNqueueBuilder queueBuilder;
    nvnQueueBuilderSetDevice(&queueBuilder, &f->device);
    nvnQueueBuilderSetDefaults(&queueBuilder);
    int granularity = 0;
    nvnDeviceGetInteger(&f->device, NVN_DEVICE_INFO_QUEUE_COMMAND_MEMORY_GRANULARITY, &granularity);
    CHECK(granularity > 0);
    nvnQueueBuilderSetComputeMemorySize(&queueBuilder, 0);
    const size_t queueMemory = nvnQueueBuilderGetQueueMemorySize(&queueBuilder);
    CHECK(queueMemory > 0 && queueMemory % kPage == 0);
    f->queueMemory = aligned_alloc(kPage, queueMemory);
    nvnQueueBuilderSetQueueMemory(&queueBuilder, f->queueMemory, queueMemory);
    CHECK(nvnQueueInitialize(&f->queue, &queueBuilder));

    int line = makePool(f, &f->pool, &f->poolMemory, kPoolSize,
                        NVN_MEMORY_POOL_FLAGS_CPU_UNCACHED_BIT | NVN_MEMORY_POOL_FLAGS_GPU_CACHED_BIT);
    CHECK(line == 0);
    line = makePool(f, &f->textures, &f->textureMemory, kPoolSize,
                    NVN_MEMORY_POOL_FLAGS_CPU_NO_ACCESS_BIT | NVN_MEMORY_POOL_FLAGS_GPU_CACHED_BIT |
                        NVN_MEMORY_POOL_FLAGS_COMPRESSIBLE_BIT);
    CHECK(line == 0);
    CHECK(nvnMemoryPoolMap(&f->pool) == f->poolMemory && nvnMemoryPoolMap(&f->textures) == NULL);

    CHECK(nvnCommandBufferInitialize(&f->commands, &f->device));
    nvnCommandBufferSetMemoryCallback(&f->commands, outOfMemory);
    nvnCommandBufferSetMemoryCallbackData(&f->commands, f);
    f->controlMemory = aligned_alloc(8, 0x10000);
    f->nextCommandMemory = 0x100000;
    f->smallestRequest = ~(size_t)0;
    return 0;
}

static int makeTexture(Framework* f, NVNtexture* texture, NVNformat format, int width, int height, int flags,
                       size_t* offset) {
    NVNtextureBuilder builder;
    nvnTextureBuilderSetDefaults(&builder);
    nvnTextureBuilderSetDevice(&builder, &f->device);
    nvnTextureBuilderSetTarget(&builder, NVN_TEXTURE_TARGET_2D);
    nvnTextureBuilderSetFormat(&builder, format);
    nvnTextureBuilderSetSize2D(&builder, width, height);
    nvnTextureBuilderSetFlags(&builder, flags | NVN_TEXTURE_FLAGS_IMAGE_BIT);
    const size_t size = nvnTextureBuilderGetStorageSize(&builder);
    const size_t alignment = nvnTextureBuilderGetStorageAlignment(&builder);
    CHECK(size >= (size_t)width * (size_t)height && alignment && (alignment & (alignment - 1)) == 0);
    *offset = (*offset + alignment - 1) & ~(alignment - 1);
    nvnTextureBuilderSetStorage(&builder, &f->textures, (ptrdiff_t)*offset);
    CHECK(nvnTextureInitialize(texture, &builder));
    CHECK(nvnTextureGetStorageSize(texture) == (int)size);
    CHECK(nvnTextureGetTextureAddress(texture) == nvnMemoryPoolGetBufferAddress(&f->textures) + *offset);
    CHECK((nvnTextureGetFlags(texture) & NVN_TEXTURE_FLAGS_IMAGE_BIT) != 0);
    *offset += size;
    return 0;
}

static int makeProgram(Framework* f, NVNprogram* program, const ClientShader* stages, int count) {
    int padding = 0;
    nvnDeviceGetInteger(&f->device, NVN_DEVICE_INFO_SHADER_CODE_MEMORY_POOL_PADDING_SIZE, &padding);
    size_t size = (size_t)padding, used = 0;
    for (int i = 0; i < count; ++i)
        size += (stages[i].code_size + 0xFF) & ~(size_t)0xFF;
    size = (size + 0xFFFF) & ~(size_t)0xFFFF;
    CHECK(makePool(f, &f->shaders, &f->shaderMemory, size,
                   NVN_MEMORY_POOL_FLAGS_CPU_UNCACHED_BIT | NVN_MEMORY_POOL_FLAGS_GPU_CACHED_BIT |
                       NVN_MEMORY_POOL_FLAGS_SHADER_CODE_BIT) == 0);
    NVNshaderData data[6];
    for (int i = 0; i < count; ++i) {
        memcpy((char*)f->shaderMemory + used, stages[i].code, stages[i].code_size);
        data[i].data = nvnMemoryPoolGetBufferAddress(&f->shaders) + used;
        data[i].control = stages[i].control;
        used += (stages[i].code_size + 0xFF) & ~(size_t)0xFF;
    }
    CHECK(nvnProgramInitialize(program, &f->device));
    nvnProgramSetDebugLabel(program, "framework program");
    CHECK(nvnProgramSetShaders(program, count, data));
    return 0;
}

/* State objects are made in temporaries that are gone after the bind. */
static void bindStates(Framework* f) {
    RasterizerState rasterizer;
    nvnPolygonStateSetDefaults((NVNpolygonState*)rasterizer.nvnPolygonState);
    nvnPolygonStateSetCullFace((NVNpolygonState*)rasterizer.nvnPolygonState, NVN_FACE_BACK);
    nvnPolygonStateSetFrontFace((NVNpolygonState*)rasterizer.nvnPolygonState, NVN_FRONT_FACE_CW);
    nvnPolygonStateSetPolygonOffsetEnables((NVNpolygonState*)rasterizer.nvnPolygonState,
                                           NVN_POLYGON_OFFSET_ENABLE_FILL_BIT);
    nvnMultisampleStateSetDefaults((NVNmultisampleState*)rasterizer.nvnMultisampleState);
    nvnMultisampleStateSetSamples((NVNmultisampleState*)rasterizer.nvnMultisampleState, 1);
    nvnColorStateSetDefaults((NVNcolorState*)rasterizer.nvnColorState);
    nvnColorStateSetBlendEnable((NVNcolorState*)rasterizer.nvnColorState, 0, NVN_TRUE);
    nvnCommandBufferBindPolygonState(&f->commands, (NVNpolygonState*)rasterizer.nvnPolygonState);
    nvnCommandBufferBindMultisampleState(&f->commands, (NVNmultisampleState*)rasterizer.nvnMultisampleState);
    nvnCommandBufferBindColorState(&f->commands, (NVNcolorState*)rasterizer.nvnColorState);
    nvnCommandBufferSetPolygonOffsetClamp(&f->commands, 1.0f, 2.0f, 0.0f);
    nvnCommandBufferSetSampleMask(&f->commands, ~0);

    BlendTargetState blends[2];
    for (int i = 0; i < 2; ++i) {
        NVNblendState* const blend = (NVNblendState*)blends[i].nvnBlendState;
        nvnBlendStateSetDefaults(blend);
        nvnBlendStateSetBlendTarget(blend, i);
        nvnBlendStateSetBlendFunc(blend, NVN_BLEND_FUNC_SRC_ALPHA, NVN_BLEND_FUNC_ONE_MINUS_SRC_ALPHA,
                                  NVN_BLEND_FUNC_ONE, NVN_BLEND_FUNC_ZERO);
        nvnBlendStateSetBlendEquation(blend, NVN_BLEND_EQUATION_ADD, NVN_BLEND_EQUATION_ADD);
        nvnCommandBufferBindBlendState(&f->commands, blend);
    }
    NVNchannelMaskState mask;
    nvnChannelMaskStateSetDefaults(&mask);
    nvnChannelMaskStateSetChannelMask(&mask, 0, NVN_TRUE, NVN_TRUE, NVN_TRUE, NVN_FALSE);
    nvnCommandBufferBindChannelMaskState(&f->commands, &mask);

    NVNdepthStencilState depth;
    nvnDepthStencilStateSetDefaults(&depth);
    nvnDepthStencilStateSetDepthTestEnable(&depth, NVN_TRUE);
    nvnDepthStencilStateSetDepthWriteEnable(&depth, NVN_TRUE);
    nvnDepthStencilStateSetDepthFunc(&depth, NVN_DEPTH_FUNC_LEQUAL);
    nvnDepthStencilStateSetStencilFunc(&depth, NVN_FACE_FRONT_AND_BACK, NVN_STENCIL_FUNC_ALWAYS);
    nvnDepthStencilStateSetStencilOp(&depth, NVN_FACE_FRONT, NVN_STENCIL_OP_KEEP, NVN_STENCIL_OP_KEEP,
                                     NVN_STENCIL_OP_REPLACE);
    nvnCommandBufferBindDepthStencilState(&f->commands, &depth);
    nvnCommandBufferSetStencilRef(&f->commands, NVN_FACE_FRONT_AND_BACK, 1);
    nvnCommandBufferSetStencilMask(&f->commands, NVN_FACE_FRONT_AND_BACK, 0xFF);
    nvnCommandBufferSetStencilValueMask(&f->commands, NVN_FACE_FRONT_AND_BACK, 0xFF);

    NVNvertexAttribState attributes[2];
    NVNvertexStreamState stream;
    nvnVertexAttribStateSetDefaults(&attributes[0]);
    nvnVertexAttribStateSetFormat(&attributes[0], NVN_FORMAT_RGB32F, 0);
    nvnVertexAttribStateSetStreamIndex(&attributes[0], 0);
    nvnVertexAttribStateSetDefaults(&attributes[1]);
    nvnVertexAttribStateSetFormat(&attributes[1], NVN_FORMAT_RGBA8, 12);
    nvnVertexAttribStateSetStreamIndex(&attributes[1], 0);
    nvnVertexStreamStateSetDefaults(&stream);
    nvnVertexStreamStateSetStride(&stream, 16);
    nvnCommandBufferBindVertexAttribState(&f->commands, 2, attributes);
    nvnCommandBufferBindVertexStreamState(&f->commands, 1, &stream);
}

static int frame(Framework* f, NVNtexture* color, NVNtexture* depth, const NVNprogram* program, int draws) {
    nvnDeviceFinalizeCommandHandle(&f->device, f->handle); /* 0 the first time */
    f->nextCommandMemory = 0x100000;
    f->nextControlMemory = 0;
    nvnCommandBufferAddCommandMemory(&f->commands, &f->pool, 0x80000, kCommandChunk);
    nvnCommandBufferAddControlMemory(&f->commands, f->controlMemory + 0xF000, kControlChunk);
    nvnCommandBufferBeginRecording(&f->commands);
    CHECK(nvnCommandBufferIsRecording(&f->commands));
    nvnCommandBufferSetTexturePool(&f->commands, &f->texturePool);
    nvnCommandBufferSetSamplerPool(&f->commands, &f->samplerPool);

    const NVNtexture* targets[1] = {color};
    NVNtextureView view; /* on the stack: consumed at the call */
    nvnTextureViewSetDefaults(&view);
    nvnTextureViewSetFormat(&view, NVN_FORMAT_RGBA8_SRGB);
    const NVNtextureView* views[1] = {&view};
    nvnCommandBufferSetRenderTargets(&f->commands, 1, targets, views, depth, NULL);
    nvnCommandBufferSetScissor(&f->commands, 0, 0, 0x7FFFFFFF, 0x7FFFFFFF);
    const float clear[4] = {0.0f, 0.25f, 0.5f, 1.0f};
    nvnCommandBufferClearColor(&f->commands, 0, clear, NVN_CLEAR_COLOR_MASK_RGBA);
    nvnCommandBufferClearDepthStencil(&f->commands, 1.0f, NVN_TRUE, 0, 0);
    nvnCommandBufferClearDepthStencil(&f->commands, 0.0f, NVN_FALSE, 1, -1);

    const float viewports[8] = {0, 0, 64, 64, 8, 8, 16, 16};
    const float ranges[4] = {0, 1, 0.25f, 0.75f};
    const int scissors[8] = {0, 0, 64, 64, 0, 0, 0x7FFFFFFF, 0x7FFFFFFF};
    nvnCommandBufferSetViewports(&f->commands, 0, 2, viewports);
    nvnCommandBufferSetDepthRanges(&f->commands, 0, 2, ranges);
    nvnCommandBufferSetScissors(&f->commands, 0, 2, scissors);
    bindStates(f);
    nvnCommandBufferBindProgram(&f->commands, program, NVN_SHADER_STAGE_ALL_GRAPHICS_BITS);
    const NVNbufferAddress buffers = nvnMemoryPoolGetBufferAddress(&f->pool);
    const NVNtextureHandle handle = nvnDeviceGetTextureHandle(&f->device, 256, 257);
    nvnCommandBufferBindTexture(&f->commands, NVN_SHADER_STAGE_FRAGMENT, 0, handle);
    for (int i = 0; i < draws; ++i) {
        nvnCommandBufferBindUniformBuffer(&f->commands, NVN_SHADER_STAGE_VERTEX, 0,
                                          buffers + 0x100u * (unsigned)(i % 16), 256);
        nvnCommandBufferBindVertexBuffer(&f->commands, 0, buffers + 0x10000, 0x1000);
        nvnCommandBufferDrawElementsInstanced(&f->commands, NVN_DRAW_PRIMITIVE_TRIANGLES, NVN_INDEX_TYPE_UNSIGNED_SHORT,
                                              3, buffers + 0x20000, 0, 0, 2);
    }
    nvnCommandBufferBarrier(&f->commands, NVN_BARRIER_ORDER_FRAGMENTS_BIT | NVN_BARRIER_INVALIDATE_TEXTURE_BIT);

    /* A copy out of the target, by a view on the stack as well. */
    NVNcopyRegion region = {0, 0, 0, 64, 64, 1};
    nvnCommandBufferSetCopyRowStride(&f->commands, 64 * 4);
    nvnCommandBufferCopyTextureToBuffer(&f->commands, color, &view, &region, buffers + 0x30000, NVN_COPY_FLAGS_NONE);
    nvnCommandBufferSetCopyRowStride(&f->commands, 0);
    f->handle = nvnCommandBufferEndRecording(&f->commands);
    CHECK(f->handle != 0 && !nvnCommandBufferIsRecording(&f->commands));
    CHECK(nvnCommandBufferGetCommandMemoryUsed(&f->commands) > 0);
    CHECK(nvnCommandBufferGetControlMemoryUsed(&f->commands) > 0);
    nvnQueueSubmitCommands(&f->queue, 1, &f->handle);
    return 0;
}

int client_framework(const ClientAssets* assets) {
    static Framework f; /* the device object has to stay where it is */
    memset(&f, 0xEE, sizeof f);
    f.commandCallbacks = f.controlCallbacks = f.debugMessages = 0;
    f.handle = 0;
    int line = start(&f);
    CHECK(line == 0 || (nvnDeviceFinalize(&f.device), 0));

    size_t offset = 0;
    NVNtexture color, depth, image;
    line = makeTexture(&f, &color, NVN_FORMAT_RGBA8, 64, 64, NVN_TEXTURE_FLAGS_COMPRESSIBLE_BIT, &offset);
    CHECK(line == 0);
    line = makeTexture(&f, &depth, NVN_FORMAT_DEPTH24_STENCIL8, 64, 64, NVN_TEXTURE_FLAGS_COMPRESSIBLE_BIT, &offset);
    CHECK(line == 0);
    line = makeTexture(&f, &image, NVN_FORMAT_RGBA_DXT5, 128, 128, 0, &offset);
    CHECK(line == 0);

    int textureDescriptor = 0, samplerDescriptor = 0, reserved = 0;
    nvnDeviceGetInteger(&f.device, NVN_DEVICE_INFO_TEXTURE_DESCRIPTOR_SIZE, &textureDescriptor);
    nvnDeviceGetInteger(&f.device, NVN_DEVICE_INFO_SAMPLER_DESCRIPTOR_SIZE, &samplerDescriptor);
    nvnDeviceGetInteger(&f.device, NVN_DEVICE_INFO_RESERVED_TEXTURE_DESCRIPTORS, &reserved);
    CHECK(textureDescriptor == 32 && samplerDescriptor == 32 && reserved == 256);
    CHECK(nvnTexturePoolInitialize(&f.texturePool, &f.pool, 0x40000, reserved + 16));
    CHECK(nvnSamplerPoolInitialize(&f.samplerPool, &f.pool, 0x50000, reserved + 16));
    CHECK(nvnTexturePoolGetSize(&f.texturePool) == reserved + 16);
    nvnTexturePoolRegisterTexture(&f.texturePool, reserved, &image, NULL);
    nvnTexturePoolRegisterImage(&f.texturePool, reserved + 1, &color, NULL);

    NVNsamplerBuilder samplerBuilder;
    nvnSamplerBuilderSetDefaults(&samplerBuilder);
    nvnSamplerBuilderSetDevice(&samplerBuilder, &f.device);
    nvnSamplerBuilderSetMinMagFilter(&samplerBuilder, NVN_MIN_FILTER_LINEAR_MIPMAP_LINEAR, NVN_MAG_FILTER_LINEAR);
    nvnSamplerBuilderSetWrapMode(&samplerBuilder, NVN_WRAP_MODE_REPEAT, NVN_WRAP_MODE_CLAMP_TO_EDGE,
                                 NVN_WRAP_MODE_CLAMP_TO_EDGE);
    nvnSamplerBuilderSetMaxAnisotropy(&samplerBuilder, 4.0f);
    NVNsampler sampler, samplerCopy;
    CHECK(nvnSamplerInitialize(&sampler, &samplerBuilder));
    memcpy(&samplerCopy, &sampler, sizeof sampler); /* registered from a copy */
    nvnSamplerPoolRegisterSampler(&f.samplerPool, reserved + 1, &samplerCopy);
    CHECK(nvnSamplerCompare(&sampler, &samplerCopy));

    NVNprogram program;
    const ClientShader stages[2] = {assets->vertex, assets->fragment};
    line = makeProgram(&f, &program, stages, 2);
    CHECK(line == 0);

    for (int i = 0; i < 3; ++i) {
        f.smallestRequest = ~(size_t)0;
        line = frame(&f, &color, &depth, &program, 600);
        CHECK(line == 0);
        NVNsync done;
        CHECK(nvnSyncInitialize(&done, &f.device));
        nvnQueueFenceSync(&f.queue, &done, NVN_SYNC_CONDITION_ALL_GPU_COMMANDS_COMPLETE, 0);
        nvnQueueFlush(&f.queue);
        const NVNsyncWaitResult result = nvnSyncWait(&done, NVN_WAIT_TIMEOUT_MAXIMUM);
        CHECK(result == NVN_SYNC_WAIT_RESULT_CONDITION_SATISFIED || result == NVN_SYNC_WAIT_RESULT_ALREADY_SIGNALED);
        CHECK(nvnSyncWait(&done, 0) == NVN_SYNC_WAIT_RESULT_ALREADY_SIGNALED);
        nvnSyncFinalize(&done);
    }
    /* 600 draws and their binds do not fit 16 KiB; a request is never for less than the minimum. */
    CHECK(f.commandCallbacks >= 3 && f.smallestRequest >= 256);
    CHECK(f.debugMessages == 0);
    nvnProgramFinalize(NULL); /* an error that the callback hears of */
    CHECK(f.debugMessages == 1);

    nvnQueueFinish(&f.queue);
    nvnCommandBufferFinalize(&f.commands);
    nvnProgramFinalize(&program);
    nvnSamplerFinalize(&sampler);
    nvnSamplerPoolFinalize(&f.samplerPool);
    nvnTexturePoolFinalize(&f.texturePool);
    nvnTextureFinalize(&image);
    nvnTextureFinalize(&depth);
    nvnTextureFinalize(&color);
    nvnMemoryPoolFinalize(&f.shaders);
    nvnMemoryPoolFinalize(&f.textures);
    nvnMemoryPoolFinalize(&f.pool);
    nvnQueueFinalize(&f.queue);
    nvnDeviceFinalize(&f.device);
    free(f.controlMemory);
    free(f.queueMemory);
    free(f.shaderMemory);
    free(f.textureMemory);
    free(f.poolMemory);
    return 0;
}
