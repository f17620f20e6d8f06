// System registers, and instructions that concern the scheduler, the caches or a debugger.
#include "interpreter/warp.h"

#include <algorithm>

namespace heaviside::interpreter {
namespace {

// Numbers of system registers (maxwell::system_register_name). Those that are missing here tell of the chip's own
// business (performance counters, error states, queues) and read 0.
namespace sr {
enum : u32 {
    lane_id = 0,
    clock = 1,
    virtual_id = 3,
    ordering_ticket = 15,
    tid = 32,
    tid_x = 33,
    tid_y = 34,
    tid_z = 35,
    ctaid_x = 37,
    ctaid_y = 38,
    ctaid_z = 39,
    ntid = 40,
    version = 44,
    shared_window_low = 48,
    shared_window_size = 49,
    shared_size = 50,
    shared_banks = 51,
    local_window_low = 52,
    local_window_size = 53,
    local_size = 54,
    equal_mask = 56,
    less_mask = 57,
    less_equal_mask = 58,
    greater_mask = 59,
    greater_equal_mask = 60,
    clock_low = 80,
    clock_high = 81,
    timer_low = 82,
    timer_high = 83,
};
}

constexpr u32 window_size = 1 << 24;
constexpr u32 chip_version = 0x503; // SM 5.3

u32 packed(u32 x, u32 y, u32 z) {
    return x | y << 16 | z << 26;
}

u32 system_register(const Warp& warp, u32 number, unsigned lane) {
    const Launch& launch = *warp.workgroup->launch;
    const auto& block = launch.block;
    const auto& group = warp.workgroup->id;
    const u32 thread = warp.first_thread + lane;
    const u32 x = thread % block[0], y = thread / block[0] % block[1], z = thread / block[0] / block[1];
    switch (number) {
    case sr::lane_id:
        return lane;
    case sr::tid:
        return packed(x, y, z);
    case sr::tid_x:
        return x;
    case sr::tid_y:
        return y;
    case sr::tid_z:
        return z;
    case sr::ctaid_x:
        return group[0];
    case sr::ctaid_y:
        return group[1];
    case sr::ctaid_z:
        return group[2];
    case sr::ntid:
        return packed(block[0], block[1], block[2]);
    case sr::equal_mask:
        return 1u << lane;
    case sr::less_mask:
        return (1u << lane) - 1;
    case sr::less_equal_mask:
        return (2u << lane) - 1;
    case sr::greater_mask:
        return ~((2u << lane) - 1);
    case sr::greater_equal_mask:
        return ~((1u << lane) - 1);
    case sr::clock: // time is instructions of this warp: it grows, and a run repeats
    case sr::clock_low:
    case sr::timer_low:
        return static_cast<u32>(warp.steps);
    case sr::clock_high:
    case sr::timer_high:
        return static_cast<u32>(warp.steps >> 32);
    case sr::virtual_id:
        return warp.first_thread / warp_size;
    case sr::ordering_ticket:
        return group[0] + launch.grid[0] * (group[1] + launch.grid[1] * group[2]);
    case sr::version:
        return chip_version;
    case sr::shared_window_low:
        return launch.shared_window;
    case sr::local_window_low:
        return launch.local_window;
    case sr::shared_window_size:
        return launch.shared_window != 0 ? window_size : 0;
    case sr::local_window_size:
        return launch.local_window != 0 ? window_size : 0;
    case sr::shared_size:
        return launch.shared_bytes;
    case sr::local_size:
        return launch.local_bytes;
    case sr::shared_banks:
        return 32;
    default:
        return 0;
    }
}

void s2r(Warp& warp, const Instruction& in, u32 mask) {
    const Operand d = in.operand(Slot::D);
    const auto number = static_cast<u32>(in.operand(Slot::A).value);
    for_lanes(mask, [&](unsigned lane) {
        const auto own = stage_register(warp, number, lane);
        warp.set(d.reg, lane, own ? *own : system_register(warp, number, lane));
    });
}

void lepc(Warp& warp, const Instruction& in, u32 mask) {
    const Operand d = in.operand(Slot::D);
    for_lanes(mask, [&](unsigned lane) { warp.set(d.reg, lane, in.address()); });
}

// The stack pointer is the number of calls (ledger row GFX-177).
auto is_call(const Token& token) {
    return token.kind == TokenKind::Call;
}

void getcrsptr(Warp& warp, const Instruction& in, u32 mask) {
    const auto depth = static_cast<u32>(std::ranges::count_if(warp.stack, is_call));
    for_lanes(mask, [&](unsigned lane) { warp.set(in.operand(Slot::D).reg, lane, depth); });
}

void setcrsptr(Warp& warp, const Instruction& in, u32 mask) {
    const u32 wanted = warp.get(in.operand(Slot::A).reg, static_cast<unsigned>(std::countr_zero(mask)));
    auto depth = static_cast<u32>(std::ranges::count_if(warp.stack, is_call));
    if (wanted > depth) {
        warp.fault = fmt::format("{} calls are on the branch stack, not {}", depth, wanted);
        return;
    }
    for (; depth > wanted; warp.stack.pop_back())
        depth -= is_call(warp.stack.back());
}

void getlmembase(Warp& warp, const Instruction& in, u32 mask) {
    for_lanes(mask, [&](unsigned lane) { warp.set(in.operand(Slot::D).reg, lane, warp.local_memory_base); });
}

void setlmembase(Warp& warp, const Instruction& in, u32 mask) {
    warp.local_memory_base = warp.get(in.operand(Slot::A).reg, static_cast<unsigned>(std::countr_zero(mask)));
}

void bpt(Warp& warp, const Instruction& in, u32 /*mask*/) {
    if (in.get<maxwell::BreakpointKind>() == maxwell::BreakpointKind::Trap)
        warp.fault = "the program traps";
}

void nothing(Warp&, const Instruction&, u32) {}

} // namespace

std::span<const Row> system_rows() {
    static constexpr Row rows[] = {
        {Opcode::S2R, s2r},
        {Opcode::CS2R, s2r},
        {Opcode::LEPC, lepc},
        {Opcode::GETCRSPTR, getcrsptr},
        {Opcode::SETCRSPTR, setcrsptr},
        {Opcode::GETLMEMBASE, getlmembase},
        {Opcode::SETLMEMBASE, setlmembase},
        {Opcode::BPT, bpt},
        {Opcode::NOP, nothing},
        {Opcode::DEPBAR, nothing}, // scoreboards: results are there at once
        {Opcode::MEMBAR, nothing}, // all see writes in one order
        {Opcode::CCTL, nothing},   // there are no caches
        {Opcode::CCTLL, nothing},
        {Opcode::CCTLT, nothing},
        {Opcode::IDE, nothing}, // no interrupts
        {Opcode::STP, nothing},
        {Opcode::R2B, nothing}, // restores barriers after a context switch
        {Opcode::SAM, nothing}, // helper pixels always run
        {Opcode::RAM, nothing},
    };
    return rows;
}

} // namespace heaviside::interpreter
