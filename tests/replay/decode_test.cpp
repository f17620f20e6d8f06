// The software decoders against the device's own, over random blocks: scaled one to one into an uncompressed texture.
#include "replay/formats.h"
#include "replay_fixture.h"
#include "texture/decode.h"

#include <cmath>
#include <random>

namespace heaviside::replay {
namespace {

constexpr u64 blocks_at = 0x300000, compressed = 0x100000, plain = 0x180000, result = 0x200000;
constexpr u32 side = 64; // texels

f64 half(u16 h) {
    const int exponent = h >> 10 & 31;
    const f64 mantissa = h & 1023;
    const f64 v = exponent ? std::ldexp(1024 + mantissa, exponent - 25) : std::ldexp(mantissa, -24);
    return h & 0x8000 ? -v : v;
}

class Decoders : public ReplayTest, public testing::WithParamInterface<const char*> {};

TEST_P(Decoders, AgreeWithTheDevice) {
    const texture::Format format = texture::format_named(GetParam());
    const texture::FormatInfo& f = texture::info(format);
    const Formats formats(*device);
    if (formats.image(format).conversion != Conversion::None)
        GTEST_SKIP() << "the device has no " << f.name;
    const bool floats = f.compression == texture::Compression::Bc6h;
    const std::size_t size = side * side / 16 * f.block_bytes;
    std::mt19937 random(3);
    for (std::size_t i = 0; i < size; ++i)
        memory[blocks_at + i] = static_cast<std::byte>(random());
    if (f.compression == texture::Compression::Bc7) // every mode as often as the others
        for (u32 b = 0; b < size / 16; ++b) {
            u8 first = static_cast<u8>(memory[blocks_at + b * 16]);
            first = static_cast<u8>((first & ~((2u << b % 8) - 1)) | 1u << b % 8);
            memory[blocks_at + b * 16] = std::byte{first};
        }
    const auto from = image(compressed, f.name, side, side);
    const auto to = image(plain,
                          floats        ? "RGBA16F"
                          : f.is_signed ? "RGBA8SN"
                          : f.srgb      ? "RGBA8_SRGB"
                                        : "RGBA8",
                          side, side);
    Recorder r;
    stream::CopyBufferToTexture in{};
    in.buffer = at(blocks_at).value;
    in.region = {0, 0, 0, side, side, 1};
    in.image = from;
    r.add(in);
    stream::CopyTextureToTexture scale{};
    scale.source = from;
    scale.dest = to;
    scale.source_region = scale.dest_region = {0, 0, 0, side, side, 1};
    r.add(scale);
    copy_out(r, to, result, side, side);
    run(r);
    const u64 texel = floats ? 8 : 4;
    std::vector<std::byte> ours(side * side * texel);
    ASSERT_TRUE(texture::decode_blocks(format, side, side, {memory + blocks_at, size}, side / 4 * f.block_bytes, ours));
    u32 different = 0;
    for (u32 i = 0; i < side * side; ++i)
        for (u32 c = 0; c < 4; ++c) {
            if (c >= f.components && c < 3)
                continue;
            // Hardware mixes the ramps of the older formats with weights of few bits; Direct3D allows it 3 % of the
            // distance between the end points (an H200 is up to 7 of 254 away). BC7 and BC6H are exact everywhere.
            const bool coarse = !device->capabilities.cpu_device && !std::string_view(f.name).starts_with("BPTC");
            f64 a = 0, b = 0, allowed = (f.is_signed ? 2 : 1) + (coarse ? 0.03 * 255 : 0);
            if (floats) {
                u16 x = 0, y = 0;
                std::memcpy(&x, ours.data() + i * 8 + c * 2, 2);
                std::memcpy(&y, memory + result + i * 8 + c * 2, 2);
                a = half(x), b = half(y);
                allowed = 0;
            } else if (f.is_signed) {
                a = static_cast<i8>(ours[i * 4 + c]), b = static_cast<i8>(memory[result + i * 4 + c]);
            } else {
                a = static_cast<u8>(ours[i * 4 + c]), b = static_cast<u8>(memory[result + i * 4 + c]);
            }
            if (std::abs(a - b) > allowed && ++different < 5)
                ADD_FAILURE() << f.name << " texel " << i % side << "," << i / side << " component " << c << ": " << a
                              << ", the device has " << b;
        }
    EXPECT_EQ(different, 0u);
}

INSTANTIATE_TEST_SUITE_P(Bc, Decoders,
                         testing::Values("RGB_DXT1", "RGBA_DXT1", "RGBA_DXT3", "RGBA_DXT5", "RGTC1_UNORM",
                                         "RGTC1_SNORM", "RGTC2_UNORM", "RGTC2_SNORM", "BPTC_UNORM", "BPTC_UFLOAT",
                                         "BPTC_SFLOAT"),
                         [](const auto& p) { return std::string(p.param); });

} // namespace
} // namespace heaviside::replay
