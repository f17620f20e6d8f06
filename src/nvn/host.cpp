#include "nvn/host.h"

#include "base/log.h"
#include "nvn/labels.h"
#include "nvn/null_sink.h"
#include "nvn/report.h"

#include <array>
#include <cstring>

namespace heaviside::nvn {

Host& host() {
    // Never destroyed: the application's static objects may be finalized after ours would be.
    static Host* const instance = new Host;
    return *instance;
}

void set_runtime_starter(RuntimeStarter starter) {
    const std::lock_guard lock(host().mutex);
    host().starter = starter;
}

void set_sink(stream::Sink* sink) {
    host().sink.store(sink, std::memory_order_release);
}

stream::Sink& sink() {
    if (stream::Sink* connected = host().sink.load(std::memory_order_acquire)) [[likely]]
        return *connected;
    static NullSink* const nothing = new NullSink;
    return *nothing;
}

bool start_runtime() {
    if (host().sink.load(std::memory_order_acquire))
        return true;
    RuntimeStarter starter;
    {
        const std::lock_guard lock(host().mutex);
        starter = host().starter;
    }
    return !starter.start || starter.start(starter.user);
}

guest::Memory& guest_memory() {
    return host().memory;
}

void set_callable_wrapper(CallableWrapper wrapper) {
    const std::lock_guard lock(host().mutex);
    host().wrapper = wrapper;
}

void set_api_version(int major, int minor) {
    const std::lock_guard lock(host().mutex);
    host().api_major = major;
    host().api_minor = minor;
}

void set_sdk_version(int major) {
    const std::lock_guard lock(host().mutex);
    host().sdk_major = major;
}

void set_compiler_version(int minor) {
    const std::lock_guard lock(host().mutex);
    host().compiler_minor = minor;
}

void set_blocking_hooks(BlockingHooks hooks) {
    const std::lock_guard lock(host().mutex);
    host().blocking = hooks;
}

void set_unimplemented_abort(bool abort) {
    host().unimplemented_abort = abort;
}

BlockingCall::BlockingCall() {
    const BlockingHooks& hooks = host().blocking;
    if (hooks.away)
        token_ = hooks.away(hooks.user);
}

BlockingCall::~BlockingCall() {
    const BlockingHooks& hooks = host().blocking;
    if (hooks.back)
        hooks.back(hooks.user, token_);
}

void report_text(NVNdebugCallbackType type, std::string_view call, std::string_view text) {
    log::error_once("{}: {}", call, text);
    DebugCallback callback;
    {
        const std::lock_guard lock(host().mutex);
        callback = host().debug_callback;
    }
    if (callback.function) {
        const std::string message = fmt::format("{}: {}", call, text);
        callback.function(NVN_DEBUG_CALLBACK_SOURCE_API, type, 0, NVN_DEBUG_CALLBACK_SEVERITY_HIGH, message.c_str(),
                          callback.data);
    }
}

void report_bad_object(const char* call, const void* object) {
    if (!object) {
        report_error(call, "null object");
        return;
    }
    std::array<u8, 8> bytes;
    std::memcpy(bytes.data(), object, sizeof(u32)); // the smallest object has no more
    const std::string label = labels().get(object);
    report_error(call, "object not initialised (begins {:02x} {:02x} {:02x} {:02x}{}{}{})", bytes[0], bytes[1],
                 bytes[2], bytes[3], label.empty() ? "" : "; it was \"", label, label.empty() ? "" : "\"");
}

} // namespace heaviside::nvn
