// The shaders behind NVNprogram objects: copies of their blobs, shared by content, kept outside the objects because
// those are too small (ledger OBJ-002).
#pragma once

#include "base/hash.h"
#include "program/program.h"
#include "stream/sink.h"

#include <atomic>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
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
    // A reference to an entry of its own whose code is not all known: some of it lies in no memory pool yet (ledger
    // SHD-080).
    [[nodiscard]] Acquired acquire_late(ProgramContents contents);
    [[nodiscard]] bool has_late() const { return late_count_.load(std::memory_order_acquire) != 0; }
    // The ids of such entries. complete_late() gives one its contents, and returns them if it is there still; null: it
    // stays without.
    [[nodiscard]] std::vector<stream::ProgramId> late() const;
    std::shared_ptr<const ProgramContents> complete_late(stream::ProgramId id, std::optional<ProgramContents> contents);
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
        enum class Known : u8 { Shared, Own, Late } known = Known::Shared; // found by content, alone, not announced
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
    std::atomic<u32> late_count_ = 0;
};

// Reads the code of programs that had none in a memory pool when it was set, and tells the sink of those that have it
// now. Before a submission; any thread.
void announce_late_programs();

} // namespace heaviside::nvn
