// Host images of guest textures: found by storage and description, filled from guest memory when the CPU has written
// there, written back when the CPU is going to read.
//
// An image is the GPU's from its first GPU write on; a later CPU write to its storage makes it the CPU's again. CPU
// writes show by the write tracker where there is one, else by a hash of the storage once per submission that uses it.
//
// What the GPU draws into storage that the guest can read is stored there behind each submission, before its fences.
// Everything else (depth, compressible, window textures, pools without CPU access) is stored when something asks for
// the bytes: a buffer command or a texture of another description over the same storage, or the guest through the API.
#pragma once

#include "gpu/commands.h"
#include "gpu/guest_memory.h"
#include "replay/formats.h"
#include "stream/description.h"
#include "texture/layout.h"
#include "texture/tiling.h"

#include <atomic>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

namespace heaviside::replay {

struct GuestRange {
    u64 address = 0, size = 0;
    [[nodiscard]] bool touches(const GuestRange& o) const {
        return address < o.address + o.size && o.address < address + size;
    }
};

struct ViewKey {
    VkImageViewType type = VK_IMAGE_VIEW_TYPE_2D;
    VkFormat format = VK_FORMAT_UNDEFINED;
    VkImageAspectFlags aspects = 0;
    u16 first_level = 0, levels = 1, first_layer = 0, layers = 1;
    std::array<u8, 4> mapping{}; // VkComponentSwizzle
    bool storage = false;        // needs storage usage
    friend bool operator==(const ViewKey&, const ViewKey&) = default;
};

// What the guest can find in a texture's storage. The replay thread's while `pending` is 0, else of the thread that
// runs the stores.
struct StorageState {
    std::atomic<u32> pending = 0; // stores recorded and not yet in memory
    u64 stamp = 0;                // of the write tracker, 0: none
    bool known = false;           // `hash` is that of bytes that were seen
    bool cpu_wrote = false;       // the CPU wrote there before a store: texels of both are to be uploaded
    Hash128 hash;                 // of the storage when last looked at
};

// A part of a texture that the GPU wrote and its storage does not have: blocks of one level, in some layers.
struct WrittenPart {
    u32 level = 0, first_layer = 0, layers = 1;
    texture::BlockRegion region{};
};

struct Texture {
    stream::TextureDescription description{};
    texture::Layout layout;
    ImageFormat format;
    gpu::Image image;
    bool guest_depth_stencil = false;
    bool initialised = false; // has defined content
    bool gpu_written = false; // the content is the GPU's
    bool cpu_visible = true;  // the pool has CPU access
    bool stale = false;       // a texture of another description wrote the storage since
    u64 checked = 0;          // submission that last compared with the storage
    u64 used = 0;             // submission that last asked for it
    u64 recorded = 0;         // submission that last recorded a command with it
    bool announced = false;   // the guest said that it wrote there
    std::shared_ptr<StorageState> storage = std::make_shared<StorageState>();
    std::vector<WrittenPart> unstored;
    u64 written_at = 0;            // in the order of GPU writes of all textures
    std::vector<Texture*> aliases; // whose storage overlaps
    std::vector<std::pair<ViewKey, gpu::Owned<VkImageView>>> views;

    [[nodiscard]] u64 begin() const { return description.address; }
    [[nodiscard]] u64 end() const { return description.address + layout.size; }
};

// Writes of the CPU to guest memory that follow the GPU's work, in the order of the stream. Each runs once, on the
// thread that watches the GPU or on the one that cannot wait for it, whichever comes first.
class DeferredWrites {
public:
    // The result runs `work` unless it has run.
    [[nodiscard]] std::function<void()> add(GuestRange range, std::function<void()> work);
    // Runs what is left. The GPU's work before must be done.
    void run();
    [[nodiscard]] bool touches(GuestRange range) const;
    [[nodiscard]] bool empty() const { return jobs_.empty(); }

private:
    struct Job {
        std::mutex mutex;
        std::atomic<bool> done = false;
        GuestRange range;
        std::function<void()> work;
    };
    static void run(Job& job);
    std::deque<std::shared_ptr<Job>> jobs_; // replay thread
};

// Flags of textures whose texels no guest reads: shown, or kept in a form of the chip's own.
inline constexpr u32 unread_flags =
    texture::flags::display | texture::flags::video_decode | texture::flags::compressible;

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
    // The GPU is about to write a part, after refresh(): it is the GPU's now, in every texture over those bytes.
    void mark_gpu_written(Texture& texture, const WrittenPart& part);
    // Blocks of a level that texels of it lie in.
    [[nodiscard]] static WrittenPart part_of_texels(const Texture& texture, u32 level, u32 first_layer, u32 layers,
                                                    const VkOffset3D& offset, const VkExtent3D& extent);
    [[nodiscard]] static WrittenPart whole_level(const Texture& texture, u32 level, u32 first_layer, u32 layers);

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

