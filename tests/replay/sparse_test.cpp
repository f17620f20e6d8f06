// Virtual pools: what textures and buffers show when pages of them are mapped, unmapped and mapped elsewhere.
//
// The pools have addresses that no process can have: whatever dereferences one faults. Numbers of tiles and offsets are
// worked out from ledger OBJ-040 and OBJ-152: a tile of RGBA8 is 128 x 128 texels in 64 KiB, GOBs of 64 bytes x 8 rows
// in blocks of 16.
#include "guest/write_tracker.h"
#include "program_fixture.h"

#include <algorithm>
#include <map>
#include <vector>

namespace heaviside::replay {
namespace {

constexpr u64 tile = 0x10000, page = 0x1000;
constexpr u64 no_address = u64{1} << 60; // of the virtual pools
constexpr u64 tiles_at = 0;              // physical tiles, by number
constexpr u64 result = 0x300000, vertex_uniforms = 0x3f0000, fragment_uniforms = 0x3f0100;

// Byte of a tile of RGBA8 that holds the texel.
u64 in_tile(u32 x, u32 y) {
    const u32 byte = x % 128 * 4, row = y % 128;
    const u64 gob = u64{byte / 64} * 16 + row / 8;
    return gob * 512 + byte % 64 / 32 * 256 + row % 8 / 2 * 64 + byte % 32 / 16 * 32 + row % 2 * 16 + byte % 16;
}

class Sparse : public ProgramTest {
protected:
    void create(u64 address, u64 size) {
        replay->memory_pool_created({address, size, 0x201, nullptr});
        pools_.push_back(address);
    }
    void map(u64 address, u64 size, u64 physical_offset) {
        const stream::MemoryMapping m{address, size, at(physical_offset).value};
        replay->memory_mapped({&m, 1});
    }
    void unmap(u64 address, u64 size) {
        const stream::MemoryMapping m{address, size, 0};
        replay->memory_mapped({&m, 1});
    }
    void TearDown() override {
        if (replay) {
            replay->finish(queue);
            for (const u64 pool : pools_)
                replay->memory_pool_destroyed(pool);
        }
        ProgramTest::TearDown();
    }
    [[nodiscard]] stream::ImageDescription sparse_image(u64 address, const char* format, u32 width, u32 height,
                                                        u8 levels = 1, bool sparse = true) const {
        stream::ImageDescription d = image(0, format, width, height, levels);
        d.texture.address = address;
        d.texture.flags = sparse ? 0x20 : 0;
        d.texture.block_height_log2 = 4; // RGBA8
        return d;
    }
    // Each texel of physical tile `number` gets a value of its own.
    static u32 value(u64 number, u32 x, u32 y) {
        return static_cast<u32>(0x80000000u | number << 16 | (y % 128) << 8 | x % 128);
    }
    void fill(u64 number) {
        for (u32 y = 0; y < 128; ++y)
            for (u32 x = 0; x < 128; ++x) {
                const u32 v = value(number, x, y);
                std::memcpy(memory + tiles_at + number * tile + in_tile(x, y), &v, 4);
            }
    }
    // The texture's texels, as a copy on the GPU finds them.
    std::vector<u32> texels(const stream::ImageDescription& image, u32 width, u32 height, u8 level = 0) {
        stream::ImageDescription one = image;
        one.view.first_level = level;
        one.view.level_count = 1;
        Recorder r;
        copy_out(r, one, result, static_cast<i32>(width), static_cast<i32>(height));
        run(r);
        std::vector<u32> out(u64{width} * height);
        std::memcpy(out.data(), memory + result, out.size() * 4);
        return out;
    }
    // Which physical tile each 128 x 128 texels of an image come from; 0: all zero, ~0: something else.
    std::vector<u64> shown(const stream::ImageDescription& image, u32 width, u32 height) {
        const std::vector<u32> all = texels(image, width, height);
        std::vector<u64> out;
        for (u32 y = 0; y < height; y += 128)
            for (u32 x = 0; x < width; x += 128) {
                const u32 first = all[u64{y} * width + x];
                const u64 number = first ? first >> 16 & 0x7fff : 0;
                bool same = true;
                for (u32 dy = 0; dy < 128; ++dy)
                    for (u32 dx = 0; dx < 128; ++dx)
                        same &= all[u64{y + dy} * width + x + dx] == (first ? value(number, x + dx, y + dy) : 0);
                out.push_back(same ? number : ~u64{0});
            }
        return out;
    }
    void clear_rectangle(Recorder& r, const stream::ImageDescription& image, stream::Region region, u32 red) {
        stream::ClearTexture c{};
        c.image = image;
        c.region = region;
        c.mask = 0xf;
        c.value_class = stream::ClearClass::Float;
        const f32 values[] = {static_cast<f32>(red) / 255, 0, 0, 1};
        std::memcpy(c.value, values, sizeof values);
        r.add(c);
    }
    void copy_buffer(Recorder& r, u64 from, u64 to, u64 size) {
        stream::CopyBufferToBuffer c{};
        c.source = from;
        c.dest = to;
        c.size = size;
        r.add(c);
    }

private:
    std::vector<u64> pools_;
};

using Tiles = std::vector<u64>;

TEST_F(Sparse, TexelsComeThroughThePageTable) { // OBJ-033, OBJ-206: the address itself is never read
    constexpr u64 pool = no_address, texture = pool + (u64{32} << 30);
    create(pool, u64{64} << 30);
    for (const u64 t : {1, 2, 3})
        fill(t);
    const auto color = sparse_image(texture, "RGBA8", 256, 256);
    EXPECT_EQ(shown(color, 256, 256), (Tiles{0, 0, 0, 0})) << "made before anything is mapped";
    map(texture, tile, 3 * tile);
    map(texture + tile, tile, 1 * tile);
    map(texture + 3 * tile, tile, 2 * tile);
    EXPECT_EQ(shown(color, 256, 256), (Tiles{3, 1, 0, 2}));
    EXPECT_EQ(replay->statistics().upload_bytes, 3 * tile) << "what is not mapped is not uploaded";
}

TEST_F(Sparse, ARemapUploadsTheTilesItTouches) { // GFX-158, OBJ-034, OBJ-036
    create(no_address, 16 * tile);
    for (const u64 t : {1, 2, 3, 4})
        fill(t);
    const auto color = sparse_image(no_address, "RGBA8", 256, 256);
    for (u64 i = 0; i < 4; ++i)
        map(no_address + i * tile, tile, (i + 1) * tile);
    ASSERT_EQ(shown(color, 256, 256), (Tiles{1, 2, 3, 4}));
    const auto before = replay->statistics();
    for (int i = 0; i < 20; ++i)
        ASSERT_EQ(shown(color, 256, 256), (Tiles{1, 2, 3, 4}));
    EXPECT_EQ(replay->statistics().uploads, before.uploads) << "nothing changed";
    map(no_address + tile, tile, 4 * tile);
    EXPECT_EQ(shown(color, 256, 256), (Tiles{1, 4, 3, 4}));
    EXPECT_EQ(replay->statistics().upload_bytes - before.upload_bytes, tile);
    unmap(no_address, tile);
    EXPECT_EQ(shown(color, 256, 256), (Tiles{0, 4, 3, 4}));
    map(no_address + tile, tile, 4 * tile);
    const u64 uploads = replay->statistics().uploads;
    EXPECT_EQ(shown(color, 256, 256), (Tiles{0, 4, 3, 4}));
    EXPECT_EQ(replay->statistics().uploads, uploads) << "mapped to what was mapped there";
}

TEST_F(Sparse, OnePageIsEnough) { // OBJ-032, OBJ-036: 4 KiB pages, at offsets that share nothing with a larger page
    create(no_address, 16 * tile);
    fill(1);
    const u64 texture = no_address + tile;
    const auto color = sparse_image(texture, "RGBA8", 128, 128);
    // Page 7 of the texture is page 5 of the physical tile moved by three pages.
    std::memcpy(memory + 0x203000, memory + tile + 5 * page, page);
    map(texture + 7 * page, page, 0x203000);
    const std::vector<u32> got = texels(color, 128, 128);
    for (u32 y = 0; y < 128; ++y)
        for (u32 x = 0; x < 128; ++x) {
            const u64 byte = in_tile(x, y);
            u32 expected = 0;
            if (byte / page == 7)
                std::memcpy(&expected, memory + tile + 5 * page + byte % page, 4);
            ASSERT_EQ(got[y * 128 + x], expected) << x << ", " << y;
        }
    map(texture + 7 * page, page, tile + 7 * page);
    const std::vector<u32> now = texels(color, 128, 128);
    for (u32 i = 0; i < 128 * 128; ++i)
        ASSERT_EQ(now[i], in_tile(i % 128, i / 128) / page == 7 ? value(1, i % 128, i / 128) : 0) << i;
}

TEST_F(Sparse, WhatTheCpuWritesBehindAPageIsUploaded) { // OBJ-044
    create(no_address, 16 * tile);
    fill(1);
    fill(2);
    const auto color = sparse_image(no_address, "RGBA8", 256, 128);
    map(no_address, 2 * tile, tile);
    ASSERT_EQ(shown(color, 256, 128), (Tiles{1, 2}));
    const auto before = replay->statistics();
    std::memset(memory + 2 * tile, 0, tile);
    EXPECT_EQ(shown(color, 256, 128), (Tiles{1, 0}));
    EXPECT_EQ(replay->statistics().upload_bytes - before.upload_bytes, tile);
}

class TrackedSparse : public Sparse {
protected:
    void SetUp() override {
        Sparse::SetUp();
        if (HasFatalFailure())
            return;
        auto installed = guest::FaultHandler::install(tracker_);
        ASSERT_TRUE(installed);
        handler_.emplace(std::move(*installed));
        ASSERT_TRUE(tracker_.add(at(0), pool_size));
    }
    void TearDown() override {
        Sparse::TearDown();
        handler_.reset();
    }
    Options options() override {
        Options o;
        o.tracker = &tracker_;
        return o;
    }
    guest::WriteTracker tracker_;

private:
    std::optional<guest::FaultHandler> handler_;
};

TEST_F(TrackedSparse, OnlyChangesAreUploadedAgain) { // OBJ-034, OBJ-044
    constexpr u64 count = 32;
    create(no_address, u64{1} << 30);
    std::vector<stream::ImageDescription> textures;
    for (u64 i = 0; i < count; ++i) {
        fill(i + 1);
        textures.push_back(sparse_image(no_address + i * 4 * tile, "RGBA8", 128, 128));
        map(no_address + i * 4 * tile, tile, (i + 1) * tile);
    }
    const auto all = [&] {
        for (u64 i = 0; i < count; ++i)
            ASSERT_EQ(shown(textures[i], 128, 128), (Tiles{i + 1})) << i;
    };
    all();
    EXPECT_EQ(replay->statistics().uploads, count);
    for (int frame = 0; frame < 3; ++frame)
        all();
    EXPECT_EQ(replay->statistics().uploads, count);
    memory[7 * tile + 100] ^= std::byte{1};
    EXPECT_EQ(shown(textures[6], 128, 128), (Tiles{~u64{0}}));
    EXPECT_EQ(replay->statistics().uploads, count + 1);
    memory[7 * tile + 100] ^= std::byte{1};
    all();
    EXPECT_EQ(replay->statistics().uploads, count + 2);
    map(no_address + 4 * tile, tile, 3 * tile);
    EXPECT_EQ(shown(textures[1], 128, 128), (Tiles{3}));
    EXPECT_EQ(replay->statistics().uploads, count + 3);
    EXPECT_EQ(shown(textures[0], 128, 128), (Tiles{1}));
    EXPECT_EQ(replay->statistics().uploads, count + 3);
}

TEST_F(TrackedSparse, DrawingsAreNotTakenForTheGuestsWrites) { // OBJ-045
    create(no_address, 16 * tile);
    const auto color = sparse_image(no_address, "RGBA8", 256, 128);
    map(no_address, 2 * tile, tile);
    Recorder r;
    clear_rectangle(r, color, {0, 0, 0, 128, 128, 1}, 9);
    run(r);
    const u64 uploads = replay->statistics().uploads;
    for (u32 i = 0; i < 5; ++i) {
        replay->memory_read(no_address, tile); // stored
        EXPECT_EQ(read<u32>(tile + in_tile(5, 6)), 0xff000009u + i);
        Recorder again;
        clear_rectangle(again, color, {0, 0, 0, 128, 128, 1}, 10 + i);
        run(again);
    }
    EXPECT_EQ(replay->statistics().uploads, uploads);
}

TEST_F(Sparse, DrawingsStayWhenOtherTilesAreMapped) { // GFX-158, OBJ-045
    create(no_address, 16 * tile);
    fill(2);
    const auto color = sparse_image(no_address, "RGBA8", 256, 128);
    map(no_address, tile, tile);
    Recorder r;
    set_targets(r, std::span(&color, 1));
    r.add(clear(1, 0, 0, 1));
    run(r);
    const auto before = replay->statistics();
    map(no_address + tile, tile, 2 * tile);
    std::vector<u32> got = texels(color, 256, 128);
    EXPECT_EQ(got[0], 0xff0000ffu);
    EXPECT_EQ(got[127 * 256 + 127], 0xff0000ffu);
    EXPECT_EQ(got[128], value(2, 0, 0));
    EXPECT_EQ(replay->statistics().upload_bytes - before.upload_bytes, tile);
}

TEST_F(Sparse, StoresToWhatIsNotMappedAreDropped) { // GFX-031, OBJ-022
    create(no_address, 16 * tile);
    const auto color = sparse_image(no_address, "RGBA8", 256, 128);
    map(no_address, tile, tile);
    for (int i = 0; i < 2; ++i) {
        Recorder r;
        set_targets(r, std::span(&color, 1));
        r.add(clear(1, 0, 0, 1));
        run(r);
        const std::vector<u32> got = texels(color, 256, 128);
        EXPECT_EQ(got[127], 0xff0000ffu);
        EXPECT_EQ(got[128], 0u);
        EXPECT_EQ(got[127 * 256 + 255], 0u);
    }
    map(no_address + tile, tile, 2 * tile);
    EXPECT_EQ(texels(color, 256, 128)[128], 0u) << "nor do they come up when a page is mapped there";
    EXPECT_EQ(read<u32>(2 * tile), 0u);
}

TEST_F(Sparse, PlacesOfTheSameMemoryShowTheSame) { // OBJ-047, OBJ-013
    create(no_address, 64 * tile);
    fill(1);
    const auto first = sparse_image(no_address, "RGBA8", 128, 128);
    const auto second = sparse_image(no_address + 8 * tile, "RGBA8", 256, 128);
    const auto plain = image(tile, "RGBA8", 128, 128); // over the physical bytes
    stream::ImageDescription physical = plain;
    physical.texture.block_height_log2 = 4;
    map(no_address, tile, tile);
    map(no_address + 9 * tile, tile, tile);
    EXPECT_EQ(shown(first, 128, 128), (Tiles{1}));
    EXPECT_EQ(shown(second, 256, 128), (Tiles{0, 1}));
    EXPECT_EQ(shown(physical, 128, 128), (Tiles{1}));
    Recorder r;
    clear_rectangle(r, first, {0, 0, 0, 64, 128, 1}, 7);
    run(r);
    for (int i = 0; i < 2; ++i) {
        const std::vector<u32> got = texels(second, 256, 128);
        EXPECT_EQ(got[128], 0xff000007u);
        EXPECT_EQ(got[128 + 63], 0xff000007u);
        EXPECT_EQ(got[128 + 64], value(1, 64, 0));
        EXPECT_EQ(got[0], 0u);
        EXPECT_EQ(texels(physical, 128, 128)[127 * 128], 0xff000007u);
    }
    Recorder back; // and the other way round, in one submission
    clear_rectangle(back, second, {128, 0, 0, 128, 1, 1}, 8);
    copy_out(back, first, result, 128, 128);
    run(back);
    EXPECT_EQ(read<u32>(result), 0xff000008u);
    EXPECT_EQ(read<u32>(result + 127 * 4), 0xff000008u);
    EXPECT_EQ(read<u32>(result + 128 * 4), 0xff000007u);
    Recorder pool; // drawn to the physical pool, seen through the virtual one
    clear_rectangle(pool, physical, {0, 0, 0, 128, 128, 1}, 9);
    run(pool);
    EXPECT_EQ(texels(first, 128, 128)[5], 0xff000009u);
}

TEST_F(Sparse, DrawingsBelongToTheMemoryTheyWereDrawnIn) { // OBJ-049
    create(no_address, 64 * tile);
    fill(2);
    const auto first = sparse_image(no_address, "RGBA8", 128, 128);
    const auto second = sparse_image(no_address + 8 * tile, "RGBA8", 128, 128);
    map(no_address, tile, tile);
    Recorder r;
    clear_rectangle(r, first, {0, 0, 0, 128, 128, 1}, 5);
    run(r);
    unmap(no_address, tile);
    EXPECT_EQ(texels(first, 128, 128)[0], 0u);
    map(no_address + 8 * tile, tile, tile);
    EXPECT_EQ(texels(second, 128, 128)[128 * 128 - 1], 0xff000005u);
    map(no_address, tile, 2 * tile);
    EXPECT_EQ(shown(first, 128, 128), (Tiles{2}));
    unmap(no_address + 8 * tile, tile);
    fill(1); // the CPU's texels are newer
    map(no_address + 8 * tile, tile, tile);
    EXPECT_EQ(shown(second, 128, 128), (Tiles{1}));
}

TEST_F(Sparse, MemoryWrittenAsABufferShowsInTextures) { // OBJ-048
    create(no_address, 64 * tile);
    fill(1);
    fill(2);
    const auto color = sparse_image(no_address, "RGBA8", 128, 128);
    map(no_address, tile, tile);
    ASSERT_EQ(shown(color, 128, 128), (Tiles{1}));
    unmap(no_address, tile);
    ASSERT_EQ(shown(color, 128, 128), (Tiles{0}));
    Recorder r;
    copy_buffer(r, at(2 * tile).value, at(tile).value, tile);
    run(r);
    map(no_address, tile, tile);
    EXPECT_EQ(shown(color, 128, 128), (Tiles{2}));
    fill(3);
    Recorder again; // while it is mapped, through the virtual address, in the same submission
    copy_buffer(again, at(3 * tile).value, no_address, tile);
    copy_out(again, color, result, 128, 128);
    run(again);
    EXPECT_EQ(read<u32>(result), value(3, 0, 0));
    EXPECT_EQ(read<u32>(result + 128 * 128 * 4 - 4), value(3, 127, 127));
}

TEST_F(Sparse, PlacesShareMemoryFromARemapOn) { // OBJ-047, OBJ-036: textures that are there before
    create(no_address, 64 * tile);
    fill(1);
    fill(2);
    const auto first = sparse_image(no_address, "RGBA8", 128, 128);
    const auto second = sparse_image(no_address + 8 * tile, "RGBA8", 128, 128);
    map(no_address, tile, tile);
    map(no_address + 8 * tile, tile, 2 * tile);
    EXPECT_EQ(shown(first, 128, 128), (Tiles{1}));
    EXPECT_EQ(shown(second, 128, 128), (Tiles{2}));
    map(no_address + 8 * tile, tile, tile);
    Recorder r;
    clear_rectangle(r, first, {0, 0, 0, 64, 128, 1}, 7);
    copy_out(r, second, result, 128, 128);
    run(r);
    EXPECT_EQ(read<u32>(result), 0xff000007u);
    EXPECT_EQ(read<u32>(result + 64 * 4), value(1, 64, 0));
    map(no_address + 8 * tile, tile, 2 * tile); // and no longer
    Recorder apart;
    clear_rectangle(apart, first, {0, 0, 0, 64, 128, 1}, 9);
    copy_out(apart, second, result, 128, 128);
    run(apart);
    EXPECT_EQ(read<u32>(result), value(2, 0, 0));
}

TEST_F(Sparse, CpuFilledPagesShowWhereOthersWereDrawn) { // OBJ-053
    create(no_address, 64 * tile);
    const auto drawn = sparse_image(no_address, "RGBA8", 256, 128);
    const auto sampled = sparse_image(no_address + 8 * tile, "RGBA8", 128, 128);
    map(no_address, tile, tile);
    Recorder r;
    clear_rectangle(r, drawn, {0, 0, 0, 128, 128, 1}, 5);
    run(r);
    fill(2);
    map(no_address + tile, tile, 2 * tile);
    map(no_address + 8 * tile, tile, 2 * tile);
    EXPECT_EQ(shown(sampled, 128, 128), (Tiles{2}));
    EXPECT_EQ(texels(drawn, 256, 128)[128], value(2, 0, 0));
}

TEST_F(Sparse, EdgeTilesKeepTheirOwnTexels) { // OBJ-052: 200 texels are a tile and 72 columns of another
    create(no_address, 64 * tile);
    fill(1);
    fill(2);
    const auto edge = sparse_image(no_address, "RGBA8", 200, 130);
    const auto full = sparse_image(no_address + 8 * tile, "RGBA8", 128, 128);
    map(no_address + tile, tile, tile); // columns 128 to 199 of rows 0 to 127
    map(no_address + 8 * tile, tile, tile);
    Recorder r;
    clear_rectangle(r, edge, {128, 0, 0, 72, 128, 1}, 3);
    run(r);
    const std::vector<u32> got = texels(full, 128, 128);
    EXPECT_EQ(got[71], 0xff000003u);
    EXPECT_EQ(got[72], value(1, 72, 0)) << "outside the edge";
    map(no_address + 3 * tile, tile, 2 * tile); // rows 128 and 129
    const std::vector<u32> all = texels(edge, 200, 130);
    EXPECT_EQ(all[128 * 200 + 128], value(2, 0, 0));
    EXPECT_EQ(all[129 * 200 + 199], value(2, 71, 1));
    EXPECT_EQ(all[128 * 200 + 127], 0u);
    EXPECT_EQ(all[127 * 200 + 199], 0xff000003u);
}

TEST_F(Sparse, OldWorkSeesOldMemory) { // OBJ-019, OBJ-020
    create(no_address, 16 * tile);
    std::memset(memory + tile, 1, tile);
    std::memset(memory + 2 * tile, 2, tile);
    map(no_address, tile, tile);
    for (u32 i = 0; i < 50; ++i) {
        Recorder old;
        copy_buffer(old, no_address, at(result).value, tile);
        replay->submit(queue, {0, 1}, old.take());
        map(no_address, tile, 2 * tile);
        Recorder now;
        copy_buffer(now, no_address, at(result + tile).value, tile);
        replay->submit(queue, {0, 1}, now.take());
        map(no_address, tile, tile);
        replay->finish(queue);
        ASSERT_EQ(read<u32>(result + tile - 4), 0x01010101u);
        ASSERT_EQ(read<u32>(result + 2 * tile - 4), 0x02020202u);
        std::memset(memory + result, 0, 2 * tile);
    }
}

TEST_F(Sparse, PoolsAreFinalisedBehindTheirWork) { // OBJ-020, OBJ-049
    create(no_address, 16 * tile);
    std::memset(memory + tile, 1, tile);
    map(no_address, 2 * tile, tile);
    const auto color = sparse_image(no_address + tile, "RGBA8", 128, 128);
    Recorder r;
    copy_buffer(r, no_address, at(result).value, tile);
    clear_rectangle(r, color, {0, 0, 0, 128, 128, 1}, 6);
    replay->submit(queue, {0, 1}, r.take());
    replay->memory_pool_destroyed(no_address);
    EXPECT_EQ(read<u32>(result + tile - 4), 0x01010101u);
    EXPECT_EQ(read<u32>(2 * tile), 0xff000006u) << "drawn before the pool went";
}

TEST_F(Sparse, BuffersSpanRunsAndGaps) { // OBJ-013, OBJ-015, OBJ-016, OBJ-022
    create(no_address, 64 * tile);
    for (u64 i = 0; i < 12 * page; ++i)
        memory[0x200000 + i] = static_cast<std::byte>(i / page + 1);
    // Pages 0-3 and 8-11, then 4-7 from elsewhere: no two runs are adjacent in memory.
    map(no_address, 4 * page, 0x200000 + 8 * page);
    map(no_address + 8 * page, 4 * page, 0x200000);
    const auto first_bytes = [&](u64 address, u64 pages) {
        Recorder r;
        copy_buffer(r, address, at(result).value, pages * page);
        run(r);
        std::vector<u32> out;
        for (u64 i = 0; i < pages; ++i)
            out.push_back(static_cast<u32>(read<u8>(result + i * page + page - 1)));
        return out;
    };
    EXPECT_EQ(first_bytes(no_address, 12), (std::vector<u32>{9, 10, 11, 12, 0, 0, 0, 0, 1, 2, 3, 4}));
    map(no_address + 4 * page, 4 * page, 0x200000 + 4 * page);
    EXPECT_EQ(first_bytes(no_address, 12), (std::vector<u32>{9, 10, 11, 12, 5, 6, 7, 8, 1, 2, 3, 4}));
    unmap(no_address + 5 * page, 2 * page);
    EXPECT_EQ(first_bytes(no_address, 5), (std::vector<u32>{9, 10, 11, 12, 5}));
    EXPECT_EQ(first_bytes(no_address + 7 * page, 5), (std::vector<u32>{8, 1, 2, 3, 4}));
    // Written across all of it.
    std::memset(memory + tile, 0x77, 12 * page);
    Recorder r;
    copy_buffer(r, at(tile).value, no_address, 12 * page);
    run(r);
    EXPECT_EQ(read<u8>(0x200000 + 12 * page - 1), 0x77);
    EXPECT_EQ(read<u8>(0x200000), 0x77);
    EXPECT_EQ(read<u8>(0x200000 + 4 * page), 0x77);
    EXPECT_EQ(read<u8>(0x200000 + 5 * page), 6) << "not mapped";
    EXPECT_EQ(read<u8>(0x200000 + 7 * page - 1), 7);
    EXPECT_EQ(first_bytes(no_address + 5 * page, 2), (std::vector<u32>{0, 0})) << "the store is not kept anywhere";
}

TEST_F(Sparse, WordsAndFillsFindTheirPages) {
    create(no_address, 16 * tile);
    map(no_address, page, tile);
    map(no_address + page, page, 3 * tile);
    Recorder r;
    stream::ReportValue v{};
    v.address = no_address + page + 8;
    v.value = 42;
    r.add(v);
    stream::ClearBuffer c{};
    c.address = no_address + page - 16;
    c.size = 24;
    c.value = 0x5a5a5a5a;
    r.add(c);
    stream::SignalEvent e{};
    e.address = no_address + 64;
    e.value = 7;
    r.add(e);
    v.address = no_address + 5 * page; // not mapped
    r.add(v);
    run(r);
    EXPECT_EQ(read<u32>(3 * tile + 8), 42u);
    EXPECT_EQ(read<u32>(tile + page - 16), 0x5a5a5a5au);
    EXPECT_EQ(read<u32>(tile + page), 0u);
    EXPECT_EQ(read<u32>(3 * tile + 4), 0x5a5a5a5au);
    EXPECT_EQ(read<u32>(tile + 64), 7u);
}

// Reads the word at c[3][0] (an address) and stores c[3][8] there, then reads it again: results to storage buffer 0.
constexpr const char* read_write_read = R"(
.stage compute
.workgroup 1 1 1
.entry main
main:
    MOV R0, c[0x3][0x0]
    MOV R1, c[0x3][0x4]
    MOV R2, c[0x3][0x8]
    LDG.E R4, [R0]
    STG.E [R0], R2
    MEMBAR.GL
    LDG.E.CV R5, [R0]
    MOV R6, c[0x0][0x310]
    MOV R7, c[0x0][0x314]
    STG.E.64 [R6], R4
    EXIT
)";

TEST_F(Sparse, ShadersFollowVirtualAddresses) { // OBJ-022, OBJ-057
    create(no_address, 16 * tile);
    map(no_address + page, page, tile);
    map(no_address + 3 * page, page, 2 * tile);
    write(tile + 0x10, u32{11});
    write(2 * tile + 0x20, u32{22});
    const auto code = program({read_write_read});
    const auto at_address = [&](u64 address, u32 stored) {
        write(fragment_uniforms, address);
        write(fragment_uniforms + 8, stored);
        Recorder r;
        bind(r, code, compute_bit);
        uniform(r, stream::Stage::Compute, 0, fragment_uniforms, 16);
        storage(r, stream::Stage::Compute, 0, result, 8);
        dispatch(r);
        run(r);
        return std::pair{read<u32>(result), read<u32>(result + 4)};
    };
    EXPECT_EQ(at_address(no_address + page + 0x10, 5), (std::pair{11u, 5u}));
    EXPECT_EQ(read<u32>(tile + 0x10), 5u);
    EXPECT_EQ(at_address(no_address + 3 * page + 0x20, 6), (std::pair{22u, 6u}));
    for (int i = 0; i < 2; ++i)
        EXPECT_EQ(at_address(no_address + 2 * page, 7), (std::pair{0u, 0u})) << "reads 0 and drops the store";
    map(no_address + 2 * page, page, tile);
    EXPECT_EQ(at_address(no_address + 2 * page + 0x10, 8), (std::pair{5u, 8u}));
    unmap(no_address + page, page);
    EXPECT_EQ(at_address(no_address + page + 0x10, 9), (std::pair{0u, 0u}));
    EXPECT_EQ(read<u32>(tile + 0x10), 8u);
}

TEST_F(Sparse, ManyRunsAreAllReadable) { // OBJ-018
    constexpr u64 pages = 1500;
    create(no_address, 64 * 1024 * page);
    for (u64 i = 0; i < 256; ++i)
        write(i * page, static_cast<u32>(i + 1));
    for (u64 i = 0; i < pages; ++i)
        map(no_address + 2 * i * page, page, i % 256 * page);
    const auto code = program({read_write_read});
    for (const u64 i : {u64{0}, u64{1}, u64{777}, pages - 1}) {
        write(fragment_uniforms, no_address + 2 * i * page);
        write(fragment_uniforms + 8, static_cast<u32>(i % 256 + 1));
        Recorder r;
        bind(r, code, compute_bit);
        uniform(r, stream::Stage::Compute, 0, fragment_uniforms, 16);
        storage(r, stream::Stage::Compute, 0, result, 8);
        dispatch(r);
        run(r);
        EXPECT_EQ(read<u32>(result), i % 256 + 1);
    }
    unmap(no_address, page);
    Recorder r;
    copy_buffer(r, no_address, at(result).value, 3 * page);
    run(r);
    EXPECT_EQ(read<u32>(result), 0u);
    EXPECT_EQ(read<u32>(result + 2 * page), 2u);
}

// Samples texture slot 0 at (c[3][0], c[3][4]), level c[3][8], over the whole target.
constexpr const char* sample_level = R"(
.stage fragment
.target 0 rgba
.entry main
main:
    MOV R0, c[0x3][0x0]
    MOV R1, c[0x3][0x4]
    MOV R2, c[0x3][0x8]
    TEX.LL R0, R0, R2, 0x8, 2D, 0xf
    EXIT
)";

