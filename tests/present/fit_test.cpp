// Places worked out by hand.
#include "present/fit.h"

#include <gtest/gtest.h>

using namespace heaviside::present;

namespace {

void expect_rect(const VkRect2D& rect, int x, int y, unsigned width, unsigned height) {
    EXPECT_EQ(rect.offset.x, x);
    EXPECT_EQ(rect.offset.y, y);
    EXPECT_EQ(rect.extent.width, width);
    EXPECT_EQ(rect.extent.height, height);
}

TEST(Fit, AWidePictureGetsBarsAboveAndBelow) {
    expect_rect(fit({1280, 720}, {1024, 768}), 0, 96, 1024, 576);
}

TEST(Fit, ANarrowPictureGetsBarsAtItsSides) {
    expect_rect(fit({720, 1280}, {1280, 720}), 437, 0, 405, 720);
}

TEST(Fit, TheSameShapeFillsTheSurface) {
    expect_rect(fit({1280, 720}, {1920, 1080}), 0, 0, 1920, 1080);
    expect_rect(fit({1920, 1080}, {1920, 1080}), 0, 0, 1920, 1080);
}

TEST(Fit, ExtremeShapesKeepAtLeastOneTexel) {
    expect_rect(fit({16384, 1}, {100, 100}), 0, 49, 100, 1);
    expect_rect(fit({0, 0}, {100, 50}), 0, 0, 100, 50);
    expect_rect(fit({16384, 16384}, {0, 0}), 0, 0, 0, 0);
}

// GFX-099's figures.
TEST(Fit, WholeMultiplesAreCentred) {
    expect_rect(fit({1920, 1080}, {1600, 1200}), 0, 150, 1600, 900);
    expect_rect(fit({1280, 720}, {3000, 2000}, Fit::Integer), 220, 280, 2560, 1440);
    expect_rect(fit({1280, 720}, {1000, 720}, Fit::Integer), 0, 78, 1000, 563); // too small for one
}

TEST(Fit, StretchTakesAllOfTheSurface) {
    expect_rect(fit({1280, 720}, {900, 1600}, Fit::Stretch), 0, 0, 900, 1600);
}

TEST(Fit, FillCutsTheLongSideEvenly) { // on 4:3, 21:9, 16:10, 9:16
    expect_rect(fit({1920, 1080}, {1600, 1200}, Fit::Fill), -266, 0, 2133, 1200);
    expect_rect(fit({1920, 1080}, {2560, 1080}, Fit::Fill), 0, -180, 2560, 1440);
    expect_rect(fit({1920, 1080}, {1440, 900}, Fit::Fill), -80, 0, 1600, 900);
    expect_rect(fit({1920, 1080}, {1080, 1920}, Fit::Fill), -1166, 0, 3413, 1920);
}

TEST(Fit, WhatIsCopiedStaysOnTheSurface) {
    const Placement wide = place({{100, 50}, {1920, 1080}}, {1600, 1200}, Fit::Fill);
    expect_rect(wide.target, 0, 0, 1600, 1200);
    expect_rect(wide.source, 340, 50, 1440, 1080); // 4:3 of it
    const Placement bars = place({{100, 50}, {1920, 1080}}, {1600, 1200}, Fit::Letterbox);
    expect_rect(bars.target, 0, 150, 1600, 900);
    expect_rect(bars.source, 100, 50, 1920, 1080);
}

TEST(Crop, IsCutToTheImage) {
    expect_rect(clamp_crop({{0, 0}, {1280, 720}}, {1920, 1080}), 0, 0, 1280, 720);
    expect_rect(clamp_crop({{1900, -10}, {100, 100}}, {1920, 1080}), 1900, 0, 20, 90);
    expect_rect(clamp_crop({{-5, -5}, {~0u, ~0u}}, {64, 32}), 0, 0, 64, 32);
}

TEST(Crop, ThatLeavesNothingShowsEverything) {
    expect_rect(clamp_crop({{100, 0}, {10, 10}}, {64, 32}), 0, 0, 64, 32);
    expect_rect(clamp_crop({{0, 0}, {0, 0}}, {64, 32}), 0, 0, 64, 32);
}

} // namespace
