#include "texture/layout.h"

#include "base/bytes.h"

#include <algorithm>
#include <bit>

namespace heaviside::texture {
namespace {

constexpr u32 max_size = 16384;
constexpr u32 max_layers = 2048;

u32 divide_up(u32 value, u32 by) {
    return (value + by - 1) / by;
}

bool is_array_of_rows(Target t) {
    return t == Target::D1 || t == Target::D1Array || t == Target::Buffer;
}

// Samples of a pixel are stored side by side: 2x1, 2x2, 4x2, 4x4.
struct SampleGrid {
    u32 x, y;
};
SampleGrid sample_grid(u32 samples) {
    switch (samples) {
    case 2:
        return {2, 1};
    case 4:
        return {2, 2};
    case 8:
        return {4, 2};
    case 16:
        return {4, 4};
    default:
        return {1, 1};
    }
}

// Smaller levels take smaller blocks: halved while half of it still covers the extent (in units of one GOB).
u8 shrink(u8 log2, u32 units) {
    while (log2 > 0 && units <= (1u << (log2 - 1)))
        --log2;
    return log2;
}

u8 floor_log2(u32 value) {
    return static_cast<u8>(value ? std::bit_width(value) - 1 : 0);
}

struct Block {
    u8 height_log2 = 0, depth_log2 = 0;
};

// Tile of the standard sparse shape, in GOBs.
struct SparseTile {
    u32 width, height, depth;
};
SparseTile sparse_tile(u32 block_bytes, bool volume) {
    const u8 size = floor_log2(std::max(1u, block_bytes));
    constexpr SparseTile flat[] = {{4, 32, 1}, {8, 16, 1}, {8, 16, 1}, {16, 8, 1}, {16, 8, 1}};
    constexpr SparseTile deep[] = {{1, 4, 32}, {1, 4, 32}, {2, 4, 16}, {4, 2, 16}, {4, 2, 16}};
    return volume ? deep[std::min<u8>(size, 4)] : flat[std::min<u8>(size, 4)];
}

struct Shape { // what does not change between the automatic and the minimal block size
    const FormatInfo* format;
    const Description* description;
    u32 layers, levels;
    SampleGrid grid;
    bool volume;
    bool sparse = false;
    SparseTile tile{};
};

void set_extent(const Shape& s, u32 index, Level& level) {
    const Description& d = *s.description;
    const auto mip = [index](u32 size) { return std::max(1u, size >> index); };
    level.width = mip(d.width);
    level.height = is_array_of_rows(d.target) ? 1 : mip(std::max(1u, d.height));
    level.depth = s.volume ? mip(std::max(1u, d.depth)) : 1;
    level.blocks_x = divide_up(level.width * s.grid.x, s.format->block_width);
    level.blocks_y = divide_up(level.height * s.grid.y, s.format->block_height);
    level.row_bytes = level.blocks_x * s.format->block_bytes;
}

// Lays the levels of one layer out with `block` as level 0's block.
void place_levels(const Shape& s, Block block, Layout& out) {
    u64 offset = 0;
    out.tiled_levels = 0;
    bool tail = !s.sparse;
    for (u32 i = 0; i < s.levels; ++i) {
        Level& level = out.levels[i];
        set_extent(s, i, level);
        const u32 rows = divide_up(level.blocks_y, gob_height);
        level.gobs_x = divide_up(level.row_bytes, gob_width);
        // A texture of one level keeps the block it was given; in a chain every level is fitted.
        const bool keep = i == 0 && s.levels == 1;
        level.block_height_log2 = keep ? block.height_log2 : shrink(block.height_log2, rows);
        level.block_depth_log2 = keep ? block.depth_log2 : shrink(block.depth_log2, level.depth);
        if (!tail) {
            const bool whole = level.gobs_x >= s.tile.width && level.blocks_y >= s.tile.height * gob_height &&
                               level.depth >= s.tile.depth;
            if (whole) {
                const u32 tile_width = std::max(1u, 128u >> (block.height_log2 + block.depth_log2));
                level.gobs_x = align_up(level.gobs_x, tile_width);
                level.block_height_log2 = block.height_log2;
                level.block_depth_log2 = block.depth_log2;
                ++out.tiled_levels;
            } else {
                tail = true;
            }
        }
        const u64 high = align_up(rows, 1u << level.block_height_log2);
        const u64 deep = align_up(level.depth, 1u << level.block_depth_log2);
        level.offset = offset;
        level.size = u64{level.gobs_x} * high * deep * gob_bytes;
        offset += level.size;
    }
    const Level& first = out.levels[0];
    const u64 block_bytes = u64{gob_bytes} << (first.block_height_log2 + first.block_depth_log2);
    out.layer_stride = s.sparse       ? align_up(offset, u64{sparse_tile_bytes})
                       : s.layers > 1 ? align_up(offset, block_bytes)
                                      : offset;
}

Block automatic_block(const Shape& s, const Level& first) {
    Block block{automatic_block_height_log2(first.blocks_y), 0};
    if (s.volume) // the same 1.5 margin as the height's rule
        block.depth_log2 = std::min<u8>(5, floor_log2(first.depth * 3 / 2));
    return block;
}

void place_block_linear(Shape& s, Layout& out) {
    const Description& d = *s.description;
    set_extent(s, 0, out.levels[0]);
    const Level& first = out.levels[0];
    Block block = automatic_block(s, first);
    if (d.flags & flags::sparse) {
        s.sparse = true;
        s.tile = sparse_tile(s.format->block_bytes, s.volume);
        out.alignment = sparse_tile_bytes;
        const bool fills_tile = divide_up(first.row_bytes, gob_width) >= s.tile.width &&
                                first.blocks_y >= s.tile.height * gob_height && first.depth >= s.tile.depth;
        if (fills_tile)
            block = {floor_log2(s.tile.height), floor_log2(s.tile.depth)};
    }
    if (d.packaged) {
        block.height_log2 = static_cast<u8>(std::min(*d.packaged & 15, 5));
        block.depth_log2 = static_cast<u8>(s.volume ? std::min((*d.packaged >> 4) & 15, 5) : 0);
    }
    place_levels(s, block, out);
    if ((d.flags & flags::minimal_layout) && !d.packaged && !s.sparse) {
        // The automatic block stays only where it costs no storage.
        Layout minimal = out;
        place_levels(s, Block{}, minimal);
        if (out.layer_stride > minimal.layer_stride)
            out = minimal;
    }
}

Result<Layout> check(const Description& d) {
    if (!is_valid(d.format))
        return fail("texture format {:#x} does not exist", static_cast<u32>(d.format));
    if (static_cast<u32>(d.target) >= target_count)
        return fail("texture target {} does not exist", static_cast<u32>(d.target));
    if (d.width == 0)
        return fail("texture of width 0");
    if (d.target == Target::Buffer)
        return Layout{};
    const bool rows_are_layers = d.target == Target::D1Array;
    if (d.width > max_size || (!rows_are_layers && d.height > max_size) ||
        (d.target == Target::D3 && (d.depth > max_layers || d.width > max_layers || d.height > max_layers)))
        return fail("texture of {} x {} x {} is larger than NVN allows", d.width, d.height, d.depth);
    if (layer_count(d) > max_layers)
        return fail("texture of {} layers, NVN allows {}", layer_count(d), max_layers);
    if (d.samples > 16 || (d.samples != 0 && !std::has_single_bit(d.samples)))
        return fail("texture of {} samples", d.samples);
    if (d.levels > max_levels)
        return fail("texture of {} levels, NVN allows {}", d.levels, max_levels);
    return Layout{};
}

} // namespace

u32 layer_count(const Description& d) {
    switch (d.target) {
    case Target::D1Array:
        return std::max(1u, d.height);
    case Target::D2Array:
    case Target::D2MultisampleArray:
    case Target::CubeArray:
        return std::max(1u, d.depth);
    case Target::Cube:
        return 6;
    default:
        return 1;
    }
}

u32 full_level_count(const Description& d) {
    u32 largest = std::max(1u, d.width);
    if (!is_array_of_rows(d.target))
        largest = std::max(largest, d.height);
    if (d.target == Target::D3)
        largest = std::max(largest, d.depth);
    return d.samples > 1 ? 1 : static_cast<u32>(std::bit_width(largest));
}

u8 automatic_block_height_log2(u32 block_rows) {
    // height * 1.5 / 8 truncated; rounding up picks other blocks for 6-10, 17-21, 38-42 and 81-85 rows.
    return std::min<u8>(4, floor_log2(block_rows * 3 / 16));
}

TileShape sparse_tile_shape(Format format, Target target) {
    const FormatInfo& f = info(format);
    if (f.block_bytes == 0)
        return {};
    const SparseTile tile = sparse_tile(f.block_bytes, target == Target::D3);
    const u32 bytes = std::bit_floor(u32{f.block_bytes});
    return {tile.width * gob_width / bytes * f.block_width, tile.height * gob_height * f.block_height, tile.depth};
}

Result<Layout> layout(const Description& d) {
    if (auto valid = check(d); !valid)
        return valid;
    Layout out;
    Shape s{.format = &info(d.format),
            .description = &d,
            .layers = layer_count(d),
            .levels = std::max(1u, d.levels),
            .grid = sample_grid(d.samples),
            .volume = d.target == Target::D3};
    out.block_bytes = s.format->block_bytes;
    out.layers = s.layers;
    out.level_count = s.levels;
    if (d.target == Target::Buffer) {
        set_extent(s, 0, out.levels[0]);
        out.linear = true;
        out.pitch = out.levels[0].row_bytes;
        out.level_count = 1;
        out.alignment = 32;
        out.layer_stride = out.levels[0].size = out.size = u64{d.width} * s.format->block_bytes;
        return out;
    }
    if (d.flags & flags::any_linear) {
        set_extent(s, 0, out.levels[0]);
        Level& level = out.levels[0];
        const u32 alignment = d.flags & flags::linear_render_target ? 128 : 32;
        out.linear = true;
        out.level_count = 1;
        out.alignment = alignment;
        out.pitch = d.stride ? d.stride : align_up(level.row_bytes, alignment);
        // Stride times pixel rows even where a row of blocks is several pixels high; samples have rows of their own.
        level.size = u64{out.pitch} * level.height * s.grid.y * level.depth;
        out.layer_stride = level.size;
        out.size = level.size * s.layers;
        return out;
    }
    place_block_linear(s, out);
    out.size = out.layer_stride * s.layers;
    return out;
}

} // namespace heaviside::texture
