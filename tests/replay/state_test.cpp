// Mappings from the guest's state, with values from the ledger rows named.
#include "replay/driver_bank.h"
#include "replay/state_mapping.h"

#include <cstring>
#include <gtest/gtest.h>

namespace heaviside::replay {
namespace {

using program::Stage;

u32 word(std::span<const std::byte> bank, u32 offset) {
    u32 v;
    std::memcpy(&v, bank.data() + offset, 4);
    return v;
}

TEST(DriverBank, VendorLayoutPutsHandlesAndDescriptorsWhereProgramsReadThem) { // GFX-005, GFX-075, GFX-129, GFX-163
    StageBindings b;
    b.textures[3] = 0x00500123;
    b.images[1] = 0x77;
    b.separate_textures[0] = 0x201;
    b.separate_samplers[2] = 0x00700000;
    b.storage[1] = {0x123456789000, 0x440};
    std::array<std::byte, 0x800> bank;
    fill_driver_bank(program::vendor_layout, Stage::Fragment, b, {}, 2, bank);
    EXPECT_EQ(word(bank, 0x20 + 8 * 3), 0x00500123u);
    EXPECT_EQ(word(bank, 0x120 + 8), 0x77u);
    EXPECT_EQ(word(bank, 0x168), 0x201u);
    EXPECT_EQ(word(bank, 0x568 + 16), 0x00700000u);
    EXPECT_EQ(word(bank, 0x20), 0u);
    fill_driver_bank(program::vendor_layout, Stage::Fragment, b, {}, 0, bank);
    EXPECT_EQ(word(bank, 0x510 + 16), 0x56789000u);
    EXPECT_EQ(word(bank, 0x510 + 20), 0x1234u);
    EXPECT_EQ(word(bank, 0x510 + 24), 0x440u);
    EXPECT_EQ(driver_bank_word(program::vendor_layout, Stage::Fragment, b, 2, 0x38), 0x00500123u);
}

// What is bound for attributes that the program does not read may be gone; nobody looks at it.
TEST(VertexStreams, OnlyThoseOfAttributesThatTheProgramReads) {
    GuestState s;
    s.attribute_count = 3;
    u8 stream = 2;
    for (auto& attribute : std::span(s.attributes).first(3)) {
        attribute.format = 1;
        attribute.stream = stream++ & 0xf;
    }
    EXPECT_EQ(used_streams(s, 0b101), 0b10100u);
    EXPECT_EQ(used_streams(s, 0b1000), 0u) << "a location without an attribute";
    s.attributes[0].format = 0;
    EXPECT_EQ(used_streams(s, 0b111), 0b11000u);
}

TEST(DriverBank, BaseInstanceAndGroupCounts) { // SHD-128, REN-160
    DriverParameters p;
    p.base_instance = 61;
    p.workgroups = {3, 4, 5};
    std::array<std::byte, 0x800> bank;
    fill_driver_bank(program::vendor_layout, Stage::Vertex, {}, p, 0, bank);
    EXPECT_EQ(word(bank, 0x644), 61u);
    EXPECT_EQ(word(bank, 0x640), 0u);
    fill_driver_bank(program::vendor_layout, Stage::Compute, {}, p, 0, bank);
    EXPECT_EQ(word(bank, 0x200), 3u);
    EXPECT_EQ(word(bank, 0x208), 5u);
}

TEST(DriverBank, NothingIsWrittenPastTheBank) {
    StageBindings b;
    b.storage[31] = {1, 1};
    b.textures[31] = 5;
    std::array<std::byte, 48> bank;
    bank.fill(std::byte{0xee});
    fill_driver_bank(program::vendor_layout, Stage::Vertex, b, {}, 2, std::span(bank).first(32));
    EXPECT_EQ(bank[32], std::byte{0xee});
    EXPECT_EQ(bank[31], std::byte{0});
}

TEST(State, ViewportsFollowTheWindowOrigin) { // REN-102
    GuestState s;
    s.viewports[0] = {10, 20, 100, 50};
    s.modes.window_origin = origin_lower_left;
    EXPECT_EQ(viewports(s, {640, 480}).viewports[0].y, 20);
    EXPECT_EQ(viewports(s, {640, 480}).viewports[0].height, 50);
    s.modes.window_origin = origin_upper_left;
    EXPECT_EQ(viewports(s, {640, 480}).viewports[0].y, 70);
    EXPECT_EQ(viewports(s, {640, 480}).viewports[0].height, -50);
    s.swizzles[0].y = 3; // negated y mirrors around the middle (REN-181)
    EXPECT_EQ(viewports(s, {640, 480}).viewports[0].height, 50);
}

TEST(State, UnsetViewportsAndScissorsCoverTheTarget) { // GFX-170, GFX-171
    const GuestState s;
    EXPECT_EQ(viewports(s, {64, 32}).viewports[0].width, 64);
    EXPECT_EQ(scissors(s, {64, 32}).scissors[0].extent.height, 32u);
    EXPECT_EQ(scissor({-5, 10, 20, 1000}, {64, 32}).extent.width, 15u);
    EXPECT_EQ(scissor({-5, 10, 20, 1000}, {64, 32}).extent.height, 22u);
    EXPECT_EQ(scissor({100, 0, 5, 5}, {64, 32}).extent.width, 0u);
}

TEST(State, SixteenViewports) { // GFX-170
    GuestState s;
    s.viewports[2] = {1, 2, 3, 4};
    EXPECT_EQ(viewports(s, {64, 32}).count, 16u);
    EXPECT_EQ(scissors(s, {64, 32}).count, 16u);
    EXPECT_EQ(viewports(s, {64, 32}).viewports[2].width, 3);
    EXPECT_EQ(viewports(s, {64, 32}).viewports[1].width, 64);
}

TEST(State, TargetsWithoutOutputStayUntouched) { // REN-112
    GuestState s;
    s.color.blend_enable = 0xff;
    const gpu::Blend b = blend(s, 0b101);
    EXPECT_EQ(b.targets[0].write_mask, 0xfu);
    EXPECT_EQ(b.targets[1].write_mask, 0u);
    EXPECT_FALSE(b.targets[1].enable);
    EXPECT_TRUE(b.targets[2].enable);
}

TEST(State, UnwrittenSecondSourceCountsAsZero) { // REN-214, REN-215
    GuestState s;
    s.color.blend_enable = 1;
    s.blend[0].source_color = 0x10; // SRC1_COLOR
    s.blend[0].dest_color = 0x13;   // ONE_MINUS_SRC1_ALPHA
    EXPECT_EQ(blend(s, 1).targets[0].equation.srcColorBlendFactor, VK_BLEND_FACTOR_ZERO);
    EXPECT_EQ(blend(s, 1).targets[0].equation.dstColorBlendFactor, VK_BLEND_FACTOR_ONE);
    EXPECT_EQ(blend(s, 3).targets[0].equation.srcColorBlendFactor, VK_BLEND_FACTOR_SRC1_COLOR);
    EXPECT_EQ(blend(s, 3).targets[1].write_mask, 0u);
}

TEST(State, PorterDuffModesAreFixedFactors) { // REN-120: SRC_OVER is mode 8
    GuestState s;
    s.color.blend_enable = 1;
    s.blend[0].advanced_mode = 8;
    s.blend[0].advanced_premultiplied_source = 1;
    EXPECT_EQ(blend(s, 1).targets[0].equation.srcColorBlendFactor, VK_BLEND_FACTOR_ONE);
    EXPECT_EQ(blend(s, 1).targets[0].equation.dstColorBlendFactor, VK_BLEND_FACTOR_ONE_MINUS_SRC_ALPHA);
    s.blend[0].advanced_premultiplied_source = 0;
    EXPECT_EQ(blend(s, 1).targets[0].equation.srcColorBlendFactor, VK_BLEND_FACTOR_SRC_ALPHA);
    EXPECT_EQ(blend(s, 1).targets[0].equation.srcAlphaBlendFactor, VK_BLEND_FACTOR_ONE);
}

TEST(State, QuadsStripsAndPolygons) { // REN-156, REN-157
    EXPECT_EQ(primitive(7, true).lowering, Lowering::QuadList);
    EXPECT_EQ(primitive(8, true).topology, VK_PRIMITIVE_TOPOLOGY_TRIANGLE_STRIP);
    EXPECT_EQ(primitive(9, true).lowering, Lowering::Polygon);
    EXPECT_EQ(primitive(6, false).lowering, Lowering::TriangleFan);
    EXPECT_EQ(primitive(2, true).lowering, Lowering::LineLoop);
}

TEST(State, SwizzlesComposeOverTheFormatsOwn) { // REN-008
    const VkComponentMapping rgbx{VK_COMPONENT_SWIZZLE_R, VK_COMPONENT_SWIZZLE_G, VK_COMPONENT_SWIZZLE_B,
                                  VK_COMPONENT_SWIZZLE_ONE};
    const VkComponentMapping m = compose(rgbx, {5, 2, 0, 1}); // a r 0 1
    EXPECT_EQ(m.r, VK_COMPONENT_SWIZZLE_ONE);
    EXPECT_EQ(m.g, VK_COMPONENT_SWIZZLE_R);
    EXPECT_EQ(m.b, VK_COMPONENT_SWIZZLE_ZERO);
    EXPECT_EQ(m.a, VK_COMPONENT_SWIZZLE_ONE);
}

} // namespace
} // namespace heaviside::replay
