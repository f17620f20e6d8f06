// Atomic operations on global and shared memory. Lanes of a warp take their turns in order.
#include "interpreter/memory.h"

#include "maxwell/half.h"

#include <algorithm>
#include <cmath>

namespace heaviside::interpreter {
namespace {

using maxwell::AtomicOp;
using maxwell::DataType;

// Denormals count as zeros, as the .FTZ in all forms with floats says.
u32 add_singles(u32 a, u32 b) {
    const auto flushed = [](u32 word) { return (word & 0x7f800000) == 0 ? word & 0x80000000 : word; };
    const f32 sum = std::bit_cast<f32>(flushed(a)) + std::bit_cast<f32>(flushed(b));
    return std::isnan(sum) ? 0x7fffffff : flushed(std::bit_cast<u32>(sum));
}

// The nearest half of an exact sum; ties go to the even one.
u32 nearest_half(f64 value) {
    if (std::isnan(value))
        return 0x7fff;
    const u32 sign = std::signbit(value) ? 0x8000u : 0;
    const f64 magnitude = std::fabs(value);
    if (magnitude >= 65520)
        return sign | 0x7c00;
    int exponent = 0;
    std::frexp(magnitude, &exponent);
    const int unit = std::max(exponent - 11, -24); // of the last place
    return sign | maxwell::half_bits(std::ldexp(std::nearbyint(std::ldexp(magnitude, -unit)), unit)).value_or(0);
}

u32 add_halves(u32 a, u32 b) {
    const auto flushed = [](u32 half) { return (half & 0x7c00) == 0 ? half & 0x8000 : half; };
    u32 result = 0;
    for (unsigned shift = 0; shift < 32; shift += 16) {
        const f64 x = maxwell::half_value(flushed(a >> shift & 0xffff));
        const f64 y = maxwell::half_value(flushed(b >> shift & 0xffff));
        result |= flushed(nearest_half(x + y)) << shift;
    }
    return result;
}

bool is_wide(DataType type) {
    return type == DataType::U64 || type == DataType::S64;
}
bool is_float(DataType type) {
    return type == DataType::F32FtzRn || type == DataType::F16x2FtzRn;
}

bool less(DataType type, u64 a, u64 b) {
    switch (type) {
    case DataType::S32:
        return static_cast<i32>(a) < static_cast<i32>(b);
    case DataType::S64:
        return static_cast<i64>(a) < static_cast<i64>(b);
    default:
        return a < b;
    }
}

// What memory holds afterwards; nothing if there is no such operation on the type.
std::optional<u64> combined(AtomicOp op, DataType type, u64 old, u64 value) {
    if (is_float(type)) {
        if (op == AtomicOp::Exch)
            return value;
        if (op != AtomicOp::Add && op != AtomicOp::SafeAdd)
            return std::nullopt;
        const auto a = static_cast<u32>(old), b = static_cast<u32>(value);
        return type == DataType::F32FtzRn ? add_singles(a, b) : add_halves(a, b);
    }
    switch (op) {
    case AtomicOp::Add:
    case AtomicOp::SafeAdd:
        return old + value;
    case AtomicOp::Min:
        return less(type, value, old) ? value : old;
    case AtomicOp::Max:
        return less(type, old, value) ? value : old;
    case AtomicOp::Inc:
        return old >= value ? 0 : old + 1;
    case AtomicOp::Dec:
        return old == 0 || old > value ? value : old - 1;
    case AtomicOp::And:
        return old & value;
    case AtomicOp::Or:
        return old | value;
    case AtomicOp::Xor:
        return old ^ value;
    case AtomicOp::Exch:
        return value;
    default:
        return std::nullopt;
    }
}

u64 register_value(const Warp& warp, u8 reg, unsigned lane, bool wide) {
    if (reg == maxwell::zero_register)
        return 0;
    return warp.get(reg, lane) | (wide ? u64{warp.get(static_cast<u8>(reg + 1), lane)} << 32 : 0);
}

void set_register_value(Warp& warp, u8 reg, unsigned lane, u64 value, bool wide) {
    if (reg == maxwell::zero_register)
        return;
    warp.set(reg, lane, static_cast<u32>(value));
    if (wide)
        warp.set(static_cast<u8>(reg + 1), lane, static_cast<u32>(value >> 32));
}

// ATOM, ATOMS and RED. CAST is a compare-and-swap that gives 1 where it swapped and 0 elsewhere; .SPIN is a hint.
template <Space S>
void atomic(Warp& warp, const Instruction& in, u32 mask) {
    const Operand d = in.operand(Slot::D), p = in.operand(Slot::P), a = in.operand(Slot::A), b = in.operand(Slot::B);
    const auto op = in.get<AtomicOp>();
    const auto type = in.get<DataType>();
    const bool wide = is_wide(type), swap = op == AtomicOp::Cas || op == AtomicOp::Cast;
    const u32 size = wide ? 8 : 4;
    // Of a pair of compare value and new value one may be RZ (instruction.h).
    constexpr u8 zero = maxwell::zero_register;
    const u8 compare = b.value == 2 ? zero : b.reg;
    const u8 replace = b.value == 1 || b.reg == zero ? zero
                       : b.value == 2                ? b.reg
                                                     : static_cast<u8>(b.reg + (wide ? 2 : 1));
    for_lanes(S == Space::Global ? leaving_lanes(warp, mask) : mask, [&](unsigned lane) {
        std::byte* const bytes = locate(warp, S, a, lane, size);
        if (!bytes)
            return;
        u64 old = 0;
        std::memcpy(&old, bytes, size);
        std::optional<u64> result;
        u64 given = old;
        if (swap) {
            const bool equal = old == register_value(warp, compare, lane, wide);
            result = equal ? register_value(warp, replace, lane, wide) : old;
            given = op == AtomicOp::Cast ? u64{equal} : old;
        } else {
            result = combined(op, type, old, register_value(warp, b.reg, lane, wide));
        }
        if (!result) {
            warp.raise(lane, "there is no such operation on this type");
            return;
        }
        std::memcpy(bytes, &*result, size);
        if (d.kind == OperandKind::Register)
            set_register_value(warp, d.reg, lane, given, wide && op != AtomicOp::Cast);
        warp.set_predicate(p, lane, false); // residency: nothing was missing
    });
}

} // namespace

std::span<const Row> atomic_rows() {
    static constexpr Row rows[] = {
        {Opcode::ATOM, atomic<Space::Global>},
        {Opcode::RED, atomic<Space::Global>},
        {Opcode::ATOMS, atomic<Space::Shared>},
    };
    return rows;
}

} // namespace heaviside::interpreter
