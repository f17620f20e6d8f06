// The command as a person or a script uses it: output, exit codes, errors that name what and where.
#include "tests/tools/command.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace {

using testing::HasSubstr;
namespace fs = std::filesystem;
using heaviside::test::Outcome;

Outcome run(const std::string& arguments) {
    return heaviside::test::run_command(arguments);
}

class Command : public heaviside::test::CommandTest {};

constexpr const char* vertex_source = ".stage vertex\n"
                                      "    ALD.128 R0, a[0x80]\n"
                                      "    AST.128 a[0x70], R0\n"
                                      "    EXIT\n";

TEST_F(Command, HelpAndVersionSucceedAndNonsenseIsUsage) {
    EXPECT_EQ(run("--help").code, 0);
    for (const char* name : {"info", "disasm", "asm", "translate"}) {
        EXPECT_THAT(run("--help").out, HasSubstr(name));
        EXPECT_EQ(run(std::string(name) + " --help").code, 0);
    }
    EXPECT_THAT(run("--version").out, HasSubstr("0.1.0"));
    EXPECT_EQ(run("2>/dev/null").code, 2);
    EXPECT_EQ(run("frobnicate 2>/dev/null").code, 2);
    EXPECT_EQ(run("disasm 2>/dev/null").code, 2);
    EXPECT_EQ(run("disasm --words --json 2>/dev/null </dev/null").code, 2);
    EXPECT_EQ(run("disasm --raw --cubin x 2>/dev/null").code, 2);
    EXPECT_EQ(run("disasm --cfg --json x 2>/dev/null").code, 2);
    EXPECT_EQ(run("translate --to french x 2>/dev/null").code, 2);
}

TEST_F(Command, InfoIsJsonForMachines) {
    const Outcome outcome = run("info --json 2>/dev/null");
    const auto document = nlohmann::json::parse(outcome.out);
    EXPECT_EQ(document["heaviside"], "0.1.0");
    EXPECT_EQ(outcome.code, document.contains("error") ? 3 : 0);
    const auto& entries = document["entry_points"];
    EXPECT_GE(entries["built"].get<int>() + entries["stubs"].get<int>() + entries["unknown"].get<int>(), 538);
}

TEST_F(Command, InfoNamesADeviceThatIsNotThere) {
    const Outcome outcome = run("info --json 2>&1 >/dev/null </dev/null | cat");
    EXPECT_EQ(outcome.code, 0); // of cat
    EXPECT_EQ(std::system("HEAVISIDE_DEVICE=nothing '" HEAVISIDE_COMMAND "' info >/dev/null 2>&1") / 256, 3);
}

// Words and texts from the vendor's disassembler.
TEST_F(Command, DisasmWordsPrintsTextOrInvalid) {
    const Outcome outcome = run("disasm --words <<'END'\n01003f3f1901880c\n0x5c5c000000f7ff04\n000daf9416888427\nEND");
    EXPECT_EQ(outcome.code, 0);
    EXPECT_EQ(outcome.out, "01003f3f1901880c\t@P1 MOV32I R12, 0x3f3f190, 0x8 ;\n"
                           "0x5c5c000000f7ff04\tFADD.SAT R4, RZ, R15 ;\n"
                           "000daf9416888427\tinvalid\n");
    const Outcome bad = run("disasm --words 2>&1 <<'END'\nno hex\nEND");
    EXPECT_EQ(bad.code, 1);
    EXPECT_THAT(bad.out, HasSubstr("line 1"));
}

TEST_F(Command, AsmWordsIsTheInverse) {
    const Outcome outcome = run("asm --words <<'END'\nMOV32I R0, 0x3f000000 ;\nFADD.SAT R4, RZ, R15\nFROB R1\nEND");
    EXPECT_EQ(outcome.code, 1); // one line is no instruction
    EXPECT_THAT(outcome.out, testing::StartsWith("0103f0000007f000\n5c5c000000f7ff04\nerror: "));
}

TEST_F(Command, AProgramGoesFromTextToEveryForm) {
    const std::string source = write("v.sass", vertex_source);
    ASSERT_EQ(run("asm '" + source + "' -o '" + (folder / "v").string() + "'").code, 0);
    const std::string gpu = (folder / "v.gpu.bin").string(), control = (folder / "v.ctrl.bin").string();
    ASSERT_TRUE(fs::exists(gpu) && fs::exists(control));

    const Outcome listing = run("disasm '" + gpu + "'");
    EXPECT_EQ(listing.code, 0);
    EXPECT_THAT(listing.out, HasSubstr("vertex program"));
    EXPECT_THAT(listing.out, HasSubstr("ALD.128 R0, a[0x80] ;"));
    EXPECT_THAT(listing.out, HasSubstr("AST.128 a[0x70], R0 ;"));
    const auto json = nlohmann::json::parse(run("disasm --json '" + gpu + "'").out);
    EXPECT_EQ(json["stage"], "vertex");
    EXPECT_GE(json["instructions"].size(), 3u);

    const std::string translate = "translate '" + gpu + "' --control '" + control + "' --to ";
    const Outcome glsl = run(translate + "glsl");
    EXPECT_EQ(glsl.code, 0);
    EXPECT_THAT(glsl.out, HasSubstr("gl_Position"));
    const Outcome spirv = run(translate + "spirv");
    ASSERT_GE(spirv.out.size(), 20u);
    EXPECT_EQ(spirv.out.substr(0, 4), std::string("\x03\x02\x23\x07", 4));
    EXPECT_THAT(run(translate + "msl").out, HasSubstr("[[position"));
    EXPECT_EQ(run(translate + "ir").code, 0);
    EXPECT_EQ(nlohmann::json::parse(run(translate + "json").out)["stage"], "vertex");
}

