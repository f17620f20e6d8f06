// The scenes' functions, in the order in which scenes() lists them.
#pragma once

#include "scenes.h"

namespace gallery {

Texture& draw_clears(Context& context);
Texture& draw_mesh(Context& context);
Texture& draw_blending(Context& context);
Texture& draw_mipmaps(Context& context);
Texture& draw_cube_map(Context& context);
Texture& draw_instances(Context& context);
Texture& draw_indexed(Context& context);
Texture& draw_compute(Context& context);
Texture& draw_to_texture(Context& context);
Texture& draw_multisampled(Context& context);
Texture& draw_targets(Context& context);

// The lit torus of the mesh scene and of the animation. `rows` is what mesh.vert reads: clip matrix, normal rows.
struct MeshUniforms {
    std::array<float, 28> rows;
};
MeshUniforms mesh_uniforms(float angle, float aspect);

struct Mesh {
    Arena::Piece vertices;
    size_t bytes = 0;
    int count = 0;
    Texture* skin = nullptr;
    NVNprogram* program = nullptr;
};
Mesh create_mesh(Context& context);
// Records the torus twice, the second time with a tint updated in line.
void record_mesh(Recorder& recorder, const Mesh& mesh, const Arena::Piece& vertex_uniforms,
                 const Arena::Piece& fragment_uniforms, float angle, float aspect);

} // namespace gallery
