// Surfaces: loads, stores and atomics on images.
#include "shader/lift_context.h"

#include "shader/interface.h"

#include <array>

namespace heaviside::shader::lifting {
namespace {

using ir::ImageMods;
using ir::MemorySize;
using maxwell::DataType;
using maxwell::SurfaceDimension;

struct Surface {
    Dimension dimension = Dimension::D2;
    u32 coordinates = 2; // the layer, if any, is the last
};

Surface surface_of(const Instruction& i) {
    constexpr Surface surfaces[] = {{Dimension::D1, 1}, {Dimension::Buffer, 1},  {Dimension::D1Array, 2},
                                    {Dimension::D2, 2}, {Dimension::D2Array, 3}, {Dimension::D3, 3}};
    const auto which = static_cast<std::size_t>(i.get<SurfaceDimension>());
    return which < std::size(surfaces) ? surfaces[which] : Surface{};
}

// The operands that all image operations begin with: handle and coordinates.
struct Arguments {
    std::array<Value, 8> values;
    std::size_t count = 0;
    void add(Value value) { values[count++] = value; }
    [[nodiscard]] std::span<const Value> span() const { return std::span(values).first(count); }
};

struct RawSize {
    MemorySize size = MemorySize::B32;
    u32 words = 1, bytes_log2 = 2;
};

RawSize raw_size(Lifter& l, DataType type) {
    switch (type) {
    case DataType::U8:
        return {MemorySize::U8, 1, 0};
    case DataType::S8:
        return {MemorySize::S8, 1, 0};
    case DataType::U16:
        return {MemorySize::U16, 1, 1};
    case DataType::S16:
        return {MemorySize::S16, 1, 1};
    case DataType::B64:
    case DataType::U64:
    case DataType::S64:
        return {MemorySize::B64, 2, 3};
    case DataType::B128:
    case DataType::U128:
        return {MemorySize::B128, 4, 4};
    case DataType::None:
    case DataType::B32:
    case DataType::U32:
    case DataType::S32:
        return {};
    default:
        l.unsupported("access size");
        return {};
    }
}

Arguments surface_arguments(Lifter& l, const Instruction& i, const Surface& surface, u32 raw_bytes_log2) {
    Arguments arguments;
    const Operand handle = i.operand(Slot::C);
    arguments.add(handle.kind == OperandKind::Immediate
                      ? l.bank_word(l.program.layout->handle_bank, l.b.word(4 * static_cast<u32>(handle.value)))
                      : l.reg(handle.reg));
    const u8 first = i.operand(Slot::A).reg;
    for (u32 k = 0; k < surface.coordinates; ++k) {
        Value part = first == maxwell::zero_register ? l.b.word(0) : l.reg(first + k);
        if (k == 0 && raw_bytes_log2 != 0 && i.has(Modifier::SurfaceByteAddress)) // x counts bytes
            part = l.b.op(Op::ShiftRightS, {part, l.b.word(raw_bytes_log2)});
        arguments.add(part);
    }
    return arguments;
}

ImageMods image_mods(const Instruction& i, const Surface& surface) {
    ImageMods mods;
    mods.dimension = static_cast<u32>(surface.dimension);
    mods.bounds = static_cast<ir::ImageBounds>(i.get<maxwell::SurfaceClamp>()); // the same numbers
    return mods;
}

// .P; the others are .D.
bool is_formatted(const Instruction& i) {
    return i.has(Modifier::SurfaceTyped);
}

void suld(Lifter& l, const Instruction& i) {
    const Surface surface = surface_of(i);
    ImageMods mods = image_mods(i, surface);
    const u8 d = i.operand(Slot::D).reg;
    if (i.has(Slot::P))
        l.set_pred(i.operand(Slot::P).reg, l.b.boolean(false));
    if (is_formatted(i)) {
        mods.components = i.modifier(Modifier::ComponentMask) & 15;
        const Value texel = l.b.op(Op::ImageLoad, surface_arguments(l, i, surface, 0).span(), 0, mods.pack());
        u32 to = d;
        for (u32 k = 0; k < 4; ++k)
            if (mods.components >> k & 1 && d != maxwell::zero_register)
                l.set_reg(to++, l.b.op(Op::Extract, {texel}, k));
        return;
    }
    const RawSize size = raw_size(l, i.get<DataType>());
    mods.raw = true;
    mods.size = size.size;
    const Value texel = l.b.op(Op::ImageLoad, surface_arguments(l, i, surface, size.bytes_log2).span(), 0, mods.pack());
    for (u32 k = 0; k < size.words && d != maxwell::zero_register; ++k)
        l.set_reg(d + k, l.b.op(Op::Extract, {texel}, k));
}

void sust(Lifter& l, const Instruction& i) {
    const Surface surface = surface_of(i);
    ImageMods mods = image_mods(i, surface);
    u32 from = i.operand(Slot::B).reg;
    const bool zero = from == maxwell::zero_register;
    const auto next = [&] { return zero ? l.b.word(0) : l.reg(from++); };
    if (is_formatted(i)) {
        mods.components = i.modifier(Modifier::ComponentMask) & 15;
        Arguments arguments = surface_arguments(l, i, surface, 0);
        for (u32 k = 0; k < 4; ++k)
            arguments.add(mods.components >> k & 1 ? next() : l.b.word(0));
        l.b.op(Op::ImageStore, arguments.span(), 0, mods.pack());
        return;
    }
    const RawSize size = raw_size(l, i.get<DataType>());
    mods.raw = true;
    mods.size = size.size;
    Arguments arguments = surface_arguments(l, i, surface, size.bytes_log2);
    for (u32 k = 0; k < size.words; ++k)
        arguments.add(next());
    l.b.op(Op::ImageStore, arguments.span(), 0, mods.pack());
}

ir::AtomicType image_atomic_type(Lifter& l, DataType type) {
    switch (type) {
    case DataType::None:
    case DataType::U32:
    case DataType::B32:
    case DataType::UD:
        return ir::AtomicType::U32;
    case DataType::S32:
    case DataType::SD:
    case DataType::SD32:
        return ir::AtomicType::S32;
    case DataType::F32FtzRn:
    case DataType::F32:
        return ir::AtomicType::F32;
    case DataType::U64:
    case DataType::S64:
    case DataType::SD64:
        l.unsupported("64-bit image atomics");
        return ir::AtomicType::U64;
    default:
        l.unsupported("type of image atomic");
        return ir::AtomicType::U32;
    }
}

void surface_atomic(Lifter& l, const Instruction& i, Value& old) {
    const Surface surface = surface_of(i);
    ImageMods mods = image_mods(i, surface);
    const auto operation = i.get<maxwell::AtomicOp>();
    if (operation == maxwell::AtomicOp::Cas)
        mods.op = ir::AtomicOp::CompareExchange;
    else if (operation == maxwell::AtomicOp::SafeAdd)
        mods.op = ir::AtomicOp::Add;
    else if (operation <= maxwell::AtomicOp::Exch)
        mods.op = static_cast<ir::AtomicOp>(operation); // the same numbers
    else
        return l.unsupported("image atomic");
    mods.type = image_atomic_type(l, i.get<DataType>());
    mods.raw = !is_formatted(i);
    Arguments arguments = surface_arguments(l, i, surface, 2);
    const u8 data = i.operand(Slot::B).reg;
    arguments.add(l.reg(data));
    if (mods.op == ir::AtomicOp::CompareExchange)
        arguments.add(l.reg(data + 1u));
    old = l.b.op(Op::ImageAtomic, arguments.span(), 0, mods.pack());
}

void suatom(Lifter& l, const Instruction& i) {
    Value old;
    surface_atomic(l, i, old);
    if (!old.valid())
        return;
    if (i.has(Slot::P))
        l.set_pred(i.operand(Slot::P).reg, l.b.boolean(false));
    l.result(i, old);
}

void sured(Lifter& l, const Instruction& i) {
    Value old;
    surface_atomic(l, i, old);
}

constexpr LiftRow rows[] = {
    {Opcode::SULD, suld, Guarded::Branch},
    {Opcode::SUST, sust, Guarded::Branch},
    {Opcode::SUATOM, suatom, Guarded::Branch},
    {Opcode::SURED, sured, Guarded::Branch},
};

} // namespace

std::span<const LiftRow> lift_image_rows() {
    return rows;
}

} // namespace heaviside::shader::lifting
