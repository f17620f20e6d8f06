// Loads, stores, atomics, constants, generic addresses, moves.
#include "program.h"

namespace heaviside::interpreter::test {
namespace {

// Runs `body` in one thread with R10:R11 = word_base and gives the words afterwards.
std::vector<u32> one_thread(const std::string& body, Program program = {}) {
    program.source = "    MOV R10, c[0x0][0x0]\n    MOV R11, RZ\n" + body + "    EXIT\n";
    auto words = run_words(program);
    EXPECT_TRUE(words) << (words ? "" : words.error().message);
    return words ? *words : std::vector<u32>(word_count);
}

TEST(Memory, LoadsOfAllSizesExtendByTheirType) {
    Program program;
    program.words = {0x8899f7e6, 0x11223344, 0x55667788, 0x99aabbcc};
    const std::vector<std::pair<std::string, std::vector<u32>>> cases{
        {".U8", {0xf7}},
        {".S8", {0xfffffff7}},
        {".U16", {0x8899}},
        {".S16", {0xffff8899}},
        {"", {0x11223344}},
        {".64", {0x55667788, 0x99aabbcc}},
        {".128", {0x8899f7e6, 0x11223344, 0x55667788, 0x99aabbcc}}};
    const u32 offsets[]{1, 1, 2, 2, 4, 8, 0};
    for (std::size_t i = 0; i < cases.size(); ++i)
        for (const char* load : {"LDG.E", "LD.E", "LDS", "LDL"}) {
            const bool is_global = std::string(load).ends_with(".E");
            std::string body;
            if (!is_global) // copies the words there first
                body = fmt::format("    LDG.E.128 R4, [R10]\n    {} [RZ], R4\n",
                                   std::string(load) == "LDS" ? "STS.128" : "STL.128");
            body +=
                fmt::format("    {}{} R4, [{}+{:#x}]\n", load, cases[i].first, is_global ? "R10" : "RZ", offsets[i]);
            body += "    STG.E.128 [R10+0x40], R4\n";
            const auto words = one_thread(body, program);
            for (std::size_t k = 0; k < cases[i].second.size(); ++k)
                EXPECT_EQ(words[16 + k], cases[i].second[k]) << load << cases[i].first << " word " << k;
        }
}

TEST(Memory, StoresOfAllSizesTouchNothingElse) {
    Program program;
    program.words = std::vector<u32>(16, 0xeeeeeeee);
    const auto words = one_thread("    MOV32I R4, 0x11223344\n    MOV32I R5, 0x55667788\n"
                                  "    MOV32I R6, 0x99aabbcc\n    MOV32I R7, 0xddeeff00\n"
                                  "    STG.E.U8 [R10+0x1], R4\n"
                                  "    STG.E.U16 [R10+0x6], R4\n"
                                  "    STG.E [R10+0x8], R4\n"
                                  "    ST.E.64 [R10+0x10], R4\n"
                                  "    STG.E.128 [R10+0x20], R4\n"
                                  "    STG.E [R10+0x30], RZ\n",
                                  program);
    const std::vector<u32> expected{0xeeee44ee, 0x3344eeee, 0x11223344, 0xeeeeeeee, 0x11223344, 0x55667788, 0xeeeeeeee,
                                    0xeeeeeeee, 0x11223344, 0x55667788, 0x99aabbcc, 0xddeeff00, 0x00000000, 0xeeeeeeee};
    EXPECT_EQ(std::vector<u32>(words.begin(), words.begin() + 14), expected);
}

TEST(Memory, StoresToSharedAndLocalMemoryTouchNothingElse) {
    for (const std::string store : {"STS", "STL"}) {
        std::string body = "    MOV32I R4, 0x11223344\n    MOV32I R5, 0x55667788\n"
                           "    MOV32I R6, 0x99aabbcc\n    MOV32I R7, 0xddeeff00\n"
                           "    MOV32I R12, 0xeeeeeeee\n    MOV R13, R12\n    MOV R14, R12\n    MOV R15, R12\n";
        for (const u32 at : {0u, 16u, 32u})
            body += fmt::format("    {}.128 [{:#x}], R12\n", store, at);
        const std::pair<const char*, const char*> stores[] = {
            {".U8", "0x1"}, {".U16", "0x6"}, {"", "0x8"}, {".64", "0x10"}, {".128", "0x20"}};
        for (const auto& [size, at] : stores)
            body += fmt::format("    {}{} [{}], R4\n", store, size, at);
        for (const u32 at : {0u, 16u, 32u})
            body += fmt::format("    {} R4, [{:#x}]\n    STG.E.128 [R10+{:#x}], R4\n",
                                store == "STS" ? "LDS.128" : "LDL.128", at, at);
        const auto words = one_thread(body, {});
        const std::vector<u32> expected{0xeeee44ee, 0x3344eeee, 0x11223344, 0xeeeeeeee, 0x11223344, 0x55667788,
                                        0xeeeeeeee, 0xeeeeeeee, 0x11223344, 0x55667788, 0x99aabbcc, 0xddeeff00};
        EXPECT_EQ(std::vector<u32>(words.begin(), words.begin() + 12), expected) << store;
    }
}

TEST(Memory, OffsetsAreSignedAndAddressesOf64Bits) {
    Program program;
    program.words = {7, 8};
    const auto words = one_thread("    IADD R4, R10, 0x8\n    MOV R5, RZ\n"
                                  "    LDG.E R2, [R4-0x4]\n"
                                  "    LDG R3, [R10+0x4]\n" // a register alone: the upper half is 0
                                  "    IADD R2, R2, R3\n"
                                  "    STG.E [R10+0x8], R2\n",
                                  program);
    EXPECT_EQ(words[2], 16u);
    Program above;
    above.source = "    MOV R10, c[0x0][0x0]\n    MOV32I R11, 0x1\n    LDG.E R2, [R10]\n    EXIT\n";
    const auto outside = run_words(above);
    ASSERT_FALSE(outside);
    EXPECT_NE(outside.error().message.find("global memory at 0x140000000"), std::string::npos)
        << outside.error().message;
}

TEST(Memory, LocalMemoryIsEachThreadsOwn) {
    const auto words = each_thread("    MOV32I R2, 0x20\n    STL [R2+0x4], R0\n    LDL R3, [R2+0x4]\n", 40, "R3");
    for (u32 n = 0; n < 40; ++n)
        EXPECT_EQ(words[n], n);
}

TEST(Memory, WindowsOfGenericAddressesLeadToSharedAndLocalMemory) {
    const auto words = each_thread("    MOV32I R4, 0x1000010\n    MOV R5, RZ\n" // the shared window + 0x10
                                   "    MOV32I R6, 0x2000008\n    MOV R7, RZ\n" // the local one + 8
                                   "    ST.E [R6], R0\n"
                                   "    LDL R2, [0x8]\n" // n
                                   "    MOV32I R3, 0x64\n    STS [0x10], R3\n"
                                   "    LD.E R3, [R4]\n" // 100
                                   "    IADD R2, R2, R3\n"
                                   "    ATOM.E.ADD R3, [R6], R3\n" // gives n
                                   "    LD.E R8, [R6], P0\n"       // n + 100; the predicate says nothing
                                   "    IADD3 R2, R2, R3, R8\n",
                                   4, "R2");
    for (u32 n = 0; n < 4; ++n)
        EXPECT_EQ(words[n], 3 * n + 200) << n;
}

TEST(Memory, ConstantsAreReadWithAllSizesAndAnIndex) {
    Program program;
    program.bank2 = {0x8899f7e6, 0x11223344, 0x55667788};
    program.bank3 = {0xabcd0123};
    const auto words = one_thread("    MOV32I R2, 0x4\n    MOV32I R3, 0x10004\n"
                                  "    LDC.U8 R4, c[0x2][0x1]\n    STG.E [R10], R4\n"
                                  "    LDC.S8 R4, c[0x2][0x1]\n    STG.E [R10+0x4], R4\n"
                                  "    LDC.U16 R4, c[0x2][0x2]\n    STG.E [R10+0x8], R4\n"
                                  "    LDC.S16 R4, c[0x2][0x2]\n    STG.E [R10+0xc], R4\n"
                                  "    LDC R4, c[0x2][R2+0x4]\n    STG.E [R10+0x10], R4\n"
                                  "    LDC.64 R4, c[0x2][0x0]\n    STG.E.64 [R10+0x18], R4\n"
                                  "    LDC R4, c[0x2][0x400]\n    STG.E [R10+0x20], R4\n"         // past the end
                                  "    LDC.IS R4, c[0x2][R3-0x4]\n    STG.E [R10+0x24], R4\n"     // one bank further
                                  "    LDC.IL R4, c[0x1][R3+0xfffc]\n    STG.E [R10+0x28], R4\n", // 0x20000: two
                                  program);
    EXPECT_EQ(words[0], 0xf7u);
    EXPECT_EQ(words[1], 0xfffffff7u);
    EXPECT_EQ(words[2], 0x8899u);
    EXPECT_EQ(words[3], 0xffff8899u);
    EXPECT_EQ(words[4], 0x55667788u);
    EXPECT_EQ(words[6], 0x8899f7e6u);
    EXPECT_EQ(words[7], 0x11223344u);
    EXPECT_EQ(words[8], 0u);
}

// One row an operation: what memory held, the operand, what it holds afterwards. The old value is given back.
struct Atomic {
    const char* suffix;
    u64 old, operand, result;
};

void expect_atomic(const Atomic& c, const std::string& mnemonic, bool is_wide) {
    const bool is_shared = mnemonic == "ATOMS";
    Program program;
    program.words = {static_cast<u32>(c.old), static_cast<u32>(c.old >> 32), static_cast<u32>(c.operand),
                     static_cast<u32>(c.operand >> 32)};
    std::string body = "    LDG.E.64 R4, [R10+0x8]\n    LDG.E.64 R6, [R10]\n    STS.64 [0x10], R6\n"
                       "    MOV32I R8, 0x77777777\n    MOV32I R9, 0x77777777\n";
    const std::string place = is_shared ? "[0x10]" : "[R10]";
    body +=
        "    " + mnemonic + (is_shared ? "" : ".E") + c.suffix + (mnemonic == "RED" ? " " : " R8, ") + place + ", R4\n";
    body += "    LDS.64 R6, [0x10]\n    STG.E.64 [R10+0x18], R6\n    STG.E.64 [R10+0x20], R8\n";
    const auto words = one_thread(body, program);
    const std::size_t at = is_shared ? 6 : 0;
    const u64 mask = is_wide ? ~u64{0} : 0xffffffff;
    EXPECT_EQ((u64{words[at + 1]} << 32 | words[at]) & mask, c.result & mask) << mnemonic << c.suffix;
    if (mnemonic != "RED")
        EXPECT_EQ((u64{words[9]} << 32 | words[8]) & mask, c.old & mask) << mnemonic << c.suffix;
    else
        EXPECT_EQ(words[8], 0x77777777u);
}

TEST(Atomics, OfIntegers) {
    const Atomic narrow[] = {
        {".ADD", 0xffffffff, 3, 2},
        {".ADD.S32", 0x7fffffff, 1, 0x80000000},
        {".MIN", 5, 0xfffffffe, 5},
        {".MIN.S32", 5, 0xfffffffe, 0xfffffffe},
        {".MAX", 5, 0xfffffffe, 0xfffffffe},
        {".MAX.S32", 5, 0xfffffffe, 5},
        {".INC", 6, 7, 7},
        {".INC", 7, 7, 0},
        {".DEC", 0, 7, 7},
        {".DEC", 9, 7, 7},
        {".DEC", 5, 7, 4},
        {".AND", 0xc, 0xa, 8},
        {".OR", 0xc, 0xa, 14},
        {".XOR", 0xc, 0xa, 6},
    };
    for (const Atomic& c : narrow)
        for (const char* mnemonic : {"ATOM", "ATOMS", "RED"})
            expect_atomic(c, mnemonic, false);
    const Atomic wide[] = {
        {".ADD.U64", 0xffffffff, 1, u64{1} << 32},
        {".MIN.U64", u64{1} << 63, 5, 5},
        {".MIN.S64", u64{1} << 63, 5, u64{1} << 63},
        {".MAX.U64", u64{1} << 63, 5, u64{1} << 63},
        {".MAX.S64", u64{1} << 63, 5, 5},
        {".AND.U64", u64{3} << 40, u64{6} << 40, u64{2} << 40},
        {".XOR.U64", u64{3} << 40, u64{6} << 40, u64{5} << 40},
    };
    for (const Atomic& c : wide)
        for (const char* mnemonic : {"ATOM", "ATOMS", "RED"})
            expect_atomic(c, mnemonic, true);
    for (const char* mnemonic : {"ATOM", "ATOMS"}) {
        expect_atomic({".EXCH", 1, 2, 2}, mnemonic, false);
        expect_atomic({".EXCH.U64", u64{1} << 40, u64{2} << 40, u64{2} << 40}, mnemonic, true);
    }
    expect_atomic({".SAFEADD", 1, 2, 3}, "ATOM", false);
}

TEST(Atomics, OfFloatsFlushDenormals) {
    for (const char* mnemonic : {"ATOM", "RED"}) {
        expect_atomic({".ADD.F32.FTZ.RN", 0x3f800000, 0x40000000, 0x40400000}, mnemonic, false); // 1 + 2
        expect_atomic({".ADD.F32.FTZ.RN", 0x3f800000, 0x33800000, 0x3f800000}, mnemonic, false); // a tie, to even
        expect_atomic({".ADD.F32.FTZ.RN", 0x00000001, 0x00000001, 0x00000000}, mnemonic, false);
        expect_atomic({".ADD.F32.FTZ.RN", 0x80000001, 0x80000000, 0x80000000}, mnemonic, false);
        expect_atomic({".ADD.F32.FTZ.RN", 0x7f800000, 0xff800000, 0x7fffffff}, mnemonic, false);   // inf - inf
        expect_atomic({".ADD.F16x2.FTZ.RN", 0x40003c00, 0xc0003c00, 0x00004000}, mnemonic, false); // 2 - 2, 1 + 1
        expect_atomic({".ADD.F16x2.FTZ.RN", 0x7bff6400, 0x7bff3800, 0x7c006400}, mnemonic, false); // too large; a tie
        expect_atomic({".ADD.F16x2.FTZ.RN", 0x00010001, 0x00013c00, 0x00003c00}, mnemonic, false); // denormals
    }
}

TEST(Atomics, CompareAndSwap) {
    Program program;
    program.words = {5, 0, 9};
    const auto words = one_thread("    MOV32I R4, 0x5\n    MOV32I R5, 0x6\n    MOV R6, RZ\n    MOV R7, RZ\n"
                                  "    ATOM.E.CAS R2, [R10], R4, R5\n    STG.E [R10+0x20], R2\n"     // 5 -> 6, gives 5
                                  "    ATOM.E.CAS R2, [R10], R4, R5\n    STG.E [R10+0x24], R2\n"     // stays 6, gives 6
                                  "    ATOM.E.CAS R2, [R10+0x8], R4, RZ\n    STG.E [R10+0x28], R2\n" // 9 is not 5
                                  "    ATOM.E.CAS R2, [R10+0x4], RZ, R5\n    STG.E [R10+0x2c], R2\n" // 0 -> 6
                                  "    STS [0x0], R4\n"
                                  "    ATOMS.CAS R2, [0x0], R4, R5\n    STG.E [R10+0x30], R2\n"
                                  "    LDS R2, [0x0]\n    STG.E [R10+0x34], R2\n"
                                  "    ATOMS.CAST.SPIN R2, [0x0], R4, R5\n    STG.E [R10+0x38], R2\n" // 6 is not 5: 0
                                  "    MOV32I R4, 0x6\n    MOV32I R5, 0x7\n"
                                  "    ATOMS.CAST.SPIN R2, [0x0], R4, R5\n    STG.E [R10+0x3c], R2\n" // swapped: 1
                                  "    LDS R2, [0x0]\n    STG.E [R10+0x40], R2\n",
                                  program);
    EXPECT_EQ(words[0], 6u);
    EXPECT_EQ(words[1], 6u);
    EXPECT_EQ(words[2], 9u);
    EXPECT_EQ(std::vector<u32>(words.begin() + 8, words.begin() + 17), (std::vector<u32>{5, 6, 9, 0, 5, 6, 0, 1, 7}));
}

TEST(Atomics, CompareAndSwapOf64Bits) {
    Program program;
    program.words = {1, 2, 0, 0, 1, 2, 3, 4};
    const auto words = one_thread("    LDG.E.128 R4, [R10+0x10]\n" // compare 2:1, new 4:3
                                  "    ATOM.E.CAS.64 R2, [R10], R4, R6\n"
                                  "    STG.E.64 [R10+0x20], R2\n"
                                  "    ATOM.E.CAS.64 R2, [R10], R4, R6\n"
                                  "    STG.E.64 [R10+0x28], R2\n",
                                  program);
    EXPECT_EQ(std::vector<u32>(words.begin(), words.begin() + 2), (std::vector<u32>{3, 4}));
    EXPECT_EQ(std::vector<u32>(words.begin() + 8, words.begin() + 12), (std::vector<u32>{1, 2, 3, 4}));
}

TEST(Atomics, ThreadsTakeTurns) {
    // 300 threads of three workgroups count up one word.
    Program program;
    program.source =
        "    MOV R10, c[0x0][0x0]\n    MOV R11, RZ\n    MOV32I R1, 0x1\n    RED.E.ADD [R10], R1\n    EXIT\n";
    program.block = {100, 1, 1};
    program.grid = {3, 1, 1};
    const auto words = run_words(program);
    ASSERT_TRUE(words) << words.error().message;
    EXPECT_EQ((*words)[0], 300u);
}

TEST(Moves, MovAndSel) {
    Program program;
    program.bank2 = {0x1234};
    const auto words = each_thread("    LOP.AND R1, R0, 0x1\n"
                                   "    ISETP.NE.U32.AND P0, PT, R1, RZ, PT\n"
                                   "    MOV R2, c[0x2][0x0]\n"
                                   "    MOV32I R3, 0xdeadbeef\n"
                                   "    SEL R4, R2, R3, P0\n"
                                   "    SEL R5, R3, -0x1, !P0\n"
                                   "    ISETP.LT.U32.AND P1, PT, R0, 0x2, PT\n"
                                   "    SEL R2, R4, R5, P1\n",
                                   4, "R2", program);
    EXPECT_EQ(words, (std::vector<u32>{0xdeadbeef, 0x1234, 0xdeadbeef, 0xffffffff}));
}

TEST(Moves, MovTakesAMaskOfLanesOfAQuad) {
    const auto words = each_thread("    MOV32I R2, 0x5\n    MOV R2, RZ, 0x6\n", 8, "R2");
    EXPECT_EQ(words, (std::vector<u32>{5, 0, 0, 5, 5, 0, 0, 5}));
}

TEST(Moves, P2rAndR2pPackPredicatesAndFlagsByBytes) {
    const auto words = one_thread("    MOV32I R2, 0x15aa\n"
                                  "    R2P PR, R2.B1, 0x7f\n" // 0x15: P0, P2, P4
                                  "    P2R R3, PR, RZ, 0x7f\n    STG.E [R10], R3\n"
                                  "    P2R.B2 R3, PR, R2, 0x14\n    STG.E [R10+0x4], R3\n"
                                  "    R2P PR, RZ, 0x4\n" // only P2
                                  "    P2R R3, PR, RZ, 0x7f\n    STG.E [R10+0x8], R3\n"
                                  "    R2P CC, R2, 0xf\n" // 0xa: sign, overflow
                                  "    P2R R3, CC, RZ, 0xff\n    STG.E [R10+0xc], R3\n");
    EXPECT_EQ(std::vector<u32>(words.begin(), words.begin() + 4), (std::vector<u32>{0x15, 0x1415aa, 0x11, 0xa}));
}

TEST(Moves, PsetpJoinsThreePredicates) {
    // (S2 op S3) op2 S and (not S2 op S3) op2 S, over all eight combinations: bit n of R0 is predicate n.
    const auto words = each_thread("    R2P PR, R0, 0x7\n"
                                   "    PSETP.AND.OR P3, P4, P0, P1, P2\n"
                                   "    PSETP.XOR.AND P5, P6, P0, !P1, !P2\n"
                                   "    P2R R2, PR, RZ, 0x78\n",
                                   8, "R2");
    for (u32 n = 0; n < 8; ++n) {
        const bool a = n & 1, b = n & 2, c = n & 4;
        const u32 expected = ((a && b) || c ? 8 : 0) | ((!a && b) || c ? 16 : 0) | ((a != !b) && !c ? 32 : 0) |
                             ((!a != !b) && !c ? 64 : 0);
        EXPECT_EQ(words[n], expected) << n;
    }
}

} // namespace
} // namespace heaviside::interpreter::test
