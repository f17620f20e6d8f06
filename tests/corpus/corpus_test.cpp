// Every case of the shader corpus, drawn or dispatched through public NVN entry points alone and compared with what the
// same GLSL gave natively. The corpus is not part of the project: without it there is nothing to run.
//
// pending.tsv names the cases that do not pass yet, with the reason. They run all the same: one that passes fails the
// test until its line is gone. Reasons that begin with "not run:" keep a case from running at all.
#include "tests/corpus/compare.h"
#include "tests/corpus/run.h"

#include <gtest/gtest.h>
#include <heaviside/heaviside.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <map>

namespace corpus {
namespace {

const std::filesystem::path folder = HEAVISIDE_SOURCE_DIR "/../shared/corpus/glsl/dev";

std::map<std::string, std::string> read_pending() {
    std::map<std::string, std::string> pending;
    std::ifstream file(HEAVISIDE_SOURCE_DIR "/tests/corpus/pending.tsv");
    for (std::string line; std::getline(file, line);) {
        const std::size_t tab = line.find('\t');
        if (tab != std::string::npos && line[0] != '#')
            pending[line.substr(0, tab)] = line.substr(tab + 1);
    }
    return pending;
}

std::string start_error;

class Device : public testing::Environment {
public:
    void SetUp() override { the_machine().start(start_error); }
    void TearDown() override { the_machine().stop(); }
};
const auto* const device = testing::AddGlobalTestEnvironment(new Device);

std::uint64_t guest_errors() {
    heaviside_stats stats{};
    stats.size = sizeof stats;
    return heaviside_get_stats(&stats) == HEAVISIDE_OK ? stats.errors + stats.unimplemented : 0;
}

// HEAVISIDE_CORPUS_DUMP names a folder that receives what was read back, for a look at a case that fails.
void dump(const Case& test, const Output& output, const Blob& result) {
    if (const char* target = std::getenv("HEAVISIDE_CORPUS_DUMP")) {
        std::ofstream file(std::filesystem::path(target) / (test.name + "_" + output.name), std::ios::binary);
        file.write(reinterpret_cast<const char*>(result.data()), static_cast<std::streamsize>(result.size()));
    }
}

// What is wrong with a run of the case; empty if nothing is.
std::string fault_of(const std::string& name) {
    try {
        const Case test = load_case(folder / name);
        const std::uint64_t errors_before = guest_errors();
        const std::vector<Blob> results = run_case(the_machine(), test);
        std::string faults;
        for (std::size_t i = 0; i < results.size(); ++i) {
            dump(test, test.outputs[i], results[i]);
            const std::string fault = difference(test.outputs[i], results[i], test.tolerance);
            if (!fault.empty())
                faults += (faults.empty() ? "" : "; ") + fault;
        }
        if (const std::uint64_t errors = guest_errors() - errors_before; errors != 0)
            faults += (faults.empty() ? "" : "; ") + std::to_string(errors) + " errors were reported (see the log)";
        return faults;
    } catch (const std::exception& error) {
        return error.what();
    }
}

class Glsl : public testing::TestWithParam<std::string> {};

TEST_P(Glsl, MatchesTheNativeReference) {
    ASSERT_TRUE(the_machine().running) << start_error;
    static const auto pending = read_pending();
    const auto reason = pending.find(GetParam());
    if (reason != pending.end() && reason->second.rfind("not run:", 0) == 0)
        GTEST_SKIP() << "pending: " << reason->second;
    const std::string fault = fault_of(GetParam());
    if (reason == pending.end()) {
        EXPECT_EQ(fault, "");
        return;
    }
    ASSERT_NE(fault, "") << "passes now: take it out of tests/corpus/pending.tsv";
    GTEST_SKIP() << "pending: " << reason->second;
}

INSTANTIATE_TEST_SUITE_P(Corpus, Glsl, testing::ValuesIn(list_cases(folder)),
                         [](const testing::TestParamInfo<std::string>& name) { return name.param; });
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(Glsl);

TEST(Corpus, IsThere) {
    if (list_cases(folder).empty())
        GTEST_SKIP() << "the shader corpus is not on this machine";
}

// A line of pending.tsv that names no case would hide that a case was never looked at.
TEST(Corpus, EveryPendingCaseExists) {
    const std::vector<std::string> names = list_cases(folder);
    if (names.empty())
        GTEST_SKIP() << "the shader corpus is not on this machine";
    for (const auto& [name, reason] : read_pending()) {
        EXPECT_NE(std::find(names.begin(), names.end(), name), names.end()) << name;
        EXPECT_FALSE(reason.empty()) << name;
    }
}

// The comparison itself: a test of tests, since everything above rests on it.
TEST(Comparison, FollowsTheCasesTolerance) {
    const auto floats = [](std::vector<float> values) {
        Blob blob(values.size() * sizeof(float));
        std::copy_n(reinterpret_cast<const std::uint8_t*>(values.data()), blob.size(), blob.begin());
        return blob;
    };
    const float nan = std::numeric_limits<float>::quiet_NaN(), infinity = std::numeric_limits<float>::infinity();
    Output output;
    output.element = {NVN_FORMAT_NONE, 1, 4, Format::Kind::Float};
    output.reference = floats({1, 100, nan, infinity});
    EXPECT_EQ(difference(output, floats({1.01f, 101, nan, infinity}), {0.02, 0.01, 0}), "");
    EXPECT_NE(difference(output, floats({1.05f, 100, nan, infinity}), {0.02, 0.01, 0}), "");
    EXPECT_EQ(difference(output, floats({1.05f, 100, nan, infinity}), {0.02, 0.01, 0.25}), "")
        << "one of four may fail";
    EXPECT_NE(difference(output, floats({1, 100, 0, infinity}), {1000, 0, 0}), "") << "NaN equals only NaN";
    EXPECT_NE(difference(output, floats({1, 100, nan}), {}), "") << "sizes must agree";

    output.element.kind = Format::Kind::Uint;
    output.reference = {1, 0, 0, 0};
    EXPECT_NE(difference(output, {2, 0, 0, 0}, {10, 10, 0}), "") << "integers must match";
}

} // namespace
} // namespace corpus
