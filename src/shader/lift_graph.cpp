#include "shader/lift_graph.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>

namespace heaviside::shader::lifting {
namespace {

using maxwell::Instruction;
using maxwell::Opcode;
using maxwell::OperandKind;
using maxwell::Slot;

constexpr u32 bundle = 32;
constexpr std::size_t most_blocks = 1 << 15;
constexpr u32 deepest_stack = 64;
constexpr u32 longest_table = 1024;

// A branch may name the scheduling word of a bundle; execution goes on with the instruction behind it.
constexpr u32 instruction_address(u32 address) {
    return address % bundle == 0 ? address + 8 : address;
}
constexpr u32 next_address(u32 address) {
    return instruction_address(address + 8);
}

enum class Token : u8 { Sync, Break, Continue, Call, LongJump, Exit };

enum class Flow : u8 { None, Push, Pop, Branch, Call, Exit, Table };

struct FlowRole {
    Flow flow = Flow::None;
    Token token{};
};

FlowRole flow_role(Opcode opcode) {
    switch (opcode) {
    case Opcode::SSY:
        return {Flow::Push, Token::Sync};
    case Opcode::PBK:
        return {Flow::Push, Token::Break};
    case Opcode::PCNT:
        return {Flow::Push, Token::Continue};
    case Opcode::PRET:
        return {Flow::Push, Token::Call};
    case Opcode::PLONGJMP:
        return {Flow::Push, Token::LongJump};
    case Opcode::PEXIT:
        return {Flow::Push, Token::Exit};
    case Opcode::SYNC:
        return {Flow::Pop, Token::Sync};
    case Opcode::BRK:
        return {Flow::Pop, Token::Break};
    case Opcode::CONT:
        return {Flow::Pop, Token::Continue};
    case Opcode::RET:
        return {Flow::Pop, Token::Call};
    case Opcode::LONGJMP:
        return {Flow::Pop, Token::LongJump};
    case Opcode::BRA:
    case Opcode::JMP:
        return {Flow::Branch};
    case Opcode::CAL:
    case Opcode::JCAL:
        return {Flow::Call, Token::Call};
    case Opcode::EXIT:
    case Opcode::RTT:
        return {Flow::Exit};
    case Opcode::BRX:
    case Opcode::JMX:
        return {Flow::Table};
    default:
        return {};
    }
}

bool is_conditional(const Instruction& inst) {
    return !inst.guard().always() || inst.get<maxwell::Test>() != maxwell::Test::True;
}

// Stacks are shared lists: an id names a stack, 0 the empty one.
class Stacks {
public:
    struct Node {
        Token token{};
        u32 target = 0, below = 0, depth = 0, calls = 0;
    };
    Stacks() : nodes_(1) {}

    [[nodiscard]] const Node& operator[](u32 id) const { return nodes_[id]; }

    u32 push(u32 stack, Token token, u32 target) {
        // A loop may push the same target on every turn without popping it; what a pop does is the same either way.
        if (stack != 0 && token != Token::Call && nodes_[stack].token == token && nodes_[stack].target == target)
            return stack;
        const auto [found, added] = ids_.try_emplace({stack, token, target}, static_cast<u32>(nodes_.size()));
        if (added)
            nodes_.push_back(
                {token, target, stack, nodes_[stack].depth + 1, nodes_[stack].calls + (token == Token::Call)});
        return found->second;
    }

    // The nearest entry of the kind; what lies above it is dropped with it. 0: there is none.
    [[nodiscard]] u32 find(u32 stack, Token token) const {
        while (stack != 0 && nodes_[stack].token != token)
            stack = nodes_[stack].below;
        return stack;
    }

private:
    std::vector<Node> nodes_;
    std::map<std::tuple<u32, Token, u32>, u32> ids_;
};

class GraphBuilder {
public:
    explicit GraphBuilder(const program::Program& program) : program_(program) {
        code_ = program.code;
        if (!program.second_code.empty()) {
            graph_.joined_code.assign(program.code.begin(), program.code.end());
            graph_.joined_code.insert(graph_.joined_code.end(), program.second_code.begin(), program.second_code.end());
            code_ = graph_.joined_code;
            second_part_ = static_cast<u32>(program.code.size());
        }
    }

