#include "gpu/kernels.h"

#include "gpu/kernels/block_linear.comp.h"
#include "gpu/kernels/widen_indices.comp.h"

#include <algorithm>

namespace heaviside::gpu {

Kernels::Kernels(Queue& queue, ShaderLibrary& shaders)
    : queue_(&queue), widen_indices_(shaders.request(shader::Stage::Compute, widen_indices_comp, "widen_indices")),
      block_linear_(shaders.request(shader::Stage::Compute, block_linear_comp, "block_linear")) {}

Result<BufferSlice> Kernels::widen_indices(Commands& commands, const BufferSlice& source, bool restart) {
    auto target = queue_->arena().allocate((source.size + 1) / 2 * 4, 4);
    if (!target)
        return target;
    const struct { // as in widen_indices.comp
        u64 source, target;
        u32 count, restart;
    } parameters{source.address, target->address, static_cast<u32>(source.size), restart};
    const u32 groups = static_cast<u32>((source.size + 127) / 128); // 64 invocations, two indices each
    if (!commands.run_kernel(Commands::Place::Prologue, *widen_indices_, std::as_bytes(std::span(&parameters, 1)),
                             {groups, 1, 1}))
        return fail("widening indices failed");
    target->size = source.size * 2;
    return target;
}

Result<void> Kernels::convert_level(Commands& commands, Commands::Place place, Direction direction,
                                    const texture::Layout& layout, u32 level_index, const BufferSlice& storage,
                                    const BufferSlice& rows, u32 pitch) {
    if (layout.linear || level_index >= layout.level_count)
        return fail("block-linear conversion: level {} of {}{}", level_index, layout.level_count,
                    layout.linear ? ", linear" : "");
    const texture::Level& level = layout.levels[level_index];
    const u32 slices = std::max(1u, level.depth), layers = std::max(1u, layout.layers);
    const u64 stored = (layers - 1) * layout.layer_stride + level.offset + level.size;
    const u64 needed = u64{pitch} * level.blocks_y * slices * layers;
    if (pitch % 16 || pitch < level.row_bytes || needed > rows.size || stored > storage.size ||
        (storage.address | rows.address | layout.layer_stride) % 16)
        return fail("block-linear conversion: {} bytes of storage and {} of rows {} apart do not hold level {}",
                    storage.size, rows.size, pitch, level_index);
    const struct { // as in block_linear.comp
        u64 tiled, rows;
        u32 row_units, row_count, slices, shape, gobs_x, pitch, layer_units, layer_rows;
    } parameters{storage.address + level.offset,
                 rows.address,
                 (level.row_bytes + 15) / 16,
                 level.blocks_y,
                 slices,
                 u32{level.block_height_log2} | u32{level.block_depth_log2} << 8 |
                     (direction == Direction::ToStorage ? 0x10000u : 0u),
                 level.gobs_x,
                 pitch / 16,
                 static_cast<u32>(layout.layer_stride / 16),
                 level.blocks_y};
    static_assert(sizeof parameters == 48);
    if (!commands.run_kernel(place, *block_linear_, std::as_bytes(std::span(&parameters, 1)),
                             {(parameters.row_units + 7) / 8, (parameters.row_count + 7) / 8, slices * layers}))
        return fail("block-linear conversion: no shader");
    return {};
}

} // namespace heaviside::gpu
