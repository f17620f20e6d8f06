// Whole draws and dispatches of the GLSL corpus on the interpreter, against what the same GLSL gave natively.
#include "interpreter/image.h"
#include "program/program.h"
#include "rasteriser.h"
#include "tessellator.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <deque>
#include <filesystem>
#include <fstream>
#include <map>

using namespace heaviside;
using namespace heaviside::interpreter;

namespace {

namespace attribute = maxwell::attribute;
using nlohmann::json;
using program::Stage;

const std::filesystem::path corpus = HEAVISIDE_SOURCE_DIR "/../shared/corpus/glsl/dev";

// What this test does not do, and why.
const std::map<std::string, const char*> left_out = {
    {"ts_point_mode", "a fault of the corpus's compiler: each invocation writes all levels, most of them from before"},
    {"vs_array_outputs", "a fault of the corpus's compiler: it loads local memory before the store it depends on"},
};

// State of a draw that no file of the case says: it stands in the GLSL.
struct Tessellated {
    TessDomain domain;
    TessSpacing spacing;
};
const std::map<std::string, Tessellated> tessellated = {
    {"ts_isolines", {TessDomain::Isolines, TessSpacing::Equal}},
    {"ts_triangles_equal", {TessDomain::Triangles, TessSpacing::Equal}},
    {"ts_quads_fractional", {TessDomain::Quads, TessSpacing::FractionalEven}},
};
// Distances from this one on cull.
const std::map<std::string, u32> first_culling_distance = {{"vs_cull_clip", 2}};

// What a case may miss besides its tolerance.
struct Excuse {
    f64 outliers, absolute;
    const char* reason;
};
const std::map<std::string, Excuse> excused = {
    {"fs_tex_gather",
     {0.04, 0.004,
      "one row lies 1/1250 of a texel below a boundary: the machine rounds to 1/256, the reference does not"}},
    {"fs_tex_gather_offsets_dev", {0.04, 0.0001, "the same row"}},
    {"ts_quads_fractional",
     {0.02, 0.02, "a value that is not linear over the patch depends on the tessellator's choice of triangles"}},
};

// Cases that must end in an error.
const std::map<std::string, const char*> errors = {
    // The load of v[k] was moved above the test of k >= 0; nothing uses what it gives for - 1.
    {"cs_local_sort", "local memory at 0xfffffff0"},
};

std::vector<std::byte> read_file(const std::filesystem::path& path) {
    std::ifstream in(path, std::ios::binary);
    const std::vector<char> bytes{std::istreambuf_iterator<char>(in), {}};
    const auto view = std::as_bytes(std::span(bytes));
    return {view.begin(), view.end()};
}

constexpr u64 memory_base = 0x100000000, memory_step = 0x1000000;
constexpr std::size_t driver_bank_size = 0x1000;

void put(std::vector<std::byte>& bytes, std::size_t at, const auto& value) {
    if (bytes.size() < at + sizeof(value))
        bytes.resize(at + sizeof(value));
    std::memcpy(bytes.data() + at, &value, sizeof(value));
}

struct StageData {
    std::vector<std::byte> control, gpu;
    program::Program program;
    std::array<std::vector<std::byte>, bank_count> banks;
};

constexpr std::pair<const char*, Stage> stage_names[] = {{"vert", Stage::Vertex},   {"frag", Stage::Fragment},
                                                         {"geom", Stage::Geometry}, {"tesc", Stage::TessControl},
                                                         {"tese", Stage::TessEval}, {"comp", Stage::Compute}};

class Case {
public:
    explicit Case(const std::string& name)
        : directory_(corpus / name), description_(json::parse(std::ifstream(directory_ / "case.json"))) {
        textures_.emplace_back(); // ID 0 and sampler 0 name nothing
        samplers_.emplace_back();
        load_stages();
        load_inputs();
        for (auto& [stage, data] : stages_)
            bind_constants(data);
    }

    // An error of the interpreter.
    [[nodiscard]] std::string try_dispatch() {
        prepare();
        const auto done = dispatch();
        return done ? "" : done.error().message;
    }

