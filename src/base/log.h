// One line per fact, off the hot path. Any thread.
//
// A line goes to the sink that the runtime installed (api/), to stderr otherwise. error_once() and friends report a
// fact the first time only and count the rest, so that a fault repeated every draw does not flood.
#pragma once

#include <fmt/format.h>

#include <functional>
#include <string_view>
#include <utility>

namespace heaviside::log {

enum class Level { Debug, Info, Warning, Error };

using Sink = std::function<void(Level, std::string_view)>;

void set_sink(Sink sink); // empty: stderr
void set_level(Level lowest);
[[nodiscard]] bool enabled(Level level);
void write(Level level, std::string_view line);
// Lines written at Level::Error so far, whoever reads them.
[[nodiscard]] unsigned long long error_count();
// True the first time `key` is seen since the process started or forgot.
[[nodiscard]] bool first_time(std::string_view key);
void forget_seen(); // a runtime that starts reports its own facts, whatever an earlier one reported

template <class... Args>
void line(Level level, fmt::format_string<Args...> format, Args&&... args) {
    if (enabled(level))
        write(level, fmt::format(format, std::forward<Args>(args)...));
}
template <class... Args>
void debug(fmt::format_string<Args...> format, Args&&... args) {
    line(Level::Debug, format, std::forward<Args>(args)...);
}
template <class... Args>
void info(fmt::format_string<Args...> format, Args&&... args) {
    line(Level::Info, format, std::forward<Args>(args)...);
}
template <class... Args>
void warning(fmt::format_string<Args...> format, Args&&... args) {
    line(Level::Warning, format, std::forward<Args>(args)...);
}
template <class... Args>
void error(fmt::format_string<Args...> format, Args&&... args) {
    line(Level::Error, format, std::forward<Args>(args)...);
}
template <class... Args>
void error_once(fmt::format_string<Args...> format, Args&&... args) {
    const std::string text = fmt::format(format, std::forward<Args>(args)...);
    if (first_time(text))
        write(Level::Error, text);
}

} // namespace heaviside::log
