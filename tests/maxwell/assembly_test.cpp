// The assembler: words from text, programs from source, errors with their place, and safe scheduling.
#include "maxwell/assembler.h"
#include "maxwell/instruction.h"
#include "maxwell/listing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace heaviside::maxwell {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::StartsWith;
const fs::path shared = HEAVISIDE_SOURCE_DIR "/../shared";

std::string read_file(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
}

u64 word_of(std::string_view text, u32 address = 8) {
    const auto encoded = encode(text, address);
    EXPECT_TRUE(encoded) << text << ": " << (encoded ? "" : encoded.error().message);
    return encoded ? encoded->word : 0;
}

std::string error_of(std::string_view text) {
    const auto encoded = encode(text);
    EXPECT_FALSE(encoded) << text;
    return encoded ? "" : encoded.error().message;
}

Program program_of(std::string_view source) {
    auto program = assemble(source);
    EXPECT_TRUE(program) << (program ? "" : program.error().message);
    return program ? std::move(*program) : Program{};
}

std::string program_error(std::string_view source) {
    const auto program = assemble(source);
    EXPECT_FALSE(program);
    return program ? "" : program.error().message;
}

std::vector<CodeWord> words_of(const Program& program) {
    std::vector<CodeWord> words;
    for (const CodeWord word : CodeView(program.code))
        words.push_back(word);
    return words;
}

// ---- one instruction: words as the vendor's compilers wrote them

TEST(Encode, WordsOfVendorPrograms) {
    EXPECT_EQ(word_of("S2R R0, SR_CTAID.X ;"), 0xf0c8000002570000);
    EXPECT_EQ(word_of("ISCADD R0, R0, R1, 0x3 ;"), 0x5c18018000170000);
    EXPECT_EQ(word_of("IADD R0.CC, R2, c[0x0][0x150] ;"), 0x4c10800005470200);
    EXPECT_EQ(word_of("IADD.X R1, RZ, c[0x0][0x154] ;"), 0x4c1008000557ff01);
    EXPECT_EQ(word_of("LDG.E R0, [R0] ;"), 0xeed4200000070000);
    EXPECT_EQ(word_of("ISETP.EQ.U32.AND P0, PT, R3, RZ, PT ;"), 0x5b6403800ff70307);
    EXPECT_EQ(word_of("SHFL.IDX PT, R0, R0, R4, 0x1f ;"), 0xef17007c20470000);
    EXPECT_EQ(word_of("MOV R1, c[0x0][0x20] ;"), 0x4c98078000870001);
    EXPECT_EQ(word_of("XMAD.PSL.CBCC R0, R0.H1, R3.H1, R2 ;"), 0x5b30011800370000);
    EXPECT_EQ(word_of("F2F.F64.F64.ROUND R4, R8 ;"), 0x5ca8040000870f04);
    EXPECT_EQ(word_of("FSET.GEU.AND R5, |R3|, 6.5827683646048100446e-37, PT ;"), 0x304e038360070305);
    EXPECT_EQ(word_of("DADD R4, R10, 1 ;"), 0x3870003ff0070a04);
    EXPECT_EQ(word_of("TEXS.LZ R2, R8, R10, R11, 0x8, 2D, RGBA ;"), 0xd850008020b70a08);
    EXPECT_EQ(word_of("IPA R7, a[0x84], R0 ;"), 0xe043ff884007ff07);
    EXPECT_EQ(word_of("BAR.SYNC 0x0 ;"), 0xf0a81b8000070000);
    EXPECT_EQ(word_of("EXIT ;"), 0xe30000000007000f);
    EXPECT_EQ(word_of("BRA 0x118 ;", 0x118), 0xe2400fffff87000f);
    EXPECT_EQ(word_of("NOP ;"), 0x50b0000000070f00);
}

TEST(Encode, BlanksAndTheLastSemicolonAreFree) {
    EXPECT_EQ(word_of("  @!P1   IADD   R0 , R1 ,  -0x1"), word_of("@!P1 IADD R0, R1, -0x1 ;"));
}

