#include "replay/state_mapping.h"

#include "base/log.h"
#include "stream/border.h"

#include <algorithm>
#include <bit>

namespace heaviside::replay {
namespace {

// Indexed by the NVN enums' values; 0 is no value of theirs.
constexpr VkCompareOp compare_ops[] = {
    VK_COMPARE_OP_ALWAYS,        VK_COMPARE_OP_NEVER,   VK_COMPARE_OP_LESS,      VK_COMPARE_OP_EQUAL,
    VK_COMPARE_OP_LESS_OR_EQUAL, VK_COMPARE_OP_GREATER, VK_COMPARE_OP_NOT_EQUAL, VK_COMPARE_OP_GREATER_OR_EQUAL,
    VK_COMPARE_OP_ALWAYS};
constexpr VkStencilOp stencil_ops[] = {VK_STENCIL_OP_KEEP,
                                       VK_STENCIL_OP_KEEP,
                                       VK_STENCIL_OP_ZERO,
                                       VK_STENCIL_OP_REPLACE,
                                       VK_STENCIL_OP_INCREMENT_AND_CLAMP,
                                       VK_STENCIL_OP_DECREMENT_AND_CLAMP,
                                       VK_STENCIL_OP_INVERT,
                                       VK_STENCIL_OP_INCREMENT_AND_WRAP,
                                       VK_STENCIL_OP_DECREMENT_AND_WRAP};
constexpr VkBlendOp blend_ops[] = {VK_BLEND_OP_ADD, VK_BLEND_OP_ADD, VK_BLEND_OP_SUBTRACT, VK_BLEND_OP_REVERSE_SUBTRACT,
                                   VK_BLEND_OP_MIN, VK_BLEND_OP_MAX};
constexpr VkLogicOp logic_ops[] = {
    VK_LOGIC_OP_CLEAR,         VK_LOGIC_OP_AND,         VK_LOGIC_OP_AND_REVERSE, VK_LOGIC_OP_COPY,
    VK_LOGIC_OP_AND_INVERTED,  VK_LOGIC_OP_NO_OP,       VK_LOGIC_OP_XOR,         VK_LOGIC_OP_OR,
    VK_LOGIC_OP_NOR,           VK_LOGIC_OP_EQUIVALENT,  VK_LOGIC_OP_INVERT,      VK_LOGIC_OP_OR_REVERSE,
    VK_LOGIC_OP_COPY_INVERTED, VK_LOGIC_OP_OR_INVERTED, VK_LOGIC_OP_NAND,        VK_LOGIC_OP_SET};
constexpr u32 logic_copy = 3;

struct FactorRow {
    u32 nvn;
    VkBlendFactor factor;
};
constexpr FactorRow blend_factors[] = {
    {0x01, VK_BLEND_FACTOR_ZERO},
    {0x02, VK_BLEND_FACTOR_ONE},
    {0x03, VK_BLEND_FACTOR_SRC_COLOR},
    {0x04, VK_BLEND_FACTOR_ONE_MINUS_SRC_COLOR},
    {0x05, VK_BLEND_FACTOR_SRC_ALPHA},
    {0x06, VK_BLEND_FACTOR_ONE_MINUS_SRC_ALPHA},
    {0x07, VK_BLEND_FACTOR_DST_ALPHA},
    {0x08, VK_BLEND_FACTOR_ONE_MINUS_DST_ALPHA},
    {0x09, VK_BLEND_FACTOR_DST_COLOR},
    {0x0a, VK_BLEND_FACTOR_ONE_MINUS_DST_COLOR},
    {0x0b, VK_BLEND_FACTOR_SRC_ALPHA_SATURATE},
    {0x10, VK_BLEND_FACTOR_SRC1_COLOR},
    {0x11, VK_BLEND_FACTOR_ONE_MINUS_SRC1_COLOR},
    {0x12, VK_BLEND_FACTOR_SRC1_ALPHA},
    {0x13, VK_BLEND_FACTOR_ONE_MINUS_SRC1_ALPHA},
    {0x61, VK_BLEND_FACTOR_CONSTANT_COLOR},
    {0x62, VK_BLEND_FACTOR_ONE_MINUS_CONSTANT_COLOR},
    {0x63, VK_BLEND_FACTOR_CONSTANT_ALPHA},
    {0x64, VK_BLEND_FACTOR_ONE_MINUS_CONSTANT_ALPHA},
};

// A second source that the program does not write counts as zero (REN-214).
VkBlendFactor without_second_source(VkBlendFactor f) {
    if (f == VK_BLEND_FACTOR_SRC1_COLOR || f == VK_BLEND_FACTOR_SRC1_ALPHA)
        return VK_BLEND_FACTOR_ZERO;
    if (f == VK_BLEND_FACTOR_ONE_MINUS_SRC1_COLOR || f == VK_BLEND_FACTOR_ONE_MINUS_SRC1_ALPHA)
        return VK_BLEND_FACTOR_ONE;
    return f;
}

bool is_second_source(VkBlendFactor f) {
    return f != without_second_source(f);
}

// Porter-Duff modes on premultiplied colour as fixed factors (REN-120), from NVNblendAdvancedMode 5 on.
struct AdvancedRow {
    VkBlendFactor source, dest;
};
constexpr AdvancedRow advanced_modes[] = {
    {VK_BLEND_FACTOR_ZERO, VK_BLEND_FACTOR_ZERO},                               // ZERO
    {VK_BLEND_FACTOR_ONE, VK_BLEND_FACTOR_ZERO},                                // SRC
    {VK_BLEND_FACTOR_ZERO, VK_BLEND_FACTOR_ONE},                                // DST
    {VK_BLEND_FACTOR_ONE, VK_BLEND_FACTOR_ONE_MINUS_SRC_ALPHA},                 // SRC_OVER
    {VK_BLEND_FACTOR_ONE_MINUS_DST_ALPHA, VK_BLEND_FACTOR_ONE},                 // DST_OVER
    {VK_BLEND_FACTOR_DST_ALPHA, VK_BLEND_FACTOR_ZERO},                          // SRC_IN
    {VK_BLEND_FACTOR_ZERO, VK_BLEND_FACTOR_SRC_ALPHA},                          // DST_IN
    {VK_BLEND_FACTOR_ONE_MINUS_DST_ALPHA, VK_BLEND_FACTOR_ZERO},                // SRC_OUT
    {VK_BLEND_FACTOR_ZERO, VK_BLEND_FACTOR_ONE_MINUS_SRC_ALPHA},                // DST_OUT
    {VK_BLEND_FACTOR_DST_ALPHA, VK_BLEND_FACTOR_ONE_MINUS_SRC_ALPHA},           // SRC_ATOP
    {VK_BLEND_FACTOR_ONE_MINUS_DST_ALPHA, VK_BLEND_FACTOR_SRC_ALPHA},           // DST_ATOP
    {VK_BLEND_FACTOR_ONE_MINUS_DST_ALPHA, VK_BLEND_FACTOR_ONE_MINUS_SRC_ALPHA}, // XOR
    {VK_BLEND_FACTOR_ONE, VK_BLEND_FACTOR_ONE},                                 // PLUS
    {VK_BLEND_FACTOR_ONE, VK_BLEND_FACTOR_ONE},                                 // PLUS_CLAMPED
};

void apply_advanced(const stream::BlendState& b, VkColorBlendEquationEXT& e) {
    const u32 index = b.advanced_mode - 5u;
    if (b.advanced_mode < 5 || index >= std::size(advanced_modes) || b.advanced_overlap != 0) {
        log::error_once(
            "advanced blend mode {:#x} with overlap {} is not built yet: the state's own functions are used",
            u32{b.advanced_mode}, u32{b.advanced_overlap});
        return;
    }
    const AdvancedRow row = advanced_modes[index];
    e = {row.source, row.dest, VK_BLEND_OP_ADD, row.source, row.dest, VK_BLEND_OP_ADD};
    if (!b.advanced_premultiplied_source && row.source == VK_BLEND_FACTOR_ONE)
        e.srcColorBlendFactor = VK_BLEND_FACTOR_SRC_ALPHA;
}

// The channel mask's bits are Vulkan's.
static_assert(VK_COLOR_COMPONENT_R_BIT == 1 && VK_COLOR_COMPONENT_A_BIT == 8);

gpu::StencilFace stencil_face(u32 func, u32 fail, u32 depth_fail, u32 pass, const StencilValues& v) {
    return {.fail = stencil_op(fail),
            .pass = stencil_op(pass),
            .depth_fail = stencil_op(depth_fail),
            .compare = compare_op(func),
            .compare_mask = v.compare_mask,
            .write_mask = v.write_mask,
            .reference = v.reference};
}

VkSamplerAddressMode wrap(u8 mode) {
    constexpr VkSamplerAddressMode modes[] = {
        VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_EDGE, // CLAMP: half edge, half border, which no other API has
        VK_SAMPLER_ADDRESS_MODE_REPEAT,
        VK_SAMPLER_ADDRESS_MODE_MIRROR_CLAMP_TO_EDGE,
        VK_SAMPLER_ADDRESS_MODE_MIRROR_CLAMP_TO_EDGE,
        VK_SAMPLER_ADDRESS_MODE_MIRROR_CLAMP_TO_EDGE, // to border: Vulkan has no such mode
        VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_BORDER,
        VK_SAMPLER_ADDRESS_MODE_MIRRORED_REPEAT,
        VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_EDGE};
    return mode < std::size(modes) ? modes[mode] : VK_SAMPLER_ADDRESS_MODE_REPEAT;
}

} // namespace

GuestState::GuestState() {
    for (u32 i = 0; i < stream::color_target_count; ++i) {
        blend[i].target = i & 7;
        blend[i].source_color = blend[i].source_alpha = 2; // ONE
        blend[i].dest_color = blend[i].dest_alpha = 1;     // ZERO
        blend[i].color_equation = blend[i].alpha_equation = 1;
    }
    color.logic_op = logic_copy;
    color.alpha_func = 8; // ALWAYS
    channel_mask.masks = ~0u;
    depth_stencil.depth_func = 2; // LESS
    depth_stencil.depth_write = 1;
    depth_stencil.front_func = depth_stencil.back_func = 8;
    depth_stencil.front_fail = depth_stencil.front_depth_fail = depth_stencil.front_depth_pass = 1;
    depth_stencil.back_fail = depth_stencil.back_depth_fail = depth_stencil.back_depth_pass = 1;
    multisample.multisample_enable = 1;
    polygon.front_face = 1;   // CCW
    polygon.polygon_mode = 2; // FILL
    for (auto& s : scissors)
        s = {0, 0, 0x7fffffff, 0x7fffffff};
    for (auto& r : depth_ranges)
        r = {0, 1};
    for (auto& s : swizzles)
        s = {0, 2, 4, 6}; // +x, +y, +z, +w
}

VkCompareOp compare_op(u32 func) {
    return compare_ops[func < std::size(compare_ops) ? func : 0];
}

VkStencilOp stencil_op(u32 op) {
    return stencil_ops[op < std::size(stencil_ops) ? op : 0];
}

VkBlendOp blend_op(u32 equation) {
    return blend_ops[equation < std::size(blend_ops) ? equation : 0];
}

VkBlendFactor blend_factor(u32 func) {
    for (const FactorRow& row : blend_factors)
        if (row.nvn == func)
            return row.factor;
    return VK_BLEND_FACTOR_ONE;
}

Primitive primitive(u32 nvn, bool device_has_fans) {
    const Primitive fan = device_has_fans ? Primitive{VK_PRIMITIVE_TOPOLOGY_TRIANGLE_FAN, Lowering::None}
                                          : Primitive{VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST, Lowering::TriangleFan};
    const Primitive table[] = {
        {VK_PRIMITIVE_TOPOLOGY_POINT_LIST, Lowering::None},
        {VK_PRIMITIVE_TOPOLOGY_LINE_LIST, Lowering::None},
        {VK_PRIMITIVE_TOPOLOGY_LINE_STRIP, Lowering::LineLoop},
        {VK_PRIMITIVE_TOPOLOGY_LINE_STRIP, Lowering::None},
        {VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST, Lowering::None},
        {VK_PRIMITIVE_TOPOLOGY_TRIANGLE_STRIP, Lowering::None},
        fan,
        {VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST, Lowering::QuadList},
        {VK_PRIMITIVE_TOPOLOGY_TRIANGLE_STRIP, Lowering::None}, // quad strip: the same two triangles per quad
        {VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST, Lowering::Polygon},
        {VK_PRIMITIVE_TOPOLOGY_LINE_LIST_WITH_ADJACENCY, Lowering::None},
        {VK_PRIMITIVE_TOPOLOGY_LINE_STRIP_WITH_ADJACENCY, Lowering::None},
        {VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST_WITH_ADJACENCY, Lowering::None},
        {VK_PRIMITIVE_TOPOLOGY_TRIANGLE_STRIP_WITH_ADJACENCY, Lowering::None},
        {VK_PRIMITIVE_TOPOLOGY_PATCH_LIST, Lowering::None},
    };
    return table[nvn < std::size(table) ? nvn : 4];
}

u16 swizzle_bits(const stream::ViewportSwizzle& s) {
    static_assert(VK_VIEWPORT_COORDINATE_SWIZZLE_NEGATIVE_W_NV == 7); // the enums agree
    return static_cast<u16>((s.x & 7) | (s.y & 7) << 4 | (s.z & 7) << 8 | (s.w & 7) << 12);
}

gpu::Viewports viewports(const GuestState& s, VkExtent2D extent, bool device_swizzles) {
    gpu::Viewports out;
    // Those from the second on matter only if one is set; the count is kept small for the common case.
    out.count = 1;
    for (u32 i = 0; i < stream::viewport_count; ++i) {
        stream::Viewport v = s.viewports[i];
        const bool set = v.width > 0 && v.height > 0;
        if (set && i > 0)
            out.count = stream::viewport_count;
        if (!set)
            v = {0, 0, static_cast<f32>(extent.width), static_cast<f32>(extent.height)};
        const stream::DepthRange r = s.depth_ranges[i];
        // Upper left: y = +1 is the first memory row.
        // A negated y alone is a viewport that stands on its head; the device or the program does the others (REN-181).
        const u16 swizzle = swizzle_bits(s.swizzles[i]);
        const bool flip =
            (s.modes.window_origin == origin_upper_left) != (swizzle == flipped_swizzle && !device_swizzles);
        if (device_swizzles)
            out.swizzles[i] = {static_cast<VkViewportCoordinateSwizzleNV>(swizzle & 7),
                               static_cast<VkViewportCoordinateSwizzleNV>(swizzle >> 4 & 7),
                               static_cast<VkViewportCoordinateSwizzleNV>(swizzle >> 8 & 7),
                               static_cast<VkViewportCoordinateSwizzleNV>(swizzle >> 12 & 7)};
        out.viewports[i] = flip ? VkViewport{v.x, v.y + v.height, v.width, -v.height, r.near_value, r.far_value}
                                : VkViewport{v.x, v.y, v.width, v.height, r.near_value, r.far_value};
    }
    return out;
}

VkRect2D scissor(const stream::Scissor& s, VkExtent2D extent) {
    const auto clamp = [](i64 v, u32 limit) { return static_cast<i32>(std::clamp<i64>(v, 0, limit)); };
    const i32 x0 = clamp(s.x, extent.width), y0 = clamp(s.y, extent.height);
    const i32 x1 = clamp(i64{s.x} + s.width, extent.width), y1 = clamp(i64{s.y} + s.height, extent.height);
    return {{x0, y0}, {static_cast<u32>(std::max(0, x1 - x0)), static_cast<u32>(std::max(0, y1 - y0))}};
}

gpu::Scissors scissors(const GuestState& s, VkExtent2D extent) {
    gpu::Scissors out;
    out.count = 1;
    for (u32 i = 0; i < stream::viewport_count; ++i) {
        if (i > 0 && s.viewports[i].width > 0 && s.viewports[i].height > 0)
            out.count = stream::viewport_count;
        out.scissors[i] = scissor(s.scissors[i], extent);
    }
    return out;
}

gpu::Raster raster(const GuestState& s, const gpu::Device& device) {
    constexpr VkPolygonMode modes[] = {VK_POLYGON_MODE_POINT, VK_POLYGON_MODE_LINE, VK_POLYGON_MODE_FILL,
                                       VK_POLYGON_MODE_FILL};
    gpu::Raster out;
    out.discard = s.rasterizer_discard;
    out.polygon = modes[s.polygon.polygon_mode];
    out.cull = s.polygon.cull_face; // the bits are Vulkan's: front 1, back 2
    // The guest's winding is that of a y-up window. In the lower-left origin the first memory row is y = -1, which
    // Vulkan calls a y-down window, so windings are named the other way round; a negative viewport height takes that
    // back.
    const bool counter_clockwise = s.polygon.front_face == 1;
    const bool swap = s.queue_origin == origin_lower_left;
    out.front = counter_clockwise != swap ? VK_FRONT_FACE_COUNTER_CLOCKWISE : VK_FRONT_FACE_CLOCKWISE;
    out.depth_clamp = s.depth_clamp && device.has(gpu::Feature::DepthClamp);
    out.depth_clip = !s.depth_clamp;
    out.negative_one_to_one = s.modes.depth_mode == depth_near_is_minus_w;
    out.provoking_last = s.provoking_last && device.has(gpu::Feature::ProvokingVertexLast);
    out.conservative = s.conservative && device.has(gpu::Feature::ConservativeRasterization);
    out.dilation = out.conservative ? std::max(0.0f, s.conservative_dilation) : 0;
    out.line_width =
        device.has(gpu::Feature::WideLines) ? std::clamp(s.line_width, 1.0f, device.capabilities.max_line_width) : 1.0f;
    return out;
}

gpu::DepthBias depth_bias(const GuestState& s) {
    constexpr u32 fill = 4;
    constexpr u32 by_mode[] = {1, 2, fill, fill}; // NVNpolygonOffsetEnable bit of a polygon mode
    return {.enable = (s.polygon.offset_enables & by_mode[s.polygon.polygon_mode]) != 0,
            .constant = s.offset_units,
            .clamp = s.offset_clamp,
            .slope = s.offset_factor};
}

gpu::Depth depth(const GuestState& s, bool has_depth) {
    gpu::Depth out;
    out.test = has_depth && s.depth_stencil.depth_test;
    out.write = has_depth && s.depth_stencil.depth_test && s.depth_stencil.depth_write;
    out.compare = compare_op(s.depth_stencil.depth_func);
    out.bounds_test = has_depth && s.depth_bounds;
    out.bounds_min = s.depth_bounds_min;
    out.bounds_max = s.depth_bounds_max;
    return out;
}

gpu::Stencil stencil(const GuestState& s, bool has_stencil) {
    const auto& d = s.depth_stencil;
    gpu::Stencil out;
    out.test = has_stencil && d.stencil_test;
    out.front = stencil_face(d.front_func, d.front_fail, d.front_depth_fail, d.front_depth_pass, s.front);
    out.back = stencil_face(d.back_func, d.back_fail, d.back_depth_fail, d.back_depth_pass, s.back);
    return out;
}

gpu::Blend blend(const GuestState& s, u64 outputs) {
    gpu::Blend out;
    out.logic = s.color.logic_op != logic_copy;
    out.logic_op = logic_ops[s.color.logic_op];
    bool second_source = false;
    for (u32 i = 0; i < stream::color_target_count; ++i) {
        const stream::BlendState& b = s.blend[i];
        gpu::BlendTarget& t = out.targets[i];
        t.enable = (s.color.blend_enable >> i & 1) != 0;
        t.write_mask = outputs >> i & 1 ? s.channel_mask.masks >> (4 * i) & 0xf : 0;
        t.equation = {blend_factor(b.source_color), blend_factor(b.dest_color), blend_op(b.color_equation),
                      blend_factor(b.source_alpha), blend_factor(b.dest_alpha), blend_op(b.alpha_equation)};
        if (b.advanced_mode)
            apply_advanced(b, t.equation);
        if (!(outputs >> i & 1))
            t.enable = VK_FALSE;
        auto& e = t.equation;
        if (outputs >> 1 & 1) {
            second_source |=
                t.enable && (is_second_source(e.srcColorBlendFactor) || is_second_source(e.dstColorBlendFactor) ||
                             is_second_source(e.srcAlphaBlendFactor) || is_second_source(e.dstAlphaBlendFactor));
        } else {
            for (VkBlendFactor* f :
                 {&e.srcColorBlendFactor, &e.dstColorBlendFactor, &e.srcAlphaBlendFactor, &e.dstAlphaBlendFactor})
                *f = without_second_source(*f);
        }
    }
    if (second_source) // output 1 is the second source then; its own target stays (REN-215)
        out.targets[1].write_mask = 0;
    return out;
}

gpu::Multisample multisample(const GuestState& s, VkSampleCountFlagBits samples, u32 guest_samples) {
    const auto count = static_cast<u32>(samples);
    u32 mask = s.sample_mask;
    if (guest_samples != count &&
        guest_samples != 0) { // the device has others (Textures::make): each stands for a part
        mask = 0;
        for (u32 i = 0; i < count; ++i)
            mask |= (s.sample_mask >> i * guest_samples / count & 1) << i;
    }
    return {.samples = samples,
            .mask = mask,
            .alpha_to_coverage = s.multisample.alpha_to_coverage && samples != VK_SAMPLE_COUNT_1_BIT,
            .alpha_to_one = VK_FALSE};
}

u32 used_streams(const GuestState& s, u32 locations_read) {
    u32 used = 0;
    for (u32 i = 0; i < s.attribute_count; ++i)
        if (s.attributes[i].format && (locations_read >> i & 1))
            used |= 1u << s.attributes[i].stream;
    return used;
}

gpu::VertexInput vertex_input(const GuestState& s, const Formats& formats, u32 locations_read) {
    gpu::VertexInput out;
    const u32 empty_stream =
        std::min(static_cast<u32>(std::countr_one(used_streams(s, locations_read))), vertex_slots - 1);
    for (u32 i = 0; i < s.attributes.size(); ++i) {
        if (!(locations_read >> i & 1))
            continue;
        const stream::VertexAttribState a = i < s.attribute_count ? s.attributes[i] : stream::VertexAttribState{};
        const auto guest = static_cast<texture::Format>(a.format);
        VkFormat format = a.format ? formats.vertex(guest) : VK_FORMAT_UNDEFINED;
        if (a.format && format == VK_FORMAT_UNDEFINED)
            log::error_once("vertex attribute format {} cannot be fetched by this device yet",
                            texture::info(guest).name);
        const bool fetched = format != VK_FORMAT_UNDEFINED;
        if (!fetched) { // of the class that the program's variant was made for
            const auto numeric = formats.vertex_class(guest);
            format = numeric == shader::NumericClass::Uint   ? VK_FORMAT_R32_UINT
                     : numeric == shader::NumericClass::Sint ? VK_FORMAT_R32_SINT
                                                             : VK_FORMAT_R32_SFLOAT;
        }
        const u32 from = fetched ? u32{a.stream} : empty_stream;
        out.attributes[out.attribute_count++] = {i, from, format, fetched ? u32{a.offset} : 0};
        out.stream_count = std::max(out.stream_count, from + 1u);
    }
    for (u32 i = 0; i < out.stream_count; ++i)
        out.streams[i] = {s.streams[i].stride, s.streams[i].divisor};
    return out;
}

gpu::SamplerDescription sampler(const stream::SamplerDescription& g) {
    gpu::SamplerDescription out;
    out.min = g.min_filter & 1 ? VK_FILTER_LINEAR : VK_FILTER_NEAREST;
    out.mag = g.mag_filter & 1 ? VK_FILTER_LINEAR : VK_FILTER_NEAREST;
    out.mip = g.min_filter >= 4 ? VK_SAMPLER_MIPMAP_MODE_LINEAR : VK_SAMPLER_MIPMAP_MODE_NEAREST;
    out.wrap_u = wrap(g.wrap_s);
    out.wrap_v = wrap(g.wrap_t);
    out.wrap_w = wrap(g.wrap_r);
    out.min_lod = std::clamp(g.lod_min, 0.0f, 1000.0f);
    out.max_lod = std::clamp(g.lod_max, out.min_lod, 1000.0f);
    if (g.min_filter < 2) // no mip levels: only the base level is read, at the magnification boundary of 0.25
        out.min_lod = 0, out.max_lod = 0.25f;
    out.lod_bias = std::clamp(g.lod_bias, -15.0f, 15.0f);
    out.anisotropy = std::max(1.0f, g.max_anisotropy);
    out.compare = g.compare_mode == 1;
    out.compare_op = compare_op(g.compare_func);
    out.reduction = g.reduction == 1   ? VK_SAMPLER_REDUCTION_MODE_MIN
                    : g.reduction == 2 ? VK_SAMPLER_REDUCTION_MODE_MAX
                                       : VK_SAMPLER_REDUCTION_MODE_WEIGHTED_AVERAGE;
    for (unsigned i = 0; i < 4; ++i) {
        out.border[i] = stream::border_number(g.border[i], g.border_class);
        out.integer_border[i] = stream::border_integer(g.border[i], g.border_class);
    }
    return out;
}

} // namespace heaviside::replay
