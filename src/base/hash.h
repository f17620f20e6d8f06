// Content identity: 128-bit XXH3, stable across runs and machines.
#pragma once

#include "base/bytes.h"

#include <array>
#include <string>

namespace heaviside {

struct Hash128 {
    u64 low = 0, high = 0;
    friend auto operator<=>(const Hash128&, const Hash128&) = default;
};

[[nodiscard]] Hash128 hash_bytes(Bytes bytes);
[[nodiscard]] std::string to_string(const Hash128& hash); // 32 hex digits

} // namespace heaviside

template <>
struct std::hash<heaviside::Hash128> {
    std::size_t operator()(const heaviside::Hash128& h) const noexcept { return h.low; }
};
