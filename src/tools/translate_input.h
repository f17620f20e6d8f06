// What `heaviside translate` reads: bare programs and every container that the archive floor knows, told by their
// magic.
#pragma once

#include "archive/kernel_image.h"
#include "program/program.h"

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace heaviside::tools {

inline constexpr std::string_view gpu_suffix = ".gpu.bin", control_suffix = ".ctrl.bin";

struct NamedProgram {
    std::string name; // unique in its file; empty: the file is the program
    Result<program::Program> program;
};

// The programs are views into the rest; a moved file keeps them.
struct ProgramFile {
    std::vector<std::byte> bytes, control;
    std::vector<archive::KernelImage> kernels;
    std::vector<NamedProgram> programs;
};

// Kernels of cubins get kernel_layout, a workgroup of one warp, and their module's variables at 2^32, where
// `heaviside run` places them. `control` may be empty: a GPU area's stage then comes from its header, and bare code is
// compute. A program that is at fault is an error in its place; an error of the whole names the container's fault.
[[nodiscard]] Result<ProgramFile> read_programs(const std::filesystem::path& path,
                                                const std::filesystem::path& control);

// By the first bytes: a cubin, DKSH, GLSLC output or BNSH.
[[nodiscard]] bool is_container(const std::filesystem::path& path);

} // namespace heaviside::tools
