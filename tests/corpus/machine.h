// What a case needs of NVN besides its own commands: the device and queue, which live as long as the program, and
// memory.
#pragma once

#include "tests/corpus/case.h"

#include <cstdlib>
#include <memory>

namespace corpus {

inline constexpr int first_id = 256; // IDs below are reserved in both pools

struct Machine {
    NVNdevice device;
    NVNqueue queue;
    std::unique_ptr<void, decltype(&std::free)> queue_memory{nullptr, &std::free};
    bool running = false;

    // Starts device and queue with the conventions of the references: origin upper left, clip z from 0.
    // False, with the reason in `error`, if there is no device.
    bool start(std::string& error);
    void stop();
};

// The one of this test program: creating it costs more than most cases. Running while tests do, unless there is no
// device.
Machine& the_machine();

// A memory pool with storage of its own that is handed out from front to back.
class Arena {
public:
    Arena(NVNdevice& device, std::size_t size, int flags);
    ~Arena();
    Arena(const Arena&) = delete;
    Arena& operator=(const Arena&) = delete;

    // Offset of `size` zeroed bytes. Throws std::runtime_error when the pool is full.
    std::ptrdiff_t take(std::size_t size, std::size_t alignment);
    // The same with contents.
    std::ptrdiff_t put(const Blob& data, std::size_t alignment);
    std::uint8_t* host(std::ptrdiff_t offset) { return static_cast<std::uint8_t*>(memory_.get()) + offset; }
    NVNbufferAddress address(std::ptrdiff_t offset) const {
        return nvnMemoryPoolGetBufferAddress(&pool) + static_cast<std::uint64_t>(offset);
    }
    NVNmemoryPool pool;

private:
    std::unique_ptr<void, decltype(&std::free)> memory_;
    std::size_t size_, used_ = 0;
};

} // namespace corpus
