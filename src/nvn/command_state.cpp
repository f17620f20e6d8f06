// State objects and values. What an application holds is what a record holds (stream/state.h): binding is a copy.
#include "nvn/command_buffer.h"
#include "nvn/entry_points.h"
#include "nvn/report.h"

#include <array>

namespace heaviside::nvn {

namespace {

using namespace stream;

// Records a state object. Applications bind temporaries and pass cast pointers to 4-byte fields, so the object is read
// here and now, and without any alignment.
template <class Record, class Object>
void bind_state(NVNcommandBuffer* cmdBuf, const char* call, const Object* object) {
    if (!object) {
        report_bad_object(call, object);
        return;
    }
    Record value{};
    std::memcpy(&value.state, object, sizeof value.state);
    record(cmdBuf, call, value);
}

// For a value that has no object behind it but an array, which may not be null.
template <class T, std::size_t Count>
bool copy_array(std::array<T, Count>& to, const T* from, const char* call) {
    if (!from) {
        report_error(call, "null array");
        return false;
    }
    std::memcpy(to.data(), from, sizeof to);
    return true;
}

// An array of one entry per viewport.
template <class Record, class Element>
void record_viewports(NVNcommandBuffer* cmdBuf, const char* call, int first, int count, const void* entries) {
    if (count == 0)
        return;
    if (!entries || first < 0 || count < 0 || static_cast<unsigned>(first) > viewport_count ||
        static_cast<unsigned>(count) > viewport_count - static_cast<unsigned>(first)) {
        report_error(call, "{} entries from {} on at {}", count, first, entries);
        return;
    }
    record_array(cmdBuf, call, Record{{}, static_cast<u16>(first), static_cast<u16>(count)}, entries,
                 static_cast<u32>(count) * u32{sizeof(Element)});
}

u32 flag(BooleanArgument b) {
    return is_true(b) ? 1 : 0;
}

} // namespace

// --- State objects ---

void nvnCommandBufferBindBlendState(NVNcommandBuffer* cmdBuf, const NVNblendState* blend) {
    bind_state<BindBlendState>(cmdBuf, __func__, blend);
}
void nvnCommandBufferBindChannelMaskState(NVNcommandBuffer* cmdBuf, const NVNchannelMaskState* channelMask) {
    bind_state<BindChannelMaskState>(cmdBuf, __func__, channelMask);
}
void nvnCommandBufferBindColorState(NVNcommandBuffer* cmdBuf, const NVNcolorState* color) {
    bind_state<BindColorState>(cmdBuf, __func__, color);
}
void nvnCommandBufferBindDepthStencilState(NVNcommandBuffer* cmdBuf, const NVNdepthStencilState* depthStencil) {
    bind_state<BindDepthStencilState>(cmdBuf, __func__, depthStencil);
}
void nvnCommandBufferBindMultisampleState(NVNcommandBuffer* cmdBuf, const NVNmultisampleState* multisample) {
    bind_state<BindMultisampleState>(cmdBuf, __func__, multisample);
}
void nvnCommandBufferBindPolygonState(NVNcommandBuffer* cmdBuf, const NVNpolygonState* polygon) {
    bind_state<BindPolygonState>(cmdBuf, __func__, polygon);
}

void nvnCommandBufferBindVertexAttribState(NVNcommandBuffer* cmdBuf, int numAttribs,
                                           const NVNvertexAttribState* attribs) {
    if (numAttribs < 0 || numAttribs > 16 || (numAttribs > 0 && !attribs)) {
        report_error(__func__, "{} attributes at {}", numAttribs, static_cast<const void*>(attribs));
        return;
    }
    record_array(cmdBuf, __func__, BindVertexAttribState{}, attribs,
                 static_cast<u32>(numAttribs) * u32{sizeof(VertexAttribState)});
}

void nvnCommandBufferBindVertexStreamState(NVNcommandBuffer* cmdBuf, int numStreams,
                                           const NVNvertexStreamState* streams) {
    if (numStreams < 0 || numStreams > 16 || (numStreams > 0 && !streams)) {
        report_error(__func__, "{} streams at {}", numStreams, static_cast<const void*>(streams));
        return;
    }
    record_array(cmdBuf, __func__, BindVertexStreamState{}, streams,
                 static_cast<u32>(numStreams) * u32{sizeof(VertexStreamState)});
}

void nvnCommandBufferBindCoverageModulationTable(NVNcommandBuffer* cmdBuf, const float* table) {
    std::array<f32, 16> entries;
    if (!copy_array(entries, table, __func__))
        return;
    BindCoverageModulationTable value{};
    std::memcpy(value.table, entries.data(), sizeof value.table);
    record(cmdBuf, __func__, value);
}

// --- Viewports ---

void nvnCommandBufferSetViewport(NVNcommandBuffer* cmdBuf, int x, int y, int w, int h) {
    const Viewport viewport{static_cast<f32>(x), static_cast<f32>(y), static_cast<f32>(w), static_cast<f32>(h)};
    record_viewports<SetViewports, Viewport>(cmdBuf, __func__, 0, 1, &viewport);
}
void nvnCommandBufferSetViewports(NVNcommandBuffer* cmdBuf, int first, int count, const float* viewports) {
    record_viewports<SetViewports, Viewport>(cmdBuf, __func__, first, count, viewports);
}
void nvnCommandBufferSetScissor(NVNcommandBuffer* cmdBuf, int x, int y, int w, int h) {
    const Scissor scissor{x, y, w, h};
    record_viewports<SetScissors, Scissor>(cmdBuf, __func__, 0, 1, &scissor);
}
void nvnCommandBufferSetScissors(NVNcommandBuffer* cmdBuf, int first, int count, const int* rects) {
    record_viewports<SetScissors, Scissor>(cmdBuf, __func__, first, count, rects);
}
void nvnCommandBufferSetDepthRange(NVNcommandBuffer* cmdBuf, float n, float f) {
    const DepthRange range{n, f};
    record_viewports<SetDepthRanges, DepthRange>(cmdBuf, __func__, 0, 1, &range);
}
void nvnCommandBufferSetDepthRanges(NVNcommandBuffer* cmdBuf, int first, int count, const float* ranges) {
    record_viewports<SetDepthRanges, DepthRange>(cmdBuf, __func__, first, count, ranges);
}

// Four enums a viewport (ledger GFX-168).
void nvnCommandBufferSetViewportSwizzles(NVNcommandBuffer* cmdBuf, int first, int count,
                                         const NVNviewportSwizzle* swizzles) {
    std::array<ViewportSwizzle, viewport_count> packed{};
    if (swizzles && count > 0 && static_cast<unsigned>(count) <= viewport_count) {
        // As words: the application's may hold what is no value of the enum.
        std::array<u32, 4 * viewport_count> words;
        std::memcpy(words.data(), swizzles, static_cast<std::size_t>(count) * sizeof(u32[4]));
        for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i)
            packed[i] = {static_cast<u8>(words[4 * i]), static_cast<u8>(words[4 * i + 1]),
                         static_cast<u8>(words[4 * i + 2]), static_cast<u8>(words[4 * i + 3])};
    }
    record_viewports<SetViewportSwizzles, ViewportSwizzle>(cmdBuf, __func__, first, count,
                                                           swizzles ? packed.data() : nullptr);
}

