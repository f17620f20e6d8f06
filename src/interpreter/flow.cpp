// Control flow: the branch stack. Every stack instruction takes lanes off the active set; a token gives them back.
#include "interpreter/warp.h"

namespace heaviside::interpreter {
namespace {

using maxwell::Test;

// The condition code as the test of a branch or of EXIT reads it (isa.md: Z S C O).
bool holds(Test test, u8 flags) {
    const bool z = flags & flag::zero, s = flags & flag::sign, c = flags & flag::carry, o = flags & flag::overflow;
    switch (test) {
    case Test::True:
        return true;
    case Test::False:
        return false;
    case Test::Less:
        return s != o;
    case Test::Equal:
        return z && !s;
    case Test::LessEqual:
        return s != o || z;
    case Test::Greater:
        return s == o && !z;
    case Test::NotEqual:
        return !z;
    case Test::GreaterEqual:
        return s == o;
    case Test::NotOverflow:
        return !o;
    case Test::Lower:
        return !c;
    case Test::NotSign:
        return !s;
    case Test::LowerSame:
        return !c || z;
    case Test::Higher:
        return c && !z;
    case Test::Sign:
        return s;
    case Test::HigherSame:
        return c;
    case Test::Overflow:
        return o;
    default:
        return false;
    }
}

u32 tested(const Warp& warp, const Instruction& in, u32 mask) {
    const auto test = in.get<Test>();
    if (test == Test::True)
        return mask;
    u32 result = 0;
    for_lanes(mask, [&](unsigned lane) { result |= u32{holds(test, warp.flags[lane])} << lane; });
    return result;
}

u32 target(const Instruction& in) {
    return static_cast<u32>(in.operand(Slot::T).value);
}

void bra(Warp& warp, const Instruction& in, u32 mask) {
    const u32 taken = tested(warp, in, mask);
    if (in.operand(Slot::T).kind != OperandKind::Target) {
        warp.fault = "branch target in a constant bank is not built";
        return;
    }
    if (taken == 0)
        return;
    if (taken != warp.active)
        warp.stack.push_back({TokenKind::Diverge, warp.active & ~taken, warp.next_pc});
    warp.active = taken;
    warp.pc = target(in);
}

template <TokenKind Kind>
void push(Warp& warp, const Instruction& in, u32 /*mask*/) {
    constexpr std::size_t deepest = 4096; // far beyond what hardware can spill
    if (warp.stack.size() >= deepest)
        warp.fault = "the branch stack overflows";
    else
        warp.stack.push_back({Kind, warp.active, target(in)});
}

template <TokenKind Kind>
void leave(Warp& warp, const Instruction& in, u32 mask) {
    const u32 leaving = tested(warp, in, mask);
    if (leaving != 0 && !warp.unwind(leaving, Kind))
        warp.fault = "the branch stack has no entry for this";
}

void cal(Warp& warp, const Instruction& in, u32 /*mask*/) {
    warp.stack.push_back({TokenKind::Call, warp.active, warp.next_pc});
    warp.pc = target(in);
}

void exit(Warp& warp, const Instruction& in, u32 mask) {
    const u32 leaving = tested(warp, in, mask);
    warp.exited |= leaving;
    warp.active &= ~leaving;
}

void nop(Warp&, const Instruction&, u32) {}

void bar(Warp& warp, const Instruction& in, u32 /*mask*/) {
    if (in.get<maxwell::BarrierMode>() != maxwell::BarrierMode::Sync)
        warp.fault = "this kind of barrier is not built";
    else
        warp.at_barrier = true;
}

} // namespace

u32 tested_lanes(const Warp& warp, const Instruction& in, u32 mask) {
    return tested(warp, in, mask);
}

std::span<const Row> flow_rows() {
    static constexpr Row rows[] = {
        {Opcode::BRA, bra},
        {Opcode::SSY, push<TokenKind::Sync>},
        {Opcode::SYNC, leave<TokenKind::Sync>},
        {Opcode::PBK, push<TokenKind::Break>},
        {Opcode::BRK, leave<TokenKind::Break>},
        {Opcode::PCNT, push<TokenKind::Continue>},
        {Opcode::CONT, leave<TokenKind::Continue>},
        {Opcode::PRET, push<TokenKind::Call>},
        {Opcode::CAL, cal},
        {Opcode::RET, leave<TokenKind::Call>},
        {Opcode::EXIT, exit},
        {Opcode::NOP, nop},
        {Opcode::BAR, bar},
        {Opcode::DEPBAR, nop}, // scoreboards: results are there at once
        {Opcode::MEMBAR, nop}, // memory is sequentially consistent here
    };
    return rows;
}

} // namespace heaviside::interpreter
