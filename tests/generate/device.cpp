#include "tests/generate/device.h"

#include "gpu/layout.h"

#include <fmt/format.h>

namespace heaviside::generate {
namespace {

using gpu::layout_of;

constexpr u32 image_bytes = 4 * layout::image_width * layout::image_height;
constexpr u32 target_bytes = 16 * layout::target_size * layout::target_size;
constexpr u64 patience = 60'000'000'000; // the first use compiles

shader::Options translation_options(const gpu::Device& device) {
    shader::Options options;
    options.subgroup_size = device.capabilities.subgroup_size;
    options.validate = true;
    options.denormal_modes = device.capabilities.denormal_modes;
    options.unfused_multiply_add = options.drops_added_zeros = options.mixes_left_loops =
        device.capabilities.cpu_device;
    return options;
}

program::Program program_of(const Part& part, std::array<std::byte, maxwell::sph_size>& header) {
    program::Program program;
    program.stage = part.stage;
    program.code = part.program.code;
    program.constants = std::as_bytes(std::span(part.constants));
    program.constants_bank = layout::constant_bank;
    program.local_bytes = layout::local_bytes;
    program.layout = &program::kernel_layout; // and so exact arithmetic
    if (part.stage == Stage::Compute) {
        program.workgroup_size = {layout::block, 1, 1};
        program.shared_bytes = layout::block * layout::shared_bytes_per_thread;
    } else {
        header = maxwell::encode_sph(part.program.header);
        program.header = header;
        program.sph = part.program.header;
    }
    return program;
}

shader::VariantKey variant() {
    shader::VariantKey key;
    key.vertex_inputs.fill(shader::NumericClass::Uint);
    key.fragment_outputs.fill(shader::NumericClass::Uint);
    key.points = true;
    key.geometry_input_vertices = 1;
    key.tess_domain = shader::VariantKey::TessDomain::Quads;
    key.tess_points = true;
    return key;
}

test::Blob blob(const std::vector<u32>& words) {
    const auto bytes = std::as_bytes(std::span(words));
    return {bytes.begin(), bytes.end()};
}

std::vector<u32> words(const test::Blob& bytes) {
    std::vector<u32> result(bytes.size() / 4);
    if (!result.empty())
        std::memcpy(result.data(), bytes.data(), 4 * result.size());
    return result;
}

bool uses_images(const Run& run) {
    for (const Part& part : run.parts)
        for (u32 address = 8; address + 8 <= part.program.code.size(); address += address % 32 == 24 ? 16 : 8)
            if (const auto inst = maxwell::decode(*read_at<u64>(part.program.code, address), address))
                if (maxwell::mnemonic(inst->opcode()).starts_with("SU"))
                    return true;
    return false;
}

} // namespace

DeviceRunner::DeviceRunner() {
    if (!device)
        return;
    if (auto done = make_textures(); !done)
        error = done.error().message;
    else if (auto sent = upload(); !sent)
        error = sent.error().message;
    if (!error.empty())
        device.reset();
}

Result<void> DeviceRunner::make_texture(u32 id, const interpreter::Texture& texture) {
    using interpreter::TextureDimension;
    if (texture.width == 0) {
        textures_.emplace_back();
        return {};
    }
    const bool storage = id >= layout::first_image;
    const bool volume = texture.dimension == TextureDimension::D3,
               array = texture.dimension == TextureDimension::D2Array;
    gpu::ImageDescription description;
    description.type = volume ? VK_IMAGE_TYPE_3D : VK_IMAGE_TYPE_2D;
    description.format = storage ? VK_FORMAT_R32_UINT : VK_FORMAT_R32G32B32A32_SFLOAT;
    description.extent = {texture.width, texture.height, texture.depth};
    description.levels = texture.levels;
    description.layers = texture.layers;
    description.usage = VK_IMAGE_USAGE_TRANSFER_DST_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT |
                        (storage ? VK_IMAGE_USAGE_STORAGE_BIT : VK_IMAGE_USAGE_SAMPLED_BIT);
    auto image = gpu::create_image(*device, description);
    if (!image)
        return tl::unexpected(image.error());
    gpu::ViewDescription view;
    view.type = volume ? VK_IMAGE_VIEW_TYPE_3D : array ? VK_IMAGE_VIEW_TYPE_2D_ARRAY : VK_IMAGE_VIEW_TYPE_2D;
    view.levels = texture.levels;
    view.layers = texture.layers;
    auto made = gpu::create_view(*device, *image, view);
    if (!made)
        return tl::unexpected(made.error());
    textures_.push_back(std::move(*image));
    views_.push_back(std::move(*made));
    const shader::Dimension dimension = volume  ? shader::Dimension::D3
                                        : array ? shader::Dimension::D2Array
                                                : shader::Dimension::D2;
    return storage ? heap_->write_raw_storage_image(TextureId{id}, dimension, views_.back().get())
                   : heap_->write_texture(TextureId{id}, dimension, views_.back().get());
}

Result<void> DeviceRunner::make_textures() {
    images_ = make_images();
    for (u32 id = 0; id < images_.textures.size(); ++id)
        if (auto made = make_texture(id, images_.textures[id]); !made)
            return made;
    for (u32 id = 0; id < layout::samplers; ++id) {
        static constexpr VkSamplerAddressMode wraps[] = {VK_SAMPLER_ADDRESS_MODE_REPEAT,
                                                         VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_EDGE,
                                                         VK_SAMPLER_ADDRESS_MODE_MIRRORED_REPEAT};
        gpu::SamplerDescription description;
        description.wrap_u = description.wrap_v = description.wrap_w = wraps[id];
        if (auto done = heap_->write_sampler(SamplerId{id}, description); !done)
            return done;
    }
    for (u32 i = 0; i < layout::target_count; ++i) {
        gpu::ImageDescription description;
        description.format = VK_FORMAT_R32G32B32A32_UINT;
        description.extent = {layout::target_size, layout::target_size, 1};
        description.usage = VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT;
        auto image = gpu::create_image(*device, description);
        if (!image)
            return tl::unexpected(image.error());
        auto view = gpu::create_view(*device, *image, {});
        if (!view)
            return tl::unexpected(view.error());
        targets_[i] = std::move(*image);
        target_views_[i] = std::move(*view);
    }
    return {};
}

// Everything that stays as it is, once.
Result<void> DeviceRunner::upload() {
    u64 size = 0;
    for (const interpreter::Texture& texture : images_.textures)
        size += texture.texels.size();
    auto staging = gpu::create_buffer(*device, size, gpu::MemoryKind::Upload);
    auto start = gpu::create_buffer(*device, image_bytes * program::stage_count, gpu::MemoryKind::Upload);
    auto end = gpu::create_buffer(*device, image_bytes * program::stage_count, gpu::MemoryKind::Readback);
    auto pixels = gpu::create_buffer(*device, target_bytes * layout::target_count, gpu::MemoryKind::Readback);
    if (!staging || !start || !end || !pixels)
        return fail("no memory for the textures");
    gpu::Commands& c = **queue_->begin();
    for (const gpu::Image& image : textures_)
        if (image)
            c.initialise(image);
    for (const gpu::Image& image : targets_)
        c.initialise(image);
    c.prepare_transfer();
    u64 at = 0;
    for (u32 id = 0; id < layout::first_image; ++id) {
        const interpreter::Texture& texture = images_.textures[id];
        for (u32 level = 0; texture.width != 0 && level < texture.levels; ++level) {
            const auto extent = texture.size(level);
            const u64 bytes = u64{extent.width} * extent.height * extent.depth * texture.layers * texture.format.bytes;
            const auto first = texture.offset(0, 0, 0, 0, level, 0).value_or(0);
            std::memcpy(staging->whole().mapped + at, texture.texels.data() + first, bytes);
            VkBufferImageCopy copy{};
            copy.bufferOffset = at;
            copy.imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, level, 0, texture.layers};
            copy.imageExtent = {extent.width, extent.height, extent.depth};
            device->vk.vkCmdCopyBufferToImage(c.handle(), staging->whole().buffer, textures_[id].get(),
                                              layout_of(*device, gpu::ImageUse::CopyTarget), 1, &copy);
            at += bytes;
        }
    }
    for (u32 stage = 0; stage < program::stage_count; ++stage)
        std::memcpy(start->whole().mapped + image_bytes * stage,
                    images_.textures[layout::first_image + stage].texels.data(), image_bytes);
    gpu::flush(*device, *staging);
    gpu::flush(*device, *start);
    c.barrier();
    auto number = queue_->submit(c);
    if (!number)
        return tl::unexpected(number.error());
    if (auto done = queue_->wait(*number); !done)
        return tl::unexpected(done.error());
    image_start_ = std::move(*start);
    image_words_ = std::move(*end);
    pixels_ = std::move(*pixels);
    return {};
}

