// heaviside formats: every NVN format and what the current device makes of it.
#include "replay/formats.h"
#include "gpu/device.h"
#include "texture/format.h"
#include "tools/commands.h"
#include "tools/terminal.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <array>

namespace heaviside::tools {
namespace {

const char* vulkan_name(VkFormat format) {
    switch (format) {
#define HEAVISIDE_FORMAT(name)                                                                                         \
    case VK_FORMAT_##name:                                                                                             \
        return #name;
#define HEAVISIDE_COLUMN(components)                                                                                   \
    HEAVISIDE_FORMAT(components##_UNORM)                                                                               \
    HEAVISIDE_FORMAT(components##_SNORM)                                                                               \
    HEAVISIDE_FORMAT(components##_UINT)                                                                                \
    HEAVISIDE_FORMAT(components##_SINT)                                                                                \
    HEAVISIDE_FORMAT(components##_USCALED)                                                                             \
    HEAVISIDE_FORMAT(components##_SSCALED)
#define HEAVISIDE_COLUMN32(components)                                                                                 \
    HEAVISIDE_FORMAT(components##_UINT)                                                                                \
    HEAVISIDE_FORMAT(components##_SINT)                                                                                \
    HEAVISIDE_FORMAT(components##_SFLOAT)
#define HEAVISIDE_ASTC(size)                                                                                           \
    HEAVISIDE_FORMAT(ASTC_##size##_UNORM_BLOCK)                                                                        \
    HEAVISIDE_FORMAT(ASTC_##size##_SRGB_BLOCK)
        HEAVISIDE_COLUMN(R8)
        HEAVISIDE_COLUMN(R8G8)
        HEAVISIDE_COLUMN(R8G8B8)
        HEAVISIDE_COLUMN(R8G8B8A8)
        HEAVISIDE_COLUMN(R16)
        HEAVISIDE_COLUMN(R16G16)
        HEAVISIDE_COLUMN(R16G16B16)
        HEAVISIDE_COLUMN(R16G16B16A16)
        HEAVISIDE_COLUMN32(R32)
        HEAVISIDE_COLUMN32(R32G32)
        HEAVISIDE_COLUMN32(R32G32B32)
        HEAVISIDE_COLUMN32(R32G32B32A32)
        HEAVISIDE_FORMAT(R16_SFLOAT)
        HEAVISIDE_FORMAT(R16G16_SFLOAT)
        HEAVISIDE_FORMAT(R16G16B16_SFLOAT)
        HEAVISIDE_FORMAT(R16G16B16A16_SFLOAT)
        HEAVISIDE_FORMAT(R8G8B8A8_SRGB)
        HEAVISIDE_FORMAT(B8G8R8A8_UNORM)
        HEAVISIDE_FORMAT(B8G8R8A8_SRGB)
        HEAVISIDE_FORMAT(S8_UINT)
        HEAVISIDE_FORMAT(D16_UNORM)
        HEAVISIDE_FORMAT(X8_D24_UNORM_PACK32)
        HEAVISIDE_FORMAT(D32_SFLOAT)
        HEAVISIDE_FORMAT(D24_UNORM_S8_UINT)
        HEAVISIDE_FORMAT(D32_SFLOAT_S8_UINT)
        HEAVISIDE_FORMAT(A4B4G4R4_UNORM_PACK16)
        HEAVISIDE_FORMAT(A1B5G5R5_UNORM_PACK16)
        HEAVISIDE_FORMAT(A1R5G5B5_UNORM_PACK16)
        HEAVISIDE_FORMAT(R5G5B5A1_UNORM_PACK16)
        HEAVISIDE_FORMAT(B5G6R5_UNORM_PACK16)
        HEAVISIDE_FORMAT(R5G6B5_UNORM_PACK16)
        HEAVISIDE_FORMAT(A2B10G10R10_UNORM_PACK32)
        HEAVISIDE_FORMAT(A2B10G10R10_SNORM_PACK32)
        HEAVISIDE_FORMAT(A2B10G10R10_UINT_PACK32)
        HEAVISIDE_FORMAT(A2B10G10R10_SINT_PACK32)
        HEAVISIDE_FORMAT(A2B10G10R10_USCALED_PACK32)
        HEAVISIDE_FORMAT(A2B10G10R10_SSCALED_PACK32)
        HEAVISIDE_FORMAT(B10G11R11_UFLOAT_PACK32)
        HEAVISIDE_FORMAT(E5B9G9R9_UFLOAT_PACK32)
        HEAVISIDE_FORMAT(BC1_RGB_UNORM_BLOCK)
        HEAVISIDE_FORMAT(BC1_RGB_SRGB_BLOCK)
        HEAVISIDE_FORMAT(BC1_RGBA_UNORM_BLOCK)
        HEAVISIDE_FORMAT(BC1_RGBA_SRGB_BLOCK)
        HEAVISIDE_FORMAT(BC2_UNORM_BLOCK)
        HEAVISIDE_FORMAT(BC2_SRGB_BLOCK)
        HEAVISIDE_FORMAT(BC3_UNORM_BLOCK)
        HEAVISIDE_FORMAT(BC3_SRGB_BLOCK)
        HEAVISIDE_FORMAT(BC4_UNORM_BLOCK)
        HEAVISIDE_FORMAT(BC4_SNORM_BLOCK)
        HEAVISIDE_FORMAT(BC5_UNORM_BLOCK)
        HEAVISIDE_FORMAT(BC5_SNORM_BLOCK)
        HEAVISIDE_FORMAT(BC6H_UFLOAT_BLOCK)
        HEAVISIDE_FORMAT(BC6H_SFLOAT_BLOCK)
        HEAVISIDE_FORMAT(BC7_UNORM_BLOCK)
        HEAVISIDE_FORMAT(BC7_SRGB_BLOCK)
        HEAVISIDE_ASTC(4x4)
        HEAVISIDE_ASTC(5x4)
        HEAVISIDE_ASTC(5x5)
        HEAVISIDE_ASTC(6x5)
        HEAVISIDE_ASTC(6x6)
        HEAVISIDE_ASTC(8x5)
        HEAVISIDE_ASTC(8x6)
        HEAVISIDE_ASTC(8x8)
        HEAVISIDE_ASTC(10x5)
        HEAVISIDE_ASTC(10x6)
        HEAVISIDE_ASTC(10x8)
        HEAVISIDE_ASTC(10x10)
        HEAVISIDE_ASTC(12x10)
        HEAVISIDE_ASTC(12x12)
#undef HEAVISIDE_FORMAT
#undef HEAVISIDE_COLUMN
#undef HEAVISIDE_COLUMN32
#undef HEAVISIDE_ASTC
    default:
        return "";
    }
}

const char* name(texture::Kind kind) {
    constexpr const char* names[] = {
        "none",          "unorm",           "snorm", "uint",    "sint",          "float",     "uint-to-float",
        "sint-to-float", "shared-exponent", "depth", "stencil", "depth-stencil", "compressed"};
    return names[static_cast<std::size_t>(kind)];
}

// Components from the lowest bit or first byte on, with their sizes.
std::string order_text(const texture::FormatInfo& f) {
    if (texture::is_compressed(f))
        return fmt::format("{}x{}", f.block_width, f.block_height);
    if (texture::has_depth(f) || texture::has_stencil(f)) {
        const std::string depth = f.bits[0] ? fmt::format("D{}", f.bits[0]) : "", stencil = f.bits[1] ? "S8" : "";
        return f.bits[0] == 24 && f.bits[1] ? stencil + depth : depth + stencil; // stencil lies below 24-bit depth
    }
    constexpr std::array<std::array<u8, 4>, 3> orders = {{{0, 1, 2, 3}, {2, 1, 0, 3}, {3, 2, 1, 0}}};
    std::string out;
    for (const u8 c : orders[static_cast<std::size_t>(f.order)])
        if (f.bits[c])
            out += fmt::format("{}{}", "RGBA"[c], f.bits[c]);
    if (f.kind == texture::Kind::SharedExponent)
        out += "E5";
    if (f.has_x)
        out += fmt::format("X{}", f.block_bytes * 8 - f.bits[0] - f.bits[1] - f.bits[2]);
    return out;
}

const char* fallback_text(const texture::FormatInfo& f, const replay::ImageFormat& image) {
    switch (image.conversion) {
    case replay::Conversion::ExpandRgb:
        return "expanded to four components";
    case replay::Conversion::DecodeBlocks:
        return "decoded on the CPU";
    case replay::Conversion::Depth24ToFloat:
        return "kept as 32-bit float depth";
    case replay::Conversion::DepthStencil24:
        return image.base == VK_FORMAT_D24_UNORM_S8_UINT ? "" : "kept as 32-bit float depth";
    default:
        return f.order == texture::Order::Rgba && image.mapping.r == VK_COMPONENT_SWIZZLE_B
                   ? "red and blue exchanged in views"
                   : "";
    }
}

std::vector<std::string> uses_of(const gpu::Device& device, const texture::FormatInfo& f,
                                 const replay::ImageFormat& image) {
    VkFormatProperties p{};
    if (image.view != VK_FORMAT_UNDEFINED)
        vkGetPhysicalDeviceFormatProperties(device.physical, image.view, &p);
    VkFormatProperties stored = p; // sRGB is stored to through its linear twin
    if (f.srgb && image.base != VK_FORMAT_UNDEFINED)
        vkGetPhysicalDeviceFormatProperties(device.physical, image.base, &stored);
    std::vector<std::string> out;
    const auto add = [&out](VkFormatFeatureFlags features, VkFormatFeatureFlags bit, const char* use) {
        if (features & bit)
            out.emplace_back(use);
    };
    add(p.optimalTilingFeatures, VK_FORMAT_FEATURE_SAMPLED_IMAGE_BIT, "sample");
    add(p.optimalTilingFeatures, VK_FORMAT_FEATURE_SAMPLED_IMAGE_FILTER_LINEAR_BIT, "filter");
    if (!texture::is_compressed(f) && f.kind != texture::Kind::SharedExponent) {
        add(p.optimalTilingFeatures,
            VK_FORMAT_FEATURE_COLOR_ATTACHMENT_BIT | VK_FORMAT_FEATURE_DEPTH_STENCIL_ATTACHMENT_BIT, "target");
        add(p.optimalTilingFeatures, VK_FORMAT_FEATURE_COLOR_ATTACHMENT_BLEND_BIT, "blend");
        add(stored.optimalTilingFeatures, VK_FORMAT_FEATURE_STORAGE_IMAGE_BIT, "store");
    }
    if (image.conversion == replay::Conversion::None)
        add(p.bufferFeatures, VK_FORMAT_FEATURE_UNIFORM_TEXEL_BUFFER_BIT, "buffer");
    return out;
}

// Formats whose texels Vulkan copies into each other.
std::string copy_class(const texture::FormatInfo& f) {
    if (texture::has_depth(f) || texture::has_stencil(f))
        return order_text(f);
    return texture::is_compressed(f) ? fmt::format("{}-byte blocks {}x{}", f.block_bytes, f.block_width, f.block_height)
                                     : fmt::format("{} byte{}", f.block_bytes, f.block_bytes == 1 ? "" : "s");
}

nlohmann::json describe(const gpu::Device& device, const replay::Formats& formats, u32 value) {
    const texture::FormatInfo& f = texture::info(value);
    const auto format = static_cast<texture::Format>(value);
    const replay::ImageFormat& image = formats.image(format);
    const VkFormat vertex = formats.vertex(format);
    return {{"name", f.name},
            {"value", value},
            {"class", name(f.kind)},
            {"order", order_text(f)},
            {"bytes", f.block_bytes},
            {"block", {f.block_width, f.block_height}},
            {"srgb", f.srgb},
            {"copy_class", copy_class(f)},
            {"image", vulkan_name(image.base)},
            {"view", vulkan_name(image.view)},
            {"uses", uses_of(device, f, image)},
            {"fallback", fallback_text(f, image)},
            {"vertex", f.vertex},
            {"vertex_format", vulkan_name(vertex)}};
}

} // namespace

int run_formats(const FormatsOptions& options) {
    if (!options.name.empty() && texture::format_named(options.name) == texture::Format::None) {
        report_error("formats", fmt::format("no format is called {}", options.name));
        return failed;
    }
    const auto device = gpu::Device::create(gpu::DeviceOptions::from_environment());
    if (!device) {
        report_error("formats", device.error().message);
        return unavailable;
    }
    const replay::Formats formats(**device);
    auto rows = nlohmann::json::array();
    for (u32 value = 1; value < texture::format_count; ++value)
        if (options.name.empty() || options.name == texture::info(value).name)
            rows.push_back(describe(**device, formats, value));
    if (options.json) {
        fmt::print("{}\n", nlohmann::json{{"device", (*device)->capabilities.device_name}, {"formats", rows}}.dump(1));
        return success;
    }
    fmt::print("{:<22} {:<15} {:<14} {:<26} {:<32} {}\n", "format", "class", "order", "Vulkan", "uses", "notes");
    for (const auto& row : rows) {
        std::string uses, notes = row["fallback"];
        for (const auto& use : row["uses"])
            uses += (uses.empty() ? "" : " ") + use.get<std::string>();
        const auto image = row["image"].get<std::string>(), view = row["view"].get<std::string>(),
                   vertex = row["vertex_format"].get<std::string>();
        if (row["vertex"].get<bool>()) {
            uses += uses.empty() ? "vertex" : " vertex";
            if (vertex.empty())
                notes += notes.empty() ? "no vertex fetch here" : ", no vertex fetch here";
            else if (vertex != image)
                notes += (notes.empty() ? "vertex as " : ", vertex as ") + vertex;
        }
        if (view != image)
            notes += (notes.empty() ? "kept as " : ", kept as ") + image;
        fmt::print("{:<22} {:<15} {:<14} {:<26} {:<32} {}\n", row["name"].get<std::string>(),
                   row["class"].get<std::string>(), row["order"].get<std::string>(), view.empty() ? "-" : view, uses,
                   notes);
    }
    return success;
}

} // namespace heaviside::tools
