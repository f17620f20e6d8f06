#include "shader/flow.h"

#include <algorithm>

namespace heaviside::shader::ir {

namespace {

void number_blocks(const Program& program, FlowGraph& graph) {
    struct Visit {
        BlockId block;
        u32 next_edge;
    };
    const std::size_t count = program.blocks.size();
    graph.position.assign(count, ~0u);
    std::vector<BlockId> targets, postorder;
    std::vector<Visit> stack;
    std::vector<u32> first_target(count, ~0u), target_count(count, 0);
    std::vector<u8> seen(count, 0);
    const auto enter = [&](BlockId block) {
        seen[block] = 1;
        first_target[block] = static_cast<u32>(targets.size());
        for_each_target(program.blocks[block].end, [&](BlockId t) { targets.push_back(t); });
        target_count[block] = static_cast<u32>(targets.size()) - first_target[block];
        stack.push_back({block, target_count[block]});
    };
    postorder.reserve(count);
    enter(0);
    while (!stack.empty()) {
        Visit& visit = stack.back();
        if (visit.next_edge == 0) {
            postorder.push_back(visit.block);
            stack.pop_back();
            continue;
        }
        // last edge first, so that the reverse postorder keeps the program's order where it is free
        const BlockId next = targets[first_target[visit.block] + --visit.next_edge];
        if (!seen[next])
            enter(next);
    }
    graph.order.assign(postorder.rbegin(), postorder.rend());
    for (u32 i = 0; i < graph.order.size(); ++i)
        graph.position[graph.order[i]] = i;
}

void find_dominators(const Program& program, FlowGraph& graph) {
    graph.idom.assign(program.blocks.size(), no_block);
    graph.idom[0] = 0;
    const auto intersect = [&](BlockId a, BlockId b) {
        while (a != b) {
            while (graph.position[a] > graph.position[b])
                a = graph.idom[a];
            while (graph.position[b] > graph.position[a])
                b = graph.idom[b];
        }
        return a;
    };
    for (bool changed = true; changed;) {
        changed = false;
        for (std::size_t i = 1; i < graph.order.size(); ++i) {
            const BlockId block = graph.order[i];
            BlockId dominator = no_block;
            for (BlockId p : program.blocks[block].predecessors) {
                if (graph.position[p] == ~0u || graph.idom[p] == no_block)
                    continue;
                dominator = dominator == no_block ? p : intersect(p, dominator);
            }
            if (graph.idom[block] != dominator) {
                graph.idom[block] = dominator;
                changed = true;
            }
        }
    }
}

void find_loops(const Program& program, FlowGraph& graph) {
    graph.loop.assign(program.blocks.size(), no_block);
    graph.outer_loop.assign(program.blocks.size(), no_block);
    std::vector<BlockId> work;
    // inner headers come later in reverse postorder, so they claim their blocks first
    for (std::size_t i = graph.order.size(); i-- > 0;) {
        const BlockId header = graph.order[i];
        work.clear();
        for (BlockId p : program.blocks[header].predecessors) {
            if (graph.position[p] == ~0u || graph.position[p] < i)
                continue;
            if (graph.dominates(header, p))
                work.push_back(p);
            else
                graph.reducible = false;
        }
        if (work.empty())
            continue;
        graph.loop[header] = header;
        while (!work.empty()) {
            BlockId block = work.back();
            work.pop_back();
            // to the outermost known loop around the block
            while (graph.loop[block] != no_block) {
                block = graph.loop[block];
                if (block == header || graph.outer_loop[block] == no_block)
                    break;
                block = graph.outer_loop[block];
            }
            if (block == header)
                continue;
            if (graph.loop[block] == block)
                graph.outer_loop[block] = header;
            else
                graph.loop[block] = header;
            for (BlockId p : program.blocks[block].predecessors)
                if (graph.position[p] != ~0u)
                    work.push_back(p);
        }
    }
}

} // namespace

bool FlowGraph::dominates(BlockId a, BlockId b) const {
    while (position[b] > position[a])
        b = idom[b];
    return a == b;
}

bool FlowGraph::in_loop(BlockId block, BlockId header) const {
    BlockId h = loop[block];
    while (h != no_block && h != header)
        h = outer_loop[h];
    return h == header;
}

FlowGraph analyse_flow(const Program& program) {
    FlowGraph graph;
    number_blocks(program, graph);
    find_dominators(program, graph);
    find_loops(program, graph);
    return graph;
}

} // namespace heaviside::shader::ir
