// Every mnemonic has tests of its own: named here and using it, or rows of arithmetic.tsv. Those without effect, or
// whose effect is not known, are in docs/isa.md by name as well.
#include "maxwell/form.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>

using namespace heaviside;

namespace {

struct Cover {
    const char* mnemonic;
    const char* test; // Suite.Name
    bool documented;  // no effect, or not known: docs/isa.md says so
};

constexpr Cover named[] = {
    {"AL2P", "Pixel.InterpolatesInEveryMode", false},
    {"ALD", "TessControl.ThreadsReadEachOthersInputsAndWriteTheirPointAndThePatch", false},
    {"AST", "Geometry.StreamsAreCutApart", false},
    {"ATOM", "Atomics.OfIntegers", false},
    {"ATOMS", "Atomics.OfIntegers", false},
    {"B2R", "Barrier.ReductionsCountThreadsOfAllWarps", false},
    {"BAR", "Barrier.EveryWarpWaitsForTheOthers", false},
    {"BPT", "System.NothingComesOfSchedulingCachesAndBreakpoints", true},
    {"BRA", "Flow.BranchesTestTheConditionCode", false},
    {"BRK", "Flow.BreakLeavesALoopThroughTheBranchesInside", false},
    {"BRX", "Flow.BrxSendsEveryThreadToItsOwnTarget", false},
    {"CAL", "Flow.CallsReturnToTheirCallers", false},
    {"CCTL", "System.NothingComesOfSchedulingCachesAndBreakpoints", true},
    {"CCTLL", "System.NothingComesOfSchedulingCachesAndBreakpoints", true},
    {"CCTLT", "System.NothingComesOfSchedulingCachesAndBreakpoints", true},
    {"CONT", "Flow.ContinueEndsOneRoundOfALoop", false},
    {"CS2R", "SystemRegisters.ClocksGrow", false},
    {"DEPBAR", "System.NothingComesOfSchedulingCachesAndBreakpoints", true},
    {"EXIT", "Flow.ThreadsThatExitInsideABranchAreNotWaitedFor", false},
    {"FCHK", "Fchk.LetsThroughOnlyWhatTheShortDivisionRoundsRightly", false},
    {"GETCRSPTR", "System.StackPointerIsTheNumberOfCalls", false},
    {"GETLMEMBASE", "System.LocalMemoryBaseIsReadBack", false},
    {"IDE", "System.NothingComesOfSchedulingCachesAndBreakpoints", true},
    {"IPA", "Pixel.InterpolatesInEveryMode", false},
    {"ISBERD", "TessControl.ThreadsReadEachOthersInputsAndWriteTheirPointAndThePatch", false},
    {"JCAL", "Flow.JcalTakesAnAbsoluteAddressAndPretAReturnAddress", false},
    {"JMP", "Flow.JumpsGoToAbsoluteAddresses", false},
    {"JMX", "Flow.JumpsGoToAbsoluteAddresses", false},
    {"KIL", "Pixel.KilledPixelsGoOnAsHelpersAndLeaveNothing", false},
    {"LD", "Memory.LoadsOfAllSizesExtendByTheirType", false},
    {"LDC", "Memory.ConstantsAreReadWithAllSizesAndAnIndex", false},
    {"LDG", "Memory.LoadsOfAllSizesExtendByTheirType", false},
    {"LDL", "Memory.LoadsOfAllSizesExtendByTheirType", false},
    {"LDS", "Memory.LoadsOfAllSizesExtendByTheirType", false},
    {"LEPC", "System.LepcGivesItsOwnAddress", false},
    {"LONGJMP", "Flow.LongjmpLeavesEverythingAboveItsToken", false},
    {"MEMBAR", "System.NothingComesOfSchedulingCachesAndBreakpoints", true},
    {"MOV", "Moves.MovTakesAMaskOfLanesOfAQuad", false},
    {"MUFU", "Mufu.EndsOfTheRange", false},
    {"NOP", "System.NothingComesOfSchedulingCachesAndBreakpoints", true},
    {"OUT", "Geometry.EmitsVerticesAndCutsPrimitives", false},
    {"PBK", "Flow.BreakLeavesALoopThroughTheBranchesInside", false},
    {"PCNT", "Flow.ContinueEndsOneRoundOfALoop", false},
    {"PEXIT", "Flow.PexitMakesExitAJump", false},
    {"PIXLD", "Pixel.PixldTellsAboutSamples", false},
    {"PLONGJMP", "Flow.LongjmpLeavesEverythingAboveItsToken", false},
    {"PRET", "Flow.JcalTakesAnAbsoluteAddressAndPretAReturnAddress", false},
    {"PSETP", "Moves.PsetpJoinsThreePredicates", false},
    {"R2B", "Barrier.StateAndRestoringAreTheSchedulersBusiness", true},
    {"RAM", "System.NothingComesOfSchedulingCachesAndBreakpoints", true},
    {"RED", "Atomics.OfIntegers", false},
    {"RET", "Flow.CallsReturnToTheirCallers", false},
    {"RRO", "Mufu.StaysWithinTheDocumentedError", false},
    {"RTT", "Flow.RttEndsTheThread", false},
    {"S2R", "SystemRegisters.ThreadsKnowTheirPlace", false},
    {"SAM", "System.NothingComesOfSchedulingCachesAndBreakpoints", true},
    {"SEL", "Moves.MovAndSel", false},
    {"SETCRSPTR", "System.StackPointerIsTheNumberOfCalls", false},
    {"SETLMEMBASE", "System.LocalMemoryBaseIsReadBack", false},
    {"SHFL", "Shuffle.UpDownAndButterflyStopAtTheSegment", false},
    {"SSY", "Flow.SyncJoinsBothSidesOfABranch", false},
    {"ST", "Memory.StoresOfAllSizesTouchNothingElse", false},
    {"STG", "Memory.StoresOfAllSizesTouchNothingElse", false},
    {"STL", "Memory.StoresToSharedAndLocalMemoryTouchNothingElse", false},
    {"STP", "System.NothingComesOfSchedulingCachesAndBreakpoints", true},
    {"STS", "Memory.StoresToSharedAndLocalMemoryTouchNothingElse", false},
    {"SUATOM", "Suatom.GivesTheOldValue", false},
    {"SULD", "Suld.FormattedAccessesDecode", false},
    {"SURED", "Sured.ChangesTheTexel", false},
    {"SUST", "Sust.RawAndFormatted", false},
    {"SYNC", "Flow.SyncJoinsBothSidesOfABranch", false},
    {"TEX", "Cube.DirectionsFindFaceAndTexel", false},
    {"TEXS", "Texs.SplitsCoordinatesAndResultsBetweenRegisters", false},
    {"TLD", "Tld.FetchesByNumber", false},
    {"TLD4", "Tld4.GathersCounterClockwiseFromLowerLeft", false},
    {"TLD4S", "Tld4s.SplitsCoordinatesAndResults", false},
    {"TLDS", "Tlds.SplitsCoordinatesBetweenRegisters", false},
    {"TMML", "Quad.TmmlGivesLevelsInFixedPoint", false},
    {"TXA", "Texture.WhatIsNotKnownIsANamedError", true},
    {"TXD", "Txd.TakesTheLevelFromItsGradients", false},
    {"TXQ", "Txq.TellsDimensionsSamplesAndBorder", false},
    {"VOTE", "Vote.AllAnyAndEqualOverTheThreadsThatVote", false},
};

std::string read(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

// The words of a text that could be mnemonics.
std::set<std::string> words_of(std::string_view text) {
    std::set<std::string> words;
    for (std::size_t at = 0; at < text.size();) {
        const auto part = [&](std::size_t i) {
            return std::isupper(static_cast<unsigned char>(text[i])) ||
                   std::isdigit(static_cast<unsigned char>(text[i])) || text[i] == '_';
        };
        std::size_t end = at;
        while (end < text.size() && part(end))
            ++end;
        // "\nLDG" in a literal: the escape's letter is lower case, so that words begin behind it.
        if (end != at)
            words.emplace(text.substr(at, end - at));
        at = end == at ? at + 1 : end;
    }
    return words;
}

// Suite.Name to the words of the test's source.
std::map<std::string, std::set<std::string>> tests_of_this_floor() {
    std::map<std::string, std::set<std::string>> tests;
    for (const auto& file : std::filesystem::directory_iterator(HEAVISIDE_SOURCE_DIR "/tests/interpreter")) {
        if (file.path().extension() != ".cpp" || file.path().filename() == "coverage_test.cpp")
            continue;
        const std::string text = read(file.path());
        constexpr std::string_view start = "\nTEST(";
        for (std::size_t at = text.find(start); at != std::string::npos;) {
            const std::size_t comma = text.find(',', at), close = text.find(')', at), next = text.find(start, close);
            const std::size_t suite = at + start.size();
            tests[text.substr(suite, comma - suite) + "." + text.substr(comma + 2, close - comma - 2)] =
                words_of(std::string_view(text).substr(close, next - close));
            at = next;
        }
    }
    return tests;
}

// How many rows of the arithmetic table execute a mnemonic, other than to set operands up.
std::map<std::string, unsigned> rows_of_the_table() {
    std::map<std::string, unsigned> rows;
    std::ifstream table(HEAVISIDE_SOURCE_DIR "/tests/data/arithmetic.tsv");
    for (std::string line; std::getline(table, line);) {
        std::size_t at = line.find('\t', line.find('\t') + 1);
        const std::size_t end = line.find('\t', at + 1);
        while (at < end) {
            const std::size_t next = std::min(line.find(';', at + 1), end);
            std::string_view text = std::string_view(line).substr(at + 1, next - at - 1);
            text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
            if (text.starts_with('@'))
                text.remove_prefix(std::min(text.find(' ') + 1, text.size()));
            if (!text.starts_with("MOV "))
                ++rows[std::string(text.substr(0, text.find_first_of(". ")))];
            at = next;
        }
    }
    return rows;
}

TEST(Coverage, EveryMnemonicHasATestOfItsOwn) {
    const auto tests = tests_of_this_floor();
    auto rows = rows_of_the_table();
    const auto documented = words_of(read(HEAVISIDE_SOURCE_DIR "/docs/isa.md"));
    std::set<std::string> mnemonics;
    for (const maxwell::Form& form : maxwell::Table::get().forms())
        mnemonics.emplace(maxwell::mnemonic(form.opcode));
    EXPECT_EQ(mnemonics.size(), 153u);
    for (const std::string& name : mnemonics) {
        const Cover* const cover =
            std::ranges::find_if(named, [&](const Cover& each) { return name == each.mnemonic; });
        if (cover == std::end(named)) {
            EXPECT_GE(rows[name], 5u) << name << " has no test: name one here, or add rows to arithmetic.py";
            continue;
        }
        const auto test = tests.find(cover->test);
        ASSERT_NE(test, tests.end()) << cover->test << " is gone";
        EXPECT_TRUE(test->second.contains(name)) << cover->test << " has no " << name;
        if (cover->documented) {
            EXPECT_TRUE(documented.contains(name)) << "docs/isa.md does not say why " << name << " does nothing";
        }
    }
    for (const Cover& cover : named)
        EXPECT_TRUE(mnemonics.contains(cover.mnemonic)) << cover.mnemonic;
}

} // namespace
