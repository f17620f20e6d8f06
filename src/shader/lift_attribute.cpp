// The stage interface: attributes, interpolation, vertices of geometry programs.
#include "shader/lift_context.h"

#include <array>

namespace heaviside::shader::lifting {
namespace {

using maxwell::DataType;
using program::Stage;

u32 attribute_words(Lifter& l, const Instruction& i) {
    switch (i.get<DataType>()) {
    case DataType::None:
    case DataType::B32:
        return 1;
    case DataType::B64:
        return 2;
    case DataType::B96:
        return 3;
    case DataType::B128:
        return 4;
    default:
        l.unsupported("attribute size");
        return 1;
    }
}

// Inputs of these stages belong to a vertex of the primitive, named by register C. Outputs are the own vertex's, but a
// tessellation control program may read those of other control points; TessCoord counts as an output and has no vertex.
bool has_vertex(Stage stage, bool patch, bool output) {
    if (patch)
        return false;
    if (stage == Stage::TessControl)
        return true;
    return !output && (stage == Stage::TessEval || stage == Stage::Geometry);
}

void ald(Lifter& l, const Instruction& i) {
    const Operand source = i.operand(Slot::A);
    const bool patch = i.has(Modifier::PatchAttribute), output = i.has(Modifier::OutputAttribute);
    u32 mods = (patch ? ir::attribute_patch : 0) | (output ? ir::attribute_output : 0);
    std::array<Value, 2> arguments;
    std::size_t count = 0;
    if (has_vertex(l.program.stage, patch, output)) {
        mods |= ir::attribute_vertex;
        arguments[count++] = l.reg(i.operand(Slot::C).reg);
    }
    if (source.reg != maxwell::zero_register) {
        mods |= ir::attribute_indexed;
        arguments[count++] = l.reg(source.reg);
    }
    std::array<Value, 4> loaded;
    const u32 words = attribute_words(l, i);
    for (u32 k = 0; k < words; ++k)
        loaded[k] =
            l.b.op(Op::LoadAttribute, std::span(arguments).first(count), static_cast<u32>(source.offset) + 4 * k, mods);
    for (u32 k = 0; k < words; ++k)
        l.set_reg(i.operand(Slot::D).reg + k, loaded[k]);
}

void ast(Lifter& l, const Instruction& i) {
    const Operand target = i.operand(Slot::A);
    const u8 first = i.operand(Slot::B).reg;
    u32 mods = i.has(Modifier::PatchAttribute) ? ir::attribute_patch : 0;
    std::array<Value, 2> arguments;
    std::size_t count = 1;
    if (target.reg != maxwell::zero_register) {
        mods |= ir::attribute_indexed;
        arguments[count++] = l.reg(target.reg);
    }
    const u32 words = attribute_words(l, i);
    for (u32 k = 0; k < words; ++k) {
        arguments[0] = first == maxwell::zero_register ? l.b.word(0) : l.reg(first + k);
        l.b.op(Op::StoreAttribute, std::span(arguments).first(count), static_cast<u32>(target.offset) + 4 * k, mods);
    }
}

// The physical address that a[Rn] takes is the plain one here.
void al2p(Lifter& l, const Instruction& i) {
    l.set_pred(i.operand(Slot::P).reg, l.b.boolean(false));
    l.result(i, l.add(l.reg(i.operand(Slot::A).reg), static_cast<u32>(i.operand(Slot::I).value)));
}

void ipa(Lifter& l, const Instruction& i) {
    const auto mode = static_cast<ir::InterpolationMode>(i.get<maxwell::InterpolationMode>()); // the same numbers
    const auto sampling = static_cast<ir::InterpolationSampling>(i.get<maxwell::SampleMode>());
    const Operand source = i.operand(Slot::A);
    u32 mods = ir::interpolate_mods(mode, sampling);
    std::array<Value, 3> arguments;
    std::size_t count = 0;
    if (mode == ir::InterpolationMode::Multiply)
        arguments[count++] = l.reg(i.operand(Slot::B).reg);
    if (sampling == ir::InterpolationSampling::Offset)
        arguments[count++] = l.reg(i.operand(Slot::C).reg);
    if (source.reg != maxwell::zero_register) {
        mods |= ir::interpolate_indexed;
        arguments[count++] = l.reg(source.reg);
    }
    if (i.has(Modifier::Saturate))
        mods |= ir::interpolate_saturate;
    const u32 address = static_cast<u32>(source.offset);
    l.result(i, l.b.op(Op::Interpolate, std::span(arguments).first(count), address, mods));
}

// INVOCATION_INFO says invocation 0, so that the handles which code computes as invocation * vertices + vertex are the
// vertex numbers themselves.
void isberd(Lifter& l, const Instruction& i) {
    if (i.get<maxwell::IsberdMode>() != maxwell::IsberdMode::Default || i.has(Modifier::OutputAttribute) ||
        i.has(Modifier::Skew))
        return l.unsupported("mode");
    const Operand a = i.operand(Slot::A);
    l.result(i, l.add(l.reg(a.reg), static_cast<u32>(a.offset)));
}

void out(Lifter& l, const Instruction& i) {
    if (l.program.stage != Stage::Geometry)
        return l.unsupported("outside a geometry program");
    const Operand stream = i.operand(Slot::B);
    if (stream.kind == OperandKind::Constant || (stream.kind == OperandKind::Register && !stream.is_zero_register()))
        return l.unsupported("stream chosen at run time");
    const u32 number = stream.kind == OperandKind::Immediate ? static_cast<u32>(stream.value) & 3 : 0;
    const auto operation = i.get<maxwell::OutputOp>();
    if (operation == maxwell::OutputOp::Emit || operation == maxwell::OutputOp::EmitThenCut)
        l.b.op(Op::EmitVertex, {}, number);
    if (operation == maxwell::OutputOp::Cut || operation == maxwell::OutputOp::EmitThenCut)
        l.b.op(Op::EndPrimitive, {}, number);
    l.result(i, l.b.word(0)); // the handle of the open vertex: stores go to it whatever they name
}

// The sample is named by the register, plus the offset; the predicate says whether it is covered.
void pixld(Lifter& l, const Instruction& i) {
    const auto special = [&](ir::Special which) { return l.b.op(Op::ReadSpecial, {}, static_cast<u32>(which)); };
    const Operand a = i.operand(Slot::A);
    const u8 p = i.operand(Slot::P).reg;
    const auto covered = [&] {
        const Value sample = l.and_mask(l.add(l.reg(a.reg), static_cast<u32>(a.offset)), 15);
        return l.and_mask(l.b.op(Op::ShiftRightU, {special(ir::Special::SampleMaskIn), sample}), 1);
    };
    Value value;
    switch (i.get<maxwell::PixelOp>()) {
    case maxwell::PixelOp::Count: // the shader is not told
        return l.unsupported("number of samples");
    case maxwell::PixelOp::CovMask:
        value = special(ir::Special::SampleMaskIn);
        break;
    case maxwell::PixelOp::Covered:
        value = covered();
        break;
    case maxwell::PixelOp::MyIndex:
        value = special(ir::Special::SampleId);
        break;
    default:
        return l.unsupported("sample offset");
    }
    const Value is_covered = p == maxwell::true_predicate ? Value{} : l.bnot(l.is_zero(covered()));
    l.result(i, value);
    if (is_covered.valid())
        l.set_pred(p, is_covered);
}

constexpr LiftRow rows[] = {
    {Opcode::ALD, ald},       {Opcode::AST, ast, Guarded::Branch}, {Opcode::AL2P, al2p},   {Opcode::IPA, ipa},
    {Opcode::ISBERD, isberd}, {Opcode::OUT, out, Guarded::Branch}, {Opcode::PIXLD, pixld},
};

} // namespace

std::span<const LiftRow> lift_attribute_rows() {
    return rows;
}

} // namespace heaviside::shader::lifting
