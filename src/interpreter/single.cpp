// Single-precision arithmetic and comparison.
//
// Rounding to nearest uses the host's additions, products and fused products, whose results IEEE 754 fixes; what the
// machine does differently (NaNs, flushing, scales, directed rounding) goes through integers.
#include "interpreter/lanes.h"
#include "interpreter/soft_float.h"

#include <cmath>

namespace heaviside::interpreter {
namespace {

using maxwell::BoolOp;
using maxwell::Compare;
using maxwell::FloatMode;
using maxwell::Rounding;
using soft::binary32;
using soft::Number;

constexpr u32 canonical_nan = 0x7fffffff, sign_bit = 0x80000000, infinity = 0x7f800000, smallest_normal = 0x00800000;

bool is_nan(u32 word) {
    return (word & ~sign_bit) > infinity;
}
bool is_zero(u32 word) {
    return (word & ~sign_bit) == 0;
}
u32 flushed(u32 word) {
    return (word & infinity) == 0 ? word & sign_bit : word;
}

// A source with |x| and -x applied and, under .FTZ and .FMZ, denormals flushed.
class FloatSource {
public:
    FloatSource(const Warp& warp, const Operand& operand, FloatMode mode)
        : source_(warp, operand), keep_(operand.absolute ? ~sign_bit : ~0u), flip_(operand.negated ? sign_bit : 0),
          flush_(mode != FloatMode::None) {}
    [[nodiscard]] u32 operator()(unsigned lane) const {
        const u32 word = (source_(lane) & keep_) ^ flip_;
        return flush_ ? flushed(word) : word;
    }
    [[nodiscard]] u32 unmodified(unsigned lane) const { return source_(lane); }

private:
    Source source_;
    u32 keep_, flip_;
    bool flush_;
};

// A NaN sets zero and sign together; minus zero is no negative number.
u8 float_flags(u32 word) {
    if (is_nan(word))
        return flag::zero | flag::sign;
    return static_cast<u8>(is_zero(word) ? flag::zero : word >> 31 ? flag::sign : 0);
}

// What comes after an operation is the same for all of them.
class Result {
public:
    Result(Warp& warp, const Instruction& in)
        : warp_(warp), reg_(in.operand(Slot::D).reg), saturate_(in.has(Modifier::Saturate)),
          write_flags_(in.has(Modifier::WriteCC)) {}
    void operator()(unsigned lane, u32 word) const {
        if (is_nan(word))
            word = canonical_nan;
        if (saturate_)
            word = word >> 31 || is_nan(word) ? 0 : word > 0x3f800000 ? 0x3f800000 : word; // a NaN saturates to 0
        finish(warp_, reg_, write_flags_, lane, word, float_flags(word));
    }

private:
    Warp& warp_;
    u8 reg_;
    bool saturate_, write_flags_;
};

// a * b * 2^scale + c, once rounded. A null c is left out.
u32 exact(u32 a, u32 b, i32 scale, const u32* c, Rounding rounding, bool flush) {
    Number number = product(soft::unpack(binary32, a), soft::unpack(binary32, b));
    number.exponent += scale;
    if (c != nullptr)
        number = sum(number, soft::unpack(binary32, *c), rounding);
    return static_cast<u32>(pack(number, binary32, rounding, flush));
}

// The host's result, if it is the machine's: denormals are flushed; the smallest normal may have come from a number
// that is flushed, which only the exact one tells.
template <class Exact>
u32 from_host(f32 value, bool flush, Exact exact_result) {
    const u32 word = std::bit_cast<u32>(value);
    if (!flush)
        return word;
    return (word & ~sign_bit) == smallest_normal ? exact_result() : flushed(word);
}

f32 number(u32 word) {
    return std::bit_cast<f32>(word);
}

constexpr u32 one = 0x3f800000;

void fadd(Warp& warp, const Instruction& in, u32 mask) {
    const auto mode = in.get<FloatMode>();
    const auto rounding = in.get<Rounding>();
    const bool flush = mode != FloatMode::None;
    const FloatSource a(warp, in.operand(Slot::A), mode), b(warp, in.operand(Slot::B), mode);
    const Result result(warp, in);
    for_lanes(mask, [&](unsigned lane) {
        const u32 x = a(lane), y = b(lane);
        if (rounding != Rounding::Nearest)
            return result(lane, exact(x, one, 0, &y, rounding, flush));
        const u32 word = std::bit_cast<u32>(number(x) + number(y)); // a denormal sum is exact
        result(lane, flush ? flushed(word) : word);
    });
}

// .FMZ: zero times anything is zero, NaNs and infinities too.
void fmul(Warp& warp, const Instruction& in, u32 mask) {
    constexpr i32 scales[] = {0, -1, -2, -3, 3, 2, 1};
    const auto mode = in.get<FloatMode>();
    const auto rounding = in.get<Rounding>();
    const i32 scale = scales[static_cast<std::size_t>(in.get<maxwell::Scale>())];
    const bool flush = mode != FloatMode::None, host = rounding == Rounding::Nearest && scale == 0;
    const FloatSource a(warp, in.operand(Slot::A), mode), b(warp, in.operand(Slot::B), mode);
    const Result result(warp, in);
    for_lanes(mask, [&](unsigned lane) {
        const u32 x = a(lane), y = b(lane);
        const auto exactly = [&] { return exact(x, y, scale, nullptr, rounding, flush); };
        if (mode == FloatMode::Fmz && (is_zero(x) || is_zero(y)))
            return result(lane, 0);
        result(lane, host ? from_host(number(x) * number(y), flush, exactly) : exactly());
    });
}

void ffma(Warp& warp, const Instruction& in, u32 mask) {
    const auto mode = in.get<FloatMode>();
    const auto rounding = in.get<Rounding>();
    const bool flush = mode != FloatMode::None, host = rounding == Rounding::Nearest;
    const FloatSource a(warp, in.operand(Slot::A), mode), b(warp, in.operand(Slot::B), mode),
        c(warp, in.operand(Slot::C), mode);
    const Result result(warp, in);
    for_lanes(mask, [&](unsigned lane) {
        u32 x = a(lane), y = b(lane);
        const u32 z = c(lane);
        if (mode == FloatMode::Fmz && (is_zero(x) || is_zero(y)))
            x = y = 0;
        const auto exactly = [&] { return exact(x, y, 0, &z, rounding, flush); };
        result(lane, host ? from_host(std::fma(number(x), number(y), number(z)), flush, exactly) : exactly());
    });
}

// Two bits for each lane of a quad, the first one's on top: 0 A + B, 1 B - A, 2 A - B, 3 B alone.
void fswzadd(Warp& warp, const Instruction& in, u32 mask) {
    const auto mode = in.get<FloatMode>();
    const auto rounding = in.get<Rounding>();
    const u64 signs = in.operand(Slot::I).value;
    const FloatSource a(warp, in.operand(Slot::A), mode), b(warp, in.operand(Slot::B), mode);
    const Result result(warp, in);
    for_lanes(mask, [&](unsigned lane) {
        const u64 kind = signs >> (6 - 2 * (lane & 3)) & 3;
        const u32 x = kind == 3 ? 0 : a(lane) ^ (kind == 1 ? sign_bit : 0);
        const u32 y = b(lane) ^ (kind == 2 ? sign_bit : 0);
        result(lane, exact(x, one, 0, &y, rounding, mode != FloatMode::None));
    });
}

Ordering order(u32 a, u32 b) {
    return ordering_of(number(a), number(b));
}

// A NaN loses against a number; -0 counts as less than +0.
void fmnmx(Warp& warp, const Instruction& in, u32 mask) {
    const auto mode = in.get<FloatMode>();
    const Operand s = in.operand(Slot::S);
    const FloatSource a(warp, in.operand(Slot::A), mode), b(warp, in.operand(Slot::B), mode);
    const Result result(warp, in);
    for_lanes(mask, [&](unsigned lane) {
        const u32 x = a(lane), y = b(lane);
        const bool less = number(x) < number(y) || (is_zero(x) && is_zero(y) && x > y);
        result(lane, is_nan(x) ? y : is_nan(y) ? x : less == warp.predicate(s, lane) ? x : y);
    });
}

void fsetp(Warp& warp, const Instruction& in, u32 mask) {
    const auto mode = in.get<FloatMode>();
    const auto op = in.get<Compare>();
    const auto joining = in.get<BoolOp>();
    const Operand p = in.operand(Slot::P), q = in.operand(Slot::Q), s = in.operand(Slot::S);
    const FloatSource a(warp, in.operand(Slot::A), mode), b(warp, in.operand(Slot::B), mode);
    for_lanes(mask, [&](unsigned lane) {
        set_predicates(warp, p, q, joining, lane, holds(op, order(a(lane), b(lane))), warp.predicate(s, lane));
    });
}

void fset(Warp& warp, const Instruction& in, u32 mask) {
    const auto mode = in.get<FloatMode>();
    const auto op = in.get<Compare>();
    const auto joining = in.get<BoolOp>();
    const Operand d = in.operand(Slot::D), s = in.operand(Slot::S);
    const FloatSource a(warp, in.operand(Slot::A), mode), b(warp, in.operand(Slot::B), mode);
    const bool write_flags = in.has(Modifier::WriteCC);
    for_lanes(mask, [&](unsigned lane) {
        const bool result = holds(op, order(a(lane), b(lane)));
        const u32 word = truth_word(in, join(joining, result, warp.predicate(s, lane)));
        finish(warp, d.reg, write_flags, lane, word, zero_and_sign(word));
    });
}

// C compared with 0 chooses A or B, whose bits pass as they are.
void fcmp(Warp& warp, const Instruction& in, u32 mask) {
    const auto op = in.get<Compare>();
    const Operand d = in.operand(Slot::D);
    const Source a(warp, in.operand(Slot::A)), b(warp, in.operand(Slot::B));
    const FloatSource c(warp, in.operand(Slot::C), in.get<FloatMode>());
    for_lanes(mask, [&](unsigned lane) { warp.set(d.reg, lane, holds(op, order(c(lane), 0)) ? a(lane) : b(lane)); });
}

// True where the quotient A / B needs more than one reciprocal and two corrections: operands or results near the ends
// of the range. The hardware's exact bounds are not known; code behind a true predicate divides any operands, so these
// bounds are such that the short way is never taken where it would round wrongly.
bool division_is_hard(u32 a, u32 b) {
    const i32 exponent_a = static_cast<i32>(a >> 23 & 0xff), exponent_b = static_cast<i32>(b >> 23 & 0xff);
    const i32 difference = exponent_a - exponent_b;
    return exponent_a < 25 || exponent_a == 255 || exponent_b < 2 || exponent_b > 252 || difference < -124 ||
           difference > 126;
}

void fchk(Warp& warp, const Instruction& in, u32 mask) {
    const Operand p = in.operand(Slot::P);
    const Source a(warp, in.operand(Slot::A)), b(warp, in.operand(Slot::B));
    for_lanes(mask, [&](unsigned lane) { warp.set_predicate(p, lane, division_is_hard(a(lane), b(lane))); });
}

} // namespace

std::span<const Row> float_rows() {
    static constexpr Row rows[] = {
        {Opcode::FADD, fadd},   {Opcode::FADD32I, fadd}, {Opcode::FMUL, fmul},   {Opcode::FMUL32I, fmul},
        {Opcode::FFMA, ffma},   {Opcode::FFMA32I, ffma}, {Opcode::FMNMX, fmnmx}, {Opcode::FSWZADD, fswzadd},
        {Opcode::FSETP, fsetp}, {Opcode::FSET, fset},    {Opcode::FCMP, fcmp},   {Opcode::FCHK, fchk},
    };
    return rows;
}

} // namespace heaviside::interpreter
