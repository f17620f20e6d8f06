#version 460
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require
// One level of a block-linear texture to rows, or rows to block-linear, 16 bytes per invocation. The smallest unit of both
// forms that stays together: inside a GOB (64 bytes x 8 rows) 16 bytes of a row are contiguous.
// Invocations: x = 16-byte units of a row, y = rows, z = slices of all layers.
layout(local_size_x = 8, local_size_y = 8) in;
layout(buffer_reference, std430, buffer_reference_align = 16) buffer Units { uvec4 at[]; };
layout(push_constant) uniform Parameters {
    uvec2 tiled; // address of the level in its first layer
    uvec2 rows;  // address
    uint row_units, row_count;
    uint slices;      // per layer
    uint shape;       // bits 0-7 log2 GOBs of a block vertically, 8-15 in depth, 16: rows to block-linear
    uint gobs_x;      // GOBs in a stored row
    uint pitch;       // units from row to row
    uint layer_units; // units from layer to layer of the texture
    uint layer_rows;  // rows from slice to slice of the result, at least row_count
} p;

void main() {
    const uvec3 at = gl_GlobalInvocationID;
    if (at.x >= p.row_units || at.y >= p.row_count)
        return;
    const uint layer = at.z / p.slices, z = at.z % p.slices;
    const uint height = p.shape & 0xffu, depth = (p.shape >> 8) & 0xffu;
    const uint gob_row = at.y >> 3;
    const uint blocks_y = (((p.row_count + 7u) >> 3) + (1u << height) - 1u) >> height;
    // A block is one GOB wide, 2^height GOBs high and 2^depth slices deep; a GOB has 32 units.
    const uint block = ((z >> depth) * blocks_y + (gob_row >> height)) * p.gobs_x + (at.x >> 2);
    const uint gob = (block << (height + depth)) + ((z & ((1u << depth) - 1u)) << height) +
                     (gob_row & ((1u << height) - 1u));
    // Bytes inside a GOB: (x % 64) / 32 * 256 + (y % 8) / 2 * 64 + (x % 32) / 16 * 32 + y % 2 * 16 + x % 16.
    const uint inside = ((at.x & 2u) << 3) | ((at.y & 6u) << 1) | ((at.x & 1u) << 1) | (at.y & 1u);
    const uint tiled = layer * p.layer_units + gob * 32u + inside;
    const uint row = (at.z * p.layer_rows + at.y) * p.pitch + at.x;
    if ((p.shape & 0x10000u) == 0u)
        Units(p.rows).at[row] = Units(p.tiled).at[tiled];
    else
        Units(p.tiled).at[tiled] = Units(p.rows).at[row];
}
