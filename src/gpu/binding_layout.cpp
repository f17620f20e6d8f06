#include "gpu/binding_layout.h"

namespace heaviside::gpu {

VkShaderStageFlagBits stage_bit(shader::Stage stage) {
    static constexpr std::array<VkShaderStageFlagBits, program::stage_count> bits{
        VK_SHADER_STAGE_VERTEX_BIT,
        VK_SHADER_STAGE_FRAGMENT_BIT,
        VK_SHADER_STAGE_GEOMETRY_BIT,
        VK_SHADER_STAGE_TESSELLATION_CONTROL_BIT,
        VK_SHADER_STAGE_TESSELLATION_EVALUATION_BIT,
        VK_SHADER_STAGE_COMPUTE_BIT};
    return bits[static_cast<unsigned>(stage)];
}

bool has_stage(const Device& device, shader::Stage stage) {
    switch (stage) {
    case shader::Stage::Geometry:
        return device.has(Feature::Geometry);
    case shader::Stage::TessControl:
    case shader::Stage::TessEval:
        return device.has(Feature::Tessellation);
    default:
        return true;
    }
}

HeapBinding heap_binding(const Capabilities& capabilities, u32 binding) {
    namespace heap = shader::heap;
    if (binding == heap::samplers || binding == heap::integer_samplers)
        return {VK_DESCRIPTOR_TYPE_SAMPLER, capabilities.heap_samplers};
    if (binding == heap::memory_map)
        return {VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1};
    const bool sampled = binding < heap::samplers;
    const u32 first =
        sampled ? heap::first_sampled : (binding < heap::memory_map ? heap::first_storage : heap::first_raw_storage);
    const auto dimension = static_cast<shader::Dimension>(binding - first);
    const bool cube = dimension == shader::Dimension::Cube || dimension == shader::Dimension::CubeArray;
    if (dimension == shader::Dimension::Buffer)
        return {sampled ? VK_DESCRIPTOR_TYPE_UNIFORM_TEXEL_BUFFER : VK_DESCRIPTOR_TYPE_STORAGE_TEXEL_BUFFER,
                capabilities.heap_textures};
    if (sampled)
        return {VK_DESCRIPTOR_TYPE_SAMPLED_IMAGE, capabilities.heap_textures};
    // Cubes are stored to as 2D arrays; the binding number stays reserved.
    return {VK_DESCRIPTOR_TYPE_STORAGE_IMAGE, cube ? 1 : capabilities.heap_textures};
}

namespace {

Result<Owned<VkDescriptorSetLayout>> create_set_layout(const Device& device,
                                                       const VkDescriptorSetLayoutCreateInfo& info, const char* what) {
    VkDescriptorSetLayout handle = VK_NULL_HANDLE;
    if (const VkResult r = device.vk.vkCreateDescriptorSetLayout(device.handle, &info, nullptr, &handle);
        r != VK_SUCCESS)
        return fail("{} layout: {}", what, name(r));
    return adopt(device, Object::SetLayout, handle);
}

Result<Owned<VkDescriptorSetLayout>> create_heap_layout(const Device& device) {
    std::array<VkDescriptorSetLayoutBinding, shader::heap::binding_count> bindings{};
    std::array<VkDescriptorBindingFlags, shader::heap::binding_count> flags{};
    for (u32 b = 0; b < bindings.size(); ++b) {
        const HeapBinding h = heap_binding(device.capabilities, b);
        bindings[b] = {b, h.type, h.count, VK_SHADER_STAGE_ALL, nullptr};
        flags[b] = VK_DESCRIPTOR_BINDING_UPDATE_AFTER_BIND_BIT | VK_DESCRIPTOR_BINDING_PARTIALLY_BOUND_BIT;
    }
    VkDescriptorSetLayoutBindingFlagsCreateInfo binding_flags{
        VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_BINDING_FLAGS_CREATE_INFO};
    binding_flags.bindingCount = static_cast<u32>(flags.size());
    binding_flags.pBindingFlags = flags.data();
    VkDescriptorSetLayoutCreateInfo info{VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO, &binding_flags};
    info.flags = VK_DESCRIPTOR_SET_LAYOUT_CREATE_UPDATE_AFTER_BIND_POOL_BIT;
    info.bindingCount = static_cast<u32>(bindings.size());
    info.pBindings = bindings.data();
    return create_set_layout(device, info, "heap");
}

Result<Owned<VkDescriptorSetLayout>> create_bank_layout(const Device& device, std::span<const shader::Stage> stages) {
    std::vector<VkDescriptorSetLayoutBinding> bindings;
    for (const shader::Stage stage : stages) {
        const auto quota = shader::banks::quota(stage);
        for (u32 i = 0; i < quota.count; ++i)
            bindings.push_back({quota.first + i, VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER, 1,
                                static_cast<VkShaderStageFlags>(has_stage(device, stage) ? stage_bit(stage)
                                                                                         : VK_SHADER_STAGE_VERTEX_BIT),
                                nullptr});
    }
    VkDescriptorSetLayoutCreateInfo info{VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO};
    info.flags = VK_DESCRIPTOR_SET_LAYOUT_CREATE_PUSH_DESCRIPTOR_BIT_KHR;
    info.bindingCount = static_cast<u32>(bindings.size());
    info.pBindings = bindings.data();
    return create_set_layout(device, info, "constant bank");
}

Result<Owned<VkPipelineLayout>> create_layout(const Device& device, VkDescriptorSetLayout heap,
                                              VkDescriptorSetLayout banks) {
    const std::array sets{heap, banks};
    VkPipelineLayoutCreateInfo info{VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO};
    info.setLayoutCount = static_cast<u32>(sets.size());
    info.pSetLayouts = sets.data();
    info.pushConstantRangeCount = 1;
    info.pPushConstantRanges = &root_constants;
    VkPipelineLayout handle = VK_NULL_HANDLE;
    if (const VkResult r = device.vk.vkCreatePipelineLayout(device.handle, &info, nullptr, &handle); r != VK_SUCCESS)
        return fail("pipeline layout: {}", name(r));
    return adopt(device, Object::Layout, handle);
}

} // namespace

Result<BindingLayout> create_binding_layout(const Device& device) {
    using shader::Stage;
    constexpr std::array graphics{Stage::Vertex, Stage::Fragment, Stage::Geometry, Stage::TessControl, Stage::TessEval};
    constexpr std::array compute{Stage::Compute};
    BindingLayout out;
    auto heap = create_heap_layout(device);
    if (!heap)
        return tl::unexpected(heap.error());
    out.heap = std::move(*heap);
    auto banks = create_bank_layout(device, graphics);
    if (!banks)
        return tl::unexpected(banks.error());
    out.graphics_banks = std::move(*banks);
    banks = create_bank_layout(device, compute);
    if (!banks)
        return tl::unexpected(banks.error());
    out.compute_banks = std::move(*banks);
    auto layout = create_layout(device, out.heap.get(), out.graphics_banks.get());
    if (!layout)
        return tl::unexpected(layout.error());
    out.graphics = std::move(*layout);
    layout = create_layout(device, out.heap.get(), out.compute_banks.get());
    if (!layout)
        return tl::unexpected(layout.error());
    out.compute = std::move(*layout);
    return out;
}

} // namespace heaviside::gpu
