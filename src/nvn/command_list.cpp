#include "nvn/command_list.h"

#include "base/log.h"
#include "nvn/command_lent.h"
#include "nvn/mapped.h"
#include "nvn/runtime.h"

#include <algorithm>
#include <atomic>

namespace heaviside::nvn {

namespace {

// More entries than any recording has: a list that was overwritten so that it jumps in circles ends here.
constexpr u32 max_steps = 1u << 22;

} // namespace

Result<ControlEntry> PieceWalk::read_entry() {
    if (next_ < ahead_start_ || next_ >= ahead_end_) {
        constexpr u64 page = 4096; // entries behind the end of the list may lie in an unmapped one
        const u64 bytes = std::min<u64>(sizeof ahead_, page - next_ % page);
        if (!copy_mapped(ahead_.data(), next_, bytes))
            return fail("{:#x} is not mapped", next_);
        ahead_start_ = next_;
        ahead_end_ = next_ + bytes;
    }
    return ControlEntry(ahead_[(next_ - ahead_start_) / sizeof(u64)]);
}

Result<Bytes> PieceWalk::next() {
    while (!done_) {
        if (next_ < 4096 || next_ % alignof(u64) != 0 || (next_ & ~ControlEntry::address_mask) != 0)
            return fail("{:#x} is no control entry's address", next_);
        if (++steps_ > max_steps)
            return fail("the control list does not end");
        const auto read = read_entry();
        if (!read) {
            done_ = true;
            return tl::unexpected(read.error());
        }
        const ControlEntry entry = *read;
        if (entry.is_jump()) {
            if (entry.words() != ControlEntry::jump_tag) {
                done_ = true;
                return fail("{:#x} at {:#x} is no control entry", entry.bits(), next_);
            }
            next_ = entry.address();
            continue;
        }
        next_ += sizeof(u64);
        done_ = entry.is_last();
        if (entry.words() == 0)
            continue;
        const u64 size = u64{entry.words()} * 4;
        if (!guest_memory().bytes(GuestAddress{entry.address()}, size) &&
            !lent_memory().contains(entry.address(), size)) {
            done_ = true;
            return fail("piece of {} bytes at {:#x} is in no memory pool", size, entry.address());
        }
        return Bytes(reinterpret_cast<const std::byte*>(entry.address()), size);
    }
    return Bytes{};
}

void report_bad_piece(const std::byte* origin, u64 size, u64 offset, const std::string& reason) {
    static std::atomic<u64> count = 0;
    const u64 number = count.fetch_add(1, std::memory_order_relaxed) + 1;
    if (number <= 8 || number % 1000 == 0)
        log::error(
            "command list: {} bytes into its piece of {} bytes at {}: {}; overwritten after it was recorded? The "
            "rest of the piece is skipped (number {})",
            offset, size, static_cast<const void*>(origin), reason, number);
}

} // namespace heaviside::nvn
