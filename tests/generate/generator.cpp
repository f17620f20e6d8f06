#include "tests/generate/program.h"

#include "maxwell/form.h"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <optional>
#include <random>

namespace heaviside::generate {
namespace {

using maxwell::Form;
using maxwell::Opcode;
using maxwell::OperandKind;
using maxwell::OperandSpec;
using maxwell::OperandType;
using maxwell::Slot;

// What may become of a result that is a NaN: its bits differ between machines, so they are set.
enum class NaN { None, Single, Double, Halves };

struct Group {
    NaN nan;
    unsigned weight;
    std::vector<Opcode> opcodes;
};

// Instructions whose results are exact. Those that are not (MUFU) or that only feed them (RRO), and FSWZADD, which
// reads neighbours, stay out.
const std::vector<Group>& groups() {
    using enum Opcode;
    static const std::vector<Group> all = {
        {NaN::None,
         8,
         {IADD, IADD32I, IADD3, ISCADD, ISCADD32I, IMAD, IMAD32I, IMUL, IMUL32I, IMADSP, XMAD, IMNMX, LEA}},
        {NaN::None, 6, {BFE, BFI, FLO, LOP, LOP3, LOP32I, POPC, PRMT, SHF, SHL, SHR, SEL, MOV, MOV32I}},
        {NaN::None, 4, {ICMP, ISET, ISETP, CSET, CSETP, PSET, PSETP, P2R, R2P}},
        {NaN::None, 2, {VABSDIFF, VABSDIFF4, VADD, VMAD, VMNMX, VSET, VSETP, VSHL, VSHR}},
        {NaN::None, 2, {I2F, I2I, F2I}},
        {NaN::Single, 6, {FADD, FADD32I, FFMA, FFMA32I, FMUL, FMUL32I, FMNMX, FSET, FSETP, FCMP, FCHK}},
        {NaN::Halves, 3, {HADD2, HADD2_32I, HFMA2, HFMA2_32I, HMUL2, HMUL2_32I, HSET2, HSETP2}},
        {NaN::Double, 2, {DADD, DFMA, DMUL, DMNMX, DSET, DSETP}},
        {NaN::Single, 1, {F2F}},
    };
    return all;
}

class Generator {
public:
    Generator(u64 seed, const Options& options, Stage stage) : random_(seed), options_(options), stage_(stage) {}

    std::vector<Statement> program() {
        // Not in every program: devices take long to compile them.
        const bool warps = options_.warps && stage_ == Stage::Compute && chance(10);
        textures_ = options_.textures && chance(30);
        std::vector<Statement> result;
        while (result.size() < options_.statements) {
            // Where all threads come by: depth 0.
            if (warps && chance(15))
                result.push_back(together());
            else
                result.push_back(statement(options_.depth));
        }
        if (stage_ == Stage::Fragment && chance(12))
            result.insert(result.begin() + below(static_cast<u32>(result.size())), kill());
        return result;
    }

private:
    // std:: distributions differ between libraries.
    u32 below(u32 bound) { return static_cast<u32>(random_() >> 33) % bound; }
    bool chance(u32 percent) { return below(100) < percent; }

    std::vector<Statement> block(unsigned count, unsigned depth) {
        std::vector<Statement> result;
        while (result.size() < count)
            result.push_back(statement(depth));
        return result;
    }

    Statement statement(unsigned depth) {
        const u32 pick = below(100);
        if (depth > 0 && pick < 18)
            return compound(depth);
        if (options_.memory && pick < 30)
            return memory();
        if (textures_ && pick < 35)
            return chance(60) ? texture() : image();
        if (pick < 38)
            return chance(50) ? indexed_constant() : special();
        if (pick < 42)
            if (const std::vector<const char*> ways = ways_out(); !ways.empty())
                return lines({leave(ways[below(static_cast<u32>(ways.size()))])});
        return pick < 43 ? without_effect() : arithmetic();
    }

    [[nodiscard]] std::vector<const char*> ways_out() const {
        std::vector<const char*> ways;
        if (in_loop_)
            ways.insert(ways.end(), {loop_continues_ ? "CONT" : "BRK", "BRK"});
        if (in_function_)
            ways.push_back("RET");
        if (may_jump_)
            ways.push_back("LONGJMP");
        if (may_exit_)
            ways.push_back("EXIT");
        return ways;
    }

