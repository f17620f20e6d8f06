// Bindings: programs, buffers, handles, pools, render targets.
#include "nvn/command_buffer.h"
#include "nvn/entry_points.h"
#include "nvn/host.h"
#include "nvn/report.h"

#include <algorithm>
#include <array>

namespace heaviside::nvn {

namespace {

using namespace stream;

constexpr int uniform_slots = 14, storage_slots = 16, vertex_slots = 16, feedback_slots = 4;

// [first, first + count) lies in [0, limit) and stage is one; reports it otherwise. An empty range is no error.
bool range_ok(const char* call, int stage, int first, int count, int limit) {
    if (stage >= 0 && stage < static_cast<int>(stage_count) && first >= 0 && count >= 0 && first <= limit &&
        count <= limit - first) [[likely]]
        return true;
    report_error(call, "stage {}, {} slots from {} on, of {}", stage, count, first, limit);
    return false;
}

template <class Record>
void bind_stage_buffer(NVNcommandBuffer* cmdBuf, const char* call, NVNshaderStage stage, int index, int limit,
                       NVNbufferAddress address, size_t size) {
    if (!range_ok(call, stage, index, 1, limit))
        return;
    // A bank or storage buffer over 4 GiB is what its 32-bit size can say.
    const auto bytes = static_cast<u32>(std::min<u64>(size, 0xffff'ffff));
    record(cmdBuf, call, Record{{}, static_cast<Stage>(stage), static_cast<u8>(index), 0, address, bytes});
}

template <class Record>
void bind_stage_buffers(NVNcommandBuffer* cmdBuf, const char* call, NVNshaderStage stage, int first, int count,
                        int limit, const NVNbufferRange* buffers) {
    if (!range_ok(call, stage, first, count, limit))
        return;
    for (int i = 0; i < count; ++i) {
        const NVNbufferRange range = buffers ? buffers[i] : NVNbufferRange{};
        bind_stage_buffer<Record>(cmdBuf, call, stage, first + i, limit, range.address, range.size);
    }
}

template <class Record>
void bind_indexed_buffers(NVNcommandBuffer* cmdBuf, const char* call, int first, int count, int limit,
                          const NVNbufferRange* buffers) {
    if (!range_ok(call, 0, first, count, limit))
        return;
    for (int i = 0; i < count; ++i) {
        const NVNbufferRange range = buffers ? buffers[i] : NVNbufferRange{};
        record(cmdBuf, call, Record{{}, static_cast<u32>(first + i), range.address, range.size});
    }
}

u32 low_word(NVNtextureHandle handle) { // the API's handles are 64-bit, the GPU's words 32 (ledger OBJ-220)
    return static_cast<u32>(handle);
}
u32 low_word(NVNseparateTextureHandle handle) {
    return static_cast<u32>(handle.value);
}
u32 low_word(NVNseparateSamplerHandle handle) {
    return static_cast<u32>(handle.value);
}

template <class Handle>
void bind_handles(NVNcommandBuffer* cmdBuf, const char* call, HandleKind kind, NVNshaderStage stage, int first,
                  int count, const Handle* handles) {
    if (count == 0 || !range_ok(call, stage, first, count, handle_slots[static_cast<unsigned>(kind)]))
        return;
    if (!handles) {
        report_error(call, "null array of {} handles", count);
        return;
    }
    std::array<u32, 128> words;
    for (int i = 0; i < count; ++i)
        words[static_cast<std::size_t>(i)] = low_word(handles[i]);
    record_array(cmdBuf, call,
                 BindHandles{{}, kind, static_cast<Stage>(stage), static_cast<u8>(first), static_cast<u8>(count)},
                 words.data(), static_cast<u32>(count) * u32{sizeof(u32)});
}

// Their prototypes are known from their siblings only: an array of handles, which the GPU reads when the command is
// executed. One that it cannot reach is read here.
template <class Handle>
void bind_handles_deferred(NVNcommandBuffer* cmdBuf, const char* call, HandleKind kind, NVNshaderStage stage, int first,
                           int count, const Handle* handles) {
    static_assert(sizeof(Handle) == sizeof(u64));
    const auto address = reinterpret_cast<u64>(handles);
    const u64 bytes = static_cast<u64>(std::max(count, 0)) * sizeof(u64);
    if (count <= 0 || !handles || !host().memory.bytes(GuestAddress{address}, bytes))
        return bind_handles(cmdBuf, call, kind, stage, first, count, handles);
    if (range_ok(call, stage, first, count, handle_slots[static_cast<unsigned>(kind)]))
        record(cmdBuf, call,
               BindHandlesDeferred{
                   {}, kind, static_cast<Stage>(stage), static_cast<u8>(first), static_cast<u8>(count), address});
}

} // namespace

void nvnCommandBufferBindProgram(NVNcommandBuffer* cmdBuf, const NVNprogram* program, int stages) {
    ProgramId id = 0;
    if (program) {
        const Program* const valid = as_valid(program, __func__);
        if (!valid)
            return;
        id = valid->id;
    }
    record(cmdBuf, __func__, BindProgram{{}, static_cast<u32>(stages), id});
}

// Attribute constants c1.. of a program's subroutine uniforms: no program seen uses them.
void nvnCommandBufferSetProgramSubroutines(NVNcommandBuffer* cmdBuf, NVNprogram* program, NVNshaderStage stage,
                                           const int first, const int count, const int*) {
    if (!as_valid(program, __func__))
        return;
    record(cmdBuf, __func__,
           Hint{{},
                HintKind::Subroutines,
                static_cast<u32>(stage),
                (static_cast<u32>(first) & 0xffff) | static_cast<u32>(count) << 16});
}

// --- Buffers ---

void nvnCommandBufferBindUniformBuffer(NVNcommandBuffer* cmdBuf, NVNshaderStage stage, int index,
                                       NVNbufferAddress buffer, size_t size) {
    bind_stage_buffer<BindUniformBuffer>(cmdBuf, __func__, stage, index, uniform_slots, buffer, size);
}
void nvnCommandBufferBindUniformBuffers(NVNcommandBuffer* cmdBuf, NVNshaderStage stage, int first, int count,
                                        const NVNbufferRange* buffers) {
    bind_stage_buffers<BindUniformBuffer>(cmdBuf, __func__, stage, first, count, uniform_slots, buffers);
}
void nvnCommandBufferBindStorageBuffer(NVNcommandBuffer* cmdBuf, NVNshaderStage stage, int index,
                                       NVNbufferAddress buffer, size_t size) {
    bind_stage_buffer<BindStorageBuffer>(cmdBuf, __func__, stage, index, storage_slots, buffer, size);
}
void nvnCommandBufferBindStorageBuffers(NVNcommandBuffer* cmdBuf, NVNshaderStage stage, int first, int count,
                                        const NVNbufferRange* buffers) {
    bind_stage_buffers<BindStorageBuffer>(cmdBuf, __func__, stage, first, count, storage_slots, buffers);
}
void nvnCommandBufferBindVertexBuffer(NVNcommandBuffer* cmdBuf, int index, NVNbufferAddress buffer, size_t size) {
    if (range_ok(__func__, 0, index, 1, vertex_slots))
        record(cmdBuf, __func__, BindVertexBuffer{{}, static_cast<u32>(index), buffer, size});
}
void nvnCommandBufferBindVertexBuffers(NVNcommandBuffer* cmdBuf, int first, int count, const NVNbufferRange* buffers) {
    bind_indexed_buffers<BindVertexBuffer>(cmdBuf, __func__, first, count, vertex_slots, buffers);
}
void nvnCommandBufferBindTransformFeedbackBuffer(NVNcommandBuffer* cmdBuf, int index, NVNbufferAddress buffer,
                                                 size_t size) {
    const NVNbufferRange range{buffer, size};
    bind_indexed_buffers<BindTransformFeedbackBuffer>(cmdBuf, __func__, index, 1, feedback_slots, &range);
}
void nvnCommandBufferBindTransformFeedbackBuffers(NVNcommandBuffer* cmdBuf, int first, int count,
                                                  const NVNbufferRange* buffers) {
    bind_indexed_buffers<BindTransformFeedbackBuffer>(cmdBuf, __func__, first, count, feedback_slots, buffers);
}

// --- Handles ---

void nvnCommandBufferBindTexture(NVNcommandBuffer* cmdBuf, NVNshaderStage stage, int index, NVNtextureHandle texture) {
    if (range_ok(__func__, stage, index, 1, handle_slots[0]))
        record(cmdBuf, __func__,
               BindTexture{{}, static_cast<Stage>(stage), static_cast<u8>(index), 0, {}, low_word(texture)});
}
void nvnCommandBufferBindTextures(NVNcommandBuffer* cmdBuf, NVNshaderStage stage, int first, int count,
                                  const NVNtextureHandle* textures) {
    bind_handles(cmdBuf, __func__, HandleKind::Texture, stage, first, count, textures);
}
void nvnCommandBufferBindImage(NVNcommandBuffer* cmdBuf, NVNshaderStage stage, int index, NVNimageHandle image) {
    bind_handles(cmdBuf, __func__, HandleKind::Image, stage, index, 1, &image);
}
void nvnCommandBufferBindImages(NVNcommandBuffer* cmdBuf, NVNshaderStage stage, int first, int count,
                                const NVNimageHandle* images) {
    bind_handles(cmdBuf, __func__, HandleKind::Image, stage, first, count, images);
}
void nvnCommandBufferBindSeparateTexture(NVNcommandBuffer* cmdBuf, NVNshaderStage stage, int index,
                                         NVNseparateTextureHandle handle) {
    bind_handles(cmdBuf, __func__, HandleKind::SeparateTexture, stage, index, 1, &handle);
}
void nvnCommandBufferBindSeparateTextures(NVNcommandBuffer* cmdBuf, NVNshaderStage stage, int first, int count,
                                          const NVNseparateTextureHandle* handles) {
    bind_handles(cmdBuf, __func__, HandleKind::SeparateTexture, stage, first, count, handles);
}
void nvnCommandBufferBindSeparateSampler(NVNcommandBuffer* cmdBuf, NVNshaderStage stage, int index,
                                         NVNseparateSamplerHandle handle) {
    bind_handles(cmdBuf, __func__, HandleKind::SeparateSampler, stage, index, 1, &handle);
}
void nvnCommandBufferBindSeparateSamplers(NVNcommandBuffer* cmdBuf, NVNshaderStage stage, int first, int count,
                                          const NVNseparateSamplerHandle* handles) {
    bind_handles(cmdBuf, __func__, HandleKind::SeparateSampler, stage, first, count, handles);
}

// --- Deferred binds: prototypes inferred from their siblings. Buffers may take effect with the next draw at the
// latest, which binding at once does. ---

void nvnCommandBufferBindUniformBuffersDeferred(NVNcommandBuffer* cmdBuf, NVNshaderStage stage, int first, int count,
                                                const NVNbufferRange* buffers) {
    nvnCommandBufferBindUniformBuffers(cmdBuf, stage, first, count, buffers);
}
void nvnCommandBufferBindStorageBuffersDeferred(NVNcommandBuffer* cmdBuf, NVNshaderStage stage, int first, int count,
                                                const NVNbufferRange* buffers) {
    nvnCommandBufferBindStorageBuffers(cmdBuf, stage, first, count, buffers);
}
void nvnCommandBufferBindTexturesDeferred(NVNcommandBuffer* cmdBuf, NVNshaderStage stage, int first, int count,
                                          const NVNtextureHandle* textures) {
    bind_handles_deferred(cmdBuf, __func__, HandleKind::Texture, stage, first, count, textures);
}
void nvnCommandBufferBindImagesDeferred(NVNcommandBuffer* cmdBuf, NVNshaderStage stage, int first, int count,
                                        const NVNimageHandle* images) {
    bind_handles_deferred(cmdBuf, __func__, HandleKind::Image, stage, first, count, images);
}
void nvnCommandBufferBindSeparateTexturesDeferred(NVNcommandBuffer* cmdBuf, NVNshaderStage stage, int first, int count,
                                                  const NVNseparateTextureHandle* handles) {
    bind_handles_deferred(cmdBuf, __func__, HandleKind::SeparateTexture, stage, first, count, handles);
}
void nvnCommandBufferBindSeparateSamplersDeferred(NVNcommandBuffer* cmdBuf, NVNshaderStage stage, int first, int count,
                                                  const NVNseparateSamplerHandle* handles) {
    bind_handles_deferred(cmdBuf, __func__, HandleKind::SeparateSampler, stage, first, count, handles);
}

// --- Pools, memory ---

void nvnCommandBufferSetTexturePool(NVNcommandBuffer* cmdBuf, const NVNtexturePool* pool) {
    if (const DescriptorPool* const valid = as_valid(pool, __func__))
        record(cmdBuf, __func__, SetTexturePool{{}, valid->id});
}
void nvnCommandBufferSetSamplerPool(NVNcommandBuffer* cmdBuf, const NVNsamplerPool* pool) {
    if (const DescriptorPool* const valid = as_valid(pool, __func__))
        record(cmdBuf, __func__, SetSamplerPool{{}, valid->id});
}
void nvnCommandBufferSetShaderScratchMemory(NVNcommandBuffer* cmdBuf, const NVNmemoryPool* pool, ptrdiff_t offset,
                                            size_t size) {
    if (const MemoryPool* const valid = as_valid(pool, __func__))
        record(cmdBuf, __func__, SetShaderScratchMemory{{}, valid->address + static_cast<u64>(offset), size});
}

// --- Render targets ---

void nvnCommandBufferSetRenderTargets(NVNcommandBuffer* cmdBuf, int numColors, const NVNtexture* const* colors,
                                      const NVNtextureView* const* colorViews, const NVNtexture* depthStencil,
                                      const NVNtextureView* depthStencilView) {
    if (numColors < 0 || numColors > static_cast<int>(color_target_count) || (numColors > 0 && !colors)) {
        report_error(__func__, "{} colour targets at {}", numColors, static_cast<const void*>(colors));
        return;
    }
    std::array<ImageDescription, color_target_count + 1> images;
    u32 count = 0;
    u16 present = 0;
    const auto add = [&](const NVNtexture* texture, const NVNtextureView* view, u16 bit) {
        if (!texture)
            return true;
        const Texture* const valid = as_valid(texture, "nvnCommandBufferSetRenderTargets");
        if (!valid)
            return false;
        images[count++] = describe(*valid, view ? layout(view) : nullptr, ViewUse::Layers);
        present = static_cast<u16>(present | bit);
        return true;
    };
    for (int i = 0; i < numColors; ++i) {
        if (!add(colors[i], colorViews ? colorViews[i] : nullptr, static_cast<u16>(1u << i)))
            return;
    }
    if (!add(depthStencil, depthStencilView, depth_stencil_present))
        return;
    record_array(cmdBuf, __func__, SetRenderTargets{{}, present, static_cast<u16>(numColors)}, images.data(),
                 count * u32{sizeof(ImageDescription)});
}

} // namespace heaviside::nvn
