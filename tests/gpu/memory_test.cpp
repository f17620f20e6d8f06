// Buffers, images, the arena, and the queue's timeline.
#include "device_fixture.h"

#include <cstring>

namespace heaviside::gpu::test {
namespace {

TEST_F(DeviceTest, CopiesBetweenUploadDeviceAndReadback) {
    OPEN_DEVICE();
    Buffer source = buffer(4096, MemoryKind::Upload);
    Buffer middle = buffer(4096, MemoryKind::Device);
    Buffer target = buffer(4096, MemoryKind::Readback);
    for (u32 i = 0; i < 1024; ++i)
        std::memcpy(source.whole().mapped + i * 4, &i, 4);
    flush(*device, source);
    EXPECT_NE(middle.whole().address, 0u);
    Commands& c = begin();
    const VkBufferCopy all{0, 0, 4096};
    device->vk.vkCmdCopyBuffer(c.handle(), source.whole().buffer, middle.whole().buffer, 1, &all);
    c.barrier();
    c.prepare_transfer();
    device->vk.vkCmdCopyBuffer(c.handle(), middle.whole().buffer, target.whole().buffer, 1, &all);
    c.barrier({VK_PIPELINE_STAGE_2_COPY_BIT, VK_ACCESS_2_TRANSFER_WRITE_BIT, VK_PIPELINE_STAGE_2_HOST_BIT,
               VK_ACCESS_2_HOST_READ_BIT});
    finish(c);
    invalidate(*device, target);
    for (u32 i = 0; i < 1024; ++i) {
        u32 value = 0;
        std::memcpy(&value, target.whole().mapped + i * 4, 4);
        ASSERT_EQ(value, i);
    }
}

TEST_F(DeviceTest, SubmissionsAreNumberedAndRetiredObjectsOutliveTheirs) {
    OPEN_DEVICE();
    EXPECT_EQ(queue->submitted(), 0u);
    Commands& c = begin();
    EXPECT_EQ(c.submission(), 1u);
    Buffer used = buffer(256, MemoryKind::Device);
    device->vk.vkCmdFillBuffer(c.handle(), used.whole().buffer, 0, 256, 0);
    struct Witness {
        std::shared_ptr<int> token;
        Buffer buffer;
    };
    auto token = std::make_shared<int>(1);
    queue->retire(Witness{token, std::move(used)});
    queue->collect();
    EXPECT_EQ(token.use_count(), 2) << "released before its submission was made";
    const auto number = queue->submit(c);
    ASSERT_TRUE(number);
    EXPECT_EQ(*number, 1u);
    ASSERT_TRUE(*queue->wait(1));
    EXPECT_EQ(queue->completed(), 1u);
    queue->collect();
    EXPECT_EQ(token.use_count(), 1);
}

TEST_F(DeviceTest, ASecondCommandBufferWaitsForTheFirstToBeSubmitted) {
    OPEN_DEVICE();
    Commands& c = begin();
    EXPECT_FALSE(queue->begin());
    finish(c);
    finish(begin());
}

TEST_F(DeviceTest, TheArenaReusesWhatIsDoneAndAlignsWhatItGives) {
    OPEN_DEVICE();
    Arena& arena = queue->arena();
    for (int frame = 0; frame < 8; ++frame) {
        Commands& c = begin();
        for (int i = 0; i < 100; ++i) {
            const auto slice = arena.allocate(1000, 256);
            ASSERT_TRUE(slice);
            EXPECT_EQ(slice->offset % 256, 0u);
            EXPECT_EQ(slice->address % 16, 0u) << "what shaders read through addresses";
            std::memset(slice->mapped, i, 1000);
        }
        finish(c);
    }
    EXPECT_EQ(arena.bytes(), u64{4} << 20) << "one chunk serves frames that never overlap";
    Commands& c = begin();
    const auto large = arena.allocate(u64{9} << 20);
    ASSERT_TRUE(large);
    EXPECT_EQ(large->size, u64{9} << 20);
    finish(c);
    queue->collect();
    EXPECT_EQ(arena.bytes(), u64{4} << 20) << "an oversized chunk is given back";
}

TEST_F(DeviceTest, ImagesBeyondTheLimitsAreErrors) {
    OPEN_DEVICE();
    ImageDescription d;
    d.usage = VK_IMAGE_USAGE_SAMPLED_BIT | VK_IMAGE_USAGE_TRANSFER_DST_BIT;
    d.extent = {device->capabilities.limits.maxImageDimension2D * 2, 1, 1};
    EXPECT_FALSE(create_image(*device, d));
    d.extent = {0, 1, 1};
    EXPECT_FALSE(create_image(*device, d));
    d.extent = {4, 4, 1};
    d.levels = 20;
    EXPECT_FALSE(create_image(*device, d));
    EXPECT_FALSE(create_buffer(*device, 0, MemoryKind::Device));
}

TEST_F(DeviceTest, ThePrologueRunsFirstEvenWhenItIsRecordedInsideAPass) {
    OPEN_DEVICE();
    ImageDescription d;
    d.extent = {4, 4, 1};
    d.usage = VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT;
    Image target = image(d);
    const auto target_view = view(target, {});
    Buffer early = buffer(64, MemoryKind::Device), result = buffer(64, MemoryKind::Readback);
    Commands& c = begin();
    c.initialise(target);
    Pass pass;
    pass.area = {{0, 0}, {4, 4}};
    pass.color_count = 1;
    pass.colors[0].view = target_view.get();
    pass.colors[0].format = d.format;
    pass.colors[0].load = VK_ATTACHMENT_LOAD_OP_CLEAR;
    c.begin_pass(pass);
    device->vk.vkCmdFillBuffer(c.prologue(), early.whole().buffer, 0, 64, 0x01020304);
    EXPECT_TRUE(c.in_pass());
    c.prepare_transfer();
    const VkBufferCopy all{0, 0, 64};
    device->vk.vkCmdCopyBuffer(c.handle(), early.whole().buffer, result.whole().buffer, 1, &all);
    finish(c);
    invalidate(*device, result);
    u32 word = 0;
    std::memcpy(&word, result.whole().mapped, 4);
    EXPECT_EQ(word, 0x01020304u);
}

} // namespace
} // namespace heaviside::gpu::test