    void run() {
        prepare();
        if (description_["kind"] == "compute") {
            const auto done = dispatch();
            ASSERT_TRUE(done) << done.error().message;
        } else {
            draw();
        }
        if (::testing::Test::HasFatalFailure())
            return;
        for (const json& output : description_["outputs"])
            compare(output);
    }

private:
    void prepare() {
        units_ = {0, textures_, samplers_};
        for (std::size_t n = 0; n < buffers_.size(); ++n)
            ranges_.push_back({memory_base + n * memory_step, buffers_[n]});
    }

    // Derivatives and offsets along y are multiplied by a word that is 0 in the file: the open driver writes the
    // direction of y there.
    static void bind_constants(StageData& data) {
        const Bytes constants = data.program.constants;
        auto& bank = data.banks[data.program.constants_bank];
        bank.assign(constants.begin(), constants.end());
        if (!bank.empty() && std::all_of(bank.begin(), bank.end(), [](std::byte b) { return b == std::byte{0}; }))
            put(bank, 0, 1.0f);
    }

    void load_stages() {
        for (const auto& [name, stage] : stage_names) {
            if (!description_["stages"].contains(name))
                continue;
            const json& files = description_["stages"][name];
            StageData& data = stages_[stage];
            data.control = read_file(directory_ / files["control"].get<std::string>());
            data.gpu = read_file(directory_ / files["gpu"].get<std::string>());
            const auto parsed = program::parse(data.control, data.gpu);
            ASSERT_TRUE(parsed) << parsed.error().message;
            data.program = *parsed;
            data.banks[0].resize(driver_bank_size);
            if (stage == Stage::Fragment)
                put_sample_positions(data.banks[0]);
        }
    }

    // The table of the open driver: where sample s of a pixel lies, in 1/16 in the top bits of each half and as a
    // distance from the centre in 1/4096 below.
    void put_sample_positions(std::vector<std::byte>& bank) const {
        for (u32 s = 0; s < grid_.samples; ++s)
            for (u32 pixel = 0; pixel < 8; ++pixel) {
                u32 entry = 0;
                for (u32 axis = 0; axis < 2; ++axis) {
                    const f32 at = grid_.positions[s][axis];
                    entry |= (static_cast<u32>(at * 16) << 12 |
                              (static_cast<u32>(static_cast<i32>((at - 0.5f) * 4096)) & 0xfff))
                             << 16 * axis;
                }
                put(bank, 0x830 + 4 * (s + 8 * pixel), entry);
            }
    }

    u64 add_buffer(std::vector<std::byte> bytes) {
        buffers_.push_back(std::move(bytes));
        return memory_base + (buffers_.size() - 1) * memory_step;
    }

    static TextureDimension dimension_of(const std::string& name) {
        static const std::map<std::string, TextureDimension> names = {{"1d", TextureDimension::D1},
                                                                      {"1d_array", TextureDimension::D1Array},
                                                                      {"2d", TextureDimension::D2},
                                                                      {"2d_array", TextureDimension::D2Array},
                                                                      {"2d_ms", TextureDimension::D2Multisample},
                                                                      {"3d", TextureDimension::D3},
                                                                      {"cube", TextureDimension::Cube},
                                                                      {"cube_array", TextureDimension::CubeArray}};
        return names.at(name);
    }

    u32 add_texture(const json& input) {
        Texture t;
        t.format = *texel_format(input["format"].get<std::string>());
        t.texels = read_file(directory_ / input["file"].get<std::string>());
        if (input["kind"] == "texel_buffer" || input["kind"] == "image_buffer") {
            t.dimension = TextureDimension::Buffer;
            t.width = static_cast<u32>(t.texels.size() / t.format.bytes);
        } else {
            t.dimension = dimension_of(input["dim"].get<std::string>());
            t.width = input["size"][0];
            t.height = input["size"][1];
            t.depth = input["size"][2];
            t.layers = input.value("layers", 1u);
            t.levels = input.value("levels", 1u);
            t.samples = input.value("samples", 1u);
            if (t.format.width[1] == 0 && input["format"] == "D32F")
                t.swizzle = {Channel::R, Channel::R, Channel::R, Channel::One};
        }
        EXPECT_EQ(t.texels.size(), t.byte_size());
        textures_.push_back(std::move(t));
        u32 handle = static_cast<u32>(textures_.size() - 1);
        if (input.contains("sampler")) {
            samplers_.push_back(make_sampler(input["sampler"]));
            handle |= static_cast<u32>(samplers_.size() - 1) << 20;
        }
        return handle;
    }

