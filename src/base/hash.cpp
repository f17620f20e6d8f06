#include "base/hash.h"

#include <fmt/format.h>
#include <xxhash.h>

namespace heaviside {

Hash128 hash_bytes(Bytes bytes) {
    const XXH128_hash_t h = XXH3_128bits(bytes.data(), bytes.size());
    return {h.low64, h.high64};
}

std::string to_string(const Hash128& hash) {
    return fmt::format("{:016x}{:016x}", hash.high, hash.low);
}

} // namespace heaviside
