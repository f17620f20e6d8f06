// GPU time of translated shaders against the same GLSL compiled natively: the cases of the GLSL corpus, both variants
// on the same device, resources and state, in turns, timed by timestamps (CPU devices: the process's CPU time).
//
//   bench_shader_quality [--cases DIR] [--spirv DIR] [--filter TEXT] [--work N] [--json FILE] [--compile-only]
//
// Native modules come from glslangValidator and are kept in --spirv; a machine without it runs what another one left
// there (--compile-only stops after that). Prints the ratio of each case (above 1: the translation is slower),
// geometric means per stage and in all, and the worst.
#include "bench/quality_case.h"
#include "gpu/commands.h"
#include "gpu/layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <iostream>
#include <map>
#include <memory>

namespace {

using namespace heaviside;
using bench::Case;
using bench::Resource;
using gpu::layout_of;

constexpr u32 stage_bindings =
    80; // of a set of the native variant: uniform buffers from 0, storage buffers from 16, ...
constexpr u64 patience = 120'000'000'000;

[[noreturn]] void stop(const std::string& why) {
    throw std::runtime_error(why);
}
template <class T>
T need(Result<T> result) {
    if (!result)
        stop(result.error().message);
    return std::move(*result);
}
void check(VkResult result, const char* what) {
    if (result != VK_SUCCESS)
        stop(fmt::format("{}: {}", what, static_cast<int>(result)));
}

// The device and everything that lives as long.
struct Machine {
    std::unique_ptr<gpu::Device> device;
    std::unique_ptr<gpu::BindingLayout> layout;
    std::unique_ptr<gpu::DescriptorHeap> heap;
    std::unique_ptr<gpu::ShaderLibrary> shaders;
    std::unique_ptr<gpu::Queue> queue;
    VkQueryPool queries = VK_NULL_HANDLE;
    f64 nanoseconds_a_tick = 1;
    std::string name;
    bool cpu = false;

    Machine() {
        auto options = gpu::DeviceOptions::from_environment();
        options.cache_directory.clear();
        device = need(gpu::Device::create(options));
        if (!device->has(gpu::Feature::ShaderObject))
            stop("the device has no shader objects");
        layout = std::make_unique<gpu::BindingLayout>(need(gpu::create_binding_layout(*device)));
        heap = need(gpu::DescriptorHeap::create(*device, *layout));
        shaders = need(gpu::ShaderLibrary::create(*device, *layout, 1));
        queue = need(gpu::Queue::create(*device, *layout, heap.get(), shaders.get()));
        VkPhysicalDeviceProperties properties{};
        vkGetPhysicalDeviceProperties(device->physical, &properties);
        name = properties.deviceName;
        nanoseconds_a_tick = static_cast<f64>(properties.limits.timestampPeriod);
        cpu = device->capabilities.cpu_device;
        VkQueryPoolCreateInfo info{VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO};
        info.queryType = VK_QUERY_TYPE_TIMESTAMP;
        info.queryCount = 2;
        check(device->vk.vkCreateQueryPool(device->handle, &info, nullptr, &queries), "vkCreateQueryPool");
    }
    ~Machine() {
        if (queries != VK_NULL_HANDLE)
            device->vk.vkDestroyQueryPool(device->handle, queries, nullptr);
    }
    Machine(const Machine&) = delete;
    Machine& operator=(const Machine&) = delete;
};

struct Texture {
    gpu::Image image;
    gpu::Owned<VkImageView> view, layered; // the second: a cube as the array that image instructions see
    gpu::Buffer texels;
    VkBufferView buffer_view = VK_NULL_HANDLE;
    VkSampler sampler = VK_NULL_HANDLE;
    u32 id = 0;
};

// One case on the device, both ways.
class Runner {
public:
    Runner(Machine& machine, const Case& test, const bench::NativeModules& modules, u32 work)
        : m_(machine), d_(*machine.device), case_(test), work_(work) {
        make_resources();
        make_targets();
        translate();
        make_native(modules);
    }
    ~Runner() {
        m_.queue->collect();
        for (const auto& [stage, object] : native_)
            d_.vk.vkDestroyShaderEXT(d_.handle, object, nullptr);
        if (native_layout_ != VK_NULL_HANDLE)
            d_.vk.vkDestroyPipelineLayout(d_.handle, native_layout_, nullptr);
        if (pool_ != VK_NULL_HANDLE)
            d_.vk.vkDestroyDescriptorPool(d_.handle, pool_, nullptr);
        for (const VkDescriptorSetLayout layout : set_layouts_)
            d_.vk.vkDestroyDescriptorSetLayout(d_.handle, layout, nullptr);
        for (const Texture& texture : textures_) {
            m_.heap->clear_texture(TextureId{texture.id});
            if (texture.buffer_view != VK_NULL_HANDLE)
                d_.vk.vkDestroyBufferView(d_.handle, texture.buffer_view, nullptr);
        }
        m_.heap->flush();
    }
    Runner(const Runner&) = delete;
    Runner& operator=(const Runner&) = delete;

