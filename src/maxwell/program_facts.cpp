#include "maxwell/program_facts.h"

#include "maxwell/form.h"

#include <algorithm>

namespace heaviside::maxwell {
namespace {

// Generic attributes, colours and fixed-function coordinates; the others have one delivery by nature.
bool has_interpolation(u32 address) {
    return (address >= attribute::generic && address < attribute::clip_distance) ||
           (address >= attribute::fixed_texture && address < attribute::viewport_mask);
}

PixelInput interpolation_of(InterpolationMode mode) {
    switch (mode) {
    case InterpolationMode::Constant:
        return PixelInput::Constant;
    case InterpolationMode::Perspective:
        return PixelInput::Perspective;
    default:
        return PixelInput::ScreenLinear;
    }
}

} // namespace

void ProgramFacts::add(const Instruction& instruction) {
    for (unsigned i = 0; i < instruction.form().operand_count; ++i) {
        const Operand operand = instruction.operand(instruction.form().operands[i].slot);
        const bool has_register = operand.kind == OperandKind::Register || operand.kind == OperandKind::Memory ||
                                  operand.kind == OperandKind::Attribute || operand.kind == OperandKind::Constant;
        if (!has_register || operand.reg == zero_register)
            continue;
        const u32 count = operand.wide_index ? 2u : operand.count;
        registers = std::max(registers, std::min<u32>(operand.reg + count, 255));
    }
    const Operand a = instruction.operand(Slot::A);
    const bool direct = a.kind == OperandKind::Attribute && a.reg == zero_register;
    switch (instruction.opcode()) {
    case Opcode::ALD:
        if (direct && !instruction.has(Modifier::PatchAttribute) && !instruction.has(Modifier::OutputAttribute))
            for (unsigned i = 0; i < words_of(instruction.get<DataType>()); ++i)
                inputs.set(static_cast<u32>(a.offset) + 4 * i);
        break;
    case Opcode::AST:
        if (direct && !instruction.has(Modifier::PatchAttribute))
            for (unsigned i = 0; i < words_of(instruction.get<DataType>()); ++i)
                outputs.set(static_cast<u32>(a.offset) + 4 * i);
        break;
    case Opcode::IPA:
        if (direct && a.offset < 0x400) {
            inputs.set(static_cast<u32>(a.offset));
            if (has_interpolation(static_cast<u32>(a.offset)))
                interpolation[static_cast<u32>(a.offset) / 4] = interpolation_of(instruction.get<InterpolationMode>());
        }
        break;
    case Opcode::KIL:
        kills = true;
        break;
    case Opcode::ST:
    case Opcode::STG:
    case Opcode::ATOM:
    case Opcode::RED:
    case Opcode::SUST:
    case Opcode::SUATOM:
    case Opcode::SURED:
        stores_global = true;
        loads_or_stores = true;
        break;
    case Opcode::LD:
    case Opcode::LDG:
    case Opcode::SULD:
    case Opcode::LDL:
    case Opcode::STL:
    case Opcode::LDS:
    case Opcode::STS:
        loads_or_stores = true;
        break;
    case Opcode::DADD:
    case Opcode::DMUL:
    case Opcode::DFMA:
    case Opcode::DMNMX:
    case Opcode::DSET:
    case Opcode::DSETP:
        uses_doubles = true;
        break;
    case Opcode::BAR:
        barriers = std::max(barriers, a.kind == OperandKind::Immediate ? static_cast<u32>(a.value & 15) + 1 : 16u);
        break;
    default:
        break;
    }
}

void ProgramFacts::apply(ShaderProgramHeader& header) const {
    header.does_global_store = header.does_global_store || stores_global;
    header.does_load_or_store = header.does_load_or_store || loads_or_stores;
    header.does_fp64 = header.does_fp64 || uses_doubles;
    header.kills_pixels = header.kills_pixels || kills;
    for (std::size_t i = 0; i < inputs.components.size(); ++i)
        header.inputs.components[i] |= inputs.components[i];
    if (header.pixel) {
        for (std::size_t i = 0; i < interpolation.size(); ++i)
            if (header.interpolation[i] == PixelInput::Unused)
                header.interpolation[i] = interpolation[i];
        return;
    }
    for (std::size_t i = 0; i < outputs.components.size(); ++i)
        header.outputs.components[i] |= outputs.components[i];
}

} // namespace heaviside::maxwell
