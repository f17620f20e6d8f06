#include "shader/ir_text.h"

#include <bit>
#include <charconv>
#include <iterator>
#include <unordered_map>

namespace heaviside::shader::ir {

namespace {

// One suffix: shown when (mods & mask) == value.
struct Suffix {
    ModsKind kind;
    const char* text;
    u32 mask, value;
};

constexpr Suffix suffixes[] = {
    {ModsKind::Float, "rm", 3, 1},
    {ModsKind::Float, "rp", 3, 2},
    {ModsKind::Float, "rz", 3, 3},
    {ModsKind::Float, "ftz", float_ftz, float_ftz},
    {ModsKind::Float, "fmz", float_fmz, float_fmz},
    {ModsKind::Float, "d2", 0x70, 0x10},
    {ModsKind::Float, "d4", 0x70, 0x20},
    {ModsKind::Float, "d8", 0x70, 0x30},
    {ModsKind::Float, "m8", 0x70, 0x40},
    {ModsKind::Float, "m4", 0x70, 0x50},
    {ModsKind::Float, "m2", 0x70, 0x60},
    {ModsKind::Compare, "f", 15, 0},
    {ModsKind::Compare, "lt", 15, 1},
    {ModsKind::Compare, "eq", 15, 2},
    {ModsKind::Compare, "le", 15, 3},
    {ModsKind::Compare, "gt", 15, 4},
    {ModsKind::Compare, "ne", 15, 5},
    {ModsKind::Compare, "ge", 15, 6},
    {ModsKind::Compare, "num", 15, 7},
    {ModsKind::Compare, "nan", 15, 8},
    {ModsKind::Compare, "ltu", 15, 9},
    {ModsKind::Compare, "equ", 15, 10},
    {ModsKind::Compare, "leu", 15, 11},
    {ModsKind::Compare, "gtu", 15, 12},
    {ModsKind::Compare, "neu", 15, 13},
    {ModsKind::Compare, "geu", 15, 14},
    {ModsKind::Compare, "t", 15, 15},
    {ModsKind::Compare, "ftz", compare_ftz, compare_ftz},
    {ModsKind::Memory, "u8", 7, 0},
    {ModsKind::Memory, "s8", 7, 1},
    {ModsKind::Memory, "u16", 7, 2},
    {ModsKind::Memory, "s16", 7, 3},
    {ModsKind::Memory, "b32", 7, 4},
    {ModsKind::Memory, "b64", 7, 5},
    {ModsKind::Memory, "b128", 7, 6},
    {ModsKind::Atomic, "add", 15, 0},
    {ModsKind::Atomic, "min", 15, 1},
    {ModsKind::Atomic, "max", 15, 2},
    {ModsKind::Atomic, "inc", 15, 3},
    {ModsKind::Atomic, "dec", 15, 4},
    {ModsKind::Atomic, "and", 15, 5},
    {ModsKind::Atomic, "or", 15, 6},
    {ModsKind::Atomic, "xor", 15, 7},
    {ModsKind::Atomic, "exch", 15, 8},
    {ModsKind::Atomic, "cas", 15, 9},
    {ModsKind::Atomic, "u32", 0x70, 0x00},
    {ModsKind::Atomic, "s32", 0x70, 0x10},
    {ModsKind::Atomic, "u64", 0x70, 0x20},
    {ModsKind::Atomic, "f32", 0x70, 0x30},
    {ModsKind::Atomic, "f16x2", 0x70, 0x40},
    {ModsKind::Atomic, "s64", 0x70, 0x50},
    {ModsKind::Attribute, "patch", attribute_patch, attribute_patch},
    {ModsKind::Attribute, "output", attribute_output, attribute_output},
    {ModsKind::Attribute, "vertex", attribute_vertex, attribute_vertex},
    {ModsKind::Attribute, "indexed", attribute_indexed, attribute_indexed},
    {ModsKind::Interpolate, "pass", 3, 0},
    {ModsKind::Interpolate, "multiply", 3, 1},
    {ModsKind::Interpolate, "constant", 3, 2},
    {ModsKind::Interpolate, "sc", 3, 3},
    {ModsKind::Interpolate, "centroid", 12, 4},
    {ModsKind::Interpolate, "offset", 12, 8},
    {ModsKind::Interpolate, "indexed", interpolate_indexed, interpolate_indexed},
    {ModsKind::Interpolate, "sat", interpolate_saturate, interpolate_saturate},
    {ModsKind::Texture, "1d", 15, 0},
    {ModsKind::Texture, "1d_array", 15, 1},
    {ModsKind::Texture, "2d", 15, 2},
    {ModsKind::Texture, "2d_array", 15, 3},
    {ModsKind::Texture, "3d", 15, 4},
    {ModsKind::Texture, "cube", 15, 5},
    {ModsKind::Texture, "cube_array", 15, 6},
    {ModsKind::Texture, "buffer", 15, 7},
    {ModsKind::Texture, "2d_ms", 15, 8},
    {ModsKind::Texture, "2d_ms_array", 15, 9},
    {ModsKind::Texture, "unknown", 15, 15},
    {ModsKind::Texture, "lod_zero", 0x30, 0x10},
    {ModsKind::Texture, "bias", 0x30, 0x20},
    {ModsKind::Texture, "level", 0x30, 0x30},
    {ModsKind::Texture, "dref", 0x40, 0x40},
    {ModsKind::Texture, "offset", 0x80, 0x80},
    {ModsKind::Texture, "offsets4", 0x100, 0x100},
    {ModsKind::Texture, "min_lod", 0x200, 0x200},
    {ModsKind::Texture, "g", 0xc00, 0x400},
    {ModsKind::Texture, "b", 0xc00, 0x800},
    {ModsKind::Texture, "a", 0xc00, 0xc00},
    {ModsKind::Image, "1d", 15, 0},
    {ModsKind::Image, "1d_array", 15, 1},
    {ModsKind::Image, "2d", 15, 2},
    {ModsKind::Image, "2d_array", 15, 3},
    {ModsKind::Image, "3d", 15, 4},
    {ModsKind::Image, "buffer", 15, 7},
    {ModsKind::Image, "unknown", 15, 15},
    {ModsKind::Image, "clamp", 0x30, 0x10},
    {ModsKind::Image, "trap", 0x30, 0x20},
    {ModsKind::Image, "raw", 0x40, 0x40},
    {ModsKind::Image, "u8", 0x380, 0x000},
    {ModsKind::Image, "s8", 0x380, 0x080},
    {ModsKind::Image, "u16", 0x380, 0x100},
    {ModsKind::Image, "s16", 0x380, 0x180},
    {ModsKind::Image, "b32", 0x380, 0x200},
    {ModsKind::Image, "b64", 0x380, 0x280},
    {ModsKind::Image, "b128", 0x380, 0x300},
    {ModsKind::Image, "add", 0x3c00, 0x0000},
    {ModsKind::Image, "min", 0x3c00, 0x0400},
    {ModsKind::Image, "max", 0x3c00, 0x0800},
    {ModsKind::Image, "inc", 0x3c00, 0x0c00},
    {ModsKind::Image, "dec", 0x3c00, 0x1000},
    {ModsKind::Image, "and", 0x3c00, 0x1400},
    {ModsKind::Image, "or", 0x3c00, 0x1800},
    {ModsKind::Image, "xor", 0x3c00, 0x1c00},
    {ModsKind::Image, "exch", 0x3c00, 0x2000},
    {ModsKind::Image, "cas", 0x3c00, 0x2400},
    {ModsKind::Image, "u32", 0x1c000, 0x00000},
    {ModsKind::Image, "s32", 0x1c000, 0x04000},
    {ModsKind::Image, "u64", 0x1c000, 0x08000},
    {ModsKind::Image, "f32", 0x1c000, 0x0c000},
    {ModsKind::Image, "f16x2", 0x1c000, 0x10000},
    {ModsKind::Image, "s64", 0x1c000, 0x14000},
    {ModsKind::Image, "x", 0x1e0000, 0x020000},
    {ModsKind::Image, "xy", 0x1e0000, 0x060000},
    {ModsKind::Image, "xyz", 0x1e0000, 0x0e0000},
    {ModsKind::Image, "xyzw", 0x1e0000, 0x1e0000},
};

constexpr const char* type_names[] = {"void", "u1", "u32", "u64", "u32x2", "u32x4"};

std::string operand_text(const Program& program, Value v) {
    if (!v.valid() || v.id >= program.insts.size())
        return "?";
    const Inst& inst = program[v];
    if (inst.op != Op::Const)
        return fmt::format("%{}", v.id);
    switch (inst.type) {
    case Type::U1:
        return inst.imm ? "true" : "false";
    case Type::U64:
        return fmt::format("0x{:x}l", program.const_long(v));
    default:
        return inst.imm < 10 ? fmt::format("{}", inst.imm) : fmt::format("0x{:x}", inst.imm);
    }
}

void print_inst(const Program& program, u32 id, std::string& out) {
    const Inst& inst = program.insts[id];
    const OpInfo& op = info(inst.op);
    out += "  ";
    if (inst.type != Type::Void)
        out += fmt::format("%{} = ", id);
    out += op.text;
    if (inst.op == Op::Phi)
        out += fmt::format(".{}", type_names[static_cast<unsigned>(inst.type)]);
    if (op.imm == ImmKind::Special && inst.imm < special_count)
        out += fmt::format("<{}>", text(static_cast<Special>(inst.imm)));
    else if (op.imm == ImmKind::Address || op.imm == ImmKind::Lane)
        out += fmt::format("<0x{:x}>", inst.imm);
    else if (op.imm != ImmKind::None)
        out += fmt::format("<{}>", inst.imm);
    if (op.mods != ModsKind::None)
        for (const Suffix& s : suffixes)
            if (s.kind == op.mods && (inst.mods & s.mask) == s.value) {
                out += '.';
                out += s.text;
            }
    const char* separator = " ";
    for (Value v : program.args(inst)) {
        out += separator;
        out += operand_text(program, v);
        separator = ", ";
    }
    out += '\n';
}

void print_end(const Program& program, const Terminator& end, std::string& out) {
    using Kind = Terminator::Kind;
    switch (end.kind) {
    case Kind::None:
        out += "  ; no terminator\n";
        break;
    case Kind::Branch:
        out += fmt::format("  branch b{}\n", end.target[0]);
        break;
    case Kind::BranchIf:
        out += fmt::format("  branch_if {}, b{}, b{}\n", operand_text(program, end.condition), end.target[0],
                           end.target[1]);
        break;
    case Kind::Switch:
        out += fmt::format("  switch {}, b{}", operand_text(program, end.condition), end.target[0]);
        for (const SwitchCase& c : end.cases)
            out += fmt::format(", {}: b{}", c.value, c.target);
        out += '\n';
        break;
    case Kind::Exit:
        out += "  exit\n";
        break;
    case Kind::Unreachable:
        out += "  unreachable\n";
        break;
    }
}

// A line's words: names and numbers, and single characters of "<>,:=.%".
class Line {
public:
    explicit Line(std::string_view text) : rest(text.substr(0, text.find(';'))) { skip(); }
    [[nodiscard]] bool empty() const { return rest.empty(); }
    bool take(char c) {
        if (rest.empty() || rest[0] != c)
            return false;
        rest.remove_prefix(1);
        skip();
        return true;
    }
    // Letters, digits, '_', and for numbers '-', '.' followed by a digit.
    std::string_view word() {
        std::size_t n = 0;
        while (n < rest.size() && (std::isalnum(static_cast<unsigned char>(rest[n])) || rest[n] == '_'))
            ++n;
        return cut(n);
    }
    std::string_view number() {
        std::size_t n = 0;
        while (n < rest.size() && (std::isalnum(static_cast<unsigned char>(rest[n])) || rest[n] == '.' ||
                                   rest[n] == '-' || rest[n] == '+'))
            ++n;
        return cut(n);
    }
    std::string_view rest;

private:
    std::string_view cut(std::size_t n) {
        const std::string_view word = rest.substr(0, n);
        rest.remove_prefix(n);
        skip();
        return word;
    }
    void skip() {
        while (!rest.empty() && (rest[0] == ' ' || rest[0] == '\t' || rest[0] == '\r'))
            rest.remove_prefix(1);
    }
};

std::optional<u64> parse_integer(std::string_view s) {
    u64 value = 0;
    const bool hex = s.starts_with("0x");
    if (hex)
        s.remove_prefix(2);
    const auto [end, error] = std::from_chars(s.data(), s.data() + s.size(), value, hex ? 16 : 10);
    if (error != std::errc{} || end != s.data() + s.size() || s.empty())
        return std::nullopt;
    return value;
}

class Parser {
public:
    Result<Program> run(std::string_view text) {
        unsigned number = 0;
        while (!text.empty()) {
            const std::size_t end = text.find('\n');
            std::string_view line = text.substr(0, end);
            text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
            ++number;
            if (const char* error = one_line(Line(line)))
                return fail("ir text: line {}: {}: '{}'", number, error, line);
        }
        for (const Later& later : forward) {
            const auto found = names.find(later.name);
            if (found == names.end())
                return fail("ir text: %{} is not defined", later.name);
            program.operands[later.slot] = found->second;
        }
        compute_predecessors(program);
        if (Result<void> sound = verify(program); !sound)
            return tl::unexpected(sound.error());
        return std::move(program);
    }

private:
    struct Later { // an operand that was used before its definition (phis)
        u32 slot, name;
    };

