// Kernels written in assembly, run by the interpreter and, translated, on the device: both must leave the same words.
#pragma once

#include "interpreter/machine.h"
#include "maxwell/assembler.h"
#include "tests/isa/bench.h"

#include <gtest/gtest.h>

namespace heaviside::test {

struct AssembledKernel {
    std::string source; // c[0][0x140]: the output's address; c[0][0x148]: that of the input, if there is one
    u32 block = 64, grid = 1;
    u32 words = 64; // of output, zero before
    u32 shared_bytes = 0, local_bytes = 0;
    std::vector<u32> input;
    std::map<u32, Blob> banks;
};

// The output that both left. Fails the current test where they differ, or where one does not run; empty then.
inline std::vector<u32> run_assembled(const AssembledKernel& kernel) {
    Bench& bench = Bench::get();
    const auto assembled = maxwell::assemble(kernel.source);
    if (!assembled) {
        ADD_FAILURE() << assembled.error().message << "\n" << kernel.source;
        return {};
    }
    std::map<u32, Blob> banks = kernel.banks;
    const u64 output_address = buffer_address(0), input_address = buffer_address(1);
    put<u32>(banks[0], 0x8, kernel.block);
    put<u64>(banks[0], 0x140, output_address);
    put<u64>(banks[0], 0x148, input_address);
    const auto bytes_of = [](std::vector<u32>& words) { return std::as_writable_bytes(std::span(words)); };

    std::vector<u32> input = kernel.input, expected(kernel.words);
    const std::array ranges{interpreter::MemoryRange{output_address, bytes_of(expected)},
                            interpreter::MemoryRange{input_address, bytes_of(input)}};
    interpreter::Launch launch;
    launch.code = assembled->code;
    for (const auto& [bank, bytes] : banks)
        launch.banks[bank] = bytes;
    launch.grid = {kernel.grid, 1, 1};
    launch.block = {kernel.block, 1, 1};
    launch.shared_bytes = kernel.shared_bytes;
    launch.local_bytes = kernel.local_bytes;
    launch.global = ranges;
    launch.step_limit = 1 << 22;
    if (const auto done = interpreter::run(launch); !done) {
        ADD_FAILURE() << "interpreter: " << done.error().message << "\n" << kernel.source;
        return {};
    }

    program::Program program;
    program.stage = shader::Stage::Compute;
    program.code = assembled->code;
    program.workgroup_size = {kernel.block, 1, 1};
    program.shared_bytes = kernel.shared_bytes;
    program.local_bytes = kernel.local_bytes;
    program.layout = &program::kernel_layout;
    Blob output(4 * kernel.words),
        given(std::as_bytes(std::span(kernel.input)).begin(), std::as_bytes(std::span(kernel.input)).end());
    std::vector<std::pair<u64, Blob*>> memory{{output_address, &output}};
    if (!given.empty())
        memory.emplace_back(input_address, &given);
    if (const std::string error = bench.run(program, banks, memory, {kernel.grid, 1, 1}); !error.empty()) {
        ADD_FAILURE() << "device: " << error << "\n" << kernel.source;
        return {};
    }
    std::vector<u32> got(kernel.words);
    std::memcpy(got.data(), output.data(), output.size());
    for (std::size_t i = 0; i < got.size(); ++i)
        if (got[i] != expected[i]) {
            ADD_FAILURE() << fmt::format("word {}: {:#x} on the device, {:#x} by the interpreter\n", i, got[i],
                                         expected[i])
                          << kernel.source;
            return {};
        }
    return got;
}

} // namespace heaviside::test
