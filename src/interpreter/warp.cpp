#include "interpreter/warp.h"

namespace heaviside::interpreter {

bool Warp::unwind(u32 mask, TokenKind kind) {
    active &= ~mask;
    for (std::size_t i = stack.size(); i-- > 0;) {
        if (stack[i].kind == kind && (stack[i].mask & mask) == mask)
            return true;
        stack[i].mask &= ~mask;
    }
    return false;
}

u32 constant_word(const Warp& warp, u32 bank, u32 offset) {
    if (bank >= bank_count)
        return 0;
    return read_at<u32>(warp.workgroup->launch->banks[bank], offset & ~3u).value_or(0);
}

u32 raw(const Warp& warp, const Operand& operand, unsigned lane) {
    switch (operand.kind) {
    case OperandKind::Register:
        return warp.get(operand.reg, lane);
    case OperandKind::Constant:
        return constant_word(warp, operand.bank, static_cast<u32>(operand.offset) + warp.get(operand.reg, lane));
    case OperandKind::Immediate:
        return static_cast<u32>(operand.value);
    default:
        return 0;
    }
}

u32 part_of(u32 value, maxwell::Part part, bool is_signed) {
    using maxwell::Part;
    unsigned shift = 0, width = 32;
    switch (part) {
    case Part::B0:
    case Part::B1:
    case Part::B2:
    case Part::B3:
        shift = 8 * (static_cast<unsigned>(part) - static_cast<unsigned>(Part::B0));
        width = 8;
        break;
    case Part::H0:
    case Part::H1:
        shift = part == Part::H1 ? 16 : 0;
        width = 16;
        break;
    default:
        return value;
    }
    const u64 piece = bits(value, shift, width);
    return is_signed ? static_cast<u32>(sign_extend(piece, width)) : static_cast<u32>(piece);
}

Execute execute_of(Opcode opcode) {
    static const auto table = [] {
        std::array<Execute, 256> rows{};
        for (const auto group : {integer_rows(), float_rows(), move_rows(), memory_rows(), flow_rows(),
                                 attribute_rows(), texture_rows(), surface_rows()})
            for (const Row& row : group)
                rows[static_cast<std::size_t>(row.opcode)] = row.execute;
        return rows;
    }();
    return table[static_cast<std::size_t>(opcode)];
}

} // namespace heaviside::interpreter
