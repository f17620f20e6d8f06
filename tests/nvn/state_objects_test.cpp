// State objects: defaults, read-back of every field, state held in the bytes alone (ledger OBJ-232, OBJ-233, GFX-195,
// GFX-196; defaults from include/nvn/nvn.h).
#include "tests/nvn/client.h" // first: with the client's wrappers

#include "nvn/event.h"
#include "nvn/objects.h"
#include "nvn/queue.h"
#include "nvn/window.h"

#include <malloc.h>

#include <algorithm>
#include <array>
#include <type_traits>
#include <typeinfo>

namespace heaviside::nvn {
namespace {

using test::load_procs;

// The same setters over differently filled memory give the same bytes.
template <class State, class Fill>
void expect_equal_bytes(void (*set_defaults)(State*), Fill fill) {
    State a, b;
    std::memset(&a, 0xAA, sizeof a);
    std::memset(&b, 0x55, sizeof b);
    set_defaults(&a);
    set_defaults(&b);
    EXPECT_EQ(std::memcmp(&a, &b, sizeof a), 0);
    const State defaults = a;
    fill(&a);
    fill(&b);
    EXPECT_EQ(std::memcmp(&a, &b, sizeof a), 0);
    EXPECT_NE(std::memcmp(&a, &defaults, sizeof a), 0);
}

TEST(BlendState, DefaultsAndReadBack) {
    load_procs();
    NVNblendState state;
    nvnBlendStateSetDefaults(&state);
    NVNblendFunc src, dst, src_alpha, dst_alpha;
    nvnBlendStateGetBlendFunc(&state, &src, &dst, &src_alpha, &dst_alpha);
    EXPECT_EQ(src, NVN_BLEND_FUNC_ONE);
    EXPECT_EQ(dst, NVN_BLEND_FUNC_ZERO);
    EXPECT_EQ(src_alpha, NVN_BLEND_FUNC_ONE);
    EXPECT_EQ(dst_alpha, NVN_BLEND_FUNC_ZERO);
    EXPECT_EQ(nvnBlendStateGetBlendTarget(&state), 0);
    EXPECT_EQ(nvnBlendStateGetAdvancedMode(&state), NVN_BLEND_ADVANCED_MODE_NONE);
    EXPECT_TRUE(nvnBlendStateGetAdvancedPremultipliedSrc(&state));
    EXPECT_TRUE(nvnBlendStateGetAdvancedNormalizedDst(&state));

    // The largest values of each field, all at once: none disturbs another.
    nvnBlendStateSetBlendTarget(&state, 7);
    nvnBlendStateSetBlendFunc(&state, NVN_BLEND_FUNC_ONE_MINUS_CONSTANT_ALPHA, NVN_BLEND_FUNC_ONE_MINUS_SRC1_ALPHA,
                              NVN_BLEND_FUNC_SRC_ALPHA_SATURATE, NVN_BLEND_FUNC_CONSTANT_COLOR);
    nvnBlendStateSetBlendEquation(&state, NVN_BLEND_EQUATION_MAX, NVN_BLEND_EQUATION_REVERSE_SUB);
    nvnBlendStateSetAdvancedMode(&state, NVN_BLEND_ADVANCED_MODE_HSL_LUMINOSITY);
    nvnBlendStateSetAdvancedOverlap(&state, NVN_BLEND_ADVANCED_OVERLAP_CONJOINT);
    nvnBlendStateSetAdvancedPremultipliedSrc(&state, NVN_FALSE);
    nvnBlendStateSetAdvancedNormalizedDst(&state, NVN_FALSE);
    nvnBlendStateGetBlendFunc(&state, &src, &dst, &src_alpha, &dst_alpha);
    NVNblendEquation color, alpha;
    nvnBlendStateGetBlendEquation(&state, &color, &alpha);
    EXPECT_EQ(nvnBlendStateGetBlendTarget(&state), 7);
    EXPECT_EQ(src, NVN_BLEND_FUNC_ONE_MINUS_CONSTANT_ALPHA);
    EXPECT_EQ(dst, NVN_BLEND_FUNC_ONE_MINUS_SRC1_ALPHA);
    EXPECT_EQ(src_alpha, NVN_BLEND_FUNC_SRC_ALPHA_SATURATE);
    EXPECT_EQ(dst_alpha, NVN_BLEND_FUNC_CONSTANT_COLOR);
    EXPECT_EQ(color, NVN_BLEND_EQUATION_MAX);
    EXPECT_EQ(alpha, NVN_BLEND_EQUATION_REVERSE_SUB);
    EXPECT_EQ(nvnBlendStateGetAdvancedMode(&state), NVN_BLEND_ADVANCED_MODE_HSL_LUMINOSITY);
    EXPECT_EQ(nvnBlendStateGetAdvancedOverlap(&state), NVN_BLEND_ADVANCED_OVERLAP_CONJOINT);
    EXPECT_FALSE(nvnBlendStateGetAdvancedPremultipliedSrc(&state));
    EXPECT_FALSE(nvnBlendStateGetAdvancedNormalizedDst(&state));
    nvnBlendStateSetBlendTarget(&state, 8);
    EXPECT_EQ(nvnBlendStateGetBlendTarget(&state), 7);
    // Getters take null for what the caller does not want.
    nvnBlendStateGetBlendFunc(&state, nullptr, nullptr, nullptr, &dst_alpha);
}

TEST(ChannelMaskState, EachChannelOfEachTarget) {
    load_procs();
    NVNchannelMaskState state;
    nvnChannelMaskStateSetDefaults(&state);
    for (int target = 0; target < 8; ++target) {
        for (u8 mask = 0; mask < 16; ++mask) {
            nvnChannelMaskStateSetChannelMask(&state, target, mask & 1, (mask >> 1) & 1, (mask >> 2) & 1, mask >> 3);
            for (int other = 0; other < 8; ++other) {
                NVNboolean r, g, b, a;
                nvnChannelMaskStateGetChannelMask(&state, other, &r, &g, &b, &a);
                EXPECT_EQ(unsigned(r | g << 1 | b << 2 | a << 3), other == target ? mask : 15u);
            }
        }
        nvnChannelMaskStateSetChannelMask(&state, target, 1, 1, 1, 1);
    }
}

TEST(ColorState, DefaultsAndReadBack) {
    load_procs();
    NVNcolorState state;
    nvnColorStateSetDefaults(&state);
    EXPECT_EQ(nvnColorStateGetLogicOp(&state), NVN_LOGIC_OP_COPY);
    EXPECT_EQ(nvnColorStateGetAlphaTest(&state), NVN_ALPHA_FUNC_ALWAYS);
    for (int target = 0; target < 8; ++target)
        EXPECT_FALSE(nvnColorStateGetBlendEnable(&state, target));
    nvnColorStateSetBlendEnable(&state, 0, NVN_TRUE);
    nvnColorStateSetBlendEnable(&state, 7, NVN_TRUE);
    nvnColorStateSetLogicOp(&state, NVN_LOGIC_OP_SET);
    nvnColorStateSetAlphaTest(&state, NVN_ALPHA_FUNC_NEVER);
    for (int target = 0; target < 8; ++target)
        EXPECT_EQ(nvnColorStateGetBlendEnable(&state, target), target == 0 || target == 7) << target;
    EXPECT_EQ(nvnColorStateGetLogicOp(&state), NVN_LOGIC_OP_SET);
    EXPECT_EQ(nvnColorStateGetAlphaTest(&state), NVN_ALPHA_FUNC_NEVER);
    nvnColorStateSetBlendEnable(&state, 7, NVN_FALSE);
    EXPECT_FALSE(nvnColorStateGetBlendEnable(&state, 7));
}

TEST(DepthStencilState, FacesAreIndependent) {
    load_procs();
    NVNdepthStencilState state;
    nvnDepthStencilStateSetDefaults(&state);
    EXPECT_FALSE(nvnDepthStencilStateGetDepthTestEnable(&state));
    EXPECT_FALSE(nvnDepthStencilStateGetDepthWriteEnable(&state));
    EXPECT_FALSE(nvnDepthStencilStateGetStencilTestEnable(&state));
    EXPECT_EQ(nvnDepthStencilStateGetDepthFunc(&state), NVN_DEPTH_FUNC_LESS);
    EXPECT_EQ(nvnDepthStencilStateGetStencilFunc(&state, NVN_FACE_BACK), NVN_STENCIL_FUNC_ALWAYS);

    nvnDepthStencilStateSetDepthWriteEnable(&state, NVN_TRUE);
    nvnDepthStencilStateSetDepthFunc(&state, NVN_DEPTH_FUNC_ALWAYS);
    nvnDepthStencilStateSetStencilFunc(&state, NVN_FACE_FRONT, NVN_STENCIL_FUNC_NEVER);
    nvnDepthStencilStateSetStencilOp(&state, NVN_FACE_FRONT, NVN_STENCIL_OP_DECR_WRAP, NVN_STENCIL_OP_ZERO,
                                     NVN_STENCIL_OP_INVERT);
    nvnDepthStencilStateSetStencilOp(&state, NVN_FACE_BACK, NVN_STENCIL_OP_INCR, NVN_STENCIL_OP_DECR,
                                     NVN_STENCIL_OP_REPLACE);
    NVNstencilOp fail, depth_fail, pass;
    nvnDepthStencilStateGetStencilOp(&state, NVN_FACE_FRONT, &fail, &depth_fail, &pass);
    EXPECT_EQ(fail, NVN_STENCIL_OP_DECR_WRAP);
    EXPECT_EQ(depth_fail, NVN_STENCIL_OP_ZERO);
    EXPECT_EQ(pass, NVN_STENCIL_OP_INVERT);
    nvnDepthStencilStateGetStencilOp(&state, NVN_FACE_BACK, &fail, &depth_fail, &pass);
    EXPECT_EQ(fail, NVN_STENCIL_OP_INCR);
    EXPECT_EQ(depth_fail, NVN_STENCIL_OP_DECR);
    EXPECT_EQ(pass, NVN_STENCIL_OP_REPLACE);
    EXPECT_EQ(nvnDepthStencilStateGetStencilFunc(&state, NVN_FACE_FRONT), NVN_STENCIL_FUNC_NEVER);
    EXPECT_EQ(nvnDepthStencilStateGetStencilFunc(&state, NVN_FACE_BACK), NVN_STENCIL_FUNC_ALWAYS);
    EXPECT_FALSE(nvnDepthStencilStateGetDepthTestEnable(&state));
    EXPECT_TRUE(nvnDepthStencilStateGetDepthWriteEnable(&state));
    EXPECT_EQ(nvnDepthStencilStateGetDepthFunc(&state), NVN_DEPTH_FUNC_ALWAYS);
}

TEST(MultisampleState, DefaultsAndReadBack) { // OBJ-233
    load_procs();
    NVNmultisampleState state;
    nvnMultisampleStateSetDefaults(&state);
    EXPECT_TRUE(nvnMultisampleStateGetMultisampleEnable(&state));
    EXPECT_EQ(nvnMultisampleStateGetSamples(&state), 0);
    EXPECT_FALSE(nvnMultisampleStateGetAlphaToCoverageEnable(&state));
    nvnMultisampleStateSetMultisampleEnable(&state, NVN_FALSE);
    nvnMultisampleStateSetSamples(&state, 8);
    nvnMultisampleStateSetRasterSamples(&state, 16);
    nvnMultisampleStateSetAlphaToCoverageEnable(&state, NVN_TRUE);
    nvnMultisampleStateSetAlphaToCoverageDither(&state, NVN_TRUE);
    nvnMultisampleStateSetCoverageToColorEnable(&state, NVN_TRUE);
    nvnMultisampleStateSetCoverageToColorOutput(&state, 7);
    nvnMultisampleStateSetCoverageModulationMode(&state, NVN_COVERAGE_MODULATION_MODE_RGBA);
    nvnMultisampleStateSetSampleLocationsEnable(&state, NVN_TRUE);
    nvnMultisampleStateSetSampleLocationsGridEnable(&state, NVN_TRUE);
    EXPECT_FALSE(nvnMultisampleStateGetMultisampleEnable(&state));
    EXPECT_EQ(nvnMultisampleStateGetSamples(&state), 8);
    EXPECT_EQ(nvnMultisampleStateGetRasterSamples(&state), 16);
    EXPECT_TRUE(nvnMultisampleStateGetAlphaToCoverageEnable(&state));
    EXPECT_TRUE(nvnMultisampleStateGetAlphaToCoverageDither(&state));
    EXPECT_TRUE(nvnMultisampleStateGetCoverageToColorEnable(&state));
    EXPECT_EQ(nvnMultisampleStateGetCoverageToColorOutput(&state), 7);
    EXPECT_EQ(nvnMultisampleStateGetCoverageModulationMode(&state), NVN_COVERAGE_MODULATION_MODE_RGBA);
    EXPECT_TRUE(nvnMultisampleStateGetSampleLocationsEnable(&state));
    EXPECT_TRUE(nvnMultisampleStateGetSampleLocationsGridEnable(&state));
}

TEST(MultisampleState, SampleLocationsChangeTheState) {
    load_procs();
    NVNmultisampleState a, b;
    nvnMultisampleStateSetDefaults(&a);
    b = a;
    const float locations[] = {0.5f, 0.25f};
    nvnMultisampleStateSetSampleLocations(&a, 15, 1, locations);
    EXPECT_NE(std::memcmp(&a, &b, sizeof a), 0);
    b = a;
    nvnMultisampleStateSetSampleLocations(&a, 16, 1, locations); // outside the table
    nvnMultisampleStateSetSampleLocations(&a, -1, 1, locations);
    nvnMultisampleStateSetSampleLocations(&a, 2, 15, locations);
    EXPECT_EQ(std::memcmp(&a, &b, sizeof a), 0);
}

TEST(PolygonState, DefaultsAndReadBack) {
    load_procs();
    NVNpolygonState state;
    nvnPolygonStateSetDefaults(&state);
    EXPECT_EQ(nvnPolygonStateGetCullFace(&state), NVN_FACE_NONE);
    EXPECT_EQ(nvnPolygonStateGetFrontFace(&state), NVN_FRONT_FACE_CCW);
    EXPECT_EQ(nvnPolygonStateGetPolygonMode(&state), NVN_POLYGON_MODE_FILL);
    EXPECT_EQ(nvnPolygonStateGetPolygonOffsetEnables(&state), NVN_POLYGON_OFFSET_ENABLE_NONE);
    nvnPolygonStateSetCullFace(&state, NVN_FACE_FRONT_AND_BACK);
    nvnPolygonStateSetFrontFace(&state, NVN_FRONT_FACE_CW);
    nvnPolygonStateSetPolygonMode(&state, NVN_POLYGON_MODE_LINE);
    nvnPolygonStateSetPolygonOffsetEnables(&state, NVN_POLYGON_OFFSET_ENABLE_POINT | NVN_POLYGON_OFFSET_ENABLE_FILL);
    EXPECT_EQ(nvnPolygonStateGetCullFace(&state), NVN_FACE_FRONT_AND_BACK);
    EXPECT_EQ(nvnPolygonStateGetFrontFace(&state), NVN_FRONT_FACE_CW);
    EXPECT_EQ(nvnPolygonStateGetPolygonMode(&state), NVN_POLYGON_MODE_LINE);
    EXPECT_EQ(int(nvnPolygonStateGetPolygonOffsetEnables(&state)), 5);
}

TEST(VertexState, ArraysAtTheirStrides) { // GFX-195
    load_procs();
    std::array<NVNvertexAttribState, 16> attribs;
    std::array<NVNvertexStreamState, 16> streams;
    ASSERT_EQ(sizeof attribs, 64u);
    ASSERT_EQ(sizeof streams, 128u);
    for (int i = 0; i < 16; ++i) {
        nvnVertexAttribStateSetDefaults(&attribs[size_t(i)]);
        nvnVertexStreamStateSetDefaults(&streams[size_t(i)]);
        nvnVertexAttribStateSetFormat(&attribs[size_t(i)], static_cast<NVNformat>(0x10 + i), 1000 + i);
        nvnVertexAttribStateSetStreamIndex(&attribs[size_t(i)], 15 - i);
        nvnVertexStreamStateSetStride(&streams[size_t(i)], 0x10000 + i);
        nvnVertexStreamStateSetDivisor(&streams[size_t(i)], 70000 + i);
    }
    for (int i = 0; i < 16; ++i) {
        NVNformat format;
        ptrdiff_t offset;
        nvnVertexAttribStateGetFormat(&attribs[size_t(i)], &format, &offset);
        EXPECT_EQ(format, 0x10 + i);
        EXPECT_EQ(offset, 1000 + i);
        EXPECT_EQ(nvnVertexAttribStateGetStreamIndex(&attribs[size_t(i)]), 15 - i);
        EXPECT_EQ(nvnVertexStreamStateGetStride(&streams[size_t(i)]), 0x10000 + i);
        EXPECT_EQ(nvnVertexStreamStateGetDivisor(&streams[size_t(i)]), 70000 + i);
    }
}

TEST(StateObjects, SetDefaultsAllocatesNothing) { // GFX-199
    load_procs();
    NVNtextureBuilder texture;
    NVNsamplerBuilder sampler;
    NVNblendState blend;
    const auto used = [] { return mallinfo2().uordblks; };
    const auto before = used();
    for (int i = 0; i < 1'000'000; ++i) {
        nvnTextureBuilderSetDefaults(&texture);
        nvnSamplerBuilderSetDefaults(&sampler);
        nvnBlendStateSetDefaults(&blend);
    }
    EXPECT_EQ(used(), before);
}

// Views and builders: their state stands in the bytes that the layouts have, and nothing else does. A builder begins
// with the device that it was given.
template <class Object, class Change>
void expect_equal_layouts(void (*set_defaults)(Object*), Change change) {
    using Layout = std::remove_reference_t<decltype(*layout(static_cast<Object*>(nullptr)))>;
    Object objects[3];
    std::memset(static_cast<void*>(&objects[0]), 0x00, sizeof(Object));
    std::memset(static_cast<void*>(&objects[1]), 0xFF, sizeof(Object));
    std::memset(static_cast<void*>(&objects[2]), 0x00, sizeof(Object));
    for (Object& object : objects) {
        if constexpr (requires(Layout & l) { l.device; })
            layout(&object)->device = nullptr; // what SetDefaults keeps
        set_defaults(&object);
    }
    change(&objects[0]);
    change(&objects[1]);
    EXPECT_EQ(std::memcmp(&objects[0], &objects[1], sizeof(Layout)), 0) << typeid(Object).name();
    EXPECT_NE(std::memcmp(&objects[0], &objects[2], sizeof(Layout)), 0) << typeid(Object).name();
    if constexpr (sizeof(Object) > sizeof(Layout)) { // nothing outside them
        const auto* const bytes = reinterpret_cast<const unsigned char*>(&objects[1]);
        EXPECT_TRUE(std::all_of(bytes + sizeof(Layout), bytes + sizeof(Object), [](unsigned char b) {
            return b == 0xFF;
        })) << typeid(Object).name();
    }
}

TEST(ViewsAndBuilders, EqualStateIsEqualBytes) { // OBJ-009
    load_procs();
    int memory = 0;
    expect_equal_layouts(pfnc_nvnTextureViewSetDefaults, [](NVNtextureView* v) {
        nvnTextureViewSetLevels(v, 1, 2);
        nvnTextureViewSetSwizzle(v, NVN_TEXTURE_SWIZZLE_A, NVN_TEXTURE_SWIZZLE_B, NVN_TEXTURE_SWIZZLE_G,
                                 NVN_TEXTURE_SWIZZLE_R);
    });
    expect_equal_layouts(pfnc_nvnTextureViewSetDefaults, [](NVNtextureView* v) {
        nvnTextureViewSetFormat(v, NVN_FORMAT_R32F);
        nvnTextureViewSetLayers(v, 3, 4);
        nvnTextureViewSetTarget(v, NVN_TEXTURE_TARGET_2D);
        nvnTextureViewSetDepthStencilMode(v, NVN_TEXTURE_DEPTH_STENCIL_MODE_STENCIL);
    });
    expect_equal_layouts(pfnc_nvnTextureBuilderSetDefaults, [](NVNtextureBuilder* b) {
        nvnTextureBuilderSetTarget(b, NVN_TEXTURE_TARGET_2D);
        nvnTextureBuilderSetSize2D(b, 64, 32);
        nvnTextureBuilderSetFormat(b, NVN_FORMAT_RGBA8);
    });
    expect_equal_layouts(pfnc_nvnSamplerBuilderSetDefaults,
                         [](NVNsamplerBuilder* b) { nvnSamplerBuilderSetLodBias(b, 2.5f); });
    expect_equal_layouts(pfnc_nvnMemoryPoolBuilderSetDefaults,
                         [&](NVNmemoryPoolBuilder* b) { nvnMemoryPoolBuilderSetStorage(b, &memory, 4096); });
    expect_equal_layouts(pfnc_nvnBufferBuilderSetDefaults,
                         [](NVNbufferBuilder* b) { nvnBufferBuilderSetStorage(b, nullptr, 16, 64); });
    expect_equal_layouts(pfnc_nvnDeviceBuilderSetDefaults,
                         [](NVNdeviceBuilder* b) { nvnDeviceBuilderSetFlags(b, NVN_DEVICE_FLAG_DEBUG_ENABLE_BIT); });
    expect_equal_layouts(pfnc_nvnQueueBuilderSetDefaults,
                         [](NVNqueueBuilder* b) { nvnQueueBuilderSetCommandMemorySize(b, 0x20000); });
    expect_equal_layouts(pfnc_nvnWindowBuilderSetDefaults,
                         [](NVNwindowBuilder* b) { nvnWindowBuilderSetPresentInterval(b, 2); });
    expect_equal_layouts(pfnc_nvnEventBuilderSetDefaults,
                         [](NVNeventBuilder* b) { nvnEventBuilderSetStorage(b, nullptr, 64); });
}

TEST(StateObjects, EqualStateIsEqualBytes) { // OBJ-009
    load_procs();
    expect_equal_bytes(pfnc_nvnBlendStateSetDefaults, [](NVNblendState* s) { nvnBlendStateSetBlendTarget(s, 3); });
    expect_equal_bytes(pfnc_nvnChannelMaskStateSetDefaults,
                       [](NVNchannelMaskState* s) { nvnChannelMaskStateSetChannelMask(s, 3, 1, 0, 1, 0); });
    expect_equal_bytes(pfnc_nvnColorStateSetDefaults,
                       [](NVNcolorState* s) { nvnColorStateSetLogicOp(s, NVN_LOGIC_OP_XOR); });
    expect_equal_bytes(pfnc_nvnDepthStencilStateSetDefaults,
                       [](NVNdepthStencilState* s) { nvnDepthStencilStateSetDepthTestEnable(s, 1); });
    expect_equal_bytes(pfnc_nvnMultisampleStateSetDefaults,
                       [](NVNmultisampleState* s) { nvnMultisampleStateSetSamples(s, 4); });
    expect_equal_bytes(pfnc_nvnPolygonStateSetDefaults,
                       [](NVNpolygonState* s) { nvnPolygonStateSetCullFace(s, NVN_FACE_BACK); });
    expect_equal_bytes(pfnc_nvnVertexAttribStateSetDefaults,
                       [](NVNvertexAttribState* s) { nvnVertexAttribStateSetStreamIndex(s, 9); });
    expect_equal_bytes(pfnc_nvnVertexStreamStateSetDefaults,
                       [](NVNvertexStreamState* s) { nvnVertexStreamStateSetDivisor(s, 9); });
}

} // namespace
} // namespace heaviside::nvn
