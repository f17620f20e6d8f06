// Every stage of every case of the GLSL corpus translates to a module that the validator accepts.
#include "program/program.h"
#include "shader/cross.h"
#include "shader/interface.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>

namespace heaviside::shader {
namespace {

namespace fs = std::filesystem;

std::vector<std::byte> read_file(const fs::path& path) {
    std::ifstream in(path, std::ios::binary);
    const std::vector<char> bytes((std::istreambuf_iterator<char>(in)), {});
    std::vector<std::byte> result(bytes.size());
    std::transform(bytes.begin(), bytes.end(), result.begin(), [](char c) { return static_cast<std::byte>(c); });
    return result;
}

NumericClass class_of(const std::string& format) {
    if (format.ends_with("UI"))
        return NumericClass::Uint;
    return format.ends_with("I") ? NumericClass::Sint : NumericClass::Float;
}

// The parts of the draw state that a case states.
VariantKey key_of(const nlohmann::json& description) {
    VariantKey key;
    if (!description.contains("draw"))
        return key;
    const nlohmann::json& draw = description["draw"];
    const std::string topology = draw.value("topology", "triangles");
    key.points = topology == "points";
    key.geometry_input_vertices = topology == "points"                ? 1
                                  : topology == "lines"               ? 2
                                  : topology == "lines_adjacency"     ? 4
                                  : topology == "triangles_adjacency" ? 6
                                                                      : 3;
    for (const auto& attribute : draw.value("attributes", nlohmann::json::array()))
        key.vertex_inputs.at(attribute["location"].get<unsigned>()) = class_of(attribute["format"]);
    for (const auto& target : draw.value("targets", nlohmann::json::array()))
        key.fragment_outputs.at(target["location"].get<unsigned>()) = class_of(target["format"]);
    return key;
}

TEST(CorpusTranslation, EveryStageValidates) {
    const fs::path root = fs::path(HEAVISIDE_SOURCE_DIR) / "../shared/corpus/glsl/dev";
    if (!fs::exists(root))
        GTEST_SKIP() << "no shader corpus at " << root;
    Options options;
    options.validate = true;
    unsigned stages = 0, translated = 0;
    std::chrono::steady_clock::duration spent{};
    std::vector<fs::path> cases;
    for (const auto& entry : fs::directory_iterator(root))
        cases.push_back(entry.path());
    std::sort(cases.begin(), cases.end());
    for (const fs::path& directory : cases) {
        const auto description = nlohmann::json::parse(std::ifstream(directory / "case.json"));
        const VariantKey key = key_of(description);
        for (const auto& [name, files] : description["stages"].items()) {
            ++stages;
            const auto control = read_file(directory / files["control"].get<std::string>());
            const auto gpu = read_file(directory / files["gpu"].get<std::string>());
            auto program = program::parse(control, gpu);
            ASSERT_TRUE(program) << directory.filename() << ' ' << name << ": " << program.error().message;
            program->layout = &program::open_compiler_layout;
            const auto start = std::chrono::steady_clock::now();
            (void)translate(*program, key, {});
            spent += std::chrono::steady_clock::now() - start;
            for (u32 subgroup : {32u, 8u}) {
                options.subgroup_size = subgroup;
                const auto result = translate(*program, key, options);
                if (!result) {
                    ADD_FAILURE() << directory.filename().string() << ' ' << name << ": " << result.error().message;
                    break;
                }
                translated += subgroup == 32;
                if (subgroup != 32)
                    continue;
                const bool metal = program->stage == program::Stage::Vertex ||
                                   program->stage == program::Stage::Fragment ||
                                   program->stage == program::Stage::Compute;
                const auto text = metal ? to_msl(result->spirv) : to_glsl(result->spirv); // SHD-087
                // SPIRV-Cross has no way of its own to change memory behind an address atomically in Metal.
                EXPECT_TRUE(text || (metal && text.error().message.find("atomic operation") != std::string::npos))
                    << directory.filename().string() << ' ' << name << ": " << (text ? "" : text.error().message);
            }
        }
    }
    EXPECT_GT(stages, 100u); // GFX-001: in this process
#ifdef NDEBUG
    EXPECT_LT(spent / stages, std::chrono::milliseconds(5)) << "a program, on average";
#endif
    RecordProperty("stages", static_cast<int>(stages));
    RecordProperty("translated", static_cast<int>(translated));
    std::printf("corpus: %u of %u stages translate and validate\n", translated, stages);
}

} // namespace
} // namespace heaviside::shader
