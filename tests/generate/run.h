// Generated programs as a device or the interpreter runs them: a kernel, or the stages of a draw, with what they read.
#pragma once

#include "interpreter/image.h"
#include "interpreter/machine.h"
#include "maxwell/assembler.h"
#include "tests/generate/program.h"

#include <map>

namespace heaviside::generate {

// What the textures hold, by ID; the images of the stages behind them.
struct Images {
    std::vector<interpreter::Texture> textures;
    std::vector<interpreter::Sampler> samplers;
};
[[nodiscard]] Images make_images();

inline constexpr u64 input_base = 0x1'0000'0000, output_base = 0x2'0000'0000, stage_distance = 0x1000'0000;
inline constexpr u32 groups = 2, threads = groups * layout::block;
static_assert(layout::points == threads);

// A program, its banks, and its threads' memory.
struct Part {
    Stage stage{};
    maxwell::Program program;
    std::vector<u32> bank, constants; // c[0], c[2]
    std::vector<u32> memory;          // from output_address() on, before it runs
};
[[nodiscard]] inline u64 output_address(Stage stage) {
    return output_base + static_cast<u64>(stage) * stage_distance;
}

struct Run {
    std::vector<Part> parts;   // in the order of the stages; a kernel alone
    std::vector<u32> input;    // of kernels
    std::vector<u32> vertices; // five attributes of four words each
};

// What a run leaves behind.
struct Outcome {
    std::map<Stage, std::vector<u32>> memory, images;
    std::vector<u32> targets; // pixel by pixel, target by target: 20 words; pixels that nothing covered hold `clear`
};
inline constexpr u32 clear = 0x5a5a5a5a;

// A kernel alone, or the stages of a draw from Vertex to Fragment.
[[nodiscard]] Result<Run> prepare(const std::vector<Program>& programs);
[[nodiscard]] Result<Outcome> interpret(const Run& run);
// The first difference; empty if there is none.
[[nodiscard]] std::string difference(const Outcome& got, const Outcome& expected);

} // namespace heaviside::generate
