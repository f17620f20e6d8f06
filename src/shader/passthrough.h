// Geometry programs that pass primitives on (GpPassthrough of the program header): what the header does not say about
// them follows from the primitive, and code of their own writes what is the same for all its vertices.
#pragma once

#include "maxwell/sph.h"
#include "shader/interface.h"
#include "shader/ir.h"

namespace heaviside::shader {

// What is passed on of a primitive: adjacency is not.
struct PassedPrimitive {
    maxwell::OutputTopology topology;
    std::array<u8, 3> vertices; // of the input
    u32 count;
};
[[nodiscard]] PassedPrimitive passed_primitive(u8 input_vertices); // VariantKey::geometry_input_vertices

// True for geometry programs with the header's flag and no vertex of their own.
[[nodiscard]] bool passes_through(const ir::Program& ir, const maxwell::ShaderProgramHeader& header);

// Gives a program for which passes_through() holds its vertices, at every end of it: position and all that the previous
// stage writes, except what the program itself has written. Before SSA construction only.
void pass_through(ir::Program& ir, const maxwell::ShaderProgramHeader& header, const VariantKey& key);

} // namespace heaviside::shader
