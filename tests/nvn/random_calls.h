// Calls of entry points in any order over objects in any state: garbage, set up, ended, copied, of other kinds' bytes.
// What has to hold: nothing crashes, nothing is written outside an object of the smallest size.
#pragma once

#include "tests/nvn/world.h"

#include <sys/mman.h>

#include <array>
#include <string>
#include <tuple>
#include <vector>

namespace heaviside::nvn::test {

// The memory behind pointers that are no objects. Far larger than what any call may take.
class Scratch {
public:
    static constexpr std::size_t size = std::size_t{1} << 32;
    Scratch()
        : start_(static_cast<std::byte*>(
              ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0))) {
        must(start_ != MAP_FAILED);
    }
    ~Scratch() { ::munmap(start_, size); }
    Scratch(const Scratch&) = delete;
    Scratch& operator=(const Scratch&) = delete;
    std::byte* data() const {
        return reinterpret_cast<std::byte*>((reinterpret_cast<u64>(start_) + 0xFFFF) & ~u64{0xFFFF});
    }

private:
    std::byte* start_;
};

template <class Object>
struct Slots {
    static constexpr std::size_t count = 4;
    std::array<Guarded<Object>, count> slots{Guarded<Object>{std::byte{0}}, Guarded<Object>{std::byte{0xFF}},
                                             Guarded<Object>{std::byte{0x5A}}, Guarded<Object>{std::byte{0}}};
    bool intact() const {
        return std::ranges::all_of(slots, [](const auto& slot) { return slot.intact(); });
    }
};

// Random: callable, gives u32.
template <class Random>
class RandomCalls {
public:
    // Pools that calls forget to end stay known to the API: their memory stays.
    explicit RandomCalls(Random& random) : random_(random), scratch_(kept<Scratch>()), world_(kept<World>()) {
#define PROTOTYPE(type, result, parameters)
#define OBJECT_SIZE(name, bytes, minimum)
#define MUTATES(name, object)
#define NAME(name)
#define CALL(name) table().push_back({#name, [](RandomCalls& self) { self.call(pfnc_##name); }});
        if (table().empty()) {
#include "tests/nvn/prototypes.inc"
        }
#undef CALL
#undef PROTOTYPE
#undef OBJECT_SIZE
#undef MUTATES
#undef NAME
        strict = false;
    }

    ~RandomCalls() {
        strict = true;
    }
    RandomCalls(const RandomCalls&) = delete;
    RandomCalls& operator=(const RandomCalls&) = delete;

    // Makes one call; its name.
    const char* step() {
        const u32 choice = random_();
        if (choice % 16 == 0)
            copy_an_object();
        if (choice % 64 == 1)
            return call_by_name();
        const Row& row = table()[random_() % table().size()];
        row.call(*this);
        return row.name;
    }
    bool intact() const {
        return std::apply([](const auto&... slots) { return (slots.intact() && ...); }, slots_);
    }

    // A handle or an address that some call gave.
    u64 seen() {
        return seen_[random_() % seen_.size()];
    }
    std::byte* scratch() {
        std::byte* const place = scratch_.data() + random_() % 16 * 0x10000;
        if (random_() % 4 == 0)
            for (u32 i = 0; i < 16; ++i) {
                const u32 word = random_();
                std::memcpy(place + i * 4, &word, sizeof word);
            }
        return place;
    }
    template <class Object>
    Object* get(Object*) {
        const u32 choice = random_();
        if (choice % 32 == 31)
            return nullptr;
        auto& slots = std::get<Slots<Object>>(slots_).slots;
        Object* const object =
            choice % 2 == 0 ? world_.get(static_cast<Object*>(nullptr)) : slots[choice / 32 % slots.size()].get();
        if (choice % 8 >= 6) // set up, again perhaps
            world_.prepare(object);
        return object;
    }

private:
    struct Row {
        const char* name;
        void (*call)(RandomCalls&);
    };
    static std::vector<Row>& table() {
        static std::vector<Row> rows;
        return rows;
    }

