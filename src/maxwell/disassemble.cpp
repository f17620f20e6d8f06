// Text of one instruction, as the vendor's disassembler prints it.
#include "base/bytes.h"
#include "maxwell/form.h"

#include <fmt/format.h>

#include <bit>
#include <cmath>

namespace heaviside::maxwell {
namespace {

constexpr char digits[] = "0123456789abcdef";

void append_hex(std::string& out, u64 value) {
    char buffer[18];
    char* end = buffer + sizeof buffer;
    char* begin = end;
    do {
        *--begin = digits[value & 15];
        value >>= 4;
    } while (value != 0);
    *--begin = 'x';
    *--begin = '0';
    out.append(begin, end);
}

void append_signed_hex(std::string& out, i64 value) {
    if (value < 0)
        out += '-';
    append_hex(out, value < 0 ? u64{0} - static_cast<u64>(value) : static_cast<u64>(value));
}

void append_decimal(std::string& out, unsigned value) {
    if (value >= 100)
        out += static_cast<char>('0' + value / 100);
    if (value >= 10)
        out += static_cast<char>('0' + value / 10 % 10);
    out += static_cast<char>('0' + value % 10);
}

void append_register(std::string& out, unsigned reg) {
    out += 'R';
    if (reg == zero_register)
        out += 'Z';
    else
        append_decimal(out, reg);
}

void append_predicate(std::string& out, unsigned predicate) {
    out += 'P';
    out += predicate == true_predicate ? 'T' : static_cast<char>('0' + predicate);
}

// 20 significant digits; from 1e9 on with an exponent and 20 decimals. What is no number has a blank behind it.
void append_float(std::string& out, double value) {
    if (std::isnan(value)) {
        out += std::signbit(value) ? "-QNAN " : "+QNAN ";
    } else if (std::isinf(value)) {
        out += value < 0 ? "-INF " : "+INF ";
    } else if (value == 0 && std::signbit(value)) {
        out += "-0.0 ";
    } else if (std::fabs(value) >= 1e9) {
        fmt::format_to(std::back_inserter(out), "{:.20e}", value);
    } else {
        fmt::format_to(std::back_inserter(out), "{:.20g}", value);
    }
}

double half_value(u32 bits) {
    const u32 sign = (bits & 0x8000) << 16, exponent = bits >> 10 & 31, mantissa = bits & 0x3ff;
    if (exponent == 31)
        return std::bit_cast<f32>(sign | 0x7f800000 | mantissa << 13);
    const double magnitude =
        exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(mantissa + 1024.0, static_cast<int>(exponent) - 25);
    return sign ? -magnitude : magnitude;
}

double single_value(u64 bits) {
    return std::bit_cast<f32>(static_cast<u32>(bits));
}

void append_modifier(std::string& out, const ModifierUse& use, u64 word) {
    const ModifierValue& value = use.table->values[use.field.get(word)];
    if (!value.text || !*value.text)
        return;
    if (!use.table->raw)
        out += '.';
    out += value.text;
}

// [reg + offset] and its kin, brackets not included.
void append_address(std::string& out, const Operand& operand) {
    if (operand.reg == zero_register && operand.offset != 0) {
        append_hex(out, static_cast<u32>(operand.offset));
        return;
    }
    append_register(out, operand.reg);
    if (operand.offset != 0) {
        out += '+';
        append_signed_hex(out, operand.offset);
    }
}

void append_constant(std::string& out, const Operand& operand, bool blank) {
    out += "c[";
    append_hex(out, operand.bank);
    out += blank ? "] [" : "][";
    if (operand.reg == zero_register)
        append_signed_hex(out, operand.offset);
    else
        append_address(out, operand);
    out += ']';
}

void append_set(std::string& out, u64 value) {
    out += '{';
    const char* separator = "";
    for (int bit = 63; bit >= 0; --bit) {
        if (!(value >> bit & 1))
            continue;
        out += separator;
        append_decimal(out, static_cast<unsigned>(bit));
        separator = ",";
    }
    out += '}';
}

bool is_immediate(OperandType type) {
    switch (type) {
    case OperandType::I:
    case OperandType::S:
    case OperandType::IS:
    case OperandType::F:
    case OperandType::FD:
    case OperandType::FS:
    case OperandType::H:
        return true;
    default:
        return false;
    }
}

class Printer {
public:
    Printer(std::string& out, const Instruction& instruction, unsigned reuse)
        : out_(out), instruction_(instruction), form_(instruction.form()), reuse_(reuse) {}

