// Every entry point that may write into an object, over objects of the smallest size that any header gave them: nothing
// is written past it (ledger OBJ-001, GFX-179, GFX-183 to GFX-198). The same calls over memory that is no object:
// nothing is written at all.
//
// docs/nvn/objects.tsv has the sizes, functions.tsv the calls; both come in through the generated prototypes.inc.
#include "tests/nvn/client.h" // first: with the client's wrappers

#include "base/log.h"
#include "base/types.h"

#include <algorithm>
#include <array>
#include <random>
#include <type_traits>
#include <vector>

namespace heaviside::nvn {
namespace {

template <class Object>
inline constexpr std::size_t minimum_size = 0;
#define PROTOTYPE(type, result, parameters)
#define OBJECT_SIZE(name, bytes, minimum)                                                                              \
    template <>                                                                                                        \
    constexpr std::size_t minimum_size<name> = minimum;
#define MUTATES(name, object)
#define NAME(name)
#include "tests/nvn/prototypes.inc"
#undef OBJECT_SIZE
#undef MUTATES
#define OBJECT_SIZE(name, bytes, minimum)

// An object of the smallest size with guard bytes behind it.
template <class Object>
class Guarded {
public:
    explicit Guarded(std::byte fill) {
        std::fill(bytes_.begin(), bytes_.end(), guard);
        std::fill_n(bytes_.begin(), minimum_size<Object>, fill);
    }
    Object* get() { return reinterpret_cast<Object*>(bytes_.data()); }
    bool intact() const {
        return std::all_of(bytes_.begin() + minimum_size<Object>, bytes_.end(), [](std::byte b) { return b == guard; });
    }
    bool all(std::byte fill) const {
        return std::all_of(bytes_.begin(), bytes_.begin() + minimum_size<Object>,
                           [&](std::byte b) { return b == fill; });
    }

private:
    static constexpr std::byte guard{0xC5};
    alignas(16) std::array<std::byte, minimum_size<Object> + 256> bytes_;
};

// A valid object of every type, for the other arguments, and memory for the pointers among them.
class World {
public:
    test::Device device;
    test::Pool pool{device, 0x200000};
    test::Pages spare{0x100000};
    test::Pages scratch_pages{0x40000};
    NVNmemoryPoolBuilder pool_builder;
    NVNbufferBuilder buffer_builder;
    NVNbuffer buffer;
    NVNtextureBuilder texture_builder;
    NVNtexture texture;
    NVNtextureView view;
    NVNsamplerBuilder sampler_builder;
    NVNsampler sampler;
    NVNtexturePool texture_pool;
    NVNsamplerPool sampler_pool;
    NVNprogram program;
    NVNqueueBuilder queue_builder;
    NVNqueue queue;
    NVNsync sync;
    NVNeventBuilder event_builder;
    NVNevent event;
    NVNwindowBuilder window_builder;
    NVNwindow window;
    NVNcommandBuffer command_buffer;
    NVNdeviceBuilder device_builder;
    std::array<NVNtexture*, 512> textures;
    std::array<const NVNtextureView*, 512> views;

    World() {
        nvnDeviceBuilderSetDefaults(&device_builder);
        nvnMemoryPoolBuilderSetDefaults(&pool_builder);
        nvnMemoryPoolBuilderSetStorage(&pool_builder, spare.data, 0x10000);
        prepare(&buffer_builder);
        nvnBufferInitialize(&buffer, &buffer_builder);
        prepare(&texture_builder);
        prepare(&texture);
        prepare(&view);
        prepare(&sampler_builder);
        prepare(&sampler);
        prepare(&texture_pool);
        prepare(&sampler_pool);
        prepare(&program);
        prepare(&queue_builder);
        prepare(&queue);
        prepare(&sync);
        prepare(&event_builder);
        prepare(&event);
        textures.fill(&texture);
        views.fill(&view);
        prepare(&window_builder);
        prepare(&window);
        prepare(&command_buffer);
    }
    ~World() {
        finish(&command_buffer);
        finish(&window);
        finish(&event);
        finish(&sync);
        finish(&queue);
        finish(&program);
        finish(&sampler_pool);
        finish(&texture_pool);
    }

