#include "layers/opengl/entry_points.h"

#include <algorithm>
#include <array>
#include <mutex>
#include <set>

namespace heaviside::layers::opengl {
namespace {

struct ThreadState {
    u32 error = egl::success;
    u32 api = egl::opengl_es_api; // EGL's initial binding, whether it is supported or not
};
thread_local ThreadState thread_state;

struct Missing {
    std::mutex mutex;
    std::set<std::string, std::less<>> names;
};
Missing& missing() {
    static Missing instance;
    return instance;
}

struct EntryPoint {
    std::string_view name;
    Function function;
};
// Sorted by name.
const std::array entry_points{
    EntryPoint{"eglBindAPI", reinterpret_cast<Function>(egl::bind_api)},
    EntryPoint{"eglGetError", reinterpret_cast<Function>(egl::get_error)},
    EntryPoint{"eglGetProcAddress", reinterpret_cast<Function>(egl::get_proc_address)},
    EntryPoint{"eglQueryAPI", reinterpret_cast<Function>(egl::query_api)},
    EntryPoint{"eglReleaseThread", reinterpret_cast<Function>(egl::release_thread)},
};

} // namespace

Function look_up(std::string_view name) {
    const auto found = std::lower_bound(entry_points.begin(), entry_points.end(), name,
                                        [](const EntryPoint& entry, std::string_view n) { return entry.name < n; });
    if (found != entry_points.end() && found->name == name)
        return found->function;
    std::lock_guard lock(missing().mutex);
    missing().names.emplace(name);
    return nullptr;
}

std::vector<std::string> missing_names() {
    std::lock_guard lock(missing().mutex);
    return {missing().names.begin(), missing().names.end()};
}

namespace egl {

i32 get_error() {
    const u32 error = thread_state.error;
    thread_state.error = success;
    return static_cast<i32>(error);
}

u32 bind_api(u32 api) {
    const bool known = api == opengl_api;
    thread_state.error = known ? success : bad_parameter;
    if (known)
        thread_state.api = api;
    return known;
}

u32 query_api() {
    thread_state.error = success;
    return thread_state.api;
}

u32 release_thread() {
    thread_state = {};
    return 1;
}

Function get_proc_address(const char* name) {
    thread_state.error = success;
    return name ? look_up(name) : nullptr;
}

} // namespace egl

} // namespace heaviside::layers::opengl