    // What a program does not see, or always sees alike.
    Statement without_effect() {
        static constexpr const char* all[] = {"NOP", "DEPBAR {5,3,1}",  "MEMBAR.CTA", "MEMBAR.GL", "MEMBAR.SYS", "SAM",
                                              "RAM", "CCTL.E.PF1 [R20]"};
        const u32 pick = below(20);
        if (pick < std::size(all))
            return lines({all[pick]});
        if (pick < 12)
            return lines({fmt::format("{}LEPC R{}", guard(), data())});
        if (pick < 16)
            return lines({fmt::format("GETCRSPTR R{}", data())});
        return lines({fmt::format("{}CS2R R{}, SR_{}", guard(), data(), chance(50) ? "SM_SPA_VERSION" : "LMEMHIOFF")});
    }

    // At most every eighth pixel.
    Statement kill() {
        return lines(
            {"LOP32I.AND R16, R29, 0x7", fmt::format("ISETP.EQ.AND P6, PT, R16, RZ, {}", predicate()), "@P6 KIL"});
    }

    static Statement lines(std::vector<std::string> text, bool whole = false) {
        Statement result;
        result.lines = std::move(text);
        result.whole = whole;
        return result;
    }

    std::string predicate() { return fmt::format("{}P{}", chance(50) ? "!" : "", below(layout::predicates)); }
    u32 data(u32 count = 1) { return below(layout::data_registers / count) * count; }
    std::string leave(const char* instruction) { return fmt::format("@{} {}", predicate(), instruction); }

    Statement compound(unsigned depth) {
        Statement result;
        const unsigned count = 1 + below(5);
        const bool in_loop = in_loop_, continues = loop_continues_, in_function = in_function_;
        const bool jumps = may_jump_, exits = may_exit_;
        switch (below(10)) {
        case 0:
        case 1:
        case 2:
        case 3: {
            static constexpr const char* tests[] = {"LT",  "EQ",  "LE",  "GT",  "NE",  "GE", "NUM", "NAN", "LTU", "EQU",
                                                    "LEU", "GTU", "NEU", "GEU", "OFF", "LO", "LS",  "HI",  "HS"};
            result.kind = Statement::Kind::If;
            result.predicate = chance(15) ? fmt::format("CC.{}", tests[below(std::size(tests))]) : predicate();
            if (chance(60))
                result.otherwise = block(1 + below(4), depth - 1);
            break;
        }
        case 4:
        case 5:
            result.kind = Statement::Kind::Loop;
            result.selector = fmt::format("R{}", data());
            in_loop_ = true;
            result.continues = loop_continues_ = chance(40);
            break;
        case 6:
        case 7:
            result.kind = Statement::Kind::Call;
            in_loop_ = loop_continues_ = false;
            in_function_ = true;
            break;
        case 8: {
            static constexpr const char* ways[] = {"LONGJMP", "EXIT", "RET"};
            const u32 way = below(3);
            result.kind = Statement::Kind::Escape;
            result.selector = ways[way];
            (way == 0 ? may_jump_ : way == 1 ? may_exit_ : in_function_) = true;
            break;
        }
        default:
            result.kind = Statement::Kind::Switch;
            result.selector = fmt::format("R{}", data());
            result.otherwise = block(1 + below(3), depth - 1);
        }
        result.body = block(count, depth - 1);
        in_loop_ = in_loop;
        loop_continues_ = continues;
        in_function_ = in_function;
        may_jump_ = jumps;
        may_exit_ = exits;
        return result;
    }

    std::string guard() { return chance(20) ? fmt::format("@{} ", predicate()) : std::string(); }

