#include "gpu/null_entries.h"

#include "gpu/binding_layout.h"

#include <algorithm>

namespace heaviside::gpu {
namespace {

struct Shape {
    VkImageType type;
    u32 layers;
    VkSampleCountFlagBits samples;
    VkImageCreateFlags flags;
};
constexpr std::array shapes{Shape{VK_IMAGE_TYPE_1D, 1, VK_SAMPLE_COUNT_1_BIT, 0},
                            Shape{VK_IMAGE_TYPE_2D, 6, VK_SAMPLE_COUNT_1_BIT, VK_IMAGE_CREATE_CUBE_COMPATIBLE_BIT},
                            Shape{VK_IMAGE_TYPE_3D, 1, VK_SAMPLE_COUNT_1_BIT, 0},
                            Shape{VK_IMAGE_TYPE_2D, 1, VK_SAMPLE_COUNT_4_BIT, 0}};

struct DimensionView {
    unsigned shape;
    VkImageViewType type;
    u32 layers;
};
// By Dimension; Buffer has no image.
constexpr std::array<DimensionView, shader::dimension_count> dimension_views{{{0, VK_IMAGE_VIEW_TYPE_1D, 1},
                                                                              {0, VK_IMAGE_VIEW_TYPE_1D_ARRAY, 1},
                                                                              {1, VK_IMAGE_VIEW_TYPE_2D, 1},
                                                                              {1, VK_IMAGE_VIEW_TYPE_2D_ARRAY, 6},
                                                                              {2, VK_IMAGE_VIEW_TYPE_3D, 1},
                                                                              {1, VK_IMAGE_VIEW_TYPE_CUBE, 6},
                                                                              {1, VK_IMAGE_VIEW_TYPE_CUBE_ARRAY, 6},
                                                                              {0, VK_IMAGE_VIEW_TYPE_1D, 1},
                                                                              {3, VK_IMAGE_VIEW_TYPE_2D, 1},
                                                                              {3, VK_IMAGE_VIEW_TYPE_2D_ARRAY, 1}}};

Result<void> clear_all(const Device& device, std::span<const Image> images) {
    const auto& vk = device.vk;
    VkCommandPoolCreateInfo pool_info{VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO};
    pool_info.queueFamilyIndex = device.queue_family;
    VkCommandPool pool_handle = VK_NULL_HANDLE;
    if (const VkResult r = vk.vkCreateCommandPool(device.handle, &pool_info, nullptr, &pool_handle); r != VK_SUCCESS)
        return fail("command pool: {}", name(r));
    const auto pool = adopt(device, Object::CommandPool, pool_handle);
    VkCommandBufferAllocateInfo allocate{VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO, nullptr, pool_handle,
                                         VK_COMMAND_BUFFER_LEVEL_PRIMARY, 1};
    VkCommandBuffer commands = VK_NULL_HANDLE;
    if (const VkResult r = vk.vkAllocateCommandBuffers(device.handle, &allocate, &commands); r != VK_SUCCESS)
        return fail("command buffer: {}", name(r));
    VkCommandBufferBeginInfo begin{VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    begin.flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT;
    vk.vkBeginCommandBuffer(commands, &begin);
    std::vector<VkImageMemoryBarrier2> barriers;
    for (const Image& image : images) {
        VkImageMemoryBarrier2 b{VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER_2};
        b.dstStageMask = VK_PIPELINE_STAGE_2_CLEAR_BIT;
        b.dstAccessMask = VK_ACCESS_2_TRANSFER_WRITE_BIT;
        b.newLayout = VK_IMAGE_LAYOUT_GENERAL;
        b.srcQueueFamilyIndex = b.dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED;
        b.image = image.get();
        b.subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, image.description().layers};
        barriers.push_back(b);
    }
    VkDependencyInfo dependency{VK_STRUCTURE_TYPE_DEPENDENCY_INFO};
    dependency.imageMemoryBarrierCount = static_cast<u32>(barriers.size());
    dependency.pImageMemoryBarriers = barriers.data();
    vk.vkCmdPipelineBarrier2(commands, &dependency);
    const VkClearColorValue zero{};
    for (const auto& b : barriers)
        vk.vkCmdClearColorImage(commands, b.image, VK_IMAGE_LAYOUT_GENERAL, &zero, 1, &b.subresourceRange);
    vk.vkEndCommandBuffer(commands);
    VkCommandBufferSubmitInfo buffer{VK_STRUCTURE_TYPE_COMMAND_BUFFER_SUBMIT_INFO, nullptr, commands, 0};
    VkSubmitInfo2 submit{VK_STRUCTURE_TYPE_SUBMIT_INFO_2};
    submit.commandBufferInfoCount = 1;
    submit.pCommandBufferInfos = &buffer;
    std::lock_guard lock(device.submit_mutex);
    VkResult r = vk.vkQueueSubmit2(device.queue, 1, &submit, VK_NULL_HANDLE);
    if (r == VK_SUCCESS)
        r = vk.vkQueueWaitIdle(device.queue);
    return r == VK_SUCCESS ? Result<void>() : fail("clearing null images: {}", name(r));
}

} // namespace

Result<std::unique_ptr<NullEntries>> create_null_entries(const Device& device) {
    auto out = std::make_unique<NullEntries>();
    for (const Shape& s : shapes) {
        ImageDescription d;
        d.type = s.type;
        d.layers = s.layers;
        d.samples = s.samples;
        d.flags = s.flags | VK_IMAGE_CREATE_MUTABLE_FORMAT_BIT;
        d.usage = VK_IMAGE_USAGE_SAMPLED_BIT | VK_IMAGE_USAGE_TRANSFER_DST_BIT;
        if (s.samples == VK_SAMPLE_COUNT_1_BIT || device.has(Feature::MultisampledStorage))
            d.usage |= VK_IMAGE_USAGE_STORAGE_BIT;
        auto image = create_image(device, d, "null");
        if (!image) { // multisampled storage may exist for other formats only
            d.usage &= ~static_cast<VkImageUsageFlags>(VK_IMAGE_USAGE_STORAGE_BIT);
            image = create_image(device, d, "null");
        }
        if (!image)
            return tl::unexpected(image.error());
        out->images.push_back(std::move(*image));
    }
    if (auto cleared = clear_all(device, out->images); !cleared)
        return tl::unexpected(cleared.error());
    auto zeros = create_buffer(device, 256, MemoryKind::Upload, "null");
    if (!zeros)
        return tl::unexpected(zeros.error());
    out->zeros = std::move(*zeros);
    std::fill_n(out->zeros.whole().mapped, 256, std::byte{0});
    flush(device, out->zeros);

    for (u32 b = 0; b < shader::heap::binding_count; ++b) {
        const HeapBinding h = heap_binding(device.capabilities, b);
        const bool raw = b >= shader::heap::first_raw_storage;
        const VkFormat format = raw ? VK_FORMAT_R32_UINT : VK_FORMAT_R8G8B8A8_UNORM;
        if (h.type == VK_DESCRIPTOR_TYPE_UNIFORM_TEXEL_BUFFER || h.type == VK_DESCRIPTOR_TYPE_STORAGE_TEXEL_BUFFER) {
            VkBufferViewCreateInfo info{VK_STRUCTURE_TYPE_BUFFER_VIEW_CREATE_INFO};
            info.buffer = out->zeros.whole().buffer;
            info.format = VK_FORMAT_R32_UINT;
            info.range = 4;
            VkBufferView view = VK_NULL_HANDLE;
            if (const VkResult r = device.vk.vkCreateBufferView(device.handle, &info, nullptr, &view); r != VK_SUCCESS)
                return fail("null buffer view: {}", name(r));
            out->buffer_views.push_back(adopt(device, Object::BufferView, view));
            out->buffer[b] = view;
        } else if (h.type == VK_DESCRIPTOR_TYPE_SAMPLED_IMAGE || h.type == VK_DESCRIPTOR_TYPE_STORAGE_IMAGE) {
            const u32 first = h.type == VK_DESCRIPTOR_TYPE_SAMPLED_IMAGE
                                  ? shader::heap::first_sampled
                                  : (raw ? shader::heap::first_raw_storage : shader::heap::first_storage);
            const DimensionView& d = dimension_views[b - first];
            const Image& image = out->images[d.shape];
            if (d.type == VK_IMAGE_VIEW_TYPE_CUBE_ARRAY && !device.has(Feature::CubeArrays))
                continue;
            if (h.type == VK_DESCRIPTOR_TYPE_STORAGE_IMAGE && !(image.description().usage & VK_IMAGE_USAGE_STORAGE_BIT))
                continue;
            ViewDescription v;
            v.type = d.type;
            v.format = format;
            v.layers = d.layers;
            auto view = create_view(device, image, v);
            if (!view)
                return tl::unexpected(view.error());
            out->image[b] = view->get();
            out->views.push_back(std::move(*view));
        }
    }
    return out;
}

} // namespace heaviside::gpu
