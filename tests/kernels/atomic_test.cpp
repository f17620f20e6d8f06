// Every atomic operation and type, on global and on shared memory. A thread changes a word of its own, so that the old
// value that it gets and what memory holds afterwards are known; then all change one word together. Expected values of
// the first kind come from the interpreter, some by hand.
#include "tests/kernels/assembled.h"

namespace heaviside::test {
namespace {

class Atomics : public testing::Test {
    void SetUp() override {
        if (!Bench::get().device)
            GTEST_SKIP() << Bench::get().error;
    }
};

struct Operation {
    const char* suffix;
    bool wide = false;
};

// Edge values: pairs that order differently as signed and unsigned numbers, wraps, floats with denormals and NaNs.
constexpr u32 edges[] = {0,          1,          7,          0xfffffffe, 0xffffffff, 0x80000000,
                         0x7fffffff, 0x3f800000, 0xbf800000, 0x00000001, 0x007fffff, 0x7f800000,
                         0x7fc00001, 0x3c000400, 0x7c01fc00, 0x00018001};

std::vector<u32> pairs(bool wide) { // old, operand, second operand of each thread, 64 bits each
    std::vector<u32> words;
    const std::size_t count = std::size(edges);
    for (u32 t = 0; t < 256; ++t) {
        const u32 a = edges[t / count], b = edges[t % count], same = t % 5 == 0 ? a : b;
        words.insert(words.end(), {a, wide ? b : 0, same, wide ? (t % 3 ? a : b) : 0, b ^ 5, a});
    }
    return words;
}

// R2: the thread's 24 bytes of input, R4: its 32 bytes of output: memory afterwards, the old value.
std::string prologue() {
    return R"(
        S2R R0, SR_TID.X
        MOV32I R20, 0x18
        MOV32I R21, 0x20
        IMAD R6, R0, R20, RZ
        IADD R2.CC, R6, c[0x0][0x148]
        IADD.X R3, RZ, c[0x0][0x14c]
        IMAD R6, R0, R21, RZ
        IADD R4.CC, R6, c[0x0][0x140]
        IADD.X R5, RZ, c[0x0][0x144]
        LDG.E.64 R8, [R2]
        LDG.E.64 R10, [R2+0x8]
        LDG.E.64 R12, [R2+0x10]
        MOV32I R14, 0x0
        MOV32I R15, 0x0
    )";
}

std::string on_global(const Operation& op) {
    return prologue() + "STG.E.64 [R4], R8\n" + fmt::format("ATOM.E.{} R14, [R4], R10\n", op.suffix) +
           "STG.E.64 [R4+0x8], R14\nEXIT\n";
}

std::string on_shared(const Operation& op) {
    return prologue() + "SHL R7, R0, 0x3\nSTS.64 [R7], R8\n" + fmt::format("ATOMS.{} R14, [R7], R10\n", op.suffix) +
           "LDS.64 R16, [R7]\nSTG.E.64 [R4], R16\nSTG.E.64 [R4+0x8], R14\nEXIT\n";
}

void check(const std::string& source, bool wide) {
    SCOPED_TRACE(source.substr(source.find("ATOM"), 30));
    (void)run_assembled(
        {.source = source, .block = 256, .words = 256 * 8, .shared_bytes = 256 * 8, .input = pairs(wide)});
}

TEST_F(Atomics, OfOneThreadOnGlobalMemory) {
    constexpr Operation operations[] = {{"ADD"},
                                        {"MIN"},
                                        {"MAX"},
                                        {"INC"},
                                        {"DEC"},
                                        {"AND"},
                                        {"OR"},
                                        {"XOR"},
                                        {"EXCH"},
                                        {"MIN.S32"},
                                        {"MAX.S32"},
                                        {"ADD.U64", true},
                                        {"MIN.U64", true},
                                        {"MAX.U64", true},
                                        {"AND.U64", true},
                                        {"OR.U64", true},
                                        {"XOR.U64", true},
                                        {"EXCH.U64", true},
                                        {"MIN.S64", true},
                                        {"MAX.S64", true},
                                        {"ADD.F32.FTZ.RN"},
                                        {"ADD.F16x2.FTZ.RN"},
                                        {"INC.U64", true},
                                        {"DEC.U64", true}};
    for (const Operation& op : operations)
        check(on_global(op), op.wide);
}

TEST_F(Atomics, OfOneThreadOnSharedMemory) {
    constexpr Operation operations[] = {{"ADD"},
                                        {"MIN"},
                                        {"MAX"},
                                        {"INC"},
                                        {"DEC"},
                                        {"AND"},
                                        {"OR"},
                                        {"XOR"},
                                        {"EXCH"},
                                        {"MIN.S32"},
                                        {"MAX.S32"},
                                        {"ADD.U64", true},
                                        {"MIN.U64", true},
                                        {"MAX.U64", true},
                                        {"AND.U64", true},
                                        {"OR.U64", true},
                                        {"XOR.U64", true},
                                        {"EXCH.U64", true},
                                        {"MIN.S64", true},
                                        {"MAX.S64", true},
                                        {"INC.U64", true},
                                        {"DEC.U64", true}};
    for (const Operation& op : operations)
        check(on_shared(op), op.wide);
}

TEST_F(Atomics, CompareAndSwap) {
    const auto global = [](const char* text) {
        return prologue() + "STG.E.64 [R4], R8\n" + text + "STG.E.64 [R4+0x8], R14\nEXIT\n";
    };
    check(global("ATOM.E.CAS R14, [R4], R10, R11\n"), false);
    check(global("ATOM.E.CAS.64 R14, [R4], R10, R12\n"), true);
    const auto shared = [](const char* text) {
        return prologue() + "SHL R7, R0, 0x3\nSTS.64 [R7], R8\n" + text +
               "LDS.64 R16, [R7]\nSTG.E.64 [R4], R16\nSTG.E.64 [R4+0x8], R14\nEXIT\n";
    };
    check(shared("ATOMS.CAS R14, [R7], R10, R11\n"), false);
    check(shared("ATOMS.CAS.64 R14, [R7], R10, R12\n"), true);
}

// Words, halves and bytes of memory that is changed with 64-bit atomics too.
TEST_F(Atomics, SharedMemoryWithWideAtomicsHoldsSmallerData) {
    const auto got = run_assembled({.source = R"(
        S2R R0, SR_TID.X
        SHL R1, R0, 0x2
        STS [R1], R0                     // words 0 to 63
        BAR.SYNC 0x0
        ISETP.EQ.AND P0, PT, R0, RZ, PT
        MOV32I R4, 0x1
        MOV32I R5, 0x2
        @P0 ATOMS.ADD.U64 R6, [0x10], R4 // words 4 and 5
        LOP.AND R7, R0, 0x3
        IADD R8, R7, 0x20
        @P0 STS.U8 [0x21], R5            // word 8, byte 1
        BAR.SYNC 0x0
        MOV32I R9, 0x3
        ATOMS.ADD RZ, [0x24], R9         // word 9, by all threads
        ATOMS.MAX RZ, [0x28], R0         // word 10
        ATOMS.XOR R10, [0x2c], R0        // word 11: 0 to 63 cancel out
        ATOMS.ADD.U64 RZ, [0x30], R4     // words 12 and 13, by all threads
        BAR.SYNC 0x0
        LDS R4, [R1]
        IADD R2.CC, R1, c[0x0][0x140]
        IADD.X R3, RZ, c[0x0][0x144]
        STG.E [R2], R4
        EXIT
    )",
                                    .block = 64,
                                    .words = 64,
                                    .shared_bytes = 256});
    ASSERT_EQ(got.size(), 64u);
    EXPECT_EQ(got[3], 3u);
    EXPECT_EQ(got[4], 4u + 1);
    EXPECT_EQ(got[5], 5u + 2);
    EXPECT_EQ(got[8], 8u | 2u << 8);
    EXPECT_EQ(got[9], 9u + 64 * 3);
    EXPECT_EQ(got[10], 63u);
    EXPECT_EQ(got[11], 11u);
    EXPECT_EQ(got[12], 12u + 64);
    EXPECT_EQ(got[13], 13u + 128);
    EXPECT_EQ(got[63], 63u);
}

} // namespace
} // namespace heaviside::test
