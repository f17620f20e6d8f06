#include "interpreter/sampler.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace heaviside::interpreter {
namespace {

f64 quantised(f64 value) {
    return std::floor(value * 256 + 0.5) / 256;
}

// The texels of one axis with their weights.
struct Taps {
    std::array<i64, 2> texel{};
    std::array<f64, 2> weight{1, 0};
    unsigned count = 1;
};

// A texel number inside the axis; nothing: the border.
std::optional<i64> wrapped(Wrap wrap, i64 i, i64 n) {
    const auto mirrored = [](i64 k) { return k < 0 ? -1 - k : k; };
    switch (wrap) {
    case Wrap::Repeat:
        return (i % n + n) % n;
    case Wrap::Mirror: {
        const i64 k = (i % (2 * n) + 2 * n) % (2 * n);
        return k < n ? k : 2 * n - 1 - k;
    }
    case Wrap::MirrorToEdge:
        return std::min(mirrored(i), n - 1);
    case Wrap::ClampToEdge:
        return std::clamp<i64>(i, 0, n - 1);
    case Wrap::MirrorToBorder:
    case Wrap::MirrorClamp:
        i = mirrored(i);
        break;
    case Wrap::ClampToBorder:
    case Wrap::Clamp:
        break;
    }
    if (i < 0 || i >= n)
        return std::nullopt;
    return i;
}

// `at` in texels. The legacy clamps keep the coordinate inside: linear filtering reaches half a texel of border.
Taps taps(Wrap wrap, Filter filter, f64 at, i64 n) {
    if (!(std::fabs(at) < 0x1p40)) // NaN and what no texel number can name
        at = std::isnan(at) ? 0 : std::copysign(0x1p40, at);
    const auto extent = static_cast<f64>(n);
    if (wrap == Wrap::Clamp)
        at = std::clamp(at, 0.0, extent);
    else if (wrap == Wrap::MirrorClamp)
        at = std::min(std::fabs(at), extent);
    const bool legacy = wrap == Wrap::Clamp || wrap == Wrap::MirrorClamp;
    Taps result;
    if (filter == Filter::Nearest) {
        result.texel[0] = static_cast<i64>(std::floor(at));
        if (legacy)
            result.texel[0] = std::min(result.texel[0], n - 1);
        return result;
    }
    const auto fixed = static_cast<i64>(std::floor(at * 256 + 0.5)) - 128;
    const f64 fraction = static_cast<f64>(fixed & 255) / 256;
    return {{fixed >> 8, (fixed >> 8) + 1}, {1 - fraction, fraction}, 2};
}

bool passes(DepthTest test, f64 reference, f64 depth) {
    switch (test) {
    case DepthTest::Never:
        return false;
    case DepthTest::Less:
        return reference < depth;
    case DepthTest::Equal:
        return reference == depth;
    case DepthTest::LessEqual:
        return reference <= depth;
    case DepthTest::Greater:
        return reference > depth;
    case DepthTest::NotEqual:
        return reference != depth;
    case DepthTest::GreaterEqual:
        return reference >= depth;
    case DepthTest::Always:
        break;
    }
    return true;
}

// One level of a texture, as a sampler sees it.
class Level {
public:
    Level(const Texture& texture, const Sampler& sampler, const TextureAccess& access, u32 level)
        : texture_(texture), sampler_(sampler), access_(access), level_(level), size_(texture.size(level)) {}

    [[nodiscard]] Texture::Size size() const { return size_; }

    // A texel by its unwrapped numbers, after comparison and swizzle.
    [[nodiscard]] Texel texel(i64 i, i64 j, i64 k, u32 face) const {
        if (access_.cube)
            return cube_texel(i, j, face);
        const auto x = wrapped(sampler_.wrap[0], i, size_.width),
                   y = access_.coordinates > 1 ? wrapped(sampler_.wrap[1], j, size_.height) : 0,
                   z = access_.coordinates > 2 ? wrapped(sampler_.wrap[2], k, size_.depth) : 0;
        return finish(x && y && z ? texture_.offset(*x, *y, *z, layer(1, 0), level_, 0) : std::nullopt);
    }

private:
    [[nodiscard]] u32 layer(u32 faces, u32 face) const {
        const u32 last = std::max(texture_.layers / faces, 1u) - 1;
        return std::min(access_.layer, last) * faces + face;
    }

