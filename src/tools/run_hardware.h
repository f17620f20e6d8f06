// Tables of results measured on the console's chip: a line is {group, words of c[2], instructions, register, result},
// separated by tabs.
#pragma once

#include "base/result.h"
#include "base/types.h"

#include <string>
#include <string_view>
#include <vector>

namespace heaviside::tools {

struct HardwareResult {
    std::size_t line = 0; // from 1
    std::string text;     // the instructions
    bool passed = false;
    std::string difference; // empty if it passed
};

// Runs all rows of a table; comments (#) and empty lines are none. A row that cannot be read has failed.
[[nodiscard]] std::vector<HardwareResult> run_hardware_table(std::string_view table);

} // namespace heaviside::tools
