// Texels between guest rows and host images through the CPU: conversion, staging, and storing back.
#include "replay/textures.h"

#include "base/log.h"
#include "texture/decode.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace heaviside::replay {
namespace {

struct Extent {
    u32 x, y, z, width, height, depth; // texels
};

Extent texels(const Texture& t, u32 level, const texture::BlockRegion& r) {
    const texture::FormatInfo& f = texture::info(t.description.format);
    const texture::Level& l = t.layout.levels[level];
    Extent e{r.x * f.block_width,     r.y * f.block_height,      r.z,
             r.width * f.block_width, r.height * f.block_height, r.depth};
    e.width = std::min(e.width, l.width - e.x); // the last block may reach past the edge
    e.height = std::min(e.height, l.height - e.y);
    return e;
}

VkBufferImageCopy2 copy_of(u64 offset, VkImageAspectFlags aspect, u32 level, u32 layer, const Extent& e) {
    VkBufferImageCopy2 c{.sType = VK_STRUCTURE_TYPE_BUFFER_IMAGE_COPY_2};
    c.bufferOffset = offset;
    c.imageSubresource = {aspect, level, layer, 1};
    c.imageOffset = {static_cast<i32>(e.x), static_cast<i32>(e.y), static_cast<i32>(e.z)};
    c.imageExtent = {e.width, e.height, e.depth};
    return c;
}

f32 unorm24(u32 v) {
    return static_cast<f32>(static_cast<f64>(v & 0xffffff) / 16777215.0);
}
u32 to_unorm24(f32 v) {
    return static_cast<u32>(std::lround(static_cast<f64>(std::clamp(v, 0.0f, 1.0f)) * 16777215.0));
}

template <class T>
T load(const std::byte* p) {
    T v;
    std::memcpy(&v, p, sizeof v);
    return v;
}
template <class T>
void save(std::byte* p, T v) {
    std::memcpy(p, &v, sizeof v);
}

// What texels are on both sides.
struct Texels {
    const texture::FormatInfo* guest;
    ImageFormat host;
};
Texels texels_of(const Texture& t) {
    return {&texture::info(t.description.format), t.format};
}

// The fourth component of expanded texels: one in the format's terms.
std::array<std::byte, 4> one_of(const texture::FormatInfo& f) {
    std::array<std::byte, 4> out{};
    u32 one = 1;
    const u32 bits = f.bits[0];
    if (f.kind == texture::Kind::Unorm)
        one = bits == 8 ? 0xffu : 0xffffu;
    else if (f.kind == texture::Kind::Snorm)
        one = bits == 8 ? 0x7fu : 0x7fffu;
    else if (f.kind == texture::Kind::Float)
        one = bits == 16 ? 0x3c00u : 0x3f800000u;
    std::memcpy(out.data(), &one, 4);
    return out;
}

// One packed plane of host texels, from guest rows.
void convert_plane(const Texels& t, VkImageAspectFlags aspect, const texture::BlockRegion& r, Bytes rows,
                   const texture::LinearPitch& pitch, std::byte* out) {
    const texture::FormatInfo& f = *t.guest;
    const u32 in_bytes = f.block_bytes;
    const auto fourth = one_of(f);
    const bool host_float = t.host.base == VK_FORMAT_D32_SFLOAT || t.host.base == VK_FORMAT_D32_SFLOAT_S8_UINT;
    for (u32 z = 0; z < r.depth; ++z)
        for (u32 y = 0; y < r.height; ++y) {
            const std::byte* in = rows.data() + z * pitch.slice + y * pitch.row;
            if (t.host.conversion == Conversion::None) {
                std::memcpy(out, in, std::size_t{r.width} * in_bytes);
                out += std::size_t{r.width} * in_bytes;
                continue;
            }
            for (u32 x = 0; x < r.width; ++x, in += in_bytes) {
                switch (t.host.conversion) {
                case Conversion::ExpandRgb:
                    std::memcpy(out, in, in_bytes);
                    std::memcpy(out + in_bytes, fourth.data(), in_bytes / 3);
                    out += in_bytes / 3 * 4;
                    break;
                case Conversion::Depth24ToFloat:
                    save(out, unorm24(load<u32>(in)));
                    out += 4;
                    break;
                case Conversion::DepthStencil24:
                    if (aspect == VK_IMAGE_ASPECT_STENCIL_BIT) {
                        *out++ = in[0];
                    } else {
                        const u32 d = load<u32>(in) >> 8;
                        host_float ? save(out, unorm24(d)) : save(out, d);
                        out += 4;
                    }
                    break;
                case Conversion::DepthStencil32:
                    if (aspect == VK_IMAGE_ASPECT_STENCIL_BIT) {
                        *out++ = in[4];
                    } else {
                        std::memcpy(out, in, 4);
                        out += 4;
                    }
                    break;
                default:
                    break;
                }
            }
        }
}

// The exact inverse, into guest rows that hold what the other plane left there.
void restore_plane(const Texels& t, VkImageAspectFlags aspect, const texture::BlockRegion& r, const std::byte* in,
                   texture::MutableBytes rows, const texture::LinearPitch& pitch) {
    const texture::FormatInfo& f = *t.guest;
    const u32 out_bytes = f.block_bytes;
    const bool host_float = t.host.base == VK_FORMAT_D32_SFLOAT || t.host.base == VK_FORMAT_D32_SFLOAT_S8_UINT;
    for (u32 z = 0; z < r.depth; ++z)
        for (u32 y = 0; y < r.height; ++y) {
            std::byte* out = rows.data() + z * pitch.slice + y * pitch.row;
            if (t.host.conversion == Conversion::None) {
                std::memcpy(out, in, std::size_t{r.width} * out_bytes);
                in += std::size_t{r.width} * out_bytes;
                continue;
            }
            for (u32 x = 0; x < r.width; ++x, out += out_bytes) {
                switch (t.host.conversion) {
                case Conversion::ExpandRgb:
                    std::memcpy(out, in, out_bytes);
                    in += out_bytes / 3 * 4;
                    break;
                case Conversion::Depth24ToFloat:
                    save(out, to_unorm24(load<f32>(in)));
                    in += 4;
                    break;
                case Conversion::DepthStencil24:
                    if (aspect == VK_IMAGE_ASPECT_STENCIL_BIT) {
                        out[0] = *in++;
                    } else {
                        const u32 d = host_float ? to_unorm24(load<f32>(in)) : load<u32>(in) & 0xffffff;
                        save(out, d << 8 | (load<u32>(out) & 0xff));
                        in += 4;
                    }
                    break;
                case Conversion::DepthStencil32:
                    if (aspect == VK_IMAGE_ASPECT_STENCIL_BIT) {
                        save(out + 4, static_cast<u32>(*in++));
                    } else {
                        std::memcpy(out, in, 4);
                        in += 4;
                    }
                    break;
                default:
                    break;
                }
            }
        }
}

std::vector<VkImageAspectFlags> planes(const Texture& t) {
    std::vector<VkImageAspectFlags> out;
    for (const VkImageAspectFlags a :
         {VK_IMAGE_ASPECT_COLOR_BIT, VK_IMAGE_ASPECT_DEPTH_BIT, VK_IMAGE_ASPECT_STENCIL_BIT})
        if (t.image.aspects() & a)
            out.push_back(a);
    return out;
}

u32 plane_bytes(const Texture& t, VkImageAspectFlags aspect) {
    if (aspect == VK_IMAGE_ASPECT_STENCIL_BIT)
        return 1;
    if (t.format.conversion == Conversion::DepthStencil24 || t.format.conversion == Conversion::DepthStencil32)
        return 4;
    return t.format.texel_bytes;
}

} // namespace

