#include "base/log.h"

#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include <atomic>
#include <mutex>
#include <string>
#include <unordered_set>

namespace heaviside::log {
namespace {

struct State {
    std::mutex mutex;
    Sink sink;
    std::unordered_set<std::string> seen;
    std::atomic<Level> lowest = Level::Info;
    std::atomic<unsigned long long> errors = 0;
};

// Logging outlives every object that may log from a destructor, so its state is never destroyed.
State& state() {
    static State* const instance = new State;
    return *instance;
}

spdlog::logger& console() {
    static spdlog::logger* const instance = [] {
        auto* logger = new spdlog::logger("heaviside", std::make_shared<spdlog::sinks::stderr_color_sink_mt>());
        logger->set_pattern("%n: %^%l%$: %v");
        logger->set_level(spdlog::level::trace);
        return logger;
    }();
    return *instance;
}

spdlog::level::level_enum spdlog_level(Level level) {
    switch (level) {
    case Level::Debug:
        return spdlog::level::debug;
    case Level::Info:
        return spdlog::level::info;
    case Level::Warning:
        return spdlog::level::warn;
    case Level::Error:
        break;
    }
    return spdlog::level::err;
}

} // namespace

void set_sink(Sink sink) {
    std::lock_guard lock(state().mutex);
    state().sink = std::move(sink);
}

void set_level(Level lowest) {
    state().lowest.store(lowest, std::memory_order_relaxed);
}

bool enabled(Level level) {
    return level >= state().lowest.load(std::memory_order_relaxed);
}

unsigned long long error_count() {
    return state().errors.load(std::memory_order_relaxed);
}

void write(Level level, std::string_view line) {
    if (level == Level::Error)
        state().errors.fetch_add(1, std::memory_order_relaxed);
    std::lock_guard lock(state().mutex);
    if (state().sink)
        state().sink(level, line);
    else
        console().log(spdlog_level(level), line);
}

bool first_time(std::string_view key) {
    // A hostile guest can produce endless distinct lines; past this many the set stops growing and lines are dropped.
    constexpr std::size_t limit = 4096;
    std::lock_guard lock(state().mutex);
    if (state().seen.size() >= limit)
        return false;
    return state().seen.emplace(key).second;
}

void forget_seen() {
    std::lock_guard lock(state().mutex);
    state().seen.clear();
}

} // namespace heaviside::log
