// The one table of entry points: lookup, the C pointer block, tracing and the coverage report come from it.
#pragma once

#include "nvn/api_types.h"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace heaviside::nvn {

enum class EntryStatus : u8 {
    Built,
    Stub,   // prototype known; the function reports itself and returns 0
    Hint,   // the name is known, its prototype is not; what it sets changes no pixel: accepted, returns 0
    Unknown // the name is known, its prototype is not; as Stub
};

struct EntryPoint {
    const char* name;
    PFNNVNGENERICFUNCPTRPROC function; // never null
    EntryStatus status;
};

// Sorted by name. Every name of docs/nvn/functions.tsv, and the extensions that applications call unchecked.
[[nodiscard]] std::span<const EntryPoint> entry_points();
[[nodiscard]] const EntryPoint* find_entry_point(std::string_view name);
// What nvnDeviceGetProcAddress answers: the function as the installed wrapper made it, or null; a miss is remembered.
[[nodiscard]] PFNNVNGENERICFUNCPTRPROC look_up(const char* name);

struct CallCount {
    std::string name;
    u64 count;
};
// Entry points that are not built and were called, with counts.
[[nodiscard]] std::vector<CallCount> unimplemented();
// Names that were asked for and that no table has, in the order of the first time.
[[nodiscard]] std::vector<std::string> unknown_lookups();

} // namespace heaviside::nvn
