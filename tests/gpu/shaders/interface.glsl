// The binding contract of src/shader/interface.h, as the tests' shaders see it.
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require
#extension GL_EXT_nonuniform_qualifier : require
#extension GL_EXT_samplerless_texture_functions : require

layout(push_constant) uniform Root {
    uvec2 bank_table; // the tests put the address of their output buffer here
    float fragcoord_y_scale, fragcoord_y_offset;
    float point_size, alpha_reference;
    uint base_vertex, base_instance;
    uint workgroups_x, workgroups_y, workgroups_z;
    uint flags;
} root;

layout(buffer_reference, std430, buffer_reference_align = 4) buffer Words { uint at[]; };
layout(buffer_reference, std430, buffer_reference_align = 16) buffer Vectors { vec4 at[]; };

layout(set = 0, binding = 2) uniform texture2D textures_2d[];
layout(set = 0, binding = 2) uniform utexture2D uint_textures_2d[];
layout(set = 0, binding = 3) uniform texture2DArray textures_2d_array[];
layout(set = 0, binding = 5) uniform textureCube textures_cube[];
layout(set = 0, binding = 7) uniform textureBuffer texel_buffers[];
layout(set = 0, binding = 10) uniform sampler samplers[];
layout(set = 0, binding = 13, rgba8) uniform image2D images_2d[];
layout(set = 0, binding = 24, r32ui) uniform uimage2D raw_images_2d[];
layout(set = 0, binding = 21, std430) readonly buffer MemoryMap { uint count, pad; uint words[]; } memory_map;
