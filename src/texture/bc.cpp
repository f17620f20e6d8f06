// From the Khronos Data Format Specification's chapters on S3TC, RGTC and BPTC.
#include "texture/bc.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace heaviside::texture {
namespace {

using Texel = std::array<u8, 4>;

u64 word(const std::byte* p) {
    u64 v;
    std::memcpy(&v, p, sizeof v);
    return v;
}

// --- BC1 to BC5 ---

Texel rgb565(u32 c) {
    const u32 r = c >> 11, g = c >> 5 & 63, b = c & 31;
    return {static_cast<u8>(r << 3 | r >> 2), static_cast<u8>(g << 2 | g >> 4), static_cast<u8>(b << 3 | b >> 2), 255};
}

Texel mix(const Texel& a, const Texel& b, u32 wa, u32 wb) {
    Texel out{0, 0, 0, 255};
    const u32 sum = wa + wb;
    for (std::size_t i = 0; i < 3; ++i)
        out[i] = static_cast<u8>((wa * a[i] + wb * b[i] + sum / 2) / sum);
    return out;
}

// `always_four`: the colours of BC2 and BC3, which have their alpha elsewhere.
void decode_colors(u64 block, bool always_four, bool transparent, Texel* out) {
    const u32 first = block & 0xffff, second = block >> 16 & 0xffff;
    const Texel a = rgb565(first), b = rgb565(second);
    Texel palette[4] = {a, b, {}, {}};
    if (always_four || first > second) {
        palette[2] = mix(a, b, 2, 1);
        palette[3] = mix(a, b, 1, 2);
    } else {
        palette[2] = mix(a, b, 1, 1);
        palette[3] = {0, 0, 0, static_cast<u8>(transparent ? 0 : 255)};
    }
    for (u32 i = 0; i < 16; ++i)
        out[i] = palette[block >> (32 + 2 * i) & 3];
}

// The eight-step ramp of BC3's alpha, BC4 and BC5, into one channel.
void decode_ramp(u64 block, bool is_signed, std::size_t channel, Texel* out) {
    i32 ends[2] = {static_cast<i32>(block & 0xff), static_cast<i32>(block >> 8 & 0xff)};
    if (is_signed)
        for (i32& e : ends)
            e = std::max<i32>(static_cast<i8>(e), -127);
    i32 ramp[8] = {ends[0], ends[1]};
    const i32 steps = ends[0] > ends[1] ? 7 : 5;
    for (i32 i = 1; i < steps; ++i) {
        const i32 sum = (steps - i) * ends[0] + i * ends[1];
        ramp[i + 1] = (sum + (sum < 0 ? -steps / 2 : steps / 2)) / steps;
    }
    if (steps == 5) {
        ramp[6] = is_signed ? -127 : 0;
        ramp[7] = is_signed ? 127 : 255;
    }
    for (u32 i = 0; i < 16; ++i)
        out[i][channel] = static_cast<u8>(ramp[block >> (16 + 3 * i) & 7]);
}

// --- BC6H and BC7 ---

// Subset of each texel: a bit of two subsets, two bits of three.
constexpr u16 two_subsets[64] = {0xcccc, 0x8888, 0xeeee, 0xecc8, 0xc880, 0xfeec, 0xfec8, 0xec80, 0xc800, 0xffec, 0xfe80,
                                 0xe800, 0xffe8, 0xff00, 0xfff0, 0xf000, 0xf710, 0x008e, 0x7100, 0x08ce, 0x008c, 0x7310,
                                 0x3100, 0x8cce, 0x088c, 0x3110, 0x6666, 0x366c, 0x17e8, 0x0ff0, 0x718e, 0x399c, 0xaaaa,
                                 0xf0f0, 0x5a5a, 0x33cc, 0x3c3c, 0x55aa, 0x9696, 0xa55a, 0x73ce, 0x13c8, 0x324c, 0x3bdc,
                                 0x6996, 0xc33c, 0x9966, 0x0660, 0x0272, 0x04e4, 0x4e40, 0x2720, 0xc936, 0x936c, 0x39c6,
                                 0x639c, 0x9336, 0x9cc6, 0x817e, 0xe718, 0xccf0, 0x0fcc, 0x7744, 0xee22};
constexpr u32 three_subsets[64] = {
    0xaa685050, 0x6a5a5040, 0x5a5a4200, 0x5450a0a8, 0xa5a50000, 0xa0a05050, 0x5555a0a0, 0x5a5a5050,
    0xaa550000, 0xaa555500, 0xaaaa5500, 0x90909090, 0x94949494, 0xa4a4a4a4, 0xa9a59450, 0x2a0a4250,
    0xa5945040, 0x0a425054, 0xa5a5a500, 0x55a0a0a0, 0xa8a85454, 0x6a6a4040, 0xa4a45000, 0x1a1a0500,
    0x0050a4a4, 0xaaa59090, 0x14696914, 0x69691400, 0xa08585a0, 0xaa821414, 0x50a4a450, 0x6a5a0200,
    0xa9a58000, 0x5090a0a8, 0xa8a09050, 0x24242424, 0x00aa5500, 0x24924924, 0x24499224, 0x50a50a50,
    0x500aa550, 0xaaaa4444, 0x66660000, 0xa5a0a5a0, 0x50a050a0, 0x69286928, 0x44aaaa44, 0x66666600,
    0xaa444444, 0x54a854a8, 0x95809580, 0x96969600, 0xa85454a8, 0x80959580, 0xaa141414, 0x96960000,
    0xaaaa1414, 0xa05050a0, 0xa0a5a5a0, 0x96000000, 0x40804080, 0xa9a8a9a8, 0xaaaaaa44, 0x2a4a5254};
// Texels whose index lacks its highest bit, which is 0: of subset 0 texel 0, of the others these.
constexpr u8 anchor_of_two[64] = {15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 2,  8, 2, 2, 8,
                                  8,  15, 2,  8,  2,  2,  8,  8,  2,  2,  15, 15, 6,  8,  2,  8,  15, 15, 2, 8, 2, 2,
                                  2,  15, 15, 6,  6,  2,  6,  8,  15, 15, 2,  2,  15, 15, 15, 15, 15, 2,  2, 15};
constexpr u8 second_of_three[64] = {3,  3,  15, 15, 8, 3,  15, 15, 8,  8,  6, 6,  6, 5,  3, 3,  3,  3,  8,  15, 3,  3,
                                    6,  10, 5,  8,  8, 6,  8,  5,  15, 15, 8, 15, 3, 5,  6, 10, 8,  15, 15, 3,  15, 5,
                                    15, 15, 15, 15, 3, 15, 5,  5,  5,  8,  5, 10, 5, 10, 8, 13, 15, 12, 3,  3};
constexpr u8 third_of_three[64] = {15, 8, 8, 3,  15, 15, 3,  8,  15, 15, 15, 15, 15, 15, 15, 8,  15, 8,  15, 3,  15, 8,
                                   15, 8, 3, 15, 6,  10, 15, 15, 10, 8,  15, 3,  15, 10, 10, 8,  9,  10, 6,  15, 8,  15,
                                   3,  6, 6, 8,  15, 3,  15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 3,  15, 15, 8};
constexpr u8 weights_2[] = {0, 21, 43, 64};
constexpr u8 weights_3[] = {0, 9, 18, 27, 37, 46, 55, 64};
constexpr u8 weights_4[] = {0, 4, 9, 13, 17, 21, 26, 30, 34, 38, 43, 47, 51, 55, 60, 64};

u32 weight(u32 bits, u32 index) {
    return bits == 2 ? weights_2[index] : bits == 3 ? weights_3[index] : weights_4[index];
}
u32 subset_of(u32 subsets, u32 partition, u32 texel) {
    return subsets == 1   ? 0
           : subsets == 2 ? two_subsets[partition] >> texel & 1u
                          : three_subsets[partition] >> (2 * texel) & 3u;
}
bool is_anchor(u32 subsets, u32 partition, u32 texel) {
    if (texel == 0)
        return true;
    if (subsets == 2)
        return texel == anchor_of_two[partition];
    return subsets == 3 && (texel == second_of_three[partition] || texel == third_of_three[partition]);
}

class Bits { // of a block, from the lowest on
public:
    explicit Bits(const std::byte* block) : low_(word(block)), high_(word(block + 8)) {}
    u32 take(u32 n) {
        if (n == 0)
            return 0;
        const u64 out = low_ & ((u64{1} << n) - 1);
        low_ = low_ >> n | high_ << (64 - n);
        high_ >>= n;
        return static_cast<u32>(out);
    }

private:
    u64 low_, high_;
};

struct Bc7Mode {
    u8 subsets, partition, rotation, selection, color, alpha, endpoint_p, subset_p, index, index2; // bits
};
constexpr Bc7Mode bc7_modes[] = {{3, 4, 0, 0, 4, 0, 1, 0, 3, 0}, {2, 6, 0, 0, 6, 0, 0, 1, 3, 0},
                                 {3, 6, 0, 0, 5, 0, 0, 0, 2, 0}, {2, 6, 0, 0, 7, 0, 1, 0, 2, 0},
                                 {1, 0, 2, 1, 5, 6, 0, 0, 2, 3}, {1, 0, 2, 0, 7, 8, 0, 0, 2, 2},
                                 {1, 0, 0, 0, 7, 7, 1, 0, 4, 0}, {2, 6, 0, 0, 5, 5, 1, 0, 2, 0}};

u8 to_eight(u32 v, u32 bits) {
    v <<= 8 - bits;
    return static_cast<u8>(v | v >> bits);
}

void decode_bc7(const std::byte* block, Texel* out) {
    Bits bits(block);
    u32 number = 0;
    while (number < 8 && bits.take(1) == 0)
        ++number;
    if (number == 8) {
        std::fill_n(out, 16, Texel{});
        return;
    }
    const Bc7Mode& m = bc7_modes[number];
    const u32 partition = bits.take(m.partition), rotation = bits.take(m.rotation), selection = bits.take(m.selection);
    const u32 ends = m.subsets * 2u;
    u32 raw[6][4];
    for (std::size_t c = 0; c < 4; ++c)
        for (u32 e = 0; e < ends; ++e)
            raw[e][c] = bits.take(c < 3 ? m.color : m.alpha);
    u32 p[6]{};
    for (u32 e = 0; e < ends; ++e)
        p[e] = m.endpoint_p ? bits.take(1) : m.subset_p ? (e % 2 ? p[e - 1] : bits.take(1)) : 0;
    const u32 extra = m.endpoint_p | m.subset_p;
    Texel end[6];
    for (u32 e = 0; e < ends; ++e)
        for (std::size_t c = 0; c < 4; ++c) {
            const u32 width = c < 3 ? m.color : m.alpha;
            end[e][c] = width ? to_eight(extra ? raw[e][c] << 1 | p[e] : raw[e][c], width + extra) : u8{255};
        }
    u32 index[2][16]{};
    for (u32 i = 0; i < 16; ++i)
        index[0][i] = bits.take(m.index - (is_anchor(m.subsets, partition, i) ? 1u : 0u));
    for (u32 i = 0; m.index2 && i < 16; ++i)
        index[1][i] = bits.take(m.index2 - (i == 0 ? 1u : 0u));
    for (u32 i = 0; i < 16; ++i) {
        const u32 s = 2 * subset_of(m.subsets, partition, i);
        u32 color = weight(m.index, index[0][i]), alpha = color;
        if (m.index2) {
            alpha = weight(m.index2, index[1][i]);
            if (selection)
                std::swap(color, alpha);
        }
        for (std::size_t c = 0; c < 4; ++c) {
            const u32 w = c < 3 ? color : alpha;
            out[i][c] = static_cast<u8>((end[s][c] * (64 - w) + end[s + 1][c] * w + 32) >> 6);
        }
        if (rotation)
            std::swap(out[i][3], out[i][rotation - 1]);
    }
}

// Where BC6H's header bits go, in order: channel, endpoint (w x y z), bits from one to another, going down where the
// first is larger.
struct Bc6hMode {
    u8 value, mode_bits;
    bool transformed;
    u8 precision;
    std::array<u8, 3> delta; // bits of red, green, blue in the endpoints after the first
    u8 subsets;
    const char* header;
};
constexpr Bc6hMode bc6h_modes[] = {
    {0,
     2,
     true,
     10,
     {5, 5, 5},
     2,
     "gy4 by4 bz4 rw0-9 gw0-9 bw0-9 rx0-4 gz4 gy0-3 gx0-4 bz0 gz0-3 bx0-4 bz1 by0-3 ry0-4 bz2 rz0-4 bz3"},
    {1,
     2,
     true,
     7,
     {6, 6, 6},
     2,
     "gy5 gz4 gz5 rw0-6 bz0 bz1 by4 gw0-6 by5 bz2 gy4 bw0-6 bz3 bz5 bz4 rx0-5 gy0-3 gx0-5 gz0-3 bx0-5 by0-3 ry0-5 "
     "rz0-5"},
    {2,
     5,
     true,
     11,
     {5, 4, 4},
     2,
     "rw0-9 gw0-9 bw0-9 rx0-4 rwA gy0-3 gx0-3 gwA bz0 gz0-3 bx0-3 bwA bz1 by0-3 ry0-4 bz2 rz0-4 bz3"},
    {6,
     5,
     true,
     11,
     {4, 5, 4},
     2,
     "rw0-9 gw0-9 bw0-9 rx0-3 rwA gz4 gy0-3 gx0-4 gwA gz0-3 bx0-3 bwA bz1 by0-3 ry0-3 bz0 bz2 rz0-3 gy4 bz3"},
    {10,
     5,
     true,
     11,
     {4, 4, 5},
     2,
     "rw0-9 gw0-9 bw0-9 rx0-3 rwA by4 gy0-3 gx0-3 gwA bz0 gz0-3 bx0-4 bwA by0-3 ry0-3 bz1 bz2 rz0-3 bz4 bz3"},
    {14,
     5,
     true,
     9,
     {5, 5, 5},
     2,
     "rw0-8 by4 gw0-8 gy4 bw0-8 bz4 rx0-4 gz4 gy0-3 gx0-4 bz0 gz0-3 bx0-4 bz1 by0-3 ry0-4 bz2 rz0-4 bz3"},
    {18,
     5,
     true,
     8,
     {6, 5, 5},
     2,
     "rw0-7 gz4 by4 gw0-7 bz2 gy4 bw0-7 bz3 bz4 rx0-5 gy0-3 gx0-4 bz0 gz0-3 bx0-4 bz1 by0-3 ry0-5 rz0-5"},
    {22,
     5,
     true,
     8,
     {5, 6, 5},
     2,
     "rw0-7 bz0 by4 gw0-7 gy5 gy4 bw0-7 gz5 bz4 rx0-4 gz4 gy0-3 gx0-5 gz0-3 bx0-4 bz1 by0-3 ry0-4 bz2 rz0-4 bz3"},
    {26,
     5,
     true,
     8,
     {5, 5, 6},
     2,
     "rw0-7 bz1 by4 gw0-7 by5 gy4 bw0-7 bz5 bz4 rx0-4 gz4 gy0-3 gx0-4 bz0 gz0-3 bx0-5 by0-3 ry0-4 bz2 rz0-4 bz3"},
    {30,
     5,
     false,
     6,
     {6, 6, 6},
     2,
     "rw0-5 gz4 bz0 bz1 by4 gw0-5 gy5 by5 bz2 gy4 bw0-5 gz5 bz3 bz5 bz4 rx0-5 gy0-3 gx0-5 gz0-3 bx0-5 by0-3 ry0-5 "
     "rz0-5"},
    {3, 5, false, 10, {10, 10, 10}, 1, "rw0-9 gw0-9 bw0-9 rx0-9 gx0-9 bx0-9"},
    {7, 5, true, 11, {9, 9, 9}, 1, "rw0-9 gw0-9 bw0-9 rx0-8 rwA gx0-8 gwA bx0-8 bwA"},
    {11, 5, true, 12, {8, 8, 8}, 1, "rw0-9 gw0-9 bw0-9 rx0-7 rwB-A gx0-7 gwB-A bx0-7 bwB-A"},
    {15, 5, true, 16, {4, 4, 4}, 1, "rw0-9 gw0-9 bw0-9 rx0-3 rwF-A gx0-3 gwF-A bx0-3 bwF-A"},
};

u32 hex_digit(char c) {
    return static_cast<u32>(c <= '9' ? c - '0' : c - 'A' + 10);
}

i32 extend(u32 v, u32 bits) {
    return static_cast<i32>(v << (32 - bits)) >> (32 - bits);
}

i32 unquantize(i32 v, u32 precision, bool is_signed) {
    if (!is_signed) {
        if (precision >= 15 || v == 0)
            return v;
        return v == (1 << precision) - 1 ? 0xffff : ((v << 15) + 0x4000) >> (precision - 1);
    }
    if (precision >= 16 || v == 0)
        return v;
    const i32 size = std::abs(v);
    const i32 out = size >= (1 << (precision - 1)) - 1 ? 0x7fff : ((size << 15) + 0x4000) >> (precision - 1);
    return v < 0 ? -out : out;
}

u16 to_half(i32 v, bool is_signed) {
    if (!is_signed)
        return static_cast<u16>(v * 31 >> 6);
    return static_cast<u16>(v < 0 ? 0x8000 | (-v * 31 >> 5) : v * 31 >> 5);
}

void decode_bc6h(const std::byte* block, bool is_signed, u16 (*out)[4]) {
    constexpr u16 one = 0x3c00;
    for (u32 i = 0; i < 16; ++i) {
        out[i][0] = out[i][1] = out[i][2] = 0;
        out[i][3] = one;
    }
    Bits bits(block);
    u32 value = bits.take(2);
    if (value > 1)
        value |= bits.take(3) << 2;
    const auto mode = std::find_if(std::begin(bc6h_modes), std::end(bc6h_modes),
                                   [value](const Bc6hMode& m) { return m.value == value; });
    if (mode == std::end(bc6h_modes))
        return;
    u32 raw[4][3]{};
    for (const char* h = mode->header; *h;) {
        const std::size_t channel = h[0] == 'r' ? 0 : h[0] == 'g' ? 1 : 2;
        u32& field = raw[h[1] == 'w' ? 0 : h[1] - 'x' + 1][channel];
        const u32 first = hex_digit(h[2]);
        h += 3;
        u32 last = first;
        if (*h == '-') {
            last = hex_digit(h[1]);
            h += 2;
        }
        for (u32 bit = first;; bit += first <= last ? 1u : ~0u) {
            field |= bits.take(1) << bit;
            if (bit == last)
                break;
        }
        while (*h == ' ')
            ++h;
    }
    const u32 partition = mode->subsets == 2 ? bits.take(5) : 0;
    i32 end[4][3];
    const u32 ends = mode->subsets * 2u;
    for (u32 e = 0; e < ends; ++e)
        for (std::size_t c = 0; c < 3; ++c) {
            i32 v = static_cast<i32>(raw[e][c]);
            if (e > 0 && mode->transformed)
                v = (static_cast<i32>(raw[0][c]) + extend(raw[e][c], mode->delta[c])) & ((1 << mode->precision) - 1);
            if (is_signed)
                v = extend(static_cast<u32>(v), mode->precision);
            end[e][c] = unquantize(v, mode->precision, is_signed);
        }
    const u32 index_bits = mode->subsets == 2 ? 3 : 4;
    for (u32 i = 0; i < 16; ++i) {
        const u32 index = bits.take(index_bits - (is_anchor(mode->subsets, partition, i) ? 1u : 0u));
        const auto w = static_cast<i32>(weight(index_bits, index));
        const u32 s = 2 * subset_of(mode->subsets, partition, i);
        for (std::size_t c = 0; c < 3; ++c)
            out[i][c] = to_half((end[s][c] * (64 - w) + end[s + 1][c] * w + 32) >> 6, is_signed);
    }
}

} // namespace

