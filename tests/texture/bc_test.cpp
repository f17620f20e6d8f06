// Block decoders against blocks worked out by hand from the Khronos Data Format Specification. tests/replay compares
// random blocks with what the device decodes.
#include "texture/bc.h"
#include "texture/decode.h"

#include <array>
#include <cstring>
#include <gtest/gtest.h>
#include <vector>

namespace heaviside::texture {
namespace {

using Rgba = std::array<u8, 4>;

std::array<Rgba, 16> decode(const char* format, std::vector<u8> block) {
    std::array<Rgba, 16> out;
    decode_bc_block(info(format_named(format)), reinterpret_cast<const std::byte*>(block.data()),
                    reinterpret_cast<std::byte*>(out.data()));
    return out;
}

// Bits of a block, lowest first, as the specification's tables list them.
class BlockBits {
public:
    BlockBits& put(u32 value, u32 bits) {
        for (u32 i = 0; i < bits; ++i, ++at_)
            bytes[at_ / 8] = static_cast<u8>(bytes[at_ / 8] | (value >> i & 1) << at_ % 8);
        return *this;
    }
    std::vector<u8> bytes = std::vector<u8>(16);

private:
    u32 at_ = 0;
};

TEST(Bc, FourAndThreeColours) {
    // Red 0xf800 above blue 0x001f: indices 0 1 2 3 in the first row.
    auto t = decode("RGBA_DXT1", {0x00, 0xf8, 0x1f, 0x00, 0b11100100, 0, 0, 0});
    EXPECT_EQ(t[0], (Rgba{255, 0, 0, 255}));
    EXPECT_EQ(t[1], (Rgba{0, 0, 255, 255}));
    EXPECT_EQ(t[2], (Rgba{170, 0, 85, 255}));
    EXPECT_EQ(t[3], (Rgba{85, 0, 170, 255}));
    // The other way round: halfway and, at 3, transparent black, which RGB_DXT1 has opaque.
    t = decode("RGBA_DXT1", {0x1f, 0x00, 0x00, 0xf8, 0b11100100, 0, 0, 0});
    EXPECT_EQ(t[2], (Rgba{128, 0, 128, 255}));
    EXPECT_EQ(t[3], (Rgba{0, 0, 0, 0}));
    EXPECT_EQ(decode("RGB_DXT1", {0x1f, 0x00, 0x00, 0xf8, 0b11100100, 0, 0, 0})[3], (Rgba{0, 0, 0, 255}));
    // BC2 and BC3 have four colours whatever the order.
    t = decode("RGBA_DXT3", {0x10, 0x32, 0, 0, 0, 0, 0, 0xf0, 0x1f, 0x00, 0x00, 0xf8, 0b11100100, 0, 0, 0});
    EXPECT_EQ(t[3], (Rgba{170, 0, 85, 51})); // two thirds red, alpha 3 of 15
    EXPECT_EQ(t[15][3], 255);
}

TEST(Bc, RampsOfEightAndSix) {
    // 255 above 3: seven steps; index 2 is (6 * 255 + 3) / 7 = 219.
    auto t = decode("RGTC1_UNORM", {255, 3, 0b10001000, 0, 0, 0, 0, 0}); // indices 0, 1, 2
    EXPECT_EQ(t[0], (Rgba{255, 0, 0, 255}));
    EXPECT_EQ(t[1], (Rgba{3, 0, 0, 255}));
    EXPECT_EQ(t[2], (Rgba{219, 0, 0, 255}));
    // 0 below 100: five steps and the two ends; indices 6, 7, 2.
    t = decode("RGTC1_UNORM", {0, 100, 0b10111110, 0, 0, 0, 0, 0});
    EXPECT_EQ(t[0][0], 0);
    EXPECT_EQ(t[1][0], 255);
    EXPECT_EQ(t[2][0], 20);
    // Signed: -128 counts as -127; -127 below 127, indices 0, 6, 7.
    t = decode("RGTC1_SNORM", {0x80, 0x7f, 0b11110000, 0b1, 0, 0, 0, 0});
    EXPECT_EQ(static_cast<i8>(t[0][0]), -127);
    EXPECT_EQ(static_cast<i8>(t[1][0]), -127);
    EXPECT_EQ(static_cast<i8>(t[2][0]), 127);
    EXPECT_EQ(t[0][3], 127);
    t = decode("RGTC2_UNORM", {7, 7, 0, 0, 0, 0, 0, 0, 9, 9, 0, 0, 0, 0, 0, 0});
    EXPECT_EQ(t[5], (Rgba{7, 9, 0, 255}));
    EXPECT_EQ(decode("RGBA_DXT5", {200, 100, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0, 0, 0, 0, 0, 0})[0],
              (Rgba{255, 255, 255, 200}));
}

TEST(Bc, Bc7Mode6) {
    // Mode 6: 7-bit ends of RGBA with a bit of their own each, 4-bit indices of which the first has three bits.
    BlockBits b;
    b.put(1 << 6, 7);
    for (const u32 end : {0x7fu, 0x00u, 0x00u, 0x40u, 0x10u, 0x20u, 0x7fu, 0x7fu}) // r0 r1 g0 g1 b0 b1 a0 a1
        b.put(end, 7);
    b.put(1, 1).put(0, 1).put(0, 3).put(15, 4).put(8, 4);
    const auto t = decode("BPTC_UNORM", b.bytes);
    EXPECT_EQ(t[0], (Rgba{255, 1, 33, 255}));
    EXPECT_EQ(t[1], (Rgba{0, 128, 64, 254}));
    // weight 34 of 64: (255 * 30 + 0 * 34 + 32) / 64 = 120, (30 + 128 * 34 + 32) / 64 = 68, ...
    EXPECT_EQ(t[2], (Rgba{120, 68, 49, 254}));
}

TEST(Bc, Bc7SubsetsAndRotation) {
    // Mode 1, partition 13: rows 0 and 1 are subset 0, rows 2 and 3 subset 1.
    BlockBits b;
    b.put(2, 2).put(13, 6);
    for (int channel = 0; channel < 3; ++channel)
        b.put(0, 6).put(0, 6).put(63, 6).put(63, 6);
    b.put(0, 1).put(1, 1);
    auto t = decode("BPTC_UNORM", b.bytes);
    EXPECT_EQ(t[7], (Rgba{0, 0, 0, 255}));
    EXPECT_EQ(t[8], (Rgba{255, 255, 255, 255}));
    // Mode 5 with rotation 1 has red and alpha exchanged.
    BlockBits c;
    c.put(1 << 5, 6).put(1, 2);
    for (const u32 end : {127u, 127u, 0u, 0u, 0u, 0u})
        c.put(end, 7);
    c.put(9, 8).put(9, 8);
    t = decode("BPTC_UNORM", c.bytes);
    EXPECT_EQ(t[4], (Rgba{9, 0, 0, 255}));
    // No mode bit at all: zeros.
    EXPECT_EQ(decode("BPTC_UNORM", std::vector<u8>(16))[3], (Rgba{0, 0, 0, 0}));
}

TEST(Bc, Bc6hWithoutDeltas) {
    // Mode 3: one subset, 10-bit ends as they are.
    BlockBits b;
    b.put(3, 5).put(1023, 10).put(0, 10).put(512, 10).put(1023, 10).put(0, 10).put(512, 10);
    std::array<std::array<u16, 4>, 16> t;
    decode_bc_block(info(format_named("BPTC_UFLOAT")), reinterpret_cast<const std::byte*>(b.bytes.data()),
                    reinterpret_cast<std::byte*>(t.data()));
    // 1023 is 0xffff, times 31 / 64: the largest half. 512: (512 << 15 + 0x4000) >> 9 = 32800, times 31 / 64.
    EXPECT_EQ(t[0], (std::array<u16, 4>{0x7bff, 0, 32800 * 31 / 64, 0x3c00}));
    // Signed: 512 is the lowest value, -0x7fff, times 31 / 32.
    decode_bc_block(info(format_named("BPTC_SFLOAT")), reinterpret_cast<const std::byte*>(b.bytes.data()),
                    reinterpret_cast<std::byte*>(t.data()));
    EXPECT_EQ(t[0][2], 0x8000 | (0x7fff * 31 >> 5));
    EXPECT_EQ(t[15][1], 0);
}

TEST(Bc, PartialBlocksAtTheEdges) {
    // 5 x 6 texels of BC4: 2 x 2 blocks, rows 40 bytes apart; constant blocks of 10, 20, 30, 40.
    std::vector<std::byte> blocks(40 + 16);
    for (int i = 0; i < 4; ++i)
        blocks[static_cast<std::size_t>(i / 2 * 40 + i % 2 * 8)] = std::byte(10 * (i + 1));
    std::vector<std::byte> out(5 * 6 * 4);
    ASSERT_TRUE(decode_blocks(format_named("RGTC1_UNORM"), 5, 6, blocks, 40, out));
    EXPECT_EQ(out[(3 * 5 + 3) * 4], std::byte{10});
    EXPECT_EQ(out[(0 * 5 + 4) * 4], std::byte{20});
    EXPECT_EQ(out[(5 * 5 + 0) * 4], std::byte{30});
    EXPECT_EQ(out[(5 * 5 + 4) * 4], std::byte{40});
    EXPECT_FALSE(decode_blocks(format_named("RGTC1_UNORM"), 5, 6, Bytes(blocks).first(55), 40, out));
}

} // namespace
} // namespace heaviside::texture
