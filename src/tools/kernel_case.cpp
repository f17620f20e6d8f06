#include "tools/kernel_case.h"

#include "tools/kernel_launch.h"
#include "tools/terminal.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <utility>

namespace heaviside::tools {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr i64 most_parameter_bytes = 4352; // what the ABI lets a kernel have

// How close a buffer must come: {"ulp": n}, {"abs": x} or {"rel": x} for elements of a type, or "exact".
struct Rule {
    unsigned width = 0; // bytes of an element; 0: exact
    unsigned mantissa = 0;
    std::optional<u64> ulp;
    double absolute = 0, relative = 0;
};

Result<Rule> parse_rule(const Json& json) {
    if (json == "exact")
        return Rule{};
    Rule rule;
    if (!json.is_object() || !(json.contains("ulp") || json.contains("abs") || json.contains("rel")))
        return fail("'{}' is no way to compare", json.dump());
    const std::string type = json.at("type");
    if (type != "f16" && type != "f32" && type != "f64")
        return fail("'{}' is no type to compare", type);
    rule.width = type == "f16" ? 2 : type == "f32" ? 4 : 8;
    rule.mantissa = type == "f16" ? 10 : type == "f32" ? 23 : 52;
    if (json.contains("ulp"))
        rule.ulp = json.at("ulp").get<u64>();
    rule.absolute = json.value("abs", 0.0);
    rule.relative = json.value("rel", 0.0);
    return rule;
}

u64 element(Bytes bytes, u64 at, unsigned width) {
    u64 value = 0;
    std::memcpy(&value, bytes.data() + at, width);
    return value;
}

double number(u64 value, const Rule& rule) {
    if (rule.width == 4)
        return std::bit_cast<f32>(static_cast<u32>(value));
    if (rule.width == 8)
        return std::bit_cast<f64>(value);
    const u64 exponent = bits(value, 10, 5), fraction = bits(value, 0, 10);
    const double magnitude = exponent == 0 ? std::ldexp(static_cast<double>(fraction), -24)
                             : exponent == 31
                                 ? HUGE_VAL
                                 : std::ldexp(static_cast<double>(fraction | 1024), static_cast<int>(exponent) - 25);
    return value >> 15 ? -magnitude : magnitude;
}

bool same(u64 expected, u64 got, const Rule& rule) {
    if (expected == got)
        return true;
    const unsigned width = rule.width * 8;
    const u64 magnitude = (u64{1} << (width - 1)) - 1;
    const u64 infinity = ((u64{1} << (width - 1 - rule.mantissa)) - 1) << rule.mantissa;
    const bool expected_nan = (expected & magnitude) > infinity, got_nan = (got & magnitude) > infinity;
    if (expected_nan || got_nan)
        return expected_nan && got_nan;
    if (rule.ulp) {
        const auto position = [&](u64 value) {
            const auto distance = static_cast<i64>(value & magnitude);
            return value >> (width - 1) ? -distance : distance;
        };
        const u64 a = static_cast<u64>(position(expected)), b = static_cast<u64>(position(got));
        const u64 apart = static_cast<i64>(a - b) < 0 ? b - a : a - b;
        return *rule.ulp > 0 && apart <= *rule.ulp;
    }
    const double a = number(expected, rule), b = number(got, rule);
    return std::abs(a - b) <= rule.absolute + rule.relative * std::abs(a);
}

// Empty if all elements match.
std::string compare(Bytes expected, Bytes got, const Rule& rule) {
    if (expected.size() != got.size())
        return fmt::format("{} bytes instead of {}", got.size(), expected.size());
    std::string first;
    std::size_t differences = 0;
    for (u64 at = 0; at < expected.size();) {
        const bool whole = rule.width != 0 && expected.size() - at >= rule.width;
        const unsigned width = whole ? rule.width : 1;
        const u64 a = element(expected, at, width), b = element(got, at, width);
        if (whole ? !same(a, b, rule) : a != b)
            if (++differences == 1)
                first = fmt::format("byte {:#x}: {:#x} instead of {:#x}", at, b, a);
        at += width;
    }
    return differences == 0 ? "" : fmt::format("{} differences, the first at {}", differences, first);
}

Result<std::vector<std::byte>> parse_hex(const std::string& text) {
    std::vector<std::byte> bytes(text.size() / 2);
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        u8 value = 0;
        const char* const end = text.data() + 2 * i + 2;
        if (std::from_chars(end - 2, end, value, 16).ptr != end || text.size() % 2 != 0)
            return fail("'{}' are no bytes in hexadecimal", text);
        bytes[i] = std::byte{value};
    }
    return bytes;
}

