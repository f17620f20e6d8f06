// The generator's promises, and the reducer's.
#include "tests/generate/run.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace heaviside::generate {
namespace {

constexpr u64 seeds = 400;

TEST(Generator, SameSeedSameProgram) {
    EXPECT_EQ(source(generate(7)), source(generate(7)));
    EXPECT_NE(source(generate(7)), source(generate(8)));
}

TEST(Generator, ProgramsAssembleAndEndWithoutAFault) {
    using enum Stage;
    for (u64 seed = 0; seed < seeds; ++seed) {
        std::vector<Program> programs;
        for (const Stage stage :
             seed % 8 != 0 ? std::vector{Compute} : std::vector{Vertex, TessControl, TessEval, Geometry, Fragment})
            programs.push_back(generate(seed, {}, stage));
        const auto prepared = prepare(programs);
        ASSERT_TRUE(prepared) << prepared.error().message << "\n" << source(programs[0]);
        const auto outcome = interpret(*prepared);
        ASSERT_TRUE(outcome) << outcome.error().message << "\n" << source(programs[0]);
        if (programs.size() == 1)
            EXPECT_NE(outcome->memory.at(Compute), prepared->parts[0].memory);
        else
            EXPECT_GT(std::ranges::count_if(outcome->targets, [](u32 word) { return word != clear; }), 1000);
    }
}

TEST(Generator, ProgramsReachEveryKindOfStatementAndMostOpcodes) {
    std::set<std::string> mnemonics;
    bool kinds[6] = {};
    const std::function<void(const std::vector<Statement>&)> visit = [&](const std::vector<Statement>& list) {
        for (const Statement& statement : list) {
            kinds[static_cast<int>(statement.kind)] = true;
            for (std::string line : statement.lines) {
                if (line.starts_with('@'))
                    line.erase(0, line.find(' ') + 1);
                mnemonics.insert(line.substr(0, line.find_first_of(" .")));
            }
            visit(statement.body);
            visit(statement.otherwise);
        }
    };
    for (u64 seed = 0; seed < seeds; ++seed)
        visit(generate(seed).statements);
    for (const bool kind : kinds)
        EXPECT_TRUE(kind);
    EXPECT_GE(mnemonics.size(), 110u);
}

TEST(Reducer, LeavesOnlyWhatTheFailureNeeds) {
    // A failure that needs two instructions in one program, one of them under a guard or not.
    const auto fails = [](const Program& program) {
        const std::string text = source(program);
        const auto first = text.find("XMAD");
        return first != std::string::npos && text.find("POPC", first) != std::string::npos;
    };
    // Without branches: between the sides of one, order alone may need it.
    const Options straight{.depth = 0};
    u64 seed = 0;
    while (!fails(generate(seed, straight)))
        ++seed;
    Program program = generate(seed, straight);
    Statement branch;
    branch.kind = Statement::Kind::If;
    branch.predicate = "P0";
    branch.body = std::move(program.statements);
    program.statements = {branch};
    const Program reduced = reduce(program, fails);
    EXPECT_TRUE(fails(reduced));
    EXPECT_EQ(size(reduced), 2u) << source(reduced);
    EXPECT_EQ(source(reduced).find('@'), std::string::npos);
}

} // namespace
} // namespace heaviside::generate
