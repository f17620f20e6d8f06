// Translation of whole programs: the corpus where it is there. Warm figures are medians over its programs; the cold one
// is the first translation of a process; memory is what the largest program needs at its peak.
#include "program/program.h"
#include "shader/cache.h"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <string>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace {

using namespace heaviside;

struct Blobs {
    std::vector<std::byte> control, gpu;
};

std::vector<std::byte> read_file(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    const std::string text(std::istreambuf_iterator<char>(file), {});
    const auto* first = reinterpret_cast<const std::byte*>(text.data());
    return {first, first + text.size()};
}

std::vector<Blobs> corpus() {
    std::vector<Blobs> programs;
    std::error_code error;
    std::filesystem::recursive_directory_iterator files(HEAVISIDE_SOURCE_DIR "/../shared/corpus/glsl/dev", error);
    if (error)
        return programs;
    for (const auto& entry : files) {
        const std::string path = entry.path().string(), suffix = ".ctrl.bin";
        if (path.ends_with(suffix))
            programs.push_back({read_file(path), read_file(path.substr(0, path.size() - suffix.size()) + ".gpu.bin")});
    }
    return programs;
}

// Of the thread: other work on the machine does not count.
double cpu_seconds() {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

double median(std::vector<double> values) {
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::ranges::nth_element(values, middle);
    return *middle;
}

std::vector<Blobs> corpus_or_skip(benchmark::State& state) {
    std::vector<Blobs> programs = corpus();
    if (programs.empty())
        state.SkipWithError("the shader corpus is not on this machine");
    return programs;
}

// Every program once per iteration; figures are per program and per KiB of code.
void translate_corpus(benchmark::State& state) {
    const std::vector<Blobs> programs = corpus_or_skip(state);
    std::vector<std::vector<double>> seconds(programs.size());
    u64 code = 0, failed = 0;
    double total = 0;
    for (auto _ : state) {
        for (std::size_t i = 0; i < programs.size(); ++i) {
            const double start = cpu_seconds();
            const auto program = program::parse(programs[i].control, programs[i].gpu);
            auto result = program ? shader::translate(*program, {}, {})
                                  : Result<shader::Translation>(tl::unexpected(program.error()));
            const double spent = cpu_seconds() - start;
            benchmark::DoNotOptimize(result);
            if (!result) {
                ++failed;
                continue;
            }
            seconds[i].push_back(spent);
            total += spent;
            code += program->code.size();
        }
    }
    std::vector<double> medians;
    for (std::vector<double>& each : seconds)
        if (!each.empty())
            medians.push_back(median(each));
    if (medians.empty())
        return;
    state.counters["median_us"] = median(medians) * 1e6;
    state.counters["us_per_KiB"] = total * 1e6 / (static_cast<double>(code) / 1024);
    state.counters["failed"] = static_cast<double>(failed) / static_cast<double>(state.iterations());
}

// What a process of its own reports: microseconds of its first translation, and by how many KiB the largest program
// raises the peak of resident memory.
struct Report {
    double first_us = 0, peak_kib = 0;
};

long peak_kib() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss;
}

// A fork of a process that has not translated yet is as good as a fresh one: the benchmarks that use it come first.
Report in_a_child(const Blobs& blobs) {
    std::array<int, 2> ends{};
    Report report;
    if (pipe(ends.data()) != 0)
        return report;
    if (fork() == 0) {
        const auto program = program::parse(blobs.control, blobs.gpu);
        const long before = peak_kib();
        const double start = cpu_seconds();
        const auto result = shader::translate(program.value(), {}, {});
        const double spent = (cpu_seconds() - start) * 1e6;
        report = {result ? spent : 0, static_cast<double>(peak_kib() - before)};
        _exit(write(ends[1], &report, sizeof report) == sizeof report ? 0 : 1);
    }
    const ssize_t got = read(ends[0], &report, sizeof report);
    close(ends[0]);
    close(ends[1]);
    wait(nullptr);
    return got == sizeof report ? report : Report{};
}

void first_of_a_process(benchmark::State& state) {
    const std::vector<Blobs> programs = corpus_or_skip(state);
    std::vector<double> seconds;
    for (auto _ : state)
        for (const Blobs& blobs : programs)
            seconds.push_back(in_a_child(blobs).first_us);
    if (!seconds.empty())
        state.counters["median_us"] = median(seconds);
}
BENCHMARK(first_of_a_process)->Iterations(1)->Unit(benchmark::kMillisecond);

void largest_program(benchmark::State& state) {
    const std::vector<Blobs> programs = corpus_or_skip(state);
    const auto largest =
        std::ranges::max_element(programs, [](const Blobs& a, const Blobs& b) { return a.gpu.size() < b.gpu.size(); });
    double peak = 0;
    for (auto _ : state)
        if (largest != programs.end())
            peak = std::max(peak, in_a_child(*largest).peak_kib);
    state.counters["peak_KiB"] = peak;
    if (largest != programs.end())
        state.counters["code_KiB"] = static_cast<double>(largest->gpu.size()) / 1024;
}
BENCHMARK(largest_program)->Iterations(5)->Unit(benchmark::kMillisecond);

// What the disk cache gives for a program of each size: found there, against translated.
void found_in_the_cache(benchmark::State& state) {
    const std::vector<Blobs> programs = corpus_or_skip(state);
    const auto folder = std::filesystem::temp_directory_path() / "heaviside_bench_cache";
    shader::TranslationCache cache(folder, {u64{1} << 30, 0});
    std::vector<program::Program> parsed;
    for (const Blobs& blobs : programs)
        if (auto program = program::parse(blobs.control, blobs.gpu)) {
            parsed.push_back(*program);
            (void)cache.translate(parsed.back(), {}, {});
        }
    u64 found = 0;
    for (auto _ : state)
        for (const program::Program& program : parsed) {
            auto result = cache.translate(program, {}, {});
            benchmark::DoNotOptimize(result);
            ++found;
        }
    state.counters["s_per_program"] =
        benchmark::Counter(static_cast<double>(found), benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
    std::error_code ignored;
    std::filesystem::remove_all(folder, ignored);
}

// Each thread translates the whole corpus by itself: programs a second should grow with the cores.
void translate_on_threads(benchmark::State& state) {
    const std::vector<Blobs> programs = corpus_or_skip(state);
    for (auto _ : state)
        for (const Blobs& blobs : programs)
            if (const auto program = program::parse(blobs.control, blobs.gpu)) {
                auto result = shader::translate(*program, {}, {});
                benchmark::DoNotOptimize(result);
            }
    state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(programs.size()));
}
BENCHMARK(translate_on_threads)->ThreadRange(1, 16)->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK(translate_corpus)->Unit(benchmark::kMillisecond);
BENCHMARK(found_in_the_cache)->Unit(benchmark::kMillisecond);

} // namespace
