// What lanes tell each other: votes and shuffles.
#include "interpreter/warp.h"

namespace heaviside::interpreter {
namespace {

using maxwell::ShuffleMode;
using maxwell::VoteMode;

// Lanes that are not active, or whose guard fails, have no vote; their bits of the ballot are 0.
void vote(Warp& warp, const Instruction& in, u32 mask) {
    if (!in.has(Slot::S))
        return; // VOTE.VTG tells the clipper about whole primitives: nothing that a program can see
    const Operand d = in.operand(Slot::D), p = in.operand(Slot::P), s = in.operand(Slot::S);
    u32 ballot = 0;
    for_lanes(mask, [&](unsigned lane) { ballot |= u32{warp.predicate(s, lane)} << lane; });
    const bool all = ballot == mask, any = ballot != 0;
    const auto mode = in.get<VoteMode>();
    const bool result = mode == VoteMode::All ? all : mode == VoteMode::Any ? any : all || !any;
    for_lanes(mask, [&](unsigned lane) {
        warp.set(d.reg, lane, ballot);
        warp.set_predicate(p, lane, result);
    });
}

// The PTX manual's rules for shfl: C holds the clamp in its low five bits and the mask of segments from bit 8 on. A
// lane whose source lies outside its segment keeps its own value. Lanes that are not active still have their registers.
void shfl(Warp& warp, const Instruction& in, u32 mask) {
    const Operand d = in.operand(Slot::D), p = in.operand(Slot::P), a = in.operand(Slot::A), b = in.operand(Slot::B),
                  c = in.operand(Slot::C);
    const auto mode = in.get<ShuffleMode>();
    std::array<u32, warp_size> values;
    for (unsigned lane = 0; lane < warp_size; ++lane)
        values[lane] = raw(warp, a, lane);
    u32 within = 0;
    std::array<u32, warp_size> results{};
    for_lanes(mask, [&](unsigned lane) {
        const u32 distance = raw(warp, b, lane) & 31, limits = raw(warp, c, lane);
        const u32 clamp = limits & 31, segment = limits >> 8 & 31;
        const u32 last = (lane & segment) | (clamp & ~segment);
        u32 source = lane;
        bool valid = false;
        switch (mode) {
        case ShuffleMode::Index:
            source = (lane & segment) | (distance & ~segment);
            valid = source <= last;
            break;
        case ShuffleMode::Up:
            source = lane - distance;
            valid = static_cast<i32>(source) >= static_cast<i32>(last);
            break;
        case ShuffleMode::Down:
            source = lane + distance;
            valid = source <= last;
            break;
        case ShuffleMode::Butterfly:
            source = lane ^ distance;
            valid = source <= last;
            break;
        }
        results[lane] = values[valid ? source : lane];
        within |= u32{valid} << lane;
    });
    for_lanes(mask, [&](unsigned lane) {
        warp.set(d.reg, lane, results[lane]);
        warp.set_predicate(p, lane, (within >> lane & 1) != 0);
    });
}

} // namespace

std::span<const Row> lane_rows() {
    static constexpr Row rows[] = {{Opcode::VOTE, vote}, {Opcode::SHFL, shfl}};
    return rows;
}

} // namespace heaviside::interpreter
