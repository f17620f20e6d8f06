// Textures of every target, and views that are not what the texture is.
#include "texture_fixture.h"

#include "gpu/commands.h"
#include "texture/layout.h"

namespace heaviside::replay {
namespace {

constexpr u64 target = 0x100000;

// A number that says which texel it is.
u32 texel_number(u32 level, u32 layer, u32 x, u32 y, u32 z) {
    return level << 28 | layer << 20 | z << 16 | y << 8 | x;
}

class Views : public TextureReads {
protected:
    // Fills the storage of an R32UI texture with numbers, by a formula of its own (ledger OBJ-152): blocks of one GOB
    // width, `block` GOBs height and `deep` slices.
    void number_level(u64 storage, u32 level, u32 layer, u32 width, u32 height, u32 depth, u32 block = 1,
                      u32 deep = 1) {
        const u32 gobs = (width * 4 + 63) / 64, gob_rows = (height + 7) / 8, high = (gob_rows + block - 1) / block;
        for (u32 z = 0; z < depth; ++z)
            for (u32 y = 0; y < height; ++y)
                for (u32 x = 0; x < width; ++x) {
                    const u64 index = (z / deep * high + y / 8 / block) * gobs + x / 16;
                    const u64 gob = index * block * deep + z % deep * block + y / 8 % block;
                    const u32 value = texel_number(level, layer, x, y, z);
                    std::memcpy(memory + storage + gob * 512 + tiled(x % 16 * 4, y % 8, 1, 1), &value, 4);
                }
    }
    stream::ImageDescription texture_of(u8 t, u32 width, u32 height, u32 depth, u16 layers, u8 levels = 1) {
        auto d = image(target, "R32UI", width, height, levels);
        d.texture.target = d.view.target = t;
        d.texture.depth = static_cast<u16>(depth);
        d.view.layer_count = layers;
        return d;
    }
};

TEST_F(Views, EveryTargetIsReadWhereItsTexelsLie) {
    struct Row {
        const char* name;
        u8 target;
        u32 width, height, depth; // as the API counts them
        u16 layers;
        u64 layer_stride; // bytes
        const char* fetch;
        std::vector<Words> at;     // coordinates
        std::vector<u32> expected; // numbers of the texels there
    };
    const auto n = [](u32 layer, u32 x, u32 y, u32 z) { return texel_number(0, layer, x, y, z); };
    const Row rows[] = {
        {"1D", target_1d, 40, 1, 1, 1, 0, fetch_1d, {{0}, {17}, {39}}, {n(0, 0, 0, 0), n(0, 17, 0, 0), n(0, 39, 0, 0)}},
        {"2D", target_2d, 20, 9, 1, 1, 0, fetch_2d, {{0, 0}, {19, 8}}, {n(0, 0, 0, 0), n(0, 19, 8, 0)}},
        {"3D", target_3d, 20, 9, 5, 1, 0, fetch_3d, {{3, 2, 4}, {19, 8, 1}}, {n(0, 3, 2, 4), n(0, 19, 8, 1)}},
        {"1D array",
         target_1d_array,
         20,
         3,
         1,
         3,
         1024,
         fetch_1d_array,
         {{2, 19}, {0, 3}},
         {n(2, 19, 0, 0), n(0, 3, 0, 0)}},
        {"2D array",
         target_2d_array,
         20,
         8,
         4,
         4,
         1024,
         fetch_2d_array,
         {{3, 19, 7}, {1, 0, 2}},
         {n(3, 19, 7, 0), n(1, 0, 2, 0)}},
        {"rectangle", target_rectangle, 13, 7, 1, 1, 0, fetch_2d, {{12, 6}}, {n(0, 12, 6, 0)}},
        {"cube", target_cube, 8, 8, 1, 6, 512, fetch_2d_array, {{5, 7, 7}, {0, 1, 2}}, {n(5, 7, 7, 0), n(0, 1, 2, 0)}},
        {"cube array",
         target_cube_array,
         8,
         8,
         12,
         12,
         512,
         fetch_2d_array,
         {{11, 7, 7}, {6, 1, 2}},
         {n(11, 7, 7, 0), n(6, 1, 2, 0)}}, // REN-024
    };
    u32 id = 300;
    u64 place = target - 0x10000;
    for (const Row& row : rows) {
        SCOPED_TRACE(row.name);
        place += 0x10000;
        const bool volume = row.target == target_3d;
        const u32 high = row.target == target_1d_array || row.target == target_1d ? 1 : row.height;
        for (u32 layer = 0; layer < row.layers; ++layer)
            number_level(place + layer * row.layer_stride, 0, layer, row.width, high, volume ? row.depth : 1);
        auto d = texture_of(row.target, row.width, row.height, row.depth, row.layers);
        d.texture.address = at(place).value;
        put(++id, d);
        const auto seen = look(row.fetch, id, row.at);
        for (std::size_t i = 0; i < seen.size(); ++i)
            EXPECT_EQ(seen[i], (Words{row.expected[i], 0, 0, 1}));
    }
}

TEST_F(Views, DeepBlocksOfAVolume) { // OBJ-178
    auto d = texture_of(target_3d, 40, 20, 9, 1);
    d.texture.block_height_log2 = 1;
    d.texture.block_depth_log2 = 2;
    number_level(target, 0, 0, 40, 20, 9, 2, 4);
    put(300, d);
    const auto seen = look(fetch_3d, 300, {{0, 0, 0}, {39, 19, 8}, {16, 15, 3}, {17, 16, 4}});
    EXPECT_EQ(seen[0][0], texel_number(0, 0, 0, 0, 0));
    EXPECT_EQ(seen[1][0], texel_number(0, 0, 39, 19, 8));
    EXPECT_EQ(seen[2][0], texel_number(0, 0, 16, 15, 3));
    EXPECT_EQ(seen[3][0], texel_number(0, 0, 17, 16, 4));
}

TEST_F(Views, MultisampledTexturesStartWithZeros) { // REN-005
    std::memset(memory + target, 0xff, 0x10000);
    auto d = texture_of(target_2d_ms, 8, 8, 1, 1);
    d.texture.samples = 4;
    put(300, d);
    for (u32 sample = 0; sample < 4; ++sample)
        EXPECT_EQ(look("TLD.LZ.MS R4, R0, R2, 0x8, 2D, 0xf", 300, {3, 5, sample, 0})[0], 0u) << sample;
}

TEST_F(Views, OneDimensionIsReadAsTwoAndBack) { // REN-022
    auto line = texture_of(target_1d, 64, 1, 1, 1);
    number_level(target, 0, 0, 64, 1, 1);
    put(300, line);
    std::vector<Words> all;
    for (u32 x = 0; x < 64; ++x)
        all.push_back({x, 0, 0, 0});
    const auto seen = look(fetch_2d, 300, all);
    for (u32 x = 0; x < 64; ++x)
        EXPECT_EQ(seen[x][0], texel_number(0, 0, x, 0, 0));
    EXPECT_EQ(look(fetch_1d, 300, {63, 0, 0, 0})[0], texel_number(0, 0, 63, 0, 0));
    const u32 changed = 12345; // both see what the CPU writes later
    std::memcpy(memory + target + 4, &changed, 4);
    EXPECT_EQ(look(fetch_2d, 300, {1, 0, 0, 0})[0], changed);
    EXPECT_EQ(look(fetch_1d, 300, {1, 0, 0, 0})[0], changed);

    auto lines = texture_of(target_1d_array, 20, 3, 1, 3);
    lines.texture.address = at(target + 0x4000).value;
    for (u32 layer = 0; layer < 3; ++layer)
        number_level(target + 0x4000 + layer * 1024, 0, layer, 20, 1, 1);
    put(301, lines);
    EXPECT_EQ(look(fetch_2d_array, 301, {2, 19, 0, 0})[0], texel_number(0, 2, 19, 0, 0));

    auto strip = texture_of(target_2d, 20, 1, 1, 1);
    strip.texture.address = at(target + 0x8000).value;
    number_level(target + 0x8000, 0, 7, 20, 1, 1);
    put(302, strip);
    EXPECT_EQ(look(fetch_1d, 302, {19, 0, 0, 0})[0], texel_number(0, 7, 19, 0, 0));
}

TEST_F(Views, ACubeViewOfOneLayerHasItOnEveryFace) { // GFX-157
    auto d = image(target, "R8", 15, 15);
    d.view.target = target_cube;
    std::memset(memory + target, 0x33, 0x400);
    put(300, d);
    const u32 p = word(1), m = word(-1);
    for (const u8 value : {u8{0x33}, u8{0x99}}) {
        std::memset(memory + target, value, 0x400);
        for (const Words& direction : {Words{p, 0, 0}, {m, 0, 0}, {0, p, 0}, {0, m, 0}, {0, 0, p}, {0, 0, m}})
            EXPECT_NEAR(number(look(sample_cube, 300, direction)[0]), value / 255.0f, 1e-6f);
    }
}

TEST_F(Views, StencilIsAnUnsignedNumber) { // GFX-178
    auto d = image(target, "DEPTH24_STENCIL8", 16, 8);
    d.view.depth_stencil_mode = 1;
    for (u32 i = 0; i < 512; i += 4) {
        const u32 value = 0x123456u << 8 | 0x5a;
        std::memcpy(memory + target + i, &value, 4);
    }
    put(300, d);
    EXPECT_EQ(look(fetch_2d, 300, {3, 4, 0, 0}), (Words{0x5a, 0, 0, 1}));
    EXPECT_EQ(look(sample_2d, 300, {word(0.5f), word(0.5f), 0, 0}), (Words{0x5a, 0, 0, 1}));
    EXPECT_EQ(look("TLD4.R R4, R0, RZ, 0x8, 2D, 0xf", 300, {word(0.5f), word(0.5f), 0, 0}),
              (Words{0x5a, 0x5a, 0x5a, 0x5a}));
    EXPECT_EQ(look("TLD4.G R4, R0, RZ, 0x8, 2D, 0xf", 300, {word(0.5f), word(0.5f), 0, 0}), Words{});
    auto depth = d; // the same texture, its depth
    depth.view.depth_stencil_mode = 0;
    put(301, depth);
    EXPECT_NEAR(number(look(fetch_2d, 301, {3, 4, 0, 0})[0]), 0x123456 / 16777215.0f, 1e-6f);
    auto layers = image(target + 0x2000, "DEPTH32F_STENCIL8", 8, 8); // one GOB a layer: rows of 64 bytes
    layers.texture.target = layers.view.target = target_2d_array;
    layers.texture.depth = layers.view.layer_count = 3;
    layers.view.depth_stencil_mode = 1;
    for (u32 layer = 0; layer < 3; ++layer)
        memory[target + 0x2000 + layer * 512 + tiled(7 * 8 + 4, 7, 1, 1)] = std::byte(0xa0 + layer);
    put(302, layers);
    EXPECT_EQ(look(fetch_2d_array, 302, {2, 7, 7, 0}), (Words{0xa2, 0, 0, 1}));
}

TEST_F(Views, StencilOfCubes) { // GFX-164
    auto d = image(target, "DEPTH24_STENCIL8", 8, 8);
    d.texture.target = d.view.target = target_cube;
    d.view.layer_count = 6;
    d.view.depth_stencil_mode = 1;
    for (u32 face = 0; face < 6; ++face)
        for (u32 i = 0; i < 512; i += 4)
            memory[target + face * 512 + i] = std::byte(face + 1);
    put(300, d);
    const u32 p = word(1), m = word(-1);
    u32 face = 0;
    for (const Words& direction : {Words{p, 0, 0}, {m, 0, 0}, {0, p, 0}, {0, m, 0}, {0, 0, p}, {0, 0, m}})
        EXPECT_EQ(look(sample_cube, 300, direction)[0], ++face);
}

TEST_F(Views, OneStorageIsDrawnThroughManyFormats) { // formats of one size share an image and take turns
    struct Row {
        const char* format;
        u32 red;
    };
    for (const Row& row : {Row{"RGBA8", 0x000000ff}, Row{"RGB10A2", 0x000003ff}, Row{"BGRA8", 0x00ff0000},
                           Row{"RG16", 0x0000ffff}, Row{"R32F", 0x3f800000}, Row{"RGBX8", 0xff0000ff}}) {
        SCOPED_TRACE(row.format);
        const auto d = image(target, row.format, 16, 8);
        Recorder r;
        set_targets(r, std::span(&d, 1));
        r.add(clear(1, 0, 0, 0));
        run(r);
        EXPECT_EQ(read<u32>(target) & 0xffffff, row.red & 0xffffff);
    }
    EXPECT_EQ(replay->statistics().textures, 1u);
}

TEST_F(Views, MoreLevelsThanTheSizeHas) { // REN-054
    auto d = texture_of(target_2d, 1, 1, 1, 1, 9);
    number_level(target, 0, 3, 1, 1, 1);
    put(300, d);
    EXPECT_EQ(look(fetch_2d, 300, {0, 0, 0, 0})[0], texel_number(0, 3, 0, 0, 0));
    auto volume = texture_of(target_3d, 2, 2, 16, 1, 5); // the depth holds them
    volume.texture.address = at(target + 0x4000).value;
    volume.view.first_level = 4;
    volume.view.level_count = 1;
    put(301, volume);
    EXPECT_EQ(look("TLD.LZ R4, R0, 0x8, 3D, 0xf", 301, {0, 0, 0, 0}), (Words{0, 0, 0, 1}));
}

TEST_F(Views, ObjectsOverOneStorageAreOneImage) { // REN-060, REN-061, OBJ-258
    auto d = texture_of(target_2d, 16, 8, 1, 1);
    number_level(target, 0, 0, 16, 8, 1);
    for (u32 i = 0; i < 1000; ++i) {
        d.texture.flags = i % 2 ? 4 : 0; // IMAGE
        put(300 + i, d);
    }
    for (const u32 id : {300u, 301u, 777u, 1299u})
        EXPECT_EQ(look(fetch_2d, id, {15, 7, 0, 0})[0], texel_number(0, 0, 15, 7, 0));
    EXPECT_EQ(replay->statistics().textures, 1u);
    EXPECT_EQ(replay->statistics().uploads, 1u);
    auto depth = image(target + 0x1000, "DEPTH24_STENCIL8", 16, 8), shader_image = depth;
    shader_image.texture.flags = 4;
    shader_image.view.depth_stencil_mode = 1;
    Recorder r;
    set_targets(r, {}, &depth);
    stream::ClearDepthStencil c{};
    c.depth = 1;
    c.depth_mask = 1;
    c.stencil_mask = 0xff;
    c.stencil = 0x77;
    r.add(c);
    run(r);
    put(2000, shader_image);
    EXPECT_EQ(look(fetch_2d, 2000, {3, 3, 0, 0})[0], 0x77u);
    EXPECT_EQ(replay->statistics().textures, 2u);
}

TEST_F(Views, BelongToTexturesNotToIds) { // REN-017, REN-018, OBJ-064, SHD-131: binds that go through ever new IDs
    stream::ImageDescription d[3];
    for (u32 i = 0; i < 3; ++i) {
        d[i] = texture_of(target_2d, 16, 8, 1, 1);
        d[i].texture.address = at(target + i * 0x1000).value;
        number_level(target + i * 0x1000, 0, i, 16, 8, 1);
    }
    const auto look_at = [&](u32 id, u32 which) {
        put(id, d[which]);
        EXPECT_EQ(look(fetch_2d, id, {1, 2, 0, 0})[0], texel_number(0, which, 1, 2, 0));
    };
    for (u32 i = 0; i < 3; ++i)
        look_at(256 + i, i);
    const auto views = [&] { return device->live[static_cast<unsigned>(gpu::Object::View)].load(); };
    const auto first = views();
    for (u32 i = 0; i < 200; ++i)
        look_at(300 + i * 7 % 3000, i % 3);
    EXPECT_EQ(views(), first);
    replay->finish(queue);
    replay->memory_pool_destroyed(at(0).value); // and go with the pool
    replay->run_on_replay_thread([](gpu::Queue& q) { q.collect(); });
    EXPECT_LE(views() + 3, first);
}

TEST_F(Views, BlocksOfAnotherSizeAreAnotherImage) {
    // One colour in each block; 4 x 4 and 8 x 8 texels of the same extent take other storage and are decoded apart.
    std::array<u16, 8> block{0xfdfc, 0xffff, 0xffff, 0xffff, 0x8080, 0, 0, 0xffff};
    for (u32 i = 0; i < 0x1000; i += 16)
        std::memcpy(memory + target + i, block.data(), 16);
    put(300, image(target, "RGBA_ASTC_4x4", 32, 32));
    put(301, image(target, "RGBA_ASTC_8x8", 32, 32));
    EXPECT_NEAR(number(look(fetch_2d, 300, {31, 31, 0, 0})[0]), 128 / 255.0f, 2e-3f);
    block[4] = 0xffff; // block (1, 0): of 8 x 8 texels it holds texel 8, of 4 x 4 texel 4
    std::memcpy(memory + target + tiled(16, 0, 1, 1), block.data(), 16);
    EXPECT_NEAR(number(look(fetch_2d, 301, {8, 0, 0, 0})[0]), 1.0f, 2e-3f);
    EXPECT_NEAR(number(look(fetch_2d, 301, {4, 0, 0, 0})[0]), 128 / 255.0f, 2e-3f);
    EXPECT_NEAR(number(look(fetch_2d, 300, {4, 0, 0, 0})[0]), 1.0f, 2e-3f);
    EXPECT_NEAR(number(look(fetch_2d, 300, {8, 0, 0, 0})[0]), 128 / 255.0f, 2e-3f);
}

TEST_F(Views, TakenOverStorageShowsItsNewTexture) { // OBJ-177, REN-063: decoders refill one place with many sizes
    for (u32 i = 0; i < 40; ++i) {
        auto d = texture_of(target_2d, 16 + i, 8 + i % 5, 1, 1);
        number_level(target, 0, i, 16 + i, 8 + i % 5, 1);
        put(300 + i % 3, d);
        EXPECT_EQ(look(fetch_2d, 300 + i % 3, {15 + i, 7, 0, 0})[0], texel_number(0, i, 15 + i, 7, 0));
    }
}

} // namespace
} // namespace heaviside::replay
