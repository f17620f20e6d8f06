#include "nvn/entry_points.h"
#include "nvn/report.h"
#include "nvn/texture_layout.h"

#include <cstring>

namespace heaviside::nvn {

namespace {

// The view's layout if it sets the field.
const TextureView* with(const NVNtextureView* view, u16 field) {
    return view && layout(view)->set & field ? layout(view) : nullptr;
}

bool fits_field(const char* call, int first, int count, int limit) {
    if (first >= 0 && count >= 0 && first <= limit && count <= limit)
        return true;
    report_error(call, "{} + {}", first, count);
    return false;
}

} // namespace

void nvnTextureViewSetDefaults(NVNtextureView* view) {
    if (view)
        *layout(view) = {};
}

void nvnTextureViewSetLevels(NVNtextureView* view, int baseLevel, int numLevels) {
    if (!view || !fits_field("nvnTextureViewSetLevels", baseLevel, numLevels, 0xFF))
        return;
    layout(view)->set |= view_field::levels;
    layout(view)->first_level = static_cast<u8>(baseLevel);
    layout(view)->level_count = static_cast<u8>(numLevels);
}
NVNboolean nvnTextureViewGetLevels(const NVNtextureView* view, int* baseLevel, int* numLevels) {
    const TextureView* v = with(view, view_field::levels);
    if (v && baseLevel)
        *baseLevel = v->first_level;
    if (v && numLevels)
        *numLevels = v->level_count;
    return boolean(v);
}

void nvnTextureViewSetLayers(NVNtextureView* view, int minLayer, int numLayers) {
    if (!view || !fits_field("nvnTextureViewSetLayers", minLayer, numLayers, 0xFFFF))
        return;
    layout(view)->set |= view_field::layers;
    layout(view)->first_layer = static_cast<u16>(minLayer);
    layout(view)->layer_count = static_cast<u16>(numLayers);
}
NVNboolean nvnTextureViewGetLayers(const NVNtextureView* view, int* minLayer, int* numLayers) {
    const TextureView* v = with(view, view_field::layers);
    if (v && minLayer)
        *minLayer = v->first_layer;
    if (v && numLayers)
        *numLayers = v->layer_count;
    return boolean(v);
}

void nvnTextureViewSetFormat(NVNtextureView* view, NVNformat format) {
    if (!view)
        return;
    layout(view)->set |= view_field::format;
    layout(view)->format = static_cast<u16>(format);
}
NVNboolean nvnTextureViewGetFormat(const NVNtextureView* view, NVNformat* format) {
    const TextureView* v = with(view, view_field::format);
    if (v && format)
        *format = static_cast<NVNformat>(v->format);
    return boolean(v);
}

void nvnTextureViewSetTarget(NVNtextureView* view, NVNtextureTarget target) {
    if (!view)
        return;
    layout(view)->set |= view_field::target;
    layout(view)->target = static_cast<u8>(target);
}
NVNboolean nvnTextureViewGetTarget(const NVNtextureView* view, NVNtextureTarget* target) {
    const TextureView* v = with(view, view_field::target);
    if (v && target)
        *target = static_cast<NVNtextureTarget>(v->target);
    return boolean(v);
}

void nvnTextureViewSetSwizzle(NVNtextureView* view, NVNtextureSwizzle r, NVNtextureSwizzle g, NVNtextureSwizzle b,
                              NVNtextureSwizzle a) {
    if (!view)
        return;
    TextureView& v = *layout(view);
    v.set |= view_field::swizzle;
    v.swizzle[0] = static_cast<u8>(r);
    v.swizzle[1] = static_cast<u8>(g);
    v.swizzle[2] = static_cast<u8>(b);
    v.swizzle[3] = static_cast<u8>(a);
}
NVNboolean nvnTextureViewGetSwizzle(const NVNtextureView* view, NVNtextureSwizzle* r, NVNtextureSwizzle* g,
                                    NVNtextureSwizzle* b, NVNtextureSwizzle* a) {
    const TextureView* v = with(view, view_field::swizzle);
    if (v)
        read_swizzle(v->swizzle, r, g, b, a);
    return boolean(v);
}

void nvnTextureViewSetDepthStencilMode(NVNtextureView* view, NVNtextureDepthStencilMode mode) {
    if (!view)
        return;
    layout(view)->set |= view_field::depth_stencil_mode;
    layout(view)->depth_stencil_mode = static_cast<u8>(mode);
}
NVNboolean nvnTextureViewGetDepthStencilMode(const NVNtextureView* view, NVNtextureDepthStencilMode* mode) {
    const TextureView* v = with(view, view_field::depth_stencil_mode);
    if (v && mode)
        *mode = static_cast<NVNtextureDepthStencilMode>(v->depth_stencil_mode);
    return boolean(v);
}

NVNboolean nvnTextureViewCompare(const NVNtextureView* view1, const NVNtextureView* view2) {
    return boolean(view1 && view2 && std::memcmp(layout(view1), layout(view2), sizeof(TextureView)) == 0);
}

} // namespace heaviside::nvn
