// GLSLC outputs, built here from the offsets of ledger rows SHD-015, SHD-020 and SHD-084 around assembled programs.
#include "archive/glslc.h"
#include "maxwell/assembler.h"
#include "program/build.h"

#include <gtest/gtest.h>

#include <algorithm>

using namespace heaviside;
using namespace heaviside::archive;
using program::Stage;

namespace {

template <class T>
void put(std::vector<std::byte>& file, u64 at, T value) {
    std::memcpy(&file[at], &value, sizeof(value));
}

program::Blobs blobs(Stage stage) {
    const auto assembled =
        maxwell::assemble(stage == Stage::Vertex ? ".stage vertex\nALD.128 R0, a[0x80]\nAST.128 a[0x70], R0\nEXIT\n"
                                                 : ".stage fragment\nMOV32I R0, 0x3f800000\nEXIT\n");
    EXPECT_TRUE(assembled) << assembled.error().message;
    program::BuildInput input;
    input.stage = stage;
    input.sph = assembled->header;
    input.code = assembled->code;
    input.register_count = assembled->registers;
    return program::build(input).value();
}

void append(std::vector<std::byte>& file, Bytes bytes) {
    file.insert(file.end(), bytes.begin(), bytes.end());
}

// A section for each stage, then one of another type (reflection); `gap` bytes lie between control and code.
std::vector<std::byte> with_sections(const std::vector<program::Blobs>& stages, u32 gap) {
    std::vector<std::byte> file(0x90 + 0x90 * (stages.size() + 1));
    put<u32>(file, 0, 0x19866891);
    put<u32>(file, 0x4c, static_cast<u32>(stages.size() + 1));
    for (std::size_t i = 0; i < stages.size(); ++i) {
        const u64 header = 0x90 + 0x90 * i;
        const auto control = static_cast<u32>(stages[i].control.size()), code = static_cast<u32>(stages[i].gpu.size());
        put<u32>(file, header, gap + control + gap + code);
        put<u32>(file, header + 4, static_cast<u32>(file.size()));
        put<u32>(file, header + 8, 0);
        put<u32>(file, header + 0x30, gap);
        put<u32>(file, header + 0x34, gap + control + gap);
        put<u32>(file, header + 0x38, code);
        put<u32>(file, header + 0x3c, control);
        file.resize(file.size() + gap);
        append(file, stages[i].control);
        file.resize(file.size() + gap);
        append(file, stages[i].gpu);
    }
    put<u32>(file, 0x90 + 0x90 * stages.size() + 8, 3);
    put<u32>(file, 0x44, static_cast<u32>(file.size()));
    return file;
}

bool same(Bytes a, const std::vector<std::byte>& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
}

TEST(Glslc, SectionHeadersLocateTheStages) {
    const auto fragment = blobs(Stage::Fragment), vertex = blobs(Stage::Vertex);
    auto file = with_sections({fragment, vertex}, 0x40);
    file.resize(file.size() + 0x123); // it may go on behind the output
    const auto stages = parse_glslc(file);
    ASSERT_TRUE(stages) << stages.error().message;
    ASSERT_EQ(stages->size(), 2u);
    EXPECT_EQ(stages->at(0).stage, Stage::Fragment);
    EXPECT_TRUE(same(stages->at(0).control, fragment.control));
    EXPECT_TRUE(same(stages->at(0).code, fragment.gpu));
    EXPECT_EQ(stages->at(1).stage, Stage::Vertex);
    EXPECT_TRUE(same(stages->at(1).control, vertex.control));
    EXPECT_TRUE(same(stages->at(1).code, vertex.gpu));
}

TEST(Glslc, ASingleStageIsFoundWithoutHeaders) {
    for (const Stage stage : {Stage::Vertex, Stage::Fragment}) {
        const auto program = blobs(stage);
        std::vector<std::byte> file(0x200);
        put<u32>(file, 0, 0x19866891);
        put<u32>(file, 0x100, 0x98761234); // a control section's magic with nothing behind it
        append(file, program.control);
        append(file, program.gpu);
        file.resize(file.size() + 0x80); // the debug section
        put<u32>(file, 0x44, static_cast<u32>(file.size()));
        const auto stages = parse_glslc(file);
        ASSERT_TRUE(stages) << stages.error().message;
        ASSERT_EQ(stages->size(), 1u);
        EXPECT_EQ(stages->front().stage, stage);
        EXPECT_EQ(stages->front().control.data(), file.data() + 0x200);
        EXPECT_EQ(stages->front().control.size(), program.control.size());
        EXPECT_EQ(stages->front().code.data(), file.data() + 0x200 + program.control.size());
    }
}

TEST(Glslc, EveryTruncationIsAnError) {
    const auto file = with_sections({blobs(Stage::Vertex)}, 0);
    for (std::size_t size = 0; size < file.size(); ++size) {
        auto cut = std::vector(file.begin(), file.begin() + static_cast<std::ptrdiff_t>(size));
        EXPECT_FALSE(parse_glslc(cut)) << size; // the total size does not fit
        if (size >= 0x48) {
            put<u32>(cut, 0x44, static_cast<u32>(size));
            EXPECT_FALSE(parse_glslc(cut)) << size; // a section does not
        }
    }
}

TEST(Glslc, ErrorsNameTheSectionAndItsPlace) {
    auto file = with_sections({blobs(Stage::Vertex), blobs(Stage::Fragment)}, 0);
    // Two control sections, so that the search for a single one does not hide the error: neither has its magic.
    for (u64 i = 0; i < 2; ++i)
        put<u32>(file, *read_at<u32>(file, 0x90 + 0x90 * i + 4), 0);
    put<u32>(file, 0x90 + 0x90 + 0x34, 0x7fff0000);
    put<u32>(file, 0x90 + 8, 3); // the first is not GPU code
    const auto stages = parse_glslc(file);
    ASSERT_FALSE(stages);
    EXPECT_NE(stages.error().message.find("code of section 1 at 0x7fff"), std::string::npos) << stages.error().message;
    put<u32>(file, 0x44, 0x7fffffff);
    EXPECT_NE(parse_glslc(file).error().message.find("total size 0x7fffffff at 0x44"), std::string::npos);
}

} // namespace
