// Capture files: everything a sink was told, with the guest memory that it needed, so that a frame can be drawn again
// without the guest.
//
// A file is a magic, then chunks {u32 kind, u32 checksum, u64 size, payload}. There is one kind for each function of
// stream::Sink that has an effect, its payload the arguments by value, and one for guest memory: before each
// submission, the pages that changed since they were written last. Memory keeps its addresses, since shaders and
// records name them: a capture is played in a process where those address ranges are free.
#pragma once

#include "base/result.h"
#include "stream/sink.h"

#include <filesystem>
#include <memory>

namespace heaviside::capture {

// A sink that writes what it is told to a file and passes it on. `next` outlives it. Any thread. A file that cannot be
// written any more is reported once, and capturing stops; what is passed on is not affected.
[[nodiscard]] Result<std::unique_ptr<stream::Sink>> record_to(const std::filesystem::path& path, stream::Sink& next);

struct PlayResult {
    u64 submissions = 0, presents = 0;
    bool truncated = false; // the file ends within a chunk: what came before was played
};
// Tells `sink` everything that the file holds, in order, and waits for its queues. Guest memory is mapped at its old
// addresses while this call lasts; pools that the file leaves open are closed at its end. Errors: no capture, another
// version, a damaged chunk (its offset), or an address range that is not free.
[[nodiscard]] Result<PlayResult> play(Bytes file, stream::Sink& sink);

} // namespace heaviside::capture
