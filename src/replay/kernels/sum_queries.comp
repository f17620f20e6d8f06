#version 460
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require
// Adds the results of queries, `fields` 64-bit values each, to totals. Invocations: x = fields.
layout(local_size_x = 16) in;
layout(buffer_reference, std430, buffer_reference_align = 8) buffer Values { uvec2 at[]; };
layout(push_constant) uniform Parameters {
    uvec2 results, totals; // addresses
    uint count, fields;
} p;

void main() {
    const uint field = gl_GlobalInvocationID.x;
    if (field >= p.fields)
        return;
    uvec2 sum = Values(p.totals).at[field];
    for (uint i = 0; i < p.count; ++i) {
        const uvec2 value = Values(p.results).at[i * p.fields + field];
        uint carry;
        sum.x = uaddCarry(sum.x, value.x, carry);
        sum.y += value.y + carry;
    }
    Values(p.totals).at[field] = sum;
}
