#version 460
#extension GL_GOOGLE_include_directive : require
#include "interface.glsl"
// Loads and stores through guest addresses as LDG and STG do: looked up in the memory map, by 64-bit halves.
layout(local_size_x = 1) in;
layout(set = 1, binding = 0) uniform Bank { uvec4 words[4096]; } c0;

bool below(uvec2 a, uvec2 b) { return a.y != b.y ? a.y < b.y : a.x < b.x; }
uvec2 add(uvec2 a, uvec2 b) {
    uint carry;
    const uint low = uaddCarry(a.x, b.x, carry);
    return uvec2(low, a.y + b.y + carry);
}
uvec2 sub(uvec2 a, uvec2 b) {
    uint borrow;
    const uint low = usubBorrow(a.x, b.x, borrow);
    return uvec2(low, a.y - b.y - borrow);
}
// The device address of a guest address, 0 outside every range.
uvec2 device_address(uvec2 guest) {
    for (uint i = 0; i < memory_map.count; ++i) {
        const uvec2 start = uvec2(memory_map.words[i * 6], memory_map.words[i * 6 + 1]);
        const uvec2 size = uvec2(memory_map.words[i * 6 + 2], memory_map.words[i * 6 + 3]);
        const uvec2 device = uvec2(memory_map.words[i * 6 + 4], memory_map.words[i * 6 + 5]);
        if (!below(guest, start) && below(sub(guest, start), size))
            return add(device, sub(guest, start));
    }
    return uvec2(0);
}

void main() {
    Words result = Words(root.bank_table);
    const uvec2 inside = device_address(c0.words[0].xy);
    const uvec2 outside = device_address(c0.words[0].zw);
    result.at[0] = Words(inside).at[0];
    Words(inside).at[1] = Words(inside).at[0] + 1u;
    result.at[1] = outside == uvec2(0) ? 0u : Words(outside).at[0];
    result.at[2] = memory_map.count;
}
