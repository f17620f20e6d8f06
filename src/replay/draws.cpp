// Draws and dispatches.
#include "replay/executor.h"

#include "base/log.h"
#include "replay/lost_state.h"

#include <algorithm>
#include <cstring>

namespace heaviside::replay {
namespace {

using program::Stage;

constexpr u32 lowered_limit = 1u << 24; // vertices of one draw whose indices are made here
constexpr Stage graphics_stages[] = {Stage::Vertex, Stage::TessControl, Stage::TessEval, Stage::Geometry,
                                     Stage::Fragment};

u32 index_bytes(u32 nvn_index_type) {
    return nvn_index_type == 0 ? 1 : nvn_index_type == 1 ? 2 : 4;
}
u32 last_index(u32 nvn_index_type) {
    return nvn_index_type == 0 ? 0xffu : nvn_index_type == 1 ? 0xffffu : ~0u;
}

bool is_strip(VkPrimitiveTopology t) {
    return t == VK_PRIMITIVE_TOPOLOGY_LINE_STRIP || t == VK_PRIMITIVE_TOPOLOGY_TRIANGLE_STRIP ||
           t == VK_PRIMITIVE_TOPOLOGY_TRIANGLE_FAN || t == VK_PRIMITIVE_TOPOLOGY_LINE_STRIP_WITH_ADJACENCY ||
           t == VK_PRIMITIVE_TOPOLOGY_TRIANGLE_STRIP_WITH_ADJACENCY;
}

// Indices of a primitive that Vulkan lacks, as a list or strip that it has. at(i): the i-th index of the draw. The
// triangles wind as the primitive does and have its provoking vertex as their first or last (GFX-169).
template <class At>
void lower(Lowering lowering, u32 count, bool provoking_last, At&& at, std::vector<u32>& out) {
    constexpr u32 quads[2][6] = {{0, 1, 2, 0, 2, 3}, {0, 1, 3, 1, 2, 3}};
    const auto triangle = [&](u32 a, u32 b, u32 c) {
        for (const u32 i : {a, b, c})
            out.push_back(at(i));
    };
    switch (lowering) {
    case Lowering::QuadList:
        for (u32 i = 0; i + 3 < count; i += 4)
            for (const u32 corner : quads[provoking_last])
                out.push_back(at(i + corner));
        break;
    case Lowering::LineLoop:
        for (u32 i = 0; i < count; ++i)
            out.push_back(at(i));
        if (count > 1)
            out.push_back(at(0));
        break;
    case Lowering::TriangleFan: // the first behind the common one, or the last
        for (u32 i = 1; i + 1 < count; ++i)
            provoking_last ? triangle(0, i, i + 1) : triangle(i, i + 1, 0);
        break;
    case Lowering::Polygon: // always its first
        for (u32 i = 1; i + 1 < count; ++i)
            provoking_last ? triangle(i, i + 1, 0) : triangle(0, i, i + 1);
        break;
    case Lowering::None:
        for (u32 i = 0; i < count; ++i)
            out.push_back(at(i));
        break;
    }
}

} // namespace

void Executor::set_vertex_streams(u32 locations_read) {
    const u32 needed = used_streams(*g_, locations_read);
    for (u32 i = 0; i < vertex_slots; ++i) {
        if (!(needed >> i & 1)) {
            c_->set_vertex_stream(i, {});
            continue;
        }
        const Range& b = g_->vertex_buffers[i];
        const auto slice = b.size ? resolve(b.address, b.size) : std::nullopt;
        c_->set_vertex_stream(i, slice.value_or(gpu::BufferSlice{}));
    }
}

// Targets that the device cannot blend with, integers above all, take what is drawn as it is.
gpu::Blend Executor::blendable(gpu::Blend blends) const {
    for (u32 i = 0; i < stream::color_target_count; ++i)
        if (targets_[i].texture &&
            !s_.formats->image(static_cast<texture::Format>(g_->targets[i].view.format)).blendable)
            blends.targets[i].enable = VK_FALSE;
    return blends;
}

void Executor::set_draw_state(u32 primitive_value) {
    GuestState& g = *g_;
    const auto& vertex = stages_[static_cast<std::size_t>(Stage::Vertex)].variant->reflection;
    const Variant* fragment = stages_[static_cast<std::size_t>(Stage::Fragment)].variant;
    const Target& depth_target = targets_[stream::color_target_count];
    const VkImageAspectFlags aspects = depth_target.texture ? depth_target.texture->image.aspects() : 0;
    const u32 d = g.dirty;
    constexpr u32 may_be_lost = dirty::raster | dirty::depth | dirty::depth_bias | dirty::viewports |
                                dirty::multisample | dirty::blend | dirty::vertex_input;
    if (d & may_be_lost)
        for (const std::string& name : lost_state(g, s_.device->capabilities, guest_samples_))
            log::error_once("state without effect on this device: {}", name);
    if (d & (dirty::vertex_input | dirty::programs))
        c_->set(vertex_input(g, *s_.formats, vertex.inputs));
    if (d & (dirty::vertex_buffers | dirty::vertex_input | dirty::programs))
        set_vertex_streams(vertex.inputs);
    if (d & dirty::viewports)
        c_->set(viewports(g, extent_, s_.device->has(gpu::Feature::ViewportSwizzle)));
    if (d & dirty::scissors)
        c_->set(scissors(g, extent_));
    if (d & dirty::raster)
        c_->set(raster(g, *s_.device));
    if (d & dirty::depth_bias)
        c_->set(depth_bias(g));
    if (d & dirty::depth)
        c_->set(depth(g, aspects & VK_IMAGE_ASPECT_DEPTH_BIT));
    if (d & dirty::stencil)
        c_->set(stencil(g, aspects & VK_IMAGE_ASPECT_STENCIL_BIT));
    if (d & (dirty::blend | dirty::programs))
        c_->set(blendable(blend(g, fragment ? fragment->reflection.outputs : 0)));
    if (d & dirty::blend_color)
        c_->set(gpu::BlendConstants{g.blend_color});
    if (d & dirty::multisample)
        c_->set(multisample(g, samples_, guest_samples_));
    if ((d & dirty::assembly) || primitive_ != primitive_value) {
        gpu::InputAssembly assembly;
        assembly.topology = primitive(primitive_value, s_.device->has(gpu::Feature::TriangleFans)).topology;
        assembly.restart =
            g.primitive_restart && (is_strip(assembly.topology) || s_.device->has(gpu::Feature::ListRestart));
        assembly.patch_vertices = g.patch_size;
        assembly.domain_origin = VK_TESSELLATION_DOMAIN_ORIGIN_LOWER_LEFT; // windings with v upwards, as GL has them
        c_->set(assembly);
        primitive_ = primitive_value;
    }
}

void Executor::settle(u64 address, u64 size) {
    if (s_.textures->is_unstored(address, size))
        (void)s_.textures->settle(address, size);
}

void Executor::settle_for_cpu(u64 address, u64 size) {
    if (s_.textures->is_unsettled(address, size))
        (void)s_.textures->settle(address, size);
}

// Bound ranges often go on to the end of a pool, over textures that nobody means: what counts is where they begin. What
// the pass itself draws is in memory when the pass is over, not before.
void Executor::settle_binding(const Range& r) {
    if (!r.size || !s_.textures->is_unstored(r.address, 1))
        return;
    for (const Target& t : targets_)
        if (t.texture && r.address >= t.texture->begin() && r.address < t.texture->end())
            return;
    (void)s_.textures->settle(r.address, r.size);
}

void Executor::settle_vertices() {
    const u32 used = used_streams(*g_, stages_[static_cast<std::size_t>(Stage::Vertex)].variant->reflection.inputs);
    for (u32 i = 0; i < vertex_slots; ++i)
        if (used >> i & 1)
            settle_binding(g_->vertex_buffers[i]);
}

void Executor::settle_bindings(Stage stage) {
    const StageBindings& b = g_->stages[static_cast<std::size_t>(stage)];
    const Resolved& r = stages_[static_cast<std::size_t>(stage)];
    if (!r.variant)
        return;
    const auto& layout = *r.code->program.layout;
    for (const shader::BankUse& use : r.variant->reflection.banks)
        if (const u32 slot = use.bank - layout.first_uniform_bank;
            use.bank >= layout.first_uniform_bank && use.bank < shader::banks::count && slot < uniform_slots)
            settle_binding(b.uniforms[slot]);
    if (r.variant->reflection.reads_global || r.variant->reflection.writes_global)
        for (const Range& range : b.storage)
            settle_binding(range);
}

// What a program stores to is not known, only what it can reach through its bindings.
void Executor::mark_storage_written(Stage stage) {
    const Variant* v = stages_[static_cast<std::size_t>(stage)].variant;
    if (!v || !v->reflection.writes_global)
        return;
    for (const Range& r : g_->stages[static_cast<std::size_t>(stage)].storage)
        if (r.size)
            s_.textures->storage_written_by_gpu(r.address, r.size, false);
}

// Where a texture's bytes had to be waited for, the command buffer is another one and all is prepared anew.
bool Executor::prepare_draw(u32 primitive_value, u32 base_vertex, u32 base_instance) {
    constexpr int attempts = 4; // targets that overlap each other never settle
    for (int i = 0; i < attempts; ++i) {
        if (drains_ != resolved_after_) {
            leave_pass();
            forget_resolved();
        }
        const u64 before = drains_;
        const bool ready = try_prepare_draw(primitive_value, base_vertex, base_instance);
        if (drains_ == before)
            return ready;
    }
    log::error_once("draw skipped: its targets and textures overlap each other in memory");
    ++statistics_.skipped_draws;
    return false;
}

bool Executor::try_prepare_draw(u32 primitive_value, u32 base_vertex, u32 base_instance) {
    if (!g_->render_enable)
        return false;
    if (!select_pools()) {
        ++statistics_.skipped_draws;
        return false;
    }
    resolve_targets();
    if (!resolve_programs(primitive_value)) {
        ++statistics_.skipped_draws;
        return false;
    }
    samples_attachment_ = false;
    const bool stored_before = stores_in_pass_;
    stores_in_pass_ = false;
    for (const Stage stage : graphics_stages)
        use_textures(stage);
    if (s_.textures->anything_unsettled()) {
        settle_vertices();
        for (const Stage stage : graphics_stages)
            if (stages_[static_cast<std::size_t>(stage)].variant)
                settle_bindings(stage);
    }
    if (drains_ != resolved_after_) // in another command buffer, again from the start
        return false;
    bool stores = stores_in_pass_;
    for (const Stage stage : graphics_stages)
        if (const Variant* v = stages_[static_cast<std::size_t>(stage)].variant)
            stores |= v->reflection.writes_global;
    // A barrier of the guest splits the pass only where this draw can see what the pass wrote, or may write what it
    // read (ledger REN-169, REN-170, REN-196).
    if (c_->in_pass() && barrier_asked_ && draws_in_pass_ && (samples_attachment_ || stored_before || stores))
        leave_pass();
    const program::FeedbackLayout* captures = capture_layout();
    if (!captures)
        c_->end_capture();
    if (c_->in_pass() && reads_captured())
        leave_pass();
    barrier_asked_ = false;
    open_pass();
    if (drains_ != resolved_after_)
        return false;
    stores_in_pass_ = stores || (stored_before && draws_in_pass_);
    if (samples_attachment_ && draws_in_pass_)
        order_within_pass();
    if (counting_)
        counting_->set_stages(*c_, {stages_[static_cast<std::size_t>(Stage::TessEval)].variant != nullptr,
                                    stages_[static_cast<std::size_t>(Stage::Geometry)].variant != nullptr});
    const bool parameters_changed = parameters_.base_vertex != base_vertex ||
                                    parameters_.base_instance != base_instance ||
                                    parameters_.samples != static_cast<u32>(samples_);
    parameters_.base_vertex = base_vertex;
    parameters_.base_instance = base_instance;
    parameters_.samples = static_cast<u32>(samples_);
    for (const Stage stage : graphics_stages)
        mark_storage_written(stage);
    if ((g_->dirty & (dirty::uniforms | dirty::storage | dirty::handles | dirty::programs)) || parameters_changed ||
        updates_.has_deferred())
        for (const Stage stage : graphics_stages)
            set_banks(stage);
    set_draw_state(primitive_value);
    set_root(false);
    if (drains_ != resolved_after_) // another command buffer: all again
        return false;
    g_->dirty = 0;
    last_ = g_;
    if (!c_->prepare_draw()) {
        ++statistics_.skipped_draws;
        return false;
    }
    if (captures)
        start_capture(*captures);
    draws_in_pass_ = true;
    ++statistics_.draws;
    return true;
}

u32 Executor::routed_viewports() const {
    const Variant* last = nullptr;
    for (const Stage stage : {Stage::Vertex, Stage::TessEval, Stage::Geometry})
        if (const Variant* v = stages_[static_cast<std::size_t>(stage)].variant)
            last = v;
    u32 count = 1;
    if (last && last->reflection.writes_viewport_mask && !c_->capturing())
        for (u32 i = 1; i < stream::viewport_count; ++i)
            if (g_->viewports[i].width > 0 && g_->viewports[i].height > 0)
                count = i + 1;
    return count;
}

void Executor::draw_arrays(u32 primitive_value, u32 first, u32 count, u32 base_instance, u32 instances) {
    if (count == 0 || instances == 0 || !prepare_draw(primitive_value, first, base_instance))
        return;
    const Lowering lowering = primitive(primitive_value, s_.device->has(gpu::Feature::TriangleFans)).lowering;
    if (lowering == Lowering::None) {
        draw_each([&] { s_.device->vk.vkCmdDraw(c_->handle(), count, instances, first, base_instance); });
        return;
    }
    std::vector<u32> indices;
    lower(
        lowering, count, g_->provoking_last, [](u32 i) { return i; }, indices);
    const auto slice = s_.queue->arena().push(std::as_bytes(std::span(indices)), 16);
    if (!slice || indices.empty())
        return;
    c_->set_index_buffer(*slice, VK_INDEX_TYPE_UINT32);
    draw_each([&] {
        s_.device->vk.vkCmdDrawIndexed(c_->handle(), static_cast<u32>(indices.size()), instances, 0,
                                       static_cast<i32>(first), base_instance);
    });
}

Result<gpu::BufferSlice> Executor::lowered_indices(Lowering lowering, u32 index_type, u64 address, u32 first, u32 count,
                                                   u32& out_count) {
    const u32 size = index_bytes(index_type);
    std::vector<std::byte> copy;
    const auto bytes =
        count <= lowered_limit ? guest_bytes(address + u64{first} * size, u64{count} * size, copy) : std::nullopt;
    if (!bytes)
        return fail("{} indices at {:#x} lie in no memory pool", count, address);
    const u32 restart = g_->restart_index & last_index(index_type);
    const auto raw = [&](u32 i) {
        u32 v = 0;
        std::memcpy(&v, bytes->data() + std::size_t{i} * size, size);
        return v;
    };
    std::vector<u32> out;
    if (!g_->primitive_restart) {
        lower(lowering, count, g_->provoking_last, raw, out);
    } else {
        for (u32 i = 0; i < count;) { // each run between restarts on its own
            u32 end = i;
            while (end < count && raw(end) != restart)
                ++end;
            if (end > i) {
                if (!out.empty() && (lowering == Lowering::None || lowering == Lowering::LineLoop))
                    out.push_back(~0u);
                lower(
                    lowering, end - i, g_->provoking_last, [&](u32 k) { return raw(i + k); }, out);
            }
            i = end + 1;
        }
    }
    out_count = static_cast<u32>(out.size());
    if (out.empty())
        return gpu::BufferSlice{};
    return s_.queue->arena().push(std::as_bytes(std::span(out)), 16);
}

bool Executor::bind_index_buffer(u32 index_type, u64 address, u64 count) {
    const u32 size = index_bytes(index_type);
    const auto slice = resolve(address, count ? count * size : ~u64{0});
    if (!slice)
        return false;
    constexpr VkIndexType types[] = {VK_INDEX_TYPE_UINT8_EXT, VK_INDEX_TYPE_UINT16, VK_INDEX_TYPE_UINT32};
    c_->set_index_buffer(*slice, types[std::min(index_type, 2u)]);
    return true;
}

void Executor::draw_elements(const Elements& e) {
    const Lowering lowering = primitive(e.primitive, s_.device->has(gpu::Feature::TriangleFans)).lowering;
    const bool odd_restart =
        g_->primitive_restart && (g_->restart_index & last_index(e.index_type)) != last_index(e.index_type);
    const bool no_bytes = e.index_type == 0 && !s_.device->has(gpu::Feature::IndexTypeUint8);
    const bool misaligned = e.indices % index_bytes(e.index_type) != 0;
    const bool by_cpu = lowering != Lowering::None || odd_restart || no_bytes || misaligned;
    if (by_cpu)
        settle_for_cpu(e.indices, u64{e.count} * index_bytes(e.index_type));
    else
        settle(e.indices, u64{e.count} * index_bytes(e.index_type));
    if (e.count == 0 || e.instances == 0 ||
        !prepare_draw(e.primitive, static_cast<u32>(e.base_vertex), e.base_instance))
        return;
    u32 count = e.count;
    if (by_cpu) {
        const auto slice = lowered_indices(lowering, e.index_type, e.indices, 0, e.count, count);
        if (!slice || !*slice) {
            if (!slice)
                log::error_once("draw: {}", slice.error().message);
            return;
        }
        c_->set_index_buffer(*slice, VK_INDEX_TYPE_UINT32);
    } else if (!bind_index_buffer(e.index_type, e.indices, e.count)) {
        return;
    }
    draw_each(
        [&] { s_.device->vk.vkCmdDrawIndexed(c_->handle(), count, e.instances, 0, e.base_vertex, e.base_instance); });
}

void Executor::draw_indirect(const Indirect& d) {
    const u32 record = d.indexed ? 20 : 16;
    const u32 stride = d.stride ? d.stride : record;
    if (stride % 4 || stride < record || d.arguments % 4) {
        log::error_once("indirect draw arguments at {:#x}, {} bytes apart", d.arguments, stride);
        return;
    }
    const Lowering lowering = primitive(d.primitive, s_.device->has(gpu::Feature::TriangleFans)).lowering;
    const bool by_cpu = lowering != Lowering::None ||
                        (d.indexed && d.index_type == 0 && !s_.device->has(gpu::Feature::IndexTypeUint8)) ||
                        (d.count_address && !s_.device->has(gpu::Feature::DrawIndirectCount));
    if (by_cpu) {
        // Read here, so behind their last writer in the stream (REN-159).
        settle_for_cpu(d.arguments, u64{stride} * d.max_draws);
        if (d.count_address)
            settle_for_cpu(d.count_address, 4);
        const auto counted = d.count_address ? s_.memory->bytes(GuestAddress{d.count_address}, 4) : std::nullopt;
        const u32 draws = counted ? std::min(*read_at<u32>(*counted, 0), d.max_draws) : d.max_draws;
        for (u32 i = 0; i < draws; ++i) {
            std::vector<std::byte> copy;
            const auto a = guest_bytes(d.arguments + u64{i} * stride, record, copy);
            if (!a)
                return;
            u32 words[5]{};
            std::memcpy(words, a->data(), record);
            if (d.indexed)
                draw_elements({d.primitive, d.index_type, words[0],
                               d.indices + u64{words[2]} * index_bytes(d.index_type), static_cast<i32>(words[3]),
                               words[4], words[1]});
            else
                draw_arrays(d.primitive, words[2], words[0], words[3], words[1]);
        }
        return;
    }
    settle(d.arguments, u64{stride} * d.max_draws);
    if (d.count_address)
        settle(d.count_address, 4);
    if (d.indexed)
        settle(d.indices, index_bytes(d.index_type));
    if (!prepare_draw(d.primitive, 0, 0))
        return;
    if (d.indexed && (!bind_index_buffer(d.index_type, d.indices, 0) || !c_->prepare_draw()))
        return;
    const auto arguments = resolve(d.arguments, u64{stride} * (d.max_draws - 1) + record);
    if (!arguments || arguments->size < record)
        return;
    const u32 max_draws = std::min(d.max_draws, static_cast<u32>((arguments->size - record) / stride) + 1);
    const VkCommandBuffer h = c_->handle();
    const auto& vk = s_.device->vk;
    if (d.count_address) {
        const auto count = resolve(d.count_address, 4);
        if (!count)
            return;
        draw_each([&] {
            d.indexed ? vk.vkCmdDrawIndexedIndirectCount(h, arguments->buffer, arguments->offset, count->buffer,
                                                         count->offset, max_draws, stride)
                      : vk.vkCmdDrawIndirectCount(h, arguments->buffer, arguments->offset, count->buffer, count->offset,
                                                  max_draws, stride);
        });
        return;
    }
    draw_each([&] {
        d.indexed ? vk.vkCmdDrawIndexedIndirect(h, arguments->buffer, arguments->offset, 1, stride)
                  : vk.vkCmdDrawIndirect(h, arguments->buffer, arguments->offset, 1, stride);
    });
}

void Executor::on(const stream::DrawArrays& r, const Record&) {
    draw_arrays(r.primitive, static_cast<u32>(r.first), static_cast<u32>(std::max(0, r.count)), 0, 1);
}
void Executor::on(const stream::DrawArraysInstanced& r, const Record&) {
    draw_arrays(r.primitive, static_cast<u32>(r.first), static_cast<u32>(std::max(0, r.count)),
                static_cast<u32>(r.base_instance), static_cast<u32>(std::max(0, r.instance_count)));
}
void Executor::on(const stream::DrawArraysIndirect& r, const Record&) {
    draw_indirect({r.primitive, false, 0, 0, r.arguments, 0, 1, 0});
}
void Executor::on(const stream::DrawArraysIndirectCount& r, const Record&) {
    if (r.max_draws)
        draw_indirect({r.primitive, false, 0, 0, r.arguments, r.count, r.max_draws, static_cast<u32>(r.stride)});
}
void Executor::on(const stream::DrawElements& r, const Record&) {
    draw_elements({r.primitive, r.index_type, static_cast<u32>(std::max(0, r.count)), r.indices, 0, 0, 1});
}
void Executor::on(const stream::DrawElementsInstanced& r, const Record&) {
    draw_elements({r.primitive, r.index_type, static_cast<u32>(std::max(0, r.count)), r.indices, r.base_vertex,
                   static_cast<u32>(r.base_instance), static_cast<u32>(std::max(0, r.instance_count))});
}
void Executor::on(const stream::DrawElementsIndirect& r, const Record&) {
    draw_indirect({r.primitive, true, r.index_type, r.indices, r.arguments, 0, 1, 0});
}
void Executor::on(const stream::DrawElementsIndirectCount& r, const Record&) {
    if (r.max_draws)
        draw_indirect({r.primitive, true, r.index_type, r.indices, r.arguments, r.count, r.max_draws,
                       static_cast<u32>(r.stride)});
}

bool Executor::prepare_dispatch(const std::array<u32, 3>& groups) {
    if (!select_pools())
        return false;
    for (u32 axis = 0; axis < 3; ++axis)
        if (groups[axis] > s_.device->capabilities.limits.maxComputeWorkGroupCount[axis]) {
            log::error_once("dispatch of {} x {} x {} groups is larger than the device can", groups[0], groups[1],
                            groups[2]);
            return false;
        }
    Resolved& r = stages_[static_cast<std::size_t>(Stage::Compute)];
    StageCode* code = s_.programs->find(g_->stages[static_cast<std::size_t>(Stage::Compute)].program, Stage::Compute);
    if (code != r.code)
        r = Resolved{};
    r.code = code;
    if (!code) {
        log::error_once("dispatch without a compute program is skipped");
        return false;
    }
    if (!resolve_stage(Stage::Compute, shader::VariantKey{}))
        return false;
    leave_pass();
    for (int i = 0; i < 2; ++i) {
        const u64 before = drains_;
        use_textures(Stage::Compute);
        if (s_.textures->anything_unsettled())
            settle_bindings(Stage::Compute);
        if (drains_ == before)
            break;
    }
    mark_storage_written(Stage::Compute);
    parameters_.workgroups = groups;
    set_banks(Stage::Compute);
    c_->set_shader(Stage::Compute, r.variant->shader);
    set_root(true);
    ++statistics_.dispatches;
    return c_->prepare_dispatch();
}

void Executor::on(const stream::Dispatch& r, const Record&) {
    if (r.groups[0] == 0 || r.groups[1] == 0 || r.groups[2] == 0 ||
        !prepare_dispatch({r.groups[0], r.groups[1], r.groups[2]}))
        return;
    s_.device->vk.vkCmdDispatch(c_->handle(), r.groups[0], r.groups[1], r.groups[2]);
    c_->barrier();
}

void Executor::on(const stream::DispatchIndirect& r, const Record&) {
    settle_for_cpu(r.arguments, 12);
    const auto arguments = resolve(r.arguments, 12);
    // Programs that read the counts get those that are in memory now.
    std::vector<std::byte> copy;
    const auto counts = guest_bytes(r.arguments, 12, copy);
    if (!arguments || !counts)
        return;
    if (!prepare_dispatch({*read_at<u32>(*counts, 0), *read_at<u32>(*counts, 4), *read_at<u32>(*counts, 8)}))
        return;
    s_.device->vk.vkCmdDispatchIndirect(c_->handle(), arguments->buffer, arguments->offset);
    c_->barrier();
}

} // namespace heaviside::replay
