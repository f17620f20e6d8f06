// The guest-facing EGL and OpenGL names: what a loader of the guest finds, and what it looked for in vain.
//
// Loaders ask for every name they know, thousands of them; a name that is not built yields null, which is right for the
// many that are never called (ledger REN-228). Which names were asked for is kept for diagnosis.
#pragma once

#include "base/types.h"

#include <string>
#include <string_view>
#include <vector>

namespace heaviside::layers::opengl {

using Function = void (*)();

// Null for a name that is not built; the name is remembered. Any thread.
[[nodiscard]] Function look_up(std::string_view name);
// Names asked for that are not built, sorted, each once.
[[nodiscard]] std::vector<std::string> missing_names();

// EGL's state of the calling thread (EGL 1.5, sections 3.1, 3.7 and 3.12).
namespace egl {
inline constexpr u32 success = 0x3000, bad_parameter = 0x300c;
inline constexpr u32 opengl_es_api = 0x30a0, openvg_api = 0x30a1, opengl_api = 0x30a2;

// The last call's error on this thread, which becomes success.
i32 get_error();
// Only OpenGL is there: another API is an error and leaves the binding alone.
u32 bind_api(u32 api);
u32 query_api();
u32 release_thread(); // back to the state of a thread that never called EGL
Function get_proc_address(const char* name);
} // namespace egl

} // namespace heaviside::layers::opengl