TEST_F(Command, FoldersAreTranslatedWithASummary) {
    const std::string source = write("v.sass", vertex_source);
    for (const char* name : {"a", "b", "c"})
        ASSERT_EQ(run("asm '" + source + "' -o '" + (folder / name).string() + "'").code, 0);
    write("broken.gpu.bin", "this is no program");
    const std::string out = (folder / "out").string();
    const Outcome outcome = run("translate '" + folder.string() + "' -j 2 -o '" + out + "' 2>&1");
    EXPECT_EQ(outcome.code, 1);
    EXPECT_THAT(outcome.out, HasSubstr("3 of 4 programs translated"));
    EXPECT_THAT(outcome.out, HasSubstr("broken.gpu.bin: "));
    for (const char* name : {"a", "b", "c"})
        EXPECT_TRUE(fs::exists(fs::path(out) / (std::string(name) + ".spv")));
}

TEST_F(Command, ErrorsNameFileLineAndColumn) {
    const std::string source = write("bad.sass", ".stage vertex\n    EXIT\n    FADD R1, R2\n");
    const Outcome outcome = run("asm '" + source + "' -o '" + (folder / "bad").string() + "' 2>&1");
    EXPECT_EQ(outcome.code, 1);
    EXPECT_THAT(outcome.out, HasSubstr("bad.sass:3:"));
    EXPECT_FALSE(fs::exists(folder / "bad.gpu.bin"));
    EXPECT_EQ(run("asm /no/such/file.sass -o x 2>/dev/null").code, 3);
    EXPECT_EQ(run("disasm /no/such/file 2>/dev/null").code, 3);
    EXPECT_EQ(run("translate /no/such/file 2>/dev/null").code, 3);
    const Outcome piped = run("disasm /no/such/file 2>&1");
    EXPECT_EQ(piped.out.find('\x1b'), std::string::npos) << "no colours where output is no terminal";
}

TEST_F(Command, EmbeddedProgramsAreCompilableHeaders) {
    const std::string source = write("v.sass", vertex_source);
    ASSERT_EQ(run("asm '" + source + "' --embed v_prog -o '" + (folder / "v.h").string() + "'").code, 0);
    const std::string header = read("v.h");
    EXPECT_THAT(header, HasSubstr("inline constexpr unsigned char v_prog_gpu["));
    EXPECT_THAT(header, HasSubstr("inline constexpr unsigned char v_prog_control[2000] = {"));
}

const fs::path corpus = HEAVISIDE_SOURCE_DIR "/../shared/corpus";

