// Random descriptions of every kind against a second formula, written here from the ledger's rows (REN-041 to REN-046,
// OBJ-152 to OBJ-160) and sharing nothing with the code under test: sizes, offsets, blocks, and where each byte lies.
#include "texture/tiling.h"

#include <gtest/gtest.h>
#include <random>
#include <vector>

namespace heaviside::texture {
namespace {

struct Plane {                 // one level as the ledger describes it
    u64 width, height, depth;  // in bytes, rows, slices that texels need
    u64 columns;               // GOBs in a row
    u64 high = 1, deep = 1;    // GOBs of a block
    u64 offset = 0, bytes = 0; // in the layer
};

u64 up(u64 v, u64 to) {
    return (v + to - 1) / to * to;
}

struct Model {
    std::vector<Plane> planes;
    u64 layers = 1, layer_bytes = 0, pitch = 0, tiled = 0;
    bool linear = false;
};

u64 power_not_above(u64 v, u64 least, u64 most) {
    u64 out = 1;
    while (out * 2 <= v && out * 2 <= most)
        out *= 2;
    return std::max(out, least);
}

Model model_of(const Description& d) {
    Model m;
    const FormatInfo& f = info(d.format);
    const bool rows_are_layers = d.target == Target::D1 || d.target == Target::D1Array;
    const bool volume = d.target == Target::D3;
    if (d.target == Target::D1Array)
        m.layers = d.height;
    else if (d.target == Target::D2Array || d.target == Target::CubeArray || d.target == Target::D2MultisampleArray)
        m.layers = d.depth; // of cube arrays in faces: REN-024
    else if (d.target == Target::Cube)
        m.layers = 6;
    const u64 grid_x = d.samples >= 8   ? 4
                       : d.samples >= 2 ? 2
                                        : 1,
              grid_y = d.samples == 16  ? 4
                       : d.samples >= 4 ? 2
                                        : 1;
    for (u32 level = 0; level < std::max(1u, d.levels); ++level) {
        Plane p{};
        const auto halved = [level](u64 v) { return std::max<u64>(1, v >> level); };
        p.width = (halved(d.width) * grid_x + f.block_width - 1) / f.block_width * f.block_bytes;
        p.height = rows_are_layers ? 1 : (halved(d.height) * grid_y + f.block_height - 1) / f.block_height;
        p.depth = volume ? halved(d.depth) : 1;
        p.columns = up(p.width, 64) / 64;
        m.planes.push_back(p);
    }
    if (d.flags & (flags::linear | flags::linear_render_target)) { // OBJ-155, OBJ-159
        m.linear = true;
        m.pitch = d.stride ? d.stride : up(m.planes[0].width, d.flags & flags::linear_render_target ? 128 : 32);
        m.planes.resize(1);
        m.planes[0].bytes = m.pitch * (rows_are_layers ? 1 : d.height * grid_y) * m.planes[0].depth;
        m.layer_bytes = m.planes[0].bytes;
        return m;
    }
    // REN-044, REN-045: the 64 KiB tile by bytes of a block, in GOBs; three-component formats count as the power below.
    const u64 size = power_not_above(f.block_bytes, 1, 16);
    u64 tile_high = size == 1 ? 32 : size <= 4 ? 16 : 8, tile_wide = 128 / tile_high, tile_deep = 1;
    if (volume) {
        tile_deep = size <= 2 ? 32 : 16;
        tile_high = size <= 4 ? 4 : 2;
        tile_wide = 128 / tile_high / tile_deep;
    }
    const bool sparse = d.flags & flags::sparse;
    const auto fills = [&](const Plane& p) {
        return p.columns >= tile_wide && p.height >= tile_high * 8 && p.depth >= tile_deep;
    };
    u64 high = power_not_above(m.planes[0].height * 3 / 16, 1, 16); // REN-041
    u64 deep = volume ? power_not_above(m.planes[0].depth * 3 / 2, 1, 32) : 1;
    if (sparse && fills(m.planes[0])) { // REN-046: else as plain textures
        high = tile_high;
        deep = tile_deep;
    }
    if (d.packaged) { // OBJ-154
        high = u64{1} << std::min(*d.packaged & 15, 5);
        deep = volume ? u64{1} << std::min(*d.packaged >> 4 & 15, 5) : 1;
    }
    const auto place = [&](u64 block_high, u64 block_deep) {
        u64 at = 0;
        bool tail = !sparse;
        m.tiled = 0;
        for (std::size_t i = 0; i < m.planes.size(); ++i) {
            Plane& p = m.planes[i];
            p.columns = up(p.width, 64) / 64;
            tail |= !fills(p);
            p.high = block_high;
            p.deep = block_deep;
            if (!tail) { // REN-042
                p.columns = up(p.columns, std::max<u64>(1, 128 / (block_high * block_deep)));
                ++m.tiled;
            } else if (m.planes.size() > 1) {
                while (p.high > 1 && up(p.height, 8) / 8 <= p.high / 2)
                    p.high /= 2;
                while (p.deep > 1 && p.depth <= p.deep / 2)
                    p.deep /= 2;
            }
            p.offset = at;
            p.bytes = p.columns * 512 * up(up(p.height, 8) / 8, p.high) * up(p.depth, p.deep);
            at += p.bytes;
        }
        return sparse ? up(at, 65536) : m.layers > 1 ? up(at, m.planes[0].high * m.planes[0].deep * 512) : at;
    };
    m.layer_bytes = place(high, deep);
    if ((d.flags & flags::minimal_layout) && !d.packaged && !sparse) { // OBJ-156
        const u64 automatic = m.layer_bytes, least = place(1, 1);
        m.layer_bytes = automatic > least ? least : place(high, deep);
    }
    return m;
}

// Where byte x of row y of slice z lies in a level: OBJ-152, OBJ-153.
u64 place_of(const Plane& p, GobOrder order, u64 x, u64 y, u64 z) {
    const u64 rows_of_blocks = up(up(p.height, 8) / 8, p.high) / p.high;
    u64 at = z / p.deep * rows_of_blocks * p.columns * p.high * p.deep;
    at += y / 8 / p.high * p.columns * p.high * p.deep;
    at += x / 64 * p.high * p.deep;
    at += z % p.deep * p.high + y / 8 % p.high;
    const u64 x1 = x % 64 / 32, x0 = x % 32 / 16, y2 = y % 8 / 4, y1 = y % 4 / 2, y0 = y % 2;
    const u64 inside = order == GobOrder::TegraX1 ? x1 * 256 + y2 * 128 + y1 * 64 + x0 * 32 + y0 * 16
                                                  : x1 * 256 + y2 * 128 + x0 * 64 + y1 * 32 + y0 * 16;
    return at * 512 + inside + x % 16;
}

class Randomly {
public:
    explicit Randomly(u32 seed) : random_(seed) {}
    u32 operator()(u32 low, u32 high) { return low + static_cast<u32>(random_() % (high - low + 1)); }
    // Small sizes often, large ones now and then.
    u32 size(u32 most) { return (*this)(1, std::min(most, 1u << (*this)(0, 8))); }

private:
    std::mt19937 random_;
};

Description describe(Randomly& pick) {
    Description d;
    constexpr Target targets[] = {Target::D1,
                                  Target::D2,
                                  Target::D3,
                                  Target::D1Array,
                                  Target::D2Array,
                                  Target::D2Multisample,
                                  Target::Rectangle,
                                  Target::Cube,
                                  Target::CubeArray,
                                  Target::D2,
                                  Target::D2MultisampleArray};
    d.target = targets[pick(0, 10)];
    do
        d.format = static_cast<Format>(pick(1, format_count - 1));
    while (!is_valid(d.format));
    d.width = pick.size(400);
    d.height = d.target == Target::D1Array ? pick(1, 6) : pick.size(300);
    d.depth = d.target == Target::D3 ? pick.size(40) : d.target == Target::CubeArray ? 6 * pick(1, 2) : pick(1, 5);
    const bool multisampled = d.target == Target::D2Multisample || d.target == Target::D2MultisampleArray;
    if (multisampled)
        d.samples = 1u << pick(0, 4);
    else
        d.levels = pick(0, 2) ? pick(1, 9) : 1;
    switch (pick(0, 7)) {
    case 0:
        d.flags = flags::linear;
        d.stride = pick(0, 1) ? 32 * pick(30, 300) : 0;
        break;
    case 1:
        d.flags = flags::linear_render_target;
        break;
    case 2:
        d.flags = flags::minimal_layout;
        break;
    case 3:
        d.flags = flags::sparse;
        d.width *= pick(1, 4);
        d.height *= d.target == Target::D1Array ? 1 : pick(1, 4);
        break;
    case 4:
        d.packaged = static_cast<u16>(pick(0, 5) | pick(0, 5) << 4);
        break;
    default:
        break;
    }
    return d;
}

TEST(LayoutProof, RandomDescriptionsRoundTripWhereTheSecondFormulaPutsThem) {
    Randomly pick(20241);
    std::vector<std::byte> storage, rows, back;
    u64 seen_linear = 0, seen_tiled = 0, seen_sparse = 0, seen_volume = 0, round_trips = 0;
    for (u32 round = 0; round < 120'000; ++round) {
        Description d = describe(pick);
        const auto l = layout(d);
        ASSERT_TRUE(l) << l.error().message;
        const Model m = model_of(d);
        const auto what = [&] {
            return testing::Message() << "round " << round << ": " << info(d.format).name << " target "
                                      << static_cast<int>(d.target) << " " << d.width << " x " << d.height << " x "
                                      << d.depth << ", " << d.levels << " levels, " << d.samples << " samples, flags "
                                      << d.flags;
        };
        ASSERT_EQ(l->linear, m.linear) << what();
        ASSERT_EQ(l->layers, m.layers) << what();
        ASSERT_EQ(l->layer_stride, m.layer_bytes) << what();
        ASSERT_EQ(l->size, m.layer_bytes * m.layers) << what();
        ASSERT_EQ(l->level_count, m.planes.size()) << what();
        for (std::size_t i = 0; i < m.planes.size(); ++i) {
            const Level& level = l->levels[i];
            const Plane& p = m.planes[i];
            ASSERT_EQ(level.offset, p.offset) << what() << " level " << i;
            ASSERT_EQ(level.size, p.bytes) << what() << " level " << i;
            ASSERT_EQ(level.row_bytes, p.width) << what() << " level " << i;
            if (!m.linear) {
                ASSERT_EQ(1u << level.block_height_log2, p.high) << what() << " level " << i;
                ASSERT_EQ(1u << level.block_depth_log2, p.deep) << what() << " level " << i;
            }
        }
        seen_linear += m.linear;
        seen_tiled += m.tiled != 0;
        seen_sparse += (d.flags & flags::sparse) != 0;
        seen_volume += d.target == Target::D3;

        // A region of a level, at most a few kilobytes, there and back.
        const auto index = pick(0, static_cast<u32>(m.planes.size()) - 1);
        const u32 layer = pick(0, l->layers - 1);
        const Level& level = l->levels[index];
        const Plane& p = m.planes[index];
        BlockRegion r{};
        r.x = pick(0, level.blocks_x - 1), r.width = pick(1, std::min(level.blocks_x - r.x, 40u));
        r.y = pick(0, level.blocks_y - 1), r.height = pick(1, std::min(level.blocks_y - r.y, 20u));
        r.z = pick(0, level.depth - 1), r.depth = pick(1, std::min(level.depth - r.z, 3u));
        const GobOrder order = pick(0, 1) ? GobOrder::TegraX1 : GobOrder::Switch2;
        const LinearPitch pitch = packed(*l, r);
        rows.resize(linear_size(*l, r, pitch));
        for (std::size_t i = 0; i < rows.size(); ++i)
            rows[i] = static_cast<std::byte>((i * 2654435761u + round) >> 13);
        back.assign(rows.size(), std::byte{0});
        storage.resize(std::max<u64>(storage.size(), l->size)); // what earlier rounds left is there still
        const MutableBytes bytes(storage.data(), l->size);
        ASSERT_TRUE(write_region(*l, layer, index, r, bytes, rows, pitch, order)) << what();
        ASSERT_TRUE(read_region(*l, layer, index, r, bytes, back, pitch, order)) << what();
        ASSERT_EQ(rows, back) << what();
        ++round_trips;
        const u64 row_bytes = u64{r.width} * l->block_bytes, first = u64{r.x} * l->block_bytes;
        for (int i = 0; i < 24; ++i) {
            const u64 x = pick(0, static_cast<u32>(row_bytes) - 1), y = pick(0, r.height - 1), z = pick(0, r.depth - 1);
            const u64 at = layer * m.layer_bytes + p.offset +
                           (m.linear ? (r.z + z) * (p.bytes / p.depth) + (r.y + y) * m.pitch + first + x
                                     : place_of(p, order, first + x, r.y + y, r.z + z));
            ASSERT_LT(at, l->size) << what();
            ASSERT_EQ(storage[at], rows[z * pitch.slice + y * pitch.row + x]) << what();
        }
    }
    EXPECT_GE(round_trips, 100'000u);
    EXPECT_GT(seen_linear, 10'000u);
    EXPECT_GT(seen_sparse, 10'000u);
    EXPECT_GT(seen_tiled, 300u);
    EXPECT_GT(seen_volume, 5'000u);
}

TEST(LayoutProof, LargeTexturesTakeTheSameWay) { // 16 MiB and more go past the caches
    for (const GobOrder order : {GobOrder::TegraX1, GobOrder::Switch2}) {
        Description d{.format = format_named("RGBA8"), .width = 2048, .height = 2080};
        const auto l = layout(d);
        ASSERT_TRUE(l);
        const BlockRegion r = whole(l->levels[0]);
        const LinearPitch pitch = packed(*l, r);
        const u64 size = linear_size(*l, r, pitch);
        std::vector<std::byte> memory(size + l->size + 128);
        const u64 skip = (64 - reinterpret_cast<u64>(memory.data()) % 64) % 64;
        const MutableBytes rows(memory.data() + skip, size), storage(memory.data() + skip + size, l->size);
        for (u64 i = 0; i < size / 4; ++i) {
            const auto v = static_cast<u32>(i);
            std::copy_n(reinterpret_cast<const std::byte*>(&v), 4, rows.begin() + static_cast<std::ptrdiff_t>(i * 4));
        }
        ASSERT_TRUE(write_region(*l, 0, 0, r, storage, rows, pitch, order));
        const Model m = model_of(d);
        for (u32 y = 0; y < 2080; y += 13)
            for (u32 x = 0; x < 2048; x += 7) {
                u32 v = 0;
                std::copy_n(storage.begin() + static_cast<std::ptrdiff_t>(place_of(m.planes[0], order, x * 4, y, 0)), 4,
                            reinterpret_cast<std::byte*>(&v));
                ASSERT_EQ(v, y * 2048 + x);
            }
        std::vector<std::byte> before(rows.begin(), rows.end());
        std::fill(rows.begin(), rows.end(), std::byte{0});
        ASSERT_TRUE(read_region(*l, 0, 0, r, storage, rows, pitch, order));
        ASSERT_TRUE(std::equal(rows.begin(), rows.end(), before.begin()));
    }
}

TEST(LayoutProof, NumbersOfTheLedger) {
    const auto bytes = [](Description d) { return layout(d).value().size; };
    // OBJ-155, OBJ-156, OBJ-159
    EXPECT_EQ(
        bytes({.format = format_named("RGB_DXT1"), .width = 64, .height = 64, .flags = flags::linear, .stride = 128}),
        8192u);
    EXPECT_EQ(bytes({.format = format_named("R16"), .width = 320, .height = 320, .flags = flags::minimal_layout}),
              204800u);
    EXPECT_EQ(bytes({.format = format_named("R16"), .width = 320, .height = 320}), 245760u);
    EXPECT_EQ(bytes({.format = format_named("RGBA8"), .width = 16, .height = 16, .flags = 0x44, .stride = 128}), 2048u);
    // OBJ-040: 64 KiB tiles
    const auto tile = [](const char* format) { return sparse_tile_shape(format_named(format), Target::D2); };
    EXPECT_EQ(tile("BPTC_UNORM").width, 256u);
    EXPECT_EQ(tile("BPTC_UNORM").height, 256u);
    EXPECT_EQ(tile("RGBA_ASTC_8x8").width, 512u);
    EXPECT_EQ(tile("RGBA_ASTC_8x8").height, 512u);
    EXPECT_EQ(tile("RGBA8").width, 128u);
    EXPECT_EQ(tile("RGBA8").height, 128u);
    // OBJ-160: 736-byte rows of an R8 plane, 32-byte rows of 8 x 8 RGBA8
    EXPECT_EQ(layout({.format = format_named("R8"), .width = 720, .height = 8, .flags = flags::linear})->pitch, 736u);
    EXPECT_EQ(layout({.format = format_named("RGBA8"), .width = 8, .height = 8, .flags = flags::linear})->pitch, 32u);
}

} // namespace
} // namespace heaviside::texture
