// The scheduling that the assembler chooses, held against a model of the hardware: which instructions need scoreboards
// is read off the vendor's own control words, registers become ready with the clock or with their scoreboard, and
// nothing may read or write them earlier.
#include "maxwell/assembler.h"
#include "maxwell/control.h"
#include "maxwell/form.h"
#include "maxwell/instruction.h"
#include "maxwell/latency.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

namespace heaviside::maxwell {
namespace {

namespace fs = std::filesystem;
const fs::path kernels = HEAVISIDE_SOURCE_DIR "/../shared/corpus/ptx/dev";

// The words of a kernel from its listing: every line ends in one, control words stand alone.
std::vector<std::byte> code_of(const fs::path& listing) {
    std::ifstream file(listing);
    std::vector<std::byte> code;
    bool in_text = false;
    for (std::string line; std::getline(file, line);) {
        if (line.starts_with(".text."))
            in_text = true;
        const auto at = line.rfind("/* 0x");
        if (!in_text || at == line.npos || line.size() < at + 24)
            continue;
        const u64 word = std::strtoull(line.c_str() + at + 3, nullptr, 16);
        const auto* const bytes = reinterpret_cast<const std::byte*>(&word);
        code.insert(code.end(), bytes, bytes + 8);
    }
    return code;
}

std::vector<std::vector<std::byte>> all_code() {
    std::vector<std::vector<std::byte>> all;
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(kernels, error))
        if (auto code = code_of(entry.path() / "kernel.sass"); !code.empty())
            all.push_back(std::move(code));
    return all;
}

struct Registers {
    std::vector<u8> read, written;
};
Registers registers_of(const Instruction& instruction) {
    Registers found;
    const Form& form = instruction.form();
    for (unsigned i = 0; i < form.operand_count; ++i) {
        const Slot slot = form.operands[i].slot;
        const Operand operand = instruction.operand(slot);
        const bool addresses = operand.kind == OperandKind::Memory || operand.kind == OperandKind::Attribute ||
                               operand.kind == OperandKind::Constant;
        if ((operand.kind != OperandKind::Register && !addresses) || operand.reg == zero_register)
            continue;
        const unsigned count = addresses ? (operand.wide_index ? 2u : 1u) : operand.count;
        for (unsigned n = operand.reg; n < std::min<unsigned>(operand.reg + count, zero_register); ++n)
            (slot == Slot::D || slot == Slot::D2 ? found.written : found.read).push_back(static_cast<u8>(n));
    }
    return found;
}

// What the vendor's assembler gives scoreboards to, over all kernels.
std::map<Opcode, unsigned> vendor_latencies(const std::vector<std::vector<std::byte>>& all) {
    std::map<Opcode, unsigned> latencies;
    for (const auto& code : all)
        for (const CodeWord word : CodeView(code))
            if (const auto instruction = decode(word.word, word.address))
                latencies[instruction->opcode()] |= (word.control.write_barrier != no_barrier ? Result : Fixed) |
                                                    (word.control.read_barrier != no_barrier ? Operands : Fixed);
    return latencies;
}

TEST(Schedule, EveryInstructionThatTheVendorGivesAScoreboardHasOne) {
    const auto all = all_code();
    if (all.empty())
        GTEST_SKIP() << "no kernels in " << kernels;
    const auto latencies = vendor_latencies(all);
    EXPECT_GT(latencies.size(), 80u);
    for (const auto& [opcode, needed] : latencies)
        EXPECT_EQ(needed & ~static_cast<unsigned>(latency(opcode)), 0u) << mnemonic(opcode);
}

// The shortest time that the vendor leaves between a result without a scoreboard and its first reader in straight code
// bounds that instruction's latency from above; 15 clocks cover all.
TEST(Schedule, FifteenClocksCoverEveryFixedLatency) {
    const auto all = all_code();
    if (all.empty())
        GTEST_SKIP() << "no kernels in " << kernels;
    const auto latencies = vendor_latencies(all);
    std::map<Opcode, unsigned> shortest, seen;
    for (const auto& code : all) {
        std::map<u8, std::pair<Opcode, unsigned>> written; // by which opcode, when
        unsigned clock = 0;
        for (const CodeWord word : CodeView(code)) {
            const auto instruction = decode(word.word, word.address);
            if (!instruction)
                continue;
            const Registers registers = registers_of(*instruction);
            for (const u8 reg : registers.read) {
                const auto found = written.find(reg);
                if (found == written.end())
                    continue;
                const auto [opcode, when] = found->second;
                const auto known = shortest.try_emplace(opcode, clock - when).first;
                known->second = std::min(known->second, clock - when);
                ++seen[opcode];
                written.erase(found);
            }
            for (const u8 reg : registers.written) {
                written.erase(reg);
                if (word.control.write_barrier == no_barrier && instruction->guard().always())
                    written[reg] = {instruction->opcode(), clock};
            }
            if (instruction->has(Slot::T) || instruction->opcode() == Opcode::SYNC)
                written.clear();
            clock += word.control.stall;
        }
    }
    EXPECT_GT(shortest.size(), 20u);
    for (const auto& [opcode, clocks] : shortest)
        if (seen[opcode] > 5 && !(latencies.at(opcode) & Result)) { // a few readers far away say nothing
            EXPECT_LE(clocks, 15u) << mnemonic(opcode);
        }
}

TEST(Schedule, ChosenFieldsCoverEveryDependencyOfEveryKernel) {
    const auto all = all_code();
    if (all.empty())
        GTEST_SKIP() << "no kernels in " << kernels;
    const auto latencies = vendor_latencies(all);
    int dependencies = 0;
    for (const auto& code : all) {
        std::vector<ScheduledWord> words;
        for (const CodeWord word : CodeView(code))
            words.push_back({word.word, std::nullopt, 0});
        schedule(words);
        constexpr unsigned fixed_latency = 13; // the longest: predicates
        struct State {
            unsigned ready = 0;                           // clock
            int result = no_barrier, reader = no_barrier; // scoreboards that guard it
        };
        std::array<State, 256> state{};
        unsigned clock = 0;
        for (const ScheduledWord& word : words) {
            const auto instruction = decode(word.word);
            ASSERT_TRUE(word.control);
            const Control control = *word.control;
            for (State& each : state) { // what it waits for is there when it issues
                if (each.result != no_barrier && (control.wait >> each.result & 1))
                    each.result = no_barrier;
                if (each.reader != no_barrier && (control.wait >> each.reader & 1))
                    each.reader = no_barrier;
            }
            if (!instruction)
                continue;
            const Registers registers = registers_of(*instruction);
            const auto check = [&](u8 reg, bool writes) {
                ++dependencies;
                EXPECT_LE(state[reg].ready, clock) << disassemble(*instruction);
                EXPECT_EQ(state[reg].result, no_barrier) << disassemble(*instruction);
                if (writes) {
                    EXPECT_EQ(state[reg].reader, no_barrier) << disassemble(*instruction);
                }
            };
            for (const u8 reg : registers.read)
                check(reg, false);
            for (const u8 reg : registers.written)
                check(reg, true);
            const unsigned needed = latencies.at(instruction->opcode());
            constexpr int lost = 6; // no scoreboard: nothing can wait for it
            if (needed & Operands)
                for (const u8 reg : registers.read)
                    state[reg].reader = control.read_barrier == no_barrier ? lost : control.read_barrier;
            for (const u8 reg : registers.written) {
                if (needed & Result)
                    state[reg].result = control.write_barrier == no_barrier ? lost : control.write_barrier;
                else
                    state[reg].ready = clock + fixed_latency;
            }
            clock += control.stall;
        }
    }
    EXPECT_GT(dependencies, 10000);
}

// An instruction without fields must not overtake what given fields started, however far away.
TEST(Schedule, ChosenFieldsWaitForTheScoreboardsOfGivenOnes) {
    const auto program = assemble("{stall=2 wr=3} MUFU.RCP R0, R1\n"
                                  "{stall=15} MOV R5, RZ\n"
                                  "FADD R2, R0, R0\n"
                                  "EXIT\n");
    ASSERT_TRUE(program);
    std::vector<Control> controls;
    for (const CodeWord word : CodeView(program->code))
        controls.push_back(word.control);
    EXPECT_EQ(controls[1].wait, 0);
    EXPECT_EQ(controls[2].wait, 1u << 3);
}

} // namespace
} // namespace heaviside::maxwell
