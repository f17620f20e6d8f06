// What a queue's stream has set: the guest's own terms, as records carry them. Defaults are NVN's.
#pragma once

#include "gpu/memory.h"
#include "stream/records.h"
#include "stream/sink.h"

#include <array>
#include <memory>

namespace heaviside::replay {

class Counters;

inline constexpr u32 uniform_slots = 32, storage_slots = 32, texture_slots = 32, separate_texture_slots = 128,
                     separate_sampler_slots = 32, image_slots = 8, vertex_slots = 16;
inline constexpr u32 empty_handle = ~0u;

struct Range {
    u64 address = 0, size = 0;
    friend bool operator==(const Range&, const Range&) = default;
};

// Which groups changed since the last draw or dispatch looked.
namespace dirty {
enum Bits : u32 {
    vertex_input = 1u << 0, // attributes, streams
    vertex_buffers = 1u << 1,
    viewports = 1u << 2,
    scissors = 1u << 3,
    raster = 1u << 4,
    depth_bias = 1u << 5,
    depth = 1u << 6,
    stencil = 1u << 7,
    blend = 1u << 8,
    blend_color = 1u << 9,
    multisample = 1u << 10,
    programs = 1u << 11,
    targets = 1u << 12,
    handles = 1u << 13, // texture, sampler, image handles and pools
    uniforms = 1u << 14,
    storage = 1u << 15,
    assembly = 1u << 16,
    all = ~0u
};
} // namespace dirty

struct StageBindings {
    stream::ProgramId program = 0;
    std::array<Range, uniform_slots> uniforms{};
    std::array<Range, storage_slots> storage{};
    std::array<u32, texture_slots> textures;
    std::array<u32, separate_texture_slots> separate_textures;
    std::array<u32, separate_sampler_slots> separate_samplers;
    std::array<u32, image_slots> images;
    StageBindings() {
        textures.fill(empty_handle);
        separate_textures.fill(empty_handle);
        separate_samplers.fill(empty_handle);
        images.fill(empty_handle);
    }
};

struct StencilValues {
    u8 reference = 0, write_mask = 0xff, compare_mask = 0xff;
};

struct GuestState {
    GuestState();

    std::array<stream::BlendState, stream::color_target_count> blend{};
    stream::ColorState color{};
    stream::ChannelMaskState channel_mask{};
    stream::DepthStencilState depth_stencil{};
    stream::PolygonState polygon{};
    stream::MultisampleState multisample{};
    std::array<stream::VertexAttribState, 16> attributes{};
    u32 attribute_count = 0;
    std::array<stream::VertexStreamState, vertex_slots> streams{};
    std::array<Range, vertex_slots> vertex_buffers{};
    std::array<Range, 4> feedback_buffers{};
    std::array<StageBindings, stream::stage_count> stages;
    stream::PoolId texture_pool = 0, sampler_pool = 0;

    std::array<stream::ImageDescription, stream::color_target_count + 1> targets{}; // the last one is depth-stencil
    u16 targets_present = 0;

    std::array<stream::Viewport, stream::viewport_count> viewports{}; // empty: the whole target
    std::array<stream::Scissor, stream::viewport_count> scissors{};
    std::array<stream::DepthRange, stream::viewport_count> depth_ranges{};
    std::array<stream::ViewportSwizzle, stream::viewport_count> swizzles{};

    std::array<f32, 4> blend_color{};
    f32 alpha_reference = 0;
    StencilValues front, back;
    f32 line_width = 1, point_size = 1;
    f32 offset_factor = 0, offset_units = 0, offset_clamp = 0;
    bool primitive_restart = false;
    u32 restart_index = ~0u;
    bool provoking_last = true;
    bool depth_bounds = false;
    f32 depth_bounds_min = 0, depth_bounds_max = 1;
    bool depth_clamp = false;
    bool rasterizer_discard = false;
    u32 sample_mask = ~0u;
    bool conservative = false;
    f32 conservative_dilation = 0; // pixels
    std::array<i16, 2> precision_bias{};
    u32 patch_size = 3;
    std::array<f32, 2> inner_levels{1, 1};
    std::array<f32, 4> outer_levels{1, 1, 1, 1};
    bool render_enable = true;
    gpu::BufferSlice condition{};       // of conditional rendering, null: none
    std::shared_ptr<Counters> counters; // null: none was asked for
    struct Feedback {
        bool active = false;
        bool fresh = false; // begun, and nothing captured yet: the control memory does not say 0 before the first draw
        u64 control = 0;
    } feedback;

    stream::DeviceModes modes{}; // of the running submission
    u8 queue_origin = 0;         // NVNwindowOriginMode that facing follows
    u32 dirty = dirty::all;
};

} // namespace heaviside::replay
