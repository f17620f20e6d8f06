#include "shader/passes.h"

namespace heaviside::shader::ir {

namespace {

class WideSums {
public:
    explicit WideSums(Program& p) : program(p), replaced(p.insts.size(), ~0u) {}

    void run() {
        for (Block& block : program.blocks) {
            made.clear();
            bool any = false;
            for (u32 id : block.insts) {
                const Value sum = join(id);
                any |= sum.valid();
                if (sum.valid())
                    replaced[id] = sum.id;
                else
                    made.push_back(id);
            }
            if (any)
                block.insts.swap(made);
        }
        apply_replacements(program, replaced);
    }

private:
    // `select carry(a, b, false), 1, 0`
    [[nodiscard]] bool is_carry_of(Value v, Value a, Value b) const {
        const Inst& select = program[v];
        if (select.op != Op::Select || !is(program.arg(v, 1), 1) || !is(program.arg(v, 2), 0))
            return false;
        const Value carry = program.arg(v, 0);
        return program[carry].op == Op::AddCarry && program.arg(carry, 0) == a && program.arg(carry, 1) == b &&
               is(program.arg(carry, 2), 0);
    }
    [[nodiscard]] bool is(Value v, u32 word) const { return program.is_const(v) && program.const_word(v) == word; }

    // Words of the same 64-bit number in a constant bank.
    [[nodiscard]] bool is_high_of(Value high, Value low) const {
        const Inst &h = program[high], &l = program[low];
        if (h.op != Op::LoadBank || l.op != Op::LoadBank || h.imm != l.imm)
            return false;
        const Value at_high = program.arg(high, 0), at_low = program.arg(low, 0);
        return program.is_const(at_high) && program.is_const(at_low) &&
               program.const_word(at_high) == program.const_word(at_low) + 4;
    }

    Value append(Op op, Value a, Value b) {
        const Value arguments[] = {a, b};
        const Value v = program.append(op, Type::U64, arguments, 0, 0);
        made.push_back(v.id);
        return v;
    }

    // What `pack64 a + b, rest + carry(a + b)` is as a sum of 64-bit numbers. Which high word goes with which low one
    // is free: numbers that lie in a bank are kept whole.
    Value join(u32 id) {
        if (program.insts[id].op != Op::Pack64)
            return none;
        const Value low = program.arg(Value{id}, 0), high = program.arg(Value{id}, 1);
        if (program[low].op != Op::IAdd || program[high].op != Op::IAdd)
            return none;
        const Value a = program.arg(low, 0), b = program.arg(low, 1);
        const Value zero = program.constant(Type::U32, 0);
        for (unsigned side = 0; side < 2; ++side) {
            if (!is_carry_of(program.arg(high, side), a, b))
                continue;
            Value first = program.arg(high, 1 - side), second = zero;
            if (program[first].op == Op::IAdd) {
                second = program.arg(first, 1);
                first = program.arg(first, 0);
            }
            if (is_high_of(first, b) || is_high_of(second, a) || (second == zero && !is_high_of(first, a)))
                std::swap(first, second);
            const Value one = append(Op::Pack64, a, first), other = append(Op::Pack64, b, second);
            const Value sum = append(Op::IAdd64, one, other);
            replaced.resize(program.insts.size(), ~0u);
            return sum;
        }
        return none;
    }

    Program& program;
    std::vector<u32> replaced, made;
};

} // namespace

void join_wide_sums(Program& program) {
    WideSums(program).run();
}

} // namespace heaviside::shader::ir