std::string text_of(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

TEST_F(Command, RawListingsAreTheVendors) {
    if (!fs::exists(corpus / "glsl/dev"))
        GTEST_SKIP() << "no " << corpus / "glsl/dev"
                     << " here";
    int checked = 0;
    for (const auto& entry : fs::recursive_directory_iterator(corpus / "glsl/dev")) {
        if (entry.path().extension() != ".lst")
            continue;
        const std::string want = text_of(entry.path());
        fs::path code = entry.path();
        code.replace_extension(".code.bin");
        // Its first line says for which machine the code is.
        ASSERT_EQ(run("disasm --raw '" + code.string() + "'").out, want.substr(want.find('\n') + 1)) << code;
        ++checked;
    }
    EXPECT_GT(checked, 150);
}

// What a listing says, whatever its columns, braces and labels.
struct Listing {
    std::vector<std::pair<unsigned, std::string>> instructions; // address, text with blanks collapsed
    std::vector<std::string> words;
    std::vector<std::pair<std::string, unsigned>> pops; // SYNC, BRK, ... and where the vendor says that it leads
};

Listing read_listing(const std::string& text) {
    Listing listing;
    std::map<std::string, unsigned> labels;
    std::vector<std::string> remarks;
    std::vector<std::string> open; // labels whose instruction is still to come
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        if (!line.empty() && line.front() != ' ' && line.back() == ':')
            open.push_back(line.substr(0, line.size() - 1));
        const auto word = line.find("/* 0x");
        if (word != line.npos)
            listing.words.push_back(line.substr(word + 3, 18));
        const auto at = line.find_first_not_of(' ');
        if (at == line.npos || line.compare(at, 2, "/*") != 0 || line[at + 2] == ' ' || line.find('\t') != line.npos)
            continue;
        const auto address = static_cast<unsigned>(std::stoul(line.substr(at + 2), nullptr, 16));
        for (const std::string& label : std::exchange(open, {}))
            labels[label] = address % 32 == 8 ? address - 8 : address; // a bundle's first instruction is its start
        // The vendor's remark on what an instruction does.
        if (const auto remark = line.find("(*\""); remark != line.npos)
            remarks.emplace_back(line.substr(0, line.find("*)")));
        const auto text_at = line.find("*/", at) + 2;
        std::istringstream parts(line.substr(text_at, word == line.npos ? word : word - text_at));
        std::string instruction;
        for (std::string part; parts >> part;)
            if (part != "{" && part != "}" && part != ";")
                instruction += (instruction.empty() ? "" : " ") + part;
        if (instruction.back() == ';')
            instruction.pop_back();
        instruction = instruction.substr(0, instruction.find(" (*"));
        listing.instructions.emplace_back(address, instruction);
    }
    for (const std::string& remark : remarks) {
        const auto target = remark.find("BRANCH_TARGETS .");
        if (target == remark.npos || remark.find(',', target) != remark.npos)
            continue;
        const unsigned address = labels.at(remark.substr(target + 15, remark.find('"', target) - target - 15));
        for (const char* name : {"SYNC", "BRK", "CONT", "RET"})
            if (remark.find(name) < target)
                listing.pops.emplace_back(name, address % 32 == 0 ? address + 8 : address);
    }
    for (auto& [address, instruction] : listing.instructions) {
        const auto symbol = instruction.find("`(");
        if (symbol == instruction.npos)
            continue;
        std::ostringstream target;
        target << "0x" << std::hex << labels.at(instruction.substr(symbol + 2, instruction.find(')') - symbol - 2));
        instruction.replace(symbol, instruction.find(')') + 1 - symbol, target.str());
    }
    return listing;
}

TEST_F(Command, KernelsAreListedAsTheVendorDoes) {
    if (!fs::exists(corpus / "ptx/dev"))
        GTEST_SKIP() << "no " << corpus / "ptx/dev"
                     << " here";
    int checked = 0;
    for (const auto& entry : fs::directory_iterator(corpus / "ptx/dev")) {
        const Outcome outcome = run("disasm '" + (entry.path() / "kernel.cubin").string() + "'");
        ASSERT_EQ(outcome.code, 0) << entry.path();
        const Listing got = read_listing(outcome.out), want = read_listing(text_of(entry.path() / "kernel.sass"));
        ASSERT_EQ(got.instructions.size(), want.instructions.size()) << entry.path();
        for (std::size_t i = 0; i < want.instructions.size(); ++i)
            EXPECT_EQ(got.instructions[i], want.instructions[i]) << entry.path();
        EXPECT_EQ(got.words, want.words) << entry.path();
        checked += static_cast<int>(want.instructions.size());
    }
    EXPECT_GT(checked, 10000);
}

bool has_line(const std::string& text, const std::string& part, const std::string& end) {
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);)
        if (line.find(part) != line.npos && line.ends_with(end))
            return true;
    return false;
}

// The vendor's listings say where each SYNC leads.
TEST_F(Command, GraphsFollowTheStackAsTheVendorDoes) {
    if (!fs::exists(corpus / "ptx/dev"))
        GTEST_SKIP() << "no " << corpus / "ptx/dev"
                     << " here";
    int checked = 0;
    for (const auto& entry : fs::directory_iterator(corpus / "ptx/dev")) {
        const Listing listing = read_listing(text_of(entry.path() / "kernel.sass"));
        if (listing.pops.empty())
            continue;
        const Outcome outcome = run("disasm --cfg '" + (entry.path() / "kernel.cubin").string() + "'");
        EXPECT_THAT(outcome.out, testing::Not(HasSubstr("left out"))) << entry.path();
        for (const auto& [name, target] : listing.pops) {
            std::array<char, 16> edge{};
            std::snprintf(edge.data(), edge.size(), " -> b%04x [", target);
            EXPECT_TRUE(has_line(outcome.out, edge.data(), name + "\"];")) << entry.path() << edge.data() << name;
            ++checked;
        }
    }
    EXPECT_GT(checked, 100);
}

