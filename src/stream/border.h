// What the words of a sampler's border mean.
#pragma once

#include "base/types.h"

#include <bit>

namespace heaviside::stream {

// A border component as textures of floats and of integers give it: the same number whatever setter wrote it (ledger
// OBJ-219; classes as SamplerDescription). What no integer can be is 0.
[[nodiscard]] inline f32 border_number(u32 word, u32 border_class) {
    return border_class == 0   ? std::bit_cast<f32>(word)
           : border_class == 1 ? static_cast<f32>(std::bit_cast<i32>(word))
                               : static_cast<f32>(word);
}
[[nodiscard]] inline u32 border_integer(u32 word, u32 border_class) {
    if (border_class != 0)
        return word;
    const f32 number = std::bit_cast<f32>(word);
    return number > -2147483648.0f && number < 4294967296.0f ? static_cast<u32>(static_cast<i64>(number)) : 0;
}

} // namespace heaviside::stream
