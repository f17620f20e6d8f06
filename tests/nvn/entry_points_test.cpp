// The table of entry points and the public header, held against docs/nvn (through the generated prototypes.inc).
#include "tests/nvn/client.h" // first: with the client's wrappers

#include "base/log.h"
#include "nvn/entry_table.h"
#include "nvn/runtime.h"

#include <algorithm>
#include <set>
#include <type_traits>

extern "C" int c_client_runs(void);

namespace heaviside::nvn {
namespace {

using test::Device;
using test::load_procs;

// --- The header ---

template <class F>
struct Registers;
template <class R, class... A>
struct Registers<R (*)(A...)> {
    static constexpr int floating = (0 + ... + (std::is_floating_point_v<A> ? 1 : 0));
    static constexpr int integer = static_cast<int>(sizeof...(A)) - floating;
};

#define PROTOTYPE(type, result, parameters) static_assert(std::is_same_v<type, result(*) parameters>);
#define OBJECT_SIZE(name, bytes, minimum)                                                                              \
    static_assert(sizeof(name) == (bytes) && (minimum) <= (bytes) && alignof(name) <= 8);
#define MUTATES(name, object)
#define NAME(name)
#include "tests/nvn/prototypes.inc"
#undef PROTOTYPE
#undef OBJECT_SIZE
#undef MUTATES
#undef NAME

static_assert(sizeof(NVNformat) == 4 && sizeof(NVNboolean) == 1 && sizeof(NVNseparateTextureHandle) == 8);
static_assert(sizeof(NVNmappingRequest) == 40 && sizeof(NVNshaderData) == 16 && sizeof(NVNcopyRegion) == 24);
static_assert(NVN_MEMORY_POOL_FLAGS_CPU_UNCACHED_BIT == 2 && NVN_TEXTURE_FLAGS_DISPLAY_BIT == 1);

constexpr const char* all_names[] = {
#define PROTOTYPE(type, result, parameters)
#define OBJECT_SIZE(name, bytes, minimum)
#define MUTATES(name, object)
#define NAME(name) #name,
#include "tests/nvn/prototypes.inc"
#undef PROTOTYPE
#undef OBJECT_SIZE
#undef MUTATES
#undef NAME
};

struct PrototypeRegisters {
    const char* name;
    int integer, floating;
};
constexpr PrototypeRegisters prototype_registers[] = {
#define PROTOTYPE(type, result, parameters) {#type, Registers<type>::integer, Registers<type>::floating},
#define OBJECT_SIZE(name, bytes, minimum)
#define MUTATES(name, object)
#define NAME(name)
#include "tests/nvn/prototypes.inc"
#undef PROTOTYPE
#undef OBJECT_SIZE
#undef MUTATES
#undef NAME
};

TEST(EntryPoints, ArgumentsFitRegisters) { // GFX-028
    EXPECT_GE(std::size(prototype_registers), 517u);
    for (const PrototypeRegisters& prototype : prototype_registers) {
        EXPECT_LE(prototype.integer, 8) << prototype.name;
        EXPECT_LE(prototype.floating, 8) << prototype.name;
    }
}

TEST(EntryPoints, HeaderServesCClients) {
    EXPECT_EQ(c_client_runs(), 0);
}

// --- The table ---

TEST(EntryPoints, EveryNameResolvesWithoutADevice) {
    ASSERT_EQ(std::size(all_names), 538u);
    load_procs();
    for (const char* name : all_names) {
        EXPECT_NE(nvnBootstrapLoader(name), nullptr) << name;
        EXPECT_EQ(nvnDeviceGetProcAddress(nullptr, name), nvnBootstrapLoader(name)) << name;
    }
}

TEST(EntryPoints, FunctionsDifferFromOneAnother) {
    std::set<PFNNVNGENERICFUNCPTRPROC> functions;
    for (const EntryPoint& entry : entry_points())
        EXPECT_TRUE(functions.insert(entry.function).second) << entry.name;
}

TEST(EntryPoints, InventedNamesAreNullAndRemembered) { // OBJ-230, GFX-051
    load_procs();
    EXPECT_EQ(nvnDeviceGetProcAddress(nullptr, "nvnInventedForThisTest"), nullptr);
    EXPECT_EQ(nvnDeviceGetProcAddress(nullptr, "nvnInventedForThisTest"), nullptr);
    EXPECT_EQ(nvnDeviceGetProcAddress(nullptr, nullptr), nullptr);
    EXPECT_EQ(nvnBootstrapLoader(""), nullptr);
    const auto misses = unknown_lookups();
    EXPECT_EQ(std::ranges::count(misses, "nvnInventedForThisTest"), 1);
}

TEST(EntryPoints, KnownExtensionIsCallable) { // OBJ-230
    const auto extension = nvnBootstrapLoader("nvnSetExternalDebuggerEnabledNVX");
    ASSERT_NE(extension, nullptr);
    extension();
}

TEST(EntryPoints, UnbuiltNamesReportOnceReturnZeroAndAreCounted) {               // OBJ-232, GFX-049
    const EntryPoint* const stub = find_entry_point("nvnProgramGetSubtileSize"); // answers something: no guess is safe
    ASSERT_TRUE(stub && stub->status == EntryStatus::Unknown);
    const auto count = [&] {
        for (const CallCount& call : unimplemented())
            if (call.name == stub->name)
                return call.count;
        return u64{0};
    };
    std::vector<std::string> lines;
    log::set_sink([&](log::Level, std::string_view line) { lines.emplace_back(line); });
    const u64 before = count();
    EXPECT_EQ(reinterpret_cast<u64 (*)(u64)>(stub->function)(0x1234), 0u);
    EXPECT_EQ(reinterpret_cast<u64 (*)(u64)>(stub->function)(0x1234), 0u);
    log::set_sink({});
    EXPECT_EQ(count(), before + 2);
    if (before == 0) { // not another test's
        ASSERT_EQ(lines.size(), 1u);
        EXPECT_TRUE(lines[0].starts_with(stub->name)) << lines[0];
    }
}

// Names of which nothing is known but that they set what changes no pixel, as their siblings do: checkpoints of a
// debugger, sizes of caches. Whatever they are given, they answer 0 and say nothing.
TEST(EntryPoints, HintsWithoutPrototypeAreAccepted) { // OBJ-245
    constexpr const char* names[] = {
        "nvnCommandBufferInsertCheckpointDynamic",      "nvnCommandBufferInsertCheckpointStatic",
        "nvnCommandBufferOverrideSubtileSize",          "nvnCommandBufferSetZCullZF32CompressionEnable",
        "nvnDeviceSetAutomaticCheckpointsByDebugGroup", "nvnDeviceSetAutomaticCheckpointsEnable",
        "nvnDeviceSetAutomaticCheckpointsMask",         "nvnDeviceSetAutomaticCheckpointsSamplingInterval",
        "nvnDeviceSetCheckpointCallStacksEnable",       "nvnDeviceSetCheckpointMaxCallStacksDepth"};
    std::vector<std::string> lines;
    log::set_sink([&](log::Level, std::string_view line) { lines.emplace_back(line); });
    for (const char* name : names) {
        const auto function = reinterpret_cast<u64 (*)(u64, u64, u64)>(nvnBootstrapLoader(name));
        EXPECT_EQ(function(0x1234, ~u64{0}, 3), 0u) << name;
        for (const CallCount& call : unimplemented())
            EXPECT_NE(call.name, name);
    }
    log::set_sink({});
    EXPECT_TRUE(lines.empty()) << lines.front();
    std::size_t rest = 0;
    for (const EntryPoint& entry : entry_points())
        rest += entry.status != EntryStatus::Built && entry.status != EntryStatus::Hint;
    EXPECT_EQ(rest, 1u);
}

TEST(EntryPoints, WithPrototypeMeansBuilt) {
    for (const EntryPoint& entry : entry_points())
        EXPECT_NE(entry.status, EntryStatus::Stub) << entry.name;
}

PFNNVNGENERICFUNCPTRPROC marker() {
    return reinterpret_cast<PFNNVNGENERICFUNCPTRPROC>(0x5150);
}

TEST(EntryPoints, WrapperSeesEveryPointerHandedOut) { // GFX-027
    load_procs();
    std::set<std::string> seen;
    set_callable_wrapper({[](void* user, PFNNVNGENERICFUNCPTRPROC, const char* name) {
                              static_cast<std::set<std::string>*>(user)->insert(name);
                              return marker();
                          },
                          &seen});
    EXPECT_EQ(nvnBootstrapLoader("nvnDeviceGetProcAddress"), marker());
    EXPECT_EQ(pfnc_nvnDeviceGetProcAddress(nullptr, "nvnQueueFinish"), marker());
    set_callable_wrapper({});
    EXPECT_TRUE(seen.contains("nvnDeviceGetProcAddress") && seen.contains("nvnQueueFinish"));
    EXPECT_NE(nvnBootstrapLoader("nvnQueueFinish"), marker());
}

TEST(EntryPoints, BooleansHaveEightBits) { // GFX-029
    load_procs();
    // As a caller that leaves the upper bits of the register as they were.
    const auto set = reinterpret_cast<void (*)(NVNdepthStencilState*, u32)>(
        nvnBootstrapLoader("nvnDepthStencilStateSetDepthTestEnable"));
    NVNdepthStencilState state;
    nvnDepthStencilStateSetDefaults(&state);
    set(&state, 0xFFFFFF01);
    EXPECT_EQ(nvnDepthStencilStateGetDepthTestEnable(&state), NVN_TRUE);
    set(&state, 0xABCDEF00);
    EXPECT_EQ(nvnDepthStencilStateGetDepthTestEnable(&state), NVN_FALSE);
}

} // namespace
} // namespace heaviside::nvn
