// Kernels of the vendor's compute compiler (shared/corpus/ptx), ready to launch: code, constant banks and memory as its
// driver sets them up (the corpus README states the ABI), and the comparison with the expected buffers.
#pragma once

#include "program/program.h"

#include <nlohmann/json.hpp>

#include <array>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace heaviside::test {

namespace fs = std::filesystem;
using Blob = std::vector<std::byte>;

inline Blob read_file(const fs::path& path) {
    std::ifstream in(path, std::ios::binary);
    const std::vector<char> text((std::istreambuf_iterator<char>(in)), {});
    const auto bytes = std::as_bytes(std::span(text));
    return {bytes.begin(), bytes.end()};
}

template <class T>
void put(Blob& bytes, u64 offset, T value) {
    if (bytes.size() < offset + sizeof value)
        bytes.resize(offset + sizeof value);
    std::memcpy(bytes.data() + offset, &value, sizeof value);
}

// A cubin (64-bit ELF), loaded: sections by name, global variables placed from `globals_address` on, relocations
// applied.
struct Cubin {
    std::map<std::string, Blob> sections;
    Blob globals; // .nv.global.init, .nv.global
};

inline Cubin load_cubin(const Blob& file, u64 globals_address) {
    Cubin cubin;
    const u64 table = *read_at<u64>(file, 0x28);
    const u32 count = *read_at<u16>(file, 0x3c), names_index = *read_at<u16>(file, 0x3e);
    const auto header = [&](u32 index, u32 offset) { return *read_at<u64>(file, table + 64 * index + offset); };
    std::vector<std::string> names;
    for (u32 i = 0; i < count; ++i) {
        const u32 name_offset = *read_at<u32>(file, table + 64 * i), type = *read_at<u32>(file, table + 64 * i + 4);
        names.emplace_back(reinterpret_cast<const char*>(file.data()) + header(names_index, 0x18) + name_offset);
        const auto offset = static_cast<i64>(header(i, 0x18)), size = static_cast<i64>(header(i, 0x20));
        constexpr u32 no_bits = 8;
        cubin.sections[names.back()] = type == no_bits ? Blob(static_cast<std::size_t>(size))
                                                       : Blob(file.begin() + offset, file.begin() + offset + size);
    }
    std::map<std::string, u64> placed;
    const auto place = [&](const std::string& name) {
        cubin.globals.resize((cubin.globals.size() + 255) / 256 * 256);
        placed[name] = cubin.globals.size();
        const Blob& bytes = cubin.sections[name];
        cubin.globals.insert(cubin.globals.end(), bytes.begin(), bytes.end());
    };
    place(".nv.global.init");
    place(".nv.global");
    const Blob& symbols = cubin.sections[".symtab"];
    for (const auto& [name, relocations] : std::map(cubin.sections)) {
        if (name.rfind(".rel.nv.", 0) != 0 || name == ".rel.nv.action")
            continue;
        const std::string target = name.substr(4);
        for (u64 at = 0; at + 16 <= relocations.size(); at += 16) {
            const u64 offset = *read_at<u64>(relocations, at);
            const u32 symbol = *read_at<u32>(relocations, at + 12);
            const u16 section = *read_at<u16>(symbols, 24 * symbol + 6);
            u64 value = *read_at<u64>(symbols, 24 * symbol + 8);
            if (const auto base = placed.find(names[section]); base != placed.end())
                value += globals_address + base->second; // functions: offsets in their section
            Blob& bytes = placed.contains(target) ? cubin.globals : cubin.sections[target];
            const u64 start = placed.contains(target) ? placed[target] + offset : offset;
            put<u64>(bytes, start, read_at<u64>(bytes, start).value_or(0) + value);
        }
    }
    return cubin;
}

