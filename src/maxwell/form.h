// The rows of the instruction table, and what is compiled from them. For this floor and its tests; others use
// instruction.h.
//
// A row says everything there is to know about one instruction form, in two strings. docs/isa.md explains them:
//
//     {Opcode::FADD, "0101 1100 0101 1Syn Cxmf ---r r--- ---- bbbb bbbb pppp aaaa aaaa dddd dddd",
//      "{.ftz f}{.rnd r}{.sat S} {D:R d}{.cc C}, {A:R a -n |x}, {B:R b -m |y}"},
//
// The first has one character a bit, bit 63 first: 0 and 1 are fixed, - is ignored, + is ignored and
// set by the assembler, a letter belongs to the field of
// that name (its bits need not be adjacent). The second is the text: what stands in braces is printed from fields.
#pragma once

#include "maxwell/instruction.h"

#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

namespace heaviside::maxwell {

struct Row {
    Opcode opcode;
    const char* bits;
    const char* text;
    u64 mask = 0, value = 0; // of the bits that are 0 or 1: worked out by the compiler, since every process needs them

    constexpr Row(Opcode of, const char* pattern, const char* form) : opcode(of), bits(pattern), text(form) {
        for (const char* c = pattern; *c != '\0'; ++c) {
            if (*c == ' ')
                continue;
            mask = mask << 1 | (*c == '0' || *c == '1');
            value = value << 1 | (*c == '1');
        }
    }
};

// A field of the word: up to four pieces, the one with the lowest bits of the value first.
struct Field {
    struct Piece {
        u8 shift = 0, width = 0;
    };
    u8 count = 0;
    u8 constant = 0; // the value of a field without pieces: rows write a digit for it
    std::array<Piece, 4> pieces{};

    [[nodiscard]] u64 get(u64 word) const {
        u64 value = constant | (word >> pieces[0].shift & ((u64{1} << pieces[0].width) - 1));
        unsigned width = pieces[0].width;
        for (unsigned i = 1; i < count; ++i) {
            value |= (word >> pieces[i].shift & ((u64{1} << pieces[i].width) - 1)) << width;
            width += pieces[i].width;
        }
        return value;
    }
    [[nodiscard]] u64 put(u64 value) const {
        u64 word = 0;
        for (unsigned i = 0; i < count; ++i) {
            word |= (value & ((u64{1} << pieces[i].width) - 1)) << pieces[i].shift;
            value >>= pieces[i].width;
        }
        return word;
    }
    [[nodiscard]] unsigned size() const {
        unsigned bits = 0;
        for (unsigned i = 0; i < count; ++i)
            bits += pieces[i].width;
        return bits;
    }
    [[nodiscard]] u64 mask() const { return put(~u64{0}); }
    [[nodiscard]] bool present() const { return count != 0; }
};

// What a value of a modifier field means: its text (nullptr: the vendor's tool rejects it) and its enumerator.
struct ModifierValue {
    const char* text;
    u8 value;
};

struct ModifierTable {
    const char* name;                      // as rows call it
    Modifier modifier;                     // Count_: printed only (an operand's part)
    bool raw;                              // the text is printed as it is; else with a dot before it
    u8 hidden;                             // the value that a {[} ... {]} group hides; 0xff: none
    std::span<const ModifierValue> values; // values past the end are invalid
};

[[nodiscard]] std::span<const ModifierTable> modifier_tables();
[[nodiscard]] const ModifierTable* find_modifier_table(std::string_view name);

// How an operand is encoded and printed.
enum class OperandType : u8 {
    R,    // register                       R12
    P,    // predicate                      P1
    C,    // constant: bank, offset         c[0x3][0x10]
    CS,   // the same with a blank          c[0x3] [0x10]   (if the third field, a type, is F16)
    CI,   // indexed: bank, offset, reg     c[0x3][R5+0x10]
    I,    // unsigned integer               0x12
    S,    // signed integer                 -0x12
    IS,   // signed if the top bit of the second field is set
    IN,   // unsigned, negation printed as -0x12
    F,    // float: the upper bits of an f32
    FD,   // the upper bits of an f64
    FS,   // half, f32 or f64 by the second field, a type
    H,    // two halves: H1, H0
    M,    // memory: reg, offset            [R5+0x10]
    A,    // attribute: reg, offset         a[R5+0x10]
    AC,   // attribute by address: offset   a[0x10]
    AX,   // attribute by register          a[R5]
    T,    // target relative to the next word
    J,    // absolute target
    SR,   // system register
    N,    // decimal number
    SET,  // set of scoreboards             {3,1}
    SWZ,  // the eight signs of FSWZADD     PNZZPPNN
    CAS,  // a register and the next one    R4, R5   (or RZ for either, by the second field)
    CAS2, // the same in steps of two: 64-bit operands
};

struct Flag {
    Field field;
    u8 match = 0; // set if the field has this value
    [[nodiscard]] bool get(u64 word) const { return field.present() && field.get(word) == match; }
};

struct ModifierUse {
    const ModifierTable* table = nullptr;
    Field field;
};

struct OperandSpec {
    Slot slot = Slot::D;
    OperandType type = OperandType::R;
    std::array<Field, 3> fields; // in the order that the type lists
    Flag negate, absolute, invert;
    u8 suffix_first = 0, suffix_count = 0;                                // ModifierUses printed behind it
    bool optional = false;                                                // not printed when its value is `omitted`
    bool comma_before = false, comma_after = false, blank_before = false; // printed along with an optional operand
    u8 omitted = 0;
    u8 flip = 0; // the field holds the value with these bits inverted
};

struct Item {
    enum Kind : u8 { Literal, Modifier, Operand, GroupBegin, GroupEnd } kind = Literal;
    u8 index = 0;               // of the modifier or the operand
    const char* text = nullptr; // of the literal
    u8 length = 0;
};

struct Form {
    Opcode opcode{};
    u64 mask = 0, value = 0;
    u64 fill = 0; // ignored bits that encode() sets
    Field guard;
    const Row* row = nullptr;
    u8 item_count = 0, modifier_use_count = 0, operand_count = 0, check_count = 0;
    std::array<Item, 26> items;
    std::array<ModifierUse, 14> modifier_uses;
    std::array<OperandSpec, 9> operands;
    // Fields with values that are invalid: a word is rejected unless bit `value` of `valid` is set.
    struct Check {
        Field field; // at most 7 bits
        std::array<u64, 2> valid;
    };
    std::array<Check, 10> checks;
    // The same for fields of one piece and at most 6 bits, which nearly all are.
    struct QuickCheck {
        u64 valid;
        u8 shift, mask;
    };
    std::array<QuickCheck, 10> quick_checks;
    u8 quick_check_count = 0;
    bool only_quick = true;
    // A value that another row takes.
    Field excluded_field;
    u8 excluded_value = 0;
    u64 excluded_mask = 0, excluded_bits = 1;      // the same as bits of the word; nothing: what no word has
    std::array<u8, modifier_count> modifier_index; // into modifier_uses; 0xff: none
    std::array<u8, static_cast<unsigned>(Slot::Count_)> slot_index; // into operands; 0xff: none

