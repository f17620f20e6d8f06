// Text of one instruction to its word: disassemble.cpp read backwards over the same rows.
#include "base/bytes.h"
#include "maxwell/assembler.h"
#include "maxwell/field_solver.h"
#include "maxwell/form.h"
#include "maxwell/half.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <limits>

namespace heaviside::maxwell {
namespace {

bool is_blank(char c) {
    return c == ' ' || c == '\t';
}
bool is_word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '$';
}

class Matcher {
public:
    Matcher(std::string_view text, u32 address, const SymbolLookup& symbols)
        : text_(text), address_(address), symbols_(symbols) {}

    // Tries one row from the place behind the mnemonic; true if the whole text fits.
    bool match(const Form& form, std::size_t begin, u64 guard) {
        form_ = &form;
        position_ = begin;
        error_.clear();
        fields_.start(form.mask, form.value | form.fill);
        pending_ = {};
        reuse_ = 0;
        if (form.guard.present())
            assign(form.guard, guard);
        else if (guard != true_predicate)
            return fault("this instruction takes no predicate");
        for (unsigned i = 0; i < form.item_count; ++i)
            if (!match_item(i))
                return false;
        skip_blanks();
        if (position_ < text_.size() && text_[position_] == ';')
            ++position_;
        skip_blanks();
        if (position_ != text_.size())
            return fault("unexpected text");
        if (!fields_.solve())
            return fault("no such combination of modifiers");
        if (!place_pending())
            return false;
        const auto check = decode(word(), address_);
        return (check && &check->form() == form_) || fault("no such combination of modifiers and operands");
    }

    [[nodiscard]] u64 word() const { return fields_.word(); }
    [[nodiscard]] u8 reuse() const { return reuse_; }
    [[nodiscard]] std::size_t position() const { return position_; }
    [[nodiscard]] const std::string& error() const { return error_; }

private:
    // Immediates whose encoding depends on a field that is only known at the end.
    struct Pending {
        const OperandSpec* spec = nullptr;
        i64 integer = 0;
        double real = 0;
        std::size_t position = 0;
    };

    bool fault(std::string_view message) {
        if (error_.empty())
            error_ = message;
        return false;
    }

    void skip_blanks() {
        while (position_ < text_.size() && is_blank(text_[position_]))
            ++position_;
    }

    // Matches `literal`, blanks in either text ignored; a word must end where the literal does.
    bool match_text(std::string_view literal, bool whole_word = true) {
        std::size_t at = position_;
        char last = 0;
        for (const char c : literal) {
            if (is_blank(c))
                continue;
            while (at < text_.size() && is_blank(text_[at]))
                ++at;
            if (at == text_.size() || text_[at] != c)
                return false;
            ++at;
            last = c;
        }
        if (whole_word && is_word(last) && at < text_.size() && is_word(text_[at]))
            return false;
        position_ = at;
        return true;
    }

    bool match_item(unsigned& i) {
        const Item& item = form_->items[i];
        switch (item.kind) {
        case Item::Literal: {
            const std::string_view literal(item.text, item.length);
            const bool operand_follows = i + 1u < form_->item_count && form_->items[i + 1].kind == Item::Operand;
            return match_text(literal, !operand_follows) || fault(fmt::format("expected '{}'", trimmed(literal)));
        }
        case Item::Modifier:
            return match_modifier(form_->modifier_uses[item.index]);
        case Item::Operand:
            return match_operand(form_->operands[item.index]);
        case Item::GroupBegin:
            return match_group(i);
        case Item::GroupEnd:
            return true;
        }
        return false;
    }

    static std::string_view trimmed(std::string_view text) {
        while (!text.empty() && is_blank(text.front()))
            text.remove_prefix(1);
        while (!text.empty() && is_blank(text.back()))
            text.remove_suffix(1);
        return text;
    }

