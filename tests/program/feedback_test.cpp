// Transform feedback layouts and tessellation parameters in control sections, byte by byte as the ledger has them.
#include "program/build.h"
#include "program/feedback.h"

#include <cstring>
#include <gtest/gtest.h>

namespace heaviside::program {
namespace {

using Section = std::vector<std::byte>;

template <class T>
void put(Section& s, u32 offset, T value) {
    std::memcpy(s.data() + offset, &value, sizeof value);
}
Section section() {
    return Section(0x7d0);
}
constexpr u16 location(u32 n) {
    return static_cast<u16>(0x80 + 16 * n);
}

TEST(FeedbackLayout, AnOutputInEachOfThreeBuffers) { // REN-173: strides 12, 4, 4
    Section s = section();
    put<u32>(s, 0x6ec, 3);
    const u8 components[] = {3, 1, 1};
    const u16 strides[] = {12, 4, 4};
    for (u32 b = 0; b < 3; ++b) {
        put<u16>(s, 0x6dc + 2 * b, strides[b]);
        put<u8>(s, 0x6e8 + b, 1);
        put<u8>(s, 0xdc + 0x80 * b, static_cast<u8>(0x20 + b));
        put<u8>(s, 0x4dc + 0x80 * b, components[b]);
    }
    const auto layout = feedback_layout(s);
    ASSERT_TRUE(layout && *layout);
    EXPECT_EQ((*layout)->strides, (std::array<u16, 4>{12, 4, 4, 0}));
    EXPECT_EQ((*layout)->outputs,
              (std::vector<FeedbackOutput>{{location(0), 3, 0, 0}, {location(1), 1, 1, 0}, {location(2), 1, 2, 0}}));
}

TEST(FeedbackLayout, OutputsOfABufferFollowEachOther) { // REN-173: two xyz outputs in 24 bytes
    Section s = section();
    put<u32>(s, 0x6ec, 1);
    put<u16>(s, 0x6dc, 24);
    put<u8>(s, 0x6e8, 2);
    put<u16>(s, 0xdc, 0x2125); // locations 5 and 1
    put<u16>(s, 0x4dc, 0x0303);
    const auto layout = feedback_layout(s);
    ASSERT_TRUE(layout && *layout);
    EXPECT_EQ((*layout)->outputs, (std::vector<FeedbackOutput>{{location(5), 3, 0, 0}, {location(1), 3, 0, 12}}));
}

TEST(FeedbackLayout, ElevenOutputsIn172Bytes) { // REN-173
    FeedbackLayout written;
    written.strides[0] = 172;
    u16 offset = 0;
    for (u32 i = 0; i < 11; ++i) {
        const u8 components = i == 10 ? 3 : 4;
        written.outputs.push_back({location(i), components, 0, offset});
        offset = static_cast<u16>(offset + 4 * components);
    }
    Section s = section();
    ASSERT_TRUE(write_feedback_layout(s, written));
    EXPECT_EQ(s[0x6e8], std::byte{11});
    EXPECT_EQ(s[0xdc + 10], std::byte{0x2a});
    EXPECT_EQ(s[0x4dc + 10], std::byte{3});
    const auto layout = feedback_layout(s);
    ASSERT_TRUE(layout && *layout);
    EXPECT_EQ(**layout, written);
}

TEST(FeedbackLayout, UnknownFormsAreErrors) { // REN-173
    const auto one = [](u8 entry, u8 components, u16 stride, u32 buffers) {
        Section s = section();
        put<u32>(s, 0x6ec, buffers);
        put<u16>(s, 0x6dc, stride);
        put<u8>(s, 0x6e8, 1);
        put<u8>(s, 0xdc, entry);
        put<u8>(s, 0x4dc, components);
        return feedback_layout(s);
    };
    EXPECT_TRUE(one(0x20, 4, 16, 1));
    EXPECT_FALSE(one(0x1f, 4, 16, 1)); // no location
    EXPECT_FALSE(one(0x40, 4, 16, 1));
    EXPECT_FALSE(one(0x20, 0, 16, 1));
    EXPECT_FALSE(one(0x20, 5, 32, 1));
    EXPECT_FALSE(one(0x20, 4, 12, 1)); // the next vertex would begin inside this one
    EXPECT_FALSE(one(0x20, 4, 18, 1));
    EXPECT_FALSE(one(0x20, 4, 16, 5));
    Section empty = section();
    put<u32>(empty, 0x6ec, 1);
    EXPECT_FALSE(feedback_layout(empty));
    EXPECT_FALSE(*feedback_layout(section())); // says nothing
    EXPECT_FALSE(*feedback_layout(Bytes(empty).first(0x40)));
}

TEST(FeedbackLayout, TheWordFormIsReadWhereItMakesSense) { // GFX-131
    Section s = section();
    put<u32>(s, 0x30, 24);                             // stride
    put<u32>(s, 0x40, 5);                              // words
    const u8 words[] = {0x1c, 0x1d, 0x1e, 0x24, 0x25}; // position xyz, location 1 xy
    std::memcpy(s.data() + 0x50, words, sizeof words);
    const auto layout = feedback_layout(s);
    ASSERT_TRUE(layout && *layout);
    EXPECT_EQ((*layout)->strides, (std::array<u16, 4>{24, 0, 0, 0}));
    EXPECT_EQ((*layout)->outputs, (std::vector<FeedbackOutput>{{0x70, 3, 0, 0}, {location(1), 2, 0, 12}}));

    const struct {
        u32 stride, count;
    } senseless[] = {
        {0, 5}, {24, 0}, {16, 5}, {22, 5}, {600, 129}}; // a vertex that reaches into the next one, odd ones
    for (const auto& [stride, count] : senseless) {
        Section wrong = section();
        std::memset(wrong.data() + 0x50, 0x24, 0x80);
        put<u32>(wrong, 0x30, stride);
        put<u32>(wrong, 0x40, count);
        const auto refused = feedback_layout(wrong);
        ASSERT_TRUE(refused);
        EXPECT_FALSE(*refused) << stride << ' ' << count;
    }

    Section text = section(); // assembly text that some sections embed there
    for (u32 i = 0x34; i < 0x58; ++i)
        put<u8>(text, i, static_cast<u8>('!' + i % 64));
    const auto none = feedback_layout(text);
    ASSERT_TRUE(none);
    EXPECT_FALSE(*none);
}

TEST(Tessellation, TheHardwaresWord) { // GFX-131: domain bits 0-1, spacing 4-5, output 8-9; 2 is GLSL's ccw
    Section s = section();
    put<u32>(s, 0x718, 0x202);
    EXPECT_EQ(tessellation(s), (Tessellation{TessDomain::Quads, TessSpacing::Equal, false, false}));
    put<u32>(s, 0x718, 0x311);
    EXPECT_EQ(tessellation(s), (Tessellation{TessDomain::Triangles, TessSpacing::FractionalOdd, true, false}));
    put<u32>(s, 0x718, 0x120);
    EXPECT_EQ(tessellation(s), (Tessellation{TessDomain::Isolines, TessSpacing::FractionalEven, false, false}));
    put<u32>(s, 0x718, 0x002);
    EXPECT_EQ(tessellation(s), (Tessellation{TessDomain::Quads, TessSpacing::Equal, false, true}));
}

TEST(Tessellation, TrianglesWhereNothingSensibleIsSaid) { // GFX-132
    Section s = section();
    for (const u32 word : {0u, 0x10000u, 0x203u, 0x231u, 0x102u, 0x200u, 0x1202u}) {
        put<u32>(s, 0x718, word);
        EXPECT_EQ(tessellation(s), Tessellation{}) << std::hex << word;
    }
}

TEST(Tessellation, BitsAndBack) {
    for (const TessDomain domain : {TessDomain::Isolines, TessDomain::Triangles, TessDomain::Quads})
        for (const bool clockwise : {false, true}) {
            if (domain == TessDomain::Isolines && clockwise)
                continue;
            const Tessellation t{domain, TessSpacing::FractionalOdd, clockwise, false};
            Section s = section();
            put<u32>(s, tessellation_word, tessellation_bits(t));
            EXPECT_EQ(tessellation(s), t);
        }
}

} // namespace
} // namespace heaviside::program