    // R18: a lane's own offset, made from a data register so that lanes differ. Every access stays in the lane's own
    // bytes.
    Statement memory() {
        struct Space {
            const char *load, *store, *base; // base: the register that holds the lane's first byte
            u32 bytes;
            const char* address;
        };
        static constexpr Space spaces[] = {
            {"LDL", "STL", "RZ", layout::local_bytes, "[R18]"},
            {"LDG.E", "STG.E", nullptr, layout::scratch_bytes, "[R18]"},
            {"LDS", "STS", "R23", layout::shared_bytes_per_thread, "[R18]"},
        };
        Space space = spaces[below(stage_ == Stage::Compute ? 3 : 2)];
        if (!space.base && chance(30)) // generic addresses
            space.load = "LD.E", space.store = "ST.E";
        static constexpr struct {
            const char* suffix;
            u32 bytes;
        } sizes[] = {{".U8", 1}, {".S8", 1}, {".U16", 2}, {".S16", 2}, {"", 4}, {".64", 8}, {".128", 16}};
        const auto& size = sizes[below(7)];
        const u32 words = std::max(size.bytes / 4, 1u);
        const u32 reg = data(words);
        Statement result;
        result.lines.push_back(fmt::format("LOP32I.AND R18, R{}, {:#x}", data(), space.bytes - size.bytes));
        if (space.base) {
            result.lines.push_back(fmt::format("IADD R18, R18, {}", space.base));
        } else {
            result.lines.push_back("IADD R18.CC, R18, R20");
            result.lines.push_back("IADD.X R19, RZ, R21");
        }
        const u32 offset = space.base ? 0 : layout::scratch_offset;
        const std::string address = offset != 0 ? fmt::format("[R18+{:#x}]", offset) : std::string(space.address);
        const u32 kind = below(space.base && space.base[0] == 'R' && space.base[1] == 'Z' ? 2 : 3);
        if (kind == 2 && size.bytes >= 4 && size.bytes <= (space.base ? 4 : 8)) { // shared memory has none of 64 bits
            static constexpr const char* operations[] = {"ADD", "MIN", "MAX", "AND", "OR", "XOR", "INC", "DEC", "EXCH"};
            const char* operation = operations[size.bytes == 8 ? 1 + below(5) : below(9)];
            const bool global = !space.base;
            if (size.bytes == 8)
                result.lines.push_back(fmt::format("{}.{}.{} R{}, {}, R{}", global ? "ATOM.E" : "ATOMS", operation,
                                                   chance(50) ? "U64" : "S64", reg, address, data(2)));
            else if (global && operation != operations[8] && chance(20))
                result.lines.push_back(fmt::format("RED.E.{} {}, R{}", operation, address, data()));
            else if (global && chance(15)) {
                const u32 pair = data(2);
                result.lines.push_back(fmt::format("ATOM.E.CAS R{}, {}, R{}, R{}", reg, address, pair, pair + 1));
            } else
                result.lines.push_back(fmt::format(
                    "{}.{}{} R{}, {}, R{}", global ? "ATOM.E" : "ATOMS", operation,
                    (operation[0] == 'M' || operation[0] == 'A') && chance(50) ? ".S32" : "", reg, address, data()));
        } else if (kind == 1) {
            result.lines.push_back(fmt::format("{}{}{} {}, R{}", guard(), space.store, size.suffix, address, reg));
        } else {
            result.lines.push_back(fmt::format("{}{}{} R{}, {}", guard(), space.load, size.suffix, reg, address));
        }
        return result;
    }

    // Anywhere in the bank, and as far behind it.
    Statement indexed_constant() {
        static constexpr struct {
            const char* suffix;
            u32 bytes;
        } sizes[] = {{".U8", 1}, {".S8", 1}, {".U16", 2}, {".S16", 2}, {"", 4}, {".64", 8}};
        const auto& size = sizes[below(6)];
        return lines({fmt::format("LOP32I.AND R18, R{}, {:#x}", data(), layout::constant_bytes - size.bytes),
                      fmt::format("{}LDC{} R{}, c[{:#x}][R18]", guard(), size.suffix, data(size.bytes == 8 ? 2 : 1),
                                  layout::constant_bank)});
    }

