#version 460
#extension GL_EXT_samplerless_texture_functions : require
// A rectangle of a texture over a rectangle of the target. Words of the root block: 0-3 the target's corner and one over
// its size, 5 texture ID, 6 sampler ID, 7-10 the source's corner and size in texels.
layout(push_constant) uniform Root {
    uint words[12];
} root;
layout(set = 0, binding = 2) uniform texture2D textures[16384];
layout(set = 0, binding = 10) uniform sampler samplers[4096];
layout(location = 0) out vec4 color;

vec2 pair(uint at) {
    return vec2(uintBitsToFloat(root.words[at]), uintBitsToFloat(root.words[at + 1]));
}

void main() {
    vec2 part = (gl_FragCoord.xy - pair(0)) * pair(2);
    vec2 texel = pair(7) + part * pair(9);
    vec2 size = vec2(textureSize(textures[root.words[5]], 0));
    color = texture(sampler2D(textures[root.words[5]], samplers[root.words[6]]), texel / size);
}
