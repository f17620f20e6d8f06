// Warps and groups of threads: barriers, votes, shuffles, quad arithmetic.
#include "shader/emitter.h"

#include <algorithm>

namespace heaviside::shader {

using ir::Inst;
using ir::Op;
using spv::BuiltIn;
using spv::StorageClass;

namespace {

constexpr u32 warp_size = 32;
constexpr u32 acquire_release = 0x8;
constexpr u32 uniform_memory = 0x40, workgroup_memory = 0x100, image_memory = 0x800;

} // namespace

Id Emitter::lane_id() {
    if (program.stage == Stage::Compute && options.subgroup_size != warp_size) {
        // warps are 32 threads in a row, whatever the device's subgroups are
        const Id index = builtin_input(BuiltIn::LocalInvocationIndex, Basic::U32);
        return module.op(spv::Op::OpBitwiseAnd, t(Basic::U32), index, c(warp_size - 1));
    }
    module.capability(spv::Capability::GroupNonUniform);
    return builtin_input(BuiltIn::SubgroupLocalInvocationId, Basic::U32);
}

bool Emitter::subgroup(Value v, const Inst& inst) {
    const Id scope = c(static_cast<u32>(spv::Scope::Subgroup));
    const bool one_lane = program.stage != Stage::Fragment && program.stage != Stage::Compute;
    const auto ballot_word = [&](Id condition) {
        module.capability(spv::Capability::GroupNonUniformBallot);
        const Id vector = module.op(spv::Op::OpGroupNonUniformBallot, t(Basic::U32x4), scope, condition);
        return module.op(spv::Op::OpCompositeExtract, t(Basic::U32), vector, 0u);
    };
    switch (inst.op) {
    case Op::Barrier:
        if (program.stage == Stage::TessControl)
            module.none(spv::Op::OpControlBarrier, c(static_cast<u32>(spv::Scope::Workgroup)),
                        c(static_cast<u32>(spv::Scope::Invocation)), c(0));
        else if (program.stage == Stage::Compute)
            module.none(spv::Op::OpControlBarrier, c(static_cast<u32>(spv::Scope::Workgroup)),
                        c(static_cast<u32>(spv::Scope::Workgroup)),
                        c(acquire_release | workgroup_memory | uniform_memory));
        break;
    case Op::MemoryBarrier: {
        const bool group = inst.imm == 0 && program.stage == Stage::Compute;
        module.none(spv::Op::OpMemoryBarrier, c(static_cast<u32>(group ? spv::Scope::Workgroup : spv::Scope::Device)),
                    c(acquire_release | uniform_memory | image_memory |
                      (program.stage == Stage::Compute ? workgroup_memory : 0)));
        break;
    }
    case Op::BarrierReduce:
        barrier_reduce(v, inst);
        break;
    case Op::VoteAll:
    case Op::VoteAny:
    case Op::VoteEqual: {
        const Id value = b(arg(v, 0));
        if (one_lane) {
            define_u(v, inst.op == Op::VoteEqual ? module.constant_true() : value);
            break;
        }
        if (program.stage == Stage::Compute && options.subgroup_size != warp_size) {
            warp_vote(v, inst, value);
            break;
        }
        module.capability(spv::Capability::GroupNonUniformVote);
        const spv::Op op = inst.op == Op::VoteAll   ? spv::Op::OpGroupNonUniformAll
                           : inst.op == Op::VoteAny ? spv::Op::OpGroupNonUniformAny
                                                    : spv::Op::OpGroupNonUniformAllEqual;
        define_u(v, module.op(op, t(Basic::Bool), scope, value));
        break;
    }
    case Op::Ballot: {
        const Id value = b(arg(v, 0));
        if (one_lane)
            define_u(v, select(Basic::U32, value, c(1), c(0)));
        else if (program.stage == Stage::Compute && options.subgroup_size != warp_size)
            define_u(v, warp_ballot(value));
        else
            define_u(v, ballot_word(value));
        break;
    }
    case Op::Shuffle:
    case Op::ShuffleValid:
    case Op::ShuffleSource:
        shuffle(v, inst, one_lane);
        break;
    case Op::Meet:
        meet(v);
        break;
    case Op::FSwizzleAdd: {
        // two bits per quad lane, lane 0 in bits 6-7
        const Id a = f(arg(v, 0)), b2 = f(arg(v, 1));
        const Id lane = module.op(spv::Op::OpBitwiseAnd, t(Basic::U32), lane_id(), c(3));
        const Id bit = module.op(spv::Op::OpISub, t(Basic::U32), c(6),
                                 module.op(spv::Op::OpShiftLeftLogical, t(Basic::U32), lane, c(1)));
        const Id code = module.op(spv::Op::OpBitFieldUExtract, t(Basic::U32), c(inst.imm & 0xff), bit, c(2));
        const auto is = [&](u32 value) { return module.op(spv::Op::OpIEqual, t(Basic::Bool), code, c(value)); };
        const Id minus_a = module.op(spv::Op::OpFNegate, t(Basic::F32), a);
        const Id minus_b = module.op(spv::Op::OpFNegate, t(Basic::F32), b2);
        Id left = select(Basic::F32, is(1), minus_a, a);
        left = select(Basic::F32, is(3), cf(0), left);
        const Id right = select(Basic::F32, is(2), minus_b, b2);
        define_f(v, exact(module.op(spv::Op::OpFAdd, t(Basic::F32), left, right)));
        break;
    }
    default:
        return false;
    }
    return true;
}

// SHFL: within a segment of the warp given by the mask in bits 8-12 of the third operand, clamp in bits 0-4.
Emitter::ShuffleLanes Emitter::shuffle_lanes(u32 mode, Value index, Value control) {
    const auto op = [&](spv::Op code, Id x, Id y) { return module.op(code, t(Basic::U32), x, y); };
    const Id lane = lane_id();
    const Id word = u(control);
    const Id clamp = op(spv::Op::OpBitwiseAnd, word, c(31));
    const Id segment = module.op(spv::Op::OpBitFieldUExtract, t(Basic::U32), word, c(8), c(5));
    const Id inverse = op(spv::Op::OpBitwiseAnd, module.op(spv::Op::OpNot, t(Basic::U32), segment), c(31));
    const Id by = op(spv::Op::OpBitwiseAnd, u(index), c(31));
    const Id first = op(spv::Op::OpBitwiseAnd, lane, segment);
    // highest (UP: lowest) lane that may be read
    const Id last = op(spv::Op::OpBitwiseOr, first, op(spv::Op::OpBitwiseAnd, clamp, inverse));
    Id source = 0;
    bool up = false;
    switch (mode) {
    case 0:
        source = op(spv::Op::OpBitwiseOr, op(spv::Op::OpBitwiseAnd, by, inverse), first);
        break;
    case 1:
        source = op(spv::Op::OpISub, lane, by);
        up = true;
        break;
    case 2:
        source = op(spv::Op::OpIAdd, lane, by);
        break;
    default:
        source = op(spv::Op::OpBitwiseXor, lane, by);
    }
    const Id valid =
        module.op(up ? spv::Op::OpSGreaterThanEqual : spv::Op::OpSLessThanEqual, t(Basic::Bool), source, last);
    return {op(spv::Op::OpBitwiseAnd, select(Basic::U32, valid, source, lane), c(warp_size - 1)), valid};
}

void Emitter::shuffle(Value v, const Inst& inst, bool one_lane) {
    const bool wants_valid = inst.op == Op::ShuffleValid, wants_lane = inst.op == Op::ShuffleSource;
    if (one_lane)
        return define_u(v, wants_valid ? module.constant_true() : wants_lane ? c(0) : u(arg(v, 0)));
    const Value index = arg(v, inst.count - 2u), control = arg(v, inst.count - 1u);
    // neighbours in a quad: what derivatives are made of
    if (program.stage == Stage::Fragment && inst.imm == 3 && !wants_lane && is_const(index) &&
        ir.const_word(index) >= 1 && ir.const_word(index) <= 3) {
        if (wants_valid)
            return define_u(v, module.constant_true());
        module.capability(spv::Capability::GroupNonUniformQuad);
        return define_u(v, module.op(spv::Op::OpGroupNonUniformQuadSwap, t(Basic::U32),
                                     c(static_cast<u32>(spv::Scope::Subgroup)), u(arg(v, 0)),
                                     c(ir.const_word(index) - 1)));
    }
    const ShuffleLanes lanes = shuffle_lanes(inst.imm, index, control);
    if (wants_valid || wants_lane)
        return define_u(v, wants_valid ? lanes.valid : lanes.source);
    const Id value = u(arg(v, 0));
    if (program.stage == Stage::Compute && options.subgroup_size != warp_size)
        return define_u(v, warp_read(value, lanes.source));
    module.capability(spv::Capability::GroupNonUniformShuffle);
    define_u(v, module.op(spv::Op::OpGroupNonUniformShuffle, t(Basic::U32), c(static_cast<u32>(spv::Scope::Subgroup)),
                          value, lanes.source));
}

// --- warps through shared memory, where subgroups are not 32 wide. Each thread has a word; the barriers between
// writing and reading need the whole group to come by, as the program's own warp operations do in practice.

Id Emitter::warp_words() {
    if (warp_variable == 0) {
        const u32 threads = std::max(program.workgroup_size[0], 1u) * std::max(program.workgroup_size[1], 1u) *
                            std::max(program.workgroup_size[2], 1u);
        warp_threads = (threads + warp_size - 1) / warp_size * warp_size;
        const Id array = module.make_type(spv::Op::OpTypeArray, {t(Basic::U32), c(warp_threads)});
        warp_variable = module.variable(StorageClass::Workgroup, array);
    }
    return warp_variable;
}

void Emitter::group_barrier() {
    module.none(spv::Op::OpControlBarrier, c(static_cast<u32>(spv::Scope::Workgroup)),
                c(static_cast<u32>(spv::Scope::Workgroup)), c(acquire_release | workgroup_memory));
}

Id Emitter::warp_read(Id value, Id lane) {
    const Id words = warp_words();
    const Id index = builtin_input(BuiltIn::LocalInvocationIndex, Basic::U32);
    module.none(spv::Op::OpStore, chain(StorageClass::Workgroup, t(Basic::U32), words, index), value);
    group_barrier();
    const Id base = module.op(spv::Op::OpBitwiseAnd, t(Basic::U32), index, c(~(warp_size - 1)));
    const Id from = module.op(spv::Op::OpBitwiseOr, t(Basic::U32), base, lane);
    const Id result = load(Basic::U32, chain(StorageClass::Workgroup, t(Basic::U32), words, from));
    group_barrier();
    return result;
}

// One word per warp, gathered by atomic OR.
Id Emitter::warp_ballot(Id value) {
    const Id words = warp_words();
    const Id index = builtin_input(BuiltIn::LocalInvocationIndex, Basic::U32);
    const Id warp = module.op(spv::Op::OpBitwiseAnd, t(Basic::U32), index, c(~(warp_size - 1)));
    const Id lane = module.op(spv::Op::OpBitwiseAnd, t(Basic::U32), index, c(warp_size - 1));
    const Id pointer = chain(StorageClass::Workgroup, t(Basic::U32), words, warp);
    const Id first = module.op(spv::Op::OpIEqual, t(Basic::Bool), lane, c(0));
    (void)guarded(first, 0, [&] {
        module.none(spv::Op::OpStore, pointer, c(0));
        return Id{0};
    });
    group_barrier();
    const Id bit = module.op(spv::Op::OpShiftLeftLogical, t(Basic::U32), c(1), lane);
    const Id mine = select(Basic::U32, value, bit, c(0));
    (void)module.op(spv::Op::OpAtomicOr, t(Basic::U32), pointer, c(static_cast<u32>(spv::Scope::Workgroup)), c(0),
                    mine);
    group_barrier();
    const Id result = load(Basic::U32, pointer);
    group_barrier();
    return result;
}

void Emitter::warp_vote(Value v, const Inst& inst, Id value) {
    const auto any = [&](Id word) { return module.op(spv::Op::OpINotEqual, t(Basic::Bool), word, c(0)); };
    const auto none_false = [&] {
        return module.op(spv::Op::OpLogicalNot, t(Basic::Bool),
                         any(warp_ballot(module.op(spv::Op::OpLogicalNot, t(Basic::Bool), value))));
    };
    if (inst.op == Op::VoteAny)
        return define_u(v, any(warp_ballot(value)));
    const Id all = none_false();
    if (inst.op == Op::VoteAll)
        return define_u(v, all);
    const Id some = any(warp_ballot(value));
    define_u(v, module.op(spv::Op::OpLogicalOr, t(Basic::Bool), all,
                          module.op(spv::Op::OpLogicalNot, t(Basic::Bool), some)));
}

// Each warp's lanes find the lowest state among them; those in it may go on, at a barrier if all warps have come to
// one.
void Emitter::meet(Value v) {
    if (program.stage != Stage::Compute)
        return refuse(v, "outside a compute program");
    const Id words = warp_words();
    const u32 warps = warp_threads / warp_size;
    enum Total : u32 { Arrived, Threads, Holding, total_count };
    const Id per_warp = module.make_type(spv::Op::OpTypeArray, {t(Basic::U32), c(warps)});
    const Id lowest = module.variable(StorageClass::Workgroup, per_warp);
    const Id present = module.variable(StorageClass::Workgroup, per_warp);
    const Id holding = module.variable(StorageClass::Workgroup, per_warp);
    const Id totals = module.variable(StorageClass::Workgroup,
                                      module.make_type(spv::Op::OpTypeArray, {t(Basic::U32), c(total_count)}));
    const Id state = u(arg(v, 0)), word = u(arg(v, 1)), lane_wanted = u(arg(v, 2));
    const auto op = [&](spv::Op code, Id x, Id y) { return module.op(code, t(Basic::U32), x, y); };
    const auto test = [&](spv::Op code, Id x, Id y) { return module.op(code, t(Basic::Bool), x, y); };
    const auto at = [&](Id array, Id index) { return chain(StorageClass::Workgroup, t(Basic::U32), array, index); };
    const auto store = [&](Id pointer, Id value) { module.none(spv::Op::OpStore, pointer, value); };
    const auto add = [&](spv::Op code, Id pointer, Id value) {
        (void)module.op(code, t(Basic::U32), pointer, c(static_cast<u32>(spv::Scope::Workgroup)), c(0), value);
    };
    const auto when = [&](Id condition, auto&& body) {
        (void)guarded(condition, 0, [&] {
            body();
            return Id{0};
        });
    };
    const Id index = builtin_input(BuiltIn::LocalInvocationIndex, Basic::U32);
    const Id warp = op(spv::Op::OpShiftRightLogical, index, c(5)), lane = op(spv::Op::OpBitwiseAnd, index, c(31));
    const Id bit = op(spv::Op::OpShiftLeftLogical, c(1), lane);
    const Id leads = test(spv::Op::OpIEqual, lane, c(0)), holds = test(spv::Op::OpINotEqual, word, c(0));
    group_barrier();
    store(at(words, index), word);
    when(leads, [&] {
        store(at(lowest, warp), c(~0u));
        store(at(present, warp), c(0));
        store(at(holding, warp), c(0));
    });
    when(test(spv::Op::OpIEqual, index, c(0)), [&] {
        for (u32 i = 0; i < total_count; ++i)
            store(at(totals, c(i)), c(0));
    });
    group_barrier();
    add(spv::Op::OpAtomicUMin, at(lowest, warp), state);
    group_barrier();
    const Id first = load(Basic::U32, at(lowest, warp));
    const Id over = test(spv::Op::OpIEqual, first, c(~0u));
    const Id here = module.op(spv::Op::OpLogicalAnd, t(Basic::Bool), test(spv::Op::OpIEqual, first, state),
                              module.op(spv::Op::OpLogicalNot, t(Basic::Bool), over));
    const Id barrier = test(spv::Op::OpINotEqual, op(spv::Op::OpBitwiseAnd, first, c(1)), c(0));
    constexpr u32 warp_over = 1 << 16;
    when(module.op(spv::Op::OpLogicalAnd, t(Basic::Bool), leads, barrier),
         [&] { add(spv::Op::OpAtomicIAdd, at(totals, c(Arrived)), select(Basic::U32, over, c(1 + warp_over), c(1))); });
    when(here, [&] {
        add(spv::Op::OpAtomicOr, at(present, warp), bit);
        add(spv::Op::OpAtomicOr, at(holding, warp), select(Basic::U32, holds, bit, c(0)));
        when(barrier, [&] {
            add(spv::Op::OpAtomicIAdd, at(totals, c(Threads)), c(1));
            add(spv::Op::OpAtomicIAdd, at(totals, c(Holding)), select(Basic::U32, holds, c(1), c(0)));
        });
    });
    const Id scope = c(static_cast<u32>(spv::Scope::Workgroup));
    module.none(spv::Op::OpControlBarrier, scope, scope, c(acquire_release | workgroup_memory | uniform_memory));
    const Id arrived = load(Basic::U32, at(totals, c(Arrived)));
    const Id all_over = test(spv::Op::OpIEqual, op(spv::Op::OpShiftRightLogical, arrived, c(16)), c(warps));
    const Id open =
        module.op(spv::Op::OpLogicalOr, t(Basic::Bool), module.op(spv::Op::OpLogicalNot, t(Basic::Bool), barrier),
                  test(spv::Op::OpIEqual, op(spv::Op::OpBitwiseAnd, arrived, c(warp_over - 1)), c(warps)));
    const Id goes = select(Basic::U32, module.op(spv::Op::OpLogicalAnd, t(Basic::Bool), here, open), c(1), c(0));
    const auto of = [&](Total total, Id array) {
        return select(Basic::U32, barrier, load(Basic::U32, at(totals, c(total))), load(Basic::U32, at(array, warp)));
    };
    const Id from = op(spv::Op::OpBitwiseOr, op(spv::Op::OpBitwiseAnd, index, c(~(warp_size - 1))),
                       op(spv::Op::OpBitwiseAnd, lane_wanted, c(warp_size - 1)));
    const Id heard = load(Basic::U32, at(words, from));
    const Id held = of(Holding, holding), there = of(Threads, present);
    define_u(v, module.op(spv::Op::OpCompositeConstruct, t(Basic::U32x4), select(Basic::U32, all_over, c(2), goes),
                          heard, held, there));
}

void Emitter::barrier_reduce(Value v, const Inst& inst) {
    if (program.stage != Stage::Compute)
        return refuse(v, "outside a compute program");
    if (shared_reduce == 0)
        shared_reduce = module.variable(StorageClass::Workgroup, t(Basic::U32));
    const Id scope = c(static_cast<u32>(spv::Scope::Workgroup));
    const Id value = b(arg(v, 0));
    const Id index = builtin_input(BuiltIn::LocalInvocationIndex, Basic::U32);
    const Id first = module.op(spv::Op::OpIEqual, t(Basic::Bool), index, c(0));
    group_barrier();
    (void)guarded(first, 0, [&] {
        module.none(spv::Op::OpStore, shared_reduce, c(0));
        return Id{0};
    });
    group_barrier();
    // all: how many say no
    const bool all = inst.imm == 1;
    const Id counted = all ? select(Basic::U32, value, c(0), c(1)) : select(Basic::U32, value, c(1), c(0));
    (void)module.op(spv::Op::OpAtomicIAdd, t(Basic::U32), shared_reduce, scope, c(0), counted);
    module.none(spv::Op::OpControlBarrier, scope, scope, c(acquire_release | workgroup_memory | uniform_memory));
    const Id total = load(Basic::U32, shared_reduce);
    group_barrier();
    if (inst.imm == 0)
        return define_u(v, total);
    const Id zero = module.op(spv::Op::OpIEqual, t(Basic::Bool), total, c(0));
    define_u(v, all ? select(Basic::U32, zero, c(~0u), c(0)) : select(Basic::U32, zero, c(0), c(~0u)));
}

} // namespace heaviside::shader