    Result<FlowGraph> build() {
        if (auto reached = reach(); !reached)
            return tl::unexpected(reached.error());
        if (auto walked = walk(); !walked)
            return tl::unexpected(walked.error());
        return std::move(graph_);
    }

private:
    // Pass 1: decode what can be reached, whatever the stack, and find where blocks begin.
    Result<void> reach() {
        std::vector<std::optional<Instruction>> at(code_.size() / 8 + 1);
        leader_.assign(code_.size() / 8 + 1, false);
        std::vector<u32> pending{8};
        leader_[1] = true;
        const auto visit = [&](u32 address) {
            pending.push_back(address);
            if (address / 8 < leader_.size())
                leader_[address / 8] = true;
        };
        while (!pending.empty()) {
            u32 address = pending.back();
            pending.pop_back();
            for (;; address = next_address(address)) {
                const auto word = read_at<u64>(code_, address);
                if (!word)
                    return fail("control flow reaches {:#x}, beyond the code's {:#x} bytes", address, code_.size());
                if (at[address / 8])
                    break;
                const auto inst = maxwell::decode(*word, address);
                if (!inst)
                    return fail("word {:#018x} at {:#x} is no instruction", *word, address);
                at[address / 8] = inst;
                if (auto targets = static_targets(*inst); !targets)
                    return tl::unexpected(targets.error());
                else
                    for (const u32 target : *targets)
                        visit(target);
                const FlowRole role = flow_role(inst->opcode());
                if (role.flow == Flow::None || (role.flow == Flow::Push && !is_conditional(*inst)))
                    continue;
                if (is_conditional(*inst) || role.flow == Flow::Call)
                    visit(next_address(address));
                else if (role.flow == Flow::Exit && address < second_part_)
                    visit(second_part_ + 8);
                break;
            }
        }
        index_.assign(at.size(), ~0u);
        for (std::size_t i = 0; i < at.size(); ++i)
            if (at[i]) {
                index_[i] = static_cast<u32>(graph_.code.size());
                graph_.code.push_back(*at[i]);
            }
        return {};
    }

    Result<std::vector<u32>> static_targets(const Instruction& inst) {
        const FlowRole role = flow_role(inst.opcode());
        if (role.flow == Flow::Table)
            return table_targets(inst);
        if (role.flow != Flow::Push && role.flow != Flow::Branch && role.flow != Flow::Call)
            return std::vector<u32>{};
        const auto target = branch_target(inst);
        if (!target)
            return tl::unexpected(target.error());
        return std::vector<u32>{*target};
    }

    Result<u32> branch_target(const Instruction& inst) const {
        maxwell::Operand operand = inst.operand(Slot::T);
        u64 address = operand.value;
        if (operand.kind == OperandKind::Constant) {
            // A target in the program's own constants is as good as an immediate one.
            const auto word = operand.bank == program_.constants_bank && operand.reg == maxwell::zero_register
                                  ? read_at<u32>(program_.constants, static_cast<u32>(operand.offset))
                                  : std::nullopt;
            if (!word)
                return fail("{} at {:#x} jumps to an address in c[{}][{:#x}]", maxwell::mnemonic(inst.opcode()),
                            inst.address(), operand.bank, operand.offset);
            address = inst.opcode() == Opcode::BRA || inst.opcode() == Opcode::CAL ? u64{*word} + inst.address() + 8
                                                                                   : u64{*word};
        }
        if (address >= code_.size() || address % 8 != 0)
            return fail("{} at {:#x} jumps to {:#x}, outside the code", maxwell::mnemonic(inst.opcode()),
                        inst.address(), address);
        return instruction_address(static_cast<u32>(address));
    }

    // BRX jumps to (register + next address + operand), JMX to (register + operand); the register comes from a table in
    // the program's own constants, which is found by walking back to the load. Its length is not said, so it is read as
    // far as it holds code addresses.
    Result<std::vector<u32>> table_targets(const Instruction& inst) {
        const maxwell::Operand register_operand = inst.operand(Slot::A);
        const u64 base = jump_table_base(inst);
        const auto load = find_table_load(inst.address(), register_operand.reg);
        if (!load)
            if (auto routines = routine_starts(inst.address()); !routines.empty())
                return routines;
        if (!load)
            return fail("{} at {:#x}: no jump table found for R{}", maxwell::mnemonic(inst.opcode()), inst.address(),
                        register_operand.reg);
        std::vector<u32>& values = table_values_[inst.address()];
        std::vector<u32> targets;
        for (u32 i = 0; i < longest_table; ++i) {
            const auto word = read_at<u32>(program_.constants, u64{*load} + 4 * i);
            const u64 address = word ? (base + *word) & 0xffffffff : ~u64{0};
            if (!word || address >= code_.size() || address % 8 != 0 || (address == 0 && i > 0))
                break;
            if (std::ranges::find(values, static_cast<u32>(address)) == values.end())
                values.push_back(static_cast<u32>(address));
            targets.push_back(instruction_address(static_cast<u32>(address)));
        }
        if (targets.empty())
            return fail("{} at {:#x}: empty jump table at c[{}][{:#x}]", maxwell::mnemonic(inst.opcode()),
                        inst.address(), program_.constants_bank, *load);
        return targets;
    }

