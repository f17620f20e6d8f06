// What the opaque NVN objects hold. Objects live in the application's memory, sized by the headers it was built with,
// which can be smaller than ours: every layout is held against the smallest size known (docs/nvn/objects.tsv, ledger
// GFX-179 to GFX-199, OBJ-001). What does not fit lives in the side tables of host.h, found by serial.
//
// An object is told by its magic word; Finalize clears it. Copies by value, re-initialisation without Finalize and
// objects on dead stacks are normal, so nothing here points back into an object.
//
// Queues, syncs, events, windows and command buffers have headers of their own.
#pragma once

#include "nvn/api_types.h"
#include "stream/description.h"
#include "stream/state.h"

#include <type_traits>

namespace heaviside::nvn {

namespace magic {
// Printable from the lowest byte: "HVdv" ...
constexpr u32 word(const char (&text)[5]) {
    return u32(u8(text[0])) | u32(u8(text[1])) << 8 | u32(u8(text[2])) << 16 | u32(u8(text[3])) << 24;
}
inline constexpr u32 device = word("HVdv"), memory_pool = word("HVmp"), buffer = word("HVbu"), texture = word("HVtx"),
                     sampler = word("HVsa"), texture_pool = word("HVtp"), sampler_pool = word("HVsp"),
                     program = word("HVpr"), queue = word("HVqu"), sync = word("HVsy"), event = word("HVev"),
                     window = word("HVwi"), command_buffer = word("HVcb");
} // namespace magic

struct DeviceBuilder {
    u32 flags; // NVNdeviceFlagBits
};

struct Device {
    u32 magic;
    u32 flags;
    PFNNVNDEBUGCALLBACKPROC debug_callback;
    void* debug_callback_data;
    u32 id; // of its modes in host(): queues outlive the object's memory
    u8 debug_enabled;
    u8 depth_mode;         // NVNdepthMode
    u8 window_origin_mode; // NVNwindowOriginMode
    u8 pad;
};

struct MemoryPoolBuilder {
    NVNdevice* device;
    void* memory;
    u64 size;
    u32 flags; // NVNmemoryPoolFlags
    u32 pad;
};

struct MemoryPool {
    u32 magic;
    u32 flags;
    std::byte* memory; // the application's storage; null: VIRTUAL
    u64 size;
    u64 address; // GPU address: that of the storage, or the reserved range of a VIRTUAL pool
    u64 serial;  // never reused
};

struct BufferBuilder {
    NVNdevice* device;
    NVNmemoryPool* pool;
    i64 offset;
    u64 size;
};

// Applications retarget an initialised buffer by storing offset and size themselves (ledger OBJ-005): everything is
// derived from these at each call.
struct Buffer {
    u32 magic;
    u32 pool_flags;
    NVNmemoryPool* pool; // for GetMemoryPool alone: the pool object may be gone
    u64 pool_address;
    i64 offset;
    u64 size;
    u64 serial;
};
static_assert(offsetof(Buffer, offset) == 0x18 && offsetof(Buffer, size) == 0x20);

struct TextureBuilder {
    NVNdevice* device;
    NVNmemoryPool* pool;
    i64 offset;
    i64 stride;
    const void* packaged_data;
    i32 width, height, depth, levels, samples;
    u32 flags;  // NVNtextureFlags
    u32 format; // NVNformat
    u32 gl_name;
    u8 target;             // NVNtextureTarget
    u8 depth_stencil_mode; // NVNtextureDepthStencilMode
    u8 swizzle[4];         // NVNtextureSwizzle
    u8 has_packaged_layout;
    u8 packaged_layout[8];
    u8 pad;
};

struct Texture {
    u32 magic;
    u32 packaged; // bytes 0 and 1 of the packaged layout | 1 << 16; 0: none
    u64 serial;   // of the Initialize; a copy of the object has it too
    NVNmemoryPool* pool;
    i64 offset;
    stream::TextureDescription description;
    u32 pad;
};

// Bits of TextureView::set.
namespace view_field {
inline constexpr u16 levels = 1, layers = 2, format = 4, swizzle = 8, target = 16, depth_stencil_mode = 32;
}
struct TextureView {
    u16 set; // fields that the view overrides; the others are 0
    u16 format;
    u8 target;
    u8 depth_stencil_mode;
    u8 first_level, level_count;
    u16 first_layer, layer_count;
    u8 swizzle[4];
};

// A sampler's state in 40 bytes. It begins at byte 8 of sampler and builder: applications hash a sampler from there
// (ledger OBJ-007).
struct SamplerState {
    u32 min_filter : 3;
    u32 mag_filter : 1;
    u32 wrap_s : 3;
    u32 wrap_t : 3;
    u32 wrap_r : 3;
    u32 compare_mode : 1;
    u32 compare_func : 4;
    u32 reduction : 2;
    u32 border_class : 2; // which setter wrote the border: 0 float, 1 int, 2 uint
    u32 pad : 10;
    f32 max_anisotropy, lod_min, lod_max, lod_bias, lod_snap;
    u32 border[4]; // bits of the class
};
static_assert(sizeof(SamplerState) == 40);

struct SamplerBuilder {
    NVNdevice* device;
    SamplerState state;
};

struct Sampler {
    u32 magic;
    u32 zero;
    SamplerState state;
};
static_assert(offsetof(Sampler, state) == 8);

// Texture pool and sampler pool alike. Descriptors are 32 bytes each in the memory pool (descriptors.h).
struct DescriptorPool {
    u32 magic;
    u32 count; // reserved descriptors included
    const NVNmemoryPool* pool;
    i64 offset;
    u32 id; // stream::PoolId
    u32 pad;
};
inline constexpr u32 descriptor_bytes = 32;
inline constexpr u32 reserved_descriptors = 256;

struct Program {
    u32 magic;
    u32 sample_shading; // NVNsampleShadingMode
    u64 id;             // stream::ProgramId, key of the side table; 0: no shaders yet
    u64 reference;      // of this SetShaders to the entry; copies by value have it too
    u64 owner;          // address of the object that SetShaders was called for
    u32 stages;         // NVNshaderStageBits of the shaders that were set
    u32 pad;
};

// A layout that the API writes into application memory: fits the smallest size ever seen, copies as bytes.
template <class Object, class Layout, std::size_t Minimum>
inline constexpr bool fits = sizeof(Layout) <= Minimum&& Minimum <= sizeof(Object) &&
                             alignof(Layout) <= 8 && std::is_trivially_copyable_v<Layout>;
static_assert(fits<NVNdeviceBuilder, DeviceBuilder, 0x40>);
static_assert(fits<NVNdevice, Device, 0x3000>);
static_assert(fits<NVNmemoryPoolBuilder, MemoryPoolBuilder, 0x40>);
static_assert(fits<NVNmemoryPool, MemoryPool, 0x100>);
static_assert(fits<NVNbufferBuilder, BufferBuilder, 0x40>);
static_assert(fits<NVNbuffer, Buffer, 0x30>);
static_assert(fits<NVNtextureBuilder, TextureBuilder, 0x80>);
static_assert(fits<NVNtexture, Texture, 0x80>);
static_assert(fits<NVNtextureView, TextureView, 0x10>);
static_assert(fits<NVNsamplerBuilder, SamplerBuilder, 0x60>);
static_assert(fits<NVNsampler, Sampler, 0x30>);
static_assert(fits<NVNtexturePool, DescriptorPool, 0x20>);
static_assert(fits<NVNsamplerPool, DescriptorPool, 0x20>);
static_assert(fits<NVNprogram, Program, 0x70>);
static_assert(fits<NVNblendState, stream::BlendState, 8>);
static_assert(fits<NVNchannelMaskState, stream::ChannelMaskState, 4>);
static_assert(fits<NVNcolorState, stream::ColorState, 4>);
static_assert(fits<NVNdepthStencilState, stream::DepthStencilState, 8>);
static_assert(fits<NVNmultisampleState, stream::MultisampleState, 0x18>);
static_assert(fits<NVNpolygonState, stream::PolygonState, 4>);
static_assert(fits<NVNvertexAttribState, stream::VertexAttribState, 4>);
static_assert(fits<NVNvertexStreamState, stream::VertexStreamState, 8>);

// The layout behind an object. No check: as_valid() below is for objects with a magic.
template <class Object>
struct LayoutOf;
#define HEAVISIDE_LAYOUT(object, layout)                                                                               \
    template <>                                                                                                        \
    struct LayoutOf<object> {                                                                                          \
        using type = layout;                                                                                           \
    };
HEAVISIDE_LAYOUT(NVNdeviceBuilder, DeviceBuilder)
HEAVISIDE_LAYOUT(NVNdevice, Device)
HEAVISIDE_LAYOUT(NVNmemoryPoolBuilder, MemoryPoolBuilder)
HEAVISIDE_LAYOUT(NVNmemoryPool, MemoryPool)
HEAVISIDE_LAYOUT(NVNbufferBuilder, BufferBuilder)
HEAVISIDE_LAYOUT(NVNbuffer, Buffer)
HEAVISIDE_LAYOUT(NVNtextureBuilder, TextureBuilder)
HEAVISIDE_LAYOUT(NVNtexture, Texture)
HEAVISIDE_LAYOUT(NVNtextureView, TextureView)
HEAVISIDE_LAYOUT(NVNsamplerBuilder, SamplerBuilder)
HEAVISIDE_LAYOUT(NVNsampler, Sampler)
HEAVISIDE_LAYOUT(NVNtexturePool, DescriptorPool)
HEAVISIDE_LAYOUT(NVNsamplerPool, DescriptorPool)
HEAVISIDE_LAYOUT(NVNprogram, Program)
HEAVISIDE_LAYOUT(NVNblendState, stream::BlendState)
HEAVISIDE_LAYOUT(NVNchannelMaskState, stream::ChannelMaskState)
HEAVISIDE_LAYOUT(NVNcolorState, stream::ColorState)
HEAVISIDE_LAYOUT(NVNdepthStencilState, stream::DepthStencilState)
HEAVISIDE_LAYOUT(NVNmultisampleState, stream::MultisampleState)
HEAVISIDE_LAYOUT(NVNpolygonState, stream::PolygonState)
HEAVISIDE_LAYOUT(NVNvertexAttribState, stream::VertexAttribState)
HEAVISIDE_LAYOUT(NVNvertexStreamState, stream::VertexStreamState)
#undef HEAVISIDE_LAYOUT

template <class Object>
[[nodiscard]] typename LayoutOf<Object>::type* layout(Object* object) {
    return reinterpret_cast<typename LayoutOf<Object>::type*>(object);
}
template <class Object>
[[nodiscard]] const typename LayoutOf<Object>::type* layout(const Object* object) {
    return reinterpret_cast<const typename LayoutOf<Object>::type*>(object);
}

// The magic that an initialised object of a type has.
template <class Object>
inline constexpr u32 magic_of = 0;
template <>
inline constexpr u32 magic_of<NVNdevice> = magic::device;
template <>
inline constexpr u32 magic_of<NVNmemoryPool> = magic::memory_pool;
template <>
inline constexpr u32 magic_of<NVNbuffer> = magic::buffer;
template <>
inline constexpr u32 magic_of<NVNtexture> = magic::texture;
template <>
inline constexpr u32 magic_of<NVNsampler> = magic::sampler;
template <>
inline constexpr u32 magic_of<NVNtexturePool> = magic::texture_pool;
template <>
inline constexpr u32 magic_of<NVNsamplerPool> = magic::sampler_pool;
template <>
inline constexpr u32 magic_of<NVNprogram> = magic::program;

// Reports, once per call name and reason, an object that is null or not initialised (with its first bytes).
void report_bad_object(const char* call, const void* object);

// The object's layout, or null after a report if the object is null or not initialised. `call` is the entry point.
template <class Object>
[[nodiscard]] auto as_valid(Object* object, const char* call) -> decltype(layout(object)) {
    static_assert(magic_of<std::remove_const_t<Object>> != 0);
    if (object && layout(object)->magic == magic_of<std::remove_const_t<Object>>) [[likely]]
        return layout(object);
    report_bad_object(call, object);
    return nullptr;
}

// A texture with a view of it, every field of the view resolved (view may be null). Depends on the objects alone.
enum class ViewUse : u8 { Sampled, Layers }; // layers of cubes: as cubes, or as what is drawn to and copied
[[nodiscard]] stream::ImageDescription describe(const Texture& texture, const TextureView* view,
                                                ViewUse use = ViewUse::Sampled);
[[nodiscard]] stream::SamplerDescription describe(const SamplerState& sampler);

} // namespace heaviside::nvn
