// How many registers an operand covers: from the access size, the result mask, the dimension of the texture.
#include "maxwell/form.h"

#include <algorithm>
#include <bit>

namespace heaviside::maxwell {
namespace {

u8 words(DataType type) {
    return static_cast<u8>(words_of(type));
}

u8 components(const Instruction& instruction, Slot mask) {
    const auto count = std::popcount(instruction.operand(mask).value & 15);
    return static_cast<u8>(std::max(count, 1));
}

unsigned dimensions(const Instruction& instruction) {
    constexpr unsigned count[]{1, 2, 3, 3};
    return count[static_cast<unsigned>(instruction.get<Dimension>())];
}

// TEX, TLD, TLD4, TMML: A holds the layer and the coordinates; B the handle, level, offset, reference in this order.
u8 texture_words(const Instruction& instruction, Slot slot) {
    const unsigned array = instruction.modifier(Modifier::Array);
    if (slot == Slot::A)
        return static_cast<u8>(dimensions(instruction) + array);
    unsigned count = instruction.modifier(Modifier::Bindless);
    const LodMode lod = instruction.get<LodMode>();
    if (lod != LodMode::Auto && lod != LodMode::Zero)
        ++count;
    const OffsetMode offset = instruction.get<OffsetMode>();
    count += offset == OffsetMode::Aoffi ? 1 : offset == OffsetMode::Ptp ? 2 : 0;
    count += instruction.modifier(Modifier::DepthCompare);
    count += instruction.modifier(Modifier::Multisample);
    count += instruction.modifier(Modifier::LodClamp);
    return static_cast<u8>(std::max(count, 1u));
}

// TXD: A holds the handle, the coordinates, and the layer and offset in one; B two derivatives for each dimension.
u8 derivative_words(const Instruction& instruction, Slot slot) {
    const unsigned dims = dimensions(instruction);
    if (slot == Slot::B)
        return static_cast<u8>(2 * dims);
    const bool extra = instruction.has(Modifier::Array) || instruction.get<OffsetMode>() == OffsetMode::Aoffi;
    return static_cast<u8>(dims + (extra ? 1 : 0) + instruction.modifier(Modifier::Bindless));
}

// TEXS, TLDS, TLD4S: all that the access needs, in order, over A and B; a lone pair is split between them, else A has
// two words and B the rest.
u8 short_texture_words(const Instruction& instruction, Slot slot) {
    const bool gather = instruction.opcode() == Opcode::TLD4S;
    unsigned count = gather ? 2 : dimensions(instruction) + instruction.modifier(Modifier::Array);
    const LodMode lod = instruction.get<LodMode>();
    if (lod == LodMode::Level)
        ++count;
    count += instruction.modifier(Modifier::DepthCompare);
    count += instruction.modifier(Modifier::Multisample);
    count += instruction.get<OffsetMode>() == OffsetMode::Aoffi ? 1 : 0;
    if (count <= 2)
        return 1;
    return static_cast<u8>(slot == Slot::A ? 2 : count - 2);
}

// Results of the same: two words in D, the rest in D2; halves go two to a word.
u8 short_texture_results(const Instruction& instruction, Slot slot) {
    const auto count = instruction.opcode() == Opcode::TLD4S
                           ? 4u
                           : static_cast<unsigned>(std::popcount(instruction.modifier(Modifier::ComponentMask)));
    const unsigned first = std::min(count, 2u);
    const unsigned here = slot == Slot::D ? first : count - first;
    return static_cast<u8>(instruction.has(Modifier::HalfResult) ? (here + 1) / 2 : std::max(here, 1u));
}

u8 surface_words(const Instruction& instruction, Slot slot) {
    if (slot == Slot::A) {
        constexpr u8 count[]{1, 1, 2, 2, 3, 3};
        return count[static_cast<unsigned>(instruction.get<SurfaceDimension>())];
    }
    if (slot == Slot::C)
        return 1;
    if (instruction.has(Modifier::SurfaceTyped) && instruction.opcode() != Opcode::SUATOM &&
        instruction.opcode() != Opcode::SURED)
        return static_cast<u8>(std::popcount(instruction.modifier(Modifier::ComponentMask)));
    return words(instruction.get<DataType>());
}

} // namespace

u8 register_count(const Instruction& instruction, Slot slot) {
    const bool result = slot == Slot::D;
    switch (instruction.opcode()) {
    case Opcode::DADD:
    case Opcode::DMUL:
    case Opcode::DFMA:
    case Opcode::DMNMX:
        return 2;
    case Opcode::DSET:
    case Opcode::DSETP:
        return result ? 1 : 2;
    case Opcode::F2F:
    case Opcode::F2I:
    case Opcode::I2F:
        return words(instruction.get<DataType>(result ? Modifier::DestinationType : Modifier::SourceType));
    case Opcode::LD:
    case Opcode::LDG:
    case Opcode::LDL:
    case Opcode::LDS:
    case Opcode::LDC:
    case Opcode::ALD:
        return result ? words(instruction.get<DataType>()) : u8{1};
    case Opcode::ST:
    case Opcode::STG:
    case Opcode::STL:
    case Opcode::STS:
    case Opcode::AST:
        return slot == Slot::B ? words(instruction.get<DataType>()) : u8{1};
    case Opcode::ATOM:
    case Opcode::ATOMS:
    case Opcode::RED:
        return slot == Slot::A ? u8{1} : words(instruction.get<DataType>());
    case Opcode::TEX:
    case Opcode::TLD:
    case Opcode::TLD4:
    case Opcode::TMML:
        return result ? components(instruction, Slot::I2) : texture_words(instruction, slot);
    case Opcode::TXD:
        return result ? components(instruction, Slot::I2) : derivative_words(instruction, slot);
    case Opcode::TXA:
        return result ? components(instruction, Slot::I2) : u8{1};
    case Opcode::TXQ:
        return result ? components(instruction, Slot::I2)
                      : static_cast<u8>(1 + instruction.modifier(Modifier::Bindless)); // the handle, the level
    case Opcode::TEXS:
    case Opcode::TLDS:
    case Opcode::TLD4S:
        return slot == Slot::A || slot == Slot::B ? short_texture_words(instruction, slot)
                                                  : short_texture_results(instruction, slot);
    case Opcode::SULD:
    case Opcode::SUST:
    case Opcode::SURED:
    case Opcode::SUATOM:
        return surface_words(instruction, slot);
    default:
        return 1;
    }
}

} // namespace heaviside::maxwell