    static Sampler make_sampler(const json& s) {
        Sampler sampler;
        sampler.magnify = sampler.minify = s["filter"] == "linear" ? Filter::Linear : Filter::Nearest;
        sampler.mip = s["mip"] == "linear" ? MipFilter::Linear : MipFilter::Nearest;
        const Wrap wrap = s["wrap"] == "repeat"  ? Wrap::Repeat
                          : s["wrap"] == "clamp" ? Wrap::ClampToEdge
                                                 : Wrap::Mirror;
        sampler.wrap = {wrap, wrap, wrap};
        const std::string compare = s.value("compare", "");
        sampler.depth_test = compare == "less"      ? DepthTest::Less
                             : compare == "lequal"  ? DepthTest::LessEqual
                             : compare == "greater" ? DepthTest::Greater
                                                    : DepthTest::GreaterEqual;
        return sampler;
    }

    void load_inputs() {
        for (const json& input : description_["inputs"]) {
            const auto* const found = std::find_if(std::begin(stage_names), std::end(stage_names),
                                                   [&](const auto& s) { return input["stage"] == s.first; });
            StageData& data = stages_.at(found->second);
            const program::DriverBankLayout& layout = *data.program.layout;
            const u32 slot = input["slot"].get<u32>() + input.value("element", 0u);
            const std::string kind = input["kind"];
            if (kind == "ubo") {
                bind_uniforms(data, slot, read_file(directory_ / input["file"].get<std::string>()));
            } else if (kind == "ssbo") {
                auto bytes = read_file(directory_ / input["file"].get<std::string>());
                const u32 size = static_cast<u32>(bytes.size());
                const u64 address = add_buffer(std::move(bytes));
                const u32 at = layout.storage_buffers[static_cast<std::size_t>(found->second)] + 16 * slot;
                put(data.banks[0], at, address);
                put(data.banks[0], at + 8, size);
                outputs_by_file_[output_key(input)] = {buffers_.size() - 1, false};
            } else {
                const u32 handle = add_texture(input);
                outputs_by_file_[output_key(input)] = {textures_.size() - 1, true};
                const bool image = kind == "image" || kind == "image_buffer";
                if (input.contains("bindless")) {
                    std::vector<std::byte>& words = handle_uniforms_[{found->second, input["bindless"]["ubo_slot"]}];
                    put(words, input["bindless"]["offset"].get<u32>(), u64{handle});
                } else {
                    put(data.banks[0],
                        image ? layout.image_handles + layout.image_stride * slot
                              : layout.texture_handles + layout.texture_stride * slot,
                        handle);
                }
            }
        }
        for (const auto& [where, words] : handle_uniforms_)
            bind_uniforms(stages_.at(where.first), where.second, words);
    }

    void bind_uniforms(StageData& data, u32 slot, std::vector<std::byte> bytes) {
        const program::DriverBankLayout& layout = *data.program.layout;
        if (data.program.stage == Stage::Compute && slot >= layout.compute_uniform_banks)
            put(data.banks[0],
                layout.compute_uniform_addresses +
                    layout.compute_uniform_stride * (slot - layout.compute_uniform_first),
                add_buffer(std::move(bytes)));
        else
            data.banks[layout.first_uniform_bank + slot] = std::move(bytes);
    }

    static std::string output_key(const json& resource) {
        return resource["stage"].get<std::string>() + "/" + resource["kind"].get<std::string>() + "/" +
               std::to_string(resource["slot"].get<u32>());
    }

