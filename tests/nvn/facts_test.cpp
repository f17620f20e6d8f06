// The public header against the facts it was made from: every constant, every prototype, every size. docs/nvn holds our
// copy of the tables (constants.inc and prototypes.inc are generated from it); where the material lies beside the
// project, that copy is held against it line by line.
#include <nvn/nvn_cpp.h>

#include "tests/nvn/client.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

namespace heaviside::nvn {
namespace {

#define CONSTANT(type, constant, number, cpp_type, name)                                                               \
    static_assert(static_cast<long long>(constant) == (number) && sizeof(type) == 4);                                  \
    static_assert(static_cast<long long>(::nvn::cpp_type::name) == (number) && sizeof(::nvn::cpp_type) == 4);
#define SENTINEL(type, constant, number) static_assert((constant) == (number));
#include "tests/nvn/constants.inc"
#undef CONSTANT
#undef SENTINEL

std::map<std::string, long long> constants() {
    return {
#define CONSTANT(type, constant, number, cpp_type, name) {#type " " #constant, number},
#define SENTINEL(type, constant, number) {#type " " #constant, number},
#include "tests/nvn/constants.inc"
#undef CONSTANT
#undef SENTINEL
    };
}

using Row = std::vector<std::string>;
std::vector<Row> table(const std::filesystem::path& path) {
    std::ifstream file(path);
    std::vector<Row> rows;
    for (std::string line; std::getline(file, line);) {
        if (line.empty() || line[0] == '#')
            continue;
        Row row(1);
        for (const char c : line)
            c == '\t' ? void(row.emplace_back()) : row.back().push_back(c);
        rows.push_back(std::move(row));
    }
    return rows;
}

const std::filesystem::path material = HEAVISIDE_SOURCE_DIR "/../shared/nvn", own = HEAVISIDE_SOURCE_DIR "/docs/nvn";

class Facts : public testing::Test {
protected:
    void SetUp() override {
        if (!std::filesystem::exists(material))
            GTEST_SKIP() << material << " is not here";
    }
};

TEST_F(Facts, EveryConstantHasItsValue) {
    const auto ours = constants();
    std::size_t compared = 0;
    for (const Row& row : table(material / "enums.tsv")) {
        if (row.at(0) == "(macro)")
            continue;
        const auto found = ours.find(row.at(0) + " " + row.at(1));
        ASSERT_NE(found, ours.end()) << row[0] << " " << row[1];
        EXPECT_EQ(found->second, std::stoll(row.at(2), nullptr, 0)) << row[1];
        ++compared;
    }
    EXPECT_GE(compared, 650u);
}

// The types alone: parameter names are nobody's interface.
std::string types(const std::string& parameters) {
    return std::regex_replace(std::regex_replace(parameters, std::regex(R"(\s*\b\w+\s*(,|$))"), "$1"),
                              std::regex(R"(\s+(\*))"), "$1");
}

TEST_F(Facts, EveryPrototypeIsTheKnownOne) {
    std::map<std::string, Row> ours;
    for (Row& row : table(own / "functions.tsv"))
        ours.emplace(row.at(0), std::move(row));
    std::size_t compared = 0;
    for (const Row& row : table(material / "functions.tsv")) {
        const auto found = ours.find(row.at(0));
        ASSERT_NE(found, ours.end()) << row[0];
        if (row.at(1) != "?") {
            EXPECT_EQ(found->second.at(1), row.at(1)) << row[0];
        }
        if (row.at(2) != "?") {
            EXPECT_EQ(types(found->second.at(2)), types(row.at(2))) << row[0];
            ++compared;
        }
    }
    EXPECT_EQ(ours.size(), 538u);
    EXPECT_GE(compared, 515u);
}

TEST_F(Facts, EveryObjectHasItsSize) {
    std::map<std::string, std::size_t> ours = {
#define PROTOTYPE(type, result, parameters)
#define OBJECT_SIZE(name, bytes, minimum) {#name, sizeof(name)},
#define MUTATES(name, object)
#define NAME(name)
#include "tests/nvn/prototypes.inc"
#undef PROTOTYPE
#undef OBJECT_SIZE
#undef MUTATES
#undef NAME
    };
    std::size_t compared = 0;
    for (const Row& row : table(material / "objects.tsv")) {
        ASSERT_TRUE(ours.contains(row.at(0))) << row[0];
        EXPECT_EQ(ours[row[0]], std::stoul(row.at(1))) << row[0];
        ++compared;
    }
    EXPECT_EQ(compared, ours.size());
}

// Ledger GFX-182: what may lie in an object is the smaller of what the header reserves and of the smallest gap to its
// neighbour in any application.
TEST(ObjectSizes, MinimumIsTheSmallestThatAnyoneGives) {
    struct Sizes {
        std::string name;
        std::size_t reserved, minimum;
    };
    const std::vector<Sizes> generated = {
#define PROTOTYPE(type, result, parameters)
#define OBJECT_SIZE(name, bytes, minimum) {#name, bytes, minimum},
#define MUTATES(name, object)
#define NAME(name)
#include "tests/nvn/prototypes.inc"
#undef PROTOTYPE
#undef OBJECT_SIZE
#undef MUTATES
#undef NAME
    };
    const std::map<std::string, std::size_t> smaller = {
        {"NVNprogram", 0x70}, {"NVNtexture", 0x80}, {"NVNsampler", 0x30}, {"NVNtextureView", 0x10}};
    for (const Sizes& object : generated) {
        const auto found = smaller.find(object.name);
        EXPECT_EQ(object.minimum, found != smaller.end() ? found->second : object.reserved) << object.name;
    }
    const auto rows = table(own / "objects.tsv");
    ASSERT_EQ(rows.size(), generated.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
        std::istringstream gaps(rows[i].at(2));
        std::size_t minimum = std::stoul(rows[i].at(1));
        for (std::string gap; gaps >> gap;)
            minimum = std::min<std::size_t>(minimum, std::stoul(gap, nullptr, 16));
        EXPECT_EQ(generated[i].minimum, minimum) << rows[i][0];
    }
}

} // namespace
} // namespace heaviside::nvn
