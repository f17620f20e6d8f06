// heaviside trace: the calls that HEAVISIDE_TRACE=file wrote, filtered or compared.
#include "tools/commands.h"
#include "tools/terminal.h"
#include "tools/trace.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <map>

namespace heaviside::tools {
namespace {

constexpr std::string_view command = "trace";

struct Trace {
    std::string text;
    std::vector<TracedCall> calls;
};

// False after an error line; a file with lines that are no calls is read, and reported.
bool load(const std::string& path, const TraceFilter& filter, Trace& out, int* code) {
    const auto bytes = read_file(path);
    if (!bytes) {
        report_error(command, bytes.error().message);
        *code = unavailable;
        return false;
    }
    out.text.assign(reinterpret_cast<const char*>(bytes->data()), bytes->size());
    std::size_t bad = 0;
    out.calls = parse_trace(out.text, &bad);
    if (bad != 0) {
        report_error(command, fmt::format("{}: {} lines are no calls", path, bad));
        if (out.calls.empty()) {
            *code = failed;
            return false;
        }
    }
    std::erase_if(out.calls, [&](const TracedCall& call) { return !matches(filter, call); });
    return true;
}

bool parse_number(std::string_view text, unsigned& out) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
    return error == std::errc{} && end == text.data() + text.size();
}

// "3", "3-5", "3-" or "-5".
bool parse_frames(std::string_view text, TraceFilter& filter) {
    const std::size_t dash = text.find('-');
    if (dash == std::string_view::npos) {
        const bool ok = parse_number(text, filter.first_frame);
        filter.last_frame = filter.first_frame;
        return ok;
    }
    const std::string_view first = text.substr(0, dash), last = text.substr(dash + 1);
    return text.size() > 1 && (first.empty() || parse_number(first, filter.first_frame)) &&
           (last.empty() || parse_number(last, filter.last_frame));
}

nlohmann::json json_of(const TracedCall& call) {
    nlohmann::json json{{"line", call.line},
                        {"frame", call.frame},
                        {"thread", call.thread},
                        {"function", call.function},
                        {"arguments", call.arguments}};
    if (!call.result.empty())
        json["result"] = call.result;
    for (const auto& output : call.outputs)
        json["outputs"][std::string(output.first)] = output.second;
    return json;
}

nlohmann::json json_of(const std::vector<const TracedCall*>& calls) {
    auto list = nlohmann::json::array();
    for (const TracedCall* call : calls)
        list.push_back(json_of(*call));
    return list;
}

void put(const std::string& text) {
    std::fwrite(text.data(), 1, text.size(), stdout);
}
void put(const nlohmann::json& json) {
    put(json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
}

void print_calls(const TraceOptions& options, const Trace& trace) {
    if (options.json) {
        auto list = nlohmann::json::array();
        for (const TracedCall& call : trace.calls)
            list.push_back(json_of(call));
        put(nlohmann::json{{"calls", std::move(list)}});
        return;
    }
    std::string out;
    unsigned frame = 0;
    for (const TracedCall& call : trace.calls) {
        if (call.frame != frame)
            fmt::format_to(std::back_inserter(out), "frame {}\n", frame = call.frame);
        const std::string thread = call.thread == 1 ? "" : fmt::format("t{} ", call.thread);
        fmt::format_to(std::back_inserter(out), "{:>8}  {}{}\n", call.line, thread, call.text);
    }
    put(out);
}

void print_counts(const TraceOptions& options, const Trace& trace) {
    std::map<std::string_view, std::size_t> counts;
    for (const TracedCall& call : trace.calls)
        ++counts[call.function];
    std::vector<std::pair<std::string_view, std::size_t>> rows(counts.begin(), counts.end());
    std::ranges::stable_sort(rows, std::ranges::greater{}, &std::pair<std::string_view, std::size_t>::second);
    if (options.json) {
        nlohmann::json json = nlohmann::json::object();
        for (const auto& row : rows)
            json[std::string(row.first)] = row.second;
        put(nlohmann::json{{"counts", std::move(json)}});
        return;
    }
    std::string out;
    for (const auto& row : rows)
        fmt::format_to(std::back_inserter(out), "{:>8}  {}\n", row.second, row.first);
    put(out);
}

void append_place(std::string& out, char sign, const std::vector<const TracedCall*>& calls) {
    if (calls.empty())
        fmt::format_to(std::back_inserter(out), " {}none", sign);
    else
        fmt::format_to(std::back_inserter(out), " {}line {} (frame {})", sign, calls.front()->line,
                       calls.front()->frame);
}

int print_comparison(const TraceOptions& options, const Trace& left, const Trace& right) {
    const auto differences = compare_traces(left.calls, right.calls, options.ignore_numbers);
    if (options.json) {
        auto list = nlohmann::json::array();
        for (const TraceDifference& d : differences)
            list.push_back({{"thread", d.thread}, {"left", json_of(d.left)}, {"right", json_of(d.right)}});
        put(nlohmann::json{{"same", differences.empty()}, {"differences", std::move(list)}});
        return differences.empty() ? success : failed;
    }
    std::string out;
    for (const TraceDifference& d : differences) {
        fmt::format_to(std::back_inserter(out), "@@ thread {}", d.thread);
        append_place(out, '-', d.left);
        append_place(out, '+', d.right);
        out += '\n';
        for (const TracedCall* call : d.left)
            fmt::format_to(std::back_inserter(out), "-{}\n", call->text);
        for (const TracedCall* call : d.right)
            fmt::format_to(std::back_inserter(out), "+{}\n", call->text);
    }
    put(out);
    return differences.empty() ? success : failed;
}

} // namespace

int run_trace(const TraceOptions& options) {
    TraceFilter filter;
    filter.functions = options.functions;
    filter.objects = options.objects;
    if (options.thread != 0)
        filter.thread = options.thread;
    if (!options.frames.empty() && !parse_frames(options.frames, filter)) {
        report_error(command, fmt::format("--frame {}: give N, N-M, N- or -M", options.frames));
        return usage;
    }
    Trace left, right;
    int code = success;
    if (!load(options.file, filter, left, &code))
        return code;
    if (!options.compare.empty())
        return load(options.compare, filter, right, &code) ? print_comparison(options, left, right) : code;
    options.counts ? print_counts(options, left) : print_calls(options, left);
    return success;
}

} // namespace heaviside::tools