    [[nodiscard]] Launch launch_of(const StageData& data) const {
        Launch launch;
        launch.code = data.program.code;
        for (std::size_t b = 0; b < bank_count; ++b)
            launch.banks[b] = data.banks[b];
        launch.local_bytes = data.program.local_bytes;
        launch.shared_bytes = data.program.shared_bytes;
        launch.global = ranges_;
        launch.textures = &units_;
        launch.step_limit = 1 << 22;
        return launch;
    }

    [[nodiscard]] StageProgram stage_program(const StageData& data) const {
        StageProgram stage;
        stage.launch = launch_of(data);
        stage.header = *data.program.sph;
        return stage;
    }

    Result<void> dispatch() {
        StageData& data = stages_.at(Stage::Compute);
        std::array<u32, 3> grid{};
        for (u32 axis = 0; axis < 3; ++axis) {
            grid[axis] = description_["dispatch"][axis];
            put(data.banks[0], data.program.layout->workgroup_count + 4 * axis, grid[axis]);
        }
        Launch launch = launch_of(data);
        launch.grid = grid;
        launch.block = data.program.workgroup_size;
        return interpreter::run(launch);
    }

    std::vector<u32> vertex_numbers(const json& draw) const {
        std::vector<u32> numbers(draw["vertices"].get<u32>());
        for (u32 n = 0; n < numbers.size(); ++n)
            numbers[n] = draw["first_vertex"].get<u32>() + n;
        if (draw.contains("indices")) {
            const auto bytes = read_file(directory_ / draw["indices"].get<std::string>());
            numbers.resize(bytes.size() / 4);
            std::memcpy(numbers.data(), bytes.data(), numbers.size() * 4);
        }
        return numbers;
    }

    // The vertices of one instance, through the vertex program.
    std::vector<Attributes> shade_vertices(const json& draw, const std::vector<u32>& numbers, u32 instance) {
        std::vector<Attributes> inputs(numbers.size());
        for (const json& attribute : draw["attributes"]) {
            const TexelFormat format = *texel_format(attribute["format"].get<std::string>());
            const auto bytes = read_file(directory_ / attribute["file"].get<std::string>());
            for (std::size_t n = 0; n < numbers.size(); ++n) {
                const Texel value = decode_texel(format, bytes.data() + std::size_t{numbers[n]} * format.bytes);
                for (u32 k = 0; k < 4; ++k)
                    inputs[n].set(attribute::generic + 16 * attribute["location"].get<u32>() + 4 * k, value[k]);
            }
        }
        for (std::size_t n = 0; n < numbers.size(); ++n) {
            inputs[n].set(attribute::vertex_id, numbers[n]);
            inputs[n].set(attribute::instance_id, draw["first_instance"].get<u32>() + instance);
        }
        auto out = run_vertices(stage_program(stages_.at(Stage::Vertex)), inputs);
        EXPECT_TRUE(out) << out.error().message;
        return out ? std::move(*out) : std::vector<Attributes>(numbers.size());
    }

    // A vertex as the rasteriser and the pixel program read it.
    Attributes linked(const maxwell::ShaderProgramHeader& from, const Attributes& outputs) {
        Attributes words = link(from, outputs, *stages_.at(Stage::Fragment).program.sph);
        for (const u32 address :
             {attribute::position, attribute::position + 4, attribute::position + 8, attribute::position + 12,
              attribute::point_size, attribute::layer, attribute::viewport_index})
            words.set(address, outputs.at(address));
        for (u32 address = attribute::clip_distance; address < attribute::point_coord; address += 4)
            words.set(address, outputs.at(address));
        return words;
    }