// Two kernels by the ELF-64 format: `first`, a bundle of a vendor's kernel, and `second`, the same again.
std::string two_kernels(std::uint64_t last = 0x3848000000270708u) {
    std::string file(0x100 + 4 * 64, '\0');
    const auto put = [&](std::size_t at, auto value) { std::memcpy(&file[at], &value, sizeof(value)); };
    file.replace(0, 7,
                 "\x7f"
                 "ELF\x02\x01\x01");
    put(0x12, std::uint16_t{190});
    put(0x28, std::uint64_t{0x100});
    put(0x30, std::uint32_t{0x350535});
    put(0x3a, std::uint16_t{64});
    put(0x3c, std::uint16_t{4});
    put(0x3e, std::uint16_t{1});
    file.replace(0x41, 11, ".text.first");
    file.replace(0x4d, 12, ".text.second");
    std::size_t at = 0x80;
    for (const std::uint64_t word : {0x083fc400e3e007f6u, 0x4c98078000870001u, 0xf0c8000002170007u, last}) {
        put(at, word);
        at += 8;
    }
    const auto section = [&](std::size_t index, std::uint32_t name, std::uint64_t offset, std::uint64_t size) {
        put(0x100 + index * 64, name);
        put(0x100 + index * 64 + 0x18, offset);
        put(0x100 + index * 64 + 0x20, size);
    };
    section(1, 0, 0x40, 0x40);
    section(2, 1, 0x80, 32);
    section(3, 13, 0x80, 32);
    return file;
}

TEST_F(Command, CubinsAreListedByKernel) {
    const std::string cubin = write("two.cubin", two_kernels());
    const std::string body = "    /* 0x083fc400e3e007f6 */\n"
                             "  /*0008*/                   MOV R1, c[0x0][0x20] ;  /* 0x4c98078000870001 */\n"
                             "  /*0010*/                   S2R R7, SR_TID.X ;  /* 0xf0c8000002170007 */\n"
                             "  /*0018*/                   SHL R8, R7.reuse, 0x2 ;  /* 0x3848000000270708 */\n";
    EXPECT_EQ(run("disasm '" + cubin + "'").out, "// kernel first\n" + body + "// kernel second\n" + body);
    EXPECT_EQ(run("disasm --cubin --kernel second '" + cubin + "'").out, "// kernel second\n" + body);
    EXPECT_EQ(run("disasm --kernel first --no-hex '" + cubin + "'").out,
              "// kernel first\n"
              "  /*0008*/                   MOV R1, c[0x0][0x20] ;\n"
              "  /*0010*/                   S2R R7, SR_TID.X ;\n"
              "  /*0018*/                   SHL R8, R7.reuse, 0x2 ;\n");
    const auto kernels = nlohmann::json::parse(run("disasm --json '" + cubin + "'").out)["kernels"];
    ASSERT_EQ(kernels.size(), 2u);
    EXPECT_EQ(kernels[1]["name"], "second");
    EXPECT_EQ(kernels[1]["instructions"][2]["text"], "SHL R8, R7.reuse, 0x2 ;");

    const Outcome missing = run("disasm --kernel third '" + cubin + "' 2>&1");
    EXPECT_EQ(missing.code, 1);
    EXPECT_THAT(missing.out, HasSubstr("two.cubin: no kernel 'third'; there are: first, second"));
}

TEST_F(Command, BrokenContainersAreNamedErrors) {
    const std::string whole = two_kernels();
    for (const std::size_t size : {0u, 4u, 0x3fu, 0x100u, 0x1ffu}) {
        const std::string cubin = write("cut.cubin", whole.substr(0, size));
        const Outcome outcome = run("disasm --cubin '" + cubin + "' 2>&1");
        EXPECT_EQ(outcome.code, 1) << size;
        EXPECT_THAT(outcome.out, testing::AllOf(HasSubstr("cut.cubin: ELF: "), HasSubstr("0x"))) << size;
    }
    const Outcome glslc = run("disasm '" + write("cut.glslc", "\x91\x68\x86\x19 and no more") + "' 2>&1");
    EXPECT_EQ(glslc.code, 1);
    EXPECT_THAT(glslc.out, HasSubstr("cut.glslc: GLSLC: total size"));
    const Outcome dksh = run("disasm '" + write("a.dksh", "DKSH and the rest") + "' 2>&1");
    EXPECT_EQ(dksh.code, 1);
    EXPECT_THAT(dksh.out, HasSubstr("a.dksh: DKSH: 0x11 bytes end inside the header"));
    EXPECT_EQ(run("disasm --kernel x '" + write("a.bin", std::string(64, '\0')) + "' 2>/dev/null").code, 1);
}

// A compute program of one bundle in the open library's container (archive/dksh.h has the layout).
TEST_F(Command, ProgramsOfADkshAreListedAndTranslated) {
    std::string file(0x140, '\0');
    const auto put = [&](std::size_t at, auto value) { std::memcpy(&file[at], &value, sizeof(value)); };
    file.replace(0, 4, "DKSH");
    put(0x04, std::array<std::uint32_t, 5>{0x18, 0x100, 0x40, 0x40, 1});
    put(0x40, std::array<std::uint32_t, 3>{5, 0x20, 9});
    put(0x58, std::array<std::uint32_t, 3>{8, 1, 1});
    put(0x120,
        std::array<std::uint64_t, 4>{0x001ffc00ffe007f1, 0xf0c8000002170007, 0xe30000000007000f, 0xe2400fffff07000f});
    const std::string dksh = write("a.dksh", file);
    const Outcome listing = run("disasm --no-hex '" + dksh + "'");
    EXPECT_EQ(listing.code, 0);
    EXPECT_EQ(listing.out.substr(0, listing.out.find("EXIT")), "// compute program\n"
                                                               "// 9 registers\n"
                                                               "  /*0008*/                   S2R R7, SR_TID.X ;\n"
                                                               "  /*0010*/                   ");
    const auto json = nlohmann::json::parse(run("disasm --json '" + dksh + "'").out);
    EXPECT_EQ(json["programs"][0]["stage"], "compute");
    EXPECT_EQ(json["programs"][0]["instructions"].size(), 3u);
    const Outcome translated = run("translate --to json '" + dksh + "'");
    EXPECT_EQ(translated.code, 0);
    EXPECT_THAT(translated.out, HasSubstr("workgroup"));
}

