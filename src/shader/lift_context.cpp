#include "shader/lift_context.h"

namespace heaviside::shader::lifting {

using ir::Flag;
using ir::Relation;

Value Lifter::reg(u32 index) {
    return index >= maxwell::zero_register ? b.word(0) : b.get_register(index);
}

void Lifter::set_reg(u32 index, Value value) {
    if (index >= maxwell::zero_register)
        return;
    if (guard.valid())
        value = select(guard, value, b.get_register(index));
    b.set_register(index, value);
}

Value Lifter::pred(u32 index) {
    return index == maxwell::true_predicate ? b.boolean(true) : b.get_predicate(index);
}

void Lifter::set_pred(u32 index, Value value) {
    if (index == maxwell::true_predicate)
        return;
    if (guard.valid())
        value = select(guard, value, b.get_predicate(index));
    b.set_predicate(index, value);
}

void Lifter::set_flag(Flag flag, Value value) {
    if (guard.valid())
        value = select(guard, value, b.get_flag(flag));
    b.set_flag(flag, value);
}

Value Lifter::pair(u32 index) {
    if (index == maxwell::zero_register)
        return b.quad(0);
    return b.op(Op::Pack64, {reg(index), reg(index + 1)});
}

void Lifter::set_pair(u32 index, Value value) {
    if (index == maxwell::zero_register)
        return;
    const Value low = b.op(Op::Low, {value}), high = b.op(Op::High, {value});
    set_reg(index, low);
    set_reg(index + 1, high);
}

namespace {

// c[bank][offset + index register]; the offset of the operand is in bytes. A bank has 64 KiB, and upper offsets come
// sign-extended out of the decoder.
Value bank_offset(Lifter& l, const Operand& operand) {
    const u32 offset = static_cast<u32>(operand.offset);
    return operand.reg == maxwell::zero_register ? l.b.word(offset & 0xffff) : l.add(l.reg(operand.reg), offset);
}

u32 modified_integer(u64 value, const Operand& operand) {
    u32 word = static_cast<u32>(value);
    if (operand.absolute && static_cast<i32>(word) < 0)
        word = 0 - word;
    if (operand.negated)
        word = 0 - word;
    return operand.inverted ? ~word : word;
}

} // namespace

Value Lifter::word(const Operand& operand) {
    switch (operand.kind) {
    case OperandKind::Register:
        return reg(operand.reg);
    case OperandKind::Constant:
        return bank_word(operand.bank, bank_offset(*this, operand));
    case OperandKind::Immediate:
        return b.word(static_cast<u32>(operand.value));
    case OperandKind::None:
        return b.word(0);
    default:
        unsupported("an operand of an unexpected kind");
        return b.word(0);
    }
}

Value Lifter::wide(const Operand& operand) {
    switch (operand.kind) {
    case OperandKind::Register:
        return pair(operand.reg);
    case OperandKind::Constant: {
        const Value offset = bank_offset(*this, operand);
        return b.op(Op::Pack64, {bank_word(operand.bank, offset), bank_word(operand.bank, add(offset, 4))});
    }
    case OperandKind::Immediate:
        return b.quad(operand.value);
    default:
        unsupported("a 64-bit operand of an unexpected kind");
        return b.quad(0);
    }
}

Value Lifter::integer(const Operand& operand) {
    if (operand.kind == OperandKind::Immediate)
        return b.word(modified_integer(operand.value, operand));
    Value value = word(operand);
    if (operand.absolute)
        value = b.op(Op::IAbs, {value});
    if (operand.negated)
        value = b.op(Op::INeg, {value});
    return operand.inverted ? b.op(Op::Not, {value}) : value;
}

Value Lifter::number(const Operand& operand) {
    if (operand.kind == OperandKind::Immediate) {
        u32 bits = static_cast<u32>(operand.value);
        bits = operand.absolute ? bits & 0x7fffffff : bits;
        return b.word(operand.negated ? bits ^ 0x80000000 : bits);
    }
    Value value = word(operand);
    if (operand.absolute)
        value = b.op(Op::FAbs, {value});
    return operand.negated ? b.op(Op::FNeg, {value}) : value;
}

Value Lifter::real(const Operand& operand) {
    Value value = wide(operand);
    if (operand.absolute)
        value = b.op(Op::DAbs, {value});
    return operand.negated ? b.op(Op::DNeg, {value}) : value;
}

Value Lifter::predicate(const Operand& operand) {
    if (operand.kind != OperandKind::Predicate)
        return b.boolean(true);
    if (operand.reg == maxwell::true_predicate)
        return b.boolean(!operand.negated);
    const Value value = pred(operand.reg);
    return operand.negated ? bnot(value) : value;
}

Value Lifter::address(const Operand& operand) {
    const u32 offset = static_cast<u32>(operand.offset);
    return operand.reg == maxwell::zero_register ? b.word(offset) : add(reg(operand.reg), offset);
}

Value Lifter::long_address(const Operand& operand, bool wide_register) {
    if (operand.reg == maxwell::zero_register)
        return b.quad(static_cast<u64>(i64{operand.offset}));
    const Value base = wide_register ? pair(operand.reg) : b.op(Op::Pack64, {reg(operand.reg), b.word(0)});
    if (operand.offset == 0)
        return base;
    return b.op(Op::IAdd64, {base, b.quad(static_cast<u64>(i64{operand.offset}))});
}

void Lifter::integer_flags(Value value) {
    set_flag(Flag::Zero, is_zero(value));
    set_flag(Flag::Sign, is_negative(value));
    set_flag(Flag::Carry, b.boolean(false));
    set_flag(Flag::Overflow, b.boolean(false));
}

// A NaN sets both zero and sign, which no number does: the tests NUM and NAN are defined so.
void Lifter::float_flags(Value value) {
    const Value zero = b.word(0);
    set_flag(Flag::Zero, b.fcompare(Relation::EQU, value, zero));
    set_flag(Flag::Sign, b.fcompare(Relation::LTU, value, zero));
    set_flag(Flag::Carry, b.boolean(false));
    set_flag(Flag::Overflow, b.boolean(false));
}

void Lifter::double_flags(Value value) {
    const Value zero = b.quad(0);
    set_flag(Flag::Zero, b.op(Op::DCompare, {value, zero}, 0, static_cast<u32>(Relation::EQU)));
    set_flag(Flag::Sign, b.op(Op::DCompare, {value, zero}, 0, static_cast<u32>(Relation::LTU)));
    set_flag(Flag::Carry, b.boolean(false));
    set_flag(Flag::Overflow, b.boolean(false));
}

void Lifter::integer_result(const Instruction& i, Value value) {
    result(i, value);
    if (i.has(Modifier::WriteCC))
        integer_flags(value);
}

void Lifter::float_result(const Instruction& i, Value value) {
    if (i.has(Modifier::Saturate))
        value = b.op(Op::FSaturate, {value});
    result(i, value);
    if (i.has(Modifier::WriteCC))
        float_flags(value);
}

Value Lifter::bits(Value a, u32 first, u32 count) {
    if (first == 0 && count == 32)
        return a;
    return b.op(Op::BitExtractU, {a, b.word(first), b.word(count)});
}

Value Lifter::signed_bits(Value a, u32 first, u32 count) {
    if (first == 0 && count == 32)
        return a;
    return b.op(Op::BitExtractS, {a, b.word(first), b.word(count)});
}

Value Lifter::part(Value a, maxwell::Part part, bool is_signed_part) {
    u32 first = 0, count = 32;
    switch (part) {
    case maxwell::Part::B0:
    case maxwell::Part::B1:
    case maxwell::Part::B2:
    case maxwell::Part::B3:
        first = 8 * (static_cast<u32>(part) - static_cast<u32>(maxwell::Part::B0));
        count = 8;
        break;
    case maxwell::Part::H0:
        count = 16;
        break;
    case maxwell::Part::H1:
        first = count = 16;
        break;
    default:
        break;
    }
    return is_signed_part ? signed_bits(a, first, count) : bits(a, first, count);
}

Value Lifter::combine(maxwell::BoolOp op, Value a, Value c) {
    switch (op) {
    case maxwell::BoolOp::And:
        return band(a, c);
    case maxwell::BoolOp::Or:
        return bor(a, c);
    case maxwell::BoolOp::Xor:
        return bxor(a, c);
    }
    unsupported("an undefined way to combine predicates");
    return a;
}

Value Lifter::carry_in(const Instruction& i) {
    return i.has(Modifier::Extended) ? flag(Flag::Carry) : b.boolean(false);
}

Value Lifter::test(maxwell::Test test) {
    using enum maxwell::Test;
    const auto z = [this] { return flag(Flag::Zero); };
    const auto s = [this] { return flag(Flag::Sign); };
    const auto c = [this] { return flag(Flag::Carry); };
    const auto o = [this] { return flag(Flag::Overflow); };
    switch (test) {
    case True:
        return b.boolean(true);
    case False:
        return b.boolean(false);
    case Less:
        return bxor(band(s(), bnot(z())), o());
    case Equal:
        return band(bnot(s()), z());
    case LessEqual:
        return bxor(s(), bor(z(), o()));
    case Greater:
        return band(bxor(bnot(s()), o()), bnot(z()));
    case NotEqual:
        return bnot(z());
    case GreaterEqual:
        return bnot(bxor(s(), o()));
    case Number:
        return bor(bnot(s()), bnot(z()));
    case Nan:
        return band(s(), z());
    case LessUnordered:
        return bxor(s(), o());
    case EqualUnordered:
        return z();
    case LessEqualUnordered:
        return bor(bxor(s(), o()), z());
    case GreaterUnordered:
        return bxor(bnot(s()), bor(z(), o()));
    case NotEqualUnordered:
        return bor(s(), bnot(z()));
    case GreaterEqualUnordered:
        return bxor(bor(bnot(s()), z()), o());
    case NotOverflow:
        return bnot(o());
    case Lower:
        return bnot(c());
    case NotSign:
        return bnot(s());
    case LowerSame:
        return bor(z(), bnot(c()));
    case Higher:
        return band(c(), bnot(z()));
    case Sign:
        return s();
    case HigherSame:
        return c();
    case Overflow:
        return o();
    // State of the warp's scheduler, never set for code that runs on another machine.
    case CsmTa:
    case CsmTr:
    case CsmMx:
    case FcsmTa:
    case FcsmTr:
    case FcsmMx:
        return b.boolean(false);
    case Rle:
        return bor(s(), z());
    case Rgt:
        return bnot(bor(s(), z()));
    }
    unsupported("an undefined test of the condition code");
    return b.boolean(false);
}

} // namespace heaviside::shader::lifting
