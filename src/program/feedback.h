// What a control section says of the stage that feeds the rasteriser besides its code: the outputs that transform
// feedback captures, and how a tessellation evaluation program has its domain divided.
#pragma once

#include "base/bytes.h"
#include "base/result.h"

#include <array>
#include <optional>
#include <vector>

namespace heaviside::program {

inline constexpr u32 feedback_buffer_count = 4;

struct FeedbackOutput {
    u16 address;   // attribute byte address of the first word (maxwell::attribute)
    u8 components; // 1 to 4 words, within one vector
    u8 buffer;
    u16 offset; // bytes from the vertex's first byte in its buffer
    friend bool operator==(const FeedbackOutput&, const FeedbackOutput&) = default;
};

struct FeedbackLayout {
    std::array<u16, feedback_buffer_count> strides{}; // bytes between vertices; 0: nothing goes to that buffer
    std::vector<FeedbackOutput> outputs;
    friend bool operator==(const FeedbackLayout&, const FeedbackLayout&) = default;
};

// Nothing if the section names no outputs (most do not). Error: it does in a form that is not known.
[[nodiscard]] Result<std::optional<FeedbackLayout>> feedback_layout(Bytes control_section);
// Writes a layout of generic attributes, each vector from x on, behind each other without gaps: the form that the
// vendor's compiler is known to write. Error: another layout, or a section too short.
[[nodiscard]] Result<void> write_feedback_layout(std::span<std::byte> control_section, const FeedbackLayout& layout);

enum class TessDomain : u8 { Isolines, Triangles, Quads };
enum class TessSpacing : u8 { Equal, FractionalOdd, FractionalEven };
// The hardware's SET_TESSELLATION_PARAMETERS. `clockwise` and `counter-clockwise` as GLSL means them, with v upwards.
struct Tessellation {
    TessDomain domain = TessDomain::Triangles;
    TessSpacing spacing = TessSpacing::Equal;
    bool clockwise = false;
    bool points = false;
    friend bool operator==(const Tessellation&, const Tessellation&) = default;
};
// Of the section of a tessellation evaluation program; the default where it says nothing or nothing sensible.
[[nodiscard]] Tessellation tessellation(Bytes control_section);
// The word that tessellation() reads, at tessellation_word.
[[nodiscard]] u32 tessellation_bits(const Tessellation& tessellation);
inline constexpr u32 tessellation_word = 0x718;

} // namespace heaviside::program