void DeviceRunner::copy_images(gpu::Commands& c, bool back) {
    c.barrier();
    c.prepare_transfer();
    for (u32 stage = 0; stage < program::stage_count; ++stage) {
        VkBufferImageCopy copy{};
        copy.bufferOffset = u64{image_bytes} * stage;
        copy.imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1};
        copy.imageExtent = {layout::image_width, layout::image_height, 1};
        const VkImage image = textures_[layout::first_image + stage].get();
        if (back)
            device->vk.vkCmdCopyImageToBuffer(c.handle(), image, layout_of(*device, gpu::ImageUse::CopySource),
                                              image_words_.whole().buffer, 1, &copy);
        else
            device->vk.vkCmdCopyBufferToImage(c.handle(), image_start_.whole().buffer, image,
                                              layout_of(*device, gpu::ImageUse::CopyTarget), 1, &copy);
    }
    c.barrier();
    if (back)
        c.barrier({VK_PIPELINE_STAGE_2_COPY_BIT, VK_ACCESS_2_TRANSFER_WRITE_BIT, VK_PIPELINE_STAGE_2_HOST_BIT,
                   VK_ACCESS_2_HOST_READ_BIT});
}

void DeviceRunner::read_images(const Run& run, Outcome& outcome) {
    const bool used = uses_images(run);
    gpu::invalidate(*device, image_words_);
    for (const Part& part : run.parts) {
        const u32 stage = static_cast<u32>(part.stage);
        std::vector<u32>& image = outcome.images[part.stage];
        image.resize(image_bytes / 4);
        std::memcpy(image.data(),
                    used ? image_words_.whole().mapped + image_bytes * stage
                         : images_.textures[layout::first_image + stage].texels.data(),
                    image_bytes);
    }
}