    // The longest text of the table that is here; the values that print so are allowed.
    bool match_modifier(const ModifierUse& use) {
        const ModifierTable& table = *use.table;
        const std::size_t first = use.field.constant;
        const std::size_t count =
            std::min<std::size_t>(table.values.size(), first + (std::size_t{1} << use.field.size()));
        const std::size_t begin = position_;
        std::size_t best_end = begin;
        std::string_view best;
        for (std::size_t i = first; i < count; ++i) {
            const char* text = table.values[i].text;
            if (!text || !*text || best == text)
                continue;
            position_ = begin;
            if ((table.raw || match_dot()) && match_text(text) && position_ > best_end) {
                best_end = position_;
                best = text;
            }
        }
        position_ = best_end;
        FieldSolver::Values allowed{};
        bool any = false;
        for (std::size_t i = first; i < count; ++i) {
            if (table.values[i].text && best == table.values[i].text) {
                allowed.add(i);
                any = true;
            }
        }
        if (!any)
            return fault("a modifier is missing or unknown");
        if (!use.field.present())
            return true;
        return constrain(use.field, allowed);
    }

    bool match_dot() {
        skip_blanks();
        if (position_ == text_.size() || text_[position_] != '.')
            return false;
        ++position_;
        return true;
    }

    bool constrain(const Field& field, const FieldSolver::Values& allowed) {
        return fields_.constrain(field, allowed) || fault("too many fields");
    }

    bool constrain_flag(const Flag& flag, bool set) {
        if (!flag.field.present())
            return !set || fault("this operand takes no such sign");
        FieldSolver::Values allowed{};
        for (u64 value = 0; value < u64{1} << flag.field.size(); ++value)
            if ((value == flag.match) == set)
                allowed.add(value);
        return constrain(flag.field, allowed);
    }

    // A group of modifiers that is either printed whole or hidden because all have their common value.
    bool match_group(unsigned& i) {
        const std::size_t begin = position_;
        const unsigned constraints = fields_.constraint_count();
        const unsigned first = i + 1;
        bool shown = true;
        for (++i; form_->items[i].kind != Item::GroupEnd; ++i)
            shown = shown && match_item(i);
        if (shown)
            return true;
        error_.clear();
        position_ = begin;
        fields_.drop_constraints(constraints);
        for (unsigned k = first; k < i; ++k) {
            if (form_->items[k].kind != Item::Modifier)
                continue;
            const ModifierUse& use = form_->modifier_uses[form_->items[k].index];
            FieldSolver::Values allowed{};
            allowed.add(use.table->hidden);
            if (!constrain(use.field, allowed))
                return false;
        }
        return true;
    }

    bool assign(const Field& field, u64 value) {
        return fields_.assign(field, value) || fault("operands that must be the same differ");
    }

    // ---- operands

    bool match_operand(const OperandSpec& spec) {
        const std::size_t begin = position_;
        if (spec.optional && !operand_is_here(spec)) {
            position_ = begin;
            return leave_out(spec);
        }
        const bool number = spec.type == OperandType::I || spec.type == OperandType::S ||
                            spec.type == OperandType::IS || spec.type == OperandType::F ||
                            spec.type == OperandType::FD || spec.type == OperandType::FS ||
                            spec.type == OperandType::H || spec.type == OperandType::T;
        bool negated = false, inverted = false, absolute = false;
        if (!number) {
            negated = take(spec.type == OperandType::P ? '!' : '-');
            inverted = take('~');
            absolute = take('|');
        }
        if (!match_value(spec))
            return false;
        if (number) {
            negated = match_text(".NEG");
            absolute = match_text(".ABS");
            inverted = match_text(".INV");
        }
        for (unsigned i = 0; i < spec.suffix_count; ++i)
            if (!match_modifier(form_->modifier_uses[spec.suffix_first + i]))
                return false;
        if (absolute && !number && !take('|'))
            return fault("expected '|'");
        if (match_text(".reuse") && !mark_reuse(spec))
            return false;
        if (!constrain_flag(spec.negate, negated) || !constrain_flag(spec.absolute, absolute) ||
            !constrain_flag(spec.invert, inverted))
            return false;
        if (spec.optional && spec.comma_after)
            return take(',') || fault("expected ','");
        return true;
    }

    // Whether an operand that may be left out stands here: its comma and its first letter tell.
    bool operand_is_here(const OperandSpec& spec) {
        if (spec.comma_before && !take(','))
            return false;
        skip_blanks();
        const std::size_t sign = text_.find_first_not_of("!-|~ \t", position_);
        const char first = sign < text_.size() ? text_[sign] : ';';
        switch (spec.type) {
        case OperandType::P:
            return first == 'P';
        case OperandType::R:
            return first == 'R';
        case OperandType::SET:
            return first == '{';
        default: // a predicate may be the next operand: BAR.RED.POPC 0x0, P0
            return first != ';' && !is_predicate(sign);
        }
    }

