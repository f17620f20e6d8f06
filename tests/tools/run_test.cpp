// `heaviside run` as a person or a script uses it.
#include "tests/tools/command.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <string>

namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;
namespace fs = std::filesystem;
using heaviside::test::Outcome;

class Run : public heaviside::test::CommandTest {
protected:
    void SetUp() override {
        CommandTest::SetUp();
        write("add.sass", source);
    }
    // Standard output and error of `heaviside run ARGUMENTS` in the folder.
    Outcome run(const std::string& arguments) const {
        return heaviside::test::run_command("run " + arguments + " 2>&1", folder);
    }

    // Adds the second argument to the word of each of four threads.
    static constexpr const char* source = ".stage compute\n"
                                          ".workgroup 4 1 1\n"
                                          "    S2R R0, SR_TID.X\n"              // 08
                                          "    SHL R1, R0, 0x2\n"               // 10
                                          "    IADD R2.CC, R1, c[0x0][0x140]\n" // 18
                                          "    MOV R3, c[0x0][0x144]\n"         // 28
                                          "    LDG.E R4, [R2]\n"                // 30
                                          "    CAL add\n"                       // 38
                                          "    STG.E [R2], R4\n"                // 48
                                          "    EXIT\n"                          // 50
                                          "add:\n"
                                          "    IADD R4, R4, c[0x0][0x148]\n" // 58
                                          "    RET\n";                       // 68
};

// isspacep.global compares with c[0][0xd0]: either way of comparing finds that the buffer is global memory.
TEST_F(Run, TheBoundOfGlobalMemorySuitsTheComparison) {
    const char* const text = ".stage compute\n"
                             "    MOV R2, c[0x0][0x140]\n"
                             "    MOV R3, c[0x0][0x144]\n"
                             "    IADD RZ.CC, R2, -c[0x0][0xd0]\n"
                             "    ISETP.{0}.U32.X.AND P0, PT, R3, c[0x0][0xd4], PT\n"
                             "    EXIT\n";
    for (const std::string compare : {"GE", "LT"}) {
        std::string source_text = text;
        source_text.replace(source_text.find("{0}"), 3, compare);
        write("space.sass", source_text);
        const Outcome outcome = run("space.sass --buffer zero:16 --print P0");
        EXPECT_EQ(outcome.code, 0) << outcome.out;
        EXPECT_THAT(outcome.out, HasSubstr("P0=1")) << compare;
    }
}

TEST_F(Run, BuffersAndScalarsBecomeArgumentsInOrder) {
    write("in.bin", std::string("\1\0\0\0\2\0\0\0\3\0\0\0\4\0\0\0", 16));
    const Outcome outcome = run("add.sass --buffer in.bin:out=out.bin --param u32=0x10 --print R4,CC");
    EXPECT_EQ(outcome.code, 0) << outcome.out;
    EXPECT_EQ(outcome.out, "0,0,0/0 R4={0:00000011 1:00000012 2:00000013 3:00000014}\n"
                           "0,0,0/0 CC={0:Z--- 1:---- 2:---- 3:----}\n");
    EXPECT_EQ(read("out.bin"), std::string("\x11\0\0\0\x12\0\0\0\x13\0\0\0\x14\0\0\0", 16));
    EXPECT_EQ(read("in.bin").substr(0, 4), std::string("\1\0\0\0", 4));
}

TEST_F(Run, DumpAndJsonShowTheEnd) {
    const Outcome dump = run("add.sass --buffer zero:16 --param u32=7 --dump");
    EXPECT_THAT(dump.out, HasSubstr("0,0,0/0 R4=00000007\n"));
    EXPECT_THAT(dump.out, HasSubstr("  000000  07000000 07000000 07000000 07000000\n"));
    const Outcome json = run("add.sass --buffer zero:16 --param u32=7 --print R4 --dump --json");
    EXPECT_EQ(json.code, 0);
    const auto parsed = nlohmann::json::parse(json.out);
    EXPECT_EQ(parsed["warps"][0]["values"]["R4"]["3"], 7);
    EXPECT_EQ(parsed["buffers"][0]["bytes"], "07000000070000000700000007000000");
}

