// Where the bytes of a texture in a virtual pool are, and which of them its image has.
//
// The storage is looked at in tiles of 64 KiB: what NVN maps sparse textures in, and for other textures the grain in
// which changes are found. A tile's content is known by its hash, so that a remap to pages that hold the same, or pages
// that come back, cost a look and no upload. Pages that are not mapped read 0 and drop stores.
//
// Belongs to the replay thread; stores that run elsewhere take a snapshot of the pieces and hand in what they did.
#pragma once

#include "base/hash.h"
#include "guest/memory.h"
#include "guest/page_table.h"
#include "guest/write_tracker.h"
#include "texture/layout.h"
#include "texture/tiling.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

namespace heaviside::replay {

// A part of a storage that is in one place. `data` null: not mapped, or its pool is gone.
struct StoragePiece {
    u64 offset = 0, size = 0; // in the storage
    std::byte* data = nullptr;
    [[nodiscard]] u64 end() const { return offset + size; }
    [[nodiscard]] u64 address() const { return reinterpret_cast<u64>(data); }
};

// In order, without gaps.
class StoragePieces {
public:
    StoragePieces() = default;
    StoragePieces(const guest::PageTable& table, const guest::Memory& memory, u64 address, u64 size);

    [[nodiscard]] const std::vector<StoragePiece>& all() const { return pieces_; }
    // Calls visit(piece) for the parts of [offset, offset + size), cut to it.
    template <class Visit>
    void visit(u64 offset, u64 size, Visit&& visit) const;
    void read(u64 offset, std::span<std::byte> out) const;
    // Stores the bytes of `after` that differ from `before`: those that nobody changed here may change meanwhile.
    void store(u64 offset, Bytes before, Bytes after) const;
    [[nodiscard]] bool is_mapped(u64 offset, u64 size) const; // all of it
    [[nodiscard]] bool has_mapped(u64 offset, u64 size) const;
    // Whether a part of [offset, offset + size) is inside a range of memory.
    [[nodiscard]] bool touches(u64 offset, u64 size, u64 address, u64 bytes) const;

    // As if the CPU had written there: whoever has these bytes compares them.
    void mark(guest::WriteTracker& tracker, u64 offset, u64 size) const;

private:
    std::vector<StoragePiece> pieces_;
};

class SparseStorage {
public:
    static constexpr u64 tile_bytes = texture::sparse_tile_bytes;
    SparseStorage(const texture::Layout& layout, bool sparse) : layout_(layout), is_sparse_(sparse) {
        tiles_.resize((layout.size + tile_bytes - 1) / tile_bytes);
    }

    // The mapping of [offset, offset + size) is another one now, or all of it is new.
    void relocate(std::shared_ptr<const StoragePieces> pieces, u64 offset, u64 size);
    [[nodiscard]] const std::shared_ptr<const StoragePieces>& pieces() const { return pieces_; }

    // Looks at what may have changed: at everything that the tracker does not vouch for, and what was marked. True if
    // some tiles differ from what the image has; they stay in changed() until accept().
    bool look(guest::WriteTracker* tracker);
    [[nodiscard]] const std::vector<u32>& changed() const { return changed_; }
    void accept() { changed_.clear(); }         // the image has them
    void image_is_new();                        // nothing in it
    void image_is_zero();                       // zeros everywhere
    void suspect(u64 offset, u64 size);         // may have changed past the tracker
    void suspect_memory(u64 address, u64 size); // the same of what is mapped to that memory
    void distrust(u64 offset, u64 size);        // the image has something else: to be uploaded whatever is there

    // First level from which everything down the chain is mapped; 0 if nothing is.
    [[nodiscard]] u32 first_mapped_level() const;

    // What a changed tile means for the image: blocks of one level in one layer, and the bytes that hold them.
    struct Part {
        u32 layer = 0, level = 0;
        texture::BlockRegion region{};
        u64 offset = 0, size = 0; // in the storage
        texture::Layout layout;   // of those bytes alone: layer 0, level `local_level`
        u32 local_level = 0;
        bool whole_level = true;
        texture::BlockRegion local{}; // the same blocks there
    };
    // Of sparse textures' tiled levels the tile alone, else whole levels, each once.
    [[nodiscard]] std::vector<Part> parts_of(const std::vector<u32>& tiles) const;
    [[nodiscard]] Part part_of_level(u32 layer, u32 level) const;

    // Tiles that were made from other levels: not compared until they are mapped anew.
    void filled(const std::vector<u32>& tiles);

    struct Tile {
        Hash128 hash{};
        bool known = false;  // `hash` is that of what the image has
        bool suspect = true; // to be compared
        bool filled = false;
    };
    // Drawn texels are stored behind the GPU, on any thread: what of a storage that changes.
    struct Stores {
        std::atomic<u32> pending = 0;
        std::mutex mutex;
        std::map<u32, Tile> done; // tiles as they are now; not known: the CPU wrote there before
    };
    class Store {
    public:
        Store(const SparseStorage& storage, std::span<const Part> parts); // replay thread; counts as pending
        void begin();                                                     // then the bytes may change
        void end();
        [[nodiscard]] const StoragePieces& pieces() const { return *pieces_; }

    private:
        std::shared_ptr<const StoragePieces> pieces_;
        std::shared_ptr<Stores> stores_;
        std::map<u32, Tile> tiles_;
        u64 size_;
    };
    [[nodiscard]] bool stores_pending() const { return stores_->pending.load(std::memory_order_acquire) != 0; }
    [[nodiscard]] u64 tile_size(u32 index) const;
    [[nodiscard]] u32 tile_count() const { return static_cast<u32>(tiles_.size()); }

private:
    void suspect_written(const guest::WriteTracker& tracker);
    void take_stores(); // takes note of what they did

    texture::Layout layout_;
    bool is_sparse_;
    std::shared_ptr<const StoragePieces> pieces_ = std::make_shared<StoragePieces>();
    std::vector<Tile> tiles_;
    std::vector<u32> changed_;
    bool any_suspect_ = true;
    u64 stamp_ = 0; // of the tracker, at the last look
    std::shared_ptr<Stores> stores_ = std::make_shared<Stores>();
};

template <class Visit>
void StoragePieces::visit(u64 offset, u64 size, Visit&& visit) const {
    const u64 end = offset + size;
    auto piece = std::upper_bound(pieces_.begin(), pieces_.end(), offset,
                                  [](u64 at, const StoragePiece& p) { return at < p.end(); });
    for (; piece != pieces_.end() && piece->offset < end; ++piece) {
        const u64 from = std::max(offset, piece->offset), to = std::min(end, piece->end());
        visit(StoragePiece{from, to - from, piece->data ? piece->data + (from - piece->offset) : nullptr});
    }
}

} // namespace heaviside::replay