Result<void> Textures::upload_rows(gpu::Commands& commands, Texture& t, u32 level, u32 layer,
                                   const texture::BlockRegion& region, Bytes rows, const texture::LinearPitch& pitch) {
    const Extent e = texels(t, level, region);
    const bool decode = t.format.conversion == Conversion::DecodeBlocks;
    const u64 units = decode ? u64{e.width} * e.height * e.depth : u64{region.width} * region.height * region.depth;
    if (units == 0)
        return {};
    for (const VkImageAspectFlags aspect : planes(t)) {
        const auto staging = queue_->arena().allocate(units * plane_bytes(t, aspect), 16);
        if (!staging)
            return tl::unexpected(staging.error());
        if (decode) {
            const auto format = static_cast<texture::Format>(t.description.format);
            for (u32 z = 0; z < region.depth; ++z)
                if (auto done =
                        texture::decode_blocks(format, e.width, e.height, rows.subspan(z * pitch.slice), pitch.row,
                                               {staging->mapped + u64{z} * e.width * e.height * t.format.texel_bytes,
                                                std::size_t{e.width} * e.height * t.format.texel_bytes});
                    !done)
                    return done;
        } else {
            convert_plane(texels_of(t), aspect, region, rows, pitch, staging->mapped);
        }
        const VkBufferImageCopy2 copy = copy_of(staging->offset, aspect, level, layer, e);
        VkCopyBufferToImageInfo2 info{.sType = VK_STRUCTURE_TYPE_COPY_BUFFER_TO_IMAGE_INFO_2};
        info.srcBuffer = staging->buffer;
        info.dstImage = t.image.get();
        info.dstImageLayout = gpu::layout_of(*device_, gpu::ImageUse::CopyTarget);
        info.regionCount = 1;
        info.pRegions = &copy;
        device_->vk.vkCmdCopyBufferToImage2(transfer_commands(commands, t), &info);
        if (is_recorded(t))
            commands.barrier();
    }
    return {};
}