    struct Times {
        f64 translated, native; // seconds of one draw or dispatch
    };
    // The best of several turns, each long enough for the clock: what disturbs only adds.
    Times measure() {
        u32 repeats = 1;
        for (;;) {
            const f64 once = std::min(run(true, repeats), run(false, repeats));
            if (once > 4e-3 || repeats >= 4096)
                break;
            repeats *= 4;
        }
        Times best{run(true, repeats), run(false, repeats)};
        for (int turn = 0; turn < 8; ++turn) {
            best.translated = std::min(best.translated, run(true, repeats));
            best.native = std::min(best.native, run(false, repeats));
        }
        return {best.translated / repeats, best.native / repeats};
    }

private:
    void make_resources() {
        gpu::Commands& c = *need(m_.queue->begin());
        std::vector<gpu::Buffer> staging;
        for (const Resource& r : case_.inputs) {
            textures_.emplace_back();
            buffers_.emplace_back();
            switch (r.kind) {
            case Resource::Kind::Ubo:
            case Resource::Kind::Ssbo:
                buffers_.back() = upload(c, staging, contents(r));
                break;
            case Resource::Kind::TexelBuffer:
            case Resource::Kind::ImageBuffer: {
                Texture& texture = textures_.back();
                texture.texels = upload(c, staging, r.data);
                VkBufferViewCreateInfo info{VK_STRUCTURE_TYPE_BUFFER_VIEW_CREATE_INFO};
                info.buffer = texture.texels.whole().buffer;
                info.format = r.format;
                info.range = r.data.size() / bench::bytes(r.format) * bench::bytes(r.format);
                check(d_.vk.vkCreateBufferView(d_.handle, &info, nullptr, &texture.buffer_view), "vkCreateBufferView");
                break;
            }
            default:
                make_image(c, staging, r);
            }
        }
        c.barrier();
        finish(c);
    }

    // More groups have more storage of the same kind, so that they are not just out of range.
    [[nodiscard]] std::vector<std::byte> contents(const Resource& r) const {
        std::vector<std::byte> all = r.data;
        if (!case_.draw && r.kind == Resource::Kind::Ssbo)
            for (u32 i = 1; i < more_groups(); ++i)
                all.insert(all.end(), r.data.begin(), r.data.end());
        return all;
    }
    [[nodiscard]] u64 size_of(const Resource& r) const {
        const bool grows = !case_.draw && r.kind == Resource::Kind::Ssbo;
        return r.data.size() * (grows ? more_groups() : 1);
    }
    [[nodiscard]] u32 more_groups() const { return std::max(work_ / 8, 1u); }

    gpu::Buffer upload(gpu::Commands& c, std::vector<gpu::Buffer>& staging, const std::vector<std::byte>& data) {
        gpu::Buffer buffer = need(gpu::create_buffer(d_, data.size() + 256, gpu::MemoryKind::Device));
        staging.push_back(need(gpu::create_buffer(d_, std::max<u64>(data.size(), 4), gpu::MemoryKind::Upload)));
        std::memcpy(staging.back().whole().mapped, data.data(), data.size());
        gpu::flush(d_, staging.back());
        const VkBufferCopy copy{0, 0, data.size()};
        c.prepare_transfer();
        if (!data.empty())
            d_.vk.vkCmdCopyBuffer(c.handle(), staging.back().whole().buffer, buffer.whole().buffer, 1, &copy);
        return buffer;
    }

