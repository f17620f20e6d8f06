#version 460
#extension GL_GOOGLE_include_directive : require
#include "interface.glsl"
layout(location = 0) in vec4 in_color;
layout(location = 1) in vec4 in_texcoord;
layout(location = 0) out vec4 target;
layout(set = 1, binding = 10) uniform Bank { uvec4 words[4096]; } c0; // fragment quota starts at 10

void main() {
    const uint handle = c0.words[0].x;
    const vec4 texel = texture(sampler2D(textures_2d[nonuniformEXT(min(handle & 0xfffffu, 16383u))],
                                         samplers[nonuniformEXT(handle >> 20)]), in_texcoord.xy);
    target = in_color * texel;
}
