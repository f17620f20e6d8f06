// A case of the GLSL corpus as Vulkan takes it: plain data. Field names are those of the corpus README.
#pragma once

#include "gpu/descriptor_heap.h"
#include "gpu/draw_state.h"
#include "shader/interface.h"

#include <array>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace heaviside::bench {

using Blob = std::vector<std::byte>;

struct Bindless { // where in which uniform buffer the handle lies
    u32 slot = 0, offset = 0;
};
struct Resource {
    enum class Kind { Ubo, Ssbo, Texture, TexelBuffer, Image, ImageBuffer };
    Kind kind{};
    shader::Stage stage{};
    u32 slot = 0, element = 0; // slot: the hardware's, element included
    Blob data;
    VkFormat format = VK_FORMAT_UNDEFINED;
    shader::Dimension dimension = shader::Dimension::D2;
    std::array<u32, 3> size{1, 1, 1};
    u32 layers = 1, levels = 1;
    gpu::SamplerDescription sampler;
    std::optional<Bindless> bindless;
};
struct Stage {
    shader::Stage stage{};
    Blob control, gpu;
    std::filesystem::path glsl;
};
struct Attribute {
    u32 location = 0;
    VkFormat format{};
    Blob data;
};
struct Target {
    u32 location = 0;
    VkFormat format{};
    bool unused = false;
};
struct Depth {
    f32 clear = 1;
    VkCompareOp compare = VK_COMPARE_OP_LESS;
    bool write = true;
};
struct Draw {
    VkPrimitiveTopology topology{};
    u32 vertices = 0, instances = 1, first_vertex = 0, first_instance = 0, patch_vertices = 0;
    u32 width = 0, height = 0, layers = 1;
    Blob indices; // u32
    std::vector<Attribute> attributes;
    std::vector<Target> targets;
    std::vector<std::array<f32, 4>> viewports;
    std::optional<Depth> depth;
};
struct Case {
    std::string name;
    std::vector<Stage> stages;
    std::vector<Resource> inputs;
    std::optional<Draw> draw;
    std::array<u32, 3> dispatch{1, 1, 1};
    shader::VariantKey key; // what all stages share

    [[nodiscard]] std::string group() const; // the stage under test: what the name begins with
    // Fragment cases have more work in a larger target, others in more instances.
    [[nodiscard]] bool scales_with_target() const { return group() == "fragment"; }
    [[nodiscard]] shader::VariantKey variant(shader::Stage stage) const;
};

struct Arguments {
    std::filesystem::path cases, spirv;
    std::string filter, json;
    u32 work = 0; // width of targets, and eight times the instances or groups; 0: as the device is
    bool compile_only = false;
};
// All of these throw std::runtime_error with the reason.
[[nodiscard]] Arguments arguments(int count, char** values);
[[nodiscard]] std::vector<std::string> list_cases(const std::filesystem::path& folder, const std::string& filter);
[[nodiscard]] Case load_case(const std::filesystem::path& folder);
using NativeModules = std::map<shader::Stage, std::vector<u32>>;
[[nodiscard]] NativeModules native_modules(const Arguments& arguments, const Case& test);

[[nodiscard]] u32 bytes(VkFormat format);
[[nodiscard]] bool is_raw(VkFormat format); // its own bits as unsigned numbers
[[nodiscard]] VkImageType image_type(shader::Dimension dimension);
[[nodiscard]] VkImageViewType view_type(shader::Dimension dimension);
// The corpus' numbers for native modules.
[[nodiscard]] u32 native_set(shader::Stage stage);
[[nodiscard]] u32 native_binding(const Resource& resource);
[[nodiscard]] VkDescriptorType native_type(const Resource& resource);

} // namespace heaviside::bench
