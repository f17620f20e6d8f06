// How fast the interpreter runs, in lane-instructions: an instruction that 32 lanes execute is 32 of them.
#include "interpreter/machine.h"
#include "maxwell/assembler.h"

#include <benchmark/benchmark.h>

#include <stdexcept>
#include <string>
#include <vector>

using namespace heaviside;

namespace {

constexpr unsigned rounds = 1000;

struct Loop {
    std::vector<std::byte> code;
    std::size_t instructions; // a round
};

// `body` in a loop of `rounds` rounds; R0 is the thread's number, R9 its shared word's address.
Loop make_loop(const std::string& body, std::size_t instructions) {
    const auto program =
        maxwell::assemble("    S2R R0, SR_TID.X\n    SHL R9, R0, 0x2\n    MOV32I R8, " + std::to_string(rounds) +
                          "\n"
                          "again:\n" +
                          body +
                          "    IADD R8, R8, -0x1\n"
                          "    ISETP.NE.U32.AND P6, PT, R8, RZ, PT\n"
                          "    @P6 BRA again\n"
                          "    EXIT\n");
    if (!program)
        throw std::runtime_error(program.error().message);
    return {program->code, instructions + 3};
}

void run_loop(benchmark::State& state, const Loop& loop, u32 threads) {
    interpreter::Launch launch;
    const std::vector<u32> constants(64, 3);
    launch.code = loop.code;
    launch.banks[2] = std::as_bytes(std::span(constants));
    launch.block = {threads, 1, 1};
    launch.shared_bytes = 4096;
    for (auto _ : state) {
        const auto done = interpreter::run(launch);
        if (!done) {
            state.SkipWithError(done.error().message.c_str());
            return;
        }
    }
    state.counters["lane-instructions"] = benchmark::Counter(
        static_cast<double>(state.iterations() * rounds * loop.instructions * threads), benchmark::Counter::kIsRate);
}

void integers(benchmark::State& state) {
    run_loop(state,
             make_loop("    IADD R2, R0, R8\n    XMAD R3, R2, c[0x2][0x0], R0\n    LOP3.LUT R4, R2, R3, R0, 0x96\n"
                       "    SHF.L.W R5, R4, 0x5, R3\n    IADD3 R6, R5, R4, R2\n    LEA R7, R6, R5, 0x2\n",
                       6),
             256);
}
BENCHMARK(integers);

void singles(benchmark::State& state) {
    run_loop(state,
             make_loop("    I2F.F32.S32 R2, R0\n    FADD R3, R2, 0.5\n    FMUL R4, R3, c[0x2][0x0]\n"
                       "    FFMA R5, R4, R3, R2\n    FMNMX R6, R5, R4, PT\n    FSETP.GT.AND P0, PT, R6, R2, PT\n",
                       6),
             256);
}
BENCHMARK(singles);

void memory(benchmark::State& state) {
    run_loop(state,
             make_loop("    STS [R9], R8\n    LDS R2, [R9]\n    LDC R3, c[0x2][0x4]\n    SHFL.BFLY PT, R4, R2, 0x1, "
                       "0x1f\n    VOTE.ANY R5, P0, PT\n",
                       5),
             256);
}
BENCHMARK(memory);

// Half of the lanes take each side: the masks are not full.
void divergent(benchmark::State& state) {
    run_loop(
        state,
        make_loop("    LOP.AND R2, R0, 0x1\n    ISETP.NE.U32.AND P0, PT, R2, RZ, PT\n    SSY join\n"
                  "    @P0 BRA other\n    IADD R3, R0, R8\n    SYNC\nother:\n    IADD R3, R8, -R0\n    SYNC\njoin:\n",
                  6), // of every lane
        256);
}
BENCHMARK(divergent);

} // namespace
