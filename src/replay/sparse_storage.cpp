#include "replay/sparse_storage.h"

#include <algorithm>
#include <cstring>

namespace heaviside::replay {

StoragePieces::StoragePieces(const guest::PageTable& table, const guest::Memory& memory, u64 address, u64 size) {
    const auto add = [this](u64 offset, u64 bytes, u64 physical) {
        auto* const data = reinterpret_cast<std::byte*>(physical);
        if (!pieces_.empty()) {
            StoragePiece& last = pieces_.back();
            const bool continues = data ? last.data && last.data + last.size == data : !last.data;
            if (continues) {
                last.size += bytes;
                return;
            }
        }
        pieces_.push_back({offset, bytes, data});
    };
    // A pool's end cuts the storage off.
    const auto pool = table.find(address);
    const u64 inside = pool ? std::min(size, pool->start + pool->size - address) : 0;
    table.visit(address, inside, [&](const guest::MappedPart& part) {
        const u64 offset = part.address - address;
        if (!part.physical) {
            add(offset, part.size, 0);
            return;
        }
        for (u64 done = 0; done < part.size;) { // adjacent pools are separate ranges
            const auto range = memory.find(GuestAddress{part.physical + done});
            const u64 bytes =
                range ? std::min(part.size - done, range->end().value - (part.physical + done)) : part.size - done;
            add(offset + done, bytes, range ? part.physical + done : 0);
            done += bytes;
        }
    });
    if (inside < size)
        add(inside, size - inside, 0);
}

void StoragePieces::read(u64 offset, std::span<std::byte> out) const {
    visit(offset, out.size(), [&](const StoragePiece& p) {
        std::byte* const to = out.data() + (p.offset - offset);
        if (p.data)
            std::memcpy(to, p.data, p.size);
        else
            std::memset(to, 0, p.size);
    });
}

void StoragePieces::store(u64 offset, Bytes before, Bytes after) const {
    visit(offset, after.size(), [&](const StoragePiece& p) {
        if (!p.data)
            return;
        const std::byte* const old = before.data() + (p.offset - offset);
        const std::byte* const now = after.data() + (p.offset - offset);
        for (u64 i = 0; i < p.size;) {
            if (old[i] == now[i]) {
                ++i;
                continue;
            }
            u64 end = i + 1;
            while (end < p.size && old[end] != now[end])
                ++end;
            std::memcpy(p.data + i, now + i, end - i);
            i = end;
        }
    });
}

bool StoragePieces::is_mapped(u64 offset, u64 size) const {
    bool all = true;
    visit(offset, size, [&all](const StoragePiece& p) { all &= p.data != nullptr; });
    return all && !pieces_.empty();
}

bool StoragePieces::has_mapped(u64 offset, u64 size) const {
    bool some = false;
    visit(offset, size, [&some](const StoragePiece& p) { some |= p.data != nullptr; });
    return some;
}

bool StoragePieces::touches(u64 offset, u64 size, u64 address, u64 bytes) const {
    bool found = false;
    visit(offset, size, [&](const StoragePiece& p) {
        found |= p.data && p.address() < address + bytes && address < p.address() + p.size;
    });
    return found;
}

void StoragePieces::mark(guest::WriteTracker& tracker, u64 offset, u64 size) const {
    visit(offset, size, [&](const StoragePiece& p) {
        if (p.data)
            tracker.mark(GuestAddress{p.address()}, p.size);
    });
}

void SparseStorage::relocate(std::shared_ptr<const StoragePieces> pieces, u64 offset, u64 size) {
    pieces_ = std::move(pieces);
    suspect(offset, size);
}

u64 SparseStorage::tile_size(u32 index) const {
    return std::min(tile_bytes, layout_.size - index * tile_bytes);
}

void SparseStorage::suspect(u64 offset, u64 size) {
    if (size == 0 || offset >= layout_.size)
        return;
    const u64 last = std::min(offset + size, layout_.size) - 1;
    for (u64 i = offset / tile_bytes; i <= last / tile_bytes; ++i)
        tiles_[i].suspect = true;
    any_suspect_ = true;
}

void SparseStorage::suspect_memory(u64 address, u64 size) {
    for (const StoragePiece& p : pieces_->all()) {
        if (!p.data)
            continue;
        const u64 from = std::max(address, p.address()), to = std::min(address + size, p.address() + p.size);
        if (from < to)
            suspect(p.offset + (from - p.address()), to - from);
    }
}

void SparseStorage::distrust(u64 offset, u64 size) {
    suspect(offset, size);
    if (size == 0 || offset >= layout_.size)
        return;
    const u64 last = std::min(offset + size, layout_.size) - 1;
    for (u64 i = offset / tile_bytes; i <= last / tile_bytes; ++i)
        tiles_[i].known = false;
}

void SparseStorage::image_is_new() {
    changed_.clear();
    for (Tile& tile : tiles_)
        tile = {};
    any_suspect_ = true;
}

void SparseStorage::image_is_zero() {
    changed_.clear();
    const std::vector<std::byte> zeros(tile_bytes);
    const Hash128 whole = hash_bytes(zeros);
    for (u32 i = 0; i < tiles_.size(); ++i) {
        const u64 size = tile_size(i);
        tiles_[i] = {size == tile_bytes ? whole : hash_bytes(Bytes(zeros).first(size)), true, true, false};
    }
    any_suspect_ = true;
}

// The tiles with pages that were written since the last look.
void SparseStorage::suspect_written(const guest::WriteTracker& tracker) {
    for (const StoragePiece& p : pieces_->all()) {
        if (!p.data || !tracker.written_since(GuestAddress{p.address()}, p.size, stamp_))
            continue;
        for (const guest::PageRange& r : tracker.pages_written_since(GuestAddress{p.address()}, p.size, stamp_))
            suspect(p.offset + (r.start.value - p.address()), r.size);
    }
}

bool SparseStorage::look(guest::WriteTracker* tracker) {
    take_stores();
    if (tracker) {
        bool written = any_suspect_ || stamp_ == 0;
        for (const StoragePiece& p : pieces_->all())
            written = written || (p.data && tracker->written_since(GuestAddress{p.address()}, p.size, stamp_));
        if (!written)
            return !changed_.empty();
        // Protected before anything is read, so that a write in between shows next time; and before asking what was
        // written, so that the new stamp hides no write.
        u64 stamp = 0;
        for (const StoragePiece& p : pieces_->all())
            if (p.data)
                stamp = tracker->arm(GuestAddress{p.address()}, p.size);
        if (stamp_ != 0)
            suspect_written(*tracker);
        stamp_ = stamp ? stamp : stamp_;
    }
    std::vector<std::byte> bytes;
    for (u32 i = 0; i < tiles_.size(); ++i) {
        Tile& tile = tiles_[i];
        if (!tile.suspect && (tracker || tile.filled))
            continue;
        tile.suspect = tile.filled = false;
        bytes.resize(tile_size(i));
        pieces_->read(i * tile_bytes, bytes);
        const Hash128 hash = hash_bytes(bytes);
        if (tile.known && tile.hash == hash)
            continue;
        tile.hash = hash;
        tile.known = true;
        if (std::find(changed_.begin(), changed_.end(), i) == changed_.end())
            changed_.push_back(i);
    }
    any_suspect_ = false;
    std::sort(changed_.begin(), changed_.end());
    return !changed_.empty();
}

void SparseStorage::take_stores() {
    const std::lock_guard lock(stores_->mutex);
    for (const auto& [index, tile] : stores_->done) {
        tiles_[index] = tile;
        any_suspect_ |= tile.suspect;
    }
    stores_->done.clear();
}

SparseStorage::Store::Store(const SparseStorage& storage, std::span<const Part> parts)
    : pieces_(storage.pieces_), stores_(storage.stores_), size_(storage.layout_.size) {
    for (const Part& p : parts)
        for (u64 i = p.offset / tile_bytes; i * tile_bytes < p.offset + p.size && i < storage.tiles_.size(); ++i)
            tiles_[static_cast<u32>(i)] = storage.tiles_[i];
    stores_->pending.fetch_add(1, std::memory_order_relaxed);
}

static Hash128 tile_hash(const StoragePieces& pieces, u64 offset, u64 storage_size, std::vector<std::byte>& bytes) {
    bytes.resize(std::min(SparseStorage::tile_bytes, storage_size - offset));
    pieces.read(offset, bytes);
    return hash_bytes(bytes);
}

void SparseStorage::Store::begin() {
    std::vector<std::byte> bytes;
    for (auto& [index, tile] : tiles_)
        tile.known = tile.known && tile.hash == tile_hash(*pieces_, index * tile_bytes, size_, bytes);
}

void SparseStorage::Store::end() {
    std::vector<std::byte> bytes;
    {
        const std::lock_guard lock(stores_->mutex);
        for (const auto& [index, tile] : tiles_)
            stores_->done[index] = {tile_hash(*pieces_, index * tile_bytes, size_, bytes), tile.known, true, false};
    }
    stores_->pending.fetch_sub(1, std::memory_order_release);
}

void SparseStorage::filled(const std::vector<u32>& tiles) {
    for (const u32 i : tiles) {
        tiles_[i].known = false;
        tiles_[i].filled = true;
    }
}

u32 SparseStorage::first_mapped_level() const {
    u32 first = 0;
    for (const StoragePiece& p : pieces_->all()) {
        if (p.data)
            continue;
        for (u64 layer = p.offset / layout_.layer_stride; layer < layout_.layers; ++layer) {
            const u64 start = layer * layout_.layer_stride;
            if (start >= p.end())
                break;
            for (u32 level = 0; level < layout_.level_count; ++level) {
                const texture::Level& l = layout_.levels[level];
                if (start + l.offset < p.end() && p.offset < start + l.offset + l.size)
                    first = std::max(first, level + 1);
            }
        }
    }
    return first < layout_.level_count ? first : 0;
}

SparseStorage::Part SparseStorage::part_of_level(u32 layer, u32 level) const {
    const texture::Level& l = layout_.levels[level];
    Part p;
    p.layer = layer;
    p.level = p.local_level = level;
    p.region = p.local = texture::whole(l);
    p.offset = layer * layout_.layer_stride + l.offset;
    p.size = std::min(l.size, layout_.size - p.offset);
    p.layout = layout_;
    p.layout.layers = 1;
    p.layout.levels[level].offset = 0;
    p.layout.size = p.layout.layer_stride = l.size;
    return p;
}

std::vector<SparseStorage::Part> SparseStorage::parts_of(const std::vector<u32>& tiles) const {
    std::vector<Part> out;
    std::vector<std::pair<u32, u32>> whole_levels;
    for (const u32 index : tiles) {
        const u64 from = index * tile_bytes, to = from + tile_size(index);
        for (u64 layer = from / layout_.layer_stride; layer < layout_.layers && layer * layout_.layer_stride < to;
             ++layer) {
            const u64 start = layer * layout_.layer_stride;
            for (u32 level = 0; level < layout_.level_count; ++level) {
                const texture::Level& l = layout_.levels[level];
                const u64 begin = start + l.offset;
                if (begin >= to || begin + l.size <= from)
                    continue;
                if (!is_sparse_ || level >= layout_.tiled_levels) {
                    if (const std::pair key{static_cast<u32>(layer), level};
                        std::find(whole_levels.begin(), whole_levels.end(), key) == whole_levels.end()) {
                        whole_levels.push_back(key);
                        out.push_back(part_of_level(key.first, level));
                    }
                    continue;
                }
                // One block row of (128 >> (log2 height + log2 depth)) GOB columns (ledger OBJ-041).
                const u32 gobs = 128u >> (l.block_height_log2 + l.block_depth_log2);
                const u32 columns = gobs * texture::gob_width / layout_.block_bytes;
                const u32 rows = texture::gob_height << l.block_height_log2, slices = 1u << l.block_depth_log2;
                const u32 across = l.gobs_x / gobs, down = (l.blocks_y + rows - 1) / rows;
                const u64 number = (from - begin) / tile_bytes;
                Part p;
                p.layer = static_cast<u32>(layer);
                p.level = level;
                p.whole_level = false;
                p.region.x = static_cast<u32>(number % across) * columns;
                p.region.y = static_cast<u32>(number / across % down) * rows;
                p.region.z = static_cast<u32>(number / across / down) * slices;
                if (p.region.x >= l.blocks_x || p.region.y >= l.blocks_y || p.region.z >= l.depth)
                    continue; // padding
                p.region.width = std::min(columns, l.blocks_x - p.region.x);
                p.region.height = std::min(rows, l.blocks_y - p.region.y);
                p.region.depth = std::min(slices, l.depth - p.region.z);
                p.offset = from;
                p.size = tile_bytes;
                p.layout = layout_;
                p.layout.layers = p.layout.level_count = 1;
                p.layout.size = p.layout.layer_stride = tile_bytes;
                texture::Level& only = p.layout.levels[0];
                only = l;
                only.offset = 0;
                only.size = tile_bytes;
                only.gobs_x = gobs;
                only.blocks_x = columns;
                only.blocks_y = rows;
                only.row_bytes = columns * layout_.block_bytes;
                only.depth = slices;
                p.local = {0, 0, 0, p.region.width, p.region.height, p.region.depth};
                out.push_back(p);
            }
        }
    }
    return out;
}

} // namespace heaviside::replay
