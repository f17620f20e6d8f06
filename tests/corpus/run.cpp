#include "tests/corpus/run.h"

#include "tests/corpus/samples.h"

#include <algorithm>
#include <cstring>
#include <deque>
#include <map>
#include <stdexcept>

namespace corpus {
namespace {

void require(bool ok, const char* what) {
    if (!ok)
        throw std::runtime_error(what);
}

// What the region of a copy calls layers: the faces and layers of everything but 1D arrays lie along z.
NVNcopyRegion whole_level(NVNtextureTarget target, const std::array<int, 3>& size, int layers, int level) {
    const auto extent = [&](int axis) { return std::max(1, size[static_cast<std::size_t>(axis)] >> level); };
    switch (target) {
    case NVN_TEXTURE_TARGET_1D:
    case NVN_TEXTURE_TARGET_BUFFER:
        return {0, 0, 0, extent(0), 1, 1};
    case NVN_TEXTURE_TARGET_1D_ARRAY:
        return {0, 0, 0, extent(0), layers, 1};
    case NVN_TEXTURE_TARGET_3D:
        return {0, 0, 0, extent(0), extent(1), extent(2)};
    default:
        return {0, 0, 0, extent(0), extent(1), layers};
    }
}

NVNcompareFunc compare_or_less(const Sampler& sampler) {
    return sampler.compare.value_or(NVN_COMPARE_FUNC_LESS);
}

class Runner {
public:
    Runner(Machine& machine, const Case& test) : machine_(machine), test_(test) {}

    ~Runner() {
        nvnQueueFinish(&machine_.queue);
        if (recorder_alive_)
            nvnCommandBufferFinalize(&commands_);
        for (NVNprogram& program : programs_)
            nvnProgramFinalize(&program);
        for (NVNsampler& sampler : samplers_)
            nvnSamplerFinalize(&sampler);
        for (NVNtexture& texture : textures_)
            nvnTextureFinalize(&texture);
        if (pools_alive_) {
            nvnTexturePoolFinalize(&texture_pool_);
            nvnSamplerPoolFinalize(&sampler_pool_);
        }
    }
    Runner(const Runner&) = delete;
    Runner& operator=(const Runner&) = delete;

    std::vector<Blob> run() {
        make_pools();
        begin_recording();
        for (const Resource& resource : test_.inputs)
            if (resource.samples > 1)
                draw_samples(resource);
        nvnCommandBufferBindProgram(&commands_, &make_program(test_.stages),
                                    test_.draw ? NVN_SHADER_STAGE_ALL_GRAPHICS_BITS : NVN_SHADER_STAGE_COMPUTE_BIT);
        bind_resources();
        if (test_.draw)
            draw(*test_.draw);
        else
            nvnCommandBufferDispatchCompute(&commands_, test_.dispatch[0], test_.dispatch[1], test_.dispatch[2]);
        barrier();
        for (const Output& output : test_.outputs)
            request(output);
        submit_and_wait();

        std::vector<Blob> results;
        for (std::size_t i = 0; i < test_.outputs.size(); ++i) {
            const std::uint8_t* from = data_.host(readback_[i]);
            results.emplace_back(from, from + test_.outputs[i].reference.size());
        }
        return results;
    }

private:
    static constexpr int descriptor_count = first_id + 64;

    void make_pools() {
        constexpr std::size_t descriptor_bytes = 32;
        require(nvnTexturePoolInitialize(&texture_pool_, &data_.pool,
                                         data_.take(descriptor_count * descriptor_bytes, 4096), descriptor_count),
                "nvnTexturePoolInitialize failed");
        require(nvnSamplerPoolInitialize(&sampler_pool_, &data_.pool,
                                         data_.take(descriptor_count * descriptor_bytes, 4096), descriptor_count),
                "nvnSamplerPoolInitialize failed");
        pools_alive_ = true;
    }

