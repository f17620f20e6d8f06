// Any arguments at all: no crash, no write outside the object and its memory, every stream valid.
#include "base/log.h"
#include "command_fixture.h"

#include <random>

namespace heaviside::nvn {
namespace {

class CommandRandom : public CommandTest {
protected:
    CommandRandom() {
        log::set_sink([](log::Level, std::string_view) {});
    } // thousands of lines, none of interest
    ~CommandRandom() override { log::set_sink({}); }

    std::mt19937_64 random{7};
    u64 any() {
        switch (random() % 4) {
        case 0:
            return random() % 4;
        case 1:
            return random() % 40;
        case 2:
            return ~(random() % 4);
        default:
            return random();
        }
    }
    int integer() { return static_cast<int>(any()); }
    float real() { return static_cast<float>(integer()); }
    BooleanArgument flag() { return BooleanArgument{static_cast<u32>(any())}; }
    template <class Enum>
    Enum pick() {
        // Up to the LARGE value that sizes each enum: what is beyond is no value of the type.
        return static_cast<Enum>((random() % 16 != 0 ? random() % 8 : any()) & 0x7fff'ffff);
    }
    template <class T>
    const T* maybe(const T* pointer) {
        return random() % 8 == 0 ? nullptr : pointer;
    }
};

TEST_F(CommandRandom, CallsStayInsideTheirMemory) {
    struct {
        std::array<u8, 64> before;
        NVNcommandBuffer buffer;
        std::array<u8, 64> after;
    } guarded;
    std::memset(&guarded, 0xa5, sizeof guarded);
    NVNcommandBuffer* const b = &guarded.buffer;
    nvnCommandBufferInitialize(b, &device);
    const NVNtexture texture = make_texture(64, 64);
    NVNtextureView view;
    nvnTextureViewSetDefaults(&view);
    NVNsync sync{};
    nvnSyncInitialize(&sync, &device);
    // Arrays as long as any accepted count.
    alignas(8) std::array<u8, 65536> bytes;
    for (u8& byte : bytes)
        byte = static_cast<u8>(random());
    const auto* const floats = reinterpret_cast<const float*>(bytes.data());
    const auto* const handles = reinterpret_cast<const u64*>(bytes.data());
    const auto* const ranges = reinterpret_cast<const NVNbufferRange*>(bytes.data());
    const auto* const region = reinterpret_cast<const NVNcopyRegion*>(bytes.data());
    std::array<const NVNtexture*, 8> colors{&texture, nullptr,  &texture, nullptr,
                                            &texture, &texture, nullptr,  &texture};
    std::array<u64, 64> control{};
    sink.immediate = true;
    sink.keep = false;
    std::memset(memory(0), 0x33, pool_bytes);
    for (int list = 0; list < 400; ++list) {
        const std::size_t granted = 512 + random() % 8192;
        nvnCommandBufferAddCommandMemory(b, &pool, 65536, granted);
        nvnCommandBufferAddControlMemory(b, control.data(), sizeof control);
        nvnCommandBufferBeginRecording(b);
        for (int call = 0; call < 200; ++call) {
            const auto stage = pick<NVNshaderStage>();
            const auto primitive = pick<NVNdrawPrimitive>();
            switch (random() % 36) {
            case 0:
                nvnCommandBufferDrawArrays(b, primitive, integer(), integer());
                break;
            case 1:
                nvnCommandBufferDrawElementsInstanced(b, primitive, pick<NVNindexType>(), integer(), any(), integer(),
                                                      integer(), integer());
                break;
            case 2:
                nvnCommandBufferBindUniformBuffer(b, stage, integer(), any(), any());
                break;
            case 3:
                nvnCommandBufferBindUniformBuffers(b, stage, integer(), integer(), maybe(ranges));
                break;
            case 4:
                nvnCommandBufferBindStorageBuffers(b, stage, integer(), integer(), maybe(ranges));
                break;
            case 5:
                nvnCommandBufferBindVertexBuffers(b, integer(), integer(), maybe(ranges));
                break;
            case 6:
                nvnCommandBufferBindTexture(b, stage, integer(), any());
                break;
            case 7:
                nvnCommandBufferBindTextures(b, stage, integer(), integer(), maybe(handles));
                break;
            case 8:
                nvnCommandBufferBindImages(b, stage, integer(), integer(), maybe(handles));
                break;
            case 9:
                nvnCommandBufferBindSeparateTextures(b, stage, integer(), integer(),
                                                     maybe(reinterpret_cast<const NVNseparateTextureHandle*>(handles)));
                break;
            case 10:
                nvnCommandBufferSetViewports(b, integer(), integer(), maybe(floats));
                break;
            case 11:
                nvnCommandBufferSetScissors(b, integer(), integer(), maybe(reinterpret_cast<const int*>(floats)));
                break;
            case 12:
                nvnCommandBufferSetDepthRanges(b, integer(), integer(), maybe(floats));
                break;
            case 13:
                nvnCommandBufferSetViewportSwizzles(b, integer(), integer(),
                                                    maybe(reinterpret_cast<const NVNviewportSwizzle*>(floats)));
                break;
            case 14:
                nvnCommandBufferBindVertexAttribState(b, integer(),
                                                      maybe(reinterpret_cast<const NVNvertexAttribState*>(floats)));
                break;
            case 15:
                nvnCommandBufferBindVertexStreamState(b, integer(),
                                                      maybe(reinterpret_cast<const NVNvertexStreamState*>(floats)));
                break;
            case 16:
                nvnCommandBufferClearColor(b, integer(), maybe(floats), integer());
                break;
            case 17:
                nvnCommandBufferClearDepthStencil(b, real(), flag(), integer(), integer());
                break;
            case 18:
                nvnCommandBufferClearTexture(b, maybe(&texture), maybe(&view), maybe(region), maybe(floats), integer());
                break;
            case 19:
                nvnCommandBufferUpdateUniformBuffer(b, any(), any(), static_cast<ptrdiff_t>(any()), any() % 70000,
                                                    maybe(bytes.data()));
                break;
            case 20:
                nvnCommandBufferSetRenderTargets(b, integer(), maybe(colors.data()), nullptr, maybe(&texture),
                                                 maybe(&view));
                break;
            case 21:
                nvnCommandBufferCopyBufferToTexture(b, any(), maybe(&texture), maybe(&view), maybe(region), integer());
                break;
            case 22:
                nvnCommandBufferCopyTextureToTexture(b, maybe(&texture), maybe(&view), maybe(region), maybe(&texture),
                                                     nullptr, maybe(region), integer());
                break;
            case 23:
                nvnCommandBufferSetCopyRowStride(b, static_cast<ptrdiff_t>(any()));
                break;
            case 24:
                nvnCommandBufferInsertDebugMarker(b, random() % 2 ? "mark" : nullptr);
                break;
            case 25:
                nvnCommandBufferFenceSync(b, const_cast<NVNsync*>(maybe(&sync)), pick<NVNsyncCondition>(), integer());
                break;
            case 26:
                nvnCommandBufferWaitSync(b, maybe(&sync));
                break;
            case 27:
                nvnCommandBufferBindProgram(b, nullptr, integer());
                break;
            case 28:
                nvnCommandBufferSetPatchSize(b, integer());
                break;
            case 29:
                nvnCommandBufferDiscardColor(b, integer());
                break;
            case 30:
                nvnCommandBufferBindCoverageModulationTable(b, maybe(floats));
                break;
            case 31:
                nvnCommandBufferBindTransformFeedbackBuffers(b, integer(), integer(), maybe(ranges));
                break;
            case 32:
                nvnCommandBufferSetTexturePool(b, reinterpret_cast<const NVNtexturePool*>(maybe(bytes.data())));
                break;
            case 33:
                nvnCommandBufferDispatchCompute(b, integer(), integer(), integer());
                break;
            case 34:
                nvnCommandBufferMultiDrawElementsIndirectCount(b, primitive, pick<NVNindexType>(), any(), any(), any(),
                                                               integer(), static_cast<ptrdiff_t>(any()));
                break;
            case 35:
                nvnCommandBufferSetInnerTessellationLevels(b, maybe(floats));
                break;
            }
        }
        const NVNcommandHandle handle = nvnCommandBufferEndRecording(b);
        ASSERT_NE(handle, 0u);
        submit(handle); // the sink holds the stream to stream/walk.h
        // Nothing in front of the grant, nothing behind it.
        ASSERT_EQ(*memory(65535), std::byte{0x33});
        ASSERT_EQ(*memory(65536 + 8192 + 512), std::byte{0x33});
        for (std::size_t i = 0; i < 64; ++i)
            ASSERT_TRUE(guarded.before[i] == 0xa5 && guarded.after[i] == 0xa5);
    }
    nvnSyncFinalize(&sync);
}

// Recorded memory with random words stored over it: whatever is still a record runs, the rest is skipped.
TEST_F(CommandRandom, OverwrittenListsAreSkipped) {
    sink.keep = false;
    for (int round = 0; round < 2000; ++round) {
        begin(cmd, 4096, 4096);
        for (int i = 0; i < 20; ++i) {
            draw(cmd, i);
            const NVNtextureHandle textures[3] = {1, 2, 3};
            nvnCommandBufferBindTextures(&cmd, NVN_SHADER_STAGE_FRAGMENT, 0, 3, textures);
        }
        const NVNcommandHandle handle = nvnCommandBufferEndRecording(&cmd);
        for (u64 writes = random() % 8; writes != 0; --writes) {
            const u32 word =
                static_cast<u32>(random() % 2 ? random() : 0x4800 + random() % 100 + (random() % 64 << 16));
            std::memcpy(memory(4096 + random() % 200 * 4), &word, sizeof word);
        }
        if (round % 4 == 0)
            control_[random() % 2] = any(); // the control list too
        submit(handle);
    }
    EXPECT_GT(sink.log.size(), 1000u);
}

} // namespace
} // namespace heaviside::nvn
