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

} // namespace
} // namespace heaviside::shader
