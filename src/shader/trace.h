// Where a handle comes from: the constant-bank words behind it.
#pragma once

#include "shader/ir.h"

namespace heaviside::shader::ir {

struct HandleSource {
    u8 bank = 0;
    u32 offset = 0; // ~0u: not a constant word
    friend bool operator==(const HandleSource&, const HandleSource&) = default;
};

// The texture side of a handle: follows ORs (separate texture and sampler words), masks, selects and phis. Words of
// the layout's separate sampler table are left out.
[[nodiscard]] std::vector<HandleSource> trace_handle(const Program& program, Value handle,
                                                     const program::DriverBankLayout& layout);

// Every thread of a draw or dispatch has the same value: it comes from constants and constant-bank words at constant
// offsets alone.
[[nodiscard]] bool same_for_all(const Program& program, Value value);

} // namespace heaviside::shader::ir
