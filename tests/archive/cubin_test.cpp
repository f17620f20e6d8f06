// Cubins: a minimal one built here by the ELF-64 format, and the test corpus's.
#include "archive/cubin.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

using namespace heaviside;
using namespace heaviside::archive;
namespace fs = std::filesystem;

namespace {

constexpr u64 names_at = 0x40, code_at = 0x80, second_at = 0xc0, headers_at = 0xe0;

template <class T>
void put(std::vector<std::byte>& file, u64 at, T value) {
    std::memcpy(&file[at], &value, sizeof(value));
}

// Sections: null, names, .text.add (64 bytes, 14 registers), .data, .text.b (32 bytes, 9 registers).
std::vector<std::byte> two_kernels() {
    std::vector<std::byte> file(headers_at + 5 * 64);
    const char header[] = "\x7f"
                          "ELF\x02\x01\x01";
    std::memcpy(file.data(), header, sizeof(header) - 1);
    put<u16>(file, 0x10, 2);   // executable
    put<u16>(file, 0x12, 190); // CUDA
    put<u64>(file, 0x28, headers_at);
    put<u32>(file, 0x30, 0x350535); // SM 53
    put<u16>(file, 0x3a, 64);
    put<u16>(file, 0x3c, 5);
    put<u16>(file, 0x3e, 1);
    constexpr char names[] = "\0.names\0.text.add\0.data\0.text.b"; // at 1, 8, 18, 24
    std::memcpy(&file[names_at], names, sizeof(names));
    const auto section = [&](u64 index, u32 name, u64 offset, u64 size, u32 info) {
        put<u32>(file, headers_at + index * 64, name);
        put<u32>(file, headers_at + index * 64 + 4, 1);
        put<u64>(file, headers_at + index * 64 + 0x18, offset);
        put<u64>(file, headers_at + index * 64 + 0x20, size);
        put<u32>(file, headers_at + index * 64 + 0x2c, info);
    };
    section(1, 1, names_at, sizeof(names), 0);
    section(2, 8, code_at, 64, 14u << 24 | 6);
    section(3, 18, 0, 4, 0);
    section(4, 24, second_at, 32, 9u << 24 | 7);
    return file;
}

std::string error_of(const std::vector<std::byte>& file) {
    const auto kernels = parse_cubin(file);
    return kernels ? "" : kernels.error().message;
}

TEST(Cubin, KernelsHaveNamesRangesAndRegisters) {
    const auto file = two_kernels();
    const auto kernels = parse_cubin(file);
    ASSERT_TRUE(kernels) << kernels.error().message;
    ASSERT_EQ(kernels->size(), 2u);
    EXPECT_EQ(kernels->at(0).name, "add");
    EXPECT_EQ(kernels->at(0).code.data(), file.data() + code_at);
    EXPECT_EQ(kernels->at(0).code.size(), 64u);
    EXPECT_EQ(kernels->at(0).registers, 14u);
    EXPECT_EQ(kernels->at(1).name, "b");
    EXPECT_EQ(kernels->at(1).code.data(), file.data() + second_at);
    EXPECT_EQ(kernels->at(1).code.size(), 32u);
    EXPECT_EQ(kernels->at(1).registers, 9u);
}

TEST(Cubin, EveryTruncationIsAnError) {
    const auto file = two_kernels(); // its section headers come last
    for (std::size_t size = 0; size < file.size(); ++size)
        EXPECT_FALSE(parse_cubin(std::vector(file.begin(), file.begin() + static_cast<std::ptrdiff_t>(size)))) << size;
}

TEST(Cubin, ErrorsNameTheFieldAndItsPlace) {
    auto file = two_kernels();
    put<u64>(file, headers_at + 2 * 64 + 0x18, ~u64{0});
    EXPECT_EQ(error_of(file), "ELF: .text.add at 0xffffffffffffffff, 0x40 bytes, lies outside the 0x220 bytes");
    file = two_kernels();
    put<u32>(file, headers_at + 3 * 64, 0x1000);
    EXPECT_NE(error_of(file).find("name at 0x1000"), std::string::npos) << error_of(file);
    file = two_kernels();
    put<u16>(file, 0x12, 62);
    EXPECT_NE(error_of(file).find("machine 62 at 0x12"), std::string::npos) << error_of(file);
    file = two_kernels();
    put<u32>(file, 0x30, 86);
    EXPECT_NE(error_of(file).find("SM 86"), std::string::npos) << error_of(file);
    file = two_kernels();
    put<u64>(file, 0x28, file.size() - 64);
    EXPECT_NE(error_of(file).find("5 section headers at 0x1e0"), std::string::npos) << error_of(file);
    file = two_kernels();
    put<u32>(file, headers_at + 2 * 64, 18);
    put<u32>(file, headers_at + 4 * 64, 18);
    EXPECT_NE(error_of(file).find("is a kernel"), std::string::npos) << error_of(file);
}

// The listings say how many registers: `.sectioninfo @"SHI_REGISTERS=14"`.
TEST(Cubin, TheCorpusIsReadAsItsListingsSay) {
    const fs::path folder = HEAVISIDE_SOURCE_DIR "/../shared/corpus/ptx/dev";
    if (!fs::exists(folder))
        GTEST_SKIP() << "no " << folder << " here";
    int checked = 0;
    for (const auto& entry : fs::directory_iterator(folder)) {
        const auto text = [](const fs::path& path) {
            std::ifstream file(path, std::ios::binary);
            return std::string(std::istreambuf_iterator<char>(file), {});
        };
        const std::string cubin = text(entry.path() / "kernel.cubin"), listing = text(entry.path() / "kernel.sass");
        const auto kernels = parse_cubin(std::as_bytes(std::span(cubin)));
        ASSERT_TRUE(kernels) << entry.path() << ": " << kernels.error().message;
        ASSERT_EQ(kernels->size(), 1u);
        const Kernel& kernel = kernels->front();
        EXPECT_NE(listing.find(fmt::format("\n.text.{}:\n", kernel.name)), std::string::npos) << kernel.name;
        EXPECT_NE(listing.find(fmt::format("\"SHI_REGISTERS={}\"", kernel.registers)), std::string::npos)
            << entry.path();
        ++checked;
    }
    EXPECT_GT(checked, 100);
}

} // namespace
