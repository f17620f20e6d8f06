// Which groups of a command buffer's state differ from what it was last told; inside gpu/ only.
#pragma once

#include "base/types.h"

namespace heaviside::gpu::dirty {

inline constexpr u32 vertex_input = 1 << 0, assembly = 1 << 1, viewports = 1 << 2, scissors = 1 << 3, raster = 1 << 4,
                     depth_bias = 1 << 5, depth = 1 << 6, stencil = 1 << 7, blend = 1 << 8, blend_constants = 1 << 9,
                     multisample = 1 << 10, shaders = 1 << 11, compute_shader = 1 << 12, streams = 1 << 13,
                     index = 1 << 14, feedback = 1 << 15, once = 1 << 16, pass_formats = 1 << 17;
inline constexpr u32 all = (1 << 18) - 1;
// What a pipeline can hold instead of the command buffer.
inline constexpr u32 pipeline = vertex_input | assembly | raster | blend | multisample | shaders | pass_formats | depth;

} // namespace heaviside::gpu::dirty
