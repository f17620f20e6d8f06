// Special functions: MUFU and the range reduction before it.
//
// The unit's tables are not known. Results here are the functions' values rounded to single precision, which lies
// within its documented error; zeros, infinities, NaNs and denormals are as documented: the unit takes denormals as
// zeros and gives none.
#include "interpreter/lanes.h"

#include <cmath>

namespace heaviside::interpreter {
namespace {

using maxwell::MultiFunction;

constexpr u32 sign_bit = 0x80000000, infinity = 0x7f800000, canonical_nan = 0x7fffffff;

bool is_nan(u32 word) {
    return (word & ~sign_bit) > infinity;
}

u32 flushed(u32 word) {
    return (word & infinity) == 0 ? word & sign_bit : word;
}

f64 function_of(MultiFunction function, f64 x) {
    switch (function) {
    case MultiFunction::Cos:
        return std::cos(x);
    case MultiFunction::Sin:
        return std::sin(x);
    case MultiFunction::Ex2:
        return std::exp2(x);
    case MultiFunction::Lg2:
        return std::log2(x);
    case MultiFunction::Rcp:
        return 1.0 / x;
    case MultiFunction::Rsq:
        return 1.0 / std::sqrt(x); // of -0: -infinity
    case MultiFunction::Sqrt:
        return std::sqrt(x);
    default:
        return x;
    }
}

// The upper words of a double and of its result; the lower ones do not take part. Code refines them.
u32 upper_word_of(MultiFunction function, u32 word) {
    constexpr u32 double_infinity = 0x7ff00000;
    if ((word & double_infinity) == 0)
        word &= sign_bit;
    const f64 x = std::bit_cast<f64>(u64{word} << 32);
    const f64 value = function == MultiFunction::Rcp64H ? 1.0 / x : 1.0 / std::sqrt(x);
    if (std::isnan(value))
        return canonical_nan;
    const u32 result = static_cast<u32>((std::bit_cast<u64>(value) + 0x80000000) >> 32);
    return (result & double_infinity) == 0 ? result & sign_bit : result;
}

void mufu(Warp& warp, const Instruction& in, u32 mask) {
    const auto function = in.get<MultiFunction>();
    const Operand d = in.operand(Slot::D);
    const Source a(warp, in.operand(Slot::A));
    const u32 keep = a.operand().absolute ? ~sign_bit : ~0u, flip = a.operand().negated ? sign_bit : 0;
    const bool saturate = in.has(Modifier::Saturate);
    const bool upper = function == MultiFunction::Rcp64H || function == MultiFunction::Rsq64H;
    for_lanes(mask, [&](unsigned lane) {
        const u32 x = (a(lane) & keep) ^ flip;
        if (upper)
            return warp.set(d.reg, lane, upper_word_of(function, x));
        const f64 exact = function_of(function, f64{std::bit_cast<f32>(flushed(x))});
        u32 word = std::bit_cast<u32>(static_cast<f32>(exact));
        word = std::isnan(exact) ? canonical_nan : flushed(word);
        if (saturate)
            word = word >> 31 || is_nan(word) ? 0 : word > 0x3f800000 ? 0x3f800000 : word;
        warp.set(d.reg, lane, word);
    });
}

// The reduced argument is a fixed-point number that only MUFU reads; MUFU here takes any argument, so that none is
// needed.
void rro(Warp& warp, const Instruction& in, u32 mask) {
    const Operand d = in.operand(Slot::D);
    const Source b(warp, in.operand(Slot::B));
    const u32 keep = b.operand().absolute ? ~sign_bit : ~0u, flip = b.operand().negated ? sign_bit : 0;
    for_lanes(mask, [&](unsigned lane) { warp.set(d.reg, lane, (b(lane) & keep) ^ flip); });
}

} // namespace

std::span<const Row> special_function_rows() {
    static constexpr Row rows[] = {{Opcode::MUFU, mufu}, {Opcode::RRO, rro}};
    return rows;
}

} // namespace heaviside::interpreter
