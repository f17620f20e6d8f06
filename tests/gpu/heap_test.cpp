// Shaders reach textures, samplers and images through handles, and constant banks through push descriptors.
#include "device_fixture.h"

#include "tests/gpu/shaders/banks.comp.h"
#include "tests/gpu/shaders/heap.comp.h"

#include <cstring>

namespace heaviside::gpu::test {
namespace {

using Vector = std::array<f32, 4>;

// With and without VK_EXT_shader_object.
class ShaderPath : public DeviceTest, public ::testing::WithParamInterface<const char*> {
protected:
    Image filled_image(Commands& c, VkFormat format, VkExtent3D extent, std::span<const std::byte> texels,
                       VkImageUsageFlags usage = VK_IMAGE_USAGE_SAMPLED_BIT) {
        ImageDescription d;
        d.format = format;
        d.extent = extent;
        d.usage = usage | VK_IMAGE_USAGE_TRANSFER_DST_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT;
        d.flags = VK_IMAGE_CREATE_MUTABLE_FORMAT_BIT;
        Image out = image(d);
        c.initialise(out);
        const auto staging = queue->arena().push(texels);
        EXPECT_TRUE(staging);
        VkBufferImageCopy copy{};
        copy.bufferOffset = staging->offset;
        copy.imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1};
        copy.imageExtent = extent;
        device->vk.vkCmdCopyBufferToImage(c.prologue(), staging->buffer, out.get(),
                                          layout_of(*device, ImageUse::CopyTarget), 1, &copy);
        return out;
    }
};

TEST_P(ShaderPath, HandlesReadFromABankIndexTheHeap) {
    OPEN_DEVICE(GetParam());
    Commands& c = begin();
    // 2x2: red, green / blue, white.
    const std::array<u8, 16> texels{255, 0, 0, 255, 0, 255, 0, 255, 0, 0, 255, 255, 255, 255, 255, 255};
    const std::array<u32, 1> integers{77};
    const Image color = filled_image(c, VK_FORMAT_R8G8B8A8_UNORM, {2, 2, 1}, std::as_bytes(std::span(texels)));
    const Image uints = filled_image(c, VK_FORMAT_R32_UINT, {1, 1, 1}, std::as_bytes(std::span(integers)));
    const Image storage = filled_image(c, VK_FORMAT_R8G8B8A8_UNORM, {2, 2, 1}, std::as_bytes(std::span(texels)),
                                       VK_IMAGE_USAGE_SAMPLED_BIT | VK_IMAGE_USAGE_STORAGE_BIT);
    const auto color_view = view(color, {});
    const auto uint_view = view(uints, {});
    const auto storage_view = view(storage, {});
    ViewDescription raw;
    raw.format = VK_FORMAT_R32_UINT;
    const auto raw_view = view(storage, raw);

    const std::array<f32, 8> texel_data{1, 2, 3, 4, 5, 6, 7, 8};
    Buffer texel_buffer = buffer(sizeof texel_data, MemoryKind::Upload);
    std::memcpy(texel_buffer.whole().mapped, texel_data.data(), sizeof texel_data);
    flush(*device, texel_buffer);
    VkBufferViewCreateInfo texel_info{VK_STRUCTURE_TYPE_BUFFER_VIEW_CREATE_INFO};
    texel_info.buffer = texel_buffer.whole().buffer;
    texel_info.format = VK_FORMAT_R32G32B32A32_SFLOAT;
    texel_info.range = sizeof texel_data;
    VkBufferView texel_handle = VK_NULL_HANDLE;
    ASSERT_EQ(device->vk.vkCreateBufferView(device->handle, &texel_info, nullptr, &texel_handle), VK_SUCCESS);
    const auto texel_view = adopt(*device, Object::BufferView, texel_handle);

    using shader::Dimension;
    SamplerDescription linear;
    linear.min = linear.mag = VK_FILTER_LINEAR;
    ASSERT_TRUE(heap->write_texture(TextureId{300}, Dimension::D2, color_view.get()));
    ASSERT_TRUE(heap->write_texture(TextureId{9000}, Dimension::D2, uint_view.get()));
    ASSERT_TRUE(heap->write_texel_buffer(TextureId{41}, texel_view.get()));
    ASSERT_TRUE(heap->write_storage_image(TextureId{55}, Dimension::D2, storage_view.get()));
    ASSERT_TRUE(heap->write_raw_storage_image(TextureId{55}, Dimension::D2, raw_view.get()));
    ASSERT_TRUE(heap->write_sampler(SamplerId{4095}, linear));

    Buffer result = buffer(4096, MemoryKind::Readback);
    const std::array<u32, 8> bank{300u | 4095u << 20, 9000, 1234, 41, 55, 0, 0, 0};
    const auto constants = queue->arena().push(std::as_bytes(std::span(bank)));
    ASSERT_TRUE(constants);
    c.set_shader(shader::Stage::Compute, shader(shader::Stage::Compute, heap_comp));
    c.set_compute_bank(0, *constants);
    shader::RootConstants root{};
    root.bank_table = result.whole().address;
    c.set_compute_root(root);
    ASSERT_TRUE(c.prepare_dispatch());
    device->vk.vkCmdDispatch(c.handle(), 1, 1, 1);
    c.barrier({VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT, VK_ACCESS_2_SHADER_STORAGE_WRITE_BIT,
               VK_PIPELINE_STAGE_2_HOST_BIT | VK_PIPELINE_STAGE_2_COPY_BIT,
               VK_ACCESS_2_HOST_READ_BIT | VK_ACCESS_2_TRANSFER_READ_BIT});
    c.prepare_transfer();
    VkBufferImageCopy copy{};
    copy.bufferOffset = 1024;
    copy.imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1};
    copy.imageExtent = {2, 2, 1};
    device->vk.vkCmdCopyImageToBuffer(c.handle(), storage.get(), VK_IMAGE_LAYOUT_GENERAL, result.whole().buffer, 1,
                                      &copy);
    c.barrier({VK_PIPELINE_STAGE_2_COPY_BIT, VK_ACCESS_2_TRANSFER_WRITE_BIT, VK_PIPELINE_STAGE_2_HOST_BIT,
               VK_ACCESS_2_HOST_READ_BIT});
    finish(c);
    invalidate(*device, result);