    void make_image(gpu::Commands& c, std::vector<gpu::Buffer>& staging, const Resource& r) {
        Texture& texture = textures_.back();
        const bool cube = r.dimension == shader::Dimension::Cube || r.dimension == shader::Dimension::CubeArray;
        gpu::ImageDescription description;
        description.type = bench::image_type(r.dimension);
        description.format = r.format;
        description.extent = {r.size[0], r.size[1], r.size[2]};
        description.levels = r.levels;
        description.layers = r.layers;
        description.usage = VK_IMAGE_USAGE_TRANSFER_DST_BIT | VK_IMAGE_USAGE_SAMPLED_BIT;
        if (r.kind == Resource::Kind::Image)
            description.usage |= VK_IMAGE_USAGE_STORAGE_BIT;
        description.flags = cube ? VkImageCreateFlags{VK_IMAGE_CREATE_CUBE_COMPATIBLE_BIT} : VkImageCreateFlags{0};
        texture.image = need(gpu::create_image(d_, description));
        gpu::ViewDescription view;
        view.type = bench::view_type(r.dimension);
        view.levels = r.levels;
        view.layers = r.layers;
        texture.view = need(gpu::create_view(d_, texture.image, view));
        view.type = VK_IMAGE_VIEW_TYPE_2D_ARRAY;
        if (cube)
            texture.layered = need(gpu::create_view(d_, texture.image, view));
        texture.sampler = need(m_.heap->samplers().get(r.sampler));
        staging.push_back(need(gpu::create_buffer(d_, std::max<u64>(r.data.size(), 4), gpu::MemoryKind::Upload)));
        std::memcpy(staging.back().whole().mapped, r.data.data(), r.data.size());
        gpu::flush(d_, staging.back());
        c.initialise(texture.image);
        c.prepare_transfer();
        u64 at = 0;
        for (u32 level = 0; level < r.levels; ++level) {
            const auto extent = [&](u32 axis) { return std::max(r.size[axis] >> level, 1u); };
            VkBufferImageCopy copy{};
            copy.bufferOffset = at;
            copy.imageSubresource = {texture.image.aspects(), level, 0, r.layers};
            copy.imageExtent = {extent(0), extent(1), extent(2)};
            at += u64{extent(0)} * extent(1) * extent(2) * r.layers * bench::bytes(r.format);
            if (at > r.data.size())
                stop("an image's file is short");
            d_.vk.vkCmdCopyBufferToImage(c.handle(), staging.back().whole().buffer, texture.image.get(),
                                         layout_of(d_, gpu::ImageUse::CopyTarget), 1, &copy);
        }
    }

    void make_targets() {
        if (!case_.draw)
            return;
        const bench::Draw& draw = *case_.draw;
        gpu::Commands& c = *need(m_.queue->begin());
        const u32 scale = case_.scales_with_target() ? std::max(work_ / std::max(draw.width, 1u), 1u) : 1;
        width_ = draw.width * scale;
        height_ = draw.height * scale;
        gpu::ImageDescription description;
        description.extent = {width_, height_, 1};
        description.layers = draw.layers;
        gpu::ViewDescription view;
        view.type = draw.layers > 1 ? VK_IMAGE_VIEW_TYPE_2D_ARRAY : VK_IMAGE_VIEW_TYPE_2D;
        view.layers = draw.layers;
        const auto target = [&](gpu::Attachment& attachment, VkFormat format, VkImageUsageFlags usage) {
            description.format = format;
            description.usage = usage;
            targets_.push_back(need(gpu::create_image(d_, description)));
            target_views_.push_back(need(gpu::create_view(d_, targets_.back(), view)));
            c.initialise(targets_.back());
            attachment.view = target_views_.back().get();
            attachment.format = format;
            attachment.load = VK_ATTACHMENT_LOAD_OP_CLEAR;
        };
        pass_.area = {{0, 0}, {width_, height_}};
        pass_.layers = draw.layers;
        for (const bench::Target& t : draw.targets) {
            target(pass_.colors[t.location], t.format, VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT);
            pass_.color_count = std::max(pass_.color_count, t.location + 1);
        }
        if (draw.depth) {
            target(pass_.depth, VK_FORMAT_D32_SFLOAT, VK_IMAGE_USAGE_DEPTH_STENCIL_ATTACHMENT_BIT);
            pass_.depth.clear.depthStencil.depth = draw.depth->clear;
            state_.depth.test = VK_TRUE;
            state_.depth.write = draw.depth->write;
            state_.depth.compare = draw.depth->compare;
        }
        for (const bench::Target& t : draw.targets)
            if (t.unused)
                state_.blend.targets[t.location].write_mask = 0;
        state_.assembly.topology = draw.topology;
        state_.assembly.patch_vertices = std::max(draw.patch_vertices, 1u);
        u32 stream = 0;
        for (const bench::Attribute& a : draw.attributes) {
            state_.vertex_input.attributes[stream] = {a.location, stream, a.format, 0};
            state_.vertex_input.streams[stream] = {bench::bytes(a.format), 0};
            vertex_buffers_.push_back(host_buffer(a.data));
            ++stream;
        }
        state_.vertex_input.attribute_count = state_.vertex_input.stream_count = stream;
        if (!draw.indices.empty())
            index_buffer_ = host_buffer(draw.indices);
        state_.viewports.count = state_.scissors.count = std::max<u32>(static_cast<u32>(draw.viewports.size()), 1);
        for (u32 i = 0; i < state_.viewports.count; ++i) {
            const f32 by = static_cast<f32>(scale);
            const std::array<f32, 4> v = draw.viewports.empty() ? std::array<f32, 4>{0, 0, static_cast<f32>(draw.width),
                                                                                     static_cast<f32>(draw.height)}
                                                                : draw.viewports[i];
            state_.viewports.viewports[i] = {v[0] * by, v[1] * by, v[2] * by, v[3] * by, 0, 1};
            state_.scissors.scissors[i] = {{0, 0}, {width_, height_}};
        }
        finish(c);
    }

