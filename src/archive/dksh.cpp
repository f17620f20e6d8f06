#include "archive/dksh.h"

#include <algorithm>
#include <array>

namespace heaviside::archive {
namespace {

constexpr u32 magic = 0x48534b44;
constexpr u32 shortest_header = 0x18, program_header_size = 64, bundle = 32, control_alignment = 256;
constexpr u64 header_size_at = 0x04, control_size_at = 0x08, code_size_at = 0x0c, programs_at = 0x10, count_at = 0x14;

// Offsets in a program header.
namespace at {
constexpr u32 kind = 0x00, entry = 0x04, registers = 0x08, constants = 0x0c, constants_size = 0x10, scratch = 0x14;
constexpr u32 by_kind = 0x18;
constexpr u32 first_entry = by_kind, first_registers = by_kind + 4; // vertex
constexpr u32 early_tests = by_kind + 1, per_sample = by_kind + 3;  // fragment
constexpr u32 workgroup = by_kind, shared = by_kind + 12, local_low = by_kind + 16, local_high = by_kind + 20,
              call_stack = by_kind + 24, barriers = by_kind + 28; // compute
} // namespace at

// The machine's limits: 255 registers, a constant bank of 64 KiB, 512 KiB of local memory a thread (32 of them a warp),
// 1 MiB of call stack a warp, 48 KiB of shared memory, 16 barriers, 1,024 threads a group (64 deep).
constexpr u32 register_limit = 255, constants_limit = 0x10000, local_limit = 512 * 1024, warp = 32;
constexpr u32 call_stack_limit = 1 << 20, shared_limit = 48 * 1024, barrier_limit = 16;

// Numbered as the container numbers its kinds.
constexpr std::array kinds{program::Stage::Vertex,      program::Stage::Fragment, program::Stage::Geometry,
                           program::Stage::TessControl, program::Stage::TessEval, program::Stage::Compute};

// One program header, and where it stands for error messages.
struct Header {
    Bytes bytes;
    u64 place;

    [[nodiscard]] u32 operator[](u32 offset) const { return *read_at<u32>(bytes, offset); }
    [[nodiscard]] u8 flag(u32 offset) const { return *read_at<u8>(bytes, offset); }

