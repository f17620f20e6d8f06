// The C interface of heaviside.h over Runtime.
#include <heaviside/heaviside.h>
#include <nvn/nvn.h>

#include "api/runtime.h"
#include "nvn/entry_points.h"
#include "nvn/entry_table.h"
#include "nvn/mapped.h"
#include "nvn/runtime.h"
#include "texture/texel.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

using namespace heaviside;

namespace {

// The one device object, and what guards it.
struct Instance {
    std::mutex mutex; // start and stop
    std::unique_ptr<api::Runtime> runtime;
    std::atomic<guest::WriteTracker*> tracker = nullptr; // read in signal handlers
    std::atomic<api::Runtime*> running = nullptr;        // `runtime`, for calls that must not wait for others
    std::deque<std::string> names;                       // handed out by the diagnostic lists
};
Instance& instance() {
    static Instance* const it = new Instance; // outlives exit handlers and the threads that log from them
    return *it;
}

thread_local std::string last_error;

heaviside_result failure(heaviside_result code, std::string message) {
    last_error = std::move(message);
    return code;
}

const nvn::Texture* guest_texture(const void* texture, const char* call) {
    return texture ? nvn::as_mapped_valid(static_cast<const NVNtexture*>(texture), call) : nullptr;
}
std::string no_texture(const void* texture) {
    return fmt::format("there is no texture at {}", fmt::ptr(texture));
}

heaviside_result start_locked(const heaviside_config& config) {
    const auto settings = api::resolve(config);
    if (!settings)
        return failure(HEAVISIDE_ERROR_BAD_ARGUMENT, settings.error().message);
    auto runtime = api::Runtime::start(*settings);
    if (!runtime)
        return failure(HEAVISIDE_ERROR_NO_DEVICE, runtime.error().message);
    instance().runtime = *std::move(runtime);
    instance().tracker = &instance().runtime->tracker();
    instance().running = instance().runtime.get();
    return HEAVISIDE_OK;
}

// A native program calls nvnDeviceInitialize and nothing else: the runtime comes up with the defaults and goes down
// with the process. On a thread of its own: drivers need more stack than the caller may have (ledger OBJ-231).
bool start_lazily(void*) {
    std::lock_guard lock(instance().mutex);
    if (instance().runtime)
        return true;
    bool started = false;
    std::thread([&started] {
        heaviside_config config;
        heaviside_config_default(&config);
        started = start_locked(config) == HEAVISIDE_OK;
        if (!started)
            log::error("nvnDeviceInitialize: {}", last_error);
    }).join();
    if (!started)
        return false;
    std::atexit(heaviside_shutdown);
    return true;
}

size_t fill(std::span<const nvn::CallCount> counts, heaviside_call_count* entries, size_t capacity) {
    std::lock_guard lock(instance().mutex);
    for (size_t i = 0; i < counts.size() && i < capacity && entries; ++i)
        entries[i] = {instance().names.emplace_back(counts[i].name).c_str(), counts[i].count};
    return counts.size();
}

} // namespace

// The one symbol of the NVN API that programs link. It stands here, not in nvn/, so that linking it brings the runtime
// along.
PFNNVNGENERICFUNCPTRPROC nvnBootstrapLoader(const char* name) {
    static const bool installed = [] {
        nvn::set_runtime_starter({start_lazily, nullptr});
        return true;
    }();
    (void)installed;
    return nvn::look_up(name);
}

// A flag that newer SDKs import from the driver: 1 would make them write its commands inline (ledger OBJ-254).
extern "C" {
HEAVISIDE_API extern const unsigned nvnPrivate0;
const unsigned nvnPrivate0 = 0;
}

void heaviside_config_default(heaviside_config* config) {
    if (!config)
        return;
    *config = {};
    config->size = sizeof(*config);
    config->log_level = HEAVISIDE_LOG_INFO;
    config->present_interval_override = -1;
    config->pacing = HEAVISIDE_PACING_GAME;
    config->sharpness = 0.5f;
}

heaviside_result heaviside_init(const heaviside_config* config) {
    std::lock_guard lock(instance().mutex);
    if (instance().runtime)
        return failure(HEAVISIDE_ERROR_ALREADY_STARTED, "heaviside_init: the runtime is running already");
    heaviside_config defaults;
    heaviside_config_default(&defaults);
    return start_locked(config ? *config : defaults);
}

void heaviside_shutdown(void) {
    std::lock_guard lock(instance().mutex);
    instance().tracker = nullptr;
    instance().running = nullptr;
    instance().runtime.reset();
    instance().names.clear();
}

const char* heaviside_last_error(void) {
    return last_error.c_str();
}

