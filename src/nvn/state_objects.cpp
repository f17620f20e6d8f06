// The small state objects: every field in its bits (stream/state.h), so that a state is its bytes. Null objects are
// ignored, as the fields of a null object are nobody's.
#include "nvn/entry_points.h"
#include "nvn/objects.h"
#include "nvn/report.h"

#include <algorithm>

// field<N>() cuts values to the bit-field they are stored in; GCC does not see that through the call.
#pragma GCC diagnostic ignored "-Wconversion"

namespace heaviside::nvn {

namespace {

// An enum argument, cut to the field it is stored in.
template <unsigned Bits, class Enum>
constexpr u32 field(Enum value) {
    return static_cast<u32>(value) & ((1u << Bits) - 1);
}

constexpr int target_count = 8;

bool valid_target(const char* call, int index) {
    if (index >= 0 && index < target_count)
        return true;
    report_error(call, "colour target {}", index);
    return false;
}

template <class Enum>
void put(Enum* out, u32 value) {
    if (out)
        *out = static_cast<Enum>(value);
}
void put(NVNboolean* out, u32 value) {
    if (out)
        *out = value != 0;
}

} // namespace

// --- Blend ---

void nvnBlendStateSetDefaults(NVNblendState* blend) {
    if (!blend)
        return;
    stream::BlendState state{};
    state.source_color = state.source_alpha = NVN_BLEND_FUNC_ONE;
    state.dest_color = state.dest_alpha = NVN_BLEND_FUNC_ZERO;
    state.color_equation = state.alpha_equation = NVN_BLEND_EQUATION_ADD;
    state.advanced_premultiplied_source = state.advanced_normalized_dest = 1;
    *layout(blend) = state;
}

void nvnBlendStateSetBlendTarget(NVNblendState* blend, int target) {
    if (blend && valid_target("nvnBlendStateSetBlendTarget", target))
        layout(blend)->target = field<3>(target);
}
int nvnBlendStateGetBlendTarget(const NVNblendState* blend) {
    return blend ? static_cast<int>(layout(blend)->target) : 0;
}

void nvnBlendStateSetBlendFunc(NVNblendState* blend, NVNblendFunc srcFunc, NVNblendFunc dstFunc,
                               NVNblendFunc srcFuncAlpha, NVNblendFunc dstFuncAlpha) {
    if (!blend)
        return;
    layout(blend)->source_color = field<7>(srcFunc);
    layout(blend)->dest_color = field<7>(dstFunc);
    layout(blend)->source_alpha = field<7>(srcFuncAlpha);
    layout(blend)->dest_alpha = field<7>(dstFuncAlpha);
}
void nvnBlendStateGetBlendFunc(const NVNblendState* blend, NVNblendFunc* srcFunc, NVNblendFunc* dstFunc,
                               NVNblendFunc* srcFuncAlpha, NVNblendFunc* dstFuncAlpha) {
    if (!blend)
        return;
    put(srcFunc, layout(blend)->source_color);
    put(dstFunc, layout(blend)->dest_color);
    put(srcFuncAlpha, layout(blend)->source_alpha);
    put(dstFuncAlpha, layout(blend)->dest_alpha);
}

void nvnBlendStateSetBlendEquation(NVNblendState* blend, NVNblendEquation modeRGB, NVNblendEquation modeAlpha) {
    if (!blend)
        return;
    layout(blend)->color_equation = field<3>(modeRGB);
    layout(blend)->alpha_equation = field<3>(modeAlpha);
}
void nvnBlendStateGetBlendEquation(const NVNblendState* blend, NVNblendEquation* modeRGB, NVNblendEquation* modeAlpha) {
    if (!blend)
        return;
    put(modeRGB, layout(blend)->color_equation);
    put(modeAlpha, layout(blend)->alpha_equation);
}

void nvnBlendStateSetAdvancedMode(NVNblendState* blend, NVNblendAdvancedMode mode) {
    if (blend)
        layout(blend)->advanced_mode = field<6>(mode);
}
NVNblendAdvancedMode nvnBlendStateGetAdvancedMode(const NVNblendState* blend) {
    return blend ? static_cast<NVNblendAdvancedMode>(layout(blend)->advanced_mode) : NVN_BLEND_ADVANCED_MODE_NONE;
}

void nvnBlendStateSetAdvancedOverlap(NVNblendState* blend, NVNblendAdvancedOverlap overlap) {
    if (blend)
        layout(blend)->advanced_overlap = field<2>(overlap);
}
NVNblendAdvancedOverlap nvnBlendStateGetAdvancedOverlap(const NVNblendState* blend) {
    return blend ? static_cast<NVNblendAdvancedOverlap>(layout(blend)->advanced_overlap)
                 : NVN_BLEND_ADVANCED_OVERLAP_UNCORRELATED;
}

void nvnBlendStateSetAdvancedPremultipliedSrc(NVNblendState* blend, BooleanArgument enable) {
    if (blend)
        layout(blend)->advanced_premultiplied_source = is_true(enable);
}
NVNboolean nvnBlendStateGetAdvancedPremultipliedSrc(const NVNblendState* blend) {
    return boolean(blend && layout(blend)->advanced_premultiplied_source);
}

void nvnBlendStateSetAdvancedNormalizedDst(NVNblendState* blend, BooleanArgument enable) {
    if (blend)
        layout(blend)->advanced_normalized_dest = is_true(enable);
}
NVNboolean nvnBlendStateGetAdvancedNormalizedDst(const NVNblendState* blend) {
    return boolean(blend && layout(blend)->advanced_normalized_dest);
}

// --- Channel masks ---

void nvnChannelMaskStateSetDefaults(NVNchannelMaskState* channelMask) {
    if (channelMask)
        layout(channelMask)->masks = ~u32{0};
}

void nvnChannelMaskStateSetChannelMask(NVNchannelMaskState* channelMask, int index, BooleanArgument r,
                                       BooleanArgument g, BooleanArgument b, BooleanArgument a) {
    if (!channelMask || !valid_target("nvnChannelMaskStateSetChannelMask", index))
        return;
    const u32 mask = u32{is_true(r)} | u32{is_true(g)} << 1 | u32{is_true(b)} << 2 | u32{is_true(a)} << 3;
    u32& masks = layout(channelMask)->masks;
    masks = (masks & ~(0xFu << (4 * index))) | mask << (4 * index);
}

void nvnChannelMaskStateGetChannelMask(const NVNchannelMaskState* channelMask, int index, NVNboolean* r, NVNboolean* g,
                                       NVNboolean* b, NVNboolean* a) {
    if (!channelMask || !valid_target("nvnChannelMaskStateGetChannelMask", index))
        return;
    const u32 mask = layout(channelMask)->masks >> (4 * index);
    put(r, mask & 1);
    put(g, mask & 2);
    put(b, mask & 4);
    put(a, mask & 8);
}

// --- Colour ---

void nvnColorStateSetDefaults(NVNcolorState* color) {
    if (!color)
        return;
    stream::ColorState state{};
    state.logic_op = NVN_LOGIC_OP_COPY;
    state.alpha_func = NVN_ALPHA_FUNC_ALWAYS;
    *layout(color) = state;
}

void nvnColorStateSetBlendEnable(NVNcolorState* color, int index, BooleanArgument enable) {
    if (!color || !valid_target("nvnColorStateSetBlendEnable", index))
        return;
    const u32 bit = 1u << index;
    const u32 enables = layout(color)->blend_enable;
    layout(color)->blend_enable = (is_true(enable) ? enables | bit : enables & ~bit) & 0xFF;
}
NVNboolean nvnColorStateGetBlendEnable(const NVNcolorState* color, int index) {
    return boolean(color && valid_target("nvnColorStateGetBlendEnable", index) &&
                   (layout(color)->blend_enable >> index & 1));
}

void nvnColorStateSetLogicOp(NVNcolorState* color, NVNlogicOp logicOp) {
    if (color)
        layout(color)->logic_op = field<4>(logicOp);
}
NVNlogicOp nvnColorStateGetLogicOp(const NVNcolorState* color) {
    return color ? static_cast<NVNlogicOp>(layout(color)->logic_op) : NVN_LOGIC_OP_COPY;
}

void nvnColorStateSetAlphaTest(NVNcolorState* color, NVNalphaFunc alphaFunc) {
    if (color)
        layout(color)->alpha_func = field<4>(alphaFunc);
}
NVNalphaFunc nvnColorStateGetAlphaTest(const NVNcolorState* color) {
    return color ? static_cast<NVNalphaFunc>(layout(color)->alpha_func) : NVN_ALPHA_FUNC_ALWAYS;
}

// --- Depth and stencil ---

void nvnDepthStencilStateSetDefaults(NVNdepthStencilState* depthStencil) {
    if (!depthStencil)
        return;
    stream::DepthStencilState state{};
    state.depth_func = NVN_DEPTH_FUNC_LESS;
    state.front_func = state.back_func = NVN_STENCIL_FUNC_ALWAYS;
    state.front_fail = state.front_depth_fail = state.front_depth_pass = NVN_STENCIL_OP_KEEP;
    state.back_fail = state.back_depth_fail = state.back_depth_pass = NVN_STENCIL_OP_KEEP;
    *layout(depthStencil) = state;
}

void nvnDepthStencilStateSetDepthTestEnable(NVNdepthStencilState* depthStencil, BooleanArgument enable) {
    if (depthStencil)
        layout(depthStencil)->depth_test = is_true(enable);
}
NVNboolean nvnDepthStencilStateGetDepthTestEnable(const NVNdepthStencilState* depthStencil) {
    return boolean(depthStencil && layout(depthStencil)->depth_test);
}

void nvnDepthStencilStateSetDepthWriteEnable(NVNdepthStencilState* depthStencil, BooleanArgument enable) {
    if (depthStencil)
        layout(depthStencil)->depth_write = is_true(enable);
}
NVNboolean nvnDepthStencilStateGetDepthWriteEnable(const NVNdepthStencilState* depthStencil) {
    return boolean(depthStencil && layout(depthStencil)->depth_write);
}

void nvnDepthStencilStateSetDepthFunc(NVNdepthStencilState* depthStencil, NVNdepthFunc func) {
    if (depthStencil)
        layout(depthStencil)->depth_func = field<4>(func);
}
NVNdepthFunc nvnDepthStencilStateGetDepthFunc(const NVNdepthStencilState* depthStencil) {
    return depthStencil ? static_cast<NVNdepthFunc>(layout(depthStencil)->depth_func) : NVN_DEPTH_FUNC_LESS;
}

void nvnDepthStencilStateSetStencilTestEnable(NVNdepthStencilState* depthStencil, BooleanArgument enable) {
    if (depthStencil)
        layout(depthStencil)->stencil_test = is_true(enable);
}
NVNboolean nvnDepthStencilStateGetStencilTestEnable(const NVNdepthStencilState* depthStencil) {
    return boolean(depthStencil && layout(depthStencil)->stencil_test);
}

void nvnDepthStencilStateSetStencilFunc(NVNdepthStencilState* depthStencil, NVNface faces, NVNstencilFunc func) {
    if (!depthStencil)
        return;
    if (faces & NVN_FACE_FRONT)
        layout(depthStencil)->front_func = field<4>(func);
    if (faces & NVN_FACE_BACK)
        layout(depthStencil)->back_func = field<4>(func);
}
NVNstencilFunc nvnDepthStencilStateGetStencilFunc(const NVNdepthStencilState* depthStencil, NVNface faces) {
    if (!depthStencil)
        return NVN_STENCIL_FUNC_ALWAYS;
    return static_cast<NVNstencilFunc>(faces & NVN_FACE_FRONT ? layout(depthStencil)->front_func
                                                              : layout(depthStencil)->back_func);
}

void nvnDepthStencilStateSetStencilOp(NVNdepthStencilState* depthStencil, NVNface faces, NVNstencilOp fail,
                                      NVNstencilOp depthFail, NVNstencilOp depthPass) {
    if (!depthStencil)
        return;
    if (faces & NVN_FACE_FRONT) {
        layout(depthStencil)->front_fail = field<4>(fail);
        layout(depthStencil)->front_depth_fail = field<4>(depthFail);
        layout(depthStencil)->front_depth_pass = field<4>(depthPass);
    }
    if (faces & NVN_FACE_BACK) {
        layout(depthStencil)->back_fail = field<4>(fail);
        layout(depthStencil)->back_depth_fail = field<4>(depthFail);
        layout(depthStencil)->back_depth_pass = field<4>(depthPass);
    }
}
void nvnDepthStencilStateGetStencilOp(const NVNdepthStencilState* depthStencil, NVNface faces, NVNstencilOp* fail,
                                      NVNstencilOp* depthFail, NVNstencilOp* depthPass) {
    if (!depthStencil)
        return;
    const stream::DepthStencilState& state = *layout(depthStencil);
    const bool front = faces & NVN_FACE_FRONT;
    put(fail, front ? state.front_fail : state.back_fail);
    put(depthFail, front ? state.front_depth_fail : state.back_depth_fail);
    put(depthPass, front ? state.front_depth_pass : state.back_depth_pass);
}

// --- Multisampling ---

void nvnMultisampleStateSetDefaults(NVNmultisampleState* multisample) {
    if (!multisample)
        return;
    stream::MultisampleState state{};
    state.multisample_enable = 1;
    *layout(multisample) = state;
}

void nvnMultisampleStateSetMultisampleEnable(NVNmultisampleState* multisample, BooleanArgument enable) {
    if (multisample)
        layout(multisample)->multisample_enable = is_true(enable);
}
NVNboolean nvnMultisampleStateGetMultisampleEnable(const NVNmultisampleState* multisample) {
    return boolean(multisample && layout(multisample)->multisample_enable);
}

void nvnMultisampleStateSetSamples(NVNmultisampleState* multisample, int samples) {
    if (multisample)
        layout(multisample)->samples = field<5>(samples);
}
int nvnMultisampleStateGetSamples(const NVNmultisampleState* multisample) {
    return multisample ? static_cast<int>(layout(multisample)->samples) : 0;
}

void nvnMultisampleStateSetRasterSamples(NVNmultisampleState* multisample, int samples) {
    if (multisample)
        layout(multisample)->raster_samples = field<5>(samples);
}
int nvnMultisampleStateGetRasterSamples(NVNmultisampleState* multisample) {
    return multisample ? static_cast<int>(layout(multisample)->raster_samples) : 0;
}

void nvnMultisampleStateSetAlphaToCoverageEnable(NVNmultisampleState* multisample, BooleanArgument enable) {
    if (multisample)
        layout(multisample)->alpha_to_coverage = is_true(enable);
}
NVNboolean nvnMultisampleStateGetAlphaToCoverageEnable(const NVNmultisampleState* multisample) {
    return boolean(multisample && layout(multisample)->alpha_to_coverage);
}

void nvnMultisampleStateSetAlphaToCoverageDither(NVNmultisampleState* multisample, BooleanArgument enable) {
    if (multisample)
        layout(multisample)->alpha_to_coverage_dither = is_true(enable);
}
NVNboolean nvnMultisampleStateGetAlphaToCoverageDither(const NVNmultisampleState* multisample) {
    return boolean(multisample && layout(multisample)->alpha_to_coverage_dither);
}

void nvnMultisampleStateSetCoverageToColorEnable(NVNmultisampleState* multisample, BooleanArgument enable) {
    if (multisample)
        layout(multisample)->coverage_to_color = is_true(enable);
}
NVNboolean nvnMultisampleStateGetCoverageToColorEnable(const NVNmultisampleState* multisample) {
    return boolean(multisample && layout(multisample)->coverage_to_color);
}

void nvnMultisampleStateSetCoverageToColorOutput(NVNmultisampleState* multisample, int output) {
    if (multisample && valid_target("nvnMultisampleStateSetCoverageToColorOutput", output))
        layout(multisample)->coverage_to_color_output = field<3>(output);
}
int nvnMultisampleStateGetCoverageToColorOutput(const NVNmultisampleState* multisample) {
    return multisample ? static_cast<int>(layout(multisample)->coverage_to_color_output) : 0;
}

void nvnMultisampleStateSetCoverageModulationMode(NVNmultisampleState* multisample, NVNcoverageModulationMode mode) {
    if (multisample)
        layout(multisample)->coverage_modulation = field<2>(mode);
}
NVNcoverageModulationMode nvnMultisampleStateGetCoverageModulationMode(const NVNmultisampleState* multisample) {
    return multisample ? static_cast<NVNcoverageModulationMode>(layout(multisample)->coverage_modulation)
                       : NVN_COVERAGE_MODULATION_MODE_NONE;
}

void nvnMultisampleStateSetSampleLocationsEnable(NVNmultisampleState* multisample, BooleanArgument enable) {
    if (multisample)
        layout(multisample)->sample_locations_enable = is_true(enable);
}
NVNboolean nvnMultisampleStateGetSampleLocationsEnable(const NVNmultisampleState* multisample) {
    return boolean(multisample && layout(multisample)->sample_locations_enable);
}

void nvnMultisampleStateSetSampleLocationsGridEnable(NVNmultisampleState* multisample, BooleanArgument enable) {
    if (multisample)
        layout(multisample)->sample_locations_grid = is_true(enable);
}
NVNboolean nvnMultisampleStateGetSampleLocationsGridEnable(const NVNmultisampleState* multisample) {
    return boolean(multisample && layout(multisample)->sample_locations_grid);
}

// The table has 16 entries for as many pixels as the samples leave room for, at most 2 x 2.
void nvnMultisampleStateGetSampleLocationsGrid(NVNmultisampleState* multisample, int* w, int* h) {
    const u32 samples = multisample ? layout(multisample)->samples : 0;
    if (w)
        *w = samples <= 8 ? 2 : 1;
    if (h)
        *h = samples <= 4 ? 2 : 1;
}

void nvnMultisampleStateSetSampleLocations(NVNmultisampleState* multisample, int first, int count,
                                           const float* locations) {
    if (!multisample || !locations || count == 0)
        return;
    auto& table = layout(multisample)->locations;
    constexpr int entries = sizeof table;
    if (first < 0 || count < 0 || first > entries || count > entries - first) {
        report_error("nvnMultisampleStateSetSampleLocations", "entries {} + {} of {}", first, count, entries);
        return;
    }
    const auto sixteenths = [](float v) { // NaN gives 0
        return v > 0 ? static_cast<u32>(std::min(v * 16.0f, 15.0f)) : 0u;
    };
    for (int i = 0; i < count; ++i)
        table[first + i] = static_cast<u8>(sixteenths(locations[2 * i]) | sixteenths(locations[2 * i + 1]) << 4);
}

// --- Polygons ---

void nvnPolygonStateSetDefaults(NVNpolygonState* polygon) {
    if (!polygon)
        return;
    stream::PolygonState state{};
    state.cull_face = NVN_FACE_NONE;
    state.front_face = NVN_FRONT_FACE_CCW;
    state.polygon_mode = NVN_POLYGON_MODE_FILL;
    *layout(polygon) = state;
}

void nvnPolygonStateSetCullFace(NVNpolygonState* polygon, NVNface face) {
    if (polygon)
        layout(polygon)->cull_face = field<2>(face);
}
NVNface nvnPolygonStateGetCullFace(const NVNpolygonState* polygon) {
    return polygon ? static_cast<NVNface>(layout(polygon)->cull_face) : NVN_FACE_NONE;
}

void nvnPolygonStateSetFrontFace(NVNpolygonState* polygon, NVNfrontFace face) {
    if (polygon)
        layout(polygon)->front_face = field<1>(face);
}
NVNfrontFace nvnPolygonStateGetFrontFace(const NVNpolygonState* polygon) {
    return polygon ? static_cast<NVNfrontFace>(layout(polygon)->front_face) : NVN_FRONT_FACE_CCW;
}

void nvnPolygonStateSetPolygonMode(NVNpolygonState* polygon, NVNpolygonMode polygonMode) {
    if (polygon)
        layout(polygon)->polygon_mode = field<2>(polygonMode);
}
NVNpolygonMode nvnPolygonStateGetPolygonMode(const NVNpolygonState* polygon) {
    return polygon ? static_cast<NVNpolygonMode>(layout(polygon)->polygon_mode) : NVN_POLYGON_MODE_FILL;
}

void nvnPolygonStateSetPolygonOffsetEnables(NVNpolygonState* polygon, int enables) {
    if (polygon)
        layout(polygon)->offset_enables = field<3>(enables);
}
NVNpolygonOffsetEnable nvnPolygonStateGetPolygonOffsetEnables(const NVNpolygonState* polygon) {
    return polygon ? static_cast<NVNpolygonOffsetEnable>(layout(polygon)->offset_enables)
                   : NVN_POLYGON_OFFSET_ENABLE_NONE;
}

// --- Vertex fetch ---

void nvnVertexAttribStateSetDefaults(NVNvertexAttribState* attrib) {
    if (attrib)
        *layout(attrib) = {};
}

void nvnVertexAttribStateSetFormat(NVNvertexAttribState* attrib, NVNformat format, ptrdiff_t relativeOffset) {
    if (!attrib)
        return;
    if (relativeOffset < 0 || relativeOffset >= 1 << 14) {
        report_error("nvnVertexAttribStateSetFormat", "offset {} does not fit 14 bits", relativeOffset);
        return;
    }
    layout(attrib)->format = field<8>(format);
    layout(attrib)->offset = field<14>(relativeOffset);
}
void nvnVertexAttribStateGetFormat(const NVNvertexAttribState* attrib, NVNformat* format, ptrdiff_t* relativeOffset) {
    if (!attrib)
        return;
    put(format, layout(attrib)->format);
    put(relativeOffset, layout(attrib)->offset);
}

void nvnVertexAttribStateSetStreamIndex(NVNvertexAttribState* attrib, int streamIndex) {
    if (!attrib)
        return;
    if (streamIndex < 0 || streamIndex >= 16) {
        report_error("nvnVertexAttribStateSetStreamIndex", "stream {}", streamIndex);
        return;
    }
    layout(attrib)->stream = field<4>(streamIndex);
}
int nvnVertexAttribStateGetStreamIndex(const NVNvertexAttribState* attrib) {
    return attrib ? static_cast<int>(layout(attrib)->stream) : 0;
}

void nvnVertexStreamStateSetDefaults(NVNvertexStreamState* stream) {
    if (stream)
        *layout(stream) = {};
}

void nvnVertexStreamStateSetStride(NVNvertexStreamState* stream, ptrdiff_t stride) {
    if (stream)
        layout(stream)->stride = static_cast<u32>(stride);
}
ptrdiff_t nvnVertexStreamStateGetStride(const NVNvertexStreamState* stream) {
    return stream ? layout(stream)->stride : 0;
}

void nvnVertexStreamStateSetDivisor(NVNvertexStreamState* stream, int divisor) {
    if (stream)
        layout(stream)->divisor = static_cast<u32>(divisor);
}
int nvnVertexStreamStateGetDivisor(const NVNvertexStreamState* stream) {
    return stream ? static_cast<int>(layout(stream)->divisor) : 0;
}

} // namespace heaviside::nvn