    NVNprogram& make_program(const std::vector<Stage>& stages) {
        NVNprogram& program = programs_.emplace_back();
        if (!nvnProgramInitialize(&program, &machine_.device)) {
            programs_.pop_back();
            throw std::runtime_error("nvnProgramInitialize failed");
        }
        std::vector<NVNshaderData> shaders;
        for (const Stage& stage : stages) {
            controls_.push_back(stage.control); // the program keeps what it points at
            shaders.push_back({code_.address(code_.put(stage.gpu, 256)), controls_.back().data()});
        }
        require(nvnProgramSetShaders(&program, static_cast<int>(shaders.size()), shaders.data()),
                "nvnProgramSetShaders refused the program");
        return program;
    }

    void barrier() {
        nvnCommandBufferBarrier(&commands_, NVN_BARRIER_ORDER_PRIMITIVES_BIT | NVN_BARRIER_ORDER_FRAGMENTS_BIT |
                                                NVN_BARRIER_INVALIDATE_TEXTURE_BIT | NVN_BARRIER_INVALIDATE_SHADER_BIT);
    }

    void begin_recording() {
        require(nvnCommandBufferInitialize(&commands_, &machine_.device), "nvnCommandBufferInitialize failed");
        recorder_alive_ = true;
        constexpr std::size_t command_bytes = 256 << 10;
        nvnCommandBufferAddCommandMemory(&commands_, &data_.pool, data_.take(command_bytes, 4096), command_bytes);
        control_.resize(64 << 10);
        nvnCommandBufferAddControlMemory(&commands_, control_.data(), control_.size() * sizeof control_[0]);
        nvnCommandBufferBeginRecording(&commands_);
        nvnCommandBufferSetTexturePool(&commands_, &texture_pool_);
        nvnCommandBufferSetSamplerPool(&commands_, &sampler_pool_);
    }

    NVNtexture& make_texture(NVNtextureTarget target, NVNformat format, const std::array<int, 3>& size, int layers,
                             int levels, int samples, int flags) {
        NVNtextureBuilder builder;
        nvnTextureBuilderSetDevice(&builder, &machine_.device);
        nvnTextureBuilderSetDefaults(&builder);
        nvnTextureBuilderSetTarget(&builder, target);
        nvnTextureBuilderSetFormat(&builder, format);
        nvnTextureBuilderSetLevels(&builder, levels);
        nvnTextureBuilderSetFlags(&builder, flags);
        switch (target) {
        case NVN_TEXTURE_TARGET_1D:
        case NVN_TEXTURE_TARGET_BUFFER:
            nvnTextureBuilderSetSize1D(&builder, size[0]);
            break;
        case NVN_TEXTURE_TARGET_1D_ARRAY:
            nvnTextureBuilderSetSize2D(&builder, size[0], layers);
            break;
        case NVN_TEXTURE_TARGET_3D:
            nvnTextureBuilderSetSize3D(&builder, size[0], size[1], size[2]);
            break;
        case NVN_TEXTURE_TARGET_CUBEMAP:
            nvnTextureBuilderSetSize2D(&builder, size[0], size[1]);
            break;
        default:
            nvnTextureBuilderSetSize3D(&builder, size[0], size[1], layers);
            break;
        }
        if (samples > 1)
            nvnTextureBuilderSetSamples(&builder, samples);
        const std::size_t bytes = nvnTextureBuilderGetStorageSize(&builder);
        const std::size_t alignment = nvnTextureBuilderGetStorageAlignment(&builder);
        nvnTextureBuilderSetStorage(&builder, &data_.pool, data_.take(bytes, std::max<std::size_t>(alignment, 1)));
        NVNtexture& texture = textures_.emplace_back();
        if (!nvnTextureInitialize(&texture, &builder)) {
            textures_.pop_back();
            throw std::runtime_error("nvnTextureInitialize failed");
        }
        return texture;
    }

