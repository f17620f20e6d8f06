// The gallery's pictures. Each scene records commands, waits for them and returns the target that holds its picture.
#pragma once

#include "context.h"

#include <functional>
#include <string>

namespace gallery {

inline constexpr int picture_size = 256;

struct Scene {
    const char* name; // also its PNG's
    const char* shows;
    Texture& (*draw)(Context&);
};
std::span<const Scene> scenes();

// The programs, assembled at build time.
namespace shaders {
extern const ShaderBlob color_vert, color_frag, transform_vert, texture_frag, cube_frag, mesh_vert, mesh_frag,
    instanced_vert, plasma_comp, targets_frag;
}

// The animation in a two-texture window: acquire, draw, present, in `frames` frames. `native_window` may be null.
// Returns the texture presented last; `keep_going` is asked before every frame.
Texture& animate(Context& context, void* native_window, int width, int height, int frames,
                 const std::function<bool()>& keep_going);

} // namespace gallery
