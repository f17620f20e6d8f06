#include "interpreter/machine.h"

#include "interpreter/warp.h"

#include <algorithm>
#include <deque>
#include <memory>

namespace heaviside::interpreter {
namespace {

struct Decoded {
    std::optional<Instruction> instruction;
    Execute execute = nullptr;
    maxwell::Guard guard;
};

// Instruction words by index: word i lies at i * 8; control words stay empty.
std::vector<Decoded> decode_all(Bytes code) {
    std::vector<Decoded> words(code.size() / 8);
    for (u32 i = 0; i < words.size(); ++i) {
        if (i % 4 == 0)
            continue;
        Decoded& decoded = words[i];
        decoded.instruction = maxwell::decode(*read_at<u64>(code, u64{i} * 8), i * 8);
        if (!decoded.instruction)
            continue;
        decoded.execute = execute_of(decoded.instruction->opcode());
        decoded.guard = decoded.instruction->guard();
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

u32 guarded_lanes(const Warp& warp, maxwell::Guard guard) {
    if (guard.always())
        return warp.active;
    u32 mask = 0;
    for (unsigned lane = 0; lane < warp_size; ++lane)
        mask |= (u32{warp.predicates[lane]} >> guard.predicate & 1) << lane;
    return (guard.negated ? ~mask : mask) & warp.active;
}

tl::unexpected<Error> fault_at(const Warp& warp, u32 pc, u32 mask, const std::string& what) {
    const auto& id = warp.workgroup->id;
    const unsigned first = mask == 0 ? 0 : static_cast<unsigned>(std::countr_zero(mask));
    return fail("workgroup {} {} {}, warp {}, lane {}, address {:#x}: {}", id[0], id[1], id[2],
                warp.first_thread / warp_size, warp.fault_lane < warp_size ? warp.fault_lane : first, pc, what);
}

// Runs until the warp waits at a barrier, is done, or has had its turn. True: it is done.
Result<bool> run_warp(Warp& warp, std::span<const Decoded> words, u64 turn) {
    const Launch& launch = *warp.workgroup->launch;
    Observer* const observer = launch.observer;
    for (; turn != 0 && warp.waits_at == no_barrier; --turn) {
        if (warp.active == 0 && !resume(warp))
            return true;
        if (warp.pc % 32 == 0)
            warp.pc += 8; // branches may name the control word
        const u32 pc = warp.pc;
        if (pc % 8 != 0 || pc / 8 >= words.size())
            return fault_at(warp, pc, warp.active, "execution leaves the code");
        if (++warp.steps > launch.step_limit)
            return fault_at(warp, pc, warp.active, "the program does not end within the step limit");
        const Decoded& word = words[pc / 8];
        if (!word.instruction)
            return fault_at(warp, pc, warp.active,
                            fmt::format("{:016x} is no instruction", read_at<u64>(launch.code, pc).value_or(0)));
        warp.next_pc = pc + 8;
        const u32 mask = guarded_lanes(warp, word.guard);
        if (observer && !observer->before(warp, *word.instruction, mask))
            return fault_at(warp, pc, mask, "stopped");
        warp.pc = warp.next_pc;
        if (mask != 0) {
            if (!word.execute)
                return fault_at(warp, pc, mask, "not built: " + maxwell::disassemble(*word.instruction));
            word.execute(warp, *word.instruction, mask);
            if (!warp.fault.empty())
                return fault_at(warp, pc, mask, warp.fault + ": " + maxwell::disassemble(*word.instruction));
        }
        if (observer)
            observer->after(warp, *word.instruction, mask);
    }
    return warp.active == 0 && !resume(warp);
}

// What runs at once: the warps that the console's two multiprocessors hold.
constexpr std::size_t resident_warps = 2 * 64;
// Instructions of a warp before the next one has its turn.
constexpr u64 turn_length = 512;

class Machine {
public:
    explicit Machine(const Launch& launch) : launch_(launch), words_(decode_all(launch.code)) {}

    Result<void> run() {
        const u64 total = u64{launch_.grid[0]} * launch_.grid[1] * launch_.grid[2];
        std::deque<std::unique_ptr<Workgroup>> resident;
        for (u64 next = 0; next < total || !resident.empty();) {
            while (next < total && (resident.empty() || (resident.size() + 1) * warps_of_group() <= resident_warps))
                resident.push_back(start(next++));
            std::unique_ptr<Workgroup> group = std::move(resident.front());
            resident.pop_front();
            if (auto done = turn(*group); !done)
                return tl::unexpected(done.error());
            if (group->warps_left != 0)
                resident.push_back(std::move(group));
            else
                finish(std::move(group));
        }
        return {};
    }

    [[nodiscard]] const Workgroup* last() const { return last_.get(); }

private:
    [[nodiscard]] u32 threads() const { return launch_.block[0] * launch_.block[1] * launch_.block[2]; }
    [[nodiscard]] u32 warps_of_group() const { return (threads() + warp_size - 1) / warp_size; }

    std::unique_ptr<Workgroup> start(u64 number) {
        // The storage of the last workgroup serves again.
        std::unique_ptr<Workgroup> group = last_ ? std::move(last_) : std::make_unique<Workgroup>();
        group->launch = &launch_;
        const u64 row = number / launch_.grid[0];
        group->id = {static_cast<u32>(number % launch_.grid[0]), static_cast<u32>(row % launch_.grid[1]),
                     static_cast<u32>(row / launch_.grid[1])};
        group->shared.assign(launch_.shared_bytes, std::byte{});
        group->barriers = {};
        group->warps.resize(warps_of_group());
        group->warps_left = warps_of_group();
        for (u32 i = 0; i < group->warps.size(); ++i)
            start(*group, group->warps[i], i * warp_size);
        if (launch_.stage)
            begin_stage(*launch_.stage, group->warps[0]);
        return group;
    }

    void start(Workgroup& group, Warp& warp, u32 first_thread) const {
        std::vector<u32> registers = std::move(warp.registers);
        std::vector<std::byte> local = std::move(warp.local);
        std::ranges::fill(registers, 0);
        local.assign(std::size_t{launch_.local_bytes} * warp_size, std::byte{});
        warp = Warp{};
        warp.registers = std::move(registers);
        warp.local = std::move(local);
        warp.workgroup = &group;
        warp.first_thread = first_thread;
        const u32 lanes = std::min(warp_size, threads() - first_thread);
        warp.active = lanes == warp_size ? ~0u : (1u << lanes) - 1;
        warp.predicates.fill(1u << maxwell::true_predicate);
        for (const RegisterValue& initial : launch_.registers)
            for (unsigned lane = 0; lane < warp_size; ++lane)
                warp.set(initial.reg, lane, initial.value);
    }

    void finish(std::unique_ptr<Workgroup> group) {
        if (launch_.stage)
            end_stage(*launch_.stage, group->warps[0]);
        last_ = std::move(group);
    }

    // Every warp of the workgroup has a turn.
    Result<void> turn(Workgroup& group) {
        bool moved = false;
        const u64 length = group.warps_left == 1 && launch_.grid == std::array<u32, 3>{1, 1, 1} ? ~u64{0} : turn_length;
        for (Warp& warp : group.warps) {
            if (warp.waits_at != no_barrier || (warp.active == 0 && warp.stack.empty()))
                continue;
            moved = true;
            const auto done = run_warp(warp, words_, length);
            if (!done)
                return tl::unexpected(done.error());
            if (*done) {
                if (launch_.observer)
                    launch_.observer->done(warp);
                --group.warps_left;
                group.open_barriers();
            }
        }
        if (!moved)
            for (const Warp& warp : group.warps)
                if (warp.waits_at != no_barrier)
                    return fault_at(warp, warp.pc - 8, warp.active,
                                    fmt::format("waits at barrier {} for ever", warp.waits_at));
        return {};
    }

    const Launch& launch_;
    std::vector<Decoded> words_;
    std::unique_ptr<Workgroup> last_;
};

Result<void> check(const Launch& launch) {
    const auto& block = launch.block;
    const bool fits = std::ranges::all_of(block, [](u32 size) { return size >= 1 && size <= 1024; }) &&
                      u64{block[0]} * block[1] * block[2] <= 1024;
    if (!fits)
        return fail("a workgroup of {} x {} x {} threads", block[0], block[1], block[2]);
    if (launch.shared_bytes > 48 * 1024 || launch.local_bytes > 512 * 1024)
        return fail("{} bytes of shared and {} of local memory", launch.shared_bytes, launch.local_bytes);
    return {};
}

} // namespace

Result<void> run(const Launch& launch) {
    if (auto valid = check(launch); !valid)
        return valid;
    return Machine(launch).run();
}

Result<ThreadState> run_thread(const Launch& launch) {
    Launch single = launch;
    single.grid = single.block = {1, 1, 1};
    if (auto valid = check(single); !valid)
        return tl::unexpected(valid.error());
    Machine machine(single);
    if (auto result = machine.run(); !result)
        return tl::unexpected(result.error());
    const Warp& warp = machine.last()->warps[0];
    ThreadState state;
    for (std::size_t i = 0; i < state.registers.size(); ++i)
        state.registers[i] = warp.get(static_cast<u8>(i), 0);
    state.predicates = warp.predicates[0] & 0x7f;
    return state;
}

} // namespace heaviside::interpreter
