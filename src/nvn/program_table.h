// The shaders behind NVNprogram objects: copies of their blobs, shared by content, kept outside the objects because
// those are too small (ledger OBJ-002).
#pragma once

#include "base/hash.h"
#include "program/program.h"
#include "stream/sink.h"

#include <deque>
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
    struct Acquired {
        std::shared_ptr<const ProgramContents> contents;
        u64 reference; // never reused
        bool created;  // the entry is new (to be announced)
    };
    // A reference to the entry with this content.
    [[nodiscard]] Acquired acquire(ProgramContents contents);
    // Gives a reference back; nothing if it was given back before. Returns the entry that is gone with it, or 0.
    [[nodiscard]] stream::ProgramId release(u64 reference);
    // The object that had the reference was set up anew without Finalize. Copies by value may still use the entry, so
    // the reference lives until abandoned_limit later ones have come. Returns the entry that is gone, or 0.
    [[nodiscard]] stream::ProgramId abandon(u64 reference);
    [[nodiscard]] std::shared_ptr<const ProgramContents> find(stream::ProgramId id) const;
    [[nodiscard]] std::size_t size() const;

private:
    struct Entry {
        std::shared_ptr<const ProgramContents> contents;
        u32 references = 0;
    };
    static constexpr std::size_t abandoned_limit = 1024;
    [[nodiscard]] stream::ProgramId release_locked(u64 reference);

    mutable std::mutex mutex_;
    std::unordered_map<u64, stream::ProgramId> references_;
    std::deque<u64> abandoned_;
    u64 next_reference_ = 1;
    std::unordered_map<stream::ProgramId, Entry> entries_;
    std::unordered_map<Hash128, stream::ProgramId> by_hash_;
    stream::ProgramId next_id_ = 1;
};

} // namespace heaviside::nvn
