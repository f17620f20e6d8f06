// Which instructions finish in a fixed time, and which through scoreboards.
#pragma once

#include "maxwell/opcode.h"

namespace heaviside::maxwell {

enum Latency : u8 {
    Fixed = 0,
    Result = 1,   // the result comes some time: needs a write scoreboard
    Operands = 2, // sources are read some time: needs a read scoreboard
    Both = Result | Operands,
};

// From what the vendor's assembler gives scoreboards to, over the corpus of kernels.
[[nodiscard]] Latency latency(Opcode opcode);

// True for the units whose operands the reuse bits keep: arithmetic, but not the special function and memory units.
[[nodiscard]] bool has_operand_caches(Opcode opcode);

} // namespace heaviside::maxwell
