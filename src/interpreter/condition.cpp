// Values and predicates made from predicates and the condition code.
#include "interpreter/lanes.h"

namespace heaviside::interpreter {

// A float result sets zero and sign together for a NaN, so that the tests work for integers and floats alike.
bool test_flags(maxwell::Test test, u8 flags) {
    using enum maxwell::Test;
    const bool z = (flags & flag::zero) != 0, s = (flags & flag::sign) != 0, c = (flags & flag::carry) != 0,
               o = (flags & flag::overflow) != 0;
    switch (test) {
    case True:
        return true;
    case Less:
        return (s && !z) != o;
    case Equal:
        return z && !s;
    case LessEqual:
        return s != (z || o);
    case Greater:
        return !z && s == o;
    case NotEqual:
        return !z;
    case GreaterEqual:
        return s == o;
    case Number:
        return !z || !s;
    case Nan:
        return z && s;
    case LessUnordered:
        return s != o;
    case EqualUnordered:
        return z;
    case LessEqualUnordered:
        return z || s != o;
    case GreaterUnordered:
        return !s != (z || o);
    case NotEqualUnordered:
        return !z || s;
    case GreaterEqualUnordered:
        return (!s || z) != o;
    case NotOverflow:
        return !o;
    case Lower:
        return !c;
    case NotSign:
        return !s;
    case LowerSame:
        return z || !c;
    case Higher:
        return c && !z;
    case Sign:
        return s;
    case HigherSame:
        return c;
    case Overflow:
        return o;
    case Rle:
        return z || s;
    case Rgt:
        return !z && !s;
    default:
        return false;
    }
}

namespace {

using maxwell::BoolOp;

void cset(Warp& warp, const Instruction& in, u32 mask) {
    const Operand d = in.operand(Slot::D), s = in.operand(Slot::S);
    const auto test = in.get<maxwell::Test>();
    const bool write_flags = in.has(Modifier::WriteCC);
    for_lanes(mask, [&](unsigned lane) {
        const bool result = test_flags(test, warp.flags[lane]);
        const u32 value = truth_word(in, join(in.get<BoolOp>(), result, warp.predicate(s, lane)));
        finish(warp, d.reg, write_flags, lane, value, zero_and_sign(value));
    });
}

void csetp(Warp& warp, const Instruction& in, u32 mask) {
    const Operand p = in.operand(Slot::P), q = in.operand(Slot::Q), s = in.operand(Slot::S);
    const auto test = in.get<maxwell::Test>();
    for_lanes(mask, [&](unsigned lane) {
        set_predicates(warp, p, q, in.get<BoolOp>(), lane, test_flags(test, warp.flags[lane]), warp.predicate(s, lane));
    });
}

// (S2 op S3) op2 S.
void pset(Warp& warp, const Instruction& in, u32 mask) {
    const Operand d = in.operand(Slot::D), s = in.operand(Slot::S), s2 = in.operand(Slot::S2),
                  s3 = in.operand(Slot::S3);
    const auto op = in.get<BoolOp>(Modifier::BoolOp), op2 = in.get<BoolOp>(Modifier::BoolOp2);
    const bool write_flags = in.has(Modifier::WriteCC);
    for_lanes(mask, [&](unsigned lane) {
        const bool first = join(op, warp.predicate(s2, lane), warp.predicate(s3, lane));
        const u32 value = truth_word(in, join(op2, first, warp.predicate(s, lane)));
        finish(warp, d.reg, write_flags, lane, value, zero_and_sign(value));
    });
}

} // namespace

std::span<const Row> condition_rows() {
    static constexpr Row rows[] = {{Opcode::CSET, cset}, {Opcode::CSETP, csetp}, {Opcode::PSET, pset}};
    return rows;
}

} // namespace heaviside::interpreter
