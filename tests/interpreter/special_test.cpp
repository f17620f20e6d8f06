// Results that no table of exact arithmetic has: special functions, NaNs as the hardware gives them, division checks.
#include "interpreter/machine.h"
#include "tests/isa/hardware_table.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>

using namespace heaviside;
using namespace heaviside::interpreter;

namespace {

// R2 after `text`, with R4, R5, ... set to `words`.
u32 result(const std::vector<u32>& words, const std::string& text) {
    std::string source;
    for (std::size_t i = 0; i < words.size(); ++i)
        source += fmt::format("MOV R{}, c[0x2][{:#x}]; ", 4 + i, 4 * i);
    const auto code = test::assemble_line(source + text);
    EXPECT_TRUE(code) << text << ": " << (code ? "" : code.error().message);
    if (!code)
        return 0;
    Launch launch;
    launch.code = *code;
    launch.banks[2] = std::as_bytes(std::span(words));
    const auto state = run_thread(launch);
    EXPECT_TRUE(state) << text << ": " << (state ? "" : state.error().message);
    return state ? state->registers[2] : 0;
}

constexpr u32 infinity = 0x7f800000, minus = 0x80000000, nan = 0x7fffffff, quiet = 0x7fc00000, denormal = 0x00400000;

u32 word(f32 value) {
    return std::bit_cast<u32>(value);
}
f32 number(u32 bits) {
    return std::bit_cast<f32>(bits);
}

TEST(Mufu, EndsOfTheRange) {
    const struct {
        const char* function;
        u32 argument, value;
    } cases[] = {
        {"RCP", 0, infinity},
        {"RCP", minus, minus | infinity},
        {"RCP", infinity, 0},
        {"RCP", minus | infinity, minus},
        {"RCP", denormal, infinity},
        {"RCP", word(0x1.8p+126f), 0}, // the result would be a denormal
        {"RCP", quiet, nan},
        {"RCP", word(-4.0f), word(-0.25f)},
        {"RSQ", 0, infinity},
        {"RSQ", minus, minus | infinity},
        {"RSQ", word(-1.0f), nan},
        {"RSQ", infinity, 0},
        {"RSQ", denormal, infinity},
        {"RSQ", word(16.0f), word(0.25f)},
        {"SQRT", minus, minus},
        {"SQRT", word(-1.0f), nan},
        {"SQRT", infinity, infinity},
        {"SQRT", word(9.0f), word(3.0f)},
        {"LG2", 0, minus | infinity},
        {"LG2", minus, minus | infinity},
        {"LG2", denormal, minus | infinity},
        {"LG2", word(-1.0f), nan},
        {"LG2", infinity, infinity},
        {"LG2", word(0.125f), word(-3.0f)},
        {"EX2", minus | infinity, 0},
        {"EX2", infinity, infinity},
        {"EX2", word(128.0f), infinity},
        {"EX2", word(-126.0f), 0x00800000},
        {"EX2", word(-127.0f), 0},
        {"EX2", quiet, nan},
        {"SIN", infinity, nan},
        {"COS", infinity, nan},
        {"SIN", minus, minus},
        {"COS", 0, word(1.0f)},
        {"COS", denormal, word(1.0f)},
        {"SIN", quiet, nan},
    };
    for (const auto& c : cases)
        EXPECT_EQ(result({c.argument}, fmt::format("MUFU.{} R2, R4", c.function)), c.value)
            << c.function << ' ' << std::hex << c.argument;
}

TEST(Mufu, StaysWithinTheDocumentedError) {
    // As the manual of the virtual instruction set gives it for the approximations that are this unit alone.
    for (f32 x = 0.001f; x < 1000; x *= 1.37f) {
        const f64 exact_rcp = 1.0 / f64{x}, exact_rsq = 1.0 / std::sqrt(f64{x}), exact_ex2 = std::exp2(f64{x} / 16);
        EXPECT_NEAR(number(result({word(x)}, "MUFU.RCP R2, R4")), exact_rcp, exact_rcp * 0x1p-23);
        EXPECT_NEAR(number(result({word(x)}, "MUFU.RSQ R2, R4")), exact_rsq, exact_rsq * 0x1p-22);
        EXPECT_NEAR(number(result({word(x)}, "FMUL R4, R4, 0.0625; RRO.EX2 R4, R4; MUFU.EX2 R2, R4")), exact_ex2,
                    exact_ex2 * 0x1p-22);
        EXPECT_NEAR(number(result({word(x)}, "MUFU.LG2 R2, R4")), std::log2(f64{x}), 0x1p-19);
    }
    for (f32 x = -3.1f; x < 3.1f; x += 0.17f) {
        EXPECT_NEAR(number(result({word(x)}, "RRO.SINCOS R4, R4; MUFU.SIN R2, R4")), std::sin(f64{x}), 0x1p-20);
        EXPECT_NEAR(number(result({word(x)}, "RRO.SINCOS R4, -|R4|; MUFU.COS R2, R4")), std::cos(f64{x}), 0x1p-20);
    }
}

TEST(Mufu, ModifiersApplyToTheArgumentAndTheResult) {
    EXPECT_EQ(result({word(-4.0f)}, "MUFU.RSQ R2, |R4|"), word(0.5f));
    EXPECT_EQ(result({word(4.0f)}, "MUFU.RCP R2, -|R4|"), word(-0.25f));
    EXPECT_EQ(result({word(0.25f)}, "MUFU.RCP.SAT R2, R4"), word(1.0f));
    EXPECT_EQ(result({word(0.25f)}, "MUFU.RCP.SAT R2, -R4"), 0u);
    EXPECT_EQ(result({quiet}, "MUFU.RCP.SAT R2, R4"), 0u);
}

TEST(Mufu, DoublesByTheirUpperWords) {
    EXPECT_EQ(result({0x40100000}, "MUFU.RCP64H R2, R4"), 0x3fd00000u); // 4 -> 0.25
    EXPECT_EQ(result({0x40100000}, "MUFU.RSQ64H R2, R4"), 0x3fe00000u); // 4 -> 0.5
    EXPECT_EQ(result({0x40080000}, "MUFU.RCP64H R2, R4"), 0x3fd55555u); // 3 -> 0.3333
    EXPECT_EQ(result({0x80000000}, "MUFU.RCP64H R2, R4"), 0xfff00000u);
    EXPECT_EQ(result({0x000fffff}, "MUFU.RCP64H R2, R4"), 0x7ff00000u); // a denormal
    EXPECT_EQ(result({0xfff00000}, "MUFU.RCP64H R2, R4"), 0x80000000u);
    EXPECT_EQ(result({0x7ff80000}, "MUFU.RCP64H R2, R4"), nan);
    EXPECT_EQ(result({0xbff00000}, "MUFU.RSQ64H R2, R4"), nan);
}

TEST(Nans, OfSinglesAreAllOnesBelowTheSign) {
    for (const char* const text : {"FADD R2, R4, R5", "FMUL R2, R4, R5", "FFMA R2, R4, R5, R4", "FADD R2, -R4, R5",
                                   "FMNMX R2, R4, R4, PT", "F2F.F32.F32 R2, R4"})
        EXPECT_EQ(result({0xff812345, word(1.0f)}, text), nan) << text;
    EXPECT_EQ(result({infinity}, "FADD R2, R4, -R4"), nan);
    EXPECT_EQ(result({infinity}, "FMUL R2, R4, RZ"), nan);
    EXPECT_EQ(result({infinity}, "FMUL.FMZ R2, R4, RZ"), 0u);
    // Selections pass bits as they are.
    EXPECT_EQ(result({0xff812345}, "FCMP.NAN R2, R4, RZ, R4"), 0xff812345u);
}

TEST(Nans, OfHalvesAndDoublesToo) {
    EXPECT_EQ(result({0xfe013c00, 0x3c00fc01}, "HADD2 R2, R4, R5"), 0x7fff7fffu);
    EXPECT_EQ(result({0xfe013c00}, "F2F.F16.F32 R2, |R4|"), 0x7c00u); // no NaN as a single: overflow
    EXPECT_EQ(result({quiet}, "F2F.F16.F32 R2, R4"), 0x7fffu);
    EXPECT_EQ(result({0, 0x7ff00000}, "DADD R2, R4, -R4; MOV R2, R3"), 0x7fffffffu);
}

TEST(Conversions, OfNansDependOnTheSizes) {
    EXPECT_EQ(result({quiet}, "F2I.S32.F32 R2, R4"), 0u);
    EXPECT_EQ(result({quiet}, "F2I.U16.F32 R2, R4"), 0u);
    EXPECT_EQ(result({quiet}, "F2I.S64.F32 R2, R4; MOV R2, R3"), 0x80000000u);
    EXPECT_EQ(result({0, 0x7ff80000}, "F2I.S32.F64 R2, R4"), 0x80000000u);
}

TEST(Conversions, FlushOnlySingles) {
    EXPECT_EQ(result({1}, "F2I.S32.F32.CEIL R2, R4"), 1u);
    EXPECT_EQ(result({1}, "F2I.FTZ.S32.F32.CEIL R2, R4"), 0u);
    EXPECT_EQ(result({1}, "F2F.FTZ.F32.F16 R2, R4"), word(0x1p-24f));
    EXPECT_EQ(result({word(0x1p-24f)}, "F2F.FTZ.F16.F32 R2, R4"), 1u);
}

TEST(Conversions, NegatedAndAbsoluteIntegersWrap) {
    EXPECT_EQ(result({minus}, "I2F.F32.S32 R2, |R4|"), word(-0x1p31f));
    EXPECT_EQ(result({1}, "I2F.F32.U32.RZ R2, -R4"), word(0x1.fffffep31f));
    EXPECT_EQ(result({minus}, "I2I.S32.S32 R2, |R4|"), minus);
    EXPECT_EQ(result({0xff}, "I2I.S16.S8 R2, R4"), 0xffffu); // nothing above a narrow result
}

TEST(Fchk, LetsThroughOnlyWhatTheShortDivisionRoundsRightly) {
    const auto is_hard = [](f32 a, f32 b) {
        return result({word(a), word(b)}, "FCHK.DIVIDE P0, R4, R5; P2R R2, PR, RZ, 0x1") != 0;
    };
    EXPECT_FALSE(is_hard(1, 3));
    EXPECT_FALSE(is_hard(-1e30f, 7e-8f));
    for (const f32 special : {0.0f, -0.0f, HUGE_VALF, NAN, 1e-40f}) {
        EXPECT_TRUE(is_hard(1, special)) << special;
        EXPECT_TRUE(is_hard(special, 1)) << special;
    }
    EXPECT_TRUE(is_hard(1, 0x1p127f));       // the reciprocal is a denormal
    EXPECT_TRUE(is_hard(0x1p-60f, 0x1p70f)); // so is the quotient
    EXPECT_TRUE(is_hard(0x1p100f, 0x1p-30f));
}

} // namespace
