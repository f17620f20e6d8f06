// The command as a person or a script uses it: output, exit codes, errors that name what and where.
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <sys/wait.h>

namespace {

using testing::HasSubstr;
namespace fs = std::filesystem;

struct Outcome {
    int code = -1;
    std::string out; // standard output and, where the command line says so, standard error
};

Outcome run(const std::string& arguments) {
    Outcome outcome;
    std::FILE* const pipe = popen(("'" HEAVISIDE_COMMAND "' " + arguments).c_str(), "r");
    if (!pipe)
        return outcome;
    std::array<char, 4096> buffer;
    for (std::size_t n; (n = std::fread(buffer.data(), 1, buffer.size(), pipe)) != 0;)
        outcome.out.append(buffer.data(), n);
    const int status = pclose(pipe);
    outcome.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    return outcome;
}

class Command : public testing::Test {
protected:
    const fs::path folder = fs::path(testing::TempDir()) / "heaviside_command_test";
    void SetUp() override {
        fs::remove_all(folder);
        fs::create_directories(folder);
    }
    void TearDown() override { fs::remove_all(folder); }
    std::string write(const std::string& name, const std::string& text) const {
        std::ofstream(folder / name, std::ios::binary) << text;
        return (folder / name).string();
    }
    std::string read(const std::string& name) const {
        std::ifstream file(folder / name, std::ios::binary);
        return {std::istreambuf_iterator<char>(file), {}};
    }
};

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
    EXPECT_EQ(run("asm /no/such/file.sass -o x 2>/dev/null").code, 1);
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

} // namespace
