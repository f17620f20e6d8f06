// What a thread of a kernel reads of itself and its machine: values by hand from what docs/isa.md says of the
// registers.
#include "tests/kernels/assembled.h"

namespace heaviside::test {
namespace {

TEST(SystemRegisters, HaveTheirValuesInKernels) {
    if (!Bench::get().device)
        GTEST_SKIP() << Bench::get().error;
    struct Register {
        const char* name;
        u32 (*value)(u32 group, u32 thread);
    };
    static constexpr Register registers[] = {
        {"LANEID", [](u32, u32 t) { return t % 32; }},
        {"VIRTID", [](u32, u32 t) { return t / 32; }},
        {"ORDERING_TICKET", [](u32 g, u32) { return g; }},
        {"TID", [](u32, u32 t) { return t; }},
        {"TID.X", [](u32, u32 t) { return t; }},
        {"TID.Y", [](u32, u32) { return 0u; }},
        {"CTAID.X", [](u32 g, u32) { return g; }},
        {"NTID", [](u32, u32) { return 64u | 1u << 16 | 1u << 26; }},
        {"SM_SPA_VERSION", [](u32, u32) { return 0x503u; }},
        {"SWINLO", [](u32, u32) { return 0u; }}, // there is no window
        {"SWINSZ", [](u32, u32) { return 0u; }},
        {"SMEMSZ", [](u32, u32) { return 512u; }},
        {"SMEMBANKS", [](u32, u32) { return 32u; }},
        {"LWINLO", [](u32, u32) { return 0u; }},
        {"LWINSZ", [](u32, u32) { return 0u; }},
        {"LMEMLOSZ", [](u32, u32) { return 48u; }},
        {"LMEMHIOFF", [](u32, u32) { return 0u; }},
        {"VIRTCFG", [](u32, u32) { return 0u; }},
        {"EQMASK", [](u32, u32 t) { return 1u << t % 32; }},
        {"LTMASK", [](u32, u32 t) { return (1u << t % 32) - 1; }},
        {"GEMASK", [](u32, u32 t) { return ~((1u << t % 32) - 1); }},
    };
    constexpr u32 count = std::size(registers), block = 64, grid = 2;
    AssembledKernel kernel;
    kernel.block = block;
    kernel.grid = grid;
    kernel.words = count * block * grid;
    kernel.shared_bytes = 512;
    kernel.local_bytes = 48;
    kernel.source = fmt::format(".stage compute\n.workgroup 64 1 1\n.shared 512\n.local 48\n S2R R0, SR_TID.X\n"
                                " S2R R1, SR_CTAID.X\n ISCADD R0, R1, R0, 0x6\n IMUL32I R2, R0, {:#x}\n"
                                " IADD R2.CC, R2, c[0x0][0x140]\n IADD.X R3, RZ, c[0x0][0x144]\n",
                                4 * count);
    for (u32 i = 0; i < count; ++i)
        kernel.source += fmt::format(" {} R4, SR_{}\n STG.E [R2+{:#x}], R4\n", i % 2 != 0 ? "CS2R" : "S2R",
                                     registers[i].name, 4 * i);
    kernel.source += " EXIT\n";
    const std::vector<u32> got = run_assembled(kernel);
    ASSERT_EQ(got.size(), kernel.words);
    for (u32 thread = 0; thread < block * grid; ++thread)
        for (u32 i = 0; i < count; ++i)
            EXPECT_EQ(got[count * thread + i], registers[i].value(thread / block, thread % block))
                << registers[i].name << " of thread " << thread;
}

TEST(SystemRegisters, TellHowManyCallsAreOnTheStack) {
    if (!Bench::get().device)
        GTEST_SKIP() << Bench::get().error;
    // Threads 0 to 15 reach the inner function through the outer one, the others at once; a prepared return counts.
    const std::vector<u32> got = run_assembled({.source = R"(
        .stage compute
        .workgroup 64 1 1
            S2R R0, SR_TID.X
            ISETP.LT.AND P0, PT, R0, 0x10, PT
            SHL R2, R0, 0x3
            IADD R2.CC, R2, c[0x0][0x140]
            IADD.X R3, RZ, c[0x0][0x144]
            SSY join
        @P0 BRA deep
            CAL inner
            SYNC
        deep:
            CAL outer
            SYNC
        join:
            STG.E [R2], R4
            PRET back
            PRET back
            GETCRSPTR R4
            RET
        back:
            GETCRSPTR R5
            ISCADD R4, R4, R5, 0x4
            STG.E [R2+0x4], R4
            EXIT
        outer:
            CAL inner
            RET
        inner:
            GETCRSPTR R4
            RET
    )",
                                                .words = 128});
    ASSERT_EQ(got.size(), 128u);
    for (u32 t = 0; t < 64; ++t) {
        EXPECT_EQ(got[2 * t], t < 16 ? 2u : 1u) << t;
        EXPECT_EQ(got[2 * t + 1], 2u << 4 | 1u) << t;
    }
}

} // namespace
} // namespace heaviside::test
