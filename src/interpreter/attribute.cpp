// What passes between stages: attributes, interpolation, vertices of geometry programs, the fate of pixels.
#include "interpreter/stage.h"
#include "interpreter/warp.h"

#include <algorithm>
#include <cmath>

namespace heaviside::interpreter {
namespace {

using maxwell::DataType;
using maxwell::InterpolationMode;
using maxwell::SampleMode;
using maxwell::ShaderType;
namespace attribute = maxwell::attribute;

StageState* stage_of(Warp& warp) {
    StageState* const stage = warp.workgroup->launch->stage;
    if (!stage)
        warp.fault = "not in a graphics program";
    return stage;
}

// Null and a fault in stages without patches.
Attributes* patch_of(Warp& warp, StageState& stage, unsigned lane) {
    if (stage.primitive[lane] < stage.patches.size())
        return &stage.patches[stage.primitive[lane]];
    warp.fault = "there is no patch in this stage";
    return nullptr;
}

ShaderType type_of(const StageState& stage) {
    return stage.program->header.type;
}

// Inputs of these stages belong to the vertices of a primitive.
bool reads_vertices(ShaderType type) {
    return type == ShaderType::TessControl || type == ShaderType::TessEval || type == ShaderType::Geometry;
}

// Vertex handles are numbers into StageState::inputs (ISBERD makes them) or, for outputs, control points. Addresses
// outside the 0x400 bytes of attribute space read 0.
u32 load_word(Warp& warp, StageState& stage, const Instruction& in, u32 address, u32 handle, unsigned lane) {
    if (address >= 0x400)
        return 0;
    if (in.has(Modifier::PatchAttribute)) {
        const Attributes* const patch = patch_of(warp, stage, lane);
        return patch ? patch->at(address) : 0;
    }
    if (in.has(Modifier::OutputAttribute)) {
        const u32 owner = in.operand(Slot::C).is_zero_register() ? lane : handle;
        if (owner < stage.outputs.size())
            return stage.outputs[owner].at(address);
        warp.fault = fmt::format("output vertex {} of {}", owner, stage.outputs.size());
        return 0;
    }
    if (!reads_vertices(type_of(stage)))
        return stage.inputs[lane].at(address);
    if (address == attribute::primitive_id)
        return stage.primitive_id[lane];
    if (handle < stage.inputs.size())
        return stage.inputs[handle].at(address);
    warp.fault = fmt::format("vertex handle {} of {}", handle, stage.inputs.size());
    return 0;
}

void ald(Warp& warp, const Instruction& in, u32 mask) {
    StageState* const stage = stage_of(warp);
    if (!stage)
        return;
    if (type_of(*stage) == ShaderType::Pixel) {
        warp.fault = "fragment programs have IPA";
        return;
    }
    const Operand a = in.operand(Slot::A), c = in.operand(Slot::C), d = in.operand(Slot::D);
    const unsigned words = maxwell::words_of(in.get<DataType>());
    for_lanes(mask, [&](unsigned lane) {
        const u32 address = static_cast<u32>(a.offset) + warp.get(a.reg, lane), handle = warp.get(c.reg, lane);
        std::array<u32, 4> loaded{};
        for (unsigned k = 0; k < words; ++k)
            loaded[k] = load_word(warp, *stage, in, address + 4 * k, handle, lane);
        for (unsigned k = 0; k < words && d.reg != maxwell::zero_register; ++k)
            warp.set(static_cast<u8>(d.reg + k), lane, loaded[k]);
    });
}

// Outputs are the lane's own: its vertex, its control point, or the vertex of a geometry program that is open. Stores
// outside attribute space are dropped.
void ast(Warp& warp, const Instruction& in, u32 mask) {
    StageState* const stage = stage_of(warp);
    if (!stage)
        return;
    if (type_of(*stage) == ShaderType::Pixel) {
        warp.fault = "fragment programs leave their results in registers";
        return;
    }
    const Operand a = in.operand(Slot::A), b = in.operand(Slot::B);
    const unsigned words = maxwell::words_of(in.get<DataType>());
    for_lanes(mask, [&](unsigned lane) {
        const u32 address = static_cast<u32>(a.offset) + warp.get(a.reg, lane);
        Attributes* const target =
            in.has(Modifier::PatchAttribute) ? patch_of(warp, *stage, lane) : &stage->outputs[lane];
        for (unsigned k = 0; k < words && target; ++k)
            if (address + 4 * k < 0x400)
                target->set(address + 4 * k,
                            warp.get(b.reg == maxwell::zero_register ? b.reg : static_cast<u8>(b.reg + k), lane));
    });
}

// Physical addresses are the logical ones here. The predicate says that an attribute is missing: never.
void al2p(Warp& warp, const Instruction& in, u32 mask) {
    const Operand a = in.operand(Slot::A), d = in.operand(Slot::D);
    const u32 offset = static_cast<u32>(in.operand(Slot::I).value);
    for_lanes(mask, [&](unsigned lane) {
        warp.set(d.reg, lane, warp.get(a.reg, lane) + offset);
        warp.set_predicate(in.operand(Slot::P), lane, false);
    });
}

// The table from vertex numbers (primitive of the warp * vertices + vertex) to handles: both count the same here.
void isberd(Warp& warp, const Instruction& in, u32 mask) {
    if (in.get<maxwell::IsberdMode>() != maxwell::IsberdMode::Default || in.has(Modifier::OutputAttribute) ||
        in.has(Modifier::Skew)) {
        warp.fault = "this kind of ISBERD is not built";
        return;
    }
    const Operand a = in.operand(Slot::A), d = in.operand(Slot::D);
    for_lanes(mask, [&](unsigned lane) { warp.set(d.reg, lane, warp.get(a.reg, lane) + static_cast<u32>(a.offset)); });
}

void out(Warp& warp, const Instruction& in, u32 mask) {
    StageState* const stage = stage_of(warp);
    if (!stage)
        return;
    if (type_of(*stage) != ShaderType::Geometry) {
        warp.fault = "not in a geometry program";
        return;
    }
    const auto operation = in.get<maxwell::OutputOp>();
    const bool emits = operation != maxwell::OutputOp::Cut, cuts = operation != maxwell::OutputOp::Emit;
    const Operand d = in.operand(Slot::D), b = in.operand(Slot::B);
    const u32 most = stage->program->header.max_output_vertices;
    for_lanes(mask, [&](unsigned lane) {
        auto& emitted = stage->emitted[lane];
        const u32 stream = raw(warp, b, lane) & 3;
        if (emits && (most == 0 || emitted.size() < most)) {
            emitted.push_back({stage->outputs[lane], stream, false});
            stage->outputs[lane] = {};
        }
        if (cuts) {
            const auto last = std::find_if(emitted.rbegin(), emitted.rend(),
                                           [&](const EmittedVertex& v) { return v.stream == stream; });
            if (last != emitted.rend())
                last->ends_primitive = true;
        }
        warp.set(d.reg, lane, static_cast<u32>(emitted.size())); // the handle of the vertex that is open now
    });
}

const Pixel& pixel_of(const StageState& stage, unsigned lane) {
    return stage.quads[lane / 4].pixels[lane % 4];
}

// Two halves, x low, each with twelve signed bits in 1/4096 of a pixel: what IPA.OFFSET takes. The upper four bits of a
// half do not count: the drivers' tables of sample positions keep the position in 1/16 there.
u32 packed_offset(f32 x, f32 y) {
    const auto fixed = [](f32 v) { return static_cast<u32>(std::lround(v * 4096)) & 0xffff; };
    return fixed(x) | fixed(y) << 16;
}

f64 unpacked_offset(u32 packed, unsigned shift) {
    return static_cast<f64>(sign_extend(packed >> shift & 0xfff, 12)) / 4096;
}

std::array<f64, 2> position(const StageState& stage, SampleMode mode, u32 offset, unsigned lane) {
    const Pixel& pixel = pixel_of(stage, lane);
    std::array<f64, 2> at{0.5, 0.5};
    if (mode == SampleMode::Centroid)
        at = {pixel.centroid_x, pixel.centroid_y};
    else if (mode == SampleMode::Offset)
        at = {0.5 + unpacked_offset(offset, 0), 0.5 + unpacked_offset(offset, 16)};
    return {pixel.x + at[0], pixel.y + at[1]};
}

void ipa(Warp& warp, const Instruction& in, u32 mask) {
    const StageState* const stage = stage_of(warp);
    if (!stage)
        return;
    if (type_of(*stage) != ShaderType::Pixel) {
        warp.fault = "not in a fragment program";
        return;
    }
    const Operand a = in.operand(Slot::A), b = in.operand(Slot::B), c = in.operand(Slot::C), d = in.operand(Slot::D);
    const auto sampling = in.get<SampleMode>();
    for_lanes(mask, [&](unsigned lane) {
        const PixelInputs& inputs = *stage->quads[lane / 4].inputs;
        const u32 address = static_cast<u32>(a.offset) + warp.get(a.reg, lane);
        auto mode = in.get<InterpolationMode>();
        if (mode == InterpolationMode::Sc)
            mode = inputs.flat_shading ? InterpolationMode::Constant : InterpolationMode::Perspective;
        const Plane plane = address < 0x400 ? inputs.planes[address / 4] : Plane{};
        u32 word = plane.constant;
        if (mode != InterpolationMode::Constant) {
            const auto at = position(*stage, sampling, warp.get(c.reg, lane), lane);
            auto value = static_cast<f32>(plane.value + plane.dx * at[0] + plane.dy * at[1]);
            if (mode == InterpolationMode::Perspective)
                value *= std::bit_cast<f32>(warp.get(b.reg, lane));
            word = std::bit_cast<u32>(value);
        }
        if (in.has(Modifier::Saturate)) {
            const f32 value = std::bit_cast<f32>(word);
            word = std::bit_cast<u32>(value > 0 ? std::fmin(value, 1.0f) : 0.0f);
        }
        warp.set(d.reg, lane, word);
    });
}

// The sample is named by the register, plus the offset. The predicate says that the sample is covered.
void pixld(Warp& warp, const Instruction& in, u32 mask) {
    using maxwell::PixelOp;
    const StageState* const stage = stage_of(warp);
    if (!stage)
        return;
    if (type_of(*stage) != ShaderType::Pixel) {
        warp.fault = "not in a fragment program";
        return;
    }
    const Operand a = in.operand(Slot::A), d = in.operand(Slot::D), p = in.operand(Slot::P);
    const SampleGrid& grid = *stage->grid;
    for_lanes(mask, [&](unsigned lane) {
        const Pixel& pixel = pixel_of(*stage, lane);
        const u32 sample = (warp.get(a.reg, lane) + static_cast<u32>(a.offset)) & 15;
        const bool covered = (pixel.coverage >> sample & 1) != 0;
        u32 value = 0;
        switch (in.get<PixelOp>()) {
        case PixelOp::Count:
            value = grid.samples;
            break;
        case PixelOp::CovMask:
            value = pixel.coverage;
            break;
        case PixelOp::Covered:
            value = covered ? 1 : 0;
            break;
        case PixelOp::Offset:
            value = packed_offset(grid.positions[sample][0] - 0.5f, grid.positions[sample][1] - 0.5f);
            break;
        case PixelOp::CentroidOffset:
            value = packed_offset(pixel.centroid_x - 0.5f, pixel.centroid_y - 0.5f);
            break;
        case PixelOp::MyIndex:
            value = pixel.sample;
            break;
        }
        warp.set(d.reg, lane, value);
        warp.set_predicate(p, lane, covered);
    });
}

// A killed pixel goes on as a helper, for its neighbours' derivatives, until its whole quad is dead.
void kil(Warp& warp, const Instruction& in, u32 mask) {
    StageState* const stage = stage_of(warp);
    if (!stage)
        return;
    if (type_of(*stage) != ShaderType::Pixel) {
        warp.fault = "not in a fragment program";
        return;
    }
    if (!stage->program->header.kills_pixels)
        return; // the header switches it off
    stage->helpers |= tested_lanes(warp, in, mask);
    for (u32 quad = 0xf; quad != 0; quad <<= 4)
        if ((stage->helpers & quad) == quad) {
            warp.exited |= quad;
            warp.active &= ~quad;
        }
}

} // namespace

bool has_quads(const Warp& warp) {
    const StageState* const stage = warp.workgroup->launch->stage;
    return stage && type_of(*stage) == ShaderType::Pixel;
}

u32 leaving_lanes(const Warp& warp, u32 mask) {
    const StageState* const stage = warp.workgroup->launch->stage;
    return stage ? mask & ~stage->helpers : mask;
}

std::optional<u32> stage_register(const Warp& warp, u32 number, unsigned lane) {
    const StageState* const stage = warp.workgroup->launch->stage;
    if (!stage)
        return std::nullopt;
    switch (number) {
    case 0x10: // PRIM_TYPE
        return stage->vertices_per_primitive << 8;
    case 0x11: // INVOCATION_ID
        return stage->invocation[lane];
    case 0x12: // Y_DIRECTION
        return std::bit_cast<u32>(stage->program->y_direction);
    case 0x13: // THREAD_KILL
        return (stage->helpers >> lane & 1) != 0 ? ~0u : 0;
    case 0x1d: // INVOCATION_INFO
        return stage->vertices_per_primitive << 16 | stage->primitive[lane];
    default:
        return std::nullopt;
    }
}

std::span<const Row> attribute_rows() {
    static constexpr Row rows[] = {
        {Opcode::ALD, ald}, {Opcode::AST, ast}, {Opcode::AL2P, al2p},   {Opcode::ISBERD, isberd},
        {Opcode::OUT, out}, {Opcode::IPA, ipa}, {Opcode::PIXLD, pixld}, {Opcode::KIL, kil},
    };
    return rows;
}

} // namespace heaviside::interpreter