    // Where routines begin that nothing reaches by a plain jump: what a call through a pointer from memory may mean.
    // Each comes under the address of its scheduling word too.
    std::vector<u32> routine_starts(u32 at) {
        std::vector<u32> starts;
        std::vector<u32> jumped_to;
        bool after_end = false;
        for (u32 address = 8; address < code_.size(); address = next_address(address)) {
            const auto inst = maxwell::decode(read_at<u64>(code_, address).value_or(0), address);
            if (!inst)
                return {};
            const FlowRole role = flow_role(inst->opcode());
            const bool padding = inst->opcode() == Opcode::NOP;
            if (role.flow == Flow::Branch || role.flow == Flow::Push || role.flow == Flow::Call) {
                if (const auto target = branch_target(*inst))
                    jumped_to.push_back(*target);
            }
            if (after_end && !padding)
                starts.push_back(address);
            after_end = !is_conditional(*inst) && (role.flow == Flow::Pop || role.flow == Flow::Branch ||
                                                   role.flow == Flow::Exit || role.flow == Flow::Table);
        }
        std::erase_if(starts, [&](u32 start) { return std::ranges::find(jumped_to, start) != jumped_to.end(); });
        constexpr std::size_t most = 64;
        if (starts.size() > most)
            return {};
        std::vector<u32>& values = table_values_[at];
        for (const u32 start : starts) {
            values.push_back(start);
            if (start % bundle == 8)
                values.push_back(start - 8);
        }
        return starts;
    }

    // The offset of the table that the nearest LDC before `address` reads into register `reg`.
    [[nodiscard]] std::optional<u32> find_table_load(u32 address, u8 reg) const {
        constexpr u32 search_distance = 512;
        for (u32 back = address; back > 8 && address - back < search_distance;) {
            back -= back % bundle == 8 ? 16 : 8;
            const auto inst = maxwell::decode(read_at<u64>(code_, back).value_or(0), back);
            if (!inst || inst->opcode() != Opcode::LDC || inst->operand(Slot::D).reg != reg)
                continue;
            const maxwell::Operand source = inst->operand(Slot::A);
            if (source.bank != program_.constants_bank || source.offset < 0)
                return std::nullopt;
            return static_cast<u32>(source.offset);
        }
        return std::nullopt;
    }

    // Pass 2: walk with the stack.
    Result<void> walk() {
        if (auto entry = block_at(8, 0); !entry)
            return tl::unexpected(entry.error());
        while (!pending_.empty()) {
            const auto [block, stack] = pending_.back();
            pending_.pop_back();
            if (auto ended = walk_block(block, stack); !ended)
                return ended;
        }
        return {};
    }

    Result<FlowBlockId> block_at(u32 address, u32 stack) {
        // Falling or jumping onto the top reconvergence point does what its SYNC would have done.
        while (stack != 0 && stacks_[stack].token == Token::Sync && stacks_[stack].target == address)
            stack = stacks_[stack].below;
        if (stacks_[stack].depth > deepest_stack)
            return fail("branch stack deeper than {} entries at {:#x}: recursion", deepest_stack, address);
        const u64 key = u64{address} << 32 | stack;
        const auto [found, added] = blocks_.try_emplace(key, static_cast<FlowBlockId>(graph_.blocks.size()));
        if (added) {
            if (graph_.blocks.size() >= most_blocks)
                return fail("control flow needs more than {} blocks (at {:#x})", most_blocks, address);
            graph_.blocks.emplace_back().address = address;
            pending_.emplace_back(found->second, stack);
        }
        return found->second;
    }

    Result<void> walk_block(FlowBlockId id, u32 stack) {
        const u32 start = graph_.blocks[id].address;
        graph_.blocks[id].first = index_[start / 8];
        graph_.blocks[id].calls = stacks_[stack].calls;
        for (u32 address = start;; address = next_address(address)) {
            const u32 index = index_[address / 8];
            if (address != start && leader_[address / 8]) {
                graph_.blocks[id].last = index;
                return connect(id, FlowBlock::End::Branch, nullptr, address, stack, {});
            }
            const Instruction& inst = graph_.code[index];
            const FlowRole role = flow_role(inst.opcode());
            if (role.flow == Flow::None)
                continue;
            if (role.flow == Flow::Push && !is_conditional(inst)) {
                const auto target = branch_target(inst);
                if (!target)
                    return tl::unexpected(target.error());
                stack = stacks_.push(stack, role.token, *target);
                continue;
            }
            graph_.blocks[id].last = index;
            return end_block(id, inst, role, stack);
        }
    }

