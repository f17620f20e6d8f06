// Kernels that the vendor's compiler made, with inputs and known results: those in tests/data always, those of the
// shared corpus where it lies beside the checkout. docs/isa.md says where the results come from.
#include "tools/kernel_case.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

using namespace heaviside;
namespace fs = std::filesystem;

namespace {

std::vector<std::string> case_names(const fs::path& folder) {
    std::vector<std::string> names;
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(folder, error))
        if (fs::exists(entry.path() / "case.json"))
            names.push_back(entry.path().filename().string());
    std::ranges::sort(names);
    return names;
}

const fs::path own_cases = HEAVISIDE_SOURCE_DIR "/tests/data/kernels";
const fs::path corpus = HEAVISIDE_SOURCE_DIR "/../shared/corpus/ptx/dev";
constexpr u64 step_limit = u64{1} << 26;

void expect_all_variants_pass(const fs::path& folder) {
    const auto results = tools::run_case(folder, step_limit);
    ASSERT_TRUE(results) << results.error().message;
    for (const tools::VariantResult& result : *results)
        EXPECT_TRUE(result.passed) << result.variant << ": " << result.difference;
}

class OwnKernel : public testing::TestWithParam<std::string> {};
TEST_P(OwnKernel, EveryVariantGivesTheKnownResults) {
    expect_all_variants_pass(own_cases / GetParam());
}
INSTANTIATE_TEST_SUITE_P(Data, OwnKernel, testing::ValuesIn(case_names(own_cases)),
                         [](const auto& each) { return each.param; });

class CorpusKernel : public testing::TestWithParam<std::string> {};
TEST_P(CorpusKernel, EveryVariantGivesTheKnownResults) {
    expect_all_variants_pass(corpus / GetParam());
}
INSTANTIATE_TEST_SUITE_P(Dev, CorpusKernel, testing::ValuesIn(case_names(corpus)),
                         [](const auto& each) { return each.param; });
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(CorpusKernel);

TEST(Kernels, TheCorpusIsThere) {
    if (case_names(corpus).empty())
        GTEST_SKIP() << "shared/corpus/ptx/dev is not beside the checkout: its kernels were not run";
}

} // namespace
