#version 460
// Words 0-3 of the root block, bit by bit, to colour 0.
layout(push_constant) uniform Root {
    uint words[12];
} root;
layout(location = 0) out uvec4 color;

void main() {
    uvec4 bits = uvec4(root.words[0], root.words[1], root.words[2], root.words[3]);
    color = bits;
}
