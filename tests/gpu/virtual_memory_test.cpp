// Guest memory that is not simply there: pools that are found through a page table, pieces that a lookup leaves, and
// imports that the driver refuses.
#include "device_fixture.h"

#include "gpu/guest_memory.h"

#include <atomic>
#include <cstring>
#include <sys/mman.h>

namespace heaviside::gpu::test {
namespace {

constexpr u64 no_address = u64{1} << 60; // of the virtual pools: no process has addresses up there

class VirtualMemory : public DeviceTest, public ::testing::WithParamInterface<const char*> {
protected:
    static constexpr u64 pages = 256;
    void open_memory(u64 piece = GuestMemory::largest_piece, const char* disable = nullptr) {
        open(disable ? disable : GetParam());
        if (IsSkipped() || HasFatalFailure())
            return;
        void* p = mmap(nullptr, pages * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        ASSERT_NE(p, MAP_FAILED);
        bytes = static_cast<u8*>(p);
        ASSERT_TRUE(registry.add(at(0), pages * page));
        guest_memory = std::make_unique<GuestMemory>(*device, *queue, registry, nullptr, piece);
        ASSERT_TRUE(guest_memory->add_virtual(GuestAddress{no_address}, 1024 * page));
    }
    void TearDown() override {
        if (queue)
            (void)queue->wait(queue->submitted());
        guest_memory.reset();
        DeviceTest::TearDown();
        if (bytes)
            munmap(bytes, pages * page);
    }
    GuestAddress at(u64 offset) const { return GuestAddress{reinterpret_cast<u64>(bytes) + offset}; }
    void map(u64 virtual_page, u64 count, u64 physical_page) {
        ASSERT_TRUE(guest_memory->map_virtual(
            {no_address + virtual_page * page, count * page, at(physical_page * page).value}));
    }
    // The ranges that shaders look up.
    std::vector<shader::MemoryRange> ranges(const BufferSlice& map) {
        shader::MemoryMap header{};
        std::memcpy(&header, map.mapped, sizeof header);
        std::vector<shader::MemoryRange> out(header.count);
        std::memcpy(out.data(), map.mapped + sizeof header, out.size() * sizeof(shader::MemoryRange));
        return out;
    }

    const u64 page = guest::page_size();
    u8* bytes = nullptr;
    guest::Memory registry;
    std::unique_ptr<GuestMemory> guest_memory;
};
#define OPEN_MEMORY(...)                                                                                               \
    open_memory(__VA_ARGS__);                                                                                          \
    if (IsSkipped() || HasFatalFailure())                                                                              \
    return

TEST_P(VirtualMemory, ARunIsARangeOfItsPhysicalPool) { // OBJ-013, OBJ-015, OBJ-016
    OPEN_MEMORY();
    map(0, 4, 100);
    map(8, 4, 108);
    const auto first = guest_memory->resolve(GuestAddress{no_address + page}, 3 * page);
    ASSERT_TRUE(first) << first.error().message;
    const auto same = guest_memory->resolve(at(101 * page), 3 * page);
    ASSERT_TRUE(same);
    EXPECT_EQ(first->buffer, same->buffer);
    EXPECT_EQ(first->offset, same->offset);
    EXPECT_EQ(first->address, same->address);
    EXPECT_EQ(first->mapped, same->mapped);
    const auto gap = guest_memory->resolve(GuestAddress{no_address + 3 * page}, 2 * page);
    ASSERT_FALSE(gap);
    EXPECT_THAT(gap.error().message, ::testing::HasSubstr("mapped in pieces"));
    const auto none = guest_memory->resolve(GuestAddress{no_address + 4 * page}, page);
    ASSERT_FALSE(none);
    EXPECT_THAT(none.error().message, ::testing::HasSubstr("not mapped"));
    map(4, 4, 104);
    EXPECT_TRUE(guest_memory->resolve(GuestAddress{no_address}, 12 * page)) << "one run now";
    EXPECT_EQ(guest_memory->physical(GuestAddress{no_address + 5 * page + 7}), at(105 * page + 7));
    EXPECT_EQ(guest_memory->physical(GuestAddress{no_address + 12 * page}), GuestAddress{0});
    EXPECT_EQ(guest_memory->physical(at(5)), at(5));
    EXPECT_EQ(guest_memory->statistics().pieces, 1u) << "nothing is imported twice";
}

TEST_P(VirtualMemory, TheMemoryMapHasEveryRun) { // OBJ-022, OBJ-057
    OPEN_MEMORY(16 * guest::page_size());
    map(3, 2, 15); // across two pieces
    map(100, 1, 200);
    const auto map_now = guest_memory->memory_map();
    ASSERT_TRUE(map_now) << map_now.error().message;
    const auto all = ranges(map_now->slice);
    ASSERT_EQ(all.size(), pages / 16 + 3);
    for (std::size_t i = 1; i < all.size(); ++i)
        EXPECT_LE(all[i - 1].guest + all[i - 1].size, all[i].guest);
    const auto* runs = &all[pages / 16];
    const u64 physical[] = {15, 16, 200}, guest[] = {3, 4, 100};
    for (int i = 0; i < 3; ++i) {
        EXPECT_EQ(runs[i].guest, no_address + guest[i] * page);
        EXPECT_EQ(runs[i].size, page);
        EXPECT_EQ(runs[i].device, guest_memory->resolve(at(physical[i] * page), page)->address);
    }
    ASSERT_TRUE(guest_memory->map_virtual({no_address, 1024 * page, 0}));
    EXPECT_EQ(ranges(guest_memory->memory_map()->slice).size(), pages / 16);
    guest_memory->remove_virtual(GuestAddress{no_address});
    EXPECT_FALSE(guest_memory->resolve(GuestAddress{no_address}, 1));
}

TEST_P(VirtualMemory, TheMapChangesBehindTheWorkThatReadsIt) { // OBJ-018, OBJ-020
    OPEN_MEMORY();
    const auto first = guest_memory->memory_map();
    ASSERT_TRUE(first);
    const std::size_t before = ranges(first->slice).size();
    map(0, 1, 1);
    Commands& c = begin();
    const auto second = guest_memory->memory_map(&c);
    ASSERT_TRUE(second);
    EXPECT_FALSE(second->changed) << "the same buffer";
    EXPECT_EQ(second->slice.buffer, first->slice.buffer);
    EXPECT_EQ(ranges(second->slice).size(), before) << "not before the commands run";
    finish(c);
    EXPECT_EQ(ranges(second->slice).size(), before + 1);
    // More than it has room for: another buffer, once what is in flight is done.
    for (u64 i = 0; i < 500; ++i)
        map(2 * i, 1, i % pages);
    Commands& other = begin();
    const auto third = guest_memory->memory_map(&other);
    ASSERT_TRUE(third);
    EXPECT_TRUE(third->changed);
    EXPECT_EQ(ranges(third->slice).size(), before + 500);
    finish(other);
}

TEST_P(VirtualMemory, LookupsOfUnknownLengthReachFar) { // OBJ-055
    OPEN_MEMORY(16 * guest::page_size());
    const auto near_end = guest_memory->resolve_open_ended(at(15 * page));
    ASSERT_TRUE(near_end) << near_end.error().message;
    // 64 MiB are more than the pool has left: all of it, or to the end of a mirrored piece.
    EXPECT_EQ(near_end->size, device->has(Feature::ExternalMemoryHost) ? (pages - 15) * page : page);
    const auto last = guest_memory->resolve_open_ended(at(pages * page - 16));
    ASSERT_TRUE(last);
    EXPECT_EQ(last->size, 16u);
    const auto longer = guest_memory->resolve(at(20 * page), 16 * page); // asked for more than a piece holds
    EXPECT_EQ(longer.has_value(), device->has(Feature::ExternalMemoryHost));
    EXPECT_FALSE(guest_memory->resolve_open_ended(at(pages * page)));
}

INSTANTIATE_TEST_SUITE_P(, VirtualMemory, ::testing::Values("", "external_memory_host"),
                         [](const auto& p) { return std::string(*p.param ? "Mirrored" : "Imported"); });

// --- A driver that refuses imports ---

std::atomic<int> refusals = 0, imports = 0;
PFN_vkAllocateMemory allocate = nullptr;

VkResult VKAPI_CALL refusing(VkDevice device, const VkMemoryAllocateInfo* info, const VkAllocationCallbacks* callbacks,
                             VkDeviceMemory* memory) {
    for (auto* next = static_cast<const VkBaseInStructure*>(info->pNext); next; next = next->pNext)
        if (next->sType == VK_STRUCTURE_TYPE_IMPORT_MEMORY_HOST_POINTER_INFO_EXT) {
            ++imports;
            if (refusals.fetch_sub(1) > 0)
                return VK_ERROR_OUT_OF_DEVICE_MEMORY;
        }
    return allocate(device, info, callbacks, memory);
}

class RefusedImport : public VirtualMemory {
protected:
    void refuse(int times) {
        allocate = device->vk.vkAllocateMemory;
        device->vk.vkAllocateMemory = refusing;
        refusals = times;
        imports = 0;
        log::set_sink([this](log::Level, std::string_view line) { lines.emplace_back(line); });
    }
    std::vector<std::string> matching(std::string_view text) const {
        std::vector<std::string> out;
        for (const std::string& line : lines)
            if (line.find(text) != std::string::npos)
                out.push_back(line);
        return out;
    }
    std::vector<std::string> lines;
};

TEST_P(RefusedImport, IsTriedAgain) { // OBJ-012
    OPEN_MEMORY();
    if (!device->has(Feature::ExternalMemoryHost))
        GTEST_SKIP() << "the device imports nothing";
    refuse(11);
    ASSERT_TRUE(guest_memory->resolve(at(0), page));
    EXPECT_EQ(imports, 12);
    EXPECT_EQ(guest_memory->statistics().imported_bytes, pages * page);
    EXPECT_EQ(guest_memory->statistics().failed_imports, 0u);
    EXPECT_EQ(matching("took 12 attempts").size(), 1u);
    EXPECT_EQ(lines.size(), 1u);
}

TEST_P(RefusedImport, GivesUpWithAWordOnWhatIsMapped) { // OBJ-012
    OPEN_MEMORY();
    if (!device->has(Feature::ExternalMemoryHost))
        GTEST_SKIP() << "the device imports nothing";
    refuse(1000);
    bytes[5] = 99;
    const auto mirrored = guest_memory->resolve(at(0), page);
    ASSERT_TRUE(mirrored) << "a mirror serves";
    EXPECT_EQ(imports, 12);
    EXPECT_EQ(guest_memory->statistics().failed_imports, 1u);
    EXPECT_EQ(guest_memory->statistics().mirrored_bytes, pages * page);
    EXPECT_EQ(matching("is mirrored").size(), 1u);
    bool found = false; // the pool's own mapping, which may have been joined with its neighbours
    for (const std::string& line : matching("mapped there: ")) {
        u64 from = 0, to = 0;
        ASSERT_EQ(std::sscanf(line.c_str(), "mapped there: %lx-%lx", &from, &to), 2) << line;
        found |= from <= at(0).value && at(0).value < to;
    }
    EXPECT_TRUE(found);
}

INSTANTIATE_TEST_SUITE_P(, RefusedImport, ::testing::Values(""), [](const auto&) { return std::string("Imported"); });

} // namespace
} // namespace heaviside::gpu::test