    template <class R, class... Args>
    void call(R (*function)(Args...)) {
        [[maybe_unused]] Arguments arguments(*this, random_);
        if constexpr (std::is_same_v<R, u64>)
            seen_[random_() % seen_.size()] = function(arguments.template value<Args>()...);
        else
            (void)function(arguments.template value<Args>()...);
    }

    // A name that the API has, or nearly has; without a prototype: called with whatever is in the registers.
    const char* call_by_name() {
        const char* const name = names_[random_() % names_.size()];
        std::string asked = name;
        if (random_() % 2 != 0)
            asked.at(random_() % asked.size()) = static_cast<char>(random_());
        const auto function = nvnBootstrapLoader(asked.c_str());
        if (function && asked == name) {
            const auto any = [&] { return u64{random_()} << (random_() % 33); };
            (void)reinterpret_cast<u64 (*)(u64, u64, u64, u64, u64, u64)>(function)(
                reinterpret_cast<u64>(get(static_cast<NVNcommandBuffer*>(nullptr))), any(), any(), any(), any(), any());
        }
        return name;
    }

    // Bytes of one object over another of its type.
    void copy_an_object() {
        std::apply(
            [&](auto&... slots) {
                const std::size_t which = random_() % sizeof...(slots);
                std::size_t index = 0;
                (copy_one(slots, index++ == which), ...);
            },
            slots_);
    }
    template <class Object>
    void copy_one(Slots<Object>& slots, bool wanted) {
        if (wanted)
            std::memcpy(slots.slots[random_() % 4].get(), slots.slots[random_() % 4].get(), minimum_size<Object>);
    }

    template <class T>
    static T& kept() {
        static T* const instance = new T;
        return *instance;
    }

    static constexpr std::array<const char*, 12> names_ = {
        "nvnCommandBufferInsertCheckpointDynamic",
        "nvnCommandBufferInsertCheckpointStatic",
        "nvnCommandBufferOverrideSubtileSize",
        "nvnCommandBufferSetZCullZF32CompressionEnable",
        "nvnDeviceSetAutomaticCheckpointsByDebugGroup",
        "nvnDeviceSetAutomaticCheckpointsEnable",
        "nvnDeviceSetAutomaticCheckpointsMask",
        "nvnDeviceSetAutomaticCheckpointsSamplingInterval",
        "nvnDeviceSetCheckpointCallStacksEnable",
        "nvnDeviceSetCheckpointMaxCallStacksDepth",
        "nvnProgramGetSubtileSize",
        "nvnSetExternalDebuggerEnabledNVX",
    };
    std::array<u64, 16> seen_{};
    Random& random_;
    Scratch& scratch_;
    World& world_;
    std::tuple<Slots<NVNdeviceBuilder>, Slots<NVNdevice>, Slots<NVNmemoryPoolBuilder>, Slots<NVNmemoryPool>,
               Slots<NVNbufferBuilder>, Slots<NVNbuffer>, Slots<NVNtextureBuilder>, Slots<NVNtexture>,
               Slots<NVNtextureView>, Slots<NVNsamplerBuilder>, Slots<NVNsampler>, Slots<NVNtexturePool>,
               Slots<NVNsamplerPool>, Slots<NVNprogram>, Slots<NVNqueueBuilder>, Slots<NVNqueue>, Slots<NVNsync>,
               Slots<NVNeventBuilder>, Slots<NVNevent>, Slots<NVNwindowBuilder>, Slots<NVNwindow>,
               Slots<NVNcommandBuffer>, Slots<NVNblendState>, Slots<NVNchannelMaskState>, Slots<NVNcolorState>,
               Slots<NVNdepthStencilState>, Slots<NVNmultisampleState>, Slots<NVNpolygonState>,
               Slots<NVNvertexAttribState>, Slots<NVNvertexStreamState>>
        slots_;
};

} // namespace heaviside::nvn::test
