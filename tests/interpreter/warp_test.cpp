// What lanes and warps tell each other: votes, shuffles, barriers; what they know about themselves.
#include "program.h"

#include <bit>

namespace heaviside::interpreter::test {
namespace {

TEST(Vote, AllAnyAndEqualOverTheThreadsThatVote) {
    // P0: thread number below c[2][0]. Bits of the result: all, any, eq.
    const std::string body = "    ISETP.LT.U32.AND P0, PT, R0, c[0x2][0x0], PT\n"
                             "    VOTE.ALL P1, P0\n"
                             "    VOTE.ANY P2, P0\n"
                             "    VOTE.EQ P3, P0\n"
                             "    P2R R2, PR, RZ, 0xe\n";
    for (const auto& [below, expected] : std::vector<std::pair<u32, u32>>{{0, 8}, {1, 4}, {31, 4}, {32, 2 | 4 | 8}}) {
        Program program;
        program.bank2 = {below};
        EXPECT_EQ(each_thread(body, 32, "R2", program), std::vector<u32>(32, expected)) << below;
    }
}

TEST(Vote, BallotsLeaveOutThreadsThatDoNotVote) {
    // Of 20 threads those divisible by 4 are asked, and those above 10 say yes.
    const auto words = each_thread("    LOP.AND R1, R0, 0x3\n"
                                   "    ISETP.EQ.U32.AND P0, PT, R1, RZ, PT\n"
                                   "    ISETP.GT.U32.AND P1, PT, R0, 0xa, PT\n"
                                   "    MOV R2, RZ\n"
                                   "    PSETP.AND.AND P2, PT, PT, PT, PT\n"
                                   "    @P0 VOTE.ALL R2, P2, P1\n"
                                   "    @P2 LOP32I.OR R2, R2, 0x80000000\n",
                                   20, "R2");
    for (u32 n = 0; n < 20; ++n)
        EXPECT_EQ(words[n], n % 4 == 0 ? 1u << 12 | 1u << 16 : 0x80000000u) << n;
}

TEST(Vote, VtgTellsTheProgramNothing) {
    EXPECT_EQ(each_thread("    MOV32I R2, 0x5\n    VOTE.VTG.R 0x1\n", 1, "R2")[0], 5u);
}

// Worked out from the PTX manual's pseudo code for shfl, one row a mode. Values are 100 + lane; 0x1000 says valid.
std::vector<u32> shuffled(const std::string& instruction) {
    return each_thread("    IADD R2, R0, 0x64\n" + instruction + "    @P0 LOP32I.OR R3, R3, 0x1000\n", 32, "R3");
}

TEST(Shuffle, IndexReadsAnyLaneOfTheSegment) {
    const auto words = shuffled("    SHFL.IDX P0, R3, R2, 0x5, 0x1f\n");
    EXPECT_EQ(words, std::vector<u32>(32, 0x1000 | 105));
    // Segments of eight: mask 0x18, clamp 7.
    const auto parts = shuffled("    SHFL.IDX P0, R3, R2, 0x5, 0x181f\n");
    for (u32 n = 0; n < 32; ++n)
        EXPECT_EQ(parts[n], 0x1000 | (100 + n / 8 * 8 + 5)) << n;
    // Clamp 3: index 5 is out of bounds, lanes keep their own.
    const auto clamped = shuffled("    SHFL.IDX P0, R3, R2, 0x5, 0x3\n");
    for (u32 n = 0; n < 32; ++n)
        EXPECT_EQ(clamped[n], 100 + n) << n;
}

TEST(Shuffle, UpDownAndButterflyStopAtTheSegment) {
    const auto up = shuffled("    SHFL.UP P0, R3, R2, 0x2, 0x0\n");
    const auto down = shuffled("    SHFL.DOWN P0, R3, R2, 0x3, 0x1f\n");
    const auto butterfly = shuffled("    SHFL.BFLY P0, R3, R2, 0x11, 0x1f\n");
    const auto up_by_four = shuffled("    SHFL.UP P0, R3, R2, 0x1, 0x1c00\n");     // segments of four
    const auto down_by_four = shuffled("    SHFL.DOWN P0, R3, R2, 0x1, 0x1c1f\n"); //
    for (u32 n = 0; n < 32; ++n) {
        EXPECT_EQ(up[n], n >= 2 ? 0x1000 | (98 + n) : 100 + n) << n;
        EXPECT_EQ(down[n], n < 29 ? 0x1000 | (103 + n) : 100 + n) << n;
        EXPECT_EQ(butterfly[n], 0x1000 | (100 + (n ^ 0x11))) << n;
        EXPECT_EQ(up_by_four[n], n % 4 != 0 ? 0x1000 | (99 + n) : 100 + n) << n;
        EXPECT_EQ(down_by_four[n], n % 4 != 3 ? 0x1000 | (101 + n) : 100 + n) << n;
    }
}

TEST(Shuffle, DistanceAndLimitsMayDifferByLane) {
    // Lane n reads lane 31 - n; the destination may be the source.
    const auto words = each_thread("    IADD R2, -R0, 0x1f\n"
                                   "    MOV32I R4, 0x1f\n"
                                   "    SHFL.IDX PT, R0, R0, R2, R4\n",
                                   32, "R0");
    for (u32 n = 0; n < 32; ++n)
        EXPECT_EQ(words[n], 31 - n) << n;
}

TEST(Barrier, EveryWarpWaitsForTheOthers) {
    // Thread n writes n + 1 to shared word n; behind the barrier it reads the one of the thread 100 further on.
    const auto words = each_thread("    SHL R2, R0, 0x2\n"
                                   "    IADD R3, R0, 0x1\n"
                                   "    STS [R2], R3\n"
                                   "    BAR.SYNC 0x0\n"
                                   "    IADD R2, R0, 0x64\n"
                                   "    ISETP.GE.U32.AND P0, PT, R2, 0x80, PT\n"
                                   "    @P0 IADD R2, R2, -0x80\n"
                                   "    SHL R2, R2, 0x2\n"
                                   "    LDS R3, [R2]\n",
                                   128, "R3");
    for (u32 n = 0; n < 128; ++n)
        EXPECT_EQ(words[n], (n + 100) % 128 + 1) << n;
}

TEST(Barrier, WarpsThatLeftAreNotWaitedFor) {
    const auto words = each_thread("    ISETP.GE.U32.AND P0, PT, R0, 0x20, PT\n"
                                   "    @P0 EXIT\n"
                                   "    BAR.SYNC 0x0\n"
                                   "    MOV32I R2, 0x7\n",
                                   64, "R2");
    EXPECT_EQ(words[0], 7u);
    EXPECT_EQ(words[32], 0u);
}

TEST(Barrier, ArriveDoesNotWait) {
    // Warps 1 and 2 produce and go on; warp 0 waits for their 64 threads and its own 32.
    const auto words = each_thread("    ISETP.LT.U32.AND P0, PT, R0, 0x20, PT\n"
                                   "    SSY join\n"
                                   "    @P0 BRA consume\n"
                                   "    SHL R2, R0, 0x2\n"
                                   "    STS [R2], R0\n"
                                   "    MOV32I R4, 0x60\n"
                                   "    BAR.ARV 0x5, R4\n"
                                   "    MOV R3, R0\n"
                                   "    SYNC\n"
                                   "consume:\n"
                                   "    MOV32I R5, 0x5\n"
                                   "    BAR.SYNC R5, 0x60\n"
                                   "    SHL R2, R0, 0x2\n"
                                   "    LDS R3, [R2+0x80]\n"
                                   "    LDS R4, [R2+0x100]\n"
                                   "    IADD R3, R3, R4\n"
                                   "    SYNC\n"
                                   "join:\n",
                                   96, "R3");
    for (u32 n = 0; n < 32; ++n)
        EXPECT_EQ(words[n], n + 32 + n + 64) << n;
    EXPECT_EQ(words[95], 95u);
}

TEST(Barrier, ReductionsCountThreadsOfAllWarps) {
    // Of 96 threads 10 are below 10. Popcount; and, or of that and of their complements.
    const auto words = each_thread("    ISETP.LT.U32.AND P0, PT, R0, 0xa, PT\n"
                                   "    BAR.RED.POPC 0x0, P0\n"
                                   "    B2R.RESULT R2\n"
                                   "    BAR.RED.AND 0x1, P0\n"
                                   "    B2R.RESULT RZ, P1\n"
                                   "    BAR.RED.OR 0x1, P0\n"
                                   "    B2R.RESULT RZ, P2\n"
                                   "    BAR.RED.AND 0x1, !PT\n"
                                   "    B2R.RESULT RZ, P3\n"
                                   "    BAR.RED.AND 0x1, PT\n"
                                   "    B2R.RESULT RZ, P4\n"
                                   "    P2R R3, PR, RZ, 0x1e\n"
                                   "    SHL R3, R3, 0x8\n"
                                   "    LOP.OR R2, R2, R3\n",
                                   96, "R2");
    EXPECT_EQ(words, std::vector<u32>(96, (4 | 16) << 8 | 10));
}

TEST(Barrier, ADivergedWarpCountsAsAWhole) {
    // Half of each warp meets the barrier, then the other half: two rounds for everybody.
    const auto words = each_thread("    LOP.AND R1, R0, 0x1\n"
                                   "    ISETP.NE.U32.AND P0, PT, R1, RZ, PT\n"
                                   "    SSY join\n"
                                   "    @P0 BRA other\n"
                                   "    BAR.RED.POPC 0x0, PT\n"
                                   "    B2R.RESULT R2\n"
                                   "    SYNC\n"
                                   "other:\n"
                                   "    BAR.RED.POPC 0x0, PT\n"
                                   "    B2R.RESULT R2\n"
                                   "    SYNC\n"
                                   "join:\n",
                                   64, "R2");
    EXPECT_EQ(words, std::vector<u32>(64, 32));
}

TEST(Barrier, StateAndRestoringAreTheSchedulersBusiness) {
    const auto words = each_thread("    MOV32I R2, 0x9\n"
                                   "    R2B.RESULT 0x0, R2\n"
                                   "    B2R R2, 0x1\n",
                                   1, "R2");
    EXPECT_EQ(words[0], 0u);
}

TEST(Scheduling, WarpsThatSpinSeeWhatOthersWrite) {
    // Warp 0 spins until warp 1, which has its turn later, has written; within one workgroup and across two.
    for (const bool two_groups : {false, true}) {
        Program program;
        program.source = "    S2R R0, " + std::string(two_groups ? "SR_CTAID.X" : "SR_TID.X") +
                         "\n"
                         "    MOV R10, c[0x0][0x0]\n    MOV R11, RZ\n"
                         "    ISETP.EQ.U32.AND P0, PT, R0, RZ, PT\n"
                         "    @!P0 BRA write\n"
                         "again:\n"
                         "    LDG.E R1, [R10]\n"
                         "    ISETP.EQ.U32.AND P1, PT, R1, RZ, PT\n"
                         "    @P1 BRA again\n"
                         "    STG.E [R10+0x4], R1\n"
                         "    EXIT\n"
                         "write:\n"
                         "    MOV32I R1, 0x2a\n"
                         "    STG.E [R10], R1\n"
                         "    EXIT\n";
        program.block = {two_groups ? 1u : 33u, 1, 1};
        program.grid = {two_groups ? 2u : 1u, 1, 1};
        if (!two_groups)
            program.source.replace(program.source.find("ISETP.EQ.U32.AND P0, PT, R0, RZ"), 31,
                                   "ISETP.LT.U32.AND P0, PT, R0, 0x20");
        const auto words = run_words(program);
        ASSERT_TRUE(words) << words.error().message;
        EXPECT_EQ((*words)[1], 42u);
    }
}

TEST(SystemRegisters, ThreadsKnowTheirPlace) {
    // Thread (1, 2, 0) of workgroup (1, 0, 1) of a 2 x 1 x 2 grid of 3 x 4 x 1 threads.
    const std::vector<std::pair<std::string, u32>> expected{
        {"SR_TID.X", 1},
        {"SR_TID.Y", 2},
        {"SR_TID.Z", 0},
        {"SR_TID", 2u << 16 | 1},
        {"SR_CTAID.X", 1},
        {"SR_CTAID.Y", 0},
        {"SR_CTAID.Z", 1},
        {"SR_NTID", 1u << 26 | 4u << 16 | 3},
        {"SR_LANEID", 7},
        {"SR_EQMASK", 1u << 7},
        {"SR_LTMASK", 0x7f},
        {"SR_LEMASK", 0xff},
        {"SR_GTMASK", ~0xffu},
        {"SR_GEMASK", ~0x7fu},
        {"SR_VIRTID", 0},
        {"SR_ORDERING_TICKET", 3},
        {"SR_SMEMSZ", 1024},
        {"SR_LMEMHIOFF", 0},
        {"SR_SWINLO", shared_window},
        {"SR_LWINLO", local_window},
    };
    std::string source = "    S2R R0, SR_LANEID\n    S2R R1, SR_CTAID.X\n    S2R R2, SR_CTAID.Z\n"
                         "    ISETP.EQ.U32.AND P0, PT, R0, 0x7, PT\n"
                         "    ISETP.EQ.U32.AND P0, PT, R1, 0x1, P0\n"
                         "    ISETP.EQ.U32.AND P0, PT, R2, 0x1, P0\n"
                         "    @!P0 EXIT\n"
                         "    MOV R10, c[0x0][0x0]\n    MOV R11, RZ\n";
    for (std::size_t i = 0; i < expected.size(); ++i)
        source += fmt::format("    S2R R3, {}\n    STG.E [R10+{:#x}], R3\n", expected[i].first, 4 * i);
    Program program;
    program.source = source + "    EXIT\n";
    program.block = {3, 4, 1};
    program.grid = {2, 1, 2};
    const auto words = run_words(program);
    ASSERT_TRUE(words) << words.error().message;
    for (std::size_t i = 0; i < expected.size(); ++i)
        EXPECT_EQ((*words)[i], expected[i].second) << expected[i].first;
}

TEST(SystemRegisters, ClocksGrow) {
    const auto words = each_thread("    CS2R R2, SR_CLOCKLO\n"
                                   "    CS2R R3, SR_CLOCKHI\n"
                                   "    CS2R R4, SR_CLOCKLO\n"
                                   "    IADD R4, R4, -R2\n",
                                   1, "R4");
    EXPECT_GT(words[0], 0u);
    EXPECT_LT(words[0], 1000u);
}

TEST(System, StackPointerIsTheNumberOfCalls) {
    const auto words = each_thread("    MOV R2, RZ\n"
                                   "    CAL one\n"
                                   "    GETCRSPTR R4\n"
                                   "    ISCADD R2, R2, R4, 0x8\n"
                                   "    BRA done\n"
                                   "one:\n"
                                   "    CAL two\n"
                                   "    MOV R2, RZ\n" // never: two() drops this call
                                   "    RET\n"
                                   "two:\n"
                                   "    GETCRSPTR R2\n"
                                   "    MOV32I R3, 0x1\n"
                                   "    SETCRSPTR R3\n"
                                   "    RET\n"
                                   "done:\n",
                                   1, "R2");
    EXPECT_EQ(words[0], 2u << 8 | 0);
}

TEST(System, LocalMemoryBaseIsReadBack) {
    EXPECT_EQ(each_thread("    MOV32I R3, 0x1230\n    SETLMEMBASE R3\n    GETLMEMBASE R2\n", 1, "R2")[0], 0x1230u);
}

TEST(System, LepcGivesItsOwnAddress) {
    EXPECT_EQ(each_thread("    LEPC R2\n", 1, "R2")[0], 0x28u); // behind the three instructions of the first bundle
}

TEST(System, NothingComesOfSchedulingCachesAndBreakpoints) {
    const auto words = each_thread("    MOV32I R2, 0x5\n"
                                   "    NOP\n    NOP.TRIG\n    DEPBAR.LE SB0, 0x1\n    DEPBAR {3,1}\n"
                                   "    MEMBAR.CTA\n    MEMBAR.GL\n    MEMBAR.SYS\n"
                                   "    CCTL.IV [R2]\n    CCTL.E.PF1 [R10]\n    CCTLL.WB [R2]\n    CCTLT.IVTH R2\n"
                                   "    SAM\n    RAM\n    IDE 0x0\n    IDE.EN 0x0\n    STP 0x0\n"
                                   "    BPT.PAUSE 0x0\n    BPT.INT 0x0\n    BPT.DRAIN 0x0\n    BPT.CAL 0x0\n",
                                   1, "R2");
    EXPECT_EQ(words[0], 5u);
}

} // namespace
} // namespace heaviside::interpreter::test
