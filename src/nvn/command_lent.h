// Memory that the library lends when an application's callback adds none (ledger OBJ-103, 104, 106, 113).
#pragma once

#include "base/bytes.h"

#include <atomic>
#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

namespace heaviside::nvn {

class LentMemory {
public:
    static constexpr u64 segment_bytes = 256 * 1024, small_segment_bytes = 4096, control_bytes = 64 * 1024;
    static constexpr u64 limit = u64{1} << 30; // all segments together

    // A segment for the recording; `owner` is what it has stored in the application's memory so far, the range whose
    // overwriting by another recording frees the segment. Recording 0: never freed. Empty if the limit is reached.
    [[nodiscard]] std::span<std::byte> take(u64 bytes, u64 recording, Bytes owner);
    // A block of control memory. It is lent again once every list with entries in it has been recorded over, and nobody
    // holds it. Empty if the limit is reached.
    [[nodiscard]] std::span<std::byte> take_control();
    // A list has entries in this lent block: its first piece and its handle. Lists whose first piece this one
    // overwrites are dead.
    void control_used(const void* block, Bytes first_piece, u64 handle);
    // No more entries are added to the block.
    void leave_control(const void* block);
    // A recording has stored records in the application's memory: frees the segments of others whose range it hits. If
    // the recording has segments itself, `stored` becomes part of their range. Costs one load while nothing is lent.
    // Recording 0: the memory is no longer the GPU's, which ends the lists in it (ledger GFX-064).
    void written(u64 recording, Bytes stored) {
        if (count_.load(std::memory_order_acquire) != 0) [[unlikely]]
            written_slowly(recording, stored);
    }
    // All of the bytes lie in one segment.
    [[nodiscard]] bool contains(u64 address, u64 size) const;
    [[nodiscard]] u64 total_bytes() const;

private:
    struct Segment {
        std::unique_ptr<std::byte[]> memory;
        u64 size;
        u64 recording;
    };
    struct Owner {
        u64 recording, start, end;
    };
    struct ControlBlock {
        std::unique_ptr<std::byte[]> memory;
        u32 lists = 0; // that are alive
        bool held = true;
    };
    struct List {
        u64 end, handle;         // of the first piece
        std::vector<u32> blocks; // that its entries are in
    };
    void written_slowly(u64 recording, Bytes stored);

    mutable std::mutex mutex_;
    std::vector<Segment> segments_; // sorted by address
    std::vector<Segment> free_;
    std::vector<Owner> owners_;
    std::vector<ControlBlock> control_;
    std::map<u64, List> lists_; // by the start of the first piece; disjoint
    u64 total_ = 0;
    std::atomic<u32> count_ = 0; // segments that can be freed
};

// Of the process, as pools are.
[[nodiscard]] LentMemory& lent_memory();

} // namespace heaviside::nvn
