// Generated programs on the interpreter and, translated, on the device: the same bits.
//
// HEAVISIDE_SEEDS=FROM-TO runs other programs than the ones of every day, HEAVISIDE_FAILURES=N stops after N mismatches
// (5), HEAVISIDE_OPTIMISE=1 lets lavapipe optimise. A mismatch prints the reduced program.
#include "tests/generate/device.h"

#include <gtest/gtest.h>

#include <atomic>
#include <charconv>
#include <cstdlib>
#include <thread>
#include <utility>

namespace heaviside::generate {
namespace {

enum class Verdict { Same, Different, Refused, NotComparable };
struct Comparison {
    Verdict verdict = Verdict::Same;
    std::string what;
};

Comparison compare(DeviceRunner& runner, const std::vector<Program>& programs) {
    const auto prepared = prepare(programs);
    if (!prepared)
        return {Verdict::NotComparable, prepared.error().message};
    const auto expected = interpret(*prepared);
    if (!expected)
        return {Verdict::NotComparable, expected.error().message};
    const auto got = runner.run(*prepared);
    if (!got)
        return {Verdict::Refused, got.error().message};
    std::string what = difference(*got, *expected);
    return {what.empty() ? Verdict::Same : Verdict::Different, std::move(what)};
}

// Smaller programs that still fail the same way: stage by stage, until none shrinks.
std::vector<Program> reduce_all(DeviceRunner& runner, std::vector<Program> programs, Verdict verdict) {
    const auto total = [&] {
        std::size_t sum = 0;
        for (const Program& program : programs)
            sum += size(program);
        return sum;
    };
    for (std::size_t before = ~std::size_t{0}; total() < before;) {
        before = total();
        for (Program& program : programs)
            program = reduce(program, [&](const Program& smaller) {
                const Program kept = std::exchange(program, smaller);
                const bool fails = compare(runner, programs).verdict == verdict;
                program = kept;
                return fails;
            });
    }
    return programs;
}

struct Seeds {
    u64 first, end;
};
Seeds seeds(Seeds daily) {
    if (const char* text = std::getenv("HEAVISIDE_SEEDS")) {
        const std::string_view view(text);
        const auto dash = std::min(view.find('-'), view.size());
        std::from_chars(text, text + dash, daily.first);
        daily.end = daily.first + 1;
        if (dash < view.size())
            std::from_chars(text + dash + 1, text + view.size(), daily.end);
    }
    return daily;
}

// Nearly all time goes into compiling for lavapipe: without its optimizer and with short vectors a third of it. But
// programs that sample overwrite their own stack then (Mesa 25.0, LLVM 15), so they sample only if HEAVISIDE_OPTIMISE
// keeps the optimizer.
bool optimised() {
    return std::getenv("HEAVISIDE_OPTIMISE") != nullptr;
}
void compile_fast() {
    if (!optimised())
        setenv("GALLIVM_PERF", "nopt", 0);
    setenv("LP_NATIVE_VECTOR_WIDTH", "128", 0);
}

// The stages between a draw's vertices and its targets; a kernel alone.
using Stages = std::vector<Stage>;
const Stages kernel{Stage::Compute};
const Stages plain{Stage::Vertex, Stage::Fragment};
const Stages geometry{Stage::Vertex, Stage::Geometry, Stage::Fragment};
const Stages tessellation{Stage::Vertex, Stage::TessControl, Stage::TessEval, Stage::Fragment};
const Stages everything{Stage::Vertex, Stage::TessControl, Stage::TessEval, Stage::Geometry, Stage::Fragment};

std::string describe(DeviceRunner& runner, const std::vector<Program>& programs) {
    std::string text = compare(runner, programs).what;
    for (const Program& program : programs) // stages that only pass on what they get say nothing
        if (programs.size() == 1 || size(program) != 0)
            text += "\n" + source(program);
    return text;
}

void run(const Stages& stages, Options options, Seeds daily) {
    compile_fast();
    options.sampling = optimised();
    constexpr unsigned threads = 2;
    std::vector<std::unique_ptr<DeviceRunner>> runners;
    for (unsigned i = 0; i < threads; ++i) {
        runners.push_back(std::make_unique<DeviceRunner>());
        if (!runners.back()->device)
            GTEST_SKIP() << runners.back()->error;
    }
    const Seeds range = seeds(daily);
    const char* limit = std::getenv("HEAVISIDE_FAILURES");
    const unsigned enough = limit ? static_cast<unsigned>(std::atoi(limit)) : 5;
    std::atomic<u64> next = range.first;
    std::atomic<unsigned> failures = 0, same = 0;
    const auto work = [&](DeviceRunner& runner) {
        for (u64 seed = next++; seed < range.end && failures < enough; seed = next++) {
            std::vector<Program> programs;
            for (const Stage stage : stages)
                programs.push_back(generate(seed, options, stage));
            const Comparison found = compare(runner, programs);
            if (found.verdict == Verdict::Same) {
                ++same;
                continue;
            }
            ++failures;
            const std::string reduced = describe(runner, reduce_all(runner, programs, found.verdict));
            ADD_FAILURE() << "seed " << seed << ": " << found.what << "\nreduced: " << reduced;
        }
    };
    std::vector<std::jthread> workers;
    workers.reserve(threads);
    for (const auto& runner : runners)
        workers.emplace_back([&work, &runner] { work(*runner); });
    workers.clear();
    ::testing::Test::RecordProperty("same", static_cast<int>(same));
}

TEST(Differential, KernelsWithBranchesAndMemory) {
    run(kernel, {.statements = 16}, {1000, 1150});
}

TEST(Differential, StraightLines) {
    run(kernel, {.statements = 12, .depth = 0, .memory = false}, {1000, 1250});
}

TEST(Differential, VerticesAndFragments) {
    run(plain, {.statements = 10}, {1000, 1030});
}

TEST(Differential, GeometryPrograms) {
    run(geometry, {.statements = 8}, {1000, 1020});
}

TEST(Differential, TessellationPrograms) {
    run(tessellation, {.statements = 8}, {1000, 1020});
}

TEST(Differential, AllStagesOfADraw) {
    run(everything, {.statements = 6}, {1000, 1010});
}

} // namespace
} // namespace heaviside::generate