    // What a thread knows of itself.
    Statement special() {
        static constexpr const char* names[] = {
            "LANEID", "TID.X",           "CTAID.X",   "EQMASK", "LTMASK", "LEMASK",   "GTMASK",         "GEMASK",
            "VIRTID", "ORDERING_TICKET", "TID",       "NTID",   "TID.Y",  "CTAID.Z",  "SM_SPA_VERSION", "SWINLO",
            "SWINSZ", "SMEMSZ",          "SMEMBANKS", "LWINLO", "LWINSZ", "LMEMLOSZ", "LMEMHIOFF",      "VIRTCFG"};
        if (stage_ != Stage::Compute)
            return indexed_constant();
        return lines({fmt::format("S2R R{}, SR_{}", data(), names[below(std::size(names))])});
    }

    // R32 on: coordinates; R36 on: handle and what follows it. Coordinates are the middles of texels, or their common
    // corner for gathers, so that no rounding decides which texel is meant.
    Statement texture() {
        struct Kind {
            const char* name;
            u32 id;
            bool layer, depth;
        };
        static constexpr Kind kinds[] = {{"2D", layout::texture_2d, false, false},
                                         {"3D", layout::texture_3d, false, true},
                                         {"ARRAY_2D", layout::texture_array, true, false}};
        const Kind& kind = kinds[below(3)];
        const u32 handle = kind.id | below(layout::samplers) << 20, result = data(4);
        const u32 operation = below(options_.sampling ? 8 : 4);
        std::vector<std::string> text;
        const bool fetch = operation < 4, gather = operation == 7 && !kind.depth;
        const u32 first = 32 + kind.layer;
        if (kind.layer)
            text.push_back(fmt::format("LOP32I.AND R32, R{}, 0x3", data()));
        for (u32 axis = 0; axis < 2u + kind.depth; ++axis) {
            text.push_back(fmt::format("LOP32I.AND R{}, R{}, {:#x}", first + axis, data(), fetch ? 3 : 31));
            if (fetch)
                continue;
            text.push_back(fmt::format("I2F.F32.U32 R{}, R{}", first + axis, first + axis));
            if (!gather)
                text.push_back(fmt::format("FADD R{}, R{}, 0.5", first + axis, first + axis));
            text.push_back(fmt::format("FMUL R{}, R{}, {}", first + axis, first + axis, axis == 0 ? "0.125" : "0.25"));
        }
        text.push_back(fmt::format("MOV32I R36, {:#x}", handle));
        const bool level = !gather && chance(50);
        if (level) {
            text.push_back(fmt::format("LOP32I.AND R37, R{}, 0x1", data()));
            if (!fetch)
                text.emplace_back("I2F.F32.U32 R37, R37");
        }
        static constexpr const char* components[] = {"R", "G", "B", "A"};
        const std::string name = gather ? fmt::format("TLD4.{}.B", components[below(4)])
                                        : fmt::format("{}.{}", fetch ? "TLD.B" : "TEX.B", level ? "LL" : "LZ");
        text.push_back(fmt::format("{}{} R{}, R32, R36, 0x0, {}, {:#x}", guard(), name, result, kind.name,
                                   chance(50) ? 15 : 1 + below(15)));
        return lines(std::move(text), true);
    }

    // The thread's own texel.
    Statement image() {
        std::vector<std::string> text = {
            fmt::format("LOP32I.AND R32, R29, {:#x}", layout::image_width - 1), "SHR.U32 R33, R29, 0x4",
            fmt::format("MOV32I R36, {:#x}", layout::first_image + static_cast<u32>(stage_))};
        static constexpr const char* operations[] = {"ADD", "MIN", "MAX", "AND", "OR", "XOR", "EXCH"};
        switch (below(4)) {
        case 0:
            text.push_back(fmt::format("{}SULD.D.2D.IGN R{}, [R32], R36", guard(), data()));
            break;
        case 1:
            text.push_back(fmt::format("{}SUST.D.2D.IGN [R32], R{}, R36", guard(), data()));
            break;
        case 2:
            text.push_back(fmt::format("{}SURED.D.2D.{}.IGN [R32], R{}, R36", guard(), operations[below(6)], data()));
            break;
        default:
            text.push_back(
                fmt::format("SUATOM.D.2D.{}.IGN R{}, [R32], R{}, R36", operations[below(7)], data(), data()));
        }
        return lines(std::move(text), true);
    }

