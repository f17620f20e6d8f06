// Every row of the hardware table whose instructions are built must match; the others are counted by what they lack.
#include "interpreter/machine.h"
#include "tests/isa/hardware_table.h"

#include <gtest/gtest.h>

#include <map>

using namespace heaviside;
using namespace heaviside::interpreter;

namespace {

TEST(Hardware, EveryBuiltRowMatches) {
    const auto rows = test::read_hardware_table(HEAVISIDE_SOURCE_DIR "/../shared/isa/hardware.tsv");
    if (rows.empty())
        GTEST_SKIP() << "shared/isa/hardware.tsv is not beside the checkout";
    std::map<std::string, unsigned> lacking;
    unsigned matched = 0;
    for (const test::HardwareRow& row : rows) {
        ASSERT_EQ(row.error, "") << row.text;
        Launch launch;
        launch.code = row.code;
        launch.banks[2] = std::as_bytes(std::span(row.constants));
        const auto state = run_thread(launch);
        if (!state) {
            const std::string& message = state.error().message;
            ASSERT_NE(message.find("not built"), std::string::npos) << row.text << "\n" << message;
            ++lacking[message.substr(message.find(": ") + 2)];
            continue;
        }
        EXPECT_EQ(state->registers[row.result_register], row.expected)
            << std::hex << state->registers[row.result_register] << " instead of " << row.expected << "\n"
            << row.text;
        ++matched;
    }
    unsigned not_built = 0;
    for (const auto& [what, count] : lacking)
        not_built += count;
    std::printf("  %u rows match, %u need instructions that are not built yet\n", matched, not_built);
    EXPECT_GE(matched, 219u);
}

} // namespace
