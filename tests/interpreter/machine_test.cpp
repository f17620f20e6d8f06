// Programs in assembly, results worked out by hand.
#include "interpreter/machine.h"
#include "maxwell/assembler.h"

#include <gtest/gtest.h>

#include <numeric>

using namespace heaviside;
using namespace heaviside::interpreter;

namespace {

std::vector<std::byte> assemble(const std::string& source) {
    const auto program = maxwell::assemble(source);
    EXPECT_TRUE(program) << program.error().message;
    return program ? program->code : std::vector<std::byte>{};
}

constexpr u64 base = 0x40000000;

// Runs `source`, whose threads store words at c[0][0] + 4 * n, over 64 words.
Result<std::vector<u32>> run_over_words(const std::string& source, std::array<u32, 3> block,
                                        std::array<u32, 3> grid = {1, 1, 1}, u64 step_limit = 1 << 20) {
    const auto code = assemble(source);
    std::vector<u32> words(64);
    const std::array<u32, 2> address{static_cast<u32>(base), 0};
    const MemoryRange range{base, std::as_writable_bytes(std::span(words))};
    Launch launch;
    launch.code = code;
    launch.banks[0] = std::as_bytes(std::span(address));
    launch.block = block;
    launch.grid = grid;
    launch.shared_bytes = 256;
    launch.local_bytes = 64;
    launch.global = {&range, 1};
    launch.step_limit = step_limit;
    if (auto result = run(launch); !result)
        return tl::unexpected(result.error());
    return words;
}

// R10:R11 = address of word R0.
const std::string address_of_r0 = "    ISCADD R10, R0, c[0x0][0x0], 0x2\n"
                                  "    MOV R11, RZ\n";

TEST(Machine, LanesOfALoopLeaveOneByOneAndMeetAgain) {
    // Lane n adds 1 + 2 + ... + n; then all lanes add 100 together.
    const auto words = run_over_words("    S2R R0, SR_TID.X\n" + address_of_r0 +
                                          "    MOV R1, RZ\n"
                                          "    MOV R2, RZ\n"
                                          "    PBK done\n"
                                          "again:\n"
                                          "    ISETP.GE.U32.AND P0, PT, R2, R0, PT\n"
                                          "    @P0 BRK\n"
                                          "    IADD R2, R2, 0x1\n"
                                          "    IADD R1, R1, R2\n"
                                          "    BRA again\n"
                                          "done:\n"
                                          "    IADD R1, R1, 0x64\n"
                                          "    STG.E [R10], R1\n"
                                          "    EXIT\n",
                                      {32, 1, 1});
    ASSERT_TRUE(words) << words.error().message;
    for (u32 n = 0; n < 32; ++n)
        EXPECT_EQ((*words)[n], n * (n + 1) / 2 + 100) << n;
}

TEST(Machine, BothSidesOfABranchRunAndSyncJoinsThem) {
    const auto words = run_over_words("    S2R R0, SR_TID.X\n" + address_of_r0 +
                                          "    LOP.AND R1, R0, 0x1\n"
                                          "    ISETP.NE.U32.AND P0, PT, R1, RZ, PT\n"
                                          "    SSY join\n"
                                          "    @P0 BRA odd\n"
                                          "    MOV32I R3, 0xa\n"
                                          "    SYNC\n"
                                          "odd:\n"
                                          "    MOV32I R3, 0xb\n"
                                          "    SYNC\n"
                                          "join:\n"
                                          "    SHL R3, R3, 0x4\n"
                                          "    STG.E [R10], R3\n"
                                          "    EXIT\n",
                                      {32, 1, 1});
    ASSERT_TRUE(words) << words.error().message;
    for (u32 n = 0; n < 32; ++n)
        EXPECT_EQ((*words)[n], n % 2 ? 0xb0u : 0xa0u) << n;
}

TEST(Machine, BarriersOrderSharedMemoryAcrossWarps) {
    // 64 threads, two warps: thread n reads what thread 63 - n wrote.
    const auto words = run_over_words("    S2R R0, SR_TID.X\n" + address_of_r0 +
                                          "    SHL R1, R0, 0x2\n"
                                          "    IADD R2, R0, 0x3e8\n"
                                          "    STS [R1], R2\n"
                                          "    BAR.SYNC 0x0\n"
                                          "    IADD R3, -R1, 0xfc\n"
                                          "    LDS R4, [R3]\n"
                                          "    STG.E [R10], R4\n"
                                          "    EXIT\n",
                                      {64, 1, 1});
    ASSERT_TRUE(words) << words.error().message;
    for (u32 n = 0; n < 64; ++n)
        EXPECT_EQ((*words)[n], 1000 + 63 - n) << n;
}

TEST(Machine, GridsAndBlocksNumberTheirThreads) {
    const auto words = run_over_words("    S2R R1, SR_CTAID.X\n"
                                      "    S2R R2, SR_TID.X\n"
                                      "    S2R R3, SR_TID.Y\n"
                                      "    ISCADD R0, R3, R2, 0x2\n"   // 4 threads wide
                                      "    ISCADD R0, R1, R0, 0x3\n" + // 8 threads a group
                                          address_of_r0 +
                                          "    IADD32I R4, R0, 0x7\n"
                                          "    STG.E [R10], R4\n"
                                          "    EXIT\n",
                                      {4, 2, 1}, {8, 1, 1});
    ASSERT_TRUE(words) << words.error().message;
    for (u32 n = 0; n < 64; ++n)
        EXPECT_EQ((*words)[n], n + 7) << n;
}

TEST(Machine, LocalMemoryBelongsToItsThread) {
    const auto words = run_over_words("    S2R R0, SR_TID.X\n" + address_of_r0 +
                                          "    STL [0x10], R0\n"
                                          "    MOV R5, RZ\n"
                                          "    LDL R6, [0x10]\n"
                                          "    IADD R6, R6, R6\n"
                                          "    STG.E [R10], R6\n"
                                          "    EXIT\n",
                                      {64, 1, 1});
    ASSERT_TRUE(words) << words.error().message;
    for (u32 n = 0; n < 64; ++n)
        EXPECT_EQ((*words)[n], 2 * n) << n;
}

TEST(Machine, FlagsOfAWideSumAreThoseOfTheWholeNumber) {
    // (high, low) + (high, low) in two words; the flags after the high word as P2R CC reads them: zero 1, sign 2,
    // carry 4, overflow 8. Worked out on 64-bit numbers.
    struct Case {
        u64 a, b;
        u32 flags;
    };
    const Case cases[] = {
        {1, 0, 0},                                      // the high word alone would be zero
        {u64{1} << 32, 0, 0},                           // the low word alone would be zero
        {0, 0, 1},                                      //
        {~u64{0}, 1, 1 | 4},                            // wraps to zero with a carry out
        {0xffffffff, 1, 0},                             // the carry between the words
        {u64{0x7fffffff} << 32 | 0xffffffff, 1, 2 | 8}, // the largest number plus one
        {u64{1} << 63, u64{1} << 63, 1 | 4 | 8},        // twice the smallest number
    };
    for (const Case& c : cases) {
        const auto words = run_over_words(
            fmt::format("    MOV R0, RZ\n{}"
                        "    MOV32I R2, {:#x}\n    MOV32I R3, {:#x}\n    MOV32I R4, {:#x}\n    MOV32I R5, {:#x}\n"
                        "    IADD R6.CC, R2, R4\n"
                        "    IADD.X R7.CC, R3, R5\n"
                        "    P2R R8, CC, RZ, 0xf\n"
                        "    STG.E [R10], R8\n    STG.E [R10+0x4], R6\n    STG.E [R10+0x8], R7\n    EXIT\n",
                        address_of_r0, static_cast<u32>(c.a), static_cast<u32>(c.a >> 32), static_cast<u32>(c.b),
                        static_cast<u32>(c.b >> 32)),
            {1, 1, 1});
        ASSERT_TRUE(words) << words.error().message;
        EXPECT_EQ((*words)[0], c.flags) << std::hex << c.a << " + " << c.b;
        EXPECT_EQ(u64{(*words)[2]} << 32 | (*words)[1], c.a + c.b);
    }
}

void expect_error(const std::string& source, const std::string& part) {
    const auto words = run_over_words(source, {1, 1, 1}, {1, 1, 1}, 10000);
    ASSERT_FALSE(words) << source;
    EXPECT_NE(words.error().message.find(part), std::string::npos) << words.error().message;
    EXPECT_NE(words.error().message.find("address 0x"), std::string::npos) << words.error().message;
}

TEST(Machine, FaultsAreErrorsThatNameTheirPlace) {
    expect_error("    MOV32I R0, 0x1234\n    MOV R1, RZ\n    STG.E [R0], R1\n    EXIT\n", "global memory at 0x1234");
    expect_error("    MOV32I R0, 0x100\n    LDS R1, [R0]\n    EXIT\n", "shared memory at 0x100");
    expect_error("    LDL R1, [0x40]\n    EXIT\n", "local memory at 0x40");
    expect_error("    LDS.64 R2, [0x4]\n    EXIT\n", "8 bytes must be aligned");
    expect_error("    MOV R1, RZ\n    LDG.E.128 R4, [R0+0x8]\n    EXIT\n", "16 bytes must be aligned");
    expect_error("    MOV32I R2, 0x6\n    LDC R4, c[0x0][R2+0x0]\n    EXIT\n", "4 bytes must be aligned");
    expect_error("    SYNC\n    EXIT\n", "the branch stack has no entry");
    expect_error("    BRK\n    EXIT\n", "the branch stack has no entry");
    expect_error("    CONT\n    EXIT\n", "the branch stack has no entry");
    expect_error("    RET\n    EXIT\n", "the branch stack has no entry");
    expect_error("    LONGJMP\n    EXIT\n", "the branch stack has no entry");
    expect_error("again:\n    BRA again\n", "does not end");
    expect_error("again:\n    SSY again\n    BRA again\n", "overflows");
    expect_error("again:\n    CAL again\n", "overflows");
    expect_error("    MOV32I R0, 0x100000\n    BRX R0 0x0\n    EXIT\n", "leaves the code");
    expect_error("    BPT.TRAP 0x0\n    EXIT\n", "traps");
    expect_error("    BAR.SYNC 0x10\n    EXIT\n", "barrier 16");
    expect_error("    BAR.SYNC 0x0, 0x21\n    EXIT\n", "33 threads");
    expect_error("    BAR.SYNC 0x3, 0x40\n    EXIT\n", "waits at barrier 3 for ever");
    expect_error("    BAR.SCAN 0x0, PT\n    EXIT\n", "scanning");
    expect_error("    MOV R1, RZ\n    MOV R0, RZ\n    ATOM.E.MIN.F32.FTZ.RN R2, [R0], R1\n    EXIT\n",
                 "nothing is there");
}

TEST(Machine, FaultsNameWorkgroupWarpLaneAddressAndInstruction) {
    // Lane 5 of the second warp of workgroup (1, 0, 0) reads past the end; the load is the fifth instruction.
    const auto words = run_over_words("    S2R R0, SR_TID.X\n"
                                      "    S2R R1, SR_CTAID.X\n"
                                      "    ISCADD R2, R1, R0, 0x6\n"
                                      "    ISETP.EQ.U32.AND P0, PT, R2, 0x65, PT\n"
                                      "    @P0 LDS R3, [R0+0x1000]\n"
                                      "    EXIT\n",
                                      {64, 1, 1}, {2, 1, 1});
    ASSERT_FALSE(words);
    EXPECT_EQ(words.error().message,
              "workgroup 1 0 0, warp 1, lane 5, address 0x30: shared memory at 0x1025: 4 bytes must be aligned: "
              "@P0 LDS R3, [R0+0x1000] ;");
}

TEST(Machine, WordsThatAreNoInstructionAndTornCodeAreErrors) {
    std::vector<u64> words{0, 0x000daf9416888427, 0, 0};
    Launch launch;
    launch.code = std::as_bytes(std::span(words));
    EXPECT_NE(run(launch).error().message.find("no instruction"), std::string::npos);
    launch.code = {};
    EXPECT_NE(run(launch).error().message.find("leaves the code"), std::string::npos);
    launch.block = {1025, 1, 1};
    EXPECT_FALSE(run(launch));
}

} // namespace
