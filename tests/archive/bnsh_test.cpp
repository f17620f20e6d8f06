// Containers are built here byte by byte from the offsets of ledger rows SHD-001 and SHD-002.
#include "archive/bnsh.h"

#include <gtest/gtest.h>

using namespace heaviside;
using namespace heaviside::archive;
using program::Stage;

namespace {

struct Image {
    std::vector<std::byte> bytes = std::vector<std::byte>(0x600);
    void text(u64 at, std::string_view value) { std::memcpy(&bytes[at], value.data(), value.size()); }
    template <class T>
    void put(u64 at, T value) {
        std::memcpy(&bytes[at], &value, sizeof(value));
    }
};

// Two variations: vertex and pixel, and compute.
Image two_variations() {
    Image image;
    image.text(0, "BNSH");
    image.text(0x60, "grsc");
    image.put<u32>(0x7c, 2);
    image.put<u64>(0x80, 0x100);
    image.put<u64>(0x100 + 0x10, 0x200); // variation 0 -> program
    image.put<u64>(0x140 + 0x10, 0x280); // variation 1 -> program
    const auto descriptor = [&](u64 at, u64 control, u32 control_size, u64 code, u32 code_size) {
        image.put<u64>(at + 0x08, control);
        image.put<u64>(at + 0x10, code);
        image.put<u32>(at + 0x18, code_size);
        image.put<u32>(at + 0x1c, control_size);
    };
    image.put<u64>(0x200 + 0x08, 0x300);         // vertex
    image.put<u64>(0x200 + 0x08 + 4 * 8, 0x340); // pixel
    image.put<u64>(0x280 + 0x08 + 5 * 8, 0x380); // compute
    descriptor(0x300, 0x400, 0x10, 0x420, 0x20);
    descriptor(0x340, 0x440, 0x18, 0x460, 0x28);
    descriptor(0x380, 0x500, 0x08, 0x510, 0xf0);
    return image;
}

u64 offset_in(const std::vector<std::byte>& file, Bytes part) {
    return static_cast<u64>(part.data() - file.data());
}

TEST(Bnsh, StagesOfEachVariationHaveTheirExactRanges) {
    // Inside a larger file, behind 0x33 other bytes: pointers count from the container.
    const Image image = two_variations();
    std::vector<std::byte> file(0x33);
    file.insert(file.end(), image.bytes.begin(), image.bytes.end());
    const auto variations = parse_bnsh(Bytes(file).subspan(0x33));
    ASSERT_TRUE(variations) << variations.error().message;
    ASSERT_EQ(variations->size(), 2u);
    const auto& drawn = variations->at(0).stages;
    ASSERT_EQ(drawn.size(), 2u);
    EXPECT_EQ(drawn[0].stage, Stage::Vertex);
    EXPECT_EQ(offset_in(file, drawn[0].control), 0x33u + 0x400);
    EXPECT_EQ(drawn[0].control.size(), 0x10u);
    EXPECT_EQ(offset_in(file, drawn[0].code), 0x33u + 0x420);
    EXPECT_EQ(drawn[0].code.size(), 0x20u);
    EXPECT_EQ(drawn[1].stage, Stage::Fragment);
    EXPECT_EQ(offset_in(file, drawn[1].control), 0x33u + 0x440);
    EXPECT_EQ(drawn[1].control.size(), 0x18u);
    EXPECT_EQ(offset_in(file, drawn[1].code), 0x33u + 0x460);
    EXPECT_EQ(drawn[1].code.size(), 0x28u);
    const auto& dispatched = variations->at(1).stages;
    ASSERT_EQ(dispatched.size(), 1u);
    EXPECT_EQ(dispatched[0].stage, Stage::Compute);
    EXPECT_EQ(offset_in(file, dispatched[0].code), 0x33u + 0x510);
    EXPECT_EQ(dispatched[0].code.size(), 0xf0u);
}

TEST(Bnsh, ContainersAreFoundAnywhereAndBareMagicsAreNot) {
    const Image image = two_variations();
    std::vector<std::byte> file(0x1001);
    file.insert(file.end(), image.bytes.begin(), image.bytes.end());
    const u64 lone = file.size() + 5;
    file.resize(file.size() + 0x100);
    std::memcpy(&file[lone], "BNSH\0\0\0\0", 8); // no grsc behind it
    const u64 second = file.size();
    file.insert(file.end(), image.bytes.begin(), image.bytes.end());
    EXPECT_EQ(find_bnsh(file), (std::vector<u64>{0x1001, second}));
}

TEST(Bnsh, EveryTruncationIsAnErrorOrStaysInside) {
    const Image image = two_variations();
    for (std::size_t size = 0; size < image.bytes.size(); ++size) {
        const std::vector<std::byte> cut(image.bytes.begin(), image.bytes.begin() + static_cast<std::ptrdiff_t>(size));
        const auto variations = parse_bnsh(cut);
        EXPECT_EQ(variations.has_value(), size >= 0x510 + 0xf0) << size;
    }
}

TEST(Bnsh, APointerOutsideIsNamed) {
    Image image = two_variations();
    image.put<u64>(0x300 + 0x10, ~u64{0});
    const auto variations = parse_bnsh(image.bytes);
    ASSERT_FALSE(variations);
    EXPECT_NE(variations.error().message.find("code"), std::string::npos) << variations.error().message;
}

} // namespace
