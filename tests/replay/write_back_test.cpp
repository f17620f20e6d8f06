// What the GPU draws is what the guest's CPU reads: plain loads of the storage, no call in between.
#include "tracked_fixture.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <vector>

namespace heaviside::replay {
namespace {

constexpr u64 target = 0x100000, other = 0x180000, result = 0x200000, source = 0x300000;

class WriteBack : public ReplayTest {
protected:
    template <class T>
    T texel(u64 storage, u32 x, u32 y, u32 gobs, u32 block = 1) const {
        return read<T>(storage + tiled(x * u32{sizeof(T)}, y, gobs, block));
    }
    stream::ClearTexture clear_texture(const stream::ImageDescription& image, stream::Region region, u32 value) {
        stream::ClearTexture c{};
        c.image = image;
        c.region = region;
        c.mask = 0xf;
        c.value_class = stream::ClearClass::Uint;
        for (u32 i = 0; i < 4; ++i)
            c.value[i] = value;
        return c;
    }
};

TEST_F(WriteBack, APassIsInStorageWhenItsFenceSignals) { // OBJ-197, OBJ-203
    const auto color = image(target, "RGBA8", 32, 16);
    for (u32 frame = 0; frame < 100; ++frame) {
        Recorder r;
        set_targets(r, std::span(&color, 1));
        r.add(clear(static_cast<f32>(frame) / 255, 0, 0, 1));
        stream::FenceSync fence{};
        fence.sync = 7;
        fence.value = frame + 1;
        r.add(fence);
        replay->submit(queue, {0, 1}, r.take());
        ASSERT_TRUE(replay->wait_sync(7, frame + 1, 10'000'000'000));
        EXPECT_EQ(texel<u32>(target, 0, 0, 2), 0xff000000u | frame);
        EXPECT_EQ(texel<u32>(target, 31, 15, 2), 0xff000000u | frame);
        // The guest uses the storage for something else: nothing of the frame may land there later.
        std::memset(memory + target, 0xcd, 2048);
        EXPECT_EQ(read<u32>(target + 1024), 0xcdcdcdcdu);
    }
    Recorder later; // whatever were still to be stored there is by the end of this
    copy_out(later, color, result, 32, 16);
    run(later);
    EXPECT_EQ(std::count(memory + target, memory + target + 2048, std::byte{0xcd}), 2048);
    EXPECT_EQ(std::count(memory + result, memory + result + 2048, std::byte{0xcd}), 2048);
}

TEST_F(WriteBack, EveryLevelAndLayerThatIsDrawn) { // OBJ-201: 9 levels of 260 x 260 texels, rows of 520 bytes
    auto color = image(target, "RG8", 260, 260, 9);
    color.texture.block_height_log2 = 4;
    Recorder r;
    for (u8 level = 0; level < 9; ++level) {
        color.view.first_level = level;
        color.view.level_count = 1;
        set_targets(r, std::span(&color, 1));
        r.add(clear(static_cast<f32>(level + 1) / 255, static_cast<f32>(100 + level) / 255, 0, 1));
    }
    run(r);
    // Block heights: 260 rows -> 16 GOBs, shrinking with the level; each level follows the one before.
    u64 at = target;
    for (u32 level = 0; level < 9; ++level) {
        const u32 size = std::max(1u, 260u >> level), gobs = (size * 2 + 63) / 64, rows = (size + 7) / 8;
        u32 block = 16;
        while (block > 1 && rows <= block / 2)
            block /= 2;
        const u16 expected = static_cast<u16>((100 + level) << 8 | (level + 1));
        for (u32 y = 0; y < size; ++y)
            for (u32 x = 0; x < size; ++x)
                ASSERT_EQ(texel<u16>(at, x, y, gobs, block), expected) << level << ": " << x << "," << y;
        at += u64{gobs} * ((rows + block - 1) / block * block) * 512;
    }
    const u64 uploads = replay->statistics().uploads;
    Recorder again; // no re-upload loop
    color.view.first_level = 0;
    copy_out(again, color, result, 260, 260);
    run(again);
    EXPECT_EQ(read<u16>(result), 100u << 8 | 1u);
    EXPECT_EQ(replay->statistics().uploads, uploads);
}

TEST_F(WriteBack, AClearChangesItsTexelsOnly) { // OBJ-200, OBJ-202
    struct Case {
        const char* format;
        u32 bytes;
    };
    for (const Case c :
         {Case{"R8UI", 1}, Case{"R16UI", 2}, Case{"R32UI", 4}, Case{"RG32UI", 8}, Case{"RGBA32UI", 16}}) {
        const auto color = image(target, c.format, 20, 12);
        for (u64 i = 0; i < 0x4000; ++i)
            memory[target + i] = static_cast<std::byte>(i * 7 + i / 256);
        const std::vector<std::byte> before(memory + target, memory + target + 0x4000);
        Recorder r;
        r.add(clear_texture(color, {3, 2, 0, 5, 7, 1}, 0x5a));
        run(r);
        std::vector<std::byte> expected = before;
        const u32 gobs = (20 * c.bytes + 63) / 64;
        for (u32 y = 2; y < 9; ++y)
            for (u32 x = 3; x < 8; ++x)
                for (u32 b = 0; b < c.bytes; ++b)
                    expected[tiled(x * c.bytes + b, y, gobs, 1)] = std::byte{b % 4 == 0 ? u8{0x5a} : u8{0}};
        EXPECT_EQ(std::memcmp(memory + target, expected.data(), expected.size()), 0) << c.format;
        replay->memory_pool_destroyed(at(0).value); // the next case starts anew
    }
}

TEST_F(WriteBack, PackedFormatsHaveRedInTheLowBits) { // REN-013
    for (const auto& [format, expected] :
         {std::pair{"RGB565", 0x001f}, std::pair{"RGB5A1", 0x801f}, std::pair{"RGB5", 0x801f}}) {
        const auto color = image(target, format, 8, 8);
        Recorder r;
        set_targets(r, std::span(&color, 1));
        r.add(clear(1, 0, 0, 1));
        run(r);
        EXPECT_EQ(read<u16>(target) & 0x7fff, expected & 0x7fff) << format;
        replay->memory_pool_destroyed(at(0).value);
    }
}

TEST_F(WriteBack, ThreeComponentTargetsAreStoredToo) { // OBJ-204
    const auto color = image(target, "RGB8", 8, 8);
    Recorder r;
    stream::ClearTexture black = clear_texture(color, {0, 0, 0, 8, 8, 1}, 0);
    black.value_class = stream::ClearClass::Float; // as the format's; 0 has the same bits
    r.add(black);
    set_targets(r, std::span(&color, 1));
    r.add(clear(1, 0.2f, 0, 1));
    run(r);
    EXPECT_EQ(read<u8>(target), 0xffu);
    EXPECT_EQ(read<u8>(target + 1), 0x33u);
    EXPECT_EQ(read<u8>(target + 2), 0u);
    EXPECT_EQ(read<u8>(target + 3), 0xffu);
}

TEST_F(WriteBack, CopiesIntoTexturesAreStored) { // OBJ-193, OBJ-194
    for (u32 i = 0; i < 64; ++i)
        std::memcpy(memory + source + i * 4, &i, 4);
    const auto to = image(target, "R32UI", 16, 16);
    const auto next = image(other, "R32UI", 16, 16);
    Recorder r;
    stream::CopyBufferToTexture in{};
    in.buffer = at(source).value;
    in.region = {4, 4, 0, 8, 8, 1};
    in.image = to;
    r.add(in);
    stream::CopyTextureToTexture copy{}; // and on, mirrored in nothing, in the same submission
    copy.source = to;
    copy.dest = next;
    copy.source_region = {4, 4, 0, 8, 8, 1};
    copy.dest_region = {8, 8, 0, 8, 8, 1};
    r.add(copy);
    run(r);
    for (u32 y = 0; y < 8; ++y)
        for (u32 x = 0; x < 8; ++x) {
            EXPECT_EQ(texel<u32>(target, 4 + x, 4 + y, 1), y * 8 + x);
            EXPECT_EQ(texel<u32>(other, 8 + x, 8 + y, 1), y * 8 + x);
        }
}

TEST_F(WriteBack, BlocksAreStoredAsBlocks) { // OBJ-194, OBJ-202
    std::memset(memory + target, 0x99, 0x1000);
    for (u32 i = 0; i < 16; ++i) {
        const u64 block = 0x0101010101010101u * i;
        std::memcpy(memory + source + i * 8, &block, 8);
    }
    const auto to = image(target, "RGBA_DXT1", 32, 32);
    Recorder r;
    stream::CopyBufferToTexture in{};
    in.buffer = at(source).value;
    in.region = {8, 16, 0, 16, 16, 1};
    in.image = to;
    r.add(in);
    run(r);
    for (u32 y = 0; y < 4; ++y)
        for (u32 x = 0; x < 4; ++x)
            EXPECT_EQ(texel<u64>(target, 2 + x, 4 + y, 1), 0x0101010101010101u * (y * 4 + x));
    // The copy's 16 blocks hold no byte of the pattern; every other byte does.
    EXPECT_EQ(std::count(memory + target, memory + target + 0x1000, std::byte{0x99}), 0x1000 - 128);
}

TEST_F(WriteBack, LinearTexturesAreStoredInRows) { // OBJ-161
    auto to = image(target, "R32UI", 10, 4);
    to.texture.flags = 0x10; // LINEAR
    to.texture.stride = 64;
    std::memset(memory + target, 0xee, 256);
    Recorder r;
    r.add(clear_texture(to, {2, 1, 0, 3, 2, 1}, 7));
    run(r);
    EXPECT_EQ(read<u32>(target + 64 + 8), 7u);
    EXPECT_EQ(read<u32>(target + 128 + 16), 7u);
    EXPECT_EQ(read<u32>(target + 64 + 4), 0xeeeeeeeeu);
    EXPECT_EQ(read<u32>(target + 64 + 40), 0xeeeeeeeeu);
    EXPECT_EQ(read<u32>(target + 192 + 8), 0xeeeeeeeeu);
}

TEST_F(WriteBack, CopiesAndTheCpuShareALinearTexture) { // OBJ-161, OBJ-157: 736-byte rows as OBJ-160 has them
    auto to = image(target, "R8", 720, 4);
    to.texture.flags = 0x10;
    to.texture.stride = 736;
    std::memset(memory + source, 0x77, 720);
    Recorder r;
    stream::CopyBufferToTexture in{};
    in.buffer = at(source).value;
    in.region = {0, 1, 0, 720, 1, 1};
    in.image = to;
    r.add(in);
    run(r);
    EXPECT_EQ(read<u8>(target + 736), 0x77u);
    EXPECT_EQ(read<u8>(target + 736 + 719), 0x77u);
    EXPECT_EQ(read<u8>(target + 736 + 720), 0u); // padding
    std::memset(memory + target + 3 * 736, 0x55, 720);
    Recorder look;
    copy_out(look, to, result, 720, 4);
    run(look);
    EXPECT_EQ(read<u8>(result + 720), 0x77u);
    EXPECT_EQ(read<u8>(result + 3 * 720), 0x55u);
    EXPECT_EQ(read<u8>(result + 4 * 720 - 1), 0x55u);
}

TEST_F(WriteBack, EveryLayerOfALayeredPass) { // OBJ-197
    auto layers = image(target, "R32UI", 16, 8);
    layers.texture.target = layers.view.target = 4; // 2D array, one GOB a layer
    layers.texture.depth = 4;
    layers.view.first_layer = 1;
    layers.view.layer_count = 2;
    std::memset(memory + target, 0x11, 2048);
    Recorder r;
    set_targets(r, std::span(&layers, 1));
    stream::ClearColor c{};
    c.value_class = stream::ClearClass::Uint;
    c.mask = 0xf;
    c.value[0] = 0xabcdef01;
    r.add(c);
    run(r);
    for (u32 layer = 0; layer < 4; ++layer)
        EXPECT_EQ(read<u32>(target + layer * 512 + 508), layer == 1 || layer == 2 ? 0xabcdef01u : 0x11111111u) << layer;
}

TEST_F(WriteBack, PlanesOfAVolume) { // OBJ-197
    auto volume = image(target, "R32UI", 16, 8);
    volume.texture.target = volume.view.target = 2; // 3D
    volume.texture.depth = 4;
    volume.texture.block_depth_log2 = 2;
    std::memset(memory + target, 0x11, 0x2000);
    volume.view.first_layer = 2;
    Recorder r;
    set_targets(r, std::span(&volume, 1));
    stream::ClearColor c{};
    c.value_class = stream::ClearClass::Uint;
    c.mask = 0xf;
    c.value[0] = 0xabcdef01;
    r.add(c);
    run(r);
    for (u32 z = 0; z < 4; ++z) // one GOB a plane
        EXPECT_EQ(read<u32>(target + z * 512 + 511 / 4 * 4), z == 2 ? 0xabcdef01u : 0x11111111u) << z;
}

TEST_F(WriteBack, PlanesFromTheAttachedOneOn) { // OBJ-197, OBJ-202: rows of 40 bytes in GOBs of 64
    auto volume = image(target, "R32UI", 10, 8);
    volume.texture.target = volume.view.target = 2; // 3D
    volume.texture.depth = 4;
    volume.texture.block_depth_log2 = 2;
    volume.view.first_layer = 1;
    volume.view.layer_count = 2;
    std::memset(memory + target, 0x11, 0x2000);
    std::vector<std::byte> expected(memory + target, memory + target + 0x2000);
    const u32 value = 0xabcdef01;
    for (u32 z = 1; z < 3; ++z)
        for (u32 y = 0; y < 8; ++y)
            for (u32 x = 0; x < 10; ++x)
                std::memcpy(expected.data() + z * 512 + tiled(x * 4, y, 1, 1), &value, 4);
    Recorder r;
    set_targets(r, std::span(&volume, 1));
    stream::ClearColor c{};
    c.value_class = stream::ClearClass::Uint;
    c.mask = 0xf;
    c.value[0] = value;
    r.add(c);
    run(r);
    EXPECT_EQ(std::memcmp(memory + target, expected.data(), expected.size()), 0);
}

TEST_F(WriteBack, WhatNobodyReadsIsNotStored) { // OBJ-201
    struct Case {
        const char* name;
        const char* format;
        u16 flags;
    };
    for (const Case c : {Case{"display", "RGBA8", 0x1}, Case{"compressible", "RGBA8", 0x8}}) {
        auto color = image(target, c.format, 8, 8);
        color.texture.flags = c.flags;
        Recorder r;
        set_targets(r, std::span(&color, 1));
        r.add(clear(1, 1, 1, 1));
        run(r);
        EXPECT_EQ(read<u32>(target), 0u) << c.name;
        replay->memory_read(at(target).value, 512); // until it is asked for
        EXPECT_EQ(read<u32>(target), ~0u) << c.name;
        replay->memory_pool_destroyed(at(0).value);
        std::memset(memory + target, 0, 4096);
    }
    EXPECT_EQ(replay->statistics().write_backs, 2u);
}

TEST_F(WriteBack, BufferCopiesSeeDrawingsAndDrawingsSeeBufferCopies) { // OBJ-195
    const auto color = image(target, "RGBA8", 16, 8);                  // one GOB
    Recorder r;
    set_targets(r, std::span(&color, 1));
    r.add(clear(1, 0, 0, 1));
    stream::CopyBufferToBuffer out{}; // drawn bytes
    out.source = at(target).value;
    out.dest = at(result).value;
    out.size = 512;
    r.add(out);
    r.add(clear(0, 1, 0, 1));
    stream::ClearBuffer fill{}; // half of it over the drawing
    fill.address = at(target).value;
    fill.size = 256;
    fill.value = 0x01020304;
    r.add(fill);
    copy_out(r, color, result + 0x1000, 16, 8);
    run(r);
    EXPECT_EQ(read<u32>(result), 0xff0000ffu);
    EXPECT_EQ(read<u32>(result + 508), 0xff0000ffu);
    EXPECT_EQ(read<u32>(result + 0x1000), 0x01020304u);
    EXPECT_EQ(read<u32>(result + 0x1000 + 15 * 4), 0xff00ff00u);
    EXPECT_EQ(read<u32>(target), 0x01020304u);
    EXPECT_EQ(read<u32>(target + 256), 0xff00ff00u);
}

TEST_F(WriteBack, OtherDescriptionsOverTheStorageSeeTheNewestBytes) { // OBJ-264, OBJ-177
    const auto depth = image(target, "DEPTH32F", 16, 8);
    const auto color = image(target, "R32F", 16, 8);
    const auto half = image(target, "RGBA8", 16, 4); // the same bytes, another extent
    Recorder r;
    set_targets(r, {}, &depth);
    stream::ClearDepthStencil c{};
    c.depth = 0.25f;
    c.depth_mask = 1;
    r.add(c);
    copy_out(r, color, result, 16, 8); // depth read as colour, in the same submission
    set_targets(r, std::span(&half, 1));
    r.add(clear(0, 0, 1, 1));
    copy_out(r, color, result + 0x1000, 16, 8);
    copy_out(r, image(target, "RGBA8_SRGB", 16, 4), result + 0x2000, 16, 4);
    run(r);
    EXPECT_EQ(read<u32>(result + 0x2000), 0xffff0000u);
    EXPECT_EQ(read<u32>(result + 0x2000 + 63 * 4), 0xffff0000u);
    EXPECT_EQ(read<f32>(result), 0.25f);
    EXPECT_EQ(read<f32>(result + 127 * 4), 0.25f);
    EXPECT_EQ(read<u32>(result + 0x1000), 0xffff0000u);
    EXPECT_EQ(read<f32>(result + 0x1000 + 127 * 4), 0.25f); // row 7 is the depth's still
    Recorder later;                                         // and the first description sees what the others wrote
    copy_out(later, depth, result, 16, 8);
    run(later);
    EXPECT_EQ(read<u32>(result), 0xffff0000u);
}

TEST_F(WriteBack, AListSubmittedAgainDrawsAgain) { // OBJ-183
    const auto color = image(target, "RGBA8", 8, 8);
    Recorder recorded; // once
    set_targets(recorded, std::span(&color, 1));
    recorded.add(clear(1, 1, 1, 1));
    copy_out(recorded, color, result, 8, 8);
    const stream::Buffer list = recorded.take();
    for (int i = 0; i < 2; ++i) {
        stream::Buffer submitted = std::make_shared<stream::BufferPool>()->take(); // a submission is a copy of the list
        submitted.append(list.bytes());
        replay->submit(queue, {0, 1}, std::move(submitted));
        replay->finish(queue);
        EXPECT_EQ(read<u32>(result), ~0u);
        EXPECT_EQ(read<u32>(target), ~0u);
        std::memset(memory + target, 0x22, 512); // the CPU between the two
    }
    Recorder r;
    copy_out(r, color, result, 8, 8);
    run(r);
    EXPECT_EQ(read<u32>(result), 0x22222222u);
}

TEST_F(WriteBack, WholeClearsOfSharedStorageBringNothing) { // transient targets in one place
    const auto depth = image(target, "DEPTH32F", 16, 8), color = image(target, "RGBA8", 16, 8);
    for (u32 i = 0; i < 4; ++i) {
        Recorder r;
        set_targets(r, {}, &depth);
        stream::ClearDepthStencil c{};
        c.depth = 0.25f;
        c.depth_mask = 1;
        r.add(c);
        set_targets(r, std::span(&color, 1));
        r.add(clear(1, 0, 0, 1));
        run(r);
        EXPECT_EQ(read<u32>(target), 0xff0000ffu) << i; // the later one, whatever was stored when
        EXPECT_EQ(read<u32>(target + 508), 0xff0000ffu) << i;
    }
    EXPECT_EQ(replay->statistics().uploads, 2u); // one each when they are new
}

TEST_F(WriteBack, DepthTexturesAreClearedAndResolved) { // REN-089
    const auto depth = image(target, "DEPTH24_STENCIL8", 16, 8);
    Recorder r;
    stream::ClearTexture c{};
    c.image = depth;
    c.region = {0, 0, 0, 16, 8, 1};
    c.mask = 3;
    c.value_class = stream::ClearClass::Float;
    const f32 values[] = {1.0f, 5.0f};
    std::memcpy(c.value, values, sizeof values);
    r.add(c);
    c.region = {4, 2, 0, 2, 3, 1};
    c.mask = 1;
    const f32 zero = 0;
    std::memcpy(c.value, &zero, 4);
    r.add(c);
    copy_out(r, depth, result, 16, 8);
    auto many = image(other, "DEPTH32F", 8, 8), one = image(other + 0x10000, "DEPTH32F", 8, 8);
    many.texture.samples = 4;
    many.texture.target = many.view.target = 5; // 2D multisample
    set_targets(r, {}, &many);
    stream::ClearDepthStencil d{};
    d.depth = 0.75f;
    d.depth_mask = 1;
    r.add(d);
    stream::Downsample down{};
    down.source = many;
    down.dest = one;
    r.add(down);
    copy_out(r, one, result + 0x1000, 8, 8);
    run(r);
    EXPECT_EQ(read<u32>(result), 0xffffff05u);
    EXPECT_EQ(read<u32>(result + (2 * 16 + 4) * 4), 5u);
    EXPECT_EQ(read<u32>(result + (4 * 16 + 5) * 4), 5u);
    EXPECT_EQ(read<u32>(result + (5 * 16 + 5) * 4), 0xffffff05u);
    EXPECT_EQ(read<f32>(result + 0x1000 + 63 * 4), 0.75f);
}

class SmallBudget : public WriteBack {
protected:
    Options options() override {
        Options o;
        o.texture_budget = 1 << 20;
        return o;
    }
};

TEST_F(SmallBudget, UnusedImagesAreGivenUpAndComeBack) { // OBJ-076: what is in guest memory need not be kept twice
    for (u32 i = 0; i < 12; ++i) {                       // 256 KiB each, three times the budget
        const auto color = image(i * 0x40000, "RGBA8", 256, 256);
        Recorder r;
        set_targets(r, std::span(&color, 1));
        r.add(clear(static_cast<f32>(i) / 255, 0, 0, 1));
        run(r);
    }
    const auto look_at = [&](u32 i) {
        Recorder r;
        copy_out(r, image(i * 0x40000, "RGBA8", 256, 256), 0x3f0000, 4, 4);
        run(r);
        EXPECT_EQ(read<u32>(0x3f0000), 0xff000000u | i);
    };
    for (u32 i = 0; i < 140; ++i)
        look_at(i % 2); // two of them are in use
    EXPECT_LE(replay->statistics().texture_bytes, u64{1} << 20);
    EXPECT_EQ(replay->statistics().textures_evicted, 8u) << "no more than it takes";
    const u64 uploads = replay->statistics().uploads;
    for (const u32 i : {0u, 1u, 10u, 11u})
        look_at(i);
    EXPECT_EQ(replay->statistics().uploads, uploads) << "those used last are still there";
    for (u32 i = 2; i < 10; ++i)
        look_at(i);
}

// --gtest_also_run_disabled_tests: what storing one 1280 x 720 RGBA8 target costs a submission.
TEST_F(WriteBack, DISABLED_Measure) {
    for (const u16 flags : {u16{8}, u16{0}}) { // compressible: not stored
        auto color = image(0, "RGBA8", 1280, 720);
        color.texture.flags = flags;
        color.texture.block_height_log2 = 4;
        f64 best = 1e9;
        for (u32 i = 0; i < 60; ++i) {
            Recorder r;
            set_targets(r, std::span(&color, 1));
            r.add(clear(1, 0, 0, 1));
            const auto from = std::chrono::steady_clock::now();
            run(r);
            best =
                std::min(best, std::chrono::duration<f64, std::milli>(std::chrono::steady_clock::now() - from).count());
        }
        std::printf("%s: %.2f ms\n", flags ? "not stored" : "stored", best);
    }
}

class TrackedWriteBack : public Tracked<WriteBack> {};

TEST_F(TrackedWriteBack, StoresAreNotTakenForTheGuestsWrites) { // OBJ-059, OBJ-182, OBJ-189
    const auto color = image(target, "RGBA8", 128, 64);         // eight pages
    const auto draw = [&](f32 red) {
        Recorder r;
        set_targets(r, std::span(&color, 1));
        r.add(clear(red, 0, 0, 1));
        copy_out(r, color, result, 128, 64);
        run(r);
    };
    draw(1);
    const u64 uploads = replay->statistics().uploads;
    for (i32 i = 0; i < 10; ++i) {
        Recorder part; // the rest of the texture counts as well
        part.add(clear_texture(color, {0, 0, 0, 8, 8 + i, 1}, 0));
        run(part);
        Recorder look;
        copy_out(look, color, result, 128, 64);
        run(look);
        EXPECT_EQ(read<u32>(target), 0u);
        draw(1);
    }
    EXPECT_EQ(replay->statistics().uploads, uploads);
    EXPECT_EQ(read<u32>(target), 0xff0000ffu);
    // One texel of the guest's: taken once, with the drawing around it.
    const u32 mine = 0x12345678;
    std::memcpy(memory + target + 4096, &mine, 4);
    Recorder r;
    copy_out(r, color, result, 128, 64);
    run(r);
    EXPECT_EQ(replay->statistics().uploads, uploads + 1);
    u32 found = 0;
    for (u32 i = 0; i < 128 * 64; ++i)
        found += read<u32>(result + i * 4) == mine;
    EXPECT_EQ(found, 1u);
    EXPECT_EQ(read<u32>(result), 0xff0000ffu);
}

TEST_F(TrackedWriteBack, WhatTheCpuWroteOverADrawingStays) { // of a texture that is stored when it is asked for
    auto color = image(target, "RGBA8", 128, 64);
    color.texture.flags = 8; // compressible
    Recorder r;
    set_targets(r, std::span(&color, 1));
    r.add(clear(1, 0, 0, 1));
    run(r);
    const u32 mine = 0x12345678;
    std::memcpy(memory + target + 4096, &mine, 4);
    Recorder look;
    copy_out(look, color, result, 128, 64);
    run(look);
    EXPECT_EQ(read<u32>(result), 0xff0000ffu);
    replay->memory_read(at(target).value, 128 * 64 * 4);
    EXPECT_EQ(read<u32>(target + 4096), mine);
}

TEST_F(TrackedWriteBack, NeighboursOnAPageKeepTheirWrites) {  // OBJ-184, OBJ-210, OBJ-212
    const auto drawn = image(target, "RGBA8", 16, 8);         // 512 bytes
    const auto written = image(target + 512, "RGBA8", 16, 8); // the 512 behind it
    std::memset(memory + target + 512, 0x33, 512);
    Recorder first;
    copy_out(first, written, result, 16, 8);
    run(first);
    EXPECT_EQ(read<u32>(result), 0x33333333u);
    for (u32 i = 0; i < 5; ++i) {
        Recorder r;
        set_targets(r, std::span(&drawn, 1));
        r.add(clear(1, 1, 1, 1));
        run(r);
        std::memset(memory + target + 512, static_cast<int>(0x40 + i), 512);
        const u64 uploads = replay->statistics().uploads;
        Recorder look;
        copy_out(look, written, result, 16, 8);
        copy_out(look, drawn, result + 0x1000, 16, 8);
        run(look);
        EXPECT_EQ(read<u32>(result), 0x40404040u + i * 0x01010101u);
        EXPECT_EQ(read<u32>(result + 0x1000), ~0u);
        EXPECT_EQ(replay->statistics().uploads, uploads + 1); // the neighbour's alone
    }
}

} // namespace
} // namespace heaviside::replay