    std::vector<Primitive> tessellate_patches(const json& draw, const std::vector<Attributes>& vertices) {
        const StageProgram control = stage_program(stages_.at(Stage::TessControl)),
                           evaluation = stage_program(stages_.at(Stage::TessEval));
        const maxwell::ShaderProgramHeader& vertex = *stages_.at(Stage::Vertex).program.sph;
        const Tessellated& state = tessellated.at(description_["name"].get<std::string>());
        const u32 each = draw["patch_vertices"];
        last_outputs_ = evaluation.header.outputs;
        std::vector<Primitive> primitives;
        for (u32 patch = 0; (patch + 1) * each <= vertices.size(); ++patch) {
            std::vector<Attributes> points;
            for (u32 n = 0; n < each; ++n)
                points.push_back(link(vertex, vertices[patch * each + n], control.header));
            auto controlled = run_tess_control(control, points, patch);
            EXPECT_TRUE(controlled) << controlled.error().message;
            if (!controlled)
                break;
            for (Attributes& point : controlled->points)
                point = link(control.header, point, evaluation.header);
            const Tessellation made = tessellate(state.domain, state.spacing, controlled->words);
            const auto evaluated = run_tess_eval(evaluation, *controlled, made.points, patch);
            EXPECT_TRUE(evaluated) << evaluated.error().message;
            if (!evaluated)
                break;
            for (const auto& numbers : made.primitives) {
                Primitive p;
                p.id = patch;
                for (const u32 n : numbers)
                    p.vertices.push_back(linked(evaluation.header, (*evaluated)[n]));
                primitives.push_back(std::move(p));
            }
        }
        return primitives;
    }

    // Primitives as the pixel program reads them.
    std::vector<Primitive> assemble(const json& draw, std::vector<Attributes> vertices) {
        const std::string topology = draw["topology"];
        static const std::map<std::string, u32> counts = {
            {"points", 1}, {"lines", 2}, {"triangles", 3}, {"lines_adjacency", 4}, {"triangles_adjacency", 6},
            {"patches", 0}};
        const u32 each = counts.at(topology);
        std::vector<Primitive> primitives;
        const maxwell::ShaderProgramHeader& vertex = *stages_.at(Stage::Vertex).program.sph;
        last_outputs_ = vertex.outputs;
        if (each == 0)
            return tessellate_patches(draw, vertices);
        if (!stages_.contains(Stage::Geometry)) {
            for (std::size_t n = 0; n + each <= vertices.size(); n += each) {
                Primitive p;
                p.id = static_cast<u32>(n / each);
                for (u32 k = 0; k < each; ++k)
                    p.vertices.push_back(linked(vertex, vertices[n + k]));
                primitives.push_back(std::move(p));
            }
            return primitives;
        }
        const StageProgram geometry = stage_program(stages_.at(Stage::Geometry));
        last_outputs_ = geometry.header.outputs;
        for (Attributes& v : vertices)
            v = link(vertex, v, geometry.header);
        const auto emitted = run_geometry(geometry, vertices, each);
        EXPECT_TRUE(emitted) << emitted.error().message;
        if (!emitted)
            return primitives;
        const auto kind = geometry.header.topology;
        const u32 size = kind == maxwell::OutputTopology::Points      ? 1
                         : kind == maxwell::OutputTopology::LineStrip ? 2
                                                                      : 3;
        const u32 invocations = std::max<u32>(geometry.header.threads_per_primitive, 1);
        for (std::size_t n = 0; n < emitted->size(); ++n) {
            std::vector<Attributes> strip;
            for (const EmittedVertex& v : (*emitted)[n]) {
                strip.push_back(linked(geometry.header, v.attributes));
                if (strip.size() >= size) {
                    Primitive p;
                    // What the program writes as primitive ID is what pixels read.
                    p.id = geometry.header.outputs.has(attribute::primitive_id)
                               ? v.attributes.at(attribute::primitive_id)
                               : static_cast<u32>(n / invocations);
                    p.vertices.assign(strip.end() - size, strip.end());
                    if (size == 3 && strip.size() % 2 == 0) // every other triangle of a strip turns the other way
                        std::swap(p.vertices[1], p.vertices[2]);
                    primitives.push_back(std::move(p));
                }
                if (v.ends_primitive)
                    strip.clear();
            }
        }
        return primitives;
    }

    struct Target {
        std::vector<Texel> texels; // layer, y, x, sample
    };

