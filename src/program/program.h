// A shader program as the rest of the house sees it: one stage's machine code plus what its containers say about it.
//
// A program comes as two blobs. The GPU area holds a 0x30-byte prefix, the 80-byte shader program header (SPH), the code
// from +0x80 on and constant data behind it; the control section describes it (sizes, stage, workgroup). Field offsets:
// docs/isa.md and the ledger rows SHD and GFX in the area `program`.
#pragma once

#include "base/bytes.h"
#include "base/hash.h"
#include "base/result.h"

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
struct DriverBankLayout {
    const char* name;
    u8 handle_bank;          // the bank that immediate texture and image handle indices (4-byte words) index
    u32 texture_handles;     // combined handle of texture slot n: handle_bank[texture_handles + texture_stride * n]
    u32 texture_stride;      // 8 in both known layouts
    u32 separate_textures;   // separate texture handle n (0: none)
    u32 separate_samplers;   // separate sampler handle n (0: none)
    u32 image_handles;       // image slot n: handle_bank[image_handles + image_stride * n]
    u32 image_stride;
    u8 first_uniform_bank;   // uniform buffer n is c[first_uniform_bank + n] ...
    u8 compute_uniform_banks; // ... in compute only for n below this; others by address from
    u32 compute_uniform_addresses; // c[0][compute_uniform_addresses + 8 * (n - compute_uniform_banks)]
    std::array<u32, stage_count> storage_buffers; // c[0][storage_buffers[stage] + 16 * n] = {u64 address, u32 size, 0}
    u32 workgroup_count;     // c[0][workgroup_count + 4 * axis]
    u32 base_vertex;         // c[0] words; ~0u: this layout has none
    u32 base_instance;
    u32 draw_id;
};
extern const DriverBankLayout vendor_layout;
extern const DriverBankLayout open_compiler_layout;

// Views into the two blobs that parse() was given: the caller keeps those alive.
struct Program {
    Stage stage{};
    Bytes header;                // the 80-byte SPH; empty for compute programs without one
    Bytes code;                  // from the first bundle (control word) on, whole bundles of 32 bytes
    Bytes constants;             // the program's own constant data
    u8 constants_bank = 1;       // read as c[constants_bank]
    std::array<u32, 3> workgroup_size{1, 1, 1}; // compute
    u32 shared_bytes = 0;        // compute
    u32 local_bytes = 0;         // per thread, from SPH or control section
    u32 register_count = 0;      // 0: not said
    bool early_fragment_tests = false;
    bool per_sample = false;
    const DriverBankLayout* layout = &vendor_layout;
};

// Errors name the field and its value. Never reads outside the blobs, whatever they hold.
[[nodiscard]] Result<Program> parse(Bytes control_section, Bytes gpu_area);
// Content identity of everything that a translation depends on.
[[nodiscard]] Hash128 identity(const Program& program);

} // namespace heaviside::program
