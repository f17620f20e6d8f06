// The text form says everything that a program holds, and errors name their line.
#include "shader/ir_text.h"

#include <gtest/gtest.h>

namespace heaviside::shader::ir {
namespace {

constexpr const char* sample = R"(stage fragment
b0:
  %0 = load_bank<3> 0x10
  %1 = fadd.rz.ftz %0, 0x3fc00000
  %2 = fcmp.ltu.ftz %1, 0
  branch_if %2, b1, b2
b1:
  %4 = load_global.b64 0x123456789al
  %5 = extract<1> %4
  branch b2
b2:
  %6 = phi.u32 %0, %5
  %7 = special<lane_id>
  %8 = sample.2d_array.bias.dref %6, %1, %1, 3, 0, 0
  %9 = extract<0> %8
  switch %6, b3, 0: b3, 7: b4
b3:
  store_color<0> %9
  exit
b4:
  unreachable
)";

TEST(IrText, WhatIsPrintedParsesToTheSameText) {
    const auto program = parse(sample);
    ASSERT_TRUE(program) << program.error().message;
    const std::string once = print(*program);
    const auto again = parse(once);
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_EQ(print(*again), once);
    for (const char* part : {"fadd.rz.ftz", "fcmp.ltu.ftz", "load_global.b64 0x123456789al", "phi.u32", "<lane_id>",
                             "sample.2d_array.bias.dref", "switch", "0: b3, 7: b4", "store_color<0>"})
        EXPECT_NE(once.find(part), std::string::npos) << part << " is missing in\n" << once;
}

TEST(IrText, SuffixesSetTheModifiersOfTheMachine) {
    const auto program = parse("b0:\n  %0 = ffma.rm.fmz 1, 2.0f, 3\n  store_depth %0\n  exit\n");
    ASSERT_TRUE(program) << program.error().message;
    const Inst& inst = program->insts[program->blocks[0].insts[0]];
    EXPECT_EQ(inst.op, Op::FFma);
    EXPECT_EQ(inst.mods, float_mods(Rounding::Down, false, true));
    EXPECT_EQ(program->const_word(program->arg(Value{program->blocks[0].insts[0]}, 1)), 0x40000000u);
}

struct Bad {
    const char* text;
    const char* complaint;
};

TEST(IrText, ErrorsNameTheirLine) {
    for (const Bad& bad :
         {Bad{"b0:\n  %0 = nonsense 1\n  exit\n", "line 2"}, Bad{"b0:\n  %0 = iadd 1\n  exit\n", "too few operands"},
          Bad{"b0:\n  %0 = iadd 1, true\n  exit\n", "does not fit"},
          Bad{"b0:\n  %0 = iadd %7, 1\n  exit\n", "before its definition"}, Bad{"b0:\n  branch b7\n", "does not end"},
          Bad{"b0:\n  %0 = fadd.sideways 1, 2\n  exit\n", "unknown suffix"}, Bad{"b0:\n  branch b0\n", "to the entry"},
          Bad{"", "no blocks"}}) {
        const auto program = parse(bad.text);
        ASSERT_FALSE(program) << bad.text;
        EXPECT_NE(program.error().message.find(bad.complaint), std::string::npos) << program.error().message;
    }
}

} // namespace
} // namespace heaviside::shader::ir
