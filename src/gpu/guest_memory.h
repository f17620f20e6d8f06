// Guest memory as the GPU sees it: guest address -> buffer range and device address.
//
// A range of guest::Memory is imported (VK_EXT_external_memory_host) in pieces of at most 1 GiB, each when it is
// first needed; the GPU then reads and writes the guest's own bytes. Where importing is impossible (no extension, the
// driver refuses, memory that is not page aligned) a piece is a mirror: a buffer of ours that flush_to_gpu() and
// publish_to_guest() copy. Callers treat both alike: they call the two functions always, and on imports both are free.
//
// One thread (the replay's), except where said.
#pragma once

#include "gpu/memory.h"
#include "guest/memory.h"
#include "guest/page_table.h"
#include "guest/write_tracker.h"

#include <map>
#include <optional>

namespace heaviside::gpu {

class Commands;
class Queue;

class GuestMemory {
public:
    static constexpr u64 largest_piece = u64{1} << 30; // larger imports fail on some drivers

    // `tracker` may be null. All references must outlive this. `piece_size`: a multiple of the page size.
    GuestMemory(const Device& device, Queue& queue, guest::Memory& memory, guest::WriteTracker* tracker,
                u64 piece_size = largest_piece);
    ~GuestMemory(); // the queue must be idle

    // A range that the guest registered, wholly inside one registration, as a range of a buffer (`mapped` points at the
    // guest's bytes). A range of a virtual pool that is mapped in one piece is that of its physical pool. Makes the
    // import on the first call for a piece (37 us to 100 ms on NVIDIA). Errors: in no range (named), no memory, a
    // virtual range in several pieces or not mapped.
    [[nodiscard]] Result<BufferSlice> resolve(GuestAddress address, u64 size);
    // For a range whose length nobody knows: from the address to the end of its piece, or 64 MiB where that is nearer
    // than the pool's end.
    [[nodiscard]] Result<BufferSlice> resolve_open_ended(GuestAddress address);
    static constexpr u64 open_ended = u64{64} << 20;

    // Mirrors: brings CPU writes since the last call to the GPU. Before a submission that reads the range.
    void flush_to_gpu(GuestAddress address, u64 size);
    // Mirrors: brings GPU writes to the guest's bytes. After the submission that wrote them has completed.
    void publish_to_guest(GuestAddress address, u64 size);

    // Drops what no longer belongs to a registered range (behind the queue's work). Call once per submission; costs one
    // atomic load while the table of ranges is unchanged.
    void update();
    // The pages behind the range were remapped: its pieces are imported again (NVIDIA keeps the old pages otherwise).
    void remapped(GuestAddress address, u64 size);

    // Virtual pools. The table follows the stream: what is mapped before a submission is executed holds for all of it,
    // and work that the GPU still does keeps what it was given.
    Result<void> add_virtual(GuestAddress start, u64 size) { return table_.add(start.value, size); }
    void remove_virtual(GuestAddress start) { table_.remove(start.value); }
    Result<void> map_virtual(const guest::MappedPart& part) { return table_.map(part); }
    [[nodiscard]] const guest::PageTable& page_table() const { return table_; }
    [[nodiscard]] bool is_virtual(GuestAddress address) const {
        return !table_.empty() && table_.find(address.value).has_value();
    }
    // The same byte's address in a physical pool: the address itself if it is in none that is virtual, 0 if its page is
    // not mapped. A range that starts there may go on elsewhere.
    [[nodiscard]] GuestAddress physical(GuestAddress address) const;

    // Buffer with shader::MemoryMap and its ranges, for DescriptorHeap::set_memory_map. Imports every range. With
    // `commands` (nothing recorded yet) a new state of the map is written by them, behind the work that reads the old
    // one; `changed` of the result is true only if the buffer is another one. A buffer that has become too small waits
    // for the GPU first.
    struct Map {
        BufferSlice slice;
        bool changed = false;
    };
    [[nodiscard]] Result<Map> memory_map(Commands* commands = nullptr);

    struct Statistics {
        u64 imported_bytes = 0, mirrored_bytes = 0;
        u32 pieces = 0, failed_imports = 0, map_waits = 0;
    };
    [[nodiscard]] Statistics statistics() const;

private:
    struct Piece;
    [[nodiscard]] Result<Piece*> piece_for(const guest::Range& range, GuestAddress address, u64 size);
    [[nodiscard]] Result<std::unique_ptr<Piece>> make_piece(const guest::Range& range, u64 start, u64 size);
    [[nodiscard]] Result<void> import(Piece& piece);
    template <class Visit>
    void for_each_mirror(GuestAddress address, u64 size, Visit&& visit);
    template <class Predicate>
    void drop_if(Predicate&& predicate);
    [[nodiscard]] std::vector<std::byte> map_bytes(); // the table that shaders read

    const Device* device_;
    Queue* queue_;
    guest::Memory* memory_;
    guest::WriteTracker* tracker_;
    u64 piece_size_ = 0;
    std::map<u64, std::unique_ptr<Piece>> pieces_;   // by start address: the regular grid of each range
    std::vector<std::unique_ptr<Piece>> straddling_; // made for ranges that cross the grid
    Piece* last_ = nullptr;                          // most lookups hit the piece of the one before
    u64 version_ = 0;                                // of the memory's table when pieces_ was last compared with it
    u64 pieces_version_ = 1, map_version_ = 0;
    u64 map_memory_version_ = ~u64{0};
    guest::PageTable table_;
    u64 map_table_version_ = 0;
    Buffer map_;
    u32 failed_imports_ = 0, map_waits_ = 0;
};

} // namespace heaviside::gpu
