// Half precision numbers as the texts of instructions have them.
#pragma once

#include "base/types.h"

#include <optional>

namespace heaviside::maxwell {

[[nodiscard]] double half_value(u32 bits);

// The half that is exactly `value` (any NaN: the quiet one), or nothing if there is none.
[[nodiscard]] std::optional<u32> half_bits(double value);

} // namespace heaviside::maxwell
