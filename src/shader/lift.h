// Guest code to IR: decodes a program, resolves its control flow (lift_graph.h) and expresses each instruction in
// operations of the IR over guest registers (ssa.h makes values of them).
#pragma once

#include "shader/interface.h"
#include "shader/ir.h"

namespace heaviside::shader {

// Errors name the instruction, its address and the reason. Thread safe, no global state.
[[nodiscard]] Result<ir::Program> lift(const program::Program& program, const Options& options);

} // namespace heaviside::shader