    [[nodiscard]] bool is_predicate(std::size_t at) const {
        return at + 1 < text_.size() && text_[at] == 'P' &&
               (text_[at + 1] == 'T' || (text_[at + 1] >= '0' && text_[at + 1] <= '9'));
    }

    bool leave_out(const OperandSpec& spec) {
        return assign(spec.fields[0], spec.omitted ^ spec.flip) && constrain_flag(spec.negate, false);
    }

    bool take(char c) {
        skip_blanks();
        if (position_ == text_.size() || text_[position_] != c)
            return false;
        ++position_;
        return true;
    }

    bool mark_reuse(const OperandSpec& spec) {
        const int bit = reuse_bit(*form_, spec);
        if (bit < 0)
            return fault("this operand has no cache");
        reuse_ = static_cast<u8>(reuse_ | 1u << bit);
        return true;
    }

    bool match_value(const OperandSpec& spec) {
        skip_blanks();
        switch (spec.type) {
        case OperandType::R: {
            const auto reg = match_register();
            return reg && assign(spec.fields[0], *reg);
        }
        case OperandType::P: {
            const auto predicate = match_predicate();
            return predicate && assign(spec.fields[0], *predicate ^ spec.flip);
        }
        case OperandType::C:
        case OperandType::CS:
        case OperandType::CI:
            return match_constant(spec);
        case OperandType::I:
        case OperandType::IN:
        case OperandType::N:
            return match_integer(spec, false);
        case OperandType::S:
            return match_integer(spec, true);
        case OperandType::J:
            return match_integer(spec, false);
        case OperandType::IS:
            return match_late_integer(spec);
        case OperandType::F:
        case OperandType::FD:
            return match_float(spec);
        case OperandType::FS:
            return match_late_float(spec);
        case OperandType::H:
            return match_half(spec.fields[0]) && match_comma() && match_half(spec.fields[1]);
        case OperandType::M:
            return match_memory(spec);
        case OperandType::A:
        case OperandType::AC:
        case OperandType::AX:
            return match_attribute(spec);
        case OperandType::T:
            return match_target(spec);
        case OperandType::SR:
            return match_system_register(spec);
        case OperandType::SET:
            return match_set(spec);
        case OperandType::SWZ:
            return match_swizzle(spec);
        case OperandType::CAS:
            return match_pair(spec, 1);
        case OperandType::CAS2:
            return match_pair(spec, 2);
        }
        return false;
    }

    bool match_comma() { return take(',') || fault("expected ','"); }

    std::string_view word_here() {
        skip_blanks();
        std::size_t end = position_;
        while (end < text_.size() && is_word(text_[end]))
            ++end;
        return text_.substr(position_, end - position_);
    }

    std::optional<u8> match_register() {
        const std::string_view name = word_here();
        unsigned number = zero_register;
        if (name != "RZ") {
            const char* end = name.data() + name.size();
            if (name.size() < 2 || name[0] != 'R' || std::from_chars(name.data() + 1, end, number).ptr != end ||
                number >= zero_register) {
                fault("expected a register");
                return std::nullopt;
            }
        }
        position_ += name.size();
        return static_cast<u8>(number);
    }

    std::optional<u8> match_predicate() {
        const std::string_view name = word_here();
        if (name.size() != 2 || name[0] != 'P' || !(name[1] == 'T' || (name[1] >= '0' && name[1] <= '6'))) {
            fault("expected a predicate");
            return std::nullopt;
        }
        position_ += 2;
        return name[1] == 'T' ? true_predicate : static_cast<u8>(name[1] - '0');
    }

    // A whole number: decimal, hexadecimal or a name, with a sign.
    std::optional<i64> match_number() {
        skip_blanks();
        const bool negative = take('-');
        if (!negative)
            take('+');
        const std::string_view name = word_here();
        const char* begin = name.data();
        const char* end = begin + name.size();
        u64 value = 0;
        const bool hex = name.size() > 2 && name[0] == '0' && (name[1] == 'x' || name[1] == 'X');
        const auto result = hex ? std::from_chars(begin + 2, end, value, 16) : std::from_chars(begin, end, value, 10);
        if (name.empty() || result.ec != std::errc{} || result.ptr != end) {
            const bool letter = !name.empty() && !(name[0] >= '0' && name[0] <= '9');
            const auto symbol = letter && symbols_ ? symbols_(name) : std::nullopt;
            if (!symbol) {
                fault(letter && symbols_ ? fmt::format("unknown name {}", name) : "expected a number");
                return std::nullopt;
            }
            value = static_cast<u64>(*symbol);
        }
        position_ += name.size();
        return static_cast<i64>(negative ? u64{0} - value : value);
    }

