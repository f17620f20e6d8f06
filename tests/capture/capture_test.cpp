// What goes into a capture comes out of it: the same calls with the same values, and guest memory at its addresses with
// the bytes that it had when the submission was made.
#include "capture/capture.h"
#include "stream/walk.h"

#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <iterator>
#include <sys/mman.h>

using namespace heaviside;
using namespace heaviside::stream;

namespace {

// Notes every call as one line. `watch` is an address whose word is noted at each submission.
class Notebook final : public Sink {
public:
    u64 watch = 0;
    std::vector<std::string> lines;

    void queue_created(QueueId queue, const QueueDescription& d) override {
        note("queue {} origin {} priority {}", queue, d.window_origin, d.priority);
    }
    void queue_destroyed(QueueId queue) override { note("queue {} gone", queue); }
    void submit(QueueId queue, const DeviceModes& modes, Buffer stream) override {
        u32 word = 0;
        if (watch)
            std::memcpy(&word, reinterpret_cast<const void*>(watch), 4);
        note("submit {} depth mode {} {} bytes, memory {:x}", queue, modes.depth_mode, stream.bytes().size(), word);
    }
    void flush(QueueId queue) override { note("flush {}", queue); }
    void finish(QueueId queue) override { note("finish {}", queue); }
    bool sync_reached(SyncId, u32) override { return true; }
    bool wait_sync(SyncId, u32, u64) override { return true; }
    void sync_destroyed(SyncId sync) override { note("sync {} gone", sync); }
    void event_signalled(u64 address) override { note("event {:x}", address); }
    void window_created(WindowId window, const WindowDescription& d) override {
        note("window {} of {} textures, {}x{}", window, d.texture_count, d.textures[0].texture.width,
             d.textures[0].texture.height);
    }
    void window_destroyed(WindowId window) override { note("window {} gone", window); }
    bool acquire(WindowId window, u32 index, SyncId sync, u32 value) override {
        note("acquire {} {} {} {}", window, index, sync, value);
        return true;
    }
    void present(QueueId queue, const Present& p) override { note("present {} {} {}", queue, p.window, p.texture); }
    void memory_pool_created(const MemoryPoolDescription& p) override { note("pool {:x} {:x}", p.address, p.size); }
    void memory_pool_destroyed(u64 address) override { note("pool {:x} gone", address); }
    void program_created(const ProgramDescription& p) override {
        note("program {} code {} control {}", p.id, p.stages[0].code.size(),
             static_cast<unsigned>(p.stages[0].control[1]));
    }
    void texture_registered(PoolId pool, u32 index, const ImageDescription& image, bool storage) override {
        note("texture {} {} width {} storage {}", pool, index, image.texture.width, storage);
    }
    void sampler_registered(PoolId pool, u32 index, const SamplerDescription& s) override {
        note("sampler {} {} bias {}", pool, index, s.lod_bias);
    }

private:
    template <class... Args>
    void note(fmt::format_string<Args...> format, Args&&... args) {
        lines.push_back(fmt::format(format, std::forward<Args>(args)...));
    }
};

std::vector<std::byte> contents(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    std::vector<char> text{std::istreambuf_iterator<char>(file), {}};
    std::vector<std::byte> bytes(text.size());
    std::memcpy(bytes.data(), text.data(), text.size());
    return bytes;
}

class Capture : public testing::Test {
protected:
    static constexpr u64 size = 5 * 4096;
    const std::filesystem::path path = testing::TempDir() + "heaviside_capture_test.hvc";
    u64 address = 0;
    Notebook live;

