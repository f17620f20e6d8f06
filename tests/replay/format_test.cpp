// Every texture format: from storage to a shader, from storage to rows, and what is drawn to storage. Numbers are
// worked out here from the bits that the format has (ledger and the API's names), not by the code under test.
#include "texture_fixture.h"

#include "replay/formats.h"
#include "texture/format.h"

#include <cmath>
#include <random>

namespace heaviside::replay {
namespace {

using texture::Compression;
using texture::FormatInfo;
using texture::Kind;

constexpr u64 first_target = 0x100000, rows_at = 0x40000;

f64 half(u32 h) {
    const int exponent = static_cast<int>(h >> 10 & 31);
    const f64 mantissa = h & 1023;
    const f64 v = exponent ? std::ldexp(1024 + mantissa, exponent - 25) : std::ldexp(mantissa, -24);
    return h & 0x8000 ? -v : v;
}
f64 small_float(u32 bits, u32 mantissa_bits) { // five bits of exponent, no sign
    return half(bits << (10 - mantissa_bits));
}
f64 linear(f64 c) {
    return c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4);
}
f64 encoded(f64 c) {
    return c <= 0.0031308 ? c * 12.92 : 1.055 * std::pow(c, 1 / 2.4) - 0.055;
}

struct Texel { // red, green, blue, alpha: numbers, or the bits of integers
    std::array<f64, 4> value{0, 0, 0, 1};
};

// Components of an uncompressed texel as (bit offset, bits), red first.
std::array<std::array<u32, 2>, 4> components(const FormatInfo& f) {
    std::array<std::array<u32, 2>, 4> out{};
    const std::string_view name = f.name;
    const bool bgr = name.starts_with("BGR"), alpha_first = name == "A1BGR5";
    constexpr u32 orders[3][4] = {{0, 1, 2, 3}, {2, 1, 0, 3}, {3, 2, 1, 0}};
    u32 at = 0;
    for (const u32 c : orders[alpha_first ? 2 : bgr ? 1 : 0]) {
        out[c] = {at, f.bits[c]};
        at += f.bits[c];
    }
    return out;
}

u64 bits_at(const std::byte* texel, u32 size, u32 at, u32 count) {
    u64 out = 0;
    for (u32 i = 0; i < count; ++i)
        if ((at + i) / 8 < size && (static_cast<u32>(texel[(at + i) / 8]) >> (at + i) % 8 & 1) != 0)
            out |= u64{1} << i;
    return out;
}

Texel decode(const FormatInfo& f, const std::byte* texel) {
    Texel out;
    if (f.kind == Kind::Depth || f.kind == Kind::DepthStencil) {
        const u32 at = std::string_view(f.name) == "DEPTH24_STENCIL8" ? 8 : 0;
        const u64 v = bits_at(texel, f.block_bytes, at, f.bits[0]);
        out.value[0] =
            f.bits[0] == 32 ? f64{number(static_cast<u32>(v))} : static_cast<f64>(v) / std::pow(2, f.bits[0]);
        if (f.bits[0] != 32)
            out.value[0] = static_cast<f64>(v) / (std::pow(2, f.bits[0]) - 1);
        return out;
    }
    if (f.kind == Kind::Stencil) {
        out.value[0] = static_cast<f64>(texel[0]);
        return out;
    }
    if (f.kind == Kind::SharedExponent) {
        const u32 word = static_cast<u32>(bits_at(texel, 4, 0, 32));
        for (u32 c = 0; c < 3; ++c)
            out.value[c] = std::ldexp(word >> 9 * c & 0x1ff, static_cast<int>(word >> 27) - 24);
        return out;
    }
    const auto where = components(f);
    for (u32 c = 0; c < 4; ++c) {
        const auto [at, count] = where[c];
        if (count == 0)
            continue;
        const u64 v = bits_at(texel, f.block_bytes, at, count);
        const f64 most = std::pow(2, count) - 1, sign = std::pow(2, count - 1);
        const f64 as_signed = static_cast<f64>(v) >= sign ? static_cast<f64>(v) - 2 * sign : static_cast<f64>(v);
        switch (f.kind) {
        case Kind::Unorm:
            out.value[c] = static_cast<f64>(v) / most;
            if (f.srgb && c < 3)
                out.value[c] = linear(out.value[c]);
            break;
        case Kind::Snorm:
            out.value[c] = std::max(-1.0, as_signed / (sign - 1));
            break;
        case Kind::Uint:
        case Kind::UintToFloat:
            out.value[c] = static_cast<f64>(v);
            break;
        case Kind::Sint:
        case Kind::SintToFloat:
            out.value[c] = as_signed;
            break;
        default:
            out.value[c] = count == 32   ? f64{number(static_cast<u32>(v))}
                           : count == 16 ? half(static_cast<u32>(v))
                                         : small_float(static_cast<u32>(v), count - 5);
        }
    }
    return out;
}

// A compressed block of one colour, and the colour.
Texel flat_block(const FormatInfo& f, u32 seed, std::byte* block) {
    Texel out;
    std::vector<u32> values; // (bits, value) pairs from the lowest bit on
    u32 at = 0;
    std::memset(block, 0, f.block_bytes);
    const auto put = [&](u32 bits, u64 value) {
        for (u32 i = 0; i < bits; ++i, ++at)
            if (value >> i & 1)
                block[at / 8] |= std::byte(1u << at % 8);
    };
    const u32 r5 = seed * 7 % 32, g6 = seed * 11 % 64, b5 = seed * 5 % 32;
    const auto colour = [&] { // BC1's: both ends alike
        const u32 c = r5 << 11 | g6 << 5 | b5;
        put(16, c);
        put(16, c);
        put(32, 0);
        out.value = {r5 / 31.0, g6 / 63.0, b5 / 31.0, 1};
    };
    const u32 a = seed * 37 % 200 + 20;
    switch (f.compression) {
    case Compression::Bc1:
        colour();
        break;
    case Compression::Bc2:
        put(64, 0x1111111111111111ull * (seed % 16));
        colour();
        out.value[3] = seed % 16 / 15.0;
        break;
    case Compression::Bc3:
        put(8, a);
        put(8, a);
        put(48, 0);
        colour();
        out.value[3] = a / 255.0;
        break;
    case Compression::Bc4:
    case Compression::Bc5:
        for (u32 c = 0; c < f.components; ++c) {
            const int v = f.is_signed ? static_cast<int>(a + c) - 120 : static_cast<int>(a + c);
            put(8, static_cast<u32>(v) & 0xff);
            put(8, static_cast<u32>(v) & 0xff);
            put(48, 0);
            out.value[c] = f.is_signed ? v / 127.0 : v / 255.0;
        }
        break;
    case Compression::Bc7: // mode 6: seven bits and one below them for each end
        put(7, 0x40);
        for (u32 c = 0; c < 4; ++c) {
            const u32 v = (seed * 13 + c * 29) % 128;
            put(7, v);
            put(7, v);
            out.value[c] = (v << 1 | 1) / 255.0;
        }
        put(2, 3);
        put(63, 0);
        break;
    case Compression::Bc6h: // mode 11: two ends of ten bits, no partition
        put(5, 3);
        for (u32 i = 0; i < 6; ++i)
            put(10, (seed * 17 + i % 3 * 50) % 500 + 1);
        for (u32 c = 0; c < 3; ++c) {
            const u32 v = (seed * 17 + c * 50) % 500 + 1;
            const u32 unquantised = f.is_signed ? ((v << 15) + 0x4000) >> 9 : ((v << 16) + 0x8000) >> 10;
            out.value[c] = half(f.is_signed ? unquantised * 31 >> 5 : unquantised * 31 >> 6);
        }
        break;
    default: // ASTC: a block that says of itself that it has one colour
        put(12, 0xdfc);
        put(52, ~u64{0} >> 12);
        for (u32 c = 0; c < 4; ++c) {
            const u32 v = (seed * 31 + c * 60) % 256;
            put(16, v * 257);
            out.value[c] = v / 255.0;
        }
    }
    if (f.srgb)
        for (u32 c = 0; c < 3; ++c)
            out.value[c] = linear(out.value[c]);
    return out;
}

bool is_number_class(const FormatInfo& f) {
    return f.kind == Kind::Uint || f.kind == Kind::Sint || f.kind == Kind::Stencil;
}

// How far a component may be off: what the device computes with.
f64 tolerance(const FormatInfo& f, f64 value) {
    if (is_number_class(f))
        return 0;
    return f.srgb                      ? (texture::is_compressed(f) ? 8e-3 : 4e-3)
           : texture::is_compressed(f) ? 3e-3
                                       : std::max(2e-6, std::abs(value) * 1e-6);
}

class EveryFormat : public TextureReads, public testing::WithParamInterface<const char*> {
protected:
    gpu::DeviceOptions device_options() override {
        gpu::DeviceOptions options = gpu::DeviceOptions::from_environment();
        options.disable += (options.disable.empty() ? "" : ",") + std::string(GetParam());
        return options;
    }
    // Formats of images: those that are no vertex format alone.
    static std::vector<u32> images() {
        std::vector<u32> out;
        constexpr u32 packed_signed[] = {0x69, 0x6a}; // RGB10A2SN and RGB10A2I: vertex formats, like their scaled kin
        for (u32 v = 1; v < texture::format_count; ++v)
            if (const FormatInfo& f = texture::info(v); f.block_bytes != 0 && v != packed_signed[0] &&
                                                        v != packed_signed[1] && f.kind != Kind::UintToFloat &&
                                                        f.kind != Kind::SintToFloat)
                out.push_back(v);
        return out;
    }
    // Where block (x, y) of a texture of `across` blocks of 1 to 16 bytes lies, one byte at a time.
    static u64 byte_of(const FormatInfo& f, u32 across, u32 x, u32 y, u32 byte) {
        return tiled(x * f.block_bytes + byte, y, (across * f.block_bytes + 63) / 64, 1);
    }
};

TEST_P(EveryFormat, IsSampledAndCopiedAsItIsStored) {
    std::mt19937 random(17);
    u32 id = 300;
    for (const u32 value : images()) {
        const FormatInfo& f = texture::info(value);
        SCOPED_TRACE(f.name);
        const u32 across = 9, down = 6, width = across * f.block_width - (f.block_width > 1 ? 1 : 0),
                  height = down * f.block_height - (f.block_height > 1 ? 1 : 0);
        std::vector<std::byte> rows(across * down * f.block_bytes);
        std::vector<Texel> texels;
        for (u32 i = 0; i < across * down; ++i) {
            std::byte* const block = rows.data() + i * f.block_bytes;
            if (texture::is_compressed(f)) {
                texels.push_back(flat_block(f, i + value, block));
                continue;
            }
            for (u32 b = 0; b < f.block_bytes; ++b)
                block[b] = std::byte(random());
            if (f.kind == Kind::Float || f.kind == Kind::Depth || f.kind == Kind::DepthStencil) {
                // Ordinary numbers: exponents in the middle of what there is.
                for (u32 c = 0; c < 4; ++c) {
                    const auto [at, count] = components(f)[c];
                    if (count == 32) {
                        const u32 v =
                            word(static_cast<f32>(random() % 1000) / (f.kind == Kind::Float ? -8.0f : 1000.0f));
                        std::memcpy(block + at / 8, &v, 4);
                    } else if (count == 16 && f.kind == Kind::Float) {
                        block[at / 8 + 1] = std::byte(0x30 | (random() & 0x8f));
                    }
                }
                if (f.bits[0] == 11) {
                    const auto exponent = [&] { return static_cast<u32>(random() % 30); };
                    const u32 v = (exponent() << 6 | 5) | (exponent() << 17 | 9 << 11) | (exponent() << 27 | 3 << 22);
                    std::memcpy(block, &v, 4);
                }
                if (f.block_bytes == 8 && f.kind == Kind::DepthStencil)
                    std::memset(block + 5, 0, 3); // stored, but nothing
            }
            texels.push_back(decode(f, block));
        }
        const u64 target = first_target + value * 0x4000;
        for (u32 y = 0; y < down; ++y)
            for (u32 x = 0; x < across; ++x)
                for (u32 b = 0; b < f.block_bytes; ++b)
                    memory[target + byte_of(f, across, x, y, b)] = rows[(y * across + x) * f.block_bytes + b];
        const auto d = image(target, f.name, width, height);
        put(++id, d);
        std::vector<Words> at;
        std::vector<u32> which;
        for (const auto& [x, y] : {std::pair{0u, 0u}, std::pair{8u, 5u}, std::pair{3u, 4u}, std::pair{5u, 1u}}) {
            at.push_back({x * f.block_width, y * f.block_height, 0, 0});
            which.push_back(y * across + x);
        }
        const auto seen = look(fetch_2d, id, at);
        for (std::size_t i = 0; i < seen.size(); ++i)
            for (u32 c = 0; c < 4; ++c) {
                const f64 expected = texels[which[i]].value[c];
                const f64 got = f.kind == Kind::Sint ? f64{static_cast<f64>(static_cast<i32>(seen[i][c]))}
                                : is_number_class(f) ? f64{static_cast<f64>(seen[i][c])}
                                                     : f64{number(seen[i][c])};
                // Depth and stencil have one component; the others are the device's affair.
                if (c > 0 && (texture::has_depth(f) || texture::has_stencil(f)))
                    continue;
                EXPECT_NEAR(got, expected, tolerance(f, expected)) << "texel " << which[i] << " component " << c;
            }
        const Formats formats(*device);
        if (formats.image(static_cast<texture::Format>(value)).conversion == Conversion::DecodeBlocks)
            continue; // its blocks are not in the image
        std::memset(memory + rows_at, 0xcc, rows.size() + 16);
        Recorder r;
        copy_out(r, d, rows_at, static_cast<i32>(width), static_cast<i32>(height));
        run(r);
        EXPECT_EQ(std::memcmp(memory + rows_at, rows.data(), rows.size()), 0) << "rows";
        EXPECT_EQ(read<u32>(rows_at + rows.size()), 0xccccccccu);
    }
}

TEST_P(EveryFormat, IsStoredAsItIsDrawn) { // REN-010, REN-013, OBJ-202, OBJ-204
    constexpr f32 drawn[4] = {0.25f, 0.5f, 1.0f, 0.0f};
    for (const u32 value : images()) {
        const FormatInfo& f = texture::info(value);
        if (texture::is_compressed(f) || f.kind == Kind::SharedExponent || texture::has_depth(f) ||
            texture::has_stencil(f))
            continue;
        SCOPED_TRACE(f.name);
        const u64 target = first_target + value * 0x4000;
        std::memset(memory + target, 0xab, 0x1000);
        const auto d = image(target, f.name, 7, 5);
        Recorder r;
        stream::ClearTexture c{};
        c.image = d;
        c.region = {2, 1, 0, 3, 3, 1};
        c.mask = 0xf;
        const bool integer = f.kind == Kind::Uint || f.kind == Kind::Sint;
        c.value_class = f.kind == Kind::Uint   ? stream::ClearClass::Uint
                        : f.kind == Kind::Sint ? stream::ClearClass::Sint
                                               : stream::ClearClass::Float;
        for (u32 i = 0; i < 4; ++i)
            c.value[i] = integer ? i + 1 : word(drawn[i]);
        r.add(c);
        run(r);
        for (u32 y = 0; y < 8; ++y)
            for (u32 x = 0; x < 64 / f.block_bytes; ++x) {
                std::array<std::byte, 16> texel{};
                for (u32 b = 0; b < f.block_bytes; ++b)
                    texel[b] = memory[target + byte_of(f, 7, x, y, b)];
                if (x >= 2 && x < 5 && y >= 1 && y < 4) {
                    const Texel seen = decode(f, texel.data());
                    for (u32 k = 0; k < 4; ++k) {
                        if (f.bits[k] == 0)
                            continue;
                        const f64 step = f.kind == Kind::Float ? 1e-2
                                         : integer             ? 0
                                                               : 0.5 / (std::pow(2, f.bits[k] - 1) - 1);
                        const f64 wanted = integer ? std::min(k + 1.0, std::pow(2, f.bits[k]) - 1) : f64{drawn[k]};
                        EXPECT_NEAR(f.srgb && k < 3 ? encoded(seen.value[k]) : seen.value[k],
                                    f.srgb && k < 3 ? encoded(wanted) : wanted, step * 1.001)
                            << x << "," << y << " component " << k;
                    }
                } else {
                    for (u32 b = 0; b < f.block_bytes; ++b)
                        EXPECT_EQ(texel[b], std::byte{0xab}) << x << "," << y;
                }
            }
    }
}

TEST_P(EveryFormat, IntegersOverBlocksAreTheirBytes) { // GFX-156: decoded ones too
    auto d = image(first_target, "RGBA_DXT1", 40, 20, 2);
    d.view.format = static_cast<u16>(texture::format_named("RG32UI"));
    d.view.level_count = 1;
    // 10 x 5 blocks of 8 bytes: rows of 80 bytes, two GOBs.
    for (u32 y = 0; y < 5; ++y)
        for (u32 x = 0; x < 10; ++x) {
            const u64 value = u64{y} << 40 | u64{x} << 32 | (0xabc0000u + y * 16 + x);
            std::memcpy(memory + first_target + tiled(x * 8, y, 2, 1), &value, 8);
        }
    put(300, d);
    EXPECT_EQ(look(fetch_2d, 300, {0, 0, 0, 0}), (Words{0xabc0000, 0, 0, 1}));
    EXPECT_EQ(look(fetch_2d, 300, {9, 4, 0, 0}), (Words{0xabc0000 + 4 * 16 + 9, 4 << 8 | 9, 0, 1}));
    EXPECT_EQ(look(fetch_2d, 300, {10, 4, 0, 0})[0], 0u) << "past the last block";
}

TEST_P(EveryFormat, LevelsOfBlocksAsIntegers) { // GFX-156
    auto d = image(first_target, "RGBA_DXT1", 16, 16, 3);
    d.view.format = static_cast<u16>(texture::format_named("RG32UI"));
    d.view.first_level = 1;
    d.view.level_count = 1;
    const u64 value = 0x1122334455667788; // level 0 takes one GOB; level 1 has 2 x 2 blocks
    std::memcpy(memory + first_target + 512 + tiled(8, 1, 1, 1), &value, 8);
    put(300, d);
    EXPECT_EQ(look(fetch_2d, 300, {1, 1, 0, 0}), (Words{0x55667788, 0x11223344, 0, 1}));
}

struct SixteenBits {
    const char* format;
    u32 red, blue; // opaque
};
constexpr SixteenBits sixteen_bits[] = {
    {"RGB565", 0x001f, 0xf800}, {"RGB5A1", 0x801f, 0xfc00}, {"BGR565", 0xf800, 0x001f}, {"RGBA4", 0xf00f, 0xff00}};

TEST_P(EveryFormat,
       SixteenBitColoursAreTheirBits) { // REN-015: to a view as integers, whatever the device holds them as
    for (const SixteenBits& c : sixteen_bits) {
        SCOPED_TRACE(c.format);
        const auto color = image(first_target, c.format, 32, 8);
        auto bits = color;
        bits.view.format = static_cast<u16>(texture::format_named("R16UI"));
        put(300, color);
        put(301, bits);
        Recorder r;
        set_targets(r, std::span(&color, 1));
        r.add(clear(1, 0, 0, 1));
        run(r);
        EXPECT_EQ(look(fetch_2d, 301, {5, 5, 0, 0})[0], c.red);
        EXPECT_EQ(read<u16>(first_target), c.red);
        const u16 value = 0x1234;
        for (u32 i = 0; i < 512; i += 2)
            std::memcpy(memory + first_target + i, &value, 2);
        EXPECT_EQ(look(fetch_2d, 301, {5, 5, 0, 0})[0], 0x1234u);
    }
}

TEST_P(EveryFormat, RowsOfSixteenBitColoursAreTheGuests) { // REN-014, REN-015
    const Formats formats(*device);
    for (const SixteenBits& c : sixteen_bits) {
        SCOPED_TRACE(c.format);
        auto rows = image(first_target, c.format, 20, 6);
        rows.texture.flags = 0x10; // LINEAR
        rows.texture.stride = 64;
        const auto fill = [&](u32 value) {
            for (u32 i = 0; i < 6 * 64; i += 2)
                std::memcpy(memory + first_target + i, &value, 2);
        };
        fill(c.red);
        put(300, rows);
        EXPECT_EQ(look(fetch_2d, 300, {19, 5, 0, 0}), (Words{word(1), 0, 0, word(1)}));
        Recorder r;
        copy_out(r, rows, rows_at, 20, 6);
        run(r);
        EXPECT_EQ(read<u16>(rows_at), c.red);
        EXPECT_EQ(read<u16>(rows_at + 119 * 2), c.red);
        Recorder drawn;
        set_targets(drawn, std::span(&rows, 1));
        drawn.add(clear(0, 0, 1, 1));
        run(drawn);
        EXPECT_EQ(read<u16>(first_target + 5 * 64 + 38), c.blue);
        EXPECT_EQ(read<u16>(first_target + 5 * 64 + 40), c.red) << "padding";
        const auto format = static_cast<texture::Format>(rows.texture.format);
        VkFormatProperties properties{};
        vkGetPhysicalDeviceFormatProperties(device->physical, formats.image(format).view, &properties);
        if (formats.image(format).conversion == Conversion::None &&
            (properties.bufferFeatures & VK_FORMAT_FEATURE_UNIFORM_TEXEL_BUFFER_BIT) &&
            (properties.bufferFeatures & VK_FORMAT_FEATURE_STORAGE_TEXEL_BUFFER_BIT)) { // memory's buffer has both uses
            auto buffer = image(first_target, c.format, 64, 1);
            buffer.texture.target = buffer.view.target = 10; // BUFFER
            put(301, buffer);
            EXPECT_EQ(look(fetch_1d, 301, {7, 0, 0, 0}), (Words{0, 0, word(1), word(1)}));
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Ways, EveryFormat, testing::Values("", "packed_red_low,bc,astc"),
                         [](const auto& p) { return *p.param ? "Lowered" : "AsTheyAre"; });

// --- Vertex formats ---

class VertexFormats : public TextureReads, public testing::WithParamInterface<const char*> {
protected:
    gpu::DeviceOptions device_options() override {
        gpu::DeviceOptions options = gpu::DeviceOptions::from_environment();
        options.disable += (options.disable.empty() ? "" : ",") + std::string(GetParam());
        return options;
    }
};

TEST_P(VertexFormats, EachIsTheNumberItHolds) {
    static constexpr const char* storing = R"(
.stage vertex
.in 0 xyzw
.out position
.entry main
main:
    ALD.128 R4, a[0x80], RZ
    MOV R8, c[0x0][0x110]
    MOV R9, c[0x0][0x114]
    STG.E.128 [R8], R4
    MOV R4, RZ
    MOV R5, RZ
    MOV R6, RZ
    MOV32I R7, 0x3f800000
    AST.128 a[0x70], R4, RZ
    EXIT
)";
    const stream::ProgramId store = program({storing, flat});
    const Formats formats(*device);
    const auto color = image(first_target, "RGBA8", 8, 8);
    constexpr u64 vertices = 0x8000;
    std::mt19937 random(23);
    for (u32 value = 1; value < texture::format_count; ++value) {
        const FormatInfo& f = texture::info(value);
        if (!f.vertex)
            continue;
        if (formats.vertex(static_cast<texture::Format>(value)) == VK_FORMAT_UNDEFINED) {
            // What devices lack, and nothing is done about yet: signed fields of ten bits.
            EXPECT_TRUE(std::string_view(f.name).starts_with("RGB10A2") && f.is_signed) << f.name;
            continue;
        }
        SCOPED_TRACE(f.name);
        std::array<std::byte, 16> texel{};
        for (u32 b = 0; b < f.block_bytes; ++b)
            texel[b] = std::byte(random());
        for (u32 c = 0; c < 4 && f.kind == Kind::Float; ++c) {
            const auto [bit, count] = components(f)[c];
            if (count == 32) {
                const u32 v = word(static_cast<f32>(c) - 1.25f);
                std::memcpy(texel.data() + bit / 8, &v, 4);
            } else if (count == 16) {
                texel[bit / 8 + 1] = std::byte(0x34 + c);
            }
        }
        if (f.bits[0] == 11)
            std::memset(texel.data(), 0x55, 4);
        std::memcpy(memory + vertices, texel.data(), 16);
        Recorder r;
        set_targets(r, std::span(&color, 1));
        stream::VertexAttribState a{};
        a.format = value & 0xff;
        r.add(stream::BindVertexAttribState{}, std::span<const stream::VertexAttribState>(&a, 1));
        const stream::VertexStreamState s{16, 0};
        r.add(stream::BindVertexStreamState{}, std::span<const stream::VertexStreamState>(&s, 1));
        stream::BindVertexBuffer buffer{};
        buffer.address = at(vertices).value;
        buffer.size = 64;
        r.add(buffer);
        bind(r, store, vertex_bit | fragment_bit);
        storage(r, stream::Stage::Vertex, 0, results_at, 16);
        uniform(r, stream::Stage::Fragment, 0, coordinates_at, 16);
        draw(r, 0, 1);
        std::memset(memory + results_at, 0xcc, 16);
        run(r);
        const Words seen = read<Words>(results_at);
        const Texel expected = decode(f, texel.data());
        for (u32 c = 0; c < 4; ++c) {
            const f64 got = f.kind == Kind::Sint   ? f64{static_cast<f64>(static_cast<i32>(seen[c]))}
                            : f.kind == Kind::Uint ? f64{static_cast<f64>(seen[c])}
                                                   : f64{number(seen[c])};
            EXPECT_NEAR(got, expected.value[c], std::max(2e-6, std::abs(expected.value[c]) * 2e-7))
                << "component " << c;
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Ways, VertexFormats, testing::Values("", "scaled_vertices"),
                         [](const auto& p) { return *p.param ? "Converted" : "AsTheyAre"; });

} // namespace
} // namespace heaviside::replay
