// Constant banks, global memory through the memory map, shared and local memory, atomics.
#include "shader/emitter.h"

#include <algorithm>

namespace heaviside::shader {

using ir::AtomicOp;
using ir::AtomicType;
using ir::Inst;
using ir::MemorySize;
using ir::Op;
using spv::StorageClass;

namespace {

constexpr u32 bank_vectors = 4096; // 64 KiB

u32 bytes_of(MemorySize size) {
    static constexpr u32 bytes[] = {1, 1, 2, 2, 4, 8, 16};
    return bytes[static_cast<unsigned>(size)];
}
u32 words_of(MemorySize size) {
    return size == MemorySize::B128 ? 4 : size == MemorySize::B64 ? 2 : 1;
}
bool is_part(MemorySize size) {
    return size < MemorySize::B32;
}
MemorySize size_of(const Inst& inst) {
    return static_cast<MemorySize>(std::min(inst.mods & 7, 6u));
}
Basic vector_basic(u32 words) {
    return words == 4 ? Basic::U32x4 : words == 2 ? Basic::U32x2 : Basic::U32;
}

} // namespace

bool Emitter::memory(Value v, const Inst& inst) {
    switch (inst.op) {
    case Op::LoadBank:
        load_bank(v, inst);
        break;
    case Op::LoadGlobal:
        reflection.reads_global = true;
        load_global(v, inst);
        break;
    case Op::StoreGlobal:
        reflection.writes_global = true;
        store_global(v, inst);
        break;
    case Op::AtomicGlobal:
        reflection.reads_global = reflection.writes_global = true;
        atomic_global(v, inst);
        break;
    case Op::LoadShared:
        load_array(v, inst, StorageClass::Workgroup);
        break;
    case Op::StoreShared:
        store_array(inst, StorageClass::Workgroup);
        break;
    case Op::AtomicShared:
        atomic_shared(v, inst);
        break;
    case Op::LoadLocal:
        load_array(v, inst, StorageClass::Private);
        break;
    case Op::StoreLocal:
        store_array(inst, StorageClass::Private);
        break;
    default:
        return false;
    }
    return true;
}

// --- constant banks

Id Emitter::root(u32 member, Basic type) {
    if (root_variable == 0) {
        static constexpr Basic members[] = {Basic::U32x2, Basic::F32, Basic::U32, Basic::F32, Basic::F32, Basic::U32,
                                            Basic::U32,   Basic::U32, Basic::U32, Basic::U32, Basic::U32, Basic::F32,
                                            Basic::F32,   Basic::F32, Basic::F32, Basic::F32, Basic::F32};
        static constexpr u32 offsets[] = {offsetof(RootConstants, bank_table),
                                          offsetof(RootConstants, y_direction),
                                          offsetof(RootConstants, viewport),
                                          offsetof(RootConstants, point_size),
                                          offsetof(RootConstants, alpha_reference),
                                          offsetof(RootConstants, base_vertex),
                                          offsetof(RootConstants, base_instance),
                                          offsetof(RootConstants, workgroups),
                                          offsetof(RootConstants, workgroups) + 4,
                                          offsetof(RootConstants, workgroups) + 8,
                                          offsetof(RootConstants, flags),
                                          offsetof(RootConstants, outer_levels),
                                          offsetof(RootConstants, outer_levels) + 4,
                                          offsetof(RootConstants, outer_levels) + 8,
                                          offsetof(RootConstants, outer_levels) + 12,
                                          offsetof(RootConstants, inner_levels),
                                          offsetof(RootConstants, inner_levels) + 4};
        std::vector<Id> types;
        for (Basic m : members)
            types.push_back(t(m));
        const Id block = module.make_struct(types);
        module.decorate(block, spv::Decoration::Block);
        for (u32 i = 0; i < std::size(offsets); ++i)
            module.decorate_member(block, i, spv::Decoration::Offset, {offsets[i]});
        root_variable = module.variable(StorageClass::PushConstant, block);
    }
    return load(type, chain(StorageClass::PushConstant, t(type), root_variable, c(member)));
}

BankUse& Emitter::bank_use(u8 bank) {
    for (BankUse& use : reflection.banks)
        if (use.bank == bank)
            return use;
    reflection.banks.push_back({});
    reflection.banks.back().bank = bank;
    return reflection.banks.back();
}

// 0: the stage's bindings are used up.
Id Emitter::bank_variable(u8 bank) {
    if (bank_variables[bank] != 0)
        return bank_variables[bank];
    const banks::Quota quota = banks::quota(program.stage);
    u32 used = 0;
    for (Id id : bank_variables)
        used += id != 0;
    if (used >= quota.count)
        return 0;
    if (bank_block == 0) {
        const Id array = module.make_type(spv::Op::OpTypeArray, {t(Basic::U32x4), c(bank_vectors)});
        module.decorate(array, spv::Decoration::ArrayStride, {16});
        bank_block = module.make_struct(std::array{array});
        module.decorate(bank_block, spv::Decoration::Block);
        module.decorate_member(bank_block, 0, spv::Decoration::Offset, {0});
    }
    const Id id = module.variable(StorageClass::Uniform, bank_block);
    module.decorate(id, spv::Decoration::DescriptorSet, {banks::set});
    module.decorate(id, spv::Decoration::Binding, {quota.first + used});
    bank_use(bank).binding = quota.first + used;
    return bank_variables[bank] = id;
}

Id Emitter::bank_word_by_address(u8 bank, Id offset) {
    bank_use(bank).by_address = true;
    module.capability(spv::Capability::PhysicalStorageBufferAddresses);
    const Id table = bitcast(Basic::U64, root(0, Basic::U32x2));
    const u64 entry = (static_cast<u64>(program.stage) * banks::count + bank) * sizeof(BankAddress);
    const Id at = module.op(spv::Op::OpIAdd, t(Basic::U64), table, module.constant(Basic::U64, entry));
    const Id row = module.op(spv::Op::OpLoad, t(Basic::U32x4), device_pointer(Basic::U32x4, at), 2u, 16u);
    const Id size = module.op(spv::Op::OpCompositeExtract, t(Basic::U32), row, 2u);
    const Id inside = module.op(spv::Op::OpULessThan, t(Basic::Bool), offset, size);
    return guarded(inside, t(Basic::U32), [&] {
        const Id low = module.op(spv::Op::OpVectorShuffle, t(Basic::U32x2), row, row, 0u, 1u);
        const Id base = bitcast(Basic::U64, low);
        const Id wide = module.op(spv::Op::OpUConvert, t(Basic::U64), offset);
        const Id address = module.op(spv::Op::OpIAdd, t(Basic::U64), base, wide);
        return module.op(spv::Op::OpLoad, t(Basic::U32), device_pointer(Basic::U32, address), 2u, 4u);
    });
}

void Emitter::load_bank(Value v, const Inst& inst) {
    const auto bank = static_cast<u8>(inst.imm);
    const Value offset = arg(v, 0);
    if (inst.imm >= banks::count)
        return refuse(v, "constant bank beyond c[17]");
    if (is_const(offset)) {
        const u32 at = ir.const_word(offset) & ~3u;
        if (at >= bank_vectors * 16)
            return define_u(v, c(0));
        const u32 axis = (at - program.layout->workgroup_count) / 4;
        if (program.stage == Stage::Compute && bank == 0 && at >= program.layout->workgroup_count && axis < 3) {
            const Id groups = builtin_input(spv::BuiltIn::NumWorkgroups, Basic::U32x3);
            return define_u(v, module.op(spv::Op::OpCompositeExtract, t(Basic::U32), groups, axis));
        }
        BankUse& use = bank_use(bank);
        use.size = std::max(use.size, at + 4);
        const Id variable = bank_variable(bank);
        if (variable == 0)
            return define_u(v, bank_word_by_address(bank, c(at)));
        const Id pointer = chain(StorageClass::Uniform, t(Basic::U32), variable, c(0), c(at / 16), c(at / 4 % 4));
        return define_u(v, load(Basic::U32, pointer));
    }
    bank_use(bank).size = bank_vectors * 16;
    const Id at = u(offset);
    const Id variable = options.indexed_banks_by_address ? 0 : bank_variable(bank);
    if (variable == 0)
        return define_u(v, bank_word_by_address(bank, module.op(spv::Op::OpBitwiseAnd, t(Basic::U32), at, c(~3u))));
    const Id inside = module.op(spv::Op::OpULessThan, t(Basic::Bool), at, c(bank_vectors * 16));
    const Id vector = module.op(spv::Op::OpBitFieldUExtract, t(Basic::U32), at, c(4), c(12));
    const Id component = module.op(spv::Op::OpBitFieldUExtract, t(Basic::U32), at, c(2), c(2));
    const Id word = load(Basic::U32, chain(StorageClass::Uniform, t(Basic::U32), variable, c(0), vector, component));
    define_u(v, select(Basic::U32, inside, word, c(0)));
}

// --- global memory

Id Emitter::device_pointer(Basic pointee, Id device_address) {
    Id type = 0;
    for (const Physical& p : physical_pointers)
        if (p.basic == pointee)
            type = p.type;
    if (type == 0) {
        module.capability(spv::Capability::PhysicalStorageBufferAddresses);
        type = module.pointer(StorageClass::PhysicalStorageBuffer, t(pointee));
        physical_pointers.push_back({pointee, type});
    }
    return module.op(spv::Op::OpConvertUToPtr, type, device_address);
}

// u64 locate(u64 guest, u32 bytes): the device address, 0 if no range holds all of it. Binary search.
Id Emitter::locate_function() {
    if (locate_id != 0)
        return locate_id;
    const Id u64_type = t(Basic::U64), u32_type = t(Basic::U32), bool_type = t(Basic::Bool);
    const Id range = module.make_struct(std::array{u64_type, u64_type, u64_type});
    for (u32 i = 0; i < 3; ++i)
        module.decorate_member(range, i, spv::Decoration::Offset, {i * 8});
    const Id ranges = module.make_type(spv::Op::OpTypeRuntimeArray, {range});
    module.decorate(ranges, spv::Decoration::ArrayStride, {sizeof(MemoryRange)});
    const Id map = module.make_struct(std::array{u32_type, u32_type, ranges});
    module.decorate(map, spv::Decoration::Block);
    module.decorate_member(map, 0, spv::Decoration::Offset, {0});
    module.decorate_member(map, 1, spv::Decoration::Offset, {4});
    module.decorate_member(map, 2, spv::Decoration::Offset, {8});
    for (u32 i = 0; i < 3; ++i)
        module.decorate_member(map, i, spv::Decoration::NonWritable);
    map_variable = module.variable(StorageClass::StorageBuffer, map);
    module.decorate(map_variable, spv::Decoration::DescriptorSet, {heap::set});
    module.decorate(map_variable, spv::Decoration::Binding, {heap::memory_map});

    const auto field = [&](Id index, u32 member) {
        return load(Basic::U64, chain(StorageClass::StorageBuffer, u64_type, map_variable, c(2), index, c(member)));
    };
    const Id type = module.function_type(u64_type, std::array{u64_type, u32_type});
    locate_id = module.begin_function(u64_type, type);
    const Id guest = module.new_id(), bytes = module.new_id();
    module.parameter(u64_type, guest);
    module.parameter(u32_type, bytes);
    current_label = module.start_body();
    terminated = false;
    ++block_serial;
    const Id low = module.local(u32_type), high = module.local(u32_type), result = module.local(u64_type);
    const Id count = load(Basic::U32, chain(StorageClass::StorageBuffer, u32_type, map_variable, c(0)));
    module.none(spv::Op::OpStore, low, c(0));
    module.none(spv::Op::OpStore, high, count);
    module.none(spv::Op::OpStore, result, module.constant(Basic::U64, 0));
    const Id head = module.new_id(), test = module.new_id(), body = module.new_id(), here = module.new_id(),
             elsewhere = module.new_id(), proceed = module.new_id(), merge = module.new_id();
    branch(head);
    begin_block(head);
    module.none(spv::Op::OpLoopMerge, merge, proceed, 0u);
    branch(test);
    begin_block(test);
    const Id l = load(Basic::U32, low), h = load(Basic::U32, high);
    module.none(spv::Op::OpBranchConditional, module.op(spv::Op::OpULessThan, bool_type, l, h), body, merge);
    begin_block(body);
    const Id sum = module.op(spv::Op::OpIAdd, u32_type, l, h);
    const Id middle = module.op(spv::Op::OpShiftRightLogical, u32_type, sum, c(1));
    const Id start = field(middle, 0), size = field(middle, 1);
    const Id offset = module.op(spv::Op::OpISub, u64_type, guest, start); // huge in front of the range
    const Id within = module.op(spv::Op::OpULessThan, bool_type, offset, size);
    module.none(spv::Op::OpSelectionMerge, elsewhere, 0u);
    module.none(spv::Op::OpBranchConditional, within, here, elsewhere);
    begin_block(here);
    const Id room = module.op(spv::Op::OpISub, u64_type, size, offset);
    const Id fits =
        module.op(spv::Op::OpUGreaterThanEqual, bool_type, room, module.op(spv::Op::OpUConvert, u64_type, bytes));
    const Id device = module.op(spv::Op::OpIAdd, u64_type, field(middle, 2), offset);
    module.none(spv::Op::OpStore, result, select(Basic::U64, fits, device, module.constant(Basic::U64, 0)));
    branch(merge);
    begin_block(elsewhere);
    const Id below = module.op(spv::Op::OpULessThanEqual, bool_type, start, guest);
    const Id next = module.op(spv::Op::OpIAdd, u32_type, middle, c(1));
    module.none(spv::Op::OpStore, low, select(Basic::U32, below, next, l));
    module.none(spv::Op::OpStore, high, select(Basic::U32, below, h, middle));
    branch(proceed);
    begin_block(proceed);
    branch(head);
    begin_block(merge);
    module.none(spv::Op::OpReturnValue, load(Basic::U64, result));
    module.end_function();
    return locate_id;
}

Id Emitter::locate(Id guest_address, u32 bytes) {
    return module.op(spv::Op::OpFunctionCall, t(Basic::U64), locate_function(), guest_address, c(bytes));
}

Id Emitter::extend_part(Id word, Id byte, MemorySize size) {
    const Id bit = module.op(spv::Op::OpShiftLeftLogical, t(Basic::U32), byte, c(3));
    const bool is_signed = size == MemorySize::S8 || size == MemorySize::S16;
    return module.op(is_signed ? spv::Op::OpBitFieldSExtract : spv::Op::OpBitFieldUExtract, t(Basic::U32), word, bit,
                     c(bytes_of(size) * 8));
}

void Emitter::load_global(Value v, const Inst& inst) {
    const MemorySize size = size_of(inst);
    const u32 bytes = std::max(bytes_of(size), 4u);
    const Place at = place(v, bytes);
    const Basic basic = vector_basic(words_of(size));
    const Id value = guarded(at.found, t(basic), [&] {
        return module.op(spv::Op::OpLoad, t(basic), device_pointer(basic, at.device), 2u, bytes);
    });
    if (!is_part(size))
        return define_u(v, value);
    const Id low = module.op(spv::Op::OpUConvert, t(Basic::U32), u(arg(v, 0)));
    const Id byte = module.op(spv::Op::OpBitwiseAnd, t(Basic::U32), low, c(4 - bytes_of(size)));
    define_u(v, extend_part(value, byte, size));
}

void Emitter::store_global(Value v, const Inst& inst) {
    const MemorySize size = size_of(inst);
    const u32 bytes = std::max(bytes_of(size), 4u), words = words_of(size);
    const std::span<const Value> args = ir.args(inst);
    if (args.size() < 1 + words) {
        error = Error{"store_global: too few operands"};
        return;
    }
    const Id guest = is_part(size) ? u(args[0]) : 0; // views are made outside the branch
    Id value = u(args[1]);
    if (words > 1) {
        std::vector<u32> parts;
        for (u32 i = 0; i < words; ++i)
            parts.push_back(u(args[1 + i]));
        value = module.op(spv::Op::OpCompositeConstruct, t(vector_basic(words)), std::span<const u32>(parts));
    }
    const Place at = place(v, bytes);
    (void)guarded(at.found, 0, [&] {
        const Basic basic = vector_basic(words);
        const Id pointer = device_pointer(basic, at.device);
        if (!is_part(size)) {
            module.none(spv::Op::OpStore, pointer, value, 2u, bytes);
            return Id{0};
        }
        // a part of a word: cleared and set atomically, so that neighbours' bytes survive
        const Id low = module.op(spv::Op::OpUConvert, t(Basic::U32), guest);
        const Id byte = module.op(spv::Op::OpBitwiseAnd, t(Basic::U32), low, c(4 - bytes_of(size)));
        const Id bit = module.op(spv::Op::OpShiftLeftLogical, t(Basic::U32), byte, c(3));
        const u32 mask = bytes_of(size) == 1 ? 0xffu : 0xffffu;
        const Id part = module.op(spv::Op::OpBitwiseAnd, t(Basic::U32), value, c(mask));
        const Id set = module.op(spv::Op::OpShiftLeftLogical, t(Basic::U32), part, bit);
        const Id clear = module.op(spv::Op::OpNot, t(Basic::U32),
                                   module.op(spv::Op::OpShiftLeftLogical, t(Basic::U32), c(mask), bit));
        const Id scope = c(static_cast<u32>(spv::Scope::Device));
        (void)module.op(spv::Op::OpAtomicAnd, t(Basic::U32), pointer, scope, c(0), clear);
        (void)module.op(spv::Op::OpAtomicOr, t(Basic::U32), pointer, scope, c(0), set);
        return Id{0};
    });
}

// --- atomics

template <class Next>
Id Emitter::exchange_loop(Cell cell, Basic basic, Id scope, Next&& next) {
    const Basic held = cell.shift != 0 ? Basic::U64 : basic;
    const Id relaxed = c(0), seen = module.local(t(basic));
    const Id head = module.new_id(), body = module.new_id(), proceed = module.new_id(), merge = module.new_id();
    branch(head);
    begin_block(head);
    module.none(spv::Op::OpLoopMerge, merge, proceed, 0u);
    branch(body);
    begin_block(body);
    const Id whole = module.op(spv::Op::OpAtomicLoad, t(held), cell.pointer, scope, relaxed);
    const auto op = [&](spv::Op code, Id x, Id y) { return module.op(code, t(held), x, y); };
    Id old = whole;
    if (cell.shift != 0)
        old = module.op(spv::Op::OpUConvert, t(basic), op(spv::Op::OpShiftRightLogical, whole, cell.shift));
    Id wanted = next(old);
    if (cell.shift != 0) {
        const Id mask = op(spv::Op::OpShiftLeftLogical, module.constant(held, 0xffffffff), cell.shift);
        const Id moved = op(spv::Op::OpShiftLeftLogical, module.op(spv::Op::OpUConvert, t(held), wanted), cell.shift);
        wanted =
            op(spv::Op::OpBitwiseOr, moved, op(spv::Op::OpBitwiseAnd, whole, module.op(spv::Op::OpNot, t(held), mask)));
    }
    const Id got =
        module.op(spv::Op::OpAtomicCompareExchange, t(held), cell.pointer, scope, relaxed, relaxed, wanted, whole);
    module.none(spv::Op::OpStore, seen, old);
    const Id done = module.op(spv::Op::OpIEqual, t(Basic::Bool), got, whole);
    module.none(spv::Op::OpBranchConditional, done, merge, proceed);
    begin_block(proceed);
    branch(head);
    begin_block(merge);
    return load(basic, seen);
}

Id Emitter::atomic(Value v, Cell cell, AtomicOp op, AtomicType type, std::span<const Value> operands,
                   spv::Scope scope_value) {
    const bool wide = type == AtomicType::U64 || type == AtomicType::S64;
    const Basic basic = wide ? Basic::U64 : Basic::U32;
    const Id scope = c(static_cast<u32>(scope_value)), relaxed = c(0);
    if (operands.empty() || (op == AtomicOp::CompareExchange && operands.size() < 2)) {
        refuse(v, "atomic without operands");
        return 0;
    }
    if (wide || cell.shift != 0)
        module.capability(spv::Capability::Int64Atomics);
    const auto loop = [&](auto&& next) { return exchange_loop(cell, basic, scope, next); };
    const Id value = u(operands[0]);
    if (op == AtomicOp::CompareExchange) {
        const Id replacement = u(operands[1]);
        if (cell.shift == 0)
            return module.op(spv::Op::OpAtomicCompareExchange, t(basic), cell.pointer, scope, relaxed, relaxed,
                             replacement, value);
        return loop([&](Id old) {
            return select(basic, module.op(spv::Op::OpIEqual, t(Basic::Bool), old, value), replacement, old);
        });
    }
    if (op == AtomicOp::Exchange) {
        if (cell.shift == 0)
            return module.op(spv::Op::OpAtomicExchange, t(basic), cell.pointer, scope, relaxed, value);
        return loop([&](Id) { return value; });
    }
    // Float forms are all .FTZ, and a NaN is the machine's own.
    if (type == AtomicType::F32) {
        if (op != AtomicOp::Add) {
            refuse(v, "float atomics other than add");
            return 0;
        }
        const Id term = flushed(f(operands[0]));
        return loop([&](Id old) {
            const Id sum = exact(module.op(spv::Op::OpFAdd, t(Basic::F32), flushed(bitcast(Basic::F32, old)), term));
            const Id word = bitcast(Basic::U32, flushed(sum));
            const Id magnitude = module.op(spv::Op::OpBitwiseAnd, t(Basic::U32), word, c(0x7fffffff));
            const Id nan = module.op(spv::Op::OpUGreaterThan, t(Basic::Bool), magnitude, c(0x7f800000));
            return select(Basic::U32, nan, c(0x7fffffff), word);
        });
    }
    if (type == AtomicType::F16x2) {
        if (op != AtomicOp::Add) {
            refuse(v, "half atomics other than add");
            return 0;
        }
        const u32 mods = ir::float_mods(ir::Rounding::Nearest, true);
        const auto half = [&](Id pair, u32 first) {
            return module.op(spv::Op::OpBitFieldUExtract, t(Basic::U32), pair, c(first), c(16));
        };
        return loop([&](Id old) {
            Id result = 0;
            for (const u32 first : {0u, 16u}) {
                const Id sum = exact(module.op(spv::Op::OpFAdd, t(Basic::F32), half_value(half(old, first), true),
                                               half_value(half(value, first), true)));
                Id bits = half_bits(sum, mods);
                const Id magnitude = module.op(spv::Op::OpBitwiseAnd, t(Basic::U32), bits, c(0x7fff));
                const Id nan = module.op(spv::Op::OpUGreaterThan, t(Basic::Bool), magnitude, c(0x7c00));
                bits = select(Basic::U32, nan, c(0x7fff), bits);
                result = first == 0
                             ? bits
                             : module.op(spv::Op::OpBitFieldInsert, t(Basic::U32), result, bits, c(first), c(16));
            }
            return result;
        });
    }
    const bool is_signed = type == AtomicType::S32 || type == AtomicType::S64;
    if (op == AtomicOp::Inc || op == AtomicOp::Dec || cell.shift != 0) {
        const auto two = [&](spv::Op code, Id x, Id y) { return module.op(code, t(basic), x, y); };
        return loop([&](Id old) {
            const Id zero = module.constant(basic, 0), one = module.constant(basic, 1);
            switch (op) {
            case AtomicOp::Inc: {
                const Id wraps = module.op(spv::Op::OpUGreaterThanEqual, t(Basic::Bool), old, value);
                return select(basic, wraps, zero, two(spv::Op::OpIAdd, old, one));
            }
            case AtomicOp::Dec: {
                const Id at_zero = module.op(spv::Op::OpIEqual, t(Basic::Bool), old, zero);
                const Id above = module.op(spv::Op::OpUGreaterThan, t(Basic::Bool), old, value);
                const Id wraps = module.op(spv::Op::OpLogicalOr, t(Basic::Bool), at_zero, above);
                return select(basic, wraps, value, two(spv::Op::OpISub, old, one));
            }
            case AtomicOp::Min:
                return module.ext(is_signed ? GLSLstd450SMin : GLSLstd450UMin, t(basic), {old, value});
            case AtomicOp::Max:
                return module.ext(is_signed ? GLSLstd450SMax : GLSLstd450UMax, t(basic), {old, value});
            case AtomicOp::And:
                return two(spv::Op::OpBitwiseAnd, old, value);
            case AtomicOp::Or:
                return two(spv::Op::OpBitwiseOr, old, value);
            case AtomicOp::Xor:
                return two(spv::Op::OpBitwiseXor, old, value);
            default:
                return two(spv::Op::OpIAdd, old, value);
            }
        });
    }
    static constexpr spv::Op unsigned_ops[] = {spv::Op::OpAtomicIAdd, spv::Op::OpAtomicUMin, spv::Op::OpAtomicUMax,
                                               spv::Op::OpNop,        spv::Op::OpNop,        spv::Op::OpAtomicAnd,
                                               spv::Op::OpAtomicOr,   spv::Op::OpAtomicXor};
    spv::Op code = unsigned_ops[static_cast<unsigned>(op) & 7];
    if (is_signed && op == AtomicOp::Min)
        code = spv::Op::OpAtomicSMin;
    if (is_signed && op == AtomicOp::Max)
        code = spv::Op::OpAtomicSMax;
    return module.op(code, t(basic), cell.pointer, scope, relaxed, value);
}

void Emitter::atomic_global(Value v, const Inst& inst) {
    const auto op = static_cast<AtomicOp>(inst.mods & 15);
    const auto type = static_cast<AtomicType>(inst.mods >> 4 & 7);
    const bool wide = type == AtomicType::U64 || type == AtomicType::S64;
    const Basic basic = wide ? Basic::U64 : Basic::U32;
    const u32 bytes = wide ? 8 : 4;
    const std::span<const Value> args = ir.args(inst);
    for (Value operand : args)
        (void)u(operand); // views are made outside the branch
    const Place at = place(v, bytes);
    const Id old = guarded(at.found, t(basic), [&] {
        return atomic(v, {device_pointer(basic, at.device)}, op, type, args.subspan(1), spv::Scope::Device);
    });
    if (!error)
        define_u(v, old);
}

void Emitter::atomic_shared(Value v, const Inst& inst) {
    const auto op = static_cast<AtomicOp>(inst.mods & 15);
    const auto type = static_cast<AtomicType>(inst.mods >> 4 & 7);
    const bool wide = type == AtomicType::U64 || type == AtomicType::S64;
    const std::span<const Value> args = ir.args(inst);
    const Id index = module.op(spv::Op::OpShiftRightLogical, t(Basic::U32), u(args[0]), c(2));
    Cell cell = shared_cell(index);
    if (wide)
        cell.shift = 0;
    const Id old = atomic(v, cell, op, type, args.subspan(1), spv::Scope::Workgroup);
    if (!error)
        define_u(v, old);
}

// --- shared and local memory: arrays of words

Id Emitter::shared_variable() {
    if (program.stage != Stage::Compute && !error)
        error = Error{"shared memory outside a compute program"};
    if (shared_id == 0) {
        for (ir::BlockId b : graph.order)
            for (u32 id : ir.blocks[b].insts) {
                const auto type = static_cast<AtomicType>(ir.insts[id].mods >> 4 & 7);
                shared_wide |=
                    ir.insts[id].op == Op::AtomicShared && (type == AtomicType::U64 || type == AtomicType::S64);
            }
        shared_words = std::max((program.shared_bytes + 7) / 8 * 2, 2u);
        const Id array = shared_wide ? module.make_type(spv::Op::OpTypeArray, {t(Basic::U64), c(shared_words / 2)})
                                     : module.make_type(spv::Op::OpTypeArray, {t(Basic::U32), c(shared_words)});
        shared_id = module.variable(StorageClass::Workgroup, array);
    }
    return shared_id;
}

Id Emitter::local_variable() {
    if (local_id == 0) {
        u32 bytes = std::max(program.local_bytes, header.local_memory_low + header.local_memory_high);
        if (bytes == 0)
            bytes = 1024; // the containers do not say
        local_words = (bytes + 3) / 4;
        const Id array = module.make_type(spv::Op::OpTypeArray, {t(Basic::U32), c(local_words)});
        local_id = module.variable(StorageClass::Private, array);
    }
    return local_id;
}

// Beyond the array: the last word (never foreign memory).
Id Emitter::array_word(StorageClass storage, Id index) {
    const Id base = storage == StorageClass::Workgroup ? shared_variable() : local_variable();
    const u32 words = storage == StorageClass::Workgroup ? shared_words : local_words;
    const Id safe = module.ext(GLSLstd450UMin, t(Basic::U32), {index, c(words - 1)});
    return chain(storage, t(Basic::U32), base, safe);
}

// A word of shared memory. SPIR-V's atomics need a pointer of their own size, so that memory with 64-bit atomics is an
// array of 64-bit words and its 32-bit words are halves of those.
Emitter::Cell Emitter::shared_cell(Id word_index) {
    const Id base = shared_variable(); // says whether it is wide
    if (!shared_wide)
        return {array_word(StorageClass::Workgroup, word_index)};
    const Id safe = module.ext(GLSLstd450UMin, t(Basic::U32), {word_index, c(shared_words - 1)});
    const Id pair = module.op(spv::Op::OpShiftRightLogical, t(Basic::U32), safe, c(1));
    const Id half = module.op(spv::Op::OpBitwiseAnd, t(Basic::U32), safe, c(1));
    return {chain(StorageClass::Workgroup, t(Basic::U64), base, pair),
            module.op(spv::Op::OpShiftLeftLogical, t(Basic::U32), half, c(5))};
}

void Emitter::load_array(Value v, const Inst& inst, StorageClass storage) {
    const MemorySize size = size_of(inst);
    if (storage == StorageClass::Workgroup)
        (void)shared_variable();
    const Id address = u(arg(v, 0));
    const Id first = module.op(spv::Op::OpShiftRightLogical, t(Basic::U32), address, c(2));
    const u32 count = words_of(size);
    std::vector<u32> parts;
    for (u32 i = 0; i < count; ++i) {
        const Id index = i == 0 ? first : module.op(spv::Op::OpIAdd, t(Basic::U32), first, c(i));
        if (storage == StorageClass::Workgroup && shared_wide) {
            const Cell cell = shared_cell(index);
            const Id shifted =
                module.op(spv::Op::OpShiftRightLogical, t(Basic::U64), load(Basic::U64, cell.pointer), cell.shift);
            parts.push_back(module.op(spv::Op::OpUConvert, t(Basic::U32), shifted));
        } else {
            parts.push_back(load(Basic::U32, array_word(storage, index)));
        }
    }
    if (count > 1)
        return define_u(v,
                        module.op(spv::Op::OpCompositeConstruct, t(vector_basic(count)), std::span<const u32>(parts)));
    if (!is_part(size))
        return define_u(v, parts[0]);
    const Id byte = module.op(spv::Op::OpBitwiseAnd, t(Basic::U32), address, c(4 - bytes_of(size)));
    define_u(v, extend_part(parts[0], byte, size));
}

void Emitter::store_array(const Inst& inst, StorageClass storage) {
    const MemorySize size = size_of(inst);
    const std::span<const Value> args = ir.args(inst);
    const u32 count = words_of(size);
    if (args.size() < 1 + count) {
        error = Error{"store: too few operands"};
        return;
    }
    if (storage == StorageClass::Workgroup)
        (void)shared_variable();
    const auto word_of = [&](Value v) { return storage == StorageClass::Private ? stored(v) : u(v); };
    const Id address = u(args[0]);
    const Id first = module.op(spv::Op::OpShiftRightLogical, t(Basic::U32), address, c(2));
    if (storage == StorageClass::Workgroup && shared_wide) {
        const Id scope = c(static_cast<u32>(spv::Scope::Workgroup));
        module.capability(spv::Capability::Int64Atomics);
        const Id byte =
            module.op(spv::Op::OpBitwiseAnd, t(Basic::U32), address, c(is_part(size) ? 4 - bytes_of(size) : 0));
        const Id bit = module.op(spv::Op::OpShiftLeftLogical, t(Basic::U32), byte, c(3));
        for (u32 i = 0; i < count; ++i) {
            const Id value = u(args[1 + i]);
            (void)exchange_loop(shared_cell(module.op(spv::Op::OpIAdd, t(Basic::U32), first, c(i))), Basic::U32, scope,
                                [&](Id old) {
                                    return is_part(size) ? module.op(spv::Op::OpBitFieldInsert, t(Basic::U32), old,
                                                                     value, bit, c(bytes_of(size) * 8))
                                                         : value;
                                });
        }
        return;
    }
    if (is_part(size)) {
        const Id pointer = array_word(storage, first);
        const Id byte = module.op(spv::Op::OpBitwiseAnd, t(Basic::U32), address, c(4 - bytes_of(size)));
        const Id bit = module.op(spv::Op::OpShiftLeftLogical, t(Basic::U32), byte, c(3));
        const u32 bits = bytes_of(size) * 8;
        if (storage == StorageClass::Workgroup) {
            const Id mask = module.op(spv::Op::OpShiftLeftLogical, t(Basic::U32), c((1u << bits) - 1), bit);
            const Id part = module.op(spv::Op::OpBitwiseAnd, t(Basic::U32), u(args[1]), c((1u << bits) - 1));
            const Id set = module.op(spv::Op::OpShiftLeftLogical, t(Basic::U32), part, bit);
            const Id scope = c(static_cast<u32>(spv::Scope::Workgroup));
            const Id clear = module.op(spv::Op::OpNot, t(Basic::U32), mask);
            (void)module.op(spv::Op::OpAtomicAnd, t(Basic::U32), pointer, scope, c(0), clear);
            (void)module.op(spv::Op::OpAtomicOr, t(Basic::U32), pointer, scope, c(0), set);
            return;
        }
        const Id old = load(Basic::U32, pointer);
        const Id word = module.op(spv::Op::OpBitFieldInsert, t(Basic::U32), old, word_of(args[1]), bit, c(bits));
        module.none(spv::Op::OpStore, pointer, word);
        return;
    }
    for (u32 i = 0; i < count; ++i) {
        const Id index = i == 0 ? first : module.op(spv::Op::OpIAdd, t(Basic::U32), first, c(i));
        module.none(spv::Op::OpStore, array_word(storage, index), word_of(args[1 + i]));
    }
}

} // namespace heaviside::shader
