// Number names, and strong integers: TextureId and GuestAddress do not mix by accident.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>

namespace heaviside {

using u8 = std::uint8_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using i8 = std::int8_t;
using i16 = std::int16_t;
using i32 = std::int32_t;
using i64 = std::int64_t;
using f32 = float;
using f64 = double;

// An integer that converts to nothing else. Tag is any (incomplete) type of its own.
template <class Tag, class Value>
struct Strong {
    Value value{};
    constexpr Strong() = default;
    constexpr explicit Strong(Value v) : value(v) {}
    friend constexpr auto operator<=>(const Strong&, const Strong&) = default;
};

// A GPU virtual address as the guest sees it. Under the identity mapping it is also the host pointer.
struct GuestAddress : Strong<GuestAddress, u64> {
    using Strong::Strong;
    constexpr GuestAddress operator+(u64 bytes) const { return GuestAddress{value + bytes}; }
    constexpr u64 operator-(GuestAddress other) const { return value - other.value; }
};

// Index into the texture pool (bits 0-19 of a handle) and into the sampler pool (bits 20-31).
struct TextureId : Strong<TextureId, u32> {
    using Strong::Strong;
};
struct SamplerId : Strong<SamplerId, u32> {
    using Strong::Strong;
};

} // namespace heaviside

template <>
struct std::hash<heaviside::GuestAddress> {
    std::size_t operator()(heaviside::GuestAddress a) const noexcept { return std::hash<std::uint64_t>{}(a.value); }
};
