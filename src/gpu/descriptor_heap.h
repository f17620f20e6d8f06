// Set 0: what handles in shaders index. Mirrors the guest's texture and sampler pools; bound once per command buffer.
//
// One thread writes. Writes are gathered and reach the set at flush(), which Commands calls before it submits. An entry
// that a submission in flight may read must not change under it: the guest promises that for its own registrations.
#pragma once

#include "gpu/binding_layout.h"
#include "gpu/memory.h"

#include <unordered_map>

namespace heaviside::gpu {

struct SamplerDescription {
    VkFilter min = VK_FILTER_NEAREST, mag = VK_FILTER_NEAREST;
    VkSamplerMipmapMode mip = VK_SAMPLER_MIPMAP_MODE_NEAREST;
    VkSamplerAddressMode wrap_u = VK_SAMPLER_ADDRESS_MODE_REPEAT, wrap_v = VK_SAMPLER_ADDRESS_MODE_REPEAT,
                         wrap_w = VK_SAMPLER_ADDRESS_MODE_REPEAT;
    f32 min_lod = 0, max_lod = 1000, lod_bias = 0;
    f32 anisotropy = 1; // 1: off
    bool compare = false;
    VkCompareOp compare_op = VK_COMPARE_OP_LESS_OR_EQUAL;
    VkSamplerReductionMode reduction = VK_SAMPLER_REDUCTION_MODE_WEIGHTED_AVERAGE;
    bool seamless_cubes = true;
    bool unnormalised = false;
    // The border's numbers as textures of floats and of integers give it. Without custom_border_color the nearest fixed
    // colour.
    std::array<f32, 4> border{};
    std::array<u32, 4> integer_border{};
    friend bool operator==(const SamplerDescription&, const SamplerDescription&) = default;
};
// Equal descriptions give one sampler (NVIDIA allows 4,000 in all). Lives as long as the cache. One thread.
class SamplerCache {
public:
    explicit SamplerCache(const Device& device) : device_(&device) {}
    // `integers`: for textures of integers.
    [[nodiscard]] Result<VkSampler> get(const SamplerDescription& description, bool integers = false);
    [[nodiscard]] std::size_t size() const { return samplers_.size(); }

private:
    const Device* device_;
    std::unordered_map<Hash128, Owned<VkSampler>> samplers_;
    u32 custom_borders_ = 0;
};

struct NullEntries;

class DescriptorHeap {
public:
    ~DescriptorHeap();
    // All image entries null, all samplers nearest-repeat.
    [[nodiscard]] static Result<std::unique_ptr<DescriptorHeap>> create(const Device& device,
                                                                        const BindingLayout& layout);
    // The views, samplers and buffers stay the caller's and must outlive every submission that can read the entry.
    // An ID at or past the capacity is an error. VK_NULL_HANDLE writes a null.
    Result<void> write_texture(TextureId id, shader::Dimension dimension, VkImageView view);
    Result<void> write_texel_buffer(TextureId id, VkBufferView view);
    Result<void> write_storage_image(TextureId id, shader::Dimension dimension, VkImageView view);
    // The same image as raw bits: a view in the unsigned format of the texel's size.
    Result<void> write_raw_storage_image(TextureId id, shader::Dimension dimension, VkImageView view);
    Result<void> write_raw_storage_texel_buffer(TextureId id, VkBufferView view);
    Result<void> write_storage_texel_buffer(TextureId id, VkBufferView view);
    Result<void> write_sampler(SamplerId id, const SamplerDescription& description);
    void clear_texture(TextureId id); // nulls in every binding that has an entry of this ID
    void set_memory_map(const BufferSlice& map);
    void flush(); // hands the gathered writes to Vulkan

    [[nodiscard]] VkDescriptorSet set() const { return set_; }
    [[nodiscard]] SamplerCache& samplers() { return samplers_; }

private:
    explicit DescriptorHeap(const Device& device);
    void write_nulls();
    Result<void> write(u32 binding, u32 index, VkImageView image, VkBufferView buffer);
    struct Pending {
        u32 binding, index;
        VkImageView image;
        VkBufferView buffer_view;
        VkSampler sampler;
    };
    const Device* device_;
    SamplerCache samplers_;
    Owned<VkDescriptorPool> pool_;
    VkDescriptorSet set_ = VK_NULL_HANDLE;
    std::vector<Pending> pending_;
    std::vector<u32> written_; // per ID: bit n, binding n holds something
    Buffer empty_map_;
    std::unique_ptr<NullEntries> nulls_; // where the device has no null descriptors
};

} // namespace heaviside::gpu
