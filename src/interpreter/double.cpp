// Double-precision arithmetic and comparison. Denormals are kept.
#include "interpreter/lanes.h"
#include "interpreter/soft_float.h"

#include <cmath>

namespace heaviside::interpreter {
namespace {

using maxwell::BoolOp;
using maxwell::Compare;
using maxwell::Rounding;
using soft::binary64;
using soft::Number;

constexpr u64 sign_bit = u64{1} << 63, infinity = 0x7ff0000000000000, canonical_nan = 0x7fffffffffffffff;

bool is_nan(u64 bits) {
    return (bits & ~sign_bit) > infinity;
}
f64 number(u64 bits) {
    return std::bit_cast<f64>(bits);
}

class DoubleSource {
public:
    DoubleSource(const Warp& warp, const Operand& operand)
        : source_(warp, operand), keep_(operand.absolute ? ~sign_bit : ~u64{0}), flip_(operand.negated ? sign_bit : 0) {
    }
    [[nodiscard]] u64 operator()(unsigned lane) const { return (source_(lane) & keep_) ^ flip_; }

private:
    WideSource source_;
    u64 keep_, flip_;
};

class Result {
public:
    Result(Warp& warp, const Instruction& in)
        : warp_(warp), reg_(in.operand(Slot::D).reg), write_flags_(in.has(Modifier::WriteCC)) {}
    void operator()(unsigned lane, u64 bits) const {
        if (is_nan(bits))
            bits = canonical_nan;
        set_wide(warp_, reg_, lane, bits);
        if (write_flags_)
            warp_.flags[lane] = static_cast<u8>(is_nan(bits)             ? flag::zero | flag::sign
                                                : (bits << 1) == 0       ? flag::zero
                                                : (bits & sign_bit) != 0 ? flag::sign
                                                                         : 0);
    }

private:
    Warp& warp_;
    u8 reg_;
    bool write_flags_;
};

void dadd(Warp& warp, const Instruction& in, u32 mask) {
    const auto rounding = in.get<Rounding>();
    const DoubleSource a(warp, in.operand(Slot::A)), b(warp, in.operand(Slot::B));
    const Result result(warp, in);
    for_lanes(mask, [&](unsigned lane) {
        if (rounding == Rounding::Nearest)
            return result(lane, std::bit_cast<u64>(number(a(lane)) + number(b(lane))));
        const Number exact = sum(soft::unpack(binary64, a(lane)), soft::unpack(binary64, b(lane)), rounding);
        result(lane, pack(exact, binary64, rounding));
    });
}

void dmul(Warp& warp, const Instruction& in, u32 mask) {
    const auto rounding = in.get<Rounding>();
    const DoubleSource a(warp, in.operand(Slot::A)), b(warp, in.operand(Slot::B));
    const Result result(warp, in);
    for_lanes(mask, [&](unsigned lane) {
        if (rounding == Rounding::Nearest)
            return result(lane, std::bit_cast<u64>(number(a(lane)) * number(b(lane))));
        const Number exact = product(soft::unpack(binary64, a(lane)), soft::unpack(binary64, b(lane)));
        result(lane, pack(exact, binary64, rounding));
    });
}

void dfma(Warp& warp, const Instruction& in, u32 mask) {
    const auto rounding = in.get<Rounding>();
    const DoubleSource a(warp, in.operand(Slot::A)), b(warp, in.operand(Slot::B)), c(warp, in.operand(Slot::C));
    const Result result(warp, in);
    for_lanes(mask, [&](unsigned lane) {
        const u64 x = a(lane), y = b(lane), z = c(lane);
        if (rounding == Rounding::Nearest)
            return result(lane, std::bit_cast<u64>(std::fma(number(x), number(y), number(z))));
        const Number exact =
            sum(product(soft::unpack(binary64, x), soft::unpack(binary64, y)), soft::unpack(binary64, z), rounding);
        result(lane, pack(exact, binary64, rounding));
    });
}

// A NaN loses against a number; -0 counts as less than +0.
void dmnmx(Warp& warp, const Instruction& in, u32 mask) {
    const Operand s = in.operand(Slot::S);
    const DoubleSource a(warp, in.operand(Slot::A)), b(warp, in.operand(Slot::B));
    const Result result(warp, in);
    for_lanes(mask, [&](unsigned lane) {
        const u64 x = a(lane), y = b(lane);
        const bool less = number(x) < number(y) || ((x | y) << 1 == 0 && x > y);
        result(lane, is_nan(x) ? y : is_nan(y) ? x : less == warp.predicate(s, lane) ? x : y);
    });
}

void dsetp(Warp& warp, const Instruction& in, u32 mask) {
    const auto op = in.get<Compare>();
    const auto joining = in.get<BoolOp>();
    const Operand p = in.operand(Slot::P), q = in.operand(Slot::Q), s = in.operand(Slot::S);
    const DoubleSource a(warp, in.operand(Slot::A)), b(warp, in.operand(Slot::B));
    for_lanes(mask, [&](unsigned lane) {
        const bool result = holds(op, ordering_of(number(a(lane)), number(b(lane))));
        set_predicates(warp, p, q, joining, lane, result, warp.predicate(s, lane));
    });
}

void dset(Warp& warp, const Instruction& in, u32 mask) {
    const auto op = in.get<Compare>();
    const auto joining = in.get<BoolOp>();
    const Operand d = in.operand(Slot::D), s = in.operand(Slot::S);
    const DoubleSource a(warp, in.operand(Slot::A)), b(warp, in.operand(Slot::B));
    const bool write_flags = in.has(Modifier::WriteCC);
    for_lanes(mask, [&](unsigned lane) {
        const bool result = holds(op, ordering_of(number(a(lane)), number(b(lane))));
        const u32 word = truth_word(in, join(joining, result, warp.predicate(s, lane)));
        finish(warp, d.reg, write_flags, lane, word, zero_and_sign(word));
    });
}

} // namespace

std::span<const Row> double_rows() {
    static constexpr Row rows[] = {
        {Opcode::DADD, dadd},   {Opcode::DMUL, dmul},   {Opcode::DFMA, dfma},
        {Opcode::DMNMX, dmnmx}, {Opcode::DSETP, dsetp}, {Opcode::DSET, dset},
    };
    return rows;
}

} // namespace heaviside::interpreter
