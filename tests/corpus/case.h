// A case of the shader corpus as its case.json describes it: plain data. Field names are those of the corpus README.
#pragma once

#include <nvn/nvn.h>

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace corpus {

using Blob = std::vector<std::uint8_t>;

// The formats that the corpus names, as NVN and as plain memory.
struct Format {
    enum class Kind { Float, Uint, Int, Unorm };
    NVNformat nvn = NVN_FORMAT_NONE;
    unsigned components = 0;
    unsigned component_bytes = 0;
    Kind kind = Kind::Float;
    unsigned bytes() const { return components * component_bytes; }
};

struct Sampler {
    bool linear = false, mip_linear = false;
    NVNwrapMode wrap = NVN_WRAP_MODE_REPEAT;
    std::optional<NVNcompareFunc> compare;
};

struct Bindless { // the code reads the handle from this uniform buffer
    int ubo_slot = 0, offset = 0;
};

struct Resource {
    enum class Kind { Ubo, Ssbo, Texture, TexelBuffer, Image, ImageBuffer };
    Kind kind{};
    NVNshaderStage stage{};
    int slot = 0; // hardware slot: the GLSL binding plus the element
    Blob data;
    Format format;
    NVNtextureTarget target = NVN_TEXTURE_TARGET_2D;
    std::array<int, 3> size{1, 1, 1};
    int layers = 1, levels = 1, samples = 1;
    Sampler sampler;
    std::optional<Bindless> bindless;
};

struct Output {
    enum class Kind { Ssbo, Image, ImageBuffer, Color, Depth };
    Kind kind{};
    NVNshaderStage stage{};
    int slot = 0;     // of the resource
    int location = 0; // of the colour target
    Format element;   // how to read the stored values
    Blob reference;
    std::string name;
};

struct Stage {
    NVNshaderStage stage{};
    Blob control, gpu;
};

struct Attribute {
    int location = 0;
    Format format;
    Blob data;
};

struct Target {
    int location = 0;
    Format format;
    std::array<double, 4> clear{};
    bool unused = false;
};

struct Depth {
    float clear = 1;
    NVNdepthFunc test = NVN_DEPTH_FUNC_LESS;
    bool write = true;
};

struct Draw {
    NVNdrawPrimitive topology{};
    int vertices = 0, instances = 1, first_vertex = 0, first_instance = 0, patch_vertices = 0;
    int width = 0, height = 0, layers = 1, samples = 1;
    bool sample_shading = false;
    NVNface cull = NVN_FACE_NONE;
    Blob indices; // u32
    std::vector<Attribute> attributes;
    std::vector<Target> targets;
    std::vector<std::array<float, 4>> viewports;
    std::optional<Depth> depth;
};

struct Tolerance {
    double abs = 0, rel = 0, outliers = 0;
};

struct Case {
    std::string name;
    std::vector<Stage> stages;
    std::vector<Resource> inputs;
    std::vector<Output> outputs;
    Tolerance tolerance;
    std::optional<Draw> draw;
    std::array<int, 3> dispatch{1, 1, 1};
    const Stage* stage(NVNshaderStage which) const;
};

// Names of the cases in a folder, sorted. Empty if it does not exist.
std::vector<std::string> list_cases(const std::filesystem::path& folder);

// Reads FOLDER/case.json and every file that it names. Throws std::runtime_error with the reason.
Case load_case(const std::filesystem::path& folder);

} // namespace corpus
