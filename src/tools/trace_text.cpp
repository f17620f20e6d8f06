#include "tools/trace.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <span>
#include <utility>

namespace heaviside::tools {
namespace {

// The end of a value that begins at `at`: a comma or closing bracket outside of its own brackets and quotes.
std::size_t value_end(std::string_view text, std::size_t at) {
    int depth = 0;
    bool quoted = false;
    for (; at < text.size(); ++at) {
        const char c = text[at];
        if (quoted) {
            quoted = c != '"';
        } else if (c == '"') {
            quoted = true;
        } else if (c == '(' || c == '[' || c == '{') {
            ++depth;
        } else if (c == ')' || c == ']' || c == '}') {
            if (depth-- == 0)
                return at;
        } else if (c == ',' && depth == 0) {
            return at;
        }
    }
    return at;
}

// The values up to the closing bracket; the position behind it, or npos.
std::size_t split_values(std::string_view text, std::size_t at, std::vector<std::string_view>& out) {
    if (at < text.size() && (text[at] == ')' || text[at] == '}'))
        return at + 1;
    while (at < text.size()) {
        const std::size_t end = value_end(text, at);
        if (end >= text.size())
            break;
        out.push_back(text.substr(at, end - at));
        if (text[end] != ',')
            return end + 1;
        at = text.find_first_not_of(' ', end + 1);
    }
    return std::string_view::npos;
}

bool is_name(std::string_view text) {
    return text.starts_with("nvn") && std::ranges::all_of(text, [](char c) {
               return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
           });
}

bool parse_call(std::string_view line, TracedCall& call) {
    if (line.starts_with('t') && line.find(' ') != std::string_view::npos) {
        const char* const end = line.data() + line.find(' ');
        if (std::from_chars(line.data() + 1, end, call.thread).ptr != end)
            return false;
        line.remove_prefix(line.find(' ') + 1);
    }
    call.text = line;
    const std::size_t open = line.find('(');
    if (open == std::string_view::npos || !is_name(line.substr(0, open)))
        return false;
    call.function = line.substr(0, open);
    std::size_t at = split_values(line, open + 1, call.arguments);
    if (at == std::string_view::npos)
        return false;
    if (line.substr(at).starts_with(" = ")) {
        const std::string_view rest = line.substr(at + 3);
        std::size_t end = rest.size();
        if (!rest.starts_with('"'))
            end = std::min(end, rest.find(" {"));
        call.result = rest.substr(0, end);
        at += 3 + end;
    }
    if (line.substr(at).starts_with(" {")) {
        std::vector<std::string_view> outputs;
        at = split_values(line, at + 2, outputs);
        for (const std::string_view output : outputs) {
            const std::size_t colon = std::min(output.find(": "), output.size());
            call.outputs.emplace_back(output.substr(0, colon), output.substr(std::min(colon + 2, output.size())));
        }
    }
    return at == line.size();
}

// Whether `name` is the pattern, in which * stands for any characters.
bool is_like(std::string_view pattern, std::string_view name) {
    std::size_t p = 0, n = 0, star = std::string_view::npos, resume = 0;
    while (n < name.size()) {
        if (p < pattern.size() && pattern[p] == '*') {
            star = p++;
            resume = n;
        } else if (p < pattern.size() && pattern[p] == name[n]) {
            ++p;
            ++n;
        } else if (star != std::string_view::npos) {
            p = star + 1;
            n = ++resume;
        } else {
            return false;
        }
    }
    return pattern.find_first_not_of('*', p) == std::string_view::npos;
}

// Type#12 stands in the text, and not as the beginning of Type#123 or the end of OtherType#12.
bool mentions(std::string_view text, std::string_view object) {
    const auto in_word = [](char c) {
        return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
    };
    for (std::size_t at = text.find(object); at != std::string_view::npos; at = text.find(object, at + 1)) {
        const std::size_t end = at + object.size();
        if ((at == 0 || !in_word(text[at - 1])) && (end == text.size() || !in_word(text[end])))
            return true;
    }
    return false;
}

std::string without_numbers(std::string_view text) {
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
        out += text[i];
        if (text[i] == '#')
            while (i + 1 < text.size() && text[i + 1] >= '0' && text[i + 1] <= '9')
                ++i;
    }
    return out;
}

using Ids = std::vector<u32>;

// Myers' greedy algorithm: for every edit count the furthest reach of each diagonal. The steps back give the edits.
// Costs time and memory of edits squared: beyond the limit what is left counts as changed whole.
constexpr i64 edit_limit = 1500;

// Calls same(i, j) for each pair of a longest common subsequence, in order.
template <class Same>
void match(std::span<const u32> a, std::span<const u32> b, Same&& same) {
    const i64 n = static_cast<i64>(a.size()), m = static_cast<i64>(b.size());
    std::vector<std::vector<i64>> reaches;
    std::vector<i64> reach(2 * edit_limit + 3, 0);
    const auto at = [&](i64 k) -> i64& { return reach[static_cast<std::size_t>(k + edit_limit + 1)]; };
    i64 edits = 0;
    bool found = false;
    for (; edits <= edit_limit && !found; ++edits) {
        for (i64 k = -edits; k <= edits; k += 2) {
            i64 x = k == -edits || (k != edits && at(k - 1) < at(k + 1)) ? at(k + 1) : at(k - 1) + 1;
            while (x < n && x - k < m && x - k >= 0 &&
                   a[static_cast<std::size_t>(x)] == b[static_cast<std::size_t>(x - k)])
                ++x;
            at(k) = x;
            found |= x >= n && x - k >= m;
        }
        reaches.emplace_back(reach.begin() + (edit_limit + 1 - edits), reach.begin() + (edit_limit + 2 + edits));
    }
    if (!found)
        return;
    std::vector<std::pair<std::size_t, std::size_t>> pairs;
    i64 x = n, y = m;
    for (i64 d = edits - 1; d >= 0; --d) {
        i64 start_x = 0, start_y = 0; // where the last edit led from
        if (d > 0) {
            const auto before = [&](i64 k) {
                return reaches[static_cast<std::size_t>(d - 1)][static_cast<std::size_t>(k + d - 1)];
            };
            const i64 k = x - y;
            const i64 previous = k == -d || (k != d && before(k - 1) < before(k + 1)) ? k + 1 : k - 1;
            start_x = before(previous);
            start_y = start_x - previous;
        }
        for (; x > start_x && y > start_y; --x, --y)
            pairs.emplace_back(static_cast<std::size_t>(x - 1), static_cast<std::size_t>(y - 1));
        x = start_x;
        y = start_y;
    }
    std::ranges::reverse(pairs);
    for (const auto& pair : pairs)
        same(pair.first, pair.second);
}

} // namespace

