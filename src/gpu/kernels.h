// The house's own compute programs, for what a device lacks or the CPU should not do.
#pragma once

#include "gpu/commands.h"
#include "texture/layout.h"

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

    // One level of a block-linear texture, all its layers, between storage and rows: at PCIe speed straight from
    // imported guest memory. Rows are `pitch` bytes apart (a multiple of 16, at least the level's row_bytes) and slices
    // and layers pitch * blocks_y. `storage` begins at the texture's first byte; both begin at multiples of 16.
    // Barriers around a kernel that runs Here are the caller's. To storage: up to 15 bytes of padding behind a row are
    // written too.
    enum class Direction : u8 { ToRows, ToStorage };
    [[nodiscard]] Result<void> convert_level(Commands& commands, Commands::Place place, Direction direction,
                                             const texture::Layout& layout, u32 level, const BufferSlice& storage,
                                             const BufferSlice& rows, u32 pitch);

private:
    Queue* queue_;
    Shader *widen_indices_, *block_linear_;
};

} // namespace heaviside::gpu
