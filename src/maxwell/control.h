// Bundles: every 32 bytes of Maxwell code are one control word and three instructions.
//
// The control word holds 21 bits of scheduling for each of the three, first instruction lowest.
#pragma once

#include "base/bytes.h"

#include <iterator>

namespace heaviside::maxwell {

inline constexpr u32 bundle_size = 32;
inline constexpr u8 no_barrier = 7;

struct Control {
    u8 stall = 0;                  // clocks before the next instruction issues, 0-15; 0: may issue with it
    bool yield = false;            // may switch to another warp (the bit is 0 for yes)
    u8 write_barrier = no_barrier; // scoreboard 0-5 released when the result is written; 7: none
    u8 read_barrier = no_barrier;  // scoreboard 0-5 released when the sources were read; 7: none
    u8 wait = 0;                   // scoreboards to wait for, one bit each, 6 bits
    u8 reuse = 0;                  // operand caches kept: bit 0 A, 1 B, 2 C, 3 D

    [[nodiscard]] static constexpr Control unpack(u32 bits) {
        return {static_cast<u8>(bits & 15),       (bits >> 4 & 1) == 0,
                static_cast<u8>(bits >> 5 & 7),   static_cast<u8>(bits >> 8 & 7),
                static_cast<u8>(bits >> 11 & 63), static_cast<u8>(bits >> 17 & 15)};
    }
    [[nodiscard]] constexpr u32 pack() const {
        return (stall & 15u) | (yield ? 0u : 16u) | (write_barrier & 7u) << 5 | (read_barrier & 7u) << 8 |
               (wait & 63u) << 11 | (reuse & 15u) << 17;
    }
    friend bool operator==(const Control&, const Control&) = default;
};

// The scheduling of instruction `index` (0-2) of the bundle that `control_word` leads.
[[nodiscard]] constexpr Control control_of(u64 control_word, unsigned index) {
    return Control::unpack(static_cast<u32>(control_word >> (21 * index)) & 0x1fffff);
}
[[nodiscard]] constexpr u64 pack_control_word(Control first, Control second, Control third) {
    return u64{first.pack()} | u64{second.pack()} << 21 | u64{third.pack()} << 42;
}

// One instruction word of a code range with its place and scheduling.
struct CodeWord {
    u32 address; // byte offset in the range: 0x8, 0x10, 0x18, 0x28, ...
    u64 word;
    Control control;
};

// The instruction words of `code` in order, control words skipped; a torn last bundle gives its whole words.
//     for (CodeWord w : CodeView(code)) ...
// Does not own the bytes.
class CodeView {
public:
    explicit CodeView(Bytes code) : code_(code) {}

    class iterator {
    public:
        using value_type = CodeWord;
        using difference_type = std::ptrdiff_t;
        using iterator_category = std::input_iterator_tag;
        iterator() = default;
        iterator(Bytes code, u64 address) : code_(code), address_(address) {}
        CodeWord operator*() const {
            const u64 bundle = address_ / bundle_size * bundle_size;
            const auto index = static_cast<unsigned>((address_ - bundle) / 8 - 1);
            return {static_cast<u32>(address_), read_at<u64>(code_, address_).value_or(0),
                    control_of(read_at<u64>(code_, bundle).value_or(0), index)};
        }
        iterator& operator++() {
            address_ += address_ % bundle_size == 24 ? 16 : 8;
            return *this;
        }
        void operator++(int) { ++*this; }
        friend bool operator==(const iterator& i, std::default_sentinel_t) { return i.address_ + 8 > i.code_.size(); }

    private:
        Bytes code_;
        u64 address_ = 8;
    };
    [[nodiscard]] iterator begin() const { return {code_, 8}; }
    [[nodiscard]] std::default_sentinel_t end() const { return {}; }

private:
    Bytes code_;
};

} // namespace heaviside::maxwell
