// Moves, selections, predicates, special registers.
#include "interpreter/warp.h"

namespace heaviside::interpreter {
namespace {

using maxwell::BoolOp;

void mov(Warp& warp, const Instruction& in, u32 mask) {
    const Operand d = in.operand(Slot::D), b = in.operand(in.has(Slot::B) ? Slot::B : Slot::I);
    for_lanes(mask, [&](unsigned lane) { warp.set(d.reg, lane, raw(warp, b, lane)); });
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

// SR numbers whose values do not depend on the machine's timing.
void s2r(Warp& warp, const Instruction& in, u32 mask) {
    const Operand d = in.operand(Slot::D);
    const u64 number =
        in.operand(Slot::A).kind == OperandKind::SystemRegister ? in.operand(Slot::A).value : in.operand(Slot::I).value;
    const auto& block = warp.workgroup->launch->block;
    const auto& group = warp.workgroup->id;
    const std::string name = maxwell::system_register_name(static_cast<unsigned>(number));
    for_lanes(mask, [&](unsigned lane) {
        const u32 thread = warp.first_thread + lane;
        const u32 x = thread % block[0], y = thread / block[0] % block[1], z = thread / block[0] / block[1];
        u32 value = 0;
        if (const auto own = stage_register(warp, static_cast<u32>(number), lane))
            value = *own;
        else if (name == "SR_LANEID")
            value = lane;
        else if (name == "SR_TID")
            value = x | y << 16 | z << 26;
        else if (name == "SR_TID.X")
            value = x;
        else if (name == "SR_TID.Y")
            value = y;
        else if (name == "SR_TID.Z")
            value = z;
        else if (name == "SR_CTAID.X")
            value = group[0];
        else if (name == "SR_CTAID.Y")
            value = group[1];
        else if (name == "SR_CTAID.Z")
            value = group[2];
        else if (name == "SR_EQMASK")
            value = 1u << lane;
        else if (name == "SR_LTMASK")
            value = (1u << lane) - 1;
        else if (name == "SR_LEMASK")
            value = (2u << lane) - 1;
        else if (name == "SR_GTMASK")
            value = ~((2u << lane) - 1);
        else if (name == "SR_GEMASK")
            value = ~((1u << lane) - 1);
        else
            warp.fault = name + " is not built";
        warp.set(d.reg, lane, value);
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
        {Opcode::MOV, mov}, {Opcode::MOV32I, mov}, {Opcode::SEL, sel}, {Opcode::PSETP, psetp},
        {Opcode::S2R, s2r}, {Opcode::P2R, p2r},    {Opcode::R2P, r2p},
    };
    return rows;
}

} // namespace heaviside::interpreter