    const char* block_name(Line& line, BlockId& block) {
        const std::string_view word = line.word();
        const auto number = word.starts_with('b') ? parse_integer(word.substr(1)) : std::nullopt;
        if (!number || *number > 100000)
            return "a block name was expected";
        block = static_cast<BlockId>(*number);
        while (program.blocks.size() <= block)
            builder.new_block();
        return nullptr;
    }

    // Sets `name` instead of `value` for values that are not defined yet.
    const char* operand(Line& line, Value& value, std::optional<u32>& name) {
        if (line.take('%')) {
            const auto id = parse_integer(line.word());
            if (!id)
                return "a value name was expected";
            const auto found = names.find(static_cast<u32>(*id));
            if (found == names.end())
                name = static_cast<u32>(*id);
            else
                value = found->second;
            return nullptr;
        }
        std::string_view word = line.number();
        if (word == "true" || word == "false") {
            value = builder.boolean(word == "true");
            return nullptr;
        }
        if (word.ends_with('l')) {
            word.remove_suffix(1);
            const auto bits = parse_integer(word);
            if (!bits)
                return "bad 64-bit constant";
            value = builder.quad(*bits);
            return nullptr;
        }
        if (const auto bits = parse_integer(word); bits && *bits <= 0xffffffffu) {
            value = builder.word(static_cast<u32>(*bits));
            return nullptr;
        }
        if (word.ends_with('f') && word.size() > 1) {
            const std::string copy(word.substr(0, word.size() - 1));
            char* end = nullptr;
            const f32 number = std::strtof(copy.c_str(), &end);
            if (*end == 0) {
                value = builder.float_word(number);
                return nullptr;
            }
        }
        return "bad operand";
    }

