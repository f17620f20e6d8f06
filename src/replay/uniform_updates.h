// nvnCommandBufferUpdateUniformBuffer: draws see the value current at their place in the stream, and the pass goes on.
//
// The bytes go to guest memory on the GPU. Inside a pass that must wait for its end; until then a draw that binds an
// updated range gets a version of it in the frame arena: guest memory with every update that the GPU has not yet made.
#pragma once

#include "gpu/commands.h"
#include "guest/memory.h"
#include "replay/guest_state.h"

#include <deque>
#include <optional>
#include <vector>

namespace heaviside::replay {

class UniformUpdates {
public:
    struct Update {
        u64 address = 0;
        gpu::BufferSlice bytes; // in the arena
        u64 submission = 0;
        u64 size() const { return bytes.size; }
    };

    void add(u64 address, const gpu::BufferSlice& bytes, u64 submission, bool deferred);
    // The word as the updates known leave it; nothing if none of them covers it.
    [[nodiscard]] std::optional<u32> word(u64 address) const;
    // Drops what the GPU has done.
    void retire(u64 completed);
    [[nodiscard]] bool has_deferred() const { return deferred_ != 0; }
    // The updates that are to be written now, oldest first; they stay known until retire().
    [[nodiscard]] std::vector<Update> take_deferred();
    // A version of the range if a deferred update touches it, made from `memory`; else nothing (null slice). Errors: no
    // memory.
    [[nodiscard]] Result<gpu::BufferSlice> version(const Range& range, const guest::Memory& memory, gpu::Arena& arena);

private:
    struct Version {
        Range range;
        u64 sequence;
        gpu::BufferSlice slice;
    };
    std::deque<Update> updates_; // recorded and not known to be done, in stream order
    std::size_t deferred_ = 0;   // the last this many wait for the pass's end
    u64 sequence_ = 0;
    std::vector<Version> versions_; // since the last take_deferred()
};

} // namespace heaviside::replay
