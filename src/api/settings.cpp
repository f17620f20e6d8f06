#include "api/settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <span>
#include <string_view>

namespace heaviside::api {
namespace {

std::string environment(const char* name) {
    const char* const value = std::getenv(name);
    return value ? value : "";
}

Result<log::Level> log_level(std::string_view name) {
    constexpr std::string_view names[] = {"debug", "info", "warning", "error"};
    for (std::size_t i = 0; i < std::size(names); ++i)
        if (name == names[i])
            return static_cast<log::Level>(i);
    return fail("HEAVISIDE_LOG={}: expected debug, info, warning or error", name);
}

Result<bool> flag(const char* name, bool from_host) {
    const std::string value = environment(name);
    if (value.empty() || value == "0")
        return from_host;
    if (value == "1")
        return true;
    return fail("{}={}: expected 0 or 1", name, value);
}

// The value of a variable as one of `names`; nothing if it is not set.
Result<std::optional<int>> choice(const char* variable, std::span<const std::string_view> names) {
    const std::string value = environment(variable);
    if (value.empty())
        return std::nullopt;
    std::string known;
    for (std::size_t i = 0; i < names.size(); ++i) {
        if (value == names[i])
            return static_cast<int>(i);
        known += (i ? ", " : "") + std::string(names[i]);
    }
    return fail("{}={}: expected one of {}", variable, value, known);
}

Result<void> resolve_presentation(const heaviside_config& config, Settings& settings) {
    constexpr std::string_view paces[] = {"off", "game", "fixed"}, fits[] = {"letterbox", "stretch", "fill", "integer"},
                               upscalers[] = {"none", "platform", "edges", "contrast"};
    const auto pace = choice("HEAVISIDE_PACING", paces), fit = choice("HEAVISIDE_FIT", fits),
               upscaler = choice("HEAVISIDE_UPSCALER", upscalers);
    for (const auto* value : {&pace, &fit, &upscaler})
        if (!*value)
            return tl::unexpected(value->error());
    const int mode = pace->value_or(config.pacing), shape = fit->value_or(config.fit);
    if (mode < 0 || mode >= static_cast<int>(std::size(paces)))
        return fail("heaviside_config: pacing {}", mode);
    if (shape < 0 || shape >= static_cast<int>(std::size(fits)))
        return fail("heaviside_config: fit {}", shape);
    if (config.target_fps < 0 || config.target_fps > 1000)
        return fail("heaviside_config: target_fps {}", config.target_fps);
    settings.pacing = {static_cast<present::Pacing>(mode), static_cast<u32>(config.target_fps),
                       config.game_fps_divisor_fix != 0};
    settings.fit = static_cast<present::Fit>(shape);
    if (!(config.sharpness >= 0 && config.sharpness <= 1))
        return fail("heaviside_config: sharpness {}", config.sharpness);
    settings.upscaling = {present::effective_upscaling(upscaler->value_or(config.upscaler)), config.sharpness};
    return {};
}

// The part of the structure that the host knows, over defaults for the rest.
heaviside_config known_part(const heaviside_config& config) {
    heaviside_config known;
    heaviside_config_default(&known);
    std::memcpy(&known, &config, std::min(config.size, sizeof(known)));
    return known;
}

} // namespace

Result<Settings> resolve(const heaviside_config& host) {
    if (host.size < offsetof(heaviside_config, device))
        return fail("heaviside_config.size is {}: call heaviside_config_default() first", host.size);
    const heaviside_config config = known_part(host);
    if ((config.core_away == nullptr) != (config.core_back == nullptr))
        return fail("heaviside_config: core_away and core_back go together");
    if (config.output_width < 0 || config.output_height < 0 || config.output_width > 16384 ||
        config.output_height > 16384)
        return fail("heaviside_config: output size {}x{}", config.output_width, config.output_height);
    if (config.log_level < HEAVISIDE_LOG_DEBUG || config.log_level > HEAVISIDE_LOG_ERROR)
        return fail("heaviside_config: log level {}", static_cast<int>(config.log_level));

    Settings settings;
    settings.user = config.user;
    settings.log = config.log;
    settings.log_level = static_cast<log::Level>(config.log_level);
    settings.on_present = config.on_present;
    settings.wrap_guest_callable = config.wrap_guest_callable;
    settings.core_away = config.core_away;
    settings.core_back = config.core_back;
    settings.host_forwards_faults = config.host_forwards_faults != 0;
    settings.nvn_major = config.nvn_major;
    settings.nvn_minor = config.nvn_minor;
    if (const std::string version = environment("HEAVISIDE_NVN"); !version.empty()) {
        int end = 0;
        if (std::sscanf(version.c_str(), "%9d.%9d%n", &settings.nvn_major, &settings.nvn_minor, &end) != 2 ||
            static_cast<std::size_t>(end) != version.size())
            return fail("HEAVISIDE_NVN={}: expected MAJOR.MINOR", version);
    }
    if (settings.nvn_major < 0 || settings.nvn_minor < 0 || (settings.nvn_major == 0 && settings.nvn_minor != 0))
        return fail("NVN version {}.{}", settings.nvn_major, settings.nvn_minor);
    settings.guest_sdk_major = config.guest_sdk_major;
    settings.guest_compiler_minor = config.guest_compiler_minor;
    settings.output_width = config.output_width;
    settings.output_height = config.output_height;
    settings.present_interval_override = config.present_interval_override;
    if (const auto presentation = resolve_presentation(config, settings); !presentation)
        return tl::unexpected(presentation.error());

    settings.device = gpu::DeviceOptions::from_environment();
    if (config.device)
        settings.device.device = config.device;
    if (config.disable)
        settings.device.disable = config.disable;
    if (config.cache_dir)
        settings.device.cache_directory = config.cache_dir;
    if (config.title_id != 0 && !settings.device.cache_directory.empty())
        settings.device.cache_directory /= fmt::format("{:016x}", config.title_id);
    const auto validation = flag("HEAVISIDE_VALIDATION", config.validation != 0);
    if (!validation)
        return tl::unexpected(validation.error());
    settings.device.validation = *validation;
    const auto stop = flag("HEAVISIDE_STOP_ON_ERROR", config.stop_on_error != 0);
    if (!stop)
        return tl::unexpected(stop.error());
    settings.stop_on_error = *stop;
    const auto abort = flag("HEAVISIDE_UNIMPLEMENTED_ABORT", config.unimplemented_abort != 0);
    if (!abort)
        return tl::unexpected(abort.error());
    settings.unimplemented_abort = *abort;
    const auto unconditional = flag("HEAVISIDE_UNCONDITIONAL_RENDERING", config.unconditional_rendering != 0);
    if (!unconditional)
        return tl::unexpected(unconditional.error());
    settings.conditional_rendering = !*unconditional;
    if (const std::string level = environment("HEAVISIDE_LOG"); !level.empty()) {
        const auto parsed = log_level(level);
        if (!parsed)
            return tl::unexpected(parsed.error());
        settings.log_level = *parsed;
    }
    if (const auto features = gpu::parse_features(settings.device.disable); !features)
        return tl::unexpected(features.error());
    return settings;
}

} // namespace heaviside::api
