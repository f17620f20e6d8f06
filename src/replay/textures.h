// Host images of guest textures: found by storage and description, filled from guest memory when the CPU has written
// there, written back when the CPU is going to read.
//
// An image is the GPU's from its first GPU write on; a later CPU write to its storage makes it the CPU's again. CPU
// writes show by the write tracker where there is one, else by a hash of the storage once per submission that uses it.
#pragma once

#include "gpu/commands.h"
#include "gpu/guest_memory.h"
#include "replay/formats.h"
#include "stream/description.h"
#include "texture/layout.h"
#include "texture/tiling.h"

#include <functional>
#include <map>
#include <memory>
#include <unordered_map>
#include <vector>

namespace heaviside::replay {

struct ViewKey {
    VkImageViewType type = VK_IMAGE_VIEW_TYPE_2D;
    VkFormat format = VK_FORMAT_UNDEFINED;
    VkImageAspectFlags aspects = 0;
    u16 first_level = 0, levels = 1, first_layer = 0, layers = 1;
    std::array<u8, 4> mapping{}; // VkComponentSwizzle
    bool storage = false;        // needs storage usage
    friend bool operator==(const ViewKey&, const ViewKey&) = default;
};

struct Texture {
    stream::TextureDescription description{};
    texture::Layout layout;
    ImageFormat format;
    gpu::Image image;
    bool guest_depth_stencil = false;
    bool initialised = false; // has defined content
    bool gpu_written = false; // content is newer than the storage
    bool cpu_visible = true;  // the pool has CPU access
    u64 checked = 0;          // submission that last compared with the storage
    u64 used = 0;             // submission that last asked for it
    u64 recorded = 0;         // submission that last recorded a command with it
    bool announced = false;   // the guest said that it wrote there
    u64 stamp = 0;            // of the write tracker
    Hash128 hash;             // of the storage when last looked at
    std::vector<std::pair<ViewKey, gpu::Owned<VkImageView>>> views;

    [[nodiscard]] u64 begin() const { return description.address; }
    [[nodiscard]] u64 end() const { return description.address + layout.size; }
};

class Textures {
public:
    Textures(const gpu::Device& device, const Formats& formats, gpu::Queue& queue, gpu::GuestMemory& gpu_memory,
             guest::Memory& memory, guest::WriteTracker* tracker);
    ~Textures();

    // The image of a description, made if it is new. Content is not looked at: refresh(). Errors name what no image can
    // be. Buffer textures have none: buffer_slice().
    [[nodiscard]] Result<Texture*> find(const stream::TextureDescription& description);
    // Whether refresh() would record something.
    [[nodiscard]] bool needs_refresh(Texture& texture);
    // Brings what the CPU wrote into the image: before everything recorded if this submission has not used it yet (the
    // pass goes on), else in place, which ends an open pass.
    Result<void> refresh(gpu::Commands& commands, Texture& texture);
    // Whether the open submission has recorded a use of it, and that it is going to.
    [[nodiscard]] bool is_recorded(const Texture& texture) const { return texture.recorded == queue_->submitted() + 1; }
    void mark_recorded(Texture& texture) const { texture.recorded = queue_->submitted() + 1; }
    // The GPU is about to write it all or in part: its content is the GPU's now.
    void mark_gpu_written(Texture& texture);

    [[nodiscard]] Result<VkImageView> view(Texture& texture, const ViewKey& key);

    // Texels of (level, layer) between guest rows and the image, through the CPU: formats that Vulkan cannot copy as
    // they are. Region in blocks; rows at `pitch`.
    Result<void> upload_rows(gpu::Commands& commands, Texture& texture, u32 level, u32 layer,
                             const texture::BlockRegion& region, Bytes rows, const texture::LinearPitch& pitch);
    // The way back. The result stores the region into `rows`, guest memory, once the submission is done.
    [[nodiscard]] Result<std::function<void()>> download_rows(gpu::Commands& commands, Texture& texture, u32 level,
                                                              u32 layer, const texture::BlockRegion& region,
                                                              texture::MutableBytes rows,
                                                              const texture::LinearPitch& pitch);

    // Stores GPU content into guest memory wherever it overlaps the range: submits and waits.
    void write_back(u64 address, u64 size);
    // Storage in the range was written past the images (buffer copies, texel writes of the CPU): they are read again.
    void storage_written(u64 address, u64 size);
    // Forgets what lies in the range: its pool is gone.
    void forget(u64 address, u64 size);

    struct Statistics {
        u64 images = 0, bytes = 0, uploads = 0, upload_bytes = 0, write_backs = 0;
    };
    [[nodiscard]] Statistics statistics() const;
    [[nodiscard]] const Formats& formats() const { return *formats_; }

private:
    struct Key {
        std::array<u32, 12> words{};
        friend bool operator==(const Key&, const Key&) = default;
    };
    struct KeyHash {
        std::size_t operator()(const Key& key) const;
    };
    [[nodiscard]] Key key_of(const stream::TextureDescription& description) const;
    Result<std::unique_ptr<Texture>> make(const stream::TextureDescription& description);
    [[nodiscard]] bool storage_changed(Texture& texture); // and takes note of what is there
    Result<void> upload(gpu::Commands& commands, Texture& texture, Bytes storage);
    void clear_to_zero(gpu::Commands& commands, Texture& texture);
    [[nodiscard]] VkCommandBuffer transfer_commands(gpu::Commands& commands, const Texture& texture) const;
    Result<void> store(Texture& texture);
    [[nodiscard]] std::vector<Texture*> overlapping(u64 address, u64 size) const;

    const gpu::Device* device_;
    const Formats* formats_;
    gpu::Queue* queue_;
    gpu::GuestMemory* gpu_memory_;
    guest::Memory* memory_;
    guest::WriteTracker* tracker_;
    std::unordered_map<Key, std::unique_ptr<Texture>, KeyHash> textures_;
    std::multimap<u64, Texture*> by_address_; // by storage begin
    u64 longest_ = 0;                         // storage bytes of the largest
    Statistics statistics_;
};

// What can be read from a description's ID in the heap, and how an attachment or copy names a part of it.
[[nodiscard]] texture::Description texture_description(const stream::TextureDescription& d);
[[nodiscard]] u32 view_layers(const stream::ImageDescription& d); // array layers or, of 3D textures, 1

} // namespace heaviside::replay
