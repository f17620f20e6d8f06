#include "shader/storage_address.h"

namespace heaviside::shader::ir {

namespace {

constexpr u32 absent = ~0u;

std::optional<u32> row_of(const program::DriverBankLayout& layout, Stage stage, u32 offset) {
    const u32 storage = layout.storage_buffers[static_cast<std::size_t>(stage)];
    if (storage != absent && offset >= storage && (offset - storage) % 16 == 0 &&
        (offset - storage) / 16 < banks::window_slots)
        return banks::storage_row + (offset - storage) / 16;
    const u32 uniform = layout.compute_uniform_addresses;
    if (stage == Stage::Compute && uniform != absent && offset >= uniform &&
        (offset - uniform) % layout.compute_uniform_stride == 0) {
        const u32 slot = (offset - uniform) / layout.compute_uniform_stride + layout.compute_uniform_first;
        if (slot >= layout.compute_uniform_banks && slot < banks::window_slots)
            return banks::uniform_row + slot;
    }
    return std::nullopt;
}

// The constant offset of a word in c[0], or ~0u.
u32 driver_word(const Program& program, Value v) {
    const Inst& inst = program[v];
    if (inst.op != Op::LoadBank || inst.imm != 0 || !program.is_const(program.arg(v, 0)))
        return absent;
    return program.const_word(program.arg(v, 0)) & ~3u;
}

} // namespace

std::optional<StorageAddress> storage_address(const Program& program, Value address,
                                              const program::DriverBankLayout& layout) {
    constexpr i64 farthest = i64{1} << 24; // the displacement of an instruction has 24 bits
    constexpr std::size_t most = 8;        // terms of a sum
    StorageAddress found;
    u64 displacement = 0; // as addresses do, it wraps around
    bool based = false;
    std::vector<Value> terms{address};
    for (std::size_t i = 0; i < terms.size(); ++i) {
        const Value v = terms[i];
        const Inst& inst = program[v];
        if (inst.op == Op::Const) {
            displacement += program.const_long(v);
        } else if (inst.op == Op::IAdd64 && terms.size() < most) {
            terms.push_back(program.arg(v, 0));
            terms.push_back(program.arg(v, 1));
        } else if (inst.op == Op::Pack64) {
            const Value low = program.arg(v, 0), high = program.arg(v, 1);
            const u32 at = driver_word(program, low);
            const auto row =
                at != absent && driver_word(program, high) == at + 4 ? row_of(layout, program.stage, at) : std::nullopt;
            if (row && !based) {
                found.row = *row;
                based = true;
            } else {
                found.offsets.push_back(program.is_const(high) && program.const_word(high) == 0 ? low : v);
            }
        } else {
            found.offsets.push_back(v);
        }
    }
    found.displacement = static_cast<i64>(displacement);
    if (!based || found.displacement <= -farthest || found.displacement >= farthest)
        return std::nullopt;
    return found;
}

} // namespace heaviside::shader::ir
