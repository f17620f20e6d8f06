// When pictures are shown, by a clock of the test's own.
#include "present/pacer.h"

#include <gtest/gtest.h>

using namespace heaviside;
using namespace heaviside::present;

namespace {

constexpr u64 second = 1'000'000'000, millisecond = 1'000'000;

// The seconds that `count` pictures take, each offered as soon as the one before is shown, on a display that takes one
// every `refresh`: how long until the last has had its time.
double run(const PacingSettings& settings, u32 interval, int count, u64 refresh = second / 120) {
    Pacer pacer(settings);
    u64 now = 5 * second, start = 0;
    for (int i = 0; i <= count; ++i) {
        now = pacer.show(now, interval);
        if (i == 0)
            start = now;
        if (i < count)
            now += refresh / 8; // the guest is fast
    }
    return static_cast<double>(now - start) / static_cast<double>(second);
}

TEST(Pacing, TheGuestsBlanksAreVirtual) { // GFX-011, GFX-044, GFX-046
    const auto period = [](u32 fps, Pacing mode = Pacing::Game, u32 interval = 1) {
        return blank_period({.mode = mode, .target_fps = fps}, interval);
    };
    EXPECT_EQ(period(0), 16'666'667u);
    EXPECT_EQ(period(30), 33'333'333u);
    EXPECT_EQ(period(120), 8'333'333u);
    EXPECT_EQ(period(45, Pacing::Fixed), 22'222'222u);
    EXPECT_EQ(period(0, Pacing::Game, 2), 16'666'667u); // not every interval
    EXPECT_EQ(period(0, Pacing::Off, 2), 16'666'667u);
}

TEST(Pacing, APictureIsHeldForItsInterval) { // GFX-012, GFX-045, GFX-065
    EXPECT_NEAR(run({}, 2, 60), 2.0, 0.034);
    EXPECT_NEAR(run({}, 2, 30), 1.0, 0.034);
    EXPECT_NEAR(run({}, 1, 60), 1.0, 0.017);
    EXPECT_NEAR(run({}, 3, 20), 1.0, 0.05);
}

TEST(Pacing, AFixedRateIsTheSettings) { // GFX-045
    EXPECT_NEAR(run({.mode = Pacing::Fixed, .target_fps = 45}, 2, 45), 1.0, 0.001);
    EXPECT_NEAR(run({.mode = Pacing::Fixed, .target_fps = 90}, 1, 90), 1.0, 0.001);
    EXPECT_NEAR(run({.mode = Pacing::Fixed}, 4, 60), 1.0, 0.001);
}

TEST(Pacing, WithoutItNothingIsHeld) {
    EXPECT_LT(run({.mode = Pacing::Off}, 4, 60), 0.1);
    EXPECT_LT(run({}, 0, 60), 0.1); // a guest that does not wait for blanks
}

TEST(Pacing, ALateGuestDoesNotCatchUp) {
    Pacer pacer({});
    EXPECT_EQ(pacer.show(100 * millisecond, 1), 100 * millisecond);
    EXPECT_EQ(pacer.show(500 * millisecond, 1), 500 * millisecond);
    EXPECT_EQ(pacer.show(501 * millisecond, 1), 500 * millisecond + second / 60);
}

TEST(Pacing, AGuestThatCountsBlanksSeesAsManyAsItAskedFor) { // GFX-047
    const PacingSettings fixed{.mode = Pacing::Fixed, .target_fps = 60, .divisor_fix = true};
    EXPECT_EQ(blank_period(fixed, 2), 8'333'333u); // two in a picture of 1/60 s
    EXPECT_EQ(blank_period(fixed, 1), 16'666'667u);
    EXPECT_EQ(blank_period(fixed, 0), 16'666'667u);
    PacingSettings without = fixed;
    without.divisor_fix = false;
    EXPECT_EQ(blank_period(without, 2), 16'666'667u);
}

} // namespace
