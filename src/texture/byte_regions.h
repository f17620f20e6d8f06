// Which texels lie in a range of a level's storage, what a write of a few bytes makes out of date; and the way back.
#pragma once

#include "texture/tiling.h"

#include <vector>

namespace heaviside::texture {

// Regions, in blocks of the format, that hold every block with a byte in [from, to), offsets from the level's start.
// Block-linear: exact to the GOB inside one block, to the block else; linear: exact in one row, to the row else.
// Padding gives nothing. Regions do not overlap.
[[nodiscard]] std::vector<BlockRegion> regions_of_bytes(const Layout& layout, u32 level, u64 from, u64 to);

struct ByteRange {
    u64 from = 0, to = 0; // offsets from the level's start
};
// The bytes that hold a region: linear, from its first texel to its last; block-linear, from its first block to its
// last. Nothing else is outside, though not all inside need be the region's.
[[nodiscard]] ByteRange bytes_of_region(const Layout& layout, u32 level, const BlockRegion& region);

} // namespace heaviside::texture
