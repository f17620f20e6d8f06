#version 460
// Covers the viewport with one triangle at the depth in word 4 of the root block.
layout(push_constant) uniform Root {
    uint words[12];
} root;

void main() {
    vec2 corner = vec2(gl_VertexIndex == 1 ? 3.0 : -1.0, gl_VertexIndex == 2 ? 3.0 : -1.0);
    gl_Position = vec4(corner, uintBitsToFloat(root.words[4]), 1.0);
}