Result<std::vector<std::byte>> scalar(const std::string& type, const Json& value) {
    if (type == "bytes")
        return parse_hex(value.get<std::string>());
    constexpr std::pair<std::string_view, std::size_t> sizes[] = {{"u8", 1},  {"s8", 1},  {"u16", 2}, {"s16", 2},
                                                                  {"u32", 4}, {"s32", 4}, {"u64", 8}, {"s64", 8},
                                                                  {"f32", 4}, {"f64", 8}};
    const auto* const size = std::ranges::find(sizes, type, &std::pair<std::string_view, std::size_t>::first);
    if (size == std::end(sizes))
        return fail("'{}' is no type of a parameter", type);
    u64 word = 0;
    if (type[0] == 'f') { // the decimal is rounded once
        const std::string text = value.is_string() ? value.get<std::string>() : value.dump();
        word = type == "f32" ? std::bit_cast<u32>(std::strtof(text.c_str(), nullptr))
                             : std::bit_cast<u64>(std::strtod(text.c_str(), nullptr));
    } else if (value.is_number_unsigned()) {
        word = value.get<u64>();
    } else {
        word = static_cast<u64>(value.get<i64>());
    }
    std::vector<std::byte> bytes(size->second);
    std::memcpy(bytes.data(), &word, bytes.size());
    return bytes;
}

Result<std::string> run_variant(const fs::path& folder, const Json& description, const Json& variant, u64 step_limit) {
    const auto cubin = read_file(folder / variant.at("cubin").get<std::string>());
    if (!cubin)
        return tl::unexpected(cubin.error());
    KernelLaunch launch;
    auto image = archive::load_kernel(*cubin, description.at("entry").get<std::string>(), launch.next_address());
    if (!image)
        return tl::unexpected(image.error());
    launch.use(*std::move(image));
    launch.shared_bytes += description.value("shared_bytes", 0u);
    launch.grid = description.at("grid");
    launch.block = description.at("block");
    std::vector<std::optional<std::size_t>> buffers;
    for (const Json& parameter : description.at("params")) {
        const std::string type = parameter.at("type");
        std::vector<std::byte> value;
        std::optional<std::size_t> buffer;
        if (type == "buffer") {
            auto bytes = read_file(folder / parameter.at("file").get<std::string>());
            if (!bytes)
                return tl::unexpected(bytes.error());
            buffer = launch.add_buffer(*std::move(bytes));
            const u64 address = launch.address(*buffer);
            value.resize(sizeof address);
            std::memcpy(value.data(), &address, sizeof address);
        } else {
            auto bytes = scalar(type, parameter.at("value"));
            if (!bytes)
                return fail("{}: {}", (folder / "case.json").string(), bytes.error().message);
            value = *std::move(bytes);
        }
        buffers.push_back(buffer);
        const auto offset = parameter.at("offset").get<i64>();
        if (offset < 0 || offset + static_cast<i64>(value.size()) > most_parameter_bytes)
            return fail("{}: a parameter at {}, of {} bytes", (folder / "case.json").string(), offset, value.size());
        launch.set_parameter(static_cast<u32>(offset), value);
    }
    interpreter::Launch prepared = launch.prepare();
    prepared.step_limit = step_limit;
    if (const auto ran = interpreter::run(prepared); !ran)
        return ran.error().message;
    for (const Json& expected : description.at("expected")) {
        const auto index = expected.at("param").get<std::size_t>();
        if (index >= buffers.size() || !buffers[index])
            return fail("{}: expected[].param {} is no buffer", (folder / "case.json").string(), index);
        const auto bytes = read_file(folder / expected.at("file").get<std::string>());
        if (!bytes)
            return tl::unexpected(bytes.error());
        const auto rule = parse_rule(expected.at("compare"));
        if (!rule)
            return fail("{}: {}", (folder / "case.json").string(), rule.error().message);
        const std::string difference = compare(*bytes, launch.contents(*buffers[index]), *rule);
        if (!difference.empty())
            return fmt::format("parameter {} ({}): {}", index,
                               description.at("params")[index].value("name", std::string("buffer")), difference);
    }
    return std::string();
}

} // namespace

Result<std::vector<VariantResult>> run_case(const fs::path& folder, u64 step_limit, const std::string& only) {
    const fs::path path = folder / "case.json";
    const auto text = read_file(path);
    if (!text)
        return tl::unexpected(text.error());
    std::vector<VariantResult> results;
    try {
        const auto* const characters = reinterpret_cast<const char*>(text->data());
        const Json description = Json::parse(characters, characters + text->size());
        for (const Json& variant : description.at("variants")) {
            const std::string name = variant.at("opt");
            if (!only.empty() && only != name)
                continue;
            auto difference = run_variant(folder, description, variant, step_limit);
            if (!difference)
                return tl::unexpected(difference.error());
            results.push_back({name, difference->empty(), *difference});
        }
    } catch (const Json::exception& error) {
        return fail("{}: {}", path.string(), error.what());
    }
    if (results.empty())
        return fail("{}: no variant{}{}", path.string(), only.empty() ? "" : " ", only);
    return results;
}

} // namespace heaviside::tools
