#include "replay/textures.h"

#include "base/hash.h"
#include "base/log.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace heaviside::replay {
namespace {

using texture::Target;

bool is_1d(Target t) {
    return t == Target::D1 || t == Target::D1Array;
}

// Images of these targets differ only in their layer count and share one description.
u32 image_class(Target t) {
    switch (t) {
    case Target::D1:
    case Target::D1Array:
        return 1;
    case Target::D3:
        return 3;
    case Target::D2Multisample:
    case Target::D2MultisampleArray:
        return 4;
    default:
        return 2;
    }
}

VkSampleCountFlagBits sample_bits(u32 samples) {
    return static_cast<VkSampleCountFlagBits>(std::max(1u, samples));
}

gpu::ImageDescription image_description(const stream::TextureDescription& d, const texture::Layout& layout,
                                        const ImageFormat& format) {
    const auto target = static_cast<Target>(d.target);
    const texture::FormatInfo& info = texture::info(d.format);
    const bool depth = texture::has_depth(info) || texture::has_stencil(info);
    gpu::ImageDescription out;
    out.type = is_1d(target) ? VK_IMAGE_TYPE_1D : target == Target::D3 ? VK_IMAGE_TYPE_3D : VK_IMAGE_TYPE_2D;
    out.format = format.base;
    out.extent = {layout.levels[0].width, layout.levels[0].height, layout.levels[0].depth};
    out.levels = std::min(layout.level_count, texture::full_level_count(texture_description(d)));
    out.layers = layout.layers;
    out.samples = sample_bits(d.samples);
    out.usage = VK_IMAGE_USAGE_TRANSFER_SRC_BIT | VK_IMAGE_USAGE_TRANSFER_DST_BIT | VK_IMAGE_USAGE_SAMPLED_BIT;
    if (depth) {
        out.usage |= VK_IMAGE_USAGE_DEPTH_STENCIL_ATTACHMENT_BIT;
    } else if (!texture::is_compressed(info)) {
        out.usage |= VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT | VK_IMAGE_USAGE_STORAGE_BIT;
        out.flags |= VK_IMAGE_CREATE_MUTABLE_FORMAT_BIT;
    } else if (format.base != format.view) {
        out.flags |= VK_IMAGE_CREATE_MUTABLE_FORMAT_BIT;
    }
    if (out.type == VK_IMAGE_TYPE_2D && out.samples == VK_SAMPLE_COUNT_1_BIT && out.layers >= 6 &&
        out.extent.width == out.extent.height)
        out.flags |= VK_IMAGE_CREATE_CUBE_COMPATIBLE_BIT;
    if (out.type == VK_IMAGE_TYPE_3D && !texture::is_compressed(info))
        out.flags |= VK_IMAGE_CREATE_2D_ARRAY_COMPATIBLE_BIT; // planes are render targets
    return out;
}

} // namespace

texture::Description texture_description(const stream::TextureDescription& d) {
    texture::Description out;
    out.target = static_cast<Target>(d.target);
    out.format = static_cast<texture::Format>(d.format);
    out.width = d.width;
    out.height = d.height;
    out.depth = d.depth;
    out.levels = d.levels;
    out.samples = d.samples;
    out.flags = d.flags;
    out.stride = d.stride;
    if (!(d.flags & texture::flags::any_linear))
        out.packaged = static_cast<u16>(d.block_height_log2 | d.block_depth_log2 << 4);
    return out;
}

u32 view_layers(const stream::ImageDescription& d) {
    return d.texture.target == static_cast<u8>(Target::D3) ? 1 : std::max<u32>(1, d.view.layer_count);
}

std::size_t Textures::KeyHash::operator()(const Key& key) const {
    return hash_bytes(std::as_bytes(std::span(key.words))).low;
}

u32 Textures::format_class(u32 format) const {
    return formats_->image(static_cast<texture::Format>(format)).image_class;
}

