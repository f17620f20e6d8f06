#include "api/runtime.h"

#include "capture/capture.h"
#include "nvn/runtime.h"

#include <cstdlib>

namespace heaviside::api {
namespace {

log::Sink log_sink(const Settings& settings) {
    if (!settings.log)
        return {};
    return [log = settings.log, user = settings.user](log::Level level, std::string_view line) {
        log(user, static_cast<heaviside_log_level>(level), std::string(line).c_str());
    };
}

PFNNVNGENERICFUNCPTRPROC wrap(void* user, PFNNVNGENERICFUNCPTRPROC function, const char* name) {
    const auto& settings = *static_cast<const Settings*>(user);
    const heaviside_function wrapped = settings.wrap_guest_callable(settings.user, function, name);
    return wrapped ? wrapped : function;
}

} // namespace

void FrontSink::submit(stream::QueueId queue, const stream::DeviceModes& modes, stream::Buffer stream) {
    if (settings_.stop_on_error && log::error_count() != errors_before_)
        return;
    next_.submit(queue, modes, std::move(stream));
}

void FrontSink::present(stream::QueueId queue, const stream::Present& present) {
    stream::Present shown = present;
    interval_ = present.interval;
    if (!shown.crop_set) { // the window's own goes first (ledger REN-111)
        const std::lock_guard lock(crop_mutex_);
        const stream::Region& c = layer_crop_;
        const i64 right = i64{c.x} + c.width, bottom = i64{c.y} + c.height;
        if (c.width <= 0 || c.height <= 0)
            shown.crop_set = false;
        else if (c.x < 0 || c.y < 0 || right > present.image.texture.width || bottom > present.image.texture.height)
            log::error_once("layer crop {}, {}, {} x {} of a texture of {} x {}: ignored", c.x, c.y, c.width, c.height,
                            present.image.texture.width, present.image.texture.height);
        else {
            shown.crop = c;
            shown.crop_set = true;
        }
    }
    if (settings_.present_interval_override >= 0)
        shown.interval = static_cast<u32>(settings_.present_interval_override);
    next_.present(queue, shown);
    const u64 frame = ++frames_;
    if (settings_.on_present)
        settings_.on_present(settings_.user, frame, static_cast<int>(present.interval));
}

void FrontSink::set_layer_crop(const stream::Region& crop) {
    const std::lock_guard lock(crop_mutex_);
    layer_crop_ = crop;
}

Result<std::unique_ptr<Runtime>> Runtime::start(const Settings& settings) {
    log::set_level(settings.log_level);
    log::set_sink(log_sink(settings));
    log::forget_seen();
    std::unique_ptr<Runtime> runtime(new Runtime(settings));

    gpu::DeviceOptions device_options = settings.device;
    present::add_instance_extensions(device_options);
    auto device = gpu::Device::create(device_options);
    if (!device)
        return tl::unexpected(device.error());
    runtime->device_ = *std::move(device);
    if (!settings.host_forwards_faults) {
        auto handler = guest::FaultHandler::install(runtime->tracker_);
        if (!handler)
            return tl::unexpected(handler.error());
        runtime->fault_handler_.emplace(*std::move(handler));
    }
    auto presenter = present::Presenter::create(
        *runtime->device_, {{static_cast<u32>(settings.output_width), static_cast<u32>(settings.output_height)},
                            settings.fit,
                            settings.pacing,
                            settings.upscaling});
    if (!presenter)
        return tl::unexpected(presenter.error());
    runtime->presenter_ = *std::move(presenter);
    replay::Options options;
    options.tracker = &runtime->tracker_;
    options.conditional_rendering = settings.conditional_rendering;
    options.present = [presenter = runtime->presenter_.get()](gpu::Queue& queue, const replay::Frame& frame) {
        presenter->show(queue, {frame.image, frame.extent, frame.crop, frame.flip_y, frame.interval, frame.window,
                                frame.native_window, frame.busy});
    };
    options.window_destroyed = [presenter = runtime->presenter_.get()](stream::WindowId window) {
        presenter->window_destroyed(window);
    };
    auto replay = replay::Replay::create(*runtime->device_, nvn::guest_memory(), std::move(options));
    if (!replay)
        return tl::unexpected(replay.error());
    runtime->replay_ = *std::move(replay);
    stream::Sink* next = runtime->replay_.get();
    if (const char* const path = std::getenv("HEAVISIDE_CAPTURE"); path && *path) {
        auto capture = capture::record_to(path, *next);
        if (!capture)
            return tl::unexpected(capture.error());
        runtime->capture_ = *std::move(capture);
        next = runtime->capture_.get();
    }
    runtime->front_ = std::make_unique<FrontSink>(*next, runtime->settings_);
    runtime->connect();
    return runtime;
}

void Runtime::connect() {
    nvn::set_api_version(settings_.nvn_major, settings_.nvn_minor);
    nvn::set_unimplemented_abort(settings_.unimplemented_abort);
    nvn::set_sdk_version(settings_.guest_sdk_major);
    nvn::set_compiler_version(settings_.guest_compiler_minor);
    if (settings_.wrap_guest_callable)
        nvn::set_callable_wrapper({wrap, &settings_});
    if (settings_.core_away)
        nvn::set_blocking_hooks({settings_.core_away, settings_.core_back, settings_.user});
    nvn::guest_memory().set_tracker(&tracker_);
    nvn::set_sink(front_.get());
}

Runtime::~Runtime() {
    if (front_) {
        nvn::set_sink(nullptr);
        nvn::set_callable_wrapper({});
        nvn::set_blocking_hooks({});
    }
    front_.reset();
    capture_.reset();
    replay_.reset();
    nvn::guest_memory().set_tracker(nullptr);
    presenter_.reset();
    device_.reset(); // while the host still reads the log: the leak check speaks there
    log::set_sink({});
}

Result<void> Runtime::screenshot(const std::string& path) {
    Result<void> result;
    replay_->run_on_replay_thread([&](gpu::Queue& queue) { result = presenter_->screenshot(queue, path); });
    return result;
}

void Runtime::screenshot_of_next(const std::string& path) {
    replay_->run_on_replay_thread([&](gpu::Queue&) { presenter_->screenshot_of_next(path); });
}

} // namespace heaviside::api
