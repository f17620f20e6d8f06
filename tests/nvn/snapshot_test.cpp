// Commands depend on no object once they are recorded, a submission on no command memory once it is made, and a pool's
// IDs on no other pool. Ledger rows at each test.
#include "base/log.h"
#include "command_fixture.h"
#include "program/build.h"

#include <algorithm>
#include <set>

namespace heaviside::nvn {
namespace {

using namespace stream;

// REN-003: targets, clears and copies keep what the textures were, whatever comes to lie in the objects' memory.
TEST_F(CommandTest, TextureObjectsMayBeOverwrittenBeforeTheSubmission) {
    NVNtexture color = make_texture(320, 200), depth = make_texture(320, 200, NVN_FORMAT_DEPTH32F, 0x80000),
               source = make_texture(64, 32, NVN_FORMAT_R32F, 0xC0000);
    NVNtextureView view;
    nvnTextureViewSetDefaults(&view);
    nvnTextureViewSetFormat(&view, NVN_FORMAT_RGBA8_SRGB);
    const NVNtexture* targets[] = {&color};
    const NVNtextureView* views[] = {&view};
    NVNcopyRegion region{0, 0, 0, 16, 8, 1};
    const float white[] = {1, 1, 1, 1};
    begin(cmd, 0, 0x4000);
    nvnCommandBufferSetRenderTargets(&cmd, 1, targets, views, &depth, nullptr);
    nvnCommandBufferClearTexture(&cmd, &color, &view, &region, white, NVN_CLEAR_COLOR_MASK_RGBA);
    nvnCommandBufferCopyTextureToTexture(&cmd, &source, nullptr, &region, &color, nullptr, &region, 0);
    nvnCommandBufferCopyTextureToBuffer(&cmd, &source, nullptr, &region, 0x1000, 0);
    nvnCommandBufferCopyBufferToTexture(&cmd, 0x1000, &color, &view, &region, 0);
    nvnCommandBufferDownsample(&cmd, &source, &color);
    const NVNcommandHandle handle = nvnCommandBufferEndRecording(&cmd);
    EXPECT_EQ(take_errors(), 0u);
    const u64 at = reinterpret_cast<u64>(memory(0));
    for (NVNtexture* object : {&color, &depth, &source})
        std::memset(object, 0xCC, sizeof *object);
    std::memset(&view, 0xCC, sizeof view);
    std::memset(&region, 0xCC, sizeof region);
    submit(handle);

    const auto is_color = [&](const ImageDescription& image, NVNformat format) {
        return image.texture.address == at + 0x40000 && image.texture.width == 320 && image.texture.height == 200 &&
               image.texture.format == NVN_FORMAT_RGBA8 && image.view.format == format;
    };
    const auto is_source = [&](const ImageDescription& image) {
        return image.texture.address == at + 0xC0000 && image.texture.width == 64 && image.texture.height == 32 &&
               image.view.format == NVN_FORMAT_R32F;
    };
    std::vector<ImageDescription> bound;
    ASSERT_EQ(sink.submissions.size(), 1u);
    ASSERT_TRUE(for_each_record(std::as_bytes(std::span(sink.submissions[0].words)), [&](const Record& record) {
        if (record.type() == RecordType::SetRenderTargets)
            for (const ImageDescription& image : record.tail<SetRenderTargets, ImageDescription>())
                bound.push_back(image);
    }));
    ASSERT_EQ(bound.size(), 2u);
    EXPECT_TRUE(is_color(bound[0], NVN_FORMAT_RGBA8_SRGB));
    EXPECT_EQ(+bound[1].texture.address, at + 0x80000);
    EXPECT_EQ(bound[1].view.format, NVN_FORMAT_DEPTH32F);
    const auto clear = records<ClearTexture>().at(0);
    EXPECT_TRUE(is_color(clear.image, NVN_FORMAT_RGBA8_SRGB));
    EXPECT_EQ(+clear.region.width, 16);
    const auto copy = records<CopyTextureToTexture>().at(0);
    EXPECT_TRUE(is_source(copy.source) && is_color(copy.dest, NVN_FORMAT_RGBA8));
    EXPECT_EQ(+copy.dest_region.height, 8);
    EXPECT_TRUE(is_source(records<CopyTextureToBuffer>().at(0).image));
    EXPECT_TRUE(is_color(records<CopyBufferToTexture>().at(0).image, NVN_FORMAT_RGBA8_SRGB));
    EXPECT_TRUE(is_source(records<Downsample>().at(0).source) &&
                is_color(records<Downsample>().at(0).dest, NVN_FORMAT_RGBA8));
}

// GFX-008: the same command buffer records again, over the same memory, while the list that it made before waits to
// run.
TEST_F(CommandTest, RecordingAgainLeavesASubmittedListAlone) {
    for (int frame = 1; frame <= 3; ++frame) {
        begin(cmd, 0, 0x1000);
        for (int i = 0; i < 4; ++i)
            draw(cmd, frame * 10 + i);
        submit(nvnCommandBufferEndRecording(&cmd));
    }
    EXPECT_EQ(draws(), (std::vector{10, 11, 12, 13, 20, 21, 22, 23, 30, 31, 32, 33}));
}

// SHD-053, SHD-091: programs of one stage are bound by stage; each keeps its place when another one's stage is bound or
// unbound, also when the binds lie in different lists.
TEST_F(CommandTest, ProgramsAreBoundStageByStage) {
    std::vector<std::vector<std::byte>> controls;
    const auto make = [&](program::Stage stage, u8 seed) {
        const std::vector<std::byte> code(32, std::byte{seed});
        program::BuildInput input{.stage = stage, .code = code, .register_count = 8};
        input.sph.type = stage == program::Stage::Fragment ? maxwell::ShaderType::Pixel : maxwell::ShaderType::Vertex;
        input.sph.pixel = stage == program::Stage::Fragment;
        auto blobs = program::build(input);
        EXPECT_TRUE(blobs);
        const u64 offset = 0x10000 + seed * u64{0x1000};
        std::copy(blobs->gpu.begin(), blobs->gpu.end(), memory(offset));
        controls.push_back(std::move(blobs->control));
        const NVNshaderData data{reinterpret_cast<u64>(memory(offset)), controls.back().data()};
        NVNprogram made;
        EXPECT_TRUE(nvnProgramInitialize(&made, &device));
        EXPECT_TRUE(nvnProgramSetShaders(&made, 1, &data));
        return made;
    };
    NVNprogram vertex[] = {make(program::Stage::Vertex, 1), make(program::Stage::Vertex, 2)},
               fragment[] = {make(program::Stage::Fragment, 3), make(program::Stage::Fragment, 4)};
    const auto bind = [&](const NVNprogram* program, int stages) {
        nvnCommandBufferBindProgram(&cmd, program, stages);
    };
    begin(cmd, 0, 0x1000);
    bind(&vertex[0], NVN_SHADER_STAGE_VERTEX_BIT);
    bind(&fragment[0], NVN_SHADER_STAGE_FRAGMENT_BIT);
    bind(&vertex[1], NVN_SHADER_STAGE_VERTEX_BIT);
    bind(&fragment[1], NVN_SHADER_STAGE_FRAGMENT_BIT | NVN_SHADER_STAGE_GEOMETRY_BIT);
    bind(nullptr, NVN_SHADER_STAGE_FRAGMENT_BIT);
    submit(nvnCommandBufferEndRecording(&cmd));
    const auto binds = records<BindProgram>();
    ASSERT_EQ(binds.size(), 5u);
    std::set<ProgramId> ids;
    for (std::size_t i = 0; i < 4; ++i)
        ids.insert(+binds[i].program);
    EXPECT_EQ(ids.size(), 4u);
    EXPECT_EQ(+binds[4].program, 0u);
    const std::vector<int> masks = {1, 2, 1, 6, 2};
    for (std::size_t i = 0; i < 5; ++i)
        EXPECT_EQ(static_cast<int>(binds[i].stages), masks[i]) << i;
    EXPECT_EQ(take_errors(), 0u);
    for (NVNprogram* program : {&vertex[0], &vertex[1], &fragment[0], &fragment[1]})
        nvnProgramFinalize(program);
}

struct RegisteringSink : KeepingSink {
    std::map<PoolId, std::map<u32, u64>> textures; // addresses
    std::map<PoolId, std::map<u32, u32>> samplers; // magnification filters
    void texture_registered(PoolId pool, u32 index, const ImageDescription& image, bool) override {
        textures[pool][index] = image.texture.address;
    }
    void sampler_registered(PoolId pool, u32 index, const SamplerDescription& sampler) override {
        samplers[pool][index] = sampler.mag_filter;
    }
};

class PoolIds : public CommandTest {
protected:
    PoolIds() { set_sink(&sink_); }
    ~PoolIds() override { set_sink(&sink); }

