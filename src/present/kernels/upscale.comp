#version 460
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require
// A picture of RGBA bytes made larger. By edges: a Lanczos kernel of radius two that is drawn out along the edge which the
// gradients around the pixel say, held between the four nearest texels so that nothing rings. Else Catmull-Rom.
layout(local_size_x = 8, local_size_y = 8) in;
layout(buffer_reference, std430, buffer_reference_align = 4) buffer Texels { uint at[]; };
layout(push_constant) uniform Parameters {
    uvec2 source, target; // addresses of rows without gaps
    uvec2 source_size, target_size;
    uint by_edges;
} p;

vec4 texel(ivec2 at) {
    at = clamp(at, ivec2(0), ivec2(p.source_size) - 1);
    return unpackUnorm4x8(Texels(p.source).at[uint(at.y) * p.source_size.x + uint(at.x)]);
}
float luma(vec4 color) {
    return dot(color.rgb, vec3(0.299, 0.587, 0.114));
}

// sinc(r) sinc(r / 2) below 2.
float lanczos(float r) {
    if (r < 1e-4)
        return 1.0;
    if (r >= 2.0)
        return 0.0;
    const float x = 3.14159265 * r;
    return 2.0 * sin(x) * sin(x * 0.5) / (x * x);
}
vec4 catmull_rom(float t) {
    return vec4(((-0.5 * t + 1.0) * t - 0.5) * t, (1.5 * t - 2.5) * t * t + 1.0, ((-1.5 * t + 2.0) * t + 0.5) * t,
                (0.5 * t - 0.5) * t * t);
}

void main() {
    const uvec2 at = gl_GlobalInvocationID.xy;
    if (at.x >= p.target_size.x || at.y >= p.target_size.y)
        return;
    const vec2 place = (vec2(at) + 0.5) * vec2(p.source_size) / vec2(p.target_size) - 0.5;
    const ivec2 base = ivec2(floor(place));
    const vec2 f = place - vec2(base);
    vec4 c[4][4]; // [y][x]
    for (int y = 0; y < 4; ++y)
        for (int x = 0; x < 4; ++x)
            c[y][x] = texel(base + ivec2(x, y) - 1);
    vec4 sum = vec4(0.0);
    if (p.by_edges == 0u) {
        const vec4 wx = catmull_rom(f.x), wy = catmull_rom(f.y);
        for (int y = 0; y < 4; ++y)
            for (int x = 0; x < 4; ++x)
                sum += c[y][x] * wx[x] * wy[y];
    } else {
        float xx = 0.0, xy = 0.0, yy = 0.0; // the structure tensor
        for (int y = 1; y < 3; ++y)
            for (int x = 1; x < 3; ++x) {
                const vec2 g = vec2(luma(c[y][x + 1]) - luma(c[y][x - 1]), luma(c[y + 1][x]) - luma(c[y - 1][x]));
                const float w = (x == 1 ? 1.0 - f.x : f.x) * (y == 1 ? 1.0 - f.y : f.y);
                xx += w * g.x * g.x;
                xy += w * g.x * g.y;
                yy += w * g.y * g.y;
            }
        const float trace = xx + yy, difference = sqrt((xx - yy) * (xx - yy) + 4.0 * xy * xy);
        const float coherence = trace > 1e-5 ? difference / trace : 0.0;
        const float angle = 0.5 * atan(2.0 * xy, xx - yy + (difference > 0.0 ? 0.0 : 1.0)); // of the gradient
        const vec2 across = vec2(cos(angle), sin(angle));
        const float along = 1.0 - 0.5 * coherence; // the kernel reaches twice as far
        float weights = 0.0;
        for (int y = 0; y < 4; ++y)
            for (int x = 0; x < 4; ++x) {
                const vec2 d = vec2(x - 1, y - 1) - f;
                const vec2 turned = vec2(dot(d, across), along * dot(d, vec2(-across.y, across.x)));
                const float w = lanczos(length(turned));
                sum += w * c[y][x];
                weights += w;
            }
        sum /= weights;
        const vec4 low = min(min(c[1][1], c[1][2]), min(c[2][1], c[2][2]));
        const vec4 high = max(max(c[1][1], c[1][2]), max(c[2][1], c[2][2]));
        sum = clamp(sum, low, high);
    }
    Texels(p.target).at[at.y * p.target_size.x + at.x] = packUnorm4x8(sum);
}
