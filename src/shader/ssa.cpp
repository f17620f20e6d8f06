#include "shader/passes.h"

#include <array>

namespace heaviside::shader::ir {

namespace {

constexpr u32 variable_count = register_count + predicate_count + flag_count;

// The guest variable that an instruction gets or sets, or ~0u.
u32 variable_of(const Inst& inst) {
    switch (inst.op) {
    case Op::GetRegister:
    case Op::SetRegister:
        return inst.imm;
    case Op::GetPredicate:
    case Op::SetPredicate:
        return register_count + inst.imm;
    case Op::GetFlag:
    case Op::SetFlag:
        return register_count + predicate_count + inst.imm;
    default:
        return ~0u;
    }
}

class Construction {
public:
    explicit Construction(Program& p) : program(p), graph(analyse_flow(p)) {}

    void run() {
        number_variables();
        const std::size_t blocks = program.blocks.size();
        current.assign(blocks * used, ~0u);
        sealed.assign(blocks, 0);
        done.assign(blocks, 0);
        replaced.assign(program.insts.size(), ~0u);
        phis.resize(blocks);
        for (BlockId block : graph.order) {
            if (!sealed[block] && all_done(block))
                seal(block);
            translate(block);
            done[block] = 1;
            for_each_target(std::as_const(program.blocks[block].end), [&](BlockId t) {
                if (!sealed[t] && all_done(t))
                    seal(t);
            });
        }
        remove_trivial_phis();
        for (BlockId block : graph.order) {
            std::vector<u32>& insts = program.blocks[block].insts;
            std::vector<u32> kept;
            kept.reserve(phis[block].size() + insts.size());
            for (const Pending& phi : phis[block])
                if (replaced[phi.value] == ~0u)
                    kept.push_back(phi.value);
            kept.insert(kept.end(), insts.begin(), insts.end());
            insts.swap(kept);
        }
        apply_replacements(program, replaced);
    }

private:
    struct Pending {
        u32 variable, value;
    };

    void number_variables() {
        dense.fill(~0u);
        for (const Block& block : program.blocks)
            for (u32 id : block.insts) {
                const u32 variable = variable_of(program.insts[id]);
                if (variable < variable_count && dense[variable] == ~0u) {
                    dense[variable] = used++;
                    types.push_back(variable < register_count ? Type::U32 : Type::U1);
                }
            }
    }

    bool all_done(BlockId block) const {
        for (BlockId p : program.blocks[block].predecessors)
            if (!done[p])
                return false;
        return true;
    }

    void translate(BlockId block) {
        std::vector<u32>& insts = program.blocks[block].insts;
        std::size_t kept = 0;
        for (std::size_t i = 0; i < insts.size(); ++i) {
            const u32 id = insts[i];
            const Inst inst = program.insts[id];
            const u32 variable = variable_of(inst);
            if (variable >= variable_count) {
                program.blocks[block].insts[kept++] = id;
                continue;
            }
            if (inst.type == Type::Void)
                current[block * used + dense[variable]] = program.operands[inst.first].id;
            else
                replaced[id] = read(dense[variable], block);
        }
        program.blocks[block].insts.resize(kept);
    }

    u32 new_phi(u32 variable, BlockId block) {
        const Value phi = program.append(Op::Phi, types[variable], {}, 0, 0);
        grow();
        phis[block].push_back({variable, phi.id});
        current[block * used + variable] = phi.id;
        return phi.id;
    }

    void grow() {
        if (replaced.size() < program.insts.size())
            replaced.resize(program.insts.size(), ~0u);
    }

    u32 read(u32 variable, BlockId block) {
        // along single predecessors without recursion; the value is remembered in each block passed
        BlockId at = block;
        u32 value = ~0u;
        while (true) {
            value = current[at * used + variable];
            if (value != ~0u)
                break;
            const std::vector<BlockId>& predecessors = program.blocks[at].predecessors;
            if (!sealed[at]) {
                value = new_phi(variable, at);
                break;
            }
            if (predecessors.empty()) {
                value = program.constant(types[variable], 0).id;
                grow();
                break;
            }
            if (predecessors.size() > 1) {
                value = new_phi(variable, at);
                fill(value, variable, at);
                break;
            }
            at = predecessors[0];
        }
        for (BlockId b = block;; b = program.blocks[b].predecessors[0]) {
            if (current[b * used + variable] == ~0u)
                current[b * used + variable] = value;
            if (b == at)
                break;
        }
        return value;
    }

    void fill(u32 phi, u32 variable, BlockId block) {
        const std::vector<BlockId>& predecessors = program.blocks[block].predecessors;
        const std::size_t base = scratch.size();
        for (BlockId p : predecessors) {
            const u32 value = read(variable, p);
            scratch.push_back(Value{value});
        }
        program.insts[phi].first = static_cast<u32>(program.operands.size());
        program.insts[phi].count = static_cast<u16>(predecessors.size());
        program.operands.insert(program.operands.end(), scratch.begin() + static_cast<std::ptrdiff_t>(base),
                                scratch.end());
        scratch.resize(base);
        (void)simplify(phi);
    }

    // True if the phi turned out to stand for one other value.
    bool simplify(u32 phi) {
        u32 same = ~0u;
        for (Value v : program.args(program.insts[phi])) {
            const u32 value = resolve(replaced, v.id);
            if (value == phi || value == same)
                continue;
            if (same != ~0u)
                return false;
            same = value;
        }
        replaced[phi] = same != ~0u ? same : program.constant(program.insts[phi].type, 0).id;
        grow();
        return true;
    }

    void seal(BlockId block) {
        sealed[block] = 1;
        // reading may add phis, but those are filled as they are made
        const std::size_t count = phis[block].size();
        for (std::size_t i = 0; i < count; ++i)
            fill(phis[block][i].value, phis[block][i].variable, block);
    }

    void remove_trivial_phis() {
        for (bool changed = true; changed;) {
            changed = false;
            for (BlockId block : graph.order)
                for (const Pending& phi : phis[block])
                    if (replaced[phi.value] == ~0u && simplify(phi.value))
                        changed = true;
        }
    }

    Program& program;
    FlowGraph graph;
    std::array<u32, variable_count> dense;
    u32 used = 0;
    std::vector<Type> types;
    std::vector<u32> current; // [block][variable]: its value at the end of what was seen of the block
    std::vector<u8> sealed, done;
    std::vector<u32> replaced;
    std::vector<std::vector<Pending>> phis;
    std::vector<Value> scratch;
};

} // namespace

void apply_replacements(Program& program, std::vector<u32>& replaced) {
    replaced.resize(program.insts.size(), ~0u);
    for (Block& block : program.blocks) {
        for (u32 id : block.insts)
            for (Value& v : program.args(program.insts[id]))
                v.id = resolve(replaced, v.id);
        if (block.end.condition.valid())
            block.end.condition.id = resolve(replaced, block.end.condition.id);
    }
}

void construct_ssa(Program& program) {
    Construction(program).run();
}

} // namespace heaviside::shader::ir
