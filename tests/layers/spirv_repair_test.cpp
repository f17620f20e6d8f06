// Modules are assembled from text by SPIRV-Tools, mended, validated and disassembled again.
#include "layers/vulkan/spirv_repair.h"

#include <gtest/gtest.h>
#include <spirv-tools/libspirv.hpp>

#include <regex>

using namespace heaviside;
using namespace heaviside::layers::vulkan;

namespace {

std::vector<u32> assemble(const std::string& text) {
    spvtools::SpirvTools tools(SPV_ENV_VULKAN_1_1);
    std::vector<u32> words;
    EXPECT_TRUE(tools.Assemble(text, &words, SPV_TEXT_TO_BINARY_OPTION_PRESERVE_NUMERIC_IDS));
    return words;
}

// One line per instruction, runs of blanks collapsed.
std::string disassemble(const std::vector<u32>& words) {
    spvtools::SpirvTools tools(SPV_ENV_VULKAN_1_1);
    std::string text;
    EXPECT_TRUE(tools.Disassemble(words, &text, SPV_BINARY_TO_TEXT_OPTION_NO_HEADER));
    return std::regex_replace(text, std::regex(" +"), " ");
}

bool valid(const std::vector<u32>& words) {
    return spvtools::SpirvTools(SPV_ENV_VULKAN_1_1).Validate(words);
}

std::string uniform_block(const std::string& decorations) {
    return R"(OpCapability Shader
OpMemoryModel Logical GLSL450
OpEntryPoint GLCompute %10 "main"
OpExecutionMode %10 LocalSize 1 1 1
OpDecorate %4 Block
OpMemberDecorate %4 0 Offset 0
OpMemberDecorate %4 1 Offset 64
)" + decorations +
           R"(OpDecorate %6 DescriptorSet 0
OpDecorate %6 Binding 0
%1 = OpTypeFloat 32
%2 = OpTypeVector %1 4
%20 = OpTypeInt 32 0
%21 = OpConstant %20 4
%3 = OpTypeArray %2 %21
%22 = OpTypeArray %2 %21
%4 = OpTypeStruct %3 %22
%5 = OpTypePointer Uniform %4
%6 = OpVariable %5 Uniform
%7 = OpTypeVoid
%8 = OpTypeFunction %7
%10 = OpFunction %7 None %8
%11 = OpLabel
OpReturn
OpFunctionEnd
)";
}

TEST(SpirvRepair, AStrideOnAMemberMovesToItsArrayType) {
    auto module = assemble(uniform_block("OpDecorate %22 ArrayStride 16\nOpMemberDecorate %4 0 ArrayStride 16\n"));
    EXPECT_FALSE(valid(module));
    const auto mended = move_array_strides(module);
    ASSERT_TRUE(mended) << mended.error().message;
    EXPECT_EQ(*mended, 1u);
    EXPECT_TRUE(valid(module));
    const std::string text = disassemble(module);
    EXPECT_NE(text.find("OpDecorate %3 ArrayStride 16"), std::string::npos) << text;
    EXPECT_EQ(text.find("OpMemberDecorate %4 0 ArrayStride"), std::string::npos) << text;
}

TEST(SpirvRepair, AnArrayTypeThatHasAStrideKeepsIt) {
    auto module = assemble(uniform_block(
        "OpDecorate %3 ArrayStride 16\nOpDecorate %22 ArrayStride 16\nOpMemberDecorate %4 0 ArrayStride 32\n"));
    ASSERT_TRUE(move_array_strides(module));
    EXPECT_TRUE(valid(module));
    const std::string text = disassemble(module);
    EXPECT_NE(text.find("OpDecorate %3 ArrayStride 16"), std::string::npos) << text;
    EXPECT_EQ(text.find("ArrayStride 32"), std::string::npos) << text;
}

TEST(SpirvRepair, AModuleWithoutTheFaultStaysAsItIs) {
    auto module = assemble(uniform_block("OpDecorate %3 ArrayStride 16\nOpDecorate %22 ArrayStride 16\n"));
    const auto before = module;
    EXPECT_EQ(move_array_strides(module).value(), 0u);
    EXPECT_EQ(make_dual_source(module).value(), false);
    EXPECT_EQ(module, before);
}

constexpr const char* two_outputs = R"(OpCapability Shader
OpMemoryModel Logical GLSL450
OpEntryPoint Fragment %10 "main" %4 %5 %6
OpExecutionMode %10 OriginUpperLeft
OpDecorate %4 Location 0
OpDecorate %5 Location 1
OpDecorate %6 Location 1
%1 = OpTypeFloat 32
%2 = OpTypeVector %1 4
%3 = OpTypePointer Output %2
%12 = OpTypePointer Input %2
%4 = OpVariable %3 Output
%5 = OpVariable %12 Input
%6 = OpVariable %3 Output
%7 = OpTypeVoid
%8 = OpTypeFunction %7
%10 = OpFunction %7 None %8
%11 = OpLabel
%13 = OpLoad %2 %5
OpStore %4 %13
OpStore %6 %13
OpReturn
OpFunctionEnd
)";

TEST(SpirvRepair, TheOutputAtLocation1BecomesTheSecondSource) {
    auto module = assemble(two_outputs);
    EXPECT_EQ(make_dual_source(module).value(), true);
    EXPECT_TRUE(valid(module));
    const std::string text = disassemble(module);
    EXPECT_NE(text.find("OpDecorate %6 Location 0\nOpDecorate %6 Index 1\n"), std::string::npos) << text;
    EXPECT_NE(text.find("OpDecorate %5 Location 1\n"), std::string::npos) << "an input is not touched: " << text;
}

TEST(SpirvRepair, WordsThatAreNoModuleAreErrors) {
    std::vector<u32> words{1, 2, 3, 4, 5, 6};
    EXPECT_FALSE(move_array_strides(words));
    auto module = assemble(two_outputs);
    module.pop_back();
    module.back() |= 9u << 16; // the last instruction claims words that are not there
    EXPECT_FALSE(move_array_strides(module));
    EXPECT_FALSE(make_dual_source(module));
}

} // namespace
