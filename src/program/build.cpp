#include "program/build.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <vector>

namespace heaviside::program {
namespace {

constexpr u32 control_bytes = 0x7d0;
constexpr u32 prefix_bytes = 0x30, graphics_code = prefix_bytes + maxwell::sph_size, compute_code = 0x100;
constexpr u32 bundle = 32, area_alignment = 0x100;

void put(std::vector<std::byte>& bytes, std::size_t offset, u32 value) {
    std::memcpy(bytes.data() + offset, &value, sizeof(value));
}

Result<Stage> stage_of(maxwell::Stage stage) {
    switch (stage) {
    case maxwell::Stage::VertexA:
    case maxwell::Stage::Vertex:
        return Stage::Vertex;
    case maxwell::Stage::TessControl:
        return Stage::TessControl;
    case maxwell::Stage::TessEvaluation:
        return Stage::TessEval;
    case maxwell::Stage::Geometry:
        return Stage::Geometry;
    case maxwell::Stage::Fragment:
        return Stage::Fragment;
    case maxwell::Stage::Compute:
        return Stage::Compute;
    case maxwell::Stage::None:
        break;
    }
    return fail("the source names no stage: begin it with `.stage vertex` or another");
}

} // namespace

Result<BuildInput> build_input(const maxwell::Program& assembled) {
    const auto stage = stage_of(assembled.stage);
    if (!stage)
        return tl::unexpected(stage.error());
    return BuildInput{
        .stage = *stage,
        .sph = assembled.header,
        .code = assembled.code,
        .constants = assembled.data,
        .workgroup_size = assembled.workgroup,
        .shared_bytes = assembled.shared_bytes,
        .local_bytes = assembled.local_bytes,
        .register_count = assembled.registers,
        .early_fragment_tests = assembled.early_fragment_tests,
        .per_sample = assembled.per_sample,
    };
}

Result<Blobs> build(const BuildInput& input) {
    if (input.code.empty() || input.code.size() % bundle != 0)
        return fail("program: {} bytes of code are no whole number of {}-byte bundles", input.code.size(), bundle);
    const bool compute = input.stage == Stage::Compute;
    const u32 code_at = compute ? compute_code : graphics_code;
    const u32 constants_at = align_up(code_at + static_cast<u32>(input.code.size()), area_alignment);
    const u32 end = constants_at + static_cast<u32>(input.constants.size());

    Blobs blobs;
    blobs.gpu.resize(align_up(end, area_alignment));
    put(blobs.gpu, 0, compute ? 0x12345679 : 0x12345678);
    if (!compute) {
        const auto header = maxwell::encode_sph(input.sph);
        std::copy(header.begin(), header.end(), blobs.gpu.begin() + prefix_bytes);
    }
    std::copy(input.code.begin(), input.code.end(), blobs.gpu.begin() + code_at);
    std::copy(input.constants.begin(), input.constants.end(), blobs.gpu.begin() + constants_at);

    // The words of the control section: ledger rows SHD-076, SHD-085, GFX-004.
    blobs.control.resize(control_bytes);
    const auto word = [&](u32 offset, u32 value) { put(blobs.control, offset, value); };
    word(0x000, 0x98761234);
    word(0x020, control_bytes);
    word(0x6f8, static_cast<u32>(input.code.size()) + (compute ? 0 : maxwell::sph_size));
    word(0x6fc, static_cast<u32>(input.constants.size()));
    word(0x700, constants_at);
    word(0x704, end);
    word(0x708, prefix_bytes);
    word(0x70c, input.register_count);
    word(0x714, static_cast<u32>(input.stage));
    if (input.stage == Stage::Fragment) {
        word(0x718, input.early_fragment_tests);
        word(0x71c, input.sph.writes_depth);
        u32 targets = 0;
        for (u32 target = 0; target < 8; ++target)
            targets += (input.sph.target_mask >> (4 * target) & 0xf) != 0;
        word(0x734, targets);
        word(0x748, input.per_sample ? 1u << 16 : 0);
    }
    if (input.stage == Stage::TessEval)
        word(tessellation_word, tessellation_bits(input.tessellation));
    if (input.feedback)
        if (auto written = write_feedback_layout(blobs.control, *input.feedback); !written)
            return tl::unexpected(written.error());
    if (compute) {
        for (u32 axis = 0; axis < 3; ++axis)
            word(0x748 + 4 * axis, input.workgroup_size[axis]);
        word(0x754, input.shared_bytes);
        word(0x758, input.local_bytes);
    }
    return blobs;
}

} // namespace heaviside::program
