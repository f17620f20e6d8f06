// A shader program header as directives: encode_sph() read as text.
#include "maxwell/sph.h"

#include <fmt/format.h>

#include <iterator>

namespace heaviside::maxwell {
namespace {

constexpr const char* stage_names[] = {"vertexa", "vertex", "tess_control", "tess_eval", "geometry", "fragment"};
constexpr const char* modes[] = {"", " constant", " perspective", " linear"};

std::string letters(unsigned mask, const char* names) {
    std::string text;
    for (unsigned i = 0; i < 4; ++i)
        if (mask >> i & 1)
            text += names[i];
    return text;
}

// Words of one vector that share a mode are one line.
void append_vector(std::string& text, const char* directive, u32 vector, unsigned mask, const char* mode) {
    if (mask == 0)
        return;
    const u32 address = 16 * vector;
    if (address >= attribute::generic && address < attribute::generic_end) {
        fmt::format_to(std::back_inserter(text), ".{} {} {}{}\n", directive, vector - attribute::generic / 16,
                       letters(mask, "xyzw"), mode);
        return;
    }
    for (unsigned i = 0; i < 4; ++i)
        if (mask >> i & 1)
            fmt::format_to(std::back_inserter(text), ".{} {:#x}{}\n", directive, address + 4 * i, mode);
}

void append_inputs(std::string& text, const ShaderProgramHeader& header) {
    for (u32 vector = 0; vector < header.inputs.components.size(); ++vector) {
        for (unsigned mode = 0; mode < 4; ++mode) {
            unsigned mask = 0;
            for (unsigned i = 0; i < 4; ++i)
                if (static_cast<unsigned>(header.interpolation[4 * vector + i]) == mode)
                    mask |= 1u << i;
            append_vector(text, "in", vector, mask & header.inputs.components[vector], modes[mode]);
        }
    }
}

} // namespace

std::string header_source(const ShaderProgramHeader& header) {
    std::string text = fmt::format(".stage {}\n.explicit_header\n", stage_names[static_cast<std::size_t>(header.type)]);
    const auto flag = [&](bool set, const char* name) {
        if (set)
            fmt::format_to(std::back_inserter(text), ".{}\n", name);
    };
    const auto number = [&](u32 value, u32 common, const char* name) {
        if (value != common)
            fmt::format_to(std::back_inserter(text), ".{} {}\n", name, value);
    };
    number(header.version, 3, "sph_version");
    number(header.sass_version, 3, "sass_version");
    flag(header.does_global_store, "global_store");
    flag(header.does_load_or_store, "load_store");
    flag(header.does_fp64, "fp64");
    flag(header.vendor_vertex_bit, "vendor_bit");
    number(header.local_memory_low, 0, "local");
    number(header.local_memory_high, 0, "local_high");
    number(header.call_stack_bytes, 0, "call_stack");
    flag(header.kills_pixels, "kill");
    flag(header.multiple_targets, "multiple_targets");
    append_inputs(text, header);
    number(header.patch_attributes, 0, "patch");
    number(header.threads_per_primitive, 0, "threads");
    number(header.stream_mask, 0, "streams");
    number(header.max_output_vertices, 0, "max_vertices");
    flag(header.passthrough, "passthrough");
    if (header.topology != OutputTopology::None) {
        const auto topology = static_cast<u32>(header.topology);
        const char* const name = header.topology == OutputTopology::Points          ? "points"
                                 : header.topology == OutputTopology::LineStrip     ? "line_strip"
                                 : header.topology == OutputTopology::TriangleStrip ? "triangle_strip"
                                                                                    : nullptr;
        text += name ? fmt::format(".topology {}\n", name) : fmt::format(".topology {}\n", topology);
    }
    if (header.store_required_first != 0xff || header.store_required_last != 0)
        fmt::format_to(std::back_inserter(text), ".store_required {} {}\n", header.store_required_first,
                       header.store_required_last);
    if (!header.pixel)
        for (u32 vector = 0; vector < header.outputs.components.size(); ++vector)
            append_vector(text, "out", vector, header.outputs.components[vector], "");
    for (u32 target = 0; target < 8; ++target)
        if (const unsigned mask = header.target_mask >> 4 * target & 15; mask != 0)
            fmt::format_to(std::back_inserter(text), ".target {} {}\n", target, letters(mask, "rgba"));
    flag(header.writes_sample_mask, "sample_mask");
    flag(header.writes_depth, "depth");
    return text;
}

} // namespace heaviside::maxwell
