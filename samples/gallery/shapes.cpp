#include "shapes.h"

#include <cmath>
#include <cstddef>
#include <numbers>

namespace gallery {

Matrix multiply(const Matrix& a, const Matrix& b) {
    Matrix product{};
    for (size_t row = 0; row < 4; ++row)
        for (size_t column = 0; column < 4; ++column)
            for (size_t k = 0; k < 4; ++k)
                product[row][column] += a[row][k] * b[k][column];
    return product;
}

Matrix perspective(float vertical_fov_radians, float aspect, float near, float far) {
    const float f = 1.0f / std::tan(vertical_fov_radians / 2.0f);
    return {Vec4{f / aspect, 0, 0, 0}, Vec4{0, f, 0, 0}, Vec4{0, 0, far / (near - far), near * far / (near - far)},
            Vec4{0, 0, -1, 0}};
}

Matrix translation(float x, float y, float z) {
    return {Vec4{1, 0, 0, x}, Vec4{0, 1, 0, y}, Vec4{0, 0, 1, z}, Vec4{0, 0, 0, 1}};
}

Matrix rotation_x(float radians) {
    const float c = std::cos(radians), s = std::sin(radians);
    return {Vec4{1, 0, 0, 0}, Vec4{0, c, -s, 0}, Vec4{0, s, c, 0}, Vec4{0, 0, 0, 1}};
}

Matrix rotation_y(float radians) {
    const float c = std::cos(radians), s = std::sin(radians);
    return {Vec4{c, 0, s, 0}, Vec4{0, 1, 0, 0}, Vec4{-s, 0, c, 0}, Vec4{0, 0, 0, 1}};
}

std::vector<ColorVertex> rectangle(float x0, float y0, float x1, float y1, const std::array<Vec4, 4>& second,
                                   float depth) {
    const ColorVertex a{{x0, y0, depth, 1}, second[0]}, b{{x1, y0, depth, 1}, second[1]},
        c{{x0, y1, depth, 1}, second[2]}, d{{x1, y1, depth, 1}, second[3]};
    return {a, b, c, c, b, d};
}

std::vector<MeshVertex> torus(float radius, float tube, int segments, int sides) {
    const auto point = [&](int segment, int side) {
        const float u = static_cast<float>(segment) / static_cast<float>(segments);
        const float v = static_cast<float>(side) / static_cast<float>(sides);
        const float a = u * 2.0f * std::numbers::pi_v<float>, b = v * 2.0f * std::numbers::pi_v<float>;
        const float ring = radius + tube * std::cos(b);
        return MeshVertex{{ring * std::cos(a), tube * std::sin(b), ring * std::sin(a)},
                          {std::cos(b) * std::cos(a), std::sin(b), std::cos(b) * std::sin(a)},
                          {u * 8.0f, v * 3.0f}};
    };
    std::vector<MeshVertex> vertices;
    for (int segment = 0; segment < segments; ++segment)
        for (int side = 0; side < sides; ++side) {
            const MeshVertex a = point(segment, side), b = point(segment + 1, side), c = point(segment, side + 1),
                             d = point(segment + 1, side + 1);
            vertices.insert(vertices.end(), {a, b, c, c, b, d});
        }
    return vertices;
}

std::vector<uint8_t> checkerboard(int size, int cell, std::array<uint8_t, 3> dark, std::array<uint8_t, 3> light) {
    std::vector<uint8_t> texels;
    for (int y = 0; y < size; ++y)
        for (int x = 0; x < size; ++x) {
            const auto& color = (x / cell + y / cell) % 2 ? light : dark;
            texels.insert(texels.end(), {color[0], color[1], color[2], 255});
        }
    return texels;
}

std::vector<uint8_t> flat(int size, std::array<uint8_t, 3> color) {
    return checkerboard(size, size, color, color);
}

} // namespace gallery
