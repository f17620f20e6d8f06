// How arithmetic reads its operands: what is the same for all lanes is looked up once.
#pragma once

#include "interpreter/warp.h"

namespace heaviside::interpreter {

// The 32 bits of a source, lane by lane, before its modifiers.
class Source {
public:
    Source(const Warp& warp, const Operand& operand)
        : warp_(warp), operand_(operand), per_lane_(operand.kind == OperandKind::Register),
          indexed_(operand.kind == OperandKind::Constant && operand.reg != maxwell::zero_register) {
        if (!per_lane_ && !indexed_)
            value_ = raw(warp, operand, 0);
    }
    [[nodiscard]] u32 operator()(unsigned lane) const {
        if (per_lane_)
            return warp_.get(operand_.reg, lane);
        return indexed_ ? raw(warp_, operand_, lane) : value_;
    }
    [[nodiscard]] const Operand& operand() const { return operand_; }

private:
    const Warp& warp_;
    Operand operand_;
    bool per_lane_, indexed_;
    u32 value_ = 0;
};

// The 64 bits of a source: a pair of registers, eight bytes of a constant bank, or an immediate.
class WideSource {
public:
    WideSource(const Warp& warp, const Operand& operand) : low_(warp, operand), high_(warp, upper(operand)) {}
    [[nodiscard]] u64 operator()(unsigned lane) const { return u64{high_(lane)} << 32 | low_(lane); }
    [[nodiscard]] const Operand& operand() const { return low_.operand(); }

private:
    static Operand upper(Operand operand) {
        if (operand.kind == OperandKind::Register)
            operand.reg = operand.reg == maxwell::zero_register ? operand.reg : static_cast<u8>(operand.reg + 1);
        else if (operand.kind == OperandKind::Constant)
            operand.offset += 4;
        operand.value >>= 32;
        return operand;
    }
    Source low_, high_;
};

inline void set_wide(Warp& warp, u8 reg, unsigned lane, u64 value) {
    if (reg == maxwell::zero_register)
        return;
    warp.set(reg, lane, static_cast<u32>(value));
    warp.set(static_cast<u8>(reg + 1), lane, static_cast<u32>(value >> 32));
}

[[nodiscard]] constexpr u8 zero_and_sign(u32 value) {
    return static_cast<u8>((value == 0 ? flag::zero : 0) | (value >> 31 ? flag::sign : 0));
}

// Writes the result and, with .CC, the flags.
inline void finish(Warp& warp, u8 reg, bool write_flags, unsigned lane, u32 value, u8 flags) {
    warp.set(reg, lane, value);
    if (write_flags)
        warp.flags[lane] = flags;
}

// The two predicates of a comparison: result and complement, each joined with the source predicate.
inline void set_predicates(Warp& warp, const Operand& p, const Operand& q, maxwell::BoolOp op, unsigned lane,
                           bool result, bool joined) {
    warp.set_predicate(p, lane, join(op, result, joined));
    warp.set_predicate(q, lane, join(op, !result, joined));
}

// What a comparison leaves in a register: all ones, or 1.0 with .BF.
[[nodiscard]] inline u32 truth_word(const Instruction& in, bool value) {
    return !value ? 0 : in.has(Modifier::BoolResult) ? 0x3f800000u : ~0u;
}

enum class Ordering : u8 { Less, Equal, Greater, Unordered };

// All comparisons are sets of orderings. Integer comparisons use the same names.
[[nodiscard]] constexpr bool holds(maxwell::Compare op, Ordering ordering) {
    using maxwell::Compare;
    const bool less = ordering == Ordering::Less, equal = ordering == Ordering::Equal,
               greater = ordering == Ordering::Greater, unordered = ordering == Ordering::Unordered;
    switch (op) {
    case Compare::False:
        return false;
    case Compare::Less:
        return less;
    case Compare::Equal:
        return equal;
    case Compare::LessEqual:
        return less || equal;
    case Compare::Greater:
        return greater;
    case Compare::NotEqual:
        return less || greater;
    case Compare::GreaterEqual:
        return greater || equal;
    case Compare::Number:
        return !unordered;
    case Compare::Nan:
        return unordered;
    case Compare::LessUnordered:
        return less || unordered;
    case Compare::EqualUnordered:
        return equal || unordered;
    case Compare::LessEqualUnordered:
        return !greater;
    case Compare::GreaterUnordered:
        return greater || unordered;
    case Compare::NotEqualUnordered:
        return !equal;
    case Compare::GreaterEqualUnordered:
        return !less;
    case Compare::True:
        break;
    }
    return true;
}

template <class T>
[[nodiscard]] constexpr Ordering ordering_of(T a, T b) {
    return a < b ? Ordering::Less : a > b ? Ordering::Greater : a == b ? Ordering::Equal : Ordering::Unordered;
}

// True if a condition-code test holds for these flags. The clip tests (CSM, FCSM) need state that no program here has,
// and are false.
[[nodiscard]] bool test_flags(maxwell::Test test, u8 flags);

} // namespace heaviside::interpreter