const char* heaviside_version(void) {
#define HEAVISIDE_TEXT(x) #x
#define HEAVISIDE_DOTTED(a, b, c) HEAVISIDE_TEXT(a) "." HEAVISIDE_TEXT(b) "." HEAVISIDE_TEXT(c)
    return HEAVISIDE_DOTTED(HEAVISIDE_VERSION_MAJOR, HEAVISIDE_VERSION_MINOR, HEAVISIDE_VERSION_PATCH);
}

const heaviside_symbol* heaviside_guest_symbols(size_t* count) {
    static const std::array symbols{
        heaviside_symbol{"nvnBootstrapLoader", reinterpret_cast<heaviside_function>(nvnBootstrapLoader)},
    };
    if (count)
        *count = symbols.size();
    return symbols.data();
}

int heaviside_handle_fault(uintptr_t address, int is_write) {
    guest::WriteTracker* const tracker = instance().tracker.load(std::memory_order_acquire);
    return tracker && tracker->handle_fault(address, is_write != 0);
}

void heaviside_guest_write_prepare(uintptr_t address, size_t size) {
    guest::WriteTracker* const tracker = instance().tracker.load(std::memory_order_acquire);
    if (!tracker)
        return;
    tracker->open(GuestAddress{address}, size);
    tracker->mark(GuestAddress{address}, size);
}

heaviside_result heaviside_texture_info(const void* texture, heaviside_texture* info) {
    const nvn::Texture* const t = guest_texture(texture, __func__);
    if (!t || !info || info->size < sizeof *info)
        return failure(HEAVISIDE_ERROR_BAD_ARGUMENT, t ? "heaviside_texture_info: no room" : no_texture(texture));
    const stream::TextureDescription& d = t->description;
    info->width = static_cast<int>(d.width);
    info->height = d.height;
    info->depth = d.depth;
    info->levels = d.levels;
    info->format = d.format;
    return HEAVISIDE_OK;
}

heaviside_result heaviside_texture_write_rgba(const void* texture, const void* texels, size_t stride) {
    const nvn::Texture* const t = guest_texture(texture, __func__);
    if (!t || !texels)
        return failure(HEAVISIDE_ERROR_BAD_ARGUMENT,
                       t ? "heaviside_texture_write_rgba: no texels" : no_texture(texture));
    const stream::TextureDescription& d = t->description;
    const texture::FormatInfo& format = texture::info(d.format);
    if (format.kind != texture::Kind::Unorm || texture::is_compressed(format) || d.samples > 1)
        return failure(HEAVISIDE_ERROR_BAD_ARGUMENT,
                       fmt::format("a texture of format {} takes no bytes of colours", format.name));
    const u32 width = d.width, height = std::max<u32>(1, d.height);
    if (stride && stride < size_t{width} * 4)
        return failure(HEAVISIDE_ERROR_BAD_ARGUMENT,
                       fmt::format("heaviside_texture_write_rgba: stride {} of rows of {} texels", stride, width));
    std::vector<std::byte> rows(u64{width} * height * format.block_bytes);
    const auto* const in = static_cast<const u8*>(texels);
    for (u32 y = 0; y < height; ++y)
        for (u32 x = 0; x < width; ++x) {
            const u8* const c = in + y * (stride ? stride : size_t{width} * 4) + size_t{x} * 4;
            texture::encode_texel(format, {c[0] / 255.0, c[1] / 255.0, c[2] / 255.0, c[3] / 255.0},
                                  rows.data() + (u64{y} * width + x) * format.block_bytes);
        }
    const NVNcopyRegion all{0, 0, 0, static_cast<int>(width), static_cast<int>(height), 1};
    nvn::nvnTextureWriteTexels(static_cast<const NVNtexture*>(texture), nullptr, &all, rows.data());
    return HEAVISIDE_OK;
}

uint64_t heaviside_vsync_period_ns(void) {
    const api::Runtime* const runtime = instance().running;
    return runtime ? runtime->blank_period() : present::blank_period({}, 1);
}

heaviside_result heaviside_get_stats(heaviside_stats* stats) {
    if (!stats || stats->size < sizeof(stats->size))
        return failure(HEAVISIDE_ERROR_BAD_ARGUMENT, "heaviside_get_stats: set stats->size before the call");
    std::lock_guard lock(instance().mutex);
    if (!instance().runtime)
        return failure(HEAVISIDE_ERROR_NOT_STARTED, "heaviside_get_stats: the runtime is not running");
    const api::Runtime& runtime = *instance().runtime;
    const replay::Statistics replayed = runtime.statistics();
    heaviside_stats all{};
    all.size = stats->size;
    all.frames = runtime.frames();
    all.submits = replayed.submissions;
    all.draws = replayed.draws;
    all.dispatches = replayed.dispatches;
    all.programs = replayed.translated;
    all.programs_pending =
        replayed.programs - std::min(replayed.programs, replayed.translated + replayed.failed_translations);
    all.errors = runtime.errors();
    for (const nvn::CallCount& call : nvn::unimplemented())
        all.unimplemented += call.count;
    all.validation_messages = runtime.device().validation_messages.load();
    std::memcpy(stats, &all, std::min(stats->size, sizeof(all)));
    return HEAVISIDE_OK;
}

