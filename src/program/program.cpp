#include "program/program.h"

#include "base/log.h"

#include <algorithm>
#include <iterator>

namespace heaviside::program {
namespace {

constexpr u32 control_magic = 0x98761234;
constexpr u32 graphics_magic = 0x12345678;
constexpr u32 compute_magic = 0x12345679;
constexpr u32 area_prefix = 0x30;
constexpr u32 graphics_code = area_prefix + maxwell::sph_size;
constexpr u32 compute_code = 0x100;
constexpr u32 bundle = 32; // one scheduling word, three instructions
// Content beyond this belongs to no key, however long the section is (SHD-078).
constexpr u32 longest_keyed_control = 0x880;

// Byte offsets of the control section's words (ledger rows SHD-076, SHD-085, GFX-004 and the corpus's README).
namespace word {
constexpr u32 length = 0x20, program_bytes = 0x6f8, constants_bytes = 0x6fc, constants_offset = 0x700,
              area_bytes = 0x704;
constexpr u32 register_count = 0x70c, stage = 0x714, early_tests = 0x718, workgroup_size = 0x748, per_sample = 0x748;
constexpr u32 parts = 0x748, shared_bytes = 0x754, local_bytes = 0x758;
} // namespace word

struct Control {
    Bytes bytes;
    [[nodiscard]] u32 operator[](u32 offset) const { return read_at<u32>(bytes, offset).value_or(0); }
};

struct Range {
    u64 first = 0, last = 0;
};

// Where the pieces of a program lie in its GPU area.
struct AreaLayout {
    Range code, constants;
    bool has_header = false;
    u64 second_part = 0; // 0: none
};

Result<Bytes> cut(Bytes area, Range range, const char* what) {
    if (range.first > range.last || range.last > area.size())
        return fail("program: {} at [{:#x}, {:#x}) lies outside the GPU area of {:#x} bytes", what, range.first,
                    range.last, area.size());
    return area.subspan(range.first, range.last - range.first);
}

Stage stage_of(maxwell::ShaderType type) {
    constexpr Stage stages[] = {Stage::Vertex,   Stage::Vertex,   Stage::TessControl,
                                Stage::TessEval, Stage::Geometry, Stage::Fragment};
    return stages[static_cast<std::size_t>(type)];
}

// The code's first byte and whether a program header lies before it. A code start that is off by 16 bytes misreads
// every bundle, hence the padding check.
Result<AreaLayout> locate_code(Bytes area) {
    AreaLayout layout;
    const u32 magic = read_at<u32>(area, 0).value_or(0);
    if (magic == compute_magic) {
        const Bytes padding = area.subspan(std::min<std::size_t>(area_prefix, area.size()));
        const auto end = std::min<std::size_t>(padding.size(), compute_code - area_prefix);
        for (std::size_t i = 0; i < end; ++i)
            if (padding[i] != std::byte{0})
                return fail("program: compute code area has data at +{:#x}, before its code at +{:#x}", area_prefix + i,
                            compute_code);
        layout.code.first = compute_code;
    } else if (magic == graphics_magic) {
        layout.has_header = true;
        layout.code.first = graphics_code;
    }
    return layout;
}

// Fills header, sph and, where the header names one, the stage. A header of kind 0 is the stub of a compute program.
Result<void> read_header(Bytes header, Program& program) {
    if ((read_at<u32>(header, 0).value_or(0) & 0x1f) == 0) {
        program.stage = Stage::Compute;
        return {};
    }
    auto sph = maxwell::decode_sph(header);
    if (!sph)
        return tl::unexpected(std::move(sph.error()));
    program.header = header;
    program.stage = stage_of(sph->type);
    program.local_bytes = sph->local_memory_low + sph->local_memory_high;
    program.sph = *std::move(sph);
    return {};
}

// A section of a VertexA program lists its parts as {offset of the header, bytes from the header on, unknown}.
Result<void> read_second_part(Control control, Bytes area, Program& program, AreaLayout& layout) {
    const u64 start = control[word::constants_offset];
    constexpr u32 second_entry = word::parts + 12;
    const u64 header_at = control[second_entry], bytes = control[second_entry + 4];
    if (header_at != start + area_prefix || start < layout.code.first || bytes < maxwell::sph_size)
        return {}; // no part B listed: A is the whole program
    const auto header = slice(area, header_at, maxwell::sph_size);
    if (!header)
        return fail("program: second vertex part at +{:#x} lies outside the GPU area of {:#x} bytes", header_at,
                    area.size());
    const auto sph = maxwell::decode_sph(*header);
    if (!sph || sph->type != maxwell::ShaderType::Vertex)
        return {};
    const auto code = cut(area, {header_at + maxwell::sph_size, header_at + bytes}, "second vertex part");
    if (!code)
        return tl::unexpected(code.error());
    program.second_header = *header;
    program.second_code = code->first(code->size() / bundle * bundle);
    program.sph = maxwell::merge_vertex_parts(*program.sph, *sph);
    program.local_bytes = program.sph->local_memory_low + program.sph->local_memory_high;
    layout.code.last = start;
    layout.constants = {header_at + bytes, std::max<u64>(header_at + bytes, control[word::area_bytes])};
    return {};
}

void bound_code_and_constants(Control control, const DriverBankLayout& bank_layout, Bytes area, AreaLayout& layout) {
    const u64 constants = control[word::constants_offset], end = control[word::area_bytes];
    if (&bank_layout == &open_compiler_layout) {
        layout.code.last = u64{area_prefix} + control[word::program_bytes];
        layout.constants = {constants, constants + control[word::constants_bytes]};
        return;
    }
    layout.code.last = constants != 0 ? constants : area.size();
    layout.constants = {constants, std::max(constants, end)};
}

Result<Stage> control_stage(Control control) {
    const u32 stage = control[word::stage];
    if (stage >= stage_count)
        return fail("control section: stage {} at +{:#x}", stage, word::stage);
    return static_cast<Stage>(stage);
}

void read_compute_fields(Control control, Program& program) {
    for (u32 axis = 0; axis < 3; ++axis)
        program.workgroup_size[axis] = control[word::workgroup_size + 4 * axis];
    program.shared_bytes = control[word::shared_bytes];
    program.local_bytes = control[word::local_bytes];
}

// The limits of the machine: 1,024 threads (64 deep), 48 KiB shared and 512 KiB local memory.
Result<void> check_compute_fields(const Program& program) {
    const auto [x, y, z] = program.workgroup_size;
    if (x == 0 || y == 0 || z == 0 || x > 1024 || y > 1024 || z > 64 || u64{x} * y * z > 1024)
        return fail("control section: workgroup size {} x {} x {}", x, y, z);
    if (program.shared_bytes > 48 * 1024)
        return fail("control section: {} bytes of shared memory", program.shared_bytes);
    return {};
}

Result<void> check_code(Program& program) {
    program.code = program.code.first(program.code.size() / bundle * bundle);
    if (program.code.empty())
        return fail("program: no code");
    if (program.local_bytes > 512 * 1024)
        return fail("program: {} bytes of local memory", program.local_bytes);
    return {};
}

} // namespace

const char* name(Stage stage) {
    constexpr const char* names[] = {
        "vertex", "fragment", "geometry", "tessellation control", "tessellation evaluation", "compute"};
    return static_cast<std::size_t>(stage) < std::size(names) ? names[static_cast<std::size_t>(stage)] : "unknown";
}

Result<u32> control_section_size(Bytes control_section) {
    const auto magic = read_at<u32>(control_section, 0);
    if (magic != control_magic)
        return fail("control section: magic {:#010x} instead of {:#010x}", magic.value_or(0), control_magic);
    const auto length = read_at<u32>(control_section, word::length);
    if (!length)
        return fail("control section: {} bytes, its length is at +{:#x}", control_section.size(), word::length);
    return *length;
}

Result<u32> gpu_area_size(Bytes control_section) {
    if (auto size = control_section_size(control_section); !size)
        return size;
    const Control control{control_section};
    // The open compiler's +0x704 is a rounded size without constants; constants, if any, end the area.
    const bool ends_with_constants =
        &driver_bank_layout(control_section) == &open_compiler_layout && control[word::constants_bytes] != 0;
    const u64 size = ends_with_constants ? u64{control[word::constants_offset]} + control[word::constants_bytes]
                                         : control[word::area_bytes];
    if (size == 0 || size > 0x1000'0000)
        return fail("control section: GPU area of {:#x} bytes (+{:#x})", size, word::area_bytes);
    return static_cast<u32>(size);
}

Result<Program> parse(Bytes control_section, Bytes gpu_area) {
    const auto length = control_section_size(control_section);
    if (!length)
        return tl::unexpected(length.error());
    if (control_section.size() < word::stage + 4)
        return fail("control section: {:#x} bytes, fields reach to +{:#x}", control_section.size(), word::stage + 4);
    Program program;
    // SDK 4 sections claim less than they hold, so fields are read as far as the bytes go (odd lengths are real too).
    const Control control{control_section};
    program.control = control_section.first(
        std::min<std::size_t>({control_section.size(), *length, std::size_t{longest_keyed_control}}));
    program.layout = &driver_bank_layout(control_section);

    auto stage = control_stage(control);
    auto layout = locate_code(gpu_area);
    if (!layout)
        return tl::unexpected(layout.error());
    bound_code_and_constants(control, *program.layout, gpu_area, *layout);
    if (layout->has_header) {
        const auto header = slice(gpu_area, area_prefix, maxwell::sph_size);
        if (!header)
            return fail("program: GPU area of {:#x} bytes ends inside the program header", gpu_area.size());
        if (auto read = read_header(*header, program); !read)
            return tl::unexpected(read.error());
    } else if (layout->code.first == compute_code) {
        program.stage = Stage::Compute;
    } else if (!stage) {
        return tl::unexpected(stage.error());
    } else if (program.stage = *stage; program.stage != Stage::Compute) {
        return fail("program: {} program without a program header (first word {:#010x})", name(program.stage),
                    read_at<u32>(gpu_area, 0).value_or(0));
    }
    if (program.sph && program.sph->type == maxwell::ShaderType::VertexA)
        if (auto second = read_second_part(control, gpu_area, program, *layout); !second)
            return tl::unexpected(second.error());

    const auto code = cut(gpu_area, layout->code, "code");
    const auto constants = cut(gpu_area, layout->constants, "constants");
    if (!code || !constants)
        return tl::unexpected(!code ? code.error() : constants.error());
    program.code = *code;
    program.constants = *constants;
    program.register_count = control[word::register_count];
    if (program.stage == Stage::Compute) {
        read_compute_fields(control, program);
        if (auto checked = check_compute_fields(program); !checked)
            return tl::unexpected(checked.error());
    } else if (program.stage == Stage::Fragment) {
        program.early_fragment_tests = control[word::early_tests] == 1;
        program.per_sample = (control[word::per_sample] >> 16 & 1) != 0;
    } else if (program.stage != Stage::TessControl) {
        if (program.stage == Stage::TessEval)
            program.tessellation = tessellation(program.control);
        // A program whose layout is of no known form draws all the same, it only captures nothing (REN-173).
        if (auto feedback = feedback_layout(program.control))
            program.feedback = *std::move(feedback);
        else
            log::error_once("{}", feedback.error().message);
    }
    if (auto checked = check_code(program); !checked)
        return tl::unexpected(checked.error());
    return program;
}

Result<Program> parse_code(Bytes bytes, Stage stage) {
    Program program;
    program.stage = stage;
    auto layout = locate_code(bytes);
    if (!layout)
        return tl::unexpected(layout.error());
    if (layout->code.first == compute_code)
        program.stage = Stage::Compute;
    std::optional<Bytes> header;
    if (layout->has_header) {
        header = slice(bytes, area_prefix, maxwell::sph_size);
    } else if (layout->code.first == 0 && stage != Stage::Compute) {
        header = slice(bytes, 0, maxwell::sph_size);
        layout->code.first = maxwell::sph_size;
    }
    if (header) {
        if (auto read = read_header(*header, program); !read)
            return tl::unexpected(read.error());
    } else if (layout->has_header || program.stage != Stage::Compute) {
        return fail("program: {} bytes end inside the program header", bytes.size());
    }
    layout->code.last = std::max<u64>(layout->code.first, bytes.size());
    const auto code = cut(bytes, layout->code, "code");
    if (!code)
        return tl::unexpected(code.error());
    program.code = *code;
    if (auto checked = check_code(program); !checked)
        return tl::unexpected(checked.error());
    return program;
}

Hash128 identity(const Program& program) {
    struct Fixed {
        std::array<u32, 3> workgroup_size;
        u32 shared_bytes, local_bytes;
        u8 stage, constants_bank, early_fragment_tests, per_sample;
    };
    const Fixed fixed{
        program.workgroup_size, program.shared_bytes,         program.local_bytes, static_cast<u8>(program.stage),
        program.constants_bank, program.early_fragment_tests, program.per_sample};
    static_assert(std::has_unique_object_representations_v<Fixed>);
    const std::string_view layout_name = program.layout->name;
    const Hash128 parts[] = {hash_bytes(std::as_bytes(std::span(&fixed, 1))),
                             hash_bytes(program.header),
                             hash_bytes(program.code),
                             hash_bytes(program.second_header),
                             hash_bytes(program.second_code),
                             hash_bytes(program.constants),
                             hash_bytes(program.control),
                             hash_bytes(std::as_bytes(std::span(layout_name)))};
    return hash_bytes(std::as_bytes(std::span(parts)));
}

} // namespace heaviside::program
