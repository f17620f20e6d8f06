// Facts about the control-flow graph of a program: order, dominators, natural loops.
#pragma once

#include "shader/ir.h"

namespace heaviside::shader::ir {

struct FlowGraph {
    std::vector<BlockId> order;      // reachable blocks, reverse postorder
    std::vector<u32> position;       // in `order`; ~0u: not reachable
    std::vector<BlockId> idom;       // immediate dominator; the entry's is itself
    std::vector<BlockId> loop;       // header of the innermost loop around a block (a header: its own), or no_block
    std::vector<BlockId> outer_loop; // of a header: header of the next loop outwards, or no_block
    bool reducible = true;

    [[nodiscard]] bool dominates(BlockId a, BlockId b) const;
    [[nodiscard]] bool in_loop(BlockId block, BlockId header) const;
    [[nodiscard]] bool is_loop_header(BlockId block) const { return loop[block] == block; }
    [[nodiscard]] bool is_back_edge(BlockId from, BlockId to) const { return position[to] <= position[from]; }
};

// Needs predecessors; gives them up-to-date meaning only for reachable blocks. Dominators: Cooper, Harvey, Kennedy,
// "A Simple, Fast Dominance Algorithm".
[[nodiscard]] FlowGraph analyse_flow(const Program& program);

} // namespace heaviside::shader::ir
