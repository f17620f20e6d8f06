// heaviside info: what this machine offers and what the library makes of it.
#include "gpu/device.h"
#include "nvn/entry_table.h"
#include "tools/commands.h"
#include "tools/terminal.h"

#include <heaviside/heaviside.h>

#include <nlohmann/json.hpp>

namespace heaviside::tools {
namespace {

std::string api_version(u32 version) {
    return fmt::format("{}.{}.{}", version >> 22 & 0x7f, version >> 12 & 0x3ff, version & 0xfff);
}

struct EntryCounts {
    std::size_t built = 0, stubs = 0, unknown = 0;
};

EntryCounts count_entries() {
    EntryCounts counts;
    for (const nvn::EntryPoint& entry : nvn::entry_points())
        ++(entry.status == nvn::EntryStatus::Built  ? counts.built
           : entry.status == nvn::EntryStatus::Stub ? counts.stubs
                                                    : counts.unknown);
    return counts;
}

int list_unimplemented(bool json) {
    auto names = nlohmann::json::array();
    for (const nvn::EntryPoint& entry : nvn::entry_points()) {
        if (entry.status == nvn::EntryStatus::Built)
            continue;
        const char* const reason = entry.status == nvn::EntryStatus::Unknown ? "prototype unknown"
                                   : entry.status == nvn::EntryStatus::Hint  ? "accepted without effect"
                                                                             : "not built yet";
        if (json)
            names.push_back({{"name", entry.name}, {"reason", reason}});
        else
            fmt::print("{:<64} {}\n", entry.name, reason);
    }
    if (json)
        fmt::print("{}\n", names.dump(1));
    return success;
}

nlohmann::json describe(const gpu::Capabilities& capabilities) {
    auto features = nlohmann::json::object();
    for (const gpu::FeatureInfo& feature : gpu::feature_table()) {
        const auto bit = static_cast<std::size_t>(feature.feature);
        features[feature.name] = !capabilities.supported[bit] ? "absent"
                                 : capabilities.disabled[bit] ? "disabled"
                                                              : "present";
    }
    return {{"device", capabilities.device_name},
            {"driver", capabilities.driver_name},
            {"driver_info", capabilities.driver_info},
            {"vulkan", api_version(capabilities.api_version)},
            {"cpu", capabilities.cpu_device},
            {"subgroup_size", capabilities.subgroup_size},
            {"heap_textures", capabilities.heap_textures},
            {"heap_samplers", capabilities.heap_samplers},
            {"features", features},
            {"lowerings", gpu::active_lowerings(capabilities)}};
}

void print(const gpu::Capabilities& capabilities) {
    fmt::print("device        {}\n", capabilities.device_name);
    fmt::print("driver        {} ({})\n", capabilities.driver_name, capabilities.driver_info);
    fmt::print("Vulkan        {}\n", api_version(capabilities.api_version));
    fmt::print("subgroups     {} lanes\n", capabilities.subgroup_size);
    fmt::print("heap          {} textures, {} samplers\n", capabilities.heap_textures, capabilities.heap_samplers);
    fmt::print("capabilities\n");
    for (const gpu::FeatureInfo& feature : gpu::feature_table())
        if (capabilities.has(feature.feature))
            fmt::print("  {}\n", feature.name);
    fmt::print("lowerings\n");
    for (const std::string& line : gpu::active_lowerings(capabilities))
        fmt::print("  {}\n", line);
}

} // namespace

int run_info(const InfoOptions& options) {
    if (options.unimplemented)
        return list_unimplemented(options.json);
    const auto device = gpu::Device::create(gpu::DeviceOptions::from_environment());
    const EntryCounts entries = count_entries();
    if (options.json) {
        nlohmann::json document = device ? describe((*device)->capabilities) : nlohmann::json::object();
        if (!device)
            document["error"] = device.error().message;
        document["heaviside"] = heaviside_version();
        document["entry_points"] = {{"built", entries.built}, {"stubs", entries.stubs}, {"unknown", entries.unknown}};
        fmt::print("{}\n", document.dump(1));
    } else {
        fmt::print("heaviside     {}\n", heaviside_version());
        fmt::print("entry points  {} built, {} not built yet, {} of unknown prototype\n", entries.built, entries.stubs,
                   entries.unknown);
        if (device)
            print((*device)->capabilities);
    }
    if (!device) {
        report_error("info", device.error().message);
        return unavailable;
    }
    return success;
}

} // namespace heaviside::tools
