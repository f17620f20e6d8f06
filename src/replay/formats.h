// What Vulkan calls the guest's formats, and what replay does where a device has no such format.
#pragma once

#include "gpu/device.h"
#include "shader/interface.h"
#include "texture/format.h"

#include <array>

namespace heaviside::replay {

// How texels on their way between guest memory and the host image change.
enum class Conversion : u8 {
    None,
    ExpandRgb,      // three components to four, the fourth one (guest texels of 3, 6 or 12 bytes)
    DecodeBlocks,   // ASTC or BCn to 8-bit or half-float RGBA
    DepthStencil24, // guest word depth << 8 | stencil; Vulkan copies the planes separately
    DepthStencil32, // guest 8 bytes: f32 depth, u32 stencil
    Depth24ToFloat, // on devices without 24-bit depth
    Repack,         // fields of a 16-bit word to where the host's format has them
};

// Where red, green, blue and alpha lie in a packed word, from the lowest bit, and how wide they are.
struct Fields {
    std::array<u8, 4> shift{}, bits{};
    friend bool operator==(const Fields&, const Fields&) = default;
};

struct ImageFormat {
    VkFormat base = VK_FORMAT_UNDEFINED; // the image's: the linear twin of sRGB formats
    VkFormat view = VK_FORMAT_UNDEFINED; // of views that sample or draw
    Conversion conversion = Conversion::None;
    VkComponentMapping mapping{}; // guest components in terms of the host's; RGBX: alpha one
    u8 texel_bytes = 0;           // of a host block
    shader::NumericClass numeric{};
    bool drawable = false;                // the device takes `view` as an attachment,
    bool blendable = false;               // and blends with it,
    bool blit_target = false;             // or scales and converts into it
    u16 image_class = 0;                  // formats of one class are views of one image
    Fields guest_fields{}, host_fields{}; // of Repack
};

// Tables that the device's format support is folded into once. Immutable afterwards; any thread.
class Formats {
public:
    explicit Formats(const gpu::Device& device);
    // view == VK_FORMAT_UNDEFINED: no image of this format (vertex formats, unknown values).
    [[nodiscard]] const ImageFormat& image(texture::Format format) const;
    // VK_FORMAT_UNDEFINED: not a vertex format or none the device can fetch.
    [[nodiscard]] VkFormat vertex(texture::Format format) const;
    // Of what vertex() fetches; `converts_vertex`: integers that the program is to read as floats.
    [[nodiscard]] shader::NumericClass vertex_class(texture::Format format) const;
    [[nodiscard]] bool converts_vertex(texture::Format format) const;
    [[nodiscard]] static shader::NumericClass numeric_class(texture::Format format);
    // Blocks and shared exponents are read only: neither the guest's chip nor Vulkan draws, clears or scales into them.
    [[nodiscard]] static bool can_draw(texture::Format format);

private:
    [[nodiscard]] u16 image_class(u32 format) const; // of those up to it

    std::array<ImageFormat, texture::format_count> images_{};
    std::array<VkFormat, texture::format_count> vertex_{};
    std::array<bool, texture::format_count> converted_{};
};

// The view's mapping with the guest's swizzle (NVNtextureSwizzle per component) composed over the format's own.
[[nodiscard]] VkComponentMapping compose(const VkComponentMapping& format, const u8 (&swizzle)[4]);

} // namespace heaviside::replay
