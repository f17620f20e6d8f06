// Where the addresses of memory instructions lead.
#pragma once

#include "interpreter/warp.h"

namespace heaviside::interpreter {

enum class Space : u8 { Global, Shared, Local };

// The bytes that a lane reaches through [reg + offset], `size` of them. Null and a fault if they lie outside memory or
// are not aligned to their size. Global addresses inside a window are shared or local ones.
[[nodiscard]] std::byte* locate(Warp& warp, Space space, const Operand& address, unsigned lane, u32 size);

} // namespace heaviside::interpreter
