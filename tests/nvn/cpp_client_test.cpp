// The C++ face: a client as C++ software of NVN is written.
#include <nvn/nvn_cpp.h>

#include "tests/nvn/client.h"

#include <type_traits>

namespace {

static_assert(sizeof(nvn::Texture) == sizeof(NVNtexture) && sizeof(nvn::VertexAttribState) == 4);
static_assert(std::is_convertible_v<nvn::Texture*, NVNtexture*>);
static_assert(int(nvn::TextureTarget::TARGET_2D_ARRAY) == NVN_TEXTURE_TARGET_2D_ARRAY);
static_assert(int(nvn::Format::RGBA_ASTC_12x12_SRGB) == NVN_FORMAT_RGBA_ASTC_12x12_SRGB);
static_assert(int(nvn::ShaderStageBits::FRAGMENT) == NVN_SHADER_STAGE_FRAGMENT_BIT);
static_assert(int(nvn::SyncFlagBits::FLUSH_FOR_CPU) == 1 && int(nvn::QueuePriority::HIGH) == 1000);
static_assert(int(nvn::FormatClass::UNORM8) == 0 && int(nvn::DeviceInfo::API_MINOR_VERSION) == 1);

TEST(CppClient, ChainsBuildersAndReadsBack) {
    nvn::nvnLoadCPPProcs(
        nullptr, reinterpret_cast<nvn::DeviceGetProcAddressFunc>(nvnBootstrapLoader("nvnDeviceGetProcAddress")));
    nvn::DeviceBuilder device_builder;
    device_builder.SetDefaults().SetFlags(nvn::DeviceFlagBits::DEBUG_ENABLE);
    nvn::Device device;
    ASSERT_TRUE(device.Initialize(&device_builder));
    EXPECT_EQ(device.GetDepthMode(), nvn::DepthMode::NEAR_IS_MINUS_W);

    heaviside::nvn::test::Pages pages(0x10000);
    nvn::MemoryPoolBuilder pool_builder;
    pool_builder.SetDevice(&device)
        .SetDefaults()
        .SetFlags(nvn::MemoryPoolFlags::CPU_CACHED | nvn::MemoryPoolFlags::GPU_CACHED)
        .SetStorage(pages.data, pages.size);
    EXPECT_EQ(pool_builder.GetDevice(), &device);
    nvn::MemoryPool pool;
    ASSERT_TRUE(pool.Initialize(&pool_builder));
    EXPECT_EQ(pool.Map(), pages.data);

    nvn::TextureBuilder texture_builder;
    texture_builder.SetDefaults()
        .SetTarget(nvn::TextureTarget::TARGET_2D)
        .SetFormat(nvn::Format::RGBA8)
        .SetSize2D(32, 16)
        .SetStorage(&pool, 0x200);
    nvn::Texture texture;
    ASSERT_TRUE(texture.Initialize(&texture_builder));
    EXPECT_EQ(texture.GetFormat(), nvn::Format::RGBA8);
    EXPECT_EQ(texture.GetMemoryPool(), &pool);
    EXPECT_EQ(texture.GetTextureAddress(), pool.GetBufferAddress() + 0x200);

    nvn::BlendState blend;
    blend.SetDefaults().SetBlendFunc(nvn::BlendFunc::SRC_ALPHA, nvn::BlendFunc::ONE_MINUS_SRC_ALPHA,
                                     nvn::BlendFunc::ONE, nvn::BlendFunc::ZERO);
    nvn::BlendFunc source, dest, source_alpha, dest_alpha;
    blend.GetBlendFunc(&source, &dest, &source_alpha, &dest_alpha);
    EXPECT_EQ(source, nvn::BlendFunc::SRC_ALPHA);
    EXPECT_EQ(dest, nvn::BlendFunc::ONE_MINUS_SRC_ALPHA);

    texture.Finalize();
    pool.Finalize();
    device.Finalize();
}

} // namespace
