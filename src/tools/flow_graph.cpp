#include "tools/flow_graph.h"

#include "maxwell/control.h"
#include "maxwell/instruction.h"

#include <fmt/format.h>

#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <vector>

namespace heaviside::tools {
namespace {

using maxwell::Instruction;
using maxwell::Opcode;

// What an instruction does to the flow, and for pushes and pops on which kind of stack entry.
enum class Flow : u8 { None, Push, Pop, Branch, Call, Exit };

struct Role {
    Flow flow = Flow::None;
    Opcode entry = Opcode::NOP; // the push that a pop undoes; CAL stands for return addresses
};

Role role_of(Opcode opcode) {
    static const std::map<Opcode, Role> roles{{Opcode::SSY, {Flow::Push, Opcode::SSY}},
                                              {Opcode::PBK, {Flow::Push, Opcode::PBK}},
                                              {Opcode::PCNT, {Flow::Push, Opcode::PCNT}},
                                              {Opcode::PLONGJMP, {Flow::Push, Opcode::PLONGJMP}},
                                              {Opcode::PEXIT, {Flow::Push, Opcode::PEXIT}},
                                              {Opcode::PRET, {Flow::Push, Opcode::CAL}},
                                              {Opcode::SYNC, {Flow::Pop, Opcode::SSY}},
                                              {Opcode::BRK, {Flow::Pop, Opcode::PBK}},
                                              {Opcode::CONT, {Flow::Pop, Opcode::PCNT}},
                                              {Opcode::LONGJMP, {Flow::Pop, Opcode::PLONGJMP}},
                                              {Opcode::RET, {Flow::Pop, Opcode::CAL}},
                                              {Opcode::CAL, {Flow::Call, Opcode::CAL}},
                                              {Opcode::JCAL, {Flow::Call, Opcode::CAL}},
                                              {Opcode::BRA, {Flow::Branch, {}}},
                                              {Opcode::JMP, {Flow::Branch, {}}},
                                              {Opcode::BRX, {Flow::Branch, {}}},
                                              {Opcode::JMX, {Flow::Branch, {}}},
                                              {Opcode::EXIT, {Flow::Exit, {}}},
                                              {Opcode::RTT, {Flow::Exit, {}}}};
    const auto found = roles.find(opcode);
    return found == roles.end() ? Role{} : found->second;
}

bool is_conditional(const Instruction& instruction) {
    return !instruction.guard().always() || instruction.get<maxwell::Test>() != maxwell::Test::True;
}

std::string guard_text(maxwell::Guard guard, bool invert) {
    if (guard.always())
        return "";
    return fmt::format("@{}P{}", guard.negated != invert ? "!" : "",
                       guard.predicate == maxwell::true_predicate ? "T" : fmt::format("{}", guard.predicate));
}

u32 next_address(u32 address) {
    return address % maxwell::bundle_size == 24 ? address + 16 : address + 8;
}

struct Block {
    std::string text;         // its lines, ready for a label
    u32 last = 0, behind = 0; // addresses of the last instruction and of the one after it
    std::vector<std::pair<Opcode, u32>> pushes;
};

constexpr u32 no_target = ~0u;

class Builder {
public:
    explicit Builder(Bytes code) : code_(code), end_(static_cast<u32>(code.size() / 8 * 8)) {}

    std::string build(std::string_view name) {
        find_leaders();
        follow();
        std::string out = fmt::format("digraph \"{}\" {{\n  node [shape=box fontname=monospace];\n", escaped(name));
        for (const auto& [first, block] : blocks_)
            fmt::format_to(std::back_inserter(out), "  b{:04x} [label=\"{}\"];\n", first, block.text);
        if (indirect_)
            out += "  indirect [shape=plaintext];\n";
        for (const u32 address : outside_)
            fmt::format_to(std::back_inserter(out), "  b{:04x} [label=\"{:#x}: outside\" shape=plaintext];\n", address,
                           address);
        for (const auto& [from, to, label, dashed] : edges_)
            fmt::format_to(std::back_inserter(out), "  b{:04x} -> {}{}{};\n", from,
                           to == no_target ? std::string("indirect") : fmt::format("b{:04x}", to),
                           label.empty() ? "" : fmt::format(" [label=\"{}\"]", label), dashed ? " [style=dashed]" : "");
        for (const u32 first : cases_)
            fmt::format_to(std::back_inserter(out), "  indirect -> b{:04x} [style=dashed];\n", first);
        if (cut_short_)
            out += "  // Some edges of SYNC, BRK, CONT and RET are left out: too many nestings.\n";
        return out + "}\n";
    }

private:
    using Stack = std::vector<std::pair<Opcode, u32>>;

    static std::string escaped(std::string_view text) {
        std::string out;
        for (const char c : text) {
            if (c == '"' || c == '\\')
                out += '\\';
            out += c;
        }
        return out;
    }

    [[nodiscard]] std::optional<Instruction> at(u32 address) const {
        const auto word = read_at<u64>(code_, address);
        return word ? maxwell::decode(*word, address) : std::nullopt;
    }

    // A target in the code, or no_target where the code alone does not tell it: constants, registers, and the addresses
    // of JMP and JCAL, which do not count from the start of the program.
    static u32 target_of(const Instruction& instruction) {
        const auto opcode = instruction.opcode();
        const maxwell::Operand target = instruction.operand(maxwell::Slot::T);
        if (target.kind != maxwell::OperandKind::Target || opcode == Opcode::JMP || opcode == Opcode::JCAL)
            return no_target;
        const auto address = static_cast<u32>(target.value);
        return address % maxwell::bundle_size == 0 ? address + 8 : address;
    }

    [[nodiscard]] bool inside(u32 address) const {
        return address < end_ && address % 8 == 0 && address % maxwell::bundle_size != 0;
    }

