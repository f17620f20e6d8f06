// Moves, selections, predicates, special registers.
#include "interpreter/warp.h"

namespace heaviside::interpreter {
namespace {

using maxwell::BoolOp;

// The mask says which lanes of each group of four take the value.
void mov(Warp& warp, const Instruction& in, u32 mask) {
    const Operand d = in.operand(Slot::D), b = in.operand(Slot::B);
    const u32 quad = static_cast<u32>(in.operand(Slot::I).value) & 15;
    for_lanes(mask & quad * 0x11111111u, [&](unsigned lane) { warp.set(d.reg, lane, raw(warp, b, lane)); });
}

void sel(Warp& warp, const Instruction& in, u32 mask) {
    const Operand d = in.operand(Slot::D), a = in.operand(Slot::A), b = in.operand(Slot::B), s = in.operand(Slot::S);
    for_lanes(mask, [&](unsigned lane) {
        warp.set(d.reg, lane, warp.predicate(s, lane) ? raw(warp, a, lane) : raw(warp, b, lane));
    });
}

// P = (S2 op S3) op2 S, Q = (not that first result) op2 S.
void psetp(Warp& warp, const Instruction& in, u32 mask) {
    const Operand p = in.operand(Slot::P), q = in.operand(Slot::Q), s = in.operand(Slot::S), s2 = in.operand(Slot::S2),
                  s3 = in.operand(Slot::S3);
    const auto op = in.get<BoolOp>(Modifier::BoolOp), op2 = in.get<BoolOp>(Modifier::BoolOp2);
    for_lanes(mask, [&](unsigned lane) {
        const bool a = warp.predicate(s2, lane), b = warp.predicate(s3, lane), c = warp.predicate(s, lane);
        warp.set_predicate(p, lane, join(op2, join(op, a, b), c));
        warp.set_predicate(q, lane, join(op2, join(op, !a, b), c)); // the first source is complemented (measured)
    });
}

// The byte of a register that P2R and R2P work on.
void p2r(Warp& warp, const Instruction& in, u32 mask) {
    const Operand d = in.operand(Slot::D), a = in.operand(Slot::A), b = in.operand(Slot::B);
    const unsigned shift = 8u * in.modifier(Modifier::ByteSelect);
    const bool from_flags = in.has(Modifier::ToConditionCode);
    for_lanes(mask, [&](unsigned lane) {
        const u32 selected = raw(warp, b, lane) & (from_flags ? 0xfu : 0x7fu);
        const u32 source = (from_flags ? warp.flags[lane] : warp.predicates[lane]) & selected;
        const u32 base = raw(warp, a, lane);
        warp.set(d.reg, lane, (base & ~((raw(warp, b, lane) & 0xff) << shift)) | source << shift);
    });
}

void r2p(Warp& warp, const Instruction& in, u32 mask) {
    const Operand a = in.operand(Slot::A), b = in.operand(Slot::B);
    const bool to_flags = in.has(Modifier::ToConditionCode);
    for_lanes(mask, [&](unsigned lane) {
        const u32 selected = raw(warp, b, lane) & (to_flags ? 0xfu : 0x7fu);
        const u32 source = part_of(raw(warp, a, lane), a.part, false);
        u8& target = to_flags ? warp.flags[lane] : warp.predicates[lane];
        target = static_cast<u8>((target & ~selected) | (source & selected));
    });
}

} // namespace

std::span<const Row> move_rows() {
    static constexpr Row rows[] = {
        {Opcode::MOV, mov},     {Opcode::MOV32I, mov}, {Opcode::SEL, sel},
        {Opcode::PSETP, psetp}, {Opcode::P2R, p2r},    {Opcode::R2P, r2p},
    };
    return rows;
}

} // namespace heaviside::interpreter
