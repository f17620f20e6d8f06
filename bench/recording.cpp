// What recording costs on the guest's thread, through the public entry points: nothing is submitted.
#include <nvn/nvn.h>

#include <benchmark/benchmark.h>

#include <array>
#include <cstdlib>
#include <memory>
#include <vector>

namespace {

constexpr std::size_t pool_size = 8 << 20, command_size = 4 << 20;

// A device, a pool and a command buffer whose memory is started anew for each batch.
struct Recorder {
    NVNdevice device;
    std::unique_ptr<void, decltype(&std::free)> memory{std::aligned_alloc(4096, pool_size), &std::free};
    NVNmemoryPool pool;
    NVNcommandBuffer commands;
    std::vector<std::uint64_t> control = std::vector<std::uint64_t>(1 << 17);
    NVNbufferAddress address = 0;

    Recorder() {
        setenv("HEAVISIDE_CACHE", "", 0);
        const auto get_proc = reinterpret_cast<PFNNVNDEVICEGETPROCADDRESSPROC>(
            reinterpret_cast<void*>(nvnBootstrapLoader("nvnDeviceGetProcAddress")));
        nvnLoadCProcs(nullptr, get_proc);
        NVNdeviceBuilder device_builder;
        nvnDeviceBuilderSetDefaults(&device_builder);
        if (!nvnDeviceInitialize(&device, &device_builder))
            std::abort();
        nvnLoadCProcs(&device, get_proc);
        NVNmemoryPoolBuilder builder;
        nvnMemoryPoolBuilderSetDevice(&builder, &device);
        nvnMemoryPoolBuilderSetDefaults(&builder);
        nvnMemoryPoolBuilderSetStorage(&builder, memory.get(), pool_size);
        if (!nvnMemoryPoolInitialize(&pool, &builder) || !nvnCommandBufferInitialize(&commands, &device))
            std::abort();
        address = nvnMemoryPoolGetBufferAddress(&pool) + command_size;
    }
    ~Recorder() {
        nvnCommandBufferFinalize(&commands);
        nvnMemoryPoolFinalize(&pool);
        nvnDeviceFinalize(&device);
    }
    Recorder(const Recorder&) = delete;
    Recorder& operator=(const Recorder&) = delete;