    // What threads do together: all of them are here.
    Statement together() {
        static constexpr const char* shuffles[] = {"IDX", "UP", "DOWN", "BFLY"};
        static constexpr const char* votes[] = {"ALL", "ANY", "EQ"};
        static constexpr const char* reductions[] = {"POPC", "AND", "OR"};
        Statement result;
        switch (below(5)) {
        case 0:
            return lines(
                {fmt::format("VOTE.{} R{}, P{}, {}", votes[below(3)], data(), below(layout::predicates), predicate())});
        case 1:
            return lines({fmt::format("BAR.RED.{} 0x0, {}", reductions[below(3)], predicate()),
                          fmt::format("B2R.RESULT R{}, P{}", data(), below(layout::predicates))});
        case 2: { // own word to another thread
            const u32 other = 1 + below(layout::block - 1);
            return lines({"BAR.SYNC 0x0", fmt::format("STS [R23], R{}", data()), "BAR.SYNC 0x0", "S2R R18, SR_TID.X",
                          fmt::format("LOP32I.XOR R18, R18, {:#x}", other), "SHL R18, R18, 0x4",
                          fmt::format("LDS R{}, [R18]", data()), "BAR.SYNC 0x0"});
        }
        default: {
            const u32 by = below(32), segment = 32u - (1u << below(6)), kind = below(4);
            const u32 control = segment << 8 | (kind == 1 ? 0u : 31u);
            const std::string index = chance(50) ? fmt::format("{:#x}", by) : fmt::format("R{}", data());
            return lines({fmt::format("SHFL.{} P{}, R{}, R{}, {}, {:#x}", shuffles[kind], below(layout::predicates),
                                      data(), data(), index, control)});
        }
        }
    }

    Statement arithmetic() {
        for (;;) {
            const Group& group = pick_group();
            const Opcode opcode = group.opcodes[below(static_cast<u32>(group.opcodes.size()))];
            const auto forms = maxwell::Table::get().forms_of(maxwell::mnemonic(opcode));
            if (forms.empty())
                continue;
            const Form& form = maxwell::Table::get().form(forms[below(static_cast<u32>(forms.size()))]);
            if (const auto instruction = draw(form)) {
                Statement result;
                std::string text = maxwell::disassemble(*instruction);
                if (const auto end = text.find(" ;"); end != std::string::npos)
                    text.resize(end);
                result.lines.push_back(text);
                settle(*instruction, group.nan, result.settle);
                return result;
            }
        }
    }

    const Group& pick_group() {
        for (;;) {
            u32 total = 0;
            for (const Group& group : groups())
                total += group.weight;
            u32 pick = below(total);
            for (const Group& group : groups()) {
                if (pick < group.weight) {
                    const bool wanted = group.nan == NaN::Double   ? options_.doubles && stage_ == Stage::Compute
                                        : group.nan == NaN::Halves ? options_.halves
                                        : group.nan == NaN::Single ? options_.floats
                                                                   : true;
                    if (wanted)
                        return group;
                    break;
                }
                pick -= group.weight;
            }
        }
    }

    static void put(u64& word, const maxwell::Field& field, u64 value) {
        word = (word & ~field.mask()) | field.put(value);
    }

    // A valid word of the form whose operands are the program's own registers, predicates and constants.
    std::optional<maxwell::Instruction> draw(const Form& form) {
        for (int attempt = 0; attempt < 64; ++attempt) {
            u64 word = (random_() & ~form.mask) | form.value;
            for (unsigned i = 0; i < form.check_count; ++i) {
                const Form::Check& check = form.checks[i];
                u64 value = check.field.get(word);
                for (int tries = 0; tries < 200 && !(check.valid[value >> 6] >> (value & 63) & 1); ++tries)
                    value = random_() & ((u64{1} << check.field.size()) - 1);
                put(word, check.field, value);
            }
            if (form.guard.present())
                put(word, form.guard, chance(80) ? 7 : below(2) << 3 | below(layout::predicates));
            for (unsigned i = 0; i < form.operand_count; ++i)
                own(word, form.operands[i]);
            auto instruction = maxwell::decode(word);
            if (!instruction || &instruction->form() != &form || !align(form, word, instruction) ||
                unknown(*instruction) || (stage_ != Stage::Compute && !fit_for_draws(*instruction)))
                continue;
            return instruction;
        }
        return std::nullopt;
    }

