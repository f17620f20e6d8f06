// heaviside disasm: words or whole programs as text.
#include "archive/cubin.h"
#include "archive/dksh.h"
#include "archive/glslc.h"
#include "maxwell/control.h"
#include "maxwell/instruction.h"
#include "maxwell/listing.h"
#include "program/program.h"
#include "tools/commands.h"
#include "tools/flow_graph.h"
#include "tools/terminal.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <vector>

namespace heaviside::tools {
namespace {

constexpr std::string_view command = "disasm";

// One hex word a line in, "word<TAB>text" out: each as if at address 8 of its own program.
int disassemble_words() {
    std::ios::sync_with_stdio(false);
    std::string line, out;
    std::size_t number = 0;
    bool ok = true;
    while (std::getline(std::cin, line)) {
        ++number;
        std::string_view text = line;
        while (!text.empty() && (text.back() == '\r' || text.back() == ' ' || text.back() == '\t'))
            text.remove_suffix(1);
        if (text.empty())
            continue;
        std::string_view digits = text;
        if (digits.starts_with("0x") || digits.starts_with("0X"))
            digits.remove_prefix(2);
        u64 word = 0;
        const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), word, 16);
        if (error != std::errc{} || end != digits.data() + digits.size()) {
            report_error(command, fmt::format("line {}: '{}' is no 64-bit hexadecimal word", number, text));
            ok = false;
            continue;
        }
        out += text;
        out += '\t';
        if (const auto instruction = maxwell::decode(word))
            maxwell::disassemble_to(out, *instruction);
        else
            out += "invalid";
        out += '\n';
        if (out.size() > 1 << 16) {
            std::fwrite(out.data(), 1, out.size(), stdout);
            out.clear();
        }
    }
    std::fwrite(out.data(), 1, out.size(), stdout);
    return ok ? success : failed;
}

// One range of code in a file, with what the file says about it.
struct Unit {
    std::string name;       // of a kernel; empty: the file has no names
    std::string stage;      // empty: not known
    std::string directives; // of the assembler, that make what stands around the code; empty: nothing is known
    std::string header;     // described, a line for each field
    Bytes code, constants;
    u32 registers = 0; // 0: not said
    // The second part of a vertex program, if there is one.
    std::string second_directives, second_header;
    Bytes second_code;
};

// How a file holds its units: what its JSON looks like.
enum class Container { RawCode, Program, Cubin, Glslc, Dksh };

struct Contents {
    Container container;
    std::vector<Unit> units;
};

// Directives for what only the control section says.
std::string control_directives(const program::Program& program) {
    std::string text;
    if (program.register_count != 0)
        text += fmt::format(".registers {}\n", std::min(program.register_count, 255u));
    if (program.early_fragment_tests)
        text += ".early_tests\n";
    if (program.per_sample)
        text += ".per_sample\n";
    if (program.stage != program::Stage::Compute)
        return text;
    const auto [x, y, z] = program.workgroup_size;
    text += fmt::format(".workgroup {} {} {}\n", x, y, z);
    if (program.shared_bytes != 0)
        text += fmt::format(".shared {}\n", program.shared_bytes);
    if (program.local_bytes != 0)
        text += fmt::format(".local {}\n", program.local_bytes);
    return text;
}

Unit unit_of(const program::Program& program) {
    Unit unit;
    unit.stage = program::name(program.stage);
    if (program.stage == program::Stage::Compute) {
        unit.directives = ".stage compute\n";
    } else if (const auto sph = maxwell::decode_sph(program.header)) {
        unit.header = maxwell::describe(*sph);
        unit.directives = maxwell::header_source(*sph);
    }
    unit.directives += control_directives(program);
    unit.code = program.code;
    unit.constants = program.constants;
    unit.registers = program.register_count;
    if (const auto second = maxwell::decode_sph(program.second_header)) {
        unit.second_header = maxwell::describe(*second);
        unit.second_directives = maxwell::header_source(*second);
        unit.second_code = program.second_code;
    }
    return unit;
}

bool is_zero(Bytes bytes) {
    return std::ranges::all_of(bytes, [](std::byte byte) { return byte == std::byte{0}; });
}

// An area without its control section: code reaches as far as its branches say, constants may begin at the next
// multiple of 256 (counted from the area, which begins `before` bytes in front of the code), and zeros end it.
void bound_code(Unit& unit, u64 before) {
    constexpr u64 constants_alignment = 256;
    const u64 end = maxwell::code_extent(unit.code);
    const u64 constants = align_up(before + end, constants_alignment) - before;
    if (constants < unit.code.size())
        unit.constants = unit.code.subspan(constants);
    unit.code = unit.code.first(end);
    while (!unit.constants.empty() && unit.constants.back() == std::byte{0})
        unit.constants = unit.constants.first(unit.constants.size() - 1);
    while (unit.code.size() >= maxwell::bundle_size && is_zero(unit.code.last(maxwell::bundle_size)))
        unit.code = unit.code.first(unit.code.size() - maxwell::bundle_size);
}

