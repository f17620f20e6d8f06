#include "tests/generate/run.h"

#include "interpreter/stage.h"

#include <fmt/format.h>

#include <array>
#include <cstring>
#include <random>
#include <utility>

namespace heaviside::generate {
namespace {

using interpreter::Attributes;

constexpr u32 words_per_pixel = 4 * layout::target_count;

interpreter::Texture texture(interpreter::TextureDimension dimension, u32 depth, u32 layers, u64 seed) {
    interpreter::Texture result;
    result.dimension = dimension;
    result.format = *interpreter::texel_format("RGBA32F");
    result.width = 8;
    result.height = 4;
    result.depth = depth;
    result.layers = layers;
    result.levels = 2;
    std::mt19937_64 random(seed);
    std::vector<f32> numbers(result.byte_size() / 4);
    for (f32& number : numbers)
        number = static_cast<f32>(static_cast<i32>(random() >> 44) - 0x80000) / 1024;
    result.texels.resize(result.byte_size());
    std::memcpy(result.texels.data(), numbers.data(), result.texels.size());
    return result;
}

std::vector<u32> words(Bytes bytes) {
    std::vector<u32> result(bytes.size() / 4);
    if (!result.empty())
        std::memcpy(result.data(), bytes.data(), 4 * result.size());
    return result;
}

// BRX adds the address of the next instruction to what the table holds: such tables have it in their last word.
std::vector<u32> jump_tables(Bytes data) {
    constexpr u32 end = layout::table_bytes / 4 - 1;
    std::vector<u32> tables = words(data);
    for (std::size_t first = 0; first + end < tables.size(); first += end + 1) {
        const u32 from = std::exchange(tables[first + end], ~0u);
        for (u32 i = 0; from != ~0u && i < end; ++i)
            tables[first + i] -= from;
    }
    return tables;
}

// The stages of a draw on the interpreter, one after the other.
class Draw {
public:
    Draw(const Run& run, Images& images, Outcome& outcome) : run_(run), outcome_(outcome) {
        units_.textures = images.textures;
        units_.samplers = images.samplers;
    }

    Result<void> run() {
        std::vector<Attributes> lanes(layout::vertices);
        for (u32 n = 0; n < lanes.size(); ++n)
            for (u32 k = 0; k < words_per_pixel; ++k)
                lanes[n].set(0x80 + 4 * k, run_.vertices[n * words_per_pixel + k]);
        std::vector<interpreter::Patch> patches;
        const maxwell::ShaderProgramHeader* before = nullptr;
        for (const Part& part : run_.parts) {
            const maxwell::ShaderProgramHeader& header = part.program.header;
            if (before)
                for (Attributes& lane : lanes)
                    lane = link(*before, lane, header);
            before = &header;
            auto done = stage(part, lanes, patches);
            if (!done)
                return fail("{} program: {}", program::name(part.stage), done.error().message);
        }
        return {};
    }

private:
    Result<void> stage(const Part& part, std::vector<Attributes>& lanes, std::vector<interpreter::Patch>& patches) {
        std::vector<u32>& memory = outcome_.memory[part.stage];
        const interpreter::MemoryRange range{output_address(part.stage), std::as_writable_bytes(std::span(memory))};
        interpreter::StageProgram program;
        program.header = part.program.header;
        program.launch.code = part.program.code;
        program.launch.banks[0] = std::as_bytes(std::span(part.bank));
        program.launch.banks[layout::constant_bank] = std::as_bytes(std::span(part.constants));
        program.launch.local_bytes = layout::local_bytes;
        program.launch.global = {&range, 1};
        program.launch.textures = &units_;
        program.launch.step_limit = 1 << 20;
        switch (part.stage) {
        case Stage::Vertex:
            return into(lanes, run_vertices(program, lanes));
        case Stage::TessControl:
            for (u32 first = 0; first < lanes.size(); first += layout::patch_points) {
                auto patch = run_tess_control(program, std::span(lanes).subspan(first, layout::patch_points));
                if (!patch)
                    return tl::unexpected(patch.error());
                std::ranges::copy(patch->points, lanes.begin() + first);
                patches.push_back(std::move(*patch));
            }
            return {};
        case Stage::TessEval: {
            static constexpr std::array<interpreter::TessPoint, 4> corners{{{0, 0}, {1, 0}, {0, 1}, {1, 1}}};
            std::vector<Attributes> all;
            for (u32 n = 0; n < patches.size(); ++n) {
                std::copy_n(lanes.begin() + n * layout::patch_points, layout::patch_points, patches[n].points.begin());
                auto points = run_tess_eval(program, patches[n], corners);
                if (!points)
                    return tl::unexpected(points.error());
                all.insert(all.end(), points->begin(), points->end());
            }
            lanes = std::move(all);
            return {};
        }
        case Stage::Geometry: {
            auto emitted = run_geometry(program, lanes, 1);
            if (!emitted)
                return tl::unexpected(emitted.error());
            lanes.clear();
            for (const auto& invocation : *emitted)
                for (const auto& vertex : invocation)
                    lanes.push_back(vertex.attributes);
            return {};
        }
        default:
            return pixels(program, lanes);
        }
    }

