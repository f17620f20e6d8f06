// What the CPU's access to texels does to the storage, byte for byte, and what the runtime hears of it. Ledger rows at
// each test.
#include "tests/nvn/client.h" // first: with the client's wrappers

#include "nvn/null_sink.h"
#include "nvn/runtime.h"

#include <numeric>
#include <thread>
#include <vector>

namespace heaviside::nvn {
namespace {

using test::Device;
using test::Pool;

class TexelSink : public NullSink {
public:
    struct Range {
        u64 address, size;
    };
    std::vector<Range> written, read;
    void memory_written(u64 address, u64 size) override { written.push_back({address, size}); }
    void memory_read(u64 address, u64 size) override { read.push_back({address, size}); }
};

class Texels : public testing::Test {
protected:
    void SetUp() override { set_sink(&sink_); }
    void TearDown() override { set_sink(nullptr); }

    NVNtextureBuilder builder(int width, int height, NVNformat format, int flags = 0, int stride = 0) {
        NVNtextureBuilder b;
        nvnTextureBuilderSetDevice(&b, &device_.object);
        nvnTextureBuilderSetDefaults(&b);
        nvnTextureBuilderSetSize2D(&b, width, height);
        nvnTextureBuilderSetFormat(&b, format);
        nvnTextureBuilderSetFlags(&b, flags);
        nvnTextureBuilderSetStride(&b, stride);
        return b;
    }
    NVNtexture make(NVNtextureBuilder& b, Pool& pool, ptrdiff_t offset) {
        nvnTextureBuilderSetStorage(&b, &pool.object, offset);
        NVNtexture out;
        EXPECT_TRUE(nvnTextureInitialize(&out, &b));
        return out;
    }
    std::byte* storage(u64 offset) { return pool_.pages.data + offset; }

