// Between block-linear storage and rows: whole levels and regions, both directions, on the CPU.
#pragma once

#include "base/bytes.h"
#include "base/result.h"
#include "texture/layout.h"

#include <span>

namespace heaviside::texture {

// How the 16-byte pieces of a GOB are ordered.
enum class GobOrder : u8 { TegraX1, Switch2 };

using MutableBytes = std::span<std::byte>;

// Part of a level, in blocks of its format (texels if not compressed); z counts depth slices.
struct BlockRegion {
    u32 x = 0, y = 0, z = 0;
    u32 width = 0, height = 0, depth = 1;
};

// Rows of blocks in plain order.
struct LinearPitch {
    u64 row = 0;   // bytes from one row of blocks to the next
    u64 slice = 0; // bytes from one depth slice or layer to the next
};

// Byte offset, from the level's start, of byte `x` of block row `y` in slice `z`.
[[nodiscard]] u64 tiled_offset(const Level& level, GobOrder order, u32 x, u32 y, u32 z);

// The whole level as a region, and rows without gaps.
[[nodiscard]] BlockRegion whole(const Level& level);
[[nodiscard]] LinearPitch packed(const Layout& layout, const BlockRegion& region);
// Bytes that `region` spans in rows of `pitch`.
[[nodiscard]] u64 linear_size(const Layout& layout, const BlockRegion& region, const LinearPitch& pitch);

// Copies a region of (layer, level) of a texture between its storage, block-linear or linear, and rows. `storage`
// begins at the texture's first byte; texels that it does not hold are an error, as are regions outside the level and
// rows that `rows` does not hold: then nothing is copied. Storage bytes outside the region are not touched. Any thread.
[[nodiscard]] Result<void> read_region(const Layout& layout, u32 layer, u32 level, const BlockRegion& region,
                                       Bytes storage, MutableBytes rows, const LinearPitch& pitch,
                                       GobOrder order = GobOrder::TegraX1);
[[nodiscard]] Result<void> write_region(const Layout& layout, u32 layer, u32 level, const BlockRegion& region,
                                        MutableBytes storage, Bytes rows, const LinearPitch& pitch,
                                        GobOrder order = GobOrder::TegraX1);

} // namespace heaviside::texture
