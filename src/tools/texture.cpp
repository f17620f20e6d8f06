// heaviside texture: a raw storage dump to pictures or rows, and back.
#include "base/bytes.h"
#include "texture/decode.h"
#include "texture/layout.h"
#include "texture/texel.h"
#include "texture/tiling.h"
#include "tools/commands.h"
#include "tools/terminal.h"

#include <fmt/format.h>
#include <png.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>

namespace heaviside::tools {
namespace {

struct Named {
    const char* name;
    texture::Target target;
};
constexpr Named targets[] = {{"1d", texture::Target::D1},
                             {"2d", texture::Target::D2},
                             {"3d", texture::Target::D3},
                             {"1d-array", texture::Target::D1Array},
                             {"2d-array", texture::Target::D2Array},
                             {"cube", texture::Target::Cube},
                             {"cube-array", texture::Target::CubeArray}};

// "W", "WxH" or "WxHxD".
Result<std::array<u32, 3>> parse_size(const std::string& text) {
    std::array<u32, 3> size{1, 1, 1};
    const char* at = text.data();
    const char* const end = at + text.size();
    for (u32& n : size) {
        const auto [next, error] = std::from_chars(at, end, n);
        if (error != std::errc{} || n == 0)
            break;
        if (next == end)
            return size;
        if (*next != 'x')
            break;
        at = next + 1;
    }
    return fail("--size {}: not W, WxH or WxHxD", text);
}

Result<texture::Description> description_of(const TextureOptions& o) {
    texture::Description d;
    d.format = texture::format_named(o.format);
    if (d.format == texture::Format::None)
        return fail("no format is called {} (heaviside formats lists them)", o.format);
    const auto size = parse_size(o.size);
    if (!size)
        return tl::unexpected(size.error());
    d.width = (*size)[0];
    d.height = (*size)[1];
    d.depth = (*size)[2];
    d.target = d.depth > 1 ? texture::Target::D3 : texture::Target::D2;
    for (const Named& t : targets)
        if (o.target == t.name)
            d.target = t.target;
    d.levels = o.levels == 0 ? texture::full_level_count(d) : static_cast<u32>(o.levels);
    if (o.linear) {
        d.flags |= texture::flags::linear;
        d.stride = o.stride;
    }
    if (o.sparse)
        d.flags |= texture::flags::sparse;
    if (o.block_height || o.block_depth)
        d.packaged = static_cast<u16>(std::countr_zero(std::max(1u, o.block_height)) |
                                      std::countr_zero(std::max(1u, o.block_depth)) << 4);
    return d;
}

// Slices of all layers below each other, four bytes a texel.
struct Picture {
    u32 width = 0, height = 0;
    std::vector<std::byte> texels;
};

u8 to_byte(f64 v, texture::Kind kind) {
    const bool whole = kind == texture::Kind::Uint || kind == texture::Kind::Sint;
    return std::isnan(v) ? u8{0} : static_cast<u8>(std::lround(std::clamp(whole ? v : v * 255, 0.0, 255.0)));
}

Result<void> draw_slice(const texture::FormatInfo& f, texture::Format format, const texture::Level& level, Bytes rows,
                        std::byte* out) {
    const u64 row = level.row_bytes;
    const std::size_t size = std::size_t{level.width} * level.height;
    if (texture::is_compressed(f)) {
        const bool half = f.compression == texture::Compression::Bc6h;
        std::vector<std::byte> texels(size * (half ? 8 : 4));
        if (auto done = texture::decode_blocks(format, level.width, level.height, rows, row, texels); !done)
            return done;
        const texture::FormatInfo& decoded = texture::info(texture::format_named(half ? "RGBA16F" : "RGBA8"));
        const texture::FormatInfo& source =
            f.is_signed && !half ? texture::info(texture::format_named("RGBA8SN")) : decoded;
        for (std::size_t i = 0; i < size; ++i) {
            const texture::Numbers n = texture::decode_texel(source, texels.data() + i * source.block_bytes);
            for (std::size_t c = 0; c < 4; ++c)
                out[i * 4 + c] = std::byte{to_byte(n[c], source.kind)};
        }
        return {};
    }
    const bool depth = texture::has_depth(f), grey = depth || texture::has_stencil(f);
    for (u32 y = 0; y < level.height; ++y)
        for (u32 x = 0; x < level.width; ++x) {
            texture::Numbers n = texture::decode_texel(f, rows.data() + y * row + std::size_t{x} * f.block_bytes);
            if (grey)
                n = depth ? texture::Numbers{n[0], n[0], n[0], 1}
                          : texture::Numbers{n[1] / 255, n[1] / 255, n[1] / 255, 1};
            for (std::size_t c = 0; c < 4; ++c)
                out[(std::size_t{y} * level.width + x) * 4 + c] =
                    std::byte{c == 3 && n[3] == 1 ? u8{255} : to_byte(n[c], f.kind)};
        }
    return {};
}

Result<std::vector<std::byte>> rows_of(const texture::Layout& layout, u32 layer, u32 level, Bytes storage,
                                       texture::GobOrder order) {
    const texture::BlockRegion region = texture::whole(layout.levels[level]);
    const texture::LinearPitch pitch = texture::packed(layout, region);
    std::vector<std::byte> rows(texture::linear_size(layout, region, pitch));
    if (auto done = texture::read_region(layout, layer, level, region, storage, rows, pitch, order); !done)
        return tl::unexpected(done.error());
    return rows;
}

Result<Picture> picture_of(const texture::Description& d, const texture::Layout& layout, u32 level, Bytes storage,
                           texture::GobOrder order) {
    const texture::Level& l = layout.levels[level];
    Picture p{l.width, l.height * l.depth * layout.layers, {}};
    p.texels.resize(std::size_t{p.width} * p.height * 4);
    const u64 slice = u64{l.row_bytes} * l.blocks_y, picture = u64{l.width} * l.height * 4;
    for (u32 layer = 0; layer < layout.layers; ++layer) {
        const auto rows = rows_of(layout, layer, level, storage, order);
        if (!rows)
            return tl::unexpected(rows.error());
        for (u32 z = 0; z < l.depth; ++z)
            if (auto done = draw_slice(texture::info(d.format), d.format, l, Bytes(*rows).subspan(z * slice, slice),
                                       p.texels.data() + (u64{layer} * l.depth + z) * picture);
                !done)
                return tl::unexpected(done.error());
    }
    return p;
}

Result<void> write_png(const std::string& path, const Picture& p) {
    png_image image{};
    image.version = PNG_IMAGE_VERSION;
    image.width = p.width;
    image.height = p.height;
    image.format = PNG_FORMAT_RGBA;
    if (!png_image_write_to_file(&image, path.c_str(), 0, p.texels.data(), 0, nullptr))
        return fail("{}: {}", path, image.message);
    return {};
}

Result<Picture> read_png(Bytes bytes, const std::string& path) {
    png_image image{};
    image.version = PNG_IMAGE_VERSION;
    if (!png_image_begin_read_from_memory(&image, bytes.data(), bytes.size()))
        return fail("{}: {}", path, image.message);
    image.format = PNG_FORMAT_RGBA;
    Picture p{image.width, image.height, {}};
    p.texels.resize(PNG_IMAGE_SIZE(image));
    if (!png_image_finish_read(&image, nullptr, p.texels.data(), 0, nullptr))
        return fail("{}: {}", path, image.message);
    return p;
}

// "out.png" of level 2 of several: "out.2.png".
std::string level_path(const std::string& path, u32 level, bool several) {
    if (!several)
        return path;
    const std::filesystem::path p(path);
    return (p.parent_path() / fmt::format("{}.{}{}", p.stem().string(), level, p.extension().string())).string();
}

Result<void> detile(const TextureOptions& o, const texture::Description& d, const texture::Layout& layout,
                    Bytes storage, texture::GobOrder order) {
    if (storage.size() < layout.size && !layout.linear) // the last row of a linear texture needs no padding
        return fail("{}: {} bytes, such a texture has {}", o.file, storage.size(), layout.size);
    std::string all;
    for (u32 level = 0; level < layout.level_count; ++level) {
        if (!o.png.empty()) {
            auto p = picture_of(d, layout, level, storage, order);
            if (!p)
                return tl::unexpected(p.error());
            if (auto done = write_png(level_path(o.png, level, layout.level_count > 1), *p); !done)
                return done;
        }
        for (u32 layer = 0; !o.rows.empty() && layer < layout.layers; ++layer) {
            const auto rows = rows_of(layout, layer, level, storage, order);
            if (!rows)
                return tl::unexpected(rows.error());
            all.append(reinterpret_cast<const char*>(rows->data()), rows->size());
        }
    }
    return o.rows.empty() ? Result<void>{} : write_file(o.rows, all);
}

// Texels of a picture in the format, as rows of one level.
Result<std::vector<std::byte>> encode(const Picture& p, const texture::FormatInfo& f, const texture::Layout& layout) {
    const texture::Level& l = layout.levels[0];
    if (texture::is_compressed(f))
        return fail("a picture is not compressed to {}: give rows of blocks", f.name);
    if (layout.level_count > 1)
        return fail("a picture has one level: give rows of all {}", layout.level_count);
    if (p.width != l.width || p.height != l.height * l.depth * layout.layers)
        return fail("the picture is {} x {}, the texture wants {} x {}", p.width, p.height, l.width,
                    l.height * l.depth * layout.layers);
    std::vector<std::byte> rows(std::size_t{p.width} * p.height * f.block_bytes);
    const bool whole = f.kind == texture::Kind::Uint || f.kind == texture::Kind::Sint;
    for (std::size_t i = 0; i < std::size_t{p.width} * p.height; ++i) {
        texture::Numbers n{};
        for (std::size_t c = 0; c < 4; ++c)
            n[c] = std::to_integer<u32>(p.texels[i * 4 + c]) / (whole ? 1.0 : 255.0);
        if (texture::has_stencil(f))
            n[1] *= texture::has_depth(f) ? 0 : 255;
        texture::encode_texel(f, n, rows.data() + i * f.block_bytes);
    }
    return rows;
}

Result<void> tile(const TextureOptions& o, const texture::Description& d, const texture::Layout& layout, Bytes input,
                  texture::GobOrder order) {
    constexpr u8 magic[] = {0x89, 'P', 'N', 'G'};
    std::vector<std::byte> encoded;
    if (input.size() > 4 && std::memcmp(input.data(), magic, 4) == 0) {
        const auto p = read_png(input, o.file);
        if (!p)
            return tl::unexpected(p.error());
        auto rows = encode(*p, texture::info(d.format), layout);
        if (!rows)
            return tl::unexpected(rows.error());
        encoded = std::move(*rows);
        input = encoded;
    }
    std::string storage(layout.size, '\0');
    u64 at = 0;
    for (u32 level = 0; level < layout.level_count; ++level)
        for (u32 layer = 0; layer < layout.layers; ++layer) {
            const texture::BlockRegion region = texture::whole(layout.levels[level]);
            const texture::LinearPitch pitch = texture::packed(layout, region);
            const u64 size = texture::linear_size(layout, region, pitch);
            if (at + size > input.size())
                return fail("{}: {} bytes of rows, level {} ends at {}", o.file, input.size(), level, at + size);
            if (auto done = texture::write_region(layout, layer, level, region,
                                                  {reinterpret_cast<std::byte*>(storage.data()), storage.size()},
                                                  input.subspan(at, size), pitch, order);
                !done)
                return done;
            at += size;
        }
    if (at != input.size())
        return fail("{}: {} bytes of rows, such a texture has {}", o.file, input.size(), at);
    return write_file(o.output, storage);
}

} // namespace

int run_texture(const TextureOptions& options) {
    const auto description = description_of(options);
    const auto layout = description ? texture::layout(*description) : tl::unexpected(description.error());
    if (!layout) {
        report_error("texture", layout.error().message);
        return failed;
    }
    const auto input = read_file(options.file);
    if (!input) {
        report_error("texture", input.error().message);
        return unavailable;
    }
    const auto order = options.switch2 ? texture::GobOrder::Switch2 : texture::GobOrder::TegraX1;
    const Result<void> done = options.tile ? tile(options, *description, *layout, *input, order)
                                           : detile(options, *description, *layout, *input, order);
    if (!done) {
        report_error("texture", done.error().message);
        return failed;
    }
    return success;
}

} // namespace heaviside::tools