    void draw() {
        const json& draw = description_["draw"];
        width_ = draw["width"];
        height_ = draw["height"];
        const u32 layers = draw["layers"];
        if (draw["samples"] == 4)
            grid_ = {4, {{{0.375f, 0.125f}, {0.875f, 0.375f}, {0.125f, 0.625f}, {0.625f, 0.875f}}}};
        put_sample_positions(stages_.at(Stage::Fragment).banks[0]);
        const std::size_t count = std::size_t{layers} * width_ * height_ * grid_.samples;
        for (const json& target : draw["targets"]) {
            Texel clear{};
            const bool integer = is_integer(*texel_format(target["format"].get<std::string>()));
            for (u32 k = 0; k < 4; ++k)
                clear[k] = integer ? static_cast<u32>(target["clear"][k].get<i64>())
                                   : std::bit_cast<u32>(target["clear"][k].get<f32>());
            targets_[target["location"]].texels.assign(count, clear);
        }
        if (draw.contains("depth"))
            depth_.assign(count, draw["depth"]["clear"].get<f32>());
        const auto numbers = vertex_numbers(draw);
        for (u32 instance = 0; instance < draw["instances"].get<u32>(); ++instance)
            for (const Primitive& primitive : assemble(draw, shade_vertices(draw, numbers, instance)))
                draw_primitive(draw, primitive);
    }

    void draw_primitive(const json& draw, const Primitive& primitive) {
        const StageData& data = stages_.at(Stage::Fragment);
        const u32 layer = last_outputs_.has(attribute::layer) ? primitive.vertices[0].at(attribute::layer) : 0;
        const u32 which =
            last_outputs_.has(attribute::viewport_index) ? primitive.vertices[0].at(attribute::viewport_index) : 0;
        if (culled(primitive) || layer >= draw["layers"].get<u32>() || which >= draw["viewports"].size())
            return;
        const json& v = draw["viewports"][which];
        Raster raster = rasterise(primitive, *data.program.sph, {v[0], v[1], v[2], v[3]}, width_, height_, grid_);
        const bool per_sample = draw["sample_shading"].get<bool>() || data.program.per_sample;
        for (u32 pass = 0; pass < (per_sample ? grid_.samples : 1); ++pass) {
            std::vector<Quad> quads = raster.quads;
            for (Quad& quad : quads)
                for (Pixel& pixel : quad.pixels) {
                    clip(pixel, *raster.inputs);
                    if (per_sample) {
                        pixel.coverage &= 1u << pass;
                        pixel.sample = pass;
                        pixel.centroid_x = grid_.positions[pass][0];
                        pixel.centroid_y = grid_.positions[pass][1];
                    }
                    if (data.program.early_fragment_tests)
                        for (u32 s = 0; s < grid_.samples; ++s)
                            if ((pixel.coverage >> s & 1) != 0 &&
                                !depth_test(draw, pixel, layer, s, depth_at(raster, pixel, s)))
                                pixel.coverage &= ~(1u << s);
                }
            const auto results = run_pixels(stage_program(data), quads, grid_);
            ASSERT_TRUE(results) << results.error().message;
            for (std::size_t n = 0; n < results->size(); ++n)
                write(draw, (*results)[n], quads[n / 4].pixels[n % 4], raster, layer);
        }
    }

    [[nodiscard]] u32 first_culling_address() const {
        const auto found = first_culling_distance.find(description_["name"].get<std::string>());
        return attribute::clip_distance + 4 * (found == first_culling_distance.end() ? 8 : found->second);
    }

    // A primitive is culled if one distance is negative at all its vertices.
    [[nodiscard]] bool culled(const Primitive& primitive) const {
        for (u32 address = first_culling_address(); address < attribute::point_coord; address += 4)
            if (std::all_of(primitive.vertices.begin(), primitive.vertices.end(),
                            [&](const Attributes& v) { return v.number(address) < 0; }))
                return true;
        return false;
    }

