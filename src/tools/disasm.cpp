// heaviside disasm: words or whole programs as text.
#include "maxwell/control.h"
#include "maxwell/instruction.h"
#include "program/program.h"
#include "tools/commands.h"
#include "tools/terminal.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <iostream>

namespace heaviside::tools {
namespace {

constexpr std::string_view command = "disasm";

// One hex word a line in, "word<TAB>text" out: each as if at address 8 of its own program.
int disassemble_words() {
    std::ios::sync_with_stdio(false);
    std::string line, out;
    std::size_t number = 0;
    bool ok = true;
    while (std::getline(std::cin, line)) {
        ++number;
        std::string_view text = line;
        while (!text.empty() && (text.back() == '\r' || text.back() == ' ' || text.back() == '\t'))
            text.remove_suffix(1);
        if (text.empty())
            continue;
        std::string_view digits = text;
        if (digits.starts_with("0x") || digits.starts_with("0X"))
            digits.remove_prefix(2);
        u64 word = 0;
        const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), word, 16);
        if (error != std::errc{} || end != digits.data() + digits.size()) {
            report_error(command, fmt::format("line {}: '{}' is no 64-bit hexadecimal word", number, text));
            ok = false;
            continue;
        }
        out += text;
        out += '\t';
        if (const auto instruction = maxwell::decode(word))
            maxwell::disassemble_to(out, *instruction);
        else
            out += "invalid";
        out += '\n';
        if (out.size() > 1 << 16) {
            std::fwrite(out.data(), 1, out.size(), stdout);
            out.clear();
        }
    }
    std::fwrite(out.data(), 1, out.size(), stdout);
    return ok ? success : failed;
}

std::string control_text(const maxwell::Control& control) {
    const auto barrier = [](u8 index) {
        return index == maxwell::no_barrier ? std::string("-") : fmt::format("{}", index);
    };
    std::string wait = "--";
    if (control.wait != 0)
        wait = fmt::format("{:02x}", control.wait);
    return fmt::format("{}:{}:{}:{}:{:x}", wait, barrier(control.read_barrier), barrier(control.write_barrier),
                       control.yield ? "Y" : "-", control.stall);
}

std::string text_of(const maxwell::CodeWord& word) {
    const auto instruction = maxwell::decode(word.word, word.address);
    return instruction ? maxwell::disassemble(*instruction, word.control.reuse) : "invalid";
}

void print_listing(Bytes code, const DisasmOptions& options) {
    fmt::print("// wait mask : read barrier : write barrier : yield : stall\n");
    for (const maxwell::CodeWord& word : maxwell::CodeView(code)) {
        fmt::print("  /*{:04x}*/  {}  ", word.address, control_text(word.control));
        if (options.no_hex)
            fmt::print("{}\n", text_of(word));
        else
            fmt::print("{:<56} /* 0x{:016x} */\n", text_of(word), word.word);
    }
}

nlohmann::json listing(Bytes code) {
    auto instructions = nlohmann::json::array();
    for (const maxwell::CodeWord& word : maxwell::CodeView(code))
        instructions.push_back({{"address", word.address},
                                {"word", fmt::format("{:016x}", word.word)},
                                {"text", text_of(word)},
                                {"stall", word.control.stall},
                                {"yield", word.control.yield},
                                {"wait", word.control.wait},
                                {"read_barrier", word.control.read_barrier},
                                {"write_barrier", word.control.write_barrier},
                                {"reuse", word.control.reuse}});
    return instructions;
}

void print_program(const program::Program& program, const DisasmOptions& options) {
    if (options.json) {
        nlohmann::json document{{"stage", program::name(program.stage)}, {"instructions", listing(program.code)}};
        if (program.sph)
            document["header"] = maxwell::describe(*program.sph);
        if (!program.second_code.empty())
            document["second_part"] = listing(program.second_code);
        fmt::print("{}\n", document.dump(1));
        return;
    }
    fmt::print("// {} program\n", program::name(program.stage));
    if (program.sph) {
        const std::string header = maxwell::describe(*program.sph);
        for (std::size_t start = 0; start < header.size();) {
            const std::size_t end = std::min(header.find('\n', start), header.size());
            fmt::print("// {}\n", std::string_view(header).substr(start, end - start));
            start = end + 1;
        }
    }
    print_listing(program.code, options);
    if (!program.second_code.empty()) {
        fmt::print("// second part\n");
        print_listing(program.second_code, options);
    }
}

} // namespace

int run_disasm(const DisasmOptions& options) {
    if (options.words)
        return disassemble_words();
    const auto bytes = read_file(options.file);
    if (!bytes) {
        report_error(command, bytes.error().message);
        return unavailable;
    }
    if (options.raw) {
        if (options.json)
            fmt::print("{}\n", nlohmann::json{{"instructions", listing(*bytes)}}.dump(1));
        else
            print_listing(*bytes, options);
        return success;
    }
    const auto program = program::parse_code(*bytes);
    if (!program) {
        report_error(command, fmt::format("{}: {}", options.file, program.error().message));
        return failed;
    }
    print_program(*program, options);
    return success;
}

} // namespace heaviside::tools
