#include "replay/lost_state.h"

#include <algorithm>

namespace heaviside::replay {
namespace {

using gpu::Feature;

constexpr u32 polygon_fill = 2, logic_copy = 3; // NVNpolygonMode, NVNlogicOp

bool in_unit_range(const stream::DepthRange& r) {
    return r.near_value >= 0 && r.near_value <= 1 && r.far_value >= 0 && r.far_value <= 1;
}

} // namespace

std::vector<std::string> lost_state(const GuestState& s, const gpu::Capabilities& device, u32 samples) {
    const auto& m = s.multisample;
    const bool odd_ranges = !std::all_of(s.depth_ranges.begin(), s.depth_ranges.end(), in_unit_range);
    const bool divides = std::any_of(s.streams.begin(), s.streams.end(),
                                     [](const stream::VertexStreamState& v) { return v.divisor > 1; });
    const auto without = [&](bool set, Feature f) { return set && !device.has(f); };
    const struct {
        bool lost;
        const char* name;
    } rows[] = {
        {without(s.depth_bounds, Feature::DepthBounds), "the depth bounds test"},
        {without(s.depth_clamp, Feature::DepthClamp), "depth clamping"},
        {without(s.offset_clamp != 0 && s.polygon.offset_enables != 0, Feature::DepthBiasClamp),
         "the polygon offset's clamp"},
        {without(s.polygon.polygon_mode != polygon_fill, Feature::FillModes), "polygon modes other than fill"},
        {without(s.line_width != 1, Feature::WideLines), "line widths other than 1"},
        {without(s.provoking_last, Feature::ProvokingVertexLast), "the last vertex as the provoking one"},
        {without(s.conservative, Feature::ConservativeRasterization), "conservative rasterization"},
        {s.conservative && (s.precision_bias[0] != 0 || s.precision_bias[1] != 0), "the subpixel precision bias"},
        {without(s.color.logic_op != logic_copy, Feature::LogicOp), "logic operations"},
        {without(odd_ranges, Feature::DepthRangeUnrestricted), "depth ranges outside of 0 to 1"},
        {without(divides, Feature::VertexDivisor), "vertex divisors above 1"},
        {samples > 1 && !m.multisample_enable, "multisampling switched off for a multisampled target"},
        {m.raster_samples > 1 && m.raster_samples != samples, "more raster samples than the target has"},
        {samples > 1 && m.sample_locations_enable, "programmable sample locations"},
        {m.coverage_to_color != 0, "coverage to colour"},
        {m.coverage_modulation != 0, "coverage modulation"},
    };
    std::vector<std::string> out;
    for (const auto& row : rows)
        if (row.lost)
            out.emplace_back(row.name);
    return out;
}

} // namespace heaviside::replay
