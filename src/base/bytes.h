// Reading little-endian data that nobody vouches for: a reader that cannot leave its range.
#pragma once

#include "base/types.h"

#include <bit>
#include <cstring>
#include <optional>
#include <span>
#include <type_traits>

namespace heaviside {

static_assert(std::endian::native == std::endian::little, "guest data is little endian and read in place");

using Bytes = std::span<const std::byte>;

// The T at `offset`, or nothing if it does not lie wholly inside `bytes`.
template <class T>
requires std::is_trivially_copyable_v<T>
[[nodiscard]] std::optional<T> read_at(Bytes bytes, u64 offset) {
    if (offset > bytes.size() || bytes.size() - offset < sizeof(T))
        return std::nullopt;
    T value;
    std::memcpy(&value, bytes.data() + offset, sizeof(T));
    return value;
}

// The sub-range, or nothing if it is not wholly inside.
[[nodiscard]] inline std::optional<Bytes> slice(Bytes bytes, u64 offset, u64 size) {
    if (offset > bytes.size() || bytes.size() - offset < size)
        return std::nullopt;
    return bytes.subspan(offset, size);
}

// Bits [first, first + count) of a word, count in 1..64.
[[nodiscard]] constexpr u64 bits(u64 word, unsigned first, unsigned count) {
    return (word >> first) & (count >= 64 ? ~u64{0} : (u64{1} << count) - 1);
}

[[nodiscard]] constexpr i64 sign_extend(u64 value, unsigned width) {
    const u64 sign = u64{1} << (width - 1);
    return static_cast<i64>((value ^ sign) - sign);
}

template <class T>
[[nodiscard]] constexpr T align_up(T value, T alignment) {
    return (value + alignment - 1) / alignment * alignment;
}

} // namespace heaviside
