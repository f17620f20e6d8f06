#include "shader/cross.h"

#include <algorithm>
#include <spirv_cross/spirv_cross_c.h>

namespace heaviside::shader {

namespace {

struct Context {
    spvc_context context = nullptr;
    Context() { (void)spvc_context_create(&context); }
    Context(const Context&) = delete;
    Context& operator=(const Context&) = delete;
    ~Context() { spvc_context_destroy(context); }
};

template <class SetOptions>
Result<std::string> compile(std::span<const u32> spirv, spvc_backend backend, SetOptions&& set_options) {
    Context c;
    const auto failed = [&] { return fail("spirv-cross: {}", spvc_context_get_last_error_string(c.context)); };
    spvc_parsed_ir parsed = nullptr;
    if (spvc_context_parse_spirv(c.context, spirv.data(), spirv.size(), &parsed) != SPVC_SUCCESS)
        return failed();
    spvc_compiler compiler = nullptr;
    if (spvc_context_create_compiler(c.context, backend, parsed, SPVC_CAPTURE_MODE_TAKE_OWNERSHIP, &compiler) !=
        SPVC_SUCCESS)
        return failed();
    spvc_compiler_options options = nullptr;
    if (spvc_compiler_create_compiler_options(compiler, &options) != SPVC_SUCCESS)
        return failed();
    set_options(options);
    if (spvc_compiler_install_compiler_options(compiler, options) != SPVC_SUCCESS)
        return failed();
    const char* text = nullptr;
    if (spvc_compiler_compile(compiler, &text) != SPVC_SUCCESS)
        return failed();
    return std::string(text);
}

constexpr const char* dimension_names[dimension_count] = {"1d",   "1d_array",   "2d",     "2d_array", "3d",
                                                          "cube", "cube_array", "buffer", "2d_ms",    "2d_ms_array"};

} // namespace

Result<std::string> to_glsl(std::span<const u32> spirv) {
    return compile(spirv, SPVC_BACKEND_GLSL, [](spvc_compiler_options options) {
        spvc_compiler_options_set_uint(options, SPVC_COMPILER_OPTION_GLSL_VERSION, 460);
        spvc_compiler_options_set_bool(options, SPVC_COMPILER_OPTION_GLSL_VULKAN_SEMANTICS, SPVC_TRUE);
    });
}

// The heap's descriptor arrays have no size, which argument buffers cannot have: here they get that of the pools.
static std::vector<u32> with_sized_heap(std::span<const u32> spirv) {
    enum : u32 {
        type_int = 21,
        type_image = 25,
        type_sampler = 26,
        type_array = 28,
        runtime_array = 29,
        constant = 43
    };
    constexpr std::size_t header = 5, bound = 3;
    std::vector<u32> out(spirv.begin(), spirv.begin() + header), images, samplers;
    u32 word_type = 0, texture_count = 0, sampler_count = 0;
    const auto has = [](const std::vector<u32>& ids, u32 id) {
        return std::find(ids.begin(), ids.end(), id) != ids.end();
    };
    const auto count_of = [&](u32& known, u32 count) {
        if (known == 0) {
            known = out[bound]++;
            out.insert(out.end(), {4u << 16 | constant, word_type, known, count});
        }
        return known;
    };
    for (std::size_t at = header; at < spirv.size();) {
        const std::size_t length = spirv[at] >> 16;
        if (length == 0 || at + length > spirv.size())
            break;
        const std::span<const u32> inst = spirv.subspan(at, length);
        at += length;
        const u32 op = inst[0] & 0xffff;
        if (op == type_int && length == 4 && inst[2] == 32 && inst[3] == 0)
            word_type = inst[1];
        else if (op == type_image)
            images.push_back(inst[1]);
        else if (op == type_sampler)
            samplers.push_back(inst[1]);
        else if (op == runtime_array && word_type != 0 && (has(images, inst[2]) || has(samplers, inst[2]))) {
            const u32 count = has(images, inst[2]) ? count_of(texture_count, heap::texture_capacity)
                                                   : count_of(sampler_count, heap::sampler_capacity);
            out.insert(out.end(), {4u << 16 | type_array, inst[1], inst[2], count});
            continue;
        }
        out.insert(out.end(), inst.begin(), inst.end());
    }
    return out;
}

u32 msl_version(std::span<const u32> spirv) {
    constexpr u32 image_texel_pointer = 60;
    constexpr std::size_t header = 5;
    for (std::size_t at = header; at < spirv.size() && (spirv[at] >> 16) != 0; at += spirv[at] >> 16)
        if ((spirv[at] & 0xffff) == image_texel_pointer)
            return SPVC_MAKE_MSL_VERSION(3, 1, 0);
    return SPVC_MAKE_MSL_VERSION(2, 4, 0);
}

Result<std::string> to_msl(std::span<const u32> spirv) {
    const std::vector<u32> sized = with_sized_heap(spirv);
    return compile(sized, SPVC_BACKEND_MSL, [spirv](spvc_compiler_options options) {
        spvc_compiler_options_set_uint(options, SPVC_COMPILER_OPTION_MSL_VERSION, msl_version(spirv));
        spvc_compiler_options_set_bool(options, SPVC_COMPILER_OPTION_MSL_ARGUMENT_BUFFERS, SPVC_TRUE);
        spvc_compiler_options_set_uint(options, SPVC_COMPILER_OPTION_MSL_ARGUMENT_BUFFERS_TIER, 1); // tier 2
    });
}

std::string reflection_json(const Reflection& r) {
    std::string out = fmt::format("{{\"stage\":\"{}\",\"banks\":[", program::name(r.stage));
    const char* separator = "";
    for (const BankUse& b : r.banks) {
        out += fmt::format("{}{{\"bank\":{},\"binding\":{},\"by_address\":{},\"size\":{}}}", separator, b.bank,
                           b.binding == ~0u ? "null" : std::to_string(b.binding), b.by_address, b.size);
        separator = ",";
    }
    out += "],\"handles\":[";
    separator = "";
    for (const HandleUse& h : r.handles) {
        out += fmt::format("{}{{\"bank\":{},\"offset\":{},\"dimension\":\"{}\",\"storage\":{},\"written\":{},"
                           "\"depth_compare\":{}}}",
                           separator, h.bank, h.offset == ~0u ? "null" : std::to_string(h.offset),
                           dimension_names[static_cast<unsigned>(h.dimension)], h.storage, h.written, h.depth_compare);
        separator = ",";
    }
    out += fmt::format(
        "],\"reads_global\":{},\"writes_global\":{},\"inputs\":{},\"outputs\":{},\"writes_depth\":{},"
        "\"writes_sample_mask\":{},\"kills\":{},\"per_sample\":{},\"writes_layer\":{},\"writes_viewport_index\":{},"
        "\"writes_viewport_mask\":{},\"writes_point_size\":{},\"clip_distances\":{},\"workgroup_size\":[{},{},{}],"
        "\"shared_bytes\":{}}}",
        r.reads_global, r.writes_global, r.inputs, r.outputs, r.writes_depth, r.writes_sample_mask, r.kills,
        r.per_sample, r.writes_layer, r.writes_viewport_index, r.writes_viewport_mask, r.writes_point_size,
        r.clip_distances, r.workgroup_size[0], r.workgroup_size[1], r.workgroup_size[2], r.shared_bytes);
    return out;
}

} // namespace heaviside::shader