    void write_levels(const NVNtexture& texture, const Resource& resource) {
        const std::uint8_t* from = resource.data.data();
        for (int level = 0; level < resource.levels; ++level) {
            NVNtextureView view;
            nvnTextureViewSetDefaults(&view);
            nvnTextureViewSetLevels(&view, level, 1);
            const NVNcopyRegion region = whole_level(resource.target, resource.size, resource.layers, level);
            nvnTextureWriteTexels(&texture, &view, &region, from);
            from += static_cast<std::size_t>(region.width) * static_cast<std::size_t>(region.height) *
                    static_cast<std::size_t>(region.depth) * resource.format.bytes();
        }
        require(from == resource.data.data() + resource.data.size(),
                "a texture's data has another size than its levels");
    }

    int register_sampler(const Sampler& from) {
        static constexpr NVNminFilter filters[2][2] = {
            {NVN_MIN_FILTER_NEAREST_MIPMAP_NEAREST, NVN_MIN_FILTER_NEAREST_MIPMAP_LINEAR},
            {NVN_MIN_FILTER_LINEAR_MIPMAP_NEAREST, NVN_MIN_FILTER_LINEAR_MIPMAP_LINEAR}};
        NVNsamplerBuilder builder;
        nvnSamplerBuilderSetDevice(&builder, &machine_.device);
        nvnSamplerBuilderSetDefaults(&builder);
        nvnSamplerBuilderSetMinMagFilter(&builder, filters[from.linear][from.mip_linear],
                                         from.linear ? NVN_MAG_FILTER_LINEAR : NVN_MAG_FILTER_NEAREST);
        nvnSamplerBuilderSetWrapMode(&builder, from.wrap, from.wrap, from.wrap);
        if (from.compare)
            nvnSamplerBuilderSetCompare(&builder, NVN_COMPARE_MODE_COMPARE_R_TO_TEXTURE, compare_or_less(from));
        NVNsampler& sampler = samplers_.emplace_back();
        if (!nvnSamplerInitialize(&sampler, &builder)) {
            samplers_.pop_back();
            throw std::runtime_error("nvnSamplerInitialize failed");
        }
        const int id = first_id + static_cast<int>(samplers_.size()) - 1;
        nvnSamplerPoolRegisterSampler(&sampler_pool_, id, &sampler);
        return id;
    }

    std::uint64_t register_texture(const NVNtexture& texture, const Sampler& sampler) {
        const int id = next_texture_id_++;
        nvnTexturePoolRegisterTexture(&texture_pool_, id, &texture, nullptr);
        return nvnDeviceGetTextureHandle(&machine_.device, id, register_sampler(sampler));
    }

    // Texels of multisampled textures cannot be written from the CPU: a draw brings them there from a plain texture.
    void draw_samples(const Resource& resource) {
        require(resource.target == NVN_TEXTURE_TARGET_2D_MULTISAMPLE, "multisampled arrays are not supported");
        Resource source = resource;
        source.target = NVN_TEXTURE_TARGET_2D;
        source.size[0] *= resource.samples;
        NVNtexture& plain = make_texture(source.target, source.format.nvn, source.size, 1, 1, 1, 0);
        write_levels(plain, source);
        const NVNtexture& texture =
            make_texture(resource.target, resource.format.nvn, resource.size, 1, 1, resource.samples, 0);
        by_resource_[&resource] = &texture;
        const NVNtexture* const target = &texture;
        nvnCommandBufferSetRenderTargets(&commands_, 1, &target, nullptr, nullptr, nullptr);
        nvnCommandBufferSetViewport(&commands_, 0, 0, resource.size[0], resource.size[1]);
        nvnCommandBufferSetScissor(&commands_, 0, 0, resource.size[0], resource.size[1]);
        bind_multisampling(resource.samples);
        nvnCommandBufferBindProgram(&commands_, &make_program(sample_writer(resource.samples)),
                                    NVN_SHADER_STAGE_ALL_GRAPHICS_BITS);
        nvnCommandBufferBindTexture(&commands_, NVN_SHADER_STAGE_FRAGMENT, 0, register_texture(plain, Sampler{}));
        nvnCommandBufferDrawArrays(&commands_, NVN_DRAW_PRIMITIVE_TRIANGLES, 0, 3);
        barrier();
    }

