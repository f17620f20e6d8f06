// The inverse of parse(): packs code into the two blobs that ProgramSetShaders takes, laid out as the vendor's compiler
// lays them out. For assembled programs: samples, tests, `heaviside asm`.
#pragma once

#include "maxwell/assembler.h"
#include "program/program.h"

namespace heaviside::program {

struct BuildInput {
    Stage stage = Stage::Vertex;
    maxwell::ShaderProgramHeader sph; // graphics stages
    Bytes code;                       // whole bundles
    Bytes constants;                  // read as c[1]
    std::array<u32, 3> workgroup_size{1, 1, 1};
    u32 shared_bytes = 0, local_bytes = 0; // compute; graphics stages state local memory in the SPH
    u32 register_count = 0;
    bool early_fragment_tests = false, per_sample = false;
    Tessellation tessellation;              // tessellation evaluation
    std::optional<FeedbackLayout> feedback; // as write_feedback_layout() takes it
};

struct Blobs {
    std::vector<std::byte> control; // 0x7d0 bytes
    std::vector<std::byte> gpu;     // place it at a multiple of 256
};

// What an assembled program says of itself. A view: the program must outlive it. Error: the source names no stage.
[[nodiscard]] Result<BuildInput> build_input(const maxwell::Program& assembled);

// Errors: no code, code that is no whole number of bundles, a feedback layout that cannot be written.
[[nodiscard]] Result<Blobs> build(const BuildInput& input);

} // namespace heaviside::program