    std::array<Vector, 9> got;
    std::memcpy(got.data(), result.whole().mapped, sizeof got);
    EXPECT_EQ(got[0], (Vector{1, 0, 0, 1})) << "texel (0, 0)";
    for (const f32 channel : {got[1][0], got[1][1], got[1][2]})
        EXPECT_NEAR(channel, 0.5f, 1.0f / 128) << "the centre of a linear 2x2 is the mean of its texels";
    EXPECT_EQ(got[2][0], 77.0f) << "an integer view at the same binding";
    EXPECT_EQ(got[4], (Vector{5, 6, 7, 8})) << "texel buffer";
    EXPECT_EQ(got[5][0], 4278190335.0f) << "0xff0000ff, the raw bits of red, as a float";
    EXPECT_EQ(got[6][0], 0.0f) << "no ranges in the map yet";
    EXPECT_EQ(got[7], (Vector{0, 0, 0, 0})) << "past the bank's range";
    EXPECT_EQ(got[8], (Vector{0, 0, 0, 0}));
    EXPECT_EQ(got[3], (Vector{1, 1, 1, 1})) << "an ID that was never registered reads zero";
    std::array<u8, 16> stored;
    std::memcpy(stored.data(), result.whole().mapped + 1024, sizeof stored);
    const std::array<u8, 16> expected{255, 0, 0, 255, 0, 255, 0, 255, 0, 0, 255, 255, 255, 255, 255, 255};
    EXPECT_EQ(stored, expected) << "the store to (1, 0) was green";
    heap->clear_texture(TextureId{300});
    heap->flush();
}

