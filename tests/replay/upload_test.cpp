// What the CPU writes into a texture's storage is what the GPU sees at its next use, and no more than that is uploaded.
#include "replay/textures.h"
#include "tracked_fixture.h"

#include <algorithm>
#include <atomic>
#include <thread>

namespace heaviside::replay {
namespace {

constexpr u64 target = 0x100000, result = 0x200000;

class Uploads : public Tracked<ReplayTest> {
protected:
    // 512 KiB: RGBA8, rows of 32 GOBs, blocks of 16 GOBs upwards.
    [[nodiscard]] stream::ImageDescription large(u64 offset) const {
        auto d = image(offset, "RGBA8", 512, 256);
        d.texture.block_height_log2 = 4;
        return d;
    }
    void look(const stream::ImageDescription& d, i32 width = 4, i32 height = 4) {
        Recorder r;
        copy_out(r, d, result, width, height);
        run(r);
    }
    template <class T>
    void put(u64 offset, const T& value) {
        std::memcpy(bytes_at(offset), &value, sizeof value);
    }
};

TEST_F(Uploads, OnePageOfAFourMegabyteTextureUploadsItsTexels) { // issue 7
    const u64 pool = add_pool(8 << 20);
    auto d = image(pool, "RGBA8", 1024, 1024);
    d.texture.block_height_log2 = 4;
    look(d);
    const Statistics first = replay->statistics();
    EXPECT_EQ(first.upload_bytes, u64{4} << 20);
    look(d);
    EXPECT_EQ(replay->statistics().upload_bytes, first.upload_bytes);
    put(pool + tiled(700 * 4, 300, 64, 16), 0x12345678u);
    look(d, 1024, 512);
    EXPECT_EQ(replay->statistics().upload_bytes, first.upload_bytes + 4096);
    EXPECT_EQ(read<u32>(result + (300 * 1024 + 700) * 4), 0x12345678u);
    EXPECT_EQ(std::count(memory + result, memory + result + 1024 * 512 * 4, std::byte{0}), 1024 * 512 * 4 - 4);
}

TEST_F(Uploads, ChangedPartsOfLevelsAndLayersAlone) {
    const u64 pool = add_pool(1 << 20);
    auto d = image(pool, "R32UI", 128, 128, 3);
    d.texture.target = d.view.target = 4; // 2D array
    d.texture.depth = 4;
    d.view.layer_count = 4;
    d.texture.block_height_log2 = 4;
    // Levels of 64, 16 and 4 KiB; a layer is 84 KiB up to the next multiple of a block of 8 KiB: 88 KiB.
    look(d);
    const u64 before = replay->statistics().upload_bytes;
    const u64 layer = 3 * 0x16000;
    put(pool + layer + 0x10000 + tiled(5 * 4, 9, 4, 8), 0xabcdu);   // level 1
    put(pool + 0x16000 + 0x14000 + tiled(31 * 4, 31, 2, 4), 0x77u); // level 2 of layer 1
    Recorder r;
    auto view = d;
    view.view.first_level = 1;
    view.view.first_layer = 3;
    view.view.level_count = 1;
    view.view.layer_count = 1;
    copy_out(r, view, result, 64, 64);
    view.view.first_level = 2;
    view.view.first_layer = 1;
    copy_out(r, view, result + 0x10000, 32, 32);
    run(r);
    EXPECT_EQ(read<u32>(result + (9 * 64 + 5) * 4), 0xabcdu);
    EXPECT_EQ(read<u32>(result + 0x10000 + (31 * 32 + 31) * 4), 0x77u);
    EXPECT_EQ(replay->statistics().upload_bytes, before + 2 * 4096);
}

TEST_F(Uploads, EveryLaterWriteIsSeenWithoutAnyCall) { // OBJ-185, OBJ-188, OBJ-157, OBJ-163, OBJ-172
    struct Case {
        const char* name;
        u16 flags;
        u32 stride;
    };
    u64 at = 0x100000;
    for (const Case& c : {Case{"plain", 0, 0}, Case{"image", 4, 0}, Case{"compressible", 8, 0},
                          Case{"linear", 0x10, 256}, Case{"linear target", 0x44, 256}}) {
        auto d = image(at, "RGBA8", 64, 32);
        d.texture.flags = c.flags;
        d.texture.stride = c.stride;
        d.texture.block_height_log2 = c.stride ? 0 : 2;
        put(at, 0x11u); // behind its making, ahead of its use
        look(d, 64, 32);
        EXPECT_EQ(read<u32>(result), 0x11u) << c.name;
        for (u32 frame = 0; frame < 10; ++frame) {
            const u64 uploads = replay->statistics().uploads;
            put(at, 0x100 + frame);
            look(d, 64, 32);
            EXPECT_EQ(read<u32>(result), 0x100 + frame) << c.name;
            EXPECT_EQ(replay->statistics().uploads, uploads + 1) << c.name;
        }
        at += 0x4000;
    }
}

TEST_F(Uploads, LinearRowsOfAnyPitchAndPlace) { // OBJ-160, OBJ-158
    struct Case {
        const char* format;
        u32 width, height, stride;
        u64 offset;
        u32 texel;
    };
    for (const Case& c : {Case{"RGBA8", 8, 8, 32, 0x20, 4}, Case{"R8", 720, 4, 736, 0x10, 1},
                          Case{"RGBA16F", 64, 1, 512, 0x1060, 8}, Case{"RGB8", 5, 3, 32, 0x40, 3}}) {
        for (const bool cpu_access : {true, false}) {
            const u64 pool = add_pool(0x10000, cpu_access, 0xee);
            auto d = image(pool + c.offset, c.format, c.width, c.height);
            d.texture.flags = 0x10;
            d.texture.stride = c.stride;
            const auto byte = [](u32 x, u32 y) { return static_cast<u8>(x * 7 + y * 31 + 1); };
            for (u32 y = 0; y < c.height; ++y)
                for (u32 x = 0; x < c.width * c.texel; ++x)
                    put(pool + c.offset + u64{y} * c.stride + x, byte(x, y));
            look(d, static_cast<i32>(c.width), static_cast<i32>(c.height));
            for (u32 y = 0; y < c.height; ++y)
                for (u32 x = 0; x < c.width * c.texel; ++x)
                    ASSERT_EQ(read<u8>(result + y * c.width * c.texel + x), byte(x, y))
                        << c.format << " " << x << "," << y << (cpu_access ? "" : ", no CPU access");
        }
    }
}

TEST_F(Uploads, PoolsWithoutCpuAccessStartWithTheirStorage) { // OBJ-171
    const u64 pool = add_pool(0x20000, false);
    auto filled = image(pool, "RGBA8", 64, 64), compressible = image(pool + 0x8000, "RGBA8", 64, 64);
    auto linear = image(pool + 0x10000, "R8", 64, 64);
    filled.texture.flags = 4;
    compressible.texture.flags = 8;
    linear.texture.flags = 0x14;
    linear.texture.stride = 64;
    std::memset(bytes_at(pool), 0x5a, 0x20000);
    const auto first = [&](const stream::ImageDescription& d) {
        look(d);
        return read<u32>(result);
    };
    EXPECT_EQ(first(filled), 0x5a5a5a5au);
    EXPECT_EQ(first(compressible), 0u) << "kept in a form of the chip's own";
    EXPECT_EQ(first(linear), 0x5a5a5a5au);
    const u64 uploads = replay->statistics().uploads;
    std::memset(bytes_at(pool), 0x66, 0x20000); // no business of the CPU's
    EXPECT_EQ(first(filled), 0x5a5a5a5au);
    EXPECT_EQ(first(compressible), 0u);
    EXPECT_EQ(first(linear), 0x5a5a5a5au);
    EXPECT_EQ(replay->statistics().uploads, uploads);
}

TEST_F(Uploads, AnImportDoesNotBlindTheTracker) { // OBJ-058, OBJ-059
    const u64 pool = add_pool(0x20000);
    const auto d = image(pool, "R32UI", 64, 64);
    look(d);
    ASSERT_TRUE(guest.remove(at(pool))); // the same memory as another pool: imported anew, the texture's pages watched
    ASSERT_TRUE(guest.add(at(pool), 0x20000));
    Recorder r;
    stream::ClearBuffer fill{};
    fill.address = at(pool + 0x10000).value;
    fill.size = 64;
    fill.value = 7;
    r.add(fill);
    run(r);
    const u64 uploads = replay->statistics().uploads;
    look(d);
    EXPECT_EQ(replay->statistics().uploads, uploads) << "opening is no write";
    put(pool + 4, 0x4321u);
    look(d);
    EXPECT_EQ(read<u32>(result + 4), 0x4321u);
}

TEST_F(Uploads, AnnouncedBytesWinOverDrawnOnes) { // OBJ-179, OBJ-165: even those that were there before
    auto d = image(target, "R32UI", 64, 64);      // 16 KiB
    d.texture.block_height_log2 = 1;
    d.texture.flags = 8; // not stored behind the drawing
    std::memset(memory + target, 0x11, 0x4000);
    look(d);
    for (u32 frame = 0; frame < 3; ++frame) {
        Recorder r;
        set_targets(r, std::span(&d, 1));
        stream::ClearColor c{};
        c.value_class = stream::ClearClass::Uint;
        c.mask = 0xf;
        c.value[0] = 0x55555555;
        r.add(c);
        run(r);
        look(d);
        EXPECT_EQ(read<u32>(result), 0x55555555u);
        const u64 bytes = replay->statistics().upload_bytes;
        replay->memory_written(at(target).value, 0x1000);
        look(d, 64, 64);
        EXPECT_EQ(read<u32>(result), 0x11111111u);
        EXPECT_EQ(read<u32>(result + 63 * 64 * 4), 0x55555555u) << "nothing was said of the rest";
        EXPECT_EQ(replay->statistics().upload_bytes, bytes + 0x1000);
    }
}

TEST_F(Uploads,
       TheCpuAndTheGpuOwnPagesOfOneTexture) { // OBJ-182, OBJ-189, OBJ-190: no flag decides, the newest writer does
    auto d = image(target, "R32UI", 64, 64);
    d.texture.block_height_log2 = 1; // a block row is 16 rows: 4 KiB, one page
    stream::ClearTexture c{};
    c.image = d;
    c.mask = 0xf;
    c.value_class = stream::ClearClass::Uint;
    for (u32 frame = 1; frame < 6; ++frame) {
        Recorder r;
        c.region = {0, 0, 0, 64, 16, 1};
        c.value[0] = frame;
        r.add(c);
        run(r);
        put(target + 0x1000, 0x100 + frame);
        const u64 bytes = replay->statistics().upload_bytes;
        look(d, 64, 32);
        EXPECT_EQ(read<u32>(result), frame);
        EXPECT_EQ(read<u32>(result + 16 * 64 * 4), 0x100 + frame);
        EXPECT_EQ(replay->statistics().upload_bytes, bytes + 0x1000) << frame;
        EXPECT_EQ(read<u32>(target), frame);
    }
}

TEST_F(Uploads, NeighboursOfATextureAreNotItsContent) {    // OBJ-210, OBJ-212
    const auto d = image(target + 0x200, "RGBA8", 64, 32); // 8 KiB from the second GOB on: all pages but one are shared
    look(d);
    const u64 uploads = replay->statistics().uploads;
    for (u32 i = 0; i < 20; ++i) {
        put(target + 4, i + 1);
        put(target + 0x2200, i + 1);
        look(d);
    }
    EXPECT_EQ(replay->statistics().uploads, uploads);
    put(target + 0x21fc, 0x99u); // its last texel but for nothing
    look(d, 64, 32);
    EXPECT_EQ(replay->statistics().uploads, uploads + 1);
    EXPECT_EQ(read<u32>(result + (31 * 64 + 63) * 4), 0x99u);
}

TEST_F(Uploads, DrawnNeighboursDoNotMakeATextureTheGpus) {    // OBJ-184
    const auto drawn = image(target, "RGBA8", 48, 8);         // 1,536 bytes
    const auto mine = image(target + 0x600, "RGBA8", 64, 32); // behind it on the same page
    for (u32 i = 1; i < 5; ++i) {
        Recorder r;
        set_targets(r, std::span(&drawn, 1));
        r.add(clear(1, 1, 1, 1));
        run(r);
        put(target + 0x600, i);
        look(mine);
        EXPECT_EQ(read<u32>(result), i);
    }
}

TEST_F(Uploads, TexturesThatNobodyWritesAreNotLookedAt) { // issue 7: nothing per frame, however many there are
    const u64 pool = add_pool(8 << 20);
    std::vector<stream::ImageDescription> all;
    for (u32 i = 0; i < 500; ++i)
        all.push_back(image(pool + i * 0x4000, "RGBA8", 64, 64));
    const auto frame = [&] {
        Recorder r;
        for (const auto& d : all)
            copy_out(r, d, result, 1, 1);
        run(r);
    };
    frame();
    const u64 looks = replay->statistics().texture_looks;
    EXPECT_GE(looks, 500u);
    for (u32 i = 0; i < 4; ++i)
        frame();
    EXPECT_EQ(replay->statistics().texture_looks, looks);
    put(pool + 77 * 0x4000, 1u);
    put(pool + 78 * 0x4000, 1u);
    frame();
    EXPECT_EQ(replay->statistics().texture_looks, looks + 2);
}

TEST_F(Uploads, AnyNumberOfThreadsMayWrite) { // GFX-010: what is written before a submission is in it
    constexpr u32 threads = 3, rounds = 150;
    const u64 pool = add_pool(1 << 20);
    std::vector<stream::ImageDescription> mine;
    for (u32 t = 0; t < threads; ++t) // their pages are shared: 1.5 KiB each
        mine.push_back(image(pool + t * 0x600, "RGBA8", 48, 8));
    u32 wrong = 0;
    std::vector<std::thread> writers;
    std::atomic<bool> stop = false;
    for (u32 t = 0; t < threads; ++t) // noise on other textures of the same pages
        writers.emplace_back([&, t] {
            for (u32 i = 0; !stop; ++i)
                __atomic_store_n(reinterpret_cast<u32*>(bytes_at(pool + 0x2000 + (i * 7 + t) % 512 * 8)), i,
                                 __ATOMIC_RELAXED);
        });
    const auto noisy = image(pool + 0x2000, "RGBA8", 32, 32);
    for (u32 i = 0; i < rounds; ++i) {
        Recorder r;
        for (u32 t = 0; t < threads; ++t) {
            put(pool + t * 0x600, i * 4 + t);
            copy_out(r, mine[t], result + t * 0x1000, 1, 1);
        }
        copy_out(r, noisy, result + 0x8000, 32, 32);
        run(r);
        for (u32 t = 0; t < threads; ++t)
            wrong += read<u32>(result + t * 0x1000) != i * 4 + t;
    }
    stop = true;
    for (auto& w : writers)
        w.join();
    EXPECT_EQ(wrong, 0u);
    look(noisy, 32, 32); // and the last state in the end
    u32 different = 0;
    for (u32 y = 0; y < 32; ++y)
        for (u32 x = 0; x < 32; ++x)
            different += read<u32>(result + (y * 32 + x) * 4) != read<u32>(pool + 0x2000 + tiled(x * 4, y, 2, 1));
    EXPECT_EQ(different, 0u);
}

// De-tiled on the GPU, which CPU devices do only when they are told to.
class GpuTiling : public Uploads {
protected:
    Options options() override {
        Options o = Uploads::options();
        o.tiling = Options::Tiling::Gpu;
        return o;
    }
};

TEST_F(GpuTiling, IsTheSameAsOnTheCpu) {
    struct Case {
        const char* format;
        u8 target;
        u32 width, height, depth;
        u8 levels, block_height, block_depth;
        u32 texel;
        bool on_gpu;
    };
    u64 on_gpu = 0;
    for (const Case& c :
         {Case{"RGBA8", 1, 300, 200, 1, 6, 4, 0, 4, true}, Case{"R8", 1, 515, 257, 1, 1, 4, 0, 1, true},
          Case{"RGBA32F", 1, 100, 90, 1, 3, 3, 0, 16, true}, Case{"RGBA16F", 2, 50, 40, 12, 2, 1, 2, 8, true},
          Case{"RG8", 4, 200, 100, 5, 3, 3, 0, 2, true}, Case{"RGBA_DXT1", 1, 600, 520, 1, 5, 4, 0, 8, true},
          Case{"RGB8", 1, 300, 200, 1, 1, 4, 0, 3, false}, Case{"RGBA8", 1, 64, 64, 1, 1, 3, 0, 4, false}}) {
        SCOPED_TRACE(c.format);
        const u64 pool = add_pool(4 << 20);
        auto d = image(pool, c.format, c.width, c.height, c.levels);
        d.texture.target = d.view.target = c.target;
        d.texture.depth = static_cast<u16>(c.depth);
        d.texture.block_height_log2 = c.block_height;
        d.texture.block_depth_log2 = c.block_depth;
        if (c.target == 4)
            d.view.layer_count = static_cast<u16>(c.depth);
        for (u64 i = 0; i < (4 << 20); i += 4)
            put(pool + i, static_cast<u32>(i * 2654435761u) & 0x3fffffffu); // ordinary floats too
        const auto layout = texture::layout(texture_description(d.texture));
        ASSERT_TRUE(layout);
        for (u8 level = 0; level < c.levels; ++level) {
            auto view = d;
            view.view.first_level = level;
            view.view.level_count = 1;
            const texture::Level& at_level = layout->levels[level];
            const u32 last = c.target == 4 ? c.depth - 1 : 0, slice = c.target == 2 ? at_level.depth - 1 : 0;
            Recorder r;
            stream::CopyTextureToBuffer copy{};
            copy.buffer = at(result).value;
            copy.region = {0,
                           0,
                           static_cast<i32>(last + slice),
                           static_cast<i32>(at_level.width),
                           static_cast<i32>(at_level.height),
                           1};
            copy.image = view;
            r.add(copy);
            run(r);
            u64 different = 0;
            for (u32 y = 0; y < at_level.blocks_y; ++y)
                for (u32 x = 0; x < at_level.row_bytes; ++x) {
                    const u64 stored = pool + last * layout->layer_stride + at_level.offset +
                                       texture::tiled_offset(at_level, texture::GobOrder::TegraX1, x, y, slice);
                    different += read<u8>(result + y * at_level.row_bytes + x) != read<u8>(stored);
                }
            EXPECT_EQ(different, 0u) << "level " << static_cast<int>(level);
        }
        on_gpu += c.on_gpu;
        EXPECT_EQ(replay->statistics().gpu_uploads, on_gpu);
        put(pool + 4, 0x01020304u); // and what changes later
        look(d, 4, 4);
        EXPECT_EQ(replay->statistics().gpu_uploads, on_gpu) << "a page is the CPU's";
    }
}

// Without a tracker the bytes themselves are compared.
class Untracked : public ReplayTest {};

TEST_F(Untracked, OnlyChangedPagesAreUploaded) {
    auto d = image(target, "RGBA8", 512, 256);
    d.texture.block_height_log2 = 4;
    const auto look = [&] {
        Recorder r;
        copy_out(r, d, result, 512, 256);
        run(r);
    };
    look();
    const u64 bytes = replay->statistics().upload_bytes;
    look();
    EXPECT_EQ(replay->statistics().upload_bytes, bytes);
    const u32 value = 0x89abcdef;
    std::memcpy(memory + target + tiled(300 * 4, 200, 32, 16), &value, 4);
    look();
    EXPECT_EQ(replay->statistics().upload_bytes, bytes + 4096);
    EXPECT_EQ(read<u32>(result + (200 * 512 + 300) * 4), value);
}

} // namespace
} // namespace heaviside::replay