void decode_bc_block(const FormatInfo& format, const std::byte* block, std::byte* texels) {
    Texel out[16];
    std::fill_n(out, 16, Texel{0, 0, 0, static_cast<u8>(format.is_signed ? 127 : 255)});
    switch (format.compression) {
    case Compression::Bc1:
        decode_colors(word(block), false, format.components == 4, out);
        break;
    case Compression::Bc2:
        decode_colors(word(block + 8), true, false, out);
        for (u32 i = 0; i < 16; ++i)
            out[i][3] = static_cast<u8>((word(block) >> (4 * i) & 15) * 17);
        break;
    case Compression::Bc3:
        decode_colors(word(block + 8), true, false, out);
        decode_ramp(word(block), false, 3, out);
        break;
    case Compression::Bc4:
        decode_ramp(word(block), format.is_signed, 0, out);
        break;
    case Compression::Bc5:
        decode_ramp(word(block), format.is_signed, 0, out);
        decode_ramp(word(block + 8), format.is_signed, 1, out);
        break;
    case Compression::Bc7:
        decode_bc7(block, out);
        break;
    case Compression::Bc6h: {
        u16 halves[16][4];
        decode_bc6h(block, format.is_signed, halves);
        std::memcpy(texels, halves, sizeof halves);
        return;
    }
    default:
        break;
    }
    std::memcpy(texels, out, sizeof out);
}

} // namespace heaviside::texture
