// Runs the gallery, a program that knows nothing but nvn/nvn.h, and holds its pictures against tests/data/gallery.
//
// Tolerance: a channel may differ by 6 of 255 (devices round texture filters and blends differently), where levels of
// detail are blended by 24 (devices approximate the level: up to 23 between Mesa's software device and an H200), and
// 0.5 % of a picture's pixels may differ by more (edges that fall between two devices' sub-pixel grids).
#include <gtest/gtest.h>
#include <png.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;

constexpr int channel_tolerance = 6, level_tolerance = 24;
constexpr double outlier_share = 0.005;

struct Picture {
    unsigned width = 0, height = 0;
    std::vector<unsigned char> rgba;
};

Picture read_png(const fs::path& path) {
    png_image image{};
    image.version = PNG_IMAGE_VERSION;
    Picture picture;
    if (!png_image_begin_read_from_file(&image, path.c_str()))
        return picture;
    image.format = PNG_FORMAT_RGBA;
    picture.width = image.width;
    picture.height = image.height;
    picture.rgba.resize(PNG_IMAGE_SIZE(image));
    if (!png_image_finish_read(&image, nullptr, picture.rgba.data(), 0, nullptr))
        picture = {};
    return picture;
}

class Gallery : public testing::TestWithParam<const char*> {
protected:
    static inline fs::path output;
    static inline int exit_code = -1;

    static void SetUpTestSuite() {
        output = fs::path(testing::TempDir()) / "heaviside_gallery";
        fs::remove_all(output);
        // Under the validation layer the gallery runs as this test does.
        const char* const prefix = std::getenv("HEAVISIDE_RUN_PREFIX");
        exit_code = std::system(((prefix ? "'" + std::string(prefix) + "' " : "") + "'" HEAVISIDE_GALLERY "'" +
                                 " --frames 12 --out '" + output.string() + "'")
                                    .c_str());
    }
    static void TearDownTestSuite() { fs::remove_all(output); }
};

TEST_P(Gallery, PictureIsAsExpected) {
    ASSERT_EQ(exit_code, 0) << "the gallery itself failed";
    const std::string file = std::string(GetParam()) + ".png";
    const Picture expected = read_png(fs::path(HEAVISIDE_SOURCE_DIR "/tests/data/gallery") / file);
    const Picture drawn = read_png(output / file);
    ASSERT_GT(expected.width, 0u) << "no expected picture " << file;
    ASSERT_EQ(drawn.width, expected.width);
    ASSERT_EQ(drawn.height, expected.height);
    const int tolerance = file == "mipmaps.png" ? level_tolerance : channel_tolerance;
    std::size_t outliers = 0;
    for (std::size_t i = 0; i < expected.rgba.size(); i += 4) {
        int worst = 0;
        for (std::size_t c = 0; c < 4; ++c)
            worst = std::max(worst, std::abs(int{drawn.rgba[i + c]} - int{expected.rgba[i + c]}));
        outliers += worst > tolerance;
    }
    EXPECT_LE(static_cast<double>(outliers), outlier_share * static_cast<double>(expected.rgba.size() / 4));
}

INSTANTIATE_TEST_SUITE_P(Pictures, Gallery,
                         testing::Values("clears", "mesh", "blending", "mipmaps", "cube_map", "instances", "indexed",
                                         "compute", "render_to_texture", "multisample", "targets", "window"),
                         [](const auto& test) { return std::string(test.param); });

} // namespace