    gpu::Buffer host_buffer(const std::vector<std::byte>& data) {
        gpu::Buffer buffer = need(gpu::create_buffer(d_, data.size() + 256, gpu::MemoryKind::Upload));
        std::memcpy(buffer.whole().mapped, data.data(), data.size());
        gpu::flush(d_, buffer);
        return buffer;
    }

    // ---- the translated variant: handles in the driver's bank, as the corpus' compiler reads them

    void translate() {
        const program::DriverBankLayout& bank = program::open_compiler_layout;
        u32 id = 1;
        test_map_.resize(sizeof(shader::MemoryMap));
        std::vector<shader::MemoryRange> ranges;
        for (std::size_t i = 0; i < case_.inputs.size(); ++i) {
            const Resource& r = case_.inputs[i];
            Texture& texture = textures_[i];
            std::vector<std::byte>& driver = banks_[{r.stage, 0}];
            driver.resize(0x1000);
            const auto put = [&](std::vector<std::byte>& bytes, u64 offset, auto value) {
                if (bytes.size() < offset + sizeof value)
                    bytes.resize(offset + sizeof value);
                std::memcpy(bytes.data() + offset, &value, sizeof value);
            };
            const gpu::BufferSlice& slice = buffers_[i].whole();
            if (r.kind == Resource::Kind::Ubo || r.kind == Resource::Kind::Ssbo)
                ranges.push_back({slice.address, slice.size, slice.address});
            if (r.kind == Resource::Kind::Ubo) {
                if (r.stage == shader::Stage::Compute && r.slot >= bank.compute_uniform_first)
                    put(driver,
                        bank.compute_uniform_addresses +
                            u64{bank.compute_uniform_stride} * (r.slot - bank.compute_uniform_first),
                        slice.address);
                else
                    uniform_banks_[{r.stage, bank.first_uniform_bank + r.slot}] = i;
            } else if (r.kind == Resource::Kind::Ssbo) {
                const u64 at = bank.storage_buffers[static_cast<u32>(r.stage)] + 16 * r.slot;
                put(driver, at, slice.address);
                put(driver, at + 8, static_cast<u32>(size_of(r)));
            } else {
                texture.id = id++;
                const u32 handle = texture.id | texture.id << 20;
                write_heap(r, texture);
                const bool image = r.kind == Resource::Kind::Image || r.kind == Resource::Kind::ImageBuffer;
                if (r.bindless)
                    put(banks_[{r.stage, bank.first_uniform_bank + r.bindless->slot}], r.bindless->offset, handle);
                else
                    put(driver,
                        image ? bank.image_handles + u64{bank.image_stride} * r.slot
                              : bank.texture_handles + u64{bank.texture_stride} * r.slot,
                        handle);
            }
        }
        std::ranges::sort(ranges, {}, &shader::MemoryRange::guest);
        const u32 count = static_cast<u32>(ranges.size());
        std::memcpy(test_map_.data(), &count, sizeof count);
        const auto bytes = std::as_bytes(std::span(ranges));
        test_map_.insert(test_map_.end(), bytes.begin(), bytes.end());
        map_buffer_ = host_buffer(test_map_);
        m_.heap->set_memory_map(map_buffer_.whole());

        shader::Options options;
        options.subgroup_size = d_.capabilities.subgroup_size;
        options.indexed_banks_by_address = !m_.cpu;
        options.storage_windows = true;
        options.denormal_modes = d_.capabilities.denormal_modes;
        options.unfused_multiply_add = options.drops_added_zeros = options.mixes_left_loops = m_.cpu;
        for (const bench::Stage& stage : case_.stages) {
            const program::Program program = need(program::parse(stage.control, stage.gpu));
            translations_.push_back(need(shader::translate(program, case_.variant(stage.stage), options)));
            translated_.push_back(m_.shaders->request(stage.stage, translations_.back().spirv, case_.name));
            need(wrap(m_.shaders->wait(*translated_.back())));
            constants_.emplace_back(program.constants.begin(), program.constants.end());
        }
    }
    static Result<int> wrap(Result<void> result) {
        if (!result)
            return tl::unexpected(result.error());
        return 0;
    }

