// Barriers of a workgroup. Facts: the PTX manual's bar instructions (16 barriers, whole warps are counted, the threads
// to wait for are a multiple of the warp size) and the code that the vendor's compiler makes for them.
#include "interpreter/warp.h"

namespace heaviside::interpreter {
namespace {

using maxwell::BarrierMode;
using maxwell::BarrierReduction;

u32 reduced(BarrierReduction op, const Barrier& barrier) {
    switch (op) {
    case BarrierReduction::PopCount:
        return barrier.count;
    case BarrierReduction::And:
        return barrier.count == barrier.reducing;
    case BarrierReduction::Or:
        break;
    }
    return barrier.count != 0;
}

void bar(Warp& warp, const Instruction& in, u32 mask) {
    const auto mode = in.get<BarrierMode>();
    if (mode == BarrierMode::Scan) {
        warp.fault = "nothing is known of what a scanning barrier gives";
        return;
    }
    const auto first = static_cast<unsigned>(std::countr_zero(mask));
    const u32 index = raw(warp, in.operand(Slot::A), first), threads = raw(warp, in.operand(Slot::C), first);
    if (index >= barrier_count || threads % warp_size != 0 || threads > 1024) {
        warp.fault = fmt::format("barrier {} for {} threads: there are {} barriers, and threads come in warps of {}",
                                 index, threads, barrier_count, warp_size);
        return;
    }
    Workgroup& workgroup = *warp.workgroup;
    Barrier& barrier = workgroup.barriers[index];
    if (barrier.arrived != 0 && barrier.threads != threads) {
        warp.fault =
            fmt::format("barrier {} for {} threads, which others pass with {}", index, threads, barrier.threads);
        return;
    }
    barrier.threads = threads;
    ++barrier.arrived;
    if (mode != BarrierMode::Arrive)
        warp.waits_at = static_cast<u8>(index);
    if (mode == BarrierMode::Reduce) {
        const Operand s = in.operand(Slot::S);
        for_lanes(mask, [&](unsigned lane) { barrier.count += warp.predicate(s, lane); });
        barrier.reducing += static_cast<u32>(std::popcount(mask));
        // The last to arrive leaves the right result with all that wait.
        const u32 result = reduced(in.get<BarrierReduction>(), barrier);
        for (Warp& each : workgroup.warps)
            if (each.waits_at == index)
                each.barrier_result = result;
    }
    workgroup.open_barriers();
}

// B2R.RESULT reads what the last BAR.RED gave. The state of a barrier, which B2R without it reads, is the scheduler's:
// 0 (ledger row GFX-177).
void b2r(Warp& warp, const Instruction& in, u32 mask) {
    const Operand d = in.operand(Slot::D), p = in.operand(Slot::P);
    const u32 value = in.has(Slot::I) ? 0 : warp.barrier_result;
    for_lanes(mask, [&](unsigned lane) {
        warp.set(d.reg, lane, value);
        warp.set_predicate(p, lane, value != 0);
    });
}

} // namespace

std::span<const Row> barrier_rows() {
    static constexpr Row rows[] = {{Opcode::BAR, bar}, {Opcode::B2R, b2r}};
    return rows;
}

} // namespace heaviside::interpreter
