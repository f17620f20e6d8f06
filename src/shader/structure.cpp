#include "shader/structure.h"

#include <algorithm>

namespace heaviside::shader::ir {

namespace {

// Where control can be sent: the start of a block placed behind something, or a loop header again.
constexpr u32 continue_bit = 0x8000'0000u;
constexpr u32 nowhere = ~0u;
constexpr std::size_t block_limit = 8192; // the walk recurses

struct List {
    u32 first = no_statement, last = no_statement;
};

struct Scope {
    bool loop;
    u32 target;               // where control goes when the scope is left
    u32 header;               // of a loop
    std::vector<u32> pending; // targets further out, reached through a flag
};

class Walk {
public:
    Walk(const Program& p, const FlowGraph& g) : program(p), graph(g) { find_followers(); }

    Structure run() {
        // A jump to a block that is not next needs a construct to leave; whether there is one shows only in the walk.
        for (unsigned turn = 0; turn < 8; ++turn) {
            again = false;
            out = {};
            flag_of.assign(program.blocks.size() * 2, ~0u);
            List list;
            tree(0, nowhere, list);
            out.first = list.first;
            if (!again)
                break;
        }
        return std::move(out);
    }

private:
    void find_followers() {
        const std::size_t count = program.blocks.size();
        behind_loop.resize(count);
        merges.resize(count);
        follower.assign(count, 0);
        breakable.assign(count, 0);
        has_phis.assign(count, 0);
        for (BlockId y : graph.order) {
            const Block& block = program.blocks[y];
            has_phis[y] = !block.insts.empty() && program.insts[block.insts[0]].op == Op::Phi;
            if (y == 0)
                continue;
            const BlockId parent = graph.idom[y];
            BlockId left = no_block; // the outermost loop around the parent that y is not in
            for (BlockId h = graph.loop[parent]; h != no_block && !graph.in_loop(y, h); h = graph.outer_loop[h])
                left = h;
            unsigned forward = 0;
            for (BlockId p : block.predecessors)
                forward += graph.position[p] != ~0u && !graph.is_back_edge(p, y);
            if (left != no_block)
                behind_loop[left].push_back(y);
            else if (forward > 1)
                merges[parent].push_back(y);
            follower[y] = left != no_block || forward > 1;
        }
    }

    u32 make(StatementKind kind, u32 a = 0, u32 b = 0) {
        out.statements.push_back({kind, a, b});
        return static_cast<u32>(out.statements.size() - 1);
    }
    void append(List& list, u32 statement) {
        if (list.last == no_statement)
            list.first = statement;
        else
            out.statements[list.last].next = statement;
        list.last = statement;
    }
    u32 append(List& list, StatementKind kind, u32 a = 0, u32 b = 0) {
        const u32 statement = make(kind, a, b);
        append(list, statement);
        return statement;
    }

    void tree(BlockId x, u32 follow, List& list) {
        if (graph.is_loop_header(x))
            place(x, behind_loop[x], behind_loop[x].size(), true, follow, list);
        else
            place(x, merges[x], merges[x].size(), false, follow, list);
    }

    // What x dominates and lies behind it, later blocks outermost.
    void place(BlockId x, const std::vector<BlockId>& behind, std::size_t n, bool as_loop, u32 follow, List& list) {
        if (n == 0) {
            if (as_loop)
                loop(x, follow, list);
            else
                code(x, follow, list);
            return;
        }
        const BlockId y = behind[n - 1];
        if (breakable[y]) {
            List body;
            scopes.push_back({false, y, no_block, {}});
            place(x, behind, n - 1, as_loop, y, body);
            const u32 once = append(list, StatementKind::Once);
            out.statements[once].child[0] = body.first;
            leave_scope(list);
        } else {
            place(x, behind, n - 1, as_loop, y, list);
        }
        tree(y, follow, list);
    }

    void loop(BlockId x, u32 follow, List& list) {
        List body;
        scopes.push_back({true, follow, x, {}});
        place(x, merges[x], merges[x].size(), false, x | continue_bit, body);
        const u32 statement = append(list, StatementKind::Loop, x);
        out.statements[statement].child[0] = body.first;
        leave_scope(list);
    }

    void code(BlockId x, u32 follow, List& list) {
        using Kind = Terminator::Kind;
        append(list, StatementKind::Code, x);
        const Terminator& end = program.blocks[x].end;
        switch (end.kind) {
        case Kind::Branch:
            edge(x, end.target[0], follow, list);
            break;
        case Kind::BranchIf: {
            if (end.target[0] == end.target[1]) {
                edge(x, end.target[0], follow, list);
                break;
            }
            List yes, no;
            edge(x, end.target[0], follow, yes);
            edge(x, end.target[1], follow, no);
            const u32 statement = append(list, StatementKind::If, end.condition.id);
            out.statements[statement].child[0] = yes.first;
            out.statements[statement].child[1] = no.first;
            break;
        }
        case Kind::Switch:
            choose(x, end, follow, list);
            break;
        case Kind::Exit:
            append(list, StatementKind::Exit);
            break;
        case Kind::None:
        case Kind::Unreachable:
            append(list, StatementKind::Unreachable);
            break;
        }
    }