class SparseLevels : public Sparse {
protected:
    static constexpr u64 target_at = 0x280000;
    static constexpr u32 texture_id = 300, sampler_id = 5;
    void SetUp() override {
        Sparse::SetUp();
        if (HasFatalFailure())
            return;
        replay->texture_pool_created(1, 0, 1024);
        replay->sampler_pool_created(2, 0, 64);
        stream::SamplerDescription s{};
        s.min_filter = 2; // nearest, nearest level
        s.lod_max = 1000;
        s.max_anisotropy = 1;
        s.min_filter = 4;
        replay->sampler_registered(2, sampler_id, s);
        code_ = program({full_screen, sample_level});
        write(vertex_uniforms, 0.5f);
    }
    // Red of the texel that a sample finds there.
    u32 sample(const stream::ImageDescription& texture, f32 x, f32 y, f32 level) {
        replay->texture_registered(1, texture_id, texture, false);
        write(fragment_uniforms, x);
        write(fragment_uniforms + 4, y);
        write(fragment_uniforms + 8, level);
        const auto target = image(target_at, "RGBA8", 4, 4);
        Recorder r;
        stream::SetTexturePool textures{};
        textures.pool = 1;
        r.add(textures);
        stream::SetSamplerPool samplers{};
        samplers.pool = 2;
        r.add(samplers);
        set_targets(r, std::span(&target, 1));
        bind(r, code_, vertex_bit | fragment_bit);
        uniform(r, stream::Stage::Vertex, 0, vertex_uniforms, 16);
        uniform(r, stream::Stage::Fragment, 0, fragment_uniforms, 16);
        stream::BindTexture b{};
        b.stage = stream::Stage::Fragment;
        b.handle = sampler_id << 20 | texture_id;
        r.add(b);
        draw(r);
        copy_out(r, target, result, 4, 4);
        run(r);
        return read<u32>(result) & 0xff;
    }

private:
    stream::ProgramId code_ = 0;
};

