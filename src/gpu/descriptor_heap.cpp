#include "gpu/descriptor_heap.h"

#include "base/hash.h"
#include "base/log.h"
#include "gpu/null_entries.h"

#include <algorithm>
#include <bit>

namespace heaviside::gpu {
namespace {

using shader::Dimension;

constexpr u32 index_of(Dimension d) {
    return static_cast<u32>(d);
}

VkSamplerAddressMode address_mode(const Device& device, VkSamplerAddressMode mode) {
    if (mode == VK_SAMPLER_ADDRESS_MODE_MIRROR_CLAMP_TO_EDGE && !device.has(Feature::MirrorClampToEdge))
        return VK_SAMPLER_ADDRESS_MODE_MIRRORED_REPEAT;
    return mode;
}

// What a sampler's border is to textures of one class.
struct Border {
    std::array<u32, 4> bits{};
    bool integer = false;
};

// The fixed colour with these bits, or the nearest one and `exact` false.
VkBorderColor fixed_border(const Border& b, bool& exact) {
    const u32 one = b.integer ? 1u : std::bit_cast<u32>(1.0f);
    const auto is = [&](u32 rgb, u32 a) {
        return b.bits[0] == rgb && b.bits[1] == rgb && b.bits[2] == rgb && b.bits[3] == a;
    };
    exact = is(0, 0) || is(0, one) || is(one, one);
    const auto bright = [&](u32 bits) { return b.integer ? bits != 0 : std::bit_cast<f32>(bits) >= 0.5f; };
    const bool white = bright(b.bits[0]) || bright(b.bits[1]) || bright(b.bits[2]);
    if (white)
        return b.integer ? VK_BORDER_COLOR_INT_OPAQUE_WHITE : VK_BORDER_COLOR_FLOAT_OPAQUE_WHITE;
    if (bright(b.bits[3]))
        return b.integer ? VK_BORDER_COLOR_INT_OPAQUE_BLACK : VK_BORDER_COLOR_FLOAT_OPAQUE_BLACK;
    return b.integer ? VK_BORDER_COLOR_INT_TRANSPARENT_BLACK : VK_BORDER_COLOR_FLOAT_TRANSPARENT_BLACK;
}

bool uses_border(const SamplerDescription& d) {
    return d.wrap_u == VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_BORDER || d.wrap_v == VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_BORDER ||
           d.wrap_w == VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_BORDER;
}

Border border_of(const SamplerDescription& d, bool integers) {
    if (!uses_border(d))
        return {};
    return {integers ? d.integer_border : std::bit_cast<std::array<u32, 4>>(d.border), integers};
}

Hash128 key_of(const SamplerDescription& d, const Border& border) {
    const std::array<u32, 19> words{static_cast<u32>(d.min),
                                    static_cast<u32>(d.mag),
                                    static_cast<u32>(d.mip),
                                    static_cast<u32>(d.wrap_u),
                                    static_cast<u32>(d.wrap_v),
                                    static_cast<u32>(d.wrap_w),
                                    std::bit_cast<u32>(d.min_lod),
                                    std::bit_cast<u32>(d.max_lod),
                                    std::bit_cast<u32>(d.lod_bias),
                                    std::bit_cast<u32>(d.anisotropy),
                                    d.compare ? 1u + static_cast<u32>(d.compare_op) : 0u,
                                    static_cast<u32>(d.reduction),
                                    d.seamless_cubes,
                                    d.unnormalised,
                                    border.bits[0],
                                    border.bits[1],
                                    border.bits[2],
                                    border.bits[3],
                                    border.integer};
    return hash_bytes(std::as_bytes(std::span(words)));
}

// Descriptions that differ only in what has no effect, or in what Vulkan forbids together, become one.
SamplerDescription normalised(SamplerDescription d) {
    if (d.unnormalised) { // VUID-VkSamplerCreateInfo-unnormalizedCoordinates-01072 to 01077
        d.min = d.mag;
        d.mip = VK_SAMPLER_MIPMAP_MODE_NEAREST;
        d.min_lod = d.max_lod = d.lod_bias = 0;
        d.anisotropy = 1;
        d.compare = false;
        for (auto* wrap : {&d.wrap_u, &d.wrap_v})
            if (*wrap != VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_BORDER)
                *wrap = VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_EDGE;
        d.wrap_w = d.wrap_u;
    }
    if (d.compare)
        d.reduction = VK_SAMPLER_REDUCTION_MODE_WEIGHTED_AVERAGE;
    d.max_lod = std::max(d.max_lod, d.min_lod);
    return d;
}

} // namespace

Result<VkSampler> SamplerCache::get(const SamplerDescription& description, bool integers) {
    const SamplerDescription d = normalised(description);
    const Border border = border_of(d, integers);
    const Hash128 key = key_of(d, border);
    if (const auto found = samplers_.find(key); found != samplers_.end())
        return found->second.get();
    const auto& caps = device_->capabilities;
    if (samplers_.size() >= caps.limits.maxSamplerAllocationCount)
        return fail("sampler: the device allows {} different samplers", caps.limits.maxSamplerAllocationCount);

    VkSamplerCreateInfo info{VK_STRUCTURE_TYPE_SAMPLER_CREATE_INFO};
    info.magFilter = d.mag;
    info.minFilter = d.min;
    info.mipmapMode = d.mip;
    info.addressModeU = address_mode(*device_, d.wrap_u);
    info.addressModeV = address_mode(*device_, d.wrap_v);
    info.addressModeW = address_mode(*device_, d.wrap_w);
    info.mipLodBias = std::clamp(d.lod_bias, -caps.limits.maxSamplerLodBias, caps.limits.maxSamplerLodBias);
    info.anisotropyEnable = d.anisotropy > 1 && device_->has(Feature::Anisotropy);
    info.maxAnisotropy = std::clamp(d.anisotropy, 1.0f, std::max(1.0f, caps.limits.maxSamplerAnisotropy));
    info.compareEnable = d.compare;
    info.compareOp = d.compare_op;
    info.minLod = d.min_lod;
    info.maxLod = d.max_lod;
    info.unnormalizedCoordinates = d.unnormalised;
    if (!d.seamless_cubes && device_->has(Feature::NonSeamlessCubes))
        info.flags |= VK_SAMPLER_CREATE_NON_SEAMLESS_CUBE_MAP_BIT_EXT;
    VkSamplerReductionModeCreateInfo reduction{VK_STRUCTURE_TYPE_SAMPLER_REDUCTION_MODE_CREATE_INFO, nullptr,
                                               d.reduction};
    if (d.reduction != VK_SAMPLER_REDUCTION_MODE_WEIGHTED_AVERAGE && device_->has(Feature::SamplerMinMax)) {
        info.pNext = &reduction;
        info.anisotropyEnable = VK_FALSE;
    }
    bool exact = true;
    info.borderColor = fixed_border(border, exact);
    VkSamplerCustomBorderColorCreateInfoEXT custom{VK_STRUCTURE_TYPE_SAMPLER_CUSTOM_BORDER_COLOR_CREATE_INFO_EXT};
    if (!exact && device_->has(Feature::CustomBorderColor) && custom_borders_ < caps.max_custom_border_samplers) {
        std::copy(border.bits.begin(), border.bits.end(), custom.customBorderColor.uint32);
        custom.pNext = info.pNext;
        info.pNext = &custom;
        info.borderColor = border.integer ? VK_BORDER_COLOR_INT_CUSTOM_EXT : VK_BORDER_COLOR_FLOAT_CUSTOM_EXT;
        ++custom_borders_;
    } else if (!exact) {
        log::error_once("the device has no more borders of any colour: the nearest fixed ones are sampled");
    }
    VkSampler handle = VK_NULL_HANDLE;
    if (const VkResult r = device_->vk.vkCreateSampler(device_->handle, &info, nullptr, &handle); r != VK_SUCCESS)
        return fail("sampler: {}", name(r));
    samplers_.emplace(key, adopt(*device_, Object::Sampler, handle));
    return handle;
}

DescriptorHeap::DescriptorHeap(const Device& device) : device_(&device), samplers_(device) {}
DescriptorHeap::~DescriptorHeap() = default;

Result<std::unique_ptr<DescriptorHeap>> DescriptorHeap::create(const Device& device, const BindingLayout& layout) {
    std::unique_ptr<DescriptorHeap> heap(new DescriptorHeap(device));
    std::array<VkDescriptorPoolSize, shader::heap::binding_count> sizes{};
    for (u32 b = 0; b < sizes.size(); ++b) {
        const HeapBinding h = heap_binding(device.capabilities, b);
        sizes[b] = {h.type, h.count};
    }
    VkDescriptorPoolCreateInfo pool{VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO};
    pool.flags = VK_DESCRIPTOR_POOL_CREATE_UPDATE_AFTER_BIND_BIT;
    pool.maxSets = 1;
    pool.poolSizeCount = static_cast<u32>(sizes.size());
    pool.pPoolSizes = sizes.data();
    VkDescriptorPool pool_handle = VK_NULL_HANDLE;
    if (const VkResult r = device.vk.vkCreateDescriptorPool(device.handle, &pool, nullptr, &pool_handle);
        r != VK_SUCCESS)
        return fail("descriptor heap: pool: {}", name(r));
    heap->pool_ = adopt(device, Object::DescriptorPool, pool_handle);
    const VkDescriptorSetLayout set_layout = layout.heap.get();
    VkDescriptorSetAllocateInfo set{VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO};
    set.descriptorPool = pool_handle;
    set.descriptorSetCount = 1;
    set.pSetLayouts = &set_layout;
    if (const VkResult r = device.vk.vkAllocateDescriptorSets(device.handle, &set, &heap->set_); r != VK_SUCCESS)
        return fail("descriptor heap: set: {}", name(r));
    heap->written_.resize(device.capabilities.heap_textures);

    if (!device.has(Feature::NullDescriptor)) {
        auto nulls = create_null_entries(device);
        if (!nulls)
            return tl::unexpected(nulls.error());
        heap->nulls_ = std::move(*nulls);
    }
    heap->write_nulls();
    auto plain = heap->samplers_.get({});
    if (!plain)
        return tl::unexpected(plain.error());
    const std::vector<VkDescriptorImageInfo> samplers(device.capabilities.heap_samplers, {*plain, VK_NULL_HANDLE, {}});
    VkWriteDescriptorSet w{VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET};
    w.dstSet = heap->set_;
    w.descriptorCount = static_cast<u32>(samplers.size());
    w.descriptorType = VK_DESCRIPTOR_TYPE_SAMPLER;
    w.pImageInfo = samplers.data();
    for (const u32 binding : {shader::heap::samplers, shader::heap::integer_samplers}) {
        w.dstBinding = binding;
        device.vk.vkUpdateDescriptorSets(device.handle, 1, &w, 0, nullptr);
    }

    auto empty = create_buffer(device, 64, MemoryKind::Upload, "empty memory map");
    if (!empty)
        return tl::unexpected(empty.error());
    heap->empty_map_ = std::move(*empty);
    std::fill_n(heap->empty_map_.whole().mapped, 64, std::byte{0});
    heap->set_memory_map(heap->empty_map_.whole());
    return heap;
}

// Null everywhere: an ID that the guest never registered reads zero. One write per binding, 1 to 10 ms in all.
void DescriptorHeap::write_nulls() {
    std::vector<VkDescriptorImageInfo> images;
    std::vector<VkBufferView> buffers;
    for (u32 b = 0; b < shader::heap::binding_count; ++b) {
        const HeapBinding h = heap_binding(device_->capabilities, b);
        if (h.type == VK_DESCRIPTOR_TYPE_SAMPLER || h.type == VK_DESCRIPTOR_TYPE_STORAGE_BUFFER)
            continue;
        if (nulls_ && !nulls_->image[b] && !nulls_->buffer[b])
            continue; // a kind of view that the device cannot make, so no shader can use it
        images.assign(h.count, {VK_NULL_HANDLE, nulls_ ? nulls_->image[b] : VK_NULL_HANDLE, VK_IMAGE_LAYOUT_GENERAL});
        buffers.assign(h.count, nulls_ ? nulls_->buffer[b] : VK_NULL_HANDLE);
        VkWriteDescriptorSet w{VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET};
        w.dstSet = set_;
        w.dstBinding = b;
        w.descriptorCount = h.count;
        w.descriptorType = h.type;
        w.pImageInfo = images.data();
        w.pTexelBufferView = buffers.data();
        device_->vk.vkUpdateDescriptorSets(device_->handle, 1, &w, 0, nullptr);
    }
}

Result<void> DescriptorHeap::write(u32 binding, u32 index, VkImageView image, VkBufferView buffer) {
    // The last entry is what out-of-range IDs are clamped to and stays null.
    if (index + 1 >= written_.size())
        return fail("texture ID {} is beyond the heap's {}", index, written_.size());
    const u32 bit = 1u << binding;
    const bool null = !image && !buffer;
    if (null && !(written_[index] & bit))
        return {};
    written_[index] = null ? written_[index] & ~bit : written_[index] | bit;
    if (null && nulls_) {
        image = nulls_->image[binding];
        buffer = nulls_->buffer[binding];
    }
    pending_.push_back({binding, index, image, buffer, VK_NULL_HANDLE});
    return {};
}

Result<void> DescriptorHeap::write_texture(TextureId id, Dimension dimension, VkImageView view) {
    return write(shader::heap::first_sampled + index_of(dimension), id.value, view, VK_NULL_HANDLE);
}
Result<void> DescriptorHeap::write_texel_buffer(TextureId id, VkBufferView view) {
    return write(shader::heap::first_sampled + index_of(Dimension::Buffer), id.value, VK_NULL_HANDLE, view);
}
Result<void> DescriptorHeap::write_storage_image(TextureId id, Dimension dimension, VkImageView view) {
    return write(shader::heap::first_storage + index_of(dimension), id.value, view, VK_NULL_HANDLE);
}
Result<void> DescriptorHeap::write_storage_texel_buffer(TextureId id, VkBufferView view) {
    return write(shader::heap::first_storage + index_of(Dimension::Buffer), id.value, VK_NULL_HANDLE, view);
}
Result<void> DescriptorHeap::write_raw_storage_image(TextureId id, Dimension dimension, VkImageView view) {
    return write(shader::heap::first_raw_storage + index_of(dimension), id.value, view, VK_NULL_HANDLE);
}
Result<void> DescriptorHeap::write_raw_storage_texel_buffer(TextureId id, VkBufferView view) {
    return write(shader::heap::first_raw_storage + index_of(Dimension::Buffer), id.value, VK_NULL_HANDLE, view);
}

Result<void> DescriptorHeap::write_sampler(SamplerId id, const SamplerDescription& description) {
    if (id.value >= device_->capabilities.heap_samplers)
        return fail("sampler ID {} is beyond the heap's {}", id.value, device_->capabilities.heap_samplers);
    for (const u32 binding : {shader::heap::samplers, shader::heap::integer_samplers}) {
        auto sampler = samplers_.get(description, binding == shader::heap::integer_samplers);
        if (!sampler)
            return tl::unexpected(sampler.error());
        pending_.push_back({binding, id.value, VK_NULL_HANDLE, VK_NULL_HANDLE, *sampler});
    }
    return {};
}

void DescriptorHeap::clear_texture(TextureId id) {
    if (id.value >= written_.size())
        return;
    for (u32 rest = written_[id.value]; rest; rest &= rest - 1)
        (void)write(static_cast<u32>(std::countr_zero(rest)), id.value, VK_NULL_HANDLE, VK_NULL_HANDLE);
}

void DescriptorHeap::set_memory_map(const BufferSlice& map) {
    const VkDescriptorBufferInfo buffer{map.buffer, map.offset, map.size};
    VkWriteDescriptorSet w{VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET};
    w.dstSet = set_;
    w.dstBinding = shader::heap::memory_map;
    w.descriptorCount = 1;
    w.descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
    w.pBufferInfo = &buffer;
    device_->vk.vkUpdateDescriptorSets(device_->handle, 1, &w, 0, nullptr);
}

void DescriptorHeap::flush() {
    if (pending_.empty())
        return;
    std::vector<VkDescriptorImageInfo> images(pending_.size());
    std::vector<VkWriteDescriptorSet> writes(pending_.size());
    for (std::size_t i = 0; i < pending_.size(); ++i) {
        const Pending& p = pending_[i];
        images[i] = {p.sampler, p.image, VK_IMAGE_LAYOUT_GENERAL};
        writes[i] = {VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET};
        writes[i].dstSet = set_;
        writes[i].dstBinding = p.binding;
        writes[i].dstArrayElement = p.index;
        writes[i].descriptorCount = 1;
        writes[i].descriptorType = heap_binding(device_->capabilities, p.binding).type;
        writes[i].pImageInfo = &images[i];
        writes[i].pTexelBufferView = &p.buffer_view;
    }
    device_->vk.vkUpdateDescriptorSets(device_->handle, static_cast<u32>(writes.size()), writes.data(), 0, nullptr);
    pending_.clear();
}

} // namespace heaviside::gpu
