// Soft floats held to the host's, in all four directions, and to the flushing that hosts do not have.
#include "interpreter/soft_float.h"

#include <gtest/gtest.h>

#include <bit>
#include <cfenv>
#include <cmath>
#include <random>

using namespace heaviside;
using namespace heaviside::interpreter::soft;

namespace {

constexpr std::pair<Rounding, int> directions[] = {{Rounding::Nearest, FE_TONEAREST},
                                                   {Rounding::Down, FE_DOWNWARD},
                                                   {Rounding::Up, FE_UPWARD},
                                                   {Rounding::Zero, FE_TOWARDZERO}};

// Numbers of all sizes, mostly with exponents near each other so that sums cancel and round.
template <class Bits>
Bits draw(std::mt19937_64& random, Format format) {
    const u64 any = random();
    const u64 fraction = any & ((u64{1} << format.fraction_bits) - 1) & (any >> 62 == 0 ? ~u64{0} << 8 : ~u64{0});
    u64 exponent = random() % ((u64{1} << format.exponent_bits));
    if (random() % 4 != 0)
        exponent = static_cast<u64>(format.bias()) + random() % (2 * format.fraction_bits) - format.fraction_bits;
    else if (random() % 3 == 0)
        exponent = random() % 3;
    return static_cast<Bits>((any >> 63 ? format.sign() : 0) | exponent << format.fraction_bits | fraction);
}

template <class Float, class Bits>
void compare_with_host(Format format) {
    std::mt19937_64 random(format.fraction_bits);
    for (int round = 0; round < 40000; ++round) {
        const auto a = draw<Bits>(random, format), b = draw<Bits>(random, format), c = draw<Bits>(random, format);
        const auto number = [&](Bits bits) { return unpack(format, bits); };
        for (const auto& [rounding, host_rounding] : directions) {
            volatile Float x = std::bit_cast<Float>(a), y = std::bit_cast<Float>(b), z = std::bit_cast<Float>(c);
            std::fesetround(host_rounding);
            volatile Float added = x + y, multiplied = x * y, fused = std::fma(x, y, z), whole_host = std::nearbyint(x);
            std::fesetround(FE_TONEAREST);
            const std::pair<Number, Float> results[] = {
                {sum(number(a), number(b), rounding), added},
                {product(number(a), number(b)), multiplied},
                {sum(product(number(a), number(b)), number(c), rounding), fused},
                {rounded_to_whole(number(a), rounding), whole_host}};
            for (const auto& [soft, host] : results) {
                const u64 packed = pack(soft, format, rounding);
                if (std::isnan(host))
                    ASSERT_EQ(packed, format.sign() - 1);
                else
                    ASSERT_EQ(packed, u64{std::bit_cast<Bits>(host)})
                        << std::hex << u64{a} << ' ' << u64{b} << ' ' << u64{c} << " direction " << host_rounding;
            }
        }
    }
}

TEST(SoftFloat, SinglesAreTheHosts) {
    compare_with_host<f32, u32>(binary32);
}
TEST(SoftFloat, DoublesAreTheHosts) {
    compare_with_host<f64, u64>(binary64);
}

TEST(SoftFloat, HalvesAreTheNearestOnes) {
    // Between two neighbours the middle goes to the even one, any other number to the nearer one.
    for (u32 bits = 0; bits < 0x7bff; ++bits) {
        const Number low = unpack(binary16, bits), high = unpack(binary16, bits + 1);
        Number middle = sum(low, high);
        middle.exponent -= 1;
        const Number little{Kind::Finite, false, -60, 1}, less{Kind::Finite, true, -60, 1};
        ASSERT_EQ(pack(low, binary16), bits);
        ASSERT_EQ(pack(middle, binary16), bits + (bits & 1)) << bits;
        ASSERT_EQ(pack(sum(middle, little), binary16), bits + 1) << bits;
        ASSERT_EQ(pack(sum(middle, less), binary16), bits) << bits;
        ASSERT_EQ(pack(sum(middle, less), binary16, Rounding::Up), bits + 1) << bits;
        ASSERT_EQ(pack(sum(middle, little), binary16, Rounding::Zero), bits) << bits;
    }
    EXPECT_EQ(pack(Number{Kind::Finite, false, 0, 65519}, binary16), 0x7bffu); // 65504 is the largest
    EXPECT_EQ(pack(Number{Kind::Finite, false, 0, 65520}, binary16), 0x7c00u);
    EXPECT_EQ(pack(Number{Kind::Finite, true, 0, 70000}, binary16, Rounding::Up), 0xfbffu);
}

TEST(SoftFloat, FlushesWhatIsBelowTheSmallestNormalAtFullPrecision) {
    // (1 - 2^-25) * 2^-126 is half way between the last number of 24 bits below 2^-126 and 2^-126: it rounds up, and
    // stays. A little less rounds to 24 bits below, though its denormal would be 2^-126.
    const Number stays{Kind::Finite, true, -151, 0x1ffffff}, goes{Kind::Finite, true, -152, 0x3fffffd};
    EXPECT_EQ(pack(stays, binary32, Rounding::Nearest, true), 0x80800000u);
    EXPECT_EQ(pack(goes, binary32, Rounding::Nearest, true), 0x80000000u);
    EXPECT_EQ(pack(goes, binary32, Rounding::Nearest, false), 0x80800000u);
    EXPECT_EQ(pack(goes, binary32, Rounding::Down, true), 0x80800000u);
    EXPECT_EQ(pack(goes, binary32, Rounding::Up, true), 0x80000000u);
    EXPECT_EQ(unpack(binary32, 0x807fffff, true).kind, Kind::Zero);
    EXPECT_TRUE(unpack(binary32, 0x807fffff, true).negative);
}

TEST(SoftFloat, WholeNumbersSaturate) {
    EXPECT_EQ(whole(unpack(binary64, 0x43efffffffffffff), Rounding::Nearest).magnitude, 0xfffffffffffff800u);
    EXPECT_TRUE(whole(unpack(binary64, 0x43f0000000000000), Rounding::Nearest).large); // 2^64
    EXPECT_EQ(whole(unpack(binary32, 0x40200000), Rounding::Nearest).magnitude, 2u);   // 2.5
    EXPECT_EQ(whole(unpack(binary32, 0xc0200000), Rounding::Down).magnitude, 3u);
    EXPECT_EQ(whole(unpack(binary32, 0x00000001), Rounding::Up).magnitude, 1u);
}

} // namespace
