// The SPIR-V validator (SPIRV-Tools), for Vulkan 1.3.
#pragma once

#include "base/result.h"
#include "base/types.h"

#include <span>

namespace heaviside::shader {

// The error is the validator's first message. Thread safe.
[[nodiscard]] Result<void> validate_spirv(std::span<const u32> words);
// As spirv-dis prints it.
[[nodiscard]] Result<std::string> disassemble_spirv(std::span<const u32> words);

} // namespace heaviside::shader