    void write_heap(const Resource& r, const Texture& texture) {
        const TextureId id{texture.id};
        gpu::DescriptorHeap& heap = *m_.heap;
        if (r.kind == Resource::Kind::TexelBuffer) {
            need(wrap(heap.write_texel_buffer(id, texture.buffer_view)));
        } else if (r.kind == Resource::Kind::ImageBuffer) {
            need(wrap(heap.write_storage_texel_buffer(id, texture.buffer_view)));
            need(wrap(heap.write_raw_storage_texel_buffer(id, texture.buffer_view)));
        } else if (r.kind == Resource::Kind::Image) {
            const bool cube = static_cast<bool>(texture.layered.get());
            const shader::Dimension dimension = cube ? shader::Dimension::D2Array : r.dimension;
            const VkImageView view = cube ? texture.layered.get() : texture.view.get();
            need(wrap(heap.write_storage_image(id, dimension, view)));
            if (bench::is_raw(r.format))
                need(wrap(heap.write_raw_storage_image(id, dimension, view)));
            need(wrap(heap.write_texture(id, dimension, view)));
        } else {
            need(wrap(heap.write_texture(id, r.dimension, texture.view.get())));
            need(wrap(heap.write_sampler(SamplerId{texture.id}, r.sampler)));
        }
    }

    void bind_translated(gpu::Commands& c) {
        std::vector<std::byte> table(program::stage_count * shader::banks::count * sizeof(shader::BankAddress));
        for (std::size_t s = 0; s < case_.stages.size(); ++s) {
            const shader::Stage stage = case_.stages[s].stage;
            c.set_shader(stage, translated_[s]);
            for (const shader::BankUse& use : translations_[s].reflection.banks) {
                gpu::BufferSlice slice;
                if (use.bank == shader::banks::windows)
                    slice = need(m_.queue->arena().push(window_rows(stage)));
                else if (const auto uniform = uniform_banks_.find({stage, use.bank}); uniform != uniform_banks_.end())
                    slice = buffers_[uniform->second].slice(0, case_.inputs[uniform->second].data.size());
                else if (use.bank == 1 && !constants_[s].empty())
                    slice = need(m_.queue->arena().push(constants_[s]));
                else if (const auto words = banks_.find({stage, use.bank}); words != banks_.end())
                    slice = need(m_.queue->arena().push(words->second));
                else
                    continue;
                if (use.binding != ~0u && stage == shader::Stage::Compute)
                    c.set_compute_bank(use.binding, slice);
                else if (use.binding != ~0u)
                    c.set_bank(use.binding, slice);
                if (use.bank == shader::banks::windows)
                    continue;
                const shader::BankAddress address{slice.address, static_cast<u32>(slice.size), 0};
                std::memcpy(table.data() + (static_cast<u64>(stage) * shader::banks::count + use.bank) * sizeof address,
                            &address, sizeof address);
            }
        }
        shader::RootConstants root{};
        root.bank_table = need(m_.queue->arena().push(table)).address;
        root.y_direction = root.point_size = 1;
        if (!case_.draw)
            for (u32 axis = 0; axis < 3; ++axis)
                root.workgroups[axis] = groups(axis);
        c.set_root(root);
        c.set_compute_root(root);
    }

    [[nodiscard]] std::vector<std::byte> window_rows(shader::Stage stage) const {
        std::array<shader::BankAddress, 2 * shader::banks::window_slots> rows{};
        for (std::size_t i = 0; i < case_.inputs.size(); ++i) {
            const Resource& r = case_.inputs[i];
            if (r.stage != stage || (r.kind != Resource::Kind::Ubo && r.kind != Resource::Kind::Ssbo))
                continue;
            const gpu::BufferSlice& slice = buffers_[i].whole();
            const u32 first = r.kind == Resource::Kind::Ubo ? shader::banks::uniform_row : shader::banks::storage_row;
            rows[first + r.slot] = {slice.address, static_cast<u32>(slice.size) & ~15u, 0};
        }
        const auto bytes = std::as_bytes(std::span(rows));
        return {bytes.begin(), bytes.end()};
    }

    // ---- the native variant: a set a stage

