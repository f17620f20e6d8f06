// Texture and sampler pools: what an entry is announced as. Ledger rows at each test.
#include "tests/nvn/client.h" // first: with the client's wrappers

#include "nvn/null_sink.h"
#include "nvn/runtime.h"

#include <map>

namespace heaviside::nvn {
namespace {

using test::Device;
using test::Pool;

class PoolSink : public NullSink {
public:
    struct Table {
        u64 descriptors;
        u32 capacity;
        std::map<u32, stream::ImageDescription> textures;
        std::map<u32, stream::SamplerDescription> samplers;
    };
    std::map<stream::PoolId, Table> tables;
    u32 storage_registrations = 0;

    void texture_pool_created(stream::PoolId id, u64 address, u32 capacity) override {
        tables[id] = {address, capacity, {}, {}};
    }
    void texture_pool_destroyed(stream::PoolId id) override { tables.erase(id); }
    void texture_registered(stream::PoolId id, u32 index, const stream::ImageDescription& d, bool storage) override {
        tables.at(id).textures.insert_or_assign(index, d);
        storage_registrations += storage;
    }
    void sampler_pool_created(stream::PoolId id, u64 address, u32 capacity) override {
        tables[id] = {address, capacity, {}, {}};
    }
    void sampler_pool_destroyed(stream::PoolId id) override { tables.erase(id); }
    void sampler_registered(stream::PoolId id, u32 index, const stream::SamplerDescription& d) override {
        tables.at(id).samplers.insert_or_assign(index, d);
    }
};

class Pools : public testing::Test {
protected:
    void SetUp() override { set_sink(&sink_); }
    void TearDown() override { set_sink(nullptr); }

    NVNtexture texture(NVNtextureTarget target, int width, int height, int depth, int levels) {
        NVNtextureBuilder builder;
        nvnTextureBuilderSetDefaults(&builder);
        nvnTextureBuilderSetTarget(&builder, target);
        nvnTextureBuilderSetSize3D(&builder, width, height, depth);
        nvnTextureBuilderSetLevels(&builder, levels);
        nvnTextureBuilderSetFormat(&builder, NVN_FORMAT_RGBA8);
        nvnTextureBuilderSetStorage(&builder, &memory_.object, 0x40000);
        NVNtexture out;
        EXPECT_TRUE(nvnTextureInitialize(&out, &builder));
        return out;
    }
    // The view that a texture registered with `view` is announced with.
    stream::ViewDescription registered(const NVNtexture& texture, const NVNtextureView& view) {
        NVNtexturePool pool;
        EXPECT_TRUE(nvnTexturePoolInitialize(&pool, &memory_.object, 0, 300));
        nvnTexturePoolRegisterTexture(&pool, 256, &texture, &view);
        const stream::ViewDescription out = sink_.tables.begin()->second.textures.at(256).view;
        nvnTexturePoolFinalize(&pool);
        return out;
    }

