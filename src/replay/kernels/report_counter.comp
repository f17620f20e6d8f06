#version 460
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require
// A counter report: the sum of those totals whose bits are set since the counter's base, then the time in the console's
// ticks; or a new base. One invocation.
layout(local_size_x = 1) in;
layout(buffer_reference, std430, buffer_reference_align = 8) buffer Values { uvec2 at[]; };
layout(buffer_reference, std430, buffer_reference_align = 4) buffer Words { uint at[]; };
layout(push_constant) uniform Parameters {
    uvec2 memory; // address: 64 totals, 32 bases, the time in the device's ticks
    uvec2 report; // address; 0: a new base
    uvec2 mask;
    uvec2 scale;  // console ticks per device tick: fraction, whole
    uvec2 offset; // console ticks when the device's are 0
    uint counter;
} p;
const uint bases = 64, time_entry = 96;

void add(inout uvec2 sum, uvec2 value) {
    uint carry;
    sum.x = uaddCarry(sum.x, value.x, carry);
    sum.y += value.y + carry;
}

uvec2 product(uint a, uint b) {
    uvec2 result;
    umulExtended(a, b, result.y, result.x);
    return result;
}

void main() {
    uvec2 count = uvec2(0);
    for (uint i = 0; i < 64; ++i)
        if ((p.mask[i >> 5] >> (i & 31u) & 1u) != 0)
            add(count, Values(p.memory).at[i]);
    if (p.report == uvec2(0)) {
        Values(p.memory).at[bases + p.counter] = count;
        return;
    }
    const uvec2 base = Values(p.memory).at[bases + p.counter];
    uint borrow;
    count.x = usubBorrow(count.x, base.x, borrow);
    count.y -= base.y + borrow;
    const uvec2 time = Values(p.memory).at[time_entry];
    uvec2 ticks = p.offset;
    add(ticks, uvec2(product(time.x, p.scale.x).y, 0));
    add(ticks, product(time.y, p.scale.x));
    add(ticks, product(time.x, p.scale.y));
    ticks.y += time.y * p.scale.y;
    Words(p.report).at[0] = count.x;
    Words(p.report).at[1] = count.y;
    Words(p.report).at[2] = ticks.x;
    Words(p.report).at[3] = ticks.y;
}
