// The contract between a translated shader and whoever draws with it: descriptor sets, push constants, locations, and
// what a translation reports about itself. gpu/ builds its layouts from this file and shader/ emits against it.
//
//   set 0  the heap, bound once: mirrors the texture and sampler pools; shaders index it with the handles they read
//   set 1  push descriptors: constant banks as uniform buffers (robust access: out of range reads 0)
//   push constants  RootConstants, all stages
#pragma once

#include "program/program.h"

#include <vector>

namespace heaviside::shader {

using program::Stage;

// View dimension of a texture instruction or image instruction. The value is the heap binding of sampled images.
enum class Dimension : u8 { D1, D1Array, D2, D2Array, D3, Cube, CubeArray, Buffer, D2Multisample, D2MultisampleArray };
inline constexpr unsigned dimension_count = 10;

// What the words of an input, output or texel are. Sampled images of different classes alias on one binding.
enum class NumericClass : u8 { Float, Uint, Sint };

namespace heap {
inline constexpr u32 set = 0;
// Bindings 0-9: sampled images (Buffer: uniform texel buffers) of each Dimension, indexed by texture ID (handle bits
// 0-19). An ID has a descriptor in the bindings of the dimensions that can be read from it, null descriptors elsewhere.
inline constexpr u32 first_sampled = 0;
inline constexpr u32 samplers = 10; // indexed by sampler ID (handle bits 20-31); of float textures and comparisons
// Bindings 11-20: storage images of each Dimension (cubes as 2D arrays: Cube and CubeArray stay empty; Buffer: storage
// texel buffers), indexed by image ID, which is a texture ID.
inline constexpr u32 first_storage = 11;
inline constexpr u32 memory_map = 21; // storage buffer, MemoryMap below
// Bindings 22-31: the same storage images seen as raw bits, for SULD.D, SUST.D and atomics: views in the unsigned
// integer format of the texel's size (R8, R16, R32, R32G32, R32G32B32A32), always NumericClass::Uint.
inline constexpr u32 first_raw_storage = 22;
inline constexpr u32 integer_samplers = 32; // the same samplers for textures of integers: their borders are integers
inline constexpr u32 binding_count = 33;
inline constexpr u32 sampler_binding_count = 2;
inline constexpr u32 texture_capacity = 16384; // IDs per binding; higher IDs are clamped to the last, which stays null
inline constexpr u32 sampler_capacity = 4096;
} // namespace heap

// Guest GPU addresses that shaders follow (LDG, STG, ATOM, storage buffers) are looked up here: loads outside every
// range give 0, stores are dropped. std430; ranges sorted by `guest`, disjoint.
struct MemoryRange {
    u64 guest, size, device;
};
struct MemoryMap { // header, then MemoryRange[count] at offset 8
    u32 count, pad;
};

// Constant banks are uniform buffers in set 1: uvec4[4096]. A stage has a quota of bindings so that one layout serves
// any mix of stages (32 push descriptors in all); banks beyond the quota, and register-indexed banks where Options asks
// for it, are read through RootConstants::bank_table.
namespace banks {
inline constexpr u32 set = 1;
struct Quota {
    u32 first, count;
};
inline constexpr Quota quota(Stage stage) {
    switch (stage) {
    case Stage::Vertex:
        return {0, 10};
    case Stage::Fragment:
        return {10, 10};
    case Stage::Geometry:
        return {20, 4};
    case Stage::TessControl:
        return {24, 4};
    case Stage::TessEval:
        return {28, 4};
    case Stage::Compute:
        break;
    }
    return {0, 18}; // compute has a layout of its own
}
inline constexpr u32 count = 18; // c[0] .. c[17]
// Windows: one more bank of the host's own with Options::storage_windows, BankAddress rows of where the buffers lie
// whose addresses are in the driver's bank. An access through such an address is this row's or none: beyond `size`
// bytes behind the buffer's beginning loads give 0 and stores are dropped. So a window reaches as far as memory does,
// not only as the buffer. A row of zeros: no buffer.
inline constexpr u32 windows = count;
inline constexpr u32 window_slots = 32;
inline constexpr u32 storage_row = 0;             // storage buffer n: row n
inline constexpr u32 uniform_row = window_slots;  // uniform buffer n that compute reads by its address: row 32 + n
inline constexpr u32 largest_window = 0xff000000; // bytes
} // namespace banks

struct BankAddress { // RootConstants::bank_table points at BankAddress[stage_count][banks::count]
    u64 device;      // of a window: as far from the guest's address as 16 divides
    u32 size, pad;   // of a window: up to an address that 16 divides
};

struct RootConstants {   // std430 push constants, visible to all stages
    u64 bank_table;      // device address, 0 if no bound shader needs it
    f32 y_direction;     // S2R Y_DIRECTION: -1 where the window's origin is at the lower left, else 1
    u32 viewport;        // of the draw, where the last vertex stage writes a viewport mask
    f32 point_size;      // when the last vertex stage does not write one
    f32 alpha_reference; // for VariantKey::alpha_test
    u32 base_vertex;     // what the guest's vertex ID counts from
    u32 base_instance;
    u32 workgroups[3];                    // compute: the dispatch's size
    u32 flags;                            // reserved, 0
    f32 outer_levels[4], inner_levels[2]; // tessellation levels where no program stores them
};
static_assert(sizeof(RootConstants) == 72);

// Attribute location l lives at guest address a[0x80 + 0x10 * l] on both sides of every stage boundary and is Vulkan
// location l, always a vec4 (float bits; flat integer data keeps its bits through Flat interpolation of uint
// variables). Legacy attributes: colours a[0x280..] take locations 32-35, fixed-function texture coordinates a[0x300..]
// 36-45 where the device has that many; otherwise locations are packed by VariantKey.

// The draw state that really changes SPIR-V. Equal keys and equal programs give equal code.
struct VariantKey {
    std::array<NumericClass, 16> vertex_inputs{};
    u16 converted_inputs = 0; // bit l: integers of vertex input l are read as floats of the same value
    std::array<NumericClass, 8> fragment_outputs{};
    u64 uint_textures = 0; // bit n: combined-handle texture slot n holds an unsigned integer format
    u64 sint_textures = 0;
    u64 provided_inputs = ~u64{0}; // bit l: the previous stage writes location l; others read (0, 0, 0, 1)
    u8 alpha_test = 7;             // NVNalphaFunc - 1: 0 never ... 7 always
    bool points = false;           // the draw rasterises points: PointSize is written
    u32 uint_images = 0;           // bit n: image slot n holds an unsigned integer format (formatted access)
    u32 sint_images = 0;
    // Geometry: vertices of the draw's input primitive: 1 points, 2 lines, 3 triangles, 4 lines and 6 triangles with
    // adjacency.
    u8 geometry_input_vertices = 3;
    // Tessellation evaluation: as the hardware state SET_TESSELLATION_PARAMETERS.
    enum class TessDomain : u8 { Isolines, Triangles, Quads } tess_domain = TessDomain::Triangles;
    enum class TessSpacing : u8 { Equal, FractionalOdd, FractionalEven } tess_spacing = TessSpacing::Equal;
    bool tess_clockwise = false;
    bool tess_points = false;
    bool feedback = true;           // this is the last stage before the rasteriser: Program::feedback is captured
    bool scattered_storage = false; // a bound storage buffer is not in one piece of memory: no windows
    u16 viewport_swizzle = 0x6420; // of the last stage's position, as the hardware's register: x lowest, 0 +x, 1 -x ...
    friend bool operator==(const VariantKey&, const VariantKey&) = default;
};

struct Options {
    bool indexed_banks_by_address = false; // register-indexed constant reads through bank_table (faster on GPUs)
    u32 subgroup_size = 32;                // the device's; shuffles and votes are lowered where it is not 32
    bool exact_denormals = false;          // floats exact to the last bit: denormals, halves (slower; kernels always)
    bool unfused_multiply_add = false;     // the device's fma rounds twice: kernels compute it another way
    bool denormal_modes = false;           // singles: the device flushes or keeps denormals as the module says
    bool drops_added_zeros = false;        // the device's compiler takes x + 0 for x and the like: kernels repair signs
    bool mixes_left_loops = false;         // the device's compiler gives lanes that left a loop values of later turns
    bool storage_windows = false;          // the caller fills bank banks::windows
    bool transform_feedback = false;       // the device captures what Program::feedback says
    bool validate = false;                 // run the SPIR-V validator over the result; an invalid module is an Error
};

// A constant-bank word used as a texture or image handle.
struct HandleUse {
    u8 bank = 0;
    u32 offset = 0; // byte offset in the bank; ~0u: computed, any ID of the pool
    Dimension dimension{};
    bool storage = false; // image instruction
    bool written = false; // stored to or atomically changed
    bool depth_compare = false;
};

struct BankUse {
    u8 bank = 0;       // banks::windows too
    u32 binding = ~0u; // in set 1; ~0u: only through bank_table
    bool by_address = false;
    u32 size = 0; // highest byte read by a constant offset + 1, 65536 if indexed by a register
};

struct Reflection {
    Stage stage{};
    std::vector<BankUse> banks;
    std::vector<HandleUse> handles;
    bool reads_global = false, writes_global = false; // guest addresses: LDG, STG, ATOM, RED
    u32 inputs = 0;  // vertex: attribute locations read; others: varying locations read
    u64 outputs = 0; // varying locations written; fragment: colour targets (bit = location)
    bool writes_depth = false, writes_sample_mask = false, kills = false, per_sample = false;
    bool writes_layer = false, writes_viewport_index = false, writes_point_size = false;
    bool writes_viewport_mask = false; // the draw is repeated for each viewport: RootConstants::viewport
    u8 clip_distances = 0;             // bit n: written
    std::array<u32, 3> workgroup_size{1, 1, 1};
    u32 shared_bytes = 0;
};

struct Translation {
    std::vector<u32> spirv; // entry point "main"
    Reflection reflection;
};

// Errors name the instruction, its address and the reason. Thread safe, no global state.
[[nodiscard]] Result<Translation> translate(const program::Program& program, const VariantKey& key,
                                            const Options& options);

// The tessellation control program of draws that have none: patches of `vertices` control points, the position and the
// varyings at `locations` of each passed on, with the levels of RootConstants. Any thread.
[[nodiscard]] std::vector<u32> pass_through_tess_control(u32 vertices, u32 locations);

} // namespace heaviside::shader
