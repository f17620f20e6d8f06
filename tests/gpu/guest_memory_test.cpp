// The GPU works on the guest's own bytes: imported where the device can, mirrored where it cannot.
#include "device_fixture.h"

#include "gpu/guest_memory.h"

#include "tests/gpu/shaders/follow.comp.h"

#include <cstring>
#include <sys/mman.h>

namespace heaviside::gpu::test {
namespace {

class GuestMemoryPath : public DeviceTest, public ::testing::WithParamInterface<const char*> {
protected:
    static constexpr u64 pages = 64;
    void open_memory(u64 piece = GuestMemory::largest_piece) {
        open(GetParam());
        if (IsSkipped() || HasFatalFailure())
            return;
        page = guest::page_size();
        void* p = mmap(nullptr, pages * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        ASSERT_NE(p, MAP_FAILED);
        bytes = static_cast<u8*>(p);
        auto installed = guest::FaultHandler::install(tracker);
        ASSERT_TRUE(installed);
        handler.emplace(std::move(*installed));
        ASSERT_TRUE(registry.add(at(0), pages * page));
        ASSERT_TRUE(tracker.add(at(0), pages * page));
        guest_memory = std::make_unique<GuestMemory>(*device, *queue, registry, &tracker, piece);
    }
    void TearDown() override {
        if (queue)
            (void)queue->wait(queue->submitted());
        guest_memory.reset();
        DeviceTest::TearDown();
        tracker.remove(at(0));
        handler.reset();
        if (bytes)
            munmap(bytes, pages * page);
    }
    GuestAddress at(u64 offset) const { return GuestAddress{reinterpret_cast<u64>(bytes) + offset}; }
    bool imports() const { return device->has(Feature::ExternalMemoryHost); }

    u64 page = 0;
    u8* bytes = nullptr;
    guest::Memory registry;
    guest::WriteTracker tracker;
    std::optional<guest::FaultHandler> handler;
    std::unique_ptr<GuestMemory> guest_memory;
};
#define OPEN_MEMORY(...)                                                                                               \
    open_memory(__VA_ARGS__);                                                                                          \
    if (IsSkipped() || HasFatalFailure())                                                                              \
    return

TEST_P(GuestMemoryPath, TheGpuReadsAndWritesTheGuestsBytes) {
    OPEN_MEMORY();
    for (u32 i = 0; i < 256; ++i)
        bytes[4 * page + i] = static_cast<u8>(i);
    tracker.arm(at(0), pages * page); // protected pages must not keep the import from working
    const auto source = guest_memory->resolve(at(4 * page), 256);
    ASSERT_TRUE(source) << source.error().message;
    const auto target = guest_memory->resolve(at(9 * page + 16), 256);
    ASSERT_TRUE(target) << target.error().message;
    bytes[4 * page] = 0xaa; // after the import
    guest_memory->flush_to_gpu(at(4 * page), 256);
    Commands& c = begin();
    const VkBufferCopy copy{source->offset, target->offset, 256};
    device->vk.vkCmdCopyBuffer(c.handle(), source->buffer, target->buffer, 1, &copy);
    c.barrier({VK_PIPELINE_STAGE_2_COPY_BIT, VK_ACCESS_2_TRANSFER_WRITE_BIT, VK_PIPELINE_STAGE_2_HOST_BIT,
               VK_ACCESS_2_HOST_READ_BIT});
    finish(c);
    guest_memory->publish_to_guest(at(9 * page + 16), 256);
    EXPECT_EQ(bytes[9 * page + 16], 0xaa);
    EXPECT_EQ(bytes[9 * page + 16 + 200], 200);
    EXPECT_EQ(bytes[9 * page + 15], 0);
    const auto s = guest_memory->statistics();
    EXPECT_EQ(imports() ? s.imported_bytes : s.mirrored_bytes, pages * page);
    EXPECT_EQ(s.failed_imports, 0u);
}

TEST_P(GuestMemoryPath, ShadersFollowGuestAddressesThroughTheMemoryMap) {
    OPEN_MEMORY(16 * guest::page_size()); // four pieces
    const u32 value = 0x12345678;
    std::memcpy(bytes + 40 * page + 8, &value, 4);
    auto map = guest_memory->memory_map();
    ASSERT_TRUE(map) << map.error().message;
    EXPECT_TRUE(map->changed);
    EXPECT_FALSE(guest_memory->memory_map()->changed) << "nothing was added or removed";
    EXPECT_EQ(guest_memory->statistics().pieces, 4u);
    heap->set_memory_map(map->slice);
    guest_memory->flush_to_gpu(at(0), pages * page);

    Buffer result = buffer(64, MemoryKind::Readback);
    Commands& c = begin();
    const u64 inside = at(40 * page + 8).value, outside = at(pages * page).value;
    const std::array<u32, 4> addresses{static_cast<u32>(inside), static_cast<u32>(inside >> 32),
                                       static_cast<u32>(outside), static_cast<u32>(outside >> 32)};
    c.set_shader(shader::Stage::Compute, shader(shader::Stage::Compute, follow_comp));
    c.set_compute_bank(0, *queue->arena().push(std::as_bytes(std::span(addresses))));
    shader::RootConstants root{};
    root.bank_table = result.whole().address;
    c.set_compute_root(root);
    ASSERT_TRUE(c.prepare_dispatch());
    device->vk.vkCmdDispatch(c.handle(), 1, 1, 1);
    c.barrier({VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT, VK_ACCESS_2_SHADER_STORAGE_WRITE_BIT,
               VK_PIPELINE_STAGE_2_HOST_BIT, VK_ACCESS_2_HOST_READ_BIT});
    finish(c);
    invalidate(*device, result);
    std::array<u32, 3> got;
    std::memcpy(got.data(), result.whole().mapped, sizeof got);
    EXPECT_EQ(got[0], value);
    EXPECT_EQ(got[1], 0u) << "an address in no range reads zero";
    EXPECT_EQ(got[2], 4u) << "ranges";
    guest_memory->publish_to_guest(at(40 * page + 8), 8);
    u32 stored = 0;
    std::memcpy(&stored, bytes + 40 * page + 12, 4);
    EXPECT_EQ(stored, value + 1) << "what the shader stored at the guest's address";
}

TEST_P(GuestMemoryPath, RangesThatCrossPiecesAreServedByImports) {
    OPEN_MEMORY(16 * guest::page_size());
    bytes[16 * page - 1] = 1;
    bytes[16 * page] = 2;
    const auto slice = guest_memory->resolve(at(15 * page), 2 * page);
    ASSERT_EQ(slice.has_value(), imports());
    if (!imports())
        return;
    Buffer result = buffer(2 * page, MemoryKind::Readback);
    Commands& c = begin();
    const VkBufferCopy copy{slice->offset, 0, 2 * page};
    device->vk.vkCmdCopyBuffer(c.handle(), slice->buffer, result.whole().buffer, 1, &copy);
    finish(c);
    invalidate(*device, result);
    EXPECT_EQ(result.whole().mapped[page - 1], std::byte{1});
    EXPECT_EQ(result.whole().mapped[page], std::byte{2});
    EXPECT_EQ(guest_memory->statistics().pieces, 1u);
    ASSERT_TRUE(guest_memory->resolve(at(15 * page), 2 * page));
    EXPECT_EQ(guest_memory->statistics().pieces, 1u) << "made once";
}

TEST_P(GuestMemoryPath, RemovedRangesLoseTheirBuffers) {
    OPEN_MEMORY();
    ASSERT_TRUE(guest_memory->resolve(at(0), 16));
    ASSERT_TRUE(registry.remove(at(0)));
    guest_memory->update();
    EXPECT_EQ(guest_memory->statistics().pieces, 0u);
    const auto gone = guest_memory->resolve(at(0), 16);
    ASSERT_FALSE(gone);
    EXPECT_THAT(gone.error().message, ::testing::HasSubstr("in no memory pool"));
    ASSERT_TRUE(registry.add(at(0), page));
    const auto beyond = guest_memory->resolve(at(page - 8), 16);
    ASSERT_FALSE(beyond);
    EXPECT_THAT(beyond.error().message, ::testing::HasSubstr("leaves its memory pool"));
    EXPECT_TRUE(guest_memory->resolve(at(page - 8), 8));
}

TEST_P(GuestMemoryPath, RangesNeedNotStartOnAPage) {
    OPEN_MEMORY();
    ASSERT_TRUE(registry.remove(at(0)));
    ASSERT_TRUE(registry.add(at(page + 100), 2 * page));
    bytes[page + 100] = 77;
    const auto slice = guest_memory->resolve(at(page + 100), 1);
    ASSERT_TRUE(slice) << slice.error().message;
    Buffer result = buffer(16, MemoryKind::Readback);
    Commands& c = begin();
    guest_memory->flush_to_gpu(at(page + 100), 1);
    const VkBufferCopy copy{slice->offset, 0, 1};
    device->vk.vkCmdCopyBuffer(c.handle(), slice->buffer, result.whole().buffer, 1, &copy);
    finish(c);
    invalidate(*device, result);
    EXPECT_EQ(result.whole().mapped[0], std::byte{77});
}

// --- Imports while the CPU's writes are watched

PFN_vkAllocateMemory allocate = nullptr;
guest::WriteTracker* watching = nullptr;
u32 seen_imports = 0;
u64 protected_pages = 0;

// Touches every page that is imported, without changing it.
VkResult VKAPI_CALL touching(VkDevice device, const VkMemoryAllocateInfo* info, const VkAllocationCallbacks* callbacks,
                             VkDeviceMemory* memory) {
    for (auto* next = static_cast<const VkBaseInStructure*>(info->pNext); next; next = next->pNext)
        if (next->sType == VK_STRUCTURE_TYPE_IMPORT_MEMORY_HOST_POINTER_INFO_EXT) {
            ++seen_imports;
            const u64 before = watching->faults();
            auto* const bytes = static_cast<volatile u8*>(
                reinterpret_cast<const VkImportMemoryHostPointerInfoEXT*>(next)->pHostPointer);
            for (u64 at = 0; at < info->allocationSize; at += guest::page_size())
                bytes[at] = bytes[at];
            protected_pages += watching->faults() - before;
        }
    return allocate(device, info, callbacks, memory);
}

TEST_P(GuestMemoryPath, ImportsFindTheirPagesWritable) { // OBJ-058: a piece, one across two, a small pool beside it
    OPEN_MEMORY(16 * guest::page_size());
    if (!imports())
        GTEST_SKIP() << "the device imports nothing";
    ASSERT_TRUE(registry.remove(at(0)));
    ASSERT_TRUE(registry.add(at(0), 40 * page));
    ASSERT_TRUE(registry.add(at(40 * page + 512), 2 * page)); // its first page begins in the middle of one
    allocate = device->vk.vkAllocateMemory;
    device->vk.vkAllocateMemory = touching;
    watching = &tracker;
    seen_imports = 0;
    protected_pages = 0;
    const u64 stamp = tracker.arm(at(0), pages * page);
    for (const auto& [offset, size] : {std::pair{page, page}, std::pair{15 * page, 2 * page},
                                       std::pair{40 * page + 600, u64{64}}, std::pair{39 * page, page}}) {
        const auto slice = guest_memory->resolve(at(offset), size);
        ASSERT_TRUE(slice) << slice.error().message;
        Commands& c = begin();
        device->vk.vkCmdFillBuffer(c.handle(), slice->buffer, slice->offset, 64, 0x01010101);
        c.barrier({VK_PIPELINE_STAGE_2_ALL_TRANSFER_BIT, VK_ACCESS_2_TRANSFER_WRITE_BIT, VK_PIPELINE_STAGE_2_HOST_BIT,
                   VK_ACCESS_2_HOST_READ_BIT});
        finish(c);
        EXPECT_EQ(bytes[offset], 1) << offset;
        EXPECT_EQ(bytes[offset + 63], 1) << offset;
    }
    device->vk.vkAllocateMemory = allocate;
    EXPECT_EQ(seen_imports, 4u);
    EXPECT_EQ(protected_pages, 0u);
    EXPECT_FALSE(tracker.written_since(at(20 * page), 10 * page, stamp)) << "opening is no write";
}

// Both write while the other's work is under way: neither's bytes are lost, in one page, whatever is copied when.
TEST_P(GuestMemoryPath, TheGuestAndTheGpuWriteSideBySide) {
    OPEN_MEMORY();
    const auto target = guest_memory->resolve(at(3 * page), page);
    ASSERT_TRUE(target);
    guest_memory->flush_to_gpu(at(0), pages * page);
    tracker.arm(at(0), pages * page);
    Commands& c = begin();
    device->vk.vkCmdFillBuffer(c.handle(), target->buffer, target->offset + 64, 64, 0x11111111);
    c.barrier({VK_PIPELINE_STAGE_2_ALL_TRANSFER_BIT, VK_ACCESS_2_TRANSFER_WRITE_BIT, VK_PIPELINE_STAGE_2_HOST_BIT,
               VK_ACCESS_2_HOST_READ_BIT});
    finish(c);
    const u64 stamp = tracker.arm(at(0), pages * page);
    bytes[3 * page] = 5;                             // before the GPU's bytes have come
    guest_memory->flush_to_gpu(at(0), pages * page); // for the next submission: takes none of the GPU's back
    bytes[3 * page + 200] = 6;
    guest_memory->publish_to_guest(at(0), pages * page); // takes none of the guest's back
    EXPECT_EQ(bytes[3 * page + 64], 0x11);
    EXPECT_EQ(bytes[3 * page + 127], 0x11);
    EXPECT_EQ(bytes[3 * page + 128], 0);
    EXPECT_EQ(bytes[3 * page], 5);
    EXPECT_EQ(bytes[3 * page + 200], 6);
    EXPECT_TRUE(tracker.written_since(at(3 * page), page, stamp)) << "by the guest";
    EXPECT_FALSE(tracker.written_since(at(4 * page), page, stamp));
    guest_memory->flush_to_gpu(at(0), pages * page);
    Buffer copy = buffer(page, MemoryKind::Readback);
    Commands& back = begin();
    const VkBufferCopy region{target->offset, 0, page};
    device->vk.vkCmdCopyBuffer(back.handle(), target->buffer, copy.whole().buffer, 1, &region);
    finish(back);
    invalidate(*device, copy);
    EXPECT_EQ(copy.whole().mapped[0], std::byte{5});
    EXPECT_EQ(copy.whole().mapped[64], std::byte{0x11});
    EXPECT_EQ(copy.whole().mapped[200], std::byte{6});
}

INSTANTIATE_TEST_SUITE_P(, GuestMemoryPath, ::testing::Values("", "external_memory_host"),
                         [](const auto& p) { return std::string(*p.param ? "Mirrored" : "Imported"); });

} // namespace
} // namespace heaviside::gpu::test
