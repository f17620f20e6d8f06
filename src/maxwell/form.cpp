#include "maxwell/form.h"

#include "maxwell/latency.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>
#include <type_traits>

namespace heaviside::maxwell {
namespace {

struct Compiler {
    const Row& row;
    Form& form;
    std::vector<std::string>& faults;
    std::array<Field, 128> fields{};

    void fault(std::string_view what) {
        faults.push_back(fmt::format("{} {}: {}", mnemonic(row.opcode), row.text, what));
    }

    void compile_bits() {
        int bit = 63;
        for (const char* c = row.bits; *c; ++c) {
            if (*c == ' ')
                continue;
            if (bit < 0)
                return fault("more than 64 bits");
            if (*c == '0' || *c == '1') {
                form.mask |= u64{1} << bit;
                form.value |= u64{static_cast<u8>(*c - '0')} << bit;
            } else if (*c == '+') {
                form.fill |= u64{1} << bit;
            } else if (*c != '-') {
                add_bit(fields[static_cast<u8>(*c) & 127], static_cast<u8>(bit));
            }
            --bit;
        }
        if (bit != -1)
            fault("fewer than 64 bits");
        form.guard = fields['p'];
    }

    // Bits come from the top: each extends the piece below which it lies, or begins one.
    void add_bit(Field& field, u8 bit) {
        if (field.count != 0 && field.pieces[0].shift == bit + 1) {
            field.pieces[0].shift = bit;
            ++field.pieces[0].width;
            return;
        }
        if (field.count == field.pieces.size())
            return fault("a field in too many pieces");
        std::copy_backward(field.pieces.begin(), field.pieces.begin() + field.count,
                           field.pieces.begin() + field.count + 1);
        field.pieces[0] = {bit, 1};
        ++field.count;
    }

    // The field that one or more letters name, the first with the upper bits.
    Field field(std::string_view letters) {
        Field result;
        if (letters.size() == 1 && letters[0] >= '0' && letters[0] <= '9') {
            result.constant = static_cast<u8>(letters[0] - '0');
            return result;
        }
        for (const char letter : letters) {
            const Field f = fields[static_cast<u8>(letter) & 127];
            if (!f.present() || result.count + f.count > result.pieces.size()) {
                fault(fmt::format("no field {}", letters));
                return result;
            }
            std::copy_backward(result.pieces.begin(), result.pieces.begin() + result.count,
                               result.pieces.begin() + result.count + f.count);
            std::copy(f.pieces.begin(), f.pieces.begin() + f.count, result.pieces.begin());
            result.count = static_cast<u8>(result.count + f.count);
        }
        return result;
    }

    void add_item(Item item) {
        if (form.item_count == form.items.size())
            return fault("too many items");
        form.items[form.item_count++] = item;
    }

    u8 add_modifier(std::string_view name, Field f) {
        const ModifierTable* table = find_modifier_table(name);
        if (!table) {
            fault(fmt::format("no modifier table {}", name));
            return 0;
        }
        if (form.modifier_use_count == form.modifier_uses.size()) {
            fault("too many modifiers");
            return 0;
        }
        const u8 index = form.modifier_use_count++;
        form.modifier_uses[index] = {table, f};
        if (table->modifier != Modifier::Count_)
            form.modifier_index[static_cast<unsigned>(table->modifier)] = index;
        add_check(*table, f);
        return index;
    }

    void add_check(const ModifierTable& table, Field f) {
        if (!f.present()) {
            if (f.constant >= table.values.size() || !table.values[f.constant].text)
                fault("a constant that the table has no text for");
            return;
        }
        if (f.size() > 7)
            return fault("a modifier wider than 7 bits");
        const unsigned count = 1u << f.size();
        Form::Check check{f, {}};
        bool all = true;
        for (unsigned i = 0; i < count; ++i) {
            if (i < table.values.size() && table.values[i].text)
                check.valid[i >> 6] |= u64{1} << (i & 63);
            else
                all = false;
        }
        if (all)
            return;
        if (form.check_count == form.checks.size())
            return fault("too many checks");
        form.checks[form.check_count++] = check;
    }

    void compile_text() {
        const char* c = row.text;
        while (*c) {
            const char* brace = std::strchr(c, '{');
            if (!brace)
                brace = c + std::strlen(c);
            if (brace != c)
                add_item({Item::Literal, 0, c, static_cast<u8>(brace - c)});
            if (!*brace)
                break;
            const char* end = std::strchr(brace, '}');
            if (!end)
                return fault("no closing brace");
            compile_braces({brace + 1, static_cast<std::size_t>(end - brace - 1)});
            c = end + 1;
        }
    }

