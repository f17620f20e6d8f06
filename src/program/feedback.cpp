#include "program/feedback.h"

#include "maxwell/sph.h"

#include <algorithm>
#include <cstring>

namespace heaviside::program {
namespace {

// The vendor's compiler, found in programs that capture (ledger REN-173): strides (u16 each), outputs in each buffer (a
// byte each), number of buffers; a buffer's list is a byte 0x20 + location for each output, and in another table the
// components of each. They follow each other without gaps.
constexpr u32 list_at = 0xdc, components_at = 0x4dc, list_bytes = 0x80, strides_at = 0x6dc, counts_at = 0x6e8,
              buffers_at = 0x6ec;
constexpr u8 first_location = 0x20;
constexpr u32 location_count = 32;

// Another form, of which no program is known (GFX-131): u32 strides, u32 word counts, then a byte for each word, which
// is the word's attribute address / 4 as in the hardware's table.
constexpr u32 word_strides_at = 0x30, word_counts_at = 0x40, words_at = 0x50, words_bytes = 0x80;

u32 byte_at(Bytes section, u32 offset) {
    return read_at<u8>(section, offset).value_or(0);
}

bool is_stride(u32 stride, u32 bytes) {
    return stride != 0 && stride % 4 == 0 && stride >= bytes && stride <= 2048; // what Vulkan guarantees, and more
}

Result<FeedbackLayout> vector_lists(Bytes section, u32 buffers) {
    if (buffers > feedback_buffer_count)
        return fail("control section: transform feedback into {} buffers", buffers);
    FeedbackLayout layout;
    for (u32 b = 0; b < buffers; ++b) {
        const u32 count = byte_at(section, counts_at + b);
        const u32 stride = read_at<u16>(section, strides_at + 2 * b).value_or(0);
        u32 bytes = 0;
        for (u32 i = 0; i < count && i < list_bytes; ++i) {
            const u32 location = byte_at(section, list_at + b * list_bytes + i) - first_location;
            const u32 components = byte_at(section, components_at + b * list_bytes + i);
            if (location >= location_count || components < 1 || components > 4)
                return fail("control section: output {} of transform feedback buffer {} is {:#04x}, {} components", i,
                            b, location + first_location, components);
            layout.outputs.push_back({static_cast<u16>(maxwell::attribute::generic + 16 * location),
                                      static_cast<u8>(components), static_cast<u8>(b), static_cast<u16>(bytes)});
            bytes += 4 * components;
        }
        if (count == 0)
            continue;
        if (!is_stride(stride, bytes))
            return fail("control section: transform feedback buffer {} holds {} bytes of each vertex, {} apart", b,
                        bytes, stride);
        layout.strides[b] = static_cast<u16>(stride);
    }
    if (layout.outputs.empty())
        return fail("control section: {} transform feedback buffers without outputs", buffers);
    return layout;
}

// Nothing unless all of it makes sense: sections with text in these bytes exist (GFX-146).
std::optional<FeedbackLayout> word_lists(Bytes section) {
    FeedbackLayout layout;
    for (u32 b = 0; b < feedback_buffer_count; ++b) {
        const u32 stride = read_at<u32>(section, word_strides_at + 4 * b).value_or(0);
        const u32 count = read_at<u32>(section, word_counts_at + 4 * b).value_or(0);
        if (count == 0 && stride == 0)
            continue;
        if (count == 0 || count > words_bytes || !is_stride(stride, 4 * count))
            return std::nullopt;
        layout.strides[b] = static_cast<u16>(stride);
        for (u32 i = 0; i < count; ++i) {
            const u32 address = 4 * byte_at(section, words_at + b * words_bytes + i);
            if (address < maxwell::attribute::position || address >= maxwell::attribute::generic_end)
                return std::nullopt;
            FeedbackOutput* last = layout.outputs.empty() ? nullptr : &layout.outputs.back();
            if (last && last->buffer == b && address % 16 != 0 && last->address + 4u * last->components == address)
                ++last->components;
            else
                layout.outputs.push_back({static_cast<u16>(address), 1, static_cast<u8>(b), static_cast<u16>(4 * i)});
        }
    }
    if (layout.outputs.empty())
        return std::nullopt;
    return layout;
}

} // namespace

Result<std::optional<FeedbackLayout>> feedback_layout(Bytes section) {
    if (const u32 buffers = read_at<u32>(section, buffers_at).value_or(0); buffers != 0) {
        auto layout = vector_lists(section, buffers);
        if (!layout)
            return tl::unexpected(layout.error());
        return *std::move(layout);
    }
    return word_lists(section);
}

Result<void> write_feedback_layout(std::span<std::byte> section, const FeedbackLayout& layout) {
    if (section.size() < buffers_at + 4)
        return fail("transform feedback layout: a control section of {:#x} bytes", section.size());
    std::array<u32, feedback_buffer_count> counts{}, bytes{};
    u32 buffers = 0;
    const auto put = [&](u32 offset, u32 value, std::size_t size) {
        std::memcpy(section.data() + offset, &value, size);
    };
    for (const FeedbackOutput& o : layout.outputs) {
        const u32 location = (o.address - maxwell::attribute::generic) / 16u;
        if (o.address % 16 != 0 || o.address < maxwell::attribute::generic || location >= location_count ||
            o.buffer >= feedback_buffer_count || o.components < 1 || o.components > 4 || o.offset != bytes[o.buffer] ||
            counts[o.buffer] == list_bytes)
            return fail("transform feedback layout: a[{:#x}], {} components at byte {} of buffer {}", o.address,
                        o.components, o.offset, o.buffer);
        const u32 entry = o.buffer * list_bytes + counts[o.buffer]++;
        put(list_at + entry, first_location + location, 1);
        put(components_at + entry, o.components, 1);
        bytes[o.buffer] += 4u * o.components;
        buffers = std::max(buffers, o.buffer + 1u);
    }
    for (u32 b = 0; b < feedback_buffer_count; ++b) {
        put(strides_at + 2 * b, layout.strides[b], 2);
        put(counts_at + b, counts[b], 1);
    }
    put(buffers_at, buffers, 4);
    return {};
}

Tessellation tessellation(Bytes section) {
    constexpr u32 known = 0x333;
    const u32 word = read_at<u32>(section, tessellation_word).value_or(0);
    const u32 domain = word & 3, spacing = word >> 4 & 3, output = word >> 8 & 3;
    const bool lines = domain == 0;
    // Outputs: 0 points, 1 lines, 2 and 3 triangles. Zero says nothing.
    if (word == 0 || (word & ~known) != 0 || domain > 2 || spacing > 2 || (output != 0 && (output == 1) != lines))
        return {};
    // Compilers write 2 for GLSL's ccw and 3 for cw, whatever the hardware's names say (shared isa notes, 6.3).
    return {static_cast<TessDomain>(domain), static_cast<TessSpacing>(spacing), output == 3, output == 0};
}

u32 tessellation_bits(const Tessellation& t) {
    const u32 output = t.points ? 0 : t.domain == TessDomain::Isolines ? 1 : t.clockwise ? 3 : 2;
    return static_cast<u32>(t.domain) | static_cast<u32>(t.spacing) << 4 | output << 8;
}

} // namespace heaviside::program