    [[nodiscard]] bool holds(u64 word) const {
        for (unsigned i = 0; i < quick_check_count; ++i) {
            const QuickCheck& check = quick_checks[i];
            if (!(check.valid >> (word >> check.shift & check.mask) & 1))
                return false;
        }
        return only_quick || holds_all(word);
    }

private:
    [[nodiscard]] bool holds_all(u64 word) const;
};

// The operand without its register count.
[[nodiscard]] Operand read_operand(const Instruction& instruction, const OperandSpec& spec);

// How many registers the operand in `slot` covers, if it is one of registers.
[[nodiscard]] u8 register_count(const Instruction& instruction, Slot slot);

// The bit of the control word's reuse mask that keeps this operand: 0 for A, 1 for B, 2 for C; -1 if there is none.
// Additions on the multipliers take B in C's place.
[[nodiscard]] int reuse_bit(const Form& form, const OperandSpec& spec);

// All rows, with the index that decode() uses. Built on first use; a row's text is compiled when the first word of it
// is met, so that a program pays for the forms it has. Any thread.
class Table {
public:
    [[nodiscard]] static const Table& get();
    ~Table();
    Table(const Table&) = delete;
    Table& operator=(const Table&) = delete;

    [[nodiscard]] std::span<const Form> forms() const; // all of them, in table order
    [[nodiscard]] const Form& form(std::size_t index) const {
        return ready_[index].load(std::memory_order_acquire) ? forms_[index] : compile(index);
    }
    // The row of a word; null if none fits or a field has an invalid value.
    [[nodiscard]] const Form* find(u64 word) const {
        const u32 end = starts_[(word >> key_shift) + 1];
        for (u32 i = starts_[word >> key_shift]; i < end; ++i) {
            const Pattern& pattern = patterns_[candidates_[i]];
            if ((word & pattern.mask) == pattern.value) [[likely]] {
                const Form& found = form(candidates_[i]);
                if ((word & found.excluded_mask) == found.excluded_bits)
                    continue;
                return found.holds(word) ? &found : nullptr;
            }
        }
        return nullptr;
    }
    // The forms of a mnemonic, in table order; empty if there is none.
    [[nodiscard]] std::span<const u16> forms_of(std::string_view name) const;
    // Faults in rows, for the test that demands none. Compiles them all.
    [[nodiscard]] std::vector<std::string> faults() const;

private:
    struct Pattern {
        u64 mask, value;
    };
    static constexpr unsigned key_bits = 11,
                              key_shift = 64 - key_bits; // more: longer to build, hardly faster to search

    Table();
    const Form& compile(std::size_t index) const;

    std::vector<const Row*> rows_;
    std::vector<Pattern> patterns_;                     // one a row
    std::vector<u16> candidates_;                       // rows by the upper key_bits
    std::vector<u16> starts_;                           // into candidates_
    std::vector<u16> by_opcode_;                        // rows, sorted by opcode
    std::array<u16, opcode_count + 1> opcode_starts_{}; // into by_opcode_

    // Storage for one form a row, made by compile().
    Form* forms_;
    std::unique_ptr<std::atomic<bool>[]> ready_;
    mutable std::mutex mutex_;
    mutable std::vector<std::string> faults_;
};

// The table's files, one a class of instructions.
[[nodiscard]] std::span<const Row> float_rows();
[[nodiscard]] std::span<const Row> double_and_half_rows();
[[nodiscard]] std::span<const Row> integer_rows();
[[nodiscard]] std::span<const Row> move_and_convert_rows();
[[nodiscard]] std::span<const Row> memory_rows();
[[nodiscard]] std::span<const Row> texture_rows();
[[nodiscard]] std::span<const Row> control_rows();
[[nodiscard]] std::span<const Row> video_rows();

} // namespace heaviside::maxwell
