// The passes between the lifter and the emitter, in the order in which translate() runs them. Each leaves the program
// in a state that verify() accepts, with up-to-date predecessors.
#pragma once

#include "shader/flow.h"
#include "shader/ir.h"

namespace heaviside::shader::ir {

// Empties blocks that cannot be reached and cuts their edges.
void remove_unreachable(Program& program);

// Afterwards every loop is entered at its header only: splits nodes, and where that would grow the program too much,
// turns the graph into one loop around a switch. Before SSA construction only.
void make_reducible(Program& program);

// For compute programs on devices whose subgroups are not warps: lets the lanes of a warp meet at votes, shuffles and
// barriers that not every thread passes exactly once. The program becomes a loop of all threads around Op::Meet and a
// switch to what comes behind each such operation. Of a warp's waiting lanes those in front go on: earlier turns of
// loops first, then earlier places, so that they are together where the machine's reconvergence stack has them together
// in structured code. False: the program has no such operations. Before SSA construction only.
bool meet(Program& program);

// Replaces Get/Set of registers, predicates and flags by values and phis (Braun et al., "Simple and Efficient
// Construction of Static Single Assignment Form"). What is read before it is written is 0.
void construct_ssa(Program& program);

// Folds constants, applies identities, propagates copies and resolves trivial phis.
void fold(Program& program);

// Replaces words of `bank` at constant offsets inside `bytes` (the program's own constant data) by their values. True
// if there were any. Words beyond stay loads. With `zero_is_sign`, a zero word that is multiplied as a float
// stands for 1: the open compiler leaves the sign of derivatives in y to the driver, rows are those of memory here, and
// no compiler multiplies by zero.
bool embed_constants(Program& program, u8 bank, Bytes bytes, bool zero_is_sign);

// Makes one 64-bit addition of the two 32-bit ones, joined by a carry, that the machine adds addresses with.
void join_wide_sums(Program& program);

// Removes what has no effect and no use.
void remove_dead_code(Program& program);

// Makes the value behind every operand current: replaced[id] (where not ~0u) stands for id, transitively.
void apply_replacements(Program& program, std::vector<u32>& replaced);
[[nodiscard]] inline u32 resolve(std::vector<u32>& replaced, u32 id) {
    u32 root = id;
    while (replaced[root] != ~0u)
        root = replaced[root];
    while (replaced[id] != ~0u) {
        const u32 next = replaced[id];
        replaced[id] = root;
        id = next;
    }
    return root;
}

} // namespace heaviside::shader::ir
