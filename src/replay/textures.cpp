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

// What two descriptions must share to be one image. Colour formats of one texel size share it; the IMAGE flag, swizzles
// and what only changes views do not split it (ledger REN-061).
Textures::Key Textures::key_of(const stream::TextureDescription& d) const {
    const texture::FormatInfo& info = texture::info(d.format);
    const ImageFormat& format = formats_->image(static_cast<texture::Format>(d.format));
    const bool plain = !texture::is_compressed(info) && !texture::has_depth(info) && !texture::has_stencil(info) &&
                       format.conversion == Conversion::None;
    const auto target = static_cast<Target>(d.target);
    const u32 layers = texture::layer_count(texture_description(d));
    const u32 linear = d.flags & texture::flags::any_linear;
    return {{static_cast<u32>(d.address), static_cast<u32>(d.address >> 32), d.width,
             is_1d(target) ? 1u : std::max<u32>(1, d.height), target == Target::D3 ? std::max<u32>(1, d.depth) : 1u,
             layers, image_class(target) << 16 | u32{d.levels} << 8 | std::max<u32>(1, d.samples),
             plain ? u32{info.block_bytes} : 0x10000u + static_cast<u32>(format.base), linear, d.stride,
             u32{d.block_height_log2} << 8 | d.block_depth_log2, d.flags & texture::flags::sparse}};
}

Textures::Textures(const gpu::Device& device, const Formats& formats, gpu::Queue& queue, gpu::GuestMemory& gpu_memory,
                   guest::Memory& memory, guest::WriteTracker* tracker)
    : device_(&device), formats_(&formats), queue_(&queue), gpu_memory_(&gpu_memory), memory_(&memory),
      tracker_(tracker) {}

Textures::~Textures() = default;

Result<std::unique_ptr<Texture>> Textures::make(const stream::TextureDescription& d) {
    const auto layout = texture::layout(texture_description(d));
    if (!layout)
        return tl::unexpected(layout.error());
    auto t = std::make_unique<Texture>();
    t->description = d;
    t->layout = *layout;
    t->format = formats_->image(static_cast<texture::Format>(d.format));
    if (t->format.view == VK_FORMAT_UNDEFINED)
        return fail("texture format {} has no image", texture::info(d.format).name);
    auto image = gpu::create_image(*device_, image_description(d, t->layout, t->format));
    if (!image)
        return tl::unexpected(image.error());
    t->image = std::move(*image);
    const auto range = memory_->find(GuestAddress{d.address});
    t->cpu_visible = !range || range->cpu_access;
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
    by_address_.emplace(t->begin(), t);
    longest_ = std::max(longest_, t->layout.size);
    ++statistics_.images;
    statistics_.bytes += t->image.bytes();
    return t;
}

std::vector<Texture*> Textures::overlapping(u64 address, u64 size) const {
    std::vector<Texture*> out;
    const u64 from = address > longest_ ? address - longest_ : 0;
    for (auto it = by_address_.lower_bound(from); it != by_address_.end() && it->first < address + size; ++it)
        if (it->second->end() > address)
            out.push_back(it->second);
    return out;
}

bool Textures::storage_changed(Texture& t) {
    const auto storage = memory_->bytes(GuestAddress{t.begin()}, t.layout.size);
    if (!storage)
        return false;
    StorageState& s = *t.storage;
    if (tracker_) {
        if (s.stamp != 0 && !tracker_->written_since(GuestAddress{t.begin()}, t.layout.size, s.stamp))
            return false;
        // Protected before it is read, so that a write in between shows next time.
        s.stamp = tracker_->arm(GuestAddress{t.begin()}, t.layout.size);
    }
    const Hash128 hash = hash_bytes(*storage);
    if (t.initialised && s.known && hash == s.hash)
        return false;
    s.known = true;
    s.hash = hash;
    return true;
}

