// Runs programs in assembly for tests: 64 words of global memory at word_base, some shared and local memory.
#pragma once

#include "interpreter/machine.h"
#include "maxwell/assembler.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace heaviside::interpreter::test {

inline constexpr u64 word_base = 0x40000000;
inline constexpr std::size_t word_count = 256;
inline constexpr u32 shared_window = 0x01000000, local_window = 0x02000000;

struct Program {
    std::string source;
    std::array<u32, 3> block{1, 1, 1}, grid{1, 1, 1};
    std::vector<u32> words;        // at word_base at the start; filled up with 0
    std::vector<u32> bank2, bank3; // constants
    std::vector<RegisterValue> registers;
    u64 step_limit = 1 << 20;
};

// The words afterwards. c[0][0] holds word_base.
inline Result<std::vector<u32>> run_words(const Program& program) {
    const auto assembled = maxwell::assemble(program.source);
    if (!assembled)
        return tl::unexpected(assembled.error());
    std::vector<u32> words = program.words;
    words.resize(word_count);
    const std::array<u32, 2> address{static_cast<u32>(word_base), 0};
    const MemoryRange range{word_base, std::as_writable_bytes(std::span(words))};
    Launch launch;
    launch.code = assembled->code;
    launch.banks[0] = std::as_bytes(std::span(address));
    launch.banks[2] = std::as_bytes(std::span(program.bank2));
    launch.banks[3] = std::as_bytes(std::span(program.bank3));
    launch.block = program.block;
    launch.grid = program.grid;
    launch.shared_bytes = 1024;
    launch.local_bytes = 64;
    launch.global = {&range, 1};
    launch.shared_window = shared_window;
    launch.local_window = local_window;
    launch.registers = program.registers;
    launch.step_limit = program.step_limit;
    if (auto result = run(launch); !result)
        return tl::unexpected(result.error());
    return words;
}

// R0 = the thread's number, R10:R11 = the address of its word.
inline const std::string own_word = "    S2R R0, SR_TID.X\n"
                                    "    ISCADD R10, R0, c[0x0][0x0], 0x2\n"
                                    "    MOV R11, RZ\n";

// What every thread stores of `reg` after `body`; R0 and R10:R11 as above.
inline std::vector<u32> each_thread(const std::string& body, u32 threads, const std::string& reg,
                                    Program program = {}) {
    program.source = own_word + body + "    STG.E [R10], " + reg + "\n    EXIT\n";
    program.block = {threads, 1, 1};
    auto words = run_words(program);
    EXPECT_TRUE(words) << (words ? "" : words.error().message);
    if (!words)
        return std::vector<u32>(threads);
    words->resize(threads);
    return *words;
}

} // namespace heaviside::interpreter::test