heaviside_result heaviside_screenshot(const char* path) {
    if (!path)
        return failure(HEAVISIDE_ERROR_BAD_ARGUMENT, "heaviside_screenshot: no path");
    std::lock_guard lock(instance().mutex);
    if (!instance().runtime)
        return failure(HEAVISIDE_ERROR_NOT_STARTED, "heaviside_screenshot: the runtime is not running");
    if (instance().runtime->frames() == 0)
        return failure(HEAVISIDE_ERROR_NOTHING_PRESENTED, "heaviside_screenshot: nothing has been presented yet");
    const auto saved = instance().runtime->screenshot(path);
    return saved ? HEAVISIDE_OK : failure(HEAVISIDE_ERROR_IO, saved.error().message);
}

heaviside_result heaviside_screenshot_next(const char* path) {
    if (!path)
        return failure(HEAVISIDE_ERROR_BAD_ARGUMENT, "heaviside_screenshot_next: no path");
    std::lock_guard lock(instance().mutex);
    if (!instance().runtime)
        return failure(HEAVISIDE_ERROR_NOT_STARTED, "heaviside_screenshot_next: the runtime is not running");
    instance().runtime->screenshot_of_next(path);
    return HEAVISIDE_OK;
}

void heaviside_set_layer_crop(int x, int y, int width, int height) {
    if (api::Runtime* const runtime = instance().running)
        runtime->set_layer_crop({x, y, 0, width, height, 1});
}

heaviside_rect heaviside_fit_rect(int picture_width, int picture_height, int output_width, int output_height,
                                  heaviside_fit fit) {
    const auto size = [](int width, int height) {
        return VkExtent2D{static_cast<u32>(std::max(width, 0)), static_cast<u32>(std::max(height, 0))};
    };
    const VkRect2D r = present::fit(size(picture_width, picture_height), size(output_width, output_height),
                                    static_cast<present::Fit>(fit));
    return {r.offset.x, r.offset.y, static_cast<int>(r.extent.width), static_cast<int>(r.extent.height)};
}

heaviside_upscaler heaviside_effective_upscaler(int upscaler) {
    return static_cast<heaviside_upscaler>(present::effective_upscaling(upscaler));
}

void heaviside_render_size(int output_width, int output_height, int upscaler, int* width, int* height) {
    const VkExtent2D output{static_cast<u32>(std::max(output_width, 0)), static_cast<u32>(std::max(output_height, 0))};
    const VkExtent2D size =
        present::render_size(output, present::effective_upscaling(upscaler), HEAVISIDE_UPSCALE_FACTOR);
    if (width)
        *width = static_cast<int>(size.width);
    if (height)
        *height = static_cast<int>(size.height);
}

void heaviside_suspend(void) {
    if (api::Runtime* const runtime = instance().running)
        runtime->suspend();
}

void heaviside_resume(void) {
    if (api::Runtime* const runtime = instance().running)
        runtime->resume();
}

void heaviside_diag_dump(void) {
    heaviside_stats stats{};
    stats.size = sizeof stats;
    if (heaviside_get_stats(&stats) == HEAVISIDE_OK)
        log::info("frames {}, submissions {}, draws {}, dispatches {}, programs {}, errors {}, validation messages {}",
                  stats.frames, stats.submits, stats.draws, stats.dispatches, stats.programs, stats.errors,
                  stats.validation_messages);
    for (const nvn::CallCount& call : nvn::unimplemented())
        log::info("not built: {}, called {} times", call.name, call.count);
    for (const std::string& name : nvn::unknown_lookups())
        log::info("unknown name: {}", name);
}

size_t heaviside_unimplemented(heaviside_call_count* entries, size_t capacity) {
    return fill(nvn::unimplemented(), entries, capacity);
}

size_t heaviside_unknown_lookups(heaviside_call_count* entries, size_t capacity) {
    std::vector<nvn::CallCount> counts;
    for (std::string& name : nvn::unknown_lookups())
        counts.push_back({std::move(name), 1});
    return fill(counts, entries, capacity);
}
