// Conversions between number formats.
#include "shader/lift_context.h"

namespace heaviside::shader::lifting {
namespace {

using ir::Relation;
using ir::Rounding;
using maxwell::DataType;
using maxwell::IntegerRounding;

DataType destination_type(const Instruction& i) {
    return i.get<DataType>(Modifier::DestinationType);
}
DataType source_type(const Instruction& i) {
    return i.get<DataType>(Modifier::SourceType);
}

Rounding integer_rounding(const Instruction& i) {
    switch (i.get<IntegerRounding>()) {
    case IntegerRounding::Down:
        return Rounding::Down;
    case IntegerRounding::Up:
        return Rounding::Up;
    case IntegerRounding::Zero:
        return Rounding::Zero;
    default:
        return Rounding::Nearest;
    }
}

// A half of the source as a float; negation and the like apply to the half's value.
Value half_source(Lifter& l, const Operand& operand) {
    Operand raw = operand;
    raw.negated = raw.absolute = false;
    const u32 half = operand.part == maxwell::Part::H1 || operand.part == maxwell::Part::H1H1 ? 1 : 0;
    Value value = l.b.op(Op::HalfToFloat, {l.word(raw)}, half);
    if (operand.absolute)
        value = l.b.op(Op::FAbs, {value});
    return operand.negated ? l.b.op(Op::FNeg, {value}) : value;
}

Value float_source(Lifter& l, const Instruction& i) {
    const Operand operand = i.operand(Slot::B);
    return source_type(i) == DataType::F16 ? half_source(l, operand) : l.number(operand);
}

Value saturated_double(Lifter& l, Value value) { // to 0..1; NaN and -0 give 0
    const Value zero = l.b.quad(0), one = l.b.quad(0x3ff0000000000000);
    const Value positive = l.b.op(Op::DCompare, {value, zero}, 0, static_cast<u32>(Relation::GT));
    return l.select(positive, l.b.op(Op::DMin, {value, one}), zero);
}

// Writes a number that has its final bits, and the condition code. A half is in the low bits.
void number_result(Lifter& l, const Instruction& i, DataType type, Value value) {
    if (type == DataType::F64)
        l.set_pair(i.operand(Slot::D).reg, value);
    else
        l.result(i, value);
    if (!i.has(Modifier::WriteCC))
        return;
    if (type == DataType::F64)
        l.double_flags(value);
    else
        l.float_flags(type == DataType::F16 ? l.b.op(Op::HalfToFloat, {value}, 0) : value);
}

// A double as a single, rounded so that a second rounding to half gives what one of the double would: towards zero, the
// last bit set if anything is lost.
Value rounded_to_odd(Lifter& l, Value value) {
    const Value single = l.b.op(Op::F64ToF32, {value}, 0, ir::float_mods(Rounding::Zero));
    const Value back = l.b.op(Op::F32ToF64, {single}, 0, 0);
    const Value inexact = l.b.op(Op::DCompare, {back, value}, 0, static_cast<u32>(Relation::NE));
    return l.b.op(Op::Or, {single, l.select(inexact, l.b.word(1), l.b.word(0))});
}

// Between floats of different size the result is rounded; .ROUND and kin make integers of a float of the same size.
// .FTZ concerns single precision only.
void f2f(Lifter& l, const Instruction& i) {
    const DataType to = destination_type(i), from = source_type(i);
    const bool to_integer =
        i.get<IntegerRounding>() != IntegerRounding::None && i.get<IntegerRounding>() != IntegerRounding::Pass;
    const u32 mods = float_mods(i), half_mods = mods & 3;
    const u32 integer_mods = ir::float_mods(integer_rounding(i));
    if (from == DataType::F64) {
        Value value = l.real(i, Slot::B);
        if (to_integer)
            value = l.b.op(Op::DRoundInt, {value}, 0, integer_mods);
        if (i.has(Modifier::Saturate))
            value = saturated_double(l, value);
        if (to == DataType::F32)
            value = l.b.op(Op::F64ToF32, {value}, 0, mods);
        else if (to == DataType::F16)
            value = l.b.op(Op::FloatToHalf, {rounded_to_odd(l, value)}, 0, half_mods);
        return number_result(l, i, to, value);
    }
    Value value = float_source(l, i);
    if (flushes(i) && from == DataType::F32)
        value = l.b.op(Op::FFlush, {value});
    if (to_integer)
        value = l.b.op(Op::FRoundInt, {value}, 0, integer_mods);
    if (i.has(Modifier::Saturate))
        value = l.b.op(Op::FSaturate, {value});
    if (to == DataType::F64)
        value = l.b.op(Op::F32ToF64, {value}, 0, 0);
    else if (to == DataType::F16)
        value = l.b.op(Op::FloatToHalf, {value}, 0, half_mods);
    number_result(l, i, to, value);
}

// Narrow results saturate to their own range.
Value clamp_integer(Lifter& l, Value value, DataType type) {
    const u32 bits = bits_of(type);
    if (bits >= 32)
        return value;
    if (!is_signed(type))
        return l.b.op(Op::IMinU, {value, l.b.word((1u << bits) - 1)});
    const u32 high = (1u << (bits - 1)) - 1;
    return l.b.op(Op::IMaxS, {l.b.op(Op::IMinS, {value, l.b.word(high)}), l.b.word(~high)});
}

void f2i(Lifter& l, const Instruction& i) {
    const DataType to = destination_type(i);
    const bool sign = is_signed(to), wide = bits_of(to) == 64;
    const u32 mods = ir::float_mods(integer_rounding(i), flushes(i));
    Op op{};
    Value source;
    if (source_type(i) == DataType::F64) {
        source = l.real(i, Slot::B);
        op = wide ? (sign ? Op::F64ToS64 : Op::F64ToU64) : (sign ? Op::F64ToS32 : Op::F64ToU32);
    } else {
        source = float_source(l, i);
        op = wide ? (sign ? Op::F32ToS64 : Op::F32ToU64) : (sign ? Op::F32ToS32 : Op::F32ToU32);
    }
    Value value = l.b.op(op, {source}, 0, mods);
    if (!wide)
        value = clamp_integer(l, value, to);
    // A NaN gives 0 in the common unit, but only the top bit where 64 bits come in or go out.
    if (source_type(i) == DataType::F64 || wide) {
        const bool from_double = source_type(i) == DataType::F64;
        const u32 is_nan = static_cast<u32>(Relation::Nan);
        const Value nan = l.b.op(from_double ? Op::DCompare : Op::FCompare, {source, source}, 0, is_nan);
        value = l.select(nan, wide ? l.b.quad(u64{1} << 63) : l.b.word(1u << (bits_of(to) - 1)), value);
    }
    if (!wide)
        return l.integer_result(i, value);
    l.set_pair(i.operand(Slot::D).reg, value);
    if (i.has(Modifier::WriteCC)) {
        const Value high = l.b.op(Op::High, {value});
        l.integer_flags(high);
        l.set_flag(ir::Flag::Zero, l.is_zero(l.b.op(Op::Or, {l.b.op(Op::Low, {value}), high})));
    }
}

// The source's part, extended to 32 bits, with its own absolute value and negation.
Value integer_part(Lifter& l, const Operand& operand, DataType type) {
    Operand raw = operand;
    raw.negated = raw.absolute = false;
    Value value = l.word(raw);
    const u32 bits = bits_of(type);
    if (bits < 32) {
        u32 first = 0;
        if (operand.part >= maxwell::Part::B1 && operand.part <= maxwell::Part::B3)
            first = 8 * (static_cast<u32>(operand.part) - static_cast<u32>(maxwell::Part::B0));
        else if (operand.part == maxwell::Part::H1)
            first = 16;
        value = is_signed(type) ? l.signed_bits(value, first, bits) : l.bits(value, first, bits);
    }
    if (operand.absolute)
        value = l.b.op(Op::IAbs, {value});
    return operand.negated ? l.b.op(Op::INeg, {value}) : value;
}

Value wide_integer(Lifter& l, const Operand& operand) {
    Operand raw = operand;
    raw.negated = raw.absolute = false;
    Value value = l.wide(raw);
    const auto negated = [&](Value v) { return l.b.op(Op::ISub64, {l.b.quad(0), v}); };
    if (operand.absolute)
        value = l.select(l.is_negative(l.b.op(Op::High, {value})), negated(value), value);
    return operand.negated ? negated(value) : value;
}

void i2f(Lifter& l, const Instruction& i) {
    const DataType to = destination_type(i), from = source_type(i);
    const u32 mods = float_mods(i);
    const bool sign = is_signed(from);
    const Operand operand = i.operand(Slot::B);
    const bool to_double = to == DataType::F64;
    Value value;
    if (bits_of(from) == 64)
        value = l.b.op(to_double ? (sign ? Op::S64ToF64 : Op::U64ToF64) : (sign ? Op::S64ToF32 : Op::U64ToF32),
                       {wide_integer(l, operand)}, 0, mods);
    else
        value = l.b.op(to_double ? (sign ? Op::S32ToF64 : Op::U32ToF64) : (sign ? Op::S32ToF32 : Op::U32ToF32),
                       {integer_part(l, operand, from)}, 0, mods);
    if (to == DataType::F16) // exact so far, or beyond the largest half
        value = l.b.op(Op::FloatToHalf, {value}, 0, mods & 3);
    number_result(l, i, to, value);
}

// Without .SAT the low bits, with it the nearest value of the type. The bits above a narrow result are 0, signed or
// not.
void i2i(Lifter& l, const Instruction& i) {
    const DataType to = destination_type(i), from = source_type(i);
    if (bits_of(to) == 64 || bits_of(from) == 64)
        return l.unsupported("64-bit conversion");
    Value value = integer_part(l, i.operand(Slot::B), from);
    const bool may_be_negative = is_signed(from); // a negation wraps
    const u32 bits = bits_of(to);
    if (i.has(Modifier::Saturate)) {
        if (!is_signed(to) && may_be_negative)
            value = l.b.op(Op::IMaxS, {value, l.b.word(0)});
        if (is_signed(to) && !may_be_negative)
            value = l.b.op(Op::IMinU, {value, l.b.word(bits == 32 ? 0x7fffffff : (1u << (bits - 1)) - 1)});
        value = clamp_integer(l, value, to);
    }
    l.integer_result(i, bits < 32 ? l.bits(value, 0, bits) : value);
}

constexpr LiftRow rows[] = {
    {Opcode::F2F, f2f},
    {Opcode::F2I, f2i},
    {Opcode::I2F, i2f},
    {Opcode::I2I, i2i},
};

} // namespace

std::span<const LiftRow> lift_convert_rows() {
    return rows;
}

} // namespace heaviside::shader::lifting