constexpr std::uint64_t exit_word = 0xe30000000007000f;

TEST_F(Command, EachKernelOfACubinIsTranslated) {
    const std::string cubin = write("two.cubin", two_kernels(exit_word));
    const Outcome text = run("translate --to ir '" + cubin + "' 2>&1");
    EXPECT_EQ(text.code, 0) << text.out;
    EXPECT_THAT(text.out, testing::AllOf(HasSubstr("// first\n"), HasSubstr("// second\n"),
                                         HasSubstr("2 of 2 programs translated\n")));
    const Outcome refused = run("translate '" + cubin + "' 2>&1");
    EXPECT_EQ(refused.code, 1);
    EXPECT_THAT(refused.out, HasSubstr("two.cubin: second: SPIR-V of several programs needs an output folder: -o DIR"));
    EXPECT_EQ(run("translate -q '" + cubin + "' -o '" + (folder / "out").string() + "'").code, 0);
    for (const char* name : {"out/first.spv", "out/second.spv"})
        EXPECT_EQ(read(name).substr(0, 4), std::string("\x03\x02\x23\x07", 4)) << name;
}

TEST_F(Command, KernelsAreTranslatedForTheBlockThatIsGiven) {
    const std::string cubin = write("two.cubin", two_kernels(exit_word));
    const auto size = [&](const std::string& option) {
        const std::string out = run("translate --to json " + option + " '" + cubin + "' 2>/dev/null").out;
        return nlohmann::json::parse(out.substr(0, out.find('\n')))["workgroup_size"]; // a line a kernel
    };
    EXPECT_EQ(size(""), (nlohmann::json{32, 1, 1}));
    EXPECT_EQ(size("--block 8,4,2"), (nlohmann::json{8, 4, 2}));
    EXPECT_EQ(size("--block 64"), (nlohmann::json{64, 1, 1}));
    EXPECT_EQ(run("translate --to json --block 0 '" + cubin + "' 2>/dev/null").code, 2);
}

// In folders containers count by what they are, not by their names; equal faults are one line of the table.
TEST_F(Command, ContainersOfAFolderAreTranslatedAndCountedByReason) {
    write("two.cubin", two_kernels(exit_word));
    write("notes.txt", "no program, no container");
    write("cut", two_kernels(exit_word).substr(0, 0x3f));
    for (const char* name : {"x.gpu.bin", "y.gpu.bin"})
        write(name, std::string(32, '\xff')); // no instruction has these words
    const std::string out = (folder / "out").string();
    const Outcome outcome = run("translate '" + folder.string() + "' -o '" + out + "' -j 3 2>&1");
    EXPECT_EQ(outcome.code, 1);
    EXPECT_THAT(outcome.out, HasSubstr("2 of 5 programs translated\n count  reason\n     2  "));
    EXPECT_THAT(outcome.out, HasSubstr("cut: ELF: "));
    EXPECT_EQ(outcome.out.find("notes.txt"), std::string::npos);
    EXPECT_EQ(outcome.out.find('\r'), std::string::npos) << "no progress bar where there is no terminal";
    EXPECT_TRUE(fs::exists(fs::path(out) / "two.cubin/second.spv"));
}

// By a terminal there is a bar, and colours.
TEST_F(Command, ProgressIsShownOnATerminal) {
    write("two.cubin", two_kernels(exit_word));
    write("three.cubin", two_kernels(exit_word));
    const std::string inner =
        "'" HEAVISIDE_COMMAND "' translate " + folder.string() + " --to ir -o " + (folder / "out").string();
    std::FILE* const pipe = popen(("script -qec \"" + inner + "\" /dev/null").c_str(), "r");
    ASSERT_NE(pipe, nullptr);
    std::string shown;
    std::array<char, 4096> buffer;
    for (std::size_t n; (n = std::fread(buffer.data(), 1, buffer.size(), pipe)) != 0;)
        shown.append(buffer.data(), n);
    ASSERT_EQ(pclose(pipe), 0) << shown;
    EXPECT_THAT(shown, testing::AllOf(HasSubstr("translating ["), HasSubstr("2/2"), HasSubstr("4 of 4 programs")));
}

