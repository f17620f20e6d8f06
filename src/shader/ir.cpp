#include "shader/ir.h"

#include <algorithm>
#include <bit>

namespace heaviside::shader::ir {

namespace {

constexpr OpInfo table[] = {
#define X(op, text, result, operands, imm, mods, effect)                                                               \
    {text, ResultKind::result, operands, ImmKind::imm, ModsKind::mods, Effect::effect},
    HEAVISIDE_IR_OPS(X)
#undef X
};

u32 hash_constant(Type type, u64 bits) {
    const u64 mixed = (bits ^ static_cast<u64>(type) << 56) * 0x9e3779b97f4a7c15ull;
    return static_cast<u32>(mixed >> 32);
}

// Type of an operation's value where the operation alone does not say.
Type result_type(const Program& program, Op op, std::span<const Value> arguments, u32 mods) {
    const auto of = [&](std::size_t i) { return i < arguments.size() ? program[arguments[i]].type : Type::Void; };
    switch (info(op).result) {
    case ResultKind::Void:
        return Type::Void;
    case ResultKind::U1:
        return Type::U1;
    case ResultKind::U32:
        return Type::U32;
    case ResultKind::U64:
        return Type::U64;
    case ResultKind::U32x2:
        return Type::U32x2;
    case ResultKind::U32x4:
        return Type::U32x4;
    case ResultKind::Same:
        return of(op == Op::Select ? 1 : 0);
    case ResultKind::Any:
        break;
    }
    if (info(op).mods == ModsKind::Memory) {
        const auto size = static_cast<MemorySize>(mods & 7);
        return size == MemorySize::B128 ? Type::U32x4 : size == MemorySize::B64 ? Type::U32x2 : Type::U32;
    }
    if (info(op).mods == ModsKind::Atomic) {
        const auto type = static_cast<AtomicType>(mods >> 4 & 7);
        return type == AtomicType::U64 || type == AtomicType::S64 ? Type::U64 : Type::U32;
    }
    return of(0);
}

} // namespace

const OpInfo& info(Op op) {
    return table[static_cast<unsigned>(op)];
}

const char* text(Special special) {
    static constexpr const char* names[special_count] = {
        "lane_id",        "tid_x",          "tid_y",        "tid_z",     "ctaid_x",    "ctaid_y",  "ctaid_z",
        "ntid_x",         "ntid_y",         "ntid_z",       "nctaid_x",  "nctaid_y",   "nctaid_z", "invocation_id",
        "patch_vertices", "eq_mask",        "lt_mask",      "le_mask",   "gt_mask",    "ge_mask",  "y_direction",
        "sample_id",      "sample_mask_in", "sample_count", "clock_low", "clock_high", "zero"};
    return names[static_cast<unsigned>(special)];
}

Value Program::constant(Type type, u64 bits) {
    if (constant_table.size() < 2 * std::size_t{constant_count + 1}) {
        std::vector<u32> larger(std::max<std::size_t>(64, constant_table.size() * 2), ~0u);
        for (u32 id : constant_table) {
            if (id == ~0u)
                continue;
            u32 slot = hash_constant(insts[id].type, const_long(Value{id}));
            while (larger[slot & (larger.size() - 1)] != ~0u)
                ++slot;
            larger[slot & (larger.size() - 1)] = id;
        }
        constant_table.swap(larger);
    }
    const std::size_t mask = constant_table.size() - 1;
    u32 slot = hash_constant(type, bits);
    for (; constant_table[slot & mask] != ~0u; ++slot) {
        const Value found{constant_table[slot & mask]};
        if (insts[found.id].type == type && const_long(found) == bits)
            return found;
    }
    const Value made = append(Op::Const, type, {}, static_cast<u32>(bits), static_cast<u32>(bits >> 32));
    constant_table[slot & mask] = made.id;
    ++constant_count;
    return made;
}

Value Program::append(Op op, Type type, std::span<const Value> arguments, u32 imm, u32 mods) {
    Inst inst;
    inst.op = op;
    inst.type = type;
    inst.count = static_cast<u16>(arguments.size());
    inst.first = static_cast<u32>(operands.size());
    inst.imm = imm;
    inst.mods = mods;
    // `arguments` may lie in `operands` itself
    const std::size_t old = operands.size();
    if (!arguments.empty() && arguments.data() >= operands.data() && arguments.data() < operands.data() + old) {
        const std::size_t from = static_cast<std::size_t>(arguments.data() - operands.data());
        operands.resize(old + arguments.size());
        std::copy_n(operands.begin() + static_cast<std::ptrdiff_t>(from), arguments.size(),
                    operands.begin() + static_cast<std::ptrdiff_t>(old));
    } else {
        operands.insert(operands.end(), arguments.begin(), arguments.end());
    }
    insts.push_back(inst);
    return Value{static_cast<u32>(insts.size() - 1)};
}

void compute_predecessors(Program& program) {
    for (Block& block : program.blocks)
        block.predecessors.clear();
    for (BlockId b = 0; b < program.blocks.size(); ++b)
        for_each_target(std::as_const(program.blocks[b].end), [&](BlockId target) {
            std::vector<BlockId>& list = program.blocks[target].predecessors;
            if (list.empty() || list.back() != b) // edges of one block come one after the other
                list.push_back(b);
        });
}

Result<void> verify(const Program& program) {
    if (program.blocks.empty())
        return fail("ir: no blocks");
    std::vector<u8> placed(program.insts.size(), 0);
    for (const Block& block : program.blocks)
        for (u32 id : block.insts)
            if (id >= program.insts.size() || placed[id]++)
                return fail("ir: %{} is in no program or in two places", id);
    const auto usable = [&](Value v, Type type) {
        return v.id < program.insts.size() && program[v].type == type &&
               (program[v].op == Op::Const || placed[v.id] != 0);
    };
    for (BlockId b = 0; b < program.blocks.size(); ++b) {
        const Block& block = program.blocks[b];
        bool phis = true;
        for (u32 id : block.insts) {
            const Inst& inst = program.insts[id];
            const OpInfo& op = info(inst.op);
            if (inst.op == Op::Const)
                return fail("ir: b{}: constant %{} lies in a block", b, id);
            if (inst.op == Op::Phi && !phis)
                return fail("ir: b{}: phi %{} is not at the start", b, id);
            phis = inst.op == Op::Phi;
            if (inst.op == Op::Phi && inst.count != block.predecessors.size())
                return fail("ir: b{}: phi %{} has {} operands for {} predecessors", b, id, inst.count,
                            block.predecessors.size());
            const char* pattern = op.operands;
            for (Value v : program.args(inst)) {
                const char letter = *pattern;
                if (letter == 0)
                    return fail("ir: b{}: %{} = {}: too many operands", b, id, op.text);
                if (letter != '*')
                    ++pattern;
                bool fits = false;
                switch (letter) {
                case 'b':
                    fits = usable(v, Type::U1);
                    break;
                case 'w':
                    fits = usable(v, Type::U32);
                    break;
                case 'q':
                    fits = usable(v, Type::U64);
                    break;
                case 'v':
                    fits = usable(v, Type::U32x2) || usable(v, Type::U32x4);
                    break;
                case '*':
                    fits = inst.op == Op::Phi ? usable(v, inst.type) : usable(v, Type::U32) || usable(v, Type::U64);
                    break;
                default:
                    fits = inst.op == Op::Select || inst.op == Op::Copy ? usable(v, inst.type) : v.valid();
                }
                if (!fits)
                    return fail("ir: b{}: %{} = {}: operand %{} does not fit", b, id, op.text, static_cast<i32>(v.id));
            }
            if (*pattern != 0 && *pattern != '*')
                return fail("ir: b{}: %{} = {}: too few operands", b, id, op.text);
            if (inst.op == Op::Extract &&
                inst.imm >= (program[program.arg(Value{id}, 0)].type == Type::U32x2 ? 2u : 4u))
                return fail("ir: b{}: %{}: no component {}", b, id, inst.imm);
        }
        const Terminator& end = block.end;
        if (end.kind == Terminator::Kind::None)
            return fail("ir: b{} does not end", b);
        if (end.kind == Terminator::Kind::BranchIf && !usable(end.condition, Type::U1))
            return fail("ir: b{} branches on no boolean", b);
        if (end.kind == Terminator::Kind::Switch && !usable(end.condition, Type::U32))
            return fail("ir: b{} switches on no word", b);
        bool bad = false;
        for_each_target(end, [&](BlockId t) { bad |= t >= program.blocks.size() || t == 0; });
        if (bad)
            return fail("ir: b{} jumps to a block that is not there or to the entry", b);
    }
    return {};
}

BlockId Builder::new_block(u32 address) {
    program.blocks.emplace_back();
    program.blocks.back().address = address;
    return static_cast<BlockId>(program.blocks.size() - 1);
}

Value Builder::op(Op op, std::initializer_list<Value> arguments, u32 imm, u32 mods) {
    return this->op(op, std::span<const Value>(arguments.begin(), arguments.size()), imm, mods);
}

Value Builder::op(Op op, std::span<const Value> arguments, u32 imm, u32 mods) {
    const Value made = program.append(op, result_type(program, op, arguments, mods), arguments, imm, mods);
    program.blocks[current].insts.push_back(made.id);
    return made;
}

Value Builder::float_word(f32 value) {
    return word(std::bit_cast<u32>(value));
}

void Builder::branch(BlockId target) {
    Terminator& end = program.blocks[current].end;
    end.kind = Terminator::Kind::Branch;
    end.target[0] = target;
}

void Builder::branch_if(Value condition, BlockId yes, BlockId no) {
    if (yes == no)
        return branch(yes);
    Terminator& end = program.blocks[current].end;
    end.kind = Terminator::Kind::BranchIf;
    end.condition = condition;
    end.target[0] = yes;
    end.target[1] = no;
}

void Builder::switch_on(Value selector, BlockId otherwise, std::vector<SwitchCase> cases) {
    Terminator& end = program.blocks[current].end;
    end.kind = Terminator::Kind::Switch;
    end.condition = selector;
    end.target[0] = otherwise;
    end.cases = std::move(cases);
}

void Builder::exit() {
    program.blocks[current].end.kind = Terminator::Kind::Exit;
}

void Builder::unreachable() {
    program.blocks[current].end.kind = Terminator::Kind::Unreachable;
}

} // namespace heaviside::shader::ir
