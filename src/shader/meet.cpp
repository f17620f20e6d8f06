#include "shader/passes.h"

#include <algorithm>
#include <queue>

namespace heaviside::shader::ir {

namespace {

// Registers and predicates of this pass, behind those of the lifter.
namespace slot {
constexpr u32 state = 505, word = 506, lane = 507, result = 508; // result: four registers
constexpr u32 first_register = 320, register_end = state, first_predicate = 8;
} // namespace slot

bool is_barrier(Op op) {
    return op == Op::Barrier || op == Op::BarrierReduce;
}
bool is_vote(Op op) {
    return op == Op::VoteAll || op == Op::VoteAny || op == Op::VoteEqual || op == Op::Ballot;
}
bool is_exchange(Op op) {
    return is_vote(op) || op == Op::Shuffle;
}
bool is_meeting(Op op) {
    return is_barrier(op) || is_exchange(op);
}

// Blocks in the order in which lanes that wait at them go on: topological, loops in one piece. Behind the blocks of a
// loop stands its header once more: the place where its lanes meet before the next turn.
struct Place {
    BlockId block;
    bool latch;
};

class Order {
public:
    Order(const Program& p, const FlowGraph& g) : program(p), graph(g) {}

    std::vector<Place> places;

    void region(BlockId header, std::span<const BlockId> blocks) {
        std::vector<std::pair<BlockId, BlockId>> edges; // between representatives
        std::vector<u32> waiting(program.blocks.size(), 0);
        for (BlockId b : blocks)
            for_each_target(program.blocks[b].end, [&](BlockId t) {
                const BlockId from = representative(b, header), to = representative(t, header);
                if (to != no_block && to != from && t != header) {
                    edges.emplace_back(from, to);
                    ++waiting[to];
                }
            });
        std::sort(edges.begin(), edges.end());
        const auto later = [&](BlockId a, BlockId b) { return graph.position[a] > graph.position[b]; };
        std::priority_queue<BlockId, std::vector<BlockId>, decltype(later)> ready(later);
        ready.push(blocks.front());
        while (!ready.empty()) {
            const BlockId next = ready.top();
            ready.pop();
            if (next != header && graph.is_loop_header(next)) {
                std::vector<BlockId> inside;
                for (BlockId b : blocks)
                    if (graph.in_loop(b, next))
                        inside.push_back(b);
                region(next, inside);
                places.push_back({next, true});
            } else {
                places.push_back({next, false});
            }
            for (auto e = std::lower_bound(edges.begin(), edges.end(), std::pair{next, BlockId{0}});
                 e != edges.end() && e->first == next; ++e)
                if (--waiting[e->second] == 0)
                    ready.push(e->second);
        }
    }

private:
    // The block, or the header of the outermost loop around it inside the loop of `header`; no_block: not in there.
    [[nodiscard]] BlockId representative(BlockId block, BlockId header) const {
        if (header != no_block && !graph.in_loop(block, header))
            return no_block;
        BlockId loop = graph.loop[block];
        if (loop == header)
            return block;
        while (graph.outer_loop[loop] != header)
            loop = graph.outer_loop[loop];
        return loop;
    }

    const Program& program;
    const FlowGraph& graph;
};

class Meeting {
public:
    explicit Meeting(Program& p) : program(p), builder(p), graph(analyse_flow(p)) {}

    [[nodiscard]] bool needed() const {
        bool exchanges = false, apart = false;
        for (BlockId b : graph.order)
            for (u32 id : program.blocks[b].insts) {
                exchanges |= is_exchange(program.insts[id].op);
                apart |= is_meeting(program.insts[id].op) && !all_pass(b);
            }
        return exchanges && apart;
    }

    void run() {
        Order order(program, graph);
        order.region(no_block, graph.order);
        dispatcher = builder.new_block();
        start();
        for (const Place& place : order.places)
            if (place.latch)
                latch(place.block);
            else
                split(place.block);
        for (BlockId b = 0; b < program.blocks.size(); ++b)
            if (b != dispatcher && (program.blocks[b].end.kind == Terminator::Kind::Exit ||
                                    program.blocks[b].end.kind == Terminator::Kind::Unreachable))
                wait(b, ~0u);
        dispatch();
        compute_predecessors(program);
        remove_unreachable(program);
    }

private:
    // Whether every thread runs the block, and once.
    [[nodiscard]] bool all_pass(BlockId block) const {
        if (graph.loop[block] != no_block)
            return false;
        if (block == 0)
            return true;
        std::vector<u8> seen(program.blocks.size(), 0);
        std::vector<BlockId> work{0};
        while (!work.empty()) {
            const BlockId b = work.back();
            work.pop_back();
            if (b == block || seen[b])
                continue;
            seen[b] = 1;
            const Terminator& end = program.blocks[b].end;
            if (end.kind == Terminator::Kind::Exit || end.kind == Terminator::Kind::Unreachable)
                return false;
            for_each_target(end, [&](BlockId t) { work.push_back(t); });
        }
        return true;
    }

