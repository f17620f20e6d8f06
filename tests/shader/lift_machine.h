// Runs lifted IR (before SSA construction) on the CPU: the operations as ir_ops.h defines them, written down a second
// time so that the lifter can be tested without a device.
#pragma once

#include "shader/ir.h"

#include <array>
#include <map>
#include <string>
#include <vector>

namespace heaviside::shader::test {

struct Memory {
    std::map<u32, std::vector<std::byte>> banks;
    struct Range {
        u64 address;
        std::vector<std::byte> bytes;
    };
    std::vector<Range> global; // loads elsewhere give 0, stores are dropped
};

struct Launch {
    std::array<u32, 3> grid{1, 1, 1}, block{1, 1, 1};
    u32 shared_bytes = 0, local_bytes = 0;
};

// The registers of the last thread that ended.
struct Outcome {
    std::string error; // empty: it ran
    std::array<u32, ir::register_count> registers{};
};

[[nodiscard]] Outcome run(const ir::Program& program, Memory& memory, const Launch& launch = {});

} // namespace heaviside::shader::test
