// From guest code to a graph of basic blocks: the machine's branch stack is resolved here.
//
// Maxwell keeps reconvergence, break, continue and return targets on a stack (SSY/SYNC, PBK/BRK, PCNT/CONT, CAL and
// PRET/RET, PLONGJMP/LONGJMP, PEXIT/EXIT). For one thread each pop is a jump to a target that the path so far
// determines, so the code is walked with the stack as part of the state: code reached with different stacks becomes
// separate blocks (which also inlines calls), and what is left are plain edges.
#pragma once

#include "maxwell/instruction.h"
#include "program/program.h"

#include <vector>

namespace heaviside::shader::lifting {

using FlowBlockId = u32;
inline constexpr FlowBlockId no_flow_block = ~0u;

struct FlowCase {
    u32 address; // value that the branch register plus its offset has
    FlowBlockId target;
};

struct FlowBlock {
    u32 address = 0;         // of the first instruction
    u32 calls = 0;           // on the branch stack where it begins
    u32 first = 0, last = 0; // its instructions: FlowGraph::code[first, last), the ending branch not included
    enum class End : u8 {
        Branch, // to `taken`; `branch` gives a condition if `next` is a block
        Exit,   // likewise, the thread ends
        Table,  // to the case of the register's value
    } end = End::Branch;
    const maxwell::Instruction* branch = nullptr; // the instruction with the guard and test; null: unconditional
    FlowBlockId taken = no_flow_block;
    FlowBlockId next = no_flow_block; // where an untaken branch goes; none: always taken
    std::vector<FlowCase> cases;      // Table
};

struct FlowGraph {
    std::vector<maxwell::Instruction> code; // in the order of addresses, reachable instructions only
    std::vector<FlowBlock> blocks;          // blocks[0] is the entry
    std::vector<std::byte> joined_code;     // both parts of a vertex program in two parts, else empty
};

// What BRX and JMX add to their register.
[[nodiscard]] u32 jump_table_base(const maxwell::Instruction& inst);

// Errors name the address: words that are no instruction, pops without a push, recursion, jumps that cannot be bounded.
[[nodiscard]] Result<FlowGraph> build_flow_graph(const program::Program& program);

} // namespace heaviside::shader::lifting
