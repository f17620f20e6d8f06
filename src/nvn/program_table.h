// The shaders behind NVNprogram objects: copies of their blobs, shared by content, kept outside the objects because
// those are too small (ledger OBJ-002).
#pragma once

#include "base/hash.h"
#include "program/program.h"
#include "stream/sink.h"

#include <map>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

namespace heaviside::nvn {

struct StageContents {
    std::vector<std::byte> control, code;
    u64 code_address = 0;
    program::Stage stage{};
    Hash128 identity;
};

struct ProgramContents {
    stream::ProgramId id = 0;
    Hash128 hash;                     // of the stages' identities, in stage order
    u32 stages = 0;                   // NVNshaderStageBits
    std::vector<StageContents> parts; // in stage order
};

// Any thread.
class ProgramTable {
public:
    // A reference to the entry with this content; `created` tells that it is new (to be announced).
    [[nodiscard]] std::shared_ptr<const ProgramContents> acquire(ProgramContents contents, bool* created);
    // Gives a reference back. True: it was the last, the entry is gone.
    bool release(stream::ProgramId id);
    [[nodiscard]] std::shared_ptr<const ProgramContents> find(stream::ProgramId id) const;
    [[nodiscard]] std::size_t size() const;

private:
    struct Entry {
        std::shared_ptr<const ProgramContents> contents;
        u32 references = 0;
    };
    mutable std::mutex mutex_;
    std::unordered_map<stream::ProgramId, Entry> entries_;
    std::unordered_map<Hash128, stream::ProgramId> by_hash_;
    stream::ProgramId next_id_ = 1;
};

} // namespace heaviside::nvn
