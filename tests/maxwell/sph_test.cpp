// The shader program header. Expected values: headers decoded by hand in the ISA notes (their nonzero words are given
// there), and the corpus's programs, whose header is read with fixed offsets only.
#include "maxwell/assembler.h"
#include "maxwell/sph.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <random>
#include <vector>

namespace heaviside::maxwell {
namespace {

using Raw = std::array<u32, 20>;

Raw header_words(const std::map<unsigned, u32>& nonzero) {
    Raw words{};
    for (auto [index, value] : nonzero)
        words[index] = value;
    return words;
}

Bytes bytes_of(const Raw& words) {
    return std::as_bytes(std::span(words));
}

ShaderProgramHeader decoded(const Raw& words) {
    const auto header = decode_sph(bytes_of(words));
    EXPECT_TRUE(header) << (header ? "" : header.error().message);
    return header.value_or(ShaderProgramHeader{});
}

const Raw imgui_fragment = header_words({{0, 0x61462}, {5, 0x80000000}, {6, 0xaa0a}, {18, 0xf}});
const Raw imgui_vertex = header_words({{0, 0x2060461}, {6, 0xf33}, {13, 0xf3f000}});
const Raw tess_control = header_words({{0, 0x60861},
                                       {1, 0x6000000},
                                       {2, 0x3000000},
                                       {3, 0x60000000},
                                       {4, 0xff000},
                                       {5, 0xf0000000},
                                       {6, 0xf},
                                       {13, 0xff000}});
const Raw tess_eval =
    header_words({{0, 0x60c61}, {4, 0xbd0bc000}, {5, 0xf0000000}, {6, 0xf}, {13, 0xff000}, {18, 0x3000}});
const Raw hull_20_patch_words =
    header_words({{0, 0x60861}, {1, 0x14000000}, {2, 0x4000000}, {3, 0x40000000}, {4, 0x23120000}, {5, 0xf1000000}});
const Raw geometry_layers =
    header_words({{0, 0x10061061}, {2, 0x1000000}, {3, 0x7000000}, {4, 0xff009}, {13, 0xff200}});
const Raw depth_and_kill = header_words({{0, 0x6d462}, {19, 0x2}});
const Raw point_coord = header_words({{0, 0x61462}, {5, 0x80000000}, {6, 0x1}, {14, 0x3000000}, {18, 0xf}});

TEST(ShaderProgramHeader, PixelInputsCarryTheirInterpolation) {
    const auto header = decoded(imgui_fragment);
    EXPECT_TRUE(header.pixel);
    EXPECT_EQ(header.type, ShaderType::Pixel);
    EXPECT_EQ(header.version, 3);
    EXPECT_EQ(header.sass_version, 3);
    EXPECT_FALSE(header.multiple_targets);
    EXPECT_TRUE(header.inputs.has(0x7c)); // position w
    for (const u32 address : {0x80u, 0x84u, 0x90u, 0x94u, 0x98u, 0x9cu}) {
        EXPECT_TRUE(header.inputs.has(address)) << std::hex << address;
        EXPECT_EQ(header.interpolation[address / 4], PixelInput::Perspective) << std::hex << address;
    }
    EXPECT_FALSE(header.inputs.has(0x88));
    EXPECT_EQ(header.target_mask, 0xfu);
}

TEST(ShaderProgramHeader, PointCoordinatesOfAPixelProgram) {
    const auto header = decoded(point_coord);
    EXPECT_EQ(header.interpolation[0x80 / 4], PixelInput::Constant);
    EXPECT_TRUE(header.inputs.has(attribute::point_coord));
    EXPECT_TRUE(header.inputs.has(attribute::point_coord + 4));
    EXPECT_FALSE(header.inputs.has(attribute::fog));
}

TEST(ShaderProgramHeader, VertexMaps) {
    const auto header = decoded(imgui_vertex);
    EXPECT_FALSE(header.pixel);
    EXPECT_EQ(header.type, ShaderType::Vertex);
    EXPECT_TRUE(header.vendor_vertex_bit);
    EXPECT_EQ(header.inputs.components[0x80 >> 4], 0x3); // location 0 .xy
    EXPECT_EQ(header.inputs.components[0x90 >> 4], 0x3); // location 1 .xy
    EXPECT_EQ(header.inputs.components[0xa0 >> 4], 0xf); // location 2 .xyzw
    EXPECT_EQ(header.outputs.components[0x70 >> 4], 0xf);
    EXPECT_EQ(header.outputs.components[0x80 >> 4], 0x3);
    EXPECT_EQ(header.outputs.components[0x90 >> 4], 0xf);
}

TEST(ShaderProgramHeader, TessellationControl) {
    const auto header = decoded(tess_control);
    EXPECT_EQ(header.type, ShaderType::TessControl);
    EXPECT_EQ(header.patch_attributes, 6);
    EXPECT_EQ(header.threads_per_primitive, 3);
    EXPECT_GT(header.store_required_first, header.store_required_last); // reads nothing back
    const auto many = decoded(hull_20_patch_words);
    EXPECT_EQ(many.patch_attributes, 20);
    EXPECT_EQ(many.store_required_first, 0x20);
    EXPECT_EQ(many.store_required_last, 0x23);
    EXPECT_TRUE(many.inputs.has(attribute::primitive_id));
}

TEST(ShaderProgramHeader, TessellationEvaluationDeclaresItsCoordinatesAsOutputs) {
    const auto header = decoded(tess_eval);
    EXPECT_EQ(header.type, ShaderType::TessEval);
    EXPECT_TRUE(header.outputs.has(attribute::tess_coord));
    EXPECT_TRUE(header.outputs.has(attribute::tess_coord + 4));
    EXPECT_EQ(header.store_required_first, 0xbc);
    EXPECT_EQ(header.store_required_last, 0xbd);
}

TEST(ShaderProgramHeader, Geometry) {
    const auto header = decoded(geometry_layers);
    EXPECT_EQ(header.type, ShaderType::Geometry);
    EXPECT_EQ(header.stream_mask, 1);
    EXPECT_EQ(header.threads_per_primitive, 1);
    EXPECT_EQ(header.topology, OutputTopology::TriangleStrip);
    EXPECT_EQ(header.max_output_vertices, 9);
    EXPECT_TRUE(header.outputs.has(attribute::layer));
}

TEST(ShaderProgramHeader, EncodingIsTheInverse) {
    for (const Raw& words : {imgui_fragment, imgui_vertex, tess_control, tess_eval, hull_20_patch_words,
                             geometry_layers, depth_and_kill, point_coord})
        EXPECT_EQ(std::bit_cast<Raw>(encode_sph(decoded(words))), words) << std::hex << words[0];
}

TEST(ShaderProgramHeader, DirectivesMakeTheSameHeader) {
    EXPECT_EQ(header_source(decoded(geometry_layers)), ".stage geometry\n"
                                                       ".explicit_header\n"
                                                       ".threads 1\n"
                                                       ".streams 1\n"
                                                       ".max_vertices 9\n"
                                                       ".topology triangle_strip\n"
                                                       ".out 0x64\n"
                                                       ".out 0x70\n.out 0x74\n.out 0x78\n.out 0x7c\n"
                                                       ".out 0 xyzw\n");
    std::vector<ShaderProgramHeader> headers;
    for (const Raw& words : {imgui_fragment, imgui_vertex, tess_control, tess_eval, hull_20_patch_words,
                             geometry_layers, depth_and_kill, point_coord})
        headers.push_back(decoded(words));
    std::mt19937 random(7);
    for (int i = 0; i < 300; ++i) {
        Raw words;
        for (u32& word : words)
            word = static_cast<u32>(random());
        const u32 type = static_cast<u32>(random() % 6);
        words[0] = (words[0] & ~0x3c1fu) | (type == 5 ? 2u : 1u) | type << 10;
        headers.push_back(decoded(words));
    }
    for (const ShaderProgramHeader& header : headers) {
        const std::string source = header_source(header);
        // An instruction that an explicit header takes no notice of.
        const auto program = assemble(source + "STG.E [R2], R0\nEXIT\n");
        ASSERT_TRUE(program) << program.error().message << '\n' << source;
        EXPECT_EQ(encode_sph(program->header), encode_sph(header)) << source;
    }
}

TEST(ShaderProgramHeader, OutputRegistersSkipUnusedTargetsAndReserveTheSampleMask) {
    ShaderProgramHeader header;
    header.pixel = true;
    header.type = ShaderType::Pixel;
    header.target_mask = 0x00f0'f00f; // targets 0, 3 and 5
    const auto registers = pixel_output_registers(header);
    EXPECT_EQ(registers.target[0], 0);
    EXPECT_EQ(registers.target[1], 0xff);
    EXPECT_EQ(registers.target[3], 4);
    EXPECT_EQ(registers.target[5], 8);
    EXPECT_EQ(registers.sample_mask, 12);
    EXPECT_EQ(registers.depth, 13);
}

TEST(ShaderProgramHeader, BadHeadersAreNamedErrors) {
    EXPECT_NE(decode_sph(bytes_of(imgui_vertex).first(79)).error().message.find("79 bytes"), std::string::npos);
    EXPECT_NE(decode_sph(bytes_of(header_words({}))).error().message.find("kind 0"), std::string::npos);
    EXPECT_NE(decode_sph(bytes_of(header_words({{0, 0x61461}}))).error().message.find("shader type 5"),
              std::string::npos);
}

TEST(ShaderProgramHeader, MergingVertexPartsJoinsMapsAndKeepsTheLargerLocalMemory) {
    ShaderProgramHeader a, b;
    a.type = ShaderType::VertexA;
    a.local_memory_low = 64;
    a.inputs.set(0x80);
    a.outputs.set(0x70);
    b.local_memory_low = 32;
    b.inputs.set(0x90);
    b.outputs.set(0x80);
    const auto merged = merge_vertex_parts(a, b);
    EXPECT_EQ(merged.type, ShaderType::Vertex);
    EXPECT_EQ(merged.local_memory_low, 64u);
    EXPECT_TRUE(merged.inputs.has(0x80) && merged.inputs.has(0x90));
    EXPECT_TRUE(merged.outputs.has(0x70) && merged.outputs.has(0x80));
}

TEST(ShaderProgramHeader, CorpusHeadersSurviveDecodingAndEncoding) {
    const std::filesystem::path corpus = HEAVISIDE_SOURCE_DIR "/../shared/corpus/glsl/dev";
    if (!std::filesystem::exists(corpus))
        GTEST_SKIP() << "no corpus at " << corpus;
    unsigned headers = 0;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(corpus)) {
        if (!entry.path().string().ends_with(".gpu.bin") || entry.path().filename() == "comp.gpu.bin")
            continue;
        std::ifstream file(entry.path(), std::ios::binary);
        const std::vector<char> area{std::istreambuf_iterator<char>(file), {}};
        ASSERT_GE(area.size(), 0x80u);
        const auto raw = read_at<Raw>(std::as_bytes(std::span(area)), 0x30);
        EXPECT_EQ(std::bit_cast<Raw>(encode_sph(decoded(*raw))), *raw) << entry.path();
        ++headers;
    }
    EXPECT_EQ(headers, 149u); // the corpus's graphics stages
}

} // namespace
} // namespace heaviside::maxwell
