// Single instructions against registers measured on a Tegra X1: each row of the hardware table is assembled, lifted and
// run.
#include "lift_machine.h"
#include "maxwell/assembler.h"
#include "shader/lift.h"

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>

namespace heaviside::shader::test {
namespace {

std::vector<std::string> split(const std::string& text, char separator) {
    std::vector<std::string> parts;
    std::stringstream stream(text);
    for (std::string part; std::getline(stream, part, separator);)
        parts.push_back(part);
    return parts;
}

std::string trimmed(const std::string& text) {
    const auto first = text.find_first_not_of(' ');
    return first == std::string::npos ? "" : text.substr(first, text.find_last_not_of(' ') - first + 1);
}

// The table writes some defaults out that the vendor's disassembler, whose text the assembler takes, leaves away.
std::string canonical(std::string text) {
    const std::pair<const char*, const char*> rules[] = {
        {R"(c\[(\d+)\]\[(\w+)\])", "c[0x$1][0x$2]"}, // offsets there are decimal below 10, else hexadecimal
        {R"(0x0x)", "0x"},
        {R"(LEA\.LO)", "LEA"},
        {R"(VMNMX(.*)\.MN\b)", "VMNMX$1"},
        {R"(VMNMX\.SD)", "VMNMX"},
        {R"((BFE|FLO|SHR|ISET(?:\.\w\w)|IMNMX)\.S32)", "$1"},
        {R"(SHR\.W\.S32)", "SHR.W"},
        {R"((V\w+.*)\.H0\b)", "$1"},
        {R"((V\w+.*)\.B0\b)", "$1"},
        {R"((I2I\.S32\.S16.*)\.B2)", "$1.H1"},
        {R"(P2R\.B0)", "P2R"},
        {R"(FCMP\.GT\b)", "FCMP"},
        {R"(XMAD\.U16\.U16)", "XMAD"},
    };
    for (const auto& [pattern, replacement] : rules)
        text = std::regex_replace(text, std::regex(pattern), replacement);
    return text;
}

Result<std::vector<std::byte>> assembled(const std::string& listing) {
    std::vector<std::byte> code;
    const auto append = [&code](u64 word) {
        const auto bytes = std::as_bytes(std::span(&word, 1));
        if (code.size() % 32 == 0)
            code.resize(code.size() + 8); // scheduling
        code.insert(code.end(), bytes.begin(), bytes.end());
    };
    for (const std::string& part : split(listing + "; EXIT", ';')) {
        const std::string text = canonical(trimmed(part));
        const auto encoded = maxwell::encode(text);
        if (!encoded)
            return fail("{}: {}", text, encoded.error().message);
        append(encoded->word);
    }
    while (code.size() % 32 != 0)
        append(0x50b0000000070f00); // NOP
    return code;
}

TEST(LiftHardware, RegistersAsMeasured) {
    std::ifstream table(HEAVISIDE_SOURCE_DIR "/../shared/isa/hardware.tsv");
    if (!table)
        GTEST_SKIP() << "no hardware table";
    unsigned rows = 0, passed = 0;
    for (std::string line; std::getline(table, line);) {
        if (line.empty() || line[0] == '#')
            continue;
        ++rows;
        const auto fields = split(line, '\t');
        ASSERT_EQ(fields.size(), 5u) << line;
        const auto code = assembled(fields[2]);
        if (!code) {
            ADD_FAILURE() << code.error().message;
            continue;
        }
        Memory memory;
        auto& bank = memory.banks[2];
        for (const std::string& word : split(fields[1], ' ')) {
            const u32 value = static_cast<u32>(std::stoul(word, nullptr, 16));
            const auto bytes = std::as_bytes(std::span(&value, 1));
            bank.insert(bank.end(), bytes.begin(), bytes.end());
        }
        program::Program program;
        program.stage = program::Stage::Compute;
        program.code = *code;
        const auto lifted = lift(program, {});
        if (!lifted) {
            ADD_FAILURE() << lifted.error().message;
            continue;
        }
        const Outcome outcome = run(*lifted, memory);
        EXPECT_EQ(outcome.error, "") << line;
        const u32 result = outcome.registers[std::stoul(fields[3].substr(1))];
        const u32 expected = static_cast<u32>(std::stoul(fields[4], nullptr, 16));
        passed += result == expected;
        EXPECT_EQ(result, expected) << fields[2] << "\n  constants " << fields[1] << std::hex << "\n  got " << result
                                    << " instead of " << expected;
    }
    EXPECT_EQ(passed, 393u) << "of " << rows;
}

} // namespace
} // namespace heaviside::shader::test
