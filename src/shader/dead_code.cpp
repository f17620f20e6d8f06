#include "shader/passes.h"

namespace heaviside::shader::ir {

void remove_unreachable(Program& program) {
    compute_predecessors(program);
    const FlowGraph graph = analyse_flow(program);
    if (graph.order.size() == program.blocks.size())
        return;
    for (BlockId b = 0; b < program.blocks.size(); ++b) {
        if (graph.position[b] != ~0u)
            continue;
        program.blocks[b].insts.clear();
        program.blocks[b].end = {};
        program.blocks[b].end.kind = Terminator::Kind::Unreachable;
    }
    compute_predecessors(program);
}

void remove_dead_code(Program& program) {
    std::vector<u8> live(program.insts.size(), 0);
    std::vector<u32> work;
    const auto mark = [&](u32 id) {
        if (!live[id]) {
            live[id] = 1;
            work.push_back(id);
        }
    };
    for (const Block& block : program.blocks) {
        for (u32 id : block.insts)
            if (info(program.insts[id].op).effect == Effect::Write)
                mark(id);
        if (block.end.condition.valid())
            mark(block.end.condition.id);
    }
    while (!work.empty()) {
        const u32 id = work.back();
        work.pop_back();
        for (Value v : program.args(program.insts[id]))
            mark(v.id);
    }
    for (Block& block : program.blocks)
        std::erase_if(block.insts, [&](u32 id) { return !live[id]; });
}

} // namespace heaviside::shader::ir