    // prepare() makes a valid object, finish() ends one that still is.
    void prepare(NVNdeviceBuilder* o) { nvnDeviceBuilderSetDefaults(o); }
    void prepare(NVNdevice* o) { ASSERT_TRUE(nvnDeviceInitialize(o, &device_builder)); }
    void prepare(NVNmemoryPoolBuilder* o) { nvnMemoryPoolBuilderSetDefaults(o); }
    void prepare(NVNmemoryPool* o) { ASSERT_TRUE(nvnMemoryPoolInitialize(o, &pool_builder)); }
    void prepare(NVNbufferBuilder* o) {
        nvnBufferBuilderSetDefaults(o);
        nvnBufferBuilderSetStorage(o, &pool.object, 0x1000, 0x1000);
    }
    void prepare(NVNbuffer* o) { ASSERT_TRUE(nvnBufferInitialize(o, &buffer_builder)); }
    void prepare(NVNtextureBuilder* o) {
        nvnTextureBuilderSetDefaults(o);
        nvnTextureBuilderSetSize2D(o, 16, 16);
        nvnTextureBuilderSetFormat(o, NVN_FORMAT_RGBA8);
        nvnTextureBuilderSetFlags(o, NVN_TEXTURE_FLAGS_DISPLAY);
        nvnTextureBuilderSetStorage(o, &pool.object, 0x10000);
    }
    void prepare(NVNtexture* o) { ASSERT_TRUE(nvnTextureInitialize(o, &texture_builder)); }
    void prepare(NVNtextureView* o) { nvnTextureViewSetDefaults(o); }
    void prepare(NVNsamplerBuilder* o) { nvnSamplerBuilderSetDefaults(o); }
    void prepare(NVNsampler* o) { ASSERT_TRUE(nvnSamplerInitialize(o, &sampler_builder)); }
    void prepare(NVNtexturePool* o) { ASSERT_TRUE(nvnTexturePoolInitialize(o, &pool.object, 0x20000, 300)); }
    void prepare(NVNsamplerPool* o) { ASSERT_TRUE(nvnSamplerPoolInitialize(o, &pool.object, 0x30000, 300)); }
    void prepare(NVNprogram* o) { ASSERT_TRUE(nvnProgramInitialize(o, &device.object)); }
    void prepare(NVNqueueBuilder* o) {
        nvnQueueBuilderSetDevice(o, &device.object);
        nvnQueueBuilderSetDefaults(o);
        nvnQueueBuilderSetQueueMemory(o, spare.data + 0x10000, nvnQueueBuilderGetQueueMemorySize(o));
    }
    void prepare(NVNqueue* o) { ASSERT_TRUE(nvnQueueInitialize(o, &queue_builder)); }
    void prepare(NVNsync* o) { ASSERT_TRUE(nvnSyncInitialize(o, &device.object)); }
    void prepare(NVNeventBuilder* o) {
        nvnEventBuilderSetDefaults(o);
        nvnEventBuilderSetStorage(o, &pool.object, 0x800);
    }
    void prepare(NVNevent* o) { ASSERT_TRUE(nvnEventInitialize(o, &event_builder)); }
    void prepare(NVNwindowBuilder* o) {
        nvnWindowBuilderSetDevice(o, &device.object);
        nvnWindowBuilderSetDefaults(o);
        nvnWindowBuilderSetTextures(o, 2, textures.data());
    }
    void prepare(NVNwindow* o) { ASSERT_TRUE(nvnWindowInitialize(o, &window_builder)); }
    void prepare(NVNcommandBuffer* o) {
        ASSERT_TRUE(nvnCommandBufferInitialize(o, &device.object));
        nvnCommandBufferAddCommandMemory(o, &pool.object, 0x40000, 0x10000);
        nvnCommandBufferAddControlMemory(o, scratch_pages.data + 0x30000, 0x1000);
        nvnCommandBufferBeginRecording(o);
    }
    void prepare(NVNblendState* o) { nvnBlendStateSetDefaults(o); }
    void prepare(NVNchannelMaskState* o) { nvnChannelMaskStateSetDefaults(o); }
    void prepare(NVNcolorState* o) { nvnColorStateSetDefaults(o); }
    void prepare(NVNdepthStencilState* o) { nvnDepthStencilStateSetDefaults(o); }
    void prepare(NVNmultisampleState* o) { nvnMultisampleStateSetDefaults(o); }
    void prepare(NVNpolygonState* o) { nvnPolygonStateSetDefaults(o); }
    void prepare(NVNvertexAttribState* o) { nvnVertexAttribStateSetDefaults(o); }
    void prepare(NVNvertexStreamState* o) { nvnVertexStreamStateSetDefaults(o); }

