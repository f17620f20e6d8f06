// Memory pools and buffers. Ledger rows at each test.
#include "tests/nvn/client.h" // first: with the client's wrappers

#include "nvn/null_sink.h"
#include "nvn/runtime.h"

#include <array>
#include <memory>
#include <sys/mman.h>
#include <vector>

namespace heaviside::nvn {
namespace {

using test::Device;
using test::Pages;
using test::Pool;

bool visible_to_gpu(const void* byte) {
    return guest_memory().find(GuestAddress{reinterpret_cast<u64>(byte)}).has_value();
}

TEST(MemoryPool, AddressIsTheStorage) { // GFX-030
    Device device;
    Pool pool(device, 0x20000);
    EXPECT_EQ(nvnMemoryPoolGetBufferAddress(&pool.object), reinterpret_cast<u64>(pool.pages.data));
    EXPECT_EQ(nvnMemoryPoolMap(&pool.object), pool.pages.data);
    EXPECT_EQ(nvnMemoryPoolGetSize(&pool.object), pool.pages.size);
    EXPECT_EQ(int(nvnMemoryPoolGetFlags(&pool.object)), test::cpu_cached);
    EXPECT_TRUE(visible_to_gpu(pool.pages.data + 0x1FFFF));
}

TEST(MemoryPool, MapNeedsCpuAccess) { // OBJ-240
    Device device;
    Pool pool(device, 0x10000, 0x21);
    EXPECT_EQ(nvnMemoryPoolMap(&pool.object), nullptr);
    EXPECT_EQ(nvnMemoryPoolGetBufferAddress(&pool.object), reinterpret_cast<u64>(pool.pages.data));
}

TEST(MemoryPool, RefusesStorageThatIsNone) {
    Device device;
    Pages pages(0x10000);
    NVNmemoryPoolBuilder builder;
    NVNmemoryPool pool;
    nvnMemoryPoolBuilderSetDefaults(&builder);
    const auto initialize = [&](void* memory, size_t size) {
        nvnMemoryPoolBuilderSetStorage(&builder, memory, size);
        return nvnMemoryPoolInitialize(&pool, &builder);
    };
    EXPECT_FALSE(initialize(nullptr, 0x1000));
    EXPECT_FALSE(initialize(pages.data, 0));
    EXPECT_FALSE(initialize(pages.data + 0x800, 0x1000));
    EXPECT_FALSE(initialize(pages.data, 0x1800));
    EXPECT_FALSE(nvnMemoryPoolInitialize(&pool, nullptr));
}

TEST(MemoryPool, BuilderKeepsItsDeviceOverDefaults) { // both orders are seen in clients
    Device device;
    NVNmemoryPoolBuilder builder;
    std::memset(&builder, 0xCC, sizeof builder);
    nvnMemoryPoolBuilderSetDevice(&builder, &device.object);
    nvnMemoryPoolBuilderSetDefaults(&builder);
    EXPECT_EQ(nvnMemoryPoolBuilderGetDevice(&builder), &device.object);
    EXPECT_EQ(nvnMemoryPoolBuilderGetSize(&builder), 0u);
    EXPECT_EQ(nvnMemoryPoolBuilderGetMemory(&builder), nullptr);
}

TEST(MemoryPool, StorageIsFreeAfterTheLastPoolOverIt) {
    Device device;
    Pages pages(0x20000);
    NVNmemoryPoolBuilder builder;
    nvnMemoryPoolBuilderSetDefaults(&builder);
    NVNmemoryPool whole, half;
    nvnMemoryPoolBuilderSetStorage(&builder, pages.data, 0x10000);
    ASSERT_TRUE(nvnMemoryPoolInitialize(&half, &builder));
    nvnMemoryPoolBuilderSetStorage(&builder, pages.data, 0x20000);
    ASSERT_TRUE(nvnMemoryPoolInitialize(&whole, &builder));
    EXPECT_TRUE(guest_memory().bytes(GuestAddress{reinterpret_cast<u64>(pages.data)}, 0x20000).has_value());
    nvnMemoryPoolFinalize(&whole);
    EXPECT_TRUE(visible_to_gpu(pages.data));
    nvnMemoryPoolFinalize(&half);
    EXPECT_FALSE(visible_to_gpu(pages.data));
}

// An object that is initialised again without Finalize: its storage is the application's again after the one Finalize,
// and what it had before does not hold on to memory that another pool takes.
TEST(MemoryPool, InitializedAgainWithoutFinalize) {
    Device device;
    Pages pages(0x40000);
    NVNmemoryPool pool;
    const auto initialize = [&](u64 offset, std::size_t size) {
        NVNmemoryPoolBuilder builder;
        nvnMemoryPoolBuilderSetDefaults(&builder);
        nvnMemoryPoolBuilderSetStorage(&builder, pages.data + offset, size);
        return nvnMemoryPoolInitialize(&pool, &builder) == NVN_TRUE;
    };
    using Range = std::pair<u64, u64>; // offset, size
    const auto range = [&](u64 offset) {
        const u64 start = reinterpret_cast<u64>(pages.data);
        const auto found = guest_memory().find(GuestAddress{start + offset});
        return found ? Range(found->start.value - start, found->size) : Range(0, 0);
    };
    ASSERT_TRUE(initialize(0, 0x20000));
    ASSERT_TRUE(initialize(0, 0x20000));
    EXPECT_EQ(range(0x1000), Range(0, 0x20000));
    nvnMemoryPoolFinalize(&pool);
    EXPECT_EQ(range(0x1000), Range(0, 0));

    ASSERT_TRUE(initialize(0, 0x20000));
    ASSERT_TRUE(initialize(0x10000, 0x20000)); // overlaps the one before, which is over
    EXPECT_EQ(range(0x10000), Range(0x10000, 0x20000));
    EXPECT_EQ(range(0x8000), Range(0, 0));
    NVNmemoryPool other;
    std::swap(pool, other);
    ASSERT_TRUE(initialize(0, 0x1000)); // apart: the copy in `other` is good
    EXPECT_EQ(range(0x10000), Range(0x10000, 0x20000));
    nvnMemoryPoolFinalize(&other);
    EXPECT_EQ(range(0x10000), Range(0, 0));
    nvnMemoryPoolFinalize(&pool);
    EXPECT_EQ(range(0), Range(0, 0));
}

class DestroyedPools : public NullSink {
public:
    std::vector<u64> addresses;
    bool all_there = true; // the memory is there during the call
    void memory_pool_destroyed(u64 address) override {
        addresses.push_back(address);
        all_there &= guest_memory().find(GuestAddress{address}).has_value();
    }
};

// OBJ-262: what stands over a pool's storage (textures, IDs, buffers) hears of the end while the memory is there still;
// once Finalize returns nothing finds it. OBJ-061: nothing of the pool is left.
TEST(MemoryPool, TheEndIsToldBeforeTheStorageGoes) {
    DestroyedPools sink;
    const std::unique_ptr<DestroyedPools, void (*)(DestroyedPools*)> connected(&sink, [](auto*) { set_sink(nullptr); });
    Device device;
    set_sink(connected.get());
    Pages pages(0x20000);
    const u64 start = reinterpret_cast<u64>(pages.data);
    const std::size_t ranges = guest_memory().ranges().size();
    for (int i = 0; i < 1000; ++i) {
        NVNmemoryPool pool, whole, copy;
        NVNmemoryPoolBuilder builder;
        nvnMemoryPoolBuilderSetDefaults(&builder);
        nvnMemoryPoolBuilderSetStorage(&builder, pages.data, 0x10000);
        ASSERT_TRUE(nvnMemoryPoolInitialize(&pool, &builder));
        nvnMemoryPoolBuilderSetStorage(&builder, pages.data, 0x20000);
        ASSERT_TRUE(nvnMemoryPoolInitialize(&whole, &builder));
        copy = pool;
        nvnMemoryPoolFinalize(&pool); // its storage is the other pool's as well: nothing ends
        nvnMemoryPoolFinalize(&copy); // nor with a copy of what is over
        ASSERT_TRUE(sink.addresses.empty());
        nvnMemoryPoolFinalize(&whole);
        ASSERT_EQ(sink.addresses, std::vector<u64>{start});
        sink.addresses.clear();
        ASSERT_EQ(guest_memory().ranges().size(), ranges);
    }
    EXPECT_TRUE(sink.all_there);
}

TEST(MemoryPool, FinalizedPoolAnswersNothing) {
    Device device;
    Pages pages(0x10000);
    NVNmemoryPoolBuilder builder;
    nvnMemoryPoolBuilderSetDefaults(&builder);
    nvnMemoryPoolBuilderSetStorage(&builder, pages.data, pages.size);
    NVNmemoryPool pool;
    ASSERT_TRUE(nvnMemoryPoolInitialize(&pool, &builder));
    nvnMemoryPoolFinalize(&pool);
    EXPECT_EQ(nvnMemoryPoolMap(&pool), nullptr);
    EXPECT_EQ(nvnMemoryPoolGetBufferAddress(&pool), 0u);
    nvnMemoryPoolFinalize(&pool);
}

TEST(VirtualPool, ReservesAddressesAndMapsParts) { // OBJ-013, OBJ-015
    Device device;
    Pool physical(device, 0x40000, test::cpu_cached | NVN_MEMORY_POOL_FLAGS_PHYSICAL);
    NVNmemoryPoolBuilder builder;
    nvnMemoryPoolBuilderSetDefaults(&builder);
    nvnMemoryPoolBuilderSetFlags(&builder, NVN_MEMORY_POOL_FLAGS_VIRTUAL | NVN_MEMORY_POOL_FLAGS_CPU_NO_ACCESS |
                                               NVN_MEMORY_POOL_FLAGS_GPU_CACHED);
    nvnMemoryPoolBuilderSetStorage(&builder, nullptr, 0x1000000);
    NVNmemoryPool pool;
    ASSERT_TRUE(nvnMemoryPoolInitialize(&pool, &builder));
    const u64 address = nvnMemoryPoolGetBufferAddress(&pool);
    EXPECT_NE(address, 0u);
    EXPECT_EQ(address % 0x10000, 0u); // OBJ-011
    EXPECT_EQ(nvnMemoryPoolMap(&pool), nullptr);

    NVNmappingRequest request{&physical.object, 0x10000, 0x30000, 0x20000, 1};
    EXPECT_TRUE(nvnMemoryPoolMapVirtual(&pool, 1, &request));
    request.virtualOffset = 0xFF0000; // past the end
    EXPECT_FALSE(nvnMemoryPoolMapVirtual(&pool, 1, &request));
    request.virtualOffset = 0;
    request.physicalOffset = 0x30000;
    EXPECT_FALSE(nvnMemoryPoolMapVirtual(&pool, 1, &request));
    request = {nullptr, 0, 0, 0x1000000, 0};
    EXPECT_TRUE(nvnMemoryPoolMapVirtual(&pool, 1, &request)); // unmap all
    EXPECT_FALSE(nvnMemoryPoolMapVirtual(&physical.object, 1, &request));
    nvnMemoryPoolFinalize(&pool);
}

struct Buffer {
    NVNbuffer object;
    NVNbufferBuilder builder;
    Buffer(Pool& pool, ptrdiff_t offset, size_t size) {
        nvnBufferBuilderSetDefaults(&builder);
        nvnBufferBuilderSetStorage(&builder, &pool.object, offset, size);
        EXPECT_TRUE(nvnBufferInitialize(&object, &builder));
    }
    void retarget(u64 offset, u64 size) { // what applications do to the bytes themselves
        std::memcpy(reinterpret_cast<std::byte*>(&object) + 0x18, &offset, 8);
        std::memcpy(reinterpret_cast<std::byte*>(&object) + 0x20, &size, 8);
    }
};

TEST(Buffer, FollowsRawStoresOfOffsetAndSize) { // OBJ-005
    Device device;
    Pool pool(device, 0x10000);
    Buffer buffer(pool, 0x100, 0x200);
    const u64 base = nvnMemoryPoolGetBufferAddress(&pool.object);
    EXPECT_EQ(nvnBufferGetAddress(&buffer.object), base + 0x100);
    for (const auto& [offset, size] : std::vector<std::pair<u64, u64>>{{0, 0x10}, {0x8000, 0x1234}, {0xFFFF, 1}}) {
        buffer.retarget(offset, size);
        EXPECT_EQ(nvnBufferGetAddress(&buffer.object), base + offset);
        EXPECT_EQ(nvnBufferGetSize(&buffer.object), size);
        EXPECT_EQ(nvnBufferGetMemoryOffset(&buffer.object), i64(offset));
        EXPECT_EQ(nvnBufferMap(&buffer.object), pool.pages.data + offset);
        EXPECT_EQ(nvnBufferGetMemoryPool(&buffer.object), &pool.object);
    }
}

TEST(Buffer, RetargetLeavesBuilderAndAccessAlone) { // OBJ-006
    Device device;
    Pool pool(device, 0x10000, 0x21);
    Buffer buffer(pool, 0x100, 0x200);
    buffer.retarget(0x4000, 0x20);
    EXPECT_EQ(nvnBufferMap(&buffer.object), nullptr);
    EXPECT_EQ(nvnBufferGetAddress(&buffer.object), nvnMemoryPoolGetBufferAddress(&pool.object) + 0x4000);
    NVNbuffer second;
    ASSERT_TRUE(nvnBufferInitialize(&second, &buffer.builder));
    EXPECT_EQ(nvnBufferGetMemoryOffset(&second), 0x100);
    EXPECT_EQ(nvnBufferGetSize(&second), 0x200u);
    EXPECT_EQ(nvnBufferBuilderGetSize(&buffer.builder), 0x200u);        // OBJ-232
    EXPECT_EQ(nvnBufferBuilderGetMemoryOffset(&buffer.builder), 0x100); // OBJ-239
}

TEST(Buffer, WithoutPoolIsRefused) { // OBJ-014
    Device device;
    Pool pool(device, 0x10000);
    NVNbufferBuilder builder;
    nvnBufferBuilderSetDefaults(&builder);
    NVNbuffer buffer;
    EXPECT_FALSE(nvnBufferInitialize(&buffer, &builder));
    nvnBufferBuilderSetStorage(&builder, &pool.object, 0xFF00, 0x200);
    EXPECT_FALSE(nvnBufferInitialize(&buffer, &builder));
    nvnBufferBuilderSetStorage(&builder, &pool.object, -0x100, 0x200);
    EXPECT_FALSE(nvnBufferInitialize(&buffer, &builder));
}

TEST(Buffer, OverwrittenPoolObjectIsNotRead) { // OBJ-095
    Device device;
    auto pool = std::make_unique<Pool>(device, 0x10000);
    Buffer buffer(*pool, 0x100, 0x200);
    const NVNmemoryPool kept = pool->object;
    std::memset(&pool->object, 0x5A, sizeof pool->object);
    // What the buffer says of its storage it has itself.
    EXPECT_EQ(nvnBufferGetAddress(&buffer.object), reinterpret_cast<u64>(pool->pages.data) + 0x100);
    EXPECT_EQ(nvnBufferMap(&buffer.object), pool->pages.data + 0x100);
    nvnBufferFlushMappedRange(&buffer.object, 0, 0x200);
    pool->object = kept;
}

// The pool's object and storage are unmapped: nothing is read through the addresses that the buffer still has.
TEST(Buffer, OutlivesItsPoolWithoutReadingIt) {
    Device device;
    void* const home = ::mmap(nullptr, 0x1000, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(home, MAP_FAILED);
    auto* const pool = static_cast<NVNmemoryPool*>(home);
    NVNbuffer buffer;
    NVNevent event;
    NVNtexture texture;
    {
        test::Pages pages(0x10000);
        NVNmemoryPoolBuilder builder;
        nvnMemoryPoolBuilderSetDefaults(&builder);
        nvnMemoryPoolBuilderSetStorage(&builder, pages.data, pages.size);
        ASSERT_TRUE(nvnMemoryPoolInitialize(pool, &builder));
        NVNbufferBuilder buffer_builder;
        nvnBufferBuilderSetDefaults(&buffer_builder);
        nvnBufferBuilderSetStorage(&buffer_builder, pool, 0x100, 0x200);
        ASSERT_TRUE(nvnBufferInitialize(&buffer, &buffer_builder));
        NVNeventBuilder event_builder;
        nvnEventBuilderSetDefaults(&event_builder);
        nvnEventBuilderSetStorage(&event_builder, pool, 0x40);
        ASSERT_TRUE(nvnEventInitialize(&event, &event_builder));
        NVNtextureBuilder texture_builder;
        nvnTextureBuilderSetDefaults(&texture_builder);
        nvnTextureBuilderSetSize2D(&texture_builder, 8, 8);
        nvnTextureBuilderSetFormat(&texture_builder, NVN_FORMAT_RGBA8);
        nvnTextureBuilderSetStorage(&texture_builder, pool, 0x1000);
        ASSERT_TRUE(nvnTextureInitialize(&texture, &texture_builder));
        nvnEventSignal(&event, NVN_EVENT_SIGNAL_MODE_WRITE, 7);
        EXPECT_EQ(nvnEventGetValue(&event), 7u);
        nvnMemoryPoolFinalize(pool);
    }
    ::munmap(home, 0x1000);
    EXPECT_EQ(nvnBufferGetMemoryPool(&buffer), pool);
    EXPECT_EQ(nvnBufferGetSize(&buffer), 0x200u);
    nvnBufferFlushMappedRange(&buffer, 0, 0x200);
    nvnBufferInvalidateMappedRange(&buffer, 0, 0x200);
    nvnBufferFinalize(&buffer);
    nvnEventSignal(&event, NVN_EVENT_SIGNAL_MODE_ADD, 1);
    EXPECT_EQ(nvnEventGetValue(&event), 0u);
    std::array<u32, 64> texels{};
    texels.fill(0xABABABABu);
    nvnTextureReadTexels(&texture, nullptr, nullptr, texels.data());
    EXPECT_EQ(texels[0], 0xABABABABu);
    nvnTextureWriteTexels(&texture, nullptr, nullptr, texels.data());
    nvnTextureFinalize(&texture);
}

} // namespace
} // namespace heaviside::nvn
