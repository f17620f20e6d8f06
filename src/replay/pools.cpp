#include "replay/pools.h"

#include "base/log.h"
#include "replay/state_mapping.h"

#include <algorithm>

namespace heaviside::replay {
namespace {

using shader::Dimension;
using texture::Target;

// A view of each dimension that can be read from an image of a target (ledger OBJ-081, REN-019).
struct DimensionRow {
    Dimension dimension;
    VkImageViewType type;
    u32 layer_unit; // layers the view takes: 0 all, else a multiple of it
    bool single;    // exactly layer_unit
};
constexpr DimensionRow rows_1d[] = {{Dimension::D1, VK_IMAGE_VIEW_TYPE_1D, 1, true},
                                    {Dimension::D1Array, VK_IMAGE_VIEW_TYPE_1D_ARRAY, 1, false}};
constexpr DimensionRow rows_2d[] = {{Dimension::D2, VK_IMAGE_VIEW_TYPE_2D, 1, true},
                                    {Dimension::D2Array, VK_IMAGE_VIEW_TYPE_2D_ARRAY, 1, false},
                                    {Dimension::Cube, VK_IMAGE_VIEW_TYPE_CUBE, 6, true},
                                    {Dimension::CubeArray, VK_IMAGE_VIEW_TYPE_CUBE_ARRAY, 6, false}};
constexpr DimensionRow rows_3d[] = {{Dimension::D3, VK_IMAGE_VIEW_TYPE_3D, 1, true}};
constexpr DimensionRow rows_ms[] = {{Dimension::D2Multisample, VK_IMAGE_VIEW_TYPE_2D, 1, true},
                                    {Dimension::D2MultisampleArray, VK_IMAGE_VIEW_TYPE_2D_ARRAY, 1, false}};

std::span<const DimensionRow> rows(Target target) {
    switch (target) {
    case Target::D1:
    case Target::D1Array:
        return rows_1d;
    case Target::D3:
        return rows_3d;
    case Target::D2Multisample:
    case Target::D2MultisampleArray:
        return rows_ms;
    default:
        return rows_2d;
    }
}

bool serves(const stream::ImageDescription& image, Dimension dimension) {
    const bool cube = dimension == Dimension::Cube || dimension == Dimension::CubeArray;
    for (const DimensionRow& row : rows(static_cast<Target>(image.texture.target)))
        if (row.dimension == dimension)
            return !cube || image.view.layer_count >= 6;
    return false;
}

// One that a view of the texture itself has.
Dimension own_dimension(const stream::ImageDescription& image) {
    return rows(static_cast<Target>(image.texture.target)).front().dimension;
}

bool reads_stencil(const stream::ImageDescription& image) {
    const texture::FormatInfo& f = texture::info(image.texture.format);
    return texture::has_stencil(f) && (!texture::has_depth(f) || image.view.depth_stencil_mode == 1);
}

// sRGB cannot be stored to: the linear twin is (ledger GFX-084).
VkFormat storage_format(const ImageFormat& f) {
    return f.view == VK_FORMAT_R8G8B8A8_SRGB || f.view == VK_FORMAT_B8G8R8A8_SRGB ? f.base : f.view;
}

VkFormat raw_format(u32 texel_bytes) {
    switch (texel_bytes) {
    case 1:
        return VK_FORMAT_R8_UINT;
    case 2:
        return VK_FORMAT_R16_UINT;
    case 4:
        return VK_FORMAT_R32_UINT;
    case 8:
        return VK_FORMAT_R32G32_UINT;
    case 16:
        return VK_FORMAT_R32G32B32A32_UINT;
    default:
        return VK_FORMAT_UNDEFINED;
    }
}

std::array<u8, 4> packed_mapping(const VkComponentMapping& m) {
    return {static_cast<u8>(m.r), static_cast<u8>(m.g), static_cast<u8>(m.b), static_cast<u8>(m.a)};
}

} // namespace

Pools::Pools(const gpu::Device& device, gpu::Queue& queue, gpu::DescriptorHeap& heap, gpu::GuestMemory& gpu_memory,
             Textures& textures)
    : device_(&device), queue_(&queue), heap_(&heap), gpu_memory_(&gpu_memory), textures_(&textures) {}

void Pools::create_texture_pool(stream::PoolId pool, u32 capacity) {
    texture_pools_[pool].resize(capacity);
    if (pool == selected_textures_)
        entries_ = &texture_pools_[pool];
}

void Pools::create_sampler_pool(stream::PoolId pool, u32 capacity) {
    sampler_pools_[pool].resize(capacity);
}

void Pools::retire_views(Entry& entry) {
    for (auto& view : entry.buffer_views)
        if (view)
            queue_->retire(std::move(view));
}

void Pools::destroy_texture_pool(stream::PoolId pool) {
    const auto it = texture_pools_.find(pool);
    if (it == texture_pools_.end())
        return;
    for (u32 id = 0; id < it->second.size(); ++id) {
        Entry& e = it->second[id];
        if (pool == selected_textures_ && e.in_heap)
            heap_->clear_texture(TextureId{id});
        retire_views(e);
    }
    texture_pools_.erase(it);
    drop_changes(pool, false);
    if (pool == selected_textures_) {
        selected_textures_ = 0;
        entries_ = nullptr;
    }
}

void Pools::destroy_sampler_pool(stream::PoolId pool) {
    sampler_pools_.erase(pool);
    drop_changes(pool, true);
    if (pool == selected_samplers_)
        selected_samplers_ = 0;
}

void Pools::register_texture(stream::PoolId pool, u32 index, const stream::ImageDescription& image) {
    auto& entries = texture_pools_[pool];
    if (index >= entries.size())
        entries.resize(index + 1);
    if (entries[index].set && entries[index].image == image)
        return;
    keep(pool, index, false);
    put(pool, index, image, image.texture.address != 0);
}

void Pools::put(stream::PoolId pool, u32 index, const stream::ImageDescription& image, bool set) {
    Entry& e = texture_pools_[pool][index];
    if (e.in_heap && pool == selected_textures_ && e.used > queue_->completed()) // still reads it (OBJ-069)
        if (const auto waited = queue_->wait(std::min(e.used, queue_->submitted())); !waited)
            log::error("texture ID {}: {}", index, waited.error().message);
    retire_views(e);
    if (e.in_heap && pool == selected_textures_)
        heap_->clear_texture(TextureId{index});
    e = Entry{};
    e.image = image;
    e.set = set;
}

void Pools::register_sampler(stream::PoolId pool, u32 index, const stream::SamplerDescription& guest) {
    auto& entries = sampler_pools_[pool];
    if (index >= entries.size())
        entries.resize(index + 1);
    keep(pool, index, true);
    put(pool, index, {guest, true});
}

void Pools::put(stream::PoolId pool, u32 index, const SamplerEntry& entry) {
    sampler_pools_[pool][index] = entry;
    if (pool == selected_samplers_ && entry.set)
        if (auto done = heap_->write_sampler(SamplerId{index}, sampler(entry.sampler)); !done)
            log::error("sampler {}: {}", index, done.error().message);
}

void Pools::keep_changes(u64 streams) {
    behind_ = streams;
    if (streams == 0)
        changes_.clear();
}

void Pools::keep(stream::PoolId pool, u32 index, bool of_sampler) {
    if (behind_ == 0)
        return;
    // Between two submissions the first change of an entry is enough; those of bulk registrations differ.
    constexpr std::size_t looked_at = 64;
    for (std::size_t i = changes_.size(), last = i - std::min(i, looked_at); i > last; --i) {
        const Change& c = changes_[i - 1];
        if (c.behind != behind_)
            break;
        if (c.pool == pool && c.index == index && c.of_sampler == of_sampler)
            return;
    }
    Change was{behind_, pool, index, of_sampler, false, {}, {}};
    if (of_sampler) {
        was.set = sampler_pools_[pool][index].set;
        was.sampler = sampler_pools_[pool][index].sampler;
    } else {
        was.set = texture_pools_[pool][index].set;
        was.image = texture_pools_[pool][index].image;
    }
    changes_.push_back(was);
}

void Pools::swap(Change& c) {
    if (c.of_sampler) {
        if (const auto waited = queue_->wait(queue_->submitted()); !waited) // who reads a sampler is not known
            log::error("sampler {}: {}", c.index, waited.error().message);
        const SamplerEntry now = sampler_pools_[c.pool][c.index];
        put(c.pool, c.index, {c.sampler, c.set});
        c.sampler = now.sampler;
        c.set = now.set;
    } else {
        const Entry& e = texture_pools_[c.pool][c.index];
        const stream::ImageDescription image = e.image;
        const bool set = e.set;
        put(c.pool, c.index, c.image, c.set);
        c.image = image;
        c.set = set;
    }
}

void Pools::rewind(u64 stream) {
    while (rewound_ < changes_.size() && changes_[changes_.size() - 1 - rewound_].behind >= stream)
        swap(changes_[changes_.size() - 1 - rewound_++]);
}

void Pools::redo() {
    for (; rewound_ != 0; --rewound_)
        swap(changes_[changes_.size() - rewound_]);
}

void Pools::drop_changes(stream::PoolId pool, bool of_sampler) {
    std::erase_if(changes_, [&](const Change& c) { return c.pool == pool && c.of_sampler == of_sampler; });
}

bool Pools::mirrors(stream::PoolId textures, stream::PoolId samplers) const {
    return (textures == 0 || textures == selected_textures_) && (samplers == 0 || samplers == selected_samplers_);
}

void Pools::select(stream::PoolId textures, stream::PoolId samplers) {
    if (textures != 0 && textures != selected_textures_) {
        if (entries_)
            for (u32 id = 0; id < entries_->size(); ++id)
                if (std::exchange((*entries_)[id].in_heap, false))
                    heap_->clear_texture(TextureId{id});
        const auto it = texture_pools_.find(textures);
        selected_textures_ = textures;
        entries_ = it == texture_pools_.end() ? nullptr : &it->second;
    }
    if (samplers != 0 && samplers != selected_samplers_) {
        selected_samplers_ = samplers;
        const auto it = sampler_pools_.find(samplers);
        if (it == sampler_pools_.end())
            return;
        for (u32 id = 0; id < it->second.size(); ++id)
            if (it->second[id].set)
                if (auto done = heap_->write_sampler(SamplerId{id}, sampler(it->second[id].sampler)); !done)
                    log::error("sampler {}: {}", id, done.error().message);
    }
}

void Pools::forget(u64 address, u64 size) {
    for (Change& c : changes_)
        if (c.set && !c.of_sampler && c.image.texture.address >= address && c.image.texture.address < address + size)
            c.set = false;
    for (auto& [pool, entries] : texture_pools_)
        for (u32 id = 0; id < entries.size(); ++id) {
            Entry& e = entries[id];
            if (!e.set || e.image.texture.address < address || e.image.texture.address >= address + size)
                continue;
            if (e.in_heap && pool == selected_textures_)
                heap_->clear_texture(TextureId{id});
            retire_views(e);
            e = Entry{};
        }
}

void Pools::drop(const Texture& texture) {
    for (auto& [pool, entries] : texture_pools_)
        for (u32 id = 0; id < entries.size(); ++id) {
            Entry& e = entries[id];
            if (e.texture != &texture &&
                std::none_of(e.seen.begin(), e.seen.end(), [&](const auto& s) { return s.texture == &texture; }))
                continue;
            if (e.in_heap && pool == selected_textures_)
                heap_->clear_texture(TextureId{id});
            e.texture = nullptr;
            e.seen.clear();
            e.in_heap = false;
        }
}

void Pools::rewrite(const Texture& texture) {
    for (auto& [pool, entries] : texture_pools_)
        for (Entry& e : entries)
            if (e.texture == &texture)
                e.in_heap = false;
}

const stream::ImageDescription* Pools::image(u32 id) const {
    return entries_ && id < entries_->size() && (*entries_)[id].set ? &(*entries_)[id].image : nullptr;
}

u32 Pools::capacity() const {
    return entries_ ? static_cast<u32>(entries_->size()) : 0;
}

shader::NumericClass Pools::numeric_class(u32 id) const {
    const stream::ImageDescription* d = image(id);
    if (!d)
        return shader::NumericClass::Float;
    return reads_stencil(*d) ? shader::NumericClass::Uint
                             : Formats::numeric_class(static_cast<texture::Format>(d->view.format));
}

bool Pools::storable(VkFormat format) const {
    VkFormatProperties properties{};
    vkGetPhysicalDeviceFormatProperties(device_->physical, format, &properties);
    return (properties.bufferFeatures & VK_FORMAT_FEATURE_STORAGE_TEXEL_BUFFER_BIT) != 0;
}

Result<void> Pools::write_buffer(u32 id, Entry& e) {
    const ImageFormat& format = textures_->formats().image(static_cast<texture::Format>(e.image.view.format));
    if (format.view == VK_FORMAT_UNDEFINED || format.conversion != Conversion::None)
        return fail("buffer texture of format {}", texture::info(e.image.view.format).name);
    const u64 size = u64{e.image.texture.width} * format.texel_bytes;
    const auto slice = gpu_memory_->resolve(GuestAddress{e.image.texture.address}, size);
    if (!slice)
        return tl::unexpected(slice.error());
    const gpu::Capabilities& c = device_->capabilities;
    u64 alignment = c.limits.minTexelBufferOffsetAlignment;
    if (c.has(gpu::Feature::TexelBufferAlignment)) { // REN-039
        alignment = c.texel_buffer_alignment;
        const u64 element = format.texel_bytes % 3 ? format.texel_bytes : format.texel_bytes / 3;
        if (c.texel_buffer_single)
            alignment = std::min(alignment, element);
    }
    if (slice->offset % alignment)
        return fail("buffer texture at {:#x}: the device reads from multiples of {} bytes", e.image.texture.address,
                    alignment);
    auto sampled = make_buffer_view(*slice, storage_format(format), size);
    if (!sampled)
        return tl::unexpected(sampled.error());
    e.buffer_views[0] = std::move(*sampled);
    if (auto done = heap_->write_texel_buffer(TextureId{id}, e.buffer_views[0].get()); !done)
        return done;
    if (storable(storage_format(format)))
        if (auto done = heap_->write_storage_texel_buffer(TextureId{id}, e.buffer_views[0].get()); !done)
            return done;
    const VkFormat raw = raw_format(format.texel_bytes);
    if (raw == VK_FORMAT_UNDEFINED || !storable(raw))
        return {};
    auto raw_view = make_buffer_view(*slice, raw, size);
    if (!raw_view)
        return tl::unexpected(raw_view.error());
    e.buffer_views[1] = std::move(*raw_view);
    return heap_->write_raw_storage_texel_buffer(TextureId{id}, e.buffer_views[1].get());
}

Result<gpu::Owned<VkBufferView>> Pools::make_buffer_view(const gpu::BufferSlice& slice, VkFormat format, u64 size) {
    VkBufferViewCreateInfo info{.sType = VK_STRUCTURE_TYPE_BUFFER_VIEW_CREATE_INFO};
    info.buffer = slice.buffer;
    info.format = format;
    info.offset = slice.offset;
    info.range = size;
    // The buffer's usage is every view's without this.
    VkBufferUsageFlags2CreateInfoKHR usage{.sType = VK_STRUCTURE_TYPE_BUFFER_USAGE_FLAGS_2_CREATE_INFO_KHR};
    usage.usage = VK_BUFFER_USAGE_2_UNIFORM_TEXEL_BUFFER_BIT_KHR;
    if (storable(format))
        usage.usage |= VK_BUFFER_USAGE_2_STORAGE_TEXEL_BUFFER_BIT_KHR;
    if (device_->has(gpu::Feature::Maintenance5))
        info.pNext = &usage;
    VkBufferView view = VK_NULL_HANDLE;
    if (const VkResult r = device_->vk.vkCreateBufferView(device_->handle, &info, nullptr, &view); r != VK_SUCCESS)
        return fail("buffer view: {}", gpu::name(r));
    return gpu::adopt(*device_, gpu::Object::BufferView, view);
}

Result<void> Pools::write_views(u32 id, Texture& t, const stream::ImageDescription& image,
                                std::optional<Dimension> only) {
    const stream::ViewDescription& v = image.view;
    const ImageFormat& format = textures_->formats().image(static_cast<texture::Format>(v.format));
    const bool depth = !(t.image.aspects() & VK_IMAGE_ASPECT_COLOR_BIT);
    ViewKey key;
    key.format = depth ? VK_FORMAT_UNDEFINED : format.view;
    key.aspects = !depth                 ? VK_IMAGE_ASPECT_COLOR_BIT
                  : reads_stencil(image) ? VK_IMAGE_ASPECT_STENCIL_BIT
                                         : VK_IMAGE_ASPECT_DEPTH_BIT;
    const u32 image_levels = t.image.description().levels, image_layers = t.image.description().layers;
    key.first_level = static_cast<u16>(std::min<u32>(v.first_level, image_levels - 1));
    const u32 levels = std::clamp<u32>(v.level_count, 1, image_levels - key.first_level);
    // Nothing above the first level that is mapped with all after it is sampled (REN-047).
    const auto least_level = static_cast<u16>(std::min(t.first_mapped_level, key.first_level + levels - 1));
    key.first_layer = static_cast<u16>(std::min<u32>(v.first_layer, image_layers - 1));
    const u32 available = image_layers - key.first_layer;
    const u32 layers =
        t.description.target == static_cast<u8>(Target::D3) ? 1 : std::clamp<u32>(v.layer_count, 1, available);
    const auto mapping = packed_mapping(compose(format.mapping, v.swizzle));
    const bool can_store = t.image.description().usage & VK_IMAGE_USAGE_STORAGE_BIT;
    const bool cube = t.image.description().flags & VK_IMAGE_CREATE_CUBE_COMPATIBLE_BIT;
    for (const DimensionRow& row : rows(static_cast<Target>(t.description.target))) {
        if (only && row.dimension != *only)
            continue;
        const u32 taken = row.single ? row.layer_unit : layers / row.layer_unit * row.layer_unit;
        if (taken == 0 || taken > layers || (row.layer_unit == 6 && !cube))
            continue;
        if (row.dimension == Dimension::CubeArray && !device_->has(gpu::Feature::CubeArrays))
            continue;
        key.type = row.type;
        key.layers = static_cast<u16>(taken);
        key.levels = static_cast<u16>(levels);
        key.mapping = mapping;
        key.storage = false;
        key.least_level = least_level;
        key.format = depth ? VK_FORMAT_UNDEFINED : format.view;
        const auto view = textures_->view(t, key);
        if (!view)
            return tl::unexpected(view.error());
        if (auto done = heap_->write_texture(TextureId{id}, row.dimension, *view); !done)
            return done;
        if (!can_store || depth || row.layer_unit == 6)
            continue;
        // Stores ignore the swizzle (REN-009) and see one level.
        key.mapping = {};
        key.storage = true;
        key.least_level = 0;
        key.levels = 1;
        key.format = storage_format(format);
        const auto storage = textures_->view(t, key);
        if (!storage)
            return tl::unexpected(storage.error());
        if (auto done = heap_->write_storage_image(TextureId{id}, row.dimension, *storage); !done)
            return done;
        key.format = raw_format(format.texel_bytes);
        if (key.format == VK_FORMAT_UNDEFINED)
            continue;
        const auto raw = textures_->view(t, key);
        if (!raw)
            return tl::unexpected(raw.error());
        if (auto done = heap_->write_raw_storage_image(TextureId{id}, row.dimension, *raw); !done)
            return done;
    }
    return {};
}

void Pools::write_image(u32 id, Entry& e) {
    const bool buffer = e.image.texture.target == static_cast<u8>(Target::Buffer);
    Result<void> done;
    if (buffer) {
        done = write_buffer(id, e);
    } else if (auto found = textures_->find(textures_->as_seen(e.image, own_dimension(e.image)).texture)) {
        e.texture = *found;
        done = write_views(id, **found, textures_->as_seen(e.image, own_dimension(e.image)));
    } else {
        done = tl::unexpected(found.error());
    }
    if (!done) {
        log::error("texture ID {} (format {}, {} x {}): {}", id, texture::info(e.image.texture.format).name,
                   e.image.texture.width, e.image.texture.height, done.error().message);
        e.failed = true;
        return;
    }
    e.in_heap = true;
}

Pools::Use Pools::use(u32 id, Dimension dimension) {
    if (!entries_ || id >= entries_->size() || !(*entries_)[id].set)
        return {};
    Entry& e = (*entries_)[id];
    if (e.failed)
        return {};
    e.used = queue_->submitted() + 1;
    if (!e.in_heap) {
        e.seen.clear();
        write_image(id, e);
    }
    if (!e.texture)
        return {nullptr, &e.image};
    if (serves(e.image, dimension))
        return {e.texture, &e.image};
    for (const Entry::Seen& s : e.seen)
        if (s.dimension == dimension)
            return {s.texture ? s.texture : e.texture, &s.image};
    Entry::Seen seen{dimension, textures_->as_seen(e.image, dimension), nullptr};
    if (seen.image != e.image) {
        auto found = textures_->find(seen.image.texture);
        const auto done = found ? write_views(id, **found, seen.image, dimension) : tl::unexpected(found.error());
        if (done)
            seen.texture = *found;
        else
            log::error("texture ID {} read in another dimension: {}", id, done.error().message);
    }
    e.seen.push_back(seen);
    return {seen.texture ? seen.texture : e.texture, &e.seen.back().image};
}

} // namespace heaviside::replay
