// Textures whose storage lies in a virtual pool: an ordinary image, filled through the page table.
//
// A change of the mapping is a change of content like any other: the tiles that it touches are compared with what the
// image has, and those that differ are uploaded. What the GPU drew is stored into the memory that was mapped when it
// was drawn, before a remap takes effect; from there every other place that maps the same memory gets it.
#include "base/log.h"
#include "replay/texels.h"
#include "replay/textures.h"

#include <algorithm>

namespace heaviside::replay {

bool Textures::in_virtual_pool(GuestRange range, std::vector<GuestRange>& parts) const {
    if (gpu_memory_->page_table().empty())
        return false;
    return gpu_memory_->page_table().visit(range.address, range.size, [&parts](const guest::MappedPart& p) {
        if (p.physical)
            parts.push_back({p.physical, p.size});
    });
}

bool Textures::touches(const Texture& t, const GuestRange& range) {
    return t.sparse ? t.sparse->pieces()->touches(0, t.layout.size, range.address, range.size)
                    : range.touches({t.begin(), t.layout.size});
}

bool Textures::share_bytes(const Texture& t, const GuestRange& own, const Texture& other) {
    if (!t.sparse)
        return touches(other, own);
    bool found = false;
    t.sparse->pieces()->visit(own.address - t.begin(), own.size, [&](const StoragePiece& p) {
        found |= p.data && touches(other, {p.address(), p.size});
    });
    return found;
}

void Textures::locate_sparse(Texture& t, u64 offset, u64 size) {
    t.sparse->relocate(std::make_shared<StoragePieces>(gpu_memory_->page_table(), *memory_, t.begin(), t.layout.size),
                       offset, size);
    t.checked = 0;
}

void Textures::attach_sparse(Texture& t) {
    if (t.description.samples > 1 || !gpu_memory_->is_virtual(GuestAddress{t.begin()}))
        return;
    t.sparse = std::make_unique<SparseStorage>(t.layout, t.description.flags & texture::flags::sparse);
    t.cpu_visible = true;
    locate_sparse(t, 0, t.layout.size);
    t.first_mapped_level = t.sparse->first_mapped_level();
}

std::vector<Texture*> Textures::remap(std::span<const guest::MappedPart> parts) {
    std::vector<Texture*> affected;
    for (Texture* t : sparse_)
        if (std::any_of(parts.begin(), parts.end(), [t](const guest::MappedPart& p) {
                return GuestRange{p.address, p.size}.touches({t->begin(), t->layout.size});
            }))
            affected.push_back(t);
    // What was drawn belongs to the memory that is mapped there until now.
    for (const guest::MappedPart& p : parts)
        if (const GuestRange range{p.address, p.size};
            std::any_of(affected.begin(), affected.end(), [&](const Texture* t) {
                return std::any_of(t->unstored.begin(), t->unstored.end(),
                                   [&](const WrittenPart& w) { return bytes_of(*t, w).touches(range); });
            })) {
            (void)settle(p.address, p.size);
        }
    for (const guest::MappedPart& p : parts)
        if (auto mapped = gpu_memory_->map_virtual(p); !mapped)
            log::error("mapping: {}", mapped.error().message);
    std::vector<Texture*> clamped;
    for (Texture* t : affected) {
        for (const guest::MappedPart& p : parts) {
            const u64 from = std::max(p.address, t->begin()), to = std::min(p.address + p.size, t->end());
            if (from < to)
                locate_sparse(*t, from - t->begin(), to - from);
        }
        for (Texture* other : t->aliases)
            other->aliases.erase(std::remove(other->aliases.begin(), other->aliases.end(), t), other->aliases.end());
        t->aliases.clear();
        find_sparse_aliases(*t);
        if (const u32 first = t->sparse->first_mapped_level(); first != t->first_mapped_level) {
            t->first_mapped_level = first;
            clamped.push_back(t);
        }
    }
    return clamped;
}

void Textures::find_sparse_aliases(Texture& t) {
    std::vector<Texture*> others;
    for (const StoragePiece& p : t.sparse->pieces()->all())
        if (p.data)
            for (Texture* other : overlapping(p.address(), p.size))
                if (other != &t && std::find(others.begin(), others.end(), other) == others.end())
                    others.push_back(other);
    for (Texture* other : others) {
        t.aliases.push_back(other);
        other->aliases.push_back(&t);
        t.stale |= !other->unstored.empty();
    }
}

bool Textures::is_behind_others(const Texture& t) const {
    if (deferred_.empty() && gpu_writes_.empty() && unstored_.empty())
        return false;
    const auto& pieces = t.sparse->pieces()->all();
    return std::any_of(pieces.begin(), pieces.end(), [&](const StoragePiece& p) {
        const GuestRange range{p.address(), p.size};
        return p.data && (deferred_.touches(range) || is_written_by_gpu(range) ||
                          std::any_of(t.aliases.begin(), t.aliases.end(),
                                      [&](const Texture* o) { return !o->unstored.empty() && touches(*o, range); }));
    });
}

bool Textures::needs_sparse_refresh(Texture& t) {
    if (t.sparse->stores_pending()) { // what is there is not all of it yet (OBJ-198)
        t.checked = queue_->submitted() + 1;
        return false;
    }
    if (is_behind_others(t) || t.sparse->look(tracker_) || t.refill)
        return true;
    t.checked = queue_->submitted() + 1;
    return false;
}

// Between commands of an upload, wherever those go.
void Textures::transfer_barrier(gpu::Commands& commands, const Texture& t) const {
    if (is_recorded(t)) {
        commands.barrier();
        return;
    }
    VkMemoryBarrier2 barrier{.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER_2};
    barrier.srcStageMask = barrier.dstStageMask = VK_PIPELINE_STAGE_2_ALL_TRANSFER_BIT;
    barrier.srcAccessMask = VK_ACCESS_2_TRANSFER_WRITE_BIT;
    barrier.dstAccessMask = VK_ACCESS_2_TRANSFER_READ_BIT | VK_ACCESS_2_TRANSFER_WRITE_BIT;
    VkDependencyInfo dependency{.sType = VK_STRUCTURE_TYPE_DEPENDENCY_INFO};
    dependency.memoryBarrierCount = 1;
    dependency.pMemoryBarriers = &barrier;
    device_->vk.vkCmdPipelineBarrier2(commands.prologue(), &dependency);
}

Result<void> Textures::refresh_sparse(gpu::Commands& commands, Texture& t) {
    SparseStorage& s = *t.sparse;
    gpu::Commands* c = &commands;
    const auto bring = [&] { // into memory what is only in images
        c = settle(t.begin(), t.layout.size);
        s.suspect(0, t.layout.size);
        return c != nullptr;
    };
    if (std::exchange(t.stale, false) || s.stores_pending() || is_behind_others(t))
        if (!bring())
            return fail("no command buffer");
    (void)s.look(tracker_);
    if (t.initialised && !t.unstored.empty()) {
        // Levels that are uploaded whole take the drawing in them along.
        const auto parts = s.parts_of(s.changed());
        const bool whole_levels = std::any_of(parts.begin(), parts.end(), [&](const SparseStorage::Part& p) {
            return p.whole_level && std::any_of(t.unstored.begin(), t.unstored.end(), [&p](const WrittenPart& w) {
                       return w.level == p.level && p.layer >= w.first_layer && p.layer < w.first_layer + w.layers;
                   });
        });
        if (whole_levels && !bring())
            return fail("no command buffer");
    }
    t.checked = queue_->submitted() + 1;
    if (!std::exchange(t.initialised, true)) {
        c->initialise(t.image);
        s.image_is_new();
        if (!texture::is_compressed(texture::info(t.description.format))) { // those cannot be cleared
            clear_to_zero(*c, t);
            transfer_barrier(*c, t);
            s.image_is_zero();
        }
    }
    (void)s.look(tracker_);
    const std::vector<u32> changed = s.changed();
    s.accept();
    std::vector<std::byte> bytes, rows;
    u64 uploaded = 0;
    for (const SparseStorage::Part& p : s.parts_of(changed)) {
        if (p.level >= t.image.description().levels)
            continue;
        bytes.resize(p.size);
        s.pieces()->read(p.offset, bytes);
        const texture::LinearPitch pitch = texture::packed(p.layout, p.local);
        rows.resize(texture::linear_size(p.layout, p.local, pitch));
        if (auto read = texture::read_region(p.layout, 0, p.local_level, p.local, bytes, rows, pitch); !read)
            return read;
        if (auto done = upload_rows(*c, t, p.level, p.layer, p.region, rows, pitch); !done)
            return done;
        uploaded += p.size;
    }
    if (uploaded) {
        ++statistics_.uploads;
        statistics_.upload_bytes += uploaded;
    }
    if (uploaded || t.refill)
        fill_unmapped(*c, t);
    t.refill = false;
    return {};
}

// Where a view cannot clamp the level of detail, what is not mapped of the levels above the first mapped one is made
// from that one: a sample finds there what the clamp would have it find.
void Textures::fill_unmapped(gpu::Commands& commands, Texture& t) {
    if (t.first_mapped_level == 0 || device_->has(gpu::Feature::ImageViewMinLod))
        return;
    VkFormatProperties properties{};
    vkGetPhysicalDeviceFormatProperties(device_->physical, t.image.description().format, &properties);
    constexpr VkFormatFeatureFlags both = VK_FORMAT_FEATURE_BLIT_SRC_BIT | VK_FORMAT_FEATURE_BLIT_DST_BIT;
    if ((properties.optimalTilingFeatures & both) != both || !(t.image.aspects() & VK_IMAGE_ASPECT_COLOR_BIT))
        return;
    std::vector<u32> unmapped;
    for (u32 i = 0; i < t.sparse->tile_count(); ++i)
        if (!t.sparse->pieces()->is_mapped(i * SparseStorage::tile_bytes, t.sparse->tile_size(i)))
            unmapped.push_back(i);
    const u32 first = t.first_mapped_level;
    std::vector<VkImageBlit2> blits;
    for (const SparseStorage::Part& p : t.sparse->parts_of(unmapped)) {
        if (p.level >= first)
            continue;
        const TexelExtent e = texel_extent(t, p.level, p.region);
        const texture::Level& source = t.layout.levels[first];
        const u32 shift = first - p.level;
        VkImageBlit2 b{.sType = VK_STRUCTURE_TYPE_IMAGE_BLIT_2};
        b.srcSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, first, p.layer, 1};
        b.dstSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, p.level, p.layer, 1};
        const auto span = [shift](u32 at, u32 size, u32 limit, i32& from, i32& to) {
            from = static_cast<i32>(std::min(at >> shift, limit - 1));
            to = static_cast<i32>(std::clamp((at + size) >> shift, static_cast<u32>(from) + 1, limit));
        };
        span(e.x, e.width, source.width, b.srcOffsets[0].x, b.srcOffsets[1].x);
        span(e.y, e.height, source.height, b.srcOffsets[0].y, b.srcOffsets[1].y);
        span(e.z, e.depth, source.depth, b.srcOffsets[0].z, b.srcOffsets[1].z);
        b.dstOffsets[0] = {static_cast<i32>(e.x), static_cast<i32>(e.y), static_cast<i32>(e.z)};
        b.dstOffsets[1] = {static_cast<i32>(e.x + e.width), static_cast<i32>(e.y + e.height),
                           static_cast<i32>(e.z + e.depth)};
        blits.push_back(b);
    }
    if (blits.empty())
        return;
    transfer_barrier(commands, t);
    VkBlitImageInfo2 info{.sType = VK_STRUCTURE_TYPE_BLIT_IMAGE_INFO_2};
    info.srcImage = info.dstImage = t.image.get();
    info.srcImageLayout = gpu::layout_of(*device_, gpu::ImageUse::CopySource);
    info.dstImageLayout = gpu::layout_of(*device_, gpu::ImageUse::CopyTarget);
    info.regionCount = static_cast<u32>(blits.size());
    info.pRegions = blits.data();
    info.filter = properties.optimalTilingFeatures & VK_FORMAT_FEATURE_SAMPLED_IMAGE_FILTER_LINEAR_BIT
                      ? VK_FILTER_LINEAR
                      : VK_FILTER_NEAREST;
    device_->vk.vkCmdBlitImage2(transfer_commands(commands, t), &info);
    if (is_recorded(t))
        commands.barrier();
    t.sparse->filled(unmapped);
}

