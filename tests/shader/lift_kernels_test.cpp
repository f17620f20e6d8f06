// Kernels of the vendor's assembler, lifted and run on the CPU, against the expected contents of their buffers. The
// expected values come with the kernels (their README says what stands behind each).
#include "lift_machine.h"
#include "shader/lift.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>

namespace heaviside::shader::test {
namespace {

namespace fs = std::filesystem;

std::vector<std::byte> read_file(const fs::path& path) {
    std::ifstream in(path, std::ios::binary);
    const std::vector<char> text((std::istreambuf_iterator<char>(in)), {});
    const auto bytes = std::as_bytes(std::span(text));
    return {bytes.begin(), bytes.end()};
}

// The sections of a cubin (64-bit ELF) by name.
std::map<std::string, std::vector<std::byte>> sections(const std::vector<std::byte>& file) {
    std::map<std::string, std::vector<std::byte>> result;
    const u64 table = *read_at<u64>(file, 0x28);
    const u32 count = *read_at<u16>(file, 0x3c), names_index = *read_at<u16>(file, 0x3e);
    const auto header = [&](u32 index, u32 offset) { return *read_at<u64>(file, table + 64 * index + offset); };
    const u64 names = header(names_index, 0x18);
    for (u32 i = 0; i < count; ++i) {
        const u32 name_offset = *read_at<u32>(file, table + 64 * i), type = *read_at<u32>(file, table + 64 * i + 4);
        const std::string name = reinterpret_cast<const char*>(file.data()) + names + name_offset;
        const u64 offset = header(i, 0x18), size = header(i, 0x20);
        constexpr u32 no_bits = 8;
        result[name] = type == no_bits ? std::vector<std::byte>(size)
                                       : std::vector<std::byte>(file.begin() + static_cast<i64>(offset),
                                                                file.begin() + static_cast<i64>(offset + size));
    }
    return result;
}

template <class T>
void put(std::vector<std::byte>& bytes, u64 offset, T value) {
    if (bytes.size() < offset + sizeof value)
        bytes.resize(offset + sizeof value);
    std::memcpy(bytes.data() + offset, &value, sizeof value);
}

f64 element(const std::vector<std::byte>& bytes, std::size_t index, const std::string& type) {
    if (type == "f64")
        return *read_at<f64>(bytes, 8 * index);
    if (type == "f32")
        return *read_at<f32>(bytes, 4 * index);
    const u16 half = *read_at<u16>(bytes, 2 * index);
    const u32 exponent = half >> 10 & 31, mantissa = half & 1023;
    const f64 magnitude = exponent == 31  ? (mantissa ? NAN : INFINITY)
                          : exponent == 0 ? std::ldexp(mantissa, -24)
                                          : std::ldexp(1024 + mantissa, static_cast<int>(exponent) - 25);
    return half & 0x8000 ? -magnitude : magnitude;
}

// Distance in representable values of the type.
i64 ordinal(const std::vector<std::byte>& bytes, std::size_t index, const std::string& type) {
    const auto ordered = [](i64 bits, u32 width) { return bits < 0 ? -(bits & ~(i64{-1} << (width - 1))) : bits; };
    if (type == "f64")
        return ordered(*read_at<i64>(bytes, 8 * index), 64);
    return type == "f32" ? ordered(*read_at<i32>(bytes, 4 * index), 32) : ordered(*read_at<i16>(bytes, 2 * index), 16);
}

std::string difference(const std::vector<std::byte>& expected, const std::vector<std::byte>& got,
                       const nlohmann::json& compare) {
    if (expected.size() != got.size())
        return "sizes differ";
    if (compare.is_string()) {
        for (std::size_t i = 0; i < expected.size(); ++i)
            if (expected[i] != got[i]) {
                const std::size_t word = i / 4 * 4;
                return fmt::format("word {}: {:08x} instead of {:08x}", i / 4, read_at<u32>(got, word).value_or(0),
                                   read_at<u32>(expected, word).value_or(0));
            }
        return {};
    }
    const std::string type = compare["type"];
    const std::size_t size = type == "f64" ? 8 : type == "f32" ? 4 : 2;
    for (std::size_t i = 0; i < expected.size() / size; ++i) {
        const f64 want = element(expected, i, type), have = element(got, i, type);
        if (std::isnan(want) && std::isnan(have))
            continue;
        bool near = false;
        if (compare.contains("ulp")) {
            const i64 ulp = compare["ulp"];
            near = ulp == 0 ? std::memcmp(expected.data() + i * size, got.data() + i * size, size) == 0
                            : std::abs(ordinal(expected, i, type) - ordinal(got, i, type)) <= ulp;
        } else if (compare.contains("abs")) {
            near = std::abs(want - have) <= compare["abs"].get<f64>() || want == have;
        } else {
            near = std::abs(want - have) <= compare["rel"].get<f64>() * std::abs(want) || want == have;
        }
        if (!near)
            return fmt::format("element {}: {} instead of {}", i, have, want);
    }
    return {};
}

constexpr u64 buffer_address(std::size_t index) {
    return 0x1'0000'0000 * (index + 1);
}

// The kernel ABI of the vendor's compiler: launch sizes, windows of the generic address space and parameters in c[0].
std::string run_case(const fs::path& folder, const nlohmann::json& description, const nlohmann::json& variant) {
    const std::string entry = description["entry"];
    auto cubin = sections(read_file(folder / variant["cubin"].get<std::string>()));
    const auto& code = cubin[".text." + entry];
    const auto& constants = cubin[".nv.constant2." + entry];

    program::Program program;
    program.stage = program::Stage::Compute;
    program.code = code;
    program.constants = constants;
    program.constants_bank = 2;
    auto lifted = lift(program, {});
    if (!lifted)
        return lifted.error().message;
    if (const auto verified = ir::verify(*lifted); !verified)
        return verified.error().message;

    Launch launch;
    for (u32 axis = 0; axis < 3; ++axis) {
        launch.grid[axis] = description["grid"][axis];
        launch.block[axis] = description["block"][axis];
    }
    launch.shared_bytes = description["shared_bytes"].get<u32>() + variant["static_shared"].get<u32>();
    launch.local_bytes = std::max(variant["cumulative_stack"].get<u32>(), variant["stack_frame"].get<u32>()) + 256;
    Memory memory;
    auto& bank = memory.banks[0];
    put<u32>(bank, 0x0, 0x1000000);
    put<u32>(bank, 0x4, 0x2000000);
    for (u32 axis = 0; axis < 3; ++axis) {
        put<u32>(bank, 0x8 + 4 * axis, launch.block[axis]);
        put<u32>(bank, 0x14 + 4 * axis, launch.grid[axis]);
    }
    put<u32>(bank, 0x20, launch.local_bytes);
    put<u64>(bank, 0xd0, u64{1} << 24);
    memory.banks[2] = constants;
    memory.banks[3] = cubin[".nv.constant3"];
    memory.banks[4] = cubin[".nv.constant4"];
    const auto& params = description["params"];
    for (std::size_t i = 0; i < params.size(); ++i) {
        const auto& param = params[i];
        const u64 offset = 0x140 + param["offset"].get<u64>();
        const std::string type = param["type"];
        if (type == "buffer") {
            auto bytes = read_file(folder / param["file"].get<std::string>());
            bytes.resize(param["size"].get<std::size_t>(), std::byte{0xa5});
            memory.global.push_back({buffer_address(i), std::move(bytes)});
            put<u64>(bank, offset, buffer_address(i));
        } else if (type == "f32") {
            put<f32>(bank, offset, param["value"].get<f32>());
        } else if (type == "bytes") {
            const std::string hex = param["value"];
            for (std::size_t k = 0; k < hex.size() / 2; ++k)
                put<u8>(bank, offset + k, static_cast<u8>(std::stoul(hex.substr(2 * k, 2), nullptr, 16)));
        } else if (type == "u64") {
            put<u64>(bank, offset, param["value"].get<u64>());
        } else if (type == "u32") {
            put<u32>(bank, offset, param["value"].get<u32>());
        } else if (type == "u16") {
            put<u16>(bank, offset, param["value"].get<u16>());
        } else {
            put<u8>(bank, offset, param["value"].get<u8>());
        }
    }
    bank.resize(std::max<std::size_t>(bank.size(), 0x1000));
    const Outcome outcome = run(*lifted, memory, launch);
    if (!outcome.error.empty())
        return outcome.error;
    for (const auto& expected : description["expected"]) {
        const u64 address = buffer_address(expected["param"].get<std::size_t>());
        for (const Memory::Range& range : memory.global)
            if (range.address == address) {
                const auto wrong = difference(read_file(folder / expected["file"].get<std::string>()), range.bytes,
                                              expected["compare"]);
                if (!wrong.empty())
                    return wrong;
            }
    }
    return {};
}

TEST(LiftKernels, GiveTheExpectedBuffers) {
    const fs::path corpus = HEAVISIDE_SOURCE_DIR "/../shared/corpus/ptx/dev";
    if (!fs::exists(corpus))
        GTEST_SKIP() << "no corpus at " << corpus;
    const char* only = std::getenv("HEAVISIDE_TEST_KERNEL");
    // These read addresses of functions and variables that only a loader can fill in (relocations of the cubin).
    const std::set<std::string> need_a_loader = {"cf_indirect_call", "mem_module_global"};
    std::set<fs::path> folders;
    for (const auto& folder : fs::directory_iterator(corpus))
        folders.insert(folder.path());
    unsigned runs = 0, passed = 0;
    for (const fs::path& folder : folders) {
        if ((only && folder.filename() != only) || need_a_loader.contains(folder.filename().string()))
            continue;
        std::ifstream in(folder / "case.json");
        const auto description = nlohmann::json::parse(in);
        for (const auto& variant : description["variants"]) {
            ++runs;
            const std::string wrong = run_case(folder, description, variant);
            passed += wrong.empty();
            EXPECT_EQ(wrong, "") << folder.filename() << " " << variant["opt"];
        }
    }
    EXPECT_EQ(passed, runs);
    EXPECT_TRUE(only || runs == 151u) << runs << " kernel variants ran";
}

} // namespace
} // namespace heaviside::shader::test
