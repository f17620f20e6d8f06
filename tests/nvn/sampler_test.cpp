// Samplers: bytes that applications hash and copy, every field, border colours. Ledger rows at each test.
#include "tests/nvn/client.h" // first: with the client's wrappers

#include "base/types.h"

#include <array>
#include <functional>
#include <set>
#include <vector>

namespace heaviside::nvn {
namespace {

using test::load_procs;

NVNsamplerBuilder builder_with_defaults() {
    load_procs();
    NVNsamplerBuilder builder;
    nvnSamplerBuilderSetDevice(&builder, nullptr);
    nvnSamplerBuilderSetDefaults(&builder);
    return builder;
}

// The cache key of a real client: CRC-16 over bytes 8 to 0x5F (OBJ-007).
u16 crc(const NVNsampler& sampler) {
    u16 value = 0;
    std::array<u8, sizeof sampler> bytes;
    std::memcpy(bytes.data(), &sampler, sizeof sampler);
    for (std::size_t i = 8; i < bytes.size(); ++i) {
        value = static_cast<u16>(value ^ bytes[i]);
        for (int bit = 0; bit < 8; ++bit)
            value = static_cast<u16>(value & 1 ? (value >> 1) ^ 0xA001 : value >> 1);
    }
    return value;
}

const std::vector<std::function<void(NVNsamplerBuilder*)>>& single_changes() {
    static const float grey[4] = {0.5f, 0.5f, 0.5f, 0.5f};
    static const std::vector<std::function<void(NVNsamplerBuilder*)>> changes = {
        [](NVNsamplerBuilder* b) {
            nvnSamplerBuilderSetMinMagFilter(b, NVN_MIN_FILTER_LINEAR, NVN_MAG_FILTER_NEAREST);
        },
        [](NVNsamplerBuilder* b) {
            nvnSamplerBuilderSetMinMagFilter(b, NVN_MIN_FILTER_NEAREST, NVN_MAG_FILTER_LINEAR);
        },
        [](NVNsamplerBuilder* b) {
            nvnSamplerBuilderSetWrapMode(b, NVN_WRAP_MODE_CLAMP_TO_EDGE, NVN_WRAP_MODE_CLAMP, NVN_WRAP_MODE_CLAMP);
        },
        [](NVNsamplerBuilder* b) {
            nvnSamplerBuilderSetWrapMode(b, NVN_WRAP_MODE_CLAMP, NVN_WRAP_MODE_REPEAT, NVN_WRAP_MODE_CLAMP);
        },
        [](NVNsamplerBuilder* b) {
            nvnSamplerBuilderSetWrapMode(b, NVN_WRAP_MODE_CLAMP, NVN_WRAP_MODE_CLAMP, NVN_WRAP_MODE_MIRRORED_REPEAT);
        },
        [](NVNsamplerBuilder* b) { nvnSamplerBuilderSetLodClamp(b, 1.5f, 1000); },
        [](NVNsamplerBuilder* b) { nvnSamplerBuilderSetLodClamp(b, -1000, 7.25f); },
        [](NVNsamplerBuilder* b) { nvnSamplerBuilderSetLodBias(b, -0.5f); },
        [](NVNsamplerBuilder* b) { nvnSamplerBuilderSetLodSnap(b, 0.5f); },
        [](NVNsamplerBuilder* b) { nvnSamplerBuilderSetMaxAnisotropy(b, 16); },
        [](NVNsamplerBuilder* b) {
            nvnSamplerBuilderSetCompare(b, NVN_COMPARE_MODE_COMPARE_R_TO_TEXTURE, NVN_COMPARE_FUNC_LESS);
        },
        [](NVNsamplerBuilder* b) { nvnSamplerBuilderSetCompare(b, NVN_COMPARE_MODE_NONE, NVN_COMPARE_FUNC_GEQUAL); },
        [](NVNsamplerBuilder* b) { nvnSamplerBuilderSetReductionFilter(b, NVN_SAMPLER_REDUCTION_MAX); },
        [](NVNsamplerBuilder* b) { nvnSamplerBuilderSetBorderColor(b, grey); },
    };
    return changes;
}

TEST(Sampler, EveryFieldChangesTheHashedBytes) { // OBJ-007, OBJ-224
    std::vector<NVNsampler> samplers;
    NVNsampler sampler;
    std::memset(&sampler, 0, sizeof sampler);
    NVNsamplerBuilder plain = builder_with_defaults();
    ASSERT_TRUE(nvnSamplerInitialize(&sampler, &plain));
    samplers.push_back(sampler);
    for (const auto& change : single_changes()) {
        NVNsamplerBuilder builder = builder_with_defaults();
        change(&builder);
        ASSERT_TRUE(nvnSamplerInitialize(&sampler, &builder));
        samplers.push_back(sampler);
    }
    std::set<u16> keys;
    for (std::size_t i = 0; i < samplers.size(); ++i) {
        keys.insert(crc(samplers[i]));
        for (std::size_t j = 0; j < samplers.size(); ++j)
            EXPECT_EQ(nvnSamplerCompare(&samplers[i], &samplers[j]), i == j) << i << ' ' << j;
    }
    EXPECT_EQ(keys.size(), samplers.size());
}

TEST(Sampler, BytesDependOnStateAlone) { // OBJ-008
    std::vector<NVNsampler> samplers;
    for (const int fill : {0x00, 0xAA, 0xFF}) {
        NVNsamplerBuilder builder;
        std::memset(&builder, fill, sizeof builder);
        nvnSamplerBuilderSetDefaults(&builder);
        nvnSamplerBuilderSetLodClamp(&builder, 0, 12);
        NVNsampler sampler;
        std::memset(&sampler, fill, sizeof sampler);
        load_procs();
        ASSERT_TRUE(nvnSamplerInitialize(&sampler, &builder));
        const auto* bytes = reinterpret_cast<const u8*>(&sampler);
        for (std::size_t i = 0x30; i < 0x60; ++i)
            EXPECT_EQ(bytes[i], fill) << i; // the application's own
        samplers.push_back(sampler);
    }
    EXPECT_EQ(std::memcmp(&samplers[0], &samplers[1], 0x30), 0);
    EXPECT_EQ(std::memcmp(&samplers[0], &samplers[2], 0x30), 0);
}

TEST(Sampler, LodClampReadsBack) { // OBJ-244
    NVNsamplerBuilder builder = builder_with_defaults();
    float low = 0, high = 0;
    nvnSamplerBuilderGetLodClamp(&builder, &low, &high);
    EXPECT_EQ(low, -1000.0f);
    EXPECT_EQ(high, 1000.0f);
    nvnSamplerBuilderSetLodClamp(&builder, 1.5f, 7.25f);
    NVNsampler sampler;
    ASSERT_TRUE(nvnSamplerInitialize(&sampler, &builder));
    const NVNsampler copy = sampler; // by value
    nvnSamplerGetLodClamp(&copy, &low, &high);
    EXPECT_EQ(low, 1.5f);
    EXPECT_EQ(high, 7.25f);
}

TEST(Sampler, AllFieldsReachTheSampler) {
    NVNsamplerBuilder builder = builder_with_defaults();
    nvnSamplerBuilderSetMinMagFilter(&builder, NVN_MIN_FILTER_LINEAR_MIPMAP_LINEAR, NVN_MAG_FILTER_LINEAR);
    nvnSamplerBuilderSetWrapMode(&builder, NVN_WRAP_MODE_CLAMP_TO_EDGE, NVN_WRAP_MODE_MIRROR_CLAMP_TO_BORDER,
                                 NVN_WRAP_MODE_REPEAT);
    nvnSamplerBuilderSetLodBias(&builder, 2.5f);
    nvnSamplerBuilderSetMaxAnisotropy(&builder, 8);
    nvnSamplerBuilderSetCompare(&builder, NVN_COMPARE_MODE_COMPARE_R_TO_TEXTURE, NVN_COMPARE_FUNC_ALWAYS);
    nvnSamplerBuilderSetReductionFilter(&builder, NVN_SAMPLER_REDUCTION_MIN);
    NVNsampler sampler;
    ASSERT_TRUE(nvnSamplerInitialize(&sampler, &builder));
    NVNminFilter min;
    NVNmagFilter mag;
    NVNwrapMode s, t, r;
    NVNcompareMode mode;
    NVNcompareFunc func;
    nvnSamplerGetMinMagFilter(&sampler, &min, &mag);
    nvnSamplerGetWrapMode(&sampler, &s, &t, &r);
    nvnSamplerGetCompare(&sampler, &mode, &func);
    EXPECT_EQ(min, NVN_MIN_FILTER_LINEAR_MIPMAP_LINEAR);
    EXPECT_EQ(mag, NVN_MAG_FILTER_LINEAR);
    EXPECT_EQ(s, NVN_WRAP_MODE_CLAMP_TO_EDGE);
    EXPECT_EQ(t, NVN_WRAP_MODE_MIRROR_CLAMP_TO_BORDER);
    EXPECT_EQ(r, NVN_WRAP_MODE_REPEAT);
    EXPECT_EQ(mode, NVN_COMPARE_MODE_COMPARE_R_TO_TEXTURE);
    EXPECT_EQ(func, NVN_COMPARE_FUNC_ALWAYS);
    EXPECT_EQ(nvnSamplerGetLodBias(&sampler), 2.5f);
    EXPECT_EQ(nvnSamplerGetMaxAnisotropy(&sampler), 8.0f);
    EXPECT_EQ(nvnSamplerGetReductionFilter(&sampler), NVN_SAMPLER_REDUCTION_MIN);
}

TEST(Sampler, IntegerBordersAreNumbers) { // OBJ-219
    NVNsamplerBuilder builder = builder_with_defaults();
    const int signed_color[4] = {0, -3, 1, 1};
    nvnSamplerBuilderSetBorderColori(&builder, signed_color);
    float numbers[4];
    int integers[4];
    nvnSamplerBuilderGetBorderColor(&builder, numbers);
    nvnSamplerBuilderGetBorderColori(&builder, integers);
    EXPECT_EQ(numbers[1], -3.0f);
    EXPECT_EQ(numbers[3], 1.0f);
    EXPECT_EQ(integers[1], -3);
    const uint32_t unsigned_color[4] = {1, 1, 1, 0xFFFFFFFF};
    nvnSamplerBuilderSetBorderColorui(&builder, unsigned_color);
    NVNsampler sampler;
    ASSERT_TRUE(nvnSamplerInitialize(&sampler, &builder));
    uint32_t words[4];
    nvnSamplerGetBorderColorui(&sampler, words);
    nvnSamplerGetBorderColor(&sampler, numbers);
    EXPECT_EQ(words[3], 0xFFFFFFFFu);
    EXPECT_EQ(numbers[0], 1.0f);
}

} // namespace
} // namespace heaviside::nvn