    // The open command buffer, opened if none is; and: submits it, waits for the GPU, finishes the stores and opens
    // another. Null: none can be had. Set once, by the executor.
    struct Recording {
        std::function<gpu::Commands*()> commands, drain;
    };
    void set_recording(Recording recording) { recording_ = std::move(recording); }
    // Records the stores of everything drawn into storage that the guest's CPU can read. Behind the last pass of a
    // submission; the results belong in front of its fences.
    [[nodiscard]] std::vector<std::function<void()>> store_readable(gpu::Commands& commands);
    // Runs what is left of stores and downloads. The GPU's work before must be done.
    void finish_stores() { deferred_.run(); }
    [[nodiscard]] bool has_stores() const { return !deferred_.empty(); }
    // Whether the range has bytes that are not in guest memory yet, or not in the GPU's order.
    [[nodiscard]] bool is_unsettled(u64 address, u64 size) const;
    [[nodiscard]] bool is_unstored(u64 address, u64 size) const; // of those, what the GPU must wait for too
    [[nodiscard]] bool anything_unsettled() const { return !unstored_.empty() || !deferred_.empty(); }
    // Brings them there: submits and waits. The command buffer that is open then, or null.
    gpu::Commands* settle(u64 address, u64 size);
    // `layers` of the view are about to be overwritten: if that is all of the texture, what others drew into its bytes
    // need not be brought.
    void discard(Texture& texture, const stream::ViewDescription& view, u32 layers);
    // Gives up images that nothing has used for a while and whose content is in guest memory, the longest unused first,
    // until the rest takes at most `budget` bytes. `gone` hears of each before.
    void shrink(u64 budget, const std::function<void(const Texture&)>& gone);
    // For downloads into guest memory that the CPU finishes.
    [[nodiscard]] std::function<void()> defer(u64 address, u64 size, std::function<void()> work) {
        return deferred_.add({address, size}, std::move(work));
    }
    // Storage in the range was written past the images, by the CPU: they are read again.
    void storage_written(u64 address, u64 size);
    // The same by the GPU, in the open submission. `surely` not: it may have been, so content counts.
    void storage_written_by_gpu(u64 address, u64 size, bool surely = true);
    // Forgets what lies in the range: its pool is gone.
    void forget(u64 address, u64 size);

    struct Statistics {
        u64 images = 0, bytes = 0, uploads = 0, upload_bytes = 0, write_backs = 0, evicted = 0;
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
    [[nodiscard]] bool is_readable(const Texture& texture) const; // stored after each submission that wrote it
    [[nodiscard]] static GuestRange bytes_of(const Texture& texture, const WrittenPart& part);
    [[nodiscard]] Result<std::function<void()>> record_store(gpu::Commands& commands, Texture& texture);
    [[nodiscard]] std::vector<Texture*> unstored_with(std::vector<Texture*> first) const;
    [[nodiscard]] std::vector<std::function<void()>> store(gpu::Commands& commands, std::vector<Texture*> textures);
    void retire_gpu_writes();
    void drop_unstored(Texture& texture);
    void forget_aliases(Texture& texture);
    void drop(Texture& texture); // behind the queue's work
    [[nodiscard]] bool is_recoverable(const Texture& texture) const;
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
    std::vector<Texture*> unstored_;          // with parts in `unstored`
    DeferredWrites deferred_;
    struct GpuWrite {
        GuestRange range;
        u64 submission;
    };
    std::vector<GpuWrite> gpu_writes_; // past the images, by submissions that are not known to be done
    Recording recording_;
    u64 sequence_ = 0;
    Statistics statistics_;
};

// What can be read from a description's ID in the heap, and how an attachment or copy names a part of it.
[[nodiscard]] texture::Description texture_description(const stream::TextureDescription& d);
[[nodiscard]] u32 view_layers(const stream::ImageDescription& d); // array layers or, of 3D textures, 1

} // namespace heaviside::replay
