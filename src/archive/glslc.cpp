#include "archive/glslc.h"

#include <algorithm>

namespace heaviside::archive {
namespace {

constexpr u32 magic = 0x19866891, control_magic = 0x98761234;
constexpr u64 total_size_at = 0x44, section_count_at = 0x4c;
constexpr u64 section_headers_at = 0x90, section_header_size = 0x90;
constexpr u64 section_data_at = 4, section_type_at = 8; // behind the size; the data's offset is from the output
constexpr u32 gpu_code_section = 0;
// In the header of a section of GPU code; both offsets are relative to the section's data.
constexpr u64 control_offset_at = 0x30, code_offset_at = 0x34, code_size_at = 0x38, control_size_at = 0x3c;
constexpr u64 control_length_at = 0x20;
constexpr u32 shortest_control = 0x760; // SHD-026

Result<StageBlobs> checked(Bytes control, Bytes code) {
    const auto program = program::parse(control, code);
    if (!program)
        return tl::unexpected(program.error());
    return StageBlobs{program->stage, control, code};
}

Result<StageBlobs> read_section(Bytes output, u64 header, u64 index) {
    const u64 data = *read_at<u32>(output, header + section_data_at);
    const u64 control_at = data + *read_at<u32>(output, header + control_offset_at);
    const u64 code_at = data + *read_at<u32>(output, header + code_offset_at);
    const u32 control_size = *read_at<u32>(output, header + control_size_at);
    const u32 code_size = *read_at<u32>(output, header + code_size_at);
    const auto control = slice(output, control_at, control_size);
    const auto code = slice(output, code_at, code_size);
    if (!control || !code)
        return fail("GLSLC: {} of section {} at {:#x}, {:#x} bytes, lies outside the {:#x} bytes",
                    control ? "code" : "control section", index, control ? code_at : control_at,
                    control ? code_size : control_size, output.size());
    auto stage = checked(*control, *code);
    if (!stage)
        return fail("GLSLC: section {} at {:#x}: {}", index, data, stage.error().message);
    return stage;
}

Result<std::vector<StageBlobs>> read_sections(Bytes output) {
    const u32 count = read_at<u32>(output, section_count_at).value_or(0);
    std::vector<StageBlobs> stages;
    for (u64 i = 0; i < count; ++i) {
        const u64 header = section_headers_at + i * section_header_size;
        if (!slice(output, header, section_header_size))
            return fail("GLSLC: header of section {} of {} at {:#x} lies outside the {:#x} bytes", i, count, header,
                        output.size());
        if (*read_at<u32>(output, header + section_type_at) != gpu_code_section)
            continue;
        auto stage = read_section(output, header, i);
        if (!stage)
            return tl::unexpected(stage.error());
        stages.push_back(*stage);
    }
    if (stages.empty())
        return fail("GLSLC: none of the {} sections (at {:#x}) is GPU code", count, section_count_at);
    return stages;
}

// The code area lies directly behind the control section, and a debug section with no length of its own may follow.
Result<StageBlobs> read_single_stage(Bytes output) {
    for (u64 at = 0; at + shortest_control <= output.size(); at += 4) {
        if (read_at<u32>(output, at) != control_magic)
            continue;
        const u32 length = read_at<u32>(output, at + control_length_at).value_or(0);
        const auto control = slice(output, at, length);
        if (length < shortest_control || length % 4 != 0 || !control)
            continue;
        const Bytes behind = output.subspan(at + length);
        const auto size = program::gpu_area_size(*control);
        if (!size || *size > behind.size())
            continue;
        if (auto stage = checked(*control, behind.first(*size)))
            return stage;
    }
    return fail("GLSLC: no control section with its program behind it");
}

} // namespace

bool is_glslc(Bytes bytes) {
    return read_at<u32>(bytes, 0) == magic;
}

Result<std::vector<StageBlobs>> parse_glslc(Bytes bytes) {
    if (!is_glslc(bytes))
        return fail("GLSLC: no {:#x} at 0", magic);
    const auto total = read_at<u32>(bytes, total_size_at);
    if (!total || *total > bytes.size() || *total < section_headers_at)
        return fail("GLSLC: total size {:#x} at {:#x}, there are {:#x} bytes", total.value_or(0), total_size_at,
                    bytes.size());
    const Bytes output = bytes.first(*total);
    auto stages = read_sections(output);
    if (stages)
        return stages;
    const auto single = read_single_stage(output);
    if (!single)
        return tl::unexpected(stages.error());
    return std::vector{*single};
}

} // namespace heaviside::archive
