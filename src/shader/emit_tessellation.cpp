// Tessellation levels that no program stores, and the control program of draws that have none.
#include "shader/emitter.h"

#include <algorithm>

namespace heaviside::shader {

using ir::Inst;
using ir::Op;
using spirv::Module;
using spv::BuiltIn;
using spv::StorageClass;

namespace {

constexpr u32 max_patch_vertices = 32;
constexpr u32 outer_count = 4, level_count = 6;
constexpr u32 inner_address = 0x10;

} // namespace

// Levels start as the state's and are the program's where it stores them (GFX-117, GFX-126). Those that it never stores
// are stored here; writing the others too would race with the invocation that does.
void Emitter::default_levels() {
    u32 stored = 0;
    for (ir::BlockId b : graph.order)
        for (u32 id : ir.blocks[b].insts) {
            const Inst& inst = ir.insts[id];
            if (inst.op != Op::StoreAttribute || (inst.mods & ir::attribute_patch) == 0)
                continue;
            if ((inst.mods & ir::attribute_indexed) != 0)
                return;
            if (inst.imm < inner_address + 8)
                stored |= 1u << inst.imm / 4;
        }
    for (u32 i = 0; i < level_count; ++i)
        if ((stored >> i & 1) == 0)
            module.none(spv::Op::OpStore, output_pointer(4 * i, true, true), root(root_levels + i, Basic::F32));
}

std::vector<u32> pass_through_tess_control(u32 vertices, u32 locations) {
    Module m;
    m.capability(spv::Capability::Shader);
    m.capability(spv::Capability::Tessellation);
    const Id void_type = m.type(Basic::Void), u32_type = m.type(Basic::U32), f32_type = m.type(Basic::F32),
             vec4 = m.type(Basic::F32x4);
    const Id entry = m.begin_function(void_type, m.function_type(void_type, {}));
    (void)m.start_body();
    const Id invocation_variable = m.variable(StorageClass::Input, u32_type);
    m.decorate(invocation_variable, spv::Decoration::BuiltIn, {static_cast<u32>(BuiltIn::InvocationId)});
    const Id invocation = m.op(spv::Op::OpLoad, u32_type, invocation_variable);
    const Id in_type = m.make_type(spv::Op::OpTypeArray, {vec4, m.constant(max_patch_vertices)});
    const Id out_type = m.make_type(spv::Op::OpTypeArray, {vec4, m.constant(vertices)});
    const auto pass = [&](spv::Decoration decoration, u32 value) {
        const Id in = m.variable(StorageClass::Input, in_type), out = m.variable(StorageClass::Output, out_type);
        m.decorate(in, decoration, {value});
        m.decorate(out, decoration, {value});
        const Id from = m.op(spv::Op::OpAccessChain, m.pointer(StorageClass::Input, vec4), in, invocation);
        const Id to = m.op(spv::Op::OpAccessChain, m.pointer(StorageClass::Output, vec4), out, invocation);
        m.none(spv::Op::OpStore, to, m.op(spv::Op::OpLoad, vec4, from));
    };
    pass(spv::Decoration::BuiltIn, static_cast<u32>(BuiltIn::Position));
    for (u32 i = 0; i < 32; ++i)
        if (locations >> i & 1)
            pass(spv::Decoration::Location, i);

    const Id root_members[] = {f32_type, f32_type, f32_type, f32_type, f32_type, f32_type};
    const Id block = m.make_struct(root_members);
    m.decorate(block, spv::Decoration::Block);
    for (u32 i = 0; i < level_count; ++i)
        m.decorate_member(block, i, spv::Decoration::Offset,
                          {static_cast<u32>(offsetof(RootConstants, outer_levels)) + 4 * i});
    const Id root = m.variable(StorageClass::PushConstant, block);
    const auto levels = [&](BuiltIn which, u32 first, u32 count) {
        const Id variable =
            m.variable(StorageClass::Output, m.make_type(spv::Op::OpTypeArray, {f32_type, m.constant(count)}));
        m.decorate(variable, spv::Decoration::BuiltIn, {static_cast<u32>(which)});
        m.decorate(variable, spv::Decoration::Patch);
        for (u32 i = 0; i < count; ++i) {
            const Id from = m.op(spv::Op::OpAccessChain, m.pointer(StorageClass::PushConstant, f32_type), root,
                                 m.constant(first + i));
            const Id to =
                m.op(spv::Op::OpAccessChain, m.pointer(StorageClass::Output, f32_type), variable, m.constant(i));
            m.none(spv::Op::OpStore, to, m.op(spv::Op::OpLoad, f32_type, from));
        }
    };
    levels(BuiltIn::TessLevelOuter, 0, outer_count);
    levels(BuiltIn::TessLevelInner, outer_count, level_count - outer_count);
    m.none(spv::Op::OpReturn);
    m.end_function();
    m.mode(entry, spv::ExecutionMode::OutputVertices, {vertices});
    return m.finish(spv::ExecutionModel::TessellationControl, entry, "main");
}

} // namespace heaviside::shader
