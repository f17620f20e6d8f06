// The readable form of the IR, printed and parsed; pass tests are written in it.
//
//   stage fragment
//   b0:
//     %0 = load_bank<3> 0x10
//     %1 = fadd.ftz %0, 1.5f
//     %2 = fcmp.lt.ftz %1, 0
//     branch_if %2, b1, b2
//   b1:
//     %3 = phi.u32 %0, %1          ; operand i belongs to the i-th predecessor in block order
//     store_color<0> %3
//     exit
//
// <...> is Inst::imm, .x are Inst::mods (tables in ir_text.cpp). Constants: 12, 0xff (U32), 1.5f (its U32 bits), 12l
// (U64), true, false. Value names are local to the text. Terminators: branch b1; branch_if %c, b1, b2; switch %v, b9,
// 0: b1, 4: b2; exit; unreachable. ';' starts a comment.
#pragma once

#include "shader/ir.h"

#include <string>
#include <string_view>

namespace heaviside::shader::ir {

[[nodiscard]] std::string print(const Program& program);
// Also computes predecessors and verifies. Errors name the line.
[[nodiscard]] Result<Program> parse(std::string_view text);

} // namespace heaviside::shader::ir
