// Control flow: what the branch stack does to one thread, seen in the registers that a program ends with. The programs
// are assembled from text; expected values follow from the instructions' definitions.
#include "lift_machine.h"
#include "maxwell/assembler.h"
#include "shader/lift.h"
#include "shader/lift_graph.h"

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>

namespace heaviside::shader::test {
namespace {

constexpr u64 nop = 0x50b0000000070f00;

// Lines of assembly; "name:" defines a label that branches name. Instruction n is at 8 + 8 n + 8 (n / 3).
std::vector<std::byte> assembled(std::initializer_list<const char*> lines) {
    std::map<std::string, i64, std::less<>> labels;
    std::vector<std::string> instructions;
    const auto address = [](std::size_t n) { return static_cast<u32>(8 + 8 * n + 8 * (n / 3)); };
    for (const std::string line : lines) {
        if (line.ends_with(':'))
            labels[line.substr(0, line.size() - 1)] = address(instructions.size());
        else
            instructions.push_back(line);
    }
    std::vector<std::byte> code;
    const auto append = [&code](u64 word) {
        if (code.size() % 32 == 0)
            code.resize(code.size() + 8); // scheduling
        const auto bytes = std::as_bytes(std::span(&word, 1));
        code.insert(code.end(), bytes.begin(), bytes.end());
    };
    const auto lookup = [&](std::string_view name) -> std::optional<i64> {
        const auto found = labels.find(name);
        return found == labels.end() ? std::nullopt : std::optional(found->second);
    };
    for (std::size_t n = 0; n < instructions.size(); ++n) {
        const auto encoded = maxwell::encode(instructions[n], address(n), lookup);
        EXPECT_TRUE(encoded) << instructions[n] << ": " << (encoded ? "" : encoded.error().message);
        append(encoded ? encoded->word : nop);
    }
    while (code.size() % 32 != 0)
        append(nop);
    return code;
}

program::Program compute(const std::vector<std::byte>& code, const std::vector<std::byte>& constants = {}) {
    program::Program program;
    program.stage = program::Stage::Compute;
    program.code = code;
    program.constants = constants;
    return program;
}

// Runs with `input` in c[0x2][0x0]; gives R0.
u32 result(const std::vector<std::byte>& code, u32 input, const std::vector<std::byte>& constants = {}) {
    const auto lifted = lift(compute(code, constants), {});
    if (!lifted) {
        ADD_FAILURE() << lifted.error().message;
        return ~0u;
    }
    EXPECT_TRUE(ir::verify(*lifted));
    Memory memory;
    memory.banks[2].resize(4);
    std::memcpy(memory.banks[2].data(), &input, 4);
    memory.banks[1] = constants;
    const Outcome outcome = run(*lifted, memory);
    EXPECT_EQ(outcome.error, "");
    return outcome.registers[0];
}

std::string error_of(const std::vector<std::byte>& code) {
    const auto lifted = lift(compute(code), {});
    return lifted ? std::string{} : lifted.error().message;
}

TEST(LiftFlow, SyncGoesToTheInnermostReconvergencePoint) {
    const auto code = assembled({
        "MOV R1, c[0x2][0x0]",
        "SSY outer",
        "ISETP.EQ.AND P0, PT, R1, RZ, PT",
        "@P0 BRA zero",
        "SSY inner",
        "ISETP.EQ.AND P1, PT, R1, 0x1, PT",
        "@P1 BRA one",
        "IADD R0, R0, 0x10", // neither 0 nor 1
        "SYNC",
        "one:",
        "IADD R0, R0, 0x1",
        "SYNC",
        "inner:",
        "IADD R0, R0, 0x100",
        "SYNC",
        "zero:",
        "IADD R0, R0, 0x1000",
        "SYNC",
        "outer:",
        "IADD R0, R0, 0x2",
        "EXIT",
    });
    EXPECT_EQ(result(code, 0), 0x1002u);
    EXPECT_EQ(result(code, 1), 0x103u);
    EXPECT_EQ(result(code, 2), 0x112u);
}

TEST(LiftFlow, BreakAndContinueLeaveNestedLoopsAndDropWhatIsAboveThem) {
    // sum of i for i = 1 .. n but not those divisible by 4; stops at 10.
    const auto code = assembled({
        "MOV R1, c[0x2][0x0]",
        "PBK end",
        "loop:",
        "PCNT next",
        "IADD R2, R2, 0x1",
        "ISETP.GT.AND P0, PT, R2, R1, PT",
        "@P0 BRK",
        "SSY join", // left open by BRK and CONT
        "LOP.AND.Z P1, R3, R2, 0x3",
        "@P1 CONT",
        "ISETP.GE.AND P2, PT, R2, 0xa, PT",
        "@P2 BRK",
        "SYNC",
        "join:",
        "IADD R0, R0, R2",
        "CONT",
        "next:",
        "BRA loop",
        "end:",
        "EXIT",
    });
    EXPECT_EQ(result(code, 0), 0u);
    EXPECT_EQ(result(code, 3), 6u);
    EXPECT_EQ(result(code, 6), 1u + 2 + 3 + 5 + 6);
    EXPECT_EQ(result(code, 50), 1u + 2 + 3 + 5 + 6 + 7 + 9);
}

TEST(LiftFlow, CallsReturnToTheirCaller) {
    const auto code = assembled({
        "MOV R1, c[0x2][0x0]",
        "CAL twice",
        "CAL twice",
        "PRET back", // a return address of one's own
        "BRA add",
        "back:",
        "MOV R0, R1",
        "EXIT",
        "twice:",
        "CAL add",
        "SHL R1, R1, 0x1",
        "RET",
        "add:",
        "IADD R1, R1, 0x1",
        "RET",
    });
    EXPECT_EQ(result(code, 5), ((5u + 1) * 2 + 1) * 2 + 1);
}

TEST(LiftFlow, PredicatedStoresHappenOnlyWhereTheGuardHolds) {
    const auto code = assembled({
        "MOV R1, c[0x2][0x0]",
        "MOV R2, 0x7",
        "ISETP.EQ.AND P0, PT, R1, RZ, PT",
        "@P0 STL [RZ], R2",
        "@!P0 STL [RZ+0x4], R2",
        "LDL R0, [RZ]",
        "LDL R3, [RZ+0x4]",
        "ISCADD R0, R3, R0, 0x4",
        "EXIT",
    });
    const auto lifted = lift(compute(code), {});
    ASSERT_TRUE(lifted) << lifted.error().message;
    for (const u32 input : {0u, 1u}) {
        Memory memory;
        memory.banks[2].resize(4);
        std::memcpy(memory.banks[2].data(), &input, 4);
        EXPECT_EQ(run(*lifted, memory, {.local_bytes = 16}).registers[0], input == 0 ? 0x7u : 0x70u);
    }
}

TEST(LiftFlow, AGuardThatItsOwnInstructionChangesIsReadBefore) {
    const auto code = assembled({
        "ISETP.T.AND P0, PT, RZ, RZ, PT",
        "@P0 ISETP.F.AND P0, PT, RZ, RZ, PT",
        "@P0 MOV R0, 0x1", // false by now
        "@!P0 IADD R0, R0, 0x2",
        "EXIT",
    });
    EXPECT_EQ(result(code, 0), 2u);
}

TEST(LiftFlow, ConditionCodesDecideBranchesAndExits) {
    const auto code = assembled({
        "MOV R1, c[0x2][0x0]",
        "IADD RZ.CC, R1, -0x5",
        "BRA CC.EQ, equal",
        "MOV R0, 0x1",
        "EXIT CC.LT",
        "MOV R0, 0x2",
        "EXIT",
        "equal:",
        "MOV R0, 0x3",
        "EXIT",
    });
    EXPECT_EQ(result(code, 4), 1u);
    EXPECT_EQ(result(code, 5), 3u);
    EXPECT_EQ(result(code, 6), 2u);
}

TEST(LiftFlow, JumpTablesInTheProgramsConstants) {
    const auto code = assembled({
        "MOV R1, c[0x2][0x0]",
        "SHL R1, R1, 0x2",
        "LDC R1, c[0x1][R1]",
        "BRX R1 -0x30", // + the address behind it, 0x30
        "first:",       // 0x30
        "MOV R0, 0xa",
        "EXIT",
        "NOP",
        "NOP",
        "second:", // 0x58
        "MOV R0, 0xb",
        "EXIT",
    });
    const u32 table[] = {0x30, 0x58, 0x30};
    const auto bytes = std::as_bytes(std::span(table));
    const std::vector<std::byte> constants(bytes.begin(), bytes.end());
    EXPECT_EQ(result(code, 0, constants), 0xau);
    EXPECT_EQ(result(code, 1, constants), 0xbu);
    EXPECT_EQ(result(code, 2, constants), 0xau);
}

TEST(LiftFlow, ErrorsNameTheAddress) {
    EXPECT_NE(error_of(assembled({"SYNC"})).find("SYNC at 0x8"), std::string::npos);
    EXPECT_NE(error_of(assembled({"NOP", "BRK"})).find("BRK at 0x10"), std::string::npos);
    EXPECT_NE(error_of(assembled({"start:", "CAL start", "EXIT"})).find("recursion"), std::string::npos);
    EXPECT_NE(error_of(assembled({"NOP"})).find("beyond the code"), std::string::npos);
    EXPECT_NE(error_of(assembled({"BRX R1 0x0"})).find("no jump table"), std::string::npos);
    EXPECT_NE(error_of(std::vector<std::byte>(32, std::byte{0xff})).find("at 0x8 is no instruction"),
              std::string::npos);
}

TEST(LiftFlow, ExitGoesToThePreparedPlaceOnce) { // GFX-177
    const auto code = assembled({
        "PEXIT last",
        "MOV R0, 0x1",
        "EXIT",
        "last:",
        "IADD R0, R0, 0x8",
        "EXIT",
    });
    EXPECT_EQ(result(code, 0), 9u);
}

TEST(LiftFlow, SecondVertexPartFollowsTheFirst) {
    const auto first = assembled({"MOV R0, 0x1", "EXIT"});
    const auto second = assembled({"IADD R0, R0, 0x40", "EXIT"});
    program::Program program = compute(first);
    program.second_code = second;
    const auto lifted = lift(program, {});
    ASSERT_TRUE(lifted) << lifted.error().message;
    Memory memory;
    EXPECT_EQ(run(*lifted, memory).registers[0], 0x41u);
}

TEST(LiftFlow, DamagedProgramsAreLiftedOrRefusedByName) {
    const std::filesystem::path corpus = HEAVISIDE_SOURCE_DIR "/../shared/corpus/glsl/dev";
    if (!std::filesystem::exists(corpus))
        GTEST_SKIP() << "no corpus at " << corpus;
    std::mt19937 random(1);
    unsigned lifted_count = 0, refused = 0;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(corpus)) {
        if (!entry.path().string().ends_with(".code.bin"))
            continue;
        std::ifstream in(entry.path(), std::ios::binary);
        const std::vector<char> text((std::istreambuf_iterator<char>(in)), {});
        const auto bytes = std::as_bytes(std::span(text));
        for (int round = 0; round < 8; ++round) {
            std::vector<std::byte> code(bytes.begin(), bytes.end());
            for (int k = 0; k < 3; ++k)
                code[random() % code.size()] ^= static_cast<std::byte>(1u << random() % 8);
            program::Program program = compute(code);
            program.stage =
                entry.path().filename() == "comp.code.bin" ? program::Stage::Compute : program::Stage::Vertex;
            const auto lifted = lift(program, {});
            if (lifted) {
                const auto verified = ir::verify(*lifted);
                EXPECT_TRUE(verified) << entry.path() << ": " << (verified ? "" : verified.error().message);
                ++lifted_count;
            } else {
                EXPECT_FALSE(lifted.error().message.empty());
                ++refused;
            }
        }
    }
    EXPECT_GT(lifted_count, 100u);
    EXPECT_GT(refused, 100u);
}

} // namespace
} // namespace heaviside::shader::test
