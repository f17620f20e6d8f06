// Storage buffers whose addresses lie in the driver's bank: each access goes through the buffer's window or nowhere.
#include "maxwell/assembler.h"
#include "tests/isa/bench.h"

#include <gtest/gtest.h>

namespace heaviside::test {
namespace {

constexpr u32 threads = 64, memory_words = 63, front = 4; // the buffer begins behind `front` words of memory
constexpr u32 window_words = 56;                          // to the last address that 16 divides

u32 word_at(u32 index) { // of memory
    return 1000 + index;
}

// Buffer 0 as above, buffer 1: the output, four words a thread. R2:R3 is the thread's word of the buffer.
std::vector<std::array<u32, 4>> run(const std::string& body, Blob& memory) {
    const auto assembled = maxwell::assemble(R"(
        S2R R0, SR_TID.X
        SHL R6, R0, 0x2
        IADD R2.CC, R6, c[0x0][0x150]
        IADD.X R3, RZ, c[0x0][0x154]
    )" + body + R"(
        SHL R7, R0, 0x4
        IADD R4.CC, R7, c[0x0][0x160]
        IADD.X R5, RZ, c[0x0][0x164]
        STG.E.128 [R4], R8
        EXIT
    )");
    EXPECT_TRUE(assembled) << assembled.error().message;
    program::Program program;
    program.stage = shader::Stage::Compute;
    program.code = assembled->code;
    program.workgroup_size = {threads, 1, 1};
    program.layout = &program::open_compiler_layout;
    for (u32 i = 0; i < memory_words; ++i)
        put<u32>(memory, 4 * i, word_at(i));
    Blob output(16 * threads);
    std::map<u32, Blob> banks;
    put<u64>(banks[0], 0x150, buffer_address(0) + 4 * front);
    put<u64>(banks[0], 0x160, buffer_address(1));
    put<u64>(banks[0], 0x168, output.size());
    EXPECT_EQ(Bench::get().run(program, banks, {{buffer_address(0), &memory}, {buffer_address(1), &output}}, {1, 1, 1}),
              "");
    std::vector<std::array<u32, 4>> words(threads);
    std::memcpy(words.data(), output.data(), output.size());
    return words;
}

class StorageWindow : public testing::Test {
    void SetUp() override {
        if (!Bench::get().device)
            GTEST_SKIP() << Bench::get().error;
    }
};

TEST_F(StorageWindow, LoadsBeyondItGiveZero) {
    Blob memory;
    const auto got = run(R"(
        LDG.E R8, [R2]
        LDG.E R9, [R2+0x8]
        LDG.E R10, [R2+-0x8]
        IADD R14, R0, -0x4         // a distance with a sign: its high word is not always 0
        SHL R14, R14, 0x2
        SHR R15, R14, 0x1f
        IADD R14.CC, R14, c[0x0][0x150]
        IADD.X R15, R15, c[0x0][0x154]
        LDG.E R11, [R14+0x14]
    )",
                         memory);
    const auto word = [](u32 index) { return index < window_words ? word_at(front + index) : 0; };
    for (u32 x = 0; x < threads; ++x) {
        EXPECT_EQ(got[x][0], word(x)) << x;
        EXPECT_EQ(got[x][1], word(x + 2)) << x;
        EXPECT_EQ(got[x][2], x >= 2 ? word(x - 2) : got[x][2]) << x;
        EXPECT_EQ(got[x][3], word(x + 1)) << x;
    }
}

TEST_F(StorageWindow, StoresAndAtomicsBeyondItAreDropped) {
    Blob memory;
    const auto got = run(R"(
        ATOM.E.ADD R8, [R2], R0
        IADD R9, R0, R0
        STG.E [R2+0x80], R9        // word x + 32
        LDG.E.U8 R10, [R2+0x81]
        MOV32I R11, 0x0
    )",
                         memory);
    for (u32 x = 0; x < threads; ++x) {
        const bool shared = x >= 32 && x < window_words; // who else stored there is not known
        EXPECT_EQ(got[x][0], shared ? got[x][0] : x < 32 ? word_at(front + x) : 0) << x;
        EXPECT_EQ(got[x][2], x + 32 < window_words ? got[x][2] : 0) << x;
    }
    const auto left = [&](u32 index) { return *read_at<u32>(memory, 4 * (front + index)); };
    for (u32 x = 0; x < 32; ++x)
        EXPECT_EQ(left(x), word_at(front + x) + x) << x;
    for (u32 x = window_words; front + x < memory_words; ++x)
        EXPECT_EQ(left(x), word_at(front + x)) << "word " << x << " is beyond the window";
}

} // namespace
} // namespace heaviside::test