inline f64 element(const std::vector<std::byte>& bytes, std::size_t index, const std::string& type) {
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
inline i64 ordinal(const std::vector<std::byte>& bytes, std::size_t index, const std::string& type) {
    const auto ordered = [](i64 bits, u32 width) { return bits < 0 ? -(bits & ~(i64{-1} << (width - 1))) : bits; };
    if (type == "f64")
        return ordered(*read_at<i64>(bytes, 8 * index), 64);
    return type == "f32" ? ordered(*read_at<i32>(bytes, 4 * index), 32) : ordered(*read_at<i16>(bytes, 2 * index), 16);
}

inline std::string difference(const std::vector<std::byte>& expected, const std::vector<std::byte>& got,
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

// One compiled variant of a kernel. Buffers are indexed as the parameters are.
struct Kernel {
    nlohmann::json description;
    fs::path folder;
    std::string entry;
    Blob code;
    std::map<u32, Blob> banks;
    std::array<u32, 3> grid{1, 1, 1}, block{1, 1, 1};
    u32 shared_bytes = 0, local_bytes = 0;
    struct Buffer {
        u64 address = 0; // 0: the parameter is no buffer
        Blob bytes;
    };
    std::vector<Buffer> buffers;
    Blob globals; // module variables

    // A view: `code` and `banks` must outlive it.
    [[nodiscard]] program::Program program() const {
        program::Program result;
        result.stage = program::Stage::Compute;
        result.code = code;
        if (const auto bank = banks.find(2); bank != banks.end())
            result.constants = bank->second;
        result.constants_bank = 2;
        result.workgroup_size = block;
        result.shared_bytes = shared_bytes;
        result.local_bytes = local_bytes;
        result.layout = &program::kernel_layout;
        return result;
    }
};

inline constexpr u64 globals_address = 0x80'0000'0000;
constexpr u64 buffer_address(std::size_t index) {
    return 0x1'0000'0000 * (index + 1);
}

inline Kernel load_kernel(const fs::path& folder, const nlohmann::json& description, const nlohmann::json& variant) {
    Kernel kernel;
    kernel.description = description;
    kernel.folder = folder;
    kernel.entry = description["entry"];
    Cubin cubin = load_cubin(read_file(folder / variant["cubin"].get<std::string>()), globals_address);
    kernel.code = std::move(cubin.sections[".text." + kernel.entry]);
    kernel.globals = std::move(cubin.globals);
    kernel.banks[2] = std::move(cubin.sections[".nv.constant2." + kernel.entry]);
    kernel.banks[3] = std::move(cubin.sections[".nv.constant3"]);
    kernel.banks[4] = std::move(cubin.sections[".nv.constant4"]);
    for (u32 axis = 0; axis < 3; ++axis) {
        kernel.grid[axis] = description["grid"][axis];
        kernel.block[axis] = description["block"][axis];
    }
    kernel.shared_bytes = description["shared_bytes"].get<u32>() + variant["static_shared"].get<u32>();
    kernel.local_bytes = std::max(variant["cumulative_stack"].get<u32>(), variant["stack_frame"].get<u32>()) + 512;
    Blob& bank = kernel.banks[0];
    put<u32>(bank, 0x0, 0x1000000);
    put<u32>(bank, 0x4, 0x2000000);
    for (u32 axis = 0; axis < 3; ++axis) {
        put<u32>(bank, 0x8 + 4 * axis, kernel.block[axis]);
        put<u32>(bank, 0x14 + 4 * axis, kernel.grid[axis]);
    }
    put<u32>(bank, 0x20, kernel.local_bytes);
    put<u64>(bank, 0xd0, u64{1} << 24);
    const auto& params = description["params"];
    kernel.buffers.resize(params.size());
    for (std::size_t i = 0; i < params.size(); ++i) {
        const auto& param = params[i];
        const u64 offset = 0x140 + param["offset"].get<u64>();
        const std::string type = param["type"];
        if (type == "buffer") {
            Blob bytes = read_file(folder / param["file"].get<std::string>());
            bytes.resize(param["size"].get<std::size_t>(), std::byte{0xa5});
            kernel.buffers[i] = {buffer_address(i), std::move(bytes)};
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
    return kernel;
}

// What is wrong with the buffers after a launch; empty if nothing is.
inline std::string fault_of(const Kernel& kernel) {
    for (const auto& expected : kernel.description["expected"]) {
        const std::string wrong =
            difference(read_file(kernel.folder / expected["file"].get<std::string>()),
                       kernel.buffers[expected["param"].get<std::size_t>()].bytes, expected["compare"]);
        if (!wrong.empty())
            return wrong;
    }
    return {};
}

struct KernelVariant {
    fs::path folder;
    nlohmann::json description, variant;
    [[nodiscard]] std::string name() const {
        return folder.filename().string() + "_" + variant["opt"].get<std::string>();
    }
};

// HEAVISIDE_KERNELS names another folder of kernels. Empty if there is none.
inline std::vector<KernelVariant> list_kernels() {
    const char* other = std::getenv("HEAVISIDE_KERNELS");
    const fs::path root = other ? other : HEAVISIDE_SOURCE_DIR "/../shared/corpus/ptx/dev";
    std::vector<KernelVariant> variants;
    if (!fs::exists(root))
        return variants;
    std::set<fs::path> folders;
    for (const auto& folder : fs::directory_iterator(root))
        if (fs::exists(folder.path() / "case.json"))
            folders.insert(folder.path());
    for (const fs::path& folder : folders) {
        std::ifstream in(folder / "case.json");
        const auto description = nlohmann::json::parse(in);
        for (const auto& variant : description["variants"])
            variants.push_back({folder, description, variant});
    }
    return variants;
}

} // namespace heaviside::test
