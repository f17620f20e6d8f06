// The guest's texture and sampler pools and their mirror, the descriptor heap. An entry reaches the heap when a draw or
// dispatch is going to read it: images are made and filled then.
#pragma once

#include "gpu/descriptor_heap.h"
#include "replay/textures.h"
#include "stream/sink.h"

#include <optional>

namespace heaviside::replay {

class Pools {
public:
    Pools(const gpu::Device& device, gpu::Queue& queue, gpu::DescriptorHeap& heap, gpu::GuestMemory& gpu_memory,
          Textures& textures);

    void create_texture_pool(stream::PoolId pool, u32 capacity);
    void create_sampler_pool(stream::PoolId pool, u32 capacity);
    void destroy_texture_pool(stream::PoolId pool);
    void destroy_sampler_pool(stream::PoolId pool);
    void register_texture(stream::PoolId pool, u32 index, const stream::ImageDescription& image);
    void register_sampler(stream::PoolId pool, u32 index, const stream::SamplerDescription& sampler);
    // Streams that wait see entries as they were when they were submitted (ledger OBJ-134). From here on changes are
    // kept as made behind `streams` submissions; 0: no more, and those kept are dropped.
    void keep_changes(u64 streams);
    [[nodiscard]] bool has_changed_since(u64 stream) const {
        return !changes_.empty() && changes_.back().behind >= stream;
    }
    // Entries as they were for submission `stream`, and back. Neither is a change of its own.
    void rewind(u64 stream);
    void redo();
    // The heap mirrors one pool of each kind at a time. The queue must be idle if another one was mirrored before.
    [[nodiscard]] bool mirrors(stream::PoolId textures, stream::PoolId samplers) const;
    void select(stream::PoolId textures, stream::PoolId samplers);
    void forget(u64 address, u64 size); // a memory pool is gone
    void drop(const Texture& texture);  // its image is; entries make another when they are read
    // Its views are others now. The queue must be idle.
    void rewrite(const Texture& texture);

    // Of the selected pool. Null: nothing registered (reads give zero).
    [[nodiscard]] const stream::ImageDescription* image(u32 id) const;
    [[nodiscard]] shader::NumericClass numeric_class(u32 id) const; // of what a sample returns
    // Makes the entry's image and descriptors for what reads it through `dimension`; Textures::refresh() brings the
    // content. `texture` of the result is null for buffer textures and empty entries.
    struct Use {
        Texture* texture = nullptr;
        const stream::ImageDescription* image = nullptr;
    };
    Use use(u32 id, shader::Dimension dimension);
    [[nodiscard]] u32 capacity() const; // of the selected texture pool

private:
    struct Entry {
        stream::ImageDescription image{};
        bool set = false, in_heap = false, failed = false;
        u64 used = 0; // the last submission that may read it
        Texture* texture = nullptr;
        struct Seen { // through a dimension that has no view of the entry's own image
            shader::Dimension dimension{};
            stream::ImageDescription image{};
            Texture* texture = nullptr;
        };
        std::vector<Seen> seen;
        std::array<gpu::Owned<VkBufferView>, 2> buffer_views; // typed, raw
    };
    struct SamplerEntry {
        stream::SamplerDescription sampler{};
        bool set = false;
    };
    struct Change { // what an entry was
        u64 behind;
        stream::PoolId pool;
        u32 index;
        bool of_sampler, set;
        stream::ImageDescription image;
        stream::SamplerDescription sampler;
    };
    void keep(stream::PoolId pool, u32 index, bool of_sampler);
    void swap(Change& change);
    void drop_changes(stream::PoolId pool, bool of_sampler);
    void put(stream::PoolId pool, u32 index, const stream::ImageDescription& image, bool set);
    void put(stream::PoolId pool, u32 index, const SamplerEntry& entry);
    void retire_views(Entry& entry);
    [[nodiscard]] bool storable(VkFormat format) const; // as a texel buffer
    Result<gpu::Owned<VkBufferView>> make_buffer_view(const gpu::BufferSlice& slice, VkFormat format, u64 size);
    void write_image(u32 id, Entry& entry);
    // Into all bindings that a view of the image can be had for, or one of them.
    Result<void> write_views(u32 id, Texture& texture, const stream::ImageDescription& image,
                             std::optional<shader::Dimension> only = std::nullopt);
    Result<void> write_buffer(u32 id, Entry& entry);

    const gpu::Device* device_;
    gpu::Queue* queue_;
    gpu::DescriptorHeap* heap_;
    gpu::GuestMemory* gpu_memory_;
    Textures* textures_;
    std::unordered_map<stream::PoolId, std::vector<Entry>> texture_pools_;
    std::unordered_map<stream::PoolId, std::vector<SamplerEntry>> sampler_pools_;
    stream::PoolId selected_textures_ = 0, selected_samplers_ = 0;
    std::vector<Entry>* entries_ = nullptr; // of the selected pool
    u64 behind_ = 0;                        // submissions; 0: changes are not kept
    std::vector<Change> changes_;           // the oldest first
    std::size_t rewound_ = 0;               // changes that are undone, the last ones
};

} // namespace heaviside::replay