// What two descriptions must share to be one image. Colour formats of one texel size share it; the IMAGE flag, swizzles
// and what only changes views do not split it (ledger REN-061).
Textures::Key Textures::key_of(const stream::TextureDescription& d) const {
    const auto target = static_cast<Target>(d.target);
    const u32 layers = texture::layer_count(texture_description(d));
    const u32 linear = d.flags & texture::flags::any_linear;
    return {{static_cast<u32>(d.address), static_cast<u32>(d.address >> 32), d.width,
             is_1d(target) ? 1u : std::max<u32>(1, d.height), target == Target::D3 ? std::max<u32>(1, d.depth) : 1u,
             layers | u32{d.pad} << 16, image_class(target) << 16 | u32{d.levels} << 8 | std::max<u32>(1, d.samples),
             format_class(d.format), linear, d.stride, u32{d.block_height_log2} << 8 | d.block_depth_log2,
             d.flags & texture::flags::sparse}};
}

stream::ImageDescription Textures::as_seen(const stream::ImageDescription& image, shader::Dimension dimension) const {
    using shader::Dimension;
    stream::ImageDescription out = image;
    stream::TextureDescription& d = out.texture;
    stream::ViewDescription& v = out.view;
    auto target = static_cast<Target>(d.target);
    if (target == Target::Buffer || d.samples > 1)
        return out;
    const auto layout = texture::layout(texture_description(d));
    if (!layout)
        return out;
    const u32 layers = layout->layers;
    if (const texture::FormatInfo& from = texture::info(d.format), &to = texture::info(v.format);
        format_class(d.format) != format_class(v.format) && from.block_bytes == to.block_bytes &&
        v.first_level < layout->level_count) {
        // One level alone: blocks of one format become blocks of the other, which halve differently.
        const texture::Level& level = layout->levels[v.first_level];
        const bool single = layout->level_count == 1;
        d.address += level.offset + (single ? 0 : v.first_layer * layout->layer_stride);
        d.width = level.blocks_x * to.block_width;
        if (!is_1d(target))
            d.height = static_cast<u16>(level.blocks_y * to.block_height);
        if (target == Target::D3) {
            d.depth = static_cast<u16>(level.depth);
        } else if (!single) { // layers follow each other with all their levels: one is what can be named
            target = is_1d(target) ? Target::D1 : Target::D2;
            d.target = static_cast<u8>(target);
            d.depth = 1;
            if (target == Target::D1)
                d.height = 1;
            v.first_layer = 0;
            v.layer_count = 1;
        }
        d.format = v.format;
        d.levels = 1;
        d.block_height_log2 = level.block_height_log2;
        d.block_depth_log2 = level.block_depth_log2;
        v.first_level = 0;
        v.level_count = 1;
    }
    const bool flat = dimension == Dimension::D1 || dimension == Dimension::D1Array;
    if (is_1d(target) && (dimension == Dimension::D2 || dimension == Dimension::D2Array)) {
        d.target = static_cast<u8>(target == Target::D1 ? Target::D2 : Target::D2Array);
        d.depth = static_cast<u16>(layers);
        d.height = 1;
    } else if (flat && image_class(target) == 2 && d.height <= 1) {
        d.target = static_cast<u8>(layers > 1 ? Target::D1Array : Target::D1);
        d.height = static_cast<u16>(layers);
        d.depth = 1;
    } else if ((v.target == static_cast<u8>(Target::Cube) || v.target == static_cast<u8>(Target::CubeArray)) &&
               (dimension == Dimension::Cube || dimension == Dimension::CubeArray) && image_class(target) == 2 &&
               layers < 6 && d.width == d.height && !(d.flags & texture::flags::sparse)) {
        d.address += std::min<u32>(v.first_layer, layers - 1) * layout->layer_stride;
        d.target = static_cast<u8>(Target::Cube);
        d.depth = 1;
        d.pad = same_faces;
        v.first_layer = 0;
        v.layer_count = 6;
    }
    return out;
}

Textures::Textures(const gpu::Device& device, const Formats& formats, gpu::Queue& queue, gpu::GuestMemory& gpu_memory,
                   guest::Memory& memory, guest::WriteTracker* tracker)
    : device_(&device), formats_(&formats), queue_(&queue), gpu_memory_(&gpu_memory), memory_(&memory),
      tracker_(tracker) {}

Textures::~Textures() = default;

