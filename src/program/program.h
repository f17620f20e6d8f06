// A shader program as the rest of the house sees it: one stage's machine code plus what its containers say about it.
//
// A program comes as two blobs. The GPU area holds a 0x30-byte prefix, the 80-byte shader program header (SPH), the
// code from +0x80 on and constant data behind it; the control section describes it (sizes, stage, workgroup). Field
// offsets: docs/isa.md and the ledger rows SHD and GFX in the area `program`.
#pragma once

#include "base/bytes.h"
#include "base/hash.h"
#include "base/result.h"
#include "maxwell/sph.h"
#include "program/feedback.h"

#include <array>
#include <optional>
#include <string>

namespace heaviside::program {

// Numbered as NVNshaderStage and as the control section's word +0x714.
enum class Stage : u8 { Vertex, Fragment, Geometry, TessControl, TessEval, Compute };
inline constexpr unsigned stage_count = 6;
[[nodiscard]] const char* name(Stage stage); // "vertex", ...

// Where a compiler expects what the driver keeps in constant banks. All offsets in bytes. It is data: the vendor's
// compiler and the open one that made the test corpus differ, and a program says which it is (driver_bank_layout()).
// ~0u: the layout has no such word or table.
struct DriverBankLayout {
    const char* name;
    u8 handle_bank;        // the bank that immediate texture and image handle indices (4-byte words) index
    u32 texture_handles;   // combined handle of texture slot n: handle_bank[texture_handles + texture_stride * n]
    u32 texture_stride;    // 8 in both known layouts
    u32 separate_textures; // texture word n: handle_bank[separate_textures + 8 * n] (0: none)
    u32 separate_samplers; // sampler word n: handle_bank[separate_samplers + 8 * n] (0: none)
    u32 image_handles;     // image slot n: handle_bank[image_handles + image_stride * n]
    u32 image_stride;
    u8 first_uniform_bank;         // uniform buffer n is c[first_uniform_bank + n] ...
    u8 compute_uniform_banks;      // ... in compute only for n below this (the hardware has 8 banks there); others by
                                   // address
    u32 compute_uniform_addresses; // u64 at c[0][compute_uniform_addresses + stride * (n - compute_uniform_first)]
    u32 compute_uniform_stride;
    u32 compute_uniform_first;                    // the buffer of the table's first row
    std::array<u32, stage_count> storage_buffers; // c[0][storage_buffers[stage] + 16 * n] = {u64 address, u32 size, 0}
    u32 workgroup_count;                          // c[0][workgroup_count + 4 * axis]
    u32 base_vertex;                              // c[0] words; ~0u: this layout has none
    u32 base_instance;
    u32 draw_id;
    u32 point_size_limit; // f32, graphics stages
};
extern const DriverBankLayout vendor_layout;
extern const DriverBankLayout open_compiler_layout;
// Kernels of the vendor's compute compiler: launch sizes from c[0][8] on, parameters from c[0][0x140] on, no handle
// tables, buffers by address. Programs without a control section may be of this kind; whoever loads them says so.
extern const DriverBankLayout kernel_layout;
// The layout that the program of this control section was compiled for. The open compiler writes sections of one fixed
// size and says so in three words (0x7c0 at +0x14, 0x7c1 at +0x20 and at +0x6f0); the vendor's are at least 0x7d0
// bytes. A caller that knows better assigns Program::layout.
[[nodiscard]] const DriverBankLayout& driver_bank_layout(Bytes control_section);

// Views into the two blobs that parse() was given: the caller keeps those alive.
struct Program {
    Stage stage{};
    Bytes header;                               // the 80-byte SPH; empty for compute programs without one
    Bytes code;                                 // from the first bundle (control word) on, whole bundles of 32 bytes
    Bytes constants;                            // the program's own constant data
    u8 constants_bank = 1;                      // read as c[constants_bank]
    std::array<u32, 3> workgroup_size{1, 1, 1}; // compute
    u32 shared_bytes = 0;                       // compute
    u32 local_bytes = 0;                        // per thread, from SPH or control section
    u32 register_count = 0;                     // 0: not said
    bool early_fragment_tests = false;
    bool per_sample = false;
    Tessellation tessellation;              // tessellation evaluation
    std::optional<FeedbackLayout> feedback; // vertex, tessellation evaluation, geometry: captured if last of them
    const DriverBankLayout* layout = &vendor_layout;
    // `header` decoded; of a vertex program in two parts, the union of both. Nothing if `header` is empty.
    std::optional<maxwell::ShaderProgramHeader> sph;
    // A vertex program of the VertexA kind runs `code`, then, instead of its unconditional EXITs, this second part.
    Bytes second_header, second_code;
    Bytes control; // the control section's own bytes (at most 0x880), empty without one
};

// Errors name the field and its value. Never reads outside the blobs, whatever they hold. Both blobs may be longer than
// the program: what belongs to it is what the control section says.
[[nodiscard]] Result<Program> parse(Bytes control_section, Bytes gpu_area);
// A program without its control section: a GPU area (told by its magic), a program header with code behind it, or bare
// code, which is taken for `stage`. Code reaches to the end of the bytes; there are no constants.
[[nodiscard]] Result<Program> parse_code(Bytes bytes, Stage stage = Stage::Compute);
// The control section's length by its own word, and the bytes of GPU area that belong to the program: what a runtime
// that only has two pointers may read.
[[nodiscard]] Result<u32> control_section_size(Bytes control_section);
[[nodiscard]] Result<u32> gpu_area_size(Bytes control_section);
// Content identity of everything that a translation depends on.
[[nodiscard]] Hash128 identity(const Program& program);

} // namespace heaviside::program
