// The small state objects, bit by bit. An application's NVNblendState and friends hold exactly these bits (nvn/ writes
// them, records copy them, replay/ and capture/ read them), so that binding one is a copy and equal state is equal
// bytes. Field values are the NVN enums' values. Unused bits are 0.
#pragma once

#include "base/types.h"

#include <type_traits>

namespace heaviside::stream {

struct BlendState {
    u32 target : 3;       // colour target this applies to; whether it blends at all is ColorState::blend_enable
    u32 source_color : 7; // NVNblendFunc
    u32 dest_color : 7;
    u32 color_equation : 3; // NVNblendEquation
    u32 alpha_equation : 3;
    u32 advanced_overlap : 2; // NVNblendAdvancedOverlap
    u32 advanced_premultiplied_source : 1;
    u32 advanced_normalized_dest : 1;
    u32 pad0 : 5;
    u32 source_alpha : 7;
    u32 dest_alpha : 7;
    u32 advanced_mode : 6; // NVNblendAdvancedMode; 0: the functions and equations above
    u32 pad1 : 12;
};
static_assert(sizeof(BlendState) == 8);

struct ColorState {
    u32 blend_enable : 8; // bit per colour target
    u32 logic_op : 4;     // NVNlogicOp; COPY: off
    u32 alpha_func : 4;   // NVNalphaFunc; ALWAYS: off
    u32 pad : 16;
};
static_assert(sizeof(ColorState) == 4);

struct ChannelMaskState {
    u32 masks; // four bits per colour target, target 0 lowest: 1 red, 2 green, 4 blue, 8 alpha
};
static_assert(sizeof(ChannelMaskState) == 4);

struct DepthStencilState {
    u32 depth_test : 1;
    u32 depth_write : 1;
    u32 stencil_test : 1;
    u32 depth_func : 4; // NVNdepthFunc
    u32 pad : 25;
    u32 front_func : 4; // NVNstencilFunc
    u32 front_fail : 4; // NVNstencilOp
    u32 front_depth_fail : 4;
    u32 front_depth_pass : 4;
    u32 back_func : 4;
    u32 back_fail : 4;
    u32 back_depth_fail : 4;
    u32 back_depth_pass : 4;
};
static_assert(sizeof(DepthStencilState) == 8);

struct PolygonState {
    u32 cull_face : 2;      // NVNface
    u32 front_face : 1;     // NVNfrontFace
    u32 polygon_mode : 2;   // NVNpolygonMode
    u32 offset_enables : 3; // NVNpolygonOffsetEnable bits
    u32 pad : 24;
};
static_assert(sizeof(PolygonState) == 4);

struct MultisampleState {
    u32 multisample_enable : 1;
    u32 samples : 5;        // 0 and 1: single sampled
    u32 raster_samples : 5; // 0: as samples
    u32 alpha_to_coverage : 1;
    u32 alpha_to_coverage_dither : 1;
    u32 coverage_to_color : 1;
    u32 coverage_to_color_output : 3;
    u32 coverage_modulation : 2; // NVNcoverageModulationMode
    u32 sample_locations_enable : 1;
    u32 sample_locations_grid : 1;
    u32 pad0 : 11;
    u8 locations[16]; // x in bits 0-3, y in bits 4-7, in sixteenths of a pixel; the hardware stores no more
    u32 pad1;
};
static_assert(sizeof(MultisampleState) == 24);

struct VertexAttribState {
    u32 format : 8; // NVNformat; 0: the attribute is not fetched and reads (0, 0, 0, 1)
    u32 stream : 4;
    u32 offset : 14; // bytes from the start of the vertex
    u32 pad : 6;
};
static_assert(sizeof(VertexAttribState) == 4);

struct VertexStreamState {
    u32 stride;  // bytes
    u32 divisor; // 0: per vertex
};
static_assert(sizeof(VertexStreamState) == 8);

} // namespace heaviside::stream
