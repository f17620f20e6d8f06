#include "maxwell/sph.h"

#include <algorithm>
#include <iterator>
#include <string_view>

namespace heaviside::maxwell {
namespace {

struct Words {
    std::array<u32, sph_size / 4> w{};

    [[nodiscard]] u32 get(u32 first, u32 count) const {
        return static_cast<u32>(bits(w[first / 32], first % 32, count));
    }
    void put(u32 first, u32 count, u32 value) {
        const u32 mask = static_cast<u32>(bits(~u64{0}, 0, count));
        w[first / 32] |= (value & mask) << first % 32;
    }
};

// A scalar field of the common words: where it is and the member it fills. One row serves both directions.
struct Field {
    u32 first, count;
    u32 (*get)(const ShaderProgramHeader&);
    void (*set)(ShaderProgramHeader&, u32);
};

template <auto Member>
constexpr Field field(u32 first, u32 count) {
    return {first, count, [](const ShaderProgramHeader& h) { return static_cast<u32>(h.*Member); },
            [](ShaderProgramHeader& h, u32 value) {
                using T = std::remove_reference_t<decltype(h.*Member)>;
                h.*Member = static_cast<T>(value);
            }};
}

using H = ShaderProgramHeader;

constexpr Field common_fields[] = {
    field<&H::version>(5, 5),
    field<&H::type>(10, 4),
    field<&H::does_global_store>(16, 1),
    field<&H::sass_version>(17, 4),
    field<&H::vendor_vertex_bit>(25, 1),
    field<&H::does_load_or_store>(26, 1),
    field<&H::does_fp64>(27, 1),
    field<&H::local_memory_low>(32, 24),
    field<&H::local_memory_high>(64, 24),
    field<&H::call_stack_bytes>(96, 24),
    // Rules of these belong to single stages, but their bits are reserved nowhere.
    field<&H::multiple_targets>(14, 1),
    field<&H::kills_pixels>(15, 1),
    field<&H::passthrough>(24, 1),
    field<&H::stream_mask>(28, 4),
    field<&H::patch_attributes>(56, 8),
    field<&H::threads_per_primitive>(88, 8),
    field<&H::topology>(120, 4),
    field<&H::max_output_vertices>(128, 12),
    field<&H::store_required_first>(140, 8),
    field<&H::store_required_last>(152, 8),
};

constexpr Field pixel_fields[] = {
    field<&H::target_mask>(576, 32),
    field<&H::writes_sample_mask>(608, 1),
    field<&H::writes_depth>(609, 1),
};

constexpr u32 input_map = 160, output_map = 400, map_bits = 240;

// Runs of attribute words in the input map of pixel programs. Words with two bits carry a PixelInput.
struct PixelRun {
    u32 first_attribute, count, first_bit, width;
};
constexpr PixelRun pixel_runs[] = {
    {0, 32, 160, 1},   // system values
    {32, 128, 192, 2}, // generic vectors
    {160, 8, 448, 2},  // diffuse and specular of the chosen side
    {176, 16, 464, 1}, // clip distances to vertex ID
    {192, 40, 480, 2}, // fixed-function texture coordinates
};

bool type_fits(bool pixel, ShaderType type) {
    return pixel ? type == ShaderType::Pixel : type <= ShaderType::Geometry;
}

void decode_pixel_inputs(const Words& words, ShaderProgramHeader& header) {
    for (const PixelRun& run : pixel_runs)
        for (u32 i = 0; i < run.count; ++i) {
            const u32 value = words.get(run.first_bit + i * run.width, run.width);
            const u32 number = run.first_attribute + i;
            if (value == 0)
                continue;
            header.inputs.set(4 * number);
            if (run.width == 2)
                header.interpolation[number] = static_cast<PixelInput>(value);
        }
}

void encode_pixel_inputs(const ShaderProgramHeader& header, Words& words) {
    for (const PixelRun& run : pixel_runs)
        for (u32 i = 0; i < run.count; ++i) {
            const u32 number = run.first_attribute + i;
            const u32 value = run.width == 2 ? static_cast<u32>(header.interpolation[number])
                                             : static_cast<u32>(header.inputs.has(4 * number));
            words.put(run.first_bit + i * run.width, run.width, value);
        }
}

void decode_map(const Words& words, u32 first_bit, AttributeMap& map) {
    for (u32 n = 0; n < map_bits; ++n)
        if (words.get(first_bit + n, 1) != 0)
            map.set(4 * n);
}

void encode_map(const AttributeMap& map, u32 first_bit, Words& words) {
    for (u32 n = 0; n < map_bits; ++n)
        words.put(first_bit + n, 1, map.has(4 * n) ? 1 : 0);
}

std::string components(u8 mask) {
    std::string text;
    for (unsigned c = 0; c < 4; ++c)
        if (mask >> c & 1)
            text += "xyzw"[c];
    return text;
}

std::string describe_map(const AttributeMap& map) {
    std::string text;
    for (u32 vector = 0; vector < map.components.size(); ++vector)
        if (map.components[vector] != 0)
            text += fmt::format(" a[{:#05x}].{}", vector * 16, components(map.components[vector]));
    return text.empty() ? " none" : text;
}

std::string describe_interpolation(const ShaderProgramHeader& header) {
    constexpr const char* mode_names[] = {"", "constant", "perspective", "linear"};
    std::string text;
    for (u32 n = 0; n < header.interpolation.size(); ++n)
        if (header.interpolation[n] != PixelInput::Unused)
            text += fmt::format(" {:#05x}:{}", 4 * n, mode_names[static_cast<u8>(header.interpolation[n])]);
    return text;
}

void union_into(AttributeMap& into, const AttributeMap& from) {
    for (std::size_t i = 0; i < into.components.size(); ++i)
        into.components[i] |= from.components[i];
}

} // namespace

const char* name(ShaderType type) {
    constexpr const char* names[] = {"vertex A", "vertex", "tessellation control", "tessellation evaluation",
                                     "geometry", "pixel"};
    return static_cast<std::size_t>(type) < std::size(names) ? names[static_cast<std::size_t>(type)] : "unknown";
}

Result<ShaderProgramHeader> decode_sph(Bytes bytes) {
    const auto words = read_at<Words>(bytes, 0);
    if (!words)
        return fail("shader program header: {} bytes, {} needed", bytes.size(), sph_size);
    const u32 kind = words->get(0, 5);
    if (kind != 1 && kind != 2)
        return fail("shader program header: unknown kind {} (word 0 = {:#010x})", kind, words->w[0]);
    ShaderProgramHeader header;
    header.pixel = kind == 2;
    for (const Field& f : common_fields)
        f.set(header, words->get(f.first, f.count));
    if (!type_fits(header.pixel, header.type))
        return fail("shader program header: shader type {} in a header of kind {} (word 0 = {:#010x})",
                    static_cast<u32>(header.type), kind, words->w[0]);
    if (header.pixel) {
        for (const Field& f : pixel_fields)
            f.set(header, words->get(f.first, f.count));
        decode_pixel_inputs(*words, header);
    } else {
        decode_map(*words, input_map, header.inputs);
        decode_map(*words, output_map, header.outputs);
    }
    return header;
}

std::array<std::byte, sph_size> encode_sph(const ShaderProgramHeader& header) {
    Words words;
    words.put(0, 5, header.pixel ? 2 : 1);
    for (const Field& f : common_fields)
        words.put(f.first, f.count, f.get(header));
    if (header.type == ShaderType::TessControl) {
        // Compilers repeat the patch word count in bits that the specification reserves.
        words.put(124, 4, header.patch_attributes);
        words.put(148, 4, header.patch_attributes >> 4);
    }
    if (header.pixel) {
        for (const Field& f : pixel_fields)
            words.put(f.first, f.count, f.get(header));
        encode_pixel_inputs(header, words);
    } else {
        encode_map(header.inputs, input_map, words);
        encode_map(header.outputs, output_map, words);
    }
    return std::bit_cast<std::array<std::byte, sph_size>>(words);
}

std::string describe(const ShaderProgramHeader& header) {
    std::string text =
        fmt::format("type {}\nversion {} sass {}\n", name(header.type), header.version, header.sass_version);
    const auto line = [&text](bool present, std::string_view key, auto value) {
        if (present)
            text += fmt::format("{} {}\n", key, value);
    };
    line(header.does_global_store, "global_store", 1);
    line(header.does_load_or_store, "load_store", 1);
    line(header.does_fp64, "fp64", 1);
    line(header.local_memory_low + header.local_memory_high != 0, "local_bytes",
         header.local_memory_low + header.local_memory_high);
    line(header.call_stack_bytes != 0, "call_stack_bytes", header.call_stack_bytes);
    text += "inputs" + describe_map(header.inputs) + "\n";
    if (header.pixel) {
        text += "interpolation" + describe_interpolation(header) + "\n";
        line(true, "multiple_targets", header.multiple_targets ? 1 : 0);
        line(true, "target_mask", fmt::format("{:#010x}", header.target_mask));
        line(header.kills_pixels, "kills_pixels", 1);
        line(header.writes_sample_mask, "writes_sample_mask", 1);
        line(header.writes_depth, "writes_depth", 1);
        return text;
    }
    text += "outputs" + describe_map(header.outputs) + "\n";
    line(header.store_required_first <= header.store_required_last, "read_back",
         fmt::format("{:#05x}..{:#05x}", 4 * header.store_required_first, 4 * header.store_required_last));
    line(header.type == ShaderType::TessControl, "patch_attributes", header.patch_attributes);
    line(header.threads_per_primitive != 0, "threads_per_primitive", header.threads_per_primitive);
    if (header.type == ShaderType::Geometry) {
        line(header.passthrough, "passthrough", 1);
        line(true, "topology", static_cast<u32>(header.topology));
        line(true, "max_output_vertices", header.max_output_vertices);
        line(true, "stream_mask", header.stream_mask);
    }
    return text;
}

ShaderProgramHeader merge_vertex_parts(const ShaderProgramHeader& a, const ShaderProgramHeader& b) {
    ShaderProgramHeader merged = b;
    merged.does_global_store |= a.does_global_store;
    merged.does_load_or_store |= a.does_load_or_store;
    merged.does_fp64 |= a.does_fp64;
    merged.local_memory_low = std::max(a.local_memory_low, b.local_memory_low);
    merged.local_memory_high = std::max(a.local_memory_high, b.local_memory_high);
    merged.call_stack_bytes = std::max(a.call_stack_bytes, b.call_stack_bytes);
    union_into(merged.inputs, a.inputs);
    union_into(merged.outputs, a.outputs);
    return merged;
}

PixelOutputRegisters pixel_output_registers(const ShaderProgramHeader& header) {
    PixelOutputRegisters registers;
    u8 next = 0;
    for (u32 target = 0; target < registers.target.size(); ++target) {
        const bool used = (header.target_mask >> 4 * target & 0xf) != 0;
        registers.target[target] = used ? next : u8{0xff};
        next = static_cast<u8>(next + (used ? 4 : 0));
    }
    registers.sample_mask = next;
    registers.depth = static_cast<u8>(next + 1);
    return registers;
}

} // namespace heaviside::maxwell