    void make_native(const bench::NativeModules& modules) {
        struct Binding {
            VkDescriptorType type;
            u32 count = 0;
        };
        std::map<u32, std::map<u32, Binding>> sets;
        for (const Resource& r : case_.inputs) {
            Binding& binding = sets[bench::native_set(r.stage)][bench::native_binding(r)];
            binding.type = bench::native_type(r);
            binding.count = std::max(binding.count, r.element + 1);
        }
        for (u32 set = 0; set < program::stage_count; ++set) {
            std::vector<VkDescriptorSetLayoutBinding> bindings;
            for (const auto& [number, binding] : sets[set])
                bindings.push_back({number, binding.type, binding.count, VK_SHADER_STAGE_ALL, nullptr});
            VkDescriptorSetLayoutCreateInfo info{VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO};
            info.bindingCount = static_cast<u32>(bindings.size());
            info.pBindings = bindings.data();
            set_layouts_.emplace_back();
            check(d_.vk.vkCreateDescriptorSetLayout(d_.handle, &info, nullptr, &set_layouts_.back()), "set layout");
        }
        VkPipelineLayoutCreateInfo layout{VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO};
        layout.setLayoutCount = program::stage_count;
        layout.pSetLayouts = set_layouts_.data();
        check(d_.vk.vkCreatePipelineLayout(d_.handle, &layout, nullptr, &native_layout_), "pipeline layout");
        std::array<VkDescriptorPoolSize, 6> sizes{};
        for (u32 i = 0; i < sizes.size(); ++i) {
            static constexpr VkDescriptorType types[] = {
                VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER,         VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER, VK_DESCRIPTOR_TYPE_STORAGE_IMAGE,
                VK_DESCRIPTOR_TYPE_UNIFORM_TEXEL_BUFFER,   VK_DESCRIPTOR_TYPE_STORAGE_TEXEL_BUFFER};
            sizes[i] = {types[i], 64};
        }
        VkDescriptorPoolCreateInfo pool{VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO};
        pool.maxSets = program::stage_count;
        pool.poolSizeCount = static_cast<u32>(sizes.size());
        pool.pPoolSizes = sizes.data();
        check(d_.vk.vkCreateDescriptorPool(d_.handle, &pool, nullptr, &pool_), "descriptor pool");
        VkDescriptorSetAllocateInfo allocate{VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO};
        allocate.descriptorPool = pool_;
        allocate.descriptorSetCount = program::stage_count;
        allocate.pSetLayouts = set_layouts_.data();
        check(d_.vk.vkAllocateDescriptorSets(d_.handle, &allocate, sets_.data()), "descriptor sets");
        for (std::size_t i = 0; i < case_.inputs.size(); ++i)
            write_native(case_.inputs[i], i);
        for (const bench::Stage& stage : case_.stages) {
            const std::vector<u32>& spirv = modules.at(stage.stage);
            VkShaderCreateInfoEXT info{VK_STRUCTURE_TYPE_SHADER_CREATE_INFO_EXT};
            info.stage = gpu::stage_bit(stage.stage);
            for (const bench::Stage& next : case_.stages)
                if (bench::native_set(next.stage) == next_set(stage.stage))
                    info.nextStage = gpu::stage_bit(next.stage);
            info.codeType = VK_SHADER_CODE_TYPE_SPIRV_EXT;
            info.codeSize = spirv.size() * 4;
            info.pCode = spirv.data();
            info.pName = "main";
            info.setLayoutCount = program::stage_count;
            info.pSetLayouts = set_layouts_.data();
            VkShaderEXT object = VK_NULL_HANDLE;
            check(d_.vk.vkCreateShadersEXT(d_.handle, 1, &info, nullptr, &object), "vkCreateShadersEXT");
            native_.emplace_back(stage.stage, object);
        }
    }
    // Sets are numbered as stages follow each other.
    [[nodiscard]] u32 next_set(shader::Stage stage) const {
        u32 next = ~0u;
        for (const bench::Stage& other : case_.stages)
            if (bench::native_set(other.stage) > bench::native_set(stage))
                next = std::min(next, bench::native_set(other.stage));
        return next;
    }

    void write_native(const Resource& r, std::size_t i) {
        VkWriteDescriptorSet write{VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET};
        write.dstSet = sets_[bench::native_set(r.stage)];
        write.dstBinding = bench::native_binding(r);
        write.dstArrayElement = r.element;
        write.descriptorCount = 1;
        write.descriptorType = bench::native_type(r);
        const VkDescriptorBufferInfo buffer{buffers_[i].whole().buffer, 0, size_of(r)};
        const VkDescriptorImageInfo image{textures_[i].sampler, textures_[i].view.get(), VK_IMAGE_LAYOUT_GENERAL};
        write.pBufferInfo = &buffer;
        write.pImageInfo = &image;
        write.pTexelBufferView = &textures_[i].buffer_view;
        d_.vk.vkUpdateDescriptorSets(d_.handle, 1, &write, 0, nullptr);
    }

