// Records that only set state.
#include "replay/executor.h"

#include "base/log.h"

#include <algorithm>

namespace heaviside::replay {
namespace {

constexpr u32 polygon_points = 0;           // NVNpolygonMode
constexpr u8 face_front = 1, face_back = 2; // bits of NVNface

template <class T, class Source>
void assign(std::array<T, 16>& to, u32 first, std::span<const Source> from) {
    for (u32 i = 0; i < from.size() && first + i < to.size(); ++i)
        to[first + i] = from[i];
}

StageBindings* stage_of(GuestState& g, stream::Stage stage) {
    const auto index = static_cast<std::size_t>(stage);
    return index < g.stages.size() ? &g.stages[index] : nullptr;
}

} // namespace

void Executor::on(const stream::BindBlendState& r, const Record&) {
    g_->blend[r.state.target] = r.state;
    g_->dirty |= dirty::blend;
}
void Executor::on(const stream::BindColorState& r, const Record&) {
    g_->color = r.state;
    g_->dirty |= dirty::blend | dirty::programs;
}
void Executor::on(const stream::BindChannelMaskState& r, const Record&) {
    g_->channel_mask = r.state;
    g_->dirty |= dirty::blend;
}
void Executor::on(const stream::BindDepthStencilState& r, const Record&) {
    g_->depth_stencil = r.state;
    g_->dirty |= dirty::depth | dirty::stencil;
}
void Executor::on(const stream::BindPolygonState& r, const Record&) {
    if ((g_->polygon.polygon_mode == polygon_points) != (r.state.polygon_mode == polygon_points))
        g_->dirty |= dirty::programs; // their corners have a size
    g_->polygon = r.state;
    g_->dirty |= dirty::raster | dirty::depth_bias;
}
void Executor::on(const stream::BindMultisampleState& r, const Record&) {
    g_->multisample = r.state;
    g_->dirty |= dirty::multisample;
}
void Executor::on(const stream::BindVertexAttribState&, const Record& r) {
    const auto states = r.tail<stream::BindVertexAttribState, stream::VertexAttribState>();
    g_->attribute_count = static_cast<u32>(std::min<std::size_t>(states.size(), g_->attributes.size()));
    assign(g_->attributes, 0, states);
    g_->dirty |= dirty::vertex_input | dirty::programs;
}
void Executor::on(const stream::BindVertexStreamState&, const Record& r) {
    assign(g_->streams, 0, r.tail<stream::BindVertexStreamState, stream::VertexStreamState>());
    g_->dirty |= dirty::vertex_input;
}
void Executor::on(const stream::BindProgram& r, const Record&) {
    for (u32 i = 0; i < stream::stage_count; ++i)
        if (r.stages >> i & 1)
            g_->stages[i].program = r.program;
    g_->dirty |= dirty::programs;
}
void Executor::on(const stream::BindVertexBuffer& r, const Record&) {
    if (r.index < g_->vertex_buffers.size())
        g_->vertex_buffers[r.index] = {r.address, r.size};
    g_->dirty |= dirty::vertex_buffers;
}
void Executor::on(const stream::BindUniformBuffer& r, const Record&) {
    StageBindings* stage = stage_of(*g_, r.stage);
    if (stage && r.index < uniform_slots)
        stage->uniforms[r.index] = {r.address, r.size};
    g_->dirty |= dirty::uniforms;
}
void Executor::on(const stream::BindStorageBuffer& r, const Record&) {
    StageBindings* stage = stage_of(*g_, r.stage);
    if (!stage || r.index >= storage_slots)
        return;
    u64 size = r.size;
    if (size == 0 && r.address) // from the address to the end of its pool (REN-192)
        if (const auto range = s_.memory->find(GuestAddress{r.address}))
            size = range->end().value - r.address;
    stage->storage[r.index] = {r.address, size};
    g_->dirty |= dirty::storage;
}
void Executor::on(const stream::BindTexture& r, const Record&) {
    StageBindings* stage = stage_of(*g_, r.stage);
    if (stage && r.index < texture_slots)
        stage->textures[r.index] = r.handle;
    g_->dirty |= dirty::handles;
}
std::span<u32> Executor::handle_table(stream::Stage stage, stream::HandleKind kind) {
    StageBindings* s = stage_of(*g_, stage);
    if (!s)
        return {};
    const std::span<u32> tables[] = {s->textures, s->separate_textures, s->separate_samplers, s->images};
    const auto index = static_cast<std::size_t>(kind);
    return index < std::size(tables) ? tables[index] : std::span<u32>();
}
void Executor::on(const stream::BindHandles& r, const Record& record) {
    const auto table = handle_table(r.stage, r.kind);
    const auto handles = record.tail<stream::BindHandles, u32>();
    for (u32 i = 0; i < handles.size() && r.first + i < table.size(); ++i)
        table[r.first + i] = handles[i];
    g_->dirty |= dirty::handles;
}
// The GPU reads them: what it or an update of the stream writes there before this counts.
void Executor::on(const stream::BindHandlesDeferred& r, const Record&) {
    const auto table = handle_table(r.stage, r.kind);
    constexpr u64 handle_bytes = 8; // whose upper half is dropped (OBJ-220)
    settle_for_cpu(r.address, handle_bytes * r.count);
    std::vector<std::byte> copy;
    const auto bytes = guest_bytes(r.address, handle_bytes * r.count, copy);
    if (!bytes) {
        log::error_once("deferred bind: {} handles at {:#x} lie in no memory pool", r.count, r.address);
        return;
    }
    for (u32 i = 0; i < r.count && r.first + i < table.size(); ++i) {
        const auto updated = updates_.word(r.address + handle_bytes * i);
        table[r.first + i] = updated ? *updated : *read_at<u32>(*bytes, static_cast<u32>(handle_bytes * i));
    }
    g_->dirty |= dirty::handles;
}
void Executor::on(const stream::SetTexturePool& r, const Record&) {
    g_->texture_pool = r.pool;
    g_->dirty |= dirty::handles;
}
void Executor::on(const stream::SetSamplerPool& r, const Record&) {
    g_->sampler_pool = r.pool;
    g_->dirty |= dirty::handles;
}
void Executor::on(const stream::SetRenderTargets& r, const Record& record) {
    const auto images = record.tail<stream::SetRenderTargets, stream::ImageDescription>();
    std::size_t next = 0;
    for (u32 i = 0; i < g_->targets.size(); ++i)
        if ((r.present >> i & 1) && next < images.size())
            g_->targets[i] = images[next++];
    g_->targets_present = r.present;
    g_->dirty |= dirty::targets;
}
void Executor::on(const stream::SetViewports& r, const Record& record) {
    assign(g_->viewports, r.first, record.tail<stream::SetViewports, stream::Viewport>());
    g_->dirty |= dirty::viewports | dirty::scissors;
}
void Executor::on(const stream::SetScissors& r, const Record& record) {
    assign(g_->scissors, r.first, record.tail<stream::SetScissors, stream::Scissor>());
    g_->dirty |= dirty::scissors;
}
void Executor::on(const stream::SetDepthRanges& r, const Record& record) {
    assign(g_->depth_ranges, r.first, record.tail<stream::SetDepthRanges, stream::DepthRange>());
    g_->dirty |= dirty::viewports;
}
void Executor::on(const stream::SetViewportSwizzles& r, const Record& record) {
    assign(g_->swizzles, r.first, record.tail<stream::SetViewportSwizzles, stream::ViewportSwizzle>());
    g_->dirty |= dirty::viewports | dirty::programs;
}
void Executor::on(const stream::SetBlendColor& r, const Record&) {
    std::copy(std::begin(r.color), std::end(r.color), g_->blend_color.begin());
    g_->dirty |= dirty::blend_color;
}
void Executor::on(const stream::SetAlphaRef& r, const Record&) {
    g_->alpha_reference = r.reference;
}
void Executor::on(const stream::SetStencilRef& r, const Record&) {
    if (r.faces & face_front)
        g_->front.reference = r.value;
    if (r.faces & face_back)
        g_->back.reference = r.value;
    g_->dirty |= dirty::stencil;
}
void Executor::on(const stream::SetStencilMask& r, const Record&) {
    if (r.faces & face_front)
        g_->front.write_mask = r.value;
    if (r.faces & face_back)
        g_->back.write_mask = r.value;
    g_->dirty |= dirty::stencil;
}
void Executor::on(const stream::SetStencilValueMask& r, const Record&) {
    if (r.faces & face_front)
        g_->front.compare_mask = r.value;
    if (r.faces & face_back)
        g_->back.compare_mask = r.value;
    g_->dirty |= dirty::stencil;
}
void Executor::on(const stream::SetLineWidth& r, const Record&) {
    g_->line_width = r.width;
    g_->dirty |= dirty::raster;
}
void Executor::on(const stream::SetPointSize& r, const Record&) {
    g_->point_size = r.size;
}
void Executor::on(const stream::SetPolygonOffset& r, const Record&) {
    g_->offset_factor = r.factor;
    g_->offset_units = r.units;
    g_->offset_clamp = r.clamp;
    g_->dirty |= dirty::depth_bias;
}
void Executor::on(const stream::SetPrimitiveRestart& r, const Record&) {
    g_->primitive_restart = r.enable != 0;
    g_->restart_index = r.index;
    g_->dirty |= dirty::assembly;
}
void Executor::on(const stream::SetProvokingVertex& r, const Record&) {
    g_->provoking_last = r.mode == 1;
    g_->dirty |= dirty::raster;
}
void Executor::on(const stream::SetDepthBounds& r, const Record&) {
    g_->depth_bounds = r.enable != 0;
    g_->depth_bounds_min = r.minimum;
    g_->depth_bounds_max = r.maximum;
    g_->dirty |= dirty::depth;
}
void Executor::on(const stream::SetDepthClamp& r, const Record&) {
    g_->depth_clamp = r.enable != 0;
    g_->dirty |= dirty::raster;
}
void Executor::on(const stream::SetRasterizerDiscard& r, const Record&) {
    g_->rasterizer_discard = r.discard != 0;
    g_->dirty |= dirty::raster;
}
void Executor::on(const stream::SetSampleMask& r, const Record&) {
    g_->sample_mask = r.mask;
    g_->dirty |= dirty::multisample;
}
void Executor::on(const stream::SetConservativeRaster& r, const Record&) {
    g_->conservative = r.enable != 0;
    g_->dirty |= dirty::raster;
}
void Executor::on(const stream::SetConservativeRasterDilate& r, const Record&) {
    g_->conservative_dilation = r.pixels;
    g_->dirty |= dirty::raster;
}
void Executor::on(const stream::SetSubpixelPrecisionBias& r, const Record&) {
    g_->precision_bias = {r.x, r.y};
    g_->dirty |= dirty::raster;
}
void Executor::on(const stream::SetPatchSize& r, const Record&) {
    g_->patch_size = r.control_points;
    g_->dirty |= dirty::assembly | dirty::programs;
}
void Executor::on(const stream::SetInnerTessellationLevels& r, const Record&) {
    std::copy(std::begin(r.levels), std::end(r.levels), g_->inner_levels.begin());
}
void Executor::on(const stream::SetOuterTessellationLevels& r, const Record&) {
    std::copy(std::begin(r.levels), std::end(r.levels), g_->outer_levels.begin());
}
} // namespace heaviside::replay
