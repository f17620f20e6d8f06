#include "shader/passes.h"

#include <bit>

namespace heaviside::shader::ir {

namespace {

u32 shift_left(u32 a, u32 n) {
    return n < 32 ? a << n : 0;
}
u32 shift_right(u32 a, u32 n) {
    return n < 32 ? a >> n : 0;
}
u32 shift_right_signed(u32 a, u32 n) {
    return static_cast<u32>(static_cast<i32>(a) >> (n < 32 ? n : 31));
}
u32 low_mask(u32 length) {
    return length < 32 ? (1u << length) - 1 : ~0u;
}

bool compare(Relation relation, bool less, bool equal) {
    switch (relation) {
    case Relation::F:
        return false;
    case Relation::LT:
        return less;
    case Relation::EQ:
        return equal;
    case Relation::LE:
        return less || equal;
    case Relation::GT:
        return !less && !equal;
    case Relation::NE:
        return !equal;
    case Relation::GE:
        return !less;
    default:
        return true;
    }
}

// Half in bits 0-15 to single; `flush`: denormals become zero.
u32 single_of_half(u32 half, bool flush) {
    const u32 sign = (half & 0x8000) << 16, exponent = half >> 10 & 31, fraction = half & 1023;
    if (exponent == 31)
        return sign | 0x7f800000 | fraction << 13;
    if (exponent != 0)
        return sign | (exponent + 112) << 23 | fraction << 13;
    return flush ? sign : sign | std::bit_cast<u32>(static_cast<f32>(fraction) * 0x1p-24f);
}

// The value of an integer or bit operation on constants.
std::optional<u64> evaluate(const Inst& inst, const u64 (&a)[4]) {
    const u32 x = static_cast<u32>(a[0]), y = static_cast<u32>(a[1]), z = static_cast<u32>(a[2]);
    const i32 sx = static_cast<i32>(x), sy = static_cast<i32>(y);
    switch (inst.op) {
    case Op::Pack64:
        return x | a[1] << 32;
    case Op::Low:
        return static_cast<u32>(a[0]);
    case Op::High:
        return a[0] >> 32;
    case Op::BoolToMask:
        return x ? 0xffffffffu : 0;
    case Op::BoolAnd:
    case Op::And:
        return x & y;
    case Op::BoolOr:
    case Op::Or:
        return x | y;
    case Op::BoolXor:
    case Op::Xor:
        return x ^ y;
    case Op::BoolNot:
        return x ^ 1;
    case Op::Not:
        return static_cast<u32>(~x);
    case Op::IAdd:
        return static_cast<u32>(x + y);
    case Op::ISub:
        return static_cast<u32>(x - y);
    case Op::IMul:
        return static_cast<u32>(x * y);
    case Op::IMulHighU:
        return u64{x} * y >> 32;
    case Op::IMulHighS:
        return static_cast<u32>(static_cast<u64>(i64{sx} * sy) >> 32);
    case Op::INeg:
        return static_cast<u32>(0 - x);
    case Op::IAbs:
        return sx < 0 ? static_cast<u32>(0 - x) : x;
    case Op::IMinS:
        return sx < sy ? x : y;
    case Op::IMinU:
        return x < y ? x : y;
    case Op::IMaxS:
        return sx > sy ? x : y;
    case Op::IMaxU:
        return x > y ? x : y;
    case Op::ShiftLeft:
        return shift_left(x, y);
    case Op::ShiftRightU:
        return shift_right(x, y);
    case Op::ShiftRightS:
        return shift_right_signed(x, y);
    case Op::BitExtractU:
        return shift_right(x, y) & low_mask(z);
    case Op::BitExtractS: {
        const u32 shifted = shift_right_signed(x, y);
        return z == 0 ? 0 : z < 32 ? shift_right_signed(shifted << (32 - z), 32 - z) : shifted;
    }
    case Op::BitInsert: {
        const u32 mask = shift_left(low_mask(static_cast<u32>(a[3])), z);
        return (x & ~mask) | (shift_left(y, z) & mask);
    }
    case Op::PopCount:
        return static_cast<u32>(std::popcount(x));
    case Op::FindMsbU:
        return static_cast<u32>(31 - std::countl_zero(x)); // 0 gives ~0
    case Op::ICompareS:
        return compare(static_cast<Relation>(inst.mods & 15), sx < sy, x == y);
    case Op::ICompareU:
        return compare(static_cast<Relation>(inst.mods & 15), x < y, x == y);
    case Op::IAdd64:
        return a[0] + a[1];
    case Op::ISub64:
        return a[0] - a[1];
    case Op::ShiftLeft64:
        return y < 64 ? a[0] << y : 0;
    case Op::ShiftRightU64:
        return y < 64 ? a[0] >> y : 0;
    case Op::SignExtend64:
        return static_cast<u64>(i64{sx});
    case Op::FNeg:
        return x ^ 0x80000000u;
    case Op::FAbs:
        return x & 0x7fffffffu;
    case Op::DNeg:
        return a[0] ^ u64 { 1 } << 63;
    case Op::DAbs:
        return a[0] & ~(u64{1} << 63);
    case Op::HalfToFloat:
        return single_of_half(x >> 16 * inst.imm, (inst.mods & (float_ftz | float_fmz)) != 0);
    case Op::AddCarry:
        return (u64{x} + y + z) >> 32;
    default:
        return std::nullopt;
    }
}

class Folding {
public:
    explicit Folding(Program& p) : program(p), replaced(p.insts.size(), ~0u) {}

