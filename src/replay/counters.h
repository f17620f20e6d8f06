// NVN's counters, one set for each guest queue, and the predicate of conditional rendering. Every pass that counts is a
// query of the device; results are summed on the GPU, so that reports are written, and conditions read, at their place
// in the stream.
#pragma once

#include "gpu/commands.h"

#include <array>
#include <chrono>

namespace heaviside::replay {

// What all sets share: kernels, and how the device's clock relates to the console's counter, whose ticks * 13 / 8 are
// nanoseconds of the process's monotonic clock.
class CounterDevice {
public:
    // References must outlive it.
    CounterDevice(const gpu::Device& device, gpu::Queue& queue, gpu::ShaderLibrary& library);

private:
    friend class Counters;
    enum Kernel : u32 { Sum, Report, Compare };
    [[nodiscard]] gpu::Shader& kernel(Kernel which);
    void match_clocks();
    void match_clocks_by_waiting();
    [[nodiscard]] u64 ticks(u64 device_ticks) const;

    const gpu::Device* device_;
    gpu::Queue* queue_;
    gpu::ShaderLibrary* library_;
    std::array<gpu::Shader*, 3> kernels_{}; // asked for when first needed
    u64 scale_ = 0, offset_ = 0; // console ticks of a device tick, 32.32; console ticks when the device's are 0
    u32 valid_bits_ = 0;
    std::chrono::steady_clock::time_point matched_{};
};

class Counters {
public:
    explicit Counters(CounterDevice& shared);
    ~Counters(); // what it has goes when the GPU is done with it
    Counters(const Counters&) = delete;
    Counters& operator=(const Counters&) = delete;

    // Which stages the next draws have: primitives are told apart by who made them.
    struct Stages {
        bool tessellation = false, geometry = false;
    };
    // Before a pass: there are queries for it.
    void make_room(gpu::Commands& commands);
    // Inside a pass. What is drawn between the two is counted, if anything asks for it.
    void begin(gpu::Commands& commands);
    void end(gpu::Commands& commands);
    void set_stages(gpu::Commands& commands, Stages stages);
    // Outside a pass. Counting begins with the first reset or report of a counter.
    void reset(gpu::Commands& commands, u32 counter); // NVNcounterType
    // {u64 value, u64 time} at `to`, which is a multiple of 4.
    void report(gpu::Commands& commands, u32 counter, const gpu::BufferSlice& to);
    // Draws are rendered if the u64 at `at` and the one 16 bytes behind it are equal, or if they are not. The slice is
    // a u32 for vkCmdBeginConditionalRendering. Null: out of memory.
    [[nodiscard]] gpu::BufferSlice compare(gpu::Commands& commands, const gpu::BufferSlice& at, bool if_equal);

private:
    // A kind of query: its results add to the totals from `first` on.
    struct Kind {
        VkQueryType type;
        VkQueryPipelineStatisticFlags statistics;
        u32 fields, first;
        gpu::Owned<VkQueryPool> pool;
        u32 used = 0;
        bool wanted = false, open = false;
    };
    static constexpr u32 capacity = 256; // queries of a kind before they are summed
    bool prepare(Kind& kind, gpu::Commands& commands);
    bool prepare_memory(gpu::Commands& commands);
    void begin(Kind& kind, gpu::Commands& commands) const;
    void end(Kind& kind, gpu::Commands& commands) const;
    void collect(gpu::Commands& commands); // outside a pass
    [[nodiscard]] bool want(u32 counter, gpu::Commands& commands);
    void write(gpu::Commands& commands, u32 counter, u64 to, u64 offset);
    [[nodiscard]] gpu::BufferSlice totals() const;

    CounterDevice* shared_;
    std::array<Kind, 6> kinds_;
    u32 stages_ = 0;     // index of the statistics that count now
    gpu::Buffer memory_; // totals, what the counters count from, time, predicate, results
    gpu::Owned<VkQueryPool> time_;
};

} // namespace heaviside::replay
