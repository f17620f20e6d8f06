#include "gpu/kernels.h"

#include "gpu/kernels/widen_indices.comp.h"

namespace heaviside::gpu {

Kernels::Kernels(Queue& queue, ShaderLibrary& shaders)
    : queue_(&queue), widen_indices_(shaders.request(shader::Stage::Compute, widen_indices_comp, "widen_indices")) {}

Result<BufferSlice> Kernels::widen_indices(Commands& commands, const BufferSlice& source, bool restart) {
    auto target = queue_->arena().allocate((source.size + 1) / 2 * 4, 4);
    if (!target)
        return target;
    const struct { // as in widen_indices.comp
        u64 source, target;
        u32 count, restart;
    } parameters{source.address, target->address, static_cast<u32>(source.size), restart};
    const u32 groups = static_cast<u32>((source.size + 127) / 128); // 64 invocations, two indices each
    if (!commands.prologue_dispatch(*widen_indices_, std::as_bytes(std::span(&parameters, 1)), groups))
        return fail("widening indices failed");
    target->size = source.size * 2;
    return target;
}

} // namespace heaviside::gpu
