// Constant, local, shared and global memory, atomics and fences.
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

void ldc(Lifter& l, const Instruction& i) {
    if (i.get<maxwell::LdcMode>() != maxwell::LdcMode::None)
        return l.unsupported("constant load with an indexed bank");
    const Operand source = i.operand(Slot::A);
    const Value address =
        source.reg == maxwell::zero_register ? l.b.word(static_cast<u32>(source.offset) & 0xffff) : l.address(source);
    const auto type = i.get<DataType>();
    const Access a = access(l, type);
    const u8 d = i.operand(Slot::D).reg;
    if (a.size <= MemorySize::S16) {
        const u32 bits = a.size <= MemorySize::S8 ? 8 : 16;
        const Value first = l.b.op(Op::ShiftLeft, {l.and_mask(address, bits == 8 ? 3 : 2), l.b.word(3)});
        const Value word = l.bank_word(source.bank, address);
        return l.set_reg(d, l.b.op(is_signed(type) ? Op::BitExtractS : Op::BitExtractU, {word, first, l.b.word(bits)}));
    }
    std::array<Value, 4> words;
    for (u32 k = 0; k < a.words; ++k)
        words[k] = l.bank_word(source.bank, l.add(address, 4 * k));
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

// Compare-and-swap forms are known by their encoding: ATOM 0xee7 and 0xeef (bit 49: 64 bits), ATOMS 0xee4 and 0xee5,
// and 0xee0 to 0xee3 for the variants that leave the lock to the program.
struct CompareAndSwap {
    bool is = false, wide = false, variant = false;
};

CompareAndSwap compare_and_swap(const Instruction& i) {
    const u64 top = i.word() >> 52;
    if (i.opcode() == Opcode::ATOM)
        return {top == 0xee7 || top == 0xeef, (i.word() >> 49 & 1) != 0};
    if (i.opcode() == Opcode::ATOMS && top >= 0xee0 && top <= 0xee5)
        return {true, (top & 1) != 0, top < 0xee4};
    return {};
}

void compare_and_swap(Lifter& l, const Instruction& i, Op op, Value address, CompareAndSwap form) {
    const u8 data = i.operand(Slot::B).reg;
    if (form.variant || data == maxwell::zero_register)
        return l.unsupported("compare-and-swap variant");
    const auto type = form.wide ? ir::AtomicType::U64 : ir::AtomicType::U32;
    const u32 mods = ir::atomic_mods(ir::AtomicOp::CompareExchange, type);
    const Value compare = form.wide ? l.pair(data) : l.reg(data);
    const Value swap = form.wide ? l.pair(data + 2u) : l.reg(data + 1u);
    const Value old = l.b.op(op, {address, compare, swap}, 0, mods);
    if (form.wide)
        l.set_pair(i.operand(Slot::D).reg, old);
    else
        l.result(i, old);
}

void atomic(Lifter& l, const Instruction& i, Op op, Value address) {
    if (const auto form = compare_and_swap(i); form.is)
        return compare_and_swap(l, i, op, address, form);
    const auto guest_operation = i.get<maxwell::AtomicOp>();
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
