// The table of results measured on the console's chip (shared/isa/hardware.tsv), ready to run.
#pragma once

#include "base/result.h"
#include "maxwell/assembler.h"

#include <fstream>
#include <regex>
#include <span>
#include <sstream>
#include <string>
#include <vector>

namespace heaviside::test {

struct HardwareRow {
    std::string text;            // the whole line
    std::vector<u32> constants;  // c[2][0], c[2][4], ...
    std::vector<std::byte> code; // the row's instructions and EXIT, in bundles; empty if `error` says why not
    std::string error;
    unsigned result_register = 0;
    u32 expected = 0;
    // The instructions, one a line, with the constants at c[3][`base`] instead of c[2][0].
    [[nodiscard]] std::string source(u64 base) const;
    std::string instructions; // as the table writes them
};

// The table writes some defaults out that the vendor's disassembler, whose text the assembler takes, leaves away.
inline std::string canonical_text(std::string text) {
    static const std::pair<std::regex, const char*> rules[] = {
        {std::regex(R"(c\[(\d+)\]\[(\w+)\])"), "c[0x$1][0x$2]"}, // offsets are decimal below 10, else hexadecimal
        {std::regex(R"(0x0x)"), "0x"},
        {std::regex(R"(LEA\.LO)"), "LEA"},
        {std::regex(R"(VMNMX(.*)\.MN\b)"), "VMNMX$1"},
        {std::regex(R"(VMNMX\.SD)"), "VMNMX"},
        {std::regex(R"(\b(BFE|FLO|SHR|ISET(?:\.\w\w)|IMNMX)\.S32)"), "$1"},
        {std::regex(R"(\bSHR\.W\.S32)"), "SHR.W"},
        {std::regex(R"((V\w+.*)\.H0\b)"), "$1"},
        {std::regex(R"((V\w+.*)\.B0\b)"), "$1"},
        {std::regex(R"((I2I\.S32\.S16.*)\.B2)"), "$1.H1"},
        {std::regex(R"(P2R\.B0)"), "P2R"},
        {std::regex(R"(FCMP\.GT\b)"), "FCMP"},
        {std::regex(R"(XMAD\.U16\.U16)"), "XMAD"},
    };
    for (const auto& [pattern, replacement] : rules)
        text = std::regex_replace(text, pattern, replacement);
    return text;
}

inline std::string HardwareRow::source(u64 base) const {
    static const std::regex constant(R"(c\[0x2\]\[0x(\w+)\])");
    std::string result;
    std::istringstream parts(instructions);
    for (std::string part; std::getline(parts, part, ';');) {
        part = canonical_text(part);
        for (std::smatch found; std::regex_search(part, found, constant);) {
            const u64 at = std::stoull(found[1], nullptr, 16) + base;
            std::ostringstream moved;
            moved << found.prefix() << "c[0x3][0x" << std::hex << at << "]" << found.suffix();
            part = moved.str();
        }
        result += part + "\n";
    }
    return result;
}

// Instructions separated by ';', with an EXIT behind them.
inline Result<std::vector<std::byte>> assemble_line(const std::string& instructions) {
    std::string source;
    std::istringstream parts(instructions);
    for (std::string part; std::getline(parts, part, ';');)
        source += canonical_text(part) + "\n";
    const auto program = maxwell::assemble(source + "EXIT\n");
    if (!program)
        return tl::unexpected(program.error());
    return program->code;
}

// Empty if there is no such file.
inline std::vector<HardwareRow> read_hardware_table(const std::string& path) {
    std::ifstream file(path);
    std::vector<HardwareRow> rows;
    for (std::string line; std::getline(file, line);) {
        if (line.empty() || line[0] == '#')
            continue;
        std::vector<std::string> fields;
        std::istringstream columns(line);
        for (std::string field; std::getline(columns, field, '\t');)
            fields.push_back(field);
        HardwareRow row;
        row.text = line;
        if (fields.size() != 5) {
            row.error = "not five columns";
            rows.push_back(row);
            continue;
        }
        std::istringstream words(fields[1]);
        for (std::string word; words >> word;)
            row.constants.push_back(static_cast<u32>(std::stoul(word, nullptr, 16)));
        row.result_register = static_cast<unsigned>(std::stoul(fields[3].substr(1)));
        row.expected = static_cast<u32>(std::stoul(fields[4], nullptr, 16));
        row.instructions = fields[2];
        if (auto code = assemble_line(fields[2]))
            row.code = *std::move(code);
        else
            row.error = code.error().message;
        rows.push_back(std::move(row));
    }
    return rows;
}

} // namespace heaviside::test
