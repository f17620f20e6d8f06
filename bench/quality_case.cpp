#include "bench/quality_case.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <stdexcept>

namespace heaviside::bench {
namespace {

using nlohmann::json;
using shader::Dimension;

[[noreturn]] void stop(const std::string& why) {
    throw std::runtime_error(why);
}

Blob read(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    if (!file)
        stop("cannot read " + path.string());
    const std::string text(std::istreambuf_iterator<char>(file), {});
    const auto* first = reinterpret_cast<const std::byte*>(text.data());
    return {first, first + text.size()};
}

template <class T, std::size_t N>
T find(const std::pair<const char*, T> (&table)[N], const std::string& name, const char* what) {
    for (const auto& [key, value] : table)
        if (name == key)
            return value;
    stop(fmt::format("unknown {} {}", what, name));
}

struct FormatRow {
    const char* name;
    VkFormat format;
    u32 bytes;
    bool raw;
    shader::NumericClass numeric;
};
using enum shader::NumericClass;
constexpr FormatRow formats[] = {
    {"R32F", VK_FORMAT_R32_SFLOAT, 4, false, Float},
    {"R32I", VK_FORMAT_R32_SINT, 4, false, Sint},
    {"R32UI", VK_FORMAT_R32_UINT, 4, true, Uint},
    {"RG32F", VK_FORMAT_R32G32_SFLOAT, 8, false, Float},
    {"RG32UI", VK_FORMAT_R32G32_UINT, 8, true, Uint},
    {"RG32I", VK_FORMAT_R32G32_SINT, 8, false, Sint},
    {"RGB32F", VK_FORMAT_R32G32B32_SFLOAT, 12, false, Float},
    {"RGBA32F", VK_FORMAT_R32G32B32A32_SFLOAT, 16, false, Float},
    {"RGBA32I", VK_FORMAT_R32G32B32A32_SINT, 16, false, Sint},
    {"RGBA32UI", VK_FORMAT_R32G32B32A32_UINT, 16, true, Uint},
    {"RG16UI", VK_FORMAT_R16G16_UINT, 4, false, Uint},
    {"RGBA16F", VK_FORMAT_R16G16B16A16_SFLOAT, 8, false, Float},
    {"RGBA8", VK_FORMAT_R8G8B8A8_UNORM, 4, false, Float},
    {"RGBA8UI", VK_FORMAT_R8G8B8A8_UINT, 4, false, Uint},
    {"RGBA8I", VK_FORMAT_R8G8B8A8_SINT, 4, false, Sint},
    {"D32F", VK_FORMAT_D32_SFLOAT, 4, false, Float},
};
const FormatRow& row_of(VkFormat format) {
    for (const FormatRow& row : formats)
        if (row.format == format)
            return row;
    stop(fmt::format("unknown format {}", static_cast<int>(format)));
}
VkFormat format_of(const json& value) {
    const auto name = value.get<std::string>();
    for (const FormatRow& row : formats)
        if (name == row.name)
            return row.format;
    stop("unknown format " + name);
}

struct StageRow {
    const char* name;
    shader::Stage stage;
    u32 set;
};
constexpr StageRow stages[] = {{"vert", shader::Stage::Vertex, 0},   {"tesc", shader::Stage::TessControl, 1},
                               {"tese", shader::Stage::TessEval, 2}, {"geom", shader::Stage::Geometry, 3},
                               {"frag", shader::Stage::Fragment, 4}, {"comp", shader::Stage::Compute, 5}};
const StageRow& stage_row(const std::string& name) {
    for (const StageRow& row : stages)
        if (name == row.name)
            return row;
    stop("unknown stage " + name);
}

constexpr std::pair<const char*, Dimension> dimensions[] = {{"1d", Dimension::D1},
                                                            {"1d_array", Dimension::D1Array},
                                                            {"2d", Dimension::D2},
                                                            {"2d_array", Dimension::D2Array},
                                                            {"3d", Dimension::D3},
                                                            {"cube", Dimension::Cube},
                                                            {"cube_array", Dimension::CubeArray}};
constexpr std::pair<const char*, Resource::Kind> kinds[] = {
    {"ubo", Resource::Kind::Ubo},         {"ssbo", Resource::Kind::Ssbo},
    {"texture", Resource::Kind::Texture}, {"texel_buffer", Resource::Kind::TexelBuffer},
    {"image", Resource::Kind::Image},     {"image_buffer", Resource::Kind::ImageBuffer}};
constexpr std::pair<const char*, VkPrimitiveTopology> topologies[] = {
    {"points", VK_PRIMITIVE_TOPOLOGY_POINT_LIST},
    {"lines", VK_PRIMITIVE_TOPOLOGY_LINE_LIST},
    {"triangles", VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST},
    {"lines_adjacency", VK_PRIMITIVE_TOPOLOGY_LINE_LIST_WITH_ADJACENCY},
    {"triangles_adjacency", VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST_WITH_ADJACENCY},
    {"patches", VK_PRIMITIVE_TOPOLOGY_PATCH_LIST}};
constexpr std::pair<const char*, VkCompareOp> compares[] = {{"less", VK_COMPARE_OP_LESS},
                                                            {"lequal", VK_COMPARE_OP_LESS_OR_EQUAL},
                                                            {"greater", VK_COMPARE_OP_GREATER},
                                                            {"gequal", VK_COMPARE_OP_GREATER_OR_EQUAL},
                                                            {"always", VK_COMPARE_OP_ALWAYS}};
constexpr std::pair<const char*, VkSamplerAddressMode> wraps[] = {{"repeat", VK_SAMPLER_ADDRESS_MODE_REPEAT},
                                                                  {"clamp", VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_EDGE},
                                                                  {"mirror", VK_SAMPLER_ADDRESS_MODE_MIRRORED_REPEAT}};

Resource resource(const json& j, const std::filesystem::path& folder) {
    Resource r;
    r.kind = find(kinds, j.at("kind"), "resource");
    r.stage = stage_row(j.at("stage")).stage;
    r.element = j.value("element", 0u);
    r.slot = j.at("slot").get<u32>() + r.element;
    r.data = read(folder / j.at("file").get<std::string>());
    if (j.contains("bindless"))
        r.bindless = Bindless{j["bindless"].at("ubo_slot"), j["bindless"].at("offset")};
    if (r.kind == Resource::Kind::Ubo || r.kind == Resource::Kind::Ssbo)
        return r;
    r.format = format_of(j.at("format"));
    if (r.kind == Resource::Kind::TexelBuffer || r.kind == Resource::Kind::ImageBuffer) {
        r.dimension = Dimension::Buffer;
        return r;
    }
    if (j.value("samples", 1) > 1)
        stop("multisampled");
    r.dimension = find(dimensions, j.at("dim"), "dimension");
    for (std::size_t axis = 0; axis < j.at("size").size() && axis < 3; ++axis)
        r.size[axis] = std::max(j["size"][axis].get<u32>(), 1u);
    r.layers = j.value("layers", 1u);
    r.levels = j.value("levels", 1u);
    if (r.kind == Resource::Kind::Texture && j.contains("sampler")) {
        const json& s = j["sampler"];
        const bool linear = s.value("filter", "nearest") == "linear";
        r.sampler.min = r.sampler.mag = linear ? VK_FILTER_LINEAR : VK_FILTER_NEAREST;
        r.sampler.mip =
            s.value("mip", "nearest") == "linear" ? VK_SAMPLER_MIPMAP_MODE_LINEAR : VK_SAMPLER_MIPMAP_MODE_NEAREST;
        r.sampler.wrap_u = r.sampler.wrap_v = r.sampler.wrap_w = find(wraps, s.value("wrap", "repeat"), "wrap");
        if (s.contains("compare") && !s["compare"].is_null()) {
            r.sampler.compare = true;
            r.sampler.compare_op = find(compares, s["compare"], "comparison");
        }
    }
    return r;
}

Draw draw_of(const json& j, const std::filesystem::path& folder) {
    if (j.value("samples", 1) > 1)
        stop("multisampled");
    Draw d;
    d.topology = find(topologies, j.at("topology"), "topology");
    d.vertices = j.at("vertices");
    d.instances = j.value("instances", 1u);
    d.first_vertex = j.value("first_vertex", 0u);
    d.first_instance = j.value("first_instance", 0u);
    d.patch_vertices = j.value("patch_vertices", 0u);
    d.width = j.at("width");
    d.height = j.at("height");
    d.layers = j.value("layers", 1u);
    if (j.contains("indices") && !j["indices"].is_null())
        d.indices = read(folder / j["indices"].get<std::string>());
    for (const json& a : j.value("attributes", json::array()))
        d.attributes.push_back(
            {a.at("location"), format_of(a.at("format")), read(folder / a.at("file").get<std::string>())});
    for (const json& t : j.value("targets", json::array()))
        d.targets.push_back({t.at("location"), format_of(t.at("format")), t.value("unused", false)});
    for (const json& v : j.value("viewports", json::array()))
        d.viewports.push_back(v.get<std::array<f32, 4>>());
    if (j.contains("depth") && !j["depth"].is_null())
        d.depth = Depth{j["depth"].value("clear", 1.0f),
                        find(compares, j["depth"].value("test", std::string("less")), "depth test"),
                        j["depth"].value("write", true)};
    return d;
}

// What the evaluation stage's layout says.
void tessellation(const std::filesystem::path& glsl, shader::VariantKey& key) {
    const Blob blob = read(glsl);
    const std::string text(reinterpret_cast<const char*>(blob.data()), blob.size());
    const auto says = [&](const char* word) { return text.find(word) != std::string::npos; };
    using Key = shader::VariantKey;
    key.tess_domain = says("isolines") ? Key::TessDomain::Isolines
                      : says("quads")  ? Key::TessDomain::Quads
                                       : Key::TessDomain::Triangles;
    key.tess_spacing = says("fractional_odd_spacing")    ? Key::TessSpacing::FractionalOdd
                       : says("fractional_even_spacing") ? Key::TessSpacing::FractionalEven
                                                         : Key::TessSpacing::Equal;
    key.tess_points = says("point_mode");
    key.tess_clockwise = says("cw") && !says("ccw");
}

void fill_key(Case& test) {
    shader::VariantKey& key = test.key;
    for (const Resource& r : test.inputs) {
        const auto numeric = r.format == VK_FORMAT_UNDEFINED ? Float : row_of(r.format).numeric;
        const bool image = r.kind == Resource::Kind::Image || r.kind == Resource::Kind::ImageBuffer;
        if (numeric == Float || r.slot >= (image ? 32u : 64u))
            continue;
        if (image)
            (numeric == Uint ? key.uint_images : key.sint_images) |= 1u << r.slot;
        else
            (numeric == Uint ? key.uint_textures : key.sint_textures) |= u64{1} << r.slot;
    }
    if (!test.draw)
        return;
    for (const Attribute& a : test.draw->attributes)
        key.vertex_inputs.at(a.location) = row_of(a.format).numeric;
    for (const Target& t : test.draw->targets)
        key.fragment_outputs.at(t.location) = row_of(t.format).numeric;
    switch (test.draw->topology) {
    case VK_PRIMITIVE_TOPOLOGY_POINT_LIST:
        key.points = true;
        key.geometry_input_vertices = 1;
        break;
    case VK_PRIMITIVE_TOPOLOGY_LINE_LIST:
        key.geometry_input_vertices = 2;
        break;
    case VK_PRIMITIVE_TOPOLOGY_LINE_LIST_WITH_ADJACENCY:
        key.geometry_input_vertices = 4;
        break;
    case VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST_WITH_ADJACENCY:
        key.geometry_input_vertices = 6;
        break;
    default:
        break;
    }
    for (const Stage& stage : test.stages)
        if (stage.stage == shader::Stage::TessEval) {
            tessellation(stage.glsl, key);
            key.points = key.tess_points;
        }
}

} // namespace

std::string Case::group() const {
    static constexpr std::pair<const char*, const char*> groups[] = {
        {"cs", "compute"}, {"vs", "vertex"}, {"fs", "fragment"}, {"gs", "geometry"}, {"ts", "tessellation"}};
    return find(groups, name.substr(0, 2), "kind of case");
}

shader::VariantKey Case::variant(shader::Stage) const {
    return key;
}

Arguments arguments(int count, char** values) {
    Arguments result;
    result.cases = HEAVISIDE_SOURCE_DIR "/../shared/corpus/glsl/dev";
    result.spirv = std::filesystem::temp_directory_path() / "heaviside_shader_quality";
    for (int i = 1; i < count; ++i) {
        const std::string name = values[i];
        if (name == "--compile-only") {
            result.compile_only = true;
            continue;
        }
        if (++i == count)
            stop(name + " needs a value, or is unknown");
        const std::string value = values[i];
        if (name == "--cases")
            result.cases = value;
        else if (name == "--spirv")
            result.spirv = value;
        else if (name == "--filter")
            result.filter = value;
        else if (name == "--json")
            result.json = value;
        else if (name == "--work")
            result.work = static_cast<u32>(std::strtoul(value.c_str(), nullptr, 0));
        else
            stop("unknown option " + name);
    }
    return result;
}

std::vector<std::string> list_cases(const std::filesystem::path& folder, const std::string& filter) {
    std::vector<std::string> names;
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(folder, error))
        if (std::filesystem::exists(entry.path() / "case.json") &&
            entry.path().filename().string().find(filter) != std::string::npos)
            names.push_back(entry.path().filename().string());
    if (names.empty())
        stop("no cases in " + folder.string());
    std::ranges::sort(names);
    return names;
}