    // Clipping by distances, at pixel centres.
    void clip(Pixel& pixel, const PixelInputs& inputs) const {
        for (u32 address = attribute::clip_distance; address < first_culling_address(); address += 4)
            if (last_outputs_.has(address)) {
                const Plane& plane = inputs.planes[address / 4];
                if (plane.value + plane.dx * (pixel.x + 0.5) + plane.dy * (pixel.y + 0.5) < 0)
                    pixel.coverage = 0;
            }
    }

    [[nodiscard]] std::size_t index(const Pixel& pixel, u32 layer, u32 sample) const {
        return ((std::size_t{layer} * height_ + pixel.y) * width_ + pixel.x) * grid_.samples + sample;
    }

    [[nodiscard]] f32 depth_at(const Raster& raster, const Pixel& pixel, u32 sample) const {
        return static_cast<f32>(raster.depth.value + raster.depth.dx * (f64(pixel.x) + grid_.positions[sample][0]) +
                                raster.depth.dy * (f64(pixel.y) + grid_.positions[sample][1]));
    }

    bool depth_test(const json& draw, const Pixel& pixel, u32 layer, u32 sample, f32 value) {
        if (depth_.empty())
            return true;
        f32& stored = depth_[index(pixel, layer, sample)];
        if (draw["depth"]["test"] == "less" && !(value < stored))
            return false;
        if (draw["depth"]["write"].get<bool>())
            stored = value;
        return true;
    }

    void write(const json& draw, const PixelResult& result, const Pixel& pixel, const Raster& raster, u32 layer) {
        const program::Program& program = stages_.at(Stage::Fragment).program;
        if (result.killed)
            return;
        const u32 samples = pixel.coverage & result.sample_mask.value_or(~0u);
        for (u32 s = 0; s < grid_.samples; ++s) {
            if ((samples >> s & 1) == 0)
                continue;
            const f32 depth = std::clamp(result.depth.value_or(depth_at(raster, pixel, s)), 0.0f, 1.0f);
            if (!program.early_fragment_tests && !depth_test(draw, pixel, layer, s, depth))
                continue;
            for (const json& target : draw["targets"]) {
                const u32 location = target["location"];
                if (!target.value("unused", false) && (program.sph->target_mask >> 4 * location & 15) != 0)
                    targets_[location].texels[index(pixel, layer, s)] = result.targets[location];
            }
        }
    }

    // The output as plain numbers of `type`, in the reference's order.
    std::vector<f64> numbers(const std::string& type, Bytes bytes) const {
        std::vector<f64> values;
        static const std::map<std::string, std::pair<u32, Numeric>> plain = {{"f32", {4, Numeric::Float}},
                                                                             {"u32", {4, Numeric::Uint}},
                                                                             {"i32", {4, Numeric::Sint}},
                                                                             {"f64", {8, Numeric::Float}}};
        if (const auto found = plain.find(type); found != plain.end()) {
            for (std::size_t at = 0; at + found->second.first <= bytes.size(); at += found->second.first)
                values.push_back(type == "f64"   ? *read_at<f64>(bytes, at)
                                 : type == "f32" ? static_cast<f64>(*read_at<f32>(bytes, at))
                                 : type == "u32" ? static_cast<f64>(*read_at<u32>(bytes, at))
                                                 : static_cast<f64>(*read_at<i32>(bytes, at)));
            return values;
        }
        const TexelFormat format = *texel_format(type);
        for (std::size_t at = 0; at + format.bytes <= bytes.size(); at += format.bytes) {
            const Texel texel = decode_texel(format, bytes.data() + at);
            for (u32 k = 0; k < 4; ++k)
                if (format.width[k] != 0)
                    values.push_back(!is_integer(format)               ? static_cast<f64>(std::bit_cast<f32>(texel[k]))
                                     : format.numeric == Numeric::Sint ? static_cast<f64>(static_cast<i32>(texel[k]))
                                                                       : static_cast<f64>(texel[k]));
        }
        return values;
    }