    template <class Plain>
    void finish(Plain*) {}
    void finish(NVNdevice* o) { nvnDeviceFinalize(o); }
    void finish(NVNmemoryPool* o) { nvnMemoryPoolFinalize(o); }
    void finish(NVNbuffer* o) { nvnBufferFinalize(o); }
    void finish(NVNtexture* o) { nvnTextureFinalize(o); }
    void finish(NVNsampler* o) { nvnSamplerFinalize(o); }
    void finish(NVNtexturePool* o) { nvnTexturePoolFinalize(o); }
    void finish(NVNsamplerPool* o) { nvnSamplerPoolFinalize(o); }
    void finish(NVNprogram* o) { nvnProgramFinalize(o); }
    void finish(NVNqueue* o) { nvnQueueFinalize(o); }
    void finish(NVNsync* o) { nvnSyncFinalize(o); }
    void finish(NVNevent* o) { nvnEventFinalize(o); }
    void finish(NVNwindow* o) { nvnWindowFinalize(o); }
    void finish(NVNcommandBuffer* o) {
        nvnCommandBufferEndRecording(o);
        nvnCommandBufferFinalize(o);
    }
};

// Values for the arguments after the object: valid objects, zeroed memory, small and extreme numbers.
class Arguments {
public:
    Arguments(World& world, std::mt19937& random) : world_(world), random_(random) {
        std::memset(world.scratch_pages.data, 0, 0x30000);
    }

    template <class T>
    T value() {
        if constexpr (std::is_enum_v<T>)
            return static_cast<T>(random_() % 9);
        else if constexpr (std::is_floating_point_v<T>)
            return one_of<T>({0.0f, 1.0f, -2.5f, 1e30f});
        else if constexpr (std::is_same_v<T, NVNboolean>)
            return static_cast<T>(random_() % 2);
        else if constexpr (std::is_integral_v<T> && sizeof(T) == 4)
            return one_of<T>({T(0), T(1), T(2), T(3), T(256), T(299), T(-1)});
        else if constexpr (std::is_integral_v<T>)
            return one_of<T>({T(0), T(4), T(256), T(4096), T(-1)});
        else if constexpr (std::is_pointer_v<T>)
            return pointer(T{});
        else
            return T{}; // separate handles
    }

private:
    template <class T>
    T one_of(std::initializer_list<T> values) {
        return values.begin()[random_() % values.size()];
    }
    const char* pointer(const char*) { return "text"; }
    NVNtexture* const* pointer(NVNtexture* const*) { return world_.textures.data(); }
    const NVNtexture* const* pointer(const NVNtexture* const*) { return world_.textures.data(); }
    const NVNtextureView* const* pointer(const NVNtextureView* const*) { return world_.views.data(); }
    const NVNcopyRegion* pointer(const NVNcopyRegion*) {
        static constexpr NVNcopyRegion region{4, 4, 0, 8, 8, 1};
        return &region;
    }
    template <class T>
    T* pointer(T*) {
        using Object = std::remove_const_t<T>;
        if constexpr (std::is_function_v<Object>)
            return nullptr;
        else if constexpr (std::is_same_v<Object, NVNdevice>)
            return &world_.device.object;
        else if constexpr (std::is_same_v<Object, NVNmemoryPool>)
            return &world_.pool.object;
        else
            return other<T>();
    }
    template <class T>
    T* other() {
        using Object = std::remove_const_t<T>;
        T* found = nullptr;
        const auto offer = [&](auto& object) {
            if constexpr (std::is_same_v<Object, std::remove_reference_t<decltype(object)>>)
                found = &object;
        };
        World& w = world_;
        offer(w.pool_builder), offer(w.buffer_builder), offer(w.buffer), offer(w.texture_builder), offer(w.texture);
        offer(w.view), offer(w.sampler_builder), offer(w.sampler), offer(w.texture_pool), offer(w.sampler_pool);
        offer(w.program), offer(w.queue_builder), offer(w.queue), offer(w.sync), offer(w.event_builder);
        offer(w.event), offer(w.window_builder), offer(w.window), offer(w.device_builder);
        return found ? found : reinterpret_cast<T*>(world_.scratch_pages.data);
    }

