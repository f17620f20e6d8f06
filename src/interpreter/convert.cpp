// Conversions between number formats.
#include "interpreter/lanes.h"
#include "interpreter/soft_float.h"

#include <algorithm>

namespace heaviside::interpreter {
namespace {

using maxwell::DataType;
using maxwell::IntegerRounding;
using maxwell::Part;
using maxwell::Rounding;
using soft::Kind;
using soft::Number;

soft::Format format_of(DataType type) {
    return type == DataType::F16 ? soft::binary16 : type == DataType::F64 ? soft::binary64 : soft::binary32;
}

bool makes_whole(IntegerRounding rounding) {
    return rounding != IntegerRounding::None && rounding != IntegerRounding::Pass;
}

Rounding direction(IntegerRounding rounding) {
    switch (rounding) {
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

// A float of any size with |x| and -x applied. .FTZ flushes single precision only.
class FloatSource {
public:
    FloatSource(const Warp& warp, const Instruction& in)
        : type_(in.get<DataType>(Modifier::SourceType)), narrow_(warp, in.operand(Slot::B)),
          wide_(warp, in.operand(Slot::B)),
          flush_(type_ == DataType::F32 && in.get<maxwell::FloatMode>() != maxwell::FloatMode::None) {}
    [[nodiscard]] Number operator()(unsigned lane) const {
        const Operand& operand = narrow_.operand();
        u64 bits = narrow_(lane);
        if (type_ == DataType::F64)
            bits = wide_(lane);
        else if (type_ == DataType::F16)
            bits = operand.part == Part::H1 ? bits >> 16 : bits & 0xffff;
        Number number = unpack(format_of(type_), bits, flush_);
        number.negative = (number.negative && !operand.absolute) != operand.negated;
        return number;
    }

private:
    DataType type_;
    Source narrow_;
    WideSource wide_;
    bool flush_;
};

// An integer, sign- or zero-extended to 64 bits. Magnitude and negation wrap in 32 bits, or in 64 for such types.
class IntegerSource {
public:
    IntegerSource(const Warp& warp, const Instruction& in)
        : type_(in.get<DataType>(Modifier::SourceType)), narrow_(warp, in.operand(Slot::B)),
          wide_(warp, in.operand(Slot::B)) {}
    [[nodiscard]] u64 operator()(unsigned lane) const {
        const Operand& operand = narrow_.operand();
        const bool is_wide = bits_of(type_) == 64;
        u64 value = is_wide ? wide_(lane) : part(narrow_(lane), operand.part);
        const bool negative = is_wide ? value >> 63 : (value >> 31 & 1) != 0;
        if (operand.absolute && negative)
            value = 0 - value;
        if (operand.negated)
            value = 0 - value;
        if (is_wide)
            return value;
        return is_signed(type_) ? static_cast<u64>(i64{static_cast<i32>(value)}) : value & 0xffffffff;
    }

private:
    [[nodiscard]] u64 part(u32 word, Part part) const {
        unsigned first = part == Part::H1 ? 16 : 0;
        if (part >= Part::B1 && part <= Part::B3)
            first = 8 * (static_cast<unsigned>(part) - static_cast<unsigned>(Part::B0));
        const unsigned width = bits_of(type_);
        const u64 piece = width == 32 ? u64{word} : bits(word, first, width);
        return (is_signed(type_) ? static_cast<u64>(sign_extend(piece, width)) : piece) & 0xffffffff;
    }
    DataType type_;
    Source narrow_;
    WideSource wide_;
};

void float_result(Warp& warp, const Instruction& in, unsigned lane, Number number, Rounding rounding) {
    const auto type = in.get<DataType>(Modifier::DestinationType);
    const soft::Format format = format_of(type);
    if (in.has(Modifier::Saturate)) {
        const Number one{Kind::Finite, false, 0, 1};
        if (number.negative || number.kind == Kind::Nan)
            number = {};
        else if (number.kind != Kind::Zero && order(number, one) > 0)
            number = one;
    }
    const bool flush = type == DataType::F32 && in.get<maxwell::FloatMode>() != maxwell::FloatMode::None;
    const u64 result = pack(number, format, rounding, flush);
    const u8 reg = in.operand(Slot::D).reg;
    if (type == DataType::F64)
        set_wide(warp, reg, lane, result);
    else
        warp.set(reg, lane, static_cast<u32>(result));
    if (in.has(Modifier::WriteCC)) {
        const bool zero = (result & ~format.sign()) == 0;
        warp.flags[lane] = static_cast<u8>(number.kind == Kind::Nan ? flag::zero | flag::sign
                                           : zero                   ? flag::zero
                                           : number.negative        ? flag::sign
                                                                    : 0);
    }
}

// Between sizes the result is rounded; within one it may be made a whole number.
void f2f(Warp& warp, const Instruction& in, u32 mask) {
    const FloatSource source(warp, in);
    const auto whole = in.get<IntegerRounding>();
    for_lanes(mask, [&](unsigned lane) {
        Number number = source(lane);
        if (makes_whole(whole))
            number = rounded_to_whole(number, direction(whole));
        float_result(warp, in, lane, number, in.get<Rounding>());
    });
}

void i2f(Warp& warp, const Instruction& in, u32 mask) {
    const IntegerSource source(warp, in);
    const bool sign = is_signed(in.get<DataType>(Modifier::SourceType));
    for_lanes(mask, [&](unsigned lane) {
        const u64 value = source(lane);
        const bool negative = sign && value >> 63;
        float_result(warp, in, lane, soft::from_integer(negative, negative ? 0 - value : value), in.get<Rounding>());
    });
}

// The nearest number of the type, sign-extended if it has a sign.
u64 clamped(bool negative, u64 magnitude, unsigned width, bool sign) {
    const u64 top = u64{1} << (width - 1);
    if (!sign)
        return negative ? 0 : std::min(magnitude, top - 1 + top);
    return negative ? 0 - std::min(magnitude, top) : std::min(magnitude, top - 1);
}

void integer_result(Warp& warp, const Instruction& in, unsigned lane, u64 value, bool wide) {
    const u8 reg = in.operand(Slot::D).reg;
    const u32 low = static_cast<u32>(value), top = static_cast<u32>(wide ? value >> 32 : value);
    if (wide)
        set_wide(warp, reg, lane, value);
    else
        warp.set(reg, lane, low);
    if (in.has(Modifier::WriteCC))
        warp.flags[lane] = static_cast<u8>((low == 0 && top == 0 ? flag::zero : 0) | (top >> 31 ? flag::sign : 0));
}

// Out of range: the nearest number of the type. A NaN gives 0, but the top bit alone where 64 bits come in or go out
// (as the manual of the virtual instruction set has it).
void f2i(Warp& warp, const Instruction& in, u32 mask) {
    const FloatSource source(warp, in);
    const auto type = in.get<DataType>(Modifier::DestinationType);
    const unsigned width = bits_of(type);
    const bool sign = is_signed(type), from_double = in.get<DataType>(Modifier::SourceType) == DataType::F64;
    const u64 nan = width == 64 || from_double ? u64{1} << (width - 1) : 0;
    const Rounding rounding = direction(in.get<IntegerRounding>());
    for_lanes(mask, [&](unsigned lane) {
        const Number number = source(lane);
        u64 value = nan;
        if (number.kind == Kind::Infinity)
            value = clamped(number.negative, ~u64{0}, width, sign);
        else if (number.kind != Kind::Nan)
            value = clamped(number.negative, whole(number, rounding).magnitude, width, sign);
        integer_result(warp, in, lane, value, width == 64);
    });
}

// Without .SAT the low bits, with it the nearest number of the type. The bits above a narrow result are 0, signed or
// not: code extends it.
void i2i(Warp& warp, const Instruction& in, u32 mask) {
    const IntegerSource source(warp, in);
    const auto type = in.get<DataType>(Modifier::DestinationType);
    const unsigned width = bits_of(type);
    const bool from_signed = is_signed(in.get<DataType>(Modifier::SourceType)), saturate = in.has(Modifier::Saturate);
    for_lanes(mask, [&](unsigned lane) {
        u64 value = source(lane);
        const bool negative = from_signed && value >> 63;
        if (saturate)
            value = clamped(negative, negative ? 0 - value : value, width, is_signed(type));
        integer_result(warp, in, lane, bits(value, 0, width), false);
    });
}

} // namespace

std::span<const Row> conversion_rows() {
    static constexpr Row rows[] = {{Opcode::F2F, f2f}, {Opcode::F2I, f2i}, {Opcode::I2F, i2f}, {Opcode::I2I, i2i}};
    return rows;
}

} // namespace heaviside::interpreter
