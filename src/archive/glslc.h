// Outputs of GLSLC, the NVN shader compiler.
//
// Facts: ledger rows SHD-015, SHD-020, SHD-026, SHD-028 and SHD-084.
#pragma once

#include "archive/bnsh.h"

namespace heaviside::archive {

// By the magic alone.
[[nodiscard]] bool is_glslc(Bytes bytes);

// The stages that were compiled together, in the order of their sections, at least one. `bytes` starts with the output
// and may go on behind it. Where the section headers lead to no program, the single control section of an output with
// one stage is searched for. Errors name the field and its offset. Any thread.
[[nodiscard]] Result<std::vector<StageBlobs>> parse_glslc(Bytes bytes);

} // namespace heaviside::archive
