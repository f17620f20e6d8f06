// Guest memory as everyone right of the stream sees it: ranges of process memory that the guest gave to the GPU.
//
// Addresses are identities: a guest GPU address is the host address of the byte. A range is added when the guest makes
// a memory pool and removed when it finalises it. Lookups take no lock and never wait (a signal handler may do them);
// add() and remove() are serialised and cost a copy of the table.
#pragma once

#include "base/result.h"
#include "base/types.h"

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

namespace heaviside::guest {

class WriteTracker;

struct Range {
    GuestAddress start;
    u64 size = 0;           // bytes
    u64 serial = 0;         // of the registration; never reused, so a changed range at the same address shows
    bool cpu_access = true; // false: the guest asked for a pool that its CPU cannot map
    bool gpu_cached = false;
    [[nodiscard]] bool contains(GuestAddress a, u64 bytes) const {
        return a.value >= start.value && a.value - start.value <= size && size - (a.value - start.value) >= bytes;
    }
    [[nodiscard]] GuestAddress end() const { return start + size; }
};

class Memory {
public:
    Memory();
    ~Memory();
    Memory(const Memory&) = delete;
    Memory& operator=(const Memory&) = delete;

    // The bytes must stay mapped until remove() returns. Returns the serial. Errors: empty, wraps around, overlaps.
    Result<u64> add(GuestAddress start, u64 size, bool cpu_access = true);
    Result<void> remove(GuestAddress start);

    // The ranges that the CPU can write, those there now and later ones, are the tracker's too, until another takes its
    // place or nullptr does. It must outlive that.
    void set_tracker(WriteTracker* tracker);

    [[nodiscard]] std::optional<Range> find(GuestAddress address) const;
    // The bytes from `address` on, if all `size` of them lie in one range.
    [[nodiscard]] std::optional<std::span<std::byte>> bytes(GuestAddress address, u64 size) const;
    [[nodiscard]] std::vector<Range> ranges() const;                                       // sorted by address
    [[nodiscard]] u64 version() const { return version_.load(std::memory_order_acquire); } // changes with the table

private:
    struct Table {
        std::vector<Range> ranges;
    };
    void publish(std::unique_ptr<const Table> next); // with mutex_ held

    std::mutex mutex_;
    WriteTracker* tracker_ = nullptr;
    std::atomic<const Table*> current_;
    mutable std::atomic<u32> readers_ = 0;
    std::atomic<u64> version_ = 0;
    u64 next_serial_ = 1;
    std::vector<std::unique_ptr<const Table>> retired_; // until no reader can see them
};

} // namespace heaviside::guest
