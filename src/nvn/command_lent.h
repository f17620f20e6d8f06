// Memory that the library lends when an application's callback adds none (ledger OBJ-103, 104, 106, 113).
#pragma once

#include "base/bytes.h"

#include <atomic>
#include <cstddef>
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
    // Control memory, lent for good. Empty if the limit is reached.
    [[nodiscard]] std::span<std::byte> take_control();
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
    void written_slowly(u64 recording, Bytes stored);

    mutable std::mutex mutex_;
    std::vector<Segment> segments_; // sorted by address
    std::vector<Segment> free_;
    std::vector<Owner> owners_;
    std::vector<std::unique_ptr<std::byte[]>> control_;
    u64 total_ = 0;
    std::atomic<u32> count_ = 0; // segments that can be freed
};

// Of the process, as pools are.
[[nodiscard]] LentMemory& lent_memory();

} // namespace heaviside::nvn
