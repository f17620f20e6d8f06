// Streams go in as records, pixels come out in guest memory. Offsets in the pool: targets from 0x100000 on, results
// from 0x200000 on.
#include "replay_fixture.h"

namespace heaviside::replay {
namespace {

constexpr u64 target = 0x100000, second_target = 0x180000, result = 0x200000, source = 0x300000;

TEST_F(ReplayTest, ClearAndReadBack) {
    Recorder r;
    const auto color = image(target, "RGBA8", 16, 16);
    set_targets(r, std::span(&color, 1));
    r.add(clear(1, 0, 0.2f, 1));
    copy_out(r, color, result, 16, 16);
    run(r);
    EXPECT_EQ(read<u32>(result), 0xff3300ffu);
    EXPECT_EQ(read<u32>(result + 255 * 4), 0xff3300ffu);
    EXPECT_EQ(replay->statistics().clears, 1u);
}

TEST_F(ReplayTest, ClearsObeyTheScissorInMemoryRows) { // REN-090, REN-102: row 0 is memory row 0 in both origins
    for (const u8 origin : {u8{0}, u8{1}}) {
        Recorder r;
        const auto color = image(target + origin * 0x1000u, "RGBA8", 8, 8);
        set_targets(r, std::span(&color, 1));
        r.add(clear(0, 0, 0, 0));
        const stream::Scissor s[] = {{2, 0, 4, 1}};
        r.add(stream::SetScissors{{}, 0, 1}, std::span<const stream::Scissor>(s));
        r.add(clear(1, 1, 1, 1));
        copy_out(r, color, result, 8, 8);
        run(r, {origin, 1});
        for (u32 y = 0; y < 8; ++y)
            for (u32 x = 0; x < 8; ++x)
                EXPECT_EQ(read<u32>(result + (y * 8 + x) * 4), y == 0 && x >= 2 && x < 6 ? ~0u : 0u)
                    << x << "," << y << " origin " << int{origin};
    }
}

TEST_F(ReplayTest, PartialChannelMasksKeepTheOtherChannels) { // REN-092
    Recorder r;
    const auto color = image(target, "RGBA8", 4, 4);
    set_targets(r, std::span(&color, 1));
    r.add(clear(1, 0, 0, 1));
    r.add(clear(0, 1, 1, 0, 2)); // green only
    copy_out(r, color, result, 4, 4);
    run(r);
    EXPECT_EQ(read<u32>(result), 0xff00ffffu);
}

TEST_F(ReplayTest, IntegerClearsAreExact) { // REN-096: above 2^24
    Recorder r;
    const auto color = image(target, "RGBA32UI", 4, 4);
    set_targets(r, std::span(&color, 1));
    stream::ClearColor c{};
    c.value_class = stream::ClearClass::Uint;
    c.mask = 0xf;
    c.value[0] = 0x01000001, c.value[1] = 0xffffffff, c.value[2] = 7, c.value[3] = 0;
    r.add(c);
    c.mask = 4; // and through the drawn path
    c.value[2] = 0x7fffffff;
    r.add(c);
    copy_out(r, color, result, 4, 4);
    run(r);
    EXPECT_EQ(read<u32>(result), 0x01000001u);
    EXPECT_EQ(read<u32>(result + 4), 0xffffffffu);
    EXPECT_EQ(read<u32>(result + 8), 0x7fffffffu);
    EXPECT_EQ(read<u32>(result + 12), 0u);
}

TEST_F(ReplayTest, StencilClearsObeyTheMask) { // REN-093
    Recorder r;
    const auto color = image(target, "RGBA8", 4, 4);
    const auto depth = image(second_target, "DEPTH32F", 4, 4);
    set_targets(r, std::span(&color, 1), &depth);
    stream::ClearDepthStencil c{};
    c.depth = 0.25f;
    c.depth_mask = 1;
    r.add(c);
    copy_out(r, depth, result, 4, 4);
    run(r);
    EXPECT_EQ(read<f32>(result), 0.25f);

    Recorder s;
    const auto stencil = image(second_target + 0x10000, "STENCIL8", 4, 4);
    set_targets(s, std::span(&color, 1), &stencil);
    c = {};
    c.stencil_mask = 0xff;
    c.stencil = 0xa5;
    s.add(c);
    c.stencil_mask = 0x0f;
    c.stencil = 0xff;
    s.add(c);
    copy_out(s, stencil, result, 4, 4);
    run(s);
    EXPECT_EQ(read<u8>(result), 0xafu);
}

TEST_F(ReplayTest, NewTargetsReadZero) { // REN-005, REN-006
    Recorder r;
    const auto color = image(target, "RGBA16F", 8, 8);
    std::memset(memory + result, 0xee, 1024);
    copy_out(r, color, result, 8, 8);
    run(r);
    EXPECT_EQ(read<u64>(result), 0u);
}

TEST_F(ReplayTest, StorageIsTheTexturesContent) {
    // 16 x 4 RGBA8 is one GOB: texel x of row y lies at the byte that ledger OBJ-152 gives.
    const auto offset = [](u32 x, u32 y) {
        return (x % 64 / 32) * 256 + (y % 8 / 2) * 64 + (x % 32 / 16) * 32 + (y % 2) * 16 + x % 16;
    };
    for (u32 y = 0; y < 4; ++y)
        for (u32 x = 0; x < 16; ++x) {
            const u32 texel = y << 8 | x;
            std::memcpy(memory + target + offset(x * 4, y), &texel, 4);
        }
    Recorder r;
    const auto texture = image(target, "R32UI", 16, 4);
    copy_out(r, texture, result, 16, 4);
    run(r);
    for (u32 y = 0; y < 4; ++y)
        for (u32 x = 0; x < 16; ++x)
            EXPECT_EQ(read<u32>(result + (y * 16 + x) * 4), y << 8 | x);
    // A later CPU write is seen at the next use.
    const u32 changed = 0xabcdef;
    std::memcpy(memory + target + offset(4, 1), &changed, 4);
    Recorder again;
    copy_out(again, texture, result, 16, 4);
    run(again);
    EXPECT_EQ(read<u32>(result + (16 + 1) * 4), changed);
}

TEST_F(ReplayTest, CopiesKeepStridesAndRegions) { // OBJ-247
    for (u32 i = 0; i < 64; ++i)
        std::memcpy(memory + source + i * 4, &i, 4);
    Recorder r;
    const auto texture = image(target, "R32UI", 8, 8);
    stream::CopyBufferToTexture in{};
    in.buffer = at(source).value;
    in.region = {2, 3, 0, 4, 2, 1};
    in.image = texture;
    const stream::CopyStrides strides[] = {{32, 0}}; // rows of eight texels, four of them used
    r.add(in, std::span<const stream::CopyStrides>(strides));
    copy_out(r, texture, result, 8, 8);
    run(r);
    EXPECT_EQ(read<u32>(result + (3 * 8 + 2) * 4), 0u);
    EXPECT_EQ(read<u32>(result + (3 * 8 + 5) * 4), 3u);
    EXPECT_EQ(read<u32>(result + (4 * 8 + 2) * 4), 8u);
    EXPECT_EQ(read<u32>(result + (4 * 8 + 5) * 4), 11u);
    EXPECT_EQ(read<u32>(result + (5 * 8 + 2) * 4), 0u);
}

TEST_F(ReplayTest, BufferCopiesFillsAndUniformUpdatesLandInOrder) { // REN-185
    Recorder r;
    stream::ClearBuffer fill{};
    fill.address = at(source).value;
    fill.size = 64;
    fill.value = 0x11111111;
    r.add(fill);
    stream::UpdateUniformBuffer update{};
    update.address = at(source).value;
    update.buffer_size = 256;
    update.offset = 8;
    update.size = 4;
    const u32 first[] = {0x22222222};
    r.add(update, std::span<const u32>(first));
    stream::CopyBufferToBuffer copy{};
    copy.source = at(source).value;
    copy.dest = at(result).value;
    copy.size = 16;
    r.add(copy);
    const u32 later[] = {0x33333333};
    r.add(update, std::span<const u32>(later));
    run(r);
    EXPECT_EQ(read<u32>(result), 0x11111111u);
    EXPECT_EQ(read<u32>(result + 8), 0x22222222u);
    EXPECT_EQ(read<u32>(source + 8), 0x33333333u);
}

TEST_F(ReplayTest, FencesSignalWhenWorkIsInMemory) {
    Recorder r;
    const auto color = image(target, "RGBA8", 4, 4);
    set_targets(r, std::span(&color, 1));
    r.add(clear(1, 1, 1, 1));
    copy_out(r, color, result, 4, 4);
    stream::FenceSync fence{};
    fence.sync = 7;
    fence.value = 1;
    r.add(fence);
    EXPECT_FALSE(replay->sync_reached(7, 1));
    replay->submit(queue, {0, 1}, r.take());
    ASSERT_TRUE(replay->wait_sync(7, 1, 5'000'000'000));
    EXPECT_EQ(read<u32>(result), ~0u);
}

TEST_F(ReplayTest, AWaitStopsItsQueueOnly) { // OBJ-124
    constexpr stream::QueueId other = 2;
    replay->queue_created(other, {});
    Recorder waiting;
    stream::WaitSync wait{};
    wait.sync = 9;
    wait.value = 1;
    waiting.add(wait);
    stream::ClearBuffer fill{};
    fill.address = at(result).value;
    fill.size = 4;
    fill.value = 5;
    waiting.add(fill);
    replay->submit(queue, {0, 1}, waiting.take());

    Recorder first;
    fill.address = at(result + 16).value;
    first.add(fill);
    replay->submit(other, {0, 1}, first.take());
    replay->finish(other);
    EXPECT_EQ(read<u32>(result), 0u);
    EXPECT_EQ(read<u32>(result + 16), 5u);

    Recorder release;
    stream::FenceSync fence{};
    fence.sync = 9;
    fence.value = 1;
    release.add(fence);
    replay->submit(other, {0, 1}, release.take());
    replay->finish(queue);
    EXPECT_EQ(read<u32>(result), 5u);
    replay->queue_destroyed(other);
}

TEST_F(ReplayTest, MemoryReadStoresWhatTheGpuDrew) {
    Recorder r;
    const auto color = image(target, "RGBA8", 16, 8);
    set_targets(r, std::span(&color, 1));
    r.add(clear(0, 1, 0, 1));
    run(r);
    replay->memory_read(at(target).value, 512);
    EXPECT_EQ(read<u32>(target), 0xff00ff00u); // one GOB, all of it the clear's colour
    EXPECT_EQ(read<u32>(target + 508), 0xff00ff00u);
}

TEST_F(ReplayTest, ScaledAndMirroredTextureCopies) { // REN-199
    for (u32 i = 0; i < 4; ++i)
        std::memcpy(memory + source + i * 4, &i, 4);
    Recorder r;
    const auto small = image(target, "R32UI", 2, 2), big = image(second_target, "R32UI", 4, 4);
    stream::CopyBufferToTexture in{};
    in.buffer = at(source).value;
    in.region = {0, 0, 0, 2, 2, 1};
    in.image = small;
    r.add(in, std::span<const stream::CopyStrides>());
    stream::CopyTextureToTexture copy{};
    copy.flags = 8; // mirror y
    copy.source = small;
    copy.source_region = {0, 0, 0, 2, 2, 1};
    copy.dest = big;
    copy.dest_region = {0, 0, 0, 4, 4, 1};
    r.add(copy);
    copy_out(r, big, result, 4, 4);
    run(r);
    EXPECT_EQ(read<u32>(result), 2u);
    EXPECT_EQ(read<u32>(result + 3 * 4), 3u);
    EXPECT_EQ(read<u32>(result + 15 * 4), 1u);
}

TEST_F(ReplayTest, OverlappingCopiesTakeWhatTheSourceHeld) { // the console's copy engine reads before it writes a line
    for (u32 i = 0; i < 64; ++i) {
        std::memcpy(memory + source + i * 4, &i, 4);
        std::memcpy(memory + source + 0x1000 + i * 4, &i, 4);
    }
    Recorder r;
    stream::CopyBufferToBuffer copy{};
    copy.source = at(source).value;
    copy.dest = at(source + 16).value;
    copy.size = 240;
    r.add(copy);
    const auto color = image(target, "R32UI", 8, 8);
    stream::CopyBufferToTexture in{};
    in.buffer = at(source + 0x1000).value;
    in.region = {0, 0, 0, 8, 8, 1};
    in.image = color;
    r.add(in);
    stream::CopyTextureToTexture move{};
    move.source = move.dest = color;
    move.source_region = {0, 0, 0, 7, 8, 1};
    move.dest_region = {1, 0, 0, 7, 8, 1};
    r.add(move);
    copy_out(r, color, result, 8, 8);
    run(r);
    for (u32 i = 0; i < 64; ++i) {
        EXPECT_EQ(read<u32>(source + i * 4), i < 4 ? i : i - 4) << i;
        EXPECT_EQ(read<u32>(result + i * 4), i % 8 ? i - 1 : i) << i;
    }
}

TEST_F(ReplayTest, TargetsThatCannotBeDrawnToAreSkipped) { // D10: drivers crash on them
    Recorder r;
    for (const char* name : {"DEPTH32F", "RGB9E5F", "RGBA_DXT1_SRGB"}) {
        const auto wrong = image(target + 0x10000, name, 16, 16);
        set_targets(r, std::span(&wrong, 1));
        r.add(clear(1, 1, 1, 1));
    }
    auto color = image(target, "RGBA8", 16, 16);
    color.view.layer_count = 4096; // of one
    set_targets(r, std::span(&color, 1));
    r.add(clear(1, 0, 0, 1));
    copy_out(r, color, result, 16, 16);
    run(r);
    EXPECT_EQ(read<u32>(result), 0xff0000ffu);
}

TEST_F(ReplayTest, BadAddressesAreSkipped) { // D10
    Recorder r;
    stream::CopyBufferToBuffer copy{};
    copy.source = 0x1000;
    copy.dest = at(result).value;
    copy.size = 64;
    r.add(copy);
    const auto color = image(target, "RGBA8", 4, 4);
    auto broken = color;
    broken.texture.format = 0xffff;
    copy_out(r, broken, result, 4, 4);
    set_targets(r, std::span(&color, 1));
    r.add(clear(1, 1, 1, 1));
    copy_out(r, color, result, 4, 4);
    run(r);
    EXPECT_EQ(read<u32>(result), ~0u);
}

class PresentTest : public ReplayTest {
protected:
    Options options() override {
        Options o;
        o.present = [this](gpu::Queue&, const Frame& f) {
            frames.push_back(f);
            frames.back().busy.reset(); // shown at once
        };
        return o;
    }
    std::vector<Frame> frames;
};

TEST_F(PresentTest, PresentsStayInOrderAndReleaseTheTexture) { // OBJ-133, REN-103, REN-106
    stream::WindowDescription window{};
    window.texture_count = 2;
    replay->window_created(3, window);
    stream::Present p{};
    p.window = 3;
    p.image = image(target, "RGBA8_SRGB", 64, 32);
    p.interval = 1;
    p.modes = {0, 1};
    replay->present(queue, p);
    p.texture = 1;
    p.crop_set = true;
    p.crop = {0, 0, 0, 32, 16, 1};
    p.modes = {1, 1};
    replay->present(queue, p);
    EXPECT_TRUE(replay->acquire(3, 1, 5, 1));
    EXPECT_TRUE(replay->sync_reached(5, 1));
    replay->finish(queue);
    ASSERT_EQ(frames.size(), 2u);
    EXPECT_TRUE(frames[0].flip_y);
    EXPECT_FALSE(frames[1].flip_y);
    EXPECT_EQ(frames[0].format, VK_FORMAT_R8G8B8A8_UNORM); // stored bytes (REN-069)
    EXPECT_EQ(frames[1].crop.extent.width, 32u);
    replay->window_destroyed(3);
}

} // namespace
} // namespace heaviside::replay
