// Call traces (src/nvn/trace.h writes them): lines to calls, filters, the difference of two.
#pragma once

#include "base/types.h"

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace heaviside::tools {

struct TracedCall {
    std::size_t line = 0; // in the file, from 1
    unsigned thread = 1;
    unsigned frame = 1;    // presents before it, + 1
    std::string_view text; // without the thread
    std::string_view function;
    std::vector<std::string_view> arguments;
    std::string_view result;                                            // empty: none
    std::vector<std::pair<std::string_view, std::string_view>> outputs; // what getters wrote
};

// The calls of a trace; they refer to `text`. Lines that are no call are counted in `bad`.
[[nodiscard]] std::vector<TracedCall> parse_trace(std::string_view text, std::size_t* bad);

struct TraceFilter {
    std::vector<std::string> functions; // any of these: the name with or without nvn; * stands for any characters
    std::vector<std::string> objects;   // any of these among arguments, results and lists: "CommandBuffer#2"
    std::optional<unsigned> thread;
    unsigned first_frame = 1, last_frame = ~0u;
};
[[nodiscard]] bool matches(const TraceFilter& filter, const TracedCall& call);

// A run of calls of one thread that one trace has in the place of a run of the other; either may be empty.
struct TraceDifference {
    unsigned thread = 1;
    std::vector<const TracedCall*> left, right;
};
// Threads are compared one by one: how their calls lie between each other is chance. With `ignore_numbers` objects
// count as equal whatever their number.
[[nodiscard]] std::vector<TraceDifference> compare_traces(const std::vector<TracedCall>& left,
                                                          const std::vector<TracedCall>& right, bool ignore_numbers);

} // namespace heaviside::tools