    static Result<void> into(std::vector<Attributes>& lanes, Result<std::vector<Attributes>> result) {
        if (!result)
            return tl::unexpected(result.error());
        lanes = std::move(*result);
        return {};
    }

    Result<void> pixels(const interpreter::StageProgram& program, const std::vector<Attributes>& points) {
        outcome_.targets.assign(layout::target_size * layout::target_size * words_per_pixel, clear);
        for (const Attributes& point : points) {
            interpreter::PixelInputs inputs;
            for (u32 k = 0; k < point.words.size(); ++k)
                inputs.planes[k].constant = point.words[k];
            const u32 index = point.at(0xc0) % (layout::target_size * layout::target_size);
            const u32 x = index % layout::target_size, y = index / layout::target_size;
            interpreter::Quad quad;
            quad.inputs = &inputs;
            for (u32 n = 0; n < 4; ++n) {
                interpreter::Pixel& pixel = quad.pixels[n];
                pixel.x = (x & ~1u) + n % 2;
                pixel.y = (y & ~1u) + n / 2;
                pixel.coverage = pixel.x == x && pixel.y == y;
            }
            auto result = run_pixels(program, {&quad, 1});
            if (!result)
                return tl::unexpected(result.error());
            const interpreter::PixelResult& pixel = (*result)[y % 2 * 2 + x % 2];
            if (!pixel.killed)
                for (u32 k = 0; k < words_per_pixel; ++k)
                    outcome_.targets[index * words_per_pixel + k] = pixel.targets[k / 4][k % 4];
        }
        return {};
    }

