// Other text forms of a translation, for people and for Metal; and the reflection as JSON.
#pragma once

#include "shader/interface.h"
#include "shader/ir.h"

#include <span>
#include <string>

namespace heaviside::shader {

// GLSL 4.60 for Vulkan. Errors are SPIRV-Cross's. Thread safe.
[[nodiscard]] Result<std::string> to_glsl(std::span<const u32> spirv);
// Metal Shading Language with argument buffers (tier 2). What Metal cannot express is an error that names it.
[[nodiscard]] Result<std::string> to_msl(std::span<const u32> spirv);
// Of what language version: 3.1 where images are changed atomically, else 2.4. As 10000 * major + 100 * minor.
[[nodiscard]] u32 msl_version(std::span<const u32> spirv);
[[nodiscard]] std::string reflection_json(const Reflection& reflection);

// The IR just before emission, for print() in ir_text.h.
[[nodiscard]] Result<ir::Program> lift_and_optimise(const program::Program& program, const Options& options,
                                                    const VariantKey& key = {});

} // namespace heaviside::shader