    void bind_multisampling(int samples) {
        NVNmultisampleState multisample;
        nvnMultisampleStateSetDefaults(&multisample);
        if (samples > 1) {
            nvnMultisampleStateSetMultisampleEnable(&multisample, NVN_TRUE);
            nvnMultisampleStateSetSamples(&multisample, samples);
        }
        nvnCommandBufferBindMultisampleState(&commands_, &multisample);
    }

    // Makes the texture, gives it its texels and registers it; the handle is what a shader reads.
    std::uint64_t texture_handle(const Resource& resource, bool image) {
        if (resource.samples > 1)
            return register_texture(*by_resource_.at(&resource), resource.sampler);
        const int flags = image ? NVN_TEXTURE_FLAGS_IMAGE : 0;
        NVNtexture& texture = make_texture(
            resource.target, resource.format.nvn,
            resource.target == NVN_TEXTURE_TARGET_BUFFER
                ? std::array<int, 3>{static_cast<int>(resource.data.size() / resource.format.bytes()), 1, 1}
                : resource.size,
            resource.layers, resource.levels, 1, flags);
        if (resource.target == NVN_TEXTURE_TARGET_BUFFER)
            std::memcpy(data_.host(nvnTextureGetMemoryOffset(&texture)), resource.data.data(), resource.data.size());
        else
            write_levels(texture, resource);
        by_resource_[&resource] = &texture;
        if (!image)
            return register_texture(texture, resource.sampler);
        const int id = next_texture_id_++;
        nvnTexturePoolRegisterImage(&texture_pool_, id, &texture, nullptr);
        return nvnDeviceGetImageHandle(&machine_.device, id);
    }

    void bind_resources() {
        using Kind = Resource::Kind;
        std::map<std::pair<NVNshaderStage, int>, Blob> handle_buffers; // uniform buffers of bindless handles
        for (const Resource& resource : test_.inputs) {
            switch (resource.kind) {
            case Kind::Ubo:
                bind_uniforms(resource.stage, resource.slot, resource.data);
                break;
            case Kind::Ssbo: {
                const std::ptrdiff_t offset = data_.put(resource.data, 256);
                by_slot_[{resource.stage, resource.slot}] = offset;
                nvnCommandBufferBindStorageBuffer(&commands_, resource.stage, resource.slot, data_.address(offset),
                                                  resource.data.size());
                break;
            }
            default: {
                const bool image = resource.kind == Kind::Image || resource.kind == Kind::ImageBuffer;
                const std::uint64_t handle = texture_handle(resource, image);
                if (resource.bindless) {
                    Blob& words = handle_buffers[{resource.stage, resource.bindless->ubo_slot}];
                    const auto at = static_cast<std::size_t>(resource.bindless->offset);
                    words.resize(std::max(words.size(), at + 16));
                    std::memcpy(words.data() + at, &handle, sizeof handle);
                } else if (image) {
                    nvnCommandBufferBindImage(&commands_, resource.stage, resource.slot, handle);
                } else {
                    nvnCommandBufferBindTexture(&commands_, resource.stage, resource.slot, handle);
                }
            }
            }
        }
        for (const auto& [where, words] : handle_buffers)
            bind_uniforms(where.first, where.second, words);
    }

    void bind_uniforms(NVNshaderStage stage, int slot, const Blob& data) {
        nvnCommandBufferBindUniformBuffer(&commands_, stage, slot, data_.address(data_.put(data, 256)), data.size());
    }