    // Ends the block: its threads wait at place `state`.
    void wait(BlockId block, u32 state) {
        program.blocks[block].end = {};
        builder.set_block(block);
        builder.set_register(slot::state, builder.word(state));
        builder.branch(dispatcher);
    }

    // The program's beginning is a place like the others, so that all of them lie in the one loop.
    void start() {
        const BlockId body = builder.new_block(program.blocks[0].address);
        std::swap(program.blocks[0].insts, program.blocks[body].insts);
        std::swap(program.blocks[0].end, program.blocks[body].end);
        pieces.emplace_back(0, body);
        wait(0, new_state(body, false));
    }

    u32 new_state(BlockId resume, bool barrier) {
        const u32 state = ++states << 1 | u32{barrier};
        cases.push_back({state, resume});
        return state;
    }

    void latch(BlockId header) {
        if (states == first_state[header])
            return; // nothing in the loop waits
        const u32 state = new_state(header, false);
        const BlockId turn = builder.new_block(); // before the blocks are walked: it moves them
        for (BlockId b : graph.order)
            if (graph.in_loop(b, header))
                for_each_target(program.blocks[last_piece(b)].end, [&](BlockId& t) {
                    if (t == header)
                        t = turn;
                });
        wait(turn, state);
    }

    [[nodiscard]] BlockId last_piece(BlockId block) const {
        const auto found = std::find_if(pieces.begin(), pieces.end(), [&](const auto& p) { return p.first == block; });
        return found == pieces.end() ? block : found->second;
    }

    void set_last_piece(BlockId block, BlockId piece) {
        for (auto& [of, last] : pieces)
            if (of == block) {
                last = piece;
                return;
            }
        pieces.emplace_back(block, piece);
    }

    void split(BlockId block) {
        if (graph.is_loop_header(block)) {
            if (first_state.size() < program.blocks.size())
                first_state.resize(program.blocks.size(), 0);
            first_state[block] = states;
        }
        BlockId at = last_piece(block);
        for (;;) {
            const std::vector<u32>& insts = program.blocks[at].insts;
            const auto found =
                std::find_if(insts.begin(), insts.end(), [&](u32 id) { return is_meeting(program.insts[id].op); });
            if (found == insts.end())
                break;
            at = split_at(at, static_cast<std::size_t>(found - insts.begin()));
        }
        if (at != block)
            set_last_piece(block, at);
    }

    // What stands behind instruction `index` of the block goes into a block of its own, which begins with the
    // instruction's result. Gives that block.
    BlockId split_at(BlockId block, std::size_t index) {
        const BlockId rest = builder.new_block(program.blocks[block].address);
        std::vector<u32> insts = std::move(program.blocks[block].insts);
        Terminator end = std::move(program.blocks[block].end);
        program.blocks[block].insts.assign(insts.begin(), insts.begin() + static_cast<std::ptrdiff_t>(index));
        program.blocks[block].end = {};
        const u32 id = insts[index];
        const Inst inst = program.insts[id];
        builder.set_block(block);
        std::vector<std::pair<u32, u32>> renamed; // value ids
        // votes on the same predicate are one meeting
        std::size_t last = index;
        while (is_vote(inst.op) && last + 1 < insts.size() && is_vote(program.insts[insts[last + 1]].op) &&
               program.arg(Value{insts[last + 1]}, 0) == program.arg(Value{id}, 0))
            ++last;
        const std::span<const u32> behind(insts.data() + last + 1, insts.size() - last - 1);
        carry(program.blocks[block].insts, behind, end.condition, rest, renamed);
        arguments(inst);
        const u32 state = new_state(rest, is_barrier(inst.op));
        builder.set_register(slot::state, builder.word(state));
        builder.branch(dispatcher);
        builder.set_block(rest);
        for (std::size_t i = index; i <= last; ++i)
            if (const Value value = outcome(program.insts[insts[i]]); value.valid())
                renamed.emplace_back(insts[i], value.id);
        const auto rename = [&](Value& v) {
            for (const auto& [from, to] : renamed)
                if (v.id == from)
                    v.id = to;
        };
        for (u32 later : behind) {
            for (Value& v : program.args(program.insts[later]))
                rename(v);
            program.blocks[rest].insts.push_back(later);
        }
        if (end.condition.valid())
            rename(end.condition);
        program.blocks[rest].end = std::move(end);
        return rest;
    }