    // Signed fields also take the unsigned reading of 32-bit and constant offsets.
    bool place_integer(const Field& field, i64 value, bool is_signed, bool wraps) {
        const unsigned size = field.size();
        const i64 high = is_signed && !wraps ? (i64{1} << (size - 1)) - 1 : (i64{1} << size) - 1;
        const i64 low = is_signed ? -(i64{1} << (size - 1)) : 0;
        if (value < low || value > high)
            return fault(fmt::format("{} does not fit {} bits", value, size));
        return assign(field, static_cast<u64>(value) & ((u64{1} << size) - 1));
    }

    bool match_integer(const OperandSpec& spec, bool is_signed) {
        const auto value = match_number();
        // 1.5 is not the number 1 with something behind it.
        if (value && position_ + 1 < text_.size() && text_[position_] == '.' && text_[position_ + 1] >= '0' &&
            text_[position_ + 1] <= '9')
            return fault("expected a whole number");
        return value && place_integer(spec.fields[0], *value, is_signed, spec.fields[0].size() >= 32);
    }

    bool match_late_integer(const OperandSpec& spec) {
        const std::size_t begin = position_;
        const auto value = match_number();
        if (!value)
            return false;
        pending_ = {&spec, *value, 0, begin};
        return true;
    }

    // A float in text; bits of a NaN are those of the quiet one.
    std::optional<double> match_real() {
        skip_blanks();
        const bool negative = take('-');
        if (!negative)
            take('+');
        if (match_text("QNAN"))
            return std::copysign(std::numeric_limits<double>::quiet_NaN(), negative ? -1.0 : 1.0);
        if (match_text("INF"))
            return negative ? -std::numeric_limits<double>::infinity() : std::numeric_limits<double>::infinity();
        // A point belongs to the number only if a digit follows: "2.NEG" is 2.
        std::size_t end = position_;
        const auto digit_at = [&](std::size_t i) { return i < text_.size() && text_[i] >= '0' && text_[i] <= '9'; };
        while (digit_at(end) || (end < text_.size() && text_[end] == '.' && digit_at(end + 1)))
            ++end;
        if (end < text_.size() && text_[end] == 'e') {
            const std::size_t sign = end + 1 < text_.size() && (text_[end + 1] == '-' || text_[end + 1] == '+') ? 2 : 1;
            if (digit_at(end + sign))
                end += sign;
            while (digit_at(end))
                ++end;
        }
        double value = 0;
        const char* begin = text_.data() + position_;
        const auto result = std::from_chars(begin, text_.data() + end, value);
        if (result.ec != std::errc{} || result.ptr == begin) {
            fault("expected a number");
            return std::nullopt;
        }
        position_ += static_cast<std::size_t>(result.ptr - begin);
        return negative ? -value : value;
    }

    bool hex_is_here() const {
        return position_ + 1 < text_.size() && text_[position_] == '0' &&
               (text_[position_ + 1] == 'x' || text_[position_ + 1] == 'X');
    }

    bool match_float(const OperandSpec& spec) {
        const unsigned width = spec.type == OperandType::FD ? 64 : 32;
        if (hex_is_here()) { // the bits themselves
            const auto bits = match_number();
            return bits && place_upper(spec.fields[0], static_cast<u64>(*bits), width);
        }
        const auto value = match_real();
        if (!value)
            return false;
        return place_upper(spec.fields[0],
                           width == 64 ? std::bit_cast<u64>(*value) : std::bit_cast<u32>(static_cast<f32>(*value)),
                           width);
    }

    // The field holds the upper bits; the rest must be zero.
    bool place_upper(const Field& field, u64 bits, unsigned width) {
        const unsigned below = width - field.size();
        if (below != 0 && (bits & ((u64{1} << below) - 1)) != 0)
            return fault(fmt::format("the number needs more than the upper {} bits of its type", field.size()));
        return assign(field, bits >> below);
    }