TEST(Encode, WrittenOutDefaultsAreTheSame) {
    EXPECT_EQ(word_of("ALD.128 R0, a[0x80], RZ"), word_of("ALD.128 R0, a[0x80]"));
    EXPECT_EQ(word_of("MOV R0, R1, 0xf"), word_of("MOV R0, R1"));
    EXPECT_EQ(word_of("LEA PT, R0, R1, R2"), word_of("LEA R0, R1, R2"));
}

TEST(Encode, NumbersMustFit) {
    EXPECT_THAT(error_of("IADD R0, R1, 0x80000"), HasSubstr("does not fit 20 bits"));
    EXPECT_THAT(error_of("FADD R0, R1, 0.1"), HasSubstr("upper 20 bits"));
    EXPECT_THAT(error_of("MOV R0, c[0x3][0x2]"), HasSubstr("multiple of 4"));
    EXPECT_THAT(error_of("MOV R0, c[0x20][0x0]"), HasSubstr("does not fit 5 bits"));
    EXPECT_EQ(word_of("IADD R0, R1, 0x7ffff") & 0xff, 0u);
}

TEST(Encode, NonsenseIsNamed) {
    EXPECT_THAT(error_of("FROB R0"), HasSubstr("no instruction FROB"));
    EXPECT_THAT(error_of(""), HasSubstr("expected an instruction"));
    EXPECT_THAT(error_of("FADD R0, R1"), HasSubstr("expected ','"));
    EXPECT_THAT(error_of("FADD R0, R255, R1"), HasSubstr("expected a register"));
    EXPECT_THAT(error_of("@P7 EXIT"), HasSubstr("predicate"));
    EXPECT_THAT(error_of("@P1 SSY 0x100"), HasSubstr("takes no predicate"));
    EXPECT_THAT(error_of("FADD.QUX R0, R1, R2"), HasSubstr("expected"));
    EXPECT_THAT(error_of("MUFU R0, R1"), HasSubstr("modifier"));
}

TEST(Encode, ReproducesEveryVendorText) {
    std::ifstream file(shared / "isa/disassembly.tsv");
    if (!file)
        GTEST_SKIP() << "no shared/isa/disassembly.tsv here";
    std::string line;
    while (std::getline(file, line)) {
        if (line.empty() || line[0] == '#')
            continue;
        const std::string text = line.substr(line.find('\t') + 1);
        const auto encoded = encode(text);
        ASSERT_TRUE(encoded) << text << ": " << encoded.error().message;
        const auto original = decode(std::strtoull(line.c_str(), nullptr, 16));
        ASSERT_EQ(disassemble(*decode(encoded->word)), disassemble(*original));
    }
}

// Everything but the words that differ in a bit with no text, over whole vendor programs.
TEST(Assemble, ReproducesVendorPrograms) {
    const fs::path folder = shared / "corpus/glsl/dev";
    if (!fs::exists(folder))
        GTEST_SKIP() << "no " << folder << " here";
    int programs = 0, words = 0, different = 0;
    for (const auto& entry : fs::recursive_directory_iterator(folder)) {
        if (entry.path().extension() != ".lst")
            continue;
        std::string source = read_file(entry.path());
        if (const auto flags = source.find(".headerflags"); flags != source.npos)
            source.erase(0, source.find('\n', flags));
        fs::path code_path = entry.path();
        const std::string code = read_file(code_path.replace_extension(".code.bin"));
        const Program program = program_of(source);
        auto got = CodeView(program.code).begin();
        for (const CodeWord want : CodeView(std::as_bytes(std::span(code)))) {
            different += (*got).word != want.word;
            ++got;
            ++words;
        }
        ++programs;
    }
    EXPECT_EQ(programs, 182);
    EXPECT_GT(words, 7000);
    // Two F2I.TRUNC have bit 42 set, which says nothing there.
    EXPECT_LE(different, 2);
}

