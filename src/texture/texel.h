// Single texels of uncompressed formats as numbers: for tools and tests, not for speed.
#pragma once

#include "base/types.h"
#include "texture/format.h"

#include <array>
#include <cstddef>

namespace heaviside::texture {

// Red, green, blue, alpha: normalised components in [0, 1] or [-1, 1] (sRGB as stored), integers and floats as they
// are. What a format lacks is 0, alpha 1. Depth is red, stencil green.
using Numbers = std::array<f64, 4>;

// `texel`: block_bytes of the format, which is not compressed (else zeros).
[[nodiscard]] Numbers decode_texel(const FormatInfo& format, const std::byte* texel);
// The nearest value that the format has; ties to even. NaN in a normalised or integer component is 0. Bits that carry
// nothing become 0. Writes nothing for compressed formats.
void encode_texel(const FormatInfo& format, const Numbers& numbers, std::byte* texel);

} // namespace heaviside::texture
