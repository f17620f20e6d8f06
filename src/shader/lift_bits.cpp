// Moves, logic, shifts and bit fields.
#include "shader/lift_context.h"

namespace heaviside::shader::lifting {
namespace {

using ir::Flag;
using maxwell::DataType;

// The optional immediate selects lanes of a quad: the others keep their register.
void mov(Lifter& l, const Instruction& i) {
    Value value = l.integer(i, i.has(Slot::B) ? Slot::B : Slot::A);
    const u32 mask = i.has(Slot::I) ? static_cast<u32>(i.operand(Slot::I).value) & 15 : 15;
    const u8 to = i.operand(Slot::D).reg;
    if (mask != 15 && to != maxwell::zero_register) {
        const Value lane =
            l.b.op(Op::And, {l.b.op(Op::ReadSpecial, {}, static_cast<u32>(ir::Special::LaneId)), l.b.word(3)});
        const Value bit = l.b.op(Op::BitExtractU, {l.b.word(mask), lane, l.b.word(1)});
        value = l.select(l.b.icompare(ir::Relation::NE, false, bit, l.b.word(0)), value, l.reg(to));
    }
    l.result(i, value);
}

void sel(Lifter& l, const Instruction& i) {
    l.result(i, l.select(l.predicate(i, Slot::S), l.integer(i, Slot::A), l.integer(i, Slot::B)));
}

void write_logic_predicate(Lifter& l, const Instruction& i, Value value) {
    if (!i.has(Slot::P))
        return;
    const u8 predicate = i.operand(Slot::P).reg;
    Value zero = l.is_zero(value);
    if (i.has(Modifier::Extended))
        zero = l.band(zero, l.flag(Flag::Zero));
    switch (i.get<maxwell::PredicateResult>()) {
    case maxwell::PredicateResult::False:
        return l.set_pred(predicate, l.b.boolean(false));
    case maxwell::PredicateResult::True:
        return l.set_pred(predicate, l.b.boolean(true));
    case maxwell::PredicateResult::Zero:
        return l.set_pred(predicate, zero);
    case maxwell::PredicateResult::NotZero:
        return l.set_pred(predicate, l.bnot(zero));
    }
}

// With .X the zero flag goes on over the words of a wide number.
void logic_result(Lifter& l, const Instruction& i, Value value) {
    write_logic_predicate(l, i, value);
    if (i.has(Modifier::WriteCC)) {
        const Value zero = l.is_zero(value);
        l.set_flag(Flag::Zero, i.has(Modifier::Extended) ? l.band(zero, l.flag(Flag::Zero)) : zero);
        l.set_flag(Flag::Sign, l.is_negative(value));
        l.set_flag(Flag::Carry, l.b.boolean(false));
        l.set_flag(Flag::Overflow, l.b.boolean(false));
    }
    l.result(i, value);
}

void lop(Lifter& l, const Instruction& i) {
    const Value a = l.integer(i, Slot::A), c = l.integer(i, Slot::B);
    switch (i.get<maxwell::LogicOp>()) {
    case maxwell::LogicOp::And:
        return logic_result(l, i, l.b.op(Op::And, {a, c}));
    case maxwell::LogicOp::Or:
        return logic_result(l, i, l.b.op(Op::Or, {a, c}));
    case maxwell::LogicOp::Xor:
        return logic_result(l, i, l.b.op(Op::Xor, {a, c}));
    case maxwell::LogicOp::PassB:
        return logic_result(l, i, c);
    }
}

// A function of two variables by its four-entry table: bit (x << 1 | y).
Value two_input_function(Lifter& l, u32 table, Value x, Value y) {
    const auto negated = [&](Value v) { return l.b.op(Op::Not, {v}); };
    switch (table & 15) {
    case 0b0000:
        return l.b.word(0);
    case 0b0001:
        return negated(l.b.op(Op::Or, {x, y}));
    case 0b0010:
        return l.b.op(Op::And, {negated(x), y});
    case 0b0011:
        return negated(x);
    case 0b0100:
        return l.b.op(Op::And, {x, negated(y)});
    case 0b0101:
        return negated(y);
    case 0b0110:
        return l.b.op(Op::Xor, {x, y});
    case 0b0111:
        return negated(l.b.op(Op::And, {x, y}));
    case 0b1000:
        return l.b.op(Op::And, {x, y});
    case 0b1001:
        return negated(l.b.op(Op::Xor, {x, y}));
    case 0b1010:
        return y;
    case 0b1011:
        return l.b.op(Op::Or, {negated(x), y});
    case 0b1100:
        return x;
    case 0b1101:
        return l.b.op(Op::Or, {x, negated(y)});
    case 0b1110:
        return l.b.op(Op::Or, {x, y});
    default:
        return l.b.word(~0u);
    }
}

// Shannon's expansion over A: the table's lower half holds where A's bit is 0, the upper half where it is 1.
Value three_input_function(Lifter& l, u32 table, Value a, Value x, Value y) {
    const u32 without = table & 15, with = table >> 4 & 15;
    const auto f = [&](u32 half) { return two_input_function(l, half, x, y); };
    const auto not_a = [&] { return l.b.op(Op::Not, {a}); };
    if (with == without)
        return f(with);
    if (with == (~without & 15u))
        return l.b.op(Op::Xor, {a, f(without)});
    if (without == 0)
        return with == 15 ? a : l.b.op(Op::And, {a, f(with)});
    if (with == 15)
        return l.b.op(Op::Or, {a, f(without)});
    if (with == 0)
        return without == 15 ? not_a() : l.b.op(Op::And, {not_a(), f(without)});
    if (without == 15)
        return l.b.op(Op::Or, {not_a(), f(with)});
    return l.b.op(Op::Or, {l.b.op(Op::And, {a, f(with)}), l.b.op(Op::And, {not_a(), f(without)})});
}

void lop3(Lifter& l, const Instruction& i) {
    const u32 table = static_cast<u32>(i.operand(Slot::I).value);
    const Value value = three_input_function(l, table, l.word(i, Slot::A), l.word(i, Slot::B), l.word(i, Slot::C));
    logic_result(l, i, value);
}

Value shift_count(Lifter& l, const Instruction& i, u32 mask) {
    const Value count = l.word(i, Slot::B);
    return i.has(Modifier::Wrap) ? l.and_mask(count, mask) : count;
}

void shl(Lifter& l, const Instruction& i) {
    if (i.has(Modifier::Extended))
        return l.unsupported("shift with carry");
    l.integer_result(i, l.b.op(Op::ShiftLeft, {l.word(i, Slot::A), shift_count(l, i, 31)}));
}

void shr(Lifter& l, const Instruction& i) {
    if (i.has(Modifier::ShiftExtended))
        return l.unsupported("shift with carry");
    Value a = l.word(i, Slot::A);
    if (i.has(Modifier::BitReverse))
        a = l.b.op(Op::BitReverse, {a});
    const Op op = is_signed(i.get<DataType>()) ? Op::ShiftRightS : Op::ShiftRightU;
    l.integer_result(i, l.b.op(op, {a, shift_count(l, i, 31)}));
}

// A shift of the pair {C, A}: to the left gives its upper word, to the right its lower one (.HI: the upper one). Counts
// clamp at the width.
void shf(Lifter& l, const Instruction& i, bool left) {
    const bool upper = i.get<maxwell::FunnelHigh>() == maxwell::FunnelHigh::Hi;
    if (i.get<maxwell::FunnelHigh>() > maxwell::FunnelHigh::Hi || (upper && left))
        return l.unsupported("funnel shift mode");
    const auto type = i.get<DataType>();
    const bool wide = type == DataType::U64 || type == DataType::S64;
    Value count = shift_count(l, i, wide ? 63 : 31);
    const Value low = l.word(i, Slot::A), high = l.word(i, Slot::C);
    if (!wide && !upper)
        return l.integer_result(i, l.b.op(left ? Op::FunnelLeft : Op::FunnelRight, {low, high, count}));
    if (!wide)
        count = l.b.op(Op::IMinU, {count, l.b.word(32)});
    const Op op = left ? Op::ShiftLeft64 : is_signed(type) ? Op::ShiftRightS64 : Op::ShiftRightU64;
    const Value shifted = l.b.op(op, {l.b.op(Op::Pack64, {low, high}), count});
    l.integer_result(i, l.b.op(left || upper ? Op::High : Op::Low, {shifted}));
}

// The two directions share a mnemonic; the encodings of SHF.L begin with 5b (register) and 36 or 37 (immediate).
void shf_either(Lifter& l, const Instruction& i) {
    const u64 top = i.word() >> 56;
    shf(l, i, top == 0x5b || top == 0x36 || top == 0x37);
}

struct BitRange {
    Value position, length;
};

// Position in bits 0-7, length in bits 8-15.
BitRange bit_range(Lifter& l, const Operand& operand) {
    if (operand.kind == OperandKind::Immediate)
        return {l.b.word(static_cast<u32>(operand.value) & 0xff),
                l.b.word(static_cast<u32>(operand.value) >> 8 & 0xff)};
    const Value word = l.word(operand);
    return {l.bits(word, 0, 8), l.bits(word, 8, 8)};
}

void bfe(Lifter& l, const Instruction& i) {
    const auto [position, length] = bit_range(l, i.operand(Slot::B));
    Value a = l.word(i, Slot::A);
    if (i.has(Modifier::BitReverse))
        a = l.b.op(Op::BitReverse, {a});
    const Op op = is_signed(i.get<DataType>()) ? Op::BitExtractS : Op::BitExtractU;
    l.integer_result(i, l.b.op(op, {a, position, length}));
}

void bfi(Lifter& l, const Instruction& i) {
    const auto [position, length] = bit_range(l, i.operand(Slot::B));
    l.integer_result(i, l.b.op(Op::BitInsert, {l.word(i, Slot::C), l.word(i, Slot::A), position, length}));
}

void flo(Lifter& l, const Instruction& i) {
    const Op op = is_signed(i.get<DataType>()) ? Op::FindMsbS : Op::FindMsbU;
    Value value = l.b.op(op, {l.integer(i, Slot::B)});
    if (i.has(Modifier::ShiftAmount)) // 31 - n, and ~0 stays
        value = l.select(l.is_negative(value), value, l.b.op(Op::ISub, {l.b.word(31), value}));
    l.integer_result(i, value);
}

void popc(Lifter& l, const Instruction& i) {
    l.result(i, l.b.op(Op::PopCount, {l.integer(i, Slot::B)}));
}

// Selectors of the modes that name one by its two lowest bits, four nibbles each.
constexpr u16 permute_selectors[][4] = {
    {0x3210, 0x4321, 0x5432, 0x6543}, // F4E
    {0x5670, 0x6701, 0x7012, 0x0123}, // B4E
    {0x0000, 0x1111, 0x2222, 0x3333}, // RC8
    {0x3210, 0x3211, 0x3222, 0x3333}, // ECL
    {0x0000, 0x1110, 0x2210, 0x3210}, // ECR
    {0x1010, 0x3232, 0x1010, 0x3232}, // RC16
};

Value permute_selector(Lifter& l, const Instruction& i) {
    const auto mode = i.get<maxwell::PermuteMode>();
    const Operand operand = i.operand(Slot::B);
    if (mode == maxwell::PermuteMode::Index)
        return l.word(operand);
    const u16(&selectors)[4] = permute_selectors[static_cast<std::size_t>(mode) - 1];
    if (operand.kind == OperandKind::Immediate)
        return l.b.word(selectors[operand.value & 3]);
    const Value index = l.and_mask(l.word(operand), 3);
    const auto is = [&](u32 n) { return l.b.icompare(ir::Relation::EQ, false, index, l.b.word(n)); };
    Value selector = l.b.word(selectors[3]);
    for (u32 n = 0; n < 3; ++n)
        selector = l.select(is(n), l.b.word(selectors[n]), selector);
    return selector;
}

// One byte of {C, A}, or its sign eight times.
Value permuted_byte(Lifter& l, Value low, Value high, u32 selector) {
    const Value source = (selector & 4) != 0 ? high : low;
    const u32 first = 8 * (selector & 3);
    if ((selector & 8) == 0)
        return l.bits(source, first, 8);
    return l.and_mask(l.signed_bits(source, first + 7, 1), 0xff);
}

Value byte_at_runtime(Lifter& l, Value pair, Value selector, u32 nibble) {
    const Value count = l.shift_left(l.bits(selector, 4 * nibble, 3), 3);
    const Value byte = l.bits(l.b.op(Op::Low, {l.b.op(Op::ShiftRightU64, {pair, count})}), 0, 8);
    const Value sign = l.and_mask(l.signed_bits(byte, 7, 1), 0xff);
    return l.select(l.is_zero(l.bits(selector, 4 * nibble + 3, 1)), byte, sign);
}

void prmt(Lifter& l, const Instruction& i) {
    const Value low = l.word(i, Slot::A), high = l.word(i, Slot::C);
    const Value selector = permute_selector(l, i);
    const bool constant = l.b.program.is_const(selector);
    if (constant && (l.b.program.const_word(selector) & 0xffff) == 0x3210)
        return l.integer_result(i, low);
    const Value pair = constant ? Value{} : l.b.op(Op::Pack64, {low, high});
    Value value = l.b.word(0);
    for (u32 k = 0; k < 4; ++k) {
        const Value byte = constant ? permuted_byte(l, low, high, l.b.program.const_word(selector) >> 4 * k & 15)
                                    : byte_at_runtime(l, pair, selector, k);
        value = k == 0 ? byte : l.b.op(Op::Or, {value, l.shift_left(byte, 8 * k)});
    }
    l.integer_result(i, value);
}

constexpr LiftRow rows[] = {
    {Opcode::MOV, mov},   {Opcode::MOV32I, mov}, {Opcode::SEL, sel},   {Opcode::LOP, lop},        {Opcode::LOP32I, lop},
    {Opcode::LOP3, lop3}, {Opcode::SHL, shl},    {Opcode::SHR, shr},   {Opcode::SHF, shf_either}, {Opcode::BFE, bfe},
    {Opcode::BFI, bfi},   {Opcode::FLO, flo},    {Opcode::POPC, popc}, {Opcode::PRMT, prmt},
};

} // namespace

std::span<const LiftRow> lift_bits_rows() {
    return rows;
}

} // namespace heaviside::shader::lifting