    // One word of `text`, which it is taken from.
    static std::string_view next_word(std::string_view& text) {
        const auto begin = std::min(text.find_first_not_of(' '), text.size());
        text.remove_prefix(begin);
        const auto end = std::min(text.find(' '), text.size());
        const std::string_view word = text.substr(0, end);
        text.remove_prefix(end);
        return word;
    }

    void compile_braces(std::string_view text) {
        if (text.starts_with('.')) {
            const std::string_view name = next_word(text).substr(1);
            const std::string_view letter = next_word(text);
            add_item({Item::Modifier, add_modifier(name, field(letter)), nullptr, 0});
            return;
        }
        if (text == "[" || text == "]") {
            add_item({text == "[" ? Item::GroupBegin : Item::GroupEnd, 0, nullptr, 0});
            return;
        }
        if (form.operand_count == form.operands.size())
            return fault("too many operands");
        const u8 index = form.operand_count++;
        compile_operand(text, form.operands[index]);
        form.slot_index[static_cast<unsigned>(form.operands[index].slot)] = index;
        add_item({Item::Operand, index, nullptr, 0});
    }

    void compile_operand(std::string_view text, OperandSpec& spec) {
        const std::string_view head = next_word(text);
        const auto colon = head.find(':');
        static constexpr std::array<std::string_view, 13> slots{"D", "P",  "Q",  "D2", "A", "B", "C",
                                                                "S", "S2", "S3", "T",  "I", "I2"};
        static constexpr std::array<std::string_view, 25> types{"R", "P",  "C",  "CS",  "CI",  "I",   "S",   "IS", "IN",
                                                                "F", "FD", "FS", "H",   "M",   "A",   "AC",  "AX", "T",
                                                                "J", "SR", "N",  "SET", "SWZ", "CAS", "CAS2"};
        const auto slot = std::find(slots.begin(), slots.end(), head.substr(0, colon));
        if (colon == head.npos || slot == slots.end())
            return fault("an operand begins with a slot");
        const auto type = std::find(types.begin(), types.end(), head.substr(colon + 1));
        if (type == types.end())
            return fault("unknown operand type");
        spec.slot = static_cast<Slot>(slot - slots.begin());
        spec.type = static_cast<OperandType>(type - types.begin());
        spec.suffix_first = form.modifier_use_count;
        unsigned count = 0;
        for (std::string_view word = next_word(text); !word.empty(); word = next_word(text)) {
            switch (word[0]) {
            case '-':
                spec.negate = flag(word);
                break;
            case '!':
                spec.negate = flag(word);
                break;
            case '|':
                spec.absolute = flag(word);
                break;
            case '~':
                spec.invert = flag(word);
                break;
            case '.':
                add_modifier(word.substr(1), field(next_word(text)));
                ++spec.suffix_count;
                break;
            case '?':
                spec.optional = true;
                spec.omitted = static_cast<u8>(std::atoi(word.data() + 1));
                break;
            case '^':
                if (word == "^7") {
                    spec.flip = 7;
                } else {
                    const auto colon_at = word.find(':');
                    form.excluded_field = colon_at == word.npos ? spec.fields[0] : field(word.substr(colon_at + 1));
                    form.excluded_value = static_cast<u8>(std::atoi(word.data() + 1));
                }
                break;
            case '<':
                spec.comma_before = true;
                break;
            case '>':
                spec.comma_after = true;
                break;
            case '_':
                spec.blank_before = true;
                break;
            default:
                if (word.size() != 1 || count == spec.fields.size())
                    return fault("bad operand field");
                spec.fields[count++] = field(word);
            }
        }
    }

    void compile_checks() {
        for (unsigned i = 0; i < form.check_count; ++i) {
            const Form::Check& check = form.checks[i];
            if (check.field.count != 1 || check.field.size() > 6) {
                form.only_quick = false;
                continue;
            }
            const Field::Piece piece = check.field.pieces[0];
            form.quick_checks[form.quick_check_count++] = {check.valid[0], piece.shift,
                                                           static_cast<u8>((1u << piece.width) - 1)};
        }
    }

