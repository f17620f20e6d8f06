// Software decoders for compressed formats that a device lacks.
#pragma once

#include "base/bytes.h"
#include "base/result.h"
#include "texture/format.h"
#include "texture/tiling.h"

namespace heaviside::texture {

// Decodes one image of `width` x `height` texels from rows of blocks, `row_pitch` bytes apart, into packed texels:
// RGBA8 (linear or sRGB values as stored; signed BC4 and BC5 two's complement), RGBA16F for BC6H. Large images take
// several threads. `out` holds exactly width * height of them. Errors: a
// format that is not compressed, too few bytes. Any thread.
[[nodiscard]] Result<void> decode_blocks(Format format, u32 width, u32 height, Bytes blocks, u64 row_pitch,
                                         MutableBytes out);

} // namespace heaviside::texture