// A draw went past what is mapped: stores there are dropped, so the image must not keep them.
void Textures::mark_sparse_written(Texture& t, const WrittenPart& part) {
    const GuestRange r = bytes_of(t, part);
    const u64 offset = r.address - t.begin();
    t.sparse->pieces()->visit(offset, r.size, [&](const StoragePiece& p) {
        if (p.data)
            return;
        t.sparse->distrust(p.offset, p.size);
        t.checked = 0;
    });
    t.refill |= t.first_mapped_level != 0;
}

Result<std::function<void()>> Textures::record_sparse_store(gpu::Commands& commands, Texture& t) {
    struct Plane {
        u32 level, layer;
        texture::BlockRegion region;
        VkImageAspectFlags aspect;
        u64 offset;
    };
    auto written = std::make_shared<std::vector<Plane>>();
    u64 size = 0;
    for (const WrittenPart& p : t.unstored)
        for (u32 layer = p.first_layer; layer < p.first_layer + p.layers; ++layer)
            for (const VkImageAspectFlags aspect : planes(t.image.aspects())) {
                const u64 units = u64{p.region.width} * p.region.height * p.region.depth;
                const u64 begin = layer * t.layout.layer_stride + t.layout.levels[p.level].offset;
                if (p.level >= t.image.description().levels || units == 0 ||
                    !t.sparse->pieces()->has_mapped(begin, t.layout.levels[p.level].size))
                    continue;
                written->push_back({p.level, layer, p.region, aspect, size});
                size = align_up(size + units * plane_bytes(t.format, aspect), u64{16});
            }
    if (written->empty())
        return [] {};
    auto made = gpu::create_buffer(*device_, size, gpu::MemoryKind::Readback, "texture store");
    if (!made)
        return tl::unexpected(made.error());
    auto buffer = std::make_shared<gpu::Buffer>(std::move(*made));
    std::vector<VkBufferImageCopy2> copies;
    for (const Plane& p : *written)
        copies.push_back(copy_of(p.offset, p.aspect, p.level, p.layer, texel_extent(t, p.level, p.region)));
    VkCopyImageToBufferInfo2 info{.sType = VK_STRUCTURE_TYPE_COPY_IMAGE_TO_BUFFER_INFO_2};
    info.srcImage = t.image.get();
    info.srcImageLayout = gpu::layout_of(*device_, gpu::ImageUse::CopySource);
    info.dstBuffer = buffer->whole().buffer;
    info.regionCount = static_cast<u32>(copies.size());
    info.pRegions = copies.data();
    commands.prepare_transfer();
    device_->vk.vkCmdCopyImageToBuffer2(commands.handle(), &info);
    commands.barrier(
        {.target_stages = VK_PIPELINE_STAGE_2_HOST_BIT | VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT,
         .target_access = VK_ACCESS_2_HOST_READ_BIT | VK_ACCESS_2_MEMORY_READ_BIT | VK_ACCESS_2_MEMORY_WRITE_BIT});
    mark_recorded(t);
    ++statistics_.write_backs;
    std::vector<GuestRange> ranges;
    for (const Plane& p : *written)
        t.sparse->pieces()->visit(p.layer * t.layout.layer_stride + t.layout.levels[p.level].offset,
                                  t.layout.levels[p.level].size, [&](const StoragePiece& piece) {
                                      if (piece.data)
                                          ranges.push_back({piece.address(), piece.size});
                                  });
    std::vector<SparseStorage::Part> levels;
    for (const Plane& p : *written)
        levels.push_back(t.sparse->part_of_level(p.layer, p.level));
    auto store = std::make_shared<SparseStorage::Store>(*t.sparse, levels);
    return deferred_.add(std::move(ranges), [device = device_, tracker = tracker_, store, buffer, written,
                                             levels = std::move(levels),
                                             what = Texels{&texture::info(t.description.format), t.format}] {
        gpu::invalidate(*device, *buffer);
        store->begin();
        std::vector<std::byte> before, after, rows;
        for (std::size_t i = 0; i < written->size(); ++i) {
            const Plane& p = (*written)[i];
            const SparseStorage::Part& l = levels[i];
            before.resize(l.size);
            store->pieces().read(l.offset, before);
            after = before;
            const texture::LinearPitch pitch = texture::packed(l.layout, p.region);
            Bytes texels(buffer->whole().mapped + p.offset, texture::linear_size(l.layout, p.region, pitch));
            if (what.host.conversion != Conversion::None) {
                rows.resize(texels.size());
                (void)texture::read_region(l.layout, 0, p.level, p.region, after, rows, pitch);
                const texture::BlockRegion packed{0, 0, 0, p.region.width, p.region.height, p.region.depth};
                restore_plane(what, p.aspect, packed, buffer->whole().mapped + p.offset, rows, pitch);
                texels = rows;
            }
            if (auto put = texture::write_region(l.layout, 0, p.level, p.region, after, texels, pitch); !put)
                log::error_once("storing a texture: {}", put.error().message);
            if (tracker)
                store->pieces().mark(*tracker, l.offset, l.size);
            store->pieces().store(l.offset, before, after);
        }
        store->end();
    });
}

} // namespace heaviside::replay
