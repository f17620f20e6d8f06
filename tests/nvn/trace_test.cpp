// The call trace: what a line says, and that tracing changes nothing else.
#include "tests/nvn/client.h" // first: with the client's wrappers

#include "nvn/entry_table.h"
#include "nvn/trace.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

namespace heaviside::nvn {
namespace {

void reload() {
    nvnLoadCProcs(nullptr,
                  reinterpret_cast<PFNNVNDEVICEGETPROCADDRESSPROC>(nvnBootstrapLoader("nvnDeviceGetProcAddress")));
}

class Trace : public testing::Test {
protected:
    void SetUp() override {
        path_ = std::filesystem::temp_directory_path() / ("heaviside-trace-" + std::to_string(::getpid()));
        ASSERT_TRUE(start_trace(path_.c_str()));
        reload();
    }
    void TearDown() override {
        stop_trace();
        reload();
        std::filesystem::remove(path_);
    }
    // The lines so far, without those of looking names up.
    std::vector<std::string> lines() {
        std::ifstream in(path_);
        std::vector<std::string> out;
        for (std::string line; std::getline(in, line);)
            if (line.find("nvnDeviceGetProcAddress") == std::string::npos)
                out.push_back(line);
        return out;
    }

    std::filesystem::path path_;
};

TEST_F(Trace, LinesSayWhatArgumentsMean) {
    NVNtextureBuilder first, second;
    nvnTextureBuilderSetDefaults(&first);
    nvnTextureBuilderSetDefaults(&second);
    nvnTextureBuilderSetTarget(&second, NVN_TEXTURE_TARGET_2D_ARRAY);
    nvnTextureBuilderSetFormat(&first, static_cast<NVNformat>(4711));
    nvnTextureBuilderSetSize2D(&first, 64, -1);
    NVNsamplerBuilder sampler;
    nvnSamplerBuilderSetDevice(&sampler, nullptr);
    nvnSamplerBuilderSetLodBias(&sampler, 0.5f);
    NVNcolorState color;
    nvnColorStateSetBlendEnable(&color, 0, NVN_TRUE);
    EXPECT_EQ(nvnTextureBuilderGetTarget(&second), NVN_TEXTURE_TARGET_2D_ARRAY);
    const std::vector<std::string> expected = {
        "nvnTextureBuilderSetDefaults(TextureBuilder#1)",
        "nvnTextureBuilderSetDefaults(TextureBuilder#2)",
        "nvnTextureBuilderSetTarget(TextureBuilder#2, TEXTURE_TARGET_2D_ARRAY)",
        "nvnTextureBuilderSetFormat(TextureBuilder#1, 4711)",
        "nvnTextureBuilderSetSize2D(TextureBuilder#1, 64, -1)",
        "nvnSamplerBuilderSetDevice(SamplerBuilder#1, null)",
        "nvnSamplerBuilderSetLodBias(SamplerBuilder#1, 0.5)",
        "nvnColorStateSetBlendEnable(ColorState#1, 0, true)",
        "nvnTextureBuilderGetTarget(TextureBuilder#2) = TEXTURE_TARGET_2D_ARRAY",
    };
    EXPECT_EQ(lines(), expected);
}

TEST_F(Trace, FlagsArraysAndResultsAreDecoded) {
    NVNtextureBuilder builder;
    nvnTextureBuilderSetFlags(&builder, NVN_TEXTURE_FLAGS_DISPLAY | NVN_TEXTURE_FLAGS_COMPRESSIBLE | 0x4000);
    nvnTextureBuilderSetFlags(&builder, 0);
    NVNsamplerBuilder sampler;
    nvnSamplerBuilderSetDevice(&sampler, nullptr);
    nvnSamplerBuilderSetDefaults(&sampler);
    const float border[] = {0, 0.5f, 1, 1};
    nvnSamplerBuilderSetBorderColor(&sampler, border);
    float minimum = 0, maximum = 0;
    nvnSamplerBuilderGetLodClamp(&sampler, &minimum, &maximum);
    NVNminFilter filter;
    NVNmagFilter magnify;
    nvnSamplerBuilderGetMinMagFilter(&sampler, &filter, &magnify);
    NVNtextureView view;
    nvnTextureViewSetDefaults(&view);
    int level = 7, count = 9;
    EXPECT_FALSE(nvnTextureViewGetLevels(&view, &level, &count));
    nvnTextureViewSetLevels(&view, 2, 1);
    EXPECT_TRUE(nvnTextureViewGetLevels(&view, &level, &count));
    NVNcommandBuffer none{};
    const NVNbufferRange ranges[] = {{0, 16}, {0x10, 32}};
    nvnCommandBufferBindVertexBuffers(&none, 0, 2, ranges);
    nvnCommandBufferBindProgram(&none, nullptr, NVN_SHADER_STAGE_VERTEX_BIT | NVN_SHADER_STAGE_FRAGMENT_BIT);
    const NVNcopyRegion region{1, 2, 3, 4, 5, 6};
    nvnCommandBufferCopyTextureToBuffer(&none, nullptr, nullptr, &region, 0, 0);
    const NVNcommandHandle handles[] = {0x1000, 0, 0x1000};
    nvnCommandBufferCallCommands(&none, 3, handles);
    const NVNtexture* const targets[] = {nullptr, nullptr};
    nvnCommandBufferSetRenderTargets(&none, 2, targets, nullptr, nullptr, nullptr);
    const std::vector<std::string> expected = {
        "nvnTextureBuilderSetFlags(TextureBuilder#1, TEXTURE_FLAGS_DISPLAY|TEXTURE_FLAGS_COMPRESSIBLE|0x4000)",
        "nvnTextureBuilderSetFlags(TextureBuilder#1, 0x0)",
        "nvnSamplerBuilderSetDevice(SamplerBuilder#1, null)",
        "nvnSamplerBuilderSetDefaults(SamplerBuilder#1)",
        "nvnSamplerBuilderSetBorderColor(SamplerBuilder#1, [0, 0.5, 1, 1])",
        "nvnSamplerBuilderGetLodClamp(SamplerBuilder#1, pointer, pointer) {min: -1000, max: 1000}",
        "nvnSamplerBuilderGetMinMagFilter(SamplerBuilder#1, pointer, pointer) "
        "{min: MIN_FILTER_NEAREST, mag: MAG_FILTER_NEAREST}",
        "nvnTextureViewSetDefaults(TextureView#1)",
        "nvnTextureViewGetLevels(TextureView#1, pointer, pointer) = false", // nothing was written
        "nvnTextureViewSetLevels(TextureView#1, 2, 1)",
        "nvnTextureViewGetLevels(TextureView#1, pointer, pointer) = true {baseLevel: 2, numLevels: 1}",
        "nvnCommandBufferBindVertexBuffers(CommandBuffer#1, 0, 2, [{0x0, 16}, {0x10, 32}])",
        "nvnCommandBufferBindProgram(CommandBuffer#1, null, SHADER_STAGE_VERTEX_BIT|SHADER_STAGE_FRAGMENT_BIT)",
        "nvnCommandBufferCopyTextureToBuffer(CommandBuffer#1, null, null, {1,2,3 4x5x6}, 0x0, COPY_FLAGS_NONE)",
        "nvnCommandBufferCallCommands(CommandBuffer#1, 3, [commands#1, null, commands#1])",
        "nvnCommandBufferSetRenderTargets(CommandBuffer#1, 2, [null, null], null, null, null)",
    };
    EXPECT_EQ(lines(), expected);
}

TEST_F(Trace, AddressesAreInsideTheirPool) {
    test::Device device;
    test::Pool pool(device, 0x10000);
    NVNbufferBuilder builder;
    nvnBufferBuilderSetDefaults(&builder);
    nvnBufferBuilderSetStorage(&builder, &pool.object, 0x1200, 0x100);
    NVNbuffer buffer;
    ASSERT_TRUE(nvnBufferInitialize(&buffer, &builder));
    nvnBufferGetAddress(&buffer);
    const auto all = lines();
    EXPECT_TRUE(std::ranges::count(all, "nvnBufferGetAddress(Buffer#1) = memory#1+0x1200")) << all.back();
    EXPECT_TRUE(std::ranges::count(all, "nvnBufferInitialize(Buffer#1, BufferBuilder#1) = true"));
}

TEST_F(Trace, OtherThreadsAreNumbered) {
    NVNpolygonState state;
    nvnPolygonStateSetDefaults(&state);
    std::thread([&] { nvnPolygonStateSetCullFace(&state, NVN_FACE_BACK); }).join();
    const auto all = lines();
    ASSERT_EQ(all.size(), 2u);
    EXPECT_NE(all[1].find(" nvnPolygonStateSetCullFace(PolygonState#1, FACE_BACK)"), std::string::npos) << all[1];
    EXPECT_EQ(all[1][0], 't');
}

TEST_F(Trace, HandedOutFunctionsOutliveTheTrace) {
    NVNpolygonState state;
    nvnPolygonStateSetDefaults(&state);
    const auto before = lines().size();
    stop_trace();
    nvnPolygonStateSetCullFace(&state, NVN_FACE_BACK);
    EXPECT_EQ(nvnPolygonStateGetCullFace(&state), NVN_FACE_BACK);
    EXPECT_EQ(lines().size(), before);
}

TEST(TraceTable, EveryPrototypeHasATracingFunction) {
    for (const EntryPoint& entry : entry_points()) {
        if (entry.status == EntryStatus::Built && std::string_view(entry.name) != "nvnBootstrapLoader") {
            EXPECT_TRUE(traced(entry.name) || std::string_view(entry.name).ends_with("NVX")) << entry.name;
        }
    }
    EXPECT_EQ(traced("nvnInventedForThisTest"), nullptr);
}

TEST(TraceFile, CannotBeWrittenIsReported) {
    EXPECT_FALSE(start_trace("/nonexistent/directory/file"));
    EXPECT_FALSE(tracing());
}

} // namespace
} // namespace heaviside::nvn