    void begin() {
        nvnCommandBufferAddCommandMemory(&commands, &pool, 0, command_size);
        nvnCommandBufferAddControlMemory(&commands, control.data(), control.size() * sizeof control[0]);
        nvnCommandBufferBeginRecording(&commands);
    }
    void end() { nvnDeviceFinalizeCommandHandle(&device, nvnCommandBufferEndRecording(&commands)); }
};

Recorder& recorder() {
    static Recorder instance;
    return instance;
}

constexpr int batch = 1000;

template <class Record>
void measure(benchmark::State& state, Record&& record) {
    Recorder& r = recorder();
    for (auto _ : state) {
        r.begin();
        for (int i = 0; i < batch; ++i)
            record(r, i);
        r.end();
    }
    state.SetItemsProcessed(state.iterations() * batch);
    state.counters["ns"] = benchmark::Counter(static_cast<double>(state.iterations() * batch) * 1e-9,
                                              benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

// A draw as engines record it: new vertices, one new uniform range a stage, one texture.
void draw_with_usual_binds(benchmark::State& state) {
    measure(state, [](Recorder& r, int i) {
        const auto step = static_cast<std::uint64_t>(i % 64) * 256;
        nvnCommandBufferBindVertexBuffer(&r.commands, 0, r.address + step, 4096);
        nvnCommandBufferBindUniformBuffer(&r.commands, NVN_SHADER_STAGE_VERTEX, 0, r.address + step, 256);
        nvnCommandBufferBindUniformBuffer(&r.commands, NVN_SHADER_STAGE_FRAGMENT, 0, r.address + step, 256);
        nvnCommandBufferBindTexture(&r.commands, NVN_SHADER_STAGE_FRAGMENT, 0, 256 + static_cast<unsigned>(i % 64));
        nvnCommandBufferDrawElements(&r.commands, NVN_DRAW_PRIMITIVE_TRIANGLES, NVN_INDEX_TYPE_UNSIGNED_SHORT, 300,
                                     r.address + step);
    });
}
BENCHMARK(draw_with_usual_binds);

// What the goal of 100 ns speaks of: program, one vertex buffer, one uniform buffer, one texture, DrawArrays.
void draw_arrays_with_usual_binds(benchmark::State& state) {
    static NVNprogram program;
    nvnProgramInitialize(&program, &recorder().device);
    measure(state, [](Recorder& r, int i) {
        const auto step = static_cast<std::uint64_t>(i % 64) * 256;
        nvnCommandBufferBindProgram(&r.commands, &program, NVN_SHADER_STAGE_ALL_GRAPHICS_BITS);
        nvnCommandBufferBindVertexBuffer(&r.commands, 0, r.address + step, 4096);
        nvnCommandBufferBindUniformBuffer(&r.commands, NVN_SHADER_STAGE_VERTEX, 0, r.address + step, 256);
        nvnCommandBufferBindTexture(&r.commands, NVN_SHADER_STAGE_FRAGMENT, 0, 256 + static_cast<unsigned>(i % 64));
        nvnCommandBufferDrawArrays(&r.commands, NVN_DRAW_PRIMITIVE_TRIANGLES, 0, 300);
    });
    nvnProgramFinalize(&program);
}
BENCHMARK(draw_arrays_with_usual_binds);

void state_bind(benchmark::State& state) {
    NVNblendState blend;
    nvnBlendStateSetDefaults(&blend);
    measure(state, [&](Recorder& r, int) { nvnCommandBufferBindBlendState(&r.commands, &blend); });
}
BENCHMARK(state_bind);

// Ten calls as a renderer mixes them: states, binds of all kinds, an inline update, a barrier, draws. Items are calls.
void typical_mix(benchmark::State& state) {
    NVNblendState blend;
    NVNcolorState color;
    NVNdepthStencilState depth;
    nvnBlendStateSetDefaults(&blend);
    nvnColorStateSetDefaults(&color);
    nvnDepthStencilStateSetDefaults(&depth);
    static constexpr std::array<float, 16> matrix{};
    measure(state, [&](Recorder& r, int i) {
        const auto step = static_cast<std::uint64_t>(i % 64) * 256;
        nvnCommandBufferBindBlendState(&r.commands, &blend);
        nvnCommandBufferBindColorState(&r.commands, &color);
        nvnCommandBufferBindDepthStencilState(&r.commands, &depth);
        nvnCommandBufferBindVertexBuffer(&r.commands, 0, r.address + step, 4096);
        nvnCommandBufferBindUniformBuffer(&r.commands, NVN_SHADER_STAGE_VERTEX, 0, r.address + step, 256);
        nvnCommandBufferUpdateUniformBuffer(&r.commands, r.address, 256, 0, sizeof matrix, matrix.data());
        nvnCommandBufferBindTexture(&r.commands, NVN_SHADER_STAGE_FRAGMENT, 0, 256 + static_cast<unsigned>(i % 64));
        nvnCommandBufferDrawElements(&r.commands, NVN_DRAW_PRIMITIVE_TRIANGLES, NVN_INDEX_TYPE_UNSIGNED_SHORT, 300,
                                     r.address + step);
        nvnCommandBufferBarrier(&r.commands, NVN_BARRIER_ORDER_FRAGMENTS_BIT);
        nvnCommandBufferDrawArrays(&r.commands, NVN_DRAW_PRIMITIVE_TRIANGLES, 0, 3);
    });
    state.SetItemsProcessed(state.iterations() * batch * 10);
}
BENCHMARK(typical_mix);

void draw_alone(benchmark::State& state) {
    measure(state,
            [](Recorder& r, int) { nvnCommandBufferDrawArrays(&r.commands, NVN_DRAW_PRIMITIVE_TRIANGLES, 0, 3); });
}
BENCHMARK(draw_alone);

void inline_uniform_update(benchmark::State& state) {
    static constexpr std::array<float, 16> matrix{};
    measure(state, [](Recorder& r, int) {
        nvnCommandBufferUpdateUniformBuffer(&r.commands, r.address, 256, 0, sizeof matrix, matrix.data());
    });
}
BENCHMARK(inline_uniform_update);

} // namespace