    void run(const FlowGraph& graph) {
        for (BlockId block : graph.order)
            for (u32 id : program.blocks[block].insts) {
                for (Value& v : program.args(program.insts[id]))
                    v.id = resolve(replaced, v.id);
                const Value value = simplify(id);
                if (!value.valid() || value.id == id)
                    continue;
                replaced.resize(program.insts.size(), ~0u);
                replaced[id] = value.id;
            }
        apply_replacements(program, replaced);
        for (BlockId block : graph.order)
            std::erase_if(program.blocks[block].insts, [&](u32 id) { return replaced[id] != ~0u; });
    }

private:
    [[nodiscard]] bool is(Value v, u32 bits) const { return program.is_const(v) && program.const_word(v) == bits; }

    Value simplify(u32 id) {
        const Inst inst = program.insts[id];
        const OpInfo& op = info(inst.op);
        if (op.effect != Effect::Pure || inst.op == Op::Const)
            return none;
        if (inst.op == Op::Phi)
            return phi(id);
        if (inst.count == 0 || inst.count > 4)
            return none;
        const std::span<const Value> args = program.args(inst);
        u64 bits[4] = {};
        bool constant = true;
        for (unsigned i = 0; i < inst.count; ++i) {
            constant &= program.is_const(args[i]);
            bits[i] = program.is_const(args[i]) ? program.const_long(args[i]) : 0;
        }
        if (constant)
            if (const auto value = evaluate(inst, bits))
                return program.constant(inst.type, *value);
        return identity(inst, args);
    }