    // Modifiers whose meaning nobody has measured; the interpreter refuses them by name.
    static bool unknown(const maxwell::Instruction& instruction) {
        using maxwell::FunnelHigh;
        using maxwell::Modifier;
        switch (instruction.opcode()) {
        case Opcode::SHL:
            return instruction.has(Modifier::Extended);
        case Opcode::SHR:
            return instruction.modifier(Modifier::ShiftExtended) != 0;
        case Opcode::SHF: {
            const auto high = instruction.get<FunnelHigh>();
            return high > FunnelHigh::Hi || (high == FunnelHigh::Hi && !instruction.has(Modifier::ShiftRight));
        }
        default:
            return false;
        }
    }

    // Software devices flush denormals of all kinds in draws, whatever the module asks for; which lane a vertex has is
    // theirs too.
    static bool fit_for_draws(const maxwell::Instruction& instruction) {
        switch (instruction.opcode()) {
        case Opcode::FADD:
        case Opcode::FADD32I:
        case Opcode::FFMA:
        case Opcode::FFMA32I:
        case Opcode::FMUL:
        case Opcode::FMUL32I:
        case Opcode::FMNMX:
        case Opcode::FSET:
        case Opcode::FSETP:
        case Opcode::FCMP:
        case Opcode::HADD2:
        case Opcode::HADD2_32I:
        case Opcode::HMUL2:
        case Opcode::HMUL2_32I:
        case Opcode::HFMA2:
        case Opcode::HFMA2_32I:
        case Opcode::HSET2:
        case Opcode::HSETP2:
        case Opcode::F2F:
        case Opcode::F2I: {
            const std::string text = maxwell::disassemble(instruction);
            const bool converts = instruction.opcode() == Opcode::F2F || instruction.opcode() == Opcode::F2I;
            return (text.find("FTZ") != std::string::npos || text.find("FMZ") != std::string::npos) &&
                   text.find("F64") == std::string::npos && !(converts && text.find("F16") != std::string::npos);
        }
        case Opcode::I2F:
            return maxwell::disassemble(instruction).find("F64") == std::string::npos;
        case Opcode::FCHK:
        case Opcode::MOV:
        case Opcode::MOV32I:
            return false;
        default:
            return true;
        }
    }

    void own(u64& word, const OperandSpec& spec) {
        const bool destination = spec.slot == Slot::D || spec.slot == Slot::D2;
        switch (spec.type) {
        case OperandType::R:
            put(word, spec.fields[0],
                chance(destination ? 3 : 8) ? u64{maxwell::zero_register} : below(layout::data_registers));
            break;
        case OperandType::P:
            put(word, spec.fields[0], chance(25) ? u64{maxwell::true_predicate} : below(layout::predicates));
            break;
        case OperandType::C:
        case OperandType::CS:
            put(word, spec.fields[0], layout::constant_bank);
            put(word, spec.fields[1], below(layout::constant_bytes / 8) * 2);
            break;
        default:
            break;
        }
    }

    // Operands of several registers start at a multiple of their count and stay inside R0 to R15; constants inside
    // theirs.
    bool align(const Form& form, u64 word, std::optional<maxwell::Instruction>& instruction) {
        for (unsigned i = 0; i < form.operand_count; ++i) {
            const OperandSpec& spec = form.operands[i];
            const auto operand = instruction->operand(spec.slot);
            if (spec.type == OperandType::R && operand.reg != maxwell::zero_register && operand.count > 1)
                put(word, spec.fields[0], operand.reg / operand.count * operand.count);
            if (operand.kind == OperandKind::Constant &&
                (operand.bank != layout::constant_bank || operand.offset < 0 ||
                 operand.offset + 8 > static_cast<i32>(layout::constant_bytes) ||
                 operand.reg != maxwell::zero_register))
                return false;
        }
        instruction = maxwell::decode(word);
        return instruction && &instruction->form() == &form;
    }

