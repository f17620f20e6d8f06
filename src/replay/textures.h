// Host images of guest textures: found by storage and description, filled from guest memory when the CPU has written
// there, written back when the CPU is going to read.
//
// The newest writer of a byte decides, page by page: what the CPU wrote is uploaded, what the GPU drew stays. Nothing
// else says whose a texture is: no flag, no format. CPU writes show by the write tracker where there is one, else by a
// hash of the storage once per submission that uses it. With a tracker, textures that nobody writes cost nothing: its
// journal names the pages that were written, and the textures over those are looked at.
//
// What the GPU draws into storage that the guest can read is stored there behind each submission, before its fences.
// Everything else (depth, compressible, window textures, pools without CPU access) is stored when something asks for
// the bytes: a buffer command or a texture of another description over the same storage, or the guest through the API.
#pragma once

#include "gpu/commands.h"
#include "gpu/guest_memory.h"
#include "gpu/kernels.h"
#include "replay/formats.h"
#include "replay/sparse_storage.h"
#include "replay/storage.h"
#include "stream/description.h"
#include "texture/layout.h"
#include "texture/tiling.h"

#include <atomic>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

namespace heaviside::replay {

struct ViewKey {
    VkImageViewType type = VK_IMAGE_VIEW_TYPE_2D;
    VkFormat format = VK_FORMAT_UNDEFINED;
    VkImageAspectFlags aspects = 0;
    u16 first_level = 0, levels = 1, first_layer = 0, layers = 1;
    u16 least_level = 0;         // samples see nothing finer; of the image, not the view
    std::array<u8, 4> mapping{}; // VkComponentSwizzle
    bool storage = false;        // needs storage usage
    friend bool operator==(const ViewKey&, const ViewKey&) = default;
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
    bool initialised = false;          // has defined content
    bool gpu_written = false;          // the content is the GPU's
    bool cpu_visible = true;           // the pool has CPU access
    bool stale = false;                // a texture of another description wrote the storage since
    u64 checked = 0;                   // submission that last compared with the storage
    bool written = true;               // the tracker's journal has a page of it that nothing has looked at since
    u64 journal = 0;                   // `lost_journals_` when last looked at
    u64 used = 0;                      // submission that last asked for it
    u64 recorded = 0;                  // submission that last recorded a command with it
    std::vector<GuestRange> announced; // where the guest said that it wrote, or the GPU wrote past the image
    std::vector<GuestRange> suspected; // where the GPU may have written past the image
    std::shared_ptr<Storage> storage;
    std::unique_ptr<SparseStorage> sparse; // in a virtual pool; null elsewhere
    u32 first_mapped_level = 0;            // and everything after it; 0 if nothing is
    bool refill = false;                   // what stands for unmapped levels is out of date
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
    [[nodiscard]] std::function<void()> add(std::vector<GuestRange> ranges, std::function<void()> work);
    // Runs what is left. The GPU's work before must be done.
    void run();
    [[nodiscard]] bool touches(GuestRange range) const;
    [[nodiscard]] bool empty() const { return jobs_.empty(); }

private:
    struct Job {
        std::mutex mutex;
        std::atomic<bool> done = false;
        std::vector<GuestRange> ranges;
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
    // The texture and view to read where a program reads `image` through `dimension`: the same, or, where no view of
    // its image can be had, another texture over the same storage (1D as 2D and back, every face of a cube from a 2D
    // texture, formats of another class).
    [[nodiscard]] stream::ImageDescription as_seen(const stream::ImageDescription& image,
                                                   shader::Dimension dimension) const;
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
    // Whether it has bytes that the CPU has still to store there. What the GPU wrote itself, GPU commands see in order.
    [[nodiscard]] bool is_unstored(u64 address, u64 size) const;
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
        return deferred_.add({GuestRange{address, size}}, std::move(work));
    }
    // Storage in the range was written past the images, by the CPU: they are read again.
    void storage_written(u64 address, u64 size);
    // The same by the GPU, in the open submission. `surely` not: it may have been, so content counts.
    void storage_written_by_gpu(u64 address, u64 size, bool surely = true);
    // Maps parts of virtual pools anew, behind what was recorded before: drawings in their textures are stored where
    // they were drawn. The textures whose first_mapped_level changed, whose views are to be made again.
    [[nodiscard]] std::vector<Texture*> remap(std::span<const guest::MappedPart> parts);
    // Forgets what lies in the range: its pool is gone.
    void forget(u64 address, u64 size);

    // De-tiling on the GPU, straight from imported memory, for large textures. Both outlive this.
    void use_kernels(gpu::ShaderLibrary& shaders) { shaders_ = &shaders; }