    void bind_native(gpu::Commands& c) {
        std::vector<VkShaderStageFlagBits> stages;
        std::vector<VkShaderEXT> objects;
        for (const auto& [stage, object] : native_) {
            stages.push_back(gpu::stage_bit(stage));
            objects.push_back(object);
        }
        d_.vk.vkCmdBindShadersEXT(c.handle(), static_cast<u32>(stages.size()), stages.data(), objects.data());
        d_.vk.vkCmdBindDescriptorSets(c.handle(),
                                      case_.draw ? VK_PIPELINE_BIND_POINT_GRAPHICS : VK_PIPELINE_BIND_POINT_COMPUTE,
                                      native_layout_, 0, program::stage_count, sets_.data(), 0, nullptr);
    }

    // ---- both

    [[nodiscard]] u32 groups(u32 axis) const { return case_.dispatch[axis] * (axis == 0 ? more_groups() : 1); }

    // Seconds on the device.
    f64 run(bool translated, u32 repeats) {
        const f64 start = processor_seconds();
        gpu::Commands& c = *need(m_.queue->begin());
        bind_translated(c);
        d_.vk.vkCmdResetQueryPool(c.handle(), m_.queries, 0, 2);
        if (case_.draw)
            draw(c, translated, repeats);
        else
            dispatch(c, translated, repeats);
        finish(c);
        if (m_.cpu)
            return processor_seconds() - start;
        std::array<u64, 2> ticks{};
        check(d_.vk.vkGetQueryPoolResults(d_.handle, m_.queries, 0, 2, sizeof ticks, ticks.data(), sizeof(u64),
                                          VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WAIT_BIT),
              "timestamps");
        return static_cast<f64>(ticks[1] - ticks[0]) * m_.nanoseconds_a_tick * 1e-9;
    }

    // Of all threads of this process: on a CPU device that is the device's work, whatever else the machine does.
    static f64 processor_seconds() {
        timespec now{};
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
        return static_cast<f64>(now.tv_sec) + static_cast<f64>(now.tv_nsec) * 1e-9;
    }

    void timestamp(gpu::Commands& c, u32 query) {
        d_.vk.vkCmdWriteTimestamp2(c.handle(), VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT, m_.queries, query);
    }

    void dispatch(gpu::Commands& c, bool translated, u32 repeats) {
        if (!c.prepare_dispatch())
            stop("the dispatch could not be prepared");
        if (!translated)
            bind_native(c);
        timestamp(c, 0);
        for (u32 i = 0; i < repeats; ++i)
            d_.vk.vkCmdDispatch(c.handle(), groups(0), groups(1), groups(2));
        timestamp(c, 1);
        c.forget();
    }

    void draw(gpu::Commands& c, bool translated, u32 repeats) {
        const bench::Draw& draw = *case_.draw;
        c.set(state_);
        for (u32 i = 0; i < vertex_buffers_.size(); ++i)
            c.set_vertex_stream(i, vertex_buffers_[i].whole());
        if (!draw.indices.empty())
            c.set_index_buffer(index_buffer_.whole(), VK_INDEX_TYPE_UINT32);
        c.begin_pass(pass_);
        if (!c.prepare_draw())
            stop("the draw could not be prepared");
        if (!translated)
            bind_native(c);
        timestamp(c, 0);
        const u32 instances = draw.instances * (case_.scales_with_target() ? 1 : more_groups());
        for (u32 i = 0; i < repeats; ++i)
            if (draw.indices.empty())
                d_.vk.vkCmdDraw(c.handle(), draw.vertices, instances, draw.first_vertex, draw.first_instance);
            else
                d_.vk.vkCmdDrawIndexed(c.handle(), draw.vertices, instances, 0, static_cast<i32>(draw.first_vertex),
                                       draw.first_instance);
        timestamp(c, 1);
        c.forget();
        c.end_pass();
    }

    void finish(gpu::Commands& c) {
        const u64 number = need(m_.queue->submit(c));
        if (!need(m_.queue->wait(number, patience)))
            stop("the device did not finish");
    }

