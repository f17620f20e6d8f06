// Control memory: what strings a recording together. 8-byte entries in the application's control memory, one for each
// piece of command memory, the last one marked; a command handle is the address of the first (ledger OBJ-110).
#pragma once

#include "base/result.h"
#include "nvn/api_types.h"
#include "stream/walk.h"

#include <array>
#include <span>

namespace heaviside::nvn {

// bit 0: last; bit 1: a jump to further control memory; bits 2-47: address; bits 48-63: words of a piece, jump_tag of a
// jump (nothing tells control memory that was written over from a list, so a jump is only followed with its tag). A
// last entry is always a piece, perhaps an empty one.
class ControlEntry {
public:
    static constexpr u64 last_bit = 1, jump_bit = 2, address_mask = 0x0000'ffff'ffff'fffc;
    static constexpr u32 max_words = 0xffff;
    static constexpr u64 jump_tag = 0x4856;

    constexpr ControlEntry() = default;
    constexpr explicit ControlEntry(u64 bits) : bits_(bits) {}
    static ControlEntry piece(const std::byte* start, u32 words, bool last) {
        return ControlEntry((reinterpret_cast<u64>(start) & address_mask) | u64{words} << 48 | (last ? last_bit : 0));
    }
    static ControlEntry jump(const u64* to) {
        return ControlEntry(reinterpret_cast<u64>(to) | jump_bit | jump_tag << 48);
    }
    // A null pointer where there is nothing to run.
    static constexpr ControlEntry end() { return ControlEntry(last_bit); }

    [[nodiscard]] bool is_last() const { return (bits_ & last_bit) != 0; }
    [[nodiscard]] bool is_jump() const { return (bits_ & jump_bit) != 0; }
    [[nodiscard]] u64 address() const { return bits_ & address_mask; }
    [[nodiscard]] u32 words() const { return static_cast<u32>(bits_ >> 48); }
    [[nodiscard]] u64 bits() const { return bits_; }

private:
    u64 bits_ = 0;
};

// A walk over the pieces of a recording. Handles and control memory are the application's: what cannot be an entry ends
// the walk with an error. Pieces whose memory is neither in a memory pool nor lent by the library are errors too.
class PieceWalk {
public:
    explicit PieceWalk(NVNcommandHandle handle) : next_(handle) {}
    // The bytes of the next non-empty piece; empty at the end.
    [[nodiscard]] Result<Bytes> next();

private:
    [[nodiscard]] Result<ControlEntry> read_entry();

    u64 next_;
    // A handle is only an address: entries are copied, some at a time, by a call that survives unmapped memory.
    std::array<u64, 16> ahead_;
    u64 ahead_start_ = 0, ahead_end_ = 0;
    u32 steps_ = 0;
    bool done_ = false;
};

// Calls visit(Record) for each whole record that a piece holds now. What was overwritten after recording (ledger
// OBJ-117, OBJ-123) gives an error line, the first 8 times and then every 1,000th: a record whose counts cannot be is
// skipped, what does not fit or is no record ends the piece. `bytes` may be a copy of the piece that `visit` moves
// records forward in: `origin` is where it stands in command memory.
template <class Visit>
void for_each_valid_record(Bytes bytes, const std::byte* origin, Visit&& visit);
void report_bad_piece(const std::byte* origin, u64 size, u64 offset, const std::string& reason);

template <class Visit>
void for_each_valid_record(Bytes bytes, const std::byte* origin, Visit&& visit) {
    u64 offset = 0;
    while (offset < bytes.size()) {
        const Bytes rest = bytes.subspan(offset);
        const auto record = stream::record_at(rest);
        const u64 size = record ? record->bytes().size() : stream::record_size_at(rest);
        if (!record)
            report_bad_piece(origin, bytes.size(), offset, record.error().message);
        if (size == 0)
            return;
        offset += size;
        if (record)
            visit(*record);
    }
}

} // namespace heaviside::nvn
