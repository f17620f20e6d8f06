// Programs as assembly.
#include "tests/generate/program.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace heaviside::generate {
namespace {

// Registers outside the program's own: R16, R17 temporaries; R18, R19 an address; R20, R21 the thread's output;
// R22 a temporary of the epilogue; R23 the thread's shared bytes; R24 on: loop counters, one a nesting level; R28 the
// invocation, R29 the thread's index; R32 on: operands of texture instructions.
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
    [[nodiscard]] std::string tables() const {
        std::string text = tables_.empty() ? "" : "    .data\n";
        for (const std::string& table : tables_)
            text += table;
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
        case Statement::Kind::If: {
            const bool flags = statement.predicate.starts_with("CC");
            const std::string branch =
                flags ? fmt::format("BRA {}, then{}", statement.predicate, label)
                      : fmt::format("@{} {} then{}", statement.predicate, label % 4 == 3 ? "JMP" : "BRA", label);
            text += fmt::format("    SSY join{}\n    {}\n{}    SYNC\nthen{}:\n{}    SYNC\njoin{}:\n", label, branch,
                                body(statement.otherwise, loops), label, body(statement.body, loops), label);
            break;
        }
        case Statement::Kind::Loop: {
            const unsigned counter = 24 + loops;
            text += fmt::format("    LOP32I.AND R{}, {}, 0x3\n    PBK end{}\nagain{}:\n", counter, statement.selector,
                                label, label);
            const std::string inner = body(statement.body, loops + 1);
            text += statement.continues ? fmt::format("    PCNT next{}\n{}    CONT\nnext{}:\n", label, inner, label)
                                        : inner;
            text += fmt::format("    ISETP.EQ.AND P6, PT, R{}, RZ, PT\n    @P6 BRK\n    IADD32I R{}, R{}, -0x1\n"
                                "    BRA again{}\nend{}:\n",
                                counter, counter, counter, label, label);
            break;
        }
        case Statement::Kind::Call:
            text += fmt::format("    {} function{}\n", label % 2 != 0 ? "JCAL" : "CAL", functions_.size());
            functions_.push_back({&statement.body, loops});
            break;
        case Statement::Kind::Escape:
            text += fmt::format("    P{} away{}\n{}    {}\naway{}:\n", statement.selector, label,
                                body(statement.body, loops), statement.selector, label);
            break;
        case Statement::Kind::Switch: {
            const std::size_t table = tables_.size();
            tables_.emplace_back();               // those of the cases come behind it
            const bool relative = table % 2 != 0; // to the next instruction
            text += fmt::format("    LOP32I.AND R17, {}, 0x3\n    SHL R17, R17, 0x2\n    LDC R17, c[{:#x}][R17+{:#x}]\n"
                                "    SSY join{}\n    {}\n",
                                statement.selector, layout::constant_bank,
                                layout::constant_bytes + layout::table_bytes * table, label,
                                relative ? fmt::format("BRX R17 0x0\nfrom{}:", label) : "JMX R17 0x0");
            for (unsigned i = 0; i < 4; ++i) {
                text += fmt::format("case{}_{}:\n{}    SYNC\n", label, i,
                                    i == 3   ? std::string()
                                    : i == 1 ? body(statement.otherwise, loops)
                                             : body(statement.body, loops));
                tables_[table] += fmt::format("    .u32 case{}_{}\n", label, i);
            }
            tables_[table] += relative ? fmt::format("    .u32 from{}\n", label) : "    .u32 0xffffffff\n";
            text += fmt::format("join{}:\n", label);
            break;
        }
        }
    }

    unsigned labels_ = 0;
    std::vector<Pending> functions_;
    std::vector<std::string> tables_;
};

std::size_t count(const std::vector<Statement>& statements) {
    std::size_t total = 0;
    for (const Statement& statement : statements)
        total += statement.lines.size() + count(statement.body) + count(statement.otherwise);
    return total;
}

std::string header(Stage stage) {
    std::string text;
    switch (stage) {
    case Stage::Compute:
        text = fmt::format(".stage compute\n.workgroup {} 1 1\n.shared {}\n", layout::block,
                           layout::block * layout::shared_bytes_per_thread);
        break;
    case Stage::Vertex:
        text = ".stage vertex\n";
        break;
    case Stage::TessControl:
        text = fmt::format(".stage tess_control\n.threads {}\n.patch {}\n", layout::patch_points,
                           layout::patch_word / 4 + 1);
        break;
    case Stage::TessEval:
        text = ".stage tess_eval\n";
        break;
    case Stage::Geometry:
        text = fmt::format(".stage geometry\n.topology points\n.max_vertices 1\n.threads {}\n.streams 1\n",
                           layout::geometry_invocations);
        break;
    case Stage::Fragment:
        text = ".stage fragment\n.multiple_targets\n";
        for (u32 i = 0; i < layout::target_count; ++i)
            text += fmt::format(".target {} rgba\n", i);
        break;
    }
    return text + fmt::format(".local {}\n.entry main\nmain:\n", layout::local_bytes);
}

