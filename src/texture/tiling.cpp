#include "texture/tiling.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

#if defined(__x86_64__) || defined(__i386__)
#define HEAVISIDE_X86 1
#include <immintrin.h>
#endif

namespace heaviside::texture {
namespace {

// Byte offsets of a GOB's 16-byte pieces: by column (x / 16) and row (y % 8).
struct GobPieces {
    u32 column[4];
    u32 row[8];
};
constexpr GobPieces pieces_of[] = {
    {{0, 32, 256, 288}, {0, 16, 64, 80, 128, 144, 192, 208}}, // Tegra X1
    {{0, 64, 256, 320}, {0, 16, 32, 48, 128, 144, 160, 176}}, // Switch 2: offset bits 5 and 6 exchanged
};

const GobPieces& pieces(GobOrder order) {
    return pieces_of[order == GobOrder::Switch2];
}

struct ToRows {
    using Tiled = const std::byte*;
    using Linear = std::byte*;
    static constexpr bool to_rows = true;
    static void copy(Tiled tiled, Linear linear, std::size_t n) { std::memcpy(linear, tiled, n); }
    static void piece(Tiled tiled, Linear linear) { std::memcpy(linear, tiled, 16); }
};
struct ToTiled {
    using Tiled = std::byte*;
    using Linear = const std::byte*;
    static constexpr bool to_rows = false;
    static void copy(Tiled tiled, Linear linear, std::size_t n) { std::memcpy(tiled, linear, n); }
    static void piece(Tiled tiled, Linear linear) { std::memcpy(tiled, linear, 16); }
};

// Rows [y, y_end) of one GOB row, bytes [x, x_end): any alignment.
template <class Direction>
void copy_partial(typename Direction::Tiled gob_row, u64 gob_stride, const GobPieces& at, u32 x, u32 x_end, u32 y,
                  u32 y_end, typename Direction::Linear linear, u64 pitch) {
    if (x == x_end)
        return;
    for (; y < y_end; ++y, linear += pitch) {
        const auto row = gob_row + at.row[y % 8];
        auto out = linear;
        for (u32 b = x; b < x_end;) {
            const auto piece = row + b / gob_width * gob_stride + at.column[b % gob_width / 16];
            const u32 n = std::min(16 - b % 16, x_end - b);
            if (n == 16)
                Direction::piece(piece, out);
            else
                Direction::copy(piece + b % 16, out, n);
            out += n;
            b += n;
        }
    }
}

// A run of GOBs side by side, `stride` bytes apart in storage: 8 rows of count * 64 bytes.
template <class Direction>
struct Run {
    typename Direction::Tiled gobs;
    u64 stride;
    u32 count;
    typename Direction::Linear rows;
    u64 pitch;
    bool streamed; // past the caches: more is written than they hold. Rows and storage at multiples of 32 bytes then
};

template <class Direction, u8 order>
void copy_run(const Run<Direction>& r) {
    constexpr GobPieces at = pieces_of[order];
    for (u32 g = 0; g < r.count; ++g) {
        const auto gob = r.gobs + g * r.stride;
        auto linear = r.rows + u64{g} * gob_width;
        for (u32 y = 0; y < gob_height; ++y, linear += r.pitch)
            for (u32 c = 0; c < 4; ++c)
                Direction::piece(gob + at.column[c] + at.row[y], linear + 16 * c);
    }
}

#if HEAVISIDE_X86
// A row and the next one lie in halves of the same 32 bytes, so two of those, half a row apart, exchange halves.
#define HEAVISIDE_AVX2 __attribute__((target("avx2")))
HEAVISIDE_AVX2 inline __m256i load(const std::byte* p) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
}
HEAVISIDE_AVX2 inline void store(std::byte* p, __m256i v, bool streamed) {
    if (streamed)
        _mm256_stream_si256(reinterpret_cast<__m256i*>(p), v);
    else
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), v);
}
HEAVISIDE_AVX2 inline void exchange(const std::byte* a, const std::byte* b, std::byte* out_a, std::byte* out_b,
                                    bool streamed) {
    const __m256i first = load(a), second = load(b);
    store(out_a, _mm256_permute2x128_si256(first, second, 0x20), streamed);
    store(out_b, _mm256_permute2x128_si256(first, second, 0x31), streamed);
}

template <class Direction, u8 order>
HEAVISIDE_AVX2 void copy_run_avx2(const Run<Direction>& r) {
    constexpr GobPieces at = pieces_of[order];
    const bool streamed = r.streamed;
    for (u32 g = 0; g < r.count; ++g) {
        const auto gob = r.gobs + g * r.stride;
        if constexpr (Direction::to_rows) // the hardware sees no pattern in jumps from block to block
            for (u32 line = 0; line < gob_bytes; line += 64)
                _mm_prefetch(reinterpret_cast<const char*>(gob + (streamed ? u64{gob_bytes} : 2 * r.stride) + line),
                             _MM_HINT_T0);
        auto linear = r.rows + u64{g} * gob_width;
        for (u32 y = 0; y < gob_height; y += 2, linear += 2 * r.pitch)
            for (u32 half = 0; half < 2; ++half) {
                const auto left = gob + at.row[y] + at.column[2 * half],
                           right = gob + at.row[y] + at.column[2 * half + 1];
                const auto upper = linear + 32 * half, lower = upper + r.pitch;
                if constexpr (Direction::to_rows)
                    exchange(left, right, upper, lower, streamed);
                else
                    exchange(upper, lower, left, right, streamed);
            }
    }
}
#endif

