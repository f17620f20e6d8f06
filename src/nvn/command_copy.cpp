// Clears, copies, resolves and inline updates.
#include "nvn/command_buffer.h"
#include "nvn/entry_points.h"
#include "nvn/report.h"

#include <algorithm>
#include <optional>

namespace heaviside::nvn {

namespace {

using namespace stream;

// A texture with a view, by value (ledger REN-003); nothing after a report.
std::optional<ImageDescription> image(const char* call, const NVNtexture* texture, const NVNtextureView* view) {
    const Texture* const valid = as_valid(texture, call);
    if (!valid)
        return std::nullopt;
    const TextureView* const part = view ? layout(view) : nullptr;
    if (part && (part->set & view_field::levels) && part->first_level >= std::max<u32>(valid->description.levels, 1)) {
        report_error(call, "level {} of a texture of {}", u32{part->first_level}, u32{valid->description.levels});
        return std::nullopt;
    }
    return describe(*valid, part, ViewUse::Layers);
}

std::optional<Region> region(const char* call, const NVNcopyRegion* from) {
    if (!from) {
        report_error(call, "null region");
        return std::nullopt;
    }
    return Region{from->xoffset, from->yoffset, from->zoffset, from->width, from->height, from->depth};
}

template <class Value>
void clear_color(NVNcommandBuffer* cmdBuf, const char* call, ClearClass value_class, int index, const Value* color,
                 int mask) {
    if (!color || index < 0 || index >= static_cast<int>(color_target_count)) {
        report_error(call, "colour target {}, value at {}", index, static_cast<const void*>(color));
        return;
    }
    ClearColor value{{}, static_cast<u8>(index), value_class, static_cast<u8>(mask & 0xf), 0, {}};
    std::memcpy(value.value, color, sizeof value.value);
    record(cmdBuf, call, value);
}

template <class Value>
void clear_texture(NVNcommandBuffer* cmdBuf, const char* call, ClearClass value_class, const NVNtexture* texture,
                   const NVNtextureView* view, const NVNcopyRegion* where, const Value* color, int mask) {
    const auto target = image(call, texture, view);
    const auto texels = region(call, where);
    if (!target || !texels)
        return;
    if (!color) {
        report_error(call, "null value");
        return;
    }
    ClearTexture value{{}, value_class, static_cast<u8>(mask & 0xf), 0, {}, *texels, *target};
    std::memcpy(value.value, color, sizeof value.value);
    record(cmdBuf, call, value);
}

// A copy between a buffer and a texture carries the command buffer's strides only if one is set, so that a tight copy
// stays as small as the driver's (ledger OBJ-119).
template <class Record>
void copy_buffer_texture(NVNcommandBuffer* cmdBuf, const char* call, NVNbufferAddress buffer, const NVNtexture* texture,
                         const NVNtextureView* view, const NVNcopyRegion* where, int flags) {
    const CommandBuffer* const commands = as_valid(cmdBuf, call);
    const auto target = image(call, texture, view);
    const auto texels = region(call, where);
    if (!commands || !target || !texels)
        return;
    const CopyStrides strides{static_cast<u64>(commands->copy_row_stride),
                              static_cast<u64>(commands->copy_image_stride)};
    const u32 tail = strides.row != 0 || strides.image != 0 ? u32{sizeof strides} : 0;
    record_array(cmdBuf, call, Record{{}, static_cast<u32>(flags), buffer, *texels, *target}, &strides, tail);
}

void downsample(NVNcommandBuffer* cmdBuf, const char* call, u32 tiled, const NVNtexture* src,
                const NVNtextureView* srcView, const NVNtexture* dst, const NVNtextureView* dstView) {
    const auto source = image(call, src, srcView);
    const auto dest = image(call, dst, dstView);
    if (source && dest)
        record(cmdBuf, call, Downsample{{}, tiled, *source, *dest});
}

} // namespace

// --- Clears ---

void nvnCommandBufferClearColor(NVNcommandBuffer* cmdBuf, int index, const float* color, int mask) {
    clear_color(cmdBuf, __func__, ClearClass::Float, index, color, mask);
}
void nvnCommandBufferClearColori(NVNcommandBuffer* cmdBuf, int index, const int* color, int mask) {
    clear_color(cmdBuf, __func__, ClearClass::Sint, index, color, mask);
}
void nvnCommandBufferClearColorui(NVNcommandBuffer* cmdBuf, int index, const uint32_t* color, int mask) {
    clear_color(cmdBuf, __func__, ClearClass::Uint, index, color, mask);
}
void nvnCommandBufferClearDepthStencil(NVNcommandBuffer* cmdBuf, float depthValue, BooleanArgument depthMask,
                                       int stencilValue, int stencilMask) {
    record(cmdBuf, __func__,
           ClearDepthStencil{{},
                             depthValue,
                             is_true(depthMask) ? u8{1} : u8{0},
                             static_cast<u8>(stencilMask),
                             static_cast<u8>(stencilValue),
                             0});
}
void nvnCommandBufferClearTexture(NVNcommandBuffer* cmdBuf, const NVNtexture* dstTexture, const NVNtextureView* dstView,
                                  const NVNcopyRegion* dstRegion, const float* color, int mask) {
    clear_texture(cmdBuf, __func__, ClearClass::Float, dstTexture, dstView, dstRegion, color, mask);
}
void nvnCommandBufferClearTexturei(NVNcommandBuffer* cmdBuf, const NVNtexture* dstTexture,
                                   const NVNtextureView* dstView, const NVNcopyRegion* dstRegion, const int* color,
                                   int mask) {
    clear_texture(cmdBuf, __func__, ClearClass::Sint, dstTexture, dstView, dstRegion, color, mask);
}
void nvnCommandBufferClearTextureui(NVNcommandBuffer* cmdBuf, const NVNtexture* dstTexture,
                                    const NVNtextureView* dstView, const NVNcopyRegion* dstRegion,
                                    const uint32_t* color, int mask) {
    clear_texture(cmdBuf, __func__, ClearClass::Uint, dstTexture, dstView, dstRegion, color, mask);
}
void nvnCommandBufferClearBuffer(NVNcommandBuffer* cmdBuf, NVNbufferAddress buffer, size_t size, uint32_t value) {
    record(cmdBuf, __func__, ClearBuffer{{}, buffer, size, value});
}
void nvnCommandBufferDiscardColor(NVNcommandBuffer* cmdBuf, int index) {
    if (index < 0 || index >= static_cast<int>(color_target_count)) {
        report_error(__func__, "colour target {}", index);
        return;
    }
    record(cmdBuf, __func__, DiscardColor{{}, static_cast<u32>(index)});
}
void nvnCommandBufferDiscardDepthStencil(NVNcommandBuffer* cmdBuf) {
    record(cmdBuf, __func__, DiscardDepthStencil{});
}
void nvnCommandBufferResolveDepthBuffer(NVNcommandBuffer* cmdBuf) {
    record(cmdBuf, __func__, ResolveDepthBuffer{});
}

// --- Copies ---

void nvnCommandBufferCopyBufferToBuffer(NVNcommandBuffer* cmdBuf, NVNbufferAddress src, NVNbufferAddress dst,
                                        size_t size, int flags) {
    record(cmdBuf, __func__, CopyBufferToBuffer{{}, static_cast<u32>(flags), src, dst, size});
}
void nvnCommandBufferCopyBufferToTexture(NVNcommandBuffer* cmdBuf, NVNbufferAddress buffer,
                                         const NVNtexture* dstTexture, const NVNtextureView* dstView,
                                         const NVNcopyRegion* dstRegion, int flags) {
    copy_buffer_texture<CopyBufferToTexture>(cmdBuf, __func__, buffer, dstTexture, dstView, dstRegion, flags);
}
void nvnCommandBufferCopyTextureToBuffer(NVNcommandBuffer* cmdBuf, const NVNtexture* srcTexture,
                                         const NVNtextureView* srcView, const NVNcopyRegion* srcRegion,
                                         NVNbufferAddress buffer, int flags) {
    copy_buffer_texture<CopyTextureToBuffer>(cmdBuf, __func__, buffer, srcTexture, srcView, srcRegion, flags);
}
void nvnCommandBufferCopyTextureToTexture(NVNcommandBuffer* cmdBuf, const NVNtexture* srcTexture,
                                          const NVNtextureView* srcView, const NVNcopyRegion* srcRegion,
                                          const NVNtexture* dstTexture, const NVNtextureView* dstView,
                                          const NVNcopyRegion* dstRegion, int flags) {
    const auto source = image(__func__, srcTexture, srcView);
    const auto dest = image(__func__, dstTexture, dstView);
    const auto from = region(__func__, srcRegion);
    const auto to = region(__func__, dstRegion);
    if (source && dest && from && to)
        record(cmdBuf, __func__, CopyTextureToTexture{{}, static_cast<u32>(flags), *from, *source, *to, *dest});
}
void nvnCommandBufferDownsample(NVNcommandBuffer* cmdBuf, const NVNtexture* src, const NVNtexture* dst) {
    downsample(cmdBuf, __func__, 0, src, nullptr, dst, nullptr);
}
void nvnCommandBufferDownsampleTextureView(NVNcommandBuffer* cmdBuf, const NVNtexture* src,
                                           const NVNtextureView* srcView, const NVNtexture* dst,
                                           const NVNtextureView* dstView) {
    downsample(cmdBuf, __func__, 0, src, srcView, dst, dstView);
}
void nvnCommandBufferTiledDownsample(NVNcommandBuffer* cmdBuf, const NVNtexture* src, const NVNtexture* dst) {
    downsample(cmdBuf, __func__, 1, src, nullptr, dst, nullptr);
}
void nvnCommandBufferTiledDownsampleTextureView(NVNcommandBuffer* cmdBuf, const NVNtexture* src,
                                                const NVNtextureView* srcView, const NVNtexture* dst,
                                                const NVNtextureView* dstView) {
    downsample(cmdBuf, __func__, 1, src, srcView, dst, dstView);
}

void nvnCommandBufferUpdateUniformBuffer(NVNcommandBuffer* cmdBuf, NVNbufferAddress buffer, size_t bufferSize,
                                         ptrdiff_t offset, size_t size, const void* data) {
    constexpr size_t bank = 65536; // MAX_UNIFORM_BUFFER_SIZE
    if (!data || offset < 0 || size > bank || static_cast<size_t>(offset) > bufferSize ||
        size > bufferSize - static_cast<size_t>(offset)) {
        report_error(__func__, "{} bytes at {} of a buffer of {}", size, offset, bufferSize);
        return;
    }
    if (size == 0)
        return;
    record_array(
        cmdBuf, __func__,
        UpdateUniformBuffer{{}, buffer, static_cast<u32>(bufferSize), static_cast<u32>(offset), static_cast<u32>(size)},
        data, static_cast<u32>(size));
}

} // namespace heaviside::nvn
