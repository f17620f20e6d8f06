// Commands' emission of dirty state: each group once, as dynamic state where the device has it.
#include "gpu/commands.h"
#include "gpu/dirty.h"

#include <algorithm>
#include <bit>

namespace heaviside::gpu {

namespace {

bool is_list(VkPrimitiveTopology t) {
    switch (t) {
    case VK_PRIMITIVE_TOPOLOGY_LINE_STRIP:
    case VK_PRIMITIVE_TOPOLOGY_TRIANGLE_STRIP:
    case VK_PRIMITIVE_TOPOLOGY_TRIANGLE_FAN:
    case VK_PRIMITIVE_TOPOLOGY_LINE_STRIP_WITH_ADJACENCY:
    case VK_PRIMITIVE_TOPOLOGY_TRIANGLE_STRIP_WITH_ADJACENCY:
        return false;
    default:
        return true;
    }
}

} // namespace

void Commands::emit_state() {
    const Device& d = *queue_->device_;
    const auto& vk = d.vk;
    const bool objects = d.has(Feature::ShaderObject);
    const bool dynamic3 = objects || d.has(Feature::ExtendedDynamicState3);
    const u32 bits = dirty_;
    counters_.state_commands += static_cast<u64>(std::popcount(bits & ~dirty::compute_shader));
    dirty_ &= dirty::compute_shader;
    if ((bits & dirty::once) && objects)
        emit_once();
    if ((bits & dirty::vertex_input) && (objects || d.has(Feature::VertexInputDynamicState)))
        emit_vertex_input();
    if (bits & dirty::streams)
        emit_streams();
    if ((bits & dirty::index) && index_) {
        if (d.has(Feature::Maintenance5))
            vk.vkCmdBindIndexBuffer2KHR(handle_, index_.buffer, index_.offset, index_.size, index_type_);
        else
            vk.vkCmdBindIndexBuffer(handle_, index_.buffer, index_.offset, index_type_);
    }
    if (bits & dirty::assembly)
        emit_assembly();
    if (bits & dirty::viewports)
        emit_viewports();
    if (bits & dirty::scissors)
        vk.vkCmdSetScissorWithCount(handle_, state_.scissors.count, state_.scissors.scissors.data());
    if (bits & dirty::raster)
        emit_raster();
    if (bits & dirty::depth_bias) {
        const DepthBias& b = state_.depth_bias;
        vk.vkCmdSetDepthBiasEnable(handle_, b.enable);
        vk.vkCmdSetDepthBias(handle_, b.constant, d.has(Feature::DepthBiasClamp) ? b.clamp : 0, b.slope);
    }
    if (bits & dirty::depth)
        emit_depth();
    if (bits & dirty::stencil)
        emit_stencil();
    if ((bits & dirty::blend) && dynamic3)
        emit_blend();
    if (bits & dirty::blend_constants)
        vk.vkCmdSetBlendConstants(handle_, state_.blend_constants.color.data());
    if ((bits & dirty::multisample) && dynamic3)
        emit_multisample();
    if ((bits & dirty::feedback) && d.has(Feature::AttachmentFeedback))
        vk.vkCmdSetAttachmentFeedbackLoopEnableEXT(handle_, pass_.feedback);
}

// Dynamic states of enabled extensions that the house never changes; shader objects want them set all the same.
void Commands::emit_once() {
    const Device& d = *queue_->device_;
    if (d.has(Feature::LineRasterization)) {
        d.vk.vkCmdSetLineRasterizationModeEXT(handle_, VK_LINE_RASTERIZATION_MODE_DEFAULT_EXT);
        d.vk.vkCmdSetLineStippleEnableEXT(handle_, VK_FALSE);
    }
    if (d.has(Feature::SampleLocations))
        d.vk.vkCmdSetSampleLocationsEnableEXT(handle_, VK_FALSE);
    if (d.has(Feature::GeometryStreams))
        d.vk.vkCmdSetRasterizationStreamEXT(handle_, 0);
}

void Commands::emit_vertex_input() {
    const VertexInput& v = state_.vertex_input;
    const Device& d = *queue_->device_;
    std::array<VkVertexInputBindingDescription2EXT, max_streams> bindings;
    std::array<VkVertexInputAttributeDescription2EXT, max_attributes> attributes;
    for (u32 i = 0; i < v.stream_count; ++i) {
        const bool instanced = v.streams[i].divisor != 0;
        bindings[i] = {VK_STRUCTURE_TYPE_VERTEX_INPUT_BINDING_DESCRIPTION_2_EXT,
                       nullptr,
                       i,
                       v.streams[i].stride,
                       instanced ? VK_VERTEX_INPUT_RATE_INSTANCE : VK_VERTEX_INPUT_RATE_VERTEX,
                       instanced && d.has(Feature::VertexDivisor) ? v.streams[i].divisor : 1};
    }
    for (u32 i = 0; i < v.attribute_count; ++i)
        attributes[i] = {VK_STRUCTURE_TYPE_VERTEX_INPUT_ATTRIBUTE_DESCRIPTION_2_EXT,
                         nullptr,
                         v.attributes[i].location,
                         v.attributes[i].stream,
                         v.attributes[i].format,
                         v.attributes[i].offset};
    d.vk.vkCmdSetVertexInputEXT(handle_, v.stream_count, bindings.data(), v.attribute_count, attributes.data());
}

void Commands::emit_streams() {
    const u32 count = state_.vertex_input.stream_count;
    if (!count)
        return;
    std::array<VkBuffer, max_streams> buffers{};
    std::array<VkDeviceSize, max_streams> offsets{}, sizes{};
    for (u32 i = 0; i < count; ++i) {
        const BufferSlice& s = streams_[i] ? streams_[i] : queue_->zeros_.whole();
        buffers[i] = s.buffer;
        offsets[i] = s.offset;
        sizes[i] = s.buffer ? s.size : 0;
    }
    queue_->device_->vk.vkCmdBindVertexBuffers2(handle_, 0, count, buffers.data(), offsets.data(), sizes.data(),
                                                nullptr);
}

void Commands::emit_assembly() {
    const Device& d = *queue_->device_;
    const InputAssembly& a = state_.assembly;
    d.vk.vkCmdSetPrimitiveTopology(handle_, a.topology);
    const bool restart = a.restart && (!is_list(a.topology) ||
                                       (d.has(Feature::ListRestart) && a.topology != VK_PRIMITIVE_TOPOLOGY_PATCH_LIST));
    d.vk.vkCmdSetPrimitiveRestartEnable(handle_, restart);
    if (d.has(Feature::ShaderObject) && d.has(Feature::Tessellation)) {
        d.vk.vkCmdSetPatchControlPointsEXT(handle_, a.patch_vertices);
        d.vk.vkCmdSetTessellationDomainOriginEXT(handle_, a.domain_origin);
    }
}

void Commands::emit_viewports() {
    const Device& d = *queue_->device_;
    d.vk.vkCmdSetViewportWithCount(handle_, state_.viewports.count, state_.viewports.viewports.data());
    if (d.has(Feature::ShaderObject) && d.has(Feature::ViewportSwizzle))
        d.vk.vkCmdSetViewportSwizzleNV(handle_, 0, state_.viewports.count, state_.viewports.swizzles.data());
}

void Commands::emit_raster() {
    const Device& d = *queue_->device_;
    const auto& vk = d.vk;
    const Raster& r = state_.raster;
    vk.vkCmdSetRasterizerDiscardEnable(handle_, r.discard);
    vk.vkCmdSetCullMode(handle_, r.cull);
    vk.vkCmdSetFrontFace(handle_, r.front);
    const f32 widest = d.has(Feature::WideLines) ? d.capabilities.max_line_width : 1.0f;
    vk.vkCmdSetLineWidth(handle_, std::clamp(r.line_width, std::min(1.0f, widest), widest));
    const bool objects = d.has(Feature::ShaderObject);
    if (objects || d.has(Feature::ExtendedDynamicState3)) {
        vk.vkCmdSetPolygonModeEXT(handle_, d.has(Feature::FillModes) ? r.polygon : VK_POLYGON_MODE_FILL);
        if (d.has(Feature::DepthClamp))
            vk.vkCmdSetDepthClampEnableEXT(handle_, r.depth_clamp);
    }
    if (!objects)
        return;
    if (d.has(Feature::DepthClipEnable))
        vk.vkCmdSetDepthClipEnableEXT(handle_, r.depth_clip);
    if (d.has(Feature::DepthClipControl))
        vk.vkCmdSetDepthClipNegativeOneToOneEXT(handle_, r.negative_one_to_one);
    if (d.has(Feature::ProvokingVertexLast))
        vk.vkCmdSetProvokingVertexModeEXT(handle_, r.provoking_last ? VK_PROVOKING_VERTEX_MODE_LAST_VERTEX_EXT
                                                                    : VK_PROVOKING_VERTEX_MODE_FIRST_VERTEX_EXT);
    if (d.has(Feature::ConservativeRasterization))
        vk.vkCmdSetExtraPrimitiveOverestimationSizeEXT(handle_, std::min(r.dilation, d.capabilities.max_dilation));
    if (d.has(Feature::ConservativeRasterization))
        vk.vkCmdSetConservativeRasterizationModeEXT(handle_, r.conservative
                                                                 ? VK_CONSERVATIVE_RASTERIZATION_MODE_OVERESTIMATE_EXT
                                                                 : VK_CONSERVATIVE_RASTERIZATION_MODE_DISABLED_EXT);
}

void Commands::emit_depth() {
    const Device& d = *queue_->device_;
    const auto& vk = d.vk;
    const Depth& s = state_.depth;
    vk.vkCmdSetDepthTestEnable(handle_, s.test);
    vk.vkCmdSetDepthWriteEnable(handle_, s.write);
    vk.vkCmdSetDepthCompareOp(handle_, s.compare);
    const bool bounds = d.has(Feature::DepthBounds);
    vk.vkCmdSetDepthBoundsTestEnable(handle_, bounds && s.bounds_test);
    if (bounds)
        vk.vkCmdSetDepthBounds(handle_, s.bounds_min, s.bounds_max);
}

void Commands::emit_stencil() {
    const auto& vk = queue_->device_->vk;
    const Stencil& s = state_.stencil;
    vk.vkCmdSetStencilTestEnable(handle_, s.test);
    const auto face = [&](VkStencilFaceFlags which, const StencilFace& f) {
        vk.vkCmdSetStencilOp(handle_, which, f.fail, f.pass, f.depth_fail, f.compare);
        vk.vkCmdSetStencilCompareMask(handle_, which, f.compare_mask);
        vk.vkCmdSetStencilWriteMask(handle_, which, f.write_mask);
        vk.vkCmdSetStencilReference(handle_, which, f.reference);
    };
    face(VK_STENCIL_FACE_FRONT_BIT, s.front);
    face(VK_STENCIL_FACE_BACK_BIT, s.back);
}

void Commands::emit_blend() {
    const Device& d = *queue_->device_;
    const auto& vk = d.vk;
    std::array<VkBool32, max_targets> enables;
    std::array<VkColorBlendEquationEXT, max_targets> equations;
    std::array<VkColorComponentFlags, max_targets> masks;
    for (u32 i = 0; i < max_targets; ++i) {
        const BlendTarget& t = state_.blend.targets[d.has(Feature::IndependentBlend) ? i : 0];
        enables[i] = t.enable;
        equations[i] = t.equation;
        masks[i] = t.write_mask;
    }
    const u32 count = std::min(max_targets, d.capabilities.limits.maxColorAttachments);
    vk.vkCmdSetColorBlendEnableEXT(handle_, 0, count, enables.data());
    vk.vkCmdSetColorBlendEquationEXT(handle_, 0, count, equations.data());
    vk.vkCmdSetColorWriteMaskEXT(handle_, 0, count, masks.data());
    if (!d.has(Feature::LogicOp))
        return;
    vk.vkCmdSetLogicOpEnableEXT(handle_, state_.blend.logic);
    if (d.has(Feature::ShaderObject))
        vk.vkCmdSetLogicOpEXT(handle_, state_.blend.logic_op);
}

void Commands::emit_multisample() {
    const Device& d = *queue_->device_;
    const auto& vk = d.vk;
    const Multisample& m = state_.multisample;
    const std::array<VkSampleMask, 2> mask{m.mask, m.mask};
    vk.vkCmdSetRasterizationSamplesEXT(handle_, m.samples);
    vk.vkCmdSetSampleMaskEXT(handle_, m.samples, mask.data());
    vk.vkCmdSetAlphaToCoverageEnableEXT(handle_, m.alpha_to_coverage);
    if (d.has(Feature::ShaderObject) && d.has(Feature::AlphaToOne))
        vk.vkCmdSetAlphaToOneEnableEXT(handle_, m.alpha_to_one);
}

} // namespace heaviside::gpu
