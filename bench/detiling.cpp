// Block-linear texels to rows and back on one thread, against memcpy over buffers of the same sizes.
#include "texture/layout.h"
#include "texture/tiling.h"

#include <benchmark/benchmark.h>
#include <nvn/nvn.h>

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

void detile(benchmark::State& state, texture::Format format) {
    Buffers b = buffers(format, static_cast<u32>(state.range(0)));
    for (auto _ : state) {
        if (!texture::read_region(b.layout, 0, 0, b.region, b.storage, b.rows, b.pitch))
            state.SkipWithError("read_region failed");
        benchmark::ClobberMemory();
    }
    state.SetBytesProcessed(static_cast<i64>(state.iterations()) * static_cast<i64>(b.rows.size()));
}

void tile(benchmark::State& state, texture::Format format) {
    Buffers b = buffers(format, static_cast<u32>(state.range(0)));
    for (auto _ : state) {
        if (!texture::write_region(b.layout, 0, 0, b.region, b.storage, b.rows, b.pitch))
            state.SkipWithError("write_region failed");
        benchmark::ClobberMemory();
    }
    state.SetBytesProcessed(static_cast<i64>(state.iterations()) * static_cast<i64>(b.rows.size()));
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
BENCHMARK_CAPTURE(detile, RGBA8, texture::Format{NVN_FORMAT_RGBA8})->Arg(256)->Arg(1024)->Arg(4096);
BENCHMARK_CAPTURE(tile, RGBA8, texture::Format{NVN_FORMAT_RGBA8})->Arg(256)->Arg(1024)->Arg(4096);
BENCHMARK_CAPTURE(detile, R8, texture::Format{NVN_FORMAT_R8})->Arg(4096);
BENCHMARK_CAPTURE(detile, RGBA32F, texture::Format{NVN_FORMAT_RGBA32F})->Arg(2048);
BENCHMARK_CAPTURE(detile, BC7, texture::Format{NVN_FORMAT_BPTC_UNORM})->Arg(4096);

} // namespace
