// Programs of the corpora with bytes flipped: translation ends soon and gives a module that the validator accepts, or
// an error of our own. Fixed seeds; the fuzz targets look further.
#include "shader/interface.h"
#include "tests/isa/kernel_case.h"

#include <gtest/gtest.h>

#include <chrono>
#include <random>

namespace heaviside::shader::test {
namespace {

namespace fs = std::filesystem;
using heaviside::test::Blob;

// Programs are views: the blobs are kept with them.
struct Victim {
    std::string name;
    Blob control, gpu; // a kernel: only gpu
    bool kernel = false;
    std::array<u32, 3> block{1, 1, 1};
};

std::vector<Victim> victims() {
    std::vector<Victim> all;
    const fs::path glsl = HEAVISIDE_SOURCE_DIR "/../shared/corpus/glsl/dev";
    if (fs::exists(glsl))
        for (const auto& folder : fs::directory_iterator(glsl)) {
            std::ifstream in(folder.path() / "case.json");
            const auto description = nlohmann::json::parse(in);
            for (const auto& [stage, files] : description["stages"].items())
                all.push_back({folder.path().filename().string() + " " + stage,
                               heaviside::test::read_file(folder.path() / files["control"].get<std::string>()),
                               heaviside::test::read_file(folder.path() / files["gpu"].get<std::string>())});
        }
    for (const auto& variant : heaviside::test::list_kernels()) {
        auto kernel = heaviside::test::load_kernel(variant.folder, variant.description, variant.variant);
        all.push_back({variant.name(), {}, std::move(kernel.code), true, kernel.block});
    }
    std::sort(all.begin(), all.end(), [](const Victim& a, const Victim& b) { return a.name < b.name; });
    return all;
}

Result<Translation> translate_victim(const Victim& victim) {
    Options options;
    options.validate = true;
    options.subgroup_size = 8;
    if (!victim.kernel) {
        const auto program = program::parse(victim.control, victim.gpu);
        if (!program)
            return tl::unexpected(program.error());
        return translate(*program, {}, options);
    }
    program::Program program;
    program.stage = program::Stage::Compute;
    program.code = victim.gpu;
    program.workgroup_size = victim.block;
    program.layout = &program::kernel_layout;
    return translate(program, {}, options);
}

TEST(Mutation, GivesAValidModuleOrANamedError) {
    const std::vector<Victim> all = victims();
    if (all.empty())
        GTEST_SKIP() << "no corpus on this machine";
    const char* more = std::getenv("HEAVISIDE_MUTATIONS"); // rounds; default 9
    const unsigned rounds = more ? static_cast<unsigned>(std::atoi(more)) : 9;
    constexpr auto longest = std::chrono::seconds(20); // of one translation, on a busy machine and without optimisation
    unsigned translated = 0, refused = 0;
    for (unsigned round = 0; round < rounds; ++round)
        for (std::size_t i = 0; i < all.size(); ++i) {
            std::mt19937 random(static_cast<u32>(round * 1000 + i));
            Victim victim = all[i];
            const unsigned flips = 1 + random() % 4;
            for (unsigned k = 0; k < flips; ++k) {
                const bool header = !victim.kernel && random() % 8 == 0;
                Blob& target = header ? victim.control : victim.gpu;
                target[random() % target.size()] ^= std::byte{static_cast<unsigned char>(1u << random() % 8)};
            }
            const auto start = std::chrono::steady_clock::now();
            const auto result = translate_victim(victim);
            EXPECT_LT(std::chrono::steady_clock::now() - start, longest) << victim.name << " round " << round;
            if (result) {
                ++translated;
                continue;
            }
            ++refused;
            EXPECT_NE(result.error().message, "") << victim.name;
            EXPECT_EQ(result.error().message.find("spirv-val"), std::string::npos)
                << victim.name << " round " << round << ": " << result.error().message;
        }
    EXPECT_GT(translated, 0u);
    EXPECT_GT(refused, 0u) << "no flip made a program that must be refused";
}

} // namespace
} // namespace heaviside::shader::test