    const char* terminator(std::string_view word, Line& line, bool& is_end) {
        BlockId a = 0, b = 0;
        Value condition;
        std::optional<u32> undefined;
        is_end = true;
        if (word == "exit")
            builder.exit();
        else if (word == "unreachable")
            builder.unreachable();
        else if (word == "branch") {
            if (const char* error = block_name(line, a))
                return error;
            builder.branch(a);
        } else if (word == "branch_if" || word == "switch") {
            if (const char* error = operand(line, condition, undefined))
                return error;
            if (undefined || !line.take(','))
                return "a defined condition and ',' were expected";
            if (const char* error = block_name(line, a))
                return error;
            if (word == "branch_if") {
                if (!line.take(','))
                    return "',' was expected";
                if (const char* error = block_name(line, b))
                    return error;
                builder.branch_if(condition, a, b);
                return nullptr;
            }
            std::vector<SwitchCase> cases;
            while (line.take(',')) {
                const auto value = parse_integer(line.word());
                if (!value || !line.take(':'))
                    return "'value: block' was expected";
                if (const char* error = block_name(line, b))
                    return error;
                cases.push_back({static_cast<u32>(*value), b});
            }
            builder.switch_on(condition, a, std::move(cases));
        } else {
            is_end = false;
        }
        return nullptr;
    }

