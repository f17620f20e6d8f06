// Text of one instruction, as the vendor's disassembler prints it.
#include "base/bytes.h"
#include "maxwell/form.h"
#include "maxwell/half.h"

#include <fmt/format.h>

#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>

namespace heaviside::maxwell {
namespace {

constexpr char digits[] = "0123456789abcdef";

// Text in a buffer of its own: one copy into the string at the end.
class Writer {
public:
    // Longer than any text of a row: at most 26 items of at most 70 characters.
    static constexpr std::size_t capacity = 2048;

    void put(char c) { *end_++ = c; }
    void put(const char* text, std::size_t length) {
        std::memcpy(end_, text, length);
        end_ += length;
    }
    void put(std::string_view text) { put(text.data(), text.size()); }
    [[nodiscard]] std::string_view text() const { return {buffer_, static_cast<std::size_t>(end_ - buffer_)}; }

    void hex(u64 value) {
        put("0x", 2);
        int shift = value == 0 ? 0 : (63 - std::countl_zero(value)) / 4 * 4;
        for (; shift >= 0; shift -= 4)
            put(digits[value >> shift & 15]);
    }
    void signed_hex(i64 value) {
        if (value < 0)
            put('-');
        hex(value < 0 ? u64{0} - static_cast<u64>(value) : static_cast<u64>(value));
    }
    void decimal(unsigned value) {
        if (value >= 100)
            put(static_cast<char>('0' + value / 100));
        if (value >= 10)
            put(static_cast<char>('0' + value / 10 % 10));
        put(static_cast<char>('0' + value % 10));
    }
    void reg(unsigned number) {
        put('R');
        if (number == zero_register)
            put('Z');
        else
            decimal(number);
    }
    void predicate(unsigned number) {
        put('P');
        put(number == true_predicate ? 'T' : static_cast<char>('0' + number));
    }
    // 20 significant digits; from 1e9 on with an exponent and 20 decimals. What is no number has a blank behind it.
    void real(double value) {
        if (std::isnan(value)) {
            put(std::signbit(value) ? "-QNAN " : "+QNAN ");
        } else if (std::isinf(value)) {
            put(value < 0 ? "-INF " : "+INF ");
        } else if (value == 0) {
            put(std::signbit(value) ? "-0.0 " : "0");
        } else {
            const bool large = std::fabs(value) >= 1e9;
            end_ = std::to_chars(end_, end_ + 64, value,
                                 large ? std::chars_format::scientific : std::chars_format::general, 20)
                       .ptr;
        }
    }

private:
    char buffer_[capacity];
    char* end_ = buffer_;
};

double single_value(u64 bits) {
    return std::bit_cast<f32>(static_cast<u32>(bits));
}

void append_modifier(Writer& out, const ModifierUse& use, u64 word) {
    const ModifierValue& value = use.table->values[use.field.get(word)];
    const char* text = value.text;
    if (!text || !*text)
        return;
    if (!use.table->raw)
        out.put('.');
    while (*text)
        out.put(*text++);
}

// [reg + offset] and its kin, brackets not included.
void append_address(Writer& out, const Operand& operand) {
    if (operand.reg == zero_register && operand.offset != 0) {
        out.hex(static_cast<u32>(operand.offset));
        return;
    }
    out.reg(operand.reg);
    if (operand.offset != 0) {
        out.put('+');
        out.signed_hex(operand.offset);
    }
}

void append_constant(Writer& out, const Operand& operand, bool blank) {
    out.put("c[");
    out.hex(operand.bank);
    out.put(blank ? "] [" : "][");
    if (operand.reg == zero_register)
        out.signed_hex(operand.offset);
    else
        append_address(out, operand);
    out.put(']');
}

void append_set(Writer& out, u64 value) {
    out.put('{');
    const char* separator = "";
    for (int bit = 63; bit >= 0; --bit) {
        if (!(value >> bit & 1))
            continue;
        out.put(separator);
        out.decimal(static_cast<unsigned>(bit));
        separator = ",";
    }
    out.put('}');
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
    Printer(Writer& out, const Instruction& instruction, unsigned reuse)
        : out_(out), instruction_(instruction), form_(instruction.form()), reuse_(reuse) {}

    void print() {
        const Guard guard = instruction_.guard();
        if (!guard.always()) {
            out_.put(guard.negated ? "@!" : "@");
            out_.predicate(guard.predicate);
            out_.put(' ');
        }
        out_.put(mnemonic(form_.opcode));
        for (unsigned i = 0; i < form_.item_count; ++i) {
            const Item& item = form_.items[i];
            switch (item.kind) {
            case Item::Literal:
                out_.put(item.text, item.length);
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
        out_.put(out_.text().ends_with(' ') ? ";" : " ;"); // behind what is no number stands a blank already
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
        const Operand operand = read_operand(instruction_, spec);
        if (spec.optional && omitted(spec, operand))
            return;
        if (spec.comma_before)
            out_.put(", ");
        if (spec.blank_before)
            out_.put(' ');
        const bool immediate = is_immediate(spec.type);
        if (operand.negated && !immediate)
            out_.put(operand.kind == OperandKind::Predicate ? '!' : '-');
        if (operand.inverted && !immediate)
            out_.put('~');
        const bool bars = operand.absolute && !immediate;
        if (bars)
            out_.put('|');
        print_value(spec, operand);
        if (immediate) {
            if (operand.negated)
                out_.put(".NEG");
            if (operand.absolute)
                out_.put(".ABS");
            if (operand.inverted)
                out_.put(".INV");
        }
        for (unsigned i = 0; i < spec.suffix_count; ++i)
            append_modifier(out_, form_.modifier_uses[spec.suffix_first + i], instruction_.word());
        if (bars)
            out_.put('|');
        if (operand.kind == OperandKind::Register && reused(spec))
            out_.put(".reuse");
        if (spec.comma_after)
            out_.put(", ");
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
            out_.reg(operand.reg);
            break;
        case OperandType::P:
            out_.predicate(operand.reg);
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
            out_.hex(operand.value);
            break;
        case OperandType::S:
        case OperandType::IS:
        case OperandType::T:
            out_.signed_hex(static_cast<i64>(operand.value));
            break;
        case OperandType::F:
            out_.real(single_value(operand.value));
            break;
        case OperandType::FD:
        case OperandType::FS:
            out_.real(operand.type == ImmediateType::Float16   ? half_value(static_cast<u32>(operand.value))
                      : operand.type == ImmediateType::Float32 ? single_value(operand.value)
                                                               : std::bit_cast<f64>(operand.value));
            break;
        case OperandType::H:
            out_.real(half_value(static_cast<u32>(operand.value >> 16)));
            out_.put(", ");
            out_.real(half_value(operand.value & 0xffff));
            break;
        case OperandType::M:
            out_.put('[');
            append_address(out_, operand);
            out_.put(']');
            break;
        case OperandType::A:
        case OperandType::AC:
        case OperandType::AX:
            print_attribute(operand);
            break;
        case OperandType::SR:
            out_.put(system_register_name(static_cast<unsigned>(operand.value)));
            break;
        case OperandType::N:
            out_.decimal(static_cast<unsigned>(operand.value));
            break;
        case OperandType::SET:
            append_set(out_, operand.value);
            break;
        case OperandType::SWZ:
            for (int i = 6; i >= 0; i -= 2) // the signs of A and B in each of four lanes
                out_.put(&"PPNPPNZP"[2 * (operand.value >> i & 3)], 2);
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
        out_.put("a[");
        append_address(out_, operand);
        out_.put(']');
    }

    void print_pair(const Operand& operand, unsigned step) {
        const unsigned next = operand.reg == zero_register ? zero_register : (operand.reg + step) & 255;
        out_.reg(operand.value == 2 ? zero_register : operand.reg);
        out_.put(", ");
        out_.reg(operand.value == 2 ? operand.reg : operand.value == 1 ? zero_register : next);
    }

    Writer& out_;
    const Instruction& instruction_;
    const Form& form_;
    unsigned reuse_;
};

} // namespace

void disassemble_to(std::string& out, const Instruction& instruction, unsigned reuse) {
    Writer writer;
    Printer(writer, instruction, reuse).print();
    out.append(writer.text());
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
