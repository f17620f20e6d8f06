// Folders of the kernel corpus (a kernel with inputs and known results): run and compared.
#pragma once

#include "base/result.h"
#include "base/types.h"

#include <filesystem>
#include <string>
#include <vector>

namespace heaviside::tools {

struct VariantResult {
    std::string variant; // "O0", "O1", "O3"
    bool passed = false;
    std::string difference; // what went wrong; empty if it passed
};

// Runs every variant of the folder that holds `case.json`. An error means that the folder itself is at fault.
// `only`: just the variant of that name.
[[nodiscard]] Result<std::vector<VariantResult>> run_case(const std::filesystem::path& folder, u64 step_limit,
                                                          const std::string& only = {});

} // namespace heaviside::tools
