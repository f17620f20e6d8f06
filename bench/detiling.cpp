// Block-linear texels to rows and back on one thread, against memcpy over buffers of the same sizes.
#include "texture/layout.h"
#include "texture/tiling.h"

#include <benchmark/benchmark.h>
#include <nvn/nvn.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <vector>

namespace {

using namespace heaviside;

struct Buffers {
    texture::Layout layout;
    std::vector<std::byte> storage, rows;
    texture::BlockRegion region;
    texture::LinearPitch pitch;
};

Buffers buffers(texture::Format format, u32 size) {
    Buffers result;
    texture::Description description;
    description.format = format;
    description.width = description.height = size;
    result.layout = texture::layout(description).value();
    result.region = texture::whole(result.layout.levels[0]);
    result.pitch = texture::packed(result.layout, result.region);
    // Touched before the measurement, so that no page fault is measured.
    result.storage.assign(result.layout.size, std::byte{1});
    result.rows.assign(texture::linear_size(result.layout, result.region, result.pitch), std::byte{2});
    return result;
}

// Each iteration is followed by a memcpy of as many bytes, so that both see the same machine; the counter says how fast
// the better of the one is against the better of the other.
template <class Convert>
void against_memcpy(benchmark::State& state, Buffers& b, Convert&& convert) {
    using Clock = std::chrono::steady_clock;
    const auto seconds = [](auto&& run) {
        const auto from = Clock::now();
        run();
        benchmark::ClobberMemory();
        return std::chrono::duration<double>(Clock::now() - from).count();
    };
    double best = 1e9, best_copy = 1e9;
    for (auto _ : state) {
        const double t = seconds(convert);
        state.SetIterationTime(t);
        best = std::min(best, t);
        best_copy = std::min(best_copy, seconds([&] { std::memcpy(b.rows.data(), b.storage.data(), b.rows.size()); }));
    }
    state.SetBytesProcessed(static_cast<i64>(state.iterations()) * static_cast<i64>(b.rows.size()));
    state.counters["of_memcpy"] = best_copy / best;
}

void detile(benchmark::State& state, texture::Format format) {
    Buffers b = buffers(format, static_cast<u32>(state.range(0)));
    against_memcpy(state, b, [&] {
        if (!texture::read_region(b.layout, 0, 0, b.region, b.storage, b.rows, b.pitch))
            state.SkipWithError("read_region failed");
    });
}

void tile(benchmark::State& state, texture::Format format) {
    Buffers b = buffers(format, static_cast<u32>(state.range(0)));
    against_memcpy(state, b, [&] {
        if (!texture::write_region(b.layout, 0, 0, b.region, b.storage, b.rows, b.pitch))
            state.SkipWithError("write_region failed");
    });
}

// 64 x 64 texels somewhere in a larger texture: what a small write touches.
void small_region(benchmark::State& state, texture::Format format) {
    Buffers b = buffers(format, 1024);
    b.region = {200, 200, 0, 64, 64, 1};
    b.pitch = texture::packed(b.layout, b.region);
    b.rows.resize(texture::linear_size(b.layout, b.region, b.pitch));
    constexpr int times = 64; // one is too short for the clock
    against_memcpy(state, b, [&] {
        for (int i = 0; i < times; ++i)
            if (!texture::read_region(b.layout, 0, 0, b.region, b.storage, b.rows, b.pitch))
                state.SkipWithError("read_region failed");
    });
    state.counters["of_memcpy"] = state.counters["of_memcpy"] * times;
    state.SetBytesProcessed(static_cast<i64>(state.iterations()) * times * static_cast<i64>(b.rows.size()));
}

void copy(benchmark::State& state, texture::Format format) {
    Buffers b = buffers(format, static_cast<u32>(state.range(0)));
    for (auto _ : state) {
        std::memcpy(b.rows.data(), b.storage.data(), b.rows.size());
        benchmark::ClobberMemory();
    }
    state.SetBytesProcessed(static_cast<i64>(state.iterations()) * static_cast<i64>(b.rows.size()));
}

// In the second-level cache, in the third, in memory.
BENCHMARK_CAPTURE(copy, RGBA8, texture::Format{NVN_FORMAT_RGBA8})->Arg(256)->Arg(1024)->Arg(4096);
BENCHMARK_CAPTURE(detile, RGBA8, texture::Format{NVN_FORMAT_RGBA8})->Arg(256)->Arg(1024)->Arg(4096)->UseManualTime();
BENCHMARK_CAPTURE(tile, RGBA8, texture::Format{NVN_FORMAT_RGBA8})->Arg(256)->Arg(1024)->Arg(4096)->UseManualTime();
BENCHMARK_CAPTURE(detile, RGBA16F, texture::Format{NVN_FORMAT_RGBA16F})->Arg(512)->Arg(2048)->UseManualTime();
BENCHMARK_CAPTURE(detile, RGBA32F, texture::Format{NVN_FORMAT_RGBA32F})->Arg(512)->Arg(2048)->UseManualTime();
BENCHMARK_CAPTURE(detile, R8, texture::Format{NVN_FORMAT_R8})->Arg(4096)->UseManualTime();
BENCHMARK_CAPTURE(detile, BC7, texture::Format{NVN_FORMAT_BPTC_UNORM})->Arg(4096)->UseManualTime();
BENCHMARK_CAPTURE(small_region, RGBA8, texture::Format{NVN_FORMAT_RGBA8})->UseManualTime();

} // namespace
