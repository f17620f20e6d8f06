// Runs programs of the graphics stages, warp by warp: the caller says what reaches each lane and gets what left it.
//
// Attributes are words by their byte address / 4, as the program header numbers them (maxwell/sph.h). What lies between
// stages is here too: link() carries outputs to the next stage's inputs. Rasterising, vertex fetch and the tessellator
// are the caller's.
#pragma once

#include "interpreter/machine.h"
#include "maxwell/sph.h"

#include <optional>

namespace heaviside::interpreter {

struct Attributes {
    std::array<u32, 256> words{};
    [[nodiscard]] u32 at(u32 address) const { return words[address / 4 & 255]; }
    void set(u32 address, u32 word) { words[address / 4 & 255] = word; }
    void set(u32 address, f32 value) { set(address, std::bit_cast<u32>(value)); }
    [[nodiscard]] f32 number(u32 address) const { return std::bit_cast<f32>(at(address)); }
};

// What the next stage reads: words that the producer declares and the consumer declares; of other words generic, front
// diffuse and texture coordinate attributes read (0, 0, 0, 1) and the rest 0.
[[nodiscard]] Attributes link(const maxwell::ShaderProgramHeader& producer, const Attributes& outputs,
                              const maxwell::ShaderProgramHeader& consumer);

// A program and what its lanes share. Of `launch`, grid, block and shared memory are not used.
struct StageProgram {
    Launch launch;
    maxwell::ShaderProgramHeader header;
    Bytes second_code;   // of a VertexA program: what runs instead of its EXIT
    f32 y_direction = 1; // S2R Y_DIRECTION: 1 where window y grows downwards, else -1
};

// One vertex each.
[[nodiscard]] Result<std::vector<Attributes>> run_vertices(const StageProgram& program,
                                                           std::span<const Attributes> vertices);

struct Patch {
    std::vector<Attributes> points; // output control points
    Attributes words;               // the patch's own: levels from address 0, vectors from 0x20
};
// header.threads_per_primitive lanes, one output control point each.
[[nodiscard]] Result<Patch> run_tess_control(const StageProgram& program, std::span<const Attributes> points,
                                             u32 primitive_id = 0);

struct TessPoint {
    f32 u = 0, v = 0;
};
[[nodiscard]] Result<std::vector<Attributes>> run_tess_eval(const StageProgram& program, const Patch& patch,
                                                            std::span<const TessPoint> points, u32 primitive_id = 0);

struct EmittedVertex {
    Attributes attributes;
    u32 stream = 0;
    bool ends_primitive = false; // a CUT follows it
};
// Every primitive is `vertices_per_primitive` consecutive vertices and runs header.threads_per_primitive (at least 1)
// invocations. Results: primitive by primitive, in it invocation by invocation. Vertices past
// header.max_output_vertices (if not 0) of an invocation are dropped.
[[nodiscard]] Result<std::vector<std::vector<EmittedVertex>>> run_geometry(const StageProgram& program,
                                                                           std::span<const Attributes> vertices,
                                                                           u32 vertices_per_primitive,
                                                                           u32 first_primitive_id = 0);

// How a word varies over a triangle: value + dx * x + dy * y at the window position x, y (pixel centres lie at halves).
// Of inputs that the header delivers as Perspective this is the plane of attribute / w. Evaluated exactly, rounded
// once.
struct Plane {
    f64 value = 0, dx = 0, dy = 0;
    u32 constant = 0; // IPA.CONSTANT: the word of the provoking vertex
};

struct Pixel {
    u32 x = 0, y = 0;
    u32 coverage = 1;                         // a bit a sample; 0: a helper lane, which runs but leaves nothing
    u32 sample = 0;                           // PIXLD.MY_INDEX
    f32 centroid_x = 0.5f, centroid_y = 0.5f; // in the pixel; what IPA.CENTROID takes
};

// Planes that the pixels of a quad share.
struct PixelInputs {
    std::array<Plane, 256> planes{}; // by address / 4
    bool flat_shading = false;       // IPA.SC takes constants
};

struct Quad {
    std::array<Pixel, 4> pixels{}; // (0, 0), (1, 0), (0, 1), (1, 1)
    const PixelInputs* inputs = nullptr;
};

struct PixelResult {
    bool killed = false; // by KIL, or a helper: nothing of it is written
    std::array<std::array<u32, 4>, 8> targets{};
    std::optional<u32> sample_mask; // if the header says that the program writes it
    std::optional<f32> depth;
};

struct SampleGrid {
    u32 samples = 1;
    std::array<std::array<f32, 2>, 16> positions{}; // in the pixel, for PIXLD.OFFSET
};

// Four results a quad.
[[nodiscard]] Result<std::vector<PixelResult>> run_pixels(const StageProgram& program, std::span<const Quad> quads,
                                                          const SampleGrid& grid = {1, {{{0.5f, 0.5f}}}});

// What the instructions of one warp see. Filled by the functions above.
struct StageState {
    const StageProgram* program = nullptr;
    u32 vertices_per_primitive = 0;
    std::vector<Attributes> inputs; // by vertex handle; vertex programs and pixels: by lane
    std::vector<u32> primitive_id;  // by lane
    std::vector<u32> primitive;     // by lane: number of the primitive in the warp
    std::vector<u32> invocation;    // by lane
    std::vector<Attributes> outputs;
    std::vector<Attributes> patches;                 // by primitive
    std::vector<std::vector<EmittedVertex>> emitted; // by lane
    std::span<const Quad> quads;
    const SampleGrid* grid = nullptr;
    u32 helpers = 0;                      // lanes that leave nothing
    std::vector<ThreadState> final_lanes; // registers at the end
};

} // namespace heaviside::interpreter
