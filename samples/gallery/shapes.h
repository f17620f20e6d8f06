// The geometry, matrices and texels that the scenes share.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace gallery {

using Vec4 = std::array<float, 4>;
using Matrix = std::array<Vec4, 4>; // rows; clip = rows . position

Matrix multiply(const Matrix& a, const Matrix& b);
Matrix perspective(float vertical_fov_radians, float aspect, float near, float far); // depth 0..1, looking down -z
Matrix translation(float x, float y, float z);
Matrix rotation_x(float radians);
Matrix rotation_y(float radians);
inline constexpr Matrix identity{Vec4{1, 0, 0, 0}, Vec4{0, 1, 0, 0}, Vec4{0, 0, 1, 0}, Vec4{0, 0, 0, 1}};

struct ColorVertex {
    Vec4 position, color;
};
struct MeshVertex {
    std::array<float, 3> position, normal;
    std::array<float, 2> uv;
};

// A rectangle in clip space as two triangles; `second` is interpolated from corner to corner (x0 y0 ... x1 y1).
std::vector<ColorVertex> rectangle(float x0, float y0, float x1, float y1, const std::array<Vec4, 4>& second,
                                   float depth = 0.0f);
// A torus around the y axis as a triangle list.
std::vector<MeshVertex> torus(float radius, float tube, int segments, int sides);

// size x size RGBA8 texels, row by row.
std::vector<uint8_t> checkerboard(int size, int cell, std::array<uint8_t, 3> dark, std::array<uint8_t, 3> light);
std::vector<uint8_t> flat(int size, std::array<uint8_t, 3> color);

} // namespace gallery
