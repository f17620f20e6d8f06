// SSA construction, folding, dead code and reducibility over IR text.
#include "shader/ir_text.h"
#include "shader/passes.h"
#include "shader/storage_address.h"
#include "shader/trace.h"

#include <gtest/gtest.h>

namespace heaviside::shader::ir {
namespace {

Program parsed(const char* text) {
    auto program = parse(text);
    EXPECT_TRUE(program) << program.error().message;
    return program ? std::move(*program) : Program{};
}

std::string after_ssa(const char* text) {
    Program program = parsed(text);
    construct_ssa(program);
    const auto sound = verify(program);
    EXPECT_TRUE(sound) << sound.error().message;
    fold(program);
    remove_dead_code(program);
    return print(program);
}

bool has(const std::string& text, std::string_view part) {
    return text.find(part) != std::string::npos;
}

TEST(Ssa, AWrittenRegisterIsItsValue) {
    const std::string text = after_ssa("b0:\n"
                                       "  set_register<4> 7\n"
                                       "  %1 = get_register<4>\n"
                                       "  store_depth %1\n"
                                       "  exit\n");
    EXPECT_TRUE(has(text, "store_depth 7")) << text;
    EXPECT_FALSE(has(text, "register")) << text;
}

TEST(Ssa, ADiamondMakesOnePhi) {
    const std::string text = after_ssa("b0:\n"
                                       "  %0 = get_predicate<0>\n"
                                       "  %1 = load_bank<3> 0\n"
                                       "  %2 = icmp_u.eq %1, 0\n"
                                       "  branch_if %2, b1, b2\n"
                                       "b1:\n"
                                       "  set_register<0> 1\n"
                                       "  branch b3\n"
                                       "b2:\n"
                                       "  set_register<0> 2\n"
                                       "  branch b3\n"
                                       "b3:\n"
                                       "  %3 = get_register<0>\n"
                                       "  store_depth %3\n"
                                       "  exit\n");
    EXPECT_TRUE(has(text, "phi.u32 1, 2")) << text;
}

TEST(Ssa, ALoopCarriesItsCounterAndNothingElse) {
    const std::string text = after_ssa("b0:\n"
                                       "  set_register<0> 0\n"
                                       "  set_register<1> 5\n"
                                       "  branch b1\n"
                                       "b1:\n"
                                       "  %0 = get_register<0>\n"
                                       "  %1 = iadd %0, 1\n"
                                       "  set_register<0> %1\n"
                                       "  %2 = get_register<1>\n"
                                       "  %3 = icmp_u.lt %1, %2\n"
                                       "  branch_if %3, b1, b2\n"
                                       "b2:\n"
                                       "  %4 = get_register<0>\n"
                                       "  store_depth %4\n"
                                       "  exit\n");
    EXPECT_EQ(text.find("phi"), text.rfind("phi")) << text; // register 1 does not change: no phi
    EXPECT_TRUE(has(text, "icmp_u.lt")) << text;
    EXPECT_TRUE(has(text, ", 5\n")) << text;
}

TEST(Ssa, WhatIsReadBeforeItIsWrittenIsZero) {
    const std::string text = after_ssa("b0:\n"
                                       "  %0 = get_register<200>\n"
                                       "  %1 = get_flag<2>\n"
                                       "  %2 = select %1, 3, %0\n"
                                       "  store_depth %2\n"
                                       "  exit\n");
    EXPECT_TRUE(has(text, "store_depth 0")) << text;
}

// op, its operands as text, the result
struct Folded {
    const char* expression;
    const char* result;
};

class Folding : public testing::TestWithParam<Folded> {};

TEST_P(Folding, GivesTheMachinesResult) {
    const std::string text = after_ssa(
        (std::string("b0:\n  %9 = load_bank<3> 0\n  %0 = ") + GetParam().expression + "\n  store_depth %0\n  exit\n")
            .c_str());
    EXPECT_TRUE(has(text, std::string("store_depth ") + GetParam().result + "\n")) << text;
}

// bit field rows: from the hardware results of BFE and BFI
INSTANTIATE_TEST_SUITE_P(
    Values, Folding,
    testing::Values(Folded{"bfe_u 0xdead, 8, 8", "0xde"}, Folded{"bfe_s 0xdead, 8, 8", "0xffffffde"},
                    Folded{"bfe_s 0x7ead0000, 0x20, 0x18", "0"}, Folded{"bfe_s 0x80000000, 0, 0xff", "0x80000000"},
                    Folded{"bfi 0xcccccccc, 0, 8, 8", "0xcccc00cc"}, Folded{"bfi 0xcccccccc, 0, 0, 0x20", "0"},
                    Folded{"bfi 0xcccccc32, 0xffdd, 0xc, 8", "0xcccddc32"},
                    Folded{"bfi 0xcccccccc, 0xcafe, 0x20, 0x20", "0xcccccccc"}, Folded{"shl 1, 0x20", "0"},
                    Folded{"shr_u 0x80000000, 0x1f", "1"}, Folded{"shr_s 0x80000000, 0x63", "0xffffffff"},
                    Folded{"flo_u 0", "0xffffffff"}, Folded{"flo_u 0x100", "8"}, Folded{"popc 0xff00ff", "0x10"},
                    Folded{"imulhi_s 0xffffffff, 0xffffffff", "0"},
                    Folded{"imulhi_u 0xffffffff, 0xffffffff", "0xfffffffe"}, Folded{"fneg 0", "0x80000000"},
                    Folded{"fabs 0xffc00000", "0x7fc00000"}, Folded{"iabs 0x80000000", "0x80000000"},
                    Folded{"and %9, 0", "0"}, Folded{"or %9, 0xffffffff", "0xffffffff"}, Folded{"imul 0, %9", "0"}));

TEST(Fold, IdentitiesLeaveTheOtherOperand) {
    for (const char* expression : {"iadd %9, 0", "or 0, %9", "and %9, 0xffffffff", "imul %9, 1", "shl %9, 0",
                                   "select true, %9, 5", "select false, 5, %9", "copy %9"}) {
        const std::string text = after_ssa(
            (std::string("b0:\n  %9 = load_bank<3> 0\n  %0 = ") + expression + "\n  store_depth %0\n  exit\n").c_str());
        EXPECT_TRUE(has(text, "%1 = load_bank<3> 0\n  store_depth %1\n")) << expression << '\n' << text;
    }
}

TEST(Fold, FloatsAreLeftToTheDevice) {
    const std::string text = after_ssa("b0:\n  %0 = fadd 0x7f800001, 0\n  store_depth %0\n  exit\n");
    EXPECT_TRUE(has(text, "fadd")) << text;
}

std::string after_joining(const std::string& body) {
    Program program = parsed(("b0:\n" + body + "  exit\n").c_str());
    join_wide_sums(program);
    fold(program);
    remove_dead_code(program);
    const auto sound = verify(program);
    EXPECT_TRUE(sound) << sound.error().message;
    return print(program);
}

TEST(WideSums, AdditionsJoinedByACarryAreOne) {
    // 0x5'ffffffff + 0x7'00000002
    const std::string number = after_joining("  %0 = iadd 0xffffffff, 2\n"
                                             "  %1 = carry 0xffffffff, 2, false\n"
                                             "  %2 = select %1, 1, 0\n"
                                             "  %3 = iadd 5, 7\n"
                                             "  %4 = iadd %3, %2\n"
                                             "  %5 = pack64 %0, %4\n"
                                             "  store_global.b32 %5, 1\n");
    EXPECT_TRUE(has(number, "store_global.b32 0xd00000001l")) << number;
    // a number in a bank keeps its words together, on whichever side it stands
    for (const char* sums :
         {"  %8 = iadd %0, %1\n  %9 = carry %0, %1, false\n", "  %8 = iadd %1, %0\n  %9 = carry %1, %0, false\n"})
        for (const char* high : {"  %6 = iadd %2, %5\n", "  %7 = iadd %3, %2\n  %6 = iadd %7, %5\n",
                                 "  %7 = iadd %2, %3\n  %6 = iadd %5, %7\n"}) {
            const std::string text = after_joining(std::string("  %0 = load_bank<3> 8\n"
                                                               "  %1 = load_bank<0> 0x150\n"
                                                               "  %2 = load_bank<0> 0x154\n"
                                                               "  %3 = load_bank<3> 12\n") +
                                                   sums + "  %5 = select %9, 1, 0\n" + high +
                                                   "  %10 = pack64 %8, %6\n  store_global.b32 %10, 1\n");
            EXPECT_TRUE(has(text, "iadd64")) << sums << high << text;
            EXPECT_FALSE(has(text, "carry")) << sums << high << text;
            EXPECT_TRUE(has(text, "pack64 %3, %5")) << sums << high << text; // as they are printed
        }
}

TEST(WideSums, WhatIsNoCarryOfTheLowWordsStays) {
    for (const char* high :
         {"  %4 = carry %0, %0, false\n  %5 = select %4, 1, 0\n", "  %4 = carry %0, %1, true\n  %5 = select %4, 1, 0\n",
          "  %4 = carry %0, %1, false\n  %5 = select %4, 0, 1\n",
          "  %4 = overflow %0, %1, false\n  %5 = select %4, 1, 0\n"}) {
        const std::string text =
            after_joining(std::string("  %0 = load_bank<3> 0\n  %1 = load_bank<3> 4\n  %2 = load_bank<3> 8\n"
                                      "  %3 = iadd %0, %1\n") +
                          high + "  %6 = iadd %2, %5\n  %7 = pack64 %3, %6\n  store_global.b32 %7, 1\n");
        EXPECT_FALSE(has(text, "iadd64")) << high << text;
    }
}

// Rows and displacements from the layouts' tables (SHD-004 and the corpus README).
TEST(StorageAddress, StartsFromABuffersAddressInTheDriversBank) {
    struct Expected {
        const char* expression; // of %5
        Stage stage;
        bool open;
        i64 row, displacement; // row -1: none
        std::size_t offsets;
    };
    constexpr u32 uniform = banks::uniform_row;
    const Expected rows[] = {
        {"  %5 = pack64 %0, %1\n", Stage::Compute, true, 0, 0, 0},
        {"  %4 = pack64 %2, 0\n  %3 = pack64 %0, %1\n  %5 = iadd64 %3, %4\n", Stage::Compute, true, 0, 0, 1},
        {"  %4 = pack64 %0, %1\n  %3 = iadd64 %4, 0x10l\n  %5 = iadd64 0xfffffffffffffff8l, %3\n", Stage::Compute, true,
         0, 8, 0},
        {"  %4 = pack64 %0, %1\n  %3 = iadd64 %4, 0x7fffffffffffffffl\n  %6 = iadd64 0x12l, %3\n" // sums wrap around
         "  %5 = iadd64 %6, 0x7fffffffffffffffl\n",
         Stage::Compute, true, 0, 16, 0},
        {"  %4 = pack64 %2, %1\n  %3 = pack64 %0, %1\n  %5 = iadd64 %4, %3\n", Stage::Compute, true, 0, 0, 1},
        {"  %4 = load_bank<0> 0x170\n  %3 = load_bank<0> 0x174\n  %5 = pack64 %4, %3\n", Stage::Compute, true, 2, 0, 0},
        {"  %4 = load_bank<0> 0x320\n  %3 = load_bank<0> 0x324\n  %5 = pack64 %4, %3\n", Stage::Compute, false, 1, 0,
         0},
        {"  %4 = load_bank<0> 0x58\n  %3 = load_bank<0> 0x5c\n  %5 = pack64 %4, %3\n", Stage::Compute, true,
         uniform + 6, 0, 0},
        {"  %4 = load_bank<0> 0x260\n  %3 = load_bank<0> 0x264\n  %5 = pack64 %4, %3\n", Stage::Compute, false,
         uniform + 5, 0, 0},
        {"  %4 = load_bank<0> 0x58\n  %3 = load_bank<0> 0x5c\n  %5 = pack64 %4, %3\n", Stage::Fragment, true, -1, 0, 0},
        {"  %4 = load_bank<3> 0x154\n  %5 = pack64 %0, %4\n", Stage::Compute, true, -1, 0, 0},
        {"  %5 = pack64 %1, %0\n", Stage::Compute, true, -1, 0, 0},
        {"  %4 = load_bank<0> %2\n  %5 = pack64 %4, %1\n", Stage::Compute, true, -1, 0, 0},
        {"  %4 = pack64 %0, %1\n  %5 = iadd64 %4, 0x1000000l\n", Stage::Compute, true, -1, 0, 0},
    };
    for (const Expected& row : rows) {
        SCOPED_TRACE(row.expression);
        Program program = parsed((std::string("b0:\n  %0 = load_bank<0> 0x150\n  %1 = load_bank<0> 0x154\n"
                                              "  %2 = load_bank<3> 8\n") +
                                  row.expression + "  store_global.b32 %5, 1\n  exit\n")
                                     .c_str());
        program.stage = row.stage;
        const Inst& store = program.insts[program.blocks[0].insts.back()];
        const auto found = storage_address(program, program.args(store)[0],
                                           row.open ? program::open_compiler_layout : program::vendor_layout);
        ASSERT_EQ(found.has_value(), row.row >= 0);
        if (!found)
            continue;
        EXPECT_EQ(found->row, static_cast<u32>(row.row));
        EXPECT_EQ(found->displacement, row.displacement);
        EXPECT_EQ(found->offsets.size(), row.offsets);
    }
}

TEST(DeadCode, StoresAndAtomicsStayUnusedLoadsGo) {
    const std::string text = after_ssa("b0:\n"
                                       "  %0 = load_global.b32 16l\n"
                                       "  %1 = atomic_global.add.u32 32l, 1\n"
                                       "  store_global.b32 48l, 2\n"
                                       "  exit\n");
    EXPECT_FALSE(has(text, "load_global")) << text;
    EXPECT_TRUE(has(text, "atomic_global")) << text;
    EXPECT_TRUE(has(text, "store_global")) << text;
}

TEST(EmbedConstants, WordsInsideAreValuesWordsBeyondStayLoads) {
    Program program = parsed("b0:\n"
                             "  %0 = load_bank<1> 4\n"
                             "  %1 = load_bank<1> 8\n"
                             "  %2 = load_bank<2> 4\n"
                             "  store_color<0> %0\n"
                             "  store_color<1> %1\n"
                             "  store_color<2> %2\n"
                             "  exit\n");
    const u32 data[] = {0x11, 0x22};
    EXPECT_TRUE(embed_constants(program, 1, std::as_bytes(std::span(data)), false));
    remove_dead_code(program);
    const std::string text = print(program);
    EXPECT_TRUE(has(text, "store_color<0> 0x22")) << text;
    EXPECT_TRUE(has(text, "load_bank<1> 8")) << text;
    EXPECT_TRUE(has(text, "load_bank<2> 4")) << text;
}

TEST(EmbedConstants, AMultipliedZeroIsASignThatIsPlusHere) {
    Program program =
        parsed("b0:\n  %0 = load_bank<1> 0\n  %1 = fneg %0\n  %2 = fmul %1, 2.0f\n  store_depth %2\n  exit\n");
    const u32 data[] = {0};
    (void)embed_constants(program, 1, std::as_bytes(std::span(data)), true);
    EXPECT_TRUE(has(print(program), "fneg 0x3f800000")) << print(program);
}

TEST(Trace, FindsTheConstantWordsBehindAHandle) {
    Program program = parsed("b0:\n"
                             "  %0 = load_bank<2> 0x168\n" // a separate texture
                             "  %1 = load_bank<2> 0x570\n" // and its sampler: left out
                             "  %2 = or %0, %1\n"
                             "  %3 = load_bank<5> 0x30\n"
                             "  %4 = or %3, 0x10500000\n"
                             "  %5 = load_bank<9> 0\n"
                             "  %6 = icmp_u.eq %5, 0\n"
                             "  %7 = select %6, %2, %4\n"
                             "  %8 = load_bank<6> %5\n"
                             "  store_depth %7\n"
                             "  store_depth %8\n"
                             "  exit\n");
    const auto& insts = program.blocks[0].insts;
    const auto both = trace_handle(program, Value{insts[7]}, program::vendor_layout);
    EXPECT_EQ(both, (std::vector<HandleSource>{{2, 0x168}, {5, 0x30}}));
    const auto computed = trace_handle(program, Value{insts[8]}, program::vendor_layout);
    EXPECT_EQ(computed, (std::vector<HandleSource>{{6, ~0u}}));
}

TEST(Trace, AHandleOfConstantBankWordsIsTheSameForAll) {
    struct Case {
        const char* lines;
        bool same;
    };
    for (const Case& c : {Case{"  %9 = or %0, %1\n", true},
                          {"  %9 = load_bank<1> %0\n", true}, // an index that is the same for all
                          {"  %9 = bfi %0, 5, 20, 12\n", true},
                          {"  %9 = load_bank<1> %2\n", false},
                          {"  %9 = interpolate<0x80>.pass\n", false},
                          {"  %3 = fetch.1d %0, 1\n  %9 = extract<0> %3\n", false},
                          {"  %3 = load_global.b32 16l\n  %9 = or %0, %3\n", false}}) {
        const Program program = parsed((std::string("b0:\n  %0 = load_bank<0> 0x20\n  %1 = load_bank<2> 4\n"
                                                    "  %2 = special<tid_x>\n") +
                                        c.lines + "  store_depth %9\n  exit\n")
                                           .c_str());
        const Inst& store = program.insts[program.blocks[0].insts.back()];
        EXPECT_EQ(same_for_all(program, program.args(store)[0]), c.same) << c.lines;
    }
}

TEST(Reducible, ALoopWithTwoEntriesIsSplit) {
    Program program = parsed("b0:\n"
                             "  %0 = load_bank<3> 0\n"
                             "  %1 = icmp_u.eq %0, 0\n"
                             "  branch_if %1, b1, b2\n"
                             "b1:\n"
                             "  %2 = get_register<0>\n"
                             "  %3 = iadd %2, 1\n"
                             "  set_register<0> %3\n"
                             "  branch b2\n"
                             "b2:\n"
                             "  %4 = get_register<0>\n"
                             "  %5 = icmp_u.lt %4, 9\n"
                             "  branch_if %5, b1, b3\n"
                             "b3:\n"
                             "  exit\n");
    EXPECT_FALSE(analyse_flow(program).reducible);
    make_reducible(program);
    const auto sound = verify(program);
    ASSERT_TRUE(sound) << sound.error().message;
    EXPECT_TRUE(analyse_flow(program).reducible);
}

} // namespace
} // namespace heaviside::shader::ir
