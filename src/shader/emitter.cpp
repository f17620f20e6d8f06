#include "shader/emitter.h"

#include "shader/passthrough.h"

#include <algorithm>
#include <bit>

namespace heaviside::shader {

using ir::BlockId;
using ir::Inst;
using ir::no_statement;
using ir::Op;
using ir::Statement;
using ir::StatementKind;
using ir::Type;

Emitter::Emitter(const ir::Program& ir_, const ir::FlowGraph& graph_, const ir::Structure& structure_,
                 const program::Program& program_, const VariantKey& key_, const Options& options_)
    : ir(ir_), graph(graph_), structure(structure_), program(program_), key(key_), options(options_),
      exact_floats(options_.exact_denormals || program_.layout == &program::kernel_layout),
      denormals(!options_.denormal_modes ? Denormals::DeviceChoice
                : exact_floats           ? Denormals::Preserve
                                         : denormals_of(ir_, graph_)),
      explicit_flush(exact_floats), repairs_zeros(exact_floats && options_.drops_added_zeros) {}

Result<Translation> emit_spirv(const ir::Program& ir, const ir::FlowGraph& graph, const ir::Structure& structure,
                               const program::Program& program, const VariantKey& key, const Options& options) {
    return Emitter(ir, graph, structure, program, key, options).run();
}

Result<Translation> Emitter::run() {
    if (program.feedback &&
        (program.stage == Stage::Fragment || program.stage == Stage::Compute || program.stage == Stage::TessControl))
        return fail("transform feedback of a {} program: none is captured", program::name(program.stage));
    if (program.stage != Stage::Compute) {
        auto decoded = maxwell::decode_sph(program.header);
        if (!decoded)
            return tl::unexpected(decoded.error());
        header = *decoded;
        if (program.stage == Stage::Geometry && header.passthrough) { // its header says neither
            const PassedPrimitive primitive = passed_primitive(key.geometry_input_vertices);
            header.topology = primitive.topology;
            header.max_output_vertices = static_cast<u16>(primitive.count);
        }
    }
    reflection.stage = program.stage;
    reflection.workgroup_size = program.workgroup_size;
    reflection.shared_bytes = program.shared_bytes;
    slots.resize(ir.insts.size());
    spill.assign(ir.insts.size(), 0);
    phi_variables.assign(ir.insts.size(), 0);
    home.assign(ir.insts.size(), ir::no_block);
    for (BlockId b : graph.order)
        for (u32 id : ir.blocks[b].insts)
            home[id] = b;

    module.capability(spv::Capability::Shader);
    const Id void_type = t(Basic::Void);
    const Id main_type = module.function_type(void_type, {});
    if (program.stage != Stage::Compute)
        module.capability(spv::Capability::Shader);
    // functions that main calls come first: written before main so that `code` is free
    if (find_storage())
        (void)locate_function();
    for (BlockId b : graph.order)
        for (u32 id : ir.blocks[b].insts)
            if (double_in_integers(ir.insts[id]))
                (void)double_fma_function();
    const Id entry = module.begin_function(void_type, main_type);
    current_label = module.start_body();
    terminated = false;
    ++block_serial;
    declare_interface();
    load_windows();
    find_spills();
    declare_phis();
    find_repairs();
    for (u32 i = 0; i < structure.flag_count; ++i)
        flags.push_back(module.local(t(Basic::Bool), module.constant_false()));
    statements(structure.first);
    if (!terminated)
        module.none(spv::Op::OpUnreachable);
    module.end_function();
    if (error)
        return tl::unexpected(*error);
    stage_modes(entry);
    static constexpr spv::ExecutionModel models[program::stage_count] = {spv::ExecutionModel::Vertex,
                                                                         spv::ExecutionModel::Fragment,
                                                                         spv::ExecutionModel::Geometry,
                                                                         spv::ExecutionModel::TessellationControl,
                                                                         spv::ExecutionModel::TessellationEvaluation,
                                                                         spv::ExecutionModel::GLCompute};
    Translation result;
    result.spirv = module.finish(models[static_cast<unsigned>(program.stage)], entry, "main");
    result.reflection = std::move(reflection);
    return result;
}

// --- values

Basic Emitter::integer_basic(Value v) const {
    switch (ir[v].type) {
    case Type::U1:
        return Basic::Bool;
    case Type::U64:
        return Basic::U64;
    case Type::U32x2:
        return Basic::U32x2;
    case Type::U32x4:
        return Basic::U32x4;
    default:
        return Basic::U32;
    }
}

Basic Emitter::float_basic(Value v) const {
    switch (ir[v].type) {
    case Type::U64:
        return Basic::F64;
    case Type::U32x2:
        return Basic::F32x2;
    case Type::U32x4:
        return Basic::F32x4;
    default:
        return Basic::F32;
    }
}

void Emitter::note_constant(Value v) {
    const Inst& inst = ir[v];
    Slot& slot = slots[v.id];
    if (slot.integer.id != 0)
        return;
    switch (inst.type) {
    case Type::U1:
        slot.integer = {inst.imm ? module.constant_true() : module.constant_false(), everywhere};
        break;
    case Type::U64:
        slot.integer = {module.constant(Basic::U64, ir.const_long(v)), everywhere};
        break;
    default:
        slot.integer = {module.constant(inst.imm), everywhere};
    }
}

void Emitter::reload(Value v) {
    Slot& slot = slots[v.id];
    slot.integer = {load(integer_basic(v), spill[v.id]), block_serial};
    slot.floating = {};
}

Id Emitter::u(Value v) {
    Slot& slot = slots[v.id];
    if (ir[v].op == Op::Const) {
        note_constant(v);
        return slot.integer.id;
    }
    if (slot.integer.valid_in == everywhere || slot.integer.valid_in == block_serial)
        return slot.integer.id;
    if (spill[v.id] != 0 && slot.floating.valid_in != block_serial) {
        reload(v);
        return slot.integer.id;
    }
    slot.integer = {bitcast(integer_basic(v), slot.floating.id), block_serial};
    return slot.integer.id;
}

Id Emitter::f(Value v) {
    Slot& slot = slots[v.id];
    if (slot.floating.valid_in == everywhere || slot.floating.valid_in == block_serial)
        return slot.floating.id;
    if (ir[v].op == Op::Const) {
        const Basic basic = float_basic(v);
        slot.floating = {module.constant(basic, basic == Basic::F64 ? ir.const_long(v) : ir[v].imm), everywhere};
        return slot.floating.id;
    }
    slot.floating = {bitcast(float_basic(v), u(v)), block_serial};
    return slot.floating.id;
}

void Emitter::define_u(Value v, Id id) {
    if (spill[v.id] != 0) {
        module.none(spv::Op::OpStore, spill[v.id], kept(v, id));
        slots[v.id].integer = {id, block_serial};
    } else {
        slots[v.id].integer = {id, everywhere};
    }
}

void Emitter::define_f(Value v, Id id) {
    if (spill[v.id] != 0)
        define_u(v, bitcast(integer_basic(v), id));
    else
        slots[v.id].floating = {id, everywhere};
}

Id Emitter::cf(f32 value) {
    return module.constant(Basic::F32, std::bit_cast<u32>(value));
}

Id Emitter::cd(f64 value) {
    return module.constant(Basic::F64, std::bit_cast<u64>(value));
}

void Emitter::refuse(Value v, const char* reason) {
    if (!error) {
        const BlockId b = home[v.id];
        error = Error{fmt::format("{} in the block at 0x{:x}: {}", ir::info(ir[v].op).text,
                                  b == ir::no_block ? 0 : ir.blocks[b].address, reason)};
    }
    // keep going with something valid
    switch (ir[v].type) {
    case Type::Void:
        break;
    default:
        define_u(v, module.constant_null(t(integer_basic(v))));
    }
}

// --- control flow

// Behind a loop with several exits the block that made a value no longer dominates the one that uses it.
void Emitter::find_spills() {
    if (structure.first == no_statement)
        return;
    bool any_loop = false;
    for (BlockId b : graph.order)
        any_loop |= graph.loop[b] != ir::no_block;
    if (!any_loop)
        return;
    const auto use = [&](Value v, BlockId in) {
        if (!v.valid() || ir.is_const(v) || spill[v.id] != 0)
            return;
        const BlockId loop = graph.loop[home[v.id]];
        if (loop != ir::no_block && !graph.in_loop(in, loop))
            spill[v.id] = module.local(t(integer_basic(v)));
    };
    for (BlockId b : graph.order) {
        const ir::Block& block = ir.blocks[b];
        for (u32 id : block.insts) {
            const Inst& inst = ir.insts[id];
            const std::span<const Value> args = ir.args(inst);
            for (std::size_t i = 0; i < args.size(); ++i)
                use(args[i], inst.op == Op::Phi ? block.predecessors[i] : b);
        }
        use(block.end.condition, b);
    }
}

void Emitter::declare_phis() {
    for (BlockId b : graph.order)
        for (u32 id : ir.blocks[b].insts) {
            if (ir.insts[id].op != Op::Phi)
                break;
            phi_variables[id] = spill[id] != 0 ? spill[id] : module.local(t(integer_basic(Value{id})));
        }
}

void Emitter::phi_copies(BlockId from, BlockId to) {
    const std::vector<BlockId>& predecessors = ir.blocks[to].predecessors;
    const auto which =
        static_cast<std::size_t>(std::find(predecessors.begin(), predecessors.end(), from) - predecessors.begin());
    std::vector<std::pair<Id, Id>> copies; // all sources are read before the first store
    for (u32 id : ir.blocks[to].insts) {
        if (ir.insts[id].op != Op::Phi)
            break;
        const Value source = ir.args(ir.insts[id])[which];
        if (source.id != id)
            copies.emplace_back(phi_variables[id],
                                leaves_loop(source, to) ? kept(source, chosen(source)) : chosen(source));
    }
    for (const auto& [variable, value] : copies)
        module.none(spv::Op::OpStore, variable, value);
}

void Emitter::begin_block(Id label) {
    module.none(spv::Op::OpLabel, label);
    current_label = label;
    terminated = false;
    ++block_serial;
}

void Emitter::branch(Id label) {
    if (!terminated)
        module.none(spv::Op::OpBranch, label);
    terminated = true;
}

void Emitter::block(BlockId b) {
    current_block = b;
    for (u32 id : ir.blocks[b].insts) {
        if (ir.insts[id].op != Op::Phi)
            instruction(Value{id});
        else if (spill[id] != 0)
            phi_of_loop(Value{id});
        else
            slots[id].integer = {load(integer_basic(Value{id}), phi_variables[id]), everywhere};
    }
}

void Emitter::statements(u32 at) {
    for (; at != no_statement && !terminated; at = structure.statements[at].next) {
        const Statement& s = structure.statements[at];
        switch (s.kind) {
        case StatementKind::Code:
            block(s.a);
            break;
        case StatementKind::PhiCopies:
            phi_copies(s.a, s.b);
            break;
        case StatementKind::If:
            conditional(b(Value{s.a}), s.child[0], s.child[1]);
            break;
        case StatementKind::IfFlag:
            conditional(load(Basic::Bool, flags[s.a]), s.child[0], no_statement);
            break;
        case StatementKind::SetFlag:
            module.none(spv::Op::OpStore, flags[s.a], s.b ? module.constant_true() : module.constant_false());
            break;
        case StatementKind::Once:
            once_statement(s);
            break;
        case StatementKind::Switch:
            switch_statement(s);
            break;
        case StatementKind::Loop:
            loop_statement(s);
            break;
        case StatementKind::Break:
            branch(constructs.back().merge);
            break;
        case StatementKind::LoopBreak:
        case StatementKind::Continue: {
            std::size_t i = constructs.size();
            while (i > 0 && !constructs[i - 1].loop)
                --i;
            if (i > 0)
                branch(s.kind == StatementKind::Continue ? constructs[i - 1].proceed : constructs[i - 1].merge);
            break;
        }
        case StatementKind::Exit:
            end_invocation();
            module.none(spv::Op::OpReturn);
            terminated = true;
            break;
        case StatementKind::Unreachable:
            module.none(spv::Op::OpReturn); // running off the end of a program ends it
            terminated = true;
            break;
        case StatementKind::Case:
            break;
        }
    }
}

void Emitter::conditional(Id condition, u32 yes, u32 no) {
    const Id merge = module.new_id();
    const Id yes_label = yes != no_statement ? module.new_id() : merge;
    const Id no_label = no != no_statement ? module.new_id() : merge;
    module.none(spv::Op::OpSelectionMerge, merge, 0u);
    if (yes_label == no_label) { // both empty
        branch(merge);
        begin_block(merge);
        return;
    }
    module.none(spv::Op::OpBranchConditional, condition, yes_label, no_label);
    bool reached = yes == no_statement || no == no_statement;
    if (yes != no_statement) {
        begin_block(yes_label);
        statements(yes);
        reached |= !terminated;
        branch(merge);
    }
    if (no != no_statement) {
        begin_block(no_label);
        statements(no);
        reached |= !terminated;
        branch(merge);
    }
    begin_block(merge);
    if (!reached) {
        module.none(spv::Op::OpUnreachable);
        terminated = true;
    }
}

void Emitter::once_statement(const Statement& s) {
    const Id merge = module.new_id(), body = module.new_id();
    module.none(spv::Op::OpSelectionMerge, merge, 0u);
    module.none(spv::Op::OpSwitch, c(0), body);
    constructs.push_back({false, merge, 0});
    begin_block(body);
    statements(s.child[0]);
    branch(merge);
    constructs.pop_back();
    begin_block(merge);
}

void Emitter::switch_statement(const Statement& s) {
    const Id merge = module.new_id();
    const Id selector = u(Value{s.a});
    std::vector<std::pair<u32, Id>> bodies;
    std::vector<u32> words{selector, 0};
    for (u32 at = s.child[0]; at != no_statement; at = structure.statements[at].next) {
        const Statement& one = structure.statements[at];
        const Id label = one.child[0] != no_statement ? module.new_id() : merge;
        if (one.b == 0)
            words[1] = label;
        for (u32 i = 0; i < one.b; ++i) {
            words.push_back(structure.case_values[one.a + i]);
            words.push_back(label);
        }
        if (label != merge)
            bodies.emplace_back(one.child[0], label);
    }
    module.none(spv::Op::OpSelectionMerge, merge, 0u);
    spirv::Module::emit(module.code, spv::Op::OpSwitch, words);
    constructs.push_back({false, merge, 0});
    for (const auto& [first, label] : bodies) {
        begin_block(label);
        statements(first);
        branch(merge);
    }
    constructs.pop_back();
    begin_block(merge);
}

void Emitter::loop_statement(const Statement& s) {
    const Id head = module.new_id(), body = module.new_id(), merge = module.new_id(), proceed = module.new_id();
    branch(head);
    begin_block(head);
    module.none(spv::Op::OpLoopMerge, merge, proceed, 0u);
    branch(body);
    constructs.push_back({true, merge, proceed});
    begin_block(body);
    statements(s.child[0]);
    branch(proceed);
    constructs.pop_back();
    begin_block(proceed);
    if (turn_zero != 0)
        module.none(spv::Op::OpStore, turn_zero, root(root_flags, Basic::U32));
    branch(head);
    begin_block(merge);
}

void Emitter::instruction(Value v) {
    const Inst& inst = ir[v];
    switch (inst.op) {
    case Op::Copy:
        define_u(v, u(arg(v, 0)));
        return;
    case Op::Extract: {
        const Value source = arg(v, 0);
        // texels stay floats if they were sampled as floats
        if (slots[source.id].floating.valid_in == everywhere)
            define_f(v, module.op(spv::Op::OpCompositeExtract, t(Basic::F32), f(source), inst.imm));
        else
            define_u(v, module.op(spv::Op::OpCompositeExtract, t(Basic::U32), u(source), inst.imm));
        return;
    }
    case Op::Select: {
        const Value yes = arg(v, 1), no = arg(v, 2);
        const auto floats = [&](Value x) { return slots[x.id].floating.valid_in != 0 && slots[x.id].integer.id == 0; };
        if (inst.type != Type::U1 && !repaired(yes) && !repaired(no) && (floats(yes) || floats(no)))
            define_f(v, select(float_basic(v), b(arg(v, 0)), f(yes), f(no)));
        else
            define_u(v, select(integer_basic(v), b(arg(v, 0)), chosen(yes), chosen(no)));
        return;
    }
    default:
        break;
    }
    if (table_operation(v, inst) || arithmetic(v, inst) || memory(v, inst) || texture(v, inst) ||
        interface_operation(v, inst) || subgroup(v, inst))
        return;
    refuse(v, "not supported by the SPIR-V emitter");
}

} // namespace heaviside::shader