    bool match_late_float(const OperandSpec& spec) {
        const std::size_t begin = position_;
        const auto value = match_real();
        if (!value)
            return false;
        pending_ = {&spec, 0, *value, begin};
        return true;
    }

    bool match_half(const Field& field) {
        const auto value = match_real();
        if (!value)
            return false;
        const auto bits = half_bits(*value);
        return bits ? place_upper(field, *bits, 16) : fault("the number is no half");
    }

    bool place_pending() {
        if (!pending_.spec)
            return true;
        const OperandSpec& spec = *pending_.spec;
        position_ = pending_.position;
        const u64 type = spec.fields[1].get(word());
        if (spec.type == OperandType::IS)
            return place_integer(spec.fields[0], pending_.integer, type >> (spec.fields[1].size() - 1) != 0, false);
        if (type == 1) {
            const auto bits = half_bits(pending_.real);
            return bits ? assign(spec.fields[0], *bits) : fault("the number is no half");
        }
        return type == 3 ? place_upper(spec.fields[0], std::bit_cast<u64>(pending_.real), 64)
                         : place_upper(spec.fields[0], std::bit_cast<u32>(static_cast<f32>(pending_.real)), 32);
    }

    // R5, R5+0x10, R5-0x10, 0x10 or a name.
    struct Address {
        u8 reg = zero_register;
        i64 offset = 0;
    };
    std::optional<Address> match_address() {
        Address address;
        const std::string_view name = word_here();
        const bool is_register =
            name == "RZ" || (name.size() > 1 && name[0] == 'R' && name[1] >= '0' && name[1] <= '9');
        if (is_register) {
            const auto reg = match_register();
            if (!reg)
                return std::nullopt;
            address.reg = *reg;
            skip_blanks();
            if (position_ < text_.size() && text_[position_] == '+')
                ++position_;
            else if (position_ == text_.size() || text_[position_] != '-')
                return address;
        }
        const auto offset = match_number();
        if (!offset)
            return std::nullopt;
        address.offset = *offset;
        return address;
    }

    bool match_constant(const OperandSpec& spec) {
        if (!match_text("c["))
            return fault("expected c[bank][offset]");
        const auto bank = match_number();
        if (!bank || !place_integer(spec.fields[0], *bank, false, false) || !match_text("]["))
            return fault("expected c[bank][offset]");
        const auto address = match_address();
        if (!address || !take(']'))
            return fault("expected c[bank][offset]");
        if (spec.type == OperandType::CI) {
            if (!assign(spec.fields[2], address->reg))
                return false;
        } else if (address->reg != zero_register) {
            return fault("the constant takes no register");
        }
        const bool words = spec.fields[1].size() == 14;
        if (words && address->offset % 4 != 0)
            return fault("the offset must be a multiple of 4");
        return place_integer(spec.fields[1], words ? address->offset / 4 : address->offset, true, true);
    }

    bool match_memory(const OperandSpec& spec) {
        if (!take('['))
            return fault("expected [address]");
        const auto address = match_address();
        if (!address || !take(']'))
            return fault("expected [address]");
        if (!assign(spec.fields[0], address->reg))
            return false;
        if (!spec.fields[1].present())
            return address->offset == 0 || fault("the address takes no offset");
        const i64 unit = spec.fields[2].present() ? 4 : 1;
        if (address->offset % unit != 0)
            return fault("the offset must be a multiple of 4");
        return place_integer(spec.fields[1], address->offset / unit, true, address->reg == zero_register);
    }

    bool match_attribute(const OperandSpec& spec) {
        if (!match_text("a["))
            return fault("expected a[address]");
        const auto address = match_address();
        if (!address || !take(']'))
            return fault("expected a[address]");
        if (spec.type == OperandType::AC)
            return (address->reg == zero_register || fault("the attribute takes no register")) &&
                   place_integer(spec.fields[0], address->offset, false, false);
        if (!assign(spec.fields[0], address->reg))
            return false;
        if (spec.type == OperandType::AX)
            return address->offset == 0 || fault("the attribute takes no offset");
        return place_integer(spec.fields[1], address->offset, true, false);
    }

    bool match_target(const OperandSpec& spec) {
        const auto target = match_number();
        return target && place_integer(spec.fields[0], *target - (i64{address_} + 8), true, false);
    }

