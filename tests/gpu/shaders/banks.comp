#version 460
#extension GL_GOOGLE_include_directive : require
#include "interface.glsl"
layout(local_size_x = 1) in;
layout(set = 1, binding = 3) uniform Bank3 { uvec4 words[4096]; } c3;
layout(set = 1, binding = 17) uniform Bank17 { uvec4 words[4096]; } c17;
layout(set = 1, binding = 5) uniform Bank5 { uvec4 words[4096]; } c5;

void main() {
    Words result = Words(root.bank_table);
    result.at[0] = c3.words[0].x;
    result.at[1] = c3.words[1].y;     // the last vector inside a range of 32 bytes
    result.at[2] = c3.words[2].x;     // just past it
    result.at[3] = c3.words[4095].w;  // far past it
    result.at[4] = c17.words[0].x;
    result.at[5] = c5.words[0].x;     // never bound
    result.at[6] = root.workgroups_x;
}
