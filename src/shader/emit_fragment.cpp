// What a fragment program reads of its varyings: IPA's modes and sampling over what the host interpolates.
#include "shader/emitter.h"

#include <algorithm>

namespace heaviside::shader {

using ir::Inst;
using ir::InterpolationMode;
using ir::InterpolationSampling;
using ir::Op;
using maxwell::PixelInput;
using spv::BuiltIn;
using spv::StorageClass;
namespace attribute = maxwell::attribute;

Id Emitter::one_over_w() {
    const Id coord = builtin_input(BuiltIn::FragCoord, Basic::F32x4);
    return module.op(spv::Op::OpCompositeExtract, t(Basic::F32), coord, 3u);
}

// Whether a value is the pixel's w: the reciprocal of a[0x7c].
bool Emitter::is_w(Value v) const {
    if (ir[v].op != Op::FRcp)
        return false;
    const Inst& source = ir[ir.arg(v, 0)];
    return source.op == Op::Interpolate && source.imm == attribute::position + 12;
}

void Emitter::interpolate(Value v, const Inst& inst) {
    const auto mode = static_cast<InterpolationMode>(inst.mods & 3);
    const auto sampling = static_cast<InterpolationSampling>(inst.mods >> 2 & 3);
    const std::span<const Value> args = ir.args(inst);
    const u32 address = inst.imm;
    unsigned next = 0;
    const Value multiplier = mode == InterpolationMode::Multiply && next < args.size() ? args[next++] : ir::none;
    const Value offset = sampling == InterpolationSampling::Offset && next < args.size() ? args[next++] : ir::none;
    const auto finish = [&](Id value) {
        if ((inst.mods & ir::interpolate_saturate) != 0)
            value = module.ext(GLSLstd450NClamp, t(Basic::F32), {value, cf(0), cf(1)});
        define_f(v, value);
    };
    const auto times_multiplier = [&](Id value) {
        return multiplier.valid() ? exact(module.op(spv::Op::OpFMul, t(Basic::F32), value, f(multiplier))) : value;
    };
    if (address >= attribute::position && address < attribute::generic) {
        const Id coord = builtin_input(BuiltIn::FragCoord, Basic::F32x4);
        // rows are those of memory, in either window origin (GFX-062)
        const Id value = module.op(spv::Op::OpCompositeExtract, t(Basic::F32), coord, component_of(address));
        return finish(times_multiplier(value));
    }
    switch (address) {
    case attribute::primitive_id:
        module.capability(spv::Capability::Geometry);
        return define_u(v, builtin_input(BuiltIn::PrimitiveId, Basic::U32));
    case attribute::layer:
        module.capability(spv::Capability::ShaderLayer);
        return define_u(v, builtin_input(BuiltIn::Layer, Basic::U32));
    case attribute::viewport_index:
        module.capability(spv::Capability::ShaderViewportIndex);
        return define_u(v, builtin_input(BuiltIn::ViewportIndex, Basic::U32));
    case attribute::front_facing:
        return define_u(v, select(Basic::U32, builtin_input(BuiltIn::FrontFacing, Basic::Bool), c(~0u), c(0)));
    case attribute::point_coord:
    case attribute::point_coord + 4: {
        const Id coord = builtin_input(BuiltIn::PointCoord, Basic::F32x2);
        const Id value = module.op(spv::Op::OpCompositeExtract, t(Basic::F32), coord, component_of(address));
        return finish(times_multiplier(value));
    }
    default:
        break;
    }
    const FragmentRead how{mode, sampling, offset};
    FragmentValue input;
    if ((inst.mods & ir::interpolate_indexed) == 0) {
        input = fragment_input(address, how);
    } else {
        const Id wanted = module.op(spv::Op::OpIAdd, t(Basic::U32), u(args.back()), c(address));
        for (u32 a = attribute::generic; a < attribute::viewport_mask; a += 4) {
            if (!header.inputs.has(a) || location_of(a) == ~0u)
                continue;
            const FragmentValue one = fragment_input(a, how);
            const Id hit = module.op(spv::Op::OpIEqual, t(Basic::Bool), wanted, c(a));
            input = {select(Basic::F32, hit, one.value, input.value != 0 ? input.value : cf(0)), one.perspective};
        }
        if (input.value == 0)
            input.value = cf(0);
    }
    if (mode == InterpolationMode::Constant)
        return finish(input.value);
    // The machine interpolates value / w and the program multiplies by w: together that is what we have already.
    if (!input.perspective)
        return finish(times_multiplier(input.value));
    if (multiplier.valid() && is_w(multiplier))
        return finish(input.value);
    finish(times_multiplier(exact(module.op(spv::Op::OpFMul, t(Basic::F32), input.value, one_over_w()))));
}

// A varying or clip distance as the host interpolates it.
Emitter::FragmentValue Emitter::fragment_input(u32 address, const FragmentRead& how) {
    if (address >= attribute::clip_distance && address < attribute::point_coord) {
        if (clip_in == 0) {
            module.capability(spv::Capability::ClipDistance);
            u32 count = 1;
            for (u32 i = 0; i < 8; ++i)
                if (header.inputs.has(attribute::clip_distance + 4 * i))
                    count = i + 1;
            const Id array = module.make_type(spv::Op::OpTypeArray, {t(Basic::F32), c(count)});
            clip_in = module.variable(StorageClass::Input, array);
            module.decorate(clip_in, spv::Decoration::BuiltIn, {static_cast<u32>(BuiltIn::ClipDistance)});
            clip_count = count;
        }
        const u32 index = std::min((address - attribute::clip_distance) / 4, clip_count - 1);
        return {load(Basic::F32, chain(StorageClass::Input, t(Basic::F32), clip_in, c(index))), true};
    }
    const u32 location = location_of(address);
    if (location >= inputs.size())
        return {cf(0), false};
    if ((key.provided_inputs >> location & 1) == 0) {
        if (component_of(address) != 3)
            return {cf(0), false};
        return {cf(1), header.interpolation[address / 4] == PixelInput::Perspective};
    }
    Varying& input = inputs[location];
    if (input.variable == 0)
        declare_fragment_input(input, address, how.mode);
    const Id pointer = chain(StorageClass::Input, t(Basic::F32), input.variable, c(component_of(address)));
    // A program that runs for each sample: its variables are at the sample, which is the machine's centroid then.
    // Without CENTROID the machine stays at the pixel's centre.
    const bool centre = how.sampling == InterpolationSampling::Default;
    const auto plain = program.per_sample ? InterpolationSampling::Centroid : InterpolationSampling::Default;
    if (input.flat || how.sampling == plain)
        return {load(Basic::F32, pointer), input.perspective};
    module.capability(spv::Capability::InterpolationFunction);
    if (centre)
        return {
            module.ext(GLSLstd450InterpolateAtOffset, t(Basic::F32), {pointer, module.constant_null(t(Basic::F32x2))}),
            input.perspective};
    if (how.sampling == InterpolationSampling::Centroid)
        return {module.ext(GLSLstd450InterpolateAtCentroid, t(Basic::F32), {pointer}), input.perspective};
    // Twelve bits count: tables of sample positions hold something else above them (docs/isa.md).
    const Id word = u(how.offset);
    const auto axis = [&](u32 bit) {
        const Id part = module.op(spv::Op::OpBitFieldSExtract, t(Basic::U32), word, c(bit), c(12));
        const Id number = module.op(spv::Op::OpConvertSToF, t(Basic::F32), part);
        return module.op(spv::Op::OpFMul, t(Basic::F32), number, cf(1.0f / 4096));
    };
    const Id at = module.op(spv::Op::OpCompositeConstruct, t(Basic::F32x2), axis(0), axis(16));
    return {module.ext(GLSLstd450InterpolateAtOffset, t(Basic::F32), {pointer, at}), input.perspective};
}

void Emitter::declare_fragment_input(Varying& input, u32 address, InterpolationMode mode) {
    const u32 location = location_of(address);
    bool linear = false;
    for (u32 k = 0; k < 4; ++k) {
        const PixelInput kind = header.interpolation[(address >> 4) * 4 + k];
        input.perspective |= kind == PixelInput::Perspective;
        linear |= kind == PixelInput::ScreenLinear;
    }
    if (!input.perspective && !linear && mode != InterpolationMode::Constant)
        input.perspective = true; // the header does not say
    input.flat = !input.perspective && !linear;
    input.variable = module.variable(StorageClass::Input, t(Basic::F32x4));
    module.decorate(input.variable, spv::Decoration::Location, {location});
    if (location < 32)
        reflection.inputs |= 1u << location;
    if (input.flat)
        module.decorate(input.variable, spv::Decoration::Flat);
    else if (!input.perspective)
        module.decorate(input.variable, spv::Decoration::NoPerspective);
    if (!input.flat && program.per_sample) {
        module.capability(spv::Capability::SampleRateShading);
        module.decorate(input.variable, spv::Decoration::Sample);
    }
}

} // namespace heaviside::shader