    // A program's life: one pool, two submissions between which the CPU changes a word on the pool's third page.
    void record() {
        void* const memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        ASSERT_NE(memory, MAP_FAILED);
        address = reinterpret_cast<u64>(memory);
        live.watch = address + 2 * 4096 + 12;
        {
            auto sink = capture::record_to(path, live);
            ASSERT_TRUE(sink) << sink.error().message;
            drive(**sink, memory);
        }
        munmap(memory, size);
    }
    void drive(Sink& sink, void* memory) const {
        const auto poke = [&](u32 value) { std::memcpy(static_cast<std::byte*>(memory) + 2 * 4096 + 12, &value, 4); };
        sink.queue_created(3, {1, 0, -2});
        sink.memory_pool_created({address, size, 0x22, memory});
        const std::vector<std::byte> code(0x140), control(0x30, std::byte{9});
        const ProgramStage stage{{}, control, address, code};
        sink.program_created({7, {&stage, 1}});
        ImageDescription image{};
        image.texture.width = 640;
        image.texture.height = 360;
        sink.texture_registered(1, 256, image, true);
        sink.sampler_registered(2, 257, {.lod_bias = 0.5f});
        WindowDescription window{.native_window = memory, .texture_count = 2};
        window.textures[0] = image;
        sink.window_created(5, window);
        EXPECT_TRUE(sink.acquire(5, 1, 11, 4));
        const auto pool = std::make_shared<BufferPool>();
        for (const u32 value : {0x1111u, 0x2222u}) {
            poke(value);
            sink.submit(3, {0, 1}, pool->take());
        }
        sink.event_signalled(address + 64);
        sink.present(3, {.window = 5, .texture = 1});
        sink.flush(3);
        sink.finish(3);
        sink.window_destroyed(5);
        sink.sync_destroyed(11);
        sink.memory_pool_destroyed(address);
        sink.queue_destroyed(3);
    }
    void TearDown() override { std::filesystem::remove(path); }
};

TEST_F(Capture, PlaysTheSameCallsOverTheSameMemory) {
    record();
    Notebook again;
    again.watch = live.watch;
    const auto result = capture::play(contents(path), again);
    ASSERT_TRUE(result) << result.error().message;
    EXPECT_EQ(again.lines, live.lines);
    EXPECT_EQ(result->submissions, 2u);
    EXPECT_EQ(result->presents, 1u);
    EXPECT_FALSE(result->truncated);
    // Both values were really seen, so the comparison above is no comparison of zeros.
    EXPECT_NE(live.lines[7].find("memory 1111"), std::string::npos) << live.lines[7];
    EXPECT_NE(live.lines[8].find("memory 2222"), std::string::npos) << live.lines[8];
}

TEST_F(Capture, OnlyPagesThatChangedAreWrittenAgain) {
    record();
    // 5 pages once and 1 page again, and little else.
    EXPECT_GT(std::filesystem::file_size(path), 6 * 4096u);
    EXPECT_LT(std::filesystem::file_size(path), 7 * 4096u);
}

TEST_F(Capture, ATruncatedFilePlaysUpToItsEnd) {
    record();
    const auto file = contents(path);
    for (std::size_t cut = 8; cut < file.size(); cut += 97) {
        Notebook again;
        const auto result = capture::play(Bytes(file).first(cut), again);
        ASSERT_TRUE(result) << cut << ": " << result.error().message;
        EXPECT_LE(again.lines.size(), live.lines.size() + 2); // and closes what was open
    }
}

TEST_F(Capture, DamageIsFoundAndNamed) {
    record();
    auto file = contents(path);
    file[8 + 16] ^= std::byte{1}; // first byte of the first payload
    Notebook again;
    const auto result = capture::play(file, again);
    ASSERT_FALSE(result);
    EXPECT_NE(result.error().message.find("0x8"), std::string::npos) << result.error().message;
    EXPECT_TRUE(again.lines.empty());
    EXPECT_FALSE(capture::play(Bytes(file).first(5), again));
    file[7] = std::byte{9};
    EXPECT_NE(capture::play(file, again).error().message.find("version 9"), std::string::npos);
}

TEST_F(Capture, AnOccupiedAddressIsAnError) {
    record();
    void* const block = mmap(reinterpret_cast<void*>(address), 4096, PROT_READ,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    ASSERT_EQ(reinterpret_cast<u64>(block), address);
    Notebook again;
    const auto result = capture::play(contents(path), again);
    munmap(block, 4096);
    ASSERT_FALSE(result);
    EXPECT_NE(result.error().message.find("guest memory"), std::string::npos);
}

} // namespace
