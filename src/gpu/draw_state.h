// Everything a draw depends on besides shaders and memory, in groups that change together. Plain data; equality decides
// what is emitted again. Defaults are NVN's initial state where it has one.
#pragma once

#include "gpu/vulkan.h"

#include "base/types.h"

#include <array>

namespace heaviside::gpu {

inline constexpr u32 max_attributes = 16, max_streams = 16, max_viewports = 16, max_targets = 8;

// Groups are compared by their bytes (all members are four bytes wide: no padding).
struct VertexInput {
    struct Attribute {
        u32 location, stream;
        VkFormat format;
        u32 offset; // bytes
    };
    struct Stream {
        u32 stride;  // bytes
        u32 divisor; // 0: per vertex; n: advances every n instances (VertexDivisor where n > 1)
    };
    std::array<Attribute, max_attributes> attributes{};
    std::array<Stream, max_streams> streams{};
    u32 attribute_count = 0;
    u32 stream_count = 0; // streams 0 .. stream_count - 1 are described
};
struct InputAssembly {
    VkPrimitiveTopology topology = VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST;
    VkBool32 restart = VK_FALSE;
    u32 patch_vertices = 3;
    VkTessellationDomainOrigin domain_origin = VK_TESSELLATION_DOMAIN_ORIGIN_UPPER_LEFT;
};
constexpr std::array<VkViewportSwizzleNV, max_viewports> identity_swizzles() {
    std::array<VkViewportSwizzleNV, max_viewports> all{};
    for (auto& s : all)
        s = {VK_VIEWPORT_COORDINATE_SWIZZLE_POSITIVE_X_NV, VK_VIEWPORT_COORDINATE_SWIZZLE_POSITIVE_Y_NV,
             VK_VIEWPORT_COORDINATE_SWIZZLE_POSITIVE_Z_NV, VK_VIEWPORT_COORDINATE_SWIZZLE_POSITIVE_W_NV};
    return all;
}
struct Viewports {
    std::array<VkViewport, max_viewports> viewports{};
    std::array<VkViewportSwizzleNV, max_viewports> swizzles = identity_swizzles(); // used with ViewportSwizzle
    u32 count = 1;
};
struct Scissors {
    std::array<VkRect2D, max_viewports> scissors{};
    u32 count = 1; // must equal the viewports' when drawing
};
struct Raster {
    VkBool32 discard = VK_FALSE;
    VkPolygonMode polygon = VK_POLYGON_MODE_FILL;
    VkCullModeFlags cull = VK_CULL_MODE_NONE;
    VkFrontFace front = VK_FRONT_FACE_COUNTER_CLOCKWISE;
    VkBool32 depth_clamp = VK_FALSE;
    VkBool32 depth_clip = VK_TRUE;
    VkBool32 negative_one_to_one = VK_FALSE; // clip space z of OpenGL
    VkBool32 provoking_last = VK_FALSE;
    VkBool32 conservative = VK_FALSE;
    f32 dilation = 0; // of conservative rasterization, pixels beyond its own; at most max_dilation
    f32 line_width = 1;
};
struct DepthBias {
    VkBool32 enable = VK_FALSE;
    f32 constant = 0, clamp = 0, slope = 0;
};
struct Depth {
    VkBool32 test = VK_FALSE;
    VkBool32 write = VK_FALSE;
    VkCompareOp compare = VK_COMPARE_OP_LESS;
    VkBool32 bounds_test = VK_FALSE;
    f32 bounds_min = 0, bounds_max = 1;
};
struct StencilFace {
    VkStencilOp fail = VK_STENCIL_OP_KEEP, pass = VK_STENCIL_OP_KEEP, depth_fail = VK_STENCIL_OP_KEEP;
    VkCompareOp compare = VK_COMPARE_OP_ALWAYS;
    u32 compare_mask = 0xff, write_mask = 0xff, reference = 0;
};
struct Stencil {
    VkBool32 test = VK_FALSE;
    StencilFace front, back;
};
struct BlendTarget {
    VkBool32 enable = VK_FALSE;
    VkColorBlendEquationEXT equation{VK_BLEND_FACTOR_ONE, VK_BLEND_FACTOR_ZERO, VK_BLEND_OP_ADD,
                                     VK_BLEND_FACTOR_ONE, VK_BLEND_FACTOR_ZERO, VK_BLEND_OP_ADD};
    VkColorComponentFlags write_mask = 0xf;
};
struct Blend {
    std::array<BlendTarget, max_targets> targets{};
    VkBool32 logic = VK_FALSE;
    VkLogicOp logic_op = VK_LOGIC_OP_COPY;
};
struct BlendConstants {
    std::array<f32, 4> color{};
};
struct Multisample {
    VkSampleCountFlagBits samples = VK_SAMPLE_COUNT_1_BIT; // must be the pass's
    VkSampleMask mask = ~0u;
    VkBool32 alpha_to_coverage = VK_FALSE;
    VkBool32 alpha_to_one = VK_FALSE;
};

struct DrawState {
    VertexInput vertex_input;
    InputAssembly assembly;
    Viewports viewports;
    Scissors scissors;
    Raster raster;
    DepthBias depth_bias;
    Depth depth;
    Stencil stencil;
    Blend blend;
    BlendConstants blend_constants;
    Multisample multisample;
};

} // namespace heaviside::gpu
