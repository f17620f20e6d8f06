// BNSH: the shader container of the console's graphics libraries. It turns up alone and inside other files.
//
// Facts: ledger rows SHD-001 and SHD-002. Every pointer is a 64-bit offset from the container's own first byte.
#pragma once

#include "program/program.h"

#include <vector>

namespace heaviside::archive {

struct StageBlobs {
    program::Stage stage{};
    Bytes control, code; // views into the bytes that were parsed
};

// One variation: the stages that are drawn, or dispatched, together.
struct Variation {
    std::vector<StageBlobs> stages;
};

// `bytes` starts with the container and may go on behind it. Variations without a binary program are left out. Errors
// name the table and the offset that leaves the file.
[[nodiscard]] Result<std::vector<Variation>> parse_bnsh(Bytes bytes);

// Offsets of all containers anywhere in `bytes`: the magic alone does not count, the block behind it must be there too.
[[nodiscard]] std::vector<u64> find_bnsh(Bytes bytes);

} // namespace heaviside::archive