// Control fields and labels included.
TEST(Assemble, TurnsASourceListingBackIntoItsCode) {
    const fs::path folder = shared / "corpus/glsl/dev";
    if (!fs::exists(folder))
        GTEST_SKIP() << "no " << folder << " here";
    int programs = 0, different = 0;
    for (const auto& entry : fs::recursive_directory_iterator(folder)) {
        if (!entry.path().string().ends_with(".code.bin"))
            continue;
        const std::string code = read_file(entry.path());
        const Bytes bytes = std::as_bytes(std::span(code));
        const Program program = program_of(source_listing(bytes));
        ASSERT_GE(program.code.size(), bytes.size()) << entry.path();
        for (std::size_t at = 0; at + 8 <= bytes.size(); at += 8)
            different += read_at<u64>(bytes, at) != read_at<u64>(program.code, at);
        ++programs;
    }
    EXPECT_EQ(programs, 182);
    EXPECT_LE(different, 2); // the F2I of above
}

TEST(Listing, IsTheVendors) {
    const fs::path folder = shared / "corpus/glsl/dev";
    if (!fs::exists(folder))
        GTEST_SKIP() << "no " << folder << " here";
    int programs = 0;
    for (const auto& entry : fs::recursive_directory_iterator(folder)) {
        if (entry.path().extension() != ".lst")
            continue;
        std::string want = read_file(entry.path());
        want.erase(0, want.find('\n') + 1); // .headerflags
        fs::path code_path = entry.path();
        const std::string code = read_file(code_path.replace_extension(".code.bin"));
        EXPECT_EQ(listing(std::as_bytes(std::span(code))), want) << entry.path();
        ++programs;
    }
    EXPECT_EQ(programs, 182);
}

// ---- programs

TEST(Assemble, LaysOutBundlesAndClosesThem) {
    const Program program = program_of(".stage compute\nMOV R0, RZ\nEXIT\n");
    EXPECT_EQ(program.code.size(), 64u);
    const auto words = words_of(program);
    ASSERT_EQ(words.size(), 6u);
    EXPECT_EQ(disassemble(*decode(words[0].word)), "MOV R0, RZ ;");
    EXPECT_EQ(disassemble(*decode(words[1].word)), "EXIT ;");
    EXPECT_EQ(disassemble(*decode(words[2].word, 0x18)), "BRA 0x18 ;"); // to itself
    EXPECT_EQ(disassemble(*decode(words[3].word)), "NOP ;");
    EXPECT_EQ(words[3].address, 0x28u);
}

TEST(Assemble, LabelsAreTargets) {
    const Program program = program_of("back: IADD R0, R0, 0x1\n"
                                       "      @P0 BRA back\n"
                                       "      BRA ahead\n"
                                       "ahead:\n"
                                       "      EXIT\n");
    const auto words = words_of(program);
    EXPECT_EQ(disassemble(*decode(words[1].word, words[1].address)), "@P0 BRA 0x0 ;");
    EXPECT_EQ(disassemble(*decode(words[2].word, words[2].address)), "BRA 0x20 ;"); // a bundle's first: its start
}

TEST(Assemble, CommentsOfThreeKinds) {
    const Program program = program_of("/* a\n   b */ MOV R0, RZ ; c\n// d\nEXIT // e\n");
    EXPECT_EQ(words_of(program)[1].word, word_of("EXIT"));
}

TEST(Assemble, DataAndNamedNumbers) {
    const Program program = program_of(".set TWO 2\n"
                                       ".data\n"
                                       ".u8 1, TWO\n"
                                       ".align 4\n"
                                       "table: .f32 1.0, -0.5\n"
                                       ".u64 0x1122334455667788\n"
                                       ".code\n"
                                       "MOV R0, c[0x1][table]\n"
                                       "MOV32I R1, TWO\n"
                                       "EXIT\n");
    ASSERT_EQ(program.data.size(), 20u);
    EXPECT_EQ(program.data[1], std::byte{2});
    u32 one = 0;
    std::memcpy(&one, program.data.data() + 4, 4);
    EXPECT_EQ(one, 0x3f800000u);
    EXPECT_EQ(words_of(program)[0].word, word_of("MOV R0, c[0x1][0x4]"));
    EXPECT_EQ(words_of(program)[1].word, word_of("MOV32I R1, 0x2"));
}

