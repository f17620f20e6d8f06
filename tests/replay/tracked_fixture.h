// A replay whose memory is watched by write tracking, as a runtime's is.
#pragma once

#include "guest/write_tracker.h"
#include "replay_fixture.h"

#include <memory>
#include <vector>

namespace heaviside::replay {

// Byte offset inside block-linear storage of one level: GOBs of 64 bytes x 8 rows in blocks of `block` GOBs upwards, in
// rows of `gobs` GOBs. Written from ledger OBJ-152, for textures of one slice.
inline u64 tiled(u32 x, u32 y, u32 gobs, u32 block) {
    const u64 gob_row = y / 8;
    const u64 gob = (gob_row / block * gobs + x / 64) * block + gob_row % block;
    return gob * 512 + (x % 64 / 32) * 256 + (y % 8 / 2) * 64 + (x % 32 / 16) * 32 + (y % 2) * 16 + x % 16;
}

template <class Base>
class Tracked : public Base {
protected:
    Options options() override {
        Options o = Base::options();
        EXPECT_TRUE(tracker.add(this->at(0), Base::pool_size));
        o.tracker = &tracker;
        auto made = guest::FaultHandler::install(tracker);
        EXPECT_TRUE(made);
        handler = std::make_unique<guest::FaultHandler>(std::move(*made));
        return o;
    }
    void TearDown() override {
        Base::TearDown();
        for (std::byte* pool : pools) {
            tracker.remove(GuestAddress{reinterpret_cast<u64>(pool)});
            std::free(pool);
        }
        handler.reset();
    }
    // Another pool. Its bytes are addressed by their distance from the first one's: at() and image() take it.
    u64 add_pool(u64 size, bool cpu_access = true, int fill = 0) {
        auto* const bytes = static_cast<std::byte*>(std::aligned_alloc(65536, size));
        std::memset(bytes, fill, size);
        pools.push_back(bytes);
        const GuestAddress start{reinterpret_cast<u64>(bytes)};
        EXPECT_TRUE(this->guest.add(start, size, cpu_access));
        EXPECT_TRUE(tracker.add(start, size));
        return start.value - this->at(0).value;
    }
    guest::WriteTracker tracker;
    std::unique_ptr<guest::FaultHandler> handler;
    std::vector<std::byte*> pools;
};

} // namespace heaviside::replay