Case load_case(const std::filesystem::path& folder) {
    std::ifstream file(folder / "case.json");
    const json j = json::parse(file);
    Case test;
    test.name = folder.filename().string();
    for (const StageRow& row : stages)
        if (const auto stage = j.at("stages").find(row.name); stage != j["stages"].end())
            test.stages.push_back({row.stage, read(folder / stage->at("control").get<std::string>()),
                                   read(folder / stage->at("gpu").get<std::string>()),
                                   folder / stage->at("glsl").get<std::string>()});
    for (const json& input : j.at("inputs"))
        test.inputs.push_back(resource(input, folder));
    if (j.contains("draw") && !j["draw"].is_null())
        test.draw = draw_of(j["draw"], folder);
    else
        test.dispatch = j.at("dispatch").get<std::array<u32, 3>>();
    fill_key(test);
    return test;
}

NativeModules native_modules(const Arguments& arguments, const Case& test) {
    NativeModules modules;
    std::filesystem::create_directories(arguments.spirv);
    for (const Stage& stage : test.stages) {
        const char* const name = std::ranges::find(stages, stage.stage, &StageRow::stage)->name;
        const auto path = arguments.spirv / fmt::format("{}.{}.spv", test.name, name);
        if (!std::filesystem::exists(path)) {
            const std::string command =
                fmt::format("glslangValidator --quiet -V --target-env vulkan1.3 -S {} -o '{}' '{}' >/dev/null "
                            "2>&1",
                            name, path.string(), stage.glsl.string());
            if (std::system(command.c_str()) != 0)
                stop("glslangValidator failed for " + stage.glsl.filename().string());
        }
        const Blob blob = read(path);
        std::vector<u32>& words = modules[stage.stage];
        words.resize(blob.size() / 4);
        std::memcpy(words.data(), blob.data(), 4 * words.size());
    }
    return modules;
}