TEST_F(Run, BanksAndRegistersAreGivenAsText) {
    write("bank.sass", ".stage compute\n    MOV R2, c[0x3][0x4]\n    IADD R2, R2, R5\n    EXIT\n");
    EXPECT_EQ(run("bank.sass --bank 3=0,2a --reg R5=0x100 --print R2").out, "0,0,0/0 R2=0000012a\n");
    EXPECT_EQ(run("bank.sass --bank 3=000000002a000000 --reg R5=1 --print R2").out, "0,0,0/0 R2=0000002b\n");
    write("words.bin", std::string("\0\0\0\0\5\0\0\0", 8));
    EXPECT_EQ(run("bank.sass --bank 3=words.bin --reg R5=-1 --print R2").out, "0,0,0/0 R2=00000004\n");
    EXPECT_EQ(run("bank.sass --block 33 --grid 1,2 --reg R5=1.0 --print R2 --lane 0").out,
              "0,0,0/0 R2=3f800000\n0,0,0/1 R2=3f800000\n0,1,0/0 R2=3f800000\n0,1,0/1 R2=3f800000\n");
}

TEST_F(Run, TraceShowsWhatEveryInstructionReadsAndWrites) {
    const Outcome outcome = run("add.sass --buffer zero:16 --param u32=7 --trace");
    EXPECT_THAT(outcome.out, HasSubstr("0,0,0/0 0010 0000000f  SHL R1, R0, 0x2 ; R0={0:00000000 1:00000001 2:00000002 "
                                       "3:00000003} -> R1={0:00000000 1:00000004 2:00000008 3:0000000c}\n"));
    EXPECT_THAT(outcome.out,
                HasSubstr("IADD R4, R4, c[0x0][0x148] ; R4=00000000 c[0x0][0x148]=00000007 -> R4=00000007\n"));
    const Outcome lane = run("add.sass --buffer zero:16 --param u32=7 --trace --lane 3");
    EXPECT_THAT(lane.out, HasSubstr("SHL R1, R0, 0x2 ; R0=00000003 -> R1=0000000c\n"));
    const Outcome json = run("add.sass --buffer zero:16 --param u32=7 --trace --lane 3 --json");
    const auto second = nlohmann::json::parse(
        json.out.substr(json.out.find('\n') + 1, json.out.find('\n', json.out.find('\n') + 1) - json.out.find('\n')));
    EXPECT_EQ(second["written"]["R1"]["3"], 12);
    EXPECT_EQ(second["address"], 16);
}

TEST_F(Run, TheDebuggerStepsBreaksAndPrints) {
    // Stops at 0x08; `next` steps over the call at 0x38.
    write("commands",
          "step\nbreak 0x38\nbreak 4\nbreak 4\ncontinue\nprint R4 c[0][0x148]\nlanes\nnext\nprint R4\nwhat\nquit\n");
    const Outcome outcome = run("add.sass --buffer zero:16 --param u32=7 --step < commands");
    EXPECT_EQ(outcome.code, 0);
    EXPECT_THAT(outcome.out, StartsWith("0,0,0/0 0008 0000000f  S2R R0, SR_TID.X ;\n> 0,0,0/0 0010"));
    EXPECT_THAT(outcome.out,
                HasSubstr("stops at 0038\n>   stops at 0028\n>   no longer stops at 0028\n> 0,0,0/0 0038"));
    EXPECT_THAT(outcome.out, HasSubstr("R4=00000000\n  c[0][0x148]=00000007\n>   active 0000000f"));
    EXPECT_THAT(outcome.out, HasSubstr("> 0,0,0/0 0048 0000000f  STG.E [R2], R4 ;\n>   R4=00000007\n"));
    EXPECT_THAT(outcome.out, HasSubstr("'what' is no command"));
}

TEST_F(Run, GraphicsProgramsTakeAttributes) {
    write("vertex.sass", ".stage vertex\n.in 0 xyzw\n.out position xyzw\n"
                         "    ALD.128 R0, a[0x80]\n    FADD R1, R1, R0\n    AST.128 a[0x70], R0\n    EXIT\n");
    const Outcome outcome = run("vertex.sass --in 0x80=1.5,2.0,0.0,1.0");
    EXPECT_EQ(outcome.code, 0);
    EXPECT_EQ(outcome.out, "a[0x70] 3fc00000 (1.5) 40600000 (3.5) 00000000 (0) 3f800000 (1)\n");
}

