// Control flow of machine code as a Graphviz graph.
#pragma once

#include "base/bytes.h"

#include <string>
#include <string_view>

namespace heaviside::tools {

// A digraph named `name` of the basic blocks that are reached from the first instruction of `code` (whole bundles).
// Edges are labelled with the guard of the branch that takes them; dashed edges go from what pushes a target (SSY, PBK,
// PCNT, CAL, ...) to it; what pops it (SYNC, BRK, CONT, RET) has a solid edge labelled with its name. Targets that the
// code alone does not tell (BRX, constants) are a node "indirect", with dashed edges to the blocks that nothing else
// reaches. Ends in a newline.
[[nodiscard]] std::string flow_graph(Bytes code, std::string_view name);

} // namespace heaviside::tools
