// The memory of submitted streams: buffers that are used again, so that a running program submits without allocating.
#pragma once

#include "base/bytes.h"

#include <memory>
#include <mutex>
#include <vector>

namespace heaviside::stream {

class Buffer;

// Any thread. Outlives its buffers through shared ownership.
class BufferPool : public std::enable_shared_from_this<BufferPool> {
public:
    // An empty buffer, with the capacity of one that was given back if there is any.
    [[nodiscard]] Buffer take();
    [[nodiscard]] std::size_t idle_count() const;

private:
    friend class Buffer;
    void give_back(std::vector<u32>&& words);

    mutable std::mutex mutex_;
    std::vector<std::vector<u32>> idle_;
};

// A stream of records: written by one owner, then handed on and never changed. Move only; its memory goes back to the
// pool when it is destroyed, on whatever thread.
class Buffer {
public:
    Buffer() = default;
    Buffer(std::shared_ptr<BufferPool> pool, std::vector<u32>&& words)
        : pool_(std::move(pool)), words_(std::move(words)) {}
    Buffer(Buffer&&) noexcept = default;
    Buffer& operator=(Buffer&& other) noexcept;
    ~Buffer();

    // Appends whole words; `bytes.size()` is a multiple of 4.
    void append(Bytes bytes);
    void truncate(std::size_t words) { words_.resize(words); }
    [[nodiscard]] Bytes bytes() const { return std::as_bytes(std::span(words_)); }
    [[nodiscard]] std::span<u32> words() { return words_; }
    [[nodiscard]] bool empty() const { return words_.empty(); }

private:
    std::shared_ptr<BufferPool> pool_;
    std::vector<u32> words_;
};

} // namespace heaviside::stream
