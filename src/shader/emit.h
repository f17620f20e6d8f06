// IR to SPIR-V: the last step of translate().
#pragma once

#include "shader/interface.h"
#include "shader/structure.h"

namespace heaviside::shader {

// `ir` is in SSA form, folded and free of dead code. Errors name what SPIR-V cannot say.
[[nodiscard]] Result<Translation> emit_spirv(const ir::Program& ir, const ir::FlowGraph& graph,
                                             const ir::Structure& structure, const program::Program& program,
                                             const VariantKey& key, const Options& options);

} // namespace heaviside::shader