    void bind_vertices(const Draw& draw) {
        std::vector<NVNvertexAttribState> attributes;
        std::vector<NVNvertexStreamState> streams;
        for (const Attribute& attribute : draw.attributes) {
            const auto location = static_cast<std::size_t>(attribute.location);
            while (attributes.size() <= location)
                nvnVertexAttribStateSetDefaults(&attributes.emplace_back());
            const int stream = static_cast<int>(streams.size());
            nvnVertexAttribStateSetFormat(&attributes[location], attribute.format.nvn, 0);
            nvnVertexAttribStateSetStreamIndex(&attributes[location], stream);
            nvnVertexStreamStateSetDefaults(&streams.emplace_back());
            nvnVertexStreamStateSetStride(&streams.back(), attribute.format.bytes());
            nvnCommandBufferBindVertexBuffer(&commands_, stream, data_.address(data_.put(attribute.data, 256)),
                                             attribute.data.size());
        }
        nvnCommandBufferBindVertexAttribState(&commands_, static_cast<int>(attributes.size()), attributes.data());
        nvnCommandBufferBindVertexStreamState(&commands_, static_cast<int>(streams.size()), streams.data());
    }

    void bind_targets(const Draw& draw) {
        require(draw.samples == 1 || draw.layers == 1, "multisampled arrays are not supported");
        const NVNtextureTarget kind = draw.samples > 1  ? NVN_TEXTURE_TARGET_2D_MULTISAMPLE
                                      : draw.layers > 1 ? NVN_TEXTURE_TARGET_2D_ARRAY
                                                        : NVN_TEXTURE_TARGET_2D;
        const std::array<int, 3> size{draw.width, draw.height, 1};
        std::vector<const NVNtexture*> colors;
        NVNchannelMaskState mask;
        nvnChannelMaskStateSetDefaults(&mask);
        for (const Target& target : draw.targets) {
            const auto location = static_cast<std::size_t>(target.location);
            colors.resize(std::max(colors.size(), location + 1));
            colors[location] = &make_texture(kind, target.format.nvn, size, draw.layers, 1, draw.samples, 0);
            targets_[target.location] = colors[location];
            if (target.unused)
                nvnChannelMaskStateSetChannelMask(&mask, target.location, NVN_FALSE, NVN_FALSE, NVN_FALSE, NVN_FALSE);
        }
        if (draw.depth)
            depth_ = &make_texture(kind, NVN_FORMAT_DEPTH32F, size, draw.layers, 1, draw.samples, 0);
        nvnCommandBufferSetRenderTargets(&commands_, static_cast<int>(colors.size()), colors.data(), nullptr, depth_,
                                         nullptr);
        nvnCommandBufferSetScissor(&commands_, 0, 0, draw.width, draw.height);
        for (const Target& target : draw.targets)
            clear(target);
        if (draw.depth)
            nvnCommandBufferClearDepthStencil(&commands_, draw.depth->clear, NVN_TRUE, 0, 0);
        nvnCommandBufferBindChannelMaskState(&commands_, &mask);
    }

    void clear(const Target& target) {
        const auto& color = target.clear;
        if (target.format.kind == Format::Kind::Uint) {
            std::array<std::uint32_t, 4> words;
            std::transform(color.begin(), color.end(), words.begin(),
                           [](double v) { return static_cast<std::uint32_t>(v); });
            nvnCommandBufferClearColorui(&commands_, target.location, words.data(), NVN_CLEAR_COLOR_MASK_RGBA);
        } else if (target.format.kind == Format::Kind::Int) {
            std::array<int, 4> words;
            std::transform(color.begin(), color.end(), words.begin(), [](double v) { return static_cast<int>(v); });
            nvnCommandBufferClearColori(&commands_, target.location, words.data(), NVN_CLEAR_COLOR_MASK_RGBA);
        } else {
            std::array<float, 4> words;
            std::transform(color.begin(), color.end(), words.begin(), [](double v) { return static_cast<float>(v); });
            nvnCommandBufferClearColor(&commands_, target.location, words.data(), NVN_CLEAR_COLOR_MASK_RGBA);
        }
    }