    Result<void> end_block(FlowBlockId id, const Instruction& inst, FlowRole role, u32 stack) {
        const u32 address = inst.address(), after = next_address(address);
        const std::optional<u32> next = is_conditional(inst) ? std::optional{after} : std::nullopt;
        switch (role.flow) {
        case Flow::Push: {
            const auto target = branch_target(inst);
            if (!target)
                return tl::unexpected(target.error());
            const u32 pushed = stacks_.push(stack, role.token, *target);
            return connect(id, FlowBlock::End::Branch, &inst, after, pushed, next, stack);
        }
        case Flow::Pop: {
            const u32 entry = stacks_.find(stack, role.token);
            if (entry == 0 && role.token == Token::Call) // a return from the outermost routine
                return connect(id, FlowBlock::End::Exit, &inst, {}, stack, next);
            if (entry == 0)
                return fail("{} at {:#x} finds nothing on the branch stack", maxwell::mnemonic(inst.opcode()), address);
            return connect(id, FlowBlock::End::Branch, &inst, stacks_[entry].target, stacks_[entry].below, next, stack);
        }
        case Flow::Branch:
        case Flow::Call: {
            const auto target = branch_target(inst);
            if (!target)
                return tl::unexpected(target.error());
            // Compilers put a branch to itself behind the last EXIT; a thread that gets there does nothing any more.
            if (role.flow == Flow::Branch && *target == address && !next)
                return connect(id, FlowBlock::End::Exit, nullptr, {}, stack, {});
            const u32 inner = role.flow == Flow::Call ? stacks_.push(stack, Token::Call, after) : stack;
            return connect(id, FlowBlock::End::Branch, &inst, *target, inner, next, stack);
        }
        case Flow::Exit:
            if (const u32 entry = stacks_.find(stack, Token::Exit); entry != 0)
                return connect(id, FlowBlock::End::Branch, &inst, stacks_[entry].target, stacks_[entry].below, next,
                               stack);
            if (address < second_part_ && !next)
                return connect(id, FlowBlock::End::Branch, nullptr, second_part_ + 8, 0, {});
            return connect(id, FlowBlock::End::Exit, &inst, {}, stack, next);
        case Flow::Table:
            for (const u32 value : table_values_[address]) {
                const auto target = block_at(instruction_address(value), stack);
                if (!target)
                    return tl::unexpected(target.error());
                graph_.blocks[id].cases.push_back({value, *target});
            }
            return connect(id, FlowBlock::End::Table, &inst, {}, stack, next);
        case Flow::None:
            break;
        }
        return {};
    }

    Result<void> connect(FlowBlockId id, FlowBlock::End end, const Instruction* branch, std::optional<u32> taken,
                         u32 taken_stack, std::optional<u32> next, u32 next_stack = 0) {
        if (taken) {
            const auto block = block_at(*taken, taken_stack);
            if (!block)
                return tl::unexpected(block.error());
            graph_.blocks[id].taken = *block;
        }
        if (next) {
            const auto block = block_at(*next, taken ? next_stack : taken_stack);
            if (!block)
                return tl::unexpected(block.error());
            graph_.blocks[id].next = *block;
        }
        graph_.blocks[id].end = end;
        graph_.blocks[id].branch = branch;
        return {};
    }

    const program::Program& program_;
    Bytes code_;
    u32 second_part_ = 0; // where the second vertex part begins; 0: there is none
    FlowGraph graph_;
    std::vector<bool> leader_; // by address / 8
    std::vector<u32> index_;   // by address / 8: in graph_.code
    std::unordered_map<u32, std::vector<u32>> table_values_;
    Stacks stacks_;
    std::unordered_map<u64, FlowBlockId> blocks_;
    std::vector<std::pair<FlowBlockId, u32>> pending_;
};

} // namespace

u32 jump_table_base(const Instruction& inst) {
    const u32 offset = static_cast<u32>(inst.operand(Slot::T).value);
    return inst.opcode() == Opcode::BRX ? offset + inst.address() + 8 : offset;
}

Result<FlowGraph> build_flow_graph(const program::Program& program) {
    return GraphBuilder(program).build();
}

} // namespace heaviside::shader::lifting
