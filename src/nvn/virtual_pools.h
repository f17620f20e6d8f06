// Memory pools without storage: an address range whose parts the application maps onto physical pools.
//
// Addresses of a virtual pool are fixed from its creation and never move, whatever is mapped when: there is no second
// kind of virtual pool that becomes its physical pool. The bytes are found through the page table, so nothing has to be
// mapped at the addresses themselves; they are reserved so that nothing else comes to lie there, and touching them
// faults. Where the system has no room for a pool's addresses, it gets some that no process can have.
#pragma once

#include "base/result.h"
#include "base/types.h"
#include "guest/page_table.h"
#include "stream/sink.h"

#include <mutex>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

namespace heaviside::nvn {

// Any thread. A change is one step for whoever reads.
class VirtualPools {
public:
    VirtualPools() = default;
    VirtualPools(const VirtualPools&) = delete;
    VirtualPools& operator=(const VirtualPools&) = delete;
    ~VirtualPools();
    // Inaccessible addresses, aligned to 64 KiB, of any number of pools. Errors: empty, or larger than addresses reach.
    [[nodiscard]] Result<u64> reserve(u64 size);
    void release(u64 address); // mappings included; unknown addresses are ignored

    // Makes [address, address + size) of a reserved range mean the bytes at `physical`; 0 unmaps. Errors: not reserved.
    [[nodiscard]] Result<void> map(const stream::MemoryMapping& mapping);
    // Takes out every mapping of a pool's bytes, whose storage is going. What there was to unmap, as requests.
    [[nodiscard]] std::vector<stream::MemoryMapping> unmap_physical(u64 physical, u64 size);

    [[nodiscard]] bool contains(u64 address) const;
    // Where all of the range's bytes are, if they are in one piece.
    [[nodiscard]] std::optional<u64> physical(u64 address, u64 size) const;
    // Copies between mapped bytes and memory; unmapped bytes read 0 and are not written. False: not a reserved range.
    bool read(u64 address, std::span<std::byte> out) const;
    bool write(u64 address, std::span<const std::byte> in) const;
    // Writes the bytes of `after` that differ from `before`: what others store between them meanwhile stays.
    bool write_changes(u64 address, std::span<const std::byte> before, std::span<const std::byte> after) const;

private:
    struct Reservation {
        u64 size;
        bool mapped;           // of the process's addresses
        std::size_t next_line; // number of runs at which the log hears of it
    };
    mutable std::mutex mutex_;
    guest::PageTable table_;
    std::unordered_map<u64, Reservation> reservations_;
    u64 next_unmapped_ = u64{1} << 60; // no process has addresses up there
};

} // namespace heaviside::nvn