TEST_F(Run, PrimitivesAndPatchesTakeAttributesByVertex) {
    // Vertex 2's input, emitted once.
    write("geometry.sass", ".stage geometry\n.topology points\n.max_vertices 1\n.in 0 x\n.out 0 x\n"
                           "    MOV32I R1, 0x2\n    ISBERD R2, [R1]\n    ALD R3, a[0x80], R2\n"
                           "    AST a[0x80], R3, RZ\n    OUT.EMIT_THEN_CUT R0, RZ, RZ\n    EXIT\n");
    const Outcome geometry = run("geometry.sass --in 0x80=1.0 --in 2:0x80=3.0");
    EXPECT_EQ(geometry.code, 0) << geometry.out;
    EXPECT_THAT(geometry.out, HasSubstr("invocation 0 stream 0 vertex 0 a[0x80] 40400000 (3) "));
    EXPECT_THAT(geometry.out, HasSubstr("ends its primitive"));
    // Each control point's number, and a level.
    write("control.sass", ".stage tess_control\n.threads 2\n.patch 1\n.in 0 x\n.out 0 x\n"
                          "    S2R R0, SR_INVOCATION_ID\n    AST a[0x80], R0, RZ\n"
                          "    MOV32I R1, 0x40800000\n    AST.P a[0x0], R1, RZ\n    EXIT\n");
    const Outcome control = run("control.sass");
    EXPECT_EQ(control.code, 0) << control.out;
    EXPECT_THAT(control.out, HasSubstr("point 1 a[0x80] 00000001"));
    EXPECT_THAT(control.out, HasSubstr("patch a[0x0] 40800000 (4)"));
    // The coordinate, and a word of the patch.
    write("eval.sass", ".stage tess_eval\n.in 0 x\n.out position xy\n"
                       "    ALD.O R0, a[0x2f0]\n    ALD.P R1, a[0x20]\n    AST.64 a[0x70], R0\n    EXIT\n");
    const Outcome eval = run("eval.sass --in 0x2f0=0.5,0.25 --in patch:0x20=7");
    EXPECT_EQ(eval.code, 0) << eval.out;
    EXPECT_THAT(eval.out, HasSubstr("a[0x70] 3f000000 (0.5) 00000007"));
    EXPECT_EQ(run("eval.sass --in 32:0x80=1").code, 2);
    EXPECT_EQ(run("eval.sass --in x:0x80=1").code, 2);
    EXPECT_EQ(run("eval.sass --in 0x3fc=1,2").code, 2);
}

TEST_F(Run, TablesOfMeasuredResultsAreCounted) {
    write("table.tsv", "# a comment\n"
                       "add\t00000005\tMOV R2, c[2][0]; IADD R2, R2, 1\tR2\t00000006\n"
                       "add\t00000005\tMOV R2, c[2][0]; IADD R2, R2, 1\tR2\t00000007\n");
    const Outcome outcome = run("--hardware table.tsv");
    EXPECT_EQ(outcome.code, 1);
    EXPECT_THAT(outcome.out,
                HasSubstr("FAIL line 3: MOV R2, c[2][0]; IADD R2, R2, 1: R2 is 00000006 instead of 00000007\n"));
    EXPECT_THAT(outcome.out, EndsWith("\n1 passed, 1 failed\n"));
    write("good.tsv", "shift\t80000000\tMOV R2, c[2][0]; SHR.S32 R2, R2, 0x4\tR2\tf8000000\n");
    EXPECT_EQ(run("--hardware good.tsv").code, 0);
}

