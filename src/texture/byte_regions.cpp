#include "texture/byte_regions.h"

#include <algorithm>

namespace heaviside::texture {
namespace {

struct Span { // [first, last)
    u64 first, last;
};

// Blocks with a byte in a span of a row.
Span blocks_of(const Layout& layout, const Level& level, Span bytes) {
    const u64 size = layout.block_bytes;
    return {bytes.first / size, std::min<u64>(level.blocks_x, (bytes.last + size - 1) / size)};
}

void add(std::vector<BlockRegion>& out, Span x, Span y, Span z) {
    if (x.first < x.last && y.first < y.last && z.first < z.last)
        out.push_back({static_cast<u32>(x.first), static_cast<u32>(y.first), static_cast<u32>(z.first),
                       static_cast<u32>(x.last - x.first), static_cast<u32>(y.last - y.first),
                       static_cast<u32>(z.last - z.first)});
}

void linear_regions(std::vector<BlockRegion>& out, const Layout& layout, const Level& level, u64 from, u64 to) {
    const u64 slice = level.size / level.depth, pitch = layout.pitch;
    for (u64 z = from / slice; z <= (to - 1) / slice && z < level.depth; ++z) {
        const u64 begin = std::max(from, z * slice) - z * slice, end = std::min(to, (z + 1) * slice) - z * slice;
        const Span y{begin / pitch, std::min<u64>(level.blocks_y, (end - 1) / pitch + 1)};
        Span x{0, level.blocks_x};
        if (y.first + 1 == y.last)
            x = blocks_of(layout, level, {begin - y.first * pitch, std::min(end - y.first * pitch, pitch)});
        add(out, x, y, {z, z + 1});
    }
}

} // namespace

std::vector<BlockRegion> regions_of_bytes(const Layout& layout, u32 index, u64 from, u64 to) {
    std::vector<BlockRegion> out;
    const Level& level = layout.levels[index];
    to = std::min(to, level.size);
    if (from >= to)
        return out;
    if (layout.linear) {
        linear_regions(out, layout, level, from, to);
        return out;
    }
    // Blocks are one GOB wide, 2^height GOBs high and 2^depth slices deep, and follow each other in x, y, z.
    const u32 height = level.block_height_log2, depth = level.block_depth_log2;
    const u64 block_bytes = u64{gob_bytes} << (height + depth), across = level.gobs_x;
    const u64 gob_rows = (level.blocks_y + gob_height - 1) / gob_height;
    const u64 high = (gob_rows + (1u << height) - 1) >> height;
    const auto emit = [&](Span block_x, Span gob_y, Span z) {
        add(out, blocks_of(layout, level, {block_x.first * gob_width, block_x.last * gob_width}),
            {gob_y.first * gob_height, std::min<u64>(level.blocks_y, gob_y.last * gob_height)},
            {z.first, std::min<u64>(level.depth, z.last)});
    };
    const u64 first = from / block_bytes, last = (to - 1) / block_bytes;
    if (first == last) {
        const u64 x = first % across, y = first / across % high << height, z = first / across / high << depth;
        const u64 gob = from % block_bytes / gob_bytes, last_gob = (to - 1) % block_bytes / gob_bytes;
        const u64 slice = gob >> height, last_slice = last_gob >> height, mask = (u64{1} << height) - 1;
        if (slice == last_slice)
            emit({x, x + 1}, {y + (gob & mask), y + (last_gob & mask) + 1}, {z + slice, z + slice + 1});
        else
            emit({x, x + 1}, {y, y + mask + 1}, {z + slice, z + last_slice + 1});
        return out;
    }
    for (u64 at = first; at <= last;) {
        const u64 row = at / across, y = row % high, z = row / high << depth;
        const Span slices{z, z + (u64{1} << depth)};
        u64 rows = 1, end = std::min((row + 1) * across, last + 1);
        if (at % across == 0 && end == (row + 1) * across) { // whole rows of blocks go together
            rows = std::min(high - y, (last + 1) / across - row);
            end = (row + rows) * across;
        }
        emit({at % across, (end - 1) % across + 1}, {y << height, (y + rows) << height}, slices);
        at = end;
    }
    return out;
}

ByteRange bytes_of_region(const Layout& layout, u32 index, const BlockRegion& r) {
    if (r.width == 0 || r.height == 0 || r.depth == 0)
        return {};
    const Level& level = layout.levels[index];
    const u64 first_x = u64{r.x} * layout.block_bytes, end_x = u64{r.x + r.width} * layout.block_bytes;
    const u64 last_y = r.y + r.height - 1, last_z = r.z + r.depth - 1;
    if (layout.linear) {
        const u64 slice = level.size / level.depth;
        return {r.z * slice + u64{r.y} * layout.pitch + first_x, last_z * slice + last_y * layout.pitch + end_x};
    }
    const u32 height = level.block_height_log2, depth = level.block_depth_log2;
    const u64 block_bytes = u64{gob_bytes} << (height + depth);
    const u64 gob_rows = (level.blocks_y + gob_height - 1) / gob_height;
    const u64 high = (gob_rows + (1u << height) - 1) >> height;
    const auto block = [&](u64 x, u64 y, u64 z) {
        return ((z >> depth) * high + (y / gob_height >> height)) * level.gobs_x + x / gob_width;
    };
    return {block(first_x, r.y, r.z) * block_bytes, (block(end_x - 1, last_y, last_z) + 1) * block_bytes};
}

} // namespace heaviside::texture