TEST(Assemble, Includes) {
    AssembleOptions options;
    options.include = [](std::string_view path) -> Result<std::string> {
        if (path == "lib.sass")
            return std::string("MOV R7, RZ\n");
        return fail("no file {}", path);
    };
    const auto program = assemble(".include \"lib.sass\"\nEXIT\n", options);
    ASSERT_TRUE(program);
    EXPECT_EQ(program->registers, 8u);
    const auto missing = assemble(".include \"none\"\n", options);
    ASSERT_FALSE(missing);
    EXPECT_EQ(missing.error().message, "<source>:1:10: no file none");
    EXPECT_THAT(program_error(".include \"lib.sass\"\n"), HasSubstr("no includes here"));
}

TEST(Assemble, StageDirectivesAndCodeMakeTheHeader) {
    const Program program = program_of(".stage fragment\n"
                                       ".in 0 xy__ perspective\n"
                                       ".target 0 rgba\n"
                                       ".target 2 rg__\n"
                                       "IPA.PASS R4, a[0x7c], RZ\n"
                                       "IPA R0, a[0x80], R4\n"
                                       "@P0 KIL\n"
                                       "TEX R0, R0, 0x8, 2D, 0xf\n"
                                       "STG.E.64 [R2], R10\n"
                                       "EXIT\n");
    const ShaderProgramHeader& header = program.header;
    EXPECT_TRUE(header.pixel);
    EXPECT_EQ(header.type, ShaderType::Pixel);
    EXPECT_EQ(header.target_mask, 0x30fu);
    EXPECT_TRUE(header.multiple_targets);
    EXPECT_TRUE(header.kills_pixels);
    EXPECT_TRUE(header.does_global_store);
    EXPECT_FALSE(header.does_fp64);
    EXPECT_TRUE(header.inputs.has(0x7c));
    EXPECT_TRUE(header.inputs.has(0x84));
    EXPECT_FALSE(header.inputs.has(0x88));
    EXPECT_EQ(header.interpolation[0x80 / 4], PixelInput::Perspective);
    EXPECT_EQ(program.registers, 12u); // R10, R11 are stored
}

TEST(Assemble, VertexAttributesComeFromTheCode) {
    const Program program = program_of(".stage vertex\n"
                                       "ALD.64 R0, a[0x90]\n"
                                       "ALD R2, a[0x2f8]\n"
                                       "AST.128 a[0x70], R4\n"
                                       "EXIT\n");
    EXPECT_TRUE(program.header.inputs.has(0x90));
    EXPECT_TRUE(program.header.inputs.has(0x94));
    EXPECT_FALSE(program.header.inputs.has(0x98));
    EXPECT_TRUE(program.header.inputs.has(0x2f8));
    EXPECT_TRUE(program.header.outputs.has(0x7c));
    EXPECT_EQ(program.registers, 8u);
}

TEST(Assemble, ComputeDirectives) {
    const Program program = program_of(".stage compute\n.workgroup 8 4\n.shared 1024\n.local 16\n.registers 40\n"
                                       "BAR.SYNC 0x2\nEXIT\n");
    EXPECT_EQ(program.workgroup, (std::array<u32, 3>{8, 4, 1}));
    EXPECT_EQ(program.shared_bytes, 1024u);
    EXPECT_EQ(program.local_bytes, 16u);
    EXPECT_EQ(program.registers, 40u);
    EXPECT_EQ(program.barriers, 3u);
}