Result<std::function<void()>> Textures::download_rows(gpu::Commands& commands, Texture& t, u32 level, u32 layer,
                                                      const texture::BlockRegion& region, texture::MutableBytes rows,
                                                      const texture::LinearPitch& pitch) {
    if (t.format.conversion == Conversion::DecodeBlocks)
        return fail("format {} is kept decoded here: its blocks cannot be copied out",
                    texture::info(t.description.format).name);
    struct Plane {
        VkImageAspectFlags aspect;
        gpu::Buffer buffer;
    };
    auto out = std::make_shared<std::vector<Plane>>();
    const u64 units = u64{region.width} * region.height * region.depth;
    for (const VkImageAspectFlags aspect : planes(t)) {
        auto buffer = gpu::create_buffer(*device_, std::max<u64>(16, units * plane_bytes(t, aspect)),
                                         gpu::MemoryKind::Readback, "texture download");
        if (!buffer)
            return tl::unexpected(buffer.error());
        const VkBufferImageCopy2 copy = copy_of(0, aspect, level, layer, texels(t, level, region));
        VkCopyImageToBufferInfo2 info{.sType = VK_STRUCTURE_TYPE_COPY_IMAGE_TO_BUFFER_INFO_2};
        info.srcImage = t.image.get();
        info.srcImageLayout = gpu::layout_of(*device_, gpu::ImageUse::CopySource);
        info.dstBuffer = buffer->whole().buffer;
        info.regionCount = 1;
        info.pRegions = &copy;
        commands.prepare_transfer();
        device_->vk.vkCmdCopyImageToBuffer2(commands.handle(), &info);
        out->push_back({aspect, std::move(*buffer)});
    }
    commands.barrier({.target_stages = VK_PIPELINE_STAGE_2_HOST_BIT, .target_access = VK_ACCESS_2_HOST_READ_BIT});
    return [device = device_, out, what = texels_of(t), region, rows, pitch] {
        const texture::BlockRegion packed{0, 0, 0, region.width, region.height, region.depth};
        for (const Plane& plane : *out) {
            gpu::invalidate(*device, plane.buffer);
            restore_plane(what, plane.aspect, packed, plane.buffer.whole().mapped, rows, pitch);
        }
    };
}

