// What goes in and out of a stage: attributes, varyings, built-ins, fragment outputs, special registers.
//
// Varyings are vec4 of float at Vulkan location = attribute number on both sides of every boundary, whatever their bits
// mean, so that stages compiled apart always match. Integers keep their bits: values are only copied, and inputs that
// the rasteriser must not touch are Flat.
#include "shader/emitter.h"

#include <algorithm>

namespace heaviside::shader {

using ir::Inst;
using ir::Op;
using ir::Special;
using spv::BuiltIn;
using spv::StorageClass;
namespace attribute = maxwell::attribute;

namespace {

constexpr u32 max_patch_vertices = 32;

Basic vec4_of(NumericClass numeric) {
    return numeric == NumericClass::Uint ? Basic::U32x4 : numeric == NumericClass::Sint ? Basic::S32x4 : Basic::F32x4;
}
Basic scalar_of(NumericClass numeric) {
    return numeric == NumericClass::Uint ? Basic::U32 : numeric == NumericClass::Sint ? Basic::S32 : Basic::F32;
}

} // namespace

u32 Emitter::location_of(u32 address) const {
    if (address >= attribute::generic && address < attribute::generic_end)
        return (address - attribute::generic) >> 4;
    if (address >= attribute::front_diffuse && address < attribute::clip_distance)
        return 32 + ((address - attribute::front_diffuse) >> 4);
    if (address >= attribute::fixed_texture && address < attribute::viewport_mask)
        return 36 + ((address - attribute::fixed_texture) >> 4);
    return ~0u;
}

Id Emitter::builtin(BuiltIn which, Basic type, StorageClass storage) {
    for (const BuiltinVariable& known : builtins)
        if (known.which == which && known.storage == storage)
            return known.id;
    const Id id = module.variable(storage, t(type));
    module.decorate(id, spv::Decoration::BuiltIn, {static_cast<u32>(which)});
    const bool integer = type == Basic::U32 || type == Basic::S32;
    if (program.stage == Stage::Fragment && storage == StorageClass::Input && integer)
        module.decorate(id, spv::Decoration::Flat);
    builtins.push_back({which, storage, id});
    return id;
}

Id Emitter::builtin_input(BuiltIn which, Basic type) {
    return load(type, builtin(which, type));
}

// --- outputs

void Emitter::declare_interface() {
    const Stage stage = program.stage;
    if (stage == Stage::Geometry) {
        module.capability(spv::Capability::Geometry);
        input_vertices = key.geometry_input_vertices;
    } else if (stage == Stage::TessControl || stage == Stage::TessEval) {
        module.capability(spv::Capability::Tessellation);
        input_vertices = max_patch_vertices;
        if (stage == Stage::TessControl)
            output_vertices = std::max<u32>(header.threads_per_primitive, 1);
    }
    if (stage == Stage::Fragment || stage == Stage::Compute) {
        if (stage == Stage::Fragment) {
            for (u32 target = 0; target < 8; ++target) {
                if ((header.target_mask >> (4 * target) & 15) == 0)
                    continue;
                const NumericClass numeric = key.fragment_outputs[target];
                colors[target] = module.variable(StorageClass::Output, t(vec4_of(numeric)));
                module.decorate(colors[target], spv::Decoration::Location, {target});
                reflection.outputs |= u64{1} << target;
            }
            if (key.alpha_test != 7 && colors[0] != 0 && key.fragment_outputs[0] == NumericClass::Float)
                alpha_variable = module.local(t(Basic::F32), cf(0));
        }
        return;
    }
    // what the header or the code says is written
    maxwell::AttributeMap written = header.outputs;
    for (ir::BlockId b : graph.order)
        for (u32 id : ir.blocks[b].insts) {
            const Inst& inst = ir.insts[id];
            if (inst.op == Op::StoreAttribute && (inst.mods & (ir::attribute_patch | ir::attribute_indexed)) == 0)
                written.set(inst.imm);
        }
    const Id vec4 = t(Basic::F32x4);
    const auto arrayed = [&](Id type) {
        return output_vertices == 0 ? type : module.make_type(spv::Op::OpTypeArray, {type, c(output_vertices)});
    };
    for (u32 address = attribute::generic; address < attribute::viewport_mask; address += 16) {
        const u32 location = location_of(address);
        if (location == ~0u || written.components[address >> 4] == 0)
            continue;
        outputs[location].variable = module.variable(StorageClass::Output, arrayed(vec4));
        module.decorate(outputs[location].variable, spv::Decoration::Location, {location});
        reflection.outputs |= u64{1} << location;
    }
    if (written.components[attribute::position >> 4] != 0) {
        position_out = module.variable(StorageClass::Output, arrayed(vec4));
        module.decorate(position_out, spv::Decoration::BuiltIn, {static_cast<u32>(BuiltIn::Position)});
        module.decorate(position_out, spv::Decoration::Invariant);
    }
    for (u32 i = 0; i < 8; ++i)
        if (written.has(attribute::clip_distance + 4 * i)) {
            clip_count = i + 1;
            reflection.clip_distances |= static_cast<u8>(1u << i);
        }
    if (clip_count != 0) {
        module.capability(spv::Capability::ClipDistance);
        const Id array = module.make_type(spv::Op::OpTypeArray, {t(Basic::F32), c(clip_count)});
        clip_out = module.variable(StorageClass::Output, arrayed(array));
        module.decorate(clip_out, spv::Decoration::BuiltIn, {static_cast<u32>(BuiltIn::ClipDistance)});
    }
    reflection.writes_point_size = written.has(attribute::point_size);
    const bool points = key.points || (stage == Stage::Geometry && header.topology == maxwell::OutputTopology::Points);
    if (points && stage != Stage::TessControl) {
        point_size_out = builtin(BuiltIn::PointSize, Basic::F32, StorageClass::Output);
        if (stage == Stage::Geometry)
            module.capability(spv::Capability::GeometryPointSize);
        if (stage == Stage::TessEval)
            module.capability(spv::Capability::TessellationPointSize);
    }
    if (written.has(attribute::layer)) {
        reflection.writes_layer = true;
        if (stage != Stage::Geometry)
            module.capability(spv::Capability::ShaderLayer);
        layer_out = builtin(BuiltIn::Layer, Basic::U32, StorageClass::Output);
    }
    if (written.has(attribute::viewport_index)) {
        reflection.writes_viewport_index = true;
        module.capability(stage == Stage::Geometry ? spv::Capability::MultiViewport
                                                   : spv::Capability::ShaderViewportIndex);
        viewport_out = builtin(BuiltIn::ViewportIndex, Basic::U32, StorageClass::Output);
    }
    if (written.has(attribute::viewport_mask) && stage != Stage::TessControl)
        declare_viewport_mask();
    declare_feedback();
    reset_outputs();
    if (stage == Stage::TessControl)
        default_levels();
}

// Components that the program does not write are (0, 0, 0, 1).
void Emitter::reset_outputs() {
    const std::array parts{cf(0), cf(0), cf(0), cf(1)};
    const Id initial = module.constant_composite(t(Basic::F32x4), parts);
    Id invocation = 0;
    if (output_vertices != 0)
        invocation = builtin_input(BuiltIn::InvocationId, Basic::U32);
    const auto store = [&](Id variable) {
        const Id pointer =
            invocation == 0 ? variable : chain(StorageClass::Output, t(Basic::F32x4), variable, invocation);
        module.none(spv::Op::OpStore, pointer, initial);
    };
    for (const Varying& output : outputs)
        if (output.variable != 0)
            store(output.variable);
    if (position_out != 0)
        store(position_out);
    if (clip_out != 0)
        for (u32 i = 0; i < clip_count; ++i) {
            const Id pointer = invocation == 0 ? chain(StorageClass::Output, t(Basic::F32), clip_out, c(i))
                                               : chain(StorageClass::Output, t(Basic::F32), clip_out, invocation, c(i));
            module.none(spv::Op::OpStore, pointer, cf(0));
        }
    if (point_size_out != 0)
        module.none(spv::Op::OpStore, point_size_out, root(3, Basic::F32));
    if (layer_out != 0)
        module.none(spv::Op::OpStore, layer_out, c(0));
    if (viewport_out != 0)
        module.none(spv::Op::OpStore, viewport_out, c(0));
    if (viewport_mask != 0)
        module.none(spv::Op::OpStore, viewport_mask, c(1));
}

// Pointer to a float of an output; 0 if there is none. `vertex` is only for tessellation control.
Id Emitter::output_pointer(u32 address, bool patch, bool for_store) {
    const Id f32_type = t(Basic::F32);
    if (patch) {
        if (program.stage != Stage::TessControl && (program.stage != Stage::TessEval || for_store)) {
            if (!error)
                error = Error{fmt::format("per-patch attribute a[{:#x}] outside the stage that has it", address)};
            return 0;
        }
        const StorageClass storage = program.stage == Stage::TessEval ? StorageClass::Input : StorageClass::Output;
        const auto levels = [&](Id& variable, BuiltIn which, u32 count) {
            if (variable == 0) {
                const Id array = module.make_type(spv::Op::OpTypeArray, {f32_type, c(count)});
                variable = module.variable(storage, array);
                module.decorate(variable, spv::Decoration::BuiltIn, {static_cast<u32>(which)});
                module.decorate(variable, spv::Decoration::Patch);
            }
            return variable;
        };
        if (address < 0x10)
            return chain(storage, f32_type, levels(tess_outer, BuiltIn::TessLevelOuter, 4), c(address / 4));
        if (address < 0x18)
            return chain(storage, f32_type, levels(tess_inner, BuiltIn::TessLevelInner, 2), c((address - 0x10) / 4));
        const u32 index = (address - 0x20) >> 4;
        if (address < 0x20 || index >= 32)
            return 0;
        if (patch_values[index] == 0) {
            // patch vectors count down from the last location, away from the per-vertex ones
            patch_values[index] = module.variable(storage, t(Basic::F32x4));
            module.decorate(patch_values[index], spv::Decoration::Location, {31 - index});
            module.decorate(patch_values[index], spv::Decoration::Patch);
        }
        return chain(storage, f32_type, patch_values[index], c(component_of(address)));
    }
    const Id invocation = output_vertices != 0 && for_store ? builtin_input(BuiltIn::InvocationId, Basic::U32) : Id{0};
    const auto element = [&](Id variable, u32 index) {
        if (variable == 0)
            return Id{0};
        return invocation == 0 ? chain(StorageClass::Output, f32_type, variable, c(index))
                               : chain(StorageClass::Output, f32_type, variable, invocation, c(index));
    };
    const u32 location = location_of(address);
    if (location < outputs.size())
        return element(outputs[location].variable, component_of(address));
    if (address >= attribute::position && address < attribute::generic)
        return element(position_out, component_of(address));
    if (address >= attribute::clip_distance && address < attribute::clip_distance + 32)
        return (address - attribute::clip_distance) / 4 < clip_count
                   ? element(clip_out, (address - attribute::clip_distance) / 4)
                   : 0;
    if (address == attribute::point_size)
        return point_size_out;
    return 0;
}

// A patch word that is written back as it was read, unless a condition holds, is written under that condition only:
// compilers index patch outputs by invocation so, and all invocations of a patch would write all the words.
bool Emitter::store_patch_selected(const Inst& inst) {
    const Value value = ir.args(inst)[0];
    if (ir[value].op != Op::Select)
        return false;
    const auto reads_back = [&](Value x) {
        const Inst& source = ir[x];
        return source.op == Op::LoadAttribute && source.imm == inst.imm &&
               source.mods == (ir::attribute_patch | ir::attribute_output);
    };
    const Value yes = arg(value, 1), no = arg(value, 2);
    if (reads_back(yes) == reads_back(no))
        return false;
    const bool inverted = reads_back(yes);
    Id condition = b(arg(value, 0));
    if (inverted)
        condition = module.op(spv::Op::OpLogicalNot, t(Basic::Bool), condition);
    const Id word = f(inverted ? no : yes);
    (void)guarded(condition, 0, [&] {
        if (const Id pointer = output_pointer(inst.imm, true, true); pointer != 0)
            module.none(spv::Op::OpStore, pointer, word);
        return Id{0};
    });
    return true;
}

void Emitter::store_attribute(Value, const Inst& inst) {
    const std::span<const Value> args = ir.args(inst);
    const bool patch = (inst.mods & ir::attribute_patch) != 0;
    const auto output = [&] {
        return in_left_loop(args[0]) ? bitcast(Basic::F32, kept(args[0], u(args[0]))) : f(args[0]);
    };
    if ((inst.mods & ir::attribute_indexed) != 0) {
        // one conditional store for each vector it may mean
        const Id offset = u(args.back());
        const Id address = module.op(spv::Op::OpIAdd, t(Basic::U32), offset, c(inst.imm));
        const Id vector = module.op(spv::Op::OpShiftRightLogical, t(Basic::U32), address, c(4));
        const Id part = module.op(spv::Op::OpBitFieldUExtract, t(Basic::U32), address, c(2), c(2));
        const Id value = output();
        for (u32 a = attribute::position; a < attribute::viewport_mask; a += 16) {
            const u32 location = location_of(a);
            const Id variable = a == attribute::position    ? position_out
                                : location < outputs.size() ? outputs[location].variable
                                                            : 0;
            if (variable == 0)
                continue;
            const Id hit = module.op(spv::Op::OpIEqual, t(Basic::Bool), vector, c(a >> 4));
            (void)guarded(hit, 0, [&] {
                Id pointer;
                if (output_vertices != 0)
                    pointer = chain(StorageClass::Output, t(Basic::F32), variable,
                                    builtin_input(BuiltIn::InvocationId, Basic::U32), part);
                else
                    pointer = chain(StorageClass::Output, t(Basic::F32), variable, part);
                module.none(spv::Op::OpStore, pointer, value);
                return Id{0};
            });
        }
        return;
    }
    if (!patch && inst.imm == attribute::layer) {
        if (layer_out != 0)
            module.none(spv::Op::OpStore, layer_out, u(args[0]));
        return;
    }
    if (!patch && inst.imm == attribute::viewport_index) {
        if (viewport_out != 0)
            module.none(spv::Op::OpStore, viewport_out,
                        module.ext(GLSLstd450UMin, t(Basic::U32), {u(args[0]), c(15)})); // there are 16 (GFX-172)
        return;
    }
    if (!patch && inst.imm == attribute::primitive_id && program.stage == Stage::Geometry) {
        module.none(spv::Op::OpStore, builtin(BuiltIn::PrimitiveId, Basic::U32, StorageClass::Output), u(args[0]));
        return;
    }
    if (!patch && inst.imm == attribute::viewport_mask) {
        if (viewport_mask != 0)
            module.none(spv::Op::OpStore, viewport_mask, u(args[0]));
        return;
    }
    if (patch && store_patch_selected(inst))
        return;
    if (const Id pointer = output_pointer(inst.imm, patch, true); pointer != 0)
        module.none(spv::Op::OpStore, pointer, output());
    // other addresses are dropped, as outputs are that no later stage declares
}

// --- inputs

// A word of an input of a stage other than fragment. vertex_id: index into arrayed inputs.
Id Emitter::input_word(u32 address, Value, Id vertex_id) {
    const auto as_word = [&](Id value) { return bitcast(Basic::U32, value); };
    const bool vertex_stage = program.stage == Stage::Vertex;
    const auto arrayed = [&](Id type) {
        return input_vertices == 0 ? type : module.make_type(spv::Op::OpTypeArray, {type, c(input_vertices)});
    };
    const auto element = [&](Id variable, u32 index, Basic basic) {
        return vertex_id != 0 ? load(basic, chain(StorageClass::Input, t(basic), variable, vertex_id, c(index)))
                              : load(basic, chain(StorageClass::Input, t(basic), variable, c(index)));
    };
    switch (address) {
    case attribute::instance_id:
        if (vertex_stage)
            return module.op(spv::Op::OpISub, t(Basic::U32), builtin_input(BuiltIn::InstanceIndex, Basic::U32),
                             root(6, Basic::U32));
        break;
    case attribute::vertex_id:
        if (vertex_stage)
            return module.op(spv::Op::OpISub, t(Basic::U32), builtin_input(BuiltIn::VertexIndex, Basic::U32),
                             root(5, Basic::U32));
        break;
    case attribute::primitive_id:
        if (!vertex_stage)
            return builtin_input(BuiltIn::PrimitiveId, Basic::U32);
        break;
    case attribute::tess_coord:
    case attribute::tess_coord + 4:
        if (program.stage == Stage::TessEval) {
            const Id coord = builtin_input(BuiltIn::TessCoord, Basic::F32x3);
            return as_word(module.op(spv::Op::OpCompositeExtract, t(Basic::F32), coord, component_of(address)));
        }
        break;
    default:
        break;
    }
    const u32 location = location_of(address);
    if (location < inputs.size()) {
        if (location < 64 && (key.provided_inputs >> location & 1) == 0 && !vertex_stage)
            return component_of(address) == 3 ? c(0x3f800000) : c(0);
        const NumericClass numeric =
            vertex_stage && location < key.vertex_inputs.size() ? key.vertex_inputs[location] : NumericClass::Float;
        Id& variable = inputs[location].variable;
        if (variable == 0) {
            variable = module.variable(StorageClass::Input, arrayed(t(vec4_of(numeric))));
            module.decorate(variable, spv::Decoration::Location, {location});
            if (location < 32)
                reflection.inputs |= 1u << location;
        }
        const Id value = element(variable, component_of(address), scalar_of(numeric));
        if (vertex_stage && location < 16 && (key.converted_inputs >> location & 1) != 0 &&
            numeric != NumericClass::Float)
            return as_word(module.op(numeric == NumericClass::Uint ? spv::Op::OpConvertUToF : spv::Op::OpConvertSToF,
                                     t(Basic::F32), value));
        return numeric == NumericClass::Uint ? value : as_word(value);
    }
    if (vertex_stage)
        return c(0);
    if (address >= attribute::position && address < attribute::generic) {
        if (position_in == 0) {
            position_in = module.variable(StorageClass::Input, arrayed(t(Basic::F32x4)));
            module.decorate(position_in, spv::Decoration::BuiltIn, {static_cast<u32>(BuiltIn::Position)});
        }
        return as_word(element(position_in, component_of(address), Basic::F32));
    }
    // point size, layer and clip distances of input vertices are not passed on
    return c(0);
}

void Emitter::load_attribute(Value v, const Inst& inst) {
    const std::span<const Value> args = ir.args(inst);
    const bool patch = (inst.mods & ir::attribute_patch) != 0, output = (inst.mods & ir::attribute_output) != 0;
    const Value vertex = (inst.mods & ir::attribute_vertex) != 0 && !args.empty() ? args[0] : ir::none;
    if (patch) {
        const Id pointer = output_pointer(inst.imm, true, false);
        return define_u(v, pointer == 0 ? c(0) : bitcast(Basic::U32, load(Basic::F32, pointer)));
    }
    const bool coord = inst.imm == attribute::tess_coord || inst.imm == attribute::tess_coord + 4;
    if (output && !coord) {
        Id pointer = 0;
        if (output_vertices != 0 && vertex.valid()) {
            const u32 location = location_of(inst.imm);
            const Id variable = inst.imm >= attribute::position && inst.imm < attribute::generic ? position_out
                                : location < outputs.size() ? outputs[location].variable
                                                            : 0;
            if (variable != 0)
                pointer = chain(StorageClass::Output, t(Basic::F32), variable, u(vertex), c(component_of(inst.imm)));
        } else {
            pointer = output_pointer(inst.imm, false, true);
        }
        return define_u(v, pointer == 0 ? c(0) : bitcast(Basic::U32, load(Basic::F32, pointer)));
    }
    Id vertex_id = 0;
    if (input_vertices != 0 && !coord)
        vertex_id = vertex.valid() ? u(vertex) : c(0);
    if ((inst.mods & ir::attribute_indexed) == 0)
        return define_u(v, input_word(inst.imm, vertex, vertex_id));
    // an address known at run time: one of the declared vectors
    const Id address = module.op(spv::Op::OpIAdd, t(Basic::U32), u(args.back()), c(inst.imm));
    Id value = c(0);
    for (u32 a = attribute::position; a < 0x400; a += 4) {
        if (!header.inputs.has(a))
            continue;
        const Id hit = module.op(spv::Op::OpIEqual, t(Basic::Bool), address, c(a));
        value = select(Basic::U32, hit, input_word(a, vertex, vertex_id), value);
    }
    define_u(v, value);
}

// --- special registers

void Emitter::special(Value v, const Inst& inst) {
    const auto which = static_cast<Special>(inst.imm);
    const auto part = [&](BuiltIn vector, u32 index) {
        define_u(v, module.op(spv::Op::OpCompositeExtract, t(Basic::U32), builtin_input(vector, Basic::U32x3), index));
    };
    const auto mask = [&](auto&& make) { define_u(v, make(lane_id())); };
    const auto bit = [&](Id lane) { return module.op(spv::Op::OpShiftLeftLogical, t(Basic::U32), c(1), lane); };
    const auto below = [&](Id lane) { return module.op(spv::Op::OpISub, t(Basic::U32), bit(lane), c(1)); };
    const auto inverted = [&](Id x) { return module.op(spv::Op::OpNot, t(Basic::U32), x); };
    const bool compute = program.stage == Stage::Compute;
    switch (which) {
    case Special::LaneId:
        return define_u(v, lane_id());
    case Special::TidX:
    case Special::TidY:
    case Special::TidZ:
        if (!compute)
            break;
        return part(BuiltIn::LocalInvocationId, inst.imm - static_cast<u32>(Special::TidX));
    case Special::CtaidX:
    case Special::CtaidY:
    case Special::CtaidZ:
        if (!compute)
            break;
        return part(BuiltIn::WorkgroupId, inst.imm - static_cast<u32>(Special::CtaidX));
    case Special::NtidX:
    case Special::NtidY:
    case Special::NtidZ:
        return define_u(v, c(program.workgroup_size[inst.imm - static_cast<u32>(Special::NtidX)]));
    case Special::NctaidX:
    case Special::NctaidY:
    case Special::NctaidZ:
        if (!compute)
            break;
        return part(BuiltIn::NumWorkgroups, inst.imm - static_cast<u32>(Special::NctaidX));
    case Special::InvocationId:
        if (program.stage == Stage::Geometry || program.stage == Stage::TessControl)
            return define_u(v, builtin_input(BuiltIn::InvocationId, Basic::U32));
        break;
    case Special::PatchVertices:
        if (program.stage == Stage::TessControl || program.stage == Stage::TessEval)
            return define_u(v, builtin_input(BuiltIn::PatchVertices, Basic::U32));
        return define_u(v, c(input_vertices));
    case Special::EqMask:
        return mask(bit);
    case Special::LtMask:
        return mask(below);
    case Special::LeMask:
        return mask([&](Id lane) { return module.op(spv::Op::OpBitwiseOr, t(Basic::U32), below(lane), bit(lane)); });
    case Special::GtMask:
        return mask(
            [&](Id lane) { return inverted(module.op(spv::Op::OpBitwiseOr, t(Basic::U32), below(lane), bit(lane))); });
    case Special::GeMask:
        return mask([&](Id lane) { return inverted(below(lane)); });
    case Special::YDirection:
        return define_f(v, root(1, Basic::F32));
    case Special::SampleId:
        if (program.stage != Stage::Fragment)
            break;
        module.capability(spv::Capability::SampleRateShading);
        reflection.per_sample = true;
        return define_u(v, builtin_input(BuiltIn::SampleId, Basic::U32));
    case Special::SampleMaskIn: {
        if (program.stage != Stage::Fragment)
            break;
        Id variable = 0;
        for (const BuiltinVariable& known : builtins)
            if (known.which == BuiltIn::SampleMask && known.storage == StorageClass::Input)
                variable = known.id;
        if (variable == 0) {
            const Id array = module.make_type(spv::Op::OpTypeArray, {t(Basic::U32), c(1)});
            variable = module.variable(StorageClass::Input, array);
            module.decorate(variable, spv::Decoration::BuiltIn, {static_cast<u32>(BuiltIn::SampleMask)});
            module.decorate(variable, spv::Decoration::Flat);
            builtins.push_back({BuiltIn::SampleMask, StorageClass::Input, variable});
        }
        return define_u(v, load(Basic::U32, chain(StorageClass::Input, t(Basic::U32), variable, c(0))));
    }
    default:
        break;
    }
    define_u(v, c(0)); // counters and identities that say nothing here
}

// --- leaving

void Emitter::end_invocation() {
    if (program.stage != Stage::Geometry)
        leave_vertex();
    if (alpha_variable == 0)
        return;
    static constexpr spv::Op compare[] = {spv::Op::OpNop,
                                          spv::Op::OpFOrdLessThan,
                                          spv::Op::OpFOrdEqual,
                                          spv::Op::OpFOrdLessThanEqual,
                                          spv::Op::OpFOrdGreaterThan,
                                          spv::Op::OpFUnordNotEqual,
                                          spv::Op::OpFOrdGreaterThanEqual};
    module.capability(spv::Capability::DemoteToHelperInvocation);
    reflection.kills = true;
    Id failed = module.constant_true();
    if (key.alpha_test > 0 && key.alpha_test < 7) {
        const Id passes =
            module.op(compare[key.alpha_test], t(Basic::Bool), load(Basic::F32, alpha_variable), root(4, Basic::F32));
        failed = module.op(spv::Op::OpLogicalNot, t(Basic::Bool), passes);
    }
    (void)guarded(failed, 0, [&] {
        module.none(spv::Op::OpDemoteToHelperInvocation);
        return Id{0};
    });
}

bool Emitter::interface_operation(Value v, const Inst& inst) {
    switch (inst.op) {
    case Op::LoadAttribute:
        load_attribute(v, inst);
        break;
    case Op::StoreAttribute:
        store_attribute(v, inst);
        break;
    case Op::Interpolate:
        if (program.stage != Stage::Fragment)
            refuse(v, "outside a fragment program");
        else
            interpolate(v, inst);
        break;
    case Op::StoreColor: {
        const u32 target = inst.imm / 4;
        if (target >= 8 || colors[target] == 0)
            break;
        const NumericClass numeric = key.fragment_outputs[target];
        const Id pointer = chain(StorageClass::Output, t(scalar_of(numeric)), colors[target], c(inst.imm % 4));
        const Value value = arg(v, 0);
        module.none(spv::Op::OpStore, pointer,
                    numeric == NumericClass::Float  ? f(value)
                    : numeric == NumericClass::Uint ? u(value)
                                                    : bitcast(Basic::S32, u(value)));
        if (inst.imm == 3 && alpha_variable != 0)
            module.none(spv::Op::OpStore, alpha_variable, f(value));
        break;
    }
    case Op::StoreDepth:
        reflection.writes_depth = true;
        depth_out = builtin(BuiltIn::FragDepth, Basic::F32, StorageClass::Output);
        module.none(spv::Op::OpStore, depth_out, f(arg(v, 0)));
        break;
    case Op::StoreSampleMask: {
        reflection.writes_sample_mask = true;
        if (sample_mask_out == 0) {
            const Id array = module.make_type(spv::Op::OpTypeArray, {t(Basic::U32), c(1)});
            sample_mask_out = module.variable(StorageClass::Output, array);
            module.decorate(sample_mask_out, spv::Decoration::BuiltIn, {static_cast<u32>(BuiltIn::SampleMask)});
        }
        module.none(spv::Op::OpStore, chain(StorageClass::Output, t(Basic::U32), sample_mask_out, c(0)), u(arg(v, 0)));
        break;
    }
    case Op::ReadSpecial:
        special(v, inst);
        break;
    case Op::IsHelper:
        if (program.stage == Stage::Fragment)
            define_u(v, module.op(spv::Op::OpLoad, t(Basic::Bool), builtin(BuiltIn::HelperInvocation, Basic::Bool),
                                  static_cast<u32>(spv::MemoryAccessMask::Volatile)));
        else
            define_u(v, module.constant_false());
        break;
    case Op::Demote:
        if (program.stage == Stage::Fragment) {
            module.capability(spv::Capability::DemoteToHelperInvocation);
            reflection.kills = true;
            module.none(spv::Op::OpDemoteToHelperInvocation);
        }
        break;
    case Op::EmitVertex:
    case Op::EndPrimitive:
        if (program.stage != Stage::Geometry)
            refuse(v, "outside a geometry program");
        else if (inst.imm != 0)
            refuse(v, "vertex streams other than 0");
        else if (inst.op == Op::EndPrimitive)
            module.none(spv::Op::OpEndPrimitive);
        else {
            leave_vertex();
            module.none(spv::Op::OpEmitVertex);
            reset_outputs();
        }
        break;
    default:
        return false;
    }
    return true;
}

void Emitter::stage_modes(Id entry) {
    using spv::ExecutionMode;
    module.capability(spv::Capability::SignedZeroInfNanPreserve);
    module.mode(entry, ExecutionMode::SignedZeroInfNanPreserve, {32});
    if (denormals == Denormals::Flush) {
        module.capability(spv::Capability::DenormFlushToZero);
        module.mode(entry, ExecutionMode::DenormFlushToZero, {32});
    } else if (denormals == Denormals::Preserve) {
        module.capability(spv::Capability::DenormPreserve);
        module.mode(entry, ExecutionMode::DenormPreserve, {32});
    }
    if (module.has(Basic::F64))
        module.mode(entry, ExecutionMode::SignedZeroInfNanPreserve, {64});
    if (feedback)
        module.mode(entry, ExecutionMode::Xfb);
    switch (program.stage) {
    case Stage::Vertex:
        break;
    case Stage::Fragment:
        module.mode(entry, ExecutionMode::OriginUpperLeft);
        if (program.early_fragment_tests)
            module.mode(entry, ExecutionMode::EarlyFragmentTests);
        if (depth_out != 0)
            module.mode(entry, ExecutionMode::DepthReplacing);
        reflection.per_sample |= program.per_sample;
        break;
    case Stage::Geometry: {
        const u32 count = key.geometry_input_vertices;
        const ExecutionMode input = count == 1   ? ExecutionMode::InputPoints
                                    : count == 2 ? ExecutionMode::InputLines
                                    : count == 4 ? ExecutionMode::InputLinesAdjacency
                                    : count == 6 ? ExecutionMode::InputTrianglesAdjacency
                                                 : ExecutionMode::Triangles;
        module.mode(entry, input);
        const auto topology = header.topology;
        module.mode(entry, topology == maxwell::OutputTopology::Points      ? ExecutionMode::OutputPoints
                           : topology == maxwell::OutputTopology::LineStrip ? ExecutionMode::OutputLineStrip
                                                                            : ExecutionMode::OutputTriangleStrip);
        module.mode(entry, ExecutionMode::OutputVertices, {std::max<u32>(header.max_output_vertices, 1)});
        module.mode(entry, ExecutionMode::Invocations, {std::clamp<u32>(header.threads_per_primitive, 1, 32)});
        break;
    }
    case Stage::TessControl:
        module.mode(entry, ExecutionMode::OutputVertices, {output_vertices});
        break;
    case Stage::TessEval: {
        using Domain = VariantKey::TessDomain;
        using Spacing = VariantKey::TessSpacing;
        module.mode(entry, key.tess_domain == Domain::Isolines ? ExecutionMode::Isolines
                           : key.tess_domain == Domain::Quads  ? ExecutionMode::Quads
                                                               : ExecutionMode::Triangles);
        module.mode(entry, key.tess_spacing == Spacing::Equal           ? ExecutionMode::SpacingEqual
                           : key.tess_spacing == Spacing::FractionalOdd ? ExecutionMode::SpacingFractionalOdd
                                                                        : ExecutionMode::SpacingFractionalEven);
        module.mode(entry, key.tess_clockwise ? ExecutionMode::VertexOrderCw : ExecutionMode::VertexOrderCcw);
        if (key.tess_points)
            module.mode(entry, ExecutionMode::PointMode);
        break;
    }
    case Stage::Compute:
        module.mode(entry, ExecutionMode::LocalSize,
                    {std::max(program.workgroup_size[0], 1u), std::max(program.workgroup_size[1], 1u),
                     std::max(program.workgroup_size[2], 1u)});
        break;
    }
}

} // namespace heaviside::shader