TEST(Assemble, ErrorsNameLineAndColumn) {
    EXPECT_EQ(program_error("EXIT\n  FADD R0, R1, R299\n"), "<source>:2:16: expected a register");
    EXPECT_THAT(program_error("x: EXIT\nx: EXIT\n"), StartsWith("<source>:2:1: x is defined twice"));
    EXPECT_THAT(program_error("BRA nowhere\n"), HasSubstr("unknown name nowhere"));
    EXPECT_THAT(program_error(".frob 1\n"), StartsWith("<source>:1:1: unknown directive .frob"));
    EXPECT_THAT(program_error(".stage pixel\n"), StartsWith("<source>:1:8: unknown stage 'pixel'"));
    EXPECT_THAT(program_error(".entry main\nEXIT\n"), StartsWith("<source>:1:8: no label main"));
    EXPECT_THAT(program_error(".local -1\n"), StartsWith("<source>:1:8: -1 is not in 0 to"));
    EXPECT_THAT(program_error(".workgroup 8 8 1 9\n"), StartsWith("<source>:1:18: unexpected '9'"));
    EXPECT_THAT(program_error(".u32 1\n"), HasSubstr("data outside .data"));
    EXPECT_THAT(program_error(".data\nEXIT\n"), HasSubstr("an instruction in .data"));
    EXPECT_THAT(program_error("{stall=16} EXIT\n"), StartsWith("<source>:1:2: stall takes 0 to 15"));
    EXPECT_THAT(program_error("{stall=1 EXIT\n"), HasSubstr("expected '}'"));
}

// ---- scheduling

TEST(Schedule, FixedLatencyStallsLongEnoughForEveryReader) {
    const auto words = words_of(program_of("FADD R0, R1, R2\nFADD R3, R0, R0\nEXIT\n"));
    EXPECT_EQ(words[0].control.stall, 15);
    EXPECT_EQ(words[0].control.write_barrier, no_barrier);
    EXPECT_EQ(words[1].control.wait, 0);
}

TEST(Schedule, VariableLatencyIsWaitedForByTheNext) {
    const auto words = words_of(program_of("MUFU.RCP R0, R1\nFADD R2, R0, R0\nSTG.E [R4], R2\nMOV R2, RZ\nEXIT\n"));
    EXPECT_EQ(words[0].control.write_barrier, 0);
    EXPECT_EQ(words[0].control.read_barrier, 1);
    EXPECT_EQ(words[1].control.wait, 3);
    EXPECT_EQ(words[2].control.write_barrier, no_barrier);
    EXPECT_EQ(words[2].control.read_barrier, 1);
    EXPECT_EQ(words[3].control.wait, 2); // R2 may be overwritten only now
}

TEST(Schedule, GivenControlFieldsStay) {
    const auto words =
        words_of(program_of("{stall=4 yield wr=2 rd=3 wait=0,5} MUFU.RCP R0, R1\nFADD R2, R0.reuse, R0\nEXIT\n"));
    const Control want{4, true, 2, 3, 0x21, 0};
    EXPECT_EQ(words[0].control, want);
    EXPECT_EQ(control_text(want), "{stall=4 yield wr=2 rd=3 wait=0,5}");
    EXPECT_EQ(words[1].control.wait, 0xc);
    EXPECT_EQ(words[1].control.reuse, 1);
}

TEST(Control, PacksAsTheHardwareReadsIt) {
    // The first bundle of a vendor kernel: 0x001c4400fe0007f6.
    EXPECT_EQ(control_of(0x001c4400fe0007f6, 0), (Control{6, false, 7, 7, 0, 0}));
    EXPECT_EQ(control_of(0x001c4400fe0007f6, 1), (Control{0, false, 7, 7, 0, 0}));
    EXPECT_EQ(control_of(0x001c4400fe0007f6, 2), (Control{1, false, 0, 7, 0, 0}));
    const u64 word = 0x101f8480fc2417e1;
    EXPECT_EQ(pack_control_word(control_of(word, 0), control_of(word, 1), control_of(word, 2)), word);
}

} // namespace
} // namespace heaviside::maxwell
