// GPU content into guest memory: what is stored when, and in which order.
//
// The way is image -> readback buffer -> tiling on the CPU, on the thread that watches the GPU: on devices that are
// CPUs it is the fastest there is, it knows every format and region, and the guest's pages change only while no page of
// them is protected. What needs the bytes earlier (settle()) waits for it.
#include "replay/textures.h"

#include "base/hash.h"
#include "base/log.h"
#include "replay/texels.h"

#include <algorithm>

namespace heaviside::replay {

std::function<void()> DeferredWrites::add(std::vector<GuestRange> ranges, std::function<void()> work) {
    while (!jobs_.empty() && jobs_.front()->done)
        jobs_.pop_front();
    auto job = std::make_shared<Job>();
    job->ranges = std::move(ranges);
    job->work = std::move(work);
    jobs_.push_back(job);
    return [job] { run(*job); };
}

void DeferredWrites::run(Job& job) {
    const std::lock_guard lock(job.mutex);
    if (job.done)
        return;
    job.work();
    job.work = nullptr;
    job.done = true;
}

void DeferredWrites::run() {
    for (const auto& job : jobs_)
        run(*job);
    jobs_.clear();
}

bool DeferredWrites::touches(GuestRange range) const {
    return std::any_of(jobs_.begin(), jobs_.end(), [&](const auto& j) {
        return !j->done &&
               std::any_of(j->ranges.begin(), j->ranges.end(), [&](const GuestRange& r) { return r.touches(range); });
    });
}

WrittenPart Textures::whole_level(const Texture& t, u32 level, u32 first_layer, u32 layers) {
    level = std::min(level, t.layout.level_count - 1);
    WrittenPart part{level, first_layer, layers, texture::whole(t.layout.levels[level])};
    if (t.image.description().type == VK_IMAGE_TYPE_3D) { // layers of a pass are planes
        part.region.z = std::min(first_layer, part.region.depth - 1);
        part.region.depth = std::min(layers, part.region.depth - part.region.z);
        part.first_layer = 0;
        part.layers = 1;
    }
    part.first_layer = std::min(part.first_layer, t.layout.layers - 1);
    part.layers = std::min(part.layers, t.layout.layers - part.first_layer);
    return part;
}

WrittenPart Textures::part_of_texels(const Texture& t, u32 level, u32 first_layer, u32 layers, const VkOffset3D& offset,
                                     const VkExtent3D& extent) {
    WrittenPart part = whole_level(t, level, first_layer, layers);
    const texture::FormatInfo& f = texture::info(t.description.format);
    texture::BlockRegion& r = part.region;
    const auto span = [](u32& at, u32& size, i32 from, u32 length, u32 block) {
        const u32 first = static_cast<u32>(std::max(0, from)) / block;
        const u32 last = (static_cast<u32>(std::max(0, from)) + length + block - 1) / block;
        const u32 end = std::min(at + size, last);
        at = std::min(at + first, end);
        size = end - at;
    };
    span(r.x, r.width, offset.x, extent.width, f.block_width);
    span(r.y, r.height, offset.y, extent.height, f.block_height);
    if (t.image.description().type == VK_IMAGE_TYPE_3D) {
        r.z = std::min(static_cast<u32>(std::max(0, offset.z)), t.layout.levels[part.level].depth - 1);
        r.depth = std::min(extent.depth, t.layout.levels[part.level].depth - r.z);
    }
    return part;
}

GuestRange Textures::bytes_of(const Texture& t, const WrittenPart& part) {
    const texture::Level& level = t.layout.levels[part.level];
    const u64 first = part.first_layer * t.layout.layer_stride + level.offset;
    return {t.begin() + first, (part.layers - 1) * t.layout.layer_stride + level.size};
}

void Textures::mark_gpu_written(Texture& t, const WrittenPart& part) {
    t.gpu_written = true;
    t.written_at = ++sequence_;
    if (t.description.samples > 1 || t.format.conversion == Conversion::DecodeBlocks)
        return; // has no layout in memory, or no way back to it
    if (t.unstored.empty())
        unstored_.push_back(&t);
    const auto same = [&](const WrittenPart& p) {
        const texture::BlockRegion &a = p.region, &b = part.region;
        return p.level == part.level && p.first_layer == part.first_layer && p.layers == part.layers && a.x == b.x &&
               a.y == b.y && a.z == b.z && a.width == b.width && a.height == b.height && a.depth == b.depth;
    };
    constexpr std::size_t many = 64;
    if (std::none_of(t.unstored.begin(), t.unstored.end(), same)) {
        if (t.unstored.size() < many) {
            t.unstored.push_back(part);
        } else {
            t.unstored.clear();
            for (u32 level = 0; level < t.image.description().levels; ++level) {
                t.unstored.push_back({level, 0, t.layout.layers, texture::whole(t.layout.levels[level])});
            }
        }
    }
    for (Texture* other : t.aliases)
        other->stale |= share_bytes(t, bytes_of(t, part), *other);
    if (t.sparse)
        mark_sparse_written(t, part);
}

void Textures::discard(Texture& t, const stream::ViewDescription& view, u32 layers) {
    const gpu::ImageDescription& d = t.image.description();
    const VkExtent3D e = d.extent;
    const bool all = d.levels == 1 && e.depth == 1 && view.first_layer == 0 && layers == d.layers;
    if (!all || !t.initialised)
        return;
    // Older stores of others and the CPU's writes come first and are overwritten.
    t.stale = false;
    t.announced.clear();
    t.suspected.clear();
    t.storage->overwrites.fetch_add(1, std::memory_order_relaxed);
    t.checked = queue_->submitted() + 1;
    if (t.sparse) {
        if (!t.sparse->stores_pending())
            (void)t.sparse->look(tracker_);
        t.sparse->accept();
        return;
    }
    const auto bytes = memory_->bytes(GuestAddress{t.begin()}, t.layout.size);
    if (bytes && t.storage->pending.load(std::memory_order_acquire) == 0)
        t.storage->accept(tracker_, *bytes);
}

// Those with unstored parts that overlap the given ones, and those that overlap them: oldest write first.
std::vector<Texture*> Textures::unstored_with(std::vector<Texture*> found) const {
    for (std::size_t i = 0; i < found.size(); ++i)
        for (Texture* other : found[i]->aliases)
            if (!other->unstored.empty() && std::find(found.begin(), found.end(), other) == found.end())
                found.push_back(other);
    std::sort(found.begin(), found.end(),
              [](const Texture* a, const Texture* b) { return a->written_at < b->written_at; });
    return found;
}

// Depth, multisampled and compressible storage is nothing that a CPU reads on the console either; window textures are
// shown, not read.
bool Textures::is_readable(const Texture& t) const {
    constexpr u32 unread =
        texture::flags::display | texture::flags::video_decode | texture::flags::compressible | texture::flags::sparse;
    return t.cpu_visible && !(t.description.flags & unread) && (t.image.aspects() & VK_IMAGE_ASPECT_COLOR_BIT);
}

std::vector<std::function<void()>> Textures::store(gpu::Commands& commands, std::vector<Texture*> textures) {
    std::vector<std::function<void()>> out;
    for (Texture* t : unstored_with(std::move(textures))) {
        auto done = record_store(commands, *t);
        if (done)
            out.push_back(std::move(*done));
        else
            log::error_once("storing a texture to {:#x}: {}", t->begin(), done.error().message);
        t->unstored.clear();
    }
    unstored_.erase(
        std::remove_if(unstored_.begin(), unstored_.end(), [](const Texture* t) { return t->unstored.empty(); }),
        unstored_.end());
    return out;
}

std::vector<std::function<void()>> Textures::store_readable(gpu::Commands& commands) {
    std::vector<Texture*> readable;
    for (Texture* t : unstored_)
        if (is_readable(*t))
            readable.push_back(t);
    if (readable.empty())
        return {};
    return store(commands, std::move(readable));
}

// A page that the storage shares with others is marked, so that they look at their bytes again; pages of its own are
// opened, so that the store is not taken for the guest's.
static void open_for_store(guest::WriteTracker& tracker, u64 begin, u64 end) {
    const u64 page = guest::page_size();
    const u64 inner = align_up(begin, page), inner_end = end / page * page;
    if (inner >= inner_end) {
        tracker.mark(GuestAddress{begin}, end - begin);
        return;
    }
    if (begin < inner)
        tracker.mark(GuestAddress{begin}, inner - begin);
    if (inner_end < end)
        tracker.mark(GuestAddress{inner_end}, end - inner_end);
    tracker.open(GuestAddress{inner}, inner_end - inner);
}

Result<std::function<void()>> Textures::record_store(gpu::Commands& commands, Texture& t) {
    if (t.sparse)
        return record_sparse_store(commands, t);
    const auto bytes = memory_->bytes(GuestAddress{t.begin()}, t.layout.size);
    if (!bytes)
        return fail("it lies in no memory pool");
    struct Plane {
        u32 level, layer;
        texture::BlockRegion region;
        VkImageAspectFlags aspect;
        u64 offset;
    };
    auto planes_out = std::make_shared<std::vector<Plane>>();
    u64 size = 0;
    for (const WrittenPart& p : t.unstored)
        for (u32 layer = p.first_layer; layer < p.first_layer + p.layers; ++layer)
            for (const VkImageAspectFlags aspect : planes(t.image.aspects())) {
                const u64 units = u64{p.region.width} * p.region.height * p.region.depth;
                if (p.level >= t.image.description().levels || units == 0)
                    continue;
                planes_out->push_back({p.level, layer, p.region, aspect, size});
                size = align_up(size + units * plane_bytes(t.format, aspect), u64{16});
            }
    auto made = gpu::create_buffer(*device_, std::max<u64>(size, 16), gpu::MemoryKind::Readback, "texture store");
    if (!made)
        return tl::unexpected(made.error());
    auto buffer = std::make_shared<gpu::Buffer>(std::move(*made));
    commands.prepare_transfer();
    std::vector<VkBufferImageCopy2> copies;
    for (const Plane& p : *planes_out)
        copies.push_back(copy_of(p.offset, p.aspect, p.level, p.layer, texel_extent(t, p.level, p.region)));
    if (!copies.empty()) {
        VkCopyImageToBufferInfo2 info{.sType = VK_STRUCTURE_TYPE_COPY_IMAGE_TO_BUFFER_INFO_2};
        info.srcImage = t.image.get();
        info.srcImageLayout = gpu::layout_of(*device_, gpu::ImageUse::CopySource);
        info.dstBuffer = buffer->whole().buffer;
        info.regionCount = static_cast<u32>(copies.size());
        info.pRegions = copies.data();
        device_->vk.vkCmdCopyImageToBuffer2(commands.handle(), &info);
    }
    commands.barrier(
        {.target_stages = VK_PIPELINE_STAGE_2_HOST_BIT | VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT,
         .target_access = VK_ACCESS_2_HOST_READ_BIT | VK_ACCESS_2_MEMORY_READ_BIT | VK_ACCESS_2_MEMORY_WRITE_BIT});
    mark_recorded(t);
    u64 from = ~u64{0}, to = 0;
    for (const WrittenPart& p : t.unstored) {
        const GuestRange r = bytes_of(t, p);
        from = std::min(from, r.address);
        to = std::max(to, std::min(r.address + r.size, t.end()));
    }
    ++statistics_.write_backs;
    // Textures over the same bytes must not take the store for the guest's write either.
    struct Watched {
        std::shared_ptr<Storage> storage;
        texture::MutableBytes bytes;
        bool own;
        u32 overwrites;
    };
    std::vector<Watched> watched{{t.storage, *bytes, true, 0}};
    for (const Texture* other : t.aliases) {
        const auto theirs = memory_->bytes(GuestAddress{other->begin()}, other->layout.size);
        if (theirs && GuestRange{from, to - from}.touches({other->begin(), other->layout.size}))
            watched.push_back({other->storage, *theirs, false, other->storage->overwrites.load()});
    }
    std::vector<GuestRange> ranges;
    for (const WrittenPart& p : t.unstored)
        ranges.push_back(bytes_of(t, p));
    for (const Watched& w : watched)
        w.storage->pending.fetch_add(1, std::memory_order_relaxed);
    return deferred_.add(
        {GuestRange{from, to - from}},
        [device = device_, tracker = tracker_, watched = std::move(watched), ranges = std::move(ranges), buffer,
         planes_out, storage = *bytes, layout = t.layout, from, to,
         what = Texels{&texture::info(t.description.format), t.format}] {
            for (const Watched& w : watched) // what the CPU wrote before, to be uploaded with the drawing
                if (w.storage->known())
                    w.storage->look(tracker, w.bytes);
            if (tracker)
                open_for_store(*tracker, from, to);
            gpu::invalidate(*device, *buffer);
            std::vector<std::byte> rows;
            for (const Plane& p : *planes_out) {
                const texture::LinearPitch pitch = texture::packed(layout, p.region);
                Bytes texels(buffer->whole().mapped + p.offset, texture::linear_size(layout, p.region, pitch));
                if (what.host.conversion != Conversion::None) {
                    rows.resize(texels.size());
                    // The other plane's bits stay.
                    (void)texture::read_region(layout, p.layer, p.level, p.region, storage, rows, pitch);
                    const texture::BlockRegion packed{0, 0, 0, p.region.width, p.region.height, p.region.depth};
                    restore_plane(what, p.aspect, packed, buffer->whole().mapped + p.offset, rows, pitch);
                    texels = rows;
                }
                if (auto put = texture::write_region(layout, p.layer, p.level, p.region, storage, texels, pitch); !put)
                    log::error_once("storing a texture: {}", put.error().message);
            }
            if (tracker)
                tracker->close(GuestAddress{from}, to - from);
            for (const Watched& w : watched) {
                const bool has_it = w.own || w.overwrites != w.storage->overwrites.load();
                for (const GuestRange& r : ranges)
                    w.storage->stored(r, w.bytes, tracker != nullptr, has_it);
                w.storage->pending.fetch_sub(1, std::memory_order_release);
            }
        });
}

void Textures::retire_gpu_writes() {
    const u64 completed = queue_->completed();
    gpu_writes_.erase(std::remove_if(gpu_writes_.begin(), gpu_writes_.end(),
                                     [=](const GpuWrite& w) { return w.submission <= completed; }),
                      gpu_writes_.end());
}

bool Textures::is_unsettled(u64 address, u64 size) const {
    const GuestRange range{address, size};
    if (std::vector<GuestRange> parts; in_virtual_pool(range, parts))
        return std::any_of(parts.begin(), parts.end(), [this](const GuestRange& p) { return is_unsettled(p); });
    return is_unsettled(range);
}

bool Textures::is_written_by_gpu(const GuestRange& range) const {
    return std::any_of(gpu_writes_.begin(), gpu_writes_.end(),
                       [&](const GpuWrite& w) { return w.range.touches(range) && w.submission > queue_->completed(); });
}

bool Textures::is_unsettled(const GuestRange& range) const {
    return is_unstored(range) || is_written_by_gpu(range);
}

bool Textures::is_unstored(u64 address, u64 size) const {
    const GuestRange range{address, size};
    if (std::vector<GuestRange> parts; in_virtual_pool(range, parts))
        return std::any_of(parts.begin(), parts.end(), [this](const GuestRange& p) { return is_unstored(p); });
    return is_unstored(range);
}

bool Textures::is_unstored(const GuestRange& range) const {
    return std::any_of(unstored_.begin(), unstored_.end(), [&](const Texture* t) { return touches(*t, range); }) ||
           deferred_.touches(range);
}

gpu::Commands* Textures::settle(u64 address, u64 size) {
    std::vector<GuestRange> parts;
    if (!in_virtual_pool({address, size}, parts))
        parts = {{address, size}};
    std::vector<Texture*> inside;
    for (Texture* t : unstored_)
        if (std::any_of(parts.begin(), parts.end(), [t](const GuestRange& p) { return touches(*t, p); }))
            inside.push_back(t);
    gpu::Commands* c = recording_.commands();
    if (!c)
        return nullptr;
    (void)store(*c, std::move(inside)); // run below
    gpu_writes_.clear();
    return recording_.drain();
}

void Textures::storage_written_by_gpu(u64 address, u64 size, bool surely) {
    const GuestRange range{address, size};
    if (std::vector<GuestRange> parts; in_virtual_pool(range, parts)) {
        for (const GuestRange& p : parts)
            storage_written_by_gpu(p.address, p.size, surely);
        return;
    }
    const u64 submission = queue_->submitted() + 1;
    const auto same = [&](const GpuWrite& w) {
        return w.submission == submission && w.range.address == address && w.range.size >= size;
    };
    if (std::none_of(gpu_writes_.begin(), gpu_writes_.end(), same)) {
        retire_gpu_writes();
        gpu_writes_.push_back({range, submission});
    }
    for (Texture* t : overlapping(address, size)) {
        t->checked = 0;
        if (t->sparse) {
            t->sparse->suspect_memory(range.address, range.size);
            continue;
        }
        if (surely)
            announce(t->announced, range);
        else
            announce(t->suspected, range); // the tracker sees the CPU only
        t->written = true;
    }
}

} // namespace heaviside::replay
