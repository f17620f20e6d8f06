// What watching guest memory costs: a frame in which nobody writes, however many textures are watched, and the writes.
#include "guest/write_tracker.h"

#include <benchmark/benchmark.h>

#include <cstdlib>
#include <cstring>
#include <optional>
#include <vector>

namespace {

using namespace heaviside;

class Watched {
public:
    explicit Watched(u64 bytes) : bytes_(bytes), memory_(static_cast<std::byte*>(std::aligned_alloc(65536, bytes))) {
        std::memset(memory_, 1, bytes);
        (void)tracker.add(start(), bytes);
        if (auto installed = guest::FaultHandler::install(tracker); installed)
            handler_.emplace(std::move(*installed));
    }
    ~Watched() {
        tracker.remove(start());
        handler_.reset();
        std::free(memory_);
    }
    [[nodiscard]] GuestAddress start() const { return GuestAddress{reinterpret_cast<u64>(memory_)}; }
    [[nodiscard]] std::byte* bytes() const { return memory_; }
    guest::WriteTracker tracker;

private:
    u64 bytes_;
    std::byte* memory_;
    std::optional<guest::FaultHandler> handler_;
};

// What a submission asks when nothing was written: one look at the journal. The time does not grow with the textures.
void quiet_frame(benchmark::State& state) {
    const u64 textures = static_cast<u64>(state.range(0)), each = 64 << 10;
    Watched w(textures * each);
    for (u64 i = 0; i < textures; ++i)
        benchmark::DoNotOptimize(w.tracker.arm(w.start() + i * each, each));
    u64 cursor = 0;
    std::vector<guest::PageRange> written;
    (void)w.tracker.journal(cursor, written);
    for (auto _ : state) {
        written.clear();
        benchmark::DoNotOptimize(w.tracker.journal(cursor, written));
    }
}

void lone_write(benchmark::State& state) {
    constexpr u64 size = 4 << 20;
    Watched w(size);
    u64 page = 0;
    for (auto _ : state) {
        w.tracker.arm(w.start() + page * guest::page_size(), guest::page_size());
        w.bytes()[page * guest::page_size()] = std::byte{2};
        page = (page + 37) % (size / guest::page_size());
    }
}

BENCHMARK(quiet_frame)->Arg(10)->Arg(1000)->Arg(4000);
BENCHMARK(lone_write);

} // namespace
