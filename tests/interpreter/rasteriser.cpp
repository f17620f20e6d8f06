#include "rasteriser.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace heaviside::interpreter {
namespace {

namespace attribute = maxwell::attribute;

struct Corner {
    f64 x, y, z, w; // window; w is that of clip space
};

Corner to_window(const Attributes& v, const Viewport& viewport) {
    const f64 w = v.number(attribute::position + 12);
    return {(v.number(attribute::position) / w + 1) / 2 * viewport.width + viewport.x,
            (v.number(attribute::position + 4) / w + 1) / 2 * viewport.height + viewport.y,
            v.number(attribute::position + 8) / w, w};
}

// Coverage counts in 1/256 of a pixel; values vary over the corners as they are.
Corner snapped(const Corner& c) {
    return {std::nearbyint(c.x * 256) / 256, std::nearbyint(c.y * 256) / 256, c.z, c.w};
}

// The plane through one value at each of three corners; through fewer corners along the line, or constant.
Plane plane_of(std::span<const Corner> c, const std::array<f64, 3>& v) {
    Plane plane;
    if (c.size() == 3) {
        const f64 x1 = c[1].x - c[0].x, y1 = c[1].y - c[0].y, x2 = c[2].x - c[0].x, y2 = c[2].y - c[0].y;
        const f64 area = x1 * y2 - x2 * y1, v1 = v[1] - v[0], v2 = v[2] - v[0];
        plane.dx = (v1 * y2 - v2 * y1) / area;
        plane.dy = (v2 * x1 - v1 * x2) / area;
    } else if (c.size() == 2) {
        const f64 x = c[1].x - c[0].x, y = c[1].y - c[0].y, squared = x * x + y * y;
        plane.dx = squared > 0 ? (v[1] - v[0]) * x / squared : 0;
        plane.dy = squared > 0 ? (v[1] - v[0]) * y / squared : 0;
    }
    plane.value = v[0] - plane.dx * c[0].x - plane.dy * c[0].y;
    return plane;
}

// Signed area times two; positive: counter-clockwise to a viewer for whom y grows downwards.
f64 turning(std::span<const Corner> c) {
    return -((c[1].x - c[0].x) * (c[2].y - c[0].y) - (c[2].x - c[0].x) * (c[1].y - c[0].y));
}

using Covered = std::map<std::pair<u32, u32>, u32>; // (y, x): samples

// A point on an edge belongs to the triangle on its right or below.
bool inside(std::span<const Corner> c, f64 x, f64 y) {
    for (unsigned n = 0; n < 3; ++n) {
        const Corner &a = c[n], &b = c[(n + 1) % 3];
        const f64 side = (b.x - a.x) * (y - a.y) - (x - a.x) * (b.y - a.y);
        const bool top_left = (a.y == b.y && b.x > a.x) || b.y < a.y;
        if (side < 0 || (side == 0 && !top_left))
            return false;
    }
    return true;
}

void cover_triangle(std::array<Corner, 3> c, u32 width, u32 height, const SampleGrid& grid, Covered& covered) {
    if (turning(c) > 0)
        std::swap(c[1], c[2]); // clockwise on the screen
    const auto bound = [](f64 v, u32 most) { return static_cast<u32>(std::clamp<f64>(v, 0, most)); };
    const auto [left, right] = std::minmax({c[0].x, c[1].x, c[2].x});
    const auto [top, bottom] = std::minmax({c[0].y, c[1].y, c[2].y});
    const u32 last_x = bound(std::ceil(right), width), last_y = bound(std::ceil(bottom), height);
    for (u32 y = bound(std::floor(top), height); y < last_y; ++y)
        for (u32 x = bound(std::floor(left), width); x < last_x; ++x)
            for (u32 s = 0; s < grid.samples; ++s)
                if (inside(c, f64(x) + grid.positions[s][0], f64(y) + grid.positions[s][1]))
                    covered[{y, x}] |= 1u << s;
}

void cover_point(const Corner& c, f64 size, u32 width, u32 height, const SampleGrid& grid, Covered& covered) {
    for (u32 y = 0; y < height; ++y)
        for (u32 x = 0; x < width; ++x)
            for (u32 s = 0; s < grid.samples; ++s) {
                const f64 dx = f64(x) + grid.positions[s][0] - (c.x - size / 2),
                          dy = f64(y) + grid.positions[s][1] - (c.y - size / 2);
                if (dx >= 0 && dx < size && dy >= 0 && dy < size)
                    covered[{y, x}] |= 1u << s;
            }
}

// One pixel a step along the longer axis, from the first end to before the second.
void cover_line(const Corner& a, const Corner& b, u32 width, u32 height, Covered& covered) {
    const bool steep = std::fabs(b.y - a.y) > std::fabs(b.x - a.x);
    const f64 from = steep ? a.y : a.x, to = steep ? b.y : b.x;
    const f64 low = std::min(from, to), high = std::max(from, to);
    for (f64 k = std::ceil(low - 0.5); k + 0.5 < high; ++k) {
        const f64 t = (k + 0.5 - from) / (to - from);
        const f64 other = steep ? a.x + (b.x - a.x) * t : a.y + (b.y - a.y) * t;
        const f64 x = steep ? std::floor(other) : k, y = steep ? k : std::floor(other);
        if (x >= 0 && y >= 0 && x < width && y < height)
            covered[{static_cast<u32>(y), static_cast<u32>(x)}] |= 1;
    }
}

} // namespace

