#include "nvn/entry_points.h"
#include "nvn/labels.h"
#include "nvn/objects.h"
#include "nvn/report.h"
#include "stream/border.h"

#include <array>
#include <bit>
#include <cstring>

// field() cuts enum values to the bit-field they are stored in; GCC does not see that through the call.
#pragma GCC diagnostic ignored "-Wconversion"

namespace heaviside::nvn {

namespace {

enum BorderClass : u32 { border_float, border_int, border_uint };

template <unsigned Bits, class Enum>
constexpr u32 field(Enum value) {
    return static_cast<u32>(value) & ((1u << Bits) - 1);
}

template <class T, class V>
void put(T* out, V value) {
    if (out)
        *out = static_cast<T>(value);
}

SamplerState default_state() {
    SamplerState s{};
    s.min_filter = NVN_MIN_FILTER_NEAREST;
    s.mag_filter = NVN_MAG_FILTER_NEAREST;
    s.wrap_s = s.wrap_t = s.wrap_r = NVN_WRAP_MODE_CLAMP;
    s.compare_mode = NVN_COMPARE_MODE_NONE;
    s.compare_func = NVN_COMPARE_FUNC_LESS;
    s.max_anisotropy = 1;
    s.lod_min = -1000;
    s.lod_max = 1000;
    return s;
}

void get_border(const SamplerState& s, float* out) {
    for (unsigned i = 0; out && i < 4; ++i)
        out[i] = stream::border_number(s.border[i], s.border_class);
}

template <class Integer>
void get_border_integer(const SamplerState& s, Integer* out) {
    for (unsigned i = 0; out && i < 4; ++i)
        out[i] = static_cast<Integer>(stream::border_integer(s.border[i], s.border_class));
}

template <class Number>
void set_border(SamplerState& s, const Number* color, BorderClass border_class) {
    static_assert(sizeof(Number) == sizeof(u32));
    if (!color)
        return;
    s.border_class = border_class;
    std::memcpy(s.border, color, sizeof s.border);
}

const SamplerState* state(const NVNsamplerBuilder* builder) {
    return builder ? &layout(builder)->state : nullptr;
}
const SamplerState* state(const NVNsampler* sampler, const char* call) {
    const Sampler* s = as_valid(sampler, call);
    return s ? &s->state : nullptr;
}

void get_min_mag(const SamplerState* s, NVNminFilter* min, NVNmagFilter* mag) {
    if (!s)
        return;
    put(min, s->min_filter);
    put(mag, s->mag_filter);
}
void get_wrap(const SamplerState* state, NVNwrapMode* s, NVNwrapMode* t, NVNwrapMode* r) {
    if (!state)
        return;
    put(s, state->wrap_s);
    put(t, state->wrap_t);
    put(r, state->wrap_r);
}
void get_lod_clamp(const SamplerState* s, float* min, float* max) {
    if (!s)
        return;
    put(min, s->lod_min);
    put(max, s->lod_max);
}
void get_compare(const SamplerState* s, NVNcompareMode* mode, NVNcompareFunc* func) {
    if (!s)
        return;
    put(mode, s->compare_mode);
    put(func, s->compare_func);
}

} // namespace

stream::SamplerDescription describe(const SamplerState& s) {
    stream::SamplerDescription d{};
    d.min_filter = s.min_filter;
    d.mag_filter = s.mag_filter;
    d.wrap_s = s.wrap_s;
    d.wrap_t = s.wrap_t;
    d.wrap_r = s.wrap_r;
    d.compare_mode = s.compare_mode;
    d.compare_func = s.compare_func;
    d.reduction = s.reduction;
    d.max_anisotropy = s.max_anisotropy;
    d.lod_min = s.lod_min;
    d.lod_max = s.lod_max;
    d.lod_bias = s.lod_bias;
    d.lod_snap = s.lod_snap;
    std::memcpy(d.border, s.border, sizeof d.border);
    d.border_class = s.border_class;
    return d;
}

// --- Builder ---

void nvnSamplerBuilderSetDefaults(NVNsamplerBuilder* builder) {
    if (builder)
        layout(builder)->state = default_state();
}

void nvnSamplerBuilderSetDevice(NVNsamplerBuilder* builder, NVNdevice* device) {
    if (builder)
        layout(builder)->device = device;
}
const NVNdevice* nvnSamplerBuilderGetDevice(const NVNsamplerBuilder* builder) {
    return builder ? layout(builder)->device : nullptr;
}

void nvnSamplerBuilderSetMinMagFilter(NVNsamplerBuilder* builder, NVNminFilter min, NVNmagFilter mag) {
    if (!builder)
        return;
    layout(builder)->state.min_filter = field<3>(min);
    layout(builder)->state.mag_filter = field<1>(mag);
}
void nvnSamplerBuilderGetMinMagFilter(const NVNsamplerBuilder* builder, NVNminFilter* min, NVNmagFilter* mag) {
    get_min_mag(state(builder), min, mag);
}

void nvnSamplerBuilderSetWrapMode(NVNsamplerBuilder* builder, NVNwrapMode s, NVNwrapMode t, NVNwrapMode r) {
    if (!builder)
        return;
    layout(builder)->state.wrap_s = field<3>(s);
    layout(builder)->state.wrap_t = field<3>(t);
    layout(builder)->state.wrap_r = field<3>(r);
}
void nvnSamplerBuilderGetWrapMode(const NVNsamplerBuilder* builder, NVNwrapMode* s, NVNwrapMode* t, NVNwrapMode* r) {
    get_wrap(state(builder), s, t, r);
}

void nvnSamplerBuilderSetLodClamp(NVNsamplerBuilder* builder, float min, float max) {
    if (!builder)
        return;
    layout(builder)->state.lod_min = min;
    layout(builder)->state.lod_max = max;
}
void nvnSamplerBuilderGetLodClamp(const NVNsamplerBuilder* builder, float* min, float* max) {
    get_lod_clamp(state(builder), min, max);
}

void nvnSamplerBuilderSetLodBias(NVNsamplerBuilder* builder, float bias) {
    if (builder)
        layout(builder)->state.lod_bias = bias;
}
float nvnSamplerBuilderGetLodBias(const NVNsamplerBuilder* builder) {
    return builder ? layout(builder)->state.lod_bias : 0;
}

void nvnSamplerBuilderSetLodSnap(NVNsamplerBuilder* builder, float lodSnap) {
    if (builder)
        layout(builder)->state.lod_snap = lodSnap;
}
float nvnSamplerBuilderGetLodSnap(const NVNsamplerBuilder* builder) {
    return builder ? layout(builder)->state.lod_snap : 0;
}

void nvnSamplerBuilderSetMaxAnisotropy(NVNsamplerBuilder* builder, float maxAniso) {
    if (builder)
        layout(builder)->state.max_anisotropy = maxAniso;
}
float nvnSamplerBuilderGetMaxAnisotropy(const NVNsamplerBuilder* builder) {
    return builder ? layout(builder)->state.max_anisotropy : 0;
}

void nvnSamplerBuilderSetCompare(NVNsamplerBuilder* builder, NVNcompareMode mode, NVNcompareFunc func) {
    if (!builder)
        return;
    layout(builder)->state.compare_mode = field<1>(mode);
    layout(builder)->state.compare_func = field<4>(func);
}
void nvnSamplerBuilderGetCompare(const NVNsamplerBuilder* builder, NVNcompareMode* mode, NVNcompareFunc* func) {
    get_compare(state(builder), mode, func);
}

void nvnSamplerBuilderSetReductionFilter(NVNsamplerBuilder* builder, NVNsamplerReduction filter) {
    if (builder)
        layout(builder)->state.reduction = field<2>(filter);
}
NVNsamplerReduction nvnSamplerBuilderGetReductionFilter(const NVNsamplerBuilder* builder) {
    return static_cast<NVNsamplerReduction>(builder ? layout(builder)->state.reduction : 0);
}

void nvnSamplerBuilderSetBorderColor(NVNsamplerBuilder* builder, const float* borderColor) {
    if (builder)
        set_border(layout(builder)->state, borderColor, border_float);
}
void nvnSamplerBuilderSetBorderColori(NVNsamplerBuilder* builder, const int* borderColor) {
    if (builder)
        set_border(layout(builder)->state, borderColor, border_int);
}
void nvnSamplerBuilderSetBorderColorui(NVNsamplerBuilder* builder, const uint32_t* borderColor) {
    if (builder)
        set_border(layout(builder)->state, borderColor, border_uint);
}
void nvnSamplerBuilderGetBorderColor(const NVNsamplerBuilder* builder, float* borderColor) {
    if (builder)
        get_border(layout(builder)->state, borderColor);
}
void nvnSamplerBuilderGetBorderColori(const NVNsamplerBuilder* builder, int* borderColor) {
    if (builder)
        get_border_integer(layout(builder)->state, borderColor);
}
void nvnSamplerBuilderGetBorderColorui(const NVNsamplerBuilder* builder, uint32_t* borderColor) {
    if (builder)
        get_border_integer(layout(builder)->state, borderColor);
}

// --- Sampler: magic, then the builder's state; nothing that differs between equal samplers ---

NVNboolean nvnSamplerInitialize(NVNsampler* sampler, const NVNsamplerBuilder* builder) {
    if (!sampler || !builder) {
        report_bad_object("nvnSamplerInitialize", nullptr);
        return NVN_FALSE;
    }
    *layout(sampler) = {.magic = magic::sampler, .zero = 0, .state = layout(builder)->state};
    return NVN_TRUE;
}

void nvnSamplerFinalize(NVNsampler* sampler) {
    if (Sampler* s = as_valid(sampler, "nvnSamplerFinalize"))
        *s = {};
}

void nvnSamplerSetDebugLabel(NVNsampler* object, const char* label) {
    set_label(object, label, __func__);
}

// From the state alone: a sampler has no room for an identity of its own, and copies are equal.
uint64_t nvnSamplerGetDebugID(const NVNsampler* sampler) {
    const SamplerState* s = state(sampler, "nvnSamplerGetDebugID");
    if (!s)
        return 0;
    u64 hash = 0xcbf29ce484222325;
    for (const u8 byte : std::bit_cast<std::array<u8, sizeof *s>>(*s))
        hash = (hash ^ byte) * 0x100000001b3;
    return hash | 1;
}

NVNboolean nvnSamplerCompare(const NVNsampler* sampler1, const NVNsampler* sampler2) {
    const SamplerState* a = state(sampler1, "nvnSamplerCompare");
    const SamplerState* b = state(sampler2, "nvnSamplerCompare");
    return boolean(a && b && std::memcmp(a, b, sizeof *a) == 0);
}

void nvnSamplerGetMinMagFilter(const NVNsampler* sampler, NVNminFilter* min, NVNmagFilter* mag) {
    get_min_mag(state(sampler, "nvnSamplerGetMinMagFilter"), min, mag);
}
void nvnSamplerGetWrapMode(const NVNsampler* sampler, NVNwrapMode* s, NVNwrapMode* t, NVNwrapMode* r) {
    get_wrap(state(sampler, "nvnSamplerGetWrapMode"), s, t, r);
}
void nvnSamplerGetLodClamp(const NVNsampler* sampler, float* min, float* max) {
    get_lod_clamp(state(sampler, "nvnSamplerGetLodClamp"), min, max);
}
float nvnSamplerGetLodBias(const NVNsampler* sampler) {
    const SamplerState* s = state(sampler, "nvnSamplerGetLodBias");
    return s ? s->lod_bias : 0;
}
float nvnSamplerGetMaxAnisotropy(const NVNsampler* sampler) {
    const SamplerState* s = state(sampler, "nvnSamplerGetMaxAnisotropy");
    return s ? s->max_anisotropy : 0;
}
void nvnSamplerGetCompare(const NVNsampler* sampler, NVNcompareMode* mode, NVNcompareFunc* func) {
    get_compare(state(sampler, "nvnSamplerGetCompare"), mode, func);
}
NVNsamplerReduction nvnSamplerGetReductionFilter(const NVNsampler* sampler) {
    const SamplerState* s = state(sampler, "nvnSamplerGetReductionFilter");
    return static_cast<NVNsamplerReduction>(s ? s->reduction : 0);
}
void nvnSamplerGetBorderColor(const NVNsampler* sampler, float* borderColor) {
    if (const SamplerState* s = state(sampler, "nvnSamplerGetBorderColor"))
        get_border(*s, borderColor);
}
void nvnSamplerGetBorderColori(const NVNsampler* sampler, int* borderColor) {
    if (const SamplerState* s = state(sampler, "nvnSamplerGetBorderColori"))
        get_border_integer(*s, borderColor);
}
void nvnSamplerGetBorderColorui(const NVNsampler* sampler, uint32_t* borderColor) {
    if (const SamplerState* s = state(sampler, "nvnSamplerGetBorderColorui"))
        get_border_integer(*s, borderColor);
}

} // namespace heaviside::nvn