    const Run& run_;
    Outcome& outcome_;
    interpreter::TextureUnits units_;
};

Result<void> run_kernel(const Run& run, Images& images, Outcome& outcome) {
    const Part& part = run.parts.front();
    std::vector<u32> input = run.input;
    const std::array<interpreter::MemoryRange, 2> memory{
        interpreter::MemoryRange{input_base, std::as_writable_bytes(std::span(input))},
        interpreter::MemoryRange{output_address(part.stage),
                                 std::as_writable_bytes(std::span(outcome.memory[part.stage]))}};
    interpreter::TextureUnits units;
    units.textures = images.textures;
    units.samplers = images.samplers;
    interpreter::Launch launch;
    launch.code = part.program.code;
    launch.banks[0] = std::as_bytes(std::span(part.bank));
    launch.banks[layout::constant_bank] = std::as_bytes(std::span(part.constants));
    launch.grid = {groups, 1, 1};
    launch.block = {layout::block, 1, 1};
    launch.shared_bytes = layout::block * layout::shared_bytes_per_thread;
    launch.local_bytes = layout::local_bytes;
    launch.global = memory;
    launch.textures = &units;
    launch.step_limit = 1 << 20;
    return interpreter::run(launch);
}

std::string differing(const char* what, const std::vector<u32>& got, const std::vector<u32>& expected, u32 per) {
    if (got.size() != expected.size())
        return fmt::format("{}: {} words on the device, {} by the interpreter", what, got.size(), expected.size());
    for (std::size_t i = 0; i < got.size(); ++i)
        if (got[i] != expected[i])
            return fmt::format("{} {}, word {}: {:08x} on the device, {:08x} by the interpreter", what, i / per,
                               i % per, got[i], expected[i]);
    return {};
}

} // namespace

Images make_images() {
    using enum interpreter::TextureDimension;
    Images images;
    images.textures.resize(layout::first_image + program::stage_count);
    images.textures[layout::texture_2d] = texture(D2, 1, 1, 1);
    images.textures[layout::texture_3d] = texture(D3, 4, 1, 2);
    images.textures[layout::texture_array] = texture(D2Array, 1, 4, 3);
    for (u32 stage = 0; stage < program::stage_count; ++stage) {
        interpreter::Texture& image = images.textures[layout::first_image + stage];
        image.format = *interpreter::texel_format("R32UI");
        image.width = layout::image_width;
        image.height = layout::image_height;
        const std::vector<u32> texels = values(100 + stage, layout::image_width * layout::image_height);
        image.texels.resize(4 * texels.size());
        std::memcpy(image.texels.data(), texels.data(), image.texels.size());
    }
    images.samplers.resize(layout::samplers);
    for (u32 i = 0; i < layout::samplers; ++i) {
        using enum interpreter::Wrap;
        static constexpr interpreter::Wrap wraps[] = {Repeat, ClampToEdge, Mirror};
        images.samplers[i].wrap.fill(wraps[i]);
        images.samplers[i].mip = interpreter::MipFilter::Nearest;
    }
    return images;
}

Result<Run> prepare(const std::vector<Program>& programs) {
    Run run;
    for (const Program& program : programs) {
        Part part;
        part.stage = program.stage;
        auto assembled = maxwell::assemble(source(program));
        if (!assembled)
            return fail("{} program: {}", program::name(program.stage), assembled.error().message);
        part.program = std::move(*assembled);
        part.bank.resize(0x150 / 4);
        const std::array<u64, 2> addresses{input_base, output_address(program.stage)};
        std::memcpy(part.bank.data() + layout::input_address / 4, addresses.data(), sizeof addresses);
        part.constants = values(program.seed + 1, layout::constant_bytes / 4);
        const std::vector<u32> tables = jump_tables(part.program.data);
        part.constants.insert(part.constants.end(), tables.begin(), tables.end());
        part.memory.assign(threads * layout::output_bytes / 4, 0xa5a5a5a5);
        run.parts.push_back(std::move(part));
    }
    const u64 seed = programs.front().seed;
    run.input = values(seed + 2, threads * layout::input_bytes / 4);
    run.vertices = values(seed + 2, std::size_t{layout::vertices} * words_per_pixel);
    for (u32 n = 0; n < layout::vertices; ++n) {
        u32* const last = &run.vertices[(n + 1) * words_per_pixel - 4];
        last[0] = n;
        last[1] &= 0x3f;
        last[2] &= 0xf;
    }
    return run;
}

Result<Outcome> interpret(const Run& run) {
    Images images = make_images();
    Outcome outcome;
    for (const Part& part : run.parts)
        outcome.memory[part.stage] = part.memory;
    const auto done =
        run.parts.front().stage == Stage::Compute ? run_kernel(run, images, outcome) : Draw(run, images, outcome).run();
    if (!done)
        return tl::unexpected(done.error());
    for (const Part& part : run.parts)
        outcome.images[part.stage] = words(images.textures[layout::first_image + static_cast<u32>(part.stage)].texels);
    return outcome;
}

std::string difference(const Outcome& got, const Outcome& expected) {
    std::string found;
    for (const auto& [stage, memory] : expected.memory) {
        const std::string thread = fmt::format("{} thread", program::name(stage));
        const std::string texel = fmt::format("{} image texel", program::name(stage));
        if (found.empty())
            found = differing(thread.c_str(), got.memory.at(stage), memory, layout::output_bytes / 4);
        if (found.empty())
            found = differing(texel.c_str(), got.images.at(stage), expected.images.at(stage), 1);
    }
    if (found.empty())
        found = differing("pixel", got.targets, expected.targets, words_per_pixel);
    return found;
}

} // namespace heaviside::generate
