// What the runtime runs with: the host's configuration over the environment over defaults, as values of its own.
#pragma once

#include "base/log.h"
#include "base/result.h"
#include "gpu/device.h"
#include "present/fit.h"
#include "present/pacer.h"
#include "present/upscaler.h"

#include <heaviside/heaviside.h>

#include <string>

namespace heaviside::api {

struct Settings {
    void* user = nullptr;
    void (*log)(void* user, heaviside_log_level level, const char* line) = nullptr;
    log::Level log_level = log::Level::Info;
    void (*on_present)(void* user, uint64_t frame, int present_interval) = nullptr;
    heaviside_function (*wrap_guest_callable)(void* user, heaviside_function function, const char* name) = nullptr;
    void* (*core_away)(void* user) = nullptr;
    void (*core_back)(void* user, void* token) = nullptr;
    bool host_forwards_faults = false;
    gpu::DeviceOptions device;
    bool stop_on_error = false;
    int nvn_major = 0, nvn_minor = 0, guest_sdk_major = 0, guest_compiler_minor = 0;
    int output_width = 0, output_height = 0;
    int present_interval_override = -1;
    present::PacingSettings pacing;
    present::Fit fit = present::Fit::Letterbox;
    present::UpscalerOptions upscaling;
    bool unimplemented_abort = false;
    bool conditional_rendering = true;
};

// A field that the host left at its default is taken from the environment. Errors name the field or variable.
[[nodiscard]] Result<Settings> resolve(const heaviside_config& config);

} // namespace heaviside::api