    void bind_fixed_function(const Draw& draw) {
        NVNpolygonState polygon;
        nvnPolygonStateSetDefaults(&polygon);
        nvnPolygonStateSetCullFace(&polygon, draw.cull);
        nvnPolygonStateSetFrontFace(&polygon, NVN_FRONT_FACE_CW);
        nvnCommandBufferBindPolygonState(&commands_, &polygon);
        NVNdepthStencilState depth;
        nvnDepthStencilStateSetDefaults(&depth);
        if (draw.depth) {
            nvnDepthStencilStateSetDepthTestEnable(&depth, NVN_TRUE);
            nvnDepthStencilStateSetDepthWriteEnable(&depth, draw.depth->write);
            nvnDepthStencilStateSetDepthFunc(&depth, draw.depth->test);
        }
        nvnCommandBufferBindDepthStencilState(&commands_, &depth);
        NVNcolorState color;
        nvnColorStateSetDefaults(&color);
        nvnCommandBufferBindColorState(&commands_, &color);
        bind_multisampling(draw.samples);
        nvnCommandBufferSetProvokingVertexMode(&commands_, 0); // the first, as in Vulkan
        nvnCommandBufferSetPointSize(&commands_, 1);
        if (draw.patch_vertices > 0)
            nvnCommandBufferSetPatchSize(&commands_, draw.patch_vertices);

        std::vector<float> viewports;
        std::vector<int> scissors;
        for (const auto& viewport : draw.viewports) {
            viewports.insert(viewports.end(), viewport.begin(), viewport.end());
            scissors.insert(scissors.end(), {0, 0, draw.width, draw.height});
        }
        nvnCommandBufferSetViewports(&commands_, 0, static_cast<int>(draw.viewports.size()), viewports.data());
        nvnCommandBufferSetScissors(&commands_, 0, static_cast<int>(draw.viewports.size()), scissors.data());
    }

    void draw(const Draw& draw) {
        bind_targets(draw);
        bind_fixed_function(draw);
        bind_vertices(draw);
        if (draw.indices.empty())
            nvnCommandBufferDrawArraysInstanced(&commands_, draw.topology, draw.first_vertex, draw.vertices,
                                                draw.first_instance, draw.instances);
        else
            nvnCommandBufferDrawElementsInstanced(
                &commands_, draw.topology, NVN_INDEX_TYPE_UNSIGNED_INT, static_cast<int>(draw.indices.size() / 4),
                data_.address(data_.put(draw.indices, 256)), draw.first_vertex, draw.first_instance, draw.instances);
    }

    // A dispatch that stores every sample of a target.
    void read_samples(const NVNtexture& texture, std::size_t bytes) {
        const Draw& draw = *test_.draw;
        readback_.push_back(data_.take(bytes, 256));
        nvnCommandBufferBindProgram(&commands_, &make_program({sample_reader(draw.width, draw.samples)}),
                                    NVN_SHADER_STAGE_COMPUTE_BIT);
        nvnCommandBufferBindTexture(&commands_, NVN_SHADER_STAGE_COMPUTE, 0, register_texture(texture, Sampler{}));
        nvnCommandBufferBindStorageBuffer(&commands_, NVN_SHADER_STAGE_COMPUTE, 0, data_.address(readback_.back()),
                                          bytes);
        nvnCommandBufferDispatchCompute(&commands_, draw.width * draw.samples, draw.height, 1);
    }