// "NAME.gpu.bin" has its control section in "NAME.ctrl.bin".
std::vector<std::byte> control_beside(const std::string& file) {
    constexpr std::string_view suffix = ".gpu.bin";
    if (!file.ends_with(suffix))
        return {};
    return read_file(file.substr(0, file.size() - suffix.size()) + ".ctrl.bin").value_or(std::vector<std::byte>{});
}

Unit kernel_unit(const archive::Kernel& kernel) {
    Unit unit;
    unit.name = kernel.name;
    unit.stage = "compute";
    unit.directives = ".stage compute\n";
    if (kernel.registers != 0)
        unit.directives += fmt::format(".registers {}\n", kernel.registers);
    unit.code = kernel.code;
    unit.registers = kernel.registers;
    return unit;
}

Result<Contents> read_cubin(Bytes bytes, const std::string& kernel) {
    const auto kernels = archive::parse_cubin(bytes);
    if (!kernels)
        return tl::unexpected(kernels.error());
    Contents contents{Container::Cubin, {}};
    std::string names;
    for (const archive::Kernel& found : *kernels) {
        names += fmt::format("{}{}", names.empty() ? "" : ", ", found.name);
        if (kernel.empty() || kernel == found.name)
            contents.units.push_back(kernel_unit(found));
    }
    if (contents.units.empty())
        return fail("no kernel '{}'; there are: {}", kernel, names);
    return contents;
}

Result<Contents> read_glslc(Bytes bytes) {
    const auto stages = archive::parse_glslc(bytes);
    if (!stages)
        return tl::unexpected(stages.error());
    Contents contents{Container::Glslc, {}};
    for (const archive::StageBlobs& blobs : *stages) {
        const auto program = program::parse(blobs.control, blobs.code);
        if (!program)
            return tl::unexpected(program.error());
        contents.units.push_back(unit_of(*program));
    }
    return contents;
}

Result<Contents> read_dksh(Bytes bytes) {
    const auto programs = archive::parse_dksh(bytes);
    if (!programs)
        return tl::unexpected(programs.error());
    Contents contents{Container::Dksh, {}};
    for (const archive::DkshProgram& found : *programs)
        contents.units.push_back(unit_of(found.program));
    return contents;
}

// `control` is the control section of a code area, empty if it is not known.
Result<Contents> read_contents(Bytes bytes, Bytes control, const DisasmOptions& options) {
    if (options.raw) {
        Unit unit;
        unit.code = bytes;
        if (bytes.size() < maxwell::bundle_size)
            return fail("{} bytes of raw code, a bundle has {}", bytes.size(), maxwell::bundle_size);
        return Contents{Container::RawCode, {unit}};
    }
    if (options.cubin || archive::is_elf(bytes))
        return read_cubin(bytes, options.kernel);
    if (!options.kernel.empty())
        return fail("--kernel names a kernel of a cubin, and at offset 0 is no ELF magic");
    if (archive::is_glslc(bytes))
        return read_glslc(bytes);
    if (archive::is_dksh(bytes))
        return read_dksh(bytes);
    if (const auto whole = program::parse(control, bytes))
        return Contents{Container::Program, {unit_of(*whole)}};
    const auto program = program::parse_code(bytes);
    if (!program)
        return tl::unexpected(program.error());
    Unit unit = unit_of(*program);
    bound_code(unit, static_cast<u64>(program->code.data() - bytes.data()));
    return Contents{Container::Program, {unit}};
}

// ---- listings

void print(std::string_view text) {
    std::fwrite(text.data(), 1, text.size(), stdout);
}

void print_comment(std::string_view text) {
    for (std::size_t start = 0; start < text.size();) {
        const std::size_t end = std::min(text.find('\n', start), text.size());
        fmt::print("// {}\n", text.substr(start, end - start));
        start = end + 1;
    }
}

// The listing without its words: control words are whole lines, others end in a comment.
std::string without_words(std::string_view listing) {
    std::string out;
    for (std::size_t start = 0; start < listing.size();) {
        const std::size_t end = listing.find('\n', start);
        std::string_view line = listing.substr(start, end - start);
        start = end + 1;
        if (line.starts_with("    /*"))
            continue;
        out += line.substr(0, line.rfind("  /* 0x"));
        out += '\n';
    }
    return out;
}

void print_heading(const Unit& unit) {
    if (!unit.name.empty())
        fmt::print("// kernel {}\n", unit.name);
    else if (!unit.stage.empty())
        fmt::print("// {} program\n", unit.stage);
    if (unit.registers != 0)
        fmt::print("// {} registers\n", unit.registers);
    print_comment(unit.header);
}