template <class Direction, u8 order>
auto run_function() -> void (*)(const Run<Direction>&) {
#if HEAVISIDE_X86
    if (__builtin_cpu_supports("avx2"))
        return copy_run_avx2<Direction, order>;
#endif
    return copy_run<Direction, order>;
}

// Where all is whole GOBs and far more than the caches hold: block by block, so that storage is walked in order.
template <class Direction, u8 order>
void copy_streamed(const Level& level, const BlockRegion& r, u32 row_bytes, typename Direction::Tiled tiled,
                   typename Direction::Linear rows, const LinearPitch& pitch) {
    const auto copy_gobs = run_function<Direction, order>();
    constexpr u32 strip = 4; // GOBs side by side
    const u64 stride = u64{gob_bytes} << (level.block_height_log2 + level.block_depth_log2);
    const u32 gobs = row_bytes / gob_width, gob_rows = r.height / gob_height, block = 1u << level.block_height_log2;
    for (u32 z = 0; z < r.depth; ++z)
        for (u32 top = 0; top < gob_rows; top += block)
            for (u32 x = 0; x < gobs; x += strip)
                for (u32 y = top; y < std::min(top + block, gob_rows); ++y)
                    copy_gobs({tiled + tiled_offset(level, static_cast<GobOrder>(order), x * gob_width, y * gob_height,
                                                    r.z + z),
                               stride, std::min(strip, gobs - x),
                               rows + z * pitch.slice + u64{y} * gob_height * pitch.row + u64{x} * gob_width, pitch.row,
                               true});
#if HEAVISIDE_X86
    _mm_sfence();
#endif
}

template <class Direction>
bool can_stream(const BlockRegion& r, u32 row_bytes, typename Direction::Tiled tiled, typename Direction::Linear rows,
                const LinearPitch& pitch) {
#if HEAVISIDE_X86
    constexpr u64 large = u64{16} << 20; // half a last-level cache of the processors at hand
    const u64 alignment =
        reinterpret_cast<std::uintptr_t>(rows) | reinterpret_cast<std::uintptr_t>(tiled) | pitch.row | pitch.slice;
    return u64{row_bytes} * r.height * r.depth >= large && r.x == 0 && r.y == 0 && row_bytes % gob_width == 0 &&
           r.height % gob_height == 0 && alignment % 32 == 0 && __builtin_cpu_supports("avx2");
#else
    return false;
#endif
}

template <class Direction, u8 order>
void copy_tiled(const Level& level, u32 block_bytes, const BlockRegion& r, typename Direction::Tiled tiled,
                typename Direction::Linear rows, const LinearPitch& pitch) {
    if (can_stream<Direction>(r, r.width * block_bytes, tiled, rows, pitch))
        return copy_streamed<Direction, order>(level, r, r.width * block_bytes, tiled, rows, pitch);
    constexpr GobPieces at = pieces_of[order];
    const auto copy_gobs = run_function<Direction, order>();
    const u64 gob_stride = u64{gob_bytes} << (level.block_height_log2 + level.block_depth_log2);
    const u32 x_begin = r.x * block_bytes, x_end = (r.x + r.width) * block_bytes;
    const u32 whole_begin = std::min(align_up(x_begin, gob_width), x_end);
    const u32 whole_end = std::max(x_end / gob_width * gob_width, whole_begin);
    for (u32 z = r.z; z < r.z + r.depth; ++z) {
        for (u32 y = r.y; y < r.y + r.height;) {
            const u32 y_end = std::min(align_up(y + 1, gob_height), r.y + r.height);
            const auto gob_row =
                tiled + tiled_offset(level, static_cast<GobOrder>(order), 0, y / gob_height * gob_height, z);
            const auto linear = rows + (z - r.z) * pitch.slice + (y - r.y) * pitch.row;
            if (y_end - y == gob_height) {
                copy_partial<Direction>(gob_row, gob_stride, at, x_begin, whole_begin, y, y_end, linear, pitch.row);
                copy_gobs({gob_row + whole_begin / gob_width * gob_stride, gob_stride,
                           (whole_end - whole_begin) / gob_width, linear + (whole_begin - x_begin), pitch.row, false});
                copy_partial<Direction>(gob_row, gob_stride, at, whole_end, x_end, y, y_end,
                                        linear + (whole_end - x_begin), pitch.row);
            } else {
                copy_partial<Direction>(gob_row, gob_stride, at, x_begin, x_end, y, y_end, linear, pitch.row);
            }
            y = y_end;
        }
    }
}

