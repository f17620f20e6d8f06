// Single-precision arithmetic. Round to nearest; the directed modes are not built yet and say so.
#include "interpreter/warp.h"

#include <cmath>

namespace heaviside::interpreter {
namespace {

using maxwell::BoolOp;
using maxwell::Compare;
using maxwell::FloatMode;

constexpr u32 canonical_nan = 0x7fffffff;

f32 flush(f32 value, FloatMode mode) {
    return mode != FloatMode::None && std::fpclassify(value) == FP_SUBNORMAL ? std::copysign(0.0f, value) : value;
}

// The source with |x| and -x applied and, under .FTZ, denormals flushed.
f32 source(const Warp& warp, const Operand& operand, unsigned lane, FloatMode mode) {
    u32 word = raw(warp, operand, lane);
    if (operand.absolute)
        word &= 0x7fffffff;
    if (operand.negated)
        word ^= 0x80000000;
    return flush(std::bit_cast<f32>(word), mode);
}

void finish(Warp& warp, const Instruction& in, const Operand& d, unsigned lane, f32 value) {
    value = flush(value, in.get<FloatMode>());
    if (in.has(Modifier::Saturate))
        value = value > 0.0f ? std::fmin(value, 1.0f) : 0.0f; // a NaN saturates to 0
    const u32 word = std::isnan(value) ? canonical_nan : std::bit_cast<u32>(value);
    warp.set(d.reg, lane, word);
    if (in.has(Modifier::WriteCC))
        warp.flags[lane] = static_cast<u8>((value == 0.0f ? flag::zero : 0) | (word >> 31 ? flag::sign : 0));
}

bool rounds_to_nearest(Warp& warp, const Instruction& in) {
    if (in.get<maxwell::Rounding>() != maxwell::Rounding::Nearest)
        warp.fault = "directed rounding is not built";
    return warp.fault.empty();
}

void fadd(Warp& warp, const Instruction& in, u32 mask) {
    if (!rounds_to_nearest(warp, in))
        return;
    const Operand d = in.operand(Slot::D), a = in.operand(Slot::A), b = in.operand(Slot::B);
    const auto mode = in.get<FloatMode>();
    for_lanes(mask, [&](unsigned lane) {
        finish(warp, in, d, lane, source(warp, a, lane, mode) + source(warp, b, lane, mode));
    });
}

void fmul(Warp& warp, const Instruction& in, u32 mask) {
    if (!rounds_to_nearest(warp, in))
        return;
    const Operand d = in.operand(Slot::D), a = in.operand(Slot::A), b = in.operand(Slot::B);
    const auto mode = in.get<FloatMode>();
    constexpr f32 factors[] = {1.0f, 0.5f, 0.25f, 0.125f, 8.0f, 4.0f, 2.0f};
    const f32 factor = factors[static_cast<std::size_t>(in.get<maxwell::Scale>())];
    for_lanes(mask, [&](unsigned lane) {
        const f32 x = source(warp, a, lane, mode), y = source(warp, b, lane, mode);
        const bool zero = mode == FloatMode::Fmz && (x == 0.0f || y == 0.0f);
        finish(warp, in, d, lane, zero ? 0.0f : x * factor * y);
    });
}

void ffma(Warp& warp, const Instruction& in, u32 mask) {
    if (!rounds_to_nearest(warp, in))
        return;
    const Operand d = in.operand(Slot::D), a = in.operand(Slot::A), b = in.operand(Slot::B), c = in.operand(Slot::C);
    const auto mode = in.get<FloatMode>();
    for_lanes(mask, [&](unsigned lane) {
        const f32 x = source(warp, a, lane, mode), y = source(warp, b, lane, mode), z = source(warp, c, lane, mode);
        const bool zero = mode == FloatMode::Fmz && (x == 0.0f || y == 0.0f);
        finish(warp, in, d, lane, zero ? z : std::fma(x, y, z));
    });
}

// A NaN loses against a number; -0 counts as less than +0.
void fmnmx(Warp& warp, const Instruction& in, u32 mask) {
    const Operand d = in.operand(Slot::D), a = in.operand(Slot::A), b = in.operand(Slot::B), s = in.operand(Slot::S);
    const auto mode = in.get<FloatMode>();
    for_lanes(mask, [&](unsigned lane) {
        const f32 x = source(warp, a, lane, mode), y = source(warp, b, lane, mode);
        const bool less = x < y || (x == y && std::signbit(x) && !std::signbit(y));
        const f32 value = std::isnan(x) ? y : std::isnan(y) ? x : less == warp.predicate(s, lane) ? x : y;
        finish(warp, in, d, lane, value);
    });
}

bool compare(Compare op, f32 x, f32 y) {
    const bool unordered = std::isnan(x) || std::isnan(y);
    switch (op) {
    case Compare::False:
        return false;
    case Compare::Less:
        return x < y;
    case Compare::Equal:
        return x == y;
    case Compare::LessEqual:
        return x <= y;
    case Compare::Greater:
        return x > y;
    case Compare::NotEqual:
        return !unordered && x != y;
    case Compare::GreaterEqual:
        return x >= y;
    case Compare::Number:
        return !unordered;
    case Compare::Nan:
        return unordered;
    case Compare::LessUnordered:
        return unordered || x < y;
    case Compare::EqualUnordered:
        return unordered || x == y;
    case Compare::LessEqualUnordered:
        return unordered || x <= y;
    case Compare::GreaterUnordered:
        return unordered || x > y;
    case Compare::NotEqualUnordered:
        return unordered || x != y;
    case Compare::GreaterEqualUnordered:
        return unordered || x >= y;
    case Compare::True:
        break;
    }
    return true;
}

void fsetp(Warp& warp, const Instruction& in, u32 mask) {
    const Operand p = in.operand(Slot::P), q = in.operand(Slot::Q), a = in.operand(Slot::A), b = in.operand(Slot::B),
                  s = in.operand(Slot::S);
    const auto mode = in.get<FloatMode>();
    for_lanes(mask, [&](unsigned lane) {
        const bool result = compare(in.get<Compare>(), source(warp, a, lane, mode), source(warp, b, lane, mode));
        const bool other = warp.predicate(s, lane);
        warp.set_predicate(p, lane, join(in.get<BoolOp>(), result, other));
        warp.set_predicate(q, lane, join(in.get<BoolOp>(), !result, other));
    });
}

void fset(Warp& warp, const Instruction& in, u32 mask) {
    const Operand d = in.operand(Slot::D), a = in.operand(Slot::A), b = in.operand(Slot::B), s = in.operand(Slot::S);
    const auto mode = in.get<FloatMode>();
    for_lanes(mask, [&](unsigned lane) {
        const bool result =
            join(in.get<BoolOp>(), compare(in.get<Compare>(), source(warp, a, lane, mode), source(warp, b, lane, mode)),
                 warp.predicate(s, lane));
        const u32 word = !result ? 0 : in.has(Modifier::BoolResult) ? 0x3f800000u : ~0u;
        warp.set(d.reg, lane, word);
        if (in.has(Modifier::WriteCC))
            warp.flags[lane] = static_cast<u8>((word == 0 ? flag::zero : 0) | (word >> 31 ? flag::sign : 0));
    });
}

void fcmp(Warp& warp, const Instruction& in, u32 mask) {
    const Operand d = in.operand(Slot::D), a = in.operand(Slot::A), b = in.operand(Slot::B), c = in.operand(Slot::C);
    const auto mode = in.get<FloatMode>();
    for_lanes(mask, [&](unsigned lane) {
        const bool result = compare(in.get<Compare>(), source(warp, c, lane, mode), 0.0f);
        warp.set(d.reg, lane, result ? raw(warp, a, lane) : raw(warp, b, lane));
    });
}

} // namespace

std::span<const Row> float_rows() {
    static constexpr Row rows[] = {
        {Opcode::FADD, fadd},    {Opcode::FADD32I, fadd}, {Opcode::FMUL, fmul},
        {Opcode::FMUL32I, fmul}, {Opcode::FFMA, ffma},    {Opcode::FMNMX, fmnmx},
        {Opcode::FSETP, fsetp},  {Opcode::FSET, fset},    {Opcode::FCMP, fcmp},
    };
    return rows;
}

} // namespace heaviside::interpreter
