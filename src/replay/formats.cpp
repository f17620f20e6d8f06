#include "replay/formats.h"

namespace heaviside::replay {
namespace {

using texture::Compression;
using texture::Format;
using texture::FormatInfo;
using texture::Kind;

struct Row {
    u16 format; // NVNformat
    VkFormat linear, view;
};

// Formats that no rule gives. Packed Vulkan formats name their components from the highest bit down.
constexpr Row special[] = {
    {0x31, VK_FORMAT_S8_UINT, VK_FORMAT_S8_UINT},
    {0x32, VK_FORMAT_D16_UNORM, VK_FORMAT_D16_UNORM},
    {0x33, VK_FORMAT_X8_D24_UNORM_PACK32, VK_FORMAT_X8_D24_UNORM_PACK32},
    {0x34, VK_FORMAT_D32_SFLOAT, VK_FORMAT_D32_SFLOAT},
    {0x35, VK_FORMAT_D24_UNORM_S8_UINT, VK_FORMAT_D24_UNORM_S8_UINT},
    {0x36, VK_FORMAT_D32_SFLOAT_S8_UINT, VK_FORMAT_D32_SFLOAT_S8_UINT},
    {0x3d, VK_FORMAT_A2B10G10R10_UNORM_PACK32, VK_FORMAT_A2B10G10R10_UNORM_PACK32},
    {0x3e, VK_FORMAT_A2B10G10R10_UINT_PACK32, VK_FORMAT_A2B10G10R10_UINT_PACK32},
    {0x3f, VK_FORMAT_B10G11R11_UFLOAT_PACK32, VK_FORMAT_B10G11R11_UFLOAT_PACK32},
    {0x40, VK_FORMAT_E5B9G9R9_UFLOAT_PACK32, VK_FORMAT_E5B9G9R9_UFLOAT_PACK32},
    {0x41, VK_FORMAT_BC1_RGB_UNORM_BLOCK, VK_FORMAT_BC1_RGB_UNORM_BLOCK},
    {0x42, VK_FORMAT_BC1_RGBA_UNORM_BLOCK, VK_FORMAT_BC1_RGBA_UNORM_BLOCK},
    {0x43, VK_FORMAT_BC2_UNORM_BLOCK, VK_FORMAT_BC2_UNORM_BLOCK},
    {0x44, VK_FORMAT_BC3_UNORM_BLOCK, VK_FORMAT_BC3_UNORM_BLOCK},
    {0x45, VK_FORMAT_BC1_RGB_UNORM_BLOCK, VK_FORMAT_BC1_RGB_SRGB_BLOCK},
    {0x46, VK_FORMAT_BC1_RGBA_UNORM_BLOCK, VK_FORMAT_BC1_RGBA_SRGB_BLOCK},
    {0x47, VK_FORMAT_BC2_UNORM_BLOCK, VK_FORMAT_BC2_SRGB_BLOCK},
    {0x48, VK_FORMAT_BC3_UNORM_BLOCK, VK_FORMAT_BC3_SRGB_BLOCK},
    {0x49, VK_FORMAT_BC4_UNORM_BLOCK, VK_FORMAT_BC4_UNORM_BLOCK},
    {0x4a, VK_FORMAT_BC4_SNORM_BLOCK, VK_FORMAT_BC4_SNORM_BLOCK},
    {0x4b, VK_FORMAT_BC5_UNORM_BLOCK, VK_FORMAT_BC5_UNORM_BLOCK},
    {0x4c, VK_FORMAT_BC5_SNORM_BLOCK, VK_FORMAT_BC5_SNORM_BLOCK},
    {0x4d, VK_FORMAT_BC7_UNORM_BLOCK, VK_FORMAT_BC7_UNORM_BLOCK},
    {0x4e, VK_FORMAT_BC7_UNORM_BLOCK, VK_FORMAT_BC7_SRGB_BLOCK},
    {0x4f, VK_FORMAT_BC6H_SFLOAT_BLOCK, VK_FORMAT_BC6H_SFLOAT_BLOCK},
    {0x50, VK_FORMAT_BC6H_UFLOAT_BLOCK, VK_FORMAT_BC6H_UFLOAT_BLOCK},
    {0x69, VK_FORMAT_A2B10G10R10_SNORM_PACK32, VK_FORMAT_A2B10G10R10_SNORM_PACK32},
    {0x6a, VK_FORMAT_A2B10G10R10_SINT_PACK32, VK_FORMAT_A2B10G10R10_SINT_PACK32},
    {0x6b, VK_FORMAT_A2B10G10R10_USCALED_PACK32, VK_FORMAT_A2B10G10R10_USCALED_PACK32},
    {0x6c, VK_FORMAT_A2B10G10R10_SSCALED_PACK32, VK_FORMAT_A2B10G10R10_SSCALED_PACK32},
    {0x99, VK_FORMAT_B8G8R8A8_UNORM, VK_FORMAT_B8G8R8A8_UNORM},
    {0x9a, VK_FORMAT_B8G8R8A8_UNORM, VK_FORMAT_B8G8R8A8_UNORM},
    {0x9b, VK_FORMAT_B8G8R8A8_UNORM, VK_FORMAT_B8G8R8A8_SRGB},
    {0x9c, VK_FORMAT_B8G8R8A8_UNORM, VK_FORMAT_B8G8R8A8_SRGB},
};

constexpr VkFormat none = VK_FORMAT_UNDEFINED;
// [kind][component count - 1], of 8, 16 and 32 bits a component.
enum Column : u8 { Unorm, Snorm, Uint, Sint, Float, Uscaled, Sscaled, column_count };
constexpr VkFormat bits8[column_count][4] = {
    {VK_FORMAT_R8_UNORM, VK_FORMAT_R8G8_UNORM, VK_FORMAT_R8G8B8_UNORM, VK_FORMAT_R8G8B8A8_UNORM},
    {VK_FORMAT_R8_SNORM, VK_FORMAT_R8G8_SNORM, VK_FORMAT_R8G8B8_SNORM, VK_FORMAT_R8G8B8A8_SNORM},
    {VK_FORMAT_R8_UINT, VK_FORMAT_R8G8_UINT, VK_FORMAT_R8G8B8_UINT, VK_FORMAT_R8G8B8A8_UINT},
    {VK_FORMAT_R8_SINT, VK_FORMAT_R8G8_SINT, VK_FORMAT_R8G8B8_SINT, VK_FORMAT_R8G8B8A8_SINT},
    {none, none, none, none},
    {VK_FORMAT_R8_USCALED, VK_FORMAT_R8G8_USCALED, VK_FORMAT_R8G8B8_USCALED, VK_FORMAT_R8G8B8A8_USCALED},
    {VK_FORMAT_R8_SSCALED, VK_FORMAT_R8G8_SSCALED, VK_FORMAT_R8G8B8_SSCALED, VK_FORMAT_R8G8B8A8_SSCALED}};
constexpr VkFormat bits16[column_count][4] = {
    {VK_FORMAT_R16_UNORM, VK_FORMAT_R16G16_UNORM, VK_FORMAT_R16G16B16_UNORM, VK_FORMAT_R16G16B16A16_UNORM},
    {VK_FORMAT_R16_SNORM, VK_FORMAT_R16G16_SNORM, VK_FORMAT_R16G16B16_SNORM, VK_FORMAT_R16G16B16A16_SNORM},
    {VK_FORMAT_R16_UINT, VK_FORMAT_R16G16_UINT, VK_FORMAT_R16G16B16_UINT, VK_FORMAT_R16G16B16A16_UINT},
    {VK_FORMAT_R16_SINT, VK_FORMAT_R16G16_SINT, VK_FORMAT_R16G16B16_SINT, VK_FORMAT_R16G16B16A16_SINT},
    {VK_FORMAT_R16_SFLOAT, VK_FORMAT_R16G16_SFLOAT, VK_FORMAT_R16G16B16_SFLOAT, VK_FORMAT_R16G16B16A16_SFLOAT},
    {VK_FORMAT_R16_USCALED, VK_FORMAT_R16G16_USCALED, VK_FORMAT_R16G16B16_USCALED, VK_FORMAT_R16G16B16A16_USCALED},
    {VK_FORMAT_R16_SSCALED, VK_FORMAT_R16G16_SSCALED, VK_FORMAT_R16G16B16_SSCALED, VK_FORMAT_R16G16B16A16_SSCALED}};
constexpr VkFormat bits32[column_count][4] = {
    {none, none, none, none},
    {none, none, none, none},
    {VK_FORMAT_R32_UINT, VK_FORMAT_R32G32_UINT, VK_FORMAT_R32G32B32_UINT, VK_FORMAT_R32G32B32A32_UINT},
    {VK_FORMAT_R32_SINT, VK_FORMAT_R32G32_SINT, VK_FORMAT_R32G32B32_SINT, VK_FORMAT_R32G32B32A32_SINT},
    {VK_FORMAT_R32_SFLOAT, VK_FORMAT_R32G32_SFLOAT, VK_FORMAT_R32G32B32_SFLOAT, VK_FORMAT_R32G32B32A32_SFLOAT},
    {none, none, none, none},
    {none, none, none, none}};

Column column(Kind kind) {
    switch (kind) {
    case Kind::Snorm:
        return Snorm;
    case Kind::Uint:
        return Uint;
    case Kind::Sint:
        return Sint;
    case Kind::Float:
        return Float;
    case Kind::UintToFloat:
        return Uscaled;
    case Kind::SintToFloat:
        return Sscaled;
    default:
        return Unorm;
    }
}

// `components` as stored in memory (RGBX: 4).
VkFormat plain(const FormatInfo& f, u32 components) {
    const u32 bits = f.bits[0];
    const auto& table = bits == 8 ? bits8 : bits == 16 ? bits16 : bits32;
    return components >= 1 && components <= 4 ? table[column(f.kind)][components - 1] : none;
}

const Row* special_row(u32 format) {
    for (const Row& row : special)
        if (row.format == format)
            return &row;
    return nullptr;
}

VkFormat astc_format(u32 format, bool srgb) { // both enums list the 14 sizes in the same order
    const u32 index = (format - 0x79) % 14;
    return static_cast<VkFormat>(VK_FORMAT_ASTC_4x4_UNORM_BLOCK + 2 * index + (srgb ? 1 : 0));
}

VkFormatProperties properties(const gpu::Device& device, VkFormat format) {
    VkFormatProperties p{};
    if (format != none)
        vkGetPhysicalDeviceFormatProperties(device.physical, format, &p);
    return p;
}

bool can_sample(const gpu::Device& device, VkFormat format) {
    return format != none && (properties(device, format).optimalTilingFeatures & VK_FORMAT_FEATURE_SAMPLED_IMAGE_BIT);
}
bool can_attach_depth(const gpu::Device& device, VkFormat format) {
    return properties(device, format).optimalTilingFeatures & VK_FORMAT_FEATURE_DEPTH_STENCIL_ATTACHMENT_BIT;
}

VkComponentMapping own_mapping(const FormatInfo& f) {
    VkComponentMapping m{VK_COMPONENT_SWIZZLE_R, VK_COMPONENT_SWIZZLE_G, VK_COMPONENT_SWIZZLE_B,
                         VK_COMPONENT_SWIZZLE_A};
    if (f.has_x || (f.compression == Compression::Bc1 && f.components == 3))
        m.a = VK_COMPONENT_SWIZZLE_ONE;
    return m;
}

ImageFormat decoded(const FormatInfo& f) {
    ImageFormat out;
    out.conversion = Conversion::DecodeBlocks;
    const bool half = f.compression == Compression::Bc6h;
    out.base = half ? VK_FORMAT_R16G16B16A16_SFLOAT : f.is_signed ? VK_FORMAT_R8G8B8A8_SNORM : VK_FORMAT_R8G8B8A8_UNORM;
    out.view = f.srgb ? VK_FORMAT_R8G8B8A8_SRGB : out.base;
    out.texel_bytes = half ? 8 : 4;
    return out;
}

ImageFormat depth_format(const gpu::Device& device, u32 value, const FormatInfo& f, const Row& row) {
    ImageFormat out{.base = row.linear, .view = row.view, .texel_bytes = f.block_bytes};
    if (value == 0x33 && !can_attach_depth(device, row.view)) {
        out.base = out.view = VK_FORMAT_D32_SFLOAT;
        out.conversion = Conversion::Depth24ToFloat;
    } else if (value == 0x35) {
        if (!can_attach_depth(device, row.view))
            out.base = out.view = VK_FORMAT_D32_SFLOAT_S8_UINT;
        out.conversion = Conversion::DepthStencil24;
    } else if (value == 0x36) {
        out.conversion = Conversion::DepthStencil32;
    }
    return out;
}

// --- packed 16-bit formats

struct PackedFormat {
    VkFormat format;
    u8 texel_bytes;
    Fields fields;
};
// In the order in which they are tried: the guest's own, red and blue exchanged, others, one that every device draws.
constexpr PackedFormat packed_formats[] = {
    {VK_FORMAT_A4B4G4R4_UNORM_PACK16, 2, {{0, 4, 8, 12}, {4, 4, 4, 4}}},
    {VK_FORMAT_A4R4G4B4_UNORM_PACK16, 2, {{8, 4, 0, 12}, {4, 4, 4, 4}}},
    {VK_FORMAT_R4G4B4A4_UNORM_PACK16, 2, {{12, 8, 4, 0}, {4, 4, 4, 4}}},
    {VK_FORMAT_B4G4R4A4_UNORM_PACK16, 2, {{4, 8, 12, 0}, {4, 4, 4, 4}}},
    {VK_FORMAT_A1B5G5R5_UNORM_PACK16, 2, {{0, 5, 10, 15}, {5, 5, 5, 1}}},
    {VK_FORMAT_A1R5G5B5_UNORM_PACK16, 2, {{10, 5, 0, 15}, {5, 5, 5, 1}}},
    {VK_FORMAT_R5G5B5A1_UNORM_PACK16, 2, {{11, 6, 1, 0}, {5, 5, 5, 1}}},
    {VK_FORMAT_B5G5R5A1_UNORM_PACK16, 2, {{1, 6, 11, 0}, {5, 5, 5, 1}}},
    {VK_FORMAT_B5G6R5_UNORM_PACK16, 2, {{0, 5, 11, 0}, {5, 6, 5, 0}}},
    {VK_FORMAT_R5G6B5_UNORM_PACK16, 2, {{11, 5, 0, 0}, {5, 6, 5, 0}}},
    {VK_FORMAT_R8G8B8A8_UNORM, 4, {{0, 8, 16, 24}, {8, 8, 8, 8}}},
};

bool is_packed16(const FormatInfo& f) {
    return f.block_bytes == 2 && f.bits[0] < 8 && !texture::is_compressed(f) && f.kind == Kind::Unorm;
}

Fields guest_fields(const FormatInfo& f) {
    std::array<u8, 4> bits = f.bits;
    if (f.has_x)
        bits[3] = 1; // kept
    using Order = texture::Order;
    const std::array<u8, 4> order = f.order == Order::Bgra   ? std::array<u8, 4>{2, 1, 0, 3}
                                    : f.order == Order::Abgr ? std::array<u8, 4>{3, 2, 1, 0}
                                                             : std::array<u8, 4>{0, 1, 2, 3};
    Fields out{{}, bits};
    u8 at = 0;
    for (const u8 component : order) {
        out.shift[component] = at;
        at = static_cast<u8>(at + bits[component]);
    }
    return out;
}

bool can_draw_to(const gpu::Device& device, VkFormat format) {
    constexpr VkFormatFeatureFlags needed =
        VK_FORMAT_FEATURE_SAMPLED_IMAGE_BIT | VK_FORMAT_FEATURE_COLOR_ATTACHMENT_BIT;
    return (properties(device, format).optimalTilingFeatures & needed) == needed;
}

// Of the formats with the same fields the first that the device samples and draws to.
ImageFormat packed_format(const gpu::Device& device, const FormatInfo& f) {
    const Fields guest = guest_fields(f);
    for (const bool same : {true, false})
        for (const PackedFormat& p : packed_formats) {
            if (same != (p.fields == guest))
                continue;
            if (p.texel_bytes == 2 && (p.fields.bits != guest.bits ||
                                       (same && guest.shift[0] == 0 && !device.has(gpu::Feature::PackedRedLow))))
                continue;
            if (!can_draw_to(device, p.format))
                continue;
            return {.base = p.format,
                    .view = p.format,
                    .conversion = same ? Conversion::None : Conversion::Repack,
                    .texel_bytes = p.texel_bytes,
                    .guest_fields = guest,
                    .host_fields = p.fields};
        }
    return {};
}

ImageFormat make_image_format(const gpu::Device& device, u32 value) {
    const FormatInfo& f = texture::info(value);
    ImageFormat out;
    if (f.block_bytes == 0 || f.kind == Kind::UintToFloat || f.kind == Kind::SintToFloat)
        return out;
    const Row* row = special_row(value);
    if (texture::has_depth(f) || texture::has_stencil(f)) {
        out = depth_format(device, value, f, *row);
    } else if (f.compression == Compression::Astc) {
        out = {.base = astc_format(value, false), .view = astc_format(value, f.srgb), .texel_bytes = 16};
        if (!device.has(gpu::Feature::Astc) || !can_sample(device, out.base))
            out = decoded(f);
    } else if (is_packed16(f)) {
        out = packed_format(device, f);
    } else if (row) {
        out = {.base = row->linear, .view = row->view, .texel_bytes = f.block_bytes};
        if (texture::is_compressed(f) && !(device.has(gpu::Feature::Bc) && can_sample(device, out.view)))
            out = decoded(f);
    } else {
        const u32 stored = f.components + (f.has_x ? 1u : 0u);
        const u32 host = stored == 3 ? 4 : stored; // three components: no device draws to them, few sample them
        out.base = out.view = plain(f, host);
        out.texel_bytes = static_cast<u8>(f.block_bytes / stored * host);
        if (f.srgb)
            out.view = VK_FORMAT_R8G8B8A8_SRGB;
        if (stored == 3)
            out.conversion = Conversion::ExpandRgb;
    }
    if (!texture::has_depth(f) && !texture::has_stencil(f) && !can_sample(device, out.view))
        return {};
    out.mapping = own_mapping(f);
    out.numeric = Formats::numeric_class(static_cast<Format>(value));
    const VkFormatFeatureFlags features = properties(device, out.view).optimalTilingFeatures;
    out.drawable = features & (VK_FORMAT_FEATURE_COLOR_ATTACHMENT_BIT | VK_FORMAT_FEATURE_DEPTH_STENCIL_ATTACHMENT_BIT);
    out.blendable = features & VK_FORMAT_FEATURE_COLOR_ATTACHMENT_BLEND_BIT;
    out.blit_target = features & VK_FORMAT_FEATURE_BLIT_DST_BIT;
    return out;
}

} // namespace

Formats::Formats(const gpu::Device& device) {
    for (u32 value = 1; value < texture::format_count; ++value) {
        const FormatInfo& f = texture::info(value);
        ImageFormat& image = images_[value] = make_image_format(device, value);
        image.image_class = image_class(value);
        if (f.vertex) {
            const Row* row = special_row(value);
            const auto fetches = [&](VkFormat format) {
                return (properties(device, format).bufferFeatures & VK_FORMAT_FEATURE_VERTEX_BUFFER_BIT) != 0;
            };
            const VkFormat format = row ? row->linear : plain(f, f.components);
            const bool scaled = f.kind == Kind::UintToFloat || f.kind == Kind::SintToFloat;
            if (fetches(format) && !(scaled && !device.has(gpu::Feature::ScaledVertices))) {
                vertex_[value] = format;
            } else if (scaled) { // 32-bit ones have no format anywhere
                FormatInfo integer = f;
                integer.kind = f.kind == Kind::UintToFloat ? Kind::Uint : Kind::Sint;
                const VkFormat fetched = !row                          ? plain(integer, f.components)
                                         : f.kind == Kind::UintToFloat ? VK_FORMAT_A2B10G10R10_UINT_PACK32
                                                                       : VK_FORMAT_A2B10G10R10_SINT_PACK32;
                converted_[value] = fetches(fetched);
                vertex_[value] = converted_[value] ? fetched : none;
            }
        }
    }
}

u16 Formats::image_class(u32 value) const {
    const FormatInfo& f = texture::info(value);
    const ImageFormat& mine = images_[value];
    const bool packed = f.block_bytes == 2 && f.bits[0] < 8;
    if (!texture::is_compressed(f) && !texture::has_depth(f) && !texture::has_stencil(f) && !packed &&
        mine.conversion == Conversion::None)
        return f.block_bytes;
    u32 first = 1;
    for (; first < value; ++first) {
        const FormatInfo& other = texture::info(first);
        const ImageFormat& i = images_[first];
        if (i.base == mine.base && i.conversion == mine.conversion && other.block_bytes == f.block_bytes &&
            other.block_width == f.block_width && other.block_height == f.block_height &&
            other.compression == f.compression && i.guest_fields == mine.guest_fields)
            break;
    }
    return static_cast<u16>(0x100 + first);
}

const ImageFormat& Formats::image(Format format) const {
    const auto value = static_cast<u32>(format);
    return images_[value < texture::format_count ? value : 0];
}

VkFormat Formats::vertex(Format format) const {
    const auto value = static_cast<u32>(format);
    return vertex_[value < texture::format_count ? value : 0];
}

bool Formats::converts_vertex(Format format) const {
    const auto value = static_cast<u32>(format);
    return value < texture::format_count && converted_[value];
}

shader::NumericClass Formats::vertex_class(Format format) const {
    if (converts_vertex(format))
        return texture::info(format).kind == Kind::UintToFloat ? shader::NumericClass::Uint
                                                               : shader::NumericClass::Sint;
    return numeric_class(format);
}

shader::NumericClass Formats::numeric_class(Format format) {
    switch (texture::info(format).kind) {
    case Kind::Uint:
    case Kind::Stencil:
        return shader::NumericClass::Uint;
    case Kind::Sint:
        return shader::NumericClass::Sint;
    default:
        return shader::NumericClass::Float;
    }
}

bool Formats::can_draw(Format format) {
    const FormatInfo& f = texture::info(format);
    return !texture::is_compressed(f) && f.kind != Kind::SharedExponent;
}

VkComponentMapping compose(const VkComponentMapping& format, const u8 (&swizzle)[4]) {
    const VkComponentSwizzle own[] = {format.r, format.g, format.b, format.a};
    VkComponentSwizzle out[4];
    for (int i = 0; i < 4; ++i)
        out[i] = swizzle[i] == 0                      ? VK_COMPONENT_SWIZZLE_ZERO
                 : swizzle[i] >= 2 && swizzle[i] <= 5 ? own[swizzle[i] - 2]
                                                      : VK_COMPONENT_SWIZZLE_ONE;
    return {out[0], out[1], out[2], out[3]};
}

} // namespace heaviside::replay
