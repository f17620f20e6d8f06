// Dispatches compute programs through the floors below the API: translate, compile, run, read back.
#pragma once

#include "gpu/commands.h"
#include "tests/isa/kernel_case.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace heaviside::test {

// A device of the lower floors, without the API above them. One thread at a time.
class Bench {
public:
    static Bench& get() { // made by the first test that needs it
        static Bench bench;
        return bench;
    }

    std::string error;
    std::unique_ptr<gpu::Device> device;
    u32 subgroup_size() const { return device->capabilities.subgroup_size; }

    // Runs the program on `groups` with these banks and this memory (guest address and bytes; all of it is written
    // back). Returns what went wrong. `before` and `after` may record more around the dispatch.
    std::string run(const program::Program& program, const std::map<u32, Blob>& banks,
                    const std::vector<std::pair<u64, Blob*>>& memory, const std::array<u32, 3>& groups,
                    const std::function<void(gpu::Commands&)>& before = {},
                    const std::function<void(gpu::Commands&)>& after = {}) {
        shader::Options options;
        options.subgroup_size = subgroup_size();
        options.validate = true;
        options.storage_windows = true;
        options.denormal_modes = device->capabilities.denormal_modes;
        options.unfused_multiply_add = device->capabilities.unfused_multiply_add;
        options.drops_added_zeros = device->capabilities.drops_added_zeros;
        options.mixes_left_loops = device->capabilities.mixes_left_loops;
        auto translation = shader::translate(program, {}, options);
        if (!translation)
            return translation.error().message;
        auto* made = shaders_->request(shader::Stage::Compute, translation->spirv, "kernel");
        if (auto done = shaders_->wait(*made); !done)
            return done.error().message;

        std::vector<gpu::Buffer> buffers;
        Blob map(sizeof(shader::MemoryMap));
        put<u32>(map, 0, static_cast<u32>(memory.size()));
        for (const auto& [address, bytes] : memory) {
            buffers.push_back(std::move(*gpu::create_buffer(*device, bytes->size() + 16, gpu::MemoryKind::Readback)));
            std::memcpy(buffers.back().whole().mapped, bytes->data(), bytes->size());
            gpu::flush(*device, buffers.back());
            put<u64>(map, map.size(), address);
            put<u64>(map, map.size(), bytes->size());
            put<u64>(map, map.size(), buffers.back().whole().address);
        }
        gpu::Buffer map_buffer = std::move(*gpu::create_buffer(*device, map.size(), gpu::MemoryKind::Upload));
        std::memcpy(map_buffer.whole().mapped, map.data(), map.size());
        gpu::flush(*device, map_buffer);
        heap_->set_memory_map(map_buffer.whole());

        gpu::Commands& c = **queue_->begin();
        if (before)
            before(c);
        c.set_shader(shader::Stage::Compute, made);
        const u64 stage_row = static_cast<u64>(shader::Stage::Compute) * shader::banks::count;
        Blob table((stage_row + shader::banks::count) * sizeof(shader::BankAddress));
        for (const shader::BankUse& use : translation->reflection.banks) {
            if (use.bank == shader::banks::windows) {
                c.set_compute_bank(use.binding, *queue_->arena().push(window_rows(program, banks, memory, buffers)));
                continue;
            }
            const auto bank = banks.find(use.bank);
            if (bank == banks.end() || bank->second.empty())
                continue;
            const gpu::BufferSlice slice = *queue_->arena().push(bank->second);
            if (use.binding != ~0u)
                c.set_compute_bank(use.binding, slice);
            put<u64>(table, (stage_row + use.bank) * sizeof(shader::BankAddress), slice.address);
            put<u32>(table, (stage_row + use.bank) * sizeof(shader::BankAddress) + 8, static_cast<u32>(slice.size));
        }
        shader::RootConstants root{};
        root.bank_table = queue_->arena().push(table)->address;
        std::copy(groups.begin(), groups.end(), root.workgroups);
        c.set_compute_root(root);
        if (!c.prepare_dispatch())
            return "the dispatch could not be prepared";
        device->vk.vkCmdDispatch(c.handle(), groups[0], groups[1], groups[2]);
        c.barrier({VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT, VK_ACCESS_2_SHADER_STORAGE_WRITE_BIT,
                   VK_PIPELINE_STAGE_2_HOST_BIT, VK_ACCESS_2_HOST_READ_BIT});
        if (after)
            after(c);
        constexpr u64 patience = 60'000'000'000; // the first dispatch compiles
        const auto number = queue_->submit(c);
        if (!number)
            return number.error().message;
        const auto done = queue_->wait(*number, patience);
        if (!done || !*done)
            return done ? "the dispatch did not end" : done.error().message;
        for (std::size_t i = 0; i < memory.size(); ++i) {
            gpu::invalidate(*device, buffers[i]);
            std::memcpy(memory[i].second->data(), buffers[i].whole().mapped, memory[i].second->size());
        }
        return {};
    }

    // From what bank 0 says about storage buffers: each as far as its memory goes.
    static Blob window_rows(const program::Program& program, const std::map<u32, Blob>& banks,
                            const std::vector<std::pair<u64, Blob*>>& memory, const std::vector<gpu::Buffer>& buffers) {
        Blob rows;
        for (u32 slot = 0; slot < shader::banks::window_slots; ++slot) {
            const u32 at = program.layout->storage_buffers[static_cast<u32>(program.stage)] + 16 * slot;
            const u64 address = read_at<u64>(banks.at(0), at).value_or(0);
            shader::BankAddress row{};
            for (std::size_t i = 0; i < memory.size(); ++i)
                if (const u64 before = address - memory[i].first; before < memory[i].second->size()) {
                    const u64 end = (memory[i].first + memory[i].second->size()) & ~u64{15};
                    row = {buffers[i].whole().address + before, static_cast<u32>(end - address), 0};
                }
            const auto bytes = std::as_bytes(std::span(&row, 1));
            rows.insert(rows.end(), bytes.begin(), bytes.end());
        }
        return rows;
    }

    Bench() {
        auto options = gpu::DeviceOptions::from_environment();
        options.cache_directory.clear();
        auto made = gpu::Device::create(options);
        if (!made) {
            error = made.error().message;
            return;
        }
        device = std::move(*made);
        layout_ = std::make_unique<gpu::BindingLayout>(std::move(*gpu::create_binding_layout(*device)));
        heap_ = std::move(*gpu::DescriptorHeap::create(*device, *layout_));
        shaders_ = std::move(*gpu::ShaderLibrary::create(*device, *layout_, 1));
        queue_ = std::move(*gpu::Queue::create(*device, *layout_, heap_.get(), shaders_.get()));
    }

protected:
    std::unique_ptr<gpu::BindingLayout> layout_;
    std::unique_ptr<gpu::DescriptorHeap> heap_;
    std::unique_ptr<gpu::ShaderLibrary> shaders_;
    std::unique_ptr<gpu::Queue> queue_;
};

} // namespace heaviside::test