    void compare(const json& output) {
        const std::string type = output["type"], kind = output["kind"];
        const auto reference = read_file(directory_ / output["file"].get<std::string>());
        std::vector<std::byte> made;
        if (kind == "color") {
            const auto view = std::as_bytes(std::span(targets_[output["location"]].texels));
            made.assign(view.begin(), view.end());
        } else if (kind == "depth") {
            const auto view = std::as_bytes(std::span(depth_));
            made.assign(view.begin(), view.end());
        } else {
            const auto& [number, is_texture] = outputs_by_file_.at(output_key(output));
            made = is_texture ? textures_[number].texels : buffers_[number];
        }
        ASSERT_EQ(made.size(), reference.size()) << kind;
        const auto wanted = numbers(type, reference), got = numbers(type, made);
        const json& tolerance = description_["tolerance"];
        const bool exact = type.ends_with("I") || type == "u32" || type == "i32";
        f64 absolute = exact ? 0 : tolerance["abs"].get<f64>(), outliers = tolerance["outliers"].get<f64>();
        const f64 relative = exact ? 0 : tolerance["rel"].get<f64>();
        if (const auto more = excused.find(description_["name"].get<std::string>()); more != excused.end()) {
            outliers = more->second.outliers;
            absolute = more->second.absolute;
        }
        std::size_t wrong = 0;
        std::string first;
        for (std::size_t n = 0; n < wanted.size(); ++n) {
            if (wanted[n] == got[n] || (std::isnan(wanted[n]) && std::isnan(got[n])) ||
                std::fabs(wanted[n] - got[n]) <= absolute + relative * std::fabs(wanted[n]))
                continue;
            if (wrong++ < 4)
                first += fmt::format(" [{}] {} instead of {};", n, got[n], wanted[n]);
        }
        EXPECT_LE(static_cast<f64>(wrong), outliers * static_cast<f64>(wanted.size()))
            << kind << " " << output["file"] << ": " << wrong << " of " << wanted.size() << first;
    }

    std::filesystem::path directory_;
    json description_;
    std::map<Stage, StageData> stages_;
    std::deque<std::vector<std::byte>> buffers_;
    std::vector<MemoryRange> ranges_;
    std::vector<Texture> textures_;
    std::vector<Sampler> samplers_;
    TextureUnits units_;
    std::map<std::pair<Stage, u32>, std::vector<std::byte>> handle_uniforms_;
    std::map<std::string, std::pair<std::size_t, bool>> outputs_by_file_; // buffer or texture number
    u32 width_ = 0, height_ = 0;
    SampleGrid grid_{1, {{{0.5f, 0.5f}}}};
    maxwell::AttributeMap last_outputs_;
    std::map<u32, Target> targets_;
    std::vector<f32> depth_;
};

class GlslCorpus : public ::testing::TestWithParam<std::string> {};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(GlslCorpus);

TEST_P(GlslCorpus, GivesTheReference) {
    if (const auto reason = left_out.find(GetParam()); reason != left_out.end())
        GTEST_SKIP() << reason->second;
    Case test(GetParam());
    if (const auto error = errors.find(GetParam()); error != errors.end())
        EXPECT_NE(test.try_dispatch().find(error->second), std::string::npos) << test.try_dispatch();
    else
        test.run();
}

std::vector<std::string> all_cases() {
    std::vector<std::string> names;
    std::error_code missing;
    for (const auto& entry : std::filesystem::directory_iterator(corpus, missing))
        if (std::filesystem::exists(entry.path() / "case.json"))
            names.push_back(entry.path().filename().string());
    std::sort(names.begin(), names.end());
    return names;
}

INSTANTIATE_TEST_SUITE_P(Dev, GlslCorpus, ::testing::ValuesIn(all_cases()),
                         [](const auto& test) { return test.param; });

TEST(GlslCorpusData, IsThere) {
    if (all_cases().empty())
        GTEST_SKIP() << corpus << " is not on this machine";
    for (const auto& [name, reason] : left_out)
        EXPECT_TRUE(std::filesystem::exists(corpus / name)) << name << " is named for nothing";
}

} // namespace