    void print() {
        const Guard guard = instruction_.guard();
        if (!guard.always()) {
            out_ += guard.negated ? "@!" : "@";
            append_predicate(out_, guard.predicate);
            out_ += ' ';
        }
        out_ += mnemonic(form_.opcode);
        for (unsigned i = 0; i < form_.item_count; ++i) {
            const Item& item = form_.items[i];
            switch (item.kind) {
            case Item::Literal:
                out_.append(item.text, item.length);
                break;
            case Item::Modifier:
                append_modifier(out_, form_.modifier_uses[item.index], instruction_.word());
                break;
            case Item::Operand:
                print_operand(form_.operands[item.index]);
                break;
            case Item::GroupBegin:
                if (hidden(i))
                    while (form_.items[i].kind != Item::GroupEnd)
                        ++i;
                break;
            case Item::GroupEnd:
                break;
            }
        }
        out_ += " ;";
    }

private:
    bool hidden(unsigned group) const {
        for (unsigned i = group + 1; form_.items[i].kind != Item::GroupEnd; ++i) {
            if (form_.items[i].kind != Item::Modifier)
                continue;
            const ModifierUse& use = form_.modifier_uses[form_.items[i].index];
            if (use.field.get(instruction_.word()) != use.table->hidden)
                return false;
        }
        return true;
    }

    void print_operand(const OperandSpec& spec) {
        const Operand operand = instruction_.operand(spec.slot);
        if (spec.optional && omitted(spec, operand))
            return;
        if (spec.comma_before)
            out_ += ", ";
        if (spec.blank_before)
            out_ += ' ';
        const bool immediate = is_immediate(spec.type);
        if (operand.negated && !immediate)
            out_ += operand.kind == OperandKind::Predicate ? '!' : '-';
        if (operand.inverted && !immediate)
            out_ += '~';
        const bool bars = operand.absolute && !immediate;
        if (bars)
            out_ += '|';
        print_value(spec, operand);
        if (immediate) {
            if (operand.negated)
                out_ += ".NEG";
            if (operand.absolute)
                out_ += ".ABS";
            if (operand.inverted)
                out_ += ".INV";
        }
        for (unsigned i = 0; i < spec.suffix_count; ++i)
            append_modifier(out_, form_.modifier_uses[spec.suffix_first + i], instruction_.word());
        if (bars)
            out_ += '|';
        if (operand.kind == OperandKind::Register && reused(spec))
            out_ += ".reuse";
        if (spec.comma_after)
            out_ += ", ";
    }

    static bool omitted(const OperandSpec& spec, const Operand& operand) {
        switch (operand.kind) {
        case OperandKind::Register:
        case OperandKind::Predicate:
            return operand.reg == spec.omitted && !operand.negated;
        default:
            return operand.value == spec.omitted;
        }
    }

    bool reused(const OperandSpec& spec) const {
        const int bit = reuse_ == 0 ? -1 : reuse_bit(form_, spec);
        return bit >= 0 && (reuse_ >> bit & 1) != 0;
    }

    void print_value(const OperandSpec& spec, const Operand& operand) {
        switch (spec.type) {
        case OperandType::R:
            append_register(out_, operand.reg);
            break;
        case OperandType::P:
            append_predicate(out_, operand.reg);
            break;
        case OperandType::C:
        case OperandType::CI:
            append_constant(out_, operand, false);
            break;
        case OperandType::CS:
            append_constant(out_, operand, !spec.fields[2].present() || spec.fields[2].get(instruction_.word()) == 1);
            break;
        case OperandType::I:
        case OperandType::IN:
        case OperandType::J:
            append_hex(out_, operand.value);
            break;
        case OperandType::S:
        case OperandType::IS:
        case OperandType::T:
            append_signed_hex(out_, static_cast<i64>(operand.value));
            break;
        case OperandType::F:
            append_float(out_, single_value(operand.value));
            break;
        case OperandType::FD:
        case OperandType::FS:
            append_float(out_, operand.type == ImmediateType::Float16   ? half_value(static_cast<u32>(operand.value))
                               : operand.type == ImmediateType::Float32 ? single_value(operand.value)
                                                                        : std::bit_cast<f64>(operand.value));
            break;
        case OperandType::H:
            append_float(out_, half_value(static_cast<u32>(operand.value >> 16)));
            out_ += ", ";
            append_float(out_, half_value(operand.value & 0xffff));
            break;
        case OperandType::M:
            out_ += '[';
            append_address(out_, operand);
            out_ += ']';
            break;
        case OperandType::A:
        case OperandType::AC:
        case OperandType::AX:
            print_attribute(operand);
            break;
        case OperandType::SR:
            out_ += system_register_name(static_cast<unsigned>(operand.value));
            break;
        case OperandType::N:
            append_decimal(out_, static_cast<unsigned>(operand.value));
            break;
        case OperandType::SET:
            append_set(out_, operand.value);
            break;
        case OperandType::SWZ:
            for (int i = 6; i >= 0; i -= 2) // the signs of A and B in each of four lanes
                out_.append(&"PPNPPNZP"[2 * (operand.value >> i & 3)], 2);
            break;
        case OperandType::CAS:
            print_pair(operand, 1);
            break;
        case OperandType::CAS2:
            print_pair(operand, 2);
            break;
        }
    }

