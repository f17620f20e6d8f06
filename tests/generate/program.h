// Random programs that are well formed: they end, stay inside their memory, and leave every register that they may
// write where a test can compare it. The interpreter and the device run the same program on the same input.
//
// A program is a tree, so that a reducer can take statements out and what is left still assembles.
#pragma once

#include "base/types.h"

#include <functional>
#include <string>
#include <vector>

namespace heaviside::generate {

struct Statement {
    enum class Kind {
        Lines, // instructions that only make sense together
        If,    // `predicate` chooses between `body` and `otherwise`; lanes meet behind it
        Loop,  // `body` runs once or up to four times, as the lane's `counter` register says
        Call,  // `body` is a function of its own
    };
    Kind kind = Kind::Lines;
    std::vector<std::string> lines;
    std::vector<std::string> settle; // behind the lines, as long as there are any: gives NaNs one set of bits
    std::string predicate;           // If: "P3", "!P3"
    std::string counter;             // Loop: a data register
    std::vector<Statement> body, otherwise;
};

struct Program {
    u64 seed = 0;
    std::vector<Statement> statements;
};

// How many instructions the statements hold, those of branches not counted.
[[nodiscard]] std::size_t size(const Program& program);

// A thread's view. Threads of all stages read and write global memory by their index; stages differ in how they get it.
namespace layout {
inline constexpr u32 data_registers = 16; // R0 to R15
inline constexpr u32 predicates = 6;      // P0 to P5
inline constexpr u32 input_bytes = 64;    // a thread: R0 to R15
// A thread: R0 to R15, the predicates, the condition code, padding; then scratch that memory statements use.
inline constexpr u32 output_bytes = 128, predicate_word = 16, condition_code_word = 17;
inline constexpr u32 scratch_offset = 80, scratch_bytes = 32;
inline constexpr u32 local_bytes = 64, shared_bytes_per_thread = 16, block = 64;
inline constexpr u32 input_address = 0x140, output_address = 0x148; // in c[0], 64 bits each
inline constexpr u32 constant_bank = 2, constant_bytes = 256;
} // namespace layout

struct Options {
    unsigned statements = 24;
    unsigned depth = 3; // of nested branches, loops and calls
    bool memory = true; // local, shared and global accesses, atomics
    bool floats = true, doubles = true, halves = true;
};

// The same seed and options give the same program everywhere.
[[nodiscard]] Program generate(u64 seed, const Options& options = {});

// The assembly of a kernel: one-dimensional blocks of layout::block threads.
[[nodiscard]] std::string kernel_source(const Program& program);

// Words for the constant bank or for the registers of threads: edge cases of all types and random ones.
[[nodiscard]] std::vector<u32> values(u64 seed, std::size_t count);

// A smaller program for which `fails` is still true, found by taking statements, branches, guards and lines out until
// nothing more goes. `fails` must be true for `program`; it sees only programs that assemble if it says false for
// others.
[[nodiscard]] Program reduce(Program program, const std::function<bool(const Program&)>& fails);

} // namespace heaviside::generate