    // Where the output's bytes will be once the work is done; records the copy out of a texture.
    void request(const Output& output) {
        using Kind = Output::Kind;
        const NVNtexture* texture = nullptr;
        NVNcopyRegion region{};
        switch (output.kind) {
        case Kind::Ssbo:
            readback_.push_back(by_slot_.at({output.stage, output.slot}));
            return;
        case Kind::Image:
        case Kind::ImageBuffer: {
            const auto resource = std::find_if(test_.inputs.begin(), test_.inputs.end(), [&](const Resource& r) {
                return r.stage == output.stage && r.slot == output.slot &&
                       r.kind == (output.kind == Kind::Image ? Resource::Kind::Image : Resource::Kind::ImageBuffer);
            });
            require(resource != test_.inputs.end(), "an output names no image");
            texture = by_resource_.at(&*resource);
            if (output.kind == Kind::ImageBuffer) {
                readback_.push_back(nvnTextureGetMemoryOffset(texture));
                return;
            }
            region = whole_level(resource->target, resource->size, resource->layers, 0);
            break;
        }
        case Kind::Color:
            texture = targets_.at(output.location);
            if (test_.draw->samples > 1) {
                require(output.element.bytes() == 16, "samples are read as four words");
                return read_samples(*texture, output.reference.size());
            }
            break;
        case Kind::Depth:
            texture = depth_;
            break;
        }
        if (region.width == 0)
            region = {0, 0, 0, test_.draw->width, test_.draw->height, test_.draw->layers};
        readback_.push_back(data_.take(output.reference.size(), 256));
        nvnCommandBufferCopyTextureToBuffer(&commands_, texture, nullptr, &region, data_.address(readback_.back()),
                                            NVN_COPY_FLAGS_NONE);
    }

    void submit_and_wait() {
        const NVNcommandHandle handle = nvnCommandBufferEndRecording(&commands_);
        nvnQueueSubmitCommands(&machine_.queue, 1, &handle);
        NVNsync sync;
        require(nvnSyncInitialize(&sync, &machine_.device), "nvnSyncInitialize failed");
        nvnQueueFenceSync(&machine_.queue, &sync, NVN_SYNC_CONDITION_ALL_GPU_COMMANDS_COMPLETE, 0);
        nvnQueueFlush(&machine_.queue);
        constexpr std::uint64_t ten_seconds = 10'000'000'000;
        const NVNsyncWaitResult result = nvnSyncWait(&sync, ten_seconds);
        nvnSyncFinalize(&sync);
        require(result == NVN_SYNC_WAIT_RESULT_ALREADY_SIGNALED || result == NVN_SYNC_WAIT_RESULT_CONDITION_SATISFIED,
                "the fence was not reached");
    }

    Machine& machine_;
    const Case& test_;
    Arena data_{machine_.device, 16u << 20, NVN_MEMORY_POOL_FLAGS_CPU_UNCACHED | NVN_MEMORY_POOL_FLAGS_GPU_CACHED};
    Arena code_{machine_.device, 1u << 20,
                NVN_MEMORY_POOL_FLAGS_CPU_UNCACHED | NVN_MEMORY_POOL_FLAGS_GPU_CACHED |
                    NVN_MEMORY_POOL_FLAGS_SHADER_CODE};
    NVNtexturePool texture_pool_;
    NVNsamplerPool sampler_pool_;
    std::deque<NVNprogram> programs_; // references stay valid
    std::deque<Blob> controls_;
    NVNcommandBuffer commands_;
    std::vector<std::uint64_t> control_;
    std::deque<NVNtexture> textures_; // references stay valid
    std::deque<NVNsampler> samplers_;
    std::map<const Resource*, const NVNtexture*> by_resource_;
    std::map<std::pair<NVNshaderStage, int>, std::ptrdiff_t> by_slot_; // storage buffers
    std::map<int, const NVNtexture*> targets_;
    const NVNtexture* depth_ = nullptr;
    std::vector<std::ptrdiff_t> readback_;
    int next_texture_id_ = first_id;
    bool pools_alive_ = false, recorder_alive_ = false;
};

} // namespace

std::vector<Blob> run_case(Machine& machine, const Case& test) {
    return Runner(machine, test).run();
}

} // namespace corpus
