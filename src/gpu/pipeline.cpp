// How Commands binds shaders: as shader objects, or as pipelines made at the draw and kept by the ShaderLibrary.
#include "gpu/commands.h"
#include "gpu/dirty.h"

#include "base/log.h"

#include <algorithm>
#include <cstring>

namespace heaviside::gpu {
namespace {

using shader::Stage;

constexpr std::array graphics_stages{Stage::Vertex, Stage::TessControl, Stage::TessEval, Stage::Geometry,
                                     Stage::Fragment};
constexpr unsigned index_of(Stage stage) {
    return static_cast<unsigned>(stage);
}

// The topology class of a pipeline whose topology is dynamic.
VkPrimitiveTopology class_of(VkPrimitiveTopology t) {
    switch (t) {
    case VK_PRIMITIVE_TOPOLOGY_POINT_LIST:
        return VK_PRIMITIVE_TOPOLOGY_POINT_LIST;
    case VK_PRIMITIVE_TOPOLOGY_LINE_LIST:
    case VK_PRIMITIVE_TOPOLOGY_LINE_STRIP:
    case VK_PRIMITIVE_TOPOLOGY_LINE_LIST_WITH_ADJACENCY:
    case VK_PRIMITIVE_TOPOLOGY_LINE_STRIP_WITH_ADJACENCY:
        return VK_PRIMITIVE_TOPOLOGY_LINE_LIST;
    case VK_PRIMITIVE_TOPOLOGY_PATCH_LIST:
        return VK_PRIMITIVE_TOPOLOGY_PATCH_LIST;
    default:
        return VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST;
    }
}

// What a pipeline is made from; what is dynamic on the device keeps its default here. Bytes are the key, so the whole
// is zeroed first.
struct PipelineKey {
    std::array<Hash128, 5> shaders;
    std::array<VkFormat, max_targets> colors;
    VkFormat depth, stencil;
    u32 color_count;
    VkPrimitiveTopology topology;
    u32 patch_vertices;
    VkTessellationDomainOrigin domain_origin;
    VertexInput vertex_input;
    std::array<VkViewportSwizzleNV, max_viewports> swizzles;
    Raster raster;
    Blend blend;
    Multisample multisample;
};

} // namespace

bool Commands::emit_shaders() {
    const Device& d = *queue_->device_;
    std::array<VkShaderStageFlagBits, graphics_stages.size()> stages;
    std::array<VkShaderEXT, graphics_stages.size()> objects;
    u32 count = 0;
    const bool first = (dirty_ & dirty::once) != 0;
    for (const Stage stage : graphics_stages) {
        Shader* shader = shaders_[index_of(stage)];
        if (!has_stage(d, stage) && !shader)
            continue;
        if (!first && shader == bound_[index_of(stage)])
            continue;
        if (shader) {
            if (auto ready = queue_->shaders_->wait(*shader); !ready) {
                log::error_once("draw skipped: {}", ready.error().message);
                return false;
            }
        } else if (stage == Stage::Vertex) {
            log::error_once("draw skipped: no vertex shader");
            return false;
        }
        stages[count] = stage_bit(stage);
        objects[count] = shader ? queue_->shaders_->object(*shader) : VkShaderEXT{VK_NULL_HANDLE};
        bound_[index_of(stage)] = shader;
        ++count;
    }
    if (count)
        d.vk.vkCmdBindShadersEXT(handle_, count, stages.data(), objects.data());
    return true;
}

bool Commands::bind_compute(VkCommandBuffer target, Shader* shader) {
    const Device& d = *queue_->device_;
    if (!shader) {
        log::error_once("dispatch skipped: no compute shader");
        return false;
    }
    if (auto ready = queue_->shaders_->wait(*shader); !ready) {
        log::error_once("dispatch skipped: {}", ready.error().message);
        return false;
    }
    if (d.has(Feature::ShaderObject)) {
        const VkShaderStageFlagBits stage = VK_SHADER_STAGE_COMPUTE_BIT;
        const VkShaderEXT object = queue_->shaders_->object(*shader);
        d.vk.vkCmdBindShadersEXT(target, 1, &stage, &object);
        return true;
    }
    auto pipeline = queue_->shaders_->pipeline(ShaderLibrary::hash(*shader), [&](VkPipelineCache cache) {
        VkComputePipelineCreateInfo info{VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO};
        info.stage = {VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO};
        info.stage.stage = VK_SHADER_STAGE_COMPUTE_BIT;
        info.stage.module = queue_->shaders_->shader_module(*shader);
        info.stage.pName = "main";
        info.layout = queue_->layout_->compute.get();
        VkPipeline made = VK_NULL_HANDLE;
        const VkResult r = d.vk.vkCreateComputePipelines(d.handle, cache, 1, &info, nullptr, &made);
        return r == VK_SUCCESS ? Result<VkPipeline>(made) : fail("compute pipeline: {}", name(r));
    });
    if (!pipeline) {
        log::error_once("dispatch skipped: {}", pipeline.error().message);
        return false;
    }
    d.vk.vkCmdBindPipeline(target, VK_PIPELINE_BIND_POINT_COMPUTE, *pipeline);
    return true;
}

bool Commands::run_kernel(Place place, Shader& kernel, std::span<const std::byte> parameters,
                          const std::array<u32, 3>& groups) {
    if (place == Place::Here)
        prepare_transfer();
    const VkCommandBuffer target = place == Place::Here ? handle_ : prologue();
    if (parameters.size() > root_constants.size || !bind_compute(target, &kernel))
        return false;
    const auto& vk = queue_->device_->vk;
    vk.vkCmdPushConstants(target, queue_->layout_->compute.get(), root_constants.stageFlags, 0,
                          static_cast<u32>(parameters.size()), parameters.data());
    vk.vkCmdDispatch(target, groups[0], groups[1], groups[2]);
    ++counters_.dispatches;
    if (place == Place::Here) {
        dirty_ |= dirty::compute_shader;
        root_pushed_ = false;
    }
    return true;
}

namespace {

PipelineKey make_key(const Device& d, const DrawState& s, const Pass& pass,
                     const std::array<Shader*, program::stage_count>& shaders) {
    PipelineKey key;
    std::memset(static_cast<void*>(&key), 0, sizeof key);
    for (std::size_t i = 0; i < graphics_stages.size(); ++i)
        if (const Shader* shader = shaders[index_of(graphics_stages[i])])
            key.shaders[i] = ShaderLibrary::hash(*shader);
    key.color_count = pass.color_count;
    for (u32 i = 0; i < pass.color_count; ++i)
        key.colors[i] = pass.colors[i].view ? pass.colors[i].format : VK_FORMAT_UNDEFINED;
    key.depth = pass.depth.view ? pass.depth.format : VK_FORMAT_UNDEFINED;
    key.stencil = pass.stencil.view ? pass.stencil.format : VK_FORMAT_UNDEFINED;
    key.topology = class_of(s.assembly.topology);
    if (key.topology == VK_PRIMITIVE_TOPOLOGY_PATCH_LIST) {
        key.patch_vertices = s.assembly.patch_vertices;
        key.domain_origin = s.assembly.domain_origin;
    }
    if (d.has(Feature::ViewportSwizzle))
        key.swizzles = s.viewports.swizzles;
    if (!d.has(Feature::VertexInputDynamicState)) {
        key.vertex_input.attribute_count = s.vertex_input.attribute_count;
        key.vertex_input.stream_count = s.vertex_input.stream_count;
        std::copy_n(s.vertex_input.attributes.begin(), s.vertex_input.attribute_count,
                    key.vertex_input.attributes.begin());
        std::copy_n(s.vertex_input.streams.begin(), s.vertex_input.stream_count, key.vertex_input.streams.begin());
    }
    key.raster.depth_clip = s.raster.depth_clip;
    key.raster.negative_one_to_one = s.raster.negative_one_to_one;
    key.raster.provoking_last = s.raster.provoking_last;
    key.raster.conservative = s.raster.conservative;
    key.raster.dilation = s.raster.dilation;
    key.multisample.samples = pass.samples;
    key.multisample.alpha_to_one = s.multisample.alpha_to_one;
    key.blend.logic_op = s.blend.logic ? s.blend.logic_op : VK_LOGIC_OP_COPY;
    if (!d.has(Feature::ExtendedDynamicState3)) {
        key.raster.polygon = s.raster.polygon;
        key.raster.depth_clamp = s.raster.depth_clamp;
        key.multisample = s.multisample;
        // Only what has an effect: states that differ elsewhere share a pipeline.
        key.blend.logic = s.blend.logic;
        for (u32 i = 0; i < pass.color_count; ++i) {
            if (!pass.colors[i].view)
                continue;
            key.blend.targets[i].write_mask = s.blend.targets[i].write_mask;
            if (s.blend.targets[i].enable)
                key.blend.targets[i] = s.blend.targets[i];
        }
    }
    return key;
}

Result<VkPipeline> make_pipeline(const Device& d, const PipelineKey& key, VkPipelineLayout layout,
                                 std::span<const VkPipelineShaderStageCreateInfo> stages, VkPipelineCache cache) {
    std::vector<VkDynamicState> dynamic{VK_DYNAMIC_STATE_CULL_MODE,
                                        VK_DYNAMIC_STATE_FRONT_FACE,
                                        VK_DYNAMIC_STATE_PRIMITIVE_TOPOLOGY,
                                        VK_DYNAMIC_STATE_PRIMITIVE_RESTART_ENABLE,
                                        VK_DYNAMIC_STATE_VIEWPORT_WITH_COUNT,
                                        VK_DYNAMIC_STATE_SCISSOR_WITH_COUNT,
                                        VK_DYNAMIC_STATE_DEPTH_TEST_ENABLE,
                                        VK_DYNAMIC_STATE_DEPTH_WRITE_ENABLE,
                                        VK_DYNAMIC_STATE_DEPTH_COMPARE_OP,
                                        VK_DYNAMIC_STATE_DEPTH_BOUNDS_TEST_ENABLE,
                                        VK_DYNAMIC_STATE_DEPTH_BOUNDS,
                                        VK_DYNAMIC_STATE_STENCIL_TEST_ENABLE,
                                        VK_DYNAMIC_STATE_STENCIL_OP,
                                        VK_DYNAMIC_STATE_STENCIL_COMPARE_MASK,
                                        VK_DYNAMIC_STATE_STENCIL_WRITE_MASK,
                                        VK_DYNAMIC_STATE_STENCIL_REFERENCE,
                                        VK_DYNAMIC_STATE_RASTERIZER_DISCARD_ENABLE,
                                        VK_DYNAMIC_STATE_DEPTH_BIAS_ENABLE,
                                        VK_DYNAMIC_STATE_DEPTH_BIAS,
                                        VK_DYNAMIC_STATE_LINE_WIDTH,
                                        VK_DYNAMIC_STATE_BLEND_CONSTANTS};
    if (d.has(Feature::AttachmentFeedback))
        dynamic.push_back(VK_DYNAMIC_STATE_ATTACHMENT_FEEDBACK_LOOP_ENABLE_EXT);
    const bool dynamic_input = d.has(Feature::VertexInputDynamicState);
    if (dynamic_input)
        dynamic.push_back(VK_DYNAMIC_STATE_VERTEX_INPUT_EXT);
    if (d.has(Feature::ExtendedDynamicState3)) {
        dynamic.insert(dynamic.end(),
                       {VK_DYNAMIC_STATE_POLYGON_MODE_EXT, VK_DYNAMIC_STATE_RASTERIZATION_SAMPLES_EXT,
                        VK_DYNAMIC_STATE_SAMPLE_MASK_EXT, VK_DYNAMIC_STATE_ALPHA_TO_COVERAGE_ENABLE_EXT,
                        VK_DYNAMIC_STATE_COLOR_BLEND_ENABLE_EXT, VK_DYNAMIC_STATE_COLOR_BLEND_EQUATION_EXT,
                        VK_DYNAMIC_STATE_COLOR_WRITE_MASK_EXT});
        if (d.has(Feature::DepthClamp))
            dynamic.push_back(VK_DYNAMIC_STATE_DEPTH_CLAMP_ENABLE_EXT);
        if (d.has(Feature::LogicOp))
            dynamic.push_back(VK_DYNAMIC_STATE_LOGIC_OP_ENABLE_EXT);
    }
    VkPipelineDynamicStateCreateInfo dynamic_info{VK_STRUCTURE_TYPE_PIPELINE_DYNAMIC_STATE_CREATE_INFO};
    dynamic_info.dynamicStateCount = static_cast<u32>(dynamic.size());
    dynamic_info.pDynamicStates = dynamic.data();

    const VertexInput& v = key.vertex_input;
    std::array<VkVertexInputBindingDescription, max_streams> bindings{};
    std::array<VkVertexInputAttributeDescription, max_attributes> attributes{};
    std::array<VkVertexInputBindingDivisorDescriptionEXT, max_streams> divisors{};
    VkPipelineVertexInputDivisorStateCreateInfoEXT divisor_info{
        VK_STRUCTURE_TYPE_PIPELINE_VERTEX_INPUT_DIVISOR_STATE_CREATE_INFO_EXT};
    divisor_info.pVertexBindingDivisors = divisors.data();
    for (u32 i = 0; i < v.stream_count; ++i) {
        const u32 divisor = v.streams[i].divisor;
        bindings[i] = {i, v.streams[i].stride, divisor ? VK_VERTEX_INPUT_RATE_INSTANCE : VK_VERTEX_INPUT_RATE_VERTEX};
        if (divisor > 1 && d.has(Feature::VertexDivisor))
            divisors[divisor_info.vertexBindingDivisorCount++] = {i, divisor};
    }
    for (u32 i = 0; i < v.attribute_count; ++i)
        attributes[i] = {v.attributes[i].location, v.attributes[i].stream, v.attributes[i].format,
                         v.attributes[i].offset};
    VkPipelineVertexInputStateCreateInfo input{VK_STRUCTURE_TYPE_PIPELINE_VERTEX_INPUT_STATE_CREATE_INFO};
    input.vertexBindingDescriptionCount = v.stream_count;
    input.pVertexBindingDescriptions = bindings.data();
    input.vertexAttributeDescriptionCount = v.attribute_count;
    input.pVertexAttributeDescriptions = attributes.data();
    if (divisor_info.vertexBindingDivisorCount)
        input.pNext = &divisor_info;

    VkPipelineInputAssemblyStateCreateInfo assembly{VK_STRUCTURE_TYPE_PIPELINE_INPUT_ASSEMBLY_STATE_CREATE_INFO};
    assembly.topology = key.topology;
    VkPipelineTessellationDomainOriginStateCreateInfo origin{
        VK_STRUCTURE_TYPE_PIPELINE_TESSELLATION_DOMAIN_ORIGIN_STATE_CREATE_INFO, nullptr, key.domain_origin};
    VkPipelineTessellationStateCreateInfo tessellation{VK_STRUCTURE_TYPE_PIPELINE_TESSELLATION_STATE_CREATE_INFO,
                                                       &origin, 0, key.patch_vertices};
    VkPipelineViewportSwizzleStateCreateInfoNV swizzles{
        VK_STRUCTURE_TYPE_PIPELINE_VIEWPORT_SWIZZLE_STATE_CREATE_INFO_NV};
    swizzles.viewportCount = max_viewports;
    swizzles.pViewportSwizzles = key.swizzles.data();
    VkPipelineViewportStateCreateInfo viewport{VK_STRUCTURE_TYPE_PIPELINE_VIEWPORT_STATE_CREATE_INFO};
    if (d.has(Feature::ViewportSwizzle))
        viewport.pNext = &swizzles;

    VkPipelineRasterizationStateCreateInfo raster{VK_STRUCTURE_TYPE_PIPELINE_RASTERIZATION_STATE_CREATE_INFO};
    raster.depthClampEnable = key.raster.depth_clamp && d.has(Feature::DepthClamp);
    raster.polygonMode = d.has(Feature::FillModes) ? key.raster.polygon : VK_POLYGON_MODE_FILL;
    raster.lineWidth = 1;
    VkPipelineRasterizationDepthClipStateCreateInfoEXT clip{
        VK_STRUCTURE_TYPE_PIPELINE_RASTERIZATION_DEPTH_CLIP_STATE_CREATE_INFO_EXT, nullptr, 0, key.raster.depth_clip};
    VkPipelineRasterizationProvokingVertexStateCreateInfoEXT provoking{
        VK_STRUCTURE_TYPE_PIPELINE_RASTERIZATION_PROVOKING_VERTEX_STATE_CREATE_INFO_EXT, nullptr,
        key.raster.provoking_last ? VK_PROVOKING_VERTEX_MODE_LAST_VERTEX_EXT
                                  : VK_PROVOKING_VERTEX_MODE_FIRST_VERTEX_EXT};
    VkPipelineRasterizationConservativeStateCreateInfoEXT conservative{
        VK_STRUCTURE_TYPE_PIPELINE_RASTERIZATION_CONSERVATIVE_STATE_CREATE_INFO_EXT, nullptr, 0,
        key.raster.conservative ? VK_CONSERVATIVE_RASTERIZATION_MODE_OVERESTIMATE_EXT
                                : VK_CONSERVATIVE_RASTERIZATION_MODE_DISABLED_EXT,
        std::min(key.raster.dilation, d.capabilities.max_dilation)};
    const auto link = [](auto& head, auto& structure, bool wanted) {
        if (wanted) {
            structure.pNext = head.pNext;
            head.pNext = &structure;
        }
    };
    link(raster, clip, d.has(Feature::DepthClipEnable));
    link(raster, provoking, d.has(Feature::ProvokingVertexLast));
    link(raster, conservative, d.has(Feature::ConservativeRasterization));
    VkPipelineViewportDepthClipControlCreateInfoEXT control{
        VK_STRUCTURE_TYPE_PIPELINE_VIEWPORT_DEPTH_CLIP_CONTROL_CREATE_INFO_EXT, nullptr,
        key.raster.negative_one_to_one};
    link(viewport, control, d.has(Feature::DepthClipControl));

    const std::array<VkSampleMask, 2> mask{key.multisample.mask, key.multisample.mask};
    VkPipelineMultisampleStateCreateInfo multisample{VK_STRUCTURE_TYPE_PIPELINE_MULTISAMPLE_STATE_CREATE_INFO};
    multisample.rasterizationSamples = key.multisample.samples;
    multisample.pSampleMask = mask.data();
    multisample.alphaToCoverageEnable = key.multisample.alpha_to_coverage;
    multisample.alphaToOneEnable = key.multisample.alpha_to_one && d.has(Feature::AlphaToOne);
    VkPipelineDepthStencilStateCreateInfo depth{VK_STRUCTURE_TYPE_PIPELINE_DEPTH_STENCIL_STATE_CREATE_INFO};
    std::array<VkPipelineColorBlendAttachmentState, max_targets> targets{};
    for (u32 i = 0; i < key.color_count; ++i) {
        const BlendTarget& t = key.blend.targets[d.has(Feature::IndependentBlend) ? i : 0];
        const auto& e = t.equation;
        targets[i] = {t.enable,       e.srcColorBlendFactor, e.dstColorBlendFactor,
                      e.colorBlendOp, e.srcAlphaBlendFactor, e.dstAlphaBlendFactor,
                      e.alphaBlendOp, t.write_mask};
    }
    VkPipelineColorBlendStateCreateInfo blend{VK_STRUCTURE_TYPE_PIPELINE_COLOR_BLEND_STATE_CREATE_INFO};
    blend.logicOpEnable = key.blend.logic && d.has(Feature::LogicOp);
    blend.logicOp = key.blend.logic_op;
    blend.attachmentCount = key.color_count;
    blend.pAttachments = targets.data();

    VkPipelineRenderingCreateInfo rendering{VK_STRUCTURE_TYPE_PIPELINE_RENDERING_CREATE_INFO};
    rendering.colorAttachmentCount = key.color_count;
    rendering.pColorAttachmentFormats = key.colors.data();
    rendering.depthAttachmentFormat = key.depth;
    rendering.stencilAttachmentFormat = key.stencil;
    VkGraphicsPipelineCreateInfo info{VK_STRUCTURE_TYPE_GRAPHICS_PIPELINE_CREATE_INFO, &rendering};
    info.stageCount = static_cast<u32>(stages.size());
    info.pStages = stages.data();
    info.pVertexInputState = &input;
    info.pInputAssemblyState = &assembly;
    info.pTessellationState = key.topology == VK_PRIMITIVE_TOPOLOGY_PATCH_LIST ? &tessellation : nullptr;
    info.pViewportState = &viewport;
    info.pRasterizationState = &raster;
    info.pMultisampleState = &multisample;
    info.pDepthStencilState = &depth;
    info.pColorBlendState = &blend;
    info.pDynamicState = &dynamic_info;
    info.layout = layout;
    VkPipeline made = VK_NULL_HANDLE;
    if (const VkResult r = d.vk.vkCreateGraphicsPipelines(d.handle, cache, 1, &info, nullptr, &made); r != VK_SUCCESS)
        return fail("graphics pipeline: {}", name(r));
    return made;
}

} // namespace

bool Commands::emit_pipeline() {
    const Device& d = *queue_->device_;
    std::vector<VkPipelineShaderStageCreateInfo> stages;
    for (const Stage stage : graphics_stages) {
        Shader* shader = shaders_[index_of(stage)];
        if (!shader)
            continue;
        if (auto ready = queue_->shaders_->wait(*shader); !ready) {
            log::error_once("draw skipped: {}", ready.error().message);
            return false;
        }
        VkPipelineShaderStageCreateInfo info{VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO};
        info.stage = stage_bit(stage);
        info.module = queue_->shaders_->shader_module(*shader);
        info.pName = "main";
        stages.push_back(info);
    }
    if (!shaders_[index_of(Stage::Vertex)]) {
        log::error_once("draw skipped: no vertex shader");
        return false;
    }
    const PipelineKey key = make_key(d, state_, pass_, shaders_);
    const Hash128 hash = hash_bytes(std::as_bytes(std::span(&key, 1)));
    auto pipeline = queue_->shaders_->pipeline(hash, [&](VkPipelineCache cache) {
        return make_pipeline(d, key, queue_->layout_->graphics.get(), stages, cache);
    });
    if (!pipeline) {
        log::error_once("draw skipped: {}", pipeline.error().message);
        return false;
    }
    if (*pipeline != pipeline_) {
        d.vk.vkCmdBindPipeline(handle_, VK_PIPELINE_BIND_POINT_GRAPHICS, *pipeline);
        pipeline_ = *pipeline;
    }
    return true;
}

} // namespace heaviside::gpu
