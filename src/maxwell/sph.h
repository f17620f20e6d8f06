// The shader program header (SPH): 80 bytes directly before the first instruction of every graphics program, which say
// what the program reads, writes and needs. Facts: NVIDIA's open "Shader Program Header" specification (version 3).
// Compute programs have none (some carry a stub of kind 0).
#pragma once

#include "base/bytes.h"
#include "base/result.h"

#include <array>
#include <string>

namespace heaviside::maxwell {

inline constexpr u32 sph_size = 80;

// The hardware's numbering. VertexA is the first half of a vertex program split in two (culling before fetch).
enum class ShaderType : u8 { VertexA, Vertex, TessControl, TessEval, Geometry, Pixel };
[[nodiscard]] const char* name(ShaderType type);

enum class OutputTopology : u8 { None = 0, Points = 1, LineStrip = 6, TriangleStrip = 7 };

// How the rasteriser delivers a pixel input.
enum class PixelInput : u8 { Unused, Constant, Perspective, ScreenLinear };

// Byte addresses of the attribute space, a[address].
namespace attribute {
inline constexpr u32 primitive_id = 0x60, layer = 0x64, viewport_index = 0x68, point_size = 0x6c;
inline constexpr u32 position = 0x70, generic = 0x80, generic_end = 0x280;
inline constexpr u32 front_diffuse = 0x280, front_specular = 0x290, back_diffuse = 0x2a0, back_specular = 0x2b0;
inline constexpr u32 clip_distance = 0x2c0, point_coord = 0x2e0, fog = 0x2e8, tess_coord = 0x2f0;
inline constexpr u32 instance_id = 0x2f8, vertex_id = 0x2fc, fixed_texture = 0x300, viewport_mask = 0x3a0;
inline constexpr u32 front_facing = 0x3fc;
} // namespace attribute

// The attribute words a program declares, four bits (x, y, z, w) for every 16 bytes of attribute space.
struct AttributeMap {
    std::array<u8, 64> components{};
    [[nodiscard]] bool has(u32 address) const {
        return address < 0x400 && (components[address >> 4] >> (address >> 2 & 3) & 1) != 0;
    }
    void set(u32 address) { components[address >> 4 & 63] |= static_cast<u8>(1u << (address >> 2 & 3)); }
    friend bool operator==(const AttributeMap&, const AttributeMap&) = default;
};

struct ShaderProgramHeader {
    bool pixel = false; // SPH type 2; else type 1 (vertex, tessellation, geometry)
    u8 version = 3;
    ShaderType type = ShaderType::Vertex;
    u8 sass_version = 3;
    bool does_global_store = false;
    bool does_load_or_store = false;
    bool does_fp64 = false;
    bool vendor_vertex_bit = false; // word 0 bit 25: set in vertex headers of NVN programs, meaning unknown
    u32 local_memory_low = 0;       // bytes per thread
    u32 local_memory_high = 0;
    u32 call_stack_bytes = 0; // per warp, off chip

    AttributeMap inputs;
    // Pixel programs: the delivery of each input word (index: address / 4). Words that have only a flag are Constant
    // or, for positions and point coordinates, ScreenLinear by nature; they stay Unused here and count through
    // `inputs`.
    std::array<PixelInput, 256> interpolation{};

    // All stages but pixel.
    AttributeMap outputs;
    u8 store_required_first = 0xff,
       store_required_last = 0;   // attribute numbers (address / 4) read back; first > last: none
    u8 patch_attributes = 0;      // tessellation control: 32-bit patch words, levels included
    u8 threads_per_primitive = 0; // tessellation control: output control points; geometry: instances
    // Geometry.
    bool passthrough = false;
    u8 stream_mask = 0;
    OutputTopology topology = OutputTopology::None;
    u16 max_output_vertices = 0;

    // Pixel.
    bool multiple_targets = false; // false: output 0 goes to every enabled target
    bool kills_pixels = false;
    u32 target_mask = 0; // 4 bits (r, g, b, a) per colour target
    bool writes_sample_mask = false;
    bool writes_depth = false;

    friend bool operator==(const ShaderProgramHeader&, const ShaderProgramHeader&) = default;
};

// Errors: fewer than 80 bytes, an unknown kind, or a shader type that does not fit the kind.
[[nodiscard]] Result<ShaderProgramHeader> decode_sph(Bytes bytes);
// The inverse: decode_sph(encode_sph(h)) == h, and encode_sph(decode_sph(b)) == b for headers without reserved bits.
[[nodiscard]] std::array<std::byte, sph_size> encode_sph(const ShaderProgramHeader& header);
// One fact a line, for people.
[[nodiscard]] std::string describe(const ShaderProgramHeader& header);
// Directives of the assembler's language (docs/isa.md) that make this header, `.stage` first.
[[nodiscard]] std::string header_source(const ShaderProgramHeader& header);
// The header of VertexA followed by `b`: the union of flags and maps, the larger local memory.
[[nodiscard]] ShaderProgramHeader merge_vertex_parts(const ShaderProgramHeader& a, const ShaderProgramHeader& b);

// Where a pixel program leaves its outputs at EXIT: registers count up from R0, four for every target with a bit in the
// mask; then one is reserved for the sample mask and one for depth, whether or not either is written.
struct PixelOutputRegisters {
    std::array<u8, 8> target{}; // first register of target i (0xff: not written)
    u8 sample_mask = 0, depth = 0;
};
[[nodiscard]] PixelOutputRegisters pixel_output_registers(const ShaderProgramHeader& header);

} // namespace heaviside::maxwell