    TexelSink sink_;
    Device device_;
    Pool pool_{device_, 0x200000};
};

std::vector<std::byte> numbers(std::size_t size) {
    std::vector<std::byte> out(size);
    for (std::size_t i = 0; i < size; ++i)
        out[i] = static_cast<std::byte>(i * 7 + i / 251 + 1);
    return out;
}

TEST_F(Texels, LinearWritesAreRowsAtTheStride) { // OBJ-167, OBJ-169
    struct Case {
        int width, height, flags, stride;
        NVNformat format;
        u32 texel;
    };
    for (const Case& c : {Case{37, 5, NVN_TEXTURE_FLAGS_LINEAR | NVN_TEXTURE_FLAGS_VIDEO_DECODE, 256, NVN_FORMAT_R8, 1},
                          Case{16, 16, NVN_TEXTURE_FLAGS_LINEAR_RENDER_TARGET, 128, NVN_FORMAT_RGBA8, 4}}) {
        NVNtextureBuilder b = builder(c.width, c.height, c.format, c.flags, c.stride);
        const NVNtexture t = make(b, pool_, 0x1000);
        const u64 address = nvnTextureGetTextureAddress(&t);
        const auto stride = static_cast<u32>(c.stride);
        for (const NVNcopyRegion& r : {NVNcopyRegion{0, 0, 0, c.width, c.height, 1}, NVNcopyRegion{3, 2, 0, 9, 3, 1},
                                       NVNcopyRegion{5, 4, 0, 1, 1, 1}, NVNcopyRegion{0, 1, 0, c.width, 1, 1},
                                       NVNcopyRegion{7, 0, 0, 1, c.height, 1}})
            for (const u32 padding : {0u, 20u}) {
                std::memset(pool_.pages.data, 0xEE, 0x4000);
                const u32 row = static_cast<u32>(r.width) * c.texel + padding;
                const std::vector<std::byte> source = numbers(std::size_t{row} * static_cast<u32>(r.height));
                std::vector<std::byte> expected(0x4000, std::byte{0xEE});
                u64 first = ~u64{0}, last = 0;
                for (u32 y = 0; y < static_cast<u32>(r.height); ++y)
                    for (u32 x = 0; x < static_cast<u32>(r.width) * c.texel; ++x) {
                        const u64 at =
                            (static_cast<u32>(r.yoffset) + y) * stride + static_cast<u32>(r.xoffset) * c.texel + x;
                        expected[0x1000 + at] = source[y * row + x];
                        first = std::min(first, at);
                        last = std::max(last, at);
                    }
                sink_.written.clear();
                nvnTextureWriteTexelsStrided(&t, nullptr, &r, source.data(), padding ? row : 0, 0);
                ASSERT_EQ(std::memcmp(pool_.pages.data, expected.data(), expected.size()), 0)
                    << c.width << ": " << r.xoffset << "," << r.yoffset << " padding " << padding;
                ASSERT_EQ(sink_.written.size(), 1u); // and no byte more is to be looked at
                EXPECT_EQ(sink_.written[0].address, address + first);
                EXPECT_EQ(sink_.written[0].size, last + 1 - first);
                std::vector<std::byte> back(source.size(), std::byte{0x11});
                nvnTextureReadTexelsStrided(&t, nullptr, &r, back.data(), padding ? row : 0, 0);
                for (u32 y = 0; y < static_cast<u32>(r.height); ++y)
                    for (u32 x = 0; x < row; ++x)
                        ASSERT_EQ(back[y * row + x], x < row - padding ? source[y * row + x] : std::byte{0x11});
            }
    }
}

TEST_F(Texels, BlockLinearWritesNameTheirBlocks) { // OBJ-169: 64 x 64 texels of 4 bytes in blocks of 8 GOBs
    NVNtextureBuilder b = builder(64, 64, NVN_FORMAT_RGBA8);
    nvnTextureBuilderSetSize2D(&b, 64, 128); // 16 rows of GOBs: one row of blocks
    const NVNtexture tall = make(b, pool_, 0);
    const u32 value = 1;
    const NVNcopyRegion one{20, 70, 0, 1, 1, 1}; // byte 80: the second block of 16 GOBs
    sink_.written.clear();
    nvnTextureWriteTexels(&tall, nullptr, &one, &value);
    ASSERT_EQ(sink_.written.size(), 1u);
    EXPECT_EQ(sink_.written[0].address - nvnTextureGetTextureAddress(&tall), 16u * 512);
    EXPECT_EQ(sink_.written[0].size, 16u * 512);
}

TEST_F(Texels, StridesOfRowsAndLayers) { // OBJ-253
    NVNtextureBuilder b = builder(20, 12, NVN_FORMAT_RGBA8);
    nvnTextureBuilderSetTarget(&b, NVN_TEXTURE_TARGET_2D_ARRAY);
    nvnTextureBuilderSetDepth(&b, 5);
    const NVNtexture tight = make(b, pool_, 0), padded = make(b, pool_, 0x40000);
    const auto size = static_cast<std::size_t>(nvnTextureGetStorageSize(&tight));
    const NVNcopyRegion r{4, 3, 1, 7, 6, 3}; // layers 1 to 3
    const std::vector<std::byte> source = numbers(7 * 4 * 6 * 3);
    nvnTextureWriteTexels(&tight, nullptr, &r, source.data());
    constexpr u32 row = 7 * 4 + 12, layer = row * 6 + 52;
    std::vector<std::byte> spread(layer * 3, std::byte{0xAA});
    for (u32 z = 0; z < 3; ++z)
        for (u32 y = 0; y < 6; ++y)
            std::memcpy(spread.data() + z * layer + y * row, source.data() + (z * 6 + y) * 28, 28);
    nvnTextureWriteTexelsStrided(&padded, nullptr, &r, spread.data(), row, layer);
    EXPECT_EQ(std::memcmp(storage(0), storage(0x40000), size), 0);
    std::size_t stored = 0;
    for (std::size_t i = 0; i < size; ++i)
        stored += *storage(0x40000 + i) != std::byte{0};
    EXPECT_GT(stored, source.size() / 2) << "something is there at all";
}

TEST_F(Texels, AreReadFromTheStorageOnAnyThread) { // OBJ-162, OBJ-187: before the GPU has seen it, and later
    for (const bool linear : {false, true}) {
        NVNtextureBuilder b = linear ? builder(1000, 100, NVN_FORMAT_R8, NVN_TEXTURE_FLAGS_LINEAR, 1024)
                                     : builder(1024, 1024, NVN_FORMAT_RGTC1_UNORM); // 256 x 256 blocks of 8 bytes
        const NVNtexture t = make(b, pool_, 0);
        const auto size = static_cast<std::size_t>(nvnTextureGetStorageSize(&t));
        for (const u32 round : {1u, 2u}) { // and what is written behind the first read
            for (std::size_t i = 0; i < size; ++i)
                *storage(i) = static_cast<std::byte>(i * 13 + i / 997 * round);
            const std::vector<std::byte> filled(storage(0), storage(size));
            const NVNcopyRegion all{0, 0, 0, linear ? 1000 : 1024, linear ? 100 : 1024, 1};
            std::vector<std::byte> got(linear ? 1000 * 100 : 512 * 1024);
            sink_.written.clear();
            std::thread([&] { nvnTextureReadTexels(&t, nullptr, &all, got.data()); }).join();
            EXPECT_TRUE(sink_.written.empty()) << "nothing is to be uploaded for it";
            EXPECT_EQ(std::memcmp(filled.data(), storage(0), size), 0);
            std::size_t wrong = 0;
            for (u32 y = 0; y < (linear ? 100u : 256u); ++y)
                for (u32 x = 0; x < (linear ? 1000u : 2048u); ++x) {
                    // Blocks of 16 GOBs of 64 bytes x 8 rows, 32 of them a row (ledger OBJ-152).
                    const u64 gob = (u64{y / 128} * 32 + x / 64) * 16 + y % 128 / 8;
                    const u64 at = linear ? u64{y} * 1024 + x
                                          : gob * 512 + x % 64 / 32 * 256 + y % 8 / 2 * 64 + x % 32 / 16 * 32 +
                                                y % 2 * 16 + x % 16;
                    wrong += got[y * (linear ? 1000u : 2048u) + x] != filled[at];
                }
            EXPECT_EQ(wrong, 0u) << linear << " " << round;
        }
    }
}

TEST_F(Texels, PackagedDataIsCopiedAndAnnounced) { // OBJ-170: in a pool that the CPU cannot write, and linear
    Pool hidden(device_, 0x10000,
                NVN_MEMORY_POOL_FLAGS_CPU_NO_ACCESS | NVN_MEMORY_POOL_FLAGS_GPU_CACHED |
                    NVN_MEMORY_POOL_FLAGS_COMPRESSIBLE);
    for (const int flags : {int{NVN_TEXTURE_FLAGS_COMPRESSIBLE}, int{NVN_TEXTURE_FLAGS_LINEAR}}) {
        NVNtextureBuilder b = builder(16, 8, NVN_FORMAT_RGBA8, flags, flags == NVN_TEXTURE_FLAGS_LINEAR ? 64 : 0);
        const std::vector<std::byte> data = numbers(nvnTextureBuilderGetStorageSize(&b));
        nvnTextureBuilderSetPackagedTextureData(&b, data.data());
        sink_.written.clear();
        const NVNtexture t = make(b, hidden, 0x400);
        EXPECT_EQ(std::memcmp(hidden.pages.data + 0x400, data.data(), data.size()), 0);
        EXPECT_EQ(hidden.pages.data[0x400 + data.size()], std::byte{0});
        ASSERT_EQ(sink_.written.size(), 1u);
        EXPECT_EQ(sink_.written[0].address, nvnTextureGetTextureAddress(&t));
        EXPECT_EQ(sink_.written[0].size, data.size());
        std::memset(hidden.pages.data, 0, 0x1000);
    }
}

} // namespace
} // namespace heaviside::nvn
