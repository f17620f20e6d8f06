// What writer and player of capture files agree on.
#pragma once

#include "base/bytes.h"
#include "base/hash.h"

#include <string_view>
#include <vector>

namespace heaviside::capture {

inline constexpr std::string_view magic{"HVSDCAP\1", 8}; // the last byte is the version

enum class Chunk : u32 {
    QueueCreated,
    QueueDestroyed,
    Submit,
    Flush,
    Finish,
    SyncDestroyed,
    EventSignalled,
    WindowCreated,
    WindowDestroyed,
    Acquire,
    Present,
    MemoryPoolCreated,
    MemoryPoolDestroyed,
    MemoryMapped,
    ProgramCreated,
    ProgramDestroyed,
    TexturePoolCreated,
    TexturePoolDestroyed,
    TextureRegistered,
    SamplerPoolCreated,
    SamplerPoolDestroyed,
    SamplerRegistered,
    Memory, // u64 address, then bytes
    Count
};

struct ChunkHeader {
    Chunk kind;
    u32 checksum; // low word of the payload's hash
    u64 size;     // bytes of payload
};
static_assert(sizeof(ChunkHeader) == 16);

[[nodiscard]] inline u32 checksum(Bytes payload) {
    return static_cast<u32>(hash_bytes(payload).low);
}

// Arguments by value, one behind the other.
class Payload {
public:
    template <class T>
    requires std::is_trivially_copyable_v<T> Payload& put(const T& value) {
        const auto bytes = std::as_bytes(std::span(&value, 1));
        bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
        return *this;
    }
    Payload& put_bytes(Bytes bytes) {
        put(u64{bytes.size()});
        bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
        return *this;
    }
    [[nodiscard]] Bytes bytes() const { return bytes_; }

private:
    std::vector<std::byte> bytes_;
};

// Reads them back. After a read past the end every value is zero and ok() is false.
class PayloadReader {
public:
    explicit PayloadReader(Bytes bytes) : bytes_(bytes) {}
    template <class T>
    requires std::is_trivially_copyable_v<T> T get() {
        T value{};
        if (const auto read = read_at<T>(bytes_, at_); read && ok_)
            value = *read;
        else
            ok_ = false;
        at_ += sizeof(T);
        return value;
    }
    Bytes get_bytes() {
        const u64 size = get<u64>();
        const auto part = ok_ ? slice(bytes_, at_, size) : std::nullopt;
        ok_ = part.has_value();
        at_ += size;
        return part.value_or(Bytes{});
    }
    [[nodiscard]] Bytes rest() const { return ok_ ? bytes_.subspan(at_) : Bytes{}; }
    [[nodiscard]] bool ok() const { return ok_; }
    [[nodiscard]] bool finished() const { return ok_ && at_ == bytes_.size(); }

private:
    Bytes bytes_;
    u64 at_ = 0;
    bool ok_ = true;
};

} // namespace heaviside::capture
