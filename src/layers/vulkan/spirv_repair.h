// What the console's Vulkan driver accepts in a guest's SPIR-V and other drivers do not: mended before the module goes
// further. Pure functions over a module's words.
#pragma once

#include "base/result.h"
#include "base/types.h"

#include <vector>

namespace heaviside::layers::vulkan {

// Copies an ArrayStride that decorates a struct member (where it means nothing) to the member's array type, unless that
// has one already, and drops the member decoration (ledger REN-210). Returns how many members were mended. Errors: the
// words are no SPIR-V module.
[[nodiscard]] Result<unsigned> move_array_strides(std::vector<u32>& module);

// For pipelines that blend with a second source: the fragment output at location 1 becomes location 0, index 1 (ledger
// REN-216). Returns whether there was one. Other pipelines leave it as a second target. Errors as above.
[[nodiscard]] Result<bool> make_dual_source(std::vector<u32>& module);

} // namespace heaviside::layers::vulkan
