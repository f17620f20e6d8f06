// heaviside trace over traces written by hand: the form is that of src/nvn/trace.h.
#include "tests/tools/command.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <string>

namespace {

using testing::HasSubstr;
using testing::Not;

class TraceCommand : public heaviside::test::CommandTest {
protected:
    int code = -1;
    std::string run(const std::string& arguments) {
        const heaviside::test::Outcome outcome = heaviside::test::run_command("trace " + arguments);
        code = outcome.code;
        return outcome.out;
    }
};

const std::string first =
    "nvnSyncInitialize(Sync#1, Device#1) = true\n"
    "nvnCommandBufferInsertDebugMarker(CommandBuffer#1, \"a, b) = {\")\n"
    "t2 nvnCommandBufferDrawArrays(CommandBuffer#12, DRAW_PRIMITIVE_POINTS, 0, 3)\n"
    "nvnQueuePresentTexture(Queue#1, Window#1, 0)\n"
    "nvnTextureViewGetLevels(TextureView#1, pointer, pointer) = true {baseLevel: 2, numLevels: 1}\n"
    "nvnCommandBufferSetScissors(CommandBuffer#1, 0, 1, [0, 0, 64, 64])\n";

TEST_F(TraceCommand, PrintsCallsByFrameWithTheirLines) {
    const std::string out = run(write("a", first));
    EXPECT_EQ(code, 0);
    EXPECT_EQ(out.substr(0, out.find("nvnCommandBufferInsert")),
              "frame 1\n       1  nvnSyncInitialize(Sync#1, Device#1) = true\n       2  ");
    EXPECT_THAT(out, HasSubstr("       3  t2 nvnCommandBufferDrawArrays("));
    EXPECT_THAT(out, HasSubstr("\nframe 2\n       5  nvnTextureViewGetLevels("));
}

TEST_F(TraceCommand, FiltersByFunctionObjectThreadAndFrame) {
    const std::string file = write("a", first);
    const auto lines = [&](const std::string& options) {
        const std::string out = run(options + " --json " + file);
        EXPECT_EQ(code, 0) << options;
        std::string numbers;
        const auto json = nlohmann::json::parse(out);
        for (const auto& call : json["calls"])
            numbers += std::to_string(call["line"].get<int>()) + " ";
        return numbers;
    };
    EXPECT_EQ(lines(""), "1 2 3 4 5 6 ");
    EXPECT_EQ(lines("--function 'CommandBuffer*'"), "2 3 6 ");
    EXPECT_EQ(lines("--function '*Levels' --function nvnSyncInitialize"), "1 5 ");
    EXPECT_EQ(lines("--object CommandBuffer#1"), "2 6 "); // not #12
    EXPECT_EQ(lines("--object Window#1 --object Sync#1"), "1 4 ");
    EXPECT_EQ(lines("--thread 2"), "3 ");
    EXPECT_EQ(lines("--frame 2"), "5 6 ");
    EXPECT_EQ(lines("--frame 2-"), "5 6 ");
    EXPECT_EQ(lines("--frame -1 --thread 1"), "1 2 4 ");
}

TEST_F(TraceCommand, JsonHasArgumentsResultsAndOutputs) {
    const auto calls = nlohmann::json::parse(run("--json " + write("a", first)))["calls"];
    EXPECT_EQ(calls[0]["function"], "nvnSyncInitialize");
    EXPECT_EQ(calls[0]["result"], "true");
    EXPECT_EQ(calls[1]["arguments"], (nlohmann::json{"CommandBuffer#1", "\"a, b) = {\""}));
    EXPECT_EQ(calls[2]["thread"], 2);
    EXPECT_EQ(calls[4]["outputs"], (nlohmann::json{{"baseLevel", "2"}, {"numLevels", "1"}}));
    EXPECT_EQ(calls[4]["result"], "true");
    EXPECT_EQ(calls[5]["arguments"][3], "[0, 0, 64, 64]");
    EXPECT_FALSE(calls[5].contains("result"));
}

TEST_F(TraceCommand, ComparesThreadByThread) {
    const std::string a = write("a", first);
    // The second thread's call lies elsewhere: chance. A scissor differs, a call is new.
    std::string other = first;
    const std::string drawn = "t2 nvnCommandBufferDrawArrays(CommandBuffer#12, DRAW_PRIMITIVE_POINTS, 0, 3)\n";
    other.erase(other.find(drawn), drawn.size());
    const std::string moved = write("moved", other + drawn);
    EXPECT_EQ(run(a + " --compare " + moved), "");
    EXPECT_EQ(code, 0);
    other.replace(other.find("64, 64"), 6, "64, 32");
    const std::string b = write("b", drawn + "nvnQueueFlush(Queue#1)\n" + other);
    const std::string out = run(a + " --compare " + b);
    EXPECT_EQ(code, 1);
    EXPECT_EQ(out, "@@ thread 1 -none +line 2 (frame 1)\n"
                   "+nvnQueueFlush(Queue#1)\n"
                   "@@ thread 1 -line 6 (frame 2) +line 7 (frame 2)\n"
                   "-nvnCommandBufferSetScissors(CommandBuffer#1, 0, 1, [0, 0, 64, 64])\n"
                   "+nvnCommandBufferSetScissors(CommandBuffer#1, 0, 1, [0, 0, 64, 32])\n");
    const auto json = nlohmann::json::parse(run(a + " --json --compare " + b));
    EXPECT_EQ(code, 1);
    EXPECT_EQ(json["same"], false);
    EXPECT_EQ(json["differences"].size(), 2u);
    EXPECT_EQ(json["differences"][1]["right"][0]["arguments"][3], "[0, 0, 64, 32]");
    EXPECT_EQ(run(a + " --function '*Present*' --compare " + b), ""); // filters hold for both
    EXPECT_EQ(code, 0);
}

TEST_F(TraceCommand, NumbersOfObjectsCanBeLeftOut) {
    const std::string a = write("a", "nvnSyncFinalize(Sync#1)\n"), b = write("b", "nvnSyncFinalize(Sync#2)\n");
    (void)run(a + " --compare " + b);
    EXPECT_EQ(code, 1);
    (void)run(a + " --ignore-numbers --compare " + b);
    EXPECT_EQ(code, 0);
}

TEST_F(TraceCommand, FindsTheFewestDifferencesInLongRuns) {
    std::string a, b;
    for (int i = 0; i < 3000; ++i) {
        const std::string call = "nvnQueueFlush(Queue#" + std::to_string(i % 7) + ")\n";
        a += call;
        if (i % 500 != 250)
            b += call;
        if (i % 700 == 350)
            b += "nvnQueueFinish(Queue#1)\n";
    }
    const auto json = nlohmann::json::parse(run(write("a", a) + " --json --compare " + write("b", b)));
    std::size_t left = 0, right = 0;
    for (const auto& difference : json["differences"]) {
        left += difference["left"].size();
        right += difference["right"].size();
    }
    EXPECT_EQ(left, 6u);  // 250, 750, ...
    EXPECT_EQ(right, 4u); // 350, 1050, 1750, 2450
}

TEST_F(TraceCommand, CountsCalls) {
    EXPECT_THAT(run("--counts " + write("a", first + "nvnQueueFlush(Queue#1)\nnvnQueueFlush(Queue#1)\n")),
                testing::StartsWith("       2  nvnQueueFlush\n"));
}

TEST_F(TraceCommand, ErrorsAndExitCodes) {
    EXPECT_THAT(run("--help"), HasSubstr("--compare"));
    EXPECT_EQ(code, 0);
    (void)run("2>/dev/null");
    EXPECT_EQ(code, 2);
    const std::string a = write("a", first);
    (void)run(a + " --frame x 2>/dev/null");
    EXPECT_EQ(code, 2);
    (void)run(a + " --ignore-numbers 2>/dev/null");
    EXPECT_EQ(code, 2);
    EXPECT_THAT(run("'" + (folder / "none").string() + "' 2>&1"), HasSubstr("none"));
    EXPECT_EQ(code, 3);
    EXPECT_THAT(run(write("bad", "not a call\n") + " 2>&1"), HasSubstr("1 lines are no calls"));
    EXPECT_EQ(code, 1);
    EXPECT_THAT(run(write("cut", first + "nvnSyncWait(Sync#1, ") + " 2>/dev/null"), Not(HasSubstr("nvnSyncWait")));
    EXPECT_EQ(code, 0); // the program ended within a line
}

} // namespace
