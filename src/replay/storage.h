// What the guest can find in a texture's storage, page by page, and what of it the image lacks.
//
// One thread at a time: the replay thread's while `pending` is 0, else of the thread that runs the stores.
#pragma once

#include "base/bytes.h"
#include "guest/write_tracker.h"

#include <atomic>
#include <vector>

namespace heaviside::replay {

struct GuestRange {
    u64 address = 0, size = 0;
    [[nodiscard]] bool touches(const GuestRange& o) const {
        return address < o.address + o.size && o.address < address + size;
    }
};

// Adds a place to a list of them; many become one that holds them all.
void announce(std::vector<GuestRange>& announced, GuestRange range);

class Storage {
public:
    explicit Storage(GuestRange range) : range_(range) {}
    std::atomic<u32> pending = 0;    // stores recorded and not yet in memory
    std::atomic<u32> overwrites = 0; // of all of the image: stores from before are older than it

    // Compares what may have changed with what was there when it was last looked at. `bytes` are all of the range; the
    // first look finds everything changed. Without a tracker every page is compared; with one, a page that is all the
    // texture's is only read once it was written: its first write needs no comparison to be one.
    void look(guest::WriteTracker* tracker, Bytes bytes);
    // The image has all that is there, or something newer.
    void accept(guest::WriteTracker* tracker, Bytes bytes);
    // The range (clipped to the storage) holds something that the image lacks, whatever it is; or it may.
    void force(GuestRange range);
    void suspect(GuestRange range) { suspects_.push_back(range); }
    // Bytes of the range that the image lacks have changed.
    [[nodiscard]] bool changed_in(GuestRange range) const;
    // What the GPU drew has been stored there. `image_has_it`: from this image.
    void stored(GuestRange range, Bytes bytes, bool tracked, bool image_has_it);
    [[nodiscard]] bool known() const { return !hashes_.empty(); }
    [[nodiscard]] bool changed() const { return changed_count_ != 0; }
    // Nothing changes there without the tracker's journal saying so.
    [[nodiscard]] bool quiet() const { return quiet_ && suspects_.empty(); }
    // Offsets into the storage, in order and merged; they no longer count as changed.
    [[nodiscard]] std::vector<GuestRange> take_changed();

private:
    [[nodiscard]] std::size_t chunk_of(u64 address) const;
    [[nodiscard]] GuestRange chunk(std::size_t index) const; // addresses
    template <class Visit>
    void visit(GuestRange range, Visit&& visit) const;
    void set_changed(std::size_t chunk);
    void allocate();

    GuestRange range_;
    u64 stamp_ = 0;
    bool quiet_ = false;
    static constexpr u64 unknown = 0;
    std::vector<u64> hashes_; // of each page's part of the storage, or unknown
    std::vector<bool> changed_;
    std::size_t changed_count_ = 0;
    std::vector<GuestRange> suspects_;
};

} // namespace heaviside::replay