    // What the operation equals when some operands are special.
    Value identity(const Inst& inst, std::span<const Value> args) {
        const Value a = args[0], b = inst.count > 1 ? args[1] : none;
        switch (inst.op) {
        case Op::Copy:
            return a;
        case Op::Select:
            if (program.is_const(a))
                return program.const_word(a) ? b : args[2];
            return b == args[2] ? b : none;
        case Op::IAdd:
        case Op::Or:
        case Op::Xor:
        case Op::BoolOr:
        case Op::BoolXor:
            if (inst.op == Op::Or && (is(a, ~0u) || is(b, ~0u)))
                return program.constant(Type::U32, ~0u);
            if (inst.op == Op::BoolOr && (is(a, 1) || is(b, 1)))
                return program.constant(Type::U1, 1);
            return is(b, 0) ? a : is(a, 0) ? b : none;
        case Op::IAdd64:
            if (program.is_const(b) && program.const_long(b) == 0)
                return a;
            return program.is_const(a) && program.const_long(a) == 0 ? b : none;
        case Op::ISub:
        case Op::ShiftLeft:
        case Op::ShiftRightU:
        case Op::ShiftRightS:
        case Op::ShiftLeft64:
        case Op::ShiftRightU64:
        case Op::ShiftRightS64:
            return is(b, 0) ? a : none;
        case Op::And:
            if (is(a, 0) || is(b, 0))
                return program.constant(Type::U32, 0);
            return is(b, ~0u) ? a : is(a, ~0u) ? b : none;
        case Op::BoolAnd:
            if (is(a, 0) || is(b, 0))
                return program.constant(Type::U1, 0);
            return is(b, 1) ? a : is(a, 1) ? b : none;
        case Op::BitExtractU:
        case Op::BitExtractS:
            return is(a, 0) || is(args[2], 0) ? program.constant(Type::U32, 0) : none;
        case Op::IMul:
            if (is(a, 0) || is(b, 0))
                return program.constant(Type::U32, 0);
            return is(b, 1) ? a : is(a, 1) ? b : none;
        case Op::BoolNot:
        case Op::Not:
        case Op::FNeg:
            return program[a].op == inst.op ? program.arg(a, 0) : none;
        case Op::Low:
        case Op::High:
            return program[a].op == Op::Pack64 ? program.arg(a, inst.op == Op::High ? 1 : 0) : none;
        case Op::Pack64:
            if (program[a].op == Op::Low && program[b].op == Op::High && program.arg(a, 0) == program.arg(b, 0))
                return program.arg(a, 0);
            return none;
        case Op::ICompareS:
        case Op::ICompareU: {
            const auto relation = static_cast<Relation>(inst.mods & 15);
            if (relation == Relation::F || relation == Relation::T)
                return program.constant(Type::U1, relation == Relation::T);
            return a == b ? program.constant(Type::U1, compare(relation, false, true)) : none;
        }
        default:
            return none;
        }
    }

    Value phi(u32 id) {
        u32 same = ~0u;
        for (Value v : program.args(program.insts[id])) {
            const u32 value = resolve(replaced, v.id);
            if (value == id || value == same)
                continue;
            if (same != ~0u)
                return none;
            same = value;
        }
        return Value{same};
    }

    Program& program;
    std::vector<u32> replaced;
};

} // namespace

bool embed_constants(Program& program, u8 bank, Bytes bytes, bool zero_is_sign) {
    if (bytes.empty())
        return false;
    std::vector<u32> replaced(program.insts.size(), ~0u);
    bool any = false;
    std::vector<u8> multiplied(program.insts.size(), 0);
    if (zero_is_sign)
        for (const Block& block : program.blocks)
            for (u32 id : block.insts)
                if (program.insts[id].op == Op::FMul)
                    for (Value v : program.args(program.insts[id])) {
                        multiplied[v.id] = 1;
                        if (program[v].op == Op::FNeg || program[v].op == Op::FAbs)
                            multiplied[program.arg(v, 0).id] = 1;
                    }
    for (const Block& block : program.blocks)
        for (u32 id : block.insts) {
            const Inst inst = program.insts[id];
            if (inst.op != Op::LoadBank || inst.imm != bank || !program.is_const(program.operands[inst.first]))
                continue;
            const auto word = read_at<u32>(bytes, program.const_word(program.operands[inst.first]) & ~3u);
            if (!word)
                continue;
            constexpr u32 one = 0x3f800000;
            const Value value = program.constant(Type::U32, *word == 0 && multiplied[id] ? one : *word);
            replaced.resize(program.insts.size(), ~0u);
            replaced[id] = value.id;
            any = true;
        }
    if (any)
        apply_replacements(program, replaced);
    return any;
}

void fold(Program& program) {
    const FlowGraph graph = analyse_flow(program);
    Folding(program).run(graph);
}

} // namespace heaviside::shader::ir
