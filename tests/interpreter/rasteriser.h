// The least rasteriser that whole draws need: points, lines and triangles to quads of pixels, no clipping by planes of
// the view volume (scenes keep w > 0). Window y grows downwards, depth from 0 to 1, front faces turn counter-clockwise
// as seen there.
#pragma once

#include "interpreter/stage.h"

#include <memory>

namespace heaviside::interpreter {

struct Viewport {
    f32 x = 0, y = 0, width = 0, height = 0;
};

struct Primitive {
    std::vector<Attributes>
        vertices; // 1, 2 or 3; words as the pixel program reads them; the first is the provoking one
    u32 id = 0;
};

// Pixels of one primitive. Covered samples are bits of Pixel::coverage.
struct Raster {
    std::unique_ptr<PixelInputs> inputs; // quads point at it
    std::vector<Quad> quads;
    Plane depth;
};

// `grid` has the samples of a pixel; width and height bound the target.
[[nodiscard]] Raster rasterise(const Primitive& primitive, const maxwell::ShaderProgramHeader& pixel_program,
                               const Viewport& viewport, u32 width, u32 height, const SampleGrid& grid);

} // namespace heaviside::interpreter
