#version 460
#extension GL_GOOGLE_include_directive : require
#include "interface.glsl"
layout(location = 0) in vec4 in_color;
layout(location = 0) out vec4 target;
layout(set = 1, binding = 10) uniform Bank { uvec4 words[4096]; } c0;
// Reads its own pixel of the target it writes.
void main() {
    target = in_color + texelFetch(textures_2d[nonuniformEXT(c0.words[0].x & 0xfffffu)], ivec2(gl_FragCoord.xy), 0);
}