TEST_F(Command, TranslateSaysWhatIsMissing) {
    const std::string source = write("v.sass", vertex_source);
    ASSERT_EQ(run("asm '" + source + "' -o '" + (folder / "v").string() + "'").code, 0);
    const std::string gpu = (folder / "v.gpu.bin").string();
    EXPECT_EQ(run("translate '" + gpu + "' --control /no/such 2>/dev/null").code, 3);
    EXPECT_EQ(run("translate '" + folder.string() + "' --control '" + gpu + "' 2>/dev/null").code, 2);
    fs::create_directories(folder / "empty");
    EXPECT_EQ(run("translate '" + (folder / "empty").string() + "' 2>/dev/null").code, 2);
    const Outcome wrong = run("translate '" + gpu + "' --control '" + gpu + "' 2>&1");
    EXPECT_EQ(wrong.code, 1);
    EXPECT_THAT(wrong.out, HasSubstr("v.gpu.bin: "));
}

TEST_F(Command, SourceAssemblesBackToTheSameProgram) {
    const std::string source = write("loop.sass", ".stage compute\n"
                                                  "    {stall=6} MOV32I R0, 0x4\n"
                                                  "again:\n"
                                                  "    {stall=6 yield} IADD32I R0, R0.reuse, -0x1\n"
                                                  "    {stall=13} ISETP.NE.AND P0, PT, R0, RZ, PT\n"
                                                  "    {stall=5 wait=0,2} @P0 BRA again\n"
                                                  "    EXIT\n");
    const std::string first = (folder / "first").string(), second = (folder / "second").string();
    ASSERT_EQ(run("asm '" + source + "' -o '" + first + "'").code, 0);
    const Outcome printed = run("disasm --source '" + first + ".gpu.bin'");
    EXPECT_EQ(printed.code, 0);
    EXPECT_THAT(printed.out, HasSubstr("\nL0010:\n"));
    EXPECT_THAT(printed.out, HasSubstr("@P0 BRA L0010 ;"));
    ASSERT_EQ(run("asm '" + write("printed.sass", printed.out) + "' -o '" + second + "'").code, 0);
    const auto instructions = [](const std::string& name) {
        return nlohmann::json::parse(run("disasm --json '" + name + ".gpu.bin'").out)["instructions"];
    };
    const auto before = instructions(first), after = instructions(second);
    ASSERT_GE(before.size(), 6u);
    ASSERT_GE(after.size(), before.size()); // padding may grow
    for (std::size_t i = 0; i < before.size(); ++i)
        EXPECT_EQ(before[i], after[i]);
}

TEST_F(Command, SourceKeepsHeaderControlFieldsAndConstants) {
    const std::array sources{".stage fragment\n.early_tests\n.per_sample\n.target 0\n.target 2 rg\n.depth\n"
                             ".in 3 xy linear\n.registers 40\n.data\n.u32 0x12345678\n.u8 1, 2, 3\n.code\n"
                             "IPA R0, a[0x80], R4\nMOV R0, c[0x1][0x0]\nKIL\nEXIT\n",
                             ".stage geometry\n.topology line_strip\n.max_vertices 5\n.threads 2\n.streams 3\n"
                             ".local 64\nALD R0, a[0x90]\nAST a[0x70], R0\nEXIT\n",
                             ".stage tess_control\n.patch 8\n.threads 3\n.store_required 28 31\nEXIT\n",
                             ".stage compute\n.workgroup 8 4 2\n.shared 1024\n.local 32\nBAR.SYNC 0x1\nEXIT\n"};
    for (const char* const source : sources) {
        const std::string first = (folder / "first").string(), second = (folder / "second").string();
        ASSERT_EQ(run("asm '" + write("a.sass", source) + "' -o '" + first + "'").code, 0) << source;
        const Outcome printed = run("disasm --source '" + first + ".gpu.bin'");
        ASSERT_EQ(run("asm '" + write("b.sass", printed.out) + "' -o '" + second + "'").code, 0) << printed.out;
        EXPECT_EQ(read("second.gpu.bin"), read("first.gpu.bin")) << printed.out;
        EXPECT_EQ(read("second.ctrl.bin"), read("first.ctrl.bin")) << printed.out;
        // Without the control section the area tells the rest: code ends at its last branch, constants follow.
        fs::remove(first + ".ctrl.bin");
        const Outcome alone = run("disasm --source '" + first + ".gpu.bin'");
        ASSERT_EQ(run("asm '" + write("c.sass", alone.out) + "' -o '" + second + "'").code, 0) << alone.out;
        EXPECT_EQ(read("second.gpu.bin"), read("first.gpu.bin")) << alone.out;
    }
}

