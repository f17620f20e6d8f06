// Control flow: the branch stack. Every stack instruction takes lanes off the active set; a token gives them back.
#include "interpreter/lanes.h"

namespace heaviside::interpreter {
namespace {

using maxwell::Test;

u32 tested(const Warp& warp, const Instruction& in, u32 mask) {
    const auto test = in.get<Test>();
    if (test == Test::True)
        return mask;
    u32 result = 0;
    for_lanes(mask, [&](unsigned lane) { result |= u32{test_flags(test, warp.flags[lane])} << lane; });
    return result;
}

// Where a lane goes: an immediate target is an address already; a word of a constant bank, or a register with an
// immediate, is relative to the next instruction, except for the jumps.
u32 target_of(const Warp& warp, const Instruction& in, unsigned lane, bool relative) {
    const Operand t = in.operand(Slot::T);
    if (t.kind == OperandKind::Target)
        return static_cast<u32>(t.value);
    const u32 base = relative ? warp.next_pc : 0;
    if (t.kind == OperandKind::Constant)
        return base + constant_word(warp, t.bank, static_cast<u32>(t.offset) + warp.get(t.reg, lane));
    return base + warp.get(in.operand(Slot::A).reg, lane) + static_cast<u32>(t.value);
}

bool relative(Opcode opcode) {
    return opcode != Opcode::JMP && opcode != Opcode::JMX && opcode != Opcode::JCAL;
}

bool push_token(Warp& warp, Token token) {
    if (warp.stack.size() >= deepest_stack) {
        warp.fault = fmt::format("the branch stack overflows: {} tokens", deepest_stack);
        return false;
    }
    warp.stack.push_back(token);
    return true;
}

// BRA, BRX, JMP, JMX: lanes that do not go along wait in a token; so do those that go elsewhere.
void branch(Warp& warp, const Instruction& in, u32 mask) {
    u32 taken = tested(warp, in, mask);
    if (taken == 0)
        return;
    if (taken != warp.active && !push_token(warp, {TokenKind::Diverge, warp.active & ~taken, warp.next_pc}))
        return;
    const bool from_here = relative(in.opcode());
    for (;;) {
        const auto first = static_cast<unsigned>(std::countr_zero(taken));
        const u32 pc = target_of(warp, in, first, from_here);
        u32 together = taken;
        if (in.has(Slot::A) || in.operand(Slot::T).kind == OperandKind::Constant)
            for_lanes(taken & ~(1u << first), [&](unsigned lane) {
                if (target_of(warp, in, lane, from_here) != pc)
                    together &= ~(1u << lane);
            });
        taken &= ~together;
        if (taken == 0) {
            warp.active = together;
            warp.pc = pc;
            return;
        }
        if (!push_token(warp, {TokenKind::Diverge, together, pc}))
            return;
    }
}

template <TokenKind Kind>
void push(Warp& warp, const Instruction& in, u32 mask) {
    push_token(warp, {Kind, warp.active, target_of(warp, in, static_cast<unsigned>(std::countr_zero(mask)), true)});
}

template <TokenKind Kind>
void leave(Warp& warp, const Instruction& in, u32 mask) {
    if (warp.unwind(tested(warp, in, mask), Kind) != 0)
        warp.fault = "the branch stack has no entry for this";
}

void call(Warp& warp, const Instruction& in, u32 mask) {
    if (push_token(warp, {TokenKind::Call, warp.active, warp.next_pc}))
        warp.pc = target_of(warp, in, static_cast<unsigned>(std::countr_zero(mask)), relative(in.opcode()));
}

// Lanes for which PEXIT left a token go there instead.
void exit(Warp& warp, const Instruction& in, u32 mask) {
    warp.leave(warp.unwind(tested(warp, in, mask), TokenKind::Exit));
}

// Return from a trap handler. Programs are none: the threads end (ledger row GFX-177).
void rtt(Warp& warp, const Instruction&, u32 mask) {
    warp.leave(mask);
}

} // namespace

u32 tested_lanes(const Warp& warp, const Instruction& in, u32 mask) {
    return tested(warp, in, mask);
}

std::span<const Row> flow_rows() {
    static constexpr Row rows[] = {
        {Opcode::BRA, branch},
        {Opcode::BRX, branch},
        {Opcode::JMP, branch},
        {Opcode::JMX, branch},
        {Opcode::SSY, push<TokenKind::Sync>},
        {Opcode::SYNC, leave<TokenKind::Sync>},
        {Opcode::PBK, push<TokenKind::Break>},
        {Opcode::BRK, leave<TokenKind::Break>},
        {Opcode::PCNT, push<TokenKind::Continue>},
        {Opcode::CONT, leave<TokenKind::Continue>},
        {Opcode::PRET, push<TokenKind::Call>},
        {Opcode::CAL, call},
        {Opcode::JCAL, call},
        {Opcode::RET, leave<TokenKind::Call>},
        {Opcode::PLONGJMP, push<TokenKind::LongJump>},
        {Opcode::LONGJMP, leave<TokenKind::LongJump>},
        {Opcode::PEXIT, push<TokenKind::Exit>},
        {Opcode::EXIT, exit},
        {Opcode::RTT, rtt},
    };
    return rows;
}

} // namespace heaviside::interpreter