    const char* one_line(Line line) {
        if (line.empty())
            return nullptr;
        std::optional<u32> result;
        if (line.take('%')) {
            const auto id = parse_integer(line.word());
            if (!id || !line.take('='))
                return "'%N =' was expected";
            result = static_cast<u32>(*id);
        }
        const std::string_view word = line.word();
        if (!result) {
            if (word == "stage") {
                const std::string_view stage = line.word();
                for (unsigned s = 0; s < program::stage_count; ++s)
                    if (stage == stage_names[s]) {
                        program.stage = static_cast<program::Stage>(s);
                        return nullptr;
                    }
                return "unknown stage";
            }
            if (word.starts_with('b') && line.take(':')) {
                Line label(word);
                BlockId block = 0;
                if (const char* error = block_name(label, block))
                    return error;
                builder.set_block(block);
                return nullptr;
            }
            if (program.blocks.empty())
                return "no block yet";
            bool is_end = false;
            if (const char* error = terminator(word, line, is_end))
                return error;
            if (is_end)
                return line.empty() ? nullptr : "text behind the terminator";
        }
        if (program.blocks.empty())
            return "no block yet";
        static const auto by_name = [] {
            std::unordered_map<std::string_view, Op> map;
            unsigned op = 0;
#define X(...) map.emplace(info(static_cast<Op>(op)).text, static_cast<Op>(op)), ++op;
            HEAVISIDE_IR_OPS(X)
#undef X
            return map;
        }();
        const auto found = by_name.find(word);
        if (found == by_name.end())
            return "unknown operation";
        return instruction(found->second, line, result);
    }

