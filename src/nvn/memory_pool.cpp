#include "base/log.h"
#include "nvn/command_lent.h"
#include "nvn/entry_points.h"
#include "nvn/host.h"
#include "nvn/labels.h"
#include "nvn/mapped.h"
#include "nvn/report.h"

#include <algorithm>
#include <array>
#include <vector>

namespace heaviside::nvn {

namespace {

constexpr u32 access_flags = NVN_MEMORY_POOL_FLAGS_CPU_UNCACHED | NVN_MEMORY_POOL_FLAGS_GPU_CACHED;

bool has_cpu_access(const MemoryPool& pool) {
    return pool.memory && !(pool.flags & NVN_MEMORY_POOL_FLAGS_CPU_NO_ACCESS);
}

// Where the CPU finds a range of a pool. A virtual one has no bytes of its own: if all of the range is mapped in one
// piece, those of the physical pool are meant. Null: no access, or no such piece.
void* cpu_address(u32 flags, u64 address, u64 size) {
    if (flags & NVN_MEMORY_POOL_FLAGS_CPU_NO_ACCESS)
        return nullptr;
    if (flags & NVN_MEMORY_POOL_FLAGS_VIRTUAL)
        address = host().virtual_pools.physical(address, size).value_or(0);
    return reinterpret_cast<void*>(address);
}

// [offset, offset + size) of the pool, cut to it, as an address range; size 0 if nothing is left.
struct AddressRange {
    u64 address, size;
};
AddressRange clip(const MemoryPool& pool, i64 offset, u64 size) {
    const u64 start = static_cast<u64>(offset);
    if (offset < 0 || start >= pool.size)
        return {pool.address, 0};
    return {pool.address + start, std::min(size, pool.size - start)};
}

} // namespace

// --- Builder ---

void nvnMemoryPoolBuilderSetDefaults(NVNmemoryPoolBuilder* builder) {
    if (!builder)
        return;
    NVNdevice* const device = layout(builder)->device;
    *layout(builder) = {};
    layout(builder)->device = device;
    layout(builder)->flags = access_flags;
}

void nvnMemoryPoolBuilderSetDevice(NVNmemoryPoolBuilder* builder, NVNdevice* device) {
    if (builder)
        layout(builder)->device = device;
}
const NVNdevice* nvnMemoryPoolBuilderGetDevice(const NVNmemoryPoolBuilder* builder) {
    return builder ? layout(builder)->device : nullptr;
}

void nvnMemoryPoolBuilderSetStorage(NVNmemoryPoolBuilder* builder, void* memory, size_t size) {
    if (!builder)
        return;
    layout(builder)->memory = memory;
    layout(builder)->size = size;
}
void* nvnMemoryPoolBuilderGetMemory(const NVNmemoryPoolBuilder* builder) {
    return builder ? layout(builder)->memory : nullptr;
}
size_t nvnMemoryPoolBuilderGetSize(const NVNmemoryPoolBuilder* builder) {
    return builder ? layout(builder)->size : 0;
}

void nvnMemoryPoolBuilderSetFlags(NVNmemoryPoolBuilder* builder, int flags) {
    if (builder)
        layout(builder)->flags = static_cast<u32>(flags);
}
NVNmemoryPoolFlags nvnMemoryPoolBuilderGetFlags(const NVNmemoryPoolBuilder* builder) {
    return static_cast<NVNmemoryPoolFlags>(builder ? layout(builder)->flags : 0);
}

// --- Pool ---

NVNboolean nvnMemoryPoolInitialize(NVNmemoryPool* pool, const NVNmemoryPoolBuilder* builder) {
    constexpr auto call = "nvnMemoryPoolInitialize";
    if (!pool || !builder) {
        report_bad_object(call, nullptr);
        return NVN_FALSE;
    }
    const MemoryPoolBuilder& b = *layout(builder);
    const bool is_virtual = b.flags & NVN_MEMORY_POOL_FLAGS_VIRTUAL;
    const u64 memory = reinterpret_cast<u64>(b.memory);
    if (b.size == 0 || (!is_virtual && !b.memory)) {
        report_error(call, "no storage (memory {:#x}, size {:#x})", memory, b.size);
        return NVN_FALSE;
    }
    if (memory % NVN_MEMORY_POOL_STORAGE_ALIGNMENT != 0 || b.size % NVN_MEMORY_POOL_STORAGE_GRANULARITY != 0) {
        report_error(call, "storage {:#x}, size {:#x}: not multiples of 4096", memory, b.size);
        return NVN_FALSE;
    }
    u8 byte = 0;
    if (!is_virtual &&
        (b.size > ~memory || !copy_mapped(&byte, memory, 1) || !copy_mapped(&byte, memory + b.size - 1, 1))) {
        report_error(call, "storage {:#x}, size {:#x}: not mapped", memory, b.size);
        return NVN_FALSE;
    }
    MemoryPool made{.magic = magic::memory_pool,
                    .flags = b.flags,
                    .memory = is_virtual ? nullptr : static_cast<std::byte*>(b.memory),
                    .size = b.size,
                    .address = memory,
                    .serial = host().next_serial++};
    if (is_virtual) {
        const auto address = host().virtual_pools.reserve(b.size);
        if (!address) {
            report_error(call, "{}", address.error().message);
            return NVN_FALSE;
        }
        made.address = *address;
    } else if (auto added = host().pools.add({.serial = made.serial,
                                              .address = made.address,
                                              .size = made.size,
                                              .cpu_access = has_cpu_access(made),
                                              .object = reinterpret_cast<u64>(pool)},
                                             host().memory);
               !added) {
        report_error(call, "{}", added.error().message);
        return NVN_FALSE;
    }
    *layout(pool) = made;
    sink().memory_pool_created({made.address, made.size, made.flags, made.memory});
    return NVN_TRUE;
}

void nvnMemoryPoolFinalize(NVNmemoryPool* pool) {
    MemoryPool* p = as_valid(pool, "nvnMemoryPoolFinalize");
    if (!p)
        return;
    const MemoryPool ended = *p;
    *p = {};
    PoolTable& pools = host().pools;
    if (ended.memory && !pools.contains(ended.serial))
        return;                                           // a copy by value whose original has been finalized
    if (ended.memory && !pools.is_shared(ended.serial)) { // nothing shows these bytes any more
        if (const auto unmapped = host().virtual_pools.unmap_physical(ended.address, ended.size); !unmapped.empty())
            sink().memory_mapped(unmapped);
    }
    if (!ended.memory || !pools.is_covered(ended.serial)) { // else the storage stays the other pool's
        sink().memory_pool_destroyed(ended.address);
        lent_memory().written(0, {ended.memory, ended.memory ? ended.size : 0});
    }
    if (ended.memory)
        pools.remove(ended.serial, host().memory);
    else
        host().virtual_pools.release(ended.address);
}

void nvnMemoryPoolSetDebugLabel(NVNmemoryPool* object, const char* label) {
    set_label(object, label, __func__);
}

void* nvnMemoryPoolMap(const NVNmemoryPool* pool) {
    const MemoryPool* p = as_valid(pool, "nvnMemoryPoolMap");
    return p ? cpu_address(p->flags, p->address, p->size) : nullptr;
}

NVNbufferAddress nvnMemoryPoolGetBufferAddress(const NVNmemoryPool* pool) {
    const MemoryPool* p = as_valid(pool, "nvnMemoryPoolGetBufferAddress");
    return p ? p->address : 0;
}
size_t nvnMemoryPoolGetSize(const NVNmemoryPool* pool) {
    const MemoryPool* p = as_valid(pool, "nvnMemoryPoolGetSize");
    return p ? p->size : 0;
}
NVNmemoryPoolFlags nvnMemoryPoolGetFlags(const NVNmemoryPool* pool) {
    const MemoryPool* p = as_valid(pool, "nvnMemoryPoolGetFlags");
    return static_cast<NVNmemoryPoolFlags>(p ? p->flags : 0);
}

void nvnMemoryPoolFlushMappedRange(const NVNmemoryPool* pool, ptrdiff_t offset, size_t size) {
    const MemoryPool* p = as_valid(pool, "nvnMemoryPoolFlushMappedRange");
    if (!p)
        return;
    if (const auto range = clip(*p, offset, size); range.size)
        sink().memory_written(range.address, range.size);
}

void nvnMemoryPoolInvalidateMappedRange(const NVNmemoryPool* pool, ptrdiff_t offset, size_t size) {
    const MemoryPool* p = as_valid(pool, "nvnMemoryPoolInvalidateMappedRange");
    if (!p)
        return;
    if (const auto range = clip(*p, offset, size); range.size)
        sink().memory_read(range.address, range.size);
}

NVNboolean nvnMemoryPoolMapVirtual(NVNmemoryPool* pool, int numRequests, const NVNmappingRequest* requests) {
    constexpr auto call = "nvnMemoryPoolMapVirtual";
    const MemoryPool* p = as_valid(pool, call);
    if (!p)
        return NVN_FALSE;
    if (p->memory || numRequests < 0 || (numRequests > 0 && !requests)) {
        report_error(call, "{}", p->memory ? "the pool is not virtual" : "no requests");
        return NVN_FALSE;
    }
    bool all = true;
    std::vector<stream::MemoryMapping> mapped;
    for (const NVNmappingRequest& request : std::span(requests, static_cast<std::size_t>(numRequests))) {
        stream::MemoryMapping mapping{p->address + static_cast<u64>(request.virtualOffset), request.size, 0};
        if (request.physicalPool) {
            const MemoryPool* physical = as_mapped_valid(request.physicalPool, call);
            const u64 offset = static_cast<u64>(request.physicalOffset);
            if (!physical || !physical->memory || offset > physical->size || request.size > physical->size - offset) {
                report_error(call, "{:#x} bytes at {:#x} of the physical pool", request.size, offset);
                all = false;
                continue;
            }
            mapping.physical = physical->address + offset;
        }
        if (auto done = host().virtual_pools.map(mapping); !done) {
            report_error(call, "{}", done.error().message);
            all = false;
            continue;
        }
        mapped.push_back(mapping);
    }
    if (!mapped.empty())
        sink().memory_mapped(mapped);
    return boolean(all);
}

// --- Buffer builder ---

void nvnBufferBuilderSetDefaults(NVNbufferBuilder* builder) {
    if (!builder)
        return;
    NVNdevice* const device = layout(builder)->device;
    *layout(builder) = {};
    layout(builder)->device = device;
}

void nvnBufferBuilderSetDevice(NVNbufferBuilder* builder, NVNdevice* device) {
    if (builder)
        layout(builder)->device = device;
}
const NVNdevice* nvnBufferBuilderGetDevice(const NVNbufferBuilder* builder) {
    return builder ? layout(builder)->device : nullptr;
}

void nvnBufferBuilderSetStorage(NVNbufferBuilder* builder, NVNmemoryPool* pool, ptrdiff_t offset, size_t size) {
    if (!builder)
        return;
    layout(builder)->pool = pool;
    layout(builder)->offset = offset;
    layout(builder)->size = size;
}
NVNmemoryPool* nvnBufferBuilderGetMemoryPool(const NVNbufferBuilder* builder) {
    return builder ? layout(builder)->pool : nullptr;
}
ptrdiff_t nvnBufferBuilderGetMemoryOffset(const NVNbufferBuilder* builder) {
    return builder ? layout(builder)->offset : 0;
}
size_t nvnBufferBuilderGetSize(const NVNbufferBuilder* builder) {
    return builder ? layout(builder)->size : 0;
}

// --- Buffer ---

namespace {

// [offset, offset + size) of the buffer, cut to it; size 0, after a report, if the pool's storage is gone.
AddressRange mapped_range(const char* call, const Buffer& buffer, i64 offset, u64 size) {
    const u64 address = buffer.pool_address + static_cast<u64>(buffer.offset);
    if (offset < 0 || static_cast<u64>(offset) >= buffer.size)
        return {address, 0};
    const AddressRange range{address + static_cast<u64>(offset),
                             std::min(size, buffer.size - static_cast<u64>(offset))};
    if (!guest_memory().find(GuestAddress{range.address}) && !host().virtual_pools.contains(range.address)) {
        report_error(call, "{:#x} is in no memory pool", range.address);
        return {address, 0};
    }
    return range;
}

} // namespace

NVNboolean nvnBufferInitialize(NVNbuffer* buffer, const NVNbufferBuilder* builder) {
    constexpr auto call = "nvnBufferInitialize";
    if (!buffer || !builder) {
        report_bad_object(call, nullptr);
        return NVN_FALSE;
    }
    const BufferBuilder b = *layout(builder);
    const MemoryPool* pool = as_mapped_valid(b.pool, call);
    if (!pool)
        return NVN_FALSE;
    if (b.offset < 0 || static_cast<u64>(b.offset) > pool->size || b.size > pool->size - static_cast<u64>(b.offset)) {
        report_error(call, "{:#x} bytes at {:#x} of a pool of {:#x}", b.size, b.offset, pool->size);
        return NVN_FALSE;
    }
    *layout(buffer) = {.magic = magic::buffer,
                       .pool_flags = pool->flags,
                       .pool = b.pool,
                       .pool_address = pool->address,
                       .offset = b.offset,
                       .size = b.size,
                       .serial = host().next_serial++};
    return NVN_TRUE;
}

void nvnBufferFinalize(NVNbuffer* buffer) {
    if (Buffer* b = as_valid(buffer, "nvnBufferFinalize"))
        *b = {};
}

void nvnBufferSetDebugLabel(NVNbuffer* object, const char* label) {
    set_label(object, label, __func__);
}

NVNbufferAddress nvnBufferGetAddress(const NVNbuffer* buffer) {
    const Buffer* b = as_valid(buffer, "nvnBufferGetAddress");
    return b ? b->pool_address + static_cast<u64>(b->offset) : 0;
}

void* nvnBufferMap(const NVNbuffer* buffer) {
    const Buffer* b = as_valid(buffer, "nvnBufferMap");
    return b ? cpu_address(b->pool_flags, b->pool_address + static_cast<u64>(b->offset), b->size) : nullptr;
}

size_t nvnBufferGetSize(const NVNbuffer* buffer) {
    const Buffer* b = as_valid(buffer, "nvnBufferGetSize");
    return b ? b->size : 0;
}
ptrdiff_t nvnBufferGetMemoryOffset(const NVNbuffer* buffer) {
    const Buffer* b = as_valid(buffer, "nvnBufferGetMemoryOffset");
    return b ? b->offset : 0;
}
NVNmemoryPool* nvnBufferGetMemoryPool(const NVNbuffer* buffer) {
    const Buffer* b = as_valid(buffer, "nvnBufferGetMemoryPool");
    return b ? b->pool : nullptr;
}
uint64_t nvnBufferGetDebugID(const NVNbuffer* buffer) {
    const Buffer* b = as_valid(buffer, "nvnBufferGetDebugID");
    return b ? b->serial : 0;
}

void nvnBufferFlushMappedRange(const NVNbuffer* buffer, ptrdiff_t offset, size_t size) {
    constexpr auto call = "nvnBufferFlushMappedRange";
    if (const Buffer* b = as_valid(buffer, call)) {
        if (const auto range = mapped_range(call, *b, offset, size); range.size)
            sink().memory_written(range.address, range.size);
    }
}

void nvnBufferInvalidateMappedRange(const NVNbuffer* buffer, ptrdiff_t offset, size_t size) {
    constexpr auto call = "nvnBufferInvalidateMappedRange";
    if (const Buffer* b = as_valid(buffer, call)) {
        if (const auto range = mapped_range(call, *b, offset, size); range.size)
            sink().memory_read(range.address, range.size);
    }
}

} // namespace heaviside::nvn