    Machine& m_;
    const gpu::Device& d_;
    const Case& case_;
    u32 work_, width_ = 0, height_ = 0;
    std::vector<gpu::Buffer> buffers_; // these two by input
    std::vector<Texture> textures_;
    std::map<std::pair<shader::Stage, u32>, std::vector<std::byte>> banks_;
    std::map<std::pair<shader::Stage, u32>, std::size_t> uniform_banks_; // to the input
    std::vector<std::byte> test_map_;
    gpu::Buffer map_buffer_;
    std::vector<shader::Translation> translations_;
    std::vector<gpu::Shader*> translated_;
    std::vector<std::vector<std::byte>> constants_;
    std::vector<std::pair<shader::Stage, VkShaderEXT>> native_;
    std::vector<VkDescriptorSetLayout> set_layouts_;
    std::array<VkDescriptorSet, program::stage_count> sets_{};
    VkDescriptorPool pool_ = VK_NULL_HANDLE;
    VkPipelineLayout native_layout_ = VK_NULL_HANDLE;
    std::vector<gpu::Image> targets_;
    std::vector<gpu::Owned<VkImageView>> target_views_;
    std::vector<gpu::Buffer> vertex_buffers_;
    gpu::Buffer index_buffer_;
    gpu::Pass pass_;
    gpu::DrawState state_;
};

struct Row {
    std::string name, group;
    Runner::Times times{};
    [[nodiscard]] f64 ratio() const { return times.translated / times.native; }
};

f64 geometric_mean(const std::vector<Row>& rows, const std::string& group) {
    f64 sum = 0;
    u32 count = 0;
    for (const Row& row : rows)
        if (group.empty() || row.group == group) {
            sum += std::log(row.ratio());
            ++count;
        }
    return count != 0 ? std::exp(sum / count) : 0;
}

void report(const Machine& machine, std::vector<Row> rows, const std::vector<std::string>& skipped,
            const std::string& file) {
    std::map<std::string, f64> means;
    for (const Row& row : rows)
        means.try_emplace(row.group, geometric_mean(rows, row.group));
    std::ranges::sort(rows, std::greater{}, &Row::ratio);
    fmt::print("\n{}\n{:<28}{:>12}{:>12}{:>8}\n", machine.name, "case", "translated", "native", "ratio");
    for (const Row& row : rows)
        fmt::print("{:<28}{:>10.2f}us{:>10.2f}us{:>8.2f}\n", row.name, row.times.translated * 1e6,
                   row.times.native * 1e6, row.ratio());
    for (const std::string& line : skipped)
        fmt::print("not measured: {}\n", line);
    for (const auto& [group, mean] : means)
        fmt::print("{:<12} geometric mean {:.3f}\n", group, mean);
    fmt::print("all          geometric mean {:.3f} of {} cases\n", geometric_mean(rows, ""), rows.size());
    if (file.empty())
        return;
    std::ofstream out(file);
    out << fmt::format("{{\"device\": \"{}\", \"geometric_mean\": {:.4f}, \"stages\": {{", machine.name,
                       geometric_mean(rows, ""));
    const char* comma = "";
    for (const auto& [group, mean] : means) {
        out << fmt::format("{}\"{}\": {:.4f}", comma, group, mean);
        comma = ", ";
    }
    out << "}, \"cases\": [";
    comma = "\n";
    for (const Row& row : rows) {
        out << fmt::format(
            "{} {{\"name\": \"{}\", \"translated_us\": {:.3f}, \"native_us\": {:.3f}, \"ratio\": {:.4f}}}", comma,
            row.name, row.times.translated * 1e6, row.times.native * 1e6, row.ratio());
        comma = ",\n";
    }
    out << "\n]}\n";
}

int run(const bench::Arguments& arguments) {
    std::vector<std::string> skipped;
    std::vector<Case> cases;
    for (const std::string& name : bench::list_cases(arguments.cases, arguments.filter)) {
        try {
            Case test = bench::load_case(arguments.cases / name);
            (void)bench::native_modules(arguments, test);
            cases.push_back(std::move(test));
        } catch (const std::exception& e) {
            skipped.push_back(name + ": " + e.what());
        }
    }
    if (arguments.compile_only)
        return 0;
    Machine machine;
    const u32 work = arguments.work != 0 ? arguments.work : machine.cpu ? 128 : 1024;
    std::vector<Row> rows;
    for (const Case& test : cases) {
        try {
            Runner runner(machine, test, bench::native_modules(arguments, test), work);
            rows.push_back({test.name, test.group(), runner.measure()});
            fmt::print(stderr, "{} {:.2f}\n", test.name, rows.back().ratio());
        } catch (const std::exception& e) {
            skipped.push_back(test.name + ": " + e.what());
        }
    }
    report(machine, rows, skipped, arguments.json);
    return rows.empty() ? 1 : 0;
}

} // namespace

int main(int count, char** values) {
    try {
        return run(bench::arguments(count, values));
    } catch (const std::exception& e) {
        std::cerr << "bench_shader_quality: " << e.what() << '\n';
        return 1;
    }
}
