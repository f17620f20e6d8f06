#version 460
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require
// Each pixel of a picture of RGBA bytes away from its four neighbours. By contrast: less where the neighbourhood uses the
// whole range already. Else by one lobe, held between what is there.
layout(local_size_x = 8, local_size_y = 8) in;
layout(buffer_reference, std430, buffer_reference_align = 4) buffer Texels { uint at[]; };
layout(push_constant) uniform Parameters {
    uvec2 source, target; // addresses of rows without gaps
    uvec2 size;
    float sharpness; // 0 to 1
    uint by_contrast;
} p;

vec4 texel(ivec2 at) {
    at = clamp(at, ivec2(0), ivec2(p.size) - 1);
    return unpackUnorm4x8(Texels(p.source).at[uint(at.y) * p.size.x + uint(at.x)]);
}

void main() {
    const uvec2 at = gl_GlobalInvocationID.xy;
    if (at.x >= p.size.x || at.y >= p.size.y)
        return;
    const ivec2 here = ivec2(at);
    const vec4 c = texel(here), n = texel(here - ivec2(0, 1)), s = texel(here + ivec2(0, 1)),
               w = texel(here - ivec2(1, 0)), e = texel(here + ivec2(1, 0));
    const vec4 low = min(c, min(min(n, s), min(w, e))), high = max(c, max(max(n, s), max(w, e)));
    vec4 lobe;
    if (p.by_contrast != 0u)
        lobe = -0.2 * p.sharpness * sqrt(clamp(min(low, 1.0 - high) / max(high, vec4(1e-4)), 0.0, 1.0));
    else
        lobe = vec4(-0.1875 * p.sharpness);
    vec4 result = (c + lobe * (n + s + w + e)) / (1.0 + 4.0 * lobe);
    result = p.by_contrast != 0u ? clamp(result, 0.0, 1.0) : clamp(result, low, high);
    result.a = c.a;
    Texels(p.target).at[at.y * p.size.x + at.x] = packUnorm4x8(result);
}
