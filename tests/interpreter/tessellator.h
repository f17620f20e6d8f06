// The fixed-function tessellator, as far as the corpus needs it: points and what they make in the three domains.
#pragma once

#include "interpreter/stage.h"

namespace heaviside::interpreter {

enum class TessDomain : u8 { Isolines, Triangles, Quads };
enum class TessSpacing : u8 { Equal, FractionalEven };

struct Tessellation {
    std::vector<TessPoint> points;
    std::vector<std::vector<u32>> primitives; // lines or triangles, by point
};

// `words` has the levels. The winding of triangles is not kept.
[[nodiscard]] Tessellation tessellate(TessDomain domain, TessSpacing spacing, const Attributes& words);

} // namespace heaviside::interpreter
