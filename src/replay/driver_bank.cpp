#include "replay/driver_bank.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace heaviside::replay {
namespace {

constexpr u32 absent = ~0u;

struct Writer {
    std::span<std::byte> out;
    template <class T>
    void put(u32 offset, T value) const {
        if (offset < out.size() && out.size() - offset >= sizeof value)
            std::memcpy(out.data() + offset, &value, sizeof value);
    }
    // Tables may overlap where slots go unused: only what is bound is written.
    template <class Slots>
    void handles(u32 first, u32 stride, const Slots& slots) const {
        for (u32 i = 0; i < slots.size(); ++i)
            if (slots[i] != empty_handle)
                put(first + stride * i, slots[i]);
    }
};

// Where the open compiler's fragment programs find the position of sample s of the pixel at (x, y): the word
// s + 8 * (x & 1) + 16 * (y & 3), whose halves are x and y: in 1/16 pixel from bit 12 on, and below that the distance
// from the centre in 1/4096 (the corpus README). Positions are the standard ones, which Vulkan devices have too.
constexpr u32 sample_positions = 0x830;

void put_sample_positions(const Writer& w, u32 samples) {
    static constexpr std::array<u8, 2> positions[] = {{8, 8},                                // one sample
                                                      {12, 12}, {4, 4},                      // two
                                                      {6, 2},   {14, 6}, {2, 10},  {10, 14}, // four
                                                      {9, 5},   {7, 11}, {13, 9},  {5, 3},
                                                      {3, 13},  {1, 7},  {11, 15}, {15, 1}}; // eight
    const u32 count = std::min(std::bit_floor(std::max(samples, 1u)), 8u);
    const auto half = [](u32 sixteenths) { return sixteenths << 12 | ((sixteenths - 8) * 256 & 0xfff); };
    for (u32 word = 0; word < 64; ++word) {
        const auto& at = positions[count - 1 + word % 8 % count];
        w.put(sample_positions + 4 * word, half(at[0]) | half(at[1]) << 16);
    }
}

} // namespace

bool is_driver_bank(const program::DriverBankLayout& layout, u32 bank) {
    return bank == 0 || bank == layout.handle_bank;
}

void fill_driver_bank(const program::DriverBankLayout& layout, program::Stage stage, const StageBindings& b,
                      const DriverParameters& p, u32 bank, std::span<std::byte> out) {
    std::fill(out.begin(), out.end(), std::byte{});
    const Writer w{out};
    if (bank == layout.handle_bank) {
        w.handles(layout.texture_handles, layout.texture_stride, b.textures);
        w.handles(layout.image_handles, layout.image_stride, b.images);
        if (layout.separate_textures)
            w.handles(layout.separate_textures, 8, b.separate_textures);
        if (layout.separate_samplers)
            w.handles(layout.separate_samplers, 8, b.separate_samplers);
    }
    if (bank != 0)
        return;
    const u32 storage = layout.storage_buffers[static_cast<std::size_t>(stage)];
    if (storage != absent) {
        for (u32 i = 0; i < b.storage.size(); ++i) {
            if (!b.storage[i].address)
                continue;
            w.put(storage + 16 * i, b.storage[i].address);
            w.put(storage + 16 * i + 8, static_cast<u32>(std::min<u64>(b.storage[i].size, ~0u)));
        }
    }
    if (stage == program::Stage::Compute) {
        if (layout.compute_uniform_addresses != absent)
            for (u32 n = std::max<u32>(layout.compute_uniform_banks, layout.compute_uniform_first);
                 n < b.uniforms.size(); ++n)
                if (b.uniforms[n].address)
                    w.put(layout.compute_uniform_addresses +
                              layout.compute_uniform_stride * (n - layout.compute_uniform_first),
                          b.uniforms[n].address);
        if (layout.workgroup_count != absent)
            for (u32 axis = 0; axis < 3; ++axis)
                w.put(layout.workgroup_count + 4 * axis, p.workgroups[axis]);
        return;
    }
    if (stage == program::Stage::Fragment && &layout == &program::open_compiler_layout)
        put_sample_positions(w, p.samples);
    if (layout.base_vertex != absent)
        w.put(layout.base_vertex, p.base_vertex);
    if (layout.base_instance != absent)
        w.put(layout.base_instance, p.base_instance);
    if (layout.draw_id != absent)
        w.put(layout.draw_id, p.draw_id);
    if (layout.point_size_limit != absent)
        w.put(layout.point_size_limit, 2047.0f); // the largest point the hardware draws
}

u32 driver_bank_word(const program::DriverBankLayout& layout, program::Stage /*stage*/, const StageBindings& b,
                     u32 bank, u32 offset) {
    if (bank != layout.handle_bank)
        return 0;
    u32 word = 0;
    const auto look = [&](u32 first, u32 stride, const auto& slots) {
        if (offset < first || (offset - first) % stride)
            return;
        const u32 slot = (offset - first) / stride;
        if (slot < slots.size() && slots[slot] != empty_handle)
            word = slots[slot];
    };
    look(layout.texture_handles, layout.texture_stride, b.textures);
    look(layout.image_handles, layout.image_stride, b.images);
    if (layout.separate_textures)
        look(layout.separate_textures, 8, b.separate_textures);
    if (layout.separate_samplers)
        look(layout.separate_samplers, 8, b.separate_samplers);
    return word;
}

} // namespace heaviside::replay
