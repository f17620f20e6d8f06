#include "tools/run_hardware.h"

#include "interpreter/machine.h"
#include "maxwell/assembler.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cctype>
#include <charconv>

namespace heaviside::tools {
namespace {

std::vector<std::string_view> split(std::string_view text, char separator) {
    std::vector<std::string_view> parts;
    for (;;) {
        const std::size_t end = text.find(separator);
        parts.push_back(text.substr(0, end));
        if (end == std::string_view::npos)
            return parts;
        text.remove_prefix(end + 1);
    }
}

std::string_view trimmed(std::string_view text) {
    while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front())))
        text.remove_prefix(1);
    while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back())))
        text.remove_suffix(1);
    return text;
}

std::optional<u32> hexadecimal(std::string_view text) {
    u32 value = 0;
    if (text.starts_with("0x"))
        text.remove_prefix(2);
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
    if (error != std::errc{} || end != text.data() + text.size())
        return std::nullopt;
    return value;
}

// Banks and offsets have no 0x in the table; both are hexadecimal.
std::string with_prefixes(std::string_view text) {
    std::string result;
    bool in_constant = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        result += text[i];
        if (text.substr(i).starts_with("c["))
            in_constant = true;
        if (text[i] == '[' && in_constant && i + 1 < text.size() &&
            std::isxdigit(static_cast<unsigned char>(text[i + 1])) && !text.substr(i + 1).starts_with("0x"))
            result += "0x";
        if (text[i] == ',')
            in_constant = false;
    }
    return result;
}

// The table writes defaults out that the vendor's disassembler, whose text the assembler takes, leaves away: as few of
// these suffixes as it takes are dropped.
constexpr std::array<std::string_view, 12> defaults{".S32", ".U32", ".U16", ".LO", ".MN",  ".SD",
                                                    ".H0",  ".B0",  ".GT",  ".UD", ".S16", ".AND"};

struct Suffix {
    std::size_t at, size;
};

std::vector<Suffix> droppable(std::string_view text) {
    std::vector<Suffix> found;
    for (std::size_t i = 0; i < text.size(); ++i)
        for (const std::string_view suffix : defaults) {
            const std::size_t end = i + suffix.size();
            if (text.substr(i).starts_with(suffix) &&
                (end == text.size() || (!std::isalnum(static_cast<unsigned char>(text[end])) && text[end] != '_')))
                found.push_back({i, suffix.size()});
        }
    return found;
}

// A 16-bit source is a half; the table names it by its first byte.
void bytes_to_halves(std::string& text) {
    if (text.find("16") == std::string::npos)
        return;
    if (const std::size_t at = text.rfind(".B2"); at != std::string::npos)
        text.replace(at, 3, ".H1");
}

bool is_instruction(const std::string& text) {
    return maxwell::encode(text).has_value();
}

std::string canonical(std::string_view table_text) {
    std::string text = with_prefixes(table_text);
    if (is_instruction(text))
        return text;
    for (const bool halves : {false, true}) {
        std::string whole = text;
        if (halves)
            bytes_to_halves(whole);
        std::vector<Suffix> suffixes = droppable(whole);
        suffixes.resize(std::min<std::size_t>(suffixes.size(), 10));
        std::vector<u32> choices(std::size_t{1} << suffixes.size());
        for (u32 i = 0; i < choices.size(); ++i)
            choices[i] = i;
        std::ranges::stable_sort(choices, {}, [](u32 choice) { return std::popcount(choice); });
        for (const u32 choice : choices) {
            std::string shorter = whole;
            for (std::size_t i = suffixes.size(); i-- > 0;)
                if ((choice >> i & 1) != 0)
                    shorter.erase(suffixes[i].at, suffixes[i].size);
            if (is_instruction(shorter))
                return shorter;
        }
    }
    return text; // whose error is the one to tell
}

std::string run_row(const std::vector<std::string_view>& fields) {
    if (fields.size() != 5)
        return fmt::format("{} columns instead of 5", fields.size());
    std::vector<u32> words;
    for (const std::string_view word : split(trimmed(fields[1]), ' ')) {
        if (word.empty())
            continue;
        const auto value = hexadecimal(word);
        if (!value)
            return fmt::format("'{}' is no hexadecimal word", word);
        words.push_back(*value);
    }
    std::string source;
    for (const std::string_view part : split(fields[2], ';'))
        if (!trimmed(part).empty())
            source += canonical(trimmed(part)) + "\n";
    const auto program = maxwell::assemble(source + "EXIT\n");
    if (!program)
        return program.error().message;
    const std::string_view reg = trimmed(fields[3]);
    u32 number = 255;
    if (reg.starts_with("R"))
        std::from_chars(reg.data() + 1, reg.data() + reg.size(), number);
    const auto expected = hexadecimal(trimmed(fields[4]));
    if (number >= 255 || !expected)
        return fmt::format("'{}' is no register, or '{}' no word", reg, fields[4]);
    interpreter::Launch launch;
    launch.code = program->code;
    launch.banks[2] = std::as_bytes(std::span(words));
    launch.step_limit = 1 << 20;
    const auto state = interpreter::run_thread(launch);
    if (!state)
        return state.error().message;
    const u32 got = state->registers[number];
    return got == *expected ? "" : fmt::format("{} is {:08x} instead of {:08x}", reg, got, *expected);
}

} // namespace

std::vector<HardwareResult> run_hardware_table(std::string_view table) {
    std::vector<HardwareResult> results;
    std::size_t number = 0;
    for (std::string_view line : split(table, '\n')) {
        ++number;
        if (line.ends_with('\r'))
            line.remove_suffix(1);
        if (line.empty() || line.starts_with('#'))
            continue;
        const auto fields = split(line, '\t');
        std::string difference = run_row(fields);
        results.push_back({number, std::string(fields.size() > 2 ? fields[2] : line), difference.empty(), difference});
    }
    return results;
}

} // namespace heaviside::tools