Result<std::unique_ptr<Texture>> Textures::make(const stream::TextureDescription& d) {
    texture::Description stored = texture_description(d);
    if (d.pad == same_faces)
        stored.target = Target::D2;
    auto layout = texture::layout(stored);
    if (!layout)
        return tl::unexpected(layout.error());
    if (d.pad == same_faces) {
        layout->layers = 6;
        layout->layer_stride = 0;
    }
    if (image_class(stored.target) == 4 && d.samples < 2) // shaders index past the one (ledger REN-056)
        return fail("multisample texture of {} samples", d.samples);
    auto t = std::make_unique<Texture>();
    t->description = d;
    t->layout = *layout;
    t->format = formats_->image(static_cast<texture::Format>(d.format));
    if (t->format.view == VK_FORMAT_UNDEFINED)
        return fail("texture format {} has no image", texture::info(d.format).name);
    gpu::ImageDescription wanted = image_description(d, t->layout, t->format);
    auto image = gpu::create_image(*device_, wanted);
    // A device need not have every number of samples: the next larger one, never fewer, because shaders would index
    // past them (ledger REN-056).
    for (u32 samples = d.samples * 2u; !image && d.samples > 1 && samples <= 64; samples *= 2) {
        wanted.samples = sample_bits(samples);
        image = gpu::create_image(*device_, wanted);
    }
    if (image && wanted.samples != sample_bits(d.samples))
        log::info("a texture of {} samples has {}, as the device can", u32{d.samples},
                  static_cast<u32>(wanted.samples));
    if (!image)
        return tl::unexpected(image.error());
    t->image = std::move(*image);
    const auto range = memory_->find(GuestAddress{d.address});
    t->cpu_visible = !range || range->cpu_access;
    t->storage = std::make_shared<Storage>(GuestRange{d.address, t->layout.size});
    attach_sparse(*t);
    return t;
}

Result<Texture*> Textures::find(const stream::TextureDescription& d) {
    const Key key = key_of(d);
    if (const auto it = textures_.find(key); it != textures_.end()) {
        Texture& known = *it->second;
        known.description.flags &= static_cast<u16>(d.flags | ~unread_flags); // readable if any description is
        return &known;
    }
    auto made = make(d);
    if (!made)
        return tl::unexpected(made.error());
    Texture* t = made->get();
    textures_[key] = std::move(*made);
    for (Texture* other : overlapping(t->begin(), t->layout.size)) {
        t->aliases.push_back(other);
        other->aliases.push_back(t);
        t->stale |= !other->unstored.empty();
    }
    for (u64 bucket = t->begin() / bucket_bytes; bucket <= (t->end() - 1) / bucket_bytes; ++bucket)
        buckets_[bucket].push_back(t);
    if (t->sparse) {
        sparse_.push_back(t);
        find_sparse_aliases(*t);
    }
    ++statistics_.images;
    statistics_.bytes += t->image.bytes();
    return t;
}

std::vector<Texture*> Textures::overlapping(u64 address, u64 size) const {
    std::vector<Texture*> out;
    const GuestRange range{address, std::min(size, ~u64{0} - address)};
    const u64 first = address / bucket_bytes, last = (address + std::max<u64>(range.size, 1) - 1) / bucket_bytes;
    const auto take = [&](u64 bucket, const std::vector<Texture*>& textures) {
        for (Texture* t : textures) // once: where both begin
            if (range.touches({t->begin(), t->layout.size}) && std::max(address, t->begin()) / bucket_bytes == bucket)
                out.push_back(t);
    };
    if (last - first > buckets_.size()) {
        for (const auto& [bucket, textures] : buckets_)
            if (bucket >= first && bucket <= last)
                take(bucket, textures);
    } else {
        for (u64 bucket = first; bucket <= last; ++bucket)
            if (const auto it = buckets_.find(bucket); it != buckets_.end())
                take(bucket, it->second);
    }
    for (Texture* t : sparse_) // and those that find the same memory through a page table
        if (touches(*t, range))
            out.push_back(t);
    return out;
}

bool Textures::has_content(const Texture& t) {
    return t.description.samples <= 1 && (t.cpu_visible || !(t.description.flags & texture::flags::compressible));
}

void Textures::read_journal() {
    if (!tracker_)
        return;
    written_pages_.clear();
    if (!tracker_->journal(journal_cursor_, written_pages_))
        ++lost_journals_; // every texture is looked at once
    for (const guest::PageRange& p : written_pages_)
        for (Texture* t : overlapping(p.start.value, p.size))
            t->written = true;
}