    PoolSink sink_;
    Device device_;
    Pool memory_{device_, 0x400000};
};

TEST_F(Pools, GettersAnswerInitialize) { // OBJ-236
    NVNtexturePool textures;
    NVNsamplerPool samplers;
    ASSERT_TRUE(nvnTexturePoolInitialize(&textures, &memory_.object, 0x4000, 4000));
    ASSERT_TRUE(nvnSamplerPoolInitialize(&samplers, &memory_.object, 0x24000, 4000));
    EXPECT_EQ(nvnTexturePoolGetSize(&textures), 4000);
    EXPECT_EQ(nvnTexturePoolGetMemoryPool(&textures), &memory_.object);
    EXPECT_EQ(nvnTexturePoolGetMemoryOffset(&textures), 0x4000);
    EXPECT_EQ(nvnSamplerPoolGetSize(&samplers), 4000);
    EXPECT_EQ(nvnSamplerPoolGetMemoryPool(&samplers), &memory_.object);
    EXPECT_EQ(nvnSamplerPoolGetMemoryOffset(&samplers), 0x24000);
    ASSERT_EQ(sink_.tables.size(), 2u);
    EXPECT_EQ(sink_.tables.begin()->second.descriptors, nvnMemoryPoolGetBufferAddress(&memory_.object) + 0x4000);
    EXPECT_EQ(sink_.tables.begin()->second.capacity, 4000u);
    nvnTexturePoolFinalize(&textures);
    nvnSamplerPoolFinalize(&samplers);
    EXPECT_TRUE(sink_.tables.empty());
}

TEST_F(Pools, RefusesPoolsOutsideTheirMemory) {
    NVNtexturePool textures;
    NVNsamplerPool samplers;
    EXPECT_FALSE(nvnTexturePoolInitialize(&textures, &memory_.object, 0x3F0000, 4000));
    EXPECT_FALSE(nvnTexturePoolInitialize(&textures, &memory_.object, 16, 300));
    EXPECT_FALSE(nvnTexturePoolInitialize(&textures, &memory_.object, -32, 300));
    EXPECT_FALSE(nvnTexturePoolInitialize(&textures, &memory_.object, 0, 0));
    EXPECT_FALSE(nvnSamplerPoolInitialize(&samplers, &memory_.object, 0, 4097));
    EXPECT_FALSE(nvnSamplerPoolInitialize(&samplers, nullptr, 0, 300));
}

TEST_F(Pools, RegistrationCopiesTextureAndView) {
    NVNtexturePool pool;
    ASSERT_TRUE(nvnTexturePoolInitialize(&pool, &memory_.object, 0, 300));
    NVNtexture t = texture(NVN_TEXTURE_TARGET_2D, 64, 32, 1, 3);
    NVNtextureView view;
    nvnTextureViewSetDefaults(&view);
    nvnTextureViewSetFormat(&view, NVN_FORMAT_RGBA8_SRGB);
    nvnTexturePoolRegisterTexture(&pool, 256, &t, &view);
    nvnTexturePoolRegisterImage(&pool, 257, &t, nullptr);
    nvnTexturePoolRegisterTexture(&pool, 300, &t, nullptr); // past the end
    nvnTexturePoolRegisterTexture(&pool, -1, &t, nullptr);
    std::memset(&t, 0, sizeof t);
    const auto& entries = sink_.tables.begin()->second.textures;
    ASSERT_EQ(entries.size(), 2u);
    const stream::ImageDescription& image = entries.at(256);
    EXPECT_EQ(+image.texture.address, nvnMemoryPoolGetBufferAddress(&memory_.object) + 0x40000);
    EXPECT_EQ(image.texture.width, 64u);
    EXPECT_EQ(image.texture.height, 32u);
    EXPECT_EQ(image.texture.format, NVN_FORMAT_RGBA8);
    EXPECT_EQ(image.view.format, NVN_FORMAT_RGBA8_SRGB);
    EXPECT_EQ(image.view.target, NVN_TEXTURE_TARGET_2D);
    EXPECT_EQ(image.view.first_level, 0);
    EXPECT_EQ(image.view.level_count, 3);
    EXPECT_EQ(image.view.layer_count, 1);
    EXPECT_EQ(entries.at(257).view.format, NVN_FORMAT_RGBA8);
    EXPECT_EQ(sink_.storage_registrations, 1u);
    nvnTexturePoolFinalize(&pool);
}

TEST_F(Pools, EqualTexturesAreAnnouncedAsEqual) { // GFX-006
    NVNtexturePool pool;
    ASSERT_TRUE(nvnTexturePoolInitialize(&pool, &memory_.object, 0, 300));
    const NVNtexture a = texture(NVN_TEXTURE_TARGET_2D, 64, 32, 1, 1), b = texture(NVN_TEXTURE_TARGET_2D, 64, 32, 1, 1);
    nvnTexturePoolRegisterTexture(&pool, 256, &a, nullptr);
    nvnTexturePoolRegisterTexture(&pool, 257, &b, nullptr);
    const auto& entries = sink_.tables.begin()->second.textures;
    EXPECT_EQ(entries.at(256), entries.at(257));
    nvnTexturePoolFinalize(&pool);
}

TEST_F(Pools, CubeViewsCountCubes) { // REN-024, REN-025
    NVNtextureView view;
    nvnTextureViewSetDefaults(&view);
    nvnTextureViewSetTarget(&view, NVN_TEXTURE_TARGET_CUBEMAP);
    nvnTextureViewSetLayers(&view, 0, 1);
    const auto cube = registered(texture(NVN_TEXTURE_TARGET_2D_ARRAY, 16, 16, 6, 1), view);
    EXPECT_EQ(cube.target, NVN_TEXTURE_TARGET_CUBEMAP);
    EXPECT_EQ(cube.first_layer, 0);
    EXPECT_EQ(cube.layer_count, 6);

    nvnTextureViewSetTarget(&view, NVN_TEXTURE_TARGET_CUBEMAP_ARRAY);
    nvnTextureViewSetLayers(&view, 1, 2);
    const auto cubes = registered(texture(NVN_TEXTURE_TARGET_CUBEMAP_ARRAY, 16, 16, 18, 1), view);
    EXPECT_EQ(cubes.first_layer, 6);
    EXPECT_EQ(cubes.layer_count, 12);

    nvnTextureViewSetLayers(&view, 0, 4); // 24 faces of 18
    EXPECT_EQ(registered(texture(NVN_TEXTURE_TARGET_CUBEMAP_ARRAY, 16, 16, 18, 1), view).target,
              NVN_TEXTURE_TARGET_2D_ARRAY);
}

TEST_F(Pools, ViewsAreCutToTheirTexture) {
    NVNtextureView view;
    nvnTextureViewSetDefaults(&view);
    nvnTextureViewSetLevels(&view, 2, 9);
    nvnTextureViewSetLayers(&view, 3, 100);
    const auto v = registered(texture(NVN_TEXTURE_TARGET_2D_ARRAY, 16, 16, 5, 4), view);
    EXPECT_EQ(v.first_level, 2);
    EXPECT_EQ(v.level_count, 2);
    EXPECT_EQ(v.first_layer, 3);
    EXPECT_EQ(v.layer_count, 2);
    const auto whole = [&] {
        nvnTextureViewSetDefaults(&view);
        return registered(texture(NVN_TEXTURE_TARGET_CUBEMAP, 16, 16, 1, 1), view);
    }();
    EXPECT_EQ(whole.layer_count, 6);
}

TEST_F(Pools, SamplersFromObjectAndBuilderAreTheSame) { // OBJ-252
    NVNsamplerPool pool;
    ASSERT_TRUE(nvnSamplerPoolInitialize(&pool, &memory_.object, 0, 300));
    NVNsamplerBuilder builder;
    nvnSamplerBuilderSetDefaults(&builder);
    nvnSamplerBuilderSetWrapMode(&builder, NVN_WRAP_MODE_CLAMP_TO_BORDER, NVN_WRAP_MODE_REPEAT,
                                 NVN_WRAP_MODE_MIRROR_CLAMP);
    nvnSamplerBuilderSetMaxAnisotropy(&builder, 4);
    const float border[4] = {0.5f, 0.25f, 0, 1};
    nvnSamplerBuilderSetBorderColor(&builder, border);
    NVNsampler sampler;
    ASSERT_TRUE(nvnSamplerInitialize(&sampler, &builder));
    nvnSamplerPoolRegisterSampler(&pool, 256, &sampler);
    nvnSamplerPoolRegisterSamplerBuilder(&pool, 257, &builder);
    nvnSamplerBuilderSetMaxAnisotropy(&builder, 16);
    const auto& entries = sink_.tables.begin()->second.samplers;
    EXPECT_EQ(entries.at(256), entries.at(257));
    EXPECT_EQ(entries.at(256).wrap_s, NVN_WRAP_MODE_CLAMP_TO_BORDER);
    EXPECT_EQ(entries.at(256).wrap_r, NVN_WRAP_MODE_MIRROR_CLAMP);
    EXPECT_EQ(entries.at(256).max_anisotropy, 4.0f);
    EXPECT_EQ(entries.at(256).border_class, 0u);
    float green;
    std::memcpy(&green, &entries.at(256).border[1], 4);
    EXPECT_EQ(green, 0.25f);
    nvnSamplerPoolFinalize(&pool);
}

} // namespace
} // namespace heaviside::nvn