TEST_F(Command, SourcesOfTheCorpusMakeTheSameAreas) {
    if (!fs::exists(corpus / "glsl/dev"))
        GTEST_SKIP() << "no " << corpus / "glsl/dev"
                     << " here";
    const auto bytes_of = [](const fs::path& path) {
        std::ifstream file(path, std::ios::binary);
        return std::string(std::istreambuf_iterator<char>(file), {});
    };
    int checked = 0, different = 0;
    for (const auto& entry : fs::recursive_directory_iterator(corpus / "glsl/dev")) {
        const std::string area = entry.path().string();
        if (!area.ends_with(".gpu.bin"))
            continue;
        const std::string code = bytes_of(area.substr(0, area.size() - 8) + ".code.bin");
        ASSERT_EQ(run("disasm --source '" + area + "' >'" + (folder / "a.sass").string() + "'").code, 0) << area;
        ASSERT_EQ(run("asm '" + (folder / "a.sass").string() + "' -o '" + (folder / "a").string() + "'").code, 0)
            << area;
        const std::string want = bytes_of(area), got = read("a.gpu.bin");
        const bool compute = fs::path(area).filename() == "comp.gpu.bin";
        if (!compute) {
            EXPECT_EQ(got.substr(0x30, 0x50), want.substr(0x30, 0x50)) << area; // the program header
        }
        const std::string words = got.substr(compute ? 0x100 : 0x80, code.size());
        for (std::size_t at = 0; at + 8 <= code.size(); at += 8)
            different += words.compare(at, 8, code, at, 8) != 0;
        ++checked;
    }
    EXPECT_EQ(checked, 182);
    EXPECT_LE(different, 2); // two F2I have a bit set that says nothing
}

// A DKSH with a vertex program in two parts: the second stands behind the first, as a source in comments.
TEST_F(Command, BothPartsOfAVertexProgramHaveASource) {
    const auto part = [&](const std::string& source) { // the program header and its code
        EXPECT_EQ(run("asm '" + write("part.sass", source) + "' -o '" + (folder / "part").string() + "'").code, 0);
        return read("part.gpu.bin").substr(0x30);
    };
    std::string file(0x130, '\0');
    const auto put = [&](std::size_t at, std::uint32_t value) { std::memcpy(&file[at], &value, sizeof(value)); };
    file += part(".stage vertex\nALD.128 R0, a[0x80]\nAST.128 a[0x70], R0\nEXIT\n");
    file.resize((file.size() + 63) / 64 * 64 + 0x30);
    const auto first_at = static_cast<std::uint32_t>(file.size() - 0x100);
    file += part(".stage vertexa\nALD R5, a[0x90]\nEXIT\n");
    file.replace(0, 4, "DKSH");
    put(0x04, 0x18);
    put(0x08, 0x100);
    put(0x0c, static_cast<std::uint32_t>(file.size() - 0x100));
    put(0x10, 0x40);
    put(0x14, 1);
    put(0x44, 0x30);
    put(0x48, 4);
    put(0x58, first_at);
    put(0x5c, 6);
    const Outcome printed = run("disasm --source '" + write("two.dksh", file) + "'");
    EXPECT_EQ(printed.code, 0);
    const std::size_t second = printed.out.find("// second part\n");
    ASSERT_NE(second, printed.out.npos);
    const std::string first_source = printed.out.substr(0, second);
    EXPECT_THAT(first_source, HasSubstr("\n.stage vertexa\n"));
    EXPECT_THAT(first_source, HasSubstr("ALD R5, a[0x90] ;"));
    std::istringstream lines(printed.out.substr(second));
    std::string second_source;
    for (std::string line; std::getline(lines, line);)
        if (line != "// second part" && line.starts_with("// "))
            second_source += line.substr(3) + '\n';
    EXPECT_THAT(second_source, testing::StartsWith(".stage vertex\n"));
    EXPECT_EQ(part(second_source), part(".stage vertex\nALD.128 R0, a[0x80]\nAST.128 a[0x70], R0\nEXIT\n"));
}

// Every byte of the output, blanks too.
TEST_F(Command, WordsPrintTheVendorsFileExactly) {
    std::ifstream table(corpus / "../isa/disassembly.tsv"), rejected(corpus / "../isa/invalid.txt");
    if (!table || !rejected)
        GTEST_SKIP() << "no vendor disassembly at " << corpus / "../isa"
                     << " here";
    std::string words, want;
    for (std::string line; std::getline(table, line);) {
        if (line.starts_with('#'))
            continue;
        words += line.substr(0, line.find('\t')) + '\n';
        want += line + '\n';
    }
    for (std::string line; std::getline(rejected, line);) {
        if (line.starts_with('#'))
            continue;
        words += line + '\n';
        want += line + "\tinvalid\n";
    }
    EXPECT_TRUE(run("disasm --words <'" + write("words", words) + "'").out == want);
}

TEST_F(Command, RawCodeOfNoBundleIsAnError) {
    const Outcome empty = run("disasm --raw '" + write("empty", "") + "' 2>&1");
    EXPECT_EQ(empty.code, 1);
    EXPECT_THAT(empty.out, HasSubstr("empty: 0 bytes of raw code, a bundle has 32"));
    EXPECT_EQ(run("disasm --raw --json '" + write("short", std::string(24, '\0')) + "' 2>/dev/null").code, 1);
}

