#include "interpreter/machine.h"

#include "interpreter/warp.h"

#include <algorithm>

namespace heaviside::interpreter {
namespace {

struct Decoded {
    std::optional<Instruction> instruction;
    Execute execute = nullptr;
};

// Instruction words by index: word i lies at i * 8; control words stay empty.
std::vector<Decoded> decode_all(Bytes code) {
    std::vector<Decoded> words(code.size() / 8);
    for (u32 i = 0; i < words.size(); ++i) {
        if (i % 4 == 0)
            continue;
        const u64 word = *read_at<u64>(code, u64{i} * 8);
        words[i].instruction = maxwell::decode(word, i * 8);
        if (words[i].instruction)
            words[i].execute = execute_of(words[i].instruction->opcode());
    }
    return words;
}

// When no lane is active: the lanes of the topmost token that has any left go on. False: the warp is done.
bool resume(Warp& warp) {
    while (warp.active == 0 && !warp.stack.empty()) {
        const Token token = warp.stack.back();
        warp.stack.pop_back();
        warp.active = token.mask & ~warp.exited;
        warp.pc = token.pc;
    }
    return warp.active != 0;
}

u32 guarded_lanes(const Warp& warp, const Instruction& instruction) {
    const maxwell::Guard guard = instruction.guard();
    if (guard.always())
        return warp.active;
    u32 mask = 0;
    for_lanes(warp.active, [&](unsigned lane) {
        mask |= u32{((warp.predicates[lane] >> guard.predicate & 1) != 0) != guard.negated} << lane;
    });
    return mask;
}

Error fault_at(const Warp& warp, u32 pc, const std::string& what) {
    const auto& id = warp.workgroup->id;
    return Error{fmt::format("workgroup {} {} {}, thread {}, address {:#x}: {}", id[0], id[1], id[2],
                             warp.first_thread + static_cast<u32>(std::countr_zero(warp.active | 1u << 31)), pc, what)};
}

// Runs until the warp waits at a barrier or is done.
Result<void> run_warp(Warp& warp, std::span<const Decoded> words) {
    while (!warp.at_barrier && resume(warp)) {
        if (warp.pc % 32 == 0)
            warp.pc += 8; // branches may name the control word
        const u32 pc = warp.pc;
        if (pc % 8 != 0 || pc / 8 >= words.size())
            return tl::unexpected(fault_at(warp, pc, "execution leaves the code"));
        if (++warp.steps > warp.workgroup->launch->step_limit)
            return tl::unexpected(fault_at(warp, pc, "the program does not end within the step limit"));
        const Decoded& word = words[pc / 8];
        if (!word.instruction)
            return tl::unexpected(fault_at(warp, pc, "no instruction"));
        warp.next_pc = pc + 8;
        warp.pc = warp.next_pc;
        const u32 mask = guarded_lanes(warp, *word.instruction);
        if (mask == 0)
            continue;
        if (!word.execute)
            return tl::unexpected(fault_at(warp, pc, "not built: " + maxwell::disassemble(*word.instruction)));
        word.execute(warp, *word.instruction, mask);
        if (!warp.fault.empty())
            return tl::unexpected(fault_at(warp, pc, warp.fault + ": " + maxwell::disassemble(*word.instruction)));
    }
    return {};
}

std::vector<Warp> make_warps(Workgroup& workgroup) {
    const auto& block = workgroup.launch->block;
    const u32 threads = block[0] * block[1] * block[2];
    std::vector<Warp> warps((threads + warp_size - 1) / warp_size);
    for (u32 i = 0; i < warps.size(); ++i) {
        Warp& warp = warps[i];
        warp.workgroup = &workgroup;
        warp.first_thread = i * warp_size;
        const u32 lanes = std::min(warp_size, threads - warp.first_thread);
        warp.active = lanes == warp_size ? ~0u : (1u << lanes) - 1;
        warp.predicates.fill(1u << maxwell::true_predicate);
        warp.local.resize(std::size_t{workgroup.launch->local_bytes} * warp_size);
    }
    return warps;
}

// Warps run in turn, each to its next barrier; a barrier opens when every warp that is left waits at it.
Result<void> run_workgroup(std::vector<Warp>& warps, std::span<const Decoded> words) {
    for (;;) {
        bool waiting = false;
        for (Warp& warp : warps) {
            if (auto result = run_warp(warp, words); !result)
                return result;
            waiting |= warp.at_barrier;
        }
        if (!waiting)
            return {};
        for (Warp& warp : warps)
            warp.at_barrier = false;
    }
}

Result<void> check(const Launch& launch) {
    const u64 threads = u64{launch.block[0]} * launch.block[1] * launch.block[2];
    if (threads == 0 || threads > 1024 || launch.block[0] > 1024 || launch.block[1] > 1024)
        return fail("a workgroup of {} x {} x {} threads", launch.block[0], launch.block[1], launch.block[2]);
    if (launch.shared_bytes > 48 * 1024 || launch.local_bytes > 512 * 1024)
        return fail("{} bytes of shared and {} of local memory", launch.shared_bytes, launch.local_bytes);
    return {};
}

} // namespace

Result<void> run(const Launch& launch) {
    if (auto valid = check(launch); !valid)
        return valid;
    const auto words = decode_all(launch.code);
    for (u32 z = 0; z < launch.grid[2]; ++z)
        for (u32 y = 0; y < launch.grid[1]; ++y)
            for (u32 x = 0; x < launch.grid[0]; ++x) {
                Workgroup workgroup{&launch, {x, y, z}, std::vector<std::byte>(launch.shared_bytes)};
                auto warps = make_warps(workgroup);
                if (launch.stage)
                    begin_stage(*launch.stage, warps[0]);
                if (auto result = run_workgroup(warps, words); !result)
                    return result;
                if (launch.stage)
                    end_stage(*launch.stage, warps[0]);
            }
    return {};
}

Result<ThreadState> run_thread(const Launch& launch) {
    Launch single = launch;
    single.grid = single.block = {1, 1, 1};
    if (auto valid = check(single); !valid)
        return tl::unexpected(valid.error());
    const auto words = decode_all(single.code);
    Workgroup workgroup{&single, {}, std::vector<std::byte>(single.shared_bytes)};
    auto warps = make_warps(workgroup);
    if (auto result = run_workgroup(warps, words); !result)
        return tl::unexpected(result.error());
    ThreadState state;
    for (std::size_t i = 0; i < state.registers.size(); ++i)
        state.registers[i] = warps[0].get(static_cast<u8>(i), 0);
    state.predicates = warps[0].predicates[0] & 0x7f;
    return state;
}

} // namespace heaviside::interpreter
