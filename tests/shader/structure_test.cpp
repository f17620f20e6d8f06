// Structured statements take the same way through a program as its graph does.
#include "shader/ir_text.h"
#include "shader/passes.h"
#include "shader/structure.h"

#include <gtest/gtest.h>

#include <random>

namespace heaviside::shader::ir {
namespace {

constexpr std::size_t step_limit = 300;

// Decisions come from the number of blocks visited so far, so that both walks decide alike.
u32 decision(u32 seed, std::size_t step) {
    u64 x = (seed + step * 0x9e3779b97f4a7c15ull) * 0xd1342543de82ef95ull;
    return static_cast<u32>(x >> 40);
}

std::vector<BlockId> walk_graph(const Program& program, u32 seed) {
    std::vector<BlockId> path;
    BlockId at = 0;
    while (path.size() < step_limit) {
        path.push_back(at);
        const Terminator& end = program.blocks[at].end;
        const u32 choice = decision(seed, path.size());
        switch (end.kind) {
        case Terminator::Kind::Branch:
            at = end.target[0];
            break;
        case Terminator::Kind::BranchIf:
            at = end.target[choice % 2 == 0 ? 0 : 1];
            break;
        case Terminator::Kind::Switch: {
            const u32 value = choice % 4;
            at = end.target[0];
            for (const SwitchCase& c : end.cases)
                if (c.value == value)
                    at = c.target;
            break;
        }
        default:
            return path;
        }
    }
    return path;
}

class StatementWalk {
public:
    StatementWalk(const Structure& s, u32 seed_) : structure(s), seed(seed_), flags(s.flag_count, false) {}
    std::vector<BlockId> run() {
        (void)list(structure.first);
        return path;
    }

private:
    enum class Leave { No, Once, Loop, Again, All };

    Leave list(u32 at) {
        for (; at != no_statement; at = structure.statements[at].next)
            if (const Leave leave = one(structure.statements[at]); leave != Leave::No)
                return leave;
        return Leave::No;
    }

    Leave one(const Statement& s) {
        if (path.size() >= step_limit)
            return Leave::All;
        switch (s.kind) {
        case StatementKind::Code:
            path.push_back(s.a);
            return path.size() >= step_limit ? Leave::All : Leave::No;
        case StatementKind::If:
            return list(s.child[decision(seed, path.size()) % 2 == 0 ? 0 : 1]);
        case StatementKind::IfFlag:
            return flags[s.a] ? list(s.child[0]) : Leave::No;
        case StatementKind::SetFlag:
            flags[s.a] = s.b != 0;
            return Leave::No;
        case StatementKind::Once: {
            const Leave leave = list(s.child[0]);
            return leave == Leave::Once ? Leave::No : leave;
        }
        case StatementKind::Switch: {
            const u32 value = decision(seed, path.size()) % 4;
            u32 taken = no_statement, otherwise = no_statement;
            for (u32 c = s.child[0]; c != no_statement; c = structure.statements[c].next) {
                const Statement& one_case = structure.statements[c];
                if (one_case.b == 0)
                    otherwise = c;
                for (u32 i = 0; i < one_case.b; ++i)
                    if (structure.case_values[one_case.a + i] == value)
                        taken = c;
            }
            const Leave leave = list(structure.statements[taken != no_statement ? taken : otherwise].child[0]);
            return leave == Leave::Once ? Leave::No : leave;
        }
        case StatementKind::Loop:
            while (true) {
                const Leave leave = list(s.child[0]);
                EXPECT_NE(leave, Leave::Once) << "a break leaves a construct around the loop";
                if (leave == Leave::Loop)
                    return Leave::No;
                if (leave == Leave::All || leave == Leave::Once || path.size() >= step_limit)
                    return Leave::All;
            }
        case StatementKind::Break:
            return Leave::Once;
        case StatementKind::LoopBreak:
            return Leave::Loop;
        case StatementKind::Continue:
            return Leave::Again;
        case StatementKind::Exit:
        case StatementKind::Unreachable:
            return Leave::All;
        default:
            return Leave::No;
        }
    }

    const Structure& structure;
    u32 seed;
    std::vector<bool> flags;
    std::vector<BlockId> path;
};

Program random_graph(u32 seed) {
    std::mt19937 random(seed);
    Program program;
    program.stage = program::Stage::Compute;
    Builder builder(program);
    const u32 count = static_cast<u32>(3 + random() % 14);
    for (u32 b = 0; b < count; ++b)
        builder.new_block();
    const auto any = [&] { return static_cast<BlockId>(1 + random() % (count - 1)); };
    for (u32 b = 0; b < count; ++b) {
        builder.set_block(b);
        switch (random() % 10) {
        case 0:
            builder.exit();
            break;
        case 1:
        case 2:
            builder.branch(any());
            break;
        case 3: {
            const Value selector = builder.get_register(0);
            builder.switch_on(selector, any(), {{0, any()}, {2, any()}, {3, any()}});
            break;
        }
        default:
            builder.branch_if(builder.get_predicate(0), any(), any());
        }
    }
    return program;
}

TEST(Structure, AnyGraphKeepsItsPaths) {
    unsigned loops = 0, flags = 0;
    for (u32 seed = 0; seed < 3000; ++seed) {
        Program program = random_graph(seed);
        remove_unreachable(program);
        Program reducible = program;
        make_reducible(reducible);
        ASSERT_TRUE(verify(reducible));
        const FlowGraph graph = analyse_flow(reducible);
        ASSERT_TRUE(graph.reducible) << seed;
        const auto nested = structure(reducible, graph);
        ASSERT_TRUE(nested) << nested.error().message;
        flags += nested->flag_count;
        for (const Statement& s : nested->statements)
            loops += s.kind == StatementKind::Loop;
        for (u32 walk = 0; walk < 6; ++walk) {
            const u32 walk_seed = seed * 64 + walk;
            ASSERT_EQ(StatementWalk(*nested, walk_seed).run(), walk_graph(reducible, walk_seed))
                << "seed " << seed << '\n'
                << print(reducible) << print(*nested);
        }
    }
    EXPECT_GT(loops, 1000u); // the graphs are worth the name
    EXPECT_GT(flags, 100u);
}

TEST(Structure, ADiamondIsOneIf) {
    const auto program = parse("b0:\n  %0 = get_predicate<0>\n  branch_if %0, b1, b2\n"
                               "b1:\n  branch b3\nb2:\n  branch b3\nb3:\n  exit\n");
    ASSERT_TRUE(program);
    const auto nested = structure(*program, analyse_flow(*program));
    ASSERT_TRUE(nested);
    EXPECT_EQ(print(*nested), "code b0\n"
                              "if\n"
                              "  code b1\n"
                              "else\n"
                              "  code b2\n"
                              "code b3\n"
                              "exit\n");
}

TEST(Structure, CodeBehindALoopStaysOutside) {
    const auto program = parse("b0:\n  branch b1\n"
                               "b1:\n  %0 = get_predicate<0>\n  branch_if %0, b2, b3\n"
                               "b2:\n  branch b1\n"
                               "b3:\n  exit\n");
    ASSERT_TRUE(program);
    const auto nested = structure(*program, analyse_flow(*program));
    ASSERT_TRUE(nested);
    EXPECT_EQ(print(*nested), "code b0\n"
                              "loop b1\n"
                              "  code b1\n"
                              "  if\n"
                              "    code b2\n"
                              "  else\n"
                              "    loop_break\n"
                              "code b3\n"
                              "exit\n");
}

} // namespace
} // namespace heaviside::shader::ir
