// What a texture shows at its first use and at every later one, whatever its format, flags and levels: the bytes of
// whoever wrote last, the CPU or the GPU.
#include "texture_fixture.h"

#include "base/log.h"
#include "replay/textures.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace heaviside::replay {
namespace {

constexpr u64 target = 0x100000, other = 0x200000, result = 0x300000;

struct Pattern {
    std::vector<u8> block; // all of one colour
    f64 red;
};

// The n-th pattern of a format, 0 to 5; worked out from what the bits of the format mean.
Pattern pattern(const std::string& format, u32 n) {
    const auto bytes = [](std::size_t size, u64 value) {
        std::vector<u8> out(size);
        std::memcpy(out.data(), &value, std::min<std::size_t>(size, 8));
        return out;
    };
    if (format == "RGBA16F") // 2^n
        return {bytes(8, 0x3c00 + 0x400 * n), std::ldexp(1.0, static_cast<int>(n))};
    if (format == "RGBA_DXT1") {
        const u64 red = 5 + 4 * n, colour = red << 11 | red << 27; // both ends alike
        return {bytes(8, colour), static_cast<f64>(red) / 31};
    }
    if (format == "BPTC_UNORM") { // mode 6: ends of seven bits and one below them, which is set
        const u64 v = 20 + 18 * n;
        std::vector<u8> out = bytes(16, 0x40 | v << 7 | v << 14 | u64{1} << 63);
        out[8] = 1;
        return {out, static_cast<f64>(v << 1 | 1) / 255};
    }
    const u8 v = static_cast<u8>(0x20 + 0x20 * n);
    if (format.starts_with("RGBA_ASTC")) { // a block that says of itself that it has one colour
        std::vector<u8> out = bytes(16, 0xfffffffffffffdfcull);
        std::fill(out.begin() + 8, out.end(), v);
        const f64 c = v / 255.0;
        return {out, format.ends_with("_SRGB") ? std::pow((c + 0.055) / 1.055, 2.4) : c};
    }
    return {std::vector<u8>(texture::info(texture::format_named(format)).block_bytes, v), v / 255.0};
}

class Content : public Tracked<TextureReads> {
protected:
    void fill(const stream::ImageDescription& d, const std::string& format, u32 first_pattern) {
        const auto layout = texture::layout(texture_description(d.texture));
        ASSERT_TRUE(layout) << layout.error().message;
        for (u32 layer = 0; layer < layout->layers; ++layer)
            for (u32 level = 0; level < layout->level_count; ++level)
                fill_level(d, *layout, layer, level, pattern(format, first_pattern + std::min(level, 2u)).block);
    }
    void fill_level(const stream::ImageDescription& d, const texture::Layout& layout, u32 layer, u32 level,
                    const std::vector<u8>& block) {
        std::byte* const start =
            reinterpret_cast<std::byte*>(d.texture.address + layer * layout.layer_stride + layout.levels[level].offset);
        for (u64 i = 0; i + block.size() <= layout.levels[level].size; i += block.size())
            std::memcpy(start + i, block.data(), block.size());
    }
    stream::ImageDescription level_of(const stream::ImageDescription& d, u32 level) const {
        auto out = d;
        out.view.first_level = static_cast<u8>(level);
        out.view.level_count = 1;
        return out;
    }
    void look_out(const stream::ImageDescription& d, i32 width, i32 height) {
        Recorder r;
        copy_out(r, d, result, width, height);
        run(r);
    }
    template <class T>
    void poke(u64 offset, const T& value) {
        std::memcpy(bytes_at(offset), &value, sizeof value);
    }
};

// No call tells of the writes; no flag, format or earlier use keeps them out. OBJ-174, OBJ-175, OBJ-176, OBJ-177,
// OBJ-178, OBJ-180, OBJ-185, OBJ-189
TEST_F(Content, IsWhatTheCpuWroteLast) {
    struct Case {
        const char* format;
        u32 width, height, depth;
        u8 target, levels;
        u16 flags;
    };
    constexpr u16 display = 1, image_flag = 4, compressible = 8;
    const Case cases[] = {
        {"RGBA_ASTC_8x8", 16, 16, 5, target_2d_array, 1, 0},
        {"RGBA_DXT1", 64, 64, 1, target_2d, 1, image_flag | compressible},
        {"BPTC_UNORM", 64, 64, 1, target_2d, 2, image_flag},
        {"R16", 68, 68, 1, target_2d, 1, 0},
        {"RG8", 260, 260, 1, target_2d, 9, 0},
        {"RGBA8", 64, 64, 1, target_2d, 1, image_flag},
        {"RGBA8", 64, 64, 1, target_2d, 1, display},
        {"RGBA16F", 10, 10, 10, target_3d, 1, 0},
        {"RGBA16F", 10, 10, 10, target_3d, 1, image_flag},
    };
    u64 place = add_pool(8 << 20);
    u32 id = 300;
    for (const Case& c : cases) {
        SCOPED_TRACE(std::string(c.format) + " flags " + std::to_string(c.flags));
        auto d = image(place, c.format, c.width, c.height, c.levels);
        place += 0x80000;
        d.texture.target = d.view.target = c.target;
        d.texture.depth = static_cast<u16>(c.depth);
        d.view.layer_count = c.target == target_2d_array ? static_cast<u16>(c.depth) : u16{1};
        d.texture.flags = c.flags;
        d.texture.block_height_log2 = 2;
        const u32 levels = std::min<u32>(c.levels, 2);
        const auto check = [&](u32 first_id, u32 first_pattern) {
            for (u32 level = 0; level < levels; ++level) {
                const u32 layer = c.depth - 1;
                const Words got = c.target == target_2d ? look(fetch_2d, first_id + level, {1, 1, 0, 0})
                                  : c.target == target_2d_array
                                      ? look(fetch_2d_array, first_id + level, {layer, 1, 1, 0})
                                      : look(fetch_3d, first_id + level, {1, 1, layer, 0});
                EXPECT_NEAR(number(got[0]), pattern(c.format, first_pattern + level).red, 4e-3)
                    << "level " << level << ", patterns from " << first_pattern;
            }
        };
        for (u32 level = 0; level < levels; ++level)
            put(id + level, level_of(d, level));
        fill(d, c.format, 0); // behind the making, ahead of the first use
        check(id, 0);
        fill(d, c.format, 3);
        check(id, 3);
        fill(d, c.format, 1);
        for (u32 level = 0; level < levels; ++level) // another object of the same description
            put(id + 10 + level, level_of(d, level));
        check(id + 10, 1);
        id += 20;
    }
}

TEST_F(Content, OfBlocksIsTheCopysAndTheCpus) { // OBJ-190: each its level, in whatever order
    auto d = image(target, "BPTC_UNORM", 64, 64, 3);
    d.texture.block_height_log2 = 1;
    const auto layout = texture::layout(texture_description(d.texture));
    ASSERT_TRUE(layout);
    for (u32 level = 0; level < 3; ++level)
        put(300 + level, level_of(d, level));
    const auto red = [&](u32 level) { return number(look(fetch_2d, 300 + level, {3, 3, 0, 0})[0]); };
    fill(d, "BPTC_UNORM", 0);
    EXPECT_NEAR(red(0), pattern("BPTC_UNORM", 0).red, 4e-3);
    for (u32 round = 1; round < 3; ++round) {
        fill_level(d, *layout, 0, 0, pattern("BPTC_UNORM", round).block);
        const Pattern copied = pattern("BPTC_UNORM", round + 3);
        for (u32 i = 0; i < 8 * 8; ++i)
            std::memcpy(memory + other + i * 16, copied.block.data(), 16);
        Recorder r;
        stream::CopyBufferToTexture in{};
        in.buffer = at(other).value;
        in.region = {0, 0, 0, 32, 32, 1};
        in.image = level_of(d, 1);
        r.add(in);
        run(r);
        EXPECT_NEAR(red(0), pattern("BPTC_UNORM", round).red, 4e-3);
        EXPECT_NEAR(red(1), copied.red, 4e-3);
        EXPECT_NEAR(red(2), pattern("BPTC_UNORM", 2).red, 4e-3);
        EXPECT_EQ(std::memcmp(memory + target + layout->levels[1].offset, copied.block.data(), 16), 0);
    }
}

TEST_F(Content, AFlushKeepsWhatWasDrawn) { // OBJ-173
    auto volume = image(target, "RGBA16F", 256, 32);
    volume.texture.target = volume.view.target = target_3d;
    volume.texture.depth = 16;
    volume.texture.block_height_log2 = 2;
    volume.texture.block_depth_log2 = 2;
    auto picture = image(other, "RGBA8", 64, 64);
    picture.texture.block_height_log2 = 3;
    put(300, volume);
    put(301, picture);
    fill(volume, "RGBA16F", 3);
    std::memset(memory + other, 0x40, 64 * 64 * 4);
    replay->memory_written(at(target).value, 256 * 32 * 16 * 8);
    replay->memory_written(at(other).value, 64 * 64 * 4);
    EXPECT_EQ(number(look(fetch_3d, 300, {200, 30, 15, 0})[0]), 8.0f);
    EXPECT_NEAR(number(look(fetch_2d, 301, {60, 60, 0, 0})[0]), 64 / 255.0f, 1e-6);
    Recorder r;
    stream::ClearTexture c{};
    c.image = picture;
    c.region = {0, 0, 0, 64, 32, 1};
    c.mask = 0xf;
    c.value_class = stream::ClearClass::Float;
    const f32 one = 1;
    std::memcpy(c.value, &one, 4);
    r.add(c);
    run(r);
    replay->memory_written(at(other).value, 64 * 64 * 4); // of memory that the CPU has not written since
    EXPECT_EQ(number(look(fetch_2d, 301, {60, 10, 0, 0})[0]), 1.0f);
    EXPECT_NEAR(number(look(fetch_2d, 301, {60, 60, 0, 0})[0]), 64 / 255.0f, 1e-6);
}

TEST_F(Content, ADrawingInATextureOfTheCpusStays) { // OBJ-181: whatever is written beside the texture
    for (const u16 flags : {u16{0}, u16{8}}) {      // stored behind the drawing, and not
        const u64 place = target + flags * 0x1000;
        auto d = image(place + 0x200, "R32UI", 64, 32); // 8 KiB, the first and last page shared
        d.texture.flags = flags;
        std::memset(memory + place + 0x200, 0x11, 0x2000);
        put(300 + flags, d);
        EXPECT_EQ(look(fetch_2d, 300 + flags, {5, 30, 0, 0})[0], 0x11111111u);
        Recorder r;
        stream::ClearTexture c{};
        c.image = d;
        c.region = {0, 0, 0, 64, 16, 1};
        c.mask = 0xf;
        c.value_class = stream::ClearClass::Uint;
        c.value[0] = 77;
        r.add(c);
        run(r);
        for (u32 i = 0; i < 3; ++i) {
            poke(place + 8, i + 1); // on the drawn half's page
            poke(place + 0x2208, i + 1);
            const auto seen =
                look(fetch_2d, 300 + flags, {{5, 0, 0, 0}, {60, 15, 0, 0}, {5, 16, 0, 0}, {60, 31, 0, 0}});
            EXPECT_EQ(seen[0][0], 77u) << flags;
            EXPECT_EQ(seen[1][0], 77u) << flags;
            EXPECT_EQ(seen[2][0], 0x11111111u) << flags;
            EXPECT_EQ(seen[3][0], 0x11111111u) << flags;
            EXPECT_EQ(read<u32>(place + 0x200), flags ? 0x11111111u : 77u);
        }
    }
}

// OBJ-198, OBJ-263: while a drawing is on its way to the storage, what lies there is older than the image; also for
// another description of the same bytes.
TEST_F(Content, WaitsForAStoreThatIsUnderWay) {
    auto d = image(target, "R32UI", 64, 32); // two pages, rows 0 to 15 in the first with one block a row
    d.texture.block_height_log2 = 1;
    auto big = image(other, "RGBA8", 512, 256); // to keep the GPU at work
    stream::ClearTexture c{};
    c.mask = 0xf;
    c.value_class = stream::ClearClass::Uint;
    look_out(d, 4, 4);
    for (u32 round = 1; round < 4; ++round) {
        Recorder r;
        c.image = d;
        c.region = {0, 0, 0, 64, 8, 1};
        c.value[0] = 0x100 + round;
        r.add(c);
        for (u32 i = 0; i < 200; ++i) {
            stream::ClearTexture busy{};
            busy.image = big;
            busy.region = {0, 0, 0, 512, 256, 1};
            busy.mask = 0xf;
            busy.value_class = stream::ClearClass::Float;
            r.add(busy);
        }
        replay->submit(queue, {0, 1}, r.take());
        poke(target + 512, 0x200 + round); // rows 8 to 15 of the first columns, on the drawn page
        Recorder early;
        copy_out(early, d, result, 64, 32);
        replay->submit(queue, {0, 1}, early.take());
        replay->finish(queue);
        EXPECT_EQ(read<u32>(result), 0x100 + round) << "the drawing is not undone";
        look_out(d, 64, 32);
        EXPECT_EQ(read<u32>(result), 0x100 + round);
        EXPECT_EQ(read<u32>(result + 8 * 256), 0x200 + round) << "and the CPU's write comes";
        EXPECT_EQ(read<u32>(target), 0x100 + round);
        EXPECT_EQ(read<u32>(target + 512), 0x200 + round);
    }
}

TEST_F(Content, OfIntegersKeepsItsBitsInEverySample) { // GFX-155: of multisampled textures too
    struct Case {
        const char* format;
        stream::ClearClass value_class;
        Words cleared, expected;
    };
    u32 id = 300;
    for (const Case& c :
         {Case{"RGBA8I", stream::ClearClass::Sint, {~0u, 5, 0xffffff80, 0x7f}, {~0u, 5, 0xffffff80, 0x7f}},
          Case{"RG32UI", stream::ClearClass::Uint, {0xdeadbeef, 0x80000001, 3, 4}, {0xdeadbeef, 0x80000001, 0, 1}},
          Case{"R16UI", stream::ClearClass::Uint, {0xfffe, 2, 3, 4}, {0xfffe, 0, 0, 1}}})
        for (const u16 layers : {u16{1}, u16{3}}) {
            auto d = image(target + id * 0x1000, c.format, 8, 8);
            d.texture.samples = 4;
            d.texture.target = d.view.target = layers > 1 ? target_2d_ms_array : target_2d_ms;
            d.texture.depth = d.view.layer_count = layers;
            Recorder r;
            set_targets(r, std::span(&d, 1));
            stream::ClearColor clear{};
            clear.value_class = c.value_class;
            clear.mask = 0xf;
            std::memcpy(clear.value, c.cleared.data(), 16);
            r.add(clear);
            run(r);
            put(++id, d);
            for (u32 sample = 0; sample < 4; ++sample)
                EXPECT_EQ(layers > 1 ? look("TLD.LZ.MS R4, R0, R3, 0x8, ARRAY_2D, 0xf", id, {2, 3, 5, sample})
                                     : look("TLD.LZ.MS R4, R0, R2, 0x8, 2D, 0xf", id, {3, 5, sample, 0}),
                          c.expected)
                    << c.format << ", " << layers << " layers, sample " << sample;
        }
}

TEST_F(Content, OfAnImageIsWhatAShaderStored) { // GFX-086: over the guest's bytes, and in them once it is done
    const auto d = image(target, "R32UI", 64, 64);
    std::memset(memory + target, 0x22, 0x4000);
    put(300, d);
    EXPECT_EQ(look(fetch_2d, 300, {9, 0, 0, 0})[0], 0x22222222u);
    const u32 id = 300;
    Recorder r;
    stream::SetTexturePool textures{};
    textures.pool = texture_pool;
    r.add(textures);
    bind(r, reader("SUST.P.2D.IGN [R0], R2, 0x48"), compute_bit);
    stream::BindHandles b{};
    b.kind = stream::HandleKind::Image;
    b.stage = stream::Stage::Compute;
    b.count = 1;
    r.add(b, std::span<const u32>(&id, 1));
    poke(coordinates_at, Words{9, 0, 0x1234567, 0});
    uniform(r, stream::Stage::Compute, 0, coordinates_at, 16);
    storage(r, stream::Stage::Compute, 0, results_at, 16);
    dispatch(r);
    copy_out(r, d, result, 64, 64);
    run(r);
    EXPECT_EQ(read<u32>(result + 9 * 4), 0x1234567u) << "copied behind it";
    EXPECT_EQ(read<u32>(result + 64 * 4 + 9 * 4), 0x22222222u);
    EXPECT_EQ(read<u32>(target + tiled(9 * 4, 0, 4, 1)), 0x1234567u) << "in the storage";
    poke(target + 0x3000, 5u); // another page of the CPU's
    EXPECT_EQ(look(fetch_2d, 300, {9, 0, 0, 0})[0], 0x1234567u);
    EXPECT_EQ(look(fetch_2d, 300, {10, 0, 0, 0})[0], 0x22222222u);
}

// --- New images

PFN_vkCmdClearColorImage clear_color = nullptr;
PFN_vkCmdClearDepthStencilImage clear_depth = nullptr;
std::vector<std::pair<VkImage, VkImageSubresourceRange>> cleared;
void VKAPI_CALL noting_color(VkCommandBuffer c, VkImage image, VkImageLayout layout, const VkClearColorValue* value,
                             u32 count, const VkImageSubresourceRange* ranges) {
    EXPECT_EQ(value->uint32[0] | value->uint32[1] | value->uint32[2] | value->uint32[3], 0u);
    cleared.emplace_back(image, ranges[0]);
    clear_color(c, image, layout, value, count, ranges);
}
void VKAPI_CALL noting_depth(VkCommandBuffer c, VkImage image, VkImageLayout layout,
                             const VkClearDepthStencilValue* value, u32 count, const VkImageSubresourceRange* ranges) {
    EXPECT_EQ(value->depth, 0);
    cleared.emplace_back(image, ranges[0]);
    clear_depth(c, image, layout, value, count, ranges);
}

// REN-005: what has no content of its own. Fresh memory may be zero whatever is done, so the fills are counted.
TEST_F(Content, OfNewImagesIsZero) {
    clear_color = std::exchange(device->vk.vkCmdClearColorImage, noting_color);
    clear_depth = std::exchange(device->vk.vkCmdClearDepthStencilImage, noting_depth);
    cleared.clear();
    struct Case {
        const char* format;
        u8 target, levels, samples;
        u16 layers;
    };
    const Case cases[] = {{"RGBA16F", target_2d_array, 3, 1, 4},
                          {"RGBA8", target_2d_ms, 1, 4, 1},
                          {"R32UI", target_2d_array, 2, 1, 2},
                          {"DEPTH32F", target_2d, 1, 1, 1}};
    const u64 pool = add_pool(1 << 20, false, 0xff);
    u32 id = 300;
    u64 place = 0;
    for (const Case& c : cases) {
        auto d = image(pool + place, c.format, 32, 32, c.levels);
        place += 0x20000;
        d.texture.flags = 8; // compressible, without CPU access: its storage says nothing
        d.texture.target = d.view.target = c.target;
        d.texture.samples = c.samples;
        d.texture.depth = d.view.layer_count = c.layers;
        const std::size_t before = cleared.size();
        for (u32 level = 0; level < c.levels; ++level) {
            put(++id, level_of(d, level));
            const u32 last = 31u >> level;
            for (u32 layer = 0; layer < c.layers; ++layer)
                EXPECT_EQ(look(c.samples > 1                 ? "TLD.LZ.MS R4, R0, R2, 0x8, 2D, 0xf"
                               : c.target == target_2d_array ? fetch_2d_array
                                                             : fetch_2d,
                               id,
                               c.target == target_2d_array ? Words{layer, last, last, 0} : Words{last, last, 3, 0})[0],
                          0u)
                    << c.format << ", level " << level << ", layer " << layer;
        }
        ASSERT_EQ(cleared.size(), before + 1) << c.format;
        const VkImageSubresourceRange& r = cleared.back().second;
        EXPECT_TRUE(r.baseMipLevel == 0 && r.levelCount >= c.levels && r.baseArrayLayer == 0 &&
                    r.layerCount >= c.layers)
            << c.format;
    }
    device->vk.vkCmdClearColorImage = clear_color;
    device->vk.vkCmdClearDepthStencilImage = clear_depth;
}

// --- Descriptors

PFN_vkUpdateDescriptorSets update_sets = nullptr;
u64 written_descriptors = 0;
void VKAPI_CALL counting_update(VkDevice device, u32 count, const VkWriteDescriptorSet* writes, u32 copies,
                                const VkCopyDescriptorSet* copied) {
    written_descriptors += count;
    update_sets(device, count, writes, copies, copied);
}

TEST_F(Content, RegisteredAgainCostsNoDescriptor) { // REN-018
    update_sets = device->vk.vkUpdateDescriptorSets;
    device->vk.vkUpdateDescriptorSets = counting_update;
    auto d = image(target, "R32UI", 16, 8);
    const auto frame = [&](bool again) {
        if (again)
            put(300, d);
        const u64 before = written_descriptors;
        (void)look(fetch_2d, 300, {1, 1, 0, 0});
        return written_descriptors - before;
    };
    EXPECT_GT(frame(true), 0u);
    const u64 idle = frame(false);
    EXPECT_EQ(frame(true), idle);
    d.view.swizzle[0] = 0;
    EXPECT_GT(frame(true), idle);
    EXPECT_EQ(frame(true), idle);
    device->vk.vkUpdateDescriptorSets = update_sets;
}

TEST_F(Content, ThatNoImageCanHoldReadsZeroWithOneWord) { // REN-055, REN-056
    const auto& limits = device->capabilities.limits;
    struct Case {
        const char* name;
        u8 target;
        u32 width;
        u16 height, depth;
        u8 samples;
        const char* fetch;
    };
    const char* const samples = "TLD.LZ.MS R4, R0, R2, 0x8, 2D, 0xf";
    std::vector<Case> cases{{"4096 layers", target_1d_array, 4, 4096, 1, 1, fetch_1d_array},
                            {"one sample", target_2d_ms, 4, 4, 1, 1, samples},
                            {"three samples", target_2d_ms, 4, 4, 1, 3, samples}};
    if (!(limits.framebufferColorSampleCounts & VK_SAMPLE_COUNT_8_BIT))
        cases.push_back({"eight samples", target_2d_ms, 4, 4, 1, 8, samples});
    u32 id = 300;
    std::memset(memory + target, 0x77, 0x10000);
    for (const Case& c : cases) {
        auto d = image(target, "R32UI", c.width, c.height);
        d.texture.target = d.view.target = c.target;
        d.texture.depth = c.depth;
        d.texture.samples = c.samples;
        const u64 errors = log::error_count();
        put(++id, d);
        for (int i = 0; i < 3; ++i)
            EXPECT_EQ(look(c.fetch, id, {0, 1, 0, 0}), Words{}) << c.name;
        EXPECT_EQ(log::error_count(), errors + 1) << c.name;
    }
    for (const u8 t : {target_2d_array, target_3d, target_1d_array}) { // none is one
        auto d = image(target, "R32UI", 4, t == target_1d_array ? 0 : 4);
        d.texture.target = d.view.target = t;
        d.texture.depth = 0;
        put(++id, d);
        EXPECT_EQ(look(t == target_3d         ? fetch_3d
                       : t == target_1d_array ? fetch_1d_array
                                              : fetch_2d_array,
                       id, {0, 0, 0, 0})[0],
                  0x77777777u)
            << int{t};
    }
}

} // namespace
} // namespace heaviside::replay