TEST_F(Run, CorpusCasesAreComparedVariantByVariant) {
    const std::string kernels = HEAVISIDE_SOURCE_DIR "/tests/data/kernels";
    const Outcome outcome = run("--case '" + kernels + "/cf_early_exit' '" + kernels + "/bar_two_groups'");
    EXPECT_EQ(outcome.code, 0) << outcome.out;
    EXPECT_THAT(outcome.out, HasSubstr("cf_early_exit O3\n"));
    EXPECT_THAT(outcome.out, HasSubstr(", 0 failed\n"));
    // A changed input gives another result.
    fs::copy(kernels + "/mem_shared_reverse", folder / "changed");
    for (const auto& file : fs::directory_iterator(folder / "changed"))
        if (const std::string name = file.path().filename().string(); name.ends_with(".expected.bin")) {
            std::string bytes = read("changed/" + name);
            bytes[0] = static_cast<char>(bytes[0] ^ 1);
            write("changed/" + name, bytes);
        }
    const Outcome changed = run("--case changed");
    EXPECT_EQ(changed.code, 1);
    EXPECT_THAT(changed.out, HasSubstr("1 differences, the first at byte 0x0"));
    EXPECT_EQ(run("--case nowhere").code, 3);
    // Folders at fault.
    const std::string good = read("changed/case.json");
    const auto with = [&](const std::string& from, const std::string& to) {
        std::string text = good;
        EXPECT_NE(text.find(from), std::string::npos) << from;
        text.replace(text.find(from), from.size(), to);
        write("changed/case.json", text);
        const Outcome damaged = run("--case changed");
        EXPECT_EQ(damaged.code, 1) << to;
        return damaged.out;
    };
    EXPECT_THAT(with("\"exact\"", "\"about\""), HasSubstr("'\"about\"' is no way to compare"));
    EXPECT_THAT(with("\"offset\": 0", "\"offset\": -8"), HasSubstr("a parameter at -8, of 8 bytes"));
    EXPECT_THAT(with("\"offset\": 0", "\"offset\": 5000"), HasSubstr("a parameter at 5000"));
    EXPECT_THAT(with("\"type\": \"buffer\"", "\"type\": \"u128\", \"value\": 1"),
                HasSubstr("'u128' is no type of a parameter"));
    EXPECT_THAT(with("{", "["), HasSubstr("parse error"));
}

TEST_F(Run, CubinsTakeTheirParametersFromTheFile) {
    const std::string cubin = HEAVISIDE_SOURCE_DIR "/tests/data/kernels/mem_module_global/kernel.cubin";
    const Outcome outcome = run("--cubin '" + cubin +
                                "' --kernel mem_module_global --grid 2 --block 64 --buffer zero:512 --buffer zero:528");
    EXPECT_EQ(outcome.code, 0) << outcome.out;
    EXPECT_THAT(run("--cubin '" + cubin + "' --buffer zero:512 --param u32=1").out,
                HasSubstr("argument 1 (u32=1) has 4 bytes, the kernel's parameter 8"));
    EXPECT_THAT(run("--cubin '" + cubin + "' --buffer zero:512").out, HasSubstr("1 arguments for 2 parameters"));
    EXPECT_THAT(run("--cubin '" + cubin + "' --kernel other").out, HasSubstr("the file has no kernel other"));
}

TEST_F(Run, ErrorsNameWhatIsWrongAndSetTheExitCode) {
    const Outcome outside = run("add.sass --buffer zero:8 --param u32=1");
    EXPECT_EQ(outside.code, 1);
    EXPECT_THAT(outside.out, HasSubstr("heaviside run: workgroup 0 0 0, warp 0, lane 2, address 0x30: global memory at "
                                       "0x100000008, 4 bytes: nothing is there: LDG.E R4, [R2] ;"));
    write("endless.sass", ".stage compute\nagain:\n    BRA again\n");
    EXPECT_THAT(run("endless.sass --step-limit 100").out, HasSubstr("does not end within the step limit"));
    write("bad.sass", ".stage compute\n    FROB R1\n");
    EXPECT_EQ(run("bad.sass").code, 1);
    EXPECT_EQ(run("nowhere.sass").code, 3);
    EXPECT_EQ(run("add.sass --buffer nowhere.bin").code, 3);
    EXPECT_EQ(run("add.sass --param u33=1").code, 2);
    EXPECT_EQ(run("add.sass --grid 0").code, 2);
    EXPECT_EQ(run("add.sass --print X1").code, 2);
    EXPECT_EQ(run("add.sass --bank 18=0").code, 2);
    EXPECT_EQ(run("add.sass --lane 32").code, 2);
    EXPECT_EQ(run("add.sass --in 0x80=1").code, 2);
    // Numbers that do not fit are not cut.
    EXPECT_EQ(run("add.sass --grid 4294967297").code, 2);
    EXPECT_EQ(run("add.sass --reg R2=0x100000000").code, 2);
    EXPECT_EQ(run("add.sass --param u8=256").code, 2);
    EXPECT_EQ(run("add.sass --param s16=-32769").code, 2);
    EXPECT_EQ(run("add.sass --buffer zero:16 --param u32=-2147483648").code, 0);
    write("empty.sass", "");
    EXPECT_EQ(run("empty.sass").code, 1);
    EXPECT_EQ(run("").code, 2);
    EXPECT_THAT(run("--help").out, HasSubstr("--hardware"));
}

} // namespace