    const char* instruction(Op op, Line& line, std::optional<u32> result) {
        const OpInfo& row = info(op);
        u32 imm = 0, mods = 0;
        Type phi_type = Type::U32;
        if (op == Op::Phi && line.take('.')) {
            const std::string_view type = line.word();
            for (unsigned t = 0; t < std::size(type_names); ++t)
                if (type == type_names[t])
                    phi_type = static_cast<Type>(t);
        }
        if (row.imm != ImmKind::None) {
            if (!line.take('<'))
                return "'<' was expected";
            const std::string_view word = line.word();
            if (row.imm == ImmKind::Special) {
                while (imm < special_count && word != text(static_cast<Special>(imm)))
                    ++imm;
                if (imm == special_count)
                    return "unknown special register";
            } else if (const auto number = parse_integer(word)) {
                imm = static_cast<u32>(*number);
            } else {
                return "bad number";
            }
            if (!line.take('>'))
                return "'>' was expected";
        }
        while (line.take('.')) {
            const std::string_view word = line.word();
            bool known = false;
            for (const Suffix& s : suffixes)
                if (s.kind == row.mods && word == s.text) {
                    mods = (mods & ~s.mask) | s.value;
                    known = true;
                }
            if (!known)
                return "unknown suffix";
        }
        std::vector<Value> arguments;
        std::vector<std::pair<u32, u32>> undefined; // argument, name
        while (!line.empty()) {
            if (!arguments.empty() && !line.take(','))
                return "',' was expected";
            Value value;
            std::optional<u32> name;
            if (const char* error = operand(line, value, name))
                return error;
            if (name)
                undefined.emplace_back(static_cast<u32>(arguments.size()), *name);
            arguments.push_back(value);
        }
        Value made;
        if (op == Op::Phi) {
            made = program.append(op, phi_type, arguments, imm, mods);
            program.blocks[builder.block()].insts.push_back(made.id);
        } else {
            if (!undefined.empty())
                return "operand used before its definition";
            made = builder.op(op, std::span<const Value>(arguments), imm, mods);
        }
        for (const auto& [index, name] : undefined)
            forward.push_back({program[made].first + index, name});
        if (result)
            names[*result] = made;
        return nullptr;
    }

    static constexpr const char* stage_names[program::stage_count] = {"vertex",       "fragment",  "geometry",
                                                                      "tess_control", "tess_eval", "compute"};
    friend std::string heaviside::shader::ir::print(const Program& program);

    Program program;
    Builder builder{program};
    std::unordered_map<u32, Value> names;
    std::vector<Later> forward;
};

} // namespace

std::string print(const Program& program) {
    std::string out = fmt::format("stage {}\n", Parser::stage_names[static_cast<unsigned>(program.stage)]);
    for (BlockId b = 0; b < program.blocks.size(); ++b) {
        const Block& block = program.blocks[b];
        out += fmt::format("b{}:", b);
        if (block.address != ~0u)
            out += fmt::format(" ; 0x{:x}", block.address);
        out += '\n';
        for (u32 id : block.insts)
            print_inst(program, id, out);
        print_end(program, block.end, out);
    }
    return out;
}

Result<Program> parse(std::string_view text) {
    return Parser().run(text);
}

} // namespace heaviside::shader::ir