    void find_leaders() {
        leaders_.insert(8);
        for (const maxwell::CodeWord word : maxwell::CodeView(code_)) {
            const auto instruction = maxwell::decode(word.word, word.address);
            if (!instruction)
                continue;
            const Flow flow = role_of(instruction->opcode()).flow;
            if (flow == Flow::None)
                continue;
            if (const u32 target = target_of(*instruction); target != no_target)
                leaders_.insert(target);
            if (flow != Flow::Push)
                leaders_.insert(next_address(word.address));
        }
    }

    const Block& block_at(u32 first) {
        const auto [found, added] = blocks_.try_emplace(first);
        Block& block = found->second;
        if (!added)
            return block;
        for (u32 address = first;; address = next_address(address)) {
            const auto instruction = at(address);
            fmt::format_to(std::back_inserter(block.text), "{:04x}: {}\\l", address,
                           instruction ? escaped(maxwell::disassemble(*instruction)) : "invalid");
            block.last = address;
            block.behind = next_address(address);
            if (instruction) {
                const Role role = role_of(instruction->opcode());
                if (role.flow == Flow::Push) {
                    const u32 target = target_of(*instruction);
                    block.pushes.emplace_back(role.entry, target);
                    edge(first, target, std::string(mnemonic(instruction->opcode())), true);
                }
            }
            if (block.behind >= end_ || leaders_.contains(block.behind))
                return block;
        }
    }

    void edge(u32 from, u32 to, std::string label, bool dashed = false) {
        if (to == no_target)
            indirect_ = true;
        else if (!inside(to))
            outside_.insert(to);
        edges_.emplace(from, to, std::move(label), dashed);
    }

    void visit(u32 to, Stack stack) {
        if (to == no_target || !inside(to))
            return;
        // Arriving at the innermost point of reconvergence takes its entry off, as SYNC does.
        if (!stack.empty() && stack.back() == std::pair{Opcode::SSY, to})
            stack.pop_back();
        // Enough for any compiler's output; a program made to explode is cut short.
        constexpr std::size_t deepest = 64, most_states = 1 << 16;
        if (stack.size() > deepest || seen_.size() >= most_states) {
            cut_short_ = true;
            stack.clear();
        }
        if (seen_.emplace(to, stack).second)
            pending_.emplace_back(to, std::move(stack));
    }

    void leave(u32 from, const Block& block, Stack stack) {
        const auto instruction = at(block.last);
        const Role role = instruction ? role_of(instruction->opcode()) : Role{};
        const bool conditional = instruction && is_conditional(*instruction);
        const auto label = [&](bool taken) {
            return conditional ? guard_text(instruction->guard(), !taken) : std::string();
        };
        switch (role.flow) {
        case Flow::None:
        case Flow::Push:
            edge(from, block.behind, "");
            return visit(block.behind, std::move(stack));
        case Flow::Branch: {
            const u32 target = target_of(*instruction);
            edge(from, target, label(true));
            if (target == no_target)
                indirect_stack_ = stack;
            visit(target, stack);
            break;
        }
        case Flow::Call: {
            const u32 target = target_of(*instruction);
            edge(from, target, std::string(mnemonic(instruction->opcode())), true);
            if (target == no_target || !inside(target)) { // the callee is not here: take it that it returns
                edge(from, block.behind, "");
                return visit(block.behind, std::move(stack));
            }
            stack.emplace_back(role.entry, block.behind);
            return visit(target, std::move(stack));
        }
        case Flow::Pop: {
            Stack below = stack;
            while (!below.empty() && below.back().first != role.entry)
                below.pop_back();
            if (!below.empty()) {
                const u32 target = below.back().second;
                below.pop_back();
                const std::string guard = label(true);
                edge(from, target, (guard.empty() ? "" : guard + " ") + std::string(mnemonic(instruction->opcode())));
                visit(target, std::move(below));
            }
            break;
        }
        case Flow::Exit:
            break;
        }
        if (conditional) {
            edge(from, block.behind, label(false));
            visit(block.behind, std::move(stack));
        }
    }

    void follow_pending() {
        while (!pending_.empty()) {
            auto [first, stack] = std::move(pending_.back());
            pending_.pop_back();
            const Block& block = block_at(first);
            stack.insert(stack.end(), block.pushes.begin(), block.pushes.end());
            leave(first, block, std::move(stack));
        }
    }

    // Behind the last EXIT: a branch to itself, then NOPs.
    [[nodiscard]] bool is_padding(u32 address) const {
        const auto instruction = at(address);
        return !instruction || instruction->opcode() == Opcode::NOP ||
               (instruction->opcode() == Opcode::BRA && target_of(*instruction) == address);
    }

    void follow() {
        visit(8, {});
        follow_pending();
        // Where an indirect branch leads is in a table elsewhere. What nothing else reaches is taken to be its cases.
        for (const u32 first : leaders_) {
            if (!indirect_stack_ || !inside(first) || blocks_.contains(first) || is_padding(first))
                continue;
            cases_.insert(first);
            visit(first, *indirect_stack_);
            follow_pending();
        }
    }

    Bytes code_;
    u32 end_;
    std::set<u32> leaders_, outside_, cases_;
    std::optional<Stack> indirect_stack_; // at the last indirect branch
    std::map<u32, Block> blocks_;
    std::set<std::tuple<u32, u32, std::string, bool>> edges_;
    std::set<std::pair<u32, Stack>> seen_;
    std::vector<std::pair<u32, Stack>> pending_;
    bool indirect_ = false, cut_short_ = false;
};

} // namespace

std::string flow_graph(Bytes code, std::string_view name) {
    return Builder(code).build(name);
}

} // namespace heaviside::tools
