// Generated programs on the interpreter and, translated, on the device: the same bits.
//
// HEAVISIDE_SEEDS=FROM-TO runs other programs than the ones of every day, HEAVISIDE_FAILURES=N stops after N mismatches
// (5). A mismatch prints the reduced program.
#include "tests/generate/kernel.h"
#include "tests/isa/bench.h"

#include <gtest/gtest.h>

#include <atomic>
#include <charconv>
#include <cstdlib>
#include <thread>

namespace heaviside::generate {
namespace {

Result<std::vector<u32>> on_device(test::Bench& bench, const Kernel& kernel) {
    program::Program program;
    program.stage = program::Stage::Compute;
    program.code = kernel.program.code;
    program.constants = std::as_bytes(std::span(kernel.constants));
    program.constants_bank = layout::constant_bank;
    program.workgroup_size = {layout::block, 1, 1};
    program.shared_bytes = layout::block * layout::shared_bytes_per_thread;
    program.local_bytes = layout::local_bytes;
    program.layout = &program::kernel_layout;
    const auto blob = [](const std::vector<u32>& words) {
        const auto bytes = std::as_bytes(std::span(words));
        return test::Blob(bytes.begin(), bytes.end());
    };
    test::Blob input = blob(kernel.input), output = blob(kernel.start);
    const std::map<u32, test::Blob> banks{{0, blob(kernel.bank)}, {layout::constant_bank, blob(kernel.constants)}};
    const std::string error = bench.run(program, banks, {{input_base, &input}, {output_base, &output}}, {groups, 1, 1});
    if (!error.empty())
        return fail("{}", error);
    std::vector<u32> words(output.size() / 4);
    std::memcpy(words.data(), output.data(), output.size());
    return words;
}

enum class Verdict { Same, Different, Refused, NotComparable };
struct Comparison {
    Verdict verdict = Verdict::Same;
    std::string what;
};

Comparison compare(test::Bench& bench, const Program& program) {
    const auto kernel = assemble(program);
    if (!kernel)
        return {Verdict::NotComparable, kernel.error().message};
    const auto expected = interpret(*kernel);
    if (!expected)
        return {Verdict::NotComparable, expected.error().message};
    const auto got = on_device(bench, *kernel);
    if (!got)
        return {Verdict::Refused, got.error().message};
    for (std::size_t i = 0; i < got->size(); ++i)
        if ((*got)[i] != (*expected)[i]) {
            const std::size_t thread = i / (layout::output_bytes / 4), word = i % (layout::output_bytes / 4);
            return {Verdict::Different,
                    fmt::format("thread {}, output word {}: {:08x} on the device, {:08x} by the interpreter", thread,
                                word, (*got)[i], (*expected)[i])};
        }
    return {};
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

// Nearly all time goes into compiling for lavapipe: without its optimizer and with short vectors a third of it.
void compile_fast() {
    setenv("GALLIVM_PERF", "nopt", 0);
    setenv("LP_NATIVE_VECTOR_WIDTH", "128", 0);
}

void run(const Options& options, Seeds daily) {
    compile_fast();
    constexpr unsigned threads = 2;
    std::vector<std::unique_ptr<test::Bench>> benches;
    for (unsigned i = 0; i < threads; ++i) {
        benches.push_back(std::make_unique<test::Bench>());
        if (!benches.back()->device)
            GTEST_SKIP() << benches.back()->error;
    }
    const Seeds range = seeds(daily);
    const char* limit = std::getenv("HEAVISIDE_FAILURES");
    const unsigned enough = limit ? static_cast<unsigned>(std::atoi(limit)) : 5;
    std::atomic<u64> next = range.first;
    std::atomic<unsigned> failures = 0;
    const auto work = [&](test::Bench& bench) {
        for (u64 seed = next++; seed < range.end && failures < enough; seed = next++) {
            const Program program = generate(seed, options);
            const Comparison found = compare(bench, program);
            if (found.verdict == Verdict::Same)
                continue;
            ++failures;
            const auto fails = [&](const Program& smaller) { return compare(bench, smaller).verdict == found.verdict; };
            const Program reduced = reduce(program, fails);
            ADD_FAILURE() << "seed " << seed << ": " << found.what << "\nreduced: " << compare(bench, reduced).what
                          << "\n"
                          << kernel_source(reduced);
        }
    };
    std::vector<std::jthread> workers;
    workers.reserve(threads);
    for (const auto& bench : benches)
        workers.emplace_back([&work, &bench] { work(*bench); });
}

TEST(Differential, ProgramsWithBranchesAndMemory) {
    run({.statements = 16}, {1000, 1200});
}

TEST(Differential, StraightLines) {
    run({.statements = 12, .depth = 0, .memory = false}, {1000, 1300});
}

} // namespace
} // namespace heaviside::generate
