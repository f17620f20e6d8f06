// Buffers and images, owned; and the arena that per-submission data comes from.
#pragma once

#include "gpu/device.h"

#include <deque>
#include <span>

namespace heaviside::gpu {

enum class MemoryKind : u8 {
    Device,   // fastest for the GPU; not mapped
    Upload,   // CPU writes in order, never reads; GPU reads
    Readback, // GPU writes, CPU reads: cached host memory
};

// A range of a buffer, as commands take it. Does not own.
struct BufferSlice {
    VkBuffer buffer = VK_NULL_HANDLE;
    u64 offset = 0;
    u64 size = 0;
    u64 address = 0;             // device address of the range's start
    std::byte* mapped = nullptr; // CPU view of the range, if it has one
    explicit operator bool() const { return buffer != VK_NULL_HANDLE; }
};

// Move-only. Every buffer can be everything (all usages incl. device address): no device tells them apart by speed.
class Buffer {
public:
    Buffer() = default;
    Buffer(Buffer&& other) noexcept;
    Buffer& operator=(Buffer&& other) noexcept;
    ~Buffer();
    [[nodiscard]] const BufferSlice& whole() const { return slice_; }
    [[nodiscard]] BufferSlice slice(u64 offset, u64 size) const; // the caller keeps it inside
    explicit operator bool() const { return static_cast<bool>(slice_); }

private:
    friend Result<Buffer> create_buffer(const Device&, u64, MemoryKind, std::string_view);
    friend void flush(const Device&, const Buffer&);
    friend void invalidate(const Device&, const Buffer&);
    const Device* device_ = nullptr;
    VmaAllocation allocation_ = nullptr;
    BufferSlice slice_;
};
[[nodiscard]] Result<Buffer> create_buffer(const Device& device, u64 size, MemoryKind kind, std::string_view name = {});
[[nodiscard]] VkBufferUsageFlags buffer_usage(const Device& device); // "everything", for buffers made elsewhere

// CPU cache maintenance around coherent-less memory; no-ops where memory is coherent.
void flush(const Device& device, const Buffer& buffer);
void invalidate(const Device& device, const Buffer& buffer);

struct ImageDescription {
    VkImageType type = VK_IMAGE_TYPE_2D;
    VkFormat format = VK_FORMAT_R8G8B8A8_UNORM;
    VkExtent3D extent{1, 1, 1};
    u32 levels = 1, layers = 1;
    VkSampleCountFlagBits samples = VK_SAMPLE_COUNT_1_BIT;
    VkImageUsageFlags usage = 0;  // usages that the format does not support are dropped, see Image::description()
    VkImageCreateFlags flags = 0; // mutable, cube compatible, block view, 2D array of 3D
    friend bool operator==(const ImageDescription&, const ImageDescription&);
};

// Move-only. A new image has undefined content and layout: Commands::initialise() it before anything else.
class Image {
public:
    Image() = default;
    Image(Image&& other) noexcept;
    Image& operator=(Image&& other) noexcept;
    ~Image();
    [[nodiscard]] VkImage get() const { return handle_; }
    [[nodiscard]] const ImageDescription& description() const { return description_; }
    [[nodiscard]] VkImageAspectFlags aspects() const;
    [[nodiscard]] u64 bytes() const { return bytes_; } // of device memory
    explicit operator bool() const { return handle_ != VK_NULL_HANDLE; }

private:
    friend Result<Image> create_image(const Device&, const ImageDescription&, std::string_view);
    const Device* device_ = nullptr;
    VkImage handle_ = VK_NULL_HANDLE;
    VmaAllocation allocation_ = nullptr;
    ImageDescription description_;
    u64 bytes_ = 0;
};
// Errors: format or extent that the device cannot do with these flags (named), no memory.
[[nodiscard]] Result<Image> create_image(const Device& device, const ImageDescription& description,
                                         std::string_view name = {});
[[nodiscard]] VkImageAspectFlags aspects_of(VkFormat format);

struct ViewDescription {
    VkImageViewType type = VK_IMAGE_VIEW_TYPE_2D;
    VkFormat format = VK_FORMAT_UNDEFINED; // undefined: the image's
    VkComponentMapping swizzle{};
    VkImageAspectFlags aspects = 0; // 0: all of the format
    u32 base_level = 0, levels = 1, base_layer = 0, layers = 1;
    u32 least_level = 0; // of the image: samples see nothing finer. Where the device has ImageViewMinLod, else ignored
    VkImageUsageFlags usage = 0; // 0: the image's; needed where the view's format supports less than the image's
};
[[nodiscard]] Result<Owned<VkImageView>> create_view(const Device& device, const Image& image,
                                                     const ViewDescription& description);

// CPU-written memory that lives until the submission that used it has completed: constants, versions of uniform data,
// indices, staging. One per Queue (Queue::arena); used by the recording thread only. Memory is mapped and written
// front to back; chunks are reused when the queue says that they are free, so the steady state allocates nothing.
class Arena {
public:
    explicit Arena(const Device& device, MemoryKind kind = MemoryKind::Upload, u64 chunk = u64{4} << 20);
    // `alignment` a power of two. The slice's memory is uninitialised. Errors: no memory.
    [[nodiscard]] Result<BufferSlice> allocate(u64 size, u64 alignment = 256);
    [[nodiscard]] Result<BufferSlice> push(std::span<const std::byte> bytes, u64 alignment = 256); // allocate and copy
    void seal(u64 submission);   // what was allocated since the last seal() belongs to this submission
    void recycle(u64 completed); // submissions up to this one are done
    [[nodiscard]] u64 bytes() const { return bytes_; } // held

private:
    struct Chunk {
        Buffer buffer;
        u64 submission = 0;
    };
    const Device* device_;
    MemoryKind kind_;
    u64 chunk_size_, bytes_ = 0, used_ = 0;
    std::vector<Chunk> open_; // since the last seal; back() is the one being filled
    std::deque<Chunk> busy_;
    std::vector<Buffer> free_;
};

} // namespace heaviside::gpu
