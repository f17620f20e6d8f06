// Guest addresses that start from what the driver's bank says about a bound buffer.
#pragma once

#include "shader/interface.h"
#include "shader/ir.h"

#include <optional>

namespace heaviside::shader::ir {

// The buffer of window `row` (banks::storage_row, banks::uniform_row) begins at the address in the driver's bank; the
// access is `displacement` plus all of `offsets` bytes behind that. An offset is 64 bits, or a word that counts up.
struct StorageAddress {
    u32 row = 0;
    i64 displacement = 0;
    std::vector<Value> offsets;
};

[[nodiscard]] std::optional<StorageAddress> storage_address(const Program& program, Value address,
                                                            const program::DriverBankLayout& layout);

} // namespace heaviside::shader::ir