// R29: the thread's index; R0 to R15.
std::string load(Stage stage) {
    std::string text;
    if (stage == Stage::Compute) {
        text = fmt::format("    S2R R16, SR_CTAID.X\n    S2R R17, SR_TID.X\n    ISCADD R29, R16, R17, 0x6\n"
                           "    SHL R23, R17, 0x4\n    SHL R17, R29, 0x6\n"
                           "    IADD R18.CC, R17, c[0x0][{:#x}]\n    IADD.X R19, RZ, c[0x0][{:#x}]\n",
                           layout::input_address, layout::input_address + 4);
        for (u32 i = 0; i < layout::data_registers; i += 4)
            text += fmt::format("    LDG.E.128 R{}, [R18+{:#x}]\n", i, 4 * i);
        return text + "    STS.128 [R23], R4\n";
    }
    if (stage == Stage::Fragment) {
        for (u32 i = 0; i < layout::data_registers; ++i)
            text += fmt::format("    IPA.CONSTANT R{}, a[{:#x}], RZ\n", i, 0x80 + 4 * i);
        for (u32 i = 0; i < 3; ++i)
            text += fmt::format("    IPA.CONSTANT R{}, a[{:#x}], RZ\n", i == 0 ? 29 : 15 + i, 0xc0 + 4 * i);
    } else {
        std::string vertex;
        if (stage != Stage::Vertex) {
            // The handle of a vertex of this primitive.
            text += "    S2R R16, SR_INVOCATION_INFO\n    LOP.AND R17, R16, 0xff\n    BFE.U32 R16, R16, 0x810\n";
            if (stage == Stage::TessEval) // the corner's: u + 2 v
                text += "    S2R R18, SR_LANEID\n    ALD.O.64 R18, a[0x2f0], R18\n    F2I.U32.F32 R18, R18\n"
                        "    F2I.U32.F32 R19, R19\n    ISCADD R28, R19, R18, 0x1\n";
            else
                text += "    S2R R28, SR_INVOCATION_ID\n";
            text += fmt::format("    XMAD R16, R16, R17, {}\n    ISBERD R22, [R16]\n",
                                stage == Stage::Geometry ? "RZ" : "R28");
            vertex = ", R22";
        }
        for (u32 i = 0; i < layout::data_registers; i += 4)
            text += fmt::format("    ALD.128 R{}, a[{:#x}]{}\n", i, 0x80 + 4 * i, vertex);
        text += fmt::format("    ALD R29, a[0xc0]{}\n    ALD.64 R16, a[0xc4]{}\n", vertex, vertex);
        if (stage == Stage::Geometry)
            text += fmt::format("    SHL R22, R28, {:#x}\n    IADD R29, R29, R22\n    IADD R0, R0, R28\n",
                                std::countr_zero(layout::vertices));
        if (stage == Stage::TessEval)
            text += fmt::format("    ALD.P R18, a[{:#x}]\n    LOP.XOR R11, R11, R18\n", layout::patch_word);
    }
    return text + "    LOP.XOR R13, R13, R16\n    LOP.XOR R12, R12, R17\n";
}

std::string leave(Stage stage) {
    std::string text;
    if (stage == Stage::Compute) {
        text = "    P2R R22, PR, RZ, 0x3f\n    P2R R16, CC, RZ, 0xf\n";
        for (u32 i = 0; i < layout::data_registers; i += 4)
            text += fmt::format("    STG.E.128 [R20+{:#x}], R{}\n", 4 * i, i);
        return text + fmt::format("    STG.E [R20+{:#x}], R22\n    STG.E [R20+{:#x}], R16\n    EXIT\n",
                                  4 * layout::predicate_word, 4 * layout::condition_code_word);
    }
    if (stage == Stage::Fragment)
        return "    P2R R17, PR, RZ, 0x3f\n    P2R R18, CC, RZ, 0xf\n    MOV R16, R29\n    MOV R19, RZ\n    EXIT\n";
    const char* const open = stage == Stage::Geometry ? ", RZ" : "";
    text = "    P2R R25, PR, RZ, 0x3f\n    P2R R26, CC, RZ, 0xf\n    MOV R24, R29\n    MOV R27, RZ\n";
    for (u32 i = 0; i < layout::data_registers; i += 4)
        text += fmt::format("    AST.128 a[{:#x}], R{}{}\n", 0x80 + 4 * i, i, open);
    text += fmt::format("    AST.128 a[0xc0], R24{}\n", open);
    if (stage == Stage::TessControl) {
        text += "    MOV32I R16, 0x3f800000\n";
        for (u32 level = 0; level < 6; ++level)
            text += fmt::format("    AST.P a[{:#x}], R16\n", 4 * level);
        text +=
            fmt::format("    ISETP.EQ.U32.AND P6, PT, R28, RZ, PT\n    @P6 AST.P a[{:#x}], R0\n", layout::patch_word);
    }
    // The middle of its pixel.
    text += "    LOP32I.AND R16, R29, 0xf\n    SHR.U32 R17, R29, 0x4\n";
    for (const u32 r : {16, 17})
        text +=
            fmt::format("    I2F.F32.U32 R{0}, R{0}\n    FMUL R{0}, R{0}, 0.125\n    FADD R{0}, R{0}, -0.9375\n", r);
    text += fmt::format("    MOV R18, RZ\n    MOV32I R19, 0x3f800000\n    AST.128 a[0x70], R16{}\n", open);
    if (stage == Stage::Geometry)
        text += "    OUT.EMIT R16, RZ, RZ\n";
    return text + "    EXIT\n";
}

} // namespace

std::size_t size(const Program& program) {
    return count(program.statements);
}

std::string source(const Program& program) {
    Printer printer;
    std::string text = fmt::format("; seed {}\n", program.seed) + header(program.stage) + load(program.stage);
    text += fmt::format("    SHL R17, R29, 0x7\n    IADD R20.CC, R17, c[0x0][{:#x}]\n"
                        "    IADD.X R21, RZ, c[0x0][{:#x}]\n",
                        layout::output_address, layout::output_address + 4);
    for (u32 i = 0; i < layout::local_bytes; i += 4)
        text += fmt::format("    STL [{:#x}], R{}\n", i, i / 4);
    text += "    R2P PR, R15, 0x3f\n    R2P CC, R14, 0xf\n";
    text += printer.body(program.statements, 0);
    text += leave(program.stage);
    text += printer.functions();
    return text + printer.tables();
}

} // namespace heaviside::generate