// Copies every level and layer out, waits, and tiles them into guest memory.
Result<void> Textures::store(Texture& t) {
    const auto storage = memory_->bytes(GuestAddress{t.begin()}, t.layout.size);
    if (!storage || t.description.samples > 1 || t.format.conversion == Conversion::DecodeBlocks)
        return {};
    struct Part {
        u32 level, layer;
        VkImageAspectFlags aspect;
        u64 offset;
    };
    std::vector<Part> parts;
    u64 size = 0;
    for (u32 level = 0; level < t.image.description().levels; ++level)
        for (u32 layer = 0; layer < t.layout.layers; ++layer)
            for (const VkImageAspectFlags aspect : planes(t)) {
                const texture::Level& l = t.layout.levels[level];
                parts.push_back({level, layer, aspect, size});
                size = align_up(size + u64{l.blocks_x} * l.blocks_y * l.depth * plane_bytes(t, aspect), u64{16});
            }
    auto buffer = gpu::create_buffer(*device_, std::max<u64>(size, 16), gpu::MemoryKind::Readback, "texture store");
    if (!buffer)
        return tl::unexpected(buffer.error());
    auto commands = queue_->begin();
    if (!commands)
        return tl::unexpected(commands.error());
    (*commands)->prepare_transfer();
    for (const Part& part : parts) {
        const Extent e = texels(t, part.level, texture::whole(t.layout.levels[part.level]));
        const VkBufferImageCopy2 copy = copy_of(part.offset, part.aspect, part.level, part.layer, e);
        VkCopyImageToBufferInfo2 info{.sType = VK_STRUCTURE_TYPE_COPY_IMAGE_TO_BUFFER_INFO_2};
        info.srcImage = t.image.get();
        info.srcImageLayout = gpu::layout_of(*device_, gpu::ImageUse::CopySource);
        info.dstBuffer = buffer->whole().buffer;
        info.regionCount = 1;
        info.pRegions = &copy;
        device_->vk.vkCmdCopyImageToBuffer2((*commands)->handle(), &info);
    }
    (*commands)->barrier({.target_stages = VK_PIPELINE_STAGE_2_HOST_BIT, .target_access = VK_ACCESS_2_HOST_READ_BIT});
    const auto done = queue_->submit(**commands);
    if (!done)
        return tl::unexpected(done.error());
    if (auto waited = queue_->wait(*done); !waited)
        return tl::unexpected(waited.error());
    gpu::invalidate(*device_, *buffer);
    if (tracker_)
        tracker_->open(GuestAddress{t.begin()}, t.layout.size);
    std::vector<std::byte> rows;
    for (const Part& part : parts) {
        const texture::BlockRegion region = texture::whole(t.layout.levels[part.level]);
        const texture::LinearPitch pitch = texture::packed(t.layout, region);
        rows.resize(texture::linear_size(t.layout, region, pitch));
        if (auto read = texture::read_region(t.layout, part.layer, part.level, region, *storage, rows, pitch); !read)
            return read;
        restore_plane(texels_of(t), part.aspect, region, buffer->whole().mapped + part.offset, rows, pitch);
        if (auto put = texture::write_region(t.layout, part.layer, part.level, region, *storage, rows, pitch); !put)
            return put;
    }
    t.hash = hash_bytes(*storage);
    t.stamp = 0;
    ++statistics_.write_backs;
    return {};
}

void Textures::write_back(u64 address, u64 size) {
    for (Texture* t : overlapping(address, size)) {
        if (!t->gpu_written || !t->initialised)
            continue;
        if (auto done = store(*t); !done)
            log::error("writing a texture back to {:#x}: {}", t->begin(), done.error().message);
        t->gpu_written = false;
    }
}

} // namespace heaviside::replay