// --- Values ---

void nvnCommandBufferSetBlendColor(NVNcommandBuffer* cmdBuf, const float* blendColor) {
    std::array<f32, 4> color;
    if (copy_array(color, blendColor, __func__))
        record(cmdBuf, __func__, SetBlendColor{{}, {color[0], color[1], color[2], color[3]}});
}
void nvnCommandBufferSetAlphaRef(NVNcommandBuffer* cmdBuf, float ref) {
    record(cmdBuf, __func__, SetAlphaRef{{}, ref});
}
void nvnCommandBufferSetStencilRef(NVNcommandBuffer* cmdBuf, NVNface faces, int ref) {
    record(cmdBuf, __func__, SetStencilRef{{}, static_cast<u8>(faces), static_cast<u8>(ref), 0});
}
void nvnCommandBufferSetStencilMask(NVNcommandBuffer* cmdBuf, NVNface faces, int mask) {
    record(cmdBuf, __func__, SetStencilMask{{}, static_cast<u8>(faces), static_cast<u8>(mask), 0});
}
void nvnCommandBufferSetStencilValueMask(NVNcommandBuffer* cmdBuf, NVNface faces, int mask) {
    record(cmdBuf, __func__, SetStencilValueMask{{}, static_cast<u8>(faces), static_cast<u8>(mask), 0});
}
void nvnCommandBufferSetStencilCullCriteria(NVNcommandBuffer* cmdBuf, NVNstencilFunc func, int ref, int mask) {
    record(cmdBuf, __func__,
           SetStencilCullCriteria{{}, static_cast<u8>(func), static_cast<u8>(ref), static_cast<u8>(mask), 0});
}
void nvnCommandBufferSetLineWidth(NVNcommandBuffer* cmdBuf, float lineWidth) {
    record(cmdBuf, __func__, SetLineWidth{{}, lineWidth});
}
void nvnCommandBufferSetPointSize(NVNcommandBuffer* cmdBuf, float pointSize) {
    record(cmdBuf, __func__, SetPointSize{{}, pointSize});
}
void nvnCommandBufferSetPolygonOffsetClamp(NVNcommandBuffer* cmdBuf, float factor, float units, float clamp) {
    record(cmdBuf, __func__, SetPolygonOffset{{}, factor, units, clamp});
}
void nvnCommandBufferSetPrimitiveRestart(NVNcommandBuffer* cmdBuf, BooleanArgument enable, int index) {
    record(cmdBuf, __func__, SetPrimitiveRestart{{}, flag(enable), static_cast<u32>(index)});
}
void nvnCommandBufferSetProvokingVertexMode(NVNcommandBuffer* cmdBuf, u32 mode) {
    record(cmdBuf, __func__, SetProvokingVertex{{}, mode});
}
void nvnCommandBufferSetDepthBounds(NVNcommandBuffer* cmdBuf, BooleanArgument enable, float n, float f) {
    record(cmdBuf, __func__, SetDepthBounds{{}, flag(enable), n, f});
}
void nvnCommandBufferSetDepthClamp(NVNcommandBuffer* cmdBuf, BooleanArgument clamp) {
    record(cmdBuf, __func__, SetDepthClamp{{}, flag(clamp)});
}
void nvnCommandBufferSetRasterizerDiscard(NVNcommandBuffer* cmdBuf, BooleanArgument discard) {
    record(cmdBuf, __func__, SetRasterizerDiscard{{}, flag(discard)});
}
void nvnCommandBufferSetSampleMask(NVNcommandBuffer* cmdBuf, int mask) {
    record(cmdBuf, __func__, SetSampleMask{{}, static_cast<u32>(mask)});
}
void nvnCommandBufferSetConservativeRasterEnable(NVNcommandBuffer* cmdBuf, BooleanArgument enable) {
    record(cmdBuf, __func__, SetConservativeRaster{{}, flag(enable)});
}
void nvnCommandBufferSetConservativeRasterDilate(NVNcommandBuffer* cmdBuf, float dilate) {
    record(cmdBuf, __func__, SetConservativeRasterDilate{{}, dilate});
}
void nvnCommandBufferSetSubpixelPrecisionBias(NVNcommandBuffer* cmdBuf, int xBits, int yBits) {
    record(cmdBuf, __func__, SetSubpixelPrecisionBias{{}, static_cast<i16>(xBits), static_cast<i16>(yBits)});
}
void nvnCommandBufferSetPatchSize(NVNcommandBuffer* cmdBuf, int size) {
    if (size < 1 || size > 32) {
        report_error(__func__, "{} control points", size);
        return;
    }
    record(cmdBuf, __func__, SetPatchSize{{}, static_cast<u32>(size)});
}
void nvnCommandBufferSetInnerTessellationLevels(NVNcommandBuffer* cmdBuf, const float* levels) {
    std::array<f32, 2> copy;
    if (copy_array(copy, levels, __func__))
        record(cmdBuf, __func__, SetInnerTessellationLevels{{}, {copy[0], copy[1]}});
}
void nvnCommandBufferSetOuterTessellationLevels(NVNcommandBuffer* cmdBuf, const float* levels) {
    std::array<f32, 4> copy;
    if (copy_array(copy, levels, __func__))
        record(cmdBuf, __func__, SetOuterTessellationLevels{{}, {copy[0], copy[1], copy[2], copy[3]}});
}
void nvnCommandBufferSetRenderEnable(NVNcommandBuffer* cmdBuf, BooleanArgument enable) {
    record(cmdBuf, __func__, SetRenderEnable{{}, flag(enable)});
}
void nvnCommandBufferSetRenderEnableConditional(NVNcommandBuffer* cmdBuf, NVNconditionalRenderMode mode,
                                                NVNbufferAddress addr) {
    record(cmdBuf, __func__, SetRenderEnableConditional{{}, static_cast<u32>(mode), addr});
}

