// The house's own compute programs against their definition.
#include "device_fixture.h"

#include "gpu/kernels.h"
#include "texture/tiling.h"

#include <algorithm>
#include <cstring>
#include <random>

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

// Both directions against the CPU's conversion, which its own tests hold against the hardware's byte-address formula.
TEST_P(KernelPath, ConvertsBlockLinearLevelsAsTheCpuDoes) {
    OPEN_DEVICE(GetParam());
    Kernels kernels(*queue, *shaders);
    struct Case {
        const char* format;
        texture::Target target;
        u32 width, height, depth, levels;
    };
    using texture::Target;
    const Case cases[] = {{"RGBA8", Target::D2, 67, 45, 1, 3},     {"R8", Target::D2, 33, 9, 1, 1},
                          {"RGBA32F", Target::D2, 130, 20, 1, 2},  {"RGB_DXT1", Target::D2, 256, 128, 1, 4},
                          {"RG16", Target::D2Array, 40, 40, 3, 2}, {"RGBA8", Target::D3, 50, 30, 20, 2},
                          {"R32F", Target::Cube, 64, 64, 6, 2}};
    std::mt19937 random(1);
    for (const Case& t : cases) {
        SCOPED_TRACE(std::string(t.format) + " " + std::to_string(t.width));
        texture::Description d;
        d.target = t.target;
        d.format = texture::format_named(t.format);
        d.width = t.width;
        d.height = t.height;
        d.depth = t.depth;
        d.levels = t.levels;
        const auto layout_of_texture = texture::layout(d);
        ASSERT_TRUE(layout_of_texture) << layout_of_texture.error().message;
        const texture::Layout& l = *layout_of_texture;
        Buffer storage = buffer(l.size, MemoryKind::Readback), back = buffer(l.size, MemoryKind::Readback);
        for (u64 i = 0; i < l.size; ++i) {
            storage.whole().mapped[i] = static_cast<std::byte>(random());
            back.whole().mapped[i] = std::byte{0};
        }
        flush(*device, storage);
        flush(*device, back);
        for (u32 n = 0; n < l.level_count; ++n) {
            const texture::Level& level = l.levels[n];
            const u32 pitch = align_up(level.row_bytes, 16u);
            const u64 slices = u64{std::max(1u, level.depth)} * std::max(1u, l.layers);
            Buffer rows = buffer(pitch * level.blocks_y * slices, MemoryKind::Readback);
            Commands& c = begin();
            using Direction = Kernels::Direction;
            ASSERT_TRUE(kernels.convert_level(c, Commands::Place::Here, Direction::ToRows, l, n, storage.whole(),
                                              rows.whole(), pitch));
            c.barrier();
            ASSERT_TRUE(kernels.convert_level(c, Commands::Place::Here, Direction::ToStorage, l, n, back.whole(),
                                              rows.whole(), pitch));
            c.barrier({VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT, VK_ACCESS_2_SHADER_STORAGE_WRITE_BIT,
                       VK_PIPELINE_STAGE_2_HOST_BIT, VK_ACCESS_2_HOST_READ_BIT});
            finish(c);
            invalidate(*device, rows);
            invalidate(*device, back);
            const texture::BlockRegion all = texture::whole(level);
            const texture::LinearPitch spacing{pitch, u64{pitch} * level.blocks_y};
            const u64 per_layer = spacing.slice * std::max(1u, level.depth);
            for (u32 layer = 0; layer < l.layers; ++layer)
                for (const Buffer* from : {&storage, &back}) {
                    std::vector<std::byte> expected(per_layer);
                    const auto read =
                        texture::read_region(l, layer, n, all, Bytes(from->whole().mapped, l.size), expected, spacing);
                    ASSERT_TRUE(read) << read.error().message;
                    for (u64 row = 0; row < u64{level.blocks_y} * std::max(1u, level.depth); ++row)
                        ASSERT_EQ(std::memcmp(rows.whole().mapped + layer * per_layer + row * pitch,
                                              expected.data() + row * pitch, level.row_bytes),
                                  0)
                            << "level " << n << " layer " << layer << " row " << row
                            << (from == &back ? " written back" : "");
                }
        }
    }
}

TEST_P(KernelPath, RefusesBuffersThatAreTooSmall) {
    OPEN_DEVICE(GetParam());
    Kernels kernels(*queue, *shaders);
    texture::Description d;
    d.format = texture::format_named("RGBA8");
    d.width = d.height = 64;
    const auto l = texture::layout(d);
    ASSERT_TRUE(l);
    Buffer storage = buffer(l->size, MemoryKind::Device), rows = buffer(64 * 64 * 4, MemoryKind::Device);
    Commands& c = begin();
    const auto convert = [&](u32 level, const BufferSlice& s, const BufferSlice& r, u32 pitch) {
        return kernels.convert_level(c, Commands::Place::Here, Kernels::Direction::ToRows, *l, level, s, r, pitch)
            .has_value();
    };
    EXPECT_TRUE(convert(0, storage.whole(), rows.whole(), 256));
    EXPECT_FALSE(convert(1, storage.whole(), rows.whole(), 256)) << "no such level";
    EXPECT_FALSE(convert(0, storage.slice(0, l->size - 512), rows.whole(), 256));
    EXPECT_FALSE(convert(0, storage.whole(), rows.slice(0, 64 * 64 * 4 - 1), 256));
    EXPECT_FALSE(convert(0, storage.whole(), rows.whole(), 240)) << "rows would overlap";
    EXPECT_FALSE(convert(0, storage.whole(), rows.whole(), 260)) << "not a multiple of 16";
    finish(c);
}

INSTANTIATE_TEST_SUITE_P(, KernelPath, ::testing::Values("", "shader_object"),
                         [](const auto& p) { return std::string(*p.param ? "Pipelines" : "ShaderObjects"); });

} // namespace
} // namespace heaviside::gpu::test
