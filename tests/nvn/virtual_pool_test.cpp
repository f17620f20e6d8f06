// Virtual pools as the API shows them: addresses that never move, bytes found through the page table. Ledger rows at
// each test.
#include "tests/nvn/client.h" // first: with the client's wrappers

#include "base/log.h"
#include "nvn/host.h"
#include "nvn/virtual_pools.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <numeric>
#include <thread>
#include <vector>

namespace heaviside::nvn {
namespace {

using test::Pool;
constexpr u64 page = 0x1000;
constexpr int flags =
    NVN_MEMORY_POOL_FLAGS_VIRTUAL | NVN_MEMORY_POOL_FLAGS_CPU_CACHED | NVN_MEMORY_POOL_FLAGS_GPU_CACHED;

struct VirtualPool {
    NVNmemoryPool object;
    VirtualPool(test::Device& device, u64 size, int pool_flags = flags) {
        NVNmemoryPoolBuilder builder;
        nvnMemoryPoolBuilderSetDevice(&builder, &device.object);
        nvnMemoryPoolBuilderSetDefaults(&builder);
        nvnMemoryPoolBuilderSetFlags(&builder, pool_flags);
        nvnMemoryPoolBuilderSetStorage(&builder, nullptr, size);
        EXPECT_TRUE(nvnMemoryPoolInitialize(&object, &builder));
    }
    ~VirtualPool() { nvnMemoryPoolFinalize(&object); }
    VirtualPool(const VirtualPool&) = delete;
    VirtualPool& operator=(const VirtualPool&) = delete;
    bool map(const Pool* physical, u64 physical_offset, u64 offset, u64 size) {
        const NVNmappingRequest request{physical ? &physical->object : nullptr, static_cast<int64_t>(physical_offset),
                                        static_cast<int64_t>(offset), size, 1};
        return nvnMemoryPoolMapVirtual(&object, 1, &request);
    }
    [[nodiscard]] u64 address() const { return nvnMemoryPoolGetBufferAddress(&object); }
};

TEST(VirtualPool, TheCpuFindsWhatIsMappedInOnePiece) { // GFX-031, OBJ-013
    test::Device device;
    Pool physical(device, 0x40000, test::cpu_cached | NVN_MEMORY_POOL_FLAGS_PHYSICAL);
    VirtualPool pool(device, 0x20000);
    EXPECT_EQ(nvnMemoryPoolMap(&pool.object), nullptr) << "nothing is mapped";
    ASSERT_TRUE(pool.map(&physical, 0x3000, 0, 0x20000));
    EXPECT_EQ(nvnMemoryPoolMap(&pool.object), physical.pages.data + 0x3000);
    NVNbufferBuilder builder;
    nvnBufferBuilderSetDefaults(&builder);
    nvnBufferBuilderSetStorage(&builder, &pool.object, 0x1000, 0x2000);
    NVNbuffer buffer;
    ASSERT_TRUE(nvnBufferInitialize(&buffer, &builder));
    EXPECT_EQ(nvnBufferMap(&buffer), physical.pages.data + 0x4000);
    EXPECT_EQ(nvnBufferGetAddress(&buffer), pool.address() + 0x1000);
    ASSERT_TRUE(pool.map(&physical, 0x30000, 0x2000, page)); // the buffer's second page
    EXPECT_EQ(nvnBufferMap(&buffer), nullptr);
    EXPECT_EQ(nvnMemoryPoolMap(&pool.object), nullptr);
    VirtualPool hidden(device, 0x10000, NVN_MEMORY_POOL_FLAGS_VIRTUAL | NVN_MEMORY_POOL_FLAGS_CPU_NO_ACCESS);
    ASSERT_TRUE(hidden.map(&physical, 0, 0, 0x10000));
    EXPECT_EQ(nvnMemoryPoolMap(&hidden.object), nullptr);
}

TEST(VirtualPool, AddressesNeverMove) { // OBJ-025, OBJ-027
    test::Device device;
    Pool physical(device, 0x40000);
    VirtualPool pool(device, 0x20000);
    const u64 address = pool.address();
    ASSERT_TRUE(pool.map(&physical, 0, 0, 0x20000)) << "all of it";
    EXPECT_EQ(pool.address(), address);
    ASSERT_TRUE(pool.map(&physical, 0x30000, 0x8000, page)) << "and then something else";
    EXPECT_EQ(pool.address(), address);
    ASSERT_TRUE(pool.map(nullptr, 0, 0, 0x20000));
    EXPECT_EQ(pool.address(), address);
}

TEST(VirtualPool, EveryOneHasAddressesOfItsOwn) { // OBJ-024
    test::Device device;
    std::vector<std::unique_ptr<VirtualPool>> pools;
    std::vector<std::pair<u64, u64>> ranges;
    for (u64 i = 0; i < 300; ++i) {
        const u64 size = 0x20000 + i % 84 * 0x10000;
        pools.push_back(std::make_unique<VirtualPool>(device, size, 0x2a1));
        ranges.emplace_back(pools.back()->address(), size);
        NVNtextureBuilder builder;
        nvnTextureBuilderSetDevice(&builder, &device.object);
        nvnTextureBuilderSetDefaults(&builder);
        nvnTextureBuilderSetSize2D(&builder, 64, 64);
        nvnTextureBuilderSetFormat(&builder, NVN_FORMAT_RGBA8);
        nvnTextureBuilderSetTarget(&builder, NVN_TEXTURE_TARGET_2D);
        nvnTextureBuilderSetStorage(&builder, &pools.back()->object, 0x10000);
        NVNtexture texture;
        ASSERT_TRUE(nvnTextureInitialize(&texture, &builder));
        EXPECT_EQ(nvnTextureGetTextureAddress(&texture), ranges.back().first + 0x10000);
    }
    std::sort(ranges.begin(), ranges.end());
    for (std::size_t i = 1; i < ranges.size(); ++i)
        EXPECT_LE(ranges[i - 1].first + ranges[i - 1].second, ranges[i].first);
}

TEST(VirtualPool, LargerThanTheAddressSpace) { // OBJ-035: 128 TiB are more than a process has
    test::Device device;
    Pool physical(device, 0x20000);
    VirtualPool pool(device, u64{1} << 47);
    NVNtextureBuilder builder;
    nvnTextureBuilderSetDevice(&builder, &device.object);
    nvnTextureBuilderSetDefaults(&builder);
    nvnTextureBuilderSetSize2D(&builder, 16, 8);
    nvnTextureBuilderSetFormat(&builder, NVN_FORMAT_RGBA8);
    nvnTextureBuilderSetTarget(&builder, NVN_TEXTURE_TARGET_2D);
    nvnTextureBuilderSetStorage(&builder, &pool.object, ptrdiff_t{1} << 46);
    NVNtexture texture;
    ASSERT_TRUE(nvnTextureInitialize(&texture, &builder));
    EXPECT_EQ(nvnTextureGetTextureAddress(&texture), pool.address() + (u64{1} << 46));
    ASSERT_TRUE(pool.map(&physical, 0x10000, u64{1} << 46, page));
    std::vector<u32> texels(16 * 8), read(texels.size());
    std::iota(texels.begin(), texels.end(), 1u);
    const NVNcopyRegion all{0, 0, 0, 16, 8, 1};
    nvnTextureWriteTexels(&texture, nullptr, &all, texels.data());
    nvnTextureReadTexels(&texture, nullptr, &all, read.data());
    EXPECT_EQ(read, texels);
    u32 first = 0;
    std::memcpy(&first, physical.pages.data + 0x10000, 4);
    EXPECT_EQ(first, 1u);
}

TEST(VirtualPool, TexelsAreReadPageByPageOnAnyThread) { // OBJ-191, OBJ-027: 64 x 128 RGBA8 are eight pages
    test::Device device;
    Pool physical(device, 0x40000);
    VirtualPool pool(device, 0x100000);
    NVNtextureBuilder builder;
    nvnTextureBuilderSetDevice(&builder, &device.object);
    nvnTextureBuilderSetDefaults(&builder);
    nvnTextureBuilderSetSize2D(&builder, 64, 128);
    nvnTextureBuilderSetFormat(&builder, NVN_FORMAT_RGBA8);
    nvnTextureBuilderSetTarget(&builder, NVN_TEXTURE_TARGET_2D);
    nvnTextureBuilderSetStorage(&builder, &pool.object, 0x20000);
    NVNtexture texture;
    ASSERT_TRUE(nvnTextureInitialize(&texture, &builder));
    std::fill_n(physical.pages.data, 0x40000, std::byte{7});
    for (u64 i = 0; i < 8; i += 2) // backwards, every second page
        ASSERT_TRUE(pool.map(&physical, (20 - i) * page, 0x20000 + i * page, page));
    for (u64 i = 0; i < 8; ++i)
        std::fill_n(physical.pages.data + (20 - i) * page, page, static_cast<std::byte>(i + 1));
    const NVNcopyRegion all{0, 0, 0, 64, 128, 1};
    const auto count = [&] {
        std::vector<u32> read(64 * 128, ~0u);
        nvnTextureReadTexels(&texture, nullptr, &all, read.data());
        std::vector<u32> counts(9);
        for (const u32 v : read)
            ++counts.at(v / 0x01010101);
        return counts;
    };
    const std::vector<u32> expected{4096, 1024, 0, 1024, 0, 1024, 0, 1024, 0};
    EXPECT_EQ(count(), expected);
    std::vector<u32> elsewhere;
    std::thread([&] { elsewhere = count(); }).join();
    EXPECT_EQ(elsewhere, expected);
    // A write to one texel leaves every other byte of the pool alone, unmapped texels are dropped.
    const std::vector<std::byte> before(physical.pages.data, physical.pages.data + 0x40000);
    const u32 value = 0xAABBCCDD;
    NVNcopyRegion one{0, 0, 0, 1, 1, 1};
    nvnTextureWriteTexels(&texture, nullptr, &one, &value);
    std::size_t changed = 0;
    for (std::size_t i = 0; i < before.size(); ++i)
        changed += before[i] != physical.pages.data[i];
    EXPECT_EQ(changed, 4u);
    u32 first = 0;
    std::memcpy(&first, physical.pages.data + 20 * page, 4);
    EXPECT_EQ(first, value);
}

TEST(VirtualPool, PhysicalPoolsTakeTheirMappingsAlong) { // OBJ-050
    test::Device device;
    VirtualPool pool(device, 0x40000);
    VirtualPools& pools = host().virtual_pools;
    {
        Pool physical(device, 0x20000);
        std::memset(physical.pages.data, 9, 0x20000);
        ASSERT_TRUE(pool.map(&physical, 0, 0x10000, 0x20000));
        EXPECT_TRUE(pools.physical(pool.address() + 0x10000, 0x20000));
    }
    std::array<std::byte, 16> read{std::byte{1}};
    EXPECT_TRUE(pools.read(pool.address() + 0x10000, read));
    EXPECT_EQ(read, (std::array<std::byte, 16>{}));
    EXPECT_FALSE(pools.physical(pool.address() + 0x10000, 0x20000));
    Pool next(device, 0x20000);
    ASSERT_TRUE(pool.map(&next, 0, 0x10000, 0x20000));
    std::memset(next.pages.data, 3, 16);
    EXPECT_TRUE(pools.read(pool.address() + 0x10000, read));
    EXPECT_EQ(read[15], std::byte{3});
}

TEST(VirtualPool, TheLogHearsOfManyRuns) { // OBJ-018
    test::Device device;
    Pool physical(device, 0x20000);
    VirtualPool pool(device, u64{1} << 30);
    std::vector<std::string> lines;
    std::mutex mutex;
    log::set_sink([&](log::Level, std::string_view line) {
        const std::lock_guard lock(mutex);
        if (line.find("runs of mapped pages") != std::string_view::npos)
            lines.emplace_back(line);
    });
    for (u64 i = 0; i < 5000; ++i)
        EXPECT_TRUE(pool.map(&physical, i % 32 * page, 2 * i * page, page));
    log::set_sink({});
    ASSERT_EQ(lines.size(), 3u);
    EXPECT_NE(lines[0].find(" 1024 "), std::string::npos);
    EXPECT_NE(lines[1].find(" 2048 "), std::string::npos);
    EXPECT_NE(lines[2].find(" 4096 "), std::string::npos);
}

TEST(VirtualPool, ARemapIsOneStepForReaders) { // OBJ-021
    VirtualPools pools;
    std::vector<std::byte> memory(16 * page, std::byte{5});
    const u64 physical = reinterpret_cast<u64>(memory.data());
    const u64 address = *pools.reserve(16 * page);
    ASSERT_TRUE(pools.map({address, 16 * page, physical}));
    std::atomic<bool> stop = false;
    std::thread remaps([&] {
        for (u32 i = 0; i < 20000; ++i) { // page 5 stays mapped while its run is split, joined and replaced
            (void)pools.map({address + 4 * page, page, 0});
            (void)pools.map({address + 6 * page, page, 0});
            (void)pools.map({address + 4 * page, 3 * page, physical + 4 * page});
            (void)pools.map({address, 16 * page, physical});
        }
        stop = true;
    });
    u64 missed = 0, looked = 0;
    while (!stop || looked == 0) {
        std::array<std::byte, 8> read{};
        missed += !pools.read(address + 5 * page, read) || read[7] != std::byte{5};
        ++looked;
    }
    remaps.join();
    EXPECT_EQ(missed, 0u);
    pools.release(address);
    EXPECT_FALSE(pools.contains(address));
}

} // namespace
} // namespace heaviside::nvn