    void choose(BlockId x, const Terminator& end, u32 follow, List& list) {
        scopes.push_back({false, follow, no_block, {}});
        List cases;
        const auto one = [&](BlockId target, u32 first, u32 count) {
            List body;
            edge(x, target, follow, body);
            const u32 statement = make(StatementKind::Case, first, count);
            out.statements[statement].child[0] = body.first;
            append(cases, statement);
        };
        one(end.target[0], 0, 0);
        std::vector<BlockId> done{end.target[0]};
        for (const SwitchCase& c : end.cases) {
            if (std::find(done.begin(), done.end(), c.target) != done.end())
                continue;
            done.push_back(c.target);
            const auto first = static_cast<u32>(out.case_values.size());
            for (const SwitchCase& other : end.cases)
                if (other.target == c.target)
                    out.case_values.push_back(other.value);
            one(c.target, first, static_cast<u32>(out.case_values.size()) - first);
        }
        const u32 statement = append(list, StatementKind::Switch, end.condition.id);
        out.statements[statement].child[0] = cases.first;
        leave_scope(list);
    }

    void edge(BlockId from, BlockId to, u32 follow, List& list) {
        if (has_phis[to])
            append(list, StatementKind::PhiCopies, from, to);
        if (graph.is_back_edge(from, to))
            jump(to | continue_bit, follow, list);
        else if (follower[to])
            jump(to, follow, list);
        else
            tree(to, follow, list);
    }

    // True if control arrives with this one jump.
    bool jump(u32 target, u32 follow, List& list) {
        if (target == follow)
            return true;
        Scope* once = nullptr;
        bool inside = false; // the target's scope lies inside the innermost loop
        Scope* around = nullptr;
        for (std::size_t i = scopes.size(); i-- > 0 && around == nullptr;) {
            if (scopes[i].loop) {
                around = &scopes[i];
            } else {
                if (once == nullptr)
                    once = &scopes[i];
                inside |= scopes[i].target == target;
            }
        }
        if (once != nullptr && once->target == target) {
            append(list, StatementKind::Break);
            return true;
        }
        if (around != nullptr && target == (around->header | continue_bit)) {
            append(list, StatementKind::Continue);
            return true;
        }
        if (around != nullptr && around->target == target) {
            append(list, StatementKind::LoopBreak);
            return true;
        }
        if ((target & continue_bit) == 0 && !breakable[target]) {
            breakable[target] = 1;
            again = true;
            return true;
        }
        Scope* left = inside ? once : around;
        if (left == nullptr) // cannot be: every target is a scope around this point
            return true;
        append(list, StatementKind::SetFlag, flag(target), 1);
        append(list, inside ? StatementKind::Break : StatementKind::LoopBreak);
        if (std::find(left->pending.begin(), left->pending.end(), target) == left->pending.end())
            left->pending.push_back(target);
        return false;
    }

    u32 flag(u32 target) {
        const u32 slot = (target & ~continue_bit) * 2 + ((target & continue_bit) != 0);
        if (flag_of[slot] == ~0u)
            flag_of[slot] = out.flag_count++;
        return flag_of[slot];
    }

    // Behind a construct: on with those who left it for a place further out.
    void leave_scope(List& list) {
        const std::vector<u32> pending = std::move(scopes.back().pending);
        scopes.pop_back();
        for (u32 target : pending) {
            List body, onward;
            const bool arrives = jump(target, nowhere, onward);
            if (arrives)
                append(body, StatementKind::SetFlag, flag(target), 0);
            if (body.last == no_statement)
                body = onward;
            else if (onward.first != no_statement) {
                out.statements[body.last].next = onward.first;
                body.last = onward.last;
            }
            const u32 statement = append(list, StatementKind::IfFlag, flag(target));
            out.statements[statement].child[0] = body.first;
        }
    }

    const Program& program;
    const FlowGraph& graph;
    std::vector<std::vector<BlockId>> behind_loop, merges;
    std::vector<u8> follower, breakable, has_phis;
    std::vector<Scope> scopes;
    std::vector<u32> flag_of;
    Structure out;
    bool again = false;
};

void print_list(const Structure& s, u32 at, unsigned depth, std::string& text) {
    static constexpr const char* names[] = {"code", "phis", "if",    "if_flag",    "set_flag", "once", "switch",
                                            "case", "loop", "break", "loop_break", "continue", "exit", "unreachable"};
    for (; at != no_statement; at = s.statements[at].next) {
        const Statement& st = s.statements[at];
        text += std::string(depth * 2, ' ') + names[static_cast<unsigned>(st.kind)];
        switch (st.kind) {
        case StatementKind::Code:
        case StatementKind::Loop:
            text += fmt::format(" b{}", st.a);
            break;
        case StatementKind::PhiCopies:
            text += fmt::format(" b{} b{}", st.a, st.b);
            break;
        case StatementKind::SetFlag:
            text += fmt::format(" {} {}", st.a, st.b);
            break;
        case StatementKind::IfFlag:
            text += fmt::format(" {}", st.a);
            break;
        case StatementKind::Case:
            for (u32 i = 0; i < st.b; ++i)
                text += fmt::format(" {}", s.case_values[st.a + i]);
            break;
        default:
            break;
        }
        text += '\n';
        print_list(s, st.child[0], depth + 1, text);
        if (st.child[1] != no_statement) {
            text += std::string(depth * 2, ' ') + "else\n";
            print_list(s, st.child[1], depth + 1, text);
        }
    }
}

} // namespace

Result<Structure> structure(const Program& program, const FlowGraph& graph) {
    if (!graph.reducible)
        return fail("structure: the control flow is not reducible");
    if (graph.order.size() > block_limit)
        return fail("structure: {} blocks exceed {}", graph.order.size(), block_limit);
    return Walk(program, graph).run();
}

std::string print(const Structure& structure) {
    std::string text;
    print_list(structure, structure.first, 0, text);
    return text;
}

} // namespace heaviside::shader::ir
