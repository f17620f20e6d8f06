#version 460
#extension GL_GOOGLE_include_directive : require
#include "interface.glsl"
// Handles come from c[0] as a guest's do: texture ID in bits 0-19, sampler ID in bits 20-31.
layout(local_size_x = 1) in;
layout(set = 1, binding = 0) uniform Bank { uvec4 words[4096]; } c0;

void main() {
    Vectors result = Vectors(root.bank_table);
    const uint handle = c0.words[0].x;
    const uint id = min(handle & 0xfffffu, 16383u);
    const uint sampler_id = handle >> 20;
    result.at[0] = textureLod(sampler2D(textures_2d[nonuniformEXT(id)], samplers[nonuniformEXT(sampler_id)]),
                              vec2(0.25, 0.25), 0.0);
    result.at[1] = textureLod(sampler2D(textures_2d[nonuniformEXT(id)], samplers[nonuniformEXT(sampler_id)]),
                              vec2(0.5, 0.5), 0.0);
    const uint uint_id = min(c0.words[0].y & 0xfffffu, 16383u);
    result.at[2] = vec4(texelFetch(uint_textures_2d[nonuniformEXT(uint_id)], ivec2(0), 0));
    const uint absent = min(c0.words[0].z & 0xfffffu, 16383u);
    result.at[3] = texelFetch(textures_2d[nonuniformEXT(absent)], ivec2(0), 0) + vec4(1.0);
    const uint texel_id = min(c0.words[0].w & 0xfffffu, 16383u);
    result.at[4] = texelFetch(texel_buffers[nonuniformEXT(texel_id)], 1);
    const uint image_id = c0.words[1].x;
    imageStore(images_2d[nonuniformEXT(image_id)], ivec2(1, 0), vec4(0.0, 1.0, 0.0, 1.0));
    result.at[5] = vec4(imageLoad(raw_images_2d[nonuniformEXT(image_id)], ivec2(0, 0)));
    result.at[6] = vec4(memory_map.count);
    // Past the bank's bound range, and a bank that is not bound.
    result.at[7] = uintBitsToFloat(c0.words[2]);
    result.at[8] = uintBitsToFloat(c0.words[4095]);
}
