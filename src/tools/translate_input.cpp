#include "tools/translate_input.h"

#include "archive/bnsh.h"
#include "archive/cubin.h"
#include "archive/dksh.h"
#include "archive/glslc.h"
#include "tools/terminal.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <fmt/format.h>
#include <fstream>
#include <set>
#include <span>

namespace heaviside::tools {
namespace {

constexpr u64 variables_at = u64{1} << 32;
constexpr u8 kernel_constants = 2; // the bank of `.nv.constant2`: the compiler's own constants and jump tables
constexpr std::string_view bnsh_magic = "BNSH";

bool is_bnsh(Bytes bytes) {
    const auto start = slice(bytes, 0, bnsh_magic.size());
    return start && std::memcmp(start->data(), bnsh_magic.data(), bnsh_magic.size()) == 0;
}

Result<void> add_kernels(ProgramFile& file) {
    const auto kernels = archive::parse_cubin(file.bytes);
    if (!kernels)
        return tl::unexpected(kernels.error());
    for (const archive::Kernel& kernel : *kernels) {
        auto image = archive::load_kernel(file.bytes, kernel.name, variables_at);
        if (!image) {
            file.programs.push_back({std::string(kernel.name), tl::unexpected(image.error())});
            continue;
        }
        program::Program program;
        program.stage = program::Stage::Compute;
        program.code = image->code;
        program.workgroup_size = {32, 1, 1};
        program.shared_bytes = image->shared_bytes;
        program.local_bytes = image->stack_bytes;
        program.register_count = image->registers;
        program.layout = &program::kernel_layout;
        program.constants_bank = kernel_constants;
        file.kernels.push_back(*std::move(image));
        program.constants = file.kernels.back().banks[kernel_constants];
        file.programs.push_back({std::string(kernel.name), program});
    }
    return {};
}

Result<void> add_dksh(ProgramFile& file) {
    const auto programs = archive::parse_dksh(file.bytes);
    if (!programs)
        return tl::unexpected(programs.error());
    for (const archive::DkshProgram& each : *programs)
        file.programs.push_back({program::name(each.program.stage), each.program});
    return {};
}

void add_stages(ProgramFile& file, const std::vector<archive::StageBlobs>& stages, const std::string& prefix) {
    for (const archive::StageBlobs& stage : stages)
        file.programs.push_back({prefix + program::name(stage.stage), program::parse(stage.control, stage.code)});
}

Result<void> add_glslc(ProgramFile& file) {
    const auto stages = archive::parse_glslc(file.bytes);
    if (!stages)
        return tl::unexpected(stages.error());
    add_stages(file, *stages, "");
    return {};
}

Result<void> add_bnsh(ProgramFile& file) {
    const auto variations = archive::parse_bnsh(file.bytes);
    if (!variations)
        return tl::unexpected(variations.error());
    for (std::size_t i = 0; i < variations->size(); ++i)
        add_stages(file, (*variations)[i].stages, fmt::format("{}.", i));
    return {};
}

struct Container {
    bool (*is)(Bytes);
    Result<void> (*add)(ProgramFile&);
};
constexpr Container containers[] = {
    {archive::is_elf, add_kernels}, {archive::is_dksh, add_dksh}, {archive::is_glslc, add_glslc}, {is_bnsh, add_bnsh}};

// A file of one program needs no names; equal ones get a number.
void make_unique(std::vector<NamedProgram>& programs) {
    if (programs.size() == 1) {
        programs.front().name.clear();
        return;
    }
    std::set<std::string> taken;
    for (NamedProgram& each : programs) {
        const std::string name = each.name;
        for (unsigned n = 2; !taken.insert(each.name).second; ++n)
            each.name = fmt::format("{}.{}", name, n);
    }
}

} // namespace

Result<ProgramFile> read_programs(const std::filesystem::path& path, const std::filesystem::path& control) {
    ProgramFile file;
    auto bytes = read_file(path);
    if (!bytes)
        return tl::unexpected(bytes.error());
    file.bytes = *std::move(bytes);
    if (!control.empty()) {
        auto section = read_file(control);
        if (!section)
            return tl::unexpected(section.error());
        file.control = *std::move(section);
        file.programs.push_back({"", program::parse(file.control, file.bytes)});
        return file;
    }
    for (const Container& container : containers) {
        if (!container.is(file.bytes))
            continue;
        if (const auto added = container.add(file); !added)
            return tl::unexpected(added.error());
        if (file.programs.empty())
            return fail("there is no program in it");
        make_unique(file.programs);
        return file;
    }
    file.programs.push_back({"", program::parse_code(file.bytes)});
    return file;
}

bool is_container(const std::filesystem::path& path) {
    std::array<char, 16> start{};
    std::ifstream file(path, std::ios::binary);
    file.read(start.data(), start.size());
    const Bytes bytes = std::as_bytes(std::span(start)).first(static_cast<std::size_t>(file.gcount()));
    for (const Container& container : containers)
        if (container.is(bytes))
            return true;
    return false;
}

} // namespace heaviside::tools
