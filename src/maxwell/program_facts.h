// What a program's instructions say about it: for its header and its launch.
#pragma once

#include "maxwell/instruction.h"
#include "maxwell/sph.h"

namespace heaviside::maxwell {

struct ProgramFacts {
    u32 registers = 0; // one more than the highest register touched
    u32 barriers = 0;  // one more than the highest barrier named by an immediate
    bool stores_global = false, loads_or_stores = false, uses_doubles = false, kills = false;
    AttributeMap inputs, outputs;
    std::array<PixelInput, 256> interpolation{};

    void add(const Instruction& instruction);
    // Adds to what the header says already. Interpolation that the header names stays.
    void apply(ShaderProgramHeader& header) const;
};

} // namespace heaviside::maxwell
