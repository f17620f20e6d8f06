#include "gpu/capabilities.h"

#include "shader/interface.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <set>

namespace heaviside::gpu {

// Every structure that a feature's bits live in. Those of absent extensions stay zero and out of the chain.
struct DeviceRequest {
    VkPhysicalDeviceFeatures2 core{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2, nullptr, {}};
    VkPhysicalDeviceVulkan11Features v11{};
    VkPhysicalDeviceVulkan12Features v12{};
    VkPhysicalDeviceVulkan13Features v13{};
    VkPhysicalDeviceShaderObjectFeaturesEXT shader_object{};
    VkPhysicalDeviceExtendedDynamicState3FeaturesEXT dynamic3{};
    VkPhysicalDeviceVertexInputDynamicStateFeaturesEXT vertex_input{};
    VkPhysicalDeviceRobustness2FeaturesEXT robustness2{};
    VkPhysicalDeviceMaintenance5FeaturesKHR maintenance5{};
    VkPhysicalDeviceIndexTypeUint8FeaturesEXT index_uint8{};
    VkPhysicalDeviceDepthClipControlFeaturesEXT clip_control{};
    VkPhysicalDeviceDepthClipEnableFeaturesEXT clip_enable{};
    VkPhysicalDeviceTransformFeedbackFeaturesEXT transform_feedback{};
    VkPhysicalDeviceLineRasterizationFeaturesEXT lines{};
    VkPhysicalDeviceProvokingVertexFeaturesEXT provoking{};
    VkPhysicalDevicePrimitiveTopologyListRestartFeaturesEXT list_restart{};
    VkPhysicalDeviceVertexAttributeDivisorFeaturesEXT divisor{};
    VkPhysicalDeviceFragmentShaderInterlockFeaturesEXT interlock{};
    VkPhysicalDeviceAttachmentFeedbackLoopLayoutFeaturesEXT feedback{};
    VkPhysicalDeviceAttachmentFeedbackLoopDynamicStateFeaturesEXT feedback_dynamic{};
    VkPhysicalDeviceDynamicRenderingLocalReadFeaturesKHR local_read{};
    VkPhysicalDeviceCustomBorderColorFeaturesEXT border{};
    VkPhysicalDeviceBorderColorSwizzleFeaturesEXT border_swizzle{};
    VkPhysicalDeviceNonSeamlessCubeMapFeaturesEXT non_seamless{};
    VkPhysicalDeviceImage2DViewOf3DFeaturesEXT view_2d_of_3d{};
    VkPhysicalDeviceImageViewMinLodFeaturesEXT view_min_lod{};
    VkPhysicalDeviceShaderAtomicFloatFeaturesEXT atomic_float{};
    VkPhysicalDeviceShaderAtomicFloat16VectorFeaturesNV atomic_float16{};
    VkPhysicalDeviceConditionalRenderingFeaturesEXT conditional{};
    VkPhysicalDeviceTexelBufferAlignmentFeaturesEXT texel_alignment{};
    VkPhysicalDeviceHostImageCopyFeaturesEXT host_copy{};
};

void DeviceRequestDeleter::operator()(DeviceRequest* request) const {
    delete request;
}
const VkPhysicalDeviceFeatures2& enabled_features(const DeviceRequest& request) {
    return request.core;
}

namespace {

using Bits = std::vector<VkBool32*>;
struct Row {
    FeatureInfo info;
    Bits (*bits)(DeviceRequest&); // all must be set; null: the extension alone decides
};
using R = DeviceRequest;
#define HEAVISIDE_CORE(field) [](R& r) -> Bits { return {&r.core.features.field}; }

// In the enum's order (checked by a test). The extension is enabled when the feature is on.
const std::array<Row, feature_count> rows{{
    {{Feature::ShaderObject, "shader_object", "VK_EXT_shader_object", "monolithic pipelines made at the draw, cached"},
     [](R& r) -> Bits { return {&r.shader_object.shaderObject}; }},
    {{Feature::ExtendedDynamicState3, "extended_dynamic_state3", "VK_EXT_extended_dynamic_state3",
      "blend, polygon and sample state in pipeline keys"},
     [](R& r) -> Bits {
         auto& d = r.dynamic3;
         return {&d.extendedDynamicState3PolygonMode,      &d.extendedDynamicState3RasterizationSamples,
                 &d.extendedDynamicState3SampleMask,       &d.extendedDynamicState3AlphaToCoverageEnable,
                 &d.extendedDynamicState3ColorBlendEnable, &d.extendedDynamicState3ColorBlendEquation,
                 &d.extendedDynamicState3ColorWriteMask,   &d.extendedDynamicState3DepthClampEnable,
                 &d.extendedDynamicState3LogicOpEnable};
     }},
    {{Feature::VertexInputDynamicState, "vertex_input_dynamic_state", "VK_EXT_vertex_input_dynamic_state",
      "vertex input in pipeline keys"},
     [](R& r) -> Bits { return {&r.vertex_input.vertexInputDynamicState}; }},
    {{Feature::ExternalMemoryHost, "external_memory_host", "VK_EXT_external_memory_host",
      "guest memory is mirrored by copies"},
     nullptr},
    {{Feature::RobustAccess2, "robustness2", "VK_EXT_robustness2",
      "robust buffer access: out of range reads may give other bytes of the buffer"},
     [](R& r) -> Bits {
         return {&r.robustness2.robustBufferAccess2, &r.robustness2.robustImageAccess2};
     }},
    {{Feature::NullDescriptor, "null_descriptor", "VK_EXT_robustness2", "a zero image and a zero buffer stand in"},
     [](R& r) -> Bits { return {&r.robustness2.nullDescriptor}; }},
    {{Feature::ShaderInt64, "shader_int64", nullptr, "addresses as pairs of 32-bit words"},
     HEAVISIDE_CORE(shaderInt64)},
    {{Feature::Maintenance5, "maintenance5", "VK_KHR_maintenance5", "index buffers bound without a size"},
     [](R& r) -> Bits { return {&r.maintenance5.maintenance5}; }},
    {{Feature::IndexTypeUint8, "index_type_uint8", "VK_EXT_index_type_uint8", "indices widened to 16 bits"},
     [](R& r) -> Bits { return {&r.index_uint8.indexTypeUint8}; }},
    {{Feature::DepthClipControl, "depth_clip_control", "VK_EXT_depth_clip_control",
      "the vertex stage maps -w..w to 0..w"},
     [](R& r) -> Bits { return {&r.clip_control.depthClipControl}; }},
    {{Feature::DepthClipEnable, "depth_clip_enable", "VK_EXT_depth_clip_enable",
      "clipping is off where clamping is on"},
     [](R& r) -> Bits { return {&r.clip_enable.depthClipEnable}; }},
    {{Feature::DepthClamp, "depth_clamp", nullptr, "depth is clipped"}, HEAVISIDE_CORE(depthClamp)},
    {{Feature::DepthBounds, "depth_bounds", nullptr, "the depth bounds test passes"}, HEAVISIDE_CORE(depthBounds)},
    {{Feature::DepthRangeUnrestricted, "depth_range_unrestricted", "VK_EXT_depth_range_unrestricted",
      "depth ranges are clamped to 0..1"},
     nullptr},
    {{Feature::DepthBiasClamp, "depth_bias_clamp", nullptr, "depth bias is not clamped"},
     HEAVISIDE_CORE(depthBiasClamp)},
    {{Feature::Geometry, "geometry", nullptr, "geometry programs run as compute"}, HEAVISIDE_CORE(geometryShader)},
    {{Feature::Tessellation, "tessellation", nullptr, "tessellation programs run as compute"},
     HEAVISIDE_CORE(tessellationShader)},
    {{Feature::TransformFeedback, "transform_feedback", "VK_EXT_transform_feedback",
      "the last vertex stage stores its outputs"},
     [](R& r) -> Bits { return {&r.transform_feedback.transformFeedback}; }},
    {{Feature::GeometryStreams, "geometry_streams", "VK_EXT_transform_feedback", "streams but the first are dropped"},
     [](R& r) -> Bits { return {&r.transform_feedback.geometryStreams}; }},
    {{Feature::FillModes, "fill_modes", nullptr, "lines and points are drawn as indexed edges"},
     HEAVISIDE_CORE(fillModeNonSolid)},
    {{Feature::WideLines, "wide_lines", nullptr, "lines are one pixel wide"}, HEAVISIDE_CORE(wideLines)},
    {{Feature::LargePoints, "large_points", nullptr, "points are one pixel wide"}, HEAVISIDE_CORE(largePoints)},
    {{Feature::LineRasterization, "line_rasterization", "VK_EXT_line_rasterization", "the device's own lines"},
     [](R& r) -> Bits { return {&r.lines.bresenhamLines}; }},
    {{Feature::ProvokingVertexLast, "provoking_vertex", "VK_EXT_provoking_vertex", "flat values of the first vertex"},
     [](R& r) -> Bits { return {&r.provoking.provokingVertexLast}; }},
    {{Feature::ConservativeRasterization, "conservative_rasterization", "VK_EXT_conservative_rasterization",
      "pixel centres decide"},
     nullptr},
    {{Feature::TriangleFans, "triangle_fans", nullptr, "fans are drawn as indexed triangles"}, nullptr},
    {{Feature::ListRestart, "list_restart", "VK_EXT_primitive_topology_list_restart", "indices of lists are rewritten"},
     [](R& r) -> Bits { return {&r.list_restart.primitiveTopologyListRestart}; }},
    {{Feature::VertexDivisor, "vertex_divisor", "VK_EXT_vertex_attribute_divisor", "instances drawn one by one"},
     [](R& r) -> Bits { return {&r.divisor.vertexAttributeInstanceRateDivisor}; }},
    {{Feature::VertexDivisorZero, "vertex_divisor_zero", "VK_EXT_vertex_attribute_divisor", "a stride of zero"},
     [](R& r) -> Bits { return {&r.divisor.vertexAttributeInstanceRateZeroDivisor}; }},
    {{Feature::MultiViewport, "multi_viewport", nullptr, "the first viewport serves all"},
     HEAVISIDE_CORE(multiViewport)},
    {{Feature::ViewportSwizzle, "viewport_swizzle", "VK_NV_viewport_swizzle", "the last vertex stage swizzles"},
     nullptr},
    {{Feature::ViewportIndexLayer, "viewport_index_layer", nullptr, "one draw per layer"},
     [](R& r) -> Bits {
         return {&r.v12.shaderOutputLayer, &r.v12.shaderOutputViewportIndex};
     }},
    {{Feature::ClipDistance, "clip_distance", nullptr, "fragments outside are discarded"},
     HEAVISIDE_CORE(shaderClipDistance)},
    {{Feature::CullDistance, "cull_distance", nullptr, "nothing is culled by distance"},
     HEAVISIDE_CORE(shaderCullDistance)},
    {{Feature::LogicOp, "logic_op", nullptr, "the fragment stage reads the target"}, HEAVISIDE_CORE(logicOp)},
    {{Feature::DualSourceBlend, "dual_source_blend", nullptr, "the fragment stage reads the target"},
     HEAVISIDE_CORE(dualSrcBlend)},
    {{Feature::IndependentBlend, "independent_blend", nullptr, "the first target's blending serves all"},
     HEAVISIDE_CORE(independentBlend)},
    {{Feature::AlphaToOne, "alpha_to_one", nullptr, "the fragment stage writes alpha 1"}, HEAVISIDE_CORE(alphaToOne)},
    {{Feature::StencilExport, "stencil_export", "VK_EXT_shader_stencil_export", "one draw per stencil bit"}, nullptr},
    {{Feature::SampleShading, "sample_shading", nullptr, "fragments run once per pixel"},
     HEAVISIDE_CORE(sampleRateShading)},
    {{Feature::SampleLocations, "sample_locations", "VK_EXT_sample_locations", "standard sample positions"}, nullptr},
    {{Feature::PostDepthCoverage, "post_depth_coverage", "VK_EXT_post_depth_coverage", "coverage before the test"},
     nullptr},
    {{Feature::FragmentInterlock, "fragment_interlock", "VK_EXT_fragment_shader_interlock", "no order inside a draw"},
     [](R& r) -> Bits { return {&r.interlock.fragmentShaderPixelInterlock}; }},
    {{Feature::FragmentStores, "fragment_stores", nullptr, "stores of the fragment stage are dropped"},
     HEAVISIDE_CORE(fragmentStoresAndAtomics)},
    {{Feature::VertexStores, "vertex_stores", nullptr, "stores of the vertex stages are dropped"},
     HEAVISIDE_CORE(vertexPipelineStoresAndAtomics)},
    {{Feature::AttachmentFeedback, "attachment_feedback", "VK_EXT_attachment_feedback_loop_layout",
      "targets that are read are copied first"},
     [](R& r) -> Bits {
         return {&r.feedback.attachmentFeedbackLoopLayout, &r.feedback_dynamic.attachmentFeedbackLoopDynamicState};
     }},
    {{Feature::LocalRead, "local_read", "VK_KHR_dynamic_rendering_local_read",
      "targets that are read are copied first"},
     [](R& r) -> Bits { return {&r.local_read.dynamicRenderingLocalRead}; }},
    {{Feature::Anisotropy, "anisotropy", nullptr, "isotropic filtering"}, HEAVISIDE_CORE(samplerAnisotropy)},
    {{Feature::CustomBorderColor, "custom_border_color", "VK_EXT_custom_border_color", "the nearest fixed colour"},
     [](R& r) -> Bits {
         return {&r.border.customBorderColors, &r.border.customBorderColorWithoutFormat};
     }},
    {{Feature::BorderColorSwizzle, "border_color_swizzle", "VK_EXT_border_color_swizzle", "borders are not swizzled"},
     [](R& r) -> Bits {
         return {&r.border_swizzle.borderColorSwizzle, &r.border_swizzle.borderColorSwizzleFromImage};
     }},
    {{Feature::SamplerMinMax, "sampler_min_max", nullptr, "weighted average"},
     [](R& r) -> Bits { return {&r.v12.samplerFilterMinmax}; }},
    {{Feature::MirrorClampToEdge, "mirror_clamp_to_edge", nullptr, "mirrored repeat"},
     [](R& r) -> Bits { return {&r.v12.samplerMirrorClampToEdge}; }},
    {{Feature::NonSeamlessCubes, "non_seamless_cubes", "VK_EXT_non_seamless_cube_map", "cubes are seamless"},
     [](R& r) -> Bits { return {&r.non_seamless.nonSeamlessCubeMap}; }},
    {{Feature::CubeArrays, "cube_arrays", nullptr, "cube arrays read zero"}, HEAVISIDE_CORE(imageCubeArray)},
    {{Feature::View2dOf3d, "view_2d_of_3d", "VK_EXT_image_2d_view_of_3d", "slices are copied"},
     [](R& r) -> Bits {
         return {&r.view_2d_of_3d.image2DViewOf3D, &r.view_2d_of_3d.sampler2DViewOf3D};
     }},
    {{Feature::ImageViewMinLod, "image_view_min_lod", "VK_EXT_image_view_min_lod",
      "unmapped levels are made from the first mapped one"},
     [](R& r) -> Bits { return {&r.view_min_lod.minLod}; }},
    {{Feature::Astc, "astc", nullptr, "ASTC is decoded when it is uploaded"},
     HEAVISIDE_CORE(textureCompressionASTC_LDR)},
    {{Feature::Bc, "bc", nullptr, "BC formats are decoded when they are uploaded"},
     HEAVISIDE_CORE(textureCompressionBC)},
    {{Feature::StorageWithoutFormat, "storage_without_format", nullptr, "storage images of 32-bit formats only"},
     [](R& r) -> Bits {
         return {&r.core.features.shaderStorageImageReadWithoutFormat,
                 &r.core.features.shaderStorageImageWriteWithoutFormat};
     }},
    {{Feature::MultisampledStorage, "multisampled_storage", nullptr, "multisampled storage images read zero"},
     HEAVISIDE_CORE(shaderStorageImageMultisample)},
    {{Feature::ImageGatherExtended, "image_gather_extended", nullptr, "gathers by single texels"},
     HEAVISIDE_CORE(shaderImageGatherExtended)},
    {{Feature::ShaderInt16, "shader_int16", nullptr, "32-bit arithmetic"}, HEAVISIDE_CORE(shaderInt16)},
    {{Feature::ShaderFloat16, "shader_float16", nullptr, "32-bit arithmetic, rounded"},
     [](R& r) -> Bits { return {&r.v12.shaderFloat16}; }},
    {{Feature::ShaderFloat64, "shader_float64", nullptr, "double arithmetic in software"},
     HEAVISIDE_CORE(shaderFloat64)},
    {{Feature::ShaderInt8, "shader_int8", nullptr, "32-bit arithmetic"},
     [](R& r) -> Bits { return {&r.v12.shaderInt8}; }},
    {{Feature::AtomicInt64, "atomic_int64", nullptr, "64-bit atomics by a lock"},
     [](R& r) -> Bits { return {&r.v12.shaderBufferInt64Atomics}; }},
    {{Feature::AtomicFloat32, "atomic_float32", "VK_EXT_shader_atomic_float", "compare and swap"},
     [](R& r) -> Bits { return {&r.atomic_float.shaderBufferFloat32AtomicAdd}; }},
    {{Feature::AtomicFloat16Vector, "atomic_float16_vector", "VK_NV_shader_atomic_fp16_vector", "compare and swap"},
     [](R& r) -> Bits { return {&r.atomic_float16.shaderFloat16VectorAtomics}; }},
    {{Feature::DrawIndirectCount, "draw_indirect_count", nullptr, "a kernel zeroes the draws past the count"},
     [](R& r) -> Bits { return {&r.v12.drawIndirectCount}; }},
    {{Feature::MultiDrawIndirect, "multi_draw_indirect", nullptr, "one call per draw"},
     HEAVISIDE_CORE(multiDrawIndirect)},
    {{Feature::ConditionalRendering, "conditional_rendering", "VK_EXT_conditional_rendering",
      "a kernel zeroes the draws"},
     [](R& r) -> Bits { return {&r.conditional.conditionalRendering}; }},
    {{Feature::PipelineStatistics, "pipeline_statistics", nullptr, "counters read zero"},
     HEAVISIDE_CORE(pipelineStatisticsQuery)},
    {{Feature::PreciseOcclusion, "precise_occlusion", nullptr, "occlusion counters are 0 or 1"},
     HEAVISIDE_CORE(occlusionQueryPrecise)},
    {{Feature::CalibratedTimestamps, "calibrated_timestamps", "VK_EXT_calibrated_timestamps",
      "CPU and GPU clocks are matched by a fence"},
     nullptr},
    {{Feature::TexelBufferAlignment, "texel_buffer_alignment", "VK_EXT_texel_buffer_alignment",
      "buffer textures between the device's multiples are not read"},
     [](R& r) -> Bits { return {&r.texel_alignment.texelBufferAlignment}; }},
    {{Feature::PackedRedLow, "packed_red_low", nullptr,
      "fields of 16-bit texels change places between memory and image"},
     nullptr},
    {{Feature::ScaledVertices, "scaled_vertices", nullptr, "integer attributes become floats in the vertex program"},
     nullptr},
    {{Feature::HostImageCopy, "host_image_copy", "VK_EXT_host_image_copy", "uploads through a staging buffer"},
     [](R& r) -> Bits { return {&r.host_copy.hostImageCopy}; }},
    {{Feature::MemoryBudget, "memory_budget", "VK_EXT_memory_budget", "80 % of the heap is the budget"}, nullptr},
}};
#undef HEAVISIDE_CORE

const std::array<FeatureInfo, feature_count> infos = [] {
    std::array<FeatureInfo, feature_count> out{};
    std::transform(rows.begin(), rows.end(), out.begin(), [](const Row& row) { return row.info; });
    return out;
}();

struct Required {
    const char* name;
    VkBool32 (*present)(const DeviceRequest&);
};
const Required required[] = {
    {"dynamicRendering", [](const R& r) { return r.v13.dynamicRendering; }},
    {"synchronization2", [](const R& r) { return r.v13.synchronization2; }},
    {"timelineSemaphore", [](const R& r) { return r.v12.timelineSemaphore; }},
    {"bufferDeviceAddress", [](const R& r) { return r.v12.bufferDeviceAddress; }},
    {"runtimeDescriptorArray", [](const R& r) { return r.v12.runtimeDescriptorArray; }},
    {"descriptorBindingPartiallyBound", [](const R& r) { return r.v12.descriptorBindingPartiallyBound; }},
    {"descriptorBindingSampledImageUpdateAfterBind",
     [](const R& r) { return r.v12.descriptorBindingSampledImageUpdateAfterBind; }},
    {"descriptorBindingStorageImageUpdateAfterBind",
     [](const R& r) { return r.v12.descriptorBindingStorageImageUpdateAfterBind; }},
    {"descriptorBindingStorageBufferUpdateAfterBind",
     [](const R& r) { return r.v12.descriptorBindingStorageBufferUpdateAfterBind; }},
    {"descriptorBindingUniformTexelBufferUpdateAfterBind",
     [](const R& r) { return r.v12.descriptorBindingUniformTexelBufferUpdateAfterBind; }},
    {"descriptorBindingStorageTexelBufferUpdateAfterBind",
     [](const R& r) { return r.v12.descriptorBindingStorageTexelBufferUpdateAfterBind; }},
    {"shaderSampledImageArrayNonUniformIndexing",
     [](const R& r) { return r.v12.shaderSampledImageArrayNonUniformIndexing; }},
    {"shaderStorageImageArrayNonUniformIndexing",
     [](const R& r) { return r.v12.shaderStorageImageArrayNonUniformIndexing; }},
};

template <class T>
void chain(DeviceRequest& request, T& structure, VkStructureType type) {
    structure.sType = type;
    structure.pNext = request.core.pNext;
    request.core.pNext = &structure;
}

void build_chain(DeviceRequest& r, const std::function<bool(const char*)>& has) {
    r.core.pNext = nullptr;
    chain(r, r.v11, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES);
    chain(r, r.v12, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES);
    chain(r, r.v13, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES);
    const auto extension = [&](const char* name, auto& structure, VkStructureType type) {
        if (has(name))
            chain(r, structure, type);
    };
    extension("VK_EXT_shader_object", r.shader_object, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_OBJECT_FEATURES_EXT);
    extension("VK_EXT_extended_dynamic_state3", r.dynamic3,
              VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTENDED_DYNAMIC_STATE_3_FEATURES_EXT);
    extension("VK_EXT_vertex_input_dynamic_state", r.vertex_input,
              VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VERTEX_INPUT_DYNAMIC_STATE_FEATURES_EXT);
    extension("VK_EXT_robustness2", r.robustness2, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ROBUSTNESS_2_FEATURES_EXT);
    extension("VK_KHR_maintenance5", r.maintenance5, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_5_FEATURES_KHR);
    extension("VK_EXT_index_type_uint8", r.index_uint8,
              VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_INDEX_TYPE_UINT8_FEATURES_EXT);
    extension("VK_EXT_depth_clip_control", r.clip_control,
              VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DEPTH_CLIP_CONTROL_FEATURES_EXT);
    extension("VK_EXT_depth_clip_enable", r.clip_enable,
              VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DEPTH_CLIP_ENABLE_FEATURES_EXT);
    extension("VK_EXT_transform_feedback", r.transform_feedback,
              VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_TRANSFORM_FEEDBACK_FEATURES_EXT);
    extension("VK_EXT_line_rasterization", r.lines, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_LINE_RASTERIZATION_FEATURES_EXT);
    extension("VK_EXT_provoking_vertex", r.provoking, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROVOKING_VERTEX_FEATURES_EXT);
    extension("VK_EXT_primitive_topology_list_restart", r.list_restart,
              VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PRIMITIVE_TOPOLOGY_LIST_RESTART_FEATURES_EXT);
    extension("VK_EXT_vertex_attribute_divisor", r.divisor,
              VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VERTEX_ATTRIBUTE_DIVISOR_FEATURES_EXT);
    extension("VK_EXT_fragment_shader_interlock", r.interlock,
              VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FRAGMENT_SHADER_INTERLOCK_FEATURES_EXT);
    extension("VK_EXT_attachment_feedback_loop_layout", r.feedback,
              VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ATTACHMENT_FEEDBACK_LOOP_LAYOUT_FEATURES_EXT);
    extension("VK_EXT_attachment_feedback_loop_dynamic_state", r.feedback_dynamic,
              VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ATTACHMENT_FEEDBACK_LOOP_DYNAMIC_STATE_FEATURES_EXT);
    extension("VK_KHR_dynamic_rendering_local_read", r.local_read,
              VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DYNAMIC_RENDERING_LOCAL_READ_FEATURES_KHR);
    extension("VK_EXT_custom_border_color", r.border,
              VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_CUSTOM_BORDER_COLOR_FEATURES_EXT);
    extension("VK_EXT_border_color_swizzle", r.border_swizzle,
              VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_BORDER_COLOR_SWIZZLE_FEATURES_EXT);
    extension("VK_EXT_non_seamless_cube_map", r.non_seamless,
              VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_NON_SEAMLESS_CUBE_MAP_FEATURES_EXT);
    extension("VK_EXT_image_2d_view_of_3d", r.view_2d_of_3d,
              VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_IMAGE_2D_VIEW_OF_3D_FEATURES_EXT);
    extension("VK_EXT_image_view_min_lod", r.view_min_lod,
              VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_IMAGE_VIEW_MIN_LOD_FEATURES_EXT);
    extension("VK_EXT_shader_atomic_float", r.atomic_float,
              VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_ATOMIC_FLOAT_FEATURES_EXT);
    extension("VK_NV_shader_atomic_fp16_vector", r.atomic_float16,
              VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_ATOMIC_FLOAT16_VECTOR_FEATURES_NV);
    extension("VK_EXT_conditional_rendering", r.conditional,
              VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_CONDITIONAL_RENDERING_FEATURES_EXT);
    extension("VK_EXT_texel_buffer_alignment", r.texel_alignment,
              VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_TEXEL_BUFFER_ALIGNMENT_FEATURES_EXT);
    extension("VK_EXT_host_image_copy", r.host_copy, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_HOST_IMAGE_COPY_FEATURES_EXT);
}

// Bits that cost something or that nothing here uses.
void drop_unused(DeviceRequest& r) {
    auto& f = r.core.features;
    f.sparseBinding = f.sparseResidencyBuffer = f.sparseResidencyImage2D = f.sparseResidencyImage3D = VK_FALSE;
    f.sparseResidency2Samples = f.sparseResidency4Samples = f.sparseResidency8Samples = VK_FALSE;
    f.sparseResidency16Samples = f.sparseResidencyAliased = f.shaderResourceResidency = VK_FALSE;
    f.shaderResourceMinLod = VK_FALSE;
    r.v11.protectedMemory = r.v11.multiview = r.v11.multiviewGeometryShader = VK_FALSE;
    r.v11.multiviewTessellationShader = r.v11.samplerYcbcrConversion = VK_FALSE;
    r.v12.bufferDeviceAddressCaptureReplay = r.v12.bufferDeviceAddressMultiDevice = VK_FALSE;
    r.v12.imagelessFramebuffer = VK_FALSE;
    r.v13.inlineUniformBlock = r.v13.descriptorBindingInlineUniformBlockUpdateAfterBind = VK_FALSE;
    r.v13.privateData = VK_FALSE;
    // What the feature row asks for is dynamic; the rest of that extension is part of pipeline keys.
    const auto d = r.dynamic3;
    r.dynamic3 = {};
    r.dynamic3.sType = d.sType;
    r.dynamic3.pNext = d.pNext;
    r.dynamic3.extendedDynamicState3DepthClampEnable = d.extendedDynamicState3DepthClampEnable;
    r.dynamic3.extendedDynamicState3PolygonMode = d.extendedDynamicState3PolygonMode;
    r.dynamic3.extendedDynamicState3RasterizationSamples = d.extendedDynamicState3RasterizationSamples;
    r.dynamic3.extendedDynamicState3SampleMask = d.extendedDynamicState3SampleMask;
    r.dynamic3.extendedDynamicState3AlphaToCoverageEnable = d.extendedDynamicState3AlphaToCoverageEnable;
    r.dynamic3.extendedDynamicState3LogicOpEnable = d.extendedDynamicState3LogicOpEnable;
    r.dynamic3.extendedDynamicState3ColorBlendEnable = d.extendedDynamicState3ColorBlendEnable;
    r.dynamic3.extendedDynamicState3ColorBlendEquation = d.extendedDynamicState3ColorBlendEquation;
    r.dynamic3.extendedDynamicState3ColorWriteMask = d.extendedDynamicState3ColorWriteMask;
    // Unused parts of extensions: with shader objects their states would have to be set too.
    r.lines.rectangularLines = r.lines.smoothLines = VK_FALSE;
    r.lines.stippledRectangularLines = r.lines.stippledBresenhamLines = r.lines.stippledSmoothLines = VK_FALSE;
    r.provoking.transformFeedbackPreservesProvokingVertex = VK_FALSE;
}

std::set<std::string> extensions_of(VkPhysicalDevice device) {
    u32 count = 0;
    vkEnumerateDeviceExtensionProperties(device, nullptr, &count, nullptr);
    std::vector<VkExtensionProperties> list(count);
    vkEnumerateDeviceExtensionProperties(device, nullptr, &count, list.data());
    std::set<std::string> names;
    for (const auto& e : list)
        names.insert(e.extensionName);
    return names;
}

struct Properties {
    VkPhysicalDeviceProperties2 core{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, nullptr, {}};
    VkPhysicalDeviceVulkan11Properties v11{};
    VkPhysicalDeviceVulkan12Properties v12{};
    VkPhysicalDeviceVulkan13Properties v13{};
    VkPhysicalDeviceExternalMemoryHostPropertiesEXT host{};
    VkPhysicalDeviceShaderObjectPropertiesEXT shader_object{};
    VkPhysicalDeviceVertexAttributeDivisorPropertiesEXT divisor{};
    VkPhysicalDeviceTransformFeedbackPropertiesEXT transform_feedback{};
    VkPhysicalDeviceCustomBorderColorPropertiesEXT border{};
    VkPhysicalDeviceConservativeRasterizationPropertiesEXT conservative{};
};

template <class T>
void chain(Properties& p, T& structure, VkStructureType type) {
    structure.sType = type;
    structure.pNext = p.core.pNext;
    p.core.pNext = &structure;
}

void read_properties(VkPhysicalDevice device, const std::set<std::string>& extensions, Capabilities& c) {
    Properties p;
    chain(p, p.v11, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_PROPERTIES);
    chain(p, p.v12, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_PROPERTIES);
    chain(p, p.v13, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_PROPERTIES);
    if (extensions.contains("VK_EXT_external_memory_host"))
        chain(p, p.host, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_MEMORY_HOST_PROPERTIES_EXT);
    if (extensions.contains("VK_EXT_shader_object"))
        chain(p, p.shader_object, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_OBJECT_PROPERTIES_EXT);
    if (extensions.contains("VK_EXT_vertex_attribute_divisor"))
        chain(p, p.divisor, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VERTEX_ATTRIBUTE_DIVISOR_PROPERTIES_EXT);
    if (extensions.contains("VK_EXT_transform_feedback"))
        chain(p, p.transform_feedback, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_TRANSFORM_FEEDBACK_PROPERTIES_EXT);
    if (extensions.contains("VK_EXT_custom_border_color"))
        chain(p, p.border, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_CUSTOM_BORDER_COLOR_PROPERTIES_EXT);
    if (extensions.contains("VK_EXT_conservative_rasterization"))
        chain(p, p.conservative, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_CONSERVATIVE_RASTERIZATION_PROPERTIES_EXT);
    vkGetPhysicalDeviceProperties2(device, &p.core);

    const auto& core = p.core.properties;
    c.device_name = core.deviceName;
    c.driver_name = p.v12.driverName;
    c.driver_info = p.v12.driverInfo;
    c.api_version = core.apiVersion;
    c.vendor_id = core.vendorID;
    c.device_id = core.deviceID;
    c.cpu_device = core.deviceType == VK_PHYSICAL_DEVICE_TYPE_CPU;
    c.unified_memory = c.cpu_device || core.deviceType == VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU;
    c.indexed_banks_by_address = !c.cpu_device;
    c.unfused_multiply_add = c.drops_added_zeros = c.mixes_left_loops = c.cpu_device;
    c.denormal_modes = p.v12.shaderDenormFlushToZeroFloat32 && p.v12.shaderDenormPreserveFloat32 &&
                       p.v12.denormBehaviorIndependence != VK_SHADER_FLOAT_CONTROLS_INDEPENDENCE_NONE;
    c.subgroup_size = p.v11.subgroupSize;
    c.import_alignment = p.host.minImportedHostPointerAlignment;
    c.limits = core.limits;
    c.max_allocation = p.v11.maxMemoryAllocationSize;
    c.max_buffer = p.v13.maxBufferSize;
    c.max_vertex_attributes_divisor = p.divisor.maxVertexAttribDivisor;
    c.texel_buffer_alignment =
        std::max(p.v13.storageTexelBufferOffsetAlignmentBytes, p.v13.uniformTexelBufferOffsetAlignmentBytes);
    c.texel_buffer_single =
        p.v13.storageTexelBufferOffsetSingleTexelAlignment && p.v13.uniformTexelBufferOffsetSingleTexelAlignment;
    c.transform_feedback_buffers = p.transform_feedback.maxTransformFeedbackBuffers;
    c.draws_captured = p.transform_feedback.transformFeedbackDraw;
    c.max_custom_border_samplers = p.border.maxCustomBorderColorSamplers;
    c.max_dilation = p.conservative.maxExtraPrimitiveOverestimationSize;
    c.max_line_width = core.limits.lineWidthRange[1];
    const bool objects = extensions.contains("VK_EXT_shader_object");
    std::memcpy(c.shader_binary_uuid.data(), objects ? p.shader_object.shaderBinaryUUID : core.pipelineCacheUUID,
                VK_UUID_SIZE);
    c.shader_binary_version = objects ? p.shader_object.shaderBinaryVersion : core.driverVersion;

    // The heap's bindings are visible to all stages and share the per-stage and per-set limits.
    const u32 sampled = shader::dimension_count;
    const u32 storage = shader::heap::binding_count - shader::heap::first_storage - 2; // memory map, samplers
    const u32 kinds = shader::heap::sampler_binding_count;
    const u32 resources =
        std::min(p.v12.maxPerStageUpdateAfterBindResources, p.v12.maxUpdateAfterBindDescriptorsInAllPools);
    c.heap_samplers =
        std::min({shader::heap::sampler_capacity, p.v12.maxPerStageDescriptorUpdateAfterBindSamplers / kinds,
                  p.v12.maxDescriptorSetUpdateAfterBindSamplers / kinds});
    const u32 taken = c.heap_samplers * kinds + 64;
    const u32 rest = resources > taken ? resources - taken : 0;
    c.heap_textures =
        std::min({shader::heap::texture_capacity, p.v12.maxPerStageDescriptorUpdateAfterBindSampledImages / sampled,
                  p.v12.maxDescriptorSetUpdateAfterBindSampledImages / sampled,
                  p.v12.maxPerStageDescriptorUpdateAfterBindStorageImages / storage,
                  p.v12.maxDescriptorSetUpdateAfterBindStorageImages / storage, rest / (sampled + storage)});
}

} // namespace

std::span<const FeatureInfo> feature_table() {
    return infos;
}
const char* name(Feature feature) {
    return infos[static_cast<unsigned>(feature)].name;
}

Result<std::bitset<feature_count>> parse_features(std::string_view names) {
    std::bitset<feature_count> out;
    while (!names.empty()) {
        const auto comma = names.find(',');
        const std::string_view word = names.substr(0, comma);
        names = comma == std::string_view::npos ? std::string_view{} : names.substr(comma + 1);
        if (word.empty())
            continue;
        const auto row = std::find_if(infos.begin(), infos.end(), [&](const auto& i) { return word == i.name; });
        if (row == infos.end()) {
            std::string known;
            for (const auto& i : infos)
                known += known.empty() ? i.name : std::string(", ") + i.name;
            return fail("unknown feature '{}'; known are {}", word, known);
        }
        out.set(static_cast<unsigned>(row->feature));
    }
    return out;
}

std::vector<std::string> active_lowerings(const Capabilities& capabilities) {
    std::vector<std::string> lines;
    for (const auto& i : infos)
        if (!capabilities.has(i.feature))
            lines.push_back(fmt::format("{}: {}; lowering: {}", i.name,
                                        capabilities.supported[static_cast<unsigned>(i.feature)] ? "off by setting"
                                                                                                 : "not supported",
                                        i.lowering));
    return lines;
}

Result<Query> query_device(VkPhysicalDevice device, std::bitset<feature_count> disabled, bool presents) {
    VkPhysicalDeviceProperties basic;
    vkGetPhysicalDeviceProperties(device, &basic);
    if (basic.apiVersion < VK_API_VERSION_1_3)
        return fail("{}: Vulkan {}.{}, needs 1.3", basic.deviceName, VK_API_VERSION_MAJOR(basic.apiVersion),
                    VK_API_VERSION_MINOR(basic.apiVersion));
    const std::set<std::string> extensions = extensions_of(device);
    Query q;
    q.capabilities.disabled = disabled;
    read_properties(device, extensions, q.capabilities);
    q.request.reset(new DeviceRequest);
    DeviceRequest& r = *q.request;
    build_chain(r, [&](const char* n) { return extensions.contains(n); });
    vkGetPhysicalDeviceFeatures2(device, &r.core);

    for (const auto& need : required)
        if (!need.present(r))
            return fail("{}: lacks the feature {}", basic.deviceName, need.name);
    if (!extensions.contains("VK_KHR_push_descriptor"))
        return fail("{}: lacks VK_KHR_push_descriptor", basic.deviceName);
    q.extensions.push_back("VK_KHR_push_descriptor");
    const bool portability = extensions.contains("VK_KHR_portability_subset");
    if (portability)
        q.extensions.push_back("VK_KHR_portability_subset");
    if (presents && !extensions.contains("VK_KHR_swapchain"))
        return fail("{}: lacks VK_KHR_swapchain", basic.deviceName);
    if (presents)
        q.extensions.push_back("VK_KHR_swapchain");

    std::set<std::string> used;
    for (const auto& row : rows) {
        const unsigned index = static_cast<unsigned>(row.info.feature);
        bool present = !row.info.extension || extensions.contains(row.info.extension);
        const Bits bits = row.bits ? row.bits(r) : Bits{};
        for (const VkBool32* bit : bits)
            present = present && *bit;
        if (row.info.feature == Feature::TriangleFans)
            present = !portability;
        if (row.info.feature == Feature::ExternalMemoryHost)
            present = present && q.capabilities.import_alignment != 0;
        q.capabilities.supported.set(index, present);
    }
    if (!q.capabilities.has(Feature::CustomBorderColor)) // the swizzle's extension stands on it
        q.capabilities.supported.reset(static_cast<unsigned>(Feature::BorderColorSwizzle));
    for (const auto& row : rows) {
        if (!q.capabilities.has(row.info.feature)) {
            for (VkBool32* bit : row.bits ? row.bits(r) : Bits{})
                *bit = VK_FALSE;
        } else if (row.info.extension && used.insert(row.info.extension).second) {
            q.extensions.push_back(row.info.extension);
        }
    }
    if (!q.capabilities.has(Feature::ExternalMemoryHost))
        q.capabilities.import_alignment = 0;
    r.core.features.robustBufferAccess = VK_TRUE;
    if (q.capabilities.has(Feature::AttachmentFeedback))
        q.extensions.push_back("VK_EXT_attachment_feedback_loop_dynamic_state");
    drop_unused(r);
    // Structures of extensions that are not enabled must not be in the chain.
    const std::set<std::string> enabled(q.extensions.begin(), q.extensions.end());
    build_chain(r, [&](const char* n) { return enabled.contains(n); });
    return q;
}

} // namespace heaviside::gpu
