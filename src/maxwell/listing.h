// Whole programs as text.
#pragma once

#include "base/bytes.h"

#include <string>

namespace heaviside::maxwell {

// The listing of the vendor's disassembler for raw code, with hex: a line for every control word and instruction.
// Words that are no instruction are printed as comments. A torn last word is left out.
[[nodiscard]] std::string listing(Bytes code);

// How many bytes of `code` are a program, where nothing says so: up to the branch to itself behind which no branch
// leads, and the NOPs behind it. All of them if there is no such branch, or if branches go where a register says.
[[nodiscard]] u64 code_extent(Bytes code);

// Source that assemble() turns back into the same code: control fields, labels at branch targets.
[[nodiscard]] std::string source_listing(Bytes code);

} // namespace heaviside::maxwell
