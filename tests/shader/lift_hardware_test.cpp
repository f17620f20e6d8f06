// Every row of the hardware table, lifted and run as IR.
#include "shader/lift.h"
#include "tests/isa/hardware_table.h"
#include "tests/shader/lift_machine.h"

#include <gtest/gtest.h>

namespace heaviside::shader::test {
namespace {

TEST(LiftHardware, RegistersAsMeasured) {
    const auto rows = heaviside::test::read_hardware_table(HEAVISIDE_SOURCE_DIR "/../shared/isa/hardware.tsv");
    if (rows.empty())
        GTEST_SKIP() << "shared/isa/hardware.tsv is not beside the checkout";
    unsigned passed = 0;
    for (const auto& row : rows) {
        ASSERT_EQ(row.error, "") << row.text;
        Memory memory;
        const auto constants = std::as_bytes(std::span(row.constants));
        memory.banks[2].assign(constants.begin(), constants.end());
        program::Program program;
        program.stage = program::Stage::Compute;
        program.code = row.code;
        const auto lifted = lift(program, {});
        if (!lifted) {
            ADD_FAILURE() << lifted.error().message;
            continue;
        }
        const Outcome outcome = run(*lifted, memory);
        EXPECT_EQ(outcome.error, "") << row.text;
        const u32 result = outcome.registers[row.result_register];
        passed += result == row.expected;
        EXPECT_EQ(result, row.expected) << row.text << std::hex << "\n  got " << result;
    }
    EXPECT_EQ(passed, rows.size());
}

} // namespace
} // namespace heaviside::shader::test