    [[nodiscard]] Result<void> at_most(u32 offset, u32 limit, const char* what) const {
        if ((*this)[offset] > limit)
            return fail("DKSH: {} {:#x} at {:#x}, at most {:#x} exist", what, (*this)[offset], place + offset, limit);
        return {};
    }
    [[nodiscard]] Result<void> flags(u32 count) const {
        for (u32 i = 0; i < count; ++i)
            if (flag(at::by_kind + i) > 1)
                return fail("DKSH: flag {} at {:#x} is neither 0 nor 1", flag(at::by_kind + i),
                            place + at::by_kind + i);
        return {};
    }
};

struct Sections {
    std::vector<Header> headers;
    Bytes code;
    std::vector<u64> boundaries; // where something begins in the code section; its end is the last
};

bool has_first_part(const Header& header) {
    return header[at::kind] == 0 && (header[at::first_registers] | header[at::first_entry]) != 0;
}

Result<Sections> find_sections(Bytes bytes) {
    if (!is_dksh(bytes))
        return fail("DKSH: no magic at 0x0");
    if (bytes.size() < shortest_header)
        return fail("DKSH: {:#x} bytes end inside the header", bytes.size());
    const auto field = [&](u64 offset) { return u64{*read_at<u32>(bytes, offset)}; };
    const u64 header_size = field(header_size_at), control_size = field(control_size_at),
              code_size = field(code_size_at), programs = field(programs_at), count = field(count_at);
    if (header_size < shortest_header || header_size > control_size)
        return fail("DKSH: header size {:#x} at {:#x}, it takes {:#x} to the control section's {:#x}", header_size,
                    header_size_at, shortest_header, control_size);
    if (control_size % control_alignment != 0)
        return fail("DKSH: control size {:#x} at {:#x} is no multiple of {:#x}", control_size, control_size_at,
                    control_alignment);
    const auto control = slice(bytes, 0, control_size);
    const auto code = slice(bytes, control_size, code_size);
    if (!control)
        return fail("DKSH: control size {:#x} at {:#x}, there are {:#x} bytes", control_size, control_size_at,
                    bytes.size());
    if (!code)
        return fail("DKSH: code size {:#x} at {:#x}, behind the control section are {:#x} bytes", code_size,
                    code_size_at, bytes.size() - control_size);
    const auto table = slice(*control, programs, count * program_header_size);
    if (count == 0 || !table || programs < header_size)
        return fail("DKSH: {} program headers (at {:#x}) at {:#x} (at {:#x}) do not lie between the header's {:#x} "
                    "bytes and {:#x}",
                    count, count_at, programs, programs_at, header_size, control_size);
    Sections sections{{}, *code, {code_size}};
    for (u64 i = 0; i < count; ++i) {
        const Header header{table->subspan(i * program_header_size, program_header_size),
                            programs + i * program_header_size};
        sections.headers.push_back(header);
        sections.boundaries.push_back(header[at::entry]);
        if (header[at::constants_size] != 0)
            sections.boundaries.push_back(header[at::constants]);
        if (has_first_part(header))
            sections.boundaries.push_back(header[at::first_entry]);
    }
    std::ranges::sort(sections.boundaries);
    return sections;
}

// Whole bundles from `first` to the next boundary; a bundle of zeros is padding.
Result<Bytes> code_from(const Sections& sections, u64 first, u64 entry, const Header& header, u32 field) {
    const auto next = std::ranges::upper_bound(sections.boundaries, entry);
    const u64 end = std::min<u64>(next == sections.boundaries.end() ? 0 : *next, sections.code.size());
    if (end < first + bundle)
        return fail("DKSH: entry point {:#x} at {:#x} leaves no room for code before {:#x}", entry,
                    header.place + field, end);
    Bytes code = sections.code.subspan(first, (end - first) / bundle * bundle);
    const auto is_zero = [](std::byte byte) { return byte == std::byte{0}; };
    while (code.size() > bundle && std::ranges::all_of(code.last(bundle), is_zero))
        code = code.first(code.size() - bundle);
    return code;
}

struct Part {
    Bytes header, code;
    maxwell::ShaderProgramHeader sph;
};

Result<Part> graphics_part(const Sections& sections, const Header& header, u32 field, maxwell::ShaderType type) {
    const u64 entry = header[field];
    const auto bytes = slice(sections.code, entry, maxwell::sph_size);
    if (!bytes)
        return fail("DKSH: the program header at entry point {:#x} (at {:#x}) lies outside the {:#x} bytes of code",
                    entry, header.place + field, sections.code.size());
    const auto sph = maxwell::decode_sph(*bytes);
    if (!sph)
        return fail("DKSH: at entry point {:#x} (at {:#x}): {}", entry, header.place + field, sph.error().message);
    if (sph->type != type)
        return fail("DKSH: kind {} at {:#x}, but the program header at entry point {:#x} is of a {} program",
                    header[at::kind], header.place + at::kind, entry, maxwell::name(sph->type));
    const auto code = code_from(sections, entry + maxwell::sph_size, entry, header, field);
    if (!code)
        return tl::unexpected(code.error());
    return Part{*bytes, *code, *sph};
}

maxwell::ShaderType shader_type(program::Stage stage) {
    using maxwell::ShaderType;
    constexpr std::array types{ShaderType::Vertex, ShaderType::Pixel, ShaderType::Geometry, ShaderType::TessControl,
                               ShaderType::TessEval};
    return types[static_cast<std::size_t>(stage)];
}

Result<void> read_graphics(const Sections& sections, const Header& header, program::Program& program) {
    auto part = graphics_part(sections, header, at::entry, shader_type(program.stage));
    if (!part)
        return tl::unexpected(part.error());
    program.header = part->header;
    program.code = part->code;
    program.sph = part->sph;
    if (has_first_part(header)) {
        if (auto checked = header.at_most(at::first_registers, register_limit, "registers"); !checked)
            return checked;
        const auto first = graphics_part(sections, header, at::first_entry, maxwell::ShaderType::VertexA);
        if (!first)
            return tl::unexpected(first.error());
        program.second_header = program.header;
        program.second_code = program.code;
        program.header = first->header;
        program.code = first->code;
        program.sph = maxwell::merge_vertex_parts(first->sph, part->sph);
        program.register_count = std::max(program.register_count, header[at::first_registers]);
    } else if (program.stage == program::Stage::Fragment) {
        if (auto checked = header.flags(4); !checked)
            return checked;
        program.early_fragment_tests = header.flag(at::early_tests) != 0;
        program.per_sample = header.flag(at::per_sample) != 0;
    } else if (program.stage == program::Stage::Geometry) {
        if (auto checked = header.flags(2); !checked)
            return checked;
    }
    const u64 local = u64{program.sph->local_memory_low} + program.sph->local_memory_high;
    if (local > local_limit)
        return fail("DKSH: {:#x} bytes of local memory in the program header at entry point {:#x}", local,
                    header[at::entry]);
    program.local_bytes = static_cast<u32>(local);
    return {};
}

Result<void> read_compute(const Sections& sections, const Header& header, DkshProgram& found) {
    program::Program& program = found.program;
    const auto code = code_from(sections, header[at::entry], header[at::entry], header, at::entry);
    if (!code)
        return tl::unexpected(code.error());
    program.code = *code;
    for (u32 axis = 0; axis < 3; ++axis)
        program.workgroup_size[axis] = header[at::workgroup + 4 * axis];
    const auto [x, y, z] = program.workgroup_size;
    if (x == 0 || y == 0 || z == 0 || x > 1024 || y > 1024 || z > 64 || u64{x} * y * z > 1024)
        return fail("DKSH: workgroup size {} x {} x {} at {:#x}", x, y, z, header.place + at::workgroup);
    struct Limit {
        u32 offset, most;
        const char* what;
    };
    constexpr std::array limits{
        Limit{at::shared, shared_limit, "shared bytes"}, Limit{at::local_low, local_limit, "local bytes"},
        Limit{at::local_high, local_limit, "local bytes (second part)"},
        Limit{at::call_stack, call_stack_limit, "call stack bytes"}, Limit{at::barriers, barrier_limit, "barriers"}};
    for (const Limit& limit : limits)
        if (auto checked = header.at_most(limit.offset, limit.most, limit.what); !checked)
            return checked;
    program.shared_bytes = header[at::shared];
    program.local_bytes = header[at::local_low] + header[at::local_high];
    if (program.local_bytes > local_limit)
        return fail("DKSH: {:#x} local bytes at {:#x}, at most {:#x} exist", program.local_bytes,
                    header.place + at::local_low, local_limit);
    found.barriers = header[at::barriers];
    return {};
}

Result<DkshProgram> read_program(const Sections& sections, const Header& header) {
    if (header[at::kind] >= kinds.size())
        return fail("DKSH: kind {} at {:#x}, there are 0 to 5", header[at::kind], header.place + at::kind);
    if (auto checked = header.at_most(at::registers, register_limit, "registers"); !checked)
        return tl::unexpected(checked.error());
    if (auto checked = header.at_most(at::constants_size, constants_limit, "bytes of constants"); !checked)
        return tl::unexpected(checked.error());
    if (auto checked = header.at_most(at::scratch, warp * local_limit + call_stack_limit, "scratch bytes per warp");
        !checked)
        return tl::unexpected(checked.error());
    DkshProgram found;
    program::Program& program = found.program;
    program.stage = kinds[header[at::kind]];
    program.register_count = header[at::registers];
    // The one compiler that makes these files is the open one.
    program.layout = &program::open_compiler_layout;
    found.scratch_bytes_per_warp = header[at::scratch];
    if (header[at::constants_size] != 0) {
        const auto constants = slice(sections.code, header[at::constants], header[at::constants_size]);
        if (!constants)
            return fail("DKSH: constants at {:#x} (at {:#x}), {:#x} bytes, lie outside the {:#x} bytes of code",
                        header[at::constants], header.place + at::constants, header[at::constants_size],
                        sections.code.size());
        program.constants = *constants;
    }
    if (auto read = program.stage == program::Stage::Compute ? read_compute(sections, header, found)
                                                             : read_graphics(sections, header, program);
        !read)
        return tl::unexpected(read.error());
    return found;
}

} // namespace

bool is_dksh(Bytes bytes) {
    return read_at<u32>(bytes, 0) == magic;
}

Result<std::vector<DkshProgram>> parse_dksh(Bytes bytes) {
    const auto sections = find_sections(bytes);
    if (!sections)
        return tl::unexpected(sections.error());
    std::vector<DkshProgram> programs;
    programs.reserve(sections->headers.size());
    for (const Header& header : sections->headers) {
        auto program = read_program(*sections, header);
        if (!program)
            return tl::unexpected(program.error());
        programs.push_back(*std::move(program));
    }
    return programs;
}

} // namespace heaviside::archive
