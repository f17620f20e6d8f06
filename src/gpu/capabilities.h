// What a Vulkan device has, by name, and what the house does where it lacks something.
//
// Every feature that some Vulkan 1.3 device lacks is one row of a table: a name, what the device must report and what
// is done instead. A setting (HEAVISIDE_DISABLE=shader_object,geometry) switches features off as if the device had
// none, so that every lowering can be tested on every device. A feature that is off is also not enabled at the device.
#pragma once

#include "base/result.h"
#include "base/types.h"
#include "gpu/vulkan.h"

#include <bitset>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace heaviside::gpu {

enum class Feature : u8 {
    ShaderObject,
    ExtendedDynamicState3,
    VertexInputDynamicState,
    ExternalMemoryHost,
    RobustAccess2,
    NullDescriptor,
    ShaderInt64,
    Maintenance5,
    IndexTypeUint8,
    DepthClipControl,
    DepthClipEnable,
    DepthClamp,
    DepthBounds,
    DepthRangeUnrestricted,
    DepthBiasClamp,
    Geometry,
    Tessellation,
    TransformFeedback,
    GeometryStreams,
    FillModes,
    WideLines,
    LargePoints,
    LineRasterization,
    ProvokingVertexLast,
    ConservativeRasterization,
    TriangleFans,
    ListRestart,
    VertexDivisor,
    VertexDivisorZero,
    MultiViewport,
    ViewportSwizzle,
    ViewportIndexLayer,
    ClipDistance,
    CullDistance,
    LogicOp,
    DualSourceBlend,
    IndependentBlend,
    AlphaToOne,
    StencilExport,
    SampleShading,
    SampleLocations,
    PostDepthCoverage,
    FragmentInterlock,
    FragmentStores,
    VertexStores,
    AttachmentFeedback,
    LocalRead,
    Anisotropy,
    CustomBorderColor,
    BorderColorSwizzle,
    SamplerMinMax,
    MirrorClampToEdge,
    NonSeamlessCubes,
    CubeArrays,
    View2dOf3d,
    ImageViewMinLod,
    Astc,
    Bc,
    StorageWithoutFormat,
    MultisampledStorage,
    ImageGatherExtended,
    ShaderInt16,
    ShaderFloat16,
    ShaderFloat64,
    ShaderInt8,
    AtomicInt64,
    AtomicFloat32,
    AtomicFloat16Vector,
    DrawIndirectCount,
    MultiDrawIndirect,
    ConditionalRendering,
    PipelineStatistics,
    PreciseOcclusion,
    CalibratedTimestamps,
    TexelBufferAlignment,
    PackedRedLow,
    ScaledVertices,
    HostImageCopy,
    MemoryBudget,
    Count
};
inline constexpr unsigned feature_count = static_cast<unsigned>(Feature::Count);

struct FeatureInfo {
    Feature feature;
    const char* name;      // as in HEAVISIDE_DISABLE and `heaviside info`
    const char* extension; // nullptr: core
    const char* lowering;  // what is done without it
};

[[nodiscard]] std::span<const FeatureInfo> feature_table(); // in the enum's order
[[nodiscard]] const char* name(Feature feature);

// Immutable once the device exists. Any thread.
struct Capabilities {
    std::bitset<feature_count> supported; // by the device
    std::bitset<feature_count> disabled;  // by the setting
    [[nodiscard]] bool has(Feature f) const {
        return supported[static_cast<unsigned>(f)] && !disabled[static_cast<unsigned>(f)];
    }

    std::string device_name, driver_name, driver_info;
    u32 api_version = 0, vendor_id = 0, device_id = 0;
    bool cpu_device = false;     // shaders run on the CPU: uniform buffers serve all banks, de-tiling on the CPU
    bool unified_memory = false; // no faster device-local memory beside the host's
    bool indexed_banks_by_address = false; // goes into shader::Options
    bool denormal_modes = false;           // goes into shader::Options
    bool unfused_multiply_add = false;     // so do these: faults of lavapipe, taken for those of all CPU devices
    bool drops_added_zeros = false;
    bool mixes_left_loops = false;
    u32 subgroup_size = 32;
    u32 heap_textures =
        0; // IDs per image binding of the heap: shader::heap::texture_capacity or what the device allows
    u32 heap_samplers = 0;    // IDs of the sampler binding
    u64 import_alignment = 0; // bytes; 0: no import
    VkPhysicalDeviceLimits limits{};
    u64 max_allocation = 0; // bytes in one VkDeviceMemory
    u64 max_buffer = 0;
    u32 max_vertex_attributes_divisor = 0;
    // Where texel buffers may begin: multiples of this many bytes, or of a texel (a component of three-component
    // formats) if that is less and `texel_buffer_single`.
    u64 texel_buffer_alignment = 1;
    bool texel_buffer_single = false;
    u32 transform_feedback_buffers = 0;
    bool draws_captured = false; // vkCmdDrawIndirectByteCountEXT
    u32 max_custom_border_samplers = 0;
    f32 max_line_width = 1;
    f32 max_dilation = 0;                              // of conservative rasterization, pixels
    std::array<u8, VK_UUID_SIZE> shader_binary_uuid{}; // of shader object binaries; of the driver without them
    u32 shader_binary_version = 0;
};

// One line per feature that is not there: "geometry: off by setting; lowering: ...". For `heaviside info`.
[[nodiscard]] std::vector<std::string> active_lowerings(const Capabilities& capabilities);

// Names of HEAVISIDE_DISABLE's form: "a,b". An unknown name is an error that lists the known ones.
[[nodiscard]] Result<std::bitset<feature_count>> parse_features(std::string_view names);

// The structures for vkCreateDevice, kept together: `features` heads the chain.
struct DeviceRequest;
struct DeviceRequestDeleter {
    void operator()(DeviceRequest*) const;
};
using DeviceRequestPointer = std::unique_ptr<DeviceRequest, DeviceRequestDeleter>;

// Queries a physical device; `presents`: with swapchains. Fails with the missing feature's name if the device cannot
// serve at all.
struct Query {
    Capabilities capabilities;
    std::vector<const char*> extensions; // to enable
    DeviceRequestPointer request;        // to enable
};
[[nodiscard]] Result<Query> query_device(VkPhysicalDevice device, std::bitset<feature_count> disabled, bool presents);
[[nodiscard]] const VkPhysicalDeviceFeatures2& enabled_features(const DeviceRequest& request);

} // namespace heaviside::gpu
