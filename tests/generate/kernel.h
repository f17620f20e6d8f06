// A generated program as a kernel: its code, its input, and what the interpreter makes of it.
#pragma once

#include "interpreter/machine.h"
#include "maxwell/assembler.h"
#include "tests/generate/program.h"

#include <array>
#include <cstring>

namespace heaviside::generate {

struct Kernel {
    maxwell::Program program;
    std::vector<u32> bank;         // c[0]
    std::vector<u32> constants;    // c[2]
    std::vector<u32> input, start; // what the threads read; what stands in the output before the launch
};

inline constexpr u64 input_base = 0x1'0000'0000, output_base = 0x2'0000'0000;
inline constexpr u32 groups = 2, threads = groups * layout::block;

[[nodiscard]] inline Result<Kernel> assemble(const Program& program) {
    auto assembled = maxwell::assemble(kernel_source(program));
    if (!assembled)
        return tl::unexpected(assembled.error());
    Kernel kernel;
    kernel.program = std::move(*assembled);
    kernel.bank.resize(0x150 / 4);
    const std::array<u64, 2> addresses{input_base, output_base};
    std::memcpy(kernel.bank.data() + layout::input_address / 4, addresses.data(), sizeof addresses);
    kernel.constants = values(program.seed + 1, layout::constant_bytes / 4);
    kernel.input = values(program.seed + 2, threads * layout::input_bytes / 4);
    kernel.start.assign(threads * layout::output_bytes / 4, 0xa5a5a5a5);
    return kernel;
}

// The output buffer after the launch.
[[nodiscard]] inline Result<std::vector<u32>> interpret(const Kernel& kernel) {
    std::vector<u32> input = kernel.input, output = kernel.start;
    const std::array<interpreter::MemoryRange, 2> memory{
        interpreter::MemoryRange{input_base, std::as_writable_bytes(std::span(input))},
        interpreter::MemoryRange{output_base, std::as_writable_bytes(std::span(output))}};
    interpreter::Launch launch;
    launch.code = kernel.program.code;
    launch.banks[0] = std::as_bytes(std::span(kernel.bank));
    launch.banks[layout::constant_bank] = std::as_bytes(std::span(kernel.constants));
    launch.grid = {groups, 1, 1};
    launch.block = {layout::block, 1, 1};
    launch.shared_bytes = layout::block * layout::shared_bytes_per_thread;
    launch.local_bytes = layout::local_bytes;
    launch.global = memory;
    launch.step_limit = 1 << 20;
    if (auto done = interpreter::run(launch); !done)
        return tl::unexpected(done.error());
    return output;
}

} // namespace heaviside::generate
