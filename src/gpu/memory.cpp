#include "gpu/memory.h"

#include "base/bytes.h"

#include <vk_mem_alloc.h>

#include <cstring>

namespace heaviside::gpu {

VkBufferUsageFlags buffer_usage(const Device& device) {
    VkBufferUsageFlags usage = VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT |
                               VK_BUFFER_USAGE_UNIFORM_TEXEL_BUFFER_BIT | VK_BUFFER_USAGE_STORAGE_TEXEL_BUFFER_BIT |
                               VK_BUFFER_USAGE_UNIFORM_BUFFER_BIT | VK_BUFFER_USAGE_STORAGE_BUFFER_BIT |
                               VK_BUFFER_USAGE_INDEX_BUFFER_BIT | VK_BUFFER_USAGE_VERTEX_BUFFER_BIT |
                               VK_BUFFER_USAGE_INDIRECT_BUFFER_BIT | VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT;
    if (device.has(Feature::TransformFeedback))
        usage |= VK_BUFFER_USAGE_TRANSFORM_FEEDBACK_BUFFER_BIT_EXT |
                 VK_BUFFER_USAGE_TRANSFORM_FEEDBACK_COUNTER_BUFFER_BIT_EXT;
    if (device.has(Feature::ConditionalRendering))
        usage |= VK_BUFFER_USAGE_CONDITIONAL_RENDERING_BIT_EXT;
    return usage;
}

Buffer::Buffer(Buffer&& other) noexcept
    : device_(other.device_), allocation_(std::exchange(other.allocation_, nullptr)),
      slice_(std::exchange(other.slice_, {})) {}

Buffer& Buffer::operator=(Buffer&& other) noexcept {
    std::swap(device_, other.device_);
    std::swap(allocation_, other.allocation_);
    std::swap(slice_, other.slice_);
    return *this;
}

Buffer::~Buffer() {
    if (!slice_)
        return;
    vmaDestroyBuffer(device_->allocator, slice_.buffer, allocation_);
    device_->count(Object::Buffer, -1);
}

BufferSlice Buffer::slice(u64 offset, u64 size) const {
    BufferSlice s = slice_;
    s.offset += offset;
    s.address += offset;
    s.size = size;
    if (s.mapped)
        s.mapped += offset;
    return s;
}

Result<Buffer> create_buffer(const Device& device, u64 size, MemoryKind kind, std::string_view name_text) {
    if (size == 0)
        return fail("buffer '{}': size 0", name_text);
    VkBufferCreateInfo info{VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO};
    info.size = size;
    info.usage = buffer_usage(device);
    VmaAllocationCreateInfo allocation{};
    allocation.usage = kind == MemoryKind::Device ? VMA_MEMORY_USAGE_AUTO_PREFER_DEVICE : VMA_MEMORY_USAGE_AUTO;
    if (kind == MemoryKind::Upload)
        allocation.flags = VMA_ALLOCATION_CREATE_HOST_ACCESS_SEQUENTIAL_WRITE_BIT | VMA_ALLOCATION_CREATE_MAPPED_BIT;
    else if (kind == MemoryKind::Readback)
        allocation.flags = VMA_ALLOCATION_CREATE_HOST_ACCESS_RANDOM_BIT | VMA_ALLOCATION_CREATE_MAPPED_BIT;
    Buffer b;
    VmaAllocationInfo result{};
    VkBuffer handle = VK_NULL_HANDLE;
    if (const VkResult r = vmaCreateBuffer(device.allocator, &info, &allocation, &handle, &b.allocation_, &result);
        r != VK_SUCCESS)
        return fail("buffer '{}' of {} bytes: {}", name_text, size, name(r));
    device.count(Object::Buffer, 1);
    b.device_ = &device;
    b.slice_.buffer = handle;
    b.slice_.size = size;
    b.slice_.mapped = static_cast<std::byte*>(result.pMappedData);
    VkBufferDeviceAddressInfo address{VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO, nullptr, handle};
    b.slice_.address = device.vk.vkGetBufferDeviceAddress(device.handle, &address);
    set_name(device, VK_OBJECT_TYPE_BUFFER, reinterpret_cast<u64>(handle), name_text);
    return b;
}

void flush(const Device& device, const Buffer& buffer) {
    vmaFlushAllocation(device.allocator, buffer.allocation_, 0, VK_WHOLE_SIZE);
}
void invalidate(const Device& device, const Buffer& buffer) {
    vmaInvalidateAllocation(device.allocator, buffer.allocation_, 0, VK_WHOLE_SIZE);
}

bool operator==(const ImageDescription& a, const ImageDescription& b) {
    return a.type == b.type && a.format == b.format && a.extent.width == b.extent.width &&
           a.extent.height == b.extent.height && a.extent.depth == b.extent.depth && a.levels == b.levels &&
           a.layers == b.layers && a.samples == b.samples && a.usage == b.usage && a.flags == b.flags;
}

Image::Image(Image&& other) noexcept
    : device_(other.device_), handle_(std::exchange(other.handle_, VK_NULL_HANDLE)),
      allocation_(std::exchange(other.allocation_, nullptr)), description_(other.description_), bytes_(other.bytes_) {}

Image& Image::operator=(Image&& other) noexcept {
    std::swap(device_, other.device_);
    std::swap(handle_, other.handle_);
    std::swap(allocation_, other.allocation_);
    std::swap(description_, other.description_);
    std::swap(bytes_, other.bytes_);
    return *this;
}

Image::~Image() {
    if (!handle_)
        return;
    vmaDestroyImage(device_->allocator, handle_, allocation_);
    device_->count(Object::Image, -1);
}

VkImageAspectFlags Image::aspects() const {
    return aspects_of(description_.format);
}

VkImageAspectFlags aspects_of(VkFormat format) {
    switch (format) {
    case VK_FORMAT_D16_UNORM:
    case VK_FORMAT_D32_SFLOAT:
    case VK_FORMAT_X8_D24_UNORM_PACK32:
        return VK_IMAGE_ASPECT_DEPTH_BIT;
    case VK_FORMAT_S8_UINT:
        return VK_IMAGE_ASPECT_STENCIL_BIT;
    case VK_FORMAT_D16_UNORM_S8_UINT:
    case VK_FORMAT_D24_UNORM_S8_UINT:
    case VK_FORMAT_D32_SFLOAT_S8_UINT:
        return VK_IMAGE_ASPECT_DEPTH_BIT | VK_IMAGE_ASPECT_STENCIL_BIT;
    default:
        return VK_IMAGE_ASPECT_COLOR_BIT;
    }
}

namespace {

// What the format's optimal tiling can do, as usage bits. Mutable and block-view images may be used through views of
// other formats, whose usages the image must have too (EXTENDED_USAGE), so nothing is dropped for those.
VkImageUsageFlags supported_usage(const Device& device, VkFormat format) {
    VkFormatProperties3 extended{VK_STRUCTURE_TYPE_FORMAT_PROPERTIES_3};
    VkFormatProperties2 properties{VK_STRUCTURE_TYPE_FORMAT_PROPERTIES_2, &extended, {}};
    vkGetPhysicalDeviceFormatProperties2(device.physical, format, &properties);
    const VkFormatFeatureFlags2 f = extended.optimalTilingFeatures;
    VkImageUsageFlags usage = VK_IMAGE_USAGE_TRANSFER_SRC_BIT | VK_IMAGE_USAGE_TRANSFER_DST_BIT;
    if (f & VK_FORMAT_FEATURE_2_SAMPLED_IMAGE_BIT)
        usage |= VK_IMAGE_USAGE_SAMPLED_BIT;
    if (f & VK_FORMAT_FEATURE_2_STORAGE_IMAGE_BIT)
        usage |= VK_IMAGE_USAGE_STORAGE_BIT;
    if (f & VK_FORMAT_FEATURE_2_COLOR_ATTACHMENT_BIT)
        usage |= VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT;
    if (f & VK_FORMAT_FEATURE_2_DEPTH_STENCIL_ATTACHMENT_BIT)
        usage |= VK_IMAGE_USAGE_DEPTH_STENCIL_ATTACHMENT_BIT;
    if (usage & (VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT | VK_IMAGE_USAGE_DEPTH_STENCIL_ATTACHMENT_BIT)) {
        usage |= VK_IMAGE_USAGE_INPUT_ATTACHMENT_BIT;
        if (device.has(Feature::AttachmentFeedback))
            usage |= VK_IMAGE_USAGE_ATTACHMENT_FEEDBACK_LOOP_BIT_EXT;
    }
    return usage;
}

} // namespace

Result<Image> create_image(const Device& device, const ImageDescription& description, std::string_view name_text) {
    Image image;
    image.description_ = description;
    auto& d = image.description_;
    if (!(d.flags & VK_IMAGE_CREATE_EXTENDED_USAGE_BIT))
        d.usage &= supported_usage(device, d.format);
    VkImageCreateInfo info{VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO};
    info.flags = d.flags;
    info.imageType = d.type;
    info.format = d.format;
    info.extent = d.extent;
    info.mipLevels = d.levels;
    info.arrayLayers = d.layers;
    info.samples = d.samples;
    info.tiling = VK_IMAGE_TILING_OPTIMAL;
    info.usage = d.usage;
    info.initialLayout = VK_IMAGE_LAYOUT_UNDEFINED;

    VkImageFormatProperties limits{};
    const VkResult possible = vkGetPhysicalDeviceImageFormatProperties(device.physical, d.format, d.type, info.tiling,
                                                                       d.usage, d.flags, &limits);
    if (possible != VK_SUCCESS)
        return fail("image '{}': format {} with usage {:#x} and flags {:#x}: {}", name_text, static_cast<int>(d.format),
                    d.usage, d.flags, name(possible));
    if (d.extent.width == 0 || d.extent.height == 0 || d.extent.depth == 0 || d.extent.width > limits.maxExtent.width ||
        d.extent.height > limits.maxExtent.height || d.extent.depth > limits.maxExtent.depth || d.levels == 0 ||
        d.levels > limits.maxMipLevels || d.layers == 0 || d.layers > limits.maxArrayLayers ||
        !(d.samples & limits.sampleCounts))
        return fail("image '{}': {}x{}x{}, {} levels, {} layers, {} samples is beyond the device's limits", name_text,
                    d.extent.width, d.extent.height, d.extent.depth, d.levels, d.layers, static_cast<int>(d.samples));

    VmaAllocationCreateInfo allocation{};
    allocation.usage = VMA_MEMORY_USAGE_AUTO_PREFER_DEVICE;
    VmaAllocationInfo result{};
    if (const VkResult r =
            vmaCreateImage(device.allocator, &info, &allocation, &image.handle_, &image.allocation_, &result);
        r != VK_SUCCESS) {
        image.handle_ = VK_NULL_HANDLE;
        return fail("image '{}' {}x{}: {}", name_text, d.extent.width, d.extent.height, name(r));
    }
    device.count(Object::Image, 1);
    image.device_ = &device;
    image.bytes_ = result.size;
    set_name(device, VK_OBJECT_TYPE_IMAGE, reinterpret_cast<u64>(image.handle_), name_text);
    return image;
}

Result<Owned<VkImageView>> create_view(const Device& device, const Image& image, const ViewDescription& view) {
    VkImageViewUsageCreateInfo usage{VK_STRUCTURE_TYPE_IMAGE_VIEW_USAGE_CREATE_INFO, nullptr, view.usage};
    VkImageViewCreateInfo info{VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO};
    if (view.usage)
        info.pNext = &usage;
    VkImageViewMinLodCreateInfoEXT least{VK_STRUCTURE_TYPE_IMAGE_VIEW_MIN_LOD_CREATE_INFO_EXT, info.pNext,
                                         static_cast<f32>(view.least_level)};
    if (view.least_level > view.base_level && device.has(Feature::ImageViewMinLod))
        info.pNext = &least;
    info.image = image.get();
    info.viewType = view.type;
    info.format = view.format == VK_FORMAT_UNDEFINED ? image.description().format : view.format;
    info.components = view.swizzle;
    info.subresourceRange = {view.aspects ? view.aspects : aspects_of(info.format), view.base_level, view.levels,
                             view.base_layer, view.layers};
    VkImageView handle = VK_NULL_HANDLE;
    if (const VkResult r = device.vk.vkCreateImageView(device.handle, &info, nullptr, &handle); r != VK_SUCCESS)
        return fail("image view: {}", name(r));
    return adopt(device, Object::View, handle);
}

Arena::Arena(const Device& device, MemoryKind kind, u64 chunk) : device_(&device), kind_(kind), chunk_size_(chunk) {}

Result<BufferSlice> Arena::allocate(u64 size, u64 alignment) {
    u64 offset = align_up(used_, alignment);
    if (open_.empty() || offset > open_.back().buffer.whole().size ||
        open_.back().buffer.whole().size - offset < size) {
        Buffer next;
        if (size <= chunk_size_ && !free_.empty()) {
            next = std::move(free_.back());
            free_.pop_back();
        } else {
            auto made = create_buffer(*device_, size > chunk_size_ ? size : chunk_size_, kind_, "arena");
            if (!made)
                return tl::unexpected(made.error());
            next = std::move(*made);
            bytes_ += next.whole().size;
        }
        open_.push_back({std::move(next), 0});
        offset = 0;
    }
    used_ = offset + size;
    return open_.back().buffer.slice(offset, size);
}

Result<BufferSlice> Arena::push(std::span<const std::byte> bytes, u64 alignment) {
    auto slice = allocate(bytes.size() ? bytes.size() : 1, alignment);
    if (slice && slice->mapped && !bytes.empty())
        std::memcpy(slice->mapped, bytes.data(), bytes.size());
    return slice;
}

void Arena::seal(u64 submission) {
    for (auto& chunk : open_) {
        flush(*device_, chunk.buffer);
        chunk.submission = submission;
        busy_.push_back(std::move(chunk));
    }
    open_.clear();
    used_ = 0;
}

void Arena::recycle(u64 completed) {
    while (!busy_.empty() && busy_.front().submission <= completed) {
        Buffer buffer = std::move(busy_.front().buffer);
        busy_.pop_front();
        if (buffer.whole().size == chunk_size_)
            free_.push_back(std::move(buffer));
        else
            bytes_ -= buffer.whole().size;
    }
}

} // namespace heaviside::gpu
