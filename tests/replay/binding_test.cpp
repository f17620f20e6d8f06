// What programs find behind their bindings: texture and image handles of every dimension.
#include "binding_fixture.h"

namespace heaviside::replay {
namespace {

// OBJ-081, REN-019, REN-023, REN-026, OBJ-083: the instruction says the dimension. Layers and faces are the same bytes;
// what has too few of them reads zero.
TEST_F(Bindings, LayeredTexturesAreReadThroughEveryDimension) {
    struct Row {
        u8 target;
        u16 depth, layers;
        f32 plain, third_layer, cube_face_4, second_cube_face_1; // 0: zero
    };
    const Row rows[] = {
        {target_2d, 1, 1, 1, 1, 0, 0}, // a layer past the end is the last
        {target_2d_array, 5, 5, 1, 3, 0, 0}, {target_2d_array, 12, 12, 1, 3, 5, 8},
        {target_cube, 1, 6, 1, 3, 5, 2},     {target_cube_array, 12, 12, 1, 3, 5, 8},
    };
    u32 id = 256;
    for (const Row& row : rows) {
        const auto d = layered(row.target, row.depth, row.layers);
        number_layers(d, row.layers);
        put(++id, d);
        const auto red = [&](const std::string& instruction, Words c) {
            return std::bit_cast<f32>(find(instruction, id, c)[0]);
        };
        SCOPED_TRACE(static_cast<int>(row.target) * 100 + row.layers);
        EXPECT_EQ(red(fetch_2d, {2, 3, 0, 0}), row.plain);
        EXPECT_EQ(red(fetch_2d_array, {2, 2, 3, 0}), row.third_layer);
        EXPECT_EQ(red(sample_cube, {f(0.1f), f(0.1f), f(1), 0}), row.cube_face_4); // +z
        EXPECT_EQ(red(sample_cube_array, {1, f(-1), f(0.1f), f(0.1f)}), row.second_cube_face_1);
        EXPECT_EQ(red(sample_cube, {f(0.1f), f(0.1f), f(1), 0}), row.cube_face_4); // and again
        EXPECT_EQ(red(fetch_3d, {2, 3, 0, 0}), 0);                                 // REN-027
    }
}

// REN-021: a view's first level and layer and its swizzle count for every dimension that it is read through.
TEST_F(Bindings, ViewsOfViewsComposeOverTheBaseImage) {
    const auto base = layered(target_2d_array, 18, 18, "RGBA8", 16, 4);
    auto level1 = base;
    level1.view.first_level = 1;
    level1.view.level_count = 1;
    Recorder r;
    for (i32 layer = 0; layer < 18; ++layer) {
        stream::ClearTexture c{};
        c.value_class = stream::ClearClass::Float;
        c.mask = 0xf;
        c.value[0] = f(static_cast<f32>(layer) / 255);
        c.value[2] = f(static_cast<f32>(100 + layer) / 255);
        c.region = {0, 0, layer, 8, 8, 1};
        c.image = level1;
        r.add(c);
    }
    run(r);
    auto view = base;
    view.view.target = target_cube;
    view.view.first_layer = 6;
    view.view.layer_count = 6;
    view.view.first_level = 1;
    view.view.level_count = 3;
    view.view.swizzle[0] = 4; // blue, green, red, alpha
    view.view.swizzle[2] = 2;
    put(256, view);
    const Words face4 = find(sample_cube, 256, {f(0.1f), f(0.1f), f(1), 0});
    EXPECT_NEAR(std::bit_cast<f32>(face4[0]) * 255, 110, 0.01);
    EXPECT_NEAR(std::bit_cast<f32>(face4[2]) * 255, 10, 0.01);
    const Words layer2 = find(fetch_2d_array, 256, {2, 1, 1, 0});
    EXPECT_NEAR(std::bit_cast<f32>(layer2[0]) * 255, 108, 0.01);
}

// REN-009: samples exchange, images do not.
TEST_F(Bindings, ImagesIgnoreTheSwizzle) {
    auto d = layered(target_2d, 1, 1, "RGBA8");
    d.texture.flags = flag_image;
    Recorder r;
    stream::ClearTexture c{};
    c.value_class = stream::ClearClass::Float;
    c.mask = 0xf;
    c.value[0] = f(1);
    c.region = {0, 0, 0, 8, 8, 1};
    c.image = d;
    r.add(c);
    run(r);
    d.view.swizzle[0] = 4;
    d.view.swizzle[2] = 2;
    put(256, d);
    EXPECT_EQ(find(fetch_2d, 256, {1, 1, 0, 0}), (Words{0, 0, f(1), 0}));
    EXPECT_EQ(find("SULD.P.2D.IGN R4, [R0], 0x48", 256, {1, 1, 0, 0}), (Words{f(1), 0, 0, 0}));
}

// REN-030: the texel's own bits, whatever its format, in and out.
TEST_F(Bindings, RawImagesAreTheTexelsBits) {
    auto d = layered(target_2d, 1, 1, "RGBA8");
    d.texture.flags = flag_image;
    Recorder r;
    stream::ClearTexture c{};
    c.value_class = stream::ClearClass::Float;
    c.mask = 0xf;
    for (u32 i = 0; i < 4; ++i)
        c.value[i] = f(static_cast<f32>(0x11 * (i + 1)) / 255);
    c.region = {0, 0, 0, 8, 8, 1};
    c.image = d;
    r.add(c);
    run(r);
    put(256, d);
    EXPECT_EQ(find("SULD.D.2D.IGN R4, [R0], 0x48", 256, {1, 1, 0, 0})[0], 0x44332211u);
    (void)find("SUST.D.2D.IGN [R0], R2, 0x48", 256, {1, 1, 0x01020304, 0});
    const Words texel = find(fetch_2d, 256, {1, 1, 0, 0});
    for (u32 i = 0; i < 4; ++i)
        EXPECT_NEAR(std::bit_cast<f32>(texel[i]) * 255, 4 - static_cast<f32>(i), 0.01);
}

// OBJ-248, OBJ-249: one table for both kinds of handle, and a texture that was never said to be an image is one when a
// program writes it: R16F, compressible, 256 x 256, four texels an invocation.
TEST_F(Bindings, AnyTextureCanBeWrittenAsAnImage) {
    for (const bool as_image : {false, true}) {
        auto d = layered(target_2d, 1, 1, "R16F", 256);
        d.texture.flags = 0x8; // COMPRESSIBLE
        replay->texture_registered(texture_pool, 300, d, as_image);
        const std::string store = "MOV32I R10, 0x3f800000\nMOV R4, R10\nMOV R5, R10\nMOV R6, R10\nMOV R7, R10\n"
                                  "SUST.P.2D.IGN [R0], R4, 0x48\nIADD32I R0, R0, 0x1\nSUST.P.2D.IGN [R0], R4, 0x48\n"
                                  "IADD32I R0, R0, 0x1\nSUST.P.2D.IGN [R0], R4, 0x48\nIADD32I R0, R0, 0x1\n"
                                  "SUST.P.2D.IGN [R0], R4, 0x48";
        (void)find(store, 300, {100, 200, 0, 0});
        for (u32 x = 99; x <= 104; ++x)
            EXPECT_EQ(find(fetch_2d, 300, {x, 200, 0, 0})[0], x >= 100 && x < 104 ? f(1) : 0) << x;
        replay->texture_registered(texture_pool, 300, {}, false);
    }
}

// GFX-084: stores do not encode, whatever samples decode; both orders of components.
TEST_F(Bindings, StoresToSrgbAreLinear) {
    for (const char* format : {"RGBA8_SRGB", "BGRA8_SRGB"}) {
        const auto d = layered(target_2d, 1, 1, format);
        put(256, d);
        (void)find("MOV R4, R2\nMOV R5, R3\nMOV R6, RZ\nMOV R7, RZ\nSUST.P.2D.IGN [R0], R4, 0x48", 256,
                   {1, 0, f(0.5f), f(1)});
        Recorder r;
        copy_out(r, d, result, 8, 8);
        run(r);
        const bool bgr = format[0] == 'B';
        EXPECT_NEAR(read<u8>(result + 4 + (bgr ? 2 : 0)), 127.5, 0.6) << format;
        EXPECT_EQ(read<u8>(result + 5), 255) << format;
        EXPECT_NEAR(std::bit_cast<f32>(find(fetch_2d, 256, {1, 0, 0, 0})[0]), 0.2140, 3e-3) << format; // decoded
    }
}

// GFX-085: the image that is bound decides what a program's store means.
TEST_F(Bindings, OneProgramStoresToImagesOfEveryClass) {
    const std::string store = "MOV R4, R2\nMOV R5, R2\nMOV R6, R2\nMOV R7, R2\nSUST.P.2D.IGN [R0], R4, 0x48";
    struct Case {
        const char* format;
        u32 stored, texel;
    };
    u32 id = 256;
    for (const Case& c : {Case{"RGBA8", f(0.2f), 0x33333333}, Case{"RGBA8UI", 7, 0x07070707},
                          Case{"RGBA8I", ~0u, 0xffffffff}, Case{"R32F", f(1.5f), f(1.5f)}, Case{"RGBA8", f(1), ~0u}}) {
        const auto d = layered(target_2d, 1, 1, c.format);
        put(++id, d);
        (void)find(store, id, {2, 3, c.stored, 0});
        Recorder r;
        copy_out(r, d, result, 8, 8);
        run(r);
        EXPECT_EQ(read<u32>(result + (3 * 8 + 2) * 4), c.texel) << c.format;
    }
}

// SHD-150: atomics, and reads of the same texture, in every layer of an array.
TEST_F(Bindings, ImageAtomicsAndReadsAreOfTheSameTexels) {
    auto d = layered(target_2d_array, 4, 4, "R32UI", 16);
    d.texture.flags = flag_image;
    put(256, d);
    for (u32 layer = 0; layer < 4; ++layer)
        for (const u32 value : {50 + layer, 20u, 70 + layer, 60u})
            (void)find("SURED.P.2D_ARRAY.MAX.IGN [R0], R3, 0x48", 256, {3, 5, layer, value});
    for (u32 layer = 0; layer < 4; ++layer)
        EXPECT_EQ(find(fetch_2d_array, 256, {layer, 3, 5, 0})[0], 70 + layer) << layer;
}

// OBJ-028: an empty slot, and handles past the end of a pool, read zero; nothing is an error.
TEST_F(Bindings, EmptySlotsReadZero) {
    const auto d = layered(target_2d, 1, 1);
    number_layers(d, 1);
    for (const u32 id : {188u, 256u, 511u, pool_size_ids - 1}) // where IDs that are cut short would lead
        put(id, d);
    EXPECT_EQ(find(fetch_2d, 188, {1, 1, 0, 0})[0], f(1));
    EXPECT_EQ(find(fetch_2d, 511, {1, 1, 0, 0})[0], f(1));
    EXPECT_EQ(find(fetch_2d, pool_size_ids - 1, {1, 1, 0, 0})[0], f(1));
    const u64 before = log::error_count();
    EXPECT_EQ(find(fetch_2d, 256, {1, 1, 0, 0})[0], f(1));
    for (const u32 handle : {~0u, 0xfffffu, pool_size_ids, 0xfff00000u | 700u, 700u, 0u})
        EXPECT_EQ(find(fetch_2d, handle, {1, 1, 0, 0}), Words{}) << handle;
    EXPECT_EQ(log::error_count(), before);
}

// REN-029: of multisampled textures that are not there every sample reads zero, also where no null descriptors are.
class NoNullDescriptors : public Bindings {
protected:
    gpu::DeviceOptions device_options() override {
        gpu::DeviceOptions options = Bindings::device_options();
        options.disable += (options.disable.empty() ? "" : ",") + std::string("null_descriptor");
        return options;
    }
};
TEST_F(NoNullDescriptors, MissingSamplesReadZero) {
    for (u32 sample = 0; sample < 4; ++sample) {
        EXPECT_EQ(find("TLD.LZ.MS R4, R0, R2, 0x8, 2D, 0xf", 700, {3, 5, sample, 0}), Words{}) << sample;
        EXPECT_EQ(find("TLD.LZ.MS R4, R0, R3, 0x8, ARRAY_2D, 0xf", 700, {0, 3, 5, sample}), Words{}) << sample;
    }
    EXPECT_EQ(find(fetch_2d, 700, {3, 5, 0, 0}), Words{});
}

// SHD-151: what is done to an image that is not there reaches no memory.
TEST_F(Bindings, StoresToMissingImagesGoNowhere) {
    // ID 701 held an image there, which a program has written; it is gone before the rest.
    auto gone = image(0x200000, "R32UI", 8, 8);
    gone.texture.flags = flag_image;
    put(701, gone);
    (void)find("SURED.P.2D.ADD.IGN [R0], R3, 0x48", 701, {1, 1, 0, 1});
    put(701, {});
    std::memset(memory + 0x200000, 0x5a, 0x100000);
    replay->memory_written(at(0x200000).value, 0x100000);
    put(702, gone); // the image has the bytes
    EXPECT_EQ(find(fetch_2d, 702, {1, 1, 0, 0})[0], 0x5a5a5a5au);
    for (const u32 handle : {~0u, 700u, 701u})
        for (const u32 offset : {0u, 0x1000u, 0x20000u, 0x80000u}) {
            (void)find("SURED.P.1D_BUFFER.ADD.IGN [R0], R3, 0x48", handle, {offset, 0, 0, 1});
            (void)find("SURED.P.2D.ADD.IGN [R0], R3, 0x48", handle, {offset, offset, 0, 1});
            (void)find("SUST.P.2D.IGN [R0], R4, 0x48", handle, {offset, 1, 0, 1});
        }
    for (const u32 y : {0u, 1u})
        EXPECT_EQ(find(fetch_2d, 702, {0, y, 0, 0})[0], 0x5a5a5a5au) << y;
    for (u64 i = 0; i < 0x100000; ++i)
        ASSERT_EQ(read<u8>(0x200000 + i), 0x5a);
}

// OBJ-251, SHD-149: consecutive slots, thirty of them in one program.
TEST_F(Bindings, ThirtyTexturesInOneProgram) {
    std::vector<u32> ids;
    std::string sum = "MOV R10, R0\nMOV R11, R1\nMOV R12, RZ\n";
    for (u32 i = 0; i < 30; ++i) {
        auto d = layered(target_2d, 1, 1, "R32F", 8);
        next_at_ -= 0x20000 - 0x1000;
        Recorder r;
        stream::ClearTexture c{};
        c.mask = 0xf;
        c.value[0] = f(static_cast<f32>(1u << (i % 15)));
        c.region = {0, 0, 0, 8, 8, 1};
        c.image = d;
        r.add(c);
        run(r);
        put(256 + i, d);
        ids.push_back(256 + i);
        const u32 slot = i + 2;
        sum +=
            fmt::format("MOV R0, R10\nMOV R1, R11\nTLD.LZ R4, R0, {:#x}, 2D, 0x1\nFADD R12, R12, R4\n", 8 + 2 * slot);
    }
    sum += "MOV R4, R12";
    Recorder r;
    begin(r, sum, {1, 1, 0, 0});
    handles(r, stream::HandleKind::Texture, 2, ids);
    EXPECT_EQ(finish(r)[0], f(2 * 32767.0f));
}

// OBJ-069: work that was submitted reads what its ID held then, whatever is registered behind it.
TEST_F(Bindings, SubmittedWorkKeepsItsDescriptors) {
    const auto first = layered(target_2d_array, 5, 5), second = layered(target_2d_array, 5, 5);
    number_layers(first, 5);
    number_layers(second, 5);
    constexpr u32 rounds = 60;
    std::vector<stream::Buffer> streams;
    for (u32 i = 0; i < rounds; ++i) {
        auto d = i % 2 ? first : second;
        d.view.first_layer = static_cast<u16>(i % 5);
        d.view.layer_count = 1;
        put(256, d);
        write(coordinates + 64, Words{1, 1, 0, 0});
        Recorder r;
        select_pools(r);
        bind(r, reading(fetch_2d), compute_bit);
        uniform(r, stream::Stage::Compute, 0, coordinates + 64, 16);
        storage(r, stream::Stage::Compute, 0, result + 16 * i, 16);
        handles(r, stream::HandleKind::Texture, 0, {256});
        dispatch(r);
        replay->submit(queue, {0, 1}, r.take());
    }
    replay->finish(queue);
    for (u32 i = 0; i < rounds; ++i)
        EXPECT_EQ(read<u32>(result + 16 * i), f(static_cast<f32>(i % 5 + 1))) << i;
}

// OBJ-071, REN-018: a texture of another kind in the same ID.
TEST_F(Bindings, AnIdCanHoldAnotherKindOfTexture) {
    const auto cube = layered(target_cube, 1, 6), flat_one = layered(target_2d, 1, 1);
    number_layers(cube, 6);
    number_layers(flat_one, 1);
    const Words up{f(0.1f), f(1), f(0.1f), 0};
    for (int i = 0; i < 3; ++i) {
        put(256, cube);
        EXPECT_EQ(find(sample_cube, 256, up)[0], f(3));
        put(256, flat_one);
        EXPECT_EQ(find(sample_cube, 256, up)[0], 0u); // OBJ-085
        EXPECT_EQ(find(fetch_2d, 256, {1, 1, 0, 0})[0], f(1));
    }
}

// REN-026, REN-027: what an ID held before is not what a texture of fewer layers or dimensions is read as.
TEST_F(Bindings, WhatAnIdHeldBeforeIsGone) {
    const auto flat_one = layered(target_2d, 1, 1), five = layered(target_2d_array, 5, 5),
               cubes = layered(target_cube_array, 12, 12);
    auto volume = layered(target_3d, 4, 1);
    number_layers(flat_one, 1);
    number_layers(five, 5);
    number_layers(cubes, 12);
    number_layers(volume, 4);
    const u64 errors = log::error_count();
    for (const auto& texture : {flat_one, five}) {
        put(256, volume);
        EXPECT_EQ(find(fetch_3d, 256, {2, 3, 1, 0})[0], f(2));
        put(256, cubes);
        EXPECT_EQ(find(sample_cube, 256, {f(0.1f), f(0.1f), f(1), 0})[0], f(5));
        EXPECT_EQ(find(sample_cube_array, 256, {1, f(-1), f(0.1f), f(0.1f)})[0], f(8));
        put(256, texture);
        EXPECT_EQ(find(fetch_3d, 256, {2, 3, 0, 0})[0], 0u);
        EXPECT_EQ(find(sample_cube, 256, {f(0.1f), f(0.1f), f(1), 0})[0], 0u);
        EXPECT_EQ(find(sample_cube_array, 256, {1, f(-1), f(0.1f), f(0.1f)})[0], 0u);
        EXPECT_EQ(find(fetch_2d, 256, {2, 3, 0, 0})[0], f(1));
    }
    put(256, volume); // a slot of another dimension leaves this one alone
    EXPECT_EQ(find(fetch_2d, 256, {1, 1, 0, 0})[0], 0u);
    EXPECT_EQ(find(fetch_3d, 256, {2, 3, 1, 0})[0], f(2));
    EXPECT_EQ(log::error_count(), errors);
}

// OBJ-082, OBJ-084: an ID that is read through two dimensions in turn has a view for each, made once, gone with the ID.
TEST_F(Bindings, ViewsOfADimensionAreMadeOnce) {
    const auto cube = layered(target_cube, 1, 6);
    number_layers(cube, 6);
    put(256, cube);
    const auto both = [&] {
        EXPECT_EQ(find(fetch_2d, 256, {2, 3, 0, 0})[0], f(1));
        EXPECT_EQ(find(sample_cube, 256, {f(0.1f), f(0.1f), f(1), 0})[0], f(5));
    };
    both();
    const u64 views = replay->statistics().image_views, textures = replay->statistics().textures;
    for (int i = 0; i < 50; ++i)
        both();
    EXPECT_EQ(replay->statistics().image_views, views);
    EXPECT_EQ(replay->statistics().textures, textures);
}

// SHD-133: a handle in a uniform buffer means what the pools that are set then hold. Sampler 5 of one pool clamps, of
// the other repeats; texture 300 of one pool is 1 and 2 from left to right, of the other 3.
TEST_F(Bindings, HandlesMeanThePoolsOfTheMoment) {
    constexpr stream::PoolId other_textures = 11, other_samplers = 12;
    replay->texture_pool_created(other_textures, 0, pool_size_ids);
    replay->sampler_pool_created(other_samplers, 0, 64);
    stream::SamplerDescription s{};
    s.lod_max = 1000;
    s.max_anisotropy = 1;
    s.wrap_s = s.wrap_t = s.wrap_r = 7; // CLAMP_TO_EDGE
    replay->sampler_registered(sampler_pool, 5, s);
    s.wrap_s = s.wrap_t = s.wrap_r = 1; // REPEAT
    replay->sampler_registered(other_samplers, 5, s);
    const auto halves = layered(target_2d, 1, 1), three = layered(target_2d, 1, 1);
    Recorder fill;
    for (const auto& [image, x, width, value] :
         {std::tuple(halves, 0, 4, 1.0f), std::tuple(halves, 4, 4, 2.0f), std::tuple(three, 0, 8, 3.0f)}) {
        stream::ClearTexture c{};
        c.mask = 0xf;
        c.value[0] = f(value);
        c.region = {x, 0, 0, width, 8, 1};
        c.image = image;
        fill.add(c);
    }
    run(fill);
    put(300, halves);
    replay->texture_registered(other_textures, 300, three, false);
    write(0x6000, 300u | 5u << 20);
    const std::string by_handle = "MOV R2, c[0x4][0x0]\nTEX.B.LZ R4, R0, R2, 0x0, 2D, 0xf";
    Recorder r;
    begin(r, by_handle, {f(-3.45f), f(0.5f), 0, 0}); // 0.55 where it repeats
    uniform(r, stream::Stage::Compute, 1, 0x6000, 256);
    for (u32 i = 0; i < 4; ++i) {
        stream::SetTexturePool textures{};
        textures.pool = i == 3 ? other_textures : texture_pool;
        r.add(textures);
        stream::SetSamplerPool samplers{};
        samplers.pool = i == 1 ? other_samplers : sampler_pool;
        r.add(samplers);
        storage(r, stream::Stage::Compute, 0, result + 16 * i, 16);
        dispatch(r);
    }
    run(r);
    const f32 expected[] = {1, 2, 1, 3};
    for (u32 i = 0; i < 4; ++i)
        EXPECT_EQ(read<f32>(result + 16 * i), expected[i]) << i;
    Recorder later; // sets none: those of the queue
    dispatch(later);
    run(later);
    EXPECT_EQ(read<f32>(result + 48), 3.0f);
    replay->texture_pool_destroyed(other_textures);
    replay->sampler_pool_destroyed(other_samplers);
}

// SHD-135: recorded once, executed with what is in memory each time.
TEST_F(Bindings, DeferredHandlesAreReadAtExecution) {
    const auto one = layered(target_2d, 1, 1), two = layered(target_2d_array, 2, 2);
    number_layers(one, 1);
    number_layers(two, 2);
    put(300, one);
    auto second = two;
    second.view.first_layer = 1;
    second.view.layer_count = 1;
    put(301, second);
    const auto recorded = [&](bool copied) {
        Recorder r;
        begin(r, "TLD.LZ R4, R0, 0xe, 2D, 0xf", {1, 1, 0, 0}); // slot 3
        if (copied) {                                          // by the GPU, a moment before
            stream::CopyBufferToBuffer copy{};
            copy.source = at(0x6100).value;
            copy.dest = at(0x6000).value;
            copy.size = 16;
            r.add(copy);
        }
        stream::BindHandlesDeferred b{};
        b.kind = stream::HandleKind::Texture;
        b.stage = stream::Stage::Compute;
        b.first = 2;
        b.count = 2;
        b.address = at(0x6000).value;
        r.add(b);
        return finish(r)[0];
    };
    write(0x6000, std::array<u64, 2>{0, 0x1'0000'0000 | 300});
    EXPECT_EQ(recorded(false), f(1));
    write(0x6000, std::array<u64, 2>{0, 301});
    EXPECT_EQ(recorded(false), f(2));
    write(0x6100, std::array<u64, 2>{301, 300});
    EXPECT_EQ(recorded(true), f(1));
}

// REN-028: each sample of a multisample texture by its number; nothing in the slot reads zero.
TEST_F(Bindings, SamplesOfMultisampleTextures) {
    const std::string fetch_sample = "TLD.LZ.MS R4, R0, R2, 0x8, 2D, 0xf";
    const u64 errors = log::error_count();
    EXPECT_EQ(find(fetch_sample, ~0u, {1, 1, 2, 0}), Words{});
    u32 id = 300;
    for (const char* format : {"R32F", "DEPTH32F"}) {
        auto d = layered(target_2d_ms, 1, 1, format);
        d.texture.samples = 4;
        Recorder r;
        if (std::string_view(format) == "R32F") {
            set_targets(r, std::span(&d, 1));
            r.add(clear(0.75f, 0, 0, 0));
        } else {
            set_targets(r, {}, &d);
            stream::ClearDepthStencil c{};
            c.depth = 0.75f;
            c.depth_mask = 1;
            r.add(c);
        }
        run(r);
        put(++id, d);
        for (u32 sample = 0; sample < 4; ++sample)
            EXPECT_EQ(find(fetch_sample, id, {1, 1, sample, 0})[0], f(0.75f)) << format << sample;
        EXPECT_EQ(find(fetch_2d, id, {1, 1, 0, 0})[0], 0u) << "not through another kind of slot";
    }
    EXPECT_EQ(log::error_count(), errors);
}

// GFX-167: what separate bindings hold is of its own class: unsigned, signed, stencil, depth that is compared.
TEST_F(Bindings, SeparateTexturesOfEveryClass) {
    Recorder fill;
    const auto number = [&](const stream::ImageDescription& d, stream::ClearClass c, Words value) {
        stream::ClearTexture clear{};
        clear.value_class = c;
        clear.mask = 0xf;
        std::copy(value.begin(), value.end(), clear.value);
        clear.region = {0, 0, 0, 8, 8, 1};
        clear.image = d;
        fill.add(clear);
    };
    const auto unsigned_one = layered(target_2d, 1, 1, "RG32UI"), signed_one = layered(target_2d, 1, 1, "RGBA8I");
    number(unsigned_one, stream::ClearClass::Uint, {0xdeadbeef, 0x00000123, 0, 0});
    number(signed_one, stream::ClearClass::Sint, {static_cast<u32>(-5), 7, static_cast<u32>(-128), 127});
    auto depth = layered(target_2d, 1, 1, "DEPTH24_STENCIL8");
    set_targets(fill, {}, &depth);
    stream::ClearDepthStencil c{};
    c.depth = 0.5f;
    c.depth_mask = 1;
    c.stencil = 0x5a;
    c.stencil_mask = 0xff;
    fill.add(c);
    run(fill);
    auto stencil = depth;
    stencil.view.depth_stencil_mode = 1;
    put(400, unsigned_one);
    put(401, signed_one);
    put(402, stencil);
    put(403, depth);
    stream::SamplerDescription compares{};
    compares.wrap_s = compares.wrap_t = compares.wrap_r = 7;
    compares.lod_max = 1000;
    compares.max_anisotropy = 1;
    compares.compare_mode = 1;
    compares.compare_func = 2; // LESS: the reference is the smaller
    replay->sampler_registered(sampler_pool, 9, compares);
    const auto separately = [&](const std::string& instruction, u8 slot, u32 id, Words at_coordinates) {
        Recorder r;
        begin(r,
              fmt::format("MOV R10, c[0x2][{:#x}]\nLOP.OR R10, R10, c[0x2][0x578]\n", 0x168 + 8 * slot) + instruction,
              at_coordinates);
        handles(r, stream::HandleKind::SeparateTexture, slot, {id});
        handles(r, stream::HandleKind::SeparateSampler, 2, {9u << 20});
        return finish(r);
    };
    const std::string fetch = "TLD.B.LZ R4, R0, R10, 0x0, 2D, 0xf";
    for (const u8 slot : {u8{0}, u8{22}, u8{23}, u8{31}, u8{100}}) {
        EXPECT_EQ(separately(fetch, slot, 400, {1, 1, 0, 0}), (Words{0xdeadbeef, 0x123, 0, 1})) << int{slot};
        EXPECT_EQ(separately(fetch, slot, 401, {1, 1, 0, 0}),
                  (Words{static_cast<u32>(-5), 7, static_cast<u32>(-128), 127}))
            << int{slot};
        EXPECT_EQ(separately(fetch, slot, 402, {1, 1, 0, 0}), (Words{0x5a, 0, 0, 1})) << int{slot};
    }
    for (const f32 reference : {0.25f, 0.75f})
        EXPECT_EQ(separately("MOV R9, R10\nMOV R11, R2\nMOV R10, R9\nTEX.B.LZ.DC R4, R0, R10, 0x0, 2D, 0x1", 3, 403,
                             {f(0.5f), f(0.5f), f(reference), 0})[0],
                  reference < 0.5f ? f(1) : 0)
            << reference;
    // the same words in a uniform buffer
    write(0x6000, 400u);
    Recorder r;
    begin(r, "MOV R2, c[0x4][0x0]\nTLD.B.LZ R4, R0, R2, 0x0, 2D, 0xf", {1, 1, 0, 0});
    uniform(r, stream::Stage::Compute, 1, 0x6000, 256);
    EXPECT_EQ(finish(r), (Words{0xdeadbeef, 0x123, 0, 1}));
}

// REN-100: a draw that reads its own target through any slot, combined or separate, sees what was drawn before it.
TEST_F(Bindings, TargetsAreReadThroughEverySlot) {
    const auto target = layered(target_2d, 1, 1, "RGBA32F");
    put(500, target);
    for (const int slot : {0, 31, 128, 255}) { // separate ones from 128 on
        const std::string handle = slot < 128 ? fmt::format("MOV R8, c[0x2][{:#x}]\n", 0x20 + 8 * slot)
                                              : fmt::format("MOV R8, c[0x2][{:#x}]\n", 0x168 + 8 * (slot - 128));
        const auto p = program({full_screen, ".stage fragment\n.target 0 rgba\n.entry main\nmain:\n" + handle +
                                                 "MOV32I R4, 0x2\nMOV32I R5, 0x3\nTLD.B.LZ R0, R4, R8, 0x0, 2D, 0xf\n"
                                                 "FADD R0, R0, 1\nEXIT\n"});
        Recorder r;
        select_pools(r);
        set_targets(r, std::span(&target, 1));
        r.add(clear(0.25f, 0, 0, 1));
        bind(r, p, all_graphics_bits);
        handles(r, slot < 128 ? stream::HandleKind::Texture : stream::HandleKind::SeparateTexture,
                static_cast<u8>(slot < 128 ? slot : slot - 128), {500}, stream::Stage::Fragment);
        for (int i = 0; i < 2; ++i) {
            draw(r);
            barrier(r, 1); // ORDER_PRIMITIVES
        }
        draw(r);
        copy_out(r, target, result, 8, 8);
        run(r);
        EXPECT_EQ(read<f32>(result + 16 * (2 + 8 * 3)), 3.25f) << slot;
    }
}

// SHD-137: a handle in a uniform buffer is what the last of many updates before the draw made it.
TEST_F(Bindings, HandlesFollowUpdatesOfTheSameSubmission) {
    const auto one = layered(target_2d, 1, 1), two = layered(target_2d_array, 2, 2);
    number_layers(one, 1);
    number_layers(two, 2);
    put(300, one);
    auto second = two;
    second.view.first_layer = 1;
    second.view.layer_count = 1;
    put(301, second);
    write(0x6000, 300u);
    const std::string by_handle = "MOV R2, c[0x4][0x0]\nTLD.B.LZ R4, R0, R2, 0x0, 2D, 0xf";
    EXPECT_EQ(find(fetch_2d, 300, {1, 1, 0, 0})[0], f(1)); // changing pools would execute what is recorded
    Recorder r;
    begin(r, by_handle, {1, 1, 0, 0}); // nothing has read ID 301 yet: who looks in memory finds 300
    uniform(r, stream::Stage::Compute, 1, 0x6000, 256);
    for (u32 i = 0; i < 1000; ++i) {
        stream::UpdateUniformBuffer u{};
        u.address = at(0x6000).value;
        u.buffer_size = 256;
        u.size = 4;
        const u32 handle = i == 999 ? 301 : 700 + i % 100;
        r.add(u, std::span<const u32>(&handle, 1));
    }
    EXPECT_EQ(finish(r)[0], f(2));
}

} // namespace
} // namespace heaviside::replay
