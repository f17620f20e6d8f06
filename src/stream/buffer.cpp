#include "stream/buffer.h"

namespace heaviside::stream {

Buffer BufferPool::take() {
    std::vector<u32> words;
    {
        const std::lock_guard lock(mutex_);
        if (!idle_.empty()) {
            words = std::move(idle_.back());
            idle_.pop_back();
        }
    }
    return {shared_from_this(), std::move(words)};
}

std::size_t BufferPool::idle_count() const {
    const std::lock_guard lock(mutex_);
    return idle_.size();
}

void BufferPool::give_back(std::vector<u32>&& words) {
    words.clear();
    const std::lock_guard lock(mutex_);
    idle_.push_back(std::move(words));
}

Buffer& Buffer::operator=(Buffer&& other) noexcept {
    std::swap(pool_, other.pool_);
    std::swap(words_, other.words_);
    return *this;
}

Buffer::~Buffer() {
    if (pool_ && words_.capacity() != 0)
        pool_->give_back(std::move(words_));
}

void Buffer::append(Bytes bytes) {
    if (bytes.empty()) // has no address that may be copied from
        return;
    const std::size_t at = words_.size();
    words_.resize(at + bytes.size() / 4);
    std::memcpy(words_.data() + at, bytes.data(), bytes.size() / 4 * 4);
}

} // namespace heaviside::stream
