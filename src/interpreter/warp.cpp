#include "interpreter/warp.h"

namespace heaviside::interpreter {

u32 Warp::unwind(u32 mask, TokenKind kind) {
    active &= ~mask;
    for (auto token = stack.rbegin(); token != stack.rend() && mask != 0; ++token) {
        if (token->kind == kind)
            mask &= ~token->mask; // they wait here
        else
            token->mask &= ~mask;
    }
    return mask;
}

void Workgroup::open_barriers() {
    for (u8 i = 0; i < barrier_count; ++i) {
        Barrier& barrier = barriers[i];
        if (barrier.arrived == 0 ||
            (barrier.threads == 0 ? barrier.arrived < warps_left : barrier.arrived * warp_size < barrier.threads))
            continue;
        for (Warp& warp : warps)
            if (warp.waits_at == i)
                warp.waits_at = no_barrier;
        barrier = {};
    }
}

u32 constant_word(const Warp& warp, u32 bank, u32 offset) {
    if (bank >= bank_count)
        return 0;
    return read_at<u32>(warp.workgroup->launch->banks[bank], offset & ~3u).value_or(0);
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
        for (const auto group :
             {integer_rows(), bit_rows(), float_rows(), double_rows(), half_rows(), special_function_rows(),
              conversion_rows(), condition_rows(), video_rows(), move_rows(), memory_rows(), flow_rows(), atomic_rows(),
              barrier_rows(), lane_rows(), system_rows(), attribute_rows(), texture_rows(), surface_rows()})
            for (const Row& row : group)
                rows[static_cast<std::size_t>(row.opcode)] = row.execute;
        return rows;
    }();
    return table[static_cast<std::size_t>(opcode)];
}

} // namespace heaviside::interpreter
