// Votes, shuffles and barriers in programs whose threads part: what lanes take part is what the branch stack of the
// machine says, whatever the device's subgroups are. Expected values are worked out by hand from the PTX manual's
// rules; the interpreter must agree.
#include "tests/kernels/assembled.h"

#include <bit>

namespace heaviside::test {
namespace {

// R0: thread, R1: lane, R2:R3: where the thread's word of the output is. Programs leave it in R4.
std::string kernel(const std::string& body) {
    return "S2R R0, SR_TID.X\nLOP.AND R1, R0, 0x1f\nMOV32I R4, 0x0\n" + body +
           "store:\nSHL R6, R0, 0x2\nIADD R2.CC, R6, c[0x0][0x140]\nIADD.X R3, RZ, c[0x0][0x144]\n"
           "STG.E [R2], R4\nEXIT\n";
}

std::vector<u32> run(const std::string& body, u32 block = 64) {
    return run_assembled({.source = kernel(body), .block = block, .words = block, .shared_bytes = 1024});
}

template <class F>
std::vector<u32> each(u32 threads, F&& f) {
    std::vector<u32> words;
    for (u32 i = 0; i < threads; ++i)
        words.push_back(f(i));
    return words;
}

class Warp : public testing::Test {
    void SetUp() override {
        if (!Bench::get().device)
            GTEST_SKIP() << Bench::get().error;
    }
};

constexpr u32 odd = 0xaaaaaaaa;

TEST_F(Warp, EachSideOfABranchVotesAlone) {
    const auto got = run(R"(
        LOP.AND R5, R1, 0x1
        ISETP.NE.AND P0, PT, R5, RZ, PT
        ISETP.LT.AND P1, PT, R1, 0x10, PT
        SSY meet
        @P0 BRA odd
        VOTE.ALL R4, P2, P1      // even lanes
        SYNC
    odd:
        VOTE.ANY R4, P2, PT      // all odd lanes
        IADD R4, R4, 0x1
        SYNC
    meet:
        VOTE.ANY R5, P2, PT      // together again
        IADD R4, R4, R5
    )");
    EXPECT_EQ(got, each(64, [](u32 t) { return t % 2 ? odd + 1 + ~0u : (~odd & 0xffffu) + ~0u; }));
}

TEST_F(Warp, LanesThatLeaveALoopNoLongerVoteInIt) {
    // Lane n takes (n & 3) + 1 turns; each adds the number of lanes that take it too.
    const auto got = run(R"(
        LOP.AND R5, R1, 0x3
        IADD R5, R5, 0x1
        PBK done
    turn:
        VOTE.ANY R7, P2, PT
        POPC R7, R7
        IADD R4, R4, R7
        IADD R5, R5, -0x1
        ISETP.EQ.AND P0, PT, R5, RZ, PT
        @P0 BRK
        BRA turn
    done:
        VOTE.ANY R7, P2, PT
        POPC R7, R7
        IMAD R4, R7, 0x100, R4
    )");
    EXPECT_EQ(got, each(64, [](u32 t) {
                  u32 sum = 32 * 0x100;
                  for (u32 turn = 0; turn <= (t & 3); ++turn)
                      sum += 8 * (4 - turn);
                  return sum;
              }));
}

TEST_F(Warp, TurnsOfALoopDoNotMix) {
    // Odd lanes skip the first vote of each turn; both kinds must meet before the next turn.
    const auto got = run(R"(
        MOV32I R5, 0x3
        LOP.AND R6, R1, 0x1
        ISETP.NE.AND P0, PT, R6, RZ, PT
        PBK done
    turn:
        SSY joined
        @P0 BRA skip
        VOTE.ANY R7, P2, PT
        IADD R4, R4, R7
        SYNC
    skip:
        SYNC
    joined:
        VOTE.ANY R7, P2, PT
        POPC R7, R7
        IADD R4, R4, R7
        IADD R5, R5, -0x1
        ISETP.EQ.AND P1, PT, R5, RZ, PT
        @P1 BRK
        BRA turn
    done:
    )");
    EXPECT_EQ(got, each(64, [](u32 t) { return t % 2 ? 3 * 32 : 3 * (~odd + 32); }));
}

TEST_F(Warp, LanesThatContinueWaitForTheRestOfTheTurn) {
    // Lanes below 8 continue before the second vote; turns: 2.
    const auto got = run(R"(
        MOV32I R5, 0x2
        ISETP.LT.AND P0, PT, R1, 0x8, PT
        PBK done
    turn:
        PCNT next
        VOTE.ANY R7, P2, PT
        POPC R7, R7
        IADD R4, R4, R7
        @P0 CONT
        VOTE.ANY R7, P2, PT
        POPC R7, R7
        SHL R7, R7, 0x8
        IADD R4, R4, R7
        CONT
    next:
        IADD R5, R5, -0x1
        ISETP.EQ.AND P1, PT, R5, RZ, PT
        @P1 BRK
        BRA turn
    done:
    )");
    EXPECT_EQ(got, each(64, [](u32 t) { return 2 * 32 + (t % 32 < 8 ? 0 : 2 * 24 * 0x100); }));
}

TEST_F(Warp, NestedLoopsCountLanesTurnByTurn) {
    // Outer turns: (lane & 1) + 1. Inner turns: (lane >> 1 & 1) + 1.
    const auto got = run(R"(
        LOP.AND R8, R1, 0x1
        IADD R8, R8, 0x1
        PBK out
    outer:
        BFE.U32 R9, R1, 0x101
        IADD R9, R9, 0x1
        PBK in
    inner:
        VOTE.ANY R7, P2, PT
        POPC R7, R7
        IADD R4, R4, R7
        IADD R9, R9, -0x1
        ISETP.EQ.AND P0, PT, R9, RZ, PT
        @P0 BRK
        BRA inner
    in:
        IADD R8, R8, -0x1
        ISETP.EQ.AND P0, PT, R8, RZ, PT
        @P0 BRK
        BRA outer
    out:
    )");
    EXPECT_EQ(got, each(64, [](u32 t) {
                  const u32 outer = t & 1, inner = t >> 1 & 1;
                  return 32 + (inner ? 16 : 0) + (outer ? 16 + (inner ? 8 : 0) : 0);
              }));
}

TEST_F(Warp, ThreadsThatLeaveTheProgramAreCountedNoMore) {
    const auto got = run(R"(
        ISETP.LT.AND P0, PT, R1, 0x5, PT
        @P0 EXIT
        VOTE.ALL R4, P2, PT
        BAR.SYNC 0x0
        SHFL.IDX PT, R5, R1, 0x7, 0x1f
        IADD R4, R4, R5
    )");
    EXPECT_EQ(got, each(64, [](u32 t) { return t % 32 < 5 ? 0 : 0xffffffe0u + 7; }));
}

TEST_F(Warp, OneWarpReducesWhatAllHaveWritten) {
    // Thread values 1; each warp sums by shuffles, its first lane writes to shared memory, the first warp sums those,
    // the rest wait at the barrier.
    const auto got = run(R"(
        IADD R4, R0, 0x1
        MOV32I R5, 0x10
    again:
        SHFL.DOWN PT, R6, R4, R5, 0x1f
        IADD R4, R4, R6
        SHR.U32 R5, R5, 0x1
        ISETP.NE.AND P0, PT, R5, RZ, PT
        @P0 BRA again
        SHR.U32 R7, R0, 0x5
        SHL R7, R7, 0x2
        ISETP.EQ.AND P1, PT, R1, RZ, PT
        @P1 STS [R7], R4
        BAR.SYNC 0x0
        ISETP.LT.AND P2, PT, R0, 0x20, PT
        SSY after
        @!P2 BRA other
        SHL R8, R1, 0x2
        MOV32I R4, 0x0
        ISETP.LT.AND P3, PT, R1, 0x4, PT
        @P3 LDS R4, [R8]
        SHFL.BFLY PT, R6, R4, 0x1, 0x1f
        IADD R4, R4, R6
        SHFL.BFLY PT, R6, R4, 0x2, 0x1f
        IADD R4, R4, R6
        @P1 STS [0x80], R4
        SYNC
    other:
        SYNC
    after:
        BAR.SYNC 0x0
        LDS R4, [0x80]
    )",
                         128);
    EXPECT_EQ(got, each(128, [](u32) { return 128u * 129 / 2; }));
}

TEST_F(Warp, GuardedOperationsReadLanesWhoseGuardFails) {
    const auto got = run(R"(
        IADD R5, R1, 0x64
        ISETP.LT.AND P0, PT, R1, 0x10, PT
        @P0 SHFL.DOWN P1, R4, R5, 0x10, 0x1f
        @P0 VOTE.ALL R6, P2, P0
        @P2 IADD R4, R4, 0x1000
        @P0 POPC R6, R6
        @P0 IMAD R4, R6, 0x10000, R4
    )");
    EXPECT_EQ(got, each(64, [](u32 t) { return t % 32 < 16 ? (t % 32) + 16 + 0x64 + 0x1000 + (16u << 16) : 0; }));
}

TEST_F(Warp, BarriersReduceOverThreadsThatCameByLoops) {
    // Lanes take different numbers of turns with votes before all meet at a reducing barrier.
    const auto got = run(R"(
        LOP.AND R5, R1, 0x7
        PBK done
    turn:
        VOTE.ANY R7, P2, PT
        ISETP.EQ.AND P0, PT, R5, RZ, PT
        @P0 BRK
        IADD R5, R5, -0x1
        BRA turn
    done:
        ISETP.LT.AND P3, PT, R0, 0x21, PT
        BAR.RED.POPC 0x0, P3
        B2R.RESULT R4
    )");
    EXPECT_EQ(got, each(64, [](u32) { return 33u; }));
}

TEST_F(Warp, AFunctionCalledByHalfOfTheLanes) {
    const auto got = run(R"(
        LOP.AND R5, R1, 0x1
        ISETP.NE.AND P0, PT, R5, RZ, PT
        SSY joined
        @!P0 BRA other
        CAL count
        IADD R4, R7, 0x100
        SYNC
    other:
        CAL count
        MOV R4, R7
        SYNC
    joined:
        BRA store
    count:
        VOTE.ANY R7, P2, PT
        POPC R7, R7
        RET
    )");
    EXPECT_EQ(got, each(64, [](u32 t) { return t % 2 ? 0x110u : 0x10u; }));
}

// A loop in which lanes take the lowest of those that are left, as compilers make of code for a whole warp.
TEST_F(Warp, LanesTakeTurnsByTheirBallot) {
    const auto got = run(R"(
        LOP.AND R8, R1, 0x3      // four groups of lanes
        PBK done
    turn:
        VOTE.ANY R5, P2, PT      // who is left
        BFE.U32.BREV R5, R5, 0x2000
        FLO.U32.SH R5, R5        // the lowest of them
        SHFL.IDX PT, R6, R8, R5, 0x1f
        ISETP.EQ.AND P0, PT, R6, R8, PT
        VOTE.ANY R7, P2, P0
        @P0 MOV R4, R7
        @P0 BRK
        BRA turn
    done:
    )");
    EXPECT_EQ(got, each(64, [](u32 t) { return 0x11111111u << (t & 3); }));
}

TEST_F(Warp, AWarpThatIsNotFull) {
    const auto got = run(R"(
        VOTE.ALL R4, P2, PT
        LOP.AND R5, R1, 0x1
        ISETP.NE.AND P0, PT, R5, RZ, PT
        @!P0 BRA store
        VOTE.ALL R4, P2, PT
    )",
                         40);
    EXPECT_EQ(got, each(40, [](u32 t) { return t < 32 ? (t % 2 ? odd : ~0u) : (t % 2 ? 0xaau : 0xffu); }));
}

} // namespace
} // namespace heaviside::test
