// The disassembler against the vendor's: words, rejected words, and whole listings.
#include "maxwell/control.h"
#include "maxwell/instruction.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <vector>

namespace heaviside::maxwell {
namespace {

namespace fs = std::filesystem;
const fs::path shared = HEAVISIDE_SOURCE_DIR "/../shared";

std::string collapse(std::string_view text) {
    std::string out;
    for (const char c : text)
        if (c != ' ' || out.empty() || out.back() != ' ')
            out += c;
    return out;
}

std::string text_of(u64 word, u32 address = 8, unsigned reuse = 0) {
    const auto instruction = decode(word, address);
    return instruction ? disassemble(*instruction, reuse) : "invalid";
}

TEST(Disassembly, OneOfEachKindOfOperand) {
    // Rows of the vendor's disassembly that a machine without the shared files still checks.
    EXPECT_EQ(text_of(0x5c58000000170000), "FADD R0, R0, R1 ;");
    EXPECT_EQ(text_of(0x4c58634c5e679032), "FADD.RP R50, |R144|, -c[0x13][0x1798] ;");
    EXPECT_EQ(text_of(0x385ae3b9c657515f), "FADD.RZ R95.CC, |R81|, 0.00037825107574462890625.NEG.ABS ;");
    EXPECT_EQ(text_of(0x385615a828d76162), "DMNMX R98, R97, 3.1486340919197273176e-115.ABS, !P3 ;");
    EXPECT_EQ(text_of(0x7b3a5eb737c7397e), "HADD2.F32.FTZ.SAT R126, -|R57|, -0.4375, -448 ;");
    EXPECT_EQ(text_of(0x2c0fce48a3e555c2), "@P5 HADD2_32I R194, R85, -QNAN , -0.0001904964447021484375 ;");
    EXPECT_EQ(text_of(0xe25ece852414a6a7), "@P4 BRX CC.NUM, c[0x8][R166+0x5241] ;");
    EXPECT_EQ(text_of(0xe2650b6b5277cdc5), "CAL -0x494ac9 ;");
    EXPECT_EQ(text_of(0xf0f0323e636794a5), "DEPBAR.LE SB0, 0x36, {5,2,0} ;");
    EXPECT_EQ(text_of(0x50f82f47bdd4a2b7), "@P4 FSWZADD.RP.NDV R183, R162, R221, NPZPPNZP ;");
    EXPECT_EQ(text_of(0xee7319a9d0e068ce), "@P0 ATOM.E.CAS.64 P3, R206, [R104], R14, R16 ;");
    EXPECT_EQ(text_of(0xe008bc933397ff0c), "IPA.PASS.SAT R12, a[0x133], R57, R121, P1 ;");
    EXPECT_EQ(text_of(0xd988661ea0a7dbad), "TEXS R234, R173, R219, R10, 0x661, CUBE, RBA ;");
    EXPECT_EQ(text_of(0x502f5ad74b87107b), "VABSDIFF4.SD.SAT.ACC.XZ R123, R16.6543, R184, R181 ;");
    EXPECT_EQ(text_of(0x4f107f8000270003, 8, 1), "XMAD.MRG R3, R0.reuse, c[0x0] [0x8].H1, RZ ;");
    EXPECT_EQ(text_of(0xe2400fffff87000f, 0x118), "BRA 0x118 ;");
}

TEST(Disassembly, RejectsWhatMeansNothing) {
    EXPECT_EQ(text_of(0x000daf9416888427), "invalid");
    EXPECT_EQ(text_of(0), "invalid");
    EXPECT_EQ(text_of(~u64{0}), "invalid");
    EXPECT_EQ(text_of(0x1c826de878867612), "invalid"); // IADD32I with B negated alone
}

TEST(Disassembly, EqualsTheVendorsText) {
    std::ifstream file(shared / "isa/disassembly.tsv");
    if (!file)
        GTEST_SKIP() << "no shared/isa/disassembly.tsv here";
    std::string line;
    int rows = 0;
    while (std::getline(file, line)) {
        if (line.empty() || line[0] == '#')
            continue;
        const auto tab = line.find('\t');
        const u64 word = std::strtoull(line.c_str(), nullptr, 16);
        EXPECT_EQ(text_of(word), line.substr(tab + 1)) << line.substr(0, tab);
        ++rows;
    }
    EXPECT_GT(rows, 33000);
}

TEST(Disassembly, RejectsWhatTheVendorRejects) {
    std::ifstream file(shared / "isa/invalid.txt");
    if (!file)
        GTEST_SKIP() << "no shared/isa/invalid.txt here";
    std::string line;
    int rows = 0;
    while (std::getline(file, line)) {
        if (line.empty() || line[0] == '#')
            continue;
        EXPECT_EQ(text_of(std::strtoull(line.c_str(), nullptr, 16)), "invalid") << line;
        ++rows;
    }
    EXPECT_GT(rows, 8000);
}

// Takes the listing apart: control words carry a hex comment alone, instructions have an address before their text.
struct ListingLine {
    u32 address;
    u64 word;
    Control control;
    std::string text;
};
// Without comments: /* */ and (* *).
std::string without_comments(std::string_view text) {
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const std::string_view two = text.substr(i, 2);
        if (two != "/*" && two != "(*") {
            out += text[i];
            continue;
        }
        const auto end = text.find(two == "/*" ? "*/" : "*)", i + 2);
        if (end == text.npos)
            break;
        i = end + 1;
    }
    return out;
}

std::vector<ListingLine> read_listing(const fs::path& path) {
    std::vector<ListingLine> lines;
    std::ifstream file(path);
    std::string line;
    u64 control_word = 0;
    unsigned place = 0; // in the bundle: 0 is the control word
    std::optional<ListingLine> open;
    while (std::getline(file, line)) {
        const auto begin = line.find("/*");
        if (begin != line.npos && line.compare(begin, 4, "/* 0") != 0) {
            open = ListingLine{static_cast<u32>(std::strtoul(line.c_str() + begin + 2, nullptr, 16)), 0, {}, {}};
            open->text = without_comments(line.substr(begin));
        }
        const auto hex = line.find("/* 0x");
        if (hex == line.npos)
            continue;
        const u64 word = std::strtoull(line.c_str() + hex + 5, nullptr, 16);
        if (place == 0) {
            control_word = word;
        } else if (open) {
            open->word = word;
            open->control = control_of(control_word, place - 1);
            lines.push_back(*open);
            open.reset();
        }
        place = (place + 1) % 4;
    }
    return lines;
}

std::string normal(std::string text) {
    const auto first = text.find_first_not_of(" \t{");
    const auto last = text.find_last_not_of(" \t;}");
    // The braces of DEPBAR {1} are its own.
    const bool set = text.find("DEPBAR") != text.npos && text.find('{', first) != text.npos;
    return first == text.npos ? "" : collapse(text.substr(first, last + 1 - first) + (set ? "}" : ""));
}

void check_listings(const fs::path& folder, const std::string& extension, int least) {
    if (!fs::exists(folder))
        GTEST_SKIP() << "no " << folder << " here";
    int checked = 0;
    for (const auto& entry : fs::recursive_directory_iterator(folder)) {
        if (entry.path().extension() != extension)
            continue;
        for (const ListingLine& line : read_listing(entry.path())) {
            std::string got = normal(text_of(line.word, line.address, line.control.reuse));
            std::string want = normal(line.text);
            // Listings with symbols name targets; the number is checked where there is one.
            if (const auto symbol = want.find('`'); symbol != want.npos) {
                want.resize(symbol);
                got.resize(std::min(got.size(), symbol));
            }
            EXPECT_EQ(got, want) << entry.path() << " at " << std::hex << line.address;
            ++checked;
        }
    }
    EXPECT_GT(checked, least);
}

TEST(Disassembly, EqualsTheListingsOfGraphicsPrograms) {
    check_listings(shared / "corpus/glsl/dev", ".lst", 7000);
}

TEST(Disassembly, EqualsTheListingsOfComputeKernels) {
    check_listings(shared / "corpus/ptx/dev", ".sass", 20000);
}

} // namespace
} // namespace heaviside::maxwell