    [[nodiscard]] Texel finish(std::optional<u64> offset) const {
        Texel texel = offset ? decode_texel(texture_.format, texture_.texels.data() + *offset)
                             : (texture_.width == 0 ? Texel{} : sampler_.border);
        if (!access_.reference)
            return swizzled(texture_, texel);
        // Depths of unsigned normalized formats lie in 0 to 1, and so must what is compared with them.
        const f64 reference = texture_.format.numeric == Numeric::Unorm ? std::clamp<f64>(*access_.reference, 0, 1)
                                                                        : static_cast<f64>(*access_.reference);
        const bool lit = passes(sampler_.depth_test, reference, std::bit_cast<f32>(texel[0]));
        const u32 one = std::bit_cast<u32>(1.0f), result = lit ? one : 0;
        return {result, result, result, one};
    }

    // Beyond an edge lies the face that shares it; beyond a corner lies nothing: the mean of the three texels around
    // it.
    [[nodiscard]] Texel cube_texel(i64 i, i64 j, u32 face) const {
        const i64 n = size_.width;
        const bool out_i = i < 0 || i >= n, out_j = j < 0 || j >= n;
        if (!sampler_.seamless || (!out_i && !out_j))
            return finish(texture_.offset(std::clamp<i64>(i, 0, n - 1), std::clamp<i64>(j, 0, n - 1), 0, layer(6, face),
                                          level_, 0));
        const i64 inner_i = std::clamp<i64>(i, 0, n - 1), inner_j = std::clamp<i64>(j, 0, n - 1);
        if (out_i && out_j) {
            const Texel corner[] = {cube_texel(inner_i, inner_j, face), cube_texel(i, inner_j, face),
                                    cube_texel(inner_i, j, face)};
            if (is_integer(texture_.format) && !access_.reference)
                return corner[0];
            Texel mean{};
            for (unsigned c = 0; c < 4; ++c) {
                f64 sum = 0;
                for (const Texel& t : corner)
                    sum += std::bit_cast<f32>(t[c]);
                mean[c] = std::bit_cast<u32>(static_cast<f32>(sum / 3));
            }
            return mean;
        }
        // The centre of the texel behind the edge, seen from the middle of the cube, falls into its neighbour on the
        // other face.
        const auto along = [n](i64 k) { return (2 * static_cast<f64>(k) + 1) / static_cast<f64>(n) - 1; };
        const f64 s = along(i), t = along(j);
        const std::array<f64, 3> directions[] = {{1, -t, -s}, {-1, -t, s}, {s, 1, t},
                                                 {s, -1, -t}, {s, -t, 1},  {-s, -t, -1}};
        const auto& direction = directions[face];
        const u32 other =
            cube_face({static_cast<f32>(direction[0]), static_cast<f32>(direction[1]), static_cast<f32>(direction[2])});
        const CubePoint point = cube_point(direction, other);
        const auto number = [n](f64 v) {
            return std::clamp<i64>(static_cast<i64>(std::floor(v * static_cast<f64>(n))), 0, n - 1);
        };
        return finish(texture_.offset(number(point.s), number(point.t), 0, layer(6, other), level_, 0));
    }

