// The house's own compute programs against their definition.
#include "device_fixture.h"

#include "gpu/kernels.h"

#include <cstring>

namespace heaviside::gpu::test {
namespace {

class KernelPath : public DeviceTest, public ::testing::WithParamInterface<const char*> {};

TEST_P(KernelPath, WidensIndicesFromAnyAlignment) {
    OPEN_DEVICE(GetParam());
    Kernels kernels(*queue, *shaders);
    std::array<u8, 300> bytes;
    for (std::size_t i = 0; i < bytes.size(); ++i)
        bytes[i] = static_cast<u8>(i * 7);
    bytes[100] = 0xff;
    Buffer source = buffer(512, MemoryKind::Upload);
    std::memcpy(source.whole().mapped, bytes.data(), bytes.size());
    flush(*device, source);
    for (const u64 first : {0, 1, 2, 3})
        for (const u64 count : {1, 2, 129, 255})
            for (const bool restart : {false, true}) {
                Commands& c = begin();
                const auto wide = kernels.widen_indices(c, source.slice(first, count), restart);
                ASSERT_TRUE(wide) << wide.error().message;
                ASSERT_EQ(wide->size, count * 2);
                Buffer result = buffer(1024, MemoryKind::Readback);
                const VkBufferCopy copy{wide->offset, 0, wide->size};
                device->vk.vkCmdCopyBuffer(c.handle(), wide->buffer, result.whole().buffer, 1, &copy);
                c.barrier({VK_PIPELINE_STAGE_2_COPY_BIT, VK_ACCESS_2_TRANSFER_WRITE_BIT, VK_PIPELINE_STAGE_2_HOST_BIT,
                           VK_ACCESS_2_HOST_READ_BIT});
                finish(c);
                invalidate(*device, result);
                for (u64 i = 0; i < count; ++i) {
                    u16 got = 0;
                    std::memcpy(&got, result.whole().mapped + i * 2, 2);
                    const u8 index = bytes[first + i];
                    ASSERT_EQ(got, restart && index == 0xff ? 0xffff : index) << first << " " << count << " " << i;
                }
            }
}

INSTANTIATE_TEST_SUITE_P(, KernelPath, ::testing::Values("", "shader_object"),
                         [](const auto& p) { return std::string(*p.param ? "Pipelines" : "ShaderObjects"); });

} // namespace
} // namespace heaviside::gpu::test