TEST_F(Command, SourcesOfKernelsAssembleBack) {
    if (!fs::exists(corpus / "ptx/dev"))
        GTEST_SKIP() << "no " << corpus / "ptx/dev"
                     << " here";
    const std::string source = (folder / "k.sass").string(), output = (folder / "k").string();
    int checked = 0;
    for (const auto& entry : fs::directory_iterator(corpus / "ptx/dev")) {
        const std::string cubin = (entry.path() / "kernel.cubin").string();
        ASSERT_EQ(run("disasm --source '" + cubin + "' >'" + source + "'").code, 0) << cubin;
        ASSERT_EQ(run("asm '" + source + "' -o '" + output + "'").code, 0) << cubin;
        const Listing want = read_listing(run("disasm '" + cubin + "'").out);
        Listing got = read_listing(run("disasm '" + output + ".gpu.bin'").out);
        ASSERT_GE(got.words.size(), want.words.size()) << cubin; // padding may grow
        got.words.resize(want.words.size());
        EXPECT_EQ(got.words, want.words) << cubin;
        ++checked;
    }
    EXPECT_GT(checked, 100);
}

// Lines of a graph that name blocks (without their text) and edges.
std::vector<std::string> blocks_and_edges(const std::string& graph) {
    std::vector<std::string> found;
    std::istringstream lines(graph);
    for (std::string line; std::getline(lines, line);)
        if (line.starts_with("  b") || line.starts_with("  indirect"))
            found.push_back(line.find("->") != line.npos ? line.substr(2) : line.substr(2, line.find(' ', 2) - 2));
    return found;
}

TEST_F(Command, ControlFlowIsAGraphOfBlocks) {
    const auto graph_of = [&](const std::string& source) {
        const std::string output = (folder / "graph").string();
        EXPECT_EQ(run("asm '" + write("graph.sass", ".stage compute\n" + source) + "' -o '" + output + "'").code, 0);
        const Outcome outcome = run("disasm --cfg '" + output + ".gpu.bin'");
        EXPECT_EQ(outcome.code, 0);
        EXPECT_THAT(outcome.out, testing::StartsWith("digraph \"compute\" {\n"));
        EXPECT_THAT(outcome.out, testing::EndsWith("}\n"));
        return outcome.out;
    };
    // Instructions stand at 0x08, 0x10, 0x18, 0x28, ...
    const std::string loop = graph_of("    MOV32I R0, 0x4\n"                  // 08
                                      "    SSY done\n"                        // 10
                                      "again:\n"                              //
                                      "    IADD32I R0, R0, -0x1\n"            // 18
                                      "    ISETP.NE.AND P0, PT, R0, RZ, PT\n" // 28
                                      "    @P0 BRA again\n"                   // 30
                                      "    SYNC\n"                            // 38
                                      "done:\n"                               //
                                      "    EXIT\n");                          // 48
    EXPECT_THAT(blocks_and_edges(loop),
                testing::UnorderedElementsAre("b0008", "b0018", "b0038", "b0048", "b0008 -> b0018;",
                                              "b0008 -> b0048 [label=\"SSY\"] [style=dashed];",
                                              "b0018 -> b0018 [label=\"@P0\"];", "b0018 -> b0038 [label=\"@!P0\"];",
                                              "b0038 -> b0048 [label=\"SYNC\"];"));
    EXPECT_THAT(loop, HasSubstr("b0038 [label=\"0038: SYNC ;\\l\"];"));

    // A break drops the reconvergence point above it; a call comes back behind itself.
    const std::string calls = graph_of("    PBK out\n"      // 08
                                       "    SSY joined\n"   // 10
                                       "    @!P1 BRK\n"     // 18
                                       "    SYNC\n"         // 28
                                       "joined:\n"          //
                                       "    CAL function\n" // 30
                                       "out:\n"             //
                                       "    EXIT\n"         // 38
                                       "function:\n"        //
                                       "    BRX R0 0x0\n"); // 48
    EXPECT_THAT(blocks_and_edges(calls),
                testing::UnorderedElementsAre("b0008", "b0028", "b0030", "b0038", "b0048", "indirect",
                                              "b0008 -> b0038 [label=\"PBK\"] [style=dashed];",
                                              "b0008 -> b0030 [label=\"SSY\"] [style=dashed];",
                                              "b0008 -> b0038 [label=\"@!P1 BRK\"];", "b0008 -> b0028 [label=\"@P1\"];",
                                              "b0028 -> b0030 [label=\"SYNC\"];",
                                              "b0030 -> b0048 [label=\"CAL\"] [style=dashed];", "b0048 -> indirect;"));
    const std::string returns = graph_of("    CAL function\n" // 08
                                         "    EXIT\n"         // 10
                                         "function:\n"        //
                                         "    RET\n");        // 18
    EXPECT_THAT(blocks_and_edges(returns),
                testing::UnorderedElementsAre("b0008", "b0010", "b0018",
                                              "b0008 -> b0018 [label=\"CAL\"] [style=dashed];",
                                              "b0018 -> b0010 [label=\"RET\"];"));
}

} // namespace
