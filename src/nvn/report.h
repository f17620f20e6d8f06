// Errors that applications make. One log line each, naming the call; the debug callback of the device hears of it too,
// on the calling thread. The command is skipped and the frame goes on.
#pragma once

#include "nvn/api_types.h"

#include <fmt/format.h>

#include <string_view>
#include <utility>

namespace heaviside::nvn {

// Repeats of the same text are logged once; the debug callback gets them all.
void report_text(NVNdebugCallbackType type, std::string_view call, std::string_view text);

template <class... Args>
void report_error(std::string_view call, fmt::format_string<Args...> format, Args&&... args) {
    report_text(NVN_DEBUG_CALLBACK_TYPE_API_ERROR, call, fmt::format(format, std::forward<Args>(args)...));
}

} // namespace heaviside::nvn