    struct Statistics {
        u64 images = 0, bytes = 0, uploads = 0, upload_bytes = 0, write_backs = 0, evicted = 0, looks = 0,
            gpu_uploads = 0, views = 0;
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
    [[nodiscard]] u32 format_class(u32 format) const; // formats of one class can be views of one image
    Result<std::unique_ptr<Texture>> make(const stream::TextureDescription& description);
    // What a sample reads at first is in the storage: not of multisampled textures (their storage has no layout) nor of
    // compressible ones that the CPU cannot have filled (ledger OBJ-171).
    [[nodiscard]] static bool has_content(const Texture& texture);
    void read_journal();
    Result<void> upload(gpu::Commands& commands, Texture& texture, Bytes storage);
    struct Copies; // from staging into an image, gathered
    Result<void> stage(Copies& copies, const Texture& texture, u32 level, u32 layer, const texture::BlockRegion& region,
                       Bytes rows, const texture::LinearPitch& pitch);
    // The same from storage.
    Result<void> stage_stored(Copies& copies, const Texture& texture, u32 level, u32 layer,
                              const texture::BlockRegion& region, Bytes storage);
    void record(gpu::Commands& commands, const Texture& texture, const Copies& copies);
    // All of a texture, from guest memory as the GPU sees it. False: it takes the other way.
    [[nodiscard]] bool upload_on_gpu(gpu::Commands& commands, const Texture& texture);
    void drop_parts(Texture& texture, const std::function<bool(const WrittenPart&)>& which); // of `unstored`
    void clear_to_zero(gpu::Commands& commands, Texture& texture);
    [[nodiscard]] VkCommandBuffer transfer_commands(gpu::Commands& commands, const Texture& texture) const;
    [[nodiscard]] bool is_readable(const Texture& texture) const; // stored after each submission that wrote it
    [[nodiscard]] static GuestRange bytes_of(const Texture& texture, const WrittenPart& part);
    [[nodiscard]] Result<std::function<void()>> record_store(gpu::Commands& commands, Texture& texture);
    [[nodiscard]] bool is_written_by_gpu(const GuestRange& range) const; // past the images, and perhaps not yet done
    [[nodiscard]] bool is_unsettled(const GuestRange& range) const;      // of memory
    [[nodiscard]] bool is_unstored(const GuestRange& range) const;       // of memory
    // sparse_textures.cpp: storage in virtual pools
    // The memory behind a range of a virtual pool; false: the range is memory itself.
    [[nodiscard]] bool in_virtual_pool(GuestRange range, std::vector<GuestRange>& parts) const;
    [[nodiscard]] static bool touches(const Texture& texture, const GuestRange& range); // of memory
    [[nodiscard]] static bool share_bytes(const Texture& texture, const GuestRange& own, const Texture& other);
    void attach_sparse(Texture& texture);
    void locate_sparse(Texture& texture, u64 offset, u64 size);
    void find_sparse_aliases(Texture& texture);
    [[nodiscard]] bool is_behind_others(const Texture& texture) const; // its memory waits for other work
    [[nodiscard]] bool needs_sparse_refresh(Texture& texture);
    Result<void> refresh_sparse(gpu::Commands& commands, Texture& texture);
    void fill_unmapped(gpu::Commands& commands, Texture& texture);
    void transfer_barrier(gpu::Commands& commands, const Texture& texture) const;
    void mark_sparse_written(Texture& texture, const WrittenPart& part);
    [[nodiscard]] Result<std::function<void()>> record_sparse_store(gpu::Commands& commands, Texture& texture);
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
    // By the pieces of address space that their storage touches.
    static constexpr u64 bucket_bytes = u64{1} << 20;
    std::unordered_map<u64, std::vector<Texture*>> buckets_;
    u64 journal_cursor_ = 0, lost_journals_ = 0;
    std::vector<guest::PageRange> written_pages_;
    std::vector<Texture*> unstored_; // with parts in `unstored`
    std::vector<Texture*> sparse_;   // in virtual pools
    DeferredWrites deferred_;
    struct GpuWrite {
        GuestRange range;
        u64 submission;
    };
    std::vector<GpuWrite> gpu_writes_; // past the images, by submissions that are not known to be done
    Recording recording_;
    gpu::ShaderLibrary* shaders_ = nullptr; // null: the CPU does it
    std::unique_ptr<gpu::Kernels> kernels_;
    u64 sequence_ = 0;
    Statistics statistics_;
};

// In TextureDescription::pad, here alone: a cube whose faces are all the one layer that is stored.
inline constexpr u16 same_faces = 1;

// What can be read from a description's ID in the heap, and how an attachment or copy names a part of it.
[[nodiscard]] texture::Description texture_description(const stream::TextureDescription& d);
[[nodiscard]] u32 view_layers(const stream::ImageDescription& d); // array layers or, of 3D textures, 1

} // namespace heaviside::replay
