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