    World& world_;
    std::mt19937& random_;
};

template <class R, class Object, class... Rest>
void call(R (*function)(Object*, Rest...), Object* object, [[maybe_unused]] Arguments arguments) {
    function(object, arguments.value<Rest>()...);
}

class Canary : public testing::Test {
protected:
    void SetUp() override {
        log::set_sink([](log::Level, std::string_view) {}); // thousands of refused calls
    }
    void TearDown() override { log::set_sink({}); }
};

TEST_F(Canary, NoCallWritesPastItsObject) {
    World world;
    std::mt19937 random(20261130);
    int calls = 0;
    const auto check = [&]<class Object>(const char* name, auto* function, Object*) {
        for (int round = 0; round < 24; ++round) {
            Guarded<Object> object(std::byte{0});
            world.prepare(object.get());
            ASSERT_TRUE(object.intact()) << "prepare() before " << name;
            call(function, object.get(), Arguments(world, random));
            ASSERT_TRUE(object.intact()) << name;
            world.finish(object.get());
            ASSERT_TRUE(object.intact()) << "finish() after " << name;
            ++calls;
        }
    };
#define MUTATES(name, object) check(#name, pfnc_##name, static_cast<object*>(nullptr));
#include "tests/nvn/prototypes.inc"
#undef MUTATES
    EXPECT_GE(calls, 24 * 300);
}

// Types that have a magic word: everything but Initialize refuses what is not theirs.
template <class Object>
inline constexpr bool has_magic =
    std::is_same_v<Object, NVNdevice> || std::is_same_v<Object, NVNmemoryPool> || std::is_same_v<Object, NVNbuffer> ||
    std::is_same_v<Object, NVNtexture> || std::is_same_v<Object, NVNsampler> ||
    std::is_same_v<Object, NVNtexturePool> || std::is_same_v<Object, NVNsamplerPool> ||
    std::is_same_v<Object, NVNprogram> || std::is_same_v<Object, NVNqueue> || std::is_same_v<Object, NVNsync> ||
    std::is_same_v<Object, NVNevent> || std::is_same_v<Object, NVNwindow> || std::is_same_v<Object, NVNcommandBuffer>;

TEST_F(Canary, WhatIsNoObjectIsLeftAlone) {
    World world;
    std::mt19937 random(7);
    const auto check = [&]<class Object>(const char* name, auto* function, Object*) {
        if (!has_magic<Object> || std::string_view(name).find("Initialize") != std::string_view::npos)
            return;
        for (const std::byte fill : {std::byte{0x00}, std::byte{0xA7}}) {
            Guarded<Object> object(fill);
            call(function, object.get(), Arguments(world, random));
            EXPECT_TRUE(object.all(fill) && object.intact()) << name;
            call(function, static_cast<Object*>(nullptr), Arguments(world, random));
        }
    };
#define MUTATES(name, object) check(#name, pfnc_##name, static_cast<object*>(nullptr));
#include "tests/nvn/prototypes.inc"
#undef MUTATES
}

// One title keeps a program of 0x80 bytes, a buffer and a pool side by side (ledger GFX-192).
TEST(Neighbours, ProgramOf128BytesBeforeABufferAndAPool) {
    test::Device device;
    test::Pool memory(device, 0x10000);
    test::Pages pages(0x10000);
    struct {
        std::array<std::byte, 0x80> program;
        NVNbuffer buffer;
        NVNmemoryPool pool;
    } block;
    static_assert(offsetof(decltype(block), buffer) == 0x80 && offsetof(decltype(block), pool) == 0xB0);
    auto* program = reinterpret_cast<NVNprogram*>(block.program.data());
    ASSERT_TRUE(nvnProgramInitialize(program, &device.object));
    NVNmemoryPoolBuilder pool_builder;
    nvnMemoryPoolBuilderSetDefaults(&pool_builder);
    nvnMemoryPoolBuilderSetStorage(&pool_builder, pages.data, pages.size);
    ASSERT_TRUE(nvnMemoryPoolInitialize(&block.pool, &pool_builder));
    NVNbufferBuilder buffer_builder;
    nvnBufferBuilderSetDefaults(&buffer_builder);
    nvnBufferBuilderSetStorage(&buffer_builder, &block.pool, 0x100, 0x100);
    ASSERT_TRUE(nvnBufferInitialize(&block.buffer, &buffer_builder));
    const NVNshaderData none{0, nullptr};
    EXPECT_FALSE(nvnProgramSetShaders(program, 1, &none));
    nvnProgramSetSampleShading(program, NVN_SAMPLE_SHADING_MODE_FORCE_SAMPLE_SHADING_ON);
    nvnProgramFinalize(program);
    EXPECT_EQ(nvnBufferMap(&block.buffer), pages.data + 0x100);
    EXPECT_EQ(nvnMemoryPoolMap(&block.pool), pages.data);
    nvnMemoryPoolFinalize(&block.pool);
}

} // namespace
} // namespace heaviside::nvn
