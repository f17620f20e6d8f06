// Images and handles as a translation reports them.
#include "maxwell/assembler.h"
#include "shader/cross.h"
#include "shader/interface.h"

#include <gtest/gtest.h>

#include <set>

namespace heaviside::shader {
namespace {

struct Source {
    std::vector<std::byte> code;
    Result<Translation> translation = fail("not assembled");
    bool assembled = false;
    explicit Source(const std::string& text, Stage stage = Stage::Compute, const VariantKey& key = {},
                    const std::optional<program::FeedbackLayout>& feedback = std::nullopt) {
        auto result = maxwell::assemble(text + "EXIT\n");
        if (!result)
            return;
        assembled = true;
        code = std::move(result->code);
        const auto header = maxwell::encode_sph(result->header);
        program::Program program;
        program.stage = stage;
        program.code = code;
        program.feedback = feedback;
        if (stage != Stage::Compute)
            program.header = header;
        Options options;
        options.validate = true;
        options.transform_feedback = true;
        translation = translate(program, key, options);
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

const char* directive(Stage stage) {
    return stage == Stage::Vertex     ? ".stage vertex\n"
           : stage == Stage::Fragment ? ".stage fragment\n.target 0 rgba\n"
                                      : ".stage compute\n";
}

// GFX-070, GFX-074, REN-197: images in the order of their first use, however many, each with the union of its accesses.
TEST(Images, AreListedInOrderWithWhatIsDoneToThem) {
    std::string text;
    const u32 order[] = {3, 0, 7, 1, 2, 6, 5, 4, 8}; // slot 8 is none of the API's: a ninth image is no limit here
    for (const u32 slot : order)
        text += fmt::format("SULD.D.2D.IGN R4, [R0], {:#x}\nIADD R12, R12, R4\n", 0x48 + 2 * slot);
    text += "SUST.D.2D.IGN [R0], R4, 0x4e\n"                                     // slot 3 too: both
            "SUST.P.1D.IGN [R0], R4, 0x60\n"                                     // slot 12: stored to only
            "SURED.D.2D.ADD.IGN [R0], R4, 0x4a\n"                                // slot 1: atomics
            "TLD.LZ R8, R0, 0x62, 1D, 0xf\nSTG.E [R10], R8\nSTG.E [R10], R12\n"; // no image
    const Source source(text);
    ASSERT_TRUE(source.assembled);
    ASSERT_TRUE(source.translation) << source.translation.error().message;
    std::vector<u32> found;
    for (const HandleUse& use : source.translation->reflection.handles) {
        if (!use.storage)
            continue;
        const u32 slot = (use.offset - 0x120) / 8;
        found.push_back(slot);
        EXPECT_EQ(use.written, slot == 3 || slot == 12 || slot == 1) << slot;
    }
    EXPECT_EQ(found, (std::vector<u32>{3, 0, 7, 1, 2, 6, 5, 4, 8, 12}));
}

// GFX-071: 32 textures and 8 images of one program are arrays of bindings of their own.
TEST(Images, AndTexturesHaveBindingsOfTheirOwn) {
    for (const Stage stage : {Stage::Vertex, Stage::Fragment, Stage::Compute}) {
        std::string text = directive(stage);
        for (u32 slot = 0; slot < 32; ++slot)
            text += fmt::format("TLD.LZ R4, R0, {:#x}, 2D, 0x1\nIADD R12, R12, R4\n", 8 + 2 * slot);
        for (u32 slot = 0; slot < 8; ++slot)
            text += fmt::format("SUST.D.2D.IGN [R0], R12, {0:#x}\nSUST.P.2D.IGN [R0], R4, {0:#x}\n", 0x48 + 2 * slot);
        const Source source(text, stage);
        ASSERT_TRUE(source.assembled);
        ASSERT_TRUE(source.translation) << source.translation.error().message;
        std::set<u32> bindings;
        const std::vector<u32>& words = source.translation->spirv;
        for (std::size_t at = 5; at < words.size(); at += words[at] >> 16)
            if ((words[at] & 0xffff) == 71 && words[at + 2] == 33) { // OpDecorate Binding
                EXPECT_TRUE(bindings.insert(words[at + 3]).second) << "binding " << words[at + 3];
            }
        const auto two_d = static_cast<u32>(Dimension::D2);
        for (const u32 first : {heap::first_sampled, heap::first_storage, heap::first_raw_storage})
            EXPECT_TRUE(bindings.contains(first + two_d)) << first;
        EXPECT_EQ(source.translation->reflection.handles.size(), 40u);
    }
}

// GFX-073: formatted access is of the class that the draw's key says, raw access and atomics are of bits.
TEST(Images, ComponentsAreOfTheKeysClass) {
    const auto declared = [](const char* text, u32 uints, u32 sints) {
        VariantKey key;
        key.uint_images = uints;
        key.sint_images = sints;
        const Source source(text, Stage::Compute, key);
        EXPECT_TRUE(source.assembled && source.translation) << text;
        if (!source.translation)
            return std::string();
        const auto glsl = to_glsl(source.translation->spirv);
        EXPECT_TRUE(glsl);
        const std::size_t at = glsl->find("image2D");
        return at == std::string::npos ? std::string() : glsl->substr(at - 1, 8);
    };
    const char* const formatted = "SULD.P.2D.IGN R4, [R0], 0x4c\nSUST.P.2D.IGN [R0], R4, 0x4c\n"; // slot 2
    EXPECT_EQ(declared(formatted, 0, 0), " image2D");
    EXPECT_EQ(declared(formatted, 1u << 2, 0), "uimage2D");
    EXPECT_EQ(declared(formatted, 0, 1u << 2), "iimage2D");
    EXPECT_EQ(declared(formatted, 1u << 3, 0), " image2D");
    for (const char* bits :
         {"SUATOM.P.2D.ADD.IGN R4, [R0], R6, 0x4c\nSTG.E [R8], R4\n", "SULD.D.2D.IGN R4, [R0], 0x4c\nSTG.E [R8], R4\n"})
        EXPECT_EQ(declared(bits, 0, 0), "uimage2D") << bits;
}

// SHD-126: stores and atomics through addresses say that the program writes, whatever the address comes from.
TEST(GlobalMemory, ProgramsSayWhetherTheyWrite) {
    const struct {
        const char* text;
        bool reads, writes;
    } cases[] = {
        {"LDG.E R0, [R2]\nSUST.D.2D.IGN [R0], R0, 0x48\n", true, false},
        {"MOV R2, c[0x0][0x310]\nMOV R3, c[0x0][0x314]\nSTG.E [R2], R0\n", false, true},
        {"MOV R2, c[0x3][0x38]\nMOV R3, c[0x3][0x3c]\nSTG.E [R2], R0\n", false, true},
        {"MOV R2, c[0x3][0x38]\nMOV R3, c[0x3][0x3c]\nRED.E.ADD [R2], R0\n", true, true},
        {"ATOM.E.ADD R0, [R2], R1\n", true, true},
        {"SUST.D.2D.IGN [R0], R0, 0x48\n", false, false},
    };
    for (const auto& c : cases) {
        const Source source(c.text);
        ASSERT_TRUE(source.assembled) << c.text;
        ASSERT_TRUE(source.translation) << source.translation.error().message;
        EXPECT_EQ(source.translation->reflection.reads_global, c.reads) << c.text;
        EXPECT_EQ(source.translation->reflection.writes_global, c.writes) << c.text;
    }
}

// GFX-110: what cannot be captured is not translated to something else.
TEST(Feedback, OfStagesThatHaveNoneIsANamedError) {
    const program::FeedbackLayout layout{{16, 0, 0, 0}, {{0x80, 4, 0, 0}}};
    for (const Stage stage : {Stage::Fragment, Stage::Compute}) {
        const Source with(std::string(directive(stage)) + "MOV R0, RZ\n", stage, {}, layout);
        ASSERT_TRUE(with.assembled);
        ASSERT_FALSE(with.translation) << program::name(stage);
        EXPECT_NE(with.translation.error().message.find("transform feedback"), std::string::npos);
        EXPECT_NE(with.translation.error().message.find(program::name(stage)), std::string::npos);
    }
    const Source vertex(".stage vertex\n.out position\n.out 0 xyzw\nAST.128 a[0x70], RZ, RZ\n", Stage::Vertex, {},
                        layout);
    ASSERT_TRUE(vertex.assembled);
    EXPECT_TRUE(vertex.translation);
}

// SHD-125, GFX-129: a storage buffer's address and size are words of the driver's bank as any others; what is no row's
// begin is a word all the same.
TEST(GlobalMemory, TablesAreReadAsWords) {
    const Source source(".stage geometry\n.topology points\n.max_vertices 1\n.threads 1\n.streams 1\n"
                        "MOV R2, c[0x0][0x430]\nMOV R3, c[0x0][0x434]\nMOV R0, c[0x0][0x438]\nSTG.E [R2], R0\n",
                        Stage::Geometry);
    ASSERT_TRUE(source.assembled);
    ASSERT_TRUE(source.translation) << source.translation.error().message;
    ASSERT_EQ(source.translation->reflection.banks.size(), 1u);
    EXPECT_EQ(source.translation->reflection.banks[0].bank, 0u);
    EXPECT_EQ(source.translation->reflection.banks[0].size, 0x43cu);
}

} // namespace
} // namespace heaviside::shader