bool Textures::needs_refresh(Texture& t) {
    const u64 now = queue_->submitted() + 1;
    t.used = now;
    if (t.stale || !t.announced.empty())
        return true;
    if (t.checked == now)
        return false;
    if (!t.initialised)
        return true;
    if (t.sparse)
        return needs_sparse_refresh(t);
    Storage& s = *t.storage;
    const auto clean = [&] {
        t.checked = now;
        return false;
    };
    // What is there is not all of it yet (OBJ-198).
    if (s.pending.load(std::memory_order_acquire) != 0)
        return clean();
    if (s.changed()) // the CPU wrote before a store
        return true;
    // The CPU cannot have written, or what it wrote is no content: multisampled storage has no layout.
    if (!t.cpu_visible || !has_content(t))
        return clean();
    read_journal();
    for (const GuestRange& r : t.suspected)
        s.suspect(r);
    t.suspected.clear();
    if (s.known() && s.quiet() && !t.written && t.journal == lost_journals_)
        return clean();
    t.written = false;
    t.journal = lost_journals_;
    const auto bytes = memory_->bytes(GuestAddress{t.begin()}, t.layout.size);
    if (!bytes)
        return clean();
    s.look(tracker_, *bytes);
    ++statistics_.looks;
    return s.changed() || clean();
}

Result<void> Textures::refresh(gpu::Commands& commands, Texture& t) {
    if (!needs_refresh(t))
        return {};
    if (t.sparse)
        return refresh_sparse(commands, t);
    gpu::Commands* c = &commands;
    const auto storage = memory_->bytes(GuestAddress{t.begin()}, t.layout.size);
    const bool stale = std::exchange(t.stale, false);
    const bool content = storage && t.description.samples <= 1 && (stale || !t.announced.empty() || has_content(t));
    if (!stale && t.storage->pending.load(std::memory_order_acquire) == 0) // the CPU's bytes are newer
        drop_parts(t, [&](const WrittenPart& p) { return t.storage->changed_in(bytes_of(t, p)); });
    if (content && is_unsettled(t.begin(), t.layout.size)) {
        c = settle(t.begin(), t.layout.size);
        if (!c)
            return fail("no command buffer");
    }
    t.checked = queue_->submitted() + 1;
    if (!t.initialised)
        c->initialise(t.image);
    const bool is_new = !std::exchange(t.initialised, true);
    if (!content) {
        t.announced.clear();
        if (is_new)
            clear_to_zero(*c, t); // REN-005, REN-006
        return {};
    }
    read_journal(); // first: a write behind the look is in the journal again
    t.written = false;
    t.journal = lost_journals_;
    statistics_.looks += !t.storage->known();
    t.storage->look(tracker_, *storage);
    for (const GuestRange& r : t.announced)
        t.storage->force(r);
    t.announced.clear();
    if (!t.storage->changed())
        return {};
    return upload(*c, t, *storage);
}

VkCommandBuffer Textures::transfer_commands(gpu::Commands& commands, const Texture& t) const {
    if (!is_recorded(t))
        return commands.prologue();
    commands.prepare_transfer();
    return commands.handle();
}

void Textures::clear_to_zero(gpu::Commands& commands, Texture& t) {
    const VkCommandBuffer handle = transfer_commands(commands, t);
    const VkImageAspectFlags aspects = t.image.aspects();
    const VkImageSubresourceRange all{aspects, 0, VK_REMAINING_MIP_LEVELS, 0, VK_REMAINING_ARRAY_LAYERS};
    if (aspects & VK_IMAGE_ASPECT_COLOR_BIT) {
        const VkClearColorValue zero{};
        device_->vk.vkCmdClearColorImage(handle, t.image.get(), VK_IMAGE_LAYOUT_GENERAL, &zero, 1, &all);
    } else {
        const VkClearDepthStencilValue zero{};
        device_->vk.vkCmdClearDepthStencilImage(handle, t.image.get(), VK_IMAGE_LAYOUT_GENERAL, &zero, 1, &all);
    }
    if (is_recorded(t))
        commands.barrier();
}

