// Arithmetic held to results that arithmetic.py works out with integers and fractions of any size: every mnemonic, its
// modifiers, both ends of the ranges.
#include "interpreter/machine.h"
#include "tests/isa/hardware_table.h"

#include <gtest/gtest.h>

#include <map>

using namespace heaviside;
using namespace heaviside::interpreter;

namespace {

std::vector<test::HardwareRow> table() {
    return test::read_hardware_table(HEAVISIDE_SOURCE_DIR "/tests/data/arithmetic.tsv");
}

TEST(Arithmetic, IsExact) {
    std::map<std::string, unsigned> rows_of;
    for (const test::HardwareRow& row : table()) {
        EXPECT_EQ(row.error, "") << row.text;
        Launch launch;
        launch.code = row.code;
        launch.banks[2] = std::as_bytes(std::span(row.constants));
        const auto state = run_thread(launch);
        if (!state) {
            ADD_FAILURE() << row.text << "\n" << state.error().message;
            continue;
        }
        EXPECT_EQ(state->registers[row.result_register], row.expected)
            << std::hex << state->registers[row.result_register] << " instead of " << row.expected << "\n"
            << row.text;
        ++rows_of[row.text.substr(0, row.text.find('\t'))];
    }
    for (const char* const name :
         {"bfe",     "bfi",   "cset",   "csetp", "dadd",  "dfma",   "dmnmx", "dmul",  "dset",     "dsetp",
          "f2f",     "f2i",   "fadd",   "fcmp",  "ffma",  "flo",    "fmnmx", "fmul",  "fset",     "fsetp",
          "fswzadd", "hadd2", "hfma2",  "hmul2", "hset2", "hsetp2", "i2f",   "i2i",   "iadd",     "iadd3",
          "icmp",    "imad",  "imadsp", "imnmx", "imul",  "iscadd", "iset",  "isetp", "lea",      "lop",
          "lop3",    "mov",   "popc",   "prmt",  "pset",  "shf",    "shl",   "shr",   "vabsdiff", "vabsdiff4",
          "vadd",    "vmad",  "vmnmx",  "vset",  "vsetp", "vshl",   "vshr",  "xmad"})
        EXPECT_GE(rows_of[name], 5u) << name;
}

} // namespace