void print_listing(const Unit& unit, const DisasmOptions& options) {
    print_heading(unit);
    const auto part = [&](Bytes code) {
        const std::string listing = maxwell::listing(code);
        print(options.no_hex ? without_words(listing) : listing);
    };
    part(unit.code);
    if (!unit.second_code.empty()) {
        print("// second part\n");
        print_comment(unit.second_header);
        part(unit.second_code);
    }
}

// `.data` with words of 4 bytes, the last ones one by one.
std::string data_source(Bytes constants) {
    std::string text = ".data\n";
    u64 at = 0;
    for (; at + 4 <= constants.size(); at += 4)
        text += fmt::format(".u32 {:#010x}\n", *read_at<u32>(constants, at));
    for (; at < constants.size(); ++at)
        text += fmt::format(".u8 {:#04x}\n", *read_at<u8>(constants, at));
    return text;
}

void print_source(const Unit& unit) {
    print_heading(unit);
    print(unit.directives);
    print(maxwell::source_listing(unit.code));
    if (!unit.constants.empty())
        print(data_source(unit.constants));
    // A source is one program. The second part of a vertex program is one too: it stands there as a comment.
    if (!unit.second_code.empty()) {
        print("// second part\n");
        print_comment(unit.second_directives);
        print_comment(maxwell::source_listing(unit.second_code));
    }
}

void print_graph(const Unit& unit) {
    const std::string& name = unit.name.empty() ? unit.stage : unit.name;
    print(flow_graph(unit.code, name));
    if (!unit.second_code.empty())
        print(flow_graph(unit.second_code, name + ", second part"));
}

// ---- JSON

std::string text_of(const maxwell::CodeWord& word) {
    const auto instruction = maxwell::decode(word.word, word.address);
    return instruction ? maxwell::disassemble(*instruction, word.control.reuse) : "invalid";
}

nlohmann::json instructions_of(Bytes code) {
    auto instructions = nlohmann::json::array();
    for (const maxwell::CodeWord word : maxwell::CodeView(code))
        instructions.push_back({{"address", word.address},
                                {"word", fmt::format("{:016x}", word.word)},
                                {"text", text_of(word)},
                                {"stall", word.control.stall},
                                {"yield", word.control.yield},
                                {"wait", word.control.wait},
                                {"read_barrier", word.control.read_barrier},
                                {"write_barrier", word.control.write_barrier},
                                {"reuse", word.control.reuse}});
    return instructions;
}

std::string hex_of(Bytes bytes) {
    std::string text;
    for (const std::byte byte : bytes)
        text += fmt::format("{:02x}", static_cast<unsigned>(byte));
    return text;
}

nlohmann::json json_of(const Unit& unit) {
    nlohmann::json document{{"instructions", instructions_of(unit.code)}};
    if (!unit.name.empty())
        document["name"] = unit.name;
    if (!unit.stage.empty())
        document["stage"] = unit.stage;
    if (unit.registers != 0)
        document["registers"] = unit.registers;
    if (!unit.header.empty())
        document["header"] = unit.header;
    if (!unit.constants.empty())
        document["constants"] = hex_of(unit.constants);
    if (!unit.second_code.empty())
        document["second_part"] = instructions_of(unit.second_code);
    if (!unit.second_header.empty())
        document["second_header"] = unit.second_header;
    return document;
}

void print_json(const Contents& contents) {
    nlohmann::json document;
    if (contents.container != Container::RawCode && contents.container != Container::Program) {
        auto& list = document[contents.container == Container::Cubin ? "kernels" : "programs"];
        for (const Unit& unit : contents.units)
            list.push_back(json_of(unit));
    } else {
        document = json_of(contents.units.front());
    }
    // Names come from the file and may be no UTF-8.
    fmt::print("{}\n", document.dump(1, ' ', false, nlohmann::json::error_handler_t::replace));
}

} // namespace

int run_disasm(const DisasmOptions& options) {
    if (options.words)
        return disassemble_words();
    const auto bytes = read_file(options.file);
    if (!bytes) {
        report_error(command, bytes.error().message);
        return unavailable;
    }
    const auto control = control_beside(options.file);
    const auto contents = read_contents(*bytes, control, options);
    if (!contents) {
        report_error(command, fmt::format("{}: {}", options.file, contents.error().message));
        return failed;
    }
    if (options.json) {
        print_json(*contents);
        return success;
    }
    for (const Unit& unit : contents->units) {
        if (options.graph)
            print_graph(unit);
        else if (options.source)
            print_source(unit);
        else
            print_listing(unit, options);
    }
    return success;
}

} // namespace heaviside::tools