    // Values do not cross blocks before SSA construction: what is made before the meeting and used behind it goes
    // through registers.
    void carry(const std::vector<u32>& made_before, std::span<const u32> behind, Value condition, BlockId rest,
               std::vector<std::pair<u32, u32>>& renamed) {
        std::vector<u32> made = made_before;
        std::sort(made.begin(), made.end());
        std::vector<Value> crossing;
        const auto use = [&](Value v) {
            if (v.valid() && std::binary_search(made.begin(), made.end(), v.id) &&
                std::find(crossing.begin(), crossing.end(), v) == crossing.end())
                crossing.push_back(v);
        };
        for (u32 id : behind)
            for (Value v : program.args(program.insts[id]))
                use(v);
        use(condition);
        const BlockId from = builder.block();
        u32 reg = slot::first_register, predicate = slot::first_predicate;
        for (Value v : crossing) {
            const Type type = program[v].type;
            const u32 registers = type == Type::U32 ? 1 : type == Type::U64 ? 2 : 0;
            if (type == Type::U1 ? predicate == predicate_count
                                 : registers == 0 || reg + registers > slot::register_end)
                continue; // verify() will say so
            if (type == Type::U1) {
                builder.set_predicate(predicate, v);
                builder.set_block(rest);
                renamed.emplace_back(v.id, builder.get_predicate(predicate++).id);
            } else if (registers == 1) {
                builder.set_register(reg, v);
                builder.set_block(rest);
                renamed.emplace_back(v.id, builder.get_register(reg).id);
            } else {
                builder.set_register(reg, builder.op(Op::Low, {v}));
                builder.set_register(reg + 1, builder.op(Op::High, {v}));
                builder.set_block(rest);
                const Value low = builder.get_register(reg), high = builder.get_register(reg + 1);
                renamed.emplace_back(v.id, builder.op(Op::Pack64, {low, high}).id);
            }
            reg += registers;
            builder.set_block(from);
        }
    }

    // Each thread brings a word and names a lane whose word it wants.
    void arguments(const Inst& inst) {
        const std::span<const Value> args = program.args(inst);
        if (inst.op == Op::Shuffle) {
            const Value value = args[0], lane = args[1], limits = args[2];
            const Value source = builder.op(Op::ShuffleSource, {lane, limits}, inst.imm);
            builder.set_register(slot::word, value);
            builder.set_register(slot::lane, source);
        } else if (inst.op != Op::Barrier) {
            const Value holds = args[0];
            builder.set_register(slot::word, builder.op(Op::BoolToMask, {holds}));
        }
    }

    Value outcome(Inst inst) {
        const auto part = [&](u32 index) { return builder.get_register(slot::result + index); };
        const auto equal = [&](Value a, Value c) { return builder.icompare(Relation::EQ, false, a, c); };
        switch (inst.op) {
        case Op::Shuffle:
            return part(0);
        case Op::Ballot:
            return part(1);
        case Op::VoteAny:
            return builder.op(Op::BoolNot, {equal(part(1), builder.word(0))});
        case Op::VoteAll:
            return equal(part(1), part(2));
        case Op::VoteEqual: {
            const Value all = equal(part(1), part(2)), none_holds = equal(part(1), builder.word(0));
            return builder.op(Op::BoolOr, {all, none_holds});
        }
        case Op::BarrierReduce:
            if (inst.imm == 0)
                return part(1);
            if (inst.imm == 1)
                return builder.op(Op::BoolToMask, {equal(part(1), part(2))});
            return builder.op(Op::BoolToMask, {builder.op(Op::BoolNot, {equal(part(1), builder.word(0))})});
        default:
            return none;
        }
    }

    void dispatch() {
        builder.set_block(dispatcher);
        const Value met = builder.op(Op::Meet, {builder.get_register(slot::state), builder.get_register(slot::word),
                                                builder.get_register(slot::lane)});
        const Value verdict = builder.op(Op::Extract, {met}, 0);
        for (u32 i = 0; i < 3; ++i)
            builder.set_register(slot::result + i, builder.op(Op::Extract, {met}, i + 1));
        const BlockId over = builder.new_block(), choose = builder.new_block(), go = builder.new_block();
        builder.branch_if(builder.icompare(Relation::EQ, false, verdict, builder.word(2)), over, choose);
        builder.set_block(over);
        builder.exit();
        builder.set_block(choose);
        builder.branch_if(builder.icompare(Relation::EQ, false, verdict, builder.word(1)), go, dispatcher);
        builder.set_block(go);
        const BlockId nowhere = builder.new_block();
        builder.switch_on(builder.get_register(slot::state), nowhere, std::move(cases));
        builder.set_block(nowhere);
        builder.unreachable();
    }

    Program& program;
    Builder builder;
    FlowGraph graph;
    BlockId dispatcher = no_block;
    u32 states = 0;
    std::vector<SwitchCase> cases;
    std::vector<u32> first_state;                    // of a loop header: states before the loop
    std::vector<std::pair<BlockId, BlockId>> pieces; // a block that was split, and its last piece
};

} // namespace

bool meet(Program& program) {
    compute_predecessors(program);
    Meeting meeting(program);
    if (!meeting.needed())
        return false;
    meeting.run();
    return true;
}

} // namespace heaviside::shader::ir
