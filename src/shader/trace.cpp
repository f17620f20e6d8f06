#include "shader/trace.h"

#include <algorithm>

namespace heaviside::shader::ir {

namespace {

constexpr u32 texture_bits = 0x000fffff;
constexpr std::size_t source_limit = 64; // more: "any"

bool same_for_all_within(const Program& program, Value value, u32 depth) {
    const Inst& inst = program[value];
    if (inst.op == Op::Const)
        return true;
    const bool integers = inst.op < Op::FAdd || inst.op == Op::LoadBank; // what handles are made with
    if (depth == 0 || !integers || inst.op == Op::Phi || info(inst.op).effect != Effect::Pure)
        return false;
    for (Value operand : program.args(inst))
        if (!same_for_all_within(program, operand, depth - 1))
            return false;
    return true;
}

class Trace {
public:
    Trace(const Program& p, const program::DriverBankLayout& l) : program(p), layout(l) {}

    void follow(Value v) {
        if (std::find(seen.begin(), seen.end(), v.id) != seen.end())
            return;
        seen.push_back(v.id);
        if (seen.size() > source_limit)
            return add({0, ~0u});
        const Inst& inst = program[v];
        const auto args = program.args(inst);
        switch (inst.op) {
        case Op::Const: // sampler bits, or a handle written into the code
            return;
        case Op::LoadBank:
            if (!program.is_const(args[0]))
                return add({static_cast<u8>(inst.imm), ~0u});
            return word(static_cast<u8>(inst.imm), program.const_word(args[0]) & ~3u);
        case Op::Or:
            follow(args[0]);
            return follow(args[1]);
        case Op::And:
            for (unsigned i = 0; i < 2; ++i)
                if (program.is_const(args[i]))
                    return (program.const_word(args[i]) & texture_bits) != 0 ? follow(args[1 - i]) : void();
            return add({0, ~0u});
        case Op::BitInsert: // a sampler ID put into bits 20-31
            if (program.is_const(args[2]) && program.const_word(args[2]) >= 20)
                return follow(args[0]);
            return add({0, ~0u});
        case Op::ShiftLeft: // a sampler ID
            if (program.is_const(args[1]) && program.const_word(args[1]) >= 20)
                return;
            return add({0, ~0u});
        case Op::Select:
            follow(args[1]);
            return follow(args[2]);
        case Op::Copy:
        case Op::Phi:
            for (Value a : args)
                follow(a);
            return;
        default:
            return add({0, ~0u});
        }
    }

    std::vector<HandleSource> sources;

private:
    void word(u8 bank, u32 offset) {
        if (bank == layout.handle_bank && layout.separate_samplers != 0 && offset >= layout.separate_samplers &&
            offset < layout.separate_samplers + 32 * 8)
            return;
        add({bank, offset});
    }
    void add(HandleSource source) {
        if (std::find(sources.begin(), sources.end(), source) == sources.end())
            sources.push_back(source);
    }

    const Program& program;
    const program::DriverBankLayout& layout;
    std::vector<u32> seen;
};

} // namespace

std::vector<HandleSource> trace_handle(const Program& program, Value handle, const program::DriverBankLayout& layout) {
    Trace trace(program, layout);
    trace.follow(handle);
    return std::move(trace.sources);
}

bool same_for_all(const Program& program, Value value) {
    constexpr u32 deepest = 8;
    return same_for_all_within(program, value, deepest);
}

} // namespace heaviside::shader::ir
