// What each call records: arguments by value, booleans by their low 8 bits, invalid arguments as one error and nothing.
#include "command_fixture.h"

#include <limits>

namespace heaviside::nvn {
namespace {

using namespace stream;

class CommandRecord : public CommandTest {
protected:
    CommandRecord() { begin(cmd, 0, 64 * 1024); }
    ~CommandRecord() override {
        if (nvnCommandBufferIsRecording(&cmd))
            nvnCommandBufferEndRecording(&cmd);
    }
    void finish() {
        submit(nvnCommandBufferEndRecording(&cmd));
        ASSERT_EQ(sink.submissions.size(), 1u);
        ASSERT_TRUE(for_each_record(std::as_bytes(std::span(sink.submissions[0].words)),
                                    [&](const stream::Record& record) { recorded.push_back(record); }));
    }
    template <class T>
    const T& at(std::size_t index) {
        EXPECT_EQ(recorded.at(index).type(), RecordTraits<T>::type) << name(recorded.at(index).type());
        return recorded[index].as<T>();
    }
    std::vector<stream::Record> recorded; // in sink.submissions[0]
};

// Bound state is consumed at the call: later edits and dead temporaries do not matter.
TEST_F(CommandRecord, StateObjectsAreCopied) {
    {
        NVNblendState blend;
        nvnBlendStateSetDefaults(&blend);
        nvnBlendStateSetBlendTarget(&blend, 5);
        nvnBlendStateSetBlendFunc(&blend, NVN_BLEND_FUNC_ONE_MINUS_CONSTANT_ALPHA, NVN_BLEND_FUNC_SRC_ALPHA,
                                  NVN_BLEND_FUNC_ZERO, NVN_BLEND_FUNC_ONE);
        nvnBlendStateSetBlendEquation(&blend, NVN_BLEND_EQUATION_MAX, NVN_BLEND_EQUATION_SUB);
        nvnCommandBufferBindBlendState(&cmd, &blend);
        std::memset(&blend, 0xff, sizeof blend);
        NVNdepthStencilState depth;
        nvnDepthStencilStateSetDefaults(&depth);
        nvnDepthStencilStateSetDepthTestEnable(&depth, yes);
        nvnDepthStencilStateSetDepthFunc(&depth, NVN_DEPTH_FUNC_GEQUAL);
        nvnCommandBufferBindDepthStencilState(&cmd, &depth);
        NVNchannelMaskState mask;
        nvnChannelMaskStateSetDefaults(&mask);
        nvnChannelMaskStateSetChannelMask(&mask, 1, yes, no, no, yes);
        nvnCommandBufferBindChannelMaskState(&cmd, &mask);
        NVNcolorState color;
        nvnColorStateSetDefaults(&color);
        nvnColorStateSetBlendEnable(&color, 2, yes);
        nvnCommandBufferBindColorState(&cmd, &color);
        NVNpolygonState polygon;
        nvnPolygonStateSetDefaults(&polygon);
        nvnPolygonStateSetCullFace(&polygon, NVN_FACE_BACK);
        nvnCommandBufferBindPolygonState(&cmd, &polygon);
        NVNmultisampleState multisample;
        nvnMultisampleStateSetDefaults(&multisample);
        nvnMultisampleStateSetSamples(&multisample, 4);
        nvnCommandBufferBindMultisampleState(&cmd, &multisample);
    }
    finish();
    const BlendState& blend = at<BindBlendState>(0).state;
    EXPECT_EQ(blend.target, 5u);
    EXPECT_EQ(blend.source_color, 0x64u);
    EXPECT_EQ(blend.dest_color, 0x5u);
    EXPECT_EQ(blend.source_alpha, 0x1u);
    EXPECT_EQ(blend.dest_alpha, 0x2u);
    EXPECT_EQ(blend.color_equation, 5u);
    EXPECT_EQ(blend.alpha_equation, 2u);
    EXPECT_EQ(at<BindDepthStencilState>(1).state.depth_test, 1u);
    EXPECT_EQ(at<BindDepthStencilState>(1).state.depth_func, 7u);
    EXPECT_EQ(at<BindChannelMaskState>(2).state.masks, 0xffff'ff9fu);
    EXPECT_EQ(at<BindColorState>(3).state.blend_enable, 4u);
    EXPECT_EQ(at<BindPolygonState>(4).state.cull_face, 2u);
    EXPECT_EQ(at<BindMultisampleState>(5).state.samples, 4u);
}

TEST_F(CommandRecord, VertexStateComesAsArrays) {
    NVNvertexAttribState attribs[2];
    NVNvertexStreamState streams[1];
    for (NVNvertexAttribState& attrib : attribs)
        nvnVertexAttribStateSetDefaults(&attrib);
    nvnVertexAttribStateSetFormat(&attribs[1], NVN_FORMAT_RG32F, 12);
    nvnVertexAttribStateSetStreamIndex(&attribs[1], 3);
    nvnVertexStreamStateSetDefaults(&streams[0]);
    nvnVertexStreamStateSetStride(&streams[0], 20);
    nvnVertexStreamStateSetDivisor(&streams[0], 2);
    nvnCommandBufferBindVertexAttribState(&cmd, 2, attribs);
    nvnCommandBufferBindVertexStreamState(&cmd, 1, streams);
    nvnCommandBufferBindVertexAttribState(&cmd, 0, nullptr);
    nvnCommandBufferBindVertexAttribState(&cmd, 17, attribs);
    EXPECT_EQ(take_errors(), 1u);
    finish();
    const auto bound = recorded.at(0).tail<BindVertexAttribState, VertexAttribState>();
    ASSERT_EQ(bound.size(), 2u);
    EXPECT_EQ(bound[1].format, static_cast<u32>(NVN_FORMAT_RG32F));
    EXPECT_EQ(bound[1].offset, 12u);
    EXPECT_EQ(bound[1].stream, 3u);
    const auto stream_states = recorded.at(1).tail<BindVertexStreamState, VertexStreamState>();
    ASSERT_EQ(stream_states.size(), 1u);
    EXPECT_EQ(stream_states[0].stride, 20u);
    EXPECT_EQ(stream_states[0].divisor, 2u);
    EXPECT_EQ((recorded.at(2).tail<BindVertexAttribState, VertexAttribState>().size()), 0u);
    EXPECT_EQ(recorded.size(), 3u);
}

// Argument order: first, count, base instance, instance count; count, address, base vertex, base instance, instances.
TEST_F(CommandRecord, DrawsKeepTheirArguments) {
    nvnCommandBufferDrawArrays(&cmd, NVN_DRAW_PRIMITIVE_QUADS, 4, 8);
    nvnCommandBufferDrawArraysInstanced(&cmd, NVN_DRAW_PRIMITIVE_LINES, 1, 2, 3, 4);
    nvnCommandBufferDrawElements(&cmd, NVN_DRAW_PRIMITIVE_TRIANGLES, NVN_INDEX_TYPE_UNSIGNED_BYTE, 6, 0x1'0000'0001);
    nvnCommandBufferDrawElementsBaseVertex(&cmd, NVN_DRAW_PRIMITIVE_TRIANGLES, NVN_INDEX_TYPE_UNSIGNED_INT, 6, 0x2000,
                                           -7);
    nvnCommandBufferDrawElementsInstanced(&cmd, NVN_DRAW_PRIMITIVE_PATCHES, NVN_INDEX_TYPE_UNSIGNED_SHORT, 1, 0x3000, 2,
                                          3, 4);
    nvnCommandBufferDrawArraysIndirect(&cmd, NVN_DRAW_PRIMITIVE_POINTS, 0x4000);
    nvnCommandBufferDrawElementsIndirect(&cmd, NVN_DRAW_PRIMITIVE_POINTS, NVN_INDEX_TYPE_UNSIGNED_INT, 0x5000, 0x6000);
    nvnCommandBufferMultiDrawArraysIndirectCount(&cmd, NVN_DRAW_PRIMITIVE_POINTS, 0x7000, 0x8000, 9, 16);
    nvnCommandBufferMultiDrawElementsIndirectCount(&cmd, NVN_DRAW_PRIMITIVE_POINTS, NVN_INDEX_TYPE_UNSIGNED_INT, 0x9000,
                                                   0xa000, 0xb000, 10, 20);
    nvnCommandBufferDispatchCompute(&cmd, 1, 2, 3);
    nvnCommandBufferDispatchComputeIndirect(&cmd, 0xc000);
    nvnCommandBufferDrawTransformFeedback(&cmd, NVN_DRAW_PRIMITIVE_POINTS, 0xd000);
    const NVNdrawTextureRegion target{1, 2, 3, 4}, source{5, 6, 7, 8};
    nvnCommandBufferDrawTexture(&cmd, 0x9'0010'0101, &target, &source);
    nvnCommandBufferDrawTexture(&cmd, 1, nullptr, &source);
    EXPECT_EQ(take_errors(), 1u);
    finish();
    EXPECT_EQ(at<DrawArrays>(0).primitive, 7u);
    EXPECT_EQ(at<DrawArrays>(0).first, 4);
    EXPECT_EQ(+at<DrawArrays>(0).count, 8);
    const auto& arrays = at<DrawArraysInstanced>(1);
    EXPECT_EQ((std::array{arrays.first, arrays.count, arrays.base_instance, arrays.instance_count}),
              (std::array{1, 2, 3, 4}));
    EXPECT_EQ(at<DrawElements>(2).index_type, 0u);
    EXPECT_EQ(+at<DrawElements>(2).indices, 0x1'0000'0001u); // any byte address
    const auto& base_vertex = at<DrawElementsInstanced>(3);
    EXPECT_EQ((std::array{base_vertex.base_vertex, base_vertex.base_instance, base_vertex.instance_count}),
              (std::array{-7, 0, 1}));
    const auto& elements = at<DrawElementsInstanced>(4);
    EXPECT_EQ((std::array{elements.base_vertex, elements.base_instance, elements.instance_count}),
              (std::array{2, 3, 4}));
    EXPECT_EQ(elements.primitive, 14u);
    EXPECT_EQ(+at<DrawArraysIndirect>(5).arguments, 0x4000u);
    EXPECT_EQ(+at<DrawElementsIndirect>(6).indices, 0x5000u);
    EXPECT_EQ(+at<DrawElementsIndirect>(6).arguments, 0x6000u);
    const auto& multi = at<DrawArraysIndirectCount>(7);
    EXPECT_EQ(+multi.arguments, 0x7000u);
    EXPECT_EQ(+multi.count, 0x8000u);
    EXPECT_EQ(multi.max_draws, 9u);
    EXPECT_EQ(multi.stride, 16);
    const auto& multi_elements = at<DrawElementsIndirectCount>(8);
    EXPECT_EQ(+multi_elements.indices, 0x9000u);
    EXPECT_EQ(+multi_elements.arguments, 0xa000u);
    EXPECT_EQ(+multi_elements.count, 0xb000u);
    EXPECT_EQ(at<Dispatch>(9).groups[2], 3u);
    EXPECT_EQ(+at<DispatchIndirect>(10).arguments, 0xc000u);
    EXPECT_EQ(+at<DrawTransformFeedback>(11).control, 0xd000u);
    EXPECT_EQ(at<DrawTexture>(12).handle, 0x0010'0101u);
    EXPECT_EQ(at<DrawTexture>(12).source[3], 8.0f);
    EXPECT_EQ(recorded.size(), 13u);
}

TEST_F(CommandRecord, BindsKeepStageSlotAndRange) {
    nvnCommandBufferBindUniformBuffer(&cmd, NVN_SHADER_STAGE_COMPUTE, 13, 0x1'2345'6700, 65536);
    const NVNbufferRange ranges[2] = {{0x1000, 256}, {0x2000, std::numeric_limits<u64>::max()}};
    nvnCommandBufferBindUniformBuffers(&cmd, NVN_SHADER_STAGE_FRAGMENT, 12, 2, ranges);
    nvnCommandBufferBindStorageBuffers(&cmd, NVN_SHADER_STAGE_VERTEX, 14, 2, ranges);
    nvnCommandBufferBindVertexBuffers(&cmd, 14, 2, ranges);
    nvnCommandBufferBindTransformFeedbackBuffer(&cmd, 3, 0x3000, 64);
    // One slot too far each.
    nvnCommandBufferBindUniformBuffer(&cmd, NVN_SHADER_STAGE_VERTEX, 14, 0x1000, 256);
    nvnCommandBufferBindUniformBuffers(&cmd, NVN_SHADER_STAGE_VERTEX, 13, 2, ranges);
    nvnCommandBufferBindStorageBuffer(&cmd, NVN_SHADER_STAGE_VERTEX, 16, 0x1000, 256);
    nvnCommandBufferBindVertexBuffer(&cmd, -1, 0x1000, 256);
    nvnCommandBufferBindTransformFeedbackBuffer(&cmd, 4, 0x1000, 256);
    nvnCommandBufferBindUniformBuffer(&cmd, static_cast<NVNshaderStage>(6), 0, 0x1000, 256);
    EXPECT_EQ(take_errors(), 6u);
    finish();
    EXPECT_EQ(at<BindUniformBuffer>(0).stage, Stage::Compute);
    EXPECT_EQ(at<BindUniformBuffer>(0).index, 13);
    EXPECT_EQ(+at<BindUniformBuffer>(0).address, 0x1'2345'6700u);
    EXPECT_EQ(+at<BindUniformBuffer>(0).size, 65536u);
    EXPECT_EQ(at<BindUniformBuffer>(2).index, 13);
    EXPECT_EQ(+at<BindUniformBuffer>(2).size, 0xffff'ffffu);
    EXPECT_EQ(at<BindStorageBuffer>(3).index, 14);
    EXPECT_EQ(at<BindVertexBuffer>(6).index, 15u);
    EXPECT_EQ(+at<BindVertexBuffer>(6).size, std::numeric_limits<u64>::max());
    EXPECT_EQ(at<BindTransformFeedbackBuffer>(7).index, 3u);
    EXPECT_EQ(recorded.size(), 8u);
}

// Ledger OBJ-220, OBJ-251: the GPU's words are the low 32 bits; a plural bind fills consecutive slots.
TEST_F(CommandRecord, HandlesAre32Bits) {
    const NVNtextureHandle textures[5] = {0x1'0000'0001, 2, 3, 4, 0xFFFF'FFFF};
    nvnCommandBufferBindTextures(&cmd, NVN_SHADER_STAGE_FRAGMENT, 3, 5, textures);
    nvnCommandBufferBindSeparateTexture(&cmd, NVN_SHADER_STAGE_FRAGMENT, 127, {0x1'0000'01D1});
    nvnCommandBufferBindSeparateSampler(&cmd, NVN_SHADER_STAGE_FRAGMENT, 31, {0x1'1000'0000});
    nvnCommandBufferBindImage(&cmd, NVN_SHADER_STAGE_COMPUTE, 7, 0x1'0000'0102);
    nvnCommandBufferBindTextures(&cmd, NVN_SHADER_STAGE_FRAGMENT, 28, 5, textures);
    nvnCommandBufferBindImage(&cmd, NVN_SHADER_STAGE_COMPUTE, 8, 1);
    EXPECT_EQ(take_errors(), 2u);
    finish();
    const auto& plural = at<BindHandles>(0);
    EXPECT_EQ(plural.first, 3);
    EXPECT_EQ(plural.count, 5);
    const auto handles = recorded[0].tail<BindHandles, u32>();
    EXPECT_EQ(std::vector<u32>(handles.begin(), handles.end()), (std::vector<u32>{1, 2, 3, 4, 0xFFFF'FFFF}));
    EXPECT_EQ(at<BindHandles>(1).kind, HandleKind::SeparateTexture);
    EXPECT_EQ((recorded[1].tail<BindHandles, u32>()[0]), 0x1D1u);
    EXPECT_EQ(at<BindHandles>(2).kind, HandleKind::SeparateSampler);
    EXPECT_EQ(at<BindHandles>(3).kind, HandleKind::Image);
    EXPECT_EQ(recorded.size(), 4u);
}

// No prototype is known: they do as their siblings without "Deferred", with what the memory holds in the end where the
// GPU can read it.
TEST_F(CommandRecord, DeferredBindsBind) {
    const NVNtextureHandle textures[2] = {5, 6};
    const NVNbufferRange range{0x1000, 256};
    nvnCommandBufferBindTexturesDeferred(&cmd, NVN_SHADER_STAGE_VERTEX, 1, 2, textures);
    nvnCommandBufferBindUniformBuffersDeferred(&cmd, NVN_SHADER_STAGE_VERTEX, 2, 1, &range);
    nvnCommandBufferSetProvokingVertexMode(&cmd, 1);
    finish();
    EXPECT_EQ(at<BindHandles>(0).first, 1);
    EXPECT_EQ(at<BindUniformBuffer>(1).index, 2);
    EXPECT_EQ(at<SetProvokingVertex>(2).mode, 1u);
}

// Ledger GFX-029: only the low 8 bits of a boolean argument count.
TEST_F(CommandRecord, BooleansAreMasked) {
    for (const u32 bits : {0x100u, 0x101u, 0xffff'ff00u, 0xffu}) {
        nvnCommandBufferSetDepthClamp(&cmd, BooleanArgument{bits});
        nvnCommandBufferSetRasterizerDiscard(&cmd, BooleanArgument{bits});
        nvnCommandBufferSetPrimitiveRestart(&cmd, BooleanArgument{bits}, 0xffff);
        nvnCommandBufferSetDepthBounds(&cmd, BooleanArgument{bits}, 0.25f, 0.5f);
        nvnCommandBufferSetRenderEnable(&cmd, BooleanArgument{bits});
        nvnCommandBufferSetConservativeRasterEnable(&cmd, BooleanArgument{bits});
        nvnCommandBufferClearDepthStencil(&cmd, 1, BooleanArgument{bits}, 0, 0xff);
    }
    finish();
    for (std::size_t i = 0; i < 4; ++i) {
        const u32 expected = i % 2;
        EXPECT_EQ(at<SetDepthClamp>(7 * i).enable, expected);
        EXPECT_EQ(at<SetRasterizerDiscard>(7 * i + 1).discard, expected);
        EXPECT_EQ(at<SetPrimitiveRestart>(7 * i + 2).enable, expected);
        EXPECT_EQ(at<SetPrimitiveRestart>(7 * i + 2).index, 0xffffu);
        EXPECT_EQ(at<SetDepthBounds>(7 * i + 3).enable, expected);
        EXPECT_EQ(at<SetDepthBounds>(7 * i + 3).maximum, 0.5f);
        EXPECT_EQ(at<SetRenderEnable>(7 * i + 4).enable, expected);
        EXPECT_EQ(at<SetConservativeRaster>(7 * i + 5).enable, expected);
        EXPECT_EQ(at<ClearDepthStencil>(7 * i + 6).depth_mask, expected);
    }
}

TEST_F(CommandRecord, ViewportsAreFlatArrays) {
    nvnCommandBufferSetViewport(&cmd, 1, 2, 3, 4);
    nvnCommandBufferSetScissor(&cmd, 0, 0, 0x7FFFFFFF, 0x7FFFFFFF);
    const float viewports[8] = {0, 1, 2, 3, 4, 5, 6, 7};
    nvnCommandBufferSetViewports(&cmd, 14, 2, viewports);
    nvnCommandBufferSetDepthRanges(&cmd, 0, 4, viewports);
    NVNviewportSwizzle swizzles[64];
    for (int i = 0; i < 64; ++i)
        swizzles[i] = static_cast<NVNviewportSwizzle>(i % 8);
    nvnCommandBufferSetViewportSwizzles(&cmd, 0, 16, swizzles);
    nvnCommandBufferSetViewports(&cmd, 15, 2, viewports);
    nvnCommandBufferSetViewports(&cmd, 0, 1, nullptr);
    EXPECT_EQ(take_errors(), 2u);
    finish();
    const auto one = recorded.at(0).tail<SetViewports, Viewport>();
    ASSERT_EQ(one.size(), 1u);
    EXPECT_EQ(one[0].width, 3.0f);
    EXPECT_EQ((recorded.at(1).tail<SetScissors, Scissor>()[0].height), 0x7FFFFFFF);
    const auto two = recorded.at(2).tail<SetViewports, Viewport>();
    ASSERT_EQ(two.size(), 2u);
    EXPECT_EQ(at<SetViewports>(2).first, 14);
    EXPECT_EQ(two[1].x, 4.0f);
    EXPECT_EQ((recorded.at(3).tail<SetDepthRanges, DepthRange>()[3].far_value), 7.0f);
    const auto turned = recorded.at(4).tail<SetViewportSwizzles, ViewportSwizzle>();
    ASSERT_EQ(turned.size(), 16u);
    EXPECT_EQ(turned[15].x, 4);
    EXPECT_EQ(turned[15].w, 7);
}

// Ledger REN-003: the texture is copied whole, and the view resolved.
TEST_F(CommandRecord, RenderTargetsAreCopies) {
    NVNtexture color = make_texture(320, 200);
    NVNtexture depth = make_texture(320, 200, NVN_FORMAT_DEPTH32F, 0x80000);
    NVNtextureView view;
    nvnTextureViewSetDefaults(&view);
    nvnTextureViewSetFormat(&view, NVN_FORMAT_RGBA8_SRGB);
    const NVNtexture* colors[3] = {&color, nullptr, &color};
    const NVNtextureView* views[3] = {nullptr, nullptr, &view};
    nvnCommandBufferSetRenderTargets(&cmd, 3, colors, views, &depth, nullptr);
    std::memset(&color, 0xee, sizeof color);
    nvnCommandBufferSetRenderTargets(&cmd, 0, nullptr, nullptr, &depth, nullptr);
    nvnCommandBufferSetRenderTargets(&cmd, 0, nullptr, nullptr, nullptr, nullptr);
    nvnCommandBufferSetRenderTargets(&cmd, 1, colors, nullptr, nullptr, nullptr); // no texture any more
    nvnCommandBufferSetRenderTargets(&cmd, 9, colors, nullptr, nullptr, nullptr);
    EXPECT_EQ(take_errors(), 2u);
    finish();
    EXPECT_EQ(at<SetRenderTargets>(0).present, 0x105);
    EXPECT_EQ(at<SetRenderTargets>(0).color_count, 3);
    const auto images = recorded[0].tail<SetRenderTargets, ImageDescription>();
    ASSERT_EQ(images.size(), 3u);
    EXPECT_EQ(images[0].texture.width, 320u);
    EXPECT_EQ(images[0].texture.height, 200);
    EXPECT_EQ(+images[0].texture.address, reinterpret_cast<u64>(memory(0x40000)));
    EXPECT_EQ(images[0].view.format, NVN_FORMAT_RGBA8);
    EXPECT_EQ(images[1].view.format, NVN_FORMAT_RGBA8_SRGB);
    EXPECT_EQ(images[1].texture.format, NVN_FORMAT_RGBA8);
    EXPECT_EQ(images[2].view.format, NVN_FORMAT_DEPTH32F);
    EXPECT_EQ(images[2].view.level_count, 1);
    EXPECT_EQ(at<SetRenderTargets>(1).present, 0x100);
    EXPECT_EQ(at<SetRenderTargets>(2).present, 0);
    EXPECT_EQ(recorded.size(), 3u);
}

// Ledger REN-096: integer clears keep every bit.
TEST_F(CommandRecord, ClearsKeepTheirClass) {
    const NVNtexture texture = make_texture(16, 16);
    const float f[4] = {0.5f, 1, 0, 1};
    const int i[4] = {-1, 2, 3, std::numeric_limits<int>::min()};
    const u32 u[4] = {0x0100'0001, 0xffff'ffff, 0, 1};
    nvnCommandBufferClearColor(&cmd, 0, f, NVN_CLEAR_COLOR_MASK_RGBA);
    nvnCommandBufferClearColori(&cmd, 7, i, NVN_CLEAR_COLOR_MASK_R_BIT);
    nvnCommandBufferClearColorui(&cmd, 1, u, NVN_CLEAR_COLOR_MASK_A_BIT);
    const NVNcopyRegion region{1, 2, 0, 3, 4, 1};
    nvnCommandBufferClearTextureui(&cmd, &texture, nullptr, &region, u, 0xf);
    nvnCommandBufferClearDepthStencil(&cmd, 0.25f, no, 0x80, -1); // stencil alone
    nvnCommandBufferClearBuffer(&cmd, 0x1000, 64, 0xdeadbeef);
    nvnCommandBufferClearColor(&cmd, 8, f, 0xf);
    nvnCommandBufferClearColor(&cmd, 0, nullptr, 0xf);
    nvnCommandBufferClearTexture(&cmd, nullptr, nullptr, &region, f, 0xf);
    EXPECT_EQ(take_errors(), 3u);
    finish();
    EXPECT_EQ(at<ClearColor>(0).value[0], 0x3f00'0000u);
    EXPECT_EQ(at<ClearColor>(0).value_class, ClearClass::Float);
    EXPECT_EQ(at<ClearColor>(1).value[3], 0x8000'0000u);
    EXPECT_EQ(at<ClearColor>(1).target, 7);
    EXPECT_EQ(at<ClearColor>(1).mask, 1);
    EXPECT_EQ(at<ClearColor>(2).value[0], 0x0100'0001u);
    EXPECT_EQ(at<ClearColor>(2).value_class, ClearClass::Uint);
    EXPECT_EQ(at<ClearTexture>(3).region.height, 4);
    EXPECT_EQ(at<ClearTexture>(3).image.texture.width, 16u);
    EXPECT_EQ(at<ClearDepthStencil>(4).stencil, 0x80);
    EXPECT_EQ(at<ClearDepthStencil>(4).stencil_mask, 0xff);
    EXPECT_EQ(at<ClearBuffer>(5).value, 0xdeadbeefu);
    EXPECT_EQ(recorded.size(), 6u);
}

TEST_F(CommandRecord, CopiesKeepTheirArguments) {
    const NVNtexture a = make_texture(16, 16), b = make_texture(8, 8, NVN_FORMAT_RGBA8, 0x60000);
    const NVNcopyRegion whole{0, 0, 0, 16, 16, 1}, half{0, 0, 0, 8, 8, 1};
    nvnCommandBufferCopyBufferToBuffer(&cmd, 0x1000, 0x2000, 0x1'0000'0000, 0);
    nvnCommandBufferCopyTextureToBuffer(&cmd, &a, nullptr, &whole, 0x3000, 0);
    nvnCommandBufferCopyTextureToTexture(&cmd, &a, nullptr, &whole, &b, nullptr, &half,
                                         NVN_COPY_FLAGS_LINEAR_FILTER_BIT);
    nvnCommandBufferDownsample(&cmd, &a, &b);
    nvnCommandBufferTiledDownsample(&cmd, &a, &b);
    nvnCommandBufferCopyTextureToTexture(&cmd, &a, nullptr, &whole, &b, nullptr, nullptr, 0);
    EXPECT_EQ(take_errors(), 1u);
    finish();
    EXPECT_EQ(+at<CopyBufferToBuffer>(0).source, 0x1000u);
    EXPECT_EQ(+at<CopyBufferToBuffer>(0).dest, 0x2000u);
    EXPECT_EQ(+at<CopyBufferToBuffer>(0).size, 0x1'0000'0000u);
    EXPECT_EQ(+at<CopyTextureToBuffer>(1).buffer, 0x3000u);
    EXPECT_EQ((recorded[1].tail<CopyTextureToBuffer, CopyStrides>().size()), 0u);
    EXPECT_EQ(at<CopyTextureToTexture>(2).source.texture.width, 16u);
    EXPECT_EQ(at<CopyTextureToTexture>(2).dest.texture.width, 8u);
    EXPECT_EQ(at<CopyTextureToTexture>(2).dest_region.width, 8);
    EXPECT_EQ(at<CopyTextureToTexture>(2).flags, 1u);
    EXPECT_EQ(at<Downsample>(3).tiled, 0u);
    EXPECT_EQ(at<Downsample>(4).tiled, 1u);
    EXPECT_EQ(recorded.size(), 5u);
}

TEST_F(CommandRecord, UniformUpdatesCarryTheirBytes) {
    std::array<u8, 7> data = {1, 2, 3, 4, 5, 6, 7};
    nvnCommandBufferUpdateUniformBuffer(&cmd, 0x1000, 256, 16, data.size(), data.data());
    data.fill(0);
    nvnCommandBufferUpdateUniformBuffer(&cmd, 0x1000, 256, 250, 7, data.data()); // past the end
    nvnCommandBufferUpdateUniformBuffer(&cmd, 0x1000, 256, -4, 7, data.data());
    nvnCommandBufferUpdateUniformBuffer(&cmd, 0x1000, 256, 0, 7, nullptr);
    EXPECT_EQ(take_errors(), 3u);
    std::vector<u8> bank(65536, 9); // the largest there is
    nvnCommandBufferUpdateUniformBuffer(&cmd, 0x1000, 65536, 0, bank.size(), bank.data());
    finish();
    EXPECT_EQ(at<UpdateUniformBuffer>(0).offset, 16u);
    EXPECT_EQ(+at<UpdateUniformBuffer>(0).size, 7u);
    const auto bytes = recorded[0].tail<UpdateUniformBuffer, u8>();
    EXPECT_EQ(std::vector<u8>(bytes.begin(), bytes.end()), (std::vector<u8>{1, 2, 3, 4, 5, 6, 7, 0}));
    EXPECT_EQ((recorded[1].tail<UpdateUniformBuffer, u8>().size()), 65536u);
    EXPECT_EQ(recorded.size(), 2u);
}

TEST_F(CommandRecord, ProgramsAreNamedByTheirContents) {
    NVNprogram program{};
    ASSERT_TRUE(nvnProgramInitialize(&program, &device));
    layout(&program)->id = 0x1'0000'0002;
    nvnCommandBufferBindProgram(&cmd, &program, NVN_SHADER_STAGE_ALL_GRAPHICS_BITS);
    nvnCommandBufferBindProgram(&cmd, nullptr, NVN_SHADER_STAGE_GEOMETRY_BIT); // unbinds
    layout(&program)->id = 0;
    nvnProgramFinalize(&program);
    nvnCommandBufferBindProgram(&cmd, &program, 0x1f);
    EXPECT_EQ(take_errors(), 1u);
    finish();
    EXPECT_EQ(+at<BindProgram>(0).program, 0x1'0000'0002u);
    EXPECT_EQ(at<BindProgram>(0).stages, 0x1fu);
    EXPECT_EQ(+at<BindProgram>(1).program, 0u);
    EXPECT_EQ(at<BindProgram>(1).stages, 4u);
    EXPECT_EQ(recorded.size(), 2u);
}

TEST_F(CommandRecord, MarkersCopyTheirTexts) {
    std::string text = "shadow pass";
    nvnCommandBufferPushDebugGroupDynamic(&cmd, 3, text.c_str());
    text.assign(300, 'x');
    nvnCommandBufferInsertDebugMarker(&cmd, text.c_str());
    nvnCommandBufferInsertDebugMarkerStatic(&cmd, 3, nullptr);
    nvnCommandBufferPopDebugGroupId(&cmd, 3);
    finish();
    const auto bytes = recorded.at(0).tail<DebugMarker, char>();
    EXPECT_EQ(std::string(bytes.data(), at<DebugMarker>(0).length), "shadow pass");
    EXPECT_EQ(at<DebugMarker>(0).domain, 3);
    EXPECT_EQ(at<DebugMarker>(0).kind, MarkerKind::Push);
    EXPECT_EQ(at<DebugMarker>(1).length, marker_text_limit);
    EXPECT_EQ(at<DebugMarker>(2).length, 0);
    EXPECT_EQ(at<DebugMarker>(3).kind, MarkerKind::Pop);
}

TEST_F(CommandRecord, ValuesKeepTheirArguments) {
    const float levels[4] = {1, 2, 3, 4};
    nvnCommandBufferSetBlendColor(&cmd, levels);
    nvnCommandBufferSetStencilRef(&cmd, NVN_FACE_BACK, 0x1ff);
    nvnCommandBufferSetStencilMask(&cmd, NVN_FACE_FRONT, 0xf0);
    nvnCommandBufferSetStencilValueMask(&cmd, NVN_FACE_FRONT_AND_BACK, 0x0f);
    nvnCommandBufferSetPolygonOffsetClamp(&cmd, 1, 2, 3);
    nvnCommandBufferSetAlphaRef(&cmd, 0.5f);
    nvnCommandBufferSetLineWidth(&cmd, 2);
    nvnCommandBufferSetPointSize(&cmd, 3);
    nvnCommandBufferSetSampleMask(&cmd, -1);
    nvnCommandBufferSetPatchSize(&cmd, 32);
    nvnCommandBufferSetOuterTessellationLevels(&cmd, levels);
    nvnCommandBufferSetInnerTessellationLevels(&cmd, levels);
    nvnCommandBufferBarrier(&cmd, 0x3f);
    nvnCommandBufferBarrier(&cmd, 0);
    nvnCommandBufferReportCounter(&cmd, NVN_COUNTER_TYPE_SAMPLES_PASSED, 0x1000);
    nvnCommandBufferReportValue(&cmd, 77, 0x2000);
    nvnCommandBufferSetRenderEnableConditional(&cmd, NVN_CONDITIONAL_RENDER_MODE_RENDER_IF_NOT_EQUAL, 0x3000);
    nvnCommandBufferResumeTransformFeedback(&cmd, 0x4000);
    nvnCommandBufferSetShaderScratchMemory(&cmd, &pool, 0x1000, 0x20000);
    nvnCommandBufferSetPatchSize(&cmd, 33);
    nvnCommandBufferSetBlendColor(&cmd, nullptr);
    EXPECT_EQ(take_errors(), 2u);
    finish();
    EXPECT_EQ(at<SetBlendColor>(0).color[3], 4.0f);
    EXPECT_EQ(at<SetStencilRef>(1).value, 0xff);
    EXPECT_EQ(at<SetStencilRef>(1).faces, 2);
    EXPECT_EQ(at<SetStencilMask>(2).value, 0xf0);
    EXPECT_EQ(at<SetStencilValueMask>(3).faces, 3);
    EXPECT_EQ(at<SetPolygonOffset>(4).units, 2.0f);
    EXPECT_EQ(at<SetPolygonOffset>(4).clamp, 3.0f);
    EXPECT_EQ(at<SetAlphaRef>(5).reference, 0.5f);
    EXPECT_EQ(at<SetLineWidth>(6).width, 2.0f);
    EXPECT_EQ(+at<SetPointSize>(7).size, 3.0f);
    EXPECT_EQ(at<SetSampleMask>(8).mask, 0xffff'ffffu);
    EXPECT_EQ(at<SetPatchSize>(9).control_points, 32u);
    EXPECT_EQ(at<SetOuterTessellationLevels>(10).levels[3], 4.0f);
    EXPECT_EQ(at<SetInnerTessellationLevels>(11).levels[1], 2.0f);
    EXPECT_EQ(at<Barrier>(12).bits, 0x3fu);
    EXPECT_EQ(at<Barrier>(13).bits, 0u);
    EXPECT_EQ(at<ReportCounter>(14).counter, 1u);
    EXPECT_EQ(+at<ReportCounter>(14).address, 0x1000u);
    EXPECT_EQ(at<ReportValue>(15).value, 77u);
    EXPECT_EQ(at<SetRenderEnableConditional>(16).mode, 1u);
    EXPECT_EQ(at<TransformFeedback>(17).action, FeedbackAction::Resume);
    EXPECT_EQ(+at<SetShaderScratchMemory>(18).address, reinterpret_cast<u64>(memory(0x1000)));
    EXPECT_EQ(recorded.size(), 19u);
}

} // namespace
} // namespace heaviside::nvn
