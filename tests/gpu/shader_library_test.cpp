// Shaders are made once, on worker threads, and come from disk the next time.
#include "device_fixture.h"

#include "tests/gpu/shaders/banks.comp.h"
#include "tests/gpu/shaders/plain.frag.h"

#include <atomic>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <unistd.h>

namespace heaviside::gpu::test {
namespace {

// Word 2 of a module names its generator: another value there is another module of the same meaning.
std::vector<u32> variant(std::span<const u32> spirv, u32 number) {
    std::vector<u32> words(spirv.begin(), spirv.end());
    words[2] = number;
    return words;
}

class ShaderLibraryPath : public DeviceTest, public ::testing::WithParamInterface<const char*> {
protected:
    void SetUp() override {
        directory = std::filesystem::temp_directory_path() / ("heaviside-test-" + std::to_string(getpid()));
        std::filesystem::remove_all(directory);
        cache_directory = directory;
    }
    void TearDown() override {
        DeviceTest::TearDown();
        std::filesystem::remove_all(directory);
    }
    // Makes one compute shader, runs it on one invocation and says what it wrote first.
    u32 run() {
        Buffer result = buffer(64, MemoryKind::Readback);
        Commands& c = begin();
        const std::array<u32, 8> words{5, 6, 7, 8, 9, 10, 11, 12};
        c.set_shader(shader::Stage::Compute, shader(shader::Stage::Compute, banks_comp));
        c.set_compute_bank(3, *queue->arena().push(std::as_bytes(std::span(words))));
        shader::RootConstants root{};
        root.bank_table = result.whole().address;
        c.set_compute_root(root);
        EXPECT_TRUE(c.prepare_dispatch());
        device->vk.vkCmdDispatch(c.handle(), 1, 1, 1);
        c.barrier({VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT, VK_ACCESS_2_SHADER_STORAGE_WRITE_BIT,
                   VK_PIPELINE_STAGE_2_HOST_BIT, VK_ACCESS_2_HOST_READ_BIT});
        finish(c);
        invalidate(*device, result);
        u32 word = 0;
        std::memcpy(&word, result.whole().mapped, 4);
        return word;
    }
    std::vector<std::filesystem::path> files() const {
        std::vector<std::filesystem::path> out;
        if (std::filesystem::exists(directory))
            for (const auto& entry : std::filesystem::recursive_directory_iterator(directory))
                if (entry.is_regular_file())
                    out.push_back(entry.path());
        return out;
    }
    std::filesystem::path directory;
};

TEST_P(ShaderLibraryPath, EqualCodeIsOneShader) {
    OPEN_DEVICE(GetParam());
    Shader* first = shaders->request(shader::Stage::Compute, banks_comp);
    EXPECT_EQ(shaders->request(shader::Stage::Compute, banks_comp), first);
    EXPECT_NE(shaders->request(shader::Stage::Compute, variant(banks_comp, 1)), first);
    EXPECT_NE(shaders->request(shader::Stage::Fragment, plain_frag), first);
    shaders->wait_all();
    const auto s = shaders->statistics();
    EXPECT_EQ(s.requested, 4u);
    EXPECT_EQ(s.created, 3u);
    EXPECT_EQ(s.failed, 0u);
    EXPECT_TRUE(shaders->ready(*first));
}

TEST_P(ShaderLibraryPath, WorkersMakeWhatWasRequestedWithoutAnyoneWaiting) {
    OPEN_DEVICE(GetParam());
    for (u32 i = 0; i < 32; ++i)
        (void)shaders->request(shader::Stage::Fragment, variant(plain_frag, i));
    shaders->wait_all();
    EXPECT_EQ(shaders->statistics().created, 32u);
    EXPECT_EQ(shaders->statistics().waits, 0u);
}

TEST_P(ShaderLibraryPath, WhatWasMadeOnceComesFromDisk) {
    {
        OPEN_DEVICE(GetParam());
        EXPECT_EQ(run(), 5u);
        EXPECT_EQ(shaders->statistics().from_disk, 0u);
        close();
    }
    ASSERT_EQ(files().size(), 1u) << "a binary, or the pipeline cache";
    open(GetParam());
    EXPECT_EQ(run(), 5u);
    EXPECT_EQ(shaders->statistics().from_disk, device->has(Feature::ShaderObject) ? 1u : 0u);
}

PFN_vkCreateShadersEXT create_shaders = nullptr;
std::atomic<u32> binaries = 0; // that the driver was given
VkResult VKAPI_CALL counting_binaries(VkDevice device, u32 count, const VkShaderCreateInfoEXT* infos,
                                      const VkAllocationCallbacks* callbacks, VkShaderEXT* out) {
    for (u32 i = 0; i < count; ++i)
        binaries += infos[i].codeType == VK_SHADER_CODE_TYPE_BINARY_EXT;
    return create_shaders(device, count, infos, callbacks, out);
}

TEST_P(ShaderLibraryPath, DamagedFilesAreIgnored) { // SHD-163: before a driver sees them
    const auto watch = [&] {
        create_shaders = device->vk.vkCreateShadersEXT;
        device->vk.vkCreateShadersEXT = counting_binaries;
        binaries = 0;
    };
    OPEN_DEVICE(GetParam());
    EXPECT_EQ(run(), 5u);
    close();
    ASSERT_EQ(files().size(), 1u);
    const auto path = files()[0];
    const auto length = std::filesystem::file_size(path);
    {
        std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
        file.seekp(static_cast<std::streamoff>(length / 2));
        file.put('\x5a');
        file.put('\x5a');
    }
    open(GetParam());
    watch();
    EXPECT_EQ(run(), 5u);
    EXPECT_EQ(shaders->statistics().from_disk, 0u);
    EXPECT_EQ(binaries, 0u);
    close();
    for (const std::uintmax_t kept : {std::uintmax_t{10}, length - 1, std::uintmax_t{0}}) {
        std::filesystem::resize_file(path, kept);
        open(GetParam());
        watch();
        EXPECT_EQ(run(), 5u);
        EXPECT_EQ(shaders->statistics().from_disk, 0u) << kept;
        EXPECT_EQ(binaries, 0u) << kept;
        close();
    }
}

TEST_P(ShaderLibraryPath, ADirectoryThatCannotBeWrittenOnlyTurnsTheDiskCacheOff) {
    std::ofstream(directory).put('x'); // a file where the directory should be
    OPEN_DEVICE(GetParam());
    EXPECT_EQ(run(), 5u);
    close();
    (void)errors.take(); // says once that it cannot write
    open(GetParam());
    EXPECT_EQ(run(), 5u);
    EXPECT_EQ(shaders->statistics().from_disk, 0u);
    close();
    (void)errors.take();
}

TEST_P(ShaderLibraryPath, AFailedPipelineIsRememberedAndNotTriedAgain) {
    OPEN_DEVICE(GetParam());
    int tries = 0;
    const auto make = [&](VkPipelineCache) -> Result<VkPipeline> {
        ++tries;
        return fail("no");
    };
    EXPECT_FALSE(shaders->pipeline(Hash128{1, 2}, make));
    const auto again = shaders->pipeline(Hash128{1, 2}, make);
    ASSERT_FALSE(again);
    EXPECT_EQ(again.error().message, "no");
    EXPECT_EQ(tries, 1);
}

TEST_P(ShaderLibraryPath, SavingWhatGainedNothingWritesNothingAndLeavesNoTemporaryFiles) {
    OPEN_DEVICE(GetParam());
    EXPECT_EQ(run(), 5u);
    close();
    ASSERT_EQ(files().size(), 1u);
    const auto path = files()[0];
    const auto long_ago = std::filesystem::file_time_type::clock::now() - std::chrono::hours(1);
    std::filesystem::last_write_time(path, long_ago);
    const auto written = std::filesystem::last_write_time(path);
    open(GetParam());
    EXPECT_EQ(run(), 5u);
    for (int i = 0; i < 100; ++i)
        shaders->save();
    close();
    EXPECT_EQ(std::filesystem::last_write_time(path), written);
    ASSERT_EQ(files().size(), 1u);
    // It is still in use: what is gone is made and written again.
    std::filesystem::remove(path);
    open(GetParam());
    EXPECT_EQ(run(), 5u);
    close();
    EXPECT_EQ(files().size(), 1u);
}

INSTANTIATE_TEST_SUITE_P(, ShaderLibraryPath, ::testing::Values("", "shader_object"),
                         [](const auto& p) { return std::string(*p.param ? "Pipelines" : "ShaderObjects"); });

} // namespace
} // namespace heaviside::gpu::test
