// The API's objects for tests that call entry points by table: objects of the smallest size between guard bytes, a
// valid object of every type, values for arguments.
//
// docs/nvn/objects.tsv has the sizes, functions.tsv the calls; both come in through the generated prototypes.inc.
#pragma once

#include "tests/nvn/client.h" // first: with the client's wrappers

#include "base/types.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <initializer_list>
#include <type_traits>

namespace heaviside::nvn::test {

// Whether prepare() has to work: not once calls at random have ended what it stands on.
inline bool strict = true;
inline void must(bool true_here) {
    if (strict && !true_here)
        std::abort();
}

template <class Object>
inline constexpr std::size_t minimum_size = 0;
#define PROTOTYPE(type, result, parameters)
#define OBJECT_SIZE(name, bytes, minimum)                                                                              \
    template <>                                                                                                        \
    inline constexpr std::size_t minimum_size<name> = minimum;
#define MUTATES(name, object)
#define NAME(name)
#include "tests/nvn/prototypes.inc"
#undef PROTOTYPE
#undef OBJECT_SIZE
#undef MUTATES
#undef NAME

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
    Device device;
    Pool pool{device, 0x200000};
    Pages spare{0x100000};
    Pages scratch_pages{0x40000};
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

    std::byte* scratch() { return scratch_pages.data; }
    template <class Object>
    Object* get(Object*) {
        Object* found = nullptr;
        const auto offer = [&](auto& object) {
            if constexpr (std::is_same_v<Object, std::remove_reference_t<decltype(object)>>)
                found = &object;
        };
        offer(device.object), offer(pool.object), offer(command_buffer);
        offer(pool_builder), offer(buffer_builder), offer(buffer), offer(texture_builder), offer(texture);
        offer(view), offer(sampler_builder), offer(sampler), offer(texture_pool), offer(sampler_pool);
        offer(program), offer(queue_builder), offer(queue), offer(sync), offer(event_builder);
        offer(event), offer(window_builder), offer(window), offer(device_builder);
        return found ? found : reinterpret_cast<Object*>(scratch());
    }

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
    void prepare(NVNdevice* o) { must(nvnDeviceInitialize(o, &device_builder)); }
    void prepare(NVNmemoryPoolBuilder* o) { nvnMemoryPoolBuilderSetDefaults(o); }
    void prepare(NVNmemoryPool* o) { must(nvnMemoryPoolInitialize(o, &pool_builder)); }
    void prepare(NVNbufferBuilder* o) {
        nvnBufferBuilderSetDefaults(o);
        nvnBufferBuilderSetStorage(o, &pool.object, 0x1000, 0x1000);
    }
    void prepare(NVNbuffer* o) { must(nvnBufferInitialize(o, &buffer_builder)); }
    void prepare(NVNtextureBuilder* o) {
        nvnTextureBuilderSetDefaults(o);
        nvnTextureBuilderSetSize2D(o, 16, 16);
        nvnTextureBuilderSetFormat(o, NVN_FORMAT_RGBA8);
        nvnTextureBuilderSetFlags(o, NVN_TEXTURE_FLAGS_DISPLAY);
        nvnTextureBuilderSetStorage(o, &pool.object, 0x10000);
    }
    void prepare(NVNtexture* o) { must(nvnTextureInitialize(o, &texture_builder)); }
    void prepare(NVNtextureView* o) { nvnTextureViewSetDefaults(o); }
    void prepare(NVNsamplerBuilder* o) { nvnSamplerBuilderSetDefaults(o); }
    void prepare(NVNsampler* o) { must(nvnSamplerInitialize(o, &sampler_builder)); }
    void prepare(NVNtexturePool* o) { must(nvnTexturePoolInitialize(o, &pool.object, 0x20000, 300)); }
    void prepare(NVNsamplerPool* o) { must(nvnSamplerPoolInitialize(o, &pool.object, 0x30000, 300)); }
    void prepare(NVNprogram* o) { must(nvnProgramInitialize(o, &device.object)); }
    void prepare(NVNqueueBuilder* o) {
        nvnQueueBuilderSetDevice(o, &device.object);
        nvnQueueBuilderSetDefaults(o);
        nvnQueueBuilderSetQueueMemory(o, spare.data + 0x10000, nvnQueueBuilderGetQueueMemorySize(o));
    }
    void prepare(NVNqueue* o) { must(nvnQueueInitialize(o, &queue_builder)); }
    void prepare(NVNsync* o) { must(nvnSyncInitialize(o, &device.object)); }
    void prepare(NVNeventBuilder* o) {
        nvnEventBuilderSetDefaults(o);
        nvnEventBuilderSetStorage(o, &pool.object, 0x800);
    }
    void prepare(NVNevent* o) { must(nvnEventInitialize(o, &event_builder)); }
    void prepare(NVNwindowBuilder* o) {
        nvnWindowBuilderSetDevice(o, &device.object);
        nvnWindowBuilderSetDefaults(o);
        nvnWindowBuilderSetTextures(o, 2, textures.data());
    }
    void prepare(NVNwindow* o) { must(nvnWindowInitialize(o, &window_builder)); }
    void prepare(NVNcommandBuffer* o) {
        must(nvnCommandBufferInitialize(o, &device.object));
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

// Values for arguments: objects from `Objects`, memory for other pointers, small and extreme numbers. Objects::get(T*)
// gives an object of the type, or null if it has none of that type; random() any number.
template <class Objects, class Random>
class Arguments {
public:
    Arguments(Objects& objects, Random& random) : objects_(objects), random_(random) {}

    template <class T>
    T value() {
        if constexpr (std::is_enum_v<T>)
            return static_cast<T>(random_() % 16 != 0 ? random_() % 9
                                                      : one_of<heaviside::u32>({9, 0x1234, 0x7fffffff, ~0u}));
        else if constexpr (std::is_floating_point_v<T>)
            return one_of<T>({0.0f, 1.0f, -2.5f, 1e30f});
        else if constexpr (std::is_same_v<T, NVNboolean>)
            return static_cast<T>(random_() % 2);
        else if constexpr (std::is_integral_v<T> && sizeof(T) == 4)
            return one_of<T>({T(0), T(1), T(2), T(3), T(256), T(299), T(-1)});
        else if constexpr (std::is_unsigned_v<T> && requires(Objects & o) { o.seen(); }) // no strides
            return random_() % 4 == 0 ? static_cast<T>(objects_.seen())
                                      : one_of<T>({T(0), T(4), T(256), T(4096), T(-1), T(0x7654321)});
        else if constexpr (std::is_integral_v<T>)
            return one_of<T>({T(0), T(4), T(256), T(4096), T(-1), T(0x7654321)});
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
    template <class Object>
    Object* const* pointer(Object* const*) {
        static std::array<Object*, 512> array;
        if constexpr (std::is_void_v<Object>)
            array.fill(objects_.scratch());
        else
            array.fill(objects_.get(static_cast<std::remove_const_t<Object>*>(nullptr)));
        return array.data();
    }
    const NVNcopyRegion* pointer(const NVNcopyRegion*) {
        static constexpr NVNcopyRegion region{4, 4, 0, 8, 8, 1};
        return random_() % 8 == 0 ? nullptr : &region;
    }
    template <class T>
    T* pointer(T*) {
        using Object = std::remove_const_t<T>;
        if constexpr (std::is_same_v<T*, PFNNVNCOMMANDBUFFERMEMORYCALLBACKPROC>)
            return random_() % 2 ? nullptr : &grant;
        else if constexpr (std::is_same_v<T*, PFNNVNDEBUGCALLBACKPROC>)
            return random_() % 2 ? nullptr : &hear;
        else if constexpr (std::is_function_v<Object>)
            return nullptr;
        else if constexpr (minimum_size<Object> != 0)
            return objects_.get(static_cast<Object*>(nullptr));
        else
            return reinterpret_cast<T*>(objects_.scratch());
    }

    // What an application's callbacks do: give the kind that was asked for, give the other, record, give nothing.
    static void grant(NVNcommandBuffer* buffer, NVNcommandBufferMemoryEvent, std::size_t size, void*) {
        alignas(8) static std::array<std::byte, 0x1000> control;
        static unsigned turn = 0;
        switch (++turn % 5) {
        case 0:
            return nvnCommandBufferAddControlMemory(buffer, control.data(), control.size());
        case 1:
            return nvnCommandBufferAddCommandMemory(buffer, nullptr, 0, size);
        case 2:
            nvnCommandBufferAddCommandMemory(buffer, nullptr, 0, size);
            return nvnCommandBufferAddControlMemory(buffer, control.data(), control.size() / 4);
        case 3:
            (void)nvnCommandBufferGetCommandMemoryUsed(buffer);
            return nvnCommandBufferSetMemoryCallback(buffer, nullptr);
        default:
            return;
        }
    }
    static void hear(NVNdebugCallbackSource, NVNdebugCallbackType, int, NVNdebugCallbackSeverity, const char* message,
                     void*) {
        must(message && message[0]);
    }

    Objects& objects_;
    Random& random_;
};

} // namespace heaviside::nvn::test
