#include "replay/driver_bank.h"

#include <algorithm>
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