Result<Outcome> DeviceRunner::run(const Run& run) {
    auto outcome = run.parts.front().stage == Stage::Compute ? dispatch(run) : draw(run);
    if (outcome)
        read_images(run, *outcome);
    return outcome;
}

Result<Outcome> DeviceRunner::dispatch(const Run& run) {
    const Part& part = run.parts.front();
    std::array<std::byte, maxwell::sph_size> header{};
    const program::Program program = program_of(part, header);
    test::Blob input = blob(run.input), output = blob(part.memory);
    const std::map<u32, test::Blob> banks{{0, blob(part.bank)}, {layout::constant_bank, blob(part.constants)}};
    std::function<void(gpu::Commands&)> before, after;
    if (uses_images(run)) {
        before = [this](gpu::Commands& c) { copy_images(c, false); };
        after = [this](gpu::Commands& c) { copy_images(c, true); };
    }
    const std::string wrong = Bench::run(program, banks, {{input_base, &input}, {output_address(part.stage), &output}},
                                         {groups, 1, 1}, before, after);
    if (!wrong.empty())
        return fail("{}", wrong);
    Outcome outcome;
    outcome.memory[part.stage] = words(output);
    return outcome;
}

Result<Outcome> DeviceRunner::draw(const Run& run) {
    const bool images = uses_images(run);
    std::vector<shader::Translation> translations;
    std::vector<gpu::Shader*> made;
    for (const Part& part : run.parts) {
        std::array<std::byte, maxwell::sph_size> header{};
        auto translation = shader::translate(program_of(part, header), variant(), translation_options(*device));
        if (!translation)
            return fail("{}: {}", program::name(part.stage), translation.error().message);
        made.push_back(shaders_->request(part.stage, translation->spirv, program::name(part.stage)));
        if (auto done = shaders_->wait(*made.back()); !done)
            return tl::unexpected(done.error());
        translations.push_back(std::move(*translation));
    }

    // The stages' memory, by guest address.
    std::map<Stage, gpu::Buffer> memory;
    for (const Part& part : run.parts) {
        gpu::Buffer buffer =
            std::move(*gpu::create_buffer(*device, 4 * part.memory.size() + 16, gpu::MemoryKind::Readback));
        std::memcpy(buffer.whole().mapped, part.memory.data(), 4 * part.memory.size());
        gpu::flush(*device, buffer);
        memory.emplace(part.stage, std::move(buffer));
    }
    test::Blob map(sizeof(shader::MemoryMap));
    test::put<u32>(map, 0, static_cast<u32>(memory.size()));
    for (const auto& [stage, buffer] : memory) {
        test::put<u64>(map, map.size(), output_address(stage));
        test::put<u64>(map, map.size(), buffer.whole().size - 16);
        test::put<u64>(map, map.size(), buffer.whole().address);
    }
    gpu::Buffer map_buffer = std::move(*gpu::create_buffer(*device, map.size(), gpu::MemoryKind::Upload));
    std::memcpy(map_buffer.whole().mapped, map.data(), map.size());
    gpu::flush(*device, map_buffer);
    heap_->set_memory_map(map_buffer.whole());

    gpu::Commands& c = **queue_->begin();
    if (images)
        copy_images(c, false);
    test::Blob table(program::stage_count * shader::banks::count * sizeof(shader::BankAddress));
    for (std::size_t i = 0; i < run.parts.size(); ++i) {
        const Part& part = run.parts[i];
        c.set_shader(part.stage, made[i]);
        for (const shader::BankUse& use : translations[i].reflection.banks) {
            const std::vector<u32>& bank = use.bank == 0 ? part.bank : part.constants;
            if (use.bank != 0 && use.bank != layout::constant_bank)
                continue;
            const gpu::BufferSlice slice = *queue_->arena().push(std::as_bytes(std::span(bank)));
            if (use.binding != ~0u)
                c.set_bank(use.binding, slice);
            const u64 row =
                (static_cast<u64>(part.stage) * shader::banks::count + use.bank) * sizeof(shader::BankAddress);
            test::put<u64>(table, row, slice.address);
            test::put<u32>(table, row + 8, static_cast<u32>(slice.size));
        }
    }
    shader::RootConstants root{};
    root.bank_table = queue_->arena().push(table)->address;
    root.y_direction = root.point_size = 1;
    c.set_root(root);

    gpu::DrawState state;
    state.vertex_input.attribute_count = layout::target_count;
    for (u32 i = 0; i < layout::target_count; ++i)
        state.vertex_input.attributes[i] = {i, 0, VK_FORMAT_R32G32B32A32_UINT, 16 * i};
    state.vertex_input.stream_count = 1;
    state.vertex_input.streams[0] = {16 * layout::target_count, 0};
    state.assembly.topology =
        memory.contains(Stage::TessEval) ? VK_PRIMITIVE_TOPOLOGY_PATCH_LIST : VK_PRIMITIVE_TOPOLOGY_POINT_LIST;
    state.assembly.patch_vertices = layout::patch_points;
    state.viewports.viewports[0] = {0, 0, layout::target_size, layout::target_size, 0, 1};
    state.scissors.scissors[0] = {{0, 0}, {layout::target_size, layout::target_size}};
    gpu::Pass pass;
    pass.area = {{0, 0}, {layout::target_size, layout::target_size}};
    pass.color_count = layout::target_count;
    for (u32 i = 0; i < layout::target_count; ++i) {
        pass.colors[i].view = target_views_[i].get();
        pass.colors[i].format = VK_FORMAT_R32G32B32A32_UINT;
        pass.colors[i].load = VK_ATTACHMENT_LOAD_OP_CLEAR;
        for (u32& component : pass.colors[i].clear.color.uint32)
            component = clear;
    }
    c.set(state);
    c.set_vertex_stream(0, *queue_->arena().push(std::as_bytes(std::span(run.vertices)), 16));
    c.begin_pass(pass);
    if (!c.prepare_draw())
        return fail("the draw could not be prepared");
    device->vk.vkCmdDraw(c.handle(), layout::vertices, 1, 0, 0);
    c.end_pass();
    c.barrier();
    c.prepare_transfer();
    for (u32 i = 0; i < layout::target_count; ++i) {
        VkBufferImageCopy copy{};
        copy.bufferOffset = u64{target_bytes} * i;
        copy.imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1};
        copy.imageExtent = {layout::target_size, layout::target_size, 1};
        device->vk.vkCmdCopyImageToBuffer(c.handle(), targets_[i].get(), layout_of(*device, gpu::ImageUse::CopySource),
                                          pixels_.whole().buffer, 1, &copy);
    }
    if (images)
        copy_images(c, true);
    c.barrier({VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT, VK_ACCESS_2_MEMORY_WRITE_BIT, VK_PIPELINE_STAGE_2_HOST_BIT,
               VK_ACCESS_2_HOST_READ_BIT});
    const auto number = queue_->submit(c);
    if (!number)
        return tl::unexpected(number.error());
    const auto done = queue_->wait(*number, patience);
    if (!done || !*done)
        return done ? fail("the draw did not end") : tl::unexpected(done.error());

    Outcome outcome;
    for (const Part& part : run.parts) {
        const gpu::Buffer& buffer = memory.at(part.stage);
        gpu::invalidate(*device, buffer);
        std::vector<u32>& into = outcome.memory[part.stage];
        into.resize(part.memory.size());
        std::memcpy(into.data(), buffer.whole().mapped, 4 * into.size());
    }
    gpu::invalidate(*device, pixels_);
    outcome.targets.resize(target_bytes / 4 * layout::target_count);
    for (u32 pixel = 0; pixel < layout::target_size * layout::target_size; ++pixel)
        for (u32 i = 0; i < layout::target_count; ++i)
            std::memcpy(&outcome.targets[(pixel * layout::target_count + i) * 4],
                        pixels_.whole().mapped + u64{target_bytes} * i + 16 * pixel, 16);
    return outcome;
}

} // namespace heaviside::generate