    bool match_system_register(const OperandSpec& spec) {
        std::size_t end = position_;
        while (end < text_.size() && (is_word(text_[end]) || text_[end] == '.'))
            ++end;
        const std::string_view name = text_.substr(position_, end - position_);
        for (unsigned i = 0; i < 256; ++i) {
            if (system_register_name(i) != name)
                continue;
            position_ = end;
            return assign(spec.fields[0], i);
        }
        return fault("expected a system register");
    }

    bool match_set(const OperandSpec& spec) {
        if (!take('{'))
            return fault("expected {numbers}");
        u64 set = 0;
        do {
            const auto number = match_number();
            if (!number || *number < 0 || *number >= spec.fields[0].size())
                return fault("expected a scoreboard number");
            set |= u64{1} << *number;
        } while (take(','));
        return (take('}') || fault("expected '}'")) && assign(spec.fields[0], set);
    }

    bool match_swizzle(const OperandSpec& spec) {
        const std::string_view name = word_here();
        if (name.size() != 8)
            return fault("expected eight signs");
        u64 value = 0;
        for (unsigned lane = 0; lane < 4; ++lane) {
            const std::string_view signs = name.substr(2 * lane, 2);
            const u64 code = signs == "PP" ? 0 : signs == "NP" ? 1 : signs == "PN" ? 2 : signs == "ZP" ? 3 : 4;
            if (code == 4)
                return fault("the signs of a lane are PP, NP, PN or ZP");
            value = value << 2 | code;
        }
        position_ += 8;
        return assign(spec.fields[0], value);
    }

    bool match_pair(const OperandSpec& spec, unsigned step) {
        const auto first = match_register();
        if (!first || !match_comma())
            return false;
        const auto second = match_register();
        if (!second)
            return false;
        const bool both = *second == (*first == zero_register ? zero_register : (*first + step) & 255);
        if (both)
            return assign(spec.fields[0], *first) && assign(spec.fields[1], 0);
        if (*second == zero_register)
            return assign(spec.fields[0], *first) && assign(spec.fields[1], 1);
        if (*first == zero_register)
            return assign(spec.fields[0], *second) && assign(spec.fields[1], 2);
        return fault("the two registers must follow each other, or one be RZ");
    }

    std::string_view text_;
    u32 address_;
    const SymbolLookup& symbols_;
    const Form* form_ = nullptr;
    std::size_t position_ = 0;
    std::string error_;
    FieldSolver fields_;
    Pending pending_;
    u8 reuse_ = 0;
};

// "@!P3 " in front; moves `position` behind it.
bool match_guard(std::string_view text, std::size_t& position, u64& guard) {
    if (position >= text.size() || text[position] != '@')
        return true;
    ++position;
    guard = 0;
    if (position < text.size() && text[position] == '!') {
        guard = 8;
        ++position;
    }
    if (position + 1 >= text.size() || text[position] != 'P')
        return false;
    const char number = text[position + 1];
    if (number != 'T' && (number < '0' || number > '6'))
        return false;
    guard |= number == 'T' ? true_predicate : static_cast<u64>(number - '0');
    position += 2;
    return true;
}

} // namespace

tl::expected<Encoded, EncodeError> encode(std::string_view text, u32 address, const SymbolLookup& symbols) {
    std::size_t position = 0;
    const auto skip = [&] {
        while (position < text.size() && is_blank(text[position]))
            ++position;
    };
    skip();
    u64 guard = true_predicate;
    if (!match_guard(text, position, guard))
        return tl::unexpected(EncodeError{"expected a predicate behind @", position});
    skip();
    const std::size_t begin = position;
    while (position < text.size() && is_word(text[position]))
        ++position;
    const std::string_view name = text.substr(begin, position - begin);
    const auto forms = Table::get().forms_of(name);
    if (forms.empty())
        return tl::unexpected(
            EncodeError{name.empty() ? "expected an instruction" : fmt::format("no instruction {}", name), begin});

    Matcher matcher(text, address, symbols);
    EncodeError best{"", 0};
    for (const u16 index : forms) {
        if (matcher.match(Table::get().form(index), position, guard))
            return Encoded{matcher.word(), matcher.reuse()};
        if (matcher.position() > best.column || best.message.empty())
            best = {matcher.error(), matcher.position()};
    }
    return tl::unexpected(best);
}

} // namespace heaviside::maxwell
