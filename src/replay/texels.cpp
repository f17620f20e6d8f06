#include "replay/texels.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

namespace heaviside::replay {
namespace {

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

u32 field(u32 word, const Fields& f, std::size_t component) {
    return word >> f.shift[component] & ((1u << f.bits[component]) - 1);
}

// A word's fields in another order, or of other widths: normalised numbers then.
u32 repack(u32 word, const Fields& from, const Fields& to) {
    u32 out = 0;
    for (std::size_t c = 0; c < 4; ++c) {
        const u32 most = (1u << to.bits[c]) - 1, all = (1u << from.bits[c]) - 1;
        if (most == 0)
            continue;
        const u32 value = all == 0      ? most // no alpha is one
                          : all == most ? field(word, from, c)
                                        : (field(word, from, c) * most + all / 2) / all;
        out |= value << to.shift[c];
    }
    return out;
}

} // namespace

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
                case Conversion::Repack: {
                    const u32 word = repack(load<u16>(in), t.host.guest_fields, t.host.host_fields);
                    std::memcpy(out, &word, t.host.texel_bytes);
                    out += t.host.texel_bytes;
                    break;
                }
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
                case Conversion::Repack: {
                    u32 word = 0;
                    std::memcpy(&word, in, t.host.texel_bytes);
                    save(out, static_cast<u16>(repack(word, t.host.host_fields, t.host.guest_fields)));
                    in += t.host.texel_bytes;
                    break;
                }
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

std::vector<VkImageAspectFlags> planes(VkImageAspectFlags aspects) {
    std::vector<VkImageAspectFlags> out;
    for (const VkImageAspectFlags a :
         {VK_IMAGE_ASPECT_COLOR_BIT, VK_IMAGE_ASPECT_DEPTH_BIT, VK_IMAGE_ASPECT_STENCIL_BIT})
        if (aspects & a)
            out.push_back(a);
    return out;
}

u32 plane_bytes(const ImageFormat& host, VkImageAspectFlags aspect) {
    if (aspect == VK_IMAGE_ASPECT_STENCIL_BIT)
        return 1;
    if (host.conversion == Conversion::DepthStencil24 || host.conversion == Conversion::DepthStencil32)
        return 4;
    return host.texel_bytes;
}

TexelExtent texel_extent(const Texture& t, u32 level, const texture::BlockRegion& r) {
    const texture::FormatInfo& f = texture::info(t.description.format);
    const texture::Level& l = t.layout.levels[level];
    TexelExtent e{r.x * f.block_width,     r.y * f.block_height,      r.z,
                  r.width * f.block_width, r.height * f.block_height, r.depth};
    e.width = std::min(e.width, l.width - e.x); // the last block may reach past the edge
    e.height = std::min(e.height, l.height - e.y);
    return e;
}

VkBufferImageCopy2 copy_of(u64 offset, VkImageAspectFlags aspect, u32 level, u32 layer, const TexelExtent& e) {
    VkBufferImageCopy2 c{.sType = VK_STRUCTURE_TYPE_BUFFER_IMAGE_COPY_2};
    c.bufferOffset = offset;
    c.imageSubresource = {aspect, level, layer, 1};
    c.imageOffset = {static_cast<i32>(e.x), static_cast<i32>(e.y), static_cast<i32>(e.z)};
    c.imageExtent = {e.width, e.height, e.depth};
    return c;
}

} // namespace heaviside::replay
