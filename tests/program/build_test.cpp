// build() packs, parse() unpacks: what went in comes out, and the fixed offsets are those of the vendor's blobs.
#include "program/build.h"

#include <gtest/gtest.h>

#include <algorithm>

using namespace heaviside;
using namespace heaviside::program;

namespace {

std::vector<std::byte> numbered(std::size_t size) {
    std::vector<std::byte> bytes(size);
    for (std::size_t i = 0; i < size; ++i)
        bytes[i] = static_cast<std::byte>(i * 7 + 1);
    return bytes;
}

bool same(Bytes a, Bytes b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
}

TEST(Build, FragmentProgramComesBackWhole) {
    const auto code = numbered(96), constants = numbered(20);
    BuildInput input{.stage = Stage::Fragment, .code = code, .constants = constants, .register_count = 9};
    input.sph.pixel = true;
    input.sph.type = maxwell::ShaderType::Pixel;
    input.sph.target_mask = 0xf0f;
    input.sph.multiple_targets = true;
    input.early_fragment_tests = true;
    const auto blobs = build(input);
    ASSERT_TRUE(blobs);
    EXPECT_EQ(blobs->gpu.size(), 0x200u); // SPH at 0x30, code at 0x80, constants at 0x100, padded to 0x100
    EXPECT_EQ(read_at<u32>(blobs->control, 0x734), 2u);
    const auto program = parse(blobs->control, blobs->gpu);
    ASSERT_TRUE(program) << program.error().message;
    EXPECT_EQ(program->stage, Stage::Fragment);
    EXPECT_EQ(program->layout, &vendor_layout);
    EXPECT_TRUE(same(Bytes(program->constants).first(constants.size()), constants));
    EXPECT_TRUE(same(program->code.first(code.size()), code));
    ASSERT_TRUE(program->sph);
    EXPECT_EQ(*program->sph, input.sph);
    EXPECT_TRUE(program->early_fragment_tests);
}

TEST(Build, ComputeProgramComesBackWhole) {
    const auto code = numbered(64);
    const BuildInput input{
        .stage = Stage::Compute, .code = code, .workgroup_size = {8, 4, 2}, .shared_bytes = 256, .local_bytes = 32};
    const auto blobs = build(input);
    ASSERT_TRUE(blobs);
    const auto program = parse(blobs->control, blobs->gpu);
    ASSERT_TRUE(program) << program.error().message;
    EXPECT_EQ(program->stage, Stage::Compute);
    EXPECT_EQ(program->workgroup_size, (std::array<u32, 3>{8, 4, 2}));
    EXPECT_EQ(program->shared_bytes, 256u);
    EXPECT_EQ(program->local_bytes, 32u);
    EXPECT_TRUE(same(program->code.first(64), code));
    EXPECT_TRUE(same(Bytes(blobs->gpu).subspan(0x100, 64), code));
}

TEST(Build, CodeThatIsNoWholeBundleIsRefused) {
    const auto code = numbered(40);
    EXPECT_FALSE(build({.code = code}));
    EXPECT_FALSE(build({.code = {}}));
}

} // namespace