template <class Direction>
void copy_pitched(const Layout& layout, const BlockRegion& r, typename Direction::Tiled storage,
                  typename Direction::Linear rows, const LinearPitch& pitch) {
    const std::size_t n = std::size_t{r.width} * layout.block_bytes;
    const u64 slice = layout.levels[0].size / layout.levels[0].depth;
    for (u32 z = 0; z < r.depth; ++z)
        for (u32 y = 0; y < r.height; ++y)
            Direction::copy(storage + (r.z + z) * slice + u64{r.y + y} * layout.pitch + u64{r.x} * layout.block_bytes,
                            rows + z * pitch.slice + y * pitch.row, n);
}

// Checks everything and gives the level's first byte in the storage.
Result<u64> locate(const Layout& layout, u32 layer, u32 index, const BlockRegion& r, u64 storage_size, u64 rows_size,
                   const LinearPitch& pitch) {
    if (layer >= layout.layers || index >= layout.level_count)
        return fail("layer {} level {} of a texture of {} layers, {} levels", layer, index, layout.layers,
                    layout.level_count);
    const Level& level = layout.levels[index];
    if (r.x > level.blocks_x || r.width > level.blocks_x - r.x || r.y > level.blocks_y ||
        r.height > level.blocks_y - r.y || r.z > level.depth || r.depth > level.depth - r.z)
        return fail("region {},{},{} of {} x {} x {} blocks leaves a level of {} x {} x {}", r.x, r.y, r.z, r.width,
                    r.height, r.depth, level.blocks_x, level.blocks_y, level.depth);
    if (u64 need = linear_size(layout, r, pitch); need > rows_size)
        return fail("region needs {} bytes of rows, {} are there", need, rows_size);
    const u64 first = layer * layout.layer_stride + level.offset;
    u64 end = first + level.size;
    if (layout.linear && r.width && r.height && r.depth) // the last row needs no padding behind it
        end = first + (r.z + r.depth - 1) * (level.size / level.depth) + u64{r.y + r.height - 1} * layout.pitch +
              u64{r.x + r.width} * layout.block_bytes;
    if (end > storage_size)
        return fail("level {} ends at {:#x}, its storage at {:#x}", index, end, storage_size);
    return first;
}

template <class Direction>
void copy(const Layout& layout, u32 index, const BlockRegion& region, typename Direction::Tiled level_start,
          typename Direction::Linear rows, const LinearPitch& pitch, GobOrder order) {
    if (layout.linear)
        copy_pitched<Direction>(layout, region, level_start, rows, pitch);
    else if (order == GobOrder::TegraX1)
        copy_tiled<Direction, 0>(layout.levels[index], layout.block_bytes, region, level_start, rows, pitch);
    else
        copy_tiled<Direction, 1>(layout.levels[index], layout.block_bytes, region, level_start, rows, pitch);
}

} // namespace

u64 tiled_offset(const Level& level, GobOrder order, u32 x, u32 y, u32 z) {
    const u32 bh = level.block_height_log2, bd = level.block_depth_log2;
    const u32 gob_y = y / gob_height;
    const u64 rows = align_up((level.blocks_y + gob_height - 1) / gob_height, 1u << bh);
    const u64 blocks_high = rows >> bh;
    const u64 block = ((z >> bd) * blocks_high + (gob_y >> bh)) * level.gobs_x + x / gob_width;
    const u64 gob = (block << (bh + bd)) + (u64{z & ((1u << bd) - 1)} << bh) + (gob_y & ((1u << bh) - 1));
    const GobPieces& at = pieces(order);
    return gob * gob_bytes + at.column[x % gob_width / 16] + at.row[y % gob_height] + x % 16;
}

BlockRegion whole(const Level& level) {
    return {0, 0, 0, level.blocks_x, level.blocks_y, level.depth};
}

LinearPitch packed(const Layout& layout, const BlockRegion& region) {
    const u64 row = u64{region.width} * layout.block_bytes;
    return {row, row * region.height};
}

u64 linear_size(const Layout& layout, const BlockRegion& r, const LinearPitch& pitch) {
    if (!r.width || !r.height || !r.depth)
        return 0;
    return (r.depth - 1) * pitch.slice + (r.height - 1) * pitch.row + u64{r.width} * layout.block_bytes;
}

Result<void> read_region(const Layout& layout, u32 layer, u32 level, const BlockRegion& region, Bytes storage,
                         MutableBytes rows, const LinearPitch& pitch, GobOrder order) {
    const auto first = locate(layout, layer, level, region, storage.size(), rows.size(), pitch);
    if (!first)
        return tl::unexpected(first.error());
    copy<ToRows>(layout, level, region, storage.data() + *first, rows.data(), pitch, order);
    return {};
}

Result<void> write_region(const Layout& layout, u32 layer, u32 level, const BlockRegion& region, MutableBytes storage,
                          Bytes rows, const LinearPitch& pitch, GobOrder order) {
    const auto first = locate(layout, layer, level, region, storage.size(), rows.size(), pitch);
    if (!first)
        return tl::unexpected(first.error());
    copy<ToTiled>(layout, level, region, storage.data() + *first, rows.data(), pitch, order);
    return {};
}

} // namespace heaviside::texture
