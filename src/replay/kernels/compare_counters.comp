#version 460
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require
// The predicate of conditional rendering: are two 64-bit values equal? One invocation.
layout(local_size_x = 1) in;
layout(buffer_reference, std430, buffer_reference_align = 4) buffer Words { uint at[]; };
layout(push_constant) uniform Parameters {
    uvec2 first, second, predicate; // addresses
    uint if_equal;                  // 1: render where they are, 0: where they are not
} p;

void main() {
    const bool equal = Words(p.first).at[0] == Words(p.second).at[0] && Words(p.first).at[1] == Words(p.second).at[1];
    Words(p.predicate).at[0] = equal == (p.if_equal != 0) ? 1u : 0u;
}
