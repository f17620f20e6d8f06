// DKSH: the shader container of the console's open graphics library.
//
// The layout is public knowledge; no file of anybody's was at hand, so it is tested on files built by the tests alone.
// All numbers are little-endian u32 unless said otherwise.
//
//     header           +0x00 "DKSH", +0x04 header size (0x18 or more), +0x08 control size, +0x0c code size,
//                      +0x10 offset of the program headers, +0x14 number of programs
//     control section  [0, control size), a multiple of 256: the header and the program headers
//     code section     [control size, control size + code size)
//     program header   64 bytes: +0x00 kind (0 vertex, 1 fragment, 2 geometry, 3 tessellation control, 4 tessellation
//                      evaluation, 5 compute), +0x04 entry point, +0x08 registers, +0x0c constants' offset and +0x10
//                      their size, +0x14 scratch bytes per warp; +0x18 36 bytes by kind; +0x3c reserved
//       vertex         +0x18 entry point and +0x1c registers of a VertexA program that runs first; both 0: none
//       fragment       u8 flags +0x18 has table 3d1, +0x19 early fragment tests, +0x1a post-depth coverage, +0x1b runs
//                      once per sample; +0x1c table 3d1 (4), +0x2c, u16 +0x30, u16 +0x32: values of GPU methods
//       geometry       u8 flags +0x18 method 47c, +0x19 has table 490; +0x1c table 490 (8)
//       tess. eval.    +0x18 value of a GPU method
//       compute        +0x18 workgroup size (3), +0x24 shared bytes, +0x28 and +0x2c local bytes per thread, +0x30 call
//                      stack bytes, +0x34 barriers
//
// Entry points and the constants' offset count from the code section. A graphics program's entry point is its 80-byte
// SPH, and the first bundle follows; a compute program's is its first bundle.
#pragma once

#include "program/program.h"

#include <vector>

namespace heaviside::archive {

struct DkshProgram {
    program::Program program; // views into the bytes that were parsed; there is no control section
    u32 scratch_bytes_per_warp = 0;
    u32 barriers = 0; // compute
};

// By the magic alone.
[[nodiscard]] bool is_dksh(Bytes bytes);

// The programs in the order of their headers, at least one. `bytes` starts with the container and may go on behind it.
// A program's code reaches to whatever the container says comes next (another program, constants, the section's end)
// without the bundles of zeros before it.
// Errors name the field, its value and its offset. Any thread.
[[nodiscard]] Result<std::vector<DkshProgram>> parse_dksh(Bytes bytes);

} // namespace heaviside::archive