    // NaN results get the bits that this machine's own NaNs have.
    static void settle(const maxwell::Instruction& instruction, NaN nan, std::vector<std::string>& lines) {
        const auto d = instruction.operand(Slot::D);
        if (nan == NaN::None || d.kind != OperandKind::Register || d.reg == maxwell::zero_register)
            return;
        const bool wide = nan == NaN::Double || d.count == 2;
        if (nan == NaN::Halves || instruction.opcode() == Opcode::F2F) {
            static constexpr struct {
                u32 mask, infinity, keep;
            } halves[] = {{0x7fff, 0x7c00, 0xffff0000}, {0x7fff0000, 0x7c000000, 0xffff}};
            for (const auto& half : halves) {
                lines.push_back(fmt::format("LOP32I.AND R16, R{}, {:#x}", d.reg, half.mask));
                lines.push_back(fmt::format("MOV32I R17, {:#x}", half.infinity));
                lines.push_back("ISETP.GT.U32.AND P6, PT, R16, R17, PT");
                lines.push_back(fmt::format("@P6 LOP32I.AND R{}, R{}, {:#x}", d.reg, d.reg, half.keep));
                lines.push_back(fmt::format("@P6 LOP32I.OR R{}, R{}, {:#x}", d.reg, d.reg, half.mask));
            }
        }
        if (wide && d.count == 2) {
            lines.push_back(fmt::format("DSETP.NAN.AND P6, PT, R{}, R{}, PT", d.reg, d.reg));
            lines.push_back(fmt::format("@P6 MOV R{}, RZ", d.reg));
            lines.push_back(fmt::format("@P6 MOV32I R{}, 0x7ff80000", d.reg + 1));
        }
        if (!wide) {
            lines.push_back(fmt::format("FSETP.NAN.AND P6, PT, R{}, R{}, PT", d.reg, d.reg));
            lines.push_back(fmt::format("@P6 MOV32I R{}, 0x7fffffff", d.reg));
        }
    }

    std::mt19937_64 random_;
    const Options& options_;
    Stage stage_;
    bool textures_ = false;
    bool in_loop_ = false, loop_continues_ = false, in_function_ = false;
    bool may_jump_ = false, may_exit_ = false; // inside what a LONGJMP, an EXIT leaves
};

} // namespace

Program generate(u64 seed, const Options& options, Stage stage) {
    return {seed, stage, Generator(seed + (static_cast<u64>(stage) << 40), options, stage).program()};
}

std::vector<u32> values(u64 seed, std::size_t count) {
    static constexpr u32 edges[] = {0x00000000, 0x00000001, 0x00000002, 0x0000001f, 0x00000020, 0x0000003f, 0x000000ff,
                                    0x00008000, 0x0000ffff, 0x00010000, 0x7fffffff, 0x80000000, 0x80000001, 0xfffffffe,
                                    0xffffffff, 0x3f800000, 0xbf800000, 0x3f000000, 0x40490fdb, 0x4f000000, 0xcf000000,
                                    0x4f800000, 0x7f7fffff, 0xff7fffff, 0x00800000, 0x80800000, 0x007fffff, 0x807fffff,
                                    0x7f800000, 0xff800000, 0x7fc00000, 0x3ff00000, 0x40000000, 0x7ff00000, 0x00100000,
                                    0x3c003c00, 0x7bff0400, 0x03ff8001, 0x7c00fc00, 0x47800000};
    std::mt19937_64 random(seed);
    std::vector<u32> result(count);
    for (u32& value : result) {
        const u64 bits = random();
        const u32 kind = static_cast<u32>(bits >> 60);
        if (kind < 5)
            value = edges[(bits >> 32) % std::size(edges)];
        else if (kind < 8)
            value = static_cast<u32>(bits & 0xff);
        else if (kind < 12) // floats near 1
            value = (static_cast<u32>(bits) & 0x807fffff) | static_cast<u32>(117 + (bits >> 40) % 20) << 23;
        else
            value = static_cast<u32>(bits);
    }
    return result;
}

} // namespace heaviside::generate