// --- Hints: what the hardware does with them shows in time, not in pixels ---

void nvnCommandBufferSetTiledCacheAction(NVNcommandBuffer* cmdBuf, NVNtiledCacheAction action) {
    record(cmdBuf, __func__, Hint{{}, HintKind::TiledCacheAction, static_cast<u32>(action), 0});
}
void nvnCommandBufferSetTiledCacheTileSize(NVNcommandBuffer* cmdBuf, int w, int h) {
    record(cmdBuf, __func__, Hint{{}, HintKind::TiledCacheTileSize, static_cast<u32>(w), static_cast<u32>(h)});
}
void nvnCommandBufferSetColorReductionEnable(NVNcommandBuffer* cmdBuf, BooleanArgument enable) {
    record(cmdBuf, __func__, Hint{{}, HintKind::ColorReductionEnable, flag(enable), 0});
}
void nvnCommandBufferSetColorReductionThresholds(NVNcommandBuffer* cmdBuf, NVNformatClass format, int low, int high) {
    record(cmdBuf, __func__,
           Hint{{},
                HintKind::ColorReductionThresholds,
                static_cast<u32>(format),
                (static_cast<u32>(low) & 0xffff) | static_cast<u32>(high) << 16});
}
void nvnCommandBufferSaveZCullData(NVNcommandBuffer* cmdBuf, NVNbufferAddress addr, size_t) {
    record(cmdBuf, __func__, Hint{{}, HintKind::SaveZCull, static_cast<u32>(addr), static_cast<u32>(addr >> 32)});
}
void nvnCommandBufferRestoreZCullData(NVNcommandBuffer* cmdBuf, NVNbufferAddress addr, size_t) {
    record(cmdBuf, __func__, Hint{{}, HintKind::RestoreZCull, static_cast<u32>(addr), static_cast<u32>(addr >> 32)});
}

} // namespace heaviside::nvn
