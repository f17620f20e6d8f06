// What the functions that lift one instruction each work with. They are grouped in lift_*.cpp by kind of instruction
// and found through lift_table.cpp.
#pragma once

#include "maxwell/instruction.h"
#include "program/program.h"
#include "shader/ir.h"

#include <span>
#include <string>

namespace heaviside::shader::lifting {

using ir::Op;
using ir::Value;
using maxwell::Instruction;
using maxwell::Modifier;
using maxwell::Opcode;
using maxwell::Operand;
using maxwell::OperandKind;
using maxwell::Slot;

// The lifter's own registers, behind the machine's.
namespace scratch {
inline constexpr u32 barrier_result = 256; // BAR.RED, fetched by B2R
inline constexpr u32 local_base = 257;     // SETLMEMBASE, GETLMEMBASE
inline constexpr u32 call_stack = 258;     // SETCRSPTR, GETCRSPTR
} // namespace scratch

class Lifter {
public:
    Lifter(const program::Program& source, ir::Program& out) : b(out), program(source) {}

    ir::Builder b;
    const program::Program& program;
    std::string error; // why the current instruction cannot be lifted; empty: it was

    // While `guard` is valid, results are written only where it holds (the rest keeps its value).
    Value guard{};

    void unsupported(std::string_view reason) { error = reason; }

    // Guest state. RZ reads 0 and drops writes, as do the registers behind it of wide operands; PT reads true.
    Value reg(u32 index);
    void set_reg(u32 index, Value value);
    Value pred(u32 index);
    void set_pred(u32 index, Value value);
    Value flag(ir::Flag flag) { return b.get_flag(flag); }
    void set_flag(ir::Flag flag, Value value);
    Value pair(u32 index); // registers index, index + 1 as 64 bits
    void set_pair(u32 index, Value value);

    // Operands. word/wide: the bits without modifiers; integer, number, real apply negation and the like as the type
    // has them; predicate: true if the form has none in that slot.
    Value word(const Operand& operand);
    Value wide(const Operand& operand);
    Value integer(const Operand& operand);
    Value number(const Operand& operand);
    Value real(const Operand& operand);
    Value predicate(const Operand& operand);
    Value word(const Instruction& i, Slot slot) { return word(i.operand(slot)); }
    Value wide(const Instruction& i, Slot slot) { return wide(i.operand(slot)); }
    Value integer(const Instruction& i, Slot slot) { return integer(i.operand(slot)); }
    Value number(const Instruction& i, Slot slot) { return number(i.operand(slot)); }
    Value real(const Instruction& i, Slot slot) { return real(i.operand(slot)); }
    Value predicate(const Instruction& i, Slot slot) { return predicate(i.operand(slot)); }
    Value bank_word(u8 bank, Value byte_offset) { return b.op(Op::LoadBank, {byte_offset}, bank); }
    // The address of a memory operand, 32 or 64 bits.
    Value address(const Operand& operand);
    Value long_address(const Operand& operand, bool wide_register);

    // Results: slot D, with the condition code where the instruction asks for it (.CC).
    void result(const Instruction& i, Value value) { set_reg(i.operand(Slot::D).reg, value); }
    void integer_result(const Instruction& i, Value value); // zero and sign; carry and overflow are cleared
    void float_result(const Instruction& i, Value value);   // after .SAT
    void integer_flags(Value value);
    void float_flags(Value value);
    void double_flags(Value value);

    // Small expressions.
    Value add(Value a, Value c) { return b.op(Op::IAdd, {a, c}); }
    Value add(Value a, u32 c) { return c == 0 ? a : add(a, b.word(c)); }
    Value band(Value a, Value c) { return b.op(Op::BoolAnd, {a, c}); }
    Value bor(Value a, Value c) { return b.op(Op::BoolOr, {a, c}); }
    Value bxor(Value a, Value c) { return b.op(Op::BoolXor, {a, c}); }
    Value bnot(Value a) { return b.op(Op::BoolNot, {a}); }
    Value and_mask(Value a, u32 mask) { return b.op(Op::And, {a, b.word(mask)}); }
    Value shift_left(Value a, u32 count) { return count == 0 ? a : b.op(Op::ShiftLeft, {a, b.word(count)}); }
    Value shift_right(Value a, u32 count) { return count == 0 ? a : b.op(Op::ShiftRightU, {a, b.word(count)}); }
    Value select(Value condition, Value yes, Value no) { return b.op(Op::Select, {condition, yes, no}); }
    Value is_zero(Value a) { return b.icompare(ir::Relation::EQ, false, a, b.word(0)); }
    Value is_negative(Value a) { return b.icompare(ir::Relation::LT, true, a, b.word(0)); }
    Value bits(Value a, u32 first, u32 count);        // zero extended
    Value signed_bits(Value a, u32 first, u32 count); // sign extended
    Value part(Value a, maxwell::Part part, bool is_signed);
    Value combine(maxwell::BoolOp op, Value a, Value c);
    Value carry_in(const Instruction& i); // the carry for .X, else false
    Value test(maxwell::Test test);       // of the condition code
};

[[nodiscard]] inline u32 float_mods(const Instruction& i) {
    const auto mode = i.get<maxwell::FloatMode>();
    return ir::float_mods(static_cast<ir::Rounding>(i.get<maxwell::Rounding>()), mode != maxwell::FloatMode::None,
                          mode == maxwell::FloatMode::Fmz);
}
[[nodiscard]] inline ir::Relation relation(const Instruction& i) {
    return static_cast<ir::Relation>(i.get<maxwell::Compare>());
}
[[nodiscard]] inline bool flushes(const Instruction& i) {
    return i.get<maxwell::FloatMode>() != maxwell::FloatMode::None;
}
// How an instruction with a guard is lifted: its results are selected, or it is put into a block of its own because it
// does something (or is costly, or reads what may not be there).
enum class Guarded : u8 { Select, Branch };

struct LiftRow {
    Opcode opcode;
    void (*lift)(Lifter&, const Instruction&);
    Guarded guarded = Guarded::Select;
};

// The row of an opcode; nothing for those that are not supported.
[[nodiscard]] const LiftRow* find_lift_row(Opcode opcode);

[[nodiscard]] std::span<const LiftRow> lift_float_rows();
[[nodiscard]] std::span<const LiftRow> lift_double_rows();
[[nodiscard]] std::span<const LiftRow> lift_half_rows();
[[nodiscard]] std::span<const LiftRow> lift_integer_rows();
[[nodiscard]] std::span<const LiftRow> lift_bits_rows();
[[nodiscard]] std::span<const LiftRow> lift_predicate_rows();
[[nodiscard]] std::span<const LiftRow> lift_convert_rows();
[[nodiscard]] std::span<const LiftRow> lift_memory_rows();
[[nodiscard]] std::span<const LiftRow> lift_attribute_rows();
[[nodiscard]] std::span<const LiftRow> lift_texture_rows();
[[nodiscard]] std::span<const LiftRow> lift_image_rows();
[[nodiscard]] std::span<const LiftRow> lift_warp_rows();
[[nodiscard]] std::span<const LiftRow> lift_video_rows();
[[nodiscard]] std::span<const LiftRow> lift_video_byte_rows();

} // namespace heaviside::shader::lifting
