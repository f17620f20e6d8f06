// Memory pools without storage: a reserved address range whose parts the application maps onto physical pools.
#pragma once

#include "base/result.h"
#include "base/types.h"
#include "stream/sink.h"

#include <map>
#include <mutex>
#include <span>

namespace heaviside::nvn {

// Any thread.
class VirtualPools {
public:
    ~VirtualPools();
    // Reserves inaccessible addresses, aligned to 64 KiB. Errors: the system has no room.
    [[nodiscard]] Result<u64> reserve(u64 size);
    void release(u64 address); // mappings included; unknown addresses are ignored

    // Makes [address, address + size) of a reserved range mean the bytes at `physical`; 0 unmaps. Errors: not reserved.
    [[nodiscard]] Result<void> map(const stream::MemoryMapping& mapping);

    [[nodiscard]] bool contains(u64 address) const;
    // Copies between mapped bytes and memory; unmapped bytes read 0 and are not written. False: not a reserved range.
    bool read(u64 address, std::span<std::byte> out) const;
    bool write(u64 address, std::span<const std::byte> in) const;

private:
    struct Run {
        u64 size, physical;
    };
    struct Range {
        u64 size;
        std::map<u64, Run> runs; // by address; disjoint; runs that continue each other are one
    };
    using Ranges = std::map<u64, Range>;
    [[nodiscard]] const Range* find(u64 address, u64* start) const; // with mutex_ held

    mutable std::mutex mutex_;
    Ranges ranges_;
};

} // namespace heaviside::nvn
