// Runs Maxwell code on the CPU: what instructions mean, written from hardware results and the documented instruction
// set, never from the translator.
//
// docs/isa.md describes the machine: branch stack, barriers, memory, instructions without effect.
#pragma once

#include "base/bytes.h"
#include "base/result.h"

#include <array>
#include <vector>

namespace heaviside::interpreter {

inline constexpr unsigned warp_size = 32;
inline constexpr unsigned bank_count = 18;

struct TextureUnits; // image.h
struct StageState;   // stage.h
class Observer;      // warp.h

// Memory at GPU addresses that the program may touch. The bytes are the caller's.
struct MemoryRange {
    u64 address = 0;
    std::span<std::byte> bytes;
};

struct RegisterValue {
    u8 reg = 0;
    u32 value = 0;
};

struct Launch {
    Bytes code;                               // from the first bundle on
    std::array<Bytes, bank_count> banks;      // c[0] ... c[17]; reads past the end give 0, as on hardware
    std::array<u32, 3> grid{1, 1, 1};         // workgroups
    std::array<u32, 3> block{1, 1, 1};        // threads of a workgroup, 1 to 1,024 in all
    u32 shared_bytes = 0;                     // of a workgroup
    u32 local_bytes = 0;                      // of a thread
    std::span<const MemoryRange> global;      // what LD, ST, LDG, STG and atomics reach
    u32 shared_window = 0;                    // generic addresses of shared memory, 16 MiB from here on; 0: none
    u32 local_window = 0;                     // the same for local memory
    const TextureUnits* textures = nullptr;   // what texture and surface handles name; null: nothing
    StageState* stage = nullptr;              // graphics programs: set by the functions of stage.h
    std::span<const RegisterValue> registers; // what threads start with; all others are 0
    Observer* observer = nullptr;             // told of every instruction: warp.h
    u64 step_limit = u64{1} << 32;            // instructions of a warp before it counts as endless
};

// Registers of one thread when it left.
struct ThreadState {
    std::array<u32, 255> registers{};
    u8 predicates = 0; // bit n: Pn
};

// Runs all workgroups, as many at a time as fit on a small chip, warps in turn: the order is the same in every run, and
// warps that wait for another one's writes see them. Errors name workgroup, warp, lane, address and instruction: a word
// that is no instruction, an access outside memory or not aligned to its size, an empty or overflowing stack, a trap, a
// program that does not end, warps that wait for each other for ever. Memory keeps what was written before the error.
// No global state; any thread.
[[nodiscard]] Result<void> run(const Launch& launch);

// Runs the program as a single thread and gives its registers.
[[nodiscard]] Result<ThreadState> run_thread(const Launch& launch);

} // namespace heaviside::interpreter
