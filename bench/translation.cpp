// Translation of whole programs, one thread: the corpus where it is there.
#include "program/program.h"
#include "shader/interface.h"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
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

// Every program once per iteration; figures are per program and per KiB of code.
void translate_corpus(benchmark::State& state) {
    const std::vector<Blobs> programs = corpus();
    if (programs.empty()) {
        state.SkipWithError("the shader corpus is not on this machine");
        return;
    }
    u64 code = 0, translated = 0, failed = 0;
    for (auto _ : state) {
        for (const Blobs& blobs : programs) {
            const auto program = program::parse(blobs.control, blobs.gpu);
            if (!program) {
                ++failed;
                continue;
            }
            auto result = shader::translate(*program, {}, {});
            if (!result) {
                ++failed;
                continue;
            }
            benchmark::DoNotOptimize(result->spirv.data());
            code += program->code.size();
            ++translated;
        }
    }
    const auto inverse_rate = benchmark::Counter::kIsRate | benchmark::Counter::kInvert;
    state.counters["s_per_program"] = benchmark::Counter(static_cast<double>(translated), inverse_rate);
    state.counters["s_per_KiB"] = benchmark::Counter(static_cast<double>(code) / 1024, inverse_rate);
    state.counters["failed"] = static_cast<double>(failed) / static_cast<double>(state.iterations());
}
BENCHMARK(translate_corpus)->Unit(benchmark::kMillisecond);

} // namespace