// A plain streamed texture, 256 x 256 R8 with nine levels: level n begins where the levels above it end. Sizes by
// ledger OBJ-152: 256x256: 65,536 bytes, 128x128: 16,384, 64x64: 4,096, 32x32: 2,048 (rows of 64 bytes), ...
TEST_F(SparseLevels, SamplesBeginAtTheFirstLevelThatIsMapped) { // REN-047, OBJ-026, OBJ-039
    create(no_address, 16 * tile);
    auto texture = sparse_image(no_address, "R8", 256, 256, 9, false);
    constexpr u64 level_1 = 0x10000, level_2 = 0x14000, level_3 = 0x15000;
    std::memset(memory + tile, 10, level_1);
    std::memset(memory + tile + level_1, 11, level_2 - level_1);
    std::memset(memory + tile + level_2, 12, level_3 - level_2);
    std::memset(memory + tile + level_3, 13, 2048);
    std::memset(memory + tile + level_3 + 2048, 14, 0x2000);
    EXPECT_EQ(sample(texture, 0.5f, 0.5f, 0), 0u) << "nothing is mapped";
    map(no_address + level_3, 0x3000, tile + level_3);
    EXPECT_EQ(sample(texture, 0.5f, 0.5f, 0), 13u);
    EXPECT_EQ(sample(texture, 0.01f, 0.99f, 0), 13u);
    EXPECT_EQ(sample(texture, 0.5f, 0.5f, 3), 13u);
    EXPECT_EQ(sample(texture, 0.5f, 0.5f, 4), 14u);
    map(no_address + level_2, page, tile + level_2);
    EXPECT_EQ(sample(texture, 0.5f, 0.5f, 0), 12u);
    EXPECT_EQ(sample(texture, 0.5f, 0.5f, 1), 12u);
    EXPECT_EQ(sample(texture, 0.5f, 0.5f, 3), 13u);
    map(no_address, level_2, tile); // finer levels, with no copy in between
    EXPECT_EQ(sample(texture, 0.5f, 0.5f, 0), 10u);
    EXPECT_EQ(sample(texture, 0.5f, 0.5f, 1), 11u);
    unmap(no_address + 3 * page, page);
    EXPECT_EQ(sample(texture, 0.5f, 0.5f, 1), 11u);
    EXPECT_EQ(sample(texture, 0.5f, 0.5f, 8), 14u);
    map(no_address, tile, tile);
    EXPECT_EQ(sample(texture, 0.1f, 0.2f, 0), 10u);
}

