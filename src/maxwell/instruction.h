// One decoded Maxwell instruction: what it is, its operands and its modifiers, typed.
//
//     auto inst = decode(word, address);            // nothing: the word is no instruction
//     switch (inst->opcode()) {
//     case Opcode::FADD:
//         auto a = inst->operand(Slot::A);           // register, with negated / absolute already read
//         auto b = inst->operand(Slot::B);           // register, constant bank or immediate, by the form
//         if (inst->has(Modifier::Saturate)) ...
//         switch (inst->get<Rounding>()) ...
//
// An Instruction is a word with a pointer to its row of the table (form.h): 24 bytes, copied freely. Operands and
// modifiers are read out of the word when asked for. Any thread; nothing here allocates.
#pragma once

#include "maxwell/modifiers.h"
#include "maxwell/opcode.h"

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace heaviside::maxwell {

struct Form; // a row of the table: form.h

inline constexpr u8 zero_register = 255; // RZ: reads as 0, writes are dropped
inline constexpr u8 true_predicate = 7;  // PT

// The names of operands. A slot keeps its meaning over all forms of a mnemonic: IADD has D, A and B whether B is a
// register, a constant or an immediate. Slots that the text leaves out when they do nothing (a destination predicate
// PT) are there all the same.
enum class Slot : u8 {
    D,  // destination register
    P,  // destination predicate (the first of two)
    Q,  // destination predicate (the second)
    D2, // second destination register: TEXS and TLDS with F32 results
    A,  // first source; the address of a memory access; the coordinates of a texture access
    B,  // second source; the data of a store; the second register of a texture access
    C,  // third source
    S,  // source predicate (xSETP, SEL, xMNMX, PSETP: the last one)
    S2, // PSETP, PSET: the first source predicate
    S3, // PSETP, PSET: the second source predicate
    T,  // target of a branch
    I,  // an immediate that is not A, B or C: texture number, shift count, lookup table, mask, ...
    I2, // one more of them
    Count_,
};

enum class OperandKind : u8 {
    None,
    Register,       // reg, count
    Predicate,      // reg 0-6, 7 is PT; negated
    Constant,       // bank, offset in bytes; reg is the index register (RZ: none), its value in bytes is added
    Immediate,      // value, type
    Attribute,      // a[offset + reg]: offset in bytes, reg the index register
    Memory,         // [reg + offset]
    Target,         // value is the address in the program (absolute; for JMP and JCAL as encoded)
    ConditionCode,  // the whole condition code as a source (CSET, R2P CC)
    PredicateSet,   // PR: all predicates (R2P, P2R)
    SystemRegister, // value is its number, see system_register_name()
    Barrier,        // value is a scoreboard number
};

enum class ImmediateType : u8 { Integer, Float16, Float16x2, Float32, Float64 };

// Which part of a 32-bit source is used.
enum class Part : u8 {
    All,
    B0,
    B1,
    B2,
    B3, // bytes
    H0,
    H1, // halves
    H1H0,
    H0H0,
    H1H1,
    F32, // half precision: both halves as they are (H1H0), one twice, or a float
};

struct Operand {
    OperandKind kind = OperandKind::None;
    u8 reg = zero_register; // register, predicate, or index register
    u8 count = 1;           // how many registers from `reg` on are read or written
    u8 bank = 0;
    bool negated = false; // arithmetic negation after absolute; a predicate's !
    bool absolute = false;
    bool inverted = false; // bitwise ~
    Part part = Part::All;
    ImmediateType type = ImmediateType::Integer;
    bool wide_index = false; // Memory: the address is the pair reg, reg+1
    i32 offset = 0;          // bytes: Constant, Attribute, Memory
    // ATOM.CAS and ATOMS.CAS, slot B: 0 the compare value and behind it the new value; 1 the new value is RZ; 2 the
    // compare value is RZ and B is the new one.
    // Immediate: integers sign-extended to 64 bits; floats as the bits of their type (f32 in the low word; two halves
    // as H1 << 16 | H0). Negation and the like are NOT applied to it: look at the flags.
    u64 value = 0;

    [[nodiscard]] bool is_zero_register() const { return kind == OperandKind::Register && reg == zero_register; }
    [[nodiscard]] bool is_true() const { return kind == OperandKind::Predicate && reg == true_predicate && !negated; }
};

struct Guard {
    u8 predicate = true_predicate;
    bool negated = false;
    [[nodiscard]] bool always() const { return predicate == true_predicate && !negated; }
    [[nodiscard]] bool never() const { return predicate == true_predicate && negated; }
};

class Instruction {
public:
    Instruction(const Form* form, u64 word, u32 address) : form_(form), word_(word), address_(address) {}

    [[nodiscard]] Opcode opcode() const;
    [[nodiscard]] const Form& form() const { return *form_; }
    [[nodiscard]] u64 word() const { return word_; }
    [[nodiscard]] u32 address() const { return address_; } // bytes from the start of the code, control words included
    [[nodiscard]] Guard guard() const;                     // {PT, false} for the few instructions without a guard

    // True if this form has the slot at all.
    [[nodiscard]] bool has(Slot slot) const;
    // The operand in a slot; kind None if the form has none there.
    [[nodiscard]] Operand operand(Slot slot) const;

    // The value of a field: an enumerator of the type that modifiers.h names, a number, or a flag. 0 if absent.
    [[nodiscard]] u8 modifier(Modifier field) const;
    [[nodiscard]] bool has(Modifier flag) const { return modifier(flag) != 0; }
    template <class E>
    [[nodiscard]] E get(Modifier field = modifier_of<E>) const {
        return static_cast<E>(modifier(field));
    }

private:
    const Form* form_;
    u64 word_;
    u32 address_;
};

// The instruction in a word, or nothing if the word is no valid one (no row fits, or a field has a value that means
// nothing). `address` is the byte offset of the word in the program: branch targets are relative to the word behind it.
[[nodiscard]] std::optional<Instruction> decode(u64 word, u32 address = 8);

// The text of the vendor's disassembler with runs of blanks collapsed, e.g. "@P1 FADD.FTZ R0, R1, -c[0x3][0x10] ;".
// `reuse` is the control word's reuse mask; its operands get .reuse.
[[nodiscard]] std::string disassemble(const Instruction& instruction, unsigned reuse = 0);
// Appends instead; saves the allocation.
void disassemble_to(std::string& out, const Instruction& instruction, unsigned reuse = 0);

// "SR_TID.X" or "SR38" for the numbers without a name.
[[nodiscard]] std::string system_register_name(unsigned number);

} // namespace heaviside::maxwell
