#include "maxwell/listing.h"

#include "maxwell/assembler.h"
#include "maxwell/control.h"
#include "maxwell/instruction.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>

namespace heaviside::maxwell {
namespace {

// An instruction that issues together with the next one: no stall, no scoreboard. The vendor prints no blank before
// its semicolon.
bool issues_with_next(const Control& control) {
    return control.stall == 0 && control.write_barrier == no_barrier && control.read_barrier == no_barrier &&
           control.wait == 0;
}

// Blanks collapsed, as nvdisasm's aligned listings are.
std::string text_of(const CodeWord& word, const Instruction& instruction) {
    std::string text = disassemble(instruction, word.control.reuse);
    const bool ends_in_own_blank = text.ends_with("QNAN ;") || text.ends_with("INF ;") || text.ends_with("-0.0 ;");
    if (issues_with_next(word.control) && !ends_in_own_blank)
        text.erase(text.size() - 2, 1);
    return text;
}

std::optional<u32> branch_target(const Instruction& instruction) {
    const Operand target = instruction.operand(Slot::T);
    if (target.kind != OperandKind::Target || instruction.opcode() == Opcode::JMP ||
        instruction.opcode() == Opcode::JCAL)
        return std::nullopt;
    return static_cast<u32>(target.value);
}

// The address of the instruction that a branch to `target` reaches: a bundle's start is its first instruction.
u32 instruction_at(u32 target) {
    return target % bundle_size == 0 ? target + 8 : target;
}

} // namespace

std::string listing(Bytes code) {
    std::string out;
    for (const CodeWord word : CodeView(code)) {
        if (word.address % bundle_size == 8)
            fmt::format_to(std::back_inserter(out), "    /* {:#018x} */\n",
                           read_at<u64>(code, word.address - 8).value_or(0));
        const auto instruction = decode(word.word, word.address);
        std::string text = instruction ? text_of(word, *instruction) : "/* invalid */";
        // The mnemonics stand in one column, predicates before it.
        const auto guard = text.starts_with('@') ? text.find(' ') + 1 : 0;
        fmt::format_to(std::back_inserter(out), "  /*{:04x}*/{:{}}{}  /* {:#018x} */\n", word.address, "", 19 - guard,
                       text, word.word);
    }
    return out;
}

u64 code_extent(Bytes code) {
    u64 furthest = 0, end = 0; // end: of the program, once its last branch was met
    for (const CodeWord word : CodeView(code)) {
        const auto instruction = decode(word.word, word.address);
        if (end != 0) {
            if (!instruction || instruction->opcode() != Opcode::NOP)
                break;
            end = word.address + 8;
            continue;
        }
        if (!instruction)
            continue;
        if (instruction->opcode() == Opcode::BRX || instruction->opcode() == Opcode::JMX)
            return code.size();
        const auto target = branch_target(*instruction);
        if (!target)
            continue;
        const u32 reached = instruction_at(*target);
        furthest = std::max<u64>(furthest, reached);
        if (instruction->opcode() == Opcode::BRA && instruction->guard().always() && reached == word.address &&
            furthest <= word.address)
            end = word.address + 8;
    }
    return end == 0 ? code.size() : std::min<u64>(align_up<u64>(end, bundle_size), code.size());
}

std::string source_listing(Bytes code) {
    std::set<u32> targets;
    for (const CodeWord word : CodeView(code))
        if (const auto instruction = decode(word.word, word.address))
            if (const auto target = branch_target(*instruction))
                targets.insert(instruction_at(*target));
    std::string out;
    std::set<u32> defined;
    for (const CodeWord word : CodeView(code))
        defined.insert(word.address);
    for (const CodeWord word : CodeView(code)) {
        if (targets.contains(word.address))
            fmt::format_to(std::back_inserter(out), "L{:04x}:\n", word.address);
        const auto instruction = decode(word.word, word.address);
        // Data behind the code. The language has no words without an instruction, so the whole line is a comment.
        if (!instruction) {
            fmt::format_to(std::back_inserter(out), "    // invalid: {:#018x}\n", word.word);
            continue;
        }
        std::string text = disassemble(*instruction);
        const auto target = branch_target(*instruction);
        if (target && defined.contains(instruction_at(*target)) && *target % bundle_size != 8) {
            const auto number = text.rfind(' ', text.size() - 3);
            text.replace(number + 1, text.size() - 2 - number - 1, fmt::format("L{:04x}", instruction_at(*target)));
        }
        fmt::format_to(std::back_inserter(out), "    {:<36} {}\n", control_text(word.control), text);
    }
    return out;
}

} // namespace heaviside::maxwell
