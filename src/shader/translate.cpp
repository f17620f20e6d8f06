#include "shader/cross.h"
#include "shader/emit.h"
#include "shader/interface.h"
#include "shader/lift.h"
#include "shader/passes.h"
#include "shader/passthrough.h"
#include "shader/validate.h"

namespace heaviside::shader {

namespace {

constexpr u32 warp_size = 32;

void optimise(ir::Program& ir, const program::Program& program) {
    ir::fold(ir);
    const bool open_compiler = program.layout == &program::open_compiler_layout;
    if (ir::embed_constants(ir, program.constants_bank, program.constants, open_compiler))
        ir::fold(ir);
    ir::join_wide_sums(ir);
    ir::remove_dead_code(ir);
}

} // namespace

Result<ir::Program> lift_and_optimise(const program::Program& program, const Options& options, const VariantKey& key) {
    Result<ir::Program> lifted = lift(program, options);
    if (!lifted)
        return lifted;
    ir::Program& ir = *lifted;
    if (ir.stage == Stage::Geometry)
        if (const auto header = maxwell::decode_sph(program.header); header && passes_through(ir, *header))
            pass_through(ir, *header, key);
    ir::remove_unreachable(ir);
    ir::make_reducible(ir);
    if (program.stage == Stage::Compute && options.subgroup_size != warp_size)
        ir::meet(ir);
    ir::construct_ssa(ir);
    optimise(ir, program);
    if (options.validate)
        if (Result<void> sound = ir::verify(ir); !sound)
            return tl::unexpected(sound.error());
    return lifted;
}

Result<Translation> translate(const program::Program& program, const VariantKey& key, const Options& options) {
    Result<ir::Program> ir = lift_and_optimise(program, options, key);
    if (!ir)
        return tl::unexpected(ir.error());
    const ir::FlowGraph graph = ir::analyse_flow(*ir);
    Result<ir::Structure> nested = ir::structure(*ir, graph);
    if (!nested)
        return tl::unexpected(nested.error());
    Result<Translation> result = emit_spirv(*ir, graph, *nested, program, key, options);
    if (result && options.validate)
        if (Result<void> valid = validate_spirv(result->spirv); !valid)
            return tl::unexpected(valid.error());
    return result;
}

} // namespace heaviside::shader
