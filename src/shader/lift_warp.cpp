// Threads of a warp and a group, system registers, and instructions that do nothing here.
#include "shader/lift_context.h"

namespace heaviside::shader::lifting {
namespace {

using ir::Special;
using program::Stage;

void vote(Lifter& l, const Instruction& i) {
    if (!i.has(Slot::S))
        return; // VOTE.VTG tells the clipper about whole primitives: nothing that a program can see
    const Value source = l.predicate(i, Slot::S);
    const u8 p = i.operand(Slot::P).reg, d = i.operand(Slot::D).reg;
    // lanes whose guard fails come by all the same, without a vote
    const Value yes = l.guard.valid() ? l.band(l.guard, source) : source;
    const auto any = [&] { return l.b.op(Op::VoteAny, {yes}); };
    const auto all = [&] { return l.b.op(Op::VoteAll, {l.guard.valid() ? l.bor(l.bnot(l.guard), source) : source}); };
    Value voted, ballot;
    if (p != maxwell::true_predicate)
        switch (i.get<maxwell::VoteMode>()) {
        case maxwell::VoteMode::All:
            voted = all();
            break;
        case maxwell::VoteMode::Any:
            voted = any();
            break;
        default:
            voted = l.guard.valid() ? l.bor(all(), l.bnot(any())) : l.b.op(Op::VoteEqual, {source});
        }
    if (d != maxwell::zero_register)
        ballot = l.b.op(Op::Ballot, {yes});
    if (voted.valid())
        l.set_pred(p, voted);
    if (ballot.valid())
        l.set_reg(d, ballot);
}

void shfl(Lifter& l, const Instruction& i) {
    const Value value = l.reg(i.operand(Slot::A).reg), lane = l.word(i, Slot::B), mask = l.word(i, Slot::C);
    const u32 mode = static_cast<u32>(i.get<maxwell::ShuffleMode>()); // the IR has the same numbers
    const u8 p = i.operand(Slot::P).reg;
    const Value shuffled = l.b.op(Op::Shuffle, {value, lane, mask}, mode);
    const Value valid = p == maxwell::true_predicate ? Value{} : l.b.op(Op::ShuffleValid, {lane, mask}, mode);
    l.result(i, shuffled);
    if (valid.valid())
        l.set_pred(p, valid);
}

// SPIR-V has one barrier, which waits for the whole workgroup. It stands for each of the sixteen, for those of a part
// of the workgroup and for arrivals too: that is stricter than the machine, and ends as long as all warps pass equally
// many.
void bar(Lifter& l, const Instruction& i) {
    switch (i.get<maxwell::BarrierMode>()) {
    case maxwell::BarrierMode::Sync:
    case maxwell::BarrierMode::SyncAll:
    case maxwell::BarrierMode::Arrive:
        l.b.op(Op::Barrier);
        return;
    case maxwell::BarrierMode::Reduce: {
        const auto operation = i.get<maxwell::BarrierReduction>(); // the IR has the same numbers
        const Value reduced = l.b.op(Op::BarrierReduce, {l.predicate(i, Slot::S)}, static_cast<u32>(operation));
        const bool count = operation == maxwell::BarrierReduction::PopCount;
        l.b.set_register(scratch::barrier_result, count ? reduced : l.and_mask(reduced, 1));
        return;
    }
    case maxwell::BarrierMode::Scan:
        break;
    }
    l.unsupported("scanning barrier: nothing is known of what it gives");
}

// What the last BAR.RED gave, as a number and as a predicate. The state of a barrier, which B2R without RESULT reads,
// is the scheduler's: 0 (ledger row GFX-177).
void b2r(Lifter& l, const Instruction& i) {
    const Value result = i.has(Slot::I) ? l.b.word(0) : l.b.get_register(scratch::barrier_result);
    l.result(i, result);
    if (i.has(Slot::P))
        l.set_pred(i.operand(Slot::P).reg, l.bnot(l.is_zero(result)));
}

struct SystemRegister {
    u8 number;
    Special special;
};

constexpr SystemRegister system_registers[] = {
    {0x00, Special::LaneId},   {0x11, Special::InvocationId}, {0x12, Special::YDirection}, {0x21, Special::TidX},
    {0x22, Special::TidY},     {0x23, Special::TidZ},         {0x25, Special::CtaidX},     {0x26, Special::CtaidY},
    {0x27, Special::CtaidZ},   {0x38, Special::EqMask},       {0x39, Special::LtMask},     {0x3a, Special::LeMask},
    {0x3b, Special::GtMask},   {0x3c, Special::GeMask},       {0x50, Special::ClockLow},   {0x51, Special::ClockHigh},
    {0x01, Special::ClockLow}, {0x52, Special::ClockLow},     {0x53, Special::ClockHigh}, // CLOCK, GLOBALTIMER
};

Value special(Lifter& l, Special which) {
    return l.b.op(Op::ReadSpecial, {}, static_cast<u32>(which));
}

// x + width * (y + height * z)
Value numbered(Lifter& l, Special x, Special y, Special z, Special width, Special height) {
    const auto row = [&](Special inner, Special count, Value outer) {
        return l.b.op(Op::IAdd, {special(l, inner), l.b.op(Op::IMul, {special(l, count), outer})});
    };
    return row(x, width, row(y, height, special(l, z)));
}

// Kernels: where generic addresses mean shared (0) or local (1) memory; a window of address 0 is none.
Value window_register(Lifter& l, u32 window, bool size) {
    if (!l.program.control.empty() || l.program.stage != Stage::Compute)
        return l.b.word(0);
    const Value base = l.bank_word(0, l.b.word(4 * window));
    return size ? l.select(l.is_zero(base), l.b.word(0), l.b.word(1 << 24)) : base;
}

// Registers that are more than one word of the IR, or a constant.
Value composed_register(Lifter& l, u32 number) {
    switch (number) {
    case 0x10: // PRIM_TYPE: vertices of the input primitive or patch in byte 1
        return l.shift_left(special(l, Special::PatchVertices), 8);
    case 0x13: // THREAD_KILL
        return l.b.op(Op::BoolToMask, {l.b.op(Op::IsHelper)});
    case 0x1d: // INVOCATION_INFO: vertices of the primitive in the upper half; see isberd for the lower one
        return l.shift_left(special(l, Special::PatchVertices), 16);
    case 0x1e: // WSCALEFACTOR_XY
    case 0x1f: // WSCALEFACTOR_Z
        return l.b.float_word(1.0f);
    case 0x20: // TID: x in 16, y in 10, z in 6 bits
        return l.b.op(Op::Or,
                      {special(l, Special::TidX), l.b.op(Op::Or, {l.shift_left(special(l, Special::TidY), 16),
                                                                  l.shift_left(special(l, Special::TidZ), 26)})});
    case 0x28: // NTID, packed likewise
        return l.b.op(Op::Or,
                      {special(l, Special::NtidX), l.b.op(Op::Or, {l.shift_left(special(l, Special::NtidY), 16),
                                                                   l.shift_left(special(l, Special::NtidZ), 26)})});
    case 0x03: // VIRTID: the warp
        if (l.program.stage != Stage::Compute)
            return {};
        return l.b.op(
            Op::ShiftRightU,
            {numbered(l, Special::TidX, Special::TidY, Special::TidZ, Special::NtidX, Special::NtidY), l.b.word(5)});
    case 0x0f: // ORDERING_TICKET: the workgroup
        if (l.program.stage != Stage::Compute)
            return {};
        return numbered(l, Special::CtaidX, Special::CtaidY, Special::CtaidZ, Special::NctaidX, Special::NctaidY);
    case 0x2c: // SM_SPA_VERSION: 5.3
        return l.b.word(0x503);
    case 0x30: // SWINLO, SWINSZ, SMEMSZ, SMEMBANKS
    case 0x31:
        return window_register(l, 0, number == 0x31);
    case 0x32:
        return l.b.word(l.program.shared_bytes);
    case 0x33:
        return l.b.word(32);
    case 0x34: // LWINLO, LWINSZ, LMEMLOSZ
    case 0x35:
        return window_register(l, 1, number == 0x35);
    case 0x36:
        return l.b.word(l.program.local_bytes);
    default:
        return {};
    }
}

// Facts about the machine itself that code for another one may read but not need: 0.
constexpr u8 idle_registers[] = {0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08, 0x09, 0x0f, 0x14, 0x18,
                                 0x19, 0x1a, 0x1b, 0x1c, 0x29, 0x2a, 0x2d, 0x2e, 0x2f, 0x37, 0x3d,
                                 0x3e, 0x3f, 0x40, 0x42, 0x44, 0x48, 0x49, 0x4a, 0x4b};

void s2r(Lifter& l, const Instruction& i) {
    const u32 number = static_cast<u32>(i.operand(Slot::A).value);
    for (const SystemRegister& row : system_registers)
        if (row.number == number)
            return l.result(i, special(l, row.special));
    if (const Value value = composed_register(l, number); value.valid())
        return l.result(i, value);
    for (const u8 idle : idle_registers)
        if (idle == number)
            return l.result(i, special(l, Special::Zero));
    l.unsupported("system register");
}

// Demotes the threads for which the guard and the test hold.
void kil(Lifter& l, const Instruction& i) {
    if (l.program.stage != Stage::Fragment)
        return l.unsupported("outside a fragment program");
    const auto test = i.get<maxwell::Test>();
    if (test == maxwell::Test::False)
        return;
    if (test == maxwell::Test::True) {
        l.b.op(Op::Demote);
        return;
    }
    const Value condition = l.test(test);
    const ir::BlockId body = l.b.new_block(i.address()), after = l.b.new_block();
    l.b.branch_if(condition, body, after);
    l.b.set_block(body);
    l.b.op(Op::Demote);
    l.b.branch(after);
    l.b.set_block(after);
}

void lepc(Lifter& l, const Instruction& i) {
    l.result(i, l.b.word(i.address()));
}

// The number of calls on the branch stack, which is known where a block begins (lift.cpp).
void getcrsptr(Lifter& l, const Instruction& i) {
    l.result(i, l.b.get_register(scratch::call_stack));
}
void setcrsptr(Lifter& l, const Instruction&) {
    l.unsupported("leaving as many calls as a register says");
}
void pret(Lifter& l, const Instruction&) {
    l.b.set_register(scratch::call_stack, l.b.op(Op::IAdd, {l.b.get_register(scratch::call_stack), l.b.word(1)}));
}
void getlmembase(Lifter& l, const Instruction& i) {
    l.result(i, l.b.get_register(scratch::local_base));
}
void setlmembase(Lifter& l, const Instruction& i) {
    l.b.set_register(scratch::local_base, l.word(i, Slot::A));
}

// The scheduler's and the debugger's business. SAM and RAM make all threads of a quad active for a while: helper
// invocations do that here.
void nothing(Lifter&, const Instruction&) {}

constexpr LiftRow rows[] = {
    {Opcode::VOTE, vote},
    {Opcode::SHFL, shfl},
    {Opcode::BAR, bar, Guarded::Branch},
    {Opcode::B2R, b2r},
    {Opcode::S2R, s2r},
    {Opcode::CS2R, s2r},
    {Opcode::KIL, kil, Guarded::Branch},
    {Opcode::LEPC, lepc},
    {Opcode::GETCRSPTR, getcrsptr},
    {Opcode::SETCRSPTR, setcrsptr, Guarded::Branch},
    {Opcode::GETLMEMBASE, getlmembase},
    {Opcode::SETLMEMBASE, setlmembase, Guarded::Branch},
    {Opcode::R2B, nothing},
    {Opcode::DEPBAR, nothing},
    {Opcode::NOP, nothing},
    {Opcode::SAM, nothing},
    {Opcode::RAM, nothing},
    {Opcode::IDE, nothing},
    {Opcode::STP, nothing},
    {Opcode::BPT, nothing},
    {Opcode::SSY, nothing},
    {Opcode::PBK, nothing},
    {Opcode::PCNT, nothing},
    {Opcode::PRET, pret},
    {Opcode::PLONGJMP, nothing},
    {Opcode::PEXIT, nothing},
};

} // namespace

std::span<const LiftRow> lift_warp_rows() {
    return rows;
}

} // namespace heaviside::shader::lifting