TEST_F(Sparse, TexturesMayBeMadeBeforeTheirPoolIsMapped) { // OBJ-024, OBJ-025, OBJ-027
    constexpr u64 count = 300;
    std::vector<stream::ImageDescription> textures;
    for (u64 i = 0; i < count; ++i) {
        const u64 address = no_address + i * 0x1000000;
        create(address, 0x20000 + i % 84 * tile);
        textures.push_back(sparse_image(address + tile, "RGBA8", 64, 64, 1, false));
        textures.back().texture.block_height_log2 = 3;
        Recorder r;
        copy_out(r, textures.back(), result, 64, 64);
        replay->submit(queue, {0, 1}, r.take());
    }
    replay->finish(queue);
    for (u64 i = 0; i < count; ++i)
        std::memset(memory + i % 180 * 0x4000, static_cast<int>(i % 180 + 1), 0x4000);
    for (u64 i = 0; i < count; ++i)
        map(no_address + i * 0x1000000 + tile, 0x4000, i % 180 * 0x4000);
    for (u64 i = 0; i < count; ++i)
        ASSERT_EQ(texels(textures[i], 64, 64)[64 * 64 - 1], (i % 180 + 1) * 0x01010101u) << i;
}

TEST_F(Sparse, ManyRequestsEndWhereThePageTableDoes) { // OBJ-043, OBJ-046
    create(no_address, 16 * tile);
    for (u64 t = 1; t <= 16; ++t)
        fill(t);
    const auto color = sparse_image(no_address, "RGBA8", 512, 256); // 8 tiles
    Tiles expected(8, 0);
    u32 random = 1;
    for (int look = 0; look < 20; ++look) {
        for (int i = 0; i < 100; ++i) {
            random = random * 1664525 + 1013904223;
            const u64 slot = random >> 8 & 7, physical = random >> 16 & 15;
            expected[slot] = physical;
            if (physical)
                map(no_address + slot * tile, tile, physical * tile);
            else
                unmap(no_address + slot * tile, tile);
        }
        ASSERT_EQ(shown(color, 512, 256), expected);
    }
}

} // namespace
} // namespace heaviside::replay