    const Texture& texture_;
    const Sampler& sampler_;
    const TextureAccess& access_;
    u32 level_;
    Texture::Size size_;
};

// Where an access falls on a level, in texels.
struct Position {
    std::array<f64, 3> at{};
    u32 face = 0;
};

Position position(const Texture& texture, const TextureAccess& access, Texture::Size size,
                  const std::array<f64, 3>& moved) {
    Position result;
    if (access.cube) {
        const std::array<f64, 3> direction{access.at[0] + moved[0], access.at[1] + moved[1], access.at[2] + moved[2]};
        result.face =
            cube_face({static_cast<f32>(direction[0]), static_cast<f32>(direction[1]), static_cast<f32>(direction[2])});
        const CubePoint point = cube_point(direction, result.face);
        result.at = {point.s * size.width, point.t * size.width, 0};
        return result;
    }
    const std::array<u32, 3> extent{size.width, size.height, size.depth};
    for (unsigned a = 0; a < access.coordinates; ++a)
        result.at[a] = (access.at[a] + moved[a]) * (texture.normalized ? extent[a] : 1.0) + access.offset[a];
    return result;
}

// Weighted sums, or the least or greatest of the texels that count.
class Accumulator {
public:
    explicit Accumulator(Reduction reduction) : reduction_(reduction) {}
    void add(const Texel& texel, f64 weight) {
        if (weight == 0)
            return;
        for (unsigned c = 0; c < 4; ++c) {
            const f64 value = std::bit_cast<f32>(texel[c]);
            if (reduction_ == Reduction::Average)
                sum_[c] += value * weight;
            else
                sum_[c] = empty_                         ? value
                          : reduction_ == Reduction::Min ? std::min(sum_[c], value)
                                                         : std::max(sum_[c], value);
        }
        empty_ = false;
    }
    [[nodiscard]] Texel result() const {
        Texel texel{};
        for (unsigned c = 0; c < 4; ++c)
            texel[c] = std::bit_cast<u32>(static_cast<f32>(sum_[c]));
        return texel;
    }

private:
    Reduction reduction_;
    std::array<f64, 4> sum_{};
    bool empty_ = true;
};

std::array<Taps, 3> taps_of(const Sampler& sampler, const TextureAccess& access, Filter filter, const Position& p,
                            Texture::Size size) {
    std::array<Taps, 3> axes;
    if (access.cube) {
        for (unsigned a = 0; a < 2; ++a) {
            axes[a] = taps(Wrap::ClampToEdge, filter, p.at[a], size.width);
            if (filter == Filter::Nearest) // a point on an edge belongs to the face
                axes[a].texel[0] = std::clamp<i64>(axes[a].texel[0], 0, i64{size.width} - 1);
        }
        return axes;
    }
    const std::array<u32, 3> extent{size.width, size.height, size.depth};
    for (unsigned a = 0; a < access.coordinates; ++a)
        axes[a] = taps(sampler.wrap[a], filter, p.at[a], extent[a]);
    return axes;
}

void add_level(Accumulator& sum, const Texture& texture, const Sampler& sampler, const TextureAccess& access,
               u32 number, Filter filter, const std::array<f64, 3>& moved, f64 weight) {
    const Level level(texture, sampler, access, number);
    const Position p = position(texture, access, level.size(), moved);
    const auto axis = taps_of(sampler, access, filter, p, level.size());
    for (unsigned k = 0; k < axis[2].count; ++k)
        for (unsigned j = 0; j < axis[1].count; ++j)
            for (unsigned i = 0; i < axis[0].count; ++i) {
                const f64 w = weight * axis[0].weight[i] * axis[1].weight[j] * axis[2].weight[k];
                if (w != 0)
                    sum.add(level.texel(axis[0].texel[i], axis[1].texel[j], axis[2].texel[k], p.face), w);
            }
}

Texel nearest_texel(const Texture& texture, const Sampler& sampler, const TextureAccess& access, u32 number) {
    const Level level(texture, sampler, access, number);
    const Position p = position(texture, access, level.size(), {});
    const auto axis = taps_of(sampler, access, Filter::Nearest, p, level.size());
    return level.texel(axis[0].texel[0], axis[1].texel[0], axis[2].texel[0], p.face);
}

} // namespace

u32 cube_face(const std::array<f32, 3>& v) {
    const f32 x = std::fabs(v[0]), y = std::fabs(v[1]), z = std::fabs(v[2]);
    if (z >= x && z >= y) // of equal axes the last counts
        return v[2] < 0 ? 5 : 4;
    if (y >= x)
        return v[1] < 0 ? 3 : 2;
    return v[0] < 0 ? 1 : 0;
}

CubePoint cube_point(const std::array<f64, 3>& v, u32 face) {
    const f64 x = v[0], y = v[1], z = v[2];
    const f64 s[] = {-z, z, x, x, x, -x}, t[] = {-y, -y, z, -z, -y, -y};
    const f64 major = std::fabs(face < 2 ? x : face < 4 ? y : z);
    if (major == 0)
        return {face, 0.5, 0.5};
    return {face, (s[face] / major + 1) / 2, (t[face] / major + 1) / 2};
}

