// The programs as the build assembled them.
#include "scenes.h"

#include "shaders/color_frag.h"
#include "shaders/color_vert.h"
#include "shaders/cube_frag.h"
#include "shaders/instanced_vert.h"
#include "shaders/mesh_frag.h"
#include "shaders/mesh_vert.h"
#include "shaders/plasma_comp.h"
#include "shaders/targets_frag.h"
#include "shaders/texture_frag.h"
#include "shaders/transform_vert.h"

namespace gallery::shaders {

const ShaderBlob color_vert{color_vert_gpu, color_vert_control};
const ShaderBlob color_frag{color_frag_gpu, color_frag_control};
const ShaderBlob transform_vert{transform_vert_gpu, transform_vert_control};
const ShaderBlob texture_frag{texture_frag_gpu, texture_frag_control};
const ShaderBlob cube_frag{cube_frag_gpu, cube_frag_control};
const ShaderBlob mesh_vert{mesh_vert_gpu, mesh_vert_control};
const ShaderBlob mesh_frag{mesh_frag_gpu, mesh_frag_control};
const ShaderBlob instanced_vert{instanced_vert_gpu, instanced_vert_control};
const ShaderBlob plasma_comp{plasma_comp_gpu, plasma_comp_control};
const ShaderBlob targets_frag{targets_frag_gpu, targets_frag_control};

} // namespace gallery::shaders
