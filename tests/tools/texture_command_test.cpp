// heaviside formats and heaviside texture as a person or a script uses them.
#include "tests/tools/command.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>

namespace {

namespace fs = std::filesystem;
using heaviside::test::Outcome;
using testing::HasSubstr;

Outcome run(const std::string& arguments) {
    return heaviside::test::run_command(arguments);
}

class TextureCommand : public heaviside::test::CommandTest {};

TEST(FormatsCommand, ListsEveryFormatWithWhatTheDeviceMakesOfIt) {
    const Outcome outcome = run("formats --json");
    if (outcome.code == 3)
        GTEST_SKIP() << "no Vulkan device";
    ASSERT_EQ(outcome.code, 0);
    const auto document = nlohmann::json::parse(outcome.out);
    ASSERT_EQ(document["formats"].size(), 156u); // NVN's values are 1 to 0x9c
    std::map<std::string, nlohmann::json> by_name;
    for (const auto& row : document["formats"])
        by_name[row["name"]] = row;
    const auto& rgba8 = by_name["RGBA8"];
    EXPECT_EQ(rgba8["value"], 37);
    EXPECT_EQ(rgba8["class"], "unorm");
    EXPECT_EQ(rgba8["order"], "R8G8B8A8");
    EXPECT_EQ(rgba8["image"], "R8G8B8A8_UNORM");
    EXPECT_EQ(rgba8["copy_class"], "4 bytes");
    EXPECT_EQ(rgba8["fallback"], "");
    EXPECT_THAT(rgba8["uses"], testing::Contains("target"));
    EXPECT_EQ(by_name["RGBA8_SRGB"]["view"], "R8G8B8A8_SRGB");
    EXPECT_EQ(by_name["RGBA8_SRGB"]["image"], "R8G8B8A8_UNORM");
    EXPECT_EQ(by_name["RGB32F"]["fallback"], "expanded to four components");
    EXPECT_EQ(by_name["RGB32F"]["vertex_format"], "R32G32B32_SFLOAT");
    EXPECT_EQ(by_name["BGR5A1"]["order"], "B5G5R5A1");
    EXPECT_EQ(by_name["DEPTH24_STENCIL8"]["order"], "S8D24");
    EXPECT_EQ(by_name["BPTC_UNORM"]["copy_class"], "16-byte blocks 4x4");
    EXPECT_EQ(by_name["RGBX8_SRGB"]["order"], "R8G8B8X8");
    for (const auto& row : document["formats"]) // every format is an image, or fetched as a vertex
        EXPECT_TRUE(row["image"] != "" || row["vertex"].get<bool>()) << row["name"];
    const Outcome one = run("formats RGB565");
    EXPECT_THAT(one.out, HasSubstr("R5G6B5"));
    EXPECT_EQ(run("formats RGB566 2>/dev/null").code, 1);
    EXPECT_EQ(run("formats --help").code, 0);
    EXPECT_EQ(std::system("HEAVISIDE_DEVICE=nothing '" HEAVISIDE_COMMAND "' formats >/dev/null 2>&1") / 256, 3);
}

TEST_F(TextureCommand, StorageToRowsAndBack) {
    // 32 x 8 RGBA8: two GOBs. The word at byte b of the storage is b; texel (x, y) lies where ledger OBJ-152 says.
    std::string storage;
    for (std::uint32_t at = 0; at < 1024; at += 4)
        storage.append(reinterpret_cast<const char*>(&at), 4);
    const std::string file = write("storage", storage);
    ASSERT_EQ(run("texture " + file + " --format RGBA8 --size 32x8 --rows " + path("rows")).code, 0);
    const std::string rows = read("rows");
    ASSERT_EQ(rows.size(), 1024u);
    for (std::uint32_t y = 0; y < 8; ++y)
        for (std::uint32_t x = 0; x < 32; ++x) {
            const std::uint32_t b = x * 4 % 64;
            const std::uint32_t expected =
                x * 4 / 64 * 512 + b / 32 * 256 + y / 2 * 64 + b % 32 / 16 * 32 + y % 2 * 16 + b % 16;
            std::uint32_t found = 0;
            std::copy_n(rows.data() + (y * 32 + x) * 4, 4, reinterpret_cast<char*>(&found));
            ASSERT_EQ(found, expected) << x << "," << y;
        }
    ASSERT_EQ(run("texture " + path("rows") + " --format RGBA8 --size 32x8 --tile -o " + path("again")).code, 0);
    EXPECT_EQ(read("again"), storage);
    ASSERT_EQ(run("texture " + file + " --format RGBA8 --size 32x8 --switch2 --rows " + path("other")).code, 0);
    EXPECT_NE(read("other"), rows);
}

TEST_F(TextureCommand, PicturesOfPackedAndCompressedTexels) {
    // 8 x 8 RGB565, one GOB of which 16 bytes a row are used: all red.
    std::string red;
    for (int i = 0; i < 256; ++i)
        red.append("\x1f\x00", 2);
    ASSERT_EQ(run("texture " + write("red", red) + " --format RGB565 --size 8x8 --png " + path("red.png")).code, 0);
    // A picture goes back into any uncompressed format: BGRA8 has red in its third byte.
    ASSERT_EQ(run("texture " + path("red.png") + " --format BGRA8 --size 8x8 --tile -o " + path("bgra")).code, 0);
    EXPECT_EQ(read("bgra").substr(0, 4), std::string("\x00\x00\xff\xff", 4));
    // BC1 block of one colour, pure green; 4 x 4 texels.
    std::string green("\xe0\x07\xe0\x07\0\0\0\0", 8);
    green.resize(512);
    ASSERT_EQ(run("texture " + write("bc1", green) + " --format RGB_DXT1 --size 4x4 --png " + path("bc1.png")).code, 0);
    ASSERT_EQ(run("texture " + path("bc1.png") + " --format RGBA8 --size 4x4 --tile -o " + path("rgba")).code, 0);
    EXPECT_EQ(read("rgba").substr(0, 4), std::string("\x00\xff\x00\xff", 4));
}

TEST_F(TextureCommand, LevelsAndBlockHeights) {
    // 16 x 16 R8 with 5 levels and blocks of one GOB: two GOBs, then one for each level.
    std::string storage;
    for (int gob = 0; gob < 6; ++gob)
        storage.append(512, static_cast<char>(gob));
    const std::string file = write("levels", storage);
    ASSERT_EQ(run("texture " + file + " --format R8 --size 16x16 --block-height 1 --levels --png " + path("l.png") +
                  " --rows " + path("rows"))
                  .code,
              0);
    const std::string rows = read("rows");
    ASSERT_EQ(rows.size(), 256u + 64 + 16 + 4 + 1);
    EXPECT_EQ(rows[0], 0);
    EXPECT_EQ(rows[255], 1);
    EXPECT_EQ(rows[256], 2);
    EXPECT_EQ(rows.back(), 5);
    EXPECT_TRUE(fs::exists(path("l.0.png")));
    EXPECT_TRUE(fs::exists(path("l.4.png")));
}

TEST_F(TextureCommand, WhatIsWrongIsSaid) {
    EXPECT_EQ(run("texture --help").code, 0);
    EXPECT_EQ(run("texture 2>/dev/null").code, 2);
    EXPECT_EQ(run("texture x --format RGBA8 --size 4x4 2>/dev/null").code, 2);
    EXPECT_EQ(run("texture x --format RGBA8 --size 4x4 --tile 2>/dev/null").code, 2);
    EXPECT_EQ(run("texture x --format RGBA8 --size 4x4 --block-height 3 --png y 2>/dev/null").code, 2);
    EXPECT_EQ(run("texture " + path("none") + " --format RGBA8 --size 4x4 --png y 2>/dev/null").code, 3);
    const std::string small = write("small", "abc");
    const Outcome few = run("texture " + small + " --format RGBA8 --size 4x4 --png y 2>&1");
    EXPECT_EQ(few.code, 1);
    EXPECT_THAT(few.out, HasSubstr("3 bytes, such a texture has 512"));
    EXPECT_THAT(run("texture " + small + " --format RGBA9 --size 4x4 --png y 2>&1").out, HasSubstr("RGBA9"));
    EXPECT_EQ(run("texture " + small + " --format RGBA8 --size 4by4 --png y 2>/dev/null").code, 1);
    EXPECT_EQ(run("texture " + small + " --format BPTC_UNORM --size 4x4 --tile -o y 2>/dev/null").code, 1);
}

} // namespace