Footprint footprint(const Texture& texture, const Sampler& sampler, const Gradients& gradients, unsigned axes) {
    const Texture::Size size = texture.size(0);
    const std::array<f64, 3> extent{f64(size.width), f64(size.height), f64(size.depth)};
    f64 x = 0, y = 0;
    for (unsigned a = 0; a < axes; ++a) {
        const f64 scale = texture.normalized ? extent[a] : 1.0;
        x += std::pow(gradients.dx[a] * scale, 2);
        y += std::pow(gradients.dy[a] * scale, 2);
    }
    const f64 longer = std::sqrt(std::max(x, y)), shorter = std::sqrt(std::min(x, y));
    Footprint result;
    if (sampler.anisotropy > 1 && longer > 0) {
        const f64 ratio = std::ceil(longer / shorter); // NaN: both are infinite
        result.probes = ratio < sampler.anisotropy ? std::max(static_cast<u32>(ratio), 1u) : sampler.anisotropy;
        result.axis = x >= y ? gradients.dx : gradients.dy;
    }
    result.level = longer > 0 ? std::log2(longer / result.probes) : -128; // no footprint: the finest level
    if (std::isnan(result.level))
        result.level = 0;
    return result;
}

f64 clamped_level(const Sampler& sampler, f64 level) {
    if (std::isnan(level))
        level = 0;
    // Limits that are NaN, which the machine's fixed point has not, limit nothing.
    return quantised(std::fmax(std::fmin(level, std::fmax(sampler.max_lod, sampler.min_lod)), sampler.min_lod));
}

Texel sample(const Texture& texture, const Sampler& sampler, const TextureAccess& access, const Footprint& footprint) {
    const f64 level = clamped_level(sampler, footprint.level), last = texture.levels - 1.0;
    const bool magnified = level <= 0;
    const Filter filter = magnified ? sampler.magnify : sampler.minify;
    const MipFilter mip = magnified ? MipFilter::None : sampler.mip;
    f64 first = 0;
    if (mip == MipFilter::Nearest)
        first = std::ceil(level + 0.5) - 1;
    else if (mip == MipFilter::Linear)
        first = std::floor(level);
    const f64 second_weight = mip == MipFilter::Linear && first < last ? level - first : 0;
    const u32 number = static_cast<u32>(std::clamp(first, 0.0, std::max(last, 0.0)));
    if (is_integer(texture.format) && !access.reference)
        return nearest_texel(texture, sampler, access, number); // integers are not filtered
    const auto nearest_alone = filter == Filter::Nearest && second_weight == 0 && footprint.probes == 1;
    if (nearest_alone) // keeps the bits of NaNs
        return nearest_texel(texture, sampler, access, number);
    Accumulator sum(sampler.reduction);
    for (unsigned i = 0; i < footprint.probes; ++i) {
        std::array<f64, 3> moved{};
        const f64 along = (i + 1.0) / (footprint.probes + 1.0) - 0.5;
        if (footprint.probes > 1)
            for (unsigned a = 0; a < 3; ++a)
                moved[a] = footprint.axis[a] * along;
        add_level(sum, texture, sampler, access, number, filter, moved, (1 - second_weight) / footprint.probes);
        if (second_weight != 0)
            add_level(sum, texture, sampler, access, number + 1, filter, moved, second_weight / footprint.probes);
    }
    return sum.result();
}

Texel gather(const Texture& texture, const Sampler& sampler, const TextureAccess& access, unsigned component,
             const std::array<std::array<i32, 2>, 4>* offsets) {
    const Level level(texture, sampler, access, 0);
    const Position p = position(texture, access, level.size(), {});
    const auto axis = taps_of(sampler, access, Filter::Linear, p, level.size());
    constexpr unsigned order[4][2] = {{0, 1}, {1, 1}, {1, 0}, {0, 0}};
    Texel result{};
    for (unsigned n = 0; n < 4; ++n) {
        const i64 i = offsets ? axis[0].texel[0] + (*offsets)[n][0] : axis[0].texel[order[n][0]];
        const i64 j = offsets ? axis[1].texel[0] + (*offsets)[n][1] : axis[1].texel[order[n][1]];
        result[n] = level.texel(i, j, 0, p.face)[component & 3];
    }
    return result;
}

Texel fetch(const Texture& texture, const std::array<i32, 3>& at, u32 layer, u32 level, u32 sample) {
    const auto offset = texture.offset(at[0], at[1], at[2], layer, level, sample);
    if (offset)
        return swizzled(texture, decode_texel(texture.format, texture.texels.data() + *offset));
    if (texture.width == 0)
        return {};
    constexpr std::array<std::byte, 16> zeros{};
    return swizzled(texture, decode_texel(texture.format, zeros.data()));
}

} // namespace heaviside::interpreter