    NVNtexturePool texture_pool(ptrdiff_t offset, int count) {
        NVNtexturePool made;
        EXPECT_TRUE(nvnTexturePoolInitialize(&made, &pool, offset, count));
        return made;
    }
    // The pool that each draw of the submissions runs with.
    std::vector<std::pair<PoolId, PoolId>> pools_of_draws() const {
        std::vector<std::pair<PoolId, PoolId>> out;
        std::pair<PoolId, PoolId> now{};
        for (const auto& s : sink_.submissions)
            EXPECT_TRUE(for_each_record(std::as_bytes(std::span(s.words)), [&](const Record& record) {
                if (record.type() == RecordType::SetTexturePool)
                    now.first = record.as<SetTexturePool>().pool;
                if (record.type() == RecordType::SetSamplerPool)
                    now.second = record.as<SetSamplerPool>().pool;
                if (record.type() == RecordType::DrawArrays)
                    out.push_back(now);
            }));
        return out;
    }
    RegisteringSink sink_;
};

// SHD-130: IDs of several pools overlap; what an ID means is a matter of its pool alone.
TEST_F(PoolIds, PoolsHaveIdsOfTheirOwn) {
    const NVNtexture one = make_texture(16, 16, NVN_FORMAT_RGBA8, 0x80000),
                     two = make_texture(16, 16, NVN_FORMAT_RGBA8, 0x90000);
    NVNtexturePool a = texture_pool(0x10000, 3856), b = texture_pool(0x30000, 300);
    NVNsamplerPool sa, sb;
    ASSERT_TRUE(nvnSamplerPoolInitialize(&sa, &pool, 0x60000, 300));
    ASSERT_TRUE(nvnSamplerPoolInitialize(&sb, &pool, 0x70000, 300));
    nvnTexturePoolRegisterTexture(&a, 256, &one, nullptr);
    nvnTexturePoolRegisterTexture(&b, 256, &two, nullptr);
    NVNsamplerBuilder builder;
    nvnSamplerBuilderSetDefaults(&builder);
    nvnSamplerBuilderSetMinMagFilter(&builder, NVN_MIN_FILTER_LINEAR, NVN_MAG_FILTER_LINEAR);
    nvnSamplerPoolRegisterSamplerBuilder(&sb, 256, &builder);
    nvnSamplerBuilderSetMinMagFilter(&builder, NVN_MIN_FILTER_NEAREST, NVN_MAG_FILTER_NEAREST);
    nvnSamplerPoolRegisterSamplerBuilder(&sa, 256, &builder);
    begin(cmd, 0, 0x1000);
    for (const auto& [textures, samplers] : {std::pair(&a, &sa), std::pair(&b, &sb), std::pair(&a, &sb)}) {
        nvnCommandBufferSetTexturePool(&cmd, textures);
        nvnCommandBufferSetSamplerPool(&cmd, samplers);
        draw(cmd, 0);
    }
    submit(nvnCommandBufferEndRecording(&cmd));
    const auto drawn = pools_of_draws();
    ASSERT_EQ(drawn.size(), 3u);
    const auto texture = [&](std::size_t i) { return sink_.textures.at(drawn[i].first).at(256); };
    const auto sampler = [&](std::size_t i) { return sink_.samplers.at(drawn[i].second).at(256); };
    const u64 base = reinterpret_cast<u64>(memory(0));
    EXPECT_EQ(texture(0), base + 0x80000);
    EXPECT_EQ(texture(1), base + 0x90000);
    EXPECT_EQ(texture(2), base + 0x80000);
    EXPECT_EQ(sampler(0), u32{NVN_MAG_FILTER_NEAREST});
    EXPECT_EQ(sampler(1), u32{NVN_MAG_FILTER_LINEAR});
    EXPECT_EQ(sampler(2), u32{NVN_MAG_FILTER_LINEAR});
}

// SHD-131: each draw's textures come under fresh IDs of a ring as large as the pool; every ID works at any time.
TEST_F(PoolIds, EveryIdOfALargePoolMayBeRegisteredAtAnyTime) {
    constexpr int count = 12544;
    NVNtexturePool ring = texture_pool(0, count);
    const NVNtexture textures[] = {make_texture(16, 16, NVN_FORMAT_RGBA8, 0x80000),
                                   make_texture(16, 16, NVN_FORMAT_RGBA8, 0x90000),
                                   make_texture(16, 16, NVN_FORMAT_RGBA8, 0xA0000)};
    const auto which = [&](int id, int turn) { return static_cast<std::size_t>(id + turn) % std::size(textures); };
    for (int turn = 0; turn < 3; ++turn) {
        for (int id = 256; id < count; ++id)
            nvnTexturePoolRegisterTexture(&ring, id, &textures[which(id, turn)], nullptr);
        ASSERT_EQ(sink_.textures.size(), 1u);
        const auto& known = sink_.textures.begin()->second;
        ASSERT_EQ(known.size(), static_cast<std::size_t>(count - 256));
        for (const auto& [id, address] : known)
            ASSERT_EQ(address, nvnTextureGetTextureAddress(&textures[which(static_cast<int>(id), turn)])) << id;
    }
    nvnTexturePoolRegisterTexture(&ring, count, &textures[0], nullptr);
    EXPECT_EQ(take_errors(), 1u); // one past the end
    EXPECT_EQ(sink_.textures.begin()->second.size(), static_cast<std::size_t>(count - 256));
}

// SHD-132: no list of bounded size stands between a recorded bind and its pool.
TEST_F(PoolIds, TwoHundredCommandBuffersEachWithAPoolOfItsOwn) {
    std::vector<std::string> lines;
    log::set_sink([&](log::Level, std::string_view line) { lines.emplace_back(line); });
    std::vector<NVNtexturePool> pools;
    std::vector<NVNcommandHandle> handles;
    std::vector<std::array<u64, 32>> control(200);
    const NVNtexture texture = make_texture(16, 16, NVN_FORMAT_RGBA8, 0xC0000);
    for (std::size_t i = 0; i < 200; ++i) {
        pools.push_back(texture_pool(0x80000, 300));
        nvnTexturePoolRegisterTexture(&pools.back(), 256 + static_cast<int>(i % 44), &texture, nullptr);
    }
    for (std::size_t i = 0; i < 200; ++i) {
        NVNcommandBuffer buffer{};
        ASSERT_TRUE(nvnCommandBufferInitialize(&buffer, &device));
        nvnCommandBufferAddCommandMemory(&buffer, &pool, static_cast<ptrdiff_t>(i * 512), 512);
        nvnCommandBufferAddControlMemory(&buffer, control[i].data(), sizeof control[i]);
        nvnCommandBufferBeginRecording(&buffer);
        nvnCommandBufferSetTexturePool(&buffer, &pools[199 - i]);
        draw(buffer, 0);
        handles.push_back(nvnCommandBufferEndRecording(&buffer));
        nvnCommandBufferFinalize(&buffer);
    }
    nvnQueueSubmitCommands(&queue, 200, handles.data());
    log::set_sink({});
    const auto drawn = pools_of_draws();
    ASSERT_EQ(drawn.size(), 200u);
    for (std::size_t i = 0; i < 200; ++i)
        ASSERT_TRUE(sink_.textures.at(drawn[i].first).contains(256 + static_cast<u32>((199 - i) % 44))) << i;
    std::vector<PoolId> ids;
    for (const auto& [textures, samplers] : drawn)
        ids.push_back(textures);
    std::ranges::sort(ids);
    EXPECT_EQ(std::unique(ids.begin(), ids.end()), ids.end());
    EXPECT_TRUE(lines.empty()) << lines.front();
}

} // namespace
} // namespace heaviside::nvn
