// Programs as assembly.
#include "tests/generate/program.h"

#include <fmt/format.h>

#include <algorithm>

namespace heaviside::generate {
namespace {

// Registers outside the program's own: R16, R17 temporaries; R18, R19 an address; R20, R21 the thread's output;
// R22 a temporary of the epilogue; R23 the thread's shared bytes; R24 on: loop counters, one a nesting level.
class Printer {
public:
    std::string body(const std::vector<Statement>& statements, unsigned loops) {
        std::string text;
        for (const Statement& statement : statements)
            print(text, statement, loops);
        return text;
    }
    // Functions called by what was printed, theirs included.
    std::string functions() {
        std::string text;
        for (std::size_t i = 0; i < functions_.size(); ++i) {
            const Pending function = functions_[i]; // printing may add more
            text += fmt::format("function{}:\n{}    RET\n", i, body(*function.statements, function.loops));
        }
        return text;
    }

private:
    struct Pending {
        const std::vector<Statement>* statements;
        unsigned loops;
    };

    void print(std::string& text, const Statement& statement, unsigned loops) {
        const unsigned label = labels_++;
        switch (statement.kind) {
        case Statement::Kind::Lines:
            for (const std::string& line : statement.lines)
                text += fmt::format("    {}\n", line);
            if (!statement.lines.empty())
                for (const std::string& line : statement.settle)
                    text += fmt::format("    {}\n", line);
            break;
        case Statement::Kind::If:
            text += fmt::format("    SSY join{}\n    @{} BRA then{}\n{}    SYNC\nthen{}:\n{}    SYNC\njoin{}:\n", label,
                                statement.predicate, label, body(statement.otherwise, loops), label,
                                body(statement.body, loops), label);
            break;
        case Statement::Kind::Loop: {
            const unsigned counter = 24 + loops;
            text += fmt::format("    LOP32I.AND R{}, {}, 0x3\n    PBK end{}\nagain{}:\n{}", counter, statement.counter,
                                label, label, body(statement.body, loops + 1));
            text += fmt::format("    ISETP.EQ.AND P6, PT, R{}, RZ, PT\n    @P6 BRK\n    IADD32I R{}, R{}, -0x1\n"
                                "    BRA again{}\nend{}:\n",
                                counter, counter, counter, label, label);
            break;
        }
        case Statement::Kind::Call:
            text += fmt::format("    CAL function{}\n", functions_.size());
            functions_.push_back({&statement.body, loops});
            break;
        }
    }

    unsigned labels_ = 0;
    std::vector<Pending> functions_;
};

std::size_t count(const std::vector<Statement>& statements) {
    std::size_t total = 0;
    for (const Statement& statement : statements)
        total += statement.lines.size() + count(statement.body) + count(statement.otherwise);
    return total;
}

} // namespace

std::size_t size(const Program& program) {
    return count(program.statements);
}

std::string kernel_source(const Program& program) {
    Printer printer;
    std::string text =
        fmt::format("; seed {}\n.stage compute\n.workgroup {} 1 1\n.local {}\n.shared {}\n.entry main\nmain:\n",
                    program.seed, layout::block, layout::local_bytes, layout::block * layout::shared_bytes_per_thread);
    // The thread's index, its input, its output.
    text += fmt::format("    S2R R16, SR_CTAID.X\n    S2R R17, SR_TID.X\n    ISCADD R16, R16, R17, 0x6\n"
                        "    SHL R23, R17, 0x4\n    SHL R17, R16, 0x6\n"
                        "    IADD R18.CC, R17, c[0x0][{:#x}]\n    IADD.X R19, RZ, c[0x0][{:#x}]\n",
                        layout::input_address, layout::input_address + 4);
    for (u32 i = 0; i < layout::data_registers; i += 4)
        text += fmt::format("    LDG.E.128 R{}, [R18+{:#x}]\n", i, 4 * i);
    text +=
        fmt::format("    SHL R17, R16, 0x7\n    IADD R20.CC, R17, c[0x0][{:#x}]\n    IADD.X R21, RZ, c[0x0][{:#x}]\n",
                    layout::output_address, layout::output_address + 4);
    for (u32 i = 0; i < layout::local_bytes; i += 4)
        text += fmt::format("    STL [{:#x}], R{}\n", i, i / 4);
    text += "    STS.128 [R23], R4\n    R2P PR, R15, 0x3f\n    R2P CC, R14, 0xf\n";
    text += printer.body(program.statements, 0);
    text += "    P2R R22, PR, RZ, 0x3f\n    P2R R16, CC, RZ, 0xf\n";
    for (u32 i = 0; i < layout::data_registers; i += 4)
        text += fmt::format("    STG.E.128 [R20+{:#x}], R{}\n", 4 * i, i);
    text += fmt::format("    STG.E [R20+{:#x}], R22\n    STG.E [R20+{:#x}], R16\n    EXIT\n",
                        4 * layout::predicate_word, 4 * layout::condition_code_word);
    return text + printer.functions();
}

} // namespace heaviside::generate
