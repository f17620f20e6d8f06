// Constant, local, shared and global memory, atomics and fences.
#include "shader/interface.h"
#include "shader/lift_context.h"

#include <array>

namespace heaviside::shader::lifting {
namespace {

using ir::MemorySize;
using maxwell::DataType;

struct Access {
    MemorySize size = MemorySize::B32;
    u32 words = 1;
};

Access access(Lifter& l, DataType type) {
    switch (type) {
    case DataType::U8:
        return {MemorySize::U8, 1};
    case DataType::S8:
        return {MemorySize::S8, 1};
    case DataType::U16:
        return {MemorySize::U16, 1};
    case DataType::S16:
        return {MemorySize::S16, 1};
    case DataType::None:
    case DataType::B32:
    case DataType::U32:
    case DataType::S32:
        return {MemorySize::B32, 1};
    case DataType::B64:
    case DataType::U64:
    case DataType::S64:
        return {MemorySize::B64, 2};
    case DataType::B128:
    case DataType::U128:
        return {MemorySize::B128, 4};
    default:
        l.unsupported("access size");
        return {};
    }
}

void write_words(Lifter& l, const Instruction& i, Value loaded, u32 words) {
    const u8 d = i.operand(Slot::D).reg;
    if (words == 1 || d == maxwell::zero_register)
        return l.set_reg(d, loaded);
    for (u32 k = 0; k < words; ++k)
        l.set_reg(d + k, l.b.op(Op::Extract, {loaded}, k));
}

void load(Lifter& l, const Instruction& i, Op op, Value address) {
    const Access a = access(l, i.get<DataType>());
    const Value loaded = l.b.op(op, {address}, 0, static_cast<u32>(a.size));
    if (i.operand(Slot::D).reg != maxwell::zero_register)
        write_words(l, i, loaded, a.words);
}

void store(Lifter& l, const Instruction& i, Op op, Value address) {
    const Access a = access(l, i.get<DataType>());
    const u8 first = i.operand(Slot::B).reg;
    std::array<Value, 5> arguments{address};
    for (u32 k = 0; k < a.words; ++k)
        arguments[k + 1] = first == maxwell::zero_register ? l.b.word(0) : l.reg(first + k);
    l.b.op(op, std::span(arguments).first(a.words + 1), 0, static_cast<u32>(a.size));
}

// Bank and offset of LDC. IL, ISL: the address runs on from bank to bank, 64 KiB each. IS: the register's upper half
// counts banks, its lower half bytes.
struct ConstantAddress {
    Value bank; // added to the operand's; none: nothing is added
    Value offset;
};

ConstantAddress constant_address(Lifter& l, maxwell::LdcMode mode, const Operand& source) {
    const auto offset = static_cast<u32>(source.offset);
    const Value index = l.reg(source.reg);
    switch (mode) {
    case maxwell::LdcMode::None:
        break;
    case maxwell::LdcMode::Il:
    case maxwell::LdcMode::Isl: {
        const Value sum = l.add(index, offset);
        return {l.shift_right(sum, 16), l.and_mask(sum, 0xffff)};
    }
    case maxwell::LdcMode::Is:
        return {l.shift_right(index, 16), l.add(l.and_mask(index, 0xffff), offset)};
    }
    return {{}, source.reg == maxwell::zero_register ? l.b.word(offset & 0xffff) : l.add(index, offset)};
}

// A word of the bank that `distance` chooses. Banks that are not there read 0.
Value chosen_bank_word(Lifter& l, u8 first, Value distance, Value offset) {
    if (!distance.valid())
        return l.bank_word(first, offset);
    Value word = l.b.word(0);
    for (u32 bank = first; bank < banks::count; ++bank) {
        const Value chosen = l.b.icompare(ir::Relation::EQ, false, distance, l.b.word(bank - first));
        word = l.select(chosen, l.bank_word(static_cast<u8>(bank), offset), word);
    }
    return word;
}

void ldc(Lifter& l, const Instruction& i) {
    const Operand source = i.operand(Slot::A);
    const auto [bank, address] = constant_address(l, i.get<maxwell::LdcMode>(), source);
    const auto type = i.get<DataType>();
    const Access a = access(l, type);
    const u8 d = i.operand(Slot::D).reg;
    if (a.size <= MemorySize::S16) {
        const u32 bits = a.size <= MemorySize::S8 ? 8 : 16;
        const Value first = l.b.op(Op::ShiftLeft, {l.and_mask(address, bits == 8 ? 3 : 2), l.b.word(3)});
        const Value word = chosen_bank_word(l, source.bank, bank, address);
        return l.set_reg(d, l.b.op(is_signed(type) ? Op::BitExtractS : Op::BitExtractU, {word, first, l.b.word(bits)}));
    }
    std::array<Value, 4> words;
    for (u32 k = 0; k < a.words; ++k)
        words[k] = chosen_bank_word(l, source.bank, bank, l.add(address, 4 * k));
    for (u32 k = 0; k < a.words; ++k)
        l.set_reg(d + k, words[k]);
}

Value global_address(Lifter& l, const Instruction& i) {
    return l.long_address(i.operand(Slot::A), i.has(Modifier::WideAddress));
}

void ldl(Lifter& l, const Instruction& i) {
    load(l, i, Op::LoadLocal, l.address(i.operand(Slot::A)));
}
void stl(Lifter& l, const Instruction& i) {
    store(l, i, Op::StoreLocal, l.address(i.operand(Slot::A)));
}
void lds(Lifter& l, const Instruction& i) {
    load(l, i, Op::LoadShared, l.address(i.operand(Slot::A)));
}
void sts(Lifter& l, const Instruction& i) {
    store(l, i, Op::StoreShared, l.address(i.operand(Slot::A)));
}

void ldg(Lifter& l, const Instruction& i) {
    if (i.has(Slot::P)) // residency: everything is there
        l.set_pred(i.operand(Slot::P).reg, l.b.boolean(false));
    load(l, i, Op::LoadGlobal, global_address(l, i));
}
void stg(Lifter& l, const Instruction& i) {
    store(l, i, Op::StoreGlobal, global_address(l, i));
}

// Kernels (programs without a control section) know where shared and local memory lie in generic addresses from c[0][0]
// and c[0][4]: windows of 16 MiB. Elsewhere a generic address is a global one.
template <class F>
void for_each_window(Lifter& l, const Instruction& i, F access_in) {
    const Value address = global_address(l, i);
    if (!l.program.control.empty() || l.program.stage != program::Stage::Compute)
        return access_in(0, address);
    const Value low = l.b.op(Op::Low, {address}), high_is_zero = l.is_zero(l.b.op(Op::High, {address}));
    const ir::BlockId after = l.b.new_block();
    for (u32 window = 1; window <= 2; ++window) { // 1 shared, 2 local
        const Value base = l.bank_word(0, l.b.word(4 * (window - 1)));
        const Value same = l.b.icompare(ir::Relation::EQ, false, l.and_mask(low, 0xff000000), base);
        const Value inside = l.band(l.band(same, high_is_zero), l.bnot(l.is_zero(base)));
        const ir::BlockId body = l.b.new_block(), otherwise = l.b.new_block();
        l.b.branch_if(inside, body, otherwise);
        l.b.set_block(body);
        access_in(window, l.and_mask(low, 0xffffff));
        l.b.branch(after);
        l.b.set_block(otherwise);
    }
    access_in(0, address);
    l.b.branch(after);
    l.b.set_block(after);
}

// LD's predicate is a source, which takes part in how the hardware forms the address: the register pair is that
// already.
void ld(Lifter& l, const Instruction& i) {
    constexpr Op loads[] = {Op::LoadGlobal, Op::LoadShared, Op::LoadLocal};
    for_each_window(l, i, [&](u32 window, Value address) { load(l, i, loads[window], address); });
}
void st(Lifter& l, const Instruction& i) {
    constexpr Op stores[] = {Op::StoreGlobal, Op::StoreShared, Op::StoreLocal};
    for_each_window(l, i, [&](u32 window, Value address) { store(l, i, stores[window], address); });
}

ir::AtomicType atomic_type(Lifter& l, DataType type) {
    switch (type) {
    case DataType::None:
    case DataType::U32:
    case DataType::B32:
        return ir::AtomicType::U32;
    case DataType::S32:
        return ir::AtomicType::S32;
    case DataType::U64:
    case DataType::B64:
        return ir::AtomicType::U64;
    case DataType::S64:
        return ir::AtomicType::S64;
    case DataType::F32:
    case DataType::F32FtzRn:
        return ir::AtomicType::F32;
    case DataType::F16x2:
    case DataType::F16x2FtzRn:
        return ir::AtomicType::F16x2;
    default:
        l.unsupported("type of atomic operation");
        return ir::AtomicType::U32;
    }
}

// B names the compare value, with the new value behind it, or one of them while the other is RZ (instruction.h). CAST
// gives 1 where it swapped and 0 elsewhere.
void compare_and_swap(Lifter& l, const Instruction& i, Op op, Value address, ir::AtomicType type) {
    const bool wide = type == ir::AtomicType::U64 || type == ir::AtomicType::S64;
    const Operand b = i.operand(Slot::B);
    const auto value = [&](u32 index) { return wide ? l.pair(index) : l.reg(index); };
    constexpr u32 zero = maxwell::zero_register;
    const u32 behind = b.reg == zero ? zero : b.reg + (wide ? 2u : 1u);
    const Value compare = value(b.value == 2 ? zero : b.reg);
    const Value swap = value(b.value == 1 ? zero : b.value == 2 ? b.reg : behind);
    const auto word = wide ? ir::AtomicType::U64 : ir::AtomicType::U32;
    const Value old = l.b.op(op, {address, compare, swap}, 0, ir::atomic_mods(ir::AtomicOp::CompareExchange, word));
    if (i.get<maxwell::AtomicOp>() == maxwell::AtomicOp::Cast) {
        const auto equal = [&](Value x, Value y) { return l.b.icompare(ir::Relation::EQ, false, x, y); };
        Value same = wide ? equal(l.b.op(Op::Low, {old}), l.b.op(Op::Low, {compare})) : equal(old, compare);
        if (wide)
            same = l.band(same, equal(l.b.op(Op::High, {old}), l.b.op(Op::High, {compare})));
        return l.result(i, l.select(same, l.b.word(1), l.b.word(0)));
    }
    if (wide)
        l.set_pair(i.operand(Slot::D).reg, old);
    else
        l.result(i, old);
}

void atomic(Lifter& l, const Instruction& i, Op op, Value address) {
    const auto guest_operation = i.get<maxwell::AtomicOp>();
    if (guest_operation == maxwell::AtomicOp::Cas || guest_operation == maxwell::AtomicOp::Cast)
        return compare_and_swap(l, i, op, address, atomic_type(l, i.get<DataType>()));
    ir::AtomicOp operation = ir::AtomicOp::Add;
    if (guest_operation <= maxwell::AtomicOp::Exch)
        operation = static_cast<ir::AtomicOp>(guest_operation); // the same numbers
    else if (guest_operation != maxwell::AtomicOp::SafeAdd)
        return l.unsupported("atomic operation");
    const ir::AtomicType type = atomic_type(l, i.get<DataType>());
    const bool wide = type == ir::AtomicType::U64 || type == ir::AtomicType::S64;
    const u8 data = i.operand(Slot::B).reg;
    const Value old = l.b.op(op, {address, wide ? l.pair(data) : l.reg(data)}, 0, ir::atomic_mods(operation, type));
    if (!i.has(Slot::D))
        return;
    if (wide)
        l.set_pair(i.operand(Slot::D).reg, old);
    else
        l.result(i, old);
}

void atom(Lifter& l, const Instruction& i) {
    if (i.has(Slot::P))
        l.set_pred(i.operand(Slot::P).reg, l.b.boolean(false));
    atomic(l, i, Op::AtomicGlobal, global_address(l, i));
}
void atoms(Lifter& l, const Instruction& i) {
    atomic(l, i, Op::AtomicShared, l.address(i.operand(Slot::A)));
}

void membar(Lifter& l, const Instruction& i) {
    constexpr u32 scopes[] = {0, 1, 2, 1}; // CTA, GL, SYS, VC: group, device, system
    l.b.op(Op::MemoryBarrier, {}, scopes[static_cast<u32>(i.get<maxwell::MemoryScope>()) & 3]);
}

void nothing(Lifter&, const Instruction&) {} // caches keep coherent by themselves here

constexpr LiftRow rows[] = {
    {Opcode::LDC, ldc},
    {Opcode::LDL, ldl, Guarded::Branch},
    {Opcode::STL, stl, Guarded::Branch},
    {Opcode::LDS, lds, Guarded::Branch},
    {Opcode::STS, sts, Guarded::Branch},
    {Opcode::LDG, ldg, Guarded::Branch},
    {Opcode::STG, stg, Guarded::Branch},
    {Opcode::LD, ld, Guarded::Branch},
    {Opcode::ST, st, Guarded::Branch},
    {Opcode::ATOM, atom, Guarded::Branch},
    {Opcode::RED, atom, Guarded::Branch},
    {Opcode::ATOMS, atoms, Guarded::Branch},
    {Opcode::MEMBAR, membar, Guarded::Branch},
    {Opcode::CCTL, nothing},
    {Opcode::CCTLL, nothing},
    {Opcode::CCTLT, nothing},
};

} // namespace

std::span<const LiftRow> lift_memory_rows() {
    return rows;
}

} // namespace heaviside::shader::lifting
