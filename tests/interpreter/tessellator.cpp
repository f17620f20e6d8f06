#include "tessellator.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace heaviside::interpreter {
namespace {

// The parameters of the ends of an edge's segments, 0 to 1.
std::vector<f32> subdivide(f32 level, TessSpacing spacing) {
    std::vector<f32> ends;
    if (spacing == TessSpacing::Equal) {
        const f32 count = std::ceil(std::max(level, 1.0f));
        ends.reserve(static_cast<std::size_t>(count) + 1);
        for (f32 n = 0; n <= count; ++n)
            ends.push_back(n / count);
        return ends;
    }
    // Between the even numbers of segments below and above, every point moves in a straight line from its place in the
    // one to its place in the other, as the reference implementation of Direct3D's tessellator does (OpenGL leaves it
    // open). One point of each half is new; behind it points count one less in the coarser division.
    const f32 half = std::max(level, 2.0f) / 2, below = std::floor(half), above = std::ceil(half), part = half - below;
    const auto coarse = static_cast<u32>(below), fine = static_cast<u32>(above);
    const u32 split = 2 * (coarse - std::bit_floor(coarse)) + 1;
    for (u32 n = 0; n < fine; ++n) {
        const f32 before = static_cast<f32>(n > split && coarse != fine ? n - 1 : n) / (2 * below);
        ends.push_back(before * (1 - part) + static_cast<f32>(n) / (2 * above) * part);
    }
    ends.push_back(0.5f);
    for (u32 n = fine; n-- > 0;)
        ends.push_back(1 - ends[n]);
    return ends;
}

class Mesh {
public:
    u32 add(f32 u, f32 v) {
        result.points.push_back({u, v});
        return static_cast<u32>(result.points.size() - 1);
    }
    void triangle(u32 a, u32 b, u32 c) { result.primitives.push_back({a, b, c}); }
    // The strip between two rows of points that run alongside each other.
    void stitch(const std::vector<u32>& outer, const std::vector<u32>& inner) {
        std::size_t i = 0, j = 0;
        const std::size_t n = outer.size() - 1, m = inner.size() - 1;
        while (i < n || j < m) {
            if (j == m || (i < n && (i + 1) * std::max<std::size_t>(m, 1) <= (j + 1) * n)) {
                triangle(outer[i], outer[i + 1], inner[j]);
                ++i;
            } else {
                triangle(outer[i], inner[j + 1], inner[j]);
                ++j;
            }
        }
    }
    Tessellation result;
};

Tessellation isolines(TessSpacing spacing, const Attributes& words) {
    Mesh mesh;
    const auto lines = static_cast<u32>(std::ceil(words.number(0)));
    const auto ends = subdivide(words.number(4), spacing);
    for (u32 line = 0; line < lines; ++line)
        for (std::size_t n = 0; n < ends.size(); ++n) {
            const u32 point = mesh.add(ends[n], static_cast<f32>(line) / static_cast<f32>(lines));
            if (n > 0)
                mesh.result.primitives.push_back({point - 1, point});
        }
    return mesh.result;
}

// Barycentric points from one corner of a ring to the next.
std::vector<u32> between(Mesh& mesh, std::array<f32, 3> a, std::array<f32, 3> b, const std::vector<f32>& ends) {
    std::vector<u32> row;
    row.reserve(ends.size());
    for (const f32 t : ends)
        row.push_back(mesh.add(a[0] + (b[0] - a[0]) * t, a[1] + (b[1] - a[1]) * t));
    return row;
}

// Rings of triangles; each has two segments fewer than the one around it.
Tessellation triangles(TessSpacing spacing, const Attributes& words) {
    Mesh mesh;
    const auto count = std::max(static_cast<u32>(std::ceil(words.number(0x10))), 1u);
    const auto corner = [&](u32 ring, u32 which) {
        const f32 other = 2 * static_cast<f32>(ring) / (3 * static_cast<f32>(count));
        std::array<f32, 3> at{other, other, other};
        at[which] = 1 - 2 * other;
        return at;
    };
    constexpr u32 order[] = {0, 1, 2, 0};
    constexpr u32 level_of_edge[] = {2, 0, 1}; // of the corner opposite: w = 0, u = 0, v = 0
    std::array<std::vector<u32>, 3> outer;
    for (u32 edge = 0; edge < 3; ++edge)
        outer[edge] = between(mesh, corner(0, order[edge]), corner(0, order[edge + 1]),
                              subdivide(words.number(4 * level_of_edge[edge]), spacing));
    if (count == 1 && outer[0].size() == 2 && outer[1].size() == 2 && outer[2].size() == 2) {
        mesh.triangle(outer[0][0], outer[1][0], outer[2][0]);
        return mesh.result;
    }
    for (u32 ring = 1; 2 * ring <= std::max(count, 2u); ++ring) {
        const u32 segments = count > 2 * ring ? count - 2 * ring : 0;
        std::array<std::vector<u32>, 3> inner;
        for (u32 edge = 0; edge < 3; ++edge) {
            inner[edge] = segments == 0 ? std::vector<u32>{mesh.add(1 / 3.0f, 1 / 3.0f)}
                                        : between(mesh, corner(ring, order[edge]), corner(ring, order[edge + 1]),
                                                  subdivide(static_cast<f32>(segments), TessSpacing::Equal));
            mesh.stitch(outer[edge], inner[edge]);
        }
        if (segments == 1)
            mesh.triangle(inner[0][0], inner[1][0], inner[2][0]);
        outer = inner;
    }
    return mesh.result;
}

// A grid by the inner levels, a ring around it by the outer ones.
Tessellation quads(TessSpacing spacing, const Attributes& words) {
    Mesh mesh;
    const auto us = subdivide(std::max(words.number(0x10), 2.0f), spacing),
               vs = subdivide(std::max(words.number(0x14), 2.0f), spacing);
    const std::size_t columns = us.size() - 2, rows = vs.size() - 2;
    std::vector<u32> grid;
    for (std::size_t y = 0; y < rows; ++y)
        for (std::size_t x = 0; x < columns; ++x)
            grid.push_back(mesh.add(us[x + 1], vs[y + 1]));
    for (std::size_t y = 0; y + 1 < rows; ++y)
        for (std::size_t x = 0; x + 1 < columns; ++x) {
            const std::size_t at = y * columns + x;
            mesh.triangle(grid[at], grid[at + 1], grid[at + columns + 1]);
            mesh.triangle(grid[at], grid[at + columns], grid[at + columns + 1]);
        }
    for (u32 side = 0; side < 4; ++side) { // u = 0, v = 0, u = 1, v = 1
        const f32 fixed = side < 2 ? 0.0f : 1.0f;
        const bool along_v = side % 2 == 0;
        std::vector<u32> outer, inner;
        for (const f32 t : subdivide(words.number(4 * side), spacing))
            outer.push_back(along_v ? mesh.add(fixed, t) : mesh.add(t, fixed));
        for (std::size_t n = 0; n < (along_v ? rows : columns); ++n)
            inner.push_back(along_v ? grid[n * columns + (side == 0 ? 0 : columns - 1)]
                                    : grid[(side == 1 ? 0 : rows - 1) * columns + n]);
        mesh.stitch(outer, inner);
    }
    return mesh.result;
}

} // namespace

Tessellation tessellate(TessDomain domain, TessSpacing spacing, const Attributes& words) {
    if (domain == TessDomain::Isolines)
        return isolines(spacing, words);
    return domain == TessDomain::Triangles ? triangles(spacing, words) : quads(spacing, words);
}

} // namespace heaviside::interpreter
