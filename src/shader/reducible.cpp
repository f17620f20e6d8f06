#include "shader/passes.h"

#include <algorithm>

namespace heaviside::shader::ir {

namespace {

constexpr std::size_t growth_limit = 2; // times the instructions and the blocks, plus a little

// A retreating edge whose target does not dominate its source: an entry into a loop beside its header.
struct BadEdge {
    BlockId from = no_block, to = no_block;
};

BadEdge find_bad_edge(const Program& program, const FlowGraph& graph) {
    BadEdge best;
    std::size_t best_size = ~std::size_t{0};
    for (BlockId to : graph.order)
        for (BlockId from : program.blocks[to].predecessors)
            if (graph.position[from] != ~0u && graph.is_back_edge(from, to) && !graph.dominates(to, from) &&
                program.blocks[to].insts.size() < best_size) {
                best = {from, to};
                best_size = program.blocks[to].insts.size();
            }
    return best;
}

// Copies a block for one of the edges that lead to it. Values do not cross blocks before SSA construction except
// constants, which live in none.
void split(Program& program, BadEdge edge) {
    const auto copy = static_cast<BlockId>(program.blocks.size());
    program.blocks.emplace_back();
    program.blocks[copy].address = program.blocks[edge.to].address;
    program.blocks[copy].end = program.blocks[edge.to].end;
    std::vector<std::pair<u32, u32>> renamed;
    const auto rename = [&](Value v) {
        for (const auto& [from, to] : renamed)
            if (from == v.id)
                return Value{to};
        return v;
    };
    std::vector<Value> arguments;
    for (std::size_t i = 0; i < program.blocks[edge.to].insts.size(); ++i) {
        const u32 id = program.blocks[edge.to].insts[i];
        const Inst inst = program.insts[id];
        arguments.clear();
        for (Value v : program.args(inst))
            arguments.push_back(rename(v));
        const Value made = program.append(inst.op, inst.type, arguments, inst.imm, inst.mods);
        renamed.emplace_back(id, made.id);
        program.blocks[copy].insts.push_back(made.id);
    }
    if (program.blocks[copy].end.condition.valid())
        program.blocks[copy].end.condition = rename(program.blocks[copy].end.condition);
    for_each_target(program.blocks[edge.from].end, [&](BlockId& t) {
        if (t == edge.to)
            t = copy;
    });
}

// loop { switch (next) { case k: block k; next = its target } }: any graph, at the price of its shape.
void dispatch(Program& program) {
    constexpr u32 next = register_count - 1;
    Builder builder(program);
    const auto count = static_cast<BlockId>(program.blocks.size());
    const BlockId body = builder.new_block(program.blocks[0].address); // the old entry
    std::swap(program.blocks[0].insts, program.blocks[body].insts);
    program.blocks[body].end = std::move(program.blocks[0].end);
    program.blocks[0].end = {};
    const BlockId header = builder.new_block();
    for (BlockId b = 1; b <= body; ++b) {
        const Terminator old = program.blocks[b].end;
        if (old.kind != Terminator::Kind::Branch && old.kind != Terminator::Kind::BranchIf &&
            old.kind != Terminator::Kind::Switch)
            continue;
        program.blocks[b].end = {};
        builder.set_block(b);
        Value target = builder.word(old.target[0]);
        if (old.kind == Terminator::Kind::BranchIf)
            target = builder.op(Op::Select, {old.condition, target, builder.word(old.target[1])});
        for (const SwitchCase& c : old.cases) {
            const Value hit = builder.icompare(Relation::EQ, false, old.condition, builder.word(c.value));
            target = builder.op(Op::Select, {hit, builder.word(c.target), target});
        }
        builder.set_register(next, target);
        builder.branch(header);
    }
    builder.set_block(0);
    builder.set_register(next, builder.word(body));
    builder.branch(header);
    builder.set_block(header);
    std::vector<SwitchCase> cases;
    for (BlockId b = 1; b < count; ++b)
        if (program.blocks[b].end.kind != Terminator::Kind::Unreachable || !program.blocks[b].insts.empty())
            cases.push_back({b, b});
    builder.switch_on(builder.get_register(next), body, std::move(cases));
}

} // namespace

void make_reducible(Program& program) {
    const std::size_t limit = program.insts.size() * growth_limit + 256;
    const std::size_t block_limit = program.blocks.size() * growth_limit + 8;
    while (true) {
        compute_predecessors(program);
        const FlowGraph graph = analyse_flow(program);
        const BadEdge edge = find_bad_edge(program, graph);
        if (edge.from == no_block)
            break;
        if (program.insts.size() + program.blocks[edge.to].insts.size() > limit ||
            program.blocks.size() >= block_limit) {
            dispatch(program);
            break;
        }
        split(program, edge);
    }
    remove_unreachable(program);
}

} // namespace heaviside::shader::ir
