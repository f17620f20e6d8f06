#version 460
#extension GL_GOOGLE_include_directive : require
#include "interface.glsl"
layout(location = 0) in vec4 position;
layout(location = 1) in vec4 color;
layout(location = 0) out vec4 out_color;
layout(location = 1) out vec4 out_texcoord;
layout(set = 1, binding = 0) uniform Bank { vec4 offset_scale; } c0; // vertex quota starts at 0

void main() {
    gl_Position = vec4(position.xy * c0.offset_scale.zw + c0.offset_scale.xy, position.z, 1.0);
    gl_PointSize = root.point_size;
    out_color = color;
    out_texcoord = vec4(position.xy * 0.5 + 0.5, 0.0, 1.0);
}
