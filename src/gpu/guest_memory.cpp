#include "gpu/guest_memory.h"

#include "base/bytes.h"
#include "base/log.h"
#include "gpu/commands.h"

#include <algorithm>
#include <chrono>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <span>
#include <string>
#include <thread>
#include <vector>

namespace heaviside::gpu {

struct GuestMemory::Piece {
    const Device* device = nullptr;
    u64 start = 0, size = 0; // guest addresses covered
    u64 serial = 0;          // of the range it belongs to
    // Import: its own handles. Pages are imported whole, so the buffer may begin before `start`.
    VkBuffer buffer = VK_NULL_HANDLE;
    VkDeviceMemory memory = VK_NULL_HANDLE;
    u64 buffer_start = 0, address = 0;
    Buffer mirror; // instead of an import
    // What the guest's bytes and the mirror's were when they last were the same: who differs from it has written since.
    std::vector<std::byte> agreed;

    ~Piece() {
        if (buffer) {
            device->vk.vkDestroyBuffer(device->handle, buffer, nullptr);
            device->count(Object::Buffer, -1);
        }
        if (memory) {
            device->vk.vkFreeMemory(device->handle, memory, nullptr);
            device->count(Object::Memory, -1);
        }
    }
    [[nodiscard]] bool holds(u64 at, u64 bytes) const {
        return at >= start && at - start <= size && size - (at - start) >= bytes;
    }
    [[nodiscard]] BufferSlice slice(u64 at, u64 bytes) const {
        BufferSlice s;
        s.buffer = mirror ? mirror.whole().buffer : buffer;
        s.offset = at - buffer_start;
        s.size = bytes;
        s.address = (mirror ? mirror.whole().address : address) + s.offset;
        s.mapped = reinterpret_cast<std::byte*>(at);
        return s;
    }
};

GuestMemory::GuestMemory(const Device& device, Queue& queue, guest::Memory& memory, guest::WriteTracker* tracker,
                         u64 piece_size)
    : device_(&device), queue_(&queue), memory_(&memory), tracker_(tracker) {
    const u64 most = std::min(device.capabilities.max_allocation, device.capabilities.max_buffer);
    const u64 page = std::max(guest::page_size(), device.capabilities.import_alignment);
    piece_size_ = std::max(page, std::min(piece_size, most) / page * page);
}

GuestMemory::~GuestMemory() = default;

namespace {

// After a refused import NVIDIA's driver refuses host memory of that size until some host memory has been freed.
void free_a_little_host_memory(const Device& device, u32 types) {
    for (u32 i = 0; i < device.memory.memoryTypeCount; ++i) {
        const auto flags = device.memory.memoryTypes[i].propertyFlags;
        if (!(types & (1u << i)) || !(flags & VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT))
            continue;
        VkMemoryAllocateInfo info{VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO, nullptr, u64{64} << 10, i};
        VkDeviceMemory memory = VK_NULL_HANDLE;
        if (device.vk.vkAllocateMemory(device.handle, &info, nullptr, &memory) == VK_SUCCESS)
            device.vk.vkFreeMemory(device.handle, memory, nullptr);
        return;
    }
}

// What the process has mapped in and next to a range that could not be imported.
void log_regions(u64 start, u64 size) {
    std::ifstream maps("/proc/self/maps");
    for (std::string line; std::getline(maps, line);) {
        u64 from = 0, to = 0;
        if (std::sscanf(line.c_str(), "%" SCNx64 "-%" SCNx64, &from, &to) == 2 && from <= start + size && to >= start)
            log::warning("mapped there: {}", line);
    }
}

// The memory type among `types` that the CPU reads fastest.
std::optional<u32> best_type(const Device& device, u32 types) {
    std::optional<u32> best;
    int best_score = -1;
    for (u32 i = 0; i < device.memory.memoryTypeCount; ++i) {
        const auto flags = device.memory.memoryTypes[i].propertyFlags;
        if (!(types & (1u << i)) || !(flags & VK_MEMORY_PROPERTY_HOST_COHERENT_BIT))
            continue;
        const int score = (flags & VK_MEMORY_PROPERTY_HOST_CACHED_BIT) ? 1 : 0;
        if (score > best_score) {
            best = i;
            best_score = score;
        }
    }
    return best;
}

} // namespace

Result<void> GuestMemory::import(Piece& piece) {
    const Device& d = *device_;
    if (!d.has(Feature::ExternalMemoryHost))
        return fail("no VK_EXT_external_memory_host");
    const u64 alignment = std::max(d.capabilities.import_alignment, guest::page_size());
    const u64 start = piece.start / alignment * alignment;
    const u64 size = align_up(piece.start + piece.size, alignment) - start;
    void* const pointer = reinterpret_cast<void*>(start);
    constexpr auto handle_type = VK_EXTERNAL_MEMORY_HANDLE_TYPE_HOST_ALLOCATION_BIT_EXT;
    VkMemoryHostPointerPropertiesEXT properties{VK_STRUCTURE_TYPE_MEMORY_HOST_POINTER_PROPERTIES_EXT};
    if (const VkResult r = d.vk.vkGetMemoryHostPointerPropertiesEXT(d.handle, handle_type, pointer, &properties);
        r != VK_SUCCESS)
        return fail("host pointer properties: {}", name(r));

    VkExternalMemoryBufferCreateInfo external{VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_BUFFER_CREATE_INFO, nullptr,
                                              handle_type};
    VkBufferCreateInfo buffer{VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO, &external};
    buffer.size = size;
    buffer.usage = buffer_usage(d);
    if (const VkResult r = d.vk.vkCreateBuffer(d.handle, &buffer, nullptr, &piece.buffer); r != VK_SUCCESS)
        return fail("buffer: {}", name(r));
    d.count(Object::Buffer, 1);
    VkMemoryRequirements needs;
    d.vk.vkGetBufferMemoryRequirements(d.handle, piece.buffer, &needs);
    const auto type = best_type(d, properties.memoryTypeBits & needs.memoryTypeBits);
    if (!type || needs.size > size || start % needs.alignment != 0)
        return fail("no memory type or alignment fits ({:#x} & {:#x}, {} of {} bytes)", properties.memoryTypeBits,
                    needs.memoryTypeBits, needs.size, size);
    VkImportMemoryHostPointerInfoEXT host{VK_STRUCTURE_TYPE_IMPORT_MEMORY_HOST_POINTER_INFO_EXT, nullptr, handle_type,
                                          pointer};
    VkMemoryAllocateFlagsInfo flags{VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO, &host,
                                    VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT, 0};
    VkMemoryAllocateInfo info{VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO, &flags, size, *type};
    // The import can be refused for a moment while the guest maps or unmaps a large region.
    constexpr int attempts = 12;
    VkResult r = VK_SUCCESS;
    int attempt = 1;
    for (;; ++attempt) {
        r = d.vk.vkAllocateMemory(d.handle, &info, nullptr, &piece.memory);
        if (r == VK_SUCCESS || attempt == attempts)
            break;
        free_a_little_host_memory(d, 1u << *type);
        std::this_thread::sleep_for(std::chrono::milliseconds(attempt));
    }
    if (r != VK_SUCCESS) {
        free_a_little_host_memory(d, 1u << *type);
        log_regions(start, size);
        return fail("{} after {} attempts", name(r), attempt);
    }
    d.count(Object::Memory, 1);
    if (attempt > 1)
        log::info("import of guest memory {:#x}+{:#x} took {} attempts", start, size, attempt);
    if (const VkResult bound = d.vk.vkBindBufferMemory(d.handle, piece.buffer, piece.memory, 0); bound != VK_SUCCESS)
        return fail("binding: {}", name(bound));
    const VkBufferDeviceAddressInfo address{VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO, nullptr, piece.buffer};
    piece.address = d.vk.vkGetBufferDeviceAddress(d.handle, &address);
    piece.buffer_start = start;
    set_name(d, VK_OBJECT_TYPE_BUFFER, reinterpret_cast<u64>(piece.buffer), "guest memory");
    return {};
}

Result<std::unique_ptr<GuestMemory::Piece>> GuestMemory::make_piece(const guest::Range& range, u64 start, u64 size) {
    auto piece = std::make_unique<Piece>();
    piece->device = device_;
    piece->start = start;
    piece->size = size;
    piece->serial = range.serial;
    // An import over read-only pages is refused or, worse, loses the GPU's writes.
    Result<void> imported;
    if (tracker_ && device_->has(Feature::ExternalMemoryHost)) {
        const u64 alignment = std::max(device_->capabilities.import_alignment, guest::page_size());
        const u64 first = start / alignment * alignment;
        tracker_->while_open(GuestAddress{first}, align_up(start + size, alignment) - first,
                             [&] { imported = import(*piece); });
    } else {
        imported = import(*piece);
    }
    if (!imported) {
        if (device_->has(Feature::ExternalMemoryHost)) {
            ++failed_imports_;
            log::warning("guest memory {:#x}+{:#x} is mirrored: {}", start, size, imported.error().message);
        }
        piece = std::make_unique<Piece>();
        piece->device = device_;
        piece->start = piece->buffer_start = start;
        piece->size = size;
        piece->serial = range.serial;
        auto mirror = create_buffer(*device_, size, MemoryKind::Readback, "guest memory mirror");
        if (!mirror)
            return tl::unexpected(mirror.error());
        piece->mirror = std::move(*mirror);
        const auto* guest_bytes = reinterpret_cast<const std::byte*>(start);
        piece->agreed.assign(guest_bytes, guest_bytes + size);
        std::memcpy(piece->mirror.whole().mapped, piece->agreed.data(), size);
        flush(*device_, piece->mirror);
    }
    ++pieces_version_;
    return piece;
}

Result<GuestMemory::Piece*> GuestMemory::piece_for(const guest::Range& range, GuestAddress address, u64 size) {
    const u64 index = (address - range.start) / piece_size_;
    const u64 start = range.start.value + index * piece_size_;
    const u64 length = std::min(piece_size_, range.end().value - start);
    if (address.value - start + size <= length) {
        auto& slot = pieces_[start];
        if (slot && slot->serial != range.serial) {
            queue_->retire(std::move(slot));
            slot.reset();
        }
        if (!slot) {
            auto made = make_piece(range, start, length);
            if (!made) {
                pieces_.erase(start);
                return tl::unexpected(made.error());
            }
            slot = std::move(*made);
        }
        return slot.get();
    }
    for (const auto& piece : straddling_)
        if (piece->serial == range.serial && piece->holds(address.value, size))
            return piece.get();
    if (!device_->has(Feature::ExternalMemoryHost))
        return fail("guest range {:#x}+{:#x} crosses a boundary of the mirrored pieces", address.value, size);
    if (size > largest_piece)
        return fail("guest range {:#x}+{:#x} is larger than an import can be", address.value, size);
    auto made = make_piece(range, address.value, size);
    if (!made)
        return tl::unexpected(made.error());
    straddling_.push_back(std::move(*made));
    return straddling_.back().get();
}

Result<BufferSlice> GuestMemory::resolve(GuestAddress address, u64 size) {
    if (last_ && last_->holds(address.value, size))
        return last_->slice(address.value, size);
    const auto range = memory_->find(address);
    if (!range && !table_.empty()) {
        u64 parts = 0;
        GuestAddress found{0};
        const bool inside = table_.visit(address.value, size, [&](const guest::MappedPart& part) {
            ++parts;
            found.value = part.physical;
        });
        if (inside && parts == 1 && found.value)
            return resolve(found, size);
        if (inside)
            return fail("virtual range {:#x}+{:#x}: {}", address.value, size,
                        parts == 1 ? "not mapped" : "mapped in pieces");
    }
    if (!range)
        return fail("address {:#x} is in no memory pool", address.value);
    if (!range->contains(address, size))
        return fail("range {:#x}+{:#x} leaves its memory pool {:#x}+{:#x}", address.value, size, range->start.value,
                    range->size);
    auto piece = piece_for(*range, address, size);
    if (!piece)
        return tl::unexpected(piece.error());
    last_ = *piece;
    return last_->slice(address.value, size);
}

Result<BufferSlice> GuestMemory::resolve_open_ended(GuestAddress address) {
    address = physical(address);
    const auto range = memory_->find(address);
    if (!range)
        return fail("address {:#x} is in no memory pool", address.value);
    const u64 to_pool_end = range->end() - address;
    const u64 to_piece_end = piece_size_ - (address - range->start) % piece_size_;
    const u64 size = std::min(to_pool_end, std::max(to_piece_end, open_ended));
    if (size > to_piece_end && !device_->has(Feature::ExternalMemoryHost))
        return resolve(address, to_piece_end);
    return resolve(address, size);
}

GuestAddress GuestMemory::physical(GuestAddress address) const {
    if (table_.empty())
        return address;
    GuestAddress out = address;
    table_.visit(address.value, 1, [&out](const guest::MappedPart& part) { out.value = part.physical; });
    return out;
}

template <class Visit>
void GuestMemory::for_each_mirror(GuestAddress address, u64 size, Visit&& visit) {
    if (!table_.empty() && table_.visit(address.value, size, [&](const guest::MappedPart& part) {
            if (part.physical)
                for_each_mirror(GuestAddress{part.physical}, part.size, visit);
        }))
        return;
    const u64 begin = address.value, end = begin + size;
    auto it = pieces_.upper_bound(begin);
    if (it != pieces_.begin())
        --it; // the piece that starts at or before `begin`
    for (; it != pieces_.end() && it->first < end; ++it) {
        Piece& p = *it->second;
        const u64 from = std::max(begin, p.start), to = std::min(end, p.start + p.size);
        if (p.mirror && from < to)
            visit(p, from, to - from);
    }
}

// Brings the bytes that changed in `from` since both agreed to `to`, and leaves alone what changed in `to`: the guest
// and the GPU may both be writing. Calls before(offset, size) for each block that has some.
template <class Before>
static void bring_changes(const std::byte* from, std::byte* to, std::byte* agreed, u64 size, Before&& before) {
    constexpr u64 block = 4096;
    for (u64 at = 0; at < size; at += block) {
        const u64 bytes = std::min(block, size - at);
        if (std::memcmp(from + at, agreed + at, bytes) == 0)
            continue;
        before(at, bytes);
        for (u64 i = at; i < at + bytes; ++i)
            if (const std::byte now = from[i]; now != agreed[i])
                to[i] = agreed[i] = now;
    }
}

void GuestMemory::flush_to_gpu(GuestAddress address, u64 size) {
    for_each_mirror(address, size, [&](Piece& p, u64 from, u64 bytes) {
        bool changed = false;
        bring_changes(reinterpret_cast<const std::byte*>(from), p.mirror.whole().mapped + (from - p.start),
                      p.agreed.data() + (from - p.start), bytes, [&changed](u64, u64) { changed = true; });
        if (changed)
            flush(*device_, p.mirror);
    });
}

void GuestMemory::publish_to_guest(GuestAddress address, u64 size) {
    for_each_mirror(address, size, [&](Piece& p, u64 from, u64 bytes) {
        invalidate(*device_, p.mirror);
        std::vector<guest::PageRange> opened;
        bring_changes(p.mirror.whole().mapped + (from - p.start), reinterpret_cast<std::byte*>(from),
                      p.agreed.data() + (from - p.start), bytes, [&](u64 at, u64 count) {
                          if (!tracker_)
                              return;
                          tracker_->open(GuestAddress{from + at}, count);
                          opened.push_back({GuestAddress{from + at}, count});
                      });
        for (const guest::PageRange& r : opened)
            tracker_->close(r.start, r.size);
    });
}

template <class Predicate>
void GuestMemory::drop_if(Predicate&& predicate) {
    const auto drop = [&](std::unique_ptr<Piece>& piece) {
        if (!predicate(*piece))
            return;
        queue_->retire(std::move(piece));
        piece.reset();
        ++pieces_version_;
    };
    for (auto& [start, piece] : pieces_)
        drop(piece);
    for (auto& piece : straddling_)
        drop(piece);
    std::erase_if(pieces_, [](const auto& entry) { return !entry.second; });
    std::erase_if(straddling_, [](const auto& piece) { return !piece; });
    last_ = nullptr;
}

void GuestMemory::update() {
    const u64 version = memory_->version();
    if (version == version_)
        return;
    version_ = version;
    drop_if([&](const Piece& p) {
        const auto range = memory_->find(GuestAddress{p.start});
        return !range || range->serial != p.serial;
    });
}

void GuestMemory::remapped(GuestAddress address, u64 size) {
    drop_if([&](const Piece& p) { return p.start < address.value + size && address.value < p.start + p.size; });
}

// Pieces by their guest addresses, and the mapped runs of virtual pools, cut where the pieces behind them end.
std::vector<std::byte> GuestMemory::map_bytes() {
    std::vector<shader::MemoryRange> ranges;
    for (const auto& [start, piece] : pieces_)
        ranges.push_back({start, piece->size, piece->slice(start, 1).address});
    table_.visit_runs([&](const guest::MappedPart& run) {
        for (u64 done = 0; done < run.size;) {
            const u64 at = run.physical + done;
            auto next = pieces_.upper_bound(at);
            const Piece* piece = next == pieces_.begin() ? nullptr : std::prev(next)->second.get();
            if (!piece || !piece->holds(at, 1)) // its pool is gone
                return;
            const u64 size = std::min(run.size - done, piece->start + piece->size - at);
            ranges.push_back({run.address + done, size, piece->slice(at, 1).address});
            done += size;
        }
    });
    std::sort(ranges.begin(), ranges.end(), [](const auto& a, const auto& b) { return a.guest < b.guest; });
    const shader::MemoryMap header{static_cast<u32>(ranges.size()), 0};
    std::vector<std::byte> out(sizeof header + ranges.size() * sizeof(shader::MemoryRange));
    std::memcpy(out.data(), &header, sizeof header);
    std::ranges::copy(std::as_bytes(std::span(ranges)), out.begin() + sizeof header); // there may be none
    return out;
}

Result<GuestMemory::Map> GuestMemory::memory_map(Commands* commands) {
    if (memory_->version() != map_memory_version_) {
        update();
        for (const guest::Range& range : memory_->ranges())
            for (u64 at = 0; at < range.size; at += piece_size_)
                if (auto piece = piece_for(range, range.start + at, 1); !piece)
                    return tl::unexpected(piece.error());
        map_memory_version_ = version_;
    }
    if (map_ && map_version_ == pieces_version_ && map_table_version_ == table_.generation())
        return Map{map_.whole(), false};
    const std::vector<std::byte> bytes = map_bytes();
    const bool in_place = commands && map_ && bytes.size() <= map_.whole().size;
    if (in_place) {
        const auto staged = queue_->arena().push(bytes, 16);
        if (!staged)
            return tl::unexpected(staged.error());
        const VkCommandBuffer c = commands->prologue();
        const VkMemoryBarrier2 ordered{VK_STRUCTURE_TYPE_MEMORY_BARRIER_2,   nullptr,
                                       VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT, VK_ACCESS_2_MEMORY_WRITE_BIT,
                                       VK_PIPELINE_STAGE_2_COPY_BIT,         VK_ACCESS_2_TRANSFER_WRITE_BIT};
        VkDependencyInfo dependency{VK_STRUCTURE_TYPE_DEPENDENCY_INFO};
        dependency.memoryBarrierCount = 1;
        dependency.pMemoryBarriers = &ordered;
        device_->vk.vkCmdPipelineBarrier2(c, &dependency);
        const VkBufferCopy copy{staged->offset, 0, bytes.size()};
        device_->vk.vkCmdCopyBuffer(c, staged->buffer, map_.whole().buffer, 1, &copy);
    } else {
        constexpr u64 smallest = 64; // entries; grows by doubling
        const u64 room = sizeof(shader::MemoryMap) + smallest * sizeof(shader::MemoryRange);
        auto buffer = create_buffer(*device_, std::max<u64>(room, bytes.size() * 2), MemoryKind::Upload, "memory map");
        if (!buffer)
            return tl::unexpected(buffer.error());
        std::memcpy(buffer->whole().mapped, bytes.data(), bytes.size());
        flush(*device_, *buffer);
        if (map_ && commands && queue_->completed() < queue_->submitted()) {
            ++map_waits_; // the work in flight reads the descriptor that names the old one
            if (const auto waited = queue_->wait(queue_->submitted()); !waited)
                return tl::unexpected(waited.error());
        }
        if (map_)
            queue_->retire(std::move(map_));
        map_ = std::move(*buffer);
    }
    map_version_ = pieces_version_;
    map_table_version_ = table_.generation();
    return Map{map_.whole(), !in_place};
}

GuestMemory::Statistics GuestMemory::statistics() const {
    Statistics s;
    const auto add = [&](const Piece& p) {
        ++s.pieces;
        (p.mirror ? s.mirrored_bytes : s.imported_bytes) += p.size;
    };
    for (const auto& [start, piece] : pieces_)
        add(*piece);
    for (const auto& piece : straddling_)
        add(*piece);
    s.failed_imports = failed_imports_;
    s.map_waits = map_waits_;
    return s;
}

} // namespace heaviside::gpu
