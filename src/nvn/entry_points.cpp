#include "nvn/entry_points.h"

#include "base/log.h"
#include "nvn/entry_table.h"
#include "nvn/host.h"
#include "nvn/trace.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <set>

namespace heaviside::nvn {

namespace {

// Row numbers of the table before it is sorted: what a stub knows itself by.
enum RowNumber : unsigned {
#define BUILT(name) row_##name,
#define STUB(name) row_##name,
#define HINT(name) row_##name,
#define UNKNOWN(name) row_##name,
#include "nvn/entry_points_commands.def"
#include "nvn/entry_points_objects.def"
#undef BUILT
#undef STUB
#undef HINT
#undef UNKNOWN
    row_nvnBootstrapLoader,
    row_nvnSetExternalDebuggerEnabledNVX,
    row_count
};

constexpr std::array<const char*, row_count> row_names = {
#define BUILT(name) #name,
#define STUB(name) #name,
#define HINT(name) #name,
#define UNKNOWN(name) #name,
#include "nvn/entry_points_commands.def"
#include "nvn/entry_points_objects.def"
#undef BUILT
#undef STUB
#undef HINT
#undef UNKNOWN
    "nvnBootstrapLoader",
    "nvnSetExternalDebuggerEnabledNVX",
};

// Calls of each stub. Process-wide, as the functions are.
std::array<std::atomic<u64>, row_count> stub_calls;

void write_to_trace(unsigned row) {
    if (tracing())
        TraceLine{row_names[row]};
}

void stub_called(unsigned row) {
    write_to_trace(row);
    if (stub_calls[row].fetch_add(1, std::memory_order_relaxed) == 0)
        log::error("{}: not built yet, the call does nothing", row_names[row]);
    if (host().unimplemented_abort)
        std::abort();
}

// A whole zero register: callers see 0, false or null whatever the return type (ledger OBJ-232).
template <unsigned Row>
u64 stub() {
    stub_called(Row);
    return 0;
}

template <unsigned Row>
u64 hint() {
    write_to_trace(Row);
    return 0;
}

// An extension that applications call without checking the lookup (ledger OBJ-230).
u64 set_external_debugger_enabled_nvx() {
    return 0;
}

template <class Function>
PFNNVNGENERICFUNCPTRPROC generic(Function* function) {
    return reinterpret_cast<PFNNVNGENERICFUNCPTRPROC>(function);
}

std::vector<EntryPoint> make_table() {
    std::vector<EntryPoint> rows = {
#define BUILT(name) {#name, generic(&heaviside::nvn::name), EntryStatus::Built},
#define STUB(name) {#name, generic(&stub<row_##name>), EntryStatus::Stub},
#define HINT(name) {#name, generic(&hint<row_##name>), EntryStatus::Hint},
#define UNKNOWN(name) {#name, generic(&stub<row_##name>), EntryStatus::Unknown},
#include "nvn/entry_points_commands.def"
#include "nvn/entry_points_objects.def"
#undef BUILT
#undef STUB
#undef HINT
#undef UNKNOWN
        {"nvnBootstrapLoader", generic(&look_up), EntryStatus::Built},
        {"nvnSetExternalDebuggerEnabledNVX", generic(&set_external_debugger_enabled_nvx), EntryStatus::Built},
    };
    std::ranges::sort(rows, {}, [](const EntryPoint& e) { return std::string_view(e.name); });
    return rows;
}

struct UnknownLookups {
    std::mutex mutex;
    std::vector<std::string> names;
    std::set<std::string, std::less<>> seen;
};
UnknownLookups& unknown() {
    static UnknownLookups* const instance = new UnknownLookups;
    return *instance;
}
constexpr std::size_t remembered_lookups = 4096;

} // namespace

std::span<const EntryPoint> entry_points() {
    static const std::vector<EntryPoint>* const table = new std::vector<EntryPoint>(make_table());
    return *table;
}

const EntryPoint* find_entry_point(std::string_view name) {
    const auto rows = entry_points();
    const auto row =
        std::ranges::lower_bound(rows, name, {}, [](const EntryPoint& e) { return std::string_view(e.name); });
    return row != rows.end() && row->name == name ? &*row : nullptr;
}

PFNNVNGENERICFUNCPTRPROC look_up(const char* name) {
    if (!name)
        return nullptr;
    start_requested_trace();
    if (const EntryPoint* entry = find_entry_point(name)) {
        const PFNNVNGENERICFUNCPTRPROC tracer = tracing() ? traced(entry->name) : nullptr;
        const PFNNVNGENERICFUNCPTRPROC function = tracer ? tracer : entry->function;
        const CallableWrapper wrapper = host().wrapper;
        return wrapper.wrap ? wrapper.wrap(wrapper.user, function, entry->name) : function;
    }
    UnknownLookups& misses = unknown();
    const std::lock_guard lock(misses.mutex);
    if (!misses.seen.contains(name) && misses.names.size() < remembered_lookups) {
        misses.seen.emplace(name);
        misses.names.emplace_back(name);
        log::error("nvnDeviceGetProcAddress: unknown name {}", name);
    }
    return nullptr;
}

std::vector<CallCount> unimplemented() {
    std::vector<CallCount> out;
    for (unsigned row = 0; row < row_count; ++row) {
        if (const u64 count = stub_calls[row].load(std::memory_order_relaxed))
            out.push_back({row_names[row], count});
    }
    return out;
}

std::vector<std::string> unknown_lookups() {
    const std::lock_guard lock(unknown().mutex);
    return unknown().names;
}

} // namespace heaviside::nvn
