// The house's own compute programs, for what a device lacks or the CPU should not do.
#pragma once

#include "gpu/commands.h"

namespace heaviside::gpu {

class Kernels {
public:
    // Starts making the shaders. References must outlive this.
    Kernels(Queue& queue, ShaderLibrary& shaders);

    // 8-bit indices as 16-bit ones in arena memory, for devices without index_type_uint8. Works on the prologue: a draw
    // of the pass that is open may use the result, but `source` must not be written in this submission. `source` is
    // read in whole aligned words, so its buffer goes on to the next multiple of four bytes. With `restart`, 0xff is
    // 0xffff.
    [[nodiscard]] Result<BufferSlice> widen_indices(Commands& commands, const BufferSlice& source, bool restart);

private:
    Queue* queue_;
    Shader* widen_indices_;
};

} // namespace heaviside::gpu
