#include "replay/counters.h"

#include "base/log.h"
#include "replay/kernels/compare_counters.comp.h"
#include "replay/kernels/report_counter.comp.h"
#include "replay/kernels/sum_queries.comp.h"

#include <algorithm>

namespace heaviside::replay {
namespace {

// NVNcounterType.
constexpr u32 no_counter = 31; // beyond them all: counts nothing, from nothing
constexpr u32 counter_timestamp = 0, counter_samples = 1, counter_feedback_primitives = 0xe, counter_zcull = 0xf,
              counter_timestamp_top = 0x10;

// The totals: samples, primitives written by transform feedback, then ten pipeline statistics in Vulkan's order for
// each combination of stages: none, tessellation, geometry, both.
constexpr u32 total_samples = 0, total_feedback = 1, total_statistics = 3, statistic_count = 10, stage_sets = 4;
constexpr u32 total_count = total_statistics + statistic_count * stage_sets;
enum Statistic : u32 {
    AssemblyVertices,
    AssemblyPrimitives,
    VertexInvocations,
    GeometryInvocations,
    GeometryPrimitives,
    ClipperInput,
    ClipperOutput,
    FragmentInvocations,
    ControlPatches,
    EvaluationInvocations
};
constexpr VkQueryPipelineStatisticFlags all_statistics = (1u << statistic_count) - 1;

// Which statistic of which combination of stages a counter adds up; absent: it takes none from there.
constexpr u8 absent = 0xff;
struct CounterRow {
    u32 counter;
    std::array<u8, stage_sets> statistic;
};
constexpr CounterRow counter_rows[] = {
    {0x2, {AssemblyVertices, AssemblyVertices, AssemblyVertices, AssemblyVertices}},
    {0x3, {AssemblyPrimitives, AssemblyPrimitives, AssemblyPrimitives, AssemblyPrimitives}},
    {0x4, {VertexInvocations, VertexInvocations, VertexInvocations, VertexInvocations}},
    {0x5, {absent, ControlPatches, absent, ControlPatches}},
    {0x6, {absent, EvaluationInvocations, absent, EvaluationInvocations}},
    {0x7, {absent, absent, GeometryInvocations, GeometryInvocations}},
    {0x8, {FragmentInvocations, FragmentInvocations, FragmentInvocations, FragmentInvocations}},
    {0x9, {absent, ClipperInput, absent, GeometryInvocations}}, // what tessellation made is what the next stage takes
    {0xa, {absent, absent, GeometryPrimitives, GeometryPrimitives}},
    {0xb, {ClipperInput, ClipperInput, ClipperInput, ClipperInput}},
    {0xc, {ClipperOutput, ClipperOutput, ClipperOutput, ClipperOutput}},
    {0xd, {AssemblyPrimitives, ClipperInput, GeometryPrimitives, GeometryPrimitives}},
};

// Bits of the totals that make a counter; 0: one that is always 0.
u64 totals_of(u32 counter) {
    if (counter == counter_samples)
        return u64{1} << total_samples;
    if (counter == counter_feedback_primitives)
        return u64{1} << total_feedback;
    u64 mask = 0;
    for (const CounterRow& row : counter_rows)
        for (u32 set = 0; set < stage_sets; ++set)
            if (row.counter == counter && row.statistic[set] != absent)
                mask |= u64{1} << (total_statistics + set * statistic_count + row.statistic[set]);
    return mask;
}

// Offsets in a set's memory; report_counter.comp knows the first three.
constexpr u64 bases_at = 0x200, time_at = 0x300, predicate_at = 0x310, results_at = 0x400;
static_assert(total_count * 8 <= bases_at);
constexpr u64 memory_size(u32 capacity) {
    return results_at + u64{capacity} * statistic_count * 8;
}

u64 now_nanoseconds() {
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    return static_cast<u64>(std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
}

u64 console_ticks(u64 nanoseconds) {
    return nanoseconds / 13 * 8 + nanoseconds % 13 * 8 / 13;
}

} // namespace

// --- Clocks ---

CounterDevice::CounterDevice(const gpu::Device& device, gpu::Queue& queue, gpu::ShaderLibrary& library)
    : device_(&device), queue_(&queue), library_(&library) {
    const f64 period = static_cast<f64>(device.capabilities.limits.timestampPeriod); // nanoseconds
    scale_ = static_cast<u64>(period * 8 / 13 * 4294967296.0);
    u32 count = 0;
    vkGetPhysicalDeviceQueueFamilyProperties(device.physical, &count, nullptr);
    std::vector<VkQueueFamilyProperties> families(count);
    vkGetPhysicalDeviceQueueFamilyProperties(device.physical, &count, families.data());
    if (device.queue_family < families.size())
        valid_bits_ = families[device.queue_family].timestampValidBits;
    if (valid_bits_ != 0 && !device.has(gpu::Feature::CalibratedTimestamps))
        match_clocks_by_waiting();
}

gpu::Shader& CounterDevice::kernel(Kernel which) {
    gpu::Shader*& shader = kernels_[which];
    if (!shader) {
        const std::span<const u32> code[] = {sum_queries_comp, report_counter_comp, compare_counters_comp};
        shader = library_->request(shader::Stage::Compute, code[which], "counters");
    }
    return *shader;
}

u64 CounterDevice::ticks(u64 t) const { // as report_counter.comp
    const u64 whole = scale_ >> 32, fraction = scale_ & 0xffffffff;
    return t * whole + (t >> 32) * fraction + ((t & 0xffffffff) * fraction >> 32);
}

// Reports must not be later than the clock that the process reads when it sees them (ledger OBJ-147), so a match that
// is not exact errs to the early side. The clocks drift, so they are matched anew every second.
void CounterDevice::match_clocks() {
    const auto now = std::chrono::steady_clock::now();
    if (!device_->has(gpu::Feature::CalibratedTimestamps) || now - matched_ < std::chrono::seconds(1))
        return;
    matched_ = now;
    const VkCalibratedTimestampInfoEXT infos[2] = {
        {VK_STRUCTURE_TYPE_CALIBRATED_TIMESTAMP_INFO_EXT, nullptr, VK_TIME_DOMAIN_DEVICE_EXT},
        {VK_STRUCTURE_TYPE_CALIBRATED_TIMESTAMP_INFO_EXT, nullptr, VK_TIME_DOMAIN_CLOCK_MONOTONIC_EXT}};
    u64 times[2]{}, deviation = 0;
    if (device_->vk.vkGetCalibratedTimestampsEXT(device_->handle, 2, infos, times, &deviation) == VK_SUCCESS)
        offset_ = console_ticks(times[1] - std::min(deviation, times[1])) - ticks(times[0]);
}

// A submission of its own, which ends after the clock was read here. While no command buffer is open.
void CounterDevice::match_clocks_by_waiting() {
    VkQueryPoolCreateInfo info{.sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO};
    info.queryType = VK_QUERY_TYPE_TIMESTAMP;
    info.queryCount = 1;
    VkQueryPool handle = VK_NULL_HANDLE;
    if (device_->vk.vkCreateQueryPool(device_->handle, &info, nullptr, &handle) != VK_SUCCESS)
        return;
    const auto pool = gpu::adopt(*device_, gpu::Object::QueryPool, handle);
    auto commands = queue_->begin();
    if (!commands)
        return;
    device_->vk.vkCmdResetQueryPool((*commands)->handle(), handle, 0, 1);
    device_->vk.vkCmdWriteTimestamp2((*commands)->handle(), VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT, handle, 0);
    if (!queue_->wait(queue_->submitted()))
        return;
    const u64 before = now_nanoseconds();
    const auto submitted = queue_->submit(**commands);
    u64 device_time = 0;
    if (submitted && queue_->wait(*submitted) &&
        device_->vk.vkGetQueryPoolResults(device_->handle, handle, 0, 1, sizeof device_time, &device_time,
                                          sizeof device_time,
                                          VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WAIT_BIT) == VK_SUCCESS)
        offset_ = console_ticks(before) - ticks(device_time);
}

// --- One queue's set ---

Counters::Counters(CounterDevice& shared) : shared_(&shared) {
    kinds_[0] = {VK_QUERY_TYPE_OCCLUSION, 0, 1, total_samples, {}};
    kinds_[1] = {VK_QUERY_TYPE_TRANSFORM_FEEDBACK_STREAM_EXT, 0, 2, total_feedback, {}}; // written, needed
    for (u32 set = 0; set < stage_sets; ++set)
        kinds_[2 + set] = {VK_QUERY_TYPE_PIPELINE_STATISTICS,
                           all_statistics,
                           statistic_count,
                           total_statistics + set * statistic_count,
                           {}};
}

Counters::~Counters() {
    for (Kind& k : kinds_)
        if (k.pool)
            shared_->queue_->retire(std::move(k.pool));
    if (time_)
        shared_->queue_->retire(std::move(time_));
    if (memory_)
        shared_->queue_->retire(std::move(memory_));
}

gpu::BufferSlice Counters::totals() const {
    return memory_.slice(0, bases_at);
}

bool Counters::prepare_memory(gpu::Commands& c) {
    if (memory_)
        return true;
    auto buffer = gpu::create_buffer(*shared_->device_, memory_size(capacity), gpu::MemoryKind::Device, "counters");
    if (!buffer) {
        log::error_once("counters: {}", buffer.error().message);
        return false;
    }
    memory_ = std::move(*buffer);
    VkQueryPoolCreateInfo info{.sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO};
    info.queryType = VK_QUERY_TYPE_TIMESTAMP;
    info.queryCount = 1;
    VkQueryPool pool = VK_NULL_HANDLE;
    if (shared_->device_->vk.vkCreateQueryPool(shared_->device_->handle, &info, nullptr, &pool) == VK_SUCCESS)
        time_ = gpu::adopt(*shared_->device_, gpu::Object::QueryPool, pool);
    c.prepare_transfer();
    shared_->device_->vk.vkCmdFillBuffer(c.handle(), memory_.whole().buffer, 0, VK_WHOLE_SIZE, 0);
    c.barrier();
    return true;
}

bool Counters::prepare(Kind& kind, gpu::Commands& c) {
    if (kind.pool)
        return true;
    VkQueryPoolCreateInfo info{.sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO};
    info.queryType = kind.type;
    info.queryCount = capacity;
    info.pipelineStatistics = kind.statistics;
    VkQueryPool pool = VK_NULL_HANDLE;
    const auto& vk = shared_->device_->vk;
    if (vk.vkCreateQueryPool(shared_->device_->handle, &info, nullptr, &pool) != VK_SUCCESS) {
        log::error_once("counters: no query pool");
        return false;
    }
    kind.pool = gpu::adopt(*shared_->device_, gpu::Object::QueryPool, pool);
    c.prepare_transfer();
    vk.vkCmdResetQueryPool(c.handle(), pool, 0, capacity);
    return true;
}

void Counters::begin(Kind& kind, gpu::Commands& c) const {
    if (!kind.wanted || kind.open)
        return;
    if (kind.used == capacity) { // one pass has changed its stages very often
        log::error_once("more than {} changes of stages in a pass: later draws are not counted", capacity);
        return;
    }
    const auto& d = *shared_->device_;
    VkQueryControlFlags flags = 0;
    if (kind.type == VK_QUERY_TYPE_OCCLUSION && d.has(gpu::Feature::PreciseOcclusion))
        flags = VK_QUERY_CONTROL_PRECISE_BIT;
    if (kind.type == VK_QUERY_TYPE_TRANSFORM_FEEDBACK_STREAM_EXT)
        d.vk.vkCmdBeginQueryIndexedEXT(c.handle(), kind.pool.get(), kind.used, flags, 0);
    else
        d.vk.vkCmdBeginQuery(c.handle(), kind.pool.get(), kind.used, flags);
    kind.open = true;
}

void Counters::end(Kind& kind, gpu::Commands& c) const {
    if (!kind.open)
        return;
    if (kind.type == VK_QUERY_TYPE_TRANSFORM_FEEDBACK_STREAM_EXT)
        shared_->device_->vk.vkCmdEndQueryIndexedEXT(c.handle(), kind.pool.get(), kind.used, 0);
    else
        shared_->device_->vk.vkCmdEndQuery(c.handle(), kind.pool.get(), kind.used);
    kind.open = false;
    ++kind.used;
}

void Counters::make_room(gpu::Commands& c) {
    if (std::any_of(kinds_.begin(), kinds_.end(), [](const Kind& k) { return k.used > capacity / 2; }))
        collect(c);
}

void Counters::begin(gpu::Commands& c) {
    begin(kinds_[0], c);
    begin(kinds_[1], c);
    begin(kinds_[2 + stages_], c);
}

void Counters::end(gpu::Commands& c) {
    for (Kind& kind : kinds_)
        end(kind, c);
}

void Counters::set_stages(gpu::Commands& c, Stages stages) {
    const u32 set = u32{stages.tessellation} | u32{stages.geometry} << 1;
    if (set == stages_)
        return;
    end(kinds_[2 + stages_], c);
    stages_ = set;
    begin(kinds_[2 + stages_], c);
}

void Counters::collect(gpu::Commands& c) {
    const auto& vk = shared_->device_->vk;
    for (Kind& kind : kinds_) {
        if (kind.used == 0)
            continue;
        const gpu::BufferSlice results = memory_.slice(results_at, u64{kind.used} * kind.fields * 8);
        c.prepare_transfer();
        vk.vkCmdCopyQueryPoolResults(c.handle(), kind.pool.get(), 0, kind.used, results.buffer, results.offset,
                                     u64{kind.fields} * 8, VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WAIT_BIT);
        vk.vkCmdResetQueryPool(c.handle(), kind.pool.get(), 0, kind.used);
        c.barrier();
        const struct { // as in sum_queries.comp
            u64 results, totals;
            u32 count, fields;
        } parameters{results.address, totals().address + u64{kind.first} * 8, kind.used, kind.fields};
        if (!c.run_kernel(gpu::Commands::Place::Here, shared_->kernel(CounterDevice::Sum),
                          std::as_bytes(std::span(&parameters, 1)), {1, 1, 1}))
            log::error_once("counters: no kernel");
        c.barrier();
        kind.used = 0;
    }
}

// Counting begins here. False: nothing is behind the counter, it is 0.
bool Counters::want(u32 counter, gpu::Commands& c) {
    const auto& device = *shared_->device_;
    std::span<Kind> kinds(kinds_);
    if (counter == counter_samples) {
        kinds = kinds.first(1);
    } else if (counter == counter_feedback_primitives) {
        if (!device.has(gpu::Feature::TransformFeedback)) {
            log::error_once("counter {}: the device has no transform feedback, it reports 0", counter);
            return false;
        }
        kinds = kinds.subspan(1, 1);
    } else if (totals_of(counter) != 0) {
        if (!device.has(gpu::Feature::PipelineStatistics)) {
            log::error_once("counter {}: the device has no pipeline statistics, it reports 0", counter);
            return false;
        }
        kinds = kinds.subspan(2);
    } else {
        if (counter != counter_timestamp && counter != counter_timestamp_top && counter != counter_zcull)
            log::error_once("counter {} is none: it reports 0", counter);
        return false;
    }
    for (Kind& kind : kinds)
        kind.wanted = kind.wanted || prepare(kind, c);
    return true;
}

void Counters::reset(gpu::Commands& c, u32 counter) {
    if (!prepare_memory(c) || !want(counter, c))
        return;
    collect(c);
    write(c, counter, 0, 0);
}

void Counters::report(gpu::Commands& c, u32 counter, const gpu::BufferSlice& to) {
    const auto& vk = shared_->device_->vk;
    if (!prepare_memory(c))
        return;
    if (want(counter, c))
        collect(c);
    u64 offset = console_ticks(now_nanoseconds());
    c.prepare_transfer();
    if (shared_->valid_bits_ != 0 && time_) {
        shared_->match_clocks();
        offset = shared_->offset_;
        const gpu::BufferSlice time = memory_.slice(time_at, 8);
        vk.vkCmdResetQueryPool(c.handle(), time_.get(), 0, 1);
        vk.vkCmdWriteTimestamp2(c.handle(),
                                counter == counter_timestamp_top ? VK_PIPELINE_STAGE_2_TOP_OF_PIPE_BIT
                                                                 : VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT,
                                time_.get(), 0);
        vk.vkCmdCopyQueryPoolResults(c.handle(), time_.get(), 0, 1, time.buffer, time.offset, 8,
                                     VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WAIT_BIT);
        c.barrier();
    }
    write(c, counter, to.address, offset);
}

// The counter's report to an address; 0: as what later reports count from.
void Counters::write(gpu::Commands& c, u32 counter, u64 to, u64 offset) {
    const struct { // as in report_counter.comp
        u64 memory, report, mask, scale, offset;
        u32 counter, pad;
    } parameters{memory_.whole().address,       to, totals_of(counter), shared_->scale_, offset,
                 std::min(counter, no_counter), 0};
    if (!c.run_kernel(gpu::Commands::Place::Here, shared_->kernel(CounterDevice::Report),
                      std::as_bytes(std::span(&parameters, 1)), {1, 1, 1}))
        log::error_once("counters: no kernel");
    c.barrier();
}

gpu::BufferSlice Counters::compare(gpu::Commands& c, const gpu::BufferSlice& at, bool if_equal) {
    if (!prepare_memory(c))
        return {};
    const gpu::BufferSlice predicate = memory_.slice(predicate_at, 4);
    c.barrier();
    const struct { // as in compare_counters.comp
        u64 first, second, predicate;
        u32 if_equal, pad;
    } parameters{at.address, at.address + 16, predicate.address, if_equal, 0};
    if (!c.run_kernel(gpu::Commands::Place::Here, shared_->kernel(CounterDevice::Compare),
                      std::as_bytes(std::span(&parameters, 1)), {1, 1, 1}))
        log::error_once("conditional rendering: no kernel");
    c.barrier();
    return predicate;
}

} // namespace heaviside::replay