u32 bytes(VkFormat format) {
    return row_of(format).bytes;
}
bool is_raw(VkFormat format) {
    return row_of(format).raw;
}

VkImageType image_type(Dimension dimension) {
    return dimension == Dimension::D3                                      ? VK_IMAGE_TYPE_3D
           : dimension == Dimension::D1 || dimension == Dimension::D1Array ? VK_IMAGE_TYPE_1D
                                                                           : VK_IMAGE_TYPE_2D;
}
VkImageViewType view_type(Dimension dimension) {
    switch (dimension) {
    case Dimension::D1:
        return VK_IMAGE_VIEW_TYPE_1D;
    case Dimension::D1Array:
        return VK_IMAGE_VIEW_TYPE_1D_ARRAY;
    case Dimension::D2Array:
        return VK_IMAGE_VIEW_TYPE_2D_ARRAY;
    case Dimension::D3:
        return VK_IMAGE_VIEW_TYPE_3D;
    case Dimension::Cube:
        return VK_IMAGE_VIEW_TYPE_CUBE;
    case Dimension::CubeArray:
        return VK_IMAGE_VIEW_TYPE_CUBE_ARRAY;
    default:
        return VK_IMAGE_VIEW_TYPE_2D;
    }
}

u32 native_set(shader::Stage stage) {
    return std::ranges::find(stages, stage, &StageRow::stage)->set;
}
u32 native_binding(const Resource& r) {
    const u32 first = r.slot - r.element;
    switch (r.kind) {
    case Resource::Kind::Ubo:
        return first;
    case Resource::Kind::Ssbo:
        return 16 + first;
    case Resource::Kind::Texture:
    case Resource::Kind::TexelBuffer:
        return 32 + first;
    default:
        return 64 + first;
    }
}
VkDescriptorType native_type(const Resource& r) {
    switch (r.kind) {
    case Resource::Kind::Ubo:
        return VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER;
    case Resource::Kind::Ssbo:
        return VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
    case Resource::Kind::Texture:
        return VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER;
    case Resource::Kind::TexelBuffer:
        return VK_DESCRIPTOR_TYPE_UNIFORM_TEXEL_BUFFER;
    case Resource::Kind::Image:
        return VK_DESCRIPTOR_TYPE_STORAGE_IMAGE;
    default:
        return VK_DESCRIPTOR_TYPE_STORAGE_TEXEL_BUFFER;
    }
}

} // namespace heaviside::bench