std::vector<TracedCall> parse_trace(std::string_view text, std::size_t* bad) {
    std::vector<TracedCall> calls;
    unsigned frame = 1;
    std::size_t number = 0;
    *bad = 0;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        std::string_view line = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        ++number;
        if (line.ends_with('\r'))
            line.remove_suffix(1);
        if (line.empty())
            continue;
        TracedCall call;
        call.line = number;
        call.frame = frame;
        if (!parse_call(line, call)) {
            ++*bad;
            continue;
        }
        if (call.function == "nvnQueuePresentTexture")
            ++frame;
        calls.push_back(std::move(call));
    }
    return calls;
}

bool matches(const TraceFilter& filter, const TracedCall& call) {
    if (call.frame < filter.first_frame || call.frame > filter.last_frame)
        return false;
    if (filter.thread && call.thread != *filter.thread)
        return false;
    const auto is_function = [&](const std::string& pattern) {
        return is_like(pattern, call.function) || is_like(pattern, call.function.substr(3));
    };
    if (!filter.functions.empty() && std::ranges::none_of(filter.functions, is_function))
        return false;
    return filter.objects.empty() ||
           std::ranges::any_of(filter.objects, [&](const std::string& object) { return mentions(call.text, object); });
}

std::vector<TraceDifference> compare_traces(const std::vector<TracedCall>& left, const std::vector<TracedCall>& right,
                                            bool ignore_numbers) {
    struct Side {
        std::vector<const TracedCall*> calls;
        Ids ids;
    };
    std::map<unsigned, std::array<Side, 2>> threads;
    std::map<std::string, u32, std::less<>> ids; // of equal texts
    const auto add = [&](const std::vector<TracedCall>& calls, std::size_t side) {
        for (const TracedCall& call : calls) {
            const std::string key = ignore_numbers ? without_numbers(call.text) : std::string(call.text);
            Side& s = threads[call.thread][side];
            s.calls.push_back(&call);
            s.ids.push_back(ids.emplace(key, static_cast<u32>(ids.size())).first->second);
        }
    };
    add(left, 0);
    add(right, 1);
    std::vector<TraceDifference> out;
    for (const auto& entry : threads) {
        const unsigned thread = entry.first;
        const Side &a = entry.second[0], &b = entry.second[1];
        const auto [first_a, first_b] = std::ranges::mismatch(a.ids, b.ids);
        const auto prefix = static_cast<std::size_t>(first_a - a.ids.begin());
        const std::size_t shorter = std::min(a.ids.size(), b.ids.size()) - prefix;
        std::size_t suffix = 0;
        while (suffix < shorter && a.ids[a.ids.size() - 1 - suffix] == b.ids[b.ids.size() - 1 - suffix])
            ++suffix;
        std::size_t next_a = prefix, next_b = prefix;
        const auto differ_up_to = [&](std::size_t i, std::size_t j) {
            if (next_a < i || next_b < j)
                out.push_back({thread,
                               {a.calls.begin() + static_cast<i64>(next_a), a.calls.begin() + static_cast<i64>(i)},
                               {b.calls.begin() + static_cast<i64>(next_b), b.calls.begin() + static_cast<i64>(j)}});
        };
        match(std::span(a.ids).subspan(prefix, a.ids.size() - prefix - suffix),
              std::span(b.ids).subspan(prefix, b.ids.size() - prefix - suffix), [&](std::size_t i, std::size_t j) {
                  differ_up_to(prefix + i, prefix + j);
                  next_a = prefix + i + 1;
                  next_b = prefix + j + 1;
              });
        differ_up_to(a.ids.size() - suffix, b.ids.size() - suffix);
    }
    return out;
}

} // namespace heaviside::tools
