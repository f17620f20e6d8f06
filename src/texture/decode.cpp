#include "texture/decode.h"

#include "texture/bc.h"

#define ASTCENC_DYNAMIC_LIBRARY // the shared library exports C names
#include <astcenc.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <thread>
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
    // The decoder's set-up costs more than small images.
    const auto threads = static_cast<unsigned>(
        std::clamp<u64>(u64{width} * height >> 17, 1, std::max(1u, std::thread::hardware_concurrency())));
    if (astcenc_context_alloc(&config, threads, &raw) != ASTCENC_SUCCESS)
        return fail("ASTC decoder: out of memory");
    const std::unique_ptr<astcenc_context, ContextDeleter> context(raw);
    void* slices[] = {out.data()};
    astcenc_image image{width, height, 1, ASTCENC_TYPE_U8, slices};
    const astcenc_swizzle swizzle{ASTCENC_SWZ_R, ASTCENC_SWZ_G, ASTCENC_SWZ_B, ASTCENC_SWZ_A};
    std::vector<astcenc_error> results(threads, ASTCENC_SUCCESS);
    const auto run = [&](unsigned thread) {
        results[thread] = astcenc_decompress_image(context.get(), reinterpret_cast<const uint8_t*>(blocks.data()),
                                                   blocks.size(), &image, &swizzle, thread);
    };
    std::vector<std::thread> others;
    for (unsigned i = 1; i < threads; ++i)
        others.emplace_back(run, i);
    run(0);
    for (std::thread& t : others)
        t.join();
    const auto bad = std::find_if(results.begin(), results.end(), [](auto r) { return r != ASTCENC_SUCCESS; });
    const auto status = bad == results.end() ? ASTCENC_SUCCESS : *bad;
    if (status != ASTCENC_SUCCESS)
        return fail("ASTC decoder: {}", astcenc_get_error_string(status));
    return {};
}

// Rows of blocks, on several threads where that pays.
template <class Row>
void for_each_row(u64 rows, u64 texels, const Row& row) {
    constexpr u64 texels_per_thread = u64{1} << 17; // about a millisecond
    const u64 threads = std::clamp<u64>(texels / texels_per_thread, 1,
                                        std::min<u64>(rows, std::max(1u, std::thread::hardware_concurrency())));
    std::vector<std::thread> others;
    const auto run = [&](u64 first, u64 last) {
        for (u64 y = first; y < last; ++y)
            row(y);
    };
    for (u64 i = 1; i < threads; ++i)
        others.emplace_back(run, rows * i / threads, rows * (i + 1) / threads);
    run(0, rows / threads);
    for (std::thread& t : others)
        t.join();
}

void decode_bc(const FormatInfo& f, u32 width, u32 height, Bytes blocks, u64 row_pitch, MutableBytes out) {
    const u32 texel = f.compression == Compression::Bc6h ? 8 : 4;
    for_each_row((height + 3) / 4, u64{width} * height, [&, texel](u64 by) {
        std::array<std::byte, 128> texels;
        for (u32 bx = 0; bx < (width + 3) / 4; ++bx) {
            decode_bc_block(f, blocks.data() + by * row_pitch + u64{bx} * f.block_bytes, texels.data());
            const u64 x = u64{bx} * 4, columns = std::min<u64>(4, width - x);
            for (u64 y = by * 4; y < std::min<u64>(by * 4 + 4, height); ++y)
                std::memcpy(out.data() + (y * width + x) * texel, texels.data() + y % 4 * 4 * texel, columns * texel);
        }
    });
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
    if (f.compression != Compression::Astc) {
        decode_bc(f, width, height, blocks, row_pitch, out);
        return {};
    }
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
