// Instructions outside the usual compilers' vocabulary, as docs/isa.md has them. Expected values are worked out by
// hand.
#include "maxwell/assembler.h"
#include "shader/lift.h"
#include "tests/shader/lift_machine.h"

#include <cstring>
#include <gtest/gtest.h>

namespace heaviside::shader::test {
namespace {

constexpr u64 buffer = u64{1} << 32;

struct Machine {
    Memory memory;
    Launch launch;
    Stage stage = Stage::Compute;

    Machine() {
        memory.global.push_back({buffer, std::vector<std::byte>(64)});
        launch.shared_bytes = 64;
    }
    void bank(u32 number, u32 offset, u32 value) {
        auto& bytes = memory.banks[number];
        if (bytes.size() < offset + 4)
            bytes.resize(offset + 4);
        std::memcpy(bytes.data() + offset, &value, 4);
    }
    [[nodiscard]] Result<ir::Program> lifted(const std::string& text) const {
        const auto assembled = maxwell::assemble(text + "EXIT\n");
        if (!assembled)
            return tl::unexpected(assembled.error());
        program::Program program;
        program.stage = stage;
        program.code = assembled->code;
        program.workgroup_size = launch.block;
        program.layout = &program::kernel_layout;
        return lift(program, {});
    }
    // The registers of the last thread.
    std::array<u32, ir::register_count> run(const std::string& text) {
        const auto program = lifted(text);
        if (!program) {
            ADD_FAILURE() << program.error().message;
            return {};
        }
        EXPECT_TRUE(ir::verify(*program));
        const Outcome outcome = test::run(*program, memory, launch);
        EXPECT_EQ(outcome.error, "");
        return outcome.registers;
    }
    [[nodiscard]] u32 word(u32 offset) const { return read_at<u32>(memory.global[0].bytes, offset).value_or(~0u); }
    void set_word(u32 offset, u32 value) { std::memcpy(memory.global[0].bytes.data() + offset, &value, 4); }
    [[nodiscard]] std::string refusal(const std::string& text) const {
        const auto program = lifted(text);
        return program ? "" : program.error().message;
    }
};

// IS: c[2 + R1 upper half][R1 lower half + offset]. IL and ISL: banks of 64 KiB one behind the other.
TEST(LiftReading, LdcChoosesItsBankWhenItRuns) {
    Machine m;
    m.bank(2, 0x24, 22);
    m.bank(5, 0x24, 55);
    m.bank(5, 0x28, 56);
    m.bank(17, 0x24, 1717);
    EXPECT_EQ(m.run("MOV32I R1, 0x30020\nLDC.IS R0, c[0x2][R1+0x4]\n")[0], 55u);
    EXPECT_EQ(m.run("MOV32I R1, 0x20\nLDC.IS R0, c[0x2][R1+0x4]\n")[0], 22u);
    EXPECT_EQ(m.run("MOV32I R1, 0xf0020\nLDC.IS R0, c[0x2][R1+0x4]\n")[0], 1717u);
    EXPECT_EQ(m.run("MOV32I R1, 0x100020\nLDC.IS R0, c[0x2][R1+0x4]\n")[0], 0u) << "there are 18 banks";
    for (const char* mode : {"IL", "ISL"}) {
        const auto load = [&](const char* at) {
            return m.run(fmt::format("MOV32I R1, {}\nLDC.{} R0, c[0x2][R1+0x4]\n", at, mode))[0];
        };
        EXPECT_EQ(load("0x30020"), 55u);
        EXPECT_EQ(load("0x20"), 22u);
    }
    m.bank(3, 0, 33); // the sum carries into the next bank
    EXPECT_EQ(m.run("MOV32I R1, 0xfffc\nLDC.IL R0, c[0x2][R1+0x4]\n")[0], 33u);
    EXPECT_EQ(m.run("MOV32I R1, 0xfffc\nLDC.IS R0, c[0x2][R1+0x4]\n")[0], 0u) << "no carry: the bank ends there";
    const auto wide = m.run("MOV32I R1, 0x30020\nLDC.64.IS R2, c[0x2][R1+0x4]\n");
    EXPECT_EQ(wide[2], 55u);
    EXPECT_EQ(wide[3], 56u);
}

TEST(LiftReading, WideResultsIntoRzLeaveNothing) {
    Machine m;
    m.bank(2, 0, 7);
    const auto r = m.run("LDC.64 RZ, c[0x2][RZ]\nB2R.RESULT R0\n");
    EXPECT_EQ(r[0], 0u) << "the word behind RZ is no register";
}

constexpr const char* address = "MOV R2, RZ\nMOV32I R3, 0x1\n"; // `buffer`

TEST(LiftReading, CompareAndSwapWithRz) {
    Machine m;
    const auto swapped = [&](u32 memory, const std::string& b, const char* type = "") {
        m.set_word(0, memory);
        m.set_word(4, 0);
        const auto r = m.run(std::string(address) + "MOV32I R4, 0x5\nMOV32I R5, 0x9\nATOM.E.CAS" + type +
                             " R0, [R2], " + b + "\n");
        EXPECT_EQ(r[0], memory);
        return m.word(0);
    };
    EXPECT_EQ(swapped(5, "R4, R5"), 9u);
    EXPECT_EQ(swapped(6, "R4, R5"), 6u);
    EXPECT_EQ(swapped(5, "R4, RZ"), 0u);
    EXPECT_EQ(swapped(6, "R4, RZ"), 6u);
    EXPECT_EQ(swapped(0, "RZ, R4"), 5u);
    EXPECT_EQ(swapped(1, "RZ, R4"), 1u);
}

// CAST says whether it swapped.
TEST(LiftReading, SharedCompareAndSwapWithAnAnswer) {
    Machine m;
    const auto r = m.run("MOV32I R4, 0x0\nMOV32I R5, 0x9\nATOMS.CAST.SPIN R0, [RZ], R4, R5\n"
                         "ATOMS.CAST.SPIN R1, [RZ], R4, R5\nLDS R6, [RZ]\n");
    EXPECT_EQ(r[0], 1u);
    EXPECT_EQ(r[1], 0u);
    EXPECT_EQ(r[6], 9u);
}

// LD's predicate is a source: it keeps its value. LDG's says that nothing was missing.
TEST(LiftReading, OnlyResidencyPredicatesAreResults) {
    Machine m;
    m.set_word(0, 77);
    const auto kept = m.run(std::string(address) + "PSETP.AND.AND P1, PT, PT, PT, PT\nLD.E R0, [R2], P1\n"
                                                   "SEL R1, RZ, 0x1, !P1\n");
    EXPECT_EQ(kept[0], 77u);
    EXPECT_EQ(kept[1], 1u);
    const auto cleared = m.run(std::string(address) + "PSETP.AND.AND P1, PT, PT, PT, PT\nLDG.E P1, R0, [R2]\n"
                                                      "SEL R1, RZ, 0x1, !P1\n");
    EXPECT_EQ(cleared[1], 0u);
}

TEST(LiftReading, BarrierReductionsAreNumbers) {
    Machine m;
    m.launch.block = {64, 1, 1};
    const std::string set = "S2R R1, SR_TID.X\nISETP.LT.AND P0, PT, R1, 0x3, PT\n";
    EXPECT_EQ(m.run(set + "BAR.RED.POPC 0x0, P0\nB2R.RESULT R0\n")[0], 3u);
    EXPECT_EQ(m.run(set + "BAR.RED.OR 0x0, P0\nB2R.RESULT R0\n")[0], 1u);
    EXPECT_EQ(m.run(set + "BAR.RED.AND 0x0, P0\nB2R.RESULT R0\n")[0], 0u);
    EXPECT_EQ(m.run(set + "BAR.RED.AND 0x0, PT\nB2R.RESULT R0\n")[0], 1u);
    EXPECT_EQ(m.run(set + "BAR.RED.POPC 0x0, 0x40, P0\nB2R.RESULT R0\n")[0], 3u) << "64 threads are all";
}

TEST(LiftReading, EveryBarrierWaitsAndScansAreRefused) {
    Machine m;
    m.launch.block = {64, 1, 1};
    for (const char* barrier : {"BAR.SYNC 0x0", "BAR.SYNC 0x3, 0x40", "BAR.SYNC R1, 0x20", "BAR.ARV 0x3, 0x40"}) {
        // Thread 63 gives thread 0 a word: thread 0 must not read it before.
        const auto r = m.run(fmt::format("MOV R1, RZ\nS2R R2, SR_TID.X\nISETP.EQ.AND P0, PT, R2, 0x3f, PT\n"
                                         "@P0 STS [RZ], R2\n{}\nLDS R0, [RZ]\n",
                                         barrier));
        EXPECT_EQ(r[0], 63u) << barrier;
    }
    EXPECT_NE(m.refusal("BAR.SCAN 0x1, P0\n").find("scanning barrier"), std::string::npos);
}

// |A - B| of the four bytes of 0x10 80 05 ff and 0x20 7f 09 01.
TEST(LiftReading, AbsoluteDifferencesOfFourBytes) {
    Machine m;
    const auto run = [&](const std::string& instruction) {
        return m.run("MOV32I R1, 0x108005ff\nMOV32I R2, 0x207f0901\nMOV32I R3, 0x1000\n" + instruction + "\n")[0];
    };
    EXPECT_EQ(run("VABSDIFF4.U8.U8 R0, R1, R2, R3"), 0x100104feu);
    EXPECT_EQ(run("VABSDIFF4.S8.S8 R0, R1, R2, R3"), 0x10ff0402u) << "-128 and 127, -1 and 1";
    EXPECT_EQ(run("VABSDIFF4.U8.U8.SAT.ACC R0, R1, R2, R3"), 0x1000u + 0x10 + 0x01 + 0x04 + 0xfe);
    EXPECT_EQ(run("VABSDIFF4.U8.U8.X R0, R1, R2, R3"), 0x10feu) << "the lowest byte alone; the others are C's";
}

TEST(LiftReading, VotesOfVertexGroupsAreNothing) {
    Machine m;
    m.stage = Stage::Vertex;
    EXPECT_EQ(m.refusal("VOTE.VTG.A 0x0\n"), "");
}

TEST(LiftReading, VertexNumbersCountFromTheOffset) {
    Machine m;
    m.stage = Stage::Geometry;
    EXPECT_EQ(m.run("MOV32I R1, 0x2\nISBERD R0, [R1]\n")[0], 2u);
    EXPECT_EQ(m.run("MOV32I R1, 0x2\nAL2P R0, R1, 0x84\n")[0], 0x86u);
    EXPECT_NE(m.refusal("ISBERD.PRIM R0, [R1]\n").find("mode"), std::string::npos);
}

TEST(LiftReading, WhatNobodyKnowsIsNamed) {
    Machine m;
    m.stage = Stage::Fragment;
    EXPECT_NE(m.refusal("PIXLD.OFFSET R0, [R1]\n").find("sample offset"), std::string::npos);
    EXPECT_NE(m.refusal("PIXLD R0, [R1]\n").find("number of samples"), std::string::npos);
    EXPECT_EQ(m.refusal("PIXLD.COVERED R0, [R1]\n"), "");
}

} // namespace
} // namespace heaviside::shader::test
