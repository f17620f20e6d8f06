// DKSH files, built here by the layout that archive/dksh.h states, around assembled code.
#include "archive/dksh.h"
#include "maxwell/assembler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

using namespace heaviside;
using namespace heaviside::archive;
using program::Stage;
using testing::HasSubstr;

namespace {

template <class T>
void put(std::vector<std::byte>& file, u64 at, T value) {
    std::memcpy(&file[at], &value, sizeof(value));
}

void append(std::vector<std::byte>& file, Bytes bytes) {
    file.insert(file.end(), bytes.begin(), bytes.end());
}

struct Assembled {
    std::vector<std::byte> bytes; // with the program header of graphics stages
    std::vector<std::byte> code;
};

Assembled assembled(const char* source) {
    const auto program = maxwell::assemble(source);
    EXPECT_TRUE(program) << program.error().message;
    Assembled result;
    if (program->stage != maxwell::Stage::Compute)
        append(result.bytes, maxwell::encode_sph(program->header));
    append(result.bytes, program->code);
    result.code = program->code;
    return result;
}

constexpr u64 table = 0x20; // of program headers; the file header is 0x18 bytes, padded here
constexpr u64 control = 0x300;

// The control section with `count` empty program headers and no code yet.
std::vector<std::byte> container(u32 count) {
    std::vector<std::byte> file(control);
    std::memcpy(file.data(), "DKSH", 4);
    put<u32>(file, 0x04, 0x18);
    put<u32>(file, 0x08, control);
    put<u32>(file, 0x10, table);
    put<u32>(file, 0x14, count);
    return file;
}

// Appends to the code section; the offset there.
u32 add(std::vector<std::byte>& file, Bytes bytes, u64 alignment, u64 rest = 0) {
    while ((file.size() - control) % alignment != rest)
        file.push_back({});
    const auto at = static_cast<u32>(file.size() - control);
    append(file, bytes);
    put<u32>(file, 0x0c, static_cast<u32>(file.size() - control));
    return at;
}

bool same(Bytes a, const std::vector<std::byte>& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
}

constexpr const char* vertex_source = ".stage vertex\nALD.128 R0, a[0x80]\nAST.128 a[0x70], R0\nEXIT\n";
constexpr const char* fragment_source = ".stage fragment\n.target 0\nMOV R0, c[0x1][0x0]\nEXIT\n";
constexpr const char* compute_source = ".stage compute\nS2R R0, SR_TID.X\nBAR.SYNC 0x1\nEXIT\n";

// Constants, then a vertex, a fragment and a compute program.
std::vector<std::byte> three_programs() {
    auto file = container(3);
    const std::vector constants(8, std::byte{0x3f});
    const u32 constants_at = add(file, constants, 1);
    const u32 vertex = add(file, assembled(vertex_source).bytes, 64, 0x30);
    const u32 fragment = add(file, assembled(fragment_source).bytes, 64, 0x30);
    const u32 compute = add(file, assembled(compute_source).bytes, 64);
    put<u32>(file, table + 4, vertex);
    put<u32>(file, table + 8, 4);

    put<u32>(file, table + 64, 1);
    put<u32>(file, table + 64 + 0x04, fragment);
    put<u32>(file, table + 64 + 0x08, 5);
    put<u32>(file, table + 64 + 0x0c, constants_at);
    put<u32>(file, table + 64 + 0x10, 8);
    put<u32>(file, table + 64 + 0x14, 0x400);
    put<u8>(file, table + 64 + 0x19, 1); // early fragment tests

    put<u32>(file, table + 128, 5);
    put<u32>(file, table + 128 + 0x04, compute);
    put<u32>(file, table + 128 + 0x08, 6);
    const std::array<u32, 8> fields{8, 4, 2, 0x100, 0x20, 0x10, 0x200, 3};
    put(file, table + 128 + 0x18, fields);
    return file;
}

std::string error_of(const std::vector<std::byte>& file) {
    const auto programs = parse_dksh(file);
    return programs ? "" : programs.error().message;
}

TEST(Dksh, ProgramsHaveTheirCodeAndTheirFields) {
    auto file = three_programs();
    file.resize(file.size() + 0x123); // it may go on behind the container
    EXPECT_TRUE(is_dksh(file));
    const auto programs = parse_dksh(file);
    ASSERT_TRUE(programs) << programs.error().message;
    ASSERT_EQ(programs->size(), 3u);

    const program::Program& vertex = programs->at(0).program;
    EXPECT_EQ(vertex.stage, Stage::Vertex);
    EXPECT_TRUE(same(vertex.code, assembled(vertex_source).code));
    EXPECT_EQ(vertex.header.data() + 80, vertex.code.data());
    ASSERT_TRUE(vertex.sph);
    EXPECT_TRUE(vertex.sph->inputs.has(0x8c));
    EXPECT_TRUE(vertex.second_code.empty());
    EXPECT_EQ(vertex.register_count, 4u);
    EXPECT_TRUE(vertex.constants.empty());

    const program::Program& fragment = programs->at(1).program;
    EXPECT_EQ(fragment.stage, Stage::Fragment);
    EXPECT_TRUE(same(fragment.code, assembled(fragment_source).code));
    EXPECT_TRUE(same(fragment.constants, std::vector(8, std::byte{0x3f})));
    EXPECT_EQ(fragment.constants_bank, 1);
    EXPECT_TRUE(fragment.early_fragment_tests);
    EXPECT_FALSE(fragment.per_sample);
    EXPECT_EQ(programs->at(1).scratch_bytes_per_warp, 0x400u);

    const program::Program& compute = programs->at(2).program;
    EXPECT_EQ(compute.stage, Stage::Compute);
    EXPECT_TRUE(same(compute.code, assembled(compute_source).code));
    EXPECT_FALSE(compute.sph);
    EXPECT_EQ(compute.workgroup_size, (std::array<u32, 3>{8, 4, 2}));
    EXPECT_EQ(compute.shared_bytes, 0x100u);
    EXPECT_EQ(compute.local_bytes, 0x30u);
    EXPECT_EQ(programs->at(2).barriers, 3u);
}

TEST(Dksh, AVertexProgramInTwoPartsRunsTheOtherEntryFirst) {
    auto file = container(1);
    const auto first = assembled(".stage vertexa\n.local 64\nALD R0, a[0x90]\nEXIT\n"),
               second = assembled(vertex_source);
    const u32 second_at = add(file, second.bytes, 64, 0x30), first_at = add(file, first.bytes, 64, 0x30);
    put<u32>(file, table + 0x04, second_at);
    put<u32>(file, table + 0x08, 4);
    put<u32>(file, table + 0x18, first_at);
    put<u32>(file, table + 0x1c, 9);
    const auto programs = parse_dksh(file);
    ASSERT_TRUE(programs) << programs.error().message;
    const program::Program& program = programs->front().program;
    EXPECT_TRUE(same(program.code, first.code));
    EXPECT_TRUE(same(program.second_code, second.code));
    EXPECT_TRUE(program.sph->inputs.has(0x80) && program.sph->inputs.has(0x90));
    EXPECT_EQ(program.register_count, 9u);
    EXPECT_EQ(program.local_bytes, 64u);
    put<u32>(file, table + 0x18, second_at); // no VertexA program
    EXPECT_THAT(error_of(file), HasSubstr("is of a vertex program"));
}

TEST(Dksh, PerSampleAndGeometryAndTessellationKinds) {
    auto file = container(4);
    constexpr std::array sources{".stage fragment\nEXIT\n",
                                 ".stage geometry\n.topology points\n.max_vertices 1\nEXIT\n",
                                 ".stage tess_control\n.patch 6\n.threads 3\nEXIT\n", ".stage tess_eval\nEXIT\n"};
    for (u32 i = 0; i < 4; ++i) {
        const u32 entry = add(file, assembled(sources[i]).bytes, 64, 0x30);
        put<u32>(file, table + 64 * i, i + 1);
        put<u32>(file, table + 64 * i + 4, entry);
    }
    put<u8>(file, table + 0x1b, 1);
    const auto programs = parse_dksh(file);
    ASSERT_TRUE(programs) << programs.error().message;
    constexpr std::array stages{Stage::Fragment, Stage::Geometry, Stage::TessControl, Stage::TessEval};
    for (u32 i = 0; i < 4; ++i)
        EXPECT_EQ(programs->at(i).program.stage, stages[i]);
    EXPECT_TRUE(programs->front().program.per_sample);
    EXPECT_FALSE(programs->front().program.early_fragment_tests);
}

TEST(Dksh, EveryTruncationIsAnError) {
    const auto file = three_programs();
    for (std::size_t size = 0; size < file.size(); ++size)
        EXPECT_FALSE(parse_dksh(std::vector(file.begin(), file.begin() + static_cast<std::ptrdiff_t>(size)))) << size;
}

TEST(Dksh, ErrorsNameTheFieldAndItsPlace) {
    struct Case {
        u64 at;
        u32 value;
        const char* error;
    };
    constexpr std::array cases{
        Case{0x00, 0, "no magic"},
        Case{0x04, 0x14, "header size 0x14 at 0x4"},
        Case{0x04, 0x400, "header size 0x400 at 0x4"},
        Case{0x08, 0x2f0, "control size 0x2f0 at 0x8 is no multiple of 0x100"},
        Case{0x08, 0x10000, "control size 0x10000 at 0x8"},
        Case{0x0c, 0x10000, "code size 0x10000 at 0xc"},
        Case{0x10, 0x10, "program headers (at 0x14) at 0x10 (at 0x10)"},
        Case{0x10, 0x2f0, "program headers (at 0x14) at 0x2f0 (at 0x10)"},
        Case{0x14, 0, "0 program headers"},
        Case{0x14, 0xffffffff, "4294967295 program headers"},
        Case{table, 6, "kind 6 at 0x20"},
        Case{table, 2, "kind 2 at 0x20, but the program header at entry point 0x30 is of a vertex program"},
        Case{table + 0x04, 0xffffff00, "entry point 0xffffff00 (at 0x24)"},
        Case{table + 0x04, 0, "at entry point 0x0 (at 0x24)"},
        Case{table + 0x08, 256, "registers 0x100 at 0x28"},
        Case{table + 64 + 0x0c, 0xfffffffc, "constants at 0xfffffffc (at 0x6c)"},
        Case{table + 64 + 0x10, 0x10001, "bytes of constants 0x10001 at 0x70"},
        Case{table + 64 + 0x14, 0x80000000, "scratch bytes per warp 0x80000000 at 0x74"},
        Case{table + 64 + 0x18, 0x02000000, "flag 2 at 0x7b"},
        Case{table + 128 + 0x04, 0x7fffff00, "entry point 0x7fffff00 at 0xa4"},
        Case{table + 128 + 0x18, 0, "workgroup size 0 x 4 x 2 at 0xb8"},
        Case{table + 128 + 0x20, 33, "workgroup size 8 x 4 x 33 at 0xb8"},
        Case{table + 128 + 0x24, 48 * 1024 + 1, "shared bytes 0xc001 at 0xc4"},
        Case{table + 128 + 0x28, 0x80001, "local bytes 0x80001 at 0xc8"},
        Case{table + 128 + 0x30, 0x100001, "call stack bytes 0x100001 at 0xd0"},
        Case{table + 128 + 0x34, 17, "barriers 0x11 at 0xd4"},
    };
    ASSERT_EQ(error_of(three_programs()), "");
    for (const Case& broken : cases) {
        auto file = three_programs();
        put(file, broken.at, broken.value);
        EXPECT_THAT(error_of(file), testing::AllOf(testing::StartsWith("DKSH: "), HasSubstr(broken.error)));
    }
}

} // namespace
