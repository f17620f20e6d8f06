// Texture instructions: which registers mean what, levels from quads, how results are packed. sampler.h filters.
//
// Full forms: A holds the layer (arrays, low 16 bits) and the coordinates; B holds the handle (.B forms), level or
// bias, packed offsets, depth reference, smallest level, in this order. Short forms (TEXS, TLDS, TLD4S) split the
// coordinates between A and B.
#include "interpreter/sampler.h"
#include "interpreter/stage.h"
#include "interpreter/warp.h"

#include <algorithm>
#include <cmath>

namespace heaviside::interpreter {
namespace {

using maxwell::Dimension;
using maxwell::LodMode;
using maxwell::OffsetMode;

// Takes registers one after the other; RZ stays RZ.
class Registers {
public:
    Registers(const Warp& warp, const Operand& first, unsigned lane) : warp_(warp), lane_(lane), next_(first.reg) {}
    u32 word() { return warp_.get(next_ == maxwell::zero_register ? next_ : next_++, lane_); }
    f32 number() { return std::bit_cast<f32>(word()); }

private:
    const Warp& warp_;
    unsigned lane_;
    u8 next_;
};

struct Shape {
    unsigned coordinates = 2;
    bool array = false, cube = false;
};

Shape shape_of(const Instruction& in) {
    const auto dimension = in.get<Dimension>();
    const unsigned counts[] = {1, 2, 3, 3};
    return {counts[static_cast<std::size_t>(dimension) & 3], in.has(Modifier::Array), dimension == Dimension::Cube};
}

// What one lane asks of the texture unit.
struct Request {
    u32 handle = 0;
    TextureAccess access;
    f64 level = 0; // level or bias
    f64 least_level = -128;
    std::array<i32, 3> texel{};
    u32 sample = 0;
    bool per_texel_offsets = false;
    std::array<std::array<i32, 2>, 4> offsets{};
    Gradients gradients;
};

const Texture& texture_of(const Warp& warp, u32 handle) {
    static const Texture none;
    const TextureUnits* const units = warp.workgroup->launch->textures;
    const u32 id = handle & 0xfffff;
    return units && id < units->textures.size() ? units->textures[id] : none;
}

const Sampler& sampler_of(const Warp& warp, u32 handle) {
    static const Sampler plain;
    const TextureUnits* const units = warp.workgroup->launch->textures;
    return units && handle >> 20 < units->samplers.size() ? units->samplers[handle >> 20] : plain;
}

// The handle: a word of the driver's bank by an immediate number, or the next register.
u32 handle(const Warp& warp, const Instruction& in, Registers& registers) {
    return in.has(Slot::I) ? bound_handle(warp, static_cast<u32>(in.operand(Slot::I).value)) : registers.word();
}

void take_coordinates(const Shape& shape, Registers& registers, Request& request, bool integers) {
    request.access.coordinates = shape.coordinates;
    request.access.cube = shape.cube;
    if (shape.array)
        request.access.layer = registers.word() & 0xffff;
    for (unsigned k = 0; k < shape.coordinates; ++k)
        if (integers)
            request.texel[k] = static_cast<i32>(registers.word());
        else
            request.access.at[k] = registers.number();
}

i32 signed_field(u32 word, unsigned shift, unsigned width) {
    return static_cast<i32>(sign_extend(bits(word, shift, width), width));
}

// Four bits an axis; cubes have no offsets.
void unpack_offsets(const Shape& shape, u32 packed, Request& request) {
    for (unsigned k = 0; k < shape.coordinates && !shape.cube; ++k) {
        request.access.offset[k] = signed_field(packed, 4 * k, 4);
        request.texel[k] =
            static_cast<i32>(static_cast<u32>(request.texel[k]) + static_cast<u32>(request.access.offset[k]));
    }
}

// Six bits an axis, eight apart.
std::array<i32, 2> gather_offset(u32 packed, unsigned shift) {
    return {signed_field(packed, shift, 6), signed_field(packed, shift + 8, 6)};
}

bool takes_level(LodMode mode) {
    return mode >= LodMode::Bias;
}

Request tex_request(const Warp& warp, const Instruction& in, unsigned lane) {
    const Shape shape = shape_of(in);
    Registers a(warp, in.operand(Slot::A), lane), b(warp, in.operand(Slot::B), lane);
    Request request;
    request.handle = handle(warp, in, b);
    take_coordinates(shape, a, request, false);
    if (takes_level(in.get<LodMode>()))
        request.level = b.number();
    if (in.get<OffsetMode>() == OffsetMode::Aoffi)
        unpack_offsets(shape, b.word(), request);
    if (in.has(Modifier::DepthCompare))
        request.access.reference = b.number();
    if (in.has(Modifier::LodClamp))
        request.least_level = b.number();
    return request;
}

Request tld_request(const Warp& warp, const Instruction& in, unsigned lane) {
    const Shape shape = shape_of(in);
    Registers a(warp, in.operand(Slot::A), lane), b(warp, in.operand(Slot::B), lane);
    Request request;
    request.handle = handle(warp, in, b);
    take_coordinates(shape, a, request, true);
    if (in.get<LodMode>() == LodMode::Level)
        request.level = b.word();
    if (in.get<OffsetMode>() == OffsetMode::Aoffi)
        unpack_offsets(shape, b.word(), request);
    if (in.has(Modifier::Multisample))
        request.sample = b.word();
    return request;
}

Request tld4_request(const Warp& warp, const Instruction& in, unsigned lane) {
    const Shape shape = shape_of(in);
    Registers a(warp, in.operand(Slot::A), lane), b(warp, in.operand(Slot::B), lane);
    Request request;
    request.handle = handle(warp, in, b);
    take_coordinates(shape, a, request, false);
    if (in.get<OffsetMode>() == OffsetMode::Aoffi) {
        const auto offset = gather_offset(b.word(), 0);
        request.access.offset = {offset[0], offset[1], 0};
    } else if (in.get<OffsetMode>() == OffsetMode::Ptp) {
        request.per_texel_offsets = true;
        for (unsigned n = 0; n < 4; n += 2) {
            const u32 pair = b.word();
            request.offsets[n] = gather_offset(pair, 0);
            request.offsets[n + 1] = gather_offset(pair, 16);
        }
    }
    if (in.has(Modifier::DepthCompare))
        request.access.reference = b.number();
    return request;
}

// Gradients along every axis of one point of the cube, on the face that the point is on.
Gradients on_face(const std::array<f32, 3>& at, const Gradients& gradients) {
    const u32 face = cube_face(at);
    const std::array<f64, 3> here{at[0], at[1], at[2]};
    const CubePoint point = cube_point(here, face);
    Gradients result;
    for (unsigned axis = 0; axis < 2; ++axis) {
        const auto& step = axis == 0 ? gradients.dx : gradients.dy;
        // d(s / m) = (ds - (s / m) dm) / m, as the difference quotient of a small step.
        constexpr f64 small = 1.0 / 4096;
        std::array<f64, 3> there{};
        for (unsigned k = 0; k < 3; ++k)
            there[k] = here[k] + step[k] * small;
        const CubePoint moved = cube_point(there, face);
        (axis == 0 ? result.dx : result.dy) = {(moved.s - point.s) / small, (moved.t - point.t) / small, 0};
    }
    return result;
}

// Per axis dx, dy in B. The word behind the coordinates holds the layer and, above it, packed offsets.
Request txd_request(const Warp& warp, const Instruction& in, unsigned lane) {
    const Shape shape = shape_of(in);
    Registers a(warp, in.operand(Slot::A), lane), b(warp, in.operand(Slot::B), lane);
    Request request;
    request.handle = handle(warp, in, a);
    take_coordinates({shape.coordinates, false, shape.cube}, a, request, false);
    const bool offsets = in.get<OffsetMode>() == OffsetMode::Aoffi;
    if (shape.array || offsets) {
        const u32 packed = a.word();
        if (shape.array)
            request.access.layer = packed & 0xffff;
        if (offsets)
            unpack_offsets(shape, packed >> 16, request);
    }
    for (unsigned k = 0; k < shape.coordinates; ++k) {
        request.gradients.dx[k] = b.number();
        request.gradients.dy[k] = b.number();
    }
    if (shape.cube)
        request.gradients = on_face(request.access.at, request.gradients);
    if (in.has(Modifier::LodClamp))
        request.least_level = b.number();
    return request;
}

// The parts of a short form: layer and coordinates. With extras, two parts are both in A; else the last is in B.
// Extras follow in B.
Request short_request(const Warp& warp, const Instruction& in, unsigned lane, const Shape& shape, bool extras,
                      bool integers, Registers& b) {
    Registers a(warp, in.operand(Slot::A), lane);
    const unsigned parts = shape.coordinates + (shape.array ? 1 : 0);
    const unsigned in_a = parts == 1 || (parts == 2 && extras) ? parts : parts - 1;
    Request request;
    request.handle = bound_handle(warp, static_cast<u32>(in.operand(Slot::I).value));
    request.access.coordinates = shape.coordinates;
    request.access.cube = shape.cube;
    for (unsigned k = 0; k < parts; ++k) {
        const u32 word = k < in_a ? a.word() : b.word();
        const unsigned axis = k - (shape.array ? 1 : 0);
        if (shape.array && k == 0)
            request.access.layer = word & 0xffff;
        else if (integers)
            request.texel[axis] = static_cast<i32>(word);
        else
            request.access.at[axis] = std::bit_cast<f32>(word);
    }
    return request;
}

Request texs_request(const Warp& warp, const Instruction& in, unsigned lane) {
    const bool level = takes_level(in.get<LodMode>()), compare = in.has(Modifier::DepthCompare);
    Registers b(warp, in.operand(Slot::B), lane);
    Request request = short_request(warp, in, lane, shape_of(in), level || compare, false, b);
    if (level)
        request.level = b.number();
    if (compare)
        request.access.reference = b.number();
    return request;
}

Request tlds_request(const Warp& warp, const Instruction& in, unsigned lane) {
    const Shape shape = shape_of(in);
    const bool level = in.get<LodMode>() == LodMode::Level, offsets = in.get<OffsetMode>() == OffsetMode::Aoffi;
    const bool multisample = in.has(Modifier::Multisample);
    Registers b(warp, in.operand(Slot::B), lane);
    Request request = short_request(warp, in, lane, shape, level || offsets || multisample, true, b);
    if (level)
        request.level = b.word();
    if (offsets)
        unpack_offsets(shape, b.word(), request);
    if (multisample)
        request.sample = b.word();
    return request;
}

Request tld4s_request(const Warp& warp, const Instruction& in, unsigned lane) {
    const bool offsets = in.get<OffsetMode>() == OffsetMode::Aoffi, compare = in.has(Modifier::DepthCompare);
    Registers b(warp, in.operand(Slot::B), lane);
    Request request = short_request(warp, in, lane, {2, false, false}, offsets || compare, false, b);
    if (offsets) {
        const auto offset = gather_offset(b.word(), 0);
        request.access.offset = {offset[0], offset[1], 0};
    }
    if (compare)
        request.access.reference = b.number();
    return request;
}

using MakeRequest = Request (*)(const Warp&, const Instruction&, unsigned lane);

// The change of the coordinates over a quad: from the first row and the first column whose lanes all take part. Others
// than fragment programs have none.
Gradients quad_gradients(const Warp& warp, const Instruction& in, MakeRequest make, unsigned lane, u32 mask) {
    Gradients gradients;
    if (!has_quads(warp))
        return gradients;
    const u32 taking_part = in.has(Modifier::Ndv) ? ~0u : mask;
    const unsigned first = lane & ~3u;
    const Request centre = make(warp, in, lane);
    const u32 face = cube_face(centre.access.at);
    const auto point = [&](unsigned n) -> std::array<f64, 3> {
        const Request request = make(warp, in, first + n);
        const std::array<f64, 3> at{request.access.at[0], request.access.at[1], request.access.at[2]};
        if (!centre.access.cube)
            return at;
        const CubePoint p = cube_point(at, face);
        return {p.s, p.t, 0};
    };
    const auto both = [&](unsigned a, unsigned b) {
        return (taking_part >> (first + a) & 1) != 0 && (taking_part >> (first + b) & 1) != 0;
    };
    const auto difference = [&](unsigned a, unsigned b) {
        const auto from = point(a), to = point(b);
        return std::array<f64, 3>{to[0] - from[0], to[1] - from[1], to[2] - from[2]};
    };
    if (both(0, 1))
        gradients.dx = difference(0, 1);
    else if (both(2, 3))
        gradients.dx = difference(2, 3);
    if (both(0, 2))
        gradients.dy = difference(0, 2);
    else if (both(1, 3))
        gradients.dy = difference(1, 3);
    return gradients;
}

// The level from gradients or, without any, the finest.
Footprint implicit_footprint(const Warp& warp, const Instruction& in, MakeRequest make, unsigned lane, u32 mask,
                             const Texture& texture, const Sampler& sampler, const Request& request) {
    const unsigned axes = request.access.cube ? 2 : request.access.coordinates;
    if (!has_quads(warp))
        return {};
    Footprint result = footprint(texture, sampler, quad_gradients(warp, in, make, lane, mask), axes);
    if (request.access.cube)
        result.probes = 1;
    return result;
}

void apply_bias(Footprint& footprint, const Sampler& sampler, f64 bias, f64 least) {
    footprint.level = std::max(clamped_level(sampler, footprint.level + sampler.lod_bias + bias), least);
}

template <MakeRequest Make>
Texel sample_at(const Warp& warp, const Instruction& in, unsigned lane, u32 mask) {
    const Request request = Make(warp, in, lane);
    const Texture& texture = texture_of(warp, request.handle);
    const Sampler& sampler = sampler_of(warp, request.handle);
    const auto mode = in.get<LodMode>();
    Footprint footprint;
    f64 bias = 0;
    if (mode == LodMode::Auto || mode == LodMode::Bias || mode == LodMode::BiasArray) {
        footprint = implicit_footprint(warp, in, Make, lane, mask, texture, sampler, request);
        bias = request.level; // 0 without .LB
    } else if (mode != LodMode::Zero) {
        footprint.level = request.level;
    }
    apply_bias(footprint, sampler, bias, request.least_level);
    return sample(texture, sampler, request.access, footprint);
}

Texel gradient_sample_at(const Warp& warp, const Instruction& in, unsigned lane, u32 /*mask*/) {
    const Request request = txd_request(warp, in, lane);
    const Texture& texture = texture_of(warp, request.handle);
    const Sampler& sampler = sampler_of(warp, request.handle);
    Footprint result =
        footprint(texture, sampler, request.gradients, request.access.cube ? 2 : request.access.coordinates);
    if (request.access.cube)
        result.probes = 1;
    apply_bias(result, sampler, 0, request.least_level);
    return sample(texture, sampler, request.access, result);
}

template <MakeRequest Make>
Texel fetch_at(const Warp& warp, const Instruction& in, unsigned lane, u32 /*mask*/) {
    const Request request = Make(warp, in, lane);
    return fetch(texture_of(warp, request.handle), request.texel, request.access.layer, static_cast<u32>(request.level),
                 request.sample);
}

template <MakeRequest Make>
Texel gather_at(const Warp& warp, const Instruction& in, unsigned lane, u32 /*mask*/) {
    const Request request = Make(warp, in, lane);
    return gather(texture_of(warp, request.handle), sampler_of(warp, request.handle), request.access,
                  in.modifier(Modifier::GatherComponent), request.per_texel_offsets ? &request.offsets : nullptr);
}

using Look = Texel (*)(const Warp&, const Instruction&, unsigned lane, u32 mask);

// Lanes read each other's coordinates: no result is written before all are there.
std::array<Texel, warp_size> look_all(const Warp& warp, const Instruction& in, u32 mask, Look look) {
    std::array<Texel, warp_size> results{};
    for_lanes(mask, [&](unsigned lane) { results[lane] = look(warp, in, lane, mask); });
    return results;
}

void write_masked(Warp& warp, const Operand& d, unsigned lane, const Texel& texel, u32 components) {
    u32 reg = d.reg;
    for (unsigned k = 0; k < 4 && d.reg != maxwell::zero_register; ++k)
        if (components >> k & 1)
            warp.set(static_cast<u8>(reg++), lane, texel[k]);
}

// Full forms: the components of the mask, one register after the other. The predicate says that something was not
// resident: never here.
template <Look L>
void full(Warp& warp, const Instruction& in, u32 mask) {
    const auto results = look_all(warp, in, mask, L);
    const Operand d = in.operand(Slot::D), p = in.operand(Slot::P);
    const u32 components = static_cast<u32>(in.operand(Slot::I2).value);
    for_lanes(mask, [&](unsigned lane) {
        write_masked(warp, d, lane, results[lane], components);
        warp.set_predicate(p, lane, false);
    });
}

// Short forms: the components of the mask, two in D and D + 1, two in D2 and D2 + 1; as halves two in D, two in D2.
template <Look L>
void brief(Warp& warp, const Instruction& in, u32 mask) {
    const auto results = look_all(warp, in, mask, L);
    const u8 first = in.operand(Slot::D).reg,
             second = in.has(Slot::D2) ? in.operand(Slot::D2).reg : maxwell::zero_register;
    const u32 components = in.opcode() == Opcode::TLD4S ? 15u : in.modifier(Modifier::ComponentMask);
    const bool halves = in.has(Modifier::HalfResult);
    for_lanes(mask, [&](unsigned lane) {
        Texel words{};
        unsigned count = 0;
        for (unsigned k = 0; k < 4; ++k)
            if (components >> k & 1)
                words[count++] = results[lane][k];
        for (unsigned k = 0; k < count; k += 2) {
            const u8 base = k == 0 ? first : second;
            if (halves) {
                const auto half = [](u32 word) { return half_bits(std::bit_cast<f32>(word)); };
                warp.set(base, lane, half(words[k]) | (k + 1 < count ? half(words[k + 1]) << 16 : 0));
                continue;
            }
            warp.set(base, lane, words[k]);
            if (k + 1 < count && base != maxwell::zero_register)
                warp.set(static_cast<u8>(base + 1), lane, words[k + 1]);
        }
    });
}

// Levels in 8.8 fixed point: the first result is signed and not clamped, the second is the level that would be used.
Texel level_at(const Warp& warp, const Instruction& in, unsigned lane, u32 mask) {
    const Request request = tex_request(warp, in, lane);
    const Texture& texture = texture_of(warp, request.handle);
    const Sampler& sampler = sampler_of(warp, request.handle);
    const Footprint wanted = implicit_footprint(warp, in, tex_request, lane, mask, texture, sampler, request);
    f64 level = wanted.level + sampler.lod_bias;
    if (std::isnan(level))
        level = 0;
    const f64 open = std::clamp(std::floor(level * 256 + 0.5), -32768.0, 32767.0);
    f64 used = std::clamp(clamped_level(sampler, level), 0.0, std::max(texture.levels, 1u) - 1.0);
    if (sampler.mip == MipFilter::None)
        used = 0;
    else if (sampler.mip == MipFilter::Nearest)
        used = std::max(std::ceil(used + 0.5) - 1, 0.0);
    return {static_cast<u32>(static_cast<i32>(open)) & 0xffff, static_cast<u32>(used * 256), 0, 0};
}

// The size of an array's or cube's third dimension counts layers, of cube arrays cubes.
Texel dimensions(const Texture& texture, u32 level) {
    if (texture.width == 0 || level >= std::max(texture.levels, 1u))
        return {};
    const Texture::Size size = texture.size(level);
    switch (texture.dimension) {
    case TextureDimension::D1:
    case TextureDimension::Buffer:
        return {size.width, 1, 1, texture.levels};
    case TextureDimension::D1Array:
        return {size.width, texture.layers, 1, texture.levels};
    case TextureDimension::D2Array:
        return {size.width, size.height, texture.layers, texture.levels};
    case TextureDimension::CubeArray:
        return {size.width, size.height, texture.layers / 6, texture.levels};
    default:
        return {size.width, size.height, size.depth, texture.levels};
    }
}

void txq(Warp& warp, const Instruction& in, u32 mask) {
    constexpr u32 header_dimension = 1, texture_type = 2, border_colour = 22;
    const u32 query = in.modifier(Modifier::TextureQuery), components = static_cast<u32>(in.operand(Slot::I2).value);
    const Operand d = in.operand(Slot::D);
    for_lanes(mask, [&](unsigned lane) {
        Registers a(warp, in.operand(Slot::A), lane);
        const u32 which = handle(warp, in, a);
        const Texture& texture = texture_of(warp, which);
        Texel result{};
        if (query == header_dimension)
            result = dimensions(texture, a.word());
        else if (query == texture_type)
            result = {static_cast<u32>(texture.dimension), 0, texture.samples, 0};
        else if (query == border_colour)
            result = sampler_of(warp, which).border;
        else
            warp.fault = "this query is not built";
        write_masked(warp, d, lane, result, components);
    });
}

void txa(Warp& warp, const Instruction& /*in*/, u32 /*mask*/) {
    warp.fault = "what TXA gives is not known";
}

} // namespace

u32 bound_handle(const Warp& warp, u32 number) {
    const TextureUnits* const units = warp.workgroup->launch->textures;
    return units ? constant_word(warp, units->handle_bank, 4 * number) : 0;
}

std::span<const Row> texture_rows() {
    static constexpr Row rows[] = {
        {Opcode::TEX, full<sample_at<tex_request>>},
        {Opcode::TLD, full<fetch_at<tld_request>>},
        {Opcode::TLD4, full<gather_at<tld4_request>>},
        {Opcode::TXD, full<gradient_sample_at>},
        {Opcode::TMML, full<level_at>},
        {Opcode::TEXS, brief<sample_at<texs_request>>},
        {Opcode::TLDS, brief<fetch_at<tlds_request>>},
        {Opcode::TLD4S, brief<gather_at<tld4s_request>>},
        {Opcode::TXQ, txq},
        {Opcode::TXA, txa},
    };
    return rows;
}

} // namespace heaviside::interpreter
