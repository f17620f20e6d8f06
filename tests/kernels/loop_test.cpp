// What leaves a loop that lanes leave in different turns. Behind the loop each lane has what its own last turn made,
// also where every turn makes the same and its sources' registers serve something else by then.
#include "tests/kernels/assembled.h"

namespace heaviside::test {
namespace {

struct Shape {
    const char* name;
    const char* code;     // `value`, `phi`, `change` and `turn` stand for the lines below
    bool counted = false; // only the counter ends the loop
};

// Of thread t: R1 = t, P4: t has bit 2, R5 = t & 3, the turns that the counter allows. The value: R3 = t odd ? 5 : 7,
// from P6, which then becomes something else: in a branch, and by the test of the counter, which leaves the loop with
// it true.
constexpr std::pair<std::string_view, const char*> lines[] = {
    {"value ", "LOP32I.AND R2, R1, 0x1\n ISETP.EQ.AND P6, PT, R2, RZ, PT\n MOV32I R3, 0x5\n@P6 MOV32I R3, 0x7\n"},
    {"phi ",
     "LOP32I.AND R2, R1, 0x1\n ISETP.EQ.AND P6, PT, R2, RZ, PT\n SSY both\n@P6 BRA even\n MOV32I R3, 0x5\n SYNC\n"
     "even:\n MOV32I R3, 0x7\n SYNC\nboth:\n"},
    {"change ",
     "SSY changed\n@P4 BRA kept\n STS [0x0], R5\n ISETP.LT.AND P6, PT, R5, 0x2, PT\n SYNC\nkept:\n SYNC\nchanged:\n"
     "@P6 IADD32I R8, R8, 0x1\n"},
    {"turn ", "ISETP.EQ.AND P6, PT, R5, RZ, PT\n@P6 BRK\n IADD32I R5, R5, -0x1\n"},
};

constexpr Shape shapes[] = {
    {"two ways out", "PBK end\nagain:\nvalue @P4 BRK\nturn BRA again\nend:\n"},
    {"out of a branch",
     "PBK end\nagain:\n SSY join\n@P4 BRA then\nvalue SYNC\nthen:\nvalue BRK\njoin:\nturn BRA again\nend:\n"},
    {"continued", "PBK end\nagain:\n PCNT next\nvalue @P4 BRK\n CONT\nnext:\nturn BRA again\nend:\n"},
    {"inner loop",
     "MOV32I R6, 0x1\n PBK outer\nround:\n MOV R5, R7\n PBK end\nagain:\nvalue @P4 BRK\nturn BRA again\nend:\n"
     " ISETP.EQ.AND P5, PT, R6, RZ, PT\n@P5 BRK\n IADD32I R6, R6, -0x1\n BRA round\nouter:\n"},
    {"in a function",
     "CAL function\n BRA over\nfunction:\n PBK end\nagain:\nvalue @P4 RET\nturn BRA again\nend:\n RET\nover:\n"},
    {"changed in a branch", "PBK end\nagain:\nvalue change turn BRA again\nend:\n", true},
    {"made in a branch", "PBK end\nagain:\nphi change turn BRA again\nend:\n", true},
    {"through local memory", "PBK end\nagain:\nvalue STL [0x0], R3\nchange turn BRA again\nend:\n LDL R3, [0x0]\n",
     true},
    {"through bytes of local memory",
     "PBK end\nagain:\nvalue STL.U8 [0x1], R3\nchange turn BRA again\nend:\n LDL.U8 R3, [0x1]\n", true},
    {"as a predicate",
     "PBK end\nagain:\nLOP32I.AND R2, R1, 0x1\n ISETP.EQ.AND P6, PT, R2, RZ, PT\n ISETP.LT.AND P3, PT, R1, 0x100, "
     "P6\nchange turn BRA again\nend:\n MOV32I R3, 0x5\n@P3 MOV32I R3, 0x7\n",
     true},
};

TEST(Loops, WhatLeavesThemIsTheLanesOwn) {
    Bench& bench = Bench::get();
    if (!bench.device)
        GTEST_SKIP() << bench.error;
    for (const Shape& shape : shapes) {
        AssembledKernel kernel;
        kernel.local_bytes = kernel.shared_bytes = 16;
        kernel.words = 4 * kernel.block;
        std::string code = shape.code;
        for (const auto& [name, text] : lines)
            for (std::size_t at = 0; (at = code.find(name, at)) != std::string::npos;)
                code.replace(at, name.size(), text);
        kernel.source =
            ".stage compute\n.workgroup 64 1 1\n.local 16\n.shared 16\n S2R R1, SR_TID.X\n LOP32I.AND R5, R1, 0x3\n"
            " MOV R7, R5\n MOV R8, RZ\n LOP32I.AND R2, R1, 0x4\n ISETP.NE.AND P4, PT, R2, RZ, PT\n" +
            code +
            " SEL R4, RZ, 0x1, !P6\n SHL R16, R1, 0x4\n IADD R16.CC, R16, c[0x0][0x140]\n"
            " IADD.X R17, RZ, c[0x0][0x144]\n STG.E [R16], R3\n STG.E [R16+0x4], R4\n"
            " STG.E [R16+0x8], R8\n EXIT\n";
        const std::vector<u32> got = run_assembled(kernel);
        if (got.size() != kernel.words)
            continue;
        for (u32 t = 0; t < kernel.block; ++t) {
            EXPECT_EQ(got[4 * t], t % 2 != 0 ? 5u : 7u) << shape.name << ", thread " << t;
            // who leaves by the counter leaves with P6, the others with what the first turn made of it
            const bool counted = shape.counted || (t & 4) == 0;
            EXPECT_EQ(got[4 * t + 1], counted || t % 2 == 0 ? 1u : 0u) << shape.name << ", thread " << t;
        }
    }
}

// A compiler that tells neither zero nor integers from floats makes a choice between the bits of -1.0 and 0 one between
// -1.0 and -0.0; what it computes from constants it sees as those, too.
TEST(Choices, BetweenTheBitsOfFloatsAreExact) {
    Bench& bench = Bench::get();
    if (!bench.device)
        GTEST_SKIP() << bench.error;
    constexpr u32 one = 0x3f800000, minus_one = 0xbf800000, minus_zero = 0x80000000;
    struct Choice {
        const char* code; // R3 from P0
        u32 yes, no;
    };
    static constexpr Choice choices[] = {
        {"MOV32I R3, 0xbf800000\n@P0 MOV R3, RZ\n", 0, minus_one},
        {"F2F.F32.F32.FLOOR R3, -0.5\n@P0 MOV R3, RZ\n", 0, minus_one},
        {"F2F.F32.F32.FLOOR R2, -0.5\n MOV R3, RZ\n@P0 MOV R3, R2\n", minus_one, 0},
        {"F2F.F32.F32.CEIL R3, -0.5\n@P0 MOV32I R3, 0x3f800000\n", one, minus_zero},
        {"MOV32I R3, 0xbf800000\n@P0 F2I.S32.F64 R3, 3.9004546420622958112e-224\n", 0, minus_one},
        {"MOV32I R3, 0xbf800000\n@P0 F2I.S64.F64 R2, 3.9004546420622958112e-224\n", 0, minus_one},
        {"MOV32I R3, 0xbf800000\n@P0 I2F.F32.S32 R3, 0x0\n", 0, minus_one},
        {"F2F.F64.F64.FLOOR R2, -0.5\n@P0 MOV R3, RZ\n", 0, 0xbff00000},
        {"SSY join\n@P0 BRA then\n F2F.F32.F32.FLOOR R3, -0.5\n SYNC\nthen:\n MOV R3, RZ\n SYNC\njoin:\n", 0,
         minus_one},
        {"SSY join\n@P0 BRA then\n MOV32I R3, 0x80000000\n SYNC\nthen:\n MOV32I R3, 0x3f800000\n SYNC\njoin:\n", one,
         minus_zero},
        {"MOV32I R3, 0xbf800000\n SSY join\n@P0 BRA then\n STL [0x0], R3\n SYNC\nthen:\n STL [0x0], RZ\n SYNC\njoin:\n"
         " LDL R3, [0x0]\n",
         0, minus_one},
    };
    constexpr u32 count = std::size(choices);
    AssembledKernel kernel;
    kernel.local_bytes = 16;
    kernel.words = count * kernel.block;
    kernel.source =
        ".stage compute\n.workgroup 64 1 1\n.local 16\n S2R R1, SR_TID.X\n LOP32I.AND R2, R1, 0x1\n"
        " ISETP.NE.AND P0, PT, R2, RZ, PT\n" +
        fmt::format(" IMUL32I R16, R1, {:#x}\n IADD R16.CC, R16, c[0x0][0x140]\n IADD.X R17, RZ, c[0x0][0x144]\n",
                    4 * count);
    for (u32 i = 0; i < count; ++i) {
        std::string code = choices[i].code;
        for (const char* label : {"join", "then"})
            for (std::size_t at = 0; (at = code.find(label, at)) != std::string::npos; at += 6)
                code.insert(at + 4, fmt::format("{:02}", i));
        kernel.source += code + fmt::format(" STG.E [R16+{:#x}], R3\n", 4 * i);
    }
    kernel.source += " EXIT\n";
    const std::vector<u32> got = run_assembled(kernel);
    ASSERT_EQ(got.size(), kernel.words);
    for (u32 t = 0; t < kernel.block; ++t)
        for (u32 i = 0; i < count; ++i)
            EXPECT_EQ(got[count * t + i], t % 2 != 0 ? choices[i].yes : choices[i].no)
                << "thread " << t << ": " << choices[i].code;
}

} // namespace
} // namespace heaviside::test
