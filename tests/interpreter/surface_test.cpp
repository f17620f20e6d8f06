// Surface instructions, each with texels worked out by hand.
#include "interpreter/image.h"
#include "interpreter/machine.h"
#include "maxwell/assembler.h"

#include <gtest/gtest.h>

using namespace heaviside;
using namespace heaviside::interpreter;

namespace {

Texture image(const char* const format, TextureDimension dimension, std::array<u32, 3> size, u32 layers = 1) {
    Texture t;
    t.format = *texel_format(format);
    t.dimension = dimension;
    t.width = size[0];
    t.height = size[1];
    t.depth = size[2];
    t.layers = layers;
    t.texels.resize(t.byte_size());
    for (std::size_t n = 0; n < t.texels.size(); ++n)
        t.texels[n] = static_cast<std::byte>(n);
    return t;
}

// One thread with images 0, 1, ...; handle number n is the word c[0][4 * n] = n.
struct Setting {
    std::vector<Texture> images;

    Result<ThreadState> try_run(const std::string& body) {
        const auto program = maxwell::assemble(".stage compute\n" + body + "    EXIT\n");
        if (!program)
            return tl::unexpected(program.error());
        const std::array<u32, 3> handles{0, 1, 2};
        const TextureUnits units{0, images, {}};
        Launch launch;
        launch.code = program->code;
        launch.banks[0] = std::as_bytes(std::span(handles));
        launch.textures = &units;
        return run_thread(launch);
    }
    std::array<u32, 255> run(const std::string& body) {
        const auto state = try_run(body);
        EXPECT_TRUE(state) << state.error().message;
        return state ? state->registers : std::array<u32, 255>{};
    }
    u32 word(std::size_t at, std::size_t which = 0) { return read_at<u32>(images[which].texels, at).value_or(0xbad); }
};

std::string set(u32 first, const std::vector<u32>& words) {
    std::string text;
    for (std::size_t n = 0; n < words.size(); ++n)
        text += fmt::format("    MOV32I R{}, {:#x}\n", first + n, words[n]);
    return text;
}

TEST(Suld, RawAccessesTakeBytesAtTheTexel) {
    Setting s{{image("RGBA32UI", TextureDimension::D2, {4, 4, 1})}};
    // Texel (1, 2) begins at byte (2 * 4 + 1) * 16 = 0x90; bytes count up.
    const std::string at = set(0, {1, 2}) + set(4, {9, 9, 9, 9});
    EXPECT_EQ(s.run(at + "    SULD.D.2D.U8.IGN R4, [R0], 0x0\n")[4], 0x90u);
    EXPECT_EQ(s.run(at + "    SULD.D.2D.S8.IGN R4, [R0], 0x0\n")[4], 0xffffff90u);
    EXPECT_EQ(s.run(at + "    SULD.D.2D.U16.IGN R4, [R0], 0x0\n")[4], 0x9190u);
    EXPECT_EQ(s.run(at + "    SULD.D.2D.S16.IGN R4, [R0], 0x0\n")[4], 0xffff9190u);
    auto r = s.run(at + "    SULD.D.2D.IGN R4, [R0], 0x0\n");
    EXPECT_EQ(r[4], 0x93929190u);
    EXPECT_EQ(r[5], 9u);
    r = s.run(at + "    SULD.D.2D.64.IGN R4, [R0], 0x0\n");
    EXPECT_EQ(r[5], 0x97969594u);
    EXPECT_EQ(r[6], 9u);
    r = s.run(at + "    SULD.D.2D.128.IGN R4, [R0], 0x0\n");
    EXPECT_EQ(r[7], 0x9f9e9d9cu);
    // .BA: x in bytes.
    EXPECT_EQ(s.run(set(0, {0x14, 2}) + "    SULD.D.BA.2D.IGN R4, [R0], 0x0\n")[4], 0x97969594u);
}

TEST(Suld, FormattedAccessesDecode) {
    Setting s{{image("RGBA8", TextureDimension::D1, {4, 1, 1}), image("RG16I", TextureDimension::Buffer, {4, 1, 1})}};
    s.images[0].texels[4] = std::byte{255};
    auto r = s.run(set(0, {1}) + set(4, {9, 9, 9, 9}) + "    SULD.P.1D.RA.IGN R4, [R0], 0x0\n");
    EXPECT_EQ(std::bit_cast<f32>(r[4]), 1.0f);
    EXPECT_EQ(std::bit_cast<f32>(r[5]), 7 / 255.0f);
    EXPECT_EQ(r[6], 9u);
    s.images[1].texels[5] = std::byte{0x80};
    r = s.run(set(0, {1}) + "    SULD.P.1D_BUFFER.IGN R4, [R0], 0x1\n");
    EXPECT_EQ(r[4], 0xffff8004u);
    EXPECT_EQ(r[5], 0x0706u);
    EXPECT_EQ(r[6], 0u);
    EXPECT_EQ(r[7], 1u); // channels that are not there
}

TEST(Suld, LayersAndSlicesAreTheLastCoordinate) {
    Setting s{{image("R8UI", TextureDimension::D2Array, {4, 2, 1}, 3), image("R8UI", TextureDimension::D3, {4, 2, 3}),
               image("R8UI", TextureDimension::D1Array, {4, 1, 1}, 3)}};
    EXPECT_EQ(s.run(set(0, {3, 1, 2}) + "    SULD.P.2D_ARRAY.R.IGN R4, [R0], 0x0\n")[4], 23u);
    EXPECT_EQ(s.run(set(0, {3, 1, 2}) + "    SULD.P.3D.R.IGN R4, [R0], 0x1\n")[4], 23u);
    EXPECT_EQ(s.run(set(0, {3, 2}) + "    SULD.P.1D_ARRAY.R.IGN R4, [R0], 0x2\n")[4], 11u);
    EXPECT_EQ(s.run(set(0, {3, 1, 3}) + "    SULD.P.2D_ARRAY.R.IGN R4, [R0], 0x0\n")[4], 0u);
}

TEST(Surface, HandlesLieInTheBankOrInARegister) {
    Setting s{{image("R8UI", TextureDimension::D1, {4, 1, 1}), image("R32UI", TextureDimension::D1, {4, 1, 1})}};
    EXPECT_EQ(s.run(set(0, {1}) + "    SULD.P.1D.R.IGN R4, [R0], 0x1\n")[4], 0x07060504u);
    EXPECT_EQ(s.run(set(0, {1, 0x12300001}) + "    SULD.P.1D.R.IGN R4, [R0], R1\n")[4], 0x07060504u); // bits 0-19
    EXPECT_EQ(s.run(set(0, {1, 9}) + "    SULD.P.1D.R.IGN R4, [R0], R1\n")[4], 0u);                   // no such image
    s.run(set(0, {1, 9, 5}) + "    SUST.P.1D.R.IGN [R0], R2, R1\n");
}

TEST(Surface, BoundsModes) {
    Setting s{{image("R8UI", TextureDimension::D2, {4, 4, 1})}};
    const std::string outside = set(0, {0xfffffffe, 2, 5});
    EXPECT_EQ(s.run(outside + "    SULD.P.2D.R.IGN R4, [R0], 0x0\n")[4], 0u);
    EXPECT_EQ(s.run(outside + "    SULD.P.2D.R R4, [R0], 0x0\n")[4], 8u); // the nearest texel
    auto state = s.try_run(outside + "    SULD.P.2D.R.TRAP R4, [R0], 0x0\n");
    ASSERT_FALSE(state);
    EXPECT_NE(state.error().message.find("surface access at -2 2 0"), std::string::npos) << state.error().message;
    s.run(outside + "    SUST.P.2D.R.IGN [R0], R2, 0x0\n");
    EXPECT_EQ(s.word(8), 0x0b0a0908u);
    s.run(outside + "    SUST.P.2D.R [R0], R2, 0x0\n");
    EXPECT_EQ(s.word(8), 0x0b0a0905u);
    EXPECT_FALSE(s.try_run(outside + "    SUST.P.2D.R.TRAP [R0], R2, 0x0\n"));
    // A raw access must end inside its row.
    EXPECT_EQ(s.run(set(0, {1, 2}) + "    SULD.D.2D.U16.IGN R4, [R0], 0x0\n")[4], 0x0a09u);
    EXPECT_EQ(s.run(set(0, {1, 2}) + "    SULD.D.2D.IGN R4, [R0], 0x0\n")[4], 0u);
}

TEST(Sust, RawAndFormatted) {
    Setting s{{image("RGBA8", TextureDimension::D2, {2, 2, 1}), image("RGBA16F", TextureDimension::D2, {2, 2, 1})}};
    // (1, 1): byte 12. Raw bytes, then 1.0, 0.0, 0.2, 0.4 as bytes, then only the red and blue channels.
    s.run(set(0, {1, 1}) + set(4, {0xaabbccdd}) + "    SUST.D.2D.IGN [R0], R4, 0x0\n");
    EXPECT_EQ(s.word(12), 0xaabbccddu);
    s.run(set(0, {1, 1}) + set(4, {0x1122}) + "    SUST.D.2D.U16.IGN [R0], R4, 0x0\n");
    EXPECT_EQ(s.word(12), 0xaabb1122u);
    const auto f = [](f32 v) { return std::bit_cast<u32>(v); };
    s.run(set(0, {1, 1}) + set(4, {f(1), f(0), f(0.2f), f(0.4f)}) + "    SUST.P.2D.IGN [R0], R4, 0x0\n");
    EXPECT_EQ(s.word(12), 0x663300ffu);
    s.run(set(0, {1, 1}) + set(4, {f(0), f(1)}) + "    SUST.P.2D.RB.IGN [R0], R4, 0x0\n");
    EXPECT_EQ(s.word(12), 0x66ff0000u);
    s.run(set(0, {0, 1}) + set(4, {f(1), f(-2), f(0.5f), f(65536)}) + "    SUST.P.2D.IGN [R0], R4, 0x1\n");
    EXPECT_EQ(s.word(16, 1), 0xc0003c00u);
    EXPECT_EQ(s.word(20, 1), 0x7c003800u);
}

TEST(Suatom, GivesTheOldValue) {
    Setting s{{image("R32UI", TextureDimension::D2, {2, 2, 1})}};
    const auto after = [&](u32 before, u32 operand, const std::string& op, u32 second = 0) {
        std::memcpy(s.images[0].texels.data() + 4, &before, 4);
        const auto r =
            s.run(set(0, {1, 0}) + set(4, {operand, second}) + "    SUATOM.D.2D." + op + ".IGN R8, [R0], R4, 0x0\n");
        EXPECT_EQ(r[8], before) << op;
        return s.word(4);
    };
    EXPECT_EQ(after(5, 3, "ADD"), 8u);
    EXPECT_EQ(after(5, 0xffffffff, "MIN"), 5u);
    EXPECT_EQ(after(5, 0xffffffff, "MIN.S32"), 0xffffffffu);
    EXPECT_EQ(after(5, 0xffffffff, "MAX"), 0xffffffffu);
    EXPECT_EQ(after(5, 0xffffffff, "MAX.S32"), 5u);
    EXPECT_EQ(after(5, 5, "INC"), 0u);
    EXPECT_EQ(after(4, 5, "INC"), 5u);
    EXPECT_EQ(after(0, 5, "DEC"), 5u);
    EXPECT_EQ(after(9, 5, "DEC"), 5u);
    EXPECT_EQ(after(3, 5, "DEC"), 2u);
    EXPECT_EQ(after(6, 3, "AND"), 2u);
    EXPECT_EQ(after(6, 3, "OR"), 7u);
    EXPECT_EQ(after(6, 3, "XOR"), 5u);
    EXPECT_EQ(after(6, 3, "EXCH"), 3u);
    EXPECT_EQ(after(6, 6, "CAS", 9), 9u); // compare, then the new value
    EXPECT_EQ(after(6, 7, "CAS", 9), 6u);
    EXPECT_EQ(after(0x3f800000, 0x40000000, "ADD.F32.FTZ.RN"), 0x40400000u);
    // Outside: 0, and nothing changes.
    EXPECT_EQ(s.run(set(0, {2, 0}) + set(8, {7}) + "    SUATOM.D.2D.ADD.IGN R8, [R0], R0, 0x0\n")[8], 0u);
}

TEST(Suatom, WideAndFormatted) {
    Setting s{{image("RG32UI", TextureDimension::D1, {2, 1, 1}), image("R32I", TextureDimension::D1, {2, 1, 1})}};
    // 0x0f0e0d0c0b0a0908 + 0x1_fffffff8.
    const auto r = s.run(set(0, {1}) + set(4, {0xfffffff8, 1}) + "    SUATOM.D.1D.ADD.U64.IGN R8, [R0], R4, 0x0\n");
    EXPECT_EQ(r[8], 0x0b0a0908u);
    EXPECT_EQ(r[9], 0x0f0e0d0cu);
    EXPECT_EQ(s.word(8), 0x0b0a0900u);
    EXPECT_EQ(s.word(12), 0x0f0e0d0eu);
    // The format's type orders .P: 0x03020100 is not below - 1.
    s.run(set(0, {0}) + set(4, {0xffffffff}) + "    SUATOM.P.1D.MIN.IGN R8, [R0], R4, 0x1\n");
    EXPECT_EQ(s.word(0, 1), 0xffffffffu);
}

TEST(Sured, ChangesTheTexel) {
    Setting s{{image("R32UI", TextureDimension::Buffer, {4, 1, 1})}};
    s.run(set(0, {2}) + set(4, {0x10}) + "    SURED.P.1D_BUFFER.ADD.IGN [R0], R4, 0x0\n");
    EXPECT_EQ(s.word(8), 0x0b0a0918u);
    s.run(set(0, {8}) + set(4, {0xff}) + "    SURED.D.BA.1D_BUFFER.OR.IGN [R0], R4, 0x0\n");
    EXPECT_EQ(s.word(8), 0x0b0a09ffu);
    s.run(set(0, {4}) + set(4, {0xff}) + "    SURED.D.1D_BUFFER.OR.IGN [R0], R4, 0x0\n");
    EXPECT_EQ(s.word(12), 0x0f0e0d0cu);
}

TEST(Surface, LanesShareATexelOneAfterTheOther) {
    Setting s{{image("R32UI", TextureDimension::Buffer, {1, 1, 1})}};
    const auto program = maxwell::assemble(".stage compute\n"
                                           "    S2R R1, SR_TID.X\n"
                                           "    MOV R0, RZ\n"
                                           "    SURED.D.1D_BUFFER.ADD.IGN [R0], R1, 0x0\n"
                                           "    EXIT\n");
    ASSERT_TRUE(program) << program.error().message;
    s.images[0].texels.assign(4, std::byte{0});
    const TextureUnits units{0, s.images, {}};
    Launch launch;
    launch.code = program->code;
    launch.textures = &units;
    launch.block = {64, 1, 1};
    const auto done = run(launch);
    ASSERT_TRUE(done) << done.error().message;
    EXPECT_EQ(s.word(0), 63u * 64 / 2);
}

} // namespace
