// Behind a compiler with faults (lavapipe, Mesa 25.0): forms that it compiles rightly.
#include "shader/emitter.h"

namespace heaviside::shader {

using ir::BlockId;
using ir::Op;
using ir::Type;

// `drops_added_zeros`: a choice between the bits of -1.0 and 0 becomes one between -1.0 and -0.0, that between -0.0 and
// 1.0 one between +0.0 and 1.0, whatever the bits are for. Constants are compared as floats there, so it happens to
// words that are such a constant, or will be when the compiler has computed them.
//
// `mixes_left_loops`: a value that is the same in each turn of a loop is used behind it as the last turn of the slowest
// lane computed it, for all lanes; but what it is computed from may lie in a register that a lane which left keeps for
// something else. So what leaves a loop gets a zero ored in that only turns bring about.
void Emitter::find_repairs() {
    if (options.mixes_left_loops)
        for (BlockId b : graph.order)
            if (graph.is_loop_header(b)) {
                turn_zero = module.local(t(Basic::U32), c(0));
                break;
            }
    if (!repairs_zeros)
        return;
    from_constants.assign(ir.insts.size(), 0);
    for (BlockId b : graph.order)
        for (u32 id : ir.blocks[b].insts) {
            const ir::Inst& inst = ir.insts[id];
            if (inst.op == Op::Phi || inst.count == 0 || ir::info(inst.op).effect != ir::Effect::Pure)
                continue;
            bool all = true;
            for (const Value v : ir.args(inst))
                all &= v.valid() && (is_const(v) || from_constants[v.id] != 0);
            from_constants[id] = all;
        }
}

bool Emitter::repaired(Value v) const {
    if (!repairs_zeros || (ir[v].type != Type::U32 && ir[v].type != Type::U64))
        return false;
    if (!is_const(v))
        return from_constants[v.id] != 0;
    constexpr u64 sign = u64{1} << 63, minus_one = 0xbff0'0000'0000'0000;
    if (ir[v].type == Type::U64)
        return ir.const_long(v) == sign || ir.const_long(v) == minus_one;
    return ir.const_word(v) == 0x80000000 || ir.const_word(v) == 0xbf800000;
}

Id Emitter::chosen(Value v) {
    return repaired(v) ? merged(integer_basic(v), u(v), unknown_zero()) : u(v);
}

// Never the same one twice: two values with one zero ored in are taken for a choice that has it ored in.
Id Emitter::unknown_zero() {
    const Id count = c(1 + unknown_zeros++ % 31);
    return module.op(spv::Op::OpShiftRightLogical, t(Basic::U32), root(root_flags, Basic::U32), count);
}

Id Emitter::merged(Basic basic, Id id, Id zero) {
    switch (basic) {
    case Basic::Bool: {
        const Id never = module.op(spv::Op::OpINotEqual, t(Basic::Bool), zero, c(0));
        return module.op(spv::Op::OpLogicalOr, t(Basic::Bool), id, never);
    }
    case Basic::U64:
        zero = module.op(spv::Op::OpUConvert, t(Basic::U64), zero);
        break;
    case Basic::U32x2:
        zero = module.op(spv::Op::OpCompositeConstruct, t(basic), zero, zero);
        break;
    case Basic::U32x4:
        zero = module.op(spv::Op::OpCompositeConstruct, t(basic), zero, zero, zero, zero);
        break;
    default:
        break;
    }
    return module.op(spv::Op::OpBitwiseOr, t(basic), id, zero);
}

// The phis of its header change from turn to turn, and compilers see that.
bool Emitter::in_left_loop(Value v) const {
    if (turn_zero == 0 || is_const(v) || graph.loop[home[v.id]] == ir::no_block)
        return false;
    return ir[v].op != Op::Phi || !graph.is_loop_header(home[v.id]);
}

bool Emitter::leaves_loop(Value v, BlockId to) const {
    return in_left_loop(v) && !graph.in_loop(to, graph.loop[home[v.id]]);
}

Id Emitter::kept(Value v, Id id) {
    return in_left_loop(v) ? merged(integer_basic(v), id, load(Basic::U32, turn_zero)) : id;
}

// Used behind the loop: its variable is also the one that is read there.
void Emitter::phi_of_loop(Value v) {
    reload(v);
    if (in_left_loop(v))
        module.none(spv::Op::OpStore, spill[v.id], kept(v, slots[v.id].integer.id));
}

} // namespace heaviside::shader
