// Memory pools that come and go under work. Ledger rows at each test.
#include "texture_fixture.h"

#include "gpu/commands.h"

#include <atomic>
#include <thread>

namespace heaviside::replay {
namespace {

class PoolCycles : public TextureReads {
protected:
    static constexpr u64 bytes = 0x20000, texels_at = 0, drawn_at = 0x10000;
    static constexpr stream::QueueId other = 2;
    static constexpr u32 id = 300, stored = 0x77777777;

    void SetUp() override {
        TextureReads::SetUp();
        if (HasFatalFailure())
            return;
        extra = static_cast<std::byte*>(std::aligned_alloc(0x10000, bytes));
        std::memset(extra, 0x77, bytes);
        replay->queue_created(other, {});
    }
    void TearDown() override {
        replay->queue_destroyed(other);
        TextureReads::TearDown();
        std::free(extra);
    }
    // The pool comes, is drawn to and read, and goes while nobody has waited for that.
    void cycle(int turn = 0) {
        const GuestAddress start{reinterpret_cast<u64>(extra)};
        const u64 offset = start.value - at(0).value;
        ASSERT_TRUE(guest.add(start, bytes));
        replay->memory_pool_created({start.value, bytes, 0, extra});
        put(id, image(offset + texels_at, "R32UI", 8, 8));
        const u32 width = 8 + static_cast<u32>(turn % 40); // not the texture of the pool before
        const auto target = image(offset + drawn_at, "RGBA8", width, 8);
        Recorder r;
        set_targets(r, std::span(&target, 1));
        r.add(clear(1, 1, 1, 1));
        copy_out(r, target, offset + drawn_at + 0x8000, 8, 8);
        replay->submit(other, {0, 1}, r.take());
        replay->memory_pool_destroyed(start.value);
        (void)guest.remove(start);
        std::uint32_t copied = 0;
        std::memcpy(&copied, extra + drawn_at + 0x8000, sizeof copied);
        ASSERT_EQ(copied, ~0u); // what was submitted before was done
        std::memset(extra + drawn_at, 0x77, 0x10000);
    }
    std::array<i64, static_cast<unsigned>(gpu::Object::Count)> alive() {
        replay->finish(queue);
        std::array<i64, static_cast<unsigned>(gpu::Object::Count)> counts{};
        replay->run_on_replay_thread([&](gpu::Queue& q) {
            q.collect();
            for (std::size_t i = 0; i < counts.size(); ++i)
                counts[i] = device->live[i].load();
        });
        return counts;
    }
    std::byte* extra = nullptr;
};

// OBJ-061, OBJ-063: as many objects after a thousand pools as after a few.
TEST_F(PoolCycles, LeaveNothing) {
    for (int i = 0; i < 5; ++i)
        cycle();
    const auto before = alive();
    const u64 textures = replay->statistics().textures;
    std::thread([&] { // a thread that never submits
        for (int i = 0; i < 1000 && !HasFatalFailure(); ++i)
            cycle(i);
    })
        .join();
    EXPECT_EQ(alive(), before);
    EXPECT_EQ(replay->statistics().textures, textures);
}

// OBJ-262, OBJ-094: who reads an ID of such a pool meanwhile sees its texture or nothing.
TEST_F(PoolCycles, ReadersSeeATextureOrNothing) {
    std::atomic<bool> done = false;
    std::thread owner([&] {
        for (int i = 0; i < 200 && !HasFatalFailure(); ++i)
            cycle(i);
        done = true;
    });
    int seen = 0, empty = 0;
    do {
        const Words words = look(fetch_2d, id, Words{3, 3, 0, 0});
        EXPECT_TRUE(words[0] == stored || words[0] == 0) << std::hex << words[0];
        ++(words[0] == stored ? seen : empty);
    } while (!done && seen + empty < 100000);
    owner.join();
    EXPECT_GT(empty, 0);
    EXPECT_EQ(look(fetch_2d, id, Words{3, 3, 0, 0}), Words{}); // the last one is gone
}

} // namespace
} // namespace heaviside::replay
