// BC1 to BC7 in software: one block of 4 x 4 texels at a time.
#pragma once

#include "base/types.h"
#include "texture/format.h"

#include <cstddef>

namespace heaviside::texture {

// Decodes a block (8 bytes of BC1 and BC4, else 16) to 16 texels in rows: four bytes each, red first (signed BC4, BC5:
// two's complement), of BC6H four half floats. Blocks of reserved modes give zeros with, in BC6H, alpha one.
void decode_bc_block(const FormatInfo& format, const std::byte* block, std::byte* texels);

} // namespace heaviside::texture
