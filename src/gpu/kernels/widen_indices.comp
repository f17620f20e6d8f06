#version 460
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require
// 8-bit indices to 16-bit ones, two per invocation: for devices without index_type_uint8.
// Push constants are those of every kernel: RootConstants' 48 bytes as words, here {source, target, count, restart}.
layout(local_size_x = 64) in;
layout(buffer_reference, std430, buffer_reference_align = 4) buffer Words { uint at[]; };
layout(push_constant) uniform Parameters {
    uvec2 source; // address of the first index, any alignment
    uvec2 target; // address, multiple of 4
    uint count;   // indices
    uint restart; // 1: 0xff becomes 0xffff
} p;

// The byte `n` after an address, read through aligned words: the guest's index ranges start anywhere.
uint byte_at(uint n) {
    const uint misaligned = (p.source.x & 3u) + n;
    const uvec2 base = uvec2(p.source.x & ~3u, p.source.y);
    return (Words(base).at[misaligned >> 2] >> ((misaligned & 3u) * 8u)) & 0xffu;
}

uint widened(uint n) {
    if (n >= p.count)
        return 0u;
    const uint index = byte_at(n);
    return p.restart != 0u && index == 0xffu ? 0xffffu : index;
}

void main() {
    const uint pair = gl_GlobalInvocationID.x;
    if (pair * 2u < p.count)
        Words(p.target).at[pair] = widened(pair * 2u) | (widened(pair * 2u + 1u) << 16);
}