    void print_attribute(const Operand& operand) {
        out_ += "a[";
        append_address(out_, operand);
        out_ += ']';
    }

    void print_pair(const Operand& operand, unsigned step) {
        const unsigned next = operand.reg == zero_register ? zero_register : (operand.reg + step) & 255;
        append_register(out_, operand.value == 2 ? zero_register : operand.reg);
        out_ += ", ";
        append_register(out_, operand.value == 2 ? operand.reg : operand.value == 1 ? zero_register : next);
    }

    std::string& out_;
    const Instruction& instruction_;
    const Form& form_;
    unsigned reuse_;
};

} // namespace

void disassemble_to(std::string& out, const Instruction& instruction, unsigned reuse) {
    Printer(out, instruction, reuse).print();
}

std::string disassemble(const Instruction& instruction, unsigned reuse) {
    std::string out;
    disassemble_to(out, instruction, reuse);
    return out;
}

std::string system_register_name(unsigned number) {
    static constexpr const char* names[100]{
        "LANEID",
        "CLOCK",
        "VIRTCFG",
        "VIRTID",
        "PM0",
        "PM1",
        "PM2",
        "PM3",
        "PM4",
        "PM5",
        "PM6",
        "PM7",
        nullptr,
        nullptr,
        nullptr,
        "ORDERING_TICKET",
        "PRIM_TYPE",
        "INVOCATION_ID",
        "Y_DIRECTION",
        "THREAD_KILL",
        "SHADER_TYPE",
        "DIRECTCBEWRITEADDRESSLOW",
        "DIRECTCBEWRITEADDRESSHIGH",
        "DIRECTCBEWRITEENABLED",
        "MACHINE_ID_0",
        "MACHINE_ID_1",
        "MACHINE_ID_2",
        "MACHINE_ID_3",
        "AFFINITY",
        "INVOCATION_INFO",
        "WSCALEFACTOR_XY",
        "WSCALEFACTOR_Z",
        "TID",
        "TID.X",
        "TID.Y",
        "TID.Z",
        "CTA_PARAM",
        "CTAID.X",
        "CTAID.Y",
        "CTAID.Z",
        "NTID",
        "CirQueueIncrMinusOne",
        "NLATC",
        nullptr,
        "SM_SPA_VERSION",
        "MULTIPASSSHADERINFO",
        nullptr,
        "SWINHI",
        "SWINLO",
        "SWINSZ",
        "SMEMSZ",
        "SMEMBANKS",
        "LWINLO",
        "LWINSZ",
        "LMEMLOSZ",
        "LMEMHIOFF",
        "EQMASK",
        "LTMASK",
        "LEMASK",
        "GTMASK",
        "GEMASK",
        "REGALLOC",
        "CTXADDR",
        nullptr,
        "GLOBALERRORSTATUS",
        nullptr,
        "WARPERRORSTATUS",
        "WARPERRORSTATUSCLEAR",
        nullptr,
        nullptr,
        nullptr,
        nullptr,
        "PM_HI0",
        "PM_HI1",
        "PM_HI2",
        "PM_HI3",
        "PM_HI4",
        "PM_HI5",
        "PM_HI6",
        "PM_HI7",
        "CLOCKLO",
        "CLOCKHI",
        "GLOBALTIMERLO",
        "GLOBALTIMERHI",
        nullptr,
        nullptr,
        nullptr,
        nullptr,
        nullptr,
        nullptr,
        nullptr,
        nullptr,
        nullptr,
        nullptr,
        nullptr,
        nullptr,
        "HWTASKID",
        "CIRCULARQUEUEENTRYINDEX",
        "CIRCULARQUEUEENTRYADDRESSLOW",
        "CIRCULARQUEUEENTRYADDRESSHIGH",
    };
    if (number < std::size(names) && names[number])
        return std::string("SR_") + names[number];
    return fmt::format("SR{}", number);
}

} // namespace heaviside::maxwell
