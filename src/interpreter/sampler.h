// Filtering: from coordinates to a colour, for one lane.
//
// Weights and levels are fixed-point numbers with 8 fractional bits, rounded to nearest, as NVIDIA documents for its
// texture units. The sums of weighted texels are exact and rounded once. docs/isa.md says what is approximated.
#pragma once

#include "interpreter/image.h"

#include <optional>

namespace heaviside::interpreter {

struct TextureAccess {
    unsigned coordinates = 2; // 1 to 3; 3 for cubes: a direction
    bool cube = false;
    u32 layer = 0; // of an array, of cubes: the cube; clamped to the last
    std::array<f32, 3> at{};
    std::array<i32, 3> offset{}; // texels
    std::optional<f32> reference;
};

// How far a pixel reaches, in normalized coordinates per axis.
struct Gradients {
    std::array<f64, 3> dx{}, dy{};
};

// What the gradients ask for: a level (not clamped, no bias) and, under anisotropic filtering, several probes along the
// longer axis.
struct Footprint {
    f64 level = 0;
    unsigned probes = 1;
    std::array<f64, 3> axis{};
};

// A direction as seen on one face of a cube: 0 +x, 1 -x, 2 +y, 3 -y, 4 +z, 5 -z; s and t from 0 to 1.
struct CubePoint {
    u32 face;
    f64 s, t;
};
[[nodiscard]] u32 cube_face(const std::array<f32, 3>& direction);
[[nodiscard]] CubePoint cube_point(const std::array<f64, 3>& direction, u32 face);

[[nodiscard]] Footprint footprint(const Texture& texture, const Sampler& sampler, const Gradients& gradients,
                                  unsigned axes);
// To the sampler's bounds, in steps of 1/256.
[[nodiscard]] f64 clamped_level(const Sampler& sampler, f64 level);

// `level` after bias; clamped here.
[[nodiscard]] Texel sample(const Texture& texture, const Sampler& sampler, const TextureAccess& access,
                           const Footprint& footprint);
// One component of the four texels that linear filtering of level 0 would use: (0, 1), (1, 1), (1, 0), (0, 0). With
// `offsets`, result n is the texel (0, 0) of a footprint moved by offset n.
[[nodiscard]] Texel gather(const Texture& texture, const Sampler& sampler, const TextureAccess& access,
                           unsigned component, const std::array<std::array<i32, 2>, 4>* offsets);
// A texel by number. Outside the texture all channels that the format has are 0.
[[nodiscard]] Texel fetch(const Texture& texture, const std::array<i32, 3>& at, u32 layer, u32 level, u32 sample);

} // namespace heaviside::interpreter
