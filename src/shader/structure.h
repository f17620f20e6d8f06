// From a reducible graph to nested statements that SPIR-V's structured control flow can say: if, loop, switch, leaving
// the innermost breakable construct, continuing the innermost loop. Jumps over several levels set a flag and leave
// level by level. After N. Ramsey, "Beyond Relooper" (a walk over the dominator tree), with the code behind a loop kept
// outside it, so that threads meet again after loops.
#pragma once

#include "shader/flow.h"

#include <string>

namespace heaviside::shader::ir {

enum class StatementKind : u8 {
    Code,      // a: block, its instructions
    PhiCopies, // a, b: edge; the phis of b take their operands for a
    If,        // a: condition; child 0 then, child 1 else
    IfFlag,    // a: flag; child 0
    SetFlag,   // a: flag, b: 0 or 1. Flags start as 0
    Once,      // child 0; Break leaves it
    Switch,    // a: selector; child 0: list of Case; Break leaves it
    Case,      // a, b: first and number of values in Structure::case_values; none: the default; child 0
    Loop,      // a: header block; child 0; runs again at its end; LoopBreak leaves it, Continue runs it again
    Break,     // leaves the innermost Once or Switch (which lies inside the innermost loop)
    LoopBreak, // leaves the innermost Loop
    Continue,  // of the innermost Loop
    Exit,
    Unreachable,
};

inline constexpr u32 no_statement = ~0u;

struct Statement {
    StatementKind kind{};
    u32 a = 0, b = 0;
    u32 next = no_statement;
    u32 child[2] = {no_statement, no_statement};
};

struct Structure {
    std::vector<Statement> statements;
    std::vector<u32> case_values;
    u32 first = no_statement;
    u32 flag_count = 0;
};

// Errors: a graph that is not reducible (run make_reducible first) or too large to nest.
[[nodiscard]] Result<Structure> structure(const Program& program, const FlowGraph& graph);
// Indented, one statement a line.
[[nodiscard]] std::string print(const Structure& structure);

} // namespace heaviside::shader::ir
