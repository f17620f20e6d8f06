// The generator's promises, and the reducer's.
#include "tests/generate/kernel.h"

#include <gtest/gtest.h>

#include <set>

namespace heaviside::generate {
namespace {

constexpr u64 seeds = 400;

TEST(Generator, SameSeedSameProgram) {
    EXPECT_EQ(kernel_source(generate(7)), kernel_source(generate(7)));
    EXPECT_NE(kernel_source(generate(7)), kernel_source(generate(8)));
}

TEST(Generator, ProgramsAssembleAndEndWithoutAFault) {
    for (u64 seed = 0; seed < seeds; ++seed) {
        const Program program = generate(seed);
        const auto kernel = assemble(program);
        ASSERT_TRUE(kernel) << kernel.error().message << "\n" << kernel_source(program);
        const auto output = interpret(*kernel);
        ASSERT_TRUE(output) << output.error().message << "\n" << kernel_source(program);
        EXPECT_NE(*output, kernel->start);
    }
}

TEST(Generator, ProgramsReachEveryKindOfStatementAndMostOpcodes) {
    std::set<std::string> mnemonics;
    bool kinds[4] = {};
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
    EXPECT_GE(mnemonics.size(), 75u);
}

TEST(Reducer, LeavesOnlyWhatTheFailureNeeds) {
    // A failure that needs two instructions in one program, one of them under a guard or not.
    const auto fails = [](const Program& program) {
        const std::string source = kernel_source(program);
        const auto first = source.find("XMAD");
        return first != std::string::npos && source.find("POPC", first) != std::string::npos;
    };
    u64 seed = 0;
    while (!fails(generate(seed)))
        ++seed;
    const Program reduced = reduce(generate(seed), fails);
    EXPECT_TRUE(fails(reduced));
    EXPECT_EQ(size(reduced), 2u) << kernel_source(reduced);
    EXPECT_EQ(kernel_source(reduced).find('@'), std::string::npos);
}

} // namespace
} // namespace heaviside::generate