bool Textures::needs_refresh(Texture& t) {
    const u64 now = queue_->submitted() + 1;
    t.used = now;
    if (t.stale || t.announced)
        return true;
    if (t.checked == now)
        return false;
    if (!t.initialised)
        return true;
    StorageState& s = *t.storage;
    if (s.pending.load(std::memory_order_acquire) != 0) { // what is there is not all of it yet (OBJ-198)
        t.checked = now;
        return false;
    }
    if (std::exchange(s.cpu_wrote, false)) {
        t.announced = true;
        return true;
    }
    // The CPU cannot have written, or what it wrote is no content: compressed and multisampled storage has no layout.
    const bool cpu_content = t.cpu_visible && t.description.samples <= 1;
    if (!cpu_content || (t.gpu_written && (t.description.flags & texture::flags::compressible))) {
        t.checked = now;
        return false;
    }
    const Hash128 before = s.hash;
    if (!storage_changed(t)) {
        t.checked = now;
        return false;
    }
    s.hash = before; // refresh() looks again
    s.stamp = 0;
    return true;
}

Result<void> Textures::refresh(gpu::Commands& commands, Texture& t) {
    if (!needs_refresh(t))
        return {};
    gpu::Commands* c = &commands;
    const auto storage = memory_->bytes(GuestAddress{t.begin()}, t.layout.size);
    const bool has_content = t.description.samples <= 1 && storage;
    if (!t.stale)
        drop_unstored(t); // the CPU's bytes are newer
    if (has_content && is_unsettled(t.begin(), t.layout.size)) {
        c = settle(t.begin(), t.layout.size);
        if (!c)
            return fail("no command buffer");
    }
    t.checked = queue_->submitted() + 1;
    if (!t.initialised)
        c->initialise(t.image);
    const bool announced = std::exchange(t.announced, false), stale = std::exchange(t.stale, false);
    const bool forced = announced || stale;
    if (!has_content) {
        if (!std::exchange(t.initialised, true))
            clear_to_zero(*c, t); // REN-005, REN-006
        return {};
    }
    if (!storage_changed(t) && t.initialised && !forced)
        return {};
    t.initialised = true;
    t.gpu_written = false;
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

Result<void> Textures::upload(gpu::Commands& commands, Texture& t, Bytes storage) {
    ++statistics_.uploads;
    statistics_.upload_bytes += storage.size();
    std::vector<std::byte> rows;
    for (u32 level = 0; level < t.image.description().levels; ++level) {
        const texture::BlockRegion region = texture::whole(t.layout.levels[level]);
        const texture::LinearPitch pitch = texture::packed(t.layout, region);
        rows.resize(texture::linear_size(t.layout, region, pitch));
        for (u32 layer = 0; layer < t.layout.layers; ++layer) {
            if (auto read = texture::read_region(t.layout, layer, level, region, storage, rows, pitch); !read)
                return read;
            if (auto done = upload_rows(commands, t, level, layer, region, rows, pitch); !done)
                return done;
        }
    }
    return {};
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
    t.views.emplace_back(key, std::move(*view));
    return t.views.back().second.get();
}

void Textures::drop_unstored(Texture& t) {
    t.unstored.clear();
    unstored_.erase(std::remove(unstored_.begin(), unstored_.end(), &t), unstored_.end());
}

void Textures::storage_written(u64 address, u64 size) {
    for (Texture* t : overlapping(address, size)) {
        drop_unstored(*t); // the CPU's bytes are newer
        t->checked = 0;
        t->announced = true;
    }
}

void Textures::forget_aliases(Texture& t) {
    for (Texture* other : t.aliases)
        other->aliases.erase(std::remove(other->aliases.begin(), other->aliases.end(), &t), other->aliases.end());
    drop_unstored(t);
}

void Textures::drop(Texture& t) {
    const auto [first, last] = by_address_.equal_range(t.begin());
    for (auto it = first; it != last; ++it)
        if (it->second == &t) {
            by_address_.erase(it);
            break;
        }
    forget_aliases(t);
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
    std::vector<Texture*> inside;
    for (auto it = by_address_.lower_bound(address); it != by_address_.end() && it->first < address + size; ++it)
        inside.push_back(it->second);
    for (Texture* t : inside)
        drop(*t);
}

// Whether an image made anew would hold the same: what the CPU wrote, or what the GPU drew and was stored.
bool Textures::is_recoverable(const Texture& t) const {
    return t.cpu_visible && t.description.samples <= 1 && t.unstored.empty() && t.storage->pending == 0 &&
           (!t.gpu_written || is_readable(t)) && t.format.conversion != Conversion::DecodeBlocks;
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
