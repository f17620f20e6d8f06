// The branch stack: every instruction that pushes a token, and every one that goes back to one.
#include "program.h"

namespace heaviside::interpreter::test {
namespace {

// P0 of the odd threads.
const std::string odd = "    LOP.AND R1, R0, 0x1\n"
                        "    ISETP.NE.U32.AND P0, PT, R1, RZ, PT\n";

TEST(Flow, SyncJoinsBothSidesOfABranch) {
    // A vote behind the join sees all 32 threads only if they are together again.
    const auto words = each_thread(odd + "    SSY join\n"
                                         "    @P0 BRA other\n"
                                         "    VOTE.ANY R2, PT, PT\n"
                                         "    SYNC\n"
                                         "other:\n"
                                         "    VOTE.ANY R2, PT, PT\n"
                                         "    SYNC\n"
                                         "join:\n"
                                         "    VOTE.ANY R3, PT, PT\n"
                                         "    ISETP.EQ.U32.AND P1, PT, R3, -0x1, PT\n"
                                         "    @!P1 MOV R2, RZ\n",
                                   32, "R2");
    for (u32 n = 0; n < 32; ++n)
        EXPECT_EQ(words[n], n % 2 == 0 ? 0x55555555u : 0xaaaaaaaau) << n;
}

TEST(Flow, SyncUnderAGuardLetsTheOthersGoOn) {
    const auto words = each_thread(odd + "    SSY join\n"
                                         "    MOV32I R2, 0x7\n"
                                         "    @P0 SYNC\n"
                                         "    IADD R2, R2, 0x1\n"
                                         "    SYNC\n"
                                         "join:\n"
                                         "    IADD R2, R2, 0x10\n",
                                   4, "R2");
    EXPECT_EQ(words, (std::vector<u32>{0x18, 0x17, 0x18, 0x17}));
}

TEST(Flow, BreakLeavesALoopThroughTheBranchesInside) {
    // Thread n leaves in round n, out of an if inside the loop; the pending SSY entries must not bring it back.
    const auto words = each_thread("    MOV R2, RZ\n"
                                   "    PBK out\n"
                                   "again:\n"
                                   "    SSY joined\n"
                                   "    ISETP.EQ.U32.AND P0, PT, R2, R0, PT\n"
                                   "    @P0 BRA leave\n"
                                   "    SYNC\n"
                                   "leave:\n"
                                   "    BRK\n"
                                   "joined:\n"
                                   "    IADD R2, R2, 0x1\n"
                                   "    BRA again\n"
                                   "out:\n"
                                   "    VOTE.ANY R3, PT, PT\n"
                                   "    IADD R2, R2, R3\n", // + 0xff: all eight are together
                                   8, "R2");
    for (u32 n = 0; n < 8; ++n)
        EXPECT_EQ(words[n], n + 0xff) << n;
}

TEST(Flow, ContinueEndsOneRoundOfALoop) {
    // Sums 0 ... 9 without the multiples of 3 (odd threads) or with them (even threads).
    const auto words = each_thread(odd + "    MOV R2, RZ\n"
                                         "    MOV32I R3, 0xffffffff\n"
                                         "    PBK out\n"
                                         "head:\n"
                                         "    PCNT head\n"
                                         "    IADD R3, R3, 0x1\n"
                                         "    ISETP.GE.U32.AND P1, PT, R3, 0xa, PT\n"
                                         "    @P1 BRK\n"
                                         "    MOV32I R4, 0x3\n"
                                         "    MOV R5, R3\n"
                                         "mod:\n"
                                         "    ISETP.GE.U32.AND P2, PT, R5, R4, PT\n"
                                         "    @P2 IADD R5, R5, -0x3\n"
                                         "    @P2 BRA mod\n"
                                         "    ISETP.EQ.U32.AND P2, PT, R5, RZ, P0\n"
                                         "    @P2 CONT\n"
                                         "    IADD R2, R2, R3\n"
                                         "    CONT\n"
                                         "out:\n",
                                   4, "R2");
    EXPECT_EQ(words, (std::vector<u32>{45, 27, 45, 27}));
}

TEST(Flow, CallsReturnToTheirCallers) {
    const auto words = each_thread(odd + "    MOV32I R2, 0x1\n"
                                         "    CAL twice\n"
                                         "    CAL twice\n"
                                         "    BRA done\n"
                                         "twice:\n"
                                         "    CAL once\n"
                                         "    @P0 RET\n" // odd threads are back early and wait
                                         "    CAL once\n"
                                         "    RET\n"
                                         "once:\n"
                                         "    IADD R2, R2, R2\n"
                                         "    RET\n"
                                         "done:\n",
                                   4, "R2");
    EXPECT_EQ(words, (std::vector<u32>{16, 4, 16, 4}));
}

TEST(Flow, JcalTakesAnAbsoluteAddressAndPretAReturnAddress) {
    const auto words = each_thread("    MOV32I R2, 0x1\n"
                                   "    JCAL add\n"
                                   "    PRET behind\n"
                                   "    BRA add\n"
                                   "    MOV R2, RZ\n" // never
                                   "behind:\n"
                                   "    BRA done\n"
                                   "add:\n"
                                   "    IADD R2, R2, 0x5\n"
                                   "    RET\n"
                                   "done:\n",
                                   2, "R2");
    EXPECT_EQ(words, (std::vector<u32>{11, 11}));
}

// own_word takes the addresses 0x08, 0x10 and 0x18; `first` is the next free one, 0x28.
TEST(Flow, JumpsGoToAbsoluteAddresses) {
    const auto words = each_thread("    MOV32I R2, 0x1\n"    // 0x28
                                   "    JMP 0x48\n"          // 0x30
                                   "    MOV R2, RZ\n"        // 0x38
                                   "    IADD R2, R2, 0x2\n"  // 0x48
                                   "    MOV32I R3, 0x68\n"   // 0x50
                                   "    JMX R3 0x8\n"        // 0x58
                                   "    MOV R2, RZ\n"        // 0x68
                                   "    IADD R2, R2, 0x9\n", // 0x70
                                   1, "R2");
    EXPECT_EQ(words[0], 12u);
}

TEST(Flow, BrxSendsEveryThreadToItsOwnTarget) {
    // The register counts from the next instruction: 0x58 + R3 - 0x58. Blocks of a bundle each from 0x60 on.
    const auto words = each_thread("    LOP.AND R3, R0, 0x3\n"                // 0x28
                                   "    SHL R3, R3, 0x5\n"                    // 0x30
                                   "    IADD R3, R3, 0x60\n"                  // 0x38
                                   "    SSY join\n"                           // 0x48
                                   "    BRX R3 -0x58\n"                       // 0x50; next 0x58
                                   "    NOP\n"                                // 0x58
                                   "    MOV32I R2, 0x10\n    SYNC\n    NOP\n" // 0x60
                                   "    MOV32I R2, 0x20\n    SYNC\n    NOP\n" // 0x80
                                   "    MOV32I R2, 0x30\n    SYNC\n    NOP\n" // 0xa0
                                   "    MOV32I R2, 0x40\n    SYNC\n    NOP\n" // 0xc0
                                   "join:\n"
                                   "    VOTE.ANY R3, PT, PT\n"
                                   "    IADD R2, R2, R3\n",
                                   8, "R2");
    EXPECT_EQ(words, (std::vector<u32>{0x10f, 0x11f, 0x12f, 0x13f, 0x10f, 0x11f, 0x12f, 0x13f}));
}

TEST(Flow, TargetsMayComeFromConstantBanks) {
    Program program;
    program.bank2 = {0x48, 0x8};                           // absolute for JMP; for BRA relative to the next instruction
    const auto words = each_thread("    MOV32I R2, 0x1\n"  // 0x28
                                   "    JMP c[0x2][0x0]\n" // 0x30
                                   "    MOV R2, RZ\n"      // 0x38
                                   "    IADD R2, R2, 0x2\n"  // 0x48
                                   "    BRA c[0x2][0x4]\n"   // 0x50: next 0x58
                                   "    MOV R2, RZ\n"        // 0x58
                                   "    IADD R2, R2, 0x4\n", // 0x68 by way of 0x60
                                   1, "R2", program);
    EXPECT_EQ(words[0], 7u);
}

TEST(Flow, LongjmpLeavesEverythingAboveItsToken) {
    const auto words = each_thread("    MOV32I R2, 0x1\n"
                                   "    PLONGJMP landed\n"
                                   "    CAL deep\n"
                                   "    MOV R2, RZ\n" // never
                                   "deep:\n"
                                   "    PBK nowhere\n"
                                   "    SSY nowhere\n"
                                   "    LONGJMP\n"
                                   "nowhere:\n"
                                   "    MOV R2, RZ\n"
                                   "landed:\n"
                                   "    IADD R2, R2, 0x1\n",
                                   2, "R2");
    EXPECT_EQ(words, (std::vector<u32>{2, 2}));
}

TEST(Flow, PexitMakesExitAJump) {
    const auto words = each_thread("    MOV32I R2, 0x5\n"
                                   "    PEXIT handler\n"
                                   "    EXIT\n"
                                   "    MOV R2, RZ\n"
                                   "handler:\n"
                                   "    IADD R2, R2, 0x1\n",
                                   1, "R2");
    EXPECT_EQ(words[0], 6u);
}

TEST(Flow, ThreadsThatExitInsideABranchAreNotWaitedFor) {
    Program program;
    program.source = own_word + odd +
                     "    MOV32I R2, 0x3\n"
                     "    SSY join\n"
                     "    @P0 EXIT\n"
                     "    SYNC\n"
                     "join:\n"
                     "    STG.E [R10], R2\n"
                     "    EXIT\n";
    program.block = {4, 1, 1};
    const auto words = run_words(program);
    ASSERT_TRUE(words) << words.error().message;
    EXPECT_EQ(std::vector<u32>(words->begin(), words->begin() + 4), (std::vector<u32>{3, 0, 3, 0}));
}

TEST(Flow, RttEndsTheThread) {
    Program program;
    program.source = own_word + "    RTT\n    STG.E [R10], R10\n    EXIT\n";
    const auto words = run_words(program);
    ASSERT_TRUE(words) << words.error().message;
    EXPECT_EQ((*words)[0], 0u);
}

// The condition code is set through R2P: zero 1, sign 2, carry 4, overflow 8. An unordered comparison sets zero and
// sign. What holds follows from the meaning of the tests: a < b is sign != overflow, and so on.
TEST(Flow, BranchesTestTheConditionCode) {
    enum : u32 { z = 1, s = 2, c = 4, o = 8 };
    struct Case {
        const char* test;
        std::vector<u32> hold, fail;
    };
    const Case cases[] = {
        {"F", {}, {0, z, s, c, o}},
        {"LT", {s, o}, {0, z, s | o, z | s}},
        {"EQ", {z, z | c}, {0, s, z | s}},
        {"LE", {z, s, o, z | o}, {0, s | o, z | s}},
        {"GT", {0, s | o, c}, {z, s, o, z | s}},
        {"NE", {0, s, c}, {z, z | s}},
        {"GE", {0, z, s | o}, {s, o, z | s}},
        {"NUM", {0, z, s}, {z | s}},
        {"NAN", {z | s}, {0, z, s}},
        {"LTU", {s, z | s}, {0, z}},
        {"EQU", {z, z | s}, {0, s}},
        {"LEU", {s, z, z | s}, {0}},
        {"GTU", {0, z | s}, {s, z}},
        {"NEU", {0, s, z | s}, {z}},
        {"GEU", {0, z, z | s}, {s}},
        {"OFF", {0, z, s, c}, {o}},
        {"LO", {0, z}, {c}},
        {"SFF", {0, z}, {s}},
        {"LS", {0, z, z | c}, {c}},
        {"HI", {c}, {0, z, z | c}},
        {"SFT", {s}, {0, z, c}},
        {"HS", {c, z | c}, {0}},
        {"OFT", {o}, {0, z}},
        {"RLE", {s, z}, {0, c}},
        {"RGT", {0, o}, {s, z}},
    };
    for (const Case& each : cases) {
        const auto taken = [&](u32 flags) {
            const auto words = each_thread(fmt::format("    MOV32I R3, {:#x}\n"
                                                       "    R2P CC, R3, 0xf\n"
                                                       "    MOV32I R2, 0x1\n"
                                                       "    BRA CC.{}, taken\n"
                                                       "    MOV R2, RZ\n"
                                                       "taken:\n",
                                                       flags, each.test),
                                           1, "R2");
            return words[0] == 1;
        };
        for (const u32 flags : each.hold)
            EXPECT_TRUE(taken(flags)) << each.test << " of " << flags;
        for (const u32 flags : each.fail)
            EXPECT_FALSE(taken(flags)) << each.test << " of " << flags;
    }
}

} // namespace
} // namespace heaviside::interpreter::test
