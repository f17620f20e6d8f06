#include "shader/cross.h"

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

// SPIRV-Cross stops the process at descriptor arrays without a size, which is what the heap is.
static bool uses_heap(std::span<const u32> spirv) {
    constexpr u32 capability = 17, runtime_descriptor_array = 5302; // OpCapability RuntimeDescriptorArray
    for (std::size_t at = 5; at + 1 < spirv.size() && (spirv[at] & 0xffff) == capability; at += spirv[at] >> 16)
        if (spirv[at + 1] == runtime_descriptor_array)
            return true;
    return false;
}

Result<std::string> to_msl(std::span<const u32> spirv) {
    if (uses_heap(spirv))
        return fail("spirv-cross: the texture heap is not lowered for Metal yet");
    return compile(spirv, SPVC_BACKEND_MSL, [](spvc_compiler_options options) {
        spvc_compiler_options_set_uint(options, SPVC_COMPILER_OPTION_MSL_VERSION, SPVC_MAKE_MSL_VERSION(2, 4, 0));
        spvc_compiler_options_set_bool(options, SPVC_COMPILER_OPTION_MSL_ARGUMENT_BUFFERS, SPVC_TRUE);
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
        "\"writes_point_size\":{},\"clip_distances\":{},\"workgroup_size\":[{},{},{}],\"shared_bytes\":{}}}",
        r.reads_global, r.writes_global, r.inputs, r.outputs, r.writes_depth, r.writes_sample_mask, r.kills,
        r.per_sample, r.writes_layer, r.writes_viewport_index, r.writes_point_size, r.clip_distances,
        r.workgroup_size[0], r.workgroup_size[1], r.workgroup_size[2], r.shared_bytes);
    return out;
}

} // namespace heaviside::shader