    Flag flag(std::string_view word) {
        Flag result{field(word.substr(1, 1)), 1};
        if (word.size() == 4 && word[2] == '=')
            result.match = static_cast<u8>(word[3] - '0');
        return result;
    }
};

} // namespace

Table::Table() {
    const std::array parts{float_rows(),  double_and_half_rows(), integer_rows(), move_and_convert_rows(),
                           memory_rows(), texture_rows(),         control_rows(), video_rows()};
    for (const auto part : parts)
        for (const Row& row : part)
            rows_.push_back(&row);
    const std::size_t count = rows_.size();
    forms_ = std::allocator<Form>().allocate(count);
    ready_ = std::make_unique<std::atomic<bool>[]>(count);

    patterns_.reserve(count);
    for (const Row* row : rows_)
        patterns_.push_back({row->mask, row->value});

    for (const Row* row : rows_)
        ++opcode_starts_[static_cast<unsigned>(row->opcode) + 1];
    for (unsigned i = 0; i < opcode_count; ++i)
        opcode_starts_[i + 1] = static_cast<u16>(opcode_starts_[i + 1] + opcode_starts_[i]);
    by_opcode_.resize(count);
    auto next_of = opcode_starts_;
    for (std::size_t i = 0; i < count; ++i)
        by_opcode_[next_of[static_cast<unsigned>(rows_[i]->opcode)]++] = static_cast<u16>(i);

    // Index by the upper bits: a row stands under every key that its fixed bits allow.
    constexpr unsigned keys = 1u << key_bits;
    std::vector<std::pair<u16, u16>> entries;
    entries.reserve(keys);
    for (std::size_t i = 0; i < count; ++i) {
        const u32 value = static_cast<u32>(patterns_[i].value >> key_shift);
        const u32 open = ~static_cast<u32>(patterns_[i].mask >> key_shift) & (keys - 1);
        for (u32 subset = open;; subset = (subset - 1) & open) {
            entries.emplace_back(static_cast<u16>(value | subset), static_cast<u16>(i));
            if (subset == 0)
                break;
        }
    }
    starts_.assign(keys + 1, 0);
    for (const auto& [key, row] : entries)
        ++starts_[key + 1u];
    for (unsigned key = 0; key < keys; ++key)
        starts_[key + 1] = static_cast<u16>(starts_[key + 1] + starts_[key]);
    candidates_.resize(entries.size());
    std::vector<u16> fill(starts_.begin(), starts_.end() - 1);
    for (const auto& [key, row] : entries)
        candidates_[fill[key]++] = row;
}

Table::~Table() {
    static_assert(std::is_trivially_destructible_v<Form>);
    std::allocator<Form>().deallocate(forms_, rows_.size());
}

const Form& Table::compile(std::size_t index) const {
    const std::lock_guard lock(mutex_);
    if (ready_[index].load(std::memory_order_relaxed))
        return forms_[index];
    Form& form = *new (&forms_[index]) Form;
    form.opcode = rows_[index]->opcode;
    form.row = rows_[index];
    form.modifier_index.fill(0xff);
    form.slot_index.fill(0xff);
    Compiler compiler{*rows_[index], form, faults_};
    compiler.compile_bits();
    compiler.compile_text();
    compiler.compile_checks();
    if (form.excluded_field.present()) {
        form.excluded_mask = form.excluded_field.mask();
        form.excluded_bits = form.excluded_field.put(form.excluded_value);
    }
    ready_[index].store(true, std::memory_order_release);
    return form;
}

std::span<const Form> Table::forms() const {
    for (std::size_t i = 0; i < rows_.size(); ++i)
        (void)form(i);
    return {forms_, rows_.size()};
}

std::vector<std::string> Table::faults() const {
    (void)forms();
    const std::lock_guard lock(mutex_);
    return faults_;
}

bool Form::holds_all(u64 word) const {
    for (unsigned i = 0; i < check_count; ++i) {
        const u64 number = checks[i].field.get(word);
        if (!(checks[i].valid[number >> 6] >> (number & 63) & 1))
            return false;
    }
    return true;
}

std::span<const u16> Table::forms_of(std::string_view name) const {
    // Opcodes are in alphabetical order.
    unsigned low = 0, high = opcode_count;
    while (low < high) {
        const unsigned middle = (low + high) / 2;
        if (mnemonic(static_cast<Opcode>(middle)) < name)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == opcode_count || mnemonic(static_cast<Opcode>(low)) != name)
        return {};
    return {by_opcode_.data() + opcode_starts_[low], by_opcode_.data() + opcode_starts_[low + 1]};
}

const Table& Table::get() {
    static const Table table;
    return table;
}

int reuse_bit(const Form& form, const OperandSpec& spec) {
    if (spec.type != OperandType::R || spec.fields[0].pieces[0].shift == 0 || !has_operand_caches(form.opcode))
        return -1;
    const bool addition = form.opcode == Opcode::FADD || form.opcode == Opcode::DADD || form.opcode == Opcode::HADD2;
    switch (spec.slot) {
    case Slot::A:
        return 0;
    case Slot::B:
        return addition ? 2 : 1;
    case Slot::C:
        return 2;
    default:
        return -1;
    }
}

std::optional<Instruction> decode(u64 word, u32 address) {
    const Form* form = Table::get().find(word);
    return form ? std::optional(Instruction(form, word, address)) : std::nullopt;
}

} // namespace heaviside::maxwell
