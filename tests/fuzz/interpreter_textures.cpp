// Texture, surface and attribute instructions with any operands, over textures of any shape, in programs of every
// stage: the interpreter ends with a result or an error, and reads and writes nothing that is not a texture's.
#include "interpreter/image.h"
#include "interpreter/stage.h"
#include "maxwell/form.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <vector>

using namespace heaviside;
using namespace heaviside::interpreter;

namespace {

struct Input {
    const std::uint8_t* data;
    std::size_t size;
    u8 byte() {
        if (size == 0)
            return 0;
        --size;
        return *data++;
    }
    u64 word() {
        u64 value = 0;
        for (unsigned i = 0; i < 8; ++i)
            value |= u64{byte()} << 8 * i;
        return value;
    }
};

// The forms of textures, surfaces and stages, and a few that make addresses and coordinates.
std::vector<const maxwell::Form*> chosen_forms() {
    using enum maxwell::Opcode;
    constexpr std::array opcodes{TEX,  TEXS,   TLD,    TLDS,  TLD4, TLD4S,  TXD,  TXQ, TMML,  TXA,
                                 SULD, SUST,   SUATOM, SURED, ALD,  AST,    AL2P, IPA, PIXLD, KIL,
                                 OUT,  ISBERD, S2R,    I2F,   SHL,  MOV32I, SEL,  FADD};
    std::vector<const maxwell::Form*> chosen;
    const maxwell::Table& table = maxwell::Table::get();
    for (std::size_t i = 0; i < table.forms().size(); ++i)
        if (std::ranges::find(opcodes, table.forms()[i].opcode) != opcodes.end())
            chosen.push_back(&table.form(i));
    return chosen;
}

std::vector<u64> make_code(Input& input) {
    static const auto forms = chosen_forms();
    std::vector<u64> words;
    while (input.size >= 8 && words.size() < 64) {
        if (words.size() % 4 == 0)
            words.push_back(0);
        const maxwell::Form& form = *forms[input.byte() % forms.size()];
        u64 word = form.value | (input.word() & ~form.mask);
        for (unsigned i = 0; i < form.check_count; ++i) { // values that are valid, so that most words are instructions
            const maxwell::Form::Check& check = form.checks[i];
            u64 value = check.field.get(word);
            const u64 count = u64{1} << check.field.size();
            for (u64 tries = 0; tries < count && !(check.valid[value >> 6] >> (value & 63) & 1); ++tries)
                value = (value + 1) % count;
            word = (word & ~check.field.mask()) | check.field.put(value);
        }
        constexpr u64 guard = 0xf0000;
        if ((form.mask & guard) == 0 && (word >> 60 & 3) != 0)
            word = (word & ~guard) | 0x70000;
        words.push_back(word);
    }
    constexpr u64 exit = 0xe30000000007000f;
    do
        words.push_back(words.size() % 4 == 0 ? 0 : exit);
    while (words.size() % 4 != 0);
    return words;
}

Texture make_texture(Input& input) {
    constexpr std::array names{"R32F",       "RGBA8",  "RGBA32UI",   "R8",     "RG16F", "RGB10A2",
                               "R11G11B10F", "RGB9E5", "RGBA8_SRGB", "R16UI",  "R32UI", "RGBA16F",
                               "RGBA8SN",    "D32F",   "RGBA32F",    "RG32UI", "R8SI",  "RGBA16"};
    Texture texture;
    const u8 shape = input.byte(), sizes = input.byte(), more = input.byte();
    texture.dimension = static_cast<TextureDimension>(shape % 9);
    if (const auto format = texel_format(names[input.byte() % names.size()]))
        texture.format = *format;
    const bool flat = texture.dimension == TextureDimension::D1 || texture.dimension == TextureDimension::D1Array ||
                      texture.dimension == TextureDimension::Buffer;
    const bool cube = texture.dimension == TextureDimension::Cube || texture.dimension == TextureDimension::CubeArray;
    texture.width = sizes % 16; // 0: none
    texture.height = flat ? 1 : cube ? texture.width : 1u + sizes / 16;
    texture.depth = texture.dimension == TextureDimension::D3 ? 1u + more % 4 : 1;
    texture.layers = cube ? 6u * (1 + more % 2) : 1u + more % 3;
    texture.levels = texture.dimension == TextureDimension::D2Multisample ? 1 : 1u + more / 4 % 4;
    texture.samples = texture.dimension == TextureDimension::D2Multisample ? 1u << more / 16 % 4 : 1;
    texture.normalized = more % 8 != 0;
    for (Channel& channel : texture.swizzle)
        channel = static_cast<Channel>(input.byte() % 6);
    const u64 size = texture.byte_size();
    if (size < 1 << 16)
        texture.texels.resize(shape % 16 == 15 ? size / 2 : size); // now and then fewer than it should have
    const u64 seed = input.word();
    for (std::size_t i = 0; i < texture.texels.size(); ++i)
        texture.texels[i] = static_cast<std::byte>(seed >> i * 7 % 57);
    return texture;
}

Sampler make_sampler(Input& input) {
    Sampler sampler;
    for (Wrap& wrap : sampler.wrap)
        wrap = static_cast<Wrap>(input.byte() % 8);
    const u8 filters = input.byte(), compare = input.byte();
    sampler.magnify = static_cast<Filter>(filters & 1);
    sampler.minify = static_cast<Filter>(filters >> 1 & 1);
    sampler.mip = static_cast<MipFilter>((filters >> 2 & 3) % 3);
    sampler.anisotropy = 1u << (filters >> 4 & 3);
    sampler.seamless = (filters & 0x40) != 0;
    sampler.depth_test = static_cast<DepthTest>(compare & 7);
    sampler.reduction = static_cast<Reduction>((compare >> 3 & 3) % 3);
    const u64 levels = input.word(); // any floats
    sampler.lod_bias = std::bit_cast<f32>(static_cast<u32>(levels));
    sampler.min_lod = (compare & 0x20) != 0 ? std::bit_cast<f32>(static_cast<u32>(levels >> 32)) : 0;
    sampler.max_lod = (compare & 0x40) != 0 ? std::bit_cast<f32>(static_cast<u32>(levels >> 16)) : 15;
    return sampler;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    Input input{data, size};
    const u8 stage = input.byte(), shape = input.byte();
    const u64 seed = input.word();
    std::array<Texture, 3> textures;
    for (Texture& texture : textures)
        texture = make_texture(input);
    std::array<Sampler, 2> samplers;
    for (Sampler& sampler : samplers)
        sampler = make_sampler(input);
    std::array<u32, 128> bank;
    for (std::size_t i = 0; i < bank.size(); ++i)
        bank[i] = static_cast<u32>(i % 4) | static_cast<u32>(i / 4 % 3) << 20;
    const std::vector<u64> code = make_code(input);
    const TextureUnits units{static_cast<u8>(shape % 3), textures, samplers};
    std::vector<RegisterValue> registers;
    for (u8 i = 0; i < 254; ++i) // handles, small integers, coordinates near 0..1, anything
        registers.push_back({i, i % 4 == 0   ? bank[i / 4]
                                : i % 4 == 1 ? static_cast<u32>(seed >> i % 32) & 31
                                : i % 4 == 2 ? 0x3e000000 + (static_cast<u32>(seed >> i % 32) & 0x1ffffff)
                                             : static_cast<u32>(seed * (i + 1u) >> 16)});
    StageProgram program{{}, {}, {}};
    Launch& launch = program.launch;
    launch.code = std::as_bytes(std::span(code));
    for (Bytes& each : launch.banks)
        each = std::as_bytes(std::span(bank));
    launch.textures = &units;
    launch.registers = registers;
    launch.step_limit = 200;
    for (u32 address = 0; address < 0x400; address += 4)
        if ((seed >> address / 4 % 61 & 1) != 0) {
            program.header.inputs.set(address);
            program.header.outputs.set(address);
        }
    program.header.threads_per_primitive = static_cast<u8>(1 + shape % 32);
    program.header.max_output_vertices = shape % 5;
    program.header.kills_pixels = true;
    program.header.target_mask = static_cast<u32>(seed);
    program.header.writes_depth = program.header.writes_sample_mask = (seed >> 40 & 1) != 0;
    const std::array<Attributes, 6> vertices{};
    switch (stage % 6) {
    case 0:
        (void)run_thread(launch);
        break;
    case 1:
        program.header.type = maxwell::ShaderType::Vertex;
        (void)run_vertices(program, vertices);
        break;
    case 2:
        program.header.type = maxwell::ShaderType::Geometry;
        (void)run_geometry(program, vertices, 1 + shape % 6u);
        break;
    case 3:
        program.header.type = maxwell::ShaderType::TessControl;
        (void)run_tess_control(program, std::span(vertices).first(shape % 7u));
        break;
    case 4: {
        program.header.type = maxwell::ShaderType::TessEval;
        const Patch patch{{vertices.begin(), vertices.begin() + shape % 7}, {}};
        const std::array<TessPoint, 3> points{};
        (void)run_tess_eval(program, patch, points);
        break;
    }
    default: {
        PixelInputs inputs;
        for (std::size_t i = 0; i < inputs.planes.size(); ++i)
            inputs.planes[i] = {static_cast<f64>(seed >> i % 40 & 0xffff) / 4096, static_cast<f64>(i) / 64, 0.25, 7};
        inputs.flat_shading = (shape & 1) != 0;
        std::array<Quad, 2> quads{};
        for (Quad& quad : quads) {
            quad.inputs = &inputs;
            for (u32 i = 0; i < 4; ++i)
                quad.pixels[i] = {i & 1, i >> 1, static_cast<u32>(seed >> i * 3 & 7), i, 0.5f, 0.25f};
        }
        program.header.pixel = true;
        program.header.type = maxwell::ShaderType::Pixel;
        SampleGrid grid;
        grid.samples = 1u << shape % 5;
        (void)run_pixels(program, quads, grid);
        break;
    }
    }
    return 0;
}
