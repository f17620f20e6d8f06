// Programs out of their two blobs. Expected values: the ledger's field offsets (rows named at each test) and the
// corpus's own files, which hold the code separately.
#include "program/program.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <random>
#include <regex>
#include <vector>

namespace heaviside::program {
namespace {

// A blob built word by word at named offsets.
class Blob {
public:
    explicit Blob(std::size_t size) : bytes_(size) {}
    Blob& word(u32 offset, u32 value) {
        bytes_.resize(std::max(bytes_.size(), offset + sizeof value));
        std::memcpy(bytes_.data() + offset, &value, sizeof value);
        return *this;
    }
    [[nodiscard]] Bytes bytes() const { return bytes_; }

private:
    std::vector<std::byte> bytes_;
};

Blob vendor_control(u32 constants_at, u32 area_bytes, u32 stage) {
    return Blob(0x880)
        .word(0, 0x98761234)
        .word(0x20, 0x880)
        .word(0x700, constants_at)
        .word(0x704, area_bytes)
        .word(0x714, stage);
}

Blob graphics_area(std::size_t size, u32 sph_word_0) {
    return Blob(size).word(0, 0x12345678).word(0x30, sph_word_0);
}

TEST(Program, GraphicsAreaHoldsHeaderCodeAndConstants) { // SHD-075, SHD-076, SHD-077
    const Blob control = vendor_control(0x100, 0x180, 0);
    const Blob area = graphics_area(0x400, 0x61461 & ~0x1000u).word(0x80, 0xabcd).word(0x100, 0x1111);
    const auto program = parse(control.bytes(), area.bytes());
    ASSERT_TRUE(program) << program.error().message;
    EXPECT_EQ(program->stage, Stage::Vertex);
    EXPECT_EQ(program->header.data(), area.bytes().data() + 0x30);
    EXPECT_EQ(program->header.size(), 0x50u);
    EXPECT_EQ(program->code.data(), area.bytes().data() + 0x80);
    EXPECT_EQ(program->code.size(), 0x80u);
    EXPECT_EQ(program->constants.data(), area.bytes().data() + 0x100);
    EXPECT_EQ(program->constants.size(), 0x80u);
    EXPECT_EQ(program->layout, &vendor_layout);
}

TEST(Program, StageComesFromTheHeader) { // SHD-056: NVN order against hardware order
    const std::map<u32, Stage> stages = {{0x60461, Stage::Vertex},   {0x60861, Stage::TessControl},
                                         {0x60c61, Stage::TessEval}, {0x61061, Stage::Geometry},
                                         {0x61462, Stage::Fragment}, {0x60061, Stage::Vertex}};
    for (const auto& [word, stage] : stages) {
        const auto program = parse(vendor_control(0x100, 0x100, 0).bytes(), graphics_area(0x100, word).bytes());
        ASSERT_TRUE(program) << program.error().message;
        EXPECT_EQ(program->stage, stage) << std::hex << word;
    }
}

TEST(Program, ComputeCodeWithItsHeaderStartsAt0x100) { // SHD-075, SHD-076
    Blob control = vendor_control(0x140, 0x160, 5);
    control.word(0x748, 8).word(0x74c, 4).word(0x750, 2).word(0x754, 0x400);
    Blob area(0x200);
    area.word(0, 0x12345679).word(0x100, 0x1f);
    const auto program = parse(control.bytes(), area.bytes());
    ASSERT_TRUE(program) << program.error().message;
    EXPECT_EQ(program->stage, Stage::Compute);
    EXPECT_EQ(program->code.data(), area.bytes().data() + 0x100);
    EXPECT_EQ(program->code.size(), 0x40u);
    EXPECT_EQ(program->workgroup_size, (std::array<u32, 3>{8, 4, 2}));
    EXPECT_EQ(program->shared_bytes, 0x400u);
    area.word(0x80, 1); // SHD-082: padding that is not zero is refused
    const auto refused = parse(control.bytes(), area.bytes());
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().message.find("0x80"), std::string::npos) << refused.error().message;
}

TEST(Program, HeaderlessComputeCodeStartsAtZero) { // SHD-081
    Blob control = vendor_control(0x40, 0x60, 5);
    control.word(0x748, 64).word(0x74c, 1).word(0x750, 1);
    const Blob area = Blob(0x60).word(0, 0x7e0).word(8, 0x10);
    const auto program = parse(control.bytes(), area.bytes());
    ASSERT_TRUE(program) << program.error().message;
    EXPECT_EQ(program->code.data(), area.bytes().data());
    EXPECT_EQ(program->code.size(), 0x40u);
    EXPECT_EQ(program->constants.size(), 0x20u);
}

TEST(Program, VertexInTwoParts) { // SHD-085, SHD-086
    Blob control = vendor_control(0x200, 0x400, 0);
    control.word(0x748, 0x30).word(0x74c, 0x90).word(0x754, 0x230).word(0x758, 0x90);
    Blob area = graphics_area(0x400, 0x60061);
    area.word(0x30 + 4, 0x40).word(0x30 + 4 * 6, 0xf); // A: local memory, reads location 0
    area.word(0x230, 0x60461).word(0x230 + 4 * 6, 0xf0).word(0x280, 0xb0b);
    const auto program = parse(control.bytes(), area.bytes());
    ASSERT_TRUE(program) << program.error().message;
    EXPECT_EQ(program->stage, Stage::Vertex);
    EXPECT_EQ(program->code.data(), area.bytes().data() + 0x80);
    EXPECT_EQ(program->code.size(), 0x180u);
    EXPECT_EQ(program->second_code.data(), area.bytes().data() + 0x280);
    EXPECT_EQ(program->second_code.size(), 0x40u);
    EXPECT_EQ(program->constants.data(), area.bytes().data() + 0x2c0);
    ASSERT_TRUE(program->sph);
    EXPECT_EQ(program->sph->type, maxwell::ShaderType::Vertex);
    EXPECT_EQ(program->local_bytes, 0x40u);
    EXPECT_TRUE(program->sph->inputs.has(0x80) && program->sph->inputs.has(0x90));
}

TEST(Program, FirstVertexPartAloneIsAVertexProgram) { // SHD-085: no part B listed
    const auto program = parse(vendor_control(0x100, 0x200, 0).bytes(), graphics_area(0x200, 0x60061).bytes());
    ASSERT_TRUE(program) << program.error().message;
    EXPECT_EQ(program->stage, Stage::Vertex);
    EXPECT_TRUE(program->second_code.empty());
}

TEST(Program, ControlBytesBeyondItsLengthAreNotPartOfTheIdentity) { // SHD-078
    Blob control = vendor_control(0x100, 0x100, 0);
    control.word(0x20, 0x850);
    const Blob area = graphics_area(0x100, 0x60461);
    const auto before = identity(*parse(control.bytes(), area.bytes()));
    control.word(0x850, 0xdead);
    EXPECT_EQ(identity(*parse(control.bytes(), area.bytes())), before);
    control.word(0x7d0, 7); // SHD-050: a value of the program itself
    EXPECT_NE(identity(*parse(control.bytes(), area.bytes())), before);

    const auto odd = [&](u32 length, u32 changed) { // whether a change there changes the identity
        Blob section = vendor_control(0x100, 0x100, 0);
        section.word(0x20, length).word(0xa0c, 0);
        const auto unchanged = identity(*parse(section.bytes(), area.bytes()));
        section.word(changed, 0xdead);
        return identity(*parse(section.bytes(), area.bytes())) != unchanged;
    };
    EXPECT_TRUE(odd(0x848, 0x844));
    EXPECT_FALSE(odd(0x848, 0x848));
    EXPECT_TRUE(odd(0xa10, 0x87c)) << "0x880 bytes at most";
    EXPECT_FALSE(odd(0xa10, 0x880));
}

TEST(Program, IdentityIsContentNotAddress) { // GFX-007
    const Blob control = vendor_control(0x100, 0x100, 0);
    Blob first = graphics_area(0x100, 0x60461);
    const Blob second = first;
    EXPECT_EQ(identity(*parse(control.bytes(), first.bytes())), identity(*parse(control.bytes(), second.bytes())));
    first.word(0x90, 1);
    EXPECT_NE(identity(*parse(control.bytes(), first.bytes())), identity(*parse(control.bytes(), second.bytes())));
}

TEST(Program, EveryStagesFields) { // GFX-004, GFX-130: length, constants, code, stage, group size
    const u32 sph_words[] = {0x60461, 0x61462, 0x61061, 0x60861, 0x60c61};
    for (u32 stage = 0; stage < stage_count; ++stage) {
        Blob control = vendor_control(0x1c0, 0x1f0, stage);
        control.word(0x20, 0x850).word(0x6fc, 0x30).word(0x70c, 24);
        control.word(0x748, 16).word(0x74c, 8).word(0x750, 4).word(0x754, 0);
        if (stage != 5)
            control.word(0x748, 0).word(0x74c, 0).word(0x750, 0);
        const Blob area = stage == 5 ? Blob(0x200).word(0, 0x12345679).word(0x100, 0x1f).word(0x1c0, 77)
                                     : graphics_area(0x200, sph_words[stage]).word(0x1c0, 77);
        EXPECT_EQ(*control_section_size(control.bytes()), 0x850u);
        EXPECT_EQ(*gpu_area_size(control.bytes()), 0x1f0u);
        const auto program = parse(control.bytes(), area.bytes());
        ASSERT_TRUE(program) << stage << program.error().message;
        EXPECT_EQ(static_cast<u32>(program->stage), stage);
        EXPECT_EQ(program->control.size(), 0x850u);
        EXPECT_EQ(program->code.data() + program->code.size(), area.bytes().data() + 0x1c0) << stage;
        EXPECT_EQ(program->constants.data(), area.bytes().data() + 0x1c0);
        EXPECT_EQ(program->constants.size(), 0x30u);
        EXPECT_EQ(program->register_count, 24u);
        EXPECT_EQ(program->workgroup_size, stage == 5 ? (std::array<u32, 3>{16, 8, 4}) : (std::array<u32, 3>{1, 1, 1}));
    }
}

TEST(Program, SectionsOfEveryLengthThatIsSeen) { // GFX-146
    for (const u32 length : {0x7d0u, 0x7d1u, 0x848u, 0x850u, 0x880u, 0x11d0u}) {
        Blob control = vendor_control(0x100, 0x100, 0);
        control.word(0x20, length).word(length, 0);
        EXPECT_EQ(*control_section_size(control.bytes()), length);
        const Blob area = graphics_area(0x100, 0x60461);
        const auto program = parse(control.bytes(), area.bytes());
        ASSERT_TRUE(program) << program.error().message;
        EXPECT_EQ(program->control.size(), std::min(length, 0x880u));
    }
    // +0x718 is another state in fragment programs, and tessellation parameters in evaluation programs only.
    for (const auto& [sph, word] : {std::pair(0x61462u, 0x10000u), {0x61462u, 0x202u}, {0x60461u, 0x202u}}) {
        const auto program =
            parse(vendor_control(0x100, 0x100, 0).word(0x718, word).bytes(), graphics_area(0x100, sph).bytes());
        ASSERT_TRUE(program) << program.error().message;
        EXPECT_EQ(program->tessellation, Tessellation{}) << std::hex << sph;
    }
    const auto evaluation =
        parse(vendor_control(0x100, 0x100, 0).word(0x718, 0x202).bytes(), graphics_area(0x100, 0x60c61).bytes());
    ASSERT_TRUE(evaluation);
    EXPECT_EQ(evaluation->tessellation.domain, TessDomain::Quads);
    // Assembly text in bytes that are zero otherwise is no transform feedback layout.
    Blob text = vendor_control(0x100, 0x100, 0);
    for (u32 at = 0x34; at < 0x58; at += 4)
        text.word(at, 0x21212121 + at);
    const auto program = parse(text.bytes(), graphics_area(0x100, 0x60461).bytes());
    ASSERT_TRUE(program);
    EXPECT_FALSE(program->feedback);
}

TEST(Program, ErrorsNameTheField) {
    const Blob area = graphics_area(0x100, 0x60461);
    const auto message = [&](const Blob& control, Bytes gpu_area) {
        const auto program = parse(control.bytes(), gpu_area);
        return program ? std::string{} : program.error().message;
    };
    EXPECT_NE(message(Blob(0x880), area.bytes()).find("magic"), std::string::npos);
    EXPECT_NE(message(vendor_control(0x300, 0x300, 0), area.bytes()).find("code at [0x80, 0x300)"), std::string::npos);
    EXPECT_NE(message(vendor_control(0x100, 0x300, 0), area.bytes()).find("constants"), std::string::npos);
    EXPECT_NE(message(vendor_control(0x20, 0x20, 9), Blob(0x40).bytes()).find("stage 9"), std::string::npos);
    EXPECT_NE(message(vendor_control(0x20, 0x20, 5), Blob(0x40).bytes()).find("workgroup size 0"), std::string::npos);
}

TEST(Program, CodeFilesWithoutControlSection) {
    Blob dksh(0xa0); // a bare header with code behind it
    dksh.word(0, 0x61462).word(0x50, 1);
    const auto fragment = parse_code(dksh.bytes(), Stage::Fragment);
    ASSERT_TRUE(fragment) << fragment.error().message;
    EXPECT_EQ(fragment->stage, Stage::Fragment);
    EXPECT_EQ(fragment->code.size(), 0x40u);
    const auto area = parse_code(graphics_area(0xc0, 0x61061).bytes());
    ASSERT_TRUE(area) << area.error().message;
    EXPECT_EQ(area->stage, Stage::Geometry);
    const auto kernel = parse_code(Blob(0x40).word(0, 0x7e0).bytes());
    ASSERT_TRUE(kernel) << kernel.error().message;
    EXPECT_EQ(kernel->stage, Stage::Compute);
    EXPECT_EQ(kernel->code.size(), 0x40u);
    EXPECT_FALSE(parse_code(Blob(8).bytes()));
}

TEST(Program, DamagedBlobsNeverLeaveTheirRange) {
    const Blob control = vendor_control(0x100, 0x180, 0);
    const Blob area = graphics_area(0x180, 0x60461);
    std::mt19937 random(1);
    std::vector<std::byte> c(control.bytes().begin(), control.bytes().end());
    std::vector<std::byte> a(area.bytes().begin(), area.bytes().end());
    unsigned parsed = 0;
    for (int round = 0; round < 20000; ++round) {
        auto damaged_control = c;
        auto damaged_area = a;
        constexpr u32 interesting[] = {0x20, 0x6fc, 0x700, 0x704, 0x708, 0x714, 0x748, 0x754, 0x758};
        const u32 word = static_cast<u32>(random()) >> random() % 32;
        std::memcpy(damaged_control.data() + interesting[random() % std::size(interesting)], &word, 4);
        damaged_area[random() % damaged_area.size()] = static_cast<std::byte>(random());
        damaged_control.resize(random() % 4 == 0 ? random() % damaged_control.size() : damaged_control.size());
        damaged_area.resize(random() % 4 == 0 ? random() % damaged_area.size() : damaged_area.size());
        const auto program = parse(damaged_control, damaged_area);
        if (!program)
            continue;
        ++parsed;
        const Bytes all = damaged_area;
        for (const Bytes part : {program->code, program->constants, program->header}) {
            if (part.empty())
                continue;
            ASSERT_GE(part.data(), all.data());
            ASSERT_LE(part.data() + part.size(), all.data() + all.size());
        }
    }
    EXPECT_GT(parsed, 1000u);
}

std::vector<char> read_file(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

Bytes as_bytes_of(const std::vector<char>& data) {
    return std::as_bytes(std::span(data));
}

TEST(Program, CorpusProgramsParseToTheirCode) {
    const std::filesystem::path corpus = HEAVISIDE_SOURCE_DIR "/../shared/corpus/glsl/dev";
    if (!std::filesystem::exists(corpus))
        GTEST_SKIP() << "no corpus at " << corpus;
    const std::map<std::string, Stage> stages = {{"vert", Stage::Vertex},   {"frag", Stage::Fragment},
                                                 {"geom", Stage::Geometry}, {"tesc", Stage::TessControl},
                                                 {"tese", Stage::TessEval}, {"comp", Stage::Compute}};
    unsigned programs = 0;
    for (const auto& entry : std::filesystem::directory_iterator(corpus))
        for (const auto& named : stages) {
            const std::string& stage_name = named.first;
            const Stage stage = named.second;
            const auto file = [&](const char* suffix) { return entry.path() / (stage_name + suffix); };
            if (!std::filesystem::exists(file(".ctrl.bin")))
                continue;
            ++programs;
            const auto control = read_file(file(".ctrl.bin"));
            const auto area = read_file(file(".gpu.bin"));
            const auto code = read_file(file(".code.bin"));
            const auto program = parse(as_bytes_of(control), as_bytes_of(area));
            ASSERT_TRUE(program) << file("") << ": " << program.error().message;
            EXPECT_EQ(program->stage, stage) << file("");
            EXPECT_EQ(program->layout, &open_compiler_layout) << file("");
            ASSERT_EQ(program->code.size(), code.size()) << file("");
            EXPECT_TRUE(std::ranges::equal(program->code, as_bytes_of(code))) << file("");
            EXPECT_EQ(*gpu_area_size(as_bytes_of(control)), area.size()) << file("");
            if (stage != Stage::Compute)
                continue;
            const auto glsl = read_file(file(".glsl"));
            const std::string text(glsl.begin(), glsl.end());
            for (u32 axis = 0; axis < 3; ++axis) {
                std::smatch match;
                const std::regex local_size(std::string("local_size_") + "xyz"[axis] + R"(\s*=\s*(\d+))");
                const u32 expected =
                    std::regex_search(text, match, local_size) ? static_cast<u32>(std::stoul(match[1])) : 1;
                EXPECT_EQ(program->workgroup_size[axis], expected) << file("") << " axis " << axis;
            }
        }
    EXPECT_EQ(programs, 182u);
}

} // namespace
} // namespace heaviside::program
