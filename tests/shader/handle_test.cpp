// Images and handles as a translation reports them.
#include "maxwell/assembler.h"
#include "shader/interface.h"

#include <gtest/gtest.h>

namespace heaviside::shader {
namespace {

struct Source {
    std::vector<std::byte> code;
    Result<Translation> translation = fail("not assembled");
    bool assembled = false;
    explicit Source(const std::string& text) {
        auto result = maxwell::assemble(text + "EXIT\n");
        if (!result)
            return;
        assembled = true;
        code = std::move(result->code);
        program::Program program;
        program.stage = Stage::Compute;
        program.code = code;
        Options options;
        options.validate = true;
        translation = translate(program, {}, options);
    }
};

// SHD-155, SHD-152: every form there is becomes a valid module that says that it writes the image, of the instruction's
// own shape, or is refused by name.
TEST(ImageAtomics, AreValidOrRefusedByName) {
    unsigned translated = 0, refused = 0;
    for (const char* type : {"", ".S32", ".U64", ".F32.FTZ.RN", ".F16x2.FTZ.RN", ".S64"})
        for (const char* op : {"ADD", "MIN", "MAX", "INC", "DEC", "AND", "OR", "XOR", "EXCH", "CAS"})
            for (const char* dimension : {"1D", "1D_BUFFER", "1D_ARRAY", "2D", "2D_ARRAY", "3D"})
                for (const char* bounds : {"", ".IGN", ".TRAP"})
                    for (const char* form : {"SUATOM.D.", "SUATOM.P."}) {
                        const std::string text =
                            fmt::format("{}{}.{}{}{} R8, [R0], R4, 0x48\n", form, dimension, op, type, bounds);
                        const Source source(text);
                        if (!source.assembled)
                            continue; // the machine has no such form
                        if (!source.translation) {
                            const std::string& error = source.translation.error().message;
                            EXPECT_EQ(error.find("spirv-val"), std::string::npos) << text << error;
                            EXPECT_TRUE(error.find("SUATOM") != error.npos || error.find("image_atomic") != error.npos)
                                << text << error;
                            ++refused;
                            continue;
                        }
                        ++translated;
                        const auto& handles = source.translation->reflection.handles;
                        ASSERT_EQ(handles.size(), 1u) << text;
                        EXPECT_TRUE(handles[0].storage && handles[0].written) << text;
                        EXPECT_EQ(handles[0].dimension == Dimension::Buffer, std::string_view(dimension) == "1D_BUFFER")
                            << text;
                        EXPECT_EQ(handles[0].offset, 4u * 0x48) << text;
                    }
    EXPECT_GT(translated, 100u);
    EXPECT_GT(refused, 0u);
}

// SHD-139: c2[0x1a0] | 0x10500000 goes round a loop through two registers.
TEST(Handles, OfALoopAreTheirConstantWord) {
    const Source source("LDC R8, c[0x2][0x1a0]\n"
                        "LOP32I.OR R8, R8, 0x10500000\n"
                        "MOV R9, R8\n"
                        "MOV R10, RZ\n"
                        "loop:\n"
                        "MOV R11, R9\n"
                        "MOV R9, R8\n"
                        "MOV R8, R11\n"
                        "MOV R4, R9\n"
                        "TEX.B.LZ R0, R0, R4, 0x0, 2D, 0xf\n"
                        "IADD R10, R10, R0\n"
                        "ISETP.LT.AND P0, PT, R10, 0x10, PT\n"
                        "@P0 BRA loop\n"
                        "MOV R2, RZ\n"
                        "STG.E [R2], R10\n");
    ASSERT_TRUE(source.assembled);
    ASSERT_TRUE(source.translation) << source.translation.error().message;
    const auto& handles = source.translation->reflection.handles;
    ASSERT_EQ(handles.size(), 1u);
    EXPECT_EQ(handles[0].bank, 2u);
    EXPECT_EQ(handles[0].offset, 0x1a0u);
    EXPECT_EQ(handles[0].dimension, Dimension::D2);
}

// SHD-004, SHD-069, GFX-163: where programs find the handles of slots in the vendor's driver bank.
TEST(Handles, OfSlotsAreWordsOfTheDriversBank) {
    struct Case {
        const char* text;
        u32 offset;
        bool storage;
    };
    constexpr Case cases[] = {
        {"TEX.LZ R0, R0, RZ, 0x8, 2D, 0xf\n", 0x20, false},   // combined slot 0
        {"TEX.LZ R0, R0, RZ, 0xa, 2D, 0xf\n", 0x28, false},   // 1
        {"TEX.LZ R0, R0, RZ, 0x46, 2D, 0xf\n", 0x118, false}, // 31
        {"SULD.D.2D.IGN R0, [R0], 0x48\n", 0x120, true},      // image slot 0
        {"SULD.D.2D.IGN R0, [R0], 0x4c\n", 0x130, true},      // 2
        // separate texture 7 with sampler 0: only the texture's word counts
        {"MOV R4, c[0x2][0x1a0]\nLOP.OR R4, R4, c[0x2][0x568]\nTEX.B.LZ R0, R0, R4, 0x0, 2D, 0xf\n", 0x1a0, false},
    };
    for (const Case& c : cases) {
        const Source source(c.text + std::string("STG.E [R8], R0\n"));
        ASSERT_TRUE(source.assembled) << c.text;
        ASSERT_TRUE(source.translation) << source.translation.error().message;
        const auto& handles = source.translation->reflection.handles;
        ASSERT_EQ(handles.size(), 1u) << c.text;
        EXPECT_EQ(handles[0].bank, 2u) << c.text;
        EXPECT_EQ(handles[0].offset, c.offset) << c.text;
        EXPECT_EQ(handles[0].storage, c.storage) << c.text;
    }
}

// GFX-003.
TEST(Handles, OfRegistersInEveryLookup) {
    for (const char* text : {"TEX.B.LZ R0, R0, R4, 0x0, 2D, 0xf\n", "TLD.B.LZ R0, R0, R4, 0x0, 2D, 0xf\n",
                             "TXQ.B R0, R4, TEX_HEADER_DIMENSION, 0x0, 0xf\n", "TXD.B R0, R0, R4, 0x0, 2D, 0xf\n",
                             "TMML.B.LOD R0, R0, R4, 0x0, 2D, 0x3\n"}) {
        const Source source(text);
        ASSERT_TRUE(source.assembled) << text;
        EXPECT_TRUE(source.translation) << text << source.translation.error().message;
    }
}

// REN-190.
TEST(Banks, ReportHowFarTheyAreRead) {
    const Source fixed("MOV R0, c[0x3][0x10]\nIADD R0, R0, c[0x3][0x21c]\nSTG.E [R2], R0\n");
    ASSERT_TRUE(fixed.translation) << fixed.translation.error().message;
    ASSERT_EQ(fixed.translation->reflection.banks.size(), 1u);
    EXPECT_EQ(fixed.translation->reflection.banks[0].size, 0x220u);
    const Source computed("S2R R4, SR_TID.X\nLDC R0, c[0x3][R4+0x10]\nSTG.E [R2], R0\n");
    ASSERT_TRUE(computed.translation) << computed.translation.error().message;
    ASSERT_EQ(computed.translation->reflection.banks.size(), 1u);
    EXPECT_EQ(computed.translation->reflection.banks[0].size, 0x10000u);
}

} // namespace
} // namespace heaviside::shader
