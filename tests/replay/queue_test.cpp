// Queues with windows: what waits for a display, and what does not; going to the background and coming back.
#include "program_fixture.h"

#include <atomic>
#include <future>
#include <thread>

namespace heaviside::replay {
namespace {

constexpr u64 second = 1'000'000'000;
constexpr stream::WindowId window = 3;

// A display that shows nothing until it is told to.
class Display : public ProgramTest {
protected:
    static constexpr u64 target_at = 0x40000, result = 0x1000, event = 0x2000;

    Options options() override {
        Options o;
        o.present = [this](gpu::Queue&, const Frame& f) {
            const std::lock_guard lock(mutex);
            frames.push_back(f);
        };
        return o;
    }
    void SetUp() override {
        ProgramTest::SetUp();
        if (HasFatalFailure())
            return;
        stream::WindowDescription description{};
        description.texture_count = 2;
        replay->window_created(window, description);
    }
    void present(u32 texture) {
        stream::Present p{};
        p.window = window;
        p.texture = texture;
        p.image = image(target_at + texture * 0x10000, "RGBA8", 16, 16);
        p.interval = 1;
        p.modes = {0, 1};
        replay->present(queue, p);
    }
    void report(Recorder& r, u32 value, u64 offset = result) const {
        stream::ReportValue v{};
        v.value = value;
        v.address = at(offset).value;
        r.add(v);
    }
    void submit_report(u32 value) {
        Recorder r;
        report(r, value);
        replay->submit(queue, {0, 1}, r.take());
    }
    std::size_t frame_count() {
        const std::lock_guard lock(mutex);
        return frames.size();
    }

    std::mutex mutex;
    std::vector<Frame> frames;
};

// OBJ-150: finish waits for the GPU alone, acquire for the display.
TEST_F(Display, FinishDoesNotWaitForItAndAcquireDoes) {
    present(0);
    present(1);
    for (u32 i = 1; i <= 100; ++i) {
        submit_report(i);
        replay->finish(queue); // comes back though neither picture was shown
        ASSERT_EQ(read<u32>(result), i);
    }
    EXPECT_EQ(frame_count(), 2u);
    std::atomic<bool> acquired = false;
    std::thread application([&] {
        EXPECT_TRUE(replay->acquire(window, 1, 5, 1));
        acquired = true;
    });
    {
        const std::lock_guard lock(mutex);
        frames[0].busy.reset(); // the other texture
    }
    submit_report(7);
    replay->finish(queue);
    EXPECT_FALSE(acquired);
    EXPECT_FALSE(replay->sync_reached(5, 1));
    {
        const std::lock_guard lock(mutex);
        frames[1].busy.reset();
    }
    application.join();
    EXPECT_TRUE(replay->sync_reached(5, 1));
    frames.clear();
    replay->window_destroyed(window);
}

// OBJ-133: presents stay in the order of their queue when work between them waits.
TEST_F(Display, PresentsBehindHeldWorkStayInOrder) {
    Recorder r;
    stream::WaitEvent w{};
    w.address = at(event).value;
    w.value = 1;
    r.add(w);
    report(r, 1);
    replay->submit(queue, {0, 1}, r.take());
    present(1);
    present(0);
    constexpr stream::QueueId other = 2;
    replay->queue_created(other, {});
    replay->finish(other); // behind the first queue's turn
    EXPECT_EQ(frame_count(), 0u);
    EXPECT_EQ(read<u32>(result), 0u);
    write(event, 1u);
    replay->event_signalled(at(event).value);
    replay->finish(queue);
    ASSERT_EQ(frame_count(), 2u);
    EXPECT_NE(frames[0].image, frames[1].image);
    const VkImage second_texture = frames[0].image;
    present(1);
    replay->finish(queue);
    ASSERT_EQ(frame_count(), 3u);
    EXPECT_EQ(frames[2].image, second_texture);
    frames.clear();
    replay->window_destroyed(window);
    replay->queue_destroyed(other);
}

// A frame that is still to be shown does not keep a window or the replay.
TEST_F(Display, FramesMayOutliveTheirWindowAndTheReplay) {
    present(0);
    replay->finish(queue);
    std::thread application([&] { (void)replay->acquire(window, 0, 5, 1); });
    replay->window_destroyed(window);
    application.join(); // the window is gone: acquire does not wait for its frame
    EXPECT_TRUE(replay->sync_reached(5, 1));
    replay->memory_pool_destroyed(at(0).value);
    replay.reset();
    frames.clear();
}

// --- Background ---

// OBJ-140: what prepares work goes on, and nothing of it reaches the GPU until the process is in the foreground again.
TEST_F(Display, SuspendDoesNotWaitForPreparation) {
    std::promise<void> started, go_on;
    std::thread preparing([&] {
        replay->run_on_replay_thread([&](gpu::Queue&) {
            started.set_value();
            go_on.get_future().wait();
        });
    });
    started.get_future().wait();
    Recorder r;
    report(r, 1);
    stream::FenceSync f{};
    f.sync = 9;
    f.value = 1;
    r.add(f);
    replay->submit(queue, {0, 1}, r.take());
    replay->suspend(); // returns while the replay thread is at work
    go_on.set_value();
    preparing.join();
    EXPECT_FALSE(replay->wait_sync(9, 1, 20'000'000));
    EXPECT_EQ(read<u32>(result), 0u);
    replay->resume();
    EXPECT_TRUE(replay->wait_sync(9, 1, 60 * second));
    EXPECT_EQ(read<u32>(result), 1u);
    replay->window_destroyed(window);
}

// OBJ-141: two threads submit and an event is released meanwhile: all of it happens once, afterwards.
TEST_F(Display, EverythingHappensOnceAfterResume) {
    constexpr stream::QueueId other = 2;
    replay->queue_created(other, {});
    Recorder waiting;
    stream::WaitEvent w{};
    w.address = at(event).value;
    w.value = 1;
    waiting.add(w);
    stream::SignalEvent add{};
    add.mode = 1;
    add.address = at(result).value;
    add.value = 100;
    waiting.add(add);
    replay->submit(queue, {0, 1}, waiting.take());
    for (int round = 0; round < 20; ++round) {
        replay->suspend();
        std::thread threads[2];
        for (u32 t = 0; t < 2; ++t)
            threads[t] = std::thread([&, t] {
                Recorder r;
                stream::SignalEvent s = add;
                s.value = 1;
                r.add(s);
                replay->submit(t ? other : queue, {0, 1}, r.take());
            });
        if (round == 0) {
            std::atomic_ref(*reinterpret_cast<u32*>(memory + event)).store(1);
            replay->event_signalled(at(event).value);
        }
        for (std::thread& t : threads)
            t.join();
        const u32 before = std::atomic_ref(*reinterpret_cast<u32*>(memory + result)).load();
        EXPECT_EQ(before, round ? 100u + 2 * static_cast<u32>(round) : 0u);
        replay->resume();
        replay->finish(queue);
        replay->finish(other);
        EXPECT_EQ(read<u32>(result), 100u + 2 * (static_cast<u32>(round) + 1));
    }
    replay->window_destroyed(window);
    replay->queue_destroyed(other);
}

TEST_F(Display, EndsWhileSuspended) {
    replay->window_destroyed(window);
    replay->suspend();
    submit_report(1);
    replay.reset();
    EXPECT_EQ(read<u32>(result), 1u);
}

} // namespace
} // namespace heaviside::replay
