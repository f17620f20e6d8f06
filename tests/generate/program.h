// Random programs that are well formed: they end, stay inside their memory, and leave every register that they may
// write where a test can compare it. The interpreter and the device run the same program on the same input.
//
// A program is a tree, so that a reducer can take statements out and what is left still assembles.
#pragma once

#include "program/program.h"

#include <functional>
#include <string>
#include <vector>

namespace heaviside::generate {

using program::Stage;

struct Statement {
    enum class Kind {
        Lines,  // instructions that only make sense together
        If,     // `predicate` chooses between `body` and `otherwise`; lanes meet behind it
        Loop,   // `body` runs once or up to four times, as the lane's `selector` register says; lines may leave it
        Call,   // `body` is a function of its own; lines may leave it
        Switch, // `selector` chooses between four cases through a jump table: two run `body`, one `otherwise`, one
                // nothing
        Escape, // `body` runs once; lines may leave it by `selector`: LONGJMP, EXIT or RET, whatever they are inside of
    };
    Kind kind = Kind::Lines;
    std::vector<std::string> lines;
    bool whole = false;              // lines that mean nothing one by one: a handle and what uses it
    std::vector<std::string> settle; // behind the lines, as long as there are any: gives NaNs one set of bits
    std::string predicate;           // If: "P3", "!P3", or a test of the condition code: "CC.LT"
    std::string selector;            // Loop, Switch: a data register
    bool continues = false;          // Loop: lines of the body may go on with the next round
    std::vector<Statement> body, otherwise;
};

struct Program {
    u64 seed = 0;
    Stage stage = Stage::Compute;
    std::vector<Statement> statements;
};

// How many instructions the statements hold, those of branches not counted.
[[nodiscard]] std::size_t size(const Program& program);

// A thread's view. Threads of all stages have R0 to R15, predicates, a condition code and memory of their own. Kernels
// load and store them; graphics stages get them from the stage before as generic attributes and hand them on: 0 to 3
// are R0 to R15, 4 is the thread's index, the predicates and the condition code. Fragments write these five to targets.
namespace layout {
inline constexpr u32 data_registers = 16; // R0 to R15
inline constexpr u32 predicates = 6;      // P0 to P5
inline constexpr u32 input_bytes = 64;    // a thread: R0 to R15
// A thread: R0 to R15, the predicates, the condition code, padding; then scratch that memory statements use.
inline constexpr u32 output_bytes = 128, predicate_word = 16, condition_code_word = 17;
inline constexpr u32 scratch_offset = 80, scratch_bytes = 32;
inline constexpr u32 local_bytes = 64, shared_bytes_per_thread = 16, block = 64;
inline constexpr u32 input_address = 0x140, output_address = 0x148; // in c[0], 64 bits each
inline constexpr u32 constant_bank = 2, constant_bytes = 256;       // jump tables lie behind these
inline constexpr u32 table_bytes = 20;                              // four cases and an end
// Graphics: vertices drawn, one point each; tessellation takes patches of four; geometry programs run twice a point.
inline constexpr u32 vertices = 64, patch_points = 4, geometry_invocations = 2,
                     points = vertices * geometry_invocations;
inline constexpr u32 target_size = 16, target_count = 5; // the point of index i covers pixel (i % 16, i / 16)
inline constexpr u32 patch_word = 0x20;                  // R0 of a patch's first control point
// What handles name. Textures hold floats; the image of a stage holds a word for each thread.
inline constexpr u32 texture_2d = 1, texture_3d = 2, texture_array = 3, first_image = 8; // image: + stage
inline constexpr u32 samplers = 3;                                                       // repeat, clamp, mirror
inline constexpr u32 image_width = 16, image_height = 8;
} // namespace layout

struct Options {
    unsigned statements = 24;
    unsigned depth = 3; // of nested branches, loops and calls
    bool memory = true; // local, shared and global accesses, atomics
    bool floats = true, doubles = true, halves = true;
    bool textures = true; // fetches, images
    bool sampling = true; // point sampling and gathers besides
    bool warps = true;    // kernels: votes, shuffles, barriers, exchanges through shared memory
};

// The same seed, options and stage give the same program everywhere.
[[nodiscard]] Program generate(u64 seed, const Options& options = {}, Stage stage = Stage::Compute);

// The assembly. Kernels: one-dimensional blocks of layout::block threads. Its data are jump tables.
[[nodiscard]] std::string source(const Program& program);

// Words for the constant bank or for the registers of threads: edge cases of all types and random ones.
[[nodiscard]] std::vector<u32> values(u64 seed, std::size_t count);

// A smaller program for which `fails` is still true, found by taking statements, branches, guards and lines out until
// nothing more goes. `fails` must be true for `program`; it sees only programs that assemble if it says false for
// others.
[[nodiscard]] Program reduce(Program program, const std::function<bool(const Program&)>& fails);

} // namespace heaviside::generate
