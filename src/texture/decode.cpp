#include "texture/decode.h"

#define ASTCENC_DYNAMIC_LIBRARY // the shared library exports C names
#include <astcenc.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

namespace heaviside::texture {
namespace {

struct ContextDeleter {
    void operator()(astcenc_context* c) const { astcenc_context_free(c); }
};

Result<void> decode_astc(const FormatInfo& f, u32 width, u32 height, Bytes blocks, MutableBytes out) {
    astcenc_config config{};
    if (astcenc_config_init(f.srgb ? ASTCENC_PRF_LDR_SRGB : ASTCENC_PRF_LDR, f.block_width, f.block_height, 1,
                            ASTCENC_PRE_FASTEST, ASTCENC_FLG_DECOMPRESS_ONLY, &config) != ASTCENC_SUCCESS)
        return fail("ASTC {} x {}: no decoder", f.block_width, f.block_height);
    astcenc_context* raw = nullptr;
    if (astcenc_context_alloc(&config, 1, &raw) != ASTCENC_SUCCESS)
        return fail("ASTC decoder: out of memory");
    const std::unique_ptr<astcenc_context, ContextDeleter> context(raw);
    void* slices[] = {out.data()};
    astcenc_image image{width, height, 1, ASTCENC_TYPE_U8, slices};
    const astcenc_swizzle swizzle{ASTCENC_SWZ_R, ASTCENC_SWZ_G, ASTCENC_SWZ_B, ASTCENC_SWZ_A};
    const auto status = astcenc_decompress_image(context.get(), reinterpret_cast<const uint8_t*>(blocks.data()),
                                                 blocks.size(), &image, &swizzle, 0);
    if (status != ASTCENC_SUCCESS)
        return fail("ASTC decoder: {}", astcenc_get_error_string(status));
    return {};
}

} // namespace

Result<void> decode_blocks(Format format, u32 width, u32 height, Bytes blocks, u64 row_pitch, MutableBytes out) {
    const FormatInfo& f = info(format);
    if (f.compression == Compression::None)
        return fail("format {} is not compressed", f.name);
    const u64 across = (width + f.block_width - 1) / f.block_width,
              down = (height + f.block_height - 1) / f.block_height;
    const u64 row = across * f.block_bytes;
    if (down == 0 || across == 0)
        return {};
    if (row_pitch < row || blocks.size() < (down - 1) * row_pitch + row)
        return fail("{} x {} of {}: {} bytes are too few", width, height, f.name, blocks.size());
    if (out.size() != u64{width} * height * (f.compression == Compression::Bc6h ? 8u : 4u))
        return fail("decoded image of {} bytes has the wrong size", out.size());
    if (f.compression != Compression::Astc)
        return fail("format {}: no software decoder yet", f.name);
    std::vector<std::byte> packed_rows;
    if (row_pitch != row) {
        packed_rows.resize(row * down);
        for (u64 y = 0; y < down; ++y)
            std::memcpy(packed_rows.data() + y * row, blocks.data() + y * row_pitch, row);
        blocks = packed_rows;
    }
    return decode_astc(f, width, height, blocks.first(row * down), out);
}

} // namespace heaviside::texture
