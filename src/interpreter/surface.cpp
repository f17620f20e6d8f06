// Surfaces: images by texel number, formatted (.P) or as raw bytes (.D).
//
// Coordinates lie in A and behind it, the layer last; C is the handle. Outside the image .IGN loads 0 and drops stores,
// .TRAP is an error, and neither suffix (the nearest texel) clamps.
#include "interpreter/image.h"
#include "interpreter/warp.h"

#include <algorithm>
#include <cmath>

namespace heaviside::interpreter {
namespace {

using maxwell::AtomicOp;
using maxwell::DataType;
using maxwell::SurfaceClamp;
using maxwell::SurfaceDimension;

Texture* texture_of(const Warp& warp, const Instruction& in, unsigned lane) {
    const TextureUnits* const units = warp.workgroup->launch->textures;
    const Operand c = in.operand(Slot::C);
    const u32 handle =
        c.kind == OperandKind::Immediate ? bound_handle(warp, static_cast<u32>(c.value)) : warp.get(c.reg, lane);
    const u32 id = handle & 0xfffff;
    return units && id < units->textures.size() && units->textures[id].width != 0 &&
                   units->textures[id].format.bytes != 0
               ? &units->textures[id]
               : nullptr;
}

// The bytes of a raw access; 0: formatted.
u32 raw_bytes(const Instruction& in) {
    return in.has(Modifier::SurfaceTyped) ? 0 : maxwell::bits_of(in.get<DataType>()) / 8;
}

struct Coordinates {
    std::array<i64, 3> at{}; // x, y, z
    i64 layer = 0;
};

Coordinates coordinates_of(const Warp& warp, const Instruction& in, unsigned lane) {
    const u8 first = in.operand(Slot::A).reg;
    const auto part = [&](u8 n) -> i64 {
        return static_cast<i32>(warp.get(first == maxwell::zero_register ? first : static_cast<u8>(first + n), lane));
    };
    switch (in.get<SurfaceDimension>()) {
    case SurfaceDimension::D1:
    case SurfaceDimension::Buffer:
        return {{part(0), 0, 0}, 0};
    case SurfaceDimension::D1Array:
        return {{part(0), 0, 0}, part(1)};
    case SurfaceDimension::D2:
        return {{part(0), part(1), 0}, 0};
    case SurfaceDimension::D2Array:
        return {{part(0), part(1), 0}, part(2)};
    case SurfaceDimension::D3:
        break;
    }
    return {{part(0), part(1), part(2)}, 0};
}

// The bytes that an access reaches; null: it reaches none (and, with .TRAP, a fault).
std::byte* locate(Warp& warp, const Instruction& in, unsigned lane, u32 size) {
    Texture* const texture = texture_of(warp, in, lane);
    if (!texture)
        return nullptr;
    Coordinates c = coordinates_of(warp, in, lane);
    const u32 texel = texture->format.bytes;
    i64 within = 0; // bytes into the texel
    if (in.has(Modifier::SurfaceByteAddress)) {
        within = ((c.at[0] % texel) + texel) % texel;
        c.at[0] = (c.at[0] - within) / texel;
    }
    const auto clamp = in.get<SurfaceClamp>();
    if (clamp == SurfaceClamp::None) {
        const Texture::Size s = texture->size(0);
        c.at = {std::clamp<i64>(c.at[0], 0, s.width - 1), std::clamp<i64>(c.at[1], 0, s.height - 1),
                std::clamp<i64>(c.at[2], 0, s.depth - 1)};
        c.layer = std::clamp<i64>(c.layer, 0, i64{texture->layers} - 1);
    }
    const bool layer_inside = c.layer >= 0 && c.layer < texture->layers;
    auto offset =
        layer_inside ? texture->offset(c.at[0], c.at[1], c.at[2], static_cast<u32>(c.layer), 0, 0) : std::nullopt;
    if (offset) {
        *offset += static_cast<u64>(within);
        // Raw accesses wider than a texel run on along the row, which ends where the texture's does.
        const u64 row_left =
            (u64{texture->size(0).width} - static_cast<u64>(c.at[0])) * texel - static_cast<u64>(within);
        if (size <= row_left && *offset + size <= texture->texels.size())
            return texture->texels.data() + *offset;
    }
    if (clamp == SurfaceClamp::Trap)
        warp.fault =
            fmt::format("lane {}: surface access at {} {} {} layer {}", lane, c.at[0], c.at[1], c.at[2], c.layer);
    return nullptr;
}

u8 advanced(const Operand& operand, u32 n) {
    return operand.reg == maxwell::zero_register ? operand.reg : static_cast<u8>(operand.reg + n);
}

void suld(Warp& warp, const Instruction& in, u32 mask) {
    const u32 size = raw_bytes(in);
    const Operand d = in.operand(Slot::D);
    const u32 components = in.modifier(Modifier::ComponentMask);
    const DataType type = in.get<DataType>();
    for_lanes(mask, [&](unsigned lane) {
        if (!warp.fault.empty())
            return;
        const std::byte* const bytes = locate(warp, in, lane, size);
        std::array<u32, 4> words{};
        u32 count = std::max(size / 4, 1u);
        if (size != 0) {
            if (bytes)
                std::memcpy(words.data(), bytes, size);
            if (type == DataType::S8 || type == DataType::S16)
                words[0] = static_cast<u32>(sign_extend(words[0], size * 8));
        } else {
            const Texel texel = bytes ? decode_texel(texture_of(warp, in, lane)->format, bytes) : Texel{};
            count = 0;
            for (u32 k = 0; k < 4; ++k)
                if (components >> k & 1)
                    words[count++] = texel[k];
        }
        for (u32 k = 0; k < count; ++k)
            warp.set(advanced(d, k), lane, words[k]);
        warp.set_predicate(in.operand(Slot::P), lane, false);
    });
}

void sust(Warp& warp, const Instruction& in, u32 mask) {
    const u32 size = raw_bytes(in);
    const Operand b = in.operand(Slot::B);
    const u32 components = in.modifier(Modifier::ComponentMask);
    for_lanes(leaving_lanes(warp, mask), [&](unsigned lane) {
        std::byte* const bytes = warp.fault.empty() ? locate(warp, in, lane, size) : nullptr;
        if (!bytes)
            return;
        if (size != 0) {
            std::array<u32, 4> words{};
            for (u32 k = 0; k < std::max(size / 4, 1u); ++k)
                words[k] = warp.get(advanced(b, k), lane);
            std::memcpy(bytes, words.data(), size);
            return;
        }
        const TexelFormat& format = texture_of(warp, in, lane)->format;
        Texel texel = decode_texel(format, bytes); // components that are not in the mask stay
        u32 from = 0;
        for (u32 k = 0; k < 4; ++k)
            if (components >> k & 1)
                texel[k] = warp.get(advanced(b, from++), lane);
        encode_texel(format, texel, bytes);
    });
}

f32 flushed(f32 value) {
    return std::fpclassify(value) == FP_SUBNORMAL ? std::copysign(0.0f, value) : value;
}

u64 combine(AtomicOp op, DataType type, u64 old, u64 operand, u64 compare) {
    const bool wide = type == DataType::U64 || type == DataType::S64 || type == DataType::SD64;
    const bool is_signed =
        type == DataType::S32 || type == DataType::S64 || type == DataType::SD32 || type == DataType::SD64;
    const auto less = [&](u64 a, u64 b) {
        if (!is_signed)
            return a < b;
        return wide ? static_cast<i64>(a) < static_cast<i64>(b) : static_cast<i32>(a) < static_cast<i32>(b);
    };
    switch (op) {
    case AtomicOp::Add:
    case AtomicOp::SafeAdd:
        if (type == DataType::F32FtzRn || type == DataType::F32)
            return std::bit_cast<u32>(flushed(flushed(std::bit_cast<f32>(static_cast<u32>(old))) +
                                              flushed(std::bit_cast<f32>(static_cast<u32>(operand)))));
        return old + operand;
    case AtomicOp::Min:
        return less(operand, old) ? operand : old;
    case AtomicOp::Max:
        return less(old, operand) ? operand : old;
    case AtomicOp::Inc:
        return old >= operand ? 0 : old + 1;
    case AtomicOp::Dec:
        return old == 0 || old > operand ? operand : old - 1;
    case AtomicOp::And:
        return old & operand;
    case AtomicOp::Or:
        return old | operand;
    case AtomicOp::Xor:
        return old ^ operand;
    case AtomicOp::Exch:
        return operand;
    default:
        return old == compare ? operand : old;
    }
}

// .CAS has its rows of their own: the compare value in B, the new value behind it.
template <bool Returns>
void surface_atomic(Warp& warp, const Instruction& in, u32 mask) {
    const Operand b = in.operand(Slot::B), d = in.operand(Slot::D);
    const auto op = in.get<AtomicOp>();
    const DataType named = in.get<DataType>();
    if (named == DataType::F16x2FtzRn || op > AtomicOp::SafeAdd) {
        warp.fault = "this surface atomic is not built";
        return;
    }
    const bool formatted = in.has(Modifier::SurfaceTyped);
    const u32 size = formatted ? 4 : raw_bytes(in), words = size / 4;
    for_lanes(leaving_lanes(warp, mask), [&](unsigned lane) {
        std::byte* const bytes = warp.fault.empty() ? locate(warp, in, lane, size) : nullptr;
        const Texture* const texture = texture_of(warp, in, lane);
        u64 old = 0;
        if (bytes) {
            DataType type = named;
            if (formatted)
                type = texture->format.numeric == Numeric::Sint    ? DataType::S32
                       : texture->format.numeric == Numeric::Float ? DataType::F32
                                                                   : DataType::U32;
            const auto value = [&](u32 first) {
                u64 v = warp.get(advanced(b, first), lane);
                if (words == 2)
                    v |= u64{warp.get(advanced(b, first + 1), lane)} << 32;
                return v;
            };
            std::memcpy(&old, bytes, size);
            const u64 result = op == AtomicOp::Cas ? combine(op, type, old, value(words), value(0))
                                                   : combine(op, type, old, value(0), 0);
            std::memcpy(bytes, &result, size);
        }
        if constexpr (Returns) {
            for (u32 k = 0; k < words; ++k)
                warp.set(advanced(d, k), lane, static_cast<u32>(old >> 32 * k));
            warp.set_predicate(in.operand(Slot::P), lane, false);
        }
    });
}

} // namespace

std::span<const Row> surface_rows() {
    static constexpr Row rows[] = {
        {Opcode::SULD, suld},
        {Opcode::SUST, sust},
        {Opcode::SUATOM, surface_atomic<true>},
        {Opcode::SURED, surface_atomic<false>},
    };
    return rows;
}

} // namespace heaviside::interpreter
