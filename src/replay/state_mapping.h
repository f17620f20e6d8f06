// From the guest's state to what gpu/ emits: pure functions, one for each group of gpu::DrawState.
#pragma once

#include "gpu/descriptor_heap.h"
#include "gpu/draw_state.h"
#include "replay/formats.h"
#include "replay/guest_state.h"

namespace heaviside::replay {

// NVNwindowOriginMode, NVNdepthMode
inline constexpr u8 origin_lower_left = 0, origin_upper_left = 1;
inline constexpr u8 depth_near_is_minus_w = 0, depth_near_is_zero = 1;

[[nodiscard]] VkCompareOp compare_op(u32 nvn_func); // 1 never .. 8 always; others: always
[[nodiscard]] VkBlendFactor blend_factor(u32 nvn_func);
[[nodiscard]] VkBlendOp blend_op(u32 nvn_equation);
[[nodiscard]] VkStencilOp stencil_op(u32 nvn_op);

// A primitive of the guest and how Vulkan draws it.
enum class Lowering : u8 { None, QuadList, LineLoop, TriangleFan, Polygon }; // fans only where the device has none
struct Primitive {
    VkPrimitiveTopology topology;
    Lowering lowering;
};
[[nodiscard]] Primitive primitive(u32 nvn_primitive, bool device_has_fans);

// `extent`: of the pass. The rectangles are in memory rows in either origin; only the direction inside the viewport
// depends on it (ledger REN-102).
[[nodiscard]] gpu::Viewports viewports(const GuestState& state, VkExtent2D extent, bool device_swizzles = false);
// As the hardware's register: four bits a component, x lowest. Identity is 0x6420.
inline constexpr u16 identity_swizzle = 0x6420, flipped_swizzle = 0x6430;
[[nodiscard]] u16 swizzle_bits(const stream::ViewportSwizzle& swizzle);
[[nodiscard]] gpu::Scissors scissors(const GuestState& state, VkExtent2D extent);
[[nodiscard]] VkRect2D scissor(const stream::Scissor& s, VkExtent2D extent);
[[nodiscard]] gpu::Raster raster(const GuestState& state, const gpu::Device& device);
[[nodiscard]] gpu::DepthBias depth_bias(const GuestState& state);
// Tests on an aspect that is not attached pass and write nothing.
[[nodiscard]] gpu::Depth depth(const GuestState& state, bool has_depth);
[[nodiscard]] gpu::Stencil stencil(const GuestState& state, bool has_stencil);
// outputs: bit n, the fragment program writes colour n; targets it does not write keep their content (REN-112).
[[nodiscard]] gpu::Blend blend(const GuestState& state, u64 outputs);
[[nodiscard]] gpu::Multisample multisample(const GuestState& state, VkSampleCountFlagBits pass_samples,
                                           u32 guest_samples);
// Streams that the attributes at these locations name, a bit each. Others may have ranges bound that are long gone.
[[nodiscard]] u32 used_streams(const GuestState& state, u32 locations_read);
// Locations that are read but not fetched read (0, 0, 0, 1), through a stream that no attribute names: the caller binds
// nothing there. Attributes that the device cannot fetch are among them, with one error line.
[[nodiscard]] gpu::VertexInput vertex_input(const GuestState& state, const Formats& formats, u32 locations_read);
[[nodiscard]] gpu::SamplerDescription sampler(const stream::SamplerDescription& guest);

} // namespace heaviside::replay