Result<VkImageView> Textures::view(Texture& t, const ViewKey& key) {
    for (const auto& [known, view] : t.views)
        if (known == key)
            return view.get();
    gpu::ViewDescription d;
    d.type = key.type;
    d.format = key.format;
    d.aspects = key.aspects;
    d.base_level = key.first_level;
    d.least_level = key.least_level;
    d.levels = key.levels;
    d.base_layer = key.first_layer;
    d.layers = key.layers;
    d.swizzle = {static_cast<VkComponentSwizzle>(key.mapping[0]), static_cast<VkComponentSwizzle>(key.mapping[1]),
                 static_cast<VkComponentSwizzle>(key.mapping[2]), static_cast<VkComponentSwizzle>(key.mapping[3])};
    // sRGB formats cannot be stored to: a view of one must not ask for it.
    d.usage = t.image.description().usage;
    if (!key.storage)
        d.usage &= ~static_cast<VkImageUsageFlags>(VK_IMAGE_USAGE_STORAGE_BIT);
    auto view = gpu::create_view(*device_, t.image, d);
    if (!view)
        return tl::unexpected(view.error());
    ++statistics_.views;
    t.views.emplace_back(key, std::move(*view));
    return t.views.back().second.get();
}

void Textures::drop_parts(Texture& t, const std::function<bool(const WrittenPart&)>& which) {
    if (t.unstored.empty())
        return;
    t.unstored.erase(std::remove_if(t.unstored.begin(), t.unstored.end(), which), t.unstored.end());
    if (t.unstored.empty())
        drop_unstored(t);
}

void Textures::drop_unstored(Texture& t) {
    t.unstored.clear();
    unstored_.erase(std::remove(unstored_.begin(), unstored_.end(), &t), unstored_.end());
}

void Textures::storage_written(u64 address, u64 size) {
    const GuestRange range{address, size};
    if (std::vector<GuestRange> parts; in_virtual_pool(range, parts)) {
        for (const GuestRange& p : parts)
            storage_written(p.address, p.size);
        return;
    }
    for (Texture* t : overlapping(address, size)) {
        if (t->sparse) { // compared by content
            t->sparse->suspect_memory(range.address, range.size);
            t->checked = 0;
            continue;
        }
        drop_parts(*t, [&](const WrittenPart& p) { return range.touches(bytes_of(*t, p)); }); // there they are newer
        t->checked = 0;
        announce(t->announced, range);
    }
}

void Textures::forget_aliases(Texture& t) {
    for (Texture* other : t.aliases)
        other->aliases.erase(std::remove(other->aliases.begin(), other->aliases.end(), &t), other->aliases.end());
    drop_unstored(t);
}

void Textures::drop(Texture& t) {
    for (u64 bucket = t.begin() / bucket_bytes; bucket <= (t.end() - 1) / bucket_bytes; ++bucket) {
        auto& list = buckets_[bucket];
        list.erase(std::remove(list.begin(), list.end(), &t), list.end());
        if (list.empty())
            buckets_.erase(bucket);
    }
    forget_aliases(t);
    sparse_.erase(std::remove(sparse_.begin(), sparse_.end(), &t), sparse_.end());
    statistics_.bytes -= t.image.bytes();
    --statistics_.images;
    const auto entry = textures_.find(key_of(t.description));
    if (entry == textures_.end())
        return;
    queue_->retire(std::move(entry->second));
    textures_.erase(entry);
}

void Textures::forget(u64 address, u64 size) {
    deferred_.run(); // the bytes are still mapped; the GPU is idle
    for (Texture* t : overlapping(address, size))
        drop(*t);
}

// Whether an image made anew would hold the same: what the CPU wrote, or what the GPU drew and was stored.
bool Textures::is_recoverable(const Texture& t) const {
    return t.cpu_visible && t.description.samples <= 1 && t.unstored.empty() && t.storage->pending == 0 &&
           !(t.sparse && t.sparse->stores_pending()) && (!t.gpu_written || is_readable(t)) &&
           t.format.conversion != Conversion::DecodeBlocks;
}

void Textures::shrink(u64 budget, const std::function<void(const Texture&)>& gone) {
    constexpr u64 idle = 64; // submissions
    const u64 now = queue_->submitted() + 1;
    if (statistics_.bytes <= budget)
        return;
    std::vector<Texture*> candidates;
    for (const auto& [key, t] : textures_)
        if (t->used + idle < now && t->recorded + idle < now && is_recoverable(*t))
            candidates.push_back(t.get());
    std::sort(candidates.begin(), candidates.end(),
              [](const Texture* a, const Texture* b) { return a->used < b->used; });
    for (Texture* t : candidates) {
        if (statistics_.bytes <= budget)
            return;
        gone(*t);
        ++statistics_.evicted;
        drop(*t);
    }
}

Textures::Statistics Textures::statistics() const {
    return statistics_;
}

} // namespace heaviside::replay