Raster rasterise(const Primitive& primitive, const maxwell::ShaderProgramHeader& pixel_program,
                 const Viewport& viewport, u32 width, u32 height, const SampleGrid& grid) {
    Raster raster;
    raster.inputs = std::make_unique<PixelInputs>();
    std::vector<Corner> corners;
    for (const Attributes& vertex : primitive.vertices)
        corners.push_back(to_window(vertex, viewport));
    const std::span<const Corner> c = corners;
    Covered covered;
    bool front = true;
    const f64 size = primitive.vertices[0].number(attribute::point_size);
    if (c.size() == 3) {
        front = turning(c) > 0;
        cover_triangle({snapped(c[0]), snapped(c[1]), snapped(c[2])}, width, height, grid, covered);
    } else if (c.size() == 2) {
        cover_line(snapped(c[0]), snapped(c[1]), width, height, covered);
    } else {
        cover_point(snapped(c[0]), size, width, height, grid, covered);
    }

    auto& planes = raster.inputs->planes;
    const auto values = [&](auto&& of) {
        std::array<f64, 3> v{};
        for (std::size_t n = 0; n < c.size(); ++n)
            v[n] = of(n);
        return plane_of(c, v);
    };
    for (u32 address = 0; address < 0x400; address += 4) {
        const auto delivery = pixel_program.interpolation[address / 4];
        const bool by_w = delivery == maxwell::PixelInput::Perspective ||
                          (address >= attribute::clip_distance && address < attribute::point_coord);
        Plane plane;
        if (by_w || delivery == maxwell::PixelInput::ScreenLinear)
            plane = values([&](std::size_t n) {
                const f64 value = primitive.vertices[n].number(address);
                return by_w ? value / corners[n].w : value;
            });
        plane.constant = primitive.vertices[0].at(address);
        planes[address / 4] = plane;
    }
    raster.depth = values([&](std::size_t n) { return corners[n].z; });
    planes[attribute::position / 4] = {0, 1, 0, 0};
    planes[attribute::position / 4 + 1] = {0, 0, 1, 0};
    planes[attribute::position / 4 + 2] = raster.depth;
    planes[attribute::position / 4 + 3] = values([&](std::size_t n) { return 1 / corners[n].w; });
    planes[attribute::primitive_id / 4].constant = primitive.id;
    planes[attribute::front_facing / 4].constant = front ? ~0u : 0;
    if (c.size() == 1) {
        planes[attribute::point_coord / 4] = {0.5 - c[0].x / size, 1 / size, 0, 0};
        planes[attribute::point_coord / 4 + 1] = {0.5 - c[0].y / size, 0, 1 / size, 0};
    }

    std::map<std::pair<u32, u32>, Quad> quads;
    for (const auto& [at, samples] : covered) {
        Quad& quad = quads[{at.first / 2, at.second / 2}];
        Pixel& pixel = quad.pixels[at.first % 2 * 2 + at.second % 2];
        if (!quad.inputs)
            for (u32 n = 0; n < 4; ++n) {
                quad.pixels[n].x = at.second / 2 * 2 + n % 2;
                quad.pixels[n].y = at.first / 2 * 2 + n / 2;
                quad.pixels[n].coverage = 0;
            }
        quad.inputs = raster.inputs.get();
        pixel.coverage = samples;
        const u32 all = (1u << grid.samples) - 1;
        if (samples != all) { // a covered sample stands for the pixel
            const auto& position = grid.positions[static_cast<u32>(std::countr_zero(samples))];
            pixel.centroid_x = position[0];
            pixel.centroid_y = position[1];
        }
    }
    for (const auto& [at, quad] : quads)
        raster.quads.push_back(quad);
    return raster;
}

} // namespace heaviside::interpreter
