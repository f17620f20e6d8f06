#include "maxwell/instruction.h"

#include "base/bytes.h"
#include "maxwell/form.h"

namespace heaviside::maxwell {
namespace {

constexpr std::array<std::string_view, opcode_count> mnemonics{
#define HEAVISIDE_OPCODE(name) #name,
    HEAVISIDE_MAXWELL_OPCODES(HEAVISIDE_OPCODE)
#undef HEAVISIDE_OPCODE
};

u32 half_bits(u64 field, unsigned width) {
    return static_cast<u32>(field) << (16 - width);
}

// The Part that a suffix table stands for, if it is one.
bool is_part(const ModifierTable& table) {
    return table.modifier == Modifier::Count_;
}

} // namespace

std::string_view mnemonic(Opcode opcode) {
    return mnemonics[static_cast<unsigned>(opcode)];
}

Opcode Instruction::opcode() const {
    return form_->opcode;
}

Guard Instruction::guard() const {
    if (!form_->guard.present())
        return {};
    const u64 bits = form_->guard.get(word_);
    return {static_cast<u8>(bits & 7), (bits & 8) != 0};
}

bool Instruction::has(Slot slot) const {
    return form_->slot_index[static_cast<unsigned>(slot)] != 0xff;
}

u8 Instruction::modifier(Modifier field) const {
    const u8 index = form_->modifier_index[static_cast<unsigned>(field)];
    if (index == 0xff)
        return 0;
    const ModifierUse& use = form_->modifier_uses[index];
    return use.table->values[use.field.get(word_)].value;
}

Operand Instruction::operand(Slot slot) const {
    const u8 index = form_->slot_index[static_cast<unsigned>(slot)];
    if (index == 0xff)
        return {};
    const OperandSpec& spec = form_->operands[index];
    Operand operand = read_operand(*this, spec);
    if (operand.kind == OperandKind::Register || operand.kind == OperandKind::Memory) {
        const bool pair = spec.type == OperandType::CAS || spec.type == OperandType::CAS2;
        operand.count = static_cast<u8>(register_count(*this, slot) * (pair && operand.value == 0 ? 2 : 1));
    }
    return operand;
}

Operand read_operand(const Instruction& instruction, const OperandSpec& spec) {
    const Form& form = instruction.form();
    const u64 word = instruction.word();
    Operand operand;
    operand.negated = spec.negate.get(word);
    operand.absolute = spec.absolute.get(word);
    operand.inverted = spec.invert.get(word);
    for (unsigned i = 0; i < spec.suffix_count; ++i) {
        const ModifierUse& use = form.modifier_uses[spec.suffix_first + i];
        if (is_part(*use.table))
            operand.part = static_cast<Part>(use.table->values[use.field.get(word)].value);
    }
    const auto field = [&](unsigned i) { return spec.fields[i].get(word); };
    const auto signed_field = [&](unsigned i) { return sign_extend(spec.fields[i].get(word), spec.fields[i].size()); };
    const auto immediate = [&](u64 value, ImmediateType type) {
        operand.kind = OperandKind::Immediate;
        operand.value = value;
        operand.type = type;
    };
    switch (spec.type) {
    case OperandType::R:
        operand.kind = OperandKind::Register;
        operand.reg = static_cast<u8>(field(0));
        break;
    case OperandType::P:
        operand.kind = OperandKind::Predicate;
        operand.reg = static_cast<u8>(field(0) ^ spec.flip);
        break;
    case OperandType::C:
    case OperandType::CS:
    case OperandType::CI:
        operand.kind = OperandKind::Constant;
        operand.bank = static_cast<u8>(field(0));
        // Arithmetic forms count in words (14 bits), LDC and branches in bytes (16 bits).
        operand.offset = static_cast<i32>(signed_field(1)) * (spec.fields[1].size() == 14 ? 4 : 1);
        if (spec.type == OperandType::CI)
            operand.reg = static_cast<u8>(field(2));
        break;
    case OperandType::I:
    case OperandType::IN:
    case OperandType::N:
    case OperandType::SWZ:
        immediate(field(0), ImmediateType::Integer);
        break;
    case OperandType::S:
        immediate(static_cast<u64>(signed_field(0)), ImmediateType::Integer);
        break;
    case OperandType::IS:
        immediate(field(1) >> (spec.fields[1].size() - 1) ? static_cast<u64>(signed_field(0)) : field(0),
                  ImmediateType::Integer);
        break;
    case OperandType::CAS:
    case OperandType::CAS2:
        operand.kind = OperandKind::Register;
        operand.reg = static_cast<u8>(field(0));
        operand.value = field(1);
        break;
    case OperandType::F:
        immediate(field(0) << (32 - spec.fields[0].size()), ImmediateType::Float32);
        break;
    case OperandType::FS: {
        // By the type: 1 a half as it is, 2 the upper bits of an f32, 3 those of an f64.
        const u64 type = field(1);
        if (type == 1)
            immediate(field(0) & 0xffff, ImmediateType::Float16);
        else
            immediate(field(0) << ((type == 3 ? 64 : 32) - spec.fields[0].size()),
                      type == 3 ? ImmediateType::Float64 : ImmediateType::Float32);
        break;
    }
    case OperandType::FD:
        immediate(field(0) << (64 - spec.fields[0].size()), ImmediateType::Float64);
        break;
    case OperandType::H:
        immediate(u64{half_bits(field(0), spec.fields[0].size())} << 16 | half_bits(field(1), spec.fields[1].size()),
                  ImmediateType::Float16x2);
        break;
    case OperandType::M:
    case OperandType::A:
        operand.kind = spec.type == OperandType::M ? OperandKind::Memory : OperandKind::Attribute;
        operand.reg = static_cast<u8>(field(0));
        if (spec.fields[1].present()) {
            // Without a register the offset is an address: unsigned, and ten bits in the attribute space.
            const u64 bits = field(1) & (spec.type == OperandType::A ? 0x3ff : ~u64{0});
            const i64 offset = operand.reg == zero_register ? static_cast<i64>(bits) : signed_field(1);
            operand.offset = static_cast<i32>(offset * (spec.fields[2].present() ? 4 : 1));
        }
        operand.wide_index = spec.type == OperandType::M && instruction.modifier(Modifier::WideAddress) != 0;
        break;
    case OperandType::AC:
        operand.kind = OperandKind::Attribute;
        operand.offset = static_cast<i32>(field(0));
        break;
    case OperandType::AX:
        operand.kind = OperandKind::Attribute;
        operand.reg = static_cast<u8>(field(0));
        break;
    case OperandType::T:
        operand.kind = OperandKind::Target;
        operand.value = static_cast<u64>(signed_field(0) + instruction.address() + 8);
        break;
    case OperandType::J:
        operand.kind = OperandKind::Target;
        operand.value = field(0);
        break;
    case OperandType::SR:
        operand.kind = OperandKind::SystemRegister;
        operand.value = field(0);
        break;
    case OperandType::SET:
        immediate(field(0), ImmediateType::Integer);
        break;
    }
    return operand;
}

} // namespace heaviside::maxwell
