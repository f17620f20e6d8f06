#include "nvn/virtual_pools.h"

#include "base/bytes.h"
#include "base/log.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>

namespace heaviside::nvn {

namespace {

constexpr u64 alignment = 0x10000; // NVN_DEVICE_INFO_MEMORY_POOL_PAGE_SIZE
constexpr u64 largest = u64{1} << 48;
constexpr std::size_t first_line = 1024; // runs

// Inaccessible addresses, or 0.
u64 reserve_addresses(u64 size) {
    const u64 room = size + alignment;
    void* memory = ::mmap(nullptr, room, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED)
        return 0;
    const u64 start = reinterpret_cast<u64>(memory);
    const u64 aligned = align_up(start, alignment);
    if (aligned > start)
        ::munmap(memory, aligned - start);
    if (start + room > aligned + size)
        ::munmap(reinterpret_cast<void*>(aligned + size), start + room - aligned - size);
    return aligned;
}

} // namespace

VirtualPools::~VirtualPools() {
    for (const auto& [address, reservation] : reservations_)
        if (reservation.mapped)
            ::munmap(reinterpret_cast<void*>(address), reservation.size);
}

Result<u64> VirtualPools::reserve(u64 size) {
    if (size == 0 || size > largest)
        return fail("size {:#x}", size);
    size = align_up(size, guest::virtual_page);
    u64 address = reserve_addresses(size);
    const bool mapped = address != 0;
    const std::lock_guard lock(mutex_);
    if (!mapped) {
        address = next_unmapped_;
        next_unmapped_ += align_up(size, alignment) + alignment;
        log::info("virtual pool of {:#x} bytes: more than the process has addresses for, it gets {:#x}", size, address);
    }
    if (auto added = table_.add(address, size); !added)
        return tl::unexpected(added.error());
    reservations_[address] = {size, mapped, first_line};
    return address;
}

void VirtualPools::release(u64 address) {
    const std::lock_guard lock(mutex_);
    const auto found = reservations_.find(address);
    if (found == reservations_.end())
        return;
    table_.remove(address);
    if (found->second.mapped)
        ::munmap(reinterpret_cast<void*>(address), found->second.size);
    reservations_.erase(found);
}

Result<void> VirtualPools::map(const stream::MemoryMapping& mapping) {
    const std::lock_guard lock(mutex_);
    if (auto mapped = table_.map({mapping.address, mapping.size, mapping.physical}); !mapped)
        return mapped;
    const auto pool = table_.find(mapping.address);
    if (!pool)
        return {};
    for (auto& line = reservations_.at(pool->start).next_line; pool->runs >= line; line *= 2)
        log::info("virtual pool {:#x} has {} runs of mapped pages", pool->start, line);
    return {};
}

std::vector<stream::MemoryMapping> VirtualPools::unmap_physical(u64 physical, u64 size) {
    const std::lock_guard lock(mutex_);
    std::vector<stream::MemoryMapping> out;
    for (const guest::MappedPart& part : table_.unmap_physical(physical, size))
        out.push_back({part.address, part.size, 0});
    return out;
}

bool VirtualPools::contains(u64 address) const {
    const std::lock_guard lock(mutex_);
    return table_.find(address).has_value();
}

std::optional<u64> VirtualPools::physical(u64 address, u64 size) const {
    const std::lock_guard lock(mutex_);
    std::size_t parts = 0;
    u64 found = 0;
    table_.visit(address, size, [&](const guest::MappedPart& part) {
        ++parts;
        found = part.physical;
    });
    return parts == 1 && found != 0 ? std::optional(found) : std::nullopt;
}

bool VirtualPools::read(u64 address, std::span<std::byte> out) const {
    const std::lock_guard lock(mutex_);
    return table_.visit(address, out.size(), [&](const guest::MappedPart& part) {
        std::byte* const to = out.data() + (part.address - address);
        if (part.physical)
            std::memcpy(to, reinterpret_cast<const void*>(part.physical), part.size);
        else
            std::memset(to, 0, part.size);
    });
}

bool VirtualPools::write_changes(u64 address, std::span<const std::byte> before,
                                 std::span<const std::byte> after) const {
    const std::lock_guard lock(mutex_);
    return table_.visit(address, after.size(), [&](const guest::MappedPart& part) {
        if (!part.physical)
            return;
        auto* const to = reinterpret_cast<std::byte*>(part.physical);
        for (u64 i = 0, at = part.address - address; i < part.size; ++i, ++at)
            if (after[at] != before[at])
                to[i] = after[at];
    });
}

bool VirtualPools::write(u64 address, std::span<const std::byte> in) const {
    const std::lock_guard lock(mutex_);
    return table_.visit(address, in.size(), [&](const guest::MappedPart& part) {
        if (part.physical)
            std::memcpy(reinterpret_cast<void*>(part.physical), in.data() + (part.address - address), part.size);
    });
}

} // namespace heaviside::nvn
