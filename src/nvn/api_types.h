// The public API as its implementation sees it: types without the client's wrappers, and booleans that cannot be
// misread.
#pragma once

#define NVN_NO_WRAPPERS
#include <nvn/nvn.h>

#include "base/types.h"

namespace heaviside::nvn {

// An NVNboolean parameter as it arrives: a whole register of which the caller has set the low 8 bits (ledger GFX-029).
enum class BooleanArgument : u32 {};
[[nodiscard]] constexpr bool is_true(BooleanArgument b) {
    return (static_cast<u32>(b) & 0xff) != 0;
}
[[nodiscard]] constexpr NVNboolean boolean(bool value) {
    return value ? NVN_TRUE : NVN_FALSE;
}

} // namespace heaviside::nvn
