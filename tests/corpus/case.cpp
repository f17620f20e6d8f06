#include "tests/corpus/case.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <fstream>
#include <map>
#include <stdexcept>

namespace corpus {
namespace {

using nlohmann::json;

template <class Value>
Value lookup(const std::map<std::string, Value>& table, const std::string& name) {
    const auto found = table.find(name);
    if (found == table.end())
        throw std::runtime_error("case.json: unknown name '" + name + "'");
    return found->second;
}

Format format_named(const std::string& name) {
    using Kind = Format::Kind;
    static const std::map<std::string, Format> table = {
        {"f32", {NVN_FORMAT_NONE, 1, 4, Kind::Float}},        {"f64", {NVN_FORMAT_NONE, 1, 8, Kind::Float}},
        {"u32", {NVN_FORMAT_NONE, 1, 4, Kind::Uint}},         {"i32", {NVN_FORMAT_NONE, 1, 4, Kind::Int}},
        {"R32F", {NVN_FORMAT_R32F, 1, 4, Kind::Float}},       {"R32UI", {NVN_FORMAT_R32UI, 1, 4, Kind::Uint}},
        {"R32I", {NVN_FORMAT_R32I, 1, 4, Kind::Int}},         {"RG16UI", {NVN_FORMAT_RG16UI, 2, 2, Kind::Uint}},
        {"RG32F", {NVN_FORMAT_RG32F, 2, 4, Kind::Float}},     {"RGB32F", {NVN_FORMAT_RGB32F, 3, 4, Kind::Float}},
        {"RGBA8", {NVN_FORMAT_RGBA8, 4, 1, Kind::Unorm}},     {"RGBA8UI", {NVN_FORMAT_RGBA8UI, 4, 1, Kind::Uint}},
        {"RGBA32F", {NVN_FORMAT_RGBA32F, 4, 4, Kind::Float}}, {"RGBA32UI", {NVN_FORMAT_RGBA32UI, 4, 4, Kind::Uint}},
        {"RGBA32I", {NVN_FORMAT_RGBA32I, 4, 4, Kind::Int}},   {"D32F", {NVN_FORMAT_DEPTH32F, 1, 4, Kind::Float}},
    };
    return lookup(table, name);
}

NVNshaderStage stage_named(const std::string& name) {
    static const std::map<std::string, NVNshaderStage> table = {
        {"vert", NVN_SHADER_STAGE_VERTEX},          {"frag", NVN_SHADER_STAGE_FRAGMENT},
        {"geom", NVN_SHADER_STAGE_GEOMETRY},        {"tesc", NVN_SHADER_STAGE_TESS_CONTROL},
        {"tese", NVN_SHADER_STAGE_TESS_EVALUATION}, {"comp", NVN_SHADER_STAGE_COMPUTE},
    };
    return lookup(table, name);
}

Blob read_file(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    if (!file)
        throw std::runtime_error("cannot read " + path.string());
    return Blob(std::istreambuf_iterator<char>(file), {});
}

Sampler read_sampler(const json& from) {
    static const std::map<std::string, NVNwrapMode> wraps = {{"repeat", NVN_WRAP_MODE_REPEAT},
                                                             {"clamp", NVN_WRAP_MODE_CLAMP_TO_EDGE},
                                                             {"mirror", NVN_WRAP_MODE_MIRRORED_REPEAT}};
    static const std::map<std::string, NVNcompareFunc> compares = {{"less", NVN_COMPARE_FUNC_LESS},
                                                                   {"lequal", NVN_COMPARE_FUNC_LEQUAL},
                                                                   {"greater", NVN_COMPARE_FUNC_GREATER},
                                                                   {"gequal", NVN_COMPARE_FUNC_GEQUAL}};
    Sampler sampler;
    sampler.linear = from.at("filter") == "linear";
    sampler.mip_linear = from.at("mip") == "linear";
    sampler.wrap = lookup(wraps, from.at("wrap"));
    if (from.contains("compare"))
        sampler.compare = lookup(compares, from["compare"]);
    return sampler;
}

Resource read_resource(const json& from, const std::filesystem::path& folder) {
    using Kind = Resource::Kind;
    static const std::map<std::string, Kind> kinds = {
        {"ubo", Kind::Ubo},
        {"ssbo", Kind::Ssbo},
        {"texture", Kind::Texture},
        {"image", Kind::Image},
        {"texel_buffer", Kind::TexelBuffer},
        {"image_buffer", Kind::ImageBuffer},
    };
    static const std::map<std::string, NVNtextureTarget> targets = {
        {"1d", NVN_TEXTURE_TARGET_1D},
        {"1d_array", NVN_TEXTURE_TARGET_1D_ARRAY},
        {"2d", NVN_TEXTURE_TARGET_2D},
        {"2d_array", NVN_TEXTURE_TARGET_2D_ARRAY},
        {"2d_ms", NVN_TEXTURE_TARGET_2D_MULTISAMPLE},
        {"2d_ms_array", NVN_TEXTURE_TARGET_2D_MULTISAMPLE_ARRAY},
        {"3d", NVN_TEXTURE_TARGET_3D},
        {"cube", NVN_TEXTURE_TARGET_CUBEMAP},
        {"cube_array", NVN_TEXTURE_TARGET_CUBEMAP_ARRAY},
    };
    Resource resource;
    resource.kind = lookup(kinds, from.at("kind"));
    resource.stage = stage_named(from.at("stage"));
    resource.slot = from.at("slot").get<int>() + from.value("element", 0);
    resource.data = read_file(folder / from.at("file").get<std::string>());
    if (from.contains("format"))
        resource.format = format_named(from["format"]);
    if (from.contains("dim"))
        resource.target = lookup(targets, from["dim"]);
    if (from.contains("size"))
        resource.size = from["size"].get<std::array<int, 3>>();
    resource.layers = from.value("layers", 1);
    resource.levels = from.value("levels", 1);
    resource.samples = from.value("samples", 1);
    if (from.contains("sampler"))
        resource.sampler = read_sampler(from["sampler"]);
    if (from.contains("bindless"))
        resource.bindless = Bindless{from["bindless"].at("ubo_slot"), from["bindless"].at("offset")};
    if (resource.kind == Kind::TexelBuffer || resource.kind == Kind::ImageBuffer)
        resource.target = NVN_TEXTURE_TARGET_BUFFER;
    return resource;
}

Output read_output(const json& from, const std::filesystem::path& folder) {
    using Kind = Output::Kind;
    static const std::map<std::string, Kind> kinds = {{"ssbo", Kind::Ssbo},
                                                      {"image", Kind::Image},
                                                      {"image_buffer", Kind::ImageBuffer},
                                                      {"color", Kind::Color},
                                                      {"depth", Kind::Depth}};
    Output output;
    output.kind = lookup(kinds, from.at("kind"));
    output.name = from.at("file");
    output.element = format_named(from.at("type"));
    output.reference = read_file(folder / output.name);
    output.location = from.value("location", 0);
    if (from.contains("stage")) {
        output.stage = stage_named(from["stage"]);
        output.slot = from.at("slot").get<int>() + from.value("element", 0);
    }
    return output;
}

Draw read_draw(const json& from, const std::filesystem::path& folder) {
    static const std::map<std::string, NVNdrawPrimitive> topologies = {
        {"points", NVN_DRAW_PRIMITIVE_POINTS},
        {"lines", NVN_DRAW_PRIMITIVE_LINES},
        {"triangles", NVN_DRAW_PRIMITIVE_TRIANGLES},
        {"lines_adjacency", NVN_DRAW_PRIMITIVE_LINES_ADJACENCY},
        {"triangles_adjacency", NVN_DRAW_PRIMITIVE_TRIANGLES_ADJACENCY},
        {"patches", NVN_DRAW_PRIMITIVE_PATCHES},
    };
    static const std::map<std::string, NVNface> faces = {
        {"none", NVN_FACE_NONE}, {"front", NVN_FACE_FRONT}, {"back", NVN_FACE_BACK}};
    Draw draw;
    draw.topology = lookup(topologies, from.at("topology"));
    draw.vertices = from.at("vertices");
    draw.instances = from.at("instances");
    draw.first_vertex = from.at("first_vertex");
    draw.first_instance = from.at("first_instance");
    draw.patch_vertices = from.at("patch_vertices");
    draw.width = from.at("width");
    draw.height = from.at("height");
    draw.layers = from.at("layers");
    draw.samples = from.at("samples");
    draw.sample_shading = from.at("sample_shading");
    draw.cull = lookup(faces, from.at("cull"));
    if (from.contains("indices"))
        draw.indices = read_file(folder / from["indices"].get<std::string>());
    for (const json& item : from.at("attributes"))
        draw.attributes.push_back({item.at("location"), format_named(item.at("format")),
                                   read_file(folder / item.at("file").get<std::string>())});
    for (const json& item : from.at("targets"))
        draw.targets.push_back(
            {item.at("location"), format_named(item.at("format")), item.at("clear"), item.at("unused")});
    for (const json& item : from.at("viewports"))
        draw.viewports.push_back(item);
    if (from.contains("depth")) {
        const json& depth = from["depth"];
        draw.depth = Depth{depth.at("clear"), depth.at("test") == "less" ? NVN_DEPTH_FUNC_LESS : NVN_DEPTH_FUNC_ALWAYS,
                           depth.at("write")};
    }
    return draw;
}

} // namespace

const Stage* Case::stage(NVNshaderStage which) const {
    const auto found = std::find_if(stages.begin(), stages.end(), [&](const Stage& s) { return s.stage == which; });
    return found == stages.end() ? nullptr : &*found;
}

std::vector<std::string> list_cases(const std::filesystem::path& folder) {
    std::vector<std::string> names;
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(folder, error))
        if (std::filesystem::exists(entry.path() / "case.json"))
            names.push_back(entry.path().filename().string());
    std::sort(names.begin(), names.end());
    return names;
}

Case load_case(const std::filesystem::path& folder) {
    std::ifstream file(folder / "case.json");
    const json from = json::parse(file);
    Case result;
    result.name = from.at("name");
    for (const auto& [name, stage] : from.at("stages").items())
        result.stages.push_back({stage_named(name), read_file(folder / stage.at("control").get<std::string>()),
                                 read_file(folder / stage.at("gpu").get<std::string>())});
    for (const json& item : from.at("inputs"))
        result.inputs.push_back(read_resource(item, folder));
    for (const json& item : from.at("outputs"))
        result.outputs.push_back(read_output(item, folder));
    const json& tolerance = from.at("tolerance");
    result.tolerance = {tolerance.at("abs"), tolerance.at("rel"), tolerance.at("outliers")};
    if (from.at("kind") == "draw")
        result.draw = read_draw(from.at("draw"), folder);
    else
        result.dispatch = from.at("dispatch");
    return result;
}

} // namespace corpus