TEST_P(ShaderPath, BanksReadZeroOutsideTheirRangeAndWhenUnbound) {
    OPEN_DEVICE(GetParam());
    Commands& c = begin();
    std::array<u32, 64> words;
    for (u32 i = 0; i < words.size(); ++i)
        words[i] = 100 + i;
    const auto constants = queue->arena().push(std::as_bytes(std::span(words)));
    ASSERT_TRUE(constants);
    BufferSlice first_32 = *constants;
    first_32.size = 32;
    Buffer result = buffer(64, MemoryKind::Readback);
    c.set_shader(shader::Stage::Compute, shader(shader::Stage::Compute, banks_comp));
    c.set_compute_bank(3, first_32);
    c.set_compute_bank(17, *constants);
    shader::RootConstants root{};
    root.bank_table = result.whole().address;
    root.workgroups[0] = 9;
    c.set_compute_root(root);
    ASSERT_TRUE(c.prepare_dispatch());
    device->vk.vkCmdDispatch(c.handle(), 1, 1, 1);
    c.barrier({VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT, VK_ACCESS_2_SHADER_STORAGE_WRITE_BIT,
               VK_PIPELINE_STAGE_2_HOST_BIT, VK_ACCESS_2_HOST_READ_BIT});
    finish(c);
    invalidate(*device, result);
    std::array<u32, 7> got;
    std::memcpy(got.data(), result.whole().mapped, sizeof got);
    EXPECT_EQ(got[0], 100u);
    EXPECT_EQ(got[1], 105u) << "words[1].y";
    EXPECT_EQ(got[2], 0u) << "past a range of 32 bytes, although the buffer goes on";
    EXPECT_EQ(got[3], 0u);
    EXPECT_EQ(got[4], 100u) << "the last binding of the compute quota";
    EXPECT_EQ(got[5], 0u) << "a bank that was never bound";
    EXPECT_EQ(got[6], 9u);
}

INSTANTIATE_TEST_SUITE_P(, ShaderPath, ::testing::Values("", "shader_object", "null_descriptor"), [](const auto& p) {
    return *p.param ? std::string("without_") + p.param : std::string("everything");
});

TEST_F(DeviceTest, EqualSamplersAreOne) {
    OPEN_DEVICE();
    SamplerCache& cache = heap->samplers();
    const std::size_t before = cache.size();
    SamplerDescription a;
    a.mag = VK_FILTER_LINEAR;
    for (u32 id = 0; id < 100; ++id)
        ASSERT_TRUE(heap->write_sampler(SamplerId{id}, a));
    EXPECT_EQ(cache.size(), before + 1);
    SamplerDescription b = a;
    b.border = {1, 2, 3, 4}; // no wrap mode uses it
    ASSERT_TRUE(heap->write_sampler(SamplerId{5}, b));
    EXPECT_EQ(cache.size(), before + 1);
    b.wrap_u = VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_BORDER;
    ASSERT_TRUE(heap->write_sampler(SamplerId{5}, b));
    EXPECT_EQ(cache.size(), before + 3); // its border for textures of floats and of integers
    b.unnormalised = true;               // with state that Vulkan forbids beside it
    b.anisotropy = 16;
    b.compare = true;
    ASSERT_TRUE(heap->write_sampler(SamplerId{5}, b));
    EXPECT_EQ(cache.size(), before + 5);
}

TEST_F(DeviceTest, IdsBeyondTheHeapAreErrors) {
    OPEN_DEVICE();
    const u32 capacity = device->capabilities.heap_textures;
    EXPECT_FALSE(heap->write_texture(TextureId{capacity}, shader::Dimension::D2, VK_NULL_HANDLE));
    EXPECT_FALSE(heap->write_texture(TextureId{capacity - 1}, shader::Dimension::D2, VK_NULL_HANDLE))
        << "the last entry is what larger IDs are clamped to and stays null";
    EXPECT_TRUE(heap->write_texture(TextureId{capacity - 2}, shader::Dimension::D2, VK_NULL_HANDLE));
    EXPECT_FALSE(heap->write_sampler(SamplerId{device->capabilities.heap_samplers}, {}));
    heap->clear_texture(TextureId{~0u});
}

} // namespace
} // namespace heaviside::gpu::test
