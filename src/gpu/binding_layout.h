// The two pipeline layouts that every shader uses, made from shader/interface.h: set 0 the heap, set 1 constant banks
// as push descriptors, push constants RootConstants.
#pragma once

#include "gpu/device.h"
#include "shader/interface.h"

namespace heaviside::gpu {

struct BindingLayout {
    Owned<VkDescriptorSetLayout> heap;
    Owned<VkDescriptorSetLayout> graphics_banks, compute_banks;
    Owned<VkPipelineLayout> graphics, compute;
};
[[nodiscard]] Result<BindingLayout> create_binding_layout(const Device& device);

inline constexpr VkPushConstantRange root_constants{VK_SHADER_STAGE_ALL, 0, sizeof(shader::RootConstants)};
[[nodiscard]] VkShaderStageFlagBits stage_bit(shader::Stage stage);
[[nodiscard]] bool has_stage(const Device& device, shader::Stage stage);

// What a binding of set 0 is on this device.
struct HeapBinding {
    VkDescriptorType type;
    u32 count;
};
[[nodiscard]] HeapBinding heap_binding(const Capabilities& capabilities, u32 binding);

} // namespace heaviside::gpu
