// Buffers in virtual pools. A range that is mapped in one piece is a range of its physical pool, and costs nothing. One
// in several pieces has no buffer: commands read a copy, gathered when they are recorded (what wrote it is settled
// before), and write to a copy whose parts are brought where they belong right behind them. Unmapped pages read 0 and
// drop what is stored. Shaders that follow addresses need none of this: the memory map has every run.
#include "replay/executor.h"

#include "base/log.h"

#include <algorithm>
#include <cstring>

namespace heaviside::replay {

std::optional<std::span<std::byte>> Executor::guest_storage(u64 address, u64 size) const {
    if (!s_.gpu_memory->is_virtual(GuestAddress{address}))
        return s_.memory->bytes(GuestAddress{address}, size);
    const auto parts = s_.gpu_memory->page_table().parts(address, size);
    return parts.size() == 1 ? s_.memory->bytes(GuestAddress{parts[0].physical}, size) : std::nullopt;
}

std::optional<Bytes> Executor::guest_bytes(u64 address, u64 size, std::vector<std::byte>& copy) const {
    if (const auto whole = guest_storage(address, size))
        return *whole;
    copy.assign(size, std::byte{0});
    const bool inside = s_.gpu_memory->page_table().visit(address, size, [&](const guest::MappedPart& part) {
        const auto bytes = s_.memory->bytes(GuestAddress{part.physical}, part.size);
        if (bytes)
            std::memcpy(copy.data() + (part.address - address), bytes->data(), part.size);
        else if (log::first_time(fmt::format("unmapped {:#x}", part.address / guest::virtual_page)))
            log::info("virtual pool: {:#x}+{:#x} is not mapped: reads 0", part.address, part.size);
    });
    return inside ? std::optional<Bytes>(copy) : std::nullopt;
}

std::optional<gpu::BufferSlice> Executor::resolve_virtual(u64 address, u64 size) {
    const auto pool = s_.gpu_memory->page_table().find(address);
    if (!pool)
        return std::nullopt;
    size = std::min({size, pool->start + pool->size - address, gpu::GuestMemory::open_ended});
    if (const auto slice = s_.gpu_memory->resolve(GuestAddress{address}, size))
        return *slice;
    std::vector<std::byte> copy;
    const auto bytes = guest_bytes(address, size, copy);
    const auto slice = bytes ? s_.queue->arena().push(*bytes) : fail("{:#x}: no copy", address);
    if (!slice) {
        log::error_once("{:#x}, {} bytes of a virtual pool: {}", address, size, slice.error().message);
        return std::nullopt;
    }
    return *slice;
}

void Executor::scatter(u64 address, const gpu::BufferSlice& output) {
    if (!s_.gpu_memory->is_virtual(GuestAddress{address}) || s_.gpu_memory->resolve(GuestAddress{address}, output.size))
        return; // the command wrote where it should
    c_->barrier();
    c_->prepare_transfer();
    s_.gpu_memory->page_table().visit(address, output.size, [&](const guest::MappedPart& part) {
        if (!part.physical)
            return;
        const auto to = s_.gpu_memory->resolve(GuestAddress{part.physical}, part.size);
        if (!to) {
            log::error_once("virtual pool {:#x}: {}", part.address, to.error().message);
            return;
        }
        const VkBufferCopy region{output.offset + (part.address - address), to->offset, part.size};
        s_.device->vk.vkCmdCopyBuffer(c_->handle(), output.buffer, to->buffer, 1, &region);
    });
    c_->barrier();
}

} // namespace heaviside::replay
